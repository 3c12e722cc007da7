"""The sandbox: its own port, database and keys; seeded, resettable; nothing crosses."""

import contextlib

import pytest

from support.box import Box, free_port
from support.metrics import samples


@pytest.fixture(scope="module")
def sandbox():
    """(the box, the sandbox's port, a test key): nothing was imported, so the box seeded it itself."""
    box = Box()
    port = free_port()
    box.options += ["--sandbox-listen", f"127.0.0.1:{port}"]
    box.bring_in("demo")
    box.start()
    yield box, port, box.make_key(env="test")["key"]
    box.discard()


@pytest.fixture
def tester(sandbox):
    box, port, key = sandbox
    with contextlib.closing(box.client(key)) as client:
        client.port = port
        yield client


def test_the_sandbox_has_the_demo_restaurant(tester, demo):
    assert tester.get("/v1/company").data["name"] == demo["name"]


def test_keys_do_not_cross(sandbox, tester):
    box, port, test_key = sandbox
    live_key = box.make_key()["key"]
    with contextlib.closing(box.client(test_key)) as client:
        assert client.get("/v1/orders").code == "wrong_environment"
    with contextlib.closing(box.client(live_key)) as client:
        client.port = port
        assert client.get("/v1/orders").code == "wrong_environment"


def test_orders_do_not_cross(sandbox, tester):
    box, _, _ = sandbox
    order = tester.place()
    with contextlib.closing(box.client(box.make_key()["key"])) as live:
        assert live.get(f"/v1/orders/{order['id']}").status == 404
        assert live.get("/v1/orders").json["pagination"]["total"] == 0


def test_unknown_fields_are_refused_here_with_the_nearest_known_one(tester):
    answer = tester.post("/v1/orders", {"service_type": "ONSITE", "order_titel": "Rosa"}, {"Idempotency-Key": "typo"})
    assert (answer.status, answer.fields) == (422, {"order_titel": "unknown_field"})
    assert "order_title" in answer.json["errors"][0]["message"]


def test_a_reset_forgets_orders_and_puts_the_menu_back(tester):
    tester.place(reference="before-reset")
    menu = tester.get("/v1/menu").data
    product = menu["categories"][0]["products"][0]
    assert tester.patch(f"/v1/menu/products/{product['id']}", {"name": "Otro nombre"}).status == 200
    cursor = tester.get("/v1/orders").headers["x-event-cursor"]
    tag = tester.get("/v1/menu").etag

    assert tester.post("/sandbox/reset").data == {"reset": True}

    # The demo restaurant has two (src/app/demo_orders.h).
    assert [order["public_id"] for order in tester.get("/v1/orders").data] == ["PE-7222853393", "PE-9599449059"]
    back = tester.get("/v1/menu", **{"If-None-Match": tag})
    assert back.status == 200
    assert [c["name"] for c in back.data["categories"]] == [c["name"] for c in menu["categories"]]
    names = [p["name"] for c in back.data["categories"] for p in c["products"]]
    assert "Otro nombre" not in names and product["name"] in names
    assert tester.get(f"/v1/events?after={cursor}").code == "cursor_expired"
    assert tester.place(reference="before-reset")["order_number"] == 3


def test_a_reset_refuses_fields_that_it_does_not_know(tester):
    order = tester.place()
    answer = tester.post("/sandbox/reset", {"keep_orders": True})
    assert (answer.status, answer.fields) == (422, {"keep_orders": "unknown_field"})
    assert tester.post("/sandbox/reset", []).fields == {"body": "wrong_type"}
    assert tester.get(f"/v1/orders/{order['id']}").status == 200
    for body in [{}, b"", None]:
        assert tester.post("/sandbox/reset", body).data == {"reset": True}


def test_the_live_address_has_no_reset(api):
    assert api.post("/sandbox/reset").status == 404


def test_a_box_without_the_setting_has_no_sandbox(box):
    assert "sandbox address" not in box.log_text()


def test_no_metric_stands_twice(sandbox):
    box, _, _ = sandbox
    with contextlib.closing(box.client()) as client:
        found = samples(client.get("/metrics").body.decode())
    assert {'comanda_http_connections{listener="%s",state="idle"}' % name for name in ("https", "https-test")} <= set(found)
