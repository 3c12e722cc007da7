"""Measures the real server over TLS beside its ceilings; called by scripts/bench.

For each hot path: server CPU (user and system time of its process over the requests it answered) and
requests a second, ours and the ceiling's in turns, medians of the rounds. The load generator shares the
machine's cores, so CPU per request is what counts; requests a second alone mislead. A ratio is the ceiling's
CPU over ours: 1 would mean that the path costs no more than its ceiling.
"""

import argparse
import contextlib
import dataclasses
import functools
import itertools
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import uuid

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))

sys.path.insert(0, str(HERE))

from crowd import import_clients, products  # noqa: E402
from large import large_database  # noqa: E402
from support.box import BINARY, Box  # noqa: E402
from support.raw import Wire, head  # noqa: E402

CEILINGS = BINARY.parent / "comanda_bench"
RESULT = ROOT / "build/bench.json"

READERS = 8  # keep-alive connections of the read paths
TILLS = 64  # of the writing ones
CONNECTING_S = 0.5
ORDERS = 200  # in the database while reads are measured; three items with a modifier each
PRODUCTS = 500
CLIENTS = {True: 50_000, False: 200_000}  # in brief or not
REPORTED = {True: 12_000, False: 120_000}  # orders; 300 a day
CROWD = 256  # connections at once
WAITING = 50  # kitchen displays
EDITED_MIN, EDITED_MAX = 2000, 20000  # orders that the editing paths go round


@dataclasses.dataclass
class Sample:
    cpu_us: float  # server CPU per request
    per_second: float
    p50_ms: float = 0.0
    p99_ms: float = 0.0


@dataclasses.dataclass
class Row:
    name: str
    ours: Sample
    ceiling: Sample | None = None
    ceiling_name: str = ""
    value: float | None = None  # what the target is about
    target: float | None = None

    @property
    def verdict(self):
        if self.target is None:
            return ""
        return "met" if self.value >= self.target else "MISSED"


def median(samples):
    return Sample(*(statistics.median(values) for values in zip(*map(dataclasses.astuple, samples))))


# -- one run ------------------------------------------------------------------------------------------


def answered(watcher):
    """How many requests the server has answered."""
    lines = watcher.get("/metrics").body.decode().splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith("comanda_http_requests_total{"))


def load(box, path, seconds, connections, script="read.lua", headers=(), words=(), threads=1):
    """wrk against one path of a running server. Its CPU is measured when all connections are made: a handshake costs
    as much as eight orders, and a till makes one a day."""
    command = ["wrk", "-t", str(threads), "-c", str(connections), "-d", f"{seconds + 1}s", "-s", str(HERE / script)]
    for name, value in headers:
        command += ["-H", f"{name}: {value}"]
    command += [f"https://127.0.0.1:{box.port}{path}", "--", *map(str, words)]
    with contextlib.closing(box.client()) as watcher, subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "BENCH_SCRIPTS": str(HERE)}) as wrk:
        answered(watcher)
        time.sleep(CONNECTING_S)
        requests, before, begin = answered(watcher), box.cpu_seconds(), time.monotonic()
        time.sleep(seconds)
        requests, cpu, took = answered(watcher) - requests, box.cpu_seconds() - before, time.monotonic() - begin
        stdout, stderr = wrk.communicate()
    if wrk.returncode != 0:
        raise SystemExit(f"bench: wrk failed: {stdout}{stderr}")
    report = json.loads(stdout.splitlines()[-1])
    if report["failed"] or not requests:
        raise SystemExit(f"bench: {path}: {report['failed']} of {report['requests']} requests failed\n{box.log_text()[-2000:]}")
    return Sample(cpu / requests * 1e6, requests / took, report["p50_ms"], report["p99_ms"])


def in_process(data, seconds, group_jobs_max):
    """The jobs of POST /v1/orders given to the writer without HTTP."""
    result = subprocess.run(
        [CEILINGS, "writer", "--data", str(data), "--seconds", str(seconds), "--threads", str(TILLS),
         "--group-jobs-max", str(group_jobs_max)],
        capture_output=True, text=True)
    if result.returncode != 0:
        raise SystemExit(f"bench: comanda_bench writer failed: {result.stderr}")
    report = json.loads(result.stdout.splitlines()[-1])
    return Sample(report["cpu_seconds"] / report["requests"] * 1e6, report["requests"] / report["seconds"])


def one_by_one(box, seconds, send):
    """Requests of one client after each other, through Python; the server's CPU and the times that the client sees."""
    times = []
    before, end = box.cpu_seconds(), time.monotonic() + seconds
    while not times or time.monotonic() < end:
        begin = time.perf_counter()
        send(len(times))
        times.append((time.perf_counter() - begin) * 1000)
    times.sort()
    return Sample((box.cpu_seconds() - before) / len(times) * 1e6, 1000 * len(times) / sum(times),
                  statistics.median(times), times[len(times) * 99 // 100])


# -- the servers --------------------------------------------------------------------------------------


class Server:
    """A box with the demo restaurant and a key; the product itself, or the ceilings beside the API."""

    def __init__(self, stack, data, binary=BINARY, options=()):
        data.mkdir()
        shop = Box(data)
        shop.bring_in("demo")
        self.key = shop.make_key(name="bench")["key"]
        self.box = Box(data, options=options, binary=binary)
        begin = time.monotonic()
        self.box.start()
        self.ready_ms = (time.monotonic() - begin) * 1000
        stack.callback(self.box.stop)

    @property
    def authorization(self):
        return ("Authorization", "Bearer " + self.key)

    def client(self):
        return contextlib.closing(self.box.client(self.key))

    def resident_mb(self):
        status = pathlib.Path(f"/proc/{self.box.process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) * 1024 / 1e6


def a_data_directory(parent, name):
    data = parent / name
    data.mkdir()
    Box(data).bring_in("demo")
    return data


def three_items(box):
    """Items of the menu with a modifier each."""
    with contextlib.closing(box.database()) as db:
        found = db.execute(
            "SELECT p.id AS product, v.id AS variant, v.price, m.id AS modifier FROM product p "
            "JOIN variant v ON v.company_id = p.company_id AND v.product_id = p.id AND v.position = 0 "
            "JOIN modifier m ON m.company_id = p.company_id AND m.product_id = p.id "
            "GROUP BY p.id HAVING m.position = min(m.position) ORDER BY p.id LIMIT 3").fetchall()
    assert len(found) == 3, found
    return [{"product_id": row["product"], "variant_id": row["variant"], "quantity": 1,
             "variant_price": row["price"] / 100, "modifiers": [{"modifier_id": row["modifier"], "price": 0}]}
            for row in found]


def fill(server, count):
    """Orders of three items, each with a modifier; the id of one in the middle."""
    items = three_items(server.box)
    with server.client() as client:
        orders = [client.add(client.place(comment="sin cebolla"), *items) for _ in range(count)]
    return orders[count // 2]["id"]


def check(client, path, status, headers=None):
    answer = client.send("GET", path, headers=headers or {})
    assert answer.status == status, (path, answer.status, answer.body[:300])
    return answer


# -- the paths ----------------------------------------------------------------------------------------


class Bench:
    def __init__(self, brief, only):
        self.rounds, self.seconds = (1, 1) if brief else (3, 3)
        self.brief = brief
        self.only = only
        self.rows, self.facts = [], {}

    def wanted(self, name):
        return self.only in name

    def in_turns(self, *runs):
        """Each run once a round; a median for each."""
        samples = [[run() for run in runs] for _ in range(self.rounds)]
        return [median(column) for column in zip(*samples)]

    def against(self, name, ours, ceiling, ceiling_name, target):
        mine, theirs = self.in_turns(ours, ceiling)
        self.rows.append(Row(name, mine, theirs, ceiling_name, theirs.cpu_us / mine.cpu_us, target))

    def read(self, name, path, ceiling_path, ceiling_name, target, etag=None):
        if not self.wanted(name):
            return
        headers = [self.ours.authorization] + ([("If-None-Match", etag)] if etag else [])
        self.against(name,
                     lambda: load(self.ours.box, path, self.seconds, READERS, headers=headers),
                     lambda: load(self.ceiling.box, ceiling_path, self.seconds, READERS),
                     ceiling_name, target)

    def reads(self):
        order = "/v1/orders/" + fill(self.ours, ORDERS)
        page = "/v1/orders?per_page=50"
        with self.ours.client() as client:
            whole, one = check(client, page, 200), check(client, order, 200)
            assert len(whole.data) == 50
            for path, answer in ((page, whole), (order, one)):
                check(client, path, 304, {"If-None-Match": answer.etag})
        with self.ceiling.client() as client:  # strangers take turns; with this they are known on both sides
            check(client, "/v1/orders?per_page=1", 200)
        self.facts["page_bytes"], self.facts["order_bytes"] = len(whole.body), len(one.body)
        from_memory, nothing = "the same bytes from memory", "an empty 204"
        self.read("page of 50", page, f"/ceiling/{len(whole.body)}", from_memory, 0.85)
        self.read("one order", order, f"/ceiling/{len(one.body)}", from_memory, 0.75)
        self.read("304 on the list", page, "/ceiling/empty", nothing, 0.85, whole.etag)
        self.read("304 on one order", order, "/ceiling/empty", nothing, 0.85, one.etag)
        self.compressed(page)  # writes, and so changes the tags

    def compressed(self, page):
        """For clients that take gzip, against the same page as it is: shared by all who ask, and never asked before."""
        take = [self.ours.authorization, ("Accept-Encoding", "gzip")]
        fresh = itertools.count(10**9, 10**7)
        for name, script in (("page of 50, gzip", "read.lua"), ("page of 50, gzip, first asked", "fresh.lua")):
            if self.wanted(name):
                self.against(
                    name,
                    lambda: load(self.ours.box, page, self.seconds, READERS, script, take, [next(fresh)]),
                    lambda: load(self.ours.box, page, self.seconds, READERS, script, take[:1], [next(fresh)]),
                    "the same page, plain", 2)
        self.compressed_after_writes(page, take)
        with self.ours.client() as client:
            small = [check(client, page + more, 200, {"Accept-Encoding": "gzip"}) for more in ("", "&sort=-created_at", "&page=1")]
        self.facts["page_gzip_kb"] = max(len(answer.body) for answer in small) / 1000

    def compressed_after_writes(self, page, take):
        """Each time an order of the page has changed, less what the change itself costs."""
        name = "page of 50, gzip, after a write"
        if not self.wanted(name):
            return
        ids = self.parent / "page.ids"
        with self.ours.client() as client:
            ids.write_text("".join(order["id"] + "\n" for order in check(client, page, 200).data))

        def run(headers, *words):
            return load(self.ours.box, page, self.seconds, 1, "after.lua", headers, [ids, uuid.uuid4(), *words])

        alone, small, plain = self.in_turns(lambda: run(take, "alone"), lambda: run(take), lambda: run(take[:1]))
        small.cpu_us, plain.cpu_us = (2 * both.cpu_us - alone.cpu_us for both in (small, plain))
        self.rows.append(Row(name, small, plain, "the same page, plain", plain.cpu_us / small.cpu_us, 2))

    def create_over(self, server):
        return load(server.box, "/v1/orders", self.seconds, TILLS, "create.lua", [server.authorization], [uuid.uuid4()])

    def creates(self):
        name = "create, 64 tills"
        if not self.wanted(name):
            return
        mine, one_by_one, jobs, jobs_one_by_one = self.in_turns(
            lambda: self.create_over(self.ours),
            lambda: self.create_over(self.one_commit),
            lambda: in_process(self.data["jobs"], self.seconds, 256),
            lambda: in_process(self.data["jobs, one commit each"], self.seconds, 1))
        self.rows += [
            Row(name, mine, jobs, "the same jobs without HTTP", jobs.cpu_us / mine.cpu_us, 0.7),
            Row(name + ": requests/s", mine, one_by_one, "a COMMIT per request",
                mine.per_second / one_by_one.per_second, 3),
            Row("jobs without HTTP: jobs/s", jobs, jobs_one_by_one, "a COMMIT per job",
                jobs.per_second / jobs_one_by_one.per_second),
        ]

    def creates_on_slow_flash(self):
        """A sync that takes 5 ms more: what the writer's groups are for."""
        name = "create, sync of 5 ms: requests/s"
        if self.wanted(name):
            slow = [Server(self.stack, self.parent / word, CEILINGS, ["--sync-ms", "5", *options])
                    for word, options in (("slow", []), ("slow, one commit each", ["--group-jobs-max", "1"]))]
            mine, one_by_one = self.in_turns(*(functools.partial(self.create_over, server) for server in slow))
            self.rows.append(Row(name, mine, one_by_one, "a COMMIT per request", mine.per_second / one_by_one.per_second, 15))

    def memory(self):
        """What a full house takes, each with a page of 50 behind it, and what is left of that a minute later."""
        if not self.wanted("memory"):
            return
        shop = Server(self.stack, self.parent / "memory")
        fill(shop, 60)
        with contextlib.ExitStack() as house:
            for _ in range(CROWD):
                wire = house.enter_context(Wire(shop.box))
                wire.send(head("GET", "/v1/orders?per_page=50", f"X-API-Key: {shop.key}"))
                assert wire.answer().status == 200
            self.facts["crowd_memory_mb"] = shop.resident_mb()
        if not self.brief:
            time.sleep(65)
            self.facts["after_crowd_memory_mb"] = shop.resident_mb()

    def edits(self):
        """Reported alone; there is no ceiling for them yet."""
        combo = {"combos": three_items(self.ours.box)[:1]}
        payment = {"payment_method_code": "cash", "amount": 10}
        for name, suffix, body in (("add an item, 64 tills", "/combos", combo), ("pay, 64 tills", "/payments", payment)):
            if self.wanted(name):
                words = [self.orders_to_edit(), suffix, json.dumps(body)]
                self.rows.append(Row(name, *self.in_turns(
                    lambda: load(self.ours.box, "/v1/orders", self.seconds, TILLS, "edit.lua", [self.ours.authorization], words))))

    def orders_to_edit(self):
        """The newest orders in a file; enough of them, so that none fills up."""
        while len(ids := self.newest_orders()) < EDITED_MIN:
            self.create_over(self.ours)
        listed = self.parent / "orders.txt"
        listed.write_text("\n".join(ids) + "\n")
        return listed

    def newest_orders(self):
        with contextlib.closing(self.ours.box.database()) as db:
            rows = db.execute("SELECT id FROM orders ORDER BY created_at DESC LIMIT ?", (EDITED_MAX,)).fetchall()
        return [row["id"] for row in rows]

    # Those that follow are reported alone, too.

    def alone(self, name, box, send):
        self.rows.append(Row(name, *self.in_turns(lambda: one_by_one(box, self.seconds, send))))

    def menu(self):
        if not any(self.wanted(name) for name in ("menu of 500", "304 on the menu", "upsert of 500, changed", "upsert of 500, unchanged")):
            return
        shop = Server(self.stack, self.parent / "menu")
        with shop.client() as client:
            category = check(client, "/v1/menu", 200).data["categories"][0]["id"]

            def upsert(price, changed):
                body = products(PRODUCTS, price)
                for product in body["products"]:
                    product["category_id"] = category
                answer = client.put("/v1/menu/products", body)
                assert answer.status == 200 and answer.data["unchanged"] == (0 if changed else PRODUCTS), answer.body[:300]

            upsert(20, True)
            whole = check(client, "/v1/menu", 200)
            check(client, "/v1/menu", 304, {"If-None-Match": whole.etag})
            ours, self.ours = self.ours, shop
            self.read("menu of 500", "/v1/menu", f"/ceiling/{len(whole.body)}", "the same bytes from memory", None)
            self.read("304 on the menu", "/v1/menu", "/ceiling/empty", "an empty 204", None, whole.etag)
            self.ours = ours
            if self.wanted("upsert of 500, unchanged"):
                self.alone("upsert of 500, unchanged", shop.box, lambda n: upsert(20, False))
            if self.wanted("upsert of 500, changed"):
                prices = iter(range(21, 1_000_000))
                self.alone("upsert of 500, changed", shop.box, lambda n: upsert(next(prices), True))

    def clients(self):
        """Words that many have, that few have, and the end of a number."""
        searches = {"search clients, common word": "garcia", "search clients, two words": "maria quispe",
                    "search clients, e-mail": "cliente33", "search clients, digits": "4321"}
        if not any(self.wanted(name) for name in searches):
            return
        shop = Server(self.stack, self.parent / "clients")
        begin = time.monotonic()
        import_clients(shop.box, CLIENTS[self.brief], self.parent)
        self.facts["clients"], self.facts["clients_import_s"] = CLIENTS[self.brief], time.monotonic() - begin
        with shop.client() as client:
            for name, text in searches.items():
                if self.wanted(name):
                    path = f"/v1/clients?filter[search]={urllib.parse.quote(text)}"
                    self.alone(name, shop.box, lambda n: check(client, path, 200))

    def reports(self):
        day = lambda ago: time.strftime("%Y-%m-%d", time.gmtime(time.time() - ago * 86400))
        year = f"filter[start_date]={day(365)}&filter[end_date]={day(0)}"
        reports = {"by-payment-methods of a year": "by-payment-methods?", "by-tips of a year": "by-tips?",
                   "products-sold of a year": "products-sold?",
                   "with modifiers, of a year": "products-sold?filter[include]=products_modifiers&",
                   "freehand, of a year": "products-sold?filter[include]=freehand&"}
        if not any(self.wanted(name) for name in reports):
            return
        data = self.parent / "large"
        shutil.copytree(large_database(REPORTED[self.brief]), data)
        box = Box(data)
        key = box.make_key(name="bench")["key"]
        box.start()
        self.stack.callback(box.stop)
        self.facts["reported_orders"] = REPORTED[self.brief]
        with contextlib.closing(box.client(key)) as client:
            for name, path in reports.items():
                if self.wanted(name):
                    self.alone(name, box, lambda n: check(client, f"/v1/orders/{path}{year}", 200))

    def fan_out(self):
        """A change reaches all displays that wait for one: until the last has its page, and what it costs."""
        name = f"a change for {WAITING} displays"
        if not self.wanted(name):
            return
        box, path = self.ours.box, "/v1/orders?per_page=20"
        with self.ours.client() as client, contextlib.ExitStack() as stack:
            order = client.place()
            wires = [stack.enter_context(Wire(box)) for _ in range(WAITING)]

            def change(n):
                """Begins when all wait; the time is from the change's request to the last answer."""
                tag = check(client, path, 200).etag
                for wire in wires:
                    wire.send(head("GET", path, f"X-API-Key: {self.ours.key}", f"If-None-Match: {tag}", "Prefer: wait=25"))
                time.sleep(0.2)
                arrived, before = [], box.cpu_seconds()

                def listen(wire):
                    answer = wire.answer()
                    arrived.append(time.perf_counter())
                    assert answer.status == 200

                listeners = [threading.Thread(target=listen, args=(wire,)) for wire in wires]
                for listener in listeners:
                    listener.start()
                begin = time.perf_counter()
                client.patch(f"/v1/orders/{order['id']}", {"order_title": f"Mesa {n}"})
                for listener in listeners:
                    listener.join()
                return (max(arrived) - begin) * 1000, box.cpu_seconds() - before

            results = [change(n) for n in range(5 if self.brief else 20)]
        times = sorted(ms for ms, _ in results)
        cpu = sum(seconds for _, seconds in results) / len(results) * 1e6
        self.rows.append(Row(name, Sample(cpu, 1000 / statistics.median(times), statistics.median(times), times[-1])))

    def size(self):
        stripped = self.parent / "stripped"
        subprocess.run(["strip", "-o", str(stripped), str(BINARY)], check=True)
        return stripped.stat().st_size / 1e6

    def run(self):
        with contextlib.ExitStack() as stack:
            self.stack = stack
            self.parent = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="comanda-bench-")))
            self.ours = Server(stack, self.parent / "ours")
            self.facts["idle_memory_mb"] = self.ours.resident_mb()
            self.facts["ready_ms"] = self.ours.ready_ms
            self.facts["stripped_mb"] = self.size()
            self.ceiling = Server(stack, self.parent / "ceiling", CEILINGS)
            self.reads()
            self.one_commit = Server(stack, self.parent / "one_commit", CEILINGS, ["--group-jobs-max", "1"])
            self.data = {name: a_data_directory(self.parent, name) for name in ("jobs", "jobs, one commit each")}
            self.memory()
            self.creates()
            self.creates_on_slow_flash()
            self.edits()
            self.menu()
            self.clients()
            self.reports()
            self.fan_out()


# -- the report ---------------------------------------------------------------------------------------

# What must stay below a bound: fact, words, bound.
BOUNDS = [("stripped_mb", "executable, stripped, MB", 4.0), ("idle_memory_mb", "idle memory, 256 workers, MB", 10.0),
          ("crowd_memory_mb", "memory with 256 connections, MB", 30.0),
          ("after_crowd_memory_mb", "memory a minute later, MB", 14.0),
          ("page_gzip_kb", "page of 50 compressed, KB", 20.0)]


def table(bench):
    lines = [f"{'path':28} {'CPU us':>8} {'ceiling':>8} {'ratio':>6} {'target':>7} {'':7}"
             f"{'req/s':>8} {'ceiling':>8} {'p50 ms':>7} {'p99 ms':>7}  ceiling is"]
    for row in bench.rows:
        cells = [f"{row.name:28} {row.ours.cpu_us:8.1f}"]
        cells.append(f"{row.ceiling.cpu_us:8.1f} {row.value:6.2f}" if row.ceiling else f"{'':8} {'':6}")
        cells.append(f"{'>= ' + str(row.target) if row.target else '':>7} {row.verdict:7}{row.ours.per_second:8.0f}")
        cells.append(f"{row.ceiling.per_second:8.0f}" if row.ceiling else f"{'':8}")
        cells.append(f"{row.ours.p50_ms:7.2f} {row.ours.p99_ms:7.2f}  {row.ceiling_name}")
        lines.append(" ".join(cells))
    lines.append("")
    for fact, words, bound in BOUNDS:
        if fact not in bench.facts:
            continue
        verdict = "met" if bench.facts[fact] < bound else "MISSED"
        lines.append(f"{words:36} {bench.facts[fact]:6.2f}  < {bound:.0f}  {verdict}")
    lines.append(f"{'ready after, ms':36} {bench.facts['ready_ms']:6.0f}")
    if "clients" in bench.facts:
        lines.append(f"{'clients / import of them, s':36} {bench.facts['clients']:6} / {bench.facts['clients_import_s']:.1f}")
    if "reported_orders" in bench.facts:
        lines.append(f"{'orders under the reports':36} {bench.facts['reported_orders']:6}")
    lines.append(f"{'page of 50 / one order, bytes':36} {bench.facts['page_bytes']:6} / {bench.facts['order_bytes']}")
    return "\n".join(lines)


def as_json(bench):
    def sample(one):
        return one and dataclasses.asdict(one)

    rows = [{"path": row.name, "ours": sample(row.ours), "ceiling": sample(row.ceiling), "ceiling_is": row.ceiling_name,
             "ratio": row.value, "target": row.target, "met": row.value >= row.target if row.target else None}
            for row in bench.rows]
    bounds = {fact: {"value": bench.facts[fact], "below": bound, "met": bench.facts[fact] < bound} for fact, _, bound in BOUNDS if fact in bench.facts}
    return json.dumps({"rounds": bench.rounds, "seconds": bench.seconds, "cores": os.cpu_count(), "rows": rows,
                       "bounds": bounds, "facts": bench.facts}, indent=2) + "\n"


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench")
    parser.add_argument("--brief", action="store_true", help="one short round, to see that everything runs")
    parser.add_argument("--only", default="", metavar="WORD", help="only the paths whose name has the word")
    words = parser.parse_args()
    bench = Bench(words.brief, words.only)
    bench.run()
    print(table(bench))
    RESULT.write_text(as_json(bench))


if __name__ == "__main__":
    main()
