"""`comanda restore`, `comanda resume` and `comanda drill`: what is refused and leaves everything as it was, what a damaged
backup may not become, kills at each step, another machine, and the documents' commands."""

import contextlib
import hashlib
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import time

import pytest

from support import documents, terminal
from support.box import BINARY, LONG, PATIENCE_S, ROOT, RUNNER, Box
from support.machine import Machine, new_machine
from support.past import unpack
from support.receiver import LOOPBACK, Receiver
from support.sample import sample
from support.waiting import wait_until

NO_SANDBOX = ["--sandbox-listen", ""]


class Place:
    """A directory with a data directory `data`, a box that works in it, and a backup of it."""

    def __init__(self, directory, options=()):
        self.directory = directory
        self.data = directory / "data"
        self.backup = directory / "backup"
        self.data.mkdir(parents=True, mode=0o700)
        self.box = Box(self.data, [*NO_SANDBOX, *options])
        self.box.bring_in("demo")
        self.box.bring_in("demo", env="test")
        self.key = self.box.make_key()["key"]
        self.box.start()
        self.order("before the backup")

    def order(self, title):
        with contextlib.closing(self.box.client(self.key)) as client:
            order = client.place(order_title=title)
            return client.pay(client.add(order, {"product_name": "Lomo", "quantity": 1, "variant_price": 10}), 10)

    def titles(self):
        with contextlib.closing(self.box.client(self.key)) as client:
            return {order["order_title"] for order in client.get("/v1/orders?per_page=100").data}

    def back_up(self):
        self.box.command("backup", str(self.backup), "--data", str(self.data))

    def restore(self, *words, backup=None, check=True, wrapper=()):
        return run("restore", str(backup or self.backup), "--data", str(self.data), *words, check=check, wrapper=wrapper)

    def set_aside(self):
        return sorted(self.directory.glob("data.before-restore-*"))

    def beside(self):
        return {path.name for path in self.directory.iterdir()}


def run(*words, check=True, wrapper=(), **more):
    done = subprocess.run([*wrapper, *RUNNER, str(BINARY), *words], capture_output=True, text=True, timeout=PATIENCE_S * 4,
                          stdin=subprocess.DEVNULL, **more)
    assert not check or done.returncode == 0, (words, done)
    assert done.returncode >= 0 and "terminate" not in done.stderr, done
    return done


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """A stopped box with one more order than its backup, to be copied."""
    place = Place(tmp_path_factory.mktemp("restore"))
    place.back_up()
    place.order("after the backup")
    assert place.box.stop() == 0
    yield place
    place.box.discard()


@pytest.fixture
def place(stopped, tmp_path):
    """A copy of it, which knows that it is a copy: its own data directory."""
    made = object.__new__(Place)
    made.directory, made.data, made.backup, made.key = tmp_path, tmp_path / "data", tmp_path / "backup", stopped.key
    for name in ("data", "backup"):
        shutil.copytree(stopped.directory / name, tmp_path / name)
    made.box = Box(made.data, NO_SANDBOX)
    yield made
    made.box.kill_if_running()


def content(directory):
    """Every file with its bytes and mode; what a reader of a database may make beside it is left out."""
    return {str(path.relative_to(directory)): (path.stat().st_mode, path.read_bytes() if path.is_file() else b"")
            for path in directory.rglob("*") if not path.name.endswith("-shm") and path.name != "comanda.lock"}


# Restoring

def test_a_restore_brings_the_data_back_and_sets_the_present_ones_aside(place):
    (place.data / "cloud.key").write_text("of this machine")
    (place.data / "credentials").mkdir()
    (place.data / "credentials/app").write_text("secret")
    before, backup = content(place.data), content(place.backup)

    done = place.restore("--yes")

    assert re.search(r"restored: the data are from 20\d\d-\d\d-\d\d \d\d:\d\d UTC: 1 order, the last one PE-\d+ of", done.stdout), done
    assert f"start the server: comanda serve --data {place.data}" in done.stdout
    aside = place.set_aside()
    assert len(aside) == 1 and f"the former data directory is {aside[0]}" in done.stdout
    assert content(aside[0]) == before, "set aside as it was"
    assert content(place.backup) == backup, "the backup stays a backup"
    assert place.beside() == {"data", "backup", aside[0].name}
    assert (place.data / "cloud.key").read_text() == "of this machine" and "kept of this machine: cloud.key" in done.stdout
    assert (place.data / "credentials/app").read_text() == "secret"
    for path in place.data.rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path
    place.box.start()
    assert place.titles() == {"before the backup"}
    place.order("in the new life")
    assert place.box.cafile.read_bytes() == (place.backup / "tls/ca.crt").read_bytes(), "devices trust it as before"
    assert place.box.stop() == 0


def test_a_restore_is_undone_by_restoring_what_it_has_set_aside(place):
    place.restore("--yes")
    former = place.set_aside()[0]
    place.restore("--yes", backup=former)
    assert len(place.set_aside()) == 2
    place.box.start()
    assert place.titles() == {"before the backup", "after the backup"}
    assert place.box.stop() == 0


def test_a_restore_makes_a_missing_data_directory(place):
    shutil.rmtree(place.data)
    done = place.restore("--yes")
    assert "former" not in done.stdout and place.beside() == {"data", "backup"}
    place.box.start()
    assert place.titles() == {"before the backup"}
    assert place.box.stop() == 0


@pytest.mark.parametrize("version", [1, 8, 10])
def test_a_backup_of_an_older_program_is_upgraded(place, version):
    (place.backup / "test.db").unlink()
    (place.backup / "live.db").unlink()
    unpack(version, place.backup)
    mark(place.backup / "live.db", 0x434D4442)
    (place.backup / "B2SUMS").unlink()
    assert "an older program has made it" in place.restore("--yes", check=False).stderr
    done = place.restore("--yes", "--damaged")
    assert re.search(r"[1-9]\d* orders", done.stdout), done
    assert "webhooks are held" in done.stdout, "of such a backup nobody knows the machine"
    assert run("verify", "--data", str(place.data)).returncode == 0


def test_files_of_root_belong_to_the_owner_of_the_directory(place):
    if os.geteuid() != 0:
        pytest.skip("needs root")
    for path in [place.data, *place.data.rglob("*")]:
        os.chown(path, 65534, 65534)
    place.restore("--yes")
    assert {(path.stat().st_uid, path.stat().st_gid) for path in [place.data, *place.data.rglob("*")]} == {(65534, 65534)}


# What is refused, before anything is touched

def mark(path, owner):
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA application_id = {owner}")


def set_version(path, version):
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {version}")


def overwrite(path, at, content):
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(content)


def truncate(path, share):
    size = path.stat().st_size
    with open(path, "r+b") as file:
        file.truncate(int(size * share))


def directory_for(path):
    path.unlink()
    path.mkdir()


def file_for(path):
    shutil.rmtree(path)
    path.write_text("no directory")


def foreign(backup):
    shutil.rmtree(backup)
    backup.mkdir()
    (backup / "holiday.jpg").write_bytes(b"\xff\xd8")


def sum_again(backup):
    """As if the backup had been made so: what its checksums do not find is to be found all the same."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        lines = [f"{hashlib.blake2b(path.read_bytes()).hexdigest()}  {path.relative_to(backup)}\n"
                 for path in sorted(backup.rglob("*")) if path.is_file() and path.name != "B2SUMS"]
        (backup / "B2SUMS").write_text("".join(lines))


def write_settings(backup, text):
    (backup / "comanda.conf").write_text(text)


def unpaid(path):
    """A row that was changed by hand: its order is not what was written."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE orders SET total = total + 100")
        db.commit()
        db.execute("PRAGMA journal_mode = DELETE")


BAD = {
    "of a newer program": (lambda b: set_version(b / "live.db", 99), "newer"),
    "a foreign directory": (foreign, "there is no"),
    "nothing": (shutil.rmtree, "there is no"),
    "a file": (lambda b: (shutil.rmtree(b), b.write_text("?")), "is no backup"),
    "of another program": (lambda b: mark(b / "live.db", 77), "of another program"),
    "no database": (lambda b: (b / "live.db").write_bytes(b"?" * 8192), "no database"),
    "empty": (lambda b: (b / "live.db").write_bytes(b""), "is empty"),
    "a directory in place of the database": (lambda b: directory_for(b / "live.db"), "is no file"),
    "half a copy: the database is cut": (lambda b: truncate(b / "live.db", 0.6), "a part of the file is missing"),
    "half a copy: no certificates": (lambda b: shutil.rmtree(b / "tls"), "tls/ca.crt or tls/ca.key is missing"),
    "half a copy: no key of the authority": (lambda b: (b / "tls/ca.key").unlink(), "tls/ca.crt or tls/ca.key is missing"),
    "a file in place of tls": (lambda b: file_for(b / "tls"), "tls is no directory"),
    "garbage in the middle": (lambda b: overwrite(b / "live.db", 20 * 4096, b"\x7f" * 4096), ""),
    "garbage in the header": (lambda b: overwrite(b / "live.db", 30, b"\x7f" * 60), ""),
    "an order that was changed by hand": (lambda b: unpaid(b / "live.db"), "order "),
    "settings of a newer program": (lambda b: write_settings(b, "teleport = yes\n"), "teleport"),
    "settings that are a directory": (lambda b: (b / "comanda.conf").mkdir(), "comanda.conf is no file"),
    "a certificate that is not there": (lambda b: write_settings(b, "tls_certificate = /nowhere/a.crt\ntls_key = /nowhere/a.key\n"),
                                        "/nowhere/a.crt"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_backup_is_refused_before_anything_is_touched(place, case):
    spoil, words = BAD[case]
    before = content(place.data)
    spoil(place.backup)
    sum_again(place.backup)
    done = place.restore("--yes", check=False)
    assert done.returncode in (1, 2) and words in done.stderr and done.stderr.startswith("comanda: "), done
    assert content(place.data) == before
    assert place.beside() <= {"data", "backup"}, "nothing is left of it"
    place.box.start()
    assert place.titles() == {"before the backup", "after the backup"}
    assert place.box.stop() == 0


def test_a_damaged_backup_is_taken_where_it_is_said(place):
    unpaid(place.backup / "live.db")
    shutil.rmtree(place.backup / "tls")
    sum_again(place.backup)
    authority = (place.data / "tls/ca.crt").read_bytes()
    done = place.restore("--yes", "--damaged")
    assert "taken though it is damaged" in done.stderr and "order " in done.stderr, done
    assert (place.data / "tls/ca.crt").read_bytes() == authority, "no authority is made anew"
    place.box.start()
    with contextlib.closing(place.box.client(place.key)) as client:
        # The record of the order has a checksum of its own, and is as it was.
        assert [order["total"] for order in client.get("/v1/orders").data] == [10], "no wrong total is shown"
    assert place.box.stop() == 0


CHANGED = {
    "a setting": lambda b: write_settings(b, "log_level = debug\n"),
    "a certificate": lambda b: overwrite(b / "tls/server.crt", 40, b"\0"),
    "a byte of the database": lambda b: overwrite(b / "live.db", 5000, b"A"),
    "a file that is missing": lambda b: (b / "tls/server.key").unlink(),
    "no checksums": lambda b: (b / "B2SUMS").unlink(),
}


@pytest.mark.parametrize("case", CHANGED)
def test_what_was_changed_since_the_backup_is_refused_by_its_checksums(place, case):
    CHANGED[case](place.backup)
    done = place.restore("--yes", check=False)
    assert done.returncode == 1 and "is damaged or incomplete; nothing was changed" in done.stderr, done
    assert place.beside() == {"data", "backup"}


def test_a_note_beside_a_backup_is_no_damage(place):
    (place.backup / "note.txt").write_text("taken before the new menu")
    run("verify", "--data", str(place.backup), check=False)
    place.restore("--yes")
    assert not (place.data / "note.txt").exists()


SANDBOXES = {
    "garbage": lambda path: path.write_bytes(b"?" * 9000),
    "a directory": directory_for,
    "cut": lambda path: truncate(path, 0.5),
}


@pytest.mark.parametrize("case", SANDBOXES)
def test_a_damaged_sandbox_is_left_out(place, case):
    SANDBOXES[case](place.backup / "test.db")
    done = place.restore("--yes")
    assert "the sandbox is left out" in done.stderr, done
    assert not (place.data / "test.db").exists()
    place.box.start()
    assert place.titles() == {"before the backup"}
    assert place.box.stop() == 0


def test_a_running_server_without_the_unit_is_not_touched(place):
    place.box.start()
    done = place.restore("--yes", check=False)
    assert done.returncode == 1 and f"a server works in {place.data}" in done.stderr and "stop it first" in done.stderr, done
    assert place.titles() == {"before the backup", "after the backup"}
    assert place.beside() == {"data", "backup"}
    assert place.box.stop() == 0


def test_a_directory_in_which_a_server_works_is_no_backup(place):
    other = Box(place.backup, NO_SANDBOX)
    other.start()
    done = place.restore("--yes", check=False)
    assert done.returncode == 1 and "a server works in" in done.stderr and "comanda backup TARGET" in done.stderr, done
    other.stop()


def test_the_data_directory_is_not_restored_from_within(place):
    shutil.copytree(place.backup, place.data / "backup")
    for backup, words in ((place.data, "itself"), (place.data / "backup", "lies inside"), (place.directory, "lies inside")):
        done = place.restore("--yes", backup=backup, check=False)
        assert done.returncode == 1 and words in done.stderr, done
    assert place.beside() == {"data", "backup"}


def test_orders_that_a_server_took_in_a_backup_are_not_lost(place):
    """The log of a killed server has all that it wrote; the header is still a backup's."""
    other = Box(place.backup, NO_SANDBOX)
    other.start()
    with contextlib.closing(other.client(place.key)) as client:
        client.place(order_title="in the backup")
    other.kill()
    place.restore("--yes")
    place.box.start()
    assert place.titles() == {"before the backup", "in the backup"}
    assert place.box.stop() == 0


# A former data directory, whose log belongs to its database

def killed_in_work(place):
    """A former data directory whose log has the last order."""
    former = place.directory / "former"
    shutil.copytree(place.data, former)
    box = Box(former, NO_SANDBOX)
    box.start()
    with contextlib.closing(box.client(place.key)) as client:
        client.place(order_title="in the log")
    assert (former / "live.db-wal").stat().st_size > 0
    box.kill()
    return former


def test_a_log_is_restored_with_its_database(place):
    place.restore("--yes", backup=killed_in_work(place))
    place.box.start()
    assert place.titles() == {"before the backup", "after the backup", "in the log"}
    assert place.box.stop() == 0


LOGS = {
    "missing": lambda wal, old: wal.unlink(),
    "of another time": lambda wal, old: wal.write_bytes(old),
    "a directory": lambda wal, old: directory_for(wal),
    "garbage": lambda wal, old: wal.write_bytes(random.Random(1).randbytes(20_000)),
}


@pytest.mark.parametrize("case", LOGS)
def test_a_log_that_does_not_belong_makes_no_wrong_totals(place, case):
    """Either what is missing is named and refused, or the state is one that was whole."""
    former = killed_in_work(place)
    # What `served` noted at the last start is checked; it was whole then.
    box = Box(former, NO_SANDBOX)
    box.start()
    with contextlib.closing(box.client(place.key)) as client:
        client.place(order_title="in the last log")
    old = (former / "live.db-wal").read_bytes()
    box.kill()
    LOGS[case](former / "live.db-wal", old[: len(old) // 2])
    done = place.restore("--yes", backup=former, check=False)
    if done.returncode == 0:
        assert run("verify", "--data", str(place.data)).returncode == 0
        place.box.start()
        assert place.titles() >= {"before the backup", "after the backup"}
        assert place.box.stop() == 0
    else:
        assert done.returncode in (1, 70), done
        assert place.beside() == {"data", "backup", "former"}


def test_changes_that_are_missing_are_named(place):
    """A stopped server has noted how many changes the database had: an older file in its place is found."""
    shutil.copy(place.backup / "live.db", place.directory / "older.db")
    former = place.directory / "former"
    place.data.rename(former)
    shutil.copy(place.directory / "older.db", former / "live.db")
    mark(former / "live.db", 0x434D4441)
    done = place.restore("--yes", backup=former, check=False)
    assert done.returncode == 1 and re.search(r"live.db lacks \d+ changes that it had", done.stderr), done


@pytest.mark.parametrize("seed", range(40 if LONG else 8))
def test_no_mutation_of_a_backup_becomes_a_wrong_total(place, seed):
    chance = random.Random(seed)
    path = place.backup / "live.db"
    before = path.read_bytes()
    for _ in range(chance.choice([1, 1, 3])):
        at = chance.randrange(len(before))
        overwrite(path, at, chance.randbytes(chance.choice([1, 1, 16, 512, 4096])))
    if path.read_bytes() == before:  # one byte in 256 is what was there
        overwrite(path, at, bytes([before[at] ^ 1]))
    assert place.restore("--yes", check=False).returncode == 1, "its checksum tells"
    sum_again(place.backup)
    done = place.restore("--yes", check=False)
    if done.returncode != 0:
        assert done.returncode in (1, 70) and place.beside() == {"data", "backup"}, done
        return
    place.box.start()
    with contextlib.closing(place.box.client(place.key)) as client:
        orders = client.get("/v1/orders?per_page=100").data
        assert [(order["total"], order["total_paid"]) for order in orders] == [(10, 10)]
    assert place.box.stop() == 0


# Asking

def test_it_asks_on_a_terminal_and_nowhere_else(place):
    done = place.restore(check=False)
    assert done.returncode == 2 and "--yes" in done.stderr, done
    for answer, code in (b"n\n", 1), (b"\n", 1), (b"\x03", 1), (b"y\n", 0):
        ended, said = terminal.answer(["restore", place.backup, "--data", place.data], answer)
        assert ended == code and "1 order" in said, said
        assert len(place.set_aside()) == (1 if code == 0 else 0) and len(place.beside()) == (3 if code == 0 else 2)


# Kills

CALLS = {"fsync": 1, "renameat2": 1, "rename": 1, "unlink": 1, "openat": 9, "pwrite64": 7}


def restore_killed(place, call, nth):
    """Whether it was killed where it would begin its nth call."""
    words = ["strace", "-f", "-q", "-o", "/dev/null", "-e", "trace=" + call, "-e", f"inject={call}:signal=KILL:when={nth}",
             *RUNNER, str(BINARY), "restore", str(place.backup), "--data", str(place.data), "--yes"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S * 4)
    assert done.returncode in (0, 137, -9), done
    return done.returncode != 0


@pytest.mark.parametrize("call", CALLS)
def test_killed_anywhere_it_leaves_the_old_or_the_new_data_whole(stopped, tmp_path, call):
    outcomes, nth, stride = [], 1, 1 if LONG else CALLS[call]
    while True:
        place = object.__new__(Place)
        place.directory = tmp_path / str(nth)
        place.data, place.backup, place.key = place.directory / "data", place.directory / "backup", stopped.key
        for name in ("data", "backup"):
            shutil.copytree(stopped.directory / name, place.directory / name)
        place.box = Box(place.data, NO_SANDBOX)
        if not restore_killed(place, call, nth):
            break
        place.box.start()
        titles = place.titles()
        assert place.box.stop() == 0
        assert titles in ({"before the backup"}, {"before the backup", "after the backup"}), (call, nth, titles)
        is_old = len(titles) == 2
        outcomes.append(is_old)
        # The former data are somewhere, whole, and the next restore cleans up.
        if not is_old:
            kept = [*place.directory.glob("data.before-restore-*"), *place.directory.glob("data.restoring-*")]
            assert len(kept) == 1 and (kept[0] / "live.db").stat().st_size > 0, kept
        done = place.restore("--yes")
        left = {name for name in place.beside() if "restoring" in name}
        assert all("did not put in place" in done.stderr for _ in left), (done, left)
        assert len(place.set_aside()) == (1 if is_old else 2), place.beside()
        place.box.start()
        assert place.titles() == {"before the backup"}
        assert place.box.stop() == 0
        shutil.rmtree(place.directory)
        nth += stride
    print(f"{call}: {len(outcomes)} kills, {outcomes.count(False)} of them left the restored data")
    assert outcomes, "nothing was killed"


def test_a_signal_in_the_middle_leaves_nothing(place):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        process = subprocess.Popen(["strace", "-f", "-q", "-o", "/dev/null", "-e", "trace=pwrite64,fdatasync", "-e",
                                    "inject=pwrite64,fdatasync:delay_enter=30000", *RUNNER, str(BINARY), "restore",
                                    str(place.backup), "--data", str(place.data), "--yes"], stderr=subprocess.PIPE, text=True)
        wait_until(lambda: list(place.directory.glob("data.restoring-*/live.db")), "the restore has begun")
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        os.kill(int(children[0]), number)
        said = process.communicate(timeout=PATIENCE_S)[1]
        assert "interrupted: nothing was changed" in said, said
        assert place.beside() == {"data", "backup"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_between_the_question_and_the_answer_is_one(place, number):
    ours, terminal = os.openpty()
    process = subprocess.Popen(["strace", "-f", "-q", "-o", "/dev/null", "-e", "trace=write", "-e",
                                "inject=write:delay_exit=300000", *RUNNER, str(BINARY), "restore", str(place.backup),
                                "--data", str(place.data)], stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    said = b""
    while not said.endswith(b"[y/N] "):
        said += process.stdout.read(1)
    # The write of the question is delayed at its end: nothing waits for the answer yet.
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(int(children[0]), number)
    assert "interrupted: nothing was changed" in process.communicate(timeout=PATIENCE_S)[1].decode()
    os.close(terminal)
    os.close(ours)
    assert place.beside() == {"data", "backup"}


# Another machine

@pytest.fixture
def sending(tmp_path):
    """A box with a webhook, and its receiver."""
    with Receiver() as receiver:
        place = Place(tmp_path, LOOPBACK)
        with contextlib.closing(place.box.client(place.key)) as client:
            assert client.post("/v1/webhooks", {"webhook_url": receiver.url}).status == 201
        yield place, receiver
        place.box.kill_if_running()


def move_to(place, machine):
    """Its server and commands run on that machine from now on."""
    place.machine = machine  # for as long as its file is needed
    place.box.wrapper = machine.words
    return machine


def command(place, *words, check=True):
    return run(*words, "--data", str(place.data), check=check, wrapper=place.box.wrapper)


def held(place):
    with contextlib.closing(place.box.client()) as client:
        return client.get("/readyz").json["checks"].get("outgoing")


def test_another_machine_holds_webhooks_until_resume(sending):
    place, receiver = sending
    first = place.order("of the first machine")
    receiver.wait_for_event("ORDER_UPDATED", first, 2)
    place.back_up()
    assert place.box.stop() == 0
    count = len(receiver.requests)
    machine = move_to(place, new_machine())

    done = place.restore("--yes", wrapper=machine.words)
    assert "webhooks are held" in done.stdout and "comanda resume" in done.stdout, done
    place.box.start()
    place.box.wait_for_log("outgoing messages are held")
    order = place.order("of the second machine")
    state = held(place)
    assert state["ok"] and "comanda resume" in state["state"], state
    assert "webhooks are held since" in command(place, "webhooks", "list").stderr
    assert "outgoing.held" in command(place, "audit").stdout
    # A restart holds on.
    assert place.box.stop() == 0
    place.box.start()
    assert held(place)

    resumed_at = time.time()
    assert "resumed" in command(place, "resume").stdout
    receiver.wait_for_event("ORDER_UPDATED", order, 2)
    assert all(request.at >= resumed_at for request in receiver.requests[count:]), "two boxes would send"
    assert not held(place) and "webhooks" not in command(place, "webhooks", "list").stderr
    assert "nothing was held" in command(place, "resume").stdout
    assert "outgoing.resumed" in command(place, "audit").stdout
    assert place.box.stop() == 0
    place.box.start()
    assert not held(place)
    assert place.box.stop() == 0


def test_a_stopped_server_is_resumed_too(sending):
    place, receiver = sending
    place.back_up()
    assert place.box.stop() == 0
    machine = move_to(place, new_machine())
    place.restore("--yes", wrapper=machine.words)
    assert "resumed" in command(place, "resume").stdout
    place.box.start()
    assert not held(place)
    order = place.order("of the second machine")
    receiver.wait_for_event("ORDER_CREATED", order)
    assert place.box.stop() == 0


def test_the_same_machine_holds_nothing(sending):
    place, receiver = sending
    place.back_up()
    assert place.box.stop() == 0
    done = place.restore("--yes")
    assert "held" not in done.stdout
    place.box.start()
    assert not held(place)
    order = place.order("after the restore")
    receiver.wait_for_event("ORDER_CREATED", order)
    assert place.box.stop() == 0


def test_a_copy_by_hand_on_another_machine_is_held(sending):
    place, receiver = sending
    assert place.box.stop() == 0
    count = len(receiver.requests)
    moved = place.directory / "moved"
    shutil.copytree(place.data, moved)
    place.data = place.box.data = moved
    place.box.log_path = moved / "test.log"
    place.box.cafile = moved / "tls/ca.crt"
    move_to(place, new_machine())
    place.box.start()
    order = place.order("of the copy")
    assert held(place)
    resumed_at = time.time()
    command(place, "resume")
    receiver.wait_for_event("ORDER_CREATED", order)
    assert all(request.at >= resumed_at for request in receiver.requests[count:])
    assert place.box.stop() == 0


def test_the_same_disk_in_another_machine_is_held(sending):
    place, _ = sending
    assert place.box.stop() == 0
    move_to(place, new_machine())
    place.box.start()
    assert held(place)
    # What was known of it stays: the log of events goes on without a new epoch.
    assert "a backup was restored" not in place.box.log_text()
    assert place.box.stop() == 0


def test_a_machine_without_an_id_serves_and_holds_what_came_from_elsewhere(tmp_path):
    nameless = Machine(None)
    place = object.__new__(Place)
    place.directory, place.data, place.backup = tmp_path, tmp_path / "data", tmp_path / "backup"
    place.data.mkdir()
    place.box = Box(place.data, NO_SANDBOX)
    place.box.wrapper = nameless.words
    run("import", str(ROOT / "src/app/demo.json"), "--data", str(place.data), wrapper=nameless.words)
    place.box.start()
    assert not held(place), "its own data"
    assert place.box.stop() == 0
    place.box.start()
    assert not held(place)
    assert place.box.stop() == 0
    place.back_up()
    place.restore("--yes", wrapper=nameless.words)
    place.box.start()
    assert held(place), "nobody knows where it was served"
    assert place.box.stop() == 0


# Drill

def drill(place, *words, check=True):
    done = run("drill", str(place.backup), "--data", str(place.data), *words, check=check)
    assert not list(place.data.glob("*unfinished*")), "nothing is left"
    return done


def test_a_drill_compares_the_backup_with_the_data_of_a_running_server(stopped, place):
    place.box.start()
    # A restored copy, as the fixture makes it, goes on from the same orders.
    backup = content(place.backup)
    done = drill(place)
    assert re.search(r"^20\d\d-\d\d +1 +1000 +1000 +same$", done.stdout, re.M), done.stdout
    assert re.search(r"^products +\d+ +same$", done.stdout, re.M) and re.search(r"^keys +1 +same$", done.stdout, re.M), done.stdout
    assert "1 order was placed since" in done.stdout
    assert content(place.backup) == backup
    place.order("still serving")
    assert place.box.stop() == 0


def test_a_drill_finds_what_differs(place):
    with contextlib.closing(sqlite3.connect(place.data / "live.db")) as db:
        db.execute("UPDATE orders SET total_paid = total_paid + 1 WHERE created_seq = (SELECT min(created_seq) FROM orders)")
        db.commit()
    done = drill(place, check=False)
    assert done.returncode == 1 and "1 DIFFER" in done.stdout, done


def test_a_drill_finds_what_is_missing(place):
    with contextlib.closing(sqlite3.connect(place.data / "live.db")) as db:
        db.execute("PRAGMA foreign_keys = OFF")
        db.execute("DELETE FROM orders WHERE created_seq = (SELECT min(created_seq) FROM orders)")
        db.commit()
    done = drill(place, check=False)
    assert done.returncode == 1 and "1 NOT IN THE DATA" in done.stdout, done


def test_a_drill_takes_the_newest_backup_of_the_settings(place):
    directories = [place.directory / name for name in ("one", "other")]
    (place.data / "comanda.conf").write_text(f"backup_to = {directories[0]}, {directories[1]}\n")
    done = run("drill", "--data", str(place.data), check=False)
    assert done.returncode == 1 and "there is no backup in" in done.stderr, done
    for directory in directories:
        directory.mkdir()
    run("backup", "--data", str(place.data))
    place.box.start()
    time.sleep(1.1)  # names tell seconds
    place.order("third")
    (place.data / "comanda.conf").write_text(f"backup_to = {directories[1]}\n")
    run("backup", "--data", str(place.data))
    (place.data / "comanda.conf").write_text(f"backup_to = {directories[0]}, {directories[1]}\n")
    done = run("drill", "--data", str(place.data))
    assert done.stdout.startswith(str(directories[1])) and "3 orders" in done.stdout, done
    assert place.box.stop() == 0


@pytest.mark.parametrize("case", ["garbage in the middle", "an order that was changed by hand", "half a copy: the database is cut",
                                  "of a newer program", "a foreign directory"])
def test_a_drill_refuses_what_a_restore_refuses(place, case):
    BAD[case][0](place.backup)
    sum_again(place.backup)
    done = drill(place, check=False)
    assert done.returncode in (1, 70) and done.stderr.startswith("comanda: "), done


def test_a_killed_drill_is_cleaned_up(place):
    for restart in (True, False):
        subprocess.run(["strace", "-f", "-q", "-o", "/dev/null", "-e", "trace=fdatasync", "-e",
                        "inject=fdatasync:signal=KILL:when=2", *RUNNER, str(BINARY), "drill", str(place.backup),
                        "--data", str(place.data)], timeout=PATIENCE_S * 4)
        assert list(place.data.glob("comanda-backup-unfinished.*"))
        if restart:
            place.box.start()
            place.box.wait_for_log("removed what an interrupted backup or drill left")
            assert not list(place.data.glob("*unfinished*"))
            assert place.box.stop() == 0
        else:
            assert "removed what an interrupted backup or drill left" in drill(place).stderr


# Sealed backups: one file

@pytest.fixture
def sealed(place, tmp_path):
    """A sealed backup of the same data, as a box makes it that has a passphrase, and the file with the passphrase."""
    passphrase = tmp_path / "passphrase"
    passphrase.write_text("correct horse battery\n")
    passphrase.chmod(0o600)
    to = tmp_path / "sealed"
    to.mkdir()
    settings = place.data / "comanda.conf"
    settings.write_text(f"backup_to = {to}\nbackup_passphrase_file = {passphrase}\n")
    run("backup", "--data", str(place.data))
    settings.unlink()
    return next(to.glob("*.sealed")), passphrase


def test_a_sealed_backup_is_restored(place, sealed):
    file, passphrase = sealed
    before = file.read_bytes()
    done = place.restore("--yes", "--passphrase-file", str(passphrase), backup=file)
    assert "2 orders" in done.stdout and file.read_bytes() == before
    assert not (place.data / "unsealed").exists()
    place.box.start()
    assert place.titles() == {"before the backup", "after the backup"}
    assert place.box.stop() == 0


def test_a_sealed_backup_that_is_not_what_was_sealed_is_refused(place, sealed):
    file, passphrase = sealed
    before, beside, whole = content(place.data), place.beside(), file.read_bytes()
    wrong = place.directory / "wrong"
    wrong.write_text("another horse battery\n")
    wrong.chmod(0o600)
    beside.add("wrong")

    def refused(words, *more):
        done = place.restore("--yes", *more, backup=file, check=False)
        assert done.returncode in (1, 2) and words in done.stderr, done
        assert content(place.data) == before and place.beside() == beside

    refused("--passphrase-file")
    refused("passphrase", "--passphrase-file", str(wrong))
    chance = random.Random(1)
    for at in [20, *(chance.randrange(len(whole)) for _ in range(6)), len(whole) - 1]:
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
        refused("", "--passphrase-file", str(passphrase))
    for share in (0.1, 0.5, 0.999):
        file.write_bytes(whole[: int(len(whole) * share)])
        refused("", "--passphrase-file", str(passphrase))


def test_a_drill_unseals(place, sealed):
    file, passphrase = sealed
    done = run("drill", str(file), "--passphrase-file", str(passphrase), "--data", str(place.data))
    assert "2 orders" in done.stdout and not list(place.data.glob("*unfinished*")), done


# systemd/README.md

def test_a_lost_key_is_replaced_as_the_readme_says(place):
    lost = documents.section(documents.TECHNICIAN, "Replace a lost key").replace("\n", " ")
    listed, create, revoke = re.findall(r"`(comanda keys [^`]*)`", lost)
    place.box.start()
    record = place.key[-4:]
    line = next(line for line in run(*listed.split()[1:], "--data", str(place.data)).stdout.splitlines() if record in line)
    assert "cmd_live_" in run(*shlex.split(create)[1:], "--data", str(place.data)).stdout
    lost_id = re.search(r"[0-9a-f]{8}-[0-9a-f-]{27}", line).group(0)
    run(*revoke.replace("ID", lost_id).split()[1:], "--data", str(place.data))
    with contextlib.closing(place.box.client(place.key)) as client:
        assert client.get("/v1/orders").status == 401, "it stops at once"
    assert place.box.stop() == 0


def test_the_commands_of_the_readme_work(place):
    """Those of "Restore" and "Replace a machine", with the directories of this test."""
    restore = documents.commands(documents.section(documents.TECHNICIAN, "Restore"), "comanda ")
    # Indented as a step.
    replace = re.findall(r"^       (comanda .*)$", documents.section(documents.TECHNICIAN, "Replace a machine"), re.M)
    assert [words.split()[1] for words in restore + replace] == ["drill", "restore", "restore", "resume"]
    for words in restore + replace:
        words = words.split("#")[0].replace("/media/usb/comanda-2026-11-20", str(place.backup)).split()
        run(*words[1:], *(["--yes"] if words[1] == "restore" else []), "--data", str(place.data))
