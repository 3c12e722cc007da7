"""`comanda demo play`: the demo restaurant lives, as an ordinary client of the API."""

import contextlib
import datetime
import json
import re
import signal
import subprocess
import zoneinfo

import pytest

from support.box import PATIENCE_S, ROOT, RUNNER, Box
from support.waiting import wait_until

DAYS = 3
FAST = ["--speed", "1000"]
OPEN = "filter[status]=PENDING,PREPARING,READY,DELIVERED"


class Play:
    """The running command."""

    def __init__(self, box, *words):
        self.out = box.data / "play.out"
        with open(self.out, "wb") as out:
            self.process = subprocess.Popen([*RUNNER, str(box.binary), "demo", "play", "--data", str(box.data), *words], stdout=out,
                                            stderr=subprocess.PIPE, text=True)

    def text(self):
        return self.out.read_text()

    def wait_for(self, word):
        wait_until(lambda: word in self.text() or self.process.poll() is not None, lambda: (word, self.text()), PATIENCE_S * 4)
        assert word in self.text(), (self.text(), self.process.stderr.read())

    def end(self, number=signal.SIGINT):
        self.process.send_signal(number)
        _, trouble = self.process.communicate(timeout=PATIENCE_S)
        assert (self.process.returncode, trouble) == (0, ""), (self.process.returncode, trouble)
        last = self.text().splitlines()[-1]
        assert last.startswith("Done: "), self.text()
        return last


@contextlib.contextmanager
def playing(box, *words):
    play = Play(box, *words)
    try:
        yield play
    finally:
        play.process.kill()
        play.process.wait(PATIENCE_S)


@contextlib.contextmanager
def running_demo():
    box = Box()
    box.bring_in("demo")
    box.start()
    try:
        with contextlib.closing(box.client(box.make_key()["key"])) as api:
            yield box, api
    finally:
        assert box.discard() in (0, -9), "the server did not end cleanly"


@pytest.fixture
def shop():
    with running_demo() as made:
        yield made


def orders(api, query=""):
    return api.all(f"/v1/orders?sort=created_at{query}")


def past(api):
    return [order for order in orders(api) if (order["reference"] or "").startswith("demo-past-")]


def gist(order):
    """What a guest would remember of it, without what the box draws for itself."""
    lines = [(line["product_name"], line["variant_name"], line["quantity"], line["comment"], line["combo_price"],
              line["canceled_at"], [choice["name"] for choice in line["modifiers"]]) for line in order["combos"]]
    paid = [(row["payment_method"]["code"], row["amount"], row["tip_amount"], row["created_at"]) for row in order["payments"]]
    return (order["created_at"], order["status"], order["order_number"], order["service_type"], order["order_title"],
            (order["client"] or {}).get("name"), (order["table"] or {}).get("name"), order["comment"], order["total"], lines, paid)


def write_past(box, *words):
    with playing(box, "--days", str(DAYS), *words) as play:
        play.wait_for("Selling")
        play.end()


def test_the_past_is_closed_dated_and_written_once(shop):
    box, api = shop
    write_past(box, "--seed", "7")
    zone, written = zoneinfo.ZoneInfo("America/Lima"), past(api)
    today = (datetime.datetime.now(zone) - datetime.timedelta(hours=5)).date()
    days = {str(today - datetime.timedelta(days=n)) for n in range(1, DAYS + 1)}
    open_days = {day for day in days if datetime.date.fromisoformat(day).weekday() != 0}
    assert {order["business_day"] for order in written} == open_days
    assert all(order["status"] in ("FINALIZED", "CANCELLED") for order in written)
    assert all(order["paid"] for order in written if order["status"] == "FINALIZED")
    assert all(order["closed_at"] < order["updated_at"] for order in written)
    for day in open_days:
        numbers = [order["order_number"] for order in written if order["business_day"] == day]
        assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) > 50
    assert len({order["service_type"] for order in written}) == 4
    write_past(box, "--seed", "8")
    assert list(map(gist, past(api))) == list(map(gist, written))


def test_a_seed_decides_the_restaurant(shop):
    box, api = shop
    write_past(box, "--seed", "7")
    with running_demo() as (second, second_api), running_demo() as (third, third_api):
        write_past(second, "--seed", "7")
        write_past(third, "--seed", "8")
        written, same, other = (list(map(gist, past(each))) for each in (api, second_api, third_api))
    assert written == same != other


def test_a_past_that_was_cut_short_is_completed(shop):
    box, api = shop
    with playing(box, "--days", str(DAYS)) as play:
        wait_until(lambda: len(past(api)) > 20, play.text)
    written = len(past(api))  # until it was killed
    with playing(box, "--days", str(DAYS)) as play:
        wait_until(lambda: len(past(api)) > written, play.text)
        play.end(signal.SIGTERM)
    write_past(box)
    with running_demo() as (second, second_api):
        write_past(second)
        assert list(map(gist, past(api))) == list(map(gist, past(second_api)))


def test_an_evening_has_all_that_a_kitchen_meets(shop):
    box, api = shop
    with playing(box, "--days", "0", *FAST) as play:
        def met():
            found = orders(api)
            rounds = [len({line["created_at"] for line in order["combos"]}) for order in found]
            lines = [line for order in found for line in order["combos"]]
            return {"closed": any(order["status"] == "FINALIZED" and order["paid"] for order in found),
                    "cancelled": any(order["status"] == "CANCELLED" for order in found),
                    "later": any(order["scheduled_delivery_date"] for order in found),
                    "delivered": any(order["delivery_status"] == "DELIVERED" and order["rider"] for order in found),
                    "second rounds": max(rounds, default=0) > 1,
                    "notes": any(line["comment"] for line in lines) and any(order["comment"] for order in found),
                    "modifiers": any(line["modifiers"] for line in lines),
                    "cancelled dishes": any(line["canceled_at"] for line in lines)}
        wait_until(lambda: all(met().values()), met, PATIENCE_S * 2)
        said = play.end()
    placed = len(orders(api))
    assert re.match(rf"Done: {placed} orders, ", said), (placed, said)
    # The next one takes over what was left open.
    left = {order["id"] for order in orders(api, "&" + OPEN)}
    assert left
    with playing(box, "--days", "0", *FAST) as play:
        wait_until(lambda: not left & {order["id"] for order in orders(api, "&" + OPEN) if not order["scheduled_delivery_date"]},
                   play.text)
        play.end()
    references = [order["reference"] for order in orders(api)]
    assert len(references) == len(set(references)) > placed


def test_it_goes_on_when_the_server_comes_back(shop):
    box, api = shop
    with playing(box, "--days", "0", *FAST) as play:
        wait_until(lambda: len(orders(api)) > 5, play.text)
        box.kill()
        play.wait_for("The server does not answer")
        box.start()
        api.close()
        play.wait_for("The server answers again.")
        placed = len(orders(api))
        wait_until(lambda: len(orders(api)) > placed + 5, play.text)
        box.stop()
        play.end()  # while nothing answers


def refused(box, *words):
    result = box.command("demo", "play", "--data", str(box.data), *words, check=False)
    assert result.returncode == 1 and result.stdout == "", result
    return result.stderr.replace("comanda-head", "comanda")


@pytest.mark.parametrize("words, wanted", [
    (["--days", "45"], "--days is a whole number from 0 to 44, not '45'"),
    (["--days", "-1"], "--days is a whole number from 0 to 44, not '-1'"),
    (["--speed", "0"], "--speed is a whole number from 1 to 1000, not '0'"),
    (["--seed", "seven"], "--seed is a whole number from 0 to 999999999, not 'seven'"),
])
def test_a_wrong_number_is_named_with_what_would_be_taken(shop, words, wanted):
    box, api = shop
    result = box.command("demo", "play", "--data", str(box.data), *words, check=False)
    assert (result.returncode, wanted in result.stderr) == (2, True), result
    assert orders(api) == []


def test_it_refuses_several_restaurants_and_a_server_that_does_not_run():
    box = Box()
    try:
        assert "`comanda import`" in refused(box)
        box.bring_in("demo")
        assert "start `comanda serve" in refused(box)
        box.start()
        box.bring_in(ROOT / "tests/support/other_restaurant.json")
        assert "play works where the demo restaurant lives alone. There are several restaurants here" in refused(box)
    finally:
        assert box.discard() == 0


def test_a_copy_of_the_demo_that_became_a_restaurant_is_refused(tmp_path):
    file = json.loads((ROOT / "src/app/demo.json").read_text())
    file["companies"][0]["name"] = "La Sirena"
    (tmp_path / "own.json").write_text(json.dumps(file))
    box = Box()
    try:
        box.bring_in(tmp_path / "own.json")
        box.start()
        assert "La Sirena lives here" in refused(box)
    finally:
        assert box.discard() == 0
