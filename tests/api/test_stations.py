"""Writing the kitchen's stations (contract section 20): what changes for tickets, for displays that wait, and for the lists."""

import contextlib
import json
import threading

import pytest

from support.box import ROOT, serving_the_demo
from support.orders import accepted, invalid, item, new_id, new_key, refused
from support.routes import SOME_ID
from support.waiting import wait_until

STATIONS, TICKETS, CHANGES = "/v1/kitchen/stations", "/v1/kitchen/tickets", "/v1/kitchen/changes"
ROW = ["id", "name", "prepares", "position", "open_lines", "oldest_line_at", "displays", "unwatched_since"]


box = pytest.fixture(scope="module")(serving_the_demo)


@pytest.fixture(scope="module")
def api(box):
    made = box.make_key(scopes="orders:read,orders:write,menu:read,kitchen:read,kitchen:write,admin:read,admin:write")
    with contextlib.closing(box.client(made["key"])) as client:
        yield client


def stations(api):
    return {row["name"]: row for row in accepted(api.get(STATIONS + "?per_page=100"))}


def names():
    """Stations of a test have names of their own."""
    return f"Estación {new_id()[:8]}"


def add(api, **fields):
    return accepted(api.post(STATIONS, {"name": names(), **fields}), 201)


def change(api, station, **fields):
    return accepted(api.patch(f"{STATIONS}/{station['id']}", fields))


def cursor(api):
    return api.get(TICKETS + "?per_page=1").headers["x-event-cursor"]


def changes(api, after):
    answer = api.get(f"{CHANGES}?after={after}")
    assert answer.status == 200, answer.body
    return answer.json["data"]


def product_of(api, station):
    return next(p for c in accepted(api.get("/v1/menu"))["categories"] for p in c["products"] if p["kitchen_id"] == station["id"])


def order_at(api, station, *more):
    """An order with a line of the station, and more lines."""
    product = product_of(api, station)
    return api.add(api.place(), {"product_id": product["id"], "variant_id": product["variants"][0]["id"], "quantity": 1,
                                 "variant_price": 5}, *more)


@contextlib.contextmanager
def waiting_poll(box, api):
    """A poll of a display that waits meanwhile; afterwards its answer is in the list."""
    name, answers = "w" + new_id()[:8], []
    after = cursor(api)
    with contextlib.closing(box.client(api.key)) as client:
        thread = threading.Thread(target=lambda: answers.append(client.get(
            f"{CHANGES}?after={after}&display={name}", Prefer="wait=8")))
        thread.start()
        wait_until(lambda: any(d["display"] == name for row in stations(api).values() for d in row["displays"]),
                   lambda: stations(api))
        yield answers
        thread.join()
    assert answers[0].status == 200, answers[0].body


# Adding

def test_a_station_is_added_behind_the_others(api):
    last = max(row["position"] for row in stations(api).values())
    name = names()
    answer = api.post(STATIONS, {"name": name})
    made = accepted(answer, 201)
    assert list(made) == ROW and answer.headers["x-page-version"]
    assert made == {"id": made["id"], "name": name, "prepares": True, "position": last + 1, "open_lines": 0,
                    "oldest_line_at": None, "displays": [], "unwatched_since": None}
    assert stations(api)[name] == made
    counter = add(api, prepares=False, position=0)
    assert (counter["prepares"], counter["position"]) == (False, 0)


def test_an_import_finds_it_by_its_name(box, api, tmp_path):
    made = add(api, position=7)
    file = json.loads((ROOT / "src/app/demo.json").read_text())
    company = {key: file["companies"][0][key] for key in ("id", "name", "country_code", "currency", "timezone")}
    company["stations"] = [{"name": made["name"].upper(), "prepares": False}]
    (tmp_path / "one.json").write_text(json.dumps({"companies": [company]}))
    box.bring_in(tmp_path / "one.json")
    assert stations(api)[made["name"].upper()] == made | {"name": made["name"].upper(), "prepares": False}
    assert made["name"] not in stations(api)


def test_a_former_name_makes_another_station(api):
    made = add(api)
    former = made["name"]
    change(api, made, name=names())
    again = accepted(api.post(STATIONS, {"name": former}), 201)
    assert again["id"] != made["id"] and len({row["id"] for row in stations(api).values()}) == len(stations(api))


def test_a_retry_adds_one_station(api):
    key, body = new_key(), {"name": names()}
    first, again = api.post(STATIONS, body, key), api.post(STATIONS, body, key)
    assert accepted(first, 201) and again.status == 201 and again.body == first.body
    assert again.headers["idempotency-replayed"] == "true"
    refused(api.post(STATIONS, {"name": names()}, key), 422, "idempotency_key_reused")
    invalid(api.post(STATIONS, body), name="duplicate")


def test_products_are_made_there(api):
    station = add(api)
    assert station["id"] in {row["id"] for row in stations(api).values()}
    poll = api.get(f"{CHANGES}?after={cursor(api)}&stations={station['id']}&display=there")
    assert poll.status == 200
    assert [d["display"] for d in stations(api)[station["name"]]["displays"]] == ["there"]


@pytest.mark.parametrize("body, fields", [
    ({}, {"name": "required"}), ({"name": None}, {"name": "required"}), ({"name": ""}, {"name": "empty"}),
    ({"name": 5}, {"name": "wrong_type"}), ({"name": "x" * 201}, {"name": "too_long"}),
    ({"name": "a\nb"}, {"name": "invalid_format"}), ({"name": "x", "prepares": "no"}, {"prepares": "wrong_type"}),
    ({"name": "x", "position": -1}, {"position": "must_not_be_negative"}),
    ({"name": "x", "position": 1.5}, {"position": "too_many_decimals"}),
    ({"name": "x", "position": 1_000_001}, {"position": "out_of_range"}),
    ({"name": "x", "id": SOME_ID}, {"id": "read_only"}),
    ({"name": "", "prepares": 1, "position": "2"}, {"name": "empty", "prepares": "wrong_type", "position": "wrong_type"})])
def test_a_bad_station_is_refused_with_every_field(api, body, fields):
    before = stations(api)
    answer = api.post(STATIONS, body)
    assert (answer.status, answer.fields) == (422, fields), answer.body
    assert stations(api) == before


def test_two_stations_have_two_names(api):
    made = add(api)
    for name in (made["name"], made["name"].lower(), made["name"].replace("ó", "o")):
        invalid(api.post(STATIONS, {"name": name}), says="another station", name="duplicate")
    other = add(api)
    invalid(api.patch(f"{STATIONS}/{other['id']}", {"name": made["name"].upper()}), name="duplicate")
    assert change(api, made, name=made["name"].upper())["name"] == made["name"].upper()


# Changing

def test_what_is_left_out_stays_and_what_was_read_is_sent_back(api):
    made = add(api, position=3)
    renamed = change(api, made, name=names())
    assert renamed == made | {"name": renamed["name"]}
    assert change(api, made, position=4, prepares=False) == renamed | {"position": 4, "prepares": False}
    before = stations(api)[renamed["name"]]
    tag = api.get(TICKETS).etag
    assert change(api, before, **before) == before
    assert api.get(TICKETS, **{"If-None-Match": tag}).status == 304, "nothing has changed"


@pytest.mark.parametrize("body, fields", [
    ({}, {"body": "empty"}), ({"nombre": "x"}, {"body": "empty"}), ({"name": None}, {"name": "required"}),
    ({"prepares": None}, {"prepares": "required"}), ({"position": None}, {"position": "required"}),
    ({"name": ""}, {"name": "empty"}), ({"id": SOME_ID, "name": "x"}, {"id": "read_only"}),
    ({"position": -5}, {"position": "must_not_be_negative"})])
def test_a_bad_change_is_refused(api, body, fields):
    made = add(api)
    answer = api.patch(f"{STATIONS}/{made['id']}", body)
    assert (answer.status, answer.fields) == (422, fields), answer.body
    assert stations(api)[made["name"]] == made


def test_who_may_not_and_what_is_not_there(box, api):
    made = add(api)
    with contextlib.closing(box.client(box.make_key(scopes="kitchen:read,kitchen:write,menu:write")["key"])) as cook:
        refused(cook.post(STATIONS, {"name": "x"}), 403, "insufficient_scope", says="admin:write")
        refused(cook.patch(f"{STATIONS}/{made['id']}", {"name": "x"}), 403, "insufficient_scope", says="admin:write")
    refused(api.patch(f"{STATIONS}/{SOME_ID}", {"name": "x"}), 404, "not_found")
    refused(api.patch(f"{STATIONS}/grill", {"name": "x"}), 422, "validation_failed", {"id": "invalid_format"})


# What it does to tickets

@pytest.fixture
def station(api):
    """One of the demo, with dishes; as it was afterwards."""
    row = stations(api)["Cocina fría"]
    yield row
    change(api, row, prepares=True)


def test_where_nothing_is_made_any_more_nothing_waits(api, station):
    order, alone = order_at(api, station, item()), order_at(api, station)
    after, tags = cursor(api), [api.get(TICKETS).etag, api.get("/v1/menu").etag]
    shown = change(api, station, prepares=False)
    assert (shown["prepares"], shown["open_lines"], shown["oldest_line_at"]) == (False, 0, None)
    (told,) = [row for row in changes(api, after) if row["order_id"] == order["id"]]
    assert (told["state"], told["status"], [line["waits"] for line in told["lines"]]) == ("open", "PENDING", [False, True])
    assert told["revision"] == order["version"] + 1
    assert [row for row in changes(api, after) if row["order_id"] == alone["id"]] == [
        {"order_id": alone["id"], "revision": alone["version"] + 1, "state": "closed", "status": "PENDING"}]
    (event,) = [row for row in accepted(api.get(f"/v1/events?after={after}")) if row["subject"]["id"] == order["id"]]
    assert (event["event_type"], event["changes"], event["data"]) == ("TICKET_UPDATED", ["lines"], told)
    for path, tag in zip([TICKETS, "/v1/menu"], tags):
        assert api.get(path, **{"If-None-Match": tag}).status == 200
    after = cursor(api)
    change(api, station, prepares=True)
    (told,) = [row for row in changes(api, after) if row["order_id"] == order["id"]]
    assert (told["state"], told["lines"][0]["waits"], told["revision"]) == ("open", True, order["version"] + 2)
    assert stations(api)["Cocina fría"]["open_lines"] >= 1


def test_an_order_of_two_stations_is_ready_when_both_are(api, station):
    other = product_of(api, stations(api)["Cocina caliente"])
    order = order_at(api, station, {"product_id": other["id"], "variant_id": other["variants"][0]["id"], "quantity": 1,
                                    "variant_price": 5}, item())
    assert len({row["kitchen_id"] for row in order["combos"]}) == 3
    statuses = [accepted(api.post(f"{TICKETS}/{order['id']}/done", {"line_ids": [row["id"]]}))["status"] for row in order["combos"]]
    assert statuses == ["PREPARING", "PREPARING", "READY"]


def test_tickets_that_it_does_not_change_are_not_told(api, station):
    other = stations(api)["Cocina caliente"]
    elsewhere, made = order_at(api, other), order_at(api, station)
    accepted(api.post(f"{TICKETS}/{made['id']}/done", {"line_ids": [made["combos"][0]["id"]]}))
    accepted(api.post(f"{TICKETS}/{made['id']}/out"))
    after = cursor(api)
    change(api, station, prepares=False)
    assert not {elsewhere["id"], made["id"]} & {row["order_id"] for row in changes(api, after)}
    after = cursor(api)
    change(api, station, name="Cocina fría", position=station["position"])
    assert changes(api, after) == []


def test_a_display_that_waits_gets_what_a_client_changes(box, api, station):
    order = order_at(api, station)
    with waiting_poll(box, api) as answers:
        change(api, station, prepares=False)
    assert order["id"] in [row["order_id"] for row in answers[0].json["data"]]


def test_a_display_that_waits_gets_what_an_import_changes(box, api, station, tmp_path):
    order = order_at(api, station)
    file = json.loads((ROOT / "src/app/demo.json").read_text())
    next(row for row in file["companies"][0]["stations"] if row["id"] == station["id"])["prepares"] = False
    (tmp_path / "menu.json").write_text(json.dumps(file))
    with waiting_poll(box, api) as answers:
        box.bring_in(tmp_path / "menu.json")
    told = {row["order_id"]: row for row in answers[0].json["data"]}
    assert (told[order["id"]]["state"], told[order["id"]]["revision"]) == ("closed", order["version"] + 1)


def test_a_new_name_ends_a_wait_so_that_pages_read_the_stations_again(box, api):
    made = add(api)
    with waiting_poll(box, api) as answers:
        change(api, made, name=names())
        wait_until(lambda: answers, "the poll must end", patience_s=6)
    assert answers[0].json["data"] == []


# Last: they stay.

def test_a_restaurant_has_at_most_a_hundred(api):
    while len(stations(api)) < 100:
        add(api)
    answer = api.post(STATIONS, {"name": names()})
    assert (answer.status, answer.fields) == (422, {"body": "too_many_items"}), answer.body
    assert len(stations(api)) == 100
