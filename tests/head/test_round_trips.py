"""How often comanda-head waits for its database in one request: each wait is half a millisecond on another machine of the same
network, and the writer's are everybody's."""

import pytest

from support.metrics import of_box
from support.orders import item, new_key, path

# The least of so many tries: what runs in the background waits too, now and then.
TRIES = 8


@pytest.fixture
def api(head):
    client = head.client(head.make_key()["key"])
    yield client
    client.close()


@pytest.fixture
def trips(head):
    """The least number of waits that request(prepared) takes, or request() where nothing is prepared."""
    def so_far():
        return of_box(head)["comanda_db_round_trips_total"]

    def least(request, prepare=lambda: None):
        found = []
        for _ in range(TRIES):
            prepared = prepare()
            before = so_far()
            answer = request() if prepared is None else request(prepared)
            found.append(so_far() - before)
            assert answer.status < 400, answer.body
        print(found)
        return min(found)

    return least


def test_creating_an_order(api, trips):
    assert trips(lambda: api.post("/v1/orders", {"service_type": "ONSITE"}, new_key())) <= 6


def test_adding_four_items(api, trips):
    items = {"combos": [item(name=f"Ceviche {n}") for n in range(4)]}
    assert trips(lambda order: api.post(path(order, "combos"), items, new_key()), api.place) <= 9


def test_moving_an_order(api, trips):
    def prepare():
        return api.add(api.place(), *[item(name=f"Ceviche {n}") for n in range(4)])

    assert trips(lambda order: api.patch(path(order, "status"), {"status": "PREPARING"}, new_key()), prepare) <= 11


def test_reading_one_order(api, trips):
    """Not from memory: it has changed."""
    assert trips(lambda order: api.get(path(order)), lambda: api.add(api.place(), item())) <= 4


def test_listing_after_a_write(api, trips):
    for _ in range(60):
        api.place()
    assert trips(lambda _: api.get("/v1/orders?per_page=50"), api.place) <= 5


def test_a_poll_without_news(api, trips):
    api.place()
    tag = api.get("/v1/orders?per_page=50").etag

    def poll():
        answer = api.get("/v1/orders?per_page=50", **{"If-None-Match": tag})
        assert answer.status == 304
        return answer

    assert trips(poll) == 0
