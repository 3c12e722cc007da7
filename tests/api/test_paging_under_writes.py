"""A walk through all pages while others write: no repeat, no gap, it ends (contract section 17.4)."""

import contextlib
import threading
import uuid

import pytest

from support.box import Box

ORDERS = 10_000
ADDED_MIN, ADDED_MAX = 100, 2_000  # during each walk: without an end, a slow machine walks through ever more of them
TILLS = 8


@pytest.fixture(scope="module")
def busy():
    box = Box()
    box.bring_in("demo")
    key = box.make_key()["key"]
    box.start()
    shares = iter(range(ORDERS))
    place_while(box, key, lambda: next(shares, None) is not None, TILLS)()
    yield box, key
    box.discard()


def place_while(box, key, more, tills):
    """Tills that place orders while `more()`; what is returned waits for their end."""

    def till():
        with contextlib.closing(box.client(key)) as client:
            while more():
                client.place()

    workers = [threading.Thread(target=till) for _ in range(tills)]
    for worker in workers:
        worker.start()

    def wait():
        for worker in workers:
            worker.join()

    return wait


def ids_of(box):
    return {id for (id,) in box.rows("SELECT id FROM orders")}


@pytest.mark.parametrize("sort", ["-created_at", "created_at", "-updated_at", "total", "order_number",
                                  "scheduled_delivery_date"])
@pytest.mark.parametrize("filters", ["", "&filter[status]=PENDING"])
def test_a_walk_sees_each_order_of_its_beginning_once(busy, sort, filters):
    box, key = busy
    path = f"/v1/orders?per_page=100&sort={sort}{filters}&filter[include]=none"
    before = ids_of(box)
    with contextlib.closing(box.client(key)) as client:
        first = client.get(path)
        total, snapshot = first.json["pagination"]["total"], first.headers["x-snapshot"]
        walking = threading.Event()
        walking.set()
        added = iter(range(1_000_000))
        # At least so many, and on until the walk has ended.
        wait = place_while(box, key, lambda: next(added) < (ADDED_MAX if walking.is_set() else ADDED_MIN), 1)
        try:
            seen = [order["id"] for order in first.data]
            page, more = 1, first.json["pagination"]["has_more"]
            while more:
                page += 1
                answer = client.get(f"{path}&page={page}&filter[snapshot]={snapshot}")
                seen += [order["id"] for order in answer.data]
                assert answer.json["pagination"]["total"] == total
                more = answer.json["pagination"]["has_more"]
        finally:
            walking.clear()
            wait()
    assert len(seen) == total >= ORDERS
    assert set(seen) == before
    assert len(ids_of(box)) >= total + ADDED_MIN


def test_references_stay_unique_whatever_writes(busy):
    box, key = busy
    reference = str(uuid.uuid4())
    with contextlib.closing(box.client(key)) as client:
        assert client.place(reference)["id"] == client.post(
            "/v1/orders", {"service_type": "ONSITE"}, {"Idempotency-Key": reference}).data["id"]
