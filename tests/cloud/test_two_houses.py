"""Tills at the box and tills in the cloud, while the line comes and goes and both servers are killed: every order is on
both sides as its till was answered last."""

import itertools
import random
import threading
import time

from support.box import LONG, PATIENCE_S
from support.cloud_pair import Pair, difference, essence
from support.cloud_tills import CloudTill

SECONDS = 60 if LONG else 12
TILLS = 5


def work(till, stopping, failures):
    try:
        while not stopping.is_set():
            till.serve()
    except BaseException as failure:  # the test reports it
        failures.append(failure)


def trouble(pair, dice, until):
    """Cuts the line and kills servers, one after the other."""
    while time.monotonic() < until:
        match dice.choice(["cut", "fail", "box", "cloud", "rest"]):
            case "cut":
                pair.proxy.go_offline()
                time.sleep(dice.random())
                pair.proxy.go_online()
            case "fail":
                pair.proxy.rate = 0.3
                time.sleep(dice.random())
                pair.proxy.rate = 0
            case "rest":
                time.sleep(dice.random())
            case side:
                server = pair.box if side == "box" else pair.cloud
                server.kill()
                server.start()


def compare(pair, tills):
    told = {order["reference"]: essence(order) for till in tills for order in till.orders.values()}
    for where, records in (("here", pair.box_records()), ("there", pair.cloud_records())):
        shown = {record["reference"]: essence(record) for record in records}
        assert len(shown) == len(records) == len(told), (where, len(shown), len(records), len(told))
        wrong = {reference: difference(told[reference], one) for reference, one in shown.items() if one != told[reference]}
        assert not wrong, (f"seed {pair.seed}", where, len(wrong), list(wrong.items())[:2])


def test_ten_tills_on_two_sides_with_cuts_and_kills(tmp_path, seed):
    dice = random.Random(seed)
    with Pair(tmp_path, seed) as pair:
        pair.link()
        key = pair.cloud.make_key(name="tills")["key"]
        for n in range(TILLS):
            pair.till(f"here{n}")
        for n in range(TILLS):
            pair.tills.append(CloudTill(pair.cloud, key, seed, f"there{n}").look_around())
        tills = pair.tills
        stopping, failures = threading.Event(), []
        threads = [threading.Thread(target=work, args=(till, stopping, failures)) for till in tills]
        for thread in threads:
            thread.start()
        trouble(pair, dice, time.monotonic() + SECONDS)
        stopping.set()
        for thread in threads:
            thread.join(PATIENCE_S * 4)
        assert not failures, failures
        pair.settle()
        pair.eventually(lambda: compare(pair, tills))
        print(f"{sum(len(till.orders) for till in tills)} orders")


def test_a_long_feed_of_the_cloud_leaves_the_backlog_its_time(tmp_path, seed):
    """After an outage in which both sides took orders: the steps do not wait until all events were read."""
    with Pair(tmp_path, seed) as pair:
        pair.link()
        here = pair.till("here")
        key = pair.cloud.make_key(name="tills")["key"]
        there = CloudTill(pair.cloud, key, seed, "there").look_around()
        pair.tills.append(there)
        pair.settle()
        pair.proxy.go_offline()
        for till in (here, there):
            for _ in range(400):
                till.serve(0)
        before = len(pair.proxy.exchanges)
        pair.proxy.go_online()
        pair.settle()
        asked = [e for e in pair.proxy.exchanges[before:] if e.path.startswith("/v1/events") or e.method != "GET"]
        pages = [n for n, e in enumerate(asked) if e.method == "GET"]
        between = [b - a - 1 for a, b in itertools.pairwise(pages) if b < len(asked) - 20]
        assert len(between) >= 4 and sum(steps < 4 for steps in between) <= 1, between
        pair.eventually(lambda: compare(pair, [here, there]))
