"""A cloud that knows only what the specification names (support/strict_cloud.py)."""

import contextlib

import pytest

from support.box import LONG
from support.cloud_pair import Pair, difference, essence
from support.orders import item, refused
from support.waiting import wait_until

ORDERS = 200 if LONG else 20


def from_cloud(pair, order):
    """The box's record of an order of the cloud, once it is there; found by its public id of the cloud."""
    with contextlib.closing(pair.client()) as client:
        def read():
            answer = client.get("/v1/orders/" + order.public_id)
            assert answer.status == 200, (answer.status, answer.body)
            return answer.data
        return pair.eventually(read)


def require_taken(pair, order):
    """The box shows the order of the cloud with the cloud's figures."""
    def check():
        box = from_cloud(pair, order)
        (cloud,) = [r for r in pair.cloud_records() if r["id"] == order.id]
        assert not difference(essence(box), essence(cloud)), difference(essence(box), essence(cloud))
        return box
    return pair.eventually(check)


@pytest.mark.parametrize("is_reuse_refused", [False, True], ids=["replays", "refuses"])
def test_every_order_comes_over_once(tmp_path, seed, is_reuse_refused):
    """Also where a key that comes again is answered by 422."""
    with Pair(tmp_path, seed, strict=True) as pair:
        pair.cloud.is_reuse_refused = is_reuse_refused
        pair.link()
        pair.proxy.rate = 0.25
        till = pair.till()
        for _ in range(ORDERS):
            till.serve()
        pair.settle()
        pair.eventually(pair.compare)


def test_no_parameter_is_sent_that_it_refuses(strict_pair):
    """Apart from what is tried to find out what the cloud offers."""
    pair = strict_pair

    def refused_ones():
        return {(r.path, *sorted(r.query)) for r in pair.cloud.seen() if r.status == 400}

    tried = refused_ones()
    assert len(tried) <= 3, tried
    pair.till().serve()
    pair.settle()
    pair.eventually(lambda: require_polls(pair, 20))
    assert refused_ones() == tried


def require_polls(pair, count):
    polls = [r for r in pair.cloud.seen("GET", "/v1/orders") if r.status == 200]
    assert len(polls) >= count, len(polls)


def test_an_order_of_the_cloud_is_shown_with_the_clouds_figures_and_is_not_edited_here(strict_pair):
    pair = strict_pair
    orders = pair.cloud.orders
    order = orders.create({"service_type": "DELIVERY", "delivery_price": 4}, source="PANEL")
    order.source = "API"  # for a moment: the panel adds its own rows
    orders.add_combos(order, {"combos": [item(12.5, 0.335), item(3, 2)]})
    orders.pay(order, {"payment_method_code": "cash", "amount": 5})
    order.source = "PANEL"
    box = require_taken(pair, order)
    assert box["source"] == "PANEL"
    with contextlib.closing(pair.client()) as client:
        refused(client.post(f"/v1/orders/{box['id']}/combos", {"combos": [item()]}), 422, "order_not_editable", says="cloud")
        refused(client.post(f"/v1/orders/{box['id']}/cancel", {"reason": "x"}), 422, "order_not_editable")


def test_an_order_of_the_cloud_moves_on_both_sides(strict_pair):
    pair = strict_pair
    orders = pair.cloud.orders
    order = orders.create({"service_type": "DELIVERY"}, source="PANEL")
    box = require_taken(pair, order)
    with contextlib.closing(pair.client()) as client:
        client.advance(box, "READY")
        pair.eventually(lambda: require_status(order, "READY"))
        orders.deliver(order, {"delivery_status": "DELIVERED"})
        assert require_taken(pair, order)["status"] == "DELIVERED"
        orders.advance(order, {"status": "FINALIZED"})
        assert require_taken(pair, order)["status"] == "FINALIZED"


def require_status(order, status):
    assert order.status == status


def test_what_the_box_made_is_moved_by_the_cloud(strict_pair):
    pair = strict_pair
    till = pair.till()
    order = till.add(till.open(service_type="ONSITE"))
    pair.settle()
    there = pair.cloud.orders.by_reference[order["reference"]]
    pair.cloud.orders.advance(there, {"status": "DELIVERED"})
    with contextlib.closing(pair.client()) as client:
        def moved():
            assert client.get("/v1/orders/" + order["id"]).data["status"] == "DELIVERED"
        pair.eventually(moved)


def test_a_source_that_is_unknown_is_shown_as_it_is_and_a_status_beside_the_last_known_one(strict_pair):
    pair = strict_pair
    order = pair.cloud.orders.create({"service_type": "ONSITE"}, source="MARS_EATS")
    assert require_taken(pair, order)["source"] == "MARS_EATS"
    order.status = "ON_HOLD"
    order.updated_at = pair.cloud.now()
    with contextlib.closing(pair.client()) as client:
        def shown():
            record = client.get("/v1/orders/" + order.id).data
            assert (record["status"], record["foreign_status"]) == ("PENDING", "ON_HOLD")
        pair.eventually(shown)


def test_an_empty_box_gets_its_restaurant_from_the_cloud(tmp_path, seed):
    with Pair(tmp_path, seed, strict=True, is_empty=True) as pair:
        pair.link()
        with contextlib.closing(pair.client()) as client:
            assert client.get("/v1/company").data["name"] == pair.cloud.restaurant.company["name"]
            skus = {v["sku"] for c in client.get("/v1/menu").data["categories"] for p in c["products"] for v in p["variants"]}
            theirs = {v["sku"] for p in pair.cloud.restaurant.menu.products.values() for v in p["variants"]}
            assert skus == theirs
            for path, there in (("users", pair.cloud.restaurant.users), ("clients", pair.cloud.restaurant.clients)):
                names = {row["name"] for row in client.get(f"/v1/{path}?per_page=100").data}
                assert names == {row["name"] for row in there.values()}
            order = client.add(client.place(), {"sku": "CEV-CLA-P", "quantity": 1, "variant_price": 38})
        pair.settle()
        (there,) = pair.cloud_records()
        assert (there["reference"], there["total"]) == (order["reference"], 38)


def test_a_cloud_that_names_no_zone_is_linked_to_an_empty_box_only_with_one(tmp_path, seed):
    with Pair(tmp_path, seed, strict=True, is_empty=True) as pair:
        result = pair.link(check=False, names_zone=False)
        assert result.returncode != 0 and "--timezone" in result.stdout + result.stderr
        pair.cloud.orders.create({"service_type": "ONSITE"})  # its orders tell the zone
        pair.link(names_zone=False)
        with contextlib.closing(pair.client()) as client:
            assert client.get("/v1/company").data["timezone"] == "America/Lima"


def test_an_old_name_of_the_zone_is_that_of_today(tmp_path, seed):
    with Pair(tmp_path, seed, strict=True, is_empty=True) as pair:
        words = ["--timezone", "America/Buenos_Aires", "--country", "AR"]
        pair.link(*words, names_zone=False)
        with contextlib.closing(pair.client()) as client:
            assert client.get("/v1/company").data["timezone"] == "America/Argentina/Buenos_Aires"
            client.place()
        pair.link(*words, names_zone=False)  # the restaurant that is here now has the same zone


def test_a_zone_that_is_none_is_refused_with_the_one_that_was_meant(tmp_path, seed):
    with Pair(tmp_path, seed, strict=True, is_empty=True) as pair:
        result = pair.link("--timezone", "America/Lyma", "--country", "PE", names_zone=False, check=False)
        said = result.stdout + result.stderr
        assert result.returncode != 0 and "America/Lima" in said and "tzdata" not in said, said


def test_a_product_that_leaves_the_menu_becomes_invisible(strict_pair):
    pair = strict_pair
    menu = pair.cloud.restaurant.menu
    menu.remove(menu.named("Ceviche clásico"))
    with contextlib.closing(pair.client()) as client:
        def products():
            return [p for c in client.get("/v1/menu").data["categories"] for p in c["products"]]

        hidden = {p["name"] for p in products() if not p["visible"]}

        def shown():
            assert {p["name"] for p in products() if not p["visible"]} == hidden | {"Ceviche clásico"}
        pair.command("resume")
        pair.eventually(shown)


def test_a_product_that_is_changed_here_is_pushed_and_not_overwritten(strict_pair):
    pair = strict_pair
    there = pair.cloud.restaurant.menu.named("Ceviche clásico")
    with contextlib.closing(pair.client()) as client:
        products = [p for c in client.get("/v1/menu").data["categories"] for p in c["products"]]
        (here,) = [p for p in products if p["name"] == "Ceviche clásico"]
        variant = here["variants"][0]
        answer = client.patch(f"/v1/menu/products/{here['id']}/variants/{variant['id']}", {"price": 41.5})
        assert answer.status == 200, answer.body

        def pushed():
            assert any(v["price"] == 4150 for v in there["variants"]), there["variants"]
        pair.eventually(pushed)
        # The users are read when the menu has been taken.
        parts = ("/v1/menu", "/v1/users")
        read = [len(pair.cloud.seen("GET", part)) for part in parts]
        pair.command("resume")
        wait_until(lambda: all(len(pair.cloud.seen("GET", part)) > count for part, count in zip(parts, read)), "another reading")
        assert client.get("/v1/menu/products/" + here["id"]).data["variants"][0]["price"] == 41.5
