"""No statement reads all rows that a company has in a table that grows with its orders, as SQLite's planner takes it where an
index does not name one column more than another: what costs a millisecond today would stop the tills in a year. Reading all
is fine where REASONS says why."""

import re
import subprocess

import pytest

import source
from source import ROOT, closed
from support.box import BINARY, PATIENCE_S
from test_postgresql import filled

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
    "WHERE o.company_id = ?1 AND o.created_at >= ?2 AND o.created_at < ?3 AND l.product_id IS NOT NULL "
    "AND l.canceled_at IS NULL",
    "SELECT id FROM orders WHERE total > ?1"])
def test_finds_what_reads_all_rows(schema, sql):
    assert complaints(schema, [(ROOT / "src/x/store.cc", 1, sql)])
