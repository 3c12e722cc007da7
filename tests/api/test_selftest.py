"""comanda selftest: what it says of the box, of keys that may do little, and of servers that differ."""

import dataclasses
import json
import re
import signal
import subprocess
import threading
import time

import pytest

from support.altering_proxy import AlteringProxy
from support.box import BINARY, PATIENCE_S, RUNNER, Box, free_port
from support.orders import UUID
from support.raw import Wire, head
from support.strict_cloud import StrictCloud, demo_company

NOTHING_DIFFERS, DIFFERS, USAGE, UNREACHABLE = 0, 1, 2, 70


def walk(url, key, *words, input=None):
    result = subprocess.run([*RUNNER, str(BINARY), "selftest", "--url", url, "--key", key, *map(str, words)],
                            capture_output=True, text=True, input=input, timeout=PATIENCE_S * 10)
    assert key == "-" or key not in result.stdout + result.stderr
    return result


def report(url, key, *words):
    """The exit code and the object of --json."""
    result = walk(url, key, "--json", *words)
    assert result.stderr == "", result.stderr
    told = json.loads(result.stdout)
    counts = {r: sum(c["result"] == r for c in told["checks"]) for r in ("ok", "differs", "not_served", "not_checked")}
    assert counts == {r: told[r] for r in counts}
    assert result.returncode == (DIFFERS if told["differs"] else NOTHING_DIFFERS)
    return told


def named(told, result):
    return {c["name"]: c for c in told["checks"] if c["result"] == result}


def at(box):
    return f"https://127.0.0.1:{box.port}"


@pytest.fixture
def ca(box):
    return ["--ca", box.cafile]


# A server that keeps the contract


def test_the_box_passes_with_every_scope(box, key, ca):
    told = report(at(box), key, *ca)
    assert named(told, "differs") == {}
    # What only other keys and other menus show.
    assert set(named(told, "not_checked")) <= {
        "The rate limit is shown on every answer",
        "A key without the scope is told which one it lacks",
        "A mistyped key is refused",  # where the tests before sent too many
        "A device asks, and waits until somebody types its number",  # likewise
    }
    assert told["ok"] > 160 and told["judged_by"] == "contract" and told["endpoints_not_served"] == []


@pytest.mark.parametrize("place, currency, decimals", [(0, "CLP", 0), (1, "KWD", 3)])
def test_currencies_with_other_decimals_pass(box, ca, place, currency, decimals, pytestconfig):
    companies = json.loads((pytestconfig.rootpath / "tests/support/other_restaurant.json").read_text())["companies"]
    assert companies[place]["currency"] == currency
    told = report(at(box), box.make_key(company=companies[place]["id"])["key"], *ca)
    assert named(told, "differs") == {}
    shown = named(told, "ok")["The company's currency is an ISO 4217 code"]
    assert shown["note"] == f"{currency}, {decimals} decimals"


def test_what_it_leaves_behind_is_cancelled_and_named(box, key, demo, ca, api):
    before = {r[0] for r in box.rows("SELECT id FROM orders")}
    told = report(at(box), key, *ca)
    made = {r[0] for r in box.rows("SELECT id FROM orders")} - before
    left = {kind: [r for r in told["left_behind"] if r["kind"] == kind] for kind in ("order", "product", "key")}
    assert sum(map(len, left.values())) == len(told["left_behind"])
    assert {r["id"] for r in left["order"]} == made and len(made) == 5
    for remnant in left["order"]:
        order = api.get("/v1/orders/" + remnant["id"]).data
        assert order["status"] == remnant["status"] == "CANCELLED"
        assert order["reference"] == remnant["reference"] and remnant["reference"].startswith("selftest-")
        assert order["public_id"] == remnant["public_id"]
        assert all(p["canceled_at"] for p in order["payments"])


def test_of_the_menu_nothing_is_touched_but_one_hidden_product(box, key, ca, api):
    def shown():
        return [c for c in api.get("/v1/menu?filter[visible]=true").data["categories"]]

    before = shown()
    for _ in range(2):
        told = report(at(box), key, *ca)
        (left,) = [r for r in told["left_behind"] if r["kind"] == "product"]
        assert (left["reference"], left["status"]) == ("SELFTEST-DISH", "hidden")
        product = api.get("/v1/menu/products/" + left["id"]).data
        assert product["visible"] is False and product["variants"][0]["sku"] == "SELFTEST-DISH"
        assert shown() == before
    assert "it was there from an earlier walk" in \
        named(told, "ok")["A product is created with one variant"]["note"]
    hidden = [p for c in api.get("/v1/menu?filter[visible]=false").data["categories"] for p in c["products"]]
    assert [p["id"] for p in hidden if p["name"].startswith("Selftest")] == [left["id"]]


def test_the_keys_it_makes_are_revoked_and_never_shown(box, key, ca, api):
    def active():
        return {k["id"] for k in api.get("/auth/api-keys?filter[active]=true&per_page=100").data}

    before = active()
    result = walk(at(box), key, "--json", *ca)
    left = [r for r in json.loads(result.stdout)["left_behind"] if r["kind"] == "key"]
    assert len(left) == 2 and {r["status"] for r in left} == {"revoked"}
    assert active() == before
    for remnant in left:
        made = api.get("/auth/api-keys/" + remnant["id"]).data
        assert made["revoked_at"] and made["name"].startswith("SELFTEST")
    assert not re.search(r"cmd_(live|test)_\w{20}", result.stdout)


def test_a_key_that_is_made_is_not_shown_even_where_the_server_repeats_it(box, key):
    made = []

    def indiscreet(method, path, answer):
        if method == "POST" and path == "/auth/api-keys" and answer.status == 201:
            made.append(answer.json["data"]["key"])
        if made and method == "PATCH" and path.startswith("/auth/api-keys/") and answer.status == 200:
            edited(answer, lambda record: record.update(name="name of " + made[0]))

    with AlteringProxy(box, indiscreet) as proxy:
        result = walk(proxy.url, key)
    assert result.returncode == DIFFERS and made and made[0] not in result.stdout
    assert "name of (the key)" in result.stdout


def test_the_data_directory_tells_the_authority(box, key):
    assert walk(at(box), key, "--data", box.data).returncode == NOTHING_DIFFERS


def test_a_key_that_may_only_read_orders_leaves_the_rest_unchecked(box, demo, ca):
    key = box.make_key(scopes="orders:read", company=demo["id"])["key"]
    before = box.rows("SELECT count(*) FROM orders")
    told = report(at(box), key, *ca)
    assert named(told, "differs") == {}
    unchecked = named(told, "not_checked")
    assert unchecked["Clients are listed with all their fields"]["note"] == "the key lacks clients:read"
    assert unchecked["An order is created"]["note"] == "the key lacks orders:write"
    assert unchecked["A rider of one's own is assigned"]["note"] == \
        "the key lacks orders:write and logistics:write"
    assert {"Orders are listed page by page", "The three reports answer",
            "A key without the scope is told which one it lacks"} <= set(named(told, "ok"))
    assert unchecked["Webhooks are listed page by page"]["note"] == "the key lacks webhooks:read"
    assert unchecked["A webhook is created"]["note"] == "the key lacks webhooks:read and webhooks:write"
    assert told["left_behind"] == [] and box.rows("SELECT count(*) FROM orders") == before


def test_a_key_that_may_only_write_orders_still_tidies_up(box, demo, ca, api):
    key = box.make_key(scopes="orders:write", company=demo["id"])["key"]
    told = report(at(box), key, *ca)
    assert named(told, "differs") == {}
    assert [r["status"] for r in told["left_behind"]] == ["CANCELLED", "CANCELLED"]


def test_it_waits_for_the_rate_limit():
    is_refused = threading.Event()

    def note(method, path, answer):
        if answer.status == 429:
            is_refused.set()

    def use_up(box, key):
        """Many requests at once use the key's rate up faster than it comes back, until the walk has been refused."""
        with Wire(box) as wire:
            while not is_refused.is_set():
                wire.send(head("GET", "/v1/company", f"X-API-Key: {key}") * 20)
                for _ in range(20):
                    wire.answer()

    box = Box(options=["--rate-standard", "1200"])
    try:
        box.bring_in()
        box.start()
        key = box.make_key(tier="standard")["key"]
        other = threading.Thread(target=use_up, args=(box, key))
        other.start()
        try:
            with AlteringProxy(box, note) as proxy:
                told = report(proxy.url, key)
        finally:
            is_refused.set()
            other.join()
        assert named(told, "differs") == {}
        assert told["waited_s"] > 0
        assert "requests a minute" in named(told, "ok")["The rate limit is shown on every answer"]["note"]
    finally:
        assert box.discard() == 0


# Words


def test_a_technician_reads_one_line_for_each_check(box, key, ca):
    result = walk(at(box), key, *ca)
    assert result.returncode == NOTHING_DIFFERS and result.stderr == ""
    assert "\nThe line and the key\n  ok           The server accepts the key\n" in result.stdout
    assert re.search(r"\n  ok +The certificate is trusted and does not end soon: \d+ days left\n", result.stdout)
    summary = re.search(r"\n(\d+) ok, 0 differ, (\d+) not checked\.\n", result.stdout)
    lines = re.findall(r"^  (?:ok|differs|not checked) +[A-Z1-9]", result.stdout, re.M)
    assert len(lines) == int(summary[1]) + int(summary[2])
    assert re.findall(r"^  selftest-\S+  PE-\d{10}  \S+  CANCELLED$", result.stdout, re.M) != []


def test_a_key_may_come_from_the_standard_input(box, key, ca):
    result = walk(at(box), "-", *ca, input=key + "\n")
    assert result.returncode == NOTHING_DIFFERS and key not in result.stdout


def walk_until_ctrl_c(box, key, method, path_begin, path_end=""):
    """What it prints when Ctrl-C is pressed before it gets the answer to its first request of that kind."""
    started, walking = threading.Event(), []

    def press(its_method, path, answer):
        path = path.partition("?")[0]
        if its_method == method and path.startswith(path_begin) and path.endswith(path_end):
            started.wait(PATIENCE_S)
            walking[0].send_signal(signal.SIGINT)

    with AlteringProxy(box, press) as proxy:
        walking.append(subprocess.Popen([*RUNNER, str(BINARY), "selftest", "--url", proxy.url, "--key", key],
                                        stdout=subprocess.PIPE, text=True))
        started.set()
        told, _ = walking[0].communicate(timeout=PATIENCE_S * 10)
    return told


def test_ctrl_c_still_tidies_up(box, key, api):
    before = {r[0] for r in box.rows("SELECT id FROM orders")}
    told = walk_until_ctrl_c(box, key, "POST", "/v1/orders/", "/combos")
    assert "An order is created" in told
    assert "not checked" in told and ": interrupted\n" in told and "CANCELLED" in told
    for order in {r[0] for r in box.rows("SELECT id FROM orders")} - before:
        assert api.get("/v1/orders/" + order).data["status"] == "CANCELLED"


# A server that is not ours


@pytest.fixture
def cloud():
    """What knows only the specification."""
    with StrictCloud(demo_company()) as cloud:
        yield cloud


def test_a_server_of_the_specification_is_judged_by_that(cloud):
    told = report(cloud.url, cloud.make_key(), "--ca", cloud.cafile)
    assert named(told, "differs") == {}
    assert told["judged_by"] == "specification" and told["ok"] > 90 and told["not_served"] > 40
    # Not the addition alone: what is promised was looked at.
    assert {"An order is created", "Items are added to an order", "A PERCENTAGE above 100 is refused",
            "An order with payments is not cancelled", "Webhooks are listed page by page", "A webhook is created",
            "All wrong fields are named at once", "Only an order of a table has one"} <= set(named(told, "ok"))


def test_it_names_the_endpoints_that_a_server_lacks(cloud):
    key = cloud.make_key()
    told = report(cloud.url, key, "--ca", cloud.cafile)
    assert told["endpoints_not_served"] == [
        "GET /v1/events", "GET /v1/company/tables", "GET /auth/api-keys", "GET /v1/openapi.json", "GET /docs", "GET /healthz",
        "GET /readyz", "GET /problems/not_found", "GET /v1/webhooks/{id}/deliveries"]
    assert {"Tables are listed with their areas", "The event feed tells of a new order", "A key is made and shown once",
            "An unchanged order is answered with 304"} <= set(named(told, "not_served"))
    assert named(told, "ok")["An order is created"]["note"].endswith("; not as on a Comanda: header Location")
    shown = walk(cloud.url, key, "--ca", cloud.cafile).stdout
    assert "judged by the specification" in shown and "\n  GET /v1/company/tables\n" in shown
    assert "\n  not served   Tables are listed with their areas: not as on a Comanda: GET /v1/company/tables\n" in shown


def changed(path, change):
    """Alters the JSON of the answers to requests at that path."""
    def distort(request, answer):
        if re.fullmatch(path, request.path) and answer.body:
            body = json.loads(answer.body)
            change(answer, body)
            answer = dataclasses.replace(answer, body=json.dumps(body).encode())
        return answer
    return distort


def unit_prices(answer, body):
    for line in body.get("data", {}).get("combos", []):
        line["variant_price"] = line["variant_price"] / line["quantity"]


def never_more(answer, body):
    if "pagination" in body:
        body["pagination"]["has_more"] = False


def no_fields(answer, body):
    body.pop("errors", None)


def without_limits(request, answer):
    headers = {name: value for name, value in answer.headers.items() if name != "RateLimit-Remaining"}
    return dataclasses.replace(answer, headers=headers)


@pytest.mark.parametrize("distortion, found", [
    (changed(r"/v1/orders/[^/]+/combos", unit_prices), "Prices are sent per unit and answered per line"),
    (changed(r"/v1/orders", never_more), "Orders are listed page by page"),
    (changed(r"/v1/orders", no_fields), "All wrong fields are named at once"),
    (without_limits, "The rate limit is shown on every answer"),
])
def test_a_server_that_breaks_the_specification_is_found(cloud, distortion, found):
    for _ in range(2):
        cloud.orders.create({"service_type": "ONSITE"}, source="PANEL")
    cloud.distortions.append(distortion)
    assert found in named(report(cloud.url, cloud.make_key(), "--ca", cloud.cafile), "differs")


# What cannot be walked


def test_a_wrong_key_is_told_once():
    box = Box()
    try:
        box.bring_in()
        box.start()
        key = box.make_key()["key"]
        # Not its last character: the walk changes that one, and would come back to the right key.
        wrong = key[:-2] + ("0" if key[-2] != "0" else "1") + key[-1]
        told = report(at(box), wrong, "--ca", box.cafile)
        assert "A mistyped key is refused" in named(told, "ok")
    finally:
        assert box.discard() == 0
    assert set(named(told, "differs")) == {"The server accepts the key"}
    assert {c["note"] for c in named(told, "not_checked").values()} >= {"the server does not accept the key"}
    assert told["left_behind"] == []


def test_nobody_at_the_address(key, ca):
    result = walk(f"https://127.0.0.1:{free_port()}", key, *ca)
    assert result.returncode == UNREACHABLE and result.stdout == ""
    assert "nothing can be asked at https://127.0.0.1:" in result.stderr


def test_a_server_of_an_unknown_authority(box, key, tmp_path):
    other = Box()
    try:
        other.start()
        result = walk(at(box), key, "--data", other.data)
        assert result.returncode == UNREACHABLE and "ertificate" in result.stderr and "--ca" in result.stderr
    finally:
        assert other.discard() == 0


@pytest.mark.parametrize("words, says", [
    ([], "--url"),
    (["--url", "https://localhost:1"], "--key"),
    (["--url", "localhost:1", "--key", "k"], "https://"),
    (["--url", "http://192.0.2.1", "--key", "k"], "plain http"),
    (["--url", "http://localhost.example", "--key", "k"], "plain http"),
    (["--url", "https://localhost:1/v1", "--key", "k"], "before /v1"),
    (["--url", "https://localhost:1", "--key", "k\nX: y"], "visible ASCII"),
    (["--url", "https://localhost:1", "--key", "k", "--ca", "/nowhere/ca.crt"], "/nowhere/ca.crt"),
])
def test_a_command_line_that_cannot_be(words, says):
    result = subprocess.run([*RUNNER, str(BINARY), "selftest", *words], capture_output=True, text=True,
                            timeout=PATIENCE_S)
    assert result.returncode == USAGE and says in result.stderr


# Servers that differ in one thing


def edited(answer, change):
    """Changes the record of a success."""
    if answer.status in (200, 201) and answer.body:
        body = answer.json
        change(body["data"])
        answer.body = json.dumps(body).encode()


def everywhere(old, new):
    """Another text in every answer about orders."""
    def alter(method, path, answer):
        if path.startswith("/v1/orders"):
            answer.body = answer.body.replace(old, new)
    return alter


def unit_list_price(method, path, answer):
    if method == "POST" and path.endswith("/combos"):
        def change(order):
            dish = next(c for c in order["combos"] if c["product_name"] == "Selftest dish")
            dish["variant_original_price"] = 13
            dish["combo_original_price"] = round(dish["combo_original_price"] - 13, 2)
        edited(answer, change)


def doubled_total(method, path, answer):
    if method == "PATCH" and path.startswith("/v1/orders/") and path.count("/") == 3:
        edited(answer, lambda order: order.update(total=order["total"] * 2))


def no_company_tag(method, path, answer):
    if path == "/v1/company":
        answer.headers.pop("etag", None)


def no_replay_mark(method, path, answer):
    answer.headers.pop("idempotency-replayed", None)


def conflict(method, path, answer):
    if b"use_cancel_endpoint" in answer.body:
        answer.status = 409


def silent_feed(method, path, answer):
    if path.startswith("/v1/events?per_page") and answer.status == 200:
        answer.body = answer.body.replace(b"ORDER_CREATED", b"ORDER_UPDATED")


def html_for_mistakes(method, path, answer):
    if path.startswith("/v1/selftest-no-such-path?"):
        answer.headers["content-type"], answer.body = "text/html", b"<h1>Not Found</h1>"


def accepts_everything(method, path, answer):
    if path.endswith("?per_page=101"):
        answer.status = 200


def tables_without_area(method, path, answer):
    if path.startswith("/v1/company/tables?per_page"):
        answer.body = answer.body.replace(b'"area"', b'"zone"')


def another_table(method, path, answer):
    if path == "/v1/orders" and method == "POST" and b'"service_type":"TABLE"' in answer.body:
        edited(answer, lambda order: order["table"].update(id=UUID))


def nameless(part, name):
    """Refusals of a field or parameter say nothing of `name`, the right one."""
    def alter(method, path, answer):
        if answer.status in (400, 422) and part in answer.body and method in ("GET", "POST"):
            answer.body = answer.body.replace(name, b"another")
    return alter


def other_code(field, code, other):
    def alter(method, path, answer):
        if answer.status == 422 and b'"field":"' + field + b'"' in answer.body:
            answer.body = answer.body.replace(code, other)
    return alter


def accepts_put_of_a_status(method, path, answer):
    if method == "PUT" and path.endswith("/status"):
        answer.status, answer.body = 200, b'{"data":{}}'


@pytest.mark.parametrize("alter, differing", [
    (tables_without_area, "Tables are listed with their areas"),
    (another_table, "An order is opened at a table"),
    (other_code(b"table_id", b'"not_found"', b'"duplicate"'), "A table that does not exist is refused"),
    (other_code(b"table_id", b'"not_allowed"', b'"duplicate"'), "Only an order of a table has one"),
    (accepts_put_of_a_status, "A method or a path of another service is refused"),
    (nameless(b"offset", b"page"), "A parameter of another service is refused and the right one named"),
    (nameless(b"unit_price", b"variant_price"), "A field of another service is refused and the right one named"),
    (other_code(b"combos[0].variant_price", b'"wrong_type"', b'"duplicate"'), "A price as a text is refused"),
    (unit_list_price, "Prices are sent per unit and answered per line"),
    (doubled_total, "The total is the sum of its parts"),
    (no_company_tag, "An unchanged company is answered with 304"),
    (no_replay_mark, "A repeat with the same Idempotency-Key gets the first answer"),
    (conflict, "CANCELLED is no status to move to"),
    (silent_feed, "The event feed tells of a new order"),
    (html_for_mistakes, "A refusal is a problem document that explains itself"),
    (accepts_everything, "A page that cannot be is refused"),
    (everywhere(b'"delivery_comment":null,', b""), "An order shows every documented field"),
    (everywhere(b'"overpayment":0,', b'"overpayment":"0",'), "A new order has no items and no money"),
    (everywhere(b'"delivered_by":"API"', b'"delivered_by":null'), "A rider on the way makes the order READY"),
    (everywhere(b'"implied":true', b'"implied":false'), "The steps between are marked as implied"),
], ids=lambda value: value if isinstance(value, str) else "")
def test_exactly_what_differs_is_told(box, key, alter, differing):
    with AlteringProxy(box, alter) as proxy:
        told = report(proxy.url, key)
    assert set(named(told, "differs")) == {differing}
    for check in named(told, "differs").values():
        assert check["differences"] and check["contract"] and check["section"]
        for difference in check["differences"]:
            assert difference["what"] and difference["expected"] != difference["got"], difference


def test_an_unaltered_proxy_differs_in_nothing(box, key):
    with AlteringProxy(box, lambda method, path, answer: None) as proxy:
        told = report(proxy.url, key)
    assert named(told, "differs") == {}
    assert named(told, "not_checked")["The connection is TLS 1.2 or 1.3"]["note"] == "this address is plain http"


def test_unknown_fields_and_rows_of_a_newer_server_differ_in_nothing(box, key):
    def newer(method, path, answer):
        if answer.status in (200, 201) and answer.headers["content-type"] == "application/json" and answer.body:
            body = answer.json
            body["next_year"] = {"a": 1}
            if isinstance(body.get("data"), dict):
                body["data"]["loyalty"] = None
            for row in body["data"] if isinstance(body.get("data"), list) else []:
                row["loyalty"] = None
            answer.body = json.dumps(body).encode()

    with AlteringProxy(box, newer) as proxy:
        assert named(report(proxy.url, key), "differs") == {}


def test_the_key_is_never_shown_even_where_the_server_repeats_it(box, key):
    def indiscreet(method, path, answer):
        if answer.status == 404:
            body = answer.json
            body["title"] = "you sent " + key
            answer.body = json.dumps(body).encode()

    with AlteringProxy(box, indiscreet) as proxy:
        result = walk(proxy.url, key)
    assert result.returncode == DIFFERS
    assert "you sent (the key)" in result.stdout


# Webhooks

HOOKS = "/v1/webhooks"


def hook_count(api):
    return api.get(HOOKS).json["pagination"]["total"]


def asked(method, path_end, change):
    """Changes the answers to a method on the paths of webhooks with that end; ID stands for any id."""
    pattern = re.compile(re.escape(HOOKS) + re.escape(path_end).replace("ID", "[0-9a-f-]{36}"))

    def alter(each, path, answer):
        if each == method and pattern.fullmatch(path):
            change(answer)
    return alter


def status(number):
    return lambda answer: setattr(answer, "status", number)


def has(**fields):
    """The record of a success, with other fields."""
    return lambda answer: edited(answer, lambda record: record.update(fields))


def lacks(name):
    return lambda answer: edited(answer, lambda record: record.pop(name, None))


def rows_with(**fields):
    return lambda answer: edited(answer, lambda page: [row.update(fields) for row in page])


def text(old, new):
    """Another text in every answer about webhooks."""
    def alter(method, path, answer):
        if path.startswith(HOOKS):
            answer.body = answer.body.replace(old, new)
    return alter


def unnamed(field):
    """A refusal that does not name the field."""
    def change(answer):
        if answer.status == 422:
            body = answer.json
            body["errors"] = [e for e in body["errors"] if e["field"] != field]
            answer.body = json.dumps(body).encode()
    return asked("POST", "", change)


def not_as_422(words):
    """Another status for the refusal that says this."""
    return asked("POST", "", lambda answer: words in answer.body and status(400)(answer))


def undeleted():
    seen = {}

    def change(answer):
        if answer.status == 200:
            seen["body"] = answer.body
        elif seen:
            answer.status, answer.body = 200, seen["body"]
    return asked("GET", "/ID", change)


def rotated_to_the_old():
    made = []

    def alter(method, path, answer):
        if path == HOOKS and method == "POST" and answer.status == 201:
            made.append(answer.json["data"]["secret"])
        elif path.startswith(HOOKS) and b'"secret_last_four"' in answer.body and method in ("GET", "PATCH") and made:
            def old(record):
                record["secret_last_four"] = made[0][-4:]
                record["secret"] = record["secret"] and made[0]
            if path != HOOKS + "?per_page=100":
                edited(answer, old)
    return alter


def secret_at_each_creation():
    made = []

    def change(answer):
        if answer.status == 201:
            made.append(answer.json["data"]["secret"])
            has(secret=made[0])(answer)
    return asked("POST", "", change)


def nothing(method, path, answer):
    pass


# Servers that differ in several things, one for each check: {check: alteration}.
BAD_HOOKS = [{
    "Webhooks are listed page by page": asked("GET", "?per_page=1", lambda a: setattr(a, "body", b'{"data":[]}')),
    "A webhook is created": asked("POST", "", has(is_active=False)),
    "A webhook shows every documented field": asked("POST", "", lacks("events_lost")),
    "A webhook that names no events gets those of orders": text(b'"ORDER_UPDATED",', b""),
    "A webhook's secret is one that public libraries read": asked("POST", "", has(secret_last_four="0000")),
    "A webhook's secret is shown once": asked("GET", "?per_page=100", rows_with(secret="whsec_shown")),
    "A webhook is read and listed as it was created": asked("GET", "?per_page=100", rows_with(merchant_id=None)),
    "A webhook's headers are shown masked": text(b'"****alue"', b'"selftest header value"'),
    "A webhook is changed in part": asked("PATCH", "/ID", has(ack_http_codes=[])),
    "A webhook is paused and goes on": asked("GET", "/ID", has(is_active=True)),
    "A webhook's secret is rotated": asked("PATCH", "/ID", has(secret_rotates_until=None)),
    "An old secret lasts a day at most": text(b'"grace_seconds","code":"out_of_range"', b'"grace","code":"too_long"'),
    "A test answers with its delivery, also when it failed": asked("POST", "/ID/test", has(sequence=1)),
    "Deliveries are listed page by page": asked("GET", "/ID/deliveries?filter[state]=selftest", status(200)),
    "A delivery that is not kept cannot be sent again": asked("POST", "/ID/deliveries/ID/redeliver", status(200)),
    "All dead deliveries are sent again in one request": asked("POST", "/ID/deliveries/redeliver", lacks("queued")),
    "An unknown webhook is 404, a malformed id 422": asked("GET", "/selftest", status(404)),
    "A malformed webhook_url is refused": not_as_422(b"fragment"),
    "Plain http to a public address is refused": not_as_422(b"is public"),
    "A webhook to the server itself is refused": not_as_422(b"leads to 127.0.0.1"),
    "A webhook to no single host is refused": not_as_422(b"leads to 169.254.169.254"),
    "Events that cannot be subscribed to are refused": unnamed("events[2]"),
    "Headers that the server sets are refused": unnamed("webhook_headers.webhook-id"),
    "Statuses that cannot acknowledge are refused": unnamed("ack_http_codes[1]"),
    "A webhook is deleted": undeleted(),
}, {
    "A webhook is created": asked("POST", "", lambda answer: answer.headers.pop("location", None)),
    "A webhook's secret is one that public libraries read": asked("POST", "", has(secret="whsec_shown")),
    "A webhook's secret is shown once": asked("GET", "/ID", has(secret="whsec_shown")),
    "A webhook is read and listed as it was created": asked("GET", "/ID", has(ack_http_codes=[200])),
    "A webhook is changed in part": asked("PATCH", "/ID", has(merchant_id=None)),
    "A webhook is paused and goes on": asked("PATCH", "/ID", has(is_active=True)),
    # The fault of "shown once".
    "A webhook's secret is rotated": nothing,
    "An old secret lasts a day at most": asked("PATCH", "/ID", status(200)),
    "A test answers with its delivery, also when it failed": asked("POST", "/ID/test", status(502)),
    "Deliveries are listed page by page": asked("GET", "/ID/deliveries", lambda answer: edited(
        answer, lambda page: [row.pop("subject") for row in page])),
    "All dead deliveries are sent again in one request": asked("POST", "/ID/deliveries/redeliver", status(404)),
    "An unknown webhook is 404, a malformed id 422": asked("GET", "/selftest", status(200)),
    "A malformed webhook_url is refused": not_as_422(b"is required"),
    "A webhook to the server itself is refused": not_as_422(b"leads to ::1"),
    "A webhook to no single host is refused": not_as_422(b"leads to 224.0.0.1"),
    "Events that cannot be subscribed to are refused": unnamed("events"),
    "Headers that the server sets are refused": unnamed("webhook_headers.X-Control"),
    "Statuses that cannot acknowledge are refused": unnamed("ack_http_codes"),
    "A webhook is deleted": asked("DELETE", "/ID", has(secret="whsec_shown")),
}, {
    "A webhook's secret is shown once": secret_at_each_creation(),
    "A webhook's secret is rotated": rotated_to_the_old(),
    "A test answers with its delivery, also when it failed": asked("POST", "/ID/test", has(attempts=[])),
    "A malformed webhook_url is refused": unnamed("webhook_url"),
    # The same fault.
    "Plain http to a public address is refused": nothing,
    "A webhook to the server itself is refused": nothing,
    "A webhook to no single host is refused": nothing,
    "Events that cannot be subscribed to are refused": text(b"unknown_value", b"invalid_format"),
    "Headers that the server sets are refused": unnamed("webhook_headers.no token"),
    "Statuses that cannot acknowledge are refused": unnamed("ack_http_codes[0]"),
}]


@pytest.mark.parametrize("faults", BAD_HOOKS, ids=range(len(BAD_HOOKS)))
def test_exactly_what_differs_of_webhooks_is_told(box, key, api, faults):
    def alter(*asked):
        for fault in faults.values():
            fault(*asked)

    before = hook_count(api)
    with AlteringProxy(box, alter) as proxy:
        told = report(proxy.url, key)
    assert set(named(told, "differs")) == set(faults)
    assert hook_count(api) == before and not [r for r in told["left_behind"] if r["kind"] == "webhook"]


def test_no_webhook_stays_behind_and_no_secret_is_told(box, key, ca, api):
    before = hook_count(api)
    result = walk(at(box), key, "--json", *ca)
    told = json.loads(result.stdout)
    assert named(told, "ok")["A test answers with its delivery, also when it failed"]["note"] == \
        "its outcome was name_not_found"
    assert hook_count(api) == before and not [r for r in told["left_behind"] if r["kind"] == "webhook"]
    assert not re.search(r"whsec_[\w+/]{20}", result.stdout)


def test_a_secret_is_not_told_even_where_the_server_repeats_it(box, key):
    made = []

    def indiscreet(answer):
        if answer.status == 201:
            made.append(answer.json["data"]["secret"])
            has(merchant_id="secret " + made[0])(answer)

    with AlteringProxy(box, asked("POST", "", indiscreet)) as proxy:
        result = walk(proxy.url, key)
    assert result.returncode == DIFFERS and made and made[0] not in result.stdout
    assert '"secret (the key)"' in result.stdout


def test_a_server_without_webhooks_differs_in_nothing(box, key):
    def older(method, path, answer):
        if path.startswith(HOOKS):
            answer.status = 404

    with AlteringProxy(box, older) as proxy:
        told = report(proxy.url, key)
    assert named(told, "differs") == {}
    notes = {c["note"] for c in told["checks"] if c["subject"] == "Webhooks"}
    assert notes == {"not served: the server answers 404 at /v1/webhooks"}


def test_a_server_without_the_additions_differs_in_nothing(box, key):
    def plain(method, path, answer):
        if path.startswith(HOOKS) and ("/deliveries" in path or path.endswith("/test")):
            answer.status = 404

    with AlteringProxy(box, plain) as proxy:
        told = report(proxy.url, key)
    assert named(told, "differs") == {}
    unchecked = [c for c in named(told, "not_checked").values() if "not served" in c["note"]]
    assert len(unchecked) == 4 and {c["subject"] for c in unchecked} == {"Webhooks"}


def test_ctrl_c_still_deletes_the_webhook(box, key, api):
    before = hook_count(api)
    told = walk_until_ctrl_c(box, key, "GET", "/v1/webhooks/")
    assert "A webhook is created" in told
    assert ": interrupted\n" in told and hook_count(api) == before


@pytest.mark.parametrize("lost", [status(502), lambda answer: setattr(answer, "body", b"")])
def test_a_webhook_whose_creation_was_not_answered_is_deleted(box, key, api, lost):
    before = hook_count(api)
    with AlteringProxy(box, asked("POST", "", lost)) as proxy:
        told = report(proxy.url, key)
    assert "A webhook is created" in named(told, "differs")
    assert hook_count(api) == before and not [r for r in told["left_behind"] if r["kind"] == "webhook"]


def test_a_webhook_that_should_have_been_refused_is_deleted_too(box, key, api):
    before = hook_count(api)
    made = []

    def lax(answer):
        if answer.status == 422 and b"must begin with https://" in answer.body:
            body = api.post(HOOKS, {"webhook_url": "https://receiver.invalid/", "is_active": False})
            made.append(body.json["data"]["id"])
            answer.status, answer.body = body.status, body.body

    with AlteringProxy(box, asked("POST", "", lax)) as proxy:
        told = report(proxy.url, key)
    assert set(named(told, "differs")) == {"A malformed webhook_url is refused"}
    assert made and hook_count(api) == before


def test_a_webhook_that_cannot_be_deleted_is_named(box, key, api):
    before = hook_count(api)

    def stubborn(method, path, answer):
        if method == "DELETE" and path.startswith(HOOKS):
            answer.status = 500

    with AlteringProxy(box, stubborn) as proxy:
        told = report(proxy.url, key)
    assert set(named(told, "differs")) == {"A webhook is deleted"}
    (left,) = [r for r in told["left_behind"] if r["kind"] == "webhook"]
    assert UUID.fullmatch(left["id"]) and left["status"] is None
    assert hook_count(api) == before


def test_an_order_that_should_have_been_refused_is_tidied_up_too(box, key, api):
    """A server that takes orders without an Idempotency-Key."""
    def lax(method, path, answer):
        if answer.status == 400 and b"missing_idempotency_key" in answer.body:
            made = api.place("selftest-lax-" + str(time.monotonic_ns()))
            answer.status, answer.body = 201, json.dumps({"data": made}).encode()

    with AlteringProxy(box, lax) as proxy:
        told = report(proxy.url, key)
    assert set(named(told, "differs")) == {"An order without an Idempotency-Key is refused"}
    orders = [r for r in told["left_behind"] if r["kind"] == "order"]
    assert len(orders) == 6 and {r["status"] for r in orders} == {"CANCELLED"}
