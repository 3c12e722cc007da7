"""From comanda on SQLite to comanda-head: `export` and `load`. What the former server answered, the head office answers to
the byte; a box that was linked goes on; whatever ends a load, the database is as it was or whole."""

import contextlib
import functools
import json
import os
import random
import re
import sqlite3
import subprocess
import threading
import time

import pytest

from support import routes
from support.box import PATIENCE_S, ROOT, Box, Client, free_port
from support.cloud_pair import Pair, own_ids
from support.orders import accepted, item, new_id, path
from support.receiver import LOOPBACK, Receiver
from support.waiting import wait_until

DEMO = json.loads((ROOT / "src/app/demo.json").read_text())["companies"][0]
STRANGE = ["tab\tand\nline", "back\\slash \\N \\. \\t", "\\N", "\\.", "👩‍🍳 𝔘𝔫𝔦 ñ", "a", "'\"`$1 %s", "\\\\", "end\\"]


# The two servers


class Move:
    """A cloud on SQLite, and a head office with an empty database."""

    def __init__(self, directory):
        self.export_directory = directory / "export"
        self.cloud, self.head = Box(directory / "cloud", engine="sqlite"), Box(directory / "head", engine="postgresql")
        for box in (self.cloud, self.head):
            box.data.mkdir(mode=0o700, exist_ok=True)
            box.sandbox_port = free_port()
            box.options += ["--sandbox-listen", f"127.0.0.1:{box.sandbox_port}", *LOOPBACK]

    def export(self, check=True, **named):
        return self.cloud.command("export", "--postgresql", str(self.export_directory), "--data", str(self.cloud.data),
                                  check=check, **named)

    def load(self, check=True):
        return self.head.command("load", str(self.export_directory), "--data", str(self.head.data), check=check)

    def manifest(self):
        return json.loads((self.export_directory / "manifest.json").read_text())

    def tables(self):
        """{(schema, table): its row of the manifest}"""
        return {(table["schema"], table["name"]): table for table in self.manifest()["tables"]}

    def companies(self):
        """How many the head office has; none where it has no tables."""
        try:
            return self.head.value("SELECT count(*) FROM company")
        except Exception as error:
            assert "does not exist" in str(error), error
            return 0

    def close(self):
        for box in (self.cloud, self.head):
            box.kill_if_running()
        self.head.databases.drop()


@pytest.fixture
def move(tmp_path):
    with contextlib.closing(Move(tmp_path)) as made:
        yield made


@pytest.fixture
def small(move):
    """With the demo restaurant, whose two orders it has."""
    move.cloud.command("import", "demo", "--data", str(move.cloud.data))
    return move


def refused(done, *says, code=1):
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    for words in says:
        assert words in done.stderr, (words, done.stderr)


def rows_of(box):
    """{table: rows} of the file, as text."""
    return {table: rows for table, rows in box.all_rows().items() if not table.startswith("sqlite_")}


# What it answers


def companies(count):
    found = []
    for n in range(count):
        company = own_ids(DEMO)
        company["name"] = f"Restaurante {n}"
        for product in company["menu"][0]["products"][:1] if "menu" in company else []:
            product["name"] = STRANGE[n % len(STRANGE)]
        found.append(company)
    return found


def sell(api, company):
    """Orders of many kinds, some under keys that are used again later: [(path, body, key)]."""
    repeats = []

    def post(at, body):
        key = new_id()
        repeats.append((at, body, key))
        return accepted(api.post(at, body, {"Idempotency-Key": key}), 201 if at == "/v1/orders" else 200)

    client = api.get("/v1/clients").data[0]
    for n, text in enumerate(STRANGE):
        name = " ".join(text.split())  # of one line
        order = post("/v1/orders", {"service_type": "DELIVERY", "comment": text, "order_title": name,
                                    "client_id": client["id"], "delivery_price": 3})
        order = post(path(order, "combos"), {"combos": [item(price=9_999.99 if n == 0 else 10 + n, name=name, comment=text)]})
        order = post(path(order, "discounts"), {"type": "AMOUNT", "value": 1, "reason": text})
        order = post(path(order, "payments"), {"payment_method_code": "cash", "amount": 2, "comment": text})
        if n % 3 == 0:
            accepted(api.delete(path(order, "payments", order["payments"][0]["id"])))
        if n % 3 == 1:
            accepted(api.put(path(order, "rider"), {"name": name, "phone_number": "987654321", "country_calling_code": "+51"}))
            api.advance(order, "READY")
        if n == 2:
            accepted(api.delete(path(order, "payments", order["payments"][0]["id"])))
            accepted(api.post(path(order, "cancel"), {"reason": text}))
    return repeats


def pages(api, at):
    """The paths of all pages behind it."""
    found = [at]
    while api.get(found[-1]).json["pagination"]["has_more"]:
        found.append(f"{at}{'&' if '?' in at else '?'}page={len(found) + 1}")
    return found


def event_pages(api):
    found, after = [], ""
    while True:
        at = f"/v1/events?per_page=7{after and '&after=' + after}"
        found.append(at)
        answer = api.get(at)
        if not answer.data:
            return found
        after = answer.json["next"]


def paths(api):
    """Of every route that can be read with a key, with the ids of the records that there are."""
    found = [route.pattern for route in routes.SCOPED if route.method == "GET" and "{" not in route.pattern]
    found += [at for pattern in list(found) if pattern in ("/v1/orders", "/v1/clients", "/v1/users")
              for at in pages(api, pattern + "?per_page=3")]
    found += event_pages(api)
    for pattern, at in (("/v1/orders/{id}", "/v1/orders"), ("/auth/api-keys/{id}", "/auth/api-keys"),
                        ("/v1/webhooks/{id}", "/v1/webhooks"), ("/v1/webhooks/{id}/deliveries", "/v1/webhooks"),
                        ("/v1/clients/{id}", "/v1/clients")):
        found += [pattern.replace("{id}", record["id"]) for record in api.get(at + "?per_page=100").data]
    for category in api.get("/v1/menu").data["categories"]:
        found.append(f"/v1/menu/categories/{category['id']}")
        found += [f"/v1/menu/products/{product['id']}" for product in category["products"]]
    patterns = {route.pattern for route in routes.SCOPED if route.method == "GET"}
    matched = {re.sub("[0-9a-f]{8}-[0-9a-f-]{27}", "{id}", at.partition("?")[0]) for at in found}
    assert patterns <= matched, patterns - matched
    return found


OWN = ("date", "x-request-id", "ratelimit-remaining", "ratelimit-reset")  # of each answer


def answers(api, at):
    """{path: (status, headers, body)}; when a key was used last is written now and then."""
    found = {}
    for one in at:
        answer = api.get(one)
        body = answer.body
        if one.startswith("/auth/api-keys"):
            body = re.sub(rb'"last_used_(at|ip)":("[^"]*"|null)', b"", body)
        headers = {name: value for name, value in answer.headers.items() if name not in OWN}
        if one.startswith("/auth/api-keys"):
            headers = {name: value for name, value in headers.items() if name not in ("content-length", "etag")}
        found[one] = (answer.status, headers, body)
    return found


def require_same(before, after):
    assert list(before) == list(after)
    different = {at: (before[at], after[at]) for at in before if before[at] != after[at]}
    assert not different, (len(different), list(different.items())[:2])


def test_everything_is_answered_as_before(move, tmp_path):
    """50 companies, live, and the sandbox: every GET to the byte, with tags and cursors; a repeated request is a replay."""
    cloud, head = move.cloud, move.head
    file = tmp_path / "companies.json"
    file.write_text(json.dumps({"companies": (made := companies(50))}))
    cloud.bring_in(file)
    file.write_text(json.dumps({"companies": [(sandbox := own_ids(DEMO))]}))
    cloud.bring_in(file, env="test")
    keys = {company["id"]: cloud.make_key(company=company["id"])["key"] for company in made}
    revoked = cloud.make_key(company=made[0]["id"], name="revoked")
    test_key = cloud.make_key(env="test")["key"]
    with Receiver() as receiver, contextlib.ExitStack() as stack:
        cloud.start()
        apis = {id: stack.enter_context(contextlib.closing(cloud.client(key))) for id, key in keys.items()}
        in_test = stack.enter_context(contextlib.closing(Client(cloud.sandbox_port, test_key, str(cloud.cafile))))
        first = apis[made[0]["id"]]
        rich = [company["id"] for company in made[:4]]
        for id in rich:
            accepted(apis[id].post("/v1/webhooks", {"webhook_url": receiver.url, "events": ["ORDER_CREATED"]}), 201)
        accepted(first.delete(f"/auth/api-keys/{revoked['id']}"))
        repeats = {id: sell(apis[id], id) for id in rich}
        repeats_in_test = sell(in_test, sandbox["id"])
        for api in list(apis.values())[4:]:
            api.place(comment="uno")
        receiver.wait_for(len(rich) * len(STRANGE))
        for id in rich:
            wait_until(lambda: all(hook["backlog"] == 0 for hook in apis[id].get("/v1/webhooks").data), "deliveries")
        at = {id: paths(apis[id]) for id in rich} | {
            id: ["/v1/orders", "/v1/menu", "/v1/events?per_page=50", "/v1/company"] for id in list(apis)[4:]}
        before = {id: answers(api, at[id]) for id, api in apis.items()}
        at_in_test = paths_without_hooks(in_test)
        before_in_test = answers(in_test, at_in_test)
        orders = cloud.value("SELECT count(*) FROM orders")
        assert cloud.stop() == 0
        said = move.export()
        assert "comanda-head load" in said.stdout and not said.stderr
        rows = rows_of(cloud)
        loaded = move.load()
        assert "resume" in loaded.stdout and not loaded.stderr, loaded
        there = head.all_rows(without=("owner", "schema_version"))
        assert there == rows, [table for table in rows if rows[table] != there.get(table)]
        assert head.value("SELECT count(*) FROM orders", env="test") == len(STRANGE)
        assert sum(table["rows"] for (schema, _), table in move.tables().items() if schema == "live") == sum(map(len, rows.values()))
        assert (head.data / "tls/ca.key").read_bytes() == (cloud.data / "tls/ca.key").read_bytes()
        received = len(receiver.requests)
        head.start()
        for id, key in keys.items():
            with contextlib.closing(head.client(key)) as api:
                require_same(before[id], answers(api, at[id]))
                for where, body, repeat in repeats.get(id, ()):
                    answer = api.post(where, body, {"Idempotency-Key": repeat})
                    assert answer.headers["idempotency-replayed"] == "true", (answer.status, answer.headers)
        with contextlib.closing(Client(head.sandbox_port, test_key, str(head.cafile))) as api:
            require_same(before_in_test, answers(api, at_in_test))
            for where, body, repeat in repeats_in_test:
                assert api.post(where, body, {"Idempotency-Key": repeat}).headers["idempotency-replayed"] == "true"
        with contextlib.closing(head.client(revoked["key"])) as api:
            assert api.get("/v1/orders").code == "key_revoked"
        assert head.value("SELECT count(*) FROM orders") == orders, "a repeat made a second order"
        # Where the machine has an id, webhooks wait until somebody says that the former server is off.
        assert len(receiver.requests) == received
        with contextlib.closing(head.client()) as api:
            held = api.get("/readyz").json["checks"].get("outgoing", {"state": "`comanda-head resume`"})
        assert "`comanda-head resume`" in held["state"]
        assert head.value("SELECT count(*) FROM audit WHERE action = 'backup.restored'") == 0
        with contextlib.closing(head.client(keys[made[0]["id"]])) as api:
            api.place(comment="after")
        head.command("resume", "--data", str(head.data))
        wait_until(lambda: len(receiver.requests) > received, "what waited")
        numbers = [number for (number,) in head.rows("SELECT order_number FROM orders o JOIN company c ON c.company_id = o.company_id "
                                                     "WHERE c.id = ? ORDER BY order_number", made[0]["id"])]
        assert numbers == list(range(1, len(STRANGE) + 2)), "numbers go on where they were"


def paths_without_hooks(api):
    return ["/v1/orders", "/v1/menu", "/v1/company", "/v1/clients", *pages(api, "/v1/orders?per_page=3"), *event_pages(api)]


def test_extreme_values_come_as_they_are(small):
    """What the API takes from nobody: the ends of 64 bits, an empty text beside a null."""
    with small.cloud.database() as db:
        db.execute("UPDATE company_counter SET epoch = ?", 2**63 - 1)
        db.execute("UPDATE orders SET delivery_price = ?, comment = '', order_title = NULL", -2**63)
        db.execute("UPDATE client SET name = ?", "".join(chr(n) for n in range(1, 0x250)) + "\U0010ffff")
    done = small.export(check=False)
    refused(done, "the export is made, and some of what it copied is damaged as it was")
    small.load()
    for sql in ("SELECT epoch FROM company_counter", "SELECT delivery_price, comment, order_title FROM orders ORDER BY id",
                "SELECT name FROM client ORDER BY id"):
        assert small.head.rows(sql) == small.cloud.rows(sql), sql


# While it runs


def test_an_export_of_a_running_cloud_is_one_moment(small):
    """Under writes: no order without its event, no gap. Whoever knows more than that moment is told to read again."""
    cloud, head = small.cloud, small.head
    cloud.start()
    key = cloud.make_key()["key"]
    ending = threading.Event()

    def write():
        with contextlib.closing(cloud.client(key)) as api:
            while not ending.is_set():
                api.add(api.place(), item())

    writers = [threading.Thread(target=write) for _ in range(4)]
    for writer in writers:
        writer.start()
    try:
        with contextlib.closing(cloud.client(key)) as api:
            wait_until(lambda: cloud.value("SELECT count(*) FROM orders") > 300, "orders")
            done = small.export()
            late = api.place(comment="after the export")
            cursor = api.get("/v1/orders").headers["x-event-cursor"]
    finally:
        ending.set()
        for writer in writers:
            writer.join(PATIENCE_S)
    assert "the server was running" in done.stderr
    assert small.manifest()["was_serving"] is True
    assert "clients are told to read everything again" in small.load().stdout
    head.start()
    (last,) = {row for row in head.rows("SELECT max(seq) FROM event")}
    assert head.rows("SELECT count(*) FROM event") == [last], "a gap in the log"
    made = head.rows("SELECT id FROM orders WHERE id NOT IN (SELECT subject_id FROM event)")
    assert made == [], "an order without its event"
    # The counter's table is written before that of the events.
    assert head.value("SELECT event_seq FROM company_counter") == last[0], "not of one moment"
    with contextlib.closing(head.client(key)) as api:
        assert api.get(f"/v1/orders/{late['id']}").status == 404
        assert api.get(f"/v1/events?after={cursor}").code == "cursor_expired"
    assert head.value("SELECT count(*) FROM audit WHERE action = 'backup.restored'") == 1


# A linked box


def test_a_linked_box_goes_on_without_linking_again(tmp_path, seed):
    on_sqlite = functools.partial(Box, engine="sqlite")

    def make(data, options, engine="sqlite"):
        return on_sqlite(data, options)

    with Pair(tmp_path, seed, kind=make) as pair:
        pair.link()
        till = pair.till()
        for _ in range(3):
            till.serve()
        open_order = till.add(till.open(service_type="ONSITE"))
        pair.settle()
        former = pair.cloud
        assert former.stop() == 0
        till.add(open_order)  # the box sells meanwhile
        meanwhile = till.finish(till.open(service_type="ONSITE"))
        former.command("export", "--postgresql", str(tmp_path / "export"), "--data", str(former.data))
        head = Box(tmp_path / "head", former.options, engine="postgresql")
        try:
            head.port = former.port
            head.command("load", str(tmp_path / "export"), "--data", str(head.data))
            pair.cloud = pair.proxy.cloud = head
            head.start()
            later = till.serve()
            pair.settle()
            pair.compare()
            pair.require_in_step()
            found = [record["reference"] for record in pair.cloud_records()]
            assert len(found) == len(set(found)) == 6, found
            assert {meanwhile["reference"], later["reference"]} <= set(found)
            status = pair.status()
            assert "410" not in json.dumps(status), status
            assert head.value("SELECT count(*) FROM audit WHERE action = 'backup.restored'") == 0
        finally:
            head.stop()
            head.databases.drop()


# Ends in the middle


def test_a_load_that_is_killed_leaves_nothing_or_all(move, tmp_path, seed):
    """SIGKILL at any moment: it can be run again, or all is there."""
    chance = random.Random(seed)
    file = tmp_path / "companies.json"
    file.write_text(json.dumps({"companies": companies(20)}))
    move.cloud.bring_in(file)
    move.export()
    begun = time.monotonic()
    outcomes = []
    command = [str(move.head.binary), "load", str(move.export_directory), "--data", str(move.head.data)]
    longest_s = 3.0
    for n in range(25):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        begun = time.monotonic()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(chance.uniform(0.01, longest_s))
        process.kill()
        said, complained = process.communicate()
        longest_s = min(longest_s, time.monotonic() - begun) if process.returncode == 0 else longest_s
        wait_until(lambda: move.head.databases.connect().rows(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'comanda-head' AND datname = current_database()")
            == [(0,)], "the end of its sessions")
        there = move.companies()
        assert there in (0, 20), there
        outcomes.append((process.returncode, there))
        if there:
            assert process.returncode in (0, -9), (said, complained)
            refused(move.load(check=False), "the database is not empty", "start the server")
            move.head.databases.drop()
            move.head.databases = type(move.head.databases).of(move.head.data)
    print(outcomes)
    assert (-9, 0) in outcomes
    if not move.companies():
        move.load()
    with move.head.database() as db:
        rows = {table: len(db.rows(f'SELECT 1 AS one FROM "{table}"')) for table in db.tables()}
    assert {name: table["rows"] for (_, name), table in move.tables().items()} == {
        name: count for name, count in rows.items() if name not in ("owner", "schema_version")}


def test_an_export_that_is_killed_is_none(small):
    process = subprocess.Popen([str(small.cloud.binary), "export", "--postgresql", str(small.export_directory), "--data",
                                str(small.cloud.data)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.01)
    process.kill()
    process.communicate()
    if not small.export_directory.exists():
        small.export()
    assert small.manifest()["tables"]
    assert not list(small.export_directory.parent.glob("comanda-backup-unfinished.*"))


# What is refused


def change(file, change_bytes):
    file.write_bytes(change_bytes(file.read_bytes()))


@pytest.mark.parametrize("spoil, says", [
    (lambda d: change(d / "live/orders.copy", lambda b: b.replace(b"PE-", b"PX-")), "live/orders.copy has another checksum"),
    (lambda d: change(d / "live/orders.copy", lambda b: b[:-1]), "it was cut or changed since the export"),
    (lambda d: change(d / "live/orders.copy", lambda b: b[:b.index(b"\n") + 1]), "it was cut or changed"),
    (lambda d: (d / "live/event.copy").unlink(), "live/event.copy is missing"),
    (lambda d: change(d / "data/tls/ca.crt", lambda b: b + b" "), "data/tls/ca.crt was changed"),
    (lambda d: (d / "data/tls/server.key").unlink(), "data/tls/server.key was lost"),
    (lambda d: change(d / "manifest.json", lambda b: b[:-9]), "manifest.json was changed"),
    (lambda d: (d / "manifest.json").unlink(), "there is no"),
    (lambda d: change(d / "manifest.json", lambda b: b.replace(b'"name":"staff"', b'"name":"stuff"')), "live/stuff.copy is missing"),
    (lambda d: change(d / "manifest.json", lambda b: b.replace(b'"rows":2,', b'"rows":3,', 1)), "rows, and the manifest says 3"),
    (lambda d: change(d / "manifest.json", lambda b: re.sub(rb'"schema":\d+', b'"schema":19', b)),
     "the export is of schema version 19"),
    (lambda d: change(d / "manifest.json", lambda b: re.sub(rb'"schema":\d+', b'"schema":999', b)), "install the newest comanda-head"),
], ids=["changed", "cut", "rows cut", "a file lost", "certificate changed", "key lost", "manifest cut", "no manifest", "unknown file",
        "count changed", "older", "newer"])
def test_an_export_that_is_not_as_it_was_made_is_refused(small, spoil, says):
    small.cloud.start()
    small.cloud.stop()
    small.export()
    spoil(small.export_directory)
    refused(small.load(check=False), says)
    assert small.companies() == 0


@pytest.mark.parametrize("name, says", [("stuff", "which this program does not know"), (None, "the export lacks the table staff")])
def test_tables_are_those_of_the_program(small, name, says):
    small.export()
    manifest = small.manifest()
    for table in manifest["tables"]:
        if table["name"] == "staff" and name:
            (small.export_directory / "live/staff.copy").rename(small.export_directory / f"live/{name}.copy")
            table["name"] = name
    if not name:
        manifest["tables"] = [table for table in manifest["tables"] if table["name"] != "staff"]
    (small.export_directory / "manifest.json").write_text(json.dumps(manifest))
    refused(small.load(check=False), says)
    assert small.companies() == 0


def test_columns_are_those_of_the_program(small):
    small.export()
    manifest = small.manifest()
    for table in manifest["tables"]:
        if table["name"] == "staff":
            table["columns"][3] = "nickname"
    (small.export_directory / "manifest.json").write_text(json.dumps(manifest))
    refused(small.load(check=False), "the table staff has other columns in the export", "nickname")
    assert small.companies() == 0


def test_a_row_that_breaks_a_constraint_is_refused(small):
    """Of a file that was changed with its checksum: the database itself checks all."""
    small.export()
    manifest = small.manifest()
    file = small.export_directory / "live/event.copy"
    change(file, lambda b: re.sub(rb"^1\t", b"9\t", b, count=1))
    for table in manifest["tables"]:
        if table["name"] == "event":
            table["blake2b"] = subprocess.run(["b2sum", str(file)], capture_output=True, text=True).stdout.split()[0]
    (small.export_directory / "manifest.json").write_text(json.dumps(manifest))
    refused(small.load(check=False), "violates foreign key constraint", code=70)
    assert small.companies() == 0


def test_only_an_empty_database_is_loaded(small):
    small.export()
    # One that a server has begun is empty: it has no company.
    small.head.start()
    refused(small.load(check=False), "stop it first")
    small.head.stop()
    small.load()
    refused(small.load(check=False), "the database is not empty, it has 1 companies")


def test_a_server_on_another_machine_is_named(small, tmp_path):
    small.export()
    other = Box(tmp_path / "other", engine="postgresql")
    other.settings_file.write_text(small.head.databases.settings)
    other.start()
    refused(small.load(check=False), "another process serves the database, on ", "stop it there first")
    other.stop()
    small.load()


def test_an_authority_that_is_there_stays(small):
    """The head office has served: its devices trust its authority, and the former server's is named."""
    small.cloud.start()
    small.cloud.stop()
    small.export()
    small.head.start()
    small.head.stop()
    own = (small.head.data / "tls/ca.crt").read_bytes()
    assert "has another authority than the former server" in small.load().stdout
    assert (small.head.data / "tls/ca.crt").read_bytes() == own


@pytest.mark.parametrize("column, value, says", [
    ("name", "CAST(x'41ff42' AS TEXT)", "name is not UTF-8"), ("name", "'a' || char(0) || 'b'", "name has the character U+0000")])
def test_a_row_that_no_database_takes_is_named(small, column, value, says):
    small.cloud.execute(f"UPDATE client SET {column} = {value} WHERE id = (SELECT min(id) FROM client)")
    ((company, client),) = small.cloud.rows("SELECT company_id, min(id) FROM client")
    refused(small.export(check=False), f"the table live.client has a damaged row ({company}, {client}", says, code=70)
    assert not small.export_directory.exists()


def test_a_page_that_makes_no_sense_is_named(small):
    with small.cloud.database(writes=False) as db:
        ((root,),) = db.rows("SELECT rootpage FROM sqlite_schema WHERE name = 'orders'")
        ((size,),) = db.rows("PRAGMA page_size")
    with sqlite3.connect(small.cloud.data / "live.db") as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with open(small.cloud.data / "live.db", "r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\xaa" * size)
    done = small.export(check=False)
    assert done.returncode == 70 and "orders" in done.stderr, done
    assert not small.export_directory.exists()


def test_a_damaged_order_is_named_and_copied_as_it_is(small):
    """Its checksum travels with it: it is found there as here."""
    small.cloud.execute("UPDATE orders SET comment = 'by hand' WHERE order_number = 1")
    done = small.export(check=False)
    refused(done, "order 0192f0a0-0080-7000-8000-000000000001 is damaged", "some of what it copied is damaged as it was")
    small.load()
    small.head.start()
    with contextlib.closing(small.head.client()) as api:
        wait_until(lambda: "damage" in json.dumps(api.get("/readyz").json["checks"]["rows"]), small.head.log_text)


def test_a_directory_with_files_is_refused(small):
    small.export_directory.mkdir()
    (small.export_directory / "mine").write_text("a")
    refused(small.export(check=False), "or has files in it")
    assert (small.export_directory / "mine").read_text() == "a"
    (small.export_directory / "mine").unlink()
    small.export()


def test_an_export_inside_the_data_directory_is_refused(small):
    small.export_directory = small.cloud.data / "export"
    refused(small.export(check=False), "lies inside the data directory")


def test_a_box_that_is_linked_to_a_cloud_is_refused(tmp_path, seed):
    with Pair(tmp_path, seed) as pair:
        pair.link()
        done = pair.box.command("export", "--postgresql", str(tmp_path / "export"), "--data", str(pair.box.data), check=False)
        refused(done, "this box is linked to a cloud", "comanda cloud unlink")
        assert not (tmp_path / "export").exists()


def test_a_full_disk_leaves_nothing(small, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("mounts a small disk")
    disk = tmp_path / "disk"
    disk.mkdir()
    words = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=96k tmpfs "$0" && "$@"; code=$?; ls -A "$0"; exit $code', str(disk),
             str(small.cloud.binary), "export", "--postgresql", str(disk / "export"), "--data", str(small.cloud.data)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 70 and done.stdout == "", done
    assert "space" in done.stderr or "MiB free" in done.stderr, done


def test_files_are_for_their_owner_alone(small):
    small.export()
    modes = {path.stat().st_mode & 0o777 for path in small.export_directory.rglob("*") if path.is_file()}
    assert modes == {0o600}
    assert {path.stat().st_mode & 0o777 for path in (small.export_directory, *small.export_directory.glob("*/"))} == {0o700}


def test_the_other_programs_command_says_where_it_is(small):
    refused(small.head.command("export", "--postgresql", "x", check=False), "pg_dump", code=2)
