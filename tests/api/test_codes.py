"""Codes (skus): what stands around them is cut, their case is kept and ignored in comparing (contract section 9); groups of one
name, empty texts, groups that nobody can satisfy."""

import contextlib
import json

import pytest

from support.box import Box
from support.orders import accepted, item, new_key, new_word, path, refused
from support.past import unpack

PRODUCTS = "/v1/menu/products"


def dish(sku, **fields):
    return {"name": "Dish " + new_word(), "category_name": "Codes", "sku": sku, "price": 10, **fields}


def upsert(api, *rows):
    return api.put(PRODUCTS, {"products": list(rows)})


def put(api, *rows):
    answer = upsert(api, *rows)
    assert answer.status == 200, answer.body
    return [api.get(f"{PRODUCTS}/{row['id']}").data for row in answer.data["products"]]


@pytest.fixture
def code():
    return "K-" + new_word().upper()


AROUND = ["{} ", " {}", "{}\n", "\t{}\r\n", "\u00a0{}\u2003", "\ufeff{}", "\x02{}\x03", "{}\x7f"]


@pytest.mark.parametrize("around", AROUND)
def test_what_stands_around_a_code_is_cut(api, code, around):
    (product,) = put(api, dish(around.format(code), stock_enabled=True, stock=5))
    (variant,) = product["variants"]
    assert variant["sku"] == code
    assert upsert(api, {"sku": around.format(code), "price": 11}).data["products"][0]["id"] == product["id"]
    refused(api.post(PRODUCTS, dish(around.format(code))), 422, "validation_failed", {"sku": "sku_taken"})
    order = api.add(api.place(), {"sku": around.format(code), "quantity": 2, "variant_price": 10})
    (combo,) = order["combos"]
    assert (combo["product_id"], combo["variant_id"], combo["sku"]) == (product["id"], variant["id"], code)
    assert api.get(f"{PRODUCTS}/{product['id']}").data["variants"][0]["stock"] == 3
    free = api.add(api.place(), item(10, sku=around.format("NO-" + code)))["combos"][0]
    assert (free["product_id"], free["sku"]) == (None, "NO-" + code)
    within = api.patch(f"{PRODUCTS}/{product['id']}/variants/{variant['id']}", {"sku": code + "\x01" + code})
    refused(within, 422, "validation_failed", {"sku": "invalid_format"})


def test_the_case_of_a_code_is_kept_and_does_not_matter(api, code):
    (product,) = put(api, dish(code))
    lower = code.lower()
    order = api.add(api.place(), {"sku": lower, "quantity": 1, "variant_price": 10})
    assert order["combos"][0]["variant_id"] == product["variants"][0]["id"] and order["combos"][0]["sku"] == code
    refused(api.post(PRODUCTS, dish(lower)), 422, "validation_failed", {"sku": "sku_taken"}, says=code)
    answer = upsert(api, dish(lower, name=product["name"]))
    assert (answer.data["updated"], answer.data["products"][0]["id"]) == (1, product["id"])
    assert api.get(f"{PRODUCTS}/{product['id']}").data["variants"][0]["sku"] == lower
    refused(upsert(api, dish("Z" + code), dish("z" + lower)), 422, "validation_failed", {"products[1].sku": "duplicate"})
    twins = {"name": "Twins", "category_name": "Codes", "variants": [
        {"name": "A", "sku": "Y" + code, "price": 1}, {"name": "B", "sku": "y" + lower + " ", "price": 1}]}
    refused(api.post(PRODUCTS, twins), 422, "validation_failed", {"variants[1].sku": "duplicate"})


def test_variants_may_exchange_their_codes_in_another_case(api, code):
    (product,) = put(api, {"name": "Sizes", "category_name": "Codes", "variants": [
        {"name": "S", "sku": code + "S", "price": 1}, {"name": "L", "sku": code + "L", "price": 2}]})
    small, large = product["variants"]
    (after,) = put(api, {"id": product["id"], "variants": [
        {"id": small["id"], "sku": large["sku"].lower()}, {"id": large["id"], "sku": small["sku"].lower()}]})
    assert [v["sku"] for v in after["variants"]] == [(code + "L").lower(), (code + "S").lower()]


def extras(*skus):
    return [{"name": "Extras", "modifiers": [{"name": f"Extra {n}", "sku": sku} for n, sku in enumerate(skus)]}]


def test_modifiers_spell_a_code_alike(api, code):
    (first, second) = put(api, dish(code + "1", modifier_categories=extras(code)),
                          dish(code + "2", modifier_categories=extras(f" {code}\n")))
    assert second["modifier_categories"][0]["modifiers"][0]["sku"] == code
    other = extras(code.lower())
    refused(upsert(api, dish(code + "3", modifier_categories=other)), 422, "validation_failed",
            {"products[0].modifier_categories[0].modifiers[0].sku": "sku_taken"}, says=code)
    both = extras("Q" + code, "q" + code)
    refused(upsert(api, dish(code + "3", modifier_categories=both)), 422, "validation_failed",
            {"products[0].modifier_categories[0].modifiers[1].sku": "duplicate"})


def test_codes_of_an_import_are_cut_too(box, code, tmp_path):
    def bring_in(sku):
        company = {"name": "Codes of a file " + code, "country_code": "PE", "timezone": "America/Lima", "currency": "PEN",
                   "categories": [{"name": "All", "products": [{"name": "Dish", "sku": sku, "price": 1}]}]}
        file = tmp_path / "codes.json"
        file.write_text(json.dumps({"companies": [company]}))
        box.command("import", str(file), "--data", str(box.data), "--new-company")

    for sku in (f"\u00a0{code}\n", code):
        bring_in(sku)
    assert box.rows("SELECT sku, sku_folded FROM variant WHERE sku = ?", code) == [(code, code.lower())]


# What an upgrade does with the codes of before.

BEFORE = 18  # the last version of the database whose codes were stored as they were sent


@pytest.mark.box_only
def test_the_upgrade_cuts_codes_logs_twins_and_leaves_them():
    box = Box(options=["--sandbox-listen", ""])
    unpack(BEFORE, box.data)
    rows = box.rows("SELECT id, product_id FROM variant WHERE sku IS NOT NULL ORDER BY id LIMIT 4")
    codes = ["\u00a0Alone\n", "Twin-1", "twin-1", " TWIN-1"]
    for (variant, _), sku in zip(rows, codes, strict=True):
        box.execute("UPDATE variant SET sku = ? WHERE id = ?", sku, variant)
    tags = dict(box.rows("SELECT id, version FROM product"))
    box.start()
    box.wait_for_log("skus that differ only in case")
    assert '"Twin-1' in box.log_text() or "Twin-1" in box.log_text()
    stored = dict(box.rows("SELECT id, sku FROM variant"))
    assert [stored[variant] for variant, _ in rows] == ["Alone", *codes[1:]]
    assert box.value("SELECT version FROM product WHERE id = ?", rows[0][1]) == tags[rows[0][1]] + 1
    with contextlib.closing(box.client(box.make_key()["key"])) as api:
        for sku, (variant, _) in zip(["ALONE", "Twin-1", "twin-1"], rows, strict=False):
            order = api.add(api.place(), {"sku": sku, "quantity": 1, "variant_price": 1})
            assert order["combos"][0]["variant_id"] == variant
        order = api.add(api.place(), {"sku": "tWiN-1", "quantity": 1, "variant_price": 1})
        assert order["combos"][0]["variant_id"] in [variant for variant, _ in rows[1:]]
        products = [api.get(f"{PRODUCTS}/{product}").data for product in dict.fromkeys(product for _, product in rows)]
        assert upsert(api, *products).data["unchanged"] == len(products), "what GET gives, PUT takes"
        for product in products:
            assert api.patch(f"{PRODUCTS}/{product['id']}", product).status == 200
        refused(api.post(PRODUCTS, dish("TWIN-1")), 422, "validation_failed", {"sku": "sku_taken"})
    assert box.discard() == 0


# Groups of one name, and groups that nobody can satisfy.


def group(*names, **fields):
    return {"name": "Drink", "modifiers": [{"name": name} for name in names], **fields}


def test_groups_of_one_name_match_by_their_order(api, code):
    row = dish(code, modifier_categories=[group("Water", "Water", "Juice"), group("Tea", min_modifiers=1)])
    (product,) = put(api, row)
    first, second = product["modifier_categories"]
    assert ([m["name"] for m in first["modifiers"]], second["min_modifiers"]) == (["Water", "Water", "Juice"], 1)
    assert upsert(api, row).data["unchanged"] == 1
    row["modifier_categories"][1]["modifiers"][0]["price"] = 2
    (after,) = put(api, row)
    assert after["modifier_categories"][0] == first
    assert after["modifier_categories"][1]["id"] == second["id"]
    assert after["modifier_categories"][1]["modifiers"][0]["price"] == 2
    # One that is named by its id is not taken for the first of its name.
    (after,) = put(api, {"id": product["id"], "modifier_categories": [group(is_active=False), {
        "id": first["id"], "position": 7}]})
    by_id = {one["id"]: one for one in after["modifier_categories"]}
    assert (by_id[first["id"]]["position"], by_id[second["id"]]["is_active"], len(by_id)) == (7, False, 2)


@pytest.mark.parametrize("fields, blamed", [
    ({"min_modifiers": 2}, "min_modifiers"), ({"required": True, "modifiers": []}, "required"),
    ({"min_modifiers": 1, "modifiers": [{"name": "Tea", "visible": False}]}, "min_modifiers"),
    ({"min_modifiers": 4, "modifiers": [{"name": "Tea", "max_limit": 3}]}, "min_modifiers")])
def test_a_group_that_nobody_can_satisfy(api, code, fields, blamed):
    refused(upsert(api, dish(code, modifier_categories=[group("Tea", **fields)])), 422, "validation_failed",
            {f"products[0].modifier_categories[0].{blamed}": "out_of_range"}, says="max_limit")
    put(api, dish(code, modifier_categories=[group("Tea", is_active=False, **fields)]))


def test_a_group_whose_modifiers_may_be_chosen_several_times(api, code):
    put(api, dish(code, modifier_categories=[group(min_modifiers=3, modifiers=[{"name": "Tea", "max_limit": 3}])]))


# Empty texts.


def test_an_empty_text_is_null_where_null_is_possible(api, code):
    (product,) = put(api, dish(code, description="x", image_url="", messages_for_customers="x", kitchen_id=""))
    assert (product["image_url"], product["kitchen_id"]) == (None, None)
    one = f"{PRODUCTS}/{product['id']}"
    cleared = api.patch(one, {"description": "", "messages_for_customers": " "}).data
    assert (cleared["description"], cleared["messages_for_customers"]) == (None, None)
    variant = f"{one}/variants/{product['variants'][0]['id']}"
    assert api.patch(variant, {"sku": " \n"}).status == 200
    assert api.get(one).data["variants"][0]["sku"] is None
    for body in ({"name": ""}, {"category_name": " "}):
        refused(api.patch(one, body), 422, "validation_failed", {next(iter(body)): "empty"})
    refused(api.patch(one, {"category_id": ""}), 422, "validation_failed", {"category_id": "invalid_format"})
    refused(upsert(api, {"id": product["id"], "name": ""}), 422, "validation_failed", {"products[0].name": "empty"})


def test_empty_texts_of_an_order(api):
    order = accepted(api.post("/v1/orders", {"service_type": "ONSITE", "client_id": "", "table_id": "", "address_id": "",
                                             "comment": "", "order_title": "", "scheduled_delivery_date": ""}, new_key()), 201)
    assert [order[name] for name in ("client_id", "table_id", "comment", "order_title", "scheduled_delivery_date")] == [None] * 5
    titled = accepted(api.patch(path(order), {"order_title": "Rosa"}))
    assert accepted(api.patch(path(titled), {"order_title": ""}))["order_title"] is None
    order = api.add(order, item(10, product_id="", variant_id="", sku="", variant_name="", comment=" "))
    assert [order["combos"][0][name] for name in ("product_id", "sku", "variant_name", "comment")] == [None] * 4
    refused(api.post(path(order, "combos"), {"combos": [item(10, name="")]}), 422, "validation_failed",
            {"combos[0].product_name": "empty"})
    refused(api.post(path(order, "cancel"), {"reason": " "}), 422, "validation_failed", {"reason": "empty"})
