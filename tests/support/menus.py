"""Ten menus in the shape in which chains of several trades export theirs, with what such exports have in them: two groups of
one name in a product (half and half, two drinks), one option in several groups under one sku, blanks and line ends around
codes, empty texts for nothing, prices of 0, groups with more choices than options. MENUS: name to the body of PUT
/v1/menu/products. REFUSED: those that are refused, with the one field and the cure that the message names."""


def option(name, price=0, **fields):
    return {"name": name, "price": price, **fields}


def group(name, options, least=0, most=None, **fields):
    return {"name": name, "type": "one" if most == 1 else "many", "required": least > 0, "min_modifiers": least,
            "max_modifiers": most, "modifiers": [one if isinstance(one, dict) else option(one) for one in options], **fields}


def product(sku, name, category, price, *groups, **fields):
    return {"sku": sku, "name": name, "category_name": category, "price": price, "modifier_categories": list(groups), **fields}


def sized(name, category, sizes, *groups, **fields):
    return {"name": name, "category_name": category, "modifier_categories": list(groups), **fields,
            "variants": [{"sku": sku, "name": size, "price": price} for sku, size, price in sizes]}


DRINKS = [option("Gaseosa personal", sku="BEB-01"), option("Chicha morada", 2, sku="BEB-02"), option("Agua", sku="BEB-03")]
PIZZAS = ["Americana", "Hawaiana", "Pepperoni", "Vegetariana"]


def pizzeria():
    halves = [group("Elige tu sabor", PIZZAS, 1, 1), group("Elige tu sabor", PIZZAS, 1, 1)]
    return [sized(f"Pizza mitad y mitad {crust}", "Pizzas", [(f"PZ{n}-{size[0]} ", size, price) for size, price in
                  (("Personal", 19.9), ("Mediana", 34.9), ("Familiar", 44.9))], *halves,
                  group("Agrega", [option("Extra queso", 5, max_limit=3), option("Aceitunas", 3)], description=""))
            for n, crust in enumerate(("clásica", "artesanal", "borde de queso"))]


def burgers():
    return [product(f"\tHB-{n:03}\r\n", f"Combo {burger} para dos", "Combos", 39.9 + n, group("Bebida", DRINKS, 1, 1),
                    group("Bebida", DRINKS, 1, 1), group("Papas", ["Normales", option("Grandes", 4)], 1, 1),
                    group("Papas", ["Normales", option("Grandes", 4)], 1, 1), description="", image_url="")
            for n, burger in enumerate(("clásica", "royal", "a lo pobre", "doble", "de pollo"))]


def rotisserie():
    return [product(sku, name, "Pollos", price, group("Ensalada", ["Fresca", "Cocida"], 1, 1), group("Cremas", [
        "Mayonesa", "Ají", "Mostaza", "Ketchup"], 0, 4)) for sku, name, price in (
            ("POLLO-1", "Pollo entero", 74), ("POLLO-1/2", "Medio pollo", 40), ("POLLO-1/4", "Cuarto de pollo", 22))]


def coffee():
    milk = group("Leche", ["Entera", "Sin lactosa", option("De almendras", 3), option("De avena", 3)], 1, 1)
    return [sized(name, "Café", [(f"{code}-{size}", size, price + n) for n, size in enumerate(("Alto", "Grande", "Venti"))],
                  milk, group("Shots", [option("Shot extra", 2.5, max_limit=4)], 0, 4), messages_for_customers="")
            for code, name, price in (("LAT", "Latte", 9), ("CAP", "Capuchino", 9.5), ("AME", "Americano", 7))]


def sushi():
    rolls = [option(roll, max_limit=4) for roll in ("Acevichado", "Maki furai", "California")]
    return [product(f"TABLA-{pieces}", f"Tabla de {pieces} piezas", "Tablas", pieces * 1.8,
                    group("Elige tus rolls", rolls, pieces // 10, pieces // 10)) for pieces in (20, 30, 40)]


def ice_cream():
    flavours = [option(name, sku=f"SAB-{n:02}", max_limit=3) for n, name in enumerate(
        ("Lúcuma", "Vainilla francesa", "Chocolate", "Maracuyá", "Fresa", "Pistacho"))]
    return [product(f"HEL-{balls}", f"Copa de {balls}", "Helados", 8 * balls, group("Sabores", flavours, balls, balls),
                    group("Toppings", [option("Fudge", 2), option("Oreo", 2)])) for balls in (1, 2, 3)]


def tacos():
    return [product(f" taq {meat.lower()} ", f"Orden de {meat}", "Tacos", 98, group("Salsas", ["Verde", "Roja", "Habanero"]),
                    group("Tortilla", ["Maíz", "Harina"], 1, 1), group("Salsas", ["Guacamole"], 0, 1))
            for meat in ("Pastor", "Suadero", "Bistec", "Campechano")]


def acai():
    fruit = [option(name, sku=name.upper()[:5]) for name in ("Banana", "Morango", "Kiwi", "Manga")]
    return [sized("Açaí na tigela", "Açaí", [("ACAI-300\u00a0", "300 ml", 16.9), ("ACAI-500\u00a0", "500 ml", 22.9)],
                  group("Adicionais grátis", fruit, 0, 3), group("Adicionais pagos", [{**f, "price": 3} for f in fruit]),
                  kitchen_id=None, description=None)]


def market():
    """Articles with bar codes, prices by weight, a stock, no groups."""
    return [product(f"{7750000000000 + n * 17}", f"Artículo {n}", f"Pasillo {n % 12}", round(0.35 * n + 0.5, 2),
                    stock_enabled=True, stock=n % 40, image_url="", messages_for_customers="") for n in range(400)]


def chain():
    """185 products, of which 25 have two groups of one name."""
    rows = [product(f"CH-{n:04}", f"Plato {n}", f"Carta {n % 14}", 10 + n % 30, group("Guarnición", [
        option("Arroz", sku="GUA-ARR"), option("Papas", 2, sku="GUA-PAP")], 1, 1)) for n in range(160)]
    return rows + [product(f"CH-D{n:03}", f"Dúo {n}", "Dúos", 50 + n, group("Guarnición", ["Arroz", "Papas"], 1, 1), group(
        "Guarnición", ["Arroz", "Papas"], 1, 1), group("Bebida", DRINKS, 1, 1), group("Bebida", DRINKS, 1, 1)) for n in range(25)]


MENUS = {made.__name__: {"products": made()} for made in (
    pizzeria, burgers, rotisserie, coffee, sushi, ice_cream, tacos, acai, market, chain)}


def changed(name, change):
    """A menu with one fault in its last row."""
    rows = [dict(row) for row in MENUS[name]["products"]]
    change(rows[-1])
    return {"products": rows}


REFUSED = {
    "a price in words of the till": (changed("market", lambda row: row.update(price="139.65")),
                                     "products[399].price", "wrong_type", "send 139.65"),
    "one code in two cases": (changed("rotisserie", lambda row: row.update(sku="pollo-1")),
                              "products[2].sku", "duplicate", "another row"),
    "a group that asks for more than there is": (
        changed("sushi", lambda row: row.update(modifier_categories=[group("Rolls", ["Acevichado"], 4, 4)])),
        "products[2].modifier_categories[0].min_modifiers", "out_of_range", "max_limit"),
    "501 products": ({"products": MENUS["market"]["products"] + MENUS["chain"]["products"][:101]},
                     "products", "too_many_products", "in another call"),
}
