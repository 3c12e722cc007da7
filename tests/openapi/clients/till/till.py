"""A till for Comanda that sells while the line is cut: the standard library of Python 3.9 alone.

    till.py sell COUNT     sells COUNT orders, whether the box answers or not
    till.py send           sends what is sold until the box has it all; ends then
    till.py state          what is sold, sent, parked

COMANDA_URL, COMANDA_KEY and COMANDA_CA say where the box is; TILL_FILE is the till's own database.

A sale and the requests that bring it to the box are written in one transaction, each request with its Idempotency-Key. A
request is repeated with the same key and body until its answer is written down, so neither a cut line nor a till that is
killed sells anything twice. What the box refuses is parked for a person to look at; the other sales go on."""

import datetime
import http.client
import json
import os
import random
import sqlite3
import ssl
import sys
import time
import urllib.error
import urllib.request
import uuid

MENU = [("Ceviche", 38.0), ("Lomo saltado", 42.5), ("Chicha morada", 9.9), ("Suspiro", 14.0)]
SCHEMA = """
CREATE TABLE IF NOT EXISTS sale (id INTEGER PRIMARY KEY, sold_at TEXT NOT NULL, order_id TEXT, problem TEXT);
CREATE TABLE IF NOT EXISTS request (
  id INTEGER PRIMARY KEY, sale INTEGER NOT NULL REFERENCES sale (id), path TEXT NOT NULL, body TEXT NOT NULL,
  key TEXT NOT NULL UNIQUE, is_done INTEGER NOT NULL DEFAULT 0);
"""
WAIT_S_MIN, WAIT_S_MAX = 0.02, 30


class Refused(Exception):
    """The box says why it will never take this request."""


class Later(Exception):
    """The same request may succeed later, after so many seconds."""

    def __init__(self, why, wait_s=0):
        super().__init__(why)
        self.wait_s = wait_s


class Box:
    def __init__(self, url, key, cafile):
        self.url, self.key = url.rstrip("/"), key
        handler = urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=cafile))
        # The box is on the restaurant's own network: no proxy.
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), handler)

    def post(self, path, body, key, sold_at=None):
        """The record in the answer. A key with the scope orders:sync has the box date it by `sold_at`, not by its arrival."""
        request = urllib.request.Request(self.url + path, body.encode(), method="POST", headers={
            "Authorization": "Bearer " + self.key, "Content-Type": "application/json", "Idempotency-Key": key,
            **({"Comanda-Occurred-At": sold_at} if sold_at else {})})
        try:
            try:
                answer = self.opener.open(request, timeout=10)
            except urllib.error.HTTPError as refusal:
                answer = refusal
            with answer:
                text = answer.read().decode(errors="replace")
            # A key that was revoked, too: sales wait for the new one.
            if answer.status >= 500 or answer.status in (401, 403, 408, 429):
                raise Later(f"{answer.status} {text}", float(answer.headers.get("Retry-After", 1)))
            if sold_at and answer.status == 400 and "invalid_header" in text:
                return self.post(path, body, key)  # this till's clock is wrong, or the sale too old: by its arrival
            if answer.status >= 400:
                raise Refused(f"{answer.status} {text}")
            return json.loads(text)["data"]
        except (OSError, ValueError, http.client.HTTPException) as error:  # no line, or half an answer
            raise Later(str(error)) from None


class Till:
    def __init__(self, file):
        self.db = sqlite3.connect(file, timeout=30, isolation_level=None)
        self.db.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;" + SCHEMA)

    def sell(self, items, tip=0.0):
        """Writes a sale down; the customer may go. `items`: [(name, quantity, unit price)]."""
        total = round(sum(quantity * price for _, quantity, price in items), 2)
        combos = [{"product_name": name, "quantity": quantity, "variant_price": price} for name, quantity, price in items]
        payment = {"payment_method_code": "cash", "amount": total, "tip_amount": tip}
        self.db.execute("BEGIN IMMEDIATE")
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        sale = self.db.execute("INSERT INTO sale (sold_at) VALUES (?)", (now,)).lastrowid
        for path, body in (("/v1/orders", {"service_type": "TAKEAWAY", "comment": f"sale {sale}, {now}"}),
                           ("/v1/orders/{}/combos", {"combos": combos}),
                           ("/v1/orders/{}/payments", payment)):
            self.db.execute("INSERT INTO request (sale, path, body, key) VALUES (?, ?, ?, ?)",
                            (sale, path, json.dumps(body), str(uuid.uuid4())))
        self.db.execute("COMMIT")
        return sale

    def next_request(self):
        """The oldest that is not done, of a sale that is not parked."""
        return self.db.execute("""
            SELECT request.id, sale, path, body, key, sold_at, order_id FROM request JOIN sale ON sale.id = sale
            WHERE is_done = 0 AND problem IS NULL ORDER BY request.id LIMIT 1""").fetchone()

    def send(self, box):
        """Returns when everything is sent or parked."""
        wait_s = WAIT_S_MIN
        while (row := self.next_request()) is not None:
            request, sale, path, body, key, sold_at, order = row
            try:
                record = box.post(path.format(order), body, key, sold_at)
            except Later as why:
                print(f"sale {sale} waits: {why}", file=sys.stderr)
                time.sleep(max(wait_s, why.wait_s))
                wait_s = min(wait_s * 2, WAIT_S_MAX)
                continue
            except Refused as why:
                self.db.execute("UPDATE sale SET problem = ? WHERE id = ?", (str(why), sale))
                continue
            wait_s = WAIT_S_MIN
            self.db.execute("BEGIN IMMEDIATE")
            self.db.execute("UPDATE sale SET order_id = ? WHERE id = ?", (record["id"], sale))
            self.db.execute("UPDATE request SET is_done = 1 WHERE id = ?", (request,))
            self.db.execute("COMMIT")

    def state(self):
        sold, parked = self.db.execute("SELECT count(*), count(problem) FROM sale").fetchone()
        (waiting,) = self.db.execute("SELECT count(DISTINCT sale) FROM request WHERE is_done = 0").fetchone()
        return {"sold": sold, "sent": sold - waiting, "parked": parked}


def main(words):
    till = Till(os.environ.get("TILL_FILE", "till.db"))
    if words[:1] == ["sell"] and len(words) == 2:
        for _ in range(int(words[1])):
            till.sell([(name, random.randint(1, 3), price) for name, price in random.sample(MENU, random.randint(1, 3))])
    elif words == ["send"]:
        till.send(Box(os.environ["COMANDA_URL"], os.environ["COMANDA_KEY"], os.environ.get("COMANDA_CA")))
    elif words != ["state"]:
        sys.exit(__doc__)
    print(json.dumps(till.state()))


if __name__ == "__main__":
    main(sys.argv[1:])
