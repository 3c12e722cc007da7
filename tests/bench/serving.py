"""Servers under load, and what they take: CPU, memory, bytes written."""

import contextlib
import dataclasses
import itertools
import json
import multiprocessing
import os
import pathlib
import statistics
import subprocess
import time

from support.box import Box
from support.orders import three_items

HERE = pathlib.Path(__file__).resolve().parent
CONNECTING_S = 0.5
ENDING_S = 0.3
fresh_numbers = itertools.count(200_000, 200_000)  # for fresh.lua


@dataclasses.dataclass
class Sample:
    cpu_us: float  # server CPU per request
    per_second: float


def in_turns(rounds, *runs):
    """Each run once a round, to and fro, so that what else the machine does meets all alike; the CPU of each, round by
    round."""
    samples = []
    for number in range(rounds):
        order = sorted(range(len(runs)), reverse=number % 2 == 1)
        costs = {n: runs[n]().cpu_us for n in order}
        samples.append([costs[n] for n in range(len(runs))])
    return samples


def medians(samples):
    return [statistics.median(of_one) for of_one in zip(*samples)]


def ratio(samples, one, other):
    """The median of the ratios within each round."""
    return statistics.median(costs[one] / costs[other] for costs in samples)


class Server:
    """A box with a restaurant and a key, running until the stack ends."""

    def __init__(self, stack, data, binary, product=None, options=(), restaurant="demo"):
        """`product`: the program that makes the data, where `binary` is that of the ceilings. `restaurant`: a file, or the demo."""
        data.mkdir()
        shop = Box(data, binary=product or binary)
        shop.bring_in(restaurant)
        self.key = shop.make_key(name="bench")["key"]
        self.box = Box(data, options, binary)
        self.box.start()
        stack.callback(self.box.stop)

    @property
    def authorization(self):
        return ("Authorization", "Bearer " + self.key)

    def client(self):
        return contextlib.closing(self.box.client(self.key))

    def resident_mb(self):
        return of_process(self.box, "status", "VmRSS:") * 1024 / 1e6

    def written_bytes(self):
        """To the disk; None where the kernel does not show it to us: without root, since the server is not dumpable."""
        try:
            return of_process(self.box, "io", "write_bytes:")
        except PermissionError:
            return None


def elsewhere(threads):
    """These, and the threads that they make, stand for another machine: they get only the time that the server and the tills
    leave."""
    for thread in threads:
        os.sched_setscheduler(int(thread), os.SCHED_IDLE, os.sched_param(0))


class InAProcess:
    """In `with`: runs function(goes_on) in a process of its own, as a till beside the programs of this one, for as long as
    goes_on() is true, which the end of `with` ends; then `result`."""

    def __init__(self, function):
        context = multiprocessing.get_context("fork")
        self.ended, self.results = context.Event(), context.SimpleQueue()
        self.process = context.Process(target=self.run, args=(function,))

    def run(self, function):
        self.results.put(function(lambda: not self.ended.is_set()))

    def __enter__(self):
        self.process.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.result = self.results.get()
        self.process.join()


def of_process(box, file, name):
    lines = pathlib.Path(f"/proc/{box.process.pid}/{file}").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1])


def answered(watcher):
    """How many requests the server has answered."""
    lines = watcher.get("/metrics").body.decode().splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith("comanda_http_requests_total{"))


def load(box, path, seconds, connections, script="read.lua", headers=(), words=()):
    """wrk against one path of a running server. Its CPU is measured when all connections are made: a handshake costs
    as much as eight orders, and a till makes one a day."""
    command = ["wrk", "-t", "1", "-c", str(connections), "-d", f"{int(CONNECTING_S + seconds + 0.99)}s", "-s",
               str(HERE / script)]
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
        time.sleep(ENDING_S)  # the requests that wrk left without their answers count among those that a key may have
    if wrk.returncode != 0:
        raise SystemExit(f"bench: wrk failed: {stdout}{stderr}")
    report = json.loads(stdout.splitlines()[-1])
    if report["failed"] or not requests:
        raise SystemExit(f"bench: {path}: {report['failed']} of {report['requests']} requests failed\n{box.log_text()[-2000:]}")
    return Sample(cpu / requests * 1e6, requests / took)


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
