"""Rotating backups of a box, as its timer makes them."""

import re
import shutil

NAME = re.compile(r"comanda-(\d{6,})-(\d{8}T\d{6}Z)(\.sealed)?")
UNFINISHED = re.compile(r"comanda-backup-unfinished\.\d{6}")


def configure(box, *targets, **settings):
    """Writes comanda.conf with backup_to and other settings."""
    lines = {"backup_to": ",".join(map(str, targets)), **settings}
    (box.data / "comanda.conf").write_text("".join(f"{name} = {value}\n" for name, value in lines.items()))


def back_up(box, check=True, **more):
    """What comanda-backup.service runs."""
    return box.command("backup", "--data", str(box.data), check=check, **more)


def good(target):
    """The good backups in a directory, oldest first."""
    found = [path for path in target.iterdir() if NAME.fullmatch(path.name)]
    return sorted(found, key=lambda path: int(NAME.fullmatch(path.name)[1]))


def verify(box, backup, *words, check=False):
    return box.command("verify", str(backup), "--data", str(box.data), *words, check=check)


def copy_as(backup, *names):
    """The same backup under other names beside it."""
    for name in names:
        if backup.is_dir():
            shutil.copytree(backup, backup.parent / name)
        else:
            shutil.copy(backup, backup.parent / name)
