"""The program's schema, and what PostgreSQL says of its statements."""

import re
import sqlite3

import psycopg2

from source import ROOT


def schema():
    """The statements of the schema, in the order of their making, with the two changes that PostgreSQL needs."""
    database = sqlite3.connect(":memory:")
    for path in sorted((ROOT / "src/app/migrations").glob("*.sql")):
        database.executescript(path.read_text())
    rows = database.execute("SELECT type, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type DESC, rowid").fetchall()
    for kind, sql in rows:
        assert kind in ("table", "index"), f"{kind}: not portable"
        sql = re.sub(r"--[^\n]*", "", sql)
        sql = re.sub(r"\bINTEGER\b", "BIGINT", sql)
        yield re.sub(r"\)\s*(STRICT|WITHOUT ROWID)(\s*,\s*(STRICT|WITHOUT ROWID))?\s*$", ")", sql)


def errors(connection, statements):
    """What the server says of each, in their order: its error, or nothing."""
    return [error_of(connection, sql) for sql in statements]


def error_of(connection, sql):
    try:
        connection.run(sql)
    except psycopg2.Error as error:
        return str(error)
    return ""


def errors_of_preparing(connection, statements):
    found = errors(connection, [f"PREPARE statement_{n} AS {sql}" for n, sql in enumerate(statements)])
    connection.run("DEALLOCATE ALL")
    return found
