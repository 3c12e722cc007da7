"""What `comanda cloud status`, `parked`, doctor and the log say of a trouble: which order, since when, and what to type next;
and that they say nothing that is not so."""

import re
import shlex
import subprocess
import threading

import pytest

from support import cloud_faults
from support.box import PATIENCE_S
from support.cloud_pair import Pair
from support.strict_cloud import Answer

METHODS = "/v1/company/payment-methods"


def told(pair):
    """What `comanda cloud status` prints, and the commands that it names."""
    text = pair.command("status", check=False).stdout
    return text, re.findall(r"^do +(comanda .*?)(?: +#.*)?$", text, re.M)


def doctor(pair):
    done = subprocess.run([pair.box.binary, "doctor", "--data", pair.box.data], capture_output=True, text=True,
                          timeout=PATIENCE_S)
    return done.stdout


def run(pair, command, **words):
    """A command as it was named, but for the words in capitals."""
    named = [words.get(word, word) for word in shlex.split(command)][1:]
    return pair.box.command(*named).stdout


def state_of(pair, wanted, said=""):
    """The status, once it has that state and its description has those words."""
    def check():
        status = pair.status()
        assert status["state"] == wanted and said in status["description"], status
        return status
    return pair.eventually(check)


def test_a_parked_order_is_not_in_step_and_what_the_cloud_refused_is_named(strict_pair):
    pair = strict_pair
    pair.cloud.faults.append(cloud_faults.refuses_field("order_title"))
    till = pair.till()
    order = till.add(till.open(service_type="ONSITE", order_title="Mesa 7"))

    def parked():
        assert pair.status()["orders_parked"] == 1
    pair.eventually(parked)
    assert state_of(pair, "behind", "1 parked")["description"] == "behind: 1 parked"
    (look,) = told(pair)[1]
    said = run(pair, look)
    assert order["public_id"] in said and "order_title" in said and "422" in said, said
    assert look in doctor(pair)
    pair.cloud.behave()
    retry = re.search(r"do +(comanda cloud retry .*?) +#", said)[1]
    run(pair, retry, ORDER=order["public_id"])
    pair.settle()


def test_an_order_of_the_cloud_that_cannot_be_read_is_not_in_step(strict_pair):
    pair = strict_pair

    def has_three_decimals(request, answer):
        answer.body = re.sub(rb'("total": ?)7\.77\b', rb"\g<1>7.775", answer.body)
        return answer
    pair.settle()
    pair.cloud.distortions.append(has_three_decimals)
    with pair.cloud.lock:
        order = pair.cloud.orders.create({"service_type": "DELIVERY", "delivery_price": 7.77}, source="PANEL")

    def named():
        assert "1 order of the cloud is unreadable" in pair.status()["description"]
    pair.eventually(named)
    text, (look,) = told(pair)
    assert text.startswith("cloud      behind: ") and order.id in run(pair, look)
    assert look in doctor(pair)
    pair.cloud.behave()
    pair.command("resume")
    pair.settle()


def test_a_late_order_is_named_as_people_do_and_nobody_says_when_it_is_done(strict_pair):
    pair = strict_pair
    till = pair.till()
    order = till.add(till.open(service_type="ONSITE"))
    pair.settle()
    pair.cloud.faults.append(cloud_faults.burst(500, 10**6, r"/v1/orders/[^/]+/payments"))
    till.pay(order, in_full=True)

    def late():
        assert pair.status()["late"]
    pair.eventually(late)
    text, (retry, *_) = told(pair)
    assert order["public_id"] in text and "done in" not in text, text
    # While it is late: a cloud that takes it again may have it before anybody has typed the command.
    run(pair, retry, ORDER=order["public_id"])
    pair.cloud.behave()
    pair.settle()


def test_a_key_that_is_refused_tells_since_when_and_what_to_type(strict_pair):
    pair = strict_pair
    till = pair.till()
    pair.settle()
    key = pair.cloud.keys.pop(pair.cloud_key)
    till.add(till.open(service_type="ONSITE"))
    status = state_of(pair, "stopped")
    assert status["description"].startswith(f"stopped since {status['since']}: key refused"), status
    text, (link, resume) = told(pair)
    assert "cloud link --url URL --key-file FILE" in link and "next try" in text, text
    lines = pair.box.log_text().count("the cloud answers again")
    pair.command("resume")
    pair.eventually(lambda: state_of(pair, "stopped"))
    assert pair.box.log_text().count("the cloud answers again") == lines, "it did not answer"
    pair.cloud.keys[pair.cloud_key] = key
    run(pair, resume)
    pair.settle()
    pair.box.wait_for_log("the cloud answers again")


def test_a_cloud_that_asks_to_wait_is_said_to_do_so(strict_pair):
    pair = strict_pair
    till = pair.till()
    pair.settle()
    pair.cloud.faults.append(cloud_faults.burst(429, 1, retry_after=120))
    till.add(till.open(service_type="ONSITE"))

    def waits():
        status = pair.status()
        assert "the cloud asks to wait: 429" in status["description"] and status["next_at"], status
        assert re.search(r"asked again in 1[01]\d s", status["description"]), status
    pair.eventually(waits)


def test_an_untrusted_certificate_is_said_in_one_line(tmp_path, seed):
    with Pair(tmp_path, seed, strict=True) as pair:
        key_file = tmp_path / "key"
        key_file.write_text(pair.cloud_key)
        result = pair.command("link", "--url", pair.proxy.url, "--key-file", str(key_file), check=False)
        assert result.stderr.count("\n") == 1 and "\\n" not in result.stderr, result


@pytest.mark.parametrize("is_later", [False, True])
def test_what_was_not_read_is_not_said_to_be_missing_in_the_cloud(tmp_path, seed, is_later):
    with Pair(tmp_path, seed, strict=True) as pair:
        asked = []

        def fails(request):
            asked.extend([request] * (request.path == METHODS))
            is_hit = request.path == METHODS and len(asked) > 1 and not is_later
            return Answer(502, b"<html>", {"Content-Type": "text/html"}) if is_hit else None

        def pause(point, exchange):
            if exchange.path.startswith("/v1/clients") and exchange.status and not is_later:
                pair.proxy.at = lambda point, exchange: None
                pair.command("pause", check=False)
        pair.cloud.faults.append(fails)
        pair.proxy.at = pause
        result = pair.link(check=False)
        assert result.returncode == (0 if is_later else 1), result
        # The specification has no list of tables: the box cannot tell which of them the cloud has.
        assert "payment_methods" not in result.stdout and "tables" not in result.stdout, result
        pair.proxy.at = lambda point, exchange: None
        pair.cloud.behave()
        pair.command("resume")
        pair.settle()
        assert "only here" not in told(pair)[0]


@pytest.mark.parametrize("strict", [False, True], ids=["followed", "polled"])
def test_a_restored_box_is_not_in_step_before_the_days_orders_are_back(tmp_path, seed, strict):
    with Pair(tmp_path, seed, strict=strict) as pair:
        pair.link()
        till = pair.till()
        till.add(till.open(service_type="ONSITE"))
        pair.settle()
        pair.box.command("backup", str(tmp_path / "backup"), "--data", str(pair.box.data))
        till.finish(till.open(service_type="ONSITE"))
        pair.settle()
        is_there, goes_on = threading.Event(), threading.Event()

        def hold(point, exchange):
            # The first list of open orders is answered: the cloud was heard.
            is_first = "PENDING" in exchange.path or not exchange.path.startswith("/v1/orders?")
            if point == "before" and not is_first:
                is_there.set()
                goes_on.wait(PATIENCE_S)

        assert pair.box.stop() == 0
        pair.box.command("restore", str(tmp_path / "backup"), "--data", str(pair.box.data), "--yes")
        pair.proxy.at = hold
        pair.box.start()
        assert is_there.wait(PATIENCE_S)
        status = pair.status()
        assert len(pair.box_records()) == 1 and status["state"] == "behind", status
        assert "the orders of the cloud: not read" in status["description"], status
        goes_on.set()
        pair.settle()
        assert len(pair.box_records()) == 2


def test_a_product_that_cannot_be_read_is_a_reading_that_failed(strict_pair):
    """It has a price with more decimals than the currency: the others are here, and nobody takes that for all."""
    pair = strict_pair
    state_of(pair, "in step")

    def distort(request, answer):
        if request.path == "/v1/menu":
            answer.body = re.sub(rb'("price": ?)([0-9]+)(\.[0-9]+)?', rb"\1\g<2>.12345", answer.body, count=1)
            answer.headers.pop("ETag", None)
        return answer
    pair.cloud.distortions.append(distort)
    pair.command("resume")
    status = state_of(pair, "behind", "the menu of the cloud cannot be read since")
    (row,) = [row for row in status["unread"] if row["what"] == "the menu"]
    assert "left out" in row["why"] and "decimals" in row["why"] and row["since"] and row["stops_selling"], row
    assert "the menu of the cloud cannot be read since" in re.sub(r"\s+", " ", doctor(pair))
    pair.cloud.behave()
    pair.command("resume")
    state_of(pair, "in step")


def test_a_box_that_is_linked_again_is_not_in_step_before_it_has_read_the_orders(strict_pair):
    """What it had read of the former link says nothing of this one."""
    pair = strict_pair
    state_of(pair, "in step")
    pair.command("unlink")
    is_there, goes_on = threading.Event(), threading.Event()

    def hold(point, exchange):
        # The list behind that of the pending ones, which is answered: the cloud was heard.
        if point == "before" and exchange.path.startswith("/v1/orders?") and "=PREPARING" in exchange.path:
            is_there.set()
            goes_on.wait(PATIENCE_S)

    pair.proxy.at = hold
    pair.link()
    assert is_there.wait(PATIENCE_S)
    status = pair.status()
    assert status["state"] == "behind" and "the orders of the cloud: not read" in status["description"], status
    goes_on.set()
    state_of(pair, "in step")
