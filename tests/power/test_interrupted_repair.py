"""`comanda verify --repair` on a disk that is full or read-only, killed at the n-th call of one kind, and under power cuts: the
former file or the new one is in place, whole, and the next repair ends the work. Needs root for the file systems."""

import contextlib
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import time

import pytest

from support.box import LONG, PATIENCE_S, Box
from support.disk import Disk, keep_mounts_to_ourselves, run
from support.sqlite_file import overwrite_a_page, rows_of

# Every n-th is tried.
STRIDES = {"rename": 1, "link": 1, "fsync": 1, "fdatasync": 1, "ftruncate": 1, "unlink": 2, "openat": 17, "pwrite64": 211}
LEAST = {"rename": 2, "link": 1, "fsync": 3, "fdatasync": 2, "ftruncate": 1, "unlink": 2, "openat": 40, "pwrite64": 400}
CUTS = 60 if LONG else 8
IMAGE_BYTES = 96 << 20
MIB = 1 << 20


def prepare(data):
    """A box that has sold, one of whose indexes is malformed, its rows, and a key."""
    box = Box(data, ["--sandbox-listen", ""])
    box.bring_in("demo")
    key = box.make_key()["key"]
    box.start()
    with contextlib.closing(box.client(key)) as client:
        for _ in range(20):
            client.place()
    assert box.stop() == 0
    rows = rows_of(data / "live.db")
    overwrite_a_page(data / "live.db", "orders_created")
    return box, rows, key


def repair(box, wrapper=()):
    return subprocess.run([*wrapper, str(box.binary), "verify", "--repair", "--data", str(box.data)], capture_output=True, text=True,
                          timeout=PATIENCE_S * 4)


def former(box):
    return sorted(box.data.glob("live.db.before-repair-*"))


def check(box, rows, when):
    """Of a killed one: the rows are all there, whichever file is in place, and the next repair leaves one that is sound."""
    assert rows_of(box.data / "live.db") == rows, when
    done = repair(box)
    assert done.returncode == 0, (when, done)
    assert rows_of(box.data / "live.db") == rows, when
    assert len(former(box)) == 1, (when, former(box))
    assert not list(box.data.glob("*.repaired*")), when


@pytest.mark.parametrize("call", STRIDES)
def test_a_kill_at_any_step_leaves_a_whole_database(call, seed):
    stride = 1 if LONG else STRIDES[call]
    nth, kills = 1 + seed % stride, 0
    with tempfile.TemporaryDirectory(prefix="comanda-test-") as name:
        data, kept = pathlib.Path(name) / "data", pathlib.Path(name) / "kept"
        box, rows, _ = prepare(data)
        shutil.copytree(data, kept)
        while True:
            done = repair(box, ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e",
                                f"inject={call}:signal=KILL:when={nth}"])
            if done.returncode == 0:
                break
            assert done.returncode in (-9, 137), done
            check(box, rows, f"{call} number {nth}")
            kills += 1
            nth += stride
            shutil.rmtree(data)
            shutil.copytree(kept, data)
    print(f"{kills} kills at {call}")
    assert kills >= LEAST[call] // stride, "the repair is hardly disturbed"


def test_a_device_reads_on_after_a_kill_at_the_last_steps():
    """Neither of the two files is taken for a restored copy: that would raise the epoch of the events."""
    for call, nth in (("link", 1), ("rename", 2), ("rename", 1)):
        with tempfile.TemporaryDirectory(prefix="comanda-test-") as name:
            box, _, key = prepare(pathlib.Path(name) / "data")
            box.start()
            box.wait_for_log("takes no more writes")
            with contextlib.closing(box.client(key)) as client:
                cursor = client.get("/v1/events?per_page=100").json["next"]
            assert box.stop() == 0
            done = repair(box, ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e",
                                f"inject={call}:signal=KILL:when={nth}"])
            assert done.returncode in (-9, 137), done
            box.start()
            with contextlib.closing(box.client(key)) as client:
                answer = client.get(f"/v1/events?per_page=100&after={cursor}")
                assert answer.status == 200, (call, nth, answer.body)
            box.kill()


@pytest.fixture
def disk():
    keep_mounts_to_ourselves()
    one = Disk("ext4", image_bytes=IMAGE_BYTES)
    try:
        yield one
    finally:
        one.discard()


def test_a_power_cut_at_any_moment_leaves_a_whole_database(disk, seed):
    moments = random.Random(seed)
    box, rows, _ = prepare(disk.root / "data")
    kept = disk.directory / "kept"
    shutil.copytree(box.data, kept)
    begin = time.monotonic()
    assert repair(box).returncode == 0
    whole_s = time.monotonic() - begin
    cut = 0
    for n in range(CUTS):
        shutil.rmtree(box.data)
        shutil.copytree(kept, box.data)
        run("sync", "-f", disk.root)
        process = subprocess.Popen([box.binary, "verify", "--repair", "--data", box.data], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        time.sleep(moments.uniform(0, whole_s))
        cut += process.poll() is None
        disk.cut()
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE_S)
        disk.come_back()
        check(box, rows, f"cut {n}")
    assert cut > 0


def test_a_full_disk_is_said_before_anything_is_written(disk):
    box, rows, _ = prepare(disk.root / "data")
    before = (box.data / "live.db").read_bytes()
    filler = disk.root / "filler"
    subprocess.run(["dd", "if=/dev/zero", f"of={filler}", "bs=64K"], capture_output=True, check=False)
    done = repair(box)
    assert done.returncode == 70 and "MiB are missing; nothing was changed" in done.stderr, done
    assert (box.data / "live.db").read_bytes() == before and not former(box)
    filler.unlink()
    check(box, rows, "there is space again")


def test_a_disk_that_fills_up_meanwhile_changes_nothing():
    with tempfile.TemporaryDirectory(prefix="comanda-test-") as name:
        box, rows, _ = prepare(pathlib.Path(name) / "data")
        before = (box.data / "live.db").read_bytes()
        for nth in (20, 200):
            done = repair(box, ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=pwrite64", "-e",
                                f"inject=pwrite64:error=ENOSPC:when={nth}+"])
            assert done.returncode == 70 and "full" in done.stderr, done
            assert (box.data / "live.db").read_bytes() == before and not former(box)
            assert not list(box.data.glob("*.repaired*"))
        check(box, rows, "there is space again")


def test_on_a_read_only_disk_it_is_refused(disk):
    box, rows, _ = prepare(disk.root / "data")
    run("mount", "-o", "remount,ro", disk.root)
    done = repair(box)
    assert done.returncode == 70 and "is read-only: nothing can be repaired on it" in done.stderr, done
    run("mount", "-o", "remount,rw", disk.root)
    check(box, rows, "it can be written again")
