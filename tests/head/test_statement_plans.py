"""No statement of the program reads all rows of a growing table, or finds one row of it by way of many, as PostgreSQL plans it
on a database that grows, with the statistics that comanda-head keeps itself: the twin of tests/sql/test_plans.py. A plan that
was made while a table was empty stays until there are new ones, so that every statement is prepared on the empty database, by
one connection that stays open, as comanda-head's do."""

import contextlib
import pathlib
import re
import sys
import threading
import time

import psycopg2
import pytest

from support import postgresql
from support.orders import item, new_key
from support.waiting import wait_until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "sql"))
import source  # noqa: E402
from test_plans import INDEX, OF_ALL, OF_PURPOSE, REASONS, base, joined  # noqa: E402
from test_postgresql import filled  # noqa: E402

BIG = 1_000  # rows, from which on comanda-head keeps statistics
PAGES = 60  # a smaller table is read whole by any planner that knows its size
YOUNG, FULL = 3_000, 24_000  # orders
COMPANIES = 3
NEW, NEW_ORDERS = 4, 1_500  # a company that joins, with less than a tenth of all
PATRONI = pathlib.Path(__file__).resolve().parents[2] / "systemd/head-office/patroni.yml"
OF_ORDERS = ("orders", "order_status", "combo", "combo_modifier", "payment", "discount")
GROWING = (*OF_ORDERS, "event", "idempotency", "client", "address", "client_word")  # parents before their children
# Of a copy of a row: another text, another number, another time.
TEXTS = {"id", "public_id", "reference", "order_id", "client_id", "address_id", "subject_id", "event_id", "key", "request_key"}
NUMBERS = {"order_number", "created_seq", "record_seq", "client_seq", "event_seq"}
STEP_MS = 60_000
FILES = {file.path: file for file in source.files()}
# The box's alone: a head office has no cloud and no delivery apps.
NOT_HERE = ("cloud/", "delivery/", "aliases/")
A_SEARCH = "a person searches, and the company has a third of all guests here"
MORE_REASONS = {
    ("orders/store.cc", "SELECT count(*) FROM order_facet"): "a check of all rows, by a connection of its own",
    ("orders/list_store.cc", "SELECT page.id, page.version, page.render_version, page.record_seq, page.created_at, page.updated_at, "
     "page.scheduled_delivery_date, page.total, page.order_number, e.seq, e.epoch, e.event_id, e.type, e.changes, e.subject_type, "
     "e.subject_id, e.subject_version, e.at, e.body, e.note, e.checksum FROM ( SELECT o.id, o.version, o.render_version, "
     "o.record_seq, o.created_at, o.updated_at, o.scheduled_delivery_date, o.total, o.order_number FROM orders AS o "
     "WHERE o.company_id = $1 ORDER BY o.scheduled_delivery_date DESC NULLS LAST"): "nulls are first in its index, backwards",
    ("clients/store.cc", "SELECT c.id, c.name, c.email, c.country_calling_code, c.phone_number, c.document_type, "
     "c.document_number, c.notes, c.orders_count, c.last_order_at, c.created_at, c.updated_at FROM ( SELECT w"): A_SEARCH,
    ("clients/store.cc", "SELECT count(*) FROM ( SELECT w.client_seq AS seq FROM client_word"): A_SEARCH,
    ("orders/store.cc", "SELECT 1 FROM orders WHERE company_id = $1 AND created_at >= $4 AND source"): "of delivery apps",
}


def shifted(table, column, kind, n, place):
    """Of the n-th copy; of an id its eight digits at `place` change."""
    if kind == "text" and column in TEXTS:
        return f"CASE WHEN {column} ~ '^[0-9a-f]{{8}}-' THEN overlay({column} placing lpad(to_hex({n}), 8, '0') from {place} for 8) " \
               f"ELSE {column} || '-' || {n} END"
    if column in NUMBERS or (table, column) == ("event", "seq"):
        return f"{column} + {n} * (SELECT max({column}) + 1 FROM {table})"
    if kind == "bigint" and column.endswith("_at"):
        return f"{column} + {n} * {STEP_MS}"
    return column


def columns(db, table):
    return db.rows("SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute "
                   "WHERE attrelid = CAST(? AS regclass) AND attnum > 0 AND NOT attisdropped ORDER BY attnum", table)


def multiply(db, orders, place):
    """The rows of orders and guests, until there are so many orders; equal ones for each company."""
    (have,), = db.rows("SELECT count(*) FROM orders WHERE company_id = 1")
    copies = orders // COMPANIES // have
    for table in reversed(GROWING):
        db.execute(f"DELETE FROM {table} WHERE company_id > 1")
    for table in GROWING:
        names = columns(db, table)
        values = ", ".join(shifted(table, column, kind, "n.n", place) for column, kind in names)
        db.execute(f"INSERT INTO {table} SELECT {values} FROM {table} CROSS JOIN generate_series(1, {copies - 1}) AS n(n) "
                   f"WHERE company_id = 1 ON CONFLICT DO NOTHING")
        values = ", ".join("n.n" if column == "company_id" else column for column, _ in names)
        db.execute(f"INSERT INTO {table} SELECT {values} FROM {table} CROSS JOIN generate_series(2, {COMPANIES}) AS n(n)")


def found_companies(db):
    """As many as the rows are for."""
    for table in ("company", "company_counter"):
        values = ", ".join("n.n" if column == "company_id" else "id || n.n" if column == "id" else column
                           for column, _ in columns(db, table))
        db.execute(f"INSERT INTO {table} SELECT {values} FROM {table} CROSS JOIN generate_series(2, {COMPANIES}) AS n(n)")


def is_begun(sql):
    """Whether a builder goes on with conditions."""
    return re.search(r"WHERE (\w+\.)?company_id = \$1\s*$", sql)


class Statements:
    """All of the program, prepared by one connection."""

    def __init__(self, db):
        self.db, self.company = db, 2
        found = [(str(file.path.relative_to(source.ROOT / "src")), text) for file in FILES.values() for text, _ in file.statements]
        self.known = [(where, " ".join(source.closed(filled(text)).split())) for where, text in found
                      if not where.startswith(NOT_HERE) and not is_begun(text)] + self.lists()
        self.types = []
        for n, (_, sql) in enumerate(self.known):
            db.run(f"PREPARE s{n} AS {sql}")
            self.types.append(db.rows("SELECT array_to_string(CAST(parameter_types AS text[]), ',') FROM pg_prepared_statements "
                                      "WHERE name = ?", f"s{n}")[0][0].split(","))

    def lists(self):
        """The list of orders by each of its conditions."""
        file = FILES[source.ROOT / "src/orders/list_store.cc"]
        sorts = [sort for sort, _ in file.either if sort.endswith(("o.id", "o.id DESC"))]
        few, many = (base(file, pattern) for pattern in (r"SELECT page\.id,.* MATERIALIZED ", r"SELECT page\.id,.* FROM \( SELECT "))
        found = [joined(few, (clause,)) for clause in INDEX] + [joined(many, (), sort) for sort in sorts]
        return [("orders/list_store.cc", " ".join(re.sub(r"\?(\d+)", r"$\1", sql).split())) for sql in found]

    def value(self, sql, n, kind):
        """What the parameter is compared with in the middle of the rows; of a range, its recent end."""
        if re.search(rf"\b(LIMIT|OFFSET) \${n}\b", sql):
            return "50" if f"LIMIT ${n}" in sql else "0"
        found = re.search(rf"\b(\w+) (=|<>|<=|>=|<|>|IN) \(?(?:\$\d+, )*\${n}\b", sql)
        for table in re.findall(r"\b(?:FROM|JOIN|UPDATE) (\w+)", sql) if found else []:
            is_end = f"{found[1]} >= " in sql
            share = {">=": 0.99, ">": 0.99, "<": 1 if is_end else 0.02, "<=": 1}.get(found[2], 0.5)
            with contextlib.suppress(psycopg2.Error):
                (value,), = self.db.rows(f"SELECT CAST(percentile_disc({share}) WITHIN GROUP (ORDER BY {found[1]}) AS text) "
                                         f"FROM {table} WHERE company_id = {self.company}")
                if value is not None:
                    return "'" + value.replace("'", "''") + "'"
        return {"text": "'x'", "boolean": "true"}.get(kind, str(self.company))

    def plans(self):
        """(path, sql, plan) as the server takes it after the five executions for which it makes one each."""
        for n, (where, sql) in enumerate(self.known):
            values = [self.value(sql, i, kind) for i, kind in enumerate(self.types[n], 1) if kind]
            run = f"EXPLAIN (FORMAT JSON) EXECUTE s{n}" + (f"({', '.join(values)})" if values else "")
            for _ in range(6):
                (plan,) = self.db.run(run).fetchone()
            yield where, sql, plan[0]["Plan"]


def nodes(plan, is_limited=False):
    """Of the plan and what is below it; those that end with the first rows are marked."""
    yield {**plan, "is_limited": is_limited}
    is_limited = plan["Node Type"] == "Limit" or is_limited and plan["Node Type"] not in ("Sort", "Aggregate", "Hash")
    for child in plan.get("Plans", []):
        for node in nodes(child, is_limited):
            yield {"Relation Name": plan.get("Relation Name"), **node}


class Judge:
    def __init__(self, db):
        self.big = {table for table, in db.rows("SELECT relname FROM pg_class WHERE relnamespace = "
                                                "CAST(current_schema() AS regnamespace) AND reltuples >= ? AND relpages >= ?", BIG, PAGES)}
        assert "orders" in self.big
        self.indexes = {name: (table, definition) for table, name, definition in db.rows(
            "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = current_schema()")}

    def keys(self, table):
        """The columns behind the company by which rows of the table are found."""
        first = [re.search(r"\((?:company_id, )?(\w+)", definition)[1] for name, definition in self.indexes.values() if name == table]
        return set(first) - OF_ALL

    def complaint(self, node):
        table, index = node.get("Relation Name"), node.get("Index Name")
        if table not in self.big:
            return None
        if node["Node Type"] == "Seq Scan":
            return f"reads all of {table}"
        if not index:
            return None
        used = node.get("Index Cond", "")
        filtered = set(re.findall(r"\((\w+) = ", node.get("Filter", ""))) & self.keys(table)
        if filtered and not set(re.findall(r"(\w+) = ", used)) - OF_ALL:
            return f"looks for {filtered} of {table} by way of {index}"
        is_partial = " WHERE " in self.indexes[index][1]
        begins = node["is_limited"] and "Filter" not in node
        if not is_partial and not begins and set(re.findall(r"(\w+) (?:=|<|>|<=|>=|IS)", used)) <= OF_ALL:
            return f"reads all of a company in {index}"
        return None

    def complaints(self, statements):
        for where, sql, plan in statements.plans():
            said = {self.complaint(node) for node in nodes(plan)} - {None}
            spared = OF_PURPOSE.search(re.sub(r"\$(\d+)", r"?\1", sql)) and not any(n["Node Type"] == "Sort" for n in nodes(plan))
            if said and not spared:
                yield where, sql, said


def unreasoned(complaints):
    return [(where, sql, said) for where, sql, said in complaints
            if not any(where == path and sql.startswith(begin) for path, begin in {**REASONS, **MORE_REASONS})]


def wait_for_statistics(db, since):
    """Of each table that has as many rows that comanda-head keeps them."""
    def missing():
        return db.rows("SELECT relname FROM pg_stat_user_tables WHERE schemaname = current_schema() AND n_live_tup >= ? "
                       "AND coalesce(last_analyze, to_timestamp(0)) < to_timestamp(?)", BIG, since)
    wait_until(lambda: not missing(), lambda: f"no statistics of {missing()}")


@pytest.fixture
def seeds(head):
    """Some orders and guests of every kind, for copies."""
    client = head.client(head.make_key()["key"])
    for n in range(24):
        guest = client.post("/v1/clients", {"name": f"Rosa {n}", "email": f"rosa{n}@example.com", "phone_number": f"9991112{n:02}",
                                            "country_calling_code": "51"}, new_key())
        fields = {"client_id": guest.data["id"]} if guest.status == 201 and n % 2 else {}
        order = client.place(comment="sin cebolla", **fields)
        order = client.add(order, *[item(name=f"Ceviche {k}") for k in range(1 + n % 3)])
        if n:
            client.advance(order, "READY")
            client.pay(order, order["pending_amount"])
            client.advance(order, "FINALIZED")
    client.close()


def test_statements_of_a_database_that_grows(head, seeds):
    with head.database() as watched, head.database() as db:
        for table in db.tables():
            db.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = off)")  # what is found is comanda-head's own
        found_companies(db)
        statements = Statements(watched)
        list(statements.plans())  # those for a table with few rows, and kept
        for orders, place in ((YOUNG, 1), (FULL, 25)):
            since = time.time()
            db.execute("BEGIN")  # statistics of a half, in which a company has no rows yet, are another story
            multiply(db, orders, place)
            db.execute("COMMIT")
            wait_for_statistics(db, since)
            found = unreasoned(Judge(db).complaints(statements))
            assert found == [], "\n".join(f"{orders} orders: {one}" for one in found)


def join(db):
    """A company more, with orders of another one."""
    of_an_order = {"orders": "id", "event": "subject_id"} | {table: "order_id" for table in OF_ORDERS[1:]}
    for table in ("company", "company_counter", "client", "address", *of_an_order):
        values = ", ".join(str(NEW) if column == "company_id" else f"id || {NEW}" if (table, column) == ("company", "id") else column
                           for column, _ in columns(db, table))
        some = f"AND {of_an_order[table]} IN (SELECT id FROM orders WHERE company_id = 2 ORDER BY id LIMIT {NEW_ORDERS})" \
            if table in of_an_order else ""
        db.execute(f"INSERT INTO {table} SELECT {values} FROM {table} WHERE company_id = 2 {some}")


@pytest.fixture
def as_shipped(monkeypatch):
    """A server that keeps statistics of its own as in a head office."""
    (share,) = re.findall(r"autovacuum_analyze_scale_factor: ([\d.]+)", PATRONI.read_text())
    server = postgresql.Server(["-c", f"autovacuum_analyze_scale_factor={share}", "-c", "autovacuum_naptime=1"])
    monkeypatch.setenv(postgresql.ADDRESS, server.directory)
    yield server
    server.close()


def test_statements_of_a_company_that_joins(as_shipped, head, seeds):
    """comanda-head itself looks at a table again when it has doubled."""
    with head.database() as watched, head.database() as db:
        found_companies(db)
        statements = Statements(watched)
        since = time.time()
        db.execute("BEGIN")
        multiply(db, FULL, 1)
        db.execute("COMMIT")
        wait_for_statistics(db, since)
        join(db)
        db.execute("SELECT pg_stat_force_next_flush()")  # or what was written is counted up to a second later

        def unseen():
            return db.rows("SELECT relname FROM pg_stat_user_tables WHERE schemaname = current_schema() AND n_live_tup >= ? AND "
                           "n_mod_since_analyze >= ?", BIG, NEW_ORDERS)
        wait_until(lambda: not unseen(), lambda: f"no statistics of {unseen()}")
        statements.company = NEW
        found = unreasoned(Judge(db).complaints(statements))
        assert found == [], "\n".join(str(one) for one in found)


def pages_of_a_create(head, client):
    """Of the table orders and its indexes, the mean of a hundred."""
    def so_far():
        time.sleep(4)  # the server counts behind a transaction, and the writer has one every two seconds
        return head.value("SELECT heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit FROM pg_statio_user_tables "
                          "WHERE schemaname = current_schema() AND relname = 'orders'")
    before = so_far()
    for _ in range(100):
        client.place()
    return (so_far() - before) / 100


def test_a_create_reads_no_more_pages_where_there_are_many_orders(head):
    with head.database() as db:
        db.execute("ALTER TABLE orders SET (autovacuum_enabled = off)")
    key = head.make_key()["key"]
    with contextlib.closing(head.client(key)) as client:
        client.place()
        few = pages_of_a_create(head, client)

        def sell():
            with contextlib.closing(head.client(key)) as till:
                for _ in range(700):
                    till.place()

        tills = [threading.Thread(target=sell) for _ in range(4)]
        for till in tills:
            till.start()
        for till in tills:
            till.join()
        time.sleep(8)  # comanda-head looks every five seconds
        many = pages_of_a_create(head, client)
    print("pages", few, many)
    # An index of so many has a level more.
    assert many <= few + 20, (few, many)
