"""Tickets of a linked box: what the cloud does to an order, and what the kitchen does, in any order, beside the model of the
kitchen (support/kitchen_model.py). The cloud's moves are moves like a till's: what it calls ready does not wait."""

import contextlib
import random
import time

import pytest

from support.kitchen_model import LIFE, Ticket
from support.orders import accepted, item, new_key

HISTORIES = 6
STEPS = 7
TICKETS = "/v1/kitchen/tickets"


def now():
    return time.time_ns() // 1_000_000


def shown(box, order):
    rows = accepted(box.get(f"{TICKETS}?per_page=100&filter[state]=later,open,ready,cancelled,closed"))
    return next(row for row in rows if row["order_id"] == order["id"])


def same(found, ticket, ids):
    """Not the revision: a sync may write an order once more."""
    assert (found["state"], found["status"]) == (ticket.state(now()), ticket.status), (found, vars(ticket))
    if "lines" in found:
        assert [(row["id"], row["waits"], row["done_at"] is not None, row["canceled_at"] is not None) for row in found["lines"]] == [
            (id, ticket.waits(line, now()), line.marked_at is not None, line.cancelled) for id, line in zip(ids, ticket.lines)]


def test_what_the_cloud_does_and_what_the_kitchen_does_go_as_the_model_says(pair, seed):
    with contextlib.closing(pair.client()) as box, contextlib.closing(pair.cloud.client(pair.cloud_key)) as cloud:
        for number in range(HISTORIES):
            dice, done = random.Random(f"{seed} {number}"), []
            order = box.add(box.place(), *(item(name=f"Plato {n}") for n in range(2)))
            ticket, ids = Ticket(now()), [row["id"] for row in order["combos"]]
            ticket.add(now(), [(True, None)] * 2)
            pair.settle()
            there = f"/v1/orders/{pair.record_there(order)['id']}"
            try:
                for _ in range(STEPS):
                    what = dice.choice(["cloud", "cloud", "done", "done", "undo", "add", "out", "cancel"])
                    done.append(what)
                    if what == "cloud" and ticket.status in LIFE:
                        status = dice.choice(LIFE[1:])
                        done.append(status)
                        accepted(cloud.patch(there + "/status", {"status": status}, new_key()))
                        ticket.advance(now(), status)
                        pair.command("resume", check=False)
                        pair.eventually(lambda: same(shown(box, order), ticket, ids))
                    elif what == "cancel" and ticket.status in LIFE[:4] and dice.random() < 0.4:
                        accepted(cloud.post(there + "/cancel", {"reason": "se fueron"}, new_key()))
                        ticket.cancel(now())
                        pair.command("resume", check=False)
                        pair.eventually(lambda: same(shown(box, order), ticket, ids))
                    elif what == "add" and ticket.status in LIFE[:4]:
                        made = box.add(order, item(name="Postre"))
                        ids = [row["id"] for row in made["combos"]]
                        ticket.add(now(), [(True, None)])
                    elif what in ("done", "undo"):
                        chosen = {n for n in range(len(ids)) if dice.random() < 0.6} or {0}
                        accepted(box.post(f"{TICKETS}/{order['id']}/{what}", {"line_ids": [ids[n] for n in sorted(chosen)]}, new_key()))
                        (ticket.done if what == "done" else ticket.undo)(now(), chosen)
                    elif what == "out":
                        accepted(box.post(f"{TICKETS}/{order['id']}/out", None, new_key()))
                        ticket.send_out(now())
                    same(shown(box, order), ticket, ids)
                    pair.settle()
                    same(shown(box, order), ticket, ids)
                assert pair.record_there(order)["status"] == ticket.status
            except AssertionError as failure:
                pytest.fail(f"COMANDA_SEED={seed}, history {number}: {done}\n{failure}")


@pytest.mark.parametrize("status, waits", [("FINALIZED", [True, False]), ("DELIVERED", [False, False]), ("READY", [False, False])])
def test_an_order_that_the_cloud_closes_still_cooks_unless_it_calls_it_ready(pair, status, waits):
    """What a move implies is no move of its own, whoever has made it: a counter that is paid first still cooks."""
    with contextlib.closing(pair.client()) as box, contextlib.closing(pair.cloud.client(pair.cloud_key)) as cloud:
        order = box.add(box.place(), item(name="Ceviche"), item(name="Lomo"))
        accepted(box.post(f"{TICKETS}/{order['id']}/done", {"line_ids": [order["combos"][1]["id"]]}))
        pair.settle()
        there = f"/v1/orders/{pair.record_there(order)['id']}"
        accepted(cloud.patch(there + "/status", {"status": status}, new_key()))
        pair.command("resume", check=False)

        def taken():
            assert pair.record_here(order)["status"] == status
        pair.eventually(taken)
        pair.settle()
        ticket = accepted(box.post(f"{TICKETS}/{order['id']}/done", {"line_ids": [order["combos"][1]["id"]]}))
        assert [line["waits"] for line in ticket["lines"]] == waits
        implied = {row["status"]: row["implied"] for row in pair.record_here(order)["status_history"]}
        assert implied == {row["status"]: row["implied"] for row in pair.record_there(order)["status_history"]}
