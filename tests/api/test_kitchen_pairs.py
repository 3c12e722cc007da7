"""The kitchen beside what else may happen to a box: a restored backup, two restaurants, a stop in between."""

import contextlib
import datetime
import json
import shutil
import threading
import time

import pytest

from support.box import ROOT, Box
from support.orders import accepted, item, new_key, read, refused
from support.routes import SOME_ID
from support.waiting import wait_until

TICKETS, CHANGES = "/v1/kitchen/tickets", "/v1/kitchen/changes"


@pytest.fixture
def box():
    box = Box(options=["--sandbox-listen", ""])
    box.bring_in("demo")
    box.start()
    yield box
    assert box.discard() == 0


def order_of(api):
    return api.add(api.place(), item(name="Ceviche"), item(name="Lomo"))


def mark(api, order, *lines, key=None):
    answer = api.post(f"{TICKETS}/{order['id']}/done", {"line_ids": [order["combos"][n]["id"] for n in lines]}, key)
    return accepted(answer)


def glass(api):
    """{order: ticket} of the newest hundred, as a display has it that lists now, and its cursor."""
    answer = api.get(TICKETS + "?per_page=100&sort=-opened_at&filter[state]=later,open,ready,cancelled,closed")
    return {row["order_id"]: row for row in accepted(answer)}, answer.headers["x-event-cursor"]


def dishes(api):
    return [p for c in accepted(api.get("/v1/menu"))["categories"] for p in c["products"] if p["available"]]


def sold_out(api, dish):
    return accepted(api.get(f"/v1/menu/products/{dish['id']}"))["sold_out"]


def ahead(seconds):
    at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def events_of(api, subject):
    found, after = [], None
    while True:
        answer = api.get("/v1/events?per_page=100" + (f"&after={after}" if after else ""))
        assert answer.status == 200, answer.body
        found += [row for row in answer.json["data"] if row["subject"]["id"] == subject["id"]]
        if not answer.json["data"]:
            return found
        after = answer.json["next"]


# A busy till

def test_a_list_and_its_cursor_are_of_one_moment(box):
    """A display that lists while tills sell, and follows from the list's cursor, misses no order and no mark."""
    key, is_over = box.make_key()["key"], threading.Event()

    def sell():
        with contextlib.closing(box.client(key)) as till:
            while not is_over.is_set():
                mark(till, order_of(till), 0)

    threads = [threading.Thread(target=sell) for _ in range(2)]
    with contextlib.closing(box.client(key)) as api:
        for _ in range(60):  # so that a list takes its time
            order_of(api)
        for thread in threads:
            thread.start()
        try:
            lists = [glass(api) for _ in range(60)]
        finally:
            is_over.set()
            for thread in threads:
                thread.join()
        now, _ = glass(api)
        for shown, cursor in lists:
            while True:
                page = api.get(f"{CHANGES}?after={cursor}&per_page=100").json
                shown |= {row["order_id"]: row for row in page["data"]}
                if page["next"] == cursor:
                    break
                cursor = page["next"]
            assert {id: shown.get(id) for id in now} == now


# A restored backup

@pytest.mark.box_only
def test_after_a_restore_displays_begin_again_with_the_marks_of_then(box, tmp_path):
    key = box.make_key(scopes="all,admin:read,admin:write")["key"]
    with contextlib.closing(box.client(key)) as api:
        before, later, gone = order_of(api), order_of(api), order_of(api)
        mark(api, before, 0)
        accepted(api.post(f"{TICKETS}/{later['id']}/rush", {"on": True}))
        kept, undone, ends = dishes(api)[:3]
        for dish, until in ((kept, None), (undone, None), (ends, ahead(3))):
            accepted(api.put(f"/v1/menu/products/{dish['id']}/sold-out", {"until": until}))
        end = time.time() + 3
        station = accepted(api.get("/v1/kitchen/stations"))[0]
        accepted(api.patch(f"/v1/kitchen/stations/{station['id']}", {"prepares": False}))
        accepted(api.patch("/v1/kitchen/settings", {"lead_minutes": 35}))
        then, cursor_of_then = glass(api)
        box.command("backup", str(tmp_path / "copy"), "--data", str(box.data))
        # What the restore takes back.
        mark(api, before, 1)
        mark(api, later, 0, 1)
        accepted(api.post(f"{TICKETS}/{gone['id']}/out"))
        accepted(api.delete(f"/v1/menu/products/{undone['id']}/sold-out"))
        accepted(api.patch(f"/v1/kitchen/stations/{station['id']}", {"prepares": True}))
        accepted(api.patch("/v1/kitchen/settings", {"lead_minutes": 5}))
        _, cursor_of_after = glass(api)
    assert box.stop() == 0
    box.command("restore", str(tmp_path / "copy"), "--data", str(box.data), "--yes")
    for former in box.data.parent.glob(box.data.name + ".before-restore-*"):
        shutil.rmtree(former)
    wait_until(lambda: time.time() > end, "an end comes while the box is off")
    box.start()
    with contextlib.closing(box.client(key)) as api:
        for former in (cursor_of_then, cursor_of_after):
            for more, headers in (("", {}), ("&display=a&sound=on", {"Prefer": "wait=8"})):
                answer = api.get(f"{CHANGES}?after={former}{more}", **headers)
                refused(answer, 410, "cursor_expired")
                assert api.get(f"{CHANGES}?after={answer.json['oldest_cursor']}").status == 200
        now, cursor = glass(api)
        assert now == then, "the tickets of the backup, with its marks"
        assert [line["done_at"] is not None for line in now[before["id"]]["lines"]] == [True, False]
        assert now[later["id"]]["rush_at"] and now[gone["id"]]["state"] == "open"
        assert accepted(api.get("/v1/kitchen/settings"))["lead_minutes"] == 35
        assert accepted(api.get("/v1/kitchen/stations"))[0]["prepares"] is False
        assert sold_out(api, kept) and sold_out(api, undone)
        wait_until(lambda: sold_out(api, ends) is None, lambda: sold_out(api, ends))
        # And it goes on: the list, then the changes.
        ticket = mark(api, before, 1)
        assert ticket["status"] == "READY"
        followed = api.get(f"{CHANGES}?after={cursor}").json
        assert followed["data"] == [ticket]
        assert [row["data"]["available"] for row in events_of(api, ends)] == [False, True], "ended once"
    assert box.stop() == 0
    box.start()
    with contextlib.closing(box.client(key)) as api:
        assert sold_out(api, ends) is None and len(events_of(api, ends)) == 2
        assert glass(api)[0][before["id"]] == ticket


@pytest.mark.box_only
def test_a_mark_of_before_a_restore_is_made_again_with_its_key(box, tmp_path):
    """The backup does not know the request: its retry is carried out, once."""
    key, once = box.make_key()["key"], new_key()
    with contextlib.closing(box.client(key)) as api:
        order = order_of(api)
        box.command("backup", str(tmp_path / "copy"), "--data", str(box.data))
        first = mark(api, order, 0, key=once)
    assert box.stop() == 0
    box.command("restore", str(tmp_path / "copy"), "--data", str(box.data), "--yes")
    for former in box.data.parent.glob(box.data.name + ".before-restore-*"):
        shutil.rmtree(former)
    box.start()
    with contextlib.closing(box.client(key)) as api:
        assert read(api, order)["status"] == "PENDING"
        again = mark(api, order, 0, key=once)
        assert (again["status"], again["revision"]) == (first["status"], first["revision"])
        assert mark(api, order, 0, key=once) == again


# A kill

def test_what_was_answered_is_there_after_a_kill(box):
    key, once = box.make_key()["key"], new_key()
    with contextlib.closing(box.client(key)) as api:
        order, dish = order_of(api), dishes(api)[0]
        marked = mark(api, order, 0, key=once)
        accepted(api.put(f"/v1/menu/products/{dish['id']}/sold-out", {"until": None}))
        cursor = glass(api)[1]
    box.kill()
    box.start()
    with contextlib.closing(box.client(key)) as api:
        assert glass(api)[0][order["id"]] == marked and sold_out(api, dish)
        assert mark(api, order, 0, key=once) == marked
        assert api.get(f"{CHANGES}?after={cursor}").json["data"] == [], "the cursor is still good, and nothing has happened"


# Two restaurants on one box

@pytest.fixture
def two(box):
    """(panel, cook, device-less client) of two restaurants."""
    file = json.loads((ROOT / "src/app/demo.json").read_text())
    company = {name: file["companies"][0][name] for name in ("name", "country_code", "currency", "timezone")}
    (box.data / "second.json").write_text(json.dumps({"companies": [company | {"id": SOME_ID, "name": "Dos", "stations": [
        {"name": "Horno"}]}]}))
    box.command("import", str(box.data / "second.json"), "--data", str(box.data))
    first = box.value("SELECT id FROM company WHERE id <> ?", SOME_ID)
    with contextlib.ExitStack() as stack:
        def client(company, role):
            uri = json.loads(box.command("pair", "--data", str(box.data), "--as", role, "--name", role, "--address",
                                         f"127.0.0.1:{box.port}", "--company", company, "--json", "--no-wait").stdout)["uri"]
            with contextlib.closing(box.client()) as nobody:
                key = accepted(nobody.post("/auth/pair", {"code": uri.partition("#c=")[2]}), 201)["key"]
            return stack.enter_context(contextlib.closing(box.client(key)))

        yield [{"company": company, "panel": client(company, "panel"), "cook": client(company, "kitchen")}
               for company in (first, SOME_ID)]


def ask(box):
    with contextlib.closing(box.client()) as nobody:
        return accepted(nobody.post("/auth/pair/requests", {"role": "kitchen", "name": "Tablet"}), 201)


def collect(box, asked):
    with contextlib.closing(box.client()) as nobody:
        return nobody.post("/auth/pair", {"request": asked["request"]})


def test_a_device_that_asks_comes_into_the_restaurant_whose_panel_types_its_number(box, two):
    for house, other in (two, two[::-1]):
        asked = ask(box)
        record = accepted(house["panel"].post("/box/devices/accept", {"number": asked["number"], "role": "kitchen", "name": "Nueva"}))
        answer = other["panel"].post("/box/devices/accept", {"number": asked["number"], "role": "kitchen", "name": "Otra"})
        refused(answer, 422, "validation_failed", {"number": "not_found"})
        key = accepted(collect(box, asked), 201)
        refused(collect(box, asked), 404, "not_found")
        assert key["id"] == record["id"]
        assert box.value("SELECT c.id FROM api_key k JOIN company c ON c.company_id = k.company_id WHERE k.id = ?",
                         key["id"]) == house["company"]
        listed = [{row["id"] for row in accepted(one["panel"].get("/box/devices?per_page=100"))} for one in (house, other)]
        assert key["id"] in listed[0] and key["id"] not in listed[1]
        with contextlib.closing(box.client(key["key"])) as tablet:
            assert accepted(tablet.get("/v1/kitchen/settings"))["restaurant"]["name"] == ("Dos" if house["company"] == SOME_ID else "La Caleta")
        refused(other["panel"].delete(f"/box/devices/{key['id']}"), 404, "not_found")


def test_a_code_of_a_panel_lets_a_device_into_its_restaurant(box, two):
    for house in two:
        uri = accepted(house["panel"].post("/box/devices/codes", {"role": "kitchen", "name": "Por código"}), 201)["uri"]
        with contextlib.closing(box.client()) as nobody:
            key = accepted(nobody.post("/auth/pair", {"code": uri.partition("#c=")[2]}), 201)
        assert box.value("SELECT c.id FROM api_key k JOIN company c ON c.company_id = k.company_id WHERE k.id = ?",
                         key["id"]) == house["company"]


def test_displays_and_stations_of_two_restaurants_are_each_its_own(box, two):
    first, second = two
    (oven,) = accepted(second["cook"].get("/v1/kitchen/stations"))
    assert second["cook"].get(f"{CHANGES}?display=uno&sound=muted").status == 200
    assert [d["display"] for d in accepted(second["cook"].get("/v1/kitchen/stations"))[0]["displays"]] == ["uno"]
    assert not any(row["displays"] for row in accepted(first["cook"].get("/v1/kitchen/stations")))
    for house, seen in ((first, []), (second, ["uno"])):
        assert [d["display"] for row in accepted(house["panel"].get("/box/devices")) for d in row["displays"]] == seen
    refused(first["panel"].patch(f"/v1/kitchen/stations/{oven['id']}", {"prepares": False}), 404, "not_found")
    assert accepted(first["panel"].post("/v1/kitchen/stations", {"name": "Horno"}), 201)["id"] != oven["id"]
    accepted(second["panel"].patch(f"/v1/kitchen/stations/{oven['id']}", {"prepares": False}))
    wait_until(lambda: [a["kind"] for a in second["cook"].get(CHANGES + "?display=uno&sound=muted").json["alerts"]] == ["display_muted"],
               "the second restaurant's display is muted")
    assert first["cook"].get(CHANGES + "?display=dos").json["alerts"] == []
