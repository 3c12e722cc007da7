"""A head office beside a box: comanda-head on PostgreSQL against comanda on SQLite, on the same disk, in turns. A ratio is what
comanda-head does of what comanda does in the same time; one of milliseconds is that of the times, turned over."""

import contextlib
import os
import statistics
import time
import uuid

from serving import check, load, of_process
from support import postgresql
from support.box import PROGRAMS, Box
from support.orders import item, path
from table import Row

ENGINES = ("postgresql", "sqlite")
KEYS, TILLS, POLLERS = 4, 64, 8
SIZES = {True: (100, 1_000), False: (100, 10_000, 100_000)}  # orders; in brief or not
READS = {True: 10, False: 60}
PAGE = "/v1/orders?per_page=50&sort=-created_at"
CREATES_MIN, GROWTH, LIST_MIN, ORDER_MIN, POLL_MIN, MEMORY_MAX = 0.12, 0.2, 0.4, 0.5, 0.9, 1.2


class Office:
    """A box of one of the engines, and what was measured of it."""

    def __init__(self, stack, bench, engine):
        self.seconds = bench.seconds
        self.box = Box(bench.parent / engine, ["--sandbox-listen", ""], engine=engine)
        stack.callback(self.box.databases.drop)
        self.box.command("import", "demo", "--data", str(self.box.data))
        self.keys = [self.box.make_key(name=f"till {n}")["key"] for n in range(KEYS)]
        self.box.start()
        stack.callback(self.box.stop)
        self.client = stack.enter_context(contextlib.closing(self.box.client(self.keys[0])))

    def orders(self):
        return check(self.client, "/v1/orders?per_page=1", 200).json["pagination"]["total"]

    def create(self, seconds=None):
        """A second, over 64 connections with four keys."""
        return load(self.box, "/v1/orders", seconds or self.seconds, TILLS, "head_create.lua",
                    words=[uuid.uuid4(), *self.keys]).per_second

    def fill(self, count):
        """As many orders, at least."""
        while (left := count - self.orders()) > 0:
            self.create(min(20, max(1, left / 2_000)))

    def timed(self, where):
        begin = time.perf_counter()
        check(self.client, where, 200)
        return (time.perf_counter() - begin) * 1_000

    def list(self):
        self.client.place()
        return self.timed(PAGE)

    def order(self):
        order = self.client.add(self.client.place(), item())
        return self.timed(path(order))

    def poll(self):
        tag = check(self.client, PAGE, 200).etag
        headers = [("Authorization", "Bearer " + self.keys[0]), ("If-None-Match", tag)]
        return load(self.box, PAGE, self.seconds, POLLERS, headers=headers).per_second

    def memory_mb(self):
        return of_process(self.box, "status", "VmRSS:") * 1024 / 1e6


def in_turns(rounds, offices, measure):
    """Of each round what each office does, to and fro."""
    samples = []
    for number in range(rounds):
        order = offices if number % 2 else offices[::-1]
        found = {office: measure(office) for office in order}
        samples.append([found[office] for office in offices])
    return samples


def add(bench, what, samples, least, turned=False):
    ratio = statistics.median((one / two) ** (-1 if turned else 1) for one, two in samples)
    head, box = (statistics.median(of_one) for of_one in zip(*samples))
    bench.add(Row(what, f">= {least} of SQLite", head, ceiling=f"{box:.2f}" if box < 10 else f"{box:.0f}", met=ratio >= least,
                  note=f"{ratio:.2f} of SQLite's", detail={"ratio": ratio}))
    return head


def rates(bench):
    """The ceiling is SQLite's figure."""
    if not bench.wanted("head office") or not PROGRAMS["postgresql"].exists():
        return
    server = postgresql.Server()
    bench.stack.callback(server.close)
    os.environ[postgresql.ADDRESS] = server.directory
    offices = [Office(bench.stack, bench, engine) for engine in ENGINES]
    by_size = []
    for size in SIZES[bench.brief]:
        for office in offices:
            office.fill(size)
        samples = in_turns(bench.rounds, offices, Office.create)
        by_size.append(add(bench, f"head office, creates/s at {size:,} orders", samples, CREATES_MIN))
    least, most = min(by_size) / by_size[0], max(by_size) / by_size[0]
    bench.add(Row("head office, creates/s by size", f"1 +- {GROWTH}", least, met=1 - GROWTH <= least and most <= 1 + GROWTH,
                  note=f"{least:.2f} to {most:.2f} of those at the beginning"))
    for office in offices:
        office.list(), office.order()
    for what, measure, least in (("list of 50 after a write, ms", Office.list, LIST_MIN),
                                 ("one order after a change, ms", Office.order, ORDER_MIN)):
        add(bench, f"head office, {what}", in_turns(READS[bench.brief], offices, measure), least, turned=True)
    add(bench, "head office, unchanged polls/s", in_turns(bench.rounds, offices, Office.poll), POLL_MIN)
    head, box = (office.memory_mb() for office in offices)
    bench.add(Row("head office, resident, MB", f"<= {MEMORY_MAX} of SQLite", head, ceiling=f"{box:.0f}",
                  met=head <= MEMORY_MAX * box, note=f"{head / box:.2f} of SQLite's"))
