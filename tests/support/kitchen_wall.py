"""Kitchen displays in a browser, and the till that gives them work."""

import json

from support.driven_page import Page
from support.waiting import wait_until

# The page sends a mark when it can no longer be undone.
UNDO_S = 5
STATIONS = {"cold": "0192f0a0-0020-7000-8000-000000000001", "hot": "0192f0a0-0020-7000-8000-000000000002",
            "bar": "0192f0a0-0020-7000-8000-000000000003"}
# What a display shows, read from its document.
SHOWN = """Array.from(document.querySelectorAll('.card')).map((card) => ({
  order: card.dataset.order,
  kind: ['gone', 'late', 'warn', 'well'].filter((name) => card.classList.contains(name))[0],
  rushed: card.classList.contains('rushed'),
  lines: Array.from(card.querySelectorAll('.line')).map((line) => [line.dataset.line,
    ['waits', 'marked', 'cancelled'].filter((name) => line.classList.contains(name))[0]]),
}))"""
# The marks that the browser keeps, which are not sent or not answered.
MARKS = """Object.keys(localStorage).filter((name) => name.startsWith('comanda.kitchen.mark.'))
  .map((name) => JSON.parse(localStorage.getItem(name))).sort((a, b) => a.place - b.place)"""
# Counts the tones that the page plays, and says that it may be heard (headless Chromium needs no touch).
LISTENING = """(() => {
  window.tones = [];
  const start = OscillatorNode.prototype.start;
  OscillatorNode.prototype.start = function (at) {
    window.tones.push(this.frequency.value);
    return start.call(this, at);
  };
})()"""


class Wall:
    def __init__(self, box, demo, browser):
        self.box, self.demo, self.browser = box, demo, browser
        self.port = box.port  # where displays find it
        self.api = box.client(box.make_key()["key"])
        self.orders, self._menu = [], {}

    # Displays

    def code(self, name="Parrilla"):
        """The address that `comanda pair --as kitchen` shows."""
        shown = self.box.command("pair", "--data", str(self.box.data), "--as", "kitchen", "--name", name, "--address",
                                 f"127.0.0.1:{self.port}", "--json", "--no-wait")
        return json.loads(shown.stdout)["uri"]

    def blank(self, apart=True, **size):
        page = self.browser.page(apart)
        page("Page.addScriptToEvaluateOnNewDocument", source=LISTENING)
        page.show(size.pop("width", 1280), size.pop("height", 800), size.pop("dark", False))
        return page

    def display(self, name="Parrilla", query="", before="", **size):
        """A display that is let in and shows its tickets."""
        page = self.blank(**size)
        if before:
            page("Page.addScriptToEvaluateOnNewDocument", source=before)
        page.open(self.code(name).replace("/kitchen#", "/kitchen" + query + "#"))
        page.until("document.querySelector('.dot:not(.waits)') !== null")
        return page

    # The till

    def order(self, *lines, **fields):
        """`lines`: names, or fields of a line."""
        order = self.api.place(**fields)
        self.orders.append(order["id"])
        return self.add(order, *lines) if lines else order

    def line(self, line):
        if isinstance(line, str):
            line = {"product_name": line}
        return {"quantity": 1, "variant_price": 10, **line}

    def dish(self, station, number=0, **fields):
        """A line with a product of the menu that is made there."""
        if not self._menu:
            variants = {product["id"]: product["variants"] for category in self.api.get("/v1/menu").data["categories"]
                        for product in category["products"]}
            for category in self.api.get("/v1/kitchen/menu").data["categories"]:
                for product in category["products"]:
                    self._menu.setdefault(product["station_id"], []).append((product, variants[product["id"]][0]))
        product, variant = self._menu[STATIONS[station]][number]
        return {"product_id": product["id"], "variant_id": variant["id"], "product_name": product["name"], "variant_name": variant["name"],
                "variant_price": variant["price"], **fields}

    def add(self, order, *lines):
        return self.api.add(order, *[self.line(line) for line in lines])

    def cancel(self, order, reason="Se fueron"):
        answer = self.api.post(f"/v1/orders/{order['id']}/cancel", {"reason": reason})
        assert answer.status == 200, answer.body

    def cancel_line(self, order, number=0):
        answer = self.api.delete(f"/v1/orders/{order['id']}/combos/{order['combos'][number]['id']}")
        assert answer.status == 200, answer.body

    def clear(self):
        """Nothing is to be made any more."""
        for order in self.orders:
            self.api.post(f"/v1/kitchen/tickets/{order}/out", {})
            ticket = self.ticket(order)
            if ticket and ticket["state"] == "cancelled":
                self.api.post(f"/v1/kitchen/tickets/{order}/done", {"line_ids": [line["id"] for line in ticket["lines"]]})
        self.orders.clear()

    def ticket(self, order):
        rows = self.api.all("/v1/kitchen/tickets?filter[state]=later,open,ready,cancelled")
        return next((row for row in rows if row["order_id"] == order), None)

    def tickets(self):
        return self.api.all("/v1/kitchen/tickets?filter[state]=open,cancelled")


def shown(page: Page):
    """[{order, kind, rushed, lines: [[id, look]]}] of a display, in its order."""
    return page.run(SHOWN)


def until_shown(page, fits):
    """Waits until what the display shows fits; what it shows."""
    wait_until(lambda: fits(shown(page)), lambda: (shown(page), page.errors))
    return shown(page)
