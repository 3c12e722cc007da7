"""Whatever a body holds, it is taken or refused with a 4xx that names the field, and nothing ever fails.

COMANDA_SEED=N repeats a run; a failure prints the seed and the body."""

import contextlib
import copy
import json
import os
import random

import pytest

from support.orders import CARD_NUMBER, accepted, item, new_id, new_key, path

SEED = int(os.environ.get("COMANDA_SEED") or random.SystemRandom().randrange(10 ** 9))
BODIES = 120  # of each write
FIELD_CODES = {
    "required", "wrong_type", "unknown_value", "invalid_format", "too_short", "too_long", "out_of_range",
    "must_be_positive", "must_not_be_negative", "too_many_decimals", "too_many_items", "empty", "duplicate",
    "not_found", "not_allowed", "read_only", "unknown_field", "illegal_move", "looks_like_card_number"}
STATE_CODES = {"validation_failed", "order_closed", "order_cancelled", "order_has_active_payments",
               "use_cancel_endpoint"}
JUNK = [None, True, False, 0, 1, -1, 0.1, -0.0, 0.001, 1e308, -1e308, 1e-308, 10 ** 15, 10 ** 40, 9999999999.99,
        "", " ", "x", "x" * 3000, "ñ\U0001f41f", "\x00", "\x1b[0m", "\u2028", "null", "1", CARD_NUMBER, new_id(),
        "2030-01-01T00:00:00Z", "2030-02-30T00:00:00+99:99", "DELIVERED", "CANCELLED", [], {}, [[]], [{}], [None],
        {"": ""}, {"id": 1}, [1] * 300, {"a": {"b": {"c": []}}}]
LINE = item(10, 2, variant_original_price=12, variant_name="Large", sku="S", comment="c", modifiers=[
    {"name": "Egg", "price": 1, "quantity": 2, "original_price": 2}])
WRITES = [
    ("POST", None, {"service_type": "DELIVERY", "client_id": None, "table_id": None, "address_id": None,
                    "delivery_price": 5, "packaging_price": 1, "comment": "c", "order_title": "t",
                    "delivery_comment": "d", "scheduled_delivery_date": "2090-01-01T00:00:00Z"}),
    ("PATCH", [], {"comment": "c", "order_title": "t", "delivery_comment": "d", "delivery_price": 5,
                   "packaging_price": 1, "scheduled_delivery_date": "2090-01-01T00:00:00Z"}),
    ("POST", ["combos"], {"combos": [LINE, {**LINE, "product_id": None, "variant_id": None}]}),
    ("POST", ["payments"], {"payment_method_code": "cash", "payment_method_id": None, "amount": 5, "bill_amount": 5,
                            "tip_amount": 1, "received_amount": 10, "reference": "r", "comment": "c"}),
    ("POST", ["discounts"], {"type": "PERCENTAGE", "value": 10, "reason": "r"}),
    ("PATCH", ["status"], {"status": "PREPARING"}),
    ("POST", ["cancel"], {"reason": "r"}),
    ("PUT", ["rider"], {"user_id": "u", "provider": "api", "name": "n", "phone_number": "1",
                        "country_calling_code": "51"}),
    ("PATCH", ["delivery-status"], {"delivery_status": "DRIVER_ARRIVED_AT_STORE", "reason": None})]


def places(value, found):
    """(container, key) of everything below a body."""
    for key in value if isinstance(value, dict) else range(len(value)):
        found.append((value, key))
        if isinstance(value[key], (dict, list)):
            places(value[key], found)
    return found


def spoilt(dice, body):
    body = copy.deepcopy(body)
    for _ in range(dice.randint(1, 3)):
        all_places = places(body, [])
        if not all_places:
            return body
        container, key = dice.choice(all_places)
        if dice.random() < 0.15:
            del container[key]
        elif dice.random() < 0.1 and isinstance(container, dict):
            container[dice.choice(["status", "combos", "source", "id", "", "x" * 300])] = copy.deepcopy(dice.choice(JUNK))
        else:
            container[key] = copy.deepcopy(dice.choice(JUNK))
    return body


def check(answer):
    assert answer.status in (200, 201, 400, 422), answer.body
    if answer.status < 400:
        return
    if answer.status == 400:
        assert answer.code == "invalid_json"  # an escaped NUL, say
        return
    assert answer.code in STATE_CODES, answer.body
    if answer.code == "validation_failed":
        assert answer.json["errors"], answer.body
        assert set(answer.fields.values()) <= FIELD_CODES, answer.body
        assert all(e["field"] and e["message"] for e in answer.json["errors"]), answer.body
    assert answer.json["detail"]


def check_money(order):
    """The identities hold whatever was sent (contract section 17)."""
    cents = {n: round(order[n] * 100) for n in [
        "subtotal", "total_discounts", "delivery_price", "packaging_price", "service_fee_price", "total", "total_paid",
        "pending_amount", "overpayment"]}
    gross = sum(cents[n] for n in ["subtotal", "delivery_price", "packaging_price", "service_fee_price"])
    assert cents["total"] == gross - cents["total_discounts"] >= 0
    assert cents["pending_amount"] == max(0, cents["total"] - cents["total_paid"])
    assert cents["overpayment"] == max(0, cents["total_paid"] - cents["total"])


@pytest.mark.parametrize("method, parts, body", WRITES, ids=lambda v: "/".join(v) if isinstance(v, list) else "")
def test_any_body_is_taken_or_refused_but_never_fails(box, key, method, parts, body):
    with contextlib.closing(box.client(key)) as api:
        for number in range(BODIES):
            sent = spoilt(random.Random(f"{SEED} {method} {parts} {number}"), body)
            try:
                if parts is None:
                    check(api.post("/v1/orders", sent, new_key()))
                    continue
                order = api.add(api.place(service_type="DELIVERY"), item(10))
                answer = api.send(method, path(order, *parts), sent)
                check(answer)
                after = accepted(api.get(path(order)))
                assert after == (answer.data if answer.status == 200 else order)
                check_money(after)
            except Exception as failure:
                raise AssertionError(f"COMANDA_SEED={SEED}: {method} {parts} {json.dumps(sent)}\n{failure}") from failure
