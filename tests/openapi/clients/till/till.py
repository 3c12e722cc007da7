"""A till for Comanda that sells while the line is cut: the standard library of Python 3.9 alone.

    till.py menu                         reads what can be sold; repeat it when the menu changes
    till.py open [COMMENT]               begins an order and prints the number of the sale
    till.py add SALE QUANTITY DISH [COMMENT]   DISH is a sku of the menu, or a name
    till.py cancel SALE LINE             cancels one line of the sale; the first is 1
    till.py pay SALE METHOD AMOUNT [TIP]       several of these for a bill that is split
    till.py close SALE                   paid and handed over: the order becomes FINALIZED
    till.py sell COUNT                   COUNT orders over the counter, with all of these steps
    till.py send                         sends what is entered; ends when nothing is left that the box takes now
    till.py state                        how many sales there are, are sent, are parked

COMANDA_URL, COMANDA_KEY and COMANDA_CA say where the box is; TILL_FILE is the till's own database. The key has the role
`till`, or its scopes.

Each step of a sale is a request, written to the database with its Idempotency-Key before anything is sent. It is repeated
with the same key and body until its answer is written down, so neither a cut line nor a till that is killed sells anything
twice. What the box refuses is parked for a person to look at; the other sales go on."""

import datetime
import decimal
import http.client
import json
import os
import random
import re
import sqlite3
import ssl
import sys
import time
import urllib.error
import urllib.request
import uuid

SCHEMA = """
CREATE TABLE IF NOT EXISTS dish (
  variant_id TEXT PRIMARY KEY, sku TEXT, name TEXT NOT NULL, variant TEXT NOT NULL, price TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS sale (id INTEGER PRIMARY KEY, order_id TEXT, lines TEXT NOT NULL DEFAULT '[]', problem TEXT);
CREATE TABLE IF NOT EXISTS request (
  id INTEGER PRIMARY KEY, sale INTEGER NOT NULL REFERENCES sale (id), method TEXT NOT NULL, path TEXT NOT NULL,
  body TEXT NOT NULL, key TEXT NOT NULL UNIQUE, entered_at TEXT NOT NULL, is_done INTEGER NOT NULL DEFAULT 0);
"""
WAIT_S_MIN, WAIT_S_MAX = 0.02, 30
OFFLINE_S = 60  # a step that waited longer was entered offline: the box is told when


class Answer(Exception):
    """An answer without a record. `later_s`: the same request may succeed after so many seconds."""
    def __init__(self, status, why, later_s=None):
        super().__init__(f"{status} {why}")
        self.status, self.later_s = status, later_s


class Box:
    def __init__(self, url, key, cafile):
        self.url, self.key = url.rstrip("/"), key
        handler = urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=cafile))
        # The box is on the restaurant's own network: no proxy.
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), handler)

    def call(self, method, path, body=None, headers=None):
        """The record in the answer."""
        request = urllib.request.Request(self.url + path, body and body.encode(), method=method, headers={
            "Authorization": "Bearer " + self.key, "Content-Type": "application/json", **(headers or {})})
        try:
            try:
                answer = self.opener.open(request, timeout=10)
            except urllib.error.HTTPError as refusal:
                answer = refusal
            read = json.loads(answer.read(), parse_float=decimal.Decimal)
        except (OSError, ValueError, http.client.HTTPException) as error:  # no line, or half an answer
            raise Answer(0, error, later_s=0) from None
        if answer.status < 400:
            return read["data"]
        # With a key that was revoked, too, sales wait for the new one.
        is_later = answer.status in (401, 403, 408, 429, 503)
        raise Answer(answer.status, read, later_s=float(answer.headers.get("Retry-After", 1)) if is_later else None)

    def send(self, method, path, body, key, entered_at):
        age = datetime.datetime.now(datetime.timezone.utc) - datetime.datetime.fromisoformat(entered_at)
        dated = {"Comanda-Occurred-At": entered_at} if age.total_seconds() > OFFLINE_S else {}
        try:
            return self.call(method, path, body, {"Idempotency-Key": key, **dated})
        except Answer as refusal:
            if not dated or refusal.status != 400:
                raise
            return self.call(method, path, body, {"Idempotency-Key": key})  # the till's clock is wrong


class Till:
    def __init__(self, file):
        self.db = sqlite3.connect(file, timeout=30)
        self.db.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;" + SCHEMA)

    def read_menu(self, box):
        dishes = [(variant["id"], variant["sku"], product["name"], variant["name"], str(variant["price"]))
                  for category in box.call("GET", "/v1/menu")["categories"] for product in category["products"]
                  for variant in product["variants"] if product["available"] and variant["available"]]
        with self.db:
            self.db.execute("DELETE FROM dish")
            self.db.executemany("INSERT INTO dish VALUES (?, ?, ?, ?, ?)", dishes)

    def enter(self, sale, method, path, **body):
        """One step of a sale. `path` may name the order and the ids of its lines."""
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")
        self.db.execute("INSERT INTO request (sale, method, path, body, key, entered_at) VALUES (?, ?, ?, ?, ?, ?)",
                        (sale, method, path, json.dumps(body, default=float), str(uuid.uuid4()), now))

    def open(self, comment=None):
        sale = self.db.execute("INSERT INTO sale (id) VALUES (NULL)").lastrowid
        self.enter(sale, "POST", "/v1/orders", service_type="TAKEAWAY", order_title=f"Sale {sale}", comment=comment)
        return sale

    def add(self, sale, quantity, wanted, comment=None):
        """Returns what the line costs."""
        row = self.db.execute("SELECT * FROM dish WHERE ? IN (sku, name, variant_id)", (wanted,)).fetchone()
        if row is None:
            sys.exit(f"till.py: {wanted} is not on the menu that was read")
        variant_id, sku, name, variant, price = row
        # An unknown sku is taken as a line without a link, an unknown id is refused: the menu may have changed meanwhile.
        link = {"sku": sku} if sku else {"variant_id": variant_id}
        self.enter(sale, "POST", "/v1/orders/{order}/combos", combos=[
            {**link, "product_name": name, "variant_name": variant, "quantity": decimal.Decimal(quantity),
             "variant_price": decimal.Decimal(price), "comment": comment}])
        return decimal.Decimal(quantity) * decimal.Decimal(price)

    def cancel(self, sale, line):
        self.enter(sale, "DELETE", f"/v1/orders/{{order}}/combos/{{{line}}}")

    def pay(self, sale, method, amount, tip=0):
        self.enter(sale, "POST", "/v1/orders/{order}/payments", payment_method_code=method,
                   amount=decimal.Decimal(amount), tip_amount=decimal.Decimal(tip))

    def close(self, sale):
        self.enter(sale, "PATCH", "/v1/orders/{order}/status", status="FINALIZED")

    def sell(self, count):
        """Each order is one transaction; the customer may go."""
        dishes = [row[0] for row in self.db.execute("SELECT variant_id FROM dish")]
        for _ in range(int(count)):
            with self.db:
                sale = self.open()
                total = sum(self.add(sale, random.randint(1, 3), dish) for dish in random.sample(dishes, random.randint(1, 3)))
                self.pay(sale, "cash", total)
                self.close(sale)

    def send(self, box):
        """Returns when everything is sent or parked, but for sales at which the box itself fails: those are left for the
        next time. A sale whose request gets no answer comes again when each of the others has had its turn."""
        wait_s, left, late = WAIT_S_MIN, [], []
        while (row := self.db.execute(f"""
                SELECT request.id, sale, method, path, body, key, entered_at, order_id, lines
                FROM request JOIN sale ON sale.id = sale
                WHERE is_done = 0 AND problem IS NULL AND sale NOT IN ({",".join(map(str, left))})
                ORDER BY sale IN ({",".join(map(str, late))}), request.id LIMIT 1""").fetchone()) is not None:
            request, sale, method, path, body, key, entered_at, order, lines = row
            ids = {"order": order, **{str(line): combo for line, combo in enumerate(json.loads(lines), 1)}}
            try:
                path = re.sub(r"\{(\w+)\}", lambda found: ids.get(found[1], "unknown"), path)
                record = box.send(method, path, body, key, entered_at)
            except Answer as why:
                print(f"sale {sale}: {why}", file=sys.stderr)
                if why.later_s is not None:
                    late = [sale] if sale in late else [*late, sale]
                    time.sleep(max(wait_s, why.later_s))
                    wait_s = min(wait_s * 2, WAIT_S_MAX)
                elif why.status >= 500:
                    left.append(sale)
                else:
                    with self.db:
                        self.db.execute("UPDATE sale SET problem = ? WHERE id = ?", (str(why), sale))
                continue
            wait_s = WAIT_S_MIN
            with self.db:
                self.db.execute("UPDATE sale SET order_id = ?, lines = ? WHERE id = ?",
                                (record["id"], json.dumps([combo["id"] for combo in record["combos"]]), sale))
                self.db.execute("UPDATE request SET is_done = 1 WHERE id = ?", (request,))

    def state(self):
        sold, parked = self.db.execute("SELECT count(*), count(problem) FROM sale").fetchone()
        (waiting,) = self.db.execute("SELECT count(DISTINCT sale) FROM request WHERE is_done = 0").fetchone()
        return {"sold": sold, "sent": sold - waiting, "parked": parked}


def main(name="", *words):
    till = Till(os.environ.get("TILL_FILE", "till.db"))
    if name in ("menu", "send"):
        box = Box(os.environ["COMANDA_URL"], os.environ["COMANDA_KEY"], os.environ.get("COMANDA_CA"))
        till.read_menu(box) if name == "menu" else till.send(box)
    elif name in ("open", "add", "cancel", "pay", "close", "sell"):
        with till.db:
            result = getattr(till, name)(*words)
    elif name != "state":
        sys.exit(__doc__)
    print(json.dumps(result if name == "open" else till.state()))


if __name__ == "__main__":
    main(*sys.argv[1:])
