"""scripts/check_rooms finds mistakes that are planted into a copy of the source, and none without them."""

import shutil
import subprocess
import sys

import pytest

from source import ROOT
from support.waiting import PATIENCE_S


@pytest.fixture
def tree(tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src")
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts/check_rooms", tmp_path / "scripts")
    return tmp_path


def complaints(tree):
    done = subprocess.run([sys.executable, tree / "scripts/check_rooms"], capture_output=True, text=True, timeout=PATIENCE_S * 4)
    assert done.returncode == (1 if done.stdout else 0), done.stderr
    return done.stdout.splitlines()


def test_finds_nothing_in_the_source(tree):
    assert complaints(tree) == []


PLANTED = [
    ("orders/orders.cc", '0;\n#include "engine/connection.h"\nint y = 0', "includes an engine of the database; only db/ may"),
    ("db/writer.cc", '0;\n#include <sqlite3.h>\nint y = 0', "includes sqlite3.h; only db/sqlite/ may"),
    ("keys/store.cc", 'R"sql(SELECT id FROM company WHERE company_id = $1)sql"', "has SQL on company, which belongs to company"),
    ("keys/store.cc", 'R"sql(\n  SELECT k.id FROM api_key k\n  JOIN orders AS o ON o.id = k.id)sql"', "has SQL on orders"),
    ("menu/store.cc", 'R"sql(DELETE FROM event WHERE seq = $1)sql"', "has SQL on event, which belongs to events"),
    ("reports/store.cc", 'R"sql(UPDATE orders SET total = 0)sql"', "has SQL on orders, which belongs to orders"),
    ("orders/store.cc", '"SELECT id FROM orders"', "has SQL in an ordinary string"),
    ("orders/list_store.cc", '"o.facet IN (SELECT facet FROM order_facet)"', "has SQL in an ordinary string"),
    ("orders/api.cc", 'R"sql(\n      SELECT id FROM orders)sql"', "has SQL; it belongs into the room's store.cc"),
    ("auth/gate.cc", '0;\n#include "http/context.h"\nint y = 0', "which is below it in src/ROOMS"),
    ("auth/gate.h", "0;\nnamespace comanda::cloud {\nclass Syncer;\n}\nint y = 0", "declares something of cloud, which is below it"),
    ("auth/gate.cc", "0;\nint Long(int x) {\n" + "  x += 1;\n" * 58 + "  return x;\n}\nint y = 0",
     "has a function of 61 lines; at most 60"),
    ("auth/gate.h", "0;\nclass Long {\n public:\n  explicit Long(int x)\n      : x_(x) {\n" + "    x_ += 1;\n" * 58
     + "  }\n\n private:\n  int x_;\n};\nint y = 0", "has a function of 61 lines; at most 60"),
    ("auth/gate.cc", "0;  // -- section ------", "has a rule of dashes"),
    ("orders/size.h", "0;\nnamespace comanda::orders {\nstruct Order { int x; };\n}\nconst auto more = 0",
     "has a comanda::orders::Order, as src/orders/order.h has"),
]


def test_finds_a_view_that_reads_another_table(tree):
    path = tree / "src/office/views/orders.sql"
    path.write_text(path.read_text() + "JOIN client AS g ON g.company_id = o.company_id\n")
    assert complaints(tree) == ["src/office/views/orders.sql: reads client, which belongs to clients (src/TABLES)"]


@pytest.mark.parametrize("file, planted, complaint", PLANTED)
def test_finds_what_is_planted(tree, file, planted, complaint):
    path = tree / "src" / file
    path.write_text(path.read_text() + f"\nconst auto planted = {planted};\n")
    found = complaints(tree)
    assert len(found) == 1 and complaint in found[0], found


@pytest.mark.parametrize("planted", [
    'R"sql(SELECT o.id FROM orders AS o JOIN combo AS c ON c.order_id = o.id)sql"',
    "0;\nint Long(int x) {\n" + "  x += 1;\n" * 57 + "  return x;\n}\nint y = 0",
    "0;\nconstexpr int kTable[] = {\n" + "    1,\n" * 80 + "};\nint y = 0",
    '"SELECTED FROM the menu"', "0;  // \"SELECT id FROM company\"", '"--data and --env"'])
def test_takes_what_is_sound(tree, planted):
    path = tree / "src/orders/store.cc"
    path.write_text(path.read_text() + f"\nconst auto planted = {planted};\n")
    assert complaints(tree) == []


def test_wants_every_table_of_the_schema_listed(tree):
    tables = tree / "src/TABLES"
    tables.write_text(tables.read_text().replace("\nstaff ", "\nstuff "))
    assert complaints(tree)[:2] == ["src/TABLES: staff: not listed", "src/TABLES: stuff: not a table of the schema"]
