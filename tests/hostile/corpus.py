"""Bad requests, each with the answers that it may get and a neighbour that is right.

Everything follows from src/web/openapi.json, from the grammar of RFC 9112, 3986 and 8259, and from a seed: two
runs send the same. First comes what can be listed (every field with every wrong type, every byte where a name of a
header may not have it), then what dice make of it, until there are enough."""

import copy
import dataclasses
import itertools
import json
import os
import random
import urllib.parse
import zlib

from support.openapi import OPERATIONS, resolve
from support.raw import chunked
from support.routes import METHODS, SOME_ID

SEED = int(os.environ.get("COMANDA_SEED", 20261120))

# The classes of answers: {(status, code)}.
HEADER = {(400, "invalid_header")}
JSON = {(400, "invalid_json")}
PARAMETER = {(400, "invalid_parameter")}
FIELDS = {(422, "validation_failed")}
UNKNOWN = {(404, "not_found")}
NOT_ALLOWED = {(405, "method_not_allowed")}
NO_METHOD = {(501, "not_implemented")}
VERSION = {(505, "version_not_supported")}
LONG_LINE = {(414, "uri_too_long")}
LARGE_HEAD = {(431, "headers_too_large")}
NOBODY = {(401, "unauthorized")}
# After twenty unknown keys from one address.
STRANGER = NOBODY | {(429, "rate_limit_exceeded")}
# What a path may turn into when it is cut elsewhere: unknown, another route's, or a malformed id.
NOWHERE = UNKNOWN | NOT_ALLOWED | FIELDS | PARAMETER

TOKEN = set(b"!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
CONTROLS = [b for b in [*range(32), 127] if b not in b"\t\r\n"]
EVERY_BYTE = range(256)


@dataclasses.dataclass(frozen=True)
class Message:
    """A request that is right. {name} in the path stands for an id of the stage."""

    operation: object
    body: bytes = None
    query: str = ""
    headers: tuple = ()

    @property
    def method(self):
        return self.operation.method.upper()

    def path(self, ids):
        path = self.operation.path
        for name, value in ids[self.operation.id].items():
            path = path.replace("{" + name + "}", value)
        return path

    def bytes(self, ids, key, path=None, method=None, headers=None, credentials=None):
        """As it stands on the wire, or with one part replaced."""
        method = method or self.method
        target = (path or self.path(ids)) + ("?" + self.query if self.query else "")
        fields = list(self.headers if headers is None else headers)
        if credentials is None and self.operation.security:
            credentials = [f"Authorization: Bearer {key}"]
        fields += credentials or []
        if self.body is not None or method in ("POST", "PUT", "PATCH"):
            fields.append(f"Content-Length: {len(self.body or b'')}")
        head = "\r\n".join([f"{method} {target} HTTP/1.1", "Host: localhost", *fields, "", ""])
        return head.encode("utf-8", "surrogateescape") + (self.body or b"")


@dataclasses.dataclass(frozen=True)
class Case:
    kind: str
    sent: bytes
    expected: frozenset
    closes: bool = False  # the connection, after the answer
    base: Message = None  # its neighbour
    field: str = None  # that errors[] must name


class World:
    """What the requests need to know: ids that are there, and keys."""

    def __init__(self, ids, key, other_keys, scope_keys):
        self.ids, self.key, self.other_keys, self.scope_keys = ids, key, other_keys, scope_keys


# Neighbours


def text_of(body):
    return json.dumps(body, ensure_ascii=False).encode()


def write_headers(operation):
    return ("Content-Type: application/json", "Idempotency-Key: {fresh}") if operation.method != "get" else ()


def with_names_of_its_own(value, operation):
    """A copy whose skus and, where they must differ, names nobody has yet."""
    numbers = itertools.count()

    def copied(value, key=None):
        if isinstance(value, dict):
            return {k: copied(v, k) for k, v in value.items()}
        if isinstance(value, list):
            return [copied(v) for v in value]
        is_own = key == "sku" or (key == "name" and operation.id == "createVariant")
        return f"{{fresh}}-{next(numbers)}" if is_own and isinstance(value, str) else value

    return copied(value)


def as_sent(operation, body):
    return with_names_of_its_own(body, operation) if operation.id in ("createProduct", "createVariant") else body


def message(operation, body=None, query=""):
    body = as_sent(operation, body)
    return Message(operation, None if body is None else text_of(body), query, write_headers(operation))


OPEN = [o for o in OPERATIONS if o.path != "/sandbox/reset" and o.path != "/metrics"]
KEYED = [o for o in OPEN if o.security]
READING = [o for o in KEYED if o.method == "get"]
WITH_BODY = [o for o in KEYED if "requestBody" in o.row]
WITH_ID = [o for o in KEYED if "{" in o.path]
BY_ID = {o.id: o for o in OPEN}


def plain(operation):
    """The operation's first example."""
    return message(operation, operation.examples()[0][1])


# RFC 9112: request line, fields, length

HEALTH = ["GET /healthz HTTP/1.1", "Host: localhost", "Accept: */*", "X-Test: one two"]


def lines(*texts):
    return "\r\n".join([*texts, "", ""]).encode("latin-1")


def with_byte(text, byte):
    """The text with a byte in front, in the middle and behind."""
    for at in sorted({0, len(text) // 2, len(text)}):
        yield text[:at] + chr(byte) + text[at:]


def request_lines(world):
    def case(kind, line, expected):
        return Case(f"line/{kind}", lines(line, *HEALTH[1:]), expected, closes=True)

    for byte in EVERY_BYTE:
        if byte not in TOKEN and byte not in b"\r\n":
            for method in with_byte("GET", byte):
                yield case(f"method with {byte:#x}", f"{method} /healthz HTTP/1.1", HEADER)
        if byte in CONTROLS or byte in b"\t #" or byte >= 0x80:
            for path in with_byte("healthz", byte):
                yield case(f"target with {byte:#x}", f"GET /{path} HTTP/1.1", HEADER)
        if byte not in b"\r\n":
            for version in with_byte("HTTP/1.1", byte):
                yield case(f"version with {byte:#x}", f"GET /healthz {version}", HEADER | VERSION)
    for major, minor in itertools.product(range(10), range(10)):
        if major != 1 or minor > 1:
            yield case("version", f"GET /healthz HTTP/{major}.{minor}", VERSION)
    for method in ["get", "Get", "Trace", "CONNECT", "QUERY", "PROPFIND", "MKCOL", "LOCK", "PURGE", "BREW", "LINK", "M-SEARCH",
                   "G", "GETT", "POSTGET", "X" * 100, "!", "*", "0"]:
        yield case("method", f"{method} /healthz HTTP/1.1", NO_METHOD)
    for line in ["GET", "GET ", "GET /healthz", " GET /healthz HTTP/1.1", "GET  /healthz HTTP/1.1", "GET /healthz  HTTP/1.1",
                 "GET /healthz HTTP/1.1 ", "GET HTTP/1.1", "/healthz HTTP/1.1", "GET /a b HTTP/1.1", "GET healthz HTTP/1.1",
                 "GET localhost:443 HTTP/1.1", "GET * HTTP/1.1", "GET ftp://localhost/healthz HTTP/1.1",
                 "GET https:/healthz HTTP/1.1", "GET https:// HTTP/1.1", "GET https://:443/healthz HTTP/1.1",
                 "GET https://me@localhost/healthz HTTP/1.1", "GET https://local host/healthz HTTP/1.1",
                 "GET https://localhost:x/healthz HTTP/1.1", "GET \\healthz HTTP/1.1", "GET ?x HTTP/1.1",
                 "HTTP/1.1 200 OK", "{\"service_type\":\"ONSITE\"}", "\x16\x03\x01\x02", "GET /healthz HTTP/1.1HTTP/1.1"]:
        yield case("shape", line, HEADER)
    for size in [8193, 8200, 9000, 12_000, 16_384, 24_000, 65_536, 300_000]:
        yield case("size", f"GET /{'x' * (size - len('GET / HTTP/1.1'))} HTTP/1.1", LONG_LINE)
        yield case("size", f"GET /healthz?{'&' * (size - len('GET /healthz? HTTP/1.1'))} HTTP/1.1", LONG_LINE)


def line_ends(world):
    """One line end of a sound head replaced."""
    sound = [*HEALTH, ""]
    for at, end in itertools.product(range(len(sound) - 1), ["\n", "\r", "\r\r\n", "\n\r", "\r\n \r\n", "\0\r\n", "\x0b\r\n", "\x85"]):
        ends = ["\r\n"] * len(sound)
        ends[at] = end
        sent = "".join(itertools.chain(*zip(sound, ends))).encode("latin-1")
        if b"\r\n\r\n" not in sent and b"\n\n" not in sent:
            sent += b"\r\n\r\n"
        if end == "\x85" and at > 0:
            continue  # a byte of a value
        yield Case("line end", sent, HEADER, closes=True)


def fields(world):
    def case(kind, expected, *extra):
        return Case(f"field/{kind}", lines(*HEALTH, *extra), expected, closes=True)

    for byte in EVERY_BYTE:
        if byte in b"\r\n:":
            continue
        if byte not in TOKEN:
            for name in with_byte("X-Name", byte):
                yield case(f"name with {byte:#x}", HEADER, f"{name}: value")
        if byte in CONTROLS:
            for value in with_byte("value", byte):
                yield case(f"value with {byte:#x}", HEADER, f"X-Name: {value}")
    for name in ["", " ", "\t", "X Y", "X-Name ", "X-Name\t"]:
        yield case("name", HEADER, f"{name}: value")
    for line in ["X-Name", "X-Name value", "=", "\"X\": y", "(X): y", "GET / HTTP/1.1"]:
        yield case("shape", HEADER, line)
    for at, blank in itertools.product(range(1, len(HEALTH) + 1), [" ", "\t", "  ", " \t ", " X: y"]):
        folded = [*HEALTH[:at], blank + "z", *HEALTH[at:]]
        yield Case("field/folded", lines(*folded), HEADER, closes=True)
    for count in [65, 66, 70, 100, 200, 500, 1000]:
        yield case("count", LARGE_HEAD, *[f"X-{n}: y" for n in range(count - 3)])
    for size in [16_385, 17_000, 20_000, 24_000, 65_536, 200_000]:
        yield case("size", LARGE_HEAD, "X: " + "y" * size)
        yield case("size", LARGE_HEAD, *["X: " + "y" * 400] * (size // 400 + 2))


def hosts(world):
    def case(kind, expected, *hosts):
        return Case(f"host/{kind}", lines("GET /healthz HTTP/1.1", *[f"Host: {h}" for h in hosts]), expected, closes=True)

    yield case("none", HEADER)
    for pair in itertools.product(["localhost", "127.0.0.1", "evil.example", ""], repeat=2):
        yield case("two", HEADER, *pair)
    for byte in EVERY_BYTE:
        if byte in b"\r\n.-_:[" or chr(byte).isalnum() and byte < 0x80:
            continue
        for host in with_byte("localhost", byte):
            if host.strip(" \t") != "localhost":
                yield case(f"with {byte:#x}", HEADER, host)
    for host in ["", ":", ":443", "localhost:", "a:b:c", "localhost:x", "localhost:123456", "localhost:-1", "[", "[]", "[::1",
                 "[::1]x", "[::1]:x", "[localhost]", "localhost/healthz", "http://localhost", "localhost,localhost",
                 "localhost, evil.example", "*", "me@localhost"]:
        if host != "localhost:":
            yield case("shape", HEADER, host)
    for host in ["evil.example", "localhost.evil.example", "203.0.113.9", "[2001:db8::1]", "xn--localhost", "0", "a" * 300]:
        yield case("foreign", {(421, "misdirected_request")}, host)
        yield Case("host/foreign", lines(f"GET https://{host}/healthz HTTP/1.1", "Host: localhost"),
                   {(421, "misdirected_request")}, closes=True)


def lengths(world):
    """What the body's length is said to be. What stands behind could be somebody else's request."""
    def case(kind, expected, *extra, body=b"{}"):
        head = lines("POST /v1/orders HTTP/1.1", "Host: localhost", f"Authorization: Bearer {world.key}", "Idempotency-Key: h",
                     *extra)
        return Case(f"length/{kind}", head + body + lines(*HEALTH), expected, closes=True)

    for byte in EVERY_BYTE:
        if byte in b"0123456789\r\n":
            continue
        for value in with_byte("22", byte):
            if value.strip(" \t") != "22":
                yield case(f"with {byte:#x}", HEADER, f"Content-Length: {value}")
        for value in with_byte("chunked", byte):
            if value.strip(" \t") != "chunked":
                yield case(f"coding with {byte:#x}", HEADER | NO_METHOD, f"Transfer-Encoding: {value}", body=chunked(b"{}"))
    for value in ["", "-1", "-0", "+2", "2.0", "2e0", "0x2", "2,2", "2, 2", "2;2", "two", "２", "1" * 19, "9" * 40, "2 2", "NaN"]:
        yield case("shape", HEADER, "Content-Length: " + value.encode().decode("latin-1"))
    for value in [8 * 1024 * 1024 + 1, 10 ** 9, 2 ** 31, 2 ** 32 + 2, 2 ** 53, 10 ** 18 - 1]:
        yield case("size", {(413, "payload_too_large")}, f"Content-Length: {value}", body=b"")
    for first, second in itertools.product(["2", "3", "0", "02"], repeat=2):
        yield case("two", HEADER, f"Content-Length: {first}", f"content-length: {second}")
    for coding in ["chunked", "Chunked", "identity", "gzip", "gzip, chunked", "chunked, chunked", ""]:
        for length in ["0", "2", "5", "1000"]:
            both = [f"Content-Length: {length}", f"Transfer-Encoding: {coding}"]
            yield case("both", HEADER | NO_METHOD, *both, body=chunked(b"{}"))
            yield case("both", HEADER | NO_METHOD, *both[::-1], body=chunked(b"{}"))
    for coding in ["gzip", "deflate", "compress", "br", "identity", "xchunked", "chunkedx", "chunked;q=1", "chunked, gzip", "gzip, chunked",
                   "chunked, identity", "chunked,chunked", ",chunked", "chunked,", "\"chunked\"", "cow", "", "chun ked"]:
        yield case("coding", HEADER | NO_METHOD, f"Transfer-Encoding: {coding}", body=chunked(b"{}"))
        yield case("codings", HEADER | NO_METHOD, f"Transfer-Encoding: {coding}", "Transfer-Encoding: chunked", body=chunked(b"{}"))
    for expectation in ["200-ok", "100", "100-continue, x", "", "x", "100-continued"]:
        yield case("expectation", {(417, "expectation_failed")}, "Content-Length: 2", f"Expect: {expectation}", body=b"")


def chunks(world):
    def case(kind, body, expected=frozenset(HEADER)):
        head = lines("POST /v1/orders HTTP/1.1", "Host: localhost", f"Authorization: Bearer {world.key}", "Idempotency-Key: h",
                     "Transfer-Encoding: chunked")
        return Case(f"chunk/{kind}", head + body + lines(*HEALTH), expected, closes=True)

    end = b"\r\n0\r\n\r\n"
    hexadecimal = b"0123456789abcdefABCDEF"
    for byte in EVERY_BYTE:
        one = bytes([byte])
        if byte not in hexadecimal:
            yield case(f"size with {byte:#x}", one + b"2\r\n{}" + end)
            if byte not in b";":
                yield case(f"size with {byte:#x}", b"0" + one + b"2\r\n{}" + end)
                yield case(f"size with {byte:#x}", b"2" + one + b"\r\n{}" + end)
        if byte in CONTROLS or byte == 10:
            yield case(f"extension with {byte:#x}", b"2;a" + one + b"b\r\n{}" + end)
            yield case(f"trailer with {byte:#x}", b"2\r\n{}\r\n0\r\nX: y" + one + b"z\r\n\r\n")
        if byte != 13:
            yield case(f"data's end with {byte:#x}", b"2\r\n{}" + one + b"\n0\r\n\r\n")
        if byte != 10:
            yield case(f"data's end with {byte:#x}", b"2\r\n{}\r" + one + b"0\r\n\r\n")
            yield case(f"size's end with {byte:#x}", b"2\r" + one + b"{}" + end)
    for size in [b"", b"-2", b"+2", b"0x2", b"2.0", b"2\n", b"2\r2", b"two", b"\r\n2", b"f" * 16, b"f" * 17, b"f" * 70, b"0" * 70 + b"2",
                 b"8" + b"0" * 15, b"7" + b"f" * 15, b"1" + b"0" * 16]:
        yield case("size", size + b"\r\n{}" + end)


def sound(world):
    """(bytes, status) of what the grammar allows, right beside what it does not: refusing everything is no strictness."""
    for byte in sorted(TOKEN):
        for name in with_byte("X-Name", byte):
            yield lines(*HEALTH, f"{name}: value"), 200
    for byte in [9, *range(32, 127), *range(128, 256)]:
        for value in with_byte("value", byte):
            yield lines(*HEALTH, f"X-Name: {value}"), 200
    for blank in ["", " ", "\t", " \t "]:
        yield lines("GET /healthz HTTP/1.1", f"Host:{blank}localhost{blank}", "X:" + blank), 200
    for character in "!$&'()*+,-./:;=@_~0aZ%|^`{}[]<>\\\"":
        escaped = "%25" if character == "%" else character
        yield lines(f"GET /nothing{escaped}here HTTP/1.1", "Host: localhost"), 404
        yield lines(f"GET /healthz?&{'&' if character in '=%' else ''} HTTP/1.1", "Host: localhost"), 200
    for host in ["localhost", "LOCALHOST", "localhost.", "localhost:1", "localhost:65535", "localhost:", "127.0.0.1", "[::1]", "[::1]:8443"]:
        yield lines("GET /healthz HTTP/1.1", f"Host: {host}"), 200
    body = b'{"service_type":"ONSITE"}'
    post = ["POST /v1/orders HTTP/1.1", "Host: localhost", f"Authorization: Bearer {world.key}", "Idempotency-Key: {fresh}"]
    for length in ["25", "025", "0" * 16 + "25", " 25 ", "\t25"]:
        yield lines(*post, f"content-LENGTH: {length}") + body, 201
    for coding in ["chunked", "Chunked", "CHUNKED", " chunked"]:
        yield lines(*post, f"transfer-encoding:{coding}") + chunked(body), 201
    for pieces in [[body[i:i + n] for i in range(0, len(body), n)] for n in range(1, 26)]:
        yield lines(*post, "Transfer-Encoding: chunked") + chunked(*pieces), 201
    for size, extension, trailer in itertools.product([b"19", b"019", b"0" * 20 + b"19"], [b"", b";a", b";a=b", b';a="b c"', b";a;b=c", b";a=\xc3\xb1"],
                                                      [b"", b"X: y\r\n", b"X: y\r\nZ:\tw\r\n"]):
        yield lines(*post, "Transfer-Encoding: chunked") + size + extension + b"\r\n" + body + b"\r\n0" + extension + b"\r\n" + trailer + b"\r\n", 201
    for line, count in [("X-N: y", 60), ("", 0)]:
        yield lines(*HEALTH, *[line] * count), 200
    for size in [1000, 8192]:
        yield lines(f"GET /healthz?{'&' * (size - len('GET /healthz? HTTP/1.1'))} HTTP/1.1", "Host: localhost"), 200
    yield lines(*HEALTH, "X: " + "y" * 16_000), 200


# RFC 3986: paths and queries

BAD_ESCAPES = ["%", "%4", "%zz", "%4z", "%z4", "%%", "%00", "%ff", "%c0%80", "%c0%af", "%e0%80%af", "%ed%a0%80", "%f4%90%80%80", "%f8%88%80%80%80",
               "%80", "%c3", "%e2%82", "% 1", "%u0041", "%-1", "%+1"]


def paths(world):
    for operation in OPEN:
        base = plain(operation)
        path = base.path(world.ids)

        def case(kind, path, expected, base=base):
            return Case(f"path/{kind}", base.bytes(world.ids, world.key, path=path), expected, base=base)

        yield case("a slash behind", path + "/", UNKNOWN)
        yield case("a slash in front", "/" + path, UNKNOWN)
        for at in [i for i, c in enumerate(path) if c == "/"]:
            for insertion in ["/", "/.", "/..", "/%2e", "/%2e%2e", "/%2E./x", "/x/.."]:
                yield case("dots", path[:at] + insertion + path[at:], NOWHERE)
            if at > 0:
                for slash in ["%2f", "%2F", "\\", "%5c", ";", "%252f", "%ef%bc%8f", "/%20", "%09/", "%0d%0a"]:
                    yield case("another slash", path[:at] + slash + path[at + 1:], NOWHERE)
        for escape in BAD_ESCAPES:
            if " " not in escape:
                yield case("escape", path + escape, PARAMETER | UNKNOWN | (NOT_ALLOWED if path.startswith("/box/devices/") else set()))
        for tail in [".json", "~", ".bak", ";x=y", "%20", "%09", "%3Fx=y", "%23x", "%0a", "%0d%0aX:%20y", "/.git/config", "/*", "/'", "/%27%20OR%201=1",
                     "/../../../../etc/passwd", "/%e2%80%ae", "x" * 300, "/" + "x" * 7000, "/x" * 500]:
            yield case("tail", path + tail, NOWHERE)
        if path.upper() != path:
            first = path.split("/")[1]
            yield case("capitals", path.replace(first, first.upper(), 1), UNKNOWN)


BAD_IDS = ["x", "0", "-1", "null", "undefined", "NaN", "%20", "1e3", "00000000-0000-0000-0000-00000000000", "00000000-0000-0000-0000-0000000000000",
           "00000000_0000_0000_0000_000000000000", "0000000000000000000000000000000000000", "g0000000-0000-0000-0000-000000000000",
           "%7B00000000-0000-0000-0000-000000000000%7D", "00000000-0000-0000-0000-000000000000%0a", "urn:uuid:00000000-0000-0000-0000-000000000000",
           "00000000-0000-0000-0000-00000000000%C3%A9", "%EF%BC%90" * 36, "..%2f..%2fetc%2fpasswd", "1'%20OR%20'1'='1", "PE-1", "PE-99999999999",
           "{id}", "%3Cscript%3E", "x" * 1000]


def ids(world):
    for operation in WITH_ID:
        base = plain(operation)
        for name in world.ids[operation.id]:
            for bad in BAD_IDS:
                staged = {**world.ids, operation.id: {**world.ids[operation.id], name: bad}}
                yield Case("id/malformed", base.bytes(staged, world.key), FIELDS, base=base, field=name)
            staged = {**world.ids, operation.id: {**world.ids[operation.id], name: SOME_ID}}
            # A number of six digits is no id.
            yield Case("id/unknown", base.bytes(staged, world.key), UNKNOWN if name != "number" else FIELDS, base=base)


UNKNOWN_PARAMETERS = ["page[size]", "page[number]", "limit", "offset", "cursor", "start_date", "status", "nonsense", "Page", "PAGE", "filter", "filter[]",
                      "filter[nonsense]", "filter[status", "filter[status][]", "api_key", "token", "_", "__proto__", "é", "x" * 500]


def bad_values(parameter):
    schema = parameter["schema"]
    values = []
    if schema.get("type") == "integer":
        values = [str(schema["minimum"] - 1), "-1", str(schema["maximum"] + 1), "9" * 30, "one", "1.0", "1e1", "+1", "0x1", " 1", "1 ", "１", "1,2", "null", "NaN", "1_0"]
    elif schema.get("type") == "boolean":
        values = ["yes", "no", "1", "0", "t", "null", "true,false", " true"]
    elif schema.get("format") == "uuid":
        values = ["x", "12", SOME_ID + "0", SOME_ID[:-1], "{" + SOME_ID + "}", "null", " " + SOME_ID]
    elif schema.get("format") == "date-time":
        values = ["nonsense", "2026-11-20", "2026-11-20T18:03:11", "2026-02-30T00:00:00Z", "2026-11-20T25:00:00Z", "20.11.2026", "1763600000",
                  "2026-11-20T18:03:11+25:00", "99999-11-20T18:03:11Z", "now"]
    elif "enum" in schema:
        values = ["nonsense", "--" + schema["enum"][0], schema["enum"][0] + ",x", schema["enum"][0] + " ", "null", "'"]
    elif "(T" in schema.get("pattern", "") or "[Tt ]" in schema.get("pattern", ""):
        values = ["nonsense", "20.11.2026", "2026-13-01", "2026-02-30", "2026-11-32", "2026-00-10", "2026-11-20T25:00:00Z", "2026-1-2", "20261120", "today"]
    elif "[0-2][0-9]:" in schema.get("pattern", ""):
        values = ["nonsense", "25:00", "9:00", "09:60", "0900", "09:00:00", "09h00", "-1:00"]
    elif "|" in schema.get("pattern", ""):
        values = ["nonsense", ",", "nonsense,x", parameter["example"] + ",", "," + parameter["example"], parameter["example"] + ",nonsense", "'"]
    elif parameter["name"] == "filter[snapshot]":
        values = ["nonsense", "-1", "9" * 30, "1.0", "0x1"]
    elif parameter["name"] == "timezone":
        values = ["Mars/Olympus", "../../../etc/passwd", "America", "/etc/passwd", "EST5EDT;x", "x" * 300]
    elif parameter["name"] == "after":
        values = ["nonsense", "!", ".", "0", "1.", ".1", "01.1", "-1.1", "1.1.1", "ZZ.ZZ", "é"]
    return values


def queries(world):
    for operation in READING:
        parameters = {p["name"]: p for p in operation.parameters if p["in"] == "query"}

        def case(kind, query, base):
            bad = dataclasses.replace(base, query=query)
            return Case(f"query/{kind}", bad.bytes(world.ids, world.key), PARAMETER, base=base)

        base = message(operation)
        for name in UNKNOWN_PARAMETERS:
            if name not in parameters:
                yield case("unknown", urllib.parse.urlencode({name: "1"}), base)
        for escape in BAD_ESCAPES:
            if " " not in escape:
                yield case("escape", f"x={escape}", base)
                yield case("escape", f"{escape}=x", base)
        for name, parameter in parameters.items():
            value = parameter["example"]
            beside = {"filter[start_date]": "2026-11-20"} if name == "filter[day]" else {}
            good = urllib.parse.urlencode({name: str(value).lower() if isinstance(value, bool) else value, **beside})
            base = message(operation, query=good)
            escaped = urllib.parse.quote(name)
            yield case("empty", f"{escaped}=", base)
            yield case("empty", name, base)
            yield case("twice", f"{good}&{good}", base)
            yield case("twice", f"{good}&{name}=x", base)
            for escape in BAD_ESCAPES:
                if " " not in escape:
                    yield case("escape", f"{escaped}={escape}", base)
            for bad in bad_values(parameter):
                yield case("value", f"{escaped}={urllib.parse.quote(bad)}", base)
            yield case("and an unknown one", f"{good}&nonsense=1", base)
    for operation in [o for o in KEYED if o.method != "get"]:
        base = plain(operation)
        for query in ["nonsense=1", "x=%zz", "dry_run=true", "id=1"]:
            bad = dataclasses.replace(base, query=query)
            yield Case("query/of a write", bad.bytes(world.ids, world.key), PARAMETER, base=base)


# Methods, credentials, scopes, headers


def methods(world):
    for path in sorted({o.path for o in OPEN}):
        there = {o.method.upper(): o for o in OPEN if o.path == path}
        base = plain(next(iter(there.values())))
        for method in sorted(set(METHODS) - set(there) - {"OPTIONS", "HEAD"}):
            yield Case("method", base.bytes(world.ids, world.key, method=method), NOT_ALLOWED, base=base)


def credentials(world):
    live, test, revoked, unknown = (world.other_keys[n] for n in ["live", "test", "revoked", "unknown"])
    kinds = [
        ([], NOBODY), (["Authorization: Bearer"], NOBODY), (["Authorization: "], STRANGER), (["X-API-Key: "], STRANGER),
        (["Authorization: Basic dXNlcjpwYXNz"], NOBODY), ([f"Authorization: {live}"], STRANGER), (["Authorization: Bearer a b"], STRANGER),
        ([f"Authorization: Digest {live}"], NOBODY), ([f"X-Api-Token: {live}"], NOBODY), ([f"Cookie: key={live}"], NOBODY),
        ([f"Proxy-Authorization: Bearer {live}"], NOBODY),
        ([f"X-API-Key: {live[:-1]}"], STRANGER), ([f"X-API-Key: {live}x"], STRANGER), ([f"X-API-Key: {live.upper()}"], STRANGER),
        ([f"X-API-Key: {unknown}"], STRANGER), (["X-API-Key: " + "x" * 5000], STRANGER), (["X-API-Key: \u00e9"], STRANGER),
        (["X-API-Key: ' OR 1=1 --"], STRANGER),
        ([f"X-API-Key: {test}"], {(401, "wrong_environment")}), ([f"Authorization: Bearer {test}"], {(401, "wrong_environment")}),
        ([f"X-API-Key: {revoked}"], {(401, "key_revoked")}),
        ([f"X-API-Key: {live}", f"Authorization: Bearer {unknown}"], {(400, "conflicting_credentials")}),
        ([f"X-API-Key: {unknown}", f"Authorization: Bearer {live}"], {(400, "conflicting_credentials")})]
    for operation in KEYED:
        base = plain(operation)
        for given, expected in kinds:
            yield Case("credentials", base.bytes(world.ids, world.key, credentials=given), expected, base=base)
        scopes = operation.row["x-required-scope"]
        for scope in [scopes] if isinstance(scopes, str) else []:
            yield Case("scope", base.bytes(world.ids, world.scope_keys[scope]), {(403, "insufficient_scope")}, base=base)
    for operation in [o for o in READING if isinstance(o.row["x-required-scope"], str)]:
        base = message(operation, query=f"api_key={live}")
        yield Case("credentials/in the query", base.bytes(world.ids, world.key, credentials=[]), NOBODY)


def headers(world):
    for operation in WITH_BODY:
        base = plain(operation)

        def case(kind, headers, expected, base=base):
            return Case(f"header/{kind}", base.bytes(world.ids, world.key, headers=headers), expected, base=base)

        key = "Idempotency-Key: {fresh}"
        for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml", "text/json",
                     "application/jsonx", "application/json; charset=latin1", "application/json; charset=utf-16", "application/json, text/plain",
                     "application/merge-patch+json", "application/octet-stream", "json", "*/*", "application/", "/json", "a" * 500]:
            yield case("content type", [f"Content-Type: {kind}", key], {(415, "unsupported_media_type")})
        for coding in ["gzip", "br", "deflate", "compress", "zstd", "gzip, identity", "x", "a" * 500]:
            yield case("content coding", [f"Content-Encoding: {coding}", key], {(415, "unsupported_media_type")})
    for operation in [o for o in KEYED if o.method != "get"]:
        base = plain(operation)
        for bad in ["", "a b", "é", "x" * 256, "x" * 4000, "a\tb"]:
            sent = base.bytes(world.ids, world.key, headers=["Content-Type: application/json", f"Idempotency-Key: {bad}"])
            yield Case("header/idempotency key", sent, HEADER, base=base)
        sent = base.bytes(world.ids, world.key, headers=["Idempotency-Key: a", "idempotency-key: a"])
        yield Case("header/two idempotency keys", sent, HEADER, base=base)
        if any(p["name"] == "If-Match" for p in operation.parameters):
            for bad in ['"99.1"', '"0"', 'W/"1"', 'W/"1.1"', '"1.1.1"', '""', '"x"', '"98", "99"']:
                sent = base.bytes(world.ids, world.key, headers=[*base.headers, f"If-Match: {bad}"])
                yield Case("header/if match", sent, {(412, "precondition_failed")}, base=base)
    for operation in READING:
        base = plain(operation)
        for kind in ["text/html", "application/xml", "image/*, text/*", "application/jsonx", "text/json", "x", "json"]:
            sent = base.bytes(world.ids, world.key, headers=[f"Accept: {kind}"])
            yield Case("header/accept", sent, {(406, "not_acceptable")}, base=base)
    base = plain(BY_ID["placeOrder"])
    yield Case("header/no idempotency key", base.bytes(world.ids, world.key, headers=[]), {(400, "missing_idempotency_key")}, base=base)


def unknown_key(mode):
    """A key of the right form that nobody was given."""
    body = f"cmd_{mode}_" + "0" * 32
    rest, digits = zlib.crc32(body.encode()), "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    check = ""
    for _ in range(6):
        rest, digit = divmod(rest, 62)
        check = digits[digit] + check
    return body + check


# RFC 8259: bodies

BAD_NUMBERS = ["01", "-", "-01", "1.", ".5", "-.5", "1.e1", "1e", "1e+", "1E-", "+1", "1e1.5", "0x1F", "1_000", "1,5", "NaN", "nan", "Infinity",
               "-Infinity", "inf", "1e1e1", "--1", "1-1", "1 2", "1..2", "١", "１", "1d", "1f", "0b1", "1n", "1" * 64, "0." + "1" * 62]
BAD_WORDS = ["True", "TRUE", "False", "None", "Null", "NULL", "nil", "undefined", "tru", "truee", "nulll", "yes", "''", "'x'", "`x`", "x", "$", "=1", "@", "<a/>",
             "//x", "/*x*/1", "1/*x*/", "#x", "\\u0031", "(1)", "1;"]
BAD_UTF_8 = [b"\x80", b"\xbf", b"\xc0\x80", b"\xc0\xaf", b"\xc1\xbf", b"\xc3", b"\xc3(", b"\xe0\x80\xaf", b"\xe0\x9f\xbf", b"\xe2\x82", b"\xe2(\xa1",
             b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xf0\x80\x80\xaf", b"\xf0\x8f\xbf\xbf", b"\xf0\x9f\x98", b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80",
             b"\xf8\x88\x80\x80\x80", b"\xfc\x84\x80\x80\x80\x80", b"\xfe", b"\xff", b"\xff\xfe", b"\xfe\xff"]
BAD_ESCAPED = ["\\ud800", "\\udbff", "\\udc00", "\\udfff", "\\ud800x", "\\ud800\\u0041", "\\ud800\\ud800", "\\udc00\\ud800", "\\ud83d\\n", "\\u", "\\u1",
               "\\u12", "\\u123", "\\u12g4", "\\uD83D\\u", "\\x41", "\\0", "\\a", "\\v", "\\'", "\\e", "\\ ", "\\U0001F600", "\\", "\\u+123", "\\u 123", "\\u{41}"]
TRAILING = [b"x", b"{}", b"[]", b",", b"}", b"]", b"null", b"\0", b"1", b"\"\"", b"//", b"/**/", b";", b"\xef\xbb\xbf", b"\xff", b"\x0c", b"\xc2\xa0", b"\xe2\x80\xa8"]


def bad_texts(text):
    """(kind, bytes) of what is no JSON, made from an object that is."""
    inside = text[1:]  # behind its brace
    comma = b"," if inside.strip() != b"}" else b""
    for at in [*range(1, min(len(text), 40)), len(text) - 1]:
        yield "cut", text[:at]
    for value in BAD_NUMBERS + BAD_WORDS:
        yield "value", b'{"x":' + value.encode() + comma + inside
        if "," not in value:
            yield "item", b'{"x":[1,' + value.encode() + b"]" + comma + inside
    for bad in BAD_UTF_8:
        yield "utf-8", b'{"x":"a' + bad + b'b"' + comma + inside
        yield "utf-8 name", b'{"x' + bad + b'":1' + comma + inside
        yield "utf-8 behind", text + bad
    for bad in BAD_ESCAPED:
        yield "escape", b'{"x":"a' + bad.encode() + b'"' + comma + inside
        yield "escape in a name", b'{"x' + bad.encode() + b'":1' + comma + inside
    for byte in range(32):
        yield "control", b'{"x":"a' + bytes([byte]) + b'b"' + comma + inside
        if byte not in b"\t\r\n":
            yield "control outside", b"{" + bytes([byte]) + b'"x":1' + comma + inside
            yield "control before", bytes([byte]) + text
    for tail in TRAILING:
        yield "tail", text + tail
        yield "tail behind a blank", text + b" " + tail
    for name in [b"x", b"'x'", b"1", b"null", b"[1]", b"", b"-", b"\\u0078"]:
        yield "name", b"{" + name + b":1" + comma + inside
    for shape in [b'{"x"}', b'{"x":}', b'{"x":1,}', b'{,"x":1}', b'{"x":1,,"y":1}', b'{"x" 1}', b'{"x"::1}', b'{"x":1 "y":1}', b'{"x":[1,]}', b'{"x":[,1]}',
                  b'{"x":[1 2]}', b'{"x":[1,,2]}', b'{"x":[}', b'{"x":[1}]', b'{"x":{]}', b"{", b"}", b"[", b"]", b'"', b":", b",", b"{]", b"[}", b"{{}}", b'{"x":1',
                  b'{"x":"', b'{"x":"\\"}', b"", b" ", b"\r\n\t ", b"\0", b"a=1&b=2", b"<xml/>", b"--x\r\n\r\n", b'{"x":1}\n{"x":2}', b"\x1f\x8b\x08", b"%7B%7D"]:
        yield "shape", shape
    for first, second in [(b'"x"', b'"x"'), (b'"x"', b'"\\u0078"'), (b'""', b'""'), (b'"\xc3\xa9"', b'"\\u00e9"'), (b'"\xf0\x9f\x8d\xbd"', b'"\\ud83c\\udf7d"')]:
        yield "twice", b"{" + first + b":1," + second + b":1" + comma + inside
        yield "twice inside", b'{"y":[{' + first + b":1," + second + b":1}]" + comma + inside
    for depth in [33, 34, 64, 100, 1000, 10_000]:
        yield "depth", b"[" * depth + b"]" * depth
        yield "depth", b'{"x":' * depth + b"1" + b"}" * depth
        yield "depth", b"[{\"x\":" * (depth // 2 + 1) + b"1" + b"}]" * (depth // 2 + 1)
        yield "depth", b"[" * depth
    for coding in ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"]:
        encoded = text.decode().encode(coding)
        if encoded != text:
            yield "coding", encoded


def json_texts(world):
    """Each text to a few operations in turn, so that every operation meets every kind."""
    turn = itertools.cycle(WITH_BODY)
    for base in [plain(o) for o in WITH_BODY]:
        needs_body = base.operation.row["requestBody"].get("required")
        for number, (kind, text) in enumerate(bad_texts(base.body)):
            if next(turn) is not base.operation and number % 6 != hash_of(base.operation.id) % 6:
                continue
            if text.strip(b" \t\r\n") == b"" and not needs_body:
                continue
            bad = dataclasses.replace(base, body=text)
            expected = JSON | {(411, "length_required")} if text == b"" else JSON
            yield Case(f"json/{kind}", bad.bytes(world.ids, world.key), expected, base=base)


def hash_of(text):
    return sum(text.encode())


# Fields


class Raw(str):
    """A number as it must stand on the wire."""


def written(body):
    """The body as bytes, Raw texts as they are."""
    raws = []

    def marked(value):
        if isinstance(value, Raw):
            raws.append(value)
            return f"@raw{len(raws) - 1}@"
        if isinstance(value, dict):
            return {k: marked(v) for k, v in value.items()}
        return [marked(v) for v in value] if isinstance(value, list) else value

    text = json.dumps(marked(body), ensure_ascii=False)
    for number, raw in enumerate(raws):
        text = text.replace(f'"@raw{number}@"', raw)
    return text.encode()


def types_of(schema):
    schema = resolve(schema)
    if "oneOf" in schema:
        return set().union(*[types_of(part) for part in schema["oneOf"]])
    kinds = schema.get("type", [])
    return {kinds} if isinstance(kinds, str) else set(kinds)


def whole(schema):
    """The schema with the alternative that is not null."""
    schema = resolve(schema)
    if "oneOf" in schema:
        return whole(next(part for part in schema["oneOf"] if part != {"type": "null"}))
    return schema


def sample(schema):
    """The least that a schema takes."""
    schema = whole(schema)
    kinds = types_of(schema)
    if "enum" in schema:
        return schema["enum"][0]
    if "object" in kinds:
        return {name: sample(schema["properties"][name]) for name in schema.get("required", [])}
    if "array" in kinds:
        return [sample(schema["items"])] if schema.get("minItems") else []
    if "string" in kinds:
        return SOME_ID if schema.get("format") == "uuid" else "x"
    return 1


def places(schema, path=()):
    """(path, schema) of every field, one item of each list."""
    schema = whole(schema)
    for name, inner in schema.get("properties", {}).items():
        inner = whole(inner)
        if not types_of(inner):
            continue  # of another endpoint
        yield (*path, name), inner
        if "items" in inner:
            yield (*path, name, 0), whole(inner["items"])
            yield from places(inner["items"], (*path, name, 0))


def planted(schema, body, path, value):
    """The body with the value at the path, and what must stand around it."""
    body = copy.deepcopy(body)
    at, schema = body, whole(schema)
    for step in path[:-1]:
        schema = whole(schema["items"] if isinstance(step, int) else schema["properties"][step])
        if isinstance(step, int) and not at:
            at.append(sample(schema))
        elif not isinstance(step, int) and not at.get(step):
            at[step] = sample(schema)
        at = at[step]
    if isinstance(path[-1], int):
        at[:1] = [value]
    else:
        at[path[-1]] = value
    return body


def named(path):
    return "".join(f"[{step}]" if isinstance(step, int) else "." + step for step in path).lstrip(".")


def bad_fields(schema, required):
    """What the schema does not take."""
    kinds = types_of(schema)
    others = {"string": ["x", "12"], "number": [0, 1, Raw("1.5"), -1], "boolean": [True, False], "array": [[], [1], [[]], [{}]],
              "object": [{}, {"a": 1}, {"id": "x"}]}
    if "number" in kinds or "integer" in kinds:
        others.pop("number")
    for kind, values in others.items():
        if kind not in kinds:
            yield from values
    if required and "null" not in kinds:
        yield None
    empty = [] if "null" in kinds else [""]  # an empty text is null where that is possible
    if "enum" in schema:
        words = [w for w in schema["enum"] if w]
        yield from [words[0] + "X", words[0].swapcase(), " " + words[0], *empty, "ACCEPTED", "x" * 1000, "null"]
    elif "string" in kinds and schema.get("format") == "uuid":
        yield from [*empty, "x", SOME_ID[:-1], SOME_ID + "0", "{" + SOME_ID + "}", SOME_ID.replace("-", "_"), "é" * 18, SOME_ID + "\n"]
    elif "string" in kinds and schema.get("format") == "date-time":
        yield from [*empty, "x", "2036-11-20", "2036-11-20T20:30:00", "2036-02-30T20:30:00Z", "2036-11-20T24:30:00Z", "2036-11-20T20:60:00Z", "20:30",
                    "2036-11-20T20:30:00+24:00", "12036-11-20T20:30:00Z", "1763600000", "2036-11-20T20:30:00Z "]
    elif "string" in kinds:
        if schema.get("minLength"):
            yield from ["", " ", "\t\n "]
        if "maxLength" in schema:
            yield from ["a\u0007b", "a\u001bb", "a\u0000b", "a\rb"]
        if "pattern" in schema:
            yield from ["a\nb", "a\tb", "\u007f", "a\u009bb"]
        if "maxLength" in schema:
            yield from ["x" * (schema["maxLength"] + 1), "é" * (schema["maxLength"] + 1), "\U0001f37d" * (schema["maxLength"] + 1), "x" * 20_000]
    if kinds & {"number", "integer"}:
        least, most = schema.get("minimum", schema.get("exclusiveMinimum")), schema.get("maximum")
        if least is not None:
            yield from [Raw(str(least - 1)), Raw("-1e30"), Raw("-0.001"), Raw("-1e-30"), Raw("-9223372036854775808")]
        if "exclusiveMinimum" in schema:
            yield from [0, Raw("0.0"), Raw("-0"), Raw("0e10")]
        if most is not None:
            yield from [Raw(str(most + 1) if isinstance(most, int) else "10000000000"), Raw("1e18"), Raw("1e400"), Raw("1e-400"), Raw("9223372036854775807"),
                        Raw("9223372036854775808"), Raw("18446744073709551616"), Raw("9" * 60), Raw("1e999999999999")]
        yield from [Raw("1.00001"), Raw("0.00000000000000000001"), Raw("1.1e-5")]
        if "integer" in kinds:
            yield from [Raw("1.5"), Raw("1e-1")]
    if "maxItems" in schema:
        items = whole(schema["items"])
        yield [sample(items)] * (schema["maxItems"] + 1)


def body_fields(world):
    for operation in WITH_BODY:
        schema = resolve(operation.row["requestBody"])["content"]["application/json"]["schema"]
        required = {named(p) for p in required_paths(schema)}
        for _, example in operation.examples():
            base = message(operation, example)
            for path, inner in places(schema):
                for value in bad_fields(inner, named(path) in required):
                    body = planted(schema, example, path, value)
                    bad = dataclasses.replace(base, body=written(body))
                    expected = FIELDS | ({(422, "use_cancel_endpoint")} if path == ("status",) else set())
                    yield Case(f"field/{named(path)}", bad.bytes(world.ids, world.key), expected, base=base, field=named(path))
            for path in required_paths(schema):
                body = planted(schema, example, path, None)
                inside = body
                for step in path[:-1]:
                    inside = inside[step]
                del inside[path[-1]]
                bad = dataclasses.replace(base, body=written(body))
                yield Case(f"field/{named(path)} missing", bad.bytes(world.ids, world.key), FIELDS, base=base, field=named(path))
        base = plain(operation)
        for other in [b"[]", b'"x"', b"1", b"true", b"null", b"[{}]", b"-0.0", b'""', b"[[]]"]:
            bad = dataclasses.replace(base, body=other)
            yield Case("field/no object", bad.bytes(world.ids, world.key), FIELDS, base=base, field="body")


# Fields whose right values the rest of an example or of the restaurant speaks against.
CLASHES = {
    ("addPayment", "payment_method_code"), ("addPayment", "payment_method_id"), ("addPayment", "amount"), ("addPayment", "tip_amount"),
    ("addPayment", "received_amount"), ("addDiscount", "value"), ("editOrder", "delivery_price"), ("editOrder", "packaging_price"),
    ("assignRider", "user_id"), ("createProduct", "category_name"), ("createProduct", "price"), ("createProduct", "sku"),
    ("changeWebhook", "rotate_secret"), ("changeWebhook", "grace_seconds"), ("changeWebhook", "is_active"),
    ("changeWebhook", "skip_backlog")}


def good_fields(schema):
    """What the schema takes at its bounds."""
    kinds = types_of(schema)
    if "null" in kinds:
        yield None
    if "enum" in schema or "format" in schema:
        return
    if "string" in kinds and "maxLength" in schema:
        yield from ["x", "x" * schema["maxLength"], "\U0001f37d" * schema["maxLength"]]
        if "pattern" not in schema:
            yield from ["a\r\n\tb", "\u007f"]
    if kinds & {"number", "integer"} and "maximum" in schema:
        yield from [schema["maximum"], Raw(f"{schema['maximum']:.3e}" if schema["maximum"] < 10 ** 4 else str(schema["maximum"]))]
        if "minimum" in schema:
            yield schema["minimum"]
    if "boolean" in kinds:
        yield from [True, False]


def at_their_bounds(operation):
    schema = resolve(operation.row["requestBody"])["content"]["application/json"]["schema"]
    for _, example in operation.examples():
        example = as_sent(operation, example)
        for name, inner in whole(schema).get("properties", {}).items():
            if name not in example or isinstance(example[name], list) or (operation.id, name) in CLASHES:
                continue
            for value in good_fields(whole(inner)):
                if value is not None or len(example) > 1:
                    yield dataclasses.replace(message(operation), body=written({**example, name: value}))


def required_paths(schema, path=()):
    schema = whole(schema)
    for name in schema.get("required", []):
        yield (*path, name)
    for name, inner in schema.get("properties", {}).items():
        inner = whole(inner)
        if "items" in inner:
            yield from required_paths(inner["items"], (*path, name, 0))


# Dice


def two_at_once(world, dice, listed):
    """Two bad things in one request: a body that is refused, under a head that is too."""
    while True:
        first, second = dice.choice(listed), dice.choice(listed)
        if first.base is None or second.base is None:
            continue
        head, _, _ = first.sent.partition(b"\r\n\r\n")
        _, _, body = second.sent.partition(b"\r\n\r\n")
        if b"Content-Length:" not in head or not body:
            continue
        kept = [line for line in head.split(b"\r\n") if not line.startswith(b"Content-Length:")]
        sent = b"\r\n".join([*kept, b"Content-Length: %d" % len(body), b"", body])
        yield Case("dice/two", sent, None, base=first.base)


def garbage(world, dice, listed):
    """A few bytes of a sound head replaced: refused, or still sound, but never failed."""
    while True:
        case = dice.choice(listed)
        head, _, body = case.sent.partition(b"\r\n\r\n")
        changed = bytearray(head)
        for _ in range(dice.randint(1, 3)):
            changed[dice.randrange(len(changed))] = dice.randrange(256)
        # A body in any case: a length that was changed must not leave the server waiting.
        yield Case("dice/garbage", bytes(changed) + b"\r\n\r\n" + body.ljust(10_000), None)


def spoilt_json(world, dice, listed):
    """A byte of a sound body replaced, removed or doubled."""
    bases = [plain(o) for o in WITH_BODY]
    while True:
        base = dice.choice(bases)
        body = bytearray(base.body)
        at = dice.randrange(len(body))
        change = dice.randrange(3)
        body[at:at + 1] = [bytes([dice.randrange(256)]), b"", bytes(body[at:at + 1]) * 2][change]
        try:
            json.loads(bytes(body).decode(), parse_constant=lambda _: 1 / 0)
            continue  # still JSON
        except (ValueError, ZeroDivisionError):
            pass
        bad = dataclasses.replace(base, body=bytes(body))
        yield Case("dice/json", bad.bytes(world.ids, world.key), JSON, base=base)


class Unfinished(Exception):
    pass


def behind_chunks(text):
    """What stands behind a chunked body (RFC 9112 section 7.1), or None where it is malformed."""
    at = 0

    def line():
        nonlocal at
        begin = at
        while at < len(text):
            byte = text[at]
            if byte == 13:
                if at + 1 == len(text):
                    raise Unfinished
                at += 2
                return text[begin:at - 2] if text[at - 1] == 10 else None
            if byte < 32 and byte != 9 or byte == 127:
                return None
            at += 1
        raise Unfinished

    while True:
        head = line()
        if head is None:
            return None
        size = head.partition(b";")[0]
        if not size or size.strip(b"0123456789abcdefABCDEF") or len(size) > 60 or int(size, 16) > 2 ** 62:
            return None
        if int(size, 16) == 0:
            break
        at += int(size, 16)
        if at + 2 > len(text):
            raise Unfinished
        if text[at:at + 2] != b"\r\n":
            return None
        at += 2
    while True:
        trailer = line()
        if trailer is None:
            return None
        if trailer == b"":
            return text[at:]


def spoilt_chunks(world, dice):
    """(bytes, whether they are sound): the framing of a chunked order changed here and there."""
    body = b'{"service_type":"ONSITE"}'
    head = lines("POST /v1/orders HTTP/1.1", "Host: localhost", f"Authorization: Bearer {world.key}", "Idempotency-Key: {fresh}",
                 "Transfer-Encoding: chunked")
    while True:
        cut = dice.randrange(1, len(body))
        framing = [b"%x" % cut + dice.choice([b"", b";a", b";a=b"]) + b"\r\n", body[:cut], b"\r\n%x\r\n" % (len(body) - cut), body[cut:],
                   b"\r\n0" + dice.choice([b"", b";c"]) + b"\r\n" + dice.choice([b"", b"X: y\r\n"]) + b"\r\n"]
        for _ in range(dice.randint(1, 3)):
            which = dice.choice([0, 2, 4])
            piece, at = framing[which], dice.randrange(len(framing[which]))
            new = bytes([dice.choice(b"\r\r\n\n;0123456789aAfFgxX-+ \t:\0\x0b\x1f\x85")])
            framing[which] = piece[:at] + dice.choice([new, b"", new + piece[at:at + 1]]) + piece[at + 1:]
        try:
            rest = behind_chunks(b"".join(framing))
        except Unfinished:
            continue  # the server would wait
        if rest is None or rest == b"":
            yield head + b"".join(framing), rest is not None


def bad_chunks(world, dice, listed):
    for sent, is_sound in spoilt_chunks(world, dice):
        if not is_sound:
            yield Case("dice/chunks", sent, HEADER, closes=True)


LISTS = [request_lines, line_ends, fields, hosts, lengths, chunks, paths, ids, queries, methods, credentials, headers, json_texts, body_fields]
DICE = [spoilt_json, bad_chunks, two_at_once, garbage]


def build(world, count, seed=SEED):
    """At least `count` cases, in an order of their own."""
    dice = random.Random(seed)
    cases = [case for family in LISTS for case in family(world)]
    listed = list(cases)
    seen = {case.sent for case in cases}
    families = [family(world, dice, listed) for family in DICE]
    for family in itertools.cycle(families):
        if len(cases) >= count:
            break
        case = next(family)
        if case.sent not in seen:
            seen.add(case.sent)
            cases.append(case)
    dice.shuffle(cases)
    return cases
