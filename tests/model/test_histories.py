"""Random sequences of valid and invalid requests on an order, against a model written from the contract
(support/order_model.py). Compared are each answer's status and code, the whole record after it, replays byte for byte,
and at the end the event log: one event per version with the record's bytes, and no others.

COMANDA_SEED=N repeats a run; a failure prints the seed and the requests."""

import concurrent.futures
import contextlib
import copy
import json
import os
import random

import pytest

from support import order_model as model
from support.box import LONG, ROOT, Box
from support.exact import Scaled, from_json, members_of, rows_of, to_json, whole
from support.orders import SERVICE_TYPES, Restaurant, new_id, new_word, path, record_bytes
from support.quick_client import QuickClient

SEED = int(os.environ.get("COMANDA_SEED") or random.SystemRandom().randrange(10 ** 9))
HISTORIES = 1000 if LONG else 50  # of each currency
REQUESTS = 24
WORKERS = 8
EXPONENTS = {"CLP": 0, "PEN": 2, "KWD": 3}
LISTS = ["combos", "payments", "discounts"]
FROM_BIRTH = ["id", "public_id", "order_number", "reference", "company_id", "source", "country_code", "timezone",
              "currency", "service_type", "created_at", "client_id", "client", "table_id", "table", "address_id",
              "address"]


# The record and the model in one form

def shown(record, places):
    """What the record says, in the form of the model; times as they are."""
    def money(row, name):
        return None if row[name] is None else whole(row[name], places)

    rider = record["rider"] and {n: v for n, v in record["rider"].items() if n != "assigned_at"}
    return {
        "version": int(record["version"]), "paid": record["paid"],
        **{n: record[n] for n in [
            "status", "delivery_status", "delivery_status_reason", "delivered_by", "cancel_reason", "comment",
            "order_title", "delivery_comment", "scheduled_delivery_date", "pending_at", "preparing_at", "ready_at",
            "delivered_at", "finalized_at", "canceled_at", "closed_at", "updated_at", "paid_at"]},
        "history": [(h["status"], h["at"], h["implied"]) for h in record["status_history"]],
        "rider": rider, "assigned_at": record["rider"] and record["rider"]["assigned_at"],
        **{n: money(record, n) for n in [
            "subtotal", "total_discounts", "delivery_price", "packaging_price", "service_fee_price", "total_tips",
            "total", "total_paid", "pending_amount", "overpayment"]},
        "combos": [(whole(c["quantity"], 3), *(money(c, n) for n in [
            "variant_price", "variant_original_price", "modifiers_price", "combo_price", "combo_original_price"]),
            [(whole(m["quantity"], 3), money(m, "price"), money(m, "original_price")) for m in c["modifiers"]],
            c["created_at"], c["canceled_at"]) for c in record["combos"]],
        "payments": [(p["payment_method"]["code"], *(money(p, n) for n in [
            "amount", "bill_amount", "tip_amount", "received_amount", "change_amount", "fee_amount"]),
            p["created_at"], p["canceled_at"]) for p in record["payments"]],
        "discounts": [(d["type"], whole(d["value"], 4 if d["type"] == "PERCENTAGE" else places),
                       money(d, "amount"), d["created_at"]) for d in record["discounts"]]}


def expected(order, stamps):
    """`stamps`: when each version was made."""
    def at(version):
        return None if version is None else stamps[version]

    return {
        "version": order.version, "paid": order.paid, "status": order.status, "delivery_status": order.delivery_status,
        "delivery_status_reason": order.delivery_status_reason, "delivered_by": order.delivered_by,
        "cancel_reason": order.cancel_reason, "comment": order.comment, "order_title": order.order_title,
        "delivery_comment": order.delivery_comment, "scheduled_delivery_date": order.scheduled,
        **{status.lower() + "_at": at(order.reached(status)) for status in model.LIFE},
        "canceled_at": at(order.reached("CANCELLED")), "closed_at": at(order.closed), "updated_at": at(order.version),
        "paid_at": at(order.paid_since),
        "history": [(status, at(version), implied) for status, version, implied in order.history],
        "rider": order.rider, "assigned_at": at(order.rider_assigned),
        "subtotal": order.subtotal, "total_discounts": order.total_discounts, "delivery_price": order.delivery,
        "packaging_price": order.packaging, "service_fee_price": 0, "total_tips": order.total_tips,
        "total": order.total, "total_paid": order.total_paid,
        "pending_amount": max(0, order.total - order.total_paid),
        "overpayment": max(0, order.total_paid - order.total),
        "combos": [(l.quantity, l.price, l.list_price, l.modifiers_price, l.total, l.list_total, l.modifiers,
                    at(l.created), at(l.cancelled)) for l in order.lines],
        "payments": [(p.method, p.amount, p.amount, p.tip, p.received, p.change, 0, at(p.created), at(p.cancelled))
                     for p in order.payments],
        "discounts": [(d.kind, d.value, d.effect, at(d.created)) for d in order.discounts]}


def same(found, wanted, what=""):
    differing = {name: (found[name], wanted[name]) for name in wanted if found[name] != wanted[name]}
    assert not differing, f"{what}: (found, expected) {differing}"


# One random history

class Story:
    def __init__(self, client, house, exponent, seed):
        self.client, self.house, self.places, self.dice = client, house, exponent, random.Random(seed)
        rider = house.user("rider")
        self.rider = rider["id"]
        code = rider["country_calling_code"]
        self.order = model.Order(
            exponent, self.dice.choice([*SERVICE_TYPES, "DELIVERY", "DELIVERY"]),
            {m["code"]: m["service_types"] for m in house.company["payment_methods"]},
            {self.rider: (rider["name"], code if code.startswith("+") else "+" + code, rider["phone_number"])})
        self.done, self.answered = [], []
        self.records, self.stamps = {}, {}  # of each version
        self.product = None

    # Requests
    def price(self):
        if self.dice.random() < 0.02:
            return self.dice.randrange(model.bound(self.places) + 1)
        return self.dice.choice([0, 1, self.dice.randrange(100), self.dice.randrange(100000)])

    def some_price(self):
        return self.price() if self.dice.random() < 0.4 else None

    def money(self, minor):
        return Scaled(minor, self.places)

    def exchange(self, method, target, body, key, **headers):
        self.done.append((method, target, body, key, headers))
        return self.client.send(self.house.key, method, target, body, key, **headers)

    def send(self, method, *parts, body=None):
        """Sends a write. Sets `asks_for_another`: whether its If-Match does not match the order's version."""
        target = path({"id": self.dice.choice([self.record["id"], self.record["public_id"]])}, *parts)
        headers, self.asks_for_another = self.some_condition()
        request = method, target, None if body is None else to_json(body), new_id()
        answer = self.exchange(*request, **headers)
        if answer.status == 200:
            self.answered.append((request, headers, answer))
        if self.dice.random() < 0.15:  # as where the answer was lost
            self.repeat(request, headers, answer)
        return answer

    def some_condition(self):
        if self.dice.random() < 0.8:
            return {}, False
        version = self.order.version
        tags = [(f'"{version}"', False), (self.tag, False), ("*", False), (f'"{version + 1}"', True),
                ("W/" + self.tag, True), (f'"{version - 1}", "{version}"', False)]
        if version > 1:
            tags.append((f'"{version - 1}"', True))
        tag, is_other = self.dice.choice(tags)
        return {"If_Match": tag}, is_other

    def repeat(self, request, headers, first):
        again = self.exchange(*request, **headers)
        assert again.status == first.status, (first, again)
        is_success = first.status in (200, 201)
        assert ("idempotency-replayed" in again.headers) == is_success, again
        if is_success:
            for name in ("etag", "location"):
                assert again.headers.get(name) == first.headers.get(name), (name, first, again)
            assert again.body == first.body

    def repeat_an_earlier_one(self):
        """A replay gives the first answer, whatever has changed since, and changes nothing."""
        self.repeat(*self.dice.choice(self.answered))

    def reuse_a_key(self):
        (method, target, _, key), headers, _ = self.dice.choice(self.answered)
        if method == "DELETE":  # has no body that could differ
            return
        answer = self.exchange(method, target, '{"reason":"another request"}', key, **headers)
        assert (answer.status, answer.code) == (422, "idempotency_key_reused"), answer

    # Edits: each gives the request's answer and what the model does
    def add(self):
        rows, lines = [], []
        for _ in range(self.dice.randint(1, 3)):
            quantity = self.dice.choice([1000, 2000, 500, self.dice.randint(1, 9999)])
            modifiers = [(self.dice.randint(1, 3), self.price() % 10000, self.some_price())
                         for _ in range(self.dice.randint(0, 3))]
            price, list_price = self.price(), self.some_price()
            is_counted = self.product is not None and self.dice.random() < 0.5
            lines.append(model.line(quantity, price, list_price, modifiers, is_counted))
            rows.append(self.row(quantity, price, list_price, modifiers, is_counted))
        return self.send("POST", "combos", body={"combos": rows}), lambda o: o.add(lines)

    def row(self, quantity, price, list_price, modifiers, is_counted):
        row = {"quantity": Scaled(quantity, 3), "variant_price": self.money(price)}
        row.update({"product_id": self.product["id"]} if is_counted else {"product_name": "Dish"})
        if list_price is not None:
            row["variant_original_price"] = self.money(list_price)
        row["modifiers"] = []
        for count, unit, unit_list in modifiers:
            modifier = {"name": "Extra", "quantity": count, "price": self.money(unit)}
            if unit_list is not None:
                modifier["original_price"] = self.money(unit_list)
            row["modifiers"].append(modifier)
        return row

    def some_row(self, rows):
        """(index, id); now and then of none that there is."""
        if self.dice.random() < 0.05:
            return None, new_id()
        index = self.dice.randrange(len(self.record[rows]))
        return index, self.record[rows][index]["id"]

    def cancel_line(self):
        index, id = self.some_row("combos")
        return self.send("DELETE", "combos", id), lambda o: o.cancel_line(index)

    def pay(self):
        rest = max(0, self.order.total - self.order.total_paid)
        amount = self.dice.choice([rest, rest, rest // 2, self.price()])
        tip = self.dice.choice([0, 0, self.dice.randrange(1000)])
        received = self.dice.choice([None, amount + tip, amount + tip + self.dice.randrange(1000), amount])
        if received is not None and received > model.bound(self.places):
            received = None
        code = self.dice.choice(["cash"] * 8 + ["card", "gold"])
        body = {"payment_method_code": code, self.dice.choice(["amount", "bill_amount"]): self.money(amount)}
        if tip:
            body["tip_amount"] = self.money(tip)
        if received is not None:
            body["received_amount"] = self.money(received)
        payment = model.Payment(amount, tip, received, code)
        return self.send("POST", "payments", body=body), lambda o: o.pay(payment)

    def cancel_payment(self):
        index, id = self.some_row("payments")
        return self.send("DELETE", "payments", id), lambda o: o.cancel_payment(index)

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
        index, id = self.some_row("discounts")
        return self.send("DELETE", "discounts", id), lambda o: o.put_back(index)

    def edit_fields(self):
        wire = {"delivery": "delivery_price", "packaging": "packaging_price", "scheduled": "scheduled_delivery_date"}
        makers = {
            "delivery": self.price, "packaging": self.price,
            "comment": lambda: self.dice.choice(["sin sal", "rápido"]),
            "order_title": lambda: self.dice.choice(["Rosa", "Rosa", None, ""]),
            "delivery_comment": lambda: self.dice.choice(["ring", None]),
            "scheduled": lambda: self.dice.choice(["2100-01-01T12:00:00.000Z", "2100-01-02T12:00:00.500Z", None])}
        names = list(makers)
        if self.order.service_type != "DELIVERY" and self.dice.random() < 0.8:
            names.remove("delivery")
        fields = {name: makers[name]() for name in self.dice.sample(names, self.dice.choice([1, 1, 2, 3]))}
        body = {wire.get(n, n): self.money(v) if n in ("delivery", "packaging") else v for n, v in fields.items()}
        return self.send("PATCH", body=body), lambda o: o.edit(fields)

    def advance(self):
        status = self.dice.choice([*model.OPEN, *model.OPEN, *model.OPEN, "FINALIZED", "CANCELLED", "ACCEPTED"])
        return self.send("PATCH", "status", body={"status": status}), lambda o: o.advance(status)

    def cancel(self):
        reason = self.dice.choice(["left", "left", "closed early", ""])
        return self.send("POST", "cancel", body={"reason": reason}), lambda o: o.cancel(reason)

    def assign(self):
        rider = self.dice.choice([
            {"name": "Beto"}, {"name": "Beto", "provider": "api"}, {"user_id": "r-7", "phone_number": "987654321"},
            {"provider": "comanda", "user_id": self.rider}, {"provider": "comanda", "user_id": new_id()},
            {"provider": "comanda"}, {}])
        return self.send("PUT", "rider", body=rider), lambda o: o.assign(rider)

    def unassign(self):
        return self.send("DELETE", "rider"), lambda o: o.unassign()

    def report(self):
        status = self.dice.choice([*model.DELIVERY, *model.DELIVERY[1:4], model.NOT_DELIVERED, model.NOT_DELIVERED])
        reason = "nobody" if self.dice.random() < (0.5 if status == model.NOT_DELIVERED else 0.05) else None
        if self.order.delivery_status == status:
            reason = self.order.delivery_status_reason
        body = {"delivery_status": status, **({"reason": reason} if reason else {})}
        return self.send("PATCH", "delivery-status", body=body), lambda o: o.report(status, reason)

    def choices(self):
        """More money than moves; what removes a row needs one."""
        order, is_delivery = self.order, self.order.service_type == "DELIVERY"
        return ([self.add] * 5 + [self.pay] * 4 + [self.take_off] * 3 + [self.edit_fields] * 3 + [self.advance] * 2
                + [self.cancel_line] * 2 * bool(order.lines) + [self.cancel_payment] * 2 * bool(order.payments)
                + [self.put_back] * 2 * bool(order.discounts) + [self.cancel] * (self.dice.random() < 0.3)
                + [self.assign, self.report, self.report] * (3 if is_delivery else 1) * (self.dice.random() < 0.5)
                + [self.unassign] * bool(order.rider))

    # What happens
    def edit(self, request=None):
        answer, act = (request or self.dice.choice(self.choices()))()
        after, refused = copy.deepcopy(self.order), None
        try:
            act(after)
        except model.Refused as refusal:
            refused = refusal
        if self.asks_for_another and not (refused and refused.early):
            refused = model.Refused("precondition_failed", 412)
        if refused:
            assert (answer.status, answer.code) == (refused.status, refused.code), answer
            return
        assert answer.status == 200, answer
        self.check(after, answer)

    def check(self, after, answer):
        """The answer shows the order as the model has it; what never changes is as it was."""
        before, record = getattr(self, "record", None), from_json(answer.body)["data"]
        if before is None or record["version"] != before["version"]:
            self.stamps[after.version] = record["updated_at"]
            self.records[after.version] = record_bytes(answer)
        else:
            assert record_bytes(answer) == self.records[after.version], "the version has other bytes than before"
        same(shown(record, self.places), expected(after, self.stamps))
        assert answer.headers["etag"].startswith(f'"{after.version}.'), answer.headers
        if before:
            same(record, {name: before[name] for name in FROM_BIRTH})
            for rows in LISTS:
                ids, known = [r["id"] for r in record[rows]], [r["id"] for r in before[rows]]
                assert [id for id in ids if id in known] == [id for id in known if id in ids], rows
                assert len(set(ids)) == len(ids), rows
        self.order, self.record, self.tag = after, record, answer.headers["etag"]

    def open(self):
        if self.dice.random() < 0.4:
            self.make_product()
        request = "POST", "/v1/orders", to_json({"service_type": self.order.service_type}), new_id()
        answer = self.exchange(*request)
        assert answer.status == 201, answer
        self.check(self.order, answer)
        assert self.record["reference"] == request[3] and self.record["source"] == "API"
        assert answer.headers["location"] == path(self.record)
        self.answered.append((request, {}, answer))

    def make_product(self):
        stock = self.dice.choice([0, 500, 3000, 10000])
        answer = self.exchange("POST", "/v1/menu/products", to_json({
            "name": "Counted " + new_word(), "category_name": "Counted", "price": 1, "stock_enabled": True,
            "stock": Scaled(stock, 3)}), new_id())
        assert answer.status == 201, answer
        self.product, self.order.stock = answer.data, stock

    def leave(self):
        """Cancels the active payments, then the order."""
        for index, payment in enumerate(self.order.payments):
            if not payment.cancelled:
                id = self.record["payments"][index]["id"]
                self.edit(lambda: (self.send("DELETE", "payments", id), lambda o: o.cancel_payment(index)))
        self.edit(self.cancel)

    def tell(self):
        self.open()
        for _ in range(REQUESTS):
            self.edit()
            if self.dice.random() < 0.1:
                self.repeat_an_earlier_one()
            if self.dice.random() < 0.03:
                self.reuse_a_key()
        if self.dice.random() < 0.4:
            self.leave()
        self.check_what_is_read()

    def check_what_is_read(self):
        """The same bytes in every place."""
        newest = self.records[self.order.version]
        for id in (self.record["id"], self.record["public_id"]):
            answer = self.exchange("GET", path({"id": id}), None, None)
            assert (record_bytes(answer), answer.headers["etag"]) == (newest, self.tag)
        listed = self.exchange("GET", "/v1/orders?filter[reference]=" + self.record["reference"], None, None)
        assert listed.body.startswith(b'{"data":[' + newest + b'],"pagination":'), listed.body
        if self.product:
            product = self.exchange("GET", "/v1/menu/products/" + self.product["id"], None, None)
            assert whole(from_json(product.body)["data"]["variants"][0]["stock"], 3) == self.order.stock

    # And what the log says of it
    def check_events(self, events):
        """`events`: what the log has, by subject."""
        own = events.get(self.record["id"], [])
        assert [e["event_type"] for e, _ in own] == ["ORDER_CREATED"] + ["ORDER_UPDATED"] * (self.order.version - 1)
        for version, ((event, body), wanted) in enumerate(zip(own, self.order.events), 1):
            told = set(event["changes"])
            assert len(told) == len(event["changes"]), event["changes"]
            assert wanted.changes <= told <= wanted.changes | wanted.may_name, (version, event["changes"], wanted)
            assert event["subject"] == {"type": "order", "id": self.record["id"], "version": str(version)}
            assert event["timestamp"] == self.stamps[version], version
            assert body == self.records[version], f"version {version} is told with other bytes than it was answered"
            combos = self.record["combos"]
            shortages = [(combos[index]["id"], self.product["id"], quantity, missing)
                         for index, quantity, missing in wanted.shortages]
            noted = event["note"]["stock_warning"] if event["note"] else []
            assert [(n["combo_id"], n["product_id"], whole(n["quantity"], 3), whole(n["missing"], 3))
                    for n in noted] == shortages, version
        if self.product:
            of_product = [e["event_type"] for e, _ in events[self.product["id"]]]
            assert of_product == ["PRODUCT_CREATED"] + ["PRODUCT_UPDATED"] * self.order.stock_flips


def events_since(client, key, cursor):
    """{subject: [(event, the bytes of its data)]}, oldest first, of all that came after the cursor."""
    events = {}
    while True:
        answer = client.send(key, "GET", f"/v1/events?per_page=100&after={cursor}")
        assert answer.status == 200, answer
        page, cursor = from_json(answer.body), from_json(answer.body)["next"]
        if not page["data"]:
            return events
        for event, text in zip(page["data"], rows_of(answer.body.decode())):
            data = dict(members_of(text))["data"].removeprefix('"data":')
            events.setdefault(event["subject"]["id"], []).append((event, data.encode()))


@pytest.fixture(scope="module")
def houses():
    """{currency: a restaurant with a key}, on a server of their own."""
    box = Box(options=["--sandbox-listen", "", "--workers", "16"])
    try:
        companies = []
        for file in (ROOT / "src/app/demo.json", ROOT / "tests/support/other_restaurant.json"):
            box.bring_in(file)
            companies += json.loads(file.read_text())["companies"]
        box.start()
        found = {}
        for company in companies:
            found[company["currency"]] = house = Restaurant(company, box)
            house.key = box.make_key(company=company["id"])["key"]
        yield found
    finally:
        box.discard()


@pytest.mark.parametrize("currency", EXPONENTS)
def test_any_history_goes_as_the_model_says(houses, currency):
    house, stories = houses[currency], []

    def explain(number, story, failure):
        done = "\n".join(f"  {method} {place} {body} {key or ''} {headers or ''}"
                         for method, place, body, key, headers in story.done)
        raise AssertionError(f"COMANDA_SEED={SEED}, history {number} in {currency}:\n{done}\n{failure}") from failure

    def tell_some(worker):
        with contextlib.closing(QuickClient(house.box)) as client:
            for number in range(worker, HISTORIES, WORKERS):
                story = Story(client, house, EXPONENTS[currency], f"{SEED} {currency} {number}")
                try:
                    story.tell()
                except Exception as failure:
                    explain(number, story, failure)
                story.client = None
                stories.append((number, story))

    with contextlib.closing(QuickClient(house.box)) as client:
        cursor = client.send(house.key, "GET", "/v1/orders?per_page=1").headers["x-event-cursor"]
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(tell_some, range(WORKERS)))
        events = events_since(client, house.key, cursor)
    for number, story in stories:
        try:
            story.check_events(events)
        except Exception as failure:
            explain(number, story, failure)
    # There are no other events.
    subjects = {s.record["id"] for _, s in stories} | {s.product["id"] for _, s in stories if s.product}
    assert set(events) == subjects, f"COMANDA_SEED={SEED}"
