"""Webhook subscriptions: creating, reading, changing, deleting (contract section 13). What is delivered is in
test_webhook_deliveries.py."""

import base64
import contextlib
import datetime
import json
import pathlib
import subprocess
import threading

import pytest

from support.box import Box, PATIENCE_S
from support.orders import INSTANT, UUID, accepted, new_id, new_key, refused
from support.receiver import LOOPBACK, Receiver, waits_for
from support.routes import SOME_ID

OTHER = pathlib.Path(__file__).parent.parent / "support" / "other_restaurant.json"
PATH = "/v1/webhooks"
# Nobody listens there: these tests place no orders.
URL = "http://127.0.0.1:8080/hook"
RECORD = {"id", "webhook_url", "merchant_id", "events", "webhook_headers", "ack_http_codes", "public_key_pin", "is_active",
          "secret", "secret_last_four", "secret_rotates_until", "sequence", "backlog", "oldest_undelivered_at",
          "events_lost", "last_outcome", "suspended_at", "suspended_reason", "consecutive_failures", "last_delivery_at",
          "last_status", "created_at", "updated_at"}
PIN = "sha256//" + base64.b64encode(bytes(range(32))).decode()


@pytest.fixture(scope="module")
def lan():
    """A box of two restaurants that may deliver to loopback."""
    box = Box(options=LOOPBACK)
    box.bring_in("demo")
    box.bring_in(OTHER)
    box.start()
    yield box
    assert box.discard() == 0, "the server did not end cleanly"


@pytest.fixture(scope="module")
def shops(demo, other_company):
    return demo["id"], other_company["id"]


@pytest.fixture(scope="module")
def keys(lan, shops):
    return [lan.make_key(company=shop)["key"] for shop in shops]


@pytest.fixture
def api(lan, keys):
    """A client of the demo restaurant with every scope; its subscriptions are deleted after the test."""
    with contextlib.closing(lan.client(keys[0])) as client:
        yield client
        delete_all(client)


@pytest.fixture
def other(lan, keys):
    """The same of the second restaurant."""
    with contextlib.closing(lan.client(keys[1])) as client:
        yield client
        delete_all(client)


@pytest.fixture
def strict(box, key):
    """A client of a box without --webhook-networks; its subscriptions are deleted after the test."""
    with contextlib.closing(box.client(key)) as client:
        yield client
        delete_all(client)


def delete_all(api):
    for hook in api.get(f"{PATH}?per_page=100").data:
        accepted(api.delete(f"{PATH}/{hook['id']}"))


def create(api, **fields):
    return accepted(api.post(PATH, {"webhook_url": URL, **fields}), 201)


def at(hook, *parts):
    return "/".join([PATH, hook["id"], *parts])


def read(api, hook):
    return accepted(api.get(at(hook)))


def shown(hook):
    """The record as every answer but the first shows it."""
    return {**hook, "secret": None}


def total(api):
    return api.get(PATH).json["pagination"]["total"]


def instant(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


# Creating


def test_a_new_subscription_has_every_field(api):
    answer = api.post(PATH, {"webhook_url": URL})
    hook = accepted(answer, 201)
    assert answer.headers["location"] == at(hook)
    assert set(hook) == RECORD and UUID.fullmatch(hook["id"])
    assert hook["webhook_url"] == URL and hook["is_active"] is True
    assert hook["events"] == ["ORDER_CREATED", "ORDER_UPDATED", "ORDER_DELETED"]
    assert (hook["webhook_headers"], hook["ack_http_codes"]) == ({}, [])
    assert [hook[n] for n in ("sequence", "backlog", "events_lost", "consecutive_failures")] == [0] * 4
    assert INSTANT.fullmatch(hook["created_at"]) and hook["updated_at"] == hook["created_at"]
    empty = {"merchant_id", "public_key_pin", "secret_rotates_until", "oldest_undelivered_at", "last_outcome",
             "suspended_at", "suspended_reason", "last_delivery_at", "last_status"}
    assert {n for n, v in hook.items() if v is None} == empty


def test_the_secret_is_32_bytes_and_shown_once(api):
    hook = create(api)
    prefix, text = hook["secret"][:6], hook["secret"][6:]
    assert prefix == "whsec_" and len(text) == 44
    assert len(base64.b64decode(text, validate=True)) == 32
    assert hook["secret_last_four"] == hook["secret"][-4:]
    assert create(api)["secret"] != hook["secret"]
    assert read(api, hook) == shown(hook)
    assert shown(hook) in api.get(PATH).data
    assert accepted(api.patch(at(hook), {"merchant_id": "m"}))["secret"] is None
    assert accepted(api.delete(at(hook)))["secret"] is None


@pytest.mark.parametrize("rotating", [False, True])
def test_a_replay_shows_no_secret_a_second_time(api, rotating):
    headers = new_key()
    if rotating:
        path, method, body = at(create(api)), "PATCH", {"rotate_secret": True}
    else:
        path, method, body = PATH, "POST", {"webhook_url": URL}
    first = api.send(method, path, body, headers)
    again = api.send(method, path, body, headers)
    assert first.data["secret"] and again.data == shown(first.data)
    assert again.status == first.status and again.headers["idempotency-replayed"] == "true"
    assert again.headers.get("location") == first.headers.get("location")
    assert total(api) == 1


def test_all_that_may_be_sent_is_kept(api):
    sent = {"merchant_id": "local 7 ñ", "events": ["ORDER_PAID", "PRODUCT_UPDATED", "STORE_STATUS_CHANGED"],
            "ack_http_codes": [200, 204, 404], "public_key_pin": PIN, "is_active": False}
    hook = create(api, **sent)
    assert sorted(hook["events"]) == sorted(sent.pop("events"))
    assert {n: hook[n] for n in sent} == sent
    assert read(api, hook) == shown(hook)


@pytest.mark.parametrize("kind", [
    "ORDER_CREATED", "ORDER_UPDATED", "ORDER_DELETED", "ORDER_STATUS_CHANGED", "ORDER_CANCELLED", "ORDER_PAID",
    "PRODUCT_CREATED", "PRODUCT_UPDATED", "STORE_STATUS_CHANGED", "*"])
def test_every_kind_can_be_asked_for(api, kind):
    assert create(api, events=[kind])["events"] == [kind]


@pytest.mark.parametrize("url", [
    "http://127.0.0.1:1024/", "http://127.0.0.1/", "https://127.0.0.1/x?a=b&c=%20d", "https://127.0.0.1:443/",
    "https://127.0.0.1:65535/hook", "https://127.0.0.1/" + "x" * (2048 - len("https://127.0.0.1/"))])
def test_a_right_url_is_kept_as_it_was_sent(api, url):
    assert create(api, webhook_url=url)["webhook_url"] == url


@pytest.mark.parametrize("host, ascii", [("café.invalid", "xn--caf-dma.invalid"), ("CAFÉ.Ñandú.invalid", "xn--caf-dma.xn--and-6ma2c.invalid"),
                                         ("пример.invalid:8443", "xn--e1afmkfd.invalid:8443")])
def test_letters_beyond_ascii_are_written_as_the_name_system_has_them(strict, host, ascii):
    assert create(strict, webhook_url=f"https://{host}/hook")["webhook_url"] == f"https://{ascii}/hook"


@pytest.mark.parametrize("host", ["cafe\u0301.invalid", "caf\u200dé.invalid", "\uff21.invalid", "café@x.invalid", "é" * 80 + ".invalid"])
def test_other_letters_of_a_host_are_refused(strict, host):
    refused(strict.post(PATH, {"webhook_url": f"https://{host}/hook"}), 422, "validation_failed",
            {"webhook_url": "invalid_format"})


def test_a_name_that_does_not_resolve_now_is_accepted(strict):
    assert create(strict, webhook_url="https://receiver.invalid/hook")["is_active"] is True


def test_what_is_empty_is_as_if_absent(api):
    hook = create(api, merchant_id=None, events=None, webhook_headers=None, ack_http_codes=None, public_key_pin=None,
                  is_active=None)
    plain = create(api)
    own = {"id", "secret", "secret_last_four", "created_at", "updated_at"}
    assert {n: v for n, v in hook.items() if n not in own} == {n: v for n, v in plain.items() if n not in own}
    assert create(api, webhook_headers={}, ack_http_codes=[])["ack_http_codes"] == []


def test_twenty_subscriptions_are_the_most(api, other):
    hooks = [create(other, merchant_id=str(n)) for n in range(20)]
    refused(other.post(PATH, {"webhook_url": URL}), 422, "validation_failed", {"body": "too_many_items"}, says="20")
    assert total(other) == 20
    create(api)  # the other restaurant's do not count
    accepted(other.delete(at(hooks[7])))
    create(other)


# Bad input

# Each: the fields, and the fields and codes of the answer.
BAD = {
    "no URL": ({"webhook_url": None}, {"webhook_url": "required"}),
    "an empty URL": ({"webhook_url": ""}, {"webhook_url": "empty"}),
    "a URL that is a number": ({"webhook_url": 1}, {"webhook_url": "wrong_type"}),
    "no URL at all": ({"webhook_url": "hook"}, {"webhook_url": "invalid_format"}),
    "a URL without a host": ({"webhook_url": "https:///hook"}, {"webhook_url": "invalid_format"}),
    "a URL with a blank": ({"webhook_url": "https://127.0.0.1/a b"}, {"webhook_url": "invalid_format"}),
    "ftp": ({"webhook_url": "ftp://127.0.0.1/hook"}, {"webhook_url": "invalid_format"}),
    "userinfo": ({"webhook_url": "https://me:secret@127.0.0.1/"}, {"webhook_url": "invalid_format"}),
    "a fragment": ({"webhook_url": "https://127.0.0.1/hook#part"}, {"webhook_url": "invalid_format"}),
    "an empty fragment": ({"webhook_url": "https://127.0.0.1/#"}, {"webhook_url": "invalid_format"}),
    "a host of dots": ({"webhook_url": "https://./"}, {"webhook_url": "invalid_format"}),
    "an empty label": ({"webhook_url": "https://a..b/"}, {"webhook_url": "invalid_format"}),
    "an empty port": ({"webhook_url": "https://127.0.0.1:/"}, {"webhook_url": "invalid_format"}),
    "a backslash": ({"webhook_url": "https://127.0.0.1\\@example.com/"}, {"webhook_url": "invalid_format"}),
    "a long URL": ({"webhook_url": "https://127.0.0.1/" + "x" * (2049 - len("https://127.0.0.1/"))},
                   {"webhook_url": "too_long"}),
    "a long URL in bytes": ({"webhook_url": "https://127.0.0.1/" + "ñ" * 1020}, {"webhook_url": "too_long"}),
    "the port of ssh": ({"webhook_url": "http://127.0.0.1:22/"}, {"webhook_url": "invalid_format"}),
    "port 1023": ({"webhook_url": "https://127.0.0.1:1023/"}, {"webhook_url": "invalid_format"}),
    "port 0": ({"webhook_url": "https://127.0.0.1:0/"}, {"webhook_url": "invalid_format"}),
    "port 65536": ({"webhook_url": "https://127.0.0.1:65536/"}, {"webhook_url": "invalid_format"}),
    "plain http to a public address": ({"webhook_url": "http://198.51.100.7:8080/"}, {"webhook_url": "not_allowed"}),
    "a private address elsewhere": ({"webhook_url": "https://10.255.254.253/"}, {"webhook_url": "not_allowed"}),
    "a merchant id that is a list": ({"merchant_id": []}, {"merchant_id": "wrong_type"}),
    "an unknown kind": ({"events": ["ORDER_CREATED", "ORDER_EATEN"]}, {"events[1]": "unknown_value"}),
    "a kind that is a number": ({"events": [1]}, {"events[0]": "wrong_type"}),
    "events as text": ({"events": "ORDER_CREATED"}, {"events": "wrong_type"}),
    "no events": ({"events": []}, {"events": "empty"}),
    "an event twice": ({"events": ["ORDER_PAID", "ORDER_CREATED", "ORDER_PAID"]}, {"events[2]": "duplicate"}),
    "headers as a list": ({"webhook_headers": [["X-A", "b"]]}, {"webhook_headers": "wrong_type"}),
    "21 headers": ({"webhook_headers": {f"X-{n}": "x" for n in range(21)}}, {"webhook_headers": "too_many_items"}),
    "a header name with a blank": ({"webhook_headers": {"X A": "b"}}, {"webhook_headers.X A": "invalid_format"}),
    "a header name with a colon": ({"webhook_headers": {"X:A": "b"}}, {"webhook_headers.X:A": "invalid_format"}),
    "a header name with an accent": ({"webhook_headers": {"X-ñ": "b"}}, {"webhook_headers.X-ñ": "invalid_format"}),
    **{f"the header {n}": ({"webhook_headers": {n: "b"}}, {f"webhook_headers.{n}": "not_allowed"}) for n in (
        "Host", "host", "Content-Type", "content-length", "Content-Anything", "Connection", "Keep-Alive", "TE",
        "Trailer", "Transfer-Encoding", "UPGRADE", "Expect", "User-Agent", "Proxy-Connection", "Proxy-Authorization",
        "X-Webhook-Attempt", "X-Webhook-Signature", "x-webhook-signature-new", "webhook-id", "Webhook-Signature", "webhook-anything")},
    "a header value of two lines": ({"webhook_headers": {"X-A": "a\r\nX-B: c"}}, {"webhook_headers.X-A": "invalid_format"}),
    "a header value with a control byte": ({"webhook_headers": {"X-A": "a\x07"}}, {"webhook_headers.X-A": "invalid_format"}),
    "a header value with DEL": ({"webhook_headers": {"X-A": "a\x7f"}}, {"webhook_headers.X-A": "invalid_format"}),
    "a long header value": ({"webhook_headers": {"X-A": "x" * 1025}}, {"webhook_headers.X-A": "too_long"}),
    "a header value that is a number": ({"webhook_headers": {"X-A": 1}}, {"webhook_headers.X-A": "wrong_type"}),
    "a low status": ({"ack_http_codes": [200, 199]}, {"ack_http_codes[1]": "out_of_range"}),
    "a high status": ({"ack_http_codes": [500]}, {"ack_http_codes[0]": "out_of_range"}),
    "a status as text": ({"ack_http_codes": ["200"]}, {"ack_http_codes[0]": "wrong_type"}),
    "21 statuses": ({"ack_http_codes": list(range(200, 221))}, {"ack_http_codes": "too_many_items"}),
    "statuses as a number": ({"ack_http_codes": 200}, {"ack_http_codes": "wrong_type"}),
    "a pin of another kind": ({"public_key_pin": "md5//abc"}, {"public_key_pin": "invalid_format"}),
    "a short pin": ({"public_key_pin": "sha256//AAAA"}, {"public_key_pin": "invalid_format"}),
    "a secret of one's own": ({"secret": "whsec_" + "A" * 43 + "="}, {"secret": "read_only"}),
    "an id of one's own": ({"id": SOME_ID}, {"id": "read_only"}),
    "is_active as text": ({"is_active": "yes"}, {"is_active": "wrong_type"}),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_named_and_nothing_is_made(api, name):
    fields, wrong = BAD[name]
    refused(api.post(PATH, {"webhook_url": URL, **fields}), 422, "validation_failed", wrong)
    assert total(api) == 0


@pytest.mark.parametrize("name", BAD)
def test_a_bad_change_changes_nothing(api, name):
    fields, wrong = BAD[name]
    hook = create(api)
    refused(api.patch(at(hook), {"merchant_id": "m", **fields}), 422, "validation_failed", wrong)
    assert read(api, hook) == shown(hook)


@pytest.mark.parametrize("name", ["", "X\r\nHost", "X-A: b\r\nX-B", "\x00", "X\t", " X"])
def test_a_header_name_cannot_begin_another_header(api, name):
    answer = api.post(PATH, {"webhook_url": URL, "webhook_headers": {name: "b"}})
    assert (answer.status, total(api)) == (400 if name == "\x00" else 422, 0), answer.body


def test_a_missing_url_is_named(api):
    refused(api.post(PATH, {}), 422, "validation_failed", {"webhook_url": "required"})


def test_all_bad_fields_are_named_at_once(api):
    refused(api.post(PATH, {"webhook_url": "ftp://x/", "events": ["X"], "webhook_headers": {"Host": "x"},
                            "ack_http_codes": [1]}), 422, "validation_failed",
            {"webhook_url": "invalid_format", "events[0]": "unknown_value", "webhook_headers.Host": "not_allowed",
             "ack_http_codes[0]": "out_of_range"})


def test_the_bounds_themselves_are_fine(api):
    hook = create(api, webhook_headers={f"X-{n}": "x" * 1024 for n in range(20)}, ack_http_codes=list(range(200, 220)))
    assert len(hook["webhook_headers"]) == len(hook["ack_http_codes"]) == 20
    assert create(api, ack_http_codes=[200, 499])["ack_http_codes"] == [200, 499]


# Addresses that are never called

FORBIDDEN = [
    # Loopback, however it is spelled.
    "http://127.0.0.1:8080/", "https://127.0.0.1/", "http://127.1:8080/", "http://2130706433:8080/", "http://0x7f.1:8080/",
    "http://0x7f000001:8080/", "http://0177.0.0.1:8080/", "http://127.0.0.1.:8080/", "http://localhost:8080/",
    "https://LOCALHOST/", "https://localhost./", "http://%31%32%37.0.0.1:8080/", "http://[::1]:8080/",
    "http://[0:0:0:0:0:0:0:1]:8080/", "http://[::ffff:127.0.0.1]:8080/", "http://[::ffff:7f00:1]:8080/",
    "http://[::127.0.0.1]:8080/", "https://[64:ff9b::7f00:1]/", "https://[64:ff9b::127.0.0.1]/",
    "https://[2002:7f00:0001::]/",
    # Unspecified, link-local, multicast, broadcast, and forms of them.
    "http://0.0.0.0:8080/", "http://0:8080/", "http://[::]:8080/", "http://169.254.1.1:8080/",
    "http://169.254.169.254/latest/", "https://[fe80::1]/", "https://[::ffff:169.254.169.254]/",
    "https://[64:ff9b::a9fe:a9fe]/", "https://[2002:a9fe:a9fe::]/", "http://224.0.0.1:8080/", "https://239.255.255.250/",
    "https://[ff02::1]/", "http://255.255.255.255:8080/",
    # Private networks that are not the box's own.
    "https://10.255.254.253/", "https://172.31.254.253/", "https://192.168.254.253/", "https://100.127.254.253/",
    "https://[fd12:3456:789a::1]/", "https://[::ffff:10.255.254.253]/", "https://[64:ff9b::10.255.254.253]/",
    "https://[2002:0aff:fefd::]/",
]


@pytest.mark.parametrize("url", FORBIDDEN)
def test_a_forbidden_address_is_refused_in_every_spelling(strict, url):
    before = total(strict)
    answer = strict.post(PATH, {"webhook_url": url})
    assert (answer.status, answer.code) == (422, "validation_failed"), (url, answer.body)
    # A spelling that the box does not read as an address at all is malformed: that is as good.
    assert answer.fields["webhook_url"] in ("not_allowed", "invalid_format")
    assert total(strict) == before


@pytest.mark.parametrize("url, address", [
    ("http://127.0.0.1:8080/", "127.0.0.1"), ("http://localhost:8080/", "127.0.0.1"),
    ("https://10.255.254.253/", "10.255.254.253")])
def test_the_refusal_names_the_address_and_the_setting(strict, url, address):
    answer = strict.post(PATH, {"webhook_url": url})
    if address == "127.0.0.1" and "::1" in answer.body.decode():
        address = "::1"  # a machine whose localhost is that first
    refused(answer, 422, "validation_failed", {"webhook_url": "not_allowed"}, says=[address, "webhook_networks"])


def test_the_boxs_own_address_is_refused_also_where_loopback_is_allowed(api, strict):
    found = subprocess.run(["hostname", "-I"], capture_output=True, text=True, check=True).stdout.split()
    # A machine without a network has loopback alone, of which the setting names one address.
    for own in [address for address in found if "." in address] or ["127.0.0.3"]:
        for client in (api, strict):
            refused(client.post(PATH, {"webhook_url": f"https://{own}:8443/"}), 422, "validation_failed",
                    {"webhook_url": "not_allowed"})
            assert client.post(PATH, {"webhook_url": f"https://[::ffff:{own}]:8443/"}).status == 422


@pytest.mark.parametrize("url", ["https://127.0.0.2/", "https://[::1]/", "https://169.254.1.1/", "https://0.0.0.0/"])
def test_a_setting_opens_no_more_than_it_names(api, url):
    refused(api.post(PATH, {"webhook_url": url}), 422, "validation_failed", {"webhook_url": "not_allowed"})


def test_a_change_to_a_forbidden_address_is_refused(strict):
    hook = create(strict, webhook_url="https://receiver.invalid/hook")
    refused(strict.patch(at(hook), {"webhook_url": "http://127.0.0.1:8080/"}), 422, "validation_failed",
            {"webhook_url": "not_allowed"})
    assert read(strict, hook) == shown(hook)


# Reading


def test_a_list_has_whole_records_newest_first(api):
    hooks = [shown(create(api, merchant_id=f"m{n}")) for n in range(5)]
    assert api.get(PATH).data == api.get(f"{PATH}?sort=-created_at").data == hooks[::-1]
    assert api.get(f"{PATH}?sort=created_at").data == hooks
    pages = [api.get(f"{PATH}?sort=created_at&per_page=2&page={n}") for n in (1, 2, 3, 4)]
    assert [p.data for p in pages] == [hooks[:2], hooks[2:4], hooks[4:], []]
    assert pages[0].json["pagination"] == {"current_page": 1, "per_page": 2, "total": 5, "has_more": True}
    assert [p.json["pagination"]["has_more"] for p in pages] == [True, True, False, False]


@pytest.mark.parametrize("query", ["sort=secret", "filter[secret]=x", "is_active=true", "limit=3", "page=0", "per_page=101"])
@pytest.mark.parametrize("rest", ["", f"/{SOME_ID}/deliveries"])
def test_a_bad_parameter_of_a_list_is_400(api, query, rest):
    refused(api.get(f"{PATH}{rest}?{query}"), 400, "invalid_parameter")


def test_an_unchanged_record_is_304(api):
    hook = create(api)
    for path in (at(hook), PATH):
        answer = api.get(path)
        assert api.get(path, **{"If-None-Match": answer.etag}).status == 304
        accepted(api.patch(at(hook), {"merchant_id": new_id()}))
        assert api.get(path, **{"If-None-Match": answer.etag}).status == 200


EVERY_ROUTE = [
    ("GET", "", None), ("PATCH", "", {"merchant_id": "x"}), ("DELETE", "", None), ("POST", "/test", None),
    ("GET", "/deliveries", None), ("POST", "/deliveries/redeliver", {"state": "dead"}),
    ("POST", f"/deliveries/{SOME_ID}/redeliver", None)]


@pytest.mark.parametrize("method, rest, body", EVERY_ROUTE)
def test_an_unknown_subscription_is_404_and_a_malformed_id_422(api, method, rest, body):
    refused(api.send(method, f"{PATH}/{SOME_ID}{rest}", body), 404, "not_found")
    refused(api.send(method, f"{PATH}/nonsense{rest}", body), 422, "validation_failed", {"id": "invalid_format"})


@pytest.mark.parametrize("method, rest, body", EVERY_ROUTE)
def test_another_companys_subscriptions_are_not_there(api, other, method, rest, body):
    hook = create(api)
    refused(other.send(method, at(hook) + rest, body), 404, "not_found")
    assert other.get(PATH).data == []
    assert read(api, hook) == shown(hook)


def test_an_unknown_delivery_is_404_and_a_malformed_id_422(api):
    hook = create(api)
    refused(api.post(at(hook, "deliveries", SOME_ID, "redeliver")), 404, "not_found")
    refused(api.post(at(hook, "deliveries", "nonsense", "redeliver")), 422, "validation_failed",
            {"deliveryId": "invalid_format"})


def test_a_new_subscription_has_no_deliveries(api):
    hook = create(api)
    answer = api.get(at(hook, "deliveries"))
    assert answer.json == {"data": [], "pagination": {"current_page": 1, "per_page": 20, "total": 0, "has_more": False}}
    assert accepted(api.post(at(hook, "deliveries", "redeliver"), {"state": "dead"})) == {"queued": 0}


@pytest.mark.parametrize("query", ["filter[state]=lost", "filter[outcome]=fine", "filter[event_type]=ORDER_EATEN",
                                   "filter[event_id]=x", "filter[state]="])
def test_a_bad_filter_of_deliveries_is_400(api, query):
    refused(api.get(f"{at(create(api), 'deliveries')}?{query}"), 400, "invalid_parameter")


@pytest.mark.parametrize("body, wrong", [
    ({}, {"state": "required"}), ({"state": "lost"}, {"state": "unknown_value"}), ({"state": 1}, {"state": "wrong_type"})])
def test_redelivery_of_many_names_a_state(api, body, wrong):
    refused(api.post(at(create(api), "deliveries", "redeliver"), body), 422, "validation_failed", wrong)


# Changing


def test_a_change_is_shown_and_the_rest_stays(api):
    hook = create(api, merchant_id="one", ack_http_codes=[200], webhook_headers={"X-A": "abc"})
    change = {"webhook_url": "http://127.0.0.1:9090/other", "merchant_id": "two", "events": ["ORDER_PAID"],
              "ack_http_codes": [202], "public_key_pin": PIN, "is_active": False}
    changed = accepted(api.patch(at(hook), change))
    assert changed == shown(hook) | change | {"updated_at": changed["updated_at"]}
    assert changed["updated_at"] >= hook["updated_at"]
    assert read(api, hook) == changed


def test_a_change_to_what_is_already_so_changes_nothing(api):
    hook = create(api, merchant_id="one")
    assert accepted(api.patch(at(hook), {"merchant_id": "one", "events": hook["events"]})) == shown(hook)


def test_null_clears_what_can_be_empty(api):
    hook = create(api, merchant_id="one", ack_http_codes=[200], public_key_pin=PIN, webhook_headers={"X-A": "abc"})
    changed = accepted(api.patch(at(hook), {"merchant_id": None, "ack_http_codes": None, "public_key_pin": None,
                                            "webhook_headers": None}))
    assert [changed[n] for n in ("merchant_id", "ack_http_codes", "public_key_pin", "webhook_headers")] == \
        [None, [], None, {}]


@pytest.mark.parametrize("field", ["webhook_url", "events", "is_active"])
def test_null_is_refused_where_nothing_can_be_empty(api, field):
    hook = create(api)
    refused(api.patch(at(hook), {field: None}), 422, "validation_failed", {field: "required"})
    assert read(api, hook) == shown(hook)


@pytest.mark.parametrize("body", [{}, {"from_the_future": 1}])
def test_a_change_of_nothing_is_refused(api, body):
    refused(api.patch(at(create(api)), body), 422, "validation_failed", {"body": "empty"})


# Headers of one's own


@pytest.mark.parametrize("value, mask", [
    ("Bearer 0123456789abcdef", "****cdef"), ("123456789012", "****9012"), ("12345678901", "****"), ("xyz", "****")])
def test_a_header_value_is_shown_masked(api, value, mask):
    hook = create(api, webhook_headers={"Authorization": value})
    assert hook["webhook_headers"] == read(api, hook)["webhook_headers"] == {"Authorization": mask}
    changed = api.patch(at(hook), {"merchant_id": "m"})
    assert changed.data["webhook_headers"] == {"Authorization": mask} and value not in changed.body.decode()
    assert value not in api.get(PATH).body.decode()


def test_a_masked_value_that_comes_back_keeps_the_stored_one(api):
    with Receiver() as receiver:
        hook = create(api, webhook_url=receiver.url, webhook_headers={
            "Authorization": "Bearer 0123456789abcdef", "X-Short": "abc", "X-Gone": "gone"})
        masked = read(api, hook)["webhook_headers"]
        sent = {"Authorization": masked["Authorization"], "X-Short": masked["X-Short"], "X-New": "new"}
        changed = accepted(api.patch(at(hook), {"webhook_headers": sent}))
        assert changed["webhook_headers"] == {"Authorization": "****cdef", "X-Short": "****", "X-New": "****"}
        accepted(api.post(at(hook, "test")))
        headers = receiver.requests[0].headers
    assert [headers.get(n) for n in ("authorization", "x-short", "x-new", "x-gone")] == \
        ["Bearer 0123456789abcdef", "abc", "new", None]


def test_a_whole_record_of_headers_sent_back_changes_nothing(api):
    hook = create(api, webhook_headers={"Authorization": "Bearer 0123456789abcdef", "X-Short": "abc"})
    assert accepted(api.patch(at(hook), {"webhook_headers": hook["webhook_headers"]})) == shown(hook)


# Rotating the secret


@pytest.mark.parametrize("body, grace", [({}, 86400), ({"grace_seconds": 86400}, 86400), ({"grace_seconds": 60}, 60)])
def test_rotation_shows_the_new_secret_and_the_end_of_the_old_one(api, body, grace):
    hook = create(api)
    rotated = accepted(api.patch(at(hook), {"rotate_secret": True, **body}))
    assert set(rotated) == RECORD and rotated["secret"].startswith("whsec_") and rotated["secret"] != hook["secret"]
    assert rotated["secret_last_four"] == rotated["secret"][-4:]
    assert instant(rotated["secret_rotates_until"]) - instant(rotated["updated_at"]) == datetime.timedelta(seconds=grace)
    assert read(api, hook) == shown(rotated)


def test_rotation_without_grace_ends_the_old_secret_at_once(api):
    hook = create(api)
    rotated = accepted(api.patch(at(hook), {"rotate_secret": True, "grace_seconds": 0}))
    assert rotated["secret"] not in (None, hook["secret"]) and rotated["secret_rotates_until"] is None


@pytest.mark.parametrize("grace, code", [
    (-1, "must_not_be_negative"), (86401, "out_of_range"), ("60", "wrong_type"), (1.5, "too_many_decimals")])
def test_a_grace_that_is_none_is_422(api, grace, code):
    hook = create(api)
    refused(api.patch(at(hook), {"rotate_secret": True, "grace_seconds": grace}), 422, "validation_failed",
            {"grace_seconds": code})
    assert read(api, hook) == shown(hook)


# Deleting


def test_a_deleted_subscription_is_answered_once_more_and_gone(api):
    hook, stays = create(api), create(api)
    assert accepted(api.delete(at(hook))) == shown(hook)
    for method, rest, body in EVERY_ROUTE:
        refused(api.send(method, at(hook) + rest, body), 404, "not_found")
    assert api.get(PATH).data == [shown(stays)]


def test_a_subscription_outlives_a_restart(lan, api):
    hook = create(api, merchant_id="m", webhook_headers={"X-A": "abc"}, events=["*"], ack_http_codes=[200])
    lan.kill()
    lan.start()
    assert read(api, hook) == shown(hook)


# Scopes


def test_each_scope_opens_its_half(lan, api, shops):
    hook = create(api)
    reading = {("GET", ""), ("GET", "/deliveries")}
    for scope, opens in (("webhooks:read", lambda *route: route in reading),
                         ("webhooks:write", lambda *route: route not in reading)):
        key = lan.make_key(scopes=scope, company=shops[0])["key"]
        with contextlib.closing(lan.client(key)) as client:
            assert client.get(PATH).status == (200 if scope == "webhooks:read" else 403)
            assert client.post(PATH, {}).status == (403 if scope == "webhooks:read" else 422)
            for method, rest, body in sorted(EVERY_ROUTE, key=lambda route: route[0] == "DELETE"):
                answer = client.send(method, at(hook) + rest, body)
                if opens(method, rest):
                    assert answer.status == (404 if SOME_ID in rest else 200), (scope, method, rest, answer.body)
                else:
                    needed = ({"webhooks:read", "webhooks:write"} - {scope}).pop()
                    refused(answer, 403, "insufficient_scope", says=needed)


def test_writing_suffices_for_any_kind(lan, shops):
    key = lan.make_key(scopes="webhooks:write", company=shops[0])["key"]
    with contextlib.closing(lan.client(key)) as client:
        hook = create(client, events=["ORDER_PAID", "PRODUCT_UPDATED", "STORE_STATUS_CHANGED"])
        accepted(client.delete(at(hook)))


# At once


def test_one_test_at_a_time_for_each_subscription(lan, keys, api):
    go = threading.Event()
    with Receiver(waits_for(go)) as receiver:
        hook, second = create(api, webhook_url=receiver.url), create(api, webhook_url=receiver.url)
        answers = []

        def run():
            with contextlib.closing(lan.client(keys[0])) as client:
                answers.append(client.post(at(hook, "test")))

        thread = threading.Thread(target=run)
        thread.start()
        receiver.wait_for(1)
        again = api.post(at(hook, "test"))
        refused(again, 429, "rate_limit_exceeded")
        assert int(again.headers["retry-after"]) >= 1
        receiver.answer = lambda request: (204, {}, b"")
        assert accepted(api.post(at(second, "test")))["state"] == "delivered"
        go.set()
        thread.join(PATIENCE_S)
    assert [a.status for a in answers] == [200]


def test_the_secret_is_in_no_log_and_no_list(lan, api):
    hook = create(api, webhook_headers={"Authorization": "Bearer 0123456789abcdef"})
    accepted(api.patch(at(hook), {"merchant_id": "m"}))
    told = lan.log_text() + json.dumps(api.get(PATH).json)
    assert hook["secret"][6:] not in told and "0123456789abcdef" not in told
