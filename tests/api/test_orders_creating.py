"""POST /v1/orders (specification, Orders; contract section 7)."""

import json
import re

import pytest

from support.orders import (CARD_NUMBER, INSTANT, SERVICE_TYPES, UUID, accepted, in_days, invalid, item, new_id,
                            new_key, path, read, record_bytes, refused)


def create(api, headers=None, **fields):
    fields.setdefault("service_type", "ONSITE")
    return api.post("/v1/orders", fields, headers or new_key())


@pytest.mark.parametrize("service_type", SERVICE_TYPES)
def test_a_service_type_and_an_idempotency_key_are_enough(api, service_type):
    reference = new_id()
    answer = create(api, {"Idempotency-Key": reference}, service_type=service_type)
    order = accepted(answer, 201)
    assert order["status"] == "PENDING"
    assert order["service_type"] == service_type
    assert order["reference"] == reference
    assert order["version"] == 1
    assert answer.headers["location"] == path(order)


def test_the_answer_is_what_reading_gives(api):
    answer = create(api)
    reading = api.get(answer.headers["location"])
    assert reading.body == answer.body
    assert reading.etag == answer.etag


def test_the_company_decides_source_country_zone_and_currency(api, house):
    order = api.place()
    assert order["source"] == "API"
    assert order["company_id"] == house.id
    for field in ["country_code", "timezone", "currency"]:
        assert order[field] == house.company[field]


def test_an_order_begins_without_lines_money_or_dates(api):
    order = api.place()
    assert order["combos"] == order["payments"] == order["discounts"] == []
    assert order["total"] == order["total_paid"] == order["pending_amount"] == 0
    assert order["paid"] is False
    assert order["pending_at"] == order["created_at"] == order["updated_at"]
    assert order["preparing_at"] is order["closed_at"] is order["canceled_at"] is None


def test_the_history_begins_with_who_placed_the_order(api):
    order = api.place()
    (first,) = order["status_history"]
    assert first["status"] == "PENDING" and first["at"] == order["created_at"] and first["implied"] is False
    assert re.fullmatch("key:" + UUID.pattern, first["by"])


def test_every_field_of_a_delivery_is_taken(api, house):
    date = in_days(2)
    sent = {"service_type": "DELIVERY", "client_id": house.client["id"], "address_id": house.address["id"],
            "delivery_price": 7.5, "packaging_price": 1.25, "comment": "no onion", "order_title": "Rosa",
            "delivery_comment": "blue door", "scheduled_delivery_date": date}
    order = api.place(**sent)
    for field, value in sent.items():
        assert order[field] == value, field
    assert order["total"] == order["pending_amount"] == 8.75


def test_client_table_and_address_stand_in_the_order_as_they_were(api, house):
    client, address = house.client, house.address
    delivery = api.place(service_type="DELIVERY", client_id=client["id"], address_id=address["id"])
    assert delivery["client"] == {
        "id": client["id"], "name": client["name"], "email": client["email"],
        "country_calling_code": delivery["client"]["country_calling_code"],
        "phone_number": client["phone_number"],
        "phone": "+" + client["country_calling_code"].lstrip("+") + client["phone_number"]}
    assert delivery["client"]["country_calling_code"].lstrip("+") == client["country_calling_code"].lstrip("+")
    fields = ["id", "address", "area", "city", "reference", "complement", "latitude", "longitude"]
    assert delivery["address"] == {f: address.get(f) for f in fields}
    dinner = api.place(service_type="TABLE", table_id=house.table["id"])
    assert dinner["table_id"] == house.table["id"]
    assert dinner["table"] == {"id": house.table["id"], "name": house.table["name"]}


def test_an_address_needs_no_client(api, house):
    order = api.place(service_type="DELIVERY", address_id=house.address["id"])
    assert order["address"]["id"] == house.address["id"]
    assert order["client_id"] is order["client"] is None


def test_ids_are_taken_in_any_case(api, house):
    order = api.place(service_type="TABLE", table_id=house.table["id"].upper())
    assert order["table_id"] == house.table["id"]


def test_order_numbers_count_up(api):
    first, second = api.place()["order_number"], api.place()["order_number"]
    assert isinstance(first, int)
    assert second == first + 1 or second == 1  # a new business day begins at 1


def test_public_ids_name_the_country_and_never_repeat(api, house):
    ids = [api.place()["public_id"] for _ in range(5)]
    assert all(re.fullmatch(house.company["country_code"] + r"-[1-9]\d{9}", i) for i in ids)
    assert len(set(ids)) == 5


def test_an_order_is_found_by_either_id_in_any_case(api):
    order = api.place()
    for name in [order["id"], order["id"].upper(), order["public_id"], order["public_id"].lower()]:
        assert accepted(api.get("/v1/orders/" + name)) == order


@pytest.mark.parametrize("name", ["x", "123", "0190a5c8-6f2e-7c3a-9d41", "PE-12", "PE-0222853393x"])
def test_a_malformed_id_is_named(api, name):
    invalid(api.get("/v1/orders/" + name), id="invalid_format")


@pytest.mark.parametrize("name", ["0190a5c8-6f2e-7c3a-9d41-2b7f5e8a1c90", "PE-1000000000"])
def test_an_unknown_id_is_not_found(api, name):
    refused(api.get("/v1/orders/" + name), 404, "not_found")


def test_an_instant_comes_back_in_utc_with_milliseconds(api):
    date = in_days(3)
    order = api.place(scheduled_delivery_date=date.replace("T", "t")[:-5].upper() + "+00:00")
    assert order["scheduled_delivery_date"] == date
    lima = in_days(3)[:11] + "10:30:00-05:00"
    order = api.place(scheduled_delivery_date=lima)
    assert order["scheduled_delivery_date"] == lima[:11] + "15:30:00.000Z"
    assert INSTANT.fullmatch(order["scheduled_delivery_date"])


def test_null_is_as_if_absent(api):
    order = api.place(client_id=None, table_id=None, address_id=None, delivery_price=None, comment=None,
                      order_title=None, delivery_comment=None, packaging_price=None,
                      scheduled_delivery_date=None)
    assert order["client_id"] is order["comment"] is None and order["delivery_price"] == 0


def test_unknown_fields_are_ignored(api):
    api.place(colour="blue")


def test_line_ends_become_one_character(api):
    assert api.place(comment="one\r\ntwo\tthree")["comment"] == "one\ntwo\tthree"


# Refusals

def test_the_idempotency_key_is_required(api):
    refused(api.post("/v1/orders", {"service_type": "ONSITE"}), 400, "missing_idempotency_key",
            says="Idempotency-Key")


@pytest.mark.parametrize("value", ["", "a b", "x" * 256, "caf\xe9"])
def test_an_idempotency_key_is_255_visible_characters_at_most(api, value):
    answer = create(api, {"Idempotency-Key": value.encode("latin-1")})
    refused(answer, 400, "invalid_header", says="255")


def test_the_longest_idempotency_key_is_the_reference(api):
    key = '"' + (new_id() * 8)[:253] + "~"
    assert api.place(reference=key)["reference"] == key


@pytest.mark.parametrize("value, code", [
    (None, "required"), ("DINNER", "unknown_value"), ("onsite", "unknown_value"), ("", "empty"),
    (1, "wrong_type"), ([], "wrong_type"), (True, "wrong_type")])
def test_a_service_type_is_one_of_four_words(api, value, code):
    says = SERVICE_TYPES if code == "unknown_value" else ()
    invalid(create(api, service_type=value), says=says, service_type=code)


def test_a_service_type_must_be_there(api):
    invalid(api.post("/v1/orders", {}, new_key()), service_type="required")


@pytest.mark.parametrize("service_type", ["ONSITE", "DELIVERY", "TAKEAWAY"])
def test_a_table_is_for_table_orders_only(api, house, service_type):
    invalid(create(api, service_type=service_type, table_id=house.table["id"]), says="TABLE",
            table_id="not_allowed")


@pytest.mark.parametrize("service_type", ["ONSITE", "TABLE", "TAKEAWAY"])
def test_address_price_and_comment_of_a_delivery_are_for_delivery_orders_only(api, house, service_type):
    answer = create(api, service_type=service_type, address_id=house.address["id"], delivery_price=0,
                    delivery_comment="ring twice")
    invalid(answer, says="DELIVERY", address_id="not_allowed", delivery_price="not_allowed",
            delivery_comment="not_allowed")


@pytest.mark.parametrize("field, service_type", [
    ("client_id", "ONSITE"), ("table_id", "TABLE"), ("address_id", "DELIVERY")])
@pytest.mark.parametrize("value, code", [
    ("0190a5c8-6f2e-7c3a-9d41-2b7f5e8a1c90", "not_found"), ("7", "invalid_format"), (7, "wrong_type")])
def test_a_reference_must_exist(api, field, service_type, value, code):
    invalid(create(api, service_type=service_type, **{field: value}), **{field: code})


def test_an_address_must_be_the_clients(api, house):
    one, two = house.clients
    answer = create(api, service_type="DELIVERY", client_id=one["id"], address_id=two["addresses"][0]["id"])
    assert answer.status == 422 and list(answer.fields) == ["address_id"]


@pytest.mark.parametrize("field, says", [
    ("combos", "POST /v1/orders/{id}/combos"), ("payments", "POST /v1/orders/{id}/payments"),
    ("discounts", "POST /v1/orders/{id}/discounts"), ("status", "PATCH /v1/orders/{id}/status")])
def test_a_field_of_another_endpoint_is_refused_and_the_endpoint_named(api, field, says):
    invalid(create(api, **{field: []}), says=says, **{field: "not_allowed"})


@pytest.mark.parametrize("field", ["source", "country_code", "timezone", "currency"])
def test_what_the_credential_decides_is_read_only(api, field):
    invalid(create(api, **{field: "PEN"}), says="key" if field != "source" else "credential",
            **{field: "read_only"})


MONEY = [(-1, "must_not_be_negative"), (-0.01, "must_not_be_negative"), (1.001, "too_many_decimals"),
         ("12.5", "wrong_type"), (True, "wrong_type"), (10000000000, "out_of_range"), (1e300, "out_of_range")]


@pytest.mark.parametrize("field", ["packaging_price", "delivery_price"])
@pytest.mark.parametrize("value, code", MONEY)
def test_money_is_a_number_in_major_units_and_never_rounded(api, field, value, code):
    invalid(create(api, service_type="DELIVERY", **{field: value}), **{field: code})


@pytest.mark.parametrize("text, value", [
    ("9999999999.99", 9999999999.99), ("0", 0), ("0.01", 0.01), ("12.500", 12.5), ("1250.0", 1250),
    ("1.25e1", 12.5), ("125e-1", 12.5)])
def test_money_is_taken_exactly(api, text, value):
    body = '{"service_type":"ONSITE","packaging_price":%s}' % text
    order = accepted(api.post("/v1/orders", body.encode(), new_key()), 201)
    assert order["packaging_price"] == order["total"] == value


def test_delivery_and_packaging_together_stay_within_bounds(api):
    answer = create(api, service_type="DELIVERY", delivery_price=9999999999.99, packaging_price=0.01)
    assert answer.status == 422 and set(answer.fields.values()) == {"out_of_range"}, answer.body


@pytest.mark.parametrize("field, most", [("order_title", 200), ("comment", 500), ("delivery_comment", 500)])
def test_a_text_is_so_many_characters_at_most(api, field, most):
    fits = "ñ" * most  # characters, not bytes
    assert api.place(service_type="DELIVERY", **{field: fits})[field] == fits
    invalid(create(api, service_type="DELIVERY", **{field: fits + "x"}), says=str(most), **{field: "too_long"})


@pytest.mark.parametrize("field", ["order_title", "comment", "delivery_comment"])
@pytest.mark.parametrize("value, code", [
    (5, "wrong_type"), ({}, "wrong_type"), ("bell\x07", "invalid_format"),
    ("nul\x01", "invalid_format"), ("pay with " + CARD_NUMBER, "looks_like_card_number"),
    ("4111 1111 1111 1111", "looks_like_card_number")])
def test_a_text_is_text_without_control_characters_or_card_numbers(api, field, value, code):
    invalid(create(api, service_type="DELIVERY", **{field: value}), **{field: code})


def test_digits_that_are_no_card_number_are_fine(api):
    assert api.place(comment="call 51987654321 or 4111111111111112")


@pytest.mark.parametrize("value, code", [
    ("2020-01-01T00:00:00Z", "out_of_range"), ("tomorrow", "invalid_format"),
    ("2030-02-30T00:00:00Z", "invalid_format"), ("2030-01-01", "invalid_format"), (1893456000, "wrong_type")])
def test_a_scheduled_date_is_an_instant_to_come(api, value, code):
    invalid(create(api, scheduled_delivery_date=value), scheduled_delivery_date=code)


def test_every_wrong_field_is_reported_at_once_in_the_order_of_the_body(api):
    body = {"packaging_price": -1, "service_type": "ONSITE", "comment": 5, "client_id": "x", "status": "READY"}
    answer = api.post("/v1/orders", body, new_key())
    invalid(answer, packaging_price="must_not_be_negative", comment="wrong_type", client_id="invalid_format",
            status="not_allowed")
    assert [e["field"] for e in answer.json["errors"]] == ["packaging_price", "comment", "client_id", "status"]


def test_a_refused_order_leaves_nothing(api):
    reference = new_id()
    answer = create(api, {"Idempotency-Key": reference}, order_title=5)
    assert answer.status == 422
    found = api.get("/v1/orders?filter[reference]=" + reference)
    assert found.data == [] and found.json["pagination"]["total"] == 0


def test_the_record_in_the_envelope_is_all_there_is(api):
    answer = create(api)
    assert json.loads(record_bytes(answer)) == read(api, answer.data)
    assert set(answer.json) == {"data"}


def test_a_line_cannot_be_smuggled_in_at_creation(api):
    reference = new_id()
    invalid(create(api, {"Idempotency-Key": reference}, combos=[item()]), says="POST /v1/orders/{id}/combos",
            combos="not_allowed")
    assert api.place(reference=reference)["combos"] == []
