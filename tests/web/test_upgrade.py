"""The program is upgraded while a display hangs on the wall: its page is replaced once, and nothing that was touched is lost."""

import email.utils
import re
import time

import pytest

from support.altering_proxy import AlteringProxy
from support.kitchen_wall import MARKS, SHOWN, UNDO_S, shown, until_shown
from support.waiting import wait_until

# How often this tablet has loaded the page, and when it left one.
LOADS = """sessionStorage.setItem('loads', 1 + Number(sessionStorage.getItem('loads')));
  addEventListener('pagehide', () => sessionStorage.setItem('left', Date.now()))"""
UNDO_MS = UNDO_S * 1000 - 100  # by two clocks of the browser


class Front(AlteringProxy):
    """The box as another version of the program: `header`, what its answers say, `page`, what the page says that it serves."""

    left_out = AlteringProxy.left_out | {"if-none-match"}  # another page has another tag

    def __init__(self, box):
        super().__init__(box, self.change, is_secure=True)
        self.header = self.page = None
        self.loses_marks, self.ahead_s = False, 0

    def change(self, method, path, answer):
        if self.header and "x-page-version" in answer.headers:
            answer.headers["x-page-version"] = self.header
        if self.page and re.fullmatch(r"/kitchen(\?.*)?", path) and answer.status == 200:
            body, count = re.subn(rb'data-version="[^"]*"', f'data-version="{self.page}"'.encode(), answer.body)
            assert count == 1
            answer.body = body
        # The box has done it, and its answer does not come.
        if self.loses_marks and method == "POST" and "/kitchen/tickets/" in path:
            answer.status, answer.body = 503, b"{}"
        if self.ahead_s and "date" in answer.headers:
            answer.headers["date"] = email.utils.formatdate(time.time() + self.ahead_s, usegmt=True)


@pytest.fixture
def front(wall):
    with Front(wall.box) as made:
        wall.port = made.server.server_port
        yield made
    wall.port = wall.box.port
    wall.clear()


def now(page, expression):
    """Of a page that may be reloaded at this moment: None then."""
    try:
        return page.run(expression)
    except AssertionError:
        return None


def loads(page):
    return now(page, "Number(sessionStorage.getItem('loads'))")


def orders(page):
    return {card["order"] for card in now(page, SHOWN) or []}


def key_of_mark(page):
    return page.run(MARKS + ".map((mark) => mark.id)")


def version(page):
    return now(page, "document.documentElement.dataset.version")


def test_a_screen_takes_the_new_page_once_when_nothing_is_to_be_undone_and_keeps_its_marks(wall, front):
    page = wall.display(before=LOADS)
    order = wall.order("Lomo", "Ají")
    until_shown(page, lambda cards: [card["order"] for card in cards] == [order["id"]])
    first, second = (line["id"] for line in order["combos"])
    front.loses_marks = True
    page.run(f"sessionStorage.setItem('touched', Date.now()); document.querySelector('[data-line=\"{first}\"]').click()")
    (key,) = key_of_mark(page)
    front.header = front.page = "9.9.9"
    other = wall.order("Otro")  # the answer that has it says the new version
    wait_until(lambda: other["id"] in orders(page), lambda: orders(page))
    wait_until(lambda: version(page) == "9.9.9", lambda: (version(page), loads(page)))
    touched, left = map(int, page.run("[sessionStorage.getItem('touched'), sessionStorage.getItem('left')]"))
    assert left - touched >= UNDO_MS
    wait_until(lambda: orders(page) == {order["id"], other["id"]}, lambda: orders(page))
    assert dict(next(card["lines"] for card in shown(page) if card["order"] == order["id"])) == {first: "marked", second: "waits"}
    assert key_of_mark(page) == [key]
    front.loses_marks = False
    page.until(MARKS + ".length === 0")
    assert [line["done_at"] is not None for line in wall.ticket(order["id"])["lines"]] == [True, False]
    third = wall.order("Tercero")
    wait_until(lambda: third["id"] in orders(page), lambda: orders(page))
    assert loads(page) == 2
    wait_until(lambda: page.run("window.tones.length") == 3, lambda: page.run("window.tones"))  # of the third alone
    assert page.errors == []
    page.close()


def test_a_page_that_stays_the_old_one_is_not_loaded_again_and_again(wall, front):
    """The browser may answer with the page that it has stored. Ten minutes later it tries again."""
    page = wall.display(before=LOADS)
    front.header = "9.9.9"
    wait_until(lambda: loads(page) == 2, lambda: loads(page))
    for name in ("uno", "dos", "tres"):
        order = wall.order(name)
        wait_until(lambda order=order: order["id"] in orders(page), lambda: orders(page))
    assert loads(page) == 2 and version(page) != "9.9.9"
    front.page, front.ahead_s = "9.9.9", 11 * 60
    wall.order("cuatro")
    wait_until(lambda: version(page) == "9.9.9", lambda: (version(page), loads(page)))
    order = wall.order("cinco")
    wait_until(lambda: order["id"] in orders(page), lambda: orders(page))
    assert loads(page) == 3
    assert page.errors == []
    page.close()
