"""Bytes that no client library sends: heads, lengths, chunks, hosts, paths and connections."""

from golden.walks.common import demo
from support.raw import chunked, head


def lines(*texts):
    return "\r\n".join([*texts, "", ""]).encode("latin-1")


def get(*fields):
    return lines("GET /healthz HTTP/1.1", "Host: localhost", *fields)


def post(*fields, body=b"{}"):
    return lines("POST /v1/orders HTTP/1.1", "Host: localhost", *fields) + body


HEADS = {
    "no host": lines("GET /healthz HTTP/1.1"),
    "two hosts": get("Host: localhost"),
    "an empty host": lines("GET /healthz HTTP/1.1", "Host:"),
    "a host with a path": lines("GET /healthz HTTP/1.1", "Host: localhost/x"),
    "a host with a bad port": lines("GET /healthz HTTP/1.1", "Host: localhost:https"),
    "an unfinished IPv6 host": lines("GET /healthz HTTP/1.1", "Host: [::1"),
    "bare LF": b"GET /healthz HTTP/1.1\nHost: localhost\n\n",
    "bare CR": b"GET /healthz HTTP/1.1\r\nHost: localhost\rX: y\r\n\r\n",
    "a folded field": get("X: one", " two"),
    "a blank before the first field": lines("GET /healthz HTTP/1.1", " Host: localhost"),
    "a blank before the colon": lines("GET /healthz HTTP/1.1", "Host : localhost"),
    "a field without a colon": get("X"),
    "a field without a name": get(": x"),
    "a control byte in a field": get("X: a\x01b"),
    "a control byte in the target": lines("GET /health\x0bz HTTP/1.1", "Host: localhost"),
    "a byte in the target that is no UTF-8": lines("GET /\xff HTTP/1.1", "Host: localhost"),
    "a fragment": lines("GET /healthz#x HTTP/1.1", "Host: localhost"),
    "a target without a slash": lines("GET healthz HTTP/1.1", "Host: localhost"),
    "an asterisk without OPTIONS": lines("GET * HTTP/1.1", "Host: localhost"),
    "two blanks in the request line": lines("GET  /healthz HTTP/1.1", "Host: localhost"),
    "no version": lines("GET /healthz", "Host: localhost"),
    "no target": lines("GET HTTP/1.1", "Host: localhost"),
    "garbage": b"GARBAGE\r\n\r\n",
    "another protocol": lines("GET /healthz ICY/1.1", "Host: localhost"),
    "HTTP/9.9": lines("GET /healthz HTTP/9.9", "Host: localhost"),
    "the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "length and coding": post("Content-Length: 2", "Transfer-Encoding: chunked", body=chunked(b"{}")),
    "two lengths": post("Content-Length: 2", "Content-Length: 3"),
    "a list of lengths": post("Content-Length: 2, 2"),
    "a negative length": post("Content-Length: -1"),
    "an empty length": post("Content-Length:"),
    "a length of 23 digits": post("Content-Length: 10000000000000000000002"),
    "a length beyond all measure": post("Content-Length: 999999999999999999"),
    "two codings": post("Transfer-Encoding: chunked", "Transfer-Encoding: chunked", body=b""),
    "chunked in HTTP/1.0": lines("POST /v1/orders HTTP/1.0", "Host: localhost", "Transfer-Encoding: chunked"),
    "gzip, chunked": post("Transfer-Encoding: gzip, chunked", body=b""),
    "an unknown method": lines("QUERY /healthz HTTP/1.1", "Host: localhost"),
    "a method in small letters": lines("get /healthz HTTP/1.1", "Host: localhost"),
    "CONNECT": lines("CONNECT localhost:443 HTTP/1.1", "Host: localhost"),
    "another expectation": post("Content-Length: 2", "Expect: 200-ok", body=b""),
    "65 fields": get(*[f"X-{n}: y" for n in range(64)]),
    "a block above 16 KiB": get("X: " + "y" * 16 * 1024),
    "a line above 8 KiB": lines("GET /" + "x" * 8192 + " HTTP/1.1", "Host: localhost"),
    "a line that never ends": b"GET /" + b"x" * 40 * 8192,
    "a foreign host": lines("GET /healthz HTTP/1.1", "Host: evil.example"),
    "a foreign address": lines("GET /healthz HTTP/1.1", "Host: 203.0.113.9:8443"),
    "a foreign host in an absolute target": lines("GET https://evil.example/healthz HTTP/1.1", "Host: localhost"),
}
SERVED = {
    "an empty line before the request": b"\r\n" + get("Connection: close"),
    "HTTP/1.0 without a host": b"GET /healthz HTTP/1.0\r\n\r\n",
    "a host with a port": lines("GET /healthz HTTP/1.1", "Host: localhost:8443"),
    "a host with the root's dot": lines("GET /healthz HTTP/1.1", "Host: LOCALHOST."),
    "an IPv6 address as host": lines("GET /healthz HTTP/1.1", "Host: [::1]:8443"),
    "a tab before the value": lines("GET /healthz HTTP/1.1", "Host:\tlocalhost\t"),
    "a field with UTF-8": get("X: ceviche \xc3\xb1"),
    "the absolute form": lines("GET https://localhost/healthz HTTP/1.1", "Host: localhost"),
    "64 fields": get(*[f"X-{n}: y" for n in range(63)]),
    "an escaped letter in the path": lines("GET /%68ealthz HTTP/1.1", "Host: localhost"),
    "Connection: close among others": get("Connection: x, close"),
    "Connection: keep-alive": get("Connection: keep-alive"),
    "a body of a GET": get("Content-Length: 5") + b"hello",
    "TRACE": lines("TRACE /v1/orders HTTP/1.1", "Host: localhost"),
    "TRACE of nothing": lines("TRACE /nothing HTTP/1.1", "Host: localhost"),
}
PATHS = ["/v1%2Forders", "/v1//orders", "//healthz", "/v1/../healthz", "/v1/%2e%2e/healthz", "/v1\\orders", "/HEALTHZ",
         "/problems/not%00found", "/problems/%ff", "/problems/%4", "/problems/%zz", "/health%20z", "/docs/",
         "/healthz;x=y", "/healthz%3Fx", "/problems/%c0%af", "/problems/x%0d%0aSet-Cookie:%20a=b", "/x" * 100]
CHUNKS = {
    "letters for a size": b"zz\r\n{}\r\n0\r\n\r\n", "no size": b"\r\n{}\r\n0\r\n\r\n",
        "more than its size": b"2\r\n{}XX0\r\n\r\n",
    "a size of 22 digits": b"ffffffffffffffffffffff\r\n{}\r\n0\r\n\r\n", "line ends of LF": b"2\n{}\n0\n\n",
    "a NUL in an extension": b"2;a\0b\r\n{}\r\n0\r\n\r\n", "a bad trailer": b"2\r\n{}\r\n0\r\nX: y\nZ: w\r\n\r\n",
    "a size above the limit": b"100001\r\n", "a long extension": b"2;" + b"a" * 17_000 + b"\r\n{}\r\n0\r\n\r\n"}
QUERIES = ["page=0", "page=x", "page=1&page=2", "page", "per_page=101", "per_page=-1", "limit=3", "filter[paid]=maybe",
    "sort=",
           "sort=nothing", "page=%31", "page=1%00", "page=%zz", "&&", "filter%5Bpaid%5D=true",
               "page=99999999999999999999"]


def walk(r):
    demo(r)
    slow = r.connect(r.box.port)  # for ten seconds
    slow.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n")
    bearer = f"Authorization: Bearer {r.clients['owner'][0]}"
    for title, sent in HEADS.items():
        # What follows could be somebody else's request: it is not answered.
        r.raw(title, sent, head("GET", "/readyz"))
    for title, sent in SERVED.items():
        r.raw(title, sent)
    for path in PATHS:
        r.ask(f"path {path[:60]}", "GET", path, who="nobody")
    for query in QUERIES:
        r.ask(f"query {query}", "GET", "/v1/orders?" + query)
    bodies(r, bearer)
    r.rest("a head that stays unfinished", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n", slow)


def bodies(r, bearer):
    def place(*fields, name):
        return head("POST", "/v1/orders", bearer, f"Idempotency-Key: {name}", *fields)

    order = b'{"service_type":"ONSITE"}'
    r.raw("a chunked body with extensions and trailers", place("Transfer-Encoding: chunked", name="chunked"),
          b"19;a=b\r\n" + order + b"\r\n0\r\nX-Checksum: none\r\n\r\n")
    for title, sent in CHUNKS.items():
        r.raw(f"chunks: {title}", place("Transfer-Encoding: chunked", name="bad-chunks"), sent)
    r.raw("no length", place(name="no-length"))
    r.raw("a body above the limit", place("Content-Length: 1048577", name="large"), b" " * 1_048_577)
    r.raw("a body above what is read for nothing", head("POST", "/v1/orders", "Content-Length: 100000"), b"x" * 100_000)
    r.raw("a form", place("Content-Type: multipart/form-data; boundary=x", "Content-Length: 5", name="form"), b"--x--")
    for title, fields in [("without a key", []), ("of text", [bearer, "Content-Type: text/plain"])]:
        r.raw(f"100-continue of a body {title}", head("POST", "/v1/orders", "Idempotency-Key: x",
            "Expect: 100-continue",
                                                      "Content-Length: 2", *fields))
    wire = r.connect(r.box.port)
    wire.send(place(f"Content-Length: {len(order)}", "Expect: 100-continue", name="patient"))
    interim = wire.reader.readline() + wire.reader.readline()
    assert interim == b"HTTP/1.1 100 Continue\r\n\r\n", interim
    wire.send(order)
    r.rest("100-continue", order, wire)
    r.raw("five requests in one piece",
          get("X-Request-Id: one") + head("GET", "/nothing", "X-Request-Id: two")
          + place(f"Content-Length: {len(order)}", "X-Request-Id: three", name="pipelined") + order
          + place("Transfer-Encoding: chunked", "X-Request-Id: four", name="pipelined") + chunked(order[:7], order[7:])
          + get("Connection: close"), answers=5)
    for field in ["Content-Type: application/json; charset=utf-8", "Content-Type: application/json; charset=latin-1",
                  "Content-Type: application/vnd.api+json", "Content-Type:"]:
        r.ask(f"a body of {field}", "POST", "/v1/orders", order, field)
    for accept in ["*/*", "application/*", "application/json;q=0", "text/html, */*;q=0.1", "application/xml",
        "nonsense"]:
        r.ask(f"Accept: {accept}", "GET", "/v1/company/payment-methods?per_page=1", None, f"Accept: {accept}")
