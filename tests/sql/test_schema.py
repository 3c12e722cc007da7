"""The schema that comanda-head makes on PostgreSQL is that of SQLite: the same tables, columns, keys and indexes."""

import re
import sqlite3
import subprocess
import sys

import pytest

from dialect import schema, translated
from preparing import errors, named_rows
from source import ROOT

MIGRATIONS = ROOT / "src/app/migrations"
BASE = MIGRATIONS / "postgresql/0020_schema.sql"
TYPES = {"INTEGER": "bigint", "TEXT": "text"}
# What PostgreSQL writes otherwise: parentheses, types of literals, IN as = ANY, <> for !=.
WORD = re.compile(r"'[^']*'|\b[a-z_]+\b|\d+")
FORM = {"and", "or", "is", "not", "null", "in", "any", "array", "text", "bigint", "check"}


@pytest.fixture(scope="module")
def restaurant(connection):
    """To a database with the schema."""
    assert [error for error in errors(connection, schema()) if error] == []
    return connection


@pytest.fixture(scope="module")
def sqlite():
    database = sqlite3.connect(":memory:")
    for path in sorted(MIGRATIONS.glob("*.sql")):
        database.executescript(path.read_text())
    return database


def condition(text):
    """The columns and values of a condition."""
    return sorted(set(WORD.findall(text.lower() if text else "")) - FORM)


def value(text):
    """A default, bare."""
    return re.sub(r"::\w+|[()]", "", text) if text else None


def tables(sqlite):
    return {name for name, in sqlite.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")}


def statement(sqlite, name):
    return sqlite.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (name,)).fetchone()[0]


def index_columns(sqlite, name):
    return [row[2] for row in sqlite.execute(f"PRAGMA index_info({name})")]


def of_sqlite(sqlite):
    """table -> what it has, in the form of of_postgresql()"""
    found = {}
    for table in tables(sqlite):
        info = sqlite.execute(f"PRAGMA table_info({table})").fetchall()
        key = [name for _, name, _, _, _, place in sorted(info, key=lambda row: row[5]) if place]
        keys = {}
        for number, _, other, column, referred, *_ in sqlite.execute(f"PRAGMA foreign_key_list({table})"):
            keys.setdefault(number, (other, []))[1].append((column, referred))
        indexes = sqlite.execute(f"PRAGMA index_list({table})").fetchall()
        sql = re.sub(r"--[^\n]*", "", statement(sqlite, table))
        found[table] = {
            "columns": [(name, TYPES[kind], bool(needed or place), value(default)) for _, name, kind, needed, default, place in info],
            "key": key,
            "foreign keys": sorted(keys.values()),
            "unique": sorted(index_columns(sqlite, name) for _, name, _, origin, _ in indexes if origin == "u"),
            "checks": sorted(condition(text) for text in re.findall(r"\bCHECK \(((?:[^()]|\([^()]*\))*)\)", sql)),
            "indexes": {name: (bool(unique), index_columns(sqlite, name),
                               condition(statement(sqlite, name).partition(" WHERE ")[2]) if partial else [])
                        for _, name, unique, origin, partial in indexes if origin == "c"},
        }
    return found


COLUMNS = """SELECT c.relname AS table, a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull AS needed,
    pg_get_expr(d.adbin, d.adrelid) AS value
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
  ORDER BY c.relname, a.attnum"""
NAMES = """(SELECT json_agg(a.attname ORDER BY k.place) FROM unnest({numbers}) WITH ORDINALITY AS k (number, place)
    JOIN pg_attribute a ON a.attrelid = {table} AND a.attnum = k.number)"""
CONSTRAINTS = f"""SELECT c.relname AS table, o.contype AS kind, {NAMES.format(numbers="o.conkey", table="o.conrelid")} AS names,
    f.relname AS other, {NAMES.format(numbers="o.confkey", table="o.confrelid")} AS referred, pg_get_constraintdef(o.oid) AS text
  FROM pg_constraint o JOIN pg_class c ON c.oid = o.conrelid LEFT JOIN pg_class f ON f.oid = o.confrelid
  WHERE o.connamespace = 'public'::regnamespace"""
INDEXES = f"""SELECT c.relname AS table, n.relname AS name, i.indisunique AS only, pg_get_expr(i.indpred, i.indrelid) AS condition,
    {NAMES.format(numbers="i.indkey", table="i.indrelid")} AS names
  FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_class n ON n.oid = i.indexrelid
  WHERE c.relnamespace = 'public'::regnamespace AND NOT EXISTS (SELECT 1 FROM pg_constraint o WHERE o.conindid = i.indexrelid)"""


def of_postgresql(connection):
    found = {}
    for row in named_rows(connection, COLUMNS):
        empty = {"columns": [], "key": [], "foreign keys": [], "unique": [], "checks": [], "indexes": {}}
        table = found.setdefault(row["table"], empty)
        table["columns"].append((row["name"], row["type"], row["needed"], value(row["value"])))
    for row in named_rows(connection, CONSTRAINTS):
        table = found[row["table"]]
        if row["kind"] == "p":
            table["key"] = row["names"]
        elif row["kind"] == "f":
            table["foreign keys"].append((row["other"], list(zip(row["names"], row["referred"]))))
        elif row["kind"] == "u":
            table["unique"].append(row["names"])
        elif row["kind"] == "c":
            table["checks"].append(condition(row["text"]))
    for row in named_rows(connection, INDEXES):
        found[row["table"]]["indexes"][row["name"]] = (row["only"], row["names"], condition(row["condition"]))
    for table in found.values():
        for kind in ("foreign keys", "unique", "checks"):
            table[kind].sort()
    return found


def test_both_have_the_same_catalogue(restaurant, sqlite):
    here, there = of_sqlite(sqlite), of_postgresql(restaurant)
    assert set(here) == set(there)
    assert len(here) > 30 and sum(len(table["indexes"]) for table in here.values()) > 30
    for table in here:
        for kind in here[table]:
            assert here[table][kind] == there[table][kind], f"{table}: {kind}"


def test_the_base_is_what_the_script_makes():
    made = subprocess.run([sys.executable, ROOT / "scripts/postgresql_schema"], capture_output=True, text=True, check=True).stdout
    assert made == BASE.read_text(), "scripts/postgresql_schema >src/app/migrations/postgresql/0020_schema.sql"


def test_the_base_is_said_in_words_of_postgresql():
    text = re.sub(r"^--.*\n", "", BASE.read_text(), flags=re.M)
    assert translated(text) == [sql.strip() for sql in text.split(";\n")[:-1]]


def test_the_program_begins_with_the_base_and_goes_on_with_every_later_migration():
    later = [path.read_text() for path in sorted(MIGRATIONS.glob("*.sql")) if path.name[:4] > BASE.name[:4]]
    assert schema() == [sql for text in [BASE.read_text(), *later] for sql in translated(text)]


def test_two_migrations_before_the_base_have_what_only_sqlite_does():
    """All others could be said: the lists of the dialect are as wide as what migrations need."""
    refused = {}
    for path in sorted(MIGRATIONS.glob("*.sql")):
        try:
            translated(path.read_text())
        except AssertionError as why:
            refused[path.name] = re.search(r"for both engines \((.*?)\)", str(why))[1]
    assert refused == {"0004_lists.sql": "the function instr", "0019_codes.sql": "a text with letters before it"}
