"""Simulated tills that continue whatever happens to the server, and record every acknowledged write: each sends every write
again, with the same Idempotency-Key, until it is answered. Afterwards Restaurant.check_everything() compares what the
server has with what it acknowledged."""

import contextlib
import dataclasses
import http.client
import json
import random
import sqlite3
import threading
import time

from support.box import Box, PATIENCE_S
from support.waiting import wait_until

LOST_LINE = (OSError, http.client.HTTPException)


class Lost(AssertionError):
    """An acknowledged write is missing, duplicated, or changed."""


def kept(condition, *told):
    if not condition:
        raise Lost(*told)


@dataclasses.dataclass
class Write:
    """A write and its first answer."""
    method: str
    path: str
    body: object
    key: str
    status: int
    etag: str | None
    location: str | None
    answer: bytes

    def told(self):
        """The body that a replay must repeat. A new API key is shown only once: the replay has null instead."""
        if self.path.startswith("/auth/"):
            shown = json.loads(self.answer)
            return self.status, self.etag, self.location, {**shown["data"], "key": None}
        return self.status, self.etag, self.location, self.answer


class Till(threading.Thread):
    """Serves guests until stopped: complete orders, and occasionally a price of the menu or an API key."""

    def __init__(self, restaurant, number, seed):
        super().__init__(daemon=True)
        self.restaurant, self.number = restaurant, number
        self.random = random.Random(seed)
        self.client = restaurant.box.client(restaurant.key)
        self.writes = []    # each acknowledged one
        self.orders = {}    # id -> the bytes last acknowledged
        self.products = {}  # sku -> (price, changes)
        self.keys = {}      # id -> (record, the key itself or None where its answer was lost)
        self.retries = 0
        self.failure = None

    def run(self):
        plays = [self.serve] * 6 + [self.change_their_mind] * 2 + [self.price_the_menu, self.change_the_locks]
        try:
            while not self.restaurant.closing.is_set():
                self.random.choice(plays)(f"{self.restaurant.name}-{self.number}-{len(self.writes)}")
        except BaseException as failure:  # the test reports it
            self.failure = failure
        finally:
            self.client.close()

    # What happens at a till.
    def serve(self, reference):
        order = self.open(reference)
        self.move(order, "POST", "/combos", {"combos": [
            {"product_name": "Jalea", "quantity": 2, "variant_price": 24.5, "modifiers": [
                {"name": "Yuca", "quantity": 1, "price": 1}]}]})
        if self.random.random() < 0.5:
            self.move(order, "PATCH", "/status", {"status": "PREPARING"})
        self.move(order, "POST", "/discounts", {"type": "PERCENTAGE", "value": 10})
        self.move(order, "POST", "/payments", {"payment_method_code": "cash", "amount": 20})
        paid = self.move(order, "POST", "/payments", {"payment_method_code": "cash", "amount": 25.9, "tip_amount": 4})
        kept((paid["total"], paid["total_paid"], paid["paid"]) == (45.9, 45.9, True), paid)
        self.move(order, "PATCH", "/status", {"status": "FINALIZED"})

    def change_their_mind(self, reference):
        order = self.open(reference)
        with_lines = self.move(order, "POST", "/combos", {"combos": [
            {"product_name": "Lomo", "quantity": 1, "variant_price": 38}]})
        with_discount = self.move(order, "POST", "/discounts", {"type": "AMOUNT", "value": 3})
        paid = self.move(order, "POST", "/payments", {"payment_method_code": "cash", "amount": 35})
        self.move(order, "DELETE", "/payments/" + paid["payments"][0]["id"])
        self.move(order, "DELETE", "/discounts/" + with_discount["discounts"][0]["id"])
        self.move(order, "DELETE", "/combos/" + with_lines["combos"][0]["id"])
        self.move(order, "POST", "/cancel", {"reason": "gone"})

    def price_the_menu(self, name):
        sku = f"{self.restaurant.name}-{self.number}"
        changes = self.products.get(sku, (0, 0))[1] + 1
        answer = self.write("PUT", "/v1/menu/products", {"products": [
            {"sku": sku, "name": "Dish " + sku, "category_name": "Of the tills", "price": changes}]}, name, 200)
        done = json.loads(answer)["data"]
        kept((done["created"], done["updated"]) == ((1, 0) if changes == 1 else (0, 1)), done)
        self.products[sku] = (changes, changes)

    def change_the_locks(self, name):
        made = json.loads(self.write("POST", "/auth/api-keys", {"name": name, "scopes": ["orders:read"]},
                                     name, 201))["data"]
        secret = made.pop("key")
        self.keys[made["id"]] = (made, secret)
        changed = json.loads(self.write("PATCH", "/auth/api-keys/" + made["id"], {"name": name + " b"},
                                        name + "-b", 200))["data"]
        self.keys[made["id"]] = (changed, secret)
        if self.random.random() < 0.5:
            revoked = json.loads(self.write("DELETE", "/auth/api-keys/" + made["id"], None, name + "-c", 200))["data"]
            kept(revoked["revoked_at"], revoked)
            self.keys[made["id"]] = (revoked, secret)

    # Writes.
    def open(self, reference):
        answer = self.write("POST", "/v1/orders", {"service_type": "ONSITE"}, reference, 201)
        order = json.loads(answer)["data"]
        kept(order["version"] == 1 and order["reference"] == reference, order)
        self.orders[order["id"]] = answer
        return order

    def move(self, order, method, below, body=None):
        """The next change of an order. It must build on the one before, which was acknowledged."""
        order["version"] += 1
        answer = self.write(method, f"/v1/orders/{order['id']}{below}", body,
                            f"{order['reference']}-v{order['version']}", 200)
        moved = json.loads(answer)["data"]
        kept(moved["version"] == order["version"],
             f"a step was lost or doubled: version {moved['version']} instead of {order['version']}: {moved}")
        self.orders[order["id"]] = answer
        return moved

    def write(self, method, path, body, key, expected):
        answer = self.until_answered(method, path, body, key)
        kept(answer.status == expected, method, path, answer.status, answer.body)
        write = Write(method, path, body, key, answer.status, answer.headers.get("etag"),
                      answer.headers.get("location"), answer.body)
        self.writes.append(write)
        self.restaurant.answered()
        if self.random.random() < 0.05:
            self.replay(write)
        return answer.body

    def replay(self, write):
        again = self.until_answered(write.method, write.path, write.body, write.key)
        repeated = Write(write.method, write.path, write.body, write.key, again.status, again.headers.get("etag"),
                         again.headers.get("location"), again.body)
        kept(again.headers.get("idempotency-replayed") == "true", f"{write.key} had a second effect: {again}")
        kept(repeated.told() == write.told(), f"{write.key}: another answer: {write} / {again}")

    def until_answered(self, method, path, body, key):
        def answer():
            try:
                answer = self.client.send(method, path, body, {"Idempotency-Key": key})
                return answer if answer.status != 503 else None
            except LOST_LINE:
                self.client.close()
                self.retries += 1
                self.restaurant.line_lost()

        return wait_until(answer, f"{method} {path} is not answered")


class Restaurant:
    """A box with its tills."""

    def __init__(self, name="house", data=None, tills=3, seed=0, binary=None, kind=Box):
        """In a data directory of its own, or in one that another Restaurant has had before its first guest."""
        self.name = name
        self.random = random.Random(seed)
        self.box = kind(data, ["--sandbox-listen", "", "--workers", "16"], binary)
        key_file = self.box.data / "test.key"
        if not key_file.exists():
            self.box.bring_in("demo")
            key_file.write_text(self.box.make_key()["key"])
        self.key = key_file.read_text()
        self.closing = threading.Event()
        self.news = threading.Condition()
        self.answers = 0  # guarded by news
        self.tills = [Till(self, number, self.random.random()) for number in range(tills)]

    def open(self):
        self.box.start()
        for till in self.tills:
            till.start()

    def answered(self):
        with self.news:
            self.answers += 1
            self.news.notify_all()

    def line_lost(self):
        """Called by a till whose request was not answered, before it tries again."""

    def wait_for_an_answer(self):
        """Returns when the server has answered once more; fails when a till gave up or the server ended."""
        with self.news:
            before = self.answers
            begin = time.monotonic()
            while self.answers == before:
                self.news.wait(0.05)
                self.fail_with_the_tills()
                assert self.box.process.poll() is None, "the server ended:\n" + self.box.log_text()[-3000:]
                assert time.monotonic() - begin < PATIENCE_S, "no till is answered:\n" + self.box.log_text()[-3000:]

    def fail_with_the_tills(self):
        for till in self.tills:
            if till.failure:
                raise till.failure

    def close(self):
        """Lets the tills finish their current guests."""
        self.closing.set()
        for till in self.tills:
            till.join(PATIENCE_S * 2)
            assert not till.is_alive(), "a till hangs"
        self.fail_with_the_tills()

    def writes(self):
        return [write for till in self.tills for write in till.writes]

    def check_everything(self):
        """Stops the server. Asserts that no acknowledged write is lost or duplicated, and every replay is the first answer."""
        orders = {id: answer for till in self.tills for id, answer in till.orders.items()}
        products = {sku: found for till in self.tills for sku, found in till.products.items()}
        keys = {id: found for till in self.tills for id, found in till.keys.items()}
        with contextlib.closing(self.box.client(self.key)) as client:
            for id, answer in orders.items():
                kept(client.get("/v1/orders/" + id).body == answer, f"order {id} is not as it was acknowledged")
            kept(client.get("/v1/orders?per_page=1").json["pagination"]["total"] == len(orders), "other orders")
            menu = {variant["sku"]: variant["price"] for category in client.get("/v1/menu").data["categories"]
                    for product in category["products"] for variant in product["variants"]}
            prices = {sku: price for sku, (price, _) in products.items()}
            kept({sku: menu.get(sku) for sku in products} == prices, prices, menu)
            self.check_keys(client, keys)
        for till in self.tills:
            with contextlib.closing(till.client):
                for write in till.writes:
                    till.replay(write)
        assert self.box.stop() == 0
        check_database(self.box.data / "live.db", len(orders), sum(changes for _, changes in products.values()))

    def check_keys(self, client, keys):
        def lasting(record):  # the last use of a key is stored only periodically
            return {name: value for name, value in record.items() if not name.startswith("last_used")}

        listed = client.get("/auth/api-keys?per_page=1").json["pagination"]["total"]
        kept(listed == len(keys) + 1, "the tills made other keys than there are")
        for id, (record, secret) in keys.items():
            answer = client.get("/auth/api-keys/" + id)
            kept(answer.status == 200 and lasting(answer.data) == lasting(record), record, answer)
            if secret:
                with contextlib.closing(self.box.client(secret)) as other:
                    answer = other.get("/v1/orders?per_page=1")
                    kept(answer.status == (401 if record["revoked_at"] else 200), record, answer)


def check_database(path, orders, menu_changes):
    """Asserts that the file is undamaged, and that its event log has no gaps and equals the committed changes."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        one = lambda sql: db.execute(sql).fetchone()[0]
        assert one("PRAGMA integrity_check") == "ok"
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        assert one("SELECT count(*) FROM event") == one("SELECT max(seq) FROM event") == \
            one("SELECT event_seq FROM company_counter")
        assert one("SELECT count(DISTINCT event_id) FROM event") == one("SELECT count(*) FROM event")
        assert one("SELECT count(*) FROM event WHERE subject_type = 'order'") == one("SELECT sum(version) FROM orders")
        assert one("SELECT count(*) FROM (SELECT 1 FROM event WHERE subject_type = 'order' "
                   "GROUP BY subject_id, subject_version HAVING count(*) > 1)") == 0
        assert one("SELECT count(*) FROM event WHERE subject_type = 'product'") == menu_changes
        # The record of an order is the body of its latest event.
        assert one("SELECT count(*) FROM orders o JOIN event e ON e.company_id = o.company_id AND e.seq = o.record_seq "
                   "AND e.subject_id = o.id AND e.subject_version = o.version") == orders == one("SELECT count(*) FROM orders")
        assert one("SELECT count(DISTINCT reference) FROM orders") == orders
        # An order number is unique in its business day (the demo is five hours behind UTC).
        assert one("SELECT count(DISTINCT (o.created_at / 60000 + 1440000 - 300 - day_starts_at) / 1440 * 1000000 "
                   "+ order_number) FROM orders o JOIN company c ON c.company_id = o.company_id") == orders
        assert one("SELECT coalesce(sum(orders), 0) FROM order_facet") == orders
        # Every step of an order has its payment, its line and its entry in the status history.
        assert one("SELECT count(*) FROM orders o WHERE total_paid != (SELECT coalesce(sum(amount), 0) FROM payment p "
                   "WHERE p.company_id = o.company_id AND p.order_id = o.id AND canceled_at IS NULL)") == 0
        assert one("SELECT count(*) FROM orders o WHERE subtotal != (SELECT coalesce(sum(combo_price), 0) FROM combo c "
                   "WHERE c.company_id = o.company_id AND c.order_id = o.id AND canceled_at IS NULL)") == 0
