"""Pairing (contract section 3): `comanda pair` and POST /auth/pair."""

import collections
import concurrent.futures
import contextlib
import http.client
import json
import ssl
import time

import pytest

from support import pairing
from support.box import Box, Client, LONG, PATIENCE_S, serving_the_demo
from support.orders import invalid, item, refused


box = pytest.fixture(scope="module")(serving_the_demo)


def context_of(box):
    return ssl.create_default_context(cafile=str(box.cafile))


def post(box, code, source="127.0.0.1"):
    return pairing.post_code(box.port, context_of(box), code, source)


def audit(box, subject, action):
    return [(actor, json.loads(detail)) for actor, detail in box.rows(
        "SELECT actor, detail FROM audit WHERE subject_id = ? AND action = ? ORDER BY seq", subject, action)]


def code_id(box, uri):
    return box.value("SELECT id FROM pairing_code ORDER BY made_at DESC, id DESC LIMIT 1")


def test_a_device_reads_the_code_checks_the_pin_gets_its_key_and_sells(box, tmp_path):
    uri = pairing.make_uri(box)
    answer, authority = pairing.pair(uri)
    assert answer.status == 201, answer.body
    record = answer.data
    assert (record["name"], record["scopes"], record["tier"]) == ("Till 3", ["orders:read", "orders:write"], "lan")
    assert answer.headers["location"] == f"/auth/api-keys/{record['id']}"
    assert answer.headers["cache-control"] == "no-store"
    cafile = tmp_path / "pinned.crt"
    cafile.write_text(authority)
    with contextlib.closing(Client(box.port, record["key"], str(cafile))) as till:
        order = till.place("T3-1")
        order = till.add(order, item(7.5))
        assert till.pay(order, 7.5)["total_paid"] == 7.5


def test_the_code_works_once(box):
    uri = pairing.make_uri(box)
    first, _ = pairing.pair(uri)
    assert first.status == 201
    for _ in range(3):
        refused(pairing.pair(uri)[0], 404, "not_found")
    made = code_id(box, uri)
    assert audit(box, first.data["id"], "key.created")[0][0] == "pairing:" + made
    assert [detail["reason"] for _, detail in audit(box, made, "pairing.refused")] == ["used"] * 3


def test_a_used_code_stays_used_after_a_restart():
    box = Box()
    try:
        box.bring_in("demo")
        box.start()
        uri = pairing.make_uri(box)
        assert pairing.pair(uri)[0].status == 201
        box.kill()
        box.start()
        refused(pairing.pair(uri)[0], 404, "not_found")
        assert box.rows("SELECT count(*) FROM api_key") == [(1,)]
    finally:
        box.discard()


def test_of_many_at_once_one_gets_the_key(box):
    code = pairing.read(pairing.make_uri(box))["c"]
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        statuses = sorted(answer.status for answer in pool.map(
            lambda n: post(box, code, f"127.0.1.{n}"), range(1, 17)))
    assert statuses == [201] + [404] * 15


def test_a_code_grants_what_the_owner_said(box):
    uri = pairing.make_uri(box, "--tier", "standard", name="Kitchen", scopes="menu:read")
    answer, _ = pairing.pair(uri)
    assert (answer.data["name"], answer.data["scopes"], answer.data["tier"]) == ("Kitchen", ["menu:read"], "standard")


def test_all_scopes_are_never_those_that_manage_keys(box):
    answer, _ = pairing.pair(pairing.make_uri(box, scopes="all"))
    assert "orders:write" in answer.data["scopes"]
    assert not [scope for scope in answer.data["scopes"] if scope.startswith("api-keys:")]


@pytest.mark.parametrize("scopes, said", [("api-keys:write", "comanda keys create"), ("admin:read,orders:read", "comanda keys create"),
                                          ("orders:reed", "must be one of"), ("", "needs at least one")])
def test_scopes_that_a_code_cannot_grant_are_refused_on_the_command_line(box, scopes, said):
    result = pairing.make_uri(box, scopes=scopes, check=False)
    assert result.returncode == 1 and said in result.stderr


def test_the_code_is_neither_in_the_database_nor_in_log_and_audit(box):
    uri = pairing.make_uri(box)
    code = pairing.read(uri)["c"]
    answer, _ = pairing.pair(uri)
    assert len(code) >= 22
    key = answer.data["key"]
    kept = box.databases.contents()
    for secret in (code, key):
        assert secret.encode() not in kept and secret not in box.log_text()


@pytest.mark.parametrize("body, fields", [
    ({}, {"code": "required"}), ({"code": 5}, {"code": "wrong_type"}), ({"code": None}, {"code": "required"}),
    ({"code": "x" * 500}, {"code": "too_long"})])
def test_a_body_without_a_code_is_invalid(box, body, fields):
    with contextlib.closing(box.client()) as client:
        invalid(client.post("/auth/pair", body), **fields)


def test_guesses_are_404_then_429_and_a_good_code_from_there_works(box):
    good = pairing.read(pairing.make_uri(box))["c"]
    statuses = [post(box, f"guess{n:017}", "127.0.2.1").status for n in range(25)]
    assert statuses == [404] * 20 + [429] * 5
    late = post(box, "x", "127.0.2.1")
    refused(late, 429, "rate_limit_exceeded")
    assert int(late.headers["retry-after"]) > 0
    assert post(box, good, "127.0.2.1").status == 201
    assert post(box, "another-guess", "127.0.2.2").status == 404


def test_many_guesses_from_many_addresses_find_nothing_and_lock_nobody_out(box):
    good = pairing.read(pairing.make_uri(box))["c"]
    count, statuses = (100_000 if LONG else 4_000), collections.Counter()
    for number in range(40):
        with contextlib.closing(http.client.HTTPSConnection(
                "127.0.0.1", box.port, timeout=PATIENCE_S, source_address=(f"127.0.3.{number + 1}", 0),
                context=context_of(box))) as client:
            for guess in range(count // 40):
                client.request("POST", "/auth/pair", json.dumps({"code": f"{number:04}{guess:018}"}))
                answer = client.getresponse()
                answer.read()
                statuses[answer.status] += 1
    assert statuses == {404: 40 * 20, 429: count - 40 * 20}
    # A code that is right works, also from where the guesses came.
    assert post(box, good, "127.0.3.1").status == 201


def test_guesses_are_in_the_audit_log_without_filling_it(box):
    """At most 20 rows a minute, however many there are; the first row after that says how many were left out."""
    before = box.value("SELECT count(*) FROM audit")
    for n in range(60):
        post(box, f"guess{n}", f"127.0.3.{n + 1}")
    written = box.value("SELECT count(*) FROM audit") - before
    assert written <= 40  # the minute may turn meanwhile


def test_a_code_needs_a_name(box):
    result = box.command("pair", "--data", str(box.data), "--name", "", "--scopes", "orders:read", check=False)
    assert result.returncode == 1 and "name" in result.stderr


def test_no_device_makes_codes(box):
    key = box.make_key()["key"]
    with contextlib.closing(box.client(key)) as client:
        assert client.post("/control/pairing-codes", {"name": "x", "scopes": ["orders:read"]}).status == 404


def test_the_qr_code_in_the_terminal_is_the_text(box):
    """Light modules are drawn; inverted they are the dark ones."""
    shown = [box.command("pair", "--data", str(box.data), "--name", "Till", "--scopes", "orders:read", "--address",
                         "192.168.1.50", *more).stdout for more in ([], ["--invert"])]
    for text, ink in zip(shown, ("light", "dark")):
        lines = text.split("\n")
        code = [line for line in lines if line and set(line) <= set(" ▀▄█")]
        side = len(lines[0])
        assert len(code) >= side // 2 - 4 and "comanda://pair?h=192.168.1.50&n=" in text
        corner = {"light": "█", "dark": " "}[ink]
        assert lines[0][0] == corner


def test_a_code_survives_a_restart_and_not_its_ten_minutes(box):
    """Made while no server runs; the server reads it at its start."""
    other = Box()
    try:
        other.bring_in("demo")
        other.start()
        assert other.stop() == 0
        kept, late = pairing.make_uri(other), pairing.make_uri(other)
        made = other.rows("SELECT hash FROM pairing_code ORDER BY made_at, id")
        other.execute("UPDATE pairing_code SET made_at = made_at - 700000, expires_at = expires_at - 700000 WHERE hash = ?",
                      *made[1])
        other.start()
        assert pairing.pair(kept)[0].status == 201
        refused(pairing.pair(late)[0], 404, "not_found")
    finally:
        assert other.discard() == 0


def test_a_code_of_a_damaged_row_grants_nothing(tmp_path):
    box = Box(data=tmp_path)
    box.bring_in("demo")
    box.start()
    try:
        uri = pairing.make_uri(box)
        box.execute("UPDATE pairing_code SET scopes = 'orders:read,orders:write,reports:read'")
        assert pairing.pair(uri)[0].status in (500, 503)
        assert box.rows("SELECT count(*) FROM api_key") == [(0,)]
    finally:
        box.discard()


@pytest.mark.box_only
def test_a_restored_backup_ends_the_codes_in_it(tmp_path):
    """One may have been used after the backup was made."""
    box = Box(data=tmp_path / "data")
    box.bring_in("demo")
    box.start()
    try:
        uri = pairing.make_uri(box)
        box.command("backup", str(tmp_path / "copy"), "--data", str(box.data))
        assert pairing.pair(uri)[0].status == 201
        assert box.stop() == 0
        box.command("restore", str(tmp_path / "copy"), "--data", str(box.data), "--yes")
        box.start()
        refused(pairing.pair(uri)[0], 404, "not_found")
    finally:
        box.discard()
