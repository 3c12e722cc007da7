"""What kitchen displays cost: the tills that work beside 30 of them, the server, the network and the disk. Displays and tills are
processes of their own."""

import contextlib
import gzip
import json
import os
import statistics
import subprocess
import threading
import time
import uuid

from serving import InAProcess, Server, elsewhere
from support.orders import three_items
from support.quick_client import QuickClient
from table import Row
from webhooks import percentile

DISPLAYS, TILLS, WRITES_PER_SECOND = 30, 15, 30
BEGUN_S = 1
MEDIAN_RATIO_MAX, ADDED_P99_MS_MAX, CORES_MAX, CORES_OF_EVENTS_MAX = 1.05, 10, 0.10, 0.12
BYTES_RATIO_MAX, MEMORY_MIB_MAX, WRITTEN_RATIO_MAX = 0.5, 6, 1.2
LIVES, IDLE_S = {True: 10, False: 100}, {True: 1, False: 12}  # in brief or not
CHANGES, EVENTS = "/v1/kitchen/changes", "/v1/events"


class Sales:
    """Tills that sell to the kitchen, at a steady pace in all: an order, its three dishes, ready, finished."""

    def __init__(self, server):
        self.server, self.times_ms = server, []
        self.items = json.dumps({"combos": three_items(server.box)})

    def times_while(self, goes_on):
        threads = [threading.Thread(target=self.sell, args=(goes_on, number)) for number in range(TILLS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return self.times_ms

    def sell(self, goes_on, number):
        pause = TILLS / WRITES_PER_SECOND
        with contextlib.closing(QuickClient(self.server.box)) as client:
            client.send(self.server.key, "GET", "/v1/orders?per_page=1")  # no handshake is measured
            due = time.monotonic() + pause * number / TILLS
            steps = []
            while goes_on():
                time.sleep(max(0, due - time.monotonic()))
                due += pause
                method, path, body = steps.pop(0) if steps else ("POST", "/v1/orders", '{"service_type": "ONSITE"}')
                begin = time.perf_counter()
                answer = client.send(self.server.key, method, path, body, str(uuid.uuid4()))
                self.times_ms.append((time.perf_counter() - begin) * 1000)
                assert answer.status in (200, 201), (path, answer.status, answer.body)
                if path == "/v1/orders":
                    at = path + "/" + answer.json["data"]["id"]
                    steps = [("POST", at + "/combos", self.items), ("PATCH", at + "/status", '{"status": "READY"}'),
                             ("PATCH", at + "/status", '{"status": "FINALIZED"}')]


class Displays:
    """They follow the changes of the kitchen, or the events."""

    def __init__(self, server, key, path):
        self.server, self.key, self.path, self.answers = server, key, path, 0  # a second

    def follow_while(self, goes_on):
        elsewhere([os.getpid()])
        begin = time.monotonic()
        threads = [threading.Thread(target=self.follow, args=(goes_on, number)) for number in range(DISPLAYS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return self.answers / (time.monotonic() - begin)

    def follow(self, goes_on, number):
        with contextlib.closing(Follower(self.server.box, self.key, self.path, number)) as follower:
            while goes_on():
                follower.poll("wait=2")  # the end of the round is not to be waited for
                self.answers += 1


class Follower:
    """One display, and the bytes that came to it, packed: those of the bodies, and of the heads."""

    def __init__(self, box, key, path, number=0):
        self.client, self.key, self.bytes, self.heads = QuickClient(box), key, 0, 0
        self.path = path + (f"?display=d{number}&after=" if path == CHANGES else "?after=")
        self.after = self.client.send(key, "GET", "/v1/kitchen/tickets?per_page=1").headers["x-event-cursor"]

    def poll(self, prefer):
        answer = self.client.send(self.key, "GET", self.path + self.after, Prefer=prefer, Accept_Encoding="gzip")
        assert answer.status == 200, (answer.status, answer.body)
        self.bytes += len(answer.body)
        self.heads += sum(len(name) + len(value) + 4 for name, value in answer.headers.items())
        is_packed = answer.headers.get("content-encoding") == "gzip"
        self.after = json.loads(gzip.decompress(answer.body) if is_packed else answer.body)["next"]

    def close(self):
        self.client.close()


def displays(bench):
    beside = f"kitchen, tills' median beside {DISPLAYS} displays of none"
    added = f"kitchen, ms added to the tills' p99 by {DISPLAYS} displays"
    cores = f"kitchen, cores of the server with {DISPLAYS} displays"
    of_events = f"kitchen, cores of the server where they follow {EVENTS}"
    if not bench.wanted(beside, added, cores, of_events):
        return
    server = Server(bench.stack, bench.parent / "kitchen", bench.programs[0].binary, options=["--sandbox-listen", ""])
    seconds = 2 if bench.brief else 5 * bench.seconds
    kinds = [None, CHANGES, EVENTS]
    times, used, answers = {kind: [] for kind in kinds}, {kind: [] for kind in kinds}, {}

    def measure(kind):
        with contextlib.ExitStack() as stack:
            if kind:
                following = stack.enter_context(InAProcess(Displays(server, server.key, kind).follow_while))
                time.sleep(BEGUN_S)
            with InAProcess(Sales(server).times_while) as till:
                time.sleep(BEGUN_S / 2)
                before, begin = server.box.cpu_seconds(), time.monotonic()
                time.sleep(seconds)
                used[kind].append((server.box.cpu_seconds() - before) / (time.monotonic() - begin))
            times[kind] += till.result
        if kind:
            answers[kind] = following.result

    measure(None)  # also what the first orders need
    for each in (times, used):
        each[None].clear()
    for number in range(bench.rounds):
        for kind in kinds if number % 2 == 0 else kinds[::-1]:
            measure(kind)
    none, some = times[None], times[CHANGES]
    ratio = statistics.median(some) / statistics.median(none)
    more = percentile(some, 99) - percentile(none, 99)
    note = f"{WRITES_PER_SECOND} writes a second, {answers[CHANGES]:.0f} answers to displays a second"
    bench.add(Row(beside, f"<= {MEDIAN_RATIO_MAX}", ratio, ceiling=f"{statistics.median(none):.1f} ms",
                  met=ratio <= MEDIAN_RATIO_MAX, note=note),
              Row(added, f"<= {ADDED_P99_MS_MAX}", max(0.0, more), ceiling=f"{percentile(none, 99):.1f} ms",
                  met=more <= ADDED_P99_MS_MAX))
    alone = statistics.median(used[None])
    for what, kind, most in ((cores, CHANGES, CORES_MAX), (of_events, EVENTS, CORES_OF_EVENTS_MAX)):
        value = statistics.median(used[kind])
        bench.add(Row(what, f"<= {most}", value, ceiling=f"{alone:.2f}", met=value <= most,
                      note=f"{value - alone:.2f} more than without displays, {answers[kind]:.0f} answers to them a second"))

def memory(bench):
    """Of two servers that took as many orders, one of them beside displays."""
    what = f"kitchen, MiB that {DISPLAYS} displays take"
    if not bench.wanted(what):
        return
    differences = []
    for number in range(bench.rounds):
        none, some = (resident_mb(bench, f"memory-{number}-{has_displays}", has_displays) for has_displays in (False, True))
        differences.append((some - none) * 1e6 / 2**20)
    mib = statistics.median(differences)
    bench.add(Row(what, f"<= {MEMORY_MIB_MAX}", mib, met=mib <= MEMORY_MIB_MAX,
                  note=f"{min(differences):.1f} to {max(differences):.1f}, of {none:.0f} MB"))


def resident_mb(bench, name, has_displays):
    server = Server(bench.stack, bench.parent / name, bench.programs[0].binary, options=["--sandbox-listen", ""])
    with contextlib.ExitStack() as stack:
        if has_displays:
            stack.enter_context(InAProcess(Displays(server, server.key, CHANGES).follow_while))
            time.sleep(BEGUN_S)
        with InAProcess(Sales(server).times_while):
            time.sleep(2 if bench.brief else 10)
            resident = server.resident_mb()
    server.box.stop()
    return resident


def traffic(bench):
    """What a display that hears of each write at once is sent."""
    what = f"kitchen, bytes to a display of those of {EVENTS}"
    if not bench.wanted(what):
        return
    server = Server(bench.stack, bench.parent / "kitchen-bytes", bench.programs[0].binary)
    followers = [Follower(server.box, server.key, path) for path in (CHANGES, EVENTS)]
    with server.client() as client:
        def heard(order):
            for follower in followers:
                follower.poll("wait=0")
            return order
        for _ in range(LIVES[bench.brief]):
            order = heard(client.add(client.place(), *three_items(server.box)))
            for line in order["combos"][:2]:
                heard(mark(client, order, [line["id"]]))
            heard(mark(client, order, [order["combos"][2]["id"]]))
            heard(client.pay(order, order["pending_amount"]))
            heard(client.advance(order, "FINALIZED"))
    (one, other), lives = (follower.bytes for follower in followers), LIVES[bench.brief]
    for follower in followers:
        follower.close()
    bench.add(Row(what, f"<= {BYTES_RATIO_MAX}", one / other, met=one <= BYTES_RATIO_MAX * other,
                  note=f"{one / lives:,.0f} and {other / lives:,.0f} bytes for an order's life, and "
                       f"{followers[0].heads / lives:,.0f} and {followers[1].heads / lives:,.0f} of heads"))


def mark(client, order, lines):
    answer = client.post(f"/v1/kitchen/tickets/{order['id']}/done", {"line_ids": lines})
    assert answer.status == 200, (answer.status, answer.body)
    return answer.data


def written(bench):
    """An order's life on the disk with two bumps of the kitchen, of one whose statuses a till moves; and nothing where nothing
    is sold and no display is there."""
    what, idle = "kitchen, written for a life with two bumps of one without", "kitchen, bytes written while nothing happens"
    if not bench.wanted(what, idle):
        return
    kind = subprocess.run(["stat", "-f", "-c", "%T", bench.parent], capture_output=True, text=True).stdout.strip()
    lives = [written_by(bench, number) for number in range(2)]
    if kind in ("tmpfs", "ramfs") or None in lives[0]:
        bench.add(Row(what, f"<= {WRITTEN_RATIO_MAX}", None, note=f"not measured: needs root and a disk, {bench.parent} is {kind}"))
        return
    plain, bumped = (statistics.fmean(each) for each in zip(*lives))
    bench.add(Row(what, f"<= {WRITTEN_RATIO_MAX}", bumped / plain, met=bumped <= WRITTEN_RATIO_MAX * plain,
                  note=f"{bumped:.0f} and {plain:.0f} KB, on {kind}"))
    server = Server(bench.stack, bench.parent / "idle", bench.programs[0].binary)
    with server.client() as client:
        client.sell(*three_items(server.box))
    time.sleep(5 if bench.brief else 20)  # what is still to be copied from the log
    before = server.written_bytes()
    time.sleep(IDLE_S[bench.brief])
    quiet = server.written_bytes() - before
    bench.add(Row(idle, "0", quiet, met=quiet == 0, note=f"in {IDLE_S[bench.brief]} s"))


def written_by(bench, number):
    """KB of a life without and with bumps."""
    found = []
    for is_bumped in (False, True) if number % 2 == 0 else (True, False):
        server = Server(bench.stack, bench.parent / f"bumps-{number}-{is_bumped}", bench.programs[0].binary)
        items = three_items(server.box)
        with server.client() as client:
            life(client, items, is_bumped)
            before = server.written_bytes()
            for _ in range(2 * LIVES[bench.brief]):
                life(client, items, is_bumped)
            after = server.written_bytes()
        found.append(None if before is None else (after - before) / 1000 / 2 / LIVES[bench.brief])
    return found if number % 2 == 0 else found[::-1]


def life(client, items, is_bumped):
    order = client.place(comment="sin cebolla")
    for item in items:
        order = client.add(order, item)
    lines = [line["id"] for line in order["combos"]]
    if is_bumped:
        mark(client, order, lines[:1])
        mark(client, order, lines[1:])
    else:
        client.advance(order, "PREPARING")
        client.advance(order, "READY")
    client.pay(order, order["pending_amount"])
    client.advance(order, "DELIVERED")
