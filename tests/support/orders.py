"""Helpers of tests about orders: bodies, expectations on answers, and choices from an import file."""

import datetime
import json
import re
import uuid

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
# Visa's test number: 16 digits that begin like a card and pass Luhn.
CARD_NUMBER = "4111111111111111"
SERVICE_TYPES = ["ONSITE", "TABLE", "DELIVERY", "TAKEAWAY"]
LIFE = ["PENDING", "PREPARING", "READY", "DELIVERED", "FINALIZED"]


def new_id():
    return str(uuid.uuid4())


def new_word():
    """For names: one id in a thousand has digits that look like a card number, which names must not contain."""
    return new_id().translate(str.maketrans("0123456789-", "ghijklmnopq"))


def new_key():
    return {"Idempotency-Key": new_id()}


def path(order, *parts):
    return "/".join(["/v1/orders", order["id"], *parts])


def item(price=10, quantity=1, name="Ceviche", **fields):
    """A free-form line."""
    return {"product_name": name, "quantity": quantity, "variant_price": price, **fields}


def three_items(box):
    """Items of the menu with a modifier each."""
    found = {}
    for product, variant, price, modifier in box.rows(
            "SELECT p.id, v.id, v.price, m.id FROM product p "
            "JOIN variant v ON v.company_id = p.company_id AND v.product_id = p.id AND v.position = 0 "
            "JOIN modifier m ON m.company_id = p.company_id AND m.product_id = p.id "
            "ORDER BY p.id, m.position, m.id"):
        found.setdefault(product, {"product_id": product, "variant_id": variant, "quantity": 1,
                                   "variant_price": price / 100, "modifiers": [{"modifier_id": modifier, "price": 0}]})
    assert len(found) >= 3, found
    return list(found.values())[:3]


def in_days(days):
    moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=days)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def read(api, order):
    answer = api.get(path(order))
    assert answer.status == 200, (answer.status, answer.body)
    return answer.data


def accepted(answer, status=200):
    """The record of an answer that must be a success."""
    assert answer.status == status, (answer.status, answer.body)
    return answer.data


def refused(answer, status, code, fields=None, says=()):
    """Asserts a complete problem document with exactly these invalid fields, whose messages name what would be accepted."""
    assert answer.status == status, (answer.status, answer.body)
    assert answer.code == code, answer.body
    problem = answer.json
    assert problem["status"] == status
    assert problem["type"].endswith("/" + code)
    assert problem["title"] == code.replace("_", " ").title()
    assert problem["instance"].startswith("/") and "?" not in problem["instance"]
    assert problem["request_id"] == answer.headers["x-request-id"]
    assert problem["detail"]
    assert answer.headers["link"] == f'</problems/{code}>; rel="help"'
    assert answer.headers["cache-control"] == "no-store"
    assert "etag" not in answer.headers
    if fields is not None:
        assert answer.fields == fields, answer.body
    for error in problem.get("errors", []):
        assert set(error) == {"field", "code", "message"} and error["message"], error
    said = " ".join([problem["detail"]] + [e["message"] for e in problem.get("errors", [])])
    for words in [says] if isinstance(says, str) else says:
        assert words in said, (words, said)


def invalid(answer, says=(), **fields):
    """422 validation_failed with exactly these fields; `a__b` is a.b."""
    refused(answer, 422, "validation_failed", {n.replace("__", "."): c for n, c in fields.items()}, says)


def unchanged(api, order, answer):
    """Asserts that the answer and the box show the order unchanged."""
    assert accepted(answer) == order
    assert read(api, order) == order


def record_bytes(answer):
    """The bytes of the record inside {"data":…}."""
    begin, end = b'{"data":', b"}"
    assert answer.body.startswith(begin) and answer.body.endswith(end), answer.body[:100]
    return answer.body[len(begin):-len(end)]


def news(box, order):
    """[{changes}] of every event behind the order's creation; the first must be that."""
    events = box.events(order["id"])
    assert events[0][0] == "ORDER_CREATED"
    assert all(kind == "ORDER_UPDATED" for kind, _ in events[1:])
    return [changes for _, changes in events[1:]]


def exact(body):
    """The body, with every number as its text."""
    return json.loads(body, parse_float=str, parse_int=str)


class Restaurant:
    """Picks what a test needs from a company of an import file: the first row that fits and has an id."""

    def __init__(self, company, box):
        self.company, self.box = company, box
        self.id = company["id"]

    def _first(self, name, fits=lambda row: True):
        return next(r for r in self.company[name] if "id" in r and fits(r))

    @property
    def table(self):
        return self._first("tables")

    @property
    def clients(self):
        """Two guests, each with an address of their own."""
        return [c for c in self.company["clients"] if "id" in c and c.get("addresses")][:2]

    @property
    def client(self):
        return self.clients[0]

    @property
    def address(self):
        return self.client["addresses"][0]

    def method(self, code="cash"):
        return self._first("payment_methods", lambda m: m["code"] == code)

    def narrow_method(self):
        """A method that some service type does not take, and that type."""
        method = self._first("payment_methods", lambda m: len(m["service_types"]) < len(SERVICE_TYPES))
        return method, next(t for t in SERVICE_TYPES if t not in method["service_types"])

    def user(self, role, active=True):
        return self._first("users", lambda u: u["role"] == role and u.get("active", True) == active)

    def _product(self, fits):
        return next((p, c) for c in self.company["categories"] for p in c["products"] if "id" in p and fits(p))

    def simple_product(self):
        """One price, a sku, a station; and its category."""
        return self._product(lambda p: "variants" not in p and "sku" in p and "kitchen_id" in p)

    def products_with_variants(self):
        """Two products with several variants, the first with modifiers too."""
        first, _ = self._product(lambda p: len(p.get("variants", [])) > 1 and p.get("modifier_categories"))
        second, _ = self._product(lambda p: len(p.get("variants", [])) > 1 and p is not first)
        return first, second

    def modifier(self, product):
        """The first modifier of a product, with the id that the import gave it."""
        modifier = product["modifier_categories"][0]["modifiers"][0]
        ((found,),) = self.box.rows("SELECT id FROM modifier WHERE product_id = ? AND name = ?",
                           product["id"], modifier["name"])
        return {**modifier, "id": found}
