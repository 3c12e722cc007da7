"""No statement reads all rows that a company has in a table that grows with its orders, as SQLite's planner takes it where an
index does not name one column more than another: what costs a millisecond today would stop the tills in a year. Reading all
is fine where REASONS says why."""

import contextlib
import itertools
import re
import sqlite3
import subprocess

import pytest

import source
from source import ROOT, closed
from support.box import BINARY, PATIENCE_S
from test_postgresql import filled, parameters

GROWING = {"address", "alias", "audit", "client", "client_word", "cloud_difference", "cloud_order", "cloud_step", "combo",
           "combo_modifier", "delivery_command", "delivery_event", "delivery_order", "discount", "event", "idempotency",
           "order_status", "orders", "payment", "webhook_delivery"}
OF_ALL = {"company_id", "app"}  # columns that a company's rows have in common
STEP = re.compile(r"(SCAN|SEARCH) (\w+)(?: EXISTS)?(?: USING (?:COVERING )?(?:INDEX (\w+)|(?:INTEGER )?PRIMARY KEY))?(?: \((.*)\))?")
# All rows of the company go, or the first or last is looked for.
OF_PURPOSE = re.compile(r"DELETE FROM \w+ WHERE company_id = \?1$|(max|min)\(|ORDER BY (mark|number|seq|company_id)\b.* LIMIT |"
                        r"\(created_at, id\) < .* LIMIT ")
A_LIST = "the exact total of a list; where the filters have one, it is a sum of facets"
A_PERSON = "a person asks, and a reader answers"
REASONS = {
    ("clients/store.cc", "SELECT count(*) FROM client"): A_LIST,
    ("orders/list_store.cc", "SELECT count(*) FROM orders"): A_LIST,
    ("http/store.cc", "SELECT scope, key FROM idempotency"): "a reader, now and then; an index would cost each write a page",
    ("webhooks/store.cc", "SELECT id, seq, kind, event_id, subject_type"): "all are verified at the start",
    ("delivery/orders/orders_store.cc", "SELECT event_id, external_id, problem FROM delivery_event"): A_PERSON,
    ("delivery/orders/orders_store.cc", "SELECT external_id, step, problem FROM delivery_command"): A_PERSON,
    ("delivery/orders/orders_store.cc", "DELETE FROM delivery_command WHERE company_id = ?1 AND app = ?2 AND made_at"): "once an hour",
    ("cloud/orders/journal_store.cc", "SELECT count(*) FROM cloud_difference"): "by its smallest index, and few orders differ",
}


@pytest.fixture(scope="module")
def statements():
    return [(file.path, line, re.sub(r"\s+", " ", re.sub(r"\$(\d+)", r"?\1", closed(filled(text)))).strip())
            for file in source.files() for text, line in file.statements]


@pytest.fixture(scope="module")
def schema():
    return "".join(path.read_text() for path in sorted((ROOT / "src/app/migrations").glob("*.sql")))


def plans(schema, statements):
    done = subprocess.run([BINARY.parent / "comanda_explain"], input="\0".join([schema, *statements, ""]), capture_output=True,
                          text=True, timeout=PATIENCE_S * 4)
    assert done.returncode == 0, done.stderr
    return [plan.splitlines() for plan in done.stdout.split("#\n")[1:]]


def partial_indexes(schema):
    return set(re.findall(r"INDEX (\w+) ON [^;]*? WHERE ", schema))


def table_of(name, sql):
    """The table behind a name or an alias of a plan."""
    found = re.search(rf"\b(\w+)(?: AS)? {name}\b", sql)
    return name if name in GROWING or not found else found[1]


def reads_all(step, sql, plan, partial):
    """Whether this step of a plan reads all rows that a company has in a growing table."""
    found = STEP.match(step)
    is_meant = OF_PURPOSE.search(sql) and not any("TEMP B-TREE" in other for other in plan)
    if not found or table_of(found[2], sql) not in GROWING or found[3] in partial or is_meant:
        return False
    return found[1] == "SCAN" or set(re.findall(r"(\w+)[<>=]", found[4] or "")) <= OF_ALL


def complaints(schema, statements):
    partial = partial_indexes(schema)
    found = plans(schema, [sql for _, _, sql in statements])
    assert len(found) == len(statements)
    return [(str(path.relative_to(ROOT / "src")), sql, step) for (path, line, sql), plan in zip(statements, found)
            for step in plan if step.startswith("ERROR") or reads_all(step, sql, plan, partial)]


def test_no_statement_reads_all_rows_of_a_growing_table(schema, statements):
    found = complaints(schema, statements)
    reasons = {(path, begin) for path, begin in REASONS if any(path == p and sql.startswith(begin) for p, sql, _ in found)}
    assert reasons == set(REASONS), "reasons of nothing"
    left = [(path, sql, step) for path, sql, step in found
            if not any(path == p and sql.startswith(begin) for p, begin in reasons)]
    assert left == [], "\n".join(map(str, left))


@pytest.mark.parametrize("sql", [
    "SELECT external_id FROM delivery_order WHERE company_id = ?1 AND order_id = ?3 AND app = ?2",
    "SELECT count(*) FROM cloud_order WHERE company_id = ?1 AND parked <> ''",
    "SELECT o.facet, l.product_id, l.variant_id, m.name FROM orders AS o "
    "JOIN combo AS l ON l.company_id = o.company_id AND l.order_id = o.id "
    "JOIN combo_modifier AS m ON m.company_id = l.company_id AND m.order_id = l.order_id AND m.combo_position = l.position "
    "WHERE o.company_id = ?1 AND o.created_at + 0 >= ?2 AND l.product_id IS NOT NULL AND l.canceled_at IS NULL",
    "SELECT id FROM orders WHERE total > ?1"])
def test_finds_what_reads_all_rows(schema, sql):
    assert complaints(schema, [(ROOT / "src/x/store.cc", 1, sql)])


# The list of orders: the index of each of its conditions.
UNIQUE = {"o.public_id = {}": "orders_public_id", "o.reference = {}": "orders_reference"}
NUMBER = {"o.order_number = {}": "orders_number"}
OPEN = {"o.status < 4": "orders_open"}
OWNER = {"o.client_id = {}": "orders_client"}
RANGE = {"o.created_at >= {}": "orders_created", "o.created_at < {}": "orders_created", "o.updated_at >= {}": "orders_updated",
         "o.scheduled_delivery_date >= {}": "orders_scheduled", "o.scheduled_delivery_date < {}": "orders_scheduled"}
# Thousands of orders each: those of a day are read by its time, which for created_at its own index has too.
TABLE = {"o.table_id = {}": "orders_table"}
SNAPSHOT = "o.created_seq <= {}"  # of nearly every order
OF_A_PAGE = "o.id IN ({})"  # alone
INDEX = UNIQUE | NUMBER | OPEN | OWNER | RANGE | TABLE
# The first is taken for narrower than the second.
NARROWER = [*itertools.product(UNIQUE, [*NUMBER, *OWNER, *RANGE]), *itertools.product(NUMBER, [*OWNER, *RANGE]),
            *itertools.product(OPEN, [*OWNER, *RANGE]), *itertools.product(OWNER, RANGE),
            *itertools.product([*UNIQUE, *NUMBER, *OPEN, *(clause for clause in RANGE if "created_at" not in clause)], TABLE),
            *((one, SNAPSHOT) for one in INDEX)]
INDEX_OF_SORT = {"o.created_at": "orders_created", "o.updated_at": "orders_updated", "o.total": "orders_total",
                 "o.scheduled_delivery_date": "orders_scheduled", "o.order_number": "orders_number"}


@pytest.fixture(scope="module")
def list_store():
    (found,) = [file for file in source.files() if str(file) == "src/orders/list_store.cc"]
    return found


def facets(file):
    return [clause for clause, _ in file.conditions if "order_facet" in clause]


def base(file, pattern):
    (found,) = {text for text, _ in file.statements if re.match(pattern, " ".join(text.split()))}
    return found


def joined(sql, clauses, sort=None):
    """As db::ClauseBuilder joins them."""
    for clause in clauses:
        n = parameters(sql)
        sql += " AND " + clause.replace("IN ({})", f"IN (${n + 1}, ${n + 2})").replace("{}", f"${n + 1}")
    n = parameters(sql)
    sql += f" ORDER BY {sort} LIMIT ${n + 1} OFFSET ${n + 2}" if sort else ""
    return re.sub(r"\$(\d+)", r"?\1", closed(sql))


def index_of_orders(plan):
    return next(found[3] for step in plan if (found := STEP.match(step)) and found[2] == "o" and found[3])


def test_each_condition_of_the_list_has_an_index(list_store):
    assert {clause for clause, _ in list_store.conditions} - {*facets(list_store)} == {*INDEX, SNAPSHOT, OF_A_PAGE}


def test_the_narrowest_condition_of_the_list_leads(schema, list_store):
    """Without statistics SQLite takes a range for narrower than an equality, and reads years of orders for those of a client."""
    bases = [base(list_store, r"SELECT count\(\*\)"), base(list_store, r"SELECT page\.id,.* MATERIALIZED ")]
    asked = [(sql, clauses) for sql in bases for clauses in
             [*((one,) for one in INDEX), *(pair for one, other in NARROWER for pair in [(one, other), (other, one)])]]
    rank = {clause: n for n, clause in enumerate([*INDEX, SNAPSHOT])}
    for (_, clauses), plan in zip(asked, plans(schema, [joined(*one) for one in asked]), strict=True):
        assert index_of_orders(plan) == INDEX[min(clauses, key=rank.get)], (clauses, plan)


def test_a_page_of_many_matches_is_read_in_the_order_of_its_sort(schema, list_store):
    scanned = base(list_store, r"SELECT page\.id,.* FROM \( SELECT ")
    sorts = [sort for sort, _ in list_store.either if sort.endswith(("o.id", "o.id DESC"))]
    assert {re.match(r"o\.\w+", sort)[0] for sort in sorts} == set(INDEX_OF_SORT)
    asked = [(scanned, clauses, sort) for sort in sorts for clauses in
             [(), (SNAPSHOT,), *((facet,) for facet in facets(list_store)), *((facet, SNAPSHOT) for facet in facets(list_store))]]
    for (_, clauses, sort), plan in zip(asked, plans(schema, [joined(*one) for one in asked]), strict=True):
        assert index_of_orders(plan) == INDEX_OF_SORT[re.match(r"o\.\w+", sort)[0]], (clauses, sort, plan)
        assert not any("TEMP B-TREE" in step for step in plan), (clauses, sort, plan)


def test_payments_are_found_by_the_last_change_of_their_orders(schema, statements):
    """Not by created_at, whose range is from the first order on."""
    (sql,) = [sql for path, _, sql in statements if path == ROOT / "src/reports/store.cc" and "o.updated_at >=" in sql]
    (plan,) = plans(schema, [sql])
    assert index_of_orders(plan) == "orders_updated", plan


def test_statistics_are_of_indexes_that_exist():
    """A row of another index, or with too few numbers, would be passed over in silence."""
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        for path in sorted((ROOT / "src/app/migrations").glob("*.sql")):
            database.executescript(path.read_text())
        rows = database.execute("SELECT tbl, idx, stat FROM sqlite_stat1").fetchall()
        assert rows
        for table, index, numbers in rows:
            if index == table:  # the primary key of a table without rowids
                columns = database.execute("SELECT count(*) FROM pragma_table_info(?) WHERE pk > 0", (table,)).fetchone()[0]
                assert "WITHOUT ROWID" in database.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).fetchone()[0]
            else:
                columns = database.execute("SELECT count(*) FROM pragma_index_info(?)", (index,)).fetchone()[0]
                assert (table,) in database.execute("SELECT tbl_name FROM sqlite_schema WHERE name = ?", (index,)).fetchall()
            assert len(numbers.split()) == columns + 1, index


def test_statistics_come_from_migrations_alone():
    """Those of the data would plan each database in another way."""
    assert [str(path.relative_to(ROOT)) for path in sorted((ROOT / "src").rglob("*")) if path.suffix in (".cc", ".h", ".sql") and
            re.search(r"(?m)^\s*ANALYZE\b|\bANALYZE [a-z]|PRAGMA (analysis_limit|optimize)", path.read_text())] == \
        ["src/app/migrations/0021_statistics_and_deliveries.sql",
         "src/db/sqlite/table_copy.cc"]  # makes the table for the rows of the file that it copies
