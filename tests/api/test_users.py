"""GET /v1/users (specification, Users; contract sections 6 and 10)."""

import contextlib
import json
import unicodedata

import pytest

from support.box import Box
from support.orders import INSTANT, UUID, accepted, refused

PATH = "/v1/users"
FIELDS = ["id", "name", "email", "country_calling_code", "phone_number", "role", "active", "created_at", "updated_at"]
ROLES = ["admin", "manager", "waiter", "rider", "cook", "sales", "cashier"]


def folded(text):
    return "".join(c for c in unicodedata.normalize("NFD", text.lower()) if not unicodedata.combining(c))


def names(answer):
    return [u["name"] for u in accepted(answer)]


def by_name(users):
    return [u["name"] for u in sorted(users, key=lambda u: folded(u["name"]))]


@pytest.fixture
def staffed(tmp_path):
    """A box of our own: bring_in(users), and a client of its company."""
    box = Box()

    def bring_in(*users):
        file = tmp_path / "staff.json"
        file.write_text(json.dumps({"companies": [{
            "name": "Staff", "country_code": "PE", "timezone": "America/Lima", "currency": "PEN",
            "users": [{"role": "waiter", **u} for u in users]}]}))
        box.bring_in(file)

    bring_in()
    made = box.make_key()
    box.start()
    with contextlib.closing(box.client(made["key"])) as client:
        yield client, bring_in
    assert box.discard() == 0


def test_everyone_is_listed_by_name_without_accents_and_case(api, demo):
    answer = api.get(PATH + "?per_page=100")
    assert names(answer) == by_name(demo["users"])
    assert answer.json["pagination"] == {
        "current_page": 1, "per_page": 100, "total": len(demo["users"]), "has_more": False}
    assert answer.headers["cache-control"] == "no-store"


def test_the_record_is_what_was_imported(api, demo):
    wanted = {u["name"]: u for u in demo["users"]}
    for user in accepted(api.get(PATH + "?per_page=100")):
        assert list(user) == FIELDS
        sent = wanted[user["name"]]
        for field in ("id", "email", "country_calling_code", "phone_number", "role"):
            if field in sent:
                assert user[field] == sent[field]
        assert user["active"] is sent.get("active", True)
        assert UUID.fullmatch(user["id"])
        assert INSTANT.fullmatch(user["created_at"]) and user["updated_at"] == user["created_at"]


def test_what_was_never_given_is_null(staffed):
    api, bring_in = staffed
    bring_in({"name": "Ana"})
    (user,) = accepted(api.get(PATH))
    assert [user[f] for f in ("email", "country_calling_code", "phone_number")] == [None] * 3


@pytest.mark.parametrize("role", ROLES)
def test_by_role(api, demo, role):
    fitting = [u for u in demo["users"] if u["role"] == role]
    assert fitting and names(api.get(f"{PATH}?filter[role]={role}")) == by_name(fitting)


@pytest.mark.parametrize("words", ["rider,cook", "COOK,Rider", "cook,rider,cook"])
def test_by_several_roles_in_any_case(api, demo, words):
    answer = api.get(f"{PATH}?filter[role]={words}")
    fitting = [u for u in demo["users"] if u["role"] in ("rider", "cook")]
    assert names(answer) == by_name(fitting)
    assert answer.json["pagination"]["total"] == len(fitting)


@pytest.mark.parametrize("word, active", [("true", True), ("false", False), ("False", False)])
def test_by_active(api, demo, word, active):
    fitting = [u for u in demo["users"] if u.get("active", True) is active]
    assert fitting and names(api.get(f"{PATH}?filter[active]={word}&per_page=100")) == by_name(fitting)


def test_filters_add_up(api, demo):
    fitting = [u for u in demo["users"] if u["role"] == "rider" and u.get("active", True)]
    assert names(api.get(f"{PATH}?filter[role]=rider&filter[active]=true")) == by_name(fitting)
    assert names(api.get(f"{PATH}?filter[role]=admin&filter[active]=false")) == []


def test_sorts(api, demo):
    ascending = names(api.get(PATH + "?per_page=100&sort=name"))
    assert ascending == by_name(demo["users"])
    assert names(api.get(PATH + "?per_page=100&sort=-name")) == ascending[::-1]
    rows = accepted(api.get(PATH + "?per_page=100&sort=created_at"))
    assert rows == sorted(rows, key=lambda u: (u["created_at"], u["id"]))
    assert accepted(api.get(PATH + "?per_page=100&sort=-created_at")) == rows[::-1]


def test_equal_names_are_in_the_order_of_their_ids(staffed):
    api, bring_in = staffed
    bring_in({"name": "ana", "email": "1@x.example"}, {"name": "Ána", "email": "2@x.example"},
             {"name": "ANA", "email": "3@x.example"})
    ids = [u["id"] for u in accepted(api.get(PATH))]
    assert ids == sorted(ids) and len(ids) == 3
    assert [u["id"] for u in accepted(api.get(PATH + "?sort=-name"))] == ids[::-1]


def test_later_ones_come_later_by_created_at(staffed):
    api, bring_in = staffed
    for name in ("Zoe", "Ana", "Mia"):
        bring_in({"name": name})
    assert names(api.get(PATH + "?sort=created_at")) == ["Zoe", "Ana", "Mia"]
    assert names(api.get(PATH + "?sort=-created_at")) == ["Mia", "Ana", "Zoe"]


def test_pages(api, demo):
    total, seen = len(demo["users"]), []
    for page in range(1, 5):
        answer = api.get(f"{PATH}?per_page=5&page={page}")
        seen += names(answer)
        assert answer.json["pagination"] == {
            "current_page": page, "per_page": 5, "total": total, "has_more": page * 5 < total}
        assert ("x-snapshot" in answer.headers) == (page == 1)
    assert seen == by_name(demo["users"])


def test_a_walk_leaves_out_who_came_meanwhile(staffed):
    api, bring_in = staffed
    bring_in({"name": "Beto"}, {"name": "Carla"}, {"name": "Dani"})
    first = api.get(PATH + "?per_page=2")
    bring_in({"name": "Ana"}, {"name": "Zoe"})
    rest = api.get(f"{PATH}?per_page=2&page=2&filter[snapshot]={first.headers['x-snapshot']}")
    assert names(first) + names(rest) == ["Beto", "Carla", "Dani"]
    assert rest.json["pagination"] == {"current_page": 2, "per_page": 2, "total": 3, "has_more": False}
    again = api.get(f"{PATH}?filter[snapshot]={first.headers['x-snapshot']}")
    assert again.headers["x-snapshot"] == first.headers["x-snapshot"]


def test_the_tag_changes_with_the_staff(staffed):
    api, bring_in = staffed
    bring_in({"name": "Ana"})
    tag = api.get(PATH).etag
    unchanged = api.get(PATH, **{"If-None-Match": tag})
    assert (unchanged.status, unchanged.body, unchanged.headers["cache-control"]) == (304, b"", "no-store")
    bring_in({"name": "Ana"})
    assert api.get(PATH, **{"If-None-Match": tag}).status == 304  # the import changed nothing
    bring_in({"name": "Ana", "active": False})
    answer = api.get(PATH, **{"If-None-Match": tag})
    assert answer.status == 200
    (user,) = answer.data
    assert user["active"] is False and user["updated_at"] > user["created_at"]
    assert api.get(PATH + "?per_page=5", **{"If-None-Match": answer.etag}).status == 200


@pytest.mark.parametrize("query, field, code", [
    ("filter[role]=chef", "filter[role]", "unknown_value"),
    ("filter[role]=cook,", "filter[role]", "unknown_value"),
    ("filter[role]=", "filter[role]", "empty"),
    ("filter[active]=1", "filter[active]", "unknown_value"),
    ("filter[active]=true&filter[active]=true", "filter[active]", "duplicate"),
    ("filter[name]=ana", "filter[name]", "unknown_field"),
    ("role=cook", "role", "unknown_field"),
    ("page[size]=5", "page[size]", "unknown_field"),
    ("sort=role", "sort", "unknown_value"),
    ("page=0", "page", "out_of_range"),
    ("per_page=101", "per_page", "out_of_range"),
    ("per_page=ten", "per_page", "out_of_range"),
    ("filter[snapshot]=-1", "filter[snapshot]", "invalid_format")])
def test_wrong_parameters(api, query, field, code):
    refused(api.get(f"{PATH}?{query}"), 400, "invalid_parameter", {field: code})


def test_hints_name_what_would_be_accepted(api):
    refused(api.get(PATH + "?filter[role]=chef"), 400, "invalid_parameter", says=ROLES)
    refused(api.get(PATH + "?sort=role"), 400, "invalid_parameter", says=["name", "created_at"])
    refused(api.get(PATH + "?limit=5"), 400, "invalid_parameter", says="per_page")
    refused(api.get(PATH + "?role=cook"), 400, "invalid_parameter", says="filter[role]")


def test_another_company_sees_its_own_staff_alone(api, other, demo, other_company):
    answer = other.get(PATH + "?per_page=100")
    assert {u["id"] for u in accepted(answer)} == {u["id"] for u in other_company["users"]}
    assert answer.json["pagination"]["total"] == len(other_company["users"])
    tag = api.get(PATH).etag
    assert other.get(PATH, **{"If-None-Match": tag}).status == 200


def test_the_scope_is_needed_and_enough(box, demo):
    for scopes, opens in [("users:read", True), ("clients:read,companies:read", False)]:
        with contextlib.closing(box.client(box.make_key(scopes=scopes, company=demo["id"])["key"])) as client:
            if opens:
                accepted(client.get(PATH))
            else:
                refused(client.get(PATH), 403, "insufficient_scope", says="users:read")
