"""Displays that poll in the same words on the same connection (contract section 6): 304 until something changes that
would change the answer."""

import contextlib
import datetime
import json
import time
import zoneinfo

import pytest

from support.box import Box
from support.metrics import of_box
from support.orders import accepted
from support.raw import Wire, head
from support.waiting import wait_until

KEYS = "/auth/api-keys"
OF_ONE_ANSWER = {"x-request-id", "date"}


class Display:
    """Sends one and the same head again and again."""

    def __init__(self, box, key, path, *fields):
        self.wire = Wire(box)
        self.fields = [f"X-API-Key: {key}", *fields]
        self.path = path
        self.words = head("GET", path, *self.fields)

    def __enter__(self):
        self.wire.__enter__()
        return self

    def __exit__(self, *what):
        self.wire.__exit__(*what)

    def ask(self):
        return self.wire.send(self.words).answer()

    def learn(self):
        """Asks for the answer's tag and sends that from now on."""
        tag = self.ask().etag
        self.words = head("GET", self.path, *self.fields, f"If-None-Match: {tag}")
        return tag


@pytest.fixture
def order(api):
    return api.place()


@pytest.fixture
def paths(order):
    return ["/v1/orders?per_page=5", f"/v1/orders/{order['id']}"]


def test_the_same_words_get_the_same_answer_until_an_order_changes(box, key, api, order, paths):
    for path in paths:
        with Display(box, key, path) as display:
            tag = display.learn()
            first, *later = [display.ask() for _ in range(5)]
            assert first.status == 304 and first.etag == tag
            for answer in later:
                assert answer.status == 304 and answer.body == b""
                assert ({n: v for n, v in answer.headers.items() if n not in OF_ONE_ANSWER}
                        == {n: v for n, v in first.headers.items() if n not in OF_ONE_ANSWER})
            assert len({answer.headers["x-request-id"] for answer in (first, *later)}) == 5
            accepted(api.patch(f"/v1/orders/{order['id']}", {"comment": f"changed for {path}"}))
            changed = display.ask()
            assert changed.status == 200 and changed.etag != tag
            assert display.ask().etag == changed.etag, "words with an old tag go on getting the new answer"


def test_what_an_import_changes_is_noticed(demo, tmp_path):
    box = Box()
    box.bring_in("demo")
    key = box.make_key()["key"]
    box.start()
    with contextlib.ExitStack() as stack:
        displays = [stack.enter_context(Display(box, key, path)) for path in ("/v1/menu", "/v1/company", "/v1/clients", "/v1/users")]
        for display in displays:
            display.learn()
            assert [display.ask().status for _ in range(3)] == [304] * 3, display.path
        changed = json.loads(json.dumps(demo))
        for record in (changed, changed["clients"][0], changed["users"][0], changed["categories"][0]):
            record["name"] = "Otro nombre"
        file = tmp_path / "changed.json"
        file.write_text(json.dumps({"companies": [changed]}))
        box.bring_in(file)
        for display in displays:
            assert display.ask().status == 200, display.path
    assert box.discard() == 0


def test_an_order_of_another_restaurant_changes_nothing(box, key, other, paths):
    with Display(box, key, paths[0]) as display:
        display.learn()
        assert display.ask().status == 304
        other.place()
        assert [display.ask().status for _ in range(2)] == [304] * 2


def test_two_displays_that_take_turns_on_one_connection_are_told_apart(box, key, other_key, api):
    """As behind a proxy."""
    with Display(box, key, "/v1/orders?per_page=1") as display:
        tag = display.learn()
        ours = display.words
        theirs = ours.replace(key.encode(), other_key.encode())
        assert theirs != ours
        for _ in range(2):
            assert [display.wire.send(ours).answer().status for _ in range(2)] == [304, 304]
            strange = display.wire.send(theirs).answer()
            assert strange.status == 200 and strange.etag != tag


def test_a_key_that_loses_a_scope_or_ends_is_refused_at_once(box, api, paths):
    made = accepted(api.post(KEYS, {"name": "display", "scopes": ["orders:read", "menu:read"]}), 201)
    for path in paths:
        accepted(api.patch(f"{KEYS}/{made['id']}", {"scopes": ["orders:read", "menu:read"]}))
        with Display(box, made["key"], path) as display:
            display.learn()
            assert [display.ask().status for _ in range(3)] == [304] * 3
            accepted(api.patch(f"{KEYS}/{made['id']}", {"scopes": ["menu:read"]}))
            assert [display.ask().code for _ in range(2)] == ["insufficient_scope"] * 2
            accepted(api.patch(f"{KEYS}/{made['id']}", {"scopes": ["orders:read"]}))
            assert display.ask().status in (200, 304)
    with Display(box, made["key"], paths[0]) as display:
        display.learn()
        assert [display.ask().status for _ in range(3)] == [304] * 3
        accepted(api.delete(f"{KEYS}/{made['id']}"))
        assert display.ask().code == "key_revoked"


def test_a_display_that_waits_waits_each_time(box, key, paths):
    with Display(box, key, paths[0], "Prefer: wait=1") as display:
        display.learn()
        for _ in range(2):
            begin = time.monotonic()
            answer = display.ask()
            assert answer.status == 304 and answer.headers["preference-applied"] == "wait=1"
            assert time.monotonic() - begin > 0.5


def test_polls_cost_no_request_of_the_rate(box, api, paths):
    made = accepted(api.post(KEYS, {"name": "display", "scopes": ["orders:read"]}), 201)
    with Display(box, made["key"], paths[0]) as display:
        display.learn()
        time.sleep(1)  # the bucket is full again
        left = [display.ask().headers["ratelimit-remaining"] for _ in range(20)]
        assert len(set(left)) == 1, left


def test_a_head_that_was_refused_is_refused_again(box, key):
    for _ in range(2):
        with Wire(box) as wire:
            assert wire.send(head("GET", "/v1/orders", f"X-API-Key: {key}", host="evil.example")).answer().status == 421
    with Display(box, "cmd_live_nonsense", "/v1/orders") as display:
        assert [display.ask().status for _ in range(2)] == [401, 401]


def test_words_that_were_cut_are_not_taken_for_the_whole(box, key, api, paths):
    with Display(box, key, paths[0]) as display:
        display.learn()
        assert display.ask().status == 304
        display.wire.send(display.words[:-7])
        wait_until(lambda: of_box(box)['comanda_http_connections{listener="https",state="head"}'], "the first part is read")
        assert display.wire.send(display.words[-7:]).answer().status == 304
        display.wire.send(display.words * 4)
        assert [display.wire.answer().status for _ in range(4)] == [304] * 4


def test_the_cursor_of_a_list_is_as_new_as_its_answer_when_only_the_menu_has_changed(api, house):
    api.place()
    first = api.get("/v1/orders")
    product = api.post("/v1/menu/products", {"name": "Flan", "category_name": "Postres", "price": 5}).data
    assert api.patch("/v1/menu/products/" + product["id"], {"description": "de lúcuma"}).status == 200
    for headers, status in (({}, 200), ({"If-None-Match": first.etag}, 304)):
        answer = api.get("/v1/orders", **headers)
        assert answer.status == status
        assert answer.headers["x-event-cursor"] != first.headers["x-event-cursor"]
        feed = api.get("/v1/events?after=" + answer.headers["x-event-cursor"])
        assert feed.data == [], "every event is before the newest cursor"
    api.place()
    assert [e["event_type"] for e in api.get("/v1/events?after=" + answer.headers["x-event-cursor"]).data] == ["ORDER_CREATED"]


def test_a_list_by_days_follows_an_import_that_changes_the_time_zone(demo):
    box = Box()
    try:
        box.bring_in("demo")
        box.start()
        with contextlib.closing(box.client(box.make_key()["key"])) as api:
            order = api.place()
            created = datetime.datetime.fromisoformat(order["created_at"].replace("Z", "+00:00"))
            # Somewhere it is always another day than here.
            zones = {zone: created.astimezone(zoneinfo.ZoneInfo(zone)).date() for zone in ("Etc/GMT+12", "Etc/GMT-14")}
            (here, today), (there, other_day) = sorted(zones.items())
            assert today != other_day

            def move_to(zone):
                file = box.data / "moved.json"
                file.write_text(json.dumps({"companies": [{**demo, "timezone": zone}]}))
                box.bring_in(file)

            move_to(here)
            first = api.get(f"/v1/orders?filter[start_date]={today}&filter[end_date]={today}")
            assert [row["id"] for row in first.data] == [order["id"]]
            move_to(there)
            moved = api.get(f"/v1/orders?filter[start_date]={today}&filter[end_date]={today}",
                            **{"If-None-Match": first.etag})
            assert moved.status == 200 and moved.data == []
    finally:
        box.discard()
