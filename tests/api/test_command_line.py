"""The command line: what it says, what it does beside a running server, how it ends."""

import contextlib
import json
import os
import re
import shutil
import socket
import stat
import subprocess
import uuid

import pytest

from support.box import BINARY, ENGINE, PATIENCE_S, ROOT, RUNNER, Box, entries, free_port
from support.orders import INSTANT, UUID
from support.routes import SCOPES
from support.waiting import wait_until

COMMANDS = {
    "sqlite": ["serve", "import", "demo", "backup", "disk", "restore", "drill", "export", "resume", "verify", "doctor", "keys", "pair",
               "webhooks", "provider", "cloud", "audit", "tls", "config", "selftest", "version"],
    "postgresql": ["serve", "import", "demo", "load", "resume", "keys", "pair", "webhooks", "office", "status", "audit", "tls", "config",
                   "selftest", "version"],
}[ENGINE]
VERBS = {"demo": ["play"], "keys": ["create", "list", "revoke"], "pair": ["requests", "accept", "refuse"],
         "tls": ["fingerprint", "renew-authority"], "config": ["check"], "disk": ["use", "forget"],
         "office": ["login"],
         "webhooks": ["list", "add", "show", "test", "log", "redeliver", "pause", "resume", "rotate", "remove", "pin"],
         "provider": ["list", "add", "try", "remove", "mode", "parked", "retry", "cancelled", "check", "schema"],
         "cloud": ["link", "status", "parked", "differences", "unpaired", "pause", "resume", "retry", "discard", "unlink"]}
DONE, REFUSED, USAGE, FAULT = 0, 1, 2, 70


def run(*words, cwd=None):
    return subprocess.run([*RUNNER, str(BINARY), *map(str, words)], capture_output=True, text=True, cwd=cwd,
                          timeout=PATIENCE_S * 4)


def said(result, code, *words):
    """The command ended with that code and said these words where they belong, with the box's name for itself."""
    assert result.returncode == code, result
    result.stdout, result.stderr = (text.replace("comanda-head", "comanda") for text in (result.stdout, result.stderr))
    text = result.stdout if code == DONE else result.stderr
    assert (result.stderr if code == DONE else result.stdout) == "", result
    if code != DONE:
        assert text.startswith("comanda: ") and text.endswith("\n"), text
        assert not re.match(r"comanda: [\w.\[\]-]+: (must|is|are|cannot|has|needs|comes|names) ", text), f"no sentence: {text}"
    for word in words:
        assert word in text, (word, text)
    return text


@pytest.fixture
def own(tmp_path):
    """A box with nothing in it, whose directory is not there unless its settings need one."""
    return Box(tmp_path / "data")


@pytest.fixture
def data(own):
    return own.data


@pytest.fixture
def imported(own):
    said(run("import", "demo", "--data", own.data), DONE)
    return own


@pytest.fixture
def resting():
    """A box of our own, not started."""
    box = Box()
    yield box
    assert box.discard() in (0, -9)


# Help and versions


@pytest.mark.parametrize("word", ["--help", "-h", "help"])
def test_help_lists_every_command(word):
    text = said(run(word), DONE, "Exit codes")
    assert re.findall(r"^  ([a-z]+) {2,}(?!OPTIONS)", text, re.M) == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_and_does_nothing_else(command, tmp_path):
    text = said(run(command, "--help", cwd=tmp_path), DONE, f"comanda {command}")
    assert len(text.splitlines()) >= 3
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["comanda", *COMMANDS])
def test_help_is_the_text_of_its_file(command):
    """A line {{name}} of the file is where the command puts indented lines that it makes from a table."""
    text = (ROOT / f"src/commands/help/{command}.txt").read_text().replace("comanda-head", "comanda")  # as said()
    words = ["--help"] if command == "comanda" else [command, "--help"]
    pieces = re.split(r"^\{\{[a-z]+\}\}\n", text, flags=re.M)
    assert len(pieces) > 1
    assert re.fullmatch(r"(?:  .+\n)+".join(map(re.escape, pieces)), said(run(*words), DONE))


def test_no_lines_of_help_are_too_long_for_a_terminal():
    for command in COMMANDS:
        if command in ("serve", "config"):  # one line for each setting, with its sentence
            continue
        for line in said(run(command, "--help"), DONE).splitlines():
            assert len(line) <= 110, line


@pytest.mark.parametrize("command", ["serve", "config"])
def test_help_names_every_setting(command, imported):
    text = said(run(command, "--help"), DONE)
    for line in said(run("config", "--data", imported.data), DONE).splitlines():
        name = re.match(r"(?:# )?([a-z_]+) =", line)[1]
        assert name in text


def test_help_of_keys_lists_every_scope():
    said(run("keys", "--help"), DONE, *SCOPES, "standard", "plus", "lan", "unlimited")


@pytest.mark.box_only
@pytest.mark.parametrize("word", ["version", "--version"])
def test_version_names_every_library_inside(word):
    text = said(run(word), DONE)
    versions = dict(line.split() for line in text.splitlines())
    assert list(versions) == ["comanda", "civetweb", "cjson", "sqlite", "mbedtls", "libcurl", "c-ares", "cctz", "libdeflate", "libsodium",
                              "preact", "qrcodegen"]
    assert all(re.match(r"\d+\.\d+", v) for v in versions.values()), versions
    # Older ones can lose committed transactions.
    assert tuple(map(int, versions["sqlite"].split("."))) >= (3, 51, 3)


@pytest.mark.box_only
def test_the_program_needs_no_library_of_the_machine():
    headers = subprocess.run(["readelf", "-lW", BINARY], capture_output=True, check=True).stdout
    # The sanitizers alone need a dynamic build.
    assert (b"INTERP" in headers) == ("sanitize" in str(BINARY))


# A wrong command line


WRONG = {
    "nothing": ([], "comanda"),
    "an unknown command": (["impart"], "did you mean 'import'"),
    "an unknown option": (["serve", "--lisen", "x"], "did you mean --listen"),
    "an option of another command": (["import", "demo", "--scopes", "all"], "--scopes is not an option"),
    "an option without its value": (["keys", "list", "--data"], "--data needs a value"),
    "a word too many": (["serve", "now"], "'now'"),
    "no file": (["import"], "comanda import FILE"),
    "two files": (["import", "demo", "demo"], "name one file"),
    "keys without a verb": (["keys"], "create, list or revoke"),
    "keys with another verb": (["keys", "delete"], "create, list or revoke"),
    "a key without a name": (["keys", "create", "--scopes", "all"], "--name is needed"),
    "a key without scopes": (["keys", "create", "--name", "x"], "--scopes is needed"),
    "a revocation of nothing": (["keys", "revoke"], "keys revoke ID"),
    "another environment": (["keys", "list", "--env", "prod"], "live or test"),
    "an option of version": (["version", "--nonsense"], "--nonsense"),
    "a word behind version": (["version", "all"], "'all'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_command_line_ends_with_2_and_a_hint(name, tmp_path):
    words, says = WRONG[name]
    if words and words[0] in ("keys", "import"):
        words = words[:1] + ["--data", tmp_path / "data"] + words[1:] if words[-1] != "--data" else words
    result = run(*words, cwd=tmp_path)
    if not words:
        assert result.returncode == USAGE and says in result.stdout
    else:
        said(result, USAGE, says)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_ends_with_2_where_its_line_is_wrong(command, tmp_path):
    where = ["--data", tmp_path / "data"] if command not in ("selftest", "version") else []
    assert run(command, *where, "--nonsense", cwd=tmp_path).returncode == USAGE
    wrong = [[], ["nonsense"]] if command in VERBS and command != "config" else []
    wrong += [[verb, *"abcdef"] for verb in VERBS.get(command, [])]
    if command not in VERBS:
        wrong += [list("abcdef")]
    for words in wrong:
        said(run(command, *words, *where, cwd=tmp_path), USAGE)
    assert list(tmp_path.iterdir()) == []


# What a command cannot do, although it is understood. A box that was never filled, else a running one.
REFUSED_ALONE = {
    "serve": ["--workers", "many"], "import": ["none.json"], "backup": ["target"], "disk": ["use", "/dev/none"], "restore": ["none", "--yes"],
    "drill": ["none"], "resume": [], "verify": ["none"], "keys": ["list"], "pair": ["--name", "x", "--scopes", "all"],
    "webhooks": ["list"], "audit": [], "tls": ["fingerprint"], "config": ["set", "workers", "many"], "status": [],
}
REFUSED_BESIDE = {
    "keys": ["revoke", str(uuid.UUID(int=1))], "webhooks": ["remove", str(uuid.UUID(int=1))],
    "provider": ["mode", "nothing", "mirror"], "cloud": ["retry", str(uuid.UUID(int=1))],
    "cloud without a link": ["pause"], "pair": ["--name", "x", "--scopes", "nothing"], "import": ["none.json"],
    "audit": ["--company", str(uuid.UUID(int=1))],
}


@pytest.mark.parametrize("command", [name for name in REFUSED_ALONE if name in COMMANDS])
def test_each_command_ends_with_1_where_it_is_refused(command, tmp_path):
    said(run(command, *REFUSED_ALONE[command], "--data", tmp_path / "data", cwd=tmp_path), REFUSED)


@pytest.mark.parametrize("name", [name for name in REFUSED_BESIDE if name.split()[0] in COMMANDS])
def test_each_command_ends_with_1_where_the_server_refuses(name, box):
    said(box.command(name.split()[0], *REFUSED_BESIDE[name], "--data", str(box.data), check=False), REFUSED)


@pytest.mark.box_only
def test_a_refusal_of_several_lines_has_its_lines(resting, tmp_path):
    resting.bring_in("demo")
    backup = tmp_path / "backup"
    resting.command("backup", str(backup), "--data", str(resting.data))
    for line in (backup / "B2SUMS").read_text().splitlines():
        with open(backup / line.split()[-1], "ab") as file:
            file.write(bytes(512))
    text = said(resting.command("restore", str(backup), "--yes", "--data", str(resting.data), check=False), REFUSED, "--damaged")
    assert "\\n" not in text and len(text.splitlines()) == 3, text


# Settings


def test_config_shows_every_setting_and_where_it_comes_from(imported):
    imported.settings = "# ours\nrate_lan = 5000\nlog_level = debug  # loud\n"
    text = said(run("config", "--data", imported.data, "--log_level", "notice"), DONE)
    settings = {m[1]: (m[2], m[3]) for m in re.finditer(r"(?m)^(?:# )?([a-z_]+) = (.*?) *# (.*)$", text)}
    assert settings["data"] == (str(imported.data), "--data")
    assert settings["rate_lan"] == ("5000", "comanda.conf, line 2")
    assert settings["log_level"] == ("notice", "--log_level")
    assert settings["rate_standard"] == ("100", "default")
    assert settings["listen"] == ("0.0.0.0:8443", "default")


def test_what_config_shows_can_be_used_as_the_file(imported):
    shown = said(run("config", "--data", imported.data, "--rate_plus", "601", "--hosts", "box.example"), DONE)
    imported.settings_file.write_text(shown)
    again = said(run("config", "--data", imported.data), DONE)

    def values(text):
        return [line.split("#")[0].strip() or line.split("  #")[0] for line in text.splitlines()]

    assert values(again)[1:] == values(shown)[1:]


BAD_SETTINGS = {
    "rate_lam = 3": ["rate_lam", "rate_lan", "line 1"],
    "rate-lan = 3": ["rate_lan", "line 1"],
    "\nworkers = 3": ["workers", "8 to 2048", "line 2"],
    "workers = many": ["workers", "8 to 2048"],
    "rate_standard = 0": ["rate_standard"],
    "listen = 8443": ["listen", "0.0.0.0:8443"],
    "listen = 0.0.0.0:0": ["listen", "1 to 65535"],
    "log_level = loud": ["log_level", "debug"],
    "key_prefix = a_b": ["key_prefix"],
    "errors_base = nowhere": ["errors_base"],
    "tls_key = x": ["tls_certificate", "together"],
    "workers = 100\nworkers = 200": ["workers", "line 2", "line 1"],
    "workers": ["name = value", "line 1"],
    "data = /elsewhere": ["data", "command line"],
}


@pytest.mark.parametrize("content", BAD_SETTINGS)
def test_a_bad_setting_refuses_to_start_and_names_the_line(imported, content):
    imported.settings = content + "\n"
    for words in (["config"], ["serve"]):
        said(run(*words, "--data", imported.data), REFUSED, *BAD_SETTINGS[content])


def test_config_set_writes_a_setting_that_the_server_then_uses(resting):
    resting.settings = "# ours\nrate_lan = 5000  # the tills\n\nkey_prefix = old\nlog_level = debug"

    def config(*words):
        return run("config", *words, "--data", resting.data)

    said(config("set", "key_prefix", "box", "hosts", "caja.example,10.0.0.5"), DONE, "comanda.conf", "systemctl restart comanda")
    assert resting.settings == ("# ours\nrate_lan = 5000  # the tills\n\nkey_prefix = box\nlog_level = debug\n"
                                "hosts = caja.example,10.0.0.5\n")
    said(config("set", "log-level", "notice"), DONE, "systemctl reload comanda")
    said(config("unset", "hosts", "rate_lan"), DONE, "systemctl restart comanda")
    assert resting.settings == "# ours\n\nkey_prefix = box\nlog_level = notice\n"
    assert stat.S_IMODE(resting.settings_file.stat().st_mode) == 0o600
    shown = said(config(), DONE)
    assert "key_prefix = box  # comanda.conf, line 3" in shown and "rate_lan = 3000  # default" in shown
    said(run("import", "demo", "--data", resting.data), DONE)
    assert "box_live_" in said(run("keys", "create", "--name", "A", "--scopes", "all", "--data", resting.data), DONE)


CANNOT_BE_SET = {
    ("listn", "0.0.0.0:8443"): ["listn", "did you mean listen?"],
    ("listen", "8443"): ["listen", "0.0.0.0:8443"],
    ("rate_lan", "5", "workers", "3"): ["workers", "8 to 2048"],
    ("data", "/elsewhere"): ["data", "--data DIR"],
    ("disk_low", "1"): ["disk_low", "disk_tight"],
    ("tls_key", "/a.pem"): ["tls_certificate", "together"],
    ("tls_certificate", "/nowhere/a.crt", "tls_key", "/nowhere/a.key"): ["tls_certificate", "must both exist"],
    ("webhook_ca", "/nowhere/a.pem"): ["webhook_ca", "/nowhere/a.pem"],
    ("tls_certificate", "/a #b.crt", "tls_key", "/a.key"): ["tls_certificate", "no # after a blank"],
    ("tls_certificate", "/a\nworkers = 9", "tls_key", "/a.key"): ["tls_certificate", "no line break"],
}


@pytest.mark.parametrize("words", [pytest.param(words, marks=pytest.mark.box_only) if words[0] == "disk_low" else words
                                   for words in CANNOT_BE_SET])
def test_config_set_refuses_what_the_server_could_not_use_and_writes_nothing(imported, words):
    imported.settings = "rate_lan = 5000\n"
    said(run("config", "set", *words, "--data", imported.data), REFUSED, *CANNOT_BE_SET[words])
    assert imported.settings == "rate_lan = 5000\n"


def test_config_set_corrects_a_line_that_stops_the_server_and_names_others(imported):
    imported.settings = "workers = many\nworkers = 3\n"
    said(run("config", "set", "workers", "64", "--data", imported.data), DONE)
    assert imported.settings == "workers = 64\n"
    imported.settings = "workers = many\nlistn = x\n"
    said(run("config", "set", "workers", "64", "--data", imported.data), REFUSED, "listn", "line 2")
    said(run("config", "unset", "workers", "--data", imported.data), REFUSED, "listn", "line 1")


@pytest.mark.parametrize("words", [["set"], ["set", "workers"], ["unset"], ["set", "--workers", "9"],
                                   ["set", "workers", "9", "workers", "10"], ["sett", "workers", "9"]])
def test_config_set_says_how_it_is_written(imported, words):
    said(run("config", *words, "--data", imported.data), USAGE)
    assert not imported.settings_file.exists() or imported.settings == ""


def test_config_set_takes_no_directory_that_is_not_there(tmp_path):
    said(run("config", "set", "workers", "64", "--data", tmp_path / "nowhere"), REFUSED, "no data directory", "nowhere")
    assert list(tmp_path.iterdir()) == []


# Import


def counts(text):
    """{company: {kind: (new, changed, as before)}}"""
    found, current = {}, None
    for line in text.splitlines():
        row = re.fullmatch(r"  (\w+) +(\d+) new, (\d+) changed, (\d+) as before", line)
        if row:
            current[row[1]] = tuple(map(int, row.groups()[1:]))
        else:
            name, _ = line.rsplit("  ", 1)
            assert UUID.fullmatch(line.split()[-1])
            current = found[name] = {}
    return found


def test_the_demo_restaurant_comes_in_and_a_second_time_changes_nothing(own):
    data = own.data
    first = counts(said(run("import", "demo", "--data", data), DONE))["La Caleta"]
    assert first["companies"] == (1, 0, 0)
    assert first["products"][0] >= 50 and first["users"][0] >= 7 and first["payment_methods"][0] >= 3
    before = dump(own)
    second = counts(said(run("import", "demo", "--data", data), DONE))["La Caleta"]
    assert second == {kind: (0, 0, new) for kind, (new, _, _) in first.items()}
    assert dump(own) == before


def test_the_demo_orders_are_of_the_menu_and_made_at_its_stations(resting):
    said(run("import", "demo", "--data", resting.data), DONE)
    resting.start()
    with contextlib.closing(resting.client(resting.make_key()["key"])) as api:
        prices = {variant["id"]: variant["price"] for category in api.get("/v1/menu").data["categories"]
                  for product in category["products"] for variant in product["variants"]}
        orders = api.get("/v1/orders?per_page=100").data
        lines = [line for order in orders for line in order["combos"]]
        assert len(orders) == 2 and len(lines) == 3
        for line in lines:
            assert line["variant_price"] == prices[line["variant_id"]] * line["quantity"], line
        stations = {row["id"]: row["open_lines"] for row in api.get("/v1/kitchen/stations").data}
        assert all(line["station_id"] in stations for ticket in api.get("/v1/kitchen/tickets").data for line in ticket["lines"])
        assert sum(stations.values()) == len(lines)


def dump(box):
    """Every row of the restaurant, without those that a running server writes by itself as time passes."""
    found = box.all_rows(without={"mark", "event_mark", "owner"})
    assert {"company", "payment_method", "staff", "product"} <= set(found)
    return found


def test_the_demo_file_of_the_source_is_the_one_inside(data):
    said(run("import", "demo", "--data", data), DONE)
    again = counts(said(run("import", ROOT / "src/app/demo.json", "--data", data), DONE))["La Caleta"]
    assert all(new == changed == 0 for new, changed, _ in again.values()), again


def test_a_changed_file_changes_what_it_changes(data, tmp_path):
    file = tmp_path / "restaurant.json"
    document = json.loads((ROOT / "src/app/demo.json").read_text())
    said(run("import", "demo", "--data", data), DONE)
    document["companies"][0]["payment_methods"][0]["description"] = "En efectivo"
    document["companies"][0]["tables"].append({"name": "Mesa de la terraza"})
    file.write_text(json.dumps(document))
    got = counts(said(run("import", file, "--data", data), DONE))["La Caleta"]
    assert got["payment_methods"][:2] == (0, 1)
    assert got["tables"][:2] == (1, 0)
    assert got["products"][:2] == (0, 0)


def test_several_companies_come_in_with_one_file(data):
    got = counts(said(run("import", ROOT / "tests/support/other_restaurant.json", "--data", data), DONE))
    assert len(got) == 2 and all(c["companies"] == (1, 0, 0) for c in got.values())


@pytest.mark.box_only
def test_the_sandbox_is_another_file(data):
    said(run("import", "demo", "--data", data, "--env", "test"), DONE)
    assert (data / "test.db").exists() and not (data / "live.db").exists()


def test_the_sandbox_is_another_database(data):
    said(run("import", "demo", "--data", data, "--env", "test"), DONE)
    said(run("keys", "create", "--data", data, "--name", "x", "--scopes", "all"), REFUSED, "comanda import")
    made = json.loads(said(run("keys", "create", "--data", data, "--name", "x", "--scopes", "all", "--env", "test",
                               "--json"), DONE))
    assert made["key"].startswith("cmd_test_")


BAD_FILE = """{
 "companies": [
  {
   "name": "X",
   "country_code": "pe",
   "timezone": "Mars/Olympus",
   "currency": "PEN",
   "paiment_methods": [],
   "payment_methods": [{"code": "cash", "description": "Efectivo", "service_types": ["DINE_IN"]}],
   "users": [
    {"name": "Ana", "role": "chef"},
    {"role": "cook"}
   ],
   "tables": [{"name": ""}],
   "categories": [{"name": "Platos", "products": [{"name": "Ceviche", "price": 12.345}]}]
  }
 ]
}
"""


def test_every_wrong_field_of_a_file_is_named_with_its_line_and_nothing_comes_in(data, tmp_path):
    file = tmp_path / "bad.json"
    file.write_text(BAD_FILE)
    text = said(run("import", file, "--data", data), REFUSED)
    company = "companies[0]."
    for field, says, line in [
            ("country_code", "PE", 5), ("timezone", "America/Lima", 6), ("paiment_methods", "payment_methods", 8),
            ("payment_methods[0].service_types", "ONSITE", 9), ("users[0].role", "cook", 11),
            ("users[1].name", "", 12), ("tables[0].name", "empty", 14),
            ("categories[0].products[0].price", "2 decimals", 15)]:
        assert re.search(re.escape(f"  {company}{field}: ") + f".*{says}.*\\(line {line}\\)\n", text), (field, text)
    assert len(text.splitlines()) == 9, text
    said(run("keys", "list", "--data", data), REFUSED, "import one first")


BROKEN_FILES = {
    "no JSON": ('{"companies": [', "line 1, column 16"),
    "an empty file": ("", "line 1"),
    "a list": ("[]", "object"),
    "no companies": ("{}", "companies"),
    "a duplicate key": ('{"companies": [],\n"companies": []}', "line 2"),
    "no UTF-8": (b'{"companies": [{"name": "\xff"}]}', "UTF-8"),
}


@pytest.mark.parametrize("name", BROKEN_FILES)
def test_a_broken_file_is_refused_with_the_place(data, tmp_path, name):
    content, says = BROKEN_FILES[name]
    file = tmp_path / "broken.json"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    said(run("import", file, "--data", data), REFUSED, str(file), says)


def test_a_file_that_is_not_there_is_refused_by_name(data, tmp_path):
    said(run("import", tmp_path / "none.json", "--data", data), REFUSED, "none.json")


def test_a_file_that_is_too_large_is_refused(data, tmp_path):
    file = tmp_path / "large.json"
    file.write_bytes(b'{"companies": []}'.ljust(8 * 1024 * 1024 + 1))
    said(run("import", file, "--data", data), REFUSED, "8388608")


def test_an_import_while_the_server_runs_shows_at_once(resting):
    resting.start()
    assert resting.command("keys", "list", "--data", str(resting.data), check=False).returncode == REFUSED
    before = counts(resting.bring_in("demo").stdout)["La Caleta"]
    assert before["products"][0] >= 50
    made = resting.make_key()
    with contextlib.closing(resting.client(made["key"])) as client:
        assert client.get("/v1/orders").data == []
        order = client.place()
        assert order["currency"] == "PEN"
    again = counts(resting.bring_in("demo").stdout)["La Caleta"]
    assert all(new == changed == 0 for new, changed, _ in again.values())


def test_a_bad_file_is_refused_by_the_running_server_in_the_same_words(resting, data, tmp_path):
    resting.start()
    for content in [BAD_FILE.encode(), b" " * (8 * 1024 * 1024 + 1),
                    *(c if isinstance(c, bytes) else c.encode() for c, _ in BROKEN_FILES.values())]:
        file = tmp_path / "bad.json"
        file.write_bytes(content)
        running = resting.command("import", str(file), "--data", str(resting.data), check=False)
        assert said(running, REFUSED) == said(run("import", file, "--data", data), REFUSED)
    with contextlib.closing(resting.client()) as client:
        assert client.get("/healthz").status == 200


def test_a_server_without_a_restaurant_runs_and_says_how_to_bring_one_in(resting):
    resting.start()
    with contextlib.closing(resting.client()) as client:
        assert client.get("/readyz").status == 200
    resting.wait_for_log("comanda import")


# Keys


@pytest.fixture(params=["resting", "running"])
def either(request, resting):
    """A box whose server runs, and one whose does not: the command line acts alike."""
    resting.bring_in("demo")
    if request.param == "running":
        resting.start()
    return resting


def keys(box, *words, check=True):
    return box.command("keys", *words, "--data", str(box.data), check=check)


def test_a_key_is_made_shown_once_listed_and_revoked(either):
    result = keys(either, "create", "--name", "till 1", "--scopes", "orders:read,orders:write")
    match = re.match(r"id   (\S+)\nkey  (cmd_live_[0-9A-Za-z]{38})\n\n.*not shown again", result.stdout)
    assert match, result.stdout
    id, key = match.groups()
    listed = keys(either, "list").stdout
    assert id in listed and "till 1" in listed and key[:12] in listed and key[-4:] in listed
    assert "lan" in listed and "active" in listed and key not in listed
    assert keys(either, "revoke", id).stdout == f"revoked {id}\n"
    assert id not in keys(either, "list").stdout
    assert "revoked" in keys(either, "list", "--all").stdout
    assert keys(either, "revoke", id).returncode == DONE
    either.stop()
    either.start()
    with contextlib.closing(either.client(key)) as client:
        assert client.get("/v1/orders").code == "key_revoked"


def test_json_has_fixed_shapes(either):
    made = json.loads(keys(either, "create", "--name", "x", "--scopes", "all", "--json").stdout)
    assert set(made) == {"id", "key"}
    listed = json.loads(keys(either, "list", "--json").stdout)
    assert set(listed) == {"data", "pagination"}
    assert [k["id"] for k in listed["data"]] == [made["id"]]
    assert set(listed["data"][0]["scopes"]) == set(SCOPES)
    assert listed["data"][0]["tier"] == "lan"
    gone = json.loads(keys(either, "revoke", made["id"], "--json").stdout)
    assert INSTANT.fullmatch(gone["data"]["revoked_at"])
    assert json.loads(keys(either, "list", "--json").stdout)["data"] == []


def test_tier_and_end_of_a_key_are_kept(either):
    keys(either, "create", "--name", "x", "--scopes", "orders:read", "--tier", "plus",
         "--expires-at", "2099-01-31T00:00:00-05:00")
    (row,) = json.loads(keys(either, "list", "--json").stdout)["data"]
    assert (row["tier"], row["expires_at"]) == ("plus", "2099-01-31T05:00:00.000Z")
    assert "expires 2099-01-31" in keys(either, "list").stdout


BAD_KEYS = {
    "an unknown scope": (["--name", "x", "--scopes", "orders:delete"], "orders:read"),
    "one unknown scope among others": (["--name", "x", "--scopes", "orders:read,everything"], "scopes[1]"),
    "no scope": (["--name", "x", "--scopes", ","], "scopes"),
    "an empty name": (["--name", "", "--scopes", "all"], "name"),
    "an unknown tier": (["--name", "x", "--scopes", "all", "--tier", "gold"], "standard"),
    "an end that is past": (["--name", "x", "--scopes", "all", "--expires-at", "2020-01-01T00:00:00Z"], "future"),
    "an end that is none": (["--name", "x", "--scopes", "all", "--expires-at", "tomorrow"], "expires_at"),
    "an unknown company": (["--name", "x", "--scopes", "all", "--company", str(uuid.UUID(int=1))], "no company"),
    "a company that is no id": (["--name", "x", "--scopes", "all", "--company", "La Caleta"], "UUID"),
}


@pytest.mark.parametrize("name", BAD_KEYS)
def test_a_key_that_cannot_be_made_is_refused_with_what_would_be_accepted(either, name):
    words, says = BAD_KEYS[name]
    said(keys(either, "create", *words, check=False), REFUSED, says)
    assert keys(either, "list").stdout == ""


@pytest.mark.parametrize("id, says", [(str(uuid.UUID(int=1)), "no API key"), ("nonsense", "UUID")])
def test_revoking_what_is_not_there_is_refused(either, id, says):
    said(keys(either, "revoke", id, check=False), REFUSED, says)


@pytest.mark.parametrize("words, says", [
    (["pair", "accept", "123456", "--as", "kitchen", "--name", "x"], "comanda: number is shown by no device that asks now"),
    (["pair", "accept", "12", "--as", "kitchen", "--name", "x"], "comanda: number must be the six digits that the device shows"),
    (["pair", "--as", "kitchen", "--name", ""], "comanda: name must not be empty"),
    (["keys", "create", "--name", "x", "--scopes", "orders:read,x"], "comanda: scopes[1] must be one of"),
    (["keys", "revoke", "x"], "comanda: id must be a UUID"),
    (["config", "set", "workers", "3"], "comanda: workers must be a whole number from 8 to 2048 (comanda.conf, line "),
    (["config", "set", "colour", "3"], "comanda: colour is not a setting"),
])
def test_a_refusal_reads_as_a_sentence(either, words, says):
    result = either.command(*words, "--data", str(either.data), check=False)
    assert said(result, REFUSED).startswith(says), result


def test_more_keys_than_a_page_are_all_listed(resting):
    resting.bring_in("demo")
    resting.start()
    with contextlib.closing(resting.client(resting.make_key()["key"])) as client:
        for n in range(101):
            assert client.post("/auth/api-keys", {"name": f"till {n}", "scopes": ["orders:read"]}).status == 201
    listed = keys(resting, "list").stdout
    assert len(listed.splitlines()) == 102 and all(f"  till {n} " in listed for n in range(101))


def test_a_key_of_a_named_company_opens_that_one(resting):
    resting.bring_in("demo")
    resting.bring_in(ROOT / "tests/support/other_restaurant.json")
    companies = resting.rows("SELECT id, currency FROM company")
    assert len(companies) == 3
    resting.start()
    for company, currency in companies:
        with contextlib.closing(resting.client(resting.make_key(company=company)["key"])) as client:
            assert client.place()["currency"] == currency


def test_keys_have_the_prefix_of_the_setting(resting):
    resting.settings = "key_prefix = acme\n"
    resting.bring_in("demo")
    made = resting.make_key()
    assert made["key"].startswith("acme_live_")
    resting.start()
    with contextlib.closing(resting.client(made["key"])) as client:
        assert client.get("/v1/orders").status == 200


# The server and its directory


def modes(directory):
    return {str(path.relative_to(directory)): stat.S_IMODE(found.st_mode) for path, found in entries(directory)
            if path.name != "test.log"}


@pytest.mark.parametrize("umask", [0o022, 0o000])
def test_nobody_else_can_read_the_data(tmp_path, umask):
    box = Box(tmp_path / "box" / "data", ["--sandbox-listen", f"127.0.0.1:{free_port()}"])
    before = os.umask(umask)
    try:
        box.bring_in("demo")
        box.make_key()
        box.start()
        with contextlib.closing(box.client(box.make_key()["key"])) as client:
            client.place()
        found = modes(box.data)
        assert stat.S_IMODE(box.data.stat().st_mode) == 0o700
        assert found.pop("tls") == 0o700
        assert found.pop("tls/ca.crt") == found.pop("tls/issuing.crt") == found.pop("tls/server.crt") == 0o644
        assert {"control.sock", "control-test.sock", "comanda.lock", "tls/ca.key", "tls/server.key"} <= set(found)
        assert {"live.db", "live.db-wal", "test.db"} <= set(found) or ENGINE != "sqlite"
        assert set(found.values()) == {0o600}, found
    finally:
        os.umask(before)
        box.discard()


def test_a_second_server_on_the_same_directory_is_refused_and_the_first_goes_on(resting):
    resting.start()
    said(resting.command("serve", "--data", str(resting.data), "--listen", "127.0.0.1:1", check=False), FAULT,
         str(resting.data), "another Comanda", "--data")
    with contextlib.closing(resting.client()) as client:
        assert client.get("/healthz").status == 200


def test_an_address_in_use_is_a_fault_that_names_it(resting, data):
    resting.start()
    address = f"127.0.0.1:{resting.port}"
    result = run("serve", "--data", data, "--listen", address)
    assert result.returncode == FAULT
    last = result.stderr.splitlines()[-1]
    assert last.startswith(f"{BINARY.name}: cannot listen on {address}: Address already in use; "), last
    assert "`listen`" in last, last


def test_an_address_of_another_machine_is_a_fault_that_names_it(data):
    result = run("serve", "--data", data, "--listen", "203.0.113.9:8443")
    assert result.returncode == FAULT
    assert "cannot listen on 203.0.113.9:8443: Cannot assign requested address; " in result.stderr


@pytest.mark.box_only
@pytest.mark.parametrize("command", [["keys", "list"], ["keys", "create", "--name", "x", "--scopes", "all"],
                                     ["audit"]])
def test_a_mistyped_directory_is_named_and_not_made(tmp_path, command):
    missing = tmp_path / "nowhere"
    said(run(*command, "--data", missing), REFUSED, str(missing), "--data", "comanda import")
    assert not missing.exists()


def test_a_company_that_is_no_id_is_refused_in_the_words_of_the_command_line(imported):
    said(run("keys", "list", "--data", imported.data, "--company", "7"), REFUSED, "company", "UUID")
    assert "X-Company-Id" not in run("keys", "list", "--data", imported.data, "--company", "7").stderr


@pytest.mark.parametrize("command", [["serve"], ["import", "demo"], ["keys", "list"]])
def test_a_directory_that_cannot_be_made_is_a_fault_that_names_it(tmp_path, command):
    file = tmp_path / "file"
    file.write_text("")
    result = run(*command, "--data", file / "data")
    assert result.returncode == FAULT
    assert str(file) in result.stderr


@pytest.mark.box_only
def test_a_damaged_database_is_a_fault_and_stays_as_it_is(imported):
    database = imported.data / "live.db"
    database.write_bytes(b"this is no database " * 1000)
    for words in (["serve", "--listen", "127.0.0.1:1"], ["keys", "list"], ["import", "demo"]):
        result = run(*words, "--data", imported.data)
        assert result.returncode == FAULT and "live.db" in result.stderr, result
        assert "restore a backup" in result.stderr, result
    assert database.read_bytes() == b"this is no database " * 1000


@pytest.mark.box_only
def test_a_copy_of_the_directory_of_a_stopped_server_is_a_backup(resting, tmp_path):
    """The README's way to back up and to restore."""
    resting.bring_in("demo")
    key = resting.make_key()["key"]
    resting.start()
    with contextlib.closing(resting.client(key)) as client:
        kept = client.place()
    assert resting.stop() == 0
    shutil.copytree(resting.data, tmp_path / "copy")
    resting.start()
    with contextlib.closing(resting.client(key)) as client:
        lost = client.place()
    resting.kill()
    shutil.rmtree(resting.data)
    shutil.copytree(tmp_path / "copy", resting.data)
    resting.start()
    with contextlib.closing(resting.client(key)) as client:  # who trusted the authority before trusts it again
        assert client.get(f"/v1/orders/{kept['id']}").data == kept
        assert client.get(f"/v1/orders/{lost['id']}").status == 404
        assert client.place()["order_number"] == lost["order_number"]


def test_the_control_socket_is_gone_or_replaced_after_a_crash(resting):
    resting.bring_in("demo")
    resting.start()
    resting.kill()
    assert resting.make_key()["key"]  # nobody holds the directory: done in this process
    resting.start()
    assert resting.make_key()["key"]


def test_the_control_socket_speaks_http_and_is_the_owners_alone(resting):
    resting.bring_in("demo")
    resting.start()
    with socket.socket(socket.AF_UNIX) as control:
        control.settimeout(PATIENCE_S)
        control.connect(str(resting.data / "control.sock"))
        control.sendall(b"GET /auth/api-keys HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        answer = b""
        while piece := control.recv(65536):
            answer += piece
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert json.loads(answer.split(b"\r\n\r\n", 1)[1])["data"] == []


@pytest.mark.parametrize("number", [15, 2])
def test_sigterm_and_sigint_end_the_server_cleanly(resting, number):
    resting.start()
    resting.signal(number)
    assert resting.process.wait(PATIENCE_S) == 0
    assert "stopping" in resting.log_text()
    assert "<3>" not in resting.log_text(), "an end that was asked for is no error"


def test_every_line_of_the_log_begins_with_its_priority(resting):
    resting.bring_in("demo")
    resting.start()
    with contextlib.closing(resting.client(resting.make_key()["key"])) as client:
        client.place()
        client.get("/nothing")
        client.get("/v1/orders")
    resting.stop()
    lines = resting.log_text().splitlines()
    assert all(re.match(r"<[0-7]>", line) for line in lines), lines
    requests = [line for line in lines if re.match(r"<\d>request\b", line)]
    # Changes and errors, not a line for each poll.
    assert len([line for line in requests if "/v1/orders" in line]) == 1, requests
    assert len([line for line in requests if "/nothing" in line]) == 1, requests


def test_sighup_applies_what_config_marks_with_a_star(resting):
    stars = re.findall(r"(?m)^  (\w+) .*\*", said(run("config", "--help"), DONE))
    assert {"hosts", "tls_certificate", "tls_key", "log_level"} <= set(stars)
    assert not {"data", "listen", "rate_standard", "metrics_from", "workers"} & set(stars)
    resting.start()
    with contextlib.closing(resting.client()) as client:
        assert client.get("/healthz", Host="till.example").status == 421
        client.get("/before")
        resting.settings = "hosts = till.example\nlog_level = error\n"
        resting.signal(1)
        wait_until(lambda: client.get("/healthz", Host="till.example").status == 200, resting.log_text)
        client.get("/after")
    resting.wait_for_log("/before")
    assert "/after" not in resting.log_text()


def test_sighup_with_a_bad_file_keeps_the_old_settings_and_says_so(resting):
    resting.start()
    resting.settings = "hosts = till.example\nnonsense = 1\n"
    resting.signal(1)
    resting.wait_for_log("not applied")
    assert "nonsense" in resting.log_text()
    with contextlib.closing(resting.client()) as client:
        assert client.get("/healthz", Host="till.example").status == 421
        assert client.get("/healthz").status == 200


# Several restaurants on one box


SAYS_WHICH = {
    "keys create": ["keys", "create", "--name", "x", "--scopes", "all"],
    "keys list": ["keys", "list"],
    "keys revoke": ["keys", "revoke", str(uuid.UUID(int=1))],
    "audit": ["audit"],
}


@pytest.mark.parametrize("name", SAYS_WHICH)
def test_a_command_asks_which_of_several_restaurants_is_meant(either, name):
    either.bring_in(ROOT / "tests/support/other_restaurant.json")
    companies = either.rows("SELECT id, name FROM company")
    assert len(companies) == 3
    words = [*SAYS_WHICH[name], "--data", str(either.data)]
    text = said(either.command(*words, check=False), REFUSED, "--company")
    for id, company in companies:
        assert f"  {id}: {company}\n" in text
    assert either.rows("SELECT count(*) FROM api_key") == [(0,)]
    assert either.command(*words, "--company", companies[1][0], check=False).returncode in (DONE, REFUSED)


def restaurant(name, **fields):
    return {"name": name, "country_code": "PE", "timezone": "America/Lima", "currency": "PEN", **fields}


def bring_in(box, tmp_path, *companies, more=()):
    file = tmp_path / "restaurants.json"
    file.write_text(json.dumps({"companies": list(companies)}))
    return box.command("import", str(file), "--data", str(box.data), *more, check=False)


def test_a_renamed_restaurant_without_an_id_makes_no_second_one_silently(resting, tmp_path):
    assert bring_in(resting, tmp_path, restaurant("La Caleta")).returncode == DONE
    id = resting.value("SELECT id FROM company")
    for running in (False, True):
        if running:
            resting.start()
        said(bring_in(resting, tmp_path, restaurant("La Caleta Nueva")), REFUSED, "companies[0].id", "La Caleta", id,
             "--new-company", "(line 1)")
        assert resting.rows("SELECT name FROM company") == [("La Caleta",)]
    said(bring_in(resting, tmp_path, restaurant("LA CALETA", description="x")), DONE, "0 new, 1 changed")
    said(bring_in(resting, tmp_path, restaurant("La Caleta Nueva", id=id)), DONE, "0 new, 1 changed")
    said(bring_in(resting, tmp_path, restaurant("La Otra"), more=["--new-company"]), DONE, "1 new")
    assert resting.rows("SELECT name FROM company ORDER BY name") == [("La Caleta Nueva",), ("La Otra",)]


def test_after_the_demo_an_own_restaurant_must_be_called_new(resting, tmp_path):
    resting.bring_in("demo")
    said(bring_in(resting, tmp_path, restaurant("El Muelle")), REFUSED, "La Caleta", "--new-company")
    said(bring_in(resting, tmp_path, restaurant("El Muelle"), more=["--new-company"]), DONE)
    said(bring_in(resting, tmp_path, restaurant("El Muelle")), DONE, "1 as before")


def test_several_restaurants_come_into_an_empty_box_without_being_called_new(resting, tmp_path):
    said(bring_in(resting, tmp_path, restaurant("A"), restaurant("B")), DONE)
    said(bring_in(resting, tmp_path, restaurant("A"), restaurant("B"), restaurant("C")), REFUSED, "companies[2].id")


@pytest.mark.parametrize("spoil", [
    {"currency": "USD"}, {"payment_methods": [{"id": str(uuid.UUID(int=2)), "code": "cash"}]},
    {"categories": [{"name": "X", "products": [{"name": "Y", "price": 1, "sku": "S", "kitchen_id": str(uuid.UUID(int=3))}]}]}])
@pytest.mark.parametrize("running", [False, True])
def test_a_file_whose_second_restaurant_is_refused_changes_nothing(resting, tmp_path, spoil, running):
    good = [restaurant("A", id=str(uuid.UUID(int=10)), payment_methods=[{"code": "cash"}]),
            restaurant("B", id=str(uuid.UUID(int=11)), payment_methods=[{"code": "cash"}])]
    said(bring_in(resting, tmp_path, *good), DONE)
    before = dump(resting)
    if running:
        resting.start()
        before = dump(resting)
    changed = {**good[0], "description": "changed", "tables": [{"name": "Mesa 1"}]}
    text = said(bring_in(resting, tmp_path, changed, {**good[1], **spoil}), REFUSED, "companies[1].")
    assert "(line 1)" in text
    assert dump(resting) == before


def test_everything_wrong_with_a_file_beside_what_is_stored_is_named_at_once(resting, tmp_path):
    good = [restaurant(n, id=str(uuid.UUID(int=10 + i))) for i, n in enumerate("AB")]
    said(bring_in(resting, tmp_path, *good), DONE)
    said(bring_in(resting, tmp_path, *[{**c, "currency": "USD"} for c in good], restaurant("C")), REFUSED,
         "companies[0].currency", "companies[1].currency", "companies[2].id")


def test_a_forgotten_currency_is_asked_for(resting, tmp_path):
    company = restaurant("A")
    del company["currency"]
    said(bring_in(resting, tmp_path, company), REFUSED, "companies[0].currency", "is required")
    assert resting.rows("SELECT count(*) FROM company") == [(0,)]


def test_an_amount_whose_mark_can_mean_two_things_is_asked_back(resting, tmp_path):
    company = restaurant("A", categories=[{"name": "X", "products": [{"name": "Y", "price": "22.000"}]}])
    said(bring_in(resting, tmp_path, company), REFUSED, "companies[0].categories[0].products[0].price",
         "send 22 or 22000, whichever is meant")


@pytest.mark.parametrize("coding, outcome, words", [
    ("utf-8-sig", DONE, "A"), ("utf-16", REFUSED, "is UTF-16: save it as UTF-8"),
    ("utf-16-be", REFUSED, "is UTF-16: save it as UTF-8")])
def test_a_file_as_windows_editors_save_it(resting, tmp_path, coding, outcome, words):
    text = json.dumps({"companies": [restaurant("A")]})
    file = tmp_path / "restaurants.json"
    file.write_bytes(("\ufeff" * (coding == "utf-16-be") + text).encode(coding))
    said(resting.command("import", str(file), "--data", str(resting.data), check=False), outcome, words)


@pytest.mark.box_only
def test_config_check_says_whether_the_program_can_go_on(resting, tmp_path):
    def check(data):
        return run("config", "check", "--data", data)

    said(check(tmp_path / "nothing"), DONE)
    bring_in(resting, tmp_path, restaurant("A"))
    said(check(resting.data), DONE, "can be used")
    resting.start()
    said(check(resting.data), DONE)
    assert resting.stop() == 0
    resting.execute("PRAGMA user_version = 999")
    said(check(resting.data), REFUSED, "live.db has schema version 999", "newer program")
    resting.settings = "listn = 0.0.0.0:1\n"
    said(check(resting.data), REFUSED, "listn")
    said(run("config", "chekc", "--data", resting.data), USAGE, "`check`")


def test_what_a_later_file_leaves_out_of_the_menu_is_named_so_that_a_renamed_product_is_no_ghost(resting, tmp_path):
    def menu(*products, visible=True):
        named = [{"name": name, "price": 5, "visible": visible} for name in products]
        return restaurant("A", categories=[{"name": "Platos", "products": named}])

    dishes = [f"Plato {n}" for n in range(12)]
    assert "not in this file" not in bring_in(resting, tmp_path, menu(*dishes)).stdout
    assert "not in this file" not in bring_in(resting, tmp_path, restaurant("A")).stdout  # no menu in it
    later = bring_in(resting, tmp_path, menu("Plato cero", *dishes[1:])).stdout
    id = resting.value("SELECT id FROM product WHERE name = 'Plato 0'")
    assert "  1 of the menu's products" in later and f"{id}  Plato 0 (Platos)" in later
    alone = bring_in(resting, tmp_path, menu("Plato 1")).stdout
    assert "  12 of the menu's products" in alone and alone.count("(Platos)") == 10
    renamed = menu("Plato cero", *dishes[1:])
    renamed["categories"][0]["products"].append({"id": id, "name": "Plato 0", "price": 5, "visible": False})
    assert "not in this file" not in bring_in(resting, tmp_path, renamed).stdout


# What comes from outside cannot write on the terminal


# Line ends and tabs, escapes, C1 controls, bidirectional controls, line separators.
EVIL = "x\n2026-01-01T00:00:00.000Z  local  key.created\t\x1b[2J\x1b]0;t\x07\x7f\x9b31m\u202eetil\u2066\u2028\u200f"
SHOWN = ("x\\n2026-01-01T00:00:00.000Z  local  key.created\\t\\u001b[2J\\u001b]0;t\\u0007\\u007f\\u009b31m"
         "\\u202eetil\\u2066\\u2028\\u200f")


def is_tame(text):
    return not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]", text)


@pytest.fixture
def haunted(resting):
    """A box whose database holds such names, as an older program took them."""
    resting.bring_in("demo")
    resting.make_key(name="innocent")
    resting.execute("UPDATE api_key SET name = ?", EVIL)
    resting.execute("UPDATE company SET name = ?", EVIL)
    for seq, detail in resting.rows("SELECT seq, detail FROM audit"):
        detail = json.dumps({**json.loads(detail), "name": EVIL}, ensure_ascii=False)
        resting.execute("UPDATE audit SET detail = ?, actor = ? WHERE seq = ?", detail, EVIL, seq)
    return resting


@pytest.mark.parametrize("words", [["keys", "list"], ["audit"]])
def test_what_a_client_named_is_shown_in_one_line_and_commands_no_terminal(haunted, words):
    result = haunted.command(*words, "--data", str(haunted.data))
    assert SHOWN in result.stdout and is_tame(result.stdout), result.stdout
    assert len(result.stdout.splitlines()) == 1
    as_json = haunted.command(*words, "--json", "--data", str(haunted.data)).stdout
    assert is_tame(as_json)
    (row,) = json.loads(as_json)["data"]
    assert EVIL in (row.get("name"), row.get("actor"))


def test_names_in_a_refusal_are_shown_in_one_line(haunted, tmp_path):
    answer = bring_in(haunted, tmp_path, restaurant("El Muelle"))
    assert answer.returncode == REFUSED and SHOWN in answer.stderr and is_tame(answer.stderr)
    assert len(answer.stderr.splitlines()) == 1
    haunted.bring_in(ROOT / "tests/support/other_restaurant.json")
    answer = haunted.command("keys", "list", "--data", str(haunted.data), check=False)
    assert answer.returncode == REFUSED and SHOWN in answer.stderr and is_tame(answer.stderr)


def test_bytes_that_are_no_text_are_shown_as_numbers(tmp_path):
    result = subprocess.run([*RUNNER, str(BINARY), "import", b"none\xff\x9b\x1b.json", "--data", str(tmp_path / "data")],
                            capture_output=True, timeout=PATIENCE_S * 4)
    assert result.returncode == REFUSED and b"none\\xff\\x9b\\u001b.json" in result.stderr


def test_a_file_cannot_bring_in_names_of_several_lines(data, tmp_path):
    file = tmp_path / "bad.json"
    file.write_text(json.dumps({"companies": [restaurant("A\nB", tables=[{"name": "Mesa\x1b[2J"}], users=[
        {"name": "Ana\u0085", "role": "cook"}], clients=[{"name": "Eva\t"}], stations=[{"name": "a\rb"}],
        categories=[{"name": "a\nb", "products": [{"name": "c\nd", "price": 1}]}])]}))
    text = said(run("import", file, "--data", data), REFUSED)
    for field in ["name", "tables[0].name", "users[0].name", "clients[0].name", "stations[0].name", "categories[0].name",
                  "categories[0].products[0].name"]:
        assert f"  companies[0].{field}: must" in text, (field, text)
