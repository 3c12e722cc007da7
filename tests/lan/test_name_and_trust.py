"""A device on the LAN finds the box by its name and trusts it, whatever becomes of names and addresses. avahi is the real one
on every machine, and the browser is Chromium."""

import json
import shutil

import pytest

from support import pairing
from support.box import Box
from support.chromium import Chromium
from support.lan import SERVICE_FILE, LanBox, wait_for_look
from support.trust import server, sign

NAME = "caja-1.local"


def doctor(box, check):
    """The findings of one check."""
    report = json.loads(box.command("doctor", "--data", str(box.data), "--json", check=False).stdout)
    return [one for one in report["findings"] if one["check"] == check]


def finds(till, name, address):
    wait_for_look(lambda: till.resolve(name) == address, lambda: f"{name} is {till.resolve(name)}, not {address}")


def get(till, url, cafile):
    return till.run("curl", "-sS", "--cacert", cafile, "-o", "/dev/null", "-w", "%{http_code}", url, check=False)


def wait_for_trust(till, url, cafile):
    wait_for_look(lambda: get(till, url, cafile).stdout == "200", lambda: get(till, url, cafile).stderr)


def test_a_browser_finds_the_box_by_its_name_and_trusts_it(box, till, tmp_path):
    finds(till, NAME, box.machine.address)
    browser = Chromium(tmp_path / "home", [box.cafile], till.entering)
    for name in NAME, box.machine.address:
        assert f"Comanda on {NAME}" in browser.page(f"https://{name}:{box.port}/")
        assert not Chromium(tmp_path / "stranger", [], till.entering).accepts(f"https://{name}:{box.port}/")
    said = till.run("avahi-browse", "-rptf", "_comanda._tcp").stdout
    assert f";{box.machine.address};{box.port};" in said and '"path=/v1"' in said and '"version=v0"' in said
    assert doctor(box, "name")[0]["state"] == "well"


def test_a_new_address_stops_nobody_who_uses_the_name(box, till):
    finds(till, NAME, box.machine.address)
    box.machine.set_address(99)
    box.wait_for_log("10.77.0.99")
    finds(till, NAME, "10.77.0.99")
    assert get(till, f"https://{NAME}:{box.port}/healthz", box.cafile).stdout == "200"
    # Nor who learns the new address: the certificate has it.
    wait_for_trust(till, f"https://10.77.0.99:{box.port}/healthz", box.cafile)


def test_a_new_host_name_is_trusted_without_a_new_authority(box, till):
    finds(till, NAME, box.machine.address)
    authority = box.cafile.read_bytes()
    box.machine.set_host_name("barra")
    box.machine.run("avahi-set-host-name", "barra")
    finds(till, "barra.local", box.machine.address)
    wait_for_trust(till, f"https://barra.local:{box.port}/healthz", box.cafile)
    assert box.cafile.read_bytes() == authority


def test_a_name_that_another_machine_has_is_reported(lan, till, box):
    finds(till, NAME, box.machine.address)
    second = lan.machine("caja-1")
    second.start_avahi(SERVICE_FILE)
    finds(second, NAME, box.machine.address)
    other = LanBox(second)
    try:
        other.start()
        other.wait_for_log(f"{NAME} is {box.machine.address}, another machine")
        (finding,) = doctor(other, "name")
        assert finding["state"] == "broken" and box.machine.address in json.dumps(finding)
        assert get(till, f"https://{second.address}:{other.port}/healthz", other.cafile).stdout == "200"
        # The first one keeps its name, and tells nothing.
        assert doctor(box, "name")[0]["state"] == "well"
    finally:
        other.discard()


def test_a_box_without_avahi_serves_and_says_so(box, till):
    finds(till, NAME, box.machine.address)
    box.machine.stop_avahi()
    box.wait_for_log(f"devices do not find the box as {NAME}")
    assert get(till, f"https://{box.machine.address}:{box.port}/healthz", box.cafile).stdout == "200"
    assert doctor(box, "name")[0]["state"] == "warning"


def test_a_device_pairs_over_the_lan(box, till):
    """With the text of the QR code alone."""
    finds(till, NAME, box.machine.address)
    made = json.loads(box.command("pair", "--data", str(box.data), "--name", "Till 3", "--scopes", "orders:read", "--json").stdout)
    code = pairing.read(made["uri"])
    assert code["h"] == f"{box.machine.address}:{box.port}" and code["n"] == NAME
    body = json.dumps({"code": code["c"]})
    words = ("curl", "-sS", "--cacert", box.cafile, "--json", body)
    key = json.loads(till.run(*words, f"https://{code['n']}:{box.port}/auth/pair").stdout)["data"]["key"]
    said = till.run("curl", "-sS", "--cacert", box.cafile, "-H", f"Authorization: Bearer {key}",
                    f"https://{code['n']}:{box.port}/v1/orders").stdout
    assert json.loads(said)["data"] == []


def test_devices_trust_the_box_that_takes_the_place_of_a_dead_one(lan, box, till, tmp_path):
    """Another machine with the same host name and another address, and a backup of the first one."""
    finds(till, NAME, box.machine.address)
    trusted = shutil.copy(box.cafile, tmp_path / "ca.crt")
    box.command("backup", tmp_path / "backup", "--data", str(box.data))
    box.machine.stop_avahi()
    assert box.stop() == 0
    machine = lan.machine("caja-1")
    machine.start_avahi(SERVICE_FILE)
    restored = LanBox(machine, data=tmp_path / "backup")
    try:
        restored.start()
        finds(till, NAME, machine.address)
        wait_for_trust(till, f"https://{NAME}:{restored.port}/healthz", trusted)
        assert get(till, f"https://{machine.address}:{restored.port}/healthz", trusted).stdout == "200"
    finally:
        restored.stop()


@pytest.mark.parametrize("names, addresses, is_good", [
    (["localhost", "other.local"], ["10.1.2.3", "fd12::1"], True), (["localhost", "example.com"], [], False),
    (["localhost"], ["8.8.8.8"], False)], ids=["inside", "a name outside", "an address outside"])
def test_a_browser_keeps_to_the_constraints(tmp_path, names, addresses, is_good):
    """What a thief of the issuing key signs."""
    thief = Box()
    try:
        thief.start()
        browser = Chromium(tmp_path / "home", [thief.cafile])
        with server(sign(thief, names, addresses, tmp_path)) as port:
            assert browser.accepts(f"https://localhost:{port}/") == is_good
    finally:
        thief.discard()
