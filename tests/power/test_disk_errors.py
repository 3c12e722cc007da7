"""The disk fails the real server: the n-th open, read, write, sync, truncate, rename or unlink is answered EIO, ENOSPC, EROFS or
EMFILE by a tracer, once or until the fault ends, for every n of one order's life and of a first start (in CI for some n of
each, evenly). A write is answered 503 meanwhile, never 2xx for what is not on the disk; nothing hangs; afterwards the server
goes on by itself, or it has ended for systemd to start one, and nothing acknowledged is lost or doubled. Needs root: strace
comes to a server that keeps its memory to itself."""

import concurrent.futures
import contextlib
import multiprocessing
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

import pytest

from support.box import BINARY, Box, PATIENCE_S
from support.sample import sample
from support.tills import LOST_LINE, Restaurant, Till
from support.waiting import wait_until

POINTS = 3  # of each kind of failure, in CI
WORKERS = 2
FAULT_S = 2  # longer than the writer's tries to reopen the database
GAVE_UP = 70
ERRORS = {
    "openat": ["EIO", "EMFILE", "EROFS"],
    "pread64": ["EIO"],
    "pwrite64": ["EIO", "ENOSPC", "EROFS"],
    "fdatasync": ["EIO", "ENOSPC"],
    "fsync": ["EIO"],
    "setxattr": ["EROFS"],  # asks behind a sync whether the file system has stopped meanwhile
    "ftruncate": ["EIO", "ENOSPC"],
    "unlink": ["EIO"],
    "rename": ["EIO", "EROFS"],
}
KINDS = [(call, error, often) for call, errors in ERRORS.items() for error in errors for often in ("once", "for ever")]


class PatientTill(Till):
    """Looks at every answer on the way to the last one."""

    def until_answered(self, method, path, body, key):
        begin = time.monotonic()
        while True:
            asked = time.monotonic()
            try:
                answer = self.client.send(method, path, body, {"Idempotency-Key": key})
                if answer.status != 503:
                    assert answer.status < 500, (answer.status, answer.body)
                    return answer
                assert answer.code == "service_unavailable", answer.body
                assert int(answer.headers["retry-after"]) >= 1, answer.headers
            except LOST_LINE:
                self.client.close()
                self.restaurant.line_lost()
            assert time.monotonic() - asked < PATIENCE_S, f"{method} {path} hangs"
            self.restaurant.mend_after(FAULT_S)
            assert time.monotonic() - begin < 2 * PATIENCE_S, f"{method} {path} is not answered"
            time.sleep(0.02)


class Life(Restaurant):
    """One order in a server whose disk fails, and in the one that is started when that ended."""

    def __init__(self, data, call, error, often, nth):
        super().__init__("life", data=data, tills=0)
        self.tills = [PatientTill(self, 0, 0)]
        self.call, self.error, self.often, self.nth = call, error, often, nth
        self.tracer, self.failing_since, self.mended_at, self.back_s = None, None, None, 0
        self.trace = self.box.data / "trace"

    def lie_in_wait(self):
        pid = self.box.process.pid
        when = f"{self.nth}+" if self.often == "for ever" else str(self.nth)
        self.tracer = subprocess.Popen(
            ["strace", "-qq", "-f", "-o", self.trace, "-e", "trace=" + self.call,
             "-e", f"inject={self.call}:error={self.error}:when={when}", "-p", str(pid)], stderr=subprocess.DEVNULL)
        wait_until(lambda: is_traced(pid), "strace is attached")

    def failed(self):
        return "(INJECTED)" in self.trace.read_text(errors="replace") if self.trace.exists() else False

    def mend_after(self, seconds):
        """A till is not answered. The fault ends by itself where it comes once."""
        if self.tracer is None:
            return
        now = time.monotonic()
        if self.failing_since is None:
            self.failing_since = now
        if now - self.failing_since > seconds:
            self.mend()

    def mend(self):
        if self.tracer is not None:
            tracer, self.tracer = self.tracer, None
            tracer.send_signal(signal.SIGINT)
            tracer.wait(PATIENCE_S)
            self.mended_at = time.monotonic()

    def answered(self):
        super().answered()
        if self.mended_at is not None:
            self.back_s, self.mended_at = time.monotonic() - self.mended_at, None

    def line_lost(self):
        if self.box.process.poll() is None:
            return
        assert self.often == "for ever", "one failure ended the process:\n" + self.box.log_text()[-3000:]
        assert self.box.process.returncode == GAVE_UP, self.box.log_text()[-3000:]
        self.mend()
        self.box.start()

    def live(self):
        self.box.start()
        self.lie_in_wait()
        try:
            with contextlib.closing(self.box.client(self.key)) as reader:
                self.tills[0].serve("guest")
                if self.tracer is not None and self.often == "for ever" and self.box.process.poll() is None:
                    look(reader)
            if self.tracer is not None:  # then perhaps while it stops
                self.box.process.send_signal(signal.SIGTERM)
                self.box.process.wait(PATIENCE_S)
                self.mend()
                assert self.box.process.returncode in (0, GAVE_UP), self.box.log_text()[-3000:]
                self.box.start()
        finally:
            self.mend()
        self.check_everything()
        return self.failed(), self.back_s


def look(client):
    """Reads go on, or say why not."""
    for path in ("/v1/orders?per_page=1", "/v1/menu"):
        try:
            answer = client.get(path)
        except LOST_LINE:
            return  # the process has ended
        assert answer.status in (200, 503), (answer.status, answer.body)
        assert client.get("/healthz").status == 200


def is_traced(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.split("TracerPid:")[1].split()[0]) != 0


@contextlib.contextmanager
def copy_of(prepared):
    with tempfile.TemporaryDirectory(prefix="comanda-test-") as directory:
        data = pathlib.Path(directory) / "data"
        shutil.copytree(prepared, data, ignore=shutil.ignore_patterns("*.sock"))
        yield data


def live_once(prepared, call, error, often, nth):
    """Whether the disk did fail, and how long after that the first write went through."""
    with copy_of(prepared) as data:
        life = Life(data, call, error, often, nth)
        try:
            lived = life.live()
            if call == "pread64" and often == "once":
                assert "restore a backup" not in life.box.log_text(), "a read that failed once is no damage"
            return lived
        except BaseException as failure:
            raise AssertionError(f"{call} number {nth}, {error} {often}: {failure}") from failure
        finally:
            life.mend()
            life.box.kill_if_running()


def calls_of_a_thread(trace):
    """{call: the most that one thread made}"""
    made = {}
    for thread, call in re.findall(r"^(\d+) +(\w+)\(", trace, re.M):
        made[call, thread] = made.get((call, thread), 0) + 1
    return {call: max([0] + [n for (name, _), n in made.items() if name == call]) for call in ERRORS}


@pytest.fixture(scope="module")
def prepared():
    house = Restaurant("life", tills=0)
    house.box.start()
    assert house.box.stop() == 0
    yield house.box.data
    house.box.discard()


@pytest.fixture(scope="module")
def calls(prepared):
    """How often a thread makes each call in such a life."""
    with copy_of(prepared) as data:
        life = Life(data, ",".join(ERRORS), "EIO", "once", 1)
        life.box.start()
        pid = life.box.process.pid
        life.tracer = subprocess.Popen(["strace", "-qq", "-f", "-o", life.trace, "-e", "trace=" + life.call, "-p", str(pid)],
                                       stderr=subprocess.DEVNULL)
        wait_until(lambda: is_traced(pid), "strace is attached")
        life.tills[0].serve("guest")
        assert life.box.stop() == 0
        life.mend()
        made = calls_of_a_thread(life.trace.read_text())
    print(made)
    assert made["pwrite64"] > 20 and made["fdatasync"] > 5 and made["setxattr"] > 5 and made["openat"] > 0, made
    return made


def test_an_order_is_taken_once_whatever_the_disk_fails(prepared, calls, seed):
    trials = [(call, error, often, nth) for number, (call, error, often) in enumerate(KINDS)
              for nth in sample(calls[call], POINTS, seed + number)]
    with concurrent.futures.ProcessPoolExecutor(WORKERS, multiprocessing.get_context("fork")) as pool:
        lives = list(pool.map(live_once, [prepared] * len(trials), *zip(*trials)))
    failed = sum(one for one, _ in lives)
    print(f"{len(trials)} lives, the disk failed {failed}, back after at most {max(back for _, back in lives):.2f} s")
    assert failed > len(trials) * 0.8, "the disk hardly failed: the test proves nothing"


def start_once(call, error, often, nth):
    """A first start on a failing disk: it serves, or it ends and says why, and the next one serves."""
    with tempfile.TemporaryDirectory(prefix="comanda-test-") as directory:
        data, trace = pathlib.Path(directory) / "data", pathlib.Path(directory) / "trace"
        when = f"{nth}+" if often == "for ever" else str(nth)
        # Behind the opens of the tracer's own start and of the data directory's parents.
        words = ["strace", "-qq", "-f", "-o", trace, "-e", "trace=" + call]
        if nth:
            words += ["-e", f"inject={call}:error={error}:when={when}"]
        box = Box(data, ["--sandbox-listen", "", "--workers", "16"])
        log = pathlib.Path(directory) / "log"
        with open(log, "wb") as output:
            process = subprocess.Popen([*words, str(BINARY), "serve", "--data", str(data), "--listen",
                                        f"127.0.0.1:{box.port}"], stdout=output, stderr=subprocess.STDOUT)
        try:
            wait_until(lambda: process.poll() is not None or "listening" in log.read_text(errors="replace"), "it serves or ends")
            if process.poll() is None:
                for child in re.findall(r"^(\d+)", trace.read_text(), re.M)[:1]:
                    os.kill(int(child), signal.SIGTERM)
                process.wait(PATIENCE_S)
            failed = "(INJECTED)" in trace.read_text()
            text = log.read_text(errors="replace")
            assert process.returncode >= 0 and process.returncode < 128, f"{process.returncode}: {text}"
            if process.returncode != 0:
                assert failed and ("<3>" in text or "comanda: " in text), f"it does not say why it ended: {text}"
        finally:
            if process.poll() is None:
                process.kill()
        try:
            data.mkdir(exist_ok=True)
            box.bring_in("demo")
            box.start()
            with contextlib.closing(box.client(box.make_key()["key"])) as client:
                client.place()
            assert box.stop() == 0
        except BaseException as failure:
            raise AssertionError(f"after {call} number {nth}, {error} {often}: {failure}\n{text}") from failure
        finally:
            box.kill_if_running()
        return failed, calls_of_a_thread(trace.read_text())[call]


def test_a_first_start_leaves_nothing_behind_that_the_next_could_not_use(seed):
    trials = []
    for number, (call, error, often) in enumerate(KINDS):
        _, last = start_once(call, error, often, 0)
        trials += [(call, error, often, nth) for nth in sample(last, 2, seed + number)]
    with concurrent.futures.ProcessPoolExecutor(WORKERS, multiprocessing.get_context("fork")) as pool:
        failed = sum(failed for failed, _ in pool.map(start_once, *zip(*trials)))
    print(f"{len(trials)} starts, the disk failed {failed}")
    assert failed > len(trials) * 0.8, "the disk hardly failed: the test proves nothing"
