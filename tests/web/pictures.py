#!/usr/bin/python3
"""Takes pictures of all pages for people to look at: tests/web/pictures.py DIRECTORY [WORD…]
Each shows something that the others cannot; with words, those alone whose name has all of them."""

import base64
import json
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from support.box import ROOT, Box  # noqa: E402
from support.chromium import Chromium  # noqa: E402
from support.driven_page import Browser  # noqa: E402
from support.kitchen_wall import Wall, until_shown  # noqa: E402

NAMES = ["Los novios", "Rosa Quispe", "Beatriz", "Sr. Huamán", "Familia Ramos"]
COMMENTS = ["SIN CEBOLLA, alérgico", "término medio", "poco picante", "para compartir"]
VIEWS = ["tickets", "all-day", "pass", "recall", "sold-out", "settings"]

# Name: view or page, size, language, look, then what else there is: a count of tickets (12 where none is named), what the bar
# says, "undo", "chosen" (by a bump bar's key), the size of letters, an old Chromium. That of 1280x760 is src/web/kitchen.webp.
KITCHEN = [
    "tickets 800x480 es light 1", "tickets 800x480 pt dark", "tickets 800x480 en light 60", "tickets 800x480 es dark silent",
    "tickets 800x480 pt light unwatched", "tickets 800x480 en dark no-internet", "tickets 800x480 es light undo", "tickets 800x480 pt dark large",
    "tickets 1280x800 es light", "tickets 1280x800 es dark", "tickets 1280x800 en light 1", "tickets 1280x800 pt light", "tickets 1280x800 en dark 60",
    "tickets 1280x800 es light 60 unwatched", "tickets 1280x800 pt light silent", "tickets 1280x800 en light no-cloud", "tickets 1280x800 pt dark no-internet",
    "tickets 1280x800 en light muted", "tickets 1280x800 es dark muted", "tickets 1280x800 en light undo", "tickets 1280x800 es light chosen", "tickets 1280x800 en light large",
    "tickets 1280x760 es dark undo small",
    "tickets 1920x1080 es light 60", "tickets 1920x1080 en dark", "tickets 1920x1080 pt light 1", "tickets 1920x1080 es light silent",
    "tickets 1280x800 es light 0",
    "all-day 800x480 pt light", "all-day 1280x800 en dark", "all-day 1920x1080 es light 60", "pass 800x480 es light", "pass 1280x800 en dark", "pass 1280x800 pt light",
    "pass 1920x1080 es light 60",
    "recall 800x480 en light", "recall 1280x800 es dark", "recall 1280x800 pt light", "sold-out 800x480 es light", "sold-out 1280x800 en dark", "sold-out 1280x800 pt light",
    "settings 800x480 pt light", "settings 1280x800 es light", "settings 1280x800 en dark",
    "letting-in 800x480 es light", "letting-in 1280x800 en dark", "letting-in 1280x800 pt light",
    "letting-in 800x480 pt light chromium-75", "tickets 1280x800 es light chromium-75", "tickets 800x480 pt dark chromium-75", "pass 1280x800 en light chromium-75", "all-day 800x480 es light chromium-75",
    "sold-out 800x480 en light chromium-75", "settings 1280x800 es light chromium-75",
]
PAGES = [
    "home 390 es light", "home 390 pt dark", "home 1280 en light", "setup 390 es light", "setup 390 en dark", "setup 1280 pt light", "setup 1280 es light",
    "docs 390 en light", "docs 1280 en dark", "problems 390 es light", "problems 390 pt dark", "problems 1280 en light", "problems/order_closed 390 es light",
    "problems/order_closed 390 en light", "problems/order_closed 1280 pt light", "nothing 390 pt light",
]


def work(wall, count, seed=1):
    chance = random.Random(seed)
    tables = wall.api.get("/v1/company/tables?per_page=100").data
    dishes = [wall.dish(station, number) for station in ("cold", "hot", "bar") for number in (0, 1, 4, 8)]
    for _ in range(count):
        lines = []
        for dish in chance.sample(dishes, chance.choice([1, 2, 2, 3, 4])):
            line = {**dish, "quantity": chance.choice([1, 1, 1, 2, 3])}
            if chance.random() < 0.35:
                line["modifiers"] = [{"name": chance.choice(["Sin ají", "Camote extra", "Doble cancha"]), "quantity": chance.choice([1, 1, 2]), "price": 0}]
            if chance.random() < 0.25:
                line["comment"] = chance.choice(COMMENTS)
            lines.append(line)
        kind = chance.choice(["TABLE", "TABLE", "TAKEAWAY", "DELIVERY"])
        fields = {"table_id": chance.choice(tables)["id"]} if kind == "TABLE" else {"order_title": chance.choice(NAMES)}
        order = wall.order(*lines, service_type=kind, **fields)
        if chance.random() < 0.2:
            wall.add(order, chance.choice(dishes))


def ages(wall):
    """The page believes that the tickets are of one minute to half an hour, as on a full evening."""
    rows = sorted(wall.tickets() + wall.api.get("/v1/kitchen/tickets?per_page=100&page=2&filter[state]=open,cancelled").data, key=lambda row: row["opened_at"])
    shifts = {}
    for number, row in enumerate(rows):
        back = [26, 17, 14, 11, 9, 8, 6, 5, 4, 3, 2, 1][min(number * 12 // max(len(rows), 1), 11)] if len(rows) > 1 else 2
        for text in [row["opened_at"], *[line["added_at"] for line in row["lines"]]]:
            shifts.setdefault(text, back if text == row["opened_at"] or len(row["lines"]) < 2 or text != max(line["added_at"] for line in row["lines"])
                              else back // 2)
    return "(() => { const back = %s; const parse = Date.parse; Date.parse = (text) => parse(text) - (back[text] || 0) * 60000; })();" % json.dumps(shifts)


def outside(words):
    """What the box would say of an internet or a cloud that is away."""
    if "no-internet" not in words and "no-cloud" not in words:
        return ""
    internet, cloud = ("down", "unreachable") if "no-internet" in words else ("ok", "unreachable")
    checks = {"internet": {"ok": True, "state": "?", "code": internet, "since": "2026-11-28T18:00:00Z"},
              "sync": {"ok": True, "state": "?", "code": cloud, "since": "2026-11-28T18:00:00Z", "steps_waiting": 3}}
    return "(() => { const real = window.fetch; window.fetch = (url, options) => url === '/readyz' ? Promise.resolve(new Response(%s)) : real(url, options); })();" % json.dumps(
        json.dumps({"status": "ready", "checks": checks}))


def alert(kind):
    """What the box would say of another screen."""
    row = {"kind": kind, "name": "Barra", "since": "2026-11-28T18:04:00Z"}
    return """(() => { const real = Response.prototype.json, text = Response.prototype.text; const add = (body) => {
        if (body && Array.isArray(body.alerts)) body.alerts = [%s]; return body; };
      Response.prototype.json = function () { return real.call(this).then(add); };
      Response.prototype.text = function () { return text.call(this).then((all) => { try { return JSON.stringify(add(JSON.parse(all))); } catch (_) { return all; } }); };
    })();""" % json.dumps(row)


class Camera:
    def __init__(self, box, demo, out):
        self.box, self.demo, self.out = box, demo, out
        self.browsers = {}

    def wall(self, program="chromium"):
        if program not in self.browsers:
            flags = [] if program == "chromium" else ["--single-process", "--no-zygote"]
            if program != "chromium":
                tools = subprocess.run([ROOT / "tests/web/tools"], capture_output=True, text=True, check=True).stdout.strip()
                program_file = pathlib.Path(tools) / program
            else:
                program_file = program
            browser = Browser(Chromium(tempfile.mkdtemp(), [self.box.cafile]), "--autoplay-policy=no-user-gesture-required", *flags, program=program_file)
            self.browsers[program] = Wall(self.box, self.demo, browser)
        return self.browsers[program]

    def close(self):
        for wall in self.browsers.values():
            wall.browser.close()

    def take(self, page, name):
        page.run("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 250)))")
        file = self.out / (name.replace("/", "-").replace(" ", "_") + ".png")
        page.screenshot(file)
        if "1280x760" in name:
            picture = page("Page.captureScreenshot", format="webp", quality=72)["data"]
            file.with_suffix(".webp").write_bytes(base64.b64decode(picture))
        print(name, flush=True)

    def kitchen(self, name, count, before):
        view, size, language, look, *more = name.split()
        width, height = map(int, size.split("x"))
        program = next((word for word in more if word.startswith("chromium-")), "chromium")
        wall = self.wall(program)
        preferences = {"language": language, "theme": look, **{"size": word for word in more if word in ("small", "large")}}
        before += f"localStorage.setItem('comanda.kitchen.preferences', {json.dumps(json.dumps(preferences))});" + outside(more)
        if "unwatched" in more or "muted" in more:
            before += alert("station_unwatched" if "unwatched" in more else "display_muted")
        if "muted" in more:
            before += "Object.defineProperty(AudioContext.prototype, 'state', {get: () => 'suspended'});"
        page = wall.blank(width=width, height=height, apart=program == "chromium")
        page("Page.addScriptToEvaluateOnNewDocument", source=before)
        if view == "letting-in":
            # Two may wait at an address: each is let in when its picture is taken.
            page.open(f"https://127.0.0.1:{self.box.port}/kitchen")
            number = page.until("/^\\d{3} \\d{3}$/.test((document.querySelector('.big') || {innerText: ''}).innerText) && document.querySelector('.big').innerText")
            self.take(page, name)
            self.box.command("pair", "accept", number.replace(" ", ""), "--data", str(self.box.data), "--as", "kitchen", "--name", f"Cocina {number}")
            page.until("document.querySelector('.screen') !== null")
            page.run("localStorage.clear()")
            page.close()
            return
        page.open(wall.code("Parrilla"))
        page.until("document.querySelector('.dot:not(.waits)') !== null")
        until_shown(page, lambda cards: len(cards) == count)
        page.click(f"nav button:nth-child({VIEWS.index(view) + 1})") if view != "tickets" else None
        if view == "sold-out":
            page.type(".search input", "ce")
        if "undo" in more:
            page.click(".card:nth-child(3) .line")
        if "chosen" in more:
            for _ in range(2):
                page("Input.dispatchKeyEvent", type="keyDown", key="ArrowRight")
        if "silent" in more:
            page("Network.setBlockedURLs", urls=["*/v1/*"])
            page.until("document.querySelector('.silent') !== null")
        if "unwatched" in more or "muted" in more or "no-internet" in more or "no-cloud" in more:
            page.until("document.querySelector('.alert, .hear') !== null")
        self.take(page, name)
        if view == "settings":
            page.run("document.querySelector('main').scrollTop = 99999")
            self.take(page, name + " below")
        if "undo" in more:
            page("Input.dispatchKeyEvent", type="keyDown", key="u")
        page.close()

    def page(self, name):
        path, width, language, look, *_ = name.split()
        wall = self.wall()
        page = wall.blank(width=int(width), height=800, dark=look == "dark")
        page("Network.setExtraHTTPHeaders", headers={"Accept-Language": language})
        page("Emulation.setLocaleOverride", locale=language)
        page.open(f"https://127.0.0.1:{self.box.port}/{'' if path == 'home' else path}")
        height = page.run("document.documentElement.scrollHeight")
        page("Emulation.setDeviceMetricsOverride", width=int(width), height=min(height, 1800), deviceScaleFactor=1, mobile=int(width) < 600)
        self.take(page, name)
        page.close()


def prepare(wall):
    """Of everything that a kitchen can meet, one."""
    api = wall.api
    api.post(f"/v1/kitchen/tickets/{wall.orders[7]}/rush", {"on": True})
    tickets = {row["order_id"]: row for row in wall.tickets()}
    first = tickets[wall.orders[1]]["lines"]
    api.post(f"/v1/kitchen/tickets/{wall.orders[1]}/done", {"line_ids": [first[0]["id"]]})
    api.post(f"/v1/kitchen/tickets/{wall.orders[2]}/start", {})
    wall.cancel({"id": wall.orders[4]})
    dish = wall.dish("cold", 1)
    api.put(f"/v1/menu/products/{dish['product_id']}/sold-out", {"until": None})
    ready = wall.order(wall.dish("hot", 2), wall.dish("cold", 3), order_title="Sr. Huamán", service_type="TAKEAWAY")
    api.post(f"/v1/kitchen/tickets/{ready['id']}/done", {"line_ids": [line["id"] for line in ready["combos"]] or [line["id"] for line in wall.ticket(ready["id"])["lines"]]})
    gone = wall.order(wall.dish("bar", 2), order_title="Beatriz", service_type="TAKEAWAY")
    api.post(f"/v1/kitchen/tickets/{gone['id']}/out", {})


def main():
    out = pathlib.Path(sys.argv[1])
    words = sys.argv[2:]
    out.mkdir(parents=True, exist_ok=True)

    def wanted(names):
        return [name for name in names if all(word in name.split() for word in words)]

    demo = json.loads((ROOT / "src/app/demo.json").read_text())["companies"][0]
    box = Box()
    box.bring_in()
    box.start()
    camera = Camera(box, demo, out)
    try:
        wall = camera.wall()
        for name in wanted(PAGES):
            camera.page(name)
        counts = {name: next((word for word in name.split()[4:] if word.isdigit()), "12") for name in KITCHEN}
        for count in ("0", "1", "12", "60"):
            work(wall, int(count) - len(wall.orders), seed=int(count))
            if count == "12":
                prepare(wall)
            shown = len(wall.tickets()) + len(wall.api.get("/v1/kitchen/tickets?per_page=100&page=2&filter[state]=open,cancelled").data)
            before = ages(wall)
            for name in [each for each in wanted(KITCHEN) if counts[each] == count]:
                try:
                    camera.kitchen(name, shown, before)
                except AssertionError as failure:
                    print(name, "failed:", str(failure)[:600], file=sys.stderr, flush=True)
    finally:
        camera.close()
        box.discard()


if __name__ == "__main__":
    main()
