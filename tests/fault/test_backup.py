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
    house.box.start()
    house.box.stop()
    overwrite(house.box.data / "test.db", b"\x7f" * 4096)
    done = back_up(house.box, tmp_path / "backup")
    assert "the sandbox is not in the backup" in done.stderr
    assert {path.name for path in (tmp_path / "backup").iterdir()} == {"live.db", "tls"}


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
