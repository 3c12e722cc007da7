"""Thirty-five thousand bad requests (a hundred thousand with COMANDA_LONG): each gets a problem document of its class,
none a 500, and nothing is written. And their neighbours, which are right, are taken."""

import contextlib
import dataclasses
import functools
import itertools
import json
import random
import uuid

import pytest

import corpus
from support import pairing
from support.box import LONG
from support.devices import Devices
from support.openapi import ANY_CODES, DOCUMENT, breaches_of_a_problem, undocumented
from support.orders import item
from support.raw import Wire
from support.routes import SCOPES

COMPANY = "0192f0a0-0001-7000-8000-000000000001"
COUNT = 100_000 if LONG else 40_000
PARTS = 16
TRIES = 3
PROBLEM = DOCUMENT["components"]["schemas"]["Problem"]


class Stage:
    """Records that the operations speak of."""

    def __init__(self, api):
        self.api = api

    def order(self):
        order = self.api.place(service_type="DELIVERY", client_id="0192f0a0-0050-7000-8000-000000000001",
                               address_id="0192f0a0-0060-7000-8000-000000000001", delivery_price=6.5)
        return self.api.add(order, item(38, 2))

    def ids(self, operation):
        """The parameters of its path."""
        names = [p["name"] for p in operation.parameters if p["in"] == "path"]
        found = {p["name"]: p["example"] for p in operation.parameters if p["in"] == "path"}
        if operation.path.startswith("/v1/orders/{id}"):
            order = self.order()
            if operation.id == "cancelPayment":
                order = self.api.pay(order, 5)
            if operation.id == "removeDiscount":
                order = self.api.post(f"/v1/orders/{order['id']}/discounts", {"type": "AMOUNT", "value": 1}).data
            if operation.id == "assignRider":
                order = self.api.advance(order, "PREPARING")
            if operation.id == "reportDelivery":
                self.api.patch(f"/v1/orders/{order['id']}/delivery-status", {"delivery_status": "DRIVER_ARRIVED_AT_STORE"})
            found["id"] = order["id"]
            for name, rows in [("comboId", "combos"), ("paymentId", "payments"), ("discountId", "discounts")]:
                if name in names:
                    found[name] = order[rows][0]["id"]
        elif "orderId" in names:
            order = self.order()
            found["orderId"], self.line = order["id"], order["combos"][0]["id"]
        elif operation.id == "getCategory":
            found["id"] = self.api.get("/v1/menu").data["categories"][0]["id"]
        elif operation.path.startswith("/auth/api-keys/{id}"):
            found["id"] = self.key("staged")["id"]
        elif operation.path.startswith("/v1/webhooks/{id}"):
            found = {name: self.webhook[name] for name in names}
            if operation.id == "removeWebhook":
                found = {"id": self.new_webhook()["id"]}
        return found

    @functools.cached_property
    def webhook(self):
        """One for all, since a company has at most 20; paused, so that nothing is sent."""
        made = self.new_webhook()
        tried = self.api.post(f"/v1/webhooks/{made['id']}/test", {})
        return {"id": made["id"], "deliveryId": tried.data["id"]}

    def new_webhook(self):
        return self.api.post("/v1/webhooks", {"webhook_url": "https://receiver.example/comanda", "is_active": False}).data

    def key(self, name, scopes=("orders:read",)):
        answer = self.api.post("/auth/api-keys", {"name": name, "scopes": list(scopes)})
        assert answer.status == 201, answer.body
        return answer.data


@pytest.fixture(scope="session")
def world(box, key, demo):
    with contextlib.closing(box.client(key)) as api:
        stage = Stage(api)
        ids = {operation.id: stage.ids(operation) for operation in corpus.OPEN}
        revoked = stage.key("revoked")
        assert api.delete(f"/auth/api-keys/{revoked['id']}").status == 200
    make = lambda **how: box.make_key(company=demo["id"], **how)["key"]
    others = {"live": key, "revoked": revoked["key"], "test": corpus.unknown_key("test"),
              "unknown": corpus.unknown_key("live")}
    scopes = {scope: make(scopes=",".join(s for s in SCOPES if s != scope)) for scope in SCOPES}
    return corpus.World(ids, key, others, scopes)


@pytest.fixture(scope="session")
def cases(world):
    return corpus.build(world, COUNT)


class Sender:
    """Sends one after the other over connections that are kept where they may be."""

    def __init__(self, box):
        self.box, self.wire = box, None
        self.context = box.client().tls()

    def send(self, sent):
        # The server closes a connection that sends nothing for 10 s. On a busy machine that may be this one.
        for _ in range(TRIES):
            if self.wire is None:
                self.wire = Wire(self.box, self.context)
            if self.wire.send(sent).is_answered():
                return self.wire.answer()
            self.end()
        raise AssertionError(f"closed without an answer, {TRIES} times")

    def end(self):
        if self.wire is not None:
            self.wire.__exit__()
            self.wire = None


def rows_of(box):
    """How many rows each table has, and the change counters."""
    with box.database(writes=False) as db:
        counts = {table: db.rows(f"SELECT count(*) FROM {table}") for table in db.tables()}
        return counts, db.rows("SELECT * FROM company_counter ORDER BY 1")


def fresh(sent):
    """As long as before, so that Content-Length stays true."""
    return sent.replace(b"{fresh}", uuid.uuid4().hex[:7].encode())


def check(case, answer):
    assert answer.status not in (500, 503), answer.body
    if case.expected is None and answer.status < 400:
        return
    assert answer.headers["content-type"] == "application/problem+json", answer
    problem = json.loads(answer.body)
    assert breaches_of_a_problem(problem) == [], answer.body
    assert undocumented(PROBLEM, problem) == [], answer.body
    assert problem["status"] == answer.status and problem["request_id"] == answer.headers["x-request-id"]
    assert problem["instance"].startswith("/") and "?" not in problem["instance"]
    if case.expected is not None:
        assert (answer.status, problem["code"]) in case.expected, answer.body
    assert all(e["field"] and e["message"] for e in problem.get("errors", [])), answer.body
    if answer.status == 405:
        assert answer.headers["allow"]
    if answer.status == 401:
        assert answer.headers["www-authenticate"].startswith("Bearer")
    if case.field is not None and problem["code"] == "validation_failed":
        assert case.field in {e["field"] for e in problem["errors"]}, answer.body
    if case.base is not None and case.kind.split("/")[0] in ("query", "header", "json", "field", "id", "credentials", "scope"):
        known = case.base.operation.codes | ANY_CODES
        assert problem["code"] in known, ("not documented", answer.body)


def exchange(sender, case):
    answer = sender.send(fresh(case.sent))
    check(case, answer)
    closing = answer.headers.get("connection") == "close"
    assert closing or not case.closes, "the connection must end"
    if closing:
        assert sender.wire.is_closed(), "something came behind the last answer"
    # Where anything may have been changed, that may have been a length.
    if closing or case.expected is None:
        sender.end()


def exchange_all(box, cases):
    sender, failures = Sender(box), []
    for case in cases:
        try:
            exchange(sender, case)
        except AssertionError as failure:
            sender.end()
            failures.append(f"{case.kind}: {str(failure)[:600]}\n    {case.sent[:700]}")
    sender.end()
    assert not failures, f"{len(failures)} of {len(cases)}:\n" + "\n".join(failures[:20])
    assert box.process.poll() is None


@pytest.mark.parametrize("part", range(PARTS))
def test_a_bad_request_is_refused_in_its_class_and_changes_nothing(box, cases, part):
    before = rows_of(box)
    exchange_all(box, [c for c in cases if c.expected is not None][part::PARTS])
    assert rows_of(box) == before, "something was written"


@pytest.mark.parametrize("part", range(4))
def test_what_dice_make_of_a_request_is_served_or_refused_but_never_fails(box, cases, part):
    exchange_all(box, [c for c in cases if c.expected is None][part::4])


def neighbours(cases):
    """Every right request that a bad one was made from, and fields at their bounds."""
    found = {c.base: None for c in cases if c.base is not None}
    for operation in corpus.WITH_BODY:
        for base in corpus.at_their_bounds(operation):
            found[base] = None
    return list(found)


def of_this_box(base, box, cursor):
    """The document's examples of a cursor and of a pairing code are of another box: 410, 404."""
    if base.query.startswith("after="):
        return dataclasses.replace(base, query=f"after={cursor}")
    if base.operation.path == "/auth/pair":
        code = pairing.read(pairing.make_uri(box, "--company", COMPANY))["c"]
        return dataclasses.replace(base, body=json.dumps({**json.loads(base.body), "code": code}).encode())
    return base


def test_the_corpus_is_large_and_its_kinds_are_all_there(cases):
    kinds = {}
    for case in cases:
        kinds[case.kind.split("/")[0]] = kinds.get(case.kind.split("/")[0], 0) + 1
    assert len({c.sent for c in cases}) >= COUNT * 0.9, kinds
    assert len(neighbours(cases)) > 250
    assert set(kinds) >= {"line", "line end", "field", "host", "length", "chunk", "path", "id", "query", "method", "credentials",
                          "scope", "header", "json", "dice"}, kinds


@pytest.mark.parametrize("part", range(4))
def test_the_neighbour_of_a_bad_request_is_taken(box, key, cases, part):
    with contextlib.closing(box.client(key)) as api:
        stage, devices, sender, failures = Stage(api), Devices(api), Sender(box), []
        cursor = api.get("/v1/orders").headers["x-event-cursor"]
        for base in neighbours(cases)[part::4]:
            base = of_this_box(base, box, cursor)
            staged, body = devices.stage(base.operation, stage.ids(base.operation), json.loads(base.body or b"null"))
            if body and "line_ids" in body:
                body = {"line_ids": [stage.line]}
            if body != json.loads(base.body or b"null"):
                base = dataclasses.replace(base, body=json.dumps(body).encode())
            ids = {base.operation.id: staged}
            answer = sender.send(fresh(base.bytes(ids, key)))
            devices.clean(base.operation, answer)
            if answer.status >= 300:
                failures.append(f"{base.bytes(ids, key)}\n    {answer.status} {answer.body}")
        sender.end()
    assert not failures, f"{len(failures)}:\n" + "\n".join(failures[:20])


def test_what_the_grammar_allows_is_served(box, world):
    sender, failures = Sender(box), []
    for sent, status in corpus.sound(world):
        answer = sender.send(fresh(sent))
        if answer.status != status or answer.headers.get("connection") == "close":
            failures.append(f"{answer.status} {sent[-200:]}")
            sender.end()
    sender.end()
    assert not failures, f"{len(failures)}:\n" + "\n".join(failures[:20])


def test_chunks_are_read_as_a_second_reader_reads_them(box, world):
    sender, failures = Sender(box), []
    sound = (sent for sent, is_sound in corpus.spoilt_chunks(world, random.Random(corpus.SEED)) if is_sound)
    for sent in itertools.islice(sound, COUNT // 100):
        answer = sender.send(fresh(sent))
        if answer.status not in (201, 400, 422) or answer.headers.get("connection") == "close":
            failures.append(f"{answer.status} {answer.body} {sent}")
            sender.end()
    sender.end()
    assert not failures, f"{len(failures)}:\n" + "\n".join(failures[:20])
