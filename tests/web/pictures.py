#!/usr/bin/python3
"""Takes pictures of the kitchen display for people to look at: tests/web/pictures.py DIRECTORY [WORD…]
A picture for each size, language, look and state whose name has all the words."""

import itertools
import pathlib
import random
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import json  # noqa: E402

from support.box import ROOT, Box  # noqa: E402
from support.chromium import Chromium  # noqa: E402
from support.driven_page import Browser  # noqa: E402
from support.kitchen_wall import Wall, until_shown  # noqa: E402

SIZES = [(800, 480), (1280, 800), (1920, 1080)]
NAMES = ["Los novios", "Rosa Quispe", "Beatriz", "Sr. Huamán", "Familia Ramos"]
COMMENTS = ["SIN CEBOLLA, alérgico", "término medio", "poco picante", "para compartir"]
# The page believes that time has passed.
LATER = "(() => { const minutes = %d; const parse = Date.parse; Date.parse = (text) => parse(text) + (/GMT/.test(text) ? minutes * 60000 : 0); })()"


def work(wall, count, seed=1):
    chance = random.Random(seed)
    tables = wall.api.get("/v1/company/tables?per_page=100").data
    dishes = [wall.dish(station, number) for station in ("cold", "hot", "bar") for number in (0, 1, 4, 8)]
    for number in range(count):
        lines = []
        for dish in chance.sample(dishes, chance.choice([1, 2, 2, 3, 4])):
            line = {**dish, "quantity": chance.choice([1, 1, 1, 2, 3])}
            if chance.random() < 0.35:
                line["modifiers"] = [{"name": chance.choice(["Sin ají", "Camote extra", "Doble cancha"]), "quantity": 1, "price": 0}]
            if chance.random() < 0.25:
                line["comment"] = chance.choice(COMMENTS)
            lines.append(line)
        kind = chance.choice(["TABLE", "TABLE", "TAKEAWAY", "DELIVERY"])
        fields = {"table_id": chance.choice(tables)["id"]} if kind == "TABLE" else {"order_title": chance.choice(NAMES)}
        wall.order(*lines, service_type=kind, **fields)


def main():
    out = pathlib.Path(sys.argv[1])
    words = sys.argv[2:]
    out.mkdir(parents=True, exist_ok=True)
    demo = json.loads((ROOT / "src/app/demo.json").read_text())["companies"][0]
    box = Box()
    box.bring_in()
    box.start()
    with Browser(Chromium(tempfile.mkdtemp(), [box.cafile]), "--autoplay-policy=no-user-gesture-required") as browser:
        wall = Wall(box, demo, browser)
        for count in (1, 12, 60):
            work(wall, count - len(wall.orders), seed=count)
            if count == 12:
                wall.api.post(f"/v1/kitchen/tickets/{wall.orders[7]}/rush", {"on": True})
            for (width, height), language, look in itertools.product(SIZES, ("es", "en", "pt"), ("light", "dark")):
                name = f"{width}x{height} {language} {look} {count}"
                if not all(word in name.split() for word in words):
                    continue
                preferences = json.dumps({"language": language, "theme": look})
                page = wall.display(width=width, height=height, before=LATER % 9 + f";localStorage.setItem('comanda.kitchen.preferences', {json.dumps(preferences)})")
                until_shown(page, lambda cards: len(cards) == count)
                page.screenshot(out / (name.replace(" ", "_") + ".png"))
                page.close()
    box.discard()


if __name__ == "__main__":
    main()
