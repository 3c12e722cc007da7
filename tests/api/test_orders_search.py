"""filter[search] of GET /v1/orders: a number, a public id, a client, words of a title (contract section 7, Listing)."""

import contextlib
import datetime
import urllib.parse

import pytest

from support.box import Box
from support.orders import Restaurant, accepted, new_key


@pytest.fixture(scope="module")
def quiet_box():
    box = Box()
    box.bring_in("demo")
    box.start()
    yield box
    assert box.discard() == 0


@pytest.fixture(scope="module")
def api(quiet_box):
    with contextlib.closing(quiet_box.client(quiet_box.make_key(scopes="all,orders:sync")["key"])) as client:
        yield client


@pytest.fixture(scope="module")
def house(quiet_box, demo):
    return Restaurant(demo, quiet_box)


def ago(**time):
    return (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(**time)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


@pytest.fixture(scope="module")
def orders(api, house):
    """By name, oldest first."""
    plan = {"long ago": dict(order_title="Cumpleaños viejo"), "plain": {}, "ready": dict(client_id=house.client["id"]),
            "other": dict(client_id=house.clients[1]["id"], order_title="Para llevar"),
            "again": dict(client_id=house.client["id"]), "birthday": dict(order_title="Cumpleaños de Íris"),
            "table": dict(order_title="Mesa 7 del fondo, cumpleaños")}
    placed = {}
    for name, fields in plan.items():
        at = {"Comanda-Occurred-At": ago(days=40)} if name == "long ago" else {}
        placed[name] = accepted(api.post("/v1/orders", {"service_type": "ONSITE", **fields}, {**new_key(), **at}), 201)
    api.advance(placed["ready"], "READY")
    return placed


@pytest.fixture
def found(api, orders):
    """Asks for a search; returns the names of the orders found, in the order of the list."""
    names = {order["id"]: name for name, order in orders.items()}

    def ask(text, more=""):
        answer = api.get(f"/v1/orders?filter[search]={urllib.parse.quote(str(text))}{more}")
        assert answer.status == 200, answer.body
        return [names[row["id"]] for row in answer.data]

    return ask


def test_a_number_and_a_public_id_are_found_exactly(api, orders, found):
    assert found(orders["plain"]["order_number"], f"&filter[start_date]={ago(days=1)}") == ["plain"]
    for spelt in (orders["plain"]["public_id"], orders["plain"]["public_id"].lower()):
        assert found(spelt) == ["plain"]
    assert found(orders["plain"]["public_id"][:-1]) == []
    assert found(9_999) == []


def test_a_short_number_is_no_end_of_a_phone_number(house, orders, found):
    digits = house.client["phone_number"][-3:]
    assert int(digits) > len(orders) and found(digits) == []
    assert found(house.client["phone_number"][-4:]) == ["again", "ready"]


def test_the_orders_of_clients_are_found_by_name_and_number(house, found):
    client = house.client
    first_name = client["name"].split()[0]
    for text in (first_name.upper(), client["name"], client["phone_number"][-6:], client["email"]):
        assert found(text) == ["again", "ready"], text
    assert found(first_name, "&filter[status]=READY") == ["ready"]
    assert found(first_name, f"&filter[client_id]={house.clients[1]['id']}") == []


def test_words_of_titles_are_found_among_the_dates_or_the_last_30_days(orders, found):
    assert found("CUMPLEA") == ["table", "birthday"]
    assert found("iris cumple") == ["birthday"]
    assert found("mesa iris") == found("esa") == []
    assert found("cumple", f"&filter[start_date]={ago(days=41)[:10]}") == ["table", "birthday", "long ago"]
    assert found("cumple", f"&filter[end_date]={ago(days=20)}") == ["long ago"]
    begin = orders["table"]["created_at"]  # two orders may be of one millisecond
    assert found("cumple", f"&filter[start_date]={begin}") == [
        name for name in ("table", "birthday") if orders[name]["created_at"] >= begin]
    assert found("cumple", "&filter[end_date]=2020-01-01") == []


def test_what_is_found_is_sorted_and_paged_as_every_list(api, orders, found):
    assert found("cumple", "&sort=created_at") == ["birthday", "table"]
    assert found("cumple", "&sort=-order_number&per_page=1") == ["table"]
    assert found("cumple", "&per_page=1&page=2") == ["birthday"]
    answer = api.get("/v1/orders?filter[search]=cumple&per_page=1&page=2")
    assert answer.json["pagination"] == {"current_page": 2, "per_page": 1, "total": 2, "has_more": False}
    assert found("cumple", "&sort=scheduled_delivery_date") == sorted(
        ["birthday", "table"], key=lambda name: orders[name]["id"])
    assert found("cumple", "&page=3") == []
