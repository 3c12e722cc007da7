"""Floods: what comes faster than it can be served is turned away cheaply; it ends, and all is as before."""

import contextlib
import resource
import subprocess
import sys
import time

import pytest

from support import flood
from support.box import LONG, PATIENCE_S
from support.metrics import samples
from support.terminals import Terminals
from support.waiting import wait_until

SECONDS = 60 if LONG else 4
DESCRIPTORS = 64
OTHER_LINES_MAX = 25  # of start and terminals


class Shop:
    def __init__(self, box):
        self.box, self.key, self.begin = box, box.make_key()["key"], time.monotonic()
        box.start()

    def require_few_lines(self):
        """About one cause at most a line a second."""
        lines = lines_of(self.box)
        assert len(lines) < time.monotonic() - self.begin + OTHER_LINES_MAX, lines


@pytest.fixture
def shop(box):
    return Shop(box)


def wait_until_at_work(*crews):
    """Until each terminal has been served: each asks again and again, with about the same pauses."""
    for crew in crews:
        wait_until(lambda: len(crew.shift.times_ms) >= 3 * len(crew.addresses), lambda: crew.shift.failures)


def pour(box, kind):
    result = subprocess.run([sys.executable, flood.__file__, "--port", str(box.port), "--kind", kind, "--seconds", str(SECONDS),
                             "--at-least", "50"], capture_output=True, text=True, timeout=SECONDS + PATIENCE_S * 4)
    assert result.returncode == 0, result.stderr


def assert_back(box, key):
    """New connections and old ones are served, and orders are taken."""
    def is_served():
        with contextlib.suppress(OSError), contextlib.closing(box.client(key)) as client:
            return client.place()

    wait_until(is_served, box.log_text)


def lines_of(box):
    """Of the log, without those of orders that terminals placed and of the checks after a start."""
    return [line for line in box.log_text().splitlines()
            if "status=201" not in line and "was checked" not in line and "damaged=0" not in line]


@pytest.mark.parametrize("kind", flood.KINDS)
def test_a_flood_disturbs_no_terminal_and_does_not_fill_the_log(shop, kind):
    box, key = shop.box, shop.key
    with Terminals(box, key, 5, first=1) as lasting, Terminals(box, key, 5, fresh=True, first=101) as fresh:
        wait_until_at_work(lasting, fresh)
        pour(box, kind)
    assert_back(box, key)
    assert lasting.shift.failures + fresh.shift.failures == []
    shop.require_few_lines()


def limit_descriptors(box, soft):
    _, hard = resource.prlimit(box.process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(box.process.pid, resource.RLIMIT_NOFILE, (soft, hard))


def test_with_few_descriptors_connections_give_way_and_work_goes_on(shop):
    box, key = shop.box, shop.key
    limit_descriptors(box, DESCRIPTORS)
    with contextlib.ExitStack() as stack:
        terminal = stack.enter_context(contextlib.closing(box.client(key)))
        terminal.place()
        opened = []
        for _ in range(200):
            client = stack.enter_context(contextlib.closing(box.client(key)))
            assert client.get("/healthz").status == 200
            opened.append(time.monotonic())
        found = samples(terminal.get("/metrics").body.decode())
        evicted = found['comanda_http_connections_evicted_total{listener="https",reason="descriptors"}']
        # Idle connections end by themselves after 15 s; nobody has to wait for that.
        at_once = max(sum(begin <= other < begin + 15 for other in opened) for begin in opened)
        print(f"{at_once} connections in 15 s, {evicted:.0f} evicted")
        assert evicted >= at_once - DESCRIPTORS
        terminal.place()
        assert_back(box, key)
    assert_back(box, key)
    shop.require_few_lines()


def test_it_starts_and_serves_with_64_descriptors(box):
    key = box.make_key()["key"]
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, limits[1]))
    try:
        box.start()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    with Terminals(box, key, 20, first=1) as lasting:
        wait_until_at_work(lasting)
    assert_back(box, key)
