"""What a day of following 20 open orders costs: counted over some polls, multiplied to a day. Bytes of bodies, down."""

import time

import pytest

from support.box import LONG
from support.cloud_pair import Pair

MB = 1_000_000
OPEN = 20
POLLS = 60 if LONG else 4
# In a day: an orders' poll each 15 s, orders of two days and the menu each 5 min, and the rest each hour.
DAY = {"open": 5760, "recent": 288, "menu": 288, "rest": 24}


def kind_of(request):
    if request.path == "/v1/orders":
        return "open" if "filter[status]" in request.query else "recent"
    return "menu" if request.path == "/v1/menu" else "rest"


@pytest.mark.parametrize("has_tags, most", [(False, 60 * MB), (True, 3 * MB)], ids=["gzip", "tags"])
def test_a_day_of_polling_is_cheap(tmp_path, seed, has_tags, most):
    with Pair(tmp_path, seed, strict=True) as pair:
        pair.cloud.has_tags = has_tags
        pair.link()
        till = pair.till()
        for _ in range(OPEN):
            order = till.open()
            for _ in range(3):
                order = till.add(order)
        pair.settle()
        pair.eventually(pair.compare)
        begin = len(pair.cloud.seen())

        def polled():
            return [r for r in pair.cloud.seen()[begin:] if r.method == "GET" and kind_of(r) == "open"]

        while len(polled()) < POLLS * 5:  # five open statuses, or one list of them
            time.sleep(0.2)
            if len({r.query["filter[status]"] for r in polled()}) == 1 and len(polled()) >= POLLS:
                break
        rounds = len(polled()) / max(1, len({r.query["filter[status]"] for r in polled()}))
        sizes = {kind: 0 for kind in DAY}
        counts = {kind: 0 for kind in DAY}
        for request in pair.cloud.seen():
            if request.method == "GET" and request.status in (200, 304):
                sizes[kind_of(request)] += request.sent_bytes
                counts[kind_of(request)] += 1
        sizes["open"] = sum(r.sent_bytes for r in polled())
        a_day = sizes["open"] / rounds * DAY["open"] + sum(
            sizes[kind] / max(1, counts[kind]) * DAY[kind] for kind in ("recent", "menu", "rest"))
        print(f"{a_day / MB:.1f} MB a day")
        assert a_day <= most, (f"{a_day / MB:.1f} MB a day", sizes, counts, rounds)
