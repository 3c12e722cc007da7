"""A restored box whose disk is full stores nothing that the cloud tells, and sends nothing: it does not say "in step"."""

import contextlib
import pathlib
import subprocess

import pytest

from support.box import Box
from support.cloud_pair import Pair, essence


@contextlib.contextmanager
def small_disk(point):
    """A file system of its own, where this process may make one."""
    point.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=80m,mode=700", "tmpfs", point], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip("needs root: " + done.stderr.strip())
    try:
        yield point
    finally:
        subprocess.run(["umount", "--lazy", point], check=True)


def fill(file):
    with contextlib.suppress(OSError), open(file, "wb", buffering=0) as out:
        while True:
            out.write(b"x" * 4096)


def test_a_restored_box_on_a_full_disk_says_so_and_goes_on_when_it_is_freed(tmp_path, seed):
    with small_disk(tmp_path / "disk") as disk:
        def on_disk(data, options, **named):
            if data.name != "box":
                return Box(data, options, **named)
            (disk / "box").mkdir()
            box = Box(disk / "box", options, **named)
            box.log_path = tmp_path / "box.log"
            return box

        with Pair(tmp_path, seed, strict=True, kind=on_disk) as pair:
            pair.link()
            till = pair.till()
            sent = till.add(till.open(service_type="ONSITE"))
            pair.settle()
            pair.proxy.go_offline()
            told = [till.pay(sent, in_full=True), till.finish(till.open(service_type="ONSITE"))]
            pair.box.command("backup", str(tmp_path / "backup"), "--data", str(pair.box.data))
            assert pair.box.stop() == 0
            pair.box.command("restore", str(tmp_path / "backup"), "--data", str(pair.box.data), "--yes")
            for former in pathlib.Path(disk).glob("box.before-restore-*"):
                subprocess.run(["rm", "-r", former], check=True)
            fill(disk / "filler")
            pair.box.start()
            pair.proxy.go_online()
            pair.command("resume", check=False)

            def says_so():
                status = pair.status()
                assert status["state"] == "stopped" and "disk is full" in status["reason"], status
            pair.eventually(says_so)
            for _ in range(10):  # a request that is answered changes nothing of it
                assert pair.status()["state"] != "in step"
            (disk / "filler").unlink()
            pair.settle()
            for order in told:
                assert essence(pair.record_here(order)) == essence(order) == essence(pair.record_there(order))
