"""PATCH /v1/orders/{id} (contract section 7)."""

import time

import pytest

from support.orders import CARD_NUMBER, accepted, in_days, invalid, item, new_key, path, read, refused, unchanged
from support.waiting import PATIENCE_S, wait_until, with_short_time

FIELDS = ["comment", "order_title", "delivery_comment", "delivery_price", "packaging_price",
          "scheduled_delivery_date"]


def change(api, order, **fields):
    return api.patch(path(order), fields)


def test_every_field_can_be_changed_on_a_delivery(api):
    order = api.place(service_type="DELIVERY")
    sent = {"comment": "hurry", "order_title": "Rosa", "delivery_comment": "blue door", "delivery_price": 5,
            "packaging_price": 0.5, "scheduled_delivery_date": in_days(1)}
    after = accepted(change(api, order, **sent))
    for field, value in sent.items():
        assert after[field] == value, field
    assert after["total"] == 5.5
    assert after["version"] == order["version"] + 1


def test_a_field_that_was_not_sent_stays(api):
    order = api.place(order_title="Rosa", packaging_price=2, comment="one")
    after = accepted(change(api, order, packaging_price=3))
    assert (after["order_title"], after["packaging_price"], after["comment"]) == ("Rosa", 3, "one")


def test_a_comment_is_appended_on_a_new_line(api):
    order = api.place()
    assert accepted(change(api, order, comment="one"))["comment"] == "one"
    assert accepted(change(api, order, comment="two"))["comment"] == "one\ntwo"


def test_comments_are_at_most_2000_characters_in_all(api):
    order = api.place(comment="ñ" * 500)
    for _ in range(2):
        accepted(change(api, order, comment="ñ" * 500))
    after = accepted(change(api, order, comment="ñ" * 497))
    assert len(after["comment"]) == 2000
    invalid(change(api, order, comment="x"), says="2000", comment="too_long")
    assert read(api, order) == after


def test_one_comment_is_at_most_500_characters(api):
    invalid(change(api, api.place(), comment="x" * 501), comment="too_long")


def test_null_clears_what_can_be_empty(api):
    order = api.place(service_type="DELIVERY", order_title="Rosa", delivery_comment="door",
                      scheduled_delivery_date=in_days(1))
    after = accepted(change(api, order, order_title=None, delivery_comment=None, scheduled_delivery_date=None))
    assert after["order_title"] is after["delivery_comment"] is after["scheduled_delivery_date"] is None


@pytest.mark.parametrize("body", [{}, {"colour": "blue"}, {"comment": None}, {"packaging_price": None}])
def test_a_body_without_a_known_field_is_refused_and_the_fields_listed(api, body):
    answer = api.patch(path(api.place()), body)
    refused(answer, 422, "validation_failed", says=FIELDS)
    assert list(answer.fields.values()) == ["empty"]


@pytest.mark.parametrize("service_type", ["ONSITE", "TABLE", "TAKEAWAY"])
def test_price_and_comment_of_a_delivery_are_for_delivery_orders_only(api, service_type):
    order = api.place(service_type=service_type)
    invalid(change(api, order, delivery_price=1, delivery_comment="door"), says="DELIVERY",
            delivery_price="not_allowed", delivery_comment="not_allowed")
    assert read(api, order) == order


@pytest.mark.parametrize("fields", [
    {"status": "READY"}, {"status": "CANCELLED"}, {"comment": "x", "status": "PREPARING"}])
def test_status_is_refused_and_its_endpoint_named(api, fields):
    order = api.place()
    invalid(change(api, order, **fields), says="PATCH /v1/orders/{id}/status", status="not_allowed")
    assert read(api, order) == order


@pytest.mark.parametrize("field", ["source", "country_code", "timezone", "currency"])
def test_what_the_credential_decides_is_read_only(api, field):
    invalid(change(api, api.place(), comment="x", **{field: "X"}), **{field: "read_only"})


@pytest.mark.parametrize("field, value, code", [
    ("packaging_price", -0.5, "must_not_be_negative"), ("packaging_price", 0.125, "too_many_decimals"),
    ("packaging_price", "1", "wrong_type"), ("delivery_price", 10000000000, "out_of_range"),
    ("order_title", "x" * 201, "too_long"), ("comment", 5, "wrong_type"),
    ("comment", CARD_NUMBER, "looks_like_card_number"), ("delivery_comment", "x" * 501, "too_long"),
    ("scheduled_delivery_date", "2020-01-01T00:00:00Z", "out_of_range"),
    ("scheduled_delivery_date", "soon", "invalid_format")])
def test_a_wrong_value_is_named(api, field, value, code):
    order = api.place(service_type="DELIVERY")
    invalid(change(api, order, **{field: value}), **{field: code})
    assert read(api, order) == order


@pytest.mark.parametrize("fields", [
    {"packaging_price": 2}, {"packaging_price": 2.00, "order_title": "Rosa"}])
def test_the_same_values_again_change_nothing(api, fields):
    order = api.place(packaging_price=2, order_title="Rosa")
    unchanged(api, order, change(api, order, **fields))


def test_prices_change_what_is_still_to_pay(api):
    order = api.place(service_type="DELIVERY")
    api.add(order, item(10))
    assert api.pay(order, 10)["paid"]
    after = accepted(change(api, order, delivery_price=3))
    assert (after["total"], after["pending_amount"], after["paid"], after["paid_at"]) == (13, 3, False, None)
    after = accepted(change(api, order, delivery_price=0))
    assert after["paid"] and after["paid_at"] == after["updated_at"]


@pytest.mark.parametrize("fields", [
    {"order_title": "x"}, {"packaging_price": 1}, {"comment": "x", "order_title": "x"}])
def test_a_closed_order_takes_only_a_comment(api, fields):
    finalized = api.advance(api.place(), "FINALIZED")
    refused(change(api, finalized, **fields), 422, "order_closed", says="comment")
    assert accepted(change(api, finalized, comment="thanks"))["comment"] == "thanks"
    cancelled = accepted(api.post(path(api.place(), "cancel"), {"reason": "left"}))
    refused(change(api, cancelled, **fields), 422, "order_cancelled", says="comment")
    assert accepted(change(api, cancelled, comment="sorry"))["comment"] == "sorry"


def test_the_fields_are_checked_before_the_order_is_looked_for(api):
    unknown = {"id": "0190a5c8-6f2e-7c3a-9d41-2b7f5e8a1c90"}
    invalid(change(api, unknown, packaging_price=-1), packaging_price="must_not_be_negative")
    refused(change(api, unknown, packaging_price=1), 404, "not_found")


def soon(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() + seconds))


def test_a_form_sent_again_with_its_own_past_date_is_accepted(api):
    def placed(seconds):
        answer = api.post("/v1/orders", {"service_type": "ONSITE", "scheduled_delivery_date": soon(seconds),
                                         "order_title": "Rosa"}, new_key())
        return answer.data if answer.status == 201 else None

    order = with_short_time(placed)
    date = order["scheduled_delivery_date"]
    wait_until(lambda: soon(0) > date, "the date of the order", 60 + PATIENCE_S)
    unchanged(api, order, change(api, order, scheduled_delivery_date=date))
    after = accepted(change(api, order, scheduled_delivery_date=date.replace("Z", "+00:00"), order_title="Ana"))
    assert (after["scheduled_delivery_date"], after["order_title"]) == (date, "Ana")
    invalid(change(api, order, scheduled_delivery_date=soon(-60)), scheduled_delivery_date="out_of_range")
    refused(api.post("/v1/orders", {"service_type": "ONSITE", "scheduled_delivery_date": date},
                     {"Idempotency-Key": date + order["id"]}), 422, "validation_failed",
            {"scheduled_delivery_date": "out_of_range"})
    invalid(change(api, order, scheduled_delivery_date=soon(-60), delivery_price=1),
            scheduled_delivery_date="out_of_range", delivery_price="not_allowed")


def test_a_past_date_is_refused_where_the_order_has_none(api):
    order = api.place()
    invalid(change(api, order, scheduled_delivery_date=soon(-60)), scheduled_delivery_date="out_of_range")


@pytest.mark.parametrize("service_type", ["ONSITE", "TABLE", "TAKEAWAY", "DELIVERY"])
def test_a_null_delivery_comment_is_accepted_for_every_service_type(api, service_type):
    order = api.place(service_type=service_type)
    unchanged(api, order, change(api, order, delivery_comment=None))
    unchanged(api, order, change(api, order, delivery_comment=None, comment=None, delivery_price=None, packaging_price=None))


@pytest.mark.parametrize("field, value", [("service_type", "TABLE"), ("client_id", "0190a5c8-6f2e-7c3a-9d41-2b7f5e8a1c90"),
                                          ("table_id", "x"), ("address_id", 7)])
def test_what_is_set_when_an_order_is_placed_is_not_changed_silently(api, field, value):
    order = api.place()
    invalid(change(api, order, comment="x", **{field: value}), says="POST /v1/orders", **{field: "not_allowed"})
    assert read(api, order) == order


def test_a_put_of_an_order_is_not_offered(api):
    answer = api.put(path(api.place()), {"comment": "x"})
    refused(answer, 405, "method_not_allowed", says="PATCH")
    assert {"GET", "PATCH"} <= {m.strip() for m in answer.headers["allow"].split(",")}
