"""Letting devices in (contract section 3): roles, codes for them, devices that ask with a number, /box/devices."""

import concurrent.futures
import contextlib
import http.client
import json
import re
import ssl
import subprocess
import threading

import pytest

from support import pairing
from support.box import Answer, Box, PATIENCE_S, serving_the_demo
from support.metrics import wait_for_requests
from support.orders import invalid, item, refused
from support.routes import SCOPES, SOME_ID as NOBODY
from support.waiting import wait_until

ROLES = {
    "kitchen": {"kitchen:read", "kitchen:write"},
    "till": {"orders:read", "orders:write", "orders:sync", "logistics:write", "menu:read", "clients:read", "users:read",
             "companies:read", "payment-methods:read", "stores:read", "kitchen:read", "kitchen:write", "printers:read"},
    "panel": set(SCOPES), "panel-shared": set(SCOPES),
    "manager": {s for s in SCOPES if not s.startswith(("admin:", "api-keys:")) and s != "webhooks:write"},
}
ACCEPT, DEVICES = "/box/devices/accept", "/box/devices"


box = pytest.fixture(scope="module")(serving_the_demo)


@pytest.fixture(scope="module")
def panel(box):
    """A panel, let in by a code of the command line."""
    with contextlib.closing(box.client(let_in(box, "panel")["key"])) as client:
        yield client


sources = iter(f"127.0.{a}.{b}" for a in range(50, 250) for b in range(1, 250))


@pytest.fixture
def source():
    return next(sources)


def context_of(box):
    return ssl.create_default_context(cafile=str(box.cafile))


def post(box, path, body, source="127.0.0.1", **headers):
    connection = http.client.HTTPSConnection("127.0.0.1", box.port, timeout=PATIENCE_S + 30, context=context_of(box),
                                             source_address=(source, 0))
    try:
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json", **headers})
        response = connection.getresponse()
        return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
    finally:
        connection.close()


def ask(box, source, role="kitchen", name="Tablet"):
    answer = post(box, "/auth/pair/requests", {"role": role, "name": name}, source)
    assert answer.status == 201, answer.body
    return answer.data


def collect(box, asked, source="127.0.0.1", **headers):
    return post(box, "/auth/pair", {"request": asked["request"]}, source, **headers)


def code_for(box, role, *words, name="Device"):
    result = box.command("pair", "--data", str(box.data), "--as", role, "--name", name, "--address",
                         f"127.0.0.1:{box.port}", "--json", "--no-wait", *words)
    return json.loads(result.stdout)["uri"]


def let_in(box, role, name="Device", source="127.0.0.1"):
    uri = code_for(box, role, name=name)
    code = pairing.read(uri)["c"] if uri.startswith("comanda:") else uri.partition("#c=")[2]
    answer = post(box, "/auth/pair", {"code": code}, source)
    assert answer.status == 201, answer.body
    return answer.data


def wrong_number(*asked):
    return next(n for n in (f"{i:06}" for i in range(1000)) if n not in {one["number"] for one in asked})


# Roles


@pytest.mark.parametrize("role", ROLES)
def test_a_code_of_a_role_grants_it_whole(box, role):
    made = let_in(box, role, name=f"Cocina de {role}")
    assert (made["name"], made["role"], made["tier"]) == (f"Cocina de {role}", role, "lan")
    assert set(made["scopes"]) == ROLES[role] - ({"orders:sync"} if role != "till" else set())
    assert made["idle_days"] == (30 if role in ("panel", "manager") else None)
    assert (made["expires_at"] is not None) == (role == "panel-shared")


@pytest.mark.parametrize("role, begins", [("kitchen", "https://127.0.0.1:{port}/kitchen#c="),
                                          ("panel", "https://127.0.0.1:{port}/panel#c="),
                                          ("panel-shared", "https://127.0.0.1:{port}/panel#c="),
                                          ("manager", "https://127.0.0.1:{port}/panel#c="), ("till", "comanda://pair?h=")])
def test_the_code_of_a_browser_is_its_page(box, role, begins):
    uri = code_for(box, role)
    assert uri.startswith(begins.format(port=box.port))
    if role != "till":
        assert re.fullmatch(r"[0-9A-Za-z]{22}", uri.partition("#c=")[2])


def test_the_address_is_that_of_the_server_that_runs(box):
    """Its options say where it listens, and the settings of the directory do not."""
    words = ["--data", str(box.data), "--name", "x", "--json", "--no-wait"]
    shown = json.loads(box.command("pair", "--as", "kitchen", *words).stdout)["uri"]
    assert shown.startswith(f"https://127.0.0.1:{box.port}/kitchen#c=")
    for role in (["--as", "till"], ["--scopes", "orders:read"]):
        assert pairing.read(json.loads(box.command("pair", *role, *words).stdout)["uri"])["h"] == f"127.0.0.1:{box.port}"
    refused = box.command("pair", "--as", "till", "--env", "test", *words, check=False)
    assert refused.returncode == 1 and "sandbox_listen" in refused.stderr, refused


def test_all_that_names_an_address_names_the_same():
    """The log's first lines, `comanda pair`, the panel's codes; and without a server what the settings say."""
    box = Box()
    box.address = "0.0.0.0"
    try:
        box.bring_in("demo")
        settings = next(line for line in box.command("config", "--data", str(box.data)).stdout.splitlines() if line.startswith("listen"))
        pair = ["pair", "--as", "kitchen", "--name", "x", "--data", str(box.data), "--json", "--no-wait"]
        before = json.loads(box.command(*pair).stdout)["uri"].partition("/kitchen")[0] if box.cafile.exists() else None
        assert before is None or before.endswith(":8443") and ":8443" in settings
        box.start()
        shown = json.loads(box.command(*pair).stdout)["uri"].partition("/kitchen")[0]
        assert shown.endswith(f":{box.port}")
        wait_until(lambda: shown in re.findall(r"listening address=(\S+)", box.log_text()), box.log_text)
        with contextlib.closing(box.client(let_in(box, "panel")["key"])) as panel:
            assert made_code(panel)["uri"].startswith(shown + "/kitchen#c=")
    finally:
        assert box.discard() == 0


# Names

def test_two_devices_are_never_called_the_same(box, panel, source):
    """Lists, alerts and marks name devices: the second one gets a number, and whoever lets it in is told."""
    assert let_in(box, "kitchen", name="Plancha")["name"] == "Plancha"
    made = post(box, "/auth/pair", {"code": made_code(panel, name="plancha ")["uri"].partition("#c=")[2]}).data
    assert made["name"] == "plancha 2"
    asked = ask(box, source)
    said = box.command("pair", "accept", asked["number"], "--as", "kitchen", "--name", "Plancha", "--data", str(box.data)).stdout
    assert said.startswith("Plancha 3 is let in.") and "Another device is called Plancha, so that this one is Plancha 3." in said, said
    assert collect(box, asked, source).data["name"] == "Plancha 3"
    assert let_in(box, "till", name="Plancha 2")["name"] == "Plancha 4"
    long = "Ñ" * 200
    assert let_in(box, "kitchen", name=long)["name"] == long and let_in(box, "kitchen", name=long)["name"] == "Ñ" * 198 + " 2"
    names = [row["name"] for row in panel.all(DEVICES)]
    assert len(set(names)) == len(names), names


def test_a_device_that_is_let_in_again_after_it_was_shut_out_has_its_name(box, panel):
    first = let_in(box, "kitchen", name="Freidora")
    assert panel.delete(f"{DEVICES}/{first['id']}").status == 200
    again = let_in(box, "kitchen", name="Freidora")
    assert again["name"] == "Freidora"
    made = box.make_key(name="Freidora")  # a key without a role is no device
    assert panel.get(f"/auth/api-keys/{made['id']}").data["name"] == "Freidora"
    other = let_in(box, "kitchen", name="Freidora")
    assert other["name"] == "Freidora 2"
    invalid(panel.patch(f"/auth/api-keys/{other['id']}", {"name": "freidora"}), name="duplicate")
    assert panel.patch(f"/auth/api-keys/{again['id']}", {"name": "FREIDORA"}).status == 200, "its own name"


def test_the_command_that_waits_says_the_name_that_the_device_got(box):
    let_in(box, "kitchen", name="Parrilla")
    program = subprocess.Popen([str(box.binary), "pair", "--data", str(box.data), "--as", "kitchen", "--name", "Parrilla"],
                               stdout=subprocess.PIPE, text=True)
    try:
        code = next(line for line in program.stdout if "#c=" in line).strip().partition("#c=")[2]
        assert post(box, "/auth/pair", {"code": code}).data["name"] == "Parrilla 2"
        said = program.stdout.read()
        assert "Parrilla 2 at 127.0.0.1 has taken the code." in said and "Another device is called Parrilla" in said, said
        assert program.wait(PATIENCE_S) == 0
    finally:
        program.kill()
        program.wait()


@pytest.mark.parametrize("words, said", [(["--as", "cook"], "kitchen, till"), (["--as", "kitchen", "--scopes", "all"], "--scopes"),
                                         (["--as", "kitchen", "--tier", "plus"], "--tier")])
def test_a_role_that_is_none_or_has_more_is_refused(box, words, said):
    result = box.command("pair", "--data", str(box.data), "--name", "x", *words, check=False)
    assert result.returncode == 2 and said in result.stderr


def test_the_command_waits_and_says_who_took_the_code(box):
    program = subprocess.Popen([str(box.binary), "pair", "--data", str(box.data), "--as", "kitchen", "--name", "Cocina 2",
                                "--address", f"127.0.0.1:{box.port}", "--json"], stdout=subprocess.PIPE, text=True)
    try:
        code = json.loads(program.stdout.readline())["uri"].partition("#c=")[2]
        made = post(box, "/auth/pair", {"code": code}, "127.0.0.77").data
        taken = json.loads(program.stdout.readline())
        assert taken == {"taken": True, "key_id": made["id"], "name": "Cocina 2", "address": "127.0.0.77"}
        assert program.wait(PATIENCE_S) == 0
    finally:
        program.kill()
        program.wait()


def test_a_code_of_a_role_goes_to_one_of_many(box):
    code = code_for(box, "kitchen").partition("#c=")[2]
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        statuses = sorted(a.status for a in pool.map(
            lambda n: post(box, "/auth/pair", {"code": code}, f"127.0.9.{n}"), range(1, 13)))
    assert statuses == [201] + [404] * 11


def test_the_role_says_what_its_key_may_do(box, panel):
    made = let_in(box, "panel-shared")
    path = f"/auth/api-keys/{made['id']}"
    for body, field in [({"scopes": ["orders:read"]}, "scopes"), ({"tier": "plus"}, "tier"), ({"expires_at": None}, "expires_at"),
                        ({"idle_days": 300}, "idle_days")]:
        invalid(panel.patch(path, body), **{field: "not_allowed"})
    invalid(panel.patch(path, {"role": "panel"}), role="read_only")
    changed = panel.patch(path, {"name": "Mostrador", "allowed_cidrs": ["127.0.0.0/8"]}).data
    assert (changed["name"], changed["role"]) == ("Mostrador", "panel-shared")


def test_a_key_of_a_role_is_rotated_with_its_role_and_its_end(box, panel):
    for role in ("kitchen", "panel-shared", "manager"):
        made = let_in(box, role)
        rotated = panel.post(f"/auth/api-keys/{made['id']}/rotate", {}).data
        assert {n: rotated[n] for n in ("role", "scopes", "tier", "expires_at", "idle_days", "name")} == \
            {n: made[n] for n in ("role", "scopes", "tier", "expires_at", "idle_days", "name")}
        with contextlib.closing(box.client(made["key"])) as old:
            refused(old.get("/v1/menu"), 401, "key_revoked")


def test_no_panel_is_rotated_by_another_key(box, panel):
    made = let_in(box, "panel")
    with contextlib.closing(box.client(box.make_key(scopes="all,orders:sync", tier="unlimited")["key"])) as owner:
        refused(owner.post(f"/auth/api-keys/{made['id']}/rotate", {}), 403, "insufficient_scope", says="panel")
    with contextlib.closing(box.client(let_in(box, "panel-shared")["key"])) as shared:
        refused(shared.post(f"/auth/api-keys/{made['id']}/rotate", {}), 403, "insufficient_scope", says="panel")


def test_keys_with_a_role_are_neither_counted_as_managing_nor_protected():
    box = Box()
    try:
        box.bring_in("demo")
        box.start()
        with contextlib.closing(box.client(let_in(box, "panel")["key"])) as panel:
            last = box.make_key(scopes="api-keys:read,api-keys:write")
            refused(panel.delete(f"/auth/api-keys/{last['id']}"), 422, "last_managing_key")
            mine = panel.get(DEVICES).json["data"][0]["id"]
            assert panel.delete(f"/auth/api-keys/{mine}").status == 200
    finally:
        assert box.discard() == 0


def test_other_keys_may_end_when_idle_too(box, panel):
    made = panel.post("/auth/api-keys", {"name": "x", "scopes": ["orders:read"], "idle_days": 7}).data
    assert (made["role"], made["idle_days"]) == (None, 7)
    assert panel.patch(f"/auth/api-keys/{made['id']}", {"idle_days": None}).data["idle_days"] is None
    for bad, code in [(0, "must_be_positive"), (366, "out_of_range"), (1.5, "too_many_decimals"), ("7", "wrong_type")]:
        invalid(panel.post("/auth/api-keys", {"name": "x", "scopes": ["orders:read"], "idle_days": bad}), idle_days=code)


def test_a_key_that_was_not_used_for_so_long_has_ended_and_stays_ended():
    box = Box()
    try:
        box.bring_in("demo")
        box.start()
        idle, used = let_in(box, "manager"), let_in(box, "manager")
        assert box.stop() == 0
        day = 86_400_000
        box.execute("UPDATE api_key SET created_at = created_at - ?", 31 * day)
        box.execute("UPDATE api_key SET last_used_at = created_at + ? WHERE id = ?", 2 * day, used["id"])
        box.start()
        with contextlib.closing(box.client(idle["key"])) as client:
            refused(client.get("/v1/menu"), 401, "key_expired", says="30 days")
        with contextlib.closing(box.client(used["key"])) as client:
            assert client.get("/v1/menu").status == 200
        wait_until(lambda: box.value("SELECT ended FROM api_key WHERE id = ?", idle["id"]) == "expired", "the end is written down")
        assert box.stop() == 0
        box.execute("UPDATE api_key SET created_at = created_at + ?", 31 * day)
        box.start()
        with contextlib.closing(box.client(idle["key"])) as client:
            refused(client.get("/v1/menu"), 401, "key_expired")
        with contextlib.closing(box.client(used["key"])) as client:
            assert client.get("/v1/menu").status == 200
    finally:
        assert box.discard() == 0


def test_keys_list_shows_role_and_last_seen(box):
    made = let_in(box, "kitchen", name="Barra")
    line = next(one for one in box.command("keys", "list", "--data", str(box.data)).stdout.splitlines() if made["id"] in one)
    assert "Barra" in line and "kitchen" in line and "last seen -" in line
    with contextlib.closing(box.client(made["key"])) as client:
        client.get("/v1/menu")
    line = next(one for one in box.command("keys", "list", "--data", str(box.data)).stdout.splitlines() if made["id"] in one)
    assert re.search(r"last seen \d{4}-", line)


# Devices that ask


def test_a_device_asks_is_accepted_and_gets_its_key_once(box, panel, source):
    asked = ask(box, source, "till", "Tablet de Ana")
    assert re.fullmatch(r"\d{6}", asked["number"]) and re.fullmatch(r"[0-9A-Za-z]{22}", asked["request"])
    waiting = collect(box, asked, source)
    assert (waiting.status, waiting.data) == (200, {"state": "waiting"})
    looked = panel.post(ACCEPT, {"number": asked["number"]})
    assert looked.status == 200
    assert {n: v for n, v in looked.data.items() if n != "asked_at"} == \
        {"name": "Tablet de Ana", "role": "till", "address": source}
    assert collect(box, asked, source).data == {"state": "waiting"}
    # The accepting side chooses role and name.
    record = panel.post(ACCEPT, {"number": asked["number"], "role": "kitchen", "name": "Cocina",
                                 "allowed_cidrs": [f"{source}/32"]}).data
    assert (record["role"], record["name"], record["allowed_cidrs"]) == ("kitchen", "Cocina", [f"{source}/32"])
    assert "key" not in record
    got = collect(box, asked, source)
    assert got.status == 201 and got.data["id"] == record["id"] and got.data["key"].startswith("cmd_live_")
    assert got.headers["cache-control"] == "no-store" and got.headers["location"] == f"/auth/api-keys/{record['id']}"
    refused(collect(box, asked, source), 404, "not_found")
    refused(panel.post(ACCEPT, {"number": asked["number"], "role": "kitchen", "name": "Again"}), 422, "validation_failed",
            {"number": "not_found"})
    detail = json.loads(box.value("SELECT detail FROM audit WHERE action = 'device.accepted' AND subject_id = ?", record["id"]))
    assert (detail["address"], detail["by_address"], detail["name"]) == (source, "127.0.0.1", "Tablet de Ana")


def test_a_waiting_poll_ends_when_the_device_is_accepted(box, panel, source):
    asked = ask(box, source)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        poll = pool.submit(collect, box, asked, source, Prefer="wait=25")
        wait_for_requests(box, 1)
        panel.post(ACCEPT, {"number": asked["number"], "role": "kitchen", "name": "Cocina"})
        answer = poll.result(20)
    assert answer.status == 201
    assert answer.headers["preference-applied"] == "wait=25"


def test_a_request_has_one_waiting_poll(box, source):
    asked = ask(box, source)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        first = pool.submit(collect, box, asked, source, Prefer="wait=25")
        wait_for_requests(box, 1)
        second = pool.submit(collect, box, asked, source, Prefer="wait=3")
        assert first.result(10).data == {"state": "waiting"}
        assert second.result().data == {"state": "waiting"}


def test_of_two_that_accept_one_number_one_does(box, panel, source):
    asked = ask(box, source)
    before = box.value("SELECT count(*) FROM api_key")
    shared = let_in(box, "panel")["key"]
    barrier = threading.Barrier(8)

    def accept(n):
        with contextlib.closing(box.client(shared)) as client:
            client.get("/v1/menu")
            barrier.wait()
            return client.post(ACCEPT, {"number": asked["number"], "role": "kitchen", "name": f"C{n}"}).status
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(accept, range(8))) == [200] + [422] * 7
    assert box.value("SELECT count(*) FROM api_key") == before + 2
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        statuses = sorted(a.status for a in pool.map(lambda _: collect(box, asked, source), range(8)))
    assert statuses == [201] + [404] * 7


def test_an_accept_that_is_repeated_is_answered_as_at_first(box, panel, source):
    asked = ask(box, source)
    body = {"number": asked["number"], "role": "kitchen", "name": "Cocina"}
    first = panel.post(ACCEPT, body, {"Idempotency-Key": asked["request"]})
    again = panel.post(ACCEPT, body, {"Idempotency-Key": asked["request"]})
    assert again.body == first.body and again.headers["idempotency-replayed"] == "true"
    assert collect(box, asked, source).status == 201


def test_a_refused_device_gets_404(box, panel, source):
    asked = ask(box, source)
    answer = panel.delete(f"/box/devices/requests/{asked['number']}")
    assert answer.status == 200 and answer.data["address"] == source
    refused(collect(box, asked, source), 404, "not_found")
    refused(panel.delete(f"/box/devices/requests/{asked['number']}"), 404, "not_found")
    invalid(panel.delete("/box/devices/requests/48291"), number="invalid_format")
    ask(box, source), ask(box, source)  # it has freed its place
    detail = json.loads(box.value("SELECT detail FROM audit WHERE action = 'device.refused' ORDER BY seq DESC LIMIT 1"))
    assert (detail["address"], detail["by_address"]) == (source, "127.0.0.1")


BAD_REQUESTS = {
    "nothing": ({}, {"role": "required", "name": "required"}),
    "a role that is none": ({"role": "cook", "name": "x"}, {"role": "unknown_value"}),
    "an empty name": ({"role": "till", "name": ""}, {"name": "empty"}),
    "a long name": ({"role": "till", "name": "x" * 201}, {"name": "too_long"}),
}


@pytest.mark.parametrize("name", BAD_REQUESTS)
def test_a_bad_request_to_be_let_in(box, source, name):
    body, wrong = BAD_REQUESTS[name]
    refused(post(box, "/auth/pair/requests", body, source), 422, "validation_failed", wrong)


BAD_ACCEPTS = {
    "nothing": ({}, {"number": "required"}),
    "no digits": ({"number": "abc"}, {"number": "invalid_format"}),
    "a number of JSON": ({"number": 482913}, {"number": "wrong_type"}),
    "a role alone": ({"number": "000000", "role": "till"}, {"name": "required"}),
    "a name alone": ({"number": "000000", "name": "x"}, {"role": "required"}),
    "a role that is none": ({"number": "000000", "role": "cook", "name": "x"}, {"role": "unknown_value"}),
    "a range that is none": ({"number": "000000", "role": "till", "name": "x", "allowed_cidrs": ["here"]},
                             {"allowed_cidrs[0]": "invalid_format"}),
}


@pytest.mark.parametrize("name", BAD_ACCEPTS)
def test_a_bad_accept(panel, name):
    body, wrong = BAD_ACCEPTS[name]
    refused(panel.post(ACCEPT, body), 422, "validation_failed", wrong)


def test_a_third_request_of_a_source_is_429(box, source):
    ask(box, source), ask(box, source)
    answer = post(box, "/auth/pair/requests", {"role": "kitchen", "name": "x"}, source)
    refused(answer, 429, "rate_limit_exceeded")
    assert 0 < int(answer.headers["retry-after"]) <= 600


def test_a_hundred_requests_from_the_guests_do_not_push_out_a_tablet(box, panel, source):
    asked = ask(box, source)
    guests = next(sources)
    statuses = [post(box, "/auth/pair/requests", {"role": "panel", "name": "x"}, guests).status for _ in range(100)]
    assert statuses == [201] * 2 + [429] * 98
    assert panel.post(ACCEPT, {"number": asked["number"]}).status == 200


def test_the_eleventh_wrong_number_of_a_key_is_429(box, source):
    asked = ask(box, source)
    wrong = wrong_number(asked)
    with contextlib.closing(box.client(let_in(box, "panel")["key"])) as guesser:
        for n in range(10):
            refused(guesser.post(ACCEPT, {"number": wrong, **({"role": "kitchen", "name": "x"} if n % 2 else {})}), 422,
                    "validation_failed", {"number": "not_found"})
        answer = guesser.post(ACCEPT, {"number": wrong})
        refused(answer, 429, "rate_limit_exceeded")
        assert 0 < int(answer.headers["retry-after"]) <= 60
        # Nor is a right one looked at, nor refused.
        refused(guesser.post(ACCEPT, {"number": asked["number"]}), 429, "rate_limit_exceeded")
        refused(guesser.delete(f"/box/devices/requests/{asked['number']}"), 429, "rate_limit_exceeded")
    # Another key is not affected.
    with contextlib.closing(box.client(let_in(box, "panel")["key"])) as other:
        assert other.post(ACCEPT, {"number": asked["number"]}).status == 200


@pytest.mark.parametrize("granting", ["panel-shared", "a key with every scope"])
@pytest.mark.parametrize("wanted", ["panel", "panel-shared"])
def test_panels_are_let_in_by_a_panel_alone(box, source, granting, wanted):
    key = box.make_key(scopes="all,orders:sync", tier="unlimited")["key"] if " " in granting else let_in(box, granting)["key"]
    asked = ask(box, source)
    with contextlib.closing(box.client(key)) as client:
        refused(client.post(ACCEPT, {"number": asked["number"], "role": wanted, "name": "x"}), 403, "insufficient_scope",
                says="panel")
        assert client.post(ACCEPT, {"number": asked["number"], "role": "manager", "name": "x"}).status == 200


def test_the_command_line_lists_accepts_and_refuses(box, source):
    first, second = ask(box, source, name="Uno"), ask(box, source, name="Dos")
    data = ["--data", str(box.data)]
    listed = box.command("pair", "requests", *data).stdout
    assert re.search(rf"{first['number']}  kitchen  Uno  {source}", listed) and second["number"] in listed
    box.command("pair", "accept", first["number"], "--as", "panel", "--name", "Panel", *data)
    assert collect(box, first, source).data["role"] == "panel"
    assert "refused" in box.command("pair", "refuse", second["number"], *data).stdout
    refused(collect(box, second, source), 404, "not_found")
    for words in (["accept", second["number"], "--as", "till", "--name", "x"], ["refuse", second["number"]]):
        assert box.command("pair", *words, *data, check=False).returncode == 1
    assert box.command("pair", "accept", "--as", "till", "--name", "x", *data, check=False).returncode == 2


def test_a_request_ends_with_the_process_and_a_key_does_not():
    box = Box()
    try:
        box.bring_in("demo")
        box.start()
        waiting, accepted = ask(box, "127.0.0.2"), ask(box, "127.0.0.3")
        box.command("pair", "accept", accepted["number"], "--as", "kitchen", "--name", "K", "--data", str(box.data))
        key = collect(box, accepted, "127.0.0.3").data["key"]
        box.kill()
        box.start()
        refused(collect(box, waiting, "127.0.0.2"), 404, "not_found")
        with contextlib.closing(box.client(key)) as client:
            refused(client.get("/v1/menu"), 403, "insufficient_scope")
    finally:
        assert box.discard() == 0


@pytest.mark.box_only
def test_the_sandbox_has_devices_of_its_own(box, panel):
    box.bring_in(env="test")
    uri = code_for(box, "kitchen", "--env", "test")
    code = uri.partition("#c=")[2]
    refused(post(box, "/auth/pair", {"code": code}), 404, "not_found")


def test_two_restaurants_let_in_each_its_own():
    box = Box()
    try:
        box.bring_in("demo")
        first = box.value("SELECT id FROM company")
        file = box.data / "second.json"
        file.write_text(json.dumps({"companies": [{"id": NOBODY, "name": "Dos", "country_code": "PE", "currency": "PEN",
                                                   "timezone": "America/Lima"}]}))
        box.bring_in(file)
        second = box.value("SELECT id FROM company WHERE id <> ?", first)
        box.start()
        asked = ask(box, "127.0.0.4")
        words = ["pair", "accept", asked["number"], "--as", "kitchen", "--name", "K", "--data", str(box.data)]
        assert "--company" in box.command(*words, check=False).stderr
        box.command(*words, "--company", second)
        key = collect(box, asked, "127.0.0.4").data
        assert box.value("SELECT c.id FROM api_key k JOIN company c ON c.company_id = k.company_id WHERE k.id = ?",
                         key["id"]) == second
        panels = [post(box, "/auth/pair", {"code": code_for(box, "panel", "--company", one).partition("#c=")[2]}).data["key"]
                  for one in (first, second)]
        names = []
        for one in panels:
            with contextlib.closing(box.client(one)) as client:
                names.append([device["id"] for device in client.get(DEVICES).json["data"]])
                if one == panels[0]:
                    refused(client.delete(f"{DEVICES}/{key['id']}"), 404, "not_found")
        assert key["id"] not in names[0] and key["id"] in names[1]
    finally:
        assert box.discard() == 0


# /box/devices


def test_devices_are_the_keys_with_a_role_and_are_shut_out(box, panel):
    made = let_in(box, "kitchen", name="Horno")
    plain = box.make_key(scopes="orders:read")
    with contextlib.closing(box.client(made["key"])) as client:
        client.get("/v1/menu")
    listed = {row["id"]: row for row in panel.get(DEVICES + "?per_page=100").json["data"]}
    row = listed[made["id"]]
    assert (row["name"], row["role"], row["address"]) == ("Horno", "kitchen", "127.0.0.1") and row["last_seen_at"]
    assert plain["id"] not in listed
    refused(panel.delete(f"{DEVICES}/{plain['id']}"), 404, "not_found")
    assert panel.delete(f"{DEVICES}/{made['id']}").data["id"] == made["id"]
    with contextlib.closing(box.client(made["key"])) as client:
        refused(client.get("/v1/menu"), 401, "key_revoked")
    assert made["id"] not in {row["id"] for row in panel.get(DEVICES + "?per_page=100").json["data"]}


# Codes of the panel, and what displays say of themselves


CODES = "/box/devices/codes"


def made_code(client, role="kitchen", name="Horno", headers=None):
    answer = client.post(CODES, {"role": role, "name": name}, headers)
    assert answer.status == 201, answer.body
    assert list(answer.data) == ["uri", "svg", "expires_at"] and answer.headers["cache-control"] == "no-store"
    return answer.data


@pytest.mark.parametrize("role, page", [("kitchen", "kitchen"), ("panel", "panel"), ("panel-shared", "panel"), ("manager", "panel")])
def test_a_code_of_the_panel_lets_one_device_in(box, panel, role, page):
    shown = made_code(panel, role, name=f"Horno de {role}")
    begin, code = shown["uri"].split("#c=")
    assert begin == f"https://127.0.0.1:{box.port}/{page}" and re.fullmatch(r"[0-9A-Za-z]{22}", code)
    assert shown["svg"].startswith("<svg ") and shown["svg"].endswith("</svg>")
    key = post(box, "/auth/pair", {"code": code}).data
    assert (key["role"], key["name"], set(key["scopes"])) == (role, f"Horno de {role}", ROLES[role])
    refused(post(box, "/auth/pair", {"code": code}), 404, "not_found")
    assert key["id"] in {row["id"] for row in panel.get(DEVICES + "?per_page=100").json["data"]}


def test_the_code_of_a_till_is_what_its_program_reads(box, panel):
    said = pairing.read(made_code(panel, "till", "Caja 2")["uri"])
    assert said["h"] == f"127.0.0.1:{box.port}"
    assert post(box, "/auth/pair", {"code": said["c"]}).data["role"] == "till"


def test_the_picture_is_the_code_of_the_uri(panel):
    """The same code draws the same picture, another one another."""
    shown, other = made_code(panel), made_code(panel)
    assert shown["uri"] != other["uri"] and shown["svg"] != other["svg"]
    assert "M" in shown["svg"] and shown["uri"].partition("#c=")[2] not in shown["svg"]


def test_a_code_of_the_panel_goes_to_one_of_many(box, panel):
    code = made_code(panel)["uri"].partition("#c=")[2]
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        statuses = sorted(a.status for a in pool.map(
            lambda n: post(box, "/auth/pair", {"code": code}, f"127.0.8.{n}"), range(1, 13)))
    assert statuses == [201] + [404] * 11


def test_a_repeated_request_for_a_code_shows_nothing_again(box, panel):
    key = {"Idempotency-Key": "code-once"}
    first = made_code(panel, headers=key)
    again = panel.post(CODES, {"role": "kitchen", "name": "Horno"}, key)
    assert again.status == 201 and again.headers["idempotency-replayed"] == "true"
    assert again.data == {"uri": None, "svg": None, "expires_at": first["expires_at"]}
    code = first["uri"].partition("#c=")[2]
    for text in (code, first["uri"]):
        assert text.encode() not in b"".join(f.read_bytes() for f in box.data.glob("*.db*")), "a code is stored as its hash"
    assert post(box, "/auth/pair", {"code": code}).status == 201


@pytest.mark.parametrize("body, fields", [
    ({}, {"role": "required", "name": "required"}), ({"role": "cook", "name": "x"}, {"role": "unknown_value"}),
    ({"role": "kitchen", "name": ""}, {"name": "empty"}), ({"role": 5, "name": 5}, {"role": "wrong_type", "name": "wrong_type"}),
    ({"role": None, "name": "x"}, {"role": "required"}),
    ({"role": "kitchen", "name": "x", "scopes": ["orders:read"]}, {"scopes": "not_allowed"}),
    ({"role": "kitchen", "name": "x", "tier": "plus"}, {"tier": "not_allowed"}),
    ({"role": "kitchen", "name": "x", "allowed_cidrs": []}, {"allowed_cidrs": "not_allowed"})])
def test_a_bad_code_is_refused_with_every_field(box, panel, body, fields):
    before = box.value("SELECT count(*) FROM pairing_code")
    answer = panel.post(CODES, body)
    assert (answer.status, answer.fields) == (422, fields), answer.body
    assert box.value("SELECT count(*) FROM pairing_code") == before


def test_a_panel_is_let_in_by_a_panel_alone(box, panel):
    with contextlib.closing(box.client(box.make_key(scopes="all,admin:read,admin:write")["key"])) as owner:
        for role in ("panel", "panel-shared"):
            refused(owner.post(CODES, {"role": role, "name": "x"}), 403, "insufficient_scope", says="panel")
        assert made_code(owner, "manager")["uri"]
    for role in ("kitchen", "till", "manager"):
        with contextlib.closing(box.client(let_in(box, role)["key"])) as device:
            refused(device.post(CODES, {"role": "kitchen", "name": "x"}), 403, "insufficient_scope", says="admin:write")


def test_who_made_a_code_is_in_the_audit_log(box, panel):
    made_code(panel, name="Auditada")
    actor, detail = box.rows("SELECT actor, detail FROM audit WHERE action = 'pairing.created' ORDER BY seq DESC LIMIT 1")[0]
    mine = next(row["id"] for row in panel.get("/auth/api-keys?per_page=100&sort=-created_at").data if row["key_prefix"] + row["last_four"]
                == panel.key[:12] + panel.key[-4:])
    assert actor == f"key:{mine}" and json.loads(detail)["name"] == "Auditada" and json.loads(detail)["role"] == "kitchen"


def test_devices_show_their_displays(box, panel):
    made = let_in(box, "kitchen", name="Dos pestañas")

    def row():
        return next(row for row in panel.get(DEVICES + "?per_page=100").json["data"] if row["id"] == made["id"])

    assert row()["displays"] == []
    with contextlib.closing(box.client(made["key"])) as client:
        station = client.get("/v1/kitchen/stations").data[0]["id"]
        tag = panel.get(DEVICES + "?per_page=100").etag
        assert client.get(f"/v1/kitchen/changes?display=izq&stations={station}&sound=muted&awake=no").status == 200
        assert client.get("/v1/kitchen/changes?display=der").status == 200
        assert client.get("/v1/kitchen/changes").status == 200  # counts for nobody
    assert panel.get(DEVICES + "?per_page=100", **{"If-None-Match": tag}).status == 200
    assert row()["displays"] == [
        {"display": "der", "present": True, "stations": [], "sound": "on", "awake": True},
        {"display": "izq", "present": True, "stations": [station], "sound": "muted", "awake": False}]
    wait_until(lambda: not any(one["present"] for one in row()["displays"]), row)
    assert [one["display"] for one in row()["displays"]] == ["der", "izq"]
    assert [one["display"] for one in panel.delete(f"{DEVICES}/{made['id']}").data["displays"]] == ["der", "izq"]
