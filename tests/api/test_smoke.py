"""One order from nothing to closed on a fresh box, and still there after a restart: small, so that it runs under an
emulator too."""

import contextlib

from support.box import Box
from support.orders import item, path, read


def test_a_fresh_box_takes_an_order_and_has_it_after_a_restart(tmp_path):
    box = Box(data=tmp_path)
    box.bring_in("demo")
    key = box.make_key()["key"]
    box.start()
    try:
        with contextlib.closing(box.client(key)) as api:
            order = api.place(service_type="TAKEAWAY", order_title="Rosa")
            assert api.add(order, item(12.5, 2, modifiers=[{"name": "Extra fish", "price": 3}]))["total"] == 31
            assert api.pay(order, 31, received_amount=50)["paid"]
            closed = api.advance(order, "FINALIZED")
            assert closed["status"] == "FINALIZED" and closed["payments"][0]["change_amount"] == 19
        assert box.stop() == 0
        box.start()
        with contextlib.closing(box.client(key)) as api:
            assert read(api, order) == closed
            assert api.get(path({"id": order["public_id"]})).data == closed
            assert [o["id"] for o in api.get("/v1/orders").data] == [order["id"]]
    finally:
        assert box.stop() == 0
