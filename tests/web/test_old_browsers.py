"""The kitchen display in browsers of 2019 to 2021, as tablets without updates have them."""

import re

import pytest

from support.box import Box
from support.kitchen_wall import Wall, shown, until_shown
from support.waiting import wait_until

# They do not know trusted types, which the page uses where they are.
UNKNOWN = re.compile("Unrecognized Content-Security-Policy directive|Error with Permissions-Policy header|Unrecognized feature")


@pytest.fixture(scope="module")
def box():
    box = Box()
    box.bring_in()
    box.start()
    yield box
    assert box.discard() == 0


def begun(make):
    """A browser with a page. One that is a single process sometimes hangs while it starts."""
    for attempt in range(3):
        browser = make()
        try:
            return browser, browser.page()
        except AssertionError:
            if attempt == 2:
                raise
            browser.close()


@pytest.mark.parametrize("version", [75, 79, 83, 92])
def test_tickets_are_shown_and_marked(box, demo, browser_of, node_modules, version):
    program = node_modules.parent / f"chromium-{version}"
    browser, page = begun(lambda: browser_of([box.cafile], "--single-process", "--no-zygote", program=program))
    with browser:
        wall = Wall(box, demo, browser)
        page.show(1280, 800)
        page.open(wall.code("Tableta vieja"))
        assert f"Chrome/{version}." in page.run("navigator.userAgent")
        order = wall.order({"product_name": "Ceviche", "quantity": 2, "comment": "SIN CEBOLLA"}, "W" * 200, order_title="Rosa")
        until_shown(page, lambda cards: [len(card["lines"]) for card in cards] == [2])
        assert page.run("document.querySelector('main').scrollWidth <= document.querySelector('main').clientWidth")
        assert page.run("window.getComputedStyle(document.querySelector('.cards')).columnGap") == "12px"
        # What a bump bar has chosen is seen, and so is where an order is started.
        for _ in range(2):
            page("Input.dispatchKeyEvent", type="keyDown", key="ArrowRight")
        ring = page.until("document.activeElement.matches('.head') && (() => { const style = getComputedStyle(document.activeElement);"
                          " return [style.outlineStyle, style.outlineWidth, style.outlineColor === style.color]; })()")
        assert ring == ["solid", "4px", True]
        assert page.run("getComputedStyle(document.querySelector('.number .startable')).borderBottomStyle") == "dotted"
        page.click(".card .head")
        page.until("document.querySelector('.undo') !== null")
        wait_until(lambda: wall.api.get(f"/v1/orders/{order['id']}").data["status"] == "READY", lambda: shown(page))
        until_shown(page, lambda cards: cards == [])
        errors = [error for error in page.errors if not UNKNOWN.search(str(error))]
        assert errors == []
