"""The connection to the database ends at each message of an order's life. A till that repeats what is not answered, with the same
key, has each step done once."""

import contextlib
import http.client

from support.box import LONG
from support.orders import new_id
from support.waiting import wait_until


def until_answered(client, method, path, body, key):
    def answer():
        with contextlib.suppress(OSError, http.client.HTTPException):
            answer = client.send(method, path, body, {"Idempotency-Key": key})
            return None if answer.status == 503 else answer
        client.close()

    return wait_until(answer, f"{method} {path} is not answered")


def live(client):
    """From the first call to the last; what the till was told last of the order."""
    reference = new_id()
    order = until_answered(client, "POST", "/v1/orders", {"service_type": "ONSITE"}, reference)
    assert order.status == 201, order.body
    path = "/v1/orders/" + order.json["data"]["id"]
    steps = [("POST", "/combos", {"combos": [{"product_name": "Jalea", "quantity": 2, "variant_price": 24.5}]}),
             ("PATCH", "/status", {"status": "PREPARING"}),
             ("POST", "/discounts", {"type": "PERCENTAGE", "value": 10}),
             ("POST", "/payments", {"payment_method_code": "cash", "amount": 44.1}),
             ("PATCH", "/status", {"status": "FINALIZED"})]
    for number, (method, below, body) in enumerate(steps):
        order = until_answered(client, method, path + below, body, f"{reference}-{number}")
        assert (order.status, order.json["data"]["version"]) == (200, number + 2), order.body
    return path, order.body


def test_an_order_survives_the_end_of_the_connection_at_each_message(head, api, seed):
    live(api)
    before = head.proxy.passed
    live(api)
    messages = head.proxy.passed - before
    step = 1 if LONG else 23
    for at in range(seed % step, messages, step):
        head.proxy.cut_after(at)
        path, told = live(api)
        found = wait_until(lambda: found if (found := api.get(path)).status == 200 else None, path)
        assert found.body == told, at
    (gaps,) = head.rows("SELECT max(seq) - min(seq) + 1 - count(*), count(*) - count(DISTINCT event_id) FROM event")
    assert gaps == (0, 0)
    assert head.value("SELECT count(*) FROM (SELECT 1 FROM event WHERE subject_type = 'order' "
                      "GROUP BY subject_id, subject_version HAVING count(*) > 1) AS twice") == 0
