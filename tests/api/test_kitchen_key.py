"""What a key of the role kitchen can do and read: nothing but the kitchen, and of an order no phone, e-mail, address, price or
payment (contract section 20). Walks over every endpoint of the OpenAPI document."""

import contextlib
import json
import re

import pytest

from support.box import ROOT, Box
from support.orders import accepted, item, new_id, path, refused

OF_THE_KITCHEN = {"kitchen:read", "kitchen:write"}
# All that the restaurant and its orders have of people and places, each with a text that nothing else has.
PEOPLE = {
    "phone": "961234577", "email": "planted.rosa@correo.example", "document_number": "70319945", "notes": "PLANTED-NOTES sin ají",
    "address": "Jirón PLANTED-STREET 812", "area": "PLANTED-AREA", "city": "PLANTED-CITY", "reference": "PLANTED-CORNER azul",
    "complement": "PLANTED-FLOOR 5", "latitude": "-12.123457", "longitude": "-77.027497",
    "company phone": "5115557391", "user's phone": "962345681", "user's email": "planted.user@correo.example",
    "delivery_comment": "PLANTED-BELL", "rider's name": "PLANTED-RIDER", "rider's phone": "963456792",
    "payment reference": "PLANTED-VOUCHER", "payment comment": "PLANTED-TABLECLOTH", "discount reason": "PLANTED-BIRTHDAY",
}
MONEY = {"line price": 7731.13, "modifier price": 613.37, "delivery_price": 417.29, "packaging_price": 238.61, "paid": 1093.41,
         "tip": 557.83, "received": 1931.17, "discount": 349.53, "menu price": 864.23, "menu cost": 271.93}
WORDS = ("phone", "mail", "address", "price", "payment", "total", "amount", "tip", "discount", "paid", "cost", "rider", "latitude",
         "document", "currency")


@pytest.fixture(scope="module")
def box():
    box = Box()
    file = json.loads((ROOT / "src/app/demo.json").read_text())
    company = file["companies"][0]
    company["phone"] = "+" + PEOPLE["company phone"]
    guest = company["clients"][0]
    guest |= {"phone_number": PEOPLE["phone"], "email": PEOPLE["email"], "document_number": PEOPLE["document_number"],
              "notes": PEOPLE["notes"]}
    guest["addresses"][0] |= {name: PEOPLE[name] for name in ("address", "area", "city", "reference", "complement")} | {
        "latitude": float(PEOPLE["latitude"]), "longitude": float(PEOPLE["longitude"])}
    company["users"][0] |= {"phone_number": PEOPLE["user's phone"], "email": PEOPLE["user's email"]}
    dish = company["categories"][0]["products"][0]
    dish.pop("variants", None)
    dish |= {"price": MONEY["menu price"], "cost": MONEY["menu cost"]}
    box.data.joinpath("restaurant.json").write_text(json.dumps(file))
    box.bring_in(box.data / "restaurant.json")
    box.start()
    yield box
    assert box.discard() == 0


@pytest.fixture(scope="module")
def owner(box):
    with contextlib.closing(box.client(box.make_key(scopes="all,admin:read,admin:write")["key"])) as client:
        yield client


@pytest.fixture(scope="module")
def kitchen(box):
    uri = json.loads(box.command("pair", "--data", str(box.data), "--as", "kitchen", "--name", "Horno", "--address",
                                 f"127.0.0.1:{box.port}", "--json", "--no-wait").stdout)["uri"]
    with contextlib.closing(box.client()) as nobody:
        key = accepted(nobody.post("/auth/pair", {"code": uri.partition("#c=")[2]}), 201)["key"]
    with contextlib.closing(box.client(key)) as client:
        yield client


@pytest.fixture(scope="module")
def document(owner):
    return owner.get("/v1/openapi.json").json


@pytest.fixture(scope="module")
def order(owner):
    """An order that has all of it."""
    guest = next(one for one in accepted(owner.get("/v1/clients?per_page=100")) if one["email"] == PEOPLE["email"])
    made = owner.place("planted", service_type="DELIVERY", client_id=guest["id"], address_id=guest["addresses"][0]["id"],
                       delivery_price=MONEY["delivery_price"], packaging_price=MONEY["packaging_price"],
                       delivery_comment=PEOPLE["delivery_comment"], comment="rápido")
    made = owner.add(made, item(MONEY["line price"], modifiers=[
        {"name": "Palta", "quantity": 1, "price": MONEY["modifier price"]}]), item(MONEY["line price"], name="Lomo"))
    accepted(owner.post(path(made, "discounts"), {"type": "AMOUNT", "value": MONEY["discount"], "reason": PEOPLE["discount reason"]}))
    accepted(owner.post(path(made, "payments"), {
        "payment_method_code": "cash", "amount": MONEY["paid"], "tip_amount": MONEY["tip"], "received_amount": MONEY["received"],
        "reference": PEOPLE["payment reference"], "comment": PEOPLE["payment comment"]}))
    accepted(owner.put(path(made, "rider"), {"provider": "api", "name": PEOPLE["rider's name"],
                                             "phone_number": PEOPLE["rider's phone"], "country_calling_code": "+51"}))
    return accepted(owner.get(path(made)))


def sums_of(value, name=""):
    """Every amount of a record: what was sent and what follows from it."""
    if isinstance(value, dict):
        return {text for key, inner in value.items() for text in sums_of(inner, key)}
    if isinstance(value, list):
        return {text for inner in value for text in sums_of(inner, name)}
    is_amount = isinstance(value, float) and any(word in name for word in ("price", "total", "amount", "value", "fee", "tip"))
    return {repr(value)} if is_amount and len(repr(value)) >= 6 else set()


@pytest.fixture(scope="module")
def planted(owner, order):
    """Everything that no answer may have, which the owner sees each of."""
    texts = set(PEOPLE.values()) | {repr(amount) for amount in MONEY.values()} | sums_of(order)
    product = next(p for c in accepted(owner.get("/v1/menu"))["categories"] for p in c["products"]
                   if p["variants"][0]["price"] == MONEY["menu price"])
    seen = "".join(owner.get(at).body.decode() for at in (
        path(order), "/v1/clients?per_page=100", "/v1/users?per_page=100", "/v1/company", f"/v1/menu/products/{product['id']}"))
    missing = {text for text in texts if text not in seen}
    assert not missing, f"nobody would see these, so that their absence says nothing: {missing}"
    return texts


def names_in(value):
    if isinstance(value, dict):
        return set(value) | {name for inner in value.values() for name in names_in(inner)}
    return {name for inner in value for name in names_in(inner)} if isinstance(value, list) else set()


def require_clean(planted, answer, where):
    text = answer.body.decode() + json.dumps(answer.headers)
    found = {one for one in planted if one in text}
    assert not found, (where, found, text[:2000])
    if answer.headers.get("content-type", "").startswith("application/json"):
        named = {name for name in names_in(answer.json.get("data")) for word in WORDS if word in name}
        assert not named, (where, named)


def ids_for(owner, order):
    """{the first words of a pattern: {parameter: an id that is there}}, the longest first."""
    menu = accepted(owner.get("/v1/menu"))["categories"]
    dish = next(p for c in menu for p in c["products"] if any(g["modifiers"] for g in p["modifier_categories"]))
    modifier = next(m for g in dish["modifier_categories"] for m in g["modifiers"])
    hook = accepted(owner.post("/v1/webhooks", {"webhook_url": "https://1.1.1.1/planted"}), 201)
    keys = accepted(owner.get("/auth/api-keys"))
    station = accepted(owner.get("/v1/kitchen/stations"))[0]
    return {
        "/v1/orders": {"id": order["id"], "comboId": order["combos"][0]["id"], "paymentId": order["payments"][0]["id"],
                       "discountId": order["discounts"][0]["id"]},
        "/v1/menu/categories": {"id": menu[0]["id"]}, "/v1/menu/modifiers": {"id": modifier["id"]},
        "/v1/menu/products": {"id": dish["id"], "variantId": dish["variants"][0]["id"]},
        "/v1/kitchen/tickets": {"orderId": order["id"]}, "/v1/kitchen/stations": {"id": station["id"]},
        "/v1/clients": {"id": order["client"]["id"]}, "/v1/webhooks": {"id": hook["id"], "deliveryId": new_id()},
        "/auth/api-keys": {"id": keys[0]["id"]}, "/box/devices": {"keyId": keys[0]["id"], "number": "482913"},
        "/problems": {"code": "not_found"}, "/docs/programs": {"file": "till.py"},
        "/kitchen/": {"file": "worker.js"}}


def operations(document):
    for pattern, methods in document["paths"].items():
        for method, operation in methods.items():
            if method in ("get", "put", "post", "patch", "delete") and pattern != "/sandbox/reset":
                needs = operation.get("x-required-scope", [])
                yield method.upper(), pattern, operation, {needs} if isinstance(needs, str) else set(needs)


def examples(operation):
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    return [one["value"] for one in content.get("examples", {}).values() if "value" in one] or [content.get("example", {})]


def test_it_is_refused_everywhere_else_and_reads_nothing_of_a_person_or_of_money(owner, kitchen, document, order, planted):
    ids, asked, allowed, refusals = ids_for(owner, order), 0, set(), 0
    lines = [row["id"] for row in order["combos"]]
    for method, pattern, operation, needs in operations(document):
        known = next((ids[start] for start in sorted(ids, key=len, reverse=True) if pattern.startswith(start)), {})
        at = re.sub(r"\{(\w+)\}", lambda found: known[found[1]], pattern)
        bodies = examples(operation) if "requestBody" in operation else [None]
        if pattern.endswith(("/done", "/undo")):
            bodies = [{"line_ids": lines}, {"line_ids": lines[:1] + [new_id()]}]
        for body in bodies + ([{}] if bodies != [None] else []):
            answer = kitchen.send(method, at, body)
            asked += 1
            if not needs:
                continue  # for everybody; below
            if needs & OF_THE_KITCHEN:
                allowed.add((method, pattern))
                assert answer.status != 403, (method, pattern, answer.body)
            else:
                refused(answer, 403, "insufficient_scope")
                refusals += 1
            require_clean(planted, answer, (method, at, body))
    assert asked > 90 and refusals > 60
    assert {pattern for _, pattern in allowed} == {
        one for one in document["paths"] if one.startswith("/v1/kitchen/") and "/stations/" not in one} | {
        "/v1/menu/products/{id}/sold-out", "/v1/menu/modifiers/{id}/sold-out", "/v1/events"}


def test_all_that_it_may_read_is_clean_with_every_parameter(kitchen, owner, document, order, planted):
    """Lists in all their forms, every page of the feed and of the changes, each event of each kind."""
    done = {"line_ids": [order["combos"][0]["id"]]}
    ticket = f"/v1/kitchen/tickets/{order['id']}"
    for what, body in [("done", done), ("rush", {"on": True}), ("undo", done), ("start", None), ("out", None), ("undo", done)]:
        answer = kitchen.post(f"{ticket}/{what}", body)
        assert answer.status == 200
        require_clean(planted, answer, what)
    reads = [f"/v1/kitchen/tickets?per_page=100{more}" for more in (
        "", "&filter[state]=later,open,ready,cancelled,closed", "&filter[done_since]=2026-01-01T00:00:00Z", "&sort=-order_number")]
    reads += ["/v1/kitchen/menu", "/v1/kitchen/stations", "/v1/kitchen/settings"]
    for at in reads:
        for headers in ({}, {"If-None-Match": 'W/"x"'}, {"Prefer": "wait=0"}):
            answer = kitchen.get(at, **headers)
            assert answer.status == 200, answer.body
            require_clean(planted, answer, at)
    seen = []
    for at in ("/v1/kitchen/changes", "/v1/events"):
        after = None
        while True:
            answer = kitchen.get(at + "?per_page=2" + (f"&after={after}" if after else ""))
            assert answer.status == 200, answer.body
            require_clean(planted, answer, at)
            if not answer.json["data"]:
                break
            seen += [row.get("event_type", "ticket") for row in answer.json["data"]]
            after = answer.json["next"]
    assert {"ticket", "TICKET_UPDATED"} == set(seen)
    for at in ("/v1/kitchen/tickets?filter[status]=PAID", "/v1/kitchen/tickets?search=" + PEOPLE["phone"][:1], "/v1/kitchen/changes?after=x",
               f"/v1/kitchen/tickets/{order['public_id']}/done"):
        require_clean(planted, kitchen.get(at), at)
    refusal = kitchen.post(f"{ticket}/done", {"line_ids": [new_id()]})
    assert refusal.status == 422
    require_clean(planted, refusal, "done")


def test_what_needs_no_key_shows_nothing_of_the_restaurant(box, document, planted):
    with contextlib.closing(box.client()) as nobody:
        open_paths = {pattern for _, pattern, operation, _ in operations(document) if operation.get("security") == []}
        assert {one for one in open_paths if one.startswith("/v1/")} == {"/v1/openapi.json"}
        for at in sorted(one for one in open_paths if "{" not in one and "get" in document["paths"][one]):
            require_clean(planted, nobody.get(at), at)
