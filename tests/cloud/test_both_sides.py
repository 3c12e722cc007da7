"""What both sides change at once: status, rider and delivery status of one order, and a cancel against a payment. The cloud
is a second Comanda, or the strict imitation where the cloud's own people act."""

import contextlib
import random
import threading

import pytest

from support.box import LONG, PATIENCE_S
from support.cloud_pair import Pair, essence
from support.cloud_tills import CloudTill
from support.order_model import DELIVERY
from support.orders import LIFE, accepted, item, refused

ROUNDS = 100 if LONG else 5
EDITS = 12


def at_work(*jobs):
    """Runs the functions at the same time."""
    failures = []

    def run(job):
        try:
            job()
        except BaseException as failure:  # the test reports it
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S * 4)
        assert not thread.is_alive()
    assert not failures, failures


def test_no_line_and_no_payment_is_lost_while_two_tills_edit_an_order_that_the_cloud_moves(tmp_path, seed):
    with Pair(tmp_path, seed) as pair:
        pair.link()
        pair.proxy.rate = 0.2
        first, second = pair.till("first"), pair.till("second")
        for number in range(ROUNDS):
            edit_from_all_sides(pair, first, second, random.Random(f"{seed} {number}"))


def edit_from_all_sides(pair, first, second, dice):
    order = first.open(service_type="DELIVERY")
    pair.settle()
    theirs = pair.record_there(order)
    lines, payments = set(), set()

    def edit(till):
        for _ in range(EDITS):
            grow = dice.choice([till.add, till.add, till.pay, till.discount])
            changed = grow(till.orders.get(order["id"], order))
            lines.update(c["id"] for c in changed["combos"])
            payments.update(p["id"] for p in changed["payments"])

    def move():
        with contextlib.closing(pair.cloud.client(pair.cloud_key)) as client:
            for status in LIFE[1:4]:
                client.advance(theirs, status)
            client.patch(f"/v1/orders/{theirs['id']}/delivery-status", {"delivery_status": DELIVERY[2]})

    second.orders[order["id"]] = order
    at_work(lambda: edit(first), lambda: edit(second), move)

    def check():
        with contextlib.closing(pair.client()) as client:
            here = client.get("/v1/orders/" + order["id"]).data
        assert lines == {c["id"] for c in here["combos"]} and payments == {p["id"] for p in here["payments"]}
        assert essence(here) == essence(pair.record_there(order))
        assert (here["status"], here["delivery_status"]) == ("DELIVERED", DELIVERY[2])
    pair.settle()
    pair.eventually(check)


def test_money_does_not_wait_for_a_delivery_that_the_cloud_has_overtaken(tmp_path, seed):
    with Pair(tmp_path, seed) as pair:
        pair.link()
        till = pair.till()
        order = till.add(till.open(service_type="DELIVERY"))
        order = till.move(order, "PATCH", "/delivery-status", {"delivery_status": "DRIVER_ON_THE_WAY_TO_DESTINATION"})
        pair.settle()
        pair.proxy.go_offline()
        order = till.move(order, "PATCH", "/delivery-status", {"delivery_status": "DRIVER_ARRIVED_AT_DESTINATION"})
        till.pay(order, in_full=True)

        def planned():
            assert pair.status()["steps_waiting"] == 2
        pair.eventually(planned)
        theirs = pair.record_there(order)
        with contextlib.closing(pair.cloud.client(pair.cloud_key)) as client:
            accepted(client.patch(f"/v1/orders/{theirs['id']}/delivery-status", {"delivery_status": "NOT_DELIVERED"}))
        pair.proxy.go_online()
        pair.settle()

        def check():
            with contextlib.closing(pair.client()) as client:
                here = client.get("/v1/orders/" + order["id"]).data
            assert here["paid"] and here["delivery_status"] == "NOT_DELIVERED"
            assert pair.differences() == [], "it was never sent: what differs is asked after each answer"
            assert essence(here) == essence(pair.record_there(order))
        pair.eventually(check)


@pytest.mark.parametrize("strict", [False, True], ids=["comanda", "strict"])
def test_a_cancel_in_the_cloud_against_a_payment_here_is_parked_and_both_are_shown(tmp_path, seed, strict):
    with Pair(tmp_path, seed, strict=strict) as pair:
        pair.link()
        till = pair.till()
        order = till.add(till.open(service_type="ONSITE"))
        pair.settle()
        pair.proxy.go_offline()
        order = till.pay(order, in_full=True)
        cancel_in_cloud(pair, order)
        pair.proxy.go_online()
        pair.settle(parked=1)

        def told():
            (parked,) = pair.parked()
            assert (parked["order_id"], parked["why"]) == (order["id"], "cancelled_but_paid"), parked
            assert "payments" in parked["problem"]["detail"]
        pair.eventually(told)
        with contextlib.closing(pair.client()) as client:
            here = client.get("/v1/orders/" + order["id"]).data
        assert here["status"] != "CANCELLED" and here["paid"], "money that was taken is not cancelled"
        assert pair.record_there(order)["status"] == "CANCELLED"
        refused = pair.command("retry", order["id"], check=False)
        assert refused.returncode != 0 and "cancel its payments" in refused.stderr, refused
        pair.command("retry", "all")
        assert [row["why"] for row in pair.parked()] == ["cancelled_but_paid"]

        order = till.move(order, "DELETE", f"/payments/{order['payments'][-1]['id']}")
        pair.command("resume", check=False)

        def cancelled():
            with contextlib.closing(pair.client()) as client:
                assert client.get("/v1/orders/" + order["id"]).data["status"] == "CANCELLED"
            assert pair.parked() == []
        pair.eventually(cancelled)
        pair.settle()


def cancel_in_cloud(pair, order):
    theirs = pair.record_there(order)
    if pair.is_strict:
        with pair.cloud.lock:
            pair.cloud.orders.cancel(pair.cloud.orders.find(theirs["id"]), {"reason": "the guest called"})
    else:
        with contextlib.closing(pair.cloud.client(pair.cloud_key)) as client:
            assert client.post(f"/v1/orders/{theirs['id']}/cancel", {"reason": "the guest called"}).status == 200


@pytest.mark.parametrize("strict", [False, True], ids=["comanda", "strict"])
def test_a_cancel_in_the_cloud_without_money_cancels_the_order_here(tmp_path, seed, strict):
    with Pair(tmp_path, seed, strict=strict) as pair:
        pair.link()
        till = pair.till()
        order = till.add(till.open(service_type="ONSITE"))
        pair.settle()
        cancel_in_cloud(pair, order)

        def cancelled():
            with contextlib.closing(pair.client()) as client:
                here = client.get("/v1/orders/" + order["id"]).data
            assert (here["status"], here["cancel_reason"]) == ("CANCELLED", "the guest called")
        pair.eventually(cancelled)
        pair.settle()
        assert pair.parked() == []


def test_an_order_that_a_till_began_in_the_cloud_is_the_clouds_and_found_by_its_id(pair):
    """A till that lost the box goes on at the cloud, and comes back."""
    with contextlib.closing(pair.cloud.client(pair.cloud.make_key(tier="lan")["key"])) as cloud, \
            contextlib.closing(pair.client()) as client:
        order = cloud.add(cloud.place(service_type="TAKEAWAY"), item(12.5, 0.335))

        def taken():
            found = client.get("/v1/orders/" + order["public_id"])
            assert found.status == 200 and found.data["total"] == order["total"], found.body
            assert essence(found.data) == essence(cloud.get("/v1/orders/" + order["id"]).data)
            return found.data
        here = pair.eventually(taken)
        refused(client.post(f"/v1/orders/{here['id']}/combos", {"combos": [item()]}), 422, "order_not_editable", says="cloud")
        client.advance(here, "READY")
        pair.settle()

        def moved():
            assert cloud.get("/v1/orders/" + order["id"]).data["status"] == "READY"
        pair.eventually(moved)


def test_a_till_that_lost_the_box_and_repeats_itself_at_the_cloud_makes_nothing_twice(pair):
    till = pair.till()
    order = till.add(till.open(service_type="ONSITE"))
    pair.settle()
    reference = order["reference"]
    (sent,) = [e for e in pair.proxy.writes() if e.key == reference]
    with contextlib.closing(pair.cloud.client(pair.cloud.make_key(tier="lan")["key"])) as cloud:
        answer = cloud.post("/v1/orders", {"service_type": "ONSITE"}, {"Idempotency-Key": reference})
        assert answer.status in (200, 201, 422)
        assert len([r for r in pair.cloud_records() if r["reference"] == reference]) == 1
        assert sent.status == 201


def test_the_clouds_id_finds_an_order_at_the_box(pair):
    till = pair.till()
    order = till.add(till.open(service_type="ONSITE"))
    pair.settle()
    theirs = pair.record_there(order)
    assert theirs["id"] != order["id"]
    with contextlib.closing(pair.client()) as client:
        for name in (theirs["id"], theirs["public_id"], order["id"], order["public_id"]):
            assert client.get("/v1/orders/" + name).data["id"] == order["id"], name
        theirs_method = next(iter(theirs["payments"]), None)
        assert theirs_method is None
        # A body may name the cloud's ids, too.
        with contextlib.closing(pair.cloud.client(pair.cloud_key)) as cloud:
            product = next(p for c in cloud.get("/v1/menu").data["categories"] for p in c["products"])
        answer = client.post(f"/v1/orders/{theirs['id']}/combos", {"combos": [
            {"variant_id": product["variants"][0]["id"], "quantity": 1, "variant_price": 5}]})
        assert answer.status == 200 and answer.data["combos"][-1]["product_name"] == product["name"], answer.body


def test_a_till_sees_nothing_of_the_sync(pair):
    """The record has no other field, and the sync raises no version."""
    till = pair.till()
    before = set(till.open(service_type="ONSITE"))
    order = till.finish(till.open(service_type="ONSITE"))
    pair.settle()
    with contextlib.closing(pair.client()) as client:
        after = client.get("/v1/orders/" + order["id"]).data
    assert after == order and set(after) == before
    assert isinstance(till, CloudTill)
