"""Every field of every body that changes something, beside a table of what it must do (contract sections 1, 3, 7 to 9
and 19): null, another type, names of other systems for money. The message is always on the field that was sent.

COMANDA_SEED=N repeats a run."""

import copy
import dataclasses
import os
import random
from collections.abc import Callable

import pytest

from support.orders import accepted, in_days, item, new_id, new_key, new_word, path, refused

SEED = int(os.environ.get("COMANDA_SEED") or random.SystemRandom().randrange(10 ** 9))
TEXT, NUMBER, BOOLEAN, LIST, ID = "text", "number", "boolean", "list", "id"
OTHERS = {TEXT: [1, True, [], {}], NUMBER: ["1", True, [], {}], BOOLEAN: [0, "true", [], {}], LIST: [1, "x", {}, True],
          ID: [1, True, [], {}]}
# What null does: CLEARS the field, is as if ABSENT, or is REFUSED as `required`.
CLEARS, ABSENT, REFUSED = "clears", "absent", "refused"


@dataclasses.dataclass
class Write:
    """One body: who sends it, a right one, and what null and other types do to its fields."""

    name: str
    send: Callable  # (client, body) -> (answer, the record before)
    right: dict
    fields: dict  # {name: (type, what null does)}; a name may be a path: combos[0].quantity


def variants(api):
    product = accepted(api.post("/v1/menu/products", {"name": "Lomo " + new_word(), "category_name": "Pruebas", "variants": [
        {"name": "A", "price": 10, "sku": new_id(), "original_price": 12, "cost": 3, "stock": 5, "stock_threshold": 1}],
        "description": "x", "image_url": "https://example.com/a.jpg", "images": ["https://example.com/b.jpg"],
        "messages_for_customers": "x"}), 201)
    return product, product["variants"][0]


def patch_product(api, body):
    product, _ = variants(api)
    return api.patch(f"/v1/menu/products/{product['id']}", body), product


def patch_variant(api, body):
    product, variant = variants(api)
    return api.patch(f"/v1/menu/products/{product['id']}/variants/{variant['id']}", body), variant


def put_product(api, body):
    product, _ = variants(api)
    return api.put("/v1/menu/products", {"products": [{"id": product["id"], **body}]}), None


def patch_key(api, body):
    made = accepted(api.post("/auth/api-keys", {
        "name": "till", "scopes": ["orders:read"], "expires_at": in_days(9), "allowed_cidrs": ["10.0.0.0/8"]}), 201)
    return api.patch(f"/auth/api-keys/{made['id']}", body), made


def patch_order(api, body):
    order = api.place(service_type="DELIVERY", comment="c", order_title="t", delivery_comment="d", delivery_price=1,
                      packaging_price=1, scheduled_delivery_date=in_days(1))
    return api.patch(path(order), body), order


def post_order(api, body):
    return api.post("/v1/orders", body, new_key()), None


def below(*parts, method="POST"):
    def send(api, body):
        order = api.add(api.place(service_type="DELIVERY"), item(10))
        return api.send(method, path(order, *parts), body), order
    return send


LINE = {"product_name": "Ceviche", "variant_name": "A", "sku": "S", "quantity": 2, "variant_price": 10,
        "variant_original_price": 12, "comment": "c",
        "modifiers": [{"name": "Egg", "quantity": 1, "price": 1, "original_price": 2}]}
WRITES = [
    Write("PATCH order", patch_order, {"order_title": "new"}, {
        "comment": (TEXT, ABSENT), "order_title": (TEXT, CLEARS), "delivery_comment": (TEXT, CLEARS),
        "delivery_price": (NUMBER, ABSENT), "packaging_price": (NUMBER, ABSENT), "scheduled_delivery_date": (TEXT, CLEARS)}),
    Write("PATCH status", below("status", method="PATCH"), {"status": "READY"}, {"status": (TEXT, REFUSED)}),
    Write("PATCH delivery-status", below("delivery-status", method="PATCH"), {"delivery_status": "RIDER_ASSIGNED"},
          {"delivery_status": (TEXT, REFUSED)}),
    Write("PATCH product", patch_product, {"name": "New"}, {
        "name": (TEXT, REFUSED), "category_id": (ID, REFUSED), "category_name": (TEXT, REFUSED), "position": (NUMBER, REFUSED),
        "visible": (BOOLEAN, REFUSED), "stock_enabled": (BOOLEAN, REFUSED), "description": (TEXT, CLEARS),
        "image_url": (TEXT, CLEARS), "images": (LIST, CLEARS), "messages_for_customers": (TEXT, CLEARS),
        "kitchen_id": (ID, CLEARS), "variants": (LIST, REFUSED), "modifier_categories": (LIST, REFUSED)}),
    Write("PATCH variant", patch_variant, {"name": "New"}, {
        "name": (TEXT, REFUSED), "price": (NUMBER, REFUSED), "packaging_price": (NUMBER, REFUSED), "position": (NUMBER, REFUSED),
        "sku": (TEXT, CLEARS), "original_price": (NUMBER, CLEARS), "cost": (NUMBER, CLEARS), "stock": (NUMBER, CLEARS),
        "stock_threshold": (NUMBER, CLEARS)}),
    Write("PATCH key", patch_key, {"name": "new"}, {
        "name": (TEXT, REFUSED), "scopes": (LIST, REFUSED), "tier": (TEXT, REFUSED), "expires_at": (TEXT, CLEARS),
        "allowed_cidrs": (LIST, CLEARS)}),
    Write("POST order", post_order, {"service_type": "DELIVERY"}, {
        "service_type": (TEXT, REFUSED), "client_id": (ID, ABSENT), "address_id": (ID, ABSENT),
        "comment": (TEXT, ABSENT), "order_title": (TEXT, ABSENT), "delivery_comment": (TEXT, ABSENT),
        "delivery_price": (NUMBER, ABSENT), "packaging_price": (NUMBER, ABSENT), "scheduled_delivery_date": (TEXT, ABSENT)}),
    Write("POST combos", below("combos"), {"combos": [LINE]}, {
        "combos": (LIST, REFUSED), "combos[0].product_name": (TEXT, REFUSED), "combos[0].quantity": (NUMBER, REFUSED),
        "combos[0].variant_price": (NUMBER, REFUSED), "combos[0].product_id": (ID, ABSENT), "combos[0].variant_id": (ID, ABSENT),
        "combos[0].variant_name": (TEXT, ABSENT), "combos[0].variant_original_price": (NUMBER, ABSENT),
        "combos[0].comment": (TEXT, ABSENT), "combos[0].modifiers": (LIST, ABSENT), "combos[0].modifiers[0].name": (TEXT, REFUSED),
        "combos[0].modifiers[0].price": (NUMBER, REFUSED), "combos[0].modifiers[0].quantity": (NUMBER, ABSENT),
        "combos[0].modifiers[0].original_price": (NUMBER, ABSENT), "combos[0].modifiers[0].modifier_id": (ID, ABSENT)}),
    Write("POST payment", below("payments"), {"payment_method_code": "cash", "amount": 5, "tip_amount": 1, "received_amount": 9}, {
        "payment_method_id": (ID, ABSENT), "amount": (NUMBER, REFUSED), "bill_amount": (NUMBER, ABSENT),
        "tip_amount": (NUMBER, ABSENT), "received_amount": (NUMBER, ABSENT), "reference": (TEXT, ABSENT), "comment": (TEXT, ABSENT)}),
    Write("POST discount", below("discounts"), {"type": "AMOUNT", "value": 1}, {
        "type": (TEXT, REFUSED), "value": (NUMBER, REFUSED), "reason": (TEXT, ABSENT)}),
    Write("POST cancel", below("cancel"), {"reason": "left"}, {"reason": (TEXT, REFUSED)}),
    Write("PUT rider", below("rider", method="PUT"), {"name": "Beto", "user_id": "r-7"}, {
        "name": (TEXT, ABSENT), "provider": (TEXT, ABSENT), "phone_number": (TEXT, ABSENT), "country_calling_code": (TEXT, ABSENT)}),
    Write("PUT products", put_product, {"name": "New"}, {
        "name": (TEXT, ABSENT), "category_id": (ID, ABSENT), "position": (NUMBER, ABSENT), "visible": (BOOLEAN, ABSENT),
        "description": (TEXT, ABSENT), "images": (LIST, ABSENT), "variants": (LIST, ABSENT), "modifier_categories": (LIST, ABSENT)}),
]


def steps(place):
    for part in place.replace("]", "").replace("[", ".#").split("."):
        yield int(part[1:]) if part.startswith("#") else part


def planted(body, place, value):
    *way, last = steps(place)
    node = body = copy.deepcopy(body)
    for step in way:
        node = node[step]
    node[last] = value
    return body


def blamed(write, place):
    return f"products[0].{place}" if write.name == "PUT products" else place


ROWS = [(w, place, kind, null) for w in WRITES for place, (kind, null) in w.fields.items()]
IDS = [f"{w.name} {place}" for w, place, _, _ in ROWS]


@pytest.mark.parametrize("write, place, kind, null", ROWS, ids=IDS)
def test_null_does_what_the_table_says(api, write, place, kind, null):
    answer, before = write.send(api, planted(write.right, place, None))
    if null == REFUSED:
        refused(answer, 422, "validation_failed", {blamed(write, place): "required"})
        return
    after = accepted(answer, 201 if write.name == "POST order" else 200)
    if null == CLEARS:
        assert after[place] in (None, []), after[place]
    elif write.name.startswith("PATCH") and place in before:
        assert after[place] == before[place]


@pytest.mark.parametrize("write, place, kind, null", ROWS, ids=IDS)
def test_another_type_is_blamed_on_the_field(api, write, place, kind, null):
    for value in OTHERS[kind]:
        answer, _ = write.send(api, planted(write.right, place, value))
        refused(answer, 422, "validation_failed")
        assert answer.fields.get(blamed(write, place)) == "wrong_type", (value, answer.body)


@pytest.mark.parametrize("write", [w for w in WRITES if w.name.startswith("PATCH")], ids=lambda w: w.name)
def test_a_change_without_a_known_field_is_empty(api, write):
    answer, _ = write.send(api, {"colour": "red"})
    assert answer.status == 422
    assert set(answer.fields.values()) <= {"empty", "required"}, answer.body


@pytest.mark.parametrize("write", WRITES, ids=lambda w: w.name)
def test_every_error_is_on_a_field_that_was_sent_or_is_missing(api, write):
    """Several wrong values at once: each error names a field of the body, or says that it is required."""
    dice = random.Random(f"{SEED} {write.name}")
    names = [n for n in write.fields if "[" not in n]
    for _ in range(30):
        body = copy.deepcopy(write.right)
        for name in dice.sample(names, dice.randint(1, len(names))):
            body[name] = dice.choice([None, 0, -1, 10 ** 12, 0.00001, "", "x", "x" * 3000, True, [], {}, [1]])
        answer, _ = write.send(api, body)
        assert answer.status in (200, 201, 422), (SEED, body, answer.body)
        for field, code in answer.fields.items():
            sent = field.removeprefix("products[0].").split(".")[0].split("[")[0]
            assert sent in body or code in ("required", "empty"), (SEED, body, answer.body)


# Names of other systems for money

OF_ITEM, OF_MODIFIER, OF_PAYMENT = "combos[0]", "combos[0].modifiers[0]", ""
REFUSED_ALWAYS = {OF_ITEM: ["qty", "price", "unit_price"], OF_MODIFIER: ["qty", "unit_price", "modifiers"],
                  OF_PAYMENT: ["qty", "price", "unit_price"]}
REFUSED_WITH_A_VALUE = {OF_ITEM: ["total", "amount", "discount", "discounts", "tip", "tax"],
                        OF_MODIFIER: ["total", "amount", "discount", "discounts", "tip", "tax"],
                        OF_PAYMENT: ["total", "discount", "discounts", "tip", "tax"]}
NOTHINGS = [None, 0, 0.0, "", [], {}]
USE = {"qty": ["quantity", "amount"], "price": ["variant_price", "amount"], "unit_price": ["variant_price", "price", "amount"],
       "modifiers": ["item"], "total": ["price", "amount"], "amount": ["price"], "discount": ["/discounts"],
       "discounts": ["/discounts"], "tip": ["tip_amount"], "tax": ["taxes"]}


def with_money(where, name, value):
    if where == OF_PAYMENT:
        return ["payments"], {"payment_method_code": "cash", "amount": 5, "tip_amount": 1, name: value}
    return ["combos"], planted({"combos": [LINE]}, f"{where}.{name}", value)


def send_money(api, where, name, value):
    parts, body = with_money(where, name, value)
    order = api.add(api.place(), item(100))
    return api.post(path(order, *parts), body)


@pytest.mark.parametrize("where, name, value", [
    *[(w, n, [{"name": "X", "price": 1}] if n == "modifiers" else v) for w, ns in REFUSED_ALWAYS.items() for n in ns
      for v in (3, 0, "3")],
    *[(w, n, v) for w, ns in REFUSED_WITH_A_VALUE.items() for n in ns for v in (3, 0.01, "3", [3], {"value": 3}, True)]])
def test_money_of_other_systems_is_refused_with_the_field_to_use(api, where, name, value):
    answer = send_money(api, where, name, value)
    field = f"{where}.{name}".lstrip(".")
    code = "not_allowed" if field == "discounts" else "unknown_field"
    refused(answer, 422, "validation_failed", {field: code})
    assert any(word in answer.json["detail"] for word in USE[name]), answer.body


@pytest.mark.parametrize("where, name", [(w, n) for w, ns in REFUSED_WITH_A_VALUE.items() for n in ns])
def test_money_of_other_systems_that_says_nothing_is_ignored(api, where, name):
    for value in NOTHINGS:
        accepted(send_money(api, where, name, value))


@pytest.mark.parametrize("where, name, own", [
    (OF_ITEM, "total", 22), (OF_ITEM, "amount", 22.00), (OF_MODIFIER, "total", 2), (OF_MODIFIER, "amount", 2),
    (OF_PAYMENT, "total", 5), (OF_PAYMENT, "total", 6)])
def test_a_total_that_is_the_lines_own_is_ignored(api, where, name, own):
    accepted(send_money(api, where, name, own))
    refused(send_money(api, where, name, own + 0.01), 422, "validation_failed")


def test_a_wrong_line_is_not_blamed_on_its_total(api):
    body = {"combos": [{**LINE, "variant_price": -1, "total": 7}]}
    refused(api.post(path(api.place(), "combos"), body), 422, "validation_failed",
            {"combos[0].variant_price": "must_not_be_negative"})


@pytest.mark.parametrize("parts, right", [(["combos"], {"combos": [LINE]}), (["discounts"], {"type": "AMOUNT", "value": 1}),
                                          (["payments"], {"payment_method_code": "cash", "amount": 5})])
def test_lists_and_the_credentials_fields_are_refused_beside_rows(api, parts, right):
    order = api.add(api.place(), item(100))
    for name, value, code in [("combos", [LINE], "not_allowed"), ("payments", [1], "not_allowed"), ("discounts", [1], "not_allowed"),
                              ("currency", "USD", "read_only"), ("source", "IFOOD", "read_only")]:
        if name not in right:
            refused(api.post(path(order, *parts), {**right, name: value}), 422, "validation_failed", {name: code})
