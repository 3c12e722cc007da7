"""What the page /docs shows of the document /v1/openapi.json."""

import json
import subprocess

import pytest

from support.box import ROOT
from support.openapi import FILE


@pytest.fixture(scope="module")
def page():
    """{operation: its part of the page}, everything unfolded. A part is [element, class, child or text, …]."""
    made = subprocess.run(["node", "tests/support/docs_page.js", "src/web/docs.js", FILE], cwd=ROOT, check=True,
                          capture_output=True, text=True)
    return json.loads(made.stdout)


def parts(part, name, class_=None):
    """The elements of that name inside, in page order."""
    found = []
    for child in part[2:]:
        if isinstance(child, list):
            if child[0] == name and class_ in (None, child[1]):
                found.append(child)
            found += parts(child, name, class_)
    return found


def text(part):
    return part if isinstance(part, str) else "".join(map(text, part[2:]))


def row(part, name):
    """What stands beside the first field, parameter or header of that name."""
    return next(parts(each, "dd")[0] for each in parts(part, "div", "row") if text(parts(each, "code")[0]) == name)


def words(part):
    return [text(code) for code in parts(part, "code")]


def test_whatever_unfolds_has_something_inside(page):
    empty = {(operation, text(each)) for operation, part in page.items() for each in parts(part, "details")
             if len(each) < 4}
    assert empty == set()


@pytest.mark.parametrize("operation", ["createWebhook", "changeWebhook"])
def test_a_list_that_may_be_left_null_names_its_values(page, operation):
    events = row(page[operation], "events")
    assert {"ORDER_PAID", "STORE_STATUS_CHANGED", "WEBHOOK_TEST", "*"} <= set(words(events))
    assert "every kind of the event log" in text(events)


def test_a_list_shows_the_limits_of_its_items(page):
    assert "at most 20 items · each from 200 · to 499" in text(row(page["createWebhook"], "ack_http_codes"))


@pytest.fixture
def sent(page):
    """What the box sends because of createWebhook."""
    (part,) = parts(page["createWebhook"], "div", "sent")
    return part


def test_what_the_box_sends_is_shown_with_headers_body_and_answers(sent):
    assert [text(heading) for heading in parts(sent, "h3")] == [
        "What the box sends", "Its headers", "Its body", "What to answer"]
    names = [text(parts(each, "dt")[0]) for each in parts(sent, "div", "row")]
    assert {"webhook-id always", "webhook-timestamp always", "webhook-signature always", "X-Webhook-Attempt always",
            "X-Webhook-Signature-New "} <= set(names), names
    assert {"event_id", "sequence", "data"} <= set(names)
    assert '"event_type": "ORDER_CREATED"' in text(parts(sent, "pre")[0])


def test_the_answer_that_acknowledges_comes_first(sent):
    assert [text(status) for status in parts(sent, "span", "status")] == ["2XX", "410", "other"]


def test_addresses_in_prose_are_links(sent):
    assert text(parts(sent, "a")[0]) == "https://www.standardwebhooks.com"
