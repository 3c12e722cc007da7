"""Plain HTTP (setting setup_listen): nothing is served, and nobody there can hold anything up."""

import contextlib
import http.client
import json
import socket
import time

import pytest

from support.box import Box, PATIENCE_S, free_port
from support.raw import head

WORKERS = 16


@pytest.fixture(scope="module")
def box():
    box = Box()
    box.setup_port = free_port()
    box.options += ["--setup-listen", f"127.0.0.1:{box.setup_port}"]
    box.bring_in("demo")
    box.key = box.make_key()["key"]
    box.start()
    yield box
    assert box.discard() == 0


def ask(box, method="GET", path="/", host=None, headers=None, body=None):
    """(status, fields, body)"""
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", box.setup_port, timeout=PATIENCE_S)) as client:
        client.request(method, path, body=body, headers={**({"Host": host} if host else {}), **(headers or {})})
        answer = client.getresponse()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()


def plain(box, source="127.0.0.1"):
    return socket.create_connection(("127.0.0.1", box.setup_port), timeout=PATIENCE_S, source_address=(source, 0))


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("path", ["/", "/v1/orders", "/v1/nothing?x=1", "/healthz", "/metrics", "/docs"])
def test_every_request_is_answered_with_the_https_address(box, method, path):
    status, fields, body = ask(box, method, path, headers={"Authorization": "Bearer " + box.key})
    problem = json.loads(body)
    assert (status, problem["code"], problem["instance"]) == (403, "https_required", path.split("?")[0])
    assert problem["detail"].endswith(f"Use https://127.0.0.1:{box.port}.")
    assert fields["connection"] == "close" and fields["cache-control"] == "no-store"


def test_head_has_no_body(box):
    status, _, body = ask(box, "HEAD", "/v1/orders")
    assert (status, body) == (403, b"")


def test_a_key_is_not_looked_at(box):
    """Neither a good one nor a malformed one makes a difference, and neither counts as used."""
    answers = {key: ask(box, headers={"Authorization": key})[::2] for key in ("Bearer " + box.key, "Bearer x", "Basic \xff")}
    assert len({(status, json.loads(body)["detail"]) for status, body in answers.values()}) == 1
    with contextlib.closing(box.client(box.key)) as client:
        keys = client.get("/auth/api-keys").data
    assert all(key["last_used_ip"] in (None, "127.0.0.1") for key in keys)
    assert box.key not in box.log_text()


@pytest.mark.parametrize("host, named", [
    ("comanda.local", "comanda.local"), ("COMANDA.local:80", "comanda.local"), ("localhost", "localhost"),
    ("evil.example", "comanda.local"), ("127.0.0.1:1", "127.0.0.1")])
def test_the_address_has_the_name_by_which_the_client_calls_where_it_is_ours(host, named, tmp_path):
    """All addresses of the machine, else there is only one to name."""
    box = Box(data=tmp_path)
    box.setup_port = free_port()
    box.options += ["--listen", f"0.0.0.0:{box.port}", "--setup-listen", f"127.0.0.1:{box.setup_port}"]
    try:
        box.start()
        with plain(box) as client:
            client.sendall(head("GET", "/", host=host))
            body = client.makefile("rb").read().split(b"\r\n\r\n")[1]
    finally:
        assert box.discard() == 0
    detail = json.loads(body)["detail"]
    assert detail.endswith(f"Use https://{named}:{box.port}.") and "evil" not in detail


def test_a_body_is_not_read(box):
    with plain(box) as client:
        client.sendall(head("POST", "/v1/orders", "Content-Length: 1000000"))
        answer = client.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 403 ") and b"https_required" in answer


def test_tls_on_the_wrong_port_is_closed(box):
    with plain(box) as client:
        client.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500))
        with contextlib.suppress(ConnectionResetError):
            assert client.makefile("rb").read()[:13] in (b"", b"HTTP/1.1 400 ")


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "])
def test_slow_clients_hold_nothing_up(box, sent):
    """Four times as many of one address as there are workers, which send a byte now and then; others are answered all the
    time, and they are closed."""
    with contextlib.ExitStack() as stack:
        slow = [stack.enter_context(plain(box, "127.0.0.2")) for _ in range(4 * WORKERS)]
        for client in slow:
            client.sendall(sent)
        deadline = time.monotonic() + PATIENCE_S
        while slow:
            assert time.monotonic() < deadline, f"{len(slow)} are still open"
            assert ask(box)[0] == 403
            with contextlib.closing(box.client(box.key)) as client:
                assert client.get("/v1/orders").status == 200
            for client in list(slow):
                try:
                    client.sendall(b"x" if sent else b"")
                    client.setblocking(False)
                    if client.recv(4096) == b"":
                        slow.remove(client)
                except BlockingIOError:
                    client.settimeout(PATIENCE_S)
                except OSError:
                    slow.remove(client)


def test_large_heads_are_refused(box):
    with plain(box) as client:
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):
            client.sendall(head("GET", "/", "X: " + "y" * 200_000))
        assert client.makefile("rb").read().startswith(b"HTTP/1.1 431 ")


def test_there_is_none_by_default(tmp_path):
    box = Box(data=tmp_path).start()
    assert " setup address=" not in box.log_text()
    assert box.discard() == 0
