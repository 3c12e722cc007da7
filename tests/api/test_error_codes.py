"""Every error code that the server names, produced by the real server: a new one must get its row here."""

import contextlib
import http.client
import re

import pytest

from support.box import Answer, Box, PATIENCE_S, free_port
from support.openapi import breaches
from support.orders import CARD_NUMBER, accepted, in_days, item, new_id, new_key, path, refused
from support.raw import Wire, ask, head

ORDERS, KEYS, PRODUCTS = "/v1/orders", "/auth/api-keys", "/v1/menu/products"
# No field has a least length above one character; the code is kept for one that will.
NOT_PRODUCED = {"too_short"}


class House:
    """A box of our own, with a key for everything."""

    def __init__(self):
        self.box = Box(options=["--rate_standard", "2"])
        self.sandbox_port = free_port()
        self.setup_port = free_port()
        self.box.options += ["--sandbox_listen", f"127.0.0.1:{self.sandbox_port}",
                             "--setup-listen", f"127.0.0.1:{self.setup_port}"]
        self.box.bring_in("demo")
        self.managing = self.box.make_key(name="owner")
        self.box.start()
        self.test_key = self.box.make_key(env="test")["key"]
        self.api = self.box.client(self.managing["key"])

    def with_key(self, key, do=lambda client: client.get(ORDERS)):
        with contextlib.closing(self.box.client(key)) as client:
            return do(client)

    def sandbox(self, do):
        with contextlib.closing(self.box.client(self.test_key)) as client:
            client.port = self.sandbox_port
            return do(client)

    def new_key(self, **fields):
        return accepted(self.api.post(KEYS, {"name": "x", "scopes": ["orders:read"], **fields}), 201)

    def order(self, **fields):
        return self.api.add(self.api.place(**fields), item(10))


@pytest.fixture(scope="module")
def house():
    house = House()
    yield house
    house.api.close()
    assert house.box.discard() == 0


# Kinds of problems


def key_revoked(h):
    made = h.new_key()
    accepted(h.api.delete(f"{KEYS}/{made['id']}"))
    return h.with_key(made["key"])


def key_expired(h):
    made = h.new_key()
    h.box.execute("UPDATE api_key SET expires_at = created_at - 1, checksum = NULL WHERE id = ?", made["id"])  # an hour passed
    h.box.stop()
    h.box.start()
    return h.with_key(made["key"])


def order_not_editable(h):
    order = h.order()
    h.box.execute("UPDATE orders SET source = 'RAPPI', checksum = NULL WHERE id = ?", order["id"])
    h.box.execute("UPDATE company_counter SET checksums_complete = 0, checksum = NULL")
    return h.api.patch(path(order), {"comment": "x"})


def order_cancelled(h):
    order = h.order()
    accepted(h.api.post(path(order, "cancel"), {"reason": "x"}))
    return h.api.patch(path(order, "status"), {"status": "READY"})


def reused(h):
    again = new_key()
    accepted(h.api.post(ORDERS, {"service_type": "ONSITE"}, again), 201)
    return h.api.post(ORDERS, {"service_type": "TAKEAWAY"}, again)


def too_many_requests(h):
    def ask_often(client):
        answers = [client.get(ORDERS) for _ in range(9)]
        return answers[-1]

    return h.with_key(h.new_key(tier="standard")["key"], ask_often)


def internal_error(h):
    h.box.execute("ALTER TABLE order_status RENAME TO hidden")  # no version of ours has made it so
    try:
        return h.api.post(ORDERS, {"service_type": "ONSITE"}, new_key())
    finally:
        h.box.execute("ALTER TABLE hidden RENAME TO order_status")


def service_unavailable(h):
    with h.box.locked():  # keeps the server waiting, until it gives up
        answer = h.api.post(ORDERS, {"service_type": "ONSITE"}, new_key())
    assert int(answer.headers["retry-after"]) >= 1
    return answer


def cursor_expired(h):
    cursor = h.api.get(ORDERS).headers["x-event-cursor"]
    answer = h.api.get("/v1/events?after=9" + cursor[cursor.index("."):])
    assert answer.json["oldest_cursor"]
    return answer


def sent(h, *pieces):
    return ask(h.box, *pieces)


def request_timeout(h):
    with Wire(h.box) as wire:
        return wire.send(b"GET /healthz HTTP/1.1\r\n").answer()


def https_required(h):
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", h.setup_port, timeout=PATIENCE_S)) as client:
        client.request("GET", ORDERS)
        answer = client.getresponse()
        return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())


PROBLEMS = {
    "invalid_json": lambda h: h.api.post(ORDERS, b"{", new_key()),
    "invalid_parameter": lambda h: h.api.get(ORDERS + "?limit=3"),
    "missing_idempotency_key": lambda h: h.api.post(ORDERS, {"service_type": "ONSITE"}),
    "invalid_header": lambda h: h.api.post(ORDERS, {"service_type": "ONSITE"}, {"Idempotency-Key": "x" * 256}),
    "conflicting_credentials": lambda h: h.api.get(ORDERS, Authorization="Bearer x", **{"X-API-Key": "y"}),
    "unauthorized": lambda h: h.with_key(None),
    "key_revoked": key_revoked,
    "key_expired": key_expired,
    "wrong_environment": lambda h: h.with_key(h.test_key),
    "insufficient_scope": lambda h: h.with_key(h.new_key()["key"], lambda c: c.get("/v1/menu")),
    "address_not_allowed": lambda h: h.with_key(h.new_key(allowed_cidrs=["10.0.0.0/8"])["key"]),
    "https_required": https_required,
    "not_found": lambda h: h.api.get(f"{ORDERS}/{new_id()}"),
    "method_not_allowed": lambda h: h.api.delete(ORDERS),
    "not_acceptable": lambda h: h.api.get(ORDERS, Accept="text/html"),
    "request_timeout": request_timeout,
    "length_required": lambda h: sent(h, head("POST", ORDERS, f"X-API-Key: {h.api.key}", "Idempotency-Key: x")),
    "payload_too_large": lambda h: h.api.post(ORDERS, b" " * (1024 * 1024 + 1), new_key()),
    "uri_too_long": lambda h: sent(h, head("GET", "/" + "x" * 8192)),
    "unsupported_media_type": lambda h: h.api.post(ORDERS, b"{}", {**new_key(), "Content-Type": "text/plain"}),
    "expectation_failed": lambda h: sent(h, head("POST", ORDERS, "Content-Length: 2", "Expect: 200-ok")),
    "misdirected_request": lambda h: h.api.get(ORDERS, Host="elsewhere.example"),
    "headers_too_large": lambda h: sent(h, head("GET", ORDERS, *[f"X-{n}: y" for n in range(70)])),
    "cursor_expired": cursor_expired,
    "precondition_failed": lambda h: h.api.patch(path(h.order()), {"comment": "x"}, {"If-Match": '"99"'}),
    "validation_failed": lambda h: h.api.post(ORDERS, {}, new_key()),
    "order_not_editable": order_not_editable,
    "order_cancelled": order_cancelled,
    "order_closed": lambda h: h.api.post(
        path(h.api.advance(h.order(), "FINALIZED"), "combos"), {"combos": [item()]}),
    "order_has_active_payments": lambda h: h.api.post(path(h.api.pay(h.order(), 1), "cancel"), {"reason": "x"}),
    "use_cancel_endpoint": lambda h: h.api.patch(path(h.order(), "status"), {"status": "CANCELLED"}),
    "idempotency_key_reused": reused,
    "last_managing_key": lambda h: h.api.delete(f"{KEYS}/{h.managing['id']}"),
    "rate_limit_exceeded": too_many_requests,
    "internal_error": internal_error,
    "not_implemented": lambda h: sent(h, head("BREW", ORDERS)),
    "service_unavailable": service_unavailable,
    "version_not_supported": lambda h: sent(h, b"GET /healthz HTTP/3.0\r\nHost: localhost\r\n\r\n"),
}


@pytest.fixture(scope="module")
def document(house):
    return house.with_key(None, lambda client: client.get("/v1/openapi.json")).json


def test_every_problem_that_the_server_names_is_produced_here(document):
    of_a_second_server = {"standby"}  # tests/head
    assert {*PROBLEMS, *of_a_second_server} == set(document["components"]["schemas"]["ProblemCode"]["enum"])


@pytest.mark.parametrize("code", PROBLEMS)
def test_a_problem_is_produced_and_has_its_page(house, document, code):
    answer = PROBLEMS[code](house)
    refused(answer, answer.status, code)
    assert breaches({"$ref": "#/components/schemas/Problem"}, answer.json) == []
    if answer.status == 401:
        assert answer.headers["www-authenticate"].startswith("Bearer")
    target = re.fullmatch('<(.*)>; rel="help"', answer.headers["link"])[1]
    page = house.with_key(None, lambda client: client.get(target))
    assert page.status == 200 and code in page.body.decode()


# Codes of fields


def placing(**fields):
    return lambda h: h.api.post(ORDERS, {"service_type": "ONSITE", **fields}, new_key())


def adding(**fields):
    return lambda h: h.api.post(path(h.api.place(), "combos"), {"combos": [item(**fields)]})


def upserting(*products):
    return lambda h: h.api.put(PRODUCTS, {"products": list(products)})


def dish(name="Causa", **fields):
    return {"name": name, "category_name": "Entradas", "price": 10, **fields}


def sku_taken(h):
    sku = new_id()
    accepted(h.api.post(PRODUCTS, dish(sku=sku)), 201)
    return h.api.post(PRODUCTS, dish("Otra", sku=sku))


def illegal_move(h):
    order = h.order(service_type="DELIVERY")
    for status, more in (("DRIVER_ON_THE_WAY_TO_DESTINATION", {}), ("NOT_DELIVERED", {"reason": "x"})):
        accepted(h.api.patch(path(order, "delivery-status"), {"delivery_status": status, **more}))
    return h.api.patch(path(order, "delivery-status"), {"delivery_status": "DELIVERED"})


FIELDS = {
    "required": ("service_type", lambda h: h.api.post(ORDERS, {}, new_key())),
    "wrong_type": ("order_title", placing(order_title=1)),
    "unknown_value": ("service_type", placing(service_type="DINE_IN")),
    "invalid_format": ("client_id", placing(client_id="x")),
    "too_long": ("order_title", placing(order_title="x" * 201)),
    "out_of_range": ("scheduled_delivery_date", placing(scheduled_delivery_date=in_days(-1))),
    "must_be_positive": ("combos[0].quantity", adding(quantity=0)),
    "must_not_be_negative": ("combos[0].variant_price", adding(price=-1)),
    "too_many_decimals": ("combos[0].variant_price", adding(price=1.234)),
    "too_many_items": ("combos", lambda h: h.api.post(path(h.api.place(), "combos"), {"combos": [item()] * 201})),
    "too_many_products": ("products", upserting(*[dish(sku=str(n)) for n in range(501)])),
    "empty": ("combos[0].product_name", adding(name="")),
    "duplicate": ("products[1].sku", upserting(dish(sku="twice"), dish(sku="twice"))),
    "not_found": ("client_id", placing(client_id=new_id())),
    "not_allowed": ("status", placing(status="READY")),
    "read_only": ("currency", placing(currency="PEN")),
    "unknown_field": ("colour", lambda h: h.sandbox(
        lambda client: client.post(ORDERS, {"service_type": "ONSITE", "colour": "red"}, new_key()))),
    "sku_taken": ("sku", sku_taken),
    "id_or_sku_required": ("products[0].id", upserting(dish())),
    "illegal_move": ("delivery_status", illegal_move),
    "looks_like_card_number": ("order_title", placing(order_title=CARD_NUMBER)),
}


def test_every_code_of_a_field_that_the_server_names_is_produced_here(document):
    named = document["components"]["schemas"]["FieldErrorCode"]["enum"]
    assert sorted([*FIELDS, *NOT_PRODUCED]) == sorted(named)


@pytest.mark.parametrize("code", FIELDS)
def test_a_code_of_a_field_is_produced(house, code):
    field, produce = FIELDS[code]
    refused(produce(house), 422, "validation_failed", {field: code})
