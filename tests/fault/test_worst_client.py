"""One client does its worst within the caps: memory stays bounded, and beside it displays and tills go on."""

import contextlib
import json
import pathlib
import re
import subprocess
import sys
import threading
import time
import uuid

from support import worst_client
from support.box import LONG, PATIENCE_S, Box

SECONDS = 60 if LONG else 12
DISPLAYS, TILLS = 12, 20
MEMORY_BYTES_MAX = 200 << 20
SLOW_S = 1


class Worker(threading.Thread):
    """Asks from an address of its own until it is told to stop; remembers how long it waited and what it was answered."""

    def __init__(self, box, key, number, pause_s):
        super().__init__(daemon=True)
        self.client, self.number, self.pause_s = box.client(key), number, pause_s
        self.end, self.waits_s, self.failures = threading.Event(), [], []

    def run(self):
        with contextlib.closing(self.client):
            while not self.end.is_set():
                try:
                    self.work()
                except OSError as error:
                    self.failures.append(repr(error))
                    self.client.close()
                self.end.wait(self.pause_s)

    def ask(self, expected, *words):
        begin = time.monotonic()
        answer = self.client.send(*words)
        self.waits_s.append(time.monotonic() - begin)
        if answer.status not in expected:
            self.failures.append((words[:2], answer.status, answer.body[:300]))
        return answer


class Display(Worker):
    """Shows what is being prepared, as soon as it changes."""
    tag = '"none"'

    def work(self):
        answer = self.ask((200, 304), "GET", "/v1/orders?filter[status]=PREPARING&per_page=20", None, {"If-None-Match": self.tag})
        self.tag = answer.headers.get("etag", self.tag)


class Till(Worker):
    def write(self, expected, method, path, body):
        answer = self.ask((expected,), method, path, body, {"Idempotency-Key": str(uuid.uuid4())})
        self.end.wait(self.pause_s)
        return answer

    def work(self):
        opened = self.write(201, "POST", "/v1/orders", {"service_type": "ONSITE"})
        if opened.status != 201:
            return
        path = "/v1/orders/" + opened.data["id"]
        self.write(200, "POST", path + "/combos", {"combos": [{"product_name": "Jalea", "quantity": 2, "variant_price": 24.5}]})
        self.write(200, "PATCH", path + "/status", {"status": "PREPARING"})
        self.write(200, "POST", path + "/payments", {"payment_method_code": "cash", "amount": 49})
        self.write(200, "PATCH", path + "/status", {"status": "FINALIZED"})


def memory(box):
    status = pathlib.Path(f"/proc/{box.process.pid}/status").read_text()
    return int(re.search(r"^RssAnon:\s+(\d+) kB", status, re.M)[1]) * 1024


@contextlib.contextmanager
def at_work(workers):
    for worker in workers:
        worker.start()
    try:
        yield
    finally:
        for worker in workers:
            worker.end.set()
        for worker in workers:
            worker.join(PATIENCE_S * 2)
            assert not worker.is_alive(), "a request hangs"


def story(workers):
    waits = sorted(wait for worker in workers for wait in worker.waits_s)
    slow = sum(wait > SLOW_S for wait in waits)
    return f"{len(waits)} requests, longest {waits[-1]:.2f} s, median {waits[len(waits) // 2] * 1000:.0f} ms, {slow} above {SLOW_S} s"


def judge(box, peak, workers):
    for worker in workers:
        assert not worker.failures, worker.failures[:3]
    assert peak < MEMORY_BYTES_MAX
    assert box.stop() == 0


def test_one_client_at_its_worst_takes_no_memory_and_hinders_nobody(capsys):
    box = Box(options=["--sandbox-listen", ""])
    box.bring_in("demo")
    worst = box.make_key(scopes="orders:read,orders:write", name="worst")["key"]
    key = box.make_key()["key"]
    box.start()
    try:
        displays = [Display(box, key, number, 0.25) for number in range(DISPLAYS)]
        tills = [Till(box, key, number, 0.2) for number in range(TILLS)]
        with at_work(displays + tills):
            process = subprocess.Popen(
                [sys.executable, worst_client.__file__, "--port", str(box.port), "--key", worst, "--seconds", str(SECONDS)],
                stdout=subprocess.PIPE, text=True)
            peak, begin = 0, time.monotonic()
            while process.poll() is None:
                assert box.process.poll() is None, box.log_text()[-3000:]
                peak = max(peak, memory(box))
                assert time.monotonic() - begin < SECONDS + PATIENCE_S * 4
                time.sleep(0.05)
            done = json.loads(process.stdout.read())
        with capsys.disabled():
            print(f"\n{SECONDS} s; memory at most {peak >> 20} MiB; displays: {story(displays)}; tills: {story(tills)}; "
                  f"the client: {done}")
        assert done["orders"] > 2 and done["unread"] > 10, done
        judge(box, peak, displays + tills)
    finally:
        box.kill_if_running()
        box.discard()


# The largest body whose tree is the largest: 350,000 empty lists.
LISTS = b'{"combos":[' + b",".join([b"[]"] * 349_000) + b"]}"
HOSTILE = 64


class HostileTill(Worker):
    """Sends the largest tree that a body may hold, again and again."""

    def work(self):
        for method, path in (("POST", "/v1/orders"), ("PUT", "/v1/menu/products")):
            self.ask((422, 429, 503), method, path, LISTS,
                     {"Idempotency-Key": str(uuid.uuid4()), "Content-Type": "application/json"})


def test_bodies_of_hostile_tills_take_no_memory_and_hinder_nobody(capsys):
    assert len(LISTS) < 1 << 20
    box = Box(options=["--sandbox-listen", "", "--workers", str(HOSTILE + 40)])
    box.bring_in("demo")
    key = box.make_key()["key"]
    box.start()
    try:
        hostile = [HostileTill(box, box.make_key(name=f"till {number}")["key"], number, 0) for number in range(HOSTILE)]
        tills = [Till(box, key, number, 0.2) for number in range(4)]
        with at_work(hostile + tills):
            peak, begin = 0, time.monotonic()
            while time.monotonic() - begin < SECONDS:
                assert box.process.poll() is None, box.log_text()[-3000:]
                peak = max(peak, memory(box))
                time.sleep(0.02)
        with capsys.disabled():
            print(f"\n{SECONDS} s; memory at most {peak >> 20} MiB; tills: {story(tills)}; hostile: {story(hostile)}")
        judge(box, peak, tills)
    finally:
        box.kill_if_running()
        box.discard()
