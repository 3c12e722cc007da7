"""Idempotency-Key on every write (contract section 5)."""

import concurrent.futures
import contextlib

import pytest

from support.box import Box
from support.orders import accepted, in_days, item, new_id, new_key, news, path, read, refused

# Every write below an order: method, path and body.
WRITES = {
    "fields": ("PATCH", [], {"comment": "x"}),
    "status": ("PATCH", ["status"], {"status": "READY"}),
    "cancel": ("POST", ["cancel"], {"reason": "left"}),
    "combos": ("POST", ["combos"], {"combos": [item(12.5)]}),
    "payments": ("POST", ["payments"], {"payment_method_code": "cash", "amount": 5}),
    "discounts": ("POST", ["discounts"], {"type": "AMOUNT", "value": 1}),
    "rider": ("PUT", ["rider"], {"name": "Beto"}),
    "rider's end": ("DELETE", ["rider"], None),
    "delivery status": ("PATCH", ["delivery-status"], {"delivery_status": "DRIVER_ARRIVED_AT_STORE"})}


def place(api, key, body=b'{"service_type":"ONSITE","packaging_price":12.5,"comment":"x"}', query=""):
    return api.post("/v1/orders" + query, body, {**key, "Content-Type": "application/json"})


def write(api, order, name, key):
    method, parts, body = WRITES[name]
    return api.send(method, path(order, *parts), body, key)


def delivery(api):
    return api.place(service_type="DELIVERY")


def replayed(first, again):
    """The first answer byte for byte."""
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert (again.status, again.body) == (first.status, first.body)
    for name in ["etag", "location", "content-type"]:
        assert again.headers.get(name) == first.headers.get(name), name


def reused(answer, says=()):
    refused(answer, 422, "idempotency_key_reused", says=says)


# The same request

def test_an_order_placed_again_is_the_first_answer(api):
    key = new_key()
    first = place(api, key)
    assert first.status == 201
    for _ in range(3):
        replayed(first, place(api, key))


def test_the_first_answer_stays_when_the_order_has_moved_on(api):
    key = new_key()
    first = place(api, key)
    api.advance(first.data, "FINALIZED")
    replayed(first, place(api, key))


@pytest.mark.parametrize("name", WRITES)
def test_every_write_is_done_once(api, box, name):
    order, key = delivery(api), new_key()
    first = write(api, order, name, key)
    accepted(first)
    for _ in range(2):
        replayed(first, write(api, order, name, key))
    assert len(news(box, order)) == (name != "rider's end")
    assert read(api, order) == first.data


@pytest.mark.parametrize("kind, body", [
    ("combos", {"combos": [item()]}), ("payments", {"payment_method_code": "cash", "amount": 1}),
    ("discounts", {"type": "AMOUNT", "value": 1})])
def test_every_removal_is_done_once(api, box, kind, body):
    order, key = delivery(api), new_key()
    row = accepted(api.post(path(order, kind), body))[kind][0]
    first = api.delete(path(order, kind, row["id"]), key)
    replayed(first, api.delete(path(order, kind, row["id"]), key))
    assert len(news(box, order)) == 2


def test_an_unchanged_answer_is_replayed_like_any_other(api):
    order = api.advance(delivery(api), "READY")
    key = new_key()
    first = write(api, order, "status", key)
    assert first.data == order
    api.advance(order, "FINALIZED")
    replayed(first, write(api, order, "status", key))


@pytest.mark.parametrize("body", [
    b'{"comment":"x","packaging_price":12.5,"service_type":"ONSITE"}',
    b'{ "service_type" : "ONSITE",\n"packaging_price": 12.50, "comment": "x" }',
    b'{"service_type":"ONSITE","packaging_price":1.25e1,"comment":"\\u0078"}',
    b'{"service_type":"\\u004fNSITE","packaging_price":125E-1,"comment":"x"}'])
def test_a_body_that_says_the_same_is_the_same_request(api, body):
    key = new_key()
    replayed(place(api, key), place(api, key, body))


def test_a_public_id_and_a_uuid_in_any_case_are_one_path(api):
    order, key = delivery(api), new_key()
    first = write(api, order, "combos", key)
    for name in [order["public_id"], order["public_id"].lower(), order["id"].upper(), order["id"]]:
        replayed(first, write(api, {"id": name}, "combos", key))
    assert len(read(api, order)["combos"]) == 1


# Another request

@pytest.mark.parametrize("body", [
    b'{"service_type":"TABLE","packaging_price":12.5,"comment":"x"}',
    b'{"service_type":"ONSITE","packaging_price":12.51,"comment":"x"}',
    b'{"service_type":"ONSITE","packaging_price":12.5}',
    b'{"service_type":"ONSITE","packaging_price":12.5,"comment":"x","colour":"blue"}',
    b'{"service_type":"ONSITE","packaging_price":12.5,"comment":"x","order_title":null}',
    b'{"service_type":"ONSITE","packaging_price":"12.5","comment":"x"}'])
def test_another_body_under_the_same_key_is_refused_and_the_order_named(api, body):
    key = new_key()
    first = place(api, key)
    reused(place(api, key, body), says=first.data["id"])
    replayed(first, place(api, key))


def test_another_body_is_refused_before_its_fields_are_checked(api):
    order, key = delivery(api), new_key()
    accepted(write(api, order, "combos", key))
    reused(api.post(path(order, "combos"), {"combos": []}, key))


def test_one_key_serves_many_paths(api):
    order, another, key = delivery(api), delivery(api), new_key()
    for target in [order, another]:
        for name in ["fields", "combos", "payments", "discounts", "rider", "delivery status", "status"]:
            answer = write(api, target, name, key)
            assert accepted(answer)["id"] == target["id"]
            assert "idempotency-replayed" not in answer.headers


def test_put_and_delete_of_one_path_are_two(api):
    order, key = delivery(api), new_key()
    accepted(write(api, order, "rider", key))
    assert accepted(write(api, order, "rider's end", key))["rider"] is None


def test_companies_do_not_share_keys(api, other):
    key = new_key()
    mine = place(api, key)
    body = b'{"service_type":"ONSITE","packaging_price":12,"comment":"x"}'
    theirs = place(other, key, body)
    assert (mine.status, theirs.status) == (201, 201)
    assert mine.data["id"] != theirs.data["id"]


def test_keys_differ_in_every_character_also_in_quotes_and_case(api):
    word = new_id()
    seen = {place(api, {"Idempotency-Key": k}).data["id"] for k in [word, f'"{word}"', word.upper() + "x", word + "X"]}
    assert len(seen) == 4


def test_the_key_of_an_order_names_it_for_ever(api):
    """Also at the place where it is a reference: no second order may have it."""
    key = new_key()
    first = place(api, key)
    listed = api.get("/v1/orders?filter[reference]=" + key["Idempotency-Key"])
    assert [o["id"] for o in listed.data] == [first.data["id"]]


# What is not kept

def test_a_refused_request_leaves_its_key_free(api):
    key = new_key()
    refused(place(api, key, b'{"service_type":"DINNER"}'), 422, "validation_failed")
    refused(place(api, key, b"{"), 400, "invalid_json")
    assert place(api, key).status == 201


def test_a_rule_of_state_leaves_its_key_free(api):
    order, key = api.add(delivery(api), item(10)), new_key()
    paid = api.pay(order, 10)
    refused(write(api, order, "cancel", key), 422, "order_has_active_payments")
    accepted(api.delete(path(order, "payments", paid["payments"][0]["id"])))
    answer = write(api, order, "cancel", key)
    assert accepted(answer)["status"] == "CANCELLED" and "idempotency-replayed" not in answer.headers


def test_reading_takes_no_notice_of_a_key(api):
    order, key = api.place(), new_key()
    for comment in ["one", "two"]:
        api.patch(path(order), {"comment": comment})
        answer = api.get(path(order), **key)
        assert answer.data["comment"].endswith(comment) and "idempotency-replayed" not in answer.headers


@pytest.mark.parametrize("value", ["a b", "x" * 256])
def test_a_malformed_key_is_refused_on_every_write(api, value):
    order = delivery(api)
    for name in WRITES:
        refused(write(api, order, name, {"Idempotency-Key": value}), 400, "invalid_header", says="255")
    assert read(api, order) == order


def test_a_key_that_comes_twice_is_refused(api):
    answer = api.post("/v1/orders", {"service_type": "ONSITE"}, {"Idempotency-Key": "a", "idempotency-key": "b"})
    refused(answer, 400, "invalid_header", says="twice")


# Credentials are checked on a replay too

def test_a_key_without_the_scope_gets_no_stored_answer(api, box, house):
    key = new_key()
    place(api, key)
    with contextlib.closing(box.client(box.make_key(scopes="orders:read", company=house.id)["key"])) as client:
        refused(place(client, key), 403, "insufficient_scope", says="orders:write")


# At the same time

def at_once(box, key, times, act):
    def one(_):
        with contextlib.closing(box.client(key)) as client:
            client.connect()
            return act(client)
    with concurrent.futures.ThreadPoolExecutor(times) as pool:
        return list(pool.map(one, range(times)))


def test_20_identical_orders_at_once_are_one(api, box, key):
    once = new_key()
    answers = at_once(box, key, 20, lambda client: place(client, once))
    assert {a.status for a in answers} == {201}
    assert len({a.body for a in answers}) == len({a.headers["location"] for a in answers}) == 1
    assert sum("idempotency-replayed" not in a.headers for a in answers) == 1
    listed = api.get("/v1/orders?filter[reference]=" + once["Idempotency-Key"])
    assert listed.json["pagination"]["total"] == 1
    assert news(box, answers[0].data) == []


def test_20_identical_payments_at_once_are_one(api, box, key):
    order, once = api.add(api.place(), item(100)), new_key()
    answers = at_once(box, key, 20, lambda client: write(client, order, "payments", once))
    assert {a.status for a in answers} == {200} and len({a.body for a in answers}) == 1
    assert read(api, order)["total_paid"] == 5


def test_20_payments_under_keys_of_their_own_are_20(api, box, key):
    order = api.add(api.place(), item(100))
    answers = at_once(box, key, 20, lambda client: write(client, order, "payments", new_key()))
    assert {a.status for a in answers} == {200}
    after = read(api, order)
    assert len(after["payments"]) == 20 and after["total_paid"] == 100 and after["paid"]
    assert after["version"] == order["version"] + 20


def test_different_orders_under_one_key_at_once_are_one(api, box, key):
    once = new_key()
    prices = iter(range(20))
    answers = at_once(box, key, 20, lambda client: place(
        client, once, b'{"service_type":"ONSITE","packaging_price":%d}' % next(prices)))
    assert sorted({a.status for a in answers}) == [201, 422]
    assert sum(a.status == 201 for a in answers) == 1
    for answer in answers:
        if answer.status == 422:
            reused(answer)


# For ever

@pytest.fixture
def own_box(tmp_path):
    box = Box(data=tmp_path)
    box.bring_in("demo")
    yield box
    box.stop()


def forget_stored_answers(box):
    """As after the days that they are kept."""
    box.execute("DELETE FROM idempotency")
    box.execute("UPDATE company_counter SET log_start = event_seq + 1, checksum = NULL")


def test_answers_are_kept_over_a_restart(own_box):
    key = own_box.make_key()["key"]
    order_key, combo_key = new_key(), new_key()
    own_box.start()
    with contextlib.closing(own_box.client(key)) as api:
        first = place(api, order_key)
        line = write(api, first.data, "combos", combo_key)
    own_box.stop()
    own_box.start()
    with contextlib.closing(own_box.client(key)) as api:
        replayed(first, place(api, order_key))
        replayed(line, write(api, first.data, "combos", combo_key))


def test_placing_an_order_is_remembered_when_its_answer_is_forgotten(own_box):
    key = own_box.make_key()["key"]
    order_key = new_key()
    body = ('{"service_type":"ONSITE","scheduled_delivery_date":"%s"}' % in_days(1)).encode()
    own_box.start()
    with contextlib.closing(own_box.client(key)) as api:
        order = place(api, order_key, body).data
        now = api.advance(order, "READY")
    own_box.stop()
    forget_stored_answers(own_box)
    own_box.start()
    with contextlib.closing(own_box.client(key)) as api:
        answer = place(api, order_key, body)
        assert answer.status == 200 and answer.data == now
        assert answer.headers["idempotency-replayed"] == "true"
        reused(place(api, order_key), says=order["id"])
        later = api.advance(order, "DELIVERED")
        assert place(api, order_key, body).data == later  # as it is now, however often it is asked
        assert api.get("/v1/orders").json["pagination"]["total"] == 1
