"""Makes orders of 400 days in five companies through the API, on a server whose clock the test sets (FrozenClockBox).
The seed decides what is made, except ids, public ids and the sequence of requests within one millisecond.

The clock does not run between two settings, so many orders share a stamp. Many settings lie exactly on, or 1 ms beside,
a local midnight, a whole minute, or a change of a zone's offset."""

import concurrent.futures
import contextlib
import dataclasses
import datetime
import queue
import random
import zoneinfo

from support.exact import Scaled, from_json, to_json, whole
from support.orders import LIFE, SERVICE_TYPES
from support.quick_client import QuickClient

UTC = datetime.timezone.utc
BEGIN = datetime.datetime(2023, 8, 31, tzinfo=UTC)
DAYS = 403
MINUTE_MS, HOUR_MS = 60_000, 3_600_000
TILLS = 8
SNAPSHOTS = 12
DELIVERY = ["RIDER_ASSIGNED", "DRIVER_ARRIVED_AT_STORE", "DRIVER_ON_THE_WAY_TO_DESTINATION",
            "DRIVER_ARRIVED_AT_DESTINATION", "DELIVERED"]


def to_ms(instant):
    return (instant - datetime.datetime(1970, 1, 1, tzinfo=UTC)) // datetime.timedelta(milliseconds=1)


def to_instant(ms):
    return datetime.datetime.fromtimestamp(ms // 1000, UTC) + datetime.timedelta(milliseconds=ms % 1000)


def stamp(ms):
    """As the server writes it."""
    return to_instant(ms).strftime("%Y-%m-%dT%H:%M:%S.") + f"{ms % 1000:03}Z"


BEGIN_MS = to_ms(BEGIN)
END_MS = BEGIN_MS + DAYS * 24 * HOUR_MS


@dataclasses.dataclass(frozen=True)
class House:
    """A company, and what its import file has."""

    number: int
    country: str
    zone_name: str
    currency: str
    places: int  # decimals of the currency
    day_starts_at: int  # the minute

    @property
    def zone(self):
        return zoneinfo.ZoneInfo(self.zone_name)

    def id(self, kind, number=1):
        return f"0d{self.number:02}{kind:04x}-0000-4000-8000-{number:012}"

    @property
    def company_id(self):
        return self.id(0)

    @property
    def methods(self):
        return {
            "cash": SERVICE_TYPES, "card": ["ONSITE", "TABLE", "TAKEAWAY"], "wallet": SERVICE_TYPES,
            "voucher": ["ONSITE", "DELIVERY"], "transfer": ["DELIVERY", "TAKEAWAY"]}

    @property
    def clients(self):
        """(client, address): three guests."""
        return [(self.id(2, n), self.id(3, n)) for n in (1, 2, 3)]

    @property
    def tables(self):
        return [self.id(4, n) for n in (1, 2, 3)]

    @property
    def rider(self):
        return self.id(5)

    @property
    def products(self):
        """(product, variants): four with one variant each, two with three."""
        return [(self.id(6, p), [self.id(7, 10 * p + v) for v in range(3 if p > 4 else 1)]) for p in range(1, 7)]

    def price(self, units):
        """`units` hundredths of the price of a coffee, as an import file writes it."""
        return Scaled(units * 10 ** self.places // 100, self.places)

    def company(self):
        products = []
        for number, (product, variants) in enumerate(self.products):
            fields = {"id": product, "name": f"Dish {number} of {self.zone_name}", "kitchen_id": self.id(8),
                      "variants": [{"id": v, "name": f"Size {n}", "sku": f"S{number}{n}", "price": self.price(700 + n)}
                                   for n, v in enumerate(variants)]}
            if number == 2:
                fields["stock_enabled"] = True
                fields["variants"][0]["stock"] = 200
            products.append(fields)
        return {
            "id": self.company_id, "name": "House " + self.zone_name, "country_code": self.country,
            "timezone": self.zone_name, "currency": self.currency, "language": "en",
            "day_starts_at": f"{self.day_starts_at // 60:02}:{self.day_starts_at % 60:02}",
            "payment_methods": [
                {"id": self.id(1, n), "code": code, "description": f"By {code}, año {n}", "service_types": types}
                for n, (code, types) in enumerate(self.methods.items())],
            "users": [{"id": self.rider, "name": "Kevin", "email": f"kevin@{self.number}.example",
                       "country_calling_code": "51", "phone_number": "912345678", "role": "rider", "active": True}],
            "clients": [{"id": client, "name": f"Guest {n}", "email": f"guest{n}@{self.number}.example",
                         "country_calling_code": "51", "phone_number": f"99887766{n}",
                         "addresses": [{"id": address, "address": f"{n} Side Street", "city": "Capital"}]}
                        for n, (client, address) in enumerate(self.clients)],
            "tables": [{"id": table, "name": f"T{n}"} for n, table in enumerate(self.tables)],
            "stations": [{"id": self.id(8), "name": "Kitchen"}],
            "categories": [{"id": self.id(9), "name": "Plates", "products": products}]}


# Daylight saving in the north; in the south, where the skipped hour begins at midnight; by half an hour, in a zone with
# a half-hour offset; no daylight saving; and a zone that changed its standard offset.
HOUSES = [
    House(1, "ES", "Europe/Madrid", "EUR", 2, 300),
    House(2, "CL", "America/Santiago", "CLP", 0, 330),
    House(3, "AU", "Australia/Lord_Howe", "AUD", 2, 105),
    House(4, "KW", "UTC", "KWD", 3, 0),
    House(5, "KZ", "Asia/Almaty", "KZT", 2, 1380)]


def import_file():
    return to_json({"companies": [house.company() for house in HOUSES]})


# Times of the orders.

def changes_of_offset(zone):
    """The instants at which the offset of the zone changes."""
    def offset(ms):
        return to_instant(ms).astimezone(zone).utcoffset()

    found = []
    for day in range(BEGIN_MS, END_MS, 24 * HOUR_MS):
        low, high = day, day + 24 * HOUR_MS
        if offset(low) == offset(high):
            continue
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if offset(middle) == offset(low) else (low, middle)
        found.append(high)
    return found


def some_instant(dice):
    zone = dice.choice(HOUSES).zone
    ms = dice.randrange(BEGIN_MS, END_MS)
    kind = dice.random()
    if kind < 0.3:
        return ms
    local = to_instant(ms).astimezone(zone)
    if kind < 0.6:
        local = local.replace(hour=0, minute=0, second=0, microsecond=0)
    else:
        local = local.replace(minute=dice.choice([0, 15, 30, local.minute]), second=0, microsecond=0)
    return to_ms(local.astimezone(UTC)) + dice.choice([-1, 0, 0, 1])


def instants(dice, count):
    """Sorted and distinct; always with the instants around each change of offset."""
    chosen = {ms + near for house in HOUSES for ms in changes_of_offset(house.zone)
              for near in (-HOUR_MS, -1, 0, 1, HOUR_MS // 2, HOUR_MS)}
    while len(chosen) < count:
        chosen.add(some_instant(dice))
    return sorted(ms for ms in chosen if BEGIN_MS <= ms < END_MS)


# One order.

class Guest:
    """One order and its requests, which are made in one to three sittings. A sitting is what happens at one setting of
    the clock."""

    def __init__(self, house, key, seed, number):
        self.house, self.key, self.number = house, key, number
        self.dice = random.Random(f"{seed} guest {number}")
        self.service_type = self.dice.choice(SERVICE_TYPES)
        chance = self.dice.random
        steps = [self.order_food] * (chance() < 0.9) + [self.order_food] * (chance() < 0.25)
        more = ([self.take_off] * (chance() < 0.3) + [self.cancel_line] * (chance() < 0.25)
                + [self.pay] * (chance() < 0.75) + [self.pay] * (chance() < 0.25)
                + [self.cancel_payment] * (chance() < 0.15)
                + [self.advance] * (chance() < 0.8) + [self.edit] * (chance() < 0.15))
        if self.service_type == "DELIVERY":
            more += [self.assign] * (chance() < 0.4) + [self.report] * (chance() < 0.6)
        self.dice.shuffle(more)
        steps += more + [self.leave] * (chance() < 0.12)
        first, second = sorted(self.dice.randint(0, len(steps)) for _ in range(2))
        parts = [[self.open, *steps[:first]], steps[first:second], steps[second:]]
        self.sittings = [part for part in parts if part]

    def sit(self, client, now_ms):
        """The next sitting."""
        self.client, self.now_ms = client, now_ms
        for step in self.sittings.pop(0):
            step()

    def send(self, method, below, body=None, status=200):
        answer = self.client.send(self.key, method, f"/v1/orders/{self.record['id']}{below}",
                                  None if body is None else to_json(body))
        assert answer.status == status, (method, below, body, answer.status, answer.body)
        self.record = from_json(answer.body)["data"]

    def money(self, minor):
        return Scaled(minor, self.house.places)

    def price(self):
        """One of few amounts, so that totals are equal."""
        return self.dice.choice([0, 500, 1000, 1250, 1999, self.dice.randrange(5000)])

    def minor(self, name):
        return whole(self.record[name], self.house.places)

    def is_open(self):
        return self.record["status"] not in ("FINALIZED", "CANCELLED")

    def active(self, rows):
        return [row for row in self.record[rows] if row["canceled_at"] is None]

    # Steps; each does nothing where the order's state does not allow it.
    def open(self):
        chance = self.dice.random
        fields = {"service_type": self.service_type}
        client, address = self.dice.choice(self.house.clients)
        if chance() < 0.4:
            fields["client_id"] = client
        if self.service_type == "TABLE" and chance() < 0.8:
            fields["table_id"] = self.dice.choice(self.house.tables)
        if self.service_type == "DELIVERY":
            fields["delivery_price"] = self.money(self.dice.choice([0, 300, 450]))
            if "client_id" in fields:
                fields["address_id"] = address
        if chance() < 0.3:
            fields["packaging_price"] = self.money(100)
        if chance() < 0.3:
            fields["scheduled_delivery_date"] = self.some_date()
        if chance() < 0.2:
            fields["order_title"] = f'Party of "{self.number}"'
        if chance() < 0.1:
            fields["comment"] = "Sin ají,\nmuy \\ caliente \N{HOT PEPPER}"
        answer = self.client.send(self.key, "POST", "/v1/orders", to_json(fields), f"reference-{self.number}")
        assert answer.status == 201, (fields, answer.status, answer.body)
        self.record = from_json(answer.body)["data"]
        assert self.record["created_at"] == stamp(self.now_ms)

    def some_date(self):
        """A whole number of hours ahead, so that dates are equal."""
        hour = self.now_ms // HOUR_MS + self.dice.randint(1, 50)
        return stamp(hour * HOUR_MS)

    def order_food(self):
        if self.is_open():
            self.send("POST", "/combos", {"combos": [self.item() for _ in range(self.dice.randint(1, 3))]})

    def item(self):
        dice = self.dice
        row = {"quantity": Scaled(dice.choice([1000, 1000, 2000, 500, dice.randint(1, 4000)]), 3),
               "variant_price": self.money(self.price())}
        if dice.random() < 0.3:
            row["product_name"] = dice.choice(["Vela", "vela", "Torta", "Ñoquis", "Agua con gas", "Zumo"])
        else:
            product, variants = dice.choice(self.house.products)
            row.update(dice.choice([{"product_id": product}, {"variant_id": dice.choice(variants)}]))
            if dice.random() < 0.1:
                row["product_name"] = "As the guest calls it"
        if dice.random() < 0.4:
            row["modifiers"] = [
                {"name": name, "price": self.money(self.price() // 10), "quantity": dice.randint(1, 3)}
                for name in dice.sample(["Picante", "Sal", "Éclair", "Zeste", "aceite"], dice.randint(1, 3))]
        return row

    def cancel_line(self):
        lines = self.active("combos")
        if lines and self.is_open():
            self.send("DELETE", "/combos/" + self.dice.choice(lines)["id"])

    def take_off(self):
        if self.is_open():
            kind = self.dice.choice(["AMOUNT", "PERCENTAGE"])
            value = self.money(self.dice.choice([100, 999, 100000])) if kind == "AMOUNT" else Scaled(
                self.dice.choice([100000, 333333, 1000000]), 4)
            self.send("POST", "/discounts", {"type": kind, "value": value})

    def pay(self):
        if self.record["status"] == "CANCELLED":
            return
        rest = self.minor("pending_amount")
        amount = self.dice.choice([rest, rest, rest // 2, self.price()])
        tip = self.dice.choice([0, 0, 100, 250])
        if amount + tip == 0:
            return
        codes = [code for code, types in self.house.methods.items() if self.service_type in types]
        body = {"payment_method_code": self.dice.choice(codes), "amount": self.money(amount)}
        if tip:
            body["tip_amount"] = self.money(tip)
        self.send("POST", "/payments", body)

    def cancel_payment(self):
        payments = self.active("payments")
        if payments and self.record["status"] != "CANCELLED":
            self.send("DELETE", "/payments/" + self.dice.choice(payments)["id"])

    def advance(self):
        if self.is_open():
            self.send("PATCH", "/status", {"status": self.dice.choice(LIFE + ["FINALIZED"])})

    def edit(self):
        if self.is_open():
            self.send("PATCH", "", self.dice.choice([
                {"scheduled_delivery_date": None}, {"scheduled_delivery_date": self.some_date()},
                {"packaging_price": self.money(250)}, {"comment": "pronto"}]))

    def assign(self):
        if self.is_open():
            self.send("PUT", "/rider", {"name": "Beto", "user_id": "r-7"})

    def report(self):
        if not self.is_open() or self.record["delivery_status"] == "NOT_DELIVERED":
            return
        at = DELIVERY.index(self.record["delivery_status"]) if self.record["delivery_status"] else -1
        if 1 <= at <= 3 and self.dice.random() < 0.5:
            self.send("PATCH", "/delivery-status", {"delivery_status": "NOT_DELIVERED", "reason": "nobody"})
        else:
            status = self.dice.choice(DELIVERY[:4] * 2 + DELIVERY[4:])
            self.send("PATCH", "/delivery-status", {"delivery_status": status})

    def leave(self):
        if self.record["status"] != "CANCELLED":
            for payment in self.active("payments"):
                self.send("DELETE", "/payments/" + payment["id"])
            self.send("POST", "/cancel", {"reason": "left"})


# The whole history.

class Story:
    """Plans and plays all guests. Afterwards, by company id: `guests`, each with the record of its last answer, and
    `snapshots`, pairs of an X-Snapshot and the ids of the orders that existed then."""

    def __init__(self, box, keys, seed, orders):
        self.box, self.keys = box, keys
        dice = random.Random(f"{seed} story")
        self.guests = {house.company_id: [] for house in HOUSES}
        self.snapshots = {house.company_id: [] for house in HOUSES}
        self.times = instants(dice, max(orders // 4, 100))
        self.plan = [[] for _ in self.times]  # the guests of each sitting
        for number in range(orders):
            house = dice.choice(HOUSES)
            guest = Guest(house, keys[house.company_id], seed, number)
            at = dice.randrange(len(self.times))
            for _ in range(len(guest.sittings)):
                self.plan[at].append(guest)
                at = min(at + dice.choice([1, 1, 2, 20]), len(self.times) - 1)

    def play(self):
        clients = queue.SimpleQueue()
        for _ in range(TILLS):
            clients.put(QuickClient(self.box))
        arrived = set()
        stops = set(range(0, len(self.times), max(1, len(self.times) // SNAPSHOTS)))

        def sit(guests, now_ms):
            client = clients.get()
            try:
                for guest in guests:
                    guest.sit(client, now_ms)
            finally:
                clients.put(client)

        with concurrent.futures.ThreadPoolExecutor(TILLS) as pool:
            for index, (now_ms, guests) in enumerate(zip(self.times, self.plan)):
                self.box.set_now(now_ms)
                together = {}
                for guest in guests:
                    together.setdefault(guest, []).append(guest)
                for future in [pool.submit(sit, one, now_ms) for one in together.values()]:
                    future.result()
                for guest in together:
                    if guest.number not in arrived:
                        arrived.add(guest.number)
                        self.guests[guest.house.company_id].append(guest)
                if index in stops:
                    self.take_snapshots()
        while not clients.empty():
            clients.get().close()

    def take_snapshots(self):
        with contextlib.closing(QuickClient(self.box)) as client:
            for company, key in self.keys.items():
                answer = client.send(key, "GET", "/v1/orders?per_page=1")
                ids = {guest.record["id"] for guest in self.guests[company]}
                assert from_json(answer.body)["pagination"]["total"] == str(len(ids))
                self.snapshots[company].append((answer.headers["x-snapshot"], ids))
