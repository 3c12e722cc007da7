"""GET /v1/orders: filters, sorts, pages, snapshots, tags (contract section 6; section 7, Listing)."""

import contextlib
import datetime
import json
import zoneinfo

import pytest

from support.box import Box
from support.orders import Restaurant, accepted, in_days, item, new_id, path, read, refused

STATUSES = ["PENDING", "PREPARING", "READY", "DELIVERED", "FINALIZED", "CANCELLED"]


@pytest.fixture(scope="module")
def quiet_box():
    """A box that only the tests of this file write to."""
    box = Box()
    box.bring_in("demo")
    box.start()
    yield box
    assert box.discard() == 0


@pytest.fixture(scope="module")
def quiet_key(quiet_box, demo):
    return quiet_box.make_key(company=demo["id"])["key"]


@pytest.fixture
def quiet(quiet_box, quiet_key):
    with contextlib.closing(quiet_box.client(quiet_key)) as client:
        yield client


@pytest.fixture(scope="module")
def orders(quiet_box, quiet_key, demo):
    """Ten orders of every kind, as they are at the end, oldest first."""
    api, house = quiet_box.client(quiet_key), Restaurant(demo, quiet_box)
    plan = [
        dict(status="PENDING"),
        dict(status="PREPARING", service_type="TABLE", table_id=house.table["id"]),
        dict(status="READY", service_type="DELIVERY", client_id=house.client["id"]),
        dict(status="DELIVERED", service_type="DELIVERY", scheduled_delivery_date=in_days(2)),
        dict(status="FINALIZED", service_type="TAKEAWAY", client_id=house.clients[1]["id"]),
        dict(status="CANCELLED"),
        dict(status="PENDING", scheduled_delivery_date=in_days(1)),
        dict(status="PENDING", service_type="DELIVERY"),
        dict(status="READY", service_type="TABLE"),
        dict(status="FINALIZED", client_id=house.client["id"])]
    placed = []
    for price, fields in zip([50, 10, 30, 30, 20, 0.5, 70, 0, 90, 10], plan):
        status = fields.pop("status")
        order = api.place(**fields)
        api.add(order, item(price))
        if status == "CANCELLED":
            accepted(api.post(path(order, "cancel"), {"reason": "left"}))
        else:
            api.advance(order, status)
        placed.append(order)
    api.pay(placed[0], 50)
    api.pay(placed[4], 20)
    accepted(api.put(path(placed[7], "rider"), {"name": "Beto"}))
    accepted(api.patch(path(placed[3], "delivery-status"), {"delivery_status": "DRIVER_ARRIVED_AT_STORE"}))
    placed = [read(api, order) for order in placed]
    api.close()
    return placed


def listing(api, query=""):
    answer = api.get("/v1/orders" + query)
    assert answer.status == 200, (answer.status, answer.body)
    return answer


def ids(rows):
    return [row["id"] for row in rows]


def filtered(api, **filters):
    query = "&".join(f"filter[{name}]={value}" for name, value in filters.items())
    answer = listing(api, f"?{query}&per_page=100&sort=created_at")
    assert answer.json["pagination"]["total"] == len(answer.data)
    return ids(answer.data)


def having(orders, fits):
    return ids(o for o in orders if fits(o))


# Rows

def test_rows_are_full_records_newest_first(quiet, orders):
    answer = listing(quiet)
    assert answer.data == list(reversed(orders))
    assert answer.json["pagination"] == {"current_page": 1, "per_page": 20, "total": 10, "has_more": False}


@pytest.mark.parametrize("include, shown", [
    ("none", []), ("combos", ["combos"]), ("combos,payments", ["combos", "payments"]), ("discounts", ["discounts"]),
    ("Payments,DISCOUNTS,combos", ["combos", "payments", "discounts"])])
def test_include_picks_the_lists(quiet, orders, include, shown):
    lists = {"combos", "payments", "discounts"}
    for row, order in zip(listing(quiet, "?filter[include]=" + include).data, reversed(orders)):
        assert row == {n: v for n, v in order.items() if n not in lists or n in shown}


# Filters

@pytest.mark.parametrize("status", STATUSES)
def test_by_status(quiet, orders, status):
    assert filtered(quiet, status=status) == having(orders, lambda o: o["status"] == status) != []


@pytest.mark.parametrize("words", ["PENDING,READY", "ready,pending", "Pending,READY,PENDING"])
def test_by_several_statuses_in_any_case(quiet, orders, words):
    assert filtered(quiet, status=words) == having(orders, lambda o: o["status"] in ("PENDING", "READY"))


def test_by_service_type(quiet, orders):
    assert filtered(quiet, service_type="delivery") == having(orders, lambda o: o["service_type"] == "DELIVERY")
    assert filtered(quiet, service_type="TABLE,TAKEAWAY") == having(
        orders, lambda o: o["service_type"] in ("TABLE", "TAKEAWAY"))


def test_by_source(quiet, orders):
    assert filtered(quiet, source="api") == ids(orders)
    assert filtered(quiet, source="RAPPI,API") == ids(orders)
    assert filtered(quiet, source="RAPPI") == []


def test_by_client_and_table(quiet, orders, house):
    client, table = house.client["id"], house.table["id"]
    assert filtered(quiet, client_id=client.upper()) == having(orders, lambda o: o["client_id"] == client) != []
    assert filtered(quiet, table_id=table) == having(orders, lambda o: o["table_id"] == table) != []
    assert filtered(quiet, client_id=new_id()) == []


def test_by_reference_and_public_id(quiet, orders):
    order = orders[3]
    assert filtered(quiet, reference=order["reference"]) == [order["id"]]
    assert filtered(quiet, public_id=order["public_id"]) == [order["id"]]
    assert filtered(quiet, public_id=order["public_id"].lower()) == [order["id"]]
    assert filtered(quiet, reference="nobody") == []


@pytest.mark.parametrize("paid", ["true", "false", "TRUE"])
def test_by_paid(quiet, orders, paid):
    wanted = paid.lower() == "true"
    assert filtered(quiet, paid=paid) == having(orders, lambda o: o["paid"] is wanted) != []


def test_by_delivery_status(quiet, orders):
    assert filtered(quiet, delivery_status="rider_assigned") == [orders[7]["id"]]
    assert filtered(quiet, delivery_status="RIDER_ASSIGNED,DRIVER_ARRIVED_AT_STORE") == [
        orders[3]["id"], orders[7]["id"]]


def test_filters_narrow_each_other(quiet, orders):
    assert filtered(quiet, status="PENDING", service_type="ONSITE", paid="true") == [orders[0]["id"]]


def test_changed_since(quiet, orders):
    moment = sorted(o["updated_at"] for o in orders)[5]
    assert filtered(quiet, updated_since=moment) == having(orders, lambda o: o["updated_at"] >= moment)
    assert filtered(quiet, updated_since="2020-01-01T00:00:00Z") == ids(orders)
    assert filtered(quiet, updated_since=in_days(1)) == []


def test_dates_are_whole_days_in_the_companys_zone(quiet, orders, demo):
    zone = zoneinfo.ZoneInfo(demo["timezone"])
    day = datetime.datetime.fromisoformat(orders[0]["created_at"].replace("Z", "+00:00")).astimezone(zone).date()
    last = datetime.datetime.fromisoformat(orders[-1]["created_at"].replace("Z", "+00:00")).astimezone(zone).date()
    one = datetime.timedelta(days=1)
    assert filtered(quiet, start_date=day, end_date=last) == ids(orders)
    assert filtered(quiet, start_date=day - one) == ids(orders)
    assert filtered(quiet, end_date=last + one) == ids(orders)
    assert filtered(quiet, end_date=day - one) == []
    assert filtered(quiet, start_date=last + one) == []


def test_by_order_number(quiet, orders):
    for order in orders[::3]:
        assert filtered(quiet, order_number=order["order_number"]) == [order["id"]]
    assert filtered(quiet, order_number=9_999) == []
    assert filtered(quiet, order_number=orders[0]["order_number"], status="CANCELLED") == []


def test_by_scheduled_date(quiet, orders, demo):
    zone = zoneinfo.ZoneInfo(demo["timezone"])
    scheduled = [o for o in orders if o["scheduled_delivery_date"]]
    first, last = sorted(o["scheduled_delivery_date"] for o in scheduled)
    days = [datetime.datetime.fromisoformat(at.replace("Z", "+00:00")).astimezone(zone).date() for at in (first, last)]
    both = having(orders, lambda o: o["scheduled_delivery_date"])
    assert len(both) == 2
    assert filtered(quiet, scheduled_from=days[0], scheduled_to=days[1]) == filtered(quiet, scheduled_from=first) == both
    assert filtered(quiet, scheduled_from=first, scheduled_to=last) == having(
        orders, lambda o: o["scheduled_delivery_date"] == first)
    assert filtered(quiet, scheduled_to=first) == []
    by_date = listing(quiet, f"?filter[scheduled_from]={first}&sort=scheduled_delivery_date").data
    assert [o["scheduled_delivery_date"] for o in by_date] == [first, last]


def test_dates_may_be_instants_the_end_excluded(quiet, orders):
    third, sixth = orders[2]["created_at"], orders[5]["created_at"]
    between = having(orders, lambda o: third <= o["created_at"] < sixth)
    assert filtered(quiet, start_date=third, end_date=sixth) == between
    with_offset = third.replace("Z", "%2B00:00")
    assert filtered(quiet, start_date=with_offset) == having(orders, lambda o: o["created_at"] >= third)


@pytest.mark.parametrize("name, value, says", [
    ("status", "OPEN", STATUSES), ("status", "PENDING,OPEN", STATUSES), ("service_type", "DINNER", "TAKEAWAY"),
    ("delivery_status", "LOST", "NOT_DELIVERED"), ("paid", "1", ["true", "false"]), ("client_id", "7", "UUID"),
    ("table_id", "x", "UUID"), ("public_id", "x", "public id"), ("start_date", "yesterday", "2026-11-20"),
    ("end_date", "2026-13-01", "2026-11-20"), ("updated_since", "2026-11-20", "T18:03:11Z"),
    ("order_number", "first", "27"), ("order_number", "-1", "27"), ("order_number", "1" * 16, "27"),
    ("scheduled_from", "tomorrow", "2026-11-20"), ("scheduled_to", "2026-02-30", "2026-11-20"),
    ("search", "!?", "letters or digits"), ("day", "business", "filter[start_date]"),
    ("snapshot", "latest", "X-Snapshot"), ("include", "items", ["combos", "payments", "discounts"])])
def test_a_malformed_filter_is_refused_and_its_form_shown(quiet, name, value, says):
    answer = quiet.get(f"/v1/orders?filter[{name}]={value}")
    refused(answer, 400, "invalid_parameter", says=says)
    assert list(answer.fields) == [f"filter[{name}]"]
    assert answer.json["detail"].startswith(f"filter[{name}]: ")


def test_an_unknown_way_to_cut_days_is_refused(quiet):
    answer = quiet.get("/v1/orders?filter[start_date]=2026-11-20&filter[day]=week")
    refused(answer, 400, "invalid_parameter", says=["calendar", "business"])
    assert list(answer.fields) == ["filter[day]"]


@pytest.mark.parametrize("query", [
    "colour=blue", "filter[colour]=blue", "filter=x", "filter[status][]=READY", "Page=1", "key=x"])
def test_an_unknown_parameter_is_refused_and_the_known_ones_listed(quiet, query):
    answer = quiet.get("/v1/orders?" + query)
    refused(answer, 400, "invalid_parameter", says=[query.split("=")[0], "per_page", "sort", "filter[status]"])


@pytest.mark.parametrize("query", ["page=", "filter[status]=", "sort=", "page=1&page=1", "page=1&page=2",
                                   "filter[status]=READY&filter[status]=PENDING"])
def test_an_empty_or_repeated_parameter_is_refused(quiet, query):
    refused(quiet.get("/v1/orders?" + query), 400, "invalid_parameter")


@pytest.mark.parametrize("query", ["page=%zz", "page=%", "sort=%ff"])
def test_a_broken_escape_is_refused(quiet, query):
    refused(quiet.get("/v1/orders?" + query), 400, "invalid_parameter")


def test_brackets_may_be_escaped(quiet, orders):
    answer = listing(quiet, "?filter%5Bstatus%5D=CANCELLED")
    assert ids(answer.data) == having(orders, lambda o: o["status"] == "CANCELLED")


# Sorts

@pytest.mark.parametrize("field", ["created_at", "updated_at", "scheduled_delivery_date", "total", "order_number"])
@pytest.mark.parametrize("sign", ["", "-"])
def test_sorted_by_a_field_then_by_id_and_nulls_last(quiet, orders, field, sign):
    rows = listing(quiet, f"?sort={sign}{field}").data
    filled = [o for o in orders if o[field] is not None]
    empty = [o for o in orders if o[field] is None]
    expected = sorted(filled, key=lambda o: (o[field], o["id"]), reverse=sign == "-")
    assert ids(rows[:len(filled)]) == ids(expected)
    assert sorted(ids(rows[len(filled):])) == sorted(ids(empty))


@pytest.mark.parametrize("sort", ["colour", "-id", "--total", "total,created_at", "TOTAL"])
def test_an_unknown_sort_is_refused_and_the_known_ones_listed(quiet, sort):
    refused(quiet.get("/v1/orders?sort=" + sort), 400, "invalid_parameter",
            says=["created_at", "updated_at", "scheduled_delivery_date", "total", "order_number"])


# Pages

@pytest.mark.parametrize("per_page", [1, 3, 5, 10, 100])
def test_pages_together_are_the_list(quiet, orders, per_page):
    seen, page = [], 1
    while True:
        answer = listing(quiet, f"?page={page}&per_page={per_page}")
        pagination = answer.json["pagination"]
        assert pagination == {"current_page": page, "per_page": per_page, "total": 10,
                              "has_more": page * per_page < 10}
        seen += ids(answer.data)
        if not pagination["has_more"]:
            break
        page += 1
    assert seen == ids(reversed(orders))


def test_a_page_past_the_end_is_empty(quiet, orders):
    answer = listing(quiet, "?page=1000000")
    assert answer.data == []
    assert answer.json["pagination"] == {"current_page": 1000000, "per_page": 20, "total": 10, "has_more": False}


@pytest.mark.parametrize("query", ["page=0", "page=-1", "page=x", "page=1.5", "per_page=0", "per_page=101",
                                   "per_page=all", "per_page=1e1", "page=99999999999999999999"])
def test_a_page_that_is_none_is_refused(quiet, query):
    answer = quiet.get("/v1/orders?" + query)
    refused(answer, 400, "invalid_parameter")
    assert list(answer.fields) == [query.split("=")[0]]


def test_an_empty_list_has_its_pagination(quiet):
    answer = listing(quiet, "?filter[reference]=" + new_id())
    assert answer.json == {"data": [], "pagination": {"current_page": 1, "per_page": 20, "total": 0,
                                                      "has_more": False}}


def test_a_snapshot_walks_without_repeats_or_gaps_while_others_write(api, house):
    mark = house.client["id"]
    for _ in range(7):
        api.place(client_id=mark)
    query = f"/v1/orders?filter[client_id]={mark}&per_page=3"
    first = api.get(query)
    snapshot, total = first.headers["x-snapshot"], first.json["pagination"]["total"]
    assert total >= 7
    everything = ids(first.data)
    page = 1
    while True:
        api.place(client_id=mark)
        page += 1
        answer = api.get(f"{query}&filter[snapshot]={snapshot}&page={page}")
        assert answer.json["pagination"]["total"] == total
        everything += ids(answer.data)
        if not answer.json["pagination"]["has_more"]:
            break
    assert len(everything) == total == len(set(everything))


def test_only_the_first_page_hands_out_a_snapshot(quiet, orders):
    assert "x-snapshot" in listing(quiet).headers
    assert "x-snapshot" not in listing(quiet, "?page=2&per_page=3").headers


# Tags

def test_an_unchanged_list_is_304(api):
    place = "/v1/orders?filter[status]=PENDING"
    tag = api.get(place).etag
    assert tag.startswith('W/"')
    for sent in [tag, tag[2:], '"x", ' + tag, "*"]:
        answer = api.get(place, **{"If-None-Match": sent})
        assert (answer.status, answer.body, answer.etag) == (304, b"", tag)


@pytest.mark.parametrize("change", [
    lambda api, order: api.place(), lambda api, order: api.add(order, item()),
    lambda api, order: api.advance(order, "READY"), lambda api, order: api.patch(path(order), {"comment": "x"})])
def test_any_change_of_an_order_changes_the_tag(api, change):
    order = api.place()
    tag = listing(api).etag
    change(api, order)
    answer = api.get("/v1/orders", **{"If-None-Match": tag})
    assert answer.status == 200 and answer.etag != tag


def test_what_changes_nothing_keeps_the_tag(api):
    order = api.advance(api.place(), "READY")
    tag = listing(api).etag
    api.advance(order, "READY")
    api.patch(path(order), {"packaging_price": -1})
    assert api.get("/v1/orders", **{"If-None-Match": tag}).status == 304


def test_another_company_does_not_move_the_tag(api, other):
    tag = listing(api).etag
    other.place()
    assert api.get("/v1/orders", **{"If-None-Match": tag}).status == 304


def test_every_request_has_a_tag_of_its_own(api):
    queries = ["", "?page=2", "?per_page=5", "?sort=total", "?filter[status]=READY", "?filter[include]=none"]
    assert len({listing(api, q).etag for q in queries}) == len(queries)


def test_lists_may_be_kept_but_must_be_asked_for_again(api):
    assert listing(api).headers["cache-control"] == "private, no-cache"


def test_the_event_cursor_moves_with_every_change(api):
    order = api.place()
    before = listing(api).headers["x-event-cursor"]
    assert listing(api).headers["x-event-cursor"] == before
    api.add(order, item())
    assert listing(api).headers["x-event-cursor"] != before


def test_the_list_is_one_json_document(quiet, orders):
    assert set(json.loads(listing(quiet).body)) == {"data", "pagination"}
