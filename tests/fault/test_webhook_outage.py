"""A receiver of webhooks that refuses connections while orders are placed, and comes back: everything arrives once, numbered
without a gap, each order's messages in order, and what waits costs no memory. Prints how fast the backlog is delivered, and
what the tills feel meanwhile."""

import concurrent.futures
import contextlib
import os
import threading
import time
import uuid

from fault.test_soak import look
from support.box import LONG, PATIENCE_S, Box, free_port
from support.orders import accepted
from support.quick_client import QuickClient
from support.receiver import LOOPBACK, Receiver
from support.waiting import wait_until

EVENTS = int(os.environ.get("COMANDA_OUTAGE_EVENTS", 100_000 if LONG else 1_500))
TILLS = 4
PACE_S = 0.02  # of the order requests that are timed
GROWTH_BYTES_MAX = 8 << 20
ADD = '{"combos":[{"product_name":"Jalea","quantity":2,"variant_price":24.5}]}'


class Counter(Receiver):
    """Keeps of each request what the test compares: a backlog of 100,000 fits in memory."""

    def __init__(self, **more):
        self.found = []
        super().__init__(**more)

    def record(self, request):
        message = request.json
        if message["event_type"] != "WEBHOOK_TEST":
            self.found.append((message["sequence"], message["data"]["id"], message["data"]["version"], message["event_id"]))


class Counters(threading.Thread):
    """A till that places orders at a steady pace and notes how long each took."""

    def __init__(self, box, key):
        super().__init__(daemon=True)
        self.client, self.key, self.ending, self.times, self.failure = QuickClient(box), key, threading.Event(), [], None

    def run(self):
        try:
            while not self.ending.wait(PACE_S):
                begin = time.monotonic()
                answer = self.client.send(self.key, "POST", "/v1/orders", '{"service_type":"ONSITE"}', str(uuid.uuid4()))
                assert answer.status == 201, answer
                self.times.append(time.monotonic() - begin)
        except BaseException as failure:
            self.failure = failure

    def end(self):
        self.ending.set()
        self.join(PATIENCE_S)
        self.client.close()
        assert self.failure is None, self.failure
        return len(self.times), sorted(self.times)[len(self.times) * 99 // 100] * 1000


@contextlib.contextmanager
def ordering(box, key):
    till = Counters(box, key)
    till.start()
    try:
        yield till
    finally:
        till.ending.set()


def make_events(box, key, count):
    """Two to an order, from several tills at once."""
    def serve(orders):
        with contextlib.closing(QuickClient(box)) as client:
            for _ in range(orders):
                order = client.send(key, "POST", "/v1/orders", '{"service_type":"ONSITE"}', str(uuid.uuid4()))
                assert order.status == 201, order
                answer = client.send(key, "POST", f"/v1/orders/{order.data['id']}/combos", ADD, str(uuid.uuid4()))
                assert answer.status == 200, answer

    with concurrent.futures.ThreadPoolExecutor(TILLS) as pool:
        list(pool.map(serve, [count // 2 // TILLS + 1] * TILLS))


def check(found, count):
    assert sorted(f[0] for f in found) == list(range(1, count + 1)), "numbers are missing, or came twice"
    assert len({f[3] for f in found}) == count
    versions = {}
    for _, order, version, _ in found:
        assert version == versions.get(order, 0) + 1, f"{order}: {version} behind {versions.get(order, 0)}"
        versions[order] = version


def test_everything_made_while_a_receiver_is_away_arrives_once_and_in_order():
    box, port = Box(options=LOOPBACK), free_port()
    try:
        box.bring_in("demo")
        key = box.make_key()["key"]
        box.start()
        with contextlib.closing(box.client(key)) as api:
            hook = accepted(api.post("/v1/webhooks", {"webhook_url": f"http://127.0.0.1:{port}/hook"}), 201)
            path = "/v1/webhooks/" + hook["id"]
            make_events(box, key, EVENTS)
            with ordering(box, key) as till:
                wait_until(lambda: len(till.times) >= 50 or till.failure, "50 orders")
            _, alone_ms = till.end()
            before = look(box)["resident"]
            waiting = accepted(api.get(path))["backlog"]
            assert waiting >= EVENTS
            with Counter(port=port) as receiver, ordering(box, key) as till:
                begin, most = time.monotonic(), 0
                assert accepted(api.post(path + "/test"))["state"] == "delivered"  # makes all due
                while (arrived := len(receiver.found)) < waiting:
                    wait_until(lambda: len(receiver.found) > arrived, f"more than {arrived} of {waiting} messages")
                    most = max(most, look(box)["resident"])
                seconds = time.monotonic() - begin
                orders, meanwhile_ms = till.end()
                # Those that the till placed, too.
                wait_until(lambda: accepted(api.get(path))["backlog"] == 0, lambda: api.get(path).body)
                found = accepted(api.get(path))
                check(receiver.found, found["sequence"])
        print(f"{waiting} events waited, {waiting / seconds:.0f}/s; order requests: p99 {meanwhile_ms:.1f} ms meanwhile "
              f"({orders} of them), {alone_ms:.1f} ms before; memory {(most - before) / 1024:+.0f} KiB")
        assert found["sequence"] >= waiting + orders and found["events_lost"] == 0 and found["suspended_at"] is None
        assert most - before < GROWTH_BYTES_MAX
        assert box.stop() == 0
    finally:
        box.discard()
