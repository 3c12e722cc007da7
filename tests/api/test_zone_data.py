"""Time zones that lose their name or their data on the machine: orders go on, and it is said in a technician's words. The
server reads a directory of the test's own in the place of /usr/share/zoneinfo."""

import contextlib
import datetime
import json
import pathlib
import shutil
import signal
import zoneinfo

import pytest

from support.box import PATIENCE_S, ROOT, Box, free_port
from support.past import NEWEST, VERSIONS, check_upgraded, unpack
from support.waiting import wait_until
from support.wall_clock import FrozenClockBox

DEMO = json.loads((ROOT / "src/app/demo.json").read_text())["companies"][0]
OTHER = ROOT / "tests/support/other_restaurant.json"
SYSTEM = pathlib.Path("/usr/share/zoneinfo")
REFUSED = 1
COMMAND = "apt install --reinstall tzdata"
OLD, TODAY = "America/Buenos_Aires", "America/Argentina/Buenos_Aires"
# Names whose data Debian 13 moved to tzdata-legacy.
GONE = {OLD: TODAY, "America/Cordoba": "America/Argentina/Cordoba", "Brazil/East": "America/Sao_Paulo",
        "Chile/Continental": "America/Santiago", "US/Eastern": "America/New_York"}


class Zoneinfo:
    """A directory of zone data: as Debian 13 has it without tzdata-legacy, as far as these tests need it."""

    def __init__(self, directory):
        self.directory = directory
        self.env = {"TZDIR": str(directory)}
        directory.mkdir()
        self.give("Etc/UTC", "America/Lima", "Europe/Madrid", *GONE.values())

    def give(self, *names):
        for name in names:
            path = self.directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            # As dpkg does: in one step, so that a file is never half there.
            # The system of these tests need not have an old name.
            shutil.copyfile(SYSTEM / GONE.get(name, name), path.with_name(".new"))
            path.with_name(".new").rename(path)

    def take(self, *names):
        for name in names:
            (self.directory / name).unlink()

    def wipe(self):
        shutil.rmtree(self.directory)
        self.directory.mkdir()


@pytest.fixture
def zones(tmp_path):
    return Zoneinfo(tmp_path / "zoneinfo")


@pytest.fixture
def box(zones, tmp_path):
    (tmp_path / "data").mkdir()
    box = Box(data=tmp_path / "data", env=zones.env)
    yield box
    assert box.discard() == 0


def restaurant(tmp_path, **fields):
    file = tmp_path / "restaurant.json"
    file.write_text(json.dumps({"companies": [{**DEMO, **fields}]}))
    return file


@contextlib.contextmanager
def client_of(box, **named):
    with contextlib.closing(box.client(box.make_key(**named)["key"])) as client:
        yield client


def check(box, name="time_zones", port=None):
    """The state of a check of /readyz, which is ready; None if it is not there."""
    with contextlib.closing(box.client()) as client:
        client.port = port or client.port
        answer = client.get("/readyz")
        assert answer.status == 200 and answer.json["status"] == "ready", answer.body
        return answer.json["checks"].get(name, {"state": None})["state"]


def sells(client, zone):
    """Asserts that orders are taken, and that days are cut by the zone."""
    before = datetime.datetime.now(zone).date()
    order = client.place()
    day = datetime.datetime.fromisoformat(order["created_at"]).astimezone(zone).date()
    assert day >= before
    assert client.get("/v1/company").status == 200
    around = [day + datetime.timedelta(days=n) for n in (-1, 0, 1)]
    for date, is_found in zip(around, (False, True, False)):
        days = f"filter[start_date]={date}&filter[end_date]={date}"
        found = client.get(f"/v1/orders?{days}&per_page=100")
        assert found.status == 200, found.body
        assert (order["id"] in [row["id"] for row in found.data]) == is_found, (date, order["created_at"])
        for report in ("orders/by-payment-methods", "orders/by-tips", "orders/products-sold"):
            for more in ("", "&timezone=" + client.get("/v1/company").data["timezone"]):
                answer = client.get(f"/v1/{report}?{days}{more}")
                assert answer.status == 200, (report, more, answer.body)
    assert client.get("/v1/orders?filter[start_date]=2026-01-01").status == 200
    assert client.get("/v1/clients?filter[start_date]=2026-01-01").status == 200
    return order


LIMA = datetime.timezone(datetime.timedelta(hours=-5))


# Old names


@pytest.mark.parametrize("old", GONE)
def test_an_old_name_is_brought_in_as_todays(box, tmp_path, old):
    box.bring_in(restaurant(tmp_path, timezone=old))
    box.start()
    with client_of(box) as client:
        assert client.get("/v1/company").data["timezone"] == GONE[old]
        assert sells(client, zoneinfo.ZoneInfo(GONE[old]))["timezone"] == GONE[old]
        # The parameter of a report may be old too.
        assert client.get(f"/v1/orders/by-tips?timezone={old}").status == 200
    assert check(box) is None
    box.bring_in(restaurant(tmp_path, timezone=old))  # by the server, again
    with client_of(box) as client:
        assert client.get("/v1/company").data["timezone"] == GONE[old]


def test_a_system_that_has_only_the_old_name_keeps_it_until_it_is_upgraded(box, zones, tmp_path):
    zones.give(OLD)
    zones.take(TODAY)
    box.bring_in(restaurant(tmp_path, timezone=OLD))
    box.start()
    with client_of(box) as client:
        company = client.get("/v1/company")
        menu = client.get("/v1/menu")
        assert company.data["timezone"] == OLD
        sells(client, zoneinfo.ZoneInfo(TODAY))
        zones.take(OLD)
        zones.give(TODAY)
        sells(client, zoneinfo.ZoneInfo(TODAY))
        box.signal(signal.SIGHUP)
        wait_until(lambda: client.get("/v1/company").data["timezone"] == TODAY, box.log_text)
        assert client.get("/v1/company").etag != company.etag
        assert client.get("/v1/menu", **{"If-None-Match": menu.etag}).status == 200
        sells(client, zoneinfo.ZoneInfo(TODAY))
    box.wait_for_log("a time zone was renamed to its present name")
    assert check(box) is None


def set_zone(box, name):
    """As a program stored it that knew no old names."""
    assert box.execute("UPDATE company SET timezone = ?", name) > 0


@pytest.mark.box_only
@pytest.mark.parametrize("version", sorted({VERSIONS[0], *VERSIONS[::5], VERSIONS[-1]}))
def test_an_upgrade_makes_the_name_of_an_older_program_todays(box, version):
    unpack(version, box.data)
    set_zone(box, OLD)
    assert "tzdata" not in box.command("config", "check", "--data", str(box.data)).stdout
    box.start()
    check_upgraded(box, version)
    with client_of(box) as client:
        assert client.get("/v1/company").data["timezone"] == TODAY
        sells(client, zoneinfo.ZoneInfo(TODAY))
    assert check(box) is None
    assert box.value("PRAGMA user_version") == NEWEST
    assert set(box.rows("SELECT utc_offset_s FROM company")) == {(-3 * 3600,)}


# No data


def test_a_start_without_the_data_of_the_zone_goes_on_with_the_offset_last_known(box, zones):
    box.bring_in("demo")
    zones.wipe()
    box.start()
    state = check(box)
    for words in ("America/Lima", "UTC-05:00", COMMAND):
        assert words in state, state
    assert "La Caleta" not in state, "no business data"
    with client_of(box) as client:
        first = sells(client, LIMA)
        assert client.get("/v1/company").data["timezone"] == "America/Lima"
        box.stop()
        box.start()
        assert sells(client, LIMA)["order_number"] > first["order_number"]
        for words in ("America/Lima", "La Caleta", COMMAND):
            assert words in box.log_text()
        zones.give("Etc/UTC", "America/Lima")
        box.signal(signal.SIGHUP)
        wait_until(lambda: check(box) is None, "the end of the trouble")
        sells(client, LIMA)
    box.wait_for_log("every time zone has data again")
    assert "damaged" not in check(box, "rows").replace("no damage", "")


def test_what_is_mended_is_found_without_a_restart_and_without_a_reload(box, zones):
    box.bring_in("demo")
    zones.take("America/Lima")
    box.start()
    assert "UTC-05:00" in check(box)
    zones.give("America/Lima")
    wait_until(lambda: check(box) is None, "the end of the trouble, for which the chores look each minute", 60 + PATIENCE_S)


def test_data_that_go_while_the_server_runs_and_come_back(box, zones):
    box.bring_in("demo")
    box.start()
    with client_of(box) as client:
        sells(client, LIMA)
        zones.wipe()
        box.signal(signal.SIGHUP)
        wait_until(lambda: check(box) is not None, "the trouble")
        for words in ("America/Lima", "until the next start", COMMAND):
            assert words in check(box)
        sells(client, LIMA)
        zones.give("Etc/UTC", "America/Lima")
        box.signal(signal.SIGHUP)
        wait_until(lambda: check(box) is None, "the end of the trouble")
        sells(client, LIMA)


def test_a_damaged_file_is_as_none_and_its_repair_is_found(box, zones):
    box.bring_in("demo")
    path = zones.directory / "America/Lima"
    for content in (b"", b"TZif2" + bytes(100), path.read_bytes()[:60]):
        path.write_bytes(content)
        box.start()
        assert "the data of America/Lima are missing or damaged" in check(box) and COMMAND in check(box)
        with client_of(box) as client:
            sells(client, LIMA)
            zones.give("America/Lima")
            box.signal(signal.SIGHUP)
            wait_until(lambda: check(box) is None, "the end of the trouble")
            sells(client, LIMA)
        box.stop()


@pytest.mark.box_only
def test_an_upgrade_without_any_data_takes_orders_by_utc_and_says_so(box, zones):
    unpack(15, box.data)  # the newest version that keeps no offset
    zones.wipe()
    assert COMMAND in box.command("config", "check", "--data", str(box.data)).stdout
    box.start()
    assert "UTC, because no offset was ever known" in check(box)
    with client_of(box) as client:
        sells(client, datetime.timezone.utc)
        zones.give("Etc/UTC", "America/Lima")
        box.signal(signal.SIGHUP)
        wait_until(lambda: check(box) is None, "the end of the trouble")
        sells(client, LIMA)


@pytest.mark.box_only
def test_answers_by_another_offset_have_another_tag(box, zones):
    unpack(VERSIONS[-1], box.data)
    zones.wipe()
    box.start()
    with client_of(box) as client:
        path = "/v1/orders?filter[start_date]=2026-01-01"
        tag = client.get(path).etag
        assert client.get(path, **{"If-None-Match": tag}).status == 304
        zones.give("Etc/UTC", "America/Lima")
        box.signal(signal.SIGHUP)
        wait_until(lambda: client.get(path, **{"If-None-Match": tag}).status == 200, box.log_text)


def test_daylight_saving_time_that_ends_while_the_data_are_missing(zones, tmp_path):
    def at(text):
        return int(datetime.datetime.fromisoformat(text).timestamp() * 1000)

    summer, winter = at("2027-03-01T15:00:00+00:00"), at("2027-05-01T15:00:00+00:00")  # it ends on 4 April
    box = FrozenClockBox(summer, env=zones.env)
    box.bring_in(restaurant(tmp_path, timezone="America/Santiago"))
    key = box.make_key()["key"]

    def offset():
        return box.value("SELECT utc_offset_s FROM company")

    def finds(day, order):
        with contextlib.closing(box.client(key)) as client:
            answer = client.get(f"/v1/orders?filter[start_date]={day}&filter[end_date]={day}")
            return order["id"] in [row["id"] for row in answer.data]

    box.start()
    assert offset() == -3 * 3600
    box.stop()
    zones.take("America/Santiago")
    box.now_ms = winter
    box.start()
    assert "UTC-03:00" in check(box)
    box.set_now(at("2027-05-02T03:30:00+00:00"))  # 23:30 of the first in Santiago, 00:30 by the offset
    with contextlib.closing(box.client(key)) as client:
        order = client.place()
    assert finds("2027-05-02", order) and not finds("2027-05-01", order)
    assert offset() == -3 * 3600
    zones.give("America/Santiago")
    box.signal(signal.SIGHUP)
    wait_until(lambda: check(box) is None, "the end of the trouble")
    assert finds("2027-05-01", order) and not finds("2027-05-02", order)
    wait_until(lambda: offset() == -4 * 3600, "the new offset")
    box.set_now(at("2027-10-01T15:00:00+00:00"))  # it has begun again
    box.signal(signal.SIGHUP)
    wait_until(lambda: offset() == -3 * 3600, "the new offset")
    assert box.discard() == 0


def test_a_second_restaurant_keeps_its_own_zone(box, zones):
    zones.give("Asia/Kuwait")
    box.bring_in("demo")
    box.command("import", str(OTHER), "--data", str(box.data), "--new-company")
    zones.take("America/Lima")
    box.start()
    assert "America/Lima" in check(box) and "Santiago" not in check(box)
    other = json.loads(OTHER.read_text())["companies"][0]["id"]
    for company, zone in ((DEMO["id"], LIMA), (other, zoneinfo.ZoneInfo("America/Santiago"))):
        with client_of(box, company=company) as client:
            sells(client, zone)
    box.stop()
    zones.take("America/Santiago")
    box.start()
    assert "America/Lima" in check(box) and "America/Santiago" in check(box)


def test_a_sandbox_without_the_data_of_its_zone_is_served(box, zones):
    box.bring_in("demo", env="test")
    zones.wipe()
    port = free_port()
    box.options += ["--sandbox_listen", f"127.0.0.1:{port}"]
    box.start()
    assert check(box) is None, "the live environment has no restaurant"
    assert "America/Lima" in check(box, port=port)
    with client_of(box, env="test") as client:
        client.port = port
        sells(client, LIMA)


# Import


def test_a_restaurant_is_imported_again_while_its_zone_has_no_data(box, zones, tmp_path):
    box.bring_in("demo")
    zones.wipe()
    box.start()
    box.bring_in(restaurant(tmp_path, description="con vista al mar"))
    with client_of(box) as client:
        assert client.get("/v1/company").data["description"] == "con vista al mar"
        sells(client, LIMA)
    assert "UTC-05:00" in check(box)
    result = box.command("import", str(restaurant(tmp_path, timezone="Europe/Madrid")), "--data", str(box.data), check=False)
    assert result.returncode == REFUSED and COMMAND in result.stderr, result


def test_a_server_without_a_restaurant_says_so_and_takes_none_in(box, zones):
    zones.wipe()
    box.start()
    box.wait_for_log(COMMAND)
    for env in (zones.env, None):  # the server reads its own zones, whatever the command has
        box.env = env
        result = box.command("import", "demo", "--data", str(box.data), check=False)
        assert result.returncode == REFUSED, result
        assert "timezone" in result.stderr and COMMAND in result.stderr
    with contextlib.closing(box.client()) as api:
        assert api.get("/healthz").status == 200


@pytest.mark.parametrize("name, near", [("America/Lyma", "America/Lima"), ("Lima", "America/Lima"), ("america/lima", "America/Lima"),
                                        ("Buenos Aires", TODAY), ("Mars/Olympus", None)])
def test_a_name_that_is_none_is_refused_with_the_one_that_was_meant(box, tmp_path, name, near):
    result = box.command("import", str(restaurant(tmp_path, timezone=name)), "--data", str(box.data), check=False)
    assert result.returncode == REFUSED and "companies[0].timezone" in result.stderr, result
    assert "tzdata" not in result.stderr, "it is there"
    assert "perhaps" in result.stderr if near else "perhaps" not in result.stderr
    assert (f"perhaps {near} was meant" if near else "America/Lima") in result.stderr


def test_a_name_whose_data_are_missing_is_refused_with_the_command_that_helps(box, zones, tmp_path):
    zones.take("America/Lima")
    result = box.command("import", str(restaurant(tmp_path)), "--data", str(box.data), check=False)
    assert result.returncode == REFUSED and COMMAND in result.stderr and "perhaps" not in result.stderr, result


# Commands


@pytest.mark.box_only
def test_the_commands_look_at_it_and_say_it(box, zones, tmp_path):
    box.bring_in("demo")
    box.command("backup", str(tmp_path / "backup"), "--data", str(box.data))
    data = ["--data", str(box.data)]
    commands = {"verify": ["verify", *data], "verify a backup": ["verify", str(tmp_path / "backup"), *data],
                "config check": ["config", "check", *data], "drill": ["drill", str(tmp_path / "backup"), *data],
                "doctor": ["doctor", *data]}

    def said(is_missing):
        for name, words in commands.items():
            result = box.command(*words, check=False)
            assert name == "doctor" or result.returncode == 0, (name, result)
            assert (COMMAND in result.stdout and "America/Lima" in result.stdout) == is_missing, (name, result)

    said(False)
    zones.take("America/Lima")
    said(True)  # no server runs
    report = json.loads(box.command("verify", *data, "--json").stdout)
    assert report["sound"] and "America/Lima" in report["databases"][0]["notes"][0]
    box.start()
    said(True)
    zones.give("America/Lima")
    box.signal(signal.SIGHUP)
    wait_until(lambda: check(box) is None, "the end of the trouble")
    said(False)


@pytest.mark.box_only
def test_a_restore_to_a_machine_without_the_data_says_it_and_goes_on_with_the_offset(box, zones, tmp_path):
    box.bring_in("demo")
    box.start()
    box.stop()
    box.command("backup", str(tmp_path / "backup"), "--data", str(box.data))
    zones.wipe()
    result = box.command("restore", str(tmp_path / "backup"), "--yes", "--data", str(box.data))
    assert "America/Lima" in result.stdout and COMMAND in result.stdout
    box.start()
    assert "UTC-05:00" in check(box)
    with client_of(box) as client:
        sells(client, LIMA)


@pytest.mark.box_only
def test_a_restored_database_has_todays_name(box, tmp_path):
    box.bring_in("demo")
    box.start()
    box.stop()
    set_zone(box, OLD)
    box.command("backup", str(tmp_path / "backup"), "--data", str(box.data))
    set_zone(box, "Europe/Madrid")
    result = box.command("restore", str(tmp_path / "backup"), "--yes", "--data", str(box.data))
    assert "tzdata" not in result.stdout
    box.start()
    with client_of(box) as client:
        assert client.get("/v1/company").data["timezone"] == TODAY


def test_keys_can_be_managed_meanwhile(box, zones):
    box.bring_in("demo")
    zones.wipe()
    assert box.make_key()["key"]
