"""Ten menus as chains export theirs (support/menus.py): each is taken whole by PUT /v1/menu/products, again without a change, and
as GET gives it; or refused with one message that names the cure."""

import contextlib
import json

import pytest

from support.menus import MENUS, REFUSED
from support.orders import new_id, refused

PATH = "/v1/menu/products"


@pytest.fixture
def empty(box, tmp_path):
    """A client of a restaurant without a menu, whose currency has two decimals."""
    company = {"id": new_id(), "name": "Empty", "country_code": "PE", "timezone": "America/Lima", "currency": "PEN"}
    file = tmp_path / "empty.json"
    file.write_text(json.dumps({"companies": [company]}))
    box.command("import", str(file), "--data", str(box.data))
    with contextlib.closing(box.client(box.make_key(company=company["id"])["key"])) as client:
        yield client


@pytest.mark.parametrize("name", MENUS)
def test_a_menu_is_taken_whole(empty, name):
    sent = MENUS[name]["products"]
    answer = empty.put(PATH, MENUS[name])
    assert answer.status == 200, answer.body
    assert (answer.data["created"], len(answer.data["products"])) == (len(sent), len(sent))
    assert empty.put(PATH, MENUS[name]).data["unchanged"] == len(sent)
    stored = [empty.get(f"{PATH}/{row['id']}").data for row in answer.data["products"][-30:]]
    for row, product in zip(sent[-30:], stored, strict=True):
        kept = [(group["name"], [one["name"] for one in group["modifiers"]]) for group in product["modifier_categories"]]
        assert kept == [(group["name"], [one["name"] for one in group["modifiers"]]) for group in row["modifier_categories"]]
        codes = [variant["sku"] for variant in product["variants"]]
        assert codes == [v["sku"].strip() for v in row.get("variants", [row])]
        assert "" not in (product["description"], product["image_url"], product["messages_for_customers"])
    assert empty.put(PATH, {"products": stored}).data["unchanged"] == len(stored)
    for product in stored:
        assert empty.patch(f"{PATH}/{product['id']}", product).status == 200


@pytest.mark.parametrize("name", REFUSED)
def test_a_menu_is_refused_with_its_cure(empty, name):
    body, field, code, cure = REFUSED[name]
    before = empty.get("/v1/menu").data
    answer = empty.put(PATH, body)
    refused(answer, 422, "validation_failed", {field: code})
    assert cure in answer.json["errors"][0]["message"]
    assert empty.get("/v1/menu").data == before
