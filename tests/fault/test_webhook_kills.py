"""kill -9 at random moments while webhooks are delivered to receivers that fail now and then: every event of the log arrives,
the first copies in the order of the log for each order, all copies with the same bytes, numbered without a gap."""

import contextlib
import os
import random
import time

from support.box import LONG, PATIENCE_S, free_port
from support.deliveries import check
from support.orders import accepted, exact, new_id
from support.receiver import LOOPBACK, Receiver, answers, breaks_off_body, breaks_off_head
from support.tills import Restaurant, Till
from support.waiting import wait_until

KILLS = int(os.environ.get("COMANDA_WEBHOOK_KILLS", 1000 if LONG else 12))
START_S = 0.03         # about what it takes to be ready
LONGEST_S = 2          # between two kills: progress is stored once a second
PAUSE_S = 0.1          # of a till behind each write: the receivers keep up, and a long run fits in memory
BAD = [answers(500), answers(429, retry_after=1), breaks_off_head, breaks_off_body]


class House(Restaurant):
    """Its tills take their time."""

    def __init__(self, seed):
        super().__init__(seed=seed)
        self.box.options += LOOPBACK
        self.owner = Till(self, "owner", seed)  # asks for what the test needs; serves no guests

    def answered(self):
        super().answered()
        time.sleep(PAUSE_S)

    def ask(self, method, path, body=None):
        return self.owner.until_answered(method, path, body, new_id())

    def events(self, after):
        """The feed behind the cursor, with every number as its text."""
        while True:
            page = exact(self.ask("GET", f"/v1/events?after={after}&per_page=100").body)
            if not page["data"]:
                return
            yield from page["data"]
            after = page["next"]


class Unreliable:
    """A receiver that answers badly at random, and whose server can be stopped and started again on the same port."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.port, self.servers, self.is_open, self.is_healed = free_port(), [], False, False
        self.start()

    def start(self):
        if not self.is_open:
            self.servers.append(Receiver(self.answer, port=self.port))
            self.is_open = True

    def stop(self):
        if self.is_open:
            self.servers[-1].close()
            self.is_open = False

    def answer(self, request):
        time.sleep(self.random.uniform(0, 0.03))
        if self.is_healed or self.random.random() > 0.08:
            return 204, {}, b""
        return self.random.choice(BAD)(request)

    def heal(self):
        self.is_healed = True
        self.start()

    def requests(self):
        """All that arrived whole, in order of arrival: a kill cuts some off."""
        return [r for server in self.servers for r in server.requests
                if r.headers.get("content-length") == str(len(r.body))]


def subscribe(house, receiver, **fields):
    hook = accepted(house.ask("POST", "/v1/webhooks", {"webhook_url": receiver.servers[0].url, **fields}), 201)
    return "/v1/webhooks/" + hook["id"]


def kill_again_and_again(house, hooks, receivers, moments):
    for _ in range(KILLS):
        for receiver in receivers:
            receiver.stop() if moments.random() < 0.15 else receiver.start()
        # Some kills meet the start and what it recovers.
        if moments.random() < 0.1:
            time.sleep(moments.uniform(0, START_S))
        else:
            house.wait_for_an_answer()
            if moments.random() < 0.6:  # else what failed waits for 30 s, here and behind the kill
                house.ask("PATCH", moments.choice(hooks), {"is_active": True})
            time.sleep((LONGEST_S + 1) ** moments.random() - 1)
        house.box.kill()
        house.box.launch()


def wait_until_delivered(house, hook):
    """Makes due what is late, until nothing is left to deliver."""
    def found():
        webhook = accepted(house.ask("PATCH", hook, {"is_active": True}))
        if not webhook["backlog"]:
            return webhook
        time.sleep(1)  # what is made due is delivered in that time, or fails

    return wait_until(found, lambda: house.ask("GET", hook).body, 4 * PATIENCE_S)


def test_every_event_reaches_its_receivers_through_kill_9(seed):
    moments = random.Random(seed)
    house = House(seed)
    with contextlib.ExitStack() as stack:
        stack.callback(house.box.discard)
        receivers = [Unreliable(seed + n) for n in (1, 2)]
        for receiver in receivers:
            stack.callback(receiver.stop)
        house.box.start()
        after = house.ask("GET", "/v1/orders?per_page=1").headers["x-event-cursor"]
        hooks = [subscribe(house, receivers[0], events=["*"]), subscribe(house, receivers[1])]
        for till in house.tills:
            till.start()
        kill_again_and_again(house, hooks, receivers, moments)
        for receiver in receivers:
            receiver.heal()
        house.close()
        found = [wait_until_delivered(house, hook) for hook in hooks]
        events = list(house.events(after))
        of_orders = [e for e in events if e["event_type"].startswith("ORDER_")]
        assert 0 < len(of_orders) < len(events)
        for hook, receiver, wanted in zip(found, receivers, (events, of_orders), strict=True):
            requests = receiver.requests()
            repeated = len(requests) - len(wanted)
            print(f"{KILLS} kills, {len(wanted)} events, {repeated} copies more, {len(receiver.servers)} servers")
            check(wanted, requests)
            assert (hook["sequence"], hook["events_lost"], hook["suspended_at"]) == (len(wanted), 0, None)
            assert repeated > KILLS / 4, "hardly a message was repeated: the test proves nothing"
        assert house.box.stop() == 0
