"""What a display does with a storage that is full or forbidden, answers of a later program, a log that no longer has what it asks for,
and a box that moved: it works on, and says what there is to say."""

import json

import pytest

from support.altering_proxy import AlteringProxy
from support.kitchen_wall import shown, until_shown
from support.waiting import wait_until

FULL = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }"
FORBIDDEN = "['localStorage', 'sessionStorage'].forEach((name) => Object.defineProperty(window, name, " \
    "{get: () => { throw new DOMException('denied', 'SecurityError'); }}))"


def touch(page, order, number=0):
    page.run(f"document.querySelector('[data-line=\"{order['combos'][number]['id']}\"]').click()")


def looks(page):
    return {line: look for card in shown(page) for line, look in card["lines"]}


@pytest.mark.parametrize("storage", [FULL, FORBIDDEN])
def test_a_browser_that_keeps_nothing_works_until_it_is_closed_and_says_so(wall, storage):
    page = wall.display(before=storage)
    order = wall.order("Lomo", "Ají")
    until_shown(page, lambda cards: [card["order"] for card in cards] == [order["id"]])
    page.until("/Este navegador no guarda nada/.test(document.querySelector('.truth').innerText)")
    touch(page, order)
    touch(page, order, 1)
    page.click(".undo button")
    wait_until(lambda: wall.api.get(f"/v1/orders/{order['id']}").data["status"] == "PREPARING", lambda: page.text("body"))
    until_shown(page, lambda cards: looks(page) == {order["combos"][1]["id"]: "waits"})
    other = wall.order("Sopa")
    until_shown(page, lambda cards: other["id"] in [card["order"] for card in cards])
    wait_until(lambda: page.run("window.tones.length") == 6, lambda: page.run("window.tones"))
    assert page.errors == []
    page.close()
    wall.clear()


class Later(AlteringProxy):
    """A program of a later year, which has more of everything."""

    def __init__(self, box):
        super().__init__(box, self.change, is_secure=True)
        self.order = None

    def change(self, _, path, answer):
        if not path.startswith("/v1/kitchen/") or answer.status != 200 or not answer.body:
            return
        body = json.loads(answer.body)
        body["weather"] = {"rain": True}
        for row in body["data"] if isinstance(body["data"], list) else [body["data"]]:
            row["more"] = [1]
            if row.get("order_id") == self.order and "lines" in row:
                row.update(state="tasting", status="TASTED", service_type="DRONE", source="MARS")
                for line in row["lines"]:
                    line.update(temper="hot", station_id="01a2aaaa-0000-7000-8000-000000000001")
        if "alerts" in body:
            body["alerts"] += [{"kind": "roof_leaks", "name": "Techo", "since": "2026-11-26T12:00:00.000Z", "litres": 3}]
        answer.body = json.dumps(body).encode()


def test_what_the_page_does_not_know_is_shown_as_it_is(wall):
    with Later(wall.box) as later:
        wall.port = later.server.server_port
        try:
            plain = wall.order("Lomo")
            strange = wall.order("Sopa")
            later.order = strange["id"]
            page = wall.display()
            until_shown(page, lambda cards: {card["order"] for card in cards} == {plain["id"], strange["id"]})
            text = page.text(f"[data-order='{strange['id']}']")
            for words in ("tasting", "DRONE", "MARS", "Sopa"):
                assert words in text, text
            page.until("/roof_leaks: Techo/.test(document.querySelector('.truth').innerText)")
            for view in range(1, 7):
                page.click(f"nav button:nth-child({view})")
                page.until(f"document.querySelector('nav button:nth-child({view})[aria-current]') !== null"
                           " && document.querySelector('main').innerText.trim() !== ''")
            page.click("nav button")
            touch(page, plain)
            wait_until(lambda: wall.api.get(f"/v1/orders/{plain['id']}").data["status"] == "READY", lambda: page.text("body"))
            assert page.errors == []
            page.close()
        finally:
            wall.port = wall.box.port
            wall.clear()


def test_events_that_the_log_no_longer_has_are_read_as_tickets_and_heard_once(wall, screen):
    cancelled, sent = wall.order("Lomo"), wall.order("Sopa")
    until_shown(screen, lambda cards: [card["order"] for card in cards] == [cancelled["id"], sent["id"]])
    heard = screen.run("window.tones.length")  # three for each that came by itself
    offline = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    screen("Network.emulateNetworkConditions", offline=True, **offline)
    new = wall.order("Papas")
    wall.cancel(cancelled)
    wall.api.post(f"/v1/kitchen/tickets/{sent['id']}/out", {})
    assert wall.box.stop() == 0
    wall.box.execute("UPDATE company_counter SET log_start = event_seq, checksum = NULL")  # as after a week
    wall.box.start()
    screen("Network.emulateNetworkConditions", offline=False, **offline)
    expected = {new["combos"][0]["id"]: "waits", cancelled["combos"][0]["id"]: "cancelled"}
    wait_until(lambda: looks(screen) == expected, lambda: (looks(screen), expected, wall.tickets()))
    last = wall.order("Ají")
    until_shown(screen, lambda cards: last["id"] in [card["order"] for card in cards])
    wait_until(lambda: screen.run("window.tones.length") >= heard + 9, lambda: screen.run("window.tones"))
    assert screen.run("window.tones.length") == heard + 9
    gone = [event for event in screen.events("Network.responseReceived") if event["response"]["status"] == 410]
    assert gone, "the log had all that was asked for"


def test_a_box_that_stays_away_may_have_a_new_address_and_the_page_says_what_to_do(wall, screen):
    order = wall.order("Lomo")
    until_shown(screen, lambda cards: [card["order"] for card in cards] == [order["id"]])
    wall.box.signal(19)
    try:
        screen.until("document.querySelector('.silent') !== null")
        assert "comanda pair --as kitchen" not in screen.text(".truth")
        # A minute later.
        screen.run("(() => { const now = performance.now.bind(performance); performance.now = () => now() + 60000; })()")
        screen.until("/comanda pair --as kitchen/.test(document.querySelector('.truth').innerText)")
        assert looks(screen) == {order["combos"][0]["id"]: "waits"}
    finally:
        wall.box.signal(18)
    screen.until("document.querySelector('.silent') === null")
