"""The Friday peak: what the tills of a full house wait longer for beside all that a box does for others at once: displays that
wait for events, webhooks, the cloud, and bursts of orders of a delivery app. All of these stand for other machines."""

import contextlib
import os
import pathlib
import statistics
import tempfile
import threading
import time

from apps import burst, restaurant
from linked import link
from serving import InAProcess, Server, elsewhere
from support.quick_client import QuickClient
from table import Row
from webhooks import Receiver, Tills, percentile, subscribe

TILLS, PER_SECOND = 64, 32
POLLS, HOOKS, BURST = 30, 10, 50
ADDED_MS_MAX = 10
BEGUN_S = 1
PLACES = {"on a file system in memory": "/dev/shm", "on a disk": None}


def tills(bench):
    for place, directory in PLACES.items():
        what = f"Friday peak, ms added to the tills' p99, {place}"
        if bench.wanted(what):
            with contextlib.ExitStack() as stack, temporary_files_in(directory):
                peak(bench, stack, what)


@contextlib.contextmanager
def temporary_files_in(directory):
    before, tempfile.tempdir = tempfile.tempdir, directory or tempfile.tempdir
    try:
        yield
    finally:
        tempfile.tempdir = before


def peak(bench, stack, what):
    # The cloud's is not on the box's disk.
    directories = [pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="comanda-bench-", dir=directory)))
                   for directory in (None, None, "/dev/shm")]
    shop, alone = (restaurant(stack, directory) for directory in directories[:2])
    receiver = Receiver(stack)
    elsewhere(os.listdir(f"/proc/{receiver.process.pid}/task"))
    for _ in range(HOOKS):
        subscribe(shop.api, receiver)
    cloud = Server(stack, directories[2] / "cloud", bench.programs[0].binary, options=["--sandbox-listen", ""],
                   restaurant=directories[0] / "restaurant.json")
    elsewhere(os.listdir(f"/proc/{cloud.box.process.pid}/task"))
    link(shop, cloud)

    seconds = 2 if bench.brief else 5 * bench.seconds
    times = [[], []]
    for _ in range(bench.rounds):
        with InAProcess(Tills(alone, TILLS, PER_SECOND).times_while) as till:
            time.sleep(seconds)
        times[0] += till.result
        with InAProcess(Displays(shop).answers_while) as displays:
            time.sleep(BEGUN_S)
            with InAProcess(Tills(shop, TILLS, PER_SECOND).times_while) as till:
                end = time.monotonic() + seconds
                burst(shop, BURST)
                time.sleep(max(0, end - time.monotonic()))
        times[1] += till.result
    none, some = (percentile(of_one, 99) for of_one in times)
    bench.add(Row(what, f"<= {ADDED_MS_MAX}", max(0.0, some - none), ceiling=f"{none:.1f} ms", met=some - none <= ADDED_MS_MAX,
                  note=f"{some:.1f} ms of {len(times[1])} orders; medians {statistics.median(times[0]):.1f} and "
                       f"{statistics.median(times[1]):.1f} ms; {displays.result} answers to displays in the last round, "
                       f"{receiver.arrived()['requests']} webhooks in all",
                  detail={"p99_ms": [none, some]}))


class Displays:
    """Each waits for events on a connection of its own."""

    def __init__(self, server):
        self.server, self.answers = server, 0

    def answers_while(self, goes_on):
        self.goes_on = goes_on
        elsewhere([os.getpid()])
        threads = [threading.Thread(target=self.watch) for _ in range(POLLS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return self.answers

    def watch(self):
        with contextlib.closing(QuickClient(self.server.box)) as client:
            cursor = client.send(self.server.key, "GET", "/v1/orders?per_page=1").headers["x-event-cursor"]
            while self.goes_on():
                answer = client.send(self.server.key, "GET", f"/v1/events?after={cursor}", Prefer="wait=2")
                assert answer.status == 200, (answer.status, answer.body)
                cursor = answer.json["next"]
                self.answers += 1
