"""What anybody can see and reach on a kitchen display: axe finds nothing, tickets have a contrast of 7 : 1, what is touched is 48
pixels high; and how fast it is on a slow tablet."""

import time

import pytest

from support.kitchen_wall import shown, until_shown
from support.waiting import wait_until

VIEWS = ["tickets", "all-day", "pass", "recall", "sold-out", "settings"]


@pytest.fixture(scope="module")
def busy(wall):
    """Tickets of every look."""
    wall.order({"product_name": "Ceviche", "quantity": 2, "comment": "SIN CEBOLLA", "modifiers": [{"name": "Ají", "quantity": 1, "price": 0}]},
               wall.dish("hot"), wall.dish("bar"), order_title="Rosa", comment="Cumpleaños")
    rushed = wall.order("Lomo")
    wall.api.post(f"/v1/kitchen/tickets/{rushed['id']}/rush", {"on": True})
    wall.cancel_line(wall.order("Sopa", "Ají"))
    wall.cancel(wall.order("Papas"), reason="Se fueron")
    ready = wall.order("Listo")
    wall.api.post(f"/v1/kitchen/tickets/{ready['id']}/done", {"line_ids": [ready["combos"][0]["id"]]})
    wall.api.put(f"/v1/menu/products/{wall.dish('cold')['product_id']}/sold-out", {"until": None})
    yield wall
    wall.api.delete(f"/v1/menu/products/{wall.dish('cold')['product_id']}/sold-out")
    wall.clear()


def findings(page, node_modules):
    page.run((node_modules / "axe-core/axe.min.js").read_text() + "; 0")
    result = page.run("""axe.run(document, {resultTypes: ['violations'], rules: {'color-contrast-enhanced': {enabled: true}}})""")
    assert len(result["passes"]) > 10
    return [(each["id"], [node["html"][:150] for node in each["nodes"]][:3]) for each in result["violations"]]


# Later than this, tickets are late; 9 minutes are a warning.
@pytest.mark.parametrize("minutes", [0, 9, 30])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_on_tickets_of_any_age(busy, node_modules, theme, minutes):
    later = f"(() => {{ const parse = Date.parse; Date.parse = (text) => parse(text) + (/GMT/.test(text) ? {minutes * 60000} : 0); }})();"
    page = busy.display(before=later + "localStorage.setItem('comanda.kitchen.preferences', '{\"theme\": \"%s\"}')" % theme)
    until_shown(page, lambda cards: len(cards) == 4)
    assert findings(page, node_modules) == []
    page.close()


@pytest.mark.parametrize("width, height", [(800, 480), (1280, 800)])
def test_axe_finds_nothing_in_any_view_and_all_can_be_touched(busy, node_modules, width, height):
    page = busy.display(width=width, height=height)
    until_shown(page, lambda cards: len(cards) == 4)
    for number, view in enumerate(VIEWS, 1):
        page.click(f"nav button:nth-child({number})")
        page.until(f"document.querySelector('nav button:nth-child({number})[aria-current]') !== null && !/Conectando/.test(document.querySelector('main').innerText)")
        assert findings(page, node_modules) == [], view
        small = page.run("""Array.from(document.querySelectorAll('button, input, a')).map((each) => [each.outerHTML.slice(0, 80), each.getBoundingClientRect()])
          .filter(([, box]) => box.height < 48 || box.width < 48).map(([html, box]) => [html, box.width, box.height])""")
        assert [each for each in small if not each[0].startswith("<a ")] == [], view
        assert page.run("document.documentElement.scrollWidth") <= width, view
    assert page.errors == []
    page.close()


def test_a_screen_that_is_not_let_in_is_as_clear(wall, node_modules):
    page = wall.blank(width=800, height=480)
    page.open(f"https://127.0.0.1:{wall.box.port}/kitchen")
    page.until("/\\d{3} \\d{3}/.test((document.querySelector('.big') || {innerText: ''}).innerText)")
    assert findings(page, node_modules) == []
    assert page.run("document.documentElement.scrollWidth") <= 800
    page.close()


def test_at_200_percent_nothing_is_cut(busy):
    page = busy.display(width=640, height=400)
    until_shown(page, lambda cards: len(cards) == 4)
    assert page.run("document.documentElement.scrollWidth") <= 640
    assert page.run("document.querySelector('main').scrollWidth <= document.querySelector('main').clientWidth")
    page.close()


# Text that is not wholly inside what cuts it: [what is written, what cuts]. `main` scrolls, and .said ends in three dots.
CUT = """(() => {
  const found = [], texts = document.createTreeWalker(document.getElementById('page'), NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const parent = text.parentElement;
    if (!text.data.trim() || parent.closest('.unseen, .said')) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    for (const line of Array.from(range.getClientRects())) {
      for (let around = parent; around && around.id !== 'page'; around = around.parentElement) {
        const style = getComputedStyle(around), box = around.getBoundingClientRect();
        if (style.overflowX === 'visible' && around.tagName !== 'BUTTON') continue;
        if (line.left < box.left - 1 || line.right > box.right + 1 ||
            (around.id !== 'main' && (line.top < box.top - 2 || line.bottom > box.bottom + 2)))
          found.push([text.data, around.className || around.tagName]);
      }
    }
  }
  return found;
})()"""


@pytest.mark.parametrize("language", ["es", "en", "pt"])
def test_no_word_is_cut_in_any_language_at_any_size(busy, language):
    """Also beside numbers of four digits, which are those of a busy week."""
    minutes = {"es": 9, "en": 30, "pt": 30}[language]
    before = f"(() => {{ const parse = Date.parse; Date.parse = (text) => parse(text) + (/GMT/.test(text) ? {minutes * 60000} : 0); }})();"
    page = busy.display(before=before + "localStorage.setItem('comanda.kitchen.preferences', '{\"language\": \"%s\"}')" % language)
    until_shown(page, lambda cards: len(cards) == 4)
    for number, view in enumerate(VIEWS, 1):
        page.click(f"nav button:nth-child({number})")
        page.until(f"document.querySelector('nav button:nth-child({number})[aria-current]') !== null && document.querySelector('main').innerText.length > 20")
        for width, height in ((800, 480), (1280, 800), (1920, 1080)):
            page.show(width, height)
            for size in ("small", "medium", "large"):
                page.run(f"document.documentElement.setAttribute('data-size', '{size}');"
                         "Array.from(document.querySelectorAll('.number')).forEach((each) => { (each.firstElementChild || each).innerText = '1234'; })")
                assert page.run(CUT) == [], (view, width, size)
    page.close()


def test_what_is_said_of_a_dish_is_as_plain_on_the_pass(busy):
    page = busy.display()
    until_shown(page, lambda cards: len(cards) == 4)
    looks = []
    for number in (1, 3):
        page.click(f"nav button:nth-child({number})")
        page.until(f"document.querySelector('nav button:nth-child({number})[aria-current]') !== null")
        looks.append(page.run("""(() => { const style = getComputedStyle(document.querySelector('li .comment'));
          return [document.querySelector('li .comment').innerText, style.backgroundColor, style.color, style.fontWeight, style.borderTopWidth]; })()"""))
    assert looks[0] == looks[1] and looks[0][0] == "SIN CEBOLLA"
    page.close()


def test_what_is_cancelled_is_not_also_called_sold_out(busy):
    order = busy.order(busy.dish("cold"), busy.dish("cold"))
    busy.cancel_line(order)
    page = busy.display()
    page.until(f"document.querySelector('[data-order=\"{order['id']}\"] .cancelled') !== null")
    assert page.run(f"""Array.from(document.querySelectorAll('[data-order="{order['id']}"] .line')).map((line) =>
      [line.classList.contains('cancelled'), line.querySelectorAll('.gone-86').length])""") == [[True, 0], [False, 1]]
    page.close()
    busy.cancel(order)
    busy.api.post(f"/v1/kitchen/tickets/{order['id']}/done", {"line_ids": [line["id"] for line in busy.ticket(order["id"])["lines"]]})


def test_the_bar_counts_the_tickets_that_are_further_down(busy):
    page = busy.display(width=800, height=480)
    until_shown(page, lambda cards: len(cards) == 4)
    page.until("/↓ 1 más abajo/.test(document.querySelector('.facts').innerText)")
    page.run("document.querySelector('main').scrollTop = 10000")
    page.until("document.querySelector('.facts .below') === null")
    page.click("nav button:nth-child(2)")
    page.until("document.querySelector('.list') !== null && document.querySelector('.facts .below') === null")
    page.click("nav button:nth-child(3)")
    page.until("document.querySelector('.facts .below') !== null")
    page.show(1920, 1080)
    page.until("document.querySelector('.facts .below') === null")
    assert page.errors == []
    page.close()


def test_the_files_to_install_are_apart_on_a_phone(busy):
    page = busy.blank(width=390, height=800)
    page.open(f"https://127.0.0.1:{busy.box.port}/setup")
    boxes = page.run("Array.from(document.querySelectorAll('.get')).map((each) => each.getBoundingClientRect()).map((box) => [box.left, box.top, box.right, box.bottom])")
    assert len(boxes) >= 2
    for one, (left, top, right, bottom) in enumerate(boxes):
        assert bottom - top >= 48
        for other in boxes[one + 1:]:
            assert other[0] >= right + 4 or other[1] >= bottom + 4, boxes
    page.close()


# How fast

LONG_TASKS = """window.tasks = []; new PerformanceObserver((list) => list.getEntries().forEach((entry) => window.tasks.push(entry.duration)))
  .observe({entryTypes: ['longtask']})"""


def test_the_first_tickets_are_there_in_two_seconds_on_a_slow_tablet(busy):
    page = busy.display(name="Tableta vieja")
    address = page.run("location.href")
    page("Network.setCacheDisabled", cacheDisabled=True)
    page("Emulation.setCPUThrottlingRate", rate=6)
    page.open("about:blank")
    page("Page.addScriptToEvaluateOnNewDocument", source="""(() => {
      new MutationObserver((_, observer) => {
        if (document.querySelector('.card')) { window.firstTicket = performance.now(); observer.disconnect(); }
      }).observe(document, {childList: true, subtree: true});
    })()""")
    page.open(address)
    first_ms = page.until("window.firstTicket")
    print("first ticket after", round(first_ms), "ms")
    # Others may have the processor meanwhile: the best of three.
    for _ in range(2):
        if first_ms > 2000:
            page.open(address)
            first_ms = min(first_ms, page.until("window.firstTicket"))
    assert first_ms <= 2000
    page.close()


def test_three_hundred_open_orders_leave_the_page_alive(wall):
    page = wall.display(before=LONG_TASKS)
    for number in range(300):
        wall.order(f"Plato {number % 30}", "Sopa")
    until_shown(page, lambda cards: len(cards) >= 300)
    page("Emulation.setCPUThrottlingRate", rate=6)
    # Others may have the processor meanwhile: the best of eight.
    longest_ms = []
    for number in range(8):
        page.run("window.tasks.length = 0")
        order = wall.order("El último")
        wait_until(lambda: order["id"] in [card["order"] for card in shown(page)], lambda: len(shown(page)))
        # The browser reports a long task when it has ended; three seconds include the page's own timers.
        time.sleep(3)
        longest_ms.append(max(page.run("window.tasks"), default=0))
        if longest_ms[-1] <= 100:
            break
    print("longest tasks", longest_ms)
    page.close()
    wall.clear()
    assert min(longest_ms) <= 100, longest_ms
