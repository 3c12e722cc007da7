"""Databases written by older programs, by schema version, and the orders in them as those programs rendered them
(past/N.db.xz and past/N.orders.json.xz: made once by the program of the time, never changed)."""

import contextlib
import json
import lzma
import pathlib
import shutil
import sqlite3
import tempfile

from support.box import ROOT

DIRECTORY = pathlib.Path(__file__).parent / "past"
NEWEST = len(list((ROOT / "src/app/migrations").glob("*.sql")))
VERSIONS = sorted(int(path.name.split(".")[0]) for path in DIRECTORY.glob("*.db.xz"))


def unpack(version, data):
    """As live.db of a data directory."""
    (data / "live.db").write_bytes(lzma.decompress((DIRECTORY / f"{version}.db.xz").read_bytes()))


def orders_told(version):
    return json.loads(lzma.decompress((DIRECTORY / f"{version}.orders.json.xz").read_bytes()))


def look(data):
    """(schema version, schema, orders) of live.db as a kill or a power cut left it; it stays as it is."""
    with tempfile.TemporaryDirectory(prefix="comanda-look-") as directory:
        for part in data.glob("live.db*"):
            if part.name in ("live.db", "live.db-wal", "live.db-journal"):
                shutil.copy(part, directory)
        with contextlib.closing(sqlite3.connect(directory + "/live.db")) as db:
            assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
            assert db.execute("PRAGMA foreign_key_check").fetchall() == []
            schema = db.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name").fetchall()
            orders = db.execute("SELECT * FROM orders ORDER BY id").fetchall()
            return db.execute("PRAGMA user_version").fetchone()[0], schema, orders


def shows(new, old):
    """The record has all that the older one had; members that came later may stand beside it."""
    if isinstance(old, dict):
        return isinstance(new, dict) and all(name in new and shows(new[name], value) for name, value in old.items())
    if isinstance(old, list):
        return isinstance(new, list) and len(new) == len(old) and all(map(shows, new, old))
    return new == old


def check_upgraded(box, version):
    """Asserts that the running server has every order as the old program rendered it, and accepts another."""
    told = orders_told(version)
    with contextlib.closing(box.client(box.make_key()["key"])) as client:
        assert client.get("/v1/orders?per_page=1").json["pagination"]["total"] == len(told)
        for order in told:
            found = client.get("/v1/orders/" + order["id"]).data
            assert shows(found, order), (found, order)
        paid = sum(order["total_paid"] for order in told if order["status"] != "CANCELLED")
        days = sorted(order["created_at"][:10] for order in told)
        report = client.get(f"/v1/orders/by-payment-methods?filter[start_date]={days[0]}&filter[end_date]={days[-1]}"
                            "&timezone=UTC")
        assert round(sum(row["sum_total"] for row in report.data), 2) == round(paid, 2)
        client.place()
