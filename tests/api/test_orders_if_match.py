"""If-Match on every write of an order (contract section 6)."""

import pytest

from support.orders import accepted, item, new_key, path, read, refused

EDITS = {
    "fields": lambda api, o, h: api.patch(path(o), {"comment": "x"}, h),
    "status": lambda api, o, h: api.patch(path(o, "status"), {"status": "READY"}, h),
    "cancel": lambda api, o, h: api.post(path(o, "cancel"), {"reason": "x"}, h),
    "combos": lambda api, o, h: api.post(path(o, "combos"), {"combos": [item()]}, h),
    "combo": lambda api, o, h: api.delete(path(o, "combos", o["combos"][0]["id"]), h),
    "payments": lambda api, o, h: api.post(path(o, "payments"), {"payment_method_code": "cash", "amount": 1}, h),
    "discounts": lambda api, o, h: api.post(path(o, "discounts"), {"type": "AMOUNT", "value": 1}, h),
    "discount": lambda api, o, h: api.delete(path(o, "discounts", o["discounts"][0]["id"]), h),
    "rider": lambda api, o, h: api.put(path(o, "rider"), {"name": "Beto"}, h),
    "rider's end": lambda api, o, h: api.delete(path(o, "rider"), h),
    "delivery status": lambda api, o, h: api.patch(path(o, "delivery-status"), {"delivery_status": "DELIVERED"}, h)}


@pytest.fixture
def order(api):
    order = api.place(service_type="DELIVERY")
    api.add(order, item(10))
    accepted(api.put(path(order, "rider"), {"name": "Ana"}))
    return accepted(api.post(path(order, "discounts"), {"type": "AMOUNT", "value": 1}))


@pytest.mark.parametrize("edit", EDITS)
def test_another_version_is_refused_and_the_current_one_named(api, order, edit):
    answer = EDITS[edit](api, order, {"If-Match": f'"{order["version"] - 1}"'})
    refused(answer, 412, "precondition_failed", says=str(order["version"]))
    assert read(api, order) == order


@pytest.mark.parametrize("edit", EDITS)
def test_the_version_or_its_tag_is_accepted(api, order, edit):
    tag = api.get(path(order)).etag
    assert accepted(EDITS[edit](api, order, {"If-Match": tag}))["version"] == order["version"] + 1


@pytest.mark.parametrize("edit", EDITS)
def test_every_write_answers_the_bytes_and_the_tag_that_reading_gives(api, order, edit):
    answer, reading = EDITS[edit](api, order, {}), api.get(path(order))
    assert (answer.status, answer.body, answer.etag) == (200, reading.body, reading.etag)
    assert "location" not in answer.headers


@pytest.mark.parametrize("form", ['"{v}"', '"{v}.1.{epoch}"', '"{v}.99.{epoch}"', "*", '"0", "{v}"', '"x" , "{v}"'])
def test_what_matches(api, order, form):
    epoch = api.get(path(order)).etag.strip('"').split(".")[2]
    sent = {"If-Match": form.format(v=order["version"], epoch=epoch)}
    accepted(api.patch(path(order), {"comment": "x"}, sent))


@pytest.mark.parametrize("form", ['W/"{v}"', 'W/"{v}.1"', '"0"', '"x"', '"{v}1"', '""'])
def test_what_does_not_match(api, order, form):
    answer = api.patch(path(order), {"comment": "x"}, {"If-Match": form.format(v=order["version"])})
    refused(answer, 412, "precondition_failed")
    assert read(api, order) == order


@pytest.mark.parametrize("form", ["{v}", "version {v}", '"{v}'])
def test_what_is_no_tag_is_a_wrong_header(api, order, form):
    answer = api.patch(path(order), {"comment": "x"}, {"If-Match": form.format(v=order["version"])})
    refused(answer, 400, "invalid_header", says="If-Match")


def test_of_two_tills_with_one_version_only_the_first_writes(api, order):
    sent = {"If-Match": f'"{order["version"]}"'}
    first = api.patch(path(order), {"comment": "one"}, sent)
    second = api.patch(path(order), {"comment": "two"}, sent)
    assert (first.status, second.status) == (200, 412)
    assert read(api, order)["comment"] == "one"


def test_the_retry_of_a_request_that_succeeded_gets_its_first_answer(api, order):
    sent = {"If-Match": f'"{order["version"]}"', **new_key()}
    first, again = (api.patch(path(order), {"comment": "x"}, sent) for _ in range(2))
    assert (first.status, again.status) == (200, 200)
    assert again.body == first.body and again.headers["idempotency-replayed"] == "true"


def test_the_version_is_checked_before_the_rules_of_state(api, order):
    api.advance(order, "FINALIZED")
    for edit in ["combos", "discounts", "rider", "delivery status"]:
        refused(EDITS[edit](api, order, {"If-Match": '"1"'}), 412, "precondition_failed")
        refused(EDITS[edit](api, order, {}), 422, "order_closed")


def test_the_fields_are_checked_before_the_version(api, order):
    answer = api.patch(path(order), {"comment": 5}, {"If-Match": '"1"'})
    refused(answer, 422, "validation_failed", {"comment": "wrong_type"})


def test_an_unknown_order_matches_nothing(api):
    unknown = {"id": "0190a5c8-6f2e-7c3a-9d41-2b7f5e8a1c90"}
    refused(api.patch(path(unknown), {"comment": "x"}, {"If-Match": "*"}), 404, "not_found")
