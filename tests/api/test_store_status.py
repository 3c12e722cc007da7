"""GET /v1/stores/status and `comanda provider` (specification, Store status; contract section 12)."""

import base64
import contextlib
import functools
import gzip
import hashlib
import hmac
import json
import os
import pty
import re
import select
import signal
import subprocess
import termios
import threading
import time

import jsonschema
import pytest

from support import documents
from support.box import PATIENCE_S, ROOT, RUNNER, Box
from support.delivery_app import SECRET, TOKEN, DeliveryApp, waits_for
from support.metrics import samples
from support.order_app import built_in_files
from support.orders import accepted, refused
from support.raw import Wire, head
from support.waiting import wait_until

pytestmark = pytest.mark.box_only

PATH = "/v1/stores/status"
FIELDS = ["provider_name", "store_status", "reason", "until", "checked_at"]
OF_PERU = ["didi_food", "pedidosya", "rappi"]


def statuses(answer):
    return {row["provider_name"]: (row["store_status"], row["reason"]) for row in accepted(answer)}


# Without an app


def test_each_app_of_the_country_has_a_row(api):
    answer = api.get(PATH)
    rows = accepted(answer)
    assert [list(row) for row in rows] == [FIELDS] * len(rows)
    assert [row["provider_name"] for row in rows] == OF_PERU
    assert statuses(answer) == dict.fromkeys(OF_PERU, ("UNKNOWN", "no_credentials"))
    assert answer.json["pagination"] == {"current_page": 1, "per_page": 100, "total": 3, "has_more": False}
    assert all(row["checked_at"] is None and row["until"] is None for row in rows)


@pytest.mark.parametrize("names, expected", [
    ("rappi", ["rappi"]), ("rappi,pedidosya", ["rappi", "pedidosya"]), ("%20Rappi%20,RAPPI", ["rappi"])])
def test_names_narrow_the_look_ups(api, names, expected):
    assert [row["provider_name"] for row in accepted(api.get(f"{PATH}?provider_names={names}"))] == expected


@pytest.mark.parametrize("names", ["ifood", "nobody", "rappi,", ",", "rappi,,pedidosya", "%22%0a"])
def test_an_unknown_name_or_one_of_another_country_is_refused_with_the_allowed_ones(api, names):
    answer = api.get(f"{PATH}?provider_names={names}")
    refused(answer, 400, "invalid_parameter", {"provider_names": "unknown_value"})
    assert ", ".join(OF_PERU) in answer.json["detail"]


@pytest.mark.parametrize("query", ["provider_names=", "provider=rappi", "provider_names=rappi&provider_names=rappi"])
def test_a_malformed_query_is_refused(api, query):
    refused(api.get(f"{PATH}?{query}"), 400, "invalid_parameter")


def test_it_is_paged_where_that_is_asked(api):
    answer = api.get(PATH + "?page=2&per_page=2")
    assert [row["provider_name"] for row in accepted(answer)] == ["rappi"]
    assert answer.json["pagination"] == {"current_page": 2, "per_page": 2, "total": 3, "has_more": False}
    assert accepted(api.get(PATH + "?page=9&per_page=2")) == []


@pytest.fixture
def elsewhere(tmp_path):
    """A company of a country, by its code."""
    boxes = []

    def make(country, zone, currency):
        box = Box()
        boxes.append(box)
        file = tmp_path / f"{country}.json"
        file.write_text(json.dumps({"companies": [
            {"name": "There", "country_code": country, "timezone": zone, "currency": currency}]}))
        box.bring_in(file)
        key = box.make_key()["key"]
        box.start()
        return box.client(key)

    yield make
    for box in boxes:
        assert box.discard() == 0


def test_a_country_without_an_app_has_an_empty_list(elsewhere):
    answer = elsewhere("NP", "Asia/Kathmandu", "NPR").get(PATH)
    assert accepted(answer) == [] and answer.json["pagination"]["total"] == 0


def test_an_app_that_cannot_be_asked_says_so(elsewhere):
    assert statuses(elsewhere("BR", "America/Sao_Paulo", "BRL").get(PATH)) == {
        "99food": ("UNKNOWN", "no_credentials"), "ifood": ("UNKNOWN", "no_credentials"),
        "keeta": ("UNKNOWN", "no_credentials"), "rappi": ("UNKNOWN", "no_credentials")}
    assert statuses(elsewhere("GB", "Europe/London", "GBP").get(PATH)) == {
        "deliveroo": ("UNKNOWN", "not_supported"), "just_eat": ("UNKNOWN", "not_supported"),
        "uber_eats": ("UNKNOWN", "no_credentials")}


# With an app


DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


class Shop:
    """A box in Peru that is open on those days, and apps that it asks."""

    def __init__(self, directory, *apps, days=DAYS):
        self.apps = [DeliveryApp(directory, name) for name in apps]
        ca = directory / "ca.pem"
        ca.write_text("".join(app.pair.certificate.read_text() for app in self.apps))
        self.box = Box(options=["--webhook-networks", "127.0.0.0/8,::1/128", "--webhook-ca", str(ca)])
        restaurant = json.loads((ROOT / "src/app/demo.json").read_text())
        restaurant["companies"][0]["business_hours"] = {
            day: {"is_active": day in days, "hours": [{"open": "00:00", "close": "00:00"}]} for day in DAYS}
        (directory / "restaurant.json").write_text(json.dumps(restaurant))
        self.box.bring_in(directory / "restaurant.json")
        self.key = self.box.make_key()["key"]
        for app in self.apps:
            app.connect(self.box)

    @property
    def app(self):
        return self.apps[0]

    def start(self):
        self.box.start()
        for app in self.apps:
            app.add(self.box)
        return self

    def ask(self, query=""):
        with contextlib.closing(self.box.client(self.key)) as client:
            return client.get(PATH + query)

    def row(self, name="fake"):
        return next(row for row in accepted(self.ask(f"?provider_names={name}")))

    def forget(self):
        """The next question asks the app again: its credentials were added."""
        for app in self.apps:
            app.add(self.box)

    def read_again(self):
        """Providers are read again. Of one whose file is as it was, what is known of it stays."""
        words = "settings and certificate read again"
        times = self.box.log_text().count(words)
        self.box.signal(signal.SIGHUP)
        wait_until(lambda: self.box.log_text().count(words) > times, self.box.log_text)

    def tried(self, *words):
        result = self.box.command("provider", "try", "fake", "--json", *words, "--data", str(self.box.data), check=False)
        return result.returncode, json.loads(result.stdout)["data"]

    def close(self):
        for app in self.apps:
            app.answer = (200, {}, b"{}")
        code = self.box.stop()
        log = self.box.log_text()
        self.box.discard()
        for app in self.apps:
            app.close()
        assert code == 0, log[-3000:]
        assert SECRET not in log and TOKEN not in log


@pytest.fixture
def shop(tmp_path):
    shop = Shop(tmp_path, "fake").start()
    yield shop
    shop.close()


def body(value):
    return 200, {"Content-Type": "application/json"}, json.dumps(value).encode()


ANSWERS = {
    "open": (body({"state": "OPEN"}), "OPEN", None),
    "paused": (body({"state": "PAUSED", "until": "2026-11-25T20:00:00-05:00"}), "PAUSED", "paused"),
    "closed": (body({"state": "NIGHT"}), "CLOSED", "out_of_hours"),
    "19 digits": (body({"id": 9007199254740993123}), "CLOSED", "blocked"),
    "nearly 19 digits": (body({"id": 9007199254740993124}), "UNKNOWN", "error"),
    "no rule": (body({"state": "STRANGE"}), "UNKNOWN", "error"),
    "an error inside a 200": (body({"state": "OPEN", "error": 7}), "UNKNOWN", "error"),
    "HTML": ((200, {}, b"<html>please sign in</html>"), "UNKNOWN", "error"),
    "empty": ((200, {}, b""), "UNKNOWN", "error"),
    "cut": ((200, {"Content-Length": "100"}, b'{"state":'), "UNKNOWN", ("error", "timeout")),
    "a number": (body(7), "UNKNOWN", "error"),
    "nested": ((200, {}, b"[" * 500 + b"]" * 500), "UNKNOWN", "error"),
    "duplicate keys": ((200, {}, b'{"state":"OPEN","state":"PAUSED"}'), "UNKNOWN", "error"),
    "301": ((301, {"Location": "https://example.com/"}, b""), "UNKNOWN", "error"),
    "400": ((400, {}, b"{}"), "UNKNOWN", "error"),
    "403": ((403, {}, b"{}"), "UNKNOWN", "auth_failed"),
    "404": ((404, {}, b"{}"), "UNKNOWN", "error"),
    "429": ((429, {"Retry-After": "60"}, b""), "UNKNOWN", "rate_limited"),
    "500": ((500, {}, b"oops"), "UNKNOWN", "error"),
    "too large": ((200, {}, b" " * 300_000 + b'{"state":"OPEN"}'), "UNKNOWN", "error"),
    "a gzip bomb": ((200, {"Content-Encoding": "gzip"}, gzip.compress(b" " * 20_000_000)), "UNKNOWN", "error"),
    "gzip": ((200, {"Content-Encoding": "gzip"}, gzip.compress(b'{"state":"OPEN"}')), "OPEN", None),
    "204 for ever": ((204, {}, b""), "UNKNOWN", "timeout"),
    "a token that is refused": (body({"code": 10101}), "UNKNOWN", "auth_failed"),
}


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    shop = Shop(tmp_path_factory.mktemp("shop"), "fake").start()
    yield shop
    shop.close()


@pytest.mark.parametrize("name", ANSWERS)
def test_each_answer_of_an_app_has_a_meaning(asked, name):
    asked.app.answer, status, reason = ANSWERS[name]
    code, found = asked.tried()
    row = found["status"]
    assert row["store_status"] == status and row["reason"] in (reason if isinstance(reason, tuple) else (reason,)), found
    assert code == (0 if status != "UNKNOWN" else 1) and row["checked_at"]
    assert row["until"] == ("2026-11-26T01:00:00.000Z" if name == "paused" else None)


def test_what_is_sent_is_what_the_file_says(shop):
    assert shop.row()["store_status"] == "OPEN"
    (method, path, _, form), (_, status_path, headers, _) = shop.app.asked[:2]
    assert (method, path) == ("POST", "/token")
    assert form.decode() == f"id=id%20of%20fake&secret={SECRET}"
    assert status_path == "/status/store%2F1" and headers["Authorization"] == f"Bearer {TOKEN}-1"


def test_a_token_is_kept_and_renewed_once_where_it_is_refused(shop):
    assert shop.tried()[0] == 0 and shop.tried()[0] == 0
    tokens = shop.app.tokens
    assert tokens == 1
    shop.app.refused_tokens = {f"Bearer {TOKEN}-1"}
    assert shop.tried()[0] == 0
    assert shop.app.tokens == 2
    shop.app.refused_tokens |= {f"Bearer {TOKEN}-{n}" for n in range(9)}
    code, found = shop.tried()
    assert (code, found["status"]["reason"]) == (1, "auth_failed")
    assert shop.app.tokens == 3, "one renewal, no more"


def test_an_answer_is_fresh_for_a_while_and_many_callers_make_one_call(shop):
    shop.app.connect(shop.box, limits={"min_interval_s": 3600})
    shop.forget()
    shop.tried()
    before = shop.app.times_asked()
    all_have_asked = threading.Event()
    shop.app.answer = waits_for(all_have_asked, "PAUSED")
    shop.box.command("provider", "remove", "fake", "--data", str(shop.box.data))
    with contextlib.ExitStack() as stack:
        callers = [stack.enter_context(Wire(shop.box)) for _ in range(40)]
        shop.app.add(shop.box)
        for caller in callers:
            caller.send(head("GET", PATH + "?provider_names=fake", f"X-API-Key: {shop.key}"))
        all_have_asked.set()
        rows = [accepted(caller.answer())[0] for caller in callers]
    assert [row["store_status"] for row in rows] == ["PAUSED"] * 40
    assert shop.app.times_asked() == before + 1


def test_a_429_and_failures_in_a_row_leave_the_app_alone(shop):
    shop.app.answer = (429, {"Retry-After": "600"}, b"")
    shop.tried()
    before = shop.app.times_asked()
    for _ in range(3):
        assert shop.row()["reason"] == "rate_limited"
    assert shop.app.times_asked() == before


def test_nine_apps_that_hang_do_not_hide_the_tenth(tmp_path):
    names = [f"app{n}" for n in range(10)]
    shop = Shop(tmp_path, *names)
    end = threading.Event()
    for app in shop.apps[1:]:
        app.answer = waits_for(end)
    shop.start()
    try:
        found = statuses(shop.ask("?provider_names=" + ",".join(names)))
        assert found == {"app0": ("OPEN", None), **dict.fromkeys(names[1:], ("UNKNOWN", "timeout"))}
    finally:
        end.set()
        shop.close()


def test_a_secret_is_nowhere_to_be_seen(shop):
    """Also where the app repeats it: in its words, in the answer that a technician records."""
    shop.app.answer = lambda: (200, {}, json.dumps({"error": f"{SECRET} and {shop.app.asked[-1][2]}"}).encode())
    result = shop.box.command("provider", "try", "fake", "--record", "--data", str(shop.box.data), check=False)
    assert "***" in result.stdout
    with contextlib.closing(shop.box.client(shop.key)) as client:
        seen = [result.stdout, shop.ask().body.decode(), client.get("/metrics").body.decode(),
                client.get("/readyz").body.decode(),
                shop.box.command("provider", "list", "--json", "--data", str(shop.box.data)).stdout,
                shop.box.command("audit", "--data", str(shop.box.data)).stdout, shop.box.log_text()]
    for text in seen:
        assert SECRET not in text and TOKEN not in text
    assert "provider.added" in seen[5]
    assert SECRET.encode() not in shop.box.databases.contents()


def test_no_part_of_a_secret_is_left_where_its_words_are_cut(shop):
    for length in range(180, 300, 7):
        shop.app.answer = body({"error": "x" * length + SECRET})
        _, found = shop.tried()
        assert SECRET[:9] not in json.dumps(found), length
    assert SECRET[:9] not in shop.box.log_text()


def test_the_credentials_are_for_the_hosts_for_which_they_were_added(shop):
    file = next((shop.box.data / "credentials").rglob("fake.json"))
    assert file.stat().st_mode & 0o777 == 0o600 and file.parent.stat().st_mode & 0o777 == 0o700
    assert shop.row()["store_status"] == "OPEN"
    asked = len(shop.app.asked)
    shop.app.connect(shop.box, hosts=["localhost", "elsewhere.example"])
    shop.read_again()
    assert shop.row()["reason"] == "no_credentials" and len(shop.app.asked) == asked
    listed = json.loads(shop.box.command("provider", "list", "--json", "--data", str(shop.box.data)).stdout)["data"]
    assert "other hosts" in next(one for one in listed if one["app"] == "fake")["why_not"]
    shop.app.add(shop.box)
    assert shop.row()["store_status"] == "OPEN"


def test_credentials_of_systemd_come_first(tmp_path):
    shop = Shop(tmp_path, "fake")
    (tmp_path / "fake.json").write_text(json.dumps(shop.app.credentials()))
    shop.box.env = {"CREDENTIALS_DIRECTORY": str(tmp_path)}
    shop.box.start()
    try:
        assert shop.row()["store_status"] == "OPEN"
    finally:
        shop.close()


def test_a_file_that_is_wrong_changes_nothing(shop):
    assert shop.row()["store_status"] == "OPEN"
    (shop.box.data / "providers.d/fake.json").write_text(json.dumps(shop.app.file(hosts=["127.0.0.1"]), indent=2))
    (shop.box.data / "providers.d/other.json").write_text("{")
    shop.app.answer = body({"state": "NIGHT"})
    shop.read_again()
    log = shop.box.log_text()
    assert "line" in log and "must be host names" in log and "other.json" in log
    asked = shop.app.times_asked()
    assert shop.row()["store_status"] == "OPEN" and shop.app.times_asked() == asked, "its answer is as fresh as before"
    shop.forget()
    assert shop.row()["store_status"] == "CLOSED", "the file before is in force"


def test_a_state_seen_twice_in_a_row_is_an_event(shop):
    def changes():
        return [json.loads(body) for (body,) in shop.box.rows(
            "SELECT body FROM event WHERE type = 'STORE_STATUS_CHANGED' AND subject_type = 'store' ORDER BY seq")]

    def looked():
        """Three look-ups in the background. The third begins when the states of the first two have had their effect."""
        for _ in range(3):
            before = shop.app.times_asked()
            shop.forget()
            wait_until(lambda: shop.app.times_asked() > before, "another look-up")

    looked()
    assert changes() == [], "the first state is no change"
    shop.app.answer = body({"state": "PAUSED"})
    looked()
    [event] = changes()
    assert list(event) == FIELDS
    assert (event["provider_name"], event["store_status"], event["reason"]) == ("fake", "PAUSED", "paused")
    looked()
    assert len(changes()) == 1, "told once"
    shop.app.answer = (500, {}, b"")
    looked()
    assert len(changes()) == 1, "UNKNOWN is told after five minutes"


def test_readiness_and_metrics_show_each_app(shop):
    assert shop.row()["store_status"] == "OPEN"
    with contextlib.closing(shop.box.client()) as client:
        assert client.get("/readyz").json["checks"]["delivery_apps"]["state"] == "fake OPEN"
        found = samples(client.get("/metrics").body.decode())
    assert [value for name, value in found.items() if name.startswith("comanda_delivery_store_open{")] == [1.0]
    assert [value for name, value in found.items() if name.startswith("comanda_delivery_store_known{")] == [1.0]


# Commands


def test_commands_add_list_and_remove(shop):
    data = ["--data", str(shop.box.data)]
    assert "fake            OPEN" in (shop.row(), shop.box.command("provider", "list", *data).stdout)[1]
    again = DeliveryApp.__new__(DeliveryApp)
    again.name, again.pair, again.server = "twin", shop.app.pair, shop.app.server
    again.connect(shop.box)
    shop.read_again()
    result = shop.box.command("provider", "add", "twin", "--from", "-", *data, check=False,
                              input=json.dumps(shop.app.credentials()))
    assert result.returncode != 0 and "those of fake" in result.stderr
    for words, message in [(["add", "nobody", "--from", "-"], "no app"), (["add", "wolt", "--from", "-"], "not supported"),
                           (["add", "rappi", "--from", "-"], "client_id"), (["remove", "rappi"], "no credentials"),
                           (["try"], "name the app"), (["dance"], "say list")]:
        result = shop.box.command("provider", *words, *data, check=False, input="{}")
        assert result.returncode != 0 and message in result.stderr, (words, result)
    shop.box.command("provider", "remove", "fake", *data)
    assert shop.row()["reason"] == "no_credentials"
    assert not list((shop.box.data / "credentials").rglob("fake.json"))


def test_add_asks_for_each_credential_and_shows_no_secret(shop):
    """On a terminal, as a technician types it."""
    shop.box.command("provider", "remove", "fake", "--data", str(shop.box.data))
    terminal, its_end = pty.openpty()
    process = subprocess.Popen([*RUNNER, str(shop.box.binary), "provider", "add", "fake", "--data", str(shop.box.data)],
                               stdin=its_end, stdout=its_end, stderr=its_end, start_new_session=True)
    os.close(its_end)
    shown = ""

    def read_until(words):
        nonlocal shown
        while words not in shown:
            ready, _, _ = select.select([terminal], [], [], PATIENCE_S)
            assert ready, shown
            shown += os.read(terminal, 4096).decode()

    for name, value in shop.app.credentials().items():
        read_until(name)
        wait_until(lambda: name != "client_secret" or not termios.tcgetattr(terminal)[3] & termios.ECHO, "no echo")
        os.write(terminal, (value + "\n").encode())
    read_until("fake is connected")
    assert process.wait(PATIENCE_S) == 0
    os.close(terminal)
    assert "id of fake" in shown and SECRET not in shown
    assert shop.row()["store_status"] == "OPEN"


def test_try_needs_a_server(tmp_path):
    box = Box(tmp_path)
    box.bring_in("demo")
    result = box.command("provider", "try", "rappi", "--data", str(tmp_path), check=False)
    assert result.returncode != 0 and "start it" in result.stderr


MISTAKES = [
    ({"hosts": ["10.0.0.1"]}, "hosts"), ({"hosts": ["a.example:443"]}, "hosts"), ({"surprise": 1}, "surprise"),
    ({"provider_name": "No Name"}, "provider_name"), ({"countries": ["Peru"]}, "countries"), ({"evidence": "hope"}, "evidence"),
    ({"limits": {"min_interval_s": 9}}, "limits.min_interval_s"), ({"limits": {"total_ms": 60000}}, "limits.total_ms"),
    ({"by_country": {"BR": {"x": "y"}}}, "by_country"),
    ({"orders": {"url": "https://localhost/x"}}, "orders.dialect"), ({"orders": {"dialect": "fax"}}, "orders.dialect"),
    ({"orders": {"dialect": "ifood"}}, "orders.url"), ({"orders": {"dialect": "ifood", "url": "http://localhost"}}, "orders.url"),
    ({"orders": {"dialect": "ifood", "url": "https://localhost/"}}, "orders.url"),
    ({"orders": {"dialect": "ifood", "url": "https://other.example"}}, "orders.url"),
    ({"orders": {"dialect": "ifood", "url": "https://localhost/${client_secret}"}}, "orders.url"),
    ({"orders": {"dialect": "ifood", "url": "https://localhost", "token": {"url": "https://localhost"}}}, "orders.token.access"),
    ({"orders": {"dialect": "ifood", "url": "https://localhost", "mode": "primary"}}, "orders.mode"),
]
STATUS_MISTAKES = [
    ({"url": "http://localhost/x"}, "status.url"), ({"url": "https://other.example/x"}, "status.url"),
    ({"url": "https://localhost/${nothing}"}, "status.url"), ({"url": "https://localhost/${client_secret}"}, "status.url"),
    ({"url": "https://localhost/?t=${token}"}, "status.url"), ({"url": "https://127.0.0.1/"}, "status.url"),
    ({"url": "https://user@localhost/"}, "status.url"), ({"headers": {"X": "a\nb"}}, "status.headers"),
    ({"headers": {"X Y": "a"}}, "status.headers"), ({"headers": {"X:": "a"}}, "status.headers"),
    ({"headers": {"X": "${open"}}, "status.headers"), ({"rules": []}, "status.rules"),
    ({"rules": [{"if": {"eq": ["/a", 1]}, "then": "OPEN"}] * 51}, "status.rules"),
    ({"rules": [{"if": {"eq": ["a", 1]}, "then": "OPEN"}]}, "status.rules[0].if"),
    ({"rules": [{"if": {"eq": ["/a", 1], "ne": ["/a", 1]}, "then": "OPEN"}]}, "status.rules[0].if"),
    ({"rules": [{"if": {"sometimes": "/a"}, "then": "OPEN"}]}, "status.rules[0].if"),
    ({"rules": [{"if": {"true": True}, "then": "OPENED"}]}, "status.rules[0].then"),
    ({"rules": [{"then": "OPEN"}]}, "status.rules[0].if"),
    ({"form": {"a": "b"}, "json": {"a": "b"}}, "status.form"), ({"ok_http": [404]}, "status.ok_http"),
]


@pytest.fixture(scope="module")
def described(tmp_path_factory):
    app = DeliveryApp(tmp_path_factory.mktemp("described"))
    yield app
    app.close()


@pytest.mark.parametrize("changes, field", MISTAKES + [({"status": change}, field) for change, field in STATUS_MISTAKES])
def test_a_file_with_a_mistake_is_refused_with_the_field_and_its_line(described, tmp_path, changes, field):
    file = described.file()
    for name, value in changes.items():
        file[name] = {**file["status"], **value} if name == "status" else value
    path = tmp_path / "file.json"
    path.write_text(json.dumps(file, indent=2))
    result = Box(tmp_path / "none").command("provider", "check", str(path), check=False)
    assert result.returncode == 1
    assert any(f": {field}" in line and "line " in line for line in result.stderr.splitlines()), result.stderr


def test_a_file_that_is_good_or_too_large(described, tmp_path):
    box = Box(tmp_path / "none")
    path = tmp_path / "file.json"
    path.write_text(json.dumps(described.file()))
    assert "fake, to be asked" in box.command("provider", "check", str(path)).stdout
    path.write_text(json.dumps(described.file()) + " " * 65_536)
    result = box.command("provider", "check", str(path), check=False)
    assert result.returncode != 0 and "65536" in result.stderr


def test_the_commands_of_the_readme_work(tmp_path):
    """As they stand, but that the app is one on this machine."""
    commands = [line.split("#")[0].split()[1:] for line in documents.commands(documents.TECHNICIAN.read_text(), "comanda provider ")]
    assert [words[1] for words in commands] == ["list", "add", "try", "mode", "mode", "parked"]
    shop = Shop(tmp_path, "rappi")
    shop.app.connect(shop.box, orders={"dialect": "rappi", "url": shop.app.url + "/orders"})
    (tmp_path / "rappi.json").write_text(json.dumps(shop.app.credentials()))
    shop.box.start()
    try:
        for words in commands:
            words = [str(tmp_path / word) if word.endswith(".json") else word for word in words]
            result = shop.box.command(*words, "--data", str(shop.box.data))
            assert words[1] != "try" or result.stdout == "OPEN\n"
    finally:
        shop.close()


def test_the_readme_names_the_apps_and_countries_of_the_files():
    text = documents.TECHNICIAN.read_text()
    table = text[text.index("| app | countries | evidence |"):].split("\n\n")[0]
    told = {row[0]: (row[1].split(), row[2]) for row in re.findall(r"^\| ([^|]+) \| ([A-Z ]+) \| (\w+) \|$", table, re.M)}
    files = built_in_files().values()
    assert told == {file["display_name"]: (sorted(file["countries"]), file["evidence"]) for file in files}


def test_the_doctor_has_nothing_against_a_connected_app(shop):
    shop.row()
    report = json.loads(shop.box.command("doctor", "--json", "--data", str(shop.box.data), check=False).stdout)
    found = [(f["check"], f["state"], f["what"]) for f in report["findings"] if "fake OPEN" in f["what"]]
    assert found == [("apps", "well", "Delivery apps: fake OPEN.")]


@pytest.mark.parametrize("days, expected", [
    (DAYS, ("OPEN", None)), ([], ("OPEN", None)),
    ([DAYS[(time.gmtime().tm_wday + 3) % 7]], ("CLOSED", "out_of_hours"))], ids=["always", "no hours", "another day"])
def test_a_question_may_be_signed_and_the_restaurants_own_hours_may_decide(tmp_path, days, expected):
    shop = Shop(tmp_path, "fake", days=days)
    status = shop.app.file()["status"]
    rules = [{"if": {"and": [{"eq": ["/state", "OPEN"]}, {"in_hours": True}]}, "then": "OPEN"},
             {"if": {"not": {"in_hours": True}}, "then": "CLOSED", "reason": "out_of_hours"}]
    shop.app.connect(shop.box, status={**status, "rules": rules, "signature": {"header": "X-Sign", "key": "${client_secret}"}})
    shop.start()
    try:
        row = shop.row()
        assert (row["store_status"], row["reason"]) == expected
        [(_, path, headers, _)] = [asked for asked in shop.app.asked if asked[1].startswith("/status")]
        digest = hmac.digest(SECRET.encode(), (shop.app.url + path).encode(), hashlib.sha256)
        assert headers["X-Sign"] == base64.b64encode(digest).decode()
        assert all("X-Sign" not in headers for _, path, headers, _ in shop.app.asked if path == "/token")
    finally:
        shop.close()


def test_the_schema_says_what_the_program_takes(described):
    """The same verdict on good files and on those with mistakes that a schema can express."""
    schema = json.loads(Box("/nonexistent").command("provider", "schema").stdout)
    validator = jsonschema.Draft202012Validator(schema)
    for path in (ROOT / "src/delivery/apps").glob("*.json"):
        if path.stem != "not_supported":
            assert not list(validator.iter_errors(json.loads(path.read_text()))), path
    assert not list(validator.iter_errors(described.file()))
    for changes, field in MISTAKES[1:8]:
        assert list(validator.iter_errors({**described.file(), **changes})), field
    for change, field in STATUS_MISTAKES:
        is_expressible = (field.startswith("status.rules") or field == "status.ok_http"
                          or change.get("headers", {}).keys() & {"X Y", "X:"})
        file = described.file()
        file["status"].update(change)
        assert not is_expressible or list(validator.iter_errors(file)), field


def whole_file(url):
    """Several apps, with every member that the schema has."""
    call = {"method": "POST", "url": url + "/${lane}", "headers": {"X": "${zone}"}, "body_ok": {"not": {"exists": "/error"}}}
    token = {**call, "form": {"a": "b"}, "kind": "header", "access": "/a", "expires_in": "/b", "expires_at": "/c",
             "default_ttl_s": 60, "renew_before_s": 1}
    conditions = [{"true": True}, {"in_hours": True}, {"eq": ["/a", 1]}, {"ne": ["/a", None]}, {"in": ["/a", ["x", True]]},
                  {"prefix": ["/a", "x"]}, {"exists": "/a"}, {"future": "/a"}, {"any": {"path": "/*", "where": {"true": True}}},
                  {"all": {"path": "/*", "where": {"true": True}}}, {"and": [{"true": True}]}, {"or": [{"true": True}]}]
    rules = [{"if": one, "then": "CLOSED", "reason": "blocked", "words_from": "/w", "until_from": "/u"} for one in conditions]
    signature = {"header": "X-Sign", "key": "${secret}"}
    status = {**call, "json": {"a": "b"}, "ok_http": [200], "pending_http": [204], "pending_retry_ms": [500],
              "body_reauth": {"eq": ["/a", 2]}, "signature": signature, "rules": rules}
    file = {"display_name": "F", "docs": "https://example.com", "evidence": "documents", "evidence_date": "2026-11-25",
            "hosts": ["localhost"], "by_country": {"PE": {"zone": "x"}}, "variables": {"lane": "y"},
            "credentials": [{"name": "id"}, {"name": "secret", "secret": True}], "token": token, "status": status,
            "orders": {"dialect": "ifood", "url": url, "headers": {"X": "y"}, "token": token, "signature": signature},
            "limits": {"connect_ms": 100, "total_ms": 4000, "min_interval_s": 10, "max_body": 1024}}
    others = [{**{name: value for name, value in part.items() if name not in ("form", "json")}, **body}
              for part, body in [(token, {"json": {"a": "b"}}), (token, {"raw_json": "{}"}),
                                 (status, {"form": {"a": "b"}}), (status, {"raw_json": "[${id}]"})]]
    apps = [{}, file, {"token": others[0], "status": others[2]}, {"token": others[1], "status": others[3]}]
    return {"schema": 1, **file, "providers": [{"provider_name": f"app{number}", "countries": ["PE"], **app}
                                               for number, app in enumerate(apps)]}


def mistakes(schema, node, value):
    """(what of which node is not kept, the value with that mistake), and all nodes that the value has."""
    while "$ref" in node:
        node = functools.reduce(lambda at, name: at[name], node["$ref"].split("/")[1:], schema)
    yield (id(node), "has it"), None
    wrong_kind = {"object": 7, "array": 7, "string": 7, "integer": "x", "boolean": "x"}
    if isinstance(node.get("type"), str):
        yield (id(node), "type"), wrong_kind[node["type"]]
    elif {"type", "enum", "const"} & node.keys():
        yield (id(node), "word"), {}
    for bound, step in (("minimum", -1), ("maximum", 1)):
        if bound in node:
            yield (id(node), bound), node[bound] + step
    if "pattern" in node:
        yield (id(node), "pattern"), "a:/ b["
    if "maxLength" in node:
        yield (id(node), "maxLength"), "x" * (node["maxLength"] + 1)
    if isinstance(value, list):
        if "minItems" in node:
            yield (id(node), "minItems"), value[:node["minItems"] - 1]
        if "maxItems" in node:
            yield (id(node), "maxItems"), (value * (node["maxItems"] + 1))[:node["maxItems"] + 1]
        first = node.get("prefixItems", [])
        for index, item in enumerate(value):
            for key, wrong in mistakes(schema, first[index] if first else node.get("items", {}), item):
                yield key, key[1] != "has it" and [*value[:index], wrong, *value[index + 1:]]
    if isinstance(value, dict):
        for name in node.get("required", []):
            yield (id(node), f"required {name}"), {other: item for other, item in value.items() if other != name}
        others = node.get("additionalProperties")
        if others is False:
            yield (id(node), "surprise"), {**value, "surprise": 1}
        for name, item in value.items():
            for key, wrong in mistakes(schema, node.get("properties", {}).get(name, others), item):
                yield key, key[1] != "has it" and {**value, name: wrong}


def nodes_of(schema, node):
    """All but those of conditions, which are within each other."""
    while "$ref" in node:
        node = functools.reduce(lambda at, name: at[name], node["$ref"].split("/")[1:], schema)
    inner = [one for name, one in node.get("properties", {}).items() if name not in ("if", "body_ok", "body_reauth")]
    return {id(node)}.union(*(nodes_of(schema, one) for one in [*inner, *filter(None, [node.get("items")])]))


def test_the_program_refuses_each_mistake_that_the_schema_names(described, tmp_path):
    box = Box(tmp_path / "none")
    schema = json.loads(box.command("provider", "schema").stdout)
    validator = jsonschema.Draft202012Validator(schema)
    path = tmp_path / "file.json"

    def is_taken(file, what=""):
        path.write_text(json.dumps(file))
        result = box.command("provider", "check", str(path), check=False)
        is_good = result.returncode == 0
        assert is_good == (not list(validator.iter_errors(file))), (what, result.stderr)
        return is_good

    file = whole_file(described.url)
    assert is_taken(file)
    found = dict(reversed(list(mistakes(schema, schema, file))))  # the first place of each
    assert nodes_of(schema, schema) <= {node for node, what in found}, "whole_file() has every member"
    for (_, what), wrong in found.items():
        assert what == "has it" or not is_taken(wrong, what), (what, wrong)
