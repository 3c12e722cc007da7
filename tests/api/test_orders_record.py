"""The record of an order (contract section 7, Record; section 1, Money on the wire)."""

import json
import re

import pytest

from support.orders import INSTANT, UUID, accepted, exact, in_days, item, path, read, record_bytes

NUMBER = re.compile(r"(?:0|[1-9]\d*|(?:0|[1-9]\d*)\.\d*[1-9])")  # the shortest exact decimal

# What each field may hold: a type, or None where it may be empty.
TEXT, MONEY, WHOLE, YES_OR_NO, LIST, ID, AT, DAY = "text", "money", "whole", "yes or no", "list", "id", "at", "day"
ORDER = {
    "id": {ID}, "public_id": {TEXT}, "order_number": {WHOLE}, "business_day": {DAY}, "reference": {TEXT, None},
    "company_id": {ID}, "source": {TEXT}, "country_code": {TEXT}, "timezone": {TEXT}, "currency": {TEXT}, "version": {WHOLE},
    "status": {TEXT}, "foreign_status": {TEXT, None}, "service_type": {TEXT}, "status_history": {LIST}, "delivery_status": {TEXT, None},
    "delivery_status_reason": {TEXT, None}, "delivered_by": {TEXT, None}, "rider": {dict, None},
    "pending_at": {AT}, "preparing_at": {AT, None}, "ready_at": {AT, None}, "delivered_at": {AT, None},
    "finalized_at": {AT, None}, "canceled_at": {AT, None}, "closed_at": {AT, None},
    "cancel_reason": {TEXT, None}, "scheduled_delivery_date": {AT, None}, "created_at": {AT}, "updated_at": {AT},
    "client_id": {ID, None}, "client": {dict, None}, "table_id": {ID, None}, "table": {dict, None},
    "address_id": {ID, None}, "address": {dict, None}, "comment": {TEXT, None}, "order_title": {TEXT, None},
    "delivery_comment": {TEXT, None}, "subtotal": {MONEY}, "total_discounts": {MONEY}, "delivery_price": {MONEY},
    "packaging_price": {MONEY}, "service_fee_price": {MONEY}, "total_tips": {MONEY}, "total": {MONEY},
    "total_paid": {MONEY}, "pending_amount": {MONEY}, "overpayment": {MONEY}, "paid": {YES_OR_NO},
    "paid_at": {AT, None}, "combos": {LIST}, "payments": {LIST}, "discounts": {LIST}}
COMBO = {
    "id": {ID}, "product_id": {ID, None}, "variant_id": {ID, None}, "product_name": {TEXT},
    "product_category_name": {TEXT, None}, "variant_name": {TEXT, None}, "sku": {TEXT, None}, "quantity": {MONEY},
    "comment": {TEXT, None}, "variant_price": {MONEY}, "variant_original_price": {MONEY},
    "modifiers_price": {MONEY}, "combo_price": {MONEY}, "combo_original_price": {MONEY}, "modifiers": {LIST},
    "kitchen_id": {ID, None}, "created_at": {AT}, "canceled_at": {AT, None}}
MODIFIER = {"id": {ID}, "modifier_id": {ID, None}, "group_name": {TEXT, None}, "name": {TEXT}, "quantity": {MONEY}, "price": {MONEY},
            "original_price": {MONEY}}
PAYMENT = {"id": {ID}, "payment_method": {dict}, "amount": {MONEY}, "bill_amount": {MONEY}, "tip_amount": {MONEY},
           "received_amount": {MONEY, None}, "change_amount": {MONEY, None}, "fee_amount": {MONEY},
           "reference": {TEXT, None}, "comment": {TEXT, None}, "created_at": {AT}, "canceled_at": {AT, None}}
METHOD = {"id": {ID}, "code": {TEXT}, "description": {TEXT}}
DISCOUNT = {"id": {ID}, "type": {TEXT}, "value": {MONEY}, "amount": {MONEY}, "reason": {TEXT, None},
            "created_at": {AT}}
HISTORY = {"status": {TEXT}, "at": {AT}, "by": {TEXT}, "implied": {YES_OR_NO}}
RIDER = {"provider": {TEXT}, "user_id": {TEXT, WHOLE, None}, "name": {TEXT, None}, "phone_number": {TEXT, None},
         "country_calling_code": {TEXT, None}, "assigned_at": {AT}}
CLIENT = {"id": {ID}, "name": {TEXT}, "phone": {TEXT, None}, "country_calling_code": {TEXT, None},
          "phone_number": {TEXT, None}, "email": {TEXT, None}}
TABLE = {"id": {ID}, "name": {TEXT}}
ADDRESS = {"id": {ID}, "address": {TEXT}, "area": {TEXT, None}, "city": {TEXT, None}, "reference": {TEXT, None},
           "complement": {TEXT, None}, "latitude": {"degrees", None}, "longitude": {"degrees", None}}


class Number(str):
    """A number as it was written."""


def is_a(value, kind):
    if kind is None:
        return value is None
    if kind in (LIST, dict, YES_OR_NO):
        return type(value) is {LIST: list, YES_OR_NO: bool}.get(kind, kind)
    if kind in (MONEY, WHOLE, "degrees"):
        pattern = {MONEY: NUMBER, WHOLE: re.compile(r"0|[1-9]\d*"), "degrees": re.compile("-?" + NUMBER.pattern)}[kind]
        return type(value) is Number and bool(re.fullmatch(pattern.pattern, value))
    return type(value) is str and bool({TEXT: re.compile("(?s).+"), ID: UUID, AT: INSTANT, DAY: re.compile(r"\d{4}-\d\d-\d\d")}[kind].fullmatch(value))


def check(row, fields):
    assert set(row) == set(fields)
    for name, kinds in fields.items():
        assert any(is_a(row[name], kind) for kind in kinds), (name, row[name], kinds)


def check_order(order, without=()):
    check(order, {n: k for n, k in ORDER.items() if n not in without})
    for name, shape in [("client", CLIENT), ("table", TABLE), ("address", ADDRESS), ("rider", RIDER)]:
        if order[name] is not None:
            check(order[name], shape)
    for row in order["status_history"]:
        check(row, HISTORY)
    for combo in order.get("combos", []):
        check(combo, COMBO)
        for modifier in combo["modifiers"]:
            check(modifier, MODIFIER)
    for payment in order.get("payments", []):
        check(payment, PAYMENT)
        check(payment["payment_method"], METHOD)
    for discount in order.get("discounts", []):
        check(discount, DISCOUNT)


def as_written(answer):
    return json.loads(answer.body, parse_float=Number, parse_int=Number)["data"]


def full_delivery(api, house):
    """An order in which everything is filled that can be."""
    order = api.place(service_type="DELIVERY", client_id=house.client["id"], address_id=house.address["id"],
                      delivery_price=7.5, packaging_price=1, comment="no onion", order_title="Rosa",
                      delivery_comment="door", scheduled_delivery_date=in_days(1))
    product, _ = house.products_with_variants()
    api.add(order, item(10.5, 1.5, comment="hot", sku=product["variants"][0]["sku"], modifiers=[
        {"modifier_id": house.modifier(product)["id"], "price": 0.35}, {"name": "Egg", "price": 1}]))
    added = api.add(order, item(3), item(4, variant_original_price=6))
    accepted(api.delete(path(order, "combos", added["combos"][1]["id"])))
    accepted(api.post(path(order, "discounts"), {"type": "PERCENTAGE", "value": 12.5, "reason": "regular"}))
    accepted(api.post(path(order, "discounts"), {"type": "AMOUNT", "value": 1}))
    api.pay(order, 5, tip_amount=1.5, received_amount=10, reference="A", comment="b")
    paid = api.pay(order, 2)
    accepted(api.delete(path(order, "payments", paid["payments"][0]["id"])))
    accepted(api.put(path(order, "rider"), {"user_id": 7, "name": "Beto", "phone_number": "9",
                                            "country_calling_code": "51"}))
    accepted(api.patch(path(order, "delivery-status"), {"delivery_status": "DRIVER_ON_THE_WAY_TO_DESTINATION"}))
    accepted(api.patch(path(order, "delivery-status"), {"delivery_status": "NOT_DELIVERED", "reason": "nobody"}))
    return read(api, order)


@pytest.mark.parametrize("service_type", ["ONSITE", "TABLE", "DELIVERY", "TAKEAWAY"])
def test_every_field_is_there_when_nothing_is_filled(api, service_type):
    order = api.place(service_type=service_type)
    check_order(as_written(api.get(path(order))))


def test_every_field_is_there_when_everything_is_filled(api, house):
    order = full_delivery(api, house)
    check_order(as_written(api.get(path(order))))
    accepted(api.delete(path(order, "payments", order["payments"][1]["id"])))
    accepted(api.post(path(order, "cancel"), {"reason": "no"}))
    record = as_written(api.get(path(order)))
    check_order(record)
    empty = {n for n, v in record.items() if v is None}
    assert empty == {"foreign_status", "table_id", "table", "delivered_at", "finalized_at", "paid_at"}


def test_a_finalized_dinner_has_its_table_and_times(api, house):
    order = api.place(service_type="TABLE", table_id=house.table["id"])
    api.advance(order, "FINALIZED")
    record = as_written(api.get(path(order)))
    check_order(record)
    assert record["table"]["id"] == house.table["id"] and record["finalized_at"] == record["closed_at"]


def test_list_detail_event_and_every_answer_are_the_same_bytes(api, box, house):
    order = full_delivery(api, house)
    last = api.patch(path(order), {"order_title": "Señora \"R\" \\ / \u2028 \U0001f41f"})
    record = record_bytes(last)
    detail = api.get(path(order))
    assert record_bytes(detail) == record and detail.etag == last.etag
    listed = api.get("/v1/orders?filter[reference]=" + order["reference"])
    assert listed.body.startswith(b'{"data":[' + record + b'],"pagination":{')
    ((version, body),) = box.rows("SELECT subject_version, body FROM event WHERE subject_id = ?"
                                   " ORDER BY seq DESC LIMIT 1", order["id"])
    assert body.encode() == record and version == last.data["version"]


def test_the_tag_names_the_version(api):
    order = api.place()
    assert re.fullmatch(r'"1\.\d+\.\d+"', api.get(path(order)).etag)
    assert re.fullmatch(r'"2\.\d+\.\d+"', api.patch(path(order), {"comment": "x"}).etag)


def test_an_unchanged_record_is_304(api):
    order = api.place()
    tag = api.get(path(order)).etag
    for sent in [tag, "W/" + tag, '"x", ' + tag, "*"]:
        answer = api.get(path(order), **{"If-None-Match": sent})
        assert (answer.status, answer.body, answer.etag) == (304, b"", tag)
    assert api.get(path(order), **{"If-None-Match": '"0.0"'}).status == 200
    api.patch(path(order), {"comment": "x"})
    assert api.get(path(order), **{"If-None-Match": tag}).status == 200


def test_head_is_get_without_a_body(api):
    order = api.place()
    get, head = api.get(path(order)), api.send("HEAD", path(order))
    assert (head.status, head.body, head.etag) == (200, b"", get.etag)
    assert head.headers["content-length"] == get.headers["content-length"]


def test_records_may_be_kept_but_must_be_asked_for_again(api):
    answer = api.get(path(api.place()))
    assert answer.headers["cache-control"] == "private, no-cache"
    assert answer.headers["content-type"].startswith("application/json")
    assert answer.headers["api-version"] == "v0"


def test_versions_count_changes_and_stamp_them(api):
    order = api.place()
    for version in range(2, 6):
        after = accepted(api.patch(path(order), {"comment": "x"}))
        assert after["version"] == version
        assert after["updated_at"] >= order["updated_at"] and after["created_at"] == order["created_at"]
        order = after


# Money in currencies of 0, 2 and 3 decimals

@pytest.fixture
def paying(api, other, kuwait):
    return {"PEN": api, "CLP": other, "KWD": kuwait}


@pytest.mark.parametrize("currency, price, quantity, line", [
    ("PEN", "12.5", "1", "12.5"), ("PEN", "0.01", "3", "0.03"), ("PEN", "1250", "2", "2500"),
    ("PEN", "9999999999.99", "1", "9999999999.99"), ("PEN", "0.1", "3", "0.3"), ("PEN", "4.35", "100", "435"),
    ("PEN", "0", "1", "0"), ("PEN", "1.15", "0.5", "0.58"),
    ("CLP", "1250", "1", "1250"), ("CLP", "9999999999", "1", "9999999999"), ("CLP", "3", "0.5", "2"),
    ("KWD", "4.125", "1", "4.125"), ("KWD", "0.001", "0.5", "0.001"), ("KWD", "1.1", "10", "11"),
    ("KWD", "9999999999.99", "1", "9999999999.99"), ("KWD", "0.333", "1.001", "0.333")])
def test_decimal_text_in_is_decimal_text_out(paying, currency, price, quantity, line):
    client = paying[currency]
    order = client.place()
    assert order["currency"] == currency
    body = '{"combos":[{"product_name":"Rice","quantity":%s,"variant_price":%s}]}' % (quantity, price)
    answer = client.post(path(order, "combos"), body.encode())
    accepted(answer)
    record = exact(answer.body)["data"]
    combo = record["combos"][0]
    assert (combo["quantity"], combo["variant_price"], combo["combo_price"]) == (quantity, line, line)
    assert (record["subtotal"], record["total"], record["pending_amount"]) == (line, line, line)
    assert (record["total_paid"], record["overpayment"]) == ("0", "0")


@pytest.mark.parametrize("currency, price", [("CLP", 0.5), ("CLP", 10.1), ("PEN", 0.125), ("KWD", 0.0001)])
def test_more_decimals_than_the_currency_has_are_refused(paying, currency, price):
    client = paying[currency]
    answer = client.post(path(client.place(), "combos"), {"combos": [item(price)]})
    assert answer.status == 422
    assert answer.fields == {"combos[0].variant_price": "too_many_decimals"}


@pytest.mark.parametrize("currency, value, amount", [
    ("CLP", "12.5", "125"), ("CLP", "0.05", "1"), ("CLP", "0.0499", "0"), ("KWD", "33.3333", "333.333"),
    ("KWD", "0.0001", "0.001"), ("PEN", "33.3333", "333.33")])
def test_a_percentage_is_rounded_to_the_currencys_minor_unit(paying, currency, value, amount):
    client = paying[currency]
    order = client.place()
    client.add(order, item(1000))
    answer = client.post(path(order, "discounts"), ('{"type":"PERCENTAGE","value":%s}' % value).encode())
    accepted(answer)
    (discount,) = exact(answer.body)["data"]["discounts"]
    assert (discount["value"], discount["amount"]) == (value, amount)
