"""What a start opens, and a sandbox without an address, which nobody uses but commands of the machine."""

import contextlib
import json
import re

import pytest

from support.box import Box, free_port
from support.past import VERSIONS, unpack

OPENS_MAX = 12


@pytest.fixture
def box(tmp_path):
    one = Box(tmp_path / "data")
    one.bring_in("demo")
    yield one
    one.discard()


def schema(file):
    """The user_version of a database's header (sqlite.org/fileformat2.html, 1.3)."""
    return int.from_bytes(file.read_bytes()[60:64], "big")


def is_open(box):
    with contextlib.closing(box.client()) as client:
        return b'database="test"' in client.get("/metrics").body


def verify(box, *words):
    done = box.command("verify", *map(str, words), "--data", str(box.data), "--json", check=False)
    return done.returncode, {found["name"]: found["damage"] for found in json.loads(done.stdout)["databases"]}


def test_a_start_opens_few_connections(box, tmp_path):
    trace = tmp_path / "trace"
    box.wrapper = ["strace", "-D", "-f", "-qq", "-o", str(trace), "-e", "trace=openat"]
    with contextlib.closing(box.client(box.make_key()["key"])) as client:
        box.start()
        client.place()
        box.stop()
    opened = re.findall(r'openat\([^"]*"[^"]*/((?:live|test)\.db)"', trace.read_text())
    assert 1 <= len(opened) <= OPENS_MAX, opened
    assert set(opened) == {"live.db"}


def test_a_sandbox_without_an_address_is_opened_for_commands_alone(box):
    file = box.data / "test.db"
    box.start()
    assert not file.exists()
    box.bring_in("demo", env="test")
    made = box.make_key(env="test")
    assert file.exists() and made["key"].startswith("cmd_test_")
    with contextlib.closing(box.client()) as client:
        assert "sandbox" not in client.get("/readyz").json["checks"]
    box.stop()
    box.start()
    assert not is_open(box)
    listed = box.command("keys", "list", "--env", "test", "--data", str(box.data), "--json").stdout
    assert made["id"] in listed and is_open(box)


def test_a_sandbox_without_an_address_is_upgraded_when_it_gets_one(box, tmp_path):
    """Meanwhile it is checked, backed up and restored as it is."""
    old = VERSIONS[0]
    live = (box.data / "live.db").read_bytes()
    unpack(old, box.data)
    (box.data / "live.db").rename(box.data / "test.db")
    (box.data / "live.db").write_bytes(live)
    box.start()
    assert verify(box) == (0, {"live.db": [], "test.db": []})
    report = json.loads(box.command("doctor", "--json", "--data", str(box.data), check=False).stdout)
    of_sandbox, = (found for found in report["findings"] if "test.db" in found["what"])
    assert of_sandbox["state"] == "well" and "sandbox_listen" in of_sandbox["what"], of_sandbox
    backup = tmp_path / "backup"
    box.command("backup", str(backup), "--data", str(box.data))
    assert verify(box, backup) == (0, {"B2SUMS": [], "live.db": [], "test.db": []})
    box.stop()
    assert schema(box.data / "test.db") == schema(backup / "test.db") == old < schema(box.data / "live.db")

    port = free_port()
    box.options += ["--sandbox-listen", f"127.0.0.1:{port}"]
    box.start()
    with contextlib.closing(box.client(box.make_key(env="test")["key"])) as client:
        client.port = port
        assert client.get("/v1/orders?per_page=1").json["pagination"]["total"] > 0
    assert verify(box) == (0, {"live.db": [], "test.db": []})
    box.stop()
    assert schema(box.data / "test.db") == schema(box.data / "live.db")
