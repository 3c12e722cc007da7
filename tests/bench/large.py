"""Databases of many orders: years of a restaurant in a file, a million orders in some minutes, made once for a schema.

Independent of the schema, so that a new version and the former one are measured alike:
1. The program places the orders of one day over its API: the patterns.
2. Copies of that file are aged by the program itself (ageing.py), by 10 and by 100 days: what it keeps of an order is
   what is left there.
3. SQL copies the patterns for every day. In every table that has the id of an order in a column, each row is copied with
   a new order id; instants move by the distance to the new day, numbers of events by the length of a day's log, and
   texts that must be unique get a new value. A day takes its rows from the pattern file of its age.
4. Counters are set from the rows, and the program is asked whether its totals agree.

Kept in the cache directory under the hash of the schema and of this file; never committed. Unused ones are deleted
after two weeks.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import sqlite3
import tempfile
import time

from ageing import age
from programs import cache_directory
from support.box import ROOT, Box

PER_DAY = 140  # 1,000 orders are a week, a million are twenty years
OPEN = 10  # orders that are not closed, on the newest day only
RARE_EVERY_DAYS = 71  # a delivery that failed, of a client who orders seldom
DAY_MS = 86_400_000
AGES = [(100, "quarter"), (10, "week"), (0, "fresh")]  # from this age in days on: the pattern file
OLD_DAYS = 120  # how old the newest day of a file of old orders is
UNUSED_S = 14 * 86_400
INSTANTS = (1_500_000_000_000, 5_000_000_000_000)  # an integer between them is an instant
RARE_CLIENT, CLIENT = 0, 1  # of the demo's


def large_database(binary, orders, per_day=PER_DAY, old=False):
    """The data directory of a restaurant with so many orders, the newest of yesterday or, where `old`, of OLD_DAYS ago.
    It stays in the cache: copy it before orders are written to it. Its file "key" has a key of all scopes."""
    home = cache_directory() / "bench"
    home.mkdir(parents=True, exist_ok=True)
    with open(home / "lock", "w") as lock, tempfile.TemporaryDirectory(prefix="making-", dir=home) as making:
        fcntl.flock(lock, fcntl.LOCK_EX)
        making = pathlib.Path(making)
        script = make_empty(making / "fresh", binary)
        script += b"".join((pathlib.Path(__file__).parent / name).read_bytes() for name in ("large.py", "ageing.py"))
        mark = f"{per_day}-{hashlib.sha256(script).hexdigest()[:12]}"
        patterns, target = home / f"patterns-{mark}", home / f"orders-{orders}{'-old' if old else ''}-{mark}"
        if not target.exists():
            print(f"bench: making a database of {orders:,} orders (kept in {home})", flush=True)
            delete_unused(home)
            if not patterns.exists():
                make_patterns(making, binary, per_day)
                making.rename(patterns)
                making.mkdir()
            make(making / "result", patterns, binary, orders, per_day, old)
            (making / "result").rename(target)
        for used in (patterns, target):
            os.utime(used)
    return target


def make_empty(data, binary):
    """A data directory with the demo restaurant and a key; its schema."""
    data.mkdir()
    box = Box(data, binary=binary)
    box.bring_in("demo")
    (data / "key").write_text(box.make_key(name="bench")["key"])
    with contextlib.closing(sqlite3.connect(data / "live.db")) as db:
        return repr(db.execute("SELECT name, sql FROM sqlite_schema ORDER BY name").fetchall()).encode()


def delete_unused(home):
    for kept in (*home.glob("orders-*"), *home.glob("patterns-*")):
        if time.time() - kept.stat().st_mtime > UNUSED_S:
            shutil.rmtree(kept)


def make_patterns(making, binary, per_day):
    key = (making / "fresh/key").read_text()
    with serving(making / "fresh", binary, key) as client:
        (making / "kinds").write_text(json.dumps(place_a_day(client, per_day)))
    last = making / "fresh"
    for days, name in reversed(AGES[:-1]):
        shutil.copytree(last, making / name)
        last = making / name
        age(last, 0, days, binary, key)


def make(result, patterns, binary, orders, per_day, old):
    shutil.copytree(patterns / "fresh", result)
    kinds = json.loads((patterns / "kinds").read_text())
    with contextlib.closing(sqlite3.connect(result / "live.db", isolation_level=None)) as db:
        for _, name in AGES:
            db.execute(f"ATTACH '{patterns / name}/live.db' AS {name}")
        Copying(db, kinds, orders, per_day, old).run()
    with serving(result, binary, (result / "key").read_text()) as client:
        check(client, orders)


@contextlib.contextmanager
def serving(data, binary, key):
    box = Box(data, ["--sandbox-listen", ""], binary)
    box.start()
    try:
        with contextlib.closing(box.client(key)) as client:
            yield client
    finally:
        box.stop()


def check(client, orders):
    """Totals that are counted and totals that are kept agree with what was made."""
    total = lambda more: client.get("/v1/orders?per_page=1" + more).json["pagination"]["total"]
    assert total("") == orders, (total(""), orders)
    assert total("&filter[start_date]=2000-01-01") == orders - total("&filter[end_date]=1999-12-31")
    for name, values in (("status", "PENDING PREPARING READY DELIVERED FINALIZED CANCELLED"), ("paid", "true false"),
                         ("service_type", "ONSITE TABLE TAKEAWAY DELIVERY")):
        of_each = [total(f"&filter[{name}]={value}") for value in values.split()]
        assert sum(of_each) == orders, (name, of_each, orders)
    newest = client.get("/v1/orders").data[0]
    assert client.get("/v1/orders/" + newest["id"]).data["id"] == newest["id"]


# A day


def place_a_day(client, per_day):
    """{order id: kind}. All orders of nearly the same size, so that pages cost the same whichever are on them."""
    luck = random.Random(7)
    demo = json.loads((ROOT / "src/app/demo.json").read_text())["companies"][0]
    tables = [table["id"] for table in demo["tables"] if "id" in table]
    people = [person["id"] for person in demo["clients"] if "id" in person]
    menu = [p for c in client.get("/v1/menu").data["categories"] for p in c["products"]]
    menu = [p for p in menu if p["variants"] and p["variants"][0].get("stock") is None
            and any(m["modifiers"] for m in p.get("modifier_categories", []))]
    kinds = {}
    for number in range(per_day + OPEN + 1):
        kind = "usual" if number < per_day else "open" if number < per_day + OPEN else "rare"
        fields = {"service_type": luck.choice(["ONSITE", "TABLE", "TAKEAWAY", "DELIVERY"]), "comment": "sin cebolla"}
        if kind == "rare":
            fields.update(service_type="DELIVERY", client_id=people[RARE_CLIENT])
        elif number % 10 == 0:
            fields["client_id"] = people[CLIENT]
        if fields["service_type"] == "TABLE":
            fields["table_id"] = tables[number % len(tables)]
        if number % 20 == 0:
            soon = time.time() + 7200 + number
            fields["scheduled_delivery_date"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(soon))
        order = client.place(**fields)
        kinds[order["id"]] = kind
        order = client.add(order, *(line(luck, luck.choice(menu)) for _ in range(2)))
        if kind == "open":
            continue
        if number % 50 == 20:
            client.post(f"/v1/orders/{order['id']}/cancel", {"reason": "el cliente se fue"})
            continue
        tip = {"tip_amount": 2} if number % 7 == 0 else {}
        client.pay(order, order["pending_amount"], "cash", **tip)
        if kind == "rare":
            for step in ({"delivery_status": "DRIVER_ARRIVED_AT_STORE"},
                         {"delivery_status": "NOT_DELIVERED", "reason": "nadie abre"}):
                answer = client.patch(f"/v1/orders/{order['id']}/delivery-status", step)
                assert answer.status == 200, answer.body
        client.advance(order, "FINALIZED")
    return kinds


def line(luck, product):
    variant = product["variants"][0]
    modifier = next(m["modifiers"][0] for m in product["modifier_categories"] if m["modifiers"])
    return {"product_id": product["id"], "variant_id": variant["id"], "quantity": 1,
            "variant_price": luck.randrange(1000, 4000) / 100,
            "modifiers": [{"modifier_id": modifier["id"], "price": modifier["price"]}]}


# Its copies


class Copying:
    """From the attached files fresh, week and quarter into the main one."""

    def __init__(self, db, patterns, orders, per_day, old):
        self.db, self.patterns, self.orders = db, patterns, orders
        self.days = orders // per_day + 1
        self.slot_ms = DAY_MS // (per_day + OPEN + 2)
        self.newest_days_ago = OLD_DAYS if old else 1

    def run(self):
        for setting in ("foreign_keys = OFF", "journal_mode = OFF", "synchronous = OFF", "cache_size = -400000",
                        "temp_store = MEMORY"):
            self.db.execute("PRAGMA " + setting)
        self.first_seq, self.last_seq = self.seqs()
        self.map_copies()
        tables = {table: column for table in self.tables() if (column := self.order_column(table))}
        assert tables["orders"] == "id"
        indexes = [row for table in tables for row in self.db.execute(
            "SELECT name, sql FROM main.sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL", (table,))]
        for name, _ in indexes:
            self.db.execute(f"DROP INDEX main.{name}")
        self.db.execute("BEGIN")
        for table, column in tables.items():
            self.copy(table, column)
        self.forget_answers()
        self.count()
        self.db.execute("COMMIT")
        for _, sql in indexes:
            self.db.execute(sql)
        self.db.execute("PRAGMA journal_mode = WAL")

    def seqs(self):
        """The numbers of the events of the pattern's day, the first and the last."""
        return self.db.execute("SELECT min(seq), max(seq) FROM fresh.event "
                               "WHERE subject_id IN (SELECT id FROM fresh.orders)").fetchone()

    def map_copies(self):
        """copied: which order becomes which, when and from which file; the oldest first."""
        db = self.db
        db.create_function("kind_of", 1, self.patterns.get, deterministic=True)
        db.execute("CREATE TEMP TABLE pattern AS SELECT id, created_at, kind_of(id) AS kind, "
                   "row_number() OVER (ORDER BY created_at, id) AS seed FROM fresh.orders WHERE kind_of(id) IS NOT NULL")
        db.execute("CREATE TEMP TABLE day AS WITH RECURSIVE d(ago) AS (SELECT 0 UNION ALL SELECT ago + 1 FROM d "
                   "WHERE ago < $1) SELECT ago FROM d", (self.days,))
        newest = (int(time.time() * 1000) // DAY_MS - self.newest_days_ago) * DAY_MS
        file = " ".join(f"WHEN d.ago + {self.newest_days_ago} >= {days} THEN '{name}'" for days, name in AGES)
        db.execute(f"""
            CREATE TEMP TABLE chosen AS
            SELECT p.id AS old, p.seed, d.ago, {newest} - d.ago * {DAY_MS} + p.seed * {self.slot_ms} AS at,
                p.created_at, CASE {file} END AS file
            FROM day d CROSS JOIN pattern p
            WHERE p.kind = 'usual' OR (p.kind = 'open' AND d.ago = 0) OR (p.kind = 'rare' AND d.ago % {RARE_EVERY_DAYS} = 1)
            ORDER BY at DESC LIMIT $1""", (self.orders,))
        oldest = db.execute("SELECT max(ago) FROM chosen").fetchone()[0]
        self.seqs_a_day = self.last_seq - self.first_seq + 1
        self.newest_seq = self.last_seq + oldest * self.seqs_a_day
        # A UUIDv7 of that instant; what tells those of one millisecond apart is the pattern and the day.
        db.execute(f"""
            CREATE TEMP TABLE copied (number INTEGER PRIMARY KEY, old, new, day, later_ms, file);
        """)
        db.execute(f"""
            INSERT INTO copied (old, new, day, later_ms, file)
            SELECT old, substr(printf('%012x', at), 1, 8) || '-' || substr(printf('%012x', at), 9, 4)
                || printf('-7%03x-8%03x-%012x', seed & 4095, ago & 4095, seed * 1000000 + ago),
                {oldest} - ago, at - created_at, file
            FROM chosen ORDER BY at""")

    def tables(self):
        return [name for name, in self.db.execute("SELECT name FROM main.sqlite_schema WHERE type = 'table' "
                                                  "AND name NOT LIKE 'sqlite_%'")]

    def columns(self, table):
        return [(name, kind) for _, name, kind, *_ in self.db.execute(f"PRAGMA main.table_info({table})")]

    def order_column(self, table):
        """The column that has ids of orders; None where no column has."""
        for name, kind in self.columns(table):
            if kind == "TEXT" and self.db.execute(
                    f"SELECT 1 FROM fresh.{table} WHERE \"{name}\" IN (SELECT id FROM pattern) LIMIT 1").fetchone():
                return name
        return None

    def unique_texts(self, table, order_column, seqs):
        """Columns that must differ in every copy: the last text of each unique key that nothing else makes different."""
        kinds = dict(self.columns(table))
        found = set()
        for _, index, unique, *_ in self.db.execute(f"PRAGMA fresh.index_list({table})").fetchall():
            names = [row[2] for row in self.db.execute(f"PRAGMA fresh.index_info({index})")]
            texts = [name for name in names if kinds.get(name) == "TEXT"]
            if unique and texts and not {order_column, *seqs} & set(names):
                found.add(texts[-1])
        return found

    def copy(self, table, order_column):
        db, names = self.db, ", ".join(f'"{name}"' for name, _ in self.columns(table))
        seqs = self.seq_columns(table, order_column)
        unique = self.unique_texts(table, order_column, seqs)
        db.execute(f"DELETE FROM main.{table} WHERE \"{order_column}\" IN (SELECT id FROM pattern)")
        for _, file in AGES:
            db.execute(f"CREATE TEMP TABLE source AS SELECT * FROM {file}.{table} "
                       f"WHERE \"{order_column}\" IN (SELECT id FROM pattern)")
            db.execute(f"CREATE INDEX temp.source_order ON source(\"{order_column}\")")
            values = [self.value(name, kind, order_column, unique, seqs) for name, kind in self.columns(table)]
            db.execute(f"INSERT INTO main.{table} ({names}) SELECT {', '.join(values)} "
                       f"FROM copied c CROSS JOIN source x ON x.\"{order_column}\" = c.old WHERE c.file = '{file}' "
                       "ORDER BY c.number")
            db.execute("DROP TABLE temp.source")

    def seq_columns(self, table, order_column):
        """Columns that have the number of an event of their order, or nothing."""
        return {name for name, kind in self.columns(table) if kind == "INTEGER" and self.db.execute(
            f"SELECT count(*) > 0 AND count(e.seq) = count(*) FROM fresh.{table} AS x LEFT JOIN fresh.event AS e "
            f"ON e.company_id = 1 AND e.seq = x.\"{name}\" AND e.subject_id = x.\"{order_column}\" "
            f"WHERE x.\"{name}\" > 0 AND x.\"{order_column}\" IN (SELECT id FROM pattern)").fetchone()[0]}

    def value(self, name, kind, order_column, unique, seqs):
        """A column of a copy, as SQL."""
        column = f'x."{name}"'
        has = lambda condition: self.db.execute(f"SELECT 1 FROM source x WHERE {condition} LIMIT 1").fetchone()
        if name == order_column:
            return "c.new"
        if name in seqs:
            return f"CASE WHEN {column} > 0 THEN {column} + c.day * {self.seqs_a_day} ELSE {column} END"
        if kind == "INTEGER" and has(f"{column} BETWEEN {INSTANTS[0]} AND {INSTANTS[1]}"):
            return f"{column} + c.later_ms"
        if kind == "TEXT" and name == "public_id":  # ten digits after the country
            return f"substr({column}, 1, 3) || printf('%010d', 1000000000 + c.number)"
        if kind == "TEXT" and name in unique:
            return f"substr({column}, 1, 23) || printf('-%012x', c.number)"
        # The public id that the record shows stays the pattern's.
        if kind == "TEXT" and has(f"instr({column}, x.\"{order_column}\") > 0"):
            return f"replace({column}, c.old, c.new)"
        return column

    def forget_answers(self):
        """Those kept under an Idempotency-Key: of orders that are no more."""
        if "idempotency" in self.tables():
            self.db.execute("DELETE FROM main.idempotency")

    def count(self):
        self.db.execute("UPDATE main.company_counter SET event_seq = $1", (self.newest_seq,))
        if "checksum" in {name for name, _ in self.columns("orders")}:
            # Those of the patterns fit no copy: as in a file of an older program.
            self.db.execute("UPDATE main.orders SET checksum = NULL")
            self.db.execute("UPDATE main.event SET checksum = NULL, chain = NULL")
            self.db.execute("UPDATE main.company_counter SET checksums_complete = 0, event_chain = 0, "
                            "chain_start = event_seq + 1")
        if "checksum" in {name for name, _ in self.columns("company_counter")}:
            self.db.execute("UPDATE main.company_counter SET checksum = NULL")
        for table in self.tables():
            names = {name for name, _ in self.columns(table)}
            if {"facet", "orders"} <= names and "bucket" not in names:
                self.db.execute(f"UPDATE main.{table} AS f SET orders = "
                                "(SELECT count(*) FROM main.orders AS o WHERE o.facet = f.facet)")
        if "order_tally" in self.tables():  # the schema of the former program
            self.db.execute("DELETE FROM main.order_tally")
            script = (ROOT / "src/app/migrations/0005_sales.sql").read_text()
            script = re.sub("--[^\n]*", "", script)
            for statement in script.split(";"):
                if statement.strip().startswith("INSERT INTO order_tally"):
                    self.db.execute(statement)

