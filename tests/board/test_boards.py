"""The setups of board/, each run twice and undone on a copy of a system's files. What a real board does with them is not
tested here; its README says so."""

import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BOARDS = sorted(path.parent.name for path in ROOT.glob("board/*/setup"))

FSTAB = """\
# <file system> <mount point> <type> <options> <dump> <pass>
PARTUUID=1234-02  /               ext4    defaults,commit=30  0       1
PARTUUID=1234-01\t/boot/firmware\tvfat\tdefaults\t0\t2
UUID=5678 /srv ext4 rw,noatime 0 2
UUID=6789 /srv/my\\040disk ext4 defaults 0 2
/var/swap none swap sw 0 0
/dev/zram0 none swap defaults 0 0
proc            /proc           proc    defaults          0       0
"""
assert "\\040" in FSTAB  # a blank in a mount point
CONFIG = "# firmware\ndtparam=audio=on\n[cm4]\notg_mode=1\n"


@pytest.fixture(params=["", "fstab", "config.txt"], ids=lambda file: file and f"{file} without a last newline")
def system(tmp_path, request):
    for file, text in {"etc/fstab": FSTAB, "boot/firmware/config.txt": CONFIG, "etc/rpi/swap.conf": "[Main]\n",
                       "usr/lib/systemd/system/dphys-swapfile.service": "[Unit]\n",
                       "etc/systemd/journald.conf.d/10-owner.conf": "[Journal]\nCompress=yes\n"}.items():
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text[:-1] if path.name == request.param else text)
    (tmp_path / "var/lib").mkdir(parents=True)
    return tmp_path


def files(system):
    return {str(path.relative_to(system)): "-> " + str(path.readlink()) if path.is_symlink() else path.read_text()
            for path in system.rglob("*") if path.is_symlink() or path.is_file()}


def run(board, system, *words):
    done = subprocess.run([ROOT / "board" / board / "setup", "--root", system, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("board", BOARDS)
def test_a_setup_says_what_it_changes_and_changes_nothing_twice(system, board):
    first = run(board, system, "--ntp", "192.168.1.1")
    after = files(system)
    for said in ("watchdog", "64 MiB", "noatime", "192.168.1.1"):
        assert said in first, first
    assert run(board, system, "--ntp", "192.168.1.1") == "nothing to change\n"
    assert files(system) == after
    assert "SystemMaxUse=64M" in after["etc/systemd/journald.conf.d/50-comanda.conf"]
    assert "RuntimeWatchdogSec=" in after["etc/systemd/system.conf.d/50-comanda.conf"]
    assert "NTP=192.168.1.1" in after["etc/systemd/timesyncd.conf.d/50-comanda.conf"]
    lines = after["etc/fstab"].splitlines()
    assert "PARTUUID=1234-02  /               ext4    defaults,commit=30,noatime  0       1" in lines
    assert "UUID=6789 /srv/my\\040disk ext4 defaults,noatime 0 2" in lines and "/srv/my\\040disk" in first
    assert "UUID=5678 /srv ext4 rw,noatime 0 2" in lines and "PARTUUID=1234-01\t/boot/firmware\tvfat\tdefaults\t0\t2" in lines
    has_flash = board != "n100"
    assert ("#comanda# /var/swap none swap sw 0 0" in lines) == has_flash and "/dev/zram0 none swap defaults 0 0" in lines
    assert ("etc/systemd/system/dphys-swapfile.service" in after) == has_flash


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("words", [[], ["--ntp", "ntp.example"], ["--rechargeable-battery"]], ids=str)
def test_undo_leaves_the_system_as_it_was(system, board, words):
    before = files(system)
    run(board, system, *words)
    assert files(system) != before
    run(board, system, "--undo")
    assert files(system) == before
    assert run(board, system, "--undo") == "nothing to change\n"


@pytest.mark.parametrize("board", BOARDS)
def test_undo_keeps_what_the_owner_changed_meanwhile(system, board):
    fstab = system / "etc/fstab"
    before = fstab.read_text().removesuffix("\n")
    run(board, system)
    fstab.write_text(fstab.read_text().removesuffix("\n") + "\nUUID=9 /backup ext4 defaults,noatime 0 2\n")
    run(board, system, "--undo")
    assert fstab.read_text() == before + "\nUUID=9 /backup ext4 defaults,noatime 0 2\n"
    assert (system / "etc/systemd/journald.conf.d/10-owner.conf").exists()


def test_a_battery_is_charged_where_the_owner_says_so_alone(system):
    config = system / "boot/firmware/config.txt"
    before = config.read_text()
    run("raspberry-pi-5", system)
    assert config.read_text() == before
    run("raspberry-pi-5", system, "--rechargeable-battery")
    assert config.read_text().startswith(CONFIG + "# comanda:"), "each line stays a line"
    assert config.read_text().endswith("[all]\ndtparam=rtc_bbat_vchg=3000000\n")
    config.write_text(config.read_text() + "dtoverlay=vc4\n")
    run("raspberry-pi-5", system, "--undo")
    assert config.read_text() == CONFIG + "dtoverlay=vc4\n"


def test_every_board_has_notes_that_say_what_was_not_tried():
    assert len(BOARDS) == 5
    for board in BOARDS:
        notes = (ROOT / "board" / board / "README.md").read_text()
        for part in ("**Tried:**", "**Not tried here:**", "Medium:", "Clock:"):
            assert part in notes, (board, part)
