"""Every text of an app's order has a word that is in no other: each is found in the order here, or its member is in LEFT_OUT
with the reason. And one element of each list is something else: the others arrive."""

import copy
import fnmatch
import json

import pytest

from samples import SAMPLES, numbered
from support.app_restaurant import Restaurant

ID = "an id of the app's own"
WORD_OF_THE_PROTOCOL = "a word of the protocol, which decides what becomes of the order"
TIME = "a time, which the record shows as such"
PERSONAL = "personal, and nothing that the ticket needs"
CODE = "a code: it links to the menu"
FOR_THE_APP = "the app's own affair"
# By member: [] stands for every element of a list, * for anything.
LEFT_OUT = {
    "*id": ID, "*Id": ID, "*_id": ID, "*uniqueId": ID, "*createdAt": TIME, "*created_at": TIME, "*DateTime": TIME,
    "*localizerExpiration": TIME, "*currency": WORD_OF_THE_PROTOCOL, "*orderType": WORD_OF_THE_PROTOCOL,
    "type": WORD_OF_THE_PROTOCOL, "*.type": WORD_OF_THE_PROTOCOL, "*orderTiming": WORD_OF_THE_PROTOCOL,
    "*.mode": WORD_OF_THE_PROTOCOL, "*deliveredBy": WORD_OF_THE_PROTOCOL, "*receivedBy": WORD_OF_THE_PROTOCOL,
    "*.target": WORD_OF_THE_PROTOCOL, "*value_type": WORD_OF_THE_PROTOCOL, "category": WORD_OF_THE_PROTOCOL,
    "payments.methods[].method": WORD_OF_THE_PROTOCOL, "*delivery_method": WORD_OF_THE_PROTOCOL,
    "*payment_method": WORD_OF_THE_PROTOCOL, "*delivery_operation_type": WORD_OF_THE_PROTOCOL,
    "salesChannel": WORD_OF_THE_PROTOCOL, "*externalCode": CODE, "*subitems[].sku": CODE, "*discounts[].sku": CODE, "*.unit": "a count of pieces",
    "*ean": "a code for shops", "*imageUrl": "a picture", "merchant.name": "the restaurant itself", "store.name": "the restaurant itself",
    "*documentNumber": PERSONAL, "*document_number": PERSONAL, "*segmentation": PERSONAL, "customer.email": PERSONAL,
    "*billing_information.*": "an invoice is asked for in the app's own tool", "*postalCode": "the rider has the address",
    "*postal_code": "the rider has the address", "*.state": "the rider has the address", "*.country": "the rider has the address",
    "*street_number": "part of the complete address", "*.streetName": "part of the formatted address", "*.street": "part of the formatted address",
    "*.streetNumber": "part of the formatted address", "deliver*.number": "part of the formatted address",
    "additionalFees[].*": "a fee is an amount of the order", "otherFees[].*": "a fee is an amount of the order",
    "*transaction.*": FOR_THE_APP, "picking.*": "of shops, whose goods are replaced", "additionalInfo.*": FOR_THE_APP,
    "delivery.description": FOR_THE_APP, "*vendors[].*": FOR_THE_APP, "*groupId": ID}
KINDS = [None, True, 7, "text", [], {}]


def walk(value, path=""):
    """(path, container, key) of every value below."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        place = f"{path}[]" if isinstance(value, list) else f"{path}.{key}".removeprefix(".")
        yield place, value, key
        yield from walk(item, place)


def reason_of(path):
    # In a pattern of fnmatch [ begins a set.
    plain = path.replace("[]", "#")
    return next((why for pattern, why in LEFT_OUT.items() if fnmatch.fnmatchcase(plain, pattern.replace("[]", "#"))), None)


def with_words(order, number):
    """The words by member; the texts of the order are replaced by them."""
    words = {}
    for path, container, key in walk(order):
        if isinstance(container[key], str) and container[key] and reason_of(path) is None:
            container[key] = f"w{number}x{len(words)}w"
            words[container[key]] = path
    return words


@pytest.fixture(params=SAMPLES)
def shop(request, tmp_path):
    shop = Restaurant(tmp_path, request.param).start("mirror" if request.param != "rappi" else "primary")
    yield shop
    refused = shop.app.refused
    shop.close()
    assert refused == []


def orders_of(shop, count):
    """The orders by what the app calls them, once that many are here."""
    def found():
        rows, page = [], 1
        while True:
            answer = shop.api.get(f"/v1/orders?per_page=100&page={page}").json
            rows += [row for row in answer["data"] if row["source"] == shop.app.name.upper()]
            if not answer["pagination"]["has_more"]:
                return len(rows) == count and {row["order_title"].rsplit(" ", 1)[1]: row for row in rows}
            page += 1

    return shop.wait(lambda: found() or shop.parked() or None)


def title_of(name, order):
    return order["order_detail"]["order_id"] if name == "rappi" else order["displayId"]


def place(shop, orders):
    with_titles = {}
    for order in orders:
        shop.app.place(order)
        with_titles[title_of(shop.app.name, order)] = order
    found = orders_of(shop, len(orders))
    assert isinstance(found, dict), found
    return {title: found[title] for title in with_titles}


def test_every_text_is_found_or_left_out_on_purpose(shop):
    name = shop.app.name
    orders, words = [], []
    for number, sample in enumerate(SAMPLES[name], 1):
        order = sample()
        words.append(with_words(order, number))
        orders.append(numbered(name, order, number))
    placed = place(shop, orders)
    for order, record, its_words in zip(orders, placed.values(), words):
        text = json.dumps(record, ensure_ascii=False)
        missing = {path for word, path in its_words.items() if word not in text}
        assert missing == set(), title_of(name, order)
        assert its_words, "a sample has words"
    assert shop.parked() == []


def test_the_samples_of_others_add_up(shop):
    name = shop.app.name
    placed = place(shop, [numbered(name, sample(), number) for number, sample in enumerate(SAMPLES[name], 1)])
    assert "does not add up" not in shop.box.log_text()
    for record in placed.values():
        assert "difference" not in json.dumps(record["discounts"])


def test_one_element_of_each_list_is_something_else_and_the_others_arrive(shop):
    name = shop.app.name
    base = SAMPLES[name][0]()
    variants = []
    lists = [path for path, container, key in walk(base) if isinstance(container[key], list) and container[key]]
    assert len(lists) >= 4, lists
    for path in lists:
        for kind in KINDS:
            order = copy.deepcopy(base)
            container, key = next((c, k) for p, c, k in walk(order) if p == path)
            container[key].append(copy.deepcopy(container[key][0]))
            words = with_words(order, len(variants) + 1)
            gone = {container[key][0]} if isinstance(container[key][0], str) else {
                value for _, c, k in walk(container[key][0]) if isinstance(value := c[k], str)}
            container[key][0] = kind
            variants.append((f"{path} {kind!r}", numbered(name, order, len(variants) + 1), set(words) - gone))
    placed = place(shop, [order for _, order, _ in variants])
    for what, order, words in variants:
        record = placed[title_of(name, order)]
        text = json.dumps(record, ensure_ascii=False)
        assert {word for word in words if word not in text} == set(), what
        total = order["order_detail"]["totals"]["total_order"] if name == "rappi" else order["total"]["orderAmount"]
        assert record["total"] == (total["value"] if isinstance(total, dict) else total), what
        is_dish = what.split(" ")[0].endswith(("items", "options", "subitems", "customizations"))
        assert not is_dish or "No se pudo leer" in record["comment"], what
    assert shop.parked() == []
