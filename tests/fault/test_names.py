"""Nothing that a client names is kept without a bound. Many different values of each kind are sent; a leak adds to the
server's memory with every round of them, a bounded cache does so until it is full."""

import contextlib
import pathlib
import random
import re
import subprocess

import pytest

from support import strangers
from support.box import LONG, PATIENCE_S, ROOT, Box

LUA = ROOT / "tests/support/names.lua"
REQUEST_KINDS = re.findall(r'^  \["(.*?)"\] = function', LUA.read_text(), re.M)
# How many different values a round has: a leak of LEAK_BYTES for each shows.
REQUESTS, CONNECTIONS = (100_000, 25_000) if LONG else (8_000, 1_500)
REQUEST_CHOICE, CONNECTION_CHOICE = (len(REQUEST_KINDS), len(strangers.KINDS)) if LONG else (7, 2)
LEAK_BYTES = 50
ROUNDS_MAX = 8  # until which every bounded cache is full
NOISE_BYTES = 96 << 10  # memory that threads and the allocator take for the first time


@pytest.fixture(scope="module")
def shop():
    box = Box(options=["--sandbox-listen", "", "--workers", "8", "--log_level", "error"])
    box.bring_in("demo")
    key = box.make_key()["key"]
    box.start()
    try:
        yield box, key
    finally:
        assert box.discard() == 0


def held(box):
    """Bytes of memory that are the process's alone."""
    rollup = pathlib.Path(f"/proc/{box.process.pid}/smaps_rollup").read_text()
    return sum(int(size) for size in re.findall(r"^Private_(?:Clean|Dirty): +(\d+) kB", rollup, re.M)) * 1024


def send_requests(box, key, kind, word, values):
    """How many there were."""
    count = 0
    while count < REQUESTS:
        seconds = 1 if count == 0 else 5 if LONG else 1
        result = subprocess.run(
            ["wrk", "-t", "1", "-c", "4", "-d", f"{seconds}s", "--timeout", "20s", "-s", LUA,
             "-H", "Authorization: Bearer " + key, f"https://127.0.0.1:{box.port}",
             "--", kind, f"{word}{count:x}x", values],
            capture_output=True, text=True, timeout=seconds + PATIENCE_S * 2)
        assert result.returncode == 0 and not result.stderr, (kind, result.stderr[:1000])
        answered = int(result.stdout.splitlines()[-1])
        assert answered > 0, kind
        count += answered
    return count


def open_connections(box, kind, first, step):
    for number in range(first, first + CONNECTIONS * step, step or 1) if step else [first] * CONNECTIONS:
        with contextlib.suppress(OSError):  # the server may end it at any time
            strangers.KINDS[kind](box, number)
    return CONNECTIONS


def growth(box, send):
    """(values sent, bytes) of one round."""
    before = held(box)
    count = send()
    return count, held(box) - before


def is_leak(count, grown):
    return grown > NOISE_BYTES + count * LEAK_BYTES // 2


def look_for_a_leak(box, kind, equal, different):
    control = growth(box, equal)
    rounds = []
    for number in range(ROUNDS_MAX):
        rounds.append(growth(box, lambda: different(number)))
        if not is_leak(*rounds[-1]):
            break
    print(f"{kind}: (values, bytes) of equal ones {control}, of different ones {rounds}")
    assert not is_leak(*rounds[-1]), f"{kind}: every round of different values takes memory: {rounds}; of equal ones: {control}"


def metric_names(box, key):
    with contextlib.closing(box.client(key)) as client:
        return {line.rsplit(" ", 1)[0] for line in client.get("/metrics").body.decode().splitlines()}


def test_what_requests_name_is_not_kept(shop, seed):
    box, key = shop
    names = metric_names(box, key)
    dice = random.Random(seed)
    for kind in dice.sample(REQUEST_KINDS, REQUEST_CHOICE):
        look_for_a_leak(box, kind, lambda: send_requests(box, key, kind, "w", "equal"),
                        lambda number: send_requests(box, key, kind, f"{'abcdefgh'[number]}", "different"))
    assert metric_names(box, key) == names, "a value became the name of a metric"


def test_what_connections_name_is_not_kept(shop, seed):
    box, key = shop
    dice = random.Random(seed)
    for kind in dice.sample(list(strangers.KINDS), CONNECTION_CHOICE):
        look_for_a_leak(box, kind, lambda: open_connections(box, kind, 0, 0),
                        lambda number: open_connections(box, kind, 1 + number * CONNECTIONS, 1))
    with contextlib.closing(box.client(key)) as client:
        assert client.get("/v1/company").status == 200
