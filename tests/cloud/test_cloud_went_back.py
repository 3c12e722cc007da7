"""The cloud goes back to an earlier minute: what the box had sent since is missing there, whole orders and parts of others. The
box compares all that it has sent, sends what is missing again, and does not say "in step" before."""

import contextlib
import json
import random
import threading

import pytest

from support.box import PATIENCE_S
from support.cloud_pair import Pair
from support.waiting import wait_until

pytestmark = pytest.mark.box_only  # tests/head/test_back_to_a_minute.py sets PostgreSQL back
KILLS = 10


class WentBack(Pair):
    """A pair whose cloud has a backup, and has lost what was sent since once `go_back` is called."""

    def play(self):
        self.link()
        till = self.till()
        orders = [till.serve() for _ in range(6)] + [till.open(service_type="ONSITE") for _ in range(4)]
        delivery = till.assign(till.open(service_type="DELIVERY"))
        self.settle()
        self.cloud.command("backup", str(self.directory / "backup"), "--data", str(self.cloud.data))
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

    def go_back(self):
        assert self.cloud.stop() == 0
        self.cloud.command("restore", str(self.directory / "backup"), "--data", str(self.cloud.data), "--yes")
        with self.proxy.lock:
            self.proxy.exchanges.clear()  # an order that is placed again has another path
        self.cloud.start()
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


def test_what_the_box_sends_before_it_notices_is_no_trap(pair):
    """A step reaches the older cloud before the box hears that its cursor has ended."""
    held = threading.Event()

    def late(point, exchange):
        if point == "before" and exchange.path.startswith("/v1/events"):
            held.wait(20)

    pair.proxy.at = late
    assert pair.box.stop() == 0
    till = pair.tills[0]
    pair.go_back()
    pair.box.start()
    for order in list(pair.acknowledged().values()):
        till.pay(till.add(order))  # a closed order would take no rows any more
    wait_until(lambda: len(pair.proxy.writes()) > 3, "nothing is sent")
    held.set()
    pair.require_equal_again()
