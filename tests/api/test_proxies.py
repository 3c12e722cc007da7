"""The address of a client behind a proxy (contract 23): who is counted, allowed and noted is the client, where the operator has
named the proxy, and the peer otherwise."""

import contextlib

import pytest

from support import pairing
from support.box import Box
from support.orders import accepted, new_key, refused
from support.waiting import wait_until

TILL, OTHER = "203.0.113.7", "198.51.100.1"
SECOND_PROXY = "10.0.0.12"


def from_(*entries):
    return {"X-Forwarded-For": ", ".join(entries)}


@pytest.fixture(scope="module")
def box():
    """The peer of every request here is a proxy."""
    box = Box()
    box.bring_in("demo")
    box.settings = f"proxy_networks = 127.0.0.1, {SECOND_PROXY}, 2001:db8:1::/48\n"
    box.start()
    yield box
    assert box.discard() == 0


@pytest.fixture(scope="module")
def owner(box):
    with contextlib.closing(box.client(box.make_key()["key"])) as client:
        yield client


def made(owner, *ranges):
    key = accepted(owner.send("POST", "/auth/api-keys", {"name": "till", "scopes": ["orders:read"], "allowed_cidrs": list(ranges)},
                              new_key()), 201)
    return key


def asked(box, key, **headers):
    with contextlib.closing(box.client(key)) as client:
        return client.get("/v1/orders", **headers)


def test_a_key_is_allowed_by_the_address_of_its_client(box, owner):
    key = made(owner, TILL + "/32")["key"]
    assert asked(box, key, **from_(TILL)).status == 200
    assert asked(box, key, **from_(OTHER, TILL)).status == 200
    assert asked(box, key, **from_(OTHER, TILL, SECOND_PROXY)).status == 200
    for headers in ({}, from_(OTHER), from_(TILL, OTHER), from_(TILL, OTHER, SECOND_PROXY), from_(SECOND_PROXY)):
        refused(asked(box, key, **headers), 403, "address_not_allowed")


def test_a_key_is_allowed_by_an_ipv6_address(box, owner):
    key = made(owner, "2001:db8:2::/48")["key"]
    assert asked(box, key, **from_("2001:db8:2::1")).status == 200
    assert asked(box, key, **from_("2001:DB8:2:0::1", "2001:db8:1::9")).status == 200
    refused(asked(box, key, **from_("2001:db8:3::1")), 403, "address_not_allowed")


@pytest.mark.parametrize("value", ["", "unknown", TILL + ",", TILL + ":4711", "203.0.113.999", "a" * 40,
                                   ", ".join([TILL] * 80)])
def test_what_is_no_list_of_addresses_is_refused(box, owner, value):
    answer = asked(box, owner.key, **{"X-Forwarded-For": value})
    refused(answer, 400, "invalid_header")
    assert "X-Forwarded-For" in answer.json["detail"]


def test_a_refused_list_ends_no_connection(box, owner):
    with contextlib.closing(box.client(owner.key)) as client:
        client.connect()
        connection = client.connection
        assert client.post("/v1/orders", {"service_type": "ONSITE"}, {**new_key(), "X-Forwarded-For": "?"}).status == 400
        assert client.get("/v1/orders").status == 200 and client.connection is connection


def test_the_last_use_of_a_key_has_the_address_of_the_client(box, owner):
    key = made(owner)
    assert asked(box, key["key"], **from_(TILL)).status == 200
    wait_until(lambda: accepted(owner.get(f"/auth/api-keys/{key['id']}"))["last_used_ip"] == TILL, "the last use")


def test_audit_has_the_address_of_the_client(box):
    code = pairing.read(pairing.make_uri(box))["c"]
    with contextlib.closing(box.client()) as nobody:
        assert nobody.post("/auth/pair", {"code": code}, from_(OTHER)).status == 201
        refused(nobody.post("/auth/pair", {"code": code}, from_(TILL)), 404, "not_found")
    assert box.rows("SELECT actor FROM audit WHERE action = 'pairing.refused'") == [("address:" + TILL,)]


def test_unknown_keys_are_counted_by_the_address_of_the_client(box, owner):
    """One client that guesses keys does not shut out the others behind the same proxy."""
    def guess(address):
        return asked(box, "cmd_live_00000000000000000000000000000000000000", **from_(address)).status

    for _ in range(200):
        if guess("192.0.2.66") == 429:
            break
    else:
        raise AssertionError("never refused")
    assert guess(OTHER) == 401
    assert asked(box, owner.key, **from_(TILL)).status == 200


def test_metrics_are_for_this_machine_alone(box):
    with contextlib.closing(box.client()) as client:
        assert client.get("/metrics").status == 200
        refused(client.get("/metrics", **from_(TILL)), 403, "address_not_allowed")


def test_open_connections_are_counted_by_the_address_of_the_client():
    """Of a client with many connections one is closed, and not of the others behind its proxy."""
    box = Box(options=["--workers", "16", "--proxy-networks", "127.0.0.1"])
    box.bring_in("demo")
    box.start()
    with contextlib.ExitStack() as stack:
        stack.callback(box.discard)
        clients = [stack.enter_context(contextlib.closing(box.client())) for _ in range(9)]
        assert clients[0].get("/healthz", **from_(TILL)).status == 200
        for client in clients[1:]:
            assert client.get("/healthz", **from_(OTHER)).status == 200
        wait_until(lambda: "connections have to be closed" in box.log_text(), box.log_text)
        assert f"one_of={OTHER}" in box.log_text(), box.log_text()
        assert clients[0].get("/healthz", **from_(TILL)).status == 200


def test_from_another_peer_the_header_means_nothing():
    box = Box(options=["--proxy-networks", "10.0.0.0/8"])
    box.bring_in("demo")
    box.start()
    with contextlib.ExitStack() as stack:
        stack.callback(box.discard)
        owner = stack.enter_context(contextlib.closing(box.client(box.make_key()["key"])))
        key = made(owner, "127.0.0.1/32")["key"]
        for headers in ({}, from_(TILL), from_("unknown"), from_(*[TILL] * 80)):
            assert asked(box, key, **headers).status == 200
        assert asked(box, made(owner, TILL)["key"], **from_(TILL)).status == 403


@pytest.mark.parametrize("value", ["10.0.0.1/8", "proxy.local", "10.0.0.0/33", "10.0.0.0/24,"])
def test_networks_that_are_none_are_refused(tmp_path, value):
    done = Box(tmp_path).command("config", "--data", str(tmp_path), "--proxy-networks", value, check=False)
    assert done.returncode == 1 and "proxy_networks" in done.stderr, done


@pytest.mark.parametrize("value", ["-1", "91", "half"])
def test_a_share_of_long_polls_that_is_none_is_refused(tmp_path, value):
    done = Box(tmp_path).command("config", "--data", str(tmp_path), "--long-polls-percent", value, check=False)
    assert done.returncode == 1 and "long_polls_percent must be a whole number from 0 to 90" in done.stderr, done
