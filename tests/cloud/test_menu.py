"""The menu and its stock on both sides."""

import contextlib
import json
import threading

import pytest

from support.box import PATIENCE_S
from support.cloud_pair import Pair


def product_of(client, name):
    products = [p for c in client.get("/v1/menu").data["categories"] for p in c["products"]]
    (found,) = [p for p in products if p["name"] == name]
    return found


def counted(client):
    """A product whose stock is counted."""
    return next(p for c in client.get("/v1/menu").data["categories"] for p in c["products"] if p["stock_enabled"])


@pytest.fixture
def both(pair):
    with contextlib.closing(pair.client()) as box, contextlib.closing(pair.cloud.client(pair.cloud_key)) as cloud:
        yield pair, box, cloud


def refresh(pair):
    """Makes the next reading of the menu due."""
    pair.command("resume")


def test_a_price_that_changes_in_the_cloud_changes_here(both):
    pair, box, cloud = both
    theirs = product_of(cloud, "Ceviche clásico")
    path = f"/v1/menu/products/{theirs['id']}/variants/{theirs['variants'][0]['id']}"
    assert cloud.patch(path, {"price": 41.5}).status == 200
    refresh(pair)

    def changed():
        assert product_of(box, "Ceviche clásico")["variants"][0]["price"] == 41.5
    pair.eventually(changed)


def test_a_new_product_of_the_cloud_comes_here_and_one_of_the_box_goes_there(both):
    pair, box, cloud = both
    new = (cloud, "Nuevo allá", 7), (box, "Nuevo aquí", 8)
    for client, name, price in new:
        body = {"name": name, "category_name": "Nuevos", "price": price, "sku": name[-4:]}
        assert client.post("/v1/menu/products", body).status == 201
    refresh(pair)

    def exchanged():
        for client in (box, cloud):
            for _, name, price in new:
                found = [p for c in client.get("/v1/menu").data["categories"] for p in c["products"] if p["name"] == name]
                assert len(found) == 1 and found[0]["variants"][0]["price"] == price, (name, found)
    pair.eventually(exchanged)
    refresh(pair)
    pair.settle()
    exchanged()


def test_a_price_that_changes_on_both_sides_is_the_boxs_and_that_is_told(both):
    pair, box, cloud = both
    pair.proxy.go_offline()
    for client, price in ((cloud, 39.5), (box, 41.5)):
        product = product_of(client, "Ceviche clásico")
        path = f"/v1/menu/products/{product['id']}/variants/{product['variants'][0]['id']}"
        assert client.patch(path, {"price": price}).status == 200
    pair.proxy.go_online()
    refresh(pair)

    def pushed():
        for client in (box, cloud):
            assert product_of(client, "Ceviche clásico")["variants"][0]["price"] == 41.5
        assert any(d["kind"] == "menu" for d in pair.differences()), json.dumps(pair.differences())
    pair.eventually(pushed)


def test_stock_is_the_clouds_less_what_the_box_sold_meanwhile(both):
    pair, box, cloud = both
    here, there = counted(box), counted(cloud)
    assert here["name"] == there["name"]
    path = f"/v1/menu/products/{there['id']}/variants/{there['variants'][0]['id']}"
    assert cloud.patch(path, {"stock": 50}).status == 200
    refresh(pair)

    def stock(client, product):
        return client.get("/v1/menu/products/" + product["id"]).data["variants"][0]["stock"]

    def require(client, product, count):
        assert stock(client, product) == count, stock(client, product)

    pair.eventually(lambda: require(box, here, 50))
    box.add(box.place(), {"variant_id": here["variants"][0]["id"], "quantity": 3, "variant_price": 5})
    require(box, here, 47)
    pair.settle()
    pair.eventually(lambda: require(cloud, there, 47))
    refresh(pair)
    pair.settle()
    require(box, here, 47)
    # What is sold while the cloud is away counts on both sides once it is back.
    pair.proxy.go_offline()
    box.add(box.place(), {"variant_id": here["variants"][0]["id"], "quantity": 2, "variant_price": 5})
    cloud.add(cloud.place(), {"variant_id": there["variants"][0]["id"], "quantity": 4, "variant_price": 5})
    pair.proxy.go_online()
    pair.settle()
    refresh(pair)
    pair.eventually(lambda: require(cloud, there, 41))
    pair.eventually(lambda: require(box, here, 41))


def test_what_the_sync_writes_here_is_not_pushed_back(tmp_path, seed):
    with Pair(tmp_path, seed, strict=True) as pair:
        pair.link()
        menu = pair.cloud.restaurant.menu
        product = menu.named("Ceviche clásico")
        product["variants"][0]["price"] += 100
        product["updated_at"] = pair.cloud.now()
        pair.command("resume")
        with contextlib.closing(pair.client()) as client:
            def changed():
                assert product_of(client, "Ceviche clásico")["variants"][0]["price"] == 39
            pair.eventually(changed)
        till = pair.till()
        till.finish(till.open(service_type="ONSITE"))
        pair.settle()
        assert pair.cloud.seen("PUT", "/v1/menu/products") == []


def test_a_text_that_is_cleared_at_the_box_is_cleared_in_the_cloud(both):
    """PUT leaves out what is empty, so that a PATCH has to follow; a text that was empty on both sides costs no request."""
    pair, box, cloud = both
    product = product_of(box, "Ceviche clásico")
    path = f"/v1/menu/products/{product['id']}"
    assert box.patch(path, {"description": "of yesterday", "messages_for_customers": "spicy"}).status == 200
    pair.settle()
    pair.eventually(lambda: require(product_of(cloud, product["name"])["description"] == "of yesterday"))
    assert box.patch(path, {"description": None, "messages_for_customers": None}).status == 200
    pair.settle()

    def cleared():
        for client in (box, cloud):
            shown = product_of(client, product["name"])
            assert (shown["description"], shown["messages_for_customers"]) == (None, None)
    pair.eventually(cleared)
    refresh(pair)
    pair.settle()
    cleared()
    assert not pair.differences()


def require(holds):
    assert holds


def test_a_variant_that_leaves_the_cloud_is_told(tmp_path, seed):
    """A variant cannot be hidden by itself: it stays, and a difference names it, once."""
    with Pair(tmp_path, seed, strict=True) as pair:
        pair.link()
        pair.settle()
        product = next(p for p in pair.cloud.restaurant.menu.products.values() if len(p["variants"]) > 1)
        gone = product["variants"].pop()
        product["updated_at"] = pair.cloud.now()
        pair.command("resume")

        def told():
            differences = pair.differences()
            assert [d["kind"] for d in differences] == ["menu"] and gone["name"] in differences[0]["detail"], differences
        pair.eventually(told)
        pair.command("resume")
        pair.settle()
        told()
        with contextlib.closing(pair.client()) as client:
            assert gone["name"] in [v["name"] for v in product_of(client, product["name"])["variants"]]


def test_a_dish_that_is_sold_out_here_is_hidden_there_for_as_long(both):
    """The specification has no other word for it. The reading does not take it back as the cloud's edit."""
    pair, box, cloud = both
    here = product_of(box, "Ceviche clásico")
    path = f"/v1/menu/products/{here['id']}"
    assert box.put(path + "/sold-out", {"until": None}).status == 200

    def hidden():
        assert product_of(cloud, "Ceviche clásico")["visible"] is False
    pair.eventually(hidden)
    for description in ("Once", "Twice"):  # the cloud's other edits are taken meanwhile
        theirs = product_of(cloud, "Ceviche clásico")
        assert cloud.patch(f"/v1/menu/products/{theirs['id']}", {"description": description}).status == 200
        refresh(pair)

        def taken():
            seen = product_of(box, "Ceviche clásico")
            assert (seen["description"], seen["visible"], seen["available"]) == (description, True, False)
        pair.eventually(taken)
        assert product_of(cloud, "Ceviche clásico")["visible"] is False
    assert box.delete(path + "/sold-out").status == 200

    def shown():
        assert product_of(cloud, "Ceviche clásico")["visible"] is True
        seen = product_of(box, "Ceviche clásico")
        assert (seen["visible"], seen["available"], seen["sold_out"]) == (True, True, None)
    pair.eventually(shown)
    refresh(pair)
    pair.settle()
    shown()
    assert not pair.differences()


def test_what_is_asked_for_while_the_menu_is_read_is_read_too(strict_pair):
    """`resume` makes all due; the reading that is under way then has an answer of before, and says that it took place."""
    pair = strict_pair
    pair.settle()
    is_read, may_end = threading.Event(), threading.Event()

    def late(request, answer):
        if request.method == "GET" and request.path == "/v1/menu" and not is_read.is_set():
            is_read.set()
            assert may_end.wait(PATIENCE_S)
        return answer
    pair.cloud.distortions.append(late)
    refresh(pair)
    assert is_read.wait(PATIENCE_S)
    pair.cloud.restaurant.menu.named("Ceviche clásico")["description"] = "Between"
    refresh(pair)
    may_end.set()
    with contextlib.closing(pair.box.client(pair.box.make_key(scopes="menu:read")["key"])) as box:
        def taken():
            assert product_of(box, "Ceviche clásico")["description"] == "Between"
        pair.eventually(taken)


def test_what_a_station_prepares_is_the_boxs_own(both):
    """The cloud's menu has no word for it: reading it wakes no display for nothing, moves no dish to another station, and
    leaves what the kitchen has said of its stations."""
    pair, box, cloud = both
    here = product_of(box, "Ceviche clásico")
    with contextlib.closing(pair.box.client(pair.box.make_key(scopes="kitchen:read,kitchen:write,admin:write,menu:read")["key"])) as panel:
        station = next(row for row in panel.get("/v1/kitchen/stations").data if row["id"] == here["kitchen_id"])
        order = box.add(box.place(), {"product_id": here["id"], "variant_id": here["variants"][0]["id"], "quantity": 1,
                                      "variant_price": 5})
        assert panel.patch(f"/v1/kitchen/stations/{station['id']}", {"prepares": False}).status == 200
        pair.settle()
        cursor = panel.get("/v1/kitchen/tickets").headers["x-event-cursor"]
        theirs = product_of(cloud, "Ceviche clásico")
        assert cloud.patch(f"/v1/menu/products/{theirs['id']}", {"description": "Del cloud"}).status == 200
        refresh(pair)

        def taken():
            assert product_of(box, "Ceviche clásico")["description"] == "Del cloud"
        pair.eventually(taken)
        refresh(pair)
        pair.settle()
        assert product_of(box, "Ceviche clásico")["kitchen_id"] == here["kitchen_id"]
        assert next(row for row in panel.get("/v1/kitchen/stations").data if row["id"] == station["id"])["prepares"] is False
        told = panel.get(f"/v1/kitchen/changes?after={cursor}").json["data"]
        assert [row for row in told if row["order_id"] == order["id"] and row["state"] != "closed"] == []
        after = panel.get("/v1/kitchen/tickets").headers["x-event-cursor"]
        assert panel.patch(f"/v1/kitchen/stations/{station['id']}", {"prepares": True}).status == 200
        (row,) = panel.get(f"/v1/kitchen/changes?after={after}").json["data"]
        assert (row["order_id"], row["state"], row["lines"][0]["waits"]) == (order["id"], "open", True)
