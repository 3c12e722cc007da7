"""Backups on a disk that keeps neither owners nor modes: a stick with exFAT or NTFS, and what shares of other computers refuse
(bindfs). They are made all the same, by the service's user at night and by root by hand, and it is said that the keys lie in
the open. Needs root, and mounts file systems of FUSE: a kernel for tests may have no drivers of its own for these."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

from support.backups import UNFINISHED, back_up, configure, good, verify
from support.box import PATIENCE_S, Box
from support.disk import run
from support.waiting import wait_until_passes

OWNER = 12345
IMAGE_BYTES = 96 << 20
OPEN = "everybody who can read the disk can read the keys in the backup"


def image_in(directory):
    image = directory / "image"
    with open(image, "wb") as file:
        file.truncate(IMAGE_BYTES)
    return image


@contextlib.contextmanager
def exfat(directory, point, options):
    image = image_in(directory)
    run("mkfs.exfat", image)
    device = subprocess.run(["losetup", "--find", "--show", image], capture_output=True, text=True, check=True).stdout.strip()
    try:
        run("mount.exfat-fuse", "-o", "allow_other," + options, device, point)
        yield
    finally:
        unmount(point)
        run("losetup", "-d", device)


@contextlib.contextmanager
def ntfs(directory, point, options):
    image = image_in(directory)
    run("mkntfs", "-F", "-Q", "-q", image)
    try:
        run("ntfs-3g", "-o", "allow_other," + options, image, point)
        yield
    finally:
        unmount(point)


@contextlib.contextmanager
def share(directory, point, *words):
    (directory / "share").mkdir()
    (directory / "share").chmod(0o777)
    try:
        run("bindfs", "--chmod-deny", "--chown-deny", *words, "-o", "allow_other", directory / "share", point)
        yield
    finally:
        unmount(point)


def unmount(point):
    if os.path.ismount(point):
        wait_until_passes(lambda: run("umount", point))


OURS = f"uid={OWNER},gid={OWNER},umask="
MEDIA = {
    "exFAT": lambda directory, point: exfat(directory, point, OURS + "000"),
    "exFAT of the service alone": lambda directory, point: exfat(directory, point, OURS + "077"),
    "NTFS": lambda directory, point: ntfs(directory, point, OURS + "022"),
    "a share that gives files to one user": lambda directory, point: share(
        directory, point, f"--force-user={OWNER}", f"--force-group={OWNER}", "--perms=a=rX:u+w"),
    "a share that gives files to another user": lambda directory, point: share(
        directory, point, "--force-user=65534", "--force-group=65534", "--perms=a=rwX"),
}


@pytest.fixture
def place():
    """A directory that every user may enter, with a box whose data belong to the service's user."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="comanda-test-", dir="/srv"))
    directory.chmod(0o755)
    (directory / "data").mkdir(mode=0o700)
    (directory / "stick").mkdir()
    box = Box(directory / "data")
    box.binary = pathlib.Path(shutil.copy(box.binary, directory / "comanda"))
    box.bring_in("demo")
    yield directory, box
    shutil.rmtree(directory)


def settings(box, *targets, **more):
    configure(box, *targets, **more)
    for path in [box.data, *box.data.rglob("*")]:
        os.chown(path, OWNER, OWNER, follow_symlinks=False)


def at_night(box):
    """As the timer's unit runs it."""
    return subprocess.run(["setpriv", f"--reuid={OWNER}", f"--regid={OWNER}", "--clear-groups", str(box.binary), "backup",
                           "--data", str(box.data)], capture_output=True, text=True, timeout=PATIENCE_S * 4)


def by_hand(box):
    return back_up(box, check=False)


def findings(box, words):
    report = box.command("doctor", "--data", str(box.data), "--json", check=False)
    return [found for found in json.loads(report.stdout)["findings"] if found["check"] == "backups" and words in found["what"]]


def result(box):
    return (box.data / "backup-results").read_text().split("\t")


@pytest.mark.parametrize("medium", MEDIA)
def test_a_backup_is_made_where_no_modes_are_kept_and_it_is_said_what_that_means(place, medium):
    directory, box = place
    target = directory / "stick/comanda"
    with MEDIA[medium](directory, directory / "stick"):
        settings(box, target, backup_keep=2, backup_keep_weekly=0)
        for count, make in enumerate([by_hand, at_night, by_hand], 1):
            done = make(box)
            assert done.returncode == 0 and OPEN in done.stderr and "backup_passphrase_file" in done.stderr, done
            assert len(good(target)) == min(count, 2), "one goes for the third"
            assert verify(box, good(target)[-1]).returncode == 0
        assert result(box)[4] == "" and result(box)[7] == "1"
        (finding,) = findings(box, "everybody who can read the disk can read the keys in the backups")
        assert finding["state"] == "warning" and "comanda config set backup_passphrase_file" in finding["command"]
        assert {path.stat().st_uid for path in box.data.rglob("*")} == {OWNER}


@pytest.mark.parametrize("medium", MEDIA)
def test_a_sealed_one_lies_nowhere_in_the_open(place, medium):
    directory, box = place
    target = directory / "stick/comanda"
    passphrase = directory / "passphrase"
    passphrase.write_text("the cat sits on the till\n")
    passphrase.chmod(0o600)
    os.chown(passphrase, OWNER, OWNER)
    with MEDIA[medium](directory, directory / "stick"):
        settings(box, target, backup_passphrase_file=passphrase)
        for make in (by_hand, at_night):
            done = make(box)
            assert done.returncode == 0 and "open" not in done.stderr, done
        assert len(good(target)) == 2 and verify(box, good(target)[-1]).returncode == 0
        assert result(box)[7] == "0" and not findings(box, "can read the keys")


@pytest.mark.parametrize("medium", MEDIA)
def test_what_a_kill_leaves_there_is_removed_by_the_next_backup(place, medium):
    directory, box = place
    target = directory / "stick/comanda"
    with MEDIA[medium](directory, directory / "stick"):
        settings(box, target)
        by_hand(box)
        subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync", "-e", "inject=fdatasync:signal=KILL:when=1",
                        str(box.binary), "backup", "--data", str(box.data)], capture_output=True, timeout=PATIENCE_S * 4)
        assert any(UNFINISHED.fullmatch(path.name) for path in target.iterdir())
        assert at_night(box).returncode == 0
        assert not any(UNFINISHED.fullmatch(path.name) for path in target.iterdir())
        assert len(good(target)) == 2


@pytest.mark.parametrize("medium", MEDIA)
def test_one_by_hand_is_made_and_said_to_be_open(place, medium):
    directory, box = place
    with MEDIA[medium](directory, directory / "stick"):
        settings(box)
        target = directory / "stick/far/by-hand"
        done = box.command("backup", str(target), "--data", str(box.data))
        assert "everybody who can read the disk" in done.stderr, done
        assert verify(box, target).returncode == 0


@pytest.mark.parametrize("kind", [exfat, ntfs])
def test_a_disk_that_was_mounted_for_root_alone_is_said_with_the_options_that_help(place, kind):
    directory, box = place
    target = directory / "stick"
    with kind(directory, target, "uid=0,gid=0,umask=022"):
        settings(box, target)
        for make in (by_hand, at_night):
            done = make(box)
            assert done.returncode == 1 and f"uid={OWNER},gid={OWNER},umask=077" in done.stderr, done
        (finding,) = findings(box, "may not write there")
        assert f"nofail,uid={OWNER},gid={OWNER},umask=077" in finding["command"]


def test_a_share_that_keeps_modes_and_refuses_to_set_them_has_private_backups(place):
    directory, box = place
    with share(directory, directory / "stick"):
        settings(box, directory / "stick")
        done = at_night(box)
        assert done.returncode == 0 and OPEN not in done.stderr, done
        (backup,) = good(directory / "stick")
        assert {path.stat().st_mode & 0o077 for path in [backup, *backup.rglob("*")]} == {0}
