"""What holds for every path: methods, hints, headers, content types, bodies and queries."""

import base64
import contextlib
import hashlib
import re

import pytest

from support.box import Box
from support.orders import UUID, accepted, new_key, refused
from support.raw import ask
from support.routes import SOME_ID

OPEN_PATHS = ["/healthz", "/readyz", "/metrics", "/problems/not_found"]
WAYS = {
    "refused": ("GET", "/nothing"),
    "not allowed": ("DELETE", "/healthz"),
    "open": ("GET", "/healthz"),
    "list": ("GET", "/v1/orders"),
    "options": ("OPTIONS", "/v1/orders"),
}


# Headers of every answer


@pytest.mark.parametrize("way", WAYS)
def test_every_answer_names_version_and_request(api, way):
    answer = api.send(*WAYS[way])
    assert answer.headers["api-version"] == "v0"
    assert UUID.fullmatch(answer.headers["x-request-id"])
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "date" in answer.headers
    assert "server" not in answer.headers


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("request_id", ["till-1.20261120_7", "x", "A" * 128])
def test_a_valid_request_id_is_echoed(api, way, request_id):
    answer = api.send(*WAYS[way], headers={"X-Request-Id": request_id})
    assert answer.headers["x-request-id"] == request_id
    if answer.status >= 400:
        assert answer.json["request_id"] == request_id


@pytest.mark.parametrize("request_id", ["", "a b", "A" * 129, "<script>", "ñ", "a;b", '"a"'])
def test_any_other_request_id_is_replaced(api, request_id):
    answer = api.get("/nothing", **{"X-Request-Id": request_id.encode("utf-8")})
    assert UUID.fullmatch(answer.headers["x-request-id"])
    assert answer.json["request_id"] == answer.headers["x-request-id"]


@pytest.mark.parametrize("path, cache", [
    ("/v1/orders", "private, no-cache"), ("/auth/api-keys", "no-store"), ("/nothing", "no-store"),
    (f"/v1/orders/{SOME_ID}", "no-store"), ("/healthz", "no-store"), ("/readyz", "no-store"),
    ("/metrics", "no-store"), ("/v1/webhooks", "no-store")])
def test_caches_are_told_what_they_may_keep(api, path, cache):
    assert api.get(path).headers["cache-control"] == cache


def test_one_order_may_be_kept_and_asked_for_again(api):
    answer = api.get(f"/v1/orders/{api.place()['id']}")
    assert answer.headers["cache-control"] == "private, no-cache"
    assert answer.headers["content-type"] == "application/json"
    again = api.get(f"/v1/orders/{answer.data['id']}", **{"If-None-Match": answer.etag})
    assert again.status == 304 and again.body == b"" and again.etag == answer.etag
    assert again.headers["cache-control"] == "private, no-cache"


@pytest.mark.parametrize("path", ["/v1/orders", "/auth/api-keys"])
def test_every_get_has_a_tag_that_spares_an_unchanged_answer(api, path):
    first = api.get(path)
    tag = first.etag
    # A key was used meanwhile, which a list of keys may show; so only the shape of the tag is certain there.
    assert re.fullmatch(r'(W/)?"[!#-~]+"', tag)
    if path == "/v1/orders":
        for value in (tag, f'"other", {tag}', "*", tag.removeprefix("W/")):
            assert api.get(path, **{"If-None-Match": value}).status == 304, value
        for value in ('"other"', "garbage", 'W/"other"'):
            assert api.get(path, **{"If-None-Match": value}).status == 200, value


# The order of checks


def test_each_check_comes_before_the_next(box, api, key, demo):
    """Everything is wrong at first; each step mends what the answer named, and the next check speaks."""
    weak = box.make_key(scopes="orders:read", company=demo["id"])["key"]
    request = {"method": "DELETE", "path": "/v1/nothing?nonsense=1", "body": b"no json"}
    headers = {"Host": "evil.example", "Content-Type": "text/plain", "X-API-Key": "", "Accept": "*/*"}
    steps = [
        (421, "misdirected_request", {}, {"Host": "localhost"}),
        (404, "not_found", {"path": "/v1/orders?nonsense=1"}, {}),
        (405, "method_not_allowed", {"method": "POST"}, {}),
        (401, "unauthorized", {}, {"X-API-Key": weak}),
        (403, "insufficient_scope", {}, {"X-API-Key": key}),
        (415, "unsupported_media_type", {}, {"Content-Type": "application/json"}),
        (400, "invalid_json", {"body": b'{"service_type":"NONE","table_id":1}'}, {}),
        (400, "missing_idempotency_key", {}, {"Idempotency-Key": "order-of-checks"}),
        (400, "invalid_parameter", {"path": "/v1/orders"}, {}),
        (422, "validation_failed", {"body": b'{"service_type":"ONSITE"}'}, {}),
    ]
    with contextlib.closing(box.client()) as client:
        for status, code, mended, mended_headers in steps:
            refused(client.send(request["method"], request["path"], request["body"], headers), status, code)
            request.update(mended)
            headers.update(mended_headers)
        accepted(client.send(request["method"], request["path"], request["body"], headers), 201)


# Hosts


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.0.0.1:1", "LocalHost:8443", "comanda.local", "[::1]"])
def test_the_boxs_own_names_are_answered(api, host):
    assert api.get("/healthz", Host=host).status == 200


@pytest.mark.parametrize("host", [
    "evil.example", "evil.example:8443", "localhost.evil.example", "127.0.0.1.evil.example", "203.0.113.9", "[2001:db8::1]"])
def test_a_foreign_host_is_421_before_anything_else(api, host):
    refused(api.get("/v1/orders", Host=host), 421, "misdirected_request", says=host.split(":8")[0].strip("[]"))


def test_a_forwarded_host_is_not_believed(api):
    assert api.get("/healthz", **{"X-Forwarded-Host": "evil.example", "Forwarded": "host=evil.example"}).status == 200


# Paths and methods


HINTS = [
    ("GET", "/v1/orders/", "slash"),
    ("GET", f"/v1/orders/{SOME_ID}/", "slash"),
    ("GET", "/healthz/", "slash"),
    ("GET", "/orders", "/v1"),
    ("GET", f"/orders/{SOME_ID}", "/v1"),
    ("POST", f"/v1/orders/{SOME_ID}/accept", "PATCH /v1/orders/{id}/status"),
    ("POST", f"/v1/orders/{SOME_ID}/confirm", "PATCH /v1/orders/{id}/status"),
    ("POST", f"/v1/orders/{SOME_ID}/reject", "POST /v1/orders/{id}/cancel"),
    ("GET", "/v1/order", "Did you mean /v1/orders?"),
    ("GET", "/v1/Orders", "Did you mean /v1/orders?"),
    ("GET", f"/v1/order/{SOME_ID}", "Did you mean /v1/orders/{id}?"),
    ("GET", "/api/v1/orders", "Did you mean /v1/orders?"),
    ("GET", "/v1/products", "Did you mean /v1/menu/products?"),
    ("GET", f"/v1/product/{SOME_ID}", "Did you mean /v1/menu/products/{id}?"),
    ("GET", "/v1/tables", "Did you mean /v1/company/tables?"),
    ("GET", "/v1/payment_methods", "Did you mean /v1/company/payment-methods?"),
    ("POST", f"/v1/orders/{SOME_ID}/payment", "Did you mean /v1/orders/{id}/payments?"),
    ("POST", f"/v1/orders/{SOME_ID}/pay", "Did you mean /v1/orders/{id}/payments?"),
    ("GET", "/v1/client", "Did you mean /v1/clients?"),
    ("GET", "/auth/keys", "Did you mean /auth/api-keys?"),
    ("GET", "/healthy", "Did you mean /healthz?"),
]


@pytest.mark.parametrize("path", ["/favicon.ico", "/robots.txt", "/apple-touch-icon.png",
                                  "/apple-touch-icon-precomposed.png", "/apple-touch-icon-120x120.png"])
def test_what_browsers_ask_for_by_themselves_is_no_line_of_the_log(api, box, path):
    unasked, other = f"unasked{len(path)}", f"other{len(path)}"
    refused(api.get(path, **{"X-Request-Id": unasked}), 404, "not_found")
    # With a key, since lines about clients without one are limited.
    refused(api.get("/v1/clients?nonsense=1", **{"X-Request-Id": other}), 400, "invalid_parameter")
    box.wait_for_log(f"request={other}")
    assert f"request={unasked}" not in box.log_text()


def test_a_path_that_resembles_none_gets_no_suggestion(api):
    for path in ["/x", "/v1", "/v1/", "/v1/nothing", "/v2/x", "/" + "x" * 5000, "/a/b/c/d/e/f/g/h/i/j/k/l/m/n"]:
        answer = api.get(path)
        refused(answer, 404, "not_found")
        assert "mean" not in answer.json["detail"], (path, answer.json["detail"])


@pytest.mark.parametrize("method, path, says", HINTS)
def test_an_unknown_path_says_which_one_may_be_meant(api, method, path, says):
    refused(api.send(method, path, {}), 404, "not_found", says=says)


METHOD_HINTS = [
    ("PUT", f"/v1/orders/{SOME_ID}/status", "PATCH", "PATCH"),
    ("POST", f"/v1/orders/{SOME_ID}/status", "PATCH", "PATCH"),
    ("PUT", f"/v1/orders/{SOME_ID}", "PATCH", "PATCH"),
    ("DELETE", f"/v1/orders/{SOME_ID}", "PATCH", "POST /v1/orders/{id}/cancel"),
    ("GET", f"/v1/orders/{SOME_ID}/combos", "POST", "POST"),
    ("PATCH", f"/v1/orders/{SOME_ID}/combos/{SOME_ID}", "DELETE", "DELETE"),
    ("POST", "/healthz", "GET", "GET"),
]


@pytest.mark.parametrize("method, path, allowed, says", METHOD_HINTS)
def test_a_method_that_a_path_lacks_is_405_with_the_right_one(api, method, path, allowed, says):
    answer = api.send(method, path, {})
    refused(answer, 405, "method_not_allowed", says=says)
    assert allowed in answer.headers["allow"].split(", ")
    assert "OPTIONS" in answer.headers["allow"].split(", ")


def test_the_path_is_looked_at_before_the_key(box):
    with contextlib.closing(box.client()) as nobody:
        refused(nobody.get("/v1/nothing"), 404, "not_found")
        refused(nobody.send("DELETE", "/v1/orders"), 405, "method_not_allowed")
        assert nobody.send("OPTIONS", "/v1/orders").status == 204


def test_options_of_an_unknown_path_is_404(api):
    refused(api.send("OPTIONS", "/nothing"), 404, "not_found")


@pytest.mark.parametrize("path", OPEN_PATHS)
def test_open_paths_need_no_key_and_mind_no_bad_one(box, path):
    with contextlib.closing(box.client()) as nobody:
        assert nobody.get(path).status == 200
        assert nobody.get(path, Authorization="Bearer nonsense").status == 200


@pytest.mark.parametrize("parts", [
    ("GET", ""), ("PATCH", ""), ("PATCH", "/status"), ("POST", "/cancel"), ("POST", "/combos"),
    ("POST", "/payments"), ("POST", "/discounts"), ("PUT", "/rider"), ("DELETE", "/rider"),
    ("PATCH", "/delivery-status"), ("DELETE", f"/combos/{SOME_ID}"), ("DELETE", f"/payments/{SOME_ID}"),
    ("DELETE", f"/discounts/{SOME_ID}")])
def test_a_malformed_id_in_the_path_is_422_on_that_parameter(api, parts):
    method, rest = parts
    body = {"status": "PREPARING"} if method in ("POST", "PUT", "PATCH") else None
    answer = api.send(method, f"/v1/orders/nonsense{rest}", body)
    refused(answer, 422, "validation_failed")
    assert answer.fields["id"] == "invalid_format"


def test_a_malformed_id_below_an_order_is_422_on_that_parameter(api):
    order = api.place()
    for parameter, path in (("comboId", "combos"), ("paymentId", "payments"), ("discountId", "discounts")):
        answer = api.delete(f"/v1/orders/{order['id']}/{path}/nonsense")
        refused(answer, 422, "validation_failed", {parameter: "invalid_format"})


def test_an_id_is_found_in_any_case_and_escaped(api):
    order = api.place()
    escaped = order["id"].replace("-", "%2D")
    for spelling in (order["id"].upper(), order["public_id"], order["public_id"].lower(), escaped):
        assert api.get(f"/v1/orders/{spelling}").data["id"] == order["id"]


# Content types


def place(api, body=b'{"service_type":"ONSITE"}', **headers):
    return api.post("/v1/orders", body, {**new_key(), **{n.replace("_", "-"): v for n, v in headers.items()}})


@pytest.mark.parametrize("content_type", [
    "application/json", "Application/JSON", "application/json; charset=utf-8", 'application/json;charset="UTF-8"',
    "application/json; charset=UTF8", "application/json ; x=y"])
def test_json_in_utf_8_is_taken(api, content_type):
    accepted(place(api, Content_Type=content_type), 201)


def test_a_body_without_a_content_type_is_taken_for_json(api):
    accepted(place(api), 201)


@pytest.mark.parametrize("content_type", [
    "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml",
    "application/json; charset=latin1", "application/jsonx", "text/json"])
def test_every_other_content_type_is_415_with_the_right_one(api, content_type):
    refused(place(api, Content_Type=content_type), 415, "unsupported_media_type", says="application/json")


@pytest.mark.parametrize("coding", ["gzip", "br", "deflate", "gzip, identity"])
def test_a_compressed_body_is_415(api, coding):
    refused(place(api, Content_Encoding=coding), 415, "unsupported_media_type", says="Content-Encoding")


@pytest.mark.parametrize("accept", [
    "*/*", "application/json", "application/*", "text/html, */*;q=0.1", "text/html,application/json;q=0.9", ""])
def test_a_client_that_can_take_json_gets_it(api, accept):
    assert api.get("/v1/orders", Accept=accept).headers["content-type"] == "application/json"


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "image/*, text/*"])
def test_a_client_that_cannot_take_json_is_406(api, accept):
    refused(api.get("/v1/orders", Accept=accept), 406, "not_acceptable", says="application/json")


# Bodies

DEEP = 32


def nested(levels):
    return b'{"x":' + b"[" * (levels - 1) + b"]" * (levels - 1) + b"}"


# name: (body, what the detail says)
BAD_JSON = {
    "empty": (b"", "empty"),
    "blanks alone": (b" \r\n\t ", "empty"),
    "cut off": (b'{"service_type":"ONSITE"', "line 1, column 25"),
    "a duplicate key": (b'{"service_type":"ONSITE","service_type":"TABLE"}', "column 26"),
    "a duplicate key that is escaped": (b'{"service_type":"ONSITE","service\\u005ftype":"TABLE"}', "column 26"),
    "a duplicate key deep inside": (b'{"x":[{"a":1,"a":1}]}', "once"),
    "an escaped NUL in a name": (b'{"comm\\u0000ent":"a"}', "u0000"),
    "a raw NUL": (b'{"comment":"a\0b"}', "column 14"),
    "NUL behind the value": (b"{}\0", "line 1, column 3"),
    "a raw line end in a text": (b'{"comment":"a\nb"}', "\\n"),
    "nested 33 deep": (nested(DEEP + 1), "32"),
    "nested 100,000 deep": (b"[" * 100_000, "32"),
    "trailing bytes": (b"{} x", "line 1, column 4"),
    "two values": (b"{}{}", "line 1, column 3"),
    "a trailing comma": (b'{"a":1,}', "comma"),
    "bad UTF-8": (b'{"comment":"\xff"}', "UTF-8"),
    "overlong UTF-8": (b'{"comment":"\xc0\x80"}', "UTF-8"),
    "a surrogate in UTF-8": (b'{"comment":"\xed\xa0\x80"}', "UTF-8"),
    "half a surrogate pair": (b'{"comment":"\\ud83d"}', "surrogate"),
    "a byte order mark": (b"\xef\xbb\xbf{}", "byte order mark"),
    "UTF-16": ('{"service_type":"ONSITE"}'.encode("utf-16"), "line 1, column 1"),
    "a leading zero": (b'{"x":0123}', "column 6"),
    "a point at the end": (b'{"x":1.}', "digit"),
    "a point in front": (b'{"x":.5}', "point"),
    "a plus": (b'{"x":+1}', "+"),
    "an exponent without digits": (b'{"x":1e}', "digit"),
    "NaN": (b'{"x":NaN}', "line 1"),
    "Infinity": (b'{"x":-Infinity}', "line 1"),
    "hexadecimal": (b'{"x":0x1F}', "line 1"),
    "single quotes": (b"{'x':1}", "double quotes"),
    "a name without quotes": (b"{x:1}", "double quotes"),
    "a comment": (b'{"x":1 /* one */}', "line 1"),
    "an unknown escape": (b'{"x":"\\q"}', "escape"),
    "True": (b'{"x":True}', "line 1"),
    "the third line": (b'{\n"x": 1,\n"y": }', "line 3, column 6"),
    "a form": (b"service_type=ONSITE", "line 1, column 1"),
}


@pytest.mark.parametrize("name", BAD_JSON)
def test_a_body_that_is_no_json_is_refused_with_the_place(api, name):
    body, says = BAD_JSON[name]
    refused(place(api, body), 400, "invalid_json", says=says)


def test_no_bad_body_leaves_an_order_behind(api):
    before = api.get("/v1/orders?per_page=1").json["pagination"]["total"]
    for body, _ in BAD_JSON.values():
        assert place(api, body).status == 400
    assert api.get("/v1/orders?per_page=1").json["pagination"]["total"] == before


GOOD_JSON = {
    "blanks around it": b' \r\n\t{ "service_type" : "ONSITE" }\n ',
    "escapes": b'{"service_type":"\\u004fNSITE"}',
    "an exponent": b'{"service_type":"ONSITE","packaging_price":125e-1}',
    "nested 32 deep": nested(DEEP)[:-1] + b',"service_type":"ONSITE"}',
    "a pair of surrogates": b'{"service_type":"ONSITE","comment":"\\ud83c\\udf7d"}',
    "a large number in a field of nobody": b'{"service_type":"ONSITE","x":123456789012345678901234567890}',
}


@pytest.mark.parametrize("name", GOOD_JSON)
def test_sound_json_is_taken_in_any_dress(api, name):
    accepted(place(api, GOOD_JSON[name]), 201)


@pytest.mark.parametrize("body", [b"[]", b'"x"', b"12", b"true", b"null", b"[{}]"])
def test_a_body_that_is_no_object_is_refused(api, body):
    answer = place(api, body)
    assert answer.status in (400, 422), answer.body
    assert "object" in answer.json["detail"], answer.body


def test_unknown_fields_are_ignored_on_the_live_address(api):
    accepted(place(api, b'{"service_type":"ONSITE","from_the_future":{"a":[1]}}'), 201)


def test_an_empty_body_is_enough_where_nothing_is_needed(api):
    made = accepted(api.post("/auth/api-keys", {"name": "rotated", "scopes": ["orders:read"]}), 201)
    accepted(api.post(f"/auth/api-keys/{made['id']}/rotate"), 200)


def test_the_body_of_a_delete_is_ignored(api):
    order = api.place()
    order = api.add(order, {"product_name": "Ceviche", "quantity": 1, "variant_price": 10})
    answer = api.send("DELETE", f"/v1/orders/{order['id']}/combos/{order['combos'][0]['id']}", b"no json",
                      {"Content-Type": "text/plain"})
    assert accepted(answer)["combos"][0]["canceled_at"]


# Queries

BAD_QUERIES = {
    "page%5Bsize%5D=10": ("page[size]", "use page and per_page"),
    "page[number]=2": ("page[number]", "use page and per_page"),
    "limit=10": ("limit", "use page and per_page"),
    "offset=10": ("offset", "use page and per_page"),
    "status=PENDING": ("status", "use filter[status]"),
    "start_date=2026-11-20": ("start_date", "use filter[start_date]"),
    "end_date=2026-11-20": ("end_date", "use filter[end_date]"),
    "client_id=1": ("client_id", "use filter[client_id]"),
    "nonsense=1": ("nonsense", "filter[status]"),
    "Page=1": ("Page", "page"),
    "=1": ('""', "filter[status]"),
    "=": ('""', "no value"),
    "filter[nonsense]=1": ("filter[nonsense]", "filter[status]"),
    "filter=1": ("filter", "filter[status]"),
    "page=": ("page", "no value"),
    "page": ("page", "no value"),
    "filter[status]=": ("filter[status]", "no value"),
    "page=1&page=1": ("page", "twice"),
    "page=1&per_page=2&page=2": ("page", "twice"),
    "filter[status]=PENDING&filter%5Bstatus%5D=READY": ("filter[status]", "twice"),
    "page=0": ("page", "from 1"),
    "page=-1": ("page", "from 1"),
    "page=1.0": ("page", "whole number"),
    "page=one": ("page", "whole number"),
    "page=1e1": ("page", "whole number"),
    "page=%2B1": ("page", "whole number"),
    "page=99999999999999999999": ("page", "whole number"),
    "per_page=0": ("per_page", "1 to 100"),
    "per_page=101": ("per_page", "1 to 100"),
    "sort=nonsense": ("sort", "created_at"),
    "sort=--created_at": ("sort", "created_at"),
    "sort=created_at,total": ("sort", "created_at"),
    "filter[status]=ACCEPTED": ("filter[status]", "PENDING"),
    "filter[status]=PENDING,": ("filter[status]", "PENDING"),
    "filter[service_type]=DINE_IN": ("filter[service_type]", "ONSITE"),
    "filter[paid]=yes": ("filter[paid]", "true or false"),
    "filter[client_id]=12": ("filter[client_id]", "UUID"),
    "filter[table_id]=12": ("filter[table_id]", "UUID"),
    "filter[start_date]=20.11.2026": ("filter[start_date]", "2026-11-20"),
    "filter[end_date]=2026-13-01": ("filter[end_date]", "2026-11-20"),
    "filter[start_date]=2026-02-30": ("filter[start_date]", "2026-11-20"),
    "filter[updated_since]=2026-11-20": ("filter[updated_since]", "instant"),
    "filter[include]=everything": ("filter[include]", "combos"),
    "filter[snapshot]=nonsense": ("filter[snapshot]", "X-Snapshot"),
}


@pytest.mark.parametrize("query", BAD_QUERIES)
def test_a_bad_parameter_is_400_and_names_what_would_be_accepted(api, query):
    name, says = BAD_QUERIES[query]
    answer = api.get("/v1/orders?" + query)
    refused(answer, 400, "invalid_parameter", says=[name, says])
    assert list(answer.fields) == [name]


@pytest.mark.parametrize("query", ["page=%zz", "page=%4", "page=%00", "%ff=1", "page=%ff", "page=%c0%80"])
def test_a_bad_escape_in_the_query_is_400(api, query):
    refused(api.get("/v1/orders?" + query), 400, "invalid_parameter")


@pytest.mark.parametrize("query", [
    "", "&", "page=1", "per_page=100", "page=1&per_page=1", "filter%5Bstatus%5D=PENDING", "filter[status]=pending,Ready",
    "sort=-created_at", "sort=total", "page=1000000", "filter[start_date]=2026-11-20T00:00:00%2B05:00",
    "filter[paid]=TRUE", "filter[reference]=a+b", "&page=1&"])
def test_a_good_query_is_served(api, query):
    assert api.get("/v1/orders?" + query).status == 200


def test_a_page_past_the_end_is_empty_and_says_so(api):
    answer = api.get("/v1/orders?page=1000000")
    assert answer.data == []
    assert answer.json["pagination"]["has_more"] is False
    assert answer.json["pagination"]["current_page"] == 1000000


@pytest.mark.parametrize("path", [f"/v1/orders/{SOME_ID}", "/auth/api-keys/" + SOME_ID])
def test_a_path_without_parameters_takes_none(api, path):
    refused(api.get(path + "?nonsense=1"), 400, "invalid_parameter", says="nonsense")


def test_a_very_long_parameter_is_cut_in_the_answer(api):
    answer = api.get("/v1/orders?" + "x" * 7000 + "=1")
    refused(answer, 400, "invalid_parameter")
    assert len(answer.body) < 2000


# Problems of many fields


def test_all_wrong_fields_are_named_in_document_order_up_to_fifty(api):
    order = api.place()
    items = [{"product_name": "x", "variant_price": 1, "quantity": 0}] * 40
    answer = api.post(f"/v1/orders/{order['id']}/combos", {"combos": items})
    refused(answer, 422, "validation_failed", {f"combos[{n}].quantity": "must_be_positive" for n in range(40)})
    assert [e["field"] for e in answer.json["errors"]] == [f"combos[{n}].quantity" for n in range(40)]
    answer = api.post(f"/v1/orders/{order['id']}/combos", {"combos": items * 2})
    assert [e["field"] for e in answer.json["errors"]] == [f"combos[{n}].quantity" for n in range(50)]


# Problems


def test_the_type_of_a_problem_has_a_page_for_people_on_the_box(api):
    problem = api.get("/nothing").json
    assert problem["type"] == "https://comanda.example/problems/not_found"
    page = api.get("/problems/not_found")
    assert page.status == 200 and page.headers["content-type"] == "text/html; charset=utf-8"
    assert b"404" in page.body and b"not_found" in page.body


def test_the_base_of_all_types_is_a_setting():
    box = Box(options=["--errors_base", "https://errors.example/p"])
    try:
        box.start()
        with contextlib.closing(box.client()) as client:
            assert client.get("/nothing").json["type"] == "https://errors.example/p/not_found"
        assert ask(box, b"GARBAGE\r\n\r\n").json["type"] == "https://errors.example/p/invalid_header"
    finally:
        box.discard()


def test_further_names_of_the_box_are_answered_and_certified():
    box = Box(options=["--hosts", "till.example,203.0.113.9"])
    try:
        box.start()
        with contextlib.closing(box.client()) as client:
            for host in ("till.example", "TILL.example:8443", "203.0.113.9"):
                assert client.get("/healthz", Host=host).status == 200
            refused(client.get("/healthz", Host="other.example"), 421, "misdirected_request", says="other.example")
            client.get("/healthz")
            names = client.connection.sock.getpeercert()["subjectAltName"]
            assert ("DNS", "till.example") in names and ("IP Address", "203.0.113.9") in names
    finally:
        box.discard()


CODES = """invalid_json invalid_parameter missing_idempotency_key invalid_header conflicting_credentials
unauthorized key_revoked key_expired wrong_environment insufficient_scope address_not_allowed not_found
method_not_allowed not_acceptable request_timeout length_required payload_too_large uri_too_long
unsupported_media_type expectation_failed misdirected_request headers_too_large cursor_expired precondition_failed
validation_failed order_not_editable order_cancelled order_closed order_has_active_payments use_cancel_endpoint
idempotency_key_reused last_managing_key rate_limit_exceeded internal_error not_implemented service_unavailable
version_not_supported""".split()


@pytest.mark.parametrize("code", CODES)
def test_every_code_has_a_page(api, code):
    page = api.get("/problems/" + code)
    assert page.status == 200 and code.encode() in page.body
    (style,) = re.findall(rb"<style>(.*?)</style>", page.body, re.S)
    hashed = base64.b64encode(hashlib.sha256(style).digest()).decode()
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; ") and f"style-src 'sha256-{hashed}'" in policy and "script" not in policy
    # In three languages, none of them left out.
    bodies = {api.get("/problems/" + code, **{"Accept-Language": language}).body for language in ("en", "es", "pt")}
    assert len(bodies) == 3


def test_the_pages_of_problems_have_an_index_in_the_reader_s_language(api):
    pages = {language: api.get("/problems", **{"Accept-Language": language}) for language in ("en", "es-PE", "pt-BR")}
    for page in pages.values():
        assert page.status == 200 and page.headers["vary"].startswith("Accept-Language")
        assert [code for code in CODES if f'href="/problems/{code}"' not in page.body.decode()] == []
    assert "Todos los errores" in pages["es-PE"].body.decode() and "Todos os erros" in pages["pt-BR"].body.decode()
    assert "<svg" in pages["en"].body.decode()


@pytest.mark.parametrize("code", ["nonsense", "validation_failed%00", "%3Cscript%3E", "Not_Found"])
def test_a_code_that_is_none_has_no_page(api, code):
    assert api.get("/problems/" + code).status in (400, 404)
