"""A week without the cloud: everything comes over afterwards, with few requests and little memory, while the restaurant goes
on; new orders go first. With --long 14,000 orders of 100,000 events; what a till sees of it is printed, not asserted."""

import contextlib
import pathlib
import re
import subprocess
import threading
import time

from support.box import BINARY, LONG, PATIENCE_S, RUNNER
from support.cloud_pair import POLL_EVERY_S, Pair
from support.wall_clock import ClockBox

ORDERS = 14_000 if LONG else 42
CREATES = 2_000 if LONG else 20  # whose times are printed
# Requests a minute of the key's tier. With --long ten times the real one of `plus`, so that it takes minutes, not hours.
PER_MINUTE = 6_000 if LONG else 1_200
TIMEOUT_S = 4 * 3600 if LONG else PATIENCE_S * 3
MIB = 1 << 20
MEMORY_MAX = 12 * MIB
DAY_S = 24 * 3600
WEEK = 7  # days
DAYS_AGO = (11, 9, 3, 1)


def resident(box):
    """Without the pages of files."""
    status = pathlib.Path(f"/proc/{box.process.pid}/status").read_text()
    return int(re.search(r"^RssAnon:\s+(\d+) kB", status, re.M)[1]) * 1024


def sell(till, orders):
    """Guests as a day brings them: seven changes each, the items in one call."""
    for _ in range(orders):
        order = till.discount(till.add(till.open(service_type="TAKEAWAY", scheduled_delivery_date=None)))
        order = till.pay(order, in_full=True)
        for status in ("PREPARING", "READY", "FINALIZED"):
            order = till.move(order, "PATCH", "/status", {"status": status})


def times_of_creates(till, count):
    times = []
    for _ in range(count):
        begin = time.monotonic()
        till.open(service_type="ONSITE", scheduled_delivery_date=None)
        times.append((time.monotonic() - begin) * 1000)
    return sorted(times)


def told(name, times):
    print(f"{name}: p50 {times[len(times) // 2]:.2f} ms, p99 {times[len(times) * 99 // 100]:.2f} ms")


class Highest(threading.Thread):
    """The most memory that the box had."""

    def __init__(self, box):
        super().__init__(daemon=True)
        self.box, self.bytes, self.ended = box, 0, threading.Event()
        self.start()

    def run(self):
        while not self.ended.wait(0.05):
            self.bytes = max(self.bytes, resident(self.box))


def synchronised(data, options, **named):
    return ClockBox(data, options, synchronised=True, **named)


def sell_a_week(pair, till):
    for day in range(WEEK, 0, -1):
        pair.box.set_ahead(-day * DAY_S)
        sell(till, ORDERS // WEEK)


def memory_without_a_cloud(directory, seed):
    """The most that a box has that sold the same and is linked with nobody; its times are printed."""
    directory.mkdir()
    with Pair(directory, seed, kind=synchronised, start=False) as pair:
        pair.box.start_at(-WEEK * DAY_S)
        till = pair.till()
        sell_a_week(pair, till)
        pair.box.set_ahead(0)
        highest = Highest(pair.box)
        told("unlinked", times_of_creates(till, CREATES))
        require_selftest(pair)
        highest.ended.set()
        return highest.bytes


def test_a_week_offline_comes_over_while_the_restaurant_goes_on(tmp_path, seed):
    alone = memory_without_a_cloud(tmp_path / "alone", seed)
    began = time.monotonic()
    with Pair(tmp_path, seed, tier="plus", cloud_options=["--rate-plus", str(PER_MINUTE)], kind=synchronised,
              start=False) as pair:
        for server in (pair.box, pair.cloud):
            server.start_at(-WEEK * DAY_S)
        till = pair.till()
        sell(till, 10)
        pair.link()
        pair.settle(timeout_s=TIMEOUT_S)
        before = len(pair.proxy.writes())

        pair.proxy.go_offline()
        sell_a_week(pair, till)
        backlog = {record["reference"] for record in till.orders.values()} - {e.key for e in pair.proxy.writes()}
        pair.eventually(lambda: require_planned(pair, ORDERS // WEEK * WEEK))
        for server in (pair.box, pair.cloud):
            server.set_ahead(0)
        told("offline", times_of_creates(till, CREATES))
        highest = Highest(pair.box)
        newest = sell_while_the_cloud_comes_back(pair, till)
        told("behind", times_of_creates(till, CREATES))
        require_selftest(pair)
        pair.settle(timeout_s=TIMEOUT_S)
        highest.ended.set()
        more = highest.bytes - alone
        print(f"memory: {highest.bytes / MIB:.1f} MiB, of which the sync takes {more / MIB:.1f}")
        assert more <= MEMORY_MAX, f"{more / MIB:.1f} MiB more than a box without a cloud"
        require_overtaking(pair, newest, backlog)
        require_few_requests(pair, before, time.monotonic() - began)
        require_all(pair)


def require_planned(pair, orders):
    """The journal holds the steps while the cloud is away. The box plans them when it tries the line again, and the longer the
    line was cut, the longer it waits before that."""
    status = pair.status()
    # A box that is "behind" tries the line already, and would begin again with its older orders.
    if status["steps_waiting"] < orders * 4 and status["state"] == "offline":
        pair.command("resume", check=False)
    assert status["state"] == "offline" and status["steps_waiting"] >= orders * 4, status


def sell_while_the_cloud_comes_back(pair, till):
    """The cloud's record of an order that was sold before the line lets a write pass."""
    is_placed = threading.Event()
    pair.proxy.at = lambda point, exchange: exchange.method == "GET" or is_placed.wait(PATIENCE_S)
    pair.proxy.go_online()
    pair.command("resume")
    order = till.finish(till.open(service_type="ONSITE", scheduled_delivery_date=None))
    is_placed.set()

    def there():
        found = cloud_orders(pair, order["reference"])
        assert [r["status"] for r in found] == ["FINALIZED"]
        return found[0]
    # Behind those that are open, of which --long has two thousand.
    return pair.eventually(there, timeout_s=PATIENCE_S * (10 if LONG else 1))


def require_overtaking(pair, newest, backlog):
    """`newest`: the cloud's record of an order; `backlog`: references of the orders that were sold before it, offline."""
    writes = pair.proxy.writes()
    last = max(n for n, e in enumerate(writes) if newest["id"] in e.path)
    assert any(e.key in backlog for e in writes[last:]), "the new order came behind the backlog"


def cloud_orders(pair, reference):
    with contextlib.closing(pair.cloud.client(pair.cloud.make_key()["key"])) as client:
        return client.get("/v1/orders?filter[reference]=" + reference).data


def require_selftest(pair):
    done = subprocess.run([*RUNNER, str(BINARY), "selftest", "--url", f"https://127.0.0.1:{pair.box.port}", "--key", pair.key,
                           "--ca", str(pair.box.cafile)], capture_output=True, text=True, timeout=PATIENCE_S * 10)
    assert done.returncode == 0, done.stdout + done.stderr


def require_few_requests(pair, before, elapsed_s):
    """At most 1.05 requests for each step, and five for each order whose items came in one call; and few polls of the cloud's
    events beside those that its interval makes due, though each step makes one."""
    writes = [e for e in pair.proxy.writes()[before:] if e.key]
    steps = {e.key for e in writes}
    sold = [key for key in steps if re.fullmatch(r"till-\w+-\d+", key)]
    assert len(writes) <= 1.05 * len(steps), (len(writes), len(steps))
    assert len(writes) <= 5 * len(sold), (len(writes), len(sold))
    polls = [e for e in pair.proxy.exchanges if e.path.startswith("/v1/events")]
    assert len(polls) <= len(steps) / 8 + 20 + elapsed_s / POLL_EVERY_S, (len(polls), len(steps), elapsed_s)


def require_all(pair):
    """Also that no order of the self-test is in the cloud."""
    pair.cloud_key = pair.cloud.make_key()["key"]  # of a tier without a limit
    cloud = pair.cloud_records()
    sold = [r for r in pair.box_records() if r["reference"].startswith("till-")]
    assert {r["id"] for r in sold} == set(pair.acknowledged())
    pair.require_equal(sold, cloud, with_dates=True)
    assert len(cloud) == len(sold)
    pair.proxy.require_steady_keys()


def test_an_outage_outlives_the_event_log(tmp_path, seed):
    """The log keeps a week. What is to be sent is in the journal."""
    with Pair(tmp_path, seed, kind=synchronised, start=False) as pair:
        for server in (pair.box, pair.cloud):
            server.start_at(-12 * DAY_S)
        pair.link()
        till = pair.till()
        sell(till, 2)
        pair.settle()
        pair.proxy.go_offline()
        # The server notes at each start, and once an hour, how far its log is.
        for day in DAYS_AGO:
            restart(pair.box, day)
            for _ in range(3):
                till.finish(till.open(service_type="ONSITE", scheduled_delivery_date=None))
        pair.eventually(lambda: require_planned(pair, 3 * len(DAYS_AGO)))
        restart(pair.box, 0)
        pair.eventually(lambda: require_purged(pair))
        pair.cloud.set_ahead(0)
        pair.proxy.go_online()
        pair.settle()
        pair.eventually(pair.compare)
        days = {record["created_at"][:10] for record in pair.cloud_records()}
        assert len(days) >= len(DAYS_AGO)


def restart(box, days_ago):
    assert box.stop() == 0
    box.start_at(-days_ago * DAY_S)


def require_purged(pair):
    assert pair.box.value("SELECT min(log_start) FROM company_counter") > 1
