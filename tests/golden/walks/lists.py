"""Lists of orders, their pages, filters, sorts, tags, compressed forms and polls; events; reports."""

from golden.walks.common import CLIENT, NOBODY, TABLE, VARIANT, days_around, demo, in_days, item
from support.metrics import wait_for_requests

ORDERS = "/v1/orders"
GZIP = "Accept-Encoding: gzip"
REPORTS = {"by-payment-methods": ["sum_total", "count", "tips_total", "canceled_count", "canceled_total"],
           "by-tips": ["sum_total", "count"], "products-sold": ["product_quantity", "total_sales", "canceled_quantity"]}


def at(order, *parts):
    return "/".join([ORDERS, order["id"], *parts])


def walk(r):
    demo(r)
    r.ask("no orders", "GET", ORDERS)
    r.ask("no events", "GET", "/v1/events")
    for report in REPORTS:
        r.ask(f"no sales: {report}", "GET", f"{ORDERS}/{report}")
    orders = some_orders(r)
    first = pages(r)
    filters(r, orders)
    polls(r, orders, first)
    events(r, first)
    reports(r)


def some_orders(r):
    """Seven of every kind; they are shown by what is asked of them later."""
    orders = []
    for number, (fields, price) in enumerate([
            ({"service_type": "ONSITE"}, 50), ({"service_type": "TABLE", "table_id": TABLE}, 10),
            ({"service_type": "DELIVERY", "client_id": CLIENT, "scheduled_delivery_date": in_days(2)}, 30),
            ({"service_type": "TAKEAWAY"}, 0.5), ({"service_type": "ONSITE"}, 20),
            ({"service_type": "DELIVERY", "client_id": CLIENT}, 70), ({"service_type": "ONSITE"}, 90)]):
        order = r.ask(f"order {number}", "POST", ORDERS, fields).data
        orders.append(order)
        r.ask(f"order {number}: lines", "POST", at(order, "combos"), {"combos": [
            item(price), {"variant_id": VARIANT, "quantity": 2, "variant_price": 38, "modifiers": [{"name": "Picante",
                "price": 1.5}]}]})
    for number, method, parts, body in [
            (0, "PATCH", ["status"], {"status": "READY"}),
                (0, "POST", ["payments"], {"payment_method_code": "cash", "amount": 126, "tip_amount": 5}),
            (1, "POST", ["payments"], {"payment_method_code": "card", "amount": 20}),
                (2, "PUT", ["rider"], {"name": "Beto"}),
            (3, "POST", ["cancel"], {"reason": "no vino"}), (4, "PATCH", ["status"], {"status": "FINALIZED"}),
            (5, "PATCH", ["delivery-status"], {"delivery_status": "DELIVERED"}),
                (6, "POST", ["discounts"], {"type": "AMOUNT", "value": 5})]:
        answer = r.ask(f"order {number}: {'/'.join(parts)}", method, at(orders[number], *parts), body)
        orders[number] = answer.data
    r.ask("order 1: a payment goes", "DELETE", at(orders[1], "payments", orders[1]["payments"][0]["id"]))
    r.ask("order 6: a line goes", "DELETE", at(orders[6], "combos", orders[6]["combos"][0]["id"]))
    return orders


def pages(r):
    first = r.ask("list", "GET", ORDERS)
    r.ask("list: HEAD", "HEAD", ORDERS)
    packed = r.ask("list: gzip", "GET", ORDERS, None, GZIP)
    r.ask("list: gzip is not wanted", "GET", ORDERS, None, "Accept-Encoding: gzip;q=0, br")
    r.ask("list: nothing is wanted as it is", "GET", ORDERS, None, "Accept-Encoding: identity;q=0")
    for title, tag in (("its tag", first.etag), ("the tag of the compressed form", packed.etag), ("another", 'W/"x"'),
        ("any", "*")):
        r.ask(f"list: unless it has {title}", "GET", ORDERS, None, f"If-None-Match: {tag}")
        r.ask(f"list: unless it has {title}, gzip", "GET", ORDERS, None, f"If-None-Match: {tag}", GZIP)
    for query in ["per_page=2", "per_page=2&page=2", "per_page=2&page=4", "per_page=2&page=5", "per_page=100",
        "page=1000000",
                  f"per_page=2&page=2&snapshot={first.headers['x-snapshot']}", "per_page=2&page=2&snapshot=0",
                      "snapshot=1", "snapshot=x", "per_page=0", "per_page=101", "page=0"]:
        r.ask(f"list: {query}", "GET", f"{ORDERS}?{query}")
    for field in ["created_at", "updated_at", "scheduled_delivery_date", "total", "status", "order_number",
        "public_id"]:
        for sort in (field, "-" + field):
            r.ask(f"list: sorted by {sort}", "GET", f"{ORDERS}?per_page=2&filter[include]=none&sort={sort}")
    return first


def filters(r, orders):
    before, behind = days_around(r.names)
    for query in [
            "filter[status]=PENDING", "filter[status]=ready,cancelled", "filter[status]=EATEN", "filter[status]=",
                "filter[service_type]=DELIVERY",
            "filter[service_type]=X", "filter[source]=API", "filter[source]=rappi", f"filter[client_id]={CLIENT}",
                f"filter[client_id]={NOBODY}",
            "filter[client_id]=x", f"filter[table_id]={TABLE}", "filter[reference]=order-2", "filter[reference]=none",
                "filter[paid]=true",
            "filter[paid]=false", "filter[paid]=1", "filter[delivery_status]=DELIVERED",
                f"filter[public_id]={orders[3]['public_id']}",
            f"filter[start_date]={before}&filter[end_date]={behind}", f"filter[start_date]={behind}",
                f"filter[end_date]={before}",
            "filter[start_date]=2026-02-30", f"filter[start_date]={behind}&filter[end_date]={before}",
            f"filter[start_date]={before}&filter[end_date]={behind}&filter[day]=business", "filter[day]=business",
                f"filter[start_date]={before}&filter[day]=night",
            "filter[order_number]=3", "filter[order_number]=x", "filter[scheduled_from]=2020-01-01", "filter[scheduled_to]=x",
                "filter[search]=quispe", f"filter[search]={orders[3]['public_id']}", "filter[search]=%21",
            f"filter[updated_since]={orders[0]['updated_at']}", "filter[updated_since]=x", "filter[colour]=red",
                "filter[paid]=true&filter[paid]=false"]:
        more = "" if "include" in query else "&filter[include]=none&per_page=1"
        r.ask(f"filter: {r.names.text(query)}", "GET", f"{ORDERS}?{query}{more}")
    for include in ("none", "combos", "payments,discounts", "none,combos", "all", ""):
        r.ask(f"include: {include}", "GET", f"{ORDERS}?per_page=1&filter[include]={include}")


def polls(r, orders, first):
    tag = r.ask("poll: list", "GET", ORDERS + "?per_page=1").etag
    for title, prefer in [("a second without news", "wait=1"), ("with other wishes", "respond-async, wait=1"),
        ("no number", "wait=x"), ("no news at once", "handling=lenient")]:
        r.ask(f"poll: {title}", "GET", ORDERS + "?per_page=1", None, f"If-None-Match: {tag}", f"Prefer: {prefer}")
    r.ask("poll: news that are there", "GET", ORDERS + "?per_page=1", None, f"If-None-Match: {first.etag}",
        "Prefer: wait=25")
    r.ask("poll: no tag", "GET", ORDERS + "?per_page=1", None, "Prefer: wait=25")
    key = r.clients["owner"][0]
    for title, path in [("orders", ORDERS + "?per_page=1"),
        ("events", "/v1/events?after=" + r.ask("poll: now", "GET",
        ORDERS + "?per_page=1&filter[include]=none").headers["x-event-cursor"])]:
        head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {key}\r\n"
        head += (f"If-None-Match: {tag}\r\n" if title == "orders" else "") + "Prefer: wait=25\r\n\r\n"
        waiting = r.connect(r.box.port)
        waiting.send(head.encode())
        if title == "orders":
            wait_for_requests(r.box, 1)
        else:  # answered at once: the change that the orders wait for is news to them, the next one is not
            assert waiting.is_answered()
        r.ask(f"poll: a change that {title} wait for", "PATCH", at(orders[6]), {"order_title": f"for {title}"})
        r.rest(f"poll: {title} that came", b"", waiting)


def events(r, first):
    cursor = first.headers["x-event-cursor"]
    epoch = cursor.split(".")[0]
    page = r.ask("events", "GET", "/v1/events?per_page=4")
    r.ask("events: HEAD", "HEAD", "/v1/events?per_page=4")
    r.ask("events: gzip", "GET", "/v1/events?per_page=4", None, GZIP)
    r.ask("events: the next page", "GET", f"/v1/events?per_page=2&after={page.json['next']}")
    r.ask("events: since the list", "GET", f"/v1/events?after={cursor}")
    last = r.ask("events: the last ones", "GET", f"/v1/events?per_page=100&after={cursor}").json["next"]
    end = r.ask("events: none", "GET", f"/v1/events?after={last}")
    r.ask("events: unless it is none", "GET", f"/v1/events?after={last}", None, f"If-None-Match: {end.etag}")
    r.ask("events: none after a second", "GET", f"/v1/events?after={last}", None, "Prefer: wait=1")
    for title, after in [("nonsense", "x"), ("a number", "1"), ("a position that is to come", f"{epoch}.99999"),
        ("a negative one", f"{epoch}.-1")]:
        r.ask(f"events: after {title}", "GET", f"/v1/events?after={after}")
    r.names.known["9" + epoch] = "{another epoch}"
    r.ask("events: after one of another epoch", "GET", f"/v1/events?after=9{cursor}")
    r.ask("events: 101 of them", "GET", "/v1/events?per_page=101")
    r.client("reader of the menu", r.box.make_key("menu:read")["key"])
    r.client("reader of clients", r.box.make_key("clients:read")["key"])
    r.ask("events: of the menu alone", "GET", "/v1/events", who="reader of the menu")
    r.ask("events: for a key without a scope for any", "GET", "/v1/events", who="reader of clients")


def reports(r):
    before, behind = days_around(r.names)
    for report, sorts in REPORTS.items():
        path = f"{ORDERS}/{report}"
        tag = r.ask(f"{report}", "GET", path).etag
        r.ask(f"{report}: unless it has its tag", "GET", path, None, f"If-None-Match: {tag}")
        r.ask(f"{report}: HEAD", "HEAD", path)
        for sort in sorts:
            r.ask(f"{report}: sorted by {sort}", "GET", f"{path}?sort={sort}")
        for query in ["per_page=1", "per_page=1&page=2", "filter[status]=CANCELLED", "filter[status]=pending,ready",
            "filter[service_type]=DELIVERY",
                      "filter[source]=API", f"filter[start_date]={before}&filter[end_date]={behind}&timezone=UTC",
                      "filter[start_date]=2020-01-01&filter[end_date]=2020-01-31", "filter[start_date]=2026-02-30",
                          "filter[start_time]=25:00",
                      "filter[end_time]=1830", "timezone=Lima", "filter[status]=OPEN", "filter[paid]=true", "sort=name",
                      "filter[start_date]=2024-01-01&filter[end_date]=2025-12-31", "filter[include]=products",
                      "filter[day]=business", "filter[day]=night", "filter[by]=payment", "filter[by]=tip",
                          "filter[start_time]=18:00&filter[end_time]=18:00"]:
            r.ask(f"{report}: {r.names.text(query)}", "GET", f"{path}?{query}")
    for include in ("freehand", "products_modifiers", "all"):
        r.ask(f"products-sold: with {include}", "GET", f"{ORDERS}/products-sold?filter[include]={include}")
