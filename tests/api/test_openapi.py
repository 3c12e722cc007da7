"""src/web/openapi.json says all that the server does, and nothing else; its examples are true."""

import contextlib
import copy
import json
import re
import urllib.parse

import pytest

from support import routes
from support import pairing
from support.box import ROOT, Box, Client, free_port
from support.devices import Devices
from support.openapi import DOCUMENT, FILE, OPERATIONS, breaches, resolve, undocumented
from support.orders import Restaurant, new_id, new_key
from support.receiver import LOOPBACK, Receiver
from support.waiting import wait_until

COMPONENTS = DOCUMENT["components"]
ANY_REQUEST = COMPONENTS["responses"]["AnyRequest"]
BY_ID = {operation.id: operation for operation in OPERATIONS}
UNPROCESSABLE = 422


def words(file, pattern):
    found = re.findall(pattern, (ROOT / "src" / file).read_text())
    assert found, file
    return found


def array(file, name):
    """The texts of a constexpr array of names."""
    body = re.search(name + r"\s*=\s*\{(.*?)\};", (ROOT / "src" / file).read_text(), re.S)[1]
    return re.findall(r'"([^"]*)"', body)


def references(node):
    if isinstance(node, dict):
        if "$ref" in node:
            yield node["$ref"]
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


# The document and the program

def golden():
    return [r for r in routes.ALL_ROUTES if r.access != "local"]


def test_it_names_every_route_and_no_other():
    assert {(o.method.upper(), o.path) for o in OPERATIONS} == {(r.method, r.pattern) for r in golden()}


def test_it_names_the_scope_of_every_route():
    for route in golden():
        operation = next(o for o in OPERATIONS if (o.method.upper(), o.path) == (route.method, route.pattern))
        scope = operation.row.get("x-required-scope")
        if route.access == "open":
            assert operation.security == [] and scope is None, route
        elif route.access == "key":
            assert set(scope) <= set(routes.SCOPES), route
            assert operation.security == DOCUMENT["security"], route
        else:
            assert scope == route.access.removesuffix("@sandbox"), route
            assert f"Scope: `{scope}`." in operation.row["description"], route
            assert operation.security == DOCUMENT["security"], route


RULES_OF_STATE = {"order_not_editable", "order_cancelled", "order_closed", "order_has_active_payments", "use_cancel_endpoint",
                  "last_managing_key", "cursor_expired"}


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_it_names_the_refusals_that_no_schema_says(operation):
    """One line each, which begins with the code: one that the program has, and every rule of state of the operation."""
    text = operation.row["description"].partition("**Refused**")[2]
    begins = re.findall(r"^- (?:403 )?`(\w+)`(?:, `(\w+)`)?", text, re.M)
    assert len(begins) == len(re.findall("^- (?!With )", text, re.M)), text
    named = {code for codes in begins for code in codes if code}
    codes = set(operation.row.get("x-problem-codes", []))
    assert named <= codes | {code for _, code in words("base/problem.cc", r"case FieldCode::(k\w+):\s+return \"(\w+)\"")}
    assert RULES_OF_STATE & codes <= named


def test_each_kind_of_message_has_an_entry_with_its_data():
    entries = DOCUMENT["webhooks"]
    assert set(entries) == set(COMPONENTS["schemas"]["WebhookKind"]["enum"])
    for kind, entry in entries.items():
        schema = resolve(entry["post"]["requestBody"]["content"]["application/json"]["schema"])
        assert kind in schema["properties"]["event_type"]["enum"]
        assert set(schema["properties"]) == set(COMPONENTS["schemas"]["WebhookMessage"]["properties"])
        assert entry["post"]["responses"] == {"2XX": {"$ref": "#/components/responses/MessageTaken"},
                                              "4XX": {"$ref": "#/components/responses/MessageNotTaken"}}
    (sent,) = DOCUMENT["paths"]["/v1/webhooks"]["post"]["callbacks"]["event"].values()
    for example in sent["post"]["requestBody"]["content"]["application/json"]["examples"].values():
        kind = example["value"]["event_type"]
        assert breaches(entries[kind]["post"]["requestBody"]["content"]["application/json"]["schema"], example["value"]) == []


def test_what_an_event_about_the_menu_carries_has_the_fields_of_a_product():
    schemas = COMPONENTS["schemas"]
    fields = dict(schemas["ProductChanged"]["properties"])
    assert "required" not in schemas["ProductChanged"] and fields.pop("created") and fields.pop("updated")
    assert fields == schemas["Product"]["properties"]


def test_each_event_type_names_the_schema_of_its_data():
    schemas = COMPONENTS["schemas"]
    named = schemas["Event"]["properties"]["data"]["x-schemas"]
    assert set(named) == set(schemas["EventType"]["enum"])
    for kind, schema in named.items():
        message = resolve(DOCUMENT["webhooks"][kind]["post"]["requestBody"]["content"]["application/json"]["schema"])
        assert message["properties"]["data"] == {"$ref": f"#/components/schemas/{schema}"}


def test_each_message_that_is_sent_is_as_its_entry_says():
    box = Box(options=LOOPBACK)
    box.bring_in("demo")
    box.start()
    kinds = ["ORDER_CREATED", "ORDER_UPDATED", "ORDER_STATUS_CHANGED", "ORDER_CANCELLED", "ORDER_PAID", "PRODUCT_CREATED",
             "PRODUCT_UPDATED"]
    with Receiver() as receiver, contextlib.closing(box.client(box.make_key()["key"])) as api:
        hook = api.post("/v1/webhooks", {"webhook_url": receiver.url, "events": kinds}).data
        order = api.add(api.place(), {"product_name": "Causa", "quantity": 1, "variant_price": 24})
        api.pay(order, 24)
        api.advance(order, "READY")
        assert api.post(f"/v1/orders/{api.place()['id']}/cancel", {"reason": "A try."}).status == 200
        for price in (24, 25):
            assert api.put("/v1/menu/products", {"products": [
                {"sku": "NEW-1", "name": "Causa nueva", "category_name": "Causas", "price": price}]}).status == 200
        product = api.get("/v1/menu").data["categories"][0]["products"][0]["id"]
        assert api.patch(f"/v1/menu/products/{product}", {"description": "Con ají"}).status == 200
        assert api.post(f"/v1/webhooks/{hook['id']}/test", {}).status == 200
        wanted = {*kinds, "WEBHOOK_TEST"}
        wait_until(lambda: {each.json["event_type"] for each in receiver.requests} == wanted, lambda: len(receiver.requests))
        messages = [each.json for each in receiver.requests]
        events = api.get("/v1/events?per_page=100").json["data"]
    assert box.discard() == 0
    for event in events:
        schema = COMPONENTS["schemas"]["Event"]["properties"]["data"]["x-schemas"][event["event_type"]]
        assert breaches({"$ref": f"#/components/schemas/{schema}"}, event["data"]) == [], event
        assert undocumented({"$ref": f"#/components/schemas/{schema}"}, event["data"]) == [], event
    for message in messages:
        body = DOCUMENT["webhooks"][message["event_type"]]["post"]["requestBody"]["content"]["application/json"]
        assert breaches(body["schema"], message) == [], message
        assert undocumented(body["schema"], message) == [], message
        if message["event_type"].startswith("PRODUCT_"):
            product = {"$ref": "#/components/schemas/Product"}
            assert set(message["data"]) == {"created", "updated"} or breaches(product, message["data"]) == [], message


def test_it_says_where_an_idempotency_key_is_honoured_and_required():
    for route in golden():
        operation = next(o for o in OPERATIONS if (o.method.upper(), o.path) == (route.method, route.pattern))
        key = next((p for p in operation.parameters if p["name"] == "Idempotency-Key"), None)
        said = "-" if key is None else "required" if key.get("required") else "honoured"
        assert said == route.replay, route


def test_it_names_the_parameters_of_each_path():
    for operation in OPERATIONS:
        named = [p["name"] for p in operation.parameters if p["in"] == "path"]
        assert named == re.findall(r"\{(\w+)\}", operation.path), operation
        everything = [(p["in"], p["name"]) for p in operation.parameters]
        assert len(everything) == len(set(everything)), operation


def test_it_names_every_scope_and_no_other():
    scopes = dict(words("auth/scopes.h", r'ScopeRow\{Scope::k\w+,\s*"([^"]+)",\s*"([^"]+)"\}'))
    assert DOCUMENT["x-scopes"] == scopes
    assert COMPONENTS["schemas"]["Scope"]["enum"] == list(scopes)


def problem_rows():
    return {code: int(status) for code, status in
            words("wire/problem.cc", r'ProblemRow\{Problem::k\w+, "(\w+)", (\d+)\}')}


def test_it_names_every_error_code_and_no_other():
    assert set(COMPONENTS["schemas"]["ProblemCode"]["enum"]) == set(problem_rows())


def test_it_names_every_code_of_a_wrong_field_and_no_other():
    assert COMPONENTS["schemas"]["FieldErrorCode"]["enum"] == words("base/problem.cc", r'case FieldCode::k\w+:\s*return "(\w+)";')


def test_every_error_code_stands_under_its_status():
    rows = problem_rows()
    seen = set()
    for operation in OPERATIONS:
        statuses = {s for s in operation.responses if s != "default"}
        for code in operation.codes:
            assert str(rows[code]) in statuses, (operation, code)
        for status, response in operation.responses.items():
            if "application/problem+json" not in response.get("content", {}):
                continue
            codes = set(response["x-problem-codes"])
            if status == "default":
                seen |= codes
                assert not codes & operation.codes, operation
                continue
            assert {rows[c] for c in codes} == {int(status)}, (operation, status)
            assert codes & operation.codes, f"{operation}: no code for {status}"
        seen |= operation.codes
    assert seen == set(rows)


@pytest.mark.parametrize("name, response", COMPONENTS["responses"].items(), ids=list(COMPONENTS["responses"]))
def test_a_problem_response_has_an_example_for_each_code(name, response):
    content = response.get("content", {}).get("application/problem+json")
    if content is None:
        assert "x-problem-codes" not in response
        return
    assert list(content["examples"]) == response["x-problem-codes"]
    for code, example in content["examples"].items():
        value = example["value"]
        assert value["code"] == code and value["type"].endswith("/" + code)
        assert value["title"] == code.replace("_", " ").title()
        assert value["status"] == problem_rows()[code]


def test_its_words_are_those_of_the_program():
    schemas = COMPONENTS["schemas"]
    assert schemas["OrderStatus"]["enum"] == array("orders/order.h", "kStatusNames")
    assert schemas["ServiceType"]["enum"] == array("orders/order.h", "kServiceTypeNames")
    assert schemas["DeliveryStatus"]["enum"] == array("orders/order.h", "kDeliveryStatusNames")
    assert schemas["DiscountType"]["enum"] == array("orders/order.h", "kDiscountTypeNames")
    assert schemas["Change"]["enum"] == array("events/types.h", "kChangeNames")
    assert schemas["EventType"]["enum"] == words("events/types.h", r'TypeRow\{Type::k\w+, "(\w+)"')
    subjects = words("events/types.h", r'TypeRow\{Type::k\w+, "\w+", "(\w+)"')
    assert schemas["EventSubject"]["properties"]["type"]["enum"] == list(dict.fromkeys(subjects))
    kinds = words("webhooks/kinds.h", r'KindRow\{Kind::k\w+, "(\w+)"')
    assert schemas["WebhookKind"]["enum"] == kinds and schemas["WebhookEvent"]["enum"] == [*kinds, "*"]
    assert schemas["DeliveryOutcome"]["enum"] == array("webhooks/subscription.h", "kOutcomeNames")
    assert ["", *schemas["SuspensionReason"]["enum"]] == array("webhooks/subscription.h", "kSuspendedNames")
    assert schemas["DeliveryState"]["enum"] == array("webhooks/delivery.h", "kStateNames")
    assert schemas["Tier"]["enum"] == array("auth/key.h", "kTierNames")
    assert schemas["User"]["properties"]["role"]["enum"] == array("users/users.h", "kRoles")
    assert schemas["StoreState"]["properties"]["store_status"]["enum"] == array("delivery/provider.h", "kStoreStatusNames")
    reasons = ["" if reason is None else reason for reason in schemas["StoreState"]["properties"]["reason"]["enum"]]
    assert sorted(reasons) == sorted(array("delivery/provider.h", "kReasonNames"))
    body = re.search(r"ResultName\(Effect effect\) \{(.*?)^\}", (ROOT / "src/menu/api.cc").read_text(), re.S | re.M)[1]
    assert schemas["UpsertRow"]["properties"]["result"]["enum"] == list(dict.fromkeys(re.findall(r'return "(\w+)"', body)))
    ((first, second),) = words("menu/json.cc", r'json\.OneOf\("type", \{"(\w+)", "(\w+)"\}')
    assert schemas["ModifierCategory"]["properties"]["type"]["enum"] == [first, second]
    assert schemas["TicketState"]["enum"] == array("kitchen/ticket.h", "kStateNames")
    assert schemas["KitchenAlert"]["properties"]["kind"]["enum"] == array("kitchen/changes.cc", "kKinds")
    codes = re.search(r"kCodes = \{(.*?)\};", (ROOT / "src/cloud/status.cc").read_text(), re.S)[1]
    assert set(schemas["SyncCheck"]["properties"]["code"]["enum"]) == set(re.findall(r'"(\w+)"\}', codes))
    body = re.search(r"Name\(Internet::State state\) \{.*?\n\}", (ROOT / "src/net/internet.cc").read_text(), re.S)[0]
    assert set(schemas["InternetCheck"]["properties"]["code"]["enum"]) == set(re.findall(r'"(\w+)"', body))
    checks = {name for file in ["app/app.cc", "app/sqlite/storage.cc", "app/instance.cc", "app/neighbours.cc", "ops/health.cc"]
              for name in words(file, r'\.name = "(\w+)",\s*\.ok')}
    assert set(schemas["Checks"]["properties"]) == checks


def test_every_enum_of_an_answer_is_one_of_those():
    """A new one is compared with the program above, then named here."""
    named = {"ProblemCode", "FieldErrorCode", "OrderStatus", "ServiceType", "DeliveryStatus", "DiscountType", "ModifierCategory.type",
             "UpsertRow.result", "User.role", "StoreState.store_status", "StoreState.reason", "EventSubject.type", "EventType",
             "Change", "WebhookKind", "WebhookEvent", "DeliveryOutcome", "SuspensionReason", "DeliveryState", "Scope", "Tier", "Role",
             "ApiKey.mode", "ShownApiKey.mode", "Readiness.status", "TicketState", "KitchenAlert.kind", "SyncCheck.code", "InternetCheck.code"}
    found = set()
    for name, schema in COMPONENTS["schemas"].items():
        if schema.get("additionalProperties") is False or name.endswith("Message"):
            continue  # what is sent by clients; messages, each with its own kinds
        found |= {name} if "enum" in schema else set()
        found |= {f"{name}.{field}" for field, row in schema.get("properties", {}).items() if "enum" in row}
    assert found == named


def test_answers_may_get_new_fields():
    """A schema without them is one that clients send: their generated clients refuse what they do not know."""
    sent = set()
    for operation in OPERATIONS:
        pending = [operation.row.get("requestBody", {})]
        while pending:
            for reference in references(pending.pop()):
                if reference not in sent:
                    sent.add(reference)
                    pending.append(resolve({"$ref": reference}))
    closed = {f"#/components/schemas/{name}" for name, schema in COMPONENTS["schemas"].items()
              if schema.get("additionalProperties") is False}
    assert closed <= sent


def test_no_answer_requires_a_part_that_may_be_null():
    """Classes that the generator makes for Java refuse null for a required field whose schema is a part of its own."""
    def is_part_or_null(schema):
        return any(each == {"type": "null"} for each in schema.get("oneOf", []))

    def required(node, where):
        if isinstance(node, dict):
            for name in node["required"] if isinstance(node.get("required"), list) else []:
                if is_part_or_null(node.get("properties", {}).get(name, {})):
                    yield f"{where}.{name}"
            for name, each in node.items():
                yield from required(each, f"{where}.{name}")
        elif isinstance(node, list):
            for each in node:
                yield from required(each, where)
    assert list(required(COMPONENTS["schemas"], "")) == []


def test_every_part_is_used_and_there():
    used = set(references(DOCUMENT))
    for reference in used:
        resolve({"$ref": reference})
    for kind, parts in COMPONENTS.items():
        if kind == "securitySchemes":
            continue
        for name in parts:
            assert f"#/components/{kind}/{name}" in used, name


def test_operations_have_ids_of_their_own_and_known_tags():
    ids = [o.id for o in OPERATIONS]
    assert len(ids) == len(set(ids))
    for operation in OPERATIONS:
        assert set(operation.row["tags"]) <= {t["name"] for t in DOCUMENT["tags"]}


# Examples

def media():
    """(where, schema, example) of every body of the document."""
    for operation in OPERATIONS:
        contents = [("request", operation.row.get("requestBody", {}))]
        contents += [(status, response) for status, response in operation.responses.items()]
        for where, holder in contents:
            for kind, content in holder.get("content", {}).items():
                examples = [resolve(e)["value"] for e in content.get("examples", {}).values()]
                if "example" in content:
                    examples.append(content["example"])
                yield f"{operation} {where} {kind}", content["schema"], examples


def test_every_body_has_examples_that_agree_with_its_schema():
    for where, schema, examples in media():
        assert examples, where
        for example in examples:
            assert breaches(schema, example) == [], where
            assert undocumented(schema, example) == [], where


def test_every_parameter_and_header_has_an_example_that_agrees_with_its_schema():
    for operation in OPERATIONS:
        for parameter in operation.parameters:
            assert breaches(parameter["schema"], parameter["example"]) == [], (operation, parameter["name"])
    for name, header in COMPONENTS["headers"].items():
        assert breaches(header["schema"], header["example"]) == [], name


# Examples, replayed

@pytest.fixture(scope="module")
def own_box():
    """A box whose sandbox is free for use: examples make products and keys."""
    box = Box()
    box.sandbox_port = free_port()
    box.options += ["--sandbox-listen", f"127.0.0.1:{box.sandbox_port}"]
    box.start()
    yield box
    assert box.discard() == 0


@pytest.fixture(scope="module")
def own_key(own_box):
    return own_box.make_key(env="test")["key"]


@pytest.fixture(scope="module")
def powerless_key(own_box):
    """A key whose one scope opens nothing."""
    return own_box.make_key("reports:read", env="test")["key"]


@pytest.fixture
def sandbox(own_box):
    """sandbox(key): a client of it."""
    with contextlib.ExitStack() as stack:
        def client(key=None):
            return stack.enter_context(contextlib.closing(Client(own_box.sandbox_port, key, str(own_box.cafile))))
        yield client


@pytest.fixture
def own_api(sandbox, own_key):
    return sandbox(own_key)


@pytest.fixture(scope="module")
def own_house(own_box):
    demo = json.loads((ROOT / "src/app/demo.json").read_text())["companies"][0]
    return Restaurant(demo, own_box)


class Stage:
    """Makes the records that the examples of an operation speak of; returns its path's parameters."""

    def __init__(self, api, house):
        self.api, self.house = api, house

    def order(self):
        order = self.api.place(service_type="DELIVERY", client_id=self.house.client["id"],
                               address_id=self.house.address["id"], delivery_price=6.5)
        return self.api.add(order, {"product_name": "Ceviche", "quantity": 2, "variant_price": 38})

    def parameters(self, operation):
        prepare = getattr(self, operation.id, None)
        if prepare:
            return prepare()
        if operation.path.startswith("/v1/orders/{id}"):
            return {"id": self.order()["id"]}
        if operation.path.startswith("/v1/kitchen/tickets/{orderId}"):
            order = self.order()
            return {"orderId": order["id"], "line": order["combos"][0]["id"]}
        if operation.path.startswith("/auth/api-keys/{id}"):
            return {"id": self.key()["id"]}
        if operation.path.startswith("/v1/webhooks"):
            return self.webhook(operation.path)
        if operation.path.startswith("/v1/menu/modifiers"):
            return {"id": next(m["id"] for c in self.api.get("/v1/menu").data["categories"] for p in c["products"]
                               for g in p["modifier_categories"] for m in g["modifiers"])}
        return {}

    def key(self):
        answer = self.api.post("/auth/api-keys", {"name": "example", "scopes": ["orders:read"]}, new_key())
        assert answer.status == 201
        return answer.data

    def webhook(self, path):
        """A company has at most 20: those of other examples go."""
        for former in self.api.get("/v1/webhooks?per_page=100").data:
            self.api.send("DELETE", f"/v1/webhooks/{former['id']}")
        if "{id}" not in path:
            return {}
        made = self.api.post("/v1/webhooks", {"webhook_url": "https://receiver.example/comanda"}, new_key())
        if "{deliveryId}" not in path:
            return {"id": made.data["id"]}
        tried = self.api.post(f"/v1/webhooks/{made.data['id']}/test", {}, new_key())
        return {"id": made.data["id"], "deliveryId": tried.data["id"]}

    def getOrder(self):
        return {"id": self.order()["public_id"]}

    def cancelCombo(self):
        order = self.order()
        return {"id": order["id"], "comboId": order["combos"][0]["id"]}

    def cancelPayment(self):
        order = self.api.pay(self.order(), 5)
        return {"id": order["id"], "paymentId": order["payments"][0]["id"]}

    def removeDiscount(self):
        order = self.order()
        answer = self.api.post(f"/v1/orders/{order['id']}/discounts", {"type": "AMOUNT", "value": 1})
        return {"id": order["id"], "discountId": answer.data["discounts"][0]["id"]}

    def assignRider(self):
        return {"id": self.api.advance(self.order(), "PREPARING")["id"]}

    def reportDelivery(self):
        order = self.order()
        answer = self.api.patch(f"/v1/orders/{order['id']}/delivery-status",
                                {"delivery_status": "DRIVER_ARRIVED_AT_STORE"})
        assert answer.status == 200
        return {"id": order["id"]}

    def readEvents(self):
        # A cursor belongs to the database that gave it: the document's example is of no other box.
        cursor = self.api.get("/v1/orders").headers["x-event-cursor"]
        self.order()
        return {"after": cursor}

    followKitchen = readEvents

    def getCategory(self):
        return {"id": self.api.get("/v1/menu").data["categories"][0]["id"]}


def path_of(operation, staged, query=None):
    path = operation.path
    for parameter in operation.parameters:
        if parameter["in"] == "path":
            value = staged.get(parameter["name"], parameter["example"])
            path = path.replace("{" + parameter["name"] + "}", urllib.parse.quote(value, safe=""))
    return path + ("?" + urllib.parse.urlencode(query) if query else "")


def in_url(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def queries(operation, staged):
    """The parameters' examples, each alone and all together; one that is about another never without it."""
    about = {"filter[day]": "filter[start_date]"}
    examples = {p["name"]: staged.get(p["name"], in_url(p["example"]))
                for p in operation.parameters if p["in"] == "query"}
    yield {}
    for name, value in examples.items():
        yield {name: value, **({about[name]: examples[about[name]]} if name in about else {})}
    if len(examples) > 1:
        yield examples


REPLAYED = [(o, name, body) for o in OPERATIONS for name, body in o.examples()]


@pytest.mark.parametrize("operation, name, body", REPLAYED, ids=[f"{o}-{n}" for o, n, _ in REPLAYED])
def test_an_example_gets_the_answer_that_is_promised(own_box, own_api, own_house, operation, name, body):
    staged = Stage(own_api, own_house).parameters(operation)
    if operation.id == "pair":  # the document's code is nobody's
        body = {"code": pairing.read(pairing.make_uri(own_box, "--env", "test"))["c"]}
    if "line" in staged and "line_ids" in body:
        body = {"line_ids": [staged["line"]]}
    devices = Devices(own_api)
    staged, body = devices.stage(operation, staged, body)
    for query in queries(operation, staged):
        headers = new_key() if operation.method != "get" else {}
        answer = own_api.send(operation.method.upper(), path_of(operation, staged, query), body, headers)
        promised = sorted(s for s in operation.responses if s.startswith("2"))
        assert str(answer.status) == promised[-1], (answer.status, answer.body, query)
        operation.check(answer)
        devices.clean(operation, answer)


WITH_TAG = [o for o in OPERATIONS if "304" in o.responses]


@pytest.mark.parametrize("operation", WITH_TAG, ids=str)
def test_a_tag_is_answered_and_saves_the_answer(own_api, own_house, operation):
    path = path_of(operation, Stage(own_api, own_house).parameters(operation))
    for _ in range(2):  # keys are shown with their last use, which counts by the minute
        first = own_api.get(path)
        assert first.status == 200 and "etag" in first.headers
        answer = own_api.get(path, **{"If-None-Match": first.etag})
        if answer.status == 304:
            break
    assert answer.status == 304
    operation.check(answer)


def test_every_get_has_a_tag_but_those_that_tell_of_the_moment():
    without = {o.id for o in OPERATIONS if o.method == "get" and "304" not in o.responses}
    assert without == {"health", "readiness", "metrics"}


@pytest.mark.parametrize("operation", [o for o in OPERATIONS if not o.security and o.method == "get"], ids=str)
def test_a_page_takes_no_parameter_it_does_not_know_and_a_monitor_any(own_box, operation):
    with contextlib.closing(own_box.client()) as nobody:
        answer = nobody.get(path_of(operation, {}, {"nonsense": "1"}))
    if operation.id in ("health", "readiness", "metrics"):
        assert answer.status == 200
    else:
        refused_as_documented(operation, answer, 400, "invalid_parameter")


WITH_MATCH = [o for o in OPERATIONS if any(p["name"] == "If-Match" for p in o.parameters)]


@pytest.mark.parametrize("operation", WITH_MATCH, ids=str)
def test_another_version_is_refused_as_documented(own_api, own_house, operation):
    staged = Stage(own_api, own_house).parameters(operation)
    answer = own_api.send(operation.method.upper(), path_of(operation, staged), operation.examples()[0][1],
                          {"If-Match": "\"99.1\"", **new_key()})
    assert answer.status == 412, answer.body
    operation.check(answer)


# Refusals

KEYED = [o for o in OPERATIONS if o.security]


def send(client, operation, staged=None, query=None, body=None, **headers):
    has_body = "requestBody" in operation.row
    if has_body and body is None:
        body = operation.examples()[0][1]
    return client.send(operation.method.upper(), path_of(operation, staged or {}, query), body if has_body else None,
                       {"Idempotency-Key": new_id(), **headers} if operation.method != "get" else headers)


def refused_as_documented(operation, answer, status, code):
    assert (answer.status, answer.code) == (status, code), answer.body
    operation.check(answer)


@pytest.mark.parametrize("operation", KEYED, ids=str)
def test_who_has_no_right_is_refused_as_documented(sandbox, powerless_key, operation):
    refused_as_documented(operation, send(sandbox(), operation), 401, "unauthorized")
    refused_as_documented(operation, send(sandbox(powerless_key), operation), 403, "insufficient_scope")


@pytest.mark.parametrize("operation", KEYED, ids=str)
def test_a_bad_query_is_refused_as_documented(own_api, operation):
    refused_as_documented(operation, send(own_api, operation, query={"nonsense": "1"}), 400, "invalid_parameter")


@pytest.mark.parametrize("operation", [o for o in KEYED if any(p["name"] == "page" for p in o.parameters)], ids=str)
def test_a_bad_value_is_refused_though_any_tag_would_do(own_api, own_house, operation):
    staged = Stage(own_api, own_house).parameters(operation)
    answer = send(own_api, operation, staged, query={"page": "none"}, **{"If-None-Match": "*"})
    refused_as_documented(operation, answer, 400, "invalid_parameter")
    assert send(own_api, operation, staged, **{"If-None-Match": "*"}).status == 304


@pytest.mark.parametrize("operation", [o for o in KEYED if "requestBody" in o.row], ids=str)
def test_a_bad_body_is_refused_as_documented(own_api, own_house, operation):
    staged = Stage(own_api, own_house).parameters(operation)
    refused_as_documented(operation, send(own_api, operation, staged, body=b"{"), 400, "invalid_json")
    refused_as_documented(operation, send(own_api, operation, staged, body=b"[]"), UNPROCESSABLE, "validation_failed")
    answer = send(own_api, operation, staged, body=b"{}", **{"Content-Type": "text/plain"})
    refused_as_documented(operation, answer, 415, "unsupported_media_type")
    answer = send(own_api, operation, staged, body=b" " * (8 * 1024 * 1024 + 1))
    refused_as_documented(operation, answer, 413, "payload_too_large")


@pytest.mark.parametrize("operation", [o for o in KEYED if "{" in o.path], ids=str)
def test_an_unknown_record_is_refused_as_documented(own_api, operation):
    unknown = {p["name"]: "000000" if p["name"] == "number" else routes.SOME_ID for p in operation.parameters if p["in"] == "path"}
    refused_as_documented(operation, send(own_api, operation, unknown), 404, "not_found")
    malformed = {name: "no-id" for name in unknown}
    refused_as_documented(operation, send(own_api, operation, malformed), UNPROCESSABLE, "validation_failed")


def test_every_request_may_meet_what_is_documented_for_any(own_api):
    operation = BY_ID["listOrders"]
    for method, headers, status in [("DELETE", {}, 405), ("GET", {"Accept": "text/plain"}, 406),
                                    ("GET", {"Host": "elsewhere.example"}, 421)]:
        answer = own_api.send(method, "/v1/orders", headers=headers)
        assert answer.status == status and answer.code in ANY_REQUEST["x-problem-codes"]
        operation.check(answer)


# What is served

@pytest.mark.parametrize("environment", ["live", "sandbox"])
def test_the_server_serves_this_document_without_a_key(own_box, sandbox, environment):
    with contextlib.closing(own_box.client()) as live:
        answer = (live if environment == "live" else sandbox()).get("/v1/openapi.json")
    assert answer.status == 200 and answer.headers["content-type"] == "application/json"
    assert answer.json == json.loads(FILE.read_text())


def test_the_page_runs_its_own_script_alone(own_box):
    with contextlib.closing(own_box.client()) as client:
        answer = client.get("/docs")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "script-src 'sha256-" in policy
    page = answer.body.decode()
    assert "{{" not in page
    # Nothing else is loaded, from here or elsewhere.
    assert not re.search(r"<[a-z][^<>]*\bsrc=|<link|@import|url\(", page)


def test_a_document_that_lacks_a_field_is_noticed():
    """The checks of this file can fail."""
    schema = {"$ref": "#/components/schemas/OrderAnswer"}
    example = copy.deepcopy(COMPONENTS["examples"]["OrderRead"]["value"])
    assert breaches(schema, example) == []
    del example["data"]["combos"][0]["sku"]
    example["data"]["nonsense"] = 1
    assert len(breaches(schema, example)) == 1
    assert undocumented(schema, example) == ["$.data.nonsense"]
