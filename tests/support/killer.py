"""A tracer that kills a running server at the n-th call of one kind. Needs root: strace comes to a server that keeps its memory
to itself."""

import concurrent.futures
import contextlib
import multiprocessing
import pathlib
import shutil
import subprocess
import tempfile

from support.waiting import wait_until

WORKERS = 2


def prepared(restaurant):
    """A data directory for lives, until the generator is closed: a fixture. `restaurant`: support.tills.Restaurant."""
    house = restaurant("life", tills=0)
    house.box.start()
    assert house.box.stop() == 0
    yield house.box.data
    house.box.discard()


def kills(life, data, call, begin, stride):
    """How many lives were killed: life(a copy of `data`, call, nth).live() for nth = begin, begin + stride … until one passes
    without a kill, which then says so in `killed`."""
    with concurrent.futures.ProcessPoolExecutor(WORKERS, multiprocessing.get_context("fork")) as pool:
        jobs = [pool.submit(_live_until_no_kill, life, data, call, begin + n * stride, WORKERS * stride) for n in range(WORKERS)]
        return sum(job.result() for job in jobs)


def _live_until_no_kill(life, prepared, call, first, step):
    nth = first
    while True:
        with tempfile.TemporaryDirectory(prefix="comanda-test-") as directory:
            data = pathlib.Path(directory) / "data"
            shutil.copytree(prepared, data, ignore=shutil.ignore_patterns("*.sock"))
            one = life(data, call, nth)
            try:
                one.live()
            except BaseException as failure:
                raise AssertionError(f"killed at {call} number {nth}: {failure}") from failure
            finally:
                one.box.kill_if_running()
            if not one.killed:
                return (nth - first) // step
        nth += step


def lie_in_wait(found, call, nth):
    """Kills the process of these threads where one of them would begin its n-th call: what was done before it is there, it and
    what follows is not. strace counts in each thread by itself. Returns the tracer."""
    words = ["strace", "-q", "-o", "/dev/null", "-e", "trace=" + call, "-e", f"inject={call}:signal=KILL:when={nth}"]
    for thread in found:
        words += ["-p", str(thread)]
    killer = subprocess.Popen(words, stderr=subprocess.DEVNULL)
    wait_until(lambda: all(tracer(thread) == killer.pid for thread in found), "strace is attached to each thread")
    return killer


def threads(pid, name):
    """The threads of the process whose name begins so."""
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it ended meanwhile
            if (task / "comm").read_text().startswith(name):
                found.append(int(task.name))
    return found


def tracer(thread):
    status = pathlib.Path(f"/proc/{thread}/status").read_text()
    return int(status.split("TracerPid:")[1].split()[0])
