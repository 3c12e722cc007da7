"""Orders and what happens outside the API: other channels, a new import, the order in which rules apply."""

import contextlib
import copy
import json

import pytest

from support.box import Box
from support.orders import Restaurant, accepted, invalid, item, new_id, path, read, refused


@contextlib.contextmanager
def served(box, key):
    box.start()
    with contextlib.closing(box.client(key)) as api:
        yield api
    assert box.stop() == 0


@pytest.fixture
def own_box(tmp_path):
    box = Box(data=tmp_path)
    box.bring_in("demo")
    yield box
    box.stop()


# Other channels

def test_an_order_of_another_channel_is_moved_and_delivered_but_not_edited(own_box):
    key = own_box.make_key()["key"]
    with served(own_box, key) as api:
        order = api.place(service_type="DELIVERY")
        order = api.add(order, item(10))
        order = api.pay(order, 4)
        order = accepted(api.post(path(order, "discounts"), {"type": "AMOUNT", "value": 1}))
    own_box.execute("UPDATE orders SET source = 'RAPPI', checksum = NULL")
    own_box.execute("UPDATE company_counter SET checksums_complete = 0, checksum = NULL")
    with served(own_box, key) as api:
        for answer in [
                api.patch(path(order), {"order_title": "x"}), api.patch(path(order), {"comment": "x"}),
                api.post(path(order, "combos"), {"combos": [item()]}),
                api.delete(path(order, "combos", order["combos"][0]["id"])),
                api.post(path(order, "payments"), {"payment_method_code": "cash", "amount": 1}),
                api.delete(path(order, "payments", order["payments"][0]["id"])),
                api.post(path(order, "discounts"), {"type": "AMOUNT", "value": 1}),
                api.delete(path(order, "discounts", order["discounts"][0]["id"])),
                api.post(path(order, "cancel"), {"reason": "x"})]:
            refused(answer, 422, "order_not_editable", says="RAPPI")
        assert read(api, order)["version"] == order["version"]
        assert api.advance(order, "READY")["source"] == "RAPPI"
        assert accepted(api.put(path(order, "rider"), {"name": "Beto"}))["rider"]["name"] == "Beto"
        assert accepted(api.delete(path(order, "rider")))["rider"] is None
        after = accepted(api.patch(path(order, "delivery-status"), {"delivery_status": "DELIVERED"}))
        assert (after["status"], after["delivered_by"]) == ("DELIVERED", "API")
        assert [o["id"] for o in api.get("/v1/orders?filter[source]=rappi").data] == [order["id"]]


# A new import

def test_what_an_order_says_of_guest_table_and_menu_stays_when_they_change(own_box, demo, tmp_path):
    key = own_box.make_key()["key"]
    file = {"companies": [copy.deepcopy(demo)]}
    house = Restaurant(file["companies"][0], own_box)
    product, _ = house.simple_product()
    line = {"product_id": product["id"], "quantity": 1, "variant_price": 5}
    with served(own_box, key) as api:
        dinner = api.place(service_type="TABLE", table_id=house.table["id"], client_id=house.client["id"])
        dinner = api.add(dinner, line)
        tag = api.get(path(dinner)).etag
    for row in [house.table, house.client, product]:
        row["name"] += " (new)"
    (tmp_path / "new.json").write_text(json.dumps(file))
    own_box.bring_in(tmp_path / "new.json")
    with served(own_box, key) as api:
        assert read(api, dinner) == dinner
        assert api.get(path(dinner)).etag == tag
        assert accepted(api.patch(path(dinner), {"order_title": "x"}))["table"] == dinner["table"]
        new = api.place(service_type="TABLE", table_id=house.table["id"], client_id=house.client["id"])
        assert (new["table"]["name"], new["client"]["name"]) == (house.table["name"], house.client["name"])
        assert api.add(new, line)["combos"][0]["product_name"] == product["name"]


def test_a_payment_method_that_is_no_longer_active_takes_no_payment(own_box, demo, tmp_path):
    key = own_box.make_key()["key"]
    file = {"companies": [copy.deepcopy(demo)]}
    next(m for m in file["companies"][0]["payment_methods"] if m["code"] == "yape")["active"] = False
    with served(own_box, key) as api:
        order = api.add(api.place(), item(10))
        order = api.pay(order, 4, "yape")
    (tmp_path / "new.json").write_text(json.dumps(file))
    own_box.bring_in(tmp_path / "new.json")
    with served(own_box, key) as api:
        answer = api.post(path(order, "payments"), {"payment_method_code": "yape", "amount": 1})
        refused(answer, 422, "validation_failed", says="cash")
        assert list(answer.fields) == ["payment_method_code"]
        assert read(api, order) == order
        accepted(api.delete(path(order, "payments", order["payments"][0]["id"])))


# The order in which rules apply

def test_fields_come_first_then_the_row_then_references_then_the_state(api):
    order = api.add(api.place(), item(10))
    closed = api.advance(order, "FINALIZED")
    linked = {"product_id": new_id(), "quantity": 1, "variant_price": 1}
    refused(api.post(path(closed, "combos"), {"combos": [{**linked, "quantity": 0}]}), 422, "validation_failed",
            {"combos[0].quantity": "must_be_positive"})
    refused(api.post(path(closed, "combos"), {"combos": [linked]}), 422, "validation_failed",
            {"combos[0].product_id": "not_found"})
    refused(api.post(path(closed, "combos"), {"combos": [item()]}), 422, "order_closed")
    refused(api.delete(path(closed, "combos", new_id())), 404, "not_found")
    refused(api.delete(path(closed, "discounts", new_id())), 404, "not_found")
    gone = accepted(api.post(path(api.place(), "cancel"), {"reason": "x"}))
    invalid(api.post(path(gone, "payments"), {"payment_method_code": "gold", "amount": 1}),
            payment_method_code="not_found")
    refused(api.post(path(gone, "payments"), {"payment_method_code": "cash", "amount": 1}), 422, "order_cancelled")
