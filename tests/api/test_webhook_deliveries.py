"""What receivers of webhooks get, and what becomes of deliveries that fail (contract section 13).

Waits between attempts are not shortened: the tests see first attempts, tests by the caller (POST …/test), and what
`is_active: true` or another URL makes due at once."""

import base64
import concurrent.futures
import contextlib
import datetime
import email.utils
import hashlib
import hmac
import json
import subprocess
import threading
import time
import uuid

import pytest

from support.box import PATIENCE_S, Box, free_port
from support.metrics import of_box
from support.openssl import make_chain, make_pair
from support.orders import INSTANT, accepted, item, path, record_bytes, refused
from support.receiver import (
    LOOPBACK, Receiver, answers, breaks_off_body, breaks_off_head, drips_body, drips_head, endless_body, hangs, no_http,
    pin_of, redirects_to, refuses_first, refuses_orders, resets, retry_after, waits_for)
from support.waiting import wait_until

PATH = "/v1/webhooks"
ATTEMPT_S = 10  # the longest attempt
BODY = {"event_type", "event_id", "merchant_id", "company_id", "timestamp", "sequence", "changes", "note", "data"}
DELIVERY = {"id", "event_id", "event_type", "subject", "sequence", "state", "attempts", "next_attempt_at", "created_at"}
ATTEMPT = {"at", "outcome", "status", "duration_ms", "address", "answer", "clock_skew_s"}


@pytest.fixture(scope="module")
def chain(tmp_path_factory):
    """(root certificate, pair of a server that it vouches for)."""
    return make_chain(tmp_path_factory.mktemp("chain"))


@pytest.fixture(scope="module")
def lan(chain):
    """A box that may deliver to loopback, and trusts the authority of `chain`."""
    box = Box(options=[*LOOPBACK, "--webhook-ca", str(chain[0])])
    box.bring_in("demo")
    box.start()
    yield box
    assert box.discard() == 0, "the server did not end cleanly"


@pytest.fixture(scope="module")
def lan_key(lan):
    return lan.make_key()["key"]


@pytest.fixture
def api(lan, lan_key):
    """A client with every scope; its subscriptions are deleted after the test."""
    with contextlib.closing(lan.client(lan_key)) as client:
        yield client
        for hook in client.get(f"{PATH}?per_page=100").data:
            accepted(client.delete(at(hook)))


@pytest.fixture
def receiver():
    with Receiver() as receiver:
        yield receiver


@contextlib.contextmanager
def own_box(*options):
    """A box of the test's own, and a client with every scope."""
    box = Box(options=[*LOOPBACK, *options])
    try:
        box.bring_in("demo")
        key = box.make_key()["key"]
        box.start()
        with contextlib.closing(box.client(key)) as client:
            yield box, client
    finally:
        box.discard()


def subscribe(api, receiver, **fields):
    return accepted(api.post(PATH, {"webhook_url": receiver.url, **fields}), 201)


def at(hook, *parts):
    return "/".join([PATH, hook["id"], *parts])


def change(api, hook, **fields):
    return accepted(api.patch(at(hook), fields))


def try_out(api, hook):
    """The delivery of POST …/test."""
    return accepted(api.post(at(hook, "test")))


def deliveries(api, hook, query=""):
    return accepted(api.get(at(hook, "deliveries") + f"?per_page=100&{query}"))


def until(look, fits):
    """What look() gives, as soon as the function is true of it: the box records an outcome after the receiver has it."""
    found = []

    def is_fitting():
        found[:] = [look()]
        return fits(found[0])

    wait_until(is_fitting, lambda: found[0])
    return found[0]


def record(api, hook, fits=lambda hook: True):
    return until(lambda: accepted(api.get(at(hook))), fits)


def cursor(api):
    return api.get("/v1/orders?per_page=1").headers["x-event-cursor"]


def log(api, after, order=None):
    """The events behind the cursor, as the feed shows them."""
    rows = api.get(f"/v1/events?after={after}&per_page=100").data
    return [e for e in rows if order is None or e["subject"]["id"] == order["id"]]


def numbers(messages):
    return [m["sequence"] for m in messages]


def instant(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def fingerprint_of(pair):
    text = subprocess.run(["openssl", "x509", "-in", str(pair.certificate), "-noout", "-fingerprint", "-sha256"], check=True,
                          capture_output=True, text=True, timeout=PATIENCE_S * 2).stdout
    return text.strip().partition("=")[2]


def standard(secret, request):
    """Standard Webhooks 1.0.0: one signature of webhook-signature."""
    signed = f"{request.headers['webhook-id']}.{request.headers['webhook-timestamp']}.".encode() + request.body
    key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    return "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode()


def plain(secret, request):
    """X-Webhook-Signature: keyed with the whole text of the secret."""
    return "sha256=" + hmac.new(secret.encode(), request.body, hashlib.sha256).hexdigest()


# What arrives


def test_every_change_of_an_order_arrives_in_order_as_the_log_has_it(api, receiver):
    subscribe(api, receiver, merchant_id="local 7")
    after = cursor(api)
    order = api.place()
    order = api.add(order, item(18))
    order = api.pay(order, 18)
    order = api.advance(order, "READY")
    receiver.wait_for(4)
    messages, events = receiver.messages(), log(api, after)
    assert all(set(m) == BODY for m in messages)
    assert numbers(messages) == [1, 2, 3, 4]
    assert {m["merchant_id"] for m in messages} == {"local 7"} and {m["company_id"] for m in messages} == {order["company_id"]}
    same = ("event_type", "event_id", "timestamp", "changes", "note", "data")
    assert [[m[n] for n in same] for m in messages] == [[e[n] for n in same] for e in events]
    assert [m["data"]["version"] for m in messages] == [1, 2, 3, 4]
    assert messages[2]["changes"] == ["payments", "paid"] and messages[-1]["data"] == order


def test_data_has_the_bytes_that_a_get_of_that_version_gives(api, receiver):
    subscribe(api, receiver)
    order = api.place(service_type="DELIVERY", comment="sin ají, 12.50 ñ \U0001f41f", delivery_price=4.5)
    bodies = [record_bytes(api.get(path(order)))]
    for change_it in (lambda: api.add(order, item(12.5, 0.125), item(0.1, 3)), lambda: api.pay(order, 20.05)):
        change_it()
        bodies.append(record_bytes(api.get(path(order))))
    for request, body in zip(receiver.wait_for(3), bodies, strict=True):
        assert b'"data":' + body in request.body


def test_a_shortage_is_in_the_note(api, receiver):
    subscribe(api, receiver)
    after = cursor(api)
    order = api.place()
    api.add(order, item(6.5, 9000, sku="BEB-INK"))
    receiver.wait_for(2)
    assert "stock_warning" in receiver.messages()[1]["note"]
    of_orders = [e for e in log(api, after) if e["event_type"].startswith("ORDER_")]
    assert [m["note"] for m in receiver.messages()] == [e["note"] for e in of_orders]


def test_the_request_is_complete(api, receiver):
    hook = subscribe(api, receiver, webhook_url=receiver.url + "?shop=7&x=%20", webhook_headers={
        "Authorization": "Bearer 0123456789abcdef", "X-Shop": "7"})
    api.add(api.place(), *[item(n + 1) for n in range(30)])
    for request in receiver.wait_for(2):
        headers = request.headers
        assert (request.method, request.path) == ("POST", "/hook?shop=7&x=%20")
        assert headers["content-type"].split(";")[0] == "application/json"
        assert headers["host"] == f"127.0.0.1:{receiver.port}"
        assert headers["webhook-id"] == request.json["event_id"]
        assert abs(int(headers["webhook-timestamp"]) - request.at) < PATIENCE_S
        assert headers["webhook-signature"] == standard(hook["secret"], request)
        assert headers["x-webhook-signature"] == plain(hook["secret"], request)
        assert "x-webhook-signature-new" not in headers
        assert headers["x-webhook-attempt"] == "1"
        assert headers["user-agent"].startswith("Comanda/") and len(headers["user-agent"]) > len("Comanda/")
        assert (headers["authorization"], headers["x-shop"]) == ("Bearer 0123456789abcdef", "7")
        assert not {"expect", "transfer-encoding"} & set(headers)


def test_the_record_says_how_far_it_is(api, receiver):
    hook = subscribe(api, receiver)
    for _ in range(3):
        api.place()
    receiver.wait_for(3)
    found = record(api, hook, lambda h: h["sequence"] == 3 and h["backlog"] == 0)
    assert (found["last_outcome"], found["last_status"], found["consecutive_failures"]) == ("acknowledged", 204, 0)
    assert INSTANT.fullmatch(found["last_delivery_at"]) and found["oldest_undelivered_at"] is None
    assert found["events_lost"] == 0


def test_many_orders_at_once_are_each_in_order_and_numbered_without_gaps(lan, lan_key, receiver, api):
    hook = subscribe(api, receiver)

    def work(_):
        with contextlib.closing(lan.client(lan_key)) as client:
            order = client.place()
            for price in (1, 2, 3):
                client.add(order, item(price))
            return order

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        orders = list(pool.map(work, range(12)))
    receiver.wait_for(48)
    for order in orders:
        of_order = receiver.messages(order)
        assert [m["data"]["version"] for m in of_order] == [1, 2, 3, 4]
        assert numbers(of_order) == sorted(numbers(of_order))
    assert sorted(numbers(receiver.messages())) == list(range(1, 49))
    assert record(api, hook, lambda h: h["backlog"] == 0)["sequence"] == 48


def test_a_subscription_begins_at_the_end_of_the_log(api, receiver):
    before = api.place()
    subscribe(api, receiver)
    order = api.place()
    api.add(before, item(3))
    receiver.wait_for(2)
    assert sorted((m["sequence"], m["event_type"], m["data"]["id"]) for m in receiver.messages()) == [
        (1, "ORDER_CREATED", order["id"]), (2, "ORDER_UPDATED", before["id"])]


def test_each_subscription_has_numbers_and_a_secret_of_its_own(api, receiver):
    with Receiver() as second:
        first_hook = subscribe(api, receiver)
        api.place()
        receiver.wait_for(1)
        second_hook = subscribe(api, second)
        order = api.place()
        receiver.wait_for(2)
        (request,) = second.wait_for(1)
    assert numbers(receiver.messages(order)) == [2] and numbers(second.messages(order)) == [1]
    assert request.headers["webhook-signature"] == standard(second_hook["secret"], request)
    assert request.headers["webhook-signature"] != standard(first_hook["secret"], request)
    assert receiver.messages(order)[0]["event_id"] == request.json["event_id"]


# Kinds


def test_every_kind_of_the_log_comes_once(api, receiver):
    subscribe(api, receiver, events=["*"])
    after = cursor(api)
    order = api.pay(api.add(api.place(), item(5)), 5)
    api.advance(order, "PREPARING")
    other = api.place()
    accepted(api.post(path(other, "cancel"), {"reason": "left"}))
    product = api.get("/v1/menu").data["categories"][0]["products"][0]
    accepted(api.patch(f"/v1/menu/products/{product['id']}", {"description": "Fresco " + str(uuid.uuid4())}))
    events = log(api, after)
    assert len(events) == 7
    receiver.wait_for(7)
    same = ("event_type", "event_id", "changes", "data")
    assert [[m[n] for n in same] for m in sorted(receiver.messages(), key=lambda m: m["sequence"])] == \
        [[e[n] for n in same] for e in events]
    assert sorted(numbers(receiver.messages())) == list(range(1, 8))


def test_derived_kinds_are_messages_of_their_own(api, receiver):
    derived = ["ORDER_PAID", "ORDER_STATUS_CHANGED", "ORDER_CANCELLED"]
    subscribe(api, receiver, events=derived)
    after = cursor(api)
    order = api.place()
    order = api.add(order, item(5))
    order = api.pay(order, 5)  # paid
    order = api.pay(order, 1)  # paid as before
    order = api.advance(order, "PREPARING")
    left = api.place()
    accepted(api.post(path(left, "cancel"), {"reason": "left"}))
    receiver.wait_for(4)
    events = {(e["subject"]["id"], e["subject"]["version"]): e for e in log(api, after)}
    wanted = [("ORDER_PAID", order["id"], 3), ("ORDER_STATUS_CHANGED", order["id"], 5),
              ("ORDER_STATUS_CHANGED", left["id"], 2), ("ORDER_CANCELLED", left["id"], 2)]
    messages = sorted(receiver.messages(), key=lambda m: m["sequence"])
    assert sorted((m["event_type"], m["data"]["id"], m["data"]["version"]) for m in messages) == sorted(wanted)
    assert numbers(messages) == [1, 2, 3, 4]
    for message in messages:
        event = events[message["data"]["id"], message["data"]["version"]]
        assert message["event_id"] == str(uuid.uuid5(uuid.UUID(event["event_id"]), message["event_type"]))
        assert [message[n] for n in ("data", "changes", "timestamp")] == [event[n] for n in ("data", "changes", "timestamp")]


def test_an_order_that_is_paid_no_longer_is_not_paid_again_until_it_is(api, receiver):
    subscribe(api, receiver, events=["ORDER_PAID"])
    order = api.pay(api.add(api.place(), item(5)), 5)
    accepted(api.delete(path(order, "payments", order["payments"][0]["id"])))
    api.pay(order, 5)
    receiver.wait_for(2)
    assert [m["data"]["version"] for m in receiver.messages()] == [3, 5]


def test_one_event_can_give_two_messages(api, receiver):
    subscribe(api, receiver, events=["ORDER_UPDATED", "ORDER_PAID"])
    order = api.pay(api.add(api.place(), item(5)), 5)
    receiver.wait_for(3)
    messages = receiver.messages(order)
    assert sorted(m["event_type"] for m in messages) == ["ORDER_PAID", "ORDER_UPDATED", "ORDER_UPDATED"]
    assert numbers(messages) == [1, 2, 3] and len({m["event_id"] for m in messages}) == 3


def test_a_change_of_events_counts_for_later_events(api, receiver):
    hook = subscribe(api, receiver, events=["ORDER_CREATED"], is_active=False)
    order = api.add(api.place(), item(5))
    change(api, hook, events=["ORDER_UPDATED"])
    api.place()
    api.add(order, item(6))
    change(api, hook, is_active=True)
    receiver.wait_for(2)
    assert [(m["sequence"], m["event_type"], m["data"]["version"]) for m in receiver.messages()] == [
        (1, "ORDER_CREATED", 1), (2, "ORDER_UPDATED", 3)]


# Signatures


def signatures(api, hook, receiver):
    """(webhook-signature, X-Webhook-Signature, X-Webhook-Signature-New, the request) of a test."""
    assert try_out(api, hook)["state"] == "delivered"
    request = receiver.requests[-1]
    return [request.headers.get(n) for n in ("webhook-signature", "x-webhook-signature", "x-webhook-signature-new")] + [request]


def test_both_secrets_sign_during_a_rotation_and_a_second_one_drops_the_oldest(api, receiver):
    hook = subscribe(api, receiver)
    secrets = [hook["secret"]] + [None] * 2
    for i in (1, 2):
        secrets[i] = change(api, hook, rotate_secret=True)["secret"]
        found, own, new, request = signatures(api, hook, receiver)
        assert found.split(" ") == [standard(secrets[i], request), standard(secrets[i - 1], request)]
        assert (own, new) == (plain(secrets[i - 1], request), plain(secrets[i], request))
    order = api.place()
    request = receiver.wait_until(lambda requests: requests[-1].subject == order["id"])[-1]
    assert request.headers["webhook-signature"].split(" ") == [standard(s, request) for s in secrets[:0:-1]]


def test_a_leaked_secret_signs_no_more_at_once(api, receiver):
    hook = subscribe(api, receiver)
    change(api, hook, rotate_secret=True)
    secret = change(api, hook, rotate_secret=True, grace_seconds=0)["secret"]
    found, own, new, request = signatures(api, hook, receiver)
    assert (found, own, new) == (standard(secret, request), plain(secret, request), None)


def test_the_old_secret_ends_with_its_grace(api, receiver):
    hook = subscribe(api, receiver)
    rotated = change(api, hook, rotate_secret=True, grace_seconds=1)
    assert rotated["secret_rotates_until"] is not None
    wait_until(lambda: accepted(api.get(at(hook)))["secret_rotates_until"] is None, "the end of the grace")
    found, own, new, request = signatures(api, hook, receiver)
    assert (found, own, new) == (standard(rotated["secret"], request), plain(rotated["secret"], request), None)


def test_the_name_of_the_header_is_a_setting(receiver):
    with own_box("--webhook-signature-header", "X-Pedido-Firma") as (_, api):
        hook = subscribe(api, receiver)
        new = change(api, hook, rotate_secret=True)["secret"]
        try_out(api, hook)
    (request,) = receiver.requests
    assert request.headers["x-pedido-firma"] == plain(hook["secret"], request)
    assert request.headers["x-pedido-firma-new"] == plain(new, request)
    assert not {"x-webhook-signature", "x-webhook-signature-new"} & set(request.headers)


# Pausing


def test_a_paused_subscription_sends_nothing_and_goes_on_with_what_happened_meanwhile(api, receiver):
    with Receiver() as fence:
        hook = subscribe(api, receiver)
        first = api.place()
        receiver.wait_for(1)
        assert change(api, hook, is_active=False)["is_active"] is False
        subscribe(api, fence)
        second = api.place()
        api.add(second, item(4))
        fence.wait_for(2)
        assert receiver.messages() == receiver.messages(first)
        behind = record(api, hook, lambda h: h["backlog"] == 2)
        assert behind["oldest_undelivered_at"] == second["created_at"] and behind["suspended_at"] is None
        change(api, hook, is_active=True)
        third = api.place()
        receiver.wait_for(4)
    assert sorted(numbers(receiver.messages())) == [1, 2, 3, 4]
    assert [m["event_type"] for m in receiver.messages(second)] == ["ORDER_CREATED", "ORDER_UPDATED"]
    assert numbers(receiver.messages(third)) == [4]
    assert [m["event_id"] for m in receiver.messages(second)] == [m["event_id"] for m in fence.messages(second)]


def test_a_skipped_backlog_keeps_its_numbers(api, receiver):
    hook = subscribe(api, receiver, is_active=False)
    api.place()
    api.add(api.place(), item(4))
    change(api, hook, is_active=True, skip_backlog=True)
    found = record(api, hook, lambda h: h["events_lost"] == 3)
    assert (found["is_active"], found["backlog"], found["oldest_undelivered_at"]) == (True, 0, None)
    order = api.place()
    receiver.wait_for(1)
    assert [(m["sequence"], m["data"]["id"]) for m in receiver.messages()] == [(4, order["id"])]
    assert record(api, hook, lambda h: h["sequence"] == 4)["events_lost"] == 3


# Failing


def test_a_refused_event_comes_again_with_the_same_bytes(api, receiver):
    receiver.answer = refuses_first(1)
    hook = subscribe(api, receiver)
    order = api.place()
    receiver.wait_for(1)
    found = record(api, hook, lambda h: h["last_outcome"] == "refused_status")
    assert (found["last_status"], found["consecutive_failures"], found["backlog"]) == (500, 1, 1)
    assert found["oldest_undelivered_at"] == order["created_at"]
    change(api, hook, is_active=True)
    first, second = receiver.wait_for(2)
    assert first.body == second.body and first.json["sequence"] == 1
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert [r.headers["x-webhook-attempt"] for r in (first, second)] == ["1", "2"]
    assert second.headers["webhook-signature"] == standard(hook["secret"], second)
    found = record(api, hook, lambda h: h["backlog"] == 0)
    assert (found["last_outcome"], found["consecutive_failures"], found["sequence"]) == ("acknowledged", 0, 1)


def test_the_bytes_stay_when_the_order_has_changed_meanwhile(api, receiver):
    receiver.answer = answers(500)
    hook = subscribe(api, receiver, merchant_id="first")
    order = api.place()
    receiver.wait_for(1)
    record(api, hook, lambda h: h["consecutive_failures"] == 1)
    api.add(order, item(9))
    receiver.answer = answers(204)
    change(api, hook, is_active=True)
    requests = receiver.wait_for(3)
    assert requests[1].body == requests[0].body
    assert [r.json["data"]["version"] for r in requests] == [1, 1, 2]


def test_an_order_that_is_refused_for_ever_holds_up_no_other(api, receiver):
    bad = api.place()
    receiver.answer = refuses_orders({bad["id"]}, retry_after=3600)
    hook = subscribe(api, receiver)
    api.add(bad, item(1))
    api.add(bad, item(2))
    good = [api.place() for _ in range(4)]
    for order in good:
        api.add(order, item(3))
    receiver.wait_until(lambda requests: sum(r.subject != bad["id"] for r in requests) == 8)
    for order in good:
        assert [m["data"]["version"] for m in receiver.messages(order)] == [1, 2]
    assert {m["data"]["version"] for m in receiver.messages(bad)} == {2}
    found = record(api, hook, lambda h: h["backlog"] == 2)
    assert found["suspended_at"] is None and found["is_active"] is True
    held = until(lambda: deliveries(api, hook, f"filter[subject_id]={bad['id']}"), lambda rows: len(rows) == 2)
    assert {(d["state"], d["sequence"]) for d in held} == {("late", 1), ("waiting", 2)}

    receiver.answer = answers(204)
    change(api, hook, is_active=True)
    record(api, hook, lambda h: h["backlog"] == 0)
    assert [m["data"]["version"] for m in receiver.messages(bad)][-2:] == [2, 3]
    assert sorted({m["sequence"] for m in receiver.messages()}) == list(range(1, 11))


@pytest.mark.parametrize("fails", [answers(500), answers(404), redirects_to("https://127.0.0.1/"), hangs, breaks_off_head, resets,
                                   no_http], ids=["500", "404", "redirect", "timeout", "cut", "refused", "garbage"])
def test_a_message_that_fails_in_whatever_way_holds_up_no_other_and_is_named(api, receiver, fails):
    bad = api.place()
    accepts = answers()
    receiver.answer = lambda request: (fails if request.subject == bad["id"] else accepts)(request)
    hook = subscribe(api, receiver)
    api.add(bad, item(1))
    api.add(bad, item(2))
    good = [api.place() for _ in range(6)]
    receiver.wait_until(lambda requests: {r.subject for r in requests} >= {order["id"] for order in good})
    held = until(lambda: deliveries(api, hook, f"filter[subject_id]={bad['id']}"),
                 lambda rows: {row["state"] for row in rows} == {"late", "waiting"})
    assert {row["state"]: row["sequence"] for row in held} == {"late": 1, "waiting": 2}
    assert {m["data"]["version"] for m in receiver.messages(bad)} == {2}, "the next message of the order waits"
    assert record(api, hook, lambda h: h["backlog"] == 2)["suspended_at"] is None


def test_a_receiver_that_was_down_gets_everything(api, receiver):
    receiver.answer = answers(503)
    hook = subscribe(api, receiver)
    orders = [api.place() for _ in range(8)]
    record(api, hook, lambda h: h["consecutive_failures"] >= 3)
    receiver.answer = answers(204)
    assert try_out(api, hook)["state"] == "delivered"  # a success makes everything due
    found = record(api, hook, lambda h: h["backlog"] == 0)
    assert (found["sequence"], found["events_lost"], found["consecutive_failures"]) == (8, 0, 0)
    by_number = {m["sequence"]: m["data"]["id"] for m in receiver.messages() if m["sequence"]}
    assert by_number == {n: order["id"] for n, order in enumerate(orders, 1)}


@pytest.mark.parametrize("codes, status, outcome", [
    ([], 200, "acknowledged"), ([], 299, "acknowledged"), ([], 304, "refused_status"), ([200], 204, "refused_status"),
    ([200, 404], 404, "acknowledged"), ([302], 302, "acknowledged")])
def test_the_caller_decides_which_statuses_acknowledge(api, receiver, codes, status, outcome):
    receiver.answer = answers(status)
    delivery = try_out(api, subscribe(api, receiver, ack_http_codes=codes))
    assert [(a["outcome"], a["status"]) for a in delivery["attempts"]] == [(outcome, status)]


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_holds_for_the_whole_receiver(api, receiver, status):
    receiver.answer = retry_after(3600, status)
    with Receiver() as fence:
        hook = subscribe(api, receiver)
        subscribe(api, fence)
        first = api.place()
        receiver.wait_for(1)
        record(api, hook, lambda h: h["consecutive_failures"] == 1)
        second = api.place()
        fence.wait_for(2)
        (late,) = deliveries(api, hook, f"filter[subject_id]={first['id']}")
        assert 0.85 * 3600 < instant(late["next_attempt_at"]) - time.time() < 1.15 * 3600
        assert receiver.messages() == receiver.messages(first) and len(receiver.messages()) == 1
        receiver.answer = answers(204)
        change(api, hook, is_active=True)
        record(api, hook, lambda h: h["backlog"] == 0)
    assert numbers(receiver.messages(second)) == [2] and len(receiver.messages(first)) == 2


@pytest.mark.parametrize("value, seconds", [
    ("600", 600), ("999999999", 86400), ("date", 600), ("-5", 30), ("soon", 30), ("99999999999999999999999", None)])
def test_retry_after_replaces_the_wait(api, receiver, value, seconds):
    text = email.utils.formatdate(time.time() + 600, usegmt=True) if value == "date" else value
    receiver.answer = retry_after(text, 500)
    hook = subscribe(api, receiver)
    api.place()
    (late,) = until(lambda: deliveries(api, hook, "filter[state]=late"), lambda rows: len(rows) == 1)
    wait = instant(late["next_attempt_at"]) - instant(late["attempts"][0]["at"])
    # A number beyond all bounds is either capped or no number; both are fine.
    assert any(0.85 * s < wait < 1.15 * s + PATIENCE_S for s in ([seconds] if seconds else [30, 86400])), wait


def test_gone_suspends_and_another_url_replays(api, receiver):
    receiver.answer = answers(410)
    hook = subscribe(api, receiver)
    readiness = api.get("/readyz").status
    first = api.place()
    found = record(api, hook, lambda h: h["suspended_at"])
    assert (found["suspended_reason"], found["is_active"], found["last_status"]) == ("gone", True, 410)
    assert INSTANT.fullmatch(found["suspended_at"])
    assert api.get("/readyz").status == readiness
    second = api.place()
    delivery = try_out(api, hook)  # allowed, and sent behind what a subscription that goes on would have sent
    assert delivery["attempts"][-1]["status"] == 410
    assert [m["event_type"] for m in receiver.messages()] == ["ORDER_CREATED", "WEBHOOK_TEST"]
    assert record(api, hook)["backlog"] == 2
    with Receiver() as new:
        changed = change(api, hook, webhook_url=new.url)
        assert (changed["suspended_at"], changed["suspended_reason"]) == (None, None)
        new.wait_for(2)
        assert {m["sequence"]: m["data"]["id"] for m in new.messages()} == {1: first["id"], 2: second["id"]}
        again = next(r for r in new.requests if r.json["sequence"] == 1)
        assert again.body == receiver.requests[0].body
        record(api, hook, lambda h: h["backlog"] == 0 and h["suspended_at"] is None)


def test_is_active_ends_a_suspension_too(api, receiver):
    receiver.answer = answers(410)
    hook = subscribe(api, receiver)
    order = api.place()
    record(api, hook, lambda h: h["suspended_at"])
    receiver.answer = answers(204)
    assert change(api, hook, is_active=True)["suspended_at"] is None
    receiver.wait_for(2)
    assert numbers(receiver.messages(order)) == [1, 1]


def test_a_redirect_is_not_followed(lan, api, receiver):
    with Receiver() as elsewhere:
        for status in (301, 302, 303, 307, 308):
            receiver.answer = redirects_to(elsewhere.url, status)
            hook = subscribe(api, receiver)
            delivery = try_out(api, hook)
            assert [(a["outcome"], a["status"]) for a in delivery["attempts"]] == [("refused_status", status)]
        assert elsewhere.requests == [] and len(receiver.requests) == 5
        said = lan.command("webhooks", "log", hook["id"], "--data", str(lan.data)).stdout
        assert "redirects are not followed" in said and "name 308 in its ack_http_codes" in said


# A test by the caller


def test_a_test_is_a_delivery_that_is_waited_for(api, receiver):
    hook = subscribe(api, receiver, merchant_id="m")
    receiver.answer = answers(200, b"thanks")
    delivery = try_out(api, hook)
    assert set(delivery) == DELIVERY
    assert (delivery["event_type"], delivery["state"], delivery["sequence"]) == ("WEBHOOK_TEST", "delivered", None)
    (attempt,) = delivery["attempts"]
    assert set(attempt) == ATTEMPT
    assert [attempt[n] for n in ("outcome", "status", "address", "answer")] == ["acknowledged", 200, "127.0.0.1", "thanks"]
    assert INSTANT.fullmatch(attempt["at"]) and attempt["duration_ms"] >= 0 and abs(attempt["clock_skew_s"]) <= PATIENCE_S
    (request,) = receiver.requests
    assert set(request.json) == BODY
    assert [request.json[n] for n in ("event_type", "event_id", "sequence", "merchant_id")] == [
        "WEBHOOK_TEST", delivery["event_id"], None, "m"]
    assert request.headers["webhook-signature"] == standard(hook["secret"], request)
    api.place()
    receiver.wait_for(2)
    assert numbers(receiver.messages()) == [None, 1]


FAILURES = {
    "refuses": (answers(500), "refused_status", 500),
    "breaks off in the head": (breaks_off_head, "connection_failed", None),
    "speaks no HTTP": (no_http, "connection_failed", None),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failed_test_is_200_with_what_went_wrong(api, receiver, name):
    receiver.answer, outcome, status = FAILURES[name]
    hook = subscribe(api, receiver)
    delivery = try_out(api, hook)
    assert delivery["state"] != "delivered"
    assert [(a["outcome"], a["status"]) for a in delivery["attempts"]] == [(outcome, status)]
    assert record(api, hook)["suspended_at"] is None


def test_a_test_of_a_receiver_that_is_not_there(api):
    hook = accepted(api.post(PATH, {"webhook_url": f"http://127.0.0.1:{free_port()}/"}), 201)
    assert [a["outcome"] for a in try_out(api, hook)["attempts"]] == ["connection_failed"]
    hook = accepted(api.post(PATH, {"webhook_url": "https://receiver.invalid/"}), 201)
    # Without a resolver in reach the look-up ends with the time.
    assert try_out(api, hook)["attempts"][0]["outcome"] in ("name_not_found", "timeout")


@pytest.mark.parametrize("answer", [drips_body, endless_body, breaks_off_body], ids=lambda a: a.__name__)
def test_the_head_of_the_answer_decides(api, receiver, answer):
    receiver.answer = answer
    (attempt,) = try_out(api, subscribe(api, receiver))["attempts"]
    assert (attempt["outcome"], attempt["status"]) == ("acknowledged", 200)
    assert len(attempt["answer"] or "") <= 4096


def test_a_connection_is_used_again_behind_an_answer_of_some_size(api, receiver):
    receiver.answer = answers(200, b"0123456789" * 1000)
    hook = subscribe(api, receiver)
    for _ in range(3):
        assert [a["outcome"] for a in try_out(api, hook)["attempts"]] == ["acknowledged"]
    assert receiver.accepted == 1


def test_four_kilobytes_of_an_answer_are_kept(api, receiver):
    receiver.answer = answers(500, b"0123456789" * 1000)
    (attempt,) = try_out(api, subscribe(api, receiver))["attempts"]
    assert ("0123456789" * 1000).startswith(attempt["answer"]) and 4000 <= len(attempt["answer"]) <= 4096


@pytest.mark.parametrize("body", [b"\xff\xfe\x00\x01", b"\xc3" * 5000, b"\x00" * 100, '"\\ñ\n'.encode()])
def test_any_answer_can_be_shown(api, receiver, body):
    receiver.answer = answers(500, body)
    hook = subscribe(api, receiver)
    assert try_out(api, hook)["attempts"][0]["status"] == 500
    assert deliveries(api, hook) is not None


def test_the_attempt_says_how_far_the_receivers_clock_is_off(api, receiver):
    receiver.answer = answers(204, date=email.utils.formatdate(time.time() + 7200, usegmt=True))
    (attempt,) = try_out(api, subscribe(api, receiver))["attempts"]
    assert 7100 < abs(attempt["clock_skew_s"]) < 7300


def test_a_receiver_has_ten_seconds(lan, lan_key, api):
    with Receiver(hangs) as one, Receiver(drips_head) as two:
        hooks = [subscribe(api, one), subscribe(api, two)]

        def run(hook):
            with contextlib.closing(lan.client(lan_key)) as client:
                return try_out(client, hook)

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for delivery in pool.map(run, hooks):
                (attempt,) = delivery["attempts"]
                assert (attempt["outcome"], attempt["status"]) == ("timeout", None)
                assert 9_000 < attempt["duration_ms"] < PATIENCE_S * 1000


def test_four_tests_at_once_are_the_most(lan, lan_key, api):
    go = threading.Event()

    def run(hook):
        with contextlib.closing(lan.client(lan_key)) as client:
            return try_out(client, hook)

    with Receiver(waits_for(go)) as receiver, concurrent.futures.ThreadPoolExecutor(4) as pool:
        hooks = [subscribe(api, receiver) for _ in range(5)]
        running = [pool.submit(run, hook) for hook in hooks[:4]]
        receiver.wait_for(4)
        refused(api.post(at(hooks[4], "test")), 429, "rate_limit_exceeded")
        go.set()
        assert [r.result(PATIENCE_S)["state"] for r in running] == ["delivered"] * 4
        assert try_out(api, hooks[4])["state"] == "delivered"


# TLS


def test_an_authority_of_the_owner_is_trusted(api, chain):
    with Receiver(tls=chain[1]) as receiver:
        hook = subscribe(api, receiver)
        assert try_out(api, hook)["state"] == "delivered"
        api.place()
        receiver.wait_for(2)


def test_any_other_certificate_is_not_and_nothing_is_sent(api, tmp_path):
    with Receiver(tls=make_pair(tmp_path, "receiver")) as receiver:
        delivery = try_out(api, subscribe(api, receiver))
        assert [(a["outcome"], a["status"]) for a in delivery["attempts"]] == [("tls_untrusted", None)]
        assert receiver.requests == []


def test_a_pin_alone_counts(api, chain, tmp_path):
    pair = make_pair(tmp_path, "receiver")
    with Receiver(tls=pair) as receiver:
        assert try_out(api, subscribe(api, receiver, public_key_pin=pin_of(pair)))["state"] == "delivered"
    with Receiver(tls=chain[1]) as receiver:
        hook = subscribe(api, receiver, public_key_pin=pin_of(pair))
        assert [a["outcome"] for a in try_out(api, hook)["attempts"]] == ["tls_pin_mismatch"]
        assert receiver.requests == []
        change(api, hook, public_key_pin=None)
        assert try_out(api, hook)["state"] == "delivered"


# The list of deliveries


def test_deliveries_are_listed_newest_first_and_filtered(api, receiver):
    bad = api.place()
    receiver.answer = refuses_orders({bad["id"]}, 418)
    hook = subscribe(api, receiver, events=["ORDER_CREATED", "ORDER_UPDATED"])
    good = api.place()
    api.add(good, item(5))
    api.add(bad, item(5))
    rows = until(lambda: deliveries(api, hook), lambda rows: len(rows) == 3 and all(d["attempts"] for d in rows))
    assert all(set(d) == DELIVERY and all(set(a) == ATTEMPT for a in d["attempts"]) for d in rows)
    assert [d["sequence"] for d in rows] == [3, 2, 1]
    assert [(d["event_type"], d["subject"]["type"], d["subject"]["id"]) for d in rows] == [
        ("ORDER_UPDATED", "order", bad["id"]), ("ORDER_UPDATED", "order", good["id"]), ("ORDER_CREATED", "order", good["id"])]
    assert [d["event_id"] for d in rows[1:]] == [m["event_id"] for m in receiver.messages(good)][::-1]
    late, *delivered = rows
    assert late["state"] == "late" and instant(late["next_attempt_at"]) > time.time()
    assert [(d["state"], d["next_attempt_at"]) for d in delivered] == [("delivered", None)] * 2

    for query, found in {
            "filter[state]=late": [3], "filter[state]=delivered": [2, 1], "filter[state]=dead": [],
            "filter[state]=DELIVERED": [2, 1], "filter[event_type]=ORDER_CREATED": [1],
            "filter[event_type]=order_updated&filter[state]=delivered": [2], f"filter[subject_id]={bad['id']}": [3],
            f"filter[subject_id]={good['id'].upper()}": [2, 1], "filter[outcome]=refused_status": [3],
            "filter[outcome]=acknowledged": [2, 1], "filter[outcome]=timeout": [], "sort=-created_at": [3, 2, 1],
            "sort=created_at": [1, 2, 3]}.items():
        assert [d["sequence"] for d in deliveries(api, hook, query)] == found, query
    page = api.get(at(hook, "deliveries") + "?per_page=2&page=2")
    assert [d["sequence"] for d in page.data] == [1]
    assert page.json["pagination"] == {"current_page": 2, "per_page": 2, "total": 3, "has_more": False}


def test_only_a_key_that_may_write_sees_what_the_receiver_answered(lan, api, receiver):
    receiver.answer = answers(500, b"stack trace")
    hook = subscribe(api, receiver)
    api.place()
    (late,) = until(lambda: deliveries(api, hook), lambda rows: rows and rows[0]["attempts"])
    assert late["attempts"][0]["answer"] == "stack trace"
    with contextlib.closing(lan.client(lan.make_key(scopes="webhooks:read")["key"])) as reader:
        answer = reader.get(at(hook, "deliveries"))
        assert b"stack trace" not in answer.body
        assert answer.data[0]["attempts"][0].get("answer") is None


def test_a_delivered_event_can_be_sent_again(api, receiver):
    hook = subscribe(api, receiver)
    order = api.place()
    (delivery,) = until(lambda: deliveries(api, hook, "filter[state]=delivered"), lambda rows: rows)
    api.add(order, item(5))
    receiver.wait_for(2)
    queued = accepted(api.post(at(hook, "deliveries", delivery["id"], "redeliver")))
    assert set(queued) == DELIVERY and (queued["id"], queued["event_id"]) == (delivery["id"], delivery["event_id"])
    first, _, again = receiver.wait_for(3)
    assert again.body == first.body and again.headers["webhook-id"] == delivery["event_id"]
    (found,) = until(lambda: [d for d in deliveries(api, hook, "filter[state]=delivered") if d["id"] == delivery["id"]],
                     lambda rows: rows and len(rows[0]["attempts"]) == 2)
    assert [a["outcome"] for a in found["attempts"]] == ["acknowledged"] * 2
    assert record(api, hook)["sequence"] == 2


def test_a_late_event_can_be_sent_at_once(api, receiver):
    receiver.answer = refuses_first(1)
    hook = subscribe(api, receiver)
    api.place()
    (late,) = until(lambda: deliveries(api, hook, "filter[state]=late"), lambda rows: rows)
    accepted(api.post(at(hook, "deliveries", late["id"], "redeliver")))
    first, again = receiver.wait_for(2)
    assert again.body == first.body
    record(api, hook, lambda h: h["backlog"] == 0)
    (delivered,) = deliveries(api, hook)
    assert (delivered["state"], [a["status"] for a in delivered["attempts"]]) == ("delivered", [500, 204])


def test_a_delivery_of_another_subscription_is_not_there(api, receiver):
    hook, other = subscribe(api, receiver), subscribe(api, receiver, is_active=False)
    api.place()
    (delivery,) = until(lambda: deliveries(api, hook, "filter[state]=delivered"), lambda rows: rows)
    refused(api.post(at(other, "deliveries", delivery["id"], "redeliver")), 404, "not_found")
    assert len(receiver.requests) == 1


# Others, restarts, environments


def test_a_hanging_receiver_delays_no_other(api, receiver):
    with Receiver(hangs) as bad:
        hook = subscribe(api, bad)
        subscribe(api, receiver)
        orders = [api.place() for _ in range(8)]
        # Delivered one behind the other, most of these would come after eight attempts of ten seconds.
        receiver.wait_for(8)
        assert bad.connections <= 4
        assert {m["data"]["id"] for m in receiver.messages()} == {order["id"] for order in orders}
        accepted(api.delete(at(hook)))


def test_nine_dead_receivers_delay_no_other(api, receiver):
    dead = [f"http://127.0.0.1:{free_port()}/" for _ in range(5)]
    with Receiver(answers(500, retry_after=3600)) as failing, Receiver(breaks_off_head) as rude:
        hooks = [subscribe(api, receiver, webhook_url=url) for url in [*dead, failing.url, failing.url, rude.url, rude.url]]
        subscribe(api, receiver)
        for count in range(1, 7):
            order = api.place()
            receiver.wait_for(count)
            # It did not wait until the others were tried again.
            attempts = {r.headers["x-webhook-attempt"] for r in failing.requests + rude.requests if r.subject == order["id"]}
            assert attempts <= {"1"}
        for hook in hooks:
            record(api, hook, lambda h: h["consecutive_failures"] >= 3)
    assert numbers(receiver.messages()) == [1, 2, 3, 4, 5, 6]


def test_sixteen_hanging_receivers_delay_another_by_one_attempt_at_most(api, receiver):
    with Receiver(hangs) as bad:
        hooks = [subscribe(api, bad) for _ in range(16)]
        subscribe(api, receiver)
        api.place()
        receiver.wait_for(1)
        assert {r.headers["x-webhook-attempt"] for r in bad.requests} <= {"1"}
        # Their first attempts have all the places, until they have failed; then half of the places are for others.
        for hook in hooks:
            record(api, hook, lambda h: h["consecutive_failures"] > 0)
        began = time.monotonic()
        for count in range(2, 8):
            api.place()
            receiver.wait_for(count)
        assert time.monotonic() - began < 6 * ATTEMPT_S, "each waited for an attempt"
        for hook in hooks:
            accepted(api.delete(at(hook)))


def test_a_receiver_that_hung_gets_everything_when_it_answers(lan, api, receiver):
    def timeouts():
        return of_box(lan)['comanda_net_calls_total{purpose="webhooks",outcome="timeout"}']

    before = timeouts()
    hung = threading.Semaphore(4)
    receiver.answer = lambda request: hangs(request) if hung.acquire(blocking=False) else (204, {}, b"")
    hook = subscribe(api, receiver)
    for _ in range(6):
        api.place()
    receiver.wait_for(4)
    wait_until(lambda: timeouts() == before + 4, "the ends of four attempts")
    change(api, hook, is_active=True)
    record(api, hook, lambda h: h["backlog"] == 0)
    assert [numbers(receiver.messages()).count(n) for n in range(1, 7)] == [2, 2, 2, 2, 1, 1]


def test_the_address_is_judged_again_at_each_attempt(receiver):
    with own_box() as (box, api):
        hook = subscribe(api, receiver)
        api.close()
        box.stop()
        box.options.remove(LOOPBACK[1])
        box.options.remove(LOOPBACK[0])
        box.start()
        api.place()
        found = record(api, hook, lambda h: h["last_outcome"])
        assert (found["last_outcome"], found["last_status"]) == ("address_refused", None)
        assert [a["outcome"] for a in try_out(api, hook)["attempts"]] == ["address_refused"]
        assert receiver.requests == []


def test_a_deleted_subscription_gets_nothing_more(api, receiver):
    with Receiver() as fence:
        hook = subscribe(api, receiver)
        subscribe(api, fence)
        api.place()
        receiver.wait_for(1)
        accepted(api.delete(at(hook)))
        api.place()
        fence.wait_for(2)
        assert len(receiver.requests) == 1


def slowly(request):
    time.sleep(0.05)
    return 204, {}, b""


def restart(box, api, ending):
    api.close()
    {"stop": box.stop, "kill": box.kill}[ending]()
    box.start()


@pytest.mark.parametrize("ending", ["stop", "kill"])
def test_a_restart_loses_nothing(receiver, ending):
    receiver.answer = slowly
    with own_box() as (box, api):
        hook = subscribe(api, receiver)
        after = cursor(api)
        orders = [api.place() for _ in range(10)]
        for order in orders:
            api.add(order, item(2))
        restart(box, api, ending)  # with some of them under way
        change(api, hook, is_active=True)
        orders.append(api.place())
        record(api, hook, lambda h: h["backlog"] == 0 and h["sequence"] == 21)
        bodies = {}
        for request in receiver.requests:  # some twice: the box may not have seen the answer
            assert bodies.setdefault(request.headers["webhook-id"], request.body) == request.body
        assert set(bodies) == {e["event_id"] for e in log(api, after)}
        assert {m["sequence"] for m in receiver.messages()} == set(range(1, 22))
        for order in orders[:10]:
            assert list(dict.fromkeys(m["data"]["version"] for m in receiver.messages(order))) == [1, 2]


@pytest.mark.parametrize("ending", ["stop", "kill"])
def test_what_waits_outlives_a_restart(receiver, ending):
    receiver.answer = answers(500)
    with own_box() as (box, api):
        hook = subscribe(api, receiver)
        orders = [api.place() for _ in range(6)]
        record(api, hook, lambda h: h["consecutive_failures"] >= 3)
        restart(box, api, ending)
        receiver.answer = answers(204)
        change(api, hook, is_active=True)
        record(api, hook, lambda h: h["backlog"] == 0)
        assert {m["sequence"]: m["data"]["id"] for m in receiver.messages()} == {
            n: order["id"] for n, order in enumerate(orders, 1)}
        for order in orders:
            assert len({r.body for r in receiver.requests if r.subject == order["id"]}) == 1


def test_the_sandbox_has_its_own_subscriptions(receiver):
    port = free_port()
    with own_box("--sandbox-listen", f"127.0.0.1:{port}") as (box, api), Receiver() as sandbox_receiver:
        with contextlib.closing(box.client(box.make_key(env="test")["key"])) as tester:
            tester.port = port
            hook = subscribe(api, receiver)
            tried = subscribe(tester, sandbox_receiver)
            assert [h["id"] for h in api.get(PATH).data] == [hook["id"]]
            assert [h["id"] for h in tester.get(PATH).data] == [tried["id"]]
            live, tested = api.place(), tester.place()
            receiver.wait_for(1)
            sandbox_receiver.wait_for(1)
            assert [m["data"]["id"] for m in receiver.messages()] == [live["id"]]
            assert [m["data"]["id"] for m in sandbox_receiver.messages()] == [tested["id"]]
            answer = tester.post(PATH, {"webhook_url": receiver.url, "event": ["ORDER_PAID"]})
            assert (answer.status, answer.fields) == (422, {"event": "unknown_field"})

            accepted(tester.post("/sandbox/reset"))
            assert tester.get(PATH).data == []
            assert tester.get(at(tried)).status == 404
            tester.place()
            api.place()
            receiver.wait_for(2)
            assert len(sandbox_receiver.requests) == 1
            assert [h["id"] for h in api.get(PATH).data] == [hook["id"]]


# What is not stored yet

def test_an_order_does_not_wait_for_another_whose_transfer_hangs(api, receiver):
    slow, release = [], threading.Event()

    def answer(request):
        if request.json["data"]["id"] in slow:
            release.wait(PATIENCE_S)
        return 204, {}, b""

    receiver.answer = answer
    hook = subscribe(api, receiver)
    with contextlib.ExitStack() as stack:
        stack.callback(release.set)
        first = api.place()
        receiver.wait_for(1)
        slow.append(first["id"])
        api.add(first, item(4))
        receiver.wait_for(2)
        time.sleep(0.3)  # until the worker sleeps
        other = api.place()
        receiver.wait_for(3)
        assert receiver.messages(other) and record(api, hook)["consecutive_failures"] == 0, "it waited for the end of the attempt"


@pytest.mark.parametrize("pause_s", [0, 0.3])
def test_a_wait_is_cleared_also_where_the_failure_is_not_stored_yet(api, receiver, pause_s):
    receiver.answer = refuses_first(1, retry_after=3600)
    hook = subscribe(api, receiver)
    api.place()
    receiver.wait_for(1)
    time.sleep(pause_s)
    change(api, hook, is_active=True)
    receiver.wait_for(2)
    assert [r.headers["x-webhook-attempt"] for r in receiver.requests] == ["1", "2"]


def test_what_is_skipped_is_not_sent_also_where_its_failure_is_not_stored_yet(api, receiver):
    receiver.answer = refuses_first(1)
    hook = subscribe(api, receiver)
    skipped = api.place()
    receiver.wait_for(1)
    time.sleep(0.3)
    found = change(api, hook, is_active=True, skip_backlog=True)
    assert (found["backlog"], found["events_lost"]) == (0, 1)
    after = api.place()
    receiver.wait_for(2)
    found = record(api, hook, lambda h: h["sequence"] == 2)
    assert (found["backlog"], found["events_lost"]) == (0, 1)
    assert len(receiver.messages(skipped)) == 1 and numbers(receiver.messages(after)) == [2]


def test_a_restart_keeps_the_attempts_of_what_is_late_behind_an_unsettled_event():
    release = threading.Event()

    def answer(request):
        if request.json["sequence"] == 1:
            release.wait(PATIENCE_S)
        return (500 if request.json["sequence"] == 2 else 204), {}, b""

    with Receiver() as receiver, own_box() as (box, api), contextlib.ExitStack() as stack:
        stack.callback(release.set)
        receiver.answer = answer
        hook = subscribe(api, receiver, is_active=False)
        for _ in range(2):
            api.place()
        change(api, hook, is_active=True)
        (late,) = until(lambda: deliveries(api, hook), len)
        api.close()
        box.kill()
        release.set()
        box.start()
        until(lambda: deliveries(api, hook), lambda rows: len(rows) == 2)
        (found,) = [row for row in deliveries(api, hook) if row["id"] == late["id"]]
        assert (found["state"], found["attempts"]) == ("late", late["attempts"])


# The command line

def test_the_command_line_makes_tests_and_removes_a_webhook(lan, api, receiver):
    def run(*words, code=0):
        result = lan.command("webhooks", *words, "--data", str(lan.data), check=False)
        assert result.returncode == code, (words, result.stdout, result.stderr)
        return result.stdout if code == 0 else result.stderr

    added = run("add", receiver.url, "--events", "ORDER_CREATED,ORDER_PAID")
    id = added.split()[1]
    assert "whsec_" in added and "whsec_" not in run("show", id)
    assert id in run("list")
    assert "WEBHOOK_TEST  delivered  acknowledged  204" in run("test", id)
    api.place()
    receiver.wait_for(2)
    record(api, {"id": id}, lambda h: h["sequence"] == 1)
    assert ["ORDER_CREATED", "WEBHOOK_TEST"] == [line.split()[2] for line in run("log", id).splitlines()]
    assert "queued" in run("redeliver", id, run("log", id).split()[0])
    assert run("redeliver", id, "dead") == "0 queued\n"
    assert "paused" in run("pause", id) and "active" in run("resume", id, "--skip")
    assert "whsec_" in run("rotate", id, "--now")
    assert "removed" in run("remove", id) and "There is no webhook" in run("remove", id, code=1)
    assert "say list, add" in run("eat", code=2)


def pin_command(lan, tmp_path, *words, networks="127.0.0.1/32", code=0):
    """`comanda webhooks pin` with settings of its own: it needs neither a server nor a database."""
    (tmp_path / "comanda.conf").write_text(f"webhook_networks = {networks}\n")
    result = lan.command("webhooks", "pin", *words, "--data", str(tmp_path), check=False)
    assert result.returncode == code, (words, result.stdout, result.stderr)
    return result.stdout if code == 0 else result.stderr


@pytest.mark.parametrize("kind", ["ec", "rsa"])
def test_the_pin_that_the_command_line_shows_lets_a_delivery_pass(lan, api, tmp_path, kind):
    pair = make_pair(tmp_path, "receiver", kind)
    with Receiver(tls=pair) as receiver:
        shown = json.loads(pin_command(lan, tmp_path, receiver.url, "--json"))
        assert shown["public_key_pin"] == pin_of(pair)
        assert shown["webhook_url"] == receiver.url
        assert shown["subject"] == shown["issuer"] == "CN=receiver"
        assert (shown["dns_names"], shown["addresses"]) == (["localhost"], ["127.0.0.1"])
        assert instant(shown["not_before"]) <= time.time() <= instant(shown["not_after"])
        assert shown["fingerprint_sha256"] == fingerprint_of(pair)
        assert (shown["address"], shown["tls_version"][:4]) == ("127.0.0.1", "TLSv")
        text = pin_command(lan, tmp_path, receiver.url)
        for part in (pin_of(pair), "CN=receiver", "localhost, 127.0.0.1", fingerprint_of(pair), "Nothing of this is verified"):
            assert part in text
        assert receiver.requests == []

        hook = subscribe(api, receiver)
        assert [a["outcome"] for a in try_out(api, hook)["attempts"]] == ["tls_untrusted"]
        change(api, hook, public_key_pin=shown["public_key_pin"])
        assert try_out(api, hook)["state"] == "delivered"
        added = lan.command("webhooks", "add", receiver.url, "--pin", shown["public_key_pin"], "--data", str(lan.data))
        assert try_out(api, {"id": added.stdout.split()[1]})["state"] == "delivered"


def test_a_pin_is_shown_of_nothing_that_a_webhook_cannot_call(lan, tmp_path):
    def refusal(url, networks="127.0.0.1/32", code=1):
        return pin_command(lan, tmp_path, *([url] if url else []), networks=networks, code=code)

    with Receiver(tls=make_pair(tmp_path, "receiver")) as receiver, Receiver() as plain:
        assert "is loopback" in refusal(receiver.url, "10.20.0.0/16")
        assert "is loopback" in refusal(receiver.url.replace("127.0.0.1", "localhost"), "10.20.0.0/16")
        assert "has no certificate" in refusal(plain.url)
        assert receiver.requests == plain.requests == []
    assert "gave no certificate: connection_failed" in refusal(receiver.url)
    assert "link-local" in refusal("https://169.254.169.254/")
    assert "fragment" in refusal("https://127.0.0.1/#")
    assert "name_not_found" in refusal("https://receiver.onion/")
    assert "name the URL" in refusal(None, code=2)
