"""The cloud goes back to an earlier minute: what the box had sent since is missing there, whole orders and parts of others. The
box compares all that it has sent, sends what is missing again, and does not say "in step" before."""

import contextlib
import json
import random
import threading

import pytest

from support.box import PATIENCE_S
from support.cloud_pair import Pair, all_orders
from support.waiting import wait_until

pytestmark = pytest.mark.box_only  # tests/head/test_back_to_a_minute.py sets PostgreSQL back
KILLS = 10
ITEM = {"product_name": "Torta de cumpleaños", "quantity": 1, "variant_price": 12}


class WentBack(Pair):
    """A pair whose cloud has a backup, and has lost what was sent since once `go_back` is called."""

    def play(self):
        self.link()
        till = self.till()
        orders = [till.serve() for _ in range(6)] + [till.open(service_type="ONSITE") for _ in range(4)]
        delivery = till.assign(till.open(service_type="DELIVERY"))
        self.back_up()
        till.finish(orders[6])
        till.pay(till.cancel_payment(till.pay(till.add(orders[7]), in_full=True)), in_full=True)
        till.cancel_combo(till.add(orders[8]))
        till.cancel(orders[9])
        till.deliver(till.unassign(delivery))
        for order in orders[:6]:
            till.change(till.change(order))
        self.lost = [till.serve() for _ in range(5)]
        self.settle()
        self.compare()
        return self

    def back_up(self):
        self.settle()
        self.cloud.command("backup", str(self.directory / "backup"), "--data", str(self.cloud.data))

    def go_back(self, is_told=True):
        assert self.cloud.stop() == 0
        self.cloud.command("restore", str(self.directory / "backup"), "--data", str(self.cloud.data), "--yes")
        with self.proxy.lock:
            self.proxy.exchanges.clear()  # an order that is placed again has another path
        self.cloud.start()
        if is_told:
            self.command("resume", check=False)

    def require_equal_again(self):
        def check():
            self.settle()
            with self.proxy.lock:
                self.proxy.exchanges[:] = [e for e in self.proxy.exchanges if e.status != 404]  # of orders that were lost
            self.compare()
        self.eventually(check)
        assert self.parked() == [] and self.status()["read_at"]["sent_orders"]


@pytest.fixture
def pair(tmp_path, seed):
    with WentBack(tmp_path, seed) as pair:
        yield pair.play()


@pytest.fixture
def linked(tmp_path, seed):
    with WentBack(tmp_path, seed) as pair:
        pair.link()
        yield pair


def hold_events(pair):
    """No poll of the cloud's events is answered before `goes_on` is set; `asked`: one waits. Also the writes until then."""
    asked, goes_on, early = threading.Event(), threading.Event(), []

    def at(point, exchange):
        if point != "before":
            return
        if exchange.path.startswith("/v1/events"):
            asked.set()
            goes_on.wait(PATIENCE_S)
        elif exchange.method != "GET" and not goes_on.is_set():
            early.append((exchange.method, exchange.path))

    pair.proxy.at = at
    return asked, goes_on, early


def close(till, order):
    """Cancelled, or paid and finalised: without a row, whose answer would tell that others are lost."""
    cancelled = till.cancel(order)
    if cancelled["status"] == "CANCELLED":
        return cancelled
    return till.move(till.pay(order, in_full=True), "PATCH", "/status", {"status": "FINALIZED"})


def test_what_the_cloud_has_lost_is_sent_again(pair):
    before = len(pair.cloud_records())
    pair.go_back()
    pair.require_equal_again()
    assert len(pair.cloud_records()) == before
    assert pair.differences() == []

    # Orders go on as ever.
    for order in list(pair.acknowledged().values())[-8:]:
        pair.tills[0].change(order)
    pair.require_equal_again()


def test_the_box_says_that_it_compares_and_is_not_in_step_before(pair):
    goes_on = threading.Event()

    def hold_lists(point, exchange):
        if point == "before" and exchange.path.startswith("/v1/orders?"):
            goes_on.wait(PATIENCE_S)

    pair.proxy.at = hold_lists
    pair.go_back()
    told = "the cloud may have gone back to an earlier time, noticed "
    wait_until(lambda: told in pair.status()["description"], lambda: f"not noticed: {pair.status()}")
    status = pair.status()
    assert "16 orders are compared" in json.dumps(status["unread"]), status
    with contextlib.closing(pair.client()) as client:
        assert told in client.get("/readyz").body.decode()
    pair.box.kill()
    pair.box.start()
    assert told in json.dumps(pair.status()["unread"]), "a restart has forgotten it"
    goes_on.set()
    pair.command("resume", check=False)
    pair.require_equal_again()


def test_kills_while_it_is_sent_again_and_a_till_that_goes_on(pair, seed):
    dice = random.Random(seed)
    killed = []

    def strike(point, exchange):
        if len(killed) < KILLS and dice.random() < 0.25 and pair.box.process.poll() is None:
            killed.append((point, exchange.method, exchange.path))
            pair.box.kill()

    pair.proxy.at = strike
    pair.go_back()
    till, orders = pair.tills[0], list(pair.acknowledged().values())
    # A request that closed an order before the box noticed would let it take no rows any more.
    going = threading.Thread(target=lambda: [till.pay(till.add(order)) for order in orders])
    going.start()
    while going.is_alive() or pair.box.process.poll() is not None or pair.left_to_do() > 0:
        if pair.box.process.poll() is not None:
            with contextlib.suppress(AssertionError):  # it may be killed as it starts
                pair.box.start()
                pair.command("resume", check=False)
        going.join(0.05)
    pair.proxy.at = lambda point, exchange: None
    assert len(killed) > 3, killed
    pair.require_equal_again()


def test_a_cursor_that_is_only_too_old_costs_a_list_and_doubles_nothing(pair):
    assert pair.box.stop() == 0
    pair.box.execute("UPDATE cloud_link SET cursor = '1.1'")
    with pair.proxy.lock:
        pair.proxy.exchanges.clear()
    pair.box.start()
    wait_until(lambda: pair.box.value("SELECT cursor FROM cloud_link") not in (None, "1.1"), "it stays")
    pair.require_equal_again()
    assert not pair.proxy.writes(), pair.proxy.writes()
    alone = [e for e in pair.proxy.exchanges if e.path.startswith("/v1/orders/")]
    assert not alone, alone


def test_a_box_that_is_linked_again_finds_what_the_cloud_has_lost(pair):
    """The key was lost with the backup: no cursor is refused, because none is asked for."""
    pair.command("pause")
    pair.go_back()
    pair.command("pause", check=False)
    pair.cloud_key = pair.cloud.make_key(scopes="all,orders:sync", tier="lan", name="box again")["key"]
    pair.link()
    pair.command("resume", check=False)
    pair.require_equal_again()


def close_all(till, orders):
    """Those that were not closed before."""
    return [order for order in orders if close(till, order)["version"] > order["version"]]


def test_nothing_is_sent_before_the_cloud_was_asked_for_its_events(pair):
    """A step that closes an order would leave in the older cloud what was lost of it."""
    asked, goes_on, early = hold_events(pair)
    assert pair.box.stop() == 0
    pair.go_back(is_told=False)  # `resume` would make the menu due, for which the events are asked, too
    asked.clear()
    pair.box.start()
    close_all(pair.tills[0], list(pair.acknowledged().values()))
    assert asked.wait(PATIENCE_S)
    wait_until(lambda: pair.left_to_do() > 0 and pair.status()["steps_waiting"], "nothing waits to be sent")
    for _ in range(10):
        pair.tills[0].serve()
        pair.status()
    goes_on.set()
    pair.require_equal_again()
    assert early == [] and pair.differences() == []


def test_a_cloud_that_is_exchanged_while_no_request_fails(pair):
    """As behind HAProxy: the box hears that its cursor has ended when its orders are closed there already."""
    asked, goes_on, early = hold_events(pair)
    till, orders = pair.tills[0], list(pair.acknowledged().values())
    till.serve()
    assert asked.wait(PATIENCE_S)
    pair.settle()
    early.clear()
    pair.go_back(is_told=False)
    pair.proxy.clouds += 1
    known = {record["reference"] for record in pair.cloud_records()}
    lost = close_all(till, [order for order in orders if order["reference"] not in known])
    kept = close_all(till, [order for order in orders if order["reference"] in known])
    assert lost and kept
    wait_until(lambda: pair.left_to_do() == 0, lambda: f"not sent: {pair.status()} {early}", PATIENCE_S / 2)
    assert early and not goes_on.is_set() and pair.differences() == []
    assert {(parked["order_id"], parked["why"]) for parked in pair.parked()} == {(order["id"], "gone") for order in lost}
    pair.require_equal([pair.record_here(order) for order in kept], pair.cloud_records(), with_dates=True)
    goes_on.set()
    pair.require_equal_again()
    assert pair.differences() == []


def test_no_order_is_closed_in_the_older_cloud_where_the_events_alone_are_not_answered(pair):
    assert pair.box.stop() == 0
    pair.go_back()
    pair.proxy.at = lambda point, exchange: exchange.path.startswith("/v1/events") and setattr(exchange, "fate", "burst_500")
    pair.box.start()
    known = {record["reference"] for record in pair.cloud_records()}
    kept = close_all(pair.tills[0], [o for o in pair.acknowledged().values() if o["reference"] in known])
    assert kept
    wait_until(lambda: pair.left_to_do() == 0, lambda: f"not sent: {pair.status()}")
    pair.require_equal([pair.record_here(order) for order in kept], pair.cloud_records(), with_dates=True)
    assert pair.status()["state"] != "in step"
    pair.proxy.at = lambda point, exchange: None
    pair.require_equal_again()
    assert pair.differences() == []


def test_what_a_cancel_in_the_older_cloud_keeps_from_being_sent_is_told(linked):
    """A dish that was added and cancelled: both sides count as many dishes and the same total."""
    till = linked.till()
    order = till.add(till.open(service_type="ONSITE"))
    linked.back_up()
    more = till.move(order, "POST", "/combos", {"combos": [{"product_name": "Vela", "quantity": 1, "variant_price": 3}]})
    till.move(more, "DELETE", f"/combos/{more['combos'][-1]['id']}")
    linked.settle()
    linked.compare()
    assert linked.box.stop() == 0
    linked.go_back()
    with contextlib.closing(linked.cloud.client(linked.cloud_key)) as cloud:
        assert cloud.post(f"/v1/orders/{linked.record_there(order)['id']}/cancel", {"reason": "closed"}).status == 200
    linked.box.start()
    linked.settle()
    told = [(d["kind"], d["box"], d["cloud"]) for d in linked.differences() if d["order_id"] == order["id"]]
    assert ("status", "combos, cancel_combo", "CANCELLED") in told, linked.differences()


def test_each_kind_of_step_that_was_lost_comes_again(linked):
    till = linked.till()

    def opened(**fields):
        return till.move(till.open(**{"service_type": "ONSITE"} | fields), "POST", "/combos", {"combos": [ITEM, ITEM]})

    orders = {kind: opened() for kind in ("comment", "title", "combos", "discount", "payment", "cancel_combo", "status", "cancel")}
    orders["remove_discount"] = till.discount(opened())
    orders["cancel_payment"] = till.pay(opened(), in_full=True)
    orders["finalized"] = till.pay(opened(), in_full=True)
    orders |= {kind: opened(service_type="DELIVERY") for kind in ("rider", "delivery")}
    orders["no_rider"] = till.move(opened(service_type="DELIVERY"), "PUT", "/rider", {"user_id": "moto-4", "name": "Ana"})
    linked.back_up()

    def row(kind, name):
        return f"/{name}/{orders[kind][name][0]['id']}"

    for kind, method, below, body in [
            ("comment", "PATCH", "", {"comment": "nota"}), ("title", "PATCH", "", {"order_title": "Terraza", "packaging_price": 2}),
            ("combos", "POST", "/combos", {"combos": [ITEM]}),
            ("discount", "POST", "/discounts", {"type": "AMOUNT", "value": 1, "reason": "fiel"}),
            ("payment", "POST", "/payments", {"payment_method_id": till.methods[0]["id"], "amount": 5}),
            ("cancel_combo", "DELETE", row("cancel_combo", "combos"), None),
            ("remove_discount", "DELETE", row("remove_discount", "discounts"), None),
            ("cancel_payment", "DELETE", row("cancel_payment", "payments"), None),
            ("status", "PATCH", "/status", {"status": "READY"}), ("finalized", "PATCH", "/status", {"status": "FINALIZED"}),
            ("rider", "PUT", "/rider", {"user_id": "moto-5", "name": "Eva"}), ("no_rider", "DELETE", "/rider", None),
            ("delivery", "PATCH", "/delivery-status", {"delivery_status": "DRIVER_ON_THE_WAY_TO_DESTINATION"}),
            ("cancel", "POST", "/cancel", {"reason": "se fue"})]:
        before = orders[kind]["version"]
        assert till.move(orders[kind], method, below, body)["version"] > before, kind
    placed = opened()
    linked.settle()
    linked.compare()
    linked.go_back()
    linked.require_equal_again()
    assert linked.differences() == []
    with contextlib.closing(linked.cloud.client(linked.cloud_key)) as cloud:
        ids = {r["id"]: r["reference"] for r in all_orders(cloud)}
    names = {order["reference"]: kind for kind, order in orders.items()} | {placed["reference"]: "combos"}
    again = {names[ids[e.path.split("/")[3]]] for e in linked.proxy.writes() if e.path.count("/") > 2}
    assert again == set(orders), set(orders) ^ again
    assert "/v1/orders" in {e.path for e in linked.proxy.writes()}


# The menu


def products(client):
    shown = ("name", "description", "visible", "stock_enabled")
    return {p["name"]: {**{field: p[field] for field in shown}, "category": category["name"],
                        "variants": [(v["name"], v["sku"], v["price"]) for v in p["variants"]]}
            for category in client.get("/v1/menu").data["categories"] for p in category["products"]}


@contextlib.contextmanager
def menus(pair):
    with contextlib.closing(pair.client()) as box, contextlib.closing(pair.cloud.client(pair.cloud_key)) as cloud:
        yield box, cloud, {p["name"]: p for c in box.get("/v1/menu").data["categories"] for p in c["products"]}


def require_equal_menus(pair, box, cloud):
    def check():
        pair.settle()
        here, there = products(box), products(cloud)
        assert here == there, ([n for n in here | there if here.get(n) != there.get(n)], pair.differences(), pair.status())
        return here
    return pair.eventually(check)


@pytest.mark.parametrize("is_shown", [True, False], ids=["read since", "not read since"])
def test_what_was_pushed_of_the_menu_comes_again(linked, is_shown):
    with menus(linked) as (box, cloud, known):
        priced, hidden, cleared, grown, kept = list(known.values())[:5]

        def change(product, body, below=""):
            answer = box.patch(f"/v1/menu/products/{product['id']}{below}", body)
            assert answer.status == 200, answer.body

        change(cleared, {"description": "of yesterday"})
        change(kept, {"description": "from before"})
        linked.back_up()
        change(priced, {"price": 77.5}, f"/variants/{priced['variants'][0]['id']}")
        change(hidden, {"visible": False})
        change(cleared, {"description": None})
        new = [{"name": "Con código", "category_name": "Nuevos", "price": 7, "sku": "NEW-7"},
               {"id": grown["id"], "variants": [{"name": "Gigante", "price": 99, "sku": "GIG-1"}]}]
        answer = box.send("PUT", "/v1/menu/products", {"products": new})
        assert answer.status == 200, answer.body
        linked.settle()
        meant = require_equal_menus(linked, box, cloud)
        assert "Con código" in meant, sorted(meant)
        if is_shown:
            linked.command("resume")
            unread = "SELECT count(*) FROM cloud_menu WHERE box_hash LIKE '%@1'"
            wait_until(lambda: linked.box.value(unread) <= 1, "the menu is not read")  # the menu has no hidden product
            linked.settle()
        linked.go_back()
        assert require_equal_menus(linked, box, cloud) == meant
        # A product that is missing may have been deleted there.
        (told,) = linked.differences()
        assert told["kind"] == "menu" and told["box"].startswith("Con código") and "sent again" in told["detail"]
        assert linked.status()["read_at"]["sent_menu"]
        # No more than those: the cloud has the others.
        sent = b" ".join(e.body for e in linked.proxy.writes())
        assert sum(name.encode() in sent for name in meant) == 5 and b"from before" not in sent


def test_a_product_that_the_cloud_has_changed_since_it_went_back_is_told(linked):
    with menus(linked) as (box, cloud, known):
        name, product = next(iter(known.items()))
        linked.back_up()
        path = f"/v1/menu/products/{product['id']}/variants/{product['variants'][0]['id']}"
        assert box.patch(path, {"price": 77.5}).status == 200
        linked.settle()
        linked.command("pause")
        linked.go_back(is_told=False)
        there = next(p for c in cloud.get("/v1/menu").data["categories"] for p in c["products"] if p["name"] == name)
        assert cloud.patch(f"/v1/menu/products/{there['id']}", {"description": "new there"}).status == 200
        linked.command("resume")
        assert require_equal_menus(linked, box, cloud)[name]["description"] == "new there"
        told = [d for d in linked.differences() if d["kind"] == "menu"]
        assert len(told) == 1 and "77.5" in told[0]["box"], told
