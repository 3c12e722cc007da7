"""kill -9 at random moments under load from clients that retry with the same key: nothing that was
acknowledged is lost, nothing is doubled, every replay is the first answer."""

import contextlib
import http.client
import os
import random
import sqlite3
import threading
import time

CYCLES = int(os.environ.get("COMANDA_KILL_CYCLES", 1000 if os.environ.get("COMANDA_LONG") else 100))
CLIENTS = 6
LOST_LINE = (OSError, http.client.HTTPException)


class Till(threading.Thread):
    """A till that goes through orders and retries each write with its key until it is answered."""

    def __init__(self, box, key, number, stop):
        super().__init__(daemon=True)
        self.box, self.key, self.number, self.stop_now = box, key, number, stop
        self.orders = {}      # reference -> the record last acknowledged
        self.failures = []
        self.retries = 0

    def run(self):
        count = 0
        while not self.stop_now.is_set() and not self.failures:
            try:
                self.serve_one(f"till-{self.number}-{count}")
            except Exception as error:  # the test reports it
                self.failures.append(repr(error))
            count += 1

    def serve_one(self, reference):
        order = self.write("POST", "/v1/orders", {"service_type": "ONSITE"}, reference, 201)
        self.orders[reference] = order
        below = f"/v1/orders/{order['id']}"
        for step, (path, body) in enumerate([
            ("/combos", {"combos": [{"product_name": "Jalea", "quantity": 2, "variant_price": 24.5}]}),
            ("/payments", {"payment_method_code": "cash", "amount": 20}),
            ("/payments", {"payment_method_code": "cash", "amount": 29}),
        ]):
            self.orders[reference] = self.write("POST", below + path, body, f"{reference}-{step}", 200)
        self.orders[reference] = self.write("PATCH", below + "/status", {"status": "FINALIZED"}, f"{reference}-s", 200)

    def write(self, method, path, body, key, expected):
        """Sends until it is answered. Twice even then, now and then: the replay must be the same bytes."""
        answer = self.until_answered(method, path, body, key)
        assert answer.status == expected, (path, answer.status, answer.body)
        if random.random() < 0.1:
            again = self.until_answered(method, path, body, key)
            assert (again.status, again.body) == (answer.status, answer.body), (path, answer.body, again.body)
            assert again.headers.get("idempotency-replayed") == "true"
        return answer.data

    def until_answered(self, method, path, body, key):
        while True:
            try:
                with contextlib.closing(self.box.client(self.key)) as client:
                    for _ in range(3):
                        answer = client.send(method, path, body, {"Idempotency-Key": key})
                        if answer.status != 503:
                            return answer
            except LOST_LINE:
                self.retries += 1
                time.sleep(0.01)


def test_nothing_acknowledged_is_lost_or_doubled_by_kill_9(box, seed):
    moments = random.Random(seed)
    key = box.make_key()["key"]
    box.start()
    stop = threading.Event()
    tills = [Till(box, key, number, stop) for number in range(CLIENTS)]
    for till in tills:
        till.start()

    for _ in range(CYCLES):
        time.sleep(moments.uniform(0.005, 0.2))
        box.kill()
        box.start()
        if any(till.failures for till in tills):
            break
    stop.set()
    for till in tills:
        till.join(60)
        assert not till.is_alive(), "a till hangs"
        assert till.failures == []

    acknowledged = {r: o for till in tills for r, o in till.orders.items()}
    assert sum(till.retries for till in tills) > 0, "no kill hit a request: the test proves nothing"
    assert len(acknowledged) > CLIENTS
    with contextlib.closing(box.client(key)) as client:
        for reference, order in acknowledged.items():
            now = client.get(f"/v1/orders/{order['id']}").data
            assert now == order, reference
            assert now["reference"] == reference
            assert [p["amount"] for p in now["payments"]] == [20, 29]
            assert len(now["combos"]) == 1
            assert (now["total"], now["total_paid"], now["paid"], now["status"]) == (49, 49, True, "FINALIZED")
        assert client.get("/v1/orders?per_page=1").json["pagination"]["total"] == len(acknowledged)
    assert box.stop() == 0
    check_database(box.data / "live.db")


def check_database(path):
    with contextlib.closing(sqlite3.connect(path)) as db:
        one = lambda sql: db.execute(sql).fetchone()[0]
        assert one("PRAGMA integrity_check") == "ok"
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        # The event log is gapless and equals the committed changes.
        assert one("SELECT count(*) FROM event") == one("SELECT max(seq) FROM event") == \
            one("SELECT event_seq FROM company_counter")
        assert one("SELECT count(*) FROM event") == one("SELECT sum(version) FROM orders")
        assert one("SELECT count(*) FROM orders o JOIN order_record r ON r.company_id = o.company_id "
                   "AND r.order_id = o.id AND r.version = o.version") == one("SELECT count(*) FROM orders")
        assert one("SELECT count(DISTINCT reference) FROM orders") == one("SELECT count(*) FROM orders")
        assert one("SELECT coalesce(sum(orders), 0) FROM order_facet") == one("SELECT count(*) FROM orders")
