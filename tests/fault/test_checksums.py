"""Something stored is not what was written: it is found, whoever meets it first, and nothing else suffers."""

import contextlib
import json
import random
import re
import shutil
import sqlite3

import pytest

from support.box import Box
from support.orders import accepted, item, new_key, path, refused
from support.past import unpack
from support.waiting import wait_until

ROWS_OF_AN_ORDER = ["orders", "order_status", "combo", "combo_modifier", "payment", "discount"]


def alter(data, statement, *values):
    """What a worn disk does, as far as SQL can: the server is not running."""
    with contextlib.closing(sqlite3.connect(data / "live.db")) as db:
        changed = db.execute(statement, values).rowcount
        db.commit()
    assert changed == 1, (statement, changed)


def verify(box, data=None):
    """(exit code, what is damaged)"""
    done = box.command("verify", "--data", str(data or box.data), "--json", check=False)
    assert done.returncode in (0, 1), done
    answer = json.loads(done.stdout)
    damage = [one for database in answer["databases"] for one in database["damage"]]
    assert answer["sound"] == (done.returncode == 0) == (not damage)
    return done.returncode, damage


@contextlib.contextmanager
def serving(box, key):
    box.start()
    with contextlib.closing(box.client(key)) as client:
        yield client
    assert box.stop() == 0, box.log_text()[-3000:]


def sell(client):
    """An order with a row of each kind, a rider and every text; its record."""
    order = client.place(service_type="DELIVERY", delivery_price=5.5, comment="sin ají", order_title="Ana",
                         delivery_comment="timbre 2")
    order = client.add(order, item(21.9, 3, "Lomo", modifiers=[{"name": "Extra", "quantity": 2, "price": 1.15}]), item(4, 2))
    order = accepted(client.post(path(order, "discounts"), {"type": "PERCENTAGE", "value": 12.5, "reason": "amiga"}))
    method = next(m for m in client.get("/v1/company/payment-methods").data if "DELIVERY" in m["service_types"])
    order = accepted(client.post(path(order, "payments"), {"payment_method_id": method["id"], "amount": 5, "tip_amount": 1}))
    return accepted(client.put(path(order, "rider"), {"provider": "api", "name": "Rosa", "phone_number": "987654321",
                                                      "country_calling_code": "51", "user_id": "7"}))


@pytest.fixture
def key(box):
    return box.make_key()["key"]


@pytest.fixture
def sold(box, key):
    """Two orders; the server is stopped."""
    with serving(box, key) as client:
        return sell(client), sell(client)


def metric(client, name):
    text = client.get("/metrics").body.decode()
    return float(re.search(rf'^{name}\{{database="live"\}} (\S+)$', text, re.M)[1])


def test_an_order_whose_rows_are_damaged_is_shown_as_it_was_written_and_cannot_be_changed(box, key, sold):
    damaged, sound = sold
    alter(box.data, "UPDATE combo SET combo_price = combo_price + 1 WHERE order_id = ? AND position = 0", damaged["id"])
    with serving(box, key) as client:
        assert client.get(path(damaged)).data == damaged
        refused(client.patch(path(damaged), {"comment": "x"}), 500, "internal_error")
        refused(client.patch(path(damaged), {"comment": "x"}), 500, "internal_error")
        box.wait_for_log(f"order {damaged['id']} is damaged: its rows are not what was written")
        assert client.get(path(damaged)).data == damaged
        client.add(sound, item(3))
        client.place()
        ready = client.get("/readyz")
        assert ready.status == 200
        assert ready.json["checks"]["rows"]["ok"] and damaged["id"] in ready.json["checks"]["rows"]["state"]
        assert metric(client, "comanda_db_damaged_rows") == 1
        listed = client.get("/v1/orders")
        assert len(listed.data) == 3 and "x-damaged-rows" not in listed.headers
    code, damage = verify(box)
    assert code == 1 and damage == [f"order {damaged['id']} is damaged: its rows are not what was written"]


def test_an_order_that_is_damaged_everywhere_is_left_out_of_lists_and_counted(box, key, sold):
    damaged, sound = sold
    alter(box.data, "UPDATE payment SET amount = amount + 1 WHERE order_id = ?", damaged["id"])
    alter(box.data, "UPDATE event SET body = replace(body, 'Lomo', 'Lama') WHERE seq = "
                    "(SELECT record_seq FROM orders WHERE id = ?)", damaged["id"])
    with serving(box, key) as client:
        listed = client.get("/v1/orders")
        assert listed.headers["x-damaged-rows"] == "1" and listed.json["pagination"]["total"] == 2
        assert listed.data == [sound]
        refused(client.get(path(damaged)), 500, "internal_error")
        refused(client.post(path(damaged, "cancel"), {"reason": "x"}), 500, "internal_error")
        assert client.get(path(sound)).data == sound
        feed = client.get("/v1/events")
        assert feed.headers["x-damaged-rows"] == "1" and [e["data"] for e in feed.data][-1] == sound
        assert client.get("/readyz").status == 200
    assert len(verify(box)[1]) == 2  # the order and the event


def test_a_damaged_record_is_made_again_from_the_rows(box, key):
    with serving(box, key) as client:
        order = sell(client)
        discount = new_key()
        first = client.send("POST", path(order, "discounts"), {"type": "AMOUNT", "value": 1}, discount)
        order = accepted(first)
    (before,) = box.rows("SELECT body FROM event ORDER BY seq DESC LIMIT 1")
    for read in ("GET", "list", "feed", "replay"):
        alter(box.data, "UPDATE event SET body = replace(body, 'Lomo', 'Lama') WHERE seq = (SELECT max(seq) FROM event)")
        assert len(verify(box)[1]) == 2  # as a record and as an event
        with serving(box, key) as client:
            if read == "GET":
                assert client.get(path(order)).data == order
            elif read == "list":
                listed = client.get("/v1/orders")
                assert listed.data == [order] and "x-damaged-rows" not in listed.headers
            elif read == "feed":
                feed = client.get("/v1/events")
                assert feed.data[-1]["data"] == order and "x-damaged-rows" not in feed.headers
            else:
                again = client.send("POST", path(order, "discounts"), {"type": "AMOUNT", "value": 1}, discount)
                assert again.body == first.body and again.headers["idempotency-replayed"] == "true"
            wait_until(lambda: box.rows("SELECT body FROM event ORDER BY seq DESC LIMIT 1") == [before], box.log_text)
        assert verify(box) == (0, [])


def test_a_damaged_event_is_left_out_of_the_feed_and_the_readers_go_on(box, key, sold):
    alter(box.data, "UPDATE event SET changes = 'status' WHERE seq = 2")
    with serving(box, key) as client:
        feed = client.get("/v1/events?per_page=3")
        assert feed.headers["x-damaged-rows"] == "1" and len(feed.data) == 2
        rest = client.get("/v1/events?after=" + feed.json["next"])
        assert len(feed.data) + len(rest.data) + 1 == box.value("SELECT count(*) FROM event")
        box.wait_for_log("event 2 of company 1")


def event_is_missing(db):
    db.execute("DELETE FROM event WHERE seq = 3")


def last_event_is_missing(db):
    db.execute("DELETE FROM event WHERE seq = (SELECT max(seq) FROM event)")


def events_are_exchanged(db):
    db.execute("UPDATE event SET seq = 1000 WHERE seq = 3")
    db.execute("UPDATE event SET seq = 3 WHERE seq = 4")
    db.execute("UPDATE event SET seq = 4 WHERE seq = 1000")


def event_is_doubled(db):
    db.execute("DELETE FROM event WHERE seq = 4")
    columns = ", ".join(row[1] for row in db.execute("PRAGMA table_info(event)") if row[1] != "seq")
    db.execute(f"INSERT INTO event (seq, {columns}) SELECT 4, {columns} FROM event WHERE seq = 3")


def chain_is_that_of_another_event(db):
    db.execute("UPDATE event SET chain = (SELECT chain FROM event WHERE seq = 2) WHERE seq = 3")


@pytest.mark.parametrize("change", [event_is_missing, last_event_is_missing, events_are_exchanged, event_is_doubled,
                                    chain_is_that_of_another_event])
def test_the_chain_of_events_is_whole(box, key, sold, change):
    with contextlib.closing(sqlite3.connect(box.data / "live.db")) as db:
        change(db)
        db.commit()
    code, damage = verify(box)
    assert code == 1 and any("event" in one for one in damage), damage
    with serving(box, key) as client:
        box.wait_for_log("a row is damaged")
        assert client.get("/readyz").status == 200


def other(value):
    """Another value of the same type, as a flipped bit would leave it."""
    if value is None:
        return 1
    return value ^ 1 if isinstance(value, int) else value[:-1] + chr(ord(value[-1]) ^ 1) if value else "x"


# What cannot be told: a rider's values where there is no rider are not read; the smallest number of a company stands for
# it in the file, and its rows are then another company's.
@pytest.mark.parametrize("table", ROWS_OF_AN_ORDER + ["event"])
def test_every_value_of_an_order_and_of_its_events_is_covered(box, key, sold, table, tmp_path):
    order = sold[0]["id"]
    with contextlib.closing(sqlite3.connect(box.data / "live.db")) as db:
        columns = {row[1]: row[2] for row in db.execute(f"PRAGMA table_info({table})")}
        which = {"orders": "id", "event": "subject_id"}.get(table, "order_id")
        last = "ORDER BY seq DESC" if table == "event" else ""
        row = dict(zip(columns, db.execute(f"SELECT * FROM {table} WHERE {which} = ? {last} LIMIT 1", (order,)).fetchone()))
    place = [name for name in ("seq", "position", "combo_position") if name in columns]
    where = " AND ".join(f"{name} = {row[name]}" for name in place) or "TRUE"
    unnoticed = []
    for name, kind in columns.items():
        copy = tmp_path / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir()
        shutil.copy(box.data / "live.db", copy)
        changed = other(row[name])
        if row[name] is None and kind == "TEXT":
            changed = "x"
        if kind == "TEXT" and changed == 1:
            changed = "x"
        with contextlib.closing(sqlite3.connect(copy / "live.db")) as db:
            try:
                db.execute(f"UPDATE {table} SET {name} = ? WHERE {which} = ? AND {where}", (changed, order))
            except sqlite3.IntegrityError:  # only index damage could leave it so
                continue
            db.commit()
        if verify(box, copy)[0] == 0:
            unnoticed.append(name)
    assert unnoticed == []


def test_a_checksum_that_is_missing_is_damage(box, key, sold):
    alter(box.data, "UPDATE orders SET checksum = NULL WHERE id = ?", sold[0]["id"])
    alter(box.data, "UPDATE event SET checksum = NULL WHERE seq = 1")
    code, damage = verify(box)
    assert code == 1 and len(damage) == 2, damage
    with serving(box, key) as client:
        refused(client.patch(path(sold[0]), {"comment": "x"}), 500, "internal_error")


def test_what_an_older_program_wrote_gets_checksums(box):
    unpack(6, box.data)
    key = box.make_key()["key"]
    with serving(box, key) as client:
        wait_until(lambda: box.rows("SELECT checksums_complete FROM company_counter") == [(1,)], box.log_text)
        assert box.rows("SELECT count(*) FROM orders WHERE checksum IS NULL") == [(0,)]
        assert box.rows("SELECT count(*) FROM event WHERE checksum IS NULL") == [(0,)]
        order = client.place()
        client.add(order, item(3))
    assert verify(box) == (0, [])
    alter(box.data, "UPDATE orders SET total = total + 1 WHERE id = (SELECT min(id) FROM orders)")
    assert verify(box)[0] == 1


def test_verify_reads_beside_the_running_server_and_tells_people_too(box, key, sold):
    with serving(box, key) as client:
        assert verify(box) == (0, [])
        client.place()
        done = box.command("verify", "--data", str(box.data))
        assert re.search(r"^live.db  3 orders, \d+ events: sound$", done.stdout, re.M), done.stdout
    alter(box.data, "UPDATE orders SET version = version + 1 WHERE id = ?", sold[0]["id"])
    done = box.command("verify", "--data", str(box.data), check=False)
    assert done.returncode == 1 and sold[0]["id"] in done.stdout and "1 damaged" in done.stdout, done


def test_a_backup_of_damaged_rows_is_made_and_says_so(box, key, sold, tmp_path):
    sound = tmp_path / "sound"
    assert box.command("backup", str(sound), "--data", str(box.data)).returncode == 0
    assert not list(sound.glob("*-wal")) and not list(sound.glob("*-shm"))
    assert verify(box, sound) == (0, [])
    alter(box.data, "UPDATE orders SET version = version + 1 WHERE id = ?", sold[0]["id"])
    done = box.command("backup", str(tmp_path / "damaged"), "--data", str(box.data), check=False)
    assert done.returncode == 1 and "the backup is made" in done.stderr and "1 damaged" in done.stdout, done
    assert verify(box, tmp_path / "damaged") == verify(box)


def test_the_background_check_finds_what_nobody_asks_for(box, key, sold):
    alter(box.data, "UPDATE discount SET amount = amount + 1 WHERE order_id = ?", sold[0]["id"])
    with serving(box, key) as client:
        wait_until(lambda: metric(client, "comanda_db_damaged_rows") == 1, box.log_text)
        assert metric(client, "comanda_db_check_progress") == 1
        state = client.get("/readyz").json["checks"]["rows"]["state"]
        assert state.startswith("1 damaged") and state.endswith("all orders are checked"), state


def dump_of(path):
    with contextlib.closing(sqlite3.connect(path)) as db:
        return list(db.iterdump())


def test_flipped_bits_are_found_or_have_no_effect(box, key, sold, seed, tmp_path):
    """In the pages of orders and events; each flip is judged by `verify`, and by what a reader then gets."""
    whole = (box.data / "live.db").read_bytes()
    with contextlib.closing(sqlite3.connect(box.data / "live.db")) as db:
        size = db.execute("PRAGMA page_size").fetchone()[0]
        names = ", ".join(f"'{name}'" for name in [*ROWS_OF_AN_ORDER, "event"])
        cells = db.execute(f"SELECT name, pageno, pgsize, unused FROM dbstat WHERE name IN ({names})").fetchall()
    chosen = random.Random(seed)
    dump = dump_of(box.data / "live.db")
    outcomes = {}
    for _ in range(60):
        name, page, bytes_of_page, unused = chosen.choice(cells)
        data = bytearray(whole)
        # Cells fill a page from its end.
        at = (page - 1) * size + chosen.randrange(min(unused + 8, size - 1), size)
        data[at] ^= 1 << chosen.randrange(8)
        copy = tmp_path / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir()
        (copy / "live.db").write_bytes(data)
        done = box.command("verify", "--data", str(copy), "--json", check=False)
        outcomes[done.returncode] = outcomes.get(done.returncode, 0) + 1
        assert done.returncode in (0, 1, 70), (name, at, done)
        # In bytes that hold nothing.
        assert done.returncode != 0 or dump_of(copy / "live.db") == dump, (name, at)
    print(f"60 flips: exit codes of verify {outcomes}")


def test_the_retry_of_a_creation_whose_event_is_misnamed_shows_no_other_order(box, key):
    with serving(box, key) as client:
        sent = [("/v1/orders", {"service_type": "ONSITE"}, new_key()) for _ in range(2)]
        first, second = (accepted(client.post(*words), 201) for words in sent)
    numbers = box.rows("SELECT created_seq FROM orders ORDER BY created_seq")
    alter(box.data, f"UPDATE orders SET created_seq = {numbers[1][0]} WHERE id = '{first['id']}'")
    with serving(box, key) as client:
        assert client.post(*sent[0]).status == 500
        assert accepted(client.post(*sent[1]), 201) == second
        assert f"order {first['id']} is damaged" in box.log_text()


def alter_behind_its_index(data, index, statement):
    """As a worn disk: the row is another, the index still knows what it was."""
    with contextlib.closing(sqlite3.connect(data / "live.db")) as db, db:
        db.execute("PRAGMA writable_schema = ON")
        entry = db.execute("SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema WHERE name = ?", (index,)).fetchone()
        db.execute("DELETE FROM sqlite_schema WHERE name = ?", (index,))
    alter(data, statement)
    with contextlib.closing(sqlite3.connect(data / "live.db")) as db, db:
        db.execute("PRAGMA writable_schema = ON")
        db.execute("INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", entry)


def test_an_order_with_a_damaged_reference_stops_no_other_creation(box, key):
    def create(client, reference):
        return client.post("/v1/orders", {"service_type": "ONSITE"}, {"Idempotency-Key": reference})

    with serving(box, key) as client:
        first = accepted(create(client, "T1-000123"), 201)
    alter_behind_its_index(box.data, "orders_reference", f"UPDATE orders SET reference = 'T1-00012s' WHERE id = '{first['id']}'")
    with serving(box, key) as client:
        for neighbour in ("T1-000122", "T1-000124"):
            assert create(client, neighbour).status == 201
        again = create(client, "T1-000123")
        assert again.status == 500, "the retry makes no second order"
        assert client.get("/v1/orders").json["pagination"]["total"] == 3


# Few rows, on which everything depends

COUNTERS = {"event_seq": "event_seq - 1", "event_seq ahead": "event_seq + 64", "epoch": "epoch + 4", "log_start": "log_start + 2",
            "event_chain": "event_chain + 1", "order_changes": "order_changes - 1", "company_id": "company_id + 2"}


@pytest.mark.parametrize("counter", COUNTERS)
def test_damaged_counters_of_a_company_are_made_again_and_selling_goes_on(box, key, sold, counter):
    before = box.rows("SELECT epoch, event_seq FROM company_counter")[0]
    alter(box.data, f"UPDATE company_counter SET {counter.split()[0]} = {COUNTERS[counter]}")
    code, damage = verify(box)
    assert code == 1 and any("counters of company" in one for one in damage), damage
    with serving(box, key) as client:
        assert "the counters of a company are damaged" in box.log_text()
        order = client.place()
        assert order["order_number"] == 3
        assert {one["id"] for one in client.get("/v1/orders").data} == {order["id"], *(one["id"] for one in sold)}
        events = client.get("/v1/events?per_page=100")
        assert events.status == 200 and events.json["data"][-1]["data"] == order
    epoch, seq = box.rows("SELECT epoch, event_seq FROM company_counter")[0]
    assert epoch > before[0], "what clients keep could be taken for current"
    assert seq == before[1] + 1
    assert verify(box) == (0, [])


def test_the_counters_are_made_again_by_the_next_write_too(box, key, sold):
    with serving(box, key) as client:
        alter(box.data, "UPDATE company_counter SET event_seq = event_seq - 1")
        order = client.place()
        assert client.get(path(order)).data == order
        assert client.get("/v1/events?per_page=100").json["data"][-1]["data"] == order
        assert "the counters of a company are damaged" in box.log_text()
    assert verify(box) == (0, [])


@pytest.mark.parametrize("change", ["order_number = order_number - 1", "order_number = order_number + 4", "business_day = 'x'"])
def test_a_damaged_order_number_is_counted_again_from_the_orders(box, key, sold, change):
    assert [order["order_number"] for order in sold] == [1, 2]
    alter(box.data, f"UPDATE company_counter SET {change}")
    with serving(box, key) as client:
        assert [client.place()["order_number"] for _ in range(2)] == [3, 4]
        assert "order number of a company is damaged" in box.log_text()


KEYS = {"more scopes": "scopes = scopes || ',orders:write'", "another hash": "hash = substr(hash, 2) || '0'",
        "no end": "revoked_at = NULL, ended = NULL", "a later end": "expires_at = 4102444800000",
        "other addresses": "allowed_cidrs = '0.0.0.0/0'", "a better tier": "tier = 'unlimited'"}


@pytest.mark.parametrize("change", KEYS)
def test_a_damaged_key_grants_nothing_and_is_named(box, key, sold, change):
    weak = box.make_key(scopes="orders:read", tier="standard", name="display")
    box.command("keys", "revoke", weak["id"], "--data", str(box.data)) if change == "no end" else None
    alter(box.data, f"UPDATE api_key SET {KEYS[change]} WHERE id = '{weak['id']}'")
    code, damage = verify(box)
    assert code == 1 and weak["id"] in damage[0], damage
    with serving(box, key) as client, contextlib.closing(box.client(weak["key"])) as display:
        assert display.get("/v1/orders").status == 401
        assert display.post("/v1/orders", {"service_type": "ONSITE"}, new_key()).status == 401
        assert f"API key {weak['id']}" in box.log_text()
        ready = client.get("/readyz")
        assert ready.status == 200 and "damaged" in ready.json["checks"]["rows"]["state"]
        client.place()


def test_a_key_that_is_used_changed_and_replaced_stays_sound(box, key):
    with serving(box, key) as client:
        made = accepted(client.post("/auth/api-keys", {"name": "till", "scopes": ["orders:read"], "expires_at": "2100-01-01T00:00:00Z"}),
                        201)
        accepted(client.patch("/auth/api-keys/" + made["id"], {"scopes": ["orders:read", "menu:read"]}))
        accepted(client.post(f"/auth/api-keys/{made['id']}/rotate", {"grace_seconds": 0}))
        accepted(client.delete("/auth/api-keys/" + made["id"]))
    assert verify(box) == (0, [])
