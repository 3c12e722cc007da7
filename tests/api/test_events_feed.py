"""GET /v1/events: list once, follow without a gap."""

import contextlib
import time

import pytest

from support.metrics import wait_for_requests
from support.raw import Wire, head


def read(api, after, per_page=100, **headers):
    answer = api.get(f"/v1/events?after={after}&per_page={per_page}", **headers)
    assert answer.status == 200, answer.body
    return answer


@pytest.fixture
def cursor(api):
    """Where the log stands now."""
    return api.get("/v1/orders?per_page=1").headers["x-event-cursor"]


def test_every_change_of_an_order_is_one_event_with_the_record_after_it(api, cursor):
    order = api.place()
    order = api.add(order, {"product_name": "Causa", "quantity": 1, "variant_price": 18})
    order = api.pay(order, 18)
    events = [e for e in read(api, cursor).data if e["subject"]["id"] == order["id"]]
    assert [(e["event_type"], e["changes"], e["subject"]["version"]) for e in events] == [
        ("ORDER_CREATED", [], 1), ("ORDER_UPDATED", ["combos"], 2), ("ORDER_UPDATED", ["payments", "paid"], 3)]
    assert events[-1]["data"] == order
    assert events[-1]["timestamp"] == order["updated_at"]
    assert set(events[-1]) == {"cursor", "event_id", "event_type", "changes", "timestamp", "subject", "note", "data"}
    assert len({e["event_id"] for e in events}) == 3


def test_following_next_sees_every_event_once(api, cursor):
    placed = [api.place()["id"] for _ in range(7)]
    seen, after = [], cursor
    while True:
        page = read(api, after, per_page=3)
        if not page.data:
            assert page.json["next"] == after
            break
        seen += [e["subject"]["id"] for e in page.data if e["event_type"] == "ORDER_CREATED"]
        assert page.data[-1]["cursor"] == page.json["next"]
        after = page.json["next"]
    assert [s for s in seen if s in placed] == placed


def test_without_a_cursor_it_begins_at_the_oldest_kept(api, cursor):
    api.place()
    first = api.get("/v1/events?per_page=1").data[0]
    assert first["cursor"] != cursor


def test_a_wait_ends_with_the_change(box, key, api, other_key, other, cursor):
    def follow(wire, key, after):
        return wire.send(head("GET", f"/v1/events?after={after}", f"X-API-Key: {key}", "Prefer: wait=30"))

    with Wire(box) as display, Wire(box) as another:
        follow(another, other_key, other.get("/v1/orders?per_page=1").headers["x-event-cursor"])
        follow(display, key, cursor)
        wait_for_requests(box, 2)
        order = api.place()
        answer = display.answer()
        assert answer.headers["preference-applied"] == "wait=30"
        assert order["id"] in [e["subject"]["id"] for e in answer.data]
        # The other display began earlier and still waits: it was the change that ended the first wait.
        theirs = other.place()
        assert [e["subject"]["id"] for e in another.answer().data] == [theirs["id"]]


def test_the_end_of_a_wait_is_an_empty_page(api, other, cursor):
    answer = read(api, cursor, Prefer="wait=1")
    assert (answer.data, answer.json["next"]) == ([], cursor)


def test_an_empty_page_that_is_answered_at_once_costs_a_request(box, demo):
    key = box.make_key(tier="standard", company=demo["id"], name="feed")["key"]
    with contextlib.closing(box.client(key)) as client:
        cursor = client.get("/v1/orders?per_page=1").headers["x-event-cursor"]
        begin = time.monotonic()
        answers = []
        while not answers or answers[-1].status == 200:
            answers.append(client.get(f"/v1/events?after={cursor}"))
        refilled = 100 / 60 * (time.monotonic() - begin) + 1
    assert answers[-1].status == 429 and answers[-1].headers["retry-after"]
    assert 90 < len(answers) <= 100 + refilled


def test_a_wait_that_ends_without_news_costs_nothing(box, demo):
    key = box.make_key(tier="standard", company=demo["id"], name="feed")["key"]
    with contextlib.closing(box.client(key)) as client:
        first = client.get("/v1/orders?per_page=1")
        answers = [read(client, first.headers["x-event-cursor"], Prefer="wait=1") for _ in range(2)]
    assert all(answer.headers["preference-applied"] == "wait=1" for answer in answers)
    assert all(int(answer.headers["ratelimit-remaining"]) >= int(first.headers["ratelimit-remaining"]) for answer in answers)


@pytest.mark.parametrize("after", ["x", "..", "1", "zz.zz.zz", "-1.5"])
def test_a_cursor_that_is_none_is_named(api, after):
    answer = api.get(f"/v1/events?after={after}")
    assert (answer.status, answer.code) == (400, "invalid_parameter")
    assert "after" in answer.json["detail"]


def test_a_cursor_of_another_epoch_is_expired_and_says_where_to_begin(api, cursor):
    other_epoch = "9" + cursor[cursor.index("."):]
    answer = api.get(f"/v1/events?after={other_epoch}")
    assert (answer.status, answer.code) == (410, "cursor_expired")
    assert read(api, answer.json["oldest_cursor"], per_page=1).status == 200


def test_scopes_decide_which_events_are_seen(box, demo, api, cursor):
    api.place()
    menu_key = box.make_key(scopes="menu:read", company=demo["id"])["key"]
    with contextlib.closing(box.client(menu_key)) as client:
        page = read(client, cursor)
        assert [e for e in page.data if e["event_type"].startswith("ORDER_")] == []
        assert page.json["next"] != cursor
    none_key = box.make_key(scopes="clients:read", company=demo["id"])["key"]
    with contextlib.closing(box.client(none_key)) as client:
        assert client.get("/v1/events").code == "insufficient_scope"


def test_another_company_sees_none_of_it(other, api):
    order = api.place()
    assert order["id"] not in other.get("/v1/events?per_page=100").body.decode()
