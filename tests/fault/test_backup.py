"""`comanda backup` beside a busy server, and what a restored backup must not take for current."""

import contextlib
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import time

import pytest

from support.box import Box, PATIENCE_S
from support.tills import Restaurant
from support.waiting import wait_until


@pytest.fixture
def house():
    house = Restaurant("backup", tills=3)
    yield house
    house.box.discard()


@pytest.fixture
def boxes(tmp_path):
    """Makes a box of a copy of the backup, as a technician restores it."""
    made = []

    def restore(backup, port=None):
        data = tmp_path / f"restored-{len(made)}"
        shutil.copytree(backup, data)
        made.append(Box(data, ["--sandbox-listen", ""]))
        made[-1].port = port or made[-1].port
        return made[-1].start()

    yield restore
    for box in made:
        box.discard()


def back_up(box, target, **more):
    return box.command("backup", str(target), "--data", str(box.data), **more)


def told_by(client):
    """What a display and an integrator remember: the list's tag and the feed's cursor."""
    answer = client.get("/v1/orders")
    return answer.etag, answer.headers["x-event-cursor"]


def events_after(client, cursor):
    return client.get(f"/v1/events?after={cursor}")


def test_a_backup_beside_a_busy_server_holds_all_that_was_acknowledged(house, boxes, tmp_path):
    house.open()
    for _ in range(50):
        house.wait_for_an_answer()
    before = {order: json.loads(answer)["data"]["version"] for till in house.tills
              for order, answer in dict(till.orders).items()}
    done = back_up(house.box, tmp_path / "backup")
    assert "live.db" in done.stdout and "checked" in done.stdout, done.stdout
    house.wait_for_an_answer()
    house.close()

    restored = boxes(tmp_path / "backup")
    with contextlib.closing(restored.client(house.key)) as client:
        found = {order: client.get("/v1/orders/" + order) for order in before}
        assert all(answer.status == 200 for answer in found.values())
        behind = {order: answer.data["version"] for order, answer in found.items()
                  if answer.data["version"] < before[order]}
        assert not behind, "acknowledged before the backup began, and not in it"
    assert restored.stop() == 0
    house.check_everything()  # and the restaurant noticed nothing


def test_a_backup_is_for_its_owner_alone_and_whole(house, tmp_path):
    house.box.bring_in("demo", env="test")
    house.box.start()
    target = tmp_path / "far" / "backup"
    (house.box.data / "comanda.conf").write_text("log_level = debug\n")
    back_up(house.box, target)
    files = {str(path.relative_to(target)): path.stat().st_mode & 0o777 for path in target.rglob("*")}
    assert files == {"live.db": 0o600, "test.db": 0o600, "comanda.conf": 0o600, "tls": 0o700, "tls/ca.crt": 0o600,
                     "tls/ca.key": 0o600, "tls/issuing.crt": 0o600, "tls/server.crt": 0o600, "tls/server.key": 0o600,
                     "B2SUMS": 0o600}
    assert target.stat().st_mode & 0o777 == 0o700
    with contextlib.closing(sqlite3.connect(target / "live.db")) as db:
        assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


def test_a_restored_box_takes_nothing_of_its_former_life_for_current(house, boxes, tmp_path):
    box = house.box.start()
    with contextlib.closing(box.client(house.key)) as client:
        order = client.place()
        back_up(box, tmp_path / "backup")
        before = told_by(client)
        tag = client.patch(f"/v1/orders/{order['id']}", {"order_title": "Rosa"}).etag
        client.place()
        after = told_by(client)
        lost = events_after(client, before[1]).data
        assert client.get("/v1/orders", **{"If-None-Match": after[0]}).status == 304
    assert box.stop() == 0

    restored = boxes(tmp_path / "backup", box.port)
    restored.wait_for_log("a backup was restored")
    assert (restored.data / "tls/ca.crt").read_bytes() == (box.data / "tls/ca.crt").read_bytes()
    with contextlib.closing(restored.client(house.key)) as client:
        first = told_by(client)
        # As many changes as there were in the former life.
        changed = client.patch(f"/v1/orders/{order['id']}", {"order_title": "Inés"})
        assert changed.data["version"] == 2
        path = f"/v1/orders/{order['id']}"
        assert client.get(path, **{"If-None-Match": tag}).status == 200
        refused = client.patch(path, {"order_title": "Rosa"}, {"If-Match": tag})
        assert (refused.status, refused.code) == (412, "precondition_failed")
        for title, tag in ("Eva", changed.etag), ("Lima", '"3"'):
            assert client.patch(path, {"order_title": title}, {"If-Match": tag}).status == 200
        for tag, cursor in (before, after):
            assert client.get("/v1/orders", **{"If-None-Match": tag}).status == 200
            refused = events_after(client, cursor)
            assert (refused.status, refused.code) == (410, "cursor_expired")
        new = events_after(client, first[1]).data
        assert len(new) == len(lost) + 1
        assert {event["event_id"] for event in new}.isdisjoint(event["event_id"] for event in lost)
        # The events of the former life go on, and each item's cursor is one of this life.
        whole = client.get("/v1/events").data
        assert len(whole) > len(new) and events_after(client, whole[0]["cursor"]).data == whole[1:]
    assert restored.rows("SELECT action FROM audit WHERE action LIKE 'backup%'") == [("backup.restored",)]
    # A restart is no restore.
    assert restored.stop() == 0
    restored.start()
    with contextlib.closing(restored.client(house.key)) as client:
        assert events_after(client, first[1]).data == new
    assert restored.stop() == 0

    again = boxes(tmp_path / "backup", box.port)
    with contextlib.closing(again.client(house.key)) as client:
        assert events_after(client, first[1]).status == 410, "of the life after the first restore"
        assert events_after(client, told_by(client)[1]).data == []


def test_a_command_takes_a_restored_backup_up_too(house, tmp_path):
    box = house.box.start()
    back_up(box, tmp_path / "backup")
    assert box.stop() == 0
    other = Box(tmp_path / "backup")
    other.make_key()
    assert "backup.restored" in other.command("audit", "--data", str(other.data)).stdout


def link(directory):
    (directory / "link").symlink_to("nowhere")
    return directory / "link"


REFUSED = {
    "a target that is there": (lambda house, tmp: tmp, "is there already"),
    "a target below a file": (lambda house, tmp: house.box.data / "test.key" / "backup", "below a file"),
    "a link to nothing": (lambda house, tmp: link(tmp), "is there already"),
    "no target": (lambda house, tmp: "", "name the directory"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_backup_says_why_it_is_not_made(house, tmp_path, case):
    target, words = REFUSED[case]
    done = back_up(house.box, target(house, tmp_path), check=False)
    assert done.returncode in (1, 2) and words in done.stderr, done


def overwrite(path, content):
    with open(path, "r+b") as file:
        file.seek(-3 * 4096, 2)
        file.write(content)


NO_SOURCE = {
    "nothing": (lambda path: path.unlink(), 1, "there is no"),
    "damaged": (lambda path: overwrite(path, b"\x7f" * 4096), 70, "damaged"),
    "emptied": (lambda path: path.write_bytes(b""), 70, "is empty"),
    "of another program": (lambda path: mark(path, 77), 70, "another program"),
    "no database": (lambda path: path.write_bytes(b"?" * 8192), 70, "not a database"),
}


def mark(path, owner):
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA application_id = {owner}")


@pytest.mark.parametrize("case", NO_SOURCE)
def test_no_backup_is_made_of_what_is_no_restaurant(house, tmp_path, case):
    spoil, code, words = NO_SOURCE[case]
    spoil(house.box.data / "live.db")
    (tmp_path / "disk").mkdir()
    done = back_up(house.box, tmp_path / "disk" / "backup", check=False)
    assert done.returncode == code and words in done.stderr, done
    assert list((tmp_path / "disk").iterdir()) == [], "nothing is left of it"


def test_a_damaged_sandbox_does_not_keep_the_restaurant_from_its_backup(house, tmp_path):
    house.box.bring_in("demo", env="test")
    house.box.start()
    house.box.stop()
    overwrite(house.box.data / "test.db", b"\x7f" * 4096)
    done = back_up(house.box, tmp_path / "backup")
    assert "the sandbox is not in the backup" in done.stderr
    assert {path.name for path in (tmp_path / "backup").iterdir()} == {"live.db", "tls", "B2SUMS"}


def test_the_owners_certificate_is_in_the_backup_or_named(house, tmp_path):
    house.box.start()
    house.box.stop()
    own = house.box.data / "own"
    own.mkdir()
    shutil.copy(house.box.data / "tls/server.crt", own)
    shutil.copy(house.box.data / "tls/server.key", tmp_path)
    (house.box.data / "comanda.conf").write_text(
        f"tls_certificate = {own}/server.crt\ntls_key = {tmp_path}/server.key\n")
    done = back_up(house.box, tmp_path / "backup")
    assert (tmp_path / "backup/own/server.crt").read_bytes() == (own / "server.crt").read_bytes()
    assert f"{tmp_path}/server.key is not in the backup" in done.stderr


LOST = {"emptied": (lambda path: path.write_bytes(b""), "is empty, though this box has served"),
        "missing": (lambda path: path.unlink(), "is missing, though this box has served")}


@pytest.mark.parametrize("case", LOST)
def test_a_database_that_was_lost_is_no_new_restaurant(house, case):
    lose, words = LOST[case]
    box = house.box.start()
    box.stop()
    lose(box.data / "live.db")
    box.launch()
    assert box.process.wait(PATIENCE_S) == 70
    assert words in box.log_text()
    for command in (["keys", "list"], ["import", "demo"]):
        done = box.command(*command, "--data", str(box.data), check=False)
        assert done.returncode in (1, 70) and ("restore a backup" in done.stderr or "there is no" in done.stderr), done
    assert (box.data / "live.db").exists() == (case == "emptied")
    # The message says how to start with an empty database and keep the authority that devices trust.
    authority = box.cafile.read_bytes()
    for file in [*box.data.glob("live.db*"), box.data / "served", box.data / "tls/server.crt"]:
        file.unlink()
    box.start()
    assert box.cafile.read_bytes() == authority
    assert box.stop() == 0


def restore_directory(box, copy):
    """The whole directory, copied by hand, in the place of the data directory."""
    shutil.rmtree(box.data)
    shutil.copytree(copy, box.data)


def restore_over(box, copy):
    """The database alone, written over the one in use: the file stays the same one."""
    (box.data / "live.db").write_bytes((copy / "live.db").read_bytes())


def restore_beside(box, copy):
    """The database alone, in the place of the one in use."""
    (box.data / "live.db").unlink()
    shutil.copy2(copy / "live.db", box.data / "live.db")


@pytest.mark.parametrize("restore", [restore_directory, restore_over, restore_beside])
def test_a_copy_made_by_hand_knows_that_it_was_restored(house, tmp_path, restore):
    box = house.box.start()
    with contextlib.closing(box.client(house.key)) as client:
        order = client.place()
    assert box.stop() == 0
    shutil.copytree(box.data, tmp_path / "copy")
    box.start()
    with contextlib.closing(box.client(house.key)) as client:
        tag = client.patch(f"/v1/orders/{order['id']}", {"order_title": "Rosa"}).etag
        client.place()
        after = told_by(client)
    assert box.stop() == 0
    restore(box, tmp_path / "copy")
    box.start()
    box.wait_for_log("a backup was restored")
    with contextlib.closing(box.client(house.key)) as client:
        client.patch(f"/v1/orders/{order['id']}", {"order_title": "Eva"})
        client.place()
        assert client.get("/v1/orders", **{"If-None-Match": after[0]}).status == 200
        assert client.get(f"/v1/orders/{order['id']}", **{"If-None-Match": tag}).status == 200
        assert events_after(client, after[1]).code == "cursor_expired"
        first = told_by(client)
    # A restart is none, also after a kill.
    for end in (box.stop, box.kill):
        end()
        box.start()
        with contextlib.closing(box.client(house.key)) as client:
            assert client.get("/v1/orders", **{"If-None-Match": first[0]}).status == 304
            assert events_after(client, first[1]).data == []
    assert box.stop() == 0


def test_what_a_lost_database_told_is_nothing_to_the_one_in_its_place():
    told = []
    for _ in range(2):
        box = Box()
        box.bring_in("demo")
        key = box.make_key()["key"]
        box.start()
        try:
            with contextlib.closing(box.client(key)) as client:
                client.place()
                for tag, cursor in told:
                    assert client.get("/v1/orders", **{"If-None-Match": tag}).status == 200
                    assert events_after(client, cursor).code == "cursor_expired"
                told.append(told_by(client))
        finally:
            assert box.discard() == 0
    assert told[0] != told[1]


def test_a_backup_inside_the_data_directory_is_refused(house, tmp_path):
    (tmp_path / "link").symlink_to(house.box.data)
    for target in (house.box.data / "backup", house.box.data / "far/away", tmp_path / "link/backup",
                   tmp_path / ".." / tmp_path.name / "link" / "backup"):
        before = sorted(house.box.data.iterdir())
        done = back_up(house.box, target, check=False)
        assert done.returncode == 1 and "lies inside the data directory" in done.stderr, done
        assert sorted(house.box.data.iterdir()) == before


def test_a_backup_on_the_disk_of_the_data_says_so(house):
    target = house.box.data.parent / f"comanda-test-{random.getrandbits(40):x}"
    done = back_up(house.box, target)
    shutil.rmtree(target)
    assert "is on the same disk as the data" in done.stderr


def unfinished(parent):
    return [path for path in parent.iterdir() if re.search(r"unfinished\.\d{6}$", path.name)]


def interrupted(box, parent, how, seed):
    """Interrupts backups somewhere until one was; what is left in the parent directory. Half of them from the start on, the
    others from where the first file of the backup is there."""
    chance = random.Random(seed)
    for n in range(200):
        process = subprocess.Popen([str(box.binary), "backup", str(parent / f"backup-{n}"), "--data", str(box.data)],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if n % 2:
            wait_until(lambda: process.poll() is not None or unfinished(parent), "the backup begins")
        time.sleep(chance.uniform(0.002, 0.03))
        process.send_signal(how)
        code = process.wait(PATIENCE_S)
        whole = parent / f"backup-{n}"
        left = unfinished(parent)
        if whole.exists():
            with contextlib.closing(sqlite3.connect(whole / "live.db")) as db:
                assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
            shutil.rmtree(whole)
        elif code == -how and (left or how != signal.SIGKILL):
            yield left
    raise AssertionError("no backup was met while it was made")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_backup_that_is_told_to_end_leaves_nothing(house, tmp_path, how):
    seed = random.getrandbits(32)
    print("seed", seed)
    parent = tmp_path / "disk"
    parent.mkdir()
    endings = interrupted(house.box, parent, how, seed)
    for _ in range(10):
        assert next(endings) == [], "it holds the key of the authority"
    assert not list(house.box.data.glob("backup-unfinished.??????"))


@pytest.mark.parametrize("remover", ["the next backup", "the next start"])
def test_what_a_killed_backup_leaves_is_removed(house, tmp_path, remover):
    seed = random.getrandbits(32)
    print("seed", seed)
    parent = tmp_path / "disk"
    parent.mkdir()
    (parent / "comanda-backup-unfinished.of-mine").mkdir()  # another's, by its name
    assert next(interrupted(house.box, parent, signal.SIGKILL, seed))
    if remover == "the next backup":
        assert "removed what an interrupted backup or drill left" in back_up(house.box, parent / "backup").stderr
    else:
        house.box.start()
        house.box.wait_for_log("removed what an interrupted backup or drill left")
    left = {path.name for path in parent.iterdir()} - {"backup"}
    assert left == {"comanda-backup-unfinished.of-mine"}
    assert not list(house.box.data.glob("backup-unfinished.??????"))


def take_away(path):
    """From the user of the server, who is root only where the tests are: then it runs as another."""
    if os.geteuid() == 0:
        os.chown(path, 0, 0)
        os.chmod(path, 0o700 if path.is_dir() else 0o600)
    else:
        os.chmod(path, 0)


@pytest.mark.parametrize("name", ["live.db", "live.db-wal", "tls", "tls/ca.key", "tls/server.key", "comanda.conf", "comanda.lock", "served", "."])
def test_a_file_of_another_is_named_with_the_command_that_mends_it(house, name):
    box = house.box
    (box.data / "comanda.conf").write_text("log_level = info\n")
    box.start()
    if name == "live.db-wal":
        with contextlib.closing(box.client(house.key)) as client:
            client.place()
        box.kill()  # the log stays
    else:
        assert box.stop() == 0
    if os.geteuid() == 0:
        for path in [box.data, *box.data.rglob("*")]:
            os.chown(path, 65534, 65534)
        box.preexec = lambda: (os.setgroups([]), os.setgid(65534), os.setuid(65534))
    path = box.data / name
    mode = path.stat().st_mode
    take_away(path)
    box.launch()
    code = box.process.wait(PATIENCE_S)
    os.chmod(path, mode)
    said = box.log_text()
    assert code in (1, 70), said[-2000:]
    assert re.search(rf"{re.escape(str(path))} belongs to .*as root: .*ch(own|mod) .*{re.escape(str(path))}", said), said[-2000:]
