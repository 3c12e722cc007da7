"""One client that causes the most load that the limits permit, as a separate program: orders of the largest permitted
size, small changes of them, and answers that it requests and does not read.

    python3 tests/support/worst_client.py --port N --key KEY --seconds 12

It creates --orders large orders, then does everything at once for --seconds. Prints its counts as JSON.
"""

import argparse
import collections
import contextlib
import http.client
import json
import socket
import ssl
import sys
import threading
import time
import uuid

BUILDERS, CHANGERS, READERS, DEAF = 2, 6, 6, 48
SHOWN = 2  # orders that the displays show too
REQUESTS_MAX = 12  # for one order, which is full long before
LOST = (OSError, http.client.HTTPException)
PAGES = ("/v1/orders", "/v1/orders?sort=updated_at", "/v1/events", "/v1/orders?filter[status]=PENDING", "/v1/events?per_page=60")
WIDE = "\N{HOT PEPPER}" * 200
ITEM = {"product_name": WIDE, "quantity": 1, "variant_price": 1, "comment": WIDE,
        "modifiers": [{"name": WIDE, "price": 1} for _ in range(50)]}


class WorstClient:
    def __init__(self, port, key):
        self.port, self.key, self.end = port, key, float("inf")
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.context.check_hostname, self.context.verify_mode = False, ssl.CERT_NONE
        self.mutex = threading.Lock()
        self.counts = collections.Counter()  # guarded by mutex
        self.orders = []  # guarded by mutex
        self.items_at_once = 8

    def count(self, word):
        with self.mutex:
            self.counts[word] += 1

    def some_order(self, number):
        with self.mutex:
            return self.orders[number % len(self.orders)] if self.orders else None

    def at_work(self):
        return time.monotonic() < self.end

    # Requests that are read.
    @contextlib.contextmanager
    def connection(self):
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=20, context=self.context,
                                                 source_address=("127.0.5.1", 0))
        with contextlib.closing(connection):
            yield connection

    def ask(self, connection, word, method, path, body=None, **headers):
        headers |= {"Authorization": "Bearer " + self.key, "Content-Type": "application/json",
                    "Idempotency-Key": str(uuid.uuid4())}
        connection.request(method, path, None if body is None else json.dumps(body, ensure_ascii=False).encode(), headers)
        answer = connection.getresponse()
        data = answer.read()
        self.count(f"{word} {answer.status}")
        return answer.status, data

    def build_one(self, connection):
        """An order of the largest permitted size."""
        status, data = self.ask(connection, "order", "POST", "/v1/orders", {"service_type": "ONSITE"})
        if status != 201:
            time.sleep(0.1)
            return
        path, size = "/v1/orders/" + json.loads(data)["data"]["id"], self.items_at_once
        for _ in range(REQUESTS_MAX):
            if not size or not self.at_work():
                break
            status, _ = self.ask(connection, "items", "POST", path + "/combos", {"combos": [ITEM] * size})
            if status in (413, 422):
                size //= 2
            elif status != 200:
                time.sleep(0.1)
        with self.mutex:
            self.orders.append(path)

    def build(self, number):
        with self.connection() as connection:
            while self.at_work():
                self.build_one(connection)

    def change(self, number):
        """Small changes, each of which makes a record of that size."""
        with self.connection() as connection:
            while self.at_work():
                number += 1
                path = self.some_order(number)
                if path is None:
                    time.sleep(0.05)
                    continue
                self.ask(connection, "change", "PATCH", path, {"order_title": f"Mesa {number}"})

    def read(self, number):
        with self.connection() as connection:
            while self.at_work():
                number += 1
                coding = "gzip" if number % 2 else "identity"
                status, _ = self.ask(connection, "read", "GET", PAGES[number % len(PAGES)], **{"Accept-Encoding": coding})
                if status != 200:
                    time.sleep(0.05)

    # Requests whose answers are not read.
    def stay_deaf(self, number):
        """Requests large answers without reading them, until the server closes the connection."""
        plain = socket.socket()
        plain.settimeout(5)
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        plain.bind((f"127.0.5.{2 + number}", 0))
        plain.connect(("127.0.0.1", self.port))
        with self.context.wrap_socket(plain) as secure:
            path = self.some_order(number) if number % 4 == 0 else None
            head = f"GET {path or PAGES[number % len(PAGES)]} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {self.key}\r\n\r\n"
            secure.sendall(head.encode() * 4)
            self.count("unread")
            begin = time.monotonic()
            while self.at_work() and time.monotonic() - begin < 15:
                time.sleep(0.2)
                plain_state = secure.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0]
                if plain_state != 1:  # no longer ESTABLISHED
                    break

    def again(self, work, number):
        while self.at_work():
            try:
                work(number)
            except LOST as error:
                self.count(type(error).__name__)
                time.sleep(0.05)

    def run(self, orders, seconds):
        with self.connection() as connection:
            for _ in range(orders):
                self.build_one(connection)
            for path in self.orders[:SHOWN]:
                self.ask(connection, "status", "PATCH", path + "/status", {"status": "PREPARING"})
        self.end = time.monotonic() + seconds
        works = [self.build] * BUILDERS + [self.change] * CHANGERS + [self.read] * READERS + [self.stay_deaf] * DEAF
        threads = [threading.Thread(target=self.again, args=(work, n), daemon=True) for n, work in enumerate(works)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return {**self.counts, "orders": len(self.orders)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--key", required=True)
    parser.add_argument("--orders", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=12)
    options = parser.parse_args()
    print(json.dumps(WorstClient(options.port, options.key).run(options.orders, options.seconds)))


if __name__ == "__main__":
    sys.exit(main())
