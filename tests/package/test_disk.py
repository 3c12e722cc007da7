"""`comanda disk`: a disk for the backups, in a bare Debian with a file system in a file as the disk."""

import contextlib
import json
import subprocess

import pytest

from support.disk import LoopDisk

LINE = "x-comanda.backup"


@pytest.fixture
def other(tmp_path):
    with contextlib.closing(LoopDisk(tmp_path / "other", "ext4")) as made:
        yield made


@pytest.fixture
def table(box):
    """/etc/fstab as an installer leaves it, with a last line that somebody has added."""
    box.run("mount -t sysfs sysfs /sys")
    file = box.path("/etc/fstab")
    file.write_bytes(b"# /etc/fstab: static file system information.\n\nproc  /proc\tproc defaults 0 0\n"
                     b"//nas/share /mnt/nas cifs noauto,credentials=/root/secret 0 0")
    file.chmod(0o640)
    return file


def setting(box):
    return box.run("comanda config | sed -n 's/^#* *backup_to = *//p'").split("#")[0].strip()


def state(box, table):
    """All that the command may change."""
    return (table.read_bytes(), setting(box), box.run("findmnt -rno TARGET,SOURCE"),
            box.run("find /media -mindepth 2 -printf '%p %u %m %s %i\\n' | sort"))


def refused(box, table, command, *words):
    before = state(box, table)
    status, said = box.try_run(command)
    assert status in (1, 2) and said.startswith("comanda: "), said
    for word in words:
        assert word in said, said
    assert state(box, table) == before, said
    return said


def test_a_disk_is_used_and_forgotten(box, table, disk):
    before = table.read_bytes()
    said = box.run(f"comanda disk use {disk.device}")
    line = f"UUID={disk.uuid} /media/usb ext4 nofail,noatime,nodev,nosuid,{LINE} 0 2\n"
    assert f"has ext4, UUID {disk.uuid}" in said and line in said and "mounted it on /media/usb" in said, said
    assert table.read_bytes() == before + b"\n" + line.encode()
    assert table.stat().st_mode & 0o777 == 0o640
    assert box.run("findmnt -no SOURCE,OPTIONS /media/usb").split()[0] == disk.device
    assert "nodev" in box.run("findmnt -no OPTIONS /media/usb")
    assert box.run("stat -c '%U %a' /media/usb/comanda").strip() == "comanda 700"
    assert setting(box) == "/media/usb/comanda"
    assert box.run("comanda config check")

    box.run("comanda import demo; runuser -u comanda -- comanda backup")
    assert "comanda-000001-" in box.run("ls /media/usb/comanda")
    # Twice is as once.
    now, file = state(box, table), table.stat()
    assert "already" in box.run(f"comanda disk use {disk.device}")
    assert state(box, table) == now and table.stat().st_ino == file.st_ino

    said = box.run("comanda disk forget")
    assert "unmounted /media/usb" in said and "the backups stay" in said, said
    assert table.read_bytes() == before + b"\n"
    assert setting(box) == "/var/backups/comanda"
    assert box.try_run("findmnt /media/usb")[0] == 1
    now = state(box, table)
    assert "no disk is in use" in box.run("comanda disk forget")
    assert state(box, table) == now
    # The next use finds what it had.
    box.run(f"comanda disk use {disk.device}")
    assert "comanda-000001-" in box.run("ls /media/usb/comanda")


def test_the_disk_is_there_again_after_a_start(box, table, disk):
    box.run(f"comanda disk use {disk.device}")
    box.run("umount /media/usb && mount -a -t ext4")
    box.run("comanda import demo; runuser -u comanda -- comanda backup")
    # Without the disk, too.
    box.run("umount /media/usb")
    disk.unplug()
    box.run("rm -rf /run/blkid && mount -a -t ext4")
    status, said = box.try_run("runuser -u comanda -- comanda backup")
    assert status == 1 and "not mounted on /media/usb any more" in said, said
    assert box.run("ls -A /media/usb") == ""


def test_a_disk_that_is_unplugged_gets_no_backup_on_the_disk_of_the_system(box, disk):
    """A mount point that no table and no custom names."""
    box.run(f"mkdir /srv/usb && mount {disk.device} /srv/usb && install -d -m 700 -o comanda /srv/usb/comanda && "
            "comanda import demo && comanda config set backup_to /srv/usb/comanda && comanda backup")
    assert "WARNING  backups" not in box.try_run("comanda doctor")[1]
    box.run("umount /srv/usb")
    for directory in ("", "/srv/usb/comanda"):  # the second time somebody has made it there
        if directory:
            box.run(f"install -d -m 700 -o comanda {directory}")
        report = json.loads(box.try_run("comanda doctor --json")[1])["findings"]
        (found,) = [f for f in report if f["check"] == "backups" and f["state"] != "well"]
        assert "the disk with them is not mounted on /srv/usb any more" in found["what"] and "install" not in found["command"], found
        status, said = box.try_run("runuser -u comanda -- comanda backup")
        assert status == 1 and "the disk with the backups is not mounted on /srv/usb any more" in said, said
        ready = json.loads(box.run("curl -sk https://localhost:8443/readyz"))
        assert "not mounted on /srv/usb any more" in ready["checks"]["backup"]["state"]
    assert box.run("find /srv/usb").split() == ["/srv/usb", "/srv/usb/comanda"]
    box.run(f"mount {disk.device} /srv/usb && runuser -u comanda -- comanda backup")
    assert "WARNING  backups" not in box.try_run("comanda doctor")[1]
    # A disk is mounted, and lacks the directory: that is what is said.
    box.run("rm -rf /srv/usb/comanda")
    report = json.loads(box.try_run("comanda doctor --json")[1])["findings"]
    (found,) = [f for f in report if f["check"] == "backups" and f["state"] != "well"]
    assert "does not exist on the disk that is mounted on /srv/usb" in found["what"], found
    box.run(found["command"])
    assert "WARNING  backups" not in box.try_run("comanda doctor")[1]


def test_another_mount_point_and_other_backups_stay(box, table, disk):
    box.run("comanda config set backup_to /srv/first")
    box.run(f"comanda disk use {disk.device} /srv/second/")
    assert setting(box) == "/srv/first,/srv/second/comanda"
    # Known by its line.
    assert "already" in box.run(f"comanda disk use {disk.device}")
    refused(box, table, f"comanda disk use {disk.device} /media/usb", "is mounted on /srv/second", f"comanda disk use {disk.device} /srv/second")
    box.run("umount /srv/second")
    refused(box, table, f"comanda disk use {disk.device} /media/usb", "/etc/fstab mounts", "on /srv/second")
    box.run("comanda disk forget /srv/second")
    assert setting(box) == "/srv/first"


@pytest.mark.parametrize("kind", ["xfs"])
def test_other_file_systems(box, table, tmp_path, kind):
    with contextlib.closing(LoopDisk(tmp_path / "image", kind)) as disk:
        box.run(f"comanda disk use {disk.device}")
        assert f"UUID={disk.uuid} /media/usb {kind} nofail" in table.read_text()
        box.run("comanda import demo; runuser -u comanda -- comanda backup")
        box.run("comanda disk forget")


def test_a_disk_of_another_box_has_its_backups_for_this_one(box, table, disk):
    box.run(f"mount {disk.device} /mnt && mkdir -p /mnt/comanda/comanda-000001-20260101T000000Z && "
            "touch /mnt/comanda/comanda-000001-20260101T000000Z/live.db && ln -s /etc /mnt/comanda/link && "
            "chown -R -h 4711:4711 /mnt/comanda && chmod 700 /mnt && umount /mnt")
    box.run(f"comanda disk use {disk.device}")
    assert set(box.run("find /media/usb/comanda -printf '%u\\n'").split()) == {"comanda"}
    assert box.run("stat -c %U /etc").strip() == "root"
    box.run("runuser -u comanda -- ls /media/usb/comanda")


def test_what_cannot_be_used_is_refused_and_nothing_is_changed(box, table, disk, other, tmp_path):
    use = f"comanda disk use {disk.device}"
    refused(box, table, "runuser -u comanda -- " + use, "as root")
    refused(box, table, "comanda disk use /dev/none", "/dev/none is not there", "lsblk -f")
    refused(box, table, "comanda disk use /etc/fstab", "/etc/fstab is no disk")
    for point in ("usb", "/media", "/home/usb", "/mnt/../etc", "'/mnt/a b'", "/mnt/a,b"):
        refused(box, table, f"{use} {point}", "MOUNTPOINT must be a directory below /media, /mnt or /srv")
    with contextlib.closing(LoopDisk(tmp_path / "none", None)) as blank:
        refused(box, table, f"comanda disk use {blank.device}", "has no file system", f"`mkfs.ext4 {blank.device}` makes one",
                "DELETES ALL")
        subprocess.run(["mkswap", "-q", blank.device], check=True)
        refused(box, table, f"comanda disk use {blank.device}", "has swap, which is no file system for backups")
    box.run(f"mkdir -p /boot && mount {disk.device} /boot")
    refused(box, table, use, f"is on {disk.name}, the disk of /boot")
    box.run(f"umount /boot && mkdir /opt/here && mount {disk.device} /opt/here")
    refused(box, table, use, "is mounted on /opt/here", "`umount /opt/here`")
    box.run(f"umount /opt/here && mkdir -p /media/usb && mount {other.device} /media/usb")
    refused(box, table, use, "something else is mounted on /media/usb", other.device)
    box.run("umount /media/usb && mkdir /media/usb/comanda")
    refused(box, table, use, "/media/usb has files on the disk of the system, such as comanda", "mv /media/usb /media/usb.before")
    box.run("mv /media/usb /media/usb.before && ln -s /srv /media/usb")
    refused(box, table, use, "/media/usb is no directory")
    box.run("rm /media/usb")
    former = table.read_text()
    table.write_text(f"{former}\nUUID={other.uuid} /media/usb ext4 defaults 0 2\n")
    refused(box, table, use, "/etc/fstab mounts another disk on /media/usb")
    table.write_text(f"{former}\nUUID=\"{disk.uuid}\" /mnt/elsewhere ext4 defaults 0 2\n")
    refused(box, table, use, "/etc/fstab mounts", "on /mnt/elsewhere")
    table.write_text(former)
    box.path("/var/lib/comanda/comanda.conf").write_text("listn = x\n")
    refused(box, table, use, "did you mean listen")


def test_a_disk_that_cannot_be_written_leaves_no_line(box, table, disk):
    subprocess.run(["blockdev", "--setro", disk.device], check=True)
    try:
        refused(box, table, f"comanda disk use {disk.device}", "/media/usb is read-only")
    finally:
        subprocess.run(["blockdev", "--setrw", disk.device], check=True)


def test_a_line_of_somebody_else_is_used_as_it_is(box, table, disk):
    line = f"\n{disk.device} /media/usb ext4 defaults 0 2\n"
    table.write_text(table.read_text() + line)
    before = table.read_bytes()
    said = box.run(f"comanda disk use {disk.device}")
    assert "already" in said and "lacks `nofail`" in said and table.read_bytes() == before
    box.run("comanda disk forget /media/usb")
    assert table.read_bytes() == before and setting(box) == "/var/backups/comanda"
    assert box.run("findmnt -no SOURCE /media/usb").strip() == disk.device


def test_a_disk_in_use_is_not_forgotten(box, table, disk):
    box.run(f"comanda disk use {disk.device}")
    holder = box.run("sh -c 'exec 9>/media/usb/comanda/open; exec sleep 1000 </dev/null >/dev/null 2>&1 & echo $!'").strip()
    before = state(box, table)
    status, said = box.try_run("comanda disk forget")
    assert status == 70 and "umount /media/usb failed" in said and "busy" in said, said
    assert state(box, table) == before
    box.run(f"kill {holder}; while kill -0 {holder} 2>/dev/null; do sleep 0.05; done; comanda disk forget")
    assert LINE not in table.read_text()
