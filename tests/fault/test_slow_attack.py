"""1,000 connections that only hold workers, from one address and from 200: the terminals notice nothing."""

import contextlib
import http.client
import json
import re
import subprocess
import sys
import threading
import time

import pytest

from fault.test_floods import wait_until_at_work
from support import slow_attack
from support.box import Box, LONG, PATIENCE_S
from support.terminals import Terminals
from support.waiting import wait_until

COUNT = 1000
SECONDS = 30 if LONG else 2.0


class Attack:
    """tests/support/slow_attack.py against the box, until it has tried to open all its connections."""

    def __init__(self, box, kind, sources, key=None):
        words = ["--port", box.port, "--kind", kind, "--sources", sources, "--count", COUNT, "--first-rate", 500,
                 "--rate", 100, "--seconds", SECONDS + PATIENCE_S * 10]
        if key:
            words += ["--key", key]
        self.process = subprocess.Popen([sys.executable, slow_attack.__file__, *map(str, words)],
                                        stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        wait_until(lambda: self.look()["opened"] >= COUNT * 0.9, "900 connections", 8 * PATIENCE_S)
        return self

    def look(self):
        return json.loads(self.process.stdout.readline())

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(PATIENCE_S)
        self.process.stdout.close()


@pytest.fixture(scope="module")
def shop():
    box = Box()
    box.bring_in("demo")
    keys = [box.make_key(name=name)["key"] for name in ("terminal", "attacker")]
    box.start()
    try:
        yield box, *keys
    finally:
        assert box.discard() == 0


def at_work(stack, box, key):
    """Ten terminals that keep their connection, ten that open one for every request."""
    lasting = stack.enter_context(Terminals(box, key, 10, first=1))
    return [lasting, stack.enter_context(Terminals(box, key, 10, fresh=True, first=101))]


def assert_nobody_noticed(box, key, attack):
    with contextlib.ExitStack() as stack:
        crews = at_work(stack, box, key)
        wait_until_at_work(*crews)  # a terminal at work has shown its key
        with attack:
            before = [len(crew.shift.times_ms) for crew in crews]
            time.sleep(SECONDS)
            for crew, count in zip(crews, before):
                wait_until(lambda: len(crew.shift.times_ms) >= count + 10, lambda: crew.shift.failures)
    assert [f for crew in crews for f in crew.shift.failures] == []


@pytest.mark.parametrize("sources", [1, 200])
@pytest.mark.parametrize("kind", slow_attack.KINDS)
def test_slow_connections_of_strangers_disturb_no_terminal(shop, kind, sources):
    box, key, _ = shop
    assert_nobody_noticed(box, key, Attack(box, kind, sources))


@pytest.mark.parametrize("kind", ["head", "body", "reader", "idle"])
def test_slow_connections_with_a_valid_key_disturb_no_terminal(shop, kind):
    box, key, other = shop
    assert_nobody_noticed(box, key, Attack(box, kind, 1, other))


def test_a_terminal_that_was_never_seen_gets_in_during_an_attack(shop):
    box, key, _ = shop
    with Attack(box, "handshake", 200), Terminals(box, key, 1, fresh=True, first=201) as late:
        wait_until(lambda: late.shift.times_ms, lambda: late.shift.failures)


def together(box, key, count, rounds):
    """Tills behind one address that all open a connection in the same moment, again and again; what failed."""
    barrier = threading.Barrier(count)
    failures = []
    with Terminals(box, key, 1, behind="127.0.3.1") as first:
        wait_until(lambda: first.shift.times_ms, lambda: first.shift.failures)  # the address is trusted from now on

    def till():
        crew = Terminals(box, key, 1, behind="127.0.3.1")
        for _ in range(rounds):
            barrier.wait(PATIENCE_S)
            try:
                with contextlib.closing(crew._connect("127.0.3.1")) as connection:
                    crew._ask(connection, 1)
            except (OSError, http.client.HTTPException) as error:
                failures.append(repr(error))

    threads = [threading.Thread(target=till) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S * 4)
    return failures


@pytest.mark.parametrize("kind", ["handshake", "head"])
def test_twenty_tills_behind_one_address_are_served_while_silent_connections_come_from_200(shop, kind):
    box, key, _ = shop
    with Attack(box, kind, 200):
        assert together(box, key, 20, 10) == []
        assert together(box, key, 40, 5) == []


def metric(box, key, name, **labels):
    with contextlib.closing(box.client(key)) as client:
        text = client.get("/metrics").body.decode()
    wanted = "".join(f'(?=[^}}]*{k}="{v}")' for k, v in labels.items())
    return sum(float(m) for m in re.findall(rf"^{name}{{{wanted}[^}}]*}} (\S+)$", text, re.M))


def test_the_metrics_and_few_lines_of_the_log_say_what_happened(shop):
    box, key, _ = shop
    assert metric(box, key, "comanda_http_connections_evicted_total", reason="unauthenticated") > 0
    assert metric(box, key, "comanda_http_connections_unauthenticated", listener="https") <= 128
    lines = [line for line in box.log_text().splitlines() if "have to be closed" in line]
    assert 0 < len(lines) < 60, "an attack must not fill the log"
    assert all(re.search(r" one_of=127\.0\.\d+\.\d+$", line) for line in lines), lines
    assert re.search(r"[^\n\x20-\x7e]", box.log_text()) is None


def test_it_stops_in_good_order_in_the_middle_of_an_attack(box):
    key = box.make_key()["key"]
    box.start()
    with Attack(box, "head", 200), contextlib.closing(box.client(key)) as client:
        assert client.get("/v1/orders").status == 200
        assert box.stop() == 0
