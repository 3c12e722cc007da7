"""A page of the database is not what was written: the server finds out after its start, says so, serves what can be read and
writes nothing more into the file."""

import contextlib
import sqlite3
import time

from support.box import PATIENCE_S

def damage_a_page(path, table):
    with contextlib.closing(sqlite3.connect(path)) as db:
        page = db.execute("SELECT max(pageno) FROM dbstat WHERE name = ? AND pagetype = 'leaf'", (table,)).fetchone()[0]
        page_bytes = db.execute("PRAGMA page_size").fetchone()[0]
    with open(path, "r+b") as file:
        file.seek((page - 1) * page_bytes)
        file.write(b"\xa5" * page_bytes)


def test_a_damaged_database_is_read_and_no_longer_written(box):
    key = box.make_key()["key"]
    box.start()
    with contextlib.closing(box.client(key)) as client:
        order = client.place()
    assert box.stop() == 0
    damage_a_page(box.data / "live.db", "staff")
    box.start()
    with contextlib.closing(box.client(key)) as client:
        begin = time.monotonic()
        while client.get("/readyz").json["checks"]["database"]["ok"]:
            assert time.monotonic() - begin < PATIENCE_S, box.log_text()
            time.sleep(0.01)
        ready = client.get("/readyz")
        assert ready.status == 503
        assert ready.json["checks"]["database"]["state"] == "damaged: restore a backup"
        box.wait_for_log("the database is damaged")
        refused = client.post("/v1/orders", {"service_type": "ONSITE"}, {"Idempotency-Key": "later"})
        assert refused.status == 503 and refused.code == "service_unavailable"
        assert "damaged" in refused.json["detail"] and int(refused.headers["retry-after"]) >= 1
        assert client.get(f"/v1/orders/{order['id']}").data == order
        assert client.get("/healthz").status == 200
    assert box.stop() == 0
