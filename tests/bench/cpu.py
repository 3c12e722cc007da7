"""What requests cost the server: reads and creates beside their ceilings, and whole orders beside the former program."""

import contextlib
import json
import subprocess
import uuid

from serving import Sample, Server, check, fill, fresh_numbers, in_turns, load, medians, ratio
from support.box import Box
from support.orders import three_items
from support.raw import Wire, head
from table import Row

READERS = 8  # keep-alive connections of the read paths
TILLS = 8
ORDERS = 200  # in the database while reads are measured; three items with a modifier each
CROWD = 256  # connections at once
PAGE = "/v1/orders?per_page=50&sort=-created_at"
# Of the former program's server CPU
ORDER_RATIO_MAX, PAGE_RATIO_MAX, SAME_MAX = 0.92, 0.75, 1.03
GZIP_KB_MAX = 20
IDLE_MB_MAX, CROWD_MB_MAX = 12, 36


def of_former(bench, what, samples, ratio_max):
    """A row on the server's CPU beside the former program's, whose samples are the second of each round."""
    share = ratio(samples, 0, 1) if len(bench.programs) > 1 else None
    bench.add(Row(f"{what}, server CPU, us", f"<= {ratio_max} of former", *medians(samples)[:len(bench.programs)],
                  met=share and share <= ratio_max, note=f"{share:.2f} of the former program's" if share else "",
                  detail={"ratio": share}))


def against_ceiling(bench, servers, what, bar, ceiling, run, ceiling_path, of_former_max=None):
    """A ratio is the ceiling's CPU over ours: 1 would mean that the path costs no more than its ceiling."""
    if not bench.wanted(what):
        return
    samples = in_turns(bench.rounds, *(lambda server=server: run(server) for server in servers),
                       lambda: load(ceiling.box, ceiling_path, bench.seconds, READERS))
    *costs, least = medians(samples)
    ratios = [ratio(samples, -1, n) for n in range(len(servers))]
    bench.add(Row(what, f">= {bar:.2f}", ratios[0], *ratios[1:], ceiling=f"{least:.0f} us", met=ratios[0] >= bar,
                  detail={"cpu_us": costs, "ceiling_cpu_us": least}))
    if of_former_max:
        of_former(bench, what, samples, of_former_max)


def reads(bench):
    """Bytes from memory, or an empty 204, sent by the same HTTP server are the ceilings."""
    if not bench.wanted("page of 50", "compressed once per version", "one order", "304 on"):
        return
    servers = bench.servers("reads")
    ceiling = Server(bench.stack, bench.parent / "ceiling", bench.programs[0].ceilings, bench.programs[0].binary)
    tags = {}
    for server in servers:
        server.order = "/v1/orders/" + fill(server, ORDERS)
        with server.client() as client:
            for path in (PAGE, server.order):
                tags[server, path] = check(client, path, 200).etag
                check(client, path, 304, {"If-None-Match": tags[server, path]})
            server.page_bytes, server.order_bytes = (len(check(client, path, 200).body) for path in (PAGE, server.order))
    with ceiling.client() as client:  # unknown clients take turns; with this they are known on both sides
        check(client, "/v1/orders?per_page=1", 200)
    page, order = (f"/ceiling/{size}" for size in (servers[0].page_bytes, servers[0].order_bytes))

    def get(path_of, script="read.lua", unchanged=False):
        def run(server):
            path = path_of(server)
            headers = [server.authorization] + ([("If-None-Match", tags[server, path])] if unchanged else [])
            return load(server.box, path, bench.seconds, READERS, script, headers, [next(fresh_numbers)])
        return run

    the_page, the_order = lambda server: PAGE, lambda server: server.order
    against_ceiling(bench, servers, "page of 50, shared", 0.85, ceiling, get(the_page), page)
    against_ceiling(bench, servers, "page of 50, rendered anew", 0.60, ceiling, get(the_page, "fresh.lua"), page,
                    PAGE_RATIO_MAX)
    against_ceiling(bench, servers, "one order", 0.70, ceiling, get(the_order), order, SAME_MAX)
    against_ceiling(bench, servers, "304 on the list", 0.70, ceiling, get(the_page, unchanged=True), "/ceiling/empty",
                    SAME_MAX)
    against_ceiling(bench, servers, "304 on one order", 0.70, ceiling, get(the_order, unchanged=True), "/ceiling/empty")
    gzip(bench, servers)


def gzip(bench, servers):
    """A page that is compressed once for all who ask costs less than the plain page, since fewer bytes are encrypted."""
    what = "page of 50 in gzip"
    if not bench.wanted(what, "compressed once per version"):
        return
    sizes, once, details = [], [], []
    for server in servers:
        take = [server.authorization, ("Accept-Encoding", "gzip")]
        with server.client() as client:
            answer = check(client, PAGE, 200, {"Accept-Encoding": "gzip"})
        assert answer.headers["content-encoding"] == "gzip"
        sizes.append(len(answer.body) / 1000)
        shared, plain, anew = medians(in_turns(
            bench.rounds,
            lambda: load(server.box, PAGE, bench.seconds, READERS, headers=take),
            lambda: load(server.box, PAGE, bench.seconds, READERS, headers=take[:1]),
            lambda: load(server.box, PAGE, bench.seconds, READERS, "fresh.lua", take, [next(fresh_numbers)])))
        once.append(shared <= plain)
        details.append({"shared_cpu_us": shared, "plain_cpu_us": plain, "anew_cpu_us": anew})
    words = ["yes" if one else "no" for one in once]
    bench.add(Row(what + ", KB", f"<= {GZIP_KB_MAX}", *sizes, met=sizes[0] <= GZIP_KB_MAX),
              Row("compressed once per version", "yes", *words, met=once[0], detail={"of_each": details},
                  note="server CPU in us, asked again in gzip / asked again plain / asked for the first time in gzip: "
                       + "; ".join(f"{program.name} " + " / ".join(f"{value:.0f}" for value in detail.values())
                                   for program, detail in zip(bench.programs, details))))


def creates(bench):
    what = "create, 64 tills"
    if not bench.wanted(what):
        return
    servers = bench.servers("creates")
    runs = []
    for program, server in zip(bench.programs, servers):
        data = bench.parent / f"jobs-{program.name}"
        data.mkdir()
        Box(data, binary=program.binary).bring_in("demo")
        runs += [lambda server=server: load(server.box, "/v1/orders", bench.seconds, 64, "create.lua",
                                            [server.authorization], [uuid.uuid4()]),
                 lambda program=program, data=data: in_process(program, data, bench.seconds)]
    samples = in_turns(bench.rounds, *runs)
    costs = medians(samples)
    ratios = [ratio(samples, n + 1, n) for n in range(0, len(runs), 2)]
    bench.add(Row(what, ">= 0.55", *ratios, ceiling=f"{costs[1]:.0f} us", met=ratios[0] >= 0.55,
                  detail={"cpu_us": costs[::2], "without_http_cpu_us": costs[1::2]}))


def in_process(program, data, seconds):
    """The jobs of POST /v1/orders given to the writer without HTTP."""
    result = subprocess.run([program.ceilings, "writer", "--data", str(data), "--seconds", str(max(1, int(seconds)))],
                            capture_output=True, text=True)
    if result.returncode != 0:
        raise SystemExit(f"bench: comanda_bench writer failed: {result.stderr}")
    report = json.loads(result.stdout.splitlines()[-1])
    return Sample(report["cpu_seconds"] / report["requests"] * 1e6, report["requests"] / report["seconds"])


def whole_orders(bench):
    """A create and one POST of three items, each with an Idempotency-Key."""
    what = f"an order of 3 lines, {TILLS} tills"
    if not bench.wanted(what):
        return
    servers = bench.servers("orders")
    items = bench.parent / "items.json"

    def run(server):
        items.write_text(json.dumps({"combos": three_items(server.box)}))  # ids differ between restaurants
        sample = load(server.box, "/v1/orders", bench.seconds, TILLS, "order.lua", [server.authorization], [uuid.uuid4(), items])
        return Sample(2 * sample.cpu_us, sample.per_second / 2)

    of_former(bench, what, in_turns(2 * bench.rounds, *(lambda server=server: run(server) for server in servers)), ORDER_RATIO_MAX)


def memory(bench):
    """What a full house takes, each connection with a page of 50 behind it."""
    if not bench.wanted("memory, "):
        return
    idle, crowd = [], []
    for server in bench.servers("memory"):
        idle.append(server.resident_mb())
        fill(server, 60)
        with contextlib.ExitStack() as house:
            for _ in range(CROWD):
                wire = house.enter_context(Wire(server.box))
                wire.send(head("GET", "/v1/orders?per_page=50", f"X-API-Key: {server.key}"))
                assert wire.answer().status == 200
            crowd.append(server.resident_mb())
    bench.add(Row("memory, idle, MB", f"<= {IDLE_MB_MAX}", *idle, met=idle[0] <= IDLE_MB_MAX),
              Row(f"memory, {CROWD} TLS connections, MB", f"<= {CROWD_MB_MAX}", *crowd, met=crowd[0] <= CROWD_MB_MAX))
