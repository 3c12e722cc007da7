"""GET /v1/clients and one client (contract sections 6, 10 and 19)."""

import contextlib
import datetime
import json
import random
import re
import time
import unicodedata
import urllib.parse
import uuid
import zoneinfo

import pytest

from support.box import Box
from support.orders import INSTANT, UUID, accepted, new_key, refused
from support.routes import SOME_ID

PATH = "/v1/clients"
FIELDS = ["id", "name", "email", "country_calling_code", "phone_number", "phone", "document_type", "document_number",
          "notes", "addresses", "orders_count", "last_order_at", "created_at", "updated_at"]
ADDRESS = ["id", "address", "area", "city", "reference", "complement", "latitude", "longitude"]


def folded(text):
    return "".join(c for c in unicodedata.normalize("NFD", text.lower()) if not unicodedata.combining(c))


def words_of(client):
    return re.findall(r"[a-z0-9]+", folded(client["name"] + " " + (client.get("email") or "")))


def whole_number(client):
    digits = re.sub(r"\D", "", client.get("country_calling_code") or "")
    return digits + client["phone_number"] if client.get("phone_number") else ""


def matches(client, search):
    """The contract's rule: each word begins a word; digits in a row may be the end of the number instead."""
    for part in re.findall(r"[0-9]+(?:[^a-z0-9]+[0-9]+)*(?![a-z])|[a-z0-9]+", folded(search)):
        groups = re.findall(r"[a-z0-9]+", part)
        number = "".join(groups)
        by_phone = number.isdigit() and whole_number(client).endswith(number)
        if not by_phone and not all(any(w.startswith(g) for w in words_of(client)) for g in groups):
            return False
    return True


def ids(answer):
    return [c["id"] for c in accepted(answer)]


def names(answer):
    return [c["name"] for c in accepted(answer)]


def searched(api, text, query=""):
    return api.get(f"{PATH}?filter[search]={urllib.parse.quote(text)}{query}&per_page=100")


def company(*clients, **fields):
    return {"companies": [{"id": "0d000000-0000-4000-8000-00000000000c", "name": "Guests", "country_code": "PE",
                           "timezone": "America/Lima", "currency": "PEN", "clients": list(clients), **fields}]}


@pytest.fixture
def guests(tmp_path):
    """A box of our own: bring_in(clients), and a client of its company."""
    box = Box()

    def bring_in(*clients):
        file = tmp_path / "guests.json"
        file.write_text(json.dumps(company(*clients)))
        box.bring_in(file)

    bring_in()
    made = box.make_key()
    box.start()
    with contextlib.closing(box.client(made["key"])) as client:
        yield client, bring_in
    assert box.discard() == 0


# Records


def test_the_record_is_what_was_imported(api, demo):
    sent = demo["clients"][0]
    answer = api.get(f"{PATH}/{sent['id']}")
    client = accepted(answer)
    assert list(client) == FIELDS
    for name in ("id", "name", "email", "country_calling_code", "phone_number", "document_type", "document_number",
                 "notes"):
        assert client[name] == sent[name], name
    assert client["phone"] == "+51987654321"
    assert client["addresses"] == sent["addresses"]
    assert [list(a) for a in client["addresses"]] == [ADDRESS] * 2
    assert INSTANT.fullmatch(client["created_at"])
    assert answer.headers["cache-control"] == "no-store"
    assert api.get(f"{PATH}/{sent['id'].upper()}").data["id"] == sent["id"]


def test_what_was_never_given_is_null(guests):
    api, bring_in = guests
    bring_in({"name": "Ana"})
    (client,) = accepted(api.get(PATH))
    assert UUID.fullmatch(client["id"]) and INSTANT.fullmatch(client["created_at"])
    assert client == {**dict.fromkeys(FIELDS), "id": client["id"], "name": "Ana", "addresses": [], "orders_count": 0,
                      "created_at": client["created_at"], "updated_at": client["created_at"]}
    assert accepted(api.get(f"{PATH}/{client['id']}")) == client


def test_a_row_of_the_list_is_the_record(api):
    for row in accepted(api.get(PATH + "?per_page=5")):
        assert accepted(api.get(f"{PATH}/{row['id']}")) == row


def test_a_client_of_nobody(api):
    refused(api.get(f"{PATH}/{SOME_ID}"), 404, "not_found")
    refused(api.get(PATH + "/ana"), 422, "validation_failed", {"id": "invalid_format"})
    refused(api.get(f"{PATH}/{SOME_ID}?page=1"), 400, "invalid_parameter", {"page": "unknown_field"})


def test_orders_are_counted(api, box, demo):
    box.bring_in("demo")
    client = next(c for c in demo["clients"] if c["name"].startswith("Lucía"))
    before = accepted(api.get(f"{PATH}/{client['id']}"))
    tag = api.get(PATH).etag
    order = accepted(api.post("/v1/orders", {"service_type": "ONSITE", "client_id": client["id"]}, new_key()), 201)
    after = accepted(api.get(f"{PATH}/{client['id']}"))
    assert after == {**before, "orders_count": before["orders_count"] + 1, "last_order_at": order["created_at"],
                     "updated_at": order["created_at"]}
    assert api.get(PATH, **{"If-None-Match": tag}).status == 200
    assert ids(api.get(PATH + "?sort=-last_order_at&per_page=1")) == [client["id"]]


def test_an_unchanged_record_is_304_and_a_changed_one_is_not(guests):
    api, bring_in = guests
    bring_in({"name": "Ana", "email": "ana@x.example"})
    (client,) = accepted(api.get(PATH))
    path, tag = f"{PATH}/{client['id']}", api.get(f"{PATH}/{client['id']}").etag
    unchanged = api.get(path, **{"If-None-Match": tag})
    assert (unchanged.status, unchanged.body, unchanged.headers["cache-control"]) == (304, b"", "no-store")
    bring_in({"name": "Ana", "email": "ana@x.example", "addresses": [{"address": "Calle 1"}]})
    changed = api.get(path, **{"If-None-Match": tag})
    assert changed.status == 200
    assert [a["address"] for a in changed.data["addresses"]] == ["Calle 1"]
    assert changed.data["updated_at"] > client["updated_at"] == client["created_at"] == changed.data["created_at"]


# Search


@pytest.mark.parametrize("text", [
    "ana", "ANA", "Peña", "pena", "PEÑA zuñ", "zuniga inigo", "muniz", "larrain", "rodriguez-larrain", "jose", "s. a. c",
    "ñandu", "correo", "ana.quinones@correo.example", "quinones@cor", "jhuaman", "54321", "1", "987654321",
    "+51 987 654 321", "987-654-321", "51987654321", "(51) 986112233", "ana 54321", "ana 654 321", "ana 99999", "zzz",
    "uinones", "987", "maria ana vela quinones", "de la cruz", "rlb"])
def test_search_finds_beginnings_of_words_and_ends_of_numbers(api, demo, text):
    answer = searched(api, text, "&sort=name")
    expected = [c["name"] for c in sorted(demo["clients"], key=lambda c: folded(c["name"])) if matches(c, text)]
    assert names(answer) == expected
    assert answer.json["pagination"]["total"] == len(expected)


def test_search_does_find_something(demo):
    """So that the model above is no excuse."""
    found = {t: sum(matches(c, t) for c in demo["clients"]) for t in ("ana", "54321", "+51 987 654 321", "correo", "zzz")}
    assert found["ana"] >= 1 and found["54321"] == found["+51 987 654 321"] == 1
    assert found["correo"] > 10 and found["zzz"] == 0


def test_digits_find_words_too(guests):
    api, bring_in = guests
    bring_in({"name": "Mesa 12 34"}, {"name": "Bar 1234"}, {"name": "Ana", "country_calling_code": "+51",
                                                           "phone_number": "900001234"})
    assert names(searched(api, "1234", "&sort=name")) == ["Ana", "Bar 1234"]
    assert names(searched(api, "12 34", "&sort=name")) == ["Ana", "Mesa 12 34"]
    assert names(searched(api, "12", "&sort=name")) == ["Bar 1234", "Mesa 12 34"]


def test_a_changed_client_is_found_by_what_it_is_now(guests):
    api, bring_in = guests
    ana = {"id": "0d000000-0000-4000-8000-0000000000a1", "name": "Ana Peña", "email": "ana@x.example",
           "country_calling_code": "+51", "phone_number": "900001234"}
    bring_in(ana)
    bring_in({**ana, "name": "Anita Díaz", "email": "anita@y.example", "phone_number": "900005678"})
    for gone in ("pena", "x", "1234", "ana"):
        assert names(searched(api, gone)) == [], gone
    for there in ("diaz", "y", "5678", "anita", "ani dia 678"):
        assert names(searched(api, there)) == ["Anita Díaz"], there


# Filters


@pytest.mark.parametrize("text", ["987654321", "51987654321", "%2B51987654321", "+51 987-654-321", "(51) 987.654.321",
                                  "0051987654321", "00 51 987 654 321", "0987654321", "+51 0987654321"])
def test_by_phone_with_and_without_the_calling_code(api, text):
    assert names(api.get(f"{PATH}?filter[phone]={text.replace(' ', '%20')}")) == ["Ana María Quiñones Vela"]


# How each number is written: by hand, with the trunk zero, and as WhatsApp sends it.
TWINS = [
    ("+54", "1123456789", ["5491123456789", "541123456789", "+54 9 11 2345-6789", "01123456789", "91123456789", "005491123456789"]),
    ("+54", "91123456789", ["5491123456789", "541123456789", "1123456789", "+54 (0)11 2345 6789"]),
    ("+54", "01123456789", ["5491123456789", "1123456789"]),
    ("+52", "5512345678", ["5215512345678", "525512345678", "15512345678", "5512345678"]),
    ("+52", "15512345678", ["5215512345678", "525512345678", "5512345678"]),
    ("+55", "11987654321", ["5511987654321", "551187654321", "1187654321", "011987654321", "+55 (11) 98765-4321"]),
    ("+55", "1187654321", ["5511987654321", "551187654321", "11987654321"]),
    ("+44", "02079460958", ["442079460958", "+44 (0)20 7946 0958", "00442079460958", "02079460958", "2079460958"]),
]


@pytest.mark.parametrize("code, number, texts", TWINS)
def test_a_number_is_found_in_each_form_in_which_it_is_written(guests, code, number, texts):
    api, bring_in = guests
    bring_in({"name": "Ana", "country_calling_code": code, "phone_number": number}, {"name": "Other", "country_calling_code": code,
             "phone_number": number[:-1] + "0"}, {"name": "Abroad", "country_calling_code": "+51", "phone_number": number + "7"})
    for text in texts:
        assert names(api.get(f"{PATH}?filter[phone]={text.replace(' ', '%20').replace('+', '%2B')}")) == ["Ana"], text


def test_twins_are_two_clients(guests):
    api, bring_in = guests
    for name, number in (("Ana", "91123456789"), ("Zoe", "1123456789")):
        bring_in({"name": name, "country_calling_code": "+54", "phone_number": number})
    assert names(api.get(f"{PATH}?filter[phone]=5491123456789&sort=name")) == ["Ana", "Zoe"]


@pytest.mark.parametrize("text", ["551123456789", "5691123456789", "5511234567", "5521134567890"])
def test_other_countries_have_no_twins(guests, text):
    api, bring_in = guests
    bring_in({"name": "Ana", "country_calling_code": "+54", "phone_number": "91123456789"},
             {"name": "Rui", "country_calling_code": "+55", "phone_number": "1131234567"})
    assert names(api.get(f"{PATH}?filter[phone]={text}")) == []


@pytest.mark.parametrize("text", ["98765432", "87654321", "4321", "0052987654321", "00987654321", "1", "0"])
def test_a_part_of_a_phone_is_another_phone(api, text):
    assert names(api.get(f"{PATH}?filter[phone]={text}")) == []


@pytest.mark.parametrize("text", ["ana.quinones@correo.example", "ANA.Quinones@Correo.example"])
def test_by_email_in_any_case(api, text):
    answer = api.get(f"{PATH}?filter[email]={text}")
    assert names(answer) == ["Ana María Quiñones Vela"] and answer.json["pagination"]["total"] == 1


def test_a_part_of_an_email_is_another_email(api):
    assert names(api.get(PATH + "?filter[email]=ana.quinones@correo")) == []


def test_by_day_and_instant_of_creation(guests):
    api, bring_in = guests
    bring_in({"name": "Ana"})
    time.sleep(0.01)
    bring_in({"name": "Beto"})
    ana, beto = accepted(api.get(PATH + "?sort=created_at"))
    local = datetime.datetime.fromisoformat(ana["created_at"]).astimezone(zoneinfo.ZoneInfo("America/Lima"))
    today = local.date()
    tomorrow, yesterday = today + datetime.timedelta(days=1), today - datetime.timedelta(days=1)

    def found(**filters):
        query = "&".join(f"filter[{n}]={v}" for n, v in filters.items())
        answer = api.get(f"{PATH}?{query}&sort=name")
        assert answer.json["pagination"]["total"] == len(answer.data)
        return names(answer)

    assert found(start_date=today, end_date=tomorrow) == ["Ana", "Beto"]
    assert found(start_date=today + datetime.timedelta(days=2)) == []
    assert found(end_date=yesterday) == []
    assert found(start_date=beto["created_at"]) == ["Beto"]
    assert found(end_date=ana["created_at"]) == []  # excluded
    assert found(start_date=ana["created_at"], end_date=beto["created_at"]) == ["Ana"]


def test_updated_since_tells_what_changed(guests):
    api, bring_in = guests
    bring_in({"name": "Ana"}, {"name": "Beto"})
    time.sleep(0.01)
    bring_in({"name": "Beto", "notes": "Sin ají"})
    beto = next(c for c in accepted(api.get(PATH)) if c["name"] == "Beto")
    assert names(api.get(f"{PATH}?filter[updated_since]={beto['updated_at']}")) == ["Beto"]
    assert len(names(api.get(f"{PATH}?filter[updated_since]={beto['created_at']}"))) == 2
    assert names(api.get(PATH + "?filter[updated_since]=2100-01-01T00:00:00Z")) == []


def test_filters_add_up(api, demo):
    assert names(searched(api, "ana", "&filter[phone]=987654321")) == ["Ana María Quiñones Vela"]
    assert names(searched(api, "inigo", "&filter[phone]=987654321")) == []
    assert names(searched(api, "ana", "&filter[email]=ana.quinones@correo.example")) == ["Ana María Quiñones Vela"]
    assert names(searched(api, "ana", "&filter[updated_since]=2100-01-01T00:00:00Z")) == []


# Sorts


def test_newest_first_unless_asked_otherwise(api):
    rows = accepted(api.get(PATH + "?per_page=100"))
    assert rows == sorted(rows, key=lambda c: (c["created_at"], c["id"]), reverse=True)
    assert accepted(api.get(PATH + "?per_page=100&sort=-created_at")) == rows
    assert accepted(api.get(PATH + "?per_page=100&sort=created_at")) == rows[::-1]


def test_by_name_without_accents_and_case(api, demo):
    expected = [c["name"] for c in sorted(demo["clients"], key=lambda c: folded(c["name"]))]
    assert names(api.get(PATH + "?per_page=100&sort=name")) == expected
    assert names(api.get(PATH + "?per_page=100&sort=-name")) == expected[::-1]


def test_those_without_an_order_come_last_in_both_directions(guests):
    api, bring_in = guests
    bring_in(*({"name": n} for n in ("Ana", "Beto", "Carla", "Dani")))
    by_name = {c["name"]: c["id"] for c in accepted(api.get(PATH))}
    for name in ("Carla", "Ana"):
        accepted(api.post("/v1/orders", {"service_type": "ONSITE", "client_id": by_name[name]}, new_key()), 201)
        time.sleep(0.005)
    never = sorted([by_name["Beto"], by_name["Dani"]])
    assert ids(api.get(PATH + "?sort=last_order_at")) == [by_name["Carla"], by_name["Ana"], *never]
    assert ids(api.get(PATH + "?sort=-last_order_at")) == [by_name["Ana"], by_name["Carla"], *never[::-1]]


# Pages, snapshots, tags


@pytest.mark.parametrize("query", ["sort=name", "sort=name&filter[search]=guest", "sort=name&filter[phone]=900000001"])
def test_a_walk_leaves_out_who_came_meanwhile(guests, query):
    api, bring_in = guests
    phone = {"country_calling_code": "+51", "phone_number": "900000001"}
    bring_in(*({"id": str(uuid.uuid4()), "name": f"{n} Guest", **phone} for n in ("Beto", "Carla", "Dani")))
    first = api.get(f"{PATH}?per_page=2&{query}")
    bring_in(*({"id": str(uuid.uuid4()), "name": f"{n} Guest", **phone} for n in ("Ana", "Zoe")))
    rest = api.get(f"{PATH}?per_page=2&page=2&{query}&filter[snapshot]={first.headers['x-snapshot']}")
    assert names(first) + names(rest) == ["Beto Guest", "Carla Guest", "Dani Guest"]
    assert rest.json["pagination"] == {"current_page": 2, "per_page": 2, "total": 3, "has_more": False}
    assert "x-snapshot" not in rest.headers
    assert api.get(f"{PATH}?{query}").json["pagination"]["total"] == 5


def test_a_page_past_the_end_is_empty(api, demo):
    answer = api.get(PATH + "?page=1000")
    assert answer.data == []
    assert answer.json["pagination"] == {
        "current_page": 1000, "per_page": 20, "total": len(demo["clients"]), "has_more": False}
    assert answer.headers["cache-control"] == "no-store"


def test_the_tag_changes_with_the_clients(guests):
    api, bring_in = guests
    bring_in({"name": "Ana"})
    answer = api.get(PATH)
    assert answer.etag.startswith('W/"')
    bring_in({"name": "Ana"})
    unchanged = api.get(PATH, **{"If-None-Match": answer.etag})
    assert (unchanged.status, unchanged.body, unchanged.headers["cache-control"]) == (304, b"", "no-store")
    bring_in({"name": "Ana", "notes": "x"})
    assert api.get(PATH, **{"If-None-Match": answer.etag}).status == 200
    assert api.get(PATH + "?sort=name", **{"If-None-Match": api.get(PATH).etag}).status == 200


@pytest.mark.parametrize("query, field, code", [
    ("filter[search]=", "filter[search]", "empty"),
    ("filter[search]=---", "filter[search]", "invalid_format"),
    ("filter[search]=a b c d e f g h i j k".replace(" ", "+"), "filter[search]", "invalid_format"),
    ("filter[search]=1 2 3 4 5 6 7 8 9 0 1".replace(" ", "+"), "filter[search]", "invalid_format"),
    ("filter[search]=zzzz&sort=email", "sort", "unknown_value"),
    ("filter[search]=zzzz&filter[snapshot]=x", "filter[snapshot]", "invalid_format"),
    ("filter[phone]=ana", "filter[phone]", "invalid_format"),
    ("filter[phone]=-", "filter[phone]", "invalid_format"),
    ("filter[phone]=987x", "filter[phone]", "invalid_format"),
    ("filter[start_date]=yesterday", "filter[start_date]", "invalid_format"),
    ("filter[end_date]=2026-02-30", "filter[end_date]", "invalid_format"),
    ("filter[updated_since]=2026-02-03", "filter[updated_since]", "invalid_format"),
    ("filter[snapshot]=1.5", "filter[snapshot]", "invalid_format"),
    ("filter[name]=ana", "filter[name]", "unknown_field"),
    ("search=ana", "search", "unknown_field"),
    ("start_date=2026-01-01", "start_date", "unknown_field"),
    ("sort=email", "sort", "unknown_value"),
    ("sort=updated_at", "sort", "unknown_value"),
    ("offset=5", "offset", "unknown_field"),
    ("page=0", "page", "out_of_range"),
    ("per_page=0", "per_page", "out_of_range"),
    ("per_page=101", "per_page", "out_of_range")])
def test_wrong_parameters(api, query, field, code):
    refused(api.get(f"{PATH}?{query}"), 400, "invalid_parameter", {field: code})


def test_hints_name_what_would_be_accepted(api):
    refused(api.get(PATH + "?sort=email"), 400, "invalid_parameter", says=["name", "created_at", "last_order_at"])
    refused(api.get(PATH + "?search=ana"), 400, "invalid_parameter", says="filter[search]")
    refused(api.get(PATH + "?limit=5"), 400, "invalid_parameter", says="per_page")


# Who may see


def test_another_company_sees_its_own_clients_alone(api, other, demo, other_company):
    answer = other.get(PATH + "?per_page=100")
    assert set(ids(answer)) == {c["id"] for c in other_company["clients"]}
    assert answer.json["pagination"]["total"] == len(other_company["clients"])
    theirs, ours = other_company["clients"][0], demo["clients"][0]
    refused(api.get(f"{PATH}/{theirs['id']}"), 404, "not_found")
    refused(other.get(f"{PATH}/{ours['id']}"), 404, "not_found")
    for filters in ("search=ana", "search=54321", "phone=987654321", "email=" + ours["email"]):
        name, value = filters.split("=")
        assert names(other.get(f"{PATH}?filter[{name}]={value}")) == []
    assert api.get(PATH + "?filter[search]=guest").data == []
    assert ids(other.get(PATH + "?filter[search]=guest")) == [theirs["id"]]
    assert other.get(PATH, **{"If-None-Match": api.get(PATH).etag}).status == 200


def test_the_scope_is_needed_and_enough(box, demo):
    for scopes, opens in [("clients:read", True), ("users:read,orders:read", False)]:
        with contextlib.closing(box.client(box.make_key(scopes=scopes, company=demo["id"])["key"])) as client:
            for path in (PATH, f"{PATH}/{demo['clients'][0]['id']}"):
                if opens:
                    accepted(client.get(path))
                else:
                    refused(client.get(path), 403, "insufficient_scope", says="clients:read")


# Many

FIRST = ["María", "José", "Luis", "Ana", "Íñigo", "Zoë", "Jürgen", "Núria", "Mario", "Josefa", "Łukasz", "Ángel"]
LAST = ["García", "Quispe", "Ñahui", "Peña", "Rodríguez-Larraín", "O'Higgins", "Müller", "Núñez", "Garza", "de la Cruz"]


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """A box with 20,000 clients in one company: (client, rows as they were sent)."""
    chance = random.Random(7)
    clients = []
    for i in range(20_000):
        name = f"{chance.choice(FIRST)} {chance.choice(LAST)} {chance.choice(LAST)}"
        client = {"id": str(uuid.UUID(int=chance.getrandbits(128), version=4)), "name": name}
        if chance.random() < 0.7:
            client |= {"country_calling_code": chance.choice(["+51", "+1"]),
                       "phone_number": str(chance.randrange(900_000_000, 1_000_000_000))}
        if chance.random() < 0.3:
            client["email"] = f"{folded(name.split()[0])}.{i}@{chance.choice(['correo', 'mail'])}.example"
        clients.append(client)
    clients[777] |= {"name": "Wilhelmina Ünique", "country_calling_code": "+51", "phone_number": "955512345"}
    box = Box()
    folder = tmp_path_factory.mktemp("crowd")
    # In two files, so that not all were created at the same moment.
    for part, rows in enumerate([clients[:12_000], clients[12_000:]]):
        file = folder / f"{part}.json"
        file.write_text(json.dumps(company(*rows), ensure_ascii=False, separators=(",", ":")))
        assert file.stat().st_size < 8 * 1024 * 1024
        box.bring_in(file)
    made = box.make_key()
    box.start()
    with contextlib.closing(box.client(made["key"])) as api:
        api.get(PATH)
        yield api, clients
    assert box.discard() == 0


def walk(api, query):
    """Every page of a list, with the snapshot of the first."""
    rows, page, snapshot, pauses = [], 1, "", 3
    while True:
        answer = api.get(f"{PATH}?per_page=100&page={page}&{query}{snapshot}")
        if answer.status == 503 and pauses:  # the machine stood still for 5 s
            pauses -= 1
            time.sleep(int(answer.headers["retry-after"]))
            continue
        rows += accepted(answer)
        snapshot = snapshot or "&filter[snapshot]=" + answer.headers["x-snapshot"]
        if not answer.json["pagination"]["has_more"]:
            assert answer.json["pagination"]["total"] == len(rows)
            return rows
        page += 1


def test_twenty_thousand_clients_page_without_repeat_or_gap(crowd):
    api, clients = crowd
    rows = walk(api, "sort=name")
    assert [(r["name"], r["id"]) for r in rows] == [
        (c["name"], c["id"]) for c in sorted(clients, key=lambda c: (folded_name(c["name"]), c["id"]))]
    by_creation = walk(api, "sort=-created_at")
    assert [r["id"] for r in by_creation] == [
        r["id"] for r in sorted(rows, key=lambda r: (r["created_at"], r["id"]), reverse=True)]


def folded_name(name):
    return folded(name).replace("ł", "l")


@pytest.mark.parametrize("text", [
    "maria", "mari", "m", "garcia maria", "gar mar", "nuñez", "o'higgins", "ohiggins", "rodriguez-larrain", "larrain",
    "de la cruz", "correo", "correo maria", "wilhelmina", "wil uni", "12345", "1", "51", "maria 1", "955512345",
    "+51 955 512 345", "jurgen 77", "luk", "zzz", "9", "example"])
@pytest.mark.parametrize("sort", ["name", "-created_at"])
def test_search_among_twenty_thousand_agrees_with_the_rule(crowd, text, sort):
    api, clients = crowd
    plain = [{**c, "name": c["name"].replace("Ł", "L")} for c in clients]
    expected = {c["id"] for c in plain if matches(c, text)}
    encoded = urllib.parse.quote(text)
    first = api.get(f"{PATH}?filter[search]={encoded}&sort={sort}&per_page=100")
    assert first.json["pagination"]["total"] == len(expected)
    assert first.json["pagination"]["has_more"] is (len(expected) > 100)
    rows = accepted(first)
    assert set(r["id"] for r in rows) <= expected and len(rows) == min(100, len(expected))
    if sort == "name":
        ordered = sorted((c for c in plain if c["id"] in expected), key=lambda c: (folded(c["name"]), c["id"]))
        assert [r["id"] for r in rows] == [c["id"] for c in ordered[:100]]
        last = (len(ordered) - 1) // 100 + 1 if ordered else 1
        end = api.get(f"{PATH}?filter[search]={encoded}&sort={sort}&per_page=100&page={last}")
        assert ids(end) == [c["id"] for c in ordered[(last - 1) * 100:]]
    else:
        assert rows == sorted(rows, key=lambda r: (r["created_at"], r["id"]), reverse=True)


def test_search_with_a_date_agrees_with_the_rule(crowd):
    api, clients = crowd
    oldest = accepted(api.get(PATH + "?sort=created_at&per_page=1"))[0]["created_at"]
    early = {c["id"] for c in clients[:12_000] if matches(c, "garcia")}
    end = datetime.datetime.fromisoformat(oldest.replace("Z", "+00:00")) + datetime.timedelta(milliseconds=1)
    end = end.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    answer = api.get(f"{PATH}?filter[search]=garcia&filter[end_date]={end}&sort=name")
    assert answer.json["pagination"]["total"] == len(early)
    rare = api.get(f"{PATH}?filter[search]=wilhelmina&filter[start_date]={oldest}")
    assert names(rare) == ["Wilhelmina Ünique"]
    assert names(api.get(f"{PATH}?filter[search]=wilhelmina&filter[updated_since]=2100-01-01T00:00:00Z")) == []


@pytest.mark.parametrize("digits", ["955512345", "51955512345"])
def test_a_phone_among_twenty_thousand(crowd, digits):
    api, _ = crowd
    assert names(api.get(f"{PATH}?filter[phone]={digits}")) == ["Wilhelmina Ünique"]
