"""Content codings: gzip for who asks for it (RFC 9110 sections 8.4, 8.8.3 and 12.5.3)."""

import contextlib
import gzip
import json
import random
import subprocess
import threading

import pytest

from support.box import Box, PATIENCE_S
from support.orders import item, new_key, path
from support.raw import Wire, head
from support.waiting import wait_until

PAGE = "/v1/orders?per_page=50"
GZIP = {"Accept-Encoding": "gzip, deflate, br, zstd"}  # as browsers send it
MAGIC = b"\x1f\x8b\x08"
LARGE = [PAGE, "/v1/orders?per_page=50&sort=created_at", "/v1/menu", "/v1/menu?per_page=2&page=1", "/v1/events?per_page=50",
         "/v1/clients?per_page=50", "/v1/company", "/v1/openapi.json", "/docs"]
NEVER = ["/auth/api-keys?per_page=100", "/v1/orders/{order}", "/v1/no-such-path", "/v1/orders?per_page=-1", "/metrics", "/healthz"]

READ_WITH_NODE = """
process.env.NODE_TLS_REJECT_UNAUTHORIZED = 0;  // whose certificate it is, is not what this is about
fetch(process.argv[1], {headers: {"X-API-Key": process.argv[2]}}).then(async (answer) => {
  const list = await answer.json();
  console.log(answer.headers.get("content-encoding"), list.data.length);
});
"""


@pytest.fixture(scope="module")
def shop():
    """A box with 60 orders of three items each, that only the tests of this file write to."""
    box = Box()
    box.bring_in("demo")
    box.start()
    with contextlib.closing(box.client(box.make_key()["key"])) as client:
        for number in range(60):
            order = client.place(comment="sin cebolla")
            client.add(order, *(item(price=price, comment=f"mesa {number}", product_name=name)
                                for price, name in ((38, "Ceviche clásico"), (44, "Ceviche mixto"), (43, "Arroz con mariscos"))))
        for number in range(40):
            box.make_key(name=f"till {number}")
    yield box
    assert box.discard() == 0


@pytest.fixture(scope="module")
def shop_key(shop):
    return shop.make_key()["key"]


@pytest.fixture
def reader(shop, shop_key):
    with contextlib.closing(shop.client(shop_key)) as client:
        yield client


def unpacked(answer):
    """The bytes that an answer means; what it says of itself must be true."""
    assert int(answer.headers["content-length"]) == len(answer.body)
    if answer.headers.get("content-encoding") != "gzip":
        assert "content-encoding" not in answer.headers
        assert not answer.body.startswith(MAGIC)
        return answer.body
    assert answer.body.startswith(MAGIC)
    return gzip.decompress(answer.body)


def both(reader, at, headers=GZIP):
    plain, small = reader.get(at), reader.send("GET", at, headers=headers)
    assert (plain.status, small.status) == (200, 200)
    return plain, small


@pytest.mark.parametrize("at", LARGE)
def test_the_same_bytes_come_compressed(reader, at):
    plain, small = both(reader, at)

    assert len(plain.body) >= 1024
    assert small.headers["content-encoding"] == "gzip" and len(small.body) < len(plain.body)
    assert unpacked(small) == plain.body
    # A weak tag says that both mean the same.
    assert small.etag == plain.etag and plain.etag.startswith('W/"')
    for answer in (plain, small):
        assert answer.headers["vary"] == "Accept-Encoding"
    changing = {"date", "content-length", "x-request-id", "content-encoding"}
    assert {n: v for n, v in small.headers.items() if n not in changing} == {n: v for n, v in plain.headers.items() if n not in changing}


def test_a_page_of_fifty_orders_is_small(reader):
    plain, small = both(reader, PAGE)

    assert len(plain.json["data"]) == 50 and len(plain.body) > 100_000
    assert len(small.body) < 20_000


@pytest.mark.parametrize("at", NEVER)
def test_secrets_single_orders_and_errors_are_never_compressed(reader, at):
    order = reader.get("/v1/orders?per_page=1").json["data"][0]
    plain, asked = reader.get(at.format(order=order["id"])), reader.send("GET", at.format(order=order["id"]), headers=GZIP)

    assert plain.status == asked.status
    assert "content-encoding" not in asked.headers and "vary" not in asked.headers
    assert not asked.body.startswith(MAGIC)


def test_a_small_list_stays_as_it_is(reader):
    plain, asked = both(reader, "/v1/orders?filter[reference]=none")

    assert len(plain.body) < 1024 and asked.body == plain.body
    assert "content-encoding" not in asked.headers
    assert asked.headers["vary"] == "Accept-Encoding"  # with more orders it would depend on it


@pytest.mark.parametrize("wish, compressed", [
    ("gzip", True), ("GZip", True), ("x-gzip", True), ("*", True), ("br, *;q=0.1", True), ("gzip;q=0.001", True),
    ("identity;q=0, gzip", True), ("identity;q=0.5, gzip;q=0.5", True), ("gzip;q=1.000 , *;q=0", True),
    ("", False), ("identity", False), ("br, zstd", False), ("gzip;q=0", False), ("gzip;q=0, *", False), ("*;q=0", False),
    ("gzip;q=0.5, identity", False), ("gzip;q=wrong", False), ("identity;q=0", False), ("gzip;q=1.5", False)])
def test_who_says_what_it_takes_gets_that(reader, wish, compressed):
    answer = reader.send("GET", PAGE, headers={"Accept-Encoding": wish})

    assert answer.status == 200
    assert (answer.headers.get("content-encoding") == "gzip") == compressed
    assert len(json.loads(unpacked(answer))["data"]) == 50


def test_the_header_may_come_in_several_lines(shop, shop_key):
    with Wire(shop) as wire:
        wire.send(head("GET", PAGE, f"X-API-Key: {shop_key}", "Accept-Encoding: br", "Accept-Encoding: gzip"))
        assert wire.answer().headers["content-encoding"] == "gzip"
        wire.send(head("GET", PAGE, f"X-API-Key: {shop_key}", "Accept-Encoding: gzip;q=0.1", "Accept-Encoding: identity"))
        assert "content-encoding" not in wire.answer().headers


@pytest.mark.parametrize("at", [PAGE, "/v1/menu", "/v1/openapi.json"])
def test_head_says_what_get_would(reader, at):
    for headers in (GZIP, {}):
        got, asked = reader.send("GET", at, headers=headers), reader.send("HEAD", at, headers=headers)

        assert asked.body == b""
        for name in ("content-length", "content-encoding", "vary", "etag", "content-type"):
            assert asked.headers.get(name) == got.headers.get(name), name


@pytest.mark.parametrize("at", [PAGE, "/v1/menu", "/v1/openapi.json"])
def test_what_did_not_change_is_not_sent_in_any_form(reader, at):
    plain, small = both(reader, at)
    for tag in (plain.etag, small.etag):
        for headers in (GZIP, {}):
            unchanged = reader.send("GET", at, headers={**headers, "If-None-Match": tag})

            assert unchanged.status == 304 and unchanged.body == b""
            assert unchanged.etag == tag and unchanged.headers["vary"] == "Accept-Encoding"
            assert "content-encoding" not in unchanged.headers


def test_what_clients_may_send_is_not_compressed(reader):
    answer = reader.send("POST", "/v1/orders", gzip.compress(b'{"service_type":"ONSITE"}'),
                         {**new_key(), "Content-Type": "application/json", "Content-Encoding": "gzip"})
    assert answer.status == 415


def test_a_change_shows_in_both_forms(reader):
    order = reader.get(PAGE).json["data"][7]
    for number in range(5):
        reader.patch(path(order), {"order_title": f"Mesa {number}"})
        plain, small = both(reader, PAGE)

        assert unpacked(small) == plain.body
        assert plain.json["data"][7]["order_title"] == f"Mesa {number}"


@pytest.mark.parametrize("at", [PAGE, "/v1/orders?per_page=7", "/v1/orders?per_page=50&page=2",
                                "/v1/orders?per_page=50&filter[include]=none", "/v1/orders?per_page=50&filter[include]=combos,payments"])
def test_each_form_of_each_page_follows_every_change(reader, at):
    for number in range(4):
        small, plain = reader.send("GET", at, headers=GZIP), reader.get(at)

        assert unpacked(small) == plain.body
        assert small.etag == plain.etag
        if number % 2 == 0:
            reader.add(reader.place(order_title=f"Mesa {number} 🍋"), item(price=38, product_name="Ceviche clásico"))
        else:
            reader.patch(path(plain.json["data"][number]), {"comment": f"nota {number}"})


def test_an_order_larger_than_the_window_of_deflate_comes_compressed(reader):
    order = reader.place()
    reader.add(order, *(item(price=38, product_name=f"Ceviche {number}", comment=f"mesa {number}, sin ají; " * 20) for number in range(60)))
    assert len(reader.get(path(order)).body) > 32_768

    plain, small = both(reader, PAGE)

    assert unpacked(small) == plain.body


def test_many_who_ask_at_once_while_orders_change_read_the_same(shop, shop_key):
    """One tag, one list: whatever form each of them asked for."""
    lists, failures, stop = {}, [], threading.Event()

    def display(seed):
        luck = random.Random(seed)
        try:
            with contextlib.closing(shop.client(shop_key)) as client:
                while not stop.is_set():
                    answer = client.send("GET", PAGE, headers=GZIP if luck.random() < 0.5 else {})
                    body = unpacked(answer)
                    lists.setdefault(answer.etag, set()).add(body)
        except Exception as error:  # for the main thread to show
            failures.append(error)

    displays = [threading.Thread(target=display, args=(seed,)) for seed in range(6)]
    for thread in displays:
        thread.start()
    try:
        wait_until(lambda: lists or failures, "a display has a list")
        with contextlib.closing(shop.client(shop_key)) as client:
            order = client.get(PAGE).json["data"][3]
            for number in range(40):
                client.patch(path(order), {"comment": f"nota {number}"})
        wait_until(lambda: len(lists) > 1 or failures, "a display has another list")
    finally:
        stop.set()
        for thread in displays:
            thread.join()

    assert not failures, failures
    assert all(len(bodies) == 1 for bodies in lists.values())


def test_other_programs_read_it(shop, shop_key, reader, tmp_path):
    plain = reader.get(PAGE).body
    url, authority = f"https://localhost:{shop.port}{PAGE}", str(shop.cafile)
    curl = ["curl", "-sS", "--compressed", "--cacert", authority, "-H", f"X-API-Key: {shop_key}", "-D", str(tmp_path / "head"),
            "--resolve", f"localhost:{shop.port}:127.0.0.1", url]
    got = subprocess.run(curl, capture_output=True, timeout=PATIENCE_S, check=True).stdout
    assert got == plain
    assert "content-encoding: gzip" in (tmp_path / "head").read_text().lower()

    result = subprocess.run(["node", "--no-warnings", "-e", READ_WITH_NODE, url.replace("localhost", "127.0.0.1"), shop_key],
                            capture_output=True, text=True, timeout=PATIENCE_S)
    assert result.stdout.split() == ["gzip", "50"], result
