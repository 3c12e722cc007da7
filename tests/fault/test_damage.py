"""A page of the database is not what was written: the server finds out after its start, says so, serves what can be read and
writes nothing more into the file."""

import contextlib
import re
import sqlite3

import pytest

from support.sqlite_file import overwrite_a_page
from support.waiting import wait_until


def test_a_damaged_database_is_read_and_no_longer_written(box):
    key = box.make_key()["key"]
    box.start()
    with contextlib.closing(box.client(key)) as client:
        order = client.place()
    assert box.stop() == 0
    overwrite_a_page(box.data / "live.db", "staff")
    box.start()
    with contextlib.closing(box.client(key)) as client:
        wait_until(lambda: not client.get("/readyz").json["checks"]["database"]["ok"], box.log_text)
        ready = client.get("/readyz")
        assert ready.status == 503
        assert ready.json["checks"]["database"]["state"] == "damaged: comanda verify --repair"
        box.wait_for_log("the database is damaged")
        refused = client.post("/v1/orders", {"service_type": "ONSITE"}, {"Idempotency-Key": "later"})
        assert refused.status == 503 and refused.code == "service_unavailable"
        assert "damaged" in refused.json["detail"] and int(refused.headers["retry-after"]) >= 1
        assert client.get(f"/v1/orders/{order['id']}").data == order
        assert client.get("/healthz").status == 200
    assert box.stop() == 0


def leaves(path, name):
    with contextlib.closing(sqlite3.connect(path)) as db:
        page_bytes = db.execute("PRAGMA page_size").fetchone()[0]
        pages = db.execute("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf'", (name,)).fetchall()
    return page_bytes, [page for page, in pages]


def flip_in_text(path, name, wanted=rb"[0-9A-Za-z]{6,}"):
    """Turns the lowest bit of a text in a tree's leaf; False where there is none. The tree itself stays sound."""
    page_bytes, pages = leaves(path, name)
    with open(path, "r+b") as file:
        for page in pages:
            file.seek((page - 1) * page_bytes)
            found = re.search(wanted, file.read(page_bytes))
            if found is None:
                continue
            at = (page - 1) * page_bytes + found.end() - 1
            file.seek(at)
            byte = file.read(1)[0]
            file.seek(at)
            file.write(bytes([byte ^ 1]))
            return True
    return False


def indexes(path):
    with contextlib.closing(sqlite3.connect(path)) as db:
        return [name for name, in db.execute("SELECT name FROM sqlite_schema WHERE type = 'index'")
                if "autoindex" not in name]


def integrity(path):
    with contextlib.closing(sqlite3.connect(path)) as db:
        lines = "\n".join(found for found, in db.execute("PRAGMA integrity_check(10000)")).splitlines()
    # Pages that nothing uses harm nothing: an index that was rebuilt leaves them.
    return [line for line in lines if "never used" not in line and not line.startswith("*** in database")] or ["ok"]


@pytest.mark.parametrize("index", ["orders_updated", "orders_created", "orders_open", "orders_public_id"])
def test_an_index_that_disagrees_with_its_table_is_rebuilt_and_selling_goes_on(box, index):
    key = box.make_key()["key"]
    box.start()
    with contextlib.closing(box.client(key)) as client:
        orders = [client.place() for _ in range(3)]
    assert box.stop() == 0
    assert flip_in_text(box.data / "live.db", index)
    assert integrity(box.data / "live.db") != ["ok"]
    box.start()
    with contextlib.closing(box.client(key)) as client:
        for title in ("a till", "that repeats", "its request"):
            for order in orders:
                answer = client.patch(f"/v1/orders/{order['id']}", {"order_title": title})
                assert answer.status == 200, (answer.status, answer.body)
        box.wait_for_log(f"index={index}")
        assert "it was rebuilt" in box.log_text()
        ready = client.get("/readyz")
        assert ready.status == 200 and ready.json["checks"]["database"]["state"] == "writable"
        # The request that met the damage and the background check may both have found it.
        rebuilt = re.search(rb'comanda_db_indexes_rebuilt_total{database="live"} (\d+)', client.get("/metrics").body)
        assert int(rebuilt[1]) in (1, 2)
        listed = client.get("/v1/orders").data
        assert {order["id"] for order in listed} == {order["id"] for order in orders}
        client.place()
    assert box.stop() == 0
    assert integrity(box.data / "live.db") == ["ok"]


def test_damage_in_all_indexes_is_found_in_the_background(box):
    key = box.make_key()["key"]
    box.start()
    with contextlib.closing(box.client(key)) as client:
        for _ in range(3):
            client.place()
    assert box.stop() == 0
    for index in indexes(box.data / "live.db"):
        flip_in_text(box.data / "live.db", index)
    # A text may be one that was deleted.
    damaged = {line.split(" index ")[1] for line in integrity(box.data / "live.db")}
    assert len(damaged) > 10, damaged
    box.start()
    for index in damaged:
        box.wait_for_log(f"index={index}")
    with contextlib.closing(box.client(key)) as client:
        assert client.get("/readyz").status == 200
        client.place()
    assert box.stop() == 0
    assert integrity(box.data / "live.db") == ["ok"]


# path, and the index whose entries name records that are not there
LISTS = {"/v1/company/payment-methods": "payment_method_code", "/v1/users": "staff_name"}


@pytest.mark.parametrize("path", LISTS)
def test_a_list_of_what_is_not_stored_fails_alone(box, path):
    key = box.make_key()["key"]
    box.start()
    box.stop()
    assert flip_in_text(box.data / "live.db", LISTS[path], rb"[0-9a-f]{12}")
    box.start()
    with contextlib.closing(box.client(key)) as client:

        def is_listed():
            status = client.get(path).status
            assert status in (200, 500)
            return status == 200

        wait_until(is_listed, box.log_text)
        box.wait_for_log(f"index={LISTS[path]}")
        assert client.get(path).status == 200
        client.place()
    assert box.stop() == 0


def test_a_till_that_repeats_itself_does_not_end_the_server(box):
    key = box.make_key()["key"]
    box.start()
    with contextlib.closing(box.client(key)) as client:
        order = client.place()
    assert box.stop() == 0
    overwrite_a_page(box.data / "live.db", "orders")
    box.start()
    with contextlib.closing(box.client(key)) as client:
        for _ in range(8):
            answer = client.patch(f"/v1/orders/{order['id']}", {"order_title": "again"})
            assert answer.status in (500, 503), answer.body
        wait_until(lambda: client.get("/readyz").status == 503, box.log_text)
        assert client.get("/v1/menu").status in (200, 404)
        assert 'comanda_db_read_only{database="live"} 1' in client.get("/metrics").body.decode()
    assert box.process.poll() is None
    assert box.stop() == 0


def test_a_row_in_the_wrong_place_is_told_and_stops_nothing(box):
    key = box.make_key()["key"]
    box.start()
    box.stop()
    path = box.data / "live.db"
    with contextlib.closing(sqlite3.connect(path)) as db:
        first = db.execute("SELECT min(id) FROM staff").fetchone()[0].encode()
    page_bytes, pages = leaves(path, "staff")
    with open(path, "r+b") as file:
        for page in pages:
            file.seek((page - 1) * page_bytes)
            at = file.read(page_bytes).find(first)
            if at >= 0:
                file.seek((page - 1) * page_bytes + at)
                file.write(bytes([first[0] ^ 0x40]))
                break
    assert any("PRIMARY KEY order" in line for line in integrity(path))
    box.start()
    with contextlib.closing(box.client(key)) as client:
        wait_until(lambda: "1 damaged" in client.get("/readyz").json["checks"]["rows"]["state"], box.log_text)
        assert client.get("/readyz").status == 200
        box.wait_for_log("a row is damaged")
        assert 'comanda_db_damaged_rows{database="live"} 1' in client.get("/metrics").body.decode()
        client.place()
    assert box.stop() == 0
