"""The instruments of this folder find what they are for: a simple sync passes them, and its mistakes do not."""

import pytest

from support.cloud_pair import Pair
from support.cloud_tills import CloudTill
from support.simple_sync import SimpleSync

ORDERS = 6


class PlainTill(CloudTill):
    """Plays what the simple sync brings over."""

    def open(self):
        return super().open(service_type="ONSITE", client_id=None, table_id=None, address_id=None, delivery_price=None,
                            delivery_comment=None)

    def item(self):
        body = super().item()
        body["modifiers"] = [{"name": "Yuca", **m} for m in body.get("modifiers", []) if "modifier_id" not in m]
        if "product_id" in body:
            body["product_name"] = "Vela"
        return {name: value for name, value in body.items() if name != "product_id"}

    def plays(self):
        return [self.add] * 5 + [self.discount, self.pay, self.pay, self.cancel_combo, self.cancel_payment, self.advance]


@pytest.fixture(params=[False, True], ids=["comanda", "strict"])
def pair(request, tmp_path, seed):
    with Pair(tmp_path, seed, strict=request.param, rate=0.4) as pair:
        till = PlainTill(pair.box, pair.key, seed).look_around()
        pair.tills.append(till)
        for _ in range(ORDERS):
            till.serve()
        yield pair


def test_a_sound_sync_passes_a_line_that_fails(pair):
    SimpleSync(pair).run()
    pair.compare(with_dates=False)
    assert len(pair.proxy.fates_met()) > 3


def test_keys_that_change_with_each_attempt_are_found(pair):
    SimpleSync(pair, new_keys=True).run()
    with pytest.raises(AssertionError, match="times in the cloud|'combos'|'payments'"):
        pair.compare(with_dates=False)


def test_line_totals_sent_as_unit_prices_are_found(pair):
    SimpleSync(pair, line_totals=True).run()
    with pytest.raises(AssertionError, match="subtotal"):
        pair.compare(with_dates=False)
