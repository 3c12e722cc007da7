"""What somebody has put into the directory of a backup, or deleted there: nothing but files is read, no symbolic link is
followed, and a copy that is no longer whole does not count as one of those kept."""

import os
import re
import shutil
import socket
import struct

import pytest

from support.backups import back_up, configure, copy_as, good, verify
from support.box import Box

PASSPHRASE = "the cat sits on the till"
HUGE = 1 << 42


def pipe_for(path):
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def link_for(path, target):
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def socket_for(path):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))


STRANGE = {
    "a pipe": (lambda b: pipe_for(b / "tls/more"), "tls/more is a pipe"),
    "a pipe in place of a key": (lambda b: pipe_for(b / "tls/ca.key"), "tls/ca.key is a pipe"),
    "a pipe in place of the checksums": (lambda b: pipe_for(b / "B2SUMS"), "B2SUMS is a pipe"),
    "a pipe in place of the settings": (lambda b: pipe_for(b / "comanda.conf"), "comanda.conf is (no file but )?a pipe"),
    "a pipe in place of the database": (lambda b: pipe_for(b / "live.db"), "live.db is no file but a pipe"),
    "a pipe in place of the lock": (lambda b: pipe_for(b / "comanda.lock"), "comanda.lock is a pipe"),
    "a pipe in place of what was served": (lambda b: pipe_for(b / "served"), "served is (no file but )?a pipe"),
    "a link to /dev/zero": (lambda b: link_for(b / "tls/ca.crt", "/dev/zero"), "tls/ca.crt is a symbolic link"),
    "a link to the same bytes": (lambda b: (b / "live.db").rename(b / "live") and link_for(b / "live.db", "live"),
                                 "live.db is no file but a symbolic link"),
    "a link to /": (lambda b: link_for(b / "all", "/"), "all is a symbolic link"),
    "a link to / further down": (lambda b: link_for(b / "tls/all", "/"), "tls/all is a symbolic link"),
    "a link in place of tls": (lambda b: link_for(b / "tls", "/"), "tls is (no directory but )?a symbolic link"),
    "a link to itself": (lambda b: link_for(b / "loop", "loop"), "loop is a symbolic link"),
    "a socket": (lambda b: socket_for(b / "tls/socket"), "tls/socket is a socket"),
    "settings of terabytes": (lambda b: os.truncate(b / "comanda.conf", HUGE), "comanda.conf is not as it was"),
    "directories without end": (lambda b: (b / "/".join("d" * 20)).mkdir(parents=True), "d/d is a directory nested too deep"),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """(a box, its plain backup)"""
    target = tmp_path_factory.mktemp("target")
    box = Box()
    box.bring_in("demo")
    box.start()
    box.stop()
    configure(box, target)
    back_up(box)
    yield box, good(target)[0]
    box.discard()


@pytest.mark.parametrize("command", ["verify", "restore", "drill"])
@pytest.mark.parametrize("case", STRANGE)
def test_what_is_no_file_is_named_and_not_read(made, tmp_path, monkeypatch, case, command):
    box, backup = made
    monkeypatch.chdir(tmp_path)  # a socket's path is short
    copy = tmp_path / "backup"
    shutil.copytree(backup, copy)
    put, words = STRANGE[case]
    put(copy if "socket" not in case else type(copy)("backup"))
    data = tmp_path / "data"
    shutil.copytree(box.data, data, ignore=shutil.ignore_patterns("*.sock"))
    more = ["--yes"] if command == "restore" else []

    done = box.command(command, str(copy), "--data", str(data), *more, check=False)

    # A drill names the first of several.
    found = done.stdout + done.stderr
    assert done.returncode == 1, done
    assert re.search(words, found) or (command == "drill" and "is damaged, and a restore would refuse it" in found), done
    assert sorted(path.name for path in tmp_path.iterdir()) == ["backup", "data"], "nothing is left of it"


@pytest.mark.parametrize("command", ["verify", "restore"])
@pytest.mark.parametrize("name", ["film.mkv", "other.db"])
def test_what_was_put_beside_the_backup_is_not_read(made, tmp_path, command, name):
    box, backup = made
    copy = tmp_path / "backup"
    shutil.copytree(backup, copy)
    with open(copy / name, "wb") as file:
        file.truncate(HUGE)
    data = tmp_path / "data"
    shutil.copytree(box.data, data, ignore=shutil.ignore_patterns("*.sock"))
    more = ["--yes"] if command == "restore" else []
    done = box.command(command, str(copy), "--data", str(data), *more, check=False)
    if command == "verify":
        assert done.returncode == 1 and f"{name} was not there" in done.stdout, done
    else:
        assert done.returncode == 0 and not (data / name).exists(), done


def test_a_link_is_never_restored(made, tmp_path):
    box, backup = made
    copy = tmp_path / "backup"
    shutil.copytree(backup, copy)
    (tmp_path / "secret").write_text("of root")
    link_for(copy / "tls/more", tmp_path / "secret")
    link_for(copy / "providers.d", tmp_path)
    data = tmp_path / "data"
    shutil.copytree(box.data, data, ignore=shutil.ignore_patterns("*.sock"))
    box.command("restore", str(copy), "--data", str(data), "--yes", "--damaged")
    assert not (data / "tls/more").exists() and not (data / "providers.d").exists()


def test_a_pipe_in_the_data_hinders_no_backup(made, tmp_path):
    box, _ = made
    target = tmp_path / "target"
    target.mkdir()
    configure(box, target)
    (box.data / "providers.d").mkdir()
    os.mkfifo(box.data / "providers.d/app.json")
    try:
        done = back_up(box)
        assert "providers.d/app.json is not in the backup: it is no file" in done.stderr
        assert verify(box, good(target)[0]).returncode == 0
    finally:
        shutil.rmtree(box.data / "providers.d")


# The costs of a sealed one
@pytest.fixture
def sealing(box, tmp_path):
    """(the target, where sealed backups are made)"""
    file = tmp_path / "passphrase"
    file.write_text(PASSPHRASE + "\n")
    file.chmod(0o600)
    target = tmp_path / "target"
    target.mkdir()
    configure(box, target, backup_passphrase_file=file, backup_keep=2, backup_keep_weekly=0)
    return target


@pytest.mark.parametrize("passes, memory_kib", [(4, 64 * 1024), (3, 64 * 1024 + 1), (16, 1024 * 1024), (2**32 - 1, 2**32 - 1)])
@pytest.mark.parametrize("command", ["verify", "restore", "drill"])
def test_a_head_that_asks_for_more_than_ours_is_refused_at_once(box, sealing, passes, memory_kib, command):
    back_up(box)
    (backup,) = good(sealing)
    whole = backup.read_bytes()
    backup.write_bytes(whole[:16] + struct.pack("<II", passes, memory_kib) + whole[24:])
    more = ["--yes"] if command == "restore" else []
    done = box.command(command, str(backup), "--data", str(box.data), *more, check=False)
    assert done.returncode == 1 and "asks for more time or memory" in done.stderr, done


# Which count as kept
def lose_database(backup):
    (backup / "live.db").unlink()


def cut_database(backup):
    os.truncate(backup / "live.db", (backup / "live.db").stat().st_size - 4096)


def empty_database(backup):
    os.truncate(backup / "live.db", 0)


def blank_database(backup):
    size = (backup / "live.db").stat().st_size
    os.truncate(backup / "live.db", 0)
    os.truncate(backup / "live.db", size)


def lose_key(backup):
    (backup / "tls/ca.key").unlink()


def empty_key(backup):
    os.truncate(backup / "tls/ca.key", 0)


def lose_sums(backup):
    (backup / "B2SUMS").unlink()


def empty_sums(backup):
    os.truncate(backup / "B2SUMS", 0)


def lose_all(backup):
    for entry in backup.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


@pytest.mark.parametrize("spoil", [lose_database, cut_database, empty_database, blank_database, lose_key, empty_key, lose_sums,
                                   empty_sums, lose_all])
def test_a_copy_that_is_not_whole_now_does_not_count_as_kept(box, tmp_path, spoil):
    box.start()
    box.stop()
    target = tmp_path / "target"
    target.mkdir()
    configure(box, target, backup_keep=2, backup_keep_weekly=0)
    back_up(box)
    (first,) = good(target)
    copy_as(first, "comanda-000002-20261101T030000Z", "comanda-000003-20261102T030000Z", "comanda-000004-20261103T030000Z")
    shutil.rmtree(first)
    spoil(target / "comanda-000003-20261102T030000Z")
    spoil(target / "comanda-000004-20261103T030000Z")

    done = back_up(box)

    # The newest whole one of before stays, and of the others what the rule would have kept.
    names = [path.name for path in good(target)]
    assert names[:-1] == ["comanda-000002-20261101T030000Z", "comanda-000004-20261103T030000Z"], names
    assert verify(box, good(target)[0]).returncode == 0 and verify(box, good(target)[-1]).returncode == 0
    assert f"{target}/comanda-000004-20261103T030000Z is damaged or incomplete" in done.stderr
    assert "not counted as one of those kept" in done.stderr


def test_a_sealed_copy_that_was_cut_does_not_count_as_kept(box, sealing):
    back_up(box)
    (first,) = good(sealing)
    copy_as(first, "comanda-000002-20261101T030000Z.sealed", "comanda-000003-20261102T030000Z.sealed")
    first.unlink()
    back_up(box)  # which learns the sizes
    assert len(good(sealing)) == 2
    newest = good(sealing)[-1]
    cut = good(sealing)[0]
    assert cut.name == "comanda-000003-20261102T030000Z.sealed"
    os.truncate(newest, newest.stat().st_size - 1)
    done = back_up(box)
    assert f"{newest} is damaged or incomplete: it has" in done.stderr, done
    assert cut in good(sealing), "the only whole one of before"
    assert verify(box, good(sealing)[-1]).returncode == 0


def test_a_link_with_the_name_of_a_backup_is_none(box, tmp_path):
    target = tmp_path / "target"
    target.mkdir()
    configure(box, target, backup_keep=2, backup_keep_weekly=0)
    (target / "comanda-000007-20261101T030000Z").symlink_to("/")
    (target / "comanda-000009-20261101T030000Z.sealed").symlink_to("/dev/zero")
    back_up(box)
    names = sorted(path.name for path in target.iterdir())
    assert len(names) == 3 and names[-1].startswith("comanda-000010-"), names
    assert box.command("drill", "--data", str(box.data)).returncode == 0
