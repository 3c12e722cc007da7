"""The money of an order, counted a second time and independently (contract section 7, Money, Combos, Payments,
Discounts; section 1, Rounding, Bounds). Whole numbers only: money in minor units, quantities in thousandths,
percentages in ten-thousandths of a percent."""

import dataclasses

THOUSAND = 1000
WHOLE_PERCENT = 1000000  # 100 %
OPEN = ["PENDING", "PREPARING", "READY", "DELIVERED"]


def divided(numerator, denominator):
    """Half away from zero; both are at least 0."""
    quotient, rest = divmod(numerator, denominator)
    return quotient + (2 * rest >= denominator)


def bound(exponent):
    """9,999,999,999.99 in minor units."""
    return 999999999999 * 10 ** exponent // 100


class Refused(Exception):
    """The edit must be answered with this code, and change nothing."""

    def __init__(self, code):
        super().__init__(code)
        self.code = code


@dataclasses.dataclass
class Line:
    quantity: int
    price: int
    list_price: int
    modifiers: list  # (quantity, price, list price), each of all units together
    cancelled: bool = False

    @property
    def modifiers_price(self):
        return sum(price for _, price, _ in self.modifiers)

    @property
    def total(self):
        return self.price + self.modifiers_price

    @property
    def list_total(self):
        return self.list_price + sum(price for _, _, price in self.modifiers)


def line(quantity, unit_price, unit_list_price, modifiers):
    """`modifiers`: (quantity a unit, unit price, unit list price or None)."""
    def times(price, thousandths):
        return divided(price * thousandths, THOUSAND)

    rows = []
    for count, price, list_price in modifiers:
        in_all = count * quantity
        rows.append((in_all, times(price, in_all), times(price if list_price is None else list_price, in_all)))
    list_price = unit_price if unit_list_price is None else unit_list_price
    return Line(quantity, times(unit_price, quantity), times(list_price, quantity), rows)


@dataclasses.dataclass
class Payment:
    amount: int
    tip: int
    received: int | None
    cancelled: bool = False

    @property
    def change(self):
        return None if self.received is None else self.received - self.amount - self.tip


@dataclasses.dataclass
class Discount:
    kind: str
    value: int
    effect: int = 0


@dataclasses.dataclass
class Order:
    exponent: int
    status: str = "PENDING"
    delivery: int = 0
    packaging: int = 0
    lines: list = dataclasses.field(default_factory=list)
    payments: list = dataclasses.field(default_factory=list)
    discounts: list = dataclasses.field(default_factory=list)
    version: int = 1

    # -- what it adds up to -----------------------------------------------------------------------------
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

    def share_out(self):
        """Every discount on the undiscounted base; the latest is cut first."""
        room = self.gross
        for discount in self.discounts:
            wished = discount.value
            if discount.kind == "PERCENTAGE":
                wished = divided(self.subtotal * discount.value, WHOLE_PERCENT)
            discount.effect = min(wished, room)
            room -= discount.effect

    def fits(self):
        return all(amount <= bound(self.exponent) for amount in [self.gross, self.total_paid, self.total_tips])

    # -- edits ------------------------------------------------------------------------------------------
    def editable(self):
        if self.status == "CANCELLED":
            raise Refused("order_cancelled")
        if self.status == "FINALIZED":
            raise Refused("order_closed")

    def changed(self):
        self.share_out()
        if not self.fits():
            raise Refused("validation_failed")
        self.version += 1

    def add(self, lines):
        if any(l.total > bound(self.exponent) or l.list_total > bound(self.exponent) for l in lines):
            raise Refused("validation_failed")
        self.editable()
        self.lines += lines
        self.changed()

    def cancel_line(self, index):
        if self.lines[index].cancelled:
            return
        self.editable()
        self.lines[index].cancelled = True
        self.changed()

    def pay(self, payment):
        handed = payment.amount + payment.tip
        if handed == 0 or handed > bound(self.exponent):
            raise Refused("validation_failed")
        if payment.received is not None and payment.received < handed:
            raise Refused("validation_failed")
        if self.status == "CANCELLED":
            raise Refused("order_cancelled")
        self.payments.append(payment)
        self.changed()

    def cancel_payment(self, index):
        if self.payments[index].cancelled:
            return
        self.payments[index].cancelled = True
        self.changed()

    def take_off(self, discount):
        if discount.kind == "PERCENTAGE" and discount.value > WHOLE_PERCENT:
            raise Refused("validation_failed")
        self.editable()
        self.discounts.append(discount)
        self.changed()

    def put_back(self, index):
        self.editable()
        del self.discounts[index]
        self.changed()

    def set_prices(self, delivery, packaging):
        self.editable()
        if (delivery, packaging) == (self.delivery, self.packaging):
            return
        self.delivery, self.packaging = delivery, packaging
        self.changed()

    def advance(self, status):
        if self.status == "CANCELLED":
            raise Refused("order_cancelled")
        life = [*OPEN, "FINALIZED"]
        if life.index(status) > life.index(self.status):
            self.status = status
            self.version += 1

    def cancel(self):
        if self.status == "CANCELLED":
            return
        if any(not p.cancelled for p in self.payments):
            raise Refused("order_has_active_payments")
        self.status = "CANCELLED"
        self.version += 1
