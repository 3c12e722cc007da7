"""Files that settings name: gone, unreadable for the service, changed. What `config`, a restore, the nightly backup, /readyz
and the doctor say of them, and that a reload reads them again."""

import contextlib
import fcntl
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

import pytest

from support.backups import back_up, configure, good
from support.box import PATIENCE_S, Box
from support.openssl import make_pair
from support.receiver import LOOPBACK, Receiver
from support.waiting import wait_until

PASSPHRASE = "the cat sits on the till\n"
OWNER = 12345
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="files of another user are root's to make")
FILES = ["backup_passphrase_file", "webhook_ca", "cloud_ca_file"]


@pytest.fixture
def place():
    """A directory that every user may enter."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="comanda-test-", dir="/srv"))
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory)


def private(path, content=PASSPHRASE):
    path.write_text(content)
    path.chmod(0o600)
    return path


def config(box, *words, check=False):
    return box.command("config", *words, "--data", str(box.data), check=check)


def readiness(box):
    with contextlib.closing(box.client()) as client:
        return client.get("/readyz").json["checks"]


def findings(box, check):
    report = box.command("doctor", "--data", str(box.data), "--json", check=False)
    return [found for found in json.loads(report.stdout)["findings"] if found["check"] == check]


def give_to_owner(directory):
    for path in [directory, *directory.rglob("*")]:
        os.chown(path, OWNER, OWNER, follow_symlinks=False)


# Missing
@pytest.mark.parametrize("setting", FILES)
def test_a_file_that_is_missing_is_not_set(box, setting):
    done = config(box, "set", setting, "/nowhere/file")
    assert done.returncode == 1 and "/nowhere/file" in done.stderr and setting in done.stderr, done
    assert not (box.data / "comanda.conf").exists()


def test_check_names_the_file_that_backups_miss_and_hinders_no_upgrade(box):
    (box.data / "comanda.conf").write_text("backup_passphrase_file = /nowhere/file\n")
    done = config(box, "check")
    assert done.returncode == 0, "the server starts without it"
    assert "backup_passphrase_file names /nowhere/file, which is missing. No backup is made" in done.stderr
    assert "comanda config set backup_passphrase_file /etc/comanda-passphrase" in done.stderr
    assert config(box, "set", "log_level", "debug").returncode == 0, "another change is not hindered"
    (finding,) = findings(box, "settings")
    assert finding["state"] == "warning" and "which is missing" in finding["what"]
    config(box, "unset", "backup_passphrase_file", check=True)
    assert config(box, "check").stderr == ""


@pytest.mark.parametrize("content, mode, words", [("short\n", 0o600, "at least 8 characters"), (PASSPHRASE, 0o640, "chmod 600")])
def test_a_passphrase_that_no_backup_could_use_is_not_set(box, tmp_path, content, mode, words):
    file = private(tmp_path / "passphrase", content)
    file.chmod(mode)
    done = config(box, "set", "backup_passphrase_file", str(file))
    assert done.returncode == 1 and words in done.stderr, done
    file.write_text(PASSPHRASE)
    file.chmod(0o600)
    assert config(box, "set", "backup_passphrase_file", str(file)).stderr == ""


# Unreadable for the service
@needs_root
def test_a_file_that_only_root_reads_is_not_set(box, place):
    give_to_owner(box.data)
    file = private(place / "passphrase")
    done = config(box, "set", "backup_passphrase_file", str(file))
    assert done.returncode == 1 and f"{OWNER}, as whom the service runs, may not read: it belongs to root, mode 0600" in done.stderr
    subprocess.run(done.stderr.splitlines()[-1], shell=True, check=True)  # the command, as it stands
    assert config(box, "set", "backup_passphrase_file", str(file)).returncode == 0


@needs_root
@pytest.mark.parametrize("setting", ["tls_certificate", "webhook_ca"])
def test_a_file_in_a_directory_that_only_root_enters_is_not_set(box, place, setting):
    give_to_owner(box.data)
    (place / "closed").mkdir(mode=0o700)
    pair = make_pair(place / "closed", "own")
    words = ["tls_certificate", str(pair.certificate), "tls_key", str(pair.key)] if setting == "tls_certificate" else \
        [setting, str(pair.certificate)]
    done = config(box, "set", *words)
    assert done.returncode == 1, done
    assert re.search(rf"{setting} names .*, and {OWNER}, .* may not enter {place}/closed: it belongs to root, mode 0700", done.stderr)
    assert f"install -m 600 -o {OWNER} '{pair.certificate}' '/etc/comanda-own.crt'" in done.stderr
    (box.data / "comanda.conf").write_text("".join(f"{n} = {v}\n" for n, v in zip(words[::2], words[1::2])))
    assert config(box, "check").returncode == (1 if setting == "tls_certificate" else 0)
    state = "broken" if setting == "tls_certificate" else "warning"
    assert (setting, state) in {(found["what"].split()[0], found["state"]) for found in findings(box, "settings")}


# Backups that fail before a target is tried
def test_a_backup_without_its_passphrase_is_said_everywhere(box, tmp_path):
    file = private(tmp_path / "passphrase")
    targets = [tmp_path / "one", tmp_path / "two"]
    for target in targets:
        target.mkdir()
    configure(box, *targets, backup_passphrase_file=file)
    back_up(box)
    box.start()
    assert "backup" not in readiness(box)
    file.unlink()
    done = back_up(box, check=False)
    assert done.returncode == 1 and f"{file} cannot be read as the file of the passphrase" in done.stderr
    state = readiness(box)["backup"]["state"]
    assert state.count(f"no backup was made: {file} cannot be read") == 2 and state.count("the last good one there is of") == 2
    assert len([found for found in findings(box, "backups") if "failed: no backup was made" in found["what"]]) == 2
    private(file)
    back_up(box)
    assert "backup" not in readiness(box)


def test_settings_that_cannot_be_read_fail_the_backups_that_were_made_before(box, tmp_path):
    (tmp_path / "target").mkdir()
    configure(box, tmp_path / "target")
    back_up(box)
    box.start()
    (box.data / "comanda.conf").write_text("listn = 1\n")
    assert back_up(box, check=False).returncode == 1
    assert "did you mean listen" in readiness(box)["backup"]["state"]


def test_a_backup_that_another_one_keeps_from_beginning_is_noted_until_that_has_ended(box, tmp_path):
    (tmp_path / "target").mkdir()
    configure(box, tmp_path / "target")
    box.start()
    with open(box.data / "backup.lock", "w+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write("2026-11-26T05:00:00.000Z\n")
        lock.flush()
        done = back_up(box, check=False)
        assert done.returncode == 1 and "another backup is being made since 2026-11-26T05:00" in done.stderr
        assert "another backup is being made" in readiness(box)["backup"]["state"]
    back_up(box)
    assert "backup" not in readiness(box)


@needs_root
def test_a_lock_of_another_user_is_said(box, place):
    target = place / "target"
    target.mkdir()
    configure(box, target)
    give_to_owner(box.data)
    os.chown(target, OWNER, OWNER)
    (box.data / "backup.lock").write_text("")
    (box.data / "backup.lock").chmod(0o600)
    done = back_up(box, check=False)
    assert done.returncode == 70 and "backup.lock" in done.stderr and "chown" in done.stderr, done
    (finding,) = [found for found in findings(box, "backups") if "failed" in found["what"]]
    assert "backup.lock" in finding["what"]


def test_a_backup_that_was_killed_is_said_when_it_should_have_ended(box, tmp_path):
    (tmp_path / "target").mkdir()
    configure(box, tmp_path / "target")
    back_up(box)
    subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=mkdir", "-e", "inject=mkdir:signal=KILL:when=1",
                    str(box.binary), "backup", "--data", str(box.data)], capture_output=True, timeout=PATIENCE_S * 4)
    results = box.data / "backup-results"
    begun = results.read_text().split("\t")[6]
    assert begun != "0" and len(good(tmp_path / "target")) == 1
    box.start()
    assert "backup" not in readiness(box), "it may still run"
    results.write_text(results.read_text().replace(begun, str(int(begun) - 7 * 3_600_000)))
    assert "has not ended: it was killed, or hangs" in readiness(box)["backup"]["state"]
    assert any("has not ended" in found["what"] for found in findings(box, "backups"))
    back_up(box)
    assert "backup" not in readiness(box)


def test_a_restore_says_which_files_of_the_settings_are_not_on_this_machine(box, tmp_path):
    file = private(tmp_path / "passphrase")
    (tmp_path / "target").mkdir()
    configure(box, tmp_path / "target", backup_passphrase_file=file)
    box.start()
    box.stop()
    back_up(box)
    kept = file.rename(tmp_path / "kept")
    done = box.command("restore", str(good(tmp_path / "target")[0]), "--data", str(tmp_path / "data"), "--yes",
                       "--passphrase-file", str(kept))
    assert f"backup_passphrase_file names {file}, which is missing" in done.stderr
    subprocess.run(done.stderr.splitlines()[-1], shell=True, check=True)  # the command, as it stands
    assert box.command("config", "check", "--data", str(tmp_path / "data")).stderr == ""


# Changed while the server runs
def reload(box):
    count = box.log_text().count("read again")
    box.signal(signal.SIGHUP)
    wait_until(lambda: box.log_text().count("read again") > count, box.log_text)


def test_a_reload_reads_the_authorities_of_webhooks_again(tmp_path):
    first, second = make_pair(tmp_path, "first"), make_pair(tmp_path, "second")
    authorities = tmp_path / "authorities.pem"
    shutil.copy(first.certificate, authorities)
    box = Box(options=[*LOOPBACK, "--webhook-ca", str(authorities)])
    box.bring_in("demo")
    box.start()
    try:
        with Receiver(tls=second) as receiver, contextlib.closing(box.client(box.make_key()["key"])) as client:
            hook = client.post("/v1/webhooks", {"webhook_url": receiver.url}).data

            def try_out():
                return client.post(f"/v1/webhooks/{hook['id']}/test").data["attempts"][-1]["outcome"]

            assert try_out() != "acknowledged", "not trusted"
            assert "files" not in readiness(box)
            shutil.copy(second.certificate, authorities)
            assert try_out() != "acknowledged", "not read yet"
            state = readiness(box)["files"]
            assert state["ok"] and f"webhook_ca ({authorities}) is newer than what is used" in state["state"]
            (finding,) = [found for found in findings(box, "settings") if found["state"] == "warning"]
            assert "is newer than what is used" in finding["what"] and finding["command"] == "systemctl reload comanda"
            reload(box)
            assert try_out() == "acknowledged"
            assert "files" not in readiness(box)
            authorities.unlink()
            assert "is missing: its former content is used" in readiness(box)["files"]["state"]
    finally:
        box.discard()


def test_a_certificate_that_is_newer_than_the_one_served_is_said_until_a_reload(tmp_path):
    pair, newer = make_pair(tmp_path, "own"), make_pair(tmp_path, "newer")
    box = Box(options=["--tls-certificate", str(pair.certificate), "--tls-key", str(pair.key)], cafile=pair.certificate)
    box.bring_in("demo")
    box.start()
    try:
        assert "files" not in readiness(box)
        os.utime(pair.certificate)
        assert "files" not in readiness(box), "the same content"
        box.cafile = shutil.copy(pair.certificate, tmp_path / "served.crt")
        shutil.copy(newer.certificate, pair.certificate)
        shutil.copy(newer.key, pair.key)
        state = readiness(box)["files"]["state"]
        assert f"tls_certificate ({pair.certificate}) is newer" in state and f"tls_key ({pair.key}) is newer" in state
        assert any("is newer than what is used" in found["what"] for found in findings(box, "settings"))
        reload(box)
        box.cafile = newer.certificate
        assert "files" not in readiness(box)
    finally:
        box.discard()


def test_a_restore_does_not_forget_which_backups_were_made(box, tmp_path):
    target = tmp_path / "target"
    target.mkdir()
    configure(box, target)
    box.start()
    back_up(box)
    assert box.stop() == 0
    (backup,) = good(target)
    results = (box.data / "backup-results").read_bytes()
    box.command("restore", str(backup), "--data", str(box.data), "--yes")
    assert (box.data / "backup-results").read_bytes() == results
    shutil.rmtree(target)
    (finding,) = [found for found in findings(box, "backups") if str(target) in found["what"]]
    assert "The last backup there is of" in finding["what"], finding
