"""A box that is upgraded while it is offline: what an older program had planned goes up with its keys and bodies, once, and
what comes later by what differs. The database was left by a program that planned ahead (schema version 19)."""

import contextlib
import json
import lzma

from support.cloud_pair import Pair, essence
from support.past import DIRECTORY, orders_told, unpack

VERSION = 19


def test_what_was_planned_goes_up_once(tmp_path, seed):
    told = orders_told(VERSION)
    link = json.loads(lzma.decompress((DIRECTORY / f"{VERSION}.link.json.xz").read_bytes()))
    with Pair(tmp_path, seed, company_there=link["cloud"], start=False) as pair:
        unpack(VERSION, pair.box.data)
        pair.key = link["key"]
        pair.box.start()
        pair.cloud.start()
        planned = pair.box.rows("SELECT order_id, key FROM cloud_step ORDER BY order_id, position")
        assert len(planned) == 40
        # One that is changed before anything of it was sent.
        changed = told[0]
        with contextlib.closing(pair.client()) as client:
            answer = client.patch(f"/v1/orders/{changed['id']}/status", {"status": "READY"})
            assert answer.status == 200
            told[0] = answer.data
        pair.link()
        pair.settle()

        def as_told():
            for order in told:
                assert essence(pair.record_here(order)) == essence(order)
                assert essence(pair.record_there(order)) == essence(order)
        pair.eventually(as_told)
        pair.proxy.require_steady_keys()
        assert pair.box.value("SELECT count(*) FROM cloud_step") == 0
        assert {key for _, key in planned} <= {e.key for e in pair.proxy.writes()}, "they keep their keys"
        assert pair.differences() == []
