"""One key that asks for the largest answers there are, and does not read them: memory stays bounded, displays are served,
what was asked too much for is told 400 or 503, and everything is there again once the connections end
(contract section 1, Budgets in bytes)."""

import contextlib
import pathlib
import re
import socket
import threading
import time

import pytest

from support.big_orders import add_big_items
from support.box import Box, PATIENCE_S
from support.orders import accepted, path, refused
from support.waiting import wait_until

MIB = 1024 * 1024
ANSWER_MAX = 16 * MIB
MEMORY_MAX = 200 * MIB
ORDERS = 36


@pytest.fixture(scope="module")
def house():
    """A restaurant with ORDERS orders of about 490 KB, and one small one at a table."""
    box = Box()
    try:
        box.bring_in("demo")
        box.start()
        with contextlib.closing(box.client(box.make_key()["key"])) as api:
            box.big = [api.place() for _ in range(ORDERS)]
            for order in box.big:
                add_big_items(api, order, 10)
            api.place(service_type="TAKEAWAY")
        yield box
    finally:
        box.discard()


@pytest.fixture
def api(house):
    with contextlib.closing(house.client(house.make_key()["key"])) as client:
        yield client


def memory(box, what="VmRSS"):
    status = pathlib.Path(f"/proc/{box.process.pid}/status").read_text()
    return int(re.search(what + r":\s+(\d+) kB", status)[1]) * 1024


class Unread:
    """A client that asks and does not read the answer; its socket takes a few kilobytes."""

    def __init__(self, box, key, target):
        plain = socket.socket()
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        plain.settimeout(PATIENCE_S)
        plain.connect(("127.0.0.1", box.port))
        self.socket = box.client().tls().wrap_socket(plain, server_hostname="localhost")
        self.socket.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\r\n".encode())

    def status(self):
        return int(self.socket.recv(12).split(b" ")[1])

    def close(self):
        self.socket.close()


def ask_and_do_not_read(box, stack, keys):
    """Sixteen of them, each for another page of 20 orders; their statuses."""
    clients = []
    for n in range(16):
        target = f"/v1/orders?filter[start_date]=20{10 + n}-01-01"
        client = Unread(box, keys[n % len(keys)], target)
        clients.append(stack.enter_context(contextlib.closing(client)))
    return [client.status() for client in clients]


def test_a_page_that_would_be_too_large_names_the_largest_that_fits(api):
    answer = api.get("/v1/orders?per_page=100&sort=created_at")
    refused(answer, 400, "invalid_parameter", {"per_page": "out_of_range"})
    fits = int(re.search(r"per_page=(\d+)", answer.json["detail"])[1])
    page = api.get(f"/v1/orders?per_page={fits}&sort=created_at")
    assert page.status == 200 and len(page.data) == fits
    assert ANSWER_MAX - MIB < len(page.body) <= ANSWER_MAX
    assert api.get(f"/v1/orders?per_page={fits + 1}&sort=created_at").status == 400
    default = api.get("/v1/orders")
    assert default.status == 200 and len(default.data) == 20
    assert api.get("/v1/orders?per_page=100&filter[include]=none").status == 200


def test_the_feed_ends_its_pages_early_and_misses_nothing(api):
    seen, cursor, largest = [], None, 0
    while True:
        page = api.get("/v1/events?per_page=100" + (f"&after={cursor}" if cursor else ""))
        assert page.status == 200
        largest = max(largest, len(page.body))
        if not page.data:
            break
        seen += [event["cursor"] for event in page.data]
        cursor = page.json["next"]
        assert cursor == seen[-1]
    assert largest <= ANSWER_MAX
    assert len(seen) == len(set(seen)) >= 2 * ORDERS + 1


def test_sixteen_clients_that_do_not_read_get_their_keys_share_alone(house, api):
    key = house.make_key()["key"]
    with contextlib.ExitStack() as stack:
        statuses = ask_and_do_not_read(house, stack, [key])
        assert set(statuses) == {200, 503} and statuses.count(200) == 1, statuses
        mine = house.client(key)
        answer = mine.get("/v1/orders?per_page=19")
        refused(answer, 503, "service_unavailable")
        assert answer.headers["retry-after"] == "1"
        # What is small is served, and so is what is written; others are not concerned.
        assert mine.get("/v1/orders?filter[service_type]=TAKEAWAY").status == 200
        accepted(mine.patch(path(house.big[0]), {"order_title": str(time.time())}))
        assert api.get("/v1/orders").status == 200
        mine.close()
    assert memory(house) < MEMORY_MAX


def test_what_all_keys_get_is_bounded_and_given_back(house):
    keys = [house.make_key(name=f"till {n}")["key"] for n in range(16)]
    for _ in range(3):  # what a round does not give back, the next one lacks
        with contextlib.ExitStack() as stack:
            statuses = ask_and_do_not_read(house, stack, keys)
            assert 4 <= statuses.count(200) <= 7 and set(statuses) == {200, 503}, statuses
            assert memory(house) < MEMORY_MAX
    for key in keys:
        with contextlib.closing(house.client(key)) as client:
            wait_until(lambda: client.get("/v1/orders").status == 200, house.log_text)
    assert memory(house, "VmHWM") < MEMORY_MAX + 50 * MIB


def test_a_kitchen_display_is_served_beside_six_readers_of_large_events(house, api):
    end = threading.Event()
    failures = []

    def follow(key):
        with contextlib.closing(house.client(key)) as client:
            cursor = ""
            while not end.is_set():
                page = client.get("/v1/events?per_page=60" + cursor)
                if page.status not in (200, 503):
                    failures.append(page)
                cursor = f"&after={page.json['next']}" if page.status == 200 and page.data else ""

    readers = [threading.Thread(target=follow, args=(house.make_key(name=f"feed {n}")["key"],)) for n in range(6)]
    for reader in readers:
        reader.start()
    try:
        for _ in range(50):
            answer = api.get("/v1/orders?filter[service_type]=TAKEAWAY")
            assert answer.status == 200, answer.body
            assert memory(house) < MEMORY_MAX
    finally:
        end.set()
        for reader in readers:
            reader.join()
    assert not failures
