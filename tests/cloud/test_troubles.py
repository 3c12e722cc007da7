"""What the cloud does not give, or not yet: nothing that a till was told is lost, "in step" is not said, and what is wrong
is named. Compared with what the tills were answered last."""

import contextlib
import re
import subprocess

import pytest

from support import cloud_faults
from support.box import PATIENCE_S
from support.cloud_pair import Pair, essence

METHODS = "/v1/company/payment-methods"


def require_as_told(pair, orders):
    """Both sides have each order as its till was answered last."""
    for order in orders:
        assert essence(pair.record_here(order)) == essence(order)
        assert essence(pair.record_there(order)) == essence(order)


def unread(pair):
    return {row["what"]: row for row in pair.status()["unread"]}


def doctor(pair):
    done = subprocess.run([pair.box.binary, "doctor", "--data", pair.box.data], capture_output=True, text=True,
                          timeout=PATIENCE_S)
    return re.sub(r"\s+", " ", done.stdout)


def fails_once_linked(count):
    """The payment methods answer while the key is tried, and then so often not."""
    fault, answered = cloud_faults.html(status=502, count=count, path=METHODS), []

    def fails(request):
        if request.path != METHODS or not answered:
            answered.extend([request] * (request.path == METHODS))
            return None
        return fault(request)
    return fails


# Riders


@pytest.mark.parametrize("strict", [False, True], ids=["comanda", "strict"])
def test_a_rider_who_is_assigned_before_the_cloud_has_the_order_stays(tmp_path, seed, strict):
    with Pair(tmp_path, seed, strict=strict) as pair:
        pair.link()
        till = pair.till()
        pair.settle()
        pair.proxy.go_offline()
        orders = [till.add(till.open(service_type="DELIVERY")) for _ in range(6)]
        orders = [till.move(order, "PUT", "/rider", {"user_id": f"moto-{n}", "name": "Ana", "phone_number": "987654321"})
                  for n, order in enumerate(orders)]
        assert all(order["rider"]["name"] == "Ana" for order in orders)
        pair.proxy.go_online()
        pair.settle()
        pair.eventually(lambda: require_as_told(pair, orders))


def test_a_rider_who_is_assigned_while_the_order_is_being_created_there_stays(pair):
    till = pair.till()
    orders = []
    for n in range(8):
        order = till.add(till.open(service_type="DELIVERY"))
        orders.append(till.move(order, "PUT", "/rider", {"user_id": n, "name": "Ana", "phone_number": "987654321"}))
    pair.settle()
    pair.eventually(lambda: require_as_told(pair, orders))


# A restore


@pytest.mark.parametrize("strict", [False, True], ids=["followed", "polled"])
def test_orders_that_a_restored_box_lost_come_back_whole(tmp_path, seed, strict):
    with Pair(tmp_path, seed, strict=strict) as pair:
        pair.link()
        till = pair.till()
        till.finish(till.open(service_type="ONSITE"))
        pair.settle()
        backup = tmp_path / "backup"
        pair.box.command("backup", str(backup), "--data", str(pair.box.data))
        orders = []
        for _ in range(3):
            order = till.add(till.add(till.open(service_type="ONSITE", comment="sin sal")))
            order = till.move(order, "PATCH", "", {"comment": "y sin ají"})
            orders.append(till.pay(order, in_full=True))
            pair.settle()
        pair.restore(backup)
        by_reference = {order["reference"]: order for order in orders}

        def back():
            here = {r["reference"]: r for r in pair.box_records()}
            assert by_reference.keys() <= here.keys()
            for reference, order in by_reference.items():
                assert essence(here[reference]) == essence(order)
        pair.eventually(back)
        pair.settle()
        back()
        for order in orders:
            assert essence(pair.record_there(order)) == essence(order), "something went up a second time"


# Readings


def test_one_failed_reading_while_linking_is_made_again(tmp_path, seed):
    with Pair(tmp_path, seed, strict=True) as pair:
        pair.cloud.faults.append(fails_once_linked(2))
        pair.link()
        pair.settle()
        till = pair.till()
        orders = [till.finish(till.open(service_type="ONSITE"))]
        pair.settle()
        pair.eventually(lambda: require_as_told(pair, orders))


def test_a_reading_that_fails_is_named_until_it_succeeds(tmp_path, seed):
    with Pair(tmp_path, seed, strict=True) as pair:
        pair.link()
        pair.settle()
        pair.cloud.faults.append(cloud_faults.html(status=502, count=10**6, path=METHODS))
        pair.command("resume")

        def named():
            status = pair.status()
            assert status["state"] == "behind" and "the payment methods" in status["description"], status
            row = unread(pair)["the payment methods"]
            assert row["since"] and "502" in row["why"] and row["stops_selling"]
        pair.eventually(named)
        with contextlib.closing(pair.box.client()) as client:
            sync = client.get("/readyz").json["checks"]["sync"]["state"]
        assert "the payment methods of the cloud cannot be read since" in sync
        assert "the payment methods" in pair.command("status", check=False).stdout
        assert "the payment methods of the cloud cannot be read since" in doctor(pair)
        pair.cloud.behave()
        pair.settle()
        assert unread(pair) == {}


def test_link_says_what_is_missing_and_stays_linked(tmp_path, seed):
    with Pair(tmp_path, seed, strict=True) as pair:
        pair.cloud.faults.append(fails_once_linked(10**6))
        is_paused = []

        def pause(point, exchange):
            # A paused box reads nothing more, so that the command need not wait.
            if exchange.path.startswith("/v1/clients") and exchange.status and not is_paused:
                is_paused.append(pair.command("pause", check=False))
        pair.proxy.at = pause
        result = pair.link(check=False)
        assert result.returncode == 1 and "the payment methods" in result.stderr and "502" in result.stderr, result
        assert pair.status()["url"]
        pair.proxy.at = lambda point, exchange: None
        pair.cloud.behave()
        pair.command("resume")
        pair.settle()


@pytest.mark.parametrize("most", [50, 20, 0])
def test_a_cloud_that_takes_smaller_pages_alone_is_read_whole(tmp_path, seed, most):
    def refuses(request):
        asked = request.query.get("per_page")
        if asked is None or 0 < int(asked) <= most:
            return None
        return cloud_faults.refused_parameter(request, "per_page")

    with Pair(tmp_path, seed, strict=True) as pair:
        pair.cloud.faults.append(refuses)
        made = [pair.cloud.orders.create({"service_type": "ONSITE"}, source="PANEL").id for _ in range(60)]
        pair.link()
        pair.settle()

        def there():
            assert pair.box.rows("SELECT count(*) FROM orders") == [(len(made),)]
        pair.eventually(there)
        assert pair.box.value("SELECT count(*) FROM client") >= len(pair.cloud.restaurant.clients)


# One order's trouble


@pytest.mark.parametrize("kind", ["500", "html", "no data", "cut", "cut_body", "hang", "reset", "422"])
def test_an_order_that_the_cloud_does_not_answer_stops_no_other(tmp_path, seed, kind):
    with Pair(tmp_path, seed, strict=True) as pair:
        pair.link()
        till = pair.till()
        bad = till.add(till.open(service_type="ONSITE"))
        pair.settle()
        cloud_id = pair.record_there(bad)["id"]
        path = f"/v1/orders/{cloud_id}/payments"
        if kind == "500":
            pair.cloud.faults.append(cloud_faults.burst(500, 10**6, path))
        elif kind == "html":
            pair.cloud.faults.append(cloud_faults.html(status=502, count=10**6, path=path))
        elif kind == "no data":
            pair.cloud.faults.append(cloud_faults.no_data(count=10**6, path=path))
        elif kind == "422":
            pair.cloud.faults.append(cloud_faults.burst(422, 10**6, path))
        elif kind == "cut":
            pair.proxy.at = lambda point, e: pair.proxy.break_connections() if path in e.path else None
        else:
            pair.proxy.at = lambda point, e: setattr(e, "fate", kind) if point == "before" and path in e.path else None
        bad = till.pay(bad, in_full=True)
        good = [till.finish(till.open(service_type="ONSITE")) for _ in range(5)]

        def others_are_there():
            for order in good:
                assert essence(pair.record_there(order)) == essence(order)
        pair.eventually(others_are_there, timeout_s=PATIENCE_S * (3 if kind == "hang" else 1))

        def named():
            if kind == "422":  # it would be refused again: a person decides
                assert [row["order_id"] for row in pair.parked()] == [bad["id"]]
                return
            status = pair.status()
            assert len(status["late"]) == 1, status
            late = status["late"][0]
            assert late["order_id"] == bad["id"] and late["since"] and late["why"], status
            assert status["state"] == "behind" and "1 late" in status["description"], status
        pair.eventually(named)
        if kind == "hang":
            def tried_again():
                held = [e.held_s for e in pair.proxy.writes() if path in e.path and e.held_s]
                assert len(held) > 1 and held[1] < held[0] / 2, f"each later try holds up the others for less time: {held}"
            pair.command("retry", bad["id"])
            pair.eventually(tried_again)
        if kind != "422":
            assert bad["id"] in pair.command("status", check=False).stdout
            assert "does not answer for some orders" in doctor(pair)
        pair.cloud.behave()
        pair.proxy.at = lambda point, exchange: None
        pair.command("retry", bad["id"])
        pair.settle()
        assert pair.status()["late"] == []
        pair.eventually(lambda: require_as_told(pair, [bad, *good]))


def test_a_late_order_can_be_discarded(tmp_path, seed):
    with Pair(tmp_path, seed, strict=True) as pair:
        pair.link()
        till = pair.till()
        bad = till.add(till.open(service_type="ONSITE"))
        pair.settle()
        pair.cloud.faults.append(cloud_faults.burst(500, 10**6, r"/v1/orders/[^/]+/payments"))
        till.pay(bad, in_full=True)
        pair.eventually(lambda: require_late(pair, bad))
        pair.command("discard", bad["id"], "--reason", "entered by hand")
        pair.settle()
        assert pair.status()["late"] == [] and any(d["detail"] == "entered by hand" for d in pair.differences())


def require_late(pair, order):
    assert [row["order_id"] for row in pair.status()["late"]] == [order["id"]]


# What people are told


def test_the_status_of_a_stopped_box_says_that_it_does_not_run(pair):
    pair.settle()
    assert pair.box.stop() == 0
    result = pair.command("status", "--json", check=False)
    assert result.returncode == 1 and "the server does not run" in result.stdout, result
    pair.box.start()
    pair.settle()


def test_link_names_the_flag_for_a_cloud_with_an_authority_of_its_own(tmp_path, seed):
    with Pair(tmp_path, seed, strict=True) as pair:
        key_file = tmp_path / "key"
        key_file.write_text(pair.cloud_key)
        result = pair.command("link", "--url", pair.proxy.url, "--key-file", str(key_file), check=False)
        assert result.returncode == 1 and "--ca-file FILE" in result.stderr, result


# Ids


def test_an_id_of_the_cloud_hides_no_order_of_the_box(strict_pair):
    pair = strict_pair
    till = pair.till()
    mine = till.add(till.open(service_type="ONSITE"))
    pair.settle()
    with pair.cloud.lock:
        theirs = pair.cloud.orders.create({"service_type": "DELIVERY", "order_title": "of the cloud"}, source="PANEL")
        pair.cloud.orders.rename(theirs, mine["id"])

    def there():
        assert pair.box.rows("SELECT count(*) FROM orders WHERE order_title = 'of the cloud'") == [(1,)]
    pair.eventually(there)
    assert pair.record_here(mine) == mine
    paid = till.pay(mine, in_full=True)
    assert pair.record_here(mine) == paid
