"""Measures the real server over TLS beside its ceilings; called by scripts/bench.

For each hot path: server CPU (user and system time of its process over the requests it answered) and
requests a second, ours and the ceiling's in turns, medians of the rounds. The load generator shares the
machine's cores, so CPU per request is what counts; requests a second alone mislead. A ratio is the ceiling's
CPU over ours: 1 would mean that the path costs no more than its ceiling.
"""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import uuid

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))

from support.box import BINARY, Box  # noqa: E402

CEILINGS = BINARY.parent / "comanda_bench"
RESULT = ROOT / "build/bench.json"

READERS = 8  # keep-alive connections of the read paths
TILLS = 64  # of the writing ones
ORDERS = 200  # in the database while reads are measured; three items with a modifier each
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


def load(box, path, seconds, connections, script="read.lua", headers=(), words=(), threads=1):
    """wrk against one path of a running server."""
    command = ["wrk", "-t", str(threads), "-c", str(connections), "-d", f"{seconds}s", "-s", str(HERE / script)]
    for name, value in headers:
        command += ["-H", f"{name}: {value}"]
    command += [f"https://127.0.0.1:{box.port}{path}", "--", *map(str, words)]
    before = box.cpu_seconds()
    result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "BENCH_SCRIPTS": str(HERE)})
    cpu = box.cpu_seconds() - before
    if result.returncode != 0:
        raise SystemExit(f"bench: wrk failed: {result.stdout}{result.stderr}")
    report = json.loads(result.stdout.splitlines()[-1])
    if report["failed"] or not report["requests"]:
        raise SystemExit(f"bench: {path}: {report['failed']} of {report['requests']} requests failed\n{box.log_text()[-2000:]}")
    return Sample(cpu / report["requests"] * 1e6, report["requests"] / report["seconds"],
                  report["p50_ms"], report["p99_ms"])


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
        self.facts["page_bytes"], self.facts["order_bytes"] = len(whole.body), len(one.body)
        from_memory, nothing = "the same bytes from memory", "an empty 204"
        self.read("page of 50", page, f"/ceiling/{len(whole.body)}", from_memory, 0.7)
        self.read("one order", order, f"/ceiling/{len(one.body)}", from_memory, 0.6)
        self.read("304 on the list", page, "/ceiling/empty", nothing, 0.7, whole.etag)
        self.read("304 on one order", order, "/ceiling/empty", nothing, 0.7, one.etag)

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
            Row(name, mine, jobs, "the same jobs without HTTP", jobs.cpu_us / mine.cpu_us, 0.5),
            Row(name + ": requests/s", mine, one_by_one, "a COMMIT per request",
                mine.per_second / one_by_one.per_second, 2.5),
            Row("jobs without HTTP: jobs/s", jobs, jobs_one_by_one, "a COMMIT per job",
                jobs.per_second / jobs_one_by_one.per_second),
        ]

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

    def size(self):
        stripped = self.parent / "stripped"
        subprocess.run(["strip", "-o", str(stripped), str(BINARY)], check=True)
        return stripped.stat().st_size / 1e6

    def run(self):
        with contextlib.ExitStack() as stack:
            self.parent = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="comanda-bench-")))
            self.ours = Server(stack, self.parent / "ours")
            self.facts["idle_memory_mb"] = self.ours.resident_mb()
            self.facts["ready_ms"] = self.ours.ready_ms
            self.facts["stripped_mb"] = self.size()
            self.ceiling = Server(stack, self.parent / "ceiling", CEILINGS)
            self.reads()
            self.one_commit = Server(stack, self.parent / "one_commit", CEILINGS, ["--group-jobs-max", "1"])
            self.data = {name: a_data_directory(self.parent, name) for name in ("jobs", "jobs, one commit each")}
            self.creates()
            self.edits()


# -- the report ---------------------------------------------------------------------------------------

# What must stay below a bound: fact, words, bound.
BOUNDS = [("stripped_mb", "executable, stripped, MB", 4.0), ("idle_memory_mb", "idle memory, 256 workers, MB", 12.0)]


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
        verdict = "met" if bench.facts[fact] < bound else "MISSED"
        lines.append(f"{words:36} {bench.facts[fact]:6.2f}  < {bound:.0f}  {verdict}")
    lines.append(f"{'ready after, ms':36} {bench.facts['ready_ms']:6.0f}")
    lines.append(f"{'page of 50 / one order, bytes':36} {bench.facts['page_bytes']:6} / {bench.facts['order_bytes']}")
    return "\n".join(lines)


def as_json(bench):
    def sample(one):
        return one and dataclasses.asdict(one)

    rows = [{"path": row.name, "ours": sample(row.ours), "ceiling": sample(row.ceiling), "ceiling_is": row.ceiling_name,
             "ratio": row.value, "target": row.target, "met": row.value >= row.target if row.target else None}
            for row in bench.rows]
    bounds = {fact: {"value": bench.facts[fact], "below": bound, "met": bench.facts[fact] < bound} for fact, _, bound in BOUNDS}
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


main()
