"""A walk through all pages while others write: no repeat, no gap, it ends (contract section 17.4)."""

import contextlib
import threading
import uuid

import pytest

from support.box import Box

ORDERS = 2_000
ADDED = 100


@pytest.fixture(scope="module")
def busy():
    box = Box()
    box.bring_in("demo")
    key = box.make_key()["key"]
    box.start()
    place_many(box, key, ORDERS, threads=8)
    yield box, key
    box.discard()


def place_many(box, key, count, threads=1):
    def till(share):
        with contextlib.closing(box.client(key)) as client:
            for _ in range(share):
                client.place()

    workers = [threading.Thread(target=till, args=(count // threads,)) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


@pytest.mark.parametrize("sort", ["-created_at", "created_at", "total", "order_number"])
def test_a_walk_sees_each_order_of_its_beginning_once(busy, sort):
    box, key = busy
    with contextlib.closing(box.client(key)) as client:
        first = client.get(f"/v1/orders?per_page=100&sort={sort}&filter[include]=none")
        total = first.json["pagination"]["total"]
        snapshot = first.headers["x-snapshot"]
        writer = threading.Thread(target=place_many, args=(box, key, ADDED))
        writer.start()
        seen = [o["id"] for o in first.data]
        page, more = 1, first.json["pagination"]["has_more"]
        while more:
            page += 1
            answer = client.get(f"/v1/orders?per_page=100&page={page}&sort={sort}&filter[include]=none"
                                f"&filter[snapshot]={snapshot}")
            seen += [o["id"] for o in answer.data]
            assert answer.json["pagination"]["total"] == total
            more = answer.json["pagination"]["has_more"]
        writer.join()
    assert len(seen) == len(set(seen)) == total


def test_references_stay_unique_whatever_writes(busy):
    box, key = busy
    reference = str(uuid.uuid4())
    with contextlib.closing(box.client(key)) as client:
        assert client.place(reference)["id"] == client.post(
            "/v1/orders", {"service_type": "ONSITE"}, {"Idempotency-Key": reference}).data["id"]
