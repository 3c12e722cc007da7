"""The kitchen display as a cook uses it, in Chromium: what it shows is what the API says, and what is touched reaches the box."""

import re
import time

import pytest

from support.kitchen_wall import MARKS, UNDO_S, shown, until_shown
from support.waiting import wait_until


def line_of(order, number=0):
    return order["combos"][number]["id"]


def lines(page, order):
    """{line: look} of an order's card, or None."""
    return next((dict(card["lines"]) for card in shown(page) if card["order"] == order["id"]), None)


def touch(page, order, number=0):
    page.click(f"[data-line='{line_of(order, number)}']")


def undo(page):
    page.click(".undo button")


def status(wall, order):
    return wall.api.get(f"/v1/orders/{order['id']}").data["status"]


# Letting in

def test_the_code_of_the_box_lets_a_screen_in_and_is_gone_from_the_address(wall, screen):
    assert screen.run("location.href") == f"https://127.0.0.1:{wall.box.port}/kitchen"
    assert screen.run("history.length") <= 2
    assert "c=" not in screen.run("JSON.stringify(Object.keys(localStorage)) + location.href")


def test_a_screen_without_a_key_shows_a_number_and_is_let_in_by_it(wall):
    page = wall.blank()
    page.open(f"https://127.0.0.1:{wall.box.port}/kitchen")
    number = page.until("(document.querySelector('.big') || {innerText: ''}).innerText.replace(/\\D/g, '')")
    assert re.fullmatch(r"\d{6}", number)
    wall.box.command("pair", "accept", number, "--as", "kitchen", "--name", "Barra", "--data", str(wall.box.data))
    page.until("document.querySelector('.dot:not(.waits)') !== null")
    assert page.errors == []
    page.close()


def test_a_revoked_key_shows_why_and_what_was_stored_is_deleted(wall):
    page = wall.display(name="Freidora")
    order = wall.order("Papas")
    until_shown(page, lambda cards: order["id"] in [card["order"] for card in cards])
    keys = wall.api.get("/auth/api-keys?per_page=100&filter[active]=true").data
    (key,) = [key for key in keys if key["name"] == "Freidora"]
    assert wall.api.delete("/auth/api-keys/" + key["id"]).status == 200
    page.until("document.querySelector('.reason') !== null && document.querySelector('.big') !== null")
    # In one language, that of the restaurant, whatever the browser's is.
    assert page.run("navigator.language.slice(0, 2)") == "en" and page.run("document.documentElement.lang") == "es"
    assert "fue retirado" in page.text(".reason") and "todavía no tiene permiso" in page.text("h1") and "panel" in page.text(".ways")
    assert "sudo" not in page.text(".ways")
    assert page.run("Object.keys(localStorage).filter((name) => /key|mark|announced/.test(name)).length") == 0
    assert shown(page) == []
    number = page.until("(document.querySelector('.big') || {innerText: ''}).innerText.replace(/\\D/g, '')")
    wall.box.command("pair", "accept", number, "--as", "kitchen", "--name", "Freidora 2", "--data", str(wall.box.data))
    until_shown(page, lambda cards: order["id"] in [card["order"] for card in cards])
    page.until("document.querySelector('.dot:not(.waits)') !== null")
    page.close()
    wall.clear()


# Tickets

def test_an_order_appears_with_its_dishes_and_is_heard_once(wall, screen):
    order = wall.order({"product_name": "Ceviche", "quantity": 2, "variant_name": "Personal", "comment": "SIN CEBOLLA",
                        "modifiers": [{"name": "Sin ají", "quantity": 1, "price": 0}, {"name": "Camote", "quantity": 3, "price": 1}]},
                       order_title="Los novios", comment="Cumpleaños")
    until_shown(screen, lambda cards: [card["order"] for card in cards] == [order["id"]])
    text = screen.text(".card")
    for words in ("Ceviche", "Personal", "SIN CEBOLLA", "Sin ají", "3× Camote por plato", "Los novios", "Cumpleaños", "0 min"):
        assert words in text, text
    assert screen.text(".card .number") == str(order["order_number"])
    wait_until(lambda: screen.run("window.tones.length") == 3, lambda: screen.run("window.tones"))


def test_text_is_never_markup_and_is_wrapped(wall, screen):
    names = ["<img src=x onerror=\"window.broken = 1\">", "W" * 200, "\u0645\u0631\u062d\u0628\u0627 100%", "🌶️🔥 Ají"]
    order = wall.order(*names, {"product_name": "Kilo", "quantity": 1.375})
    until_shown(screen, lambda cards: [len(card["lines"]) for card in cards] == [5])
    assert screen.run("Array.from(document.querySelectorAll('.dish')).map((dish) => dish.textContent)") == [*names, "Kilo"]
    assert screen.run("window.broken") is None and screen.run("document.querySelectorAll('main img').length") == 0
    assert screen.run("document.querySelector('main').scrollWidth <= document.querySelector('main').clientWidth")
    assert "1,375" in screen.text(".card")
    assert order["id"]


def test_a_touched_line_is_sent_after_five_seconds_and_not_before(wall, screen):
    order = wall.order("Lomo", "Ají")
    until_shown(screen, lambda cards: len(cards) == 1)
    touch(screen, order)
    began = time.monotonic()
    assert lines(screen, order) == {line_of(order): "marked", line_of(order, 1): "waits"}
    while time.monotonic() - began < UNDO_S - 1:
        assert status(wall, order) == "PENDING"
        time.sleep(0.5)
    wait_until(lambda: status(wall, order) == "PREPARING", lambda: wall.ticket(order["id"]))
    until_shown(screen, lambda cards: [card["lines"] for card in cards] == [[[line_of(order, 1), "waits"]]])
    assert "Listos: 1" in screen.text(".card")


def test_a_dish_that_is_held_is_asked_for_and_not_marked(wall, screen):
    order = wall.order("Lomo")
    until_shown(screen, lambda cards: len(cards) == 1)
    x, y = screen.run(f"(() => {{ const box = document.querySelector(\"[data-line='{line_of(order)}']\").getBoundingClientRect();"
                      " return [box.x + 40, box.y + 10]; })()")
    at = {"x": x, "y": y, "button": "left", "clickCount": 1}
    screen("Input.dispatchMouseEvent", type="mousePressed", **at)
    screen.until("document.querySelector('input[type=search], .search input, main input') !== null")
    screen("Input.dispatchMouseEvent", type="mouseReleased", **at)
    assert screen.run("document.querySelector('main input').value") == "Lomo"
    assert screen.run("document.querySelector('.undo')") is None
    screen.click("nav button")
    assert lines(screen, order) == {line_of(order): "waits"}


@pytest.mark.parametrize("how", ["bar", "line"])
def test_what_is_undone_is_never_sent(wall, screen, how):
    order = wall.order("Lomo")
    until_shown(screen, lambda cards: len(cards) == 1)
    touch(screen, order)
    if how == "bar":
        undo(screen)
    else:
        touch(screen, order)
    assert lines(screen, order) == {line_of(order): "waits"}
    other = wall.order("Otro")
    until_shown(screen, lambda cards: len(cards) == 2)
    touch(screen, other)
    wait_until(lambda: status(wall, other) == "READY", lambda: shown(screen))
    assert status(wall, order) == "PENDING" and wall.ticket(order["id"])["lines"][0]["done_at"] is None


def test_the_head_marks_what_the_card_shows(wall, screen):
    order = wall.order("Lomo", "Ají", "Sopa")
    until_shown(screen, lambda cards: len(cards) == 1)
    screen.click(".card .head")
    wait_until(lambda: status(wall, order) == "READY", lambda: shown(screen))
    until_shown(screen, lambda cards: cards == [])


def test_the_number_starts_the_order(wall, screen):
    order = wall.order("Lomo")
    until_shown(screen, lambda cards: len(cards) == 1)
    screen.click(".card .number")
    wait_until(lambda: status(wall, order) == "PREPARING", lambda: shown(screen))
    assert lines(screen, order) == {line_of(order): "waits"}


def test_what_is_cancelled_stays_until_it_is_touched(wall, screen):
    order = wall.order("Lomo", "Ají")
    whole = wall.order("Sopa")
    until_shown(screen, lambda cards: len(cards) == 2)
    wall.cancel_line(order)
    wall.cancel(whole, reason="Se fueron")
    until_shown(screen, lambda cards: sorted(card["lines"][0][1] for card in cards) == ["cancelled", "cancelled"])
    card = f"[data-order='{whole['id']}']"
    assert "Se fueron" in screen.text(card) and "ANULADA" in screen.text(card)
    touch(screen, order)
    screen.click(card + " .head")
    until_shown(screen, lambda cards: [card["lines"] for card in cards] == [[[line_of(order, 1), "waits"]]])
    assert status(wall, order) == "PENDING"


def test_marks_survive_a_reload_and_are_sent_once(wall, screen):
    order = wall.order("Lomo")
    until_shown(screen, lambda cards: len(cards) == 1)
    tones = screen.run("window.tones.length")
    assert tones == 3
    touch(screen, order)
    screen("Page.reload")
    until_shown(screen, lambda cards: [card["lines"] for card in cards] == [[[line_of(order), "marked"]]])
    wait_until(lambda: status(wall, order) == "READY", lambda: shown(screen))
    assert screen.run("window.tones.length") == 0  # heard before
    screen.until(MARKS + ".length === 0")


def test_two_tabs_keep_their_marks_beside_each_other(wall):
    """The tab that was closed while the box did not answer has lost nothing: the other one sends its mark."""
    closed = wall.display(apart=False)
    stays = wall.blank(apart=False)
    stays.open(f"https://127.0.0.1:{wall.box.port}/kitchen")
    first, second = wall.order("Lomo"), wall.order("Sopa")
    for page in (closed, stays):
        until_shown(page, lambda cards: len(cards) == 2)
    wall.box.signal(19)
    try:
        touch(closed, first)
        touch(stays, second)
        assert len(stays.run(MARKS)) == 2
        closed.close()
    finally:
        wall.box.signal(18)
    wait_until(lambda: status(wall, second) == "READY", lambda: shown(stays))
    stays("Page.reload")
    wait_until(lambda: status(wall, first) == "READY", lambda: shown(stays))
    stays.until(MARKS + ".length === 0")
    assert stays.errors == []
    stays.close()
    wall.clear()


def test_a_tab_that_was_duplicated_is_a_display_of_its_own(wall):
    first = wall.display(apart=False)
    name = "JSON.parse(sessionStorage.getItem('comanda.kitchen.display'))"
    second = wall.blank(apart=False)
    second.open(f"https://127.0.0.1:{wall.box.port}/kitchen")
    second.run(f"sessionStorage.setItem('comanda.kitchen.display', {first.run('JSON.stringify(' + name + ')')!r})")
    second("Page.reload")
    second.until(f"{name} !== {first.run(name)!r}")
    wait_until(lambda: len(wall.api.get("/v1/kitchen/stations").data[0]["displays"]) == 2, lambda: wall.api.get("/v1/kitchen/stations").data)
    for page in (first, second):
        page.close()


def test_stations_show_their_own_and_what_waits_elsewhere(wall):
    bar = wall.display(query="?station=0192f0a0-0020-7000-8000-000000000003")
    order = wall.order(wall.dish("cold"), wall.dish("cold", 1), wall.dish("bar"), "Sin estación")
    until_shown(bar, lambda cards: [len(card["lines"]) for card in cards] == [2])
    assert "También en: Cocina fría 0/2" in bar.text(".card")
    assert "sin estación" in bar.text(".card")
    assert wall.api.get("/v1/kitchen/stations").data[2]["displays"]
    assert [line[0] for line in shown(bar)[0]["lines"]] == [line_of(order, 2), line_of(order, 3)]
    assert bar.errors == []
    bar.close()
    wall.clear()


def test_the_address_names_stations_as_people_do(wall):
    page = wall.display(query="?station=BARRA,%20cocina%20fria")
    order = wall.order(wall.dish("cold"), wall.dish("hot"), wall.dish("bar"))
    until_shown(page, lambda cards: [len(card["lines"]) for card in cards] == [2])
    assert [line[0] for line in shown(page)[0]["lines"]] == [line_of(order, 0), line_of(order, 2)]
    assert "Barra, Cocina fría" in page.text(".facts") and page.run("document.querySelector('.alert')") is None
    page.close()
    wall.clear()


def test_a_station_that_does_not_exist_is_said(wall):
    page = wall.display(query="?station=barra,Parrila")
    page.until("document.querySelector('.alert') !== null")
    told = page.text(".alert")
    assert "una estación que no existe: Parrila." in told and "Cocina fría" in told and "Barra" in told
    assert page.text(".facts b") == "Barra"
    page.close()


def press(page, key, code):
    for kind in ("keyDown", "keyUp"):
        page("Input.dispatchKeyEvent", type=kind, key=key, code=code, text=key if len(key) == 1 and kind == "keyDown" else "")


def test_keys_of_a_bump_bar_mark_and_undo(wall, screen):
    first, second = wall.order("Lomo"), wall.order("Sopa")
    until_shown(screen, lambda cards: len(cards) == 2)
    press(screen, "2", "Digit2")
    assert lines(screen, second) == {line_of(second): "marked"}
    press(screen, "u", "KeyU")
    assert lines(screen, second) == {line_of(second): "waits"}
    press(screen, "ArrowRight", "ArrowRight")
    assert screen.run("document.activeElement.closest('.card').dataset.order") == first["id"]
    press(screen, "r", "KeyR")
    screen.until("document.querySelector('.card') === null")


def test_keys_of_a_bump_bar_bring_back_what_was_marked(wall, screen):
    orders = [wall.order(name) for name in ("Lomo", "Sopa", "Causa")]
    until_shown(screen, lambda cards: len(cards) == 3)
    for order in orders:
        press(screen, "1", "Digit1")
        wait_until(lambda: status(wall, order) == "READY", lambda: shown(screen))
        until_shown(screen, lambda cards: order["id"] not in [card["order"] for card in cards])
    press(screen, "r", "KeyR")
    screen.until("document.querySelectorAll('.past').length >= 3")
    listed = screen.run("Array.from(document.querySelectorAll('.past')).map((each) => each.dataset.order)")
    assert listed[:3] == [order["id"] for order in reversed(orders)]
    assert screen.run("Array.from(document.querySelectorAll('.past .place')).slice(0, 3).map((each) => each.innerText)") == ["1", "2", "3"]
    press(screen, "2", "Digit2")
    wait_until(lambda: wall.ticket(orders[1]["id"])["lines"][0]["waits"], lambda: wall.ticket(orders[1]["id"]))
    screen.until(f"document.querySelector('.past').dataset.order === '{orders[2]['id']}'")
    press(screen, "ArrowDown", "ArrowDown")
    press(screen, " ", "Space")
    wait_until(lambda: wall.ticket(orders[2]["id"])["lines"][0]["waits"], lambda: wall.ticket(orders[2]["id"]))
    press(screen, "r", "KeyR")
    until_shown(screen, lambda cards: [card["order"] for card in cards] == [orders[1]["id"], orders[2]["id"]])
    assert wall.ticket(orders[0]["id"])["state"] == "ready"


def test_a_key_s_number_hides_nothing_and_the_ring_of_what_is_chosen_is_whole(wall, screen):
    wall.order("Lomo", order_title="Los novios de la mesa grande del fondo y sus padres")
    until_shown(screen, lambda cards: len(cards) == 1)
    press(screen, "ArrowRight", "ArrowRight")
    assert screen.run("""(() => {
      const box = (element) => element.getBoundingClientRect();
      const text = document.createRange();
      text.selectNodeContents(document.querySelector('.card .title'));
      const place = box(document.querySelector('.card .place'));
      return place.width > 0 && Array.from(text.getClientRects()).every((line) => line.right <= place.left || line.top >= place.bottom);
    })()""")
    offset, width = screen.run("""(() => { const style = getComputedStyle(document.activeElement);
      return [parseFloat(style.outlineOffset), parseFloat(style.outlineWidth)]; })()""")
    assert width >= 3 and offset + width <= 0  # the card cuts what is outside


def test_recall_brings_a_line_back(wall, screen):
    order = wall.order("Lomo")
    until_shown(screen, lambda cards: len(cards) == 1)
    screen.click(".card .head")
    wait_until(lambda: status(wall, order) == "READY", lambda: shown(screen))
    screen.click("nav button:nth-child(4)")
    screen.click(f".past[data-order='{order['id']}'] button")
    wait_until(lambda: wall.ticket(order["id"])["lines"][0]["waits"], lambda: wall.ticket(order["id"]))
    screen.click("nav button:nth-child(1)")
    until_shown(screen, lambda cards: len(cards) == 1)


def test_a_dish_is_sold_out_until_tomorrow_and_back_again(wall, screen):
    dish = wall.dish("cold")
    product = "/v1/menu/products/" + dish["product_id"]
    screen.click("nav button:nth-child(5)")
    screen.type(".search input", dish["product_name"].lower())
    row = f"[data-item='{dish['product_id']}']"
    screen.click(row + " .strong")
    wait_until(lambda: wall.api.get(product).data["sold_out"], lambda: screen.errors)
    until = wall.api.get(product).data["sold_out"]["until"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT10:00:00\.000Z", until)  # 05:00 in Lima
    screen.type(".search input", "")
    screen.click(row + " button")
    wait_until(lambda: wall.api.get(product).data["sold_out"] is None, lambda: screen.errors)


def test_what_is_sold_out_has_a_sign_on_its_tickets_and_in_all_day_until_it_is_back(wall, screen):
    """Whoever says so: here another program."""
    dish = wall.dish("cold")
    modifiers = {product["id"]: product["modifiers"] for category in wall.api.get("/v1/kitchen/menu").data["categories"]
                 for product in category["products"]}
    hot = next(dish for dish in (wall.dish("hot", number) for number in range(6)) if modifiers[dish["product_id"]])
    modifier = modifiers[hot["product_id"]][0]
    order = wall.order(dish, {**hot, "modifiers": [{"modifier_id": modifier["id"], "name": modifier["name"], "quantity": 1, "price": 0}]})
    until_shown(screen, lambda cards: [len(card["lines"]) for card in cards] == [2])
    signed = "Array.from(document.querySelectorAll('.gone-86')).map((each) => each.parentElement.closest('.line, .row').innerText)"
    assert screen.run(signed) == []
    sold_out = [f"/v1/menu/products/{dish['product_id']}/sold-out", f"/v1/menu/modifiers/{modifier['id']}/sold-out"]
    for path in sold_out:
        assert wall.api.put(path, {"until": None}).status == 200
    wait_until(lambda: len(screen.run(signed)) == 2, lambda: screen.run(signed), 30)
    assert dish["product_name"] in screen.run(signed)[0] and "AGOTADO" in screen.run(signed)[0]
    assert modifier["name"] in screen.run(signed)[1]
    screen.click("nav button:nth-child(2)")
    assert [dish["product_name"] in text for text in screen.run(signed)] == [True]
    for path in sold_out:
        assert wall.api.delete(path).status == 200
    wait_until(lambda: screen.run(signed) == [], lambda: screen.run(signed), 30)
    assert wall.ticket(order["id"])["state"] == "open"


def test_the_view_of_what_is_sold_out_says_what_each_thing_is_and_until_when(wall, screen):
    menu = wall.api.get("/v1/kitchen/menu").data
    modifier = next(modifier for category in menu["categories"] for product in category["products"] for modifier in product["modifiers"])
    screen.click("nav button:nth-child(5)")
    screen.type(".search input", "no hay tal cosa")
    assert "Nada se llama así: «no hay tal cosa»." in screen.text(".sold-out")
    screen.type(".search input", modifier["name"])
    row = f"[data-item='{modifier['id']}']"
    dish = next(product["name"] for category in menu["categories"] for product in category["products"] if modifier in product["modifiers"])
    assert "modificador de " + dish in screen.text(row) and "Agotar hasta mañana" in screen.text(row)
    screen.click(row + " .strong")
    path = f"/v1/menu/modifiers/{modifier['id']}/sold-out"
    screen.until(f"document.querySelector(\"{row} .choices\") === null")
    # The day begins at 05:00, today or tomorrow.
    assert re.search(r"hasta (mañana|las) 05:00", screen.text(row)) and "Volver a vender" in screen.text(row)
    assert wall.api.delete(path).status == 200


def test_the_pass_shows_all_stations_and_says_so(wall):
    page = wall.display(query="?station=Barra&view=pass")
    order = wall.order(wall.dish("cold"), wall.dish("bar"))
    until_shown(page, lambda cards: [card["order"] for card in cards] == [order["id"]])
    assert page.run("document.querySelectorAll('.card .short li').length") == 2
    assert page.text(".facts b") == "Todas las estaciones"
    page.click("nav button:nth-child(1)")
    until_shown(page, lambda cards: [len(card["lines"]) for card in cards] == [1])
    assert page.text(".facts b") == "Barra"
    page.click("nav button:nth-child(6)")
    settings = page.text(".settings")
    assert "su clave sigue activa" in settings and "comanda keys revoke ID" in settings
    page.close()
    wall.clear()


def test_ages_are_of_the_box_whatever_the_tablet_says(wall):
    page = wall.display(before="(() => { const now = Date.now; Date.now = () => now() + 2 * 365 * 86400000; })()")
    order = wall.order("Lomo")
    until_shown(page, lambda cards: [card["kind"] for card in cards] == ["well"])
    assert "0 min" in page.text(f"[data-order='{order['id']}']")
    assert page.errors == []
    page.close()
    wall.clear()


def test_the_box_hears_that_a_screen_is_mute(wall):
    mute = """Object.defineProperty(AudioContext.prototype, 'state', {get: () => 'suspended'})"""
    page = wall.display(before=mute)
    page.until("document.querySelector('.hear') !== null")
    wait_until(lambda: [display["sound"] for display in wall.api.get("/v1/kitchen/stations").data[0]["displays"]] == ["muted"],
               lambda: wall.api.get("/v1/kitchen/stations").data)
    page.close()


def test_a_box_that_does_not_answer_is_said_and_marks_wait(wall, screen):
    order = wall.order("Lomo")
    until_shown(screen, lambda cards: len(cards) == 1)
    wall.box.signal(19)
    try:
        touch(screen, order)
        screen.until("document.querySelector('.silent') !== null")
        assert re.search(r"no responde hace 1\d\ss", screen.text(".no-answer"))
        assert "1 marca por enviar" in screen.text(".truth")
        assert lines(screen, order) == {line_of(order): "marked"}
    finally:
        wall.box.signal(18)
    screen.until("document.querySelector('.silent') === null")
    wait_until(lambda: status(wall, order) == "READY", lambda: shown(screen))
    assert len(wall.api.get(f"/v1/orders/{order['id']}").data["status_history"]) <= 3


def test_the_page_asks_the_documented_api_alone(wall, screen):
    order = wall.order("Lomo")
    until_shown(screen, lambda cards: len(cards) == 1)
    screen.click(".card .head")
    wait_until(lambda: status(wall, order) == "READY", lambda: shown(screen))
    base = f"https://127.0.0.1:{wall.box.port}"
    asked = {(method, re.sub(r"\?.*|[0-9a-f-]{36}|page\.[0-9a-f]{12}", "…", url.removeprefix(base))) for method, url in screen.sent()}
    assert asked <= {("GET", "/kitchen"), ("GET", "/kitchen…"), ("GET", "/kitchen/….js"), ("GET", "/kitchen/….css"), ("GET", "/kitchen/….svg"),
                     ("GET", "/kitchen/….webmanifest"), ("GET", "/kitchen/worker.js"), ("POST", "/auth/pair"), ("GET", "/readyz"),
                     ("GET", "/v1/kitchen/settings"), ("GET", "/v1/kitchen/stations…"), ("GET", "/v1/kitchen/tickets…"),
                     ("GET", "/v1/kitchen/changes…"), ("GET", "/v1/kitchen/menu"), ("POST", "/v1/kitchen/tickets/…/done")}, asked


def test_the_others_hear_of_a_screen_that_is_off(wall, screen):
    """Its station has waiting dishes: within 40 s another display says that nobody watches it."""
    bar = wall.display(name="Barra", query="?station=0192f0a0-0020-7000-8000-000000000003")
    cold = "?station=0192f0a0-0020-7000-8000-000000000001"
    kitchen = wall.display(name="Fría", query=cold)
    wall.order(wall.dish("bar"))
    until_shown(bar, lambda cards: len(cards) == 1)
    screen.open("about:blank")  # it shows all stations
    bar.close()
    wait_until(lambda: "Nadie mira Barra" in kitchen.text(".truth"), lambda: kitchen.text(".truth"), 45)
    assert kitchen.errors == []
    kitchen.close()
