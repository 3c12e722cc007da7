"""The programs to start from, in clients/: a kitchen display, a till and an Android till. What src/web/README.md promises of them
while the line is cut, the box is killed, and they themselves are."""

import collections
import contextlib
import datetime
import functools
import http.client
import http.server
import json
import os
import pathlib
import random
import re
import sqlite3
import subprocess
import textwrap
import threading
import time
import uuid
import xml.etree.ElementTree
import zoneinfo

import pytest

from support import documents
from support.box import PATIENCE_S, serving_the_demo
from support.chromium import Chromium
from support.cutting_proxy import CuttingProxy
from support.driven_page import DrivenPage
from support.openapi import DOCUMENT
from support.waiting import wait_until

SEED = int(os.environ.get("COMANDA_SEED", "19"))
LINES_MAX = 200
SALE_EVERY_S = 0.05
# What becomes of a third of the requests (support/cutting_proxy.py); bursts of 401 and 429 would only make the tills wait.
FATES = {"drop_before": 4, "drop_after": 6, "cut_head": 1, "cut_body": 3, "twice": 2, "repeat": 2, "drip": 1}


box = pytest.fixture(serving_the_demo)


@pytest.fixture
def api(box):
    with contextlib.closing(box.client(box.make_key()["key"])) as client:
        yield client


def every_order(api):
    return api.all("/v1/orders")


@pytest.mark.parametrize("file", ["kitchen_display/index.html", "till/till.py", "android_till/src/OfflineTill.kt"])
def test_a_program_to_start_from_is_short_and_of_its_own(tools, file):
    text = (tools.clients / file).read_text()
    assert len(text.splitlines()) < LINES_MAX
    assert "import comanda" not in text and "<script src" not in text


# Tills


class Till:
    """A till's program, whose process may be killed."""

    def __init__(self, command, environment):
        self.command, self.environment = [str(word) for word in command], {**os.environ, **environment}

    def __call__(self, *words):
        result = subprocess.run([*self.command, *words], env=self.environment, capture_output=True, text=True,
                                timeout=PATIENCE_S * 8)
        assert result.returncode == 0, result.stderr[-3000:]
        return json.loads(result.stdout)

    def kill_while_sending(self, after_s):
        process = subprocess.Popen([*self.command, "send"], env=self.environment, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        time.sleep(after_s)
        process.kill()
        process.wait(PATIENCE_S)


@pytest.fixture
def line(box, tmp_path):
    """Also asserts that a request that is repeated is the same to the byte."""
    with CuttingProxy(box, tmp_path, SEED, rate=0.33, fates=FATES) as line:
        yield line
        line.require_steady_keys()
        assert set(line.fates_met()) == {"pass", *FATES}


@pytest.fixture
def steady_line(box, tmp_path):
    with CuttingProxy(box, tmp_path, rate=0) as line:
        yield line


@pytest.fixture
def python_till(box, api, tools, tmp_path):
    return Till(["/usr/bin/python3", tools.clients / "till/till.py"], {
        "COMANDA_URL": f"https://127.0.0.1:{box.port}", "COMANDA_KEY": api.key, "COMANDA_CA": str(box.cafile),
        "TILL_FILE": str(tmp_path / "till.db")})


def sold_for(order):
    """Paid, handed over, and each line is one of the menu."""
    return (order["total"] == order["total_paid"] > 0 and order["paid"] and len(order["payments"]) == 1
            and order["status"] == "FINALIZED" and all(combo["variant_id"] for combo in order["combos"]))


def test_the_till_in_python_sells_200_orders_through_a_line_that_cuts(box, api, line, python_till):
    python_till.environment.update(COMANDA_URL=line.url, COMANDA_CA=str(line.cafile))
    python_till("menu")
    assert python_till("sell", "120") == {"sold": 120, "sent": 0, "parked": 0}
    for after_s in (0.3, 0.6, 0.9):
        python_till.kill_while_sending(after_s)
    python_till("sell", "80")
    assert python_till("send") == {"sold": 200, "sent": 200, "parked": 0}

    orders = every_order(api)
    assert len(orders) == len({order["reference"] for order in orders}) == 200
    assert sorted(int(order["order_title"].split()[1]) for order in orders) == list(range(1, 201))
    assert all(sold_for(order) and 1 <= len(order["combos"]) <= 3 for order in orders)


def test_the_till_in_python_parks_what_is_refused_and_waits_for_a_key(box, api, python_till):
    python_till("menu")
    python_till.environment["COMANDA_KEY"] = box.make_key(scopes="orders:read")["key"]
    python_till("sell", "2")
    python_till.kill_while_sending(0.5)
    assert python_till("state") == {"sold": 2, "sent": 0, "parked": 0}

    python_till.environment["COMANDA_KEY"] = api.key
    with contextlib.closing(sqlite3.connect(python_till.environment["TILL_FILE"])) as till, till:
        till.execute("UPDATE request SET body = '{\"service_type\": \"TAKE\"}' WHERE sale = 1 AND path = '/v1/orders'")
    assert python_till("send") == {"sold": 2, "sent": 1, "parked": 1}
    assert len(every_order(api)) == 1


def holds_up_no_other(api, line, till, fate):
    """One request that always meets that fate: the sales behind it are sent, and it is named; it goes through in the end."""
    till("menu")
    till("sell", "4")
    keys = []  # of the writes, in the order in which they came first

    def at(point, exchange):
        if point == "before" and exchange.key:
            keys.append(exchange.key)
            if exchange.key == keys[0]:
                exchange.fate = fate

    line.at = at
    with subprocess.Popen([*till.command, "send"], env=till.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as sending:
        wait_until(lambda: sum(order["status"] == "FINALIZED" for order in every_order(api)) == 3,
                   lambda: [order["status"] for order in every_order(api)])
        line.at = lambda point, exchange: None
        out, named = sending.communicate(timeout=PATIENCE_S * 8)
    assert json.loads(out) == {"sold": 4, "sent": 4, "parked": 0}
    assert "sale " in named
    assert len(every_order(api)) == 4 and all(map(sold_for, every_order(api)))


@pytest.mark.parametrize("fate", ["drop_before", "drop_after", "cut_head", "cut_body", "reset", "hang"])
def test_a_sale_of_the_till_in_python_that_gets_no_answer_holds_up_no_other(api, steady_line, python_till, fate):
    python_till.environment.update(COMANDA_URL=steady_line.url, COMANDA_CA=str(steady_line.cafile))
    holds_up_no_other(api, steady_line, python_till, fate)


@pytest.mark.parametrize("fate", ["cut_body", "hang"])
def test_a_sale_of_the_android_till_that_gets_no_answer_holds_up_no_other(api, steady_line, android_till_at, fate):
    holds_up_no_other(api, steady_line, android_till_at(steady_line.url, steady_line.cafile), fate)


def test_the_till_in_python_dates_what_it_sold_offline(box, api, python_till):
    python_till("menu")
    python_till("sell", "2")
    ago = [datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=days) for days in (2, 50)]
    sold = [at.isoformat(timespec="milliseconds") for at in ago]
    with contextlib.closing(sqlite3.connect(python_till.environment["TILL_FILE"])) as till, till:
        till.executemany("UPDATE request SET entered_at = ? WHERE sale = ?", zip(sold, (1, 2)))
    python_till.environment["COMANDA_KEY"] = box.make_key(scopes="all,orders:sync")["key"]
    assert python_till("send") == {"sold": 2, "sent": 2, "parked": 0}
    by_title = {order["order_title"]: order for order in every_order(api)}
    dated, too_old = by_title["Sale 1"], by_title["Sale 2"]
    assert dated["created_at"] == dated["payments"][0]["created_at"] == sold[0].replace("+00:00", "Z")
    assert too_old["created_at"] > sold[0], "what is too old to be dated is dated by its arrival"


@pytest.fixture
def android_till_at(api, tools, tmp_path):
    """make(address, authority): the till, compiled."""
    def make(url, cafile):
        folder = tmp_path / "android_till"
        subprocess.run(["cp", "-r", tools.clients / "android_till", folder], check=True)
        tools.cafile = cafile
        classes = f"{folder / 'target/classes'}:{tools.maven(folder)}"
        return Till([*tools.java_with_trust(folder), "-cp", classes, "OfflineTillKt", folder / "queue"],
                    {"COMANDA_URL": url, "COMANDA_KEY": api.key})
    return make


@pytest.fixture
def android_till(line, android_till_at):
    return android_till_at(line.url, line.cafile)


def test_the_android_till_sells_without_a_network_and_sends_all_of_it_once(box, api, line, android_till):
    android_till("menu")
    box.stop()
    assert android_till("sell", "30") == {"sold": 30, "sent": 0, "parked": 0}
    android_till.kill_while_sending(1)
    # The power went while a line was written.
    with open(android_till.command[-1], "ab") as queue:
        queue.write(b'{"sale": "cut o')
    assert android_till("sell", "10") == {"sold": 40, "sent": 0, "parked": 0}
    box.start()
    for after_s in (1, 1.5):
        android_till.kill_while_sending(after_s)
    assert android_till("send") == {"sold": 40, "sent": 40, "parked": 0}, [
        row for row in pathlib.Path(android_till.command[-1]).read_text().splitlines() if '"parked"' in row]

    orders = every_order(api)
    assert len(orders) == len({order["order_title"] for order in orders}) == 40
    assert all(sold_for(order) and order["total"] == 83 and len(order["combos"]) == 2 for order in orders)


def test_the_android_till_dates_what_it_sold_offline(box, api, android_till_at):
    android_till = android_till_at(f"https://127.0.0.1:{box.port}", box.cafile)
    android_till("menu")
    android_till("sell", "3")
    queue = pathlib.Path(android_till.command[-1])
    sold = (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=2)).isoformat(timespec="milliseconds")
    at = sold.replace("+00:00", "456Z")  # Java writes microseconds
    steps = [{**json.loads(step), "at": at} for step in queue.read_text().splitlines()]
    queue.write_text("".join(json.dumps(step) + "\n" for step in steps))
    android_till.environment["COMANDA_KEY"] = box.make_key(scopes="all,orders:sync")["key"]
    assert android_till("send") == {"sold": 3, "sent": 3, "parked": 0}
    for order in every_order(api):
        assert order["created_at"] == order["payments"][0]["created_at"] == sold.replace("+00:00", "Z")


# The kitchen display


@pytest.fixture
def display_server(tools):
    """The origin that serves the display."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(tools.clients / "kitchen_display"))
    handler.log_message = lambda *_: None
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def display(box, display_server, tmp_path):
    """A browser with the display, which has been told where the box is."""
    box.stop()
    box.options += ["--cors-origins", display_server]
    box.start()
    with DrivenPage(Chromium(tmp_path, [box.cafile])) as page:
        page.open(display_server)
        page.type("[name=url]", f"https://127.0.0.1:{box.port}/")
        page.type("[name=key]", box.make_key(scopes="kitchen:read,kitchen:write")["key"])
        page.click("#setup button")
        yield page


def waiting(page):
    """The lines that are to be made."""
    return page.run("[...document.querySelectorAll('#tickets button.waits')].map((line) => line.id)")


def tickets(page):
    """{order: the classes of its ticket}"""
    return page.run("Object.fromEntries([...document.querySelectorAll('#tickets li')].map((ticket) => [ticket.id, ticket.className]))")


def sell_until(stop, box, key, sold, chosen):
    """Sells to the kitchen through everything that happens to the box: {item: order}. At a pace at which a display can draw
    all tickets again and again: nobody finishes them."""
    with contextlib.closing(box.client(key)) as till:
        while not stop.wait(SALE_EVERY_S):
            calls = [("/v1/orders", {"service_type": "ONSITE"}), ("/v1/orders/{}/combos", {"combos": [
                {"product_name": f"Dish {i}", "quantity": 1, "variant_price": 5} for i in range(chosen.randint(1, 3))]})]
            order = ""
            for path, body in calls:
                order = send_until_done(till, path.format(order["id"] if order else ""), body)
            sold.update({combo["id"]: order["id"] for combo in order["combos"]})


def send_until_done(till, path, body):
    reference = str(uuid.uuid4())
    while True:
        with contextlib.suppress(OSError, http.client.HTTPException):
            answer = till.post(path, body, {"Idempotency-Key": reference})
            if answer.status in (200, 201):
                return answer.data
        till.close()
        time.sleep(0.05)


def test_the_display_shows_each_ticket_once_through_kills_and_reloads(box, api, display, display_server):
    chosen, sold, stop, finished = random.Random(SEED), {}, threading.Event(), set()
    till = threading.Thread(target=sell_until, args=(stop, box, api.key, sold, chosen))
    till.start()
    try:
        for event in ("reload", "kill", "finish", "reload", "kill", "finish", "kill", "reload"):
            time.sleep(chosen.uniform(0.3, 1))
            if event == "kill":
                box.kill()
                time.sleep(0.3)
                box.start()
            elif event == "reload":
                display.open(display_server + "/?" + event)
            else:
                display.until("document.querySelectorAll('#tickets button.waits').length > 3")
                for line in waiting(display)[:3]:
                    display.run(f"document.getElementById('{line}').click()")
                    finished.add(line)
            shown = waiting(display)
            assert len(shown) == len(set(shown)) and not finished & set(shown)
        wait_until(lambda: len(sold) > 30, lambda: len(sold))
    finally:
        stop.set()
        till.join(PATIENCE_S)
    assert finished

    def reached():
        done = {order["id"] for order in every_order(api) if order["status"] == "READY"}
        whole = {order for order in sold.values() if all(item in finished for item, of in sold.items() if of == order)}
        return done == whole and sorted(waiting(display)) == sorted(set(sold) - finished)

    wait_until(reached, lambda: (len(sold), len(waiting(display)), display.text("#state")))
    assert set(tickets(display)) == set(sold.values())
    display.open(display_server + "/?again")
    wait_until(reached, lambda: (len(sold), len(waiting(display)), display.text("#state")))


def test_the_display_shows_what_a_cook_must_know_of_a_dish_and_forgets_one_that_is_cancelled(box, api, display):
    order = api.add(api.place(comment="Alergia: maní"), {
        "product_name": "Causa", "variant_name": "Familiar", "quantity": 2, "variant_price": 30, "comment": "sin palta",
        "modifiers": [{"name": "Papa amarilla", "quantity": 2, "price": 0}]}, {"product_name": "Jalea", "quantity": 1, "variant_price": 30})
    wait_until(lambda: len(waiting(display)) == 2, lambda: waiting(display))
    causa, jalea = order["combos"]
    assert display.text(f"[id='{order['id']}']").split("\n") == [
        f"#{order['order_number']}", "Alergia: maní", "2 × Causa", "Familiar", "2 × Papa amarilla", "sin palta", "1 × Jalea", "All done"]
    display.click(f"[id='{causa['id']}']")
    wait_until(lambda: every_order(api)[0]["status"] == "PREPARING", lambda: every_order(api))
    assert api.delete(f"/v1/orders/{order['id']}/combos/{jalea['id']}").status == 200
    # Nothing is left to do, so the ticket is ready, and leaves.
    wait_until(lambda: tickets(display) == {order["id"]: "ready"}, lambda: tickets(display))
    display.click("#tickets .all")
    wait_until(lambda: every_order(api)[0]["status"] == "READY" and tickets(display) == {}, lambda: tickets(display))
    # Reported by another: what it has by then is done, what comes afterwards is not.
    other = api.add(api.place(), {"product_name": "Causa", "quantity": 1, "variant_price": 30})
    wait_until(lambda: waiting(display) == [other["combos"][0]["id"]], lambda: waiting(display))
    api.advance(other, "DELIVERED")
    wait_until(lambda: tickets(display) == {}, lambda: tickets(display))
    dessert = api.add(other, {"product_name": "Picarones", "quantity": 1, "variant_price": 18})["combos"][1]["id"]
    wait_until(lambda: waiting(display) == [dessert], lambda: waiting(display))


def test_the_display_takes_marks_back_and_shows_what_is_rushed_cancelled_or_for_later(box, api, display):
    dish = {"product_name": "Causa", "quantity": 1, "variant_price": 30}
    order = api.add(api.place(), dish, dish)
    first, second = (line["id"] for line in order["combos"])
    wait_until(lambda: waiting(display) == [first, second], lambda: waiting(display))
    display.click("#tickets .all")
    wait_until(lambda: tickets(display) == {order["id"]: "ready"}, lambda: tickets(display))
    display.click(f"[id='{first}']")
    wait_until(lambda: tickets(display) == {order["id"]: "open"} and waiting(display) == [first], lambda: tickets(display))
    soon = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=3)).isoformat()
    later, rushed = api.add(api.place(scheduled_delivery_date=soon), dish), api.add(api.place(), dish)
    assert api.post(f"/v1/kitchen/tickets/{rushed['id']}/rush", {"on": True}).status == 200
    wait_until(lambda: list(tickets(display).items()) == [
        (rushed["id"], "open rush"), (order["id"], "open"), (later["id"], "later")], lambda: tickets(display))
    assert api.post(f"/v1/orders/{order['id']}/cancel", {"reason": "se fueron"}).status == 200
    wait_until(lambda: tickets(display)[order["id"]] == "cancelled", lambda: tickets(display))
    assert "CANCELLED: se fueron - seen" in display.text(f"[id='{order['id']}']")
    display.click(f"[id='{order['id']}'] .all")
    wait_until(lambda: list(tickets(display)) == [rushed["id"], later["id"]], lambda: tickets(display))


def test_the_display_tells_that_nobody_watches_a_station(box, api, display):
    """Another one, which has watched, goes."""
    stations = {row["name"]: row["id"] for row in api.get("/v1/kitchen/stations").data}
    display.open(display.run("location.origin") + "/?stations=" + stations["Barra"])
    with contextlib.closing(box.client(api.key)) as other:
        after = other.get("/v1/kitchen/tickets").headers["x-event-cursor"]
        assert other.get(f"/v1/kitchen/changes?after={after}&display=other&stations={stations['Cocina fría']}").status == 200
    dish = next(product for category in api.get("/v1/menu").data["categories"] for product in category["products"]
                if product["kitchen_id"] == stations["Cocina fría"])
    api.add(api.place(), {"product_id": dish["id"], "quantity": 1, "variant_price": 30})
    wait_until(lambda: "Cocina fría: station unwatched since" in display.text("#alerts"), lambda: display.text("#alerts"), PATIENCE_S * 3)
    assert tickets(display) == {}, "the ticket of another station"


def test_the_display_reads_everything_again_after_a_restore(box, api, display, tmp_path):
    order = api.add(api.place(), {"product_name": "Dish", "quantity": 1, "variant_price": 5})
    wait_until(lambda: waiting(display) == [order["combos"][0]["id"]], lambda: waiting(display))
    backup = tmp_path / "backup"
    box.command("backup", str(backup), "--data", str(box.data))
    lost = api.add(api.place(), {"product_name": "Lost", "quantity": 1, "variant_price": 5})
    wait_until(lambda: lost["combos"][0]["id"] in waiting(display), lambda: waiting(display))
    display.click(f"[id='{order['combos'][0]['id']}']")
    wait_until(lambda: tickets(display)[order["id"]] == "ready", lambda: tickets(display))
    box.stop()
    box.command("restore", str(backup), "--data", str(box.data), "--yes")
    box.start()
    # The mark is of after the backup.
    wait_until(lambda: tickets(display) == {order["id"]: "open"} and waiting(display) == [order["combos"][0]["id"]],
               lambda: (tickets(display), display.text("#state")))


# An evening, as the cook sees it, and its books on the next day

TILL_SCOPES = "orders:read,orders:write,orders:sync,menu:read"


def enter_earlier(till, **by):
    """Moves what the till has not sent yet, as if it had been entered earlier."""
    def earlier(at):
        return (datetime.datetime.fromisoformat(at.replace("Z", "+00:00")) - datetime.timedelta(**by)).isoformat()
    if "TILL_FILE" in till.environment:
        with contextlib.closing(sqlite3.connect(till.environment["TILL_FILE"])) as db, db:
            for row, at in db.execute("SELECT id, entered_at FROM request WHERE is_done = 0").fetchall():
                db.execute("UPDATE request SET entered_at = ? WHERE id = ?", (earlier(at), row))
        return
    queue = pathlib.Path(till.command[-1])
    lines = [json.loads(line) for line in queue.read_text().splitlines()]
    done = collections.Counter(line["done"] for line in lines if "done" in line)
    for line in lines:
        if "step" in line and (done.subtract([line["step"]]) or done[line["step"]] < 0):
            line["at"] = earlier(line["at"]).replace("+00:00", "Z")
    queue.write_text("".join(json.dumps(line) + "\n" for line in lines))


def shown(page):
    """What the cook reads of what is to be made, a text for each line, with what is on its ticket."""
    return page.run("""[...document.querySelectorAll('#tickets button.waits')].map((line) => [line.innerText,
      ...[...line.parentNode.childNodes].filter((node) => node.tagName !== 'BUTTON').map((node) => node.textContent)].join('\\n'))""")


def sees(page, *wanted):
    """Waits until the cook sees one line to be made with these words, or none."""
    wait_until(lambda: len(shown(page)) == bool(wanted) and all(word in shown(page)[0] for word in wanted),
               lambda: (shown(page), page.text("#state")))


def stock_of(api, sku):
    (stock,) = [variant["stock"] for category in api.get("/v1/menu").data["categories"] for product in category["products"]
                for variant in product["variants"] if variant["sku"] == sku]
    return stock


def local_day(order):
    at = datetime.datetime.fromisoformat(order["created_at"].replace("Z", "+00:00"))
    return at.astimezone(zoneinfo.ZoneInfo(order["timezone"])).date()


def books(api, first, last):
    """What was paid by each method, and how many of each dish of the menu were sold."""
    days = f"filter[start_date]={first}&filter[end_date]={last}"
    paid = api.get(f"/v1/orders/by-payment-methods?{days}").data
    sold = api.get(f"/v1/orders/products-sold?{days}").data
    return ({row["code"]: row["sum_total"] for row in paid},
            {row["product_name"]: row["product_quantity"] for row in sold if row["product_id"] and row["product_quantity"]})


@pytest.fixture(params=["python", "android"])
def till(request, box, tools):
    made = (request.getfixturevalue("python_till") if request.param == "python"
            else request.getfixturevalue("android_till_at")(f"https://127.0.0.1:{box.port}", box.cafile))
    made.environment["COMANDA_KEY"] = box.make_key(scopes=TILL_SCOPES)["key"]
    made("menu")
    return made


def dine(api, till, display):
    """A table that orders three times, cancels a dish and splits the bill."""
    sale = str(till("open", "Alergia: maní"))
    till("add", sale, "2", "CEV-CLA-P", "sin ají")
    till("send")
    sees(display, "2 × Ceviche clásico", "Personal", "sin ají", "Alergia: maní", "#1")
    display.click("#tickets .waits")
    wait_until(lambda: every_order(api)[0]["status"] == "READY", lambda: every_order(api))
    till("add", sale, "1", "Tiradito nikkei")
    till("send")
    sees(display, "1 × Tiradito nikkei")
    till("cancel", sale, "2")
    till("send")
    sees(display)
    till("add", sale, "1", "POS-SUS")
    till("send")
    sees(display, "1 × Suspiro a la limeña")
    display.click("#tickets .waits")
    sees(display)
    till("pay", sale, "cash", "50")
    till("pay", sale, "yape", "41", "5")
    till("close", sale)
    assert till("send")["parked"] == 0


def sell_one(till, sku, method="cash", amount="5"):
    sale = str(till("open"))
    till("add", sale, "1", sku)
    till("pay", sale, method, amount)
    till("close", sale)


def test_an_evening_is_right_for_the_cook_and_in_the_books(box, api, till, display):
    water = stock_of(api, "BEB-AGU-S")
    dine(api, till, display)
    # One that the box refuses holds up no other.
    sell_one(till, "BEB-AGU-S", method="vale")
    sell_one(till, "BEB-AGU-S")
    assert till("send") == {"sold": 3, "sent": 2, "parked": 1}
    # A night without the box, and a till whose clock was months behind.
    box.stop()
    sell_one(till, "BEB-AGU-S")
    enter_earlier(till, days=1)
    box.start()
    till("send")
    box.stop()
    sell_one(till, "BEB-AGU-S")
    enter_earlier(till, days=90)
    box.start()
    assert till("send") == {"sold": 5, "sent": 4, "parked": 1}

    # The one that is parked, and those that were paid first; what was sold a night ago was made long ago.
    wait_until(lambda: len(shown(display)) == 3 and all("1 × Agua mineral" in line and "Sin gas" in line for line in shown(display)),
               lambda: shown(display))
    orders = every_order(api)
    assert sorted(order["status"] for order in orders) == ["FINALIZED"] * 4 + ["PENDING"]
    days = sorted(local_day(order) for order in orders)
    assert days[1] == days[0] + datetime.timedelta(days=1)
    assert books(api, days[0], days[0]) == ({"cash": 5}, {"Agua mineral": 1})
    assert books(api, days[1], days[-1]) == (
        {"cash": 60, "yape": 41}, {"Ceviche clásico": 2, "Suspiro a la limeña": 1, "Agua mineral": 3})
    assert stock_of(api, "BEB-AGU-S") == water - 4


# src/web/README.md

def test_the_readme_says_how_an_android_app_trusts_the_box():
    """The XML of Android's documentation of network security configuration: elements, attributes and values that it knows."""
    (shown,) = re.findall(r"(?m)^    <\?xml .*\n(?:    .*\n)+", documents.INTEGRATOR.read_text())
    config = xml.etree.ElementTree.fromstring(textwrap.dedent(shown).encode())
    (base,) = config
    (anchors,) = base
    assert (config.tag, base.tag, base.attrib) == ("network-security-config", "base-config", {"cleartextTrafficPermitted": "false"})
    assert anchors.tag == "trust-anchors" and {each.tag for each in anchors} == {"certificates"}
    assert [each.attrib for each in anchors] == [{"src": "system"}, {"src": "user"}]
    in_document = re.search(r"<network-security-config>.*?</network-security-config>", DOCUMENT["info"]["description"])[0]
    assert [each.attrib for each in xml.etree.ElementTree.fromstring(in_document)[0][0]] == [each.attrib for each in anchors]
