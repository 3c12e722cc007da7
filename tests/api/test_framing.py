"""What is no sound HTTP/1.1 gets a problem document and a closed connection, and never an effect."""

import random
import socket

import pytest

from support.box import PATIENCE_S
from support.orders import refused
from support.raw import Wire, ask, chunked, head

HEADER = (400, "invalid_header")
LINE_BYTES = 8 * 1024
BLOCK_BYTES = 16 * 1024


def lines(*texts):
    return "\r\n".join([*texts, "", ""]).encode("latin-1")


def get(*fields):
    return lines("GET /healthz HTTP/1.1", "Host: localhost", *fields)


def post(*fields, body=b"{}"):
    return lines("POST /v1/orders HTTP/1.1", "Host: localhost", *fields) + body


# name: (bytes, status, code)
REFUSED = {
    "no host": (lines("GET /healthz HTTP/1.1"), *HEADER),
    "two hosts": (get("Host: localhost"), *HEADER),
    "two different hosts": (get("Host: evil.example"), *HEADER),
    "an empty host": (lines("GET /healthz HTTP/1.1", "Host:"), *HEADER),
    "a host with a path": (lines("GET /healthz HTTP/1.1", "Host: localhost/x"), *HEADER),
    "a host with a user": (lines("GET /healthz HTTP/1.1", "Host: me@localhost"), *HEADER),
    "a host with a bad port": (lines("GET /healthz HTTP/1.1", "Host: localhost:https"), *HEADER),
    "an unfinished IPv6 host": (lines("GET /healthz HTTP/1.1", "Host: [::1"), *HEADER),
    "a name as IPv6 host": (lines("GET /healthz HTTP/1.1", "Host: [localhost]"), *HEADER),
    "bare LF": (b"GET /healthz HTTP/1.1\nHost: localhost\n\n", *HEADER),
    "one bare LF": (b"GET /healthz HTTP/1.1\r\nHost: localhost\nX: y\r\n\r\n", *HEADER),
    "bare LF after the request line": (b"GET /healthz HTTP/1.1\nHost: localhost\r\n\r\n", *HEADER),
    "bare CR": (b"GET /healthz HTTP/1.1\r\nHost: localhost\rX: y\r\n\r\n", *HEADER),
    "a folded field": (get("X: one", " two"), *HEADER),
    "a field folded with a tab": (get("X: one", "\ttwo"), *HEADER),
    "a blank before the first field": (lines("GET /healthz HTTP/1.1", " Host: localhost"), *HEADER),
    "a blank before the colon": (lines("GET /healthz HTTP/1.1", "Host : localhost"), *HEADER),
    "a field without a colon": (get("X"), *HEADER),
    "a field without a name": (get(": x"), *HEADER),
    "a blank in a field's name": (get("X Y: z"), *HEADER),
    "NUL in a field": (get("X: a\0b"), *HEADER),
    "a control byte in a field": (get("X: a\x01b"), *HEADER),
    "DEL in a field": (get("X: a\x7fb"), *HEADER),
    "NUL in the target": (lines("GET /health\0z HTTP/1.1", "Host: localhost"), *HEADER),
    "a control byte in the target": (lines("GET /health\x0bz HTTP/1.1", "Host: localhost"), *HEADER),
    "a raw byte that is no UTF-8 in the target": (lines("GET /\xff HTTP/1.1", "Host: localhost"), *HEADER),
    "a fragment": (lines("GET /healthz#x HTTP/1.1", "Host: localhost"), *HEADER),
    "a target without a slash": (lines("GET healthz HTTP/1.1", "Host: localhost"), *HEADER),
    "an authority as target": (lines("GET localhost:443 HTTP/1.1", "Host: localhost"), *HEADER),
    "an asterisk without OPTIONS": (lines("GET * HTTP/1.1", "Host: localhost"), *HEADER),
    "two blanks in the request line": (lines("GET  /healthz HTTP/1.1", "Host: localhost"), *HEADER),
    "a tab in the request line": (lines("GET\t/healthz HTTP/1.1", "Host: localhost"), *HEADER),
    "a blank in the target": (lines("GET /health z HTTP/1.1", "Host: localhost"), *HEADER),
    "no version": (lines("GET /healthz", "Host: localhost"), *HEADER),
    "no target": (lines("GET HTTP/1.1", "Host: localhost"), *HEADER),
    "another protocol": (lines("GET /healthz ICY/1.1", "Host: localhost"), *HEADER),
    "a version of many digits": (lines("GET /healthz HTTP/1.11", "Host: localhost"), *HEADER),
    "a version in small letters": (lines("GET /healthz http/1.1", "Host: localhost"), *HEADER),
    "HTTP/9.9": (lines("GET /healthz HTTP/9.9", "Host: localhost"), 505, "version_not_supported"),
    "HTTP/0.9 in words": (lines("GET /healthz HTTP/0.9", "Host: localhost"), 505, "version_not_supported"),
    "the preface of HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, "version_not_supported"),
    "length and coding": (post("Content-Length: 2", "Transfer-Encoding: chunked", body=chunked(b"{}")), *HEADER),
    "coding and length": (post("Transfer-Encoding: chunked", "Content-Length: 2", body=chunked(b"{}")), *HEADER),
    "two lengths": (post("Content-Length: 2", "Content-Length: 3"), *HEADER),
    "two equal lengths": (post("Content-Length: 2", "Content-Length: 2"), *HEADER),
    "a list of lengths": (post("Content-Length: 2, 2"), *HEADER),
    "a length with a plus": (post("Content-Length: +2"), *HEADER),
    "a negative length": (post("Content-Length: -1"), *HEADER),
    "a length with letters": (post("Content-Length: 2abc"), *HEADER),
    "a length in hexadecimal": (post("Content-Length: 0x2"), *HEADER),
    "a length with decimals": (post("Content-Length: 2.0"), *HEADER),
    "an empty length": (post("Content-Length:"), *HEADER),
    "a length of 23 digits": (post("Content-Length: 10000000000000000000002"), *HEADER),
    "two codings": (post("Transfer-Encoding: chunked", "Transfer-Encoding: chunked", body=b""), *HEADER),
    "chunked in HTTP/1.0": (
        lines("POST /v1/orders HTTP/1.0", "Host: localhost", "Transfer-Encoding: chunked"), *HEADER),
    "gzip, chunked": (post("Transfer-Encoding: gzip, chunked", body=b""), 501, "not_implemented"),
    "chunked twice": (post("Transfer-Encoding: chunked, chunked", body=b""), 501, "not_implemented"),
    "identity": (post("Transfer-Encoding: identity", body=b""), 501, "not_implemented"),
    "chunked with a strange letter": (post("Transfer-Encoding: xchunked", body=b""), 501, "not_implemented"),
    "an unknown method": (lines("QUERY /healthz HTTP/1.1", "Host: localhost"), 501, "not_implemented"),
    "a method in small letters": (lines("get /healthz HTTP/1.1", "Host: localhost"), 501, "not_implemented"),
    "TRACE in small letters": (lines("trace /healthz HTTP/1.1", "Host: localhost"), 501, "not_implemented"),
    "CONNECT": (lines("CONNECT localhost:443 HTTP/1.1", "Host: localhost"), 501, "not_implemented"),
    "another expectation": (post("Content-Length: 2", "Expect: 200-ok", body=b""), 417, "expectation_failed"),
    "65 fields": (get(*[f"X-{n}: y" for n in range(64)]), 431, "headers_too_large"),
    "70 fields": (get(*[f"X-{n}: y" for n in range(69)]), 431, "headers_too_large"),
    "a block above 16 KiB": (get("X: " + "y" * BLOCK_BYTES), 431, "headers_too_large"),
    "a block of many times 16 KiB": (get("X: " + "y" * 20 * BLOCK_BYTES), 431, "headers_too_large"),
    "a line above 8 KiB": (
        lines("GET /" + "x" * LINE_BYTES + " HTTP/1.1", "Host: localhost"), 414, "uri_too_long"),
    "a line of many times 8 KiB": (
        lines("GET /" + "x" * 40 * LINE_BYTES + " HTTP/1.1", "Host: localhost"), 414, "uri_too_long"),
    "a line that never ends": (b"GET /" + b"x" * 40 * LINE_BYTES, 414, "uri_too_long"),
    "a foreign host": (
        lines("GET /healthz HTTP/1.1", "Host: evil.example"), 421, "misdirected_request"),
    "a foreign host in an absolute target": (
        lines("GET https://evil.example/healthz HTTP/1.1", "Host: localhost"), 421, "misdirected_request"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_malformed_request_is_refused_with_a_problem_and_the_connection_is_closed(box, name):
    sent, status, code = REFUSED[name]
    with Wire(box) as wire:
        # What stands behind it could be somebody else's request: it must not be served.
        answer = wire.send(sent + head("GET", "/readyz")).answer()
        refused(answer, status, code)
        assert answer.headers["api-version"] == "v0"
        assert answer.headers["connection"] == "close"
        assert wire.is_closed()


SERVED = {
    "an empty line before the request": b"\r\n" + get(),
    "HTTP/1.0 without a host": b"GET /healthz HTTP/1.0\r\n\r\n",
    "a host with a port": lines("GET /healthz HTTP/1.1", "Host: localhost:8443"),
    "a host in capitals": lines("GET /healthz HTTP/1.1", "Host: LOCALHOST"),
    "a host with the root's dot": lines("GET /healthz HTTP/1.1", "Host: localhost."),
    "an address as host": lines("GET /healthz HTTP/1.1", "Host: 127.0.0.1"),
    "an IPv6 address as host": lines("GET /healthz HTTP/1.1", "Host: [::1]:8443"),
    "no blank after the colon": lines("GET /healthz HTTP/1.1", "Host:localhost"),
    "a tab before the value": lines("GET /healthz HTTP/1.1", "Host:\tlocalhost\t"),
    "a tab in a value": get("X: a\tb"),
    "an empty field": get("X:"),
    "a field with UTF-8": get("X: ceviche \xc3\xb1"),
    "the absolute form": lines("GET https://localhost/healthz HTTP/1.1", "Host: localhost"),
    "the absolute form with another field": lines("GET https://localhost:1/healthz HTTP/1.1", "Host: 127.0.0.1"),
    "64 fields": get(*[f"X-{n}: y" for n in range(63)]),
    "a block of almost 16 KiB": get("X: " + "y" * (BLOCK_BYTES - 100)),
    "a line of 8 KiB": lines("GET /healthz?" + "&" * (LINE_BYTES - len("GET /healthz? HTTP/1.1")) + " HTTP/1.1",
                             "Host: localhost"),
    "an escaped letter in the path": lines("GET /%68ealthz HTTP/1.1", "Host: localhost"),
}


@pytest.mark.parametrize("name", SERVED)
def test_what_is_unusual_but_sound_is_served(box, name):
    answer = ask(box, SERVED[name])
    assert answer.status == 200, answer.body
    assert answer.json == {"status": "ok"}


ODD_PATHS = {
    "a slash that is escaped": ("/v1%2Forders", 404, "not_found"),
    "two slashes": ("/v1//orders", 404, "not_found"),
    "two slashes in front": ("//healthz", 404, "not_found"),
    "dots that climb": ("/v1/../healthz", 404, "not_found"),
    "escaped dots that climb": ("/v1/%2e%2e/healthz", 404, "not_found"),
    "a file of the machine": ("/../../../etc/passwd", 404, "not_found"),
    "a backslash": ("/v1\\orders", 404, "not_found"),
    "capitals": ("/HEALTHZ", 404, "not_found"),
    "a path of very many parts": ("/x" * 1000, 404, "not_found"),
    "two slashes": ("//", 404, "not_found"),
    "an escaped NUL": ("/problems/not%00found", 400, "invalid_parameter"),
    "escaped bytes that are no UTF-8": ("/problems/%ff", 400, "invalid_parameter"),
    "half an escape": ("/problems/%4", 400, "invalid_parameter"),
    "an escape that is none": ("/problems/%zz", 400, "invalid_parameter"),
    "an escaped blank": ("/health%20z", 404, "not_found"),
    "a file behind a path": ("/docs/../../etc/passwd", 404, "not_found"),
    "a folder": ("/docs/", 404, "not_found"),
    "a parameter of a path": ("/healthz;x=y", 404, "not_found"),
    "an escaped question mark": ("/healthz%3Fx", 404, "not_found"),
    "an overlong escape of a slash": ("/problems/%c0%af", 400, "invalid_parameter"),
    "an escaped surrogate": ("/problems/%ed%a0%80", 400, "invalid_parameter"),
    "an escape of an escape": ("/problems/%252e", 404, "not_found"),
    "escaped line ends": ("/problems/x%0d%0aSet-Cookie:%20a=b", 404, "not_found"),
}


@pytest.mark.parametrize("name", ODD_PATHS)
def test_an_odd_path_is_split_before_it_is_decoded(box, name):
    path, status, code = ODD_PATHS[name]
    with Wire(box) as wire:
        answer = wire.send(head("GET", path)).answer()
        refused(answer, status, code)
        assert answer.json["instance"] == path
        assert "set-cookie" not in answer.headers
        assert wire.is_open()


def test_the_path_that_could_not_be_read_is_shown_as_a_slash(box):
    assert ask(box, b"GARBAGE\r\n\r\n").json["instance"] == "/"
    assert ask(box, lines("GET /v1/orders HTTP/1.1")).json["instance"] == "/v1/orders"


def test_plain_http_on_the_tls_port_is_closed_with_the_advice_to_use_https(box):
    with socket.create_connection(("127.0.0.1", box.port), timeout=PATIENCE_S) as plain:
        plain.sendall(get())
        answer = b""
        try:
            while piece := plain.recv(4096):
                answer += piece
        except ConnectionResetError:
            pass
        assert answer.startswith(b"HTTP/1.1 403 ") and b'"code":"https_required"' in answer
    assert ask(box, get()).status == 200


def test_an_asterisk_asks_what_the_whole_server_can(box):
    answer = ask(box, lines("OPTIONS * HTTP/1.1", "Host: localhost"))
    assert answer.status == 204
    assert answer.headers["allow"] == "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"


def test_a_preflight_is_told_nothing_about_other_origins(box):
    answer = ask(box, head("OPTIONS", "/v1/orders", "Origin: https://evil.example",
                           "Access-Control-Request-Method: POST"))
    assert answer.status == 204
    assert not [name for name in answer.headers if name.startswith("access-control-")]
    answer = ask(box, head("GET", "/healthz", "Origin: https://evil.example"))
    assert not [name for name in answer.headers if name.startswith("access-control-")]


# Connections


def test_requests_that_arrive_together_are_answered_in_order(box, key):
    bearer = f"Authorization: Bearer {key}"
    body = b'{"service_type":"ONSITE"}'
    with Wire(box) as wire:
        wire.send(head("GET", "/healthz", "X-Request-Id: one")
                  + head("POST", "/v1/orders", bearer, "Idempotency-Key: pipelined", "X-Request-Id: two",
                         f"Content-Length: {len(body)}") + body
                  + head("HEAD", "/healthz", "X-Request-Id: three")
                  + head("POST", "/v1/orders", bearer, "Idempotency-Key: pipelined", "X-Request-Id: four",
                         "Transfer-Encoding: chunked") + chunked(body[:7], body[7:])
                  + head("GET", "/nothing", "X-Request-Id: five"))
        answers = [wire.answer(), wire.answer(), wire.answer(has_body=False), wire.answer(), wire.answer()]
        assert [a.status for a in answers] == [200, 201, 200, 201, 404]
        assert [a.headers["x-request-id"] for a in answers] == ["one", "two", "three", "four", "five"]
        assert answers[1].body == answers[3].body
        assert wire.is_open()


def test_requests_in_records_of_their_own_that_arrive_together_are_answered(box):
    names = [f"r{n}" for n in range(40)]
    with Wire(box) as wire:
        wire.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
        wire.send(*[get(f"X-Request-Id: {name}") for name in names])
        wire.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)
        assert [wire.answer().headers["x-request-id"] for _ in names] == names
        assert wire.is_open()


def test_a_request_that_arrives_byte_by_byte_is_served(box):
    with Wire(box) as wire:
        wire.send(*[bytes([byte]) for byte in get()])
        assert wire.answer().status == 200
        assert wire.is_open()


@pytest.mark.parametrize("fields", [["Connection: close"], ["Connection: Close"], ["Connection: x, close"]])
def test_a_client_that_wants_to_close_is_obeyed(box, fields):
    with Wire(box) as wire:
        answer = wire.send(get(*fields)).answer()
        assert answer.status == 200 and answer.headers["connection"] == "close"
        assert wire.is_closed()


def test_http_1_0_gets_one_answer_a_connection(box):
    with Wire(box) as wire:
        assert wire.send(b"GET /healthz HTTP/1.0\r\n\r\n").answer().headers["connection"] == "close"
        assert wire.is_closed()


@pytest.mark.parametrize("request_head", [
    get("Connection: keep-alive"), head("GET", "/nothing"), head("DELETE", "/healthz"), head("GET", "/v1/orders"),
    head("OPTIONS", "/v1/orders")])
def test_a_refusal_above_the_framing_keeps_the_connection(box, request_head):
    with Wire(box) as wire:
        wire.send(request_head).answer()
        assert wire.is_open()


@pytest.mark.parametrize("path", ["/healthz", "/v1/orders", "/nothing"])
def test_head_is_get_without_the_body(box, key, path):
    bearer = f"Authorization: Bearer {key}"
    with Wire(box) as wire:
        got = wire.send(head("GET", path, bearer)).answer()
        asked = wire.send(head("HEAD", path, bearer)).answer(has_body=False)
        assert asked.status == got.status
        for name in ("content-type", "content-length", "cache-control"):
            assert asked.headers[name] == got.headers[name] or path == "/nothing"
        assert asked.headers.get("etag") == got.headers.get("etag")
        assert wire.is_open()


# Bodies


def place(key, *fields, name):
    return head("POST", "/v1/orders", f"Authorization: Bearer {key}", f"Idempotency-Key: {name}", *fields)


def test_a_chunked_body_is_read_with_extensions_and_trailers(box, key):
    body = b'19;a=b\r\n{"service_type":"ONSITE"}\r\n0\r\nX-Checksum: none\r\n\r\n'
    with Wire(box) as wire:
        answer = wire.send(place(key, "Transfer-Encoding: chunked", name="chunk-extension"), body).answer()
        assert answer.status == 201, answer.body


FRAMING_MAX = 16 * 1024
ORDER = b'{"service_type":"ONSITE"}'
# The bytes of chunk extensions and trailers that are counted, in bodies of one chunk or of many.
FRAMINGS = {
    "an extension": lambda size: b"19;" + b"a" * size + b"\r\n" + ORDER + b"\r\n0\r\n\r\n",
    "an extension of the last chunk": lambda size: b"19\r\n" + ORDER + b"\r\n0;" + b"a" * size + b"\r\n\r\n",
    "a trailer": lambda size: b"19\r\n" + ORDER + b"\r\n0\r\nX: " + b"a" * size + b"\r\n\r\n",
    "many trailers": lambda size: b"19\r\n" + ORDER + b"\r\n0\r\n" + b"X: y\r\n" * (size // 6) + b"\r\n",
    "many extensions": lambda size: b"".join(b"1;" + b"a" * (size // 25) + b"\r\n" + bytes([byte]) + b"\r\n"
                                             for byte in ORDER) + b"0\r\n\r\n",
    "both": lambda size: b"19;" + b"a" * (size // 2) + b"\r\n" + ORDER + b"\r\n0\r\nX: " + b"a" * (size // 2)
                         + b"\r\n\r\n",
}


@pytest.mark.parametrize("framing", FRAMINGS)
def test_extensions_and_trailers_have_16_kib_together(box, key, framing):
    with Wire(box) as wire:
        body = FRAMINGS[framing](FRAMING_MAX - 50)
        answer = wire.send(place(key, "Transfer-Encoding: chunked", name=f"{framing}-fits".replace(" ", "-")), body).answer()
        assert answer.status == 201, answer.body
        for size in (FRAMING_MAX + 100, 20 * FRAMING_MAX):
            with Wire(box) as other:
                body = FRAMINGS[framing](size)
                other.send(place(key, "Transfer-Encoding: chunked", name=f"{framing}-{size}".replace(" ", "-")), body)
                refused(other.answer(), 413, "payload_too_large", says="16384")
                assert other.is_closed()
        assert wire.is_open()


@pytest.mark.parametrize("begin", [b"", b"1\r\n{\r\n", chunked(b" " * 1000, b" " * 1000)[:-5]])
def test_a_chunk_that_declares_more_than_the_route_takes_is_refused_before_it_is_sent(box, key, begin):
    for size in (b"100001", b"fffffff", b"3fffffffffffffff"):
        with Wire(box) as wire:
            wire.send(place(key, "Transfer-Encoding: chunked", name="declared"), begin, size + b"\r\n")
            refused(wire.answer(), 413, "payload_too_large", says="1048576")
            assert wire.is_closed()


def test_a_length_above_the_routes_limit_is_refused_before_it_is_sent(box, key):
    with Wire(box) as wire:
        wire.send(place(key, f"Content-Length: {1024 * 1024 + 1}", "Expect: 100-continue", name="declared"))
        refused(wire.answer(), 413, "payload_too_large", says="1048576")
        assert wire.is_closed()


@pytest.mark.parametrize("path, allowed", [("/healthz", "GET, HEAD, OPTIONS"), ("/v1/orders", "GET, HEAD, POST, OPTIONS")])
@pytest.mark.parametrize("before", [b"", b"\r\n"])
def test_trace_is_known_and_not_allowed(box, path, allowed, before):
    with Wire(box) as wire:
        answer = wire.send(before + lines(f"TRACE {path} HTTP/1.1", "Host: localhost", "X-Secret: not to be echoed")).answer()
        refused(answer, 405, "method_not_allowed")
        assert answer.headers["allow"] == allowed
        assert b"echoed" not in answer.body
        assert wire.is_open()
        refused(wire.send(lines("TRACE /nothing HTTP/1.1", "Host: localhost")).answer(), 404, "not_found")


@pytest.mark.parametrize("body", [
    b"zz\r\n{}\r\n0\r\n\r\n", b"\r\n{}\r\n0\r\n\r\n", b"-2\r\n{}\r\n0\r\n\r\n",
    b"2\r\n{}XX0\r\n\r\n", b"0x2\r\n{}\r\n0\r\n\r\n", b"+2\r\n{}\r\n0\r\n\r\n",
    b"ffffffffffffffffffffff\r\n{}\r\n0\r\n\r\n", b"2\n{}\n0\n\n", b"2 \r\n{}\r\n0\r\n\r\n",
    # A CR or LF alone, which one reader takes for the end of the line and the next one does not.
    b"2\r2\r\n{}\r\n0\r\n\r\n", b"2\r\r\n{}\r\n0\r\n\r\n", b"2;a\n{}\r\n0\r\n\r\n", b"2;\n\r\n{}\r\n0\r\n\r\n",
    b"2;a\r;\n{}\r\n0\r\n\r\n", b"2\r;\n{}\r\n0\r\n\r\n",
    b"2;a\0b\r\n{}\r\n0\r\n\r\n", b"2\r\n{}\n0\r\n\r\n", b"2\r\n{}\r0\r\n\r\n", b"2\r\n{}\r\n0\n\n",
    b"2\r\n{}\r\n0\r\n\n\r\n", b"2\r\n{}\r\n0\r\nX: y\nZ: w\r\n\r\n", b"2\r\n{}\r\n0\r\nX: \0\r\n\r\n",
    b"2\r\n{}\r\n0\r\nX: y\rZ: w\r\n\r\n",
    # Sizes that do not fit.
    b"8000000000000000\r\n{}\r\n0\r\n\r\n", b"fffffffffffffffe\r\n{}\r\n0\r\n\r\n",
    b"1" + b"0" * 70 + b"\r\n{}\r\n0\r\n\r\n"])
def test_malformed_chunks_are_refused_and_the_connection_is_closed(box, key, body):
    with Wire(box) as wire:
        answer = wire.send(place(key, "Transfer-Encoding: chunked", name="bad-chunks"), body).answer()
        refused(answer, 400, "invalid_header")
        assert answer.headers["connection"] == "close"
        assert wire.is_closed()


def test_a_client_that_leaves_in_its_body_has_no_effect(box, key, api):
    with Wire(box) as wire:
        wire.send(place(key, "Content-Length: 100", name="left-early"), b'{"service_type":"ONSITE"')
    assert api.get("/v1/orders?filter[reference]=left-early").data == []


def test_the_body_of_a_get_is_ignored(box):
    with Wire(box) as wire:
        assert wire.send(get("Content-Length: 5"), b"hello").answer().status == 200
        assert wire.is_open()
        assert wire.send(get("Transfer-Encoding: chunked"), chunked(b"hello")).answer().status == 200


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"])
def test_any_method_may_carry_a_body_which_is_never_taken_for_a_request(box, key, method):
    behind = head("GET", "/readyz")
    with Wire(box) as wire:
        wire.send(head(method, "/v1/orders", f"Authorization: Bearer {key}", f"Content-Length: {len(behind)}") + behind)
        assert wire.answer(has_body=method != "HEAD").status in (200, 204, 405)
        assert wire.is_open()


def test_a_post_without_a_length_is_asked_for_it_and_takes_no_other_request_for_its_body(box, key):
    with Wire(box) as wire:
        # Without one there is no body: what follows is the next request (RFC 9112 section 6.3).
        refused(wire.send(place(key, name="no-length")).answer(), 411, "length_required")
        assert wire.is_open()


def test_a_form_is_not_read(box, key):
    body = b'--x\r\nContent-Disposition: form-data; name="a"; filename="b"\r\n\r\nc\r\n--x--\r\n'
    with Wire(box) as wire:
        wire.send(place(key, "Content-Type: multipart/form-data; boundary=x", f"Content-Length: {len(body)}", name="form"),
                  body)
        refused(wire.answer(), 415, "unsupported_media_type")
        assert wire.is_open()


def test_an_unread_body_of_up_to_64_kib_keeps_the_connection(box):
    size = 64 * 1024
    with Wire(box) as wire:
        answer = wire.send(head("POST", "/v1/orders", f"Content-Length: {size}"), b"x" * size).answer()
        refused(answer, 401, "unauthorized")
        assert wire.is_open()


def test_an_unread_body_above_64_kib_closes_the_connection_and_the_answer_arrives(box):
    size = 4 * 1024 * 1024
    with Wire(box) as wire:
        answer = wire.send(head("POST", "/v1/orders", f"Content-Length: {size}"), b"x" * size).answer()
        refused(answer, 401, "unauthorized")
        assert answer.headers["connection"] == "close"
        assert wire.is_closed()


@pytest.mark.parametrize("chunks", [False, True])
def test_a_body_above_one_mebibyte_is_refused_and_the_answer_reaches_a_client_that_is_still_sending(
        box, key, chunks):
    size = 1024 * 1024 + 1
    field = "Transfer-Encoding: chunked" if chunks else f"Content-Length: {size}"
    body = chunked(b" " * size) if chunks else b" " * size
    with Wire(box) as wire:
        answer = wire.send(place(key, field, name="too-large"), body).answer()
        refused(answer, 413, "payload_too_large", says="1048576")
        assert answer.headers["connection"] == "close"
        assert wire.is_closed()


@pytest.mark.parametrize("chunks", [False, True])
def test_a_body_of_exactly_one_mebibyte_is_read(box, key, chunks):
    body = b'{"service_type":"ONSITE"}'.ljust(1024 * 1024)
    field = "Transfer-Encoding: chunked" if chunks else f"Content-Length: {len(body)}"
    with Wire(box) as wire:
        answer = wire.send(place(key, field, name=f"just-fits-{chunks}"),
                           chunked(body[:1000], body[1000:]) if chunks else body).answer()
        assert answer.status == 201, answer.body
        assert wire.is_open()


def test_a_length_beyond_all_measure_is_refused_before_a_byte_is_read(box, key):
    with Wire(box) as wire:
        refused(wire.send(place(key, "Content-Length: 999999999999999999", name="huge")).answer(),
                413, "payload_too_large")
        assert wire.is_closed()


def test_expect_100_continue_is_answered_before_the_body_is_sent(box, key):
    body = b'{"service_type":"ONSITE"}'
    with Wire(box) as wire:
        wire.send(place(key, f"Content-Length: {len(body)}", "Expect: 100-continue", name="patient"))
        assert wire.interim() == 100
        answer = wire.send(body).answer()
        assert answer.status == 201, answer.body
        assert wire.is_open()


@pytest.mark.parametrize("fields, status", [
    ([], 401), (["Content-Type: text/plain"], 415), (["Content-Length: 2000000"], 413)])
def test_expect_100_continue_of_a_request_that_is_refused_saves_the_body(box, key, fields, status):
    if status != 401:
        fields = [f"Authorization: Bearer {key}", *fields]
    if status != 413:
        fields = [*fields, "Content-Length: 2"]
    with Wire(box) as wire:
        wire.send(head("POST", "/v1/orders", "Idempotency-Key: x", "Expect: 100-continue", *fields))
        answer = wire.answer()
        assert answer.status == status
        assert answer.headers["connection"] == "close"
        assert wire.is_closed()


def test_a_head_that_stays_unfinished_gets_408(box):
    with Wire(box) as wire:
        answer = wire.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n").answer()
        refused(answer, 408, "request_timeout")
        assert wire.is_closed()


# Anything


@pytest.mark.parametrize("seed", range(8))
def test_a_request_with_bytes_changed_at_random_is_served_or_refused_but_never_fails(box, key, seed):
    dice = random.Random(seed)
    sound = head("POST", "/v1/orders?page=1", "Idempotency-Key: fuzz", "Content-Type: application/json",
                 "Accept: */*", "Content-Length: 2")[:-4]
    # The key stays as it is: unknown ones are limited by address.
    rest = f"\r\nX-API-Key: {key}\r\n\r\n".encode()
    for round_ in range(40):
        sent = bytearray(sound)
        for _ in range(dice.randint(1, 4)):
            at = dice.randrange(len(sent))
            change = dice.randrange(3)
            if change == 0:
                sent[at] = dice.randrange(256)
            elif change == 1:
                del sent[at]
            else:
                sent.insert(at, dice.choice(b"\0\r\n\t :;,%/?#+-\x7f\xff09"))
        # A body in any case: a changed length must not leave the server waiting for long.
        answer = ask(box, bytes(sent) + rest + b"{}".ljust(1000))
        assert answer.status != 500 and answer.status != 503, (seed, round_, bytes(sent))
        if answer.status >= 400:
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.json["status"] == answer.status
