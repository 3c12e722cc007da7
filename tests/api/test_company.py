"""GET /v1/company, its payment methods and tables (contract section 10; specification, Company)."""

import contextlib
import datetime
import json
import zoneinfo

import pytest

from support.box import Box
from support.orders import INSTANT, SERVICE_TYPES, UUID, accepted, new_key, refused

PATH = "/v1/company"
METHODS = PATH + "/payment-methods"
TABLES = PATH + "/tables"
FIELDS = ["id", "name", "description", "logo", "public_url", "phone", "location", "country_code", "timezone",
          "business_hours", "currently_open", "language", "currency", "day_starts_at", "created_at",
          "updated_at"]
LOCATION = ["address", "area", "city", "state", "country_code", "postal_code", "latitude", "longitude"]
WEEK = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


def is_open(company, instant):
    """The rule of the contract, by the wall clock of the company's zone."""
    local = instant.astimezone(zoneinfo.ZoneInfo(company["timezone"]))
    minute = local.hour * 60 + local.minute
    today, yesterday = WEEK[local.weekday()], WEEK[local.weekday() - 1]

    def minutes(text):
        return int(text[:2]) * 60 + int(text[3:])

    def covers(day, is_today):
        hours = company["business_hours"][day]
        for block in hours["hours"] if hours["is_active"] else []:
            opens, closes = minutes(block["open"]), minutes(block["close"])
            overnight = closes <= opens
            if is_today and minute >= opens and (overnight or minute < closes):
                return True
            if not is_today and overnight and minute < closes:
                return True
        return False

    return covers(today, True) or covers(yesterday, False)


# The company


def test_the_record_is_what_was_imported(api, demo):
    answer = api.get(PATH)
    company = accepted(answer)
    assert list(company) == FIELDS
    assert list(company["location"]) == LOCATION
    for name in ("id", "name", "description", "public_url", "phone", "country_code", "timezone", "language",
                 "currency", "day_starts_at", "business_hours"):
        assert company[name] == demo[name], name
    assert company["logo"] is None
    assert company["location"] == {**demo["location"], "country_code": demo["country_code"]}
    assert list(company["business_hours"]) == WEEK
    assert INSTANT.fullmatch(company["created_at"]) and INSTANT.fullmatch(company["updated_at"])
    assert answer.headers["cache-control"] == "private, no-cache"


def test_open_now_is_computed_from_the_hours(api):
    before = datetime.datetime.now(datetime.timezone.utc)
    company = accepted(api.get(PATH))
    after = datetime.datetime.now(datetime.timezone.utc)
    assert company["currently_open"] in {is_open(company, before), is_open(company, after)}


def test_an_unchanged_company_is_304(api):
    for _ in range(2):  # it may open in between
        tag = api.get(PATH).etag
        answer = api.get(PATH, **{"If-None-Match": tag})
        if answer.status == 304:
            break
    assert answer.status == 304 and answer.body == b"" and answer.etag == tag


def test_the_company_takes_no_parameters(api):
    refused(api.get(PATH + "?page=1"), 400, "invalid_parameter", {"page": "unknown_field"})


def test_each_key_sees_its_own_company(api, other, demo, other_company):
    assert accepted(api.get(PATH))["id"] == demo["id"]
    company = accepted(other.get(PATH))
    assert (company["id"], company["name"]) == (other_company["id"], other_company["name"])
    assert {r["id"] for r in accepted(api.get(METHODS))}.isdisjoint({r["id"] for r in accepted(other.get(METHODS))})


@pytest.mark.parametrize("path, scope", [(PATH, "companies:read"), (METHODS, "payment-methods:read"),
                                         (TABLES, "companies:read")])
def test_the_scope_is_needed_and_enough(box, demo, path, scope):
    for scopes, opens in [(scope, True), ("orders:read,menu:read,clients:read,users:read", False)]:
        with contextlib.closing(box.client(box.make_key(scopes=scopes, company=demo["id"])["key"])) as client:
            answer = client.get(path)
            if opens:
                accepted(answer)
            else:
                refused(answer, 403, "insufficient_scope", says=scope)


# Opening hours


def hhmm(moment):
    return moment.strftime("%H:%M")


def restaurant(**fields):
    return {"companies": [{"id": "0d000000-0000-4000-8000-000000000001", "name": "Hours", "country_code": "PE",
                           "timezone": "America/Lima", "currency": "PEN", **fields}]}


@pytest.fixture
def hourly(tmp_path):
    """A box of our own: bring_in(fields) changes its one company, client() asks it."""
    box = Box()

    def bring_in(**fields):
        file = tmp_path / "company.json"
        file.write_text(json.dumps(restaurant(**fields)))
        box.bring_in(file)

    bring_in()
    made = box.make_key()
    box.start()
    with contextlib.closing(box.client(made["key"])) as client:
        yield client, bring_in
    assert box.discard() == 0


def every_day(*blocks, active=True):
    return {day: {"is_active": active, "hours": [{"open": o, "close": c} for o, c in blocks]} for day in WEEK}


def test_hours_decide_whether_it_is_open(hourly):
    api, bring_in = hourly
    lima = zoneinfo.ZoneInfo("America/Lima")

    def around(before, after):
        """A block from `before` to `after` minutes from now."""
        now = datetime.datetime.now(lima)
        return hhmm(now + datetime.timedelta(minutes=before)), hhmm(now + datetime.timedelta(minutes=after))

    assert accepted(api.get(PATH))["currently_open"] is False  # no hours at all
    cases = [
        (every_day(("00:00", "00:00")), True),
        (every_day(("00:00", "00:00"), active=False), False),
        (every_day(around(-60, 60)), True),     # may run over midnight
        (every_day(around(60, 120)), False),
        (every_day(around(-120, -60)), False),
        (every_day(around(60, 120), around(-30, 30)), True),
        (every_day(around(60, -60)), False),    # closes next day, before now; not open yet
        (every_day(around(-60, -120)), True)]   # opened an hour ago, closes tomorrow
    for hours, expected in cases:
        bring_in(business_hours=hours)
        company = accepted(api.get(PATH))
        assert company["currently_open"] is expected, hours
        assert company["business_hours"] == hours
        assert is_open(company, datetime.datetime.now(lima)) is expected


def test_the_tag_changes_when_the_company_opens_or_its_record_changes(hourly):
    api, bring_in = hourly
    bring_in(business_hours=every_day(("00:00", "00:00")))
    opened = api.get(PATH).etag
    bring_in(business_hours=every_day(("00:00", "00:00"), active=False))
    closed = api.get(PATH, **{"If-None-Match": opened})
    assert closed.status == 200 and closed.data["currently_open"] is False
    bring_in(business_hours=every_day(("00:00", "00:00"), active=False), phone="+5115550100")
    changed = api.get(PATH, **{"If-None-Match": closed.etag})
    assert changed.status == 200 and changed.data["phone"] == "+5115550100"


def test_what_was_never_set_is_null(hourly):
    api, _ = hourly
    company = accepted(api.get(PATH))
    assert list(company) == FIELDS
    for name in ("description", "logo", "public_url", "phone", "language"):
        assert company[name] is None, name
    assert company["location"] == {**dict.fromkeys(LOCATION), "country_code": "PE"}
    assert company["business_hours"] == {d: {"is_active": False, "hours": []} for d in WEEK}


# Payment methods


def test_payment_methods_are_listed_by_code(api, demo):
    answer = api.get(METHODS)
    methods = accepted(answer)
    expected = [{"id": m["id"], "code": m["code"], "description": m["description"],
                 "service_types": [t for t in SERVICE_TYPES if t in m["service_types"]]}
                for m in sorted(demo["payment_methods"], key=lambda m: m["code"])]
    assert methods == expected
    assert [list(m) for m in methods] == [["id", "code", "description", "service_types"]] * len(methods)
    assert answer.json["pagination"] == {
        "current_page": 1, "per_page": 20, "total": len(expected), "has_more": False}
    assert answer.headers["cache-control"] == "private, no-cache"
    assert accepted(api.get(METHODS + "?sort=-code")) == expected[::-1]


def test_only_methods_that_can_be_used_are_listed(hourly):
    api, bring_in = hourly
    bring_in(payment_methods=[
        {"code": "z", "service_types": ["TABLE"]}, {"code": "off", "active": False},
        {"code": "none", "service_types": []}, {"code": "a"}])
    answer = api.get(METHODS)
    assert [(m["code"], m["service_types"]) for m in answer.data] == [("a", SERVICE_TYPES), ("z", ["TABLE"])]
    assert answer.json["pagination"]["total"] == 2
    assert all(UUID.fullmatch(m["id"]) for m in answer.data)


def test_payment_methods_page(api, demo):
    codes = sorted(m["code"] for m in demo["payment_methods"])
    seen = []
    for page in range(1, 5):
        answer = api.get(f"{METHODS}?per_page=2&page={page}")
        seen += [m["code"] for m in answer.data]
        assert answer.json["pagination"] == {
            "current_page": page, "per_page": 2, "total": len(codes), "has_more": page * 2 < len(codes)}
        assert ("x-snapshot" in answer.headers) == (page == 1)
    assert seen == codes


def test_a_new_method_is_left_out_of_a_walk_that_began_before(hourly):
    api, bring_in = hourly
    bring_in(payment_methods=[{"code": "b"}, {"code": "c"}])
    first = api.get(METHODS + "?per_page=1")
    bring_in(payment_methods=[{"code": "a"}])
    rest = api.get(f"{METHODS}?per_page=1&page=2&filter[snapshot]={first.headers['x-snapshot']}")
    assert [m["code"] for m in first.data + rest.data] == ["b", "c"]
    assert rest.json["pagination"]["total"] == 2 and rest.json["pagination"]["has_more"] is False
    assert [m["code"] for m in api.get(METHODS).data] == ["a", "b", "c"]


def test_the_tag_of_the_methods_changes_with_them(hourly):
    api, bring_in = hourly
    bring_in(payment_methods=[{"code": "b"}])
    tag = api.get(METHODS).etag
    assert tag.startswith('W/"')
    assert api.get(METHODS, **{"If-None-Match": tag}).status == 304
    bring_in(payment_methods=[{"code": "b", "description": "Bizum"}])
    answer = api.get(METHODS, **{"If-None-Match": tag})
    assert answer.status == 200 and answer.data[0]["description"] == "Bizum"


@pytest.mark.parametrize("query, field, code", [
    ("page=0", "page", "out_of_range"), ("per_page=101", "per_page", "out_of_range"),
    ("sort=description", "sort", "unknown_value"), ("filter[active]=true", "filter[active]", "unknown_field"),
    ("filter[snapshot]=x", "filter[snapshot]", "invalid_format"), ("limit=5", "limit", "unknown_field"),
    ("page=", "page", "empty"), ("page=1&page=1", "page", "duplicate")])
def test_wrong_parameters_of_the_methods(api, query, field, code):
    refused(api.get(f"{METHODS}?{query}"), 400, "invalid_parameter", {field: code})


# Tables


def test_tables_are_listed_by_name(api, demo):
    answer = api.get(TABLES + "?per_page=100")
    tables = accepted(answer)
    assert [(t["name"], t["area"]) for t in tables] == sorted((t["name"], t["area"]) for t in demo["tables"])
    assert [list(t) for t in tables] == [["id", "name", "area", "active"]] * len(tables)
    assert all(UUID.fullmatch(t["id"]) and t["active"] is True for t in tables)
    assert answer.json["pagination"] == {
        "current_page": 1, "per_page": 100, "total": len(tables), "has_more": False}
    assert answer.headers["cache-control"] == "private, no-cache"
    assert accepted(api.get(TABLES + "?per_page=100&sort=-name")) == tables[::-1]


def test_a_till_finds_the_table_of_its_order(api):
    table = api.get(TABLES + "?per_page=1").data[0]
    placed = accepted(api.post("/v1/orders", {"service_type": "TABLE", "table_id": table["id"]}, new_key()), 201)
    assert placed["table"] == {"id": table["id"], "name": table["name"]}
    refused(api.post("/v1/orders", {"service_type": "TABLE", "table_id": "0c1e0000-0000-4000-8000-0000000000ff"},
                     new_key()), 422, "validation_failed", {"table_id": "not_found"}, says="GET /v1/company/tables")


def test_tables_sort_without_accents_and_case_and_the_unused_are_listed(hourly):
    api, bring_in = hourly
    bring_in(tables=[{"name": "b"}, {"name": "Ñandú"}, {"name": "A", "area": "Patio"}, {"name": "ó", "active": False}])
    listed = [(t["name"], t["area"], t["active"]) for t in api.get(TABLES).data]
    assert listed == [("A", "Patio", True), ("b", None, True), ("Ñandú", None, True), ("ó", None, False)]


def test_tables_page_and_a_new_one_is_left_out_of_a_walk_that_began_before(hourly):
    api, bring_in = hourly
    bring_in(tables=[{"name": "b"}, {"name": "c"}])
    first = api.get(TABLES + "?per_page=1")
    bring_in(tables=[{"name": "a"}])
    rest = api.get(f"{TABLES}?per_page=1&page=2&filter[snapshot]={first.headers['x-snapshot']}")
    assert [t["name"] for t in first.data + rest.data] == ["b", "c"]
    assert rest.json["pagination"] == {"current_page": 2, "per_page": 1, "total": 2, "has_more": False}
    assert [t["name"] for t in api.get(TABLES).data] == ["a", "b", "c"]


def test_the_tag_of_the_tables_changes_with_them(hourly):
    api, bring_in = hourly
    bring_in(tables=[{"name": "b"}])
    tag = api.get(TABLES).etag
    assert api.get(TABLES, **{"If-None-Match": tag}).status == 304
    bring_in(tables=[{"name": "b", "area": "Terraza"}])
    answer = api.get(TABLES, **{"If-None-Match": tag})
    assert answer.status == 200 and answer.data[0]["area"] == "Terraza"


@pytest.mark.parametrize("query, field, code", [
    ("page=0", "page", "out_of_range"), ("sort=area", "sort", "unknown_value"),
    ("filter[active]=true", "filter[active]", "unknown_field"), ("limit=5", "limit", "unknown_field")])
def test_wrong_parameters_of_the_tables(api, query, field, code):
    refused(api.get(f"{TABLES}?{query}"), 400, "invalid_parameter", {field: code})
