"""Cross-origin requests: off, but for the origins of the allow-list."""

import contextlib

import pytest

from support.box import Box

PANEL = "https://panel.example"


@pytest.fixture(scope="module")
def allowing():
    box = Box(options=["--cors-origins", PANEL])
    box.bring_in("demo")
    key = box.make_key()["key"]
    box.start()
    with contextlib.closing(box.client(key)) as client:
        yield client
    box.discard()


def cors(answer):
    return {name for name in answer.headers if name.startswith("access-control-")}


def test_a_listed_page_may_read_answers_and_their_headers(allowing):
    answer = allowing.get("/v1/orders", Origin=PANEL)
    assert answer.headers["access-control-allow-origin"] == PANEL
    assert "ETag" in answer.headers["access-control-expose-headers"]
    assert "Origin" in answer.headers["vary"]


def test_a_listed_page_may_read_errors_too(allowing):
    answer = allowing.send("GET", "/v1/orders/nothing", headers={"Origin": PANEL})
    assert answer.status == 422 and answer.headers["access-control-allow-origin"] == PANEL


def test_the_question_before_a_write_names_methods_and_headers(allowing):
    answer = allowing.send("OPTIONS", "/v1/orders", headers={
        "Origin": PANEL, "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,idempotency-key"})
    assert answer.status == 204
    assert "POST" in answer.headers["access-control-allow-methods"]
    assert "Idempotency-Key" in answer.headers["access-control-allow-headers"]


@pytest.mark.parametrize("origin", ["https://evil.example", "http://panel.example", "null"])
def test_other_pages_get_nothing(allowing, origin):
    assert cors(allowing.get("/v1/orders", Origin=origin)) == set()


def test_without_the_setting_nobody_gets_anything(api):
    assert cors(api.get("/v1/orders", Origin=PANEL)) == set()
    answer = api.send("OPTIONS", "/v1/orders", headers={"Origin": PANEL, "Access-Control-Request-Method": "POST"})
    assert cors(answer) == set()
