"""kill -9 at the n-th write and sync of the database, and at the n-th connection, send and receipt of the network, in the life
of four messages: delivered at once, refused and late, sent again on request, signed with a new secret. Every n, until the
life passes without a kill; without --long a sample, begun where the seed says. None is lost, copies have the same bytes, an
order's messages arrive in order."""

import base64
import contextlib
import hashlib
import hmac
import time

import pytest

from support.box import LONG, PATIENCE_S
from support.deliveries import check
from support.killer import kills, lie_in_wait, prepared, threads
from support.orders import accepted, exact, item, new_id
from support.receiver import LOOPBACK, Receiver
from support.tills import Restaurant, Till
from support.waiting import wait_until

THREADS = {"pwrite64": "write ", "fdatasync": "write ", "connect": "network", "sendto": "network", "recvfrom": "network"}
STRIDES = {} if LONG else {"pwrite64": 12, "fdatasync": 3, "connect": 2, "sendto": 2, "recvfrom": 5}
LEAST = {"pwrite64": 30, "fdatasync": 8, "connect": 5, "sendto": 5, "recvfrom": 5}


class Life(Restaurant):
    """Its owner goes on with the server that is started when the first one was killed."""

    def __init__(self, data, call, nth):
        super().__init__("life", data=data, tills=0)
        self.box.options += LOOPBACK
        self.owner = Till(self, "owner", 0)
        self.call, self.nth, self.killed, self.refused = call, nth, False, set()

    def line_lost(self):
        if self.box.process.poll() is not None:
            self.start_again()

    def start_again(self):
        assert not self.killed, "it was killed once, and ended again:\n" + self.box.log_text()
        assert self.box.process.returncode == -9, self.box.log_text()
        self.killed = True
        self.killer.wait(PATIENCE_S)
        self.box.start()

    def ask(self, method, path, body=None, status=200):
        return accepted(self.owner.until_answered(method, path, body, new_id()), status)

    def order(self):
        return self.ask("POST", "/v1/orders", {"service_type": "ONSITE"}, 201)

    def answer(self, request):
        """Each message has a connection of its own."""
        return 500 if request.subject in self.refused else 204, {"connection": "close"}, b""

    def until(self, path, fits):
        found = []

        def does_fit():
            found[:] = [self.ask("GET", path)]
            return fits(found[0])

        wait_until(does_fit, lambda: found)
        return found[0]

    def live(self):
        self.box.start()
        with Receiver(self.answer) as receiver, contextlib.closing(self.owner.client):
            after = self.owner.until_answered("GET", "/v1/orders?per_page=1", None, new_id()).headers["x-event-cursor"]
            hook = self.ask("POST", "/v1/webhooks", {"webhook_url": receiver.url, "is_active": False}, 201)
            path = "/v1/webhooks/" + hook["id"]
            good, bad = self.order(), self.order()
            self.ask("POST", f"/v1/orders/{good['id']}/combos", {"combos": [item(5)]})
            self.refused.add(bad["id"])
            self.killer = lie_in_wait(threads(self.box.process.pid, THREADS[self.call]), self.call, self.nth)
            rotated_at, secret = self.deliver(path, good, receiver)
            self.end(path)
            events = exact(self.owner.until_answered("GET", f"/v1/events?after={after}", None, new_id()).body)["data"]
            check(events, receiver.requests)
            signed = [r for r in receiver.requests if r.at > rotated_at]
            assert signed and all(first_signature(r) == standard(secret, r) for r in signed)
            found = self.ask("GET", path)
            assert (found["sequence"], found["backlog"], found["events_lost"]) == (len(events), 0, 0)
            rows = self.ask("GET", path + "/deliveries")
            assert [(d["sequence"], d["state"]) for d in rows] == [(n, "delivered") for n in (4, 3, 2, 1)], rows

    def deliver(self, path, good, receiver):
        """Returns when the secret was changed, and the new one."""
        self.ask("PATCH", path, {"is_active": True})
        self.until(path, lambda hook: hook["backlog"] == 1)  # what is refused is late
        (first, *_) = self.until(path + f"/deliveries?filter[subject_id]={good['id']}&sort=created_at", lambda rows: len(rows) == 2)
        count = len(receiver.requests)
        self.ask("POST", f"{path}/deliveries/{first['id']}/redeliver")
        self.until(path, lambda hook: len(receiver.requests) > count and hook["backlog"] == 1)
        secret = None
        while secret is None:  # a kill may take the only answer that shows it
            secret = self.ask("PATCH", path, {"rotate_secret": True})["secret"]
        rotated_at = time.time()
        self.order()
        self.refused.clear()
        self.ask("PATCH", path, {"is_active": True})
        self.until(path, lambda hook: hook["backlog"] == 0)
        return rotated_at, secret

    def end(self, path):
        if not self.killed:
            if self.box.stop() == 0:
                self.killer.wait(PATIENCE_S)
                self.box.start()
            else:
                self.start_again()
        self.until(path, lambda hook: hook["backlog"] == 0)


def standard(secret, request):
    signed = f"{request.headers['webhook-id']}.{request.headers['webhook-timestamp']}.".encode() + request.body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    return "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()


def first_signature(request):
    return request.headers["webhook-signature"].split(" ")[0]


@pytest.fixture(scope="module")
def data():
    yield from prepared(Restaurant)


@pytest.mark.parametrize("call", THREADS)
def test_every_message_arrives_in_order_through_a_kill_at_any_step_of_its_delivery(data, call, seed):
    stride = STRIDES.get(call, 1)
    killed = kills(Life, data, call, 1 + seed % stride, stride)
    print(f"{killed} kills at {call}")
    assert killed >= LEAST[call] // stride, "the life is hardly disturbed"
