"""Random histories of tickets, of tills and of displays that poll, through kills and clock steps, against a model written
from the contract (support/kitchen_model.py): each answer, what each display has on its glass at the end, the list and the feed.

COMANDA_SEED=N repeats a run; a failure prints the seed and what was done."""

import contextlib
import json
import os
import random
import time

import pytest

from support.box import LONG, ROOT
from support.kitchen_model import HOUR_MS, LIFE, Ticket
from support.orders import item, new_id
from support.wall_clock import FrozenClockBox

SEED = int(os.environ.get("COMANDA_SEED") or random.SystemRandom().randrange(10 ** 9))
HISTORIES = 50_000 if LONG else 1_000
STEPS = 9
DISPLAYS = 3
KILL_EVERY = 200
TICKETS, CHANGES = "/v1/kitchen/tickets", "/v1/kitchen/changes"


class Display:
    """Follows the changes: its glass has the newest revision of each ticket that it was told of."""

    def __init__(self, name):
        self.name, self.after, self.glass = name, None, {}

    def begin(self, api):
        answer = api.get(TICKETS + "?per_page=100")
        assert answer.status == 200, answer.body
        self.after = answer.headers["x-event-cursor"]
        self.glass = {row["order_id"]: row for row in answer.data}

    def poll(self, api, per_page):
        answer = api.get(f"{CHANGES}?after={self.after}&per_page={per_page}&display={self.name}")
        assert answer.status == 200, answer.body
        rows = answer.json["data"]
        assert len({row["order_id"] for row in rows}) == len(rows) <= per_page
        for row in rows:
            known = self.glass.get(row["order_id"])
            if known is None or row["revision"] >= known["revision"]:
                self.glass[row["order_id"]] = row
        self.after = answer.json["next"]
        return rows


class History:
    def __init__(self, api, box, stations, displays, seed):
        self.api, self.box, self.stations, self.displays = api, box, stations, displays
        self.dice, self.done = random.Random(seed), []
        self.began = api.get(TICKETS + "?per_page=1").headers["x-event-cursor"]

    def ask(self, method, target, body=None):
        self.done.append((self.box.now_ms, method, target, body))
        answer = self.api.send(method, target, body, {"Idempotency-Key": new_id()})
        assert answer.status in (200, 201), (answer.status, answer.body)
        return answer.data

    @property
    def now(self):
        return self.box.now_ms

    def tell(self):
        scheduled = self.now + self.dice.choice([5, 30, 60 * 26]) * 60_000 if self.dice.random() < 0.15 else None
        fields = {"scheduled_delivery_date": stamp(scheduled)} if scheduled else {}
        order = self.ask("POST", "/v1/orders", {"service_type": "ONSITE", **fields})
        self.at, self.id, self.ids = f"/v1/orders/{order['id']}", order["id"], []
        self.ticket = Ticket(self.now, scheduled)
        self.add()
        for _ in range(STEPS):
            self.dice.choice([self.till, self.kitchen, self.kitchen, self.pass_time, self.look])()
        self.check()
        self.close()

    # What happens
    def add(self):
        kinds = [self.dice.random() < 0.85 for _ in range(self.dice.randint(1, 3))]
        rows = [item(name="Plato") if is_made and self.dice.random() < 0.5 else self.of_station(is_made) for is_made in kinds]
        order = self.ask("POST", self.at + "/combos", {"combos": rows})
        self.ids = [row["id"] for row in order["combos"]]
        self.ticket.add(self.now, kinds)

    def of_station(self, is_made):
        return {"product_id": self.stations[is_made], "product_name": "Plato", "quantity": 1, "variant_price": 5}

    def till(self):
        ticket, what = self.ticket, self.dice.random()
        if what < 0.35 and ticket.status in LIFE[:4]:
            self.add()
        elif what < 0.55 and ticket.status in LIFE[:4]:
            index = self.dice.randrange(len(self.ids))
            self.ask("DELETE", f"{self.at}/combos/{self.ids[index]}")
            ticket.cancel_line(index)
        elif what < 0.62:
            self.ask("POST", self.at + "/cancel", {"reason": "se fueron"})
            ticket.cancel(self.now)
        elif ticket.status != "CANCELLED":
            status = self.dice.choice(LIFE)
            self.ask("PATCH", self.at + "/status", {"status": status})
            ticket.advance(self.now, status)

    def kitchen(self):
        ticket, at = self.ticket, f"{TICKETS}/{self.id}/"
        indexes = {i for i in range(len(self.ids)) if self.dice.random() < 0.6} or {0}
        named = {"line_ids": [self.ids[i] for i in indexes]}
        what = self.dice.choice(["done", "done", "done", "undo", "start", "rush", "out"])
        if what == "done":
            shown = self.ask("POST", at + what, named)
            ticket.done(self.now, indexes)
        elif what == "undo":
            shown = self.ask("POST", at + what, named)
            ticket.undo(self.now, indexes)
        elif what == "start":
            shown = self.ask("POST", at + what)
            ticket.start(self.now)
        elif what == "rush":
            on = self.dice.random() < 0.7
            shown = self.ask("POST", at + what, {"on": on})
            ticket.set_rush(on)
        else:
            shown = self.ask("POST", at + what)
            ticket.send_out(self.now)
        self.same(shown, whole=True)

    def pass_time(self):
        step = self.dice.choice([0, 1, 1_000, 60_000, 20 * 60_000, HOUR_MS, 5 * HOUR_MS, 7 * HOUR_MS, -60_000, -4 * 60_000])
        self.done.append((self.now, "the clock is stepped by", step))
        self.box.set_now(self.now + step)
        if step < 0:  # and put right, before anything is written
            self.look()
            self.box.set_now(self.now - step)

    def look(self):
        self.dice.choice(self.displays).poll(self.api, self.dice.choice([1, 2, 100]))

    # What must be so
    def same(self, shown, whole=False):
        ticket, now = self.ticket, self.now
        wanted = {"order_id": self.id, "revision": ticket.revision, "state": ticket.state(now), "status": ticket.status}
        found = {name: shown[name] for name in wanted}
        assert found == wanted, (found, wanted)
        if wanted["state"] == "closed" and not whole:
            assert set(shown) == set(wanted)
            return
        assert (shown["rush_at"] is not None, shown["out_at"] is not None) == (ticket.rush, ticket.is_out), shown
        lines = [(row["id"], row["waits"], row["done_at"], row["canceled_at"] is not None) for row in shown["lines"]]
        assert lines == [(id, ticket.waits(line, now), line.marked_at and stamp(line.marked_at), line.cancelled)
                         for id, line in zip(self.ids, ticket.lines)], (lines, shown)

    def check(self):
        order = self.api.get(self.at).data
        assert (order["status"], order["version"]) == (self.ticket.status, self.ticket.version)
        for display in self.displays:
            while display.poll(self.api, self.dice.choice([1, 3, 100])):
                pass
            self.same_by_now(display.glass[self.id])
        rows = self.api.get(TICKETS + "?per_page=100").data
        listed = [row for row in rows if row["order_id"] == self.id]
        if self.ticket.state(self.now) == "closed":
            assert listed == []
        else:
            self.same(listed[0])
            assert listed[0] == self.api.get(f"{CHANGES}?after={self.began}&per_page=100").json["data"][-1]
        told = [row["changes"] for row in self.api.get(f"/v1/events?after={self.began}&per_page=100").data
                if row["event_type"] == "TICKET_UPDATED"]
        assert told == self.ticket.told, (told, self.ticket.told)

    def same_by_now(self, shown):
        """What time alone changes comes in no change: state and what waits are those of when it came."""
        assert shown["revision"] == self.ticket.revision and shown["status"] == self.ticket.status, shown
        if "lines" in shown:
            assert [(row["id"], row["done_at"]) for row in shown["lines"]] == [
                (id, line.marked_at and stamp(line.marked_at)) for id, line in zip(self.ids, self.ticket.lines)]

    def close(self):
        """So that the list stays short."""
        self.ask("POST", f"{TICKETS}/{self.id}/out")
        self.box.set_now(self.now + 70 * 60_000)


def stamp(ms):
    seconds, rest = divmod(ms, 1000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{rest:03}Z"


def test_any_history_goes_as_the_model_says(tmp_path):
    file = json.loads((ROOT / "src/app/demo.json").read_text())
    company = file["companies"][0]
    made, handed = company["stations"][0]["id"], company["stations"][2]["id"]
    company["stations"][2]["prepares"] = False
    products = [p for c in company["categories"] for p in c["products"] if "id" in p]
    stations = {is_made: next(p["id"] for p in products if p.get("kitchen_id") == station)
                for is_made, station in ((True, made), (False, handed))}
    (tmp_path / "restaurant.json").write_text(json.dumps(file))
    box = FrozenClockBox(int(time.time() * 1000), options=["--sandbox-listen", ""])
    box.bring_in(tmp_path / "restaurant.json")
    key = box.make_key()["key"]
    try:
        box.start_at(0)
        displays = [Display(f"d{n}") for n in range(DISPLAYS)]
        with contextlib.closing(box.client(key)) as api:
            for display in displays:
                display.begin(api)
            for number in range(HISTORIES):
                if number % KILL_EVERY == KILL_EVERY - 1:
                    box.kill()
                    box.start_at(0)
                    api.close()
                history = History(api, box, stations, displays, f"{SEED} {number}")
                try:
                    history.tell()
                except Exception as failure:
                    done = "\n".join("  " + " ".join(map(str, row)) for row in history.done)
                    raise AssertionError(f"COMANDA_SEED={SEED}, history {number}:\n{done}\n{failure}") from failure
    finally:
        box.discard()
