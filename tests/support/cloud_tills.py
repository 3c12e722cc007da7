"""A till that plays whole orders at a box, of every kind of row and state, as its seed says. It sends each write again with
the same Idempotency-Key until it is answered, and keeps the last acknowledged record of each order."""

import contextlib
import http.client
import random
import uuid

from support.order_model import DELIVERY, NOT_DELIVERED
from support.orders import LIFE, SERVICE_TYPES, in_days
from support.strict_orders import EXPONENTS
from support.waiting import wait_until

LOST_LINE = (OSError, http.client.HTTPException)


class CloudTill:
    """`box`: whatever has client(key). `seed` chooses everything that is played."""

    def __init__(self, box, key, seed, name="till"):
        self.box, self.name = box, name
        self.dice = random.Random(f"{seed} {name}")
        self.client = box.client(key)
        self.orders = {}  # id -> the record last acknowledged
        self.refusals = 0
        self.run = uuid.uuid4().hex[:8]  # keys of two runs with one seed differ
        self.sent = 0

    def look_around(self):
        """Reads what orders refer to."""
        def data(path):
            answer = self.until_answered("GET", path)
            assert answer.status == 200, (path, answer.body)
            return answer.data

        self.places = EXPONENTS.get(data("/v1/company")["currency"], 2)
        self.products = [p for category in data("/v1/menu")["categories"] for p in category["products"]]
        self.guests = [c for c in data("/v1/clients?per_page=50") if c["addresses"]]
        self.tables = data("/v1/company/tables?per_page=50")
        self.methods = data("/v1/company/payment-methods")
        self.riders = data("/v1/users?filter[role]=rider&filter[active]=true")
        return self

    def close(self):
        self.client.close()

    # One order after the other.
    def serve(self, steps=None):
        """An order with random changes; its record."""
        order = self.open()
        for _ in range(self.dice.randint(2, 9) if steps is None else steps):
            order = self.change(order)
        return order

    def change(self, order):
        """One random change. What the box refuses has not happened."""
        return self.dice.choice(self.plays())(order)

    def plays(self):
        return [self.add] * 5 + [self.discount] * 2 + [self.pay] * 4 + [self.advance] * 3 + [self.deliver] * 2 + [
            self.remove_discount, self.cancel_payment, self.cancel_combo, self.edit, self.assign, self.unassign, self.cancel]

    def finish(self, order):
        """Food, paid in full and closed."""
        order = self.pay(self.add(order), in_full=True)
        return self.move(order, "PATCH", "/status", {"status": "FINALIZED"})

    def open(self, **fields):
        dice = self.dice
        body = {"service_type": fields.get("service_type") or dice.choice(SERVICE_TYPES)}
        guest = dice.choice(self.guests)
        if dice.random() < 0.5:
            body["client_id"] = guest["id"]
        if body["service_type"] == "TABLE":
            body["table_id"] = dice.choice(self.tables)["id"]
        if body["service_type"] == "DELIVERY":
            body |= {"delivery_price": self.money(500), "delivery_comment": "portón «azul»"}
            if "client_id" in body:
                body["address_id"] = guest["addresses"][0]["id"]
        for name, value in (("comment", "sin ají,\nmuy caliente"), ("order_title", 'Mesa "9"'),
                            ("packaging_price", self.money(150)), ("scheduled_delivery_date", in_days(1))):
            if dice.random() < 0.3:
                body[name] = value
        reference = f"{self.name}-{self.run}-{len(self.orders)}"
        answer = self.until_answered("POST", "/v1/orders", body | fields, reference)
        assert answer.status == 201, (body, answer.body)
        self.orders[answer.data["id"]] = answer.data
        return answer.data

    # Changes.
    def money(self, most):
        """A random amount of up to `most` minor units."""
        return self.dice.randint(1, most) / 10 ** self.places

    def add(self, order):
        return self.move(order, "POST", "/combos", {"combos": [self.item() for _ in range(self.dice.randint(1, 3))]})

    def item(self):
        dice = self.dice
        weighed = dice.random() < 0.4
        body = {"quantity": dice.randint(1, 4999) / 1000 if weighed else dice.randint(1, 4), "variant_price": self.money(9000)}
        product = dice.choice(self.products)
        variant = dice.choice(product["variants"])
        kind = dice.choice(["variant", "product", "sku", "free"])
        if kind == "variant":
            body["variant_id"] = variant["id"]
        elif kind == "product":
            body["product_id"] = product["id"]
        elif kind == "sku" and variant["sku"]:
            body["sku"] = variant["sku"]
        else:
            body["product_name"] = dice.choice(["Torta de cumpleaños", "Vela", "Pez entero «al peso»"])
        if dice.random() < 0.3:
            body["variant_original_price"] = self.money(12000)
        if dice.random() < 0.3:
            body["comment"] = "término medio"
        if dice.random() < 0.5:
            body["modifiers"] = self.modifiers(product if kind in ("variant", "product") else None)
        return body

    def modifiers(self, product):
        dice = self.dice
        known = [m for group in (product or {}).get("modifier_categories", []) for m in group["modifiers"]]
        rows = []
        for _ in range(dice.randint(1, 3)):
            row = {"quantity": dice.randint(1, 3), "price": self.money(700)}
            if known and dice.random() < 0.5:
                row["modifier_id"] = dice.choice(known)["id"]
            else:
                row["name"] = dice.choice(["Yuca", "Salsa criolla", "Sin cebolla"])
            if dice.random() < 0.3:
                row["original_price"] = self.money(900)
            rows.append(row)
        return rows

    def discount(self, order):
        kind = self.dice.choice(["AMOUNT", "PERCENTAGE"])
        value = self.money(1500) if kind == "AMOUNT" else self.dice.choice([10, 12.5, 33.3333, 100])
        return self.move(order, "POST", "/discounts", {"type": kind, "value": value, "reason": "cliente fiel"})

    def pay(self, order, in_full=False):
        dice = self.dice
        methods = [m for m in self.methods if order["service_type"] in m["service_types"]]
        body = {"payment_method_id": dice.choice(methods)["id"], "amount": order["pending_amount"]}
        if not in_full and dice.random() < 0.6:
            body["amount"] = self.money(6000)
        if not in_full and dice.random() < 0.4:
            body["tip_amount"] = self.money(500)
            body["received_amount"] = round(body["amount"] + body["tip_amount"], self.places)
        if dice.random() < 0.3:
            body |= {"reference": f"op-{dice.randint(1, 99)}", "comment": "con vuelto"}
        if not body["amount"] and "tip_amount" not in body:
            return order
        return self.move(order, "POST", "/payments", body)

    def cancel_row(self, order, name):
        rows = order[name]
        return self.move(order, "DELETE", f"/{name}/{self.dice.choice(rows)['id']}") if rows else order

    def cancel_combo(self, order):
        return self.cancel_row(order, "combos")

    def cancel_payment(self, order):
        return self.cancel_row(order, "payments")

    def remove_discount(self, order):
        return self.cancel_row(order, "discounts")

    def edit(self, order):
        fields = {"comment": f"nota {self.dice.randint(1, 99)}", "order_title": self.dice.choice(["Terraza", None]),
                  "packaging_price": self.money(300)}
        return self.move(order, "PATCH", "", dict(self.dice.sample(sorted(fields.items()), self.dice.randint(1, 3))))

    def advance(self, order):
        return self.move(order, "PATCH", "/status", {"status": self.dice.choice(LIFE[1:4] * 2 + LIFE[4:])})

    def assign(self, order):
        if self.riders and self.dice.random() < 0.5:
            body = {"provider": "comanda", "user_id": self.dice.choice(self.riders)["id"]}
        else:
            body = {"user_id": self.dice.choice([17, "moto-4"]), "name": "Ana", "phone_number": "987654321"}
        return self.move(order, "PUT", "/rider", body)

    def unassign(self, order):
        return self.move(order, "DELETE", "/rider")

    def deliver(self, order):
        status = self.dice.choice([*DELIVERY, NOT_DELIVERED])
        reason = {"reason": "nadie abre"} if status == NOT_DELIVERED else {}
        return self.move(order, "PATCH", "/delivery-status", {"delivery_status": status, **reason})

    def cancel(self, order):
        return self.move(order, "POST", "/cancel", {"reason": "se fue"})

    # Writes.
    def move(self, order, method, below, body=None):
        # A till need not send a key below an order, but then it cannot repeat the request when the line is lost.
        self.sent += 1
        answer = self.until_answered(method, f"/v1/orders/{order['id']}{below}", body, f"{self.name}-{self.run}.{self.sent}")
        if answer.status == 422:
            self.refusals += 1
            return order
        assert answer.status == 200, (method, below, body, answer.status, answer.body)
        self.orders[order["id"]] = answer.data
        return answer.data

    def until_answered(self, method, path, body=None, key=None):
        def answer():
            with contextlib.suppress(*LOST_LINE):
                answer = self.client.send(method, path, body, {"Idempotency-Key": key} if key else {})
                if answer.status != 503:
                    return answer
            self.client.close()

        return wait_until(answer, f"{method} {path} is not answered")
