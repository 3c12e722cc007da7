"""A system that grants few threads: the server says so and ends, or runs with those that it got. It never crashes."""

import contextlib
import os
import resource
import shutil
import subprocess

import pytest

from support.box import Box, LONG, free_port

FEWEST_WORKERS = "8"
ENOUGH = 40


def grant(box, threads):
    """Root is granted any number, so the server runs as somebody who has no other process."""
    user = 40_000 + os.getpid() % 20_000
    for place, directories, files in os.walk(box.data):
        for path in (place, *(os.path.join(place, name) for name in directories + files)):
            os.chown(path, user, user, follow_symlinks=False)

    def become():
        resource.setrlimit(resource.RLIMIT_NPROC, (threads, threads))
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)

    box.preexec = become


@pytest.fixture
def box():
    one = Box(options=["--workers", FEWEST_WORKERS])
    one.bring_in("demo")
    yield one
    one.kill_if_running()
    shutil.rmtree(one.data, ignore_errors=True)


@contextlib.contextmanager
def use_up(become):
    """The same user has as many processes as he is granted."""
    others = []
    try:
        with pytest.raises((OSError, subprocess.SubprocessError)):
            while len(others) < ENOUGH * 2:
                others.append(subprocess.Popen(["sleep", "60"], preexec_fn=become))
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def take_an_order(box, key):
    with contextlib.closing(box.client(key)) as client:
        order = client.place()
        assert client.get("/v1/orders/" + order["id"]).data == order


def test_it_serves_with_the_threads_it_is_granted_or_says_that_they_are_too_few(box):
    key = box.make_key()["key"]
    served = []
    for threads in [*range(1, 27, 1 if LONG else 2), ENOUGH]:
        box.log_path.write_text("")
        grant(box, threads)
        box.launch()
        with contextlib.suppress(AssertionError):
            box.wait_ready()
        if box.process.poll() is None:
            take_an_order(box, key)
            # The threads of the background start after those that serve.
            if box.stop() == 0:
                served.append(threads)
            else:
                assert box.process.returncode == 70 and "too few threads" in box.log_text(), (threads, box.log_text())
        else:
            assert box.process.returncode == 70, (threads, box.process.returncode, box.log_text())
            assert "thread" in box.log_text(), (threads, box.log_text())
    assert ENOUGH in served and 1 not in served


def test_it_goes_on_and_stops_where_no_more_threads_are_granted(box):
    box.options += ["--sandbox-listen", f"127.0.0.1:{free_port()}"]
    key = box.make_key()["key"]
    grant(box, ENOUGH * 2)
    box.start()
    with use_up(box.preexec):
        take_an_order(box, key)
        assert box.stop() == 0, box.log_text()
