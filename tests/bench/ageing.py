"""What a program keeps of old data, found by letting the program itself grow old: it is started with its wall clock
days ahead, on a clock that counts as synchronised, until it deletes nothing more.

The program counts how long it has kept something by marks (src/events/marks.h), which it makes once an hour: the time
between two starts counts where the clock is synchronised at both, so it is started two hours after its last day, which
makes a mark behind all that was written, and then days ahead. Its clock never steps back. A program from before the marks deletes
only where something was written about 24 hours before: so an order is placed 25 hours before the target time. Each start
runs the chores once at once and deletes a bounded number of rows; the program is started again and again instead of waiting
a minute for each round.
"""

import contextlib
import sqlite3
import ssl
import time

from support.box import Client
from support.wall_clock import ClockBox

HOUR_S = 3600
DAY_S = 24 * HOUR_S
OPTIONS = ["--sandbox-listen", "", "--workers", "16"]
QUIET_S = 0.6  # without a deletion: the chores of this start are done
STARTS_MAX = 500


class UncheckedClient(Client):
    """The certificates of a server that lives in the future are not valid yet."""

    def tls(self):
        return ssl._create_unverified_context()


class AheadBox(ClockBox):
    def __init__(self, data, binary, ahead_s, options=OPTIONS):
        super().__init__(data, options, binary, synchronised=True)
        self.ahead_s = int(ahead_s)

    def client(self, key=None, address="127.0.0.1"):
        return UncheckedClient(self.port, key, None, address)

    @contextlib.contextmanager
    def running(self):
        self.start()
        try:
            yield self
        finally:
            self.memory.close()
            assert self.stop() == 0


def age(data, last_days, days, binary, key):
    """Leaves the data directory of a stopped server, last `last_days` ahead, as the program has it so many days from now.
    Adds one order."""
    for since_s in (0, 2 * HOUR_S):
        with AheadBox(data, binary, last_days * DAY_S + since_s).running():
            wait_until_quiet(data)
    with AheadBox(data, binary, days * DAY_S - 25 * HOUR_S).running() as box:
        with contextlib.closing(box.client(key)) as client:
            client.place(comment="the evidence that the clock has been right for a day")
    before = None
    for _ in range(STARTS_MAX):
        with AheadBox(data, binary, days * DAY_S).running():
            rows = wait_until_quiet(data)
        if rows == before:
            return
        before = rows
    raise AssertionError(f"{data}: still deleting after {STARTS_MAX} starts")


def wait_until_quiet(data):
    """What the file holds when nothing has changed for a moment."""
    rows, since = contents(data), time.monotonic()
    while time.monotonic() - since < QUIET_S:
        time.sleep(0.1)
        now = contents(data)
        if now != rows:
            rows, since = now, time.monotonic()
    return rows


def contents(data):
    """Rows of each table, and of each text column how much it holds: a column may be emptied instead."""
    with contextlib.closing(sqlite3.connect(f"file:{data}/live.db?mode=ro", uri=True, timeout=30)) as db:
        found = {}
        for table, in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").fetchall():
            sums = [f"coalesce(sum(length(\"{name}\")), 0)" for _, name, kind, *_ in db.execute(f"PRAGMA table_info({table})")
                    if kind == "TEXT"]
            found[table] = db.execute(f"SELECT {', '.join(['count(*)', *sums])} FROM {table}").fetchone()
        return found


def used_bytes(data):
    """Of the database file of a stopped server, without its free pages."""
    with contextlib.closing(sqlite3.connect(data / "live.db")) as db:
        one = lambda name: db.execute(f"PRAGMA {name}").fetchone()[0]
        return (one("page_count") - one("freelist_count")) * one("page_size")
