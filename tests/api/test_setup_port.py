"""Plain HTTP (setting setup_listen): what a device needs to trust the box, nothing else, and nobody there can hold anything up."""

import base64
import contextlib
import hashlib
import http.client
import json
import plistlib
import re
import socket
import ssl
import uuid

import pytest
from cryptography import x509

from support import pairing
from support.box import ROOT, Box, PATIENCE_S, free_port
from support.openssl import make_pair
from support.raw import head
from support.waiting import wait_until

WORKERS = 6
# As avahi makes it of the host name of the machine that runs the tests.
LOCAL_NAME = (re.sub("[^a-z0-9-]", "", socket.gethostname().split(".")[0].lower())[:63].strip("-") or "comanda") + ".local"


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
@pytest.mark.parametrize("path", ["/", "/v1/orders", "/v1/nothing?x=1", "/healthz", "/metrics", "/docs", "/auth/pair", "/setup/", "/ca.key"])
def test_every_request_is_answered_with_the_https_address(box, method, path):
    status, fields, body = ask(box, method, path, headers={"Authorization": "Bearer " + box.key})
    problem = json.loads(body)
    assert (status, problem["code"], problem["instance"]) == (403, "https_required", path.split("?")[0])
    assert f"Use https://127.0.0.1:{box.port}." in problem["detail"] and "/setup" in problem["detail"]
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
    ("evil.example", LOCAL_NAME), ("127.0.0.1:1", "127.0.0.1")])
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
    assert f"Use https://{named}:{box.port}." in detail and "evil" not in detail


PAGES = ["/setup", "/ca.crt", "/ca.mobileconfig"]


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("path", PAGES)
def test_the_pages_are_read_and_nothing_else(box, method, path):
    status, _, body = ask(box, method, path)
    assert (status, json.loads(body)["code"]) == (403, "https_required")


@pytest.mark.parametrize("path", PAGES)
def test_a_key_sent_with_a_page_is_not_looked_at(box, path):
    """An unknown key, a wrong scheme, two that differ: HTTPS would refuse each."""
    pages = {ask(box, path=path, headers=headers)[::2] for headers in (
        {}, {"Authorization": "Bearer nonsense"}, {"Authorization": "Basic x"}, {"Authorization": "Bearer a", "X-API-Key": "b"})}
    assert len(pages) == 1 and pages.pop()[0] == 200


def test_the_authority_is_what_devices_install(box):
    status, fields, body = ask(box, path="/ca.crt")
    assert (status, fields["content-type"], fields["connection"]) == (200, "application/x-x509-ca-cert", "close")
    assert body == box.cafile.read_bytes()
    assert ask(box, "HEAD", "/ca.crt")[::2] == (200, b"")


def test_the_profile_of_apple_devices_has_the_authority(box):
    status, fields, body = ask(box, path="/ca.mobileconfig")
    assert (status, fields["content-type"]) == (200, "application/x-apple-aspen-config")
    profile = plistlib.loads(body)
    [payload] = profile["PayloadContent"]
    assert (profile["PayloadType"], payload["PayloadType"]) == ("Configuration", "com.apple.security.root")
    assert payload["PayloadContent"] == ssl.PEM_cert_to_DER_cert(box.cafile.read_text())
    assert profile["PayloadUUID"] != payload["PayloadUUID"] and uuid.UUID(payload["PayloadUUID"]).version == 8
    assert plistlib.loads(ask(box, path="/ca.mobileconfig")[2]) == profile, "installed again it replaces itself"


def test_the_page_shows_what_the_terminal_shows(box):
    said = dict(line.split(None, 1) for line in box.command("tls", "fingerprint", "--data", str(box.data)).stdout.splitlines()[:3])
    digest = hashlib.sha256(ssl.PEM_cert_to_DER_cert(box.cafile.read_text())).hexdigest().upper()
    assert said["sha256"] == ":".join(digest[i:i + 2] for i in range(0, 64, 2))
    assert said["pin"] == pairing.pin_of(x509.load_pem_x509_certificate(box.cafile.read_bytes()))
    assert len(said["words"].split()) == 8
    status, fields, body = ask(box, path="/setup")
    page = body.decode()
    assert (status, fields["content-type"]) == (200, "text/html; charset=utf-8")
    assert all(one in page for one in said.values()) and "<svg" in page and "{{" not in page
    for device in ("Android, Chrome", "network_security_config", "Certificate Trust Settings", "certutil -addstore Root",
                   "Firefox", "keytool", "update-ca-certificates", "comanda pair", "comanda tls fingerprint"):
        assert device in page.replace("\n", " "), device
    assert f"https://127.0.0.1:{box.port}" in page
    style = re.search("<style>(.*)</style>", page, re.S)[1]
    source = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{source}'" in fields["content-security-policy"]


def test_https_has_the_same_pages_and_one_at_the_root(box):
    with contextlib.closing(box.client()) as client:
        for path in PAGES[1:]:
            assert client.get(path).body == ask(box, path=path)[2]
        assert b"comanda tls fingerprint" in client.get("/setup").body.replace(b"\n", b" ")
        home = client.get("/", Accept="text/html,*/*;q=0.8")
        assert (home.status, home.headers["content-type"]) == (200, "text/html; charset=utf-8")
        for part in (b"All is well.", b'href="/docs"', b'href="/setup"', b"{{"):
            assert (part in home.body) == (part != b"{{")


@pytest.mark.parametrize("path", ["/", "/setup", "/problems", "/problems/order_closed"])
def test_pages_for_people_have_the_mark_at_their_head(box, path):
    mark = (ROOT / "src/web/shared/mark.svg").read_bytes().strip()
    with contextlib.closing(box.client()) as client:
        head = re.search(rb"<h1>(.*?)</h1>", client.get(path, Accept="text/html").body, re.S)[1]
    assert mark in head


@pytest.mark.parametrize("path", ["/", "/setup"])
def test_pages_for_people_are_in_three_languages_and_say_the_same(box, path):
    with contextlib.closing(box.client()) as client:
        def page(language):
            answer = client.get(path, **{"Accept-Language": language})
            assert answer.status == 200
            return answer.body.decode()
        english, *others = pages = [page(language) for language in ("en-GB,en;q=0.9", "es-PE,en;q=0.8", "pt-BR")]
        assert [re.search('<html lang="(..)">', each)[1] for each in pages] == ["en", "es", "pt"]
        assert page("fr,de;q=0.9") == page("") == english and page("fr, ES;q=0.5") == others[0]
    for each in others:
        # The same links, commands and headings, in the same order.
        assert re.findall('href="[^"]*"', each) == re.findall('href="[^"]*"', english)
        commands = [re.findall("<code>(.*?)</code>", text.replace("\n", " ")) for text in (each, english)]
        assert commands[0] == commands[1]
        assert each.count("<h2>") == english.count("<h2>") and each.count("<dt>") == english.count("<dt>")
        assert "{{" not in each


def test_http_on_the_port_of_https_is_told_where_to_go(box):
    for sent, kind in ((head("GET", "/", "Accept: text/html", host="caja.local:8443"), b"text/html"),
                       (head("POST", "/v1/orders", "Authorization: Bearer " + box.key), b"application/problem+json")):
        with socket.create_connection(("127.0.0.1", box.port), timeout=PATIENCE_S) as client:
            client.sendall(sent)
            answer = client.makefile("rb").read()
        assert answer.startswith(b"HTTP/1.1 403 ") and b"Content-Type: " + kind in answer and b"https" in answer
        assert box.key.encode() not in answer
    assert box.key not in box.log_text()
    with contextlib.closing(box.client(box.key)) as client:
        assert client.get("/v1/orders").status == 200


def test_with_the_owners_certificate_there_is_no_authority_to_install(tmp_path):
    pair = make_pair(tmp_path, "owner")
    box = Box(options=pair.options, cafile=pair.certificate)
    box.setup_port = free_port()
    box.options += ["--setup-listen", f"127.0.0.1:{box.setup_port}"]
    try:
        box.start()
        for path in PAGES[1:]:
            status, _, body = ask(box, path=path)
            assert (status, json.loads(body)["code"]) == (404, "not_found")
        assert b"certificate of their own" in ask(box, path="/setup")[2]
        with contextlib.closing(box.client()) as client:
            assert client.get("/ca.crt").status == 404
    finally:
        box.discard()


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

        def all_are_closed():
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
            return not slow

        wait_until(all_are_closed, lambda: f"{len(slow)} are still open")


def test_silent_connections_keep_no_browser_out(box):
    """150 of the browser's own address, more than there are workers, opened again as soon as they are closed."""
    def is_open(client):
        try:
            return client.recv(1, socket.MSG_DONTWAIT) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    with contextlib.ExitStack() as stack:
        silent = [stack.enter_context(plain(box)) for _ in range(150)]
        for _ in range(5):
            assert ask(box, path="/setup")[0] == 200
            silent = [client if is_open(client) else stack.enter_context(plain(box)) for client in silent]
        wait_until(lambda: not any(map(is_open, silent)), "that all silent connections are closed")


def test_large_heads_are_refused(box):
    with plain(box) as client:
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):
            client.sendall(head("GET", "/", "X: " + "y" * 200_000))
        assert client.makefile("rb").read().startswith(b"HTTP/1.1 431 ")


def test_there_is_none_by_default(tmp_path):
    box = Box(data=tmp_path).start()
    assert " setup address=" not in box.log_text()
    assert box.discard() == 0
