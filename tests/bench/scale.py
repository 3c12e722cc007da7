"""Many orders: scripts/bench --scale [--long] [--only lists|reports|ratios]. Reports only; speed decides nothing.

The server's CPU and times over HTTPS, on one connection, medians of a few runs with the server's answer cache
avoided. The plans of the statements that find the pages are looked at by tests/unit/orders_page_store_test.cc.
Then what reads and creates cost beside the same in a file of 1,000 orders, and how soon the server is ready.
"""

import argparse
import contextlib
import datetime
import json
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE))

from large import large_database  # noqa: E402
from support.box import BINARY, ROOT, Box  # noqa: E402

RESULT = ROOT / "build/scale.json"
RUNS = 5
PER_PAGE = 20
SLOW_MS = 10  # what "low milliseconds" must stay below
SLOW_REPORT_MS = 1000


def answering_threads(box):
    """Those that answer requests; another one checks the file meanwhile."""
    threads = []
    for task in pathlib.Path(f"/proc/{box.process.pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # some are there at the start alone
            if (task / "comm").read_text().startswith("civetweb-worker"):
                threads.append(task / "schedstat")
    return threads


def cpu_ms(threads):
    """From the scheduler, which counts nanoseconds."""
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e6


class Scale:
    def __init__(self, client, key_box, orders):
        self.client, self.box, self.orders = client, key_box, orders
        self.rows = []
        self.threads = answering_threads(key_box)

    def time(self, name, path, slow_ms):
        """Another page size each time, so that no answer is remembered."""
        times, costs, answer = [], [], None
        for run in range(RUNS):
            begin, before = time.perf_counter(), cpu_ms(self.threads)
            answer = self.client.get(path + ("&" if "?" in path else "?") + f"per_page={PER_PAGE + run}")
            times.append((time.perf_counter() - begin) * 1000)
            costs.append(cpu_ms(self.threads) - before)
            assert answer.status == 200, (path, answer.status, answer.body[:300])
        # The first run reads the pages of the file that nobody has read yet.
        self.rows.append({"name": name, "path": path, "first_ms": times[0], "ms": statistics.median(times[1:]),
                          "worst_ms": max(times[1:]), "cpu_ms": statistics.median(costs[1:]), "rows": len(answer.data),
                          "total": answer.json["pagination"]["total"], "slow_ms": slow_ms})
        row = self.rows[-1]
        print(f"{name:44} {row['cpu_ms']:8.2f} {row['ms']:8.2f} {row['worst_ms']:8.2f} {row['first_ms']:8.2f} {row['total']:9}"
              f"  {'' if row['cpu_ms'] < slow_ms else 'SLOW'}", flush=True)

    def list(self, name, query):
        self.time(name, "/v1/orders?filter[include]=none&" + query, SLOW_MS)

    def sorts(self):
        for field in ("created_at", "updated_at", "scheduled_delivery_date", "total", "order_number"):
            for sort in (field, "-" + field):
                for place, page in (("first", 1), ("middle", self.orders // 2 // PER_PAGE),
                                    ("deep", self.orders * 9 // 10 // (PER_PAGE + RUNS))):
                    self.list(f"{sort}, {place} page", f"sort={sort}&page={page}")

    def walks(self):
        snapshot = self.client.get("/v1/orders").headers["x-snapshot"]
        with contextlib.closing(self.box.database()) as db:
            newer = db.execute("SELECT created_seq FROM orders ORDER BY created_seq DESC LIMIT 1 OFFSET 1000").fetchone()[0]
        deep = self.orders * 9 // 10 // (PER_PAGE + RUNS)
        self.list("deep page of a walk", f"page={deep}&filter[snapshot]={snapshot}")
        self.list("deep page, 1000 orders since", f"page={deep}&filter[snapshot]={newer}")

    def filters(self):
        with contextlib.closing(self.box.database()) as db:
            found = db.execute("SELECT client_id, id, public_id, reference FROM orders WHERE client_id IS NOT NULL "
                               "ORDER BY created_at DESC LIMIT 1 OFFSET 500").fetchone()
            table = db.execute("SELECT table_id FROM orders WHERE table_id IS NOT NULL LIMIT 1").fetchone()[0]
        day = lambda days: (datetime.date.today() - datetime.timedelta(days)).isoformat()
        instant = lambda days: (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days)).strftime("%Y-%m-%dT%H:%M:%SZ")
        deep = self.orders // 2 // PER_PAGE
        self.list("status: few are open", "filter[status]=PENDING,PREPARING,READY,DELIVERED")
        self.list("status: few, sorted by total", "filter[status]=PENDING&sort=total")
        self.list("status: few, sorted by delivery", "filter[status]=PENDING&sort=scheduled_delivery_date")
        self.list("status: most", "filter[status]=FINALIZED")
        self.list("status: most, middle page", f"filter[status]=FINALIZED&page={deep}")
        self.list("status: most, sorted by delivery", "filter[status]=FINALIZED&sort=scheduled_delivery_date")
        self.list("status: most, by total, middle page", f"filter[status]=FINALIZED&sort=-total&page={deep}")
        self.list("status: most, by number, middle page", f"filter[status]=FINALIZED&sort=order_number&page={deep}")
        self.list("status: most, by update, middle page", f"filter[status]=FINALIZED&sort=updated_at&page={deep}")
        self.list("status: most, by delivery, middle page", f"filter[status]=FINALIZED&sort=scheduled_delivery_date&page={deep}")
        self.list("paid=false", "filter[paid]=false")
        self.list("source: rare", "filter[source]=RAPPI")
        self.list("source: most, middle page", f"filter[source]=API&page={deep}")
        self.list("service_type", "filter[service_type]=TABLE")
        self.list("service_type, deep page", f"filter[service_type]=TABLE&page={deep // 4}")
        self.list("delivery_status: rare", "filter[delivery_status]=NOT_DELIVERED")
        self.list("delivery_status: some", "filter[delivery_status]=DELIVERED")
        self.list("delivery_status: some, by total, deep", f"filter[delivery_status]=DELIVERED&sort=total&page={deep // 32}")
        self.list("delivery_status: some, by number, deep", f"filter[delivery_status]=DELIVERED&sort=-order_number&page={deep // 32}")
        self.list("delivery_status: some, by total", "filter[delivery_status]=DELIVERED&sort=total")
        self.list("client_id", f"filter[client_id]={found['client_id']}")
        self.list("table_id", f"filter[table_id]={table}")
        self.list("table_id, sorted by total", f"filter[table_id]={table}&sort=total")
        self.list("table_id, sorted by update", f"filter[table_id]={table}&sort=-updated_at")
        self.list("table_id, of one status, by number", f"filter[table_id]={table}&filter[status]=FINALIZED&sort=order_number")
        self.list("client_id, sorted by total", f"filter[client_id]={found['client_id']}&sort=total")
        self.list("reference", f"filter[reference]={found['reference']}")
        self.list("public_id", f"filter[public_id]={found['public_id']}")
        self.list("one day", f"filter[start_date]={day(40)}&filter[end_date]={day(40)}")
        self.list("a year", f"filter[start_date]={day(365)}&filter[end_date]={day(1)}")
        self.list("a year, sorted by total", f"filter[start_date]={day(365)}&filter[end_date]={day(1)}&sort=total")
        self.list("a year, sorted by total, middle page", f"filter[start_date]={day(365)}&filter[end_date]={day(1)}&sort=total&page=2000")
        self.list("a year, sorted by update", f"filter[start_date]={day(365)}&filter[end_date]={day(1)}&sort=-updated_at")
        self.list("a month, sorted by total", f"filter[start_date]={day(70)}&filter[end_date]={day(40)}&sort=-total")
        self.list("a month, sorted by update", f"filter[start_date]={day(70)}&filter[end_date]={day(40)}&sort=-updated_at")
        self.list("one day, sorted by total", f"filter[start_date]={day(40)}&filter[end_date]={day(40)}&sort=total")
        self.list("a year of one status, middle page",
                  f"filter[start_date]={day(365)}&filter[end_date]={day(1)}&filter[status]=FINALIZED&page=2000")
        self.list("updated_since: nothing", f"filter[updated_since]={instant(0)}")
        self.list("updated_since: a day", f"filter[updated_since]={instant(2)}")
        self.list("updated_since: a year", f"filter[updated_since]={instant(365)}")
        self.list("updated_since: a year, the oldest first", f"filter[updated_since]={instant(365)}&sort=created_at")
        self.list("updated_since: a year, by total", f"filter[updated_since]={instant(365)}&sort=total")
        self.list("updated_since: a day, of one status", f"filter[updated_since]={instant(2)}&filter[status]=FINALIZED")
        self.list("nothing: an unknown source", "filter[source]=NOBODY")

    def reports(self):
        first, last = ((datetime.date.today() - datetime.timedelta(days)).isoformat() for days in (366, 1))
        year = f"filter[start_date]={first}&filter[end_date]={last}"
        for name, path in (("by-payment-methods", "by-payment-methods?"), ("by-tips", "by-tips?"),
                           ("products-sold", "products-sold?"),
                           ("products-sold, with modifiers", "products-sold?filter[include]=products_modifiers&"),
                           ("products-sold, freehand", "products-sold?filter[include]=freehand&"),
                           ("products-sold, TABLE alone", "products-sold?filter[service_type]=TABLE&")):
            self.time("a year: " + name, f"/v1/orders/{path}{year}", SLOW_REPORT_MS)
        return f"/v1/orders/products-sold?filter[include]=products_modifiers&{year}"

    def writer(self, report, key):
        """How long a create takes alone, and while reports are read without a pause."""
        alone = self.creates()
        stop = threading.Event()

        def read():
            with contextlib.closing(self.box.client(key)) as client:
                while not stop.is_set():
                    assert client.get(report).status == 200

        reader = threading.Thread(target=read)
        reader.start()
        beside = self.creates()
        stop.set()
        reader.join()
        print(f"\na create, ms (median, 90 %): alone {alone[0]:.2f} {alone[1]:.2f}, "
              f"beside a report that is read all the time {beside[0]:.2f} {beside[1]:.2f}")
        return {"alone": alone, "beside_a_report": beside}

    def creates(self):
        times = []
        for _ in range(100):
            begin = time.perf_counter()
            self.client.place()
            times.append((time.perf_counter() - begin) * 1000)
        return statistics.median(times), statistics.quantiles(times, n=10)[8]


# -- beside a small file ------------------------------------------------------------------------------

SMALL = 1000
READERS = 4
SECONDS, ROUNDS = 3, 2
READY_RUNS = 5


def in_turns(*measures):
    """Medians of what each measures, in turns, so that the machine's moods meet all alike."""
    samples = [[measure() for measure in measures] for _ in range(ROUNDS)]
    return [statistics.median(of_one) for of_one in zip(*samples)]


class Reads:
    """A server with a list of paths for each kind of read; but for orders none comes twice while its answer is remembered."""

    def __init__(self, stack, parent, data):
        key = Box(data).make_key(name="ratios")["key"]
        self.box = Box(data).start()
        stack.callback(self.box.stop)
        self.authorization = f"Authorization: Bearer {key}"
        with contextlib.closing(self.box.database()) as db:
            newest = db.execute("SELECT id, public_id FROM orders ORDER BY id DESC LIMIT $1", (SMALL,)).fetchall()
        later = 10 ** 12  # a snapshot that leaves nothing out
        self.paths = {
            "a page of 20": [f"/v1/orders?filter[snapshot]={later + n}" for n in range(5000)],
            "a page of one status": [f"/v1/orders?filter[status]=FINALIZED&filter[snapshot]={later + n}" for n in range(5000)],
            "an order": [f"/v1/orders/{row['id']}" for row in newest],
            "an order, looked for": [f"/v1/orders?filter[public_id]={newest[n % SMALL]['public_id']}&filter[snapshot]={later + n}"
                                     for n in range(20_000)],
        }
        self.threads = answering_threads(self.box)
        self.listed = parent / f"{data.name}.txt"

    def cpu_us(self, name):
        self.listed.write_text("\n".join(self.paths[name]) + "\n")
        before = cpu_ms(self.threads)
        result = subprocess.run(
            ["wrk", "-t", "1", "-c", str(READERS), "-d", f"{SECONDS}s", "-H", self.authorization, "-s", str(HERE / "list.lua"),
             f"https://127.0.0.1:{self.box.port}", "--", str(self.listed)],
            capture_output=True, text=True, check=True, env={**os.environ, "BENCH_SCRIPTS": str(HERE)})
        report = json.loads(result.stdout.splitlines()[-1])
        assert report["requests"] and not report["failed"], report
        return (cpu_ms(self.threads) - before) / report["requests"] * 1000


def create_us(data):
    """In process: what the writer does."""
    result = subprocess.run([BINARY.parent / "comanda_bench", "writer", "--data", str(data), "--seconds", str(SECONDS)],
                            capture_output=True, text=True, check=True)
    report = json.loads(result.stdout.splitlines()[-1])
    return report["cpu_seconds"] / report["requests"] * 1e6


def ready_ms(data):
    """From the start of the program to the moment when it says that it is ready."""
    with tempfile.TemporaryDirectory() as parent, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as said:
        said.bind(parent + "/notify")
        said.settimeout(60)
        box = Box(data, env={"NOTIFY_SOCKET": parent + "/notify"})
        begin = time.perf_counter()
        box.launch()
        while b"READY=1" not in said.recv(4096):
            continue
        ready = (time.perf_counter() - begin) * 1000
        box.wait_ready()
        box.stop()
        return ready


def ratios(large):
    with tempfile.TemporaryDirectory(prefix="comanda-ratios-") as parent:
        parent = pathlib.Path(parent)
        pair = [parent / "small", parent / "large"]
        for kept, data in zip((large_database(SMALL), large), pair):
            shutil.copytree(kept, data)
        rows = []
        ready = [min(ready_ms(data) for _ in range(READY_RUNS)) for data in pair]
        with contextlib.ExitStack() as serving:
            reads = [Reads(serving, parent, data) for data in pair]
            for name in reads[0].paths:
                costs = in_turns(*[lambda one=one, name=name: one.cpu_us(name) for one in reads])
                rows.append({"name": name, "small": costs[0], "large": costs[1], "most": 1.2})
        costs = in_turns(*[lambda data=data: create_us(data) for data in pair])
        rows.append({"name": "a create, in process", "small": costs[0], "large": costs[1], "most": 1.5})
    print(f"\n{'CPU us of the server':30} {'1,000':>8} {'many':>8} {'ratio':>6}")
    for row in rows:
        row["ratio"] = row["large"] / row["small"]
        print(f"{row['name']:30} {row['small']:8.1f} {row['large']:8.1f} {row['ratio']:6.2f}  <= {row['most']} "
              f"{'met' if row['ratio'] <= row['most'] else 'MISSED'}")
    print(f"{'ready after, ms (least)':30} {ready[0]:8.0f} {ready[1]:8.0f}")
    return {"rows": rows, "ready_ms": ready}


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench --scale")
    parser.add_argument("--scale", action="store_true")
    parser.add_argument("--long", action="store_true", help="a million orders instead of 120,000")
    parser.add_argument("--only", default="", choices=["", "lists", "reports", "ratios"])
    words = parser.parse_args()
    orders = 1_000_000 if words.long else 120_000
    begin = time.monotonic()
    kept = large_database(orders)
    print(f"{orders} orders in {kept} ({(kept / 'live.db').stat().st_size / 1e6:.0f} MB, "
          f"{time.monotonic() - begin:.0f} s to make or find)")
    result = {"orders": orders}
    if words.only != "ratios":
        result.update(lists_and_reports(kept, orders, words.only))
    if words.only in ("", "ratios"):
        result.update(ratios(kept))
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(result, indent=2) + "\n")


def lists_and_reports(kept, orders, only):
    with tempfile.TemporaryDirectory(prefix="comanda-scale-") as parent:
        data = pathlib.Path(parent) / "data"
        shutil.copytree(kept, data)
        box = Box(data)
        key = box.make_key(name="scale")["key"]
        box.start()
        try:
            with contextlib.closing(box.client(key)) as client:
                scale = Scale(client, box, orders)
                print(f"\n{'':44} {'CPU ms':>8} {'ms':>8} {'worst':>8} {'first':>8} {'total':>9}")
                if only != "reports":
                    scale.sorts()
                    scale.walks()
                    scale.filters()
                creates = None
                if only != "lists":
                    creates = scale.writer(scale.reports(), key)
        finally:
            box.stop()
    return {"lists": scale.rows, "creates_ms": creates}


main()
