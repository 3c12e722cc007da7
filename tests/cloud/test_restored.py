"""A box that is restored from yesterday's backup, or that is another machine: nothing comes twice, and what was sold since
is back from the cloud."""

import contextlib
import shutil

import pytest

from support.cloud_pair import Pair, essence


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
