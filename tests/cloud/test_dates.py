"""When an order was sold: a Comanda takes the box's dates, any other cloud uses its own clock, which is told."""

import collections

from support.cloud_pair import Pair
from support.wall_clock import ClockBox

DAY_S = 24 * 3600
DAYS = 3


def synchronised(data, options, **named):
    return ClockBox(data, options, synchronised=True, **named)


def sell_through_an_outage(pair, set_cloud):
    """Sells on each of some days without the cloud, which `set_cloud` puts to the same day at the end."""
    till = pair.till()
    pair.proxy.go_offline()
    for day in range(DAYS, 0, -1):
        pair.box.set_ahead(-day * DAY_S)
        for _ in range(2):
            till.finish(till.open(service_type="ONSITE", scheduled_delivery_date=None))
    pair.box.set_ahead(0)
    set_cloud()
    pair.proxy.go_online()
    pair.settle()


def test_a_comanda_keeps_the_days_on_which_the_box_sold(tmp_path, seed):
    with Pair(tmp_path, seed, kind=synchronised, start=False) as pair:
        for server in (pair.box, pair.cloud):
            server.start_at(-DAYS * DAY_S)
        pair.link()
        sell_through_an_outage(pair, lambda: pair.cloud.set_ahead(0))
        pair.eventually(pair.compare)
        assert len({r["created_at"][:10] for r in pair.cloud_records()}) == DAYS
        assert [d for d in pair.differences() if d["kind"] == "date"] == []


def test_without_the_scope_the_cloud_dates_orders_itself_and_that_is_told(tmp_path, seed):
    with Pair(tmp_path, seed, kind=synchronised, start=False, cloud_scopes="all") as pair:
        for server in (pair.box, pair.cloud):
            server.start_at(-DAYS * DAY_S)
        said = pair.link()
        assert "orders:sync" in said.stdout + said.stderr
        sell_through_an_outage(pair, lambda: pair.cloud.set_ahead(0))
        pair.eventually(lambda: pair.compare(with_dates=False))
        require_days_told(pair)


def test_any_other_cloud_dates_orders_itself_and_that_is_told(tmp_path, seed):
    with Pair(tmp_path, seed, strict=True, kind=synchronised, start=False) as pair:
        pair.cloud.clock_offset_s = -DAYS * DAY_S
        pair.box.start_at(-DAYS * DAY_S)
        pair.link()
        sell_through_an_outage(pair, lambda: setattr(pair.cloud, "clock_offset_s", 0))
        pair.eventually(pair.compare)
        require_days_told(pair)


def require_days_told(pair):
    """One difference for each day, with the number of its orders."""
    told = [d for d in pair.differences() if d["kind"] == "date"]
    sold = collections.Counter(r["created_at"][:10] for r in pair.box_records())
    assert len(told) >= len(sold) - 1 and len(told) <= len(sold), (told, sold)
