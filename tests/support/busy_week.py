"""A database as found in a restaurant: orders of today, of last week and of a season ago, whose events and records
the server has meanwhile purged, in every state and with every kind of row, all made through the API."""

import contextlib
import dataclasses
import json
import random
import uuid

from support.orders import LIFE, SERVICE_TYPES
from support.quick_client import QuickClient
from support.waiting import wait_until
from support.wall_clock import ClientWithoutDates, ClockBox

DAY_S = 24 * 3600
# Days ago, and the share of the orders (in percent) created then. Events are kept for a week and records for 90 days, once
# the clock has been trusted for a day; the orders of yesterday give the server that evidence.
SITTINGS = [(100, 15), (40, 10), (9, 15), (25 / 24, 5), (0, 55)]


class WeekBox(ClockBox):
    def client(self, key=None, address="127.0.0.1"):
        return ClientWithoutDates(self.port, key, str(self.cafile), address)


@dataclasses.dataclass
class Sent:
    path: str
    body: str
    key: str


@dataclasses.dataclass
class Guest:
    record: dict
    creation: Sent
    # The last successful POST below the order, for orders of today: its answer is still stored for replay.
    last: Sent | None = None


class Week:
    def __init__(self, box, seed, orders):
        self.box, self.dice, self.count = box, random.Random(f"{seed} week"), orders
        self.guests = []

    def play(self):
        self.box.bring_in("demo")
        self.key = self.box.make_key()["key"]
        for days, percent in SITTINGS:
            self.box.ahead_s = -int(days * DAY_S)
            self.box.start()
            with contextlib.closing(QuickClient(self.box)) as self.client:
                self.look_around()
                for _ in range(max(1, self.count * percent // 100)):
                    self.serve(is_today=days == 0)
            assert self.box.stop() == 0
        self.let_purge()

    def let_purge(self):
        """Waits for the purge, which is the first chore after a start: first events, then the records without events."""
        for column in ("log_start", "records_dropped_to"):
            self.box.start()
            wait_until(lambda: self.box.value(f"SELECT {column} FROM company_counter") > 1,
                       lambda: "nothing is purged:\n" + self.box.log_text()[-3000:])
            assert self.box.stop() == 0

    def look_around(self):
        def data(path):
            answer = self.client.send(self.key, "GET", path)
            assert answer.status == 200, (path, answer.body)
            return answer.data

        self.tables = [id for (id,) in self.box.rows("SELECT id FROM dining_table WHERE active = 1 ORDER BY id")]
        self.clients = [client for client in data("/v1/clients?per_page=20") if client["addresses"]]
        self.products = [product for category in data("/v1/menu")["categories"] for product in category["products"]]

    def serve(self, is_today):
        dice = self.dice
        guest = self.open()
        steps = [self.order_food] + [self.order_food] * dice.randint(0, 2) + [self.take_off] * dice.randint(0, 2)
        steps += [self.pay] * dice.randint(0, 2) + [self.advance] * dice.randint(0, 2) + [self.cancel_line] * dice.randint(0, 1)
        steps += [self.comment] * (dice.random() < 0.3) + [self.rider] * (dice.random() < 0.3)
        steps += [self.finish] * (dice.random() < (0.4 if is_today else 0.9))
        for step in steps:
            step(guest)
        if not is_today:
            guest.last = None
        self.guests.append(guest)

    # Steps: each does nothing where the order's state does not allow it.
    def send(self, guest, method, below, body=None):
        sent = Sent(f"/v1/orders/{guest.record['id']}{below}", None if body is None else json.dumps(body), str(uuid.uuid4()))
        answer = self.client.send(self.key, method, sent.path, sent.body, sent.key)
        assert answer.status == 200, (method, sent, answer.body)
        guest.record = answer.data
        if method == "POST":
            guest.last = sent

    def open(self):
        dice = self.dice
        body = {"service_type": dice.choice(SERVICE_TYPES)}
        client = dice.choice(self.clients)
        if body["service_type"] == "TABLE":
            body["table_id"] = dice.choice(self.tables)
        if dice.random() < 0.5:
            body["client_id"] = client["id"]
        if body["service_type"] == "DELIVERY":
            body["delivery_price"] = dice.choice([0, 3, 4.5])
            body["delivery_comment"] = "portón «azul»"
            if "client_id" in body:
                body["address_id"] = client["addresses"][0]["id"]
        if dice.random() < 0.4:
            body["order_title"] = f'Mesa de "{dice.randint(1, 99)}"'
        if dice.random() < 0.4:
            body["comment"] = "sin ají,\nmuy caliente"
        if dice.random() < 0.3:
            body["packaging_price"] = 1.5
        creation = Sent("/v1/orders", json.dumps(body), f"till-{len(self.guests)}-{uuid.uuid4()}")
        answer = self.client.send(self.key, "POST", creation.path, creation.body, creation.key)
        assert answer.status == 201, (body, answer.body)
        return Guest(answer.data, creation)

    def order_food(self, guest):
        self.send(guest, "POST", "/combos", {"combos": [self.item() for _ in range(self.dice.randint(1, 3))]})

    def item(self):
        dice = self.dice
        body = {"quantity": dice.choice([1, 1, 2, 0.375]), "variant_price": dice.choice([4.5, 12, 38.9, 0])}
        if dice.random() < 0.3:
            body["product_name"] = dice.choice(["Torta de cumpleaños", "Vela"])
        else:
            product = dice.choice(self.products)
            body["variant_id"] = dice.choice(product["variants"])["id"]
        if dice.random() < 0.4:
            body["comment"] = "término medio"
        if dice.random() < 0.6:
            body["modifiers"] = [{"name": name, "quantity": dice.randint(1, 3), "price": dice.choice([0, 1.5])}
                                 for name in dice.sample(["Yuca", "Salsa criolla", "Sin cebolla"], dice.randint(1, 3))]
        return body

    def take_off(self, guest):
        kind = self.dice.choice(["AMOUNT", "PERCENTAGE"])
        self.send(guest, "POST", "/discounts", {"type": kind, "value": self.dice.choice([2, 7.5]), "reason": "cliente fiel"})

    def pay(self, guest):
        body = {"payment_method_code": "cash", "amount": self.dice.choice([5, 12.5, 60]), "tip_amount": self.dice.choice([0, 2])}
        if self.dice.random() < 0.5:
            body |= {"received_amount": 100, "reference": "A-778", "comment": "vuelto"}
        self.send(guest, "POST", "/payments", body)

    def advance(self, guest):
        self.send(guest, "PATCH", "/status", {"status": self.dice.choice(LIFE[:4])})

    def cancel_line(self, guest):
        self.send(guest, "DELETE", "/combos/" + self.dice.choice(guest.record["combos"])["id"])

    def comment(self, guest):
        self.send(guest, "PATCH", "", {"comment": "y limón"})

    def rider(self, guest):
        self.send(guest, "PUT", "/rider", {"name": "Beto", "user_id": 77, "phone_number": "912345678"})

    def finish(self, guest):
        if self.dice.random() < 0.8:
            self.send(guest, "PATCH", "/status", {"status": "FINALIZED"})
            return
        for payment in guest.record["payments"]:
            self.send(guest, "DELETE", "/payments/" + payment["id"])
        self.send(guest, "POST", "/cancel", {"reason": "se fue"})
