"""tests/golden/routes.txt is the whole API: what it says is so, and there is nothing else."""

import pytest

from support.orders import refused
from support.routes import ALL_ROUTES, METHODS, ROUTES, SCOPED, SCOPES, in_source

PUBLIC = [r for r in ROUTES if r.access != "local"]
PATHS = sorted({r.pattern for r in PUBLIC})


def allowed(pattern):
    methods = {r.method for r in PUBLIC if r.pattern == pattern} | {"OPTIONS"}
    if "GET" in methods:
        methods.add("HEAD")
    return [m for m in METHODS if m in methods]


def path_of(pattern):
    return next(r.path for r in PUBLIC if r.pattern == pattern)


def test_the_golden_file_names_every_route_of_the_program():
    assert {(r.method, r.pattern) for r in ALL_ROUTES} == in_source()


def test_the_golden_file_names_no_route_twice_and_known_scopes_alone():
    assert len({str(r) for r in ROUTES}) == len(ROUTES)
    assert {r.access for r in SCOPED} <= set(SCOPES)
    assert {r.access for r in ROUTES} - set(SCOPES) <= {"open", "key", "local"}
    assert {r.replay for r in ROUTES} == {"-", "honoured", "required"}


@pytest.mark.parametrize("pattern", PATHS)
def test_options_says_which_methods_a_path_has(box, pattern):
    client = box.client()
    answer = client.send("OPTIONS", path_of(pattern))
    client.close()
    assert answer.status == 204 and answer.body == b""
    assert answer.headers["allow"] == ", ".join(allowed(pattern))


@pytest.mark.parametrize("pattern", PATHS)
def test_every_other_method_is_405_with_the_same_list(api, pattern):
    for method in METHODS:
        if method in allowed(pattern):
            continue
        answer = api.send(method, path_of(pattern))
        if method == "HEAD":
            assert answer.status == 405 and answer.body == b""
        else:
            refused(answer, 405, "method_not_allowed", says=allowed(pattern))
        assert answer.headers["allow"] == ", ".join(allowed(pattern))


@pytest.mark.parametrize("route", PUBLIC, ids=str)
def test_a_route_asks_for_a_key_unless_it_is_open(box, route):
    client = box.client()
    answer = client.send(route.method, route.path)
    client.close()
    if route.access == "open" and route.method == "POST":  # its credentials are in the body
        refused(answer, 400, "invalid_json")
    elif route.access == "open":
        assert answer.status == 200, answer.body
    else:
        refused(answer, 401, "unauthorized", says="X-API-Key")


@pytest.mark.parametrize("route", [r for r in ROUTES if r.access == "local"], ids=str)
def test_what_only_the_command_line_may_call_is_not_there_for_others(api, route):
    for method in METHODS:
        answer = api.send(method, route.path, {} if method in ("POST", "PUT", "PATCH") else None)
        assert answer.status == 404, method


@pytest.mark.parametrize("route", SCOPED, ids=str)
def test_an_idempotency_key_is_read_where_it_is_honoured(api, route):
    body = {} if route.method in ("POST", "PUT", "PATCH") else None
    answer = api.send(route.method, route.path, body, {"Idempotency-Key": "k" * 256})
    if route.replay == "-":
        assert answer.status in (200, 404), answer.body
    else:
        refused(answer, 400, "invalid_header", says="Idempotency-Key")


@pytest.mark.parametrize("route", [r for r in SCOPED if r.replay != "-"], ids=str)
def test_an_idempotency_key_is_needed_where_it_is_required(api, route):
    answer = api.send(route.method, route.path, {} if route.method in ("POST", "PUT", "PATCH") else None)
    if route.replay == "required":
        refused(answer, 400, "missing_idempotency_key", says="Idempotency-Key")
    else:
        assert answer.status in (404, 422), answer.body


@pytest.mark.parametrize("route", [r for r in PUBLIC if r.access != "open"], ids=str)
def test_a_parameter_that_a_route_does_not_know_is_400(api, route):
    body = {"name": "x", "scopes": ["orders:read"], "service_type": "ONSITE", "status": "PREPARING", "reason": "x",
            "comment": "x", "combos": [{"product_name": "x", "quantity": 1, "variant_price": 1}], "amount": 1,
            "payment_method_code": "cash", "type": "AMOUNT", "provider": "api", "products": [{"name": "x", "price": 1}]}
    answer = api.send(route.method, route.path + "?nonsense=1", body if route.method in ("POST", "PUT", "PATCH") else None,
                      {"Idempotency-Key": "nonsense"})
    refused(answer, 400, "invalid_parameter", {"nonsense": "unknown_field"}, says="nonsense")
