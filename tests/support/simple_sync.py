"""A sync in few lines, beside which the instruments of tests/cloud are tried: it brings orders of a box to a cloud in the
way that contract.md section 15 says, and makes the mistakes that it is told to make. It does without a journal: what a step
is follows from the order's rows alone."""

import contextlib
import http.client
import itertools
import json
import ssl
import urllib.parse

from support.box import PATIENCE_S
from support.cloud_pair import all_orders
from support.exact import Scaled, to_json
from support.waiting import wait_until

# An answer whose head is cut looks like one without a body.
LOST_LINE = (OSError, http.client.HTTPException, ValueError)


class SimpleSync:
    """`new_keys`: each attempt has a key of its own. `line_totals`: the record's prices are sent as unit prices."""

    def __init__(self, pair, new_keys=False, line_totals=False):
        self.pair, self.new_keys, self.line_totals = pair, new_keys, line_totals
        self.port = urllib.parse.urlsplit(pair.proxy.url).port
        self.context = ssl.create_default_context(cafile=pair.proxy.cafile)
        self.attempts = itertools.count()

    def run(self):
        with contextlib.closing(self.pair.client()) as client:
            orders = all_orders(client)
        for order in orders:
            self.bring(order)

    def bring(self, order):
        place = {"service_type": order["service_type"]}
        place |= {name: order[name] for name in ("comment", "order_title", "delivery_comment", "scheduled_delivery_date",
                                                 "packaging_price") if order[name]}
        there = self.send("POST", "/v1/orders", place, order["reference"], order["created_at"])
        path, number = "/v1/orders/" + there["id"], itertools.count(1)

        def step(method, below, body, at):
            return self.send(method, path + below, body, f"c1-{order['id']}-{next(number)}", at)

        for name, body_of in (("combos", self.combo), ("discounts", self.discount), ("payments", self.payment)):
            for row in order[name]:
                there = step("POST", "/" + name, body_of(row), row["created_at"])
                if row.get("canceled_at"):
                    step("DELETE", f"/{name}/{there[name][-1]['id']}", None, row["canceled_at"])
        if order["status"] not in ("PENDING", "CANCELLED"):
            step("PATCH", "/status", {"status": order["status"]}, order["updated_at"])
        if order["status"] == "CANCELLED":
            step("POST", "/cancel", {"reason": order["cancel_reason"]}, order["canceled_at"])

    def combo(self, combo):
        ((price, listed),) = self.pair.box.rows("SELECT variant_unit_price, variant_original_unit_price FROM combo "
                                  "WHERE id = ?", combo["id"])
        places = self.pair.tills[0].places
        body = {"product_name": combo["product_name"], "quantity": combo["quantity"], "variant_price": Scaled(price, places),
                "variant_original_price": Scaled(listed, places)}
        if self.line_totals:
            body |= {name: combo[name] for name in ("variant_price", "variant_original_price")}
        body |= {name: combo[name] for name in ("variant_name", "sku", "comment") if combo[name]}
        units = self.pair.box.rows("SELECT m.name, unit_quantity, unit_price, original_unit_price FROM combo_modifier m "
                     "JOIN combo c ON c.company_id = m.company_id AND c.order_id = m.order_id AND c.position = combo_position "
                     "WHERE c.id = ? ORDER BY m.position", combo["id"])
        body["modifiers"] = [{"name": name, "quantity": quantity, "price": Scaled(unit, places),
                              "original_price": Scaled(original, places)} for name, quantity, unit, original in units]
        return {"combos": [body]}

    @staticmethod
    def discount(row):
        return {name: row[name] for name in ("type", "value", "reason")}

    @staticmethod
    def payment(row):
        body = {name: row[name] for name in ("amount", "tip_amount", "received_amount", "reference", "comment") if row[name]}
        return {"amount": 0, **body, "payment_method_code": row["payment_method"]["code"]}

    def send(self, method, path, body, key, at):
        """Sends the request until it is accepted; the order."""
        def order():
            headers = {"Authorization": "Bearer " + self.pair.cloud_key, "Content-Type": "application/json",
                       "Idempotency-Key": f"{key}/{next(self.attempts)}" if self.new_keys else key, "Comanda-Occurred-At": at}
            # A connection of its own for each: what comes behind an answer is no answer to the next request.
            connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=PATIENCE_S, context=self.context)
            with contextlib.suppress(*LOST_LINE), contextlib.closing(connection):
                connection.request(method, path, None if body is None else to_json(body), headers)
                answer = connection.getresponse()
                content = answer.read()
                if answer.status in (200, 201):
                    return json.loads(content)["data"]
                assert answer.status in (401, 429, 500), (method, path, body, answer.status, content)

        return wait_until(order, f"{method} {path} is not answered")
