"""POST and DELETE …/combos (specification, Order item; contract section 7, Combos)."""

import pytest

from support.orders import CARD_NUMBER, accepted, exact, invalid, item, new_id, path, read, refused, unchanged


def add(api, order, *items):
    return api.post(path(order, "combos"), {"combos": list(items)})


def combo_of(api, sent):
    """The line that an item became, in an order of its own."""
    (combo,) = api.add(api.place(), sent)["combos"]
    return combo


def wrong(api, code, path_in_item, sent, says=()):
    order = api.place()
    refused(add(api, order, sent), 422, "validation_failed", {"combos[0]." + path_in_item: code}, says)
    assert read(api, order) == order


# Prices

def test_unit_prices_go_in_and_line_totals_come_out(api):
    combo = combo_of(api, item(10, 3, variant_original_price=12, modifiers=[
        {"name": "Egg", "quantity": 2, "price": 1.5, "original_price": 2}, {"name": "Salt", "price": 0}]))
    assert (combo["quantity"], combo["variant_price"], combo["variant_original_price"]) == (3, 30, 36)
    egg, salt = combo["modifiers"]
    assert (egg["quantity"], egg["price"], egg["original_price"]) == (6, 9, 12)
    assert (salt["quantity"], salt["price"], salt["original_price"]) == (3, 0, 0)
    assert (combo["modifiers_price"], combo["combo_price"], combo["combo_original_price"]) == (9, 39, 48)


def test_a_list_price_is_the_price_charged_where_none_is_sent(api):
    combo = combo_of(api, item(10, 2, modifiers=[{"name": "Egg", "price": 1}]))
    assert combo["variant_original_price"] == 20
    assert combo["modifiers"][0]["original_price"] == 2
    assert combo["combo_original_price"] == combo["combo_price"] == 22


def test_a_list_price_below_the_price_is_a_surcharge(api):
    combo = combo_of(api, item(10, 1, variant_original_price=8, modifiers=[
        {"name": "Egg", "price": 2, "original_price": 1}]))
    assert (combo["combo_price"], combo["combo_original_price"]) == (12, 9)


@pytest.mark.parametrize("price, quantity, total", [
    (0.01, 0.5, 0.01), (0.01, 0.499, 0), (10, 0.333, 3.33), (9.99, 1.5, 14.99), (19.9, 0.125, 2.49),
    (0.03, 0.5, 0.02), (33.33, 9999, 333266.67)])
def test_a_product_of_price_and_quantity_is_rounded_half_away_from_zero_once(api, price, quantity, total):
    assert combo_of(api, item(price, quantity))["combo_price"] == total


def test_each_modifier_is_rounded_once_for_all_its_units(api):
    combo = combo_of(api, item(0, 0.5, modifiers=[{"name": "Egg", "quantity": 3, "price": 0.01}] * 2))
    assert [m["price"] for m in combo["modifiers"]] == [0.02, 0.02]  # 0.015 each
    assert combo["modifiers_price"] == 0.04
    assert [m["quantity"] for m in combo["modifiers"]] == [1.5, 1.5]


def test_food_is_sold_by_weight_too(api):
    combo = combo_of(api, item(45, 1.234))
    assert combo["quantity"] == 1.234 and combo["combo_price"] == 55.53


@pytest.mark.parametrize("text", ["1.000", "1", "1.0", "10e-1"])
def test_zeros_that_say_nothing_are_fine(api, text):
    body = '{"combos":[{"product_name":"Rice","quantity":%s,"variant_price":12.500}]}' % text
    after = api.post(path(api.place(), "combos"), body.encode())
    accepted(after)
    combo = exact(after.body)["data"]["combos"][0]
    assert (combo["quantity"], combo["variant_price"]) == ("1", "12.5")


def test_the_order_counts_its_active_lines(api):
    order = api.place()
    api.add(order, item(10), item(5, 2))
    after = api.add(order, item(0.5))
    assert [c["combo_price"] for c in after["combos"]] == [10, 10, 0.5]
    assert after["subtotal"] == after["total"] == after["pending_amount"] == 20.5


# What a line holds

def test_a_free_form_line_needs_a_name_a_quantity_and_a_price(api):
    combo = combo_of(api, item(10))
    assert combo["product_name"] == "Ceviche"
    for field in ["product_id", "variant_id", "product_category_name", "variant_name", "sku", "comment",
                  "kitchen_id", "canceled_at"]:
        assert combo[field] is None, field
    assert combo["modifiers"] == []


def test_names_sku_and_comment_are_kept(api):
    combo = combo_of(api, item(10, variant_name="Large", sku="NOT-ON-THE-MENU", comment="no onion"))
    assert (combo["variant_name"], combo["sku"], combo["comment"]) == ("Large", "NOT-ON-THE-MENU", "no onion")
    assert combo["product_id"] is combo["variant_id"] is None


def test_a_line_is_stamped_with_its_change(api):
    after = api.add(api.place(), item())
    assert after["combos"][0]["created_at"] == after["updated_at"]


# The menu

def linked(product_id=None, **fields):
    return {"quantity": 1, "variant_price": 1, **({"product_id": product_id} if product_id else {}), **fields}


def test_a_product_of_one_price_gives_its_names_sku_and_station(api, house):
    product, category = house.simple_product()
    combo = combo_of(api, linked(product["id"]))
    assert combo["product_id"] == product["id"] and combo["product_name"] == product["name"]
    assert combo["product_category_name"] == category["name"]
    assert combo["kitchen_id"] == product["kitchen_id"]
    assert combo["sku"] == product["sku"]
    assert combo["variant_id"] and combo["variant_name"] == "Default"


def test_the_price_sent_is_the_truth(api, house):
    product, _ = house.simple_product()
    assert combo_of(api, linked(product["id"]))["combo_price"] == 1 != product["price"]


def test_a_product_with_variants_is_linked_alone(api, house):
    product, _ = house.products_with_variants()
    combo = combo_of(api, linked(product["id"]))
    assert combo["product_id"] == product["id"] and combo["product_name"] == product["name"]
    assert combo["variant_id"] is combo["variant_name"] is combo["sku"] is None


def test_a_variant_alone_links(api, house):
    product, _ = house.products_with_variants()
    variant = product["variants"][1]
    combo = combo_of(api, linked(variant_id=variant["id"]))
    assert (combo["product_id"], combo["variant_id"]) == (product["id"], variant["id"])
    assert (combo["product_name"], combo["variant_name"]) == (product["name"], variant["name"])
    assert combo["sku"] == variant["sku"]


def test_a_sku_links_to_its_variant(api, house):
    product, _ = house.products_with_variants()
    variant = product["variants"][0]
    combo = combo_of(api, linked(sku=variant["sku"]))
    assert (combo["product_id"], combo["variant_id"]) == (product["id"], variant["id"])


def test_a_name_that_was_sent_wins_over_the_menus(api, house):
    product, _ = house.products_with_variants()
    variant = product["variants"][0]
    combo = combo_of(api, linked(product["id"], variant_id=variant["id"], product_name="Special",
                                 variant_name="Huge"))
    assert (combo["product_name"], combo["variant_name"]) == ("Special", "Huge")
    assert combo["product_id"] == product["id"]


@pytest.mark.parametrize("which", [0, 1])
def test_a_sku_with_its_product_chooses_the_variant(api, house, which):
    product, _ = house.products_with_variants()
    variant = product["variants"][which]
    combo = combo_of(api, linked(product["id"], sku=variant["sku"]))
    assert (combo["product_id"], combo["variant_id"]) == (product["id"], variant["id"])
    assert (combo["variant_name"], combo["sku"]) == (variant["name"], variant["sku"])


def test_a_product_wins_over_a_sku_of_another_and_the_line_keeps_the_sku(api, house):
    one, two = house.products_with_variants()
    for sent in [two["variants"][0]["sku"], "NOT-ON-THE-MENU"]:
        combo = combo_of(api, linked(one["id"], sku=sent))
        assert (combo["product_id"], combo["variant_id"], combo["sku"]) == (one["id"], None, sent)


def test_a_product_of_one_variant_links_to_it_and_keeps_a_sku_that_is_not_its_own(api, house):
    product, _ = house.simple_product()
    variant = combo_of(api, linked(product["id"]))["variant_id"]
    combo = combo_of(api, linked(product["id"], sku="NOT-ON-THE-MENU"))
    assert (combo["variant_id"], combo["sku"]) == (variant, "NOT-ON-THE-MENU")


def test_a_variant_wins_over_any_sku(api, house):
    product, _ = house.products_with_variants()
    one, two = product["variants"][:2]
    combo = combo_of(api, linked(product["id"], variant_id=one["id"], sku=two["sku"]))
    assert (combo["variant_id"], combo["sku"]) == (one["id"], one["sku"])


def test_an_unknown_product_is_an_error_whatever_the_sku(api, house):
    product, _ = house.products_with_variants()
    wrong(api, "not_found", "product_id", linked(new_id(), sku=product["variants"][0]["sku"]))


def test_a_modifier_of_the_product_gives_its_name(api, house):
    product, _ = house.products_with_variants()
    modifier = house.modifier(product)
    combo = combo_of(api, linked(product["id"], modifiers=[{"modifier_id": modifier["id"], "price": 2}]))
    assert combo["modifiers"][0]["modifier_id"] == modifier["id"]
    assert combo["modifiers"][0]["name"] == modifier["name"]
    assert combo["modifiers"][0]["id"] != modifier["id"]


def test_a_modifier_names_its_group(api, house):
    """That of the menu where it links, else the one that was sent; null without either."""
    product, _ = house.products_with_variants()
    modifier = house.modifier(product)
    group = product["modifier_categories"][0]["name"]
    sent = [{"modifier_id": modifier["id"], "price": 2, "group_name": "Another"}, {"name": "Egg", "price": 1, "group_name": "Extras"},
            {"name": "Salt", "price": 0}]
    combo = combo_of(api, linked(product["id"], modifiers=sent))
    assert [row["group_name"] for row in combo["modifiers"]] == [group, "Extras", None]
    wrong(api, "too_long", "modifiers[0].group_name",
          {**linked(product["id"]), "modifiers": [{"name": "Egg", "price": 1, "group_name": "x" * 201}]})


@pytest.mark.parametrize("field", ["product_id", "variant_id"])
def test_an_explicit_link_that_fails_is_an_error(api, field):
    wrong(api, "not_found", field, {**linked(), "product_name": "Rice", field: new_id()})


def test_an_unknown_sku_without_a_name_is_refused(api):
    wrong(api, "required", "product_name", linked(sku="NOT-ON-THE-MENU"))


def test_a_variant_must_belong_to_the_product(api, house):
    one, two = house.products_with_variants()
    order = api.place()
    answer = add(api, order, linked(one["id"], variant_id=two["variants"][0]["id"]))
    assert answer.status == 422 and list(answer.fields) == ["combos[0].variant_id"], answer.body
    assert read(api, order) == order


def test_a_modifier_must_belong_to_the_product(api, house):
    one, two = house.products_with_variants()
    wrong(api, "not_found", "modifiers[0].modifier_id",
          linked(two["id"], modifiers=[{"modifier_id": new_id(), "price": 1}]))
    simple, _ = house.simple_product()
    wrong(api, "not_found", "modifiers[0].modifier_id",
          linked(simple["id"], modifiers=[{"modifier_id": house.modifier(one)["id"], "price": 1}]))


def test_a_free_form_line_has_no_modifiers_of_the_menu(api, house):
    product, _ = house.products_with_variants()
    wrong(api, "not_allowed", "modifiers[0].modifier_id",
          item(modifiers=[{"modifier_id": house.modifier(product)["id"], "price": 1}]))


# Refusals

@pytest.mark.parametrize("field", ["quantity", "variant_price", "product_name"])
def test_what_a_line_needs_is_named(api, field):
    sent = item()
    del sent[field]
    wrong(api, "required", field, sent)


@pytest.mark.parametrize("value, code", [
    (0, "must_be_positive"), (-1, "must_be_positive"), (9999.001, "out_of_range"), (10000, "out_of_range"),
    (1.0005, "too_many_decimals"), ("2", "wrong_type"), (None, "required")])
def test_a_quantity_is_above_0_to_9999_with_3_decimals(api, value, code):
    wrong(api, code, "quantity", item(quantity=value))


@pytest.mark.parametrize("quantity", [0.001, 9999])
def test_the_least_and_the_most_quantity_are_fine(api, quantity):
    assert combo_of(api, item(1, quantity))["quantity"] == quantity


@pytest.mark.parametrize("field", ["variant_price", "variant_original_price"])
@pytest.mark.parametrize("value, code", [
    (-1, "must_not_be_negative"), (0.001, "too_many_decimals"), ("10", "wrong_type"),
    (10000000000, "out_of_range")])
def test_a_price_is_money(api, field, value, code):
    wrong(api, code, field, {**item(), field: value})


@pytest.mark.parametrize("field", ["variant_price", "variant_original_price"])
def test_a_line_total_stays_within_bounds(api, field):
    wrong(api, "out_of_range", field, {**item(quantity=2), field: 9999999999.99})


@pytest.mark.parametrize("field, value, code", [
    ("product_name", "x" * 201, "too_long"), ("product_name", "", "empty"), ("product_name", 5, "wrong_type"),
    ("variant_name", "x" * 201, "too_long"), ("sku", "x" * 101, "too_long"),
    ("comment", "x" * 501, "too_long"), ("comment", "tab\x0b", "invalid_format"),
    ("comment", "card " + CARD_NUMBER, "looks_like_card_number"), ("product_id", "x", "invalid_format"),
    ("variant_id", 5, "wrong_type"), ("modifiers", {}, "wrong_type"), ("modifiers", [5], None)])
def test_a_wrong_value_of_a_line_is_named(api, field, value, code):
    if code is None:
        return wrong(api, "wrong_type", field + "[0]", item(**{field: value}))
    wrong(api, code, field, item(**{field: value}))


def test_a_sku_may_look_like_a_card_number(api):
    assert combo_of(api, item(sku=CARD_NUMBER))["sku"] == CARD_NUMBER


@pytest.mark.parametrize("modifier, field, code", [
    ({"price": 1}, "name", "required"), ({"name": "Egg"}, "price", "required"),
    ({"name": "Egg", "price": -1}, "price", "must_not_be_negative"),
    ({"name": "Egg", "price": 1.005}, "price", "too_many_decimals"),
    ({"name": "Egg", "price": 1, "original_price": "1"}, "original_price", "wrong_type"),
    ({"name": "Egg", "price": 1, "quantity": 0}, "quantity", "must_be_positive"),
    ({"name": "Egg", "price": 1, "quantity": 1000}, "quantity", "out_of_range"),
    ({"name": "Egg", "price": 1, "quantity": 1.5}, "quantity", "too_many_decimals"),
    ({"name": "x" * 201, "price": 1}, "name", "too_long"),
    ({"modifier_id": "x", "price": 1}, "modifier_id", "invalid_format")])
def test_a_wrong_value_of_a_modifier_is_named(api, modifier, field, code):
    wrong(api, code, "modifiers[0]." + field, item(modifiers=[modifier]))


def test_a_line_and_its_modifiers_together_stay_within_bounds(api):
    answer = add(api, api.place(), item(9999999999, modifiers=[{"name": "Egg", "price": 1}]))
    assert answer.status == 422 and set(answer.fields.values()) == {"out_of_range"}, answer.body


def test_an_order_stays_within_bounds(api):
    order = api.place()
    before = api.add(order, item(9999999999.99))
    answer = add(api, order, item(0.01))
    refused(answer, 422, "validation_failed")
    assert set(answer.fields.values()) == {"out_of_range"}
    assert read(api, order) == before


@pytest.mark.parametrize("body, field, code", [
    ({}, "combos", "required"), ({"combos": []}, "combos", "empty"), ({"combos": {}}, "combos", "wrong_type"),
    ({"combos": [5]}, "combos[0]", "wrong_type"), ({"combos": None}, "combos", "required"),
    ({"combos": [item(1, name=str(n)) for n in range(201)]}, "combos", "too_many_items")])
def test_lines_come_as_a_list_of_1_to_200(api, body, field, code):
    refused(api.post(path(api.place(), "combos"), body), 422, "validation_failed", {field: code})


def test_all_lines_or_none(api):
    order = api.place()
    answer = add(api, order, item(), item(-1), item(quantity=0))
    refused(answer, 422, "validation_failed", {"combos[1].variant_price": "must_not_be_negative",
                                               "combos[2].quantity": "must_be_positive"})
    assert read(api, order) == order


def test_at_most_50_errors_are_named(api):
    answer = add(api, api.place(), *[item(-1)] * 60)
    refused(answer, 422, "validation_failed")
    assert len(answer.json["errors"]) == 50


def test_a_line_has_at_most_50_modifiers(api):
    egg = {"name": "Egg", "price": 1}
    assert combo_of(api, item(0, modifiers=[egg] * 50))["combo_price"] == 50
    wrong(api, "too_many_items", "modifiers", item(modifiers=[egg] * 51), says="50")


def test_an_order_has_at_most_500_lines_also_when_some_are_cancelled(api):
    order = api.place()
    for _ in range(2):
        after = api.add(order, *[item(1)] * 200)
    accepted(api.delete(path(order, "combos", after["combos"][0]["id"])))
    refused(add(api, order, *[item(1)] * 101), 422, "validation_failed", {"combos": "too_many_items"}, says="500")
    after = api.add(order, *[item(1)] * 100)
    assert len(after["combos"]) == 500 and after["subtotal"] == 499
    refused(add(api, order, item(1)), 422, "validation_failed", {"combos": "too_many_items"}, says="500")


@pytest.mark.parametrize("status", ["PENDING", "PREPARING", "READY", "DELIVERED"])
def test_lines_are_added_and_cancelled_while_the_order_is_open(api, status):
    order = api.advance(api.place(), status)
    after = api.add(order, item())
    after = accepted(api.delete(path(order, "combos", after["combos"][0]["id"])))
    assert after["status"] == status and after["subtotal"] == 0


def test_a_closed_order_takes_no_lines_and_loses_none(api):
    for close, code in [(lambda o: api.advance(o, "FINALIZED"), "order_closed"),
                        (lambda o: accepted(api.post(path(o, "cancel"), {"reason": "left"})), "order_cancelled")]:
        order = api.place()
        combo = api.add(order, item())["combos"][0]
        closed = close(order)
        refused(add(api, order, item()), 422, code)
        refused(api.delete(path(order, "combos", combo["id"])), 422, code)
        assert read(api, order) == closed


# Cancelling

def test_a_cancelled_line_stays_and_counts_no_more(api):
    order = api.place()
    before = api.add(order, item(10), item(5))
    after = accepted(api.delete(path(order, "combos", before["combos"][0]["id"])))
    assert after["combos"][0] == {**before["combos"][0], "canceled_at": after["updated_at"]}
    assert after["combos"][1] == before["combos"][1]
    assert after["subtotal"] == after["total"] == 5


def test_a_line_cancelled_twice_is_unchanged(api):
    order = api.place()
    place = path(order, "combos", api.add(order, item())["combos"][0]["id"])
    after = accepted(api.delete(place))
    unchanged(api, after, api.delete(place))
    closed = api.advance(order, "FINALIZED")
    unchanged(api, closed, api.delete(place))


def test_an_unknown_line_is_not_found_and_a_malformed_id_is_named(api):
    order, another = api.place(), api.place()
    foreign = api.add(another, item())["combos"][0]["id"]
    for combo in [new_id(), foreign]:
        refused(api.delete(path(order, "combos", combo)), 404, "not_found")
    invalid(api.delete(path(order, "combos", "7")), comboId="invalid_format")


def test_lines_of_an_unknown_order_are_not_found(api):
    refused(add(api, {"id": new_id()}, item()), 404, "not_found")
    invalid(add(api, {"id": "seven"}, item()), id="invalid_format")


def test_the_body_of_a_delete_is_ignored(api):
    order = api.place()
    combo = api.add(order, item())["combos"][0]
    accepted(api.send("DELETE", path(order, "combos", combo["id"]), b"{nonsense"))
