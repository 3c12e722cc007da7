"""Card numbers are refused in every free text of every route, and neither stored nor logged (contract section 7)."""

import contextlib
import copy
import random
import re

import pytest

from support.box import Box
from support.openapi import OPERATIONS, resolve
from support.orders import Restaurant, accepted, item, new_key, path, refused

# What names something, or is somebody's own number: digits are fine in these.
NAMES_SOMETHING = {"id", "sku", "user_id", "payment_method_code", "phone_number", "country_calling_code", "kitchen_id",
                   "provider", "scopes", "allowed_cidrs", "image_url", "images", "webhook_url", "public_key_pin",
                   "merchant_id", "number"}
# Where the example has no place for the text.
BODIES = {"reportDelivery": {"delivery_status": "NOT_DELIVERED"}}
# (beginning, length) of the schemes
SCHEMES = [("34", 15), ("37", 15), ("4", 16), ("4", 19), ("50", 16), ("51", 16), ("53", 16), ("55", 16), ("56", 16),
           ("58", 16), ("60", 16), ("62", 16), ("67", 16), ("2221", 16), ("2500", 16), ("2720", 16)]
NO_SCHEMES = [("34", 16), ("37", 14), ("4", 13), ("4", 15), ("4", 18), ("35", 16), ("49", 17), ("55", 15), ("55", 19),
              ("59", 16), ("68", 16), ("62", 19), ("2220", 16), ("2721", 16), ("1", 16), ("9", 16)]
SEPARATORS = [" ", "-", " - ", "\u00a0", "\u2013", "\t"]


# Numbers


def check_digit(digits):
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if place % 2 == 0 else 1)
        total += value - 9 if value > 9 else value
    return str(-total % 10)


def number_of(chance, beginning, size):
    digits = beginning + "".join(chance.choice("0123456789") for _ in range(size - 1 - len(beginning)))
    return digits + check_digit(digits)


def card(chance, lengths=(15, 16, 19)):
    """Begins like a card of a scheme, is as long as one and passes Luhn."""
    return number_of(chance, *chance.choice([s for s in SCHEMES if s[1] in lengths]))


def as_people_write_it(chance, digits, is_name=False):
    """In groups of some size, and among other words; in a name on one line."""
    group = chance.choice([1, 4, 4, 5, 19])
    groups = [digits[i:i + group] for i in range(0, len(digits), group)]
    if digits[:2] in ("34", "37") and chance.random() < 0.5:
        groups = [digits[:4], digits[4:10], digits[10:]]
    text = chance.choice(SEPARATORS[:-1] if is_name else SEPARATORS).join(groups)
    around = ["{}", "visa {}", "tarjeta: {}, vence 12/28", "({})", "mesa 4, {}"] + ["{}\nLima"] * (not is_name)
    return chance.choice(around).format(text)


# Where texts go


def free_texts(schema, place=()):
    """Places of free text in a body: tuples of names, 0 for the first of a list."""
    schema = resolve(schema)
    for part in schema.get("allOf", []) + schema.get("oneOf", []) + schema.get("anyOf", []):
        yield from free_texts(part, place)
    for name, below in schema.get("properties", {}).items():
        yield from free_texts(below, (*place, name))
    if "items" in schema:
        yield from free_texts(schema["items"], (*place, 0))
    kinds = schema.get("type", [])
    is_text = "string" in ([kinds] if isinstance(kinds, str) else kinds)
    is_free = not {"format", "enum", "const"} & set(schema) or schema.get("format") in ("uri", "uri-reference")
    names = [name for name in place if name != 0]
    if is_text and is_free and names[-1] not in NAMES_SOMETHING:
        yield place


def schema_of(operation):
    return resolve(operation.row["requestBody"])["content"]["application/json"]["schema"]


PLACES = [(o, place) for o in OPERATIONS if "requestBody" in o.row
          for place in dict.fromkeys(free_texts(schema_of(o)))]


def planted(body, place, text):
    """The body with the text in that place, and whatever has to be around it."""
    body = copy.deepcopy(body)
    node = body
    for name, below in zip(place, (*place[1:], None)):
        if name == 0:
            if not node:
                node.append(None)
        elif node.get(name) is None:
            node[name] = None
        if below is None:
            node[name] = text
        elif not isinstance(node[name], dict | list):
            node[name] = [] if below == 0 else {}
        node = node[name]
    return body


def field_of(place):
    return "".join(f"[{name}]" if name == 0 else f".{name}" for name in place).removeprefix(".")


# The tests


@pytest.fixture(scope="module")
def own():
    """(box, client, an order) of a box that hears nothing but this file."""
    box = Box(options=["--log_level", "debug"])
    box.bring_in("demo")
    key = box.make_key()["key"]
    box.start()
    with contextlib.closing(box.client(key)) as api:
        yield box, api, api.add(api.place(service_type="DELIVERY"), item(10))
    assert box.discard() == 0


def url(operation, api, order, house):
    ids = {"/v1/orders": order["id"], "/auth/api-keys": api.get("/auth/api-keys").data[0]["id"],
           "/v1/kitchen/stations": api.get("/v1/kitchen/stations").data[0]["id"]}
    product, _ = house.products_with_variants()
    ids["/v1/menu"] = product["id"]
    found = next((id for prefix, id in ids.items() if operation.path.startswith(prefix)), None)
    variant = next(v["id"] for v in api.get(f"/v1/menu/products/{product['id']}").data["variants"])
    return operation.path.replace("{id}", found or "").replace("{variantId}", variant)


def test_there_is_free_text_in_every_route_that_takes_it():
    fields = {(o.id, field_of(place)) for o, place in PLACES}
    for known in [("placeOrder", "order_title"), ("addPayment", "reference"), ("assignRider", "name"),
                  ("createApiKey", "name"), ("cancelOrder", "reason"), ("addCombos", "combos[0].modifiers[0].name"),
                  ("upsertProducts", "products[0].modifier_categories[0].modifiers[0].name")]:
        assert known in fields, sorted(fields)


@pytest.mark.parametrize("operation, place", PLACES, ids=[f"{o}-{field_of(p)}" for o, p in PLACES])
def test_a_card_number_is_refused_in_every_free_text_and_leaves_no_trace(own, demo, operation, place):
    box, api, order = own
    target = url(operation, api, order, Restaurant(demo, box))
    body = BODIES.get(operation.id, operation.examples()[0][1])
    chance = random.Random(f"{operation} {place}")
    for _ in range(3):
        number = card(chance, (16,) if field_of(place) == "reference" else (15, 16, 19))
        text = as_people_write_it(chance, number, is_name=str(place[-1]).endswith("name") or place[-1] == "slug")
        answer = api.send(operation.method.upper(), target, planted(body, place, text), new_key())
        refused(answer, 422, "validation_failed")
        assert answer.fields.get(field_of(place)) == "looks_like_card_number", (text, answer.body)
        assert number not in re.sub(r"\D", "", answer.json["detail"])
        assert text not in answer.body.decode()
        assert not kept(box, number, text)


def kept(box, *texts):
    """The database and the files of the box that hold one of the texts."""
    contents = {"database": box.databases.contents()}
    for file in box.data.rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # a temporary file that was renamed meanwhile
            if file.is_file():
                contents[str(file)] = file.read_bytes()
    assert str(box.data / "test.log") in contents and contents["database"]
    return [name for name, content in contents.items() if any(t.encode() in content for t in texts)]


def test_no_form_of_a_card_number_gets_through(own):
    _, api, order = own
    chance = random.Random(7)
    for _ in range(300):
        text = as_people_write_it(chance, card(chance))
        answer = api.patch(path(order), {"comment": text})
        assert answer.status == 422 and answer.fields == {"comment": "looks_like_card_number"}, text


def test_ids_skus_phones_and_keys_are_not_mistaken_for_one(own):
    box, api, _ = own
    chance = random.Random(9)
    for _ in range(20):
        number = card(chance)
        order = accepted(api.post("/v1/orders", {"service_type": "DELIVERY"}, {"Idempotency-Key": number}), 201)
        assert order["reference"] == number
        order = api.add(order, item(10, sku=number))
        assert order["combos"][0]["sku"] == number
        order = accepted(api.put(path(order, "rider"), {"user_id": number, "name": "Beto", "phone_number": number}))
        assert order["rider"]["user_id"] == number
        made = accepted(api.post("/v1/menu/products", {
            "name": "Causa", "category_name": "Pruebas", "price": 10, "sku": number}), 201)
        assert made["variants"][0]["sku"] == number
        digits = (number * 3)[:32]
        id = f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-8{digits[17:20]}-{digits[20:]}"
        answer = api.post("/v1/orders", {"service_type": "ONSITE", "client_id": id}, new_key())
        assert answer.fields == {"client_id": "not_found"}


def test_a_number_of_another_length_or_beginning_is_none(own):
    _, api, order = own
    chance = random.Random(11)
    for beginning, size in NO_SCHEMES:
        number = number_of(chance, beginning, size)
        assert accepted(api.patch(path(order), {"order_title": number}))["order_title"] == number


@pytest.mark.parametrize("beginning, size", [s for s in SCHEMES if s[1] != 16])
def test_in_a_reference_only_sixteen_digits_are_a_card(own, beginning, size):
    _, api, _ = own
    number = number_of(random.Random(size), beginning, size)
    order = api.add(api.place(), item(10))
    assert api.pay(order, 1, reference=number)["payments"][0]["reference"] == number


@pytest.mark.parametrize("words", ["tel {}", "Tel.: {}", "+{}", "+ {}", "cel: {}", "WhatsApp {}", "teléfono {}", "phone={}"])
def test_what_follows_the_words_for_a_phone_is_one(own, words):
    _, api, order = own
    text = words.format(number_of(random.Random(words), "34", 15))
    assert accepted(api.patch(path(order), {"order_title": text}))["order_title"] == text


def test_numbers_that_are_no_card_are_fine(own):
    _, api, order = own
    for text in ["mesa 12, 987 654 321", "4111111111111112", "llamar al +51 987 654 321", "RUC 20123456789",
                 "2026-11-20 18:03", "lote 000123 aut 004512"]:
        assert accepted(api.patch(path(order), {"comment": text}))["comment"].endswith(text)
