"""A program of a newer schema starts on what an older one left, and is killed, loses power or space on the way: the file is
then the old program's or the new one's, never between, and the next start finishes, with every order as it was told.
Needs root: a tracer, loop devices, small file systems."""

import contextlib
import concurrent.futures
import multiprocessing
import os
import pathlib
import re
import shutil
import signal
import socket
import sqlite3
import tempfile

import pytest

from power.test_disk_full import MIB, TIGHT, TOTAL_MIB, SmallDisk
from power.test_power_cut import cut_power, disk
from support.box import Box, LONG, PATIENCE_S, ROOT, free_port
from support.metrics import samples
from support.past import NEWEST, VERSIONS, check_upgraded, look, orders_told, unpack
from support.sample import sample
from support.waiting import wait_until

CALLS = ["pwrite64", "fdatasync", "fsync", "ftruncate", "unlink", "rename"]
POINTS = {"pwrite64": 9}  # of each kind of call and each version, in CI; of the others so many:
OTHER_POINTS = 2
CUTS = {"ext4": 10, "xfs": 4}
WORKERS = 2


def old_box(data, version, prepared):
    """A server that has not started yet: all but its database is there."""
    shutil.copytree(prepared, data, ignore=shutil.ignore_patterns("*.sock", "live.db*", "ballast", "test.log"), dirs_exist_ok=True)
    unpack(version, data)
    return Box(data, ["--sandbox-listen", "", "--workers", "8"])


def strace(box, *words):
    """The server's first thread alone, which is the one that upgrades."""
    box.wrapper = ["strace", "-q", "-o", str(box.data / "trace"), *words]


def server_of(box):
    """The pid below the tracer."""
    pid = box.process.pid
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(children[0]) if children else None


def end(box):
    """The server and its tracer."""
    with contextlib.suppress(OSError, TypeError):
        os.kill(server_of(box), signal.SIGKILL)
    box.kill_if_running()


@pytest.fixture(scope="module")
def prepared():
    """What a start makes beside the database."""
    box = Box(options=["--sandbox-listen", ""])
    box.start()
    assert box.stop() == 0
    yield box.data
    box.discard()


@contextlib.contextmanager
def old_directory(version, prepared):
    with tempfile.TemporaryDirectory(prefix="comanda-test-") as directory:
        box = old_box(pathlib.Path(directory) / "data", version, prepared)
        try:
            yield box
        finally:
            end(box)


def calls_of_an_upgrade(version, prepared):
    with old_directory(version, prepared) as box:
        strace(box, "-e", "trace=" + ",".join(CALLS))
        box.start()
        end(box)
        made = re.findall(r"^(\w+)\(", (box.data / "trace").read_text(), re.M)
    return {call: made.count(call) for call in CALLS}


def points(version, prepared, seed):
    for call, count in calls_of_an_upgrade(version, prepared).items():
        for nth in sample(count, POINTS.get(call, OTHER_POINTS), f"{seed} {version} {call}"):
            yield version, call, nth


def old_or_new(data, version, before):
    """Which of both the file is."""
    now, schema, orders = look(data)
    assert now in (version, NEWEST), f"half an upgrade: version {now}"
    if now == version:
        assert (schema, orders) == before[1:], "the old program's file is changed"
    assert [row[1] for row in orders] == [row[1] for row in before[2]], "an order is lost"
    return now


def kill_at(prepared, version, call, nth):
    """(whether it was killed, the version that the file then had)"""
    with old_directory(version, prepared) as box:
        before = look(box.data)
        strace(box, "-e", "trace=" + call, "-e", f"inject={call}:signal=KILL:when={nth}")
        box.launch()
        with contextlib.suppress(AssertionError):
            box.wait_ready()
        killed = box.process.poll() is not None
        end(box)
        found = old_or_new(box.data, version, before)
        box.wrapper = []
        try:
            box.start()
            check_upgraded(box, version)
        except BaseException as failure:
            raise AssertionError(f"version {version}, {call} number {nth}: {failure}\n{box.log_text()[-2000:]}") from failure
        return killed, found


def in_processes(work, calls):
    with concurrent.futures.ProcessPoolExecutor(WORKERS, multiprocessing.get_context("fork")) as pool:
        return [job.result() for job in [pool.submit(work, *call) for call in calls]]


def test_a_kill_at_any_step_leaves_the_old_file_or_the_new_one(prepared, seed):
    trials = [(prepared, *point) for version in ([VERSIONS[0], VERSIONS[-1]] if not LONG else VERSIONS)
              for point in points(version, prepared, seed)]
    ends = in_processes(kill_at, trials)
    killed = [found for was_killed, found in ends if was_killed]
    print(f"{len(killed)} kills, {killed.count(NEWEST)} of them left the new file")
    assert len(killed) > len(trials) * 0.8 and NEWEST in killed and len(set(killed)) > 1


def cut_at(kind, prepared, version, steps):
    """The power is cut behind each of those syncs and writes; how often the file was the old one then."""
    olds = 0
    with disk(kind) as one:
        for number, (call, nth) in enumerate(steps):
            data = one.root / str(number)
            box = old_box(data, version, prepared)
            box.log_path = one.directory / f"log-{number}"
            before = look(data)
            os.sync()
            strace(box, "-e", "trace=" + call, "-e", f"inject={call}:signal=STOP:when={nth}")
            box.wrapper[3] = str(one.directory / f"trace-{number}")
            box.launch()
            wait_for_stop(box)
            server = server_of(box)
            one.cut()
            if server:
                os.kill(server, signal.SIGKILL)
            box.process.wait(PATIENCE_S)
            one.come_back()
            olds += old_or_new(data, version, before) == version
            box.wrapper = []
            try:
                box.start()
                check_upgraded(box, version)
            finally:
                end(box)
            shutil.rmtree(data)
    return olds


def wait_for_stop(box):
    """Returns where the server stands still behind its step."""
    trace = pathlib.Path(box.wrapper[3])

    def stands_still():
        assert box.process.poll() is None, box.log_text()[-2000:]
        assert "listening" not in box.log_text(), "the step was not reached"
        return trace.exists() and "stopped by SIGSTOP" in trace.read_text()

    wait_until(stands_still, box.log_text)


def test_a_power_cut_leaves_the_old_file_or_the_new_one(prepared, seed):
    version = VERSIONS[-1]
    counts = calls_of_an_upgrade(version, prepared)
    calls = []
    for kind, cuts in CUTS.items():
        steps = [(call, nth) for call in ("fdatasync", "pwrite64")
                 for nth in sample(counts[call], cuts // 2, f"{seed} {kind} {call}")]
        calls.append((kind, prepared, version, steps))
    olds = sum(in_processes(cut_at, calls))
    all_cuts = sum(len(call[3]) for call in calls)
    print(f"{all_cuts} cuts, {olds} of them left the old file")
    assert 0 < olds < all_cuts


def test_systemd_waits_for_an_upgrade_and_is_told_when_it_serves(prepared):
    with old_directory(VERSIONS[-1], prepared) as box, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(box.data / "notify"))
        box.env = {"NOTIFY_SOCKET": str(box.data / "notify")}
        box.start()
        systemd.settimeout(PATIENCE_S)
        told = []
        while not told or "READY=1" not in told[-1]:
            told.append(systemd.recv(4096).decode())
        # Beside that, it stores its listeners with systemd.
        steps = [re.fullmatch("EXTEND_TIMEOUT_USEC=600000000\nSTATUS=upgrading the database: (.*)", one)[1]
                 for one in told[:-1] if not one.startswith("FDSTORE")]
        stems = [path.stem for path in sorted((ROOT / "src/app/migrations").glob("*.sql"))]
        missing = stems[stems.index(steps[1]):]  # of the older program
        assert steps == ["copy", *missing, "check", "commit", "close"], told


# A full disk


@pytest.fixture
def small():
    one = SmallDisk("tmpfs")
    try:
        yield one
    finally:
        one.discard()


@pytest.fixture
def box(small, prepared):
    one = old_box(small.root / "data", VERSIONS[0], prepared)
    one.log_path = small.directory / "log"
    yield one
    one.kill_if_running()


def with_old_sandbox(box):
    """The file of the older program is the sandbox's, the live one is new."""
    (box.data / "live.db").rename(box.data / "test.db")
    for sign in ("served", "tls/server.crt"):  # of a box that has served
        (box.data / sign).unlink(missing_ok=True)
    box.bring_in("demo")
    box.options = ["--sandbox-listen", f"127.0.0.1:{free_port()}", "--workers", "8"]
    return int(box.options[1].split(":")[1])


def sells(box):
    with contextlib.closing(box.client(box.make_key()["key"])) as client:
        client.place()
        return client.get("/readyz")


def metrics(box):
    with contextlib.closing(box.client()) as client:
        return samples(client.get("/metrics").body.decode())


def ask_sandbox(box, port):
    with contextlib.closing(box.client()) as client:
        client.port = port
        return client.get("/readyz")


def test_a_sandbox_that_has_no_space_for_its_upgrade_waits_while_the_restaurant_sells(small, box):
    port = with_old_sandbox(box)
    before = (box.data / "test.db").read_bytes()
    assert (box.data / "ballast").exists()
    small.leave(TIGHT * MIB + MIB // 8)
    box.start()
    ready = sells(box)
    assert ready.status == 200 and "no space" in ready.json["checks"]["sandbox"]["state"]
    box.wait_for_log("the sandbox is not served, tried again in a minute")
    box.wait_for_log("kept for orders")
    answer = ask_sandbox(box, port)
    assert (answer.status, answer.code) == (503, "service_unavailable") and int(answer.headers["retry-after"]) == 60
    refused = box.command("keys", "create", "--data", str(box.data), "--name", "x", "--scopes", "all", "--env", "test", check=False)
    assert refused.returncode != 0 and "sandbox is not served" in refused.stderr, refused
    assert (box.data / "test.db").read_bytes() == before and not list(box.data.glob("test.db.before-*"))
    small.filler.unlink()
    wait_until(lambda: ask_sandbox(box, port).status == 200, box.log_text, 60 + PATIENCE_S)
    assert "sandbox" not in sells(box).json["checks"]
    box.wait_for_log("the sandbox is served")
    assert box.make_key(env="test")["key"]
    assert box.stop() == 0


@pytest.mark.parametrize("damage", ["no database", "of a newer program"])
def test_a_sandbox_that_cannot_be_used_does_not_keep_the_restaurant_from_selling(box, damage):
    port = with_old_sandbox(box)
    if damage == "no database":
        (box.data / "test.db").write_bytes(b"x" * 9000)
    else:
        with contextlib.closing(sqlite3.connect(box.data / "test.db")) as db:
            db.execute(f"PRAGMA user_version = {NEWEST + 1}")
    before = (box.data / "test.db").read_bytes()
    box.start()
    ready = sells(box)
    assert ready.status == 200 and ready.json["checks"]["sandbox"]["state"].startswith("not served: its database")
    assert ask_sandbox(box, port).status == 503
    box.wait_for_log("not a database" if damage == "no database" else "newer program")
    assert box.stop() == 0
    assert (box.data / "test.db").read_bytes() == before


def test_a_nearly_full_disk_is_upgraded_without_a_copy(small, box):
    (box.data / "live.db.before-3").write_bytes(b"x" * 4096)  # of an earlier upgrade
    small.leave(TIGHT * MIB + TOTAL_MIB * MIB // 32 + MIB // 2)  # with the ballast that the start makes
    box.start()
    check_upgraded(box, VERSIONS[0])
    assert not list(box.data.glob("*.before-*"))
    box.wait_for_log("upgrading without a copy")


def test_an_upgrade_that_meets_a_full_disk_takes_the_ballast(small, box):
    (box.data / "ballast").write_bytes(bytes(MIB // 2))
    small.leave(160 << 10)
    box.start()
    box.wait_for_log("gave up the ballast")
    assert len(orders_told(VERSIONS[0])) == len(look(box.data)[2])


def test_an_upgrade_without_any_space_says_how_much_is_missing_and_changes_nothing(small, box):
    before = look(box.data)
    small.leave(160 << 10)
    box.launch()
    assert box.process.wait(PATIENCE_S) == 70
    said = box.log_text()
    assert re.search(r"have \d+ bytes free, there are \d+: \d+ are missing", said), said
    assert look(box.data) == before
    # Below systemd, which would start it again at once, it does not fill the disk every second.
    box.env = {"NOTIFY_SOCKET": str(small.directory / "notify")}
    box.launch()
    box.wait_for_log("tried again in a minute")
    assert box.process.poll() is None and box.stop() == 70
    small.filler.unlink()
    box.start()
    check_upgraded(box, VERSIONS[0])


def test_the_copy_goes_before_anything_stops(small, box):
    """The disk becomes tight: what is kept to go back goes first."""
    box.start()
    copy = box.data / f"live.db.before-{VERSIONS[0] + 1}"
    assert copy.exists()
    small.leave(TIGHT * MIB - MIB // 2)
    wait_until(lambda: not copy.exists(), box.log_text)
    box.wait_for_log("deleted the copy from before an upgrade")
    assert "no reports" not in box.log_text()


def run_for(data, days):
    """Another moment of counted time (events/marks.h), as if the server had run for so long since the last."""
    with contextlib.closing(sqlite3.connect(data / "live.db")) as db, db:
        db.execute("""INSERT INTO mark SELECT mark + 1, counted_ms + ?1, at + ?1, settled_at, away_ms, is_synchronised, schema_version
                      FROM mark ORDER BY mark DESC LIMIT 1""", (days * 86_400_000,))


def test_a_copy_is_kept_for_a_week(small, box):
    box.start()
    check_upgraded(box, VERSIONS[0])  # its order is of today: a clock far from the last one deletes nothing
    copy = box.data / f"live.db.before-{VERSIONS[0] + 1}"
    assert box.stop() == 0
    run_for(box.data, 6)
    box.start()
    # The chores begin at once, and the server ends behind them.
    wait_until(lambda: metrics(box)['comanda_worker_passes_total{worker="chores"}'] >= 1, box.log_text)
    assert box.stop() == 0 and copy.exists()
    run_for(box.data, 2)
    box.start()
    wait_until(lambda: not copy.exists(), box.log_text)
