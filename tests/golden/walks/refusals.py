"""Each route asked wrongly in each way that can be derived from its row in routes.txt."""

import re

from golden.walks.common import NOBODY, demo
from support.box import free_port
from support.routes import ALL_ROUTES, METHODS

LISTS = ["/auth/api-keys", "/v1/orders", "/v1/menu", "/v1/users", "/v1/clients", "/v1/company/payment-methods",
         "/v1/company/tables"]
WITH_BODY = ("POST", "PUT", "PATCH")
PUBLIC = [route for route in ALL_ROUTES if route.access not in ("local", "open")]
# A body that each route's reader gets through, with one field too many.
FIELDS = {
    "/auth/api-keys": {"name": "x", "scopes": ["orders:read"]}, "/v1/orders": {"service_type": "ONSITE"},
    "/v1/orders/{id}/status": {"status": "READY"}, "/v1/orders/{id}/cancel": {"reason": "x"},
    "/v1/orders/{id}/combos": {"combos": [{"product_name": "x", "quantity": 1, "variant_price": 1}]},
    "/v1/orders/{id}/payments": {"payment_method_code": "cash", "amount": 1},
    "/v1/orders/{id}/discounts": {"type": "AMOUNT", "value": 1}, "/v1/orders/{id}/rider": {"name": "Beto"},
    "/v1/orders/{id}/delivery-status": {"delivery_status": "DELIVERED"},
    "/v1/menu/products": {"name": "x", "price": 1, "category_name": "x"},
    "/v1/menu/products/{id}/variants": {"name": "x", "price": 1}}


def options(box):
    box.sandbox_port = free_port()
    return ["--sandbox_listen", f"127.0.0.1:{box.sandbox_port}"]


def everyone(r):
    demo(r)
    r.client("tester", r.box.make_key(env="test")["key"], r.box.sandbox_port)
    r.client("nobody at the sandbox", port=r.box.sandbox_port)
    r.client("reader of clients", r.box.make_key("clients:read")["key"])
    r.client("reader of the menu", r.box.make_key("menu:read")["key"])
    r.client("tester at the live address", r.clients["tester"][0])
    r.client("owner at the sandbox", r.clients["owner"][0], r.box.sandbox_port)
    revoked = r.box.make_key(name="revoked")
    r.box.command("keys", "revoke", revoked["id"], "--data", str(r.box.data))
    r.client("someone whose key is revoked", revoked["key"])


def wrong_methods(r):
    patterns = sorted({route.pattern for route in ALL_ROUTES if not route.access.endswith("@sandbox")})
    for pattern in patterns:
        path = re.sub(r"\{\w+\}", NOBODY, pattern)
        has = {route.method for route in ALL_ROUTES if route.pattern == pattern} | {"HEAD"}
        other = next(method for method in METHODS if method not in has)
        for method in [other, "OPTIONS", "TRACE"]:
            r.ask(f"{method} {pattern}", method, path, who="nobody")


def credentials(r, route, path, who):
    r.ask(f"{route}: no key", route.method, path, who="nobody at the sandbox" if who == "tester" else "nobody")
    if who == "owner":
        weak = "reader of the menu" if route.access == "clients:read" else "reader of clients"
        r.ask(f"{route}: a key without the scope", route.method, path, who=weak)
    if who == "owner" and route.access.startswith(("api-keys", "key")):
        r.ask(f"{route}: a revoked key", route.method, path, who="someone whose key is revoked")
        r.ask(f"{route}: a key of the sandbox", route.method, path, who="tester at the live address")
        r.ask(f"{route}: a slash at the end", route.method, path + "/", who=who)


def bodies(r, route, path, who):
    # Each is another request: the same key would be refused as one that came before.
    keys = (f"Idempotency-Key: wrong-{number}" for number in range(100))

    def send(title, body, *fields):
        again = [next(keys)] if route.replay == "required" else []
        r.ask(f"{route}: {title}", route.method, path, body, *again, *fields, who=who)

    send("no body", None, "Content-Length: 0")
    send("a body that is no JSON", b"{")
    send("an empty object", b"{}") if route.access != "orders:write@sandbox" else None
    if route.replay == "honoured":
        r.ask(f"{route}: an Idempotency-Key", route.method, path, [], "Idempotency-Key: honoured", who=who)
        r.ask(f"{route}: the same Idempotency-Key", route.method, path, {"a": 1}, "Idempotency-Key: honoured", who=who)
    send("a list", b"[]")
    send("text", b"{}", "Content-Type: text/plain")
    send("compressed", b"{}", "Content-Encoding: gzip")
    send("a member twice", b'{"a":1,"a":2}')
    send("bytes that are no UTF-8", b'{"a":"\xff"}')
    wrong = {name: {} for name in FIELDS.get(route.pattern, {"name": 1})}
    send("fields of wrong types", wrong)
    known = FIELDS.get(route.pattern, {})
    send("a field that it does not know", {**known, "colour": "red"})
    if route.replay == "required":
        r.ask(f"{route}: no Idempotency-Key", route.method, path, wrong, "Idempotency-Key:", who=who)
    if route.replay != "-":
        r.ask(f"{route}: a long Idempotency-Key", route.method, path, known, "Idempotency-Key: " + "k" * 256, who=who)


def walk(r):
    everyone(r)
    for route in PUBLIC:
        who = "tester" if route.access.endswith("@sandbox") else "owner"
        path = re.sub(r"\{\w+\}", NOBODY, route.pattern)
        credentials(r, route, path, who)
        if route.method in WITH_BODY:
            bodies(r, route, path, who)
        elif "{" in route.pattern:
            r.ask(f"{route}: an id of nobody", route.method, path, who=who)
        if "{" in route.pattern:
            r.ask(f"{route}: an id that is none", route.method, re.sub(r"\{\w+\}", "nonsense", route.pattern),
                  FIELDS.get(route.pattern) if route.method in WITH_BODY else None, who=who)
        right = FIELDS.get(route.pattern, {}) if route.method in WITH_BODY else None
        again = ["Idempotency-Key: parameter"] if route.replay == "required" else []
        r.ask(f"{route}: a parameter that it does not know", route.method, path + "?nonsense=1", right, *again, who=who)
        r.ask(f"{route}: HTML is wanted", route.method, path, right,
              *(["Idempotency-Key: html"] if again else []), "Accept: text/html", who=who)
        if route.method == "GET":
            short = "?per_page=1&page=99" if route.pattern in LISTS else ""
            r.ask(f"{route}: If-None-Match that is no tag", "GET", path + short, None, "If-None-Match: x", who=who)
    wrong_methods(r)
    unknown_fields_at_the_sandbox(r)
    keys_in_other_forms(r)


def unknown_fields_at_the_sandbox(r):
    for route in PUBLIC:
        if route.pattern in FIELDS and route.method in WITH_BODY:
            r.ask(f"{route}: a field that the sandbox does not know", route.method,
                  re.sub(r"\{\w+\}", NOBODY, route.pattern), {**FIELDS[route.pattern], "naem": "red"},
                  "Idempotency-Key: unknown", who="tester")
    r.ask("a field with a name like a known one", "POST", "/v1/orders", {"service_type": "ONSITE", "order_titel": "x"},
          who="tester")
    r.ask("a live key at the sandbox", "GET", "/v1/orders", who="owner at the sandbox")
    r.ask("the sandbox's own route at the live address", "POST", "/sandbox/reset", {})


def keys_in_other_forms(r):
    key = r.clients["owner"][0]
    other = key[:-1] + ("a" if key[-1] != "a" else "b")
    r.names.known[other] = "{a key with a wrong checksum}"
    for title, *fields in [
            ("as a bearer", f"Authorization: Bearer {key}"),
                ("as a bearer in small letters", f"Authorization: bearer {key}"),
            ("twice the same", f"Authorization: Bearer {key}", f"X-API-Key: {key}"),
            ("two that differ", f"Authorization: Bearer {key}", "X-API-Key: x"),
            ("a wrong checksum", f"X-API-Key: {other}"), ("nonsense", "X-API-Key: nonsense"),
            ("an empty one", "X-API-Key:"), ("a bearer of nothing", "Authorization: Bearer"),
            ("another scheme", "Authorization: Digest x")]:
        r.ask(f"a key {title}", "GET", "/v1/company/payment-methods?per_page=1", None, *fields, who="nobody")
    for path, method in [("/orders", "GET"), ("/v1/orders/", "GET"), (f"/v1/orders/{NOBODY}/accept", "POST"),
                         (f"/v1/orders/{NOBODY}/confirm", "POST"), (f"/v1/orders/{NOBODY}/reject", "POST"),
                         ("/v1/nothing", "GET"), ("/V1/orders", "GET")]:
        r.ask(f"no such path: {method} {path}", method, path, {} if method == "POST" else None)
