"""The menu, the company, its payment methods, staff and guests."""

from golden.walks.common import CARD_NUMBER, CLIENT, NOBODY, PRODUCT, VARIANT, demo, in_days

PRODUCTS = "/v1/menu/products"
GZIP = "Accept-Encoding: gzip"


def walk(r):
    demo(r)
    r.client("reader of the menu", r.box.make_key("menu:read")["key"])
    reading_the_menu(r)
    writing_the_menu(r)
    upserts(r)
    company(r)
    store(r)
    guests(r)


def reading_the_menu(r):
    answer = r.ask("menu", "GET", "/v1/menu")
    r.ask("menu: HEAD", "HEAD", "/v1/menu")
    r.ask("menu: gzip", "GET", "/v1/menu", None, GZIP)
    r.ask("menu: unless it has its tag", "GET", "/v1/menu", None, f"If-None-Match: {answer.etag}")
    r.ask("menu: without costs", "GET", "/v1/menu?page=2&per_page=1", who="reader of the menu")
    for query in ["page=1&per_page=1", "page=99&per_page=100", "filter[visible]=false", "filter[available]=false",
        "filter[available]=x",
                  "filter[updated_since]=2099-01-01T00:00:00Z", "filter[colour]=red", "per_page=0"]:
        r.ask(f"menu: {query}", "GET", f"/v1/menu?{query}")
    category = answer.data["categories"][0]["id"]
    first = r.ask("category", "GET", f"/v1/menu/categories/{category}")
    r.ask("category: unless it has its tag", "GET", f"/v1/menu/categories/{category}", None,
        f"If-None-Match: {first.etag}")
    r.ask("category: of nobody", "GET", f"/v1/menu/categories/{NOBODY}")
    product = r.ask("product", "GET", f"{PRODUCTS}/{PRODUCT}")
    r.ask("product: without its cost", "GET", f"{PRODUCTS}/{PRODUCT}", who="reader of the menu")
    r.ask("product: unless it has its tag", "GET", f"{PRODUCTS}/{PRODUCT}", None, f"If-None-Match: {product.etag}")
    r.ask("product: HEAD", "HEAD", f"{PRODUCTS}/{PRODUCT}")


def writing_the_menu(r):
    r.ask("create: a dish", "POST", PRODUCTS, {"name": "Causa", "category_name": "Entradas", "price": 18,
        "sku": "CAUSA", "cost": 5.25})
    r.ask("create: the dish again", "POST", PRODUCTS, {"name": "Causa", "category_name": "Entradas", "price": 18,
        "sku": "CAUSA"})
    made = r.ask("create: everything", "POST", PRODUCTS, {
        "name": "Jugo", "category_name": "Jugos nuevos", "description": "del día",
            "image_url": "https://a.example/1.png",
        "images": ["https://a.example/1.png"], "position": 3, "visible": True, "stock_enabled": True,
            "messages_for_customers": "frío",
        "variants": [{"name": "Chico", "price": 5, "sku": "JUGO-C", "stock": 3, "stock_threshold": 1,
            "packaging_price": 0.5},
                     {"name": "Grande", "price": 8, "original_price": 9, "position": 1}],
        "modifier_categories": [{"name": "Azúcar", "type": "one", "required": True, "min_modifiers": 1,
            "max_modifiers": 1,
                                 "modifiers": [{"name": "Con"}, {"name": "Sin", "price": 0.5, "max_limit": 2}]}]},
        "Idempotency-Key: jugo").data
    for title, body in [("no name", {"category_name": "x", "price": 1}),
        ("no price", {"name": "x", "category_name": "x"}),
                        ("no category", {"name": "x", "price": 1}),
                            ("a category of nobody", {"name": "x", "price": 1, "category_id": NOBODY}),
                        ("a negative price", {"name": "x", "price": -1, "category_name": "x"}),
                        ("a price and variants", {"name": "x", "price": 1, "category_name": "x",
                            "variants": [{"name": "y", "price": 1}]}),
                        ("a card's number", {"name": CARD_NUMBER, "price": 1, "category_name": "x"}),
                        ("too few of too many", {"name": "x", "price": 1, "category_name": "x", "modifier_categories": [
                            {"name": "y", "min_modifiers": 3, "max_modifiers": 1, "modifiers": [{"name": "z"}]}]})]:
        r.ask(f"create: {title}", "POST", PRODUCTS, body)
    at = f"{PRODUCTS}/{made['id']}"
    r.ask("change: several fields", "PATCH", at, {"name": "Jugo fresco", "description": None, "visible": False,
        "position": 1})
    r.ask("change: nothing", "PATCH", at, {})
    for title, body in [("a read-only field", {"slug": "x"}), ("its variants", {"variants": []}),
        ("no name", {"name": None}), ("a wrong type", {"visible": 1})]:
        r.ask(f"change: {title}", "PATCH", at, body)
    variant = r.ask("variant: another one", "POST", f"{at}/variants", {"name": "Jarra", "price": 20, "sku": "JUGO-J"})
    r.ask("variant: a sku that is taken", "POST", f"{at}/variants", {"name": "Jarra", "price": 20, "sku": "CAUSA"})
    r.ask("variant: nothing", "POST", f"{at}/variants", {})
    assert variant.status == 201, variant.body
    found = made["variants"][0]["id"]
    r.ask("variant: sold out", "PATCH", f"{at}/variants/{found}", {"stock": 0})
    r.ask("variant: a negative price", "PATCH", f"{at}/variants/{found}", {"price": -1})
    r.ask("variant: of another product", "PATCH", f"{at}/variants/{VARIANT}", {"price": 1})
    r.ask("variant: of nobody", "PATCH", f"{at}/variants/{NOBODY}", {"price": 1})
    r.ask("events of the menu", "GET", "/v1/events?per_page=3")
    sold_out(r, at, made["modifier_categories"][0]["modifiers"][0]["id"])


def sold_out(r, product, modifier):
    soon, too_late = in_days(3), in_days(9)  # once: a second later they would be other instants in the recording
    for title, at in (("a product", f"{product}/sold-out"), ("a modifier", f"/v1/menu/modifiers/{modifier}/sold-out")):
        r.ask(f"sold out: {title}, for a while", "PUT", at, {"until": soon})
        r.ask(f"sold out: {title}, until somebody says so", "PUT", at, {"until": None})
        for wrong, body in [("nothing", {}), ("a past end", {"until": "2020-01-01T00:00:00Z"}), ("nine days", {"until": too_late}),
                            ("no zone", {"until": "2030-01-01T00:00:00"})]:
            r.ask(f"sold out: {title}, {wrong}", "PUT", at, body)
        r.ask(f"sold out: {title} is shown", "GET", product)
        r.ask(f"sold out: {title} is there again", "DELETE", at)
        r.ask(f"sold out: {title} is there as before", "DELETE", at)
    r.ask("sold out: a product of nobody", "PUT", f"{PRODUCTS}/{NOBODY}/sold-out", {"until": None})
    r.ask("sold out: a product of nobody is there again", "DELETE", f"{PRODUCTS}/{NOBODY}/sold-out")
    r.ask("sold out: a modifier of nobody", "PUT", f"/v1/menu/modifiers/{NOBODY}/sold-out", {"until": None})
    r.ask("sold out: a modifier of nobody is there again", "DELETE", f"/v1/menu/modifiers/{NOBODY}/sold-out")


def upserts(r):
    dish = {"name": "Tacu tacu", "category_name": "Entradas", "price": 22, "sku": "TACU"}
    r.ask("upsert: new, new", "PUT", PRODUCTS, {"products": [dish, {**dish, "sku": "TACU-2", "name": "Tacu dos"}]},
        "Idempotency-Key: upsert")
    r.ask("upsert: the same once more", "PUT", PRODUCTS, {"products": [dish, {**dish, "sku": "TACU-2",
        "name": "Tacu dos"}]}, "Idempotency-Key: upsert")
    r.ask("upsert: the same, the other changed", "PUT", PRODUCTS, {"products": [dish, {"sku": "TACU-2", "price": 25}]})
    r.ask("upsert: by id", "PUT", PRODUCTS, {"products": [{"id": PRODUCT, "description": "nuevo"}]})
    for title, products in [("none", []), ("no id and no sku", [{"name": "x", "price": 1}]),
        ("one twice", [dish, dish]), ("an id of nobody", [{"id": NOBODY, "name": "x"}]),
                            ("two errors", [dish, {"sku": "a", "price": -1}, {"sku": "b", "name": 1}]),
                                ("a new one without a name", [{"sku": "NEW"}]),
                            ("501 of them", [{"sku": str(n), "name": "x", "category_name": "x",
                                "price": 1} for n in range(501)])]:
        r.ask(f"upsert: {title}", "PUT", PRODUCTS, {"products": products})


def company(r):
    answer = r.ask("company", "GET", "/v1/company")
    r.ask("company: gzip", "GET", "/v1/company", None, GZIP)
    r.ask("company: HEAD", "HEAD", "/v1/company")
    # Whether it is open may change between the two.
    r.ask("company: unless it has another tag", "GET", "/v1/company", None, 'If-None-Match: W/"x"')
    assert answer.status == 200
    for path in ("/v1/company/payment-methods", "/v1/company/tables", "/v1/users"):
        tag = r.ask(path, "GET", path).etag
        r.ask(f"{path}: unless it has its tag", "GET", path, None, f"If-None-Match: {tag}")
        for query in ["per_page=2&page=2", "sort=name", "sort=-code", "sort=-created_at", "snapshot=1", "page=x"]:
            r.ask(f"{path}: {query}", "GET", f"{path}?{query}")
    for query in ["filter[role]=rider", "filter[role]=cook,rider", "filter[role]=king", "filter[active]=false",
        "filter[active]=x"]:
        r.ask(f"users: {query}", "GET", f"/v1/users?{query}")


def store(r):
    r.ask("store: in each app", "GET", "/v1/stores/status")
    for query in ["provider_names=rappi", "provider_names=RAPPI,pedidosya", "page=2&per_page=2", "provider_names=ifood",
                  "provider_names=", "filter[name]=rappi"]:
        r.ask(f"store: {query}", "GET", f"/v1/stores/status?{query}")


def guests(r):
    answer = r.ask("client", "GET", f"/v1/clients/{CLIENT}")
    r.ask("client: unless it has its tag", "GET", f"/v1/clients/{CLIENT}", None, f"If-None-Match: {answer.etag}")
    for query in ["", "per_page=2", "per_page=2&page=2", "filter[search]=ana", "filter[search]=pe%C3%B1a%20zu",
        "filter[search]=", "filter[phone]=%2B51987654321",
                  "filter[phone]=987", "filter[email]=ana%40correo.example", "filter[start_date]=2020-01-01",
                      "filter[end_date]=2020-01-01",
                  "filter[updated_since]=2099-01-01T00:00:00Z", "sort=-name&per_page=2",
                      "sort=last_order_at&per_page=2", "sort=phone", "snapshot=3"]:
        r.ask(f"clients: {query}", "GET", f"/v1/clients?{query}")
    order = r.ask("clients: an order of one", "POST", "/v1/orders", {"service_type": "ONSITE", "client_id": CLIENT})
    assert order.status == 201, order.body
    r.ask("client: with an order", "GET", f"/v1/clients/{CLIENT}")
    r.ask("clients: the last to order", "GET", "/v1/clients?sort=-last_order_at&per_page=1")
