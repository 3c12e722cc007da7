"""The orders of the strict cloud (support/strict_cloud.py): their fields, totals, states and refusals, by spec.md, and by
contract.md for the names and rules that the specification does not show. Money is a whole number of minor units, a
quantity a whole number of thousandths, a percentage a whole number of ten-thousandths of a percent."""

import dataclasses
import datetime
import decimal
import random
import re
import uuid

from support.exact import Scaled
from support.order_model import DELIVERY, LIFE, NOT_DELIVERED, ON_THE_WAY, THOUSAND, WHOLE_PERCENT, divided

SERVICE_TYPES = ["ONSITE", "TABLE", "DELIVERY", "TAKEAWAY"]
EXPONENTS = {"CLP": 0, "PYG": 0, "JPY": 0, "KWD": 3, "BHD": 3, "TND": 3}  # ISO 4217; all others: 2
ORDER_FIELDS = ["comment", "order_title", "delivery_comment", "delivery_price", "packaging_price", "scheduled_delivery_date"]


class Refused(Exception):
    """The request changes nothing, and is answered with this problem."""

    def __init__(self, status, code, detail, fields=()):
        super().__init__(status, code, detail, fields)
        self.status, self.code, self.detail, self.fields = status, code, detail, list(fields)


def invalid(*fields, detail="The request is not valid."):
    return Refused(422, "validation_failed", detail, fields)


def not_found():
    return Refused(404, "not_found", "There is no such record.")


def instant(moment):
    return moment.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def is_uuid(text):
    return isinstance(text, str) and re.fullmatch(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", text) is not None


class Body:
    """Reads the members of a JSON object, and collects the names of those that are not valid."""

    def __init__(self, members, prefix="", wrong=None):
        self.members, self.prefix, self.wrong = members, prefix, [] if wrong is None else wrong

    def refuse(self, name):
        self.wrong.append(self.prefix + name)

    def require(self):
        if self.wrong:
            raise invalid(*self.wrong)

    def text(self, name, required=False, most=500):
        value = self.members.get(name)
        if value is None and not required:
            return None
        if not isinstance(value, str) or not value or len(value) > most:
            return self.refuse(name)
        return value

    def choice(self, name, allowed, required=False):
        value = self.members.get(name)
        if value is None and not required:
            return None
        return value if value in allowed else self.refuse(name)

    def number(self, name, places, required=False, least=0, most=999_999_999_999_999):
        """A whole number of 10^-places."""
        value = self.members.get(name)
        if value is None and not required:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float, decimal.Decimal)):
            return self.refuse(name)
        scaled = decimal.Decimal(str(value)).scaleb(places)  # floats come from import files, never from requests
        if scaled != scaled.to_integral_value() or not least <= scaled <= most:
            return self.refuse(name)
        return int(scaled)

    def moment(self, name):
        value = self.text(name)
        try:
            return value and datetime.datetime.fromisoformat(value.replace("Z", "+00:00")).astimezone(datetime.timezone.utc)
        except ValueError:
            return self.refuse(name)

    def rows(self, name, required=True):
        """A Body of each object of an array."""
        value = self.members.get(name)
        if value is None and not required:
            return []
        if not isinstance(value, list) or (required and not value) or not all(isinstance(row, dict) for row in value):
            self.refuse(name)
            return []
        return [Body(row, f"{self.prefix}{name}[{i}].", self.wrong) for i, row in enumerate(value)]


def total_of(unit_price, thousandths):
    return divided(unit_price * thousandths, THOUSAND)


@dataclasses.dataclass
class Combo:
    texts: dict  # product_id, variant_id, sku, product_name, variant_name, comment
    quantity: int
    price: int  # of the whole line, without modifiers
    original_price: int
    modifiers: list  # {modifier_id, name, quantity, price, original_price} of the whole line
    created_at: datetime.datetime
    canceled_at: datetime.datetime | None = None
    id: str = dataclasses.field(default_factory=lambda: str(uuid.uuid4()))

    @property
    def modifiers_price(self):
        return sum(m["price"] for m in self.modifiers)

    @property
    def total(self):
        return self.price + self.modifiers_price

    @property
    def original_total(self):
        return self.original_price + sum(m["original_price"] for m in self.modifiers)

    def record(self, money):
        modifiers = [{**m, "id": m["id"], "quantity": Scaled(m["quantity"], 3), "price": money(m["price"]),
                      "original_price": money(m["original_price"])} for m in self.modifiers]
        return {"id": self.id, **self.texts, "quantity": Scaled(self.quantity, 3), "variant_price": money(self.price),
                "variant_original_price": money(self.original_price), "modifiers_price": money(self.modifiers_price),
                "combo_price": money(self.total), "combo_original_price": money(self.original_total),
                "modifiers": modifiers, "created_at": instant(self.created_at),
                "canceled_at": self.canceled_at and instant(self.canceled_at)}


@dataclasses.dataclass
class Payment:
    method: dict
    amount: int
    tip: int
    received: int | None
    reference: str | None
    comment: str | None
    created_at: datetime.datetime
    canceled_at: datetime.datetime | None = None
    id: str = dataclasses.field(default_factory=lambda: str(uuid.uuid4()))

    def record(self, money):
        change = None if self.received is None else money(self.received - self.amount - self.tip)
        method = {name: self.method[name] for name in ("id", "code", "description")}
        return {"id": self.id, "payment_method": method, "amount": money(self.amount), "tip_amount": money(self.tip),
                "received_amount": None if self.received is None else money(self.received), "change_amount": change,
                "reference": self.reference, "comment": self.comment, "created_at": instant(self.created_at),
                "canceled_at": self.canceled_at and instant(self.canceled_at)}


@dataclasses.dataclass
class Discount:
    kind: str
    value: int
    reason: str | None
    created_at: datetime.datetime
    effect: int = 0
    id: str = dataclasses.field(default_factory=lambda: str(uuid.uuid4()))

    def record(self, money):
        value = Scaled(self.value, 4) if self.kind == "PERCENTAGE" else money(self.value)
        return {"id": self.id, "type": self.kind, "value": value, "amount": money(self.effect), "reason": self.reason,
                "created_at": instant(self.created_at)}


@dataclasses.dataclass
class Order:
    public_id: str
    reference: str | None
    source: str
    service_type: str
    credential: dict  # country_code, timezone, currency
    created_at: datetime.datetime
    client_id: str | None = None
    table_id: str | None = None
    address_id: str | None = None
    delivery_price: int = 0
    packaging_price: int = 0
    comment: str | None = None
    order_title: str | None = None
    delivery_comment: str | None = None
    scheduled_delivery_date: datetime.datetime | None = None
    status: str = "PENDING"
    cancel_reason: str | None = None
    canceled_at: datetime.datetime | None = None
    rider: dict | None = None
    delivery_status: str | None = None
    delivery_status_reason: str | None = None
    delivery_status_by_rider: bool = False
    delivered_by: str | None = None
    combos: list = dataclasses.field(default_factory=list)
    payments: list = dataclasses.field(default_factory=list)
    discounts: list = dataclasses.field(default_factory=list)
    updated_at: datetime.datetime | None = None
    id: str = dataclasses.field(default_factory=lambda: str(uuid.uuid4()))

    @property
    def active_payments(self):
        return [p for p in self.payments if not p.canceled_at]

    @property
    def is_closed(self):
        return self.status in ("FINALIZED", "CANCELLED")

    def totals(self):
        subtotal = sum(c.total for c in self.combos if not c.canceled_at)
        gross = subtotal + self.delivery_price + self.packaging_price
        left = gross
        for discount in self.discounts:
            wanted = (divided(subtotal * discount.value, WHOLE_PERCENT) if discount.kind == "PERCENTAGE"
                      else discount.value)
            discount.effect = min(wanted, left)
            left -= discount.effect
        paid = sum(p.amount for p in self.active_payments)
        return {"subtotal": subtotal, "total_discounts": gross - left, "delivery_price": self.delivery_price,
                "packaging_price": self.packaging_price, "total_tips": sum(p.tip for p in self.active_payments),
                "total": left, "total_paid": paid, "pending_amount": max(0, left - paid),
                "overpayment": max(0, paid - left)}

    def record(self):
        def money(minor):
            return Scaled(minor, EXPONENTS.get(self.credential["currency"], 2))

        totals = self.totals()
        has_active = any(not c.canceled_at for c in self.combos)
        plain = ("id", "public_id", "reference", "source", "status", "service_type", "client_id", "table_id", "address_id",
                 "comment", "order_title", "delivery_comment", "cancel_reason", "rider", "delivery_status",
                 "delivery_status_reason", "delivered_by")
        times = ("scheduled_delivery_date", "canceled_at", "created_at", "updated_at")
        return {**{name: getattr(self, name) for name in plain}, **self.credential,
                **{name: money(minor) for name, minor in totals.items()},
                "paid": totals["total_paid"] >= totals["total"] and (has_active or totals["total"] > 0),
                **{name: getattr(self, name) and instant(getattr(self, name)) for name in times},
                **{name: [row.record(money) for row in getattr(self, name)] for name in ("combos", "payments", "discounts")}}


class Orders:
    """All orders of the one company. Each function that changes an order returns it. `restaurant`: what orders refer to
    (support/strict_cloud.py)."""

    def __init__(self, restaurant, clock):
        self.restaurant, self.clock = restaurant, clock
        self.by_id, self.by_public_id, self.by_reference = {}, {}, {}
        self.random = random.SystemRandom()

    # Reading.
    def find(self, name):
        order = self.by_id.get(name.lower()) or self.by_public_id.get(name.upper())
        if order is None:
            raise not_found() if is_uuid(name) or re.fullmatch(r"[A-Za-z]{2}-\d{10}", name) else invalid("id")
        return order

    def forget(self, order):
        """Answers 404 for it from now on."""
        del self.by_id[order.id], self.by_public_id[order.public_id]
        self.by_reference.pop(order.reference, None)

    def rename(self, order, id):
        """Another id, before anybody has read it."""
        self.by_id[id] = self.by_id.pop(order.id)
        order.id = id

    def listed(self, status=None, start=None, descending=True):
        rows = [o for o in self.by_id.values()
                if (status is None or o.status == status) and (start is None or o.created_at >= start)]
        return sorted(rows, key=lambda o: (o.created_at, o.id), reverse=descending)

    # Creating and editing.
    def create(self, members, reference=None, source="API"):
        body = Body(members)
        service_type = body.choice("service_type", SERVICE_TYPES, required=True)
        order = Order(self._public_id(), reference, source, service_type, dict(self.restaurant.credential), self.clock())
        for name, owner, known in (("client_id", None, self.restaurant.clients), ("table_id", "TABLE", self.restaurant.tables),
                                   ("address_id", "DELIVERY", self.restaurant.addresses)):
            value = body.text(name)
            if value is not None and (owner not in (None, service_type) or value not in known):
                body.refuse(name)
            setattr(order, name, value)
        self._read_fields(order, body)
        body.require()
        order.updated_at = order.created_at
        self.by_id[order.id] = self.by_public_id[order.public_id] = order
        if reference:
            self.by_reference[reference] = order
        return order

    def edit(self, order, members):
        self._require_editable(order)
        if not any(name in members for name in ORDER_FIELDS):
            raise invalid(*ORDER_FIELDS)
        if order.is_closed and set(ORDER_FIELDS) & set(members) != {"comment"}:
            raise invalid("status")
        body = Body(members)
        edited = dataclasses.replace(order)
        self._read_fields(edited, body)
        body.require()
        for name in ORDER_FIELDS:
            setattr(order, name, getattr(edited, name))
        return self._touched(order)

    def _read_fields(self, order, body):
        places = self.restaurant.places
        for name in ("delivery_price", "packaging_price"):
            value = body.number(name, places)
            if value is not None:
                setattr(order, name, value)
        comment = body.text("comment")
        if comment is not None:
            order.comment = comment if order.comment is None else f"{order.comment}\n{comment}"
        for name in ("order_title", "delivery_comment"):
            if name in body.members:
                setattr(order, name, body.text(name))
        if "scheduled_delivery_date" in body.members:
            order.scheduled_delivery_date = body.moment("scheduled_delivery_date")
            if order.scheduled_delivery_date and order.scheduled_delivery_date < self.clock():
                body.refuse("scheduled_delivery_date")
        if order.service_type != "DELIVERY":
            for name in ("delivery_price", "delivery_comment"):
                if body.members.get(name) is not None:
                    body.refuse(name)

    # Rows.
    def add_combos(self, order, members):
        self._require_open(order)
        body = Body(members)
        combos = [self._combo(row) for row in body.rows("combos")]
        body.require()
        order.combos += combos
        return self._touched(order)

    def _combo(self, row):
        places = self.restaurant.places
        product, variant = self._linked(row)
        price = row.number("variant_price", places, required=True) or 0
        listed = row.number("variant_original_price", places)
        quantity = row.number("quantity", 3, required=True, least=1) or 0
        name = row.text("product_name", required=product is None, most=200)
        texts = {"product_id": product and product["id"], "variant_id": variant and variant["id"],
                 "sku": row.text("sku") or (variant and variant["sku"]), "product_name": name or (product and product["name"]),
                 "variant_name": row.text("variant_name") or (variant and variant["name"]), "comment": row.text("comment")}
        modifiers = [self._modifier(m, quantity, product) for m in row.rows("modifiers", required=False)]
        return Combo(texts, quantity, total_of(price, quantity), total_of(price if listed is None else listed, quantity),
                     modifiers, self.clock())

    def _linked(self, row):
        """The product and the variant that an item names."""
        menu = self.restaurant.menu
        product_id, variant_id, sku = row.text("product_id"), row.text("variant_id"), row.text("sku")
        product, variant = menu.products.get(product_id), menu.variant(variant_id)
        if product_id and not product:
            row.refuse("product_id")
        if variant_id and (not variant or (product and variant not in product["variants"])):
            row.refuse("variant_id")
        variant = variant or menu.variant_of_sku(sku)
        if variant and product is None:
            product = menu.product_of(variant)
        return product, variant if variant and variant in product["variants"] else None

    def _modifier(self, row, quantity, product):
        places = self.restaurant.places
        modifier_id = row.text("modifier_id")
        known = self.restaurant.menu.modifier(product, modifier_id) if modifier_id else None
        if modifier_id and not known:
            row.refuse("modifier_id")
        count = row.number("quantity", 0, least=1)
        price = row.number("price", places, required=True) or 0
        listed = row.number("original_price", places)
        in_all = (count or 1) * quantity
        return {"id": str(uuid.uuid4()), "modifier_id": modifier_id,
                "name": row.text("name", required=not known, most=200) or (known and known["name"]), "quantity": in_all,
                "price": total_of(price, in_all), "original_price": total_of(price if listed is None else listed, in_all)}

    def cancel_combo(self, order, combo_id):
        return self._cancel_row(order, order.combos, combo_id, self._require_open)

    def pay(self, order, members):
        self._require_editable(order)
        if order.status == "CANCELLED":
            raise invalid("status")
        body, places = Body(members), self.restaurant.places
        method_id, code = body.text("payment_method_id"), body.text("payment_method_code")
        method = next((m for m in self.restaurant.methods.values() if m["id"] == method_id or
                       (method_id is None and m["code"] == code)), None)
        if not method or order.service_type not in method["service_types"] or code not in (None, method["code"]):
            body.refuse("payment_method_id" if method_id else "payment_method_code")
        amount = body.number("amount", places, required=True) or 0
        tip = body.number("tip_amount", places) or 0
        received = body.number("received_amount", places)
        if amount + tip == 0:
            body.refuse("amount")
        if received is not None and received < amount + tip:
            body.refuse("received_amount")
        payment = Payment(method, amount, tip, received, body.text("reference"), body.text("comment"), self.clock())
        body.require()
        order.payments.append(payment)
        return self._touched(order)

    def cancel_payment(self, order, payment_id):
        return self._cancel_row(order, order.payments, payment_id, self._require_editable)

    def _cancel_row(self, order, rows, row_id, require):
        row = next((r for r in rows if r.id == row_id.lower()), None)
        if row is None:
            raise not_found()
        if row.canceled_at:
            return order
        require(order)
        row.canceled_at = self.clock()
        return self._touched(order)

    def discount(self, order, members):
        self._require_open(order)
        body = Body(members)
        kind = body.choice("type", ["AMOUNT", "PERCENTAGE"], required=True)
        places, most = (4, WHOLE_PERCENT) if kind == "PERCENTAGE" else (self.restaurant.places, 10**15)
        value = body.number("value", places, required=True, least=1, most=most)
        discount = Discount(kind, value, body.text("reason", most=200), self.clock())
        body.require()
        order.discounts.append(discount)
        return self._touched(order)

    def remove_discount(self, order, discount_id):
        found = [d for d in order.discounts if d.id == discount_id.lower()]
        if not found:
            raise not_found()
        self._require_open(order)
        order.discounts.remove(found[0])
        return self._touched(order)

    # States.
    def advance(self, order, members):
        body = Body(members)
        if members.get("status") == "CANCELLED":
            body.refuse("status")
        status = body.choice("status", LIFE, required=True)
        body.require()
        if order.status not in LIFE:
            raise invalid("status", detail="The order is cancelled.")
        if LIFE.index(status) > LIFE.index(order.status):
            order.status = status
            self._touched(order)
        return order

    def cancel(self, order, members):
        body = Body(members)
        reason = body.text("reason", required=True)
        body.require()
        self._require_editable(order)
        if order.status == "CANCELLED":
            return order
        if order.active_payments:
            raise invalid("payments", detail="The order has active payments. Cancel them first.")
        order.status, order.cancel_reason, order.canceled_at = "CANCELLED", reason, self.clock()
        return self._touched(order)

    # Logistics.
    def assign(self, order, members):
        self._require_moving(order)
        body = Body(members)
        ours = self.restaurant.provider
        provider = body.choice("provider", ["api", ours]) or "api"
        user_id = members.get("user_id")
        rider = {"provider": provider, "user_id": user_id, "name": body.text("name"), "phone_number": body.text("phone_number"),
                 "country_calling_code": body.text("country_calling_code"), "assigned_at": instant(self.clock())}
        if provider == ours:
            user = self.restaurant.users.get(user_id)
            if not user or user["role"] != "rider" or not user["active"]:
                body.refuse("user_id")
            if order.service_type != "DELIVERY":
                body.refuse("service_type")
            if order.status == "PENDING":
                body.refuse("status")
            rider |= {name: (user or {}).get(name) for name in ("name", "phone_number", "country_calling_code")}
        elif user_id is None and rider["name"] is None:
            body.refuse("user_id")
        body.require()
        order.rider = rider
        if order.service_type == "DELIVERY" and order.delivery_status is None:
            order.delivery_status, order.delivery_status_by_rider = "RIDER_ASSIGNED", True
        return self._touched(order)

    def unassign(self, order):
        if order.rider is None:
            return order
        self._require_moving(order)
        order.rider = None
        if order.delivery_status_by_rider:
            order.delivery_status, order.delivery_status_by_rider = None, False
        return self._touched(order)

    def deliver(self, order, members):
        self._require_moving(order)
        body = Body(members)
        target = body.choice("delivery_status", [*DELIVERY, NOT_DELIVERED], required=True)
        reason = body.text("reason")
        if order.service_type != "DELIVERY":
            body.refuse("service_type")
        body.require()
        if not self._may_deliver(order, target):
            raise invalid("delivery_status")
        if self._is_behind(order.delivery_status, target):
            return order
        order.delivery_status, order.delivery_status_by_rider, order.delivered_by = target, False, "API"
        order.delivery_status_reason = reason if target == NOT_DELIVERED else None
        lifted = {ON_THE_WAY: "READY", "DRIVER_ARRIVED_AT_DESTINATION": "READY", "DELIVERED": "DELIVERED"}.get(target)
        if lifted and LIFE.index(lifted) > LIFE.index(order.status):
            order.status = lifted
        return self._touched(order)

    @staticmethod
    def _may_deliver(order, target):
        now = order.delivery_status
        if NOT_DELIVERED not in (now, target):
            return True
        if target == NOT_DELIVERED:
            return now in (NOT_DELIVERED, *DELIVERY[1:4])
        return target == ON_THE_WAY

    @staticmethod
    def _is_behind(now, target):
        return (now is not None and NOT_DELIVERED not in (now, target)
                and DELIVERY.index(target) <= DELIVERY.index(now))

    # Rules.
    @staticmethod
    def _require_editable(order):
        if order.source != "API":
            raise invalid("source", detail="The order was not created through the API.")

    def _require_open(self, order):
        self._require_editable(order)
        if order.is_closed:
            raise invalid("status", detail=f"The order is {order.status}.")

    @staticmethod
    def _require_moving(order):
        if order.is_closed:
            raise invalid("status", detail=f"The order is {order.status}.")

    def _touched(self, order):
        order.updated_at = self.clock()
        return order

    def _public_id(self):
        while True:
            made = f"{self.restaurant.credential['country_code']}-{self.random.randrange(10**9, 10**10)}"
            if made not in self.by_public_id:
                return made
