"""PATCH …/status and POST …/cancel (specification, States and transitions; contract section 7)."""

import pytest

from support.orders import CARD_NUMBER, LIFE, accepted, invalid, item, new_id, path, read, refused, unchanged

AT = {"PENDING": "pending_at", "PREPARING": "preparing_at", "READY": "ready_at", "DELIVERED": "delivered_at",
      "FINALIZED": "finalized_at", "CANCELLED": "canceled_at"}


def move(api, order, status):
    return api.patch(path(order, "status"), {"status": status})


def cancel(api, order, reason="the guest left"):
    return api.post(path(order, "cancel"), {"reason": reason})


# Status

def test_an_order_goes_through_its_life_step_by_step(api):
    order = api.place()
    for step, status in enumerate(LIFE[1:], 1):
        order = accepted(move(api, order, status))
        assert order["status"] == status
        assert order[AT[status]] == order["updated_at"] == order["status_history"][-1]["at"]
        assert [h["status"] for h in order["status_history"]] == LIFE[:step + 1]
        assert not any(h["implied"] for h in order["status_history"])
    assert order["closed_at"] == order["finalized_at"]


@pytest.mark.parametrize("start", LIFE)
@pytest.mark.parametrize("target", LIFE)
def test_a_later_status_is_reached_in_one_request_and_an_earlier_one_changes_nothing(api, start, target):
    order = api.advance(api.place(), start)
    answer = move(api, order, target)
    if LIFE.index(target) <= LIFE.index(start):
        return unchanged(api, order, answer)
    after = accepted(answer)
    assert after["status"] == target and after["version"] == order["version"] + 1
    between = LIFE[LIFE.index(start) + 1:LIFE.index(target)]
    new = after["status_history"][len(order["status_history"]):]
    assert [(h["status"], h["implied"]) for h in new] == [(s, True) for s in between] + [(target, False)]
    assert {h["at"] for h in new} == {after["updated_at"]}
    assert all(after[AT[s]] == after["updated_at"] for s in between)


@pytest.mark.parametrize("status, says", [
    ("ACCEPTED", "PREPARING"), ("REJECTED", "POST /v1/orders/{id}/cancel"),
    ("CANCELED", "POST /v1/orders/{id}/cancel"), ("OPEN", LIFE), ("ready", LIFE)])
def test_an_unknown_status_is_refused_and_the_known_ones_listed(api, status, says):
    order = api.place()
    invalid(move(api, order, status), says=says, status="unknown_value")
    assert read(api, order) == order


@pytest.mark.parametrize("body, code", [
    ({}, "required"), ({"status": None}, "required"), ({"status": ""}, "empty"), ({"status": 2}, "wrong_type")])
def test_a_status_must_be_there(api, body, code):
    invalid(api.patch(path(api.place(), "status"), body), status=code)


def test_cancelled_is_for_the_cancel_endpoint(api):
    order = api.place()
    refused(move(api, order, "CANCELLED"), 422, "use_cancel_endpoint", says="POST /v1/orders/{id}/cancel")
    assert read(api, order) == order


def test_the_cancel_endpoint_is_named_also_for_a_cancelled_order(api):
    order = accepted(cancel(api, api.place()))
    refused(move(api, order, "CANCELLED"), 422, "use_cancel_endpoint")


@pytest.mark.parametrize("status", LIFE)
def test_a_cancelled_order_does_not_move(api, status):
    order = accepted(cancel(api, api.place()))
    refused(move(api, order, status), 422, "order_cancelled")
    assert read(api, order) == order


def test_the_status_of_an_unknown_order_is_not_found(api):
    refused(move(api, {"id": new_id()}, "READY"), 404, "not_found")
    invalid(move(api, {"id": "x"}, "READY"), id="invalid_format")


def test_an_order_moves_by_its_public_id(api):
    order = api.place()
    assert accepted(move(api, {"id": order["public_id"]}, "READY"))["id"] == order["id"]


# Cancel

@pytest.mark.parametrize("status", LIFE)
def test_an_order_is_cancelled_with_a_reason_from_every_state(api, status):
    order = api.advance(api.place(), status)
    after = accepted(cancel(api, order, "the guest left"))
    assert after["status"] == "CANCELLED"
    assert after["cancel_reason"] == "the guest left"
    assert after["canceled_at"] == after["closed_at"] == after["updated_at"]
    assert after["status_history"][-1]["status"] == "CANCELLED"
    assert after["status_history"][-1]["implied"] is False
    assert [after[AT[s]] for s in LIFE] == [order[AT[s]] for s in LIFE]


def test_a_repeat_keeps_the_first_reason(api):
    order = accepted(cancel(api, api.place(), "first"))
    unchanged(api, order, cancel(api, order, "second"))


def test_cancelling_leaves_the_lines_as_they_are(api):
    order = api.add(api.place(), item(10))
    after = accepted(cancel(api, order))
    assert after["combos"] == order["combos"] and after["total"] == 10


def test_active_payments_stand_in_the_way_and_are_listed(api):
    order = api.add(api.place(), item(10))
    paid = api.pay(order, 4)
    paid = api.pay(order, 6)
    refused(cancel(api, order), 422, "order_has_active_payments", says=[p["id"] for p in paid["payments"]])
    assert read(api, order) == paid
    accepted(api.delete(path(order, "payments", paid["payments"][0]["id"])))
    refused(cancel(api, order), 422, "order_has_active_payments", says=paid["payments"][1]["id"])
    accepted(api.delete(path(order, "payments", paid["payments"][1]["id"])))
    assert accepted(cancel(api, order))["status"] == "CANCELLED"


@pytest.mark.parametrize("body, code", [
    ({}, "required"), ({"reason": None}, "required"), ({"reason": ""}, "empty"), ({"reason": 5}, "wrong_type"),
    ({"reason": "x" * 501}, "too_long"), ({"reason": "card " + CARD_NUMBER}, "looks_like_card_number")])
def test_a_reason_is_1_to_500_characters(api, body, code):
    order = api.place()
    invalid(api.post(path(order, "cancel"), body), reason=code)
    assert read(api, order) == order


def test_a_reason_of_500_characters_is_kept(api):
    assert accepted(cancel(api, api.place(), "ñ" * 500))["cancel_reason"] == "ñ" * 500


def test_an_empty_body_is_no_reason(api):
    answer = api.post(path(api.place(), "cancel"))
    refused(answer, 400, "invalid_json")


def test_cancelling_an_unknown_order_is_not_found(api):
    refused(cancel(api, {"id": new_id()}), 404, "not_found")
