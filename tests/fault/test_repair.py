"""`comanda verify --repair`: an index is malformed, no order can be taken, and the command brings everything back; where it
cannot, it changes nothing and says so."""

import contextlib
import json
import re
import sqlite3

import pytest

from support import documents
from support.sqlite_file import overwrite_a_page, rows_of
from support.waiting import wait_until

BODY = {"service_type": "ONSITE", "order_title": "table 4"}


def repair(box, *words):
    """The command of the technician's document."""
    (command,) = documents.commands(documents.section(documents.TECHNICIAN, "Repair a database"), "comanda ")
    return box.command(*command.split()[1:], *words, "--data", str(box.data), check=False)


def files(box):
    """Without the index of the log, and a log that is empty: who reads a database makes them."""
    found = {path.name: path.read_bytes() for path in box.data.iterdir() if ".db" in path.name and not path.name.endswith("-shm")}
    return {name: content for name, content in found.items() if content}


def former(box, name="live.db"):
    return sorted(path.name for path in box.data.glob(f"{name}.before-repair-*"))


class Sold:
    """A box that has sold, with what a device keeps of it."""

    def __init__(self, box):
        self.box = box
        self.key = box.make_key()["key"]
        box.start()
        with contextlib.closing(box.client(self.key)) as client:
            for _ in range(30):
                client.place()
            self.first = client.post("/v1/orders", BODY, {"Idempotency-Key": "till-1-order-31"})
            assert self.first.status == 201, self.first.body
            self.cursor = client.get("/v1/events?per_page=100").json["next"]
            client.place()  # an event that the device has not read
        assert box.stop() == 0

    def check(self, orders=32):
        with contextlib.closing(self.box.client(self.key)) as client:
            ready = client.get("/readyz")
            assert ready.status == 200 and ready.json["checks"]["database"]["state"] == "writable", ready.body
            listed = client.get("/v1/orders?per_page=100")
            assert len(listed.data) == orders and "x-damaged-rows" not in listed.headers
            again = client.post("/v1/orders", BODY, {"Idempotency-Key": "till-1-order-31"})
            assert again.status == 201 and again.data == self.first.data, again.body
            events = client.get(f"/v1/events?per_page=100&after={self.cursor}")
            assert events.status == 200 and len(events.data) == 1, events.body
            assert client.place()["id"] not in {order["id"] for order in listed.data}
            events = client.get(f"/v1/events?per_page=100&after={events.json['next']}")
            assert events.status == 200 and len(events.data) == 1, "the feed goes on where it was"


# An index, one of a UNIQUE constraint, and the one that events are found by.
@pytest.mark.parametrize("index", ["orders_created", "orders_public_id", "sqlite_autoindex_combo_1", "sqlite_autoindex_event_1"])
def test_a_malformed_index_is_made_again_and_nothing_is_lost(box, index):
    sold = Sold(box)
    rows = rows_of(box.data / "live.db")
    overwrite_a_page(box.data / "live.db", index)
    box.start()
    with contextlib.closing(box.client(sold.key)) as client:
        wait_until(lambda: client.get("/readyz").status == 503, box.log_text)
        assert client.get("/readyz").json["checks"]["database"]["state"] == "damaged: comanda verify --repair"
        box.wait_for_log("comanda verify --repair")
        assert client.post("/v1/orders", BODY, {"Idempotency-Key": "later"}).status == 503
    assert "comanda verify --repair" in box.command("doctor", "--data", str(box.data), check=False).stdout
    assert box.stop() == 0

    found = box.command("verify", "--data", str(box.data), check=False)
    assert found.returncode == 1 and "comanda verify --repair" in found.stdout, found
    damaged = files(box)["live.db"]
    done = repair(box)
    assert done.returncode == 0, done
    (kept,) = former(box)
    assert kept in done.stderr and "no row is missing" in done.stderr and "live.db  32 orders" in done.stdout, done
    assert files(box)[kept] == damaged
    assert {name for name in files(box) if name.startswith("live.db")} == {"live.db", kept}
    assert rows_of(box.data / "live.db") == rows
    assert box.command("verify", "--data", str(box.data), check=False).returncode == 0
    assert repair(box).returncode == 0 and former(box) == [kept], "what is sound is left as it is"
    box.start()
    sold.check()
    assert box.stop() == 0
    assert "restored" not in box.log_text()


def test_what_a_killed_server_left_in_its_log_is_repaired_too(box):
    sold = Sold(box)
    overwrite_a_page(box.data / "live.db", "client_name")
    box.start()
    with contextlib.closing(box.client(sold.key)) as client:
        placed = client.post("/v1/orders", BODY, {"Idempotency-Key": "at the last moment"}).status == 201
    box.kill()
    assert repair(box).returncode == 0
    box.start()
    sold.check(orders=33 if placed else 32)


def test_a_malformed_table_is_refused_and_left_as_it_is(box):
    Sold(box)
    overwrite_a_page(box.data / "live.db", "orders_created")
    overwrite_a_page(box.data / "live.db", "payment_method")
    before = files(box)
    done = repair(box)
    assert done.returncode == 1, done
    assert re.search(r"cannot be repaired: a table itself is damaged \(payment_method: .*restore a backup", done.stderr), done
    assert "damaged" in done.stdout and files(box) == before


def test_beside_a_running_server_it_is_refused_and_names_the_process(box):
    Sold(box)
    overwrite_a_page(box.data / "live.db", "orders_created")
    box.start()
    done = repair(box)
    assert done.returncode == 1 and not former(box), done
    assert f"process {box.process.pid} works in {box.data}: stop the server first" in done.stderr, done
    assert box.stop() == 0
    assert repair(box).returncode == 0


def test_beside_another_program_that_reads_it_is_refused(box):
    Sold(box)
    overwrite_a_page(box.data / "live.db", "orders_created")
    with contextlib.closing(sqlite3.connect(box.data / "live.db")) as db:
        db.execute("SELECT count(*) FROM company").fetchone()
        done = repair(box)
    assert done.returncode == 70 and f"another program has {box.data}/live.db open" in done.stderr, done
    assert not former(box) and not list(box.data.glob("*.repaired*"))
    assert repair(box).returncode == 0


def test_a_sandbox_is_repaired_by_itself(box):
    box.bring_in("demo", env="test")
    Sold(box)
    live, inode = files(box)["live.db"], (box.data / "live.db").stat().st_ino
    overwrite_a_page(box.data / "test.db", "client_name")
    done = repair(box, "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["sound"], done
    assert not former(box) and len(former(box, "test.db")) == 1
    assert files(box)["live.db"] == live and (box.data / "live.db").stat().st_ino == inode

    overwrite_a_page(box.data / "test.db", "client")
    overwrite_a_page(box.data / "live.db", "orders_created")
    done = repair(box)
    assert done.returncode == 1 and len(former(box)) == 1, "what can be repaired is"
    assert f"delete {box.data}/test.db*" in done.stderr, done
    for path in box.data.glob("test.db*"):
        path.unlink()
    box.start()
    with contextlib.closing(box.client()) as client:
        assert client.get("/readyz").status == 200


def test_a_backup_is_not_repaired(box, tmp_path):
    Sold(box)
    box.command("backup", str(tmp_path / "backup"), "--data", str(box.data))
    done = repair(box, str(tmp_path / "backup"))
    assert done.returncode == 2 and "for the data directory" in done.stderr, done


def test_a_server_removes_what_an_interrupted_repair_left(box):
    Sold(box)
    (box.data / "live.db.repaired").write_bytes(b"half a copy" * 1000)
    box.start()
    assert not list(box.data.glob("*.repaired"))
