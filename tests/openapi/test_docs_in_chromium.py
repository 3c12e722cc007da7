"""The page /docs in Chromium, by clicks and keys: it sends requests, keeps the key to itself, finds what is asked for, and
axe (package.json) finds nothing that keeps anybody from using it."""

import contextlib

import pytest

from support.chromium import Chromium
from support.docs_programs import programs
from support.driven_page import DrivenPage
from support.openapi import OPERATIONS

SIZES = [(1280, 900), (390, 844)]


@pytest.fixture(scope="module")
def box(docs_box):
    return docs_box


@pytest.fixture(scope="module")
def browser(box, tmp_path_factory):
    with DrivenPage(Chromium(tmp_path_factory.mktemp("chromium"), [box.cafile])) as page:
        page("Emulation.setFocusEmulationEnabled", enabled=True)
        yield page


@pytest.fixture
def page(box, browser):
    """/docs of the sandbox, just opened, with nothing in any storage."""
    browser.show(*SIZES[0])
    browser.open(box.sandbox_url + "/docs")
    browser.run("localStorage.clear()")
    browser.open("about:blank")
    browser.open(box.sandbox_url + "/docs")
    browser.errors.clear()
    yield browser
    assert browser.errors == []


@pytest.fixture
def key(box):
    return box.sandbox_key


@pytest.fixture
def live_key(box):
    return box.make_key()["key"]


def open_operation(page, name):
    page.run(f"location.hash = '#{name}'")
    page.until(f"document.querySelector('#{name} .tryit') !== null")


def send(page, name, key=None):
    """The status of the answer."""
    if key:
        page.type(f"#try-{name}-key", key)
    page.run(f"document.querySelector('#{name} .result').replaceChildren()")
    page.click(f"#{name} .send")
    return int(page.until(f"document.querySelector('#{name} .result .status')?.textContent"))


def sandbox_orders(box, key, **filters):
    with contextlib.closing(box.client(key)) as client:
        client.port = box.sandbox_port
        return client.get("/v1/orders?" + "&".join(f"filter[{name}]={value}" for name, value in filters.items())).data


def findings(tools, page):
    page.run((tools.node / "node_modules/axe-core/axe.min.js").read_text() + "; 0")
    result = page.run("axe.run(document, {resultTypes: ['violations']})")
    assert len(result["passes"]) > 10
    return [(each["id"], [node["html"][:150] for node in each["nodes"]][:3]) for each in result["violations"]]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width, height", SIZES)
def test_an_order_is_placed_in_the_sandbox_and_axe_finds_nothing(box, page, key, tools, width, height, dark):
    page.show(width, height, dark)
    page.click("#walk-display summary")
    page.until("document.querySelector('#walk-display pre') !== null")
    open_operation(page, "getOrder")
    open_operation(page, "placeOrder")
    reference = page.run("document.querySelector('#placeOrder [name=Idempotency-Key]').value")
    assert send(page, "placeOrder", key) == 201
    assert page.run("document.querySelector('#placeOrder .answer a[href=\"/problems/validation_failed\"]') !== null")
    (order,) = sandbox_orders(box, key, reference=reference)
    assert order["comment"] == "Tocar el timbre dos veces."
    assert f"location: /v1/orders/{order['id']}" in page.text("#placeOrder .result")
    assert page.run("document.documentElement.scrollWidth") == width  # nothing sticks out
    assert findings(tools, page) == []


def test_the_same_request_again_gets_the_first_answer_another_body_another_key(page, key):
    open_operation(page, "placeOrder")
    assert send(page, "placeOrder", key) == 201
    assert send(page, "placeOrder") == 201
    assert "idempotency-replayed: true" in page.text("#placeOrder .result")
    page.type("#try-placeOrder-body", '{"service_type": "TAKEAWAY"}')
    assert send(page, "placeOrder") == 201
    assert "idempotency-replayed" not in page.text("#placeOrder .result")


def test_a_refusal_is_shown_with_its_fields(page, key):
    open_operation(page, "placeOrder")
    page.type("#try-placeOrder-body", '{"service_type": "TAKE"}')
    assert send(page, "placeOrder", key) == 422
    assert '"field": "service_type"' in page.text("#placeOrder .result")


@pytest.mark.parametrize("walk, statuses, waits_for_an_order", [
    ("first-order", "201 200 200 200", False), ("display", "200 200 200", True), ("erp", "200 200 200 200", True),
    ("menu-upload", "200 200 200 200", False)])
def test_a_walk_is_sent_from_the_page(box, page, key, walk, statuses, waits_for_an_order):
    name = "walk-" + walk
    with contextlib.closing(box.client(key)) as client:
        client.port = box.sandbox_port
        waits_for = client.place()
    open_operation(page, name)
    page.type(f"#try-{walk}-key", key)
    page.click(f"#{name} .send")
    if waits_for_an_order:
        page.until(f"document.querySelectorAll('#{name} .result .result').length === {len(statuses.split())}")
        with contextlib.closing(box.client(key)) as client:
            client.port = box.sandbox_port
            client.add(waits_for, {"product_name": "Causa", "quantity": 1, "variant_price": 30})
    told = f"[...document.querySelectorAll('#{name} .result .status')].map((each) => each.textContent).join(' ')"
    page.until(f"!document.querySelector('#{name} .send').disabled")
    assert page.run(told) == statuses
    if walk == "first-order":  # twice is two orders
        page.click(f"#{name} .send")
        page.until(f"!document.querySelector('#{name} .send').disabled")
        assert page.run(told) == statuses and len(sandbox_orders(box, key, status="PREPARING", paid="true")) == 2


def test_a_walk_that_changes_things_is_not_sent_with_a_key_of_the_live_address(box, page, live_key):
    page.open(f"https://127.0.0.1:{box.port}/docs")
    for walk, is_refused in (("first-order", True), ("display", False)):
        open_operation(page, "walk-" + walk)
        page.type(f"#try-{walk}-key", live_key)
        assert page.run(f"document.querySelector('#walk-{walk} .send').disabled") == is_refused


def test_parameters_are_sent_where_they_belong(page, key):
    open_operation(page, "listOrders")
    page.click("#listOrders .tryit summary")
    page.type("#listOrders [name='filter[status]']", "CANCELLED")
    page.type("#listOrders [name='per_page']", "3")
    assert send(page, "listOrders", key) == 200
    assert page.sent()[-1] == ("GET", page.run("location.origin") + "/v1/orders?per_page=3&filter%5Bstatus%5D=CANCELLED")


def test_at_the_live_address_only_reads_are_sent_until_a_person_says_that_it_is_real(box, page, live_key):
    page.open(f"https://127.0.0.1:{box.port}/docs")
    open_operation(page, "getCompany")
    assert send(page, "getCompany", live_key) == 200
    open_operation(page, "placeOrder")
    sender = "document.querySelector('#placeOrder .send').disabled"
    assert page.run("document.querySelector('#try-placeOrder-key').value") == live_key and page.run(sender)
    # Not by the return key either.
    page.run("document.querySelector('#placeOrder form').requestSubmit()")

    page.click("#try-placeOrder-real")
    page.until("document.querySelector('#really').open")
    page.click("#really button:not(.danger)")
    page.until("!document.querySelector('#really').open")
    assert page.run(sender) and not page.run("document.querySelector('#try-placeOrder-real').checked")
    assert [method for method, _ in page.sent() if method != "GET"] == []

    page.click("#try-placeOrder-real")
    page.until("document.querySelector('#really').open")
    page.click("#really .danger")
    page.until("document.querySelector('#try-placeOrder-real').checked")
    page.type("#try-placeOrder-body", '{"service_type": "TAKEAWAY"}')
    assert send(page, "placeOrder") == 201
    # Another key begins again.
    page.type("#try-placeOrder-key", live_key[:-1])
    assert page.run(sender)


def test_a_key_of_the_sandbox_is_refused_at_the_live_address_and_the_answer_says_so(box, page, key):
    page.open(f"https://127.0.0.1:{box.port}/docs")
    open_operation(page, "placeOrder")
    assert send(page, "placeOrder", key) == 401
    assert "wrong_environment" in page.text("#placeOrder .result")


def test_the_key_is_in_the_memory_of_the_page_alone(page, key):
    open_operation(page, "getCompany")
    assert send(page, "getCompany", key) == 200
    found = page.run("""Promise.all([JSON.stringify(localStorage), JSON.stringify(sessionStorage), document.cookie,
        document.documentElement.outerHTML, location.href, caches.keys(), indexedDB.databases()]).then(JSON.stringify)""")
    assert key not in found
    origin = page.run("location.origin")
    assert all(url.startswith(origin + "/") and key not in url for _, url in page.sent())
    page.open(origin + "/docs?")
    page.open(origin + "/docs#getCompany")
    page.until("document.querySelector('#try-getCompany-key') !== null")
    assert page.run("document.querySelector('#try-getCompany-key').value") == ""


def test_nothing_else_is_loaded_before_an_operation_is_opened(page):
    assert page.sent() == [("GET", page.run("location.href"))]
    open_operation(page, "getCompany")
    assert sorted(url.removeprefix(page.run("location.origin")) for _, url in page.sent()) == [
        "/docs", "/docs/tools.js", "/v1/openapi.json"]


def test_the_language_is_remembered_and_nothing_else(page):
    open_operation(page, "getCompany")
    page.click("#getCompany [data-language=kotlin]")
    assert "OkHttpClient" in page.text("#getCompany .programs code")
    page.open(page.run("location.origin") + "/docs?")
    page.open(page.run("location.origin") + "/docs#addCombos")
    page.until("document.querySelector('#addCombos .tryit') !== null")
    assert page.run("document.querySelector('#addCombos [data-language=kotlin]').ariaPressed") == "true"
    assert page.run("document.querySelectorAll('#addCombos .programs pre').length") == 2
    assert page.run("JSON.stringify({...localStorage})") == '{"comanda-docs-language":"kotlin"}'


def clipboard(page):
    page("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    return page.run("navigator.clipboard.readText()")


def test_what_is_copied_from_the_page_is_what_other_tests_run(box, page):
    made = programs(box.sandbox_url)
    walks = [name for name, example, _ in made["curl"] if example is None]
    assert len(walks) == 5
    page("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    for walk in walks:
        page.run(f"location.hash = '#walk-{walk}'")
        page.until(f"document.querySelector('#walk-{walk} pre') !== null")
        for language, rows in ((each, made[each]) for each in made if each != "calls"):
            page.click(f"#walk-{walk} [data-language={language}]")
            page.click(f"#walk-{walk} .shown button")
            page.until("document.querySelector('#told').textContent === 'Copied'")
            assert clipboard(page) == next(text for name, _, text in rows if name == walk), (walk, language)


def test_links_to_fields_operations_and_walks_are_copied_and_lead_there(page):
    origin = page.run("location.origin")
    for opened, anchor in (("placeOrder", "placeOrder"), ("walk-erp", "walk-erp"), ("schema-Payment", "schema-Payment.change_amount")):
        page.run(f"location.hash = '#{opened}'")
        page.click(f'.anchor[href="#{anchor}"]')
        assert clipboard(page) == f"{origin}/docs#{anchor}"
    page.open("about:blank")
    page.open(f"{origin}/docs#schema-Payment.change_amount")
    row = page.run("""(() => { const box = document.getElementById('schema-Payment.change_amount').getBoundingClientRect();
        return [box.top, box.height]; })()""")
    assert row[1] > 0 and 0 <= row[0] < 900


@pytest.mark.parametrize("words, found", [
    ("change_amount", {"#schema-Payment.change_amount"}), ("order_closed", {"/problems/order_closed"}),
    ("card_number", {"#schema-FieldErrorCode"}), ("logistics:write", {"#scope-logistics:write"}),
    ("payment tip", {"#schema-Payment.tip_amount", "#schema-PaymentInput.tip_amount"})])
def test_the_search_knows_fields_codes_and_scopes(page, words, found):
    page.click("#search")
    page("Input.insertText", text=words)
    assert found <= set(page.run("[...document.querySelectorAll('#hits a')].map((link) => link.getAttribute('href'))"))
    (first, *_) = found
    if first.startswith("#"):
        page.click(f'#hits a[href="{first}"]')
        page.until(f"location.hash === '{first}' && document.getElementById('{first[1:]}').getBoundingClientRect().height > 0")


@pytest.mark.parametrize("word, operation, hit", [
    ("refund", "cancelPayment", None), ("void", "cancelCombo", None), ("split", "addPayment", None),
    ("daily", "reportByPaymentMethods", None), ("offline", None, "#parameter-OccurredAt"), ("jackson", None, "#about-null"),
    ("signature", "walk-webhooks", "#about-webhooks")])
def test_the_search_finds_words_of_the_texts_and_leads_there(page, word, operation, hit):
    page.click("#search")
    page("Input.insertText", text=word)
    if operation:
        assert operation in page.run("[...document.querySelectorAll('#index li:not([hidden])')].map((each) => each.dataset.of)")
    if hit:
        page.click(f'#hits a[href="{hit}"]')
        page.until(f"location.hash === '{hit}' && document.getElementById('{hit[1:]}').getBoundingClientRect().height > 0")


def test_the_search_finds_operations_by_path_code_and_status_and_says_when_there_is_none(page):
    shown = "[...document.querySelectorAll('#index li:not([hidden])')].map((each) => each.dataset.of)"
    page.click("#search")
    page("Input.insertText", text="order_has_active_payments")
    assert "cancelOrder" in page.run(shown) and "getMenu" not in page.run(shown)
    page.type("#search", "nothing like this")
    assert page.run(shown) == [] and page.text("#none")


def test_without_a_script_everything_can_be_read(page):
    page("Emulation.setScriptExecutionDisabled", value=True)
    try:
        page.open(page.run("location.href"))
        text = page.run("document.querySelector('main').textContent")
        assert all(operation.path in text for operation in OPERATIONS)
        assert page.run("document.querySelector('main').getBoundingClientRect().width") > 1000
        page.click("#placeOrder summary")
        assert page.run("document.querySelector('#placeOrder .sample').getBoundingClientRect().height") > 0
    finally:
        page("Emulation.setScriptExecutionDisabled", value=False)
