"""The menu of the strict cloud (support/strict_cloud.py), and its eight endpoints. Money is a whole number of minor units,
stock a whole number of thousandths."""

import copy
import uuid

from support.exact import Scaled
from support.strict_orders import Body, Refused, instant, not_found

ROWS_MAX = 500
TEXTS = ("description", "image_url", "messages_for_customers")
FLAGS = ("visible", "stock_enabled")
PRICES = ("price", "original_price", "packaging_price")


class Menu:
    """`categories`: those of an import file. Every id is the cloud's own."""

    def __init__(self, categories, places, currency, clock):
        self.places, self.currency, self.clock = places, currency, clock
        self.categories, self.products = {}, {}
        for row in categories:
            category = self._category(row["name"])
            for product in row["products"]:
                self._insert(Body(product), category)

    # What orders ask.
    def _variants(self):
        return (v for product in self.products.values() for v in product["variants"])

    def variant(self, variant_id):
        return next((v for v in self._variants() if variant_id and v["id"] == variant_id), None)

    def variant_of_sku(self, sku):
        return next((v for v in self._variants() if sku and v["sku"] == sku), None)

    def product_of(self, variant):
        return next(p for p in self.products.values() if variant in p["variants"])

    @staticmethod
    def modifier(product, modifier_id):
        groups = product["modifier_categories"] if product else []
        return next((m for group in groups for m in group["modifiers"] if m["id"] == modifier_id), None)

    def named(self, name):
        """The product of that name, for tests."""
        return next(p for p in self.products.values() if p["name"] == name)

    def remove(self, product):
        """The menu does not show it any more."""
        del self.products[product["id"]]

    # Records.
    def _money(self, minor):
        return None if minor is None else Scaled(minor, self.places)

    def record_of_variant(self, variant):
        return {**variant, **{name: self._money(variant[name]) for name in PRICES},
                "stock": None if variant["stock"] is None else Scaled(variant["stock"], 3)}

    def record(self, product):
        groups = [{**group, "modifiers": [{**m, "price": self._money(m["price"])} for m in group["modifiers"]]}
                  for group in product["modifier_categories"]]
        return {**product, "variants": [self.record_of_variant(v) for v in product["variants"]],
                "modifier_categories": groups, "currency": self.currency, "created_at": instant(product["created_at"]),
                "updated_at": instant(product["updated_at"])}

    def record_of_category(self, category):
        products = [self.record(p) for p in self.products.values() if p["category_id"] == category["id"]]
        return {**category, "products": products}

    def catalogue(self):
        return [self.record_of_category(category) for category in self.categories.values()]

    # Writing.
    def product(self, product_id):
        if product_id not in self.products:
            raise not_found()
        return self.products[product_id]

    def create(self, members):
        body = Body(members)
        product = self._insert(body, self._category_of(body))
        return product

    def upsert(self, members):
        body = Body(members)
        rows = body.rows("products")
        if len(rows) > ROWS_MAX:
            body.refuse("products")
        body.require()
        before = copy.deepcopy((self.categories, self.products))
        try:
            return {"products": [{"index": index, "id": self._upsert_row(row)["id"]} for index, row in enumerate(rows)]}
        except Refused:
            self.categories, self.products = before
            raise

    def _upsert_row(self, row):
        found = self._match(row)
        return self.change(found, row) if found else self._insert(row, self._category_of(row))

    def _match(self, row):
        by_id = self.products.get(row.members.get("id"))
        skus = [row.members.get("sku")] + [v.get("sku") for v in row.members.get("variants") or []]
        variant = next(filter(None, map(self.variant_of_sku, skus)), None)
        return by_id or (self.product_of(variant) if variant else None)

    def change(self, product, body):
        """A partial update; of an upsert row with its variants."""
        edited = {**product}
        if "name" in body.members:
            edited["name"] = body.text("name", required=True, most=200)
        self._read_common(edited, body)
        body.require()
        product |= edited
        if set(body.members) & {"sku", "price", "stock"} and len(product["variants"]) == 1:
            self.change_variant(product, product["variants"][0], body)
        for row in body.rows("variants", required=False):
            known = next((v for v in product["variants"] if v["id"] == row.members.get("id") or
                          (row.members.get("sku") and v["sku"] == row.members["sku"])), None)
            if known:
                self.change_variant(product, known, row)
            else:
                self.add_variant(product, row)
        product["updated_at"] = self.clock()
        return product

    def variant_below(self, product, variant_id):
        found = next((v for v in product["variants"] if v["id"] == variant_id), None)
        if not found:
            raise not_found()
        return found

    def add_variant(self, product, body):
        variant = self._variant(product, body, body.text("name", required=True, most=200))
        body.require()
        product["variants"].append(variant)
        product["updated_at"] = self.clock()
        return variant

    def change_variant(self, product, variant, body):
        edited = {**variant}
        if body.members.get("name") and body.members["name"] != product["name"]:
            edited["name"] = body.text("name", most=200)
        if "sku" in body.members:
            edited["sku"] = body.text("sku", most=100)
        for name in PRICES:
            if name in body.members:
                edited[name] = body.number(name, self.places, required=name == "price")
        if "stock" in body.members:
            edited["stock"] = body.number("stock", 3)
        body.require()
        variant |= edited
        product["updated_at"] = self.clock()
        return variant

    def _category(self, name):
        found = next((c for c in self.categories.values() if c["name"] == name), None)
        if not found:
            found = {"id": str(uuid.uuid4()), "name": name}
            self.categories[found["id"]] = found
        return found

    def _category_of(self, body):
        found = self.categories.get(body.text("category_id"))
        name = body.text("category_name", required=not found, most=200)
        body.require()
        return found or self._category(name)

    def _read_common(self, product, body):
        for name in TEXTS:
            if name in body.members:
                product[name] = body.text(name, most=2000)
        for name in FLAGS:
            value = body.members.get(name, product[name])
            if not isinstance(value, bool):
                body.refuse(name)
            product[name] = value

    def _insert(self, body, category):
        groups = [self._modifier_category(group) for group in body.rows("modifier_categories", required=False)]
        product = {"id": str(uuid.uuid4()), "category_id": category["id"], "name": body.text("name", required=True, most=200),
                   **dict.fromkeys(TEXTS), "visible": True, "stock_enabled": False, "variants": [],
                   "modifier_categories": groups,
                   "created_at": self.clock(), "updated_at": self.clock()}
        self._read_common(product, body)
        rows = body.rows("variants", required=False)
        product["variants"] = ([self._variant(product, v, v.text("name", required=True)) for v in rows]
                               or [self._variant(product, body, "Default")])
        body.require()
        self.products[product["id"]] = product
        return product

    def _variant(self, product, body, name):
        sku = body.text("sku", most=100)
        if sku and self.variant_of_sku(sku):
            body.refuse("sku")
        prices = {field: body.number(field, self.places, required=field == "price") for field in PRICES}
        return {"id": str(uuid.uuid4()), "product_id": product["id"], "name": name, "sku": sku, **prices,
                "stock": body.number("stock", 3)}

    def _modifier_category(self, group):
        modifiers = [{"id": str(uuid.uuid4()), "name": m.text("name", required=True, most=200),
                      "price": m.number("price", self.places) or 0} for m in group.rows("modifiers")]
        return {"id": str(uuid.uuid4()), "name": group.text("name", required=True, most=200), "modifiers": modifiers}
