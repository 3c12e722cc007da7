"""The catalogue (specification, Menu; contract sections 9, 13 and 19, Menu)."""

import contextlib
import json

import pytest

from support.box import Box
from support.orders import (CARD_NUMBER, INSTANT, UUID, accepted, item, new_id, new_key, new_word, path, record_bytes,
                            refused)

CATEGORY = {"id", "name", "slug", "description", "image_url", "position", "visible", "products"}
PRODUCT = {
    "id", "category_id", "name", "slug", "description", "image_url", "images", "position", "visible", "available",
    "stock_enabled", "messages_for_customers", "kitchen_id", "currency", "variants", "modifier_categories",
    "created_at", "updated_at", "sold_out"}
VARIANT = {
    "id", "product_id", "name", "sku", "price", "original_price", "packaging_price", "stock", "stock_threshold",
    "position", "available", "currency", "cost"}
MODIFIER_CATEGORY = {
    "id", "name", "type", "required", "min_modifiers", "max_modifiers", "is_active", "position", "modifiers"}
MODIFIER = {"id", "name", "sku", "price", "original_price", "max_limit", "visible", "position", "sold_out"}


OTHER_ID = "0190a5c8-ffff-7000-8000-000000000001"  # nobody's


def sku():
    return "SKU-" + new_id()


def product_path(product, *parts):
    return "/".join(["/v1/menu/products", product["id"], *parts])


def variant_path(product, variant):
    return product_path(product, "variants", variant["id"])


def create(api, **fields):
    """A product of one price, unless variants are given."""
    if not fields.get("variants"):
        fields.setdefault("price", 10)
    sent = {"name": "Lomo " + new_word(), "category_name": "Pruebas", **fields}
    return accepted(api.post("/v1/menu/products", sent), 201)


def read(api, product):
    return accepted(api.get(product_path(product)))


def put(api, *products, headers=None):
    return api.put("/v1/menu/products", {"products": list(products)}, headers)


def results(answer):
    return [row["result"] for row in accepted(answer)["products"]]


def menu(api, query=""):
    return accepted(api.get("/v1/menu" + query))["categories"]


def listed(api, product, query=""):
    """The product as the whole catalogue shows it, or nothing."""
    found = [p for c in menu(api, query) for p in c["products"] if p["id"] == product["id"]]
    assert len(found) <= 1
    return found[0] if found else None


def last_event(box, company):
    ((seq,),) = box.rows("SELECT event_seq FROM company_counter JOIN company USING (company_id) WHERE id = ?",
                     company)
    return seq


def events_behind(box, company, seq):
    """[(type, subject_id, version, changes, body, note)] behind that one."""
    return box.rows("SELECT type, subject_id, subject_version, changes, body, note FROM event"
                " JOIN company USING (company_id) WHERE company.id = ? AND seq > ? ORDER BY seq", company, seq)


@contextlib.contextmanager
def event(box, company, *kinds):
    """Exactly these kinds of events are written inside; yields a list that then holds them."""
    seq, written = last_event(box, company), []
    yield written
    written += events_behind(box, company, seq)
    assert tuple(row[0] for row in written) == kinds


def silent(box, company):
    return event(box, company)


@pytest.fixture
def reader(box, demo):
    """A client that may read the menu and nothing else."""
    key = box.make_key("menu:read", company=demo["id"])["key"]
    with contextlib.closing(box.client(key)) as client:
        yield client


# Reading

def test_the_catalogue_shows_every_category_and_product_of_the_import(api, demo):
    answer = api.get("/v1/menu")
    shown = {c["name"]: c for c in accepted(answer)["categories"]}
    for sent in demo["categories"]:
        category = shown[sent["name"]]
        assert set(category) == CATEGORY
        names = [p["name"] for p in category["products"]]
        assert names[:len(sent["products"])] == [p["name"] for p in sent["products"]]
    total = len(shown)
    assert answer.json["pagination"] == {"current_page": 1, "per_page": total, "total": total, "has_more": False}


def test_a_record_has_every_field(api, demo, house):
    sent, _ = house.products_with_variants()
    product = read(api, sent)
    assert set(product) == PRODUCT
    assert UUID.fullmatch(product["category_id"]) and INSTANT.fullmatch(product["updated_at"])
    assert product["currency"] == demo["currency"] and product["available"] is True
    assert all(set(v) == VARIANT and v["product_id"] == product["id"] for v in product["variants"])
    assert [(v["name"], v["sku"], v["price"], v["cost"]) for v in product["variants"]] == [
        (v["name"], v["sku"], v["price"], v.get("cost")) for v in sent["variants"]]
    groups = product["modifier_categories"]
    assert all(set(g) == MODIFIER_CATEGORY for g in groups)
    assert all(set(m) == MODIFIER for g in groups for m in g["modifiers"])
    assert [[m["name"] for m in g["modifiers"]] for g in groups] == [
        [m["name"] for m in g["modifiers"]] for g in sent["modifier_categories"]]


def test_a_product_of_one_price_has_one_variant_named_default(api, house):
    sent, _ = house.simple_product()
    (variant,) = read(api, sent)["variants"]
    assert (variant["name"], variant["sku"], variant["price"]) == ("Default", sent["sku"], sent["price"])


def test_list_and_category_and_record_show_the_same(api, reader, house):
    for client in (api, reader):
        for sent in house.products_with_variants():
            product = read(client, sent)
            assert listed(client, sent) == product
            category = accepted(client.get("/v1/menu/categories/" + product["category_id"]))
            assert [p for p in category["products"] if p["id"] == product["id"]] == [product]
            assert record_bytes(client.get(product_path(product))) in client.get("/v1/menu").body


def test_costs_are_for_menu_write_alone(api, reader, house, box, demo):
    product = create(api, cost=3.5)
    assert product["variants"][0]["cost"] == 3.5
    assert listed(api, product)["variants"][0]["cost"] == 3.5
    for shown in (read(reader, product), listed(reader, product)):
        assert set(shown["variants"][0]) == VARIANT - {"cost"}
    assert b"cost" not in reader.get("/v1/menu").body
    for kind, body in box.rows("SELECT type, body FROM event WHERE subject_id = ?", product["id"]):
        assert "cost" not in body, kind


def test_pages_are_of_categories(api):
    whole = menu(api)
    answer = api.get("/v1/menu?page=2&per_page=2")
    assert accepted(answer)["categories"] == whole[2:4]
    assert answer.json["pagination"] == {
        "current_page": 2, "per_page": 2, "total": len(whole), "has_more": len(whole) > 4}
    behind = api.get("/v1/menu?page=1000")
    assert accepted(behind)["categories"] == [] and behind.json["pagination"]["has_more"] is False


def test_filters_choose_products(api):
    hidden = create(api, visible=False)
    shown = create(api)
    assert listed(api, hidden, "?filter[visible]=false") == hidden
    assert listed(api, shown, "?filter[visible]=false") is None
    assert listed(api, hidden, "?filter[visible]=true") is None
    assert listed(api, hidden, "?filter[available]=true") is None
    assert listed(api, shown, "?filter[available]=TRUE") == shown
    assert listed(api, shown, "?filter[updated_since]=" + shown["updated_at"]) == shown
    assert listed(api, hidden, "?filter[updated_since]=" + shown["updated_at"]) is None
    assert len(menu(api, "?filter[updated_since]=" + shown["updated_at"])) == len(menu(api))


@pytest.mark.parametrize("query, says", [
    ("?sort=name", "sort"), ("?visible=true", "filter[visible]"), ("?filter[visible]=yes", "filter[visible]"),
    ("?filter[updated_since]=today", "filter[updated_since]"), ("?page=0", "page"), ("?per_page=101", "per_page"),
    ("?limit=5", "per_page")])
def test_a_parameter_that_is_none_is_400(api, query, says):
    refused(api.get("/v1/menu" + query), 400, "invalid_parameter", says=says)


def test_unknown_and_malformed_ids(api):
    for kind in ("categories", "products"):
        refused(api.get(f"/v1/menu/{kind}/{new_id()}"), 404, "not_found")
        refused(api.get(f"/v1/menu/{kind}/ceviche"), 422, "validation_failed", {"id": "invalid_format"})
    product = create(api)
    refused(api.patch("/v1/menu/products/" + new_id(), {"name": "x"}), 404, "not_found")
    refused(api.post(f"/v1/menu/products/{new_id()}/variants", {"name": "x", "price": 1}), 404, "not_found")
    refused(api.patch(product_path(product, "variants", new_id()), {"price": 1}), 404, "not_found")
    refused(api.patch(product_path(product, "variants", "x"), {"price": 1}), 422, "validation_failed",
            {"variantId": "invalid_format"})
    other = create(api)
    refused(api.patch(variant_path(product, other["variants"][0]), {"price": 1}), 404, "not_found")


def test_a_tag_stands_for_the_catalogue_until_it_changes(api, reader):
    product = create(api)
    paths = ["/v1/menu", "/v1/menu/categories/" + product["category_id"], product_path(product)]
    tags = [api.get(p).etag for p in paths]
    assert all(tag.startswith('W/"') for tag in tags)
    for p, tag in zip(paths, tags):
        answer = api.send("GET", p, headers={"If-None-Match": tag})
        assert (answer.status, answer.body, answer.etag) == (304, b"", tag)
        assert reader.get(p).etag != tag  # it shows no costs
        assert api.get(p).headers["cache-control"] == "private, no-cache"
    accepted(api.patch(product_path(product), {"name": "Otro"}))
    for p, tag in zip(paths, tags):
        assert api.send("GET", p, headers={"If-None-Match": tag}).status == 200


def test_orders_leave_the_tag_alone(api, house):
    sent, _ = house.simple_product()
    tag = api.get("/v1/menu").etag
    api.add(api.place(), item(10, product_id=sent["id"]))
    assert api.get("/v1/menu").etag == tag


# Creating

def test_a_product_is_made_with_everything_below_it(api, box, demo, house):
    sent = {
        "name": "Ají de gallina", "category_name": "Criollos " + new_word(), "description": "Con arroz.",
        "image_url": "https://example.com/aji.jpg", "images": ["https://example.com/1.jpg"],
        "messages_for_customers": "Pica.", "kitchen_id": demo["stations"][0]["id"],
        "variants": [{"name": "Media", "sku": sku(), "price": 14.5, "original_price": 16, "packaging_price": 1},
                     {"name": "Entera", "sku": sku(), "price": 26, "cost": 9.25, "stock": 4.5, "stock_threshold": 1}],
        "modifier_categories": [
            {"name": "Arroz", "type": "one", "required": True, "modifiers": [{"name": "Blanco"}, {"name": "Verde"}]},
            {"name": "Extras", "max_modifiers": 2,
             "modifiers": [{"name": "Huevo", "price": 2, "sku": "H", "max_limit": 3}]}]}
    with event(box, demo["id"], "PRODUCT_CREATED") as events:
        answer = api.post("/v1/menu/products", sent)
    product = accepted(answer, 201)
    assert answer.headers["location"] == "/v1/menu/products/" + product["id"]
    assert record_bytes(answer) == record_bytes(api.get(product_path(product)))
    assert listed(api, product) == product
    assert product["slug"] == "aji-de-gallina" and product["visible"] and product["available"]
    assert product["stock_enabled"] is False
    for name in ("name", "description", "image_url", "images", "messages_for_customers", "kitchen_id"):
        assert product[name] == sent[name]
    for made, variant in zip(product["variants"], sent["variants"], strict=True):
        assert {**made, **variant} == made
    assert [v["position"] for v in product["variants"]] == [0, 1]
    rice, extras = product["modifier_categories"]
    assert (rice["type"], rice["required"], rice["min_modifiers"], rice["max_modifiers"]) == ("one", True, 1, 1)
    assert (extras["type"], extras["required"], extras["min_modifiers"], extras["max_modifiers"]) == (
        "many", False, 0, 2)
    assert [m["name"] for m in rice["modifiers"]] == ["Blanco", "Verde"]
    assert {**extras["modifiers"][0], **sent["modifier_categories"][1]["modifiers"][0]} == extras["modifiers"][0]
    (kind, subject, version, changes, body, note), = events
    assert (subject, version, changes, note) == (product["id"], 1, "", "")
    without_costs = {**product, "variants": [{n: v[n] for n in v if n != "cost"} for v in product["variants"]]}
    assert json.loads(body) == without_costs


def test_the_shorthand_makes_the_one_variant(api):
    code = sku()
    (variant,) = create(api, price=9.9, sku=code, cost=2, stock=3)["variants"]
    assert (variant["name"], variant["sku"], variant["price"], variant["cost"], variant["stock"]) == (
        "Default", code, 9.9, 2, 3)


def test_a_category_is_found_by_its_name_or_made(api, demo):
    name = "Bebidas Frías " + new_word()
    first = create(api, category_name=name)
    second = create(api, category_name=name.upper().replace("Í", "i"))
    assert second["category_id"] == first["category_id"]
    assert second["position"] == first["position"] + 1
    category = accepted(api.get("/v1/menu/categories/" + first["category_id"]))
    assert (category["name"], category["visible"]) == (name, True)
    assert menu(api)[-1]["id"] == first["category_id"]
    third = create(api, category_name=None, category_id=first["category_id"].upper())
    assert third["category_id"] == first["category_id"]


@pytest.mark.parametrize("fields, wrong", [
    ({"name": None}, {"name": "required"}),
    ({"name": ""}, {"name": "empty"}),
    ({"name": "x" * 201}, {"name": "too_long"}),
    ({"price": None}, {"price": "required"}),
    ({"price": "10"}, {"price": "wrong_type"}),
    ({"price": -1}, {"price": "must_not_be_negative"}),
    ({"price": 1.005}, {"price": "too_many_decimals"}),
    ({"price": 10_000_000_000}, {"price": "out_of_range"}),
    ({"category_name": None}, {"category_id": "required"}),
    ({"category_name": None, "category_id": new_id()}, {"category_id": "not_found"}),
    ({"kitchen_id": new_id()}, {"kitchen_id": "not_found"}),
    ({"kitchen_id": "bar"}, {"kitchen_id": "invalid_format"}),
    ({"id": new_id()}, {"id": "read_only"}),
    ({"available": False}, {"available": "read_only"}),
    ({"currency": "USD"}, {"currency": "read_only"}),
    ({"visible": "yes"}, {"visible": "wrong_type"}),
    ({"sku": "x" * 101}, {"sku": "too_long"}),
    ({"description": CARD_NUMBER}, {"description": "looks_like_card_number"}),
    ({"stock": 0.0001}, {"stock": "too_many_decimals"}),
    ({"variants": []}, {"price": "not_allowed", "variants": "empty"}),
    ({"variants": [{"name": "A", "price": 1}]}, {"price": "not_allowed"}),
    ({"price": None, "variants": [{"price": 1}, {"name": "B"}]},
     {"variants[0].name": "required", "variants[1].price": "required"}),
    ({"price": None, "variants": [{"name": "A", "sku": "TWICE", "price": 1}, {"name": "B", "sku": "TWICE", "price": 1}]},
     {"variants[1].sku": "duplicate"}),
    ({"price": None, "variants": [{"name": "A", "price": 1}, {"name": " a", "price": 1}]},
     {"variants[1].name": "duplicate"}),
    ({"price": None, "variants": [{"name": "A", "price": 1}] * 101}, {"variants": "too_many_items"}),
    ({"modifier_categories": [{"modifiers": []}]}, {"modifier_categories[0].name": "required"}),
    ({"modifier_categories": [{"name": "A", "type": "two"}]}, {"modifier_categories[0].type": "unknown_value"}),
    ({"modifier_categories": [{"name": "A", "min_modifiers": 3, "max_modifiers": 2}]},
     {"modifier_categories[0].max_modifiers": "out_of_range"}),
    ({"modifier_categories": [{"name": "A", "modifiers": [{"name": "B", "price": -1}]}]},
     {"modifier_categories[0].modifiers[0].price": "must_not_be_negative"}),
])
def test_a_wrong_product_is_refused_with_every_field(api, box, demo, fields, wrong):
    sent = {"name": "Wrong", "category_name": "Pruebas", "price": 1, **fields}
    with silent(box, demo["id"]):
        refused(api.post("/v1/menu/products", sent), 422, "validation_failed", wrong)


def test_category_id_and_name_must_agree(api):
    product = create(api)
    sent = {"name": "x", "price": 1, "category_id": product["category_id"], "category_name": "Otra"}
    refused(api.post("/v1/menu/products", sent), 422, "validation_failed", {"category_name": "not_allowed"})
    assert create(api, category_id=product["category_id"])["category_id"] == product["category_id"]


def test_a_sku_is_one_variants(api):
    code = sku()
    taken = create(api, sku=code)
    sent = {"name": "x", "category_name": "Pruebas", "price": 1, "sku": code}
    refused(api.post("/v1/menu/products", sent), 422, "validation_failed", {"sku": "sku_taken"},
            says=taken["variants"][0]["id"])
    product = create(api)
    refused(api.post(product_path(product, "variants"), {"name": "B", "price": 1, "sku": code}), 422,
            "validation_failed", {"sku": "sku_taken"})
    refused(api.patch(variant_path(product, product["variants"][0]), {"sku": code}), 422, "validation_failed",
            {"sku": "sku_taken"})
    refused(api.post("/v1/menu/products", {**sent, "sku": None, "price": None, "variants": [
        {"name": "A", "price": 1}, {"name": "B", "price": 1, "sku": code}]}), 422, "validation_failed",
        {"variants[1].sku": "sku_taken"})


def test_the_scope_is_asked_for(reader, api):
    product = create(api)
    refused(reader.post("/v1/menu/products", {}), 403, "insufficient_scope", says="menu:write")
    refused(put(reader), 403, "insufficient_scope", says="menu:write")
    refused(reader.patch(product_path(product), {}), 403, "insufficient_scope", says="menu:write")
    refused(reader.post(product_path(product, "variants"), {}), 403, "insufficient_scope", says="menu:write")
    refused(reader.patch(variant_path(product, product["variants"][0]), {}), 403, "insufficient_scope",
            says="menu:write")


def test_a_repeated_request_is_answered_as_at_first(api, box, demo):
    key = new_key()
    sent = {"name": "Una vez", "category_name": "Pruebas", "price": 1}
    with event(box, demo["id"], "PRODUCT_CREATED"):
        first = api.post("/v1/menu/products", sent, key)
        again = api.post("/v1/menu/products", sent, key)
    assert (again.status, again.body, again.headers["location"]) == (201, first.body, first.headers["location"])
    assert again.headers["idempotency-replayed"] == "true"
    refused(api.post("/v1/menu/products", {**sent, "price": 2}, key), 422, "idempotency_key_reused")


# Changing

def test_a_change_touches_what_was_sent_alone(api, box, demo):
    before = create(api, description="Antes", images=["https://example.com/1.jpg"], sku=sku(),
                    modifier_categories=[{"name": "A", "modifiers": [{"name": "B", "price": 1}]}])
    with event(box, demo["id"], "PRODUCT_UPDATED") as events:
        answer = api.patch(product_path(before), {
            "visible": False, "stock_enabled": True, "messages_for_customers": "Hoy no", "name": "Nuevo"})
    after = accepted(answer)
    assert after["updated_at"] > before["updated_at"]
    assert after == {
        **before, "visible": False, "available": False, "stock_enabled": True, "messages_for_customers": "Hoy no",
        "name": "Nuevo", "updated_at": after["updated_at"],
        "variants": [{**before["variants"][0], "available": False}]}
    assert record_bytes(answer) == record_bytes(api.get(product_path(before)))
    assert listed(api, before) == after
    ((kind, subject, version, changes, body, _),) = events
    assert (subject, version, changes) == (before["id"], 2, "fields")
    assert json.loads(body)["updated_at"] == after["updated_at"]


def test_what_changes_nothing_writes_nothing(api, box, demo):
    product = create(api, description="x", modifier_categories=[{"name": "A", "modifiers": [{"name": "B"}]}])
    tag = api.get("/v1/menu").etag
    with silent(box, demo["id"]):
        assert accepted(api.patch(product_path(product), {
            "name": product["name"], "description": "x", "visible": True, "category_name": "Pruebas",
            "modifier_categories": [{"name": "A", "modifiers": [{"name": "B"}]}]}))["updated_at"] == (
            product["updated_at"])
        assert accepted(api.patch(variant_path(product, product["variants"][0]), {"price": 10.00})) == (
            product["variants"][0])
    assert api.get("/v1/menu").etag == tag


def test_null_clears_what_can_be_empty(api, demo):
    product = create(api, description="x", image_url="https://example.com/a.jpg", images=["https://example.com/1.jpg"],
                     messages_for_customers="x", kitchen_id=demo["stations"][0]["id"], sku=sku(), original_price=12,
                     cost=1, stock=1, stock_threshold=1)
    cleared = accepted(api.patch(product_path(product), {
        "description": None, "image_url": None, "images": None, "messages_for_customers": None, "kitchen_id": None}))
    assert [cleared[n] for n in ("description", "image_url", "images", "messages_for_customers", "kitchen_id")] == [
        None, None, [], None, None]
    variant = accepted(api.patch(variant_path(product, product["variants"][0]), {
        "sku": None, "original_price": None, "cost": None, "stock": None, "stock_threshold": None}))
    assert [variant[n] for n in ("sku", "original_price", "cost", "stock", "stock_threshold")] == [None] * 5
    assert listed(api, product)["variants"] == [variant]


@pytest.mark.parametrize("body", [{}, {"variant_price": 1}, {"colour": "red"}])
def test_a_change_of_nothing_known_is_empty(api, body):
    product = create(api)
    refused(api.patch(product_path(product), body), 422, "validation_failed", {"body": "empty"})
    refused(api.patch(variant_path(product, product["variants"][0]), body), 422, "validation_failed",
            {"body": "empty"})


@pytest.mark.parametrize("field, value", [("variants", [{"price": 1}]), ("variants", [{"name": "Default", "price": 11}]), ("variants", []),
                                          ("price", 1), ("sku", "A"), ("stock", 1)])
def test_variants_are_changed_at_their_own_endpoints(api, field, value):
    product = create(api)
    refused(api.patch(product_path(product), {field: value}), 422, "validation_failed", {field: "not_allowed"},
            says="/v1/menu/products/{id}/variants")


def test_a_product_moves_to_another_category(api):
    product = create(api)
    moved = accepted(api.patch(product_path(product), {"category_name": "Otra " + new_word()}))
    assert moved["category_id"] != product["category_id"]
    assert [p["id"] for p in menu(api)[-1]["products"]] == [product["id"]]


def test_modifiers_match_by_id_then_name_and_none_is_deleted(api):
    product = create(api, modifier_categories=[
        {"name": "Salsas", "modifiers": [{"name": "Ají"}, {"name": "Mayonesa", "price": 1}]}, {"name": "Otros"}])
    sauces = product["modifier_categories"][0]
    accepted(put(api, {"id": product["id"], "modifier_categories": [
        {"id": sauces["id"], "name": "Cremas", "modifiers": [{"name": "AJI", "price": 0.5}, {"name": "Rocoto"}]}]}))
    changed = read(api, product)
    cremas, others = changed["modifier_categories"]
    assert (cremas["id"], cremas["name"], others["name"]) == (sauces["id"], "Cremas", "Otros")
    assert [(m["name"], m["price"], m["position"]) for m in cremas["modifiers"]] == [
        ("AJI", 0.5, 0), ("Mayonesa", 1, 1), ("Rocoto", 0, 2)]
    assert cremas["modifiers"][0]["id"] == sauces["modifiers"][0]["id"]
    refused(put(api, {"id": product["id"], "modifier_categories": [{"id": new_id()}]}), 422, "validation_failed",
            {"products[0].modifier_categories[0].name": "required"})
    other = create(api)
    refused(put(api, {"id": other["id"], "modifier_categories": [{"id": sauces["id"], "name": "X"}]}), 422,
            "validation_failed", {"products[0].modifier_categories[0].id": "not_allowed"})


@pytest.mark.parametrize("sent", [
    [], [{"name": "Salsas"}, {"name": "Más"}], [{"name": "Salsas", "required": True}], [{"id": OTHER_ID}],
    [{"name": "Salsas", "modifiers": [{"name": "Ají"}]}],
    [{"name": "Salsas", "modifiers": [{"name": "Ají", "price": 2}, {"name": "Mayonesa"}]}]])
def test_a_change_takes_modifiers_as_they_are_alone(api, sent):
    product = create(api, modifier_categories=[
        {"name": "Salsas", "modifiers": [{"name": "Ají", "price": 1}, {"name": "Mayonesa"}]}])
    refused(api.patch(product_path(product), {"modifier_categories": sent}), 422, "validation_failed",
            {"modifier_categories": "not_allowed"}, says="PUT /v1/menu/products")
    assert read(api, product) == product


# What GET gives, PUT and PATCH take

def rich(api, demo):
    """One product with all that a product can have."""
    return create(
        api, name="Arroz chaufa", description="Con pollo\ny cebolla", image_url="https://example.com/a.jpg",
        images=["https://example.com/1.jpg", "https://example.com/2.jpg"], stock_enabled=True, position=7,
        messages_for_customers="Hoy no", kitchen_id=demo["stations"][0]["id"], price=None,
        variants=[{"name": "Personal", "sku": sku(), "price": 20, "original_price": 25, "packaging_price": 1.5, "cost": 6,
                   "stock": 2.5, "stock_threshold": 1}, {"name": "Familiar", "price": 38}, {"name": "Nada", "price": 0, "stock": 0}],
        modifier_categories=[
            {"name": "Arroz", "type": "one", "required": True, "modifiers": [{"name": "Blanco"}]},
            {"name": "Vacía", "is_active": False},
            {"name": "Extras", "type": "many", "min_modifiers": 0, "max_modifiers": 5, "modifiers": [
                {"name": "Huevo", "sku": sku(), "price": 2, "original_price": 3, "max_limit": 2, "visible": False}]}])


def test_a_round_trip_of_every_product_changes_nothing(api, box, demo):
    made = rich(api, demo)
    products = [p for category in menu(api) for p in category["products"]]
    assert len(products) > 50 and made["id"] in [p["id"] for p in products]
    tag = api.get("/v1/menu").etag
    with silent(box, demo["id"]):
        for product in products:
            got = read(api, product)
            assert accepted(api.patch(product_path(got), got)) == got
            answer = accepted(put(api, got))
            assert (answer["unchanged"], answer["products"][0]["result"]) == (1, "unchanged")
            for variant in got["variants"]:
                assert accepted(api.patch(variant_path(got, variant), variant)) == variant
            assert read(api, product) == got
        answer = accepted(put(api, *products[:500]))
        assert answer["unchanged"] == len(products[:500])
    assert api.get("/v1/menu").etag == tag


def test_a_record_that_is_an_hour_old_is_taken_and_its_stock_sets_the_count(api, demo):
    old = rich(api, demo)
    sold = item(20, product_id=old["id"], sku=old["variants"][0]["sku"])
    api.add(api.place(), sold)
    now = accepted(api.patch(product_path(old), {"description": "Otra", "visible": False}))
    assert now["variants"][0]["stock"] != old["variants"][0]["stock"]
    assert (now["available"], now["updated_at"]) != (old["available"], old["updated_at"])
    assert accepted(api.patch(product_path(old), old)) == {**old, "updated_at": read(api, old)["updated_at"]}
    api.add(api.place(), sold)
    assert read(api, old)["variants"] != old["variants"]
    accepted(put(api, old))
    assert read(api, old)["variants"] == old["variants"]


@pytest.mark.parametrize("field, value", [("id", OTHER_ID), ("currency", "USD"), ("created_at", "2020-01-01T00:00:00Z"),
                                          ("id", 7), ("currency", 7), ("created_at", "soon")])
def test_another_id_currency_or_creation_is_read_only(api, field, value):
    product = create(api)
    refused(api.patch(product_path(product), {"name": "X", field: value}), 422, "validation_failed", {field: "read_only"})
    if field != "id":
        refused(put(api, {**product, field: value}), 422, "validation_failed", {f"products[0].{field}": "read_only"})
    assert read(api, product) == product


@pytest.mark.parametrize("field, value", [("id", OTHER_ID), ("product_id", OTHER_ID), ("currency", "USD")])
def test_a_variant_keeps_its_id_product_and_currency(api, field, value):
    product = create(api)
    (variant,) = product["variants"]
    refused(api.patch(variant_path(product, variant), {"price": 1, field: value}), 422, "validation_failed",
            {field: "read_only"})
    if field != "id":
        refused(put(api, {**product, "variants": [{**variant, field: value}]}), 422, "validation_failed",
                {f"products[0].variants[0].{field}": "read_only"})
    assert read(api, product) == product


def test_a_shorthand_of_a_product_with_variants_blames_what_was_sent(api, demo):
    product = rich(api, demo)
    for field in ["price", "stock", "cost", "packaging_price"]:
        refused(put(api, {"id": product["id"], field: 1}), 422, "validation_failed", {f"products[0].{field}": "not_allowed"})


def test_a_sku_that_two_rows_have_blames_the_one_that_has_it(api):
    product = create(api, variants=[{"name": "A", "sku": sku(), "price": 1}, {"name": "B", "sku": sku(), "price": 1}],
                     price=None)
    one, two = [{"variants": [{"name": v["name"], "sku": v["sku"], "price": 2}]} for v in product["variants"]]
    refused(put(api, one, two), 422, "validation_failed", {"products[1].variants[0].sku": "duplicate"})




# Variants

def test_a_variant_is_added_and_answered(api, box, demo):
    product = create(api)
    with event(box, demo["id"], "PRODUCT_UPDATED") as events:
        answer = api.post(product_path(product, "variants"), {"name": "Familiar", "price": 30, "sku": sku()})
    variant = accepted(answer, 201)
    assert set(variant) == VARIANT and (variant["name"], variant["price"], variant["position"]) == ("Familiar", 30, 1)
    after = read(api, product)
    assert after["variants"] == [product["variants"][0], variant]
    assert after["updated_at"] > product["updated_at"]
    assert events[0][1] == product["id"] and json.loads(events[0][4])["id"] == product["id"]


def test_a_variant_is_changed_and_answered(api, box, demo):
    product = create(api, sku=sku())
    (variant,) = product["variants"]
    with event(box, demo["id"], "PRODUCT_UPDATED"):
        changed = accepted(api.patch(variant_path(product, variant), {"price": 12.5, "cost": 4}))
    assert changed == {**variant, "price": 12.5, "cost": 4}
    assert read(api, product)["variants"] == [changed]


@pytest.mark.parametrize("sent, wrong", [
    ({"price": 1}, {"name": "required"}), ({"name": "A"}, {"price": "required"}),
    ({}, {"name": "required", "price": "required"}), ({"name": "default", "price": 1}, {"name": "duplicate"}),
    ({"name": "A", "price": 1, "id": new_id()}, {"id": "read_only"}),
    ({"name": "A", "price": 1, "available": True}, {"available": "read_only"})])
def test_a_wrong_variant_is_refused(api, sent, wrong):
    product = create(api)
    refused(api.post(product_path(product, "variants"), sent), 422, "validation_failed", wrong)


def test_a_product_has_at_most_a_hundred_variants(api):
    product = create(api, variants=[{"name": str(n), "price": 1} for n in range(100)])
    refused(api.post(product_path(product, "variants"), {"name": "one more", "price": 1}), 422, "validation_failed",
            {"variants": "too_many_items"})


# The bulk upsert

def test_rows_match_by_id_then_sku_and_else_are_made(api, box, demo):
    by_id, by_sku = create(api, sku=sku()), create(api, sku=sku())
    own_id, new_sku = new_id(), sku()
    with event(box, demo["id"], "PRODUCT_UPDATED") as events:
        answer = put(
            api, {"id": by_id["id"].upper(), "name": "Por id"}, {"sku": by_sku["variants"][0]["sku"], "price": 77},
            {"id": own_id, "name": "Mío", "category_name": "Pruebas", "price": 5},
            {"sku": new_sku, "name": "Nuevo", "category_name": "Pruebas", "price": 6})
    data = accepted(answer)
    assert [data[n] for n in ("created", "updated", "unchanged")] == [2, 2, 0]
    assert [(r["index"], r["id"], r["sku"], r["result"]) for r in data["products"]] == [
        (0, by_id["id"], by_id["variants"][0]["sku"], "updated"),
        (1, by_sku["id"], by_sku["variants"][0]["sku"], "updated"),
        (2, own_id, None, "created"), (3, data["products"][3]["id"], new_sku, "created")]
    assert read(api, by_id)["name"] == "Por id"
    assert read(api, by_sku)["variants"][0]["price"] == 77
    assert read(api, {"id": own_id})["name"] == "Mío"
    made = data["products"][3]["id"]
    ((kind, subject, version, changes, body, _),) = events
    assert (subject, version, changes) == ("", 0, "fields")
    assert json.loads(body) == {"created": [own_id, made], "updated": [by_id["id"], by_sku["id"]]}
    for product in (by_id, by_sku, {"id": own_id}, {"id": made}):
        assert listed(api, product) == read(api, product)


def test_a_call_that_makes_all_its_rows_says_so(api, box, demo):
    with event(box, demo["id"], "PRODUCT_CREATED"):
        assert results(put(api, {"sku": sku(), "name": "A", "category_name": "Pruebas", "price": 1})) == ["created"]


def test_the_same_body_again_changes_nothing(api, box, demo):
    sent = [{"sku": sku(), "name": f"Igual {n}", "category_name": "Iguales " + new_word(), "price": n,
             "modifier_categories": [{"name": "A", "type": "one", "modifiers": [{"name": "B", "price": 1}]}]}
            for n in range(3)]
    first = put(api, *sent)
    before = menu(api)
    tag = api.get("/v1/menu").etag
    with silent(box, demo["id"]):
        again = put(api, *sent)
    assert results(again) == ["unchanged"] * 3
    assert [r["id"] for r in again.data["products"]] == [r["id"] for r in accepted(first)["products"]]
    assert menu(api) == before and api.get("/v1/menu").etag == tag


def test_the_first_answer_is_replayed_to_the_byte(api):
    key, sent = new_key(), {"sku": sku(), "name": "A", "category_name": "Pruebas", "price": 1}
    first, again = put(api, sent, headers=key), put(api, sent, headers=key)
    assert results(first) == ["created"] and again.body == first.body
    assert again.headers["idempotency-replayed"] == "true"


def test_missing_fields_and_variants_stay(api):
    product = create(api, description="x", variants=[
        {"name": "Chica", "sku": sku(), "price": 1}, {"name": "Grande", "price": 2, "cost": 1}])
    small, large = product["variants"]
    answer = put(api, {"id": product["id"], "variants": [{"name": "GRANDE", "price": 3}], "description": None})
    assert results(answer) == ["updated"]
    after = read(api, product)
    assert after["description"] == "x"
    assert after["variants"] == [small, {**large, "name": "GRANDE", "price": 3}]


def test_variants_match_by_id_then_sku_then_name(api):
    product = create(api, variants=[{"name": n, "sku": sku(), "price": 1} for n in "ABC"])
    a, b, c = product["variants"]
    put(api, {"id": product["id"], "variants": [
        {"id": a["id"], "name": "B", "price": 2}, {"sku": b["sku"], "name": "Bé", "price": 3},
        {"name": "c", "price": 4}, {"name": "D", "price": 5}]})
    assert [(v["id"], v["name"], v["price"]) for v in read(api, product)["variants"]][:3] == [
        (a["id"], "B", 2), (b["id"], "Bé", 3), (c["id"], "c", 4)]
    assert read(api, product)["variants"][3]["name"] == "D"


def test_a_sku_row_of_a_product_with_variants_names_that_variant(api):
    product = create(api, variants=[{"name": n, "sku": sku(), "price": 1} for n in "AB"])
    a, b = product["variants"]
    assert results(put(api, {"sku": b["sku"], "price": 9})) == ["updated"]
    assert [v["price"] for v in read(api, product)["variants"]] == [1, 9]
    refused(put(api, {"id": product["id"], "price": 5}), 422, "validation_failed",
            {"products[0].price": "not_allowed"})


def test_two_variants_swap_their_skus(api):
    product = create(api, variants=[{"name": n, "sku": sku(), "price": 1} for n in "AB"])
    a, b = product["variants"]
    answer = put(api, {"id": product["id"], "variants": [
        {"id": a["id"], "sku": b["sku"]}, {"id": b["id"], "sku": a["sku"]}]})
    assert results(answer) == ["updated"]
    assert [v["sku"] for v in read(api, product)["variants"]] == [b["sku"], a["sku"]]


def test_every_bad_row_is_listed_and_none_is_written(api, box, demo):
    taken, hit = create(api, sku=sku()), create(api, sku=sku())
    fine = sku()
    with silent(box, demo["id"]):
        refused(put(
            api, {"sku": fine, "name": "Fine", "category_name": "Pruebas", "price": 1},
            {"name": "Neither", "price": 1}, {"sku": sku(), "price": "1"},
            {"sku": sku(), "name": "x", "category_name": "Pruebas"},
            {"sku": sku(), "price": 1},
            {"id": new_id(), "name": "x", "category_name": "Pruebas",
             "variants": [{"name": "A", "sku": taken["variants"][0]["sku"], "price": -1}]},
            {"id": hit["id"], "name": "x"}, {"sku": hit["variants"][0]["sku"], "name": "y"},
            {"id": hit["id"], "category_id": new_id()}, {"sku": fine, "price": 1},
            {"id": taken["id"], "variants": [{"name": "B"}]}, "row"),
            422, "validation_failed", {
                "products[1].id": "id_or_sku_required", "products[2].price": "wrong_type",
                "products[3].price": "required", "products[4].name": "required",
                "products[4].category_id": "required", "products[5].variants[0].price": "must_not_be_negative",
                "products[7].sku": "duplicate", "products[8].id": "duplicate", "products[9].sku": "duplicate",
                "products[10].variants[0].price": "required", "products[11]": "wrong_type"})
    assert box.rows("SELECT * FROM variant WHERE sku = ?", fine) == []


def test_a_row_below_another_product_is_refused(api):
    mine, other = create(api), create(api, sku=sku())
    refused(put(api, {"id": mine["id"], "variants": [{"id": other["variants"][0]["id"], "name": "B", "price": 3}]}), 422,
            "validation_failed", {"products[0].variants[0].id": "not_allowed"})
    refused(put(api, {"id": mine["id"], "sku": other["variants"][0]["sku"]}), 422, "validation_failed",
            {"products[0].sku": "sku_taken"})


@pytest.mark.parametrize("body, wrong", [
    ({}, {"products": "required"}), ({"products": []}, {"products": "empty"}),
    ({"products": {}}, {"products": "wrong_type"}),
    ({"products": [{"sku": "x"}] * 501}, {"products": "too_many_products"})])
def test_one_to_500_rows(api, body, wrong):
    refused(api.put("/v1/menu/products", body), 422, "validation_failed", wrong)


def test_500_products_in_one_call(api, box, demo):
    mark = new_id()
    sent = [{"sku": f"{mark}-{n}", "name": f"Plato {n}", "category_name": f"Grande {mark} {n % 10}",
             "variants": None, "price": 10 + n,
             "modifier_categories": [{"name": "Extra", "modifiers": [{"name": str(m)} for m in range(5)]}]}
            for n in range(500)]
    with event(box, demo["id"], "PRODUCT_CREATED"):
        data = accepted(put(api, *sent))
    assert (data["created"], len(data["products"])) == (500, 500)
    assert [r["index"] for r in data["products"]] == list(range(500))
    categories = [c for c in menu(api) if mark in c["name"]]
    assert [len(c["products"]) for c in categories] == [50] * 10
    assert [p["position"] for p in categories[0]["products"]] == list(range(50))
    with silent(box, demo["id"]):
        assert results(put(api, *sent)) == ["unchanged"] * 500
    with event(box, demo["id"], "PRODUCT_UPDATED"):
        for row in sent:
            row["price"] += 1
        assert results(put(api, *sent)) == ["updated"] * 500
    shown = {p["name"]: p for c in menu(api) if mark in c["name"] for p in c["products"]}
    assert [shown[row["name"]]["variants"][0]["price"] for row in sent] == [row["price"] for row in sent]


def test_a_body_of_more_than_a_mebibyte_is_taken(api):
    sent = [{"sku": sku(), "name": "Largo", "category_name": "Pruebas", "price": 1, "description": "á" * 2000}
            for _ in range(300)]
    assert len(json.dumps(sent, ensure_ascii=False).encode()) > 1024 * 1024
    assert results(put(api, *sent)) == ["created"] * 300
    # The other endpoints of the menu take no more than others do.
    refused(api.post("/v1/menu/products", {"name": "x" * 1_100_000}), 413, "payload_too_large")
    refused(api.put("/v1/menu/products", b" " * (8 * 1024 * 1024 + 1)), 413, "payload_too_large")


def test_an_id_of_another_company_is_an_insert_here(api, other):
    product = create(api)
    sent = {"id": product["id"], "name": "Ajeno", "category_name": "Propia", "price": 3000, "sku": sku()}
    assert results(put(other, sent)) == ["created"]
    assert read(other, product)["name"] == "Ajeno"
    assert read(api, product) == product
    assert listed(api, product) == product


# Isolation

def test_another_companys_products_do_not_exist(api, other, other_company, box):
    code = sku()
    product = create(api, sku=code)
    (variant,) = product["variants"]
    with silent(box, other_company["id"]):
        refused(other.get(product_path(product)), 404, "not_found")
        refused(other.get("/v1/menu/categories/" + product["category_id"]), 404, "not_found")
        refused(other.patch(product_path(product), {"name": "x"}), 404, "not_found")
        refused(other.post(product_path(product, "variants"), {"name": "x", "price": 1}), 404, "not_found")
        refused(other.patch(variant_path(product, variant), {"price": 1}), 404, "not_found")
        refused(put(other, {"id": new_id(), "name": "x", "category_id": product["category_id"], "price": 1}), 422,
                "validation_failed", {"products[0].category_id": "not_found"})
    assert product["id"] not in other.get("/v1/menu").body.decode()
    assert create(other, sku=code, price=100)["currency"] == "CLP"
    assert read(api, product) == product


def test_prices_have_the_currencys_decimals(other, kuwait):
    assert create(kuwait, price=4.125)["variants"][0]["price"] == 4.125
    refused(other.post("/v1/menu/products", {"name": "x", "category_name": "Pruebas", "price": 1.5}), 422,
            "validation_failed", {"price": "too_many_decimals"})


# Stock

@pytest.fixture
def counted(api):
    """A product of which five are left."""
    return create(api, sku=sku(), stock_enabled=True, stock=5)


def sell(api, product, quantity, order=None):
    """An order with the line; its combo."""
    order = api.add(order or api.place(), item(10, quantity, product_id=product["id"]))
    return order, order["combos"][-1]


def stock(api, product):
    return read(api, product)["variants"][0]["stock"]


def warnings(box, order):
    return [json.loads(note)["stock_warning"] for (note,) in box.rows(
        "SELECT note FROM event WHERE subject_id = ? AND note <> '' ORDER BY seq", order["id"])]


def test_stock_falls_and_returns_without_a_change(api, box, counted):
    tag = api.get("/v1/menu").etag
    order, combo = sell(api, counted, 1.5)
    sell(api, counted, 1, order)
    assert stock(api, counted) == 2.5 and listed(api, counted)["variants"][0]["stock"] == 2.5
    accepted(api.delete(path(order, "combos", combo["id"])))
    assert stock(api, counted) == 4
    accepted(api.delete(path(order, "combos", combo["id"])))
    assert stock(api, counted) == 4  # given back once
    accepted(api.post(path(order, "cancel"), {"reason": "test"}))
    assert stock(api, counted) == 5
    accepted(api.post(path(order, "cancel"), {"reason": "test"}))
    assert stock(api, counted) == 5
    assert read(api, counted)["updated_at"] == counted["updated_at"]
    assert api.get("/v1/menu").etag == tag
    assert [kind for kind, _ in box.events(counted["id"])] == ["PRODUCT_CREATED"]
    assert warnings(box, order) == []


def test_a_shortage_refuses_nothing_and_is_warned_of(api, box, counted):
    order, combo = sell(api, counted, 7)
    (variant,) = counted["variants"]
    assert warnings(box, order) == [[{
        "combo_id": combo["id"], "product_id": counted["id"], "variant_id": variant["id"], "quantity": 7,
        "missing": 2}]]
    assert stock(api, counted) == 0
    accepted(api.delete(path(order, "combos", combo["id"])))
    assert stock(api, counted) == 5  # what it took, not what was wanted


def test_running_out_is_a_change_and_so_is_the_return(api, box, demo, counted):
    tag = api.get("/v1/menu").etag
    order = api.place()
    with event(box, demo["id"], "PRODUCT_UPDATED", "ORDER_UPDATED") as events:
        order, combo = sell(api, counted, 5, order)
    sold_out = read(api, counted)
    assert (sold_out["available"], sold_out["variants"][0]["available"]) == (False, False)
    assert sold_out["updated_at"] > counted["updated_at"] and sold_out["updated_at"] == order["updated_at"]
    assert listed(api, counted) == sold_out and listed(api, counted, "?filter[available]=true") is None
    assert api.get("/v1/menu").etag != tag
    body = json.loads(events[0][4])
    assert (events[0][1], body["available"], body["variants"][0]["stock"]) == (counted["id"], False, 0)
    assert warnings(box, order) == []
    with event(box, demo["id"], "PRODUCT_UPDATED", "ORDER_UPDATED"):
        accepted(api.post(path(order, "cancel"), {"reason": "test"}))
    assert read(api, counted)["available"] is True and stock(api, counted) == 5


def test_two_lines_of_one_call_share_the_stock(api, box, counted):
    order = api.add(api.place(), item(10, 3, product_id=counted["id"]), item(10, 3, sku=counted["variants"][0]["sku"]))
    assert stock(api, counted) == 0
    assert [w["missing"] for w in warnings(box, order)[0]] == [1]
    assert len([kind for kind, _ in box.events(counted["id"]) if kind == "PRODUCT_UPDATED"]) == 1
    accepted(api.delete(path(order, "combos", order["combos"][1]["id"])))
    assert stock(api, counted) == 2


def test_a_refused_call_takes_nothing(api, counted):
    order = api.place()
    refused(api.post(path(order, "combos"), {"combos": [
        item(9_000_000_000, 1, product_id=counted["id"]), item(9_000_000_000, 1)]}), 422, "validation_failed")
    assert stock(api, counted) == 5


@pytest.mark.parametrize("fields", [{"stock_enabled": False, "stock": 5}, {"stock_enabled": True, "stock": None}])
def test_what_is_not_counted_does_not_fall(api, box, fields):
    product = create(api, **fields)
    order, _ = sell(api, product, 9)
    assert stock(api, product) == fields["stock"] and read(api, product)["available"]
    assert warnings(box, order) == []


def test_counting_by_hand_is_no_change_until_it_runs_out(api, box, demo, counted):
    target = variant_path(counted, counted["variants"][0])
    with silent(box, demo["id"]):
        assert accepted(api.patch(target, {"stock": 9}))["stock"] == 9
        assert results(put(api, {"sku": counted["variants"][0]["sku"], "stock": 8})) == ["updated"]
        assert results(put(api, {"sku": counted["variants"][0]["sku"], "stock": 8})) == ["unchanged"]
    assert read(api, counted)["updated_at"] == counted["updated_at"] and listed(api, counted)["variants"][0]["stock"] == 8
    with event(box, demo["id"], "PRODUCT_UPDATED"):
        assert accepted(api.patch(target, {"stock": 0}))["available"] is False
    with event(box, demo["id"], "PRODUCT_UPDATED"):
        put(api, {"id": counted["id"], "stock": 1})
    assert listed(api, counted) == read(api, counted) and read(api, counted)["available"]
    with event(box, demo["id"], "PRODUCT_UPDATED"):
        assert accepted(api.patch(target, {"stock": None}))["stock"] is None
    assert listed(api, counted) == read(api, counted)


def test_one_variant_in_stock_keeps_the_product_available(api, box, demo):
    product = create(api, stock_enabled=True, variants=[
        {"name": "A", "price": 1, "stock": 1}, {"name": "B", "price": 1, "stock": 1}])
    a, b = product["variants"]
    with event(box, demo["id"], "ORDER_CREATED", "PRODUCT_UPDATED", "ORDER_UPDATED"):
        api.add(api.place(), item(1, variant_id=a["id"]))
    after = read(api, product)
    assert (after["available"], [v["available"] for v in after["variants"]]) == (True, [False, True])


# Imports

def test_an_import_shows_at_once_and_leaves_the_stock(demo):
    box = Box()
    try:
        box.bring_in("demo")
        box.start()
        with contextlib.closing(box.client(box.make_key()["key"])) as api:
            tag = api.get("/v1/menu").etag
            product = api.get("/v1/menu").data["categories"][0]["products"][0]
            accepted(api.patch(product_path(product), {"stock_enabled": True}))
            accepted(api.patch(variant_path(product, product["variants"][0]), {"stock": 7}))
            changed = json.loads(json.dumps(demo))
            first, second = changed["categories"][0]["products"][:2]
            first.update(description="Otra cosa", stock_enabled=True)
            (moved,) = [v for v in first["variants"] if v["sku"] == "CEV-CLA-F"]
            first["variants"].remove(moved)
            second["variants"].append(moved)
            file = box.data / "changed.json"
            file.write_text(json.dumps({"companies": [changed]}))
            box.bring_in(file)
            after = read(api, product)
            assert (after["description"], after["variants"][0]["stock"]) == ("Otra cosa", 7)
            assert listed(api, product) == after
            assert moved["sku"] not in [v["sku"] for v in after["variants"]]
            assert moved["sku"] in [v["sku"] for v in listed(api, second)["variants"]]
            assert listed(api, second) == read(api, second)
            assert api.send("GET", "/v1/menu", headers={"If-None-Match": tag}).status == 200
            ((stale,),) = box.rows("SELECT count(*) FROM product p LEFT JOIN product_record r ON"
                               " r.product_id = p.id AND r.version = p.version WHERE r.product_id IS NULL")
            assert stale == 0
    finally:
        box.discard()


def test_an_import_of_counts_alone_changes_no_tag(demo):
    box = Box()
    try:
        file = box.data / "counted.json"
        restaurant = json.loads(json.dumps(demo))
        product = restaurant["categories"][0]["products"][0]

        def bring(stock):
            product.update(stock_enabled=True)
            product["variants"][0]["stock"] = stock
            file.write_text(json.dumps({"companies": [restaurant]}))
            return [line.split()[1:5:2] for line in box.bring_in(file).stdout.splitlines()
                    if line.startswith("  variants")]

        bring(5)
        box.start()
        with contextlib.closing(box.client(box.make_key()["key"])) as api:
            before, tag = read(api, product), api.get("/v1/menu").etag
            assert listed(api, product)["variants"][0]["stock"] == 5
            assert bring(9) == [["0", "1"]]  # new, changed
            assert api.get("/v1/menu").etag == tag
            after = read(api, product)
            assert after["variants"][0]["stock"] == listed(api, product)["variants"][0]["stock"] == 9
            assert after["updated_at"] == before["updated_at"]
            bring(0)
            assert api.get("/v1/menu").etag != tag
            assert read(api, product)["variants"][0]["available"] is False
            assert read(api, product)["updated_at"] > before["updated_at"]
    finally:
        box.discard()


# The feed

def test_a_bulk_upsert_is_one_event_of_no_single_product(reader, api):
    cursor = api.get("/v1/orders").headers["x-event-cursor"]
    made = [r["id"] for r in accepted(put(api, *[
        {"sku": sku(), "name": "A", "category_name": "Pruebas", "price": 1} for _ in range(3)]))["products"]]
    (told,) = accepted(reader.get("/v1/events?after=" + cursor))
    assert told["event_type"] == "PRODUCT_CREATED"
    assert told["subject"] == {"type": "product", "id": None, "version": 0}
    assert told["data"] == {"created": made, "updated": []}


def test_a_category_is_read_in_parts(api):
    category = max(api.get("/v1/menu").data["categories"], key=lambda one: len(one["products"]))
    whole = api.get(f"/v1/menu/categories/{category['id']}").json
    assert set(whole) == {"data"} and len(whole["data"]["products"]) > 4
    count = len(whole["data"]["products"])
    found = []
    for page in range(1, count // 2 + 2):
        part = api.get(f"/v1/menu/categories/{category['id']}?per_page=2&page={page}").json
        found += part["data"].pop("products")
        assert part["data"] == {name: value for name, value in whole["data"].items() if name != "products"}
        assert part["pagination"] == {"current_page": page, "per_page": 2, "total": count, "has_more": page * 2 < count}
    assert found == whole["data"]["products"]
    answer = api.get(f"/v1/menu/categories/{category['id']}?limit=2")
    assert (answer.status, answer.code) == (400, "invalid_parameter")


def test_a_category_of_more_than_an_answer_holds_is_read_in_parts(box, tmp_path):
    """17 MiB of descriptions."""
    company = new_id()
    products = [{"sku": f"P{n}", "name": f"P{n}", "category_name": "All", "price": 1, "description": "x" * 2000,
                 "images": ["https://x.example/" + "z" * 1900] * 22} for n in range(400)]
    file = tmp_path / "large.json"
    file.write_text(json.dumps({"companies": [{
        "id": company, "name": "Large", "country_code": "PE", "timezone": "America/Lima", "currency": "PEN"}]}))
    box.command("import", str(file), "--data", str(box.data))
    with contextlib.closing(box.client(box.make_key(company=company)["key"])) as api:
        for begin in range(0, len(products), 100):
            accepted(put(api, *products[begin:begin + 100]))
        first = accepted(put(api, products[0]))["products"][0]
        one = f"/v1/menu/categories/{accepted(api.get(product_path(first)))['category_id']}"
        refused(api.get("/v1/menu"), 400, "invalid_parameter", {"per_page": "out_of_range"}, says="by its id")
        refused(api.get(one), 400, "invalid_parameter", {"per_page": "out_of_range"}, says="per_page=100")
        found = []
        for page in range(1, 5):
            found += accepted(api.get(f"{one}?per_page=100&page={page}"))["products"]
        assert [product["name"] for product in found] == [product["name"] for product in products]
