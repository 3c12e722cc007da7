"""The data directory's file system fills up: reports and imports stop first, then all that is not an order or a payment,
orders last, with what the ballast leaves them. Reads go on all the time, and when there is space again everything does,
without a restart or a hand. Needs root to mount a small file system."""

import contextlib
import os
import pathlib
import shutil
import tempfile
import time
import uuid

import pytest

from support.box import PATIENCE_S, Box
from support.disk import keep_mounts_to_ourselves, run
from support.waiting import wait_until

MIB = 1 << 20
TOTAL_MIB = 64
# The shares of so small a disk: a quarter, an eighth, a sixteenth.
LOW, TIGHT, ORDERS_ONLY = TOTAL_MIB // 4, TOTAL_MIB // 8, TOTAL_MIB // 16


class SmallDisk:
    def __init__(self, kind):
        keep_mounts_to_ourselves()
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="comanda-full-"))
        self.root = self.directory / "disk"
        self.root.mkdir()
        if kind == "tmpfs":
            run("mount", "-t", "tmpfs", "-o", f"size={TOTAL_MIB}m", "tmpfs", self.root)
        else:
            image = self.directory / "image"
            with open(image, "wb") as file:
                file.truncate((TOTAL_MIB + 8) * MIB)
            run("mkfs.ext4", "-q", "-F", "-m", "0", image)
            run("mount", "-o", "loop", image, self.root)
        self.filler = self.root / "filler"

    def free(self):
        space = os.statvfs(self.root)
        return space.f_bavail * space.f_frsize

    def leave(self, free_bytes):
        """Fills the rest, or gives back."""
        begin = time.monotonic()
        with open(self.filler, "ab") as filler:
            while (less := self.free() - free_bytes) > 0:
                try:
                    # The whole blocks of a file are what can be counted.
                    os.posix_fallocate(filler.fileno(), filler.seek(0, 2), max(4096, less // 4096 * 4096))
                except OSError:
                    if less < 64 * 1024:
                        return
                    try:
                        os.posix_fallocate(filler.fileno(), filler.seek(0, 2), 4096)
                    except OSError:  # what was deleted is counted as free before its blocks can be had
                        assert time.monotonic() - begin < PATIENCE_S, less
                        os.sync()
            if less < 0:
                filler.truncate(max(0, filler.seek(0, 2) + less))

    def discard(self):
        def is_unmounted():
            with contextlib.suppress(AssertionError):
                run("umount", self.root)
            return not self.root.is_mount()

        wait_until(is_unmounted, f"umount {self.root}")
        shutil.rmtree(self.directory, ignore_errors=True)


@pytest.fixture(params=["tmpfs", "ext4"])
def disk(request):
    one = SmallDisk(request.param)
    try:
        yield one
    finally:
        one.discard()


@pytest.fixture
def box(disk):
    data = disk.root / "data"
    data.mkdir()
    one = Box(data)
    one.bring_in("demo")
    yield one
    one.kill_if_running()


def disk_state(client):
    return client.get("/readyz").json["checks"]["disk"]


def wait_for_state(client, words):
    wait_until(lambda: words in disk_state(client)["state"], lambda: disk_state(client))


def refused(answer, *words):
    assert answer.status == 503 and answer.code == "service_unavailable", (answer.status, answer.body)
    assert int(answer.headers["retry-after"]) >= 1
    for word in words:
        assert word in answer.json["detail"], answer.json["detail"]


def whole_order(client):
    """An order from its first line to its end: nothing of it is refused."""
    order = client.place()
    client.add(order, {"product_name": "Jalea", "quantity": 1, "variant_price": 10})
    client.pay(order, 10)
    return client.advance(order, "FINALIZED")


def reads(client):
    for path in ("/v1/orders?per_page=1", "/v1/menu", "/v1/clients", "/healthz"):
        assert client.get(path).status == 200, path


def metric(client, name):
    line = next(line for line in client.get("/metrics").body.decode().splitlines() if line.startswith(name + " "))
    return float(line.split()[1])


def make_key(client, name, key=None):
    """A write that can wait."""
    return client.post("/auth/api-keys", {"name": name, "scopes": ["orders:read"]},
                       {"Idempotency-Key": key or str(uuid.uuid4())})


REPORT = "/v1/orders/by-payment-methods"


def test_what_can_wait_stops_before_orders_and_all_goes_on_by_itself(disk, box):
    key = box.make_key()["key"]
    box.start()
    ballast = box.data / "ballast"
    placed = []
    with contextlib.closing(box.client(key)) as client:
        # -- there is space
        assert ballast.stat().st_size == disk_total(disk) // 32
        assert ballast.stat().st_blocks * 512 >= ballast.stat().st_size, "it keeps nothing"
        assert disk_state(client) == {"ok": True, "state": disk_state(client)["state"].split(",")[0]}
        report = client.get(REPORT)
        assert report.status == 200, report.body
        assert make_key(client, "Ana", "first").status == 201
        placed.append(whole_order(client))

        # -- little: it is told
        disk.leave((LOW - 3) * MIB)
        wait_for_state(client, "getting full")
        assert client.get("/readyz").status == 200
        assert client.get(REPORT).status == 200
        box.wait_for_log("the disk is getting full")
        assert abs(metric(client, "comanda_disk_free_bytes") - disk.free()) < MIB

        # -- tight: no reports, no imports
        disk.leave((TIGHT - 2) * MIB)
        wait_for_state(client, "no reports, no imports")
        assert client.get("/readyz").status == 200
        refused(client.get(REPORT), "nearly full", "reports")
        refused(client.put("/v1/menu/products", {"products": []}, {"Idempotency-Key": "bulk"}), "menu")
        brought = box.command("import", "demo", "--data", str(box.data), check=False)
        assert brought.returncode != 0 and "nearly full" in brought.stderr, brought
        assert make_key(client, "Luis").status == 201
        placed.append(whole_order(client))
        reads(client)

        # -- orders alone
        disk.leave((ORDERS_ONLY - 1) * MIB)
        wait_for_state(client, "orders and payments alone")
        assert client.get("/readyz").status == 503
        refused(make_key(client, "Eva"), "only orders and payments")
        assert make_key(client, "Ana", "first").headers.get("idempotency-replayed") == "true"
        placed.append(whole_order(client))
        reads(client)

        # -- nothing left: the ballast goes, the orders stay
        disk.leave(0)
        wait_until(lambda: place_one(client, placed) and not ballast.exists(), lambda: disk_state(client))
        assert "no ballast" in disk_state(client)["state"]
        assert metric(client, "comanda_disk_ballast") == 0
        placed.append(whole_order(client))
        reads(client)

        # -- and not even that
        disk.leave(0)
        answer = None
        for _ in range(2000):
            answer = client.post("/v1/orders", {"service_type": "ONSITE"}, {"Idempotency-Key": str(uuid.uuid4())})
            if answer.status != 201:
                break
            placed.append(answer.data)
            disk.leave(0)
        refused(answer, "full")
        reads(client)
        assert client.get("/readyz").status == 503

        # -- space again
        disk.filler.unlink()
        wait_until(lambda: place_one(client, placed), lambda: disk_state(client))
        wait_until(lambda: ballast.exists() and disk_state(client)["ok"], lambda: disk_state(client))
        wait_until(lambda: client.get("/readyz").status == 200, lambda: client.get("/readyz").body)
        assert client.get(REPORT).status == 200
        assert make_key(client, "Eva").status == 201
        placed.append(whole_order(client))

        for order in placed:
            assert client.get(f"/v1/orders/{order['id']}").data == order
        assert client.get("/v1/orders?per_page=1").json["pagination"]["total"] == len(placed)
    assert box.stop() == 0
    assert box.value("PRAGMA integrity_check") == "ok"


def test_a_full_disk_does_not_keep_the_server_from_starting(disk, box):
    key = box.make_key()["key"]
    box.start()
    with contextlib.closing(box.client(key)) as client:
        order = whole_order(client)
    box.kill()  # so that the start has a log to recover
    disk.leave(0)
    assert (box.data / "ballast").exists()
    box.start()
    with contextlib.closing(box.client(key)) as client:
        assert client.get(f"/v1/orders/{order['id']}").data == order
        whole_order(client)
        assert "no ballast" in disk_state(client)["state"]
    assert box.stop() == 0


def test_the_kitchen_marks_until_the_disk_is_full_and_a_refused_mark_is_not_half_made(disk, box):
    key = box.make_key(scopes="all,admin:read,admin:write")["key"]
    box.start()
    tickets = "/v1/kitchen/tickets"
    with contextlib.closing(box.client(key)) as client:
        def order_of(lines):
            order = client.place()
            for begin in range(0, lines, 200):
                order = client.add(order, *[{"product_name": f"Plato {begin + n}", "quantity": 1, "variant_price": 10} for n in range(200)])
            return order

        def mark(order, line, retry=None):
            return client.post(f"{tickets}/{order['id']}/done", {"line_ids": [order["combos"][line]["id"]]},
                               {"Idempotency-Key": retry or str(uuid.uuid4())})

        def shown(order):
            rows = client.get(f"{tickets}?per_page=100&filter[state]=open,ready").data
            return next(row for row in rows if row["order_id"] == order["id"])

        dish = next(p for c in client.get("/v1/menu").data["categories"] for p in c["products"] if p["available"])
        station = client.get("/v1/kitchen/stations").data[0]
        order = order_of(400)
        assert mark(order, 0).status == 200

        # -- orders and what the kitchen does with them alone
        disk.leave((ORDERS_ONLY - 1) * MIB)
        wait_for_state(client, "orders and payments alone")
        assert mark(order, 1).status == 200
        refused(client.put(f"/v1/menu/products/{dish['id']}/sold-out", {"until": None}), "only orders and payments")
        refused(client.patch(f"/v1/kitchen/stations/{station['id']}", {"prepares": False}), "only orders and payments")
        refused(client.post("/box/devices/codes", {"role": "kitchen", "name": "x"}), "only orders and payments")

        # -- nothing left
        done, answer, retry = 2, None, None
        for line in range(2, 399):
            disk.leave(0)
            retry = str(uuid.uuid4())
            answer = mark(order, line, retry)
            if answer.status != 200:
                break
            done += 1
        refused(answer, "full")
        found = shown(order)
        assert [row["done_at"] is not None for row in found["lines"]] == [True] * done + [False] * (400 - done)
        events = [row for row in read_events(client) if row["subject"]["id"] == order["id"] and row["event_type"] == "TICKET_UPDATED"]
        assert len(events) == done, "no event of a mark that was refused"
        assert client.get("/v1/kitchen/changes").status == 200
        assert found["revision"] == client.get(f"/v1/orders/{order['id']}").data["version"] + done
        assert client.get(f"/v1/menu/products/{dish['id']}").data["sold_out"] is None

        # -- space again: the same request is carried out, once
        disk.filler.unlink()
        wait_until(lambda: mark(order, done, retry).status == 200, lambda: disk_state(client))
        again = mark(order, done, retry)
        assert again.headers["idempotency-replayed"] == "true" and again.data["revision"] == found["revision"] + 1
        wait_until(lambda: client.put(f"/v1/menu/products/{dish['id']}/sold-out", {"until": None}).status == 200,
                   lambda: disk_state(client))
        assert shown(order)["lines"][done]["done_at"]
    assert box.stop() == 0
    assert box.value("PRAGMA integrity_check") == "ok"


def read_events(client):
    rows, after = [], None
    while True:
        page = client.get("/v1/events?per_page=100" + (f"&after={after}" if after else "")).json
        if not page["data"]:
            return rows
        rows, after = rows + page["data"], page["next"]


def place_one(client, placed):
    answer = client.post("/v1/orders", {"service_type": "ONSITE"}, {"Idempotency-Key": str(uuid.uuid4())})
    if answer.status == 503:
        refused(answer)
        return False
    assert answer.status == 201, answer.body
    placed.append(answer.data)
    return True


def disk_total(disk):
    space = os.statvfs(disk.root)
    return space.f_blocks * space.f_frsize
