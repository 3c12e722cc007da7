"""Who may ask: keys, environments, scopes, rates (contract sections 3 and 4)."""

import contextlib
import datetime
import functools
import http.client
import time
import zlib

import pytest

from support.box import PATIENCE_S, Box
from support.orders import accepted, new_key, refused
from support.raw import Wire, ask, head
from support.routes import SCOPED, SCOPES, SOME_ID
from support.waiting import wait_until, with_short_time

BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def whole_key(body, mode="live", prefix="cmd"):
    """A key with the right checksum."""
    begin = f"{prefix}_{mode}_{body}"
    number, digits = zlib.crc32(begin.encode()), ""
    for _ in range(6):
        number, digit = divmod(number, 62)
        digits = BASE62[digit] + digits
    return begin + digits


UNKNOWN = whole_key("x" * 32)


@pytest.fixture
def nobody(box):
    with contextlib.closing(box.client()) as client:
        yield client


@pytest.fixture(scope="module")
def own_box():
    """A box of our own: unknown keys are counted by address."""
    box = Box()
    box.bring_in("demo")
    box.start()
    yield box
    assert box.discard() == 0


def challenged(answer, code, error=None):
    refused(answer, 401, code)
    challenge = answer.headers["www-authenticate"]
    assert challenge.startswith("Bearer ")
    assert (f'error="{error}"' in challenge) if error else ("error=" not in challenge)


def test_the_checksum_is_the_documented_one():
    assert whole_key("0" * 32, "test") == "cmd_test_00000000000000000000000000000000370VcH"


def test_a_new_key_has_the_documented_form(key):
    prefix, mode, rest = key.split("_")
    assert (prefix, mode) == ("cmd", "live")
    assert len(rest) == 38 and set(rest) <= set(BASE62)
    assert key == whole_key(rest[:32])


# How a key is sent


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "Bearer  "])
def test_a_key_is_taken_from_authorization(nobody, key, scheme):
    assert nobody.get("/v1/orders", Authorization=f"{scheme} {key}").status == 200


def test_a_key_is_taken_from_x_api_key(nobody, key):
    assert nobody.get("/v1/orders", **{"X-API-Key": key}).status == 200


def test_the_same_key_in_both_headers_is_fine(nobody, key):
    assert nobody.get("/v1/orders", **{"Authorization": f"Bearer {key}", "X-API-Key": key}).status == 200


@pytest.mark.parametrize("other", [UNKNOWN, "", "nonsense"])
def test_different_keys_in_both_headers_are_400(nobody, key, other):
    answer = nobody.get("/v1/orders", **{"Authorization": f"Bearer {key}", "X-API-Key": other})
    refused(answer, 400, "conflicting_credentials")


@pytest.mark.parametrize("fields", [
    ["Authorization: Bearer {key}", "authorization: Bearer {other}"], ["Authorization: Bearer {other}", "Authorization: Bearer {key}"],
    ["X-API-Key: {key}", "X-Api-Key: {other}"], ["X-API-Key: {key}", "X-API-Key:"], ["Authorization: Bearer {key}", "Authorization: Basic x"]])
def test_a_header_with_a_key_that_comes_twice_and_differs_is_400(box, key, fields):
    answer = ask(box, head("GET", "/v1/orders", *[f.format(key=key, other=UNKNOWN) for f in fields]))
    refused(answer, 400, "conflicting_credentials", says="twice")
    assert ask(box, head("GET", "/v1/orders", *[fields[0].format(key=key, other=key)] * 2)).status == 200


def test_no_key_is_401_and_says_how_to_send_one(nobody):
    answer = nobody.get("/v1/orders")
    challenged(answer, "unauthorized")
    assert "Authorization: Bearer" in answer.json["detail"] and "X-API-Key" in answer.json["detail"]


@pytest.mark.parametrize("name", ["key", "api_key", "apikey", "token", "access_token"])
def test_a_key_in_the_query_is_never_taken(nobody, key, name):
    challenged(nobody.get(f"/v1/orders?{name}={key}"), "unauthorized")


def test_a_key_in_the_path_of_an_answer_is_not_repeated_with_the_query(nobody, key):
    assert key.encode() not in nobody.get(f"/v1/orders?api_key={key}").body


@pytest.mark.parametrize("authorization", ["Basic {key}", "Bearer", "{key}", "Token {key}", "Bearer{key}"])
def test_another_scheme_is_401(nobody, key, authorization):
    challenged(nobody.get("/v1/orders", Authorization=authorization.format(key=key)), "unauthorized")


def test_another_scheme_beside_x_api_key_does_not_disturb(nobody, key):
    assert nobody.get("/v1/orders", **{"Authorization": "Basic eDp5", "X-API-Key": key}).status == 200


def test_a_key_is_never_written_to_the_log(box, nobody, key):
    nobody.get("/v1/orders", Authorization=f"Bearer {key}")
    nobody.post("/v1/orders", {"service_type": "NONE"}, {"X-API-Key": key, **new_key()})
    assert key not in box.log_text()
    assert key[20:] not in box.log_text()


# Which keys are good


def test_a_key_whose_checksum_does_not_fit_is_told_so_and_an_unknown_one_too(own_box, key):
    with contextlib.closing(own_box.client()) as nobody:
        mistyped = key[:-1] + ("0" if key[-1] != "0" else "1")
        answer = nobody.get("/v1/orders", Authorization=f"Bearer {mistyped}")
        challenged(answer, "unauthorized")
        assert "mistyped" in answer.json["detail"]
        answer = nobody.get("/v1/orders", Authorization=f"Bearer {UNKNOWN}")
        challenged(answer, "unauthorized")
        assert "not known" in answer.json["detail"]


def test_a_key_of_the_sandbox_is_wrong_environment_known_or_not(box, nobody):
    box.bring_in("demo", env="test")
    for test_key in (box.make_key(env="test")["key"], whole_key("y" * 32, "test")):
        answer = nobody.get("/v1/orders", Authorization=f"Bearer {test_key}")
        challenged(answer, "wrong_environment", "invalid_token")
        assert "test" in answer.json["detail"] and "live" in answer.json["detail"]


def test_a_revoked_key_is_refused_on_the_very_next_request(box, demo, nobody):
    made = box.make_key(company=demo["id"])
    bearer = {"Authorization": f"Bearer {made['key']}"}
    assert nobody.get("/v1/orders", **bearer).status == 200
    box.command("keys", "revoke", made["id"], "--data", str(box.data), "--company", demo["id"])
    challenged(nobody.get("/v1/orders", **bearer), "key_revoked", "invalid_token")


def test_a_replay_is_refused_when_its_key_was_revoked_since(box, demo, nobody):
    made = box.make_key(company=demo["id"])
    headers = {"Authorization": f"Bearer {made['key']}", **new_key()}
    accepted(nobody.post("/v1/orders", {"service_type": "ONSITE"}, headers), 201)
    assert nobody.post("/v1/orders", {"service_type": "ONSITE"}, headers).headers["idempotency-replayed"] == "true"
    box.command("keys", "revoke", made["id"], "--data", str(box.data), "--company", demo["id"])
    challenged(nobody.post("/v1/orders", {"service_type": "ONSITE"}, headers), "key_revoked", "invalid_token")


def test_a_key_ends_when_it_expires(api, nobody):
    now = functools.partial(datetime.datetime.now, datetime.timezone.utc)

    def short_key(seconds):
        answer = api.post("/auth/api-keys", {"name": "short", "scopes": ["orders:read"],
                                             "expires_at": (now() + datetime.timedelta(seconds=seconds)).isoformat()})
        return answer.data if answer.status == 201 else None

    made = with_short_time(short_key)
    end = datetime.datetime.fromisoformat(made["expires_at"].replace("Z", "+00:00"))
    bearer = {"Authorization": f"Bearer {made['key']}"}
    status = nobody.get("/v1/orders", **bearer).status
    assert status == 200 or now() >= end
    wait_until(lambda: now() > end, "the end of the key", 60 + PATIENCE_S)
    answer = nobody.get("/v1/orders", **bearer)
    challenged(answer, "key_expired", "invalid_token")
    assert made["expires_at"] in answer.json["detail"]


@pytest.mark.parametrize("ranges, status", [
    (["127.0.0.1"], 200), (["127.0.0.0/8"], 200), (["10.0.0.0/8", "127.0.0.1/32"], 200), (["0.0.0.0/0"], 200),
    (["192.168.1.0/24"], 403), (["::1"], 403), (["2001:db8::/32"], 403)])
def test_a_key_is_good_from_its_addresses_alone(api, nobody, ranges, status):
    made = accepted(api.post("/auth/api-keys", {
        "name": "till", "scopes": ["orders:read"], "allowed_cidrs": ranges}), 201)
    for forged in ({}, {"X-Forwarded-For": "192.168.1.7", "Forwarded": "for=192.168.1.7", "X-Real-IP": "192.168.1.7"}):
        answer = nobody.get("/v1/orders", **{"Authorization": f"Bearer {made['key']}", **forged})
        assert answer.status == status, answer.body
        if status == 403:
            refused(answer, 403, "address_not_allowed", says="127.0.0.1")


# Scopes


@pytest.fixture(scope="module")
def all_but(box, demo):
    """The key with every scope but that one."""
    made = {}

    def get(scope):
        if scope not in made:
            made[scope] = box.make_key(scopes=",".join(s for s in SCOPES if s != scope), company=demo["id"])["key"]
        return made[scope]

    return get


@pytest.mark.parametrize("route", SCOPED, ids=str)
def test_all_scopes_but_the_right_one_are_403_and_the_answer_names_it(nobody, all_but, route):
    answer = nobody.send(route.method, route.path, {} if route.method in ("POST", "PUT", "PATCH") else None,
                         {"Authorization": f"Bearer {all_but(route.access)}"})
    refused(answer, 403, "insufficient_scope", says=route.access)
    assert f'scope="{route.access}"' in answer.headers["www-authenticate"]
    assert 'error="insufficient_scope"' in answer.headers["www-authenticate"]


@pytest.mark.parametrize("route", SCOPED, ids=str)
def test_the_right_scope_alone_is_enough(nobody, box, demo, only, route):
    answer = nobody.send(route.method, route.path, {} if route.method in ("POST", "PUT", "PATCH") else None,
                         {"Authorization": f"Bearer {only(route.access)}"})
    assert answer.status not in (401, 403), answer.body


@pytest.fixture(scope="module")
def only(box, demo):
    """The key with that scope alone."""
    made = {}

    def get(scope):
        if scope not in made:
            made[scope] = box.make_key(scopes=scope, company=demo["id"])["key"]
        return made[scope]

    return get


def test_the_scope_is_looked_at_before_the_body(nobody, only):
    answer = nobody.post("/v1/orders", b"no json", {
        "Authorization": f"Bearer {only('orders:read')}", "Content-Type": "text/plain"})
    refused(answer, 403, "insufficient_scope")


# Rates


def rates(answer):
    return tuple(int(answer.headers[f"ratelimit-{name}"]) for name in ("limit", "remaining", "reset"))


@pytest.mark.parametrize("tier, limit", [("standard", 100), ("plus", 600), ("lan", 3000)])
def test_every_answer_to_a_key_tells_its_rate(box, demo, tier, limit):
    with contextlib.closing(box.client(box.make_key(tier=tier, company=demo["id"])["key"])) as client:
        first = rates(client.get("/v1/orders?per_page=1"))
        assert first == (limit, limit - 1, 1)
        # A whole request may come back meanwhile.
        second = rates(client.get("/v1/orders/nonsense"))
        assert second[0] == limit and limit - 2 <= second[1] < limit


@pytest.mark.parametrize("request_, status", [
    (("GET", "/v1/orders"), 200), (("GET", "/v1/orders?x=1"), 400), (("GET", "/auth/api-keys"), 403),
    (("GET", f"/v1/orders/{SOME_ID}"), 404), (("POST", "/v1/orders", b"no json", {"Content-Type": "text/plain"}), 415),
    (("POST", "/v1/orders", {}, {"Idempotency-Key": "x"}), 422)])
def test_refusals_tell_the_rate_too(box, demo, request_, status):
    key = box.make_key(scopes="orders:read,orders:write", tier="lan", company=demo["id"])["key"]
    with contextlib.closing(box.client(key)) as client:
        answer = client.send(*request_)
        assert answer.status == status
        assert rates(answer) == (3000, 2999, 1)


def test_unlimited_has_no_rate_headers(api):
    assert not [n for n in api.get("/v1/orders").headers if n.startswith("ratelimit")]


def test_open_paths_and_unknown_keys_have_no_rate_headers(box, nobody):
    for answer in (nobody.get("/healthz"), nobody.get("/v1/orders")):
        assert not [n for n in answer.headers if n.startswith("ratelimit")]


def test_the_101st_request_of_a_standard_key_waits_and_nobody_else_does(box, demo, api):
    with contextlib.closing(box.client(box.make_key(tier="standard", company=demo["id"])["key"])) as client:
        begin = time.monotonic()
        answers = []
        while not answers or answers[-1].status == 200:
            answers.append(client.get("/v1/orders?per_page=1"))
        # 100 at once, and one more for each 0.6 s that went by.
        assert 100 <= len(answers) - 1 <= 101 + (time.monotonic() - begin) / 0.6
        refusal = answers[-1]
        refused(refusal, 429, "rate_limit_exceeded")
        assert int(refusal.headers["retry-after"]) == 1
        assert rates(refusal) == (100, 0, 1)
        assert api.get("/v1/orders?per_page=1").status == 200
        time.sleep(int(refusal.headers["retry-after"]))
        assert client.get("/v1/orders?per_page=1").status == 200


def test_a_304_costs_nothing(box, demo):
    with contextlib.closing(box.client(box.make_key(tier="standard", company=demo["id"])["key"])) as client:
        order = client.place()
        tag = client.get(f"/v1/orders/{order['id']}").etag
        before = rates(client.get("/v1/orders?per_page=1"))[1]
        for _ in range(120):
            answer = client.get(f"/v1/orders/{order['id']}", **{"If-None-Match": tag})
            assert answer.status == 304
            assert rates(answer)[1] >= before


def test_a_rate_belongs_to_the_key_and_outlives_a_change_of_it(box, demo, api):
    made = accepted(api.post("/auth/api-keys", {"name": "till", "scopes": ["orders:read"]}), 201)
    assert made["tier"] == "standard"
    with contextlib.closing(box.client(made["key"])) as client:
        begin = time.monotonic()
        for _ in range(50):
            client.get("/v1/orders?per_page=1")
        accepted(api.patch(f"/auth/api-keys/{made['id']}", {"name": "till 2"}))
        left = rates(client.get("/v1/orders?per_page=1"))[1]
        assert left <= 50 + (time.monotonic() - begin) / 0.6


@pytest.mark.parametrize("tier, most", [("standard", 8), ("plus", 32)])
def test_a_key_has_only_so_many_requests_under_way_at_once(box, demo, api, tier, most):
    key = box.make_key(tier=tier, company=demo["id"])["key"]
    body = b'{"service_type":"ONSITE"}'
    with contextlib.ExitStack() as stack:
        waiting = []
        for n in range(most):
            wire = stack.enter_context(Wire(box))
            wire.send(head("POST", "/v1/orders", f"X-API-Key: {key}", f"Idempotency-Key: crowd-{tier}-{n}",
                           f"Content-Length: {len(body)}", "Expect: 100-continue"))
            assert wire.interim() == 100  # admitted, and waits for its body
            waiting.append(wire)
        with contextlib.closing(box.client(key)) as client:
            answer = client.get("/v1/orders")
            refused(answer, 429, "rate_limit_exceeded")
            assert answer.headers["retry-after"] == "1"
            assert api.get("/v1/orders?per_page=1").status == 200
            for wire in waiting:
                assert wire.send(body).answer().status == 201
            assert client.get("/v1/orders").status == 200


def test_rates_are_settings():
    box = Box(options=["--rate_standard", "7", "--rate_lan", "11"])
    try:
        box.bring_in("demo")
        keys = {tier: box.make_key(tier=tier)["key"] for tier in ("standard", "lan")}
        box.start()
        for tier, limit in (("standard", 7), ("lan", 11)):
            with contextlib.closing(box.client(keys[tier])) as client:
                assert rates(client.get("/v1/orders"))[:2] == (limit, limit - 1)
    finally:
        box.discard()


def test_the_rate_is_looked_at_before_the_scope():
    box = Box(options=["--rate_standard", "1"])
    try:
        box.bring_in("demo")
        key = box.make_key(scopes="menu:read", tier="standard")["key"]
        box.start()
        with contextlib.closing(box.client(key)) as client:
            refused(client.get("/v1/orders"), 403, "insufficient_scope")
            answer = client.post("/v1/orders", b"no json")
            refused(answer, 429, "rate_limit_exceeded")
            assert 1 <= int(answer.headers["retry-after"]) <= 60
            assert rates(answer)[2] == int(answer.headers["retry-after"])
    finally:
        box.discard()


def test_twenty_unknown_keys_a_minute_and_then_429_but_a_good_key_is_never_affected():
    box = Box()
    try:
        box.bring_in("demo")
        good = {"Authorization": f"Bearer {box.make_key()['key']}"}
        box.start()
        with contextlib.closing(box.client()) as client:
            for n in range(20):
                wrong = whole_key(f"{n:032}") if n % 2 else f"mistyped{n}"
                challenged(client.get("/v1/orders", Authorization=f"Bearer {wrong}"), "unauthorized")
            for wrong in (UNKNOWN, "mistyped"):
                answer = client.get("/v1/orders", Authorization=f"Bearer {wrong}")
                refused(answer, 429, "rate_limit_exceeded")
                assert 1 <= int(answer.headers["retry-after"]) <= 60
            assert client.get("/v1/orders", **good).status == 200
            # Not a key at all is no failure with a key.
            challenged(client.get("/v1/orders"), "unauthorized")
            assert client.get("/healthz").status == 200
    finally:
        box.discard()


@contextlib.contextmanager
def from_source(box, source):
    """A client whose requests come from that address of this machine."""
    client = box.client()
    client.connection = http.client.HTTPSConnection(
        "127.0.0.1", box.port, timeout=PATIENCE_S, context=client.tls(), source_address=(source, 0))
    with contextlib.closing(client):
        yield client


def test_guessing_is_slowed_by_address_and_locks_nobody_out():
    box = Box()
    try:
        box.bring_in("demo")
        good = box.make_key()["key"]
        box.start()
        guesser, till, office = "127.0.0.66", "127.0.0.67", "127.0.0.68"

        def code_for(source, key, **headers):
            with from_source(box, source) as client:
                answer = client.get("/v1/orders?per_page=1", Authorization=f"Bearer {key}", **headers)
                return 200 if answer.status == 200 else answer.code

        codes = [code_for(guesser, whole_key(f"{n:032}")) for n in range(30)]
        assert codes == ["unauthorized"] * 20 + ["rate_limit_exceeded"] * 10
        # The till beside it, behind the same address, works on; so does a key made meanwhile.
        assert code_for(guesser, good) == 200
        assert code_for(guesser, box.make_key(name="second")["key"]) == 200
        # The next address begins with its own count, whatever it says of itself.
        assert code_for(till, UNKNOWN) == "unauthorized"
        assert code_for(guesser, UNKNOWN, **{"X-Forwarded-For": office}) == "rate_limit_exceeded"
        # What is no guess does not count: revoked, of the other environment, without a scope.
        gone = box.make_key(name="gone", scopes="menu:read")
        for _ in range(25):
            assert code_for(office, gone["key"]) == "insufficient_scope"
        box.command("keys", "revoke", gone["id"], "--data", str(box.data))
        for _ in range(25):
            assert code_for(office, gone["key"]) == "key_revoked"
        assert code_for(office, UNKNOWN) == "unauthorized"
    finally:
        box.discard()
