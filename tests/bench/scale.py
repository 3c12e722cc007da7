"""Many lists and reports over many orders, one line each: scripts/bench --scale [--brief|--long] [--only lists|reports].
Reports only; speed decides nothing. The bars are in scripts/bench without --scale (many.py).

The server's CPU and times over HTTPS, on one connection, medians of a few runs with the server's answer cache
avoided.
"""

import argparse
import contextlib
import datetime
import json
import os
import pathlib
import shutil
import statistics
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE))

from large import PER_DAY, large_database  # noqa: E402
from support.box import BINARY, ROOT, Box  # noqa: E402

RESULT = ROOT / "build/scale.json"
RUNS = 5
PER_PAGE = 20
SLOW_MS = 10  # what "low milliseconds" must stay below
SLOW_REPORT_MS = 1000
BUSY_PER_DAY = 300  # 110,000 orders a year


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
        newer = self.box.value("SELECT created_seq FROM orders ORDER BY created_seq DESC LIMIT 1 OFFSET 1000")
        deep = self.orders * 9 // 10 // (PER_PAGE + RUNS)
        self.list("deep page of a walk", f"page={deep}&filter[snapshot]={snapshot}")
        self.list("deep page, 1000 orders since", f"page={deep}&filter[snapshot]={newer}")

    def filters(self):
        ((client_id, public_id, reference),) = self.box.rows(
            "SELECT client_id, public_id, reference FROM orders WHERE client_id IS NOT NULL "
            "ORDER BY created_at DESC LIMIT 1 OFFSET 100")
        table = self.box.value("SELECT table_id FROM orders WHERE table_id IS NOT NULL LIMIT 1")
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
        self.list("source: most, middle page", f"filter[source]=API&page={deep}")
        self.list("service_type", "filter[service_type]=TABLE")
        self.list("service_type, deep page", f"filter[service_type]=TABLE&page={deep // 4}")
        self.list("delivery_status: rare", "filter[delivery_status]=NOT_DELIVERED")
        self.list("delivery_status: rare, by total", "filter[delivery_status]=NOT_DELIVERED&sort=total")
        self.list("client_id", f"filter[client_id]={client_id}")
        self.list("table_id", f"filter[table_id]={table}")
        self.list("table_id, sorted by total", f"filter[table_id]={table}&sort=total")
        self.list("table_id, sorted by update", f"filter[table_id]={table}&sort=-updated_at")
        self.list("table_id, of one status, by number", f"filter[table_id]={table}&filter[status]=FINALIZED&sort=order_number")
        self.list("client_id, sorted by total", f"filter[client_id]={client_id}&sort=total")
        self.list("reference", f"filter[reference]={reference}")
        self.list("public_id", f"filter[public_id]={public_id}")
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


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench --scale")
    parser.add_argument("--scale", action="store_true")
    parser.add_argument("--brief", action="store_true", help="5,000 orders, to see that everything runs")
    parser.add_argument("--long", action="store_true", help="a million orders instead of 120,000")
    parser.add_argument("--only", default="", choices=["", "lists", "reports"])
    words = parser.parse_args()
    orders = 1_000_000 if words.long else 5_000 if words.brief else 120_000
    begin = time.monotonic()
    kept = large_database(BINARY, orders, PER_DAY if words.brief else BUSY_PER_DAY)
    print(f"{orders} orders in {kept} ({(kept / 'live.db').stat().st_size / 1e6:.0f} MB, "
          f"{time.monotonic() - begin:.0f} s to make or find)")
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps({"orders": orders, **lists_and_reports(kept, orders, words.only)}, indent=2) + "\n")


def lists_and_reports(kept, orders, only):
    with tempfile.TemporaryDirectory(prefix="comanda-scale-") as parent:
        data = pathlib.Path(parent) / "data"
        shutil.copytree(kept, data)  # orders are placed in it
        key = (data / "key").read_text()
        box = Box(data).start()
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
