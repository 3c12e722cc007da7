"""What people see of the sync: `comanda cloud status` and its exit code, /readyz, metrics, and what the commands do."""

import contextlib
import functools
import re
import threading

from support import documents
from support.box import PATIENCE_S
from support.cloud_pair import Pair
from support.metrics import samples
from support.wall_clock import ClockBox

DAY_S = 24 * 3600


def readiness(pair):
    with contextlib.closing(pair.box.client()) as client:
        answer = client.get("/readyz")
        assert answer.status == 200, "the sync never makes the box unready"
        return answer.json["checks"]["sync"]["state"]


def metrics(pair):
    with contextlib.closing(pair.box.client()) as client:
        return samples(client.get("/metrics").body.decode())


def until_state(pair, state):
    def check():
        status = pair.status()
        assert status["state"] == state, status
        return status
    return pair.eventually(check)


def test_a_box_without_a_cloud_says_so(tmp_path):
    with Pair(tmp_path) as pair:
        status = pair.status()
        assert status["state"] == "not linked" and status["url"] is None
        assert "not linked" in readiness(pair)
        result = pair.command("status", check=False)
        assert result.returncode == 1 and "not linked" in result.stdout


def test_each_state_is_told_everywhere_and_none_stops_the_box(pair):
    till = pair.till()
    till.finish(till.open(service_type="ONSITE"))
    status = pair.settle()
    assert status["url"] == pair.proxy.url and status["cloud_company_id"]
    assert status["requests"] > 0 and status["bytes"] > 0 and status["oldest"] is None
    assert "in step" in readiness(pair)
    assert pair.command("status").returncode == 0

    pair.proxy.go_offline()
    till.finish(till.open(service_type="ONSITE"))
    until_state(pair, "offline")

    def waits():
        found = pair.status()
        assert found["steps_waiting"] > 0 and found["oldest"] and found["reason"]
        return found
    status = pair.eventually(waits)
    assert status["lan"] != status["cloud"], "LAN and cloud are told apart"
    assert "offline" in readiness(pair)
    assert metrics(pair)["comanda_cloud_steps_waiting"] == status["steps_waiting"]
    assert metrics(pair)["comanda_cloud_behind_seconds"] >= 0

    pair.command("pause")
    until_state(pair, "paused")
    pair.proxy.go_online()
    before = len(pair.proxy.exchanges)
    till.finish(till.open(service_type="ONSITE"))

    def planned():
        assert pair.status()["steps_waiting"] > status["steps_waiting"]
    pair.eventually(planned)
    assert pair.status()["state"] == "paused"
    assert len(pair.proxy.exchanges) == before, "a paused box asks nothing"
    pair.command("resume")
    pair.settle()
    pair.eventually(pair.compare)
    told = metrics(pair)
    assert {"comanda_cloud_steps_waiting", "comanda_cloud_requests_total", "comanda_cloud_parked", "comanda_cloud_differences",
            "comanda_cloud_behind_seconds", "comanda_cloud_bytes_total"} <= set(told)


def test_the_cloud_is_followed_from_the_moment_when_nothing_is_left_to_be_sent(tmp_path, seed):
    """Also where the pace was used up until then, and no till wakes the box."""
    with Pair(tmp_path, seed, tier="plus", cloud_options=["--rate-plus", "120"]) as pair:
        pair.link()
        till = pair.till()
        for _ in range(8):
            till.finish(till.open(service_type="ONSITE", scheduled_delivery_date=None))
        pair.settle()
        with contextlib.closing(pair.cloud.client(pair.cloud.make_key()["key"])) as cloud:
            cloud.place(order_title="Ana")

        def there():
            assert pair.box.rows("SELECT count(*) FROM orders WHERE order_title = 'Ana'") == [(1,)]
        pair.eventually(there)


def test_resume_says_what_still_holds_the_box(pair):
    pair.settle()
    assert pair.command("resume").stdout == "resumed\n"
    pair.box.stop()
    pair.box.execute("UPDATE machine SET machine_id = 'another'")
    pair.box.start()
    assert re.match("resumed, but nothing is sent or read: held since .*another machine", pair.command("resume").stdout)
    pair.box.command("resume", "--data", str(pair.box.data))
    assert pair.command("resume").stdout == "resumed\n"
    pair.settle()


def test_a_cloud_whose_port_is_closed_refuses_connections_and_says_nothing_of_the_internet(pair):
    """It is on this machine; tests/web/test_outside.py has clouds in an internet."""
    pair.settle()
    pair.proxy.close()

    def refused():
        status = pair.status()
        assert "the cloud refuses connections" in status["description"] and status["internet"] == "unknown", status
    pair.eventually(refused)


def test_unlink_ends_it_and_a_link_with_the_same_company_goes_on(pair):
    till = pair.till()
    order = till.add(till.open(service_type="ONSITE"))
    pair.settle()
    pair.command("unlink")
    assert pair.status()["state"] == "not linked" and not (pair.box.data / "cloud.key").exists()
    till.pay(order, in_full=True)
    pair.link()
    pair.settle()
    pair.eventually(pair.compare)


def test_orders_from_before_the_link_are_sent_since_a_date(tmp_path):
    with Pair(tmp_path) as pair:
        till = pair.till()
        till.finish(till.open(service_type="ONSITE"))
        pair.link("--since", "2999-01-01")
        pair.settle()
        assert pair.cloud_records() == []
        pair.link("--since", "2020-01-01")
        pair.settle()
        pair.eventually(pair.compare)
        assert len(pair.cloud_records()) == 1


def test_a_box_whose_older_orders_wait_to_be_looked_at_is_not_in_step(tmp_path):
    """They wait until the restaurant's records were read. The cloud has answered meanwhile."""
    with Pair(tmp_path) as pair:
        pair.till().serve()
        is_there, goes_on = threading.Event(), threading.Event()

        def hold(point, exchange):
            if point == "before" and exchange.path.startswith("/v1/clients?page=1"):
                is_there.set()
                goes_on.wait(PATIENCE_S)

        pair.proxy.at = hold
        pair.link()
        assert is_there.wait(PATIENCE_S)
        status = pair.status()
        assert status["state"] == "behind" and status["is_scanning"], status
        assert "the clients of the cloud: not read yet" in readiness(pair)
        goes_on.set()
        pair.settle()
        pair.eventually(pair.compare)


def test_a_key_file_that_is_missing_or_empty_is_a_mistake_of_use(tmp_path):
    with Pair(tmp_path) as pair:
        pair.cloud_key = ""
        result = pair.link(check=False)
        assert result.returncode != 0 and "key" in result.stderr, result
        assert pair.status()["state"] == "not linked"


def test_the_commands_of_the_readme_work(tmp_path, seed):
    """As they stand, but for where the cloud is and whom it is trusted by."""
    found = documents.commands(documents.TECHNICIAN.read_text(), "comanda cloud ")
    link, status = (command.removeprefix("comanda cloud ") for command in found)
    with Pair(tmp_path, seed) as pair:
        key_file = tmp_path / link.split()[-1]
        key_file.write_text(pair.cloud_key)
        key_file.chmod(0o600)
        link = link.replace("https://api.example", pair.proxy.url).replace(key_file.name, str(key_file))
        pair.command(*link.split(), "--ca-file", str(pair.proxy.cafile))
        pair.settle()
        assert "in step" in pair.command(*status.split()).stdout


def test_whoever_resumes_all_the_time_stops_nothing(pair):
    """The requests of a box that is resumed again and again are its usual ones, and its counters never go back."""
    till = pair.till()
    till.finish(till.open(service_type="ONSITE"))
    pair.settle()
    before = pair.status()
    till.finish(till.open(service_type="ONSITE"))
    seen = [before["requests"]]
    for _ in range(20):
        pair.command("resume")
        seen.append(pair.status()["requests"])
    assert seen == sorted(seen), seen
    pair.settle()
    after = pair.status()
    assert after["bytes"] > before["bytes"]
    pair.compare()


def test_what_the_cloud_offers_is_looked_for_once_a_day_and_not_at_each_start(tmp_path, seed):
    def looks():
        return sum(e.path.endswith("/v1/events?per_page=1") for e in pair.proxy.exchanges)

    def require_looks(count):
        assert looks() == count

    with Pair(tmp_path, seed, kind=functools.partial(ClockBox, synchronised=True), start=False) as pair:
        for server in (pair.box, pair.cloud):
            server.start_at(-2 * DAY_S)
        pair.link()
        till = pair.till()
        till.finish(till.open(service_type="ONSITE", scheduled_delivery_date=None))
        pair.settle()
        for _ in range(3):
            pair.command("resume")
        assert pair.box.stop() == 0
        pair.box.start_at(-2 * DAY_S)
        till.finish(till.open(service_type="ONSITE", scheduled_delivery_date=None))
        pair.settle()
        require_looks(1)
        for server in (pair.cloud, pair.box):
            server.set_ahead(0)
        pair.command("resume")
        pair.eventually(lambda: require_looks(2))
        pair.settle()
        pair.eventually(pair.compare)
