"""What a day of following 20 open orders costs: counted over some polls, multiplied to a day. Bytes of bodies, down."""

import pytest

from support.box import LONG, PATIENCE_S
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


# A menu is always read whole: counts of stock move without another tag.
@pytest.mark.parametrize("has_tags, kinds, most", [(False, list(DAY), 60 * MB), (True, ["open", "recent"], 3 * MB)],
                         ids=["gzip", "tags"])
def test_a_day_of_polling_is_cheap(tmp_path, seed, has_tags, kinds, most):
    with Pair(tmp_path, seed, strict=True) as pair:
        pair.cloud.has_tags = has_tags
        pair.link()
        till = pair.till()
        for _ in range(OPEN):
            till.move(till.open(), "POST", "/combos", {"combos": [dish(till, n) for n in range(3)]})
        pair.settle()
        pair.eventually(pair.compare)
        pair.command("resume")  # everything is read again
        begin = len(pair.cloud.seen())
        pair.eventually(lambda: require_rounds(pair, begin, 2))
        if has_tags:
            pair.eventually(lambda: require_known(pair, begin))
        begin = len(pair.cloud.seen())
        pair.eventually(lambda: require_rounds(pair, begin, POLLS), timeout_s=PATIENCE_S + POLLS * 6)
        a_day = bytes_of_a_day(pair, begin, kinds)
        print(f"{a_day / MB:.1f} MB a day")
        assert a_day <= most, f"{a_day / MB:.1f} MB a day"


def dish(till, number):
    """A line as most are: of the menu, and one modifier."""
    return {"variant_id": till.products[number]["variants"][0]["id"], "quantity": 1, "variant_price": 12.5,
            "modifiers": [{"name": "Sin ají", "quantity": 1, "price": 0}] if number == 0 else []}


def polls(pair, begin):
    return [r for r in pair.cloud.seen()[begin:] if r.method == "GET" and kind_of(r) == "open" and "page" in r.query]


def rounds_of(requests):
    """A cloud that takes no list of statuses is asked for each."""
    return len(requests) / len({r.query["filter[status]"] for r in requests}) if requests else 0


def require_known(pair, begin):
    """The last round found nothing new."""
    found = polls(pair, begin)
    last = found[-len({r.query["filter[status]"] for r in found}):]
    assert {r.status for r in last} == {304}


def require_rounds(pair, begin, count):
    assert rounds_of(polls(pair, begin)) >= count


def bytes_of_a_day(pair, begin, kinds):
    open_polls = polls(pair, begin)
    total = sum(r.sent_bytes for r in open_polls) / rounds_of(open_polls) * DAY["open"]
    for kind in set(kinds) - {"open"}:
        last = {}  # of each address, the last reading
        for request in pair.cloud.seen("GET"):
            if kind_of(request) == kind and request.status in (200, 304):
                last[request.path] = request.sent_bytes
        total += sum(last.values()) * DAY[kind]
    return total
