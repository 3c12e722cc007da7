"""A rotating backup is killed at the n-th call of one kind, plain and sealed, and the power of the disk with the backups is cut
at random moments: the directory has at least two good backups at every moment, each of which is whole, and the next backup
leaves nothing of the interrupted one. Every n, until a backup passes without a kill; without --long a sample. Needs root for
the cuts."""

import concurrent.futures
import multiprocessing
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import time

import pytest

from support.backups import UNFINISHED, back_up, configure, copy_as, good, verify
from support.box import Box, LONG, PATIENCE_S
from support.disk import Disk, keep_mounts_to_ourselves

# Every n-th is tried.
STRIDES = {"rename": 1, "fsync": 1, "unlink": 1, "rmdir": 1, "mkdir": 1, "fdatasync": 1, "openat": 5, "write": 9, "pwrite64": 60}
LEAST = {"rename": 5, "fsync": 8, "unlink": 8, "rmdir": 3, "mkdir": 1, "fdatasync": 6, "openat": 40, "write": 8, "pwrite64": 100}
CUTS = 200 if LONG else 16


def prepare(directory, target, sealed):
    """A box with three good backups, of which a backup more takes one away."""
    box = Box(directory / "data", ["--sandbox-listen", ""])
    box.bring_in("demo")
    target.mkdir(exist_ok=True)
    settings = {"backup_keep": 2, "backup_keep_weekly": 0}
    if sealed:
        (directory / "passphrase").write_text("the cat sits on the till\n")
        (directory / "passphrase").chmod(0o600)
        settings["backup_passphrase_file"] = directory / "passphrase"
    configure(box, target, **settings)
    back_up(box)
    (first,) = good(target)
    end = ".sealed" if sealed else ""
    copy_as(first, f"comanda-000002-20261101T030000Z{end}", f"comanda-000003-20261102T030000Z{end}")
    return box


def check(box, target, when):
    """At least two good backups, and each that has such a name is whole."""
    there = good(target)
    assert len(there) >= 2, f"{when}: {sorted(target.iterdir())}"
    for backup in there:
        found = verify(box, backup)
        assert found.returncode == 0, f"{when}: {backup}: {found.stdout}{found.stderr}"


def unfinished(box, target):
    return [path for directory in (box.data, target) for path in directory.iterdir()
            if UNFINISHED.fullmatch(path.name) or path.name.startswith("backup-unfinished.")]


def killed_at(call, sealed, nth, step):
    """The backups killed at call number nth, nth + step …"""
    with tempfile.TemporaryDirectory(prefix="comanda-test-") as name:
        directory = pathlib.Path(name)
        box = prepare(directory, directory / "target", sealed)
        shutil.copytree(directory, directory.parent / (directory.name + "-kept"))
        kept = directory.parent / (directory.name + "-kept")
        kills = 0
        try:
            while True:
                target = directory / "target"
                done = subprocess.run(
                    ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={nth}",
                     str(box.binary), "backup", "--data", str(box.data)], capture_output=True, text=True, timeout=PATIENCE_S * 4)
                check(box, target, f"{call} number {nth}")
                if done.returncode == 0:
                    return kills
                assert done.returncode in (-9, 137), done
                kills += 1
                nth += step
                back_up(box)
                check(box, target, f"after {call} number {nth}")
                assert not unfinished(box, target), f"{call} number {nth}"
                for part in ("target", "data"):
                    shutil.rmtree(directory / part)
                    shutil.copytree(kept / part, directory / part)
        finally:
            shutil.rmtree(kept)


@pytest.mark.parametrize("sealed", [False, True], ids=["plain", "sealed"])
@pytest.mark.parametrize("call", STRIDES)
def test_two_good_backups_are_left_by_a_kill_at_any_step(call, sealed, seed):
    stride = 1 if LONG else STRIDES[call] * (3 if sealed else 1)
    kills = killed_at(call, sealed, 1 + seed % stride, stride)
    print(f"{kills} kills at {call}")
    if sealed and call in ("rmdir", "fdatasync"):
        return
    assert kills >= LEAST[call] // stride // (3 if sealed else 1), "the backup is hardly disturbed"


def cut_again_and_again(kind, sealed, seed, cuts):
    moments = random.Random(seed)
    keep_mounts_to_ourselves()
    disk = Disk(kind)
    interrupted = 0
    try:
        with tempfile.TemporaryDirectory(prefix="comanda-test-") as name:
            target = disk.root / "backups"
            box = prepare(pathlib.Path(name), target, sealed)
            # What copies of this test has made is on the disk as a backup would be.
            subprocess.run(["sync", "-f", target], check=True)
            begin = time.monotonic()
            back_up(box)
            whole_s = time.monotonic() - begin
            for n in range(cuts):
                process = subprocess.Popen([box.binary, "backup", "--data", box.data], stdout=subprocess.DEVNULL,
                                           stderr=subprocess.DEVNULL)
                time.sleep(moments.uniform(0, whole_s * 1.2) if n else 0)  # one is always cut
                interrupted += process.poll() is None
                disk.cut()
                process.send_signal(signal.SIGKILL)
                process.wait(PATIENCE_S)
                disk.come_back()
                check(box, target, f"cut {n}")
            back_up(box)
            assert not unfinished(box, target)
    finally:
        disk.discard()
    return interrupted


@pytest.mark.parametrize("sealed", [False, True], ids=["plain", "sealed"])
@pytest.mark.parametrize("kind", ["ext4", "xfs"])
def test_two_good_backups_are_left_by_a_power_cut(kind, sealed, seed):
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
        interrupted = pool.submit(cut_again_and_again, kind, sealed, seed, CUTS // 4).result()
    print(f"{kind}: {CUTS // 4} cuts, {interrupted} while a backup was made")
    assert interrupted >= CUTS // 16
