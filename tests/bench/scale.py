"""Lists and reports over many orders: scripts/bench --scale [--long]. Reports only; speed decides nothing.

Times over HTTPS, on one connection, the median of a few runs with the server's answer cache avoided; then the plans
of the statements that find the pages.
"""

import argparse
import contextlib
import datetime
import json
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

from large import large_database  # noqa: E402
from support.box import ROOT, Box  # noqa: E402

RESULT = ROOT / "build/scale.json"
RUNS = 5
PER_PAGE = 20
SLOW_MS = 10  # what "low milliseconds" must stay below
SLOW_REPORT_MS = 1000


class Scale:
    def __init__(self, client, key_box, orders):
        self.client, self.box, self.orders = client, key_box, orders
        self.rows = []

    def time(self, name, path, slow_ms):
        """Another page size each time, so that no answer is remembered."""
        times, answer = [], None
        for run in range(RUNS):
            begin = time.perf_counter()
            answer = self.client.get(path + ("&" if "?" in path else "?") + f"per_page={PER_PAGE + run}")
            times.append((time.perf_counter() - begin) * 1000)
            assert answer.status == 200, (path, answer.status, answer.body[:300])
        # The first run reads the pages of the file that nobody has read yet.
        self.rows.append({"name": name, "path": path, "first_ms": times[0], "ms": statistics.median(times[1:]),
                          "worst_ms": max(times[1:]), "rows": len(answer.data),
                          "total": answer.json["pagination"]["total"], "slow_ms": slow_ms})
        row = self.rows[-1]
        print(f"{name:44} {row['ms']:8.2f} {row['worst_ms']:8.2f} {row['first_ms']:8.2f} {row['total']:9}"
              f"  {'' if row['ms'] < slow_ms else 'SLOW'}", flush=True)

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
        self.list("paid=false", "filter[paid]=false")
        self.list("source: rare", "filter[source]=RAPPI")
        self.list("source: most, middle page", f"filter[source]=API&page={deep}")
        self.list("service_type", "filter[service_type]=TABLE")
        self.list("service_type, deep page", f"filter[service_type]=TABLE&page={deep // 4}")
        self.list("delivery_status: rare", "filter[delivery_status]=NOT_DELIVERED")
        self.list("delivery_status: some", "filter[delivery_status]=DELIVERED")
        self.list("delivery_status: some, by total", "filter[delivery_status]=DELIVERED&sort=total")
        self.list("client_id", f"filter[client_id]={found['client_id']}")
        self.list("table_id", f"filter[table_id]={table}")
        self.list("table_id, sorted by total", f"filter[table_id]={table}&sort=total")
        self.list("reference", f"filter[reference]={found['reference']}")
        self.list("public_id", f"filter[public_id]={found['public_id']}")
        self.list("one day", f"filter[start_date]={day(40)}&filter[end_date]={day(40)}")
        self.list("a year", f"filter[start_date]={day(365)}&filter[end_date]={day(1)}")
        self.list("a year, sorted by total", f"filter[start_date]={day(365)}&filter[end_date]={day(1)}&sort=total")
        self.list("a year of one status, middle page",
                  f"filter[start_date]={day(365)}&filter[end_date]={day(1)}&filter[status]=FINALIZED&page=2000")
        self.list("updated_since: nothing", f"filter[updated_since]={instant(0)}")
        self.list("updated_since: a day", f"filter[updated_since]={instant(2)}")
        self.list("updated_since: a year", f"filter[updated_since]={instant(365)}")
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


# -- plans --------------------------------------------------------------------------------------------

# As orders/page_store.cc puts them together; $1 is the company, then values of no matter.
PAGE = "SELECT o.id FROM orders o WHERE o.company_id = $1"
FACETS = ("SELECT {} FROM (VALUES ($2), ($3)) AS f CROSS JOIN orders o WHERE o.company_id = $1 AND o.facet = f.column1")
PLANS = {
    "created_at, any page": PAGE + " AND o.created_at >= $2 AND o.created_at < $3 ORDER BY o.created_at DESC, o.id DESC LIMIT $4 OFFSET $5",
    "the same in a walk": PAGE + " AND o.created_at >= $2 AND o.created_at < $3 AND +o.created_seq <= $4 ORDER BY o.created_at DESC, o.id DESC LIMIT $5 OFFSET $6",
    "updated_at, any page": PAGE + " AND o.updated_at >= $2 AND o.updated_at < $3 ORDER BY o.updated_at, o.id LIMIT $4 OFFSET $5",
    "total, any page": PAGE + " AND o.total >= $2 AND o.total < $3 ORDER BY o.total, o.id LIMIT $4 OFFSET $5",
    "order_number, any page": PAGE + " AND o.order_number >= $2 AND o.order_number < $3 ORDER BY o.order_number, o.id LIMIT $4 OFFSET $5",
    "dates of delivery, any page": PAGE + " AND o.scheduled_delivery_date IS NOT NULL AND o.scheduled_delivery_date >= $2 "
        "AND o.scheduled_delivery_date < $3 ORDER BY o.scheduled_delivery_date, o.id LIMIT $4 OFFSET $5",
    "no date of delivery, any page": PAGE + " AND o.scheduled_delivery_date IS NULL AND o.id >= $2 AND o.id < $3 ORDER BY o.id LIMIT $4 OFFSET $5",
    "where a page begins": "SELECT bucket, orders FROM order_tally WHERE company_id = $1 AND tally = $2 AND bucket BETWEEN $3 AND $4 ORDER BY bucket DESC",
    "the same of a facet": "SELECT bucket, facet, orders FROM facet_tally WHERE company_id = $1 AND bucket BETWEEN $2 AND $3 ORDER BY bucket DESC, facet DESC",
    "a facet by creation, any page": FACETS.format("o.id") + " AND o.created_at >= $4 AND o.created_at < $5 ORDER BY o.created_at DESC, o.id DESC LIMIT $6 OFFSET $7",
    "a rare facet, another sort": FACETS.format("o.id") + " ORDER BY +o.total, o.id LIMIT $4 OFFSET $5",
    "a common facet, another sort": PAGE + " AND +o.facet IN ($2, $3) ORDER BY o.total, o.id LIMIT $4 OFFSET $5",
    "client_id": PAGE + " AND o.client_id = $2 ORDER BY +o.created_at DESC, o.id DESC LIMIT $3 OFFSET $4",
    "table_id, many": PAGE + " AND o.table_id = $2 ORDER BY o.created_at DESC, o.id DESC LIMIT $3 OFFSET $4",
    "table_id, total of them": "SELECT count(*) FROM orders o WHERE o.company_id = $1 AND o.table_id = $2",
    "reference": PAGE + " AND o.reference = $2 ORDER BY +o.created_at DESC, o.id DESC LIMIT $3 OFFSET $4",
    "updated_since, few": PAGE + " AND o.updated_at >= $2 ORDER BY +o.created_at DESC, o.id DESC LIMIT $3 OFFSET $4",
    "updated_since, many": PAGE + " AND +o.updated_at >= $2 ORDER BY o.created_at DESC, o.id DESC LIMIT $3 OFFSET $4",
    "report: lines": "SELECT c.product_id, c.quantity FROM orders o JOIN combo c ON c.company_id = o.company_id AND c.order_id = o.id "
        "WHERE o.company_id = $1 AND o.created_at >= $2 AND o.created_at < $3 AND c.product_id IS NOT NULL",
    "report: payments": "SELECT p.payment_method_id, count(*) FROM orders o JOIN payment p ON p.company_id = o.company_id AND p.order_id = o.id "
        "WHERE o.company_id = $1 AND o.created_at >= $2 AND o.created_at < $3 GROUP BY p.payment_method_id ORDER BY p.payment_method_id",
}


def explain(box):
    """By the SQLite of Python, which may be older than the server's."""
    print("\nplans")
    plans = {}
    with contextlib.closing(box.database()) as db:
        for name, sql in PLANS.items():
            values = {str(n): 1 for n in range(1, 10)}
            plans[name] = [row["detail"] for row in db.execute("EXPLAIN QUERY PLAN " + sql, values)]
            print(f"{name:32} " + "; ".join(plans[name]))
    return plans


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench --scale")
    parser.add_argument("--scale", action="store_true")
    parser.add_argument("--long", action="store_true", help="a million orders instead of 120,000")
    parser.add_argument("--only", default="", choices=["", "lists", "reports"])
    words = parser.parse_args()
    orders = 1_000_000 if words.long else 120_000
    begin = time.monotonic()
    kept = large_database(orders)
    print(f"{orders} orders in {kept} ({(kept / 'live.db').stat().st_size / 1e6:.0f} MB, "
          f"{time.monotonic() - begin:.0f} s to make or find)")
    with tempfile.TemporaryDirectory(prefix="comanda-scale-") as parent:
        data = pathlib.Path(parent) / "data"
        shutil.copytree(kept, data)
        box = Box(data)
        key = box.make_key(name="scale")["key"]
        box.start()
        try:
            with contextlib.closing(box.client(key)) as client:
                scale = Scale(client, box, orders)
                print(f"\n{'':44} {'ms':>8} {'worst':>8} {'first':>8} {'total':>9}")
                if words.only != "reports":
                    scale.sorts()
                    scale.walks()
                    scale.filters()
                plans = explain(box)
                creates = None
                if words.only != "lists":
                    creates = scale.writer(scale.reports(), key)
        finally:
            box.stop()
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps({"orders": orders, "rows": scale.rows, "creates_ms": creates, "plans": plans}, indent=2) + "\n")


main()
