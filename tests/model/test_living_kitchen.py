"""The demo restaurant lives (`comanda demo play`) with three kitchen displays in Chromium, those to start from
(tests/openapi/clients), and a cook at each. The server is killed and a display reloaded meanwhile. In the end each has on its glass
what the list of tickets says, and that is what the model (support/kitchen_model.py) makes of the event log.

COMANDA_SEED=N repeats what is sold and clicked."""

import contextlib
import datetime
import functools
import http.server
import os
import random
import signal
import subprocess
import threading
import time

import pytest

from support.box import LONG, PATIENCE_S, ROOT, RUNNER, Box
from support.chromium import Chromium
from support.driven_page import DrivenPage
from support.kitchen_model import Ticket
from support.waiting import wait_until

SEED = int(os.environ.get("COMANDA_SEED", "41"))
PLAYED_S, SPEED = (600, 30) if LONG else (16, 150)
PAGE = ROOT / "tests/openapi/clients/kitchen_display"
CLICK_EVERY_S = 0.4
# What a cook does, in a hundred, with what is first on the glass.
CLICKS = [(60, ".waits"), (15, "li:not(.later) .all"), (15, ".ready .all"), (5, ".done"), (5, ".cancelled .all")]


@pytest.fixture
def origin():
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(PAGE))
    handler.log_message = lambda *_: None
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Cook:
    """A display, and who works at it."""

    def __init__(self, stack, box, key, origin, home, stations):
        home.mkdir()
        self.stations, self.url = stations, f"{origin}/?stations={','.join(stations)}"
        self.page = stack.enter_context(DrivenPage(Chromium(home, [box.cafile])))
        self.page.open(self.url)
        self.page.type("[name=url]", f"https://127.0.0.1:{box.port}/")
        self.page.type("[name=key]", key)
        self.page.click("#setup button")

    def click(self, dice):
        (selector,) = dice.choices([each for _, each in CLICKS], [share for share, _ in CLICKS])
        self.page.run(f"document.querySelector('#tickets {selector}')?.click()")

    def glass(self):
        """{order: (state, revision, [(line, its classes)])}"""
        return self.page.run("""Object.fromEntries([...document.querySelectorAll('#tickets li')].map((ticket) => [ticket.id, [
            ticket.classList[0], Number(ticket.dataset.revision),
            [...ticket.querySelectorAll('button[id]')].map((line) => [line.id, line.className])]]))""")

    def wanted(self, rows):
        shown = {}
        for row in rows:
            lines = [line for line in row["lines"] if not self.stations or line["station_id"] in (None, *self.stations)]
            if lines:
                shown[row["order_id"]] = [row["state"], row["revision"], [[line["id"], look_of(line)] for line in lines]]
        return shown


def look_of(line):
    return "gone" if line["canceled_at"] else "done" if line["done_at"] else "waits" if line["waits"] else ""


class Replay:
    """One order, as the event log tells of it, beside the model."""

    def __init__(self, order, at):
        self.model, self.ids, self.version, self.writes = Ticket(at, millis(order["scheduled_delivery_date"])), [], 0, 0

    def order_event(self, order, at):
        self.version = order["version"]
        if fresh := [line["id"] for line in order["combos"] if line["id"] not in self.ids]:
            self.model.add(millis(order["combos"][-1]["created_at"]), [(True, None)] * len(fresh))
            self.ids += fresh
        for index, line in enumerate(order["combos"]):
            if line["canceled_at"]:
                self.model.cancel_line(index)
        if order["status"] == "CANCELLED":
            self.model.cancel(millis(order["canceled_at"]))
        elif order["status_history"][-1]["implied"]:  # READY, of a courier who is on the way
            self.model.status, self.model.moved_at = order["status"], at
        else:
            self.model.advance(at, order["status"])

    def ticket_event(self, ticket, changes, at):
        self.writes += 1
        if "lines" in changes and "lines" in ticket:
            is_done = [line["done_at"] is not None for line in ticket["lines"]]
            self.model.undo(at, [n for n, line in enumerate(self.model.lines) if line.marked_at is not None and not is_done[n]])
            self.model.done(at, [n for n, line in enumerate(self.model.lines) if is_done[n]])
        elif "lines" in changes:  # the last marks have closed it
            self.model.done(at, range(len(self.ids)))
        if "out" in changes and ticket.get("out_at", at) is not None:
            self.model.send_out(at)

    def says(self, now):
        return (self.model.state(now), self.version + self.writes,
                [(id, self.model.waits(line, now)) for id, line in zip(self.ids, self.model.lines)])


def millis(instant):
    return instant and round(datetime.datetime.fromisoformat(instant.replace("Z", "+00:00")).timestamp() * 1000)


def replayed(api, after):
    orders = {}
    while events := (page := api.get(f"/v1/events?per_page=100&after={after}").json)["data"]:
        for event in events:
            about, at = event["subject"]["id"], millis(event["timestamp"])
            if event["event_type"] == "TICKET_UPDATED":
                orders[about].ticket_event(event["data"], event["changes"], at)
            elif event["event_type"].startswith("ORDER_"):
                orders.setdefault(about, Replay(event["data"], at)).order_event(event["data"], at)
        after = page["next"]
    return orders


def same_as_the_model(api, began):
    rows, orders, now = api.all("/v1/kitchen/tickets"), replayed(api, began), round(time.time() * 1000)
    shown = {row["order_id"]: (row["state"], row["revision"], [(line["id"], line["waits"]) for line in row["lines"]]) for row in rows}
    wanted = {id: order.says(now) for id, order in orders.items() if order.ids and order.says(now)[0] != "closed"}
    differing = {id: (shown.get(id), wanted.get(id)) for id in shown | wanted if shown.get(id) != wanted.get(id)}
    assert differing == {}, (SEED, differing)
    return rows, orders


@contextlib.contextmanager
def play(box):
    words = ["demo", "play", "--data", str(box.data), "--days", "0", "--speed", str(SPEED), "--seed", str(SEED)]
    with open(box.data / "play.out", "wb") as out:
        process = subprocess.Popen([*RUNNER, str(box.binary), *words], stdout=out, stderr=subprocess.STDOUT)
    try:
        yield
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_S) == 0, (box.data / "play.out").read_text()
    finally:
        process.kill()
        process.wait(PATIENCE_S)


def test_what_three_displays_show_of_a_restaurant_that_lives_is_what_the_model_says(origin, tmp_path):
    dice = random.Random(SEED)
    box = Box(options=["--sandbox-listen", "", "--cors-origins", origin])
    box.bring_in("demo")
    box.start()
    with contextlib.ExitStack() as stack:
        stack.callback(box.discard)
        api = stack.enter_context(contextlib.closing(box.client(box.make_key()["key"])))
        key = box.make_key(scopes="kitchen:read,kitchen:write")["key"]
        cold, hot, bar = (row["id"] for row in sorted(api.get("/v1/kitchen/stations").data, key=lambda row: row["position"]))
        began = api.get("/v1/kitchen/tickets").headers["x-event-cursor"]
        cooks = [Cook(stack, box, key, origin, tmp_path / name, stations)
                 for name, stations in (("all", []), ("hot", [hot]), ("rest", [cold, bar]))]
        with play(box):
            end = time.monotonic() + PLAYED_S
            events = [lambda: (box.kill(), api.close(), box.start()), lambda: cooks[1].page.open(cooks[1].url)]
            while time.monotonic() < end:
                dice.choice(cooks).click(dice)
                time.sleep(CLICK_EVERY_S)
                if events and end - time.monotonic() < PLAYED_S * len(events) / 3:
                    events.pop(0)()
        for cook in cooks:
            cook.page.until("JSON.parse(localStorage.getItem('kitchen')).marks.length === 0")
        rows, orders = same_as_the_model(api, began)
        for cook in cooks:
            wait_until(lambda: cook.glass() == cook.wanted(rows), lambda: differences(cook.glass(), cook.wanted(rows)))
            assert list(cook.glass()) == sorted(cook.glass(), key=[row["order_id"] for row in sorted(
                rows, key=lambda row: (row["rush_at"] is None, row["opened_at"], row["order_number"]))].index)
            assert cook.page.errors == []
        marks = sum(order.writes for order in orders.values())
        print(f"{len(orders)} orders, {marks} writes of the kitchen, {len(rows)} tickets left, "
              f"{sum(row['state'] == 'later' for row in rows)} of them for later")
        assert len(orders) > 20 and marks > 10


def differences(one, two):
    return {id: (one.get(id), two.get(id)) for id in one | two if one.get(id) != two.get(id)}
