"""What watches the box: no key, no business data (contract section 16)."""

import contextlib
import http.client
import socket

import pytest

from support.box import Box, PATIENCE_S
from support.metrics import samples
from support.orders import refused


@pytest.fixture
def nobody(box):
    with contextlib.closing(box.client()) as client:
        yield client


def own_address():
    """An address of this machine that is not loopback; None where it has no network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing, but chooses a way
        except OSError:
            return None
        return probe.getsockname()[0]


def test_healthz_says_that_the_process_lives(nobody):
    answer = nobody.get("/healthz")
    assert answer.status == 200 and answer.headers["content-type"] == "application/json"
    assert answer.json == {"status": "ok"}


def test_readyz_shows_each_check_with_its_state(nobody):
    answer = nobody.get("/readyz")
    assert answer.status == 200, answer.body
    assert answer.json["status"] == "ready"
    checks = answer.json["checks"]
    assert set(checks) == {"database", "rows", "disk", "clock", "sync", "internet"}
    for check in checks.values():
        assert check["ok"] is True and check["state"]
    assert {name: set(check) - {"ok", "state"} for name, check in checks.items() if set(check) != {"ok", "state"}} == {
        "sync": {"code", "steps_waiting"}, "internet": {"code"}}
    # Nothing was called outside this machine.
    assert checks["sync"]["code"] == "not_linked" and checks["internet"]["code"] == "unknown"


def test_health_tells_no_business_data(box, nobody, demo):
    for path in ("/healthz", "/readyz", "/metrics"):
        body = nobody.get(path).body.decode()
        for secret in (demo["id"], demo["name"], str(box.data)):
            assert secret not in body


def test_metrics_are_sound_and_count_what_happens(nobody, api):
    answer = nobody.get("/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    before = samples(answer.body.decode())
    api.get("/v1/orders")
    api.get("/nothing")
    nobody.get("/healthz")
    after = samples(nobody.get("/metrics").body.decode())

    def rise(status_class):
        name = 'comanda_http_requests_total{environment="live",class="%s"}' % status_class
        return after[name] - before[name]

    assert rise("4xx") == 1
    assert rise("2xx") == 3  # the first look at the metrics too
    assert rise("5xx") == 0


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_health_is_read_alone(nobody, path):
    answer = nobody.post(path, {})
    refused(answer, 405, "method_not_allowed")
    assert answer.headers["allow"] == "GET, HEAD, OPTIONS"


@pytest.fixture
def lan_box():
    """A box that serves the whole network, and the address at which it is seen there."""
    boxes = []

    def start(*options):
        box = Box(options=options)
        boxes.append(box)
        address = own_address() or "127.0.0.1"
        box.options += ["--listen", f"0.0.0.0:{box.port}"]
        return box.start(), address

    yield start
    for box in boxes:
        assert box.discard() == 0


def fetch(box, path, source, **headers):
    """A GET from a chosen address of this machine."""
    client = box.client()
    connection = http.client.HTTPSConnection(
        "127.0.0.1" if source.startswith("127.") else source, box.port, timeout=PATIENCE_S, context=client.tls(),
        source_address=(source, 0))
    with contextlib.closing(connection):
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read()


def test_metrics_are_for_this_machine_unless_a_setting_names_others(lan_box):
    box, address = lan_box()
    assert fetch(box, "/metrics", "127.0.0.1")[0] == 200
    if address != "127.0.0.1":
        status, body = fetch(box, "/metrics", address)
        assert status == 403 and b"address_not_allowed" in body and b"metrics_from" in body
        assert fetch(box, "/metrics", address, **{"X-Forwarded-For": "127.0.0.1"})[0] == 403
        assert fetch(box, "/healthz", address)[0] == 200
        named, _ = lan_box("--metrics_from", f"203.0.113.9,{address}")
        assert fetch(named, "/metrics", address)[0] == 200
