"""A list of orders that is held until something changes (contract section 6)."""

import contextlib

import pytest

from support.box import Box
from support.metrics import wait_for_requests
from support.raw import Wire, head
from support.waiting import wait_until


def ask(wire, key, tag, prefer, path="/v1/orders"):
    return wire.send(head("GET", path, f"X-API-Key: {key}", f"If-None-Match: {tag}", f"Prefer: {prefer}"))


def tag_of(api, path="/v1/orders"):
    return api.get(path).etag


def test_a_poll_is_answered_as_soon_as_an_order_changes(box, key, api):
    order = api.place()
    tag = tag_of(api)
    with Wire(box) as wire:
        ask(wire, key, tag, "wait=25")
        wait_for_requests(box, 1)
        api.patch(f"/v1/orders/{order['id']}", {"comment": "now"})
        answer = wire.answer()
        assert answer.status == 200
        assert [o["comment"] for o in answer.data if o["id"] == order["id"]] == ["now"]
        assert answer.etag != tag
        assert wire.is_open()


@pytest.mark.parametrize("prefer", ["wait=1", "Wait=1", "respond-async, wait=1"])
def test_a_poll_without_news_ends_with_304_when_its_time_is_up(box, key, api, prefer):
    with Wire(box) as wire:
        answer = ask(wire, key, tag_of(api), prefer).answer()
        assert answer.status == 304
        assert answer.headers["preference-applied"] == "wait=1"
        assert wire.is_open()


@pytest.mark.parametrize("prefer", ["wait", "wait=", "wait=x", "wait=-1", "wait=1.5", "handling=lenient", "nonsense"])
def test_a_preference_that_cannot_be_read_is_ignored(box, key, api, prefer):
    with Wire(box) as wire:
        answer = ask(wire, key, tag_of(api), prefer).answer()
        assert answer.status == 304
        assert "preference-applied" not in answer.headers


def test_a_wait_lasts_thirty_seconds_at_most(box, key, api):
    tag = tag_of(api)
    with Wire(box) as wire:
        ask(wire, key, tag, "wait=600")
        wait_for_requests(box, 1)
        api.place()
        answer = wire.answer()
        assert answer.status == 200
        assert answer.headers.get("preference-applied", "wait=30") == "wait=30"


def test_news_that_are_there_already_are_answered_at_once(box, key, api):
    tag = tag_of(api)
    api.place()
    with Wire(box) as wire:
        assert ask(wire, key, tag, "wait=25").answer().status == 200
        assert wire.send(head("GET", "/v1/orders", f"X-API-Key: {key}", "Prefer: wait=25")).answer().status == 200


def test_another_companys_order_wakes_nobody(box, key, api, other):
    tag = tag_of(api)
    with Wire(box) as wire:
        ask(wire, key, tag, "wait=30")
        wait_for_requests(box, 1)
        other.place()
        order = api.place()
        answer = wire.answer()
        assert answer.status == 200 and order["id"] in [row["id"] for row in answer.data], "the other order ended the wait"


def test_a_poll_without_news_costs_nothing(box, demo):
    with contextlib.closing(box.client(box.make_key(tier="standard", company=demo["id"])["key"])) as client:
        first = client.get("/v1/orders")
        before = int(first.headers["ratelimit-remaining"])
        for _ in range(3):
            answer = client.get("/v1/orders", **{"If-None-Match": first.etag, "Prefer": "wait=1"})
            assert answer.status == 304
            assert int(answer.headers["ratelimit-remaining"]) >= before


def test_waiting_polls_do_not_count_among_the_requests_under_way(box, demo, api):
    key = box.make_key(tier="standard", company=demo["id"])["key"]
    tag = tag_of(api)
    with contextlib.ExitStack() as stack:
        wires = [stack.enter_context(Wire(box)) for _ in range(8)]
        for wire in wires:
            ask(wire, key, tag, "wait=30")
        wait_for_requests(box, 8)
        with contextlib.closing(box.client(key)) as client:
            wait_until(lambda: client.get("/v1/orders?per_page=1").status == 200, "all of them wait")
        api.place()
        assert [wire.answer().status for wire in wires] == [200] * 8


@pytest.mark.parametrize("percent, waiting_max", [(0, 0), (10, 1)])
def test_polls_wait_on_their_share_of_the_workers(percent, waiting_max):
    """One more is answered at once, and does not say that it has waited."""
    box = Box(options=["--workers", "16", "--long-polls-percent", str(percent)])
    try:
        box.bring_in("demo")
        key = box.make_key()["key"]
        box.start()
        with contextlib.closing(box.client(key)) as client:
            tag = tag_of(client)
        with contextlib.ExitStack() as stack:
            for _ in range(waiting_max):
                ask(stack.enter_context(Wire(box)), key, tag, "wait=25")
            wait_for_requests(box, waiting_max)
            answer = ask(stack.enter_context(Wire(box)), key, tag, "wait=25").answer()
            assert answer.status == 304 and "preference-applied" not in answer.headers
    finally:
        box.discard()


def test_a_server_that_stops_lets_nobody_wait():
    box = Box()
    try:
        box.bring_in("demo")
        key = box.make_key()["key"]
        box.start()
        with contextlib.closing(box.client(key)) as client:
            tag = tag_of(client)
        with Wire(box) as wire:
            ask(wire, key, tag, "wait=25")
            wait_for_requests(box, 1)
            assert box.stop() == 0
            assert wire.answer().status in (200, 304, 503)
    finally:
        box.discard()


@pytest.mark.parametrize("path", ["/v1/orders", "/v1/events"])
def test_a_key_that_is_revoked_while_it_waits_is_told_at_once_and_gets_no_news(box, demo, key, api, path):
    order = api.place()
    spare = box.make_key(company=demo["id"])
    following = path
    if path == "/v1/events":
        following += "?per_page=100&after=" + api.get("/v1/orders").headers["x-event-cursor"]
    with Wire(box) as wire, Wire(box) as another:
        ask(another, key, tag_of(api), "wait=30")
        ask(wire, spare["key"], tag_of(api), "wait=30", following)
        wait_for_requests(box, 2)
        assert api.delete("/auth/api-keys/" + spare["id"]).status == 200
        answer = wire.answer()
        assert (answer.status, answer.code) == (401, "key_revoked")
        # The other poll began earlier and still waits: it was the end of the key that ended the first one.
        api.patch(f"/v1/orders/{order['id']}", {"comment": "not for them"})
        assert another.answer().status == 200


def test_a_key_that_loses_its_scope_while_it_waits_gets_no_news(box, demo, api):
    spare = box.make_key(company=demo["id"])
    with Wire(box) as wire:
        ask(wire, spare["key"], tag_of(api), "wait=25")
        wait_for_requests(box, 1)
        assert api.patch("/auth/api-keys/" + spare["id"], {"scopes": ["menu:read"]}).status == 200
        answer = wire.answer()
        assert (answer.status, answer.code) == (403, "insufficient_scope")
