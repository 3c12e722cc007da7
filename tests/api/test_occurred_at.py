"""Comanda-Occurred-At: the key of another box, or of a till that sells offline, dates what happened there (contract section
15, Dates)."""

import contextlib
import datetime
import zoneinfo

import pytest

from support import pairing
from support.orders import accepted, item, new_key, path, refused

HEADER = "Comanda-Occurred-At"


def ago(**time):
    moment = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(**time)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


@pytest.fixture
def sync(box, demo):
    key = box.make_key(scopes="all,orders:sync", company=demo["id"])["key"]
    with contextlib.closing(box.client(key)) as client:
        yield client


def place(client, at, **fields):
    return accepted(client.post("/v1/orders", {"service_type": "ONSITE", **fields},
                                {**new_key(), HEADER: at}), 201)


def test_it_dates_the_order_its_rows_and_its_statuses(sync):
    made, sold, paid, closed = (ago(days=3, minutes=minutes) for minutes in (40, 30, 20, 10))
    order = place(sync, made)
    assert order["created_at"] == order["pending_at"] == made and order["updated_at"] > made
    order = accepted(sync.post(path(order, "combos"), {"combos": [item(10)]}, {HEADER: sold}))
    order = accepted(sync.post(path(order, "payments"), {"payment_method_code": "cash", "amount": 10}, {HEADER: paid}))
    order = accepted(sync.patch(path(order, "status"), {"status": "FINALIZED"}, {HEADER: closed}))
    assert order["combos"][0]["created_at"] == sold
    assert order["payments"][0]["created_at"] == order["paid_at"] == paid
    assert order["finalized_at"] == order["closed_at"] == order["ready_at"] == closed
    assert order["updated_at"] > closed


def test_the_number_is_of_the_business_day_on_which_it_was_made(sync):
    today = accepted(sync.post("/v1/orders", {"service_type": "ONSITE"}, new_key()), 201)
    then = [place(sync, ago(days=20))["order_number"] for _ in range(3)]
    assert then == [1, 2, 3]
    after = accepted(sync.post("/v1/orders", {"service_type": "ONSITE"}, new_key()), 201)
    assert after["order_number"] == today["order_number"] + 1
    assert after["business_day"] == today["business_day"]


def test_the_business_day_is_that_of_the_sale(sync, demo):
    zone, opens = zoneinfo.ZoneInfo(demo["timezone"]), datetime.time.fromisoformat(demo["day_starts_at"])
    date = datetime.datetime.now(zone).date() - datetime.timedelta(days=10)
    at = datetime.datetime.combine(date, opens, zone)
    for moment, day in ((at, date), (at - datetime.timedelta(seconds=1), date - datetime.timedelta(days=1))):
        order = place(sync, moment.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z"))
        assert order["business_day"] == str(day)


def test_a_till_that_was_paired_for_it_dates_its_sale(box, demo):
    answer, authority = pairing.pair(pairing.make_uri(box, "--company", demo["id"], scopes="all,orders:sync"))
    assert answer.status == 201 and "orders:sync" in answer.data["scopes"]
    sold = ago(days=1)
    with contextlib.closing(box.client(answer.data["key"])) as till:
        order = place(till, sold)
        order = accepted(till.post(path(order, "payments"), {"payment_method_code": "cash", "amount": 5}, {HEADER: sold}))
    assert order["created_at"] == order["payments"][0]["created_at"] == sold


def test_a_scheduled_date_is_judged_against_it(sync):
    between = ago(days=1)
    assert place(sync, ago(days=2), scheduled_delivery_date=between)["scheduled_delivery_date"] == between
    answer = sync.post("/v1/orders", {"service_type": "ONSITE", "scheduled_delivery_date": between},
                       new_key())
    refused(answer, 422, "validation_failed", {"scheduled_delivery_date": "out_of_range"})


@pytest.mark.parametrize("value", ["yesterday", "2026-11-20", "", {"days": 46}, {"minutes": -6}], ids=repr)
def test_what_is_no_instant_or_too_far_away_is_refused(sync, value):
    value = ago(**value) if isinstance(value, dict) else value
    answer = sync.post("/v1/orders", {"service_type": "ONSITE"}, {**new_key(), HEADER: value})
    refused(answer, 400, "invalid_header", says=[HEADER])
    order = place(sync, ago(minutes=1))
    refused(sync.patch(path(order, "status"), {"status": "READY"}, {HEADER: value}), 400, "invalid_header")


@pytest.mark.parametrize("value", ["yesterday", {"days": 3}], ids=repr)
def test_without_the_scope_it_is_ignored(api, value):
    value = ago(**value) if isinstance(value, dict) else value
    order = accepted(api.post("/v1/orders", {"service_type": "ONSITE"}, {**new_key(), HEADER: value}), 201)
    assert order["created_at"] > ago(minutes=5)


def test_the_command_line_alone_grants_the_scope(box, demo, api, sync):
    plain = box.make_key(company=demo["id"])["id"]
    assert "orders:sync" not in api.get("/auth/api-keys/" + plain).data["scopes"]
    for client in (api, sync):
        answer = client.post("/auth/api-keys", {"name": "x", "scopes": ["orders:sync"]})
        refused(answer, 403, "insufficient_scope", says=["orders:sync"])
