"""The strict imitation of the cloud is what the other tests of this folder believe: it is compared with spec.md here."""

import contextlib
import json
import uuid

import pytest

from support import cloud_faults
from support.box import Client
from support.orders import new_key
from support.strict_cloud import ROUTES, SCOPES, StrictCloud, demo_company

# The endpoints of the specification, except key management, whose paths it does not show.
SPECIFIED = """
GET /v1/menu menu:read
GET /v1/menu/categories/{id} menu:read
GET /v1/menu/products/{id} menu:read
PUT /v1/menu/products menu:write
POST /v1/menu/products menu:write
PATCH /v1/menu/products/{id} menu:write
POST /v1/menu/products/{id}/variants menu:write
PATCH /v1/menu/products/{id}/variants/{variantId} menu:write
GET /v1/orders orders:read
GET /v1/orders/{id} orders:read
GET /v1/orders/by-payment-methods orders:read
GET /v1/orders/by-tips orders:read
GET /v1/orders/products-sold orders:read
POST /v1/orders orders:write
PATCH /v1/orders/{id} orders:write
PATCH /v1/orders/{id}/status orders:write
POST /v1/orders/{id}/cancel orders:write
POST /v1/orders/{id}/combos orders:write
DELETE /v1/orders/{id}/combos/{comboId} orders:write
POST /v1/orders/{id}/payments orders:write
DELETE /v1/orders/{id}/payments/{paymentId} orders:write
POST /v1/orders/{id}/discounts orders:write
DELETE /v1/orders/{id}/discounts/{discountId} orders:write
PUT /v1/orders/{id}/rider logistics:write
DELETE /v1/orders/{id}/rider logistics:write
PATCH /v1/orders/{id}/delivery-status logistics:write
GET /v1/company companies:read
GET /v1/company/payment-methods payment-methods:read
GET /v1/users users:read
GET /v1/stores/status stores:read
POST /v1/webhooks webhooks:write
GET /v1/webhooks webhooks:read
GET /v1/webhooks/{id} webhooks:read
PATCH /v1/webhooks/{id} webhooks:write
DELETE /v1/webhooks/{id} webhooks:write
GET /v1/clients clients:read
GET /v1/clients/{id} clients:read
"""


@pytest.fixture
def cloud(tmp_path):
    with StrictCloud(directory=tmp_path) as cloud:
        yield cloud


@pytest.fixture
def api(cloud):
    with contextlib.closing(Client(cloud.port, cloud.make_key(), cloud.cafile)) as client:
        yield client


def problem_of(answer, status, code, *fields):
    """Asserts a problem with the members of the specification alone."""
    assert answer.status == status, (answer.status, answer.body)
    assert answer.headers["content-type"] == "application/problem+json"
    document = answer.json
    assert set(document) <= {"type", "title", "status", "detail", "instance", "errors"}, document
    assert document["type"].endswith("/" + code) and document["status"] == status, document
    assert [e["field"] for e in document.get("errors", [])] == list(fields), document
    assert all(set(e) == {"field"} for e in document.get("errors", []))


def weighed(**fields):
    return {"product_name": "Lomo", "quantity": 0.335, "variant_price": 48.9, **fields}


def test_it_has_the_endpoints_of_the_specification_and_no_other(api):
    assert sorted(f"{r.method} {r.pattern} {r.scope}" for r in ROUTES) == sorted(SPECIFIED.split("\n")[1:-1])
    for path in ("/v1/events", "/v1/company/tables", "/healthz", "/v1/openapi.json"):
        problem_of(api.get(path), 404, "not_found")


@pytest.mark.parametrize("query", ["filter[end_date]=2026-01-01", "filter[status]=PENDING,READY", "filter[snapshot]=1",
                                   "filter[updated_since]=2026-01-01T00:00:00Z", "filter[include]=none", "per_page=101",
                                   "filter[reference]=x", "page=0", "page=1&page=2", "sort=updated_at", "filter[status]="])
def test_a_parameter_that_it_does_not_name_is_refused(api, query):
    problem_of(api.get("/v1/orders?" + query), 400, "invalid_parameter")


def test_the_parameters_of_the_specification_work(cloud, api):
    orders = [api.place() for _ in range(3)]
    api.advance(orders[1], "READY")
    page = api.get("/v1/orders?filter[status]=PENDING&filter[start_date]=2020-01-01&page=1&per_page=1&sort=created_at").json
    assert [o["id"] for o in page["data"]] == [orders[0]["id"]]
    assert page["pagination"] == {"current_page": 1, "per_page": 1, "total": 2, "has_more": True}
    assert api.get("/v1/orders?filter[start_date]=2999-01-01").json["pagination"]["total"] == 0
    riders = api.get("/v1/users?filter[role]=rider,cook&filter[active]=true&per_page=100").data
    assert {r["role"] for r in riders} == {"rider", "cook"} and all(r["active"] for r in riders)


def test_answers_have_no_tag_no_snapshot_and_no_version(api):
    order = api.place()
    for answer in (api.get("/v1/orders"), api.get(f"/v1/orders/{order['id']}", Prefer="wait=5")):
        assert not {"etag", "x-snapshot", "x-event-cursor", "preference-applied"} & set(answer.headers)
    assert not {"version", "company_id", "status_history", "order_number"} & set(order)
    assert not {"timezone", "country_code"} & set(api.get("/v1/company").data)


def test_ids_are_its_own(cloud, api):
    company = demo_company()
    ids = {row["id"] for name in ("payment_methods", "users", "clients") for row in company[name] if "id" in row}
    seen = [api.get("/v1/company/payment-methods"), api.get("/v1/users?per_page=100"), api.get("/v1/clients?per_page=100")]
    assert not ids & {row["id"] for answer in seen for row in answer.data}
    order = api.place()
    assert api.get("/v1/orders/" + order["public_id"]).data == api.get("/v1/orders/" + order["id"].upper()).data == order
    problem_of(api.get(f"/v1/orders/{uuid.uuid4()}"), 404, "not_found")
    problem_of(api.get("/v1/orders/42x"), 422, "validation_failed", "id")


def test_a_key_is_needed_and_its_scope(cloud):
    with contextlib.closing(Client(cloud.port, None, cloud.cafile)) as nobody:
        problem_of(nobody.get("/v1/orders"), 401, "unauthorized")
    for scope in ("orders:write", "logistics:write", "menu:write"):
        key = cloud.make_key([s for s in SCOPES if s != scope])
        with contextlib.closing(Client(cloud.port, key, cloud.cafile)) as api:
            for route in (r for r in ROUTES if r.scope == scope):
                path = route.pattern.replace("{id}", str(uuid.uuid4()))
                answer = api.send(route.method, path, {})
                problem_of(answer, 403, "insufficient_scope")
                assert scope in answer.json["detail"]


def test_a_quota_is_told_and_kept(cloud):
    with contextlib.closing(Client(cloud.port, cloud.make_key(per_minute=3), cloud.cafile)) as api:
        left = [api.get("/v1/company").headers["ratelimit-remaining"] for _ in range(3)]
        assert left == ["2", "1", "0"]
        answer = api.get("/v1/company")
        problem_of(answer, 429, "rate_limit_exceeded")
        assert 1 <= int(answer.headers["retry-after"]) <= 20 and answer.headers["ratelimit-limit"] == "3"
    with contextlib.closing(Client(cloud.port, cloud.make_key(per_minute=None), cloud.cafile)) as api:
        assert "ratelimit-limit" not in api.get("/v1/company").headers


def test_a_creation_needs_a_key_which_is_its_reference(cloud, api):
    problem_of(api.post("/v1/orders", {"service_type": "ONSITE"}), 400, "missing_idempotency_key")
    key = new_key()
    first = api.post("/v1/orders", {"service_type": "ONSITE"}, key)
    again = api.post("/v1/orders", {"service_type": "ONSITE"}, key)
    assert (first.status, again.status) == (201, 201) and first.data == again.data
    assert first.data["reference"] == key["Idempotency-Key"]
    problem_of(api.post("/v1/orders", {"service_type": "TAKEAWAY"}, key), 422, "idempotency_key_reused")
    cloud.is_reuse_refused = True
    problem_of(api.post("/v1/orders", {"service_type": "ONSITE"}, key), 422, "idempotency_key_reused")
    assert len(cloud.orders.by_id) == 1


def test_a_repeated_write_has_one_effect(cloud, api):
    order, key = api.place(), new_key()
    bodies = [api.post(f"/v1/orders/{name}/combos", {"combos": [weighed()]}, key).body
              for name in (order["id"], order["public_id"])]
    assert bodies[0] == bodies[1] and len(json.loads(bodies[0])["data"]["combos"]) == 1


@pytest.mark.parametrize("currency, unit, line, half", [("PEN", 48.9, 16.38, 8.19), ("CLP", 4890, 1638, 819),
                                                        ("KWD", 4.891, 1.638, 0.819)])
def test_totals_are_exact_in_currencies_of_0_2_and_3_decimals(tmp_path, currency, unit, line, half):
    with StrictCloud(demo_company(currency), tmp_path) as cloud, \
            contextlib.closing(Client(cloud.port, cloud.make_key(), cloud.cafile)) as api:
        order = api.add(api.place(), weighed(variant_price=unit))
        assert order["combos"][0]["variant_price"] == order["total"] == line
        order = api.post(f"/v1/orders/{order['id']}/discounts", {"type": "PERCENTAGE", "value": 50}).data
        assert order["total_discounts"] == half and order["discounts"][0]["amount"] == half
        assert order["currency"] == currency
        too_fine = {"CLP": 0.5, "PEN": 0.005, "KWD": 0.0005}[currency]
        answer = api.post(f"/v1/orders/{order['id']}/combos", {"combos": [weighed(variant_price=too_fine)]})
        problem_of(answer, 422, "validation_failed", "combos[0].variant_price")


def test_stored_lines_hold_line_totals(api):
    modifiers = [{"name": "Queso", "quantity": 2, "price": 1.5, "original_price": 2}]
    order = api.add(api.place(), {"product_name": "Pan", "quantity": 3, "variant_price": 10, "modifiers": modifiers})
    (combo,) = order["combos"]
    assert (combo["variant_price"], combo["modifiers_price"], combo["combo_price"]) == (30, 9, 39)
    assert (combo["variant_original_price"], combo["combo_original_price"]) == (30, 42)
    assert (combo["modifiers"][0]["quantity"], combo["modifiers"][0]["price"]) == (6, 9)


def test_payments_and_cancelled_rows_are_kept(api):
    order = api.add(api.place(), weighed(), weighed(variant_price=10, quantity=1))
    order = api.pay(order, 30)
    assert (order["paid"], order["overpayment"], order["pending_amount"]) == (True, 3.62, 0)
    problem_of(api.post(f"/v1/orders/{order['id']}/cancel", {"reason": "x"}), 422, "validation_failed", "payments")
    order = api.delete(f"/v1/orders/{order['id']}/payments/{order['payments'][0]['id']}").data
    order = api.delete(f"/v1/orders/{order['id']}/combos/{order['combos'][0]['id']}").data
    assert (order["paid"], order["total"], order["total_paid"]) == (False, 10, 0)
    assert order["combos"][0]["canceled_at"] and order["payments"][0]["canceled_at"]
    assert api.post(f"/v1/orders/{order['id']}/cancel", {"reason": "x"}).data["status"] == "CANCELLED"


def test_a_discount_above_100_percent_is_refused_and_an_amount_is_not(api):
    order = api.add(api.place(), weighed(variant_price=300, quantity=1))
    path = f"/v1/orders/{order['id']}/discounts"
    problem_of(api.post(path, {"type": "PERCENTAGE", "value": 101}), 422, "validation_failed", "value")
    assert api.post(path, {"type": "AMOUNT", "value": 101}).data["total"] == 199


def test_a_status_goes_forward_alone(api):
    order = api.place()
    assert api.advance(order, "READY")["status"] == "READY"
    assert api.advance(order, "PREPARING")["status"] == "READY"
    problem_of(api.patch(f"/v1/orders/{order['id']}/status", {"status": "CANCELLED"}), 422, "validation_failed", "status",
               "status")


def test_orders_of_other_channels_are_moved_but_not_edited(cloud, api):
    order = cloud.orders.create({"service_type": "ONSITE"}, source="PANEL")
    assert api.advance(order.record(), "PREPARING")["status"] == "PREPARING"
    for path, body in (("combos", {"combos": [weighed()]}), ("cancel", {"reason": "x"})):
        problem_of(api.post(f"/v1/orders/{order.id}/{path}", body), 422, "validation_failed", "source")


def test_a_rider_of_the_service_is_a_user_with_that_role(cloud, api):
    order = api.place(service_type="DELIVERY")
    cook = next(u for u in cloud.restaurant.users.values() if u["role"] == "cook")
    rider = next(u for u in cloud.restaurant.users.values() if u["role"] == "rider" and u["active"])
    path = f"/v1/orders/{order['id']}/rider"
    problem_of(api.put(path, {"provider": "platform", "user_id": cook["id"]}), 422, "validation_failed", "user_id", "status")
    api.advance(order, "PREPARING")
    order = api.put(path, {"provider": "platform", "user_id": rider["id"]}).data
    assert (order["rider"]["name"], order["delivery_status"]) == (rider["name"], "RIDER_ASSIGNED")
    order = api.patch(f"/v1/orders/{order['id']}/delivery-status", {"delivery_status": "DELIVERED"}).data
    assert (order["delivered_by"], order["status"]) == ("API", "DELIVERED")


def test_an_unknown_reference_is_refused_with_its_field(api):
    answer = api.post("/v1/orders", {"service_type": "DELIVERY", "client_id": str(uuid.uuid4())}, new_key())
    problem_of(answer, 422, "validation_failed", "client_id")
    answer = api.post(f"/v1/orders/{api.place()['id']}/combos", {"combos": [weighed(), weighed(product_id=str(uuid.uuid4()))]})
    problem_of(answer, 422, "validation_failed", "combos[1].product_id")


def test_an_item_is_linked_by_sku(cloud, api):
    variant = cloud.restaurant.menu.named("Ceviche clásico")["variants"][0]
    order = api.add(api.place(), {"sku": variant["sku"], "quantity": 1, "variant_price": 38})
    assert order["combos"][0]["variant_id"] == variant["id"] and order["combos"][0]["product_name"] == "Ceviche clásico"


def test_the_menu_is_read_and_written(cloud, api):
    categories = api.get("/v1/menu").data["categories"]
    product = categories[0]["products"][0]
    assert api.get("/v1/menu/products/" + product["id"]).data == product
    assert api.patch("/v1/menu/products/" + product["id"], {"visible": False}).data["visible"] is False
    made = api.post("/v1/menu/products", {"name": "Nuevo", "category_id": categories[0]["id"], "price": 4.5, "sku": "NEW"})
    assert made.status == 201 and made.data["variants"][0]["price"] == 4.5
    api.put("/v1/menu/products", {"products": [{"sku": "NEW", "price": 5}]})
    assert api.get("/v1/menu/products/" + made.data["id"]).data["variants"][0]["price"] == 5
    half = {"products": [{"sku": "NEW", "price": 6}, {"sku": "OTHER", "name": "x", "category_name": "y", "price": -1}]}
    problem_of(api.put("/v1/menu/products", half), 422, "validation_failed", "products[1].price")
    assert api.get("/v1/menu/products/" + made.data["id"]).data["variants"][0]["price"] == 5
    too_many = {"products": [{"sku": str(n), "name": "x", "price": 1} for n in range(501)]}
    problem_of(api.put("/v1/menu/products", too_many), 422, "validation_failed", "products")


def test_it_misbehaves_as_it_is_told_and_stops_when_told(cloud, api):
    api.add(api.place(), weighed(variant_price=10, quantity=1))
    cloud.faults += [cloud_faults.burst(429, 1, retry_after=2), cloud_faults.html(), cloud_faults.no_data(),
                     cloud_faults.redirects("https://elsewhere.example"), cloud_faults.expands()]
    assert [api.get("/v1/orders").status for _ in range(5)] == [429, 200, 200, 302, 200]
    cloud.distortions.append(cloud_faults.has_more_lies)
    assert api.get("/v1/orders?page=9").json["pagination"]["has_more"] is True
    cloud.distortions[:] = [cloud_faults.renames_orders]
    assert len({api.get("/v1/orders").data[0]["id"] for _ in range(3)}) == 3
    cloud.distortions[:] = [cloud_faults.more_in_total()]
    page = api.get("/v1/orders").json
    assert page["data"][0]["total"] == 10.01 and page["pagination"]["total"] == 1
    cloud.distortions[:] = [cloud_faults.has_huge_record]
    assert len(api.get("/v1/orders").body) > 10_000_000
    cloud.distortions[:] = [cloud_faults.repeats_pages()]
    assert api.get("/v1/orders").data == api.get("/v1/orders?page=2").data != []
    cloud.faults.append(cloud_faults.refuses_field("product_name"))
    answer = api.post(f"/v1/orders/{api.place()['id']}/combos", {"combos": [weighed()]})
    problem_of(answer, 422, "validation_failed", "combos[0].product_name")
    cloud.behave()
    page = api.get("/v1/orders").json
    assert page["data"][-1]["total"] == 10 and page["pagination"]["has_more"] is False


def test_an_order_that_it_forgets_is_gone(cloud, api):
    order = api.place()
    cloud.orders.forget(cloud.orders.find(order["id"]))
    problem_of(api.get("/v1/orders/" + order["id"]), 404, "not_found")
    assert api.get("/v1/orders").data == []
