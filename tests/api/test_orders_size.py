"""The record of an order has at most 512 KiB (contract section 1, Caps of an order); what finishes an order always works."""

import contextlib

import pytest

from support.big_orders import LONGEST, RECORD_MAX, fill, middle_item, old_order, record_size
from support.box import Box
from support.orders import LIFE, accepted, invalid, new_key, path, read

PAYMENTS_MAX = 100


@pytest.fixture
def full(api):
    """An order at its cap, and the answer that refused one line more."""
    order = api.place(service_type="DELIVERY")
    return order, fill(api, order)


def test_lines_fill_an_order_to_512_kib_and_no_further(api, full):
    order, refusal = full
    invalid(refusal, says="512 KiB", combos="too_many_items")
    before = read(api, order)
    assert RECORD_MAX - 2_000 < record_size(api, order) <= RECORD_MAX
    invalid(api.post(path(order, "combos"), {"combos": [middle_item()]}), combos="too_many_items")
    assert read(api, order) == before, "a refusal changes nothing"


def test_texts_that_would_pass_it_are_too_long_and_shorter_ones_go_in(api, full):
    order, _ = full
    while api.post(path(order, "combos"), {"combos": [{**middle_item(), "product_name": "x"}]}).status == 200:
        pass
    invalid(api.patch(path(order), {"comment": LONGEST, "order_title": LONGEST}), says="512 KiB", comment="too_long",
            order_title="too_long")
    invalid(api.patch(path(order), {"comment": LONGEST, "delivery_price": 3}), comment="too_long")
    assert accepted(api.patch(path(order), {"delivery_price": 3}))["delivery_price"] == 3
    assert accepted(api.patch(path(order), {"scheduled_delivery_date": "2030-01-01T00:00:00.000Z"}))
    for n in range(50):
        answer = api.post(path(order, "discounts"), {"type": "AMOUNT", "value": 1, "reason": LONGEST})
        if answer.status != 200:
            break
    invalid(answer, discounts="too_many_items")


def test_an_order_at_its_cap_is_finished_and_paid_to_the_last_payment(api, full):
    order, _ = full
    # 255 + 500 letters: what a payment may say.
    texts = {"reference": "r" * 255, "comment": "c" * 500}
    for _ in range(PAYMENTS_MAX):
        accepted(api.post(path(order, "payments"), {"payment_method_code": "cash", "amount": 1, **texts}))
    invalid(api.post(path(order, "payments"), {"payment_method_code": "cash", "amount": 1}), says="100",
            payments="too_many_items")
    payments = read(api, order)["payments"]
    accepted(api.delete(path(order, "payments", payments[0]["id"])))
    accepted(api.put(path(order, "rider"), {"provider": "api", "name": "Juan"}))
    accepted(api.patch(path(order, "delivery-status"), {"delivery_status": "DRIVER_ON_THE_WAY_TO_DESTINATION"}))
    for status in LIFE[1:]:
        accepted(api.patch(path(order, "status"), {"status": status}))


def test_an_order_at_its_cap_is_cancelled_and_so_are_its_rows(api, full):
    order, _ = full
    for combo in read(api, order)["combos"][:20]:
        accepted(api.delete(path(order, "combos", combo["id"])))
    assert accepted(api.post(path(order, "cancel"), {"reason": LONGEST + LONGEST}))["status"] == "CANCELLED"


def test_a_default_page_fits_whatever_was_paid(api):
    """The longest texts there are: what they may add to the record is bounded, a payment without texts always works."""
    order = api.place()
    fill(api, order)
    texts = {"reference": "\N{CURRY AND RICE}" * 255, "comment": "\N{CURRY AND RICE}" * 500}
    refusals = 0
    for _ in range(PAYMENTS_MAX):
        answer = api.post(path(order, "payments"), {"payment_method_code": "cash", "amount": 1, **texts})
        if answer.status != 200:
            refusals += 1
            invalid(answer, reference="too_long", comment="too_long")
            accepted(api.post(path(order, "payments"), {"payment_method_code": "cash", "amount": 1}))
    assert refusals > 0
    assert 20 * record_size(api, order) < 16 * 1024 * 1024


def test_a_small_change_of_a_full_order_writes_little_more_than_its_record(box, api, full):
    order, _ = full
    def stored():
        return sum(len(body.encode()) for (body,) in box.rows("SELECT body FROM event"))

    before = stored()
    accepted(api.patch(path(order), {"delivery_price": 4}))
    assert stored() - before < RECORD_MAX + 1_000


@pytest.mark.box_only
@pytest.mark.parametrize("megabytes", [4, 15.5])
def test_a_larger_order_of_an_older_program_is_read_moved_paid_and_finished(megabytes):
    box = Box()
    try:
        order = {"id": old_order(box.data, megabytes)}
        box.start()
        with contextlib.closing(box.client(box.make_key()["key"])) as api:
            before = read(api, order)
            assert record_size(api, order) > megabytes * 1e6 * 0.9
            assert api.get("/v1/orders?per_page=1&filter[public_id]=" + before["public_id"]).data == [before]
            invalid(api.post(path(order, "combos"), {"combos": [middle_item()]}), combos="too_many_items")
            invalid(api.patch(path(order), {"comment": "more"}), comment="too_long")
            accepted(api.patch(path(order, "status"), {"status": "READY"}))
            paid = accepted(api.post(path(order, "payments"), {
                "payment_method_code": "cash", "amount": before["total"] + 1, "reference": "12", "comment": "thanks"}))
            accepted(api.delete(path(order, "payments", paid["payments"][-1]["id"])))
            accepted(api.delete(path(order, "combos", before["combos"][0]["id"])))
            assert accepted(api.post(path(order, "cancel"), {"reason": "too much"}))["status"] == "CANCELLED"
            assert read(api, order)["status"] == "CANCELLED"
            assert accepted(api.post("/v1/orders", {"service_type": "ONSITE"}, new_key()), 201)
    finally:
        box.discard()
