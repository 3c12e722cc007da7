"""A box that is restored from yesterday's backup, or that is another machine: nothing comes twice, and what was sold since
is back from the cloud."""

import contextlib
import shutil

import pytest

from support.cloud_pair import Pair, essence


def by_command(pair, backup):
    pair.box.command("restore", str(backup), "--data", str(pair.box.data), "--yes")


def by_hand(pair, backup):
    """The database alone, in the place of the one in use."""
    (pair.box.data / "live.db").unlink()
    shutil.copy2(backup / "live.db", pair.box.data / "live.db")


def rider(name):
    return {"user_id": name, "name": name, "phone_number": "987654321"}


def by_reference(records):
    return {record["reference"]: essence(record) for record in records}


@pytest.mark.parametrize("strict", [False, True], ids=["comanda", "strict"])
@pytest.mark.parametrize("is_sent", [True, False], ids=["all sent", "a backlog in the backup"])
def test_a_restored_box_makes_nothing_twice_and_has_todays_orders_back(tmp_path, seed, strict, is_sent):
    with Pair(tmp_path, seed, strict=strict) as pair:
        pair.link()
        till = pair.till()
        yesterday = [till.serve() for _ in range(4)] + [till.add(till.open(service_type="ONSITE"))]
        pair.settle()
        if not is_sent:
            pair.proxy.go_offline()
            yesterday += [till.finish(till.open(service_type="ONSITE")) for _ in range(3)]
        backup = tmp_path / "yesterday"
        pair.box.command("backup", str(backup), "--data", str(pair.box.data))
        pair.proxy.go_online()
        today = [till.finish(till.open(service_type="ONSITE")) for _ in range(4)]
        pair.settle()
        pair.compare()
        cloud = {r["reference"]: r for r in pair.cloud_records()}

        pair.restore(backup)

        def back():
            here = {r["reference"]: r for r in pair.box_records()}
            assert set(here) == set(cloud)
            for order in today:
                assert essence(here[order["reference"]]) == essence(cloud[order["reference"]])
        pair.eventually(back)
        pair.settle()
        assert sorted(r["reference"] for r in pair.cloud_records()) == sorted(cloud), "something came twice"
        assert len(yesterday) + len(today) == len(cloud)

        # Today's orders are the box's again: a till goes on with them.
        with contextlib.closing(pair.client()) as client:
            (mine,) = [r for r in pair.box_records() if r["reference"] == today[0]["reference"]]
            order = client.pay(mine, 1)
        pair.settle()

        def sent():
            (there,) = [r for r in pair.cloud_records() if r["reference"] == order["reference"]]
            assert essence(there) == essence(order)
        pair.eventually(sent)


def test_a_backup_on_another_machine_says_that_it_has_no_key_and_is_linked_again(tmp_path, seed):
    with Pair(tmp_path, seed) as pair:
        pair.link()
        till = pair.till()
        till.finish(till.open(service_type="ONSITE"))
        pair.settle()
        backup = tmp_path / "backup"
        pair.box.command("backup", str(backup), "--data", str(pair.box.data))
        assert pair.box.stop() == 0
        shutil.rmtree(pair.box.data)
        pair.box.command("restore", str(backup), "--data", str(pair.box.data), "--yes")
        pair.box.start()
        status = pair.status()
        assert status["state"] == "stopped" and "no key" in status["reason"], status
        if "hold" in status["reason"]:
            pair.box.command("resume", "--data", str(pair.box.data))
        pair.link()
        pair.settle()
        pair.compare()
        assert len(pair.cloud_records()) == 1


@pytest.mark.parametrize("strict", [False, True], ids=["followed", "polled"])
@pytest.mark.parametrize("restore", [by_command, by_hand])
@pytest.mark.parametrize("has_key", [True, False], ids=["", "without the key"])
def test_orders_of_the_backup_have_back_what_was_done_since(tmp_path, seed, strict, restore, has_key):
    with Pair(tmp_path, seed, strict=strict) as pair:
        pair.link()
        till = pair.till()
        table = till.add(till.open(service_type="ONSITE", comment="sin sal"))
        delivery = till.move(till.add(till.open(service_type="DELIVERY")), "PUT", "/rider", rider("Ana"))
        untouched = till.pay(till.add(till.open(service_type="ONSITE")))
        pair.settle()
        pair.proxy.go_offline()
        waiting = till.pay(till.add(till.open(service_type="TAKEAWAY", comment="para llevar")))
        table = till.move(till.discount(table), "PATCH", "", {"comment": "y sin ají"})
        delivery = till.move(delivery, "PUT", "/rider", rider("Eva"))
        backup = tmp_path / "backup"
        pair.box.command("backup", str(backup), "--data", str(pair.box.data))
        pair.proxy.go_online()
        table = till.cancel_combo(till.add(till.add(table)))
        table = till.move(table, "PATCH", "", {"comment": "con limón", "order_title": "Mesa 7"})
        table = till.move(till.pay(table, in_full=True), "PATCH", "/status", {"status": "FINALIZED"})
        delivery = till.move(till.pay(delivery), "PUT", "/rider", rider("Luz"))
        waiting = till.cancel_payment(till.add(waiting))
        new = till.finish(till.open(service_type="ONSITE"))
        pair.settle()
        told = by_reference([table, delivery, untouched, waiting, new])
        assert by_reference(pair.cloud_records()) == told

        assert pair.box.stop() == 0
        restore(pair, backup)
        if not has_key:
            (pair.box.data / "cloud.key").unlink(missing_ok=True)
        pair.box.start()
        pair.command("resume", check=False)
        if not has_key:
            pair.link()

        def is_back():
            assert by_reference(pair.box_records()) == told
        pair.eventually(is_back)
        pair.settle()
        is_back()
        assert by_reference(pair.cloud_records()) == told, "something went up a second time"
        assert pair.box.rows("SELECT count(*) FROM cloud_step") == [(0,)]

        # The till goes on with orders that came back, and with one that did not have to.
        records = {record["reference"]: record for record in pair.box_records()}
        for reference in (delivery["reference"], waiting["reference"], untouched["reference"]):
            order = till.pay(till.add(records[reference]), in_full=True)
            told[reference] = essence(till.move(order, "PATCH", "/status", {"status": "FINALIZED"}))
        pair.settle()
        assert by_reference(pair.box_records()) == told
        pair.eventually(lambda: by_reference(pair.cloud_records()) == told or pytest.fail("not as told"))
