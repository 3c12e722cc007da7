"""Floods: what comes faster than it can be served is turned away cheaply; it ends, and all is as before."""

import contextlib
import os
import resource
import subprocess
import sys
import time

import pytest

from support import flood
from support.box import LONG, PATIENCE_S
from support.terminals import Terminals

SECONDS = 60 if LONG else 4
BACK_S = 2 if "COMANDA_PATIENCE" not in os.environ else PATIENCE_S  # the box is as before, so long after the end
LINES_MAX = SECONDS + 25  # about one cause; a line a second, and a few of start and terminals


@pytest.fixture
def shop(box):
    key = box.make_key()["key"]
    box.start()
    return box, key


def pour(box, kind):
    """How many there were."""
    result = subprocess.run([sys.executable, flood.__file__, "--port", str(box.port), "--kind", kind,
                             "--seconds", str(SECONDS)], capture_output=True, text=True, timeout=SECONDS + PATIENCE_S)
    assert result.returncode == 0, result.stderr
    return int(result.stdout)


def assert_back(box, key):
    """New connections and old ones are served, and orders are taken."""
    deadline = time.monotonic() + BACK_S
    while True:
        try:
            with contextlib.closing(box.client(key)) as client:
                client.place()
                return
        except OSError:
            assert time.monotonic() < deadline, "it did not come back:\n" + box.log_text()[-2000:]
            time.sleep(0.05)


def lines(box):
    """Of the log, without those of orders that terminals placed and of the checks after a start."""
    return [line for line in box.log_text().splitlines()
            if "status=201" not in line and "was checked" not in line and "damaged=0" not in line]


@pytest.mark.parametrize("kind", flood.KINDS)
def test_a_flood_disturbs_no_terminal_and_does_not_fill_the_log(shop, kind):
    box, key = shop
    with Terminals(box, key, 5, first=1) as lasting, Terminals(box, key, 5, fresh=True, first=101) as fresh:
        time.sleep(0.5)
        count = pour(box, kind)
    assert_back(box, key)
    assert count > 100
    assert lasting.shift.failures + fresh.shift.failures == []
    assert len(lines(box)) < LINES_MAX, lines(box)


def limit_descriptors(box, soft):
    _, hard = resource.prlimit(box.process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(box.process.pid, resource.RLIMIT_NOFILE, (soft, hard))


def test_with_few_descriptors_connections_give_way_and_work_goes_on(shop):
    box, key = shop
    limit_descriptors(box, 64)
    with contextlib.ExitStack() as stack:
        terminal = stack.enter_context(contextlib.closing(box.client(key)))
        terminal.place()
        waits_s = []
        for _ in range(200):
            client = stack.enter_context(contextlib.closing(box.client(key)))
            begin = time.monotonic()
            assert client.get("/healthz").status == 200
            waits_s.append(time.monotonic() - begin)
        assert max(waits_s) < 10, "idle connections end by themselves after 15 s; nobody may have to wait for that"
        terminal.place()
        assert_back(box, key)
    assert_back(box, key)
    assert len(lines(box)) < LINES_MAX, lines(box)


def test_it_starts_and_serves_with_64_descriptors(box):
    key = box.make_key()["key"]
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, limits[1]))
    try:
        box.start()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    with Terminals(box, key, 20, first=1) as lasting:
        time.sleep(2)
    assert lasting.shift.times_ms
    assert_back(box, key)
