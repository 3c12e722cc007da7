"""Databases of many orders, for scale.py: years of a restaurant in a file, made in about a minute for a million.

A few hundred orders are placed over the API, with lines, modifiers, payments and tips; then copied inside the file
with INSERT … SELECT, each copy with ids, times and numbers of its own. What the program keeps beside the rows
(order_facet, order_tally, sale) is made from the rows. Copies have no events: those of old orders are not kept.
Kept in the cache directory under the hash of the schema; never committed.
"""

import contextlib
import hashlib
import os
import pathlib
import random
import shutil
import sqlite3
import tempfile
import time

from support.box import ROOT, Box

PATTERNS = 300  # orders of a day; one day is copied again and again
DAY_MS = 86_400_000
REPORT_DAYS = 366
CLIENTS = 1000  # that order now and then
TABLES = 40
MIGRATIONS = sorted((ROOT / "src/app/migrations").glob("*.sql"))

# The id of a copy: the time of its creation as UUIDv7 has it, then what tells copies of one millisecond apart.
# $n is the copy's number, o.seed the pattern's.
COPY_ID = ("substr(printf('%012x', {at}), 1, 8) || '-' || substr(printf('%012x', {at}), 9, 4) || "
           "printf('-7%03x-8%03x-%012x', p.seed & 4095, d.day & 4095, p.seed * 1000000 + d.day)")


def cache_directory():
    cache = os.environ.get("COMANDA_CACHE")
    if cache:
        return pathlib.Path(cache)
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "comanda"


def large_database(orders):
    """The data directory of a restaurant with so many orders: in the cache, to be copied before it is used."""
    script = b"".join(path.read_bytes() for path in MIGRATIONS) + pathlib.Path(__file__).read_bytes()
    target = cache_directory() / "bench" / f"orders-{orders}-{hashlib.sha256(script).hexdigest()[:12]}"
    if not target.exists():
        for older in target.parent.glob(f"orders-{orders}-*"):
            shutil.rmtree(older)
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="making-", dir=target.parent) as making:
            made = pathlib.Path(making) / "data"
            make(made, orders)
            made.rename(target)
    return target


def make(data, orders):
    data.mkdir()
    box = Box(data)
    box.bring_in("demo")
    key = box.make_key(name="bench")["key"]
    box.start()
    try:
        with contextlib.closing(box.client(key)) as client:
            place_a_day(client)
    finally:
        box.stop()
    with contextlib.closing(sqlite3.connect(data / "live.db", isolation_level=None)) as db:
        copy(db, orders)


# -- a day --------------------------------------------------------------------------------------------


def place_a_day(client):
    """Most are paid and finalized, a few cancelled; three lines each, many with modifiers."""
    luck = random.Random(7)
    products = [p for c in client.get("/v1/menu").data["categories"] for p in c["products"]]
    products = [p for p in products if p["variants"] and not p["variants"][0].get("stock")]
    for number in range(PATTERNS):
        service = luck.choice(["ONSITE", "TABLE", "TAKEAWAY", "ONSITE"])
        order = client.place(service_type=service, comment="sin cebolla" if number % 3 == 0 else None)
        lines = [line(luck, luck.choice(products)) for _ in range(3)]
        order = client.add(order, *lines)
        if number % 50 == 49:
            client.post(f"/v1/orders/{order['id']}/cancel", {"reason": "el cliente se fue"})
            continue
        tip = {"tip_amount": 2} if number % 7 == 0 else {}
        client.pay(order, order["pending_amount"], luck.choice(["cash", "card"]), **tip)
        client.advance(order, "FINALIZED")


def line(luck, product):
    variant = product["variants"][0]
    made = {"product_id": product["id"], "variant_id": variant["id"], "quantity": luck.choice([1, 1, 2]),
            "variant_price": variant["price"], "modifiers": []}
    for category in product.get("modifier_categories", []):
        if category["modifiers"] and (category["required"] or luck.random() < 0.5):
            made["modifiers"].append({"modifier_id": category["modifiers"][0]["id"],
                                      "price": category["modifiers"][0]["price"]})
    return made


# -- its copies ---------------------------------------------------------------------------------------


def insert_copies(db, table, changed, source, order):
    """INSERT … SELECT with some columns made anew."""
    names = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    values = [changed.get(name, f"x.{name}") for name in names]
    db.execute(f"INSERT INTO {table} ({', '.join(names)}) SELECT {', '.join(values)} FROM {source} {order}")


def copy(db, orders):
    days = orders // PATTERNS + 1
    db.execute("PRAGMA journal_mode = OFF")
    db.execute("PRAGMA synchronous = OFF")
    db.execute("PRAGMA cache_size = -400000")
    db.execute("PRAGMA temp_store = MEMORY")
    indexes = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'orders' "
                         "AND sql IS NOT NULL").fetchall()
    for name, _ in indexes:
        db.execute(f"DROP INDEX {name}")
    db.execute("BEGIN")
    map_copies(db, days, orders)
    copy_orders(db)
    copy_rows(db)
    rare_values(db)
    count(db)
    db.execute("COMMIT")
    for _, sql in indexes:
        db.execute(sql)
    db.execute("PRAGMA journal_mode = WAL")


def map_copies(db, days, orders):
    """copied(old, new, at, day, seed): which order becomes which, and when; the newest day is yesterday."""
    last = (int(time.time() * 1000) // DAY_MS - 1) * DAY_MS
    db.execute("CREATE TEMP TABLE pattern AS SELECT id, row_number() OVER (ORDER BY created_at, id) AS seed FROM orders")
    db.execute("CREATE TEMP TABLE day AS WITH RECURSIVE d(day) AS (SELECT 1 UNION ALL SELECT day + 1 FROM d "
               "WHERE day < $1) SELECT day FROM d", (days,))
    at = f"({last} - d.day * {DAY_MS} + p.seed * {DAY_MS // (PATTERNS + 1)})"
    db.execute(f"CREATE TEMP TABLE copied AS SELECT p.id AS old, {COPY_ID.format(at=at)} AS new, {at} AS at, d.day, p.seed "
               "FROM day d CROSS JOIN pattern p ORDER BY d.day DESC, p.seed LIMIT $1", (orders - PATTERNS,))
    db.execute("CREATE INDEX temp.copied_old ON copied(old)")


def copy_orders(db):
    seq = db.execute("SELECT event_seq FROM company_counter").fetchone()[0]
    insert_copies(
        db, "orders",
        {"id": "c.new", "public_id": "substr(x.public_id, 1, 3) || printf('%010d', 1000000000 + c.rowid)",
         "reference": "'copy-' || c.rowid", "order_number": "c.seed", "created_at": "c.at",
         "updated_at": "c.at + 3600000", "created_seq": f"{seq} + c.rowid",
         "paid_at": "CASE WHEN x.paid_at IS NULL THEN NULL ELSE c.at + 3000000 END",
         "closed_at": "CASE WHEN x.closed_at IS NULL THEN NULL ELSE c.at + 3600000 END",
         "canceled_at": "CASE WHEN x.canceled_at IS NULL THEN NULL ELSE c.at + 3600000 END",
         # A few prices more than a day has.
         "total": "x.total + (c.day % 97) * 10",
         "client_id": f"CASE WHEN c.seed % 10 = 0 THEN printf('%08x-0000-7000-8000-00000000c11e', (c.day * 31 + c.seed) % {CLIENTS}) END",
         "table_id": f"CASE WHEN x.service_type = 1 THEN printf('%08x-0000-7000-8000-0000000007ab', c.seed % {TABLES}) END",
         "scheduled_delivery_date": "CASE WHEN c.seed % 20 = 0 THEN c.at + 7200000 END"},
        "copied c CROSS JOIN orders x ON x.company_id = 1 AND x.id = c.old", "ORDER BY c.rowid")
    db.execute("UPDATE company_counter SET event_seq = event_seq + (SELECT count(*) FROM copied), "
               "order_changes = order_changes + 1")


def copy_rows(db):
    """Lines and payments of the last year only, which reports may ask for; a record for every order."""
    source = "copied c CROSS JOIN {} x ON x.company_id = 1 AND x.order_id = c.old"
    year = source + f" AND c.day <= {REPORT_DAYS}"
    own = {"order_id": "c.new", "created_at": "c.at", "at": "c.at",
           "canceled_at": "CASE WHEN x.canceled_at IS NULL THEN NULL ELSE c.at + 3600000 END"}
    for table in ("order_status", "combo", "combo_modifier", "payment", "discount"):
        insert_copies(db, table, own, year.format(table), "ORDER BY c.rowid")
    record = {**own, "head": "replace(x.head, c.old, c.new)",
              "combos": f"CASE WHEN c.day <= {REPORT_DAYS} THEN x.combos ELSE '[]' END"}
    insert_copies(db, "order_record", record, source.format("order_record"), "ORDER BY c.rowid")


def rare_values(db):
    """Some old orders that nobody closed, some that came through an app, some deliveries."""
    every = "company_id = 1 AND id IN (SELECT new FROM copied WHERE (rowid * 7919) % {} = {})"
    db.execute("UPDATE orders SET status = 0, paid = 0, paid_at = NULL WHERE " + every.format(20011, 1))
    db.execute("UPDATE orders SET source = 'RAPPI', service_type = 2 WHERE " + every.format(10007, 2))
    db.execute("UPDATE orders SET delivery_status = 4, service_type = 2 WHERE " + every.format(30, 3))
    db.execute("UPDATE orders SET delivery_status = 5, service_type = 2 WHERE " + every.format(15013, 4))


# -- what is kept beside the rows -----------------------------------------------------------------------


def count(db):
    """As the migrations that brought these tables fill them."""
    for table in ("order_facet", "order_tally", "sale"):
        db.execute(f"DELETE FROM {table}")
    run_again(db, "0004_lists.sql", ("INSERT INTO order_facet", "UPDATE"))
    run_again(db, "0005_sales.sql", ("INSERT",))


def run_again(db, migration, beginnings):
    script = (ROOT / "src/app/migrations" / migration).read_text()
    script = "\n".join(line.split("--")[0] for line in script.split("\n"))
    for statement in script.split(";"):
        if statement.strip().startswith(beginnings):
            db.execute(statement)
