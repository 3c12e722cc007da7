"""kill -9 at the n-th write, sync, truncate, rename and unlink of a server's life with one order in it, until the life
passes without a kill: for every n, but of the writes for every second, begun where the seed says, unless with --long. The
kill comes where the call would begin: what was done before it is there, it and what follows is not. Needs root: strace
comes to a server that keeps its memory to itself."""

import contextlib
import concurrent.futures
import multiprocessing
import pathlib
import shutil
import subprocess
import tempfile
import time

import pytest

from support.box import LONG, PATIENCE_S
from support.tills import Restaurant

CALLS = ["pwrite64", "fdatasync", "fsync", "ftruncate", "unlink", "rename"]
STRIDES = {} if LONG else {"pwrite64": 2}
WORKERS = 2


class Life(Restaurant):
    """Its one till goes on with the server that is started when the first one was killed."""

    def __init__(self, data, call, nth):
        super().__init__("life", data=data, tills=1)
        self.call, self.nth, self.killed = call, nth, False

    def lie_in_wait(self):
        """strace counts in each thread by itself: the writer's calls, and at the end the main thread's."""
        pid = self.box.process.pid
        words = ["strace", "-q", "-o", "/dev/null", "-e", "trace=" + self.call,
                 "-e", f"inject={self.call}:signal=KILL:when={self.nth}"]
        for thread in {pid, *writers(pid)}:
            words += ["-p", str(thread)]
        self.assassin = subprocess.Popen(words, stderr=subprocess.DEVNULL)
        wait_for(lambda: tracer(pid) == self.assassin.pid)

    def line_lost(self):
        if self.box.process.poll() is not None:
            self.start_again()

    def start_again(self):
        assert not self.killed, "it was killed once, and ended again:\n" + self.box.log_text()
        assert self.box.process.returncode == -9, self.box.log_text()
        self.killed = True
        self.assassin.wait(PATIENCE_S)
        self.box.start()

    def live(self):
        self.box.start()
        self.lie_in_wait()
        till = self.tills[0]
        till.serve("guest")
        if LONG:
            till.change_their_mind("other-guest")
            till.price_the_menu("price")
            till.change_the_locks("lock")
        if not self.killed:
            if self.box.stop() == 0:  # the checkpoint at the end, and what it leaves behind
                self.assassin.wait(PATIENCE_S)
                self.box.start()
            else:
                self.start_again()
        self.check_everything()


def writers(pid):
    """The threads that write to the databases."""
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it ended meanwhile
            if (task / "comm").read_text().startswith("write "):
                found.append(int(task.name))
    return found


def tracer(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.split("TracerPid:")[1].split()[0])


def wait_for(condition):
    begin = time.monotonic()
    while not condition():
        assert time.monotonic() - begin < PATIENCE_S
        time.sleep(0.002)


def live_until_no_kill(prepared, call, first, step):
    """How many of the lives first, first + step … were killed."""
    nth = first
    while True:
        with tempfile.TemporaryDirectory(prefix="comanda-test-") as directory:
            data = pathlib.Path(directory) / "data"
            shutil.copytree(prepared, data, ignore=shutil.ignore_patterns("*.sock"))
            life = Life(data, call, nth)
            try:
                life.live()
            except BaseException as failure:
                raise AssertionError(f"killed at {call} number {nth}: {failure}") from failure
            finally:
                life.box.kill_if_running()
            if not life.killed:
                return (nth - first) // step
        nth += step


@pytest.fixture(scope="module")
def prepared():
    house = Restaurant("life", tills=0)
    house.box.start()
    assert house.box.stop() == 0
    yield house.box.data
    house.box.discard()


@pytest.mark.parametrize("call", CALLS)
def test_nothing_acknowledged_is_lost_or_doubled_by_a_kill_at_any_step(prepared, call, seed):
    stride = STRIDES.get(call, 1)
    begin = 1 + seed % stride
    with concurrent.futures.ProcessPoolExecutor(WORKERS, multiprocessing.get_context("fork")) as pool:
        jobs = [pool.submit(live_until_no_kill, prepared, call, begin + n * stride, WORKERS * stride) for n in range(WORKERS)]
        killed = sum(job.result() for job in jobs)
    print(f"{killed} kills at {call}")
    # An idle life unlinks and renames little.
    assert killed >= {"pwrite64": 30 // stride, "fdatasync": 7}.get(call, 0), "the life is hardly disturbed"
