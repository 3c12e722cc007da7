"""What a backlog that goes up to the cloud costs the tills: at the pace of the cloud's tier `plus`, beside a box that is not
linked. The cloud is a second Comanda, which stands for another machine."""

import contextlib
import json
import os
import pathlib
import tempfile
import time

from serving import InAProcess, Server, elsewhere
from support.orders import three_items
from webhooks import Tills, p99_row

TILLS_RATIO_MAX = 1.15
BACKLOG = {True: 5, False: 300}  # orders, in brief or not
BEGUN_S = 1
OPTIONS = ["--sandbox-listen", ""]


def tills(bench):
    """With orders of the day in the backlog, and those that the tills make."""
    what = "cloud, tills' p99 while a backlog goes up of none"
    if not bench.wanted(what):
        return
    # Not on the box's disk.
    elsewhere_directory = pathlib.Path(bench.stack.enter_context(tempfile.TemporaryDirectory(dir="/dev/shm")))
    alone, box, cloud = (Server(bench.stack, directory, bench.programs[0].binary, options=OPTIONS)
                         for directory in (bench.parent / "unlinked", bench.parent / "linked", elsewhere_directory / "cloud"))
    elsewhere(os.listdir(f"/proc/{cloud.box.process.pid}/task"))
    link(box, cloud)
    command(box, "pause")
    with box.client() as client:
        for _ in range(BACKLOG[bench.brief]):
            order = client.pay(client.add(client.place(comment="sin cebolla"), *three_items(box.box)), 10)
            for status in ("PREPARING", "READY"):
                client.advance(order, status)
    seconds = 2 if bench.brief else 5 * bench.seconds
    times, steps = [[], []], 0

    def unlinked():
        command(box, "pause")
        return work(alone, seconds)

    def linked():
        nonlocal steps
        command(box, "resume")
        time.sleep(BEGUN_S)
        before = requests(box)
        try:
            return work(box, seconds)
        finally:
            steps += requests(box) - before

    for number in range(2 * bench.rounds):
        for n in sorted(range(2), reverse=number % 2 == 1):
            times[n] += (unlinked, linked)[n]()
    left = json.loads(command(box, "status", "--json").stdout)["steps_waiting"]
    row = p99_row(what, *times, ratio_max=TILLS_RATIO_MAX)
    row.note += f"; {steps / seconds / 2 / bench.rounds:.1f} requests to the cloud a second, {left} steps were left in the end"
    command(box, "unlink")
    bench.add(row)


def work(server, seconds):
    with InAProcess(Tills(server).times_while) as till:
        time.sleep(seconds)
    return till.result


def link(box, cloud):
    key = cloud.box.make_key(scopes="all,orders:sync", tier="plus", name="box")["key"]
    file = box.box.data / "key-of-the-cloud"
    file.write_text(key + "\n")
    file.chmod(0o600)
    command(box, "link", "--url", f"https://127.0.0.1:{cloud.box.port}", "--key-file", file, "--ca-file", cloud.box.cafile)


def command(server, *words):
    check = words[0] != "status"  # which says by its exit code whether all is in step
    return server.box.command("cloud", *map(str, words), "--data", str(server.box.data), check=check)


def requests(server):
    with contextlib.closing(server.box.client()) as client:
        line = next(line for line in client.get("/metrics").body.decode().splitlines()
                    if line.startswith("comanda_cloud_requests_total "))
    return float(line.split()[-1])
