"""Tills and an integration that work through HAProxy while machines of the head office fail, and what must be true afterwards:
nothing that was acknowledged is lost or doubled, no event is missing."""

import contextlib
import random
import threading
import time

from support.head_office import FAILOVER_MAX_S
from support.tills import LOST_LINE, Till, kept
from support.waiting import wait_until

# 502 and 504 are HAProxy's, where it does not know what became of a request; 503 says that nothing was done. Each repeats its
# request with the same key after any of them.
NO_ANSWER = {502, 503, 504}
SQL_OF_LOSS = """
SELECT 'events missing', count(*) FROM (SELECT company_id, max(seq) - min(seq) + 1 - count(*) AS gap FROM event GROUP BY company_id) AS g WHERE gap <> 0;
SELECT 'events beside their counter', count(*) FROM company_counter c WHERE event_seq <> (SELECT coalesce(max(seq), 0) FROM event e WHERE e.company_id = c.company_id);
SELECT 'events twice', count(*) - count(DISTINCT event_id) FROM event;
SELECT 'versions of an order twice', count(*) FROM (SELECT 1 FROM event WHERE subject_type = 'order' GROUP BY company_id, subject_id, subject_version HAVING count(*) > 1) AS t;
SELECT 'events beside versions of orders', (SELECT count(*) FROM event WHERE subject_type = 'order') - (SELECT coalesce(sum(version), 0) FROM orders);
SELECT 'references twice', count(*) - count(DISTINCT reference) FROM orders;
SELECT 'payments beside totals', count(*) FROM orders o WHERE total_paid <> (SELECT coalesce(sum(amount), 0) FROM payment p WHERE p.company_id = o.company_id AND p.order_id = o.id AND canceled_at IS NULL);
"""


class OfficeTill(Till):
    def until_answered(self, method, path, body, key):
        def answer():
            try:
                answer = self.client.send(method, path, body, {"Idempotency-Key": key})
                if answer.status not in NO_ANSWER:
                    return answer
            except LOST_LINE:
                self.client.close()
            self.retries += 1
            return None

        return wait_until(answer, f"{method} {path} is not answered", FAILOVER_MAX_S * 2)


class Follower(threading.Thread):
    """An integration that follows the events by their cursor, and remembers each."""

    def __init__(self, shift):
        super().__init__(daemon=True)
        self.shift = shift
        self.client = shift.box.client(shift.key)
        self.cursor = wait_until(self._position, "no cursor", FAILOVER_MAX_S)
        self.seen = []
        self.started_again = 0  # cursors that were refused, with 410
        self.failure = None

    def _position(self):
        with contextlib.suppress(*LOST_LINE):
            answer = self.client.get("/v1/orders?per_page=1")
            return answer.headers["x-event-cursor"] if answer.status == 200 else None
        self.client.close()

    def run(self):
        try:
            # Once more after the tills have ended, until there is nothing new.
            while self.read() or not self.shift.is_over.is_set():
                pass
        except BaseException as failure:  # the test reports it
            self.failure = failure
        finally:
            self.client.close()

    def read(self):
        """Whether there was something new, or may be."""
        try:
            answer = self.client.get(f"/v1/events?after={self.cursor}&per_page=100", Prefer="wait=1")
        except LOST_LINE:
            self.client.close()
            return True
        if answer.status in NO_ANSWER:
            time.sleep(0.1)
            return True
        if answer.status == 410:
            self.started_again += 1
            self.cursor = answer.json["oldest_cursor"]
            self.seen.clear()
            return True
        kept(answer.status == 200, answer)
        self.seen += [row["event_id"] for row in answer.json["data"]]
        self.cursor = answer.json["next"]
        return bool(answer.json["data"])


class Moment:
    """A random moment of the tills' work, and what came of it."""

    def __init__(self, shift, round):
        self.shift, self.random = shift, random.Random(round)
        shift.wait_for_answers(self.random.randrange(1, 40))
        time.sleep(self.random.random() / 20)
        self.at = time.monotonic()

    def tell(self, what):
        self.shift.wait_for_answers(20)
        print(f"{what}: {self.shift.pause_after(self.at):.1f} s without an acknowledged write")


class Shift:
    """Tills at work at a head office, from __enter__ on. It takes the place of tills.Restaurant for them."""

    number = 0

    def __init__(self, office, seed, tills=4):
        Shift.number += 1
        self.office, self.box, self.key = office, office, office.key
        self.name = f"shift{Shift.number}"
        self.closing, self.is_over = threading.Event(), threading.Event()
        self.news = threading.Condition()
        self.times = []  # of each acknowledged write; guarded by news
        self.first_event = self.one("SELECT coalesce(max(seq), 0) FROM event")
        self.tills = [OfficeTill(self, number, seed * 100 + number) for number in range(tills)]
        self.follower = Follower(self)

    def one(self, sql):
        return int(self.office.wait_for_primary().psql(f"SET search_path = live;\n{sql};\n"))

    def __enter__(self):
        self.follower.start()
        for till in self.tills:
            till.start()
        self.wait_for_answers(5)
        return self

    # What the tills call
    def answered(self):
        with self.news:
            self.times.append(time.monotonic())
            self.news.notify_all()

    def line_lost(self):
        pass

    # What the test calls
    def wait_for_answers(self, count):
        """Until that many writes more are acknowledged."""
        with self.news:
            wanted = len(self.times) + count
            begin = time.monotonic()
            while len(self.times) < wanted:
                self.news.wait(0.2)
                for worker in (*self.tills, self.follower):
                    if worker.failure:
                        raise worker.failure
                assert time.monotonic() - begin < FAILOVER_MAX_S * 2, "no till is answered: " + self.office.complaints()

    def pause_after(self, moment):
        """For how long nothing was acknowledged, from `moment` on: the longest time between two, in seconds."""
        with self.news:
            times = [moment, *(at for at in self.times if at > moment)]
        return max(after - before for before, after in zip(times, times[1:]))

    def __exit__(self, kind, *_):
        self.closing.set()
        if kind:
            self.is_over.set()
            return
        for till in self.tills:
            till.join(FAILOVER_MAX_S * 3)
            assert not till.is_alive(), "a till hangs: " + self.office.complaints()
        self.is_over.set()
        self.follower.join(FAILOVER_MAX_S * 2)
        for worker in (*self.tills, self.follower):
            if worker.failure:
                raise worker.failure
        self.check()

    def check(self):
        """Everything acknowledged is there once, as it was acknowledged."""
        # A former primary that has just woken up says for a moment that it still is one.
        self.office.make_whole()
        primary = self.office.wait_for_primary()
        for row in primary.psql("SET search_path = live;\n" + SQL_OF_LOSS).splitlines():
            what, count = row.split("|")
            kept(count == "0", what, count)
        with contextlib.closing(self.box.client(self.key)) as client:
            for till in self.tills:
                for order, answer in till.orders.items():
                    found = wait_until(lambda: self._get(client, "/v1/orders/" + order), "no answer", FAILOVER_MAX_S)
                    kept(found.body == answer, f"order {order} is not as it was acknowledged", answer, found)
        acknowledged = {order for till in self.tills for order in till.orders}
        stored = set(primary.psql(f"SELECT id FROM live.orders WHERE reference LIKE '{self.name}-%'").split())
        kept(stored == acknowledged, "orders beside those that were acknowledged", stored ^ acknowledged)
        # Where its cursor was refused, it has begun again at the oldest event.
        first = 0 if self.follower.started_again else self.first_event
        events = primary.psql(f"SELECT event_id FROM live.event WHERE seq > {first} ORDER BY seq").split()
        kept(self.follower.seen == events, "the cursor has skipped or repeated events", len(self.follower.seen), len(events))

    @staticmethod
    def _get(client, path):
        with contextlib.suppress(*LOST_LINE):
            answer = client.get(path)
            return None if answer.status in NO_ANSWER else answer
        client.close()

    def orders(self):
        return sum(len(till.orders) for till in self.tills)
