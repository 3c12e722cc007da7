"""What bench.py fills a restaurant with: products and clients, many of them, always the same."""

import json
import random

from support.box import ROOT

FIRST = "Ana Luis María José Rosa Carlos Lucía Jorge Elena Miguel Sofía Pedro Valeria Raúl Inés Tomás".split()
LAST = "Quispe Flores Rojas Mamani García Huamán Díaz Torres Castillo Núñez Vargas Peña Ríos Salazar".split()
CLIENTS_PER_FILE = 25_000  # an import file has at most 8 MiB


def products(count, price=20):
    """A body for PUT /v1/menu/products: two variants each, a picture, a description."""
    return {"products": [
        {"name": f"Plato número {i}", "category_id": None, "description": "Con papas y ensalada. " * 4,
         "variants": [{"name": "Personal", "sku": f"BENCH-{i}", "price": price + i % 17},
                      {"name": "Familiar", "sku": f"BENCH-{i}-F", "price": 2 * price + i % 17}]}
        for i in range(count)]}


def clients(count):
    luck = random.Random(11)
    for i in range(count):
        name = f"{luck.choice(FIRST)} {luck.choice(LAST)} {luck.choice(LAST)}"
        client = {"id": f"{i:08x}-0000-7000-8000-0000000c11e7", "name": name, "country_calling_code": "+51",
                  "phone_number": str(900_000_000 + luck.randrange(100_000_000))}
        if i % 3 == 0:
            client["email"] = f"cliente{i}@correo.example"
        yield client


def import_clients(box, count, folder):
    """Into the demo restaurant, file after file."""
    company = json.loads((ROOT / "src/app/demo.json").read_text())["companies"][0]
    company = {name: value for name, value in company.items() if not isinstance(value, list)}
    rows = list(clients(count))
    for begin in range(0, count, CLIENTS_PER_FILE):
        file = folder / "clients.json"
        company["clients"] = rows[begin:begin + CLIENTS_PER_FILE]
        file.write_text(json.dumps({"companies": [company]}, ensure_ascii=False, separators=(",", ":")))
        box.bring_in(file)
