"""Backups by themselves: where they go, what they hold, which stay, what is said where one cannot be made."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import tempfile
import time

import pytest

from support.backups import NAME, UNFINISHED, back_up, configure, copy_as, good, verify
from support.box import Box, PATIENCE_S
from support.metrics import samples

LAST_GOOD = "comanda_backup_last_good_timestamp_seconds"
PASSPHRASE = "the cat sits on the till"
NOBODY = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounts need root")


@pytest.fixture
def target(tmp_path):
    directory = tmp_path / "target"
    directory.mkdir()
    return directory


@pytest.fixture
def sealing(box, target, tmp_path):
    """Settings that seal; the file of the passphrase."""
    file = tmp_path / "passphrase"
    file.write_text(PASSPHRASE + "\n")
    file.chmod(0o600)
    configure(box, target, backup_passphrase_file=file)
    return file


def content(directory):
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def give_to_nobody(directory):
    for path in [directory, *directory.rglob("*")]:
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)


def left_in(*directories):
    """What an unfinished backup has left."""
    return [path for directory in directories for path in directory.iterdir()
            if UNFINISHED.fullmatch(path.name) or path.name.startswith("backup-unfinished.")]


# What is made
def test_each_directory_gets_a_backup_with_all_that_a_new_box_needs(box, tmp_path):
    targets = [tmp_path / "one", tmp_path / "Two"]
    for one in targets:
        one.mkdir()
    configure(box, *targets)
    (box.data / "providers.d").mkdir()
    (box.data / "providers.d/app.json").write_text("{}")
    (box.data / "credentials").mkdir()
    (box.data / "credentials/app").write_text("secret")
    (box.data / "cloud.key").write_text("secret")
    box.bring_in("demo", env="test")
    box.start()

    done = back_up(box)

    for one in targets:
        (backup,) = good(one)
        assert backup.name.startswith("comanda-000001-2") and f"{backup} is made and checked" in done.stdout
        files = {str(path.relative_to(backup)): path.stat().st_mode & 0o777 for path in backup.rglob("*")}
        assert files == {"live.db": 0o600, "test.db": 0o600, "comanda.conf": 0o600, "providers.d": 0o700, "B2SUMS": 0o600,
                         "providers.d/app.json": 0o600, "tls": 0o700, "tls/ca.crt": 0o600, "tls/ca.key": 0o600,
                         "tls/issuing.crt": 0o600, "tls/server.crt": 0o600, "tls/server.key": 0o600}
        assert backup.stat().st_mode & 0o777 == 0o700
        assert subprocess.run(["b2sum", "-c", "--quiet", "B2SUMS"], cwd=backup).returncode == 0
        found = verify(box, backup)
        assert found.returncode == 0 and re.search(r"live.db  \d+ orders, \d+ events: sound", found.stdout), found
        assert list(one.iterdir()) == [backup]
    assert not left_in(box.data)
    back_up(box)
    assert [NAME.fullmatch(path.name)[1] for path in good(targets[1])] == ["000001", "000002"]


def test_a_rotating_backup_is_a_data_directory(box, target, tmp_path):
    configure(box, target)
    key = box.make_key()["key"]
    back_up(box)
    shutil.copytree(good(target)[0], tmp_path / "restored")
    restored = Box(tmp_path / "restored").start()
    try:
        with contextlib.closing(restored.client(key)) as client:
            assert client.get("/v1/company").status == 200
    finally:
        restored.discard()


def test_without_a_directory_nothing_is_backed_up_by_itself(box, target):
    configure(box, target / "missing/backups")
    assert back_up(box, check=False).returncode == 1
    configure(box)
    done = back_up(box)
    assert "names no directory" in done.stdout
    box.start()
    with contextlib.closing(box.client()) as client:
        assert "backup" not in client.get("/readyz").json["checks"], "of a directory that is set no more"


def test_two_backups_at_once_are_one(box, target):
    configure(box, target)
    command = [str(box.binary), "backup", "--data", str(box.data)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    ends = [(process.communicate(timeout=PATIENCE_S), process.returncode) for process in running]
    assert len(good(target)) == sum(code == 0 for _, code in ends) >= 1
    assert all(code == 0 or "another backup is being made" in said[1] for said, code in ends), ends


# Which stay
def test_old_backups_go_by_days_and_weeks_and_nothing_else_goes(box, target):
    configure(box, target, backup_keep=2, backup_keep_weekly=2)
    back_up(box)
    (first,) = good(target)
    # Two days, two in one week before, and one of long ago; then what the rotation did not make.
    copy_as(first, "comanda-000002-20200106T030000Z", "comanda-000003-20200301T030000Z", "comanda-000004-20200309T030000Z",
            "comanda-000005-20200310T030000Z", "comanda-000006-20200311T030000Z")
    others = ["comanda-2026-11-23", "by hand", "comanda-00001-20200106T030000Z"]
    copy_as(first, *others)
    (target / "notes.txt").write_text("of the owner")
    first.rename(target / "comanda-000001-20200101T030000Z")

    done = back_up(box)

    names = [path.name for path in good(target)]
    assert names[:-1] == ["comanda-000006-20200311T030000Z"] and names[-1].startswith("comanda-000007-2"), names
    assert sorted(path.name for path in target.iterdir()) == sorted([*names, *others, "notes.txt"])
    assert done.stdout.count("deleted the old backup") == 5


@pytest.mark.parametrize("year", ["19700101", "20380119"])
def test_a_wrong_clock_makes_no_good_backup_old(box, target, year):
    """The clock was wrong for some days, and is right again: the order is that of the numbers."""
    configure(box, target, backup_keep=3, backup_keep_weekly=0)
    back_up(box)
    (first,) = good(target)
    copy_as(first, "comanda-000002-20261101T030000Z", "comanda-000003-20261102T030000Z", f"comanda-000004-{year}T000003Z",
            f"comanda-000005-{year}T000004Z")
    shutil.rmtree(first)

    back_up(box)

    names = [path.name for path in good(target)]
    assert names[:-1] == ["comanda-000003-20261102T030000Z", f"comanda-000005-{year}T000004Z"], names
    assert names[-1].startswith("comanda-000006-")


def test_a_failed_backup_takes_nothing_away(box, target):
    configure(box, target, backup_keep=2, backup_keep_weekly=0)
    back_up(box)
    copy_as(good(target)[0], *(f"comanda-00000{n}-2020010{n}T030000Z" for n in range(2, 8)))
    before = sorted(target.iterdir())
    database = box.data / "live.db"
    with open(database, "r+b") as file:
        file.seek(-3 * 4096, 2)
        file.write(b"\x7f" * 4096)
    done = back_up(box, check=False)
    assert done.returncode == 1 and "damaged" in done.stderr, done
    assert sorted(target.iterdir()) == before


def test_a_backup_of_damaged_rows_is_no_good_one(box, target):
    key = box.make_key()["key"]
    box.start()
    with contextlib.closing(box.client(key)) as client:
        order = client.place()
    box.stop()
    configure(box, target, backup_keep=2, backup_keep_weekly=0)
    back_up(box)
    copy_as(good(target)[0], *(f"comanda-00000{n}-2020010{n}T030000Z" for n in range(2, 5)))
    before = good(target)
    with contextlib.closing(sqlite3.connect(box.data / "live.db")) as db:
        assert db.execute("UPDATE orders SET order_title = 'changed' WHERE id = ?", (order["id"],)).rowcount == 1
        db.commit()
    for _ in range(2):
        done = back_up(box, check=False)
        assert done.returncode == 1 and "some of what it copied is damaged" in done.stderr, done
    assert good(target) == before
    (damaged,) = set(target.iterdir()) - set(before)
    assert damaged.name.endswith(".damaged") and damaged.name.startswith("comanda-000006-")


# Where it cannot be made
def mount(*words):
    subprocess.run(["mount", *map(str, words)], check=True)


def directory_in(place):
    """A new directory that no other test has, also where several runs share the machine."""
    made = pathlib.Path(tempfile.mkdtemp(prefix="comanda-test-", dir=place))
    made.chmod(0o755)
    return made


@contextlib.contextmanager
def mounted(point, options):
    point.mkdir(exist_ok=True)
    mount("-t", "tmpfs", "-o", options, "tmpfs", point)
    try:
        yield point
    finally:
        subprocess.run(["umount", point], check=True)


@contextlib.contextmanager
def a_file(box, tmp):
    (tmp / "file").write_text("")
    yield tmp / "file"


@contextlib.contextmanager
def a_disk_that_is_not_mounted(box, tmp):
    point = pathlib.Path("/mnt") / tmp.name
    point.mkdir()
    try:
        yield point / "backups"
    finally:
        assert list(point.iterdir()) == [], "made on the root disk"
        point.rmdir()


@contextlib.contextmanager
def read_only(box, tmp):
    with mounted(tmp / "disk", "ro") as disk:
        yield disk


@contextlib.contextmanager
def full(box, tmp):
    with mounted(tmp / "disk", "size=1m") as disk:
        yield disk


@contextlib.contextmanager
def full_on_the_way(box, tmp):
    """There seems to be room, and is none when it is written."""
    with mounted(tmp / "disk", "size=64m,nr_inodes=2") as disk:
        yield disk


@contextlib.contextmanager
def full_at_once(box, tmp):
    with mounted(tmp / "disk", "size=64m,nr_inodes=1") as disk:
        yield disk


@contextlib.contextmanager
def plain(path):
    yield path


BAD = {
    "the data directory": (lambda box, tmp: plain(box.data), "is or lies inside the data directory"),
    "in the data directory": (lambda box, tmp: plain(box.data / "backups"), "is or lies inside the data directory"),
    "missing": (lambda box, tmp: plain(tmp / "missing/backups"), "install -d -m 700"),
    "a file": (a_file, "is a file"),
    "below a file": (lambda box, tmp: plain(tmp / "passphrase/backups"), "Not a directory"),
    "not mounted": (a_disk_that_is_not_mounted, "nothing is mounted on /mnt/"),
    "read-only": (read_only, "is read-only"),
    "full": (full, "MiB free, and a backup needs"),
    "full on the way": (full_on_the_way, "No space left on device"),
    "full at once": (full_at_once, "No space left on device"),
}


@needs_root
@pytest.mark.parametrize("case, sealed", [(case, sealed) for case in BAD for sealed in (False, True)
                                          if not (sealed and case == "full on the way")])  # a sealed backup is one file
def test_a_bad_directory_is_named_and_the_others_get_their_backup(box, target, sealing, tmp_path, case, sealed):
    make, words = BAD[case]
    with make(box, tmp_path) as bad:
        before = sorted(bad.iterdir()) if bad.is_dir() and bad != box.data else None
        settings = {"backup_passphrase_file": sealing} if sealed else {}
        configure(box, bad, target, **settings)
        done = back_up(box, check=False)
        assert done.returncode == 1 and words in done.stderr and str(bad) in done.stderr, done
        assert (sorted(bad.iterdir()) if bad.is_dir() and bad != box.data else None) == before
    assert len(good(target)) == 1
    assert not left_in(box.data, target)
    assert not (tmp_path / "missing").exists()


@needs_root
def test_a_directory_of_another_user_is_named_with_the_command_that_mends_it(box):
    target = pathlib.Path(tempfile.mkdtemp(prefix="comanda-test-"))
    try:
        try_as_another_user(box, target)
    finally:
        shutil.rmtree(target)


def try_as_another_user(box, target):
    for path in [box.data, *box.data.rglob("*")]:
        os.chown(path, 65534, 65534)
    configure(box, target)
    os.chown(box.data / "comanda.conf", 65534, 65534)
    target.chmod(0o700)
    command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", str(box.binary), "backup", "--data", str(box.data)]
    if subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "test", "-x", str(box.binary)]).returncode:
        shutil.copy(box.binary, box.data / "comanda")
        command[4] = str(box.data / "comanda")
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 1 and re.search(rf"as root: .*chown .*{re.escape(str(target))}", done.stderr), done
    os.chown(target, 65534, 65534)
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 0, done
    # What root makes there is the service's, which must be able to delete it.
    back_up(box)
    assert {path.stat().st_uid for path in [*target.rglob("*")]} == {65534}


@needs_root
def test_the_directory_is_made_on_a_disk_that_is_mounted(box):
    point = directory_in("/srv")
    try:
        with mounted(point, "size=64m,mode=755") as disk:
            configure(box, disk / "comanda")
            give_to_nobody(box.data)
            done = back_up(box)
            assert len(good(disk / "comanda")) == 1 and "same disk" not in done.stderr
            found = (disk / "comanda").stat()
            assert (found.st_uid, found.st_mode & 0o777) == (NOBODY, 0o700)
    finally:
        point.rmdir()


@needs_root
def test_root_works_as_the_service_does_at_night(box):
    """A directory that only root can write is refused by hand, too; the doctor's command mends it."""
    target = directory_in("/srv")
    try:
        configure(box, target)
        give_to_nobody(box.data)
        done = back_up(box, check=False)
        assert done.returncode == 1 and f"chown nobody: '{target}'" in done.stderr, done
        report = box.command("doctor", "--data", str(box.data), "--json", check=False)
        (finding,) = [found for found in json.loads(report.stdout)["findings"] if "may not write there" in found["what"]]
        assert finding["check"] == "backups" and finding["command"] == f"chown nobody: '{target}'"
        subprocess.run(finding["command"], shell=True, check=True)  # as it stands
        back_up(box)
        assert {path.stat().st_uid for path in [target, *target.rglob("*")]} == {NOBODY}
        assert {path.stat().st_uid for path in box.data.rglob("*")} == {NOBODY}
        assert not left_in(box.data, target)
    finally:
        shutil.rmtree(target)


@needs_root
def test_a_disk_that_comes_back_gets_its_backup(box, tmp_path):
    point = directory_in("/mnt")
    try:
        configure(box, point)
        assert back_up(box, check=False).returncode == 1
        with mounted(point, "size=64m"):
            back_up(box)
            assert len(good(point)) == 1
    finally:
        point.rmdir()


@needs_root
@pytest.mark.parametrize("place", ["{}", "{}/disk"])
def test_a_directory_of_a_mounted_disk_gets_every_backup_and_none_without_the_disk(box, tmp_path, place):
    """/media/DISK/comanda, which has the form of /media/USER/DISK, and /media/USER/DISK/comanda."""
    above = directory_in("/media")
    point = pathlib.Path("/media") / place.format(above.name)
    point.mkdir(exist_ok=True)
    try:
        configure(box, point / "comanda")
        with mounted(point, "size=64m"):
            for count in (1, 2):
                back_up(box)
                assert len(good(point / "comanda")) == count
        (point / "comanda").mkdir()
        done = back_up(box, check=False)
        assert done.returncode == 1 and f"the disk with the backups is not mounted on {point} any more" in done.stderr, done
        assert list((point / "comanda").iterdir()) == []
    finally:
        shutil.rmtree(above)


def test_readyz_says_which_directory_gets_no_backup(box, target, tmp_path):
    configure(box, target, tmp_path / "stick/comanda")
    box.start()
    with contextlib.closing(box.client()) as client:
        assert "backup" not in client.get("/readyz").json["checks"], "none was tried yet"
        back_up(box, check=False)
        assert samples(client.get("/metrics").body.decode())[LAST_GOOD] == 0, "one has none"
        found = client.get("/readyz")
        assert found.status == 200 and found.json["checks"]["backup"]["ok"]
        state = found.json["checks"]["backup"]["state"]
        assert f"{tmp_path}/stick/comanda is missing" in state and str(target) not in state
        (tmp_path / "stick/comanda").mkdir(parents=True)
        begin = time.time()
        back_up(box)
        assert "backup" not in client.get("/readyz").json["checks"]
        assert begin - 1 < samples(client.get("/metrics").body.decode())[LAST_GOOD] < time.time() + 1


# Verify
def test_verify_changes_no_backup(box, target, tmp_path):
    configure(box, target)
    back_up(box)
    (backup,) = good(target)
    before = content(backup)
    times = {path: path.stat().st_mtime_ns for path in backup.rglob("*")}
    for words in ([], ["--json"]):
        assert verify(box, backup, *words).returncode == 0
    assert json.loads(verify(box, backup, "--json").stdout)["sound"] is True
    assert content(backup) == before and {path: path.stat().st_mtime_ns for path in backup.rglob("*")} == times
    # It stays one: a server that takes it up says that it was restored.
    shutil.copytree(backup, tmp_path / "restored")
    other = Box(tmp_path / "restored").start()
    try:
        other.wait_for_log("a backup was restored")
    finally:
        other.discard()


def flip(path):
    path.write_bytes(path.read_bytes()[:-1] + b"\x00")


def log_beside(backup):
    (backup / "live.db-wal").write_bytes(b"x" * 100)


SPOILT = {
    "a changed setting": (lambda backup: (backup / "comanda.conf").write_text("log_level = debug\n"), "comanda.conf is not as it was"),
    "a changed certificate": (lambda backup: flip(backup / "tls/ca.crt"), "tls/ca.crt is not as it was"),
    "a missing key": (lambda backup: (backup / "tls/ca.key").unlink(), "tls/ca.key is missing"),
    "a file more": (lambda backup: (backup / "tls/more").write_text(""), "tls/more was not there"),
    "a free page": (lambda backup: flip(backup / "live.db"), "live.db is not as it was"),
    "no checksums": (lambda backup: (backup / "B2SUMS").unlink(), "there is no B2SUMS"),
    "checksums that are none": (lambda backup: (backup / "B2SUMS").write_text("x\n"), "B2SUMS is damaged"),
    "a log": (log_beside, "live.db-wal"),
}


@pytest.mark.parametrize("case", SPOILT)
def test_verify_names_what_is_not_as_it_was(box, target, case):
    spoil, words = SPOILT[case]
    box.start()
    configure(box, target)
    back_up(box)
    box.stop()
    (backup,) = good(target)
    spoil(backup)
    done = verify(box, backup)
    assert done.returncode == 1 and words in done.stdout, done


@pytest.mark.parametrize("spoil", [lambda path: path.write_bytes(b""), lambda path: path.write_bytes(b"?" * 8192),
                                   lambda path: path.write_bytes(path.read_bytes()[:5000]), lambda path: (path.unlink(), path.mkdir())])
def test_verify_ends_where_a_backup_has_no_database(box, target, spoil):
    configure(box, target)
    back_up(box)
    (backup,) = good(target)
    spoil(backup / "live.db")
    done = verify(box, backup)
    assert done.returncode in (1, 70) and "live.db" in done.stdout + done.stderr, done


def test_verify_of_nothing_is_refused(box, tmp_path):
    for path in (tmp_path, tmp_path / "missing"):
        done = verify(box, path)
        assert done.returncode == 1 and "there is no" in done.stderr, done


# Sealed
def test_a_sealed_backup_is_one_file_that_says_nothing(box, target, sealing):
    box.start()
    back_up(box)
    back_up(box)
    assert [path.name for path in target.iterdir() if not NAME.fullmatch(path.name)[3]] == []
    for backup in good(target):
        assert backup.stat().st_mode & 0o777 == 0o600
        text = backup.read_bytes()
        assert b"SQLite" not in text and b"PRIVATE KEY" not in text
        found = verify(box, backup)
        assert found.returncode == 0 and re.search(r"live.db  \d+ orders, \d+ events: sound", found.stdout), found
    assert not left_in(box.data, target)


def test_what_is_no_passphrase_opens_nothing(box, target, sealing, tmp_path):
    back_up(box)
    (backup,) = good(target)
    other = tmp_path / "other"
    other.write_text("another passphrase\n")
    other.chmod(0o600)
    before = sorted(box.data.iterdir())
    done = verify(box, backup, "--passphrase-file", str(other))
    assert done.returncode == 1 and "the passphrase is not the one" in done.stderr, done
    configure(box, target)
    done = verify(box, backup)
    assert done.returncode == 2 and "--passphrase-file FILE" in done.stderr, done
    assert sorted(box.data.iterdir()) == before


@pytest.mark.parametrize("where", [0, 20, 50, 70, 200, 0.3, 0.99, -1])
def test_a_changed_byte_is_found(box, target, sealing, where):
    back_up(box)
    (backup,) = good(target)
    whole = backup.read_bytes()
    at = where if isinstance(where, int) else int(len(whole) * where)
    at %= len(whole)
    backup.write_bytes(whole[:at] + bytes([whole[at] ^ 0x80]) + whole[at + 1:])
    before = sorted(box.data.iterdir())
    done = verify(box, backup)
    assert done.returncode == 1 and str(backup) in done.stderr, done
    assert sorted(box.data.iterdir()) == before


def test_a_passphrase_that_does_not_protect_is_refused(box, target, sealing):
    for make, words in ((lambda: sealing.chmod(0o644), "chmod 600"), (lambda: sealing.write_text("short\n"), "at least 8 characters"),
                        (sealing.unlink, "cannot be read")):
        make()
        done = back_up(box, check=False)
        assert done.returncode == 1 and words in done.stderr, done
        if sealing.exists():
            sealing.chmod(0o600)
    beside = target / "passphrase"
    beside.write_text(PASSPHRASE)
    beside.chmod(0o600)
    configure(box, target, backup_passphrase_file=beside)
    done = back_up(box, check=False)
    assert done.returncode == 1 and "beside the backups that it opens" in done.stderr, done
    assert good(target) == []


def test_a_backup_by_hand_is_sealed_or_said_to_be_plain(box, sealing, tmp_path):
    done = box.command("backup", str(tmp_path / "by-hand"), "--data", str(box.data), check=False)
    assert done.returncode == 1 and "name a file that ends in .sealed" in done.stderr, done
    box.command("backup", str(tmp_path / "by-hand"), "--plain", "--data", str(box.data))
    assert verify(box, tmp_path / "by-hand").returncode == 0
    box.command("backup", str(tmp_path / "far/by-hand.sealed"), "--data", str(box.data))
    assert verify(box, tmp_path / "far/by-hand.sealed").returncode == 0
    again = box.command("backup", str(tmp_path / "far/by-hand.sealed"), "--data", str(box.data), check=False)
    assert again.returncode == 1 and "is there already" in again.stderr
