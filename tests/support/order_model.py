"""An independent model of one order's life (contract section 7, Money, Combos, Payments, Discounts, Status and cancel;
section 8; section 1, Rounding, Bounds; section 13, changes[]). Whole numbers only: money in minor units, quantities in
thousandths, percentages in ten-thousandths of a percent. Each time is represented by the version that set it."""

import dataclasses

THOUSAND = 1000
WHOLE_PERCENT = 1000000  # 100 %
OPEN = ["PENDING", "PREPARING", "READY", "DELIVERED"]
LIFE = [*OPEN, "FINALIZED"]
ON_THE_WAY, NOT_DELIVERED = "DRIVER_ON_THE_WAY_TO_DESTINATION", "NOT_DELIVERED"
DELIVERY = ["RIDER_ASSIGNED", "DRIVER_ARRIVED_AT_STORE", ON_THE_WAY, "DRIVER_ARRIVED_AT_DESTINATION", "DELIVERED"]


def divided(numerator, denominator):
    """Half away from zero; both are at least 0."""
    quotient, rest = divmod(numerator, denominator)
    return quotient + (2 * rest >= denominator)


def bound(exponent):
    """9,999,999,999.99 in minor units."""
    return 999999999999 * 10 ** exponent // 100


class Refused(Exception):
    """The request must be refused with this code and change nothing. `early`: before If-Match is checked, because a
    field is malformed or the path names no row of the order."""

    def __init__(self, code, status=422, early=False):
        super().__init__(code)
        self.code, self.status, self.early = code, status, early


def malformed():
    return Refused("validation_failed", early=True)


def no_such_row():
    return Refused("not_found", 404, early=True)


@dataclasses.dataclass
class Line:
    quantity: int
    price: int
    list_price: int
    modifiers: list  # (quantity, price, list price), each of all units together
    is_counted: bool = False  # it is of the order's one product whose stock is counted
    taken: int = 0  # of that stock
    created: int | None = None
    cancelled: int | None = None

    @property
    def modifiers_price(self):
        return sum(price for _, price, _ in self.modifiers)

    @property
    def total(self):
        return self.price + self.modifiers_price

    @property
    def list_total(self):
        return self.list_price + sum(price for _, _, price in self.modifiers)


def line(quantity, unit_price, unit_list_price, modifiers, is_counted=False):
    """`modifiers`: (quantity a unit, unit price, unit list price or None)."""
    def times(price, thousandths):
        return divided(price * thousandths, THOUSAND)

    rows = []
    for count, price, list_price in modifiers:
        in_all = count * quantity
        rows.append((in_all, times(price, in_all), times(price if list_price is None else list_price, in_all)))
    list_price = unit_price if unit_list_price is None else unit_list_price
    return Line(quantity, times(unit_price, quantity), times(list_price, quantity), rows, is_counted)


@dataclasses.dataclass
class Payment:
    amount: int
    tip: int
    received: int | None
    method: str = "cash"
    created: int | None = None
    cancelled: int | None = None

    @property
    def change(self):
        return None if self.received is None else self.received - self.amount - self.tip


@dataclasses.dataclass
class Discount:
    kind: str
    value: int
    effect: int = 0
    created: int | None = None


@dataclasses.dataclass
class Event:
    """The event that the log must have for one version."""
    changes: set  # required
    may_name: set  # allowed besides
    shortages: list  # (index of the line, its quantity, how much was missing)


@dataclasses.dataclass
class Order:
    exponent: int
    service_type: str = "DELIVERY"
    methods: dict = dataclasses.field(default_factory=dict)  # code -> the service types that it is for
    staff_riders: dict = dataclasses.field(default_factory=dict)  # id -> (name, calling code, phone)
    stock: int = 0  # of the one product whose stock is counted; no other order takes from it
    status: str = "PENDING"
    delivery: int = 0
    packaging: int = 0
    comment: str | None = None
    order_title: str | None = None
    delivery_comment: str | None = None
    scheduled: str | None = None
    cancel_reason: str | None = None
    rider: dict | None = None
    rider_assigned: int | None = None
    delivery_status: str | None = None
    delivery_status_reason: str | None = None
    delivery_status_by_rider: bool = False
    delivered_by: str | None = None
    lines: list = dataclasses.field(default_factory=list)
    payments: list = dataclasses.field(default_factory=list)
    discounts: list = dataclasses.field(default_factory=list)
    history: list = dataclasses.field(default_factory=lambda: [("PENDING", 1, False)])  # (status, version, implied)
    version: int = 1
    paid_since: int | None = None
    events: list = dataclasses.field(default_factory=lambda: [Event(set(), set(), [])])  # one of each version
    stock_flips: int = 0  # how often the product became available, or ceased to be

    # Totals.
    @property
    def subtotal(self):
        return sum(l.total for l in self.lines if not l.cancelled)

    @property
    def gross(self):
        return self.subtotal + self.delivery + self.packaging

    @property
    def total_discounts(self):
        return sum(d.effect for d in self.discounts)

    @property
    def total(self):
        return self.gross - self.total_discounts

    @property
    def total_paid(self):
        return sum(p.amount for p in self.payments if not p.cancelled)

    @property
    def total_tips(self):
        return sum(p.tip for p in self.payments if not p.cancelled)

    @property
    def paid(self):
        something = self.total > 0 or any(not l.cancelled for l in self.lines)
        return something and self.total_paid >= self.total

    def reached(self, status):
        """The version of the change."""
        return next((version for name, version, _ in self.history if name == status), None)

    @property
    def closed(self):
        return self.history[-1][1] if self.status in ("FINALIZED", "CANCELLED") else None

    def share_out(self):
        """Every discount is computed on the undiscounted base; the latest is cut first. True if any effect changed."""
        room, moved = self.gross, False
        for discount in self.discounts:
            wished = discount.value
            if discount.kind == "PERCENTAGE":
                wished = divided(self.subtotal * discount.value, WHOLE_PERCENT)
            moved |= discount.effect != min(wished, room)
            discount.effect = min(wished, room)
            room -= discount.effect
        return moved

    def fits(self):
        return all(amount <= bound(self.exponent) for amount in [self.gross, self.total_paid, self.total_tips])

    # Edits.
    @property
    def next(self):
        return self.version + 1

    def editable(self):
        if self.status == "CANCELLED":
            raise Refused("order_cancelled")
        if self.status == "FINALIZED":
            raise Refused("order_closed")

    def changed(self, *names, shortages=()):
        moved = self.share_out()
        if not self.fits():
            raise Refused("validation_failed")
        self.version += 1
        changes = set(names)
        if self.paid != (self.paid_since is not None):
            changes.add("paid")
            self.paid_since = self.version if self.paid else None
        self.events.append(Event(changes, {"discounts"} if moved else set(), list(shortages)))

    def set_stock(self, stock):
        self.stock_flips += (self.stock > 0) != (stock > 0)
        self.stock = stock

    def add(self, lines):
        if any(l.total > bound(self.exponent) or l.list_total > bound(self.exponent) for l in lines):
            raise malformed()
        self.editable()
        left, shortages = self.stock, []
        for row in lines:
            row.created = self.next
            if row.is_counted:
                row.taken = min(left, row.quantity)
                left -= row.taken
                if row.taken < row.quantity:
                    shortages.append((len(self.lines), row.quantity, row.quantity - row.taken))
            self.lines.append(row)
        self.set_stock(left)
        self.changed("combos", shortages=shortages)

    def give_back(self, lines):
        self.set_stock(self.stock + sum(l.taken for l in lines))
        for row in lines:
            row.taken = 0

    def cancel_line(self, index):
        row = self.row(self.lines, index)
        if row.cancelled:
            return
        self.editable()
        row.cancelled = self.next
        self.give_back([row])
        self.changed("combos")

    @staticmethod
    def row(rows, index):
        """`index` None means an id that the order does not have."""
        if index is None:
            raise no_such_row()
        return rows[index]

    def pay(self, payment):
        handed = payment.amount + payment.tip
        if handed == 0 or handed > bound(self.exponent):
            raise malformed()
        if payment.received is not None and payment.received < handed:
            raise malformed()
        if self.service_type not in self.methods.get(payment.method, []):
            raise Refused("validation_failed")
        if self.status == "CANCELLED":
            raise Refused("order_cancelled")
        payment.created = self.next
        self.payments.append(payment)
        self.changed("payments")

    def cancel_payment(self, index):
        payment = self.row(self.payments, index)
        if payment.cancelled:
            return
        payment.cancelled = self.next
        self.changed("payments")

    def take_off(self, discount):
        if discount.kind == "PERCENTAGE" and discount.value > WHOLE_PERCENT:
            raise malformed()
        self.editable()
        discount.created = self.next
        self.discounts.append(discount)
        self.changed("discounts")

    def put_back(self, index):
        self.row(self.discounts, index)
        self.editable()
        del self.discounts[index]
        self.changed("discounts")

    def edit(self, fields):
        """Fields of the model's own names; None or an empty text clears."""
        fields = {name: None if value == "" else value for name, value in fields.items()}
        for_deliveries = "delivery" in fields or fields.get("delivery_comment") is not None
        if self.service_type != "DELIVERY" and for_deliveries:
            raise Refused("validation_failed")
        if list(fields) != ["comment"]:
            self.editable()
        before = dataclasses.asdict(self)
        for name, value in fields.items():
            if name == "comment" and self.comment:
                value = self.comment + "\n" + value
            setattr(self, name, value)
        if dataclasses.asdict(self) != before:
            self.changed("fields")

    # Status, rider, cancelling.
    def move(self, status, last_implied=False):
        """Moves to a later status through the steps between; false if the order is already there or later."""
        steps = LIFE[LIFE.index(self.status) + 1:LIFE.index(status) + 1]
        for step in steps:
            self.history.append((step, self.next, step != status or last_implied))
            self.status = step
        return bool(steps)

    def advance(self, status):
        if status == "CANCELLED":
            raise Refused("use_cancel_endpoint", early=True)
        if status not in LIFE:
            raise malformed()
        if self.status == "CANCELLED":
            raise Refused("order_cancelled")
        if self.move(status):
            self.changed("status")

    def cancel(self, reason):
        if not reason:
            raise malformed()
        if self.status == "CANCELLED":
            return
        if any(not p.cancelled for p in self.payments):
            raise Refused("order_has_active_payments")
        self.history.append(("CANCELLED", self.next, False))
        self.status, self.cancel_reason = "CANCELLED", reason
        self.give_back(self.lines)
        self.changed("status", "cancelled")

    def assign(self, rider):
        """`rider`: the fields as they are sent."""
        is_staff = rider.get("provider", "api") != "api"
        if not rider.get("user_id") and (is_staff or not rider.get("name")):
            raise malformed()
        if is_staff:
            if (rider["user_id"] not in self.staff_riders or self.service_type != "DELIVERY"
                    or self.status == "PENDING"):
                raise Refused("validation_failed")
            name, code, phone = self.staff_riders[rider["user_id"]]
            rider = {**rider, "name": name, "country_calling_code": code, "phone_number": phone}
        self.editable()
        names = ["provider", "user_id", "name", "phone_number", "country_calling_code"]
        rider = {"provider": "api", **dict.fromkeys(names[1:]), **rider}
        if rider == self.rider:
            return
        self.rider, self.rider_assigned = rider, self.next
        changes = ["rider"]
        if self.service_type == "DELIVERY" and self.delivery_status is None:
            self.delivery_status, self.delivery_status_by_rider = "RIDER_ASSIGNED", True
            changes.append("delivery_status")
        self.changed(*changes)

    def unassign(self):
        self.editable()
        if self.rider is None:
            return
        self.rider = self.rider_assigned = None
        changes = ["rider"]
        if self.delivery_status_by_rider:
            self.delivery_status, self.delivery_status_by_rider = None, False
            changes.append("delivery_status")
        self.changed(*changes)

    def report(self, status, reason=None):
        if reason is not None and status != NOT_DELIVERED:
            raise malformed()
        if self.service_type != "DELIVERY":
            raise Refused("validation_failed")
        self.editable()
        if status == self.delivery_status:
            return
        under_way = DELIVERY[1:4]
        if self.delivery_status == NOT_DELIVERED and status != ON_THE_WAY:
            raise Refused("validation_failed")
        if status == NOT_DELIVERED and self.delivery_status not in under_way:
            raise Refused("validation_failed")
        if status != NOT_DELIVERED and self.delivery_status in DELIVERY \
                and DELIVERY.index(status) <= DELIVERY.index(self.delivery_status):
            return
        self.delivery_status, self.delivery_status_reason = status, reason
        self.delivery_status_by_rider, self.delivered_by = False, "API"
        changes = ["delivery_status"]
        if status in DELIVERY[2:4] and self.status in OPEN[:2]:
            self.move("READY", last_implied=True)
            changes.append("status")
        if status == "DELIVERED" and self.move("DELIVERED"):
            changes.append("status")
        self.changed(*changes)
