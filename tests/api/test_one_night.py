"""Which day: nights from 23:00 to 05:00, with payments after midnight, cancels on the next day, an hour that is repeated and
one that is skipped, asked for as one window, by business day, by the payments' own time and hour by hour: the sums agree
(contract sections 7 and 11)."""

import collections
import contextlib
import dataclasses
import datetime
import json
import zoneinfo
from decimal import Decimal

import pytest

from support.box import ROOT
from support.orders import accepted, item, path
from support.wall_clock import FrozenClockBox

DEMO = json.loads((ROOT / "src/app/demo.json").read_text())["companies"][0]
UTC = datetime.timezone.utc
MINUTE_MS, DAY = 60_000, datetime.timedelta(days=1)
OPENS, CLOSES = datetime.time(23), datetime.time(5)
# In the order of time, since the clock only goes on: the zone, the night, how many hours it has.
NIGHTS = {
    "02:00 skipped": ("America/New_York", "2026-03-07", 5), "23:00 repeated": ("America/Santiago", "2026-04-04", 7),
    "00:00 skipped": ("America/Santiago", "2026-09-05", 5), "01:00 repeated": ("America/New_York", "2026-10-31", 7),
    "as every other": ("America/Lima", "2026-11-20", 6)}


def to_ms(instant):
    return round(instant.timestamp() * 1000)


def local(zone, ms):
    return datetime.datetime.fromtimestamp(ms / 1000, UTC).astimezone(zone)


def business_day(zone, ms):
    at = local(zone, ms)
    return str(at.date() - DAY * (at.time() < CLOSES))


def instant(text):
    return to_ms(datetime.datetime.fromisoformat(text.replace("Z", "+00:00")))


def money(value):
    return Decimal(str(value))


@dataclasses.dataclass
class Night:
    """What was sold in one night, as GET shows it when all is over."""

    client: object
    zone: zoneinfo.ZoneInfo
    day: str
    next_day: str
    first_ms: int  # 23:00, the first of two
    end_ms: int  # 05:00
    hours: int
    closed: dict = dataclasses.field(default_factory=dict)  # what was reported when the night was over
    orders: list = dataclasses.field(default_factory=list)

    def report(self, name, **parameters):
        query = "&".join(f"filter[{key}]={value}" for key, value in parameters.items())
        answer = self.client.get(f"/v1/orders/{name}?{query}&per_page=100")
        assert answer.status == 200, answer.body
        return answer.data

    def sums(self, **parameters):
        """(payments, total, tips, cancelled payments, their total) over all methods."""
        rows = self.report("by-payment-methods", **parameters)
        return [sum(money(row[name]) for row in rows)
                for name in ("count", "sum_total", "tips_total", "canceled_count", "canceled_total")]

    def business(self, day=None, **parameters):
        return self.sums(start_date=day or self.day, end_date=day or self.day, day="business", **parameters)

    def by_order(self, orders):
        """What `sums` must be by the orders' date."""
        sums = [Decimal(0)] * 5
        for order in orders:
            for payment in order["payments"]:
                if payment["canceled_at"]:
                    sums[3:] = [sums[3] + 1, sums[4] + money(payment["amount"])]
                elif order["status"] != "CANCELLED":
                    sums[:3] = [sums[0] + 1, sums[1] + money(payment["amount"]), sums[2] + money(payment["tip_amount"])]
        return sums

    def by_payment(self, is_in):
        """What `sums` must be by the payments' own time; `is_in` is asked for each instant."""
        sums = [Decimal(0)] * 5
        for payment in (payment for order in self.orders for payment in order["payments"]):
            if is_in(instant(payment["created_at"])):
                sums[:3] = [sums[0] + 1, sums[1] + money(payment["amount"]), sums[2] + money(payment["tip_amount"])]
            if payment["canceled_at"] and is_in(instant(payment["canceled_at"])):
                sums[3:] = [sums[3] + 1, sums[4] + money(payment["amount"])]
        return sums


def play(box, night):
    """An order every 20 minutes, paid 50 minutes later. Every fifth first payment is cancelled at once, every fourth order at
    noon."""
    client, placed = night.client, {}
    times = range(night.first_ms, night.end_ms, 20 * MINUTE_MS)
    steps = sorted([(at, "place", n) for n, at in enumerate(times)]
                   + [(at + 50 * MINUTE_MS, "pay", n) for n, at in enumerate(times)])
    for at, step, n in steps:
        box.set_now(at)
        if step == "place":
            placed[n] = client.place()
            client.add(placed[n], item(10 + n))
        else:
            if n % 5 == 0:
                wrong = client.pay(placed[n], 10 + n)["payments"][-1]
                accepted(client.delete(path(placed[n], f"payments/{wrong['id']}")))
            client.pay(placed[n], 10 + n, tip_amount=n % 3)
    box.set_now(night.end_ms + 60 * MINUTE_MS)
    night.closed = {name: night.report(name, start_date=night.day, end_date=night.day, day="business", by="payment")
                    for name in ("by-payment-methods", "by-tips")}
    box.set_now(night.end_ms + 7 * 60 * MINUTE_MS)
    for n in list(placed)[::4]:
        paid = client.get(path(placed[n])).data["payments"][-1]
        accepted(client.delete(path(placed[n], f"payments/{paid['id']}")))
        accepted(client.post(path(placed[n], "cancel"), {"reason": "charged to the wrong table"}))
    night.orders = [client.get(path(order)).data for order in placed.values()]


@pytest.fixture(scope="module")
def nights(tmp_path_factory):
    zones = sorted({zone for zone, _, _ in NIGHTS.values()})
    companies = {zone: {"name": zone, "country_code": "PE", "timezone": zone, "currency": "PEN", "day_starts_at": "05:00",
                        "id": f"0192f0a0-0001-7000-8000-00000000010{n}",
                        "payment_methods": [{"code": "cash", "description": "Cash", "service_types": ["ONSITE"]}]}
                 for n, zone in enumerate(zones)}
    file = tmp_path_factory.mktemp("nights") / "companies.json"
    file.write_text(json.dumps({"companies": list(companies.values())}))
    box = FrozenClockBox(to_ms(datetime.datetime(2026, 3, 1, tzinfo=UTC)), options=["--sandbox-listen", ""])
    box.bring_in(file)
    box.start()
    with contextlib.ExitStack() as clients:
        played = {}
        for name, (zone_name, day, hours) in NIGHTS.items():
            zone, date = zoneinfo.ZoneInfo(zone_name), datetime.date.fromisoformat(day)
            key = box.make_key(company=companies[zone_name]["id"])["key"]
            played[name] = Night(
                clients.enter_context(contextlib.closing(box.client(key))), zone, day, str(date + DAY),
                to_ms(datetime.datetime.combine(date, OPENS, zone)),
                to_ms(datetime.datetime.combine(date + DAY, CLOSES, zone)), hours)
            play(box, played[name])
        yield played
    assert box.discard() == 0


@pytest.fixture(params=NIGHTS)
def night(nights, request):
    return nights[request.param]


def test_the_night_is_as_long_as_the_zone_makes_it(night):
    assert night.end_ms - night.first_ms == night.hours * 60 * MINUTE_MS
    assert len(night.orders) == 3 * night.hours


def test_every_order_of_the_night_has_its_business_day(night):
    assert {order["business_day"] for order in night.orders} == {night.day}
    assert len({local(night.zone, instant(order["created_at"])).date() for order in night.orders}) == 2


def test_the_list_has_the_night_in_one_business_day_and_in_two_of_the_calendar(night):
    def listed(**filters):
        query = "&".join(f"filter[{name}]={value}" for name, value in filters.items())
        return {order["id"] for order in accepted(night.client.get(f"/v1/orders?{query}&per_page=100"))}

    every = {order["id"] for order in night.orders}
    assert listed(start_date=night.day, end_date=night.day, day="business") == every
    days = [listed(start_date=day, end_date=day) for day in (night.day, night.next_day)]
    assert days[0] and days[1] and days[0] | days[1] == every and not days[0] & days[1]
    assert listed(start_date=night.day, end_date=night.day, day="calendar") == days[0]


def test_the_night_is_the_same_as_a_business_day_a_window_and_two_instants(night):
    expected = night.by_order(night.orders)
    assert all(expected)
    assert night.business() == expected
    window = {"start_date": night.day, "end_date": night.day, "start_time": "23:00", "end_time": "05:00"}
    assert night.sums(**window) == night.sums(**window, day="business") == expected
    stamps = [datetime.datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
              for ms in (night.first_ms, night.end_ms)]
    assert night.sums(start_date=stamps[0], end_date=stamps[1]) == expected
    for day in (night.next_day, str(datetime.date.fromisoformat(night.day) - DAY)):
        assert not any(night.business(day)) and not any(night.sums(**{**window, "start_date": day, "end_date": day}))
    tips = night.report("by-tips", start_date=night.day, end_date=night.day, day="business")
    assert sum(money(row["sum_total"]) for row in tips) == expected[2]
    sold = night.report("products-sold", start_date=night.day, end_date=night.day, day="business", include="freehand")
    assert sum(money(row["total_sales"]) for row in sold) == expected[1]


def test_the_days_of_the_calendar_are_the_night_together(night):
    halves = [night.sums(start_date=day, end_date=day) for day in (night.day, night.next_day)]
    assert [sum(pair) for pair in zip(*halves)] == night.business()


def test_the_hours_are_the_night_together(night):
    by_hour = collections.defaultdict(list)
    for order in night.orders:
        by_hour[local(night.zone, instant(order["created_at"])).hour].append(order)
    assert max(map(len, by_hour.values())) == (6 if night.hours == 7 else 3)

    def by_payment(hour):
        return night.by_payment(
            lambda ms: local(night.zone, ms).hour == hour and business_day(night.zone, ms) == night.day)

    for more, expected in ({}, lambda hour: night.by_order(by_hour[hour])), ({"by": "payment"}, by_payment):
        total = [Decimal(0)] * 5
        for hour in range(24):
            found = night.business(start_time=f"{hour:02}:00", end_time=f"{hour + 1:02}:00", **more)
            assert found == expected(hour), hour
            total = [sum(pair) for pair in zip(total, found)]
        assert total == night.business(**more)


def test_a_payment_counts_when_it_was_made_and_its_cancel_when_that_was(night):
    days = [night.business(day, by="payment") for day in (night.day, night.next_day)]
    for day, found in zip((night.day, night.next_day), days):
        assert found == night.by_payment(lambda ms: business_day(night.zone, ms) == day)
    # The last payments of the night were made after 05:00.
    assert days[1][0] and days[1][3]
    kept = sum(money(order["total_paid"]) for order in night.orders)
    assert sum(total - canceled for _, total, _, _, canceled in days) == kept


def test_what_was_reported_of_a_night_by_payment_never_changes(night):
    for name, rows in night.closed.items():
        assert rows and night.report(name, start_date=night.day, end_date=night.day, day="business", by="payment") == rows


def test_without_dates_a_report_is_of_today(nights):
    night = nights["as every other"]  # the clock still shows the noon after it
    assert night.sums(day="business", by="payment") == night.business(night.next_day, by="payment")
    assert night.sums(by="payment") == night.sums(start_date=night.next_day, end_date=night.next_day, by="payment")
