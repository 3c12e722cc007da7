"""What a DBA has changed is found by comanda-head's own query and comparison, beside a schema that the migrations make in a
transaction which is rolled back."""

import pytest

from dialect import COLUMNS, catalogue_query, compared, schema
from preparing import named_rows

SHADOW = "shadow"


@pytest.fixture(scope="module")
def live(connection):
    """To a database whose schema `live` is the program's."""
    connection.run("CREATE SCHEMA live")
    connection.run("SET search_path = live")
    connection.run(";".join(schema()))
    return connection


def differences(live, change="SELECT 1"):
    """After the change, which is rolled back too."""
    live.run("BEGIN")
    try:
        live.run("SET LOCAL search_path = live")
        live.run(change)
        found = named_rows(live, catalogue_query())
        live.run(f"CREATE SCHEMA {SHADOW}")
        live.run(f"SET LOCAL search_path = {SHADOW}")
        live.run(";".join(schema()))
        wanted = named_rows(live, catalogue_query())
    finally:
        live.run("ROLLBACK")
    assert len(wanted) > 500 and set(wanted[0]) == set(COLUMNS)
    return compared(found, wanted)


def test_the_schema_is_as_the_migrations_make_it(live):
    assert differences(live) == []


CHANGES = [
    ("DROP INDEX orders_client", ["the index orders_client of the table orders is missing: CREATE INDEX orders_client ON orders "
                                  "USING btree (company_id, client_id, created_at, id) WHERE client_id IS NOT NULL"]),
    ("ALTER TABLE orders ALTER total TYPE integer", ["!the column orders.total has type integer, must be bigint"]),
    ("ALTER TABLE orders ALTER source TYPE varchar(40)", [
        "!the column orders.source has type character varying(40), must be text"]),
    ('ALTER TABLE staff ALTER email TYPE text COLLATE "POSIX"', ["!the column staff.email has type text COLLATE POSIX, must be text"]),
    ("ALTER TABLE orders DROP COLUMN comment", ["!the column orders.comment is missing"]),
    ("ALTER TABLE orders RENAME TO sales", ["!the table orders is missing", "there is a table sales that is not ours"]),
    ("DROP TABLE machine", ["!the table machine is missing"]),
    ("ALTER TABLE machine SET UNLOGGED", ["!the table machine is unlogged, must be permanent"]),
    ("ALTER TABLE orders ADD COLUMN note text", ["there is a column orders.note that is not ours"]),
    ("ALTER TABLE orders ALTER comment SET NOT NULL", ["the column orders.comment is NOT NULL, must be NULL"]),
    ("ALTER TABLE client ALTER orders_count DROP DEFAULT", [
        "the column client.orders_count is NOT NULL, must be NOT NULL DEFAULT 0"]),
    ("ALTER TABLE address DROP CONSTRAINT address_company_id_client_id_fkey", [
        "the constraint address_company_id_client_id_fkey of the table address is missing: "
        "FOREIGN KEY (company_id, client_id) REFERENCES client(company_id, id)"]),
    ("ALTER TABLE address ADD CHECK (position < 9)", [
        "there is a constraint address_position_check on address that is not ours: CHECK (\"position\" < 9)"]),
    ("ALTER TABLE orders RENAME CONSTRAINT orders_pkey TO orders_key", []),
    ("CREATE INDEX fast ON orders (total)", [
        "there is an index fast on orders that is not ours: CREATE INDEX fast ON orders USING btree (total)"]),
    ("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'orders_client'::regclass", [
        "the index orders_client of the table orders is invalid, must be valid"]),
    ("CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';"
     "CREATE TRIGGER audit BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION f()", [
         "there is a trigger audit on orders that is not ours: "
         "CREATE TRIGGER audit BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION f()"]),
    ("CREATE RULE hole AS ON INSERT TO orders DO INSTEAD NOTHING", [
        "there is a rule hole on orders that is not ours: CREATE RULE hole AS ON INSERT TO orders DO INSTEAD NOTHING;"]),
    # What is no change of ours: views of others, statistics, rights.
    ("CREATE VIEW v AS SELECT id FROM orders; CREATE STATISTICS s ON status, paid FROM orders; GRANT SELECT ON orders TO public;"
     "ALTER TABLE orders SET (fillfactor = 80)", []),
]


@pytest.mark.parametrize("change, said", CHANGES, ids=[change[:60] for change, _ in CHANGES])
def test_says_what_was_changed(live, change, said):
    assert differences(live, change) == said


def test_leaves_nothing_of_the_schema_to_compare_with(live):
    assert differences(live) == []
    assert live.rows(f"SELECT 1 AS one FROM pg_namespace WHERE nspname = '{SHADOW}'") == []
