"""Sold out for a while, "86" (contract section 9): of products and modifiers, with an end that comes once."""

import contextlib
import datetime
import time

import pytest

from support.box import Box, serving_the_demo
from support.orders import accepted, invalid, refused
from support.routes import SOME_ID
from support.waiting import wait_until


box = pytest.fixture(scope="module")(serving_the_demo)


@pytest.fixture(scope="module")
def api(box):
    with contextlib.closing(box.client(box.make_key(name="owner")["key"])) as client:
        yield client


@pytest.fixture(scope="module")
def cook(box):
    with contextlib.closing(box.client(box.make_key(scopes="kitchen:read,kitchen:write", name="Cocina 1")["key"])) as client:
        yield client


INSTANT_OF_OLD = "2026-11-20T18:00:00.000Z"


def ahead(**fields):
    at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(**fields)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def product_with_modifiers(api):
    return next(p for c in api.get("/v1/menu").data["categories"] for p in c["products"]
                if p["available"] and not p["sold_out"] and any(g["modifiers"] for g in p["modifier_categories"]))


def path(product):
    return f"/v1/menu/products/{product['id']}"


def sold_out(product):
    return path(product) + "/sold-out"


def read(api, product):
    return accepted(api.get(path(product)))


def listed(api, product):
    return next(p for c in api.get("/v1/menu").data["categories"] for p in c["products"] if p["id"] == product["id"])


def events(api, product):
    feed = api.get("/v1/events?per_page=100").json["data"]
    return [one for one in feed if one["subject"]["id"] == product["id"]]


@pytest.fixture
def dish(api):
    return accepted(api.post("/v1/menu/products", {"name": "Causa", "category_name": "Pruebas", "price": 20, "modifier_categories": [
        {"name": "Extras", "modifiers": [{"name": "Palta", "price": 3}]}]}), 201)


@pytest.mark.parametrize("until", ["an instant", None])
def test_a_sold_out_product_is_not_available_until_somebody_says_so(api, cook, dish, until):
    sent = until and ahead(hours=5)
    tag = api.get("/v1/menu").etag
    answer = accepted(cook.put(sold_out(dish), {"until": sent}))
    since = answer["sold_out"].pop("since")
    assert answer == {"id": dish["id"], "name": "Causa", "available": False, "sold_out": {"until": sent, "by": "Cocina 1"}}
    for seen in (read(api, dish), listed(api, dish)):
        assert (seen["available"], seen["visible"]) == (False, True)
        assert seen["sold_out"] == {"since": since, "until": sent, "by": "Cocina 1"}
        assert [v["available"] for v in seen["variants"]] == [False]
        assert seen["updated_at"] > dish["updated_at"]
    assert api.get("/v1/menu").etag != tag
    (event,) = events(api, dish)[1:]
    assert (event["event_type"], event["changes"], event["data"]["available"]) == ("PRODUCT_UPDATED", ["fields"], False)
    assert event["data"]["sold_out"]["since"] == since
    assert dish["id"] in {p["id"] for c in api.get("/v1/menu?filter[available]=false").data["categories"] for p in c["products"]}
    # The same end from another key changes nothing: the first one stays in `by`.
    before = read(api, dish)
    assert accepted(api.put(sold_out(dish), {"until": sent}))["sold_out"]["by"] == "Cocina 1" and read(api, dish) == before
    # Another end keeps since.
    later = ahead(days=1)
    changed = accepted(api.put(sold_out(dish), {"until": later}))["sold_out"]
    assert changed == {"since": since, "until": later, "by": "owner"}
    answer = accepted(cook.delete(sold_out(dish)))
    assert (answer["available"], answer["sold_out"]) == (True, None)
    after = read(api, dish)
    assert (after["available"], after["sold_out"]) == (True, None)
    assert accepted(cook.delete(sold_out(dish)))["sold_out"] is None and read(api, dish) == after
    assert len(events(api, dish)) == 4


def test_a_sold_out_modifier_is_shown_with_its_product(api, cook, dish):
    (modifier,) = dish["modifier_categories"][0]["modifiers"]
    assert modifier["sold_out"] is None
    answer = accepted(cook.put(f"/v1/menu/modifiers/{modifier['id']}/sold-out", {"until": None}))
    assert (answer["id"], answer["name"], answer["available"]) == (modifier["id"], "Palta", False)
    seen = read(api, dish)
    assert seen["available"] is True and seen["modifier_categories"][0]["modifiers"][0]["sold_out"] == answer["sold_out"]
    assert listed(api, dish) == seen
    assert len(events(api, dish)) == 2
    accepted(cook.put(f"/v1/menu/modifiers/{modifier['id']}/sold-out", {"until": None}))
    assert read(api, dish) == seen
    assert accepted(cook.delete(f"/v1/menu/modifiers/{modifier['id']}/sold-out"))["available"] is True
    assert read(api, dish)["modifier_categories"][0]["modifiers"][0]["sold_out"] is None


BAD = {
    "nothing": ({}, "required"), "yesterday": (lambda: {"until": ahead(days=-1)}, "out_of_range"),
    "in nine days": (lambda: {"until": ahead(days=9)}, "out_of_range"), "a word": ({"until": "tomorrow"}, "invalid_format"),
    "no zone": ({"until": "2026-11-27T05:00:00"}, "invalid_format"), "a number": ({"until": 5}, "wrong_type"),
}


@pytest.mark.parametrize("kind", ["products", "modifiers"])
@pytest.mark.parametrize("name", BAD)
def test_a_bad_end_is_refused_and_nothing_is_sold_out(api, cook, dish, kind, name):
    body, code = BAD[name]
    subject = dish if kind == "products" else dish["modifier_categories"][0]["modifiers"][0]
    invalid(cook.put(f"/v1/menu/{kind}/{subject['id']}/sold-out", body() if callable(body) else body), until=code)
    assert read(api, dish) == dish


def test_eight_days_ahead_are_accepted(cook, dish):
    assert cook.put(sold_out(dish), {"until": ahead(days=8, seconds=-60)}).status == 200


@pytest.mark.parametrize("kind", ["products", "modifiers"])
@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_unknown_ids_and_other_scopes(box, cook, kind, method):
    body = {"until": None} if method == "PUT" else None
    refused(cook.send(method, f"/v1/menu/{kind}/{SOME_ID}/sold-out", body), 404, "not_found")
    assert cook.send(method, f"/v1/menu/{kind}/none/sold-out", body).status == 422
    with contextlib.closing(box.client(box.make_key(scopes="menu:read,menu:write")["key"])) as menu:
        refused(menu.send(method, f"/v1/menu/{kind}/{SOME_ID}/sold-out", body), 403, "insufficient_scope", says="kitchen:write")


def test_an_order_that_names_a_sold_out_dish_is_taken(api, cook, dish):
    accepted(cook.put(sold_out(dish), {"until": None}))
    order = api.add(api.place(), {"product_id": dish["id"], "quantity": 1, "variant_price": 20})
    assert dish["id"] in str(order["combos"])


def test_what_was_read_is_sent_back_and_stays_sold_out(api, cook, dish):
    (modifier,) = dish["modifier_categories"][0]["modifiers"]
    accepted(cook.put(sold_out(dish), {"until": None}))
    accepted(cook.put(f"/v1/menu/modifiers/{modifier['id']}/sold-out", {"until": None}))
    seen = read(api, dish)
    assert api.put("/v1/menu/products", {"products": [seen]}).data["unchanged"] == 1
    assert accepted(api.patch(path(dish), seen)) == seen
    for claimed in ({"sold_out": None}, {"sold_out": {"until": None}}):
        changed = accepted(api.patch(path(dish), {"description": str(claimed), **claimed}))
        assert changed["sold_out"] == seen["sold_out"] and changed["available"] is False
    said = {"since": INSTANT_OF_OLD, "until": None, "by": "x"}
    invalid(api.post("/v1/menu/products", {"name": "x", "category_name": "Pruebas", "price": 1, "sold_out": said}),
            sold_out="read_only")


def test_an_import_leaves_sold_out_as_it_is(box, api):
    dish = product_with_modifiers(api)
    accepted(api.put(sold_out(dish), {"until": None}))
    box.bring_in("demo")
    assert read(api, dish)["sold_out"] is not None
    accepted(api.delete(sold_out(dish)))


def let_another_end(api, category):
    """Makes another dish sold out and waits until the box has ended that: whatever was to end before has ended."""
    other = accepted(api.post("/v1/menu/products", {"name": "Otra", "category_id": category, "price": 20}), 201)
    accepted(api.put(sold_out(other), {"until": ahead(seconds=1)}))
    wait_until(lambda: read(api, other)["available"], lambda: read(api, other))


def test_it_ends_by_itself_and_once(api, cook, dish):
    (modifier,) = dish["modifier_categories"][0]["modifiers"]
    accepted(cook.put(sold_out(dish), {"until": ahead(seconds=1.5)}))
    accepted(cook.put(f"/v1/menu/modifiers/{modifier['id']}/sold-out", {"until": ahead(seconds=1.5)}))
    wait_until(lambda: read(api, dish)["available"], lambda: read(api, dish))
    wait_until(lambda: read(api, dish)["modifier_categories"][0]["modifiers"][0]["sold_out"] is None, lambda: read(api, dish))
    let_another_end(api, dish["category_id"])
    assert [one["data"]["available"] for one in events(api, dish)] == [True, False, False, True, True]
    assert events(api, dish)[-1]["data"]["sold_out"] is None


def test_it_ends_when_the_box_was_off_at_that_moment():
    box = Box()
    try:
        box.bring_in("demo")
        box.start()
        with contextlib.closing(box.client(box.make_key()["key"])) as api:
            soon, late = [p for c in api.get("/v1/menu").data["categories"] for p in c["products"] if p["available"]][:2]
            until = time.time() + 2
            accepted(api.put(sold_out(soon), {"until": ahead(seconds=2)}))
            accepted(api.put(sold_out(late), {"until": ahead(hours=2)}))
        box.kill()
        wait_until(lambda: time.time() > until + 0.5, "the end comes while the box is off")
        box.start()
        with contextlib.closing(box.client(box.make_key()["key"])) as api:
            wait_until(lambda: read(api, soon)["available"], lambda: read(api, soon))
            assert read(api, late)["available"] is False
            assert len(events(api, soon)) == 2
        assert box.stop() == 0
        box.start()
        with contextlib.closing(box.client(box.make_key()["key"])) as api:
            let_another_end(api, soon["category_id"])
            assert len(events(api, soon)) == 2 and read(api, late)["sold_out"]
    finally:
        assert box.discard() == 0
