"""Hundreds of thousands of mixed requests, 2 million with --long: the server's memory, descriptors and threads stay what
they are, and so does the write-ahead log."""

import json
import os
import pathlib
import subprocess
import time

from support.box import Box, LONG, PATIENCE_S, ROOT

REQUESTS = int(os.environ.get("COMANDA_SOAK_REQUESTS", 2_000_000 if LONG else 100_000))
ROUND_S = 30 if REQUESTS >= 1_000_000 else 2  # each third takes several
WAL_BYTES_MAX = 32 << 20
RESIDENT_BYTES_MAX = 64 << 20
# The heap breathes and spreads until every cache is full, so peaks are compared:
# of the last third of the requests with those of the third before. A leak of 250 bytes a request is found by 100,000 of
# them, one of 13 by 2 million.
GROWTH_BYTES_MAX = 8 << 20


def look(box):
    """What the server holds between two rounds."""
    process = pathlib.Path(f"/proc/{box.process.pid}")
    status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
    return {"resident": int(status["RssAnon"].split()[0]) * 1024, "threads": int(status["Threads"]),
            "descriptors": len(list((process / "fd").iterdir()))}


def settled(box):
    """When the connections of the round before are gone, and all threads are there."""
    begin, found = time.monotonic(), look(box)
    while time.monotonic() - begin < PATIENCE_S:
        time.sleep(0.2)
        before, found = found, look(box)
        if all(found[name] == before[name] for name in ("descriptors", "threads")):
            break
    return found


def load(box, key, word, seconds):
    """One round; the requests answered, and the most that the write-ahead log held meanwhile."""
    running = subprocess.Popen(
        ["wrk", "-t", "1", "-c", "16", "-d", f"{seconds}s", "--timeout", "20s", "-s", ROOT / "tests/support/soak.lua",
         "-H", "Authorization: Bearer " + key, f"https://127.0.0.1:{box.port}", "--", word],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    begin, wal = time.monotonic(), 0
    try:
        while running.poll() is None:
            wal = max(wal, (box.data / "live.db-wal").stat().st_size)
            assert time.monotonic() - begin < seconds + PATIENCE_S * 2, "the round does not end"
            time.sleep(0.05)
        out, error = running.communicate()
    finally:
        running.kill()
    assert running.returncode == 0 and "status 5" not in error, error[:1000]
    found = json.loads(out.splitlines()[-1])
    assert found["lost"] == 0, out
    return found["requests"], wal


def test_memory_descriptors_threads_and_log_stay_what_they_are():
    # Few workers: each has been at work after a few rounds, and holds what it will hold.
    box = Box(options=["--sandbox-listen", "", "--workers", "64"])
    box.bring_in("demo")
    key = box.make_key()["key"]
    begin = answered_at = time.monotonic()
    try:
        box.start()
        box.wait_for_log("the database was checked")  # by a thread that is started behind those that serve
        idle = settled(box)
        points, count = [], 0
        while count < REQUESTS:
            answered, wal = load(box, key, f"soak-{len(points)}", ROUND_S)
            count += answered
            answered_at = time.monotonic() if answered else answered_at
            assert time.monotonic() - answered_at < 4 * PATIENCE_S, "nothing is answered any more"
            now = settled(box)
            points.append((count, now))
            print(count, now, "log", wal)
            assert wal <= WAL_BYTES_MAX
            assert now["resident"] <= RESIDENT_BYTES_MAX
        thirds = [[now for at, now in points if count * third < at * 3 <= count * (third + 1)] for third in range(3)]
        # Readers are opened when they are needed and stay.
        warm = thirds[1] + thirds[2]
        assert len({now["threads"] for now in warm}) == 1 and warm[0]["threads"] <= idle["threads"], "threads are left over"
        # A leak only grows: fewer descriptors than before are none.
        held = [max(now["descriptors"] for now in third) for third in thirds]
        assert held[2] <= held[1], "descriptors are not given back"
        peaks = [max(now["resident"] for now in third) for third in thirds]
        print(f"{count} requests in {time.monotonic() - begin:.0f} s; peaks of memory {peaks}; idle {idle}")
        assert peaks[2] < peaks[1] + GROWTH_BYTES_MAX, "memory grows"
        assert box.stop() == 0
        assert not (box.data / "live.db-wal").exists() or (box.data / "live.db-wal").stat().st_size == 0
    finally:
        box.discard()
