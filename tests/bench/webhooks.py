"""Webhooks: how fast a backlog drains, beside a plain loop over libcurl, and what deliveries cost the tills.

The receiver is comanda_bench_webhooks (webhooks.cc), which answers faster than either side sends. All of them share the
machine's cores, so rates are compared within one run alone.
"""

import contextlib
import http.client
import json
import random
import signal
import ssl
import statistics
import subprocess
import threading
import time
import uuid

from programs import this_program
from serving import Server, load
from support.box import PATIENCE_S
from support.openssl import make_pair
from support.quick_client import QuickClient
from support.receiver import LOOPBACK
from table import Row

DRAIN_BARS = {"http": 0.5, "https": 0.6}
DRAIN_PER_SECOND = 200
BACKLOG = {True: 300, False: 20_000}  # in brief or not
SUBSCRIPTIONS = 10
TILLS, PER_SECOND = 10, 50
P99_RATIO_MAX, FULL_LOAD_RATIO = 1.2, 0.6
SETTLED_S = 0.3


class Receiver:
    """A process of its own until the stack ends. `tls`: a support.openssl.Pair."""

    def __init__(self, stack, tls=None, keep=None, hold_ms=0):
        words = [this_program().webhooks, "receive", "--hold-ms", str(hold_ms)]
        if tls:
            words += ["--certificate", tls.certificate, "--key", tls.key]
        if keep:
            words += ["--keep", keep]
        self.process = subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE, text=True)
        stack.callback(self.stop)
        self.port = int(self.process.stdout.readline())
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}/hook"
        self.context = ssl.create_default_context(cafile=str(tls.certificate)) if tls else None
        self.connection = None

    def stop(self):
        """Writes what it keeps."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            assert self.process.wait(PATIENCE_S) == 0
            self.process.stdout.close()

    def ask(self, method):
        for _ in range(2):  # it closes a connection that has been idle
            if not self.connection:
                self.connection = (http.client.HTTPSConnection("127.0.0.1", self.port, context=self.context)
                                   if self.context else http.client.HTTPConnection("127.0.0.1", self.port))
            try:
                self.connection.request(method, "/")
                return self.connection.getresponse().read()
            except (OSError, http.client.HTTPException):
                self.connection.close()
                self.connection = None
        raise SystemExit("bench: the receiver of webhooks does not answer")

    def arrived(self):
        return json.loads(self.ask("GET"))

    def forget(self):
        self.ask("DELETE")

    def wait_for(self, count, seconds_max):
        deadline = time.monotonic() + seconds_max
        while (arrived := self.arrived())["requests"] < count:
            if time.monotonic() > deadline:
                raise SystemExit(f"bench: {arrived['requests']} of {count} webhooks arrived in {seconds_max} s")
            time.sleep(0.02)
        return arrived


def serve(bench, name, options=()):
    return Server(bench.stack, bench.parent / name, bench.programs[0].binary, options=[*LOOPBACK, *options])


def subscribe(client, receiver, **fields):
    answer = client.post("/v1/webhooks", {"webhook_url": receiver.url, **fields})
    assert answer.status == 201, answer.body
    return answer.data


def change(client, hook, **fields):
    answer = client.patch("/v1/webhooks/" + hook["id"], fields)
    assert answer.status == 200, answer.body
    return answer.data


def backlog_of(client, hook):
    return client.get("/v1/webhooks/" + hook["id"]).data["backlog"]


def place_many(server, count):
    """Orders of one event each, until there are so many events more."""
    with server.client() as client:
        begin = last_seq(server)
        while (placed := last_seq(server) - begin) < count:
            load(server.box, "/v1/orders", 0.5 if count - placed > 500 else 0.05, 16, "create.lua", [server.authorization], [uuid.uuid4()])


def last_seq(server):
    return server.box.value("SELECT max(event_seq) FROM company_counter")


# Rates


def drains(bench):
    """A subscription that was paused begins to send; the same messages from a loop."""
    what = "webhooks, a backlog drains over "
    for scheme, bar in DRAIN_BARS.items():
        if bench.wanted(what + scheme):
            drain(bench, what + scheme, scheme, bar)


def drain(bench, what, scheme, bar):
    count = BACKLOG[bench.brief]
    kept = bench.parent / f"messages-{scheme}"
    tls = make_pair(bench.parent, "receiver") if scheme == "https" else None
    receiver = Receiver(bench.stack, tls, kept)
    server = serve(bench, "drain-" + scheme, ["--webhook-ca", str(tls.certificate)] if tls else [])
    place_many(server, 16)
    with server.client() as client:
        hook = subscribe(client, receiver, is_active=False)
    samples = []
    for number in range(bench.rounds):
        place_many(server, count)
        with server.client() as client:
            waiting = backlog_of(client, hook)
            receiver.forget()
            cpu = server.box.cpu_seconds()
            change(client, hook, is_active=True)
            arrived = receiver.wait_for(waiting, max(PATIENCE_S, waiting / 20))
            cpu = server.box.cpu_seconds() - cpu
            change(client, hook, is_active=False)
            if number == 0:  # the loop posts what the first round has sent
                receiver.stop()
                receiver = Receiver(bench.stack, tls)
                change(client, hook, webhook_url=receiver.url)
        loop = post(receiver, kept, waiting, tls)
        samples.append({"per_second": waiting / arrived["seconds"], "loop_per_second": waiting / loop["seconds"],
                        "cpu_us": cpu / waiting * 1e6, "loop_cpu_us": loop["cpu_seconds"] / waiting * 1e6})
    middle = {name: statistics.median(sample[name] for sample in samples) for name in samples[0]}
    share = statistics.median(sample["per_second"] / sample["loop_per_second"] for sample in samples)
    per_second = middle["per_second"]
    bench.add(Row(what + ", of a loop", f">= {bar:.2f}", share, ceiling=f"{middle['loop_per_second']:.0f}/s",
                  met=share >= bar, detail={"rounds": samples},
                  note=f"server CPU {middle['cpu_us']:.0f} us for each message, of the loop {middle['loop_cpu_us']:.0f} us"),
              Row(what + ", messages/s", f">= {DRAIN_PER_SECOND}", per_second, met=per_second >= DRAIN_PER_SECOND))


def post(receiver, messages, count, tls):
    words = [this_program().webhooks, "post", "--url", receiver.url, "--messages", messages, "--count", count]
    if tls:
        words += ["--ca", tls.certificate]
    result = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    if result.returncode != 0:
        raise SystemExit(f"bench: comanda_bench_webhooks post failed: {result.stderr}")
    return json.loads(result.stdout)


# The tills meanwhile


class Tills:
    """Together so many orders a second, each till by a connection of its own."""

    def __init__(self, server, tills=TILLS, per_second=PER_SECOND):
        self.server, self.tills, self.per_second, self.times_ms = server, tills, per_second, []

    def work(self, seconds):
        end = time.monotonic() + seconds
        return self.work_while(lambda: time.monotonic() < end)

    def work_while(self, goes_on):
        self.goes_on = goes_on
        self.connected = threading.Barrier(self.tills)
        threads = [threading.Thread(target=self.serve) for _ in range(self.tills)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return self

    def times_while(self, goes_on):
        return self.work_while(goes_on).times_ms

    def serve(self):
        body = json.dumps({"service_type": "ONSITE", "order_title": "Mesa 4", "comment": "sin cebolla"})
        pause = self.tills / self.per_second
        with contextlib.closing(QuickClient(self.server.box)) as client:
            try:
                client.send(self.server.key, "GET", "/v1/orders?per_page=1")  # no handshake is measured, nor beside what is
            except OSError:
                self.connected.abort()  # the others wait for this one
                raise
            self.connected.wait()
            due = time.monotonic() + random.uniform(0, pause)
            while self.goes_on():
                time.sleep(max(0, due - time.monotonic()))
                begin = time.perf_counter()
                answer = client.send(self.server.key, "POST", "/v1/orders", body, str(uuid.uuid4()))
                self.times_ms.append((time.perf_counter() - begin) * 1000)
                assert answer.status == 201, (answer.status, answer.body)
                due += pause


def percentile(times, percent):
    times = sorted(times)
    return times[min(len(times) - 1, len(times) * percent // 100)]


def tills(bench):
    """Orders at a steady pace, and as many as there can be, with and without subscriptions."""
    paced = "webhooks, tills' p99, 10 subscriptions of none"
    draining = "webhooks, tills' p99 while a backlog drains of none"
    full = "webhooks, orders at full load, 10 subscriptions of none"
    if not bench.wanted(paced, draining, full):
        return
    receiver = Receiver(bench.stack)
    alone, with_hooks = serve(bench, "tills-alone"), serve(bench, "tills-webhooks")
    with with_hooks.client() as client:
        hooks = [subscribe(client, receiver) for _ in range(SUBSCRIPTIONS)]

    def set_active(is_active):
        with with_hooks.client() as client:
            for hook in hooks:
                change(client, hook, is_active=is_active)

    def skip():
        """Forgets the backlog."""
        with with_hooks.client() as client:
            for hook in hooks:
                change(client, hook, is_active=True, skip_backlog=True)

    seconds = 2 if bench.brief else 5 * bench.seconds
    if bench.wanted(paced):
        times = in_turns(bench.rounds, lambda: Tills(alone).work(seconds), lambda: Tills(with_hooks).work(seconds))
        bench.add(p99_row(paced, *times))
    if bench.wanted(draining):
        def drained():
            skip()
            set_active(False)
            place_many(with_hooks, BACKLOG[bench.brief] // 4)  # ten times as many messages
            set_active(True)
            return Tills(with_hooks).work(seconds)

        times = in_turns(bench.rounds, lambda: Tills(alone).work(seconds), drained)
        with with_hooks.client() as client:
            left = sum(backlog_of(client, hook) for hook in hooks)
        row = p99_row(draining, *times)
        row.note += f"; {left} messages of the backlog were left in the end"
        bench.add(row)
        skip()
    if bench.wanted(full):
        rates = []
        for _ in range(bench.rounds):
            rates.append([load(server.box, "/v1/orders", bench.seconds, 64, "create.lua", [server.authorization],
                               [uuid.uuid4()]).per_second for server in (alone, with_hooks)])
            skip()
        share = statistics.median(hooked / none for none, hooked in rates)
        none, hooked = (statistics.median(of_one) for of_one in zip(*rates))
        bench.add(Row(full, f">= {FULL_LOAD_RATIO:.2f}", share, ceiling=f"{none:.0f}/s", met=share >= FULL_LOAD_RATIO,
                      note=f"{hooked:.0f}/s with subscriptions", detail={"per_second": rates}))


def in_turns(rounds, *runs):
    """All times of each."""
    found = [[] for _ in runs]
    for number in range(rounds):
        for n in sorted(range(len(runs)), reverse=number % 2 == 1):
            found[n] += runs[n]().times_ms
            time.sleep(SETTLED_S)
    return found


def p99_row(what, alone, hooked, ratio_max=P99_RATIO_MAX):
    none, some = percentile(alone, 99), percentile(hooked, 99)
    return Row(what, f"<= {ratio_max}", some / none, ceiling=f"{none:.1f} ms", met=some / none <= ratio_max,
               note=f"{some:.1f} ms of {len(hooked)} orders; medians {statistics.median(alone):.1f} and "
                    f"{statistics.median(hooked):.1f} ms", detail={"p99_ms": [none, some]})
