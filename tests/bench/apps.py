"""A burst of orders of a delivery app: how fast it is placed beside the same orders through the API, and what it costs the
tills; one burst at most comes with each poll. The app is an imitation (support/order_app.py) that shows each order on a call
of its own, as iFood does."""

import contextlib
import itertools
import json
import statistics
import time
import uuid

from serving import InAProcess, elsewhere
from support.app_restaurant import Restaurant
from support.box import PATIENCE_S
from support.order_app import ORDER_OF
from support.quick_client import QuickClient
from table import Row
from webhooks import Tills, p99_row

APP = "ifood"
BURST = {True: 20, False: 500}  # in brief or not
RATE_MIN, TILLS_RATIO_MAX = 0.5, 1.2
POLL_S = 30  # how often this app is asked
LOOK_S = 0.02
numbers = itertools.count(1)


def bursts(bench):
    rate = "delivery apps, rate of 500 in one poll of the API's"
    interval = "delivery apps, tills' p99 between two polls, of which one brings 500, of none"
    meanwhile = "delivery apps, tills' p99 while 500 are placed, of none"
    if not bench.wanted(rate, interval, meanwhile):
        return
    shop, alone = (restaurant(bench.stack, bench.directory()) for _ in range(2))
    if bench.wanted(rate):
        rates = [(placed_by_the_app(shop, BURST[bench.brief]), placed_by_a_till(shop, BURST[bench.brief]))
                 for _ in range(bench.rounds)]
        share = statistics.median(app / till for app, till in rates)
        app, till = (statistics.median(of_one) for of_one in zip(*rates))
        bench.add(Row(rate, f">= {RATE_MIN:.2f}", share, ceiling=f"{till:.0f}/s", met=share >= RATE_MIN,
                      note=f"{app:.0f} orders a second; a till makes three requests for each", detail={"per_second": rates}))
    if bench.wanted(interval):
        bench.add(p99_row(interval, *tills(bench, shop, alone, bench.rounds, 2 if bench.brief else POLL_S),
                          ratio_max=TILLS_RATIO_MAX))
    if bench.wanted(meanwhile):
        row = p99_row(meanwhile, *tills(bench, shop, alone, 3 * bench.rounds, 0))
        row.bar, row.met = "", None
        bench.add(row)


def restaurant(stack, directory):
    """Runs until the stack ends. The app stands for another machine."""
    shop = Restaurant(directory, APP)
    shop.app.echoes = False
    elsewhere([shop.app.server.thread.native_id])
    stack.callback(shop.close)
    return shop.start()


def burst(shop, count):
    """The app has so many orders more, and is asked for them; returns when all are placed."""
    for _ in range(count):
        shop.app.place(ORDER_OF[APP](next(numbers)))
    shop.hurry()
    deadline = time.monotonic() + 10 * PATIENCE_S
    with shop.box.database(writes=False) as db:
        while shop.app.queue or db.rows("SELECT 1 FROM delivery_event WHERE state = 'waiting' LIMIT 1"):
            assert time.monotonic() < deadline, shop.box.log_text()[-2000:]
            time.sleep(LOOK_S)


def placed_by_the_app(shop, count):
    """Orders a second."""
    begin = time.monotonic()
    burst(shop, count)
    return count / (time.monotonic() - begin)


def placed_by_a_till(shop, count):
    """Orders a second: the same are placed, filled and paid."""
    pizza, drink = ({"product_name": "Pizza", "sku": "PZ-G", "quantity": 2, "variant_price": 40,
                     "modifiers": [{"name": "Borda", "price": 7}]},
                    {"product_name": "Guaraná", "quantity": 1, "variant_price": 8.8})
    with contextlib.closing(QuickClient(shop.box)) as client:
        def post(path, body):
            answer = client.send(shop.key, "POST", path, json.dumps(body), str(uuid.uuid4()))
            assert answer.status in (200, 201), answer.body
            return answer.data["id"]

        begin = time.monotonic()
        for _ in range(count):
            path = "/v1/orders/" + post("/v1/orders", {"service_type": "DELIVERY", "order_title": "Mesa 4", "delivery_price": 9,
                                                       "service_fee_price": 1, "comment": "portão azul"})
            post(path + "/combos", {"combos": [pizza, drink]})
            post(path + "/payments", {"payment_method_code": "cash", "amount": 55.8})
        return count / (time.monotonic() - begin)


def tills(bench, shop, alone, rounds, seconds):
    """The times without and with a burst, from the poll until its last order is placed, or for so many seconds where that is
    longer."""
    times = [[], []]
    for _ in range(rounds):
        begin = time.monotonic()
        with InAProcess(Tills(shop).times_while) as run:
            burst(shop, BURST[bench.brief])
            time.sleep(max(0, begin + seconds - time.monotonic()))
        times[1] += run.result
        took = time.monotonic() - begin
        with InAProcess(Tills(alone).times_while) as run:
            time.sleep(took)
        times[0] += run.result
    return times
