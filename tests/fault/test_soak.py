"""Hundreds of thousands of mixed requests, 2 million with --long: the server's memory, descriptors and threads stay what
they are, and so does the write-ahead log."""

import json
import os
import pathlib
import subprocess
import time

from support.box import PATIENCE_S, ROOT, Box

REQUESTS = int(os.environ.get("COMANDA_SOAK_REQUESTS", 2_000_000 if os.environ.get("COMANDA_LONG") else 100_000))
ROUNDS = 20
SECONDS_MAX = 7200 if REQUESTS > 100_000 else 900
WAL_BYTES_MAX = 32 << 20
RESIDENT_BYTES_MAX = 80 << 20
# The heap breathes by 20 MB (it is given back once a minute) and spreads until every cache is full: a leak of 300 bytes a
# request is found by 100,000 of them, one of 20 by 2 million.
GROWTH_BYTES_MAX = 16 << 20
SLOPE_MAX = 2.0  # bytes for each request beside that


def look(box):
    """What the server holds between two rounds."""
    process = pathlib.Path(f"/proc/{box.process.pid}")
    status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
    return {"resident": int(status["RssAnon"].split()[0]) * 1024, "threads": int(status["Threads"]),
            "descriptors": len(list((process / "fd").iterdir()))}


def settled(box, idle):
    """When the connections of the round before are gone."""
    begin = time.monotonic()
    while (found := look(box))["descriptors"] > idle["descriptors"] and time.monotonic() - begin < PATIENCE_S:
        time.sleep(0.05)
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


def slope(points):
    """Bytes for each request, the straight line that fits best."""
    n = len(points)
    mean_x, mean_y = (sum(column) / n for column in zip(*points))
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)


def test_memory_descriptors_threads_and_log_stay_what_they_are():
    # Few workers: each has been at work after a few rounds, and holds what it will hold.
    box = Box(options=["--sandbox-listen", "", "--workers", "64"])
    box.bring_in("demo")
    key = box.make_key()["key"]
    begin = time.monotonic()
    try:
        box.start()
        idle = look(box)
        points, count, seconds = [], 0, 1
        while count < REQUESTS:
            assert time.monotonic() - begin < SECONDS_MAX, f"{count} requests in {SECONDS_MAX} s: too slow a machine"
            answered, wal = load(box, key, f"soak-{len(points)}", seconds)
            count += answered
            # As long as it takes for so many rounds.
            seconds = max(1, round((time.monotonic() - begin) * REQUESTS / count / ROUNDS))
            now = settled(box, idle)
            points.append((count, now))
            print(count, now, "log", wal)
            assert wal <= WAL_BYTES_MAX
            assert now["resident"] <= RESIDENT_BYTES_MAX
        # Readers are opened when they are needed and stay.
        warm = [point for point in points if point[0] > REQUESTS * 0.4]
        assert len({now["threads"] for _, now in warm}) == 1 and now["threads"] <= idle["threads"], "threads are left over"
        assert len({now["descriptors"] for _, now in warm}) == 1, "descriptors are not given back"
        line = slope([(at, now["resident"]) for at, now in warm])
        growth = line * (warm[-1][0] - warm[0][0])
        print(f"{count} requests in {time.monotonic() - begin:.0f} s; {line:.3f} bytes of memory for each; "
              f"idle {idle}; at the end {now}")
        assert growth < GROWTH_BYTES_MAX + SLOPE_MAX * (warm[-1][0] - warm[0][0]), "memory grows"
        assert box.stop() == 0
        assert not (box.data / "live.db-wal").exists() or (box.data / "live.db-wal").stat().st_size == 0
    finally:
        box.discard()
