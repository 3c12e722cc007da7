"""A company's key never sees another company's data, on any endpoint (contract section 17, 11)."""

import contextlib
import json

import pytest

from support.orders import accepted, item, new_key, path, read, refused
from support.routes import ROUTES

# Bodies with which each write would succeed for the order's own company.
BODIES = {
    ("POST", "/v1/orders"): {"service_type": "ONSITE"},
    ("PATCH", "/v1/orders/{id}"): {"comment": "mine"},
    ("PATCH", "/v1/orders/{id}/status"): {"status": "READY"},
    ("POST", "/v1/orders/{id}/cancel"): {"reason": "mine"},
    ("POST", "/v1/orders/{id}/combos"): {"combos": [item()]},
    ("POST", "/v1/orders/{id}/payments"): {"payment_method_code": "cash", "amount": 1},
    ("POST", "/v1/orders/{id}/discounts"): {"type": "AMOUNT", "value": 1},
    ("PUT", "/v1/orders/{id}/rider"): {"name": "mine"},
    ("PATCH", "/v1/orders/{id}/delivery-status"): {"delivery_status": "DELIVERED"},
    ("POST", "/v1/webhooks"): {"webhook_url": "https://receiver.example/mine"},
    ("PATCH", "/v1/webhooks/{id}"): {"merchant_id": "mine"},
    ("POST", "/v1/webhooks/{id}/deliveries/redeliver"): {"state": "dead"},
    ("POST", "/auth/api-keys"): {"name": "mine", "scopes": ["orders:read"]},
    ("PATCH", "/auth/api-keys/{id}"): {"name": "mine"},
    ("POST", "/auth/api-keys/{id}/rotate"): {},
    ("POST", "/box/devices/accept"): {"number": "000000"},
    ("POST", "/box/devices/codes"): {"role": "kitchen", "name": "mine"},
    ("POST", "/v1/menu/products"): {"name": "mine", "category_name": "mine", "price": 1},
    ("PUT", "/v1/menu/products"): {"products": [{"sku": "MINE", "name": "mine", "category_name": "mine", "price": 1}]},
    ("PATCH", "/v1/menu/products/{id}"): {"name": "mine"},
    ("POST", "/v1/menu/products/{id}/variants"): {"name": "mine", "price": 1},
    ("PATCH", "/v1/menu/products/{id}/variants/{variantId}"): {"price": 1},
    ("PUT", "/v1/menu/products/{id}/sold-out"): {"until": None},
    ("PUT", "/v1/menu/modifiers/{id}/sold-out"): {"until": None},
    ("POST", "/v1/kitchen/tickets/{orderId}/done"): {"line_ids": ["0190a5c8-6f2e-7c3a-9d41-2b7f5e8a1c90"]},
    ("POST", "/v1/kitchen/tickets/{orderId}/undo"): {"line_ids": ["0190a5c8-6f2e-7c3a-9d41-2b7f5e8a1c90"]},
    ("POST", "/v1/kitchen/tickets/{orderId}/rush"): {"on": True},
    ("POST", "/v1/kitchen/stations"): {"name": "mine"},
    ("PATCH", "/v1/kitchen/settings"): {"lead_minutes": 20}}
WITH_A_KEY = [r for r in ROUTES if r.access not in ("open", "local")]


@pytest.fixture(scope="module")
def secrets(box, key, demo, house):
    """What the demo restaurant has to lose: an order in which everything is filled, a key, and all of its file."""
    with contextlib.closing(box.client(key)) as api:
        order = api.place(service_type="DELIVERY", client_id=house.client["id"], address_id=house.address["id"],
                          comment="secret comment", order_title="secret title")
        api.add(order, item(10, name="secret dish"))
        api.pay(order, 1, reference="secret reference")
        accepted(api.post(path(order, "discounts"), {"type": "AMOUNT", "value": 1, "reason": "secret reason"}))
        order = accepted(api.put(path(order, "rider"), {"name": "secret rider"}))
    made = box.make_key(company=demo["id"], name="secret key")
    product, _ = house.products_with_variants()
    category = box.value("SELECT category_id FROM product WHERE id = ?", product["id"])
    with contextlib.closing(box.client(key)) as api:
        hook = accepted(api.post("/v1/webhooks", {"webhook_url": "https://receiver.example/secret"}), 201)
    ids = {"/v1/webhooks": hook["id"], "/v1/orders": order["id"], "/auth/api-keys": made["id"], "/v1/menu/products": product["id"],
           "/v1/menu/modifiers": box.value("SELECT id FROM modifier WHERE product_id = ? LIMIT 1", product["id"]) or
           box.value("SELECT id FROM modifier ORDER BY id LIMIT 1"), "/v1/menu/categories": category, "/v1/clients": house.client["id"]}
    words = {order["public_id"], made["id"], hook["id"], category, "secret key", *secrets_of(order), *secrets_of(demo)}
    return {"order": order, "ids": ids, "words": words, "variant": product["variants"][0]["id"]}


def secrets_of(value):
    """Every id in a record, and what is called secret; of the import file the names of people and dishes too."""
    if isinstance(value, list):
        return {s for v in value for s in secrets_of(v)}
    if not isinstance(value, dict):
        return {value} if isinstance(value, str) and (len(value) == 36 or value.startswith("secret")) else set()
    name = value.get("name", "") if {"products", "role", "document_type", "kitchen_id"} & set(value) else ""
    return {s for v in value.values() for s in secrets_of(v)} | ({name} - {""})


def filled(pattern, secrets, order_name=None):
    order = secrets["order"]
    for name, found in [("{comboId}", order["combos"][0]["id"]), ("{paymentId}", order["payments"][0]["id"]),
                        ("{discountId}", order["discounts"][0]["id"]), ("{variantId}", secrets["variant"]),
                        ("{deliveryId}", secrets["variant"]), ("{number}", "000000"),
                        ("{keyId}", secrets["ids"]["/auth/api-keys"])]:
        pattern = pattern.replace(name, found)
    pattern = pattern.replace("{orderId}", order_name or "")
    start = pattern.split("/{id}")[0]
    return pattern.replace("{id}", order_name if start == "/v1/orders" else secrets["ids"].get(start, ""))


@pytest.mark.parametrize("name", ["id", "public_id"])
@pytest.mark.parametrize("route", WITH_A_KEY, ids=str)
def test_no_route_shows_or_changes_anything_of_another_company(api, other, secrets, route, name):
    place = filled(route.pattern, secrets, secrets["order"][name])
    answer = other.send(route.method, place, BODIES.get((route.method, route.pattern)),
                        new_key() if route.replay != "-" else None)
    if "{" in route.pattern:
        refused(answer, 404, "not_found")
    else:
        assert answer.status < 500 and (answer.status < 400 or answer.status == 422), answer.body
    body = answer.body.decode()
    assert {word for word in secrets["words"] if word in body and word not in place} == set()
    assert read(api, secrets["order"]) == secrets["order"]


@pytest.mark.parametrize("body", [b"", b"{", b"{}", b"[]"])
@pytest.mark.parametrize("pattern", [p for m, p in BODIES if "/orders/{id}" in p])
def test_a_wrong_body_shows_no_more_than_for_an_order_that_does_not_exist(other, secrets, pattern, body):
    method = next(m for m, p in BODIES if p == pattern)
    theirs = other.send(method, filled(pattern, secrets, secrets["order"]["id"]), body)
    nobodys = other.send(method, filled(pattern, secrets, "0190a5c8-6f2e-7c3a-9d41-2b7f5e8a1c90"), body)
    assert (theirs.status, theirs.code, theirs.fields) == (nobodys.status, nobodys.code, nobodys.fields)


def test_a_tag_of_another_company_is_no_304(api, other, secrets):
    tag = api.get(path(secrets["order"])).etag
    assert other.get(path(secrets["order"]), **{"If-None-Match": tag}).status == 404
    assert other.get(path(secrets["order"]), **{"If-None-Match": "*"}).status == 404
    tag = api.get("/v1/orders").etag
    assert other.get("/v1/orders", **{"If-None-Match": tag}).status == 200


def test_filters_find_nothing_of_another_company(other, house, secrets):
    order = secrets["order"]
    for name, value in [("client_id", house.client["id"]), ("table_id", house.table["id"]),
                        ("reference", order["reference"]), ("public_id", order["public_id"])]:
        answer = other.get(f"/v1/orders?filter[{name}]={value}")
        assert (answer.status, answer.data, answer.json["pagination"]["total"]) == (200, [], 0)


@pytest.mark.parametrize("field, service_type", [
    ("client_id", "ONSITE"), ("table_id", "TABLE"), ("address_id", "DELIVERY")])
def test_an_order_refers_to_nothing_of_another_company(other, house, field, service_type):
    row = {"client_id": house.client, "table_id": house.table, "address_id": house.address}[field]
    answer = other.post("/v1/orders", {"service_type": service_type, field: row["id"]}, new_key())
    refused(answer, 422, "validation_failed", {field: "not_found"})
    name = row.get("name") or row["address"]
    assert name not in json.dumps(answer.json, ensure_ascii=False)


def test_a_line_links_to_nothing_of_another_company(other, house):
    product, _ = house.simple_product()
    order = other.place()
    refused(other.post(path(order, "combos"), {"combos": [
        {"product_id": product["id"], "quantity": 1, "variant_price": 1}]}), 422, "validation_failed",
        {"combos[0].product_id": "not_found"})
    combo = other.add(order, item(1, sku=product["sku"]))["combos"][0]
    assert (combo["product_id"], combo["product_name"]) == (None, "Ceviche")


def test_a_payment_uses_no_method_of_another_company(other, house):
    order = other.add(other.place(), item(10))
    refused(other.post(path(order, "payments"), {"payment_method_id": house.method()["id"], "amount": 1}),
            422, "validation_failed", {"payment_method_id": "not_found"})


def test_a_delivery_has_no_rider_of_another_company(other, house):
    order = other.advance(other.place(service_type="DELIVERY"), "READY")
    answer = other.put(path(order, "rider"), {"provider": "comanda", "user_id": house.user("rider")["id"]})
    refused(answer, 422, "validation_failed")
    assert list(answer.fields) == ["user_id"]
    assert house.user("rider")["name"] not in answer.body.decode()


def test_each_company_has_its_own_order_numbers(other, api):
    mine = api.place()["order_number"]
    other.place()
    after = api.place()["order_number"]
    assert after == mine + 1 or after == 1  # a new business day begins at 1


def test_a_key_of_another_company_takes_no_part_in_a_row_of_an_order(api, other, secrets):
    """The row's id is right, the order's is the caller's own."""
    own = other.place()
    for kind in ["combos", "payments", "discounts"]:
        row = secrets["order"][kind][0]["id"]
        refused(other.delete(path(own, kind, row)), 404, "not_found")
    assert read(api, secrets["order"]) == secrets["order"]
