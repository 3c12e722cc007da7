"""Where the machine has no time zone data: it is said in a technician's words, and no clock is guessed."""

import contextlib
import json

import pytest

from support.box import ROOT, Box, free_port

DEMO = ROOT / "src/app/demo.json"
REFUSED, FAULT = 1, 70


@pytest.fixture
def without(tmp_path):
    """A machine with nothing in its zone directory."""
    (tmp_path / "zoneinfo").mkdir()
    return {"TZDIR": str(tmp_path / "zoneinfo")}


@pytest.fixture
def resting():
    box = Box()
    yield box
    assert box.discard() in (0, FAULT)


def refused_start(box, *options):
    """What the server says as it refuses to start."""
    result = box.command("serve", "--data", str(box.data), "--listen", f"127.0.0.1:{box.port}", *options, check=False)
    assert result.returncode == FAULT, result
    said = result.stderr.splitlines()[-1]
    assert said.startswith("comanda: "), result
    return said


def test_a_restaurant_is_not_served_without_the_data_of_its_zone(resting, without):
    resting.bring_in("demo")
    resting.env = without
    said = refused_start(resting)
    for word in ("America/Lima", "La Caleta", "apt install tzdata"):
        assert word in said
    resting.env = None  # installed
    resting.start()
    key = resting.make_key()["key"]
    with contextlib.closing(resting.client(key)) as api:
        assert api.get("/v1/company").data["timezone"] == "America/Lima"


def test_a_sandbox_without_the_data_of_its_zone_is_not_served(resting, without):
    resting.bring_in("demo", env="test")
    resting.env = without
    port = free_port()
    resting.options += ["--sandbox_listen", f"127.0.0.1:{port}"]
    resting.start()
    resting.wait_for_log("the sandbox is not served")
    assert "America/Lima" in resting.log_text()
    with contextlib.closing(resting.client()) as api:
        assert api.get("/readyz").status == 200
        assert "not served" in api.get("/readyz").json["checks"]["sandbox"]["state"]
        api.close()
        api.port = port
        assert api.get("/v1/company").status == 503


def test_every_restaurant_whose_zone_is_missing_is_named(resting, without):
    resting.bring_in("demo")
    resting.bring_in(ROOT / "tests/support/other_restaurant.json")
    names = json.loads((ROOT / "tests/support/other_restaurant.json").read_text())["companies"]
    resting.env = without
    said = refused_start(resting)
    assert all(f"{c['timezone']} ({c['name']})" in said for c in names), said


def test_a_server_without_a_restaurant_says_so_and_takes_none_in(resting, without):
    resting.env = without
    resting.start()
    resting.wait_for_log("apt install tzdata")
    for env in (without, None):  # whoever asks: it is the server's data that counts
        resting.env = env
        result = resting.command("import", "demo", "--data", str(resting.data), check=False)
        assert result.returncode == REFUSED, result
        assert "timezone" in result.stderr and "tzdata" in result.stderr
    with contextlib.closing(resting.client()) as api:
        assert api.get("/healthz").status == 200


def test_an_import_without_a_server_is_refused_alike(resting, without):
    resting.env = without
    result = resting.command("import", str(DEMO), "--data", str(resting.data), check=False)
    assert result.returncode == REFUSED and "tzdata" in result.stderr


def test_keys_can_be_managed_meanwhile(resting, without):
    resting.bring_in("demo")
    resting.env = without
    assert resting.make_key()["key"]
