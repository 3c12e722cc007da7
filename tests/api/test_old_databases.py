"""What an older program left is upgraded when the server starts, with every order as it was told (support/past.py). Kills and
power cuts on the way: tests/power/test_upgrade.py."""

import contextlib
import datetime
import zoneinfo

import pytest

from support.box import Box
from support.orders import accepted, path
from support.past import NEWEST, VERSIONS, check_upgraded, look, orders_told, unpack

pytestmark = pytest.mark.box_only


def test_a_database_of_the_version_before_the_newest_is_kept():
    assert VERSIONS[0] == 1 and VERSIONS[-1] == NEWEST - 1, "a new migration needs past/N.db.xz of the version before it"


@pytest.mark.parametrize("version", VERSIONS)
def test_an_old_database_is_upgraded(version):
    box = Box(options=["--sandbox-listen", ""])
    unpack(version, box.data)
    old = (box.data / "live.db").read_bytes()
    box.start()
    check_upgraded(box, version)
    assert look(box.data)[0] == NEWEST
    copies = list(box.data.glob("*.before-*"))
    assert [copy.name for copy in copies] == [f"live.db.before-{version + 1}"], "one copy, to go back to"
    (box.data / "back").mkdir()
    copies[0].rename(box.data / "back/live.db")
    (box.data / "old").mkdir()
    (box.data / "old/live.db").write_bytes(old)
    assert look(box.data / "back") == look(box.data / "old")
    assert box.discard() == 0


def test_an_upgraded_database_plans_as_a_new_one():
    statistics = []
    for version in (None, VERSIONS[-1]):
        box = Box(options=["--sandbox-listen", ""])
        if version:
            unpack(version, box.data)
        box.start()
        statistics.append([tuple(row) for row in box.rows("SELECT tbl, idx, stat FROM sqlite_stat1 ORDER BY idx")])
        assert box.discard() == 0
    assert statistics[0] == statistics[1] != []


@pytest.mark.parametrize("version", [VERSIONS[0], VERSIONS[-1]])
def test_an_old_order_gets_its_business_day_and_keeps_it(version):
    box = Box(options=["--sandbox-listen", ""])
    unpack(version, box.data)
    box.start()
    with contextlib.closing(box.client(box.make_key()["key"])) as client:
        company = client.get("/v1/company").data
        opens = datetime.time.fromisoformat(company["day_starts_at"])
        for told in orders_told(version):
            order = client.get(path(told)).data
            at = datetime.datetime.fromisoformat(told["created_at"].replace("Z", "+00:00")).astimezone(
                zoneinfo.ZoneInfo(company["timezone"]))
            day = str(at.date() - datetime.timedelta(days=at.time() < opens))
            assert order["business_day"] == day
            if told["status"] != "CANCELLED":
                written = accepted(client.patch(path(told), {"comment": "al fondo"}))
                assert written["business_day"] == day
        listed = {row["id"]: row["business_day"] for row in client.get("/v1/orders?per_page=100").data}
        assert len(listed) == len(orders_told(version)) and all(listed.values())
    kept = dict(box.rows("SELECT id, business_day FROM orders"))
    assert all(kept[told["id"]] for told in orders_told(version) if told["status"] != "CANCELLED")
    assert box.command("verify", "--data", str(box.data)).returncode == 0
    assert box.discard() == 0
