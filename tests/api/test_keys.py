"""Keys through the API (contract section 3, and Keys in section 19)."""

import contextlib
import datetime
import functools
import json
import random

import pytest

from support.box import Box
from support.orders import INSTANT, UUID, accepted, in_days, invalid, new_key, refused
from support.routes import SCOPES, SOME_ID
from support.waiting import wait_until

RECORD = {"id", "name", "key_prefix", "last_four", "mode", "scopes", "tier", "role", "idle_days", "allowed_cidrs", "created_at", "updated_at",
          "last_used_at", "last_used_ip", "expires_at", "revoked_at"}
PATH = "/auth/api-keys"


def make(api, status=201, **fields):
    fields.setdefault("name", "till")
    fields.setdefault("scopes", ["orders:read"])
    return accepted(api.post(PATH, fields), status)


def read(api, made):
    return accepted(api.get(f"{PATH}/{made['id']}"))


def opens(box, key, path="/v1/orders?per_page=1"):
    """The status and, if any, the code that a key gets."""
    with contextlib.closing(box.client(key)) as client:
        answer = client.get(path)
        return answer.status if answer.status == 200 else answer.code


def audit(box, made):
    """[(actor, action, detail)] of a key, oldest first."""
    return [(actor, action, json.loads(detail)) for actor, action, detail in box.rows(
        "SELECT actor, action, detail FROM audit WHERE subject_id = ? ORDER BY seq", made["id"])]


@pytest.fixture
def lonely():
    """A box of our own with one managing key: (box, client, key)."""
    box = Box()
    box.bring_in("demo")
    made = box.make_key(name="owner")
    box.start()
    with contextlib.closing(box.client(made["key"])) as client:
        yield box, client, made
    assert box.discard() == 0


# Creating


def test_a_new_key_is_shown_once_and_opens_what_it_should(box, api):
    answer = api.post(PATH, {"name": "till 1", "scopes": ["orders:write", "orders:read", "orders:read"]})
    made = accepted(answer, 201)
    assert answer.headers["location"] == f"{PATH}/{made['id']}"
    assert answer.headers["cache-control"] == "no-store"
    assert set(made) == RECORD | {"key"}
    assert UUID.fullmatch(made["id"])
    assert made["name"] == "till 1"
    assert made["scopes"] == ["orders:read", "orders:write"]
    assert (made["mode"], made["tier"], made["allowed_cidrs"]) == ("live", "standard", [])
    assert (made["key_prefix"], made["last_four"]) == (made["key"][:12], made["key"][-4:])
    assert INSTANT.fullmatch(made["created_at"]) and made["updated_at"] == made["created_at"]
    assert [made[n] for n in ("last_used_at", "last_used_ip", "expires_at", "revoked_at")] == [None] * 4
    assert opens(box, made["key"]) == 200
    shown = read(api, made)
    assert set(shown) == RECORD and made["key"] not in json.dumps(shown)


def test_the_box_keeps_no_key_but_its_hash(box, api):
    made = make(api)
    kept = box.databases.contents()
    assert made["id"].encode() in kept
    assert made["key"].encode() not in kept and made["key"][20:].encode() not in kept


def test_the_use_of_a_key_is_shown(box, api):
    made = make(api)
    assert opens(box, made["key"]) == 200
    shown = read(api, made)
    assert INSTANT.fullmatch(shown["last_used_at"]) and shown["last_used_ip"] == "127.0.0.1"


def test_all_that_may_be_sent_is_kept(api):
    end = in_days(30)
    made = make(api, tier="plus", expires_at=end, allowed_cidrs=["192.168.1.0/24", "2001:db8::/32"])
    assert (made["tier"], made["expires_at"], made["allowed_cidrs"]) == \
        ("plus", end, ["192.168.1.0/24", "2001:db8::/32"])
    assert read(api, made) == {n: v for n, v in made.items() if n != "key"}


BAD = {
    "no name": ({"name": None}, {"name": "required"}),
    "an empty name": ({"name": " "}, {"name": "empty"}),
    "a long name": ({"name": "x" * 201}, {"name": "too_long"}),
    "a name that is a number": ({"name": 1}, {"name": "wrong_type"}),
    "a name with a control byte": ({"name": "a\x07"}, {"name": "invalid_format"}),
    "no scopes": ({"scopes": None}, {"scopes": "required"}),
    "an empty list of scopes": ({"scopes": []}, {"scopes": "empty"}),
    "scopes as text": ({"scopes": "orders:read"}, {"scopes": "wrong_type"}),
    "a scope that is none": ({"scopes": ["orders:read", "orders:delete"]}, {"scopes[1]": "unknown_value"}),
    "a scope in capitals": ({"scopes": ["ORDERS:READ"]}, {"scopes[0]": "unknown_value"}),
    "the command line's word for all": ({"scopes": ["all"]}, {"scopes[0]": "unknown_value"}),
    "a scope that is a number": ({"scopes": [1]}, {"scopes[0]": "wrong_type"}),
    "a tier that is none": ({"tier": "gold"}, {"tier": "unknown_value"}),
    "an end that is past": ({"expires_at": "2020-01-01T00:00:00Z"}, {"expires_at": "out_of_range"}),
    "an end without a zone": ({"expires_at": "2030-01-01T00:00:00"}, {"expires_at": "invalid_format"}),
    "an end that is a number": ({"expires_at": 1893456000}, {"expires_at": "wrong_type"}),
    "an address that is none": ({"allowed_cidrs": ["till"]}, {"allowed_cidrs[0]": "invalid_format"}),
    "a range that is too wide": ({"allowed_cidrs": ["10.0.0.0/33"]}, {"allowed_cidrs[0]": "invalid_format"}),
    "a range with bits behind its prefix": ({"allowed_cidrs": ["10.0.0.1/8"]}, {"allowed_cidrs[0]": "invalid_format"}),
    "a key of one's own": ({"key": "secret"}, {"key": "read_only"}),
    "an id of one's own": ({"id": SOME_ID}, {"id": "read_only"}),
    "a mode": ({"mode": "test"}, {"mode": "read_only"}),
    "a revocation": ({"revoked_at": "2030-01-01T00:00:00Z"}, {"revoked_at": "read_only"}),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_field_is_named_and_no_key_is_made(api, name):
    fields, wrong = BAD[name]
    before = api.get(PATH).json["pagination"]["total"]
    body = {n: v for n, v in {"name": "till", "scopes": ["orders:read"], **fields}.items()}
    refused(api.post(PATH, body), 422, "validation_failed", wrong)
    assert api.get(PATH).json["pagination"]["total"] == before


def test_all_bad_fields_are_named_at_once(api):
    invalid(api.post(PATH, {"tier": "gold", "scopes": [], "expires_at": "tomorrow"}),
            tier="unknown_value", scopes="empty", expires_at="invalid_format", name="required")


def test_a_name_of_two_hundred_characters_is_fine(api):
    assert make(api, name="ñ" * 200)["name"] == "ñ" * 200


# What a key may grant


def test_nobody_grants_a_scope_that_one_lacks(box, demo):
    with contextlib.closing(box.client(box.make_key(
            scopes="api-keys:write,api-keys:read,orders:read", company=demo["id"])["key"])) as manager:
        make(manager)
        answer = manager.post(PATH, {"name": "x", "scopes": ["orders:read", "orders:write"]})
        refused(answer, 403, "insufficient_scope", says="orders:write")
        made = make(manager)
        refused(manager.patch(f"{PATH}/{made['id']}", {"scopes": ["orders:write"]}), 403, "insufficient_scope",
                says="orders:write")


@pytest.mark.parametrize("scope", ["api-keys:read", "api-keys:write", "admin:read", "admin:write"])
def test_only_the_command_line_grants_the_management_of_keys(api, scope):
    refused(api.post(PATH, {"name": "x", "scopes": [scope]}), 403, "insufficient_scope", says=scope)
    made = make(api)
    refused(api.patch(f"{PATH}/{made['id']}", {"scopes": ["orders:read", scope]}), 403, "insufficient_scope", says=scope)


def test_nobody_grants_a_higher_tier_than_ones_own(box, demo):
    with contextlib.closing(box.client(box.make_key(tier="plus", company=demo["id"])["key"])) as manager:
        assert make(manager, tier="plus")["tier"] == "plus"
        assert make(manager, tier="standard")["tier"] == "standard"
        for tier in ("lan", "unlimited"):
            refused(manager.post(PATH, {"name": "x", "scopes": ["orders:read"], "tier": tier}), 403,
                    "insufficient_scope", says=[tier, "plus"])


def test_the_command_line_grants_everything(box, demo, api):
    made = box.make_key(scopes="all", company=demo["id"])
    assert set(read(api, made)["scopes"]) == set(SCOPES)


# Listing


def test_a_list_has_whole_records_newest_first(api):
    names = [make(api, name=f"listed {n}")["name"] for n in range(3)]
    answer = api.get(f"{PATH}?per_page=3")
    assert [k["name"] for k in answer.data] == names[::-1]
    assert all(set(k) == RECORD for k in answer.data)
    assert answer.json["pagination"]["has_more"] is True
    assert answer.headers["cache-control"] == "no-store"


def test_a_list_is_sorted_by_name_without_accents_and_case():
    box = Box()
    try:
        box.bring_in("demo")
        for name in ("b", "É", "a", "C", "d"):
            key = box.make_key(name=name)["key"]
        box.start()
        with contextlib.closing(box.client(key)) as client:
            assert [k["name"] for k in client.get(f"{PATH}?sort=name").data] == ["a", "b", "C", "d", "É"]
            assert [k["name"] for k in client.get(f"{PATH}?sort=-name").data] == ["É", "d", "C", "b", "a"]
            assert [k["name"] for k in client.get(f"{PATH}?sort=created_at").data] == ["b", "É", "a", "C", "d"]
            pages = [client.get(f"{PATH}?sort=name&per_page=2&page={n}") for n in (1, 2, 3, 4)]
            assert [[k["name"] for k in p.data] for p in pages] == [["a", "b"], ["C", "d"], ["É"], []]
            assert [p.json["pagination"]["has_more"] for p in pages] == [True, True, False, False]
            assert pages[0].json["pagination"] == {"current_page": 1, "per_page": 2, "total": 5, "has_more": True}
    finally:
        box.discard()


def test_a_walk_leaves_out_keys_made_meanwhile(api):
    made = {make(api, name=f"walk {i}")["id"] for i in range(3)}
    first = api.get(PATH + "?per_page=2&sort=created_at")
    total = first.json["pagination"]["total"]
    later = make(api, name="later")["id"]
    seen = [k["id"] for k in first.data]
    for page in range(2, (total + 1) // 2 + 1):
        answer = api.get(f"{PATH}?per_page=2&page={page}&sort=created_at"
                         f"&filter[snapshot]={first.headers['x-snapshot']}")
        assert answer.json["pagination"]["total"] == total and "x-snapshot" not in answer.headers
        seen += [k["id"] for k in answer.data]
    assert len(seen) == len(set(seen)) == total and made <= set(seen) and later not in seen
    assert answer.json["pagination"]["has_more"] is False
    refused(api.get(PATH + "?filter[snapshot]=now"), 400, "invalid_parameter", {"filter[snapshot]": "invalid_format"})


def test_active_keys_can_be_listed_alone(api):
    alive, dead = make(api), make(api)
    accepted(api.delete(f"{PATH}/{dead['id']}"))

    def ids(query):
        return {k["id"] for k in api.get(f"{PATH}?per_page=100&{query}").data}

    assert alive["id"] in ids("filter[active]=true") and dead["id"] not in ids("filter[active]=true")
    assert dead["id"] in ids("filter[active]=false") and alive["id"] not in ids("filter[active]=false")
    assert {alive["id"], dead["id"]} <= ids("")


@pytest.mark.parametrize("query", ["filter[active]=yes", "filter[name]=till", "sort=tier", "active=true", "limit=3"])
def test_a_bad_parameter_of_the_list_is_400(api, query):
    refused(api.get(f"{PATH}?{query}"), 400, "invalid_parameter")


@pytest.mark.parametrize("method, rest", [("GET", ""), ("PATCH", ""), ("DELETE", ""), ("POST", "/rotate")])
def test_an_unknown_key_is_404_and_a_malformed_id_422(api, method, rest):
    body = {"name": "x"} if method == "PATCH" else None
    refused(api.send(method, f"{PATH}/{SOME_ID}{rest}", body), 404, "not_found")
    refused(api.send(method, f"{PATH}/nonsense{rest}", body), 422, "validation_failed", {"id": "invalid_format"})


def test_another_companys_keys_are_not_there(api, other):
    made = make(api)
    for method, rest, body in (("GET", "", None), ("PATCH", "", {"name": "x"}), ("DELETE", "", None),
                               ("POST", "/rotate", None)):
        refused(other.send(method, f"{PATH}/{made['id']}{rest}", body), 404, "not_found")
    assert made["id"] not in {k["id"] for k in other.get(f"{PATH}?per_page=100").data}
    assert read(api, made)["revoked_at"] is None


# Changing


def test_a_change_acts_on_the_very_next_request(box, api):
    made = make(api)
    assert opens(box, made["key"]) == 200
    changed = accepted(api.patch(f"{PATH}/{made['id']}", {
        "name": "kitchen", "scopes": ["menu:read"], "tier": "plus", "expires_at": in_days(1),
        "allowed_cidrs": ["127.0.0.0/8"]}))
    assert set(changed) == RECORD
    assert (changed["name"], changed["scopes"], changed["tier"]) == ("kitchen", ["menu:read"], "plus")
    assert changed["updated_at"] > made["updated_at"] and changed["created_at"] == made["created_at"]
    assert opens(box, made["key"]) == "insufficient_scope"
    accepted(api.patch(f"{PATH}/{made['id']}", {"scopes": ["orders:read"], "allowed_cidrs": ["10.0.0.0/8"]}))
    assert opens(box, made["key"]) == "address_not_allowed"
    assert read(api, made)["name"] == "kitchen"


@pytest.mark.parametrize("body, fields", [
    ({}, {"body": "empty"}), ({"from_the_future": 1}, {"body": "empty"}), ({"name": ""}, {"name": "empty"}),
    ({"scopes": []}, {"scopes": "empty"}), ({"mode": "test"}, {"mode": "read_only"}),
    ({"key": "x"}, {"key": "read_only"}), ({"expires_at": "2020-01-01T00:00:00Z"}, {"expires_at": "out_of_range"})])
def test_a_bad_change_changes_nothing(box, api, body, fields):
    made = make(api)
    refused(api.patch(f"{PATH}/{made['id']}", body), 422, "validation_failed", fields)
    assert read(api, made) == {n: v for n, v in made.items() if n != "key"}
    assert len(audit(box, made)) == 1


def test_a_change_to_what_is_already_so_leaves_no_trace(box, api):
    made = make(api)
    assert accepted(api.patch(f"{PATH}/{made['id']}", {"name": made["name"]}))["updated_at"] == made["updated_at"]
    assert len(audit(box, made)) == 1


# Rotating and revoking


def test_rotation_replaces_the_key_at_once(box, api):
    made = make(api, tier="plus", allowed_cidrs=["127.0.0.1"])
    answer = api.post(f"{PATH}/{made['id']}/rotate", {})
    new = accepted(answer, 200)
    assert set(new) == RECORD | {"key"} and answer.headers["cache-control"] == "no-store"
    assert new["key"] != made["key"]
    for same in ("name", "scopes", "tier", "allowed_cidrs", "mode", "expires_at"):
        assert new[same] == made[same]
    assert opens(box, new["key"]) == 200
    assert opens(box, made["key"]) == "key_revoked"


def test_rotation_with_grace_lets_the_old_key_live_that_long(box, api):
    made = make(api)
    new = accepted(api.post(f"{PATH}/{made['id']}/rotate", {"grace_seconds": 2}), 200)
    now = functools.partial(datetime.datetime.now, datetime.timezone.utc)
    assert opens(box, new["key"]) == 200
    end = datetime.datetime.fromisoformat(read(api, made)["revoked_at"].replace("Z", "+00:00"))
    assert end - datetime.datetime.fromisoformat(new["created_at"].replace("Z", "+00:00")) == \
        datetime.timedelta(seconds=2)
    found = opens(box, made["key"])
    assert found == 200 or now() >= end
    wait_until(lambda: now() > end, "the end of the grace")
    assert opens(box, made["key"]) == "key_revoked"


@pytest.mark.parametrize("grace, code", [(-1, "must_not_be_negative"), ("60", "wrong_type"), (1.5, "too_many_decimals"), (10**9, "out_of_range")])
def test_a_grace_that_is_none_is_422(box, api, grace, code):
    made = make(api)
    answer = api.post(f"{PATH}/{made['id']}/rotate", {"grace_seconds": grace})
    refused(answer, 422, "validation_failed", {"grace_seconds": code})
    assert opens(box, made["key"]) == 200


def test_a_key_with_more_than_ones_own_cannot_be_rotated_to_oneself(box, demo, api):
    strong = make(api, scopes=["orders:read", "orders:write"])
    with contextlib.closing(box.client(box.make_key(scopes="api-keys:write", company=demo["id"])["key"])) as weak:
        answer = weak.post(f"{PATH}/{strong['id']}/rotate")
        refused(answer, 403, "insufficient_scope", says="orders:")
    assert opens(box, strong["key"]) == 200


def test_a_revoked_key_is_kept_and_refused_at_once(box, api):
    made = make(api)
    gone = accepted(api.delete(f"{PATH}/{made['id']}"))
    assert set(gone) == RECORD and INSTANT.fullmatch(gone["revoked_at"])
    assert opens(box, made["key"]) == "key_revoked"
    assert read(api, made)["revoked_at"] == gone["revoked_at"]


def test_revoking_again_changes_nothing(box, api):
    made = make(api)
    first = accepted(api.delete(f"{PATH}/{made['id']}"))
    assert accepted(api.delete(f"{PATH}/{made['id']}")) == first
    assert [action for _, action, _ in audit(box, made)] == ["key.created", "key.revoked"]


@pytest.mark.parametrize("method, rest, body", [("PATCH", "", {"name": "x"}), ("POST", "/rotate", {})])
def test_a_revoked_key_takes_no_other_change(api, method, rest, body):
    made = make(api)
    accepted(api.delete(f"{PATH}/{made['id']}"))
    refused(api.send(method, f"{PATH}/{made['id']}{rest}", body), 422, "validation_failed", {"id": "not_allowed"})


def test_the_last_managing_key_stays(lonely):
    box, client, made = lonely
    refused(client.delete(f"{PATH}/{made['id']}"), 422, "last_managing_key")
    refused(client.patch(f"{PATH}/{made['id']}", {"scopes": ["orders:read"]}), 422, "last_managing_key")
    assert opens(box, made["key"]) == 200
    assert accepted(client.patch(f"{PATH}/{made['id']}", {"name": "the owner"}))["name"] == "the owner"
    second = box.make_key(name="second")
    accepted(client.delete(f"{PATH}/{second['id']}"))
    refused(client.delete(f"{PATH}/{made['id']}"), 422, "last_managing_key")
    third = box.make_key(name="third")
    assert accepted(client.delete(f"{PATH}/{made['id']}"))["revoked_at"]
    assert opens(box, made["key"]) == "key_revoked"
    assert opens(box, third["key"]) == 200


def test_the_last_managing_key_gets_no_end_before_its_time(lonely):
    box, client, made = lonely
    mine = f"{PATH}/{made['id']}"
    refused(client.patch(mine, {"expires_at": in_days(1)}), 422, "last_managing_key")
    assert read(client, made)["expires_at"] is None
    box.make_key(name="a guest", scopes="orders:read,orders:write")
    refused(client.patch(mine, {"expires_at": in_days(1), "name": "x"}), 422, "last_managing_key")
    second = box.make_key(name="second")
    accepted(client.patch(f"{PATH}/{second['id']}", {"expires_at": in_days(2)}))
    # The other one would be gone too, some day.
    refused(client.patch(mine, {"expires_at": in_days(1)}), 422, "last_managing_key")
    accepted(client.patch(f"{PATH}/{second['id']}", {"expires_at": in_days(3)}))
    assert read(client, made)["expires_at"] is None
    box.make_key(name="third")
    end = in_days(1)
    assert accepted(client.patch(mine, {"expires_at": end}))["expires_at"] == end
    assert accepted(client.patch(mine, {"expires_at": in_days(2)}))["expires_at"] > end


def test_the_command_line_may_revoke_the_last_managing_key(lonely):
    box, _, made = lonely
    box.command("keys", "revoke", made["id"], "--data", str(box.data))
    assert opens(box, made["key"]) == "key_revoked"


def test_the_last_managing_key_can_be_rotated(lonely):
    box, client, made = lonely
    # The new key manages keys as the old one did: nobody is locked out, and nothing new is granted.
    new = accepted(client.post(f"{PATH}/{made['id']}/rotate", {}), 200)
    assert opens(box, new["key"], PATH) == 200
    assert opens(box, made["key"]) == "key_revoked"


# Once, and written down


@pytest.mark.parametrize("rest", ["", "/rotate"])
def test_a_replay_shows_no_secret_a_second_time(api, rest):
    path = PATH + (f"/{make(api)['id']}{rest}" if rest else "")
    body = {} if rest else {"name": "till", "scopes": ["orders:read"]}
    headers = new_key()
    first = api.post(path, body, headers)
    again = api.post(path, body, headers)
    assert again.status == first.status and again.headers["idempotency-replayed"] == "true"
    assert first.data["key"] and again.data["key"] is None
    assert {**first.data, "key": None} == again.data
    assert again.headers.get("location") == first.headers.get("location")


def test_an_idempotency_key_with_another_body_is_refused(api):
    headers = new_key()
    accepted(api.post(PATH, {"name": "one", "scopes": ["orders:read"]}, headers), 201)
    refused(api.post(PATH, {"name": "two", "scopes": ["orders:read"]}, headers), 422, "idempotency_key_reused")


def test_the_stored_answer_holds_no_secret(box, api):
    made = accepted(api.post(PATH, {"name": "till", "scopes": ["orders:read"]}, new_key()), 201)
    assert box.rows("SELECT count(*) FROM idempotency WHERE body LIKE ?", f"%{made['key'][20:40]}%") == [(0,)]


def test_every_change_is_in_the_audit_log_with_who_did_it(box, api, key, demo):
    # By now other tests have made more keys than one page holds; this one was among the first.
    (actor,) = {f"key:{k['id']}" for k in api.get(f"{PATH}?per_page=100&sort=created_at").data
                if k["key_prefix"] == key[:12] and k["last_four"] == key[-4:]}
    made = make(api)
    accepted(api.patch(f"{PATH}/{made['id']}", {"name": "renamed"}))
    new = accepted(api.post(f"{PATH}/{made['id']}/rotate", {"grace_seconds": 100}), 200)
    accepted(api.delete(f"{PATH}/{made['id']}"))
    box.command("keys", "revoke", new["id"], "--data", str(box.data), "--company", demo["id"])
    assert [(a, b) for a, b, _ in audit(box, made)] == [
        (actor, "key.created"), (actor, "key.changed"), (actor, "key.rotated"), (actor, "key.revoked")]
    assert [(a, b) for a, b, _ in audit(box, new)] == [(actor, "key.created"), ("local", "key.revoked")]
    assert [d["name"] for _, _, d in audit(box, made)] == ["till", "renamed", "renamed", "renamed"]
    for record in (made, new):
        for _, _, detail in audit(box, record):
            assert set(detail) == RECORD and record["key"] not in json.dumps(detail)


def test_a_refused_change_is_not_in_the_audit_log(box, api):
    before = box.value("SELECT count(*) FROM audit")
    api.post(PATH, {"name": "x", "scopes": ["api-keys:write"]})
    api.post(PATH, {"name": "x", "scopes": []})
    assert box.rows("SELECT count(*) FROM audit") == [(before,)]


def test_the_audit_log_has_no_gaps(box):
    for company, count, last in box.rows("SELECT company_id, count(*), max(seq) FROM audit GROUP BY company_id"):
        assert count == last, company


# Anything

FIELDS = ["name", "scopes", "tier", "expires_at", "allowed_cidrs", "grace_seconds", "id", "from_the_future"]
VALUES = [None, True, 0, -1, 0.1, 1e308, 10 ** 40, "", " ", "x", "x" * 3000, "\x07", "ñ\U0001f41f", "lan", "plus",
          "orders:read", "2099-01-01T00:00:00Z", "9999-12-31T23:59:59+99:99", [], {}, [[]], [None], ["orders:read"],
          ["orders:read"] * 60, ["127.0.0.1"], ["::/0"], ["::1/129"], [{}], {"scopes": ["orders:read"]}]


@pytest.mark.parametrize("seed", range(4))
def test_any_body_is_taken_or_refused_but_nothing_fails(api, seed):
    dice = random.Random(seed)
    for _ in range(60):
        made = make(api)
        body = {name: dice.choice(VALUES) for name in dice.sample(FIELDS, dice.randint(0, len(FIELDS)))}
        for answer in (api.post(PATH, body), api.patch(f"{PATH}/{made['id']}", body),
                       api.post(f"{PATH}/{made['id']}/rotate", body)):
            assert answer.status in (200, 201, 403, 422), (body, answer.status, answer.body)
        read(api, made)


# Null

def test_null_clears_what_can_be_empty(api):
    made = make(api, expires_at=in_days(3), allowed_cidrs=["10.0.0.0/8"])
    changed = accepted(api.patch(f"{PATH}/{made['id']}", {"expires_at": None}))
    assert (changed["expires_at"], changed["allowed_cidrs"]) == (None, ["10.0.0.0/8"])
    changed = accepted(api.patch(f"{PATH}/{made['id']}", {"allowed_cidrs": None}))
    assert (changed["expires_at"], changed["allowed_cidrs"]) == (None, [])
    assert read(api, made) == changed


@pytest.mark.parametrize("field", ["name", "scopes", "tier"])
def test_null_is_refused_where_nothing_can_be_empty(api, field):
    made = make(api)
    before = read(api, made)
    invalid(api.patch(f"{PATH}/{made['id']}", {field: None}), **{field: "required"})
    invalid(api.patch(f"{PATH}/{made['id']}", {field: None, "expires_at": None}), **{field: "required"})
    assert read(api, made) == before


@pytest.mark.parametrize("name", ["two\nlines", "a\ttab", "a\rreturn", "\x1b[31mred", "\x7f", "\x9b31m", "a\x00b"])
def test_a_name_holds_no_control_characters(api, name):
    invalid(api.post(PATH, {"name": name, "scopes": ["orders:read"]}), name="invalid_format")
    invalid(api.patch(f"{PATH}/{make(api)['id']}", {"name": name}), name="invalid_format")
