"""Random queries to the list of orders and to the three reports, over orders of 400 days (support/long_history.py),
against a model that knows only the orders' records (support/list_model.py). Whole bodies are compared, byte for byte.

COMANDA_SEED=N makes the same orders and asks the same questions; a failure prints the seed and the shortest query that
still fails."""

import contextlib
import datetime
import gzip
import json
import os
import random
import threading
import urllib.parse
import zoneinfo

import pytest

from support import long_history as history
from support.box import LONG
from support.exact import rows_of
from support.list_model import Company, Refused, Row, local_date
from support.long_history import HOUSES, to_instant
from support.orders import SERVICE_TYPES, record_bytes
from support.quick_client import QuickClient
from support.wall_clock import FrozenClockBox

SEED = int(os.environ.get("COMANDA_SEED") or random.SystemRandom().randrange(10 ** 9))
ORDERS, QUESTIONS, WALKS = (10_000, 7_500, 200) if LONG else (1_500, 1_200, 10)
SORTS = ["created_at", "updated_at", "scheduled_delivery_date", "total", "order_number"]
STATUSES = ["PENDING", "PREPARING", "READY", "DELIVERED", "FINALIZED", "CANCELLED"]
REPORTS = {"by-payment-methods": ["sum_total", "count", "tips_total", "canceled_count", "canceled_total"],
           "by-tips": ["sum_total", "count"],
           "products-sold": ["product_quantity", "total_sales", "canceled_quantity"]}
ZONES = [house.zone_name for house in HOUSES] + ["Asia/Kolkata", "America/Lima", "Pacific/Kiritimati"]


class World:
    """The server with its orders, and the model of each company."""

    def __init__(self, box):
        self.box = box
        file = box.data / "houses.json"
        file.write_text(history.import_file())
        box.bring_in(file)
        self.keys = {house.company_id: box.make_key(company=house.company_id)["key"] for house in HOUSES}
        box.start()
        self.story = history.Story(box, self.keys, SEED, ORDERS)
        self.story.play()
        self.client = QuickClient(box)
        self.companies = {house: self.company(house) for house in HOUSES}

    def get(self, house, target, **headers):
        return self.client.send(self.keys[house.company_id], "GET", target, **headers)

    def row(self, house, id):
        return Row(record_bytes(self.get(house, "/v1/orders/" + id)).decode(), house.places)

    def company(self, house):
        rows = []
        for guest in self.story.guests[house.company_id]:
            row = self.row(house, guest.record["id"])
            assert row.record == guest.record, "an order is not as its last write showed it"
            rows.append(row)
        made = house.company()
        menu = {}
        for product in made["categories"][0]["products"]:
            menu[product["id"]] = product["name"], None
            menu.update({variant["id"]: (product["name"], variant["name"]) for variant in product["variants"]})
        return Company(
            house.zone, house.day_starts_at, house.places, rows, {m["id"]: (m["code"], m["description"]) for m in made["payment_methods"]},
            menu, dict(self.story.snapshots[house.company_id]), self.box.now_ms, zoneinfo.ZoneInfo)


@pytest.fixture(scope="module")
def world():
    box = FrozenClockBox(history.BEGIN_MS, options=["--sandbox-listen", "", "--workers", "16"])
    try:
        yield World(box)
    finally:
        box.discard()


# Questions

def target_of(path, parameters):
    return path + "".join("?&"[n > 0] + name + "=" + urllib.parse.quote(value, safe=",:")
                          for n, (name, value) in enumerate(parameters.items()))


def in_any_case(dice, value):
    return dice.choice([value, value, value.lower(), value.title()])


class Questions:
    def __init__(self, company, dice):
        self.company, self.dice = company, dice

    def some(self):
        """(path, parameters)"""
        if self.dice.random() < 0.5:
            return "/v1/orders", self.of_the_list()
        report = self.dice.choice(list(REPORTS))
        return "/v1/orders/" + report, self.of_a_report(report)

    def of_the_list(self):
        dice, order = self.dice, self.dice.choice(self.company.rows)
        record = order.record
        scheduled = order.keys["scheduled_delivery_date"] or order.created_ms
        makers = {
            "status": lambda: self.words(STATUSES, record["status"]),
            "service_type": lambda: self.words(SERVICE_TYPES, record["service_type"]),
            "source": lambda: self.words(["RAPPI", "PANEL"], "API"),
            "delivery_status": lambda: self.words(
                [*history.DELIVERY, "NOT_DELIVERED"], record["delivery_status"] or "DELIVERED"),
            "client_id": lambda: in_any_case(dice, record["client_id"] or "0d00ffff-0000-4000-8000-000000000000"),
            "table_id": lambda: record["table_id"] or record["id"],
            "reference": lambda: record["reference"],
            "public_id": lambda: in_any_case(dice, record["public_id"]),
            "paid": lambda: dice.choice(["true", "false", "True"]),
            "updated_since": lambda: self.instant(dice.choice([order.updated_ms, order.created_ms])),
            "start_date": lambda: self.day_or_instant(order.created_ms, self.company.zone),
            "end_date": lambda: self.day_or_instant(order.created_ms, self.company.zone),
            "order_number": lambda: str(record["order_number"]),
            "scheduled_from": lambda: self.day_or_instant(scheduled, self.company.zone),
            "scheduled_to": lambda: self.day_or_instant(scheduled, self.company.zone),
            "snapshot": lambda: dice.choice(list(self.company.snapshots)),
            "include": lambda: dice.choice(["none", ",".join(dice.sample(["combos", "Payments", "DISCOUNTS"],
                                                                         dice.randint(1, 3)))])}
        rare = {"client_id", "table_id", "reference", "public_id", "order_number", "scheduled_from", "scheduled_to"}
        parameters = {f"filter[{name}]": make() for name, make in makers.items()
                      if dice.random() < (0.05 if name in rare else 0.16)}
        if dice.random() < (0.5 if any("_date]" in name for name in parameters) else 0.02):
            parameters["filter[day]"] = dice.choice(["business", "Business", "calendar"])
        return self.paged(parameters, SORTS)

    def of_a_report(self, report):
        dice = self.dice
        order = dice.choice(self.company.rows)
        parameters = {}
        if dice.random() < 0.4:
            parameters["timezone"] = dice.choice(ZONES)
        zone = zoneinfo.ZoneInfo(parameters.get("timezone", self.company.zone.key))
        days = dice.choice([0, 0, 1, 6, 30, 120, 364, 365, 366])
        first = order.created_ms - dice.randint(0, days) * 86_400_000
        if dice.random() < 0.9:
            parameters["filter[start_date]"] = self.day_or_instant(first, zone)
        if dice.random() < 0.9:
            parameters["filter[end_date]"] = self.day_or_instant(first + days * 86_400_000, zone)
        if dice.random() < 0.5:
            times = [self.time_of_day(order, zone) for order in dice.sample(self.company.rows, 2)]
            if dice.random() < 0.8:
                parameters["filter[start_time]"] = times[0]
            if dice.random() < 0.8:
                parameters["filter[end_time]"] = dice.choice([times[1], times[1], times[0], "24:00"])
        if dice.random() < 0.4:
            parameters["filter[day]"] = dice.choice(["business", "business", "calendar"])
        if report != "products-sold" and dice.random() < 0.4:
            parameters["filter[by]"] = dice.choice(["payment", "Payment", "order"])
        makers = {"status": lambda: self.words(STATUSES, order.record["status"]),
                  "service_type": lambda: self.words(SERVICE_TYPES, order.record["service_type"]),
                  "source": lambda: self.words(["RAPPI", "PANEL"], "API")}
        parameters.update({f"filter[{name}]": make() for name, make in makers.items() if dice.random() < 0.25})
        if report == "products-sold":
            include = dice.choice([None, "products", "products_modifiers", "Products_Modifiers", "freehand"])
            if include:
                parameters["filter[include]"] = include
        return self.paged(parameters, REPORTS[report])

    def paged(self, parameters, sorts):
        dice = self.dice
        if dice.random() < 0.7:
            parameters["sort"] = dice.choice(["", "-"]) + dice.choice(sorts)
        if dice.random() < 0.6:
            parameters["per_page"] = str(dice.choice([1, 2, 3, 7, 20, 50, 99, 100]))
        if dice.random() < 0.4:
            parameters["page"] = str(dice.choice([1, 2, 2, 3, dice.randint(1, 400)]))
        return parameters

    def words(self, all_words, likely):
        chosen = [likely] * (self.dice.random() < 0.7) + self.dice.choices(all_words, k=self.dice.randint(0, 2))
        return in_any_case(self.dice, ",".join(chosen or [likely]))

    def instant(self, ms):
        ms += self.dice.choice([-1, 0, 0, 1])
        offset = self.dice.choice([0, 0, 330, -300])
        zone = datetime.timezone(datetime.timedelta(minutes=offset))
        text = to_instant(ms).astimezone(zone).isoformat(timespec="milliseconds")
        return text if offset or self.dice.random() < 0.5 else text.replace("+00:00", "Z")

    def day_or_instant(self, ms, zone):
        if self.dice.random() < 0.3:
            return self.instant(ms)
        return str(local_date(zone, ms) + datetime.timedelta(days=self.dice.choice([-1, 0, 0, 0, 1])))

    def time_of_day(self, order, zone):
        local = to_instant(order.created_ms).astimezone(zone) + datetime.timedelta(
            minutes=self.dice.choice([-15, -1, 0, 0, 0, 1, 15]))
        return self.dice.choice([f"{local:%H:%M}", f"{local:%H:%M}", f"{local:%H}:00"])


def difference(world, house, path, parameters):
    """None if the server's answer equals the model's; else both, as text."""
    answer = world.get(house, target_of(path, parameters))
    found = f"{answer.status} {answer.body.decode()}"
    try:
        expected = f"200 {world.companies[house].answer(path, parameters)}"
    except Refused as refused:
        if answer.status == 400 and answer.code == "invalid_parameter" and list(answer.fields) == [refused.parameter]:
            return None
        expected = f"400 invalid_parameter of {refused.parameter}"
    if found == expected:
        return None
    if path == "/v1/orders" and answer.status == 200:
        found_rows, expected_rows = (summary(text, parameters) for text in (found, expected))
        if found_rows != expected_rows:
            found, expected = found_rows, expected_rows
    same = next((n for n, (a, b) in enumerate(zip(expected, found)) if a != b), min(len(expected), len(found)))
    return f"they differ at {same}:\nexpected: {around(expected, same)}\ngot:      {around(found, same)}"


def summary(text, parameters):
    """A list as the ids of its rows with the field that they are sorted by."""
    body = json.loads(text.removeprefix("200 "))
    name = parameters.get("sort", "-created_at").lstrip("-")
    rows = "".join(f"\n  {row['id']} {row[name]}" for row in body["data"])
    return f"{json.dumps(body['pagination'])}{rows}"


def check_ways_to_ask(world, house, target):
    """With gzip the body is the same; If-None-Match with the answer's own tag gives 304."""
    plain = world.get(house, target)
    if plain.status != 200:
        return
    packed = world.get(house, target, Accept_Encoding="gzip")
    if packed.headers.get("content-encoding") == "gzip":
        assert gzip.decompress(packed.body) == plain.body, f"COMANDA_SEED={SEED}: gzip of {target}"
    else:
        assert packed.body == plain.body, f"COMANDA_SEED={SEED}: {target}"
    again = world.get(house, target, If_None_Match=plain.headers["etag"])
    assert (again.status, again.body) == (304, b""), f"COMANDA_SEED={SEED}: 304 of {target}"


def around(text, at):
    return text if len(text) < 1500 else f"{text[:60]} … {text[max(60, at - 300):at + 700]} … {text[-100:]}"


def smallest(world, house, path, parameters):
    """The parameters that are needed for the failure."""
    for name in list(parameters):
        fewer = {n: v for n, v in parameters.items() if n != name}
        if difference(world, house, path, fewer):
            return smallest(world, house, path, fewer)
    return parameters


def test_lists_and_reports_answer_as_the_model(world):
    dice = random.Random(f"{SEED} questions")
    rows = refused = 0
    for number in range(QUESTIONS):
        house = dice.choice(HOUSES)
        path, parameters = Questions(world.companies[house], dice).some()
        if difference(world, house, path, parameters):
            parameters = smallest(world, house, path, parameters)
            raise AssertionError(
                f"COMANDA_SEED={SEED}, question {number}, {house.zone_name} at {history.stamp(world.box.now_ms)}:\n"
                f"GET {urllib.parse.unquote(target_of(path, parameters))}\n"
                f"{difference(world, house, path, parameters)}")
        if number % 5 == 0:
            check_ways_to_ask(world, house, target_of(path, parameters))
        try:
            rows += '"data":[{' in world.companies[house].answer(path, parameters)
        except Refused:
            refused += 1
    # Empty answers find little.
    assert rows > QUESTIONS // 3 and refused < QUESTIONS // 4, (rows, refused)
    print(f"seed {SEED}: {QUESTIONS} questions, {rows} answered with rows, {refused} refused")


# Walks through all pages while others write

def place_until(world, house, end, number):
    """Places new orders; leaves the others as they are."""
    with contextlib.closing(QuickClient(world.box)) as client:
        placed = 0
        while not end.is_set():
            answer = client.send(world.keys[house.company_id], "POST", "/v1/orders",
                                 f'{{"service_type": "{SERVICE_TYPES[placed % 4]}"}}', f"walk-{number}-{placed}")
            assert answer.status == 201, answer.body
            placed += 1


def walk(world, house, parameters):
    """All rows, page by page."""
    rows, snapshot, total, page, more = [], {}, None, 1, True
    while more:
        target = target_of("/v1/orders", {**parameters, **snapshot, "page": str(page)})
        answer = world.get(house, target)
        assert answer.status == 200, (target, answer.body)
        if page == 1:
            snapshot = {"filter[snapshot]": answer.headers["x-snapshot"]}
            total = answer.json["pagination"]["total"]
        assert answer.json["pagination"]["total"] == total, target
        rows += [Row(record, house.places) for record in rows_of(answer.body.decode())]
        more = answer.json["pagination"]["has_more"]
        page += 1
    assert len(rows) == total, (len(rows), total)
    return rows


def test_a_walk_repeats_and_misses_nothing_while_others_write(world):
    dice = random.Random(f"{SEED} walks")
    for number in range(WALKS):
        house = dice.choice(HOUSES)
        company = world.companies[house]
        order = dice.choice(company.rows)
        parameters = {"sort": dice.choice(["", "-"]) + dice.choice(["created_at", "order_number"]),
                      "per_page": str(dice.choice([7, 20, 50, 100]))}
        if dice.random() < 0.5:
            parameters["filter[service_type]"] = order.record["service_type"]
        if dice.random() < 0.3:
            parameters["filter[start_date]"] = str(local_date(company.zone, order.created_ms))
        if dice.random() < 0.2 and order.record["client_id"]:
            parameters["filter[client_id]"] = order.record["client_id"]
        end = threading.Event()
        till = threading.Thread(target=place_until, args=(world, house, end, f"{SEED}-{number}"))
        till.start()
        try:
            rows = walk(world, house, parameters)
        finally:
            end.set()
            till.join()
        told = f"COMANDA_SEED={SEED}, walk {number}, {house.zone_name}: {parameters}"
        known = {row.id for row in company.rows}
        expected = [row.text for row in company.chosen(parameters)]
        assert [row.text for row in rows if row.id in known] == expected, told
        # Orders placed during the walk may be in it: once, and where the sort puts them.
        assert len({row.id for row in rows}) == len(rows), told
        walked = Company(company.zone, 0, company.places, rows, {}, {}, {}, world.box.now_ms, zoneinfo.ZoneInfo)
        assert [row.id for row in walked.chosen(parameters)] == [row.id for row in rows], told
        company.rows += [world.row(house, id) for id in all_ids(world, house) - known]


def all_ids(world, house):
    return {row.id for row in walk(world, house, {"per_page": "100", "filter[include]": "none"})}
