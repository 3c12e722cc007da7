"""`comanda doctor`: what it says of boxes that are well and of boxes that are not, that it ends, and that it changes nothing."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import stat
import subprocess
import time

import pytest

from support import documents
from support.box import BINARY, PATIENCE_S, ROOT, RUNNER, Box
from support.waiting import wait_until

WELL, WARNING, BROKEN = "well", "warning", "broken"
EXIT = {WELL: 0, WARNING: 1, BROKEN: 2}
# What a machine for tests may lack, whatever the box is like; and its source tree may be old.
OF_THE_MACHINE = {"clock", "updates", "wear", "temperature", "power", "memory", "watchdog", "addresses", "name", "firewall",
                  "log", "system", "space", "service", "backups"}
NOBODY = 65534


class Report:
    def __init__(self, result):
        assert result.stderr == "", result.stderr
        self.code, self.text = result.returncode, result.stdout
        self.json = json.loads(result.stdout)
        self.findings = self.json["findings"]
        assert self.code == EXIT[self.json["state"]], self.json["state"]

    def of(self, check, state=None):
        return [f for f in self.findings if f["check"] == check and state in (None, f["state"])]

    def assert_has(self, check, state, words):
        assert any(re.search(words, f["what"]) for f in self.of(check, state)), self.of(check)

    def troubles_of_the_box(self):
        return [f for f in self.findings if f["state"] != WELL and f["check"] not in OF_THE_MACHINE]


def run(box, *words, user=None):
    identity = {"user": user, "group": user, "extra_groups": []} if user else {}
    return subprocess.run([*RUNNER, str(box.binary), "doctor", "--data", str(box.data), *words], capture_output=True,
                          text=True, timeout=PATIENCE_S * 4, **identity)


def doctor(box, user=None):
    return Report(run(box, "--json", user=user))


def tree(directory):
    """Everything about each file that a reader must not change."""
    found = {}
    for path in [directory, *sorted(directory.rglob("*"))]:
        s = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(s.st_mode) else b""
        found[str(path)] = (s.st_mode, s.st_uid, s.st_gid, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns, content)
    return found


def wait_until_files_rest(box):
    """Until the server's own work after a start has changed no file for a while."""
    def rests():
        before = tree(box.data)
        time.sleep(1.5)
        return tree(box.data) == before

    wait_until(rests, box.log_text, 4 * PATIENCE_S)


def give_to(user, directory):
    for path in [directory, *directory.rglob("*")]:
        os.chown(path, user, user, follow_symlinks=False)


def test_a_box_that_is_well(box):
    box.start()
    report = doctor(box)
    assert set(report.json) == {"state", "version", "at", "findings"}
    for finding in report.findings:
        assert set(finding) == {"check", "state", "what", "why", "command"}
        assert finding["what"] and bool(finding["why"]) == (finding["state"] != WELL)
    # The tests' server listens on loopback, which a restaurant's must not.
    assert [(f["check"], f["state"]) for f in report.troubles_of_the_box()] == [("ports", WARNING)]
    report.assert_has("ports", WARNING, f"listens on 127.0.0.1:{box.port} alone")
    assert re.match(r"This program was built on \d{4}-\d\d-\d\d, \d+ days ago\. Newer ones come ",
                    report.of("updates")[0]["what"])
    report.assert_has("service", WELL, "runs and answers")
    report.assert_has("server", WELL, "ready for orders")
    report.assert_has("database", WELL, r"^live.db has .* in use\.$")
    report.assert_has("certificate", WELL, "renews itself; its authority until")
    report.assert_has("rows", WELL, "check")
    report.assert_has("load", WELL, "0 waiting writes")
    report.assert_has("webhooks", WELL, "No receiver")
    report.assert_has("cloud", WELL, "not linked")
    report.assert_has("apps", WELL, "No delivery app is connected")
    states = [f["state"] for f in report.findings]
    assert states == sorted(states, key=[BROKEN, WARNING, WELL].index)


def test_the_report_fits_a_terminal(box):
    box.start()
    shown = run(box)
    commands = False
    for line in shown.stdout.splitlines():
        commands = line == "         do:" or (commands and line.startswith(" " * 11))
        assert commands or len(line) <= 80, line
    assert re.search(r"^well     program      comanda \d", shown.stdout, re.M)
    assert re.search(r"^\d+ broken, \d+ warnings?, \d+ well$", shown.stdout, re.M)


def test_a_stopped_server_is_broken(box):
    box.start()
    assert box.stop() == 0
    report = doctor(box)
    assert report.code == 2
    report.assert_has("service", BROKEN, "No server runs")
    assert report.of("service")[0]["command"] == f"comanda serve --data {box.data}"
    report.assert_has("database", WELL, "its pages are sound")
    assert [f["check"] for f in report.troubles_of_the_box()] == []


def test_a_killed_server_leaves_its_log_to_the_next_start(box):
    box.start()
    with contextlib.closing(box.client(box.make_key()["key"])) as client:
        client.place()
    box.kill()
    before = tree(box.data)
    report = doctor(box)
    report.assert_has("service", BROKEN, "No server runs")
    report.assert_has("database", WELL, "the next start takes in")
    assert tree(box.data) == before


def test_a_directory_without_a_restaurant(tmp_path):
    box = Box(tmp_path / "data")
    report = doctor(box)
    report.assert_has("files", BROKEN, "There is no")
    box.data.mkdir(mode=0o700)
    report = doctor(box)
    report.assert_has("database", WARNING, "no restaurant yet")
    assert list(box.data.iterdir()) == []


def damage_head(path):
    with open(path, "r+b") as file:
        file.write(b"\xff" * 100)


def damage_page(path):
    with open(path, "r+b") as file:
        file.seek(2048 * 3)
        file.write(b"\xff" * 2048 * 4)


def cut_short(path):
    os.truncate(path, path.stat().st_size // 2)


def empty(path):
    os.truncate(path, 0)


def lose(path):
    path.unlink()


def replace_by_directory(path):
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("damage", [damage_head, damage_page, cut_short, empty, lose, replace_by_directory])
def test_a_damaged_database_is_broken(box, damage):
    box.start()
    assert box.stop() == 0
    damage(box.data / "live.db")
    before = tree(box.data)
    report = doctor(box)
    assert report.code == 2
    report.assert_has("database", BROKEN, "^live.db ")
    assert tree(box.data) == before


def test_settings_that_cannot_be_used_are_broken(box):
    (box.data / "comanda.conf").write_text("listn = 0.0.0.0:8443\n")
    doctor(box).assert_has("settings", BROKEN, "did you mean listen")


def test_a_port_that_another_program_has(box):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        (box.data / "comanda.conf").write_text(f"listen = 127.0.0.1:{port}\n")
        holder = rf"python.* \(process {os.getpid()}\)" if os.geteuid() == 0 else "another program"
        doctor(box).assert_has("ports", BROKEN, f"Port {port} is taken by {holder}")


def test_a_server_that_hangs_is_broken_and_the_report_ends(box):
    box.start()
    box.process.send_signal(19)  # SIGSTOP
    try:
        report = doctor(box)
    finally:
        box.process.send_signal(18)  # SIGCONT
    report.assert_has("service", BROKEN, "does not answer")


def test_a_replaced_program_is_named(box, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("which program a process runs is for root to see")
    box.binary = pathlib.Path(shutil.copy(BINARY, tmp_path / "comanda"))
    box.start()
    assert not doctor(box).of("program", WARNING)
    box.binary.unlink()
    box.binary = BINARY
    doctor(box).assert_has("program", WARNING, "replaced since")


@pytest.mark.parametrize("runs", [True, False], ids=["with the server", "without the server"])
@pytest.mark.parametrize("reader", ["root", "the owner", "another user"])
def test_nothing_is_changed(box, runs, reader):
    if os.geteuid() != 0:
        pytest.skip("needs several users")
    box.start()
    assert box.stop() == 0
    owner = 12345
    give_to(owner, box.data)
    if runs:
        box.preexec = lambda: (os.setgroups([]), os.setgid(owner), os.setuid(owner))
        box.log_path = box.data.parent / (box.data.name + ".log")
        box.start()
        box.wait_for_log("the database was checked")
        wait_until_files_rest(box)
    before = tree(box.data)
    report = doctor(box, user={"root": None, "the owner": owner, "another user": NOBODY}[reader])
    after = tree(box.data)
    if runs:  # what the server itself writes meanwhile
        for name in ("", "/live.db-wal", "/test.db-wal", "/live.db-shm", "/test.db-shm", "/live.db", "/test.db"):
            path = str(box.data) + name
            assert after.get(path, [])[:4] == before.get(path, [])[:4], path
            before.pop(path, None), after.pop(path, None)
    assert after == before
    if reader == "another user":
        report.assert_has("files", WARNING, "This user may not")
        assert not report.of("settings", BROKEN) and not report.of("database", BROKEN)
    else:
        assert not report.of("files", BROKEN)
        if runs:
            report.assert_has("service", WELL, "runs and answers")
    if runs:
        box.log_path.unlink()


def test_backups_that_are_made_are_seen(box, tmp_path):
    target = tmp_path / "backups"
    target.mkdir(mode=0o700)
    (box.data / "comanda.conf").write_text(f"backup_to = {target}\n")
    box.start()
    doctor(box).assert_has("backups", WARNING, "no backup in")
    box.command("backup", "--data", str(box.data))
    doctor(box).assert_has("backups", WELL, r"^1 backups in .* the newest is of \d{4}")
    target.rename(tmp_path / "away")
    doctor(box).assert_has("backups", WARNING, r"does not exist\. The last backup there is of \d{4}")


def test_files_of_root_among_those_of_the_service(box):
    if os.geteuid() != 0:
        pytest.skip("files of another user are root's to make")
    give_to(12345, box.data)
    os.chown(box.data / "live.db", 0, 0)
    report = doctor(box)
    report.assert_has("files", BROKEN, rf"1 file does not belong .* {re.escape(str(box.data))}/live\.db")
    command = report.of("files", BROKEN)[0]["command"]
    subprocess.run(command, shell=True, check=True)  # as it stands
    assert not doctor(box).of("files", BROKEN)
    assert (box.data / "live.db").stat().st_uid == 12345


def test_a_full_disk_is_broken(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("a file system of its own needs root")
    image, root = tmp_path / "image", tmp_path / "disk"
    root.mkdir()
    with open(image, "wb") as file:
        file.truncate(64 << 20)
    subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True)
    subprocess.run(["mount", "-o", "loop", image, root], check=True)
    try:
        box = Box(root / "data")
        box.bring_in()
        assert not doctor(box).of("space", BROKEN)
        free = os.statvfs(root)
        (root / "filler").write_bytes(b"x" * (free.f_bavail * free.f_frsize - (1 << 20)))
        doctor(box).assert_has("space", BROKEN, "orders and payments alone")
        subprocess.run(["mount", "-o", "remount,ro", root], check=True)
        doctor(box).assert_has("disk", BROKEN, "is read-only: the card or disk is worn")
    finally:
        subprocess.run(["umount", root], check=True)


def test_nothing_secret_and_nothing_of_the_business(box):
    made = box.make_key(name="till of Rosa")
    box.start()
    with contextlib.closing(box.client(made["key"])) as client:
        order = client.place(order_title="Señora Quispe")
    shown = run(box).stdout + run(box, "--json").stdout
    company = json.loads((ROOT / "src/app/demo.json").read_text())
    for word in [made["key"], "Rosa", "Quispe", order["id"], company["companies"][0]["name"], "BEGIN "]:
        assert word not in shown, word


def test_the_command_line_is_checked(box):
    result = run(box, "--jsn")
    assert result.returncode == 2 and "json" in result.stderr and result.stdout == ""
    assert "Exit codes: 0 all is well" in run(box, "--help").stdout


def test_a_new_address_is_in_the_log_and_in_the_report(box):
    record = box.data / "addresses"
    box.start()
    assert box.stop() == 0
    own = record.read_text().splitlines()[0]
    record.write_text("192.0.2.7\n\n")
    box.start()
    line = re.search(r".*the machine has another address.*", box.log_text()).group(0)
    assert "192.0.2.7" in line and own.split()[0] in line and "fixed lease" in line
    doctor(box).assert_has("addresses", WARNING, "from 192.0.2.7 to ")
    assert box.stop() == 0
    box.start()
    assert box.log_text().count("the machine has another address") == 1, "once"


def test_the_readme_shows_commands_that_work(box):
    """Each command of the section on the doctor, as it stands, with the data directory of this test."""
    commands = documents.commands(documents.section(documents.TECHNICIAN, "Ask the doctor"), "comanda ")
    assert len(commands) >= 2
    box.start()
    for command in commands:
        words = command.replace("comanda", f"{BINARY}", 1).split("   #")[0]
        words = words.replace(" >", f" --data {box.data} >", 1) if " >" in words else f"{words} --data {box.data}"
        done = subprocess.run(words, shell=True, capture_output=True, text=True, cwd=box.data.parent, timeout=PATIENCE_S * 4)
        assert done.returncode in (0, 1), (command, done.stdout, done.stderr)
