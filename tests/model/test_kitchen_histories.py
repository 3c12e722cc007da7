"""Random histories of tickets, of tills, riders, the panel and displays that poll, through kills, restored backups, lost answers
and clock steps, against a model written from the contract (support/kitchen_model.py): each answer, what each display has on its
glass at the end, the list and the feed.

COMANDA_SEED=N repeats a run; a failure prints the seed and what was done."""

import concurrent.futures
import contextlib
import copy
import json
import os
import random
import shutil
import time

from support.box import ENGINE, LONG, ROOT
from support.kitchen_model import HOUR_MS, LIFE, Ticket
from support.orders import item, new_id
from support.wall_clock import FrozenClockBox

SEED = int(os.environ.get("COMANDA_SEED") or random.SystemRandom().randrange(10 ** 9))
HISTORIES = 50_000 if LONG else int(os.environ.get("COMANDA_HISTORIES", 1_000))
STEPS = 9
DISPLAYS = 3
KILL_EVERY = 200
# Backups are of the box's own database.
RESTORE_EVERY = 250 if ENGINE == "sqlite" else 0
TICKETS, CHANGES = "/v1/kitchen/tickets", "/v1/kitchen/changes"


class Display:
    """Follows the changes: its glass has the newest revision of each ticket that it was told of."""

    def __init__(self, name):
        self.name, self.after, self.glass = name, None, {}
        self.of_the_past = False  # its cursor is from before a restore

    def begin(self, api):
        self.of_the_past = False
        answer = api.get(TICKETS + "?per_page=100")
        assert answer.status == 200, answer.body
        self.after = answer.headers["x-event-cursor"]
        self.glass = {row["order_id"]: row for row in answer.data}

    def poll(self, api, per_page):
        answer = api.get(f"{CHANGES}?after={self.after}&per_page={per_page}&display={self.name}")
        if answer.status == 410:  # a backup was restored
            assert self.of_the_past and answer.code == "cursor_expired" and answer.json["oldest_cursor"], answer.body
            self.begin(api)
            return list(self.glass.values())
        assert answer.status == 200 and not self.of_the_past, answer.body
        rows = answer.json["data"]
        assert len({row["order_id"] for row in rows}) == len(rows) <= per_page
        for row in rows:
            known = self.glass.get(row["order_id"])
            if known is None or row["revision"] >= known["revision"]:
                self.glass[row["order_id"]] = row
        self.after = answer.json["next"]
        return rows


class House:
    """The box, its clients, and what is set for all orders."""

    def __init__(self, box, key, displays, dishes, directory):
        self.box, self.displays, self.directory = box, displays, directory
        self.dishes = dishes  # {station: a product of it}
        self.makes = {station: is_made for station, is_made in zip(dishes, (True, False))}
        self.api, self.other = box.client(key), box.client(key)
        self.threads = concurrent.futures.ThreadPoolExecutor(2)

    def start(self):
        self.box.start_at(0)

    def let_go(self):
        self.api.close()
        self.other.close()

    def kill(self):
        self.box.kill()
        self.let_go()
        self.start()

    def back_up(self):
        shutil.rmtree(self.directory / "backup", ignore_errors=True)
        self.box.command("backup", str(self.directory / "backup"), "--data", str(self.box.data))

    def restore(self):
        assert self.box.stop() == 0, self.box.log_text()
        self.let_go()
        self.box.command("restore", str(self.directory / "backup"), "--data", str(self.box.data), "--yes")
        for former in self.box.data.parent.glob(self.box.data.name + ".before-restore-*"):
            shutil.rmtree(former)
        for display in self.displays:
            display.of_the_past = True
        self.start()


class History:
    """`disaster`: a method of this class, which comes before one of the steps."""

    def __init__(self, house, seed, disaster=None):
        self.house, self.api, self.box, self.displays = house, house.api, house.box, house.displays
        self.dice, self.done = random.Random(seed), []
        self.disaster = disaster
        self.began = self.api.get(TICKETS + "?per_page=1").headers["x-event-cursor"]
        self.last = None  # the last request, with its key and answer

    def ask(self, method, target, body=None):
        self.done.append((self.box.now_ms, method, target, body))
        request = (method, target, body, {"Idempotency-Key": new_id()})
        answer = self.api.send(*request)
        assert answer.status in (200, 201), (answer.status, answer.body)
        self.last = request, answer
        if self.dice.random() < 0.1:
            self.ask_again()
        return answer.data

    def ask_again(self):
        """The answer was lost: the same request, with its key."""
        request, answer = self.last
        self.done.append(("again", *request[:2]))
        again = self.api.send(*request)
        assert (again.status, again.body) == (answer.status, answer.body), (again.status, again.body)
        assert again.headers["idempotency-replayed"] == "true"

    def ask_twice_at_once(self, target, body):
        """Two displays, each with a key of its own for the request: the same mark."""
        self.done.append((self.box.now_ms, "two at once", target, body))
        answers = list(self.house.threads.map(
            lambda client: client.send("POST", target, body, {"Idempotency-Key": new_id()}), (self.api, self.house.other)))
        assert [answer.status for answer in answers] == [200, 200], [answer.body for answer in answers]
        assert answers[0].body == answers[1].body
        return answers[0].data

    @property
    def now(self):
        return self.box.now_ms

    def tell(self):
        scheduled = self.now + self.dice.choice([5, 30, 60 * 26]) * 60_000 if self.dice.random() < 0.15 else None
        fields = {"scheduled_delivery_date": stamp(scheduled)} if scheduled else {}
        self.is_carried = self.dice.random() < 0.25
        order = self.ask("POST", "/v1/orders", {"service_type": "DELIVERY" if self.is_carried else "ONSITE", **fields})
        self.at, self.id, self.ids = f"/v1/orders/{order['id']}", order["id"], []
        self.ticket, self.carried = Ticket(self.now, scheduled), 0
        self.add()
        when = self.dice.randrange(STEPS)
        for step in range(STEPS):
            if self.disaster and step == when:
                self.disaster(self)
            self.dice.choice([self.till, self.carrier if self.is_carried else self.till, self.kitchen, self.kitchen, self.kitchen,
                              self.pass_time, self.look, self.panel])()
        self.check()
        self.close()

    # Disasters
    def is_killed(self):
        self.done.append((self.now, "killed"))
        self.house.kill()
        self.ask_again()

    def is_restored(self):
        """What happens after a backup has not happened any more."""
        self.done.append((self.now, "a backup"))
        self.house.back_up()
        kept = copy.deepcopy((self.ticket, self.ids, self.carried, self.house.makes))
        for _ in range(3):
            self.dice.choice([self.till, self.kitchen, self.kitchen, self.panel, self.look])()
        self.done.append((self.now, "is restored"))
        self.house.restore()
        self.ticket, self.ids, self.carried, self.house.makes = kept
        self.ticket.told = []  # the feed begins anew
        self.began = self.api.get(TICKETS + "?per_page=1").headers["x-event-cursor"]

    # What happens
    def add(self):
        grill, counter = self.house.dishes
        stations = [self.dice.choice([None, None, None, grill, grill, grill, counter]) for _ in range(self.dice.randint(1, 3))]
        rows = [self.of_station(station) if station else item(name="Plato") for station in stations]
        order = self.ask("POST", self.at + "/combos", {"combos": rows})
        self.ids = [row["id"] for row in order["combos"]]
        self.ticket.add(self.now, [(self.house.makes.get(station, True), station) for station in stations])

    def of_station(self, station):
        return {"product_id": self.house.dishes[station], "product_name": "Plato", "quantity": 1, "variant_price": 5}

    def panel(self):
        """Rarely: it is for all orders."""
        if self.dice.random() < 0.6:
            return
        station = self.dice.choice(list(self.house.dishes))
        is_made = not self.house.makes[station] if self.dice.random() < 0.8 else self.house.makes[station]
        self.ask("PATCH", f"/v1/kitchen/stations/{station}", {"prepares": is_made})
        if self.house.makes[station] != is_made:
            self.house.makes[station] = is_made
            self.ticket.switch(self.now, station, is_made)

    def carrier(self):
        steps = ["arrived", "on the way", "delivered"]
        names = ["DRIVER_ARRIVED_AT_STORE", "DRIVER_ON_THE_WAY_TO_DESTINATION", "DELIVERED"]
        if self.ticket.status not in LIFE[:4] or self.carried == len(steps):
            return
        at = self.dice.randrange(self.carried, len(steps))
        self.ask("PATCH", self.at + "/delivery-status", {"delivery_status": names[at]})
        self.carried = at + 1
        self.ticket.deliver(self.now, steps[at])

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
            together = self.dice.random() < 0.15
            shown = self.ask_twice_at_once(at + what, named) if together else self.ask("POST", at + what, named)
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
            if self.id in display.glass:
                self.same_by_now(display.glass[self.id])
            else:  # it has listed after a restore, which leaves out what is closed
                assert self.disaster and self.ticket.state(self.now) == "closed"
        rows = self.api.get(TICKETS + "?per_page=100").data
        listed = [row for row in rows if row["order_id"] == self.id]
        if self.ticket.state(self.now) == "closed":
            assert listed == []
        else:
            self.same(listed[0])
            changed = self.api.get(f"{CHANGES}?after={self.began}&per_page=100").json["data"]
            assert changed[-1:] == listed or (not changed and self.disaster), "nothing has changed since a restore"
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
    stations = [company["stations"][n]["id"] for n in (0, 2)]
    company["stations"][2]["prepares"] = False
    products = [p for c in company["categories"] for p in c["products"] if "id" in p]
    dishes = {station: next(p["id"] for p in products if p.get("kitchen_id") == station) for station in stations}
    (tmp_path / "restaurant.json").write_text(json.dumps(file))
    box = FrozenClockBox(int(time.time() * 1000), options=["--sandbox-listen", ""])
    box.bring_in(tmp_path / "restaurant.json")
    if RESTORE_EVERY:  # which takes away what lies in the directory
        shutil.move(box.binary, tmp_path / "comanda")
        box.binary, box.log_path = tmp_path / "comanda", tmp_path / "log"
    house = House(box, box.make_key(scopes="all,admin:read,admin:write")["key"], [Display(f"d{n}") for n in range(DISPLAYS)],
                  dishes, tmp_path)
    try:
        house.start()
        for display in house.displays:
            display.begin(house.api)
        for number in range(HISTORIES):
            disaster = History.is_killed if number % KILL_EVERY == KILL_EVERY - 1 else None
            if RESTORE_EVERY and number % RESTORE_EVERY == RESTORE_EVERY // 2:
                disaster = History.is_restored
            history = History(house, f"{SEED} {number}", disaster)
            try:
                history.tell()
            except Exception as failure:
                done = "\n".join("  " + " ".join(map(str, row)) for row in history.done)
                raise AssertionError(f"COMANDA_SEED={SEED}, history {number}:\n{done}\n{failure}") from failure
    finally:
        house.let_go()
        box.discard()
