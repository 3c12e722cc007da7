"""The views by which a chain's office asks in SQL: each column is what /v1 says, over random histories of five restaurants;
whoever reads them reads nothing else; and questions of a few days read a few days."""

import collections
import contextlib
import decimal
import http.client
import json
import os
import pathlib
import random
import re

import psycopg2
import pytest

from support import long_history as history
from support import office, postgresql
from support.box import LONG, ROOT, Box
from support.exact import Scaled, to_json
from support.long_history import HOUSES
from support.office import COLUMNS, ROLE, as_admin, make_login, rows_of
from support.orders import new_id
from support.quick_client import QuickClient
from support.waiting import wait_until
from support.wall_clock import FrozenClockBox

SEED = int(os.environ.get("COMANDA_SEED") or random.SystemRandom().randrange(10 ** 9))
ORDERS = 4_000 if LONG else 400
LOGIN = f"office_test_{os.getpid()}"
TWIN = "0d990000-0000-4000-8000-000000000000"  # a restaurant whose rows have the ids of the first one's
BY_DAY = ["orders", "items", "payments", "daily_sales"]


def instant(text):
    """/v1's, in the form of to_jsonb()."""
    if text is None:
        return None
    whole, thousandths = text.removesuffix("Z").split(".")
    return whole + f".{thousandths}".rstrip("0").rstrip(".") + "+00:00"


def parsed(body):
    return json.loads(body, parse_float=decimal.Decimal, parse_int=decimal.Decimal)


# What /v1 says, in the form of the views

def of_order(record):
    """{view: rows} of one order."""
    order = {"company_id": record["company_id"], "order_id": record["id"]}
    dated = {**order, "business_day": record["business_day"]}
    found = collections.defaultdict(list)
    found["orders"].append({
        **dated, **{name: record[name] for name in (
            "public_id", "order_number", "status", "service_type", "source", "table_id", "subtotal", "total_discounts",
            "delivery_price", "packaging_price", "total_tips", "total", "total_paid", "paid", "currency", "version")},
        "service_fee": record["service_fee_price"],
        **{name: instant(record[name]) for name in ("created_at", "closed_at", "canceled_at")}})
    for position, combo in enumerate(record["combos"]):
        found["items"].append({
            **dated, "position": position, "item_id": combo["id"], "category_name": combo["product_category_name"],
            **{name: combo[name] for name in (
                "product_id", "product_name", "variant_id", "variant_name", "sku", "quantity", "kitchen_id")},
            "unit_price": None,  # /v1 does not show it: below
            "total": combo["combo_price"], "original_total": combo["combo_original_price"],
            "created_at": instant(combo["created_at"]), "canceled_at": instant(combo["canceled_at"])})
        for place, modifier in enumerate(combo["modifiers"]):
            found["modifiers"].append({
                **order, "item_position": position, "position": place, "total": modifier["price"],
                **{name: modifier[name] for name in ("modifier_id", "name", "quantity")}})
    for position, payment in enumerate(record["payments"]):
        found["payments"].append({
            **dated, "position": position, "payment_id": payment["id"], "method_code": payment["payment_method"]["code"],
            "method_name": payment["payment_method"]["description"], "amount": payment["amount"], "tip": payment["tip_amount"],
            "created_at": instant(payment["created_at"]), "canceled_at": instant(payment["canceled_at"])})
    for position, discount in enumerate(record["discounts"]):
        found["discounts"].append({**order, "position": position,
                                   **{name: discount[name] for name in ("type", "value", "amount")}})
    return found


def of_products(menu, company):
    for category in menu["categories"]:
        for product in category["products"]:
            for variant in product["variants"]:
                yield {"company_id": company, "product_id": product["id"], "variant_id": variant["id"],
                       "category_name": category["name"], "name": product["name"], "variant_name": variant["name"],
                       **{name: variant[name] for name in ("sku", "price", "original_price", "cost", "stock")},
                       "visible": product["visible"], "updated_at": instant(product["updated_at"])}


def of_days(records):
    """As daily_sales, from the orders alone."""
    days = {}
    for record in records:
        key = record["company_id"], record["business_day"], record["currency"]
        day = days.setdefault(key, collections.Counter())
        if record["status"] == "CANCELLED":
            day["canceled"] += 1
            continue
        day["orders"] += 1
        for name, value in (("total", "total"), ("discounts", "total_discounts"), ("delivery", "delivery_price")):
            day[name] += record[value]
        for payment in record["payments"]:
            if payment["canceled_at"] is None:
                day["paid"] += payment["amount"]
                day["tips"] += payment["tip_amount"]
    return [{"company_id": company, "business_day": day, "currency": currency,
             **{name: found[name] for name in ("orders", "canceled", "total", "discounts", "delivery", "paid", "tips")}}
            for (company, day, currency), found in days.items()]


def in_order(rows):
    return sorted(rows, key=lambda row: json.dumps(row, default=str, sort_keys=True))


def without(rows, name):
    return [{key: value for key, value in row.items() if key != name} for row in rows]


def normal(rows):
    """12.50 and 12.5 are the same amount, and their texts the same too."""
    return in_order([{key: decimal.Decimal(value).normalize() + 0 if type(value) in (int, decimal.Decimal) else value
                      for key, value in row.items()} for row in rows])


# The restaurants

def serve(box):
    """Starts it. For a moment the server may take a command that has just ended for the owner of its database."""
    box.launch()
    wait_until(lambda: box._answers() and is_owner(box), box.log_text)


def is_owner(box):
    with contextlib.suppress(OSError, http.client.HTTPException), contextlib.closing(box.client()) as client:
        return "standby" not in client.get("/readyz").json["checks"]


class Chain:
    def __init__(self, box):
        self.box = box
        file = box.data / "houses.json"
        file.write_text(history.import_file())
        box.bring_in(file)
        self.keys = {house.company_id: box.make_key(company=house.company_id)["key"] for house in HOUSES}
        serve(box)
        self.client = QuickClient(box)
        self.story = history.Story(box, self.keys, SEED, ORDERS)
        self.story.play()
        self.unit_prices = {}
        self.sell_by_hand()
        self.connection = postgresql.connect(box.databases.directory, box.databases.name, LOGIN)
        self.cursor = self.connection.cursor()

    def send(self, house, method, target, body=None, status=(200, 201)):
        answer = self.client.send(self.keys[house.company_id], method, target, None if body is None else to_json(body), new_id())
        assert answer.status in status, (method, target, answer.status, answer.body)
        return parsed(answer.body)

    def sell_by_hand(self):
        """What the histories do not do: weighed items, whose unit prices are known; discounts that are taken back; costs."""
        for house in HOUSES:
            for _ in range(3):
                order = self.send(house, "POST", "/v1/orders", {"service_type": "ONSITE", "comment": "Nobody's business"})["data"]
                target = f"/v1/orders/{order['id']}"
                units = [house.price(n) for n in (333, 1001, 7)]
                record = self.send(house, "POST", target + "/combos", {"combos": [
                    {"product_name": "Tuna", "quantity": quantity, "variant_price": unit, "sku": "T-1",
                     "modifiers": [{"name": "Salt", "price": house.price(1), "quantity": 2}]}
                    for unit, quantity in zip(units, (0.333, 1.5, 3))]})["data"]
                for unit, combo in zip(units, record["combos"]):
                    self.unit_prices[house.company_id, record["id"], combo["id"]] = decimal.Decimal(unit.text)
                for value in (10, 5, 2.5):
                    record = self.send(house, "POST", target + "/discounts", {"type": "PERCENTAGE", "value": value})["data"]
                self.send(house, "DELETE", f"{target}/discounts/{record['discounts'][1]['id']}")
            for number, (product, variants) in enumerate(house.products):
                self.send(house, "PATCH", f"/v1/menu/products/{product}", {"visible": number % 2 == 0})
                self.send(house, "PATCH", f"/v1/menu/products/{product}/variants/{variants[0]}",
                          {"cost": house.price(120), "original_price": house.price(900)})

    def records(self, house):
        found, page = [], 1
        while True:
            answer = self.send(house, "GET", f"/v1/orders?per_page=100&page={page}")
            found += answer["data"]
            if not answer["pagination"]["has_more"]:
                return found
            page += 1

    def rows(self, view, where=""):
        return rows_of(self.cursor, view, where)

    def refused(self, sql):
        """The server's reason, as the office's login."""
        try:
            self.cursor.execute(sql)
        except psycopg2.Error as error:
            return error.pgcode
        raise AssertionError(f"{sql} gave {self.cursor.fetchall() if self.cursor.description else 'no rows'}")


@pytest.fixture(scope="module")
def chain():
    directory = os.environ[postgresql.ADDRESS]
    make_login(directory, LOGIN)
    box = FrozenClockBox(history.BEGIN_MS, options=["--sandbox-listen", "", "--workers", "16"], engine="postgresql")
    found = None
    try:
        found = Chain(box)
        yield found
    finally:
        if found:
            found.connection.close()
        box.discard()
        as_admin(directory, f"DROP ROLE {LOGIN}")


# The promise

def test_names_and_types_are_those_of_the_contract(chain):
    chain.cursor.execute("SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'office'")
    assert sorted(chain.cursor.fetchall()) == sorted(
        (view, column, office.type_of(view, column)) for view, columns in COLUMNS.items() for column in columns.split())


def test_the_views_know_the_decimals_of_each_currency(chain):
    """As base/money.cc has them."""
    known = dict(re.findall(r'\{"([A-Z]{3})", (\d)\}', (ROOT / "src/base/money.cc").read_text()))
    assert len(known) > 140
    with chain.box.database() as db:
        ((view,),) = db.rows("SELECT pg_get_viewdef('office.products'::regclass)")
        unit = re.search(r"\(v\.price\)::numeric \*\s+(CASE.*?END\s+ELSE 0\.01\s+END)", view, re.S)[1].replace("c.currency", "code")
        found = db.rows(f"SELECT code, CAST(-log({unit}) AS integer) FROM unnest(CAST(? AS text[])) AS code", list(known))
    assert {code: str(places) for code, places in found} == known


@pytest.mark.parametrize("house", HOUSES, ids=lambda house: house.zone_name)
def test_each_column_is_what_the_api_says(chain, house):
    print("seed", SEED)
    records = chain.records(house)
    assert len(records) >= len(chain.story.guests[house.company_id])
    wanted = collections.defaultdict(list)
    for record in records:
        for view, rows in of_order(record).items():
            wanted[view] += rows
    wanted["daily_sales"] = of_days(records)
    wanted["products"] = list(of_products(chain.send(house, "GET", "/v1/menu")["data"], house.company_id))
    of_company = f"WHERE company_id = '{house.company_id}'"
    for view, rows in wanted.items():
        found = chain.rows(view, of_company)
        if view == "items":
            units = {(row["company_id"], row["order_id"], row["item_id"]): row["unit_price"] for row in found}
            assert {key: units[key] for key in chain.unit_prices if key in units} == {
                key: price for key, price in chain.unit_prices.items() if key[0] == house.company_id}
            found, rows = without(found, "unit_price"), without(rows, "unit_price")
        assert normal(found) == normal(rows), view
        assert found, view
    company = chain.send(house, "GET", "/v1/company")["data"]
    last = max(record["updated_at"] for record in records)
    (found,) = chain.rows("company", of_company)
    assert found.pop("last_event_at") >= instant(last)
    assert found == {"company_id": company["id"], "city": company["location"]["city"],
                     **{name: company[name] for name in ("name", "country_code", "timezone", "currency")}}


@pytest.mark.parametrize("house", HOUSES, ids=lambda house: house.zone_name)
def test_a_day_is_that_of_the_reports(chain, house):
    days = {row["business_day"]: row for row in chain.rows("daily_sales", f"WHERE company_id = '{house.company_id}'")}
    for day in random.Random(SEED).sample(sorted(days), 12):
        ask = f"filter[start_date]={day}&filter[end_date]={day}&filter[day]=business&per_page=100"
        paid = chain.send(house, "GET", "/v1/orders/by-payment-methods?" + ask)["data"]
        tips = chain.send(house, "GET", "/v1/orders/by-tips?" + ask)["data"]
        assert sum(row["sum_total"] for row in paid) == days[day]["paid"], (day, SEED)
        assert sum(row["sum_total"] for row in tips) == days[day]["tips"], (day, SEED)


def test_the_sandbox_is_in_no_view(chain):
    with chain.box.database() as db:
        found = db.rows("SELECT DISTINCT n.nspname FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid JOIN pg_class c "
                        "ON c.oid = d.refobjid JOIN pg_namespace n ON n.oid = c.relnamespace "
                        "WHERE d.classid = CAST('pg_rewrite' AS regclass) AND d.refclassid = CAST('pg_class' AS regclass) AND r.ev_class IN "
                        "(SELECT oid FROM pg_class WHERE relnamespace = CAST('office' AS regnamespace))")
        assert sorted(found) == [("live",), ("office",)]


def test_nothing_of_a_person_is_shown(chain):
    """The histories have guests, riders, comments and titles."""
    text = " ".join(str(chain.rows(view)) for view in COLUMNS)
    with chain.box.database() as db:
        personal = {value for table, columns in {
            "client": "name email phone_number", "address": "address", "staff": "name email phone_number",
            "orders": "comment order_title rider_name rider_user_id client_id address_id cancel_reason reference",
            "discount": "reason", "payment": "reference", "combo": "comment"}.items() for column in columns.split()
            for (value,) in db.rows(f"SELECT DISTINCT {column} FROM {table} WHERE length({column}) > 3")}
    assert {"Kevin", "Beto", "Guest 1", "998877661"} <= personal
    found = sorted(value for value in personal if value in text and re.search(r"(?<![\w-])" + re.escape(value) + r"(?![\w-])", text))
    assert found == []


# Two restaurants with the same ids

def test_rows_of_two_restaurants_with_the_same_ids_are_kept_apart(chain):
    house = HOUSES[0]
    before = {view: chain.rows(view, f"WHERE company_id = '{house.company_id}'") for view in COLUMNS}
    company = {**house.company(), "id": TWIN, "name": "Twin"}
    for category in company["categories"]:
        category["name"] += " of the twin"
    file = chain.box.data / "twin.json"
    file.write_text(to_json({"companies": [company]}))
    chain.box.bring_in(file)
    with chain.box.database() as db:
        ((one,), (other,)) = db.rows("SELECT company_id FROM company WHERE id IN (?, ?) ORDER BY company_id", house.company_id, TWIN)
        for table in ("orders", "combo", "combo_modifier", "payment", "discount"):
            columns = [name for (name,) in db.rows("SELECT column_name FROM information_schema.columns "
                                                   "WHERE table_schema = 'live' AND table_name = ?", table)]
            values = ["?" if name == "company_id" else
                      "2 * " + name if name in ("amount", "total", "combo_price", "price") else name for name in columns]
            db.execute(f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)} FROM {table} WHERE company_id = ?",
                       other, one)
    after = {view: chain.rows(view, f"WHERE company_id = '{house.company_id}'") for view in COLUMNS}
    of_twin = {view: chain.rows(view, f"WHERE company_id = '{TWIN}'") for view in COLUMNS}
    for view in COLUMNS:
        if view != "company":
            assert normal(after[view]) == normal(before[view]), view
            assert len(of_twin[view]) == len(before[view]), view
    for view, doubled in (("orders", "total"), ("items", "total"), ("payments", "amount"), ("discounts", "amount")):
        assert sum(row[doubled] for row in of_twin[view]) == 2 * sum(row[doubled] for row in before[view]) > 0, view
    assert {row["category_name"] for row in of_twin["products"]} == {"Plates of the twin"}


# Nothing else

def test_the_login_reads_nothing_else(chain):
    """In any schema, by any means that PostgreSQL gives to everybody."""
    with chain.box.database() as db:
        relations = db.rows("SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
                            "WHERE c.relkind IN ('r', 'v', 'm', 'S', 'f', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema', "
                            "'pg_toast')")
    assert len(relations) > 50
    readable = set()
    for schema, name in relations:
        with contextlib.suppress(psycopg2.errors.InsufficientPrivilege):
            chain.cursor.execute(f'SELECT * FROM "{schema}"."{name}" LIMIT 1')
            readable.add((schema, name))
    assert readable == {("office", view) for view in COLUMNS}
    assert [chain.refused(f"{verb} FROM live.client") for verb in ("SELECT *", "DELETE", "TABLE live.client; SELECT *")] == ["42501"] * 3


DENIED = "42501"


@pytest.mark.parametrize("sql", [
    "SELECT query_to_xml('SELECT * FROM live.client', true, true, '')",
    "SELECT table_to_xml('live.client', true, true, '')",
    "SELECT * FROM ts_stat('SELECT CAST(name AS tsvector) FROM live.client')",
    "EXPLAIN SELECT * FROM live.client",
    "COPY live.client TO STDOUT",
    "COPY (SELECT 1) TO PROGRAM 'true'",
    "COPY (SELECT 1) TO '/tmp/office'",
    "SELECT pg_read_file('postgresql.conf')",
    "SELECT * FROM pg_ls_dir('.')",
    "SELECT lo_import('/etc/passwd')",
    "SELECT * FROM pg_statistic",
    "SELECT * FROM pg_authid",
    "SELECT * FROM pg_hba_file_rules",
    "SELECT pg_ls_logdir()",
    "SELECT pg_switch_wal()",
    f"SET ROLE {postgresql.ROLE}",
    f"SET SESSION AUTHORIZATION {postgresql.ROLE}",
    f"GRANT {postgresql.ROLE} TO CURRENT_USER",
    "CREATE TABLE public.mine (a int)",
    "CREATE TEMP TABLE mine (a int)",
    "CREATE FUNCTION public.peek(text) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
    "CREATE FUNCTION pg_temp.peek(text) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
    "CREATE VIEW office.mine AS SELECT 1",
    "CREATE SCHEMA mine",
    "CREATE EXTENSION dblink",
    "CREATE INDEX ON live.orders (total)",
    "CREATE RULE peek AS ON SELECT TO office.orders DO INSTEAD SELECT 1",
    "CREATE TRIGGER peek INSTEAD OF INSERT ON office.orders FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    "CREATE OR REPLACE VIEW office.orders AS SELECT * FROM live.orders",
    "ALTER VIEW office.orders OWNER TO CURRENT_USER",
    "INSERT INTO office.company (name) VALUES ('x')",
    "UPDATE office.company SET name = 'x'",
    "DELETE FROM office.company",
    "SELECT * FROM office.company FOR UPDATE",
    "DO $$ BEGIN LOCK TABLE office.company IN ACCESS EXCLUSIVE MODE; END $$",
    "DO $$ BEGIN LOCK TABLE office.company IN ROW EXCLUSIVE MODE; END $$",
    "TRUNCATE live.orders",
    "ANALYZE live.client; SELECT * FROM live.client",
])
def test_no_way_leads_to_a_table(chain, sql):
    assert chain.refused(sql) in (DENIED, "42P16", "55000", "42809"), sql


def test_statistics_and_statements_of_the_program_are_hidden(chain):
    with chain.box.database() as db:
        db.run("ANALYZE orders")
        db.run("ANALYZE client")
        assert db.rows("SELECT count(*) FROM pg_stats WHERE schemaname = 'live'") > [(40,)]
    chain.cursor.execute("SELECT DISTINCT schemaname FROM pg_stats WHERE schemaname NOT IN ('pg_catalog', 'information_schema')")
    assert chain.cursor.fetchall() == []
    chain.cursor.execute("SELECT count(*) FROM pg_stats_ext")
    assert chain.cursor.fetchone() == (0,)
    chain.cursor.execute("SELECT query FROM pg_stat_activity WHERE usename = 'comanda' AND datname = current_database()")
    assert {query for (query,) in chain.cursor.fetchall()} == {"<insufficient privilege>"}
    chain.cursor.execute("SELECT count(*) FROM pg_largeobject_metadata")
    assert chain.cursor.fetchone() == (0,)


# An upgrade

OLD_TABLES = """
    CREATE SCHEMA live; SET search_path = live;
    CREATE TABLE owner (term BIGINT NOT NULL, commits BIGINT NOT NULL, host TEXT NOT NULL);
    CREATE UNIQUE INDEX owner_one ON owner ((true));
    CREATE TABLE schema_version (version BIGINT NOT NULL);
    CREATE UNIQUE INDEX schema_version_one ON schema_version ((true));
    INSERT INTO owner VALUES (0, 0, ''); INSERT INTO schema_version VALUES (20);
    """
# Views as of an older program, which a migration would meet: they read a table that 0021 makes anew.
OLD_VIEWS = """
    CREATE SCHEMA office;
    CREATE VIEW office.company AS SELECT id AS company_id, name FROM company;
    CREATE VIEW office.discounts AS SELECT id AS company_id, id AS order_id, seq AS position, kind AS type,
      CAST(seq AS numeric) AS value, CAST(seq AS numeric) AS {amount} FROM webhook_delivery;
    """


@pytest.fixture
def old():
    """A comanda-head whose database is of the first program for PostgreSQL; upgrade(views) starts it."""
    box = Box(engine="postgresql", options=["--sandbox-listen", ""])
    office.make_role(box.databases.directory)

    def upgrade(views):
        with contextlib.closing(postgresql.connect(box.databases.directory, box.databases.name, postgresql.ROLE)) as connection:
            connection.cursor().execute(OLD_TABLES + (ROOT / "src/app/migrations/postgresql/0020_schema.sql").read_text() + views)
        as_admin(box.databases.directory, "CREATE SCHEMA chain; CREATE VIEW chain.names AS SELECT company_id, name FROM office.company; "
                 "CREATE VIEW chain.discounts AS SELECT order_id FROM office.discounts", box.databases.name)
        box.bring_in()
        serve(box)
        return lambda sql: as_admin(box.databases.directory, sql, box.databases.name)

    box.upgrade = upgrade
    yield box
    box.discard()


def test_views_of_others_outlive_an_upgrade(old):
    """A migration finds no view that depends on the tables it makes anew, and ours are made again under those of others."""
    ask = old.upgrade(OLD_VIEWS.format(amount="amount"))
    assert ask("SELECT name FROM chain.names") == [("La Caleta",)]
    assert ask("SELECT count(*) FROM chain.discounts") == [(0,)]
    assert ask("SELECT currency, city FROM office.company") == [("PEN", "Lima")]
    assert ask(f"SELECT count(*) FROM pg_class WHERE relnamespace = CAST('office' AS regnamespace) "
               f"AND has_table_privilege('{ROLE}', oid, 'SELECT')") == [(len(COLUMNS),)]
    assert "changed by hand" not in old.log_text()


def test_a_view_that_cannot_be_made_keeps_nobody_from_selling(old):
    """It fails with the reason, and is never empty."""
    ask = old.upgrade(OLD_VIEWS.format(amount="sum"))
    with contextlib.closing(old.client(old.make_key()["key"])) as api:
        assert api.place()
    with pytest.raises(psycopg2.Error, match="could not be made: the log of comanda-head says why"):
        ask("SELECT * FROM chain.discounts")
    old.stop()
    ask("ALTER VIEW office.discounts RENAME COLUMN sum TO amount")
    begun = len(old.log_text())
    serve(old)
    assert "and the start goes on without them" not in old.log_text()[begun:]
    assert ask("SELECT * FROM chain.discounts") == []


def test_what_somebody_has_changed_is_made_again(chain):
    box = chain.box
    before = normal(chain.rows("orders"))
    as_admin(box.databases.directory, "ALTER VIEW office.orders SET (security_invoker = on); "
             f"REVOKE SELECT ON office.items FROM {ROLE}; DROP VIEW office.payments; GRANT CREATE ON SCHEMA public TO PUBLIC",
             box.databases.name)
    assert chain.refused("SELECT * FROM office.items") == DENIED
    box.stop()
    serve(box)
    assert "changed by hand" not in box.log_text()
    assert normal(chain.rows("orders")) == before
    assert chain.rows("items", "LIMIT 1") and chain.rows("payments", "LIMIT 1")
    assert chain.refused("CREATE TABLE public.mine (a int)") == DENIED


def test_a_start_without_changes_waits_for_no_question(chain):
    chain.connection.autocommit = False
    try:
        chain.cursor.execute("SELECT * FROM office.orders LIMIT 1")
        chain.box.stop()
        begun = len(chain.box.log_text())
        serve(chain.box)
        assert "views for questions in SQL" not in chain.box.log_text()[begun:]
    finally:
        chain.connection.rollback()
        chain.connection.autocommit = True


# Logins

@pytest.fixture
def alone(monkeypatch):
    """A comanda-head on a server without the role of the office, where passwords count."""
    server = postgresql.Server()
    monkeypatch.setenv(postgresql.ADDRESS, server.directory)
    box = Box(engine="postgresql", options=["--sandbox-listen", ""])
    try:
        box.command("import", "demo", "--data", str(box.data))
        yield box
    finally:
        box.discard()
        server.close()


def allow_roles(box):
    as_admin(box.databases.directory, f"ALTER ROLE {postgresql.ROLE} CREATEROLE")


def require_passwords(box):
    """Of all but the program and the tests' superuser."""
    hba = pathlib.Path(box.databases.directory, "data/pg_hba.conf")
    hba.write_text(f"local all {postgresql.ROLE} trust\nlocal all {postgresql.USER} trust\nlocal all all scram-sha-256\n")
    as_admin(box.databases.directory, "SELECT pg_reload_conf()")


def password_file(box, text="correct horse\n", mode=0o600):
    file = box.data / "password"
    file.write_text(text)
    file.chmod(mode)
    return str(file)


def login(box, name, file, check=False):
    return box.command("office", "login", name, "--password-file", file, "--data", str(box.data), check=check)


def connect(box, name, password):
    return postgresql.connect(box.databases.directory, box.databases.name, name, password=password)


def test_a_login_only_reads_and_its_questions_end(alone):
    allow_roles(alone)
    as_admin(alone.databases.directory, "ALTER SYSTEM SET log_statement = 'all'")
    require_passwords(alone)
    assert login(alone, "metabase", password_file(alone)).stdout == "made metabase: it reads the views of the schema office\n"
    with contextlib.closing(connect(alone, "metabase", "correct horse")) as connection:
        cursor = connection.cursor()
        settings = [cursor.execute("SHOW " + name) or cursor.fetchone()[0] for name in (
            "default_transaction_read_only", "statement_timeout", "idle_in_transaction_session_timeout")]
        assert settings == ["on", "1min", "1min"]
        cursor.execute("SELECT count(*) FROM office.orders")
        assert cursor.fetchone() == (2,)
        with pytest.raises(psycopg2.errors.InsufficientPrivilege):
            cursor.execute("SELECT * FROM live.client")
        with pytest.raises(psycopg2.errors.ReadOnlySqlTransaction):
            cursor.execute("CREATE TEMP TABLE mine (a int)")
    with pytest.raises(psycopg2.OperationalError):
        connect(alone, "metabase", "wrong")
    # Once more: a new password for the same login.
    assert "new password" in login(alone, "metabase", password_file(alone, "another one\n")).stdout
    connect(alone, "metabase", "another one").close()
    log = pathlib.Path(alone.databases.directory, "log").read_text()
    assert "SCRAM-SHA-256$4096:" in log and "correct horse" not in log and "another one" not in log


def test_who_may_not_make_roles_is_given_the_sql(alone):
    directory = alone.databases.directory
    require_passwords(alone)
    serve(alone)
    assert alone.log_text().count("CREATE ROLE comanda_office NOLOGIN") == 1
    done = login(alone, "grafana", password_file(alone))
    assert done.returncode == 1 and "CREATEROLE" in done.stderr and "correct horse" not in done.stdout + done.stderr
    as_admin(directory, done.stdout, alone.databases.name)
    with contextlib.closing(connect(alone, "grafana", "correct horse")) as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT count(*) FROM office.orders")
        assert cursor.fetchone() == (2,)
    # Nor can it keep comanda-head from serving: by default everybody may take a lock of a database.
    (locked,) = as_admin(directory, "SELECT classid, min(objid), max(objid) FROM pg_locks WHERE locktype = 'advisory' GROUP BY classid")
    assert locked[1:] == (1, 1), locked
    alone.stop()
    functions = [f"pg_{how}advisory_{kind}lock{mode}" for how in ("", "try_") for kind in ("", "xact_") for mode in ("", "_shared")]
    with contextlib.closing(connect(alone, "grafana", "correct horse")) as connection:
        for function in functions:
            with pytest.raises(psycopg2.errors.InsufficientPrivilege), connection.cursor() as cursor:
                cursor.execute(f"SELECT {function}({locked[0]}, 1)")
        serve(alone)
        assert is_owner(alone)
    again = login(alone, "excel", password_file(alone))
    assert "CREATE ROLE comanda_office" not in again.stdout and "CREATE ROLE excel" in again.stdout
    as_admin(directory, f"DROP OWNED BY grafana; DROP ROLE grafana; DROP OWNED BY {ROLE}; DROP ROLE {ROLE}", alone.databases.name)


@pytest.mark.parametrize("name", ["", "Metabase", "meta-base", "1st", 'a"; DROP SCHEMA live', "a b", "ñ", "a" * 64, "pg_office", "public",
                                  "none", "current_user"])
def test_a_name_that_is_none_is_refused(chain, name):
    done = login(chain.box, name, password_file(chain.box))
    assert done.returncode in (1, 2) and done.stderr, done


@pytest.mark.parametrize("text, mode, says", [
    ("secret\n", 0o644, "may be read by others"), ("secret\n", 0o640, "may be read by others"), ("\n", 0o600, "has no password"),
    ("", 0o600, "has no password")])
def test_a_password_that_is_none_is_refused(chain, text, mode, says):
    done = login(chain.box, "metabase", password_file(chain.box, text, mode))
    assert done.returncode == 1 and says in done.stderr and "secret" not in done.stderr, done


def test_a_name_of_another_role_is_refused(chain):
    for name in (postgresql.ROLE, postgresql.USER, ROLE):
        done = login(chain.box, name, password_file(chain.box))
        assert done.returncode == 1 and "is another user or role" in done.stderr, done
    done = login(chain.box, "metabase", str(chain.box.data / "none"))
    assert done.returncode == 1 and "there is no file" in done.stderr, done


# Speed

COMPANIES = 50
GROWING = {"orders", "combo", "combo_modifier", "payment", "discount", "event"}


def test_questions_of_one_restaurant_read_its_rows_alone(chain):
    """With a range of days, the rows of these days; and never a rendered record."""
    each = 6_000 if LONG else 600
    span = f"CAST(1700000000000 + k * 86400000.0 * 365 / {each} AS bigint)"
    with chain.box.database() as db:
        db.run("BEGIN")
        try:
            db.run("INSERT INTO company (company_id, id, name, country_code, timezone, business_hours, currency, created_at, "
                   f"updated_at) SELECT n, 'many-' || n, '', 'PE', 'America/Lima', '', 'PEN', 0, 0 FROM generate_series(101, {100 + COMPANIES}) n")
            db.run("INSERT INTO orders (company_id, id, public_id, order_number, source, country_code, timezone, currency, version, "
                   "status, service_type, subtotal, total_discounts, delivery_price, packaging_price, service_fee_price, total_tips, "
                   "total, total_paid, paid, created_at, updated_at, created_seq, business_day) "
                   f"SELECT n, 'o' || k, 'PE-' || k, k, 'API', 'PE', 'America/Lima', 'PEN', 1, 4, 0, 1, 0, 0, 0, 0, 0, 1, 1, 1, {span}, "
                   f"{span}, k, to_char(to_timestamp({span} / 1000.0), 'YYYY-MM-DD') "
                   f"FROM generate_series(1, {each}) k, generate_series(101, {100 + COMPANIES}) n")
            db.run("INSERT INTO combo (company_id, order_id, position, id, product_name, quantity, variant_price, variant_original_price, "
                   "modifiers_price, combo_price, combo_original_price, created_at) SELECT company_id, id, p, id, 'x', 1000, 1, 1, 0, 1, "
                   "1, 0 FROM orders, generate_series(0, 1) p WHERE company_id > 100")
            db.run("INSERT INTO combo_modifier (company_id, order_id, combo_position, position, id, name, quantity, price, "
                   "original_price) SELECT company_id, order_id, position, 0, id, 'x', 1000, 0, 0 FROM combo WHERE company_id > 100")
            db.run("INSERT INTO payment (company_id, order_id, position, id, payment_method_id, payment_method_code, "
                   "payment_method_description, amount, tip_amount, created_at) SELECT company_id, id, 0, id, 'm', 'c', 'C', 1, 0, 0 "
                   "FROM orders WHERE company_id > 100")
            db.run("INSERT INTO discount (company_id, order_id, position, id, type, value, amount, created_at) SELECT company_id, id, 0, "
                   "id, 'AMOUNT', 1, 1, 0 FROM orders WHERE company_id > 100 AND order_number % 10 = 0")
            for table in GROWING:
                db.run("ANALYZE " + table)
            for view in COLUMNS:
                where = "company_id = 'many-107'"
                if view in BY_DAY:
                    where += " AND business_day BETWEEN DATE '2024-03-01' AND DATE '2024-03-07'"
                plan = "\n".join(line for (line,) in db.rows(f"EXPLAIN SELECT * FROM office.{view} WHERE {where}"))
                assert not [t for t in GROWING if re.search(rf"Seq Scan on {t}\b", plan)], (view, plan)
                assert view not in BY_DAY or "orders_business_day" in plan, (view, plan)
                assert view == "company" or not re.search(r"\bevent\b", plan), (view, plan)
            a_year = "SELECT * FROM office.daily_sales WHERE company_id = 'many-107' AND business_day >= DATE '2023-01-01'"
            ((plan,),) = db.rows("EXPLAIN (FORMAT JSON, ANALYZE, BUFFERS) " + a_year)
            pages = plan[0]["Plan"]["Shared Hit Blocks"] + plan[0]["Plan"]["Shared Read Blocks"]
            print("a year of", each, "orders:", plan[0]["Execution Time"], "ms,", pages, "pages")
            # Some three pages of the index of payments for each order, and its own.
            assert pages < 8 * each + 500
        finally:
            db.run("ROLLBACK")
