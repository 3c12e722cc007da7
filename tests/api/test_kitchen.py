"""The kitchen's own records: tickets, marks, changes (contract section 20)."""

import contextlib
import datetime
import json
import random
import threading
import time

import pytest

from support.metrics import wait_for_requests
from support.orders import LIFE, accepted, in_days, invalid, item, new_id, new_key, path, read, refused
from support.waiting import wait_until

TICKETS = "/v1/kitchen/tickets"
CHANGES = "/v1/kitchen/changes"
TICKET = ["order_id", "revision", "state", "order_number", "public_id", "status", "service_type", "source", "table", "name",
          "comment", "scheduled_for", "rush_at", "out_at", "cancel_reason", "canceled_at", "opened_at", "lines"]
LINE = ["id", "station_id", "product_id", "quantity", "name", "variant", "modifiers", "comment", "added_at", "canceled_at",
        "waits", "done_at", "done_by"]
CLOSED = ["order_id", "revision", "state", "status"]


def order_of(api, *items, **fields):
    """An order with these lines, two if none are given."""
    return api.add(api.place(**fields), *(items or (item(name="Ceviche"), item(name="Lomo"))))


def tell(api, order, what, body=None, headers=None):
    return api.post(f"{TICKETS}/{order['id']}/{what}", body, headers)


def done(api, order, *lines):
    return accepted(tell(api, order, "done", {"line_ids": [line_id(order, line) for line in lines]}))


def undo(api, order, *lines):
    return accepted(tell(api, order, "undo", {"line_ids": [line_id(order, line) for line in lines]}))


def line_id(order, line):
    return line if isinstance(line, str) else order["combos"][line]["id"]


def tickets(api, query=""):
    """All pages of the list: other tests leave tickets on the same box."""
    return api.all(f"{TICKETS}?{query.lstrip('&')}")


def ticket(api, order):
    """As the list has it; None where it does not."""
    rows = tickets(api, "&filter[state]=later,open,ready,cancelled,closed")
    return next((row for row in rows if row["order_id"] == order["id"]), None)


def waiting(of):
    return [line["name"] for line in of["lines"] if line["waits"]]


def cursor(api):
    return api.get(TICKETS + "?per_page=1").headers["x-event-cursor"]


def events_after(api, after):
    rows = accepted(api.get(f"/v1/events?after={after}&per_page=100"))
    return [(row["event_type"], row["changes"]) for row in rows]


def changes(api, after, more="", headers=None):
    answer = api.get(f"{CHANGES}?after={after}{more}", **(headers or {}))
    assert answer.status == 200, answer.body
    assert list(answer.json) == ["data", "next", "alerts"]
    return answer.json


@pytest.fixture
def screen(box, demo):
    """A client with a key of a kitchen display."""
    made = box.make_key(scopes="kitchen:read,kitchen:write", company=demo["id"], name="Pantalla 1")
    with contextlib.closing(box.client(made["key"])) as client:
        yield client


# Tickets

def test_a_ticket_has_what_a_wall_needs_and_nothing_else(api, house):
    table = house.table
    client = house.client
    order = api.place(service_type="TABLE", table_id=table["id"], client_id=client["id"], comment="Cumpleaños: todo junto")
    order = api.add(order, item(quantity=2, name="Ceviche", comment="SIN CEBOLLA", variant_name="Personal", modifiers=[
        {"name": "Sin ají", "quantity": 1, "price": 0}, {"name": "Camote", "quantity": 3, "price": 1, "group_name": "Extras"}]))
    made = ticket(api, order)
    assert list(made) == TICKET and list(made["lines"][0]) == LINE
    assert made | {"lines": []} == {
        "order_id": order["id"], "revision": order["version"], "state": "open", "order_number": order["order_number"],
        "public_id": order["public_id"], "status": "PENDING", "service_type": "TABLE", "source": "API",
        "table": table["name"], "name": client["name"], "comment": "Cumpleaños: todo junto", "scheduled_for": None,
        "rush_at": None, "out_at": None, "cancel_reason": None, "canceled_at": None,
        "opened_at": order["combos"][0]["created_at"], "lines": []}
    assert made["lines"] == [{
        "id": order["combos"][0]["id"], "station_id": None, "product_id": None, "quantity": 2, "name": "Ceviche",
        "variant": "Personal", "comment": "SIN CEBOLLA", "added_at": order["combos"][0]["created_at"], "canceled_at": None,
        "modifiers": [{"modifier_id": None, "quantity": 1, "name": "Sin ají", "group_name": None},
                      {"modifier_id": None, "quantity": 3, "name": "Camote", "group_name": "Extras"}],
        "waits": True, "done_at": None, "done_by": None}]
    title = api.patch(path(order), {"order_title": "Los novios"})
    assert accepted(title)["order_title"] == ticket(api, order)["name"] == "Los novios"


def test_a_variant_named_default_is_none(api, demo):
    product = next(p for c in demo["categories"] for p in c["products"] if p.get("sku") and "variants" not in p)
    order = api.add(api.place(), {"sku": product["sku"], "quantity": 1, "variant_price": 5})
    assert order["combos"][0]["variant_name"] == "Default"
    line = ticket(api, order)["lines"][0]
    assert line["variant"] is None and line["product_id"] == order["combos"][0]["product_id"]
    assert line["station_id"] == order["combos"][0]["kitchen_id"]


def test_an_order_without_lines_has_no_ticket(api):
    order = api.place()
    assert ticket(api, order) is None
    for what, body in {"done": {"line_ids": [new_id()]}, "start": {}, "rush": {"on": True}, "out": {}}.items():
        refused(tell(api, order, what, body), 404, "not_found")


def test_a_closed_ticket_is_its_state_alone_in_lists(api):
    order = order_of(api)
    api.advance(order, "READY")
    api.advance(order, "DELIVERED")
    assert list(ticket(api, order)) == CLOSED
    assert list(done(api, order, 0)) == TICKET


def test_the_list_sorts_filters_and_pages(api, house):
    first, second = order_of(api), order_of(api)
    rows = tickets(api)
    assert [r["opened_at"] for r in rows] == sorted(r["opened_at"] for r in rows)
    numbers = [r["order_number"] for r in tickets(api, "&sort=-order_number")]
    assert numbers == sorted(numbers, reverse=True)
    ids = [r["order_id"] for r in rows]
    assert first["id"] in ids and second["id"] in ids
    paged = [accepted(api.get(f"{TICKETS}?per_page=1&page={n + 1}"))[0]["order_id"] for n in range(2)]
    assert paged == ids[:2]
    answer = api.get(TICKETS + "?per_page=1&filter[state]=OPEN")
    assert answer.json["pagination"]["total"] == sum(r["state"] == "open" for r in rows)
    snapshot = answer.headers["x-snapshot"]
    third = order_of(api)
    later = accepted(api.get(f"{TICKETS}?per_page=100&filter[snapshot]={snapshot}"))
    assert third["id"] not in [r["order_id"] for r in later]
    station = house.company["stations"][0]["id"]
    other = house.company["stations"][1]["id"]
    product = next(p for c in house.company["categories"] for p in c["products"]
                   if p.get("kitchen_id") == station and p.get("sku"))
    cold = order_of(api, {"sku": product["sku"], "quantity": 1, "variant_price": 5})
    assert cold["combos"][0]["kitchen_id"] == station
    of_station = [r["order_id"] for r in tickets(api, f"&filter[station_id]={station}")]
    of_other = [r["order_id"] for r in tickets(api, f"&filter[station_id]={other}")]
    assert cold["id"] in of_station and cold["id"] not in of_other
    assert first["id"] in of_station and first["id"] in of_other, "lines of no station are everybody's"
    assert cold["id"] in [r["order_id"] for r in tickets(api, f"&filter[station_id]={other},{station}")]


@pytest.mark.parametrize("query, field", [
    ("filter[state]=boiling", "filter[state]"), ("filter[station_id]=grill", "filter[station_id]"),
    ("filter[done_since]=yesterday", "filter[done_since]"), ("sort=name", "sort"), ("per_page=101", "per_page"),
    ("state=open", "state"), ("filter[snapshot]=x", "filter[snapshot]")])
def test_a_bad_filter_is_named(api, query, field):
    answer = api.get(TICKETS + "?" + query)
    assert answer.status == 400 and answer.code == "invalid_parameter" and list(answer.fields) == [field], answer.body


def test_the_lists_tag_changes_with_orders_and_marks_and_is_good_else(api):
    order = order_of(api)
    answer = api.get(TICKETS)
    again = api.get(TICKETS, **{"If-None-Match": answer.etag})
    assert again.status == 304 and again.etag == answer.etag and again.headers["x-event-cursor"]
    assert api.get(TICKETS + "?per_page=3", **{"If-None-Match": answer.etag}).status == 200
    done(api, order, 0)
    answer, former = api.get(TICKETS, **{"If-None-Match": answer.etag}), answer
    assert answer.status == 200 and answer.etag != former.etag
    accepted(tell(api, order, "rush", {"on": True}))
    assert api.get(TICKETS, **{"If-None-Match": answer.etag}).status == 200


def test_recall_lists_what_was_marked_last_first(api):
    since = datetime.datetime.now(datetime.timezone.utc).isoformat().replace("+00:00", "Z")
    first, second = order_of(api), order_of(api)
    done(api, second, 0, 1)
    marked = time.time_ns() // 1_000_000
    wait_until(lambda: time.time_ns() // 1_000_000 > marked, "the next millisecond")
    done(api, first, 0, 1)
    api.advance(first, "FINALIZED")
    rows = accepted(api.get(f"{TICKETS}?filter[done_since]={since}"))
    assert [r["order_id"] for r in rows] == [first["id"], second["id"]]
    assert rows[0]["state"] == "closed" and list(rows[0]) == TICKET
    undo(api, second, 0, 1)
    assert [r["order_id"] for r in accepted(api.get(f"{TICKETS}?filter[done_since]={since}"))] == [first["id"]]


# Marks

def test_marks_move_the_order_and_say_who(api, screen):
    order = order_of(api)
    before = cursor(api)
    after = done(screen, order, 1)
    assert after["status"] == "PREPARING" and after["state"] == "open" and waiting(after) == ["Ceviche"]
    assert after["lines"][1]["done_by"] == "Pantalla 1" and after["lines"][1]["done_at"]
    assert events_after(api, before) == [("TICKET_UPDATED", ["lines"]), ("ORDER_UPDATED", ["status"])]
    now = read(api, order)
    assert now["status"] == "PREPARING" and after["revision"] == now["version"] + 1
    assert now["status_history"][-1]["by"].startswith("key:") and not now["status_history"][-1]["implied"]
    before = cursor(api)
    after = done(screen, order, 0)
    assert (after["status"], after["state"], waiting(after)) == ("READY", "ready", [])
    events = accepted(api.get(f"/v1/events?after={before}"))
    assert [(e["event_type"], e["changes"]) for e in events] == [("TICKET_UPDATED", ["lines"]), ("ORDER_UPDATED", ["status"])]
    assert events[0]["data"] == after and events[0]["subject"] == {
        "type": "ticket", "id": order["id"], "version": after["revision"]}


def test_the_only_line_makes_an_order_ready_at_once(api):
    order = order_of(api, item())
    assert done(api, order, 0)["status"] == "READY"
    assert [(s["status"], s["implied"]) for s in read(api, order)["status_history"]] == [
        ("PENDING", False), ("PREPARING", True), ("READY", False)]


def test_the_same_mark_again_changes_nothing(api):
    order = order_of(api)
    first = done(api, order, 0)
    before = cursor(api)
    assert done(api, order, 0) == first
    assert events_after(api, before) == []
    both = done(api, order, 0, 1)
    assert both["lines"][0] == first["lines"][0] and both["lines"][1]["done_at"]


def test_two_displays_at_once_make_one_mark(box, api):
    order = order_of(api)
    before = cursor(api)
    body = {"line_ids": [order["combos"][0]["id"]]}
    answers = []

    def mark():
        with contextlib.closing(box.client(api.key)) as client:
            answers.append(tell(client, order, "done", body))

    threads = [threading.Thread(target=mark) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({json.dumps(accepted(answer)) for answer in answers}) == 1
    assert [e[0] for e in events_after(api, before)] == ["TICKET_UPDATED", "ORDER_UPDATED"]


def test_undo_brings_lines_back_and_never_the_status(api):
    order = order_of(api)
    done(api, order, 0, 1)
    before = cursor(api)
    after = undo(api, order, 0)
    assert (after["status"], after["state"], waiting(after)) == ("READY", "open", ["Ceviche"])
    assert after["lines"][0]["done_at"] is None and after["lines"][0]["done_by"] is None
    assert events_after(api, before) == [("TICKET_UPDATED", ["lines"])]
    before = cursor(api)
    assert undo(api, order, 0) == after
    assert events_after(api, before) == []
    api.advance(order, "FINALIZED")
    assert undo(api, order, 1)["status"] == "FINALIZED"
    assert waiting(ticket(api, order)) == ["Ceviche", "Lomo"], "FINALIZED stops no dish, and DELIVERED was a step between"


def test_a_line_added_later_comes_back_alone(api):
    order = order_of(api)
    done(api, order, 0, 1)
    order = api.add(order, item(name="Postre"))
    after = ticket(api, order)
    assert (after["state"], waiting(after), after["status"]) == ("open", ["Postre"], "READY")
    api.advance(order, "DELIVERED")
    assert ticket(api, order)["state"] == "closed"
    order = api.add(order, item(name="Café"))
    assert waiting(ticket(api, order)) == ["Café"]
    assert done(api, order, 3)["status"] == "DELIVERED"


def test_a_counter_that_is_paid_first_still_cooks(api):
    order = order_of(api)
    api.pay(order, order["total"])
    api.advance(order, "FINALIZED")
    after = ticket(api, order)
    assert (after["state"], waiting(after), after["status"]) == ("open", ["Ceviche", "Lomo"], "FINALIZED")
    before = cursor(api)
    assert done(api, order, 0, 1)["state"] == "closed"
    assert events_after(api, before) == [("TICKET_UPDATED", ["lines"])], "seen: it moves nothing"


def test_what_a_till_calls_ready_does_not_wait(api):
    order = order_of(api)
    api.advance(order, "READY")
    assert ticket(api, order)["state"] == "ready" and waiting(ticket(api, order)) == []


def test_implied_ready_was_not_cooked(api, house):
    order = order_of(api, service_type="DELIVERY", address_id=house.address["id"], client_id=house.client["id"])
    for status in ("DRIVER_ARRIVED_AT_STORE", "DRIVER_ON_THE_WAY_TO_DESTINATION"):
        accepted(api.patch(path(order, "delivery-status"), {"delivery_status": status}))
    now = read(api, order)
    assert now["status"] == "READY" and now["status_history"][-1]["implied"]
    assert waiting(ticket(api, order)) == ["Ceviche", "Lomo"]


def test_a_mark_on_a_cancelled_line_is_seen(api):
    order = order_of(api)
    accepted(api.delete(path(order, "combos", order["combos"][0]["id"])))
    after = done(api, order, 0)
    assert after["status"] == "PENDING" and after["lines"][0]["done_at"] and after["lines"][0]["canceled_at"]
    assert waiting(after) == ["Lomo"]


def test_the_till_cancels_the_last_line_that_waits(api):
    order = order_of(api)
    done(api, order, 0)
    accepted(api.delete(path(order, "combos", order["combos"][1]["id"])))
    after = ticket(api, order)
    assert (after["state"], after["status"]) == ("ready", "PREPARING")


def test_a_cancelled_order_stays_until_its_lines_are_touched(api):
    order = order_of(api)
    done(api, order, 0)
    accepted(api.post(path(order, "cancel"), {"reason": "se fueron"}))
    after = ticket(api, order)
    assert (after["state"], after["status"], after["cancel_reason"], waiting(after)) == (
        "cancelled", "CANCELLED", "se fueron", [])
    assert after["canceled_at"]
    before = cursor(api)
    assert done(api, order, 1)["state"] == "closed"
    assert events_after(api, before) == [("TICKET_UPDATED", ["lines"])]
    assert undo(api, order, 1)["state"] == "cancelled"


def test_start_begins_an_order_without_a_ticket_event(api):
    order = order_of(api)
    before = cursor(api)
    after = accepted(tell(api, order, "start"))
    assert after["status"] == "PREPARING" and after["revision"] == read(api, order)["version"]
    assert events_after(api, before) == [("ORDER_UPDATED", ["status"])]
    for status in ("READY", "FINALIZED"):
        api.advance(order, status)
        assert accepted(tell(api, order, "start", {}))["status"] == status


def test_rush_is_on_or_off(api):
    order = order_of(api)
    before = cursor(api)
    after = accepted(tell(api, order, "rush", {"on": True}))
    assert after["rush_at"] and accepted(tell(api, order, "rush", {"on": True})) == after
    assert accepted(tell(api, order, "rush", {"on": False}))["rush_at"] is None
    assert events_after(api, before) == [("TICKET_UPDATED", ["rush"])] * 2


def test_out_closes_a_ticket_until_a_line_is_added(api):
    order = order_of(api)
    done(api, order, 0)
    before = cursor(api)
    after = accepted(tell(api, order, "out"))
    assert (after["state"], after["status"], waiting(after)) == ("closed", "READY", [])
    assert after["out_at"] and not after["lines"][1]["done_at"]
    assert events_after(api, before) == [("TICKET_UPDATED", ["out"]), ("ORDER_UPDATED", ["status"])]
    told = accepted(api.get(f"/v1/events?after={before}"))[0]["data"]
    assert list(told) == CLOSED and told["revision"] == after["revision"]
    assert accepted(tell(api, order, "out")) == after
    order = api.add(order, item(name="Postre"))
    again = ticket(api, order)
    assert (again["state"], waiting(again), again["out_at"]) == ("open", ["Postre"], None)
    again = accepted(tell(api, order, "out"))
    assert again["state"] == "closed" and again["status"] == "READY"
    back = undo(api, order, 2)
    assert (back["state"], back["out_at"], waiting(back)) == ("open", None, ["Postre"])


def test_out_of_a_closed_order_moves_nothing(api):
    order = order_of(api)
    api.advance(order, "FINALIZED")
    before = cursor(api)
    assert accepted(tell(api, order, "out"))["status"] == "FINALIZED"
    assert events_after(api, before) == [("TICKET_UPDATED", ["out"])]


def test_a_public_id_names_the_order_too(api):
    order = order_of(api)
    key = new_key()
    body = {"line_ids": [order["combos"][0]["id"]]}
    first = api.post(f"{TICKETS}/{order['public_id']}/done", body, key)
    assert accepted(first)["lines"][0]["done_at"]
    again = api.post(f"{TICKETS}/{order['id']}/done", body, key)
    assert again.body == first.body and again.headers["idempotency-replayed"] == "true"
    other = api.post(f"{TICKETS}/{order['id']}/done", {"line_ids": [order["combos"][1]["id"]]}, key)
    assert other.status == 422 and other.code == "idempotency_key_reused"


@pytest.mark.parametrize("what", ["done", "undo"])
def test_bad_lists_of_lines_mark_nothing(api, what):
    order, another = order_of(api), order_of(api)
    line = order["combos"][0]["id"]
    before = cursor(api)
    for body, fields in [
            ({}, {"line_ids": "required"}), ({"line_ids": None}, {"line_ids": "required"}),
            ({"line_ids": []}, {"line_ids": "empty"}), ({"line_ids": line}, {"line_ids": "wrong_type"}),
            ({"line_ids": [line, 7]}, {"line_ids[1]": "wrong_type"}),
            ({"line_ids": [line, "Ceviche"]}, {"line_ids[1]": "invalid_format"}),
            ({"line_ids": [line, line.upper()]}, {"line_ids[1]": "duplicate"}),
            ({"line_ids": [new_id() for _ in range(501)]}, {"line_ids": "too_many_items"}),
            ({"line_ids": [new_id()]}, {"line_ids[0]": "not_found"}),
            ({"line_ids": [line, another["combos"][0]["id"]]}, {"line_ids[1]": "not_found"})]:
        answer = tell(api, order, what, body)
        assert (answer.status, answer.fields) == (422, fields), (body, answer.body)
    assert events_after(api, before) == [] and not any(line["done_at"] for line in ticket(api, order)["lines"])


@pytest.mark.parametrize("body, code", [({}, "required"), ({"on": None}, "required"), ({"on": 1}, "wrong_type"),
                                        ({"on": "yes"}, "wrong_type")])
def test_rush_needs_a_boolean(api, body, code):
    invalid(tell(api, order_of(api), "rush", body), on=code)


def test_orders_of_others_are_not_there(api, other):
    order = order_of(api)
    for what, body in {"done": {"line_ids": [order["combos"][0]["id"]]}, "undo": {"line_ids": [order["combos"][0]["id"]]},
                       "start": {}, "rush": {"on": True}, "out": {}}.items():
        refused(tell(other, order, what, body), 404, "not_found")
        refused(tell(api, {"id": new_id()}, what, body), 404, "not_found")
        assert tell(api, {"id": "42"}, what, body).status == 422
    assert ticket(other, order) is None
    assert order["id"] not in {row["order_id"] for row in changes(other, cursor(other))["data"]}


# Time

def test_a_scheduled_order_comes_later(api):
    order = order_of(api, scheduled_delivery_date=in_days(2))
    later = ticket(api, order)
    assert later["state"] == "later" and len(waiting(later)) == 2 and later["scheduled_for"]
    assert order["id"] in [r["order_id"] for r in tickets(api, "&filter[state]=later")]
    assert done(api, order, 0, 1)["status"] == "READY"


def aged(box, order, minutes):
    """Dates the order's rows back. Its checksum does not fit any more: for reading alone."""
    ago = minutes * 60_000
    box.execute(f"UPDATE combo SET created_at = created_at - {ago} WHERE order_id = '{order['id']}'")
    box.execute(f"UPDATE order_status SET at = at - {ago} WHERE order_id = '{order['id']}'")
    box.execute(f"UPDATE kitchen_line SET done_at = done_at - {ago} WHERE order_id = '{order['id']}'")
    box.execute(f"UPDATE kitchen_order SET changed_at = changed_at - {ago} WHERE order_id = '{order['id']}'")
    box.execute(f"UPDATE orders SET updated_at = updated_at - {ago}, canceled_at = canceled_at - {ago} "
                f"WHERE id = '{order['id']}'")


def test_time_alone_ends_what_waits_and_what_is_ready(api, box):
    old, young, made, cancelled = (order_of(api) for _ in range(4))
    done(api, made, 0, 1)
    accepted(api.post(path(cancelled, "cancel"), {"reason": "x"}))
    aged(box, old, 12 * 60 + 1)
    aged(box, young, 11 * 60)
    aged(box, made, 61)
    aged(box, cancelled, 61)
    api.place()  # another tag
    rows = {row["order_id"]: row["state"] for row in tickets(api)}
    assert rows.get(young["id"]) == "open"
    assert not {old["id"], made["id"], cancelled["id"]} & set(rows)
    made_too = order_of(api)
    done(api, made_too, 0, 1)
    aged(box, made_too, 58)
    api.place()
    assert ticket(api, made_too)["state"] == "ready"


# Changes

def test_changes_have_each_ticket_once_and_as_it_is_now(api):
    after = cursor(api)
    first, second = order_of(api), order_of(api)
    done(api, first, 0)
    api.patch(path(second), {"comment": "rápido"})
    accepted(tell(api, first, "rush", {"on": True}))
    api.place()
    got = changes(api, after)
    assert [row["order_id"] for row in got["data"]] == [second["id"], first["id"]], "by their last change"
    assert got["data"] == [ticket(api, second), ticket(api, first)]
    assert changes(api, got["next"])["data"] == []
    halves = []
    while len(halves) < 2:
        page = changes(api, after if not halves else halves[-1]["next"], "&per_page=1")
        halves.append(page)
    assert [row["order_id"] for page in halves for row in page["data"]] == [second["id"], first["id"]]
    api.advance(first, "READY")
    api.advance(first, "DELIVERED")
    assert [list(row) for row in changes(api, got["next"])["data"]] == [CLOSED]


def test_a_display_lists_once_and_then_follows(api):
    order = order_of(api)
    listed = api.get(TICKETS + "?per_page=100&sort=-opened_at")
    after = listed.headers["x-event-cursor"]
    done(api, order, 0)
    got = changes(api, after)
    assert got["data"] == [ticket(api, order)] and got["data"][0]["revision"] > next(
        row["revision"] for row in listed.data if row["order_id"] == order["id"])


def test_changes_begin_with_the_oldest_event_without_a_cursor(api):
    order = order_of(api)
    found, after = [], None
    while order["id"] not in found:
        answer = accepted_json(api.get(CHANGES + (f"?after={after}" if after else "")))
        assert answer["data"], "the order must come"
        found += [row["order_id"] for row in answer["data"]]
        after = answer["next"]


def accepted_json(answer):
    assert answer.status == 200, answer.body
    return answer.json


def test_a_poll_waits_for_a_mark(box, api, screen):
    order = order_of(api)
    after = changes(screen, cursor(screen))["next"]
    with contextlib.closing(box.client(screen.key)) as waiter:
        answers = []
        thread = threading.Thread(target=lambda: answers.append(waiter.send(
            "GET", f"{CHANGES}?after={after}&display=a", headers={"Prefer": "wait=8"})))
        thread.start()
        wait_for_requests(box, 1)
        done(api, order, 1)
        thread.join()
    assert answers[0].headers["preference-applied"] == "wait=8"
    assert [row["order_id"] for row in answers[0].json["data"]] == [order["id"]]


@contextlib.contextmanager
def waiting_display(box, screen, name, after):
    """A display that waits meanwhile; afterwards its answers are in the list."""
    answers = []
    with contextlib.closing(box.client(screen.key)) as waiter:
        thread = threading.Thread(target=lambda: answers.append(waiter.send(
            "GET", f"{CHANGES}?after={after}&display={name}", headers={"Prefer": "wait=8"})))
        thread.start()
        wait_until(lambda: any(d["display"] == name for d in screen.get("/v1/kitchen/stations").data[0]["displays"]), lambda: name)
        yield answers
        thread.join()
    assert answers[0].status == 200 and answers[0].headers["preference-applied"] == "wait=8", answers[0].headers


def test_what_is_nothing_for_a_kitchen_does_not_end_a_wait(box, api, screen):
    """An order without lines. The answer at the end has the cursor behind it, and the next one has the line alone."""
    after = cursor(screen)
    began = time.monotonic()
    with waiting_display(box, screen, "empty", after) as answers:
        orders = [api.place() for _ in range(3)]
    assert answers[0].json["data"] == [] and time.monotonic() - began >= 7, "it must wait to the end"
    assert answers[0].json["next"] == cursor(screen) != after
    with waiting_display(box, screen, "empty2", answers[0].json["next"]) as answers:
        empty = api.place()
        order = api.add(orders[1], item(name="Ceviche"))
        began = time.monotonic()
    assert [row["order_id"] for row in answers[0].json["data"]] == [order["id"]] and time.monotonic() - began < 5
    assert answers[0].json["next"] == cursor(screen)
    order = api.add(empty, item(name="Lomo"))
    assert [row["order_id"] for row in changes(screen, answers[0].json["next"])["data"]] == [order["id"]]


def test_what_comes_while_nothing_is_told_is_told_once(box, api, screen):
    """Orders with and without lines, at random, to displays that follow: each sees each line's order once for each of its events,
    and nothing else."""
    begin, wanted, seen, stop = cursor(screen), [], {name: [] for name in ("f1", "f2", "f3")}, threading.Event()

    def follow(name):
        with contextlib.closing(box.client(screen.key)) as client:
            after = begin
            while True:
                was_last = stop.is_set()
                got = accepted_json(client.get(f"{CHANGES}?after={after}&display={name}", Prefer="wait=1"))
                seen[name] += [(row["order_id"], row["revision"]) for row in got["data"]]
                assert got["next"] != after or not got["data"]
                after = got["next"]
                if was_last and not got["data"]:
                    return

    threads = [threading.Thread(target=follow, args=(name,)) for name in seen]
    for thread in threads:
        thread.start()
    dice = random.Random(7)
    for _ in range(60):
        order = api.place()
        if dice.random() < 0.4:
            wanted.append(api.add(order, item(name="Ceviche"))["id"])
        time.sleep(dice.choice([0, 0.01, 0.05]))
    stop.set()
    for thread in threads:
        thread.join()
    for name, rows in seen.items():
        assert [order for order, _ in rows] == wanted, name


def test_a_display_waits_a_shorter_time_than_it_asks_for(screen):
    after = cursor(screen)
    began = time.monotonic()
    answer = screen.get(f"{CHANGES}?after={after}&display=short", Prefer="wait=30")
    assert answer.headers["preference-applied"] == "wait=8" and time.monotonic() - began < 20
    assert answer.json["data"] == [] and answer.json["next"]


@pytest.mark.parametrize("query, field", [
    ("after=x", "after"), ("per_page=0", "per_page"), ("per_page=101", "per_page"), ("page=1", "page"),
    ("display=" + "a" * 33, "display"), ("display=a-b", "display"), ("display=%C3%B1", "display"),
    ("stations=grill", "stations"), ("stations=01a1f891-c8dd-7438-b4a8-fccb3e833bfe", "stations"), ("sound=loud", "sound"), ("awake=maybe", "awake"),
    ("sound=on,muted", "sound")])
def test_a_bad_poll_is_named(screen, query, field):
    answer = screen.get(f"{CHANGES}?{query}")
    assert answer.status == 400 and answer.code == "invalid_parameter" and list(answer.fields) == [field], answer.body


def test_a_station_of_another_restaurant_is_unknown(box, demo, other):
    station = demo["stations"][0]["id"]
    assert other.get(f"{CHANGES}?stations={station}").status == 400


@pytest.mark.parametrize("display", ["", "&display=a"])
@pytest.mark.parametrize("headers", [{}, {"Prefer": "wait=8"}])
def test_a_cursor_of_another_time_is_gone_and_says_where_to_begin(api, display, headers):
    """Of another epoch, as after a restore (test_kitchen_pairs.py): at once, whether it waits or not."""
    order = order_of(api)
    epoch, seq = cursor(api).split(".")
    for other in (f"{epoch}1.{seq}", f"1.{seq}"):
        answer = api.get(f"{CHANGES}?after={other}{display}", **headers)
        refused(answer, 410, "cursor_expired")
        begin = answer.json["oldest_cursor"]
        found, at = [], begin
        while order["id"] not in found:
            page = changes(api, at)
            assert page["data"], "the order comes after the oldest cursor"
            found += [row["order_id"] for row in page["data"]]
            at = page["next"]
    refused(api.get(f"{CHANGES}?after={epoch}.{seq}0{display}", **headers), 410, "cursor_expired")  # has not happened yet


# Stations, settings, menu

def test_stations_say_what_waits_and_who_watches(api, screen, house):
    grill = house.company["stations"][1]
    product = next(p for c in house.company["categories"] for p in c["products"]
                   if p.get("kitchen_id") == grill["id"] and p.get("sku"))

    def station():
        rows = accepted(api.get("/v1/kitchen/stations"))
        assert list(rows[0]) == ["id", "name", "prepares", "position", "open_lines", "oldest_line_at", "displays",
                                 "unwatched_since"]
        return next(row for row in rows if row["id"] == grill["id"])

    before = station()
    assert before["name"] == grill["name"] and before["prepares"] is True
    order = order_of(api, {"sku": product["sku"], "quantity": 1, "variant_price": 5})
    assert station()["open_lines"] == before["open_lines"] + 1 and station()["oldest_line_at"]
    changes(screen, cursor(screen), f"&display=grill7&stations={grill['id']}&sound=muted&awake=no")
    display = next(d for d in station()["displays"] if d["display"] == "grill7")
    assert (display["name"], display["sound"], display["awake"]) == ("Pantalla 1", "muted", False)
    others = [row for row in accepted(api.get("/v1/kitchen/stations")) if row["id"] != grill["id"]]
    assert not any(d["display"] == "grill7" for row in others for d in row["displays"])
    done(api, order, 0)
    assert station()["open_lines"] == before["open_lines"]


def test_a_muted_display_raises_an_alert_that_ends_a_waiting_poll(box, api, screen):
    after = changes(api, cursor(api), "&display=watcher")["next"]
    with contextlib.closing(box.client(api.key)) as waiter:
        def told():
            got = accepted_json(waiter.send("GET", f"{CHANGES}?after={after}&display=watcher", headers={"Prefer": "wait=8"}))
            return [alert for alert in got["alerts"] if alert["kind"] == "display_muted" and alert["name"] == "Pantalla 1"]
        def muted():
            changes(screen, cursor(screen), "&display=quiet&sound=muted")
            return told()
        alert = wait_until(muted, lambda: "no alert")[0]
        assert list(alert) == ["kind", "name", "since"]


def test_a_screen_that_was_just_let_in_is_not_accused_before_somebody_can_touch_it(box, api, screen):
    def muted():
        changes(screen, cursor(screen), "&display=fresh&sound=muted")
        shown = [d["sound"] for d in screen.get("/v1/kitchen/stations").data[0]["displays"] if d["display"] == "fresh"]
        assert shown == ["muted"], "what it says of itself is shown at once"
        return [alert for alert in changes(api, cursor(api))["alerts"] if alert["kind"] == "display_muted"]

    wait_until(lambda: not [a for a in changes(api, cursor(api))["alerts"] if a["kind"] == "display_muted"], lambda: "others", 60)
    began = time.monotonic()
    alert = wait_until(muted, lambda: "no alert", 60)[0]
    assert 15 < time.monotonic() - began < 40
    age = time.time() - datetime.datetime.fromisoformat(alert["since"].replace("Z", "+00:00")).timestamp()
    assert age >= 15, "it says since when the screen is mute"
    changes(screen, cursor(screen), "&display=fresh&sound=on")


def test_settings_are_merged_and_bounded(api):
    before = accepted(api.get("/v1/kitchen/settings"))
    assert list(before) == ["restaurant", "lead_minutes", "thresholds"]
    assert list(before["restaurant"]) == ["name", "timezone", "language", "day_starts_at"]
    assert before["lead_minutes"] == 20 and before["thresholds"]["TABLE"] == {"warn_minutes": 8, "late_minutes": 15}
    try:
        after = accepted(api.patch("/v1/kitchen/settings", {"lead_minutes": 0, "thresholds": {"DELIVERY": {"late_minutes": 90}}}))
        assert after["lead_minutes"] == 0
        assert after["thresholds"]["DELIVERY"] == before["thresholds"]["DELIVERY"] | {"late_minutes": 90}
        assert after["thresholds"]["TABLE"] == before["thresholds"]["TABLE"]
        assert accepted(api.get("/v1/kitchen/settings")) == after
    finally:
        accepted(api.patch("/v1/kitchen/settings", {k: before[k] for k in ("lead_minutes", "thresholds")}))


@pytest.mark.parametrize("body, fields", [
    ({}, {"body": "empty"}), ({"lead_minutes": 1441}, {"lead_minutes": "out_of_range"}),
    ({"lead_minutes": -1}, {"lead_minutes": "out_of_range"}), ({"lead_minutes": None}, {"lead_minutes": "required"}),
    ({"lead_minutes": "20"}, {"lead_minutes": "wrong_type"}),
    ({"thresholds": {"TABLE": {"warn_minutes": 0}}}, {"thresholds.TABLE.warn_minutes": "out_of_range"}),
    ({"thresholds": {"TABLE": None, "DELIVERY": None}}, {"thresholds.TABLE": "required", "thresholds.DELIVERY": "required"}),
    ({"thresholds": {"TABLE": {"warn_minutes": 601, "late_minutes": 700}}}, {"thresholds.TABLE.warn_minutes": "out_of_range"}),
    ({"thresholds": {"TABLE": {"warn_minutes": 15}}}, {"thresholds.TABLE.warn_minutes": "out_of_range"}),
    ({"thresholds": {"TABLE": {"late_minutes": 8}}}, {"thresholds.TABLE.late_minutes": "out_of_range"}),
    ({"thresholds": {"TABLE": 8}}, {"thresholds.TABLE": "wrong_type"}), ({"thresholds": []}, {"thresholds": "wrong_type"})])
def test_bad_settings_are_refused(api, body, fields):
    before = accepted(api.get("/v1/kitchen/settings"))
    answer = api.patch("/v1/kitchen/settings", body)
    assert (answer.status, answer.fields) == (422, fields), answer.body
    assert accepted(api.get("/v1/kitchen/settings")) == before


def test_settings_are_written_with_admin_write_alone(screen):
    answer = screen.patch("/v1/kitchen/settings", {"lead_minutes": 5})
    assert answer.status == 403 and "admin:write" in answer.json["detail"]


def test_lead_minutes_decide_what_comes_later(api):
    order = order_of(api, scheduled_delivery_date=in_days(0.5))
    assert ticket(api, order)["state"] == "later"
    try:
        accepted(api.patch("/v1/kitchen/settings", {"lead_minutes": 721}))
        assert ticket(api, order)["state"] == "open"
    finally:
        accepted(api.patch("/v1/kitchen/settings", {"lead_minutes": 20}))


def test_the_menu_of_the_kitchen_knows_no_price(api, screen):
    answer = screen.get("/v1/kitchen/menu")
    shown = accepted(answer)["categories"]
    menu = accepted(api.get("/v1/menu"))["categories"]
    assert [(c["id"], c["name"]) for c in shown] == [(c["id"], c["name"]) for c in menu if c["products"]]
    products = {p["id"]: p for c in menu for p in c["products"]}
    listed = [p for c in shown for p in c["products"]]
    assert {p["id"] for p in listed} == set(products)
    for product in listed:
        assert list(product) == ["id", "name", "station_id", "available", "sold_out", "modifiers"]
        full = products[product["id"]]
        assert (product["name"], product["station_id"], product["available"]) == (
            full["name"], full["kitchen_id"], full["available"])
    assert b"price" not in answer.body
    assert screen.get("/v1/kitchen/menu", **{"If-None-Match": answer.etag}).status == 304


# Keys and the feed

def test_answers_carry_the_version_of_the_page(api):
    order = order_of(api)
    answers = [api.get(TICKETS), api.get(CHANGES), api.get("/v1/kitchen/menu"), api.get("/v1/kitchen/stations"),
               api.get("/v1/kitchen/settings"), tell(api, order, "start"), tell(api, order, "out")]
    assert all(answer.headers["x-page-version"] for answer in answers)


def test_the_feed_shows_a_kitchen_tickets_alone(api, screen):
    after = cursor(api)
    order = order_of(api)
    done(api, order, 0)
    rows = accepted(screen.get(f"/v1/events?after={after}"))
    assert [row["event_type"] for row in rows] == ["TICKET_UPDATED"]
    assert "ORDER_CREATED" in [name for name, _ in events_after(api, after)]


def test_reading_marks_nothing(box, demo):
    made = box.make_key(scopes="kitchen:read", company=demo["id"])
    with contextlib.closing(box.client(made["key"])) as reader:
        assert reader.get(TICKETS).status == 200
        answer = reader.post(f"{TICKETS}/{new_id()}/out")
        assert answer.status == 403 and "kitchen:write" in answer.json["detail"]


# Every way to say it

@pytest.mark.parametrize("status", LIFE[2:4])
def test_a_second_round_after(api, status):
    order = order_of(api, item(name="Ceviche"))
    api.advance(order, status)
    order = api.add(order, item(name="Otro"), item(name="Más"))
    assert waiting(ticket(api, order)) == ["Otro", "Más"]
    after = done(api, order, 1, 2)
    assert after["status"] == status and after["state"] == ("ready" if status == "READY" else "closed")
