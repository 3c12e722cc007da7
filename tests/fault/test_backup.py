"""`comanda backup` beside a busy server, and what a restored backup must not take for current."""

import contextlib
import json
import shutil
import sqlite3

import pytest

from support.box import Box, PATIENCE_S
from support.tills import Restaurant


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
    house.box.start()
    target = tmp_path / "far" / "backup"
    (house.box.data / "comanda.conf").write_text("log_level = debug\n")
    back_up(house.box, target)
    files = {str(path.relative_to(target)): path.stat().st_mode & 0o777 for path in target.rglob("*")}
    assert files == {"live.db": 0o600, "test.db": 0o600, "comanda.conf": 0o600, "tls": 0o700, "tls/ca.crt": 0o600,
                     "tls/ca.key": 0o600, "tls/server.crt": 0o600, "tls/server.key": 0o600}
    assert target.stat().st_mode & 0o777 == 0o700
    with contextlib.closing(sqlite3.connect(target / "live.db")) as db:
        assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


def test_a_restored_box_takes_nothing_of_its_former_life_for_current(house, boxes, tmp_path):
    box = house.box.start()
    with contextlib.closing(box.client(house.key)) as client:
        client.place()
        back_up(box, tmp_path / "backup")
        before = told_by(client)
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
        client.place()  # as many changes as there were in the former life
        for tag, cursor in (before, after):
            assert client.get("/v1/orders", **{"If-None-Match": tag}).status == 200
            refused = events_after(client, cursor)
            assert (refused.status, refused.code) == (410, "cursor_expired")
        new = events_after(client, first[1]).data
        assert len(new) == len(lost) == 1 and new[0]["event_id"] != lost[0]["event_id"]
    with contextlib.closing(restored.database()) as db:
        assert [row["action"] for row in db.execute("SELECT action FROM audit WHERE action LIKE 'backup%'")] == \
            ["backup.restored"]
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


REFUSED = {
    "a target that is there": (lambda house, tmp: tmp, "is there already"),
    "a target below a file": (lambda house, tmp: house.box.data / "test.key" / "backup", "Not a directory"),
    "no target": (lambda house, tmp: "", "name the directory"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_backup_says_why_it_is_not_made(house, tmp_path, case):
    target, words = REFUSED[case]
    done = back_up(house.box, target(house, tmp_path), check=False)
    assert done.returncode in (1, 2, 70) and words in done.stderr, done


def test_no_backup_is_made_of_nothing_or_of_a_damaged_database(house, tmp_path):
    nothing = Box(tmp_path / "nothing")
    done = back_up(nothing, tmp_path / "backup", check=False)
    assert done.returncode == 1 and "there is no" in done.stderr, done
    assert not nothing.data.exists()

    path = house.box.data / "live.db"
    content = bytearray(path.read_bytes())
    content[-3 * 4096:-2 * 4096] = b"\x7f" * 4096
    path.write_bytes(content)
    done = back_up(house.box, tmp_path / "backup", check=False)
    assert done.returncode == 70 and "damaged" in done.stderr, done
    assert not (tmp_path / "backup").exists()


def test_a_database_that_a_power_cut_has_emptied_is_no_new_restaurant(house):
    box = house.box.start()
    box.stop()
    (box.data / "live.db").write_bytes(b"")
    box.launch()
    assert box.process.wait(PATIENCE_S) == 70
    assert "is empty, though this box has served" in box.log_text()
    listed = box.command("keys", "list", "--data", str(box.data), check=False)
    assert listed.returncode == 70 and "restore a backup" in listed.stderr
    assert (box.data / "live.db").stat().st_size == 0
