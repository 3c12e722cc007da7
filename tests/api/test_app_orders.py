"""Orders of delivery apps: from the app to the tills' list, and back (contract section 7)."""

import contextlib
import json
import random
import re
import signal
import time

import pytest

from support.app_restaurant import Restaurant
from support.box import ROOT
from support.metrics import let_work
from support.order_app import FAILURES, ORDER_OF, SECRET, OrderApp
from support.orders import accepted

pytestmark = pytest.mark.box_only

DEMO = "0192f0a0-0001-7000-8000-000000000001"


@pytest.fixture
def restaurant(request, tmp_path):
    made = []

    def make(name="ifood"):
        made.append(Restaurant(tmp_path, name))
        return made[-1]

    yield make
    for one in made:
        refused = one.app.refused
        one.close()
        assert refused == [], "the box makes the calls that the app's documents describe, and no others"


APPS = ["ifood", "99food", "keeta", "rappi"]


# An order arrives


@pytest.mark.parametrize("name", APPS)
def test_an_order_arrives_with_all_that_the_ticket_shows(restaurant, name):
    shop = restaurant(name).start("primary", "--accept", "kitchen")
    identity = shop.app.place(ORDER_OF[name](4711))

    order = shop.placed()[0]

    assert order["status"] == "PENDING" and order["service_type"] == "DELIVERY"
    assert order["order_title"] == {"ifood": "iFood 4711", "99food": "99Food 4711", "keeta": "Keeta 4711", "rappi": "Rappi 4711"}[name]
    pizza, drink = order["combos"]
    assert (pizza["product_name"], pizza["quantity"], pizza["combo_price"]) == ("Pizza", 2, 47)
    assert pizza["variant_id"] == "0192f0a0-0071-7000-8000-0000000000f1" and pizza["comment"].startswith("s")
    option = pizza["modifiers"][0]
    assert (option["modifier_id"], option["quantity"], option["price"]) == ("0192f0a0-0072-7000-8000-0000000000f1", 2, 7)
    assert (drink["product_name"], drink["product_id"], drink["sku"], drink["combo_price"]) == (
        {"rappi": "Gaseosa"}.get(name, "Guaraná"), None, "GUA", 8.8)
    of_rappi = name == "rappi"
    assert order["total"] == (50.8 if of_rappi else 60.8)
    assert order["delivery_price"] == (0 if of_rappi else 9)
    assert [(discount["type"], discount["value"]) for discount in order["discounts"]] == [("AMOUNT", 5)]
    assert [(payment["payment_method"]["code"], payment["amount"]) for payment in order["payments"]] == [
        (f"{name}_online", order["total"])]
    assert order["paid"] and order["client"]["name"] == "Ana Souza" and order["client"]["id"] is None
    assert order["client_id"] is None and order["address_id"] is None
    assert order["address"]["address"] in ("Rua A, 10", "Calle A 10")
    assert "12345678909" not in json.dumps(order), "of the customer only what the ticket shows"
    assert shop.app.told == []
    assert identity not in [item["id"] for item in accepted(shop.api.get("/v1/company/payment-methods"))]
    codes = {method["code"] for method in accepted(shop.api.get("/v1/company/payment-methods"))}
    assert not codes & {f"{name}_online", f"{name}_offline"}, "no till may choose them"


def test_a_till_cannot_edit_the_order_of_an_app_and_moves_its_status(restaurant):
    shop = restaurant().start("mirror")
    shop.app.place(ORDER_OF["ifood"](1))
    order = shop.placed()[0]
    refused = shop.api.post(f"/v1/orders/{order['id']}/combos", {"combos": [{"product_name": "x", "quantity": 1,
                                                                             "variant_price": 1}]})
    assert refused.status == 422 and refused.code == "order_not_editable"
    shop.api.advance(order, "PREPARING")


@pytest.mark.parametrize("name", APPS)
def test_it_arrives_once_however_often_the_app_gives_it(restaurant, name):
    shop = restaurant(name).start("mirror")
    order = ORDER_OF[name](7)
    identity = shop.app.place(order)
    if name == "rappi":
        shop.app.sent.append(identity)  # as after a poll whose answer was lost
    else:
        shop.app.tell(identity, "PLC" if name == "ifood" else "CREATED")
    shop.placed()
    shop.app.place(order)
    shop.let_work()
    assert len(shop.orders()) == 1


# Its life


def test_auto_confirms_while_somebody_looks_and_the_kitchen_s_steps_reach_the_app(restaurant):
    shop = restaurant().start()
    identity = shop.app.place(ORDER_OF["ifood"](1, delivery={"deliveredBy": "MERCHANT"}))
    order = shop.placed()[0]
    shop.wait_status(order["id"], "PREPARING")
    shop.api.advance(order, "READY")
    shop.wait(lambda: (identity, "readyToPickup") in shop.app.told)
    accepted(shop.api.patch(f"/v1/orders/{order['id']}/delivery-status", {"delivery_status": "DRIVER_ON_THE_WAY_TO_DESTINATION"}))
    shop.wait(lambda: (identity, "dispatch") in shop.app.told)
    shop.app.tell(identity, "CON")
    closed = shop.wait_status(order["id"], "FINALIZED")
    assert [step for _, step in shop.app.told] == ["confirm", "startPreparation", "readyToPickup", "dispatch"]
    assert closed["total"] == 60.8 and closed["paid"]


def test_kitchen_confirms_by_preparing(restaurant):
    shop = restaurant("99food").start("primary", "--accept", "kitchen")
    identity = shop.app.place(ORDER_OF["99food"](1))
    order = shop.placed()[0]
    shop.let_work()
    assert shop.app.told == []
    shop.api.advance(order, "READY")
    shop.wait(lambda: shop.app.told == [(identity, "confirm"), (identity, "readyForPickup")])
    shop.app.tell(identity, "DISPATCHED")
    on_the_way = shop.wait(lambda: (now := shop.order(order["id"]))["delivery_status"] and now)
    assert (on_the_way["status"], on_the_way["delivery_status"]) == ("READY", "DRIVER_ON_THE_WAY_TO_DESTINATION")
    assert on_the_way["delivered_by"] == "99FOOD"
    assert len(shop.app.told) == 2, "no command for a step that the app itself told"


def test_rappi_is_taken_and_finished_here(restaurant):
    shop = restaurant("rappi").start()
    number = shop.app.place(ORDER_OF["rappi"](5, "marketplace", total_order=61.8, total_to_pay=61.8))
    order = shop.placed()[0]
    assert (order["total"], order["delivery_price"], order["payments"]) == (61.8, 9, [])
    shop.wait_status(order["id"], "PREPARING")
    shop.api.advance(order, "READY")
    shop.wait(lambda: shop.app.told == [(number, "take"), (number, "ready-for-pickup")])
    shop.api.advance(order, "DELIVERED")
    paid = shop.wait(lambda: (now := shop.order(order["id"]))["paid"] and now)
    assert [(row["payment_method"]["code"], row["amount"]) for row in paid["payments"]] == [("rappi_offline", 61.8)]
    shop.let_work()
    assert len(shop.app.told) == 2, "each step once, whatever else happens to the order"


def test_what_is_paid_at_the_door_is_paid_when_the_app_concludes(restaurant):
    shop = restaurant().start("mirror")
    identity = shop.app.place(ORDER_OF["ifood"](1, payments={"prepaid": 20.8, "pending": 40, "methods": []}))
    order = shop.placed()[0]
    assert (order["total_paid"], order["paid"]) == (20.8, False)
    shop.app.tell(identity, "CON")
    closed = shop.wait_status(order["id"], "FINALIZED")
    assert [(row["payment_method"]["code"], row["amount"]) for row in closed["payments"]] == [
        ("ifood_online", 20.8), ("ifood_offline", 40)]
    assert closed["paid"]


def test_a_cancel_of_the_app_cancels_its_payments_with_its_reason(restaurant):
    shop = restaurant().start("mirror")
    identity = shop.app.place(ORDER_OF["ifood"](1))
    order = shop.placed()[0]
    shop.app.tell(identity, "CAN", details="cliente desistiu")
    cancelled = shop.wait_status(order["id"], "CANCELLED")
    assert cancelled["cancel_reason"] == "cliente desistiu" and cancelled["total_paid"] == 0


def test_events_in_any_order_lead_to_the_last_status(restaurant):
    shop = restaurant().start("mirror")
    order = ORDER_OF["ifood"](1)
    shop.app.orders[order["id"]] = order
    for code in ("RTP", "CFM", "PLC"):
        shop.app.tell(order["id"], code)
    shop.app.queue.reverse()
    placed = shop.placed()[0]
    shop.wait_status(placed["id"], "READY")
    shop.app.tell(order["id"], "CFM")
    shop.hurry()
    shop.wait(lambda: not shop.app.queue)
    assert shop.order(placed["id"])["status"] == "READY", "a status moves up only"


def test_a_cancel_that_comes_before_its_order_wins(restaurant):
    shop = restaurant().start("mirror")
    order = ORDER_OF["ifood"](1)
    shop.app.orders[order["id"]] = order
    shop.app.tell(order["id"], "CAN")
    shop.app.tell(order["id"], "PLC")
    shop.wait_status(shop.placed()[0]["id"], "CANCELLED")
    assert len(shop.orders()) == 1


def test_an_order_for_later_stays_pending_until_it_is_prepared(restaurant):
    shop = restaurant().start()
    soon = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() + 6))
    identity = shop.app.place(ORDER_OF["ifood"](1, orderTiming="SCHEDULED", preparationStartDateTime=soon, schedule={
        "deliveryDateTimeStart": "2030-01-01T12:00:00Z", "deliveryDateTimeEnd": "2030-01-01T12:30:00Z"}))
    order = shop.placed()[0]
    assert order["scheduled_delivery_date"] == "2030-01-01T12:00:00.000Z"
    shop.wait(lambda: any(event["code"] == "CFM" for event in shop.app.acknowledged if event["orderId"] == identity))
    assert shop.wait_status(order["id"], "PREPARING")["preparing_at"] >= soon


def test_orders_for_later_take_no_place_from_those_for_now(restaurant):
    shop = restaurant().start()

    def come(count):
        return shop.api.get("/v1/orders?filter[source]=IFOOD&per_page=1").json["pagination"]["total"] == count
    for number in range(1, 111):
        shop.app.place(ORDER_OF["ifood"](number, orderTiming="SCHEDULED", preparationStartDateTime="2099-01-01T11:00:00.000Z"))
    shop.wait(lambda: len([event for event in shop.app.acknowledged if event["code"] == "CFM"]) == 110 and come(110))
    shop.app.place(ORDER_OF["ifood"](111))
    shop.hurry()  # once: it would look at all of them again each time
    shop.wait(lambda: come(111), hurry=False)


def test_what_rappi_does_not_tell_is_said_here(restaurant):
    shop = restaurant("rappi").start("mirror")
    number = shop.app.place(ORDER_OF["rappi"](5))
    shop.app.sent.append(number)
    order = shop.placed()[0]
    assert set(shop.app.polls) == {"sent"}, "a mirror takes nothing from under the app's own tool"
    assert shop.command("cancelled", "rappi", "99", check=False).returncode != 0
    shop.command("cancelled", "rappi", number, "--reason", "no stock")
    assert shop.wait_status(order["id"], "CANCELLED")["cancel_reason"] == "no stock"


# Modes


def test_off_asks_nothing_and_mirror_tells_nothing_and_is_not_present(restaurant):
    shop = restaurant().start("off")
    identity = shop.app.place(ORDER_OF["ifood"](1))
    shop.hurry()
    assert not shop.app.is_followed(shop.box) and shop.app.polls == [] and shop.orders() == []
    shop.app.mode(shop.box, "mirror")
    order = shop.placed()[0]
    shop.api.advance(order, "READY")
    shop.let_work()
    assert shop.app.told == [] and shop.app.present == 0 and identity


def test_primary_is_present_and_confirms_only_while_somebody_looks(restaurant):
    shop = restaurant()
    shop.box.start()
    shop.app.add(shop.box)
    shop.app.place(ORDER_OF["ifood"](1))
    shop.app.mode(shop.box, "primary")
    shop.wait(lambda: shop.app.acknowledged)
    shop.let_work()
    assert shop.app.present == 0 and shop.app.told == []
    shop.api = shop.box.client(shop.key)
    shop.look()
    shop.wait(lambda: shop.app.present and shop.app.told)


def test_presence_always_needs_nobody(restaurant):
    shop = restaurant()
    shop.box.start()
    shop.app.add(shop.box)
    shop.app.mode(shop.box, "primary", "--presence", "always")
    shop.wait(lambda: shop.app.present)


def test_what_the_app_s_own_tool_had_in_hand_is_not_confirmed_from_here(restaurant):
    shop = restaurant().start("mirror")
    shop.app.place(ORDER_OF["ifood"](1))
    order = shop.placed()[0]
    shop.api.advance(order, "READY")
    shop.app.mode(shop.box, "primary")
    other = shop.app.place(ORDER_OF["ifood"](2))
    shop.placed(2)
    shop.wait(lambda: shop.app.told)
    assert {identity for identity, _ in shop.app.told} == {other}
    shop.app.mode(shop.box, "primary")  # again: nothing of the second is forgotten
    shop.wait(lambda: any(row["status"] == "PREPARING" for row in shop.orders()))


def test_what_keeta_encrypts_is_decrypted_before_the_ticket_is_made(restaurant):
    shop = restaurant("keeta").start("mirror")
    shop.app.answers["batchDecrypt"] = [503, 500]
    shop.app.place(ORDER_OF["keeta"](1))
    order = shop.placed()[0]
    assert (order["client"]["phone_number"], order["address"]["address"], order["address"]["area"]) == (
        "11999990000", "Rua A, 10", "Centro")


@pytest.mark.parametrize("answer", [(400, {"title": "no"}), (200, {"plainInfos": "none"}), (200, "none"), (503, None)])
def test_an_order_that_keeta_does_not_decrypt_comes_without_what_is_personal(restaurant, answer):
    shop = restaurant("keeta").start("mirror")
    shop.app.decrypted = answer
    shop.app.place(ORDER_OF["keeta"](1))
    order = shop.placed()[0]
    assert order["client"]["name"] == "Ana Souza" and order["client"]["phone_number"] is None
    assert order["address"]["address"] == "Rua A, s/n" and "ENC_" not in json.dumps(order)
    assert "does not decrypt" in shop.box.log_text()


def test_what_was_to_be_told_goes_with_the_mode(restaurant):
    shop = restaurant().start("primary")
    shop.app.answers["confirm"] = [503] * 50
    shop.app.place(ORDER_OF["ifood"](1))
    shop.placed()
    shop.wait(lambda: len(shop.app.answers["confirm"]) < 50)
    shop.app.mode(shop.box, "mirror")
    shop.app.answers.clear()
    shop.app.mode(shop.box, "primary")
    shop.let_work()
    assert shop.app.told == []


@pytest.mark.parametrize("words, said", [
    (("pedidosya", "primary"), "cannot be asked for its orders"), (("ifood", "primary"), "no credentials"),
    (("ifood", "sideways"), "mode"), (("nobody", "off"), "There is no app"), (("rappi", "mirror"), "no credentials")])
def test_a_mode_that_cannot_be_is_refused_and_says_why(restaurant, words, said):
    shop = restaurant()
    shop.box.start()
    result = shop.box.command("provider", "mode", *words, "--data", str(shop.box.data), check=False)
    assert result.returncode != 0 and said in result.stderr, result.stderr


# What goes wrong


def test_an_order_whose_details_are_late_is_asked_for_again(restaurant):
    shop = restaurant().start("mirror")
    order = ORDER_OF["ifood"](1)
    shop.app.tell(order["id"], "PLC")
    shop.wait(lambda: shop.app.details_asked.count(order["id"]) >= 2)
    assert shop.orders() == [] and not shop.app.queue, "it is acknowledged, and kept"
    shop.app.orders[order["id"]] = order
    shop.placed()


@pytest.mark.parametrize("change, said", [
    ({"total": {"orderAmount": -1}}, "total.orderAmount"), ({"total": {"orderAmount": 60.805}}, "total.orderAmount"),
    ({"total": {}}, "total.orderAmount"), ({"items": []}, "items"), ({"items": [None, {}]}, "items"),
    ({"items": [{"name": "x", "quantity": 1, "totalPrice": 1}] * 501}, "items"),
    ({"items": [{"name": "x", "quantity": 0, "totalPrice": 1}]}, "items[0].quantity"),
    ({"payments": {"methods": [{"value": 60.8, "currency": "USD"}]}}, "currency"),
    ({"id": "another"}, "another order")])
def test_what_is_no_order_is_parked_and_the_others_go_on(restaurant, change, said):
    shop = restaurant().start("mirror")
    bad = ORDER_OF["ifood"](1) | change
    identity = ORDER_OF["ifood"](1)["id"]
    shop.app.orders[identity] = bad
    shop.app.tell(identity, "PLC")
    shop.app.place(ORDER_OF["ifood"](2))
    shop.placed()
    parked = shop.wait(shop.parked, hurry=False)
    assert len(parked) == 1 and parked[0]["what"] == "event" and parked[0]["order"] == identity
    assert said in parked[0]["problem"], parked
    shop.wait(lambda: "1 parked" in json.dumps(shop.api.get("/readyz").json), hurry=False)
    assert shop.box.value("SELECT details FROM delivery_order WHERE external_id = ?", identity)
    shop.app.orders[identity] = ORDER_OF["ifood"](1)  # the app mends it
    shop.command("retry", parked[0]["id"])
    shop.placed(2)
    assert shop.parked() == []


def test_binary_noise_in_amounts_is_no_mistake(restaurant):
    shop = restaurant().start("mirror")
    shop.app.place(ORDER_OF["ifood"](1, total={"deliveryFee": 9.000000000000002, "benefits": 5, "additionalFees": 1,
                                               "orderAmount": 60.79999999999999}))
    assert shop.placed()[0]["total"] == 60.8


@pytest.mark.parametrize("total", [61.8, 50, 200])
def test_an_order_that_does_not_add_up_is_placed_with_the_app_s_total(restaurant, total):
    shop = restaurant().start("mirror")
    order = ORDER_OF["ifood"](1)
    order["total"]["orderAmount"] = total
    shop.app.place(order)
    placed = shop.placed()[0]
    assert placed["total"] == total
    assert len(placed["combos"]) == 2, "the kitchen cooks no difference"
    reasons = {row["reason"]: row["amount"] for row in placed["discounts"]}
    assert (placed["service_fee_price"], reasons.get("difference")) == (
        (round(total - 60.8 + 1, 2), None) if total > 60.8 else (1, round(60.8 - total, 2)))
    shop.box.wait_for_log("does not add up")


def test_an_unreadable_answer_is_kept_and_told(restaurant):
    shop = restaurant().start("mirror")
    shop.app.poll = lambda: (200, {"hello": "world"})
    parked = shop.wait(shop.parked)
    assert parked[0]["what"] == "answer"
    polls = len(shop.app.polls)
    shop.wait(lambda: len(shop.app.polls) > polls + 3)
    assert len(shop.parked()) == 1, "an answer that comes again and again is kept once"
    del shop.app.poll
    shop.app.place(ORDER_OF["ifood"](1))
    shop.placed()


@pytest.mark.parametrize("name", APPS)
def test_what_is_no_event_is_parked_once_and_the_others_go_on(restaurant, name):
    shop = restaurant(name).start("mirror" if name != "rappi" else "primary")
    bad = [{"hello": "world"}, "x", 7, None, [], {}]
    if name == "rappi":
        shop.app.orders |= {f"bad{number}": element for number, element in enumerate(bad)}
        shop.app.new += [f"bad{number}" for number in range(len(bad))]
    else:
        shop.app.noise = bad
    shop.app.place(ORDER_OF[name](1))
    shop.placed()
    shop.wait(lambda: not shop.app.queue)  # the others are acknowledged
    shop.let_work()  # what is parked is read again, and comes again
    parked = shop.wait(lambda: len(rows := shop.parked()) == len(bad) and rows, hurry=False)
    assert {row["what"] for row in parked} == {"answer"}
    shop.app.place(ORDER_OF[name](2))
    shop.placed(2)
    shop.wait(lambda: len(shop.parked()) == len(bad), hurry=False)


def test_an_event_of_99food_that_names_its_id_as_its_acknowledgement_does(restaurant):
    shop = restaurant("99food").start("mirror")
    event = shop.app.tell(shop.app.place(ORDER_OF["99food"](1), tells=False), "CREATED")
    event["id"] = event.pop("eventId")
    shop.placed()
    assert shop.parked() == []


def test_a_type_of_order_that_is_not_known_arrives_with_a_note(restaurant):
    shop = restaurant().start("mirror")
    shop.app.place(ORDER_OF["ifood"](1, orderType="DRONE", extraInfo="sem pressa"))
    order = shop.placed()[0]
    assert order["service_type"] == "DELIVERY" and shop.parked() == []
    assert order["comment"].splitlines() == ["No se pudo leer todo el pedido (orderType): mirar en la app", "sem pressa"]


def test_the_kitchen_reads_the_options_of_options_and_their_groups(restaurant):
    shop = restaurant().start("mirror")
    order = ORDER_OF["ifood"](1)
    order["items"][0]["options"][0] |= {"groupName": "Borda?", "customizations": [
        {"name": "Sem cebola", "groupName": "Tirar", "quantity": 1, "unitPrice": 0, "price": 0},
        {"name": "Bacon extra", "groupName": "Pôr", "quantity": 2, "unitPrice": 1, "price": 2}]}
    order["items"][0] |= {"optionsPrice": 5.5, "totalPrice": 51}
    order["total"]["orderAmount"] = 64.8
    shop.app.place(order)
    placed = shop.placed()[0]
    pizza = placed["combos"][0]
    assert [(row["name"], row["group_name"], row["quantity"], row["price"]) for row in pizza["modifiers"]] == [
        ("Borda", "Bordas", 2, 7), ("Borda: Sem cebola", "Tirar", 2, 0), ("Borda: Bacon extra", "Pôr", 4, 4)]
    assert (pizza["variant_price"], pizza["combo_price"], placed["total"]) == (40, 51, 64.8)
    event = accepted(shop.api.get("/v1/events"))[-1]
    assert event["data"]["combos"][0]["modifiers"] == pizza["modifiers"]


def test_the_rider_reads_what_to_collect_and_the_code(restaurant):
    shop = restaurant().start("mirror")
    order = ORDER_OF["ifood"](1, payments={"prepaid": 0, "pending": 60.8, "methods": [
        {"value": 60.8, "currency": "BRL", "method": "CASH", "type": "OFFLINE", "prepaid": False, "cash": {"changeFor": 100}}]})
    order["delivery"]["pickupCode"] = "4242"
    shop.app.place(order)
    assert shop.placed()[0]["delivery_comment"].splitlines() == [
        "Cobrar BRL 60.80 en efectivo (CASH)", "Llevar vuelto para BRL 100.00", "Código de recojo: 4242", "portão azul"]


def test_an_order_of_rappi_for_later_is_prepared_when_its_time_comes(restaurant):
    shop = restaurant("rappi").start()
    lima_s = -5 * 3600
    soon = time.time() + 15 * 60 + 6
    for number, at in ((1, "2099-11-25 07:00:00"), (2, time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(soon + lima_s)))):
        order = ORDER_OF["rappi"](number)
        order["order_detail"]["place_at"] = at
        shop.app.place(order)
    shop.placed(2)
    shop.wait(lambda: ("1", "take") in shop.app.told and ("2", "take") in shop.app.told)
    far, near = sorted(shop.orders(), key=lambda order: order["order_title"])
    assert far["scheduled_delivery_date"] == "2099-11-25T12:00:00.000Z"
    assert shop.wait_status(near["id"], "PREPARING")["preparing_at"] >= time.strftime(
        "%Y-%m-%dT%H:%M", time.gmtime(soon - 15 * 60))
    shop.let_work()
    assert shop.order(far["id"])["status"] == "PENDING" and shop.parked() == []


@pytest.mark.parametrize("change", ["add", "remove", "reload"])
def test_what_an_app_wants_to_be_waited_for_outlives_changes_of_others(restaurant, tmp_path, change):
    shop = restaurant()
    with contextlib.closing(OrderApp(tmp_path, "99food")) as other:
        other.connect(shop.box)
        shop.start("mirror")
        path = ("GET", "/events/v1.0/events:polling")
        shop.app.answers[path] = [429] * 100
        shop.wait(lambda: len(shop.app.answers[path]) < 100)
        let_work(shop.box, shop.app.worker, passes=2)
        asked = len(shop.app.answers[path])
        if change == "reload":
            shop.box.signal(signal.SIGHUP)
            shop.box.wait_for_log("settings and certificate read again")
        else:
            other.add(shop.box)
        if change == "remove":
            shop.command("remove", "99food")
        let_work(shop.box, shop.app.worker, passes=3)
        assert len(shop.app.answers[path]) == asked, "it is not asked before its Retry-After"


@pytest.mark.parametrize("status, is_parked", [(500, False), (503, False), (408, False), (404, True), (409, True)])
def test_a_command_is_repeated_or_parked(restaurant, status, is_parked):
    shop = restaurant().start()
    shop.app.answers["confirm"] = [status] * (10_000 if is_parked else 1)  # what is parked is tried again meanwhile
    identity = shop.app.place(ORDER_OF["ifood"](1))
    shop.placed()
    if is_parked:
        parked = shop.wait(shop.parked, hurry=False)
        assert (parked[0]["id"], parked[0]["what"]) == (f"{identity}/confirm", "command")
        shop.app.answers.clear()
        shop.command("retry", parked[0]["id"])
    shop.wait(lambda: (identity, "confirm") in shop.app.told)
    shop.wait_status(shop.orders()[0]["id"], "PREPARING")
    assert [step for _, step in shop.app.told].count("confirm") == 1


@pytest.mark.parametrize("way", ["5xx", "timeout", "cut", "refused"])  # of the others: any 2xx says that it is done
def test_a_command_that_never_gets_through_holds_up_its_own_order_alone(restaurant, way):
    shop = restaurant().start()
    failing = ORDER_OF["ifood"](1)["id"]
    shop.app.answers["POST", f"/order/v1.0/orders/{failing}/confirm"] = [FAILURES[way]] * 10_000
    shop.app.place(ORDER_OF["ifood"](1))
    order = shop.placed()[0]
    shop.api.advance(order, "READY")
    others = {shop.app.place(ORDER_OF["ifood"](number)) for number in range(2, 8)}
    shop.placed(7)
    shop.wait(lambda: {identity for identity, step in shop.app.told if step == "confirm"} == others, hurry=False)
    if way != "timeout":  # each pass would last for 10 s
        shop.let_work()
    assert failing not in dict(shop.app.told), "its later steps wait"
    shop.wait(lambda: f"1 late, such as {failing}" in json.dumps(shop.api.get("/readyz").json), hurry=False)
    shop.box.stop()
    shop.box.execute("UPDATE delivery_command SET attempts = 1444 WHERE attempts > 0")  # those of a day
    shop.restart()
    [parked] = shop.wait(shop.parked, hurry=False)
    assert parked["id"] == f"{failing}/confirm" and "for a day" in parked["problem"]
    shop.app.answers.clear()
    shop.wait(lambda: [step for identity, step in shop.app.told if identity == failing] == ["startPreparation", "readyToPickup"],
              hurry=False)
    state = shop.wait(lambda: "1 parked" in (text := json.dumps(shop.api.get("/readyz").json)) and text, hurry=False)
    assert " late" not in state
    shop.command("retry", parked["id"])
    assert shop.parked() == []


@pytest.mark.parametrize("way", FAILURES)
def test_orders_that_an_app_does_not_show_hold_up_no_other_and_are_named(restaurant, way):
    shop = restaurant().start("mirror")
    shop.wait(lambda: shop.app.polls)
    failing = [ORDER_OF["ifood"](number) for number in ((1, 2) if way == "timeout" else (1, 2, 3))]
    for order in failing:
        shop.app.answers["GET", f"/order/v1.0/orders/{order['id']}"] = [FAILURES[way]] * 10_000
        shop.app.place(order)
        shop.app.tell(order["id"], "CFM")
    for number in (4, 5, 6):
        shop.app.place(ORDER_OF["ifood"](number))
    shop.hurry()
    shop.wait(lambda: len(shop.orders()) == 3, hurry=False)
    identities = {order["id"] for order in failing}
    if way == "garbage":  # is no order
        shop.wait(lambda: {row["order"] for row in shop.parked()} == identities, hurry=False)
    else:
        state = shop.wait(lambda: " late" in (text := json.dumps(shop.api.get("/readyz").json)) and text, hurry=False)
        assert any(identity in state for identity in identities), state
        shop.box.stop()
        shop.box.execute("UPDATE delivery_event SET attempts = 1444 WHERE attempts > 0")  # those of a day
        shop.restart()
        parked = shop.wait(lambda: (rows := shop.parked()) and len(rows) >= 2 and rows, hurry=False)
        words = "no such order" if way == "4xx" else "not shown for a day"
        assert all(row["order"] in identities and words in row["problem"] for row in parked), parked
    shop.app.answers.clear()
    shop.command("retry", "all")
    shop.placed(3 + len(failing))
    shop.wait(lambda: [order["status"] for order in shop.orders()].count("PREPARING") == len(failing))
    assert shop.parked() == []


def test_a_command_that_is_refused_holds_up_no_other(restaurant):
    shop = restaurant().start()
    failing = ORDER_OF["ifood"](1)["id"]
    shop.app.answers["POST", f"/order/v1.0/orders/{failing}/confirm"] = [FAILURES["4xx"]] * 10_000
    shop.app.place(ORDER_OF["ifood"](1))
    others = {shop.app.place(ORDER_OF["ifood"](number)) for number in range(2, 5)}
    shop.placed(4)
    shop.wait(lambda: {identity for identity, step in shop.app.told if step == "confirm"} == others, hurry=False)
    assert [row["id"] for row in shop.wait(shop.parked, hurry=False)] == [f"{failing}/confirm"]


def test_while_an_app_is_down_no_command_is_late(restaurant):
    shop = restaurant().start()
    polls = ("GET", "/events/v1.0/events:polling")
    shop.app.place(ORDER_OF["ifood"](1))
    shop.app.at_call["confirm"] = (lambda: shop.app.answers.update({polls: [503] * 10_000, "confirm": [503] * 10_000}), None)
    shop.wait(lambda: "cannot be asked" in json.dumps(shop.api.get("/readyz").json))
    shop.let_work()
    assert shop.box.value("SELECT attempts FROM delivery_command WHERE step = 0") <= 1, "the one before the app was known to be down"
    shop.app.answers.clear()
    shop.wait(lambda: [step for _, step in shop.app.told][:1] == ["confirm"])


def test_done_already_is_done(restaurant):
    shop = restaurant("99food").start("primary", "--accept", "kitchen")
    identity = shop.app.place(ORDER_OF["99food"](1))
    shop.app.told.append((identity, "confirm"))  # by another device; its event is on the way
    order = shop.placed()[0]
    shop.api.advance(order, "PREPARING")
    shop.wait(lambda: "1 not accepted" not in json.dumps(shop.api.get("/readyz").json))
    assert shop.parked() == []


def test_an_app_that_does_not_answer_is_told_and_asked_again(restaurant):
    shop = restaurant().start("mirror")
    path = ("GET", "/events/v1.0/events:polling")
    shop.app.answers[path] = [500] * 3
    shop.wait(lambda: "cannot be asked" in json.dumps(shop.api.get("/readyz").json))
    shop.app.place(ORDER_OF["ifood"](1))
    shop.placed()
    shop.wait(lambda: "cannot be asked" not in json.dumps(shop.api.get("/readyz").json))


def test_a_refused_token_is_renewed(restaurant):
    shop = restaurant().start("mirror")
    shop.wait(lambda: shop.app.polls)
    shop.app.tokens += 1  # those that were given are void
    shop.app.place(ORDER_OF["ifood"](1))
    shop.placed()


def test_orders_that_nobody_accepts_are_counted(restaurant):
    shop = restaurant().start("primary", "--accept", "kitchen")
    shop.app.place(ORDER_OF["ifood"](1))
    shop.placed()
    shop.wait(lambda: "1 not accepted" in json.dumps(shop.api.get("/readyz").json))
    text = shop.api.get("/metrics").body.decode()
    assert any("comanda_delivery_unaccepted" in line and line.endswith(" 1") for line in text.splitlines())
    # With the clock of the row set back, half of the app's time is gone.
    shop.box.stop()
    shop.box.execute("UPDATE delivery_order SET received_at = received_at - 300000, accept_by = accept_by - 300000")
    shop.restart()
    shop.box.wait_for_log("is not accepted")


def test_orders_that_the_cloud_brings_too_are_named(restaurant):
    """An order of the app is here that did not come by its account, and the event of its creation cannot be read."""
    shop = restaurant().start("mirror")
    identity = shop.app.place(ORDER_OF["ifood"](1))
    shop.app.tell(identity, "CFM")
    shop.wait_status(shop.placed()[0]["id"], "PREPARING")
    shop.box.stop()
    shop.box.execute("DELETE FROM delivery_order")
    shop.box.execute("UPDATE delivery_app SET position = 0")
    shop.box.execute("UPDATE event SET body = '' WHERE type = 'ORDER_CREATED'")
    shop.restart()
    shop.wait(lambda: "each may come twice" in json.dumps(shop.api.get("/readyz").json), hurry=False)


# After a crash


@pytest.mark.parametrize("name", APPS)
def test_kills_lose_no_order_and_double_none(restaurant, name, seed):
    chance = random.Random(seed)
    shop = restaurant(name).start("primary")
    number, wanted = 0, set()
    for _ in range(6):
        for _ in range(3):
            number += 1
            wanted.add(shop.app.place(ORDER_OF[name](number)))
        shop.hurry()
        time.sleep(chance.random() * 0.6)
        shop.restart(kill=True)
    shop.placed(len(wanted))
    shop.wait(lambda: all(order["status"] == "PREPARING" for order in shop.orders()))
    orders = shop.orders()
    assert len({order["order_title"] for order in orders}) == len(wanted)
    assert all(order["total"] == (50.8 if name == "rappi" else 60.8) for order in orders)
    word = "take" if name == "rappi" else "confirm"
    assert {identity for identity, step in shop.app.told if step == word} == wanted


CALLS = {"ifood": ["events:polling", "details", "acknowledgment", "confirm", "startPreparation", "readyToPickup"],
         "99food": ["events:polling", "details", "acknowledgment", "confirm", "readyForPickup"],
         "keeta": ["events:polling", "details", "batchDecrypt", "acknowledgment", "confirm", "readyForPickup"],
         "rappi": ["orders", "sent", "take", "ready-for-pickup"]}


@pytest.mark.parametrize("name, call", [(name, call) for name in APPS for call in CALLS[name]])
@pytest.mark.parametrize("is_before", [True, False], ids=["before_it_is_done", "before_its_answer"])
def test_a_kill_at_each_call_loses_nothing_and_doubles_nothing(restaurant, name, call, is_before):
    """The box dies when the app gets a call: before the app does it, or when it has and the answer is not there yet."""
    shop = restaurant(name).start("primary")

    def kill():
        shop.box.process.kill()
        shop.box.process.wait()

    shop.wait(lambda: shop.app.polls)
    if call == "sent":  # it is asked for at the start
        shop.box.stop()
    shop.app.at_call[call] = (kill, None) if is_before else (None, kill)
    identity = shop.app.place(ORDER_OF[name](1))
    if call == "sent":
        shop.app.sent.append(identity)
        shop.app.new.clear()
        shop.box.launch()

    def live():
        with contextlib.suppress(Exception):
            for order in shop.orders():
                if order["status"] == "PREPARING":
                    shop.api.advance(order, "READY")
            shop.hurry()
        return shop.box.process.poll() is not None

    shop.wait(live, hurry=False)
    shop.restart()
    order = shop.placed()[0]
    shop.wait(lambda: (now := shop.order(order["id"]))["status"] == "READY" or (
        now["status"] == "PREPARING" and shop.api.advance(now, "READY")))
    last = CALLS[name][-1]
    shop.wait(lambda: (identity, last) in shop.app.told)
    shop.wait(lambda: not shop.app.queue)
    assert len(shop.orders()) == 1 and shop.parked() == []
    steps = [step for _, step in shop.app.told if step != "ready-for-pickup"]  # Rappi takes that up to three times
    assert len(set(steps)) == len(steps), "no step is done twice"


def test_the_first_list_that_is_read_once_is_not_lost_by_a_cut(restaurant):
    shop = restaurant("rappi").start()
    shop.wait(lambda: "new" in shop.app.polls)
    number = shop.app.place(ORDER_OF["rappi"](9))
    shop.app.new.clear()  # given to a poll whose answer never came
    shop.app.sent.append(number)
    shop.restart(kill=True)
    shop.placed()


def test_no_secret_is_anywhere(restaurant):
    shop = restaurant().start()
    shop.app.place(ORDER_OF["ifood"](1))
    shop.placed()
    seen = [shop.box.log_text(), shop.api.get("/metrics").body.decode(), shop.api.get("/readyz").body.decode(),
            shop.command("list", "--json").stdout, shop.command("parked", "--json").stdout]
    for text in seen:
        assert SECRET not in text and not re.search(r"token-\d", text)


def test_the_doctor_tells_what_is_wrong_with_orders(restaurant):
    shop = restaurant().start("mirror")

    def found():
        report = json.loads(shop.box.command("doctor", "--json", "--data", str(shop.box.data), check=False).stdout)
        return [(row["state"], row["what"]) for row in report["findings"] if row["check"] == "apps" and "Orders" in row["what"]]

    shop.wait(lambda: found() == [("well", "Orders of delivery apps: ifood mirror.")])
    shop.app.noise.append({"hello": "world"})
    shop.wait(shop.parked)
    told = shop.wait(lambda: [state for state, what in found() if "parked" in what])
    assert told == ["warning"]


def test_details_that_never_come_are_parked_after_ten_minutes(restaurant):
    shop = restaurant().start("mirror")
    identity = ORDER_OF["ifood"](1)["id"]
    shop.app.tell(identity, "PLC")
    shop.wait(lambda: shop.app.details_asked)
    waits = [min(2 * 2**n, 60) for n in range(14)]
    assert 9.5 * 60 < sum(waits) < 11 * 60
    shop.box.stop()
    shop.box.execute("UPDATE delivery_event SET attempts = 14")  # as many tries as those waits make
    shop.restart()
    parked = shop.wait(shop.parked, hurry=False)
    assert parked[0]["order"] == identity and "no such order" in parked[0]["problem"]
    shop.app.orders[identity] = ORDER_OF["ifood"](1)
    shop.command("retry", "all")
    shop.placed()


def test_every_code_of_a_protocol_has_an_example():
    """In the unit test that says what each becomes."""
    example = (ROOT / "tests/unit/delivery_orders_test.cc").read_text()
    for name, row in (("ifood", r'Code\{"(\w+)", "(\w+)"'), ("open_delivery", r'TypeRow\{"(\w+)"()')):
        rows = re.findall(row, (ROOT / f"src/delivery/apps/{name}.cc").read_text())
        assert len(rows) >= 10
        for code, _ in rows:
            assert f'{{"{code}", News::' in example, (name, code)
