"""Tickets, marks and changes; who watches; the kitchen's settings and menu."""

from golden.walks.common import DEMO, NOBODY, TABLE, demo, item

TICKETS, CHANGES = "/v1/kitchen/tickets", "/v1/kitchen/changes"


def walk(r):
    demo(r)
    r.client("screen", r.box.make_key(scopes="kitchen:read,kitchen:write", company=DEMO, name="Pantalla 1")["key"])
    order = marks(r)
    lists(r, order)
    changes(r)
    settings(r)
    stations(r)


def marks(r):
    order = r.ask("order", "POST", "/v1/orders", {"service_type": "TABLE", "table_id": TABLE}).data
    order = r.ask("lines", "POST", f"/v1/orders/{order['id']}/combos", {"combos": [
        item(quantity=2, comment="sin cebolla", modifiers=[{"name": "Camote", "quantity": 3, "price": 1}]),
        item(name="Lomo")]}).data
    at = f"{TICKETS}/{order['id']}"
    first, second = (row["id"] for row in order["combos"])
    for title, what, body in [
            ("start", "start", None), ("start again", "start", {}), ("done", "done", {"line_ids": [first]}),
            ("done again", "done", {"line_ids": [first]}), ("the last one", "done", {"line_ids": [first, second]}),
            ("undo", "undo", {"line_ids": [second]}), ("rush", "rush", {"on": True}), ("no rush", "rush", {"on": False}),
            ("out", "out", {}), ("out again", "out", None), ("undo ends out", "undo", {"line_ids": [second]}),
            ("a line of nobody", "done", {"line_ids": [first, NOBODY]}), ("no lines", "undo", {"line_ids": []}),
            ("no list", "done", {}), ("twice", "done", {"line_ids": [first, first]}), ("no boolean", "rush", {"on": "yes"}),
            ("nothing", "rush", {}), ("start with a list", "start", [])]:
        r.ask(f"marks: {title}", "POST", f"{at}/{what}", body, who="screen")
    for what in ("done", "undo", "start", "rush", "out"):
        r.ask(f"marks: {what} of an order that is none", "POST", f"{TICKETS}/{NOBODY}/{what}",
              {"rush": {"on": True}}.get(what, {"line_ids": [NOBODY]} if what in ("done", "undo") else {}), who="screen")
    r.ask("marks: of a word", "POST", f"{TICKETS}/42/out", who="screen")
    for title in ("marks: once", "marks: once, again"):
        r.ask(title, "POST", f"{at}/done", {"line_ids": [second]}, "Idempotency-Key: once", who="screen")
    return order


def lists(r, order):
    r.ask("tickets", "GET", TICKETS, who="screen")
    r.ask("tickets: open", "GET", f"{TICKETS}?filter[state]=open&sort=-order_number", who="screen")
    r.ask("tickets: boiling", "GET", f"{TICKETS}?filter[state]=boiling", who="screen")
    r.ask("tickets: by name", "GET", f"{TICKETS}?sort=name", who="screen")
    r.ask("tickets: an orders' filter", "GET", f"{TICKETS}?filter[status]=READY", who="screen")
    r.ask("tickets: recall", "GET", f"{TICKETS}?filter[done_since]=2026-01-01T00:00:00Z", who="screen")
    r.ask("orders of a screen", "GET", "/v1/orders", who="screen")
    r.ask("the order of a screen", "GET", f"/v1/orders/{order['id']}", who="screen")


def changes(r):
    found = r.ask("changes", "GET", CHANGES, who="screen").json
    r.ask("changes: none", "GET", f"{CHANGES}?after={found['next']}", who="screen")
    r.ask("changes: a page", "GET", f"{CHANGES}?per_page=101", who="screen")
    r.ask("changes: no cursor", "GET", f"{CHANGES}?after=yesterday", who="screen")
    r.ask("changes: a station that is none", "GET", f"{CHANGES}?stations={NOBODY}", who="screen")
    r.ask("changes: a name that is none", "GET", f"{CHANGES}?display=la-1", who="screen")
    r.ask("changes: no page", "GET", f"{CHANGES}?page=2", who="screen")
    r.ask("the feed of a screen", "GET", "/v1/events", who="screen")


def settings(r):
    at = "/v1/kitchen/settings"
    r.ask("stations", "GET", "/v1/kitchen/stations", who="screen")
    r.ask("stations: by name", "GET", "/v1/kitchen/stations?sort=name", who="screen")
    r.ask("menu", "GET", "/v1/kitchen/menu", who="screen")
    r.ask("menu: a page", "GET", "/v1/kitchen/menu?page=1", who="screen")
    r.ask("settings", "GET", at, who="screen")
    r.ask("settings: a parameter", "GET", f"{at}?x=1", who="screen")
    r.ask("settings: a screen's", "PATCH", at, {"lead_minutes": 30}, who="screen")
    r.ask("settings: change", "PATCH", at, {"lead_minutes": 30, "thresholds": {"TABLE": {"late_minutes": 20}}})
    r.ask("settings: out of range", "PATCH", at, {"lead_minutes": 1441, "thresholds": {"TABLE": {"warn_minutes": 20}}})
    r.ask("settings: nothing", "PATCH", at, {})


def stations(r):
    at = "/v1/kitchen/stations"
    made = r.ask("stations: add", "POST", at, {"name": "Horno"}).data
    for title, body in [
            ("add a counter", {"name": "Barra de bar", "prepares": False, "position": 0}), ("the same name", {"name": "HORNO"}),
            ("all wrong", {"name": "", "prepares": "no", "position": -1, "id": NOBODY})]:
        r.ask(f"stations: {title}", "POST", at, body)
    one = f"{at}/{made['id']}"
    for title, body in [
            ("change", {"prepares": False, "position": 9}), ("unchanged", {"prepares": False}), ("what was read", made),
            ("no name", {"name": None}), ("a name of another", {"name": "barra de bar"}), ("nothing", {}),
            ("another id", {"id": NOBODY, "name": "Horno"})]:
        r.ask(f"stations: {title}", "PATCH", one, body)
    r.ask("stations: one that is none", "PATCH", f"{at}/{NOBODY}", {"name": "x"})
    r.ask("stations: a screen's", "PATCH", one, {"name": "x"}, who="screen")
    r.ask("stations: add one, of a screen", "POST", at, {"name": "x"}, who="screen")
