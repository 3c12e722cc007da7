"""PUT and DELETE …/rider, PATCH …/delivery-status (specification, Orders, logistics; contract section 8)."""

import pytest

from support.orders import CARD_NUMBER, SERVICE_TYPES, accepted, invalid, new_id, path, read, refused, unchanged

STEPS = ["RIDER_ASSIGNED", "DRIVER_ARRIVED_AT_STORE", "DRIVER_ON_THE_WAY_TO_DESTINATION",
         "DRIVER_ARRIVED_AT_DESTINATION", "DELIVERED"]
ON_THE_WAY = STEPS[2]


def assign(api, order, **fields):
    return api.put(path(order, "rider"), fields)


def unassign(api, order):
    return api.delete(path(order, "rider"))


def report(api, order, status, **fields):
    return api.patch(path(order, "delivery-status"), {"delivery_status": status, **fields})


def delivery(api, status="PENDING", delivery_status=None):
    order = api.advance(api.place(service_type="DELIVERY"), status)
    if delivery_status == "NOT_DELIVERED":
        accepted(report(api, order, ON_THE_WAY))
    return accepted(report(api, order, delivery_status)) if delivery_status else order


def cancelled(api, order):
    return accepted(api.post(path(order, "cancel"), {"reason": "left"}))


# Rider: the caller's own

def test_a_rider_of_the_caller_is_kept_as_it_was_sent(api):
    after = accepted(assign(api, delivery(api), user_id="r-7", name="Beto", phone_number="987654321",
                            country_calling_code="51"))
    assert after["rider"] == {"provider": "api", "user_id": "r-7", "name": "Beto", "phone_number": "987654321",
                              "country_calling_code": "51", "assigned_at": after["updated_at"]}


@pytest.mark.parametrize("user_id", ["7", 7, 0, 123456789012345678901234567890, "0190A5C8-6F2E-7C3A-9D41-2B7F5E8A1C90"])
def test_a_user_id_is_a_text_or_an_integer_and_comes_back_the_same(api, user_id):
    rider = accepted(assign(api, delivery(api), user_id=user_id, provider="api"))["rider"]
    assert rider["user_id"] == user_id and type(rider["user_id"]) is type(user_id)
    assert rider["name"] is None


def test_a_name_alone_is_a_rider(api):
    rider = accepted(assign(api, delivery(api), name="Beto"))["rider"]
    assert (rider["name"], rider["user_id"]) == ("Beto", None)


@pytest.mark.parametrize("service_type", SERVICE_TYPES)
@pytest.mark.parametrize("status", ["PENDING", "DELIVERED"])
def test_a_rider_of_the_caller_fits_any_service_type_and_open_state(api, service_type, status):
    order = api.advance(api.place(service_type=service_type), status)
    after = accepted(assign(api, order, name="Beto"))
    assert after["delivery_status"] == ("RIDER_ASSIGNED" if service_type == "DELIVERY" else None)
    assert after["delivered_by"] is None


def test_put_replaces_the_whole_rider(api):
    order = delivery(api)
    assign(api, order, user_id="r-7", name="Beto", phone_number="987654321")
    rider = accepted(assign(api, order, name="Ana"))["rider"]
    assert (rider["user_id"], rider["name"], rider["phone_number"]) == (None, "Ana", None)


def test_the_same_rider_again_changes_nothing(api):
    order = accepted(assign(api, delivery(api), user_id="r-7", name="Beto"))
    unchanged(api, order, assign(api, order, user_id="r-7", name="Beto"))
    unchanged(api, order, assign(api, order, user_id="r-7", name="Beto", provider="api"))


def test_another_rider_renews_the_time(api):
    order = accepted(assign(api, delivery(api), name="Beto"))
    after = accepted(assign(api, order, name="Beto", phone_number="1234567"))
    assert after["rider"]["assigned_at"] == after["updated_at"]
    assert after["version"] == order["version"] + 1


@pytest.mark.parametrize("fields, field, code", [
    ({}, "user_id", "required"), ({"user_id": None}, "user_id", "required"),
    ({"user_id": 1.5}, "user_id", "wrong_type"), ({"user_id": True}, "user_id", "wrong_type"),
    ({"user_id": ""}, "user_id", "required"), ({"name": ""}, "user_id", "required"), ({"name": 5}, "name", "wrong_type"),
    ({"name": "x" * 201}, "name", "too_long"), ({"name": CARD_NUMBER}, "name", "looks_like_card_number"),
    ({"name": "Beto", "phone_number": 987}, "phone_number", "wrong_type"),
    ({"name": "Beto", "provider": ""}, "provider", "empty")])
def test_a_wrong_rider_is_named(api, fields, field, code):
    order = delivery(api)
    invalid(assign(api, order, **fields), **{field: code})
    assert read(api, order) == order


def test_an_unknown_provider_is_refused_and_the_known_ones_listed(api):
    invalid(assign(api, delivery(api), name="Beto", provider="uber"), says=["api", "comanda"],
            provider="unknown_value")


# Rider: the platform's

def test_a_rider_of_the_staff_brings_name_and_phone(api, house):
    user = house.user("rider")
    after = accepted(assign(api, delivery(api, "PREPARING"), provider="comanda", user_id=user["id"], name="ignored"))
    rider = after["rider"]
    assert (rider["provider"], rider["user_id"], rider["name"]) == ("comanda", user["id"], user["name"])
    assert rider["phone_number"] == user["phone_number"]
    assert rider["country_calling_code"].lstrip("+") == user["country_calling_code"].lstrip("+")
    assert after["delivery_status"] == "RIDER_ASSIGNED" and after["delivered_by"] is None


def test_a_rider_of_the_staff_must_be_named(api):
    order = delivery(api, "PREPARING")
    invalid(assign(api, order, provider="comanda"), user_id="required")
    invalid(assign(api, order, provider="comanda", name="Beto"), user_id="required")


def test_a_rider_of_the_staff_must_be_an_active_rider(api, house):
    order = delivery(api, "PREPARING")
    for user_id in [new_id(), "r-7", 7, house.user("cook")["id"], house.user("rider", active=False)["id"]]:
        answer = assign(api, order, provider="comanda", user_id=user_id)
        refused(answer, 422, "validation_failed")
        assert list(answer.fields) == ["user_id"], answer.body
    assert read(api, order) == order


def test_a_rider_of_the_staff_is_for_delivery_orders_that_are_not_pending(api, house):
    rider = {"provider": "comanda", "user_id": house.user("rider")["id"]}
    answer = assign(api, delivery(api), **rider)
    refused(answer, 422, "validation_failed", {"status": "not_allowed"})
    order = api.advance(api.place(), "PREPARING")
    refused(assign(api, order, **rider), 422, "validation_failed", {"service_type": "not_allowed"}, says="DELIVERY")
    answer = assign(api, api.place(), **rider)
    assert set(answer.fields) == {"service_type", "status"}, answer.body


# Rider: closed orders, taking away

def test_a_closed_order_keeps_its_rider(api):
    for close, code in [(lambda o: api.advance(o, "FINALIZED"), "order_closed"),
                        (lambda o: cancelled(api, o), "order_cancelled")]:
        order = close(accepted(assign(api, delivery(api), name="Beto")))
        refused(assign(api, order, name="Ana"), 422, code)
        refused(unassign(api, order), 422, code)
        assert read(api, order) == order


def test_taking_the_rider_away_takes_back_just_what_assigning_set(api):
    order = accepted(assign(api, delivery(api), name="Beto"))
    after = accepted(unassign(api, order))
    assert after["rider"] is after["delivery_status"] is None


def test_a_reported_delivery_status_stays_when_the_rider_goes(api):
    order = delivery(api, delivery_status="RIDER_ASSIGNED")
    assign(api, order, name="Beto")
    assert accepted(unassign(api, order))["delivery_status"] == "RIDER_ASSIGNED"
    order = accepted(assign(api, delivery(api), name="Beto"))
    report(api, order, "DRIVER_ARRIVED_AT_STORE")
    assert accepted(unassign(api, order))["delivery_status"] == "DRIVER_ARRIVED_AT_STORE"


def test_without_a_rider_there_is_nothing_to_take_away(api):
    order = delivery(api)
    unchanged(api, order, unassign(api, order))


# Delivery status

@pytest.mark.parametrize("start", STEPS[:-1])
@pytest.mark.parametrize("target", STEPS)
def test_a_later_step_is_taken_and_an_earlier_one_changes_nothing(api, start, target):
    order = delivery(api, delivery_status=start)
    answer = report(api, order, target)
    if STEPS.index(target) <= STEPS.index(start):
        return unchanged(api, order, answer)
    after = accepted(answer)
    assert after["delivery_status"] == target
    assert after["delivered_by"] == "API"


def test_delivered_stays_delivered(api):
    order = delivery(api, delivery_status="DELIVERED")
    for status in STEPS:
        unchanged(api, order, report(api, order, status))
    invalid(report(api, order, "NOT_DELIVERED", reason="nobody"), delivery_status="illegal_move")


@pytest.mark.parametrize("start", STEPS[1:4])
def test_what_could_not_be_delivered_goes_on_the_way_again_or_nowhere(api, start):
    order = delivery(api, delivery_status=start)
    after = accepted(report(api, order, "NOT_DELIVERED", reason="nobody at home"))
    assert (after["delivery_status"], after["delivery_status_reason"]) == ("NOT_DELIVERED", "nobody at home")
    for status in STEPS:
        if status != ON_THE_WAY:
            invalid(report(api, after, status), says=ON_THE_WAY, delivery_status="illegal_move")
    unchanged(api, after, report(api, after, "NOT_DELIVERED", reason="nobody at home"))
    again = accepted(report(api, after, ON_THE_WAY))
    assert (again["delivery_status"], again["delivery_status_reason"]) == (ON_THE_WAY, None)


@pytest.mark.parametrize("fields", [{}, {"reason": None}])
def test_why_something_could_not_be_delivered_may_be_unknown(api, fields):
    order = delivery(api, delivery_status=ON_THE_WAY)
    after = accepted(report(api, order, "NOT_DELIVERED", **fields))
    assert (after["delivery_status"], after["delivery_status_reason"]) == ("NOT_DELIVERED", None)


@pytest.mark.parametrize("start", [None, "RIDER_ASSIGNED"])
def test_what_never_left_cannot_fail_to_arrive(api, start):
    order = delivery(api, delivery_status=start)
    invalid(report(api, order, "NOT_DELIVERED", reason="x"), delivery_status="illegal_move")
    assert read(api, order) == order


def test_on_the_way_lifts_the_order_to_ready(api):
    order = delivery(api)
    after = accepted(report(api, order, ON_THE_WAY))
    assert after["status"] == "READY" and after["ready_at"] == after["updated_at"]
    assert [(h["status"], h["implied"]) for h in after["status_history"]] == [
        ("PENDING", False), ("PREPARING", True), ("READY", True)]


def test_delivered_lifts_the_order_to_delivered(api):
    after = delivery(api, delivery_status="DELIVERED")
    assert after["status"] == "DELIVERED" and after["delivered_at"] == after["updated_at"]
    history = [(h["status"], h["implied"]) for h in after["status_history"]]
    assert history == [("PENDING", False), ("PREPARING", True), ("READY", True), ("DELIVERED", False)]


@pytest.mark.parametrize("status", STEPS[:2])
def test_the_first_steps_leave_the_order_where_it_is(api, status):
    assert delivery(api, delivery_status=status)["status"] == "PENDING"


def test_a_delivery_never_moves_an_order_back(api):
    order = delivery(api, "DELIVERED")
    after = accepted(report(api, order, ON_THE_WAY))
    assert after["status"] == "DELIVERED" and after["status_history"] == order["status_history"]


@pytest.mark.parametrize("status", STEPS)
def test_a_closed_order_refuses_every_delivery_status(api, status):
    finalized = api.advance(delivery(api, delivery_status=ON_THE_WAY), "FINALIZED")
    refused(report(api, finalized, status), 422, "order_closed")
    gone = cancelled(api, delivery(api, delivery_status="RIDER_ASSIGNED"))
    refused(report(api, gone, status), 422, "order_cancelled")


@pytest.mark.parametrize("service_type", ["ONSITE", "TABLE", "TAKEAWAY"])
def test_only_deliveries_have_a_delivery_status(api, service_type):
    order = api.place(service_type=service_type)
    answer = report(api, order, "DELIVERED")
    refused(answer, 422, "validation_failed", says="DELIVERY")
    assert list(answer.fields.values()) == ["not_allowed"]
    assert read(api, order) == order


@pytest.mark.parametrize("body, field, code", [
    ({}, "delivery_status", "required"), ({"status": "DELIVERED"}, "delivery_status", "required"),
    ({"delivery_status": "delivered"}, "delivery_status", "unknown_value"),
    ({"delivery_status": 4}, "delivery_status", "wrong_type"),
    ({"delivery_status": "NOT_DELIVERED", "reason": "x" * 501}, "reason", "too_long"),
    ({"delivery_status": "DELIVERED", "reason": "x"}, "reason", "not_allowed")])
def test_a_wrong_report_is_named(api, body, field, code):
    order = delivery(api)
    says = [*STEPS, "NOT_DELIVERED"] if code == "unknown_value" else ()
    invalid(api.patch(path(order, "delivery-status"), body), says=says, **{field: code})
    assert read(api, order) == order


def test_logistics_of_an_unknown_order_are_not_found(api):
    unknown = {"id": new_id()}
    for answer in [assign(api, unknown, name="Beto"), unassign(api, unknown), report(api, unknown, "DELIVERED")]:
        refused(answer, 404, "not_found")


# A reason that comes later

def test_a_reason_may_be_added_changed_and_cleared_while_the_order_is_not_delivered(api, box):
    order = delivery(api, delivery_status="NOT_DELIVERED")
    for reason in ["nobody there", "wrong door", None]:
        after = accepted(report(api, order, "NOT_DELIVERED", reason=reason))
        assert (after["delivery_status"], after["delivery_status_reason"]) == ("NOT_DELIVERED", reason)
        assert after["version"] == order["version"] + 1
        assert box.events(order["id"])[-1] == ("ORDER_UPDATED", {"delivery_status"})
        unchanged(api, after, report(api, order, "NOT_DELIVERED", reason=reason))
        unchanged(api, after, report(api, order, "NOT_DELIVERED"))
        order = after


def test_a_reason_without_its_status_stays_refused(api):
    order = delivery(api, delivery_status="NOT_DELIVERED")
    invalid(report(api, order, ON_THE_WAY, reason="x"), reason="not_allowed")
    assert accepted(report(api, order, ON_THE_WAY, reason=None))["delivery_status_reason"] is None


def test_a_closed_order_takes_no_reason_any_more(api):
    order = delivery(api, delivery_status="NOT_DELIVERED")
    closed = api.advance(order, "FINALIZED")
    refused(report(api, closed, "NOT_DELIVERED", reason="late"), 422, "order_closed")
