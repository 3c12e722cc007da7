"""The page /docs as it is without a script: the whole document /v1/openapi.json but the examples of its answers."""

import collections
import gzip
import html.parser
import re

import pytest

from support.box import ROOT
from support.openapi import DOCUMENT, OPERATIONS, resolve

VOID = {"meta", "input", "link", "br"}


class Element:
    def __init__(self, name, attributes):
        self.name, self.attributes, self.children = name, dict(attributes), []

    def all(self, name=None, **attributes):
        """The elements inside, in page order. class_ and data_status are the attributes `class` and `data-status`; the
        former is one of several."""
        for child in self.children:
            if isinstance(child, Element):
                if name in (None, child.name) and all(child.has(*each) for each in attributes.items()):
                    yield child
                yield from child.all(name, **attributes)

    def has(self, attribute, value):
        found = self.attributes.get(attribute.rstrip("_").replace("_", "-"))
        return value in (found or "").split() if attribute == "class_" else found == value

    def one(self, name=None, **attributes):
        (found,) = self.all(name, **attributes)
        return found

    @property
    def text(self):
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def rows(self):
        """{the name in each <dt>: its <dd>} of all lists inside."""
        terms, meanings = list(self.all("dt")), list(self.all("dd"))
        assert len(terms) == len(meanings)
        return {term.one("code").text: meaning for term, meaning in zip(terms, meanings)}


class Reader(html.parser.HTMLParser):
    """Refuses what is not well-formed."""

    def __init__(self, text):
        super().__init__()
        self.root = Element("", {})
        self.open = [self.root]
        self.feed(text)
        assert self.open == [self.root], [each.name for each in self.open]

    def handle_starttag(self, tag, attrs):
        element = Element(tag, attrs)
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag):
        assert self.open.pop().name == tag

    def handle_data(self, data):
        self.open[-1].children.append(data)


@pytest.fixture(scope="module")
def answer(box):
    return box.client().get("/docs", **{"Accept-Encoding": "gzip"})


@pytest.fixture(scope="module")
def page(answer):
    return Reader(gzip.decompress(answer.body).decode()).root


def operation(page, name):
    return page.one("details", id=name)


def words(part):
    return [code.text for code in part.all("code")]


def test_the_whole_page_with_script_and_style_takes_at_most_52_kb_and_the_document_74(box, answer):
    assert answer.headers["content-encoding"] == "gzip"
    assert len(answer.body) <= 52_000
    document = box.client().get("/v1/openapi.json", **{"Accept-Encoding": "gzip"})
    assert document.headers["content-encoding"] == "gzip" and len(document.body) <= 74_000


@pytest.mark.parametrize("file", ["till/till.py", "android_till/src/OfflineTill.kt"])
def test_the_tills_are_served_as_they_are_tested(box, file):
    program = ROOT / "tests/openapi/clients" / file
    answer = box.client().get(f"/docs/programs/{program.name}")
    assert (answer.status, answer.headers["content-type"]) == (200, "text/plain; charset=utf-8")
    assert answer.body.decode() == program.read_text()


def test_the_policy_permits_the_page_its_own_script_and_style_and_this_server_alone(answer, page):
    rules = dict(rule.split(" ", 1) for rule in answer.headers["content-security-policy"].split("; "))
    assert rules.pop("default-src") == rules.pop("base-uri") == rules.pop("form-action") == rules.pop("frame-ancestors") == "'none'"
    assert rules.pop("connect-src") == "'self'"
    one = r"'sha256-[\w+/]{43}='"
    # Its own script, and what that loads, which names its hash itself.
    assert re.fullmatch(f"{one} {one}", rules["script-src"])
    assert rules.pop("script-src").split()[1] == f"'{page.one('body').attributes['data-tools']}'"
    assert re.fullmatch(one, rules.pop("style-src"))
    assert rules == {}


def test_every_id_is_there_once_and_every_link_leads_somewhere(page):
    ids = collections.Counter(element.attributes["id"] for element in page.all() if "id" in element.attributes)
    assert [name for name, count in ids.items() if count > 1] == []
    links = {link.attributes["href"] for link in page.all("a")}
    assert {link for link in links if link.startswith("#") and link[1:] not in ids} == set()
    codes = set(DOCUMENT["components"]["schemas"]["ProblemCode"]["enum"])
    assert {link.removeprefix("/problems/") for link in links if link.startswith("/problems/")} <= codes


def test_every_operation_is_there_with_its_parameters_scope_answers_and_codes(page):
    for each in OPERATIONS:
        part = operation(page, each.id)
        method, path = words(part)[0], part.one("summary").one("code").text
        assert path == each.path and part.one("summary").one("span", class_="method").text == each.method.lower(), method
        document = DOCUMENT["paths"][each.path][each.method.lower()]
        names = {resolve(parameter)["name"] for parameter in document.get("parameters", [])}
        assert names <= set(words(part)), each.id
        scope = document.get("x-required-scope")
        scopes = [scope] if isinstance(scope, str) else scope or []
        assert words(part.one("p", class_="tags")) == scopes, each.id
        statuses = {answer.attributes["data-status"] for answer in part.all("div", class_="answer")
                    if answer not in [inner for sent in part.all("div", class_="sent") for inner in sent.all()]}
        assert statuses == set(document["responses"]), each.id
        refusals = [answer for answer in part.all("div", class_="answer") if list(answer.all("a", class_="status"))]
        assert {code for answer in refusals for code in words(answer)} == set(document.get("x-problem-codes", [])), each.id


def test_every_field_of_every_schema_is_there_with_its_description(page):
    for name, schema in DOCUMENT["components"]["schemas"].items():
        part = operation(page, f"schema-{name}")
        assert set(part.rows() if schema.get("properties") else []) == set(schema.get("properties", [])), name
        for field, property in schema.get("properties", {}).items():
            description = property.get("description", "")
            plain = re.sub(r"`([^`]+)`|\*\*", lambda found: found[1] or "", description)
            assert all(piece.strip("- ") in part.rows()[field].text for piece in re.split(r"\n+", plain)), (name, field)


def test_every_body_that_may_be_sent_is_there(page):
    for each in OPERATIONS:
        document = DOCUMENT["paths"][each.path][each.method.lower()]
        content = resolve(document.get("requestBody", {})).get("content", {}).get("application/json", {})
        shown = [sample.one("pre").text for sample in operation(page, each.id).all("div", class_="sample")]
        assert len(shown) == len(content.get("examples", {})), each.id


def test_whatever_unfolds_has_something_inside(page):
    assert [part.attributes for part in page.all("details") if len(part.children) < 2] == []


@pytest.mark.parametrize("schema", ["WebhookInput", "WebhookChange"])
def test_a_list_that_may_be_left_null_names_its_values(page, schema):
    events = operation(page, f"schema-{schema}").rows()["events"]
    assert {"ORDER_PAID", "STORE_STATUS_CHANGED", "WEBHOOK_TEST", "*"} <= set(words(events))
    assert "every kind of the event log" in events.text


def test_a_list_shows_the_limits_of_its_items(page):
    text = operation(page, "schema-WebhookInput").rows()["ack_http_codes"].text
    assert "at most 20 items · each from 200 · to 499" in text


@pytest.fixture
def sent(page):
    """What the box sends because of createWebhook."""
    return operation(page, "createWebhook").one("div", class_="sent")


def test_what_the_box_sends_is_shown_with_headers_body_and_answers(sent):
    assert [heading.text for heading in sent.all("h3")] == ["What the box sends", "Its headers", "Its body", "What to answer"]
    names = [term.text for term in sent.all("dt")]
    assert {"webhook-id always", "webhook-timestamp always", "webhook-signature always", "X-Webhook-Attempt always",
            "X-Webhook-Signature-New"} <= set(names), names
    assert sent.one("a", href="#schema-WebhookMessage").text == "WebhookMessage"


def test_the_answer_that_acknowledges_comes_first(sent):
    assert [status.text for status in sent.all("span", class_="status")] == ["2XX", "410", "other"]


def test_addresses_in_prose_are_links(sent):
    assert next(sent.all("a")).attributes["href"] == "https://www.standardwebhooks.com"
