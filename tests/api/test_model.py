"""Random edits of random orders, against a model of the money rules that was written from the contract.

COMANDA_SEED=N repeats a run; a failure prints the seed and what was done."""

import concurrent.futures
import contextlib
import copy
import decimal
import json
import os
import random

import pytest

from support import order_model as model
from support.orders import new_key, path

SEED = int(os.environ.get("COMANDA_SEED") or random.SystemRandom().randrange(10 ** 9))
ORDERS, EDITS = 100, 14  # of each currency
WORKERS = 4
EXPONENTS = {"CLP": 0, "PEN": 2, "KWD": 3}


# -- between whole numbers and the wire -----------------------------------------------------------------

class Scaled(float):
    """A whole number of 10^-places that json writes as its exact decimal."""

    def __new__(cls, number, places):
        self = super().__new__(cls, 0)
        self.text = format(decimal.Decimal(number).scaleb(-places), "f")
        return self

    def __repr__(self):
        return self.text


def whole(text, places):
    """The other way; a number of more places than there may be is a failure."""
    scaled = decimal.Decimal(text).scaleb(places)
    assert scaled == scaled.to_integral_value(), (text, places)
    return int(scaled)


def to_json(body):
    if isinstance(body, dict):
        return "{" + ",".join(json.dumps(k) + ":" + to_json(v) for k, v in body.items()) + "}"
    if isinstance(body, list):
        return "[" + ",".join(map(to_json, body)) + "]"
    return repr(body) if isinstance(body, Scaled) else json.dumps(body)


def record_of(answer):
    return json.loads(answer.body, parse_float=str, parse_int=str)["data"]


def shown(record, places):
    """What the record says, in the form of the model."""
    def money(row, name):
        return None if row[name] is None else whole(row[name], places)

    return {
        "status": record["status"], "version": int(record["version"]), "paid": record["paid"],
        "has paid_at": record["paid_at"] is not None,
        **{n: money(record, n) for n in [
            "subtotal", "total_discounts", "delivery_price", "packaging_price", "service_fee_price", "total_tips",
            "total", "total_paid", "pending_amount", "overpayment"]},
        "combos": [(whole(c["quantity"], 3), *(money(c, n) for n in [
            "variant_price", "variant_original_price", "modifiers_price", "combo_price", "combo_original_price"]),
            [(whole(m["quantity"], 3), money(m, "price"), money(m, "original_price")) for m in c["modifiers"]],
            c["canceled_at"] is not None) for c in record["combos"]],
        "payments": [(*(money(p, n) for n in [
            "amount", "bill_amount", "tip_amount", "received_amount", "change_amount"]),
            p["canceled_at"] is not None) for p in record["payments"]],
        "discounts": [(d["type"], whole(d["value"], 4 if d["type"] == "PERCENTAGE" else places),
                       money(d, "amount")) for d in record["discounts"]]}


def expected(order):
    return {
        "status": order.status, "version": order.version, "paid": order.paid, "has paid_at": order.paid,
        "subtotal": order.subtotal, "total_discounts": order.total_discounts, "delivery_price": order.delivery,
        "packaging_price": order.packaging, "service_fee_price": 0, "total_tips": order.total_tips,
        "total": order.total, "total_paid": order.total_paid,
        "pending_amount": max(0, order.total - order.total_paid),
        "overpayment": max(0, order.total_paid - order.total),
        "combos": [(l.quantity, l.price, l.list_price, l.modifiers_price, l.total, l.list_total, l.modifiers,
                    l.cancelled) for l in order.lines],
        "payments": [(p.amount, p.amount, p.tip, p.received, p.change, p.cancelled) for p in order.payments],
        "discounts": [(d.kind, d.value, d.effect) for d in order.discounts]}


# -- one random order -----------------------------------------------------------------------------------

class Story:
    def __init__(self, client, exponent, seed):
        self.client, self.places, self.dice = client, exponent, random.Random(seed)
        self.order = model.Order(exponent)
        self.done = []

    def price(self):
        if self.dice.random() < 0.02:
            return self.dice.randrange(model.bound(self.places) + 1)
        return self.dice.choice([0, 1, self.dice.randrange(100), self.dice.randrange(100000)])

    def some_price(self):
        return self.price() if self.dice.random() < 0.4 else None

    def money(self, minor):
        return Scaled(minor, self.places)

    def send(self, method, *parts, body=None):
        self.done.append((method, "/".join(parts), to_json(body)))
        request = method, path(self.record, *parts), None if body is None else to_json(body).encode(), new_key()
        answer = self.client.send(*request)
        if self.dice.random() < 0.15:  # as where the answer was lost
            again = self.client.send(*request)
            assert again.status == answer.status and ("idempotency-replayed" in again.headers) == (answer.status == 200)
            assert answer.status != 200 or again.body == answer.body
        return answer

    # Each gives the request's answer and what the model does.
    def add(self):
        rows, lines = [], []
        for _ in range(self.dice.randint(1, 3)):
            quantity = self.dice.choice([1000, 2000, 500, self.dice.randint(1, 9999)])
            modifiers = [(self.dice.randint(1, 3), self.price() % 10000, self.some_price())
                         for _ in range(self.dice.randint(0, 3))]
            price, list_price = self.price(), self.some_price()
            lines.append(model.line(quantity, price, list_price, modifiers))
            rows.append(self.row(quantity, price, list_price, modifiers))
        return self.send("POST", "combos", body={"combos": rows}), lambda o: o.add(lines)

    def row(self, quantity, price, list_price, modifiers):
        row = {"product_name": "Dish", "quantity": Scaled(quantity, 3), "variant_price": self.money(price)}
        if list_price is not None:
            row["variant_original_price"] = self.money(list_price)
        row["modifiers"] = []
        for count, unit, unit_list in modifiers:
            modifier = {"name": "Extra", "quantity": count, "price": self.money(unit)}
            if unit_list is not None:
                modifier["original_price"] = self.money(unit_list)
            row["modifiers"].append(modifier)
        return row

    def cancel_line(self):
        index = self.dice.randrange(len(self.order.lines))
        return self.send("DELETE", "combos", self.record["combos"][index]["id"]), lambda o: o.cancel_line(index)

    def pay(self):
        rest = max(0, self.order.total - self.order.total_paid)
        amount = self.dice.choice([rest, rest // 2, self.price()])
        tip = self.dice.choice([0, 0, self.dice.randrange(1000)])
        received = self.dice.choice([None, amount + tip, amount + tip + self.dice.randrange(1000), amount])
        if received is not None and received > model.bound(self.places):
            received = None
        body = {"payment_method_code": "cash", self.dice.choice(["amount", "bill_amount"]): self.money(amount)}
        if tip:
            body["tip_amount"] = self.money(tip)
        if received is not None:
            body["received_amount"] = self.money(received)
        payment = model.Payment(amount, tip, received)
        return self.send("POST", "payments", body=body), lambda o: o.pay(payment)

    def cancel_payment(self):
        index = self.dice.randrange(len(self.order.payments))
        place = self.record["payments"][index]["id"]
        return self.send("DELETE", "payments", place), lambda o: o.cancel_payment(index)

    def take_off(self):
        if self.dice.random() < 0.5:
            value = self.dice.choice([1, 100000, 333333, 1000000, 1000001, self.dice.randint(1, 1000000)])
            discount, places = model.Discount("PERCENTAGE", value), 4
        else:
            discount, places = model.Discount("AMOUNT", self.price() + 1), self.places
            discount.value = min(discount.value, model.bound(self.places))
        body = {"type": discount.kind, "value": Scaled(discount.value, places)}
        return self.send("POST", "discounts", body=body), lambda o: o.take_off(discount)

    def put_back(self):
        index = self.dice.randrange(len(self.order.discounts))
        return self.send("DELETE", "discounts", self.record["discounts"][index]["id"]), lambda o: o.put_back(index)

    def set_prices(self):
        delivery, packaging = self.price(), self.price()
        body = {"delivery_price": self.money(delivery), "packaging_price": self.money(packaging)}
        return self.send("PATCH", body=body), lambda o: o.set_prices(delivery, packaging)

    def advance(self):
        status = self.dice.choice([*model.OPEN, *model.OPEN, "FINALIZED"])
        return self.send("PATCH", "status", body={"status": status}), lambda o: o.advance(status)

    def cancel(self):
        return self.send("POST", "cancel", body={"reason": "left"}), lambda o: o.cancel()

    def choices(self):
        """More money than moves; what removes a row needs one."""
        order = self.order
        return ([self.add] * 5 + [self.pay] * 4 + [self.take_off] * 3 + [self.set_prices] * 2 + [self.advance]
                + [self.cancel_line] * 2 * bool(order.lines) + [self.cancel_payment] * 2 * bool(order.payments)
                + [self.put_back] * 2 * bool(order.discounts) + [self.cancel] * (self.dice.random() < 0.3))

    def edit(self):
        answer, act = self.dice.choice(self.choices())()
        after = copy.deepcopy(self.order)
        try:
            act(after)
        except model.Refused as refused:
            assert (answer.status, answer.code) == (422, refused.code), answer.body
            return
        assert answer.status == 200, answer.body
        self.order, self.record = after, record_of(answer)
        assert shown(self.record, self.places) == expected(after)

    def tell(self):
        answer = self.client.post("/v1/orders", {"service_type": "DELIVERY"}, new_key())
        assert answer.status == 201, answer.body
        self.record = record_of(answer)
        for _ in range(EDITS):
            self.edit()
        last = record_of(self.client.get(path(self.record)))
        assert shown(last, self.places) == expected(self.order)


@pytest.mark.parametrize("currency", EXPONENTS)
def test_any_sequence_of_edits_adds_up_as_the_model_says(box, key, other_key, kuwait, currency):
    keys = {"PEN": key, "CLP": other_key, "KWD": kuwait.key}

    def tell_some(worker):
        with contextlib.closing(box.client(keys[currency])) as client:
            for number in range(worker, ORDERS, WORKERS):
                story = Story(client, EXPONENTS[currency], f"{SEED} {currency} {number}")
                try:
                    story.tell()
                except Exception as failure:
                    done = "\n".join(f"  {method} {place} {body}" for method, place, body in story.done)
                    raise AssertionError(
                        f"COMANDA_SEED={SEED}, order {number} in {currency}:\n{done}\n{failure}") from failure

    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(tell_some, range(WORKERS)))
