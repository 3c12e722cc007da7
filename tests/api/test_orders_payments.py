"""POST and DELETE …/payments (specification, Payment; contract section 7, Payments)."""

import pytest

from support.orders import (CARD_NUMBER, SERVICE_TYPES, accepted, invalid, item, new_id, path, read, refused,
                            unchanged)


def pay(api, order, amount=None, code="cash", **fields):
    body = {"payment_method_code": code, "amount": amount, **fields}
    return api.post(path(order, "payments"), {k: v for k, v in body.items() if v is not None})


def order_of(api, total, **fields):
    order = api.place(**fields)
    return api.add(order, item(total))


def payment_of(api, *arguments, **fields):
    (payment,) = accepted(pay(api, order_of(api, 100), *arguments, **fields))["payments"]
    return payment


def wrong(api, says=(), service_type="ONSITE", sent=None, **codes):
    order = order_of(api, 100, service_type=service_type)
    invalid(api.post(path(order, "payments"), sent), says, **codes)
    assert read(api, order) == order


# What is recorded

def test_a_payment_names_its_method_and_its_amounts(api, house):
    order = order_of(api, 40)
    after = accepted(pay(api, order, 40, tip_amount=4, received_amount=50, reference="A-1", comment="coins"))
    (payment,) = after["payments"]
    cash = house.method()
    assert payment == {
        "id": payment["id"],
        "payment_method": {"id": cash["id"], "code": "cash", "description": cash["description"]},
        "amount": 40, "bill_amount": 40, "tip_amount": 4, "received_amount": 50, "change_amount": 6,
        "fee_amount": 0, "reference": "A-1", "comment": "coins", "created_at": after["updated_at"],
        "canceled_at": None}


def test_what_was_not_sent_is_null_or_0(api):
    payment = payment_of(api, 40)
    assert payment["tip_amount"] == 0
    assert payment["received_amount"] is payment["change_amount"] is payment["reference"] is None


def test_a_method_is_named_by_id_or_code_or_both(api, house):
    cash = house.method()["id"]
    for fields in [{"code": None, "payment_method_id": cash}, {"payment_method_id": cash},
                   {"code": None, "payment_method_id": cash.upper()}, {}]:
        assert payment_of(api, 1, **fields)["payment_method"]["id"] == cash


def test_bill_amount_is_another_name_of_amount(api):
    assert payment_of(api, bill_amount=30)["amount"] == 30
    assert payment_of(api, 30, bill_amount=30.00)["amount"] == 30


def test_the_exact_sum_handed_over_gives_no_change(api):
    assert payment_of(api, 30, tip_amount=2, received_amount=32)["change_amount"] == 0


def test_a_tip_alone_is_a_payment(api):
    order = order_of(api, 100)
    after = accepted(pay(api, order, 0, tip_amount=5))
    assert (after["total_tips"], after["total_paid"], after["paid"]) == (5, 0, False)


# What it does to the order

def test_the_order_is_paid_when_payments_add_up_to_the_total(api):
    order = order_of(api, 30)
    after = accepted(pay(api, order, 10))
    assert (after["total_paid"], after["pending_amount"], after["paid"], after["paid_at"]) == (10, 20, False, None)
    after = accepted(pay(api, order, 20, "yape"))
    assert (after["total_paid"], after["pending_amount"], after["paid"]) == (30, 0, True)
    assert after["paid_at"] == after["updated_at"]
    assert after["overpayment"] == 0


def test_tips_are_no_part_of_the_total(api):
    after = accepted(pay(api, order_of(api, 30), 25, tip_amount=5))
    assert (after["total"], after["total_tips"], after["pending_amount"], after["paid"]) == (30, 5, 5, False)


def test_more_than_the_total_is_an_overpayment(api):
    after = accepted(pay(api, order_of(api, 30), 50))
    assert (after["total_paid"], after["overpayment"], after["pending_amount"], after["paid"]) == (50, 20, 0, True)


def test_two_payments_with_one_method_are_two_payments(api):
    order = order_of(api, 30)
    pay(api, order, 10)
    after = accepted(pay(api, order, 10))
    assert len(after["payments"]) == 2 and after["total_paid"] == 20


def test_an_order_without_lines_is_paid_only_where_something_costs(api):
    empty = api.place()
    assert accepted(pay(api, empty, 5))["paid"] is False
    packed = api.place(packaging_price=5)
    assert accepted(pay(api, packed, 5))["paid"] is True


def test_an_order_whose_line_costs_nothing_is_paid_without_a_payment(api):
    after = api.add(api.place(), item(0))
    assert after["total"] == 0 and after["paid"] is True and after["paid_at"] == after["updated_at"]


def test_paid_at_stays_until_the_order_is_paid_no_more(api):
    order = order_of(api, 30)
    paid = accepted(pay(api, order, 30))
    assert accepted(pay(api, order, 5))["paid_at"] == paid["paid_at"]
    more = api.add(order, item(10))
    assert more["paid"] is False and more["paid_at"] is None


def test_a_finalized_order_takes_payments_and_gives_them_up(api):
    order = api.advance(order_of(api, 30), "FINALIZED")
    after = accepted(pay(api, order, 30))
    assert after["paid"] and after["status"] == "FINALIZED"
    after = accepted(api.delete(path(order, "payments", after["payments"][0]["id"])))
    assert not after["paid"] and after["status"] == "FINALIZED"


def test_a_cancelled_order_takes_no_payments(api):
    order = accepted(api.post(path(order_of(api, 30), "cancel"), {"reason": "left"}))
    refused(pay(api, order, 30), 422, "order_cancelled")
    assert read(api, order) == order


# Refusals

def test_a_method_must_be_named(api):
    wrong(api, sent={"amount": 1}, says=["payment_method_code"], payment_method_id="required")


def test_an_unknown_method_is_refused_and_the_codes_listed(api, house):
    codes = [m["code"] for m in house.company["payment_methods"]]
    wrong(api, sent={"payment_method_code": "gold", "amount": 1}, says=codes, payment_method_code="not_found")
    wrong(api, sent={"payment_method_id": new_id(), "amount": 1}, payment_method_id="not_found")
    wrong(api, sent={"payment_method_id": "gold", "amount": 1}, payment_method_id="invalid_format")


def test_an_id_and_a_code_that_disagree_are_refused(api, house):
    order = order_of(api, 100)
    answer = pay(api, order, 1, "yape", payment_method_id=house.method()["id"])
    assert answer.status == 422 and set(answer.fields.values()) == {"not_allowed"}, answer.body
    assert read(api, order) == order


def test_a_method_must_be_enabled_for_the_service_type(api, house):
    method, lacking = house.narrow_method()
    fields = {"service_type": lacking}
    order = order_of(api, 100, **fields)
    invalid(pay(api, order, 1, method["code"]), says=lacking, payment_method_code="not_allowed")
    invalid(api.post(path(order, "payments"), {"payment_method_id": method["id"], "amount": 1}),
            payment_method_id="not_allowed")
    assert read(api, order) == order


@pytest.mark.parametrize("service_type", SERVICE_TYPES)
def test_cash_is_taken_everywhere(api, service_type):
    accepted(pay(api, order_of(api, 5, service_type=service_type), 5))


CASH = {"payment_method_code": "cash"}


def test_an_amount_must_be_there(api):
    wrong(api, sent=CASH, amount="required")


@pytest.mark.parametrize("fields", [{"amount": 0}, {"amount": 0, "tip_amount": 0}])
def test_amount_and_tip_together_are_above_0(api, fields):
    wrong(api, sent={**CASH, **fields}, amount="must_be_positive")


def test_amount_and_bill_amount_must_agree(api):
    wrong(api, sent={**CASH, "amount": 1, "bill_amount": 2}, bill_amount="not_allowed")


@pytest.mark.parametrize("field", ["amount", "bill_amount", "tip_amount", "received_amount"])
@pytest.mark.parametrize("value, code", [
    (-1, "must_not_be_negative"), (0.001, "too_many_decimals"), ("1", "wrong_type"),
    (10000000000, "out_of_range")])
def test_every_amount_is_money(api, field, value, code):
    sent = {**CASH, "amount": 1, field: value}
    if field == "bill_amount":
        del sent["amount"]
    wrong(api, sent=sent, **{field: code})


def test_less_received_than_amount_and_tip_is_refused_and_the_least_named(api):
    wrong(api, sent={**CASH, "amount": 10, "tip_amount": 2.5, "received_amount": 12.49}, says="12.5",
          received_amount="out_of_range")


def test_amount_and_tip_stay_within_bounds(api):
    order = order_of(api, 1)
    answer = pay(api, order, 9999999999.99, tip_amount=0.01)
    assert answer.status == 422 and set(answer.fields.values()) == {"out_of_range"}
    after = accepted(pay(api, order, 9999999999.99))
    answer = pay(api, order, 0.01)
    assert answer.status == 422 and set(answer.fields.values()) == {"out_of_range"}
    assert read(api, order) == after


@pytest.mark.parametrize("number", [
    CARD_NUMBER, "4111-1111-1111-1111", "auth 5555555555554444", "6011111111111117", "2223003122003222"])
@pytest.mark.parametrize("field", ["reference", "comment"])
def test_a_card_number_is_never_kept(api, field, number):
    wrong(api, sent={**CASH, "amount": 1, field: number}, **{field: "looks_like_card_number"})


@pytest.mark.parametrize("reference", ["4111111111111112", "1234567890128", "AUTH-998877", "x" * 255])
def test_another_reference_is_kept_as_it_is(api, reference):
    assert payment_of(api, 1, reference=reference)["reference"] == reference


@pytest.mark.parametrize("field, value, code", [
    ("reference", "x" * 256, "too_long"), ("reference", 7, "wrong_type"),
    ("comment", "x" * 501, "too_long")])
def test_a_wrong_text_is_named(api, field, value, code):
    wrong(api, sent={**CASH, "amount": 1, field: value}, **{field: code})


def test_an_order_has_at_most_100_payments_also_when_some_are_cancelled(api):
    order = order_of(api, 200)
    for _ in range(100):
        after = api.pay(order, 1)
    accepted(api.delete(path(order, "payments", after["payments"][0]["id"])))
    answer = pay(api, order, 1)
    refused(answer, 422, "validation_failed", says="100")
    assert set(answer.fields.values()) == {"too_many_items"}


# Cancelling

def test_a_cancelled_payment_stays_and_counts_no_more(api):
    order = order_of(api, 30)
    before = accepted(pay(api, order, 30, tip_amount=3))
    after = accepted(api.delete(path(order, "payments", before["payments"][0]["id"])))
    assert after["payments"] == [{**before["payments"][0], "canceled_at": after["updated_at"]}]
    assert (after["total_paid"], after["total_tips"], after["pending_amount"]) == (0, 0, 30)
    assert (after["paid"], after["paid_at"]) == (False, None)


def test_a_payment_cancelled_twice_is_unchanged(api):
    order = order_of(api, 30)
    place = path(order, "payments", accepted(pay(api, order, 30))["payments"][0]["id"])
    after = accepted(api.delete(place))
    unchanged(api, after, api.delete(place))


def test_a_payment_cancelled_before_the_order_was_is_unchanged(api):
    order = order_of(api, 30)
    place = path(order, "payments", accepted(pay(api, order, 30))["payments"][0]["id"])
    accepted(api.delete(place))
    cancelled = accepted(api.post(path(order, "cancel"), {"reason": "left"}))
    unchanged(api, cancelled, api.delete(place))


def test_an_unknown_payment_is_not_found_and_a_malformed_id_is_named(api):
    order = order_of(api, 30)
    foreign = accepted(pay(api, order_of(api, 30), 30))["payments"][0]["id"]
    for payment in [new_id(), foreign]:
        refused(api.delete(path(order, "payments", payment)), 404, "not_found")
    invalid(api.delete(path(order, "payments", "7")), paymentId="invalid_format")


def test_payments_of_an_unknown_order_are_not_found(api):
    refused(pay(api, {"id": new_id()}, 1), 404, "not_found")


# The field that was sent is blamed

@pytest.mark.parametrize("field", ["amount", "bill_amount"])
def test_nothing_paid_is_blamed_on_the_name_that_was_sent(api, field):
    order = api.add(api.place(), item(10))
    answer = api.post(path(order, "payments"), {"payment_method_code": "cash", field: 0})
    refused(answer, 422, "validation_failed", {field: "must_be_positive"})


@pytest.mark.parametrize("field", ["amount", "bill_amount"])
def test_a_sum_that_is_too_large_is_blamed_on_the_name_that_was_sent(api, field):
    order = api.add(api.place(), item(10))
    api.pay(order, 9999999999.99)
    answer = api.post(path(order, "payments"), {"payment_method_code": "cash", field: 1})
    refused(answer, 422, "validation_failed", {field: "out_of_range"})
