#!/usr/bin/python3
"""Writes what the fuzzers begin with, from the API's own examples: seeds.py DIRECTORY
DIRECTORY/TARGET/ gets a file for each seed, DIRECTORY/TARGET.dict the words that the reader knows."""

import json
import pathlib
import sys
import urllib.parse

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS))
from support.openapi import DOCUMENT, OPERATIONS, resolve  # noqa: E402
from support.order_app import ifood_order, keeta_order, open_delivery_order, rappi_order  # noqa: E402

# As tests/fuzz/bodies.cc counts its readers.
READERS = ["placeOrder", "editOrder", "addCombos", "addPayment", "addDiscount", "moveOrder", "cancelOrder", "assignRider",
           "reportDelivery", "createProduct", "changeProduct", "createVariant", "changeVariant", "upsertProducts", "createApiKey",
           "changeApiKey", "rotateApiKey", "pair"]
# As tests/fuzz/headers.cc counts its.
SMALL = [
    ["0.0", "1.a", "zz.100"], ['"1.1"', 'W/"1.1", "2"', "*"], ["wait=25", "respond-async, wait=5; x"],
    ["Bearer cmd_live_" + "0" * 38, "Bearer x\ny"], ["192.168.1.0/24", "2001:db8::/32", "fe80::1%eth0", "::ffff:1.2.3.4"],
    ["2026-11-20T18:03:11.204Z", "2026-11-20T18:03:11-05:00", "2026-11-20"], ["4111 1111 1111 1111", "Ñandú\r\nCEVICHE"],
    ["0190C3A1-7F3E-7A52-9D6B-3F1C2AB45E90"], ["a%2Fb+%c3%b1"], ["till-3-2026-11-20-0184", "a\nb"],
    ["gzip, deflate;q=0.5, *;q=0", "x-gzip;q=0.001, identity"]]
# Of delivery apps.
ANSWERS = [b'[{"operation":"DELIVERY","state":"OK","validations":[{"id":"unavailabilities","state":"ERROR"}]}]',
           b'{"errno":0,"data":{"biz_status":1,"sub_biz_status":0}}', b'{"status":"OFFLINE","offlineReason":"PAUSED_BY_UBER"}']
# As tests/fuzz/answers.cc counts its readers, but the records of orders.
SERVERS = [
    (1, b"\x02\x16" + b'{"type":"https://comanda.example/problems/invalid_reference","errors":[{"field":"combos[0].product_id"}]}'),
    (1, b"\x00\x09" + b'{"code":"idempotency_key_reused","title":"Conflict"}'), (1, b"\x07\x04<html>not found</html>"),
    (2, b"600\n30\nThu, 26 Nov 2026 23:59:59 GMT"), (2, b"9223372036854775807\nThu, 26 Nov 2026 23:59:59 GMT\n"),
    (2, b"100, 100;w=60\n1.5\nSunday, 06-Nov-94 08:49:37 GMT"), (3, b"+ 2 0 box.local 192.168.1.20\n"),
    (3, b"-15 Timeout reached\n"), (4, b'{"data":[{"id":7}],"pagination":{"has_more":true}}')]
URLS = ["https://shop.example/hook?x=1", "http://192.168.1.20:8080/", "https://[2001:db8::1]:8443/a", "https://127.1/", "http://0x7f.0.0.1",
        "https://user@shop.example/", "https://shop.example:443", "http://[::ffff:10.0.0.1]/", "https://caf\u00e9.example/",
        "https://shop.example.", "http://10.1.2.3", "http://[64:ff9b::7f00:1]/", "http://2130706433/"]
# As tests/fuzz/files.cc counts its readers.
SETTINGS = ["listen = 0.0.0.0:8443 192.168.1.2:443\n", "# a comment\ncloud_poll_seconds=15   # seconds\n\nlog_level = debug",
            "\ufeffbackup_to = /media/usb/comanda\r\nhosts = box.example\r\n", "webhook_networks = 10.0.0.0/8\n", "unknown = 1\n"]
SUMS = ["{0}  live.db\n{0}  tls/ca.crt\n".format("a" * 128), "{0}  live.db\n\\{0}  tls\\nca.crt\n".format("a" * 128), "b  live.db\n"]
SEALED = ["", "\0" * 16 + "\2", "\0" * 23 + "\x7f", "\0" * 64 + "\1", "\0" * 3_200 + "\1", "\0" * 8_000 + "\1"]
HEADERS = ["Host: localhost", "Content-Length: 2", "Transfer-Encoding: chunked", "Connection: keep-alive", "Expect: 100-continue"]
IDS = {"comboId": "{combo}", "paymentId": "{payment}", "discountId": "{discount}"}


def words(node):
    """Every name and word of the document that stands in requests."""
    if isinstance(node, dict):
        yield from node.get("properties", {}) if isinstance(node.get("properties"), dict) else []
        yield from [w for w in node.get("enum", []) if isinstance(w, str)]
        for value in node.values():
            yield from words(value)
    elif isinstance(node, list):
        for value in node:
            yield from words(value)


def parameters(operation):
    for parameter in operation.parameters:
        if parameter["in"] == "query":
            value = parameter["example"]
            yield urllib.parse.urlencode({parameter["name"]: str(value).lower() if isinstance(value, bool) else value})


def path(operation):
    path = operation.path
    for parameter in operation.parameters:
        if parameter["in"] == "path":
            value = IDS.get(parameter["name"], parameter["example"])
            if parameter["name"] == "id" and path.startswith("/v1/orders"):
                value = "{order}"
            path = path.replace("{" + parameter["name"] + "}", value)
    return path


def request(operation, query="", body=None):
    head = [f"{operation.method.upper()} {path(operation)}" + ("?" + query if query else "")]
    if operation.method != "get":
        head.append("Idempotency-Key: a")
    return "\n".join([*head, "", json.dumps(body) if body is not None else ""]).encode()


def seeds():
    """(target, bytes)"""
    for operation in OPERATIONS:
        line = f"{operation.method.upper()} {path(operation)} HTTP/1.1"
        yield "head", "\r\n".join([line, *HEADERS[:1], "", ""]).encode()
        queries = list(parameters(operation))
        for query in [*queries, "&".join(queries)]:
            yield "query", query.encode()
            yield "requests", request(operation, query)
        for _, body in operation.examples():
            yield "requests", request(operation, body=body)
            if body is not None:
                yield "json", json.dumps(body, ensure_ascii=False).encode()
            if operation.id in READERS:
                reader = READERS.index(operation.id)
                yield "bodies", bytes([reader, 0]) + json.dumps(body).encode()
    for name in range(1, len(HEADERS) + 1):
        yield "head", "\r\n".join(["POST https://localhost/v1/orders?x=y HTTP/1.1", *HEADERS[:name], "", ""]).encode()
    ask = "GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n"
    send = "POST /a HTTP/1.1\r\nHost: x\r\n"
    chunked = send + "Transfer-Encoding: chunked\r\n"
    for text in [ask, ask + ask, ask + send + "Content-Length: 2\r\n\r\n{}" + ask, chunked + "\r\n2\r\n{}\r\n0\r\n\r\n" + ask,
                 chunked + "\r\n1;a=b\r\n{\r\n01\r\n}\r\n0\r\nA: b\r\n\r\n", ask.replace("1.1", "1.0"), ask.replace("GET", "HEAD") + ask,
                 send + "Connection: close\r\nContent-Length: 2\r\n\r\n{}" + ask,
                 chunked + "Expect: 100-continue\r\n\r\n2\r\n{}\r\n0\r\n\r\n"]:
        yield "connection", b"\x80" + text.encode()
    for file in sorted((TESTS.parent / "src/delivery/apps").glob("*.json")):
        for answer in ANSWERS:
            yield "provider", file.read_bytes() + b"\0" + answer
    for dialect, order in enumerate([ifood_order(1), open_delivery_order(1), keeta_order(1), rappi_order(1)]):
        yield "app_orders", bytes([dialect]) + json.dumps(order).encode()
    for name, example in DOCUMENT["components"]["examples"].items():
        record = example["value"].get("data")
        if name.startswith("Order") and isinstance(record, dict) and "combos" in record:
            yield "answers", b"\x00" + json.dumps(record).encode()
    for reader, answer in SERVERS:
        yield "answers", bytes([reader]) + answer
    for url in URLS:
        yield "urls", url.encode()
    for reader, texts in enumerate([SETTINGS, SUMS, SEALED]):
        for text in texts:
            yield "files", bytes([reader]) + text.encode()
    for reader, texts in enumerate(SMALL):
        for text in texts:
            yield "headers", bytes([reader]) + text.encode()
    for company in json.loads((TESTS / "support/other_restaurant.json").read_text())["companies"]:
        yield "import", json.dumps({"companies": [company]}, ensure_ascii=False).encode()


def write(directory):
    numbers = {}
    for target, seed in seeds():
        numbers[target] = numbers.get(target, 0) + 1
        folder = directory / target
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"seed-{numbers[target]:03}").write_bytes(seed)
    fields = sorted(set(words(DOCUMENT["components"]["schemas"])))
    demo = json.loads((TESTS.parent / "src/app/demo.json").read_text())
    names = sorted({*fields, *names_in(demo)})
    framing = ["HTTP/1.1", "\\x0d\\x0a", "Host: ", "Content-Length: ", "Transfer-Encoding: chunked", "Expect: 100-continue"]
    texts = {
        "bodies": fields, "import": names, "requests": [*fields, *(p["name"] for o in OPERATIONS for p in o.parameters)],
        "query": sorted({p["name"] for o in OPERATIONS for p in o.parameters}),
        "json": ["true", "false", "null", "\\\\u0000", "\\\\ud83d", "\\\\ude00", "\\xef\\xbb\\xbf", "1e400", "-0"],
        "app_orders": ['\\"orderAmount\\":', '\\"total_order\\":', '\\"quantity\\":', '\\"eventId\\":', '\\"order_detail\\":',
                       '\\"ENC_', "\\x00", "\\x01", "\\x02", "\\x03"],
        "provider": ["${store_id}", "~1", "/*/", '\\"any\\":', '\\"where\\":', '\\"not\\":', '\\"future\\":', "\\x00"],
        "head": [*framing, "https://"], "connection": [*framing, "Connection: ", "0\\x0d\\x0a\\x0d\\x0a"],
        "answers": [*fields, "GMT", "Retry-After", "+ 2 0 "], "urls": ["https://", "127.0.0.1", "[::1]", "::ffff:", "64:ff9b::", "2002:"],
        "files": ["listen", "backup_to", "cloud_poll_seconds", " = ", "#", "live.db", "  "],
        "headers": ["W/", "wait=", "Bearer ", "cmd_live_", "::ffff:", "%2f", "T00:00:00Z"]}
    for target, list_of_words in texts.items():
        (directory / f"{target}.dict").write_text("".join(f'"{w}"\n' for w in list_of_words))


def names_in(node):
    if isinstance(node, dict):
        yield from node
    for value in node.values() if isinstance(node, dict) else node if isinstance(node, list) else []:
        yield from names_in(value)


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]))
