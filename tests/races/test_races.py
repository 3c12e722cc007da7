"""Everybody wants something of the server at once, and clang's thread sanitizer watches it: scripts/test races."""

import contextlib
import http.client
import itertools
import os
import random
import signal
import socket
import ssl
import threading
import time

import pytest

from support.box import BINARY, Box, LONG, PATIENCE_S
from support.raw import Wire, head
from support.tills import LOST_LINE, Restaurant

SECONDS = float(os.environ.get("COMANDA_RACES_SECONDS", 300 if LONG else 20))  # each of two lives
GZIP = {"Accept-Encoding": "gzip"}
OPEN_ORDERS = "/v1/orders?filter[status]=PENDING,PREPARING&per_page=50"
PAGES = ["/v1/orders?per_page=100", "/v1/menu", "/v1/company", "/v1/users", "/v1/clients?filter[search]=a",
         "/v1/orders/by-payment-methods", "/v1/orders/by-tips", "/v1/orders/products-sold", "/auth/api-keys",
         "/v1/orders?sort=-total&filter[status]=FINALIZED", "/metrics", "/readyz", "/v1/openapi.json", "/docs",
         "/v1/orders?per_page=1000", "/v1/nothing"]


class Watched(Box):
    """A server whose sanitizer writes its reports, and those of the commands, beside the data."""

    def __init__(self, data, options, binary):
        super().__init__(data, options, binary)
        self.env = {"TSAN_OPTIONS": os.environ.get("TSAN_OPTIONS", "") + f" log_path={self.data}/race"}

    def reports(self):
        return [path.read_text(errors="replace") for path in sorted(self.data.glob("race.*"))]


class Guest(threading.Thread):
    """Does the same again and again, until nobody is served any more. What a server that stops does to a connection is no
    failure."""

    def __init__(self, house, play):
        super().__init__(daemon=True)
        self.house, self.play, self.turns, self.failure = house, play, 0, None

    def run(self):
        try:
            while not self.house.closing.is_set():
                with contextlib.suppress(*LOST_LINE), contextlib.closing(self.house.box.client(self.house.key)) as client:
                    for _ in self.play(self.house, client):
                        self.turns += 1
                        if self.house.closing.is_set():
                            return
                time.sleep(0.01)
        except BaseException as failure:  # the test reports it
            self.failure = failure


def expect(answer, *statuses):
    assert answer.status in (*statuses, 503), (answer.status, answer.body[:500])
    return answer


# A command that finds no server has the data to itself, so that none can start, and one that starts knows no SIGHUP yet.
office = threading.Lock()


# What they do: generators that yield after each step
def poll_in_the_same_words(house, client):
    fields = {}
    while True:
        answer = expect(client.get(OPEN_ORDERS, **fields), 200, 304)
        fields = {"If-None-Match": answer.headers.get("etag", "none")}
        yield


def wait_for_news(house, client):
    fields = {}
    while True:
        answer = expect(client.get(OPEN_ORDERS, **fields, **GZIP), 200, 304)
        fields = {"If-None-Match": answer.headers.get("etag", "none"), "Prefer": "wait=1"}
        yield


def follow_the_feed(house, client):
    after = client.get("/v1/orders?per_page=1").headers.get("x-event-cursor")
    while after:
        answer = expect(client.get(f"/v1/events?after={after}", Prefer="wait=1"), 200)
        after = answer.json.get("next")
        yield


def look_at_every_page(house, client):
    for path in itertools.cycle(PAGES):
        client.get(path, **(GZIP if random.random() < 0.7 else {}))
        yield


def change_the_locks(house, client):
    """Somebody works with a key while its scopes change and it is revoked."""
    while True:
        made = expect(client.post("/auth/api-keys", {"name": "guest", "scopes": ["orders:read", "menu:read"]}), 201)
        if made.status == 503:
            return
        path = "/auth/api-keys/" + made.data["id"]
        with contextlib.closing(house.box.client(made.data["key"])) as holder:
            for scopes, expected in [(["orders:read"], 200), (["menu:read"], 403), (["orders:read"], 200)]:
                if expect(client.patch(path, {"scopes": scopes}), 200).status == 200:
                    expect(holder.get("/v1/orders?per_page=5"), expected)
                yield
            if expect(client.delete(path), 200).status == 200:
                expect(holder.get("/v1/orders?per_page=5"), 401)
        yield


def lose_patience(house, client):
    """Connections that end in the middle: of a handshake, a head, a body, an answer; and strangers."""
    for turn in itertools.count():
        with contextlib.suppress(*LOST_LINE):
            if turn % 6 == 0:
                with socket.create_connection(("127.0.0.1", house.box.port), timeout=PATIENCE_S) as plain:
                    plain.sendall(b"\x16\x03\x01\x02\x00")
            elif turn % 6 == 5:
                stranger = house.box.client(f"cmd_live_{turn:040d}")
                with contextlib.closing(stranger):
                    expect(stranger.get("/v1/orders"), 401, 429)
            else:
                with Wire(house.box) as wire:
                    key = "X-API-Key: " + house.key
                    wire.send([b"GET /v1/or", head("POST", "/v1/orders", key, "Content-Length: 500") + b"{",
                               head("GET", "/v1/openapi.json"), head("GET", "/v1/menu", key) * 5][turn % 6 - 1])
        yield


def be_slow(house, client):
    while True:
        with contextlib.suppress(*LOST_LINE), Wire(house.box) as wire:
            for byte in head("GET", "/healthz")[:-1]:
                wire.send(bytes([byte]))
                time.sleep(0.2)
                yield


def administer(house, client):
    """Settings and certificates are read again, the same restaurant is imported again."""
    for turn in itertools.count():
        (house.box.data / "comanda.conf").write_text(f"hosts = box{turn}.restaurant.example\n")
        with office:
            house.box.signal(signal.SIGHUP)
        for words in ["import", "demo"], ["keys", "list"], ["audit"]:
            with office:
                house.box.command(*words, "--data", str(house.box.data), check=False)
        yield


PLAYS = [poll_in_the_same_words] * 3 + [wait_for_news] * 2 + [follow_the_feed] * 2 + [look_at_every_page] * 2 + [
    change_the_locks, lose_patience, be_slow, administer]


@pytest.fixture
def house(seed):
    house = Restaurant("races", tills=6, seed=seed, kind=Watched)
    yield house
    house.closing.set()
    house.box.kill_if_running()
    house.box.discard()


def work(house, guests, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        house.wait_for_an_answer()
        for guest in guests:
            if guest.failure:
                raise guest.failure


def test_nothing_is_shared_without_a_lock(house):
    assert b"__tsan_init" in BINARY.read_bytes(), f"{BINARY} is not compiled with the thread sanitizer: scripts/test races"
    house.open()
    guests = [Guest(house, play) for play in PLAYS]
    for guest in guests:
        guest.start()
    statuses = []
    try:
        work(house, guests, SECONDS)
        statuses.append(house.box.stop())  # while all of them go on
        with office:
            house.box.start()
        work(house, guests, SECONDS)
        house.close()
        for guest in guests:
            guest.join(PATIENCE_S * 2)
            assert not guest.is_alive(), f"{guest.play.__name__} hangs"
        statuses.append(house.box.stop())
    finally:
        reports = house.box.reports()
        turns = {play.__name__: sum(guest.turns for guest in guests if guest.play is play) for play in PLAYS}
        print(f"{len(house.writes())} writes; {turns}; {sum(text.count('WARNING: ') for text in reports)} reports")
        if reports:
            pytest.fail(reports[0][:8000])
    assert statuses == [0, 0], house.box.log_text()[-3000:]
    assert all(turns.values()), f"somebody was never served: {turns}"
