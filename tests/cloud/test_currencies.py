"""Weighed items and currencies of 0, 2 and 3 decimals: the totals of both sides are equal to the last digit."""

import pytest

from support.box import LONG
from support.cloud_pair import Pair

ORDERS = 100 if LONG else 8


@pytest.mark.parametrize("strict", [False, True], ids=["comanda", "strict"])
@pytest.mark.parametrize("currency", ["CLP", "PEN", "KWD"])
def test_weighed_items_come_over_to_the_last_digit(tmp_path, seed, currency, strict):
    with Pair(tmp_path, seed, strict=strict, currency=currency) as pair:
        pair.link()
        till = pair.till()
        for _ in range(ORDERS):
            order = till.open()
            for _ in range(3):
                order = till.discount(till.add(order))
            till.pay(order)
        pair.settle()
        pair.eventually(pair.compare)
        assert [d for d in pair.differences() if d["kind"] == "totals"] == []


def test_a_cloud_with_another_currency_is_not_linked(tmp_path, seed):
    with Pair(tmp_path, seed, strict=True) as pair:
        pair.cloud.restaurant.company["currency"] = "CLP"
        result = pair.link(check=False)
        assert result.returncode != 0
        said = result.stdout + result.stderr
        assert "CLP" in said and "PEN" in said, said
        assert pair.status()["state"] == "not linked"
