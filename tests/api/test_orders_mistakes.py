"""Mistakes that real clients make: each gets an answer that names the fix (contract section 18)."""

import pytest

from support.orders import accepted, item, new_key, path, read, refused


@pytest.mark.parametrize("status", ["PREPARING", "CANCELLED", "ACCEPTED"])
def test_status_sent_to_the_order_itself(api, status):
    order = api.place()
    refused(api.patch(path(order), {"status": status}), 422, "validation_failed", {"status": "not_allowed"},
            says="PATCH /v1/orders/{id}/status")
    assert read(api, order) == order


def test_status_sent_with_put(api):
    answer = api.put(path(api.place(), "status"), {"status": "READY"})
    refused(answer, 405, "method_not_allowed", says="PATCH")
    assert answer.headers["allow"].split(", ").count("PATCH") == 1


@pytest.mark.parametrize("verb", ["accept", "reject", "ready", "close", "finalize", "items", "products"])
def test_a_path_that_does_not_exist(api, verb):
    order = api.place()
    refused(api.post(path(order, verb), {}), 404, "not_found")
    assert read(api, order) == order


@pytest.mark.parametrize("verb, says", [("accept", "PATCH /v1/orders/{id}/status"),
                                        ("reject", "POST /v1/orders/{id}/cancel")])
def test_accepting_and_rejecting_at_a_path_of_their_own_names_the_right_one(api, verb, says):
    refused(api.post(path(api.place(), verb), {}), 404, "not_found", says=says)


@pytest.mark.parametrize("status, says", [("ACCEPTED", "PREPARING"), ("REJECTED", "POST /v1/orders/{id}/cancel")])
def test_the_words_of_delivery_apps(api, status, says):
    refused(api.patch(path(api.place(), "status"), {"status": status}), 422, "validation_failed",
            {"status": "unknown_value"}, says=says)


@pytest.mark.parametrize("name", ["page[size]", "page[number]", "limit", "offset"])
def test_the_paging_of_other_services(api, name):
    answer = api.get(f"/v1/orders?{name}=10")
    refused(answer, 400, "invalid_parameter", says=[name, "use page and per_page"])


@pytest.mark.parametrize("name", ["limit", "page[size]", "offset"])
def test_the_feed_of_events_has_no_page_to_recommend(api, name):
    answer = api.get(f"/v1/events?{name}=10")
    refused(answer, 400, "invalid_parameter", says=[name, "use per_page"])
    assert "use page" not in answer.json["detail"]


@pytest.mark.parametrize("name", ["start_date", "end_date", "status", "client_id", "updated_since", "reference"])
def test_a_filter_without_its_brackets(api, name):
    refused(api.get(f"/v1/orders?{name}=2026-01-01"), 400, "invalid_parameter", says=[name, f"filter[{name}]"])


def test_a_line_total_is_no_unit_price(api):
    combo = api.add(api.place(), item(10, 3))["combos"][0]
    assert combo["variant_price"] == 30 == combo["combo_price"]


@pytest.mark.parametrize("field, named", [
    ("variant_price_cents", {}), ("price", {"combos[0].price": "unknown_field"}),
    ("unit_price", {"combos[0].unit_price": "unknown_field"})])
def test_another_name_for_the_price_leaves_the_price_missing(api, field, named):
    answer = api.post(path(api.place(), "combos"), {"combos": [{"product_name": "Rice", "quantity": 1, field: 1000}]})
    refused(answer, 422, "validation_failed", {"combos[0].variant_price": "required", **named})


def test_cancelled_lines_carry_their_mark(api):
    order = api.place()
    combo = api.add(order, item(10))["combos"][0]
    assert combo["canceled_at"] is None
    after = accepted(api.delete(path(order, "combos", combo["id"])))
    assert after["combos"][0]["canceled_at"]


def test_the_list_has_the_items_so_that_nobody_asks_for_each_order(api):
    order = api.place()
    api.add(order, item(10))
    (row,) = api.get("/v1/orders?filter[reference]=" + order["reference"]).data
    assert row == read(api, order)


def test_items_sent_with_the_order(api):
    answer = api.post("/v1/orders", {"service_type": "ONSITE", "combos": [item()]}, new_key())
    refused(answer, 422, "validation_failed", {"combos": "not_allowed"}, says="POST /v1/orders/{id}/combos")


@pytest.mark.parametrize("name", ["items", "line_items", "products", "lines"])
@pytest.mark.parametrize("value", [[item()], [], None])
def test_items_sent_with_the_order_under_another_name(api, name, value):
    answer = api.post("/v1/orders", {"service_type": "ONSITE", name: value}, new_key())
    refused(answer, 422, "validation_failed", {name: "not_allowed"}, says="POST /v1/orders/{id}/combos")
    order = api.place()
    refused(api.patch(path(order), {"comment": "x", name: value}), 422, "validation_failed", {name: "not_allowed"})
    assert read(api, order) == order


@pytest.mark.parametrize("name", ["items", "line_items", "products", "lines"])
def test_combos_under_another_name(api, name):
    order = api.place()
    refused(api.post(path(order, "combos"), {name: [item()]}), 422, "validation_failed",
            {"combos": "required", name: "not_allowed"}, says="combos")
    refused(api.post(path(order, "combos"), {"combos": [item()], name: [item()]}), 422, "validation_failed",
            {name: "not_allowed"}, says="combos")
    assert read(api, order) == order


@pytest.mark.parametrize("sent, says", [
    ("/v1/orders/{id}/items", "/v1/orders/{id}/combos?"), ("/v1/orders/{id}/line_items", "/v1/orders/{id}/combos?"),
    ("/v1/orders/{id}/transactions", "/v1/orders/{id}/payments?"), ("/v1/categories", "/v1/menu?"),
    ("/v1/catalog", "/v1/menu?"), ("/v1/products", "/v1/menu/products"), ("/v1/customers", "/v1/clients?"),
    ("/v1/customers/{id}", "/v1/clients/{id}?"), ("/v1/receipts", "/v1/orders?"), ("/v1/locations", "/v1/company?"),
    ("//v1/orders", "It is /v1/orders:"), ("//v1//orders/{id}", "It is /v1/orders/{id}:"),
    ("//v1/nothing-of-ours", "There is no such path.")])
def test_the_paths_of_other_systems(api, sent, says):
    answer = api.get(sent.replace("{id}", api.place()["id"]))
    refused(answer, 404, "not_found", says=says)


def test_a_trailing_slash(api):
    order = api.place()
    for answer in [api.get("/v1/orders/"), api.get(path(order) + "/")]:
        refused(answer, 404, "not_found", says="slash")


def test_a_path_without_its_version(api):
    refused(api.get("/orders"), 404, "not_found")
    refused(api.get("/v2/orders"), 404, "not_found")


@pytest.mark.parametrize("place", ["?colour=blue", "?filter[status]=READY", "?page=1"])
def test_parameters_where_none_are_taken(api, place):
    order = api.place()
    refused(api.get(path(order) + place), 400, "invalid_parameter")
    refused(api.patch(path(order) + place, {"comment": "x"}), 400, "invalid_parameter")
    refused(api.post("/v1/orders" + place, {"service_type": "ONSITE"}, new_key()), 400, "invalid_parameter")
    assert read(api, order) == order


@pytest.mark.parametrize("sent, kept", [("a\r\nb", "a\nb"), ("a\tb\nc", "a\tb\nc"), ("a\x7fb", "a\x7fb")])
def test_line_ends_tabs_and_del_are_text(api, sent, kept):
    assert api.place(comment=sent)["comment"] == kept


@pytest.mark.parametrize("sent", ["a\x00b", "a\rb", "a\r", "\r\r\n", "a\x01b", "a\x1b[0m", "a\x0cb"])
def test_other_control_characters_are_refused_with_422(api, sent):
    refused(api.post("/v1/orders", {"service_type": "ONSITE", "comment": sent}, new_key()), 422, "validation_failed",
            {"comment": "invalid_format"})


def test_a_backslash_before_u0000_is_no_nul(api):
    assert api.place(comment="a\\u0000b")["comment"] == "a\\u0000b"


@pytest.mark.parametrize("name", ["two\nlines", "a\ttab", "\x7f", "\x9b31m"])
def test_names_hold_no_control_characters(api, name):
    order = api.place()
    line = item(10, name=name, variant_name=name, modifiers=[{"name": name, "price": 1}])
    refused(api.post(path(order, "combos"), {"combos": [line]}), 422, "validation_failed", {
        "combos[0].product_name": "invalid_format", "combos[0].variant_name": "invalid_format",
        "combos[0].modifiers[0].name": "invalid_format"})
    refused(api.post("/v1/menu/products", {"name": name, "category_name": name, "price": 1}), 422, "validation_failed",
            {"name": "invalid_format", "category_name": "invalid_format"})
    refused(api.put(path(order, "rider"), {"name": name}), 422, "validation_failed", {"name": "invalid_format"})


# Near misses: the name that was probably meant

PRODUCTS, UPSERT, KEYS = "/v1/menu/products", "PUT /v1/menu/products", "/auth/api-keys"
# Path below an order (or whole), body, field, the name that the message must say.
NEAR_MISSES = [
    ("combos", {"combos": [{"product_name": "Rice", "quantity": 1, "price": 10}]}, "combos[0].price", "variant_price"),
    ("combos", {"combos": [{"product_name": "Rice", "qty": 1, "variant_price": 10}]}, "combos[0].qty", "quantity"),
    ("combos", {"combos": [{"product": "Rice", "quantity": 1, "variant_price": 10}]}, "combos[0].product_name",
     "product"),
    ("combos", {"combos": [{"productName": "Rice", "quantity": 1, "variant_price": 10}]}, "combos[0].product_name",
     "productName"),
    ("combos", {"combos": [{"product_name": "Rice", "quantity": 1, "variantPrice": 10}]}, "combos[0].variant_price",
     "variantPrice"),
    ("combos", {"combo": []}, "combos", "combo"),
    ("payments", {"method": "cash", "amount": 10}, "payment_method_id", "method"),
    ("payments", {"payment_method_code": "cash", "amount_paid": 10}, "amount", "amount_paid"),
    ("payments", {"payment_method": "cash", "amount": 10}, "payment_method_id", "payment_method"),
    ("discounts", {"discount_type": "FIXED", "value": 1}, "type", "discount_type"),
    ("discounts", {"type": "FIXED", "val": 1}, "value", "val"),
    ("cancel", {"cancel_reason": "late"}, "reason", "cancel_reason"),
    ("status", {"order_status": "READY"}, "status", "order_status"),
    ("delivery-status", {"deliveryStatus": "DELIVERED"}, "delivery_status", "deliveryStatus"),
    (None, {"comments": "no salt"}, "body", "comment"),
    (None, {"orderTitle": "Rosa"}, "body", "order_title"),
    ("/v1/orders", {"serviceType": "ONSITE"}, "service_type", "serviceType"),
    ("/v1/orders", {"type": "ONSITE"}, "service_type", "type"),
    (PRODUCTS, {"name": "Rice", "category": "Mains", "price": 1}, "category_id", "category"),
    (PRODUCTS, {"label": "Rice", "category_name": "Mains", "product_name": "Rice", "price": 1}, "name", "product_name"),
    (PRODUCTS, {"title": "Rice", "category_name": "Mains", "price": 1}, "name", "title"),
    ("payments", {"payment_type_id": "x", "amount": 10}, "payment_method_id", "payment_type_id"),
    (UPSERT, {"products": [{"sku": "new", "category_name": "Mains", "name": "Rice", "prize": 1}]}, "products[0].price", "prize"),
    (UPSERT, {"products": [{"sku": "new", "category_name": "Mains", "nome": "Rice", "price": 1}]}, "products[0].name", "nome"),
    (UPSERT, {"products": [{"category_name": "Mains", "name": "Rice", "variants": [{"sku": "big", "name": "Big", "precio": 1}]}]},
     "products[0].variants[0].price", "precio"),
    (KEYS, {"title": "x", "scope": ["orders:read"]}, "scopes", "scope"),
]


@pytest.mark.parametrize("below, body, field, says", NEAR_MISSES)
def test_a_near_miss_is_named_on_the_live_address(api, below, body, field, says):
    method, _, target = below.rpartition(" ") if below else ("", "", "")
    target = target if target.startswith("/") else path(api.place(), *filter(None, [below]))
    method = method or ("PATCH" if below in (None, "status", "delivery-status") else "POST")
    answer = api.send(method, target, body, new_key())
    refused(answer, 422, "validation_failed")
    messages = {error["field"]: error["message"] for error in answer.json["errors"]}
    assert says in messages.get(field, ""), messages


def test_a_field_that_is_known_is_no_near_miss(api):
    answer = api.post(path(api.place(), "payments"), {"payment_method_code": "cash", "tip_amount": 1})
    refused(answer, 422, "validation_failed", {"amount": "required"})
    assert "mean" not in answer.json["detail"], answer.json["detail"]


def test_near_misses_of_a_hostile_body_cost_little(api):
    body = {"combos": [{f"variant_pric{i:03}": 1 for i in range(90)} for _ in range(480)]}
    refused(api.post(path(api.place(), "combos"), body), 422, "validation_failed")
