#!/usr/bin/python3
"""A strict imitation of the cloud: an HTTPS server that knows only the endpoints, parameters and fields that spec.md names,
with the names of contract.md for bodies and records that the specification does not show.

It makes ids of its own, computes totals of its own, and refuses a parameter that it does not name. It has no ETags, no event
feed, no tables, no snapshots, no versions; headers that it does not know are ignored. Problems have the specification's
members alone. It can be seeded with a company of an import file, moved by a test (`cloud.orders`, `cloud.restaurant`), and
made to misbehave (support/cloud_faults.py):

    with StrictCloud(company, directory) as cloud:
        key = cloud.make_key()
        …cloud.url, cloud.cafile, key…
        cloud.orders.create({"service_type": "ONSITE"}, source="PANEL")

By hand: tests/support/strict_cloud.py [--port N] [--currency CODE] [--company FILE]"""

import argparse
import contextlib
import dataclasses
import datetime
import decimal
import email.utils
import gzip
import hashlib
import json
import pathlib
import re
import secrets
import sys
import tempfile
import threading
import time
import urllib.parse
import uuid
import zoneinfo

if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from support.box import ROOT
from support.exact import to_json
from support.https_server import Handler, HttpsServer
from support.openssl import make_chain
from support.strict_menu import Menu
from support.strict_orders import EXPONENTS, SERVICE_TYPES, Body, Orders, Refused, invalid, is_uuid, not_found

SCOPES = ["menu:read", "menu:write", "orders:read", "orders:write", "logistics:write", "clients:read", "reports:read",
          "webhooks:read", "webhooks:write", "companies:read", "payment-methods:read", "users:read", "stores:read"]
STATUSES = ["PENDING", "PREPARING", "READY", "DELIVERED", "FINALIZED", "CANCELLED"]
ROLES = ["admin", "manager", "waiter", "rider", "cook", "sales", "cashier"]
ERRORS_BASE = "https://cloud.example/errors"
PAGES = {"page", "per_page", "sort"}
GZIP_FROM_BYTES = 500


# What orders refer to


class Restaurant:
    """`company`: one of an import file. Its rows get ids of the cloud's own, except tables, which the specification does
    not list: a client knows their ids from elsewhere."""

    def __init__(self, company, clock, provider):
        self.company, self.clock, self.provider = company, clock, provider
        self.id = str(uuid.uuid4())
        self.places = EXPONENTS.get(company["currency"], 2)
        self.credential = {name: company[name] for name in ("country_code", "timezone", "currency")}
        self.menu = Menu(company.get("categories", []), self.places, company["currency"], clock)
        self.methods = self._rows("payment_methods", {"code": None, "description": None, "service_types": SERVICE_TYPES})
        self.users = self._rows("users", {"name": None, "email": None, "country_calling_code": None, "phone_number": None,
                                          "role": None, "active": True})
        self.clients = self._rows("clients", {"name": None, "email": None, "country_calling_code": None,
                                              "phone_number": None, "document_type": None, "document_number": None,
                                              "notes": None, "addresses": []})
        for client in self.clients.values():
            client["addresses"] = [{**address, "id": str(uuid.uuid4())} for address in client["addresses"]]
        self.addresses = {a["id"] for client in self.clients.values() for a in client["addresses"]}
        self.tables = {table["id"] for table in company.get("tables", []) if "id" in table}

    def _rows(self, name, fields):
        rows = [{"id": str(uuid.uuid4()), **{f: row.get(f, default) for f, default in fields.items()}}
                for row in self.company.get(name, [])]
        return {row["id"]: row for row in rows}

    def profile(self):
        company = self.company
        return {"id": self.id, **{name: company.get(name) for name in ("name", "description", "logo", "public_url",
                                                                         "location", "business_hours", "language")},
                "currently_open": True, "currency": company["currency"]}


# Requests, answers


@dataclasses.dataclass
class Request:
    method: str
    path: str
    query: dict
    headers: dict  # names in lower case
    body: bytes
    at: float
    status: int = 0  # of the answer
    sent_bytes: int = 0  # of the answer's body, on the line
    members: dict = dataclasses.field(default_factory=dict)  # the body's

    @property
    def key(self):
        """The Idempotency-Key."""
        return self.headers.get("idempotency-key")


@dataclasses.dataclass
class Answer:
    status: int
    body: bytes
    headers: dict = dataclasses.field(default_factory=dict)


def success(data, status=200, **more):
    return Answer(status, to_json({"data": data, **more}, shortest=True).encode())


def problem(request, refused, **headers):
    title = refused.code.replace("_", " ").title()
    document = {"type": f"{ERRORS_BASE}/{refused.code}", "title": title, "status": refused.status,
                "detail": refused.detail, "instance": request.path}
    if refused.fields:
        document["errors"] = [{"field": field} for field in refused.fields]
    return Answer(refused.status, json.dumps(document).encode(), {"Content-Type": "application/problem+json", **headers})


def wrong_parameter(name):
    return Refused(400, "invalid_parameter", f"The parameter {name} is not valid.")


@dataclasses.dataclass(frozen=True)
class Route:
    method: str
    pattern: str
    scope: str
    handle: str  # a function of Handlers
    parameters: frozenset = frozenset()
    status: int = 200


ROUTES = [
    Route("GET", "/v1/menu", "menu:read", "menu"),
    Route("GET", "/v1/menu/categories/{id}", "menu:read", "category"),
    Route("GET", "/v1/menu/products/{id}", "menu:read", "product"),
    Route("PUT", "/v1/menu/products", "menu:write", "upsert_products"),
    Route("POST", "/v1/menu/products", "menu:write", "create_product", status=201),
    Route("PATCH", "/v1/menu/products/{id}", "menu:write", "change_product"),
    Route("POST", "/v1/menu/products/{id}/variants", "menu:write", "create_variant", status=201),
    Route("PATCH", "/v1/menu/products/{id}/variants/{variantId}", "menu:write", "change_variant"),
    Route("GET", "/v1/orders", "orders:read", "orders", frozenset(PAGES | {"filter[status]", "filter[start_date]"})),
    Route("GET", "/v1/orders/by-payment-methods", "orders:read", "by_payment_methods"),
    Route("GET", "/v1/orders/by-tips", "orders:read", "by_tips"),
    Route("GET", "/v1/orders/products-sold", "orders:read", "products_sold"),
    Route("GET", "/v1/orders/{id}", "orders:read", "order"),
    Route("POST", "/v1/orders", "orders:write", "create_order", status=201),
    Route("PATCH", "/v1/orders/{id}", "orders:write", "edit"),
    Route("PATCH", "/v1/orders/{id}/status", "orders:write", "advance"),
    Route("POST", "/v1/orders/{id}/cancel", "orders:write", "cancel"),
    Route("POST", "/v1/orders/{id}/combos", "orders:write", "add_combos"),
    Route("DELETE", "/v1/orders/{id}/combos/{comboId}", "orders:write", "cancel_combo"),
    Route("POST", "/v1/orders/{id}/payments", "orders:write", "pay"),
    Route("DELETE", "/v1/orders/{id}/payments/{paymentId}", "orders:write", "cancel_payment"),
    Route("POST", "/v1/orders/{id}/discounts", "orders:write", "discount"),
    Route("DELETE", "/v1/orders/{id}/discounts/{discountId}", "orders:write", "remove_discount"),
    Route("PUT", "/v1/orders/{id}/rider", "logistics:write", "assign"),
    Route("DELETE", "/v1/orders/{id}/rider", "logistics:write", "unassign"),
    Route("PATCH", "/v1/orders/{id}/delivery-status", "logistics:write", "deliver"),
    Route("GET", "/v1/company", "companies:read", "company"),
    Route("GET", "/v1/company/payment-methods", "payment-methods:read", "methods", frozenset(PAGES)),
    Route("GET", "/v1/users", "users:read", "users", frozenset({"filter[role]", "filter[active]", "page", "per_page"})),
    Route("GET", "/v1/stores/status", "stores:read", "stores", frozenset({"provider_names"})),
    Route("GET", "/v1/clients", "clients:read", "clients", frozenset(PAGES)),
    Route("GET", "/v1/clients/{id}", "clients:read", "client"),
    Route("POST", "/v1/webhooks", "webhooks:write", "create_webhook", status=201),
    Route("GET", "/v1/webhooks", "webhooks:read", "webhooks", frozenset(PAGES)),
    Route("GET", "/v1/webhooks/{id}", "webhooks:read", "webhook"),
    Route("PATCH", "/v1/webhooks/{id}", "webhooks:write", "change_webhook"),
    Route("DELETE", "/v1/webhooks/{id}", "webhooks:write", "delete_webhook"),
]
MATCHERS = [(re.compile(re.sub(r"\{\w+\}", "([^/]+)", route.pattern)), route) for route in ROUTES]


def find_route(method, path):
    """The first row that fits, and the parts of the path that its braces stand for."""
    for pattern, route in MATCHERS:
        found = route.method == method and pattern.fullmatch(path)
        if found:
            return route, [urllib.parse.unquote(part) for part in found.groups()]
    raise not_found()


class Handlers:
    """One function per row of ROUTES: (request, parts of the path) -> record, or an Answer."""

    def __init__(self, restaurant, orders):
        self.restaurant, self.all_orders, self.subscriptions = restaurant, orders, {}

    # Lists.
    @staticmethod
    def _number(query, name, default, most):
        text = query.get(name, str(default))
        if not re.fullmatch(r"[1-9]\d{0,8}", text) or int(text) > most:
            raise wrong_parameter(name)
        return int(text)

    def _page(self, request, rows, to_record, sorts=()):
        """One page of rows that are sorted already."""
        if request.query.get("sort", "").lstrip("-") not in ("", *sorts):
            raise wrong_parameter("sort")
        page, size = self._number(request.query, "page", 1, 999_999_999), self._number(request.query, "per_page", 20, 100)
        begin = (page - 1) * size
        pagination = {"current_page": page, "per_page": size, "total": len(rows), "has_more": begin + size < len(rows)}
        return success([to_record(row) for row in rows[begin:begin + size]], pagination=pagination)

    def orders(self, request):
        status, start = request.query.get("filter[status]"), request.query.get("filter[start_date]")
        if status is not None and status not in STATUSES:
            raise wrong_parameter("filter[status]")
        rows = self.all_orders.listed(status, start and self._moment(start),
                                      request.query.get("sort", "-created_at").startswith("-"))
        return self._page(request, rows, lambda order: order.record(), ["created_at"])

    def _moment(self, text):
        """A day begins in the company's time zone."""
        try:
            moment = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
        except ValueError:
            raise wrong_parameter("filter[start_date]") from None
        zone = zoneinfo.ZoneInfo(self.restaurant.credential["timezone"])
        return moment if moment.tzinfo else moment.replace(tzinfo=zone)

    def users(self, request):
        roles, active = request.query.get("filter[role]"), request.query.get("filter[active]")
        if roles is not None and set(roles.split(",")) - set(ROLES):
            raise wrong_parameter("filter[role]")
        if active not in (None, "true", "false"):
            raise wrong_parameter("filter[active]")
        rows = [u for u in self.restaurant.users.values()
                if (roles is None or u["role"] in roles.split(",")) and (active is None or u["active"] == (active == "true"))]
        return self._page(request, rows, dict)

    def clients(self, request):
        return self._page(request, list(self.restaurant.clients.values()), dict, ["created_at", "name"])

    def client(self, request, client_id):
        if client_id not in self.restaurant.clients:
            raise not_found() if is_uuid(client_id) else invalid("id")
        return self.restaurant.clients[client_id]

    def methods(self, request):
        return self._page(request, list(self.restaurant.methods.values()), dict, ["code"])

    def company(self, request):
        return self.restaurant.profile()

    def stores(self, request):
        return success([], pagination={"current_page": 1, "per_page": 20, "total": 0, "has_more": False})

    # Reports, over all orders.
    def _by_method(self, request, amount_of):
        sums = {}
        for order in self.all_orders.listed():
            for payment in order.active_payments if order.status != "CANCELLED" else []:
                row = sums.setdefault(payment.method["code"], {"code": payment.method["code"], "count": 0, "sum_total": 0})
                row["count"] += 1
                row["sum_total"] += amount_of(payment)
        scale = 10 ** self.restaurant.places
        return self._page(request, [{**r, "sum_total": r["sum_total"] / scale} for r in sums.values()], dict)

    def by_payment_methods(self, request):
        return self._by_method(request, lambda payment: payment.amount)

    def by_tips(self, request):
        return self._by_method(request, lambda payment: payment.tip)

    def products_sold(self, request):
        sums = {}
        for order in self.all_orders.listed():
            for combo in order.combos if order.status != "CANCELLED" else []:
                if combo.texts["product_id"] and not combo.canceled_at:
                    row = sums.setdefault(combo.texts["product_id"], {**combo.texts, "product_quantity": 0})
                    row["product_quantity"] += combo.quantity / 1000
        return self._page(request, list(sums.values()), dict)

    # Menu.
    def menu(self, request):
        categories = self.restaurant.menu.catalogue()
        pages = {"current_page": 1, "per_page": max(1, len(categories)), "total": len(categories), "has_more": False}
        return success({"categories": categories}, pagination=pages)

    def category(self, request, category_id):
        if category_id not in self.restaurant.menu.categories:
            raise not_found()
        return self.restaurant.menu.record_of_category(self.restaurant.menu.categories[category_id])

    def product(self, request, product_id):
        return self.restaurant.menu.record(self.restaurant.menu.product(product_id))

    def upsert_products(self, request):
        return self.restaurant.menu.upsert(request.members)

    def create_product(self, request):
        return self.restaurant.menu.record(self.restaurant.menu.create(request.members))

    def change_product(self, request, product_id):
        product = self.restaurant.menu.product(product_id)
        return self.restaurant.menu.record(self.restaurant.menu.change(product, Body(request.members)))

    def create_variant(self, request, product_id):
        menu = self.restaurant.menu
        return menu.record_of_variant(menu.add_variant(menu.product(product_id), Body(request.members)))

    def change_variant(self, request, product_id, variant_id):
        menu = self.restaurant.menu
        product = menu.product(product_id)
        changed = menu.change_variant(product, menu.variant_below(product, variant_id), Body(request.members))
        return menu.record_of_variant(changed)

    # Webhooks: the specification shows neither bodies nor events, so that any object is one.
    def create_webhook(self, request):
        row = {**request.members, "id": str(uuid.uuid4())}
        self.subscriptions[row["id"]] = row
        return row

    def webhooks(self, request):
        return self._page(request, list(self.subscriptions.values()), dict)

    def webhook(self, request, webhook_id):
        if webhook_id not in self.subscriptions:
            raise not_found()
        return self.subscriptions[webhook_id]

    def change_webhook(self, request, webhook_id):
        self.webhook(request, webhook_id).update({**request.members, "id": webhook_id})
        return self.webhook(request, webhook_id)

    def delete_webhook(self, request, webhook_id):
        self.webhook(request, webhook_id)
        return self.subscriptions.pop(webhook_id)

    # Orders.
    def order(self, request, name):
        return self.all_orders.find(name).record()

    def create_order(self, request):
        if not request.key:
            raise Refused(400, "missing_idempotency_key", "The header Idempotency-Key is required.")
        if request.key in self.all_orders.by_reference:
            raise key_reused()
        return self.all_orders.create(request.members, request.key).record()


def _with_body(name):
    def handle(self, request, order_id):
        return getattr(self.all_orders, name)(self.all_orders.find(order_id), request.members).record()
    return handle


def _of_row(name):
    def handle(self, request, order_id, *row_id):
        return getattr(self.all_orders, name)(self.all_orders.find(order_id), *row_id).record()
    return handle


for _name in ("edit", "advance", "cancel", "add_combos", "pay", "discount", "assign", "deliver"):
    setattr(Handlers, _name, _with_body(_name))
for _name in ("cancel_combo", "cancel_payment", "remove_discount", "unassign"):
    setattr(Handlers, _name, _of_row(_name))


def key_reused():
    return Refused(422, "idempotency_key_reused", "The Idempotency-Key was used for another request.")


# The server


@dataclasses.dataclass
class Key:
    scopes: list
    per_minute: int | None  # requests; None: the answers have no RateLimit headers
    left: float = 0.0
    at: float = dataclasses.field(default_factory=time.monotonic)

    def __post_init__(self):
        self.left = float(self.per_minute or 0)

    def take(self):
        """(whether a request is allowed, the headers). A bucket that holds a minute's quota and fills evenly."""
        if self.per_minute is None:
            return True, {}
        now = time.monotonic()
        self.left = min(self.per_minute, self.left + (now - self.at) * self.per_minute / 60)
        self.at = now
        is_allowed = self.left >= 1
        if is_allowed:
            self.left -= 1
        reset = int((self.per_minute - self.left) * 60 / self.per_minute) + 1
        headers = {"RateLimit-Limit": self.per_minute, "RateLimit-Remaining": int(self.left), "RateLimit-Reset": reset}
        if not is_allowed:
            headers["Retry-After"] = max(1, int((1 - self.left) * 60 / self.per_minute) + 1)
        return is_allowed, headers


class StrictCloud:
    """Runs from its construction until close(). `company`: one of an import file, changed by `more`."""

    def __init__(self, company=None, directory=None, provider="platform", port=0, address="127.0.0.1", **more):
        self.directory = pathlib.Path(directory or tempfile.mkdtemp(prefix="strict-cloud-"))
        self.clock_offset_s = 0  # of the Date header and of what the cloud stamps
        self.is_reuse_refused = False  # an Idempotency-Key that comes again: 422 in place of a replay
        self.has_tags = False  # ETag and If-None-Match, which the specification does not name
        self.faults = []  # functions: request -> None or an answer in place of that of the API
        self.distortions = []  # functions: (request, answer) -> answer
        company = {**(company or demo_company()), **more}
        self.restaurant = Restaurant(company, self.now, provider)
        self.orders = Orders(self.restaurant, self.now)
        self.handlers = Handlers(self.restaurant, self.orders)
        self.keys, self.requests, self.answered = {}, [], {}
        self.lock = threading.RLock()  # one request at a time; a test that moves orders takes it, too
        self.cafile, pair = make_chain(self.directory, address)
        self.server = HttpsServer(_Handler, pair, port, address)
        self.server.cloud = self
        self.port, self.url = self.server.server_port, self.server.url

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.server.close()

    def now(self):
        return datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=self.clock_offset_s)

    def make_key(self, scopes=SCOPES, per_minute=60_000):
        key = "plat_live_" + secrets.token_hex(20)
        self.keys[key] = Key(list(scopes), per_minute)
        return key

    def behave(self):
        """Ends all misbehaviour."""
        self.faults.clear()
        self.distortions.clear()
        self.clock_offset_s, self.is_reuse_refused = 0, False

    def seen(self, method=None, path=None):
        """The requests so far; `path`: a regular expression of the whole path."""
        with self.lock:
            return [r for r in self.requests
                    if method in (None, r.method) and (path is None or re.fullmatch(path, r.path))]

    # Called by the server's threads.
    def answer(self, request):
        with self.lock:
            self.requests.append(request)
            answer = next(filter(None, (fault(request) for fault in self.faults)), None) or self._admit(request)
            for distort in self.distortions:
                answer = distort(request, answer)
            if self.has_tags and request.method == "GET" and answer.status == 200:
                answer = self._tagged(request, answer)
            request.status = answer.status
            return answer

    @staticmethod
    def _tagged(request, answer):
        tag = f'W/"{hashlib.sha256(answer.body).hexdigest()[:16]}"'
        answer.headers["ETag"] = tag
        is_known = request.headers.get("if-none-match") == tag
        return Answer(304, b"", answer.headers) if is_known else answer

    def _admit(self, request):
        key = self.keys.get(self._credential(request))
        if key is None:
            return problem(request, Refused(401, "unauthorized", "The API key is missing or not valid."))
        is_allowed, quota = key.take()
        try:
            if not is_allowed:
                raise Refused(429, "rate_limit_exceeded", "Too many requests.")
            answer = self._handle(request, key)
        except Refused as refused:
            answer = problem(request, refused)
        answer.headers = {**answer.headers, **quota}
        return answer

    @staticmethod
    def _credential(request):
        bearer = request.headers.get("authorization", "")
        return bearer.removeprefix("Bearer ") if bearer.startswith("Bearer ") else request.headers.get("x-api-key")

    def _handle(self, request, key):
        route, parts = find_route(request.method, request.path)
        if route.scope not in key.scopes:
            raise Refused(403, "insufficient_scope", f"The key does not have the scope {route.scope}.")
        for name, value in request.query.items():
            if name not in route.parameters or not value:
                raise wrong_parameter(name)
        request.members = self._members(request) if request.method in ("POST", "PUT", "PATCH") else {}
        return self._once(request, route, parts, lambda: self._data(route, request, parts))

    @staticmethod
    def _members(request):
        try:
            members = json.loads(request.body, parse_float=decimal.Decimal)
        except ValueError:
            members = None
        if not isinstance(members, dict):
            raise Refused(400, "invalid_json", "The body is not a JSON object.")
        return members

    def _data(self, route, request, parts):
        data = getattr(self.handlers, route.handle)(request, *parts)
        return data if isinstance(data, Answer) else success(data, route.status)

    def _once(self, request, route, parts, work):
        """The effect of a key happens once. What was refused may be sent again."""
        if request.method == "GET" or not request.key:
            return work()
        if route.pattern.startswith("/v1/orders/{id}"):
            parts = [self.orders.find(parts[0]).id, *parts[1:]]  # the public id is the same order
        scope = (request.key, route.method, route.pattern, *parts)
        before = self.answered.get(scope)
        if before:
            body, answer = before
            if self.is_reuse_refused or body != request.members:
                raise key_reused()
            return dataclasses.replace(answer)
        answer = work()
        self.answered[scope] = (request.members, dataclasses.replace(answer))  # which distortions may change
        return answer


class _Handler(Handler):
    def handle_request(self, body):
        cloud = self.server.cloud
        target = urllib.parse.urlsplit(self.path)
        query = urllib.parse.parse_qs(target.query, keep_blank_values=True)
        headers = {name.lower(): value for name, value in self.headers.items()}
        # A parameter that comes twice is refused like one without a value.
        query = {name: values[0] if len(values) == 1 else "" for name, values in query.items()}
        request = Request(self.command, target.path, query, headers, body, time.time())
        answer = cloud.answer(request)
        sent = {"Date": email.utils.format_datetime(cloud.now(), usegmt=True), "Content-Type": "application/json",
                **answer.headers}
        accepts_gzip = "gzip" in headers.get("accept-encoding", "")
        if accepts_gzip and len(answer.body) >= GZIP_FROM_BYTES and "Content-Encoding" not in sent:
            answer.body, sent["Content-Encoding"] = gzip.compress(answer.body, 5), "gzip"
        request.sent_bytes = len(answer.body)
        self.send_response_only(answer.status)
        if answer.status != 304:
            sent["Content-Length"] = len(answer.body)
        for name, value in sent.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(answer.body)


def demo_company(currency="PEN"):
    """The demo restaurant, its prices times 100 where the currency has no decimals."""
    company = json.loads((ROOT / "src/app/demo.json").read_text())["companies"][0]
    if EXPONENTS.get(currency, 2) == 0:
        _scale_prices(company["categories"])
    return {**company, "currency": currency}


def _scale_prices(value):
    for key, below in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(below, (dict, list)):
            _scale_prices(below)
        elif key in ("price", "original_price", "packaging_price", "cost"):
            value[key] = round(below * 100)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--company", help="an import file; the demo restaurant if it is left out")
    parser.add_argument("--currency", default="PEN", help="of the demo restaurant")
    words = parser.parse_args()
    company = demo_company(words.currency)
    if words.company:
        company = json.loads(pathlib.Path(words.company).read_text())["companies"][0]
    with StrictCloud(company, port=words.port) as cloud:
        key_file = cloud.directory / "key"
        key_file.write_text(cloud.make_key())
        print(f"url      {cloud.url}\nkey file {key_file}\nCA file  {cloud.cafile}", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            cloud.server.thread.join()


if __name__ == "__main__":
    main()
