"""A till's longest wait beside each job in the background, on files of few and of many orders.

The waits of a disk count for it: beside the tills a loop writes a little and syncs it, at the pace of their orders, and its
longest sync is taken from their longest wait.
"""

import concurrent.futures
import contextlib
import os
import shutil
import statistics
import subprocess
import threading
import time
import uuid

from ageing import DAY_S, HOUR_S, AheadBox
from large import large_database
from serving import InAProcess
from support.box import Box
from table import Row
from webhooks import PER_SECOND, Tills, percentile

ORDERS = {True: (200, 2_000), False: (1_000, 300_000)}  # in brief or not
WAIT_MAX_MS = 30
START_MAX_MS = 60
PRODUCTS = 500
SETTLED_S = 3
PURGE_S = 65  # it works once a minute
PRIORITY = ["chrt", "--idle", "0", "ionice", "-c", "idle", "nice", "-n", "19"]  # that of comanda-backup.service


class Shop:
    """A copy of a large database, served."""

    def __init__(self, bench, orders):
        self.binary = binary = bench.programs[0].binary
        self.data, self.orders = bench.parent / f"orders-{orders}", orders
        shutil.copytree(large_database(binary, orders), self.data)
        self.key = (self.data / "key").read_text()
        self.box = Box(self.data, ["--sandbox-listen", ""], binary)
        self.box.start()
        bench.stack.callback(self.stop)

    def stop(self):
        if self.box.process:
            if isinstance(self.box, AheadBox):
                self.box.memory.close()
            self.box.stop()

    def a_week_later(self):
        """Starts as if more than a week had passed (ageing.py): the purge has a part to delete in each minute, for a while."""
        if isinstance(self.box, AheadBox):
            return
        for ahead_s in (2 * HOUR_S, 8 * DAY_S):
            self.stop()
            self.box = AheadBox(self.data, self.binary, ahead_s, ["--sandbox-listen", ""])
            self.box.start()
            time.sleep(SETTLED_S)

    def again(self):
        """Starts anew: the check at the start begins."""
        self.box.stop()
        self.box.start()

    def again_and_again(self, command, most):
        """A command that is run until the end. `most`: its highest exit code; it finds the gaps that large.py leaves between
        events, once it has looked at them."""
        def work(ended):
            while not ended.is_set():
                done = subprocess.run([str(self.binary), command, "--data", str(self.data)], capture_output=True, text=True)
                assert done.returncode <= most, done
        return work


def jobs(bench, shop):
    """(name, what is done before, what is done meanwhile until its argument is set, how long at least in s)"""
    binary, data = shop.binary, shop.data
    targets = (bench.parent / f"backup-{shop.orders}-{n}" for n in range(10**6))

    def back_up(ended):
        while not ended.is_set():
            target = next(targets)
            done = subprocess.run([*PRIORITY, str(binary), "backup", str(target), "--plain", "--data", str(data)],
                                  capture_output=True, text=True)
            assert done.returncode in (0, 1), done
            shutil.rmtree(target)

    return (("nothing", None, None, 0),
            ("the check after a start", shop.again, None, 0),
            ("backups", None, back_up, 0),
            ("verify", None, shop.again_and_again("verify", most=1), 0),
            ("doctor", None, shop.again_and_again("doctor", most=2), 0),
            ("the purge", shop.a_week_later, None, PURGE_S))


def starts(bench):
    what = "housekeeping, a start of an empty box, CPU ms"
    if not bench.wanted(what):
        return
    taken_ms = []
    for number in range(bench.rounds):
        box = Box(bench.parent / f"empty-{number}", binary=bench.programs[0].binary)
        box.bring_in("demo")
        for _ in range(2):  # the first makes the certificates
            box.start()
            taken_ms.append(box.cpu_seconds() * 1000)
            box.stop()
        del taken_ms[-2]
    cpu_ms = statistics.median(taken_ms)
    bench.add(Row(what, f"<= {START_MAX_MS}", cpu_ms, met=cpu_ms <= START_MAX_MS, detail={"ms": taken_ms}))


def tills(bench):
    what = "housekeeping, a till's longest wait, ms beyond a sync"
    upsert = "housekeeping, a till's longest wait beside an upsert of 500 of the upsert's time"
    if not bench.wanted(what, upsert):
        return
    seconds = 2 if bench.brief else 5 * bench.seconds
    for orders in ORDERS[bench.brief]:
        shop = Shop(bench, orders)
        time.sleep(0 if bench.brief else SETTLED_S)
        if bench.wanted(upsert):
            bench.add(beside_an_upsert(bench, f"{upsert}, {orders:,} orders", shop))
        for name, before, work, seconds_min in jobs(bench, shop):
            row = f"{what}, {orders:,} orders, {name}"
            if bench.wanted(row):
                bench.add(longest_wait(bench, row, shop, before, work, seconds if bench.brief else max(seconds, seconds_min)))
        shop.stop()
        shutil.rmtree(shop.data)


def longest_wait(bench, what, shop, before, work, seconds):
    """The median of the rounds' longest waits."""
    rounds = []
    for _ in range(bench.rounds):
        if before:
            before()
        ended = threading.Event()
        with concurrent.futures.ThreadPoolExecutor() as beside:
            with InAProcess(Tills(shop).times_while) as till, InAProcess(Syncs(shop.data).times_while) as syncs:
                worker = beside.submit(work, ended) if work else None
                time.sleep(seconds)
                ended.set()
        if worker:
            worker.result()
        rounds.append((till.result, syncs.result))
    beyond = statistics.median(max(0, max(waits) - max(syncs)) for waits, syncs in rounds)
    longest, longest_sync = (statistics.median(max(times) for times in of_one) for of_one in zip(*rounds))
    p99 = statistics.median(percentile(waits, 99) for waits, _ in rounds)
    bar = "" if work is None and before is None else f"<= {WAIT_MAX_MS}"
    return Row(what, bar, beyond, met=beyond <= WAIT_MAX_MS if bar else None,
               note=f"longest {longest:.1f} ms, p99 {p99:.1f} ms; longest sync {longest_sync:.1f} ms",
               detail={"longest_ms": [(max(waits), max(syncs)) for waits, syncs in rounds]})


class Syncs:
    """A little written and synced, as often as the tills commit."""

    def __init__(self, directory):
        self.path = directory / f"syncs-{uuid.uuid4()}"

    def times_while(self, goes_on):
        times = []
        file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            while goes_on():
                os.pwrite(file, os.urandom(4096), 4096 * (len(times) % 256))
                begin = time.perf_counter()
                os.fdatasync(file)
                times.append((time.perf_counter() - begin) * 1000)
                time.sleep(1 / PER_SECOND)
        finally:
            os.close(file)
            self.path.unlink()
        return times


def beside_an_upsert(bench, what, shop):
    """Each round changes the prices of all products."""
    shares = []
    for number in range(bench.rounds):
        with InAProcess(Tills(shop).times_while) as till:
            time.sleep(0.5)
            took_ms = upsert(shop, number)
            time.sleep(0.5)
        shares.append((max(till.result) / took_ms, took_ms, max(till.result)))
    share, took_ms, longest = (statistics.median(of_one) for of_one in zip(*shares))
    return Row(what, "<= 1", share, met=share <= 1, note=f"longest {longest:.1f} ms, the upsert {took_ms:.1f} ms",
               detail={"rounds": shares})


def upsert(shop, number):
    """Its time in ms."""
    rows = [{"sku": f"HOUSE-{n}", "name": f"Plato {n}", "category_name": f"Grande {n % 10}", "price": 10 + number}
            for n in range(PRODUCTS)]
    with contextlib.closing(shop.box.client(shop.key)) as client:
        begin = time.perf_counter()
        answer = client.put("/v1/menu/products", {"products": rows})
        took_ms = (time.perf_counter() - begin) * 1000
    assert answer.status == 200, (answer.status, answer.body[:500])
    return took_ms
