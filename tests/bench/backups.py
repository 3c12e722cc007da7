"""Backups: what they cost the tills while one after the other is made, and how fast one is verified beside plain reading."""

import os
import statistics
import subprocess
import tempfile
import threading
import time

from large import large_database
from serving import Server
from table import Row
from webhooks import Tills, in_turns, p99_row

TILLS_RATIO_MAX = 1.3
READING_SHARE_MIN = 0.5
ORDERS = {True: 2_000, False: 50_000}  # in brief or not


def tills(bench):
    """Orders at a steady pace, with the priority that comanda-backup.service gives to backups."""
    what = "backups, tills' p99 while backups are made of none"
    if not bench.wanted(what):
        return
    alone, busy = (Server(bench.stack, bench.parent / name, bench.programs[0].binary) for name in ("alone", "backups"))
    target = bench.parent / "backed-up"
    target.mkdir()
    (busy.box.data / "comanda.conf").write_text(f"backup_to = {target}\nbackup_keep = 2\nbackup_keep_weekly = 0\n")
    made = [0]

    def while_backups_are_made():
        stop = threading.Event()

        def back_up():
            while not stop.is_set():
                subprocess.run(["chrt", "--idle", "0", "ionice", "-c", "idle", "nice", "-n", "19", busy.box.binary, "backup",
                                "--data", busy.box.data], check=True, capture_output=True)
                made[0] += 1

        worker = threading.Thread(target=back_up)
        worker.start()
        try:
            return Tills(busy).work(2 if bench.brief else 5 * bench.seconds)
        finally:
            stop.set()
            worker.join()

    times = in_turns(bench.rounds, lambda: Tills(alone).work(2 if bench.brief else 5 * bench.seconds), while_backups_are_made)
    row = p99_row(what, *times, ratio_max=TILLS_RATIO_MAX)
    row.note += f"; {made[0]} backups, one after the other"
    bench.add(row)


def looked_through(*words):
    """Of a database that large.py has made, whose log has gaps: 1 says so."""
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode in (0, 1), done


def reading(bench):
    """Both from the disk: the backup leaves the system's cache before each."""
    what = "backups, verify's rate of plain reading"
    if not bench.wanted(what):
        return
    binary = bench.programs[0].binary
    data = large_database(binary, ORDERS[bench.brief])
    with tempfile.TemporaryDirectory(prefix="comanda-bench-", dir=data.parent) as directory:
        backup = os.path.join(directory, "backup")
        looked_through(binary, "backup", backup, "--plain", "--data", data)
        file = os.path.join(backup, "live.db")
        times = {"read": [], "verify": []}
        for _ in range(bench.rounds):
            for name, words in (("read", ["dd", f"if={file}", "of=/dev/null", "bs=1M"]), ("verify", [binary, "verify", backup])):
                with open(file, "rb") as handle:
                    os.fsync(handle.fileno())
                    os.posix_fadvise(handle.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                begin = time.monotonic()
                looked_through(*words)
                times[name].append(time.monotonic() - begin)
        size_mb = os.path.getsize(file) / 1e6
        read, verify = (size_mb / statistics.median(times[name]) for name in ("read", "verify"))
        bench.add(Row(what, f">= {READING_SHARE_MIN}", verify / read, ceiling=f"{read:.0f} MB/s", met=verify / read >= READING_SHARE_MIN,
                      note=f"{verify:.0f} MB/s of {size_mb:.0f} MB; the ceiling is this machine's disk, an eMMC reads some 150 MB/s",
                      detail={"seconds": times}))
