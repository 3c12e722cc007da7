"""POST and DELETE …/discounts (specification, Discount; contract section 7, Discounts)."""

import pytest

from support.orders import CARD_NUMBER, accepted, invalid, item, new_id, path, read, refused


def take_off(api, order, kind, value, **fields):
    return api.post(path(order, "discounts"), {"type": kind, "value": value, **fields})


def order_of(api, *prices, **fields):
    return api.add(api.place(**fields), *[item(p) for p in prices])


def amounts(order):
    return [d["amount"] for d in order["discounts"]]


def test_a_discount_of_an_amount(api):
    after = accepted(take_off(api, order_of(api, 50), "AMOUNT", 12.5, reason="regular guest"))
    (discount,) = after["discounts"]
    assert discount == {"id": discount["id"], "type": "AMOUNT", "value": 12.5, "amount": 12.5,
                        "reason": "regular guest", "created_at": after["updated_at"]}
    assert (after["subtotal"], after["total_discounts"], after["total"]) == (50, 12.5, 37.5)


def test_a_percentage_is_of_the_subtotal_without_delivery_and_packaging(api):
    order = order_of(api, 50, service_type="DELIVERY", delivery_price=10, packaging_price=5)
    after = accepted(take_off(api, order, "PERCENTAGE", 10))
    assert after["discounts"][0]["reason"] is None
    assert (amounts(after), after["total"]) == ([5], 60)


def test_every_discount_is_on_the_same_undiscounted_base(api):
    order = order_of(api, 100)
    take_off(api, order, "PERCENTAGE", 10)
    take_off(api, order, "AMOUNT", 20)
    after = accepted(take_off(api, order, "PERCENTAGE", 10))
    assert (amounts(after), after["total_discounts"], after["total"]) == ([10, 20, 10], 40, 60)


@pytest.mark.parametrize("subtotal, value, amount", [
    (10.05, 50, 5.03), (0.01, 50, 0.01), (0.01, 49.9999, 0), (33.33, 33.3333, 11.11), (99.99, 0.005, 0),
    (100, 0.005, 0.01), (100, 12.5, 12.5)])
def test_a_percentage_is_rounded_half_away_from_zero_once(api, subtotal, value, amount):
    after = accepted(take_off(api, order_of(api, subtotal), "PERCENTAGE", value))
    assert amounts(after) == [amount]
    assert after["discounts"][0]["value"] == value


def test_effects_follow_the_items(api):
    order = order_of(api, 100)
    take_off(api, order, "PERCENTAGE", 10)
    after = api.add(order, item(50))
    assert (amounts(after), after["total"]) == ([15], 135)
    after = accepted(api.delete(path(order, "combos", after["combos"][0]["id"])))
    assert (amounts(after), after["total"]) == ([5], 45)


def test_the_latest_discount_is_cut_first(api):
    order = order_of(api, 10)
    take_off(api, order, "AMOUNT", 8)
    after = accepted(take_off(api, order, "AMOUNT", 5))
    assert (amounts(after), [d["value"] for d in after["discounts"]]) == ([8, 2], [8, 5])
    assert (after["total_discounts"], after["total"]) == (10, 0)


def test_a_cut_discount_has_its_whole_effect_when_there_is_room(api):
    order = order_of(api, 10)
    take_off(api, order, "AMOUNT", 8)
    take_off(api, order, "AMOUNT", 5)
    assert amounts(api.add(order, item(10))) == [8, 5]


def test_a_removed_discount_makes_room_for_a_cut_one(api):
    order = order_of(api, 10)
    first = accepted(take_off(api, order, "AMOUNT", 8))["discounts"][0]
    take_off(api, order, "AMOUNT", 5)
    after = accepted(api.delete(path(order, "discounts", first["id"])))
    assert (amounts(after), after["total"]) == ([5], 5)


def test_discounts_reach_into_delivery_and_packaging(api):
    order = order_of(api, 10, service_type="DELIVERY", delivery_price=4, packaging_price=1)
    after = accepted(take_off(api, order, "AMOUNT", 100))
    assert (amounts(after), after["total"]) == ([15], 0)


def test_an_order_discounted_to_nothing_is_paid(api):
    order = order_of(api, 10)
    after = accepted(take_off(api, order, "PERCENTAGE", 100))
    assert (after["total"], after["paid"], after["paid_at"]) == (0, True, after["updated_at"])
    after = accepted(api.delete(path(order, "discounts", after["discounts"][0]["id"])))
    assert (after["total"], after["paid"], after["paid_at"]) == (10, False, None)


def test_a_discount_of_an_empty_order_waits_for_its_items(api):
    order = api.place()
    after = accepted(take_off(api, order, "AMOUNT", 3))
    assert (amounts(after), after["total"], after["paid"]) == ([0], 0, False)
    assert api.add(order, item(10))["total"] == 7


def test_a_percentage_above_100_is_refused_and_an_amount_above_100_is_not(api):
    order = order_of(api, 200)
    invalid(take_off(api, order, "PERCENTAGE", 100.0001), says="100", value="out_of_range")
    assert read(api, order) == order
    assert accepted(take_off(api, order, "AMOUNT", 150))["total"] == 50


def test_a_percentage_has_up_to_4_decimals(api):
    after = accepted(take_off(api, order_of(api, 10000), "PERCENTAGE", 12.3456))
    assert (after["discounts"][0]["value"], amounts(after)) == (12.3456, [1234.56])
    invalid(take_off(api, order_of(api, 100), "PERCENTAGE", 0.00001), value="too_many_decimals")


@pytest.mark.parametrize("kind", ["AMOUNT", "PERCENTAGE"])
@pytest.mark.parametrize("value, code", [
    (0, "must_be_positive"), (-1, "must_be_positive"), ("5", "wrong_type"), (None, "required"),
    (1e10, "out_of_range")])
def test_a_value_is_above_0(api, kind, value, code):
    answer = take_off(api, order_of(api, 10), kind, value)
    # A negative amount of money has a code of its own (contract section 1).
    if (kind, value) == ("AMOUNT", -1):
        code = answer.fields.get("value")
        assert code in ("must_be_positive", "must_not_be_negative")
    invalid(answer, value=code)


def test_an_amount_has_the_currencys_decimals(api):
    invalid(take_off(api, order_of(api, 10), "AMOUNT", 0.001), value="too_many_decimals")


@pytest.mark.parametrize("kind, code", [
    ("FIXED", "unknown_value"), ("amount", "unknown_value"), ("", "empty"), (None, "required"), (1, "wrong_type")])
def test_a_type_is_one_of_two_words(api, kind, code):
    says = ["AMOUNT", "PERCENTAGE"] if code == "unknown_value" else ()
    answer = take_off(api, order_of(api, 10), kind, 5)
    invalid(answer, says=says, type=code)


@pytest.mark.parametrize("reason, code", [
    ("x" * 201, "too_long"), (5, "wrong_type"), (CARD_NUMBER, "looks_like_card_number")])
def test_a_reason_is_a_text_of_200_characters(api, reason, code):
    invalid(take_off(api, order_of(api, 10), "AMOUNT", 5, reason=reason), reason=code)


def test_an_order_has_at_most_50_discounts(api):
    order = order_of(api, 100)
    for _ in range(50):
        accepted(take_off(api, order, "AMOUNT", 1))
    answer = take_off(api, order, "AMOUNT", 1)
    refused(answer, 422, "validation_failed", says="50")
    assert set(answer.fields.values()) == {"too_many_items"}


def test_a_removed_discount_is_gone(api):
    order = order_of(api, 10)
    place = path(order, "discounts", accepted(take_off(api, order, "AMOUNT", 4))["discounts"][0]["id"])
    after = accepted(api.delete(place))
    assert (after["discounts"], after["total_discounts"], after["total"]) == ([], 0, 10)
    refused(api.delete(place), 404, "not_found")


def test_an_unknown_discount_is_not_found_and_a_malformed_id_is_named(api):
    order = order_of(api, 10)
    refused(api.delete(path(order, "discounts", new_id())), 404, "not_found")
    invalid(api.delete(path(order, "discounts", "7")), discountId="invalid_format")
    refused(take_off(api, {"id": new_id()}, "AMOUNT", 5), 404, "not_found")


@pytest.mark.parametrize("status", ["PENDING", "PREPARING", "READY", "DELIVERED"])
def test_an_open_order_is_discounted(api, status):
    after = accepted(take_off(api, api.advance(order_of(api, 10), status), "AMOUNT", 4))
    assert accepted(api.delete(path(after, "discounts", after["discounts"][0]["id"])))["total"] == 10


def test_a_closed_order_keeps_its_discounts(api):
    for close, code in [(lambda o: api.advance(o, "FINALIZED"), "order_closed"),
                        (lambda o: accepted(api.post(path(o, "cancel"), {"reason": "left"})), "order_cancelled")]:
        discounted = accepted(take_off(api, order_of(api, 10), "AMOUNT", 4))
        closed = close(discounted)
        refused(take_off(api, closed, "AMOUNT", 1), 422, code)
        refused(api.delete(path(closed, "discounts", discounted["discounts"][0]["id"])), 422, code)
        assert read(api, closed) == closed
