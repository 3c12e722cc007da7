"""The file system of the data becomes read-only: a worn card, which the kernel stops (errors=remount-ro), or one that is
mounted so. Reads go on, also of orders that are only in the log, and also after a start; no write is acknowledged; the box
says so before the first write; a backup to another disk can be made; writes go on by themselves when they can. Needs root
for a file system of its own."""

import concurrent.futures
import contextlib
import json
import os
import socket
import sqlite3
import subprocess
import threading
import time
import uuid

import pytest

from support.box import PATIENCE_S, Box, free_port
from support.disk import Disk, keep_mounts_to_ourselves, run
from support.receiver import LOOPBACK, Receiver, answers, hangs
from support.waiting import wait_until

IMAGE_BYTES = 96 << 20
TILLS = 4
GUESTS = 40  # of all tills before the card wears out


class Card(Disk):
    def __init__(self):
        keep_mounts_to_ourselves()
        super().__init__("ext4", "loop,errors=remount-ro", IMAGE_BYTES)
        self.other = self.directory / "stick"  # another disk
        self.other.mkdir()

    def wear_out(self):
        """What the kernel does when the card fails a write of the file system's own, with its files open."""
        run("mount", "-o", "remount,abort", self.root)

    def remount(self, how):
        """Only where no file is open for writing."""
        run("mount", "-o", f"remount,{how}", self.root)

    def restart_of_the_machine(self):
        self.unmount()
        checked = subprocess.run(["e2fsck", "-fp", self.image], capture_output=True, text=True)
        assert checked.returncode in (0, 1), checked
        self.mount()


@pytest.fixture
def card():
    one = Card()
    try:
        yield one
    finally:
        one.discard()


@pytest.fixture
def box(card):
    data = card.root / "data"
    data.mkdir()
    one = Box(data, ["--sandbox-listen", f"127.0.0.1:{free_port()}"])
    one.log_path = card.directory / "log"
    one.bring_in("demo")
    one.bring_in("demo", env="test")
    (card.other / "backups").mkdir()
    one.command("config", "set", "backup_to", str(card.other / "backups"), "--data", str(data))
    yield one
    one.kill_if_running()


@pytest.fixture
def key(box):
    return box.make_key()["key"]


def place(client, reference):
    return client.post("/v1/orders", {"service_type": "ONSITE"}, {"Idempotency-Key": reference})


def refused(answer):
    assert answer.status == 503 and answer.code == "service_unavailable", (answer.status, answer.body)
    assert int(answer.headers["retry-after"]) >= 1
    assert "read-only" in answer.json["detail"], answer.json["detail"]


def is_ready(client):
    return client.get("/readyz").status == 200


def says_read_only(client):
    ready = client.get("/readyz")
    return (ready.status == 503 and ready.json["checks"]["database"] == {"ok": False, "state": "the disk is read-only"}
            and not ready.json["checks"]["disk"]["ok"] and "read-only" in ready.json["checks"]["disk"]["state"])


def reads_and_refuses(box, client, orders):
    """`orders`: {Idempotency-Key: record}"""
    for order in orders.values():
        answer = client.get(f"/v1/orders/{order['id']}")
        assert answer.status == 200 and answer.data == order, answer.body
    for path in ("/v1/orders?per_page=1", "/v1/menu", "/v1/clients", "/auth/api-keys", "/healthz"):
        assert client.get(path).status == 200, path
    assert client.get("/v1/orders?per_page=1").json["pagination"]["total"] == len(orders)
    refused(place(client, str(uuid.uuid4())))
    refused(client.post("/auth/api-keys", {"name": "Eva", "scopes": ["orders:read"]}))
    for reference, order in orders.items():  # a till that has not heard the answer
        again = place(client, reference)
        assert again.status == 201 and again.headers["idempotency-replayed"] == "true", again.body
        assert again.data["id"] == order["id"]
    assert box.process.poll() is None


class Doctor:
    def __init__(self, box):
        result = subprocess.run([str(box.binary), "doctor", "--data", str(box.data), "--json"], capture_output=True,
                                text=True, timeout=PATIENCE_S * 4)
        assert result.stderr == "", result.stderr
        self.binary = box.binary
        self.findings = json.loads(result.stdout)["findings"]
        self.broken = [f for f in self.findings if f["state"] == "broken" and f["check"] != "clock"]

    def assert_names_the_disk_first(self):
        first = self.broken[0]
        assert first["check"] == "disk" and "is read-only: the card or disk is worn" in first["what"], self.broken
        path = f"{self.binary.resolve().parent}:{os.environ['PATH']}"
        for command in first["command"].splitlines():  # as it stands
            done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=PATIENCE_S * 4,
                                  env={**os.environ, "PATH": path})
            assert done.returncode == 0 or command.startswith("dmesg"), (command, done)


def commands_tell_the_truth(box, card, orders):
    """Beside the server, or without one."""
    listed = box.command("keys", "list", "--data", str(box.data))
    assert "test" in listed.stdout, listed
    made = box.command("keys", "create", "--name", "x", "--scopes", "all", "--data", str(box.data), check=False)
    assert made.returncode != 0 and "read-only" in made.stderr, made
    assert "sound" in box.command("verify", "--data", str(box.data)).stdout
    backup = card.other / str(uuid.uuid4())
    box.command("backup", str(backup), "--data", str(box.data))
    box.command("verify", str(backup))
    with contextlib.closing(sqlite3.connect(f"file:{backup}/live.db?immutable=1", uri=True)) as db:
        saved = {name for name, in db.execute("SELECT id FROM orders")}
    assert {order["id"] for order in orders.values()} <= saved
    Doctor(box).assert_names_the_disk_first()
    # What the backup is for: another machine.
    other = Box(card.other / str(uuid.uuid4()))
    other.command("restore", str(backup), "--yes", "--data", str(other.data))
    assert "sound" in other.command("verify", "--data", str(other.data)).stdout


class Watchdog:
    """systemd's socket, to which the server says that all its threads are alive."""

    def __init__(self, directory):
        self.path = directory / "notify"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(self.path))
        self.socket.settimeout(PATIENCE_S)

    def wait_for(self, beats):
        while beats > 0:
            beats -= b"WATCHDOG=1" in self.socket.recv(4096)

    def forget(self):
        self.socket.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                self.socket.recv(4096)
        self.socket.settimeout(PATIENCE_S)


def sandbox_client(box):
    one = box.client(box.sandbox_key)
    one.port = int(box.options[1].rsplit(":", 1)[1])
    return one


def sell_and_practise(box, key):
    """Starts the box; ({Idempotency-Key: order}, an order of the sandbox)"""
    box.sandbox_key = box.make_key(env="test")["key"]
    box.start()
    with contextlib.closing(box.client(key)) as client, contextlib.closing(sandbox_client(box)) as sandbox:
        references = [str(uuid.uuid4()) for _ in range(3)]
        return {reference: place(client, reference).data for reference in references}, place(sandbox, "practice").data


def test_a_card_that_wears_out_while_the_box_is_idle(card, box, key):
    watchdog = Watchdog(card.directory)
    box.env = {"NOTIFY_SOCKET": str(watchdog.path)}
    orders, practice = sell_and_practise(box, key)
    with contextlib.closing(box.client(key)) as client, contextlib.closing(sandbox_client(box)) as sandbox:
        assert is_ready(client)

        card.wear_out()
        wait_until(lambda: says_read_only(client), lambda: client.get("/readyz").body)  # no write came
        reads_and_refuses(box, client, orders)
        refused(place(sandbox, "another"))
        assert sandbox.get(f"/v1/orders/{practice['id']}").data == practice
        watchdog.forget()
        watchdog.wait_for(3)
        commands_tell_the_truth(box, card, orders)
        assert says_read_only(client)
    assert box.log_text().count("the disk is read-only") <= 4, "it is said once of each database"
    assert box.stop() == 0
    box.env = None
    card.restart_of_the_machine()
    goes_on(box, key, orders)


def goes_on(box, key, orders):
    """After a repair."""
    if box.process.poll() is not None:
        box.start()
    with contextlib.closing(box.client(key)) as client:
        wait_until(lambda: is_ready(client), lambda: client.get("/readyz").body)
        for order in orders.values():
            assert client.get(f"/v1/orders/{order['id']}").data == order
        assert place(client, str(uuid.uuid4())).status == 201
        assert box.make_key(name="through the socket")["key"]
        total = client.get("/v1/orders?per_page=1").json["pagination"]["total"]
        assert total == len(orders) + 1
    assert box.stop() == 0
    assert "sound" in box.command("verify", "--data", str(box.data)).stdout


def test_a_card_that_wears_out_while_tills_write(card, box, key):
    box.start()
    acknowledged, lock = {}, threading.Lock()
    is_worn = threading.Event()

    def till():
        refusals = 0
        with contextlib.closing(box.client(key)) as client:
            begin = time.monotonic()
            while refusals < 3 and time.monotonic() - begin < PATIENCE_S:
                reference = str(uuid.uuid4())
                answer = place(client, reference)
                if answer.status == 503:
                    refused(answer)
                    refusals += 1
                    continue
                assert answer.status == 201, answer.body
                with lock:
                    acknowledged[reference] = answer.data
                    if len(acknowledged) == GUESTS:
                        is_worn.set()
        assert refusals == 3

    with concurrent.futures.ThreadPoolExecutor(TILLS) as pool:
        tills = [pool.submit(till) for _ in range(TILLS)]
        assert is_worn.wait(PATIENCE_S)
        card.wear_out()
        for one in tills:
            one.result()
    with contextlib.closing(box.client(key)) as client:
        wait_until(lambda: says_read_only(client), lambda: client.get("/readyz").body)
        reads_and_refuses(box, client, acknowledged)
    # The process ends: what a new one finds on the worn card.
    box.kill()
    box.start()
    with contextlib.closing(box.client(key)) as client:
        assert says_read_only(client), client.get("/readyz").body
        for order in acknowledged.values():
            assert client.get(f"/v1/orders/{order['id']}").data == order
    assert box.stop() == 0
    card.restart_of_the_machine()
    box.start()
    with contextlib.closing(box.client(key)) as client:
        for order in acknowledged.values():
            assert client.get(f"/v1/orders/{order['id']}").data == order
        assert place(client, str(uuid.uuid4())).status == 201
    assert box.stop() == 0


def in_the_file_alone(box, name="live.db"):
    """The orders that a reader finds who does not look into the log."""
    with contextlib.closing(sqlite3.connect(f"file:{box.data / name}?mode=ro&immutable=1", uri=True)) as db:
        return {name for name, in db.execute("SELECT id FROM orders")}


def test_a_start_on_a_read_only_disk_shows_what_is_only_in_the_log(card, box, key):
    orders, practice = sell_and_practise(box, key)
    box.kill()
    assert not {order["id"] for order in orders.values()} & in_the_file_alone(box), "the log has them all"
    assert practice["id"] not in in_the_file_alone(box, "test.db")
    card.remount("ro")
    commands_tell_the_truth(box, card, orders)  # with no server

    box.start()
    with contextlib.closing(box.client(key)) as client, contextlib.closing(sandbox_client(box)) as sandbox:
        assert says_read_only(client), client.get("/readyz").body
        reads_and_refuses(box, client, orders)
        assert sandbox.get(f"/v1/orders/{practice['id']}").data == practice
        refused(place(sandbox, "another"))
        commands_tell_the_truth(box, card, orders)  # beside a server without a control socket
        other = Box(box.data)
        second = other.command("serve", "--data", str(box.data), "--listen", f"127.0.0.1:{free_port()}", check=False)
        assert second.returncode != 0 and "serves" in second.stderr + second.stdout, second

        # Writes go on by themselves; so does what the start has left out.
        card.remount("rw")
        wait_until(lambda: is_ready(client), lambda: client.get("/readyz").body)
        assert place(sandbox, "another").status == 201
    wait_until(lambda: (box.data / "control-test.sock").exists() and (box.data / "ballast").exists(),
               lambda: list(box.data.iterdir()))
    goes_on(box, key, orders)


def test_a_start_on_a_read_only_disk_without_a_log(card, box, key):
    box.start()
    with contextlib.closing(box.client(key)) as client:
        orders = {"first": place(client, "first").data}
    assert box.stop() == 0
    assert not (box.data / "live.db-wal").exists()
    card.remount("ro")
    files = sorted(box.data.rglob("*"))
    box.start()
    with contextlib.closing(box.client(key)) as client:
        assert says_read_only(client)
        reads_and_refuses(box, client, orders)
    assert box.stop() == 0
    assert sorted(box.data.rglob("*")) == files
    card.remount("rw")
    goes_on(box, key, orders)


def test_what_is_sent_to_others_rests_on_a_read_only_disk(card, box, key):
    box.options += LOOPBACK
    with Receiver(hangs) as receiver:
        box.start()
        with contextlib.closing(box.client(key)) as client:
            assert client.post("/v1/webhooks", {"webhook_url": receiver.url}).status == 201
            orders = {"first": place(client, "first").data}
            receiver.wait_for(1)
        box.kill()  # the message is under way, and would be sent again at once
        card.remount("ro")
        receiver.answer = answers()
        before = len(receiver.requests)
        box.start()
        with contextlib.closing(box.client(key)) as client:
            assert says_read_only(client)
            passes = metric(client, "comanda_worker_passes_total", "webhooks")
            wait_until(lambda: metric(client, "comanda_worker_passes_total", "webhooks") > passes + 1,
                       lambda: "the worker looks now and then")
            assert len(receiver.requests) == before, "how far it has come cannot be kept"
        card.remount("rw")
        wait_until(lambda: len(receiver.requests) > before, lambda: box.log_text()[-2000:])
        goes_on(box, key, orders)


def metric(client, name, worker):
    lines = client.get("/metrics").body.decode().splitlines()
    return next(float(line.split()[-1]) for line in lines if line.startswith(f'{name}{{worker="{worker}"}}'))
