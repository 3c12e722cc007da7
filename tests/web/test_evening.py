"""An evening of three displays and a till, through lines that are cut, a box that is killed and restored, and reloads: at its
end the glass of each display, the API and a model of the kitchen (support/kitchen_model.py) say the same."""

import copy
import random
import re
import time

import pytest

from support.box import LONG, Box
from support.kitchen_model import Ticket
from support.kitchen_wall import MARKS, STATIONS, Wall, shown
from support.waiting import wait_until

SEEDS = 40 if LONG else 3
STEPS = 300 if LONG else 70
AWAY_S = [1, 12, 30] if LONG else [1, 12]
SCREENS = {"cold": ["cold"], "hot and bar": ["hot", "bar"], "all": list(STATIONS)}


class Evening:
    def __init__(self, wall, chance):
        self.wall, self.chance = wall, chance
        self.orders = {}  # id: (Ticket, [(line id, station)])
        self.touched = set()  # orders that a cook has begun: their tills leave them alone
        self.screens = {name: wall.display(name=name, query="?station=" + ",".join(STATIONS[each] for each in stations))
                        for name, stations in SCREENS.items()}
        self.back = []  # (when, screen) to be on the line again

    def now(self):
        return round(time.time() * 1000)

    # The till

    def place(self):
        stations = [self.chance.choice([*STATIONS, None]) for _ in range(self.chance.randint(1, 4))]
        order = self.wall.order(*map(self.line, stations))
        ticket = Ticket(self.now())
        ticket.add(self.now(), [(True, None)] * len(stations))
        self.orders[order["id"]] = (ticket, [(line["id"], station) for line, station in zip(order["combos"], stations)])

    def line(self, station):
        return self.wall.dish(station, self.chance.randrange(3), quantity=self.chance.randint(1, 3)) if station else "Fuera de carta"

    def free(self):
        """An order that only the till has changed and that is not cancelled."""
        found = [id_ for id_, (ticket, _) in self.orders.items() if id_ not in self.touched and ticket.status != "CANCELLED"]
        return self.chance.choice(found) if found else None

    def add(self):
        if id_ := self.free():
            ticket, lines = self.orders[id_]
            station = self.chance.choice([*STATIONS, None])
            order = self.wall.add({"id": id_}, self.line(station))
            ticket.add(self.now(), [(True, None)])
            lines.append((order["combos"][-1]["id"], station))

    def cancel_line(self):
        if id_ := self.free():
            ticket, lines = self.orders[id_]
            open_ = [i for i, line in enumerate(ticket.lines) if not line.cancelled]
            if open_:
                i = self.chance.choice(open_)
                answer = self.wall.api.delete(f"/v1/orders/{id_}/combos/{lines[i][0]}")
                assert answer.status == 200, answer.body
                ticket.cancel_line(i)

    def cancel(self):
        if id_ := self.free():
            self.wall.cancel({"id": id_})
            self.orders[id_][0].cancel(self.now())

    # The cooks

    def touch(self):
        """A line that a display shows."""
        name = self.chance.choice(list(SCREENS))
        found = [(card["order"], line) for card in shown(self.screens[name]) for line, look in card["lines"]
                 if look == "waits" and card["order"] in self.orders]
        if not found:
            return
        order, line = self.chance.choice(found)
        ticket, lines = self.orders[order]
        i = [each for each, _ in lines].index(line)
        if ticket.lines[i].cancelled or ticket.status == "CANCELLED" or ticket.lines[i].marked_at:
            return  # the screen is behind, and the box would take it as seen
        self.touched.add(order)
        self.screens[name].run(f"document.querySelector('[data-line=\"{line}\"]').click()")
        ticket.done(self.now(), [i])

    # What goes wrong

    def go_away(self):
        screen = self.chance.choice(list(self.screens.values()))
        screen("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=-1, uploadThroughput=-1)
        self.back.append((time.monotonic() + self.chance.choice(AWAY_S), screen))

    def come_back(self, all_=False):
        for when, screen in self.back:
            if all_ or time.monotonic() > when:
                screen("Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1)
        self.back = [] if all_ else [each for each in self.back if time.monotonic() <= each[0]]

    def kill(self):
        self.wall.box.kill()
        self.wall.box.start()

    def reload(self):
        screen = self.chance.choice(list(self.screens.values()))
        if screen not in [each for _, each in self.back]:
            screen("Page.reload")
            screen.until("document.querySelector('.dot:not(.waits)') !== null")

    # What should be so

    def expected(self, stations):
        """{order: {line: look}} of a display."""
        cards = {}
        for id_, (ticket, lines) in self.orders.items():
            looks = {}
            for line, (line_id, station) in zip(ticket.lines, lines):
                if station is not None and station not in stations:
                    continue
                if line.marked_at is not None:
                    continue
                if line.cancelled or ticket.status == "CANCELLED":
                    looks[line_id] = "cancelled"
                elif ticket.waits(line, self.now()):
                    looks[line_id] = "waits"
            if looks and ticket.state(self.now()) in ("open", "ready", "cancelled"):
                cards[id_] = looks
        return cards

    def settle(self):
        for name, stations in SCREENS.items():
            def agree(name=name, stations=stations):
                return {card["order"]: dict(card["lines"]) for card in shown(self.screens[name])} == self.expected(stations)

            wait_until(agree, lambda name=name, stations=stations: (name, self.difference(name, stations)))
        states = {row["order_id"]: row["state"] for row in self.wall.tickets()}
        assert states == {id_: ticket.state(self.now()) for id_, (ticket, _) in self.orders.items()
                          if ticket.state(self.now()) in ("open", "cancelled")}

    def difference(self, name, stations):
        glass = {card["order"]: dict(card["lines"]) for card in shown(self.screens[name])}
        model = self.expected(stations)
        return {id_: (glass.get(id_), model.get(id_)) for id_ in {*glass, *model} if glass.get(id_) != model.get(id_)}


@pytest.fixture
def evening(demo, browser_of, request, seed):
    box = Box()
    box.bring_in()
    box.start()
    with browser_of([box.cafile]) as browser:
        made = Evening(Wall(box, demo, browser), random.Random(f"{seed} {request.node.name}"))
        yield made
        assert [page.errors for page in made.screens.values()] == [[], [], []]
    assert box.discard() == 0


@pytest.mark.parametrize("number", range(SEEDS))
@pytest.mark.timeout(600)
def test_every_glass_shows_what_the_box_and_the_model_say(evening, number, tmp_path):
    chance = evening.chance
    moves = [evening.place] * 5 + [evening.touch] * 6 + [evening.add] * 3 + [evening.cancel_line, evening.cancel, evening.reload]
    for step in range(STEPS):
        evening.come_back()
        chance.choice(moves)()
        if step % 25 == 20:
            evening.go_away()
        if step % 35 == 30:
            evening.kill()
    evening.come_back(all_=True)
    evening.settle()

    # A restore takes back what came after the backup, and its numbers are given again.
    backup = tmp_path / "backup"
    wait_until(lambda: all(page.run(MARKS) == [] for page in evening.screens.values()), "marks are sent")
    box = evening.wall.box
    box.command("backup", str(backup), "--data", str(box.data))
    before = copy.deepcopy(evening.orders)
    for _ in range(4):
        evening.place()
    evening.settle()
    box.stop()
    box.command("restore", str(backup), "--data", str(box.data), "--yes")
    box.start()
    evening.orders = before
    evening.settle()
    evening.place()
    evening.settle()
    for page in evening.screens.values():
        page("Page.reload")
    evening.settle()
    # What was heard before a reload is not heard again.
    assert [page.run("window.tones.length") for page in evening.screens.values()] == [0, 0, 0]
    assert not any(re.search("no acept", page.text("header")) for page in evening.screens.values())
