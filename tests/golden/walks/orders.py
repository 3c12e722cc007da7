"""The life of orders: placing, lines, payments, discounts, riders, deliveries, moves, ends; each success and each refusal."""


from golden.walks.common import (ADDRESS, CARD_NUMBER, CASH, CLIENT, KUWAIT, NOBODY, OTHER, OTHER_FILE, PRODUCT, RIDER,
                                 RIDER_WHO_LEFT, TABLE, VARIANT, demo, in_days, item)

ORDERS = "/v1/orders"


def at(order, *parts):
    return "/".join([ORDERS, order["id"], *parts])


def everyone(r):
    r.box.bring_in(OTHER_FILE)
    demo(r)
    r.client("the other restaurant", r.box.make_key(company=OTHER)["key"])
    r.client("the restaurant in Kuwait", r.box.make_key(company=KUWAIT)["key"])


def walk(r):
    everyone(r)
    placing(r)
    reading(r)
    lines(r)
    payments(r)
    discounts(r)
    fields(r)
    delivery(r)
    life(r)
    conditions(r)
    retries(r)
    elsewhere(r)
    trouble(r)


def trouble(r):
    order = r.ask("trouble: place", "POST", ORDERS, {"service_type": "ONSITE"}).data
    r.box.execute("UPDATE orders SET source = 'RAPPI', checksum = NULL WHERE id = ?", order["id"])
    r.box.execute("UPDATE company_counter SET checksums_complete = 0, checksum = NULL")
    r.ask("trouble: an order of another source", "PATCH", at(order), {"comment": "x"})
    r.ask("trouble: a move of an order of another source", "PATCH", at(order, "status"), {"status": "READY"})
    with r.box.locked():  # keeps the server waiting, until that gives up
        r.ask("trouble: someone else writes", "POST", ORDERS, {"service_type": "ONSITE"}, "Idempotency-Key: trouble-1")
    r.ask("trouble: nobody else writes", "POST", ORDERS, {"service_type": "ONSITE"}, "Idempotency-Key: trouble-1")
    r.box.execute("ALTER TABLE order_status RENAME TO hidden")  # no version of ours has made it so
    r.ask("trouble: a table is missing", "POST", ORDERS, {"service_type": "ONSITE"}, "Idempotency-Key: trouble-2")
    r.box.execute("ALTER TABLE hidden RENAME TO order_status")


def placing(r):
    r.ask("place: the least", "POST", ORDERS, {"service_type": "ONSITE"})
    r.ask("place: everything", "POST", ORDERS, {
        "service_type": "DELIVERY", "client_id": CLIENT, "address_id": ADDRESS, "comment": "sin ají",
            "order_title": "Ana",
        "delivery_comment": "tocar dos veces", "delivery_price": 7.5, "packaging_price": 1,
        "scheduled_delivery_date": in_days(2)}, "Idempotency-Key: everything")
    r.ask("place: at a table", "POST", ORDERS, {"service_type": "TABLE", "table_id": TABLE})
    r.ask("place: nulls", "POST", ORDERS, {"service_type": "TAKEAWAY", "client_id": None, "comment": None})
    for title, more in [
            ("no service type", {"service_type": None}), ("an unknown service type", {"service_type": "DINE_IN"}),
            ("a client of nobody", {"client_id": NOBODY}), ("a client that is none", {"client_id": "x"}),
            ("a table of nobody", {"table_id": NOBODY}), ("an address without a client", {"address_id": ADDRESS}),
            ("a date that is past", {"scheduled_delivery_date": "2020-01-01T00:00:00Z"}),
            ("a date without a zone", {"scheduled_delivery_date": "2030-01-01T00:00:00"}),
            ("too many decimals", {"delivery_price": 1.234}), ("a negative price", {"delivery_price": -1}),
            ("a price as text", {"delivery_price": "1"}), ("a price beyond all measure", {"delivery_price": 1e300}),
            ("a number as its title", {"order_title": 1}), ("a long title", {"order_title": "x" * 201}),
            ("a card's number", {"comment": CARD_NUMBER}),
                ("a field of the record", {"currency": "PEN", "status": "READY"}),
            ("a control byte", {"comment": "a\x07b"}), ("everything wrong", {
                "service_type": 1, "client_id": 1, "comment": [], "order_title": {}, "delivery_price": "x"})]:
        r.ask(f"place: {title}", "POST", ORDERS, {"service_type": "ONSITE", **more})


def reading(r):
    order = r.ask("read: place", "POST", ORDERS, {"service_type": "ONSITE", "order_title": "Rosa"},
        "Idempotency-Key: rosa").data
    first = r.ask("read: by its id", "GET", at(order))
    r.ask("read: HEAD", "HEAD", at(order))
    r.ask("read: gzip is welcome, which one order is not worth", "GET", at(order), None, "Accept-Encoding: gzip")
    r.names.known[order["id"].upper()] = "{its id in capitals}"
    r.names.known[order["id"].replace("-", "%2D")] = "{its id escaped}"
    r.names.known[order["public_id"].lower()] = "{its public id in small letters}"
    for title, path in [("in capitals", order["id"].upper()), ("escaped", order["id"].replace("-", "%2D")),
                        ("by its public id", order["public_id"]), ("in small letters", order["public_id"].lower())]:
        r.ask(f"read: {title}", "GET", f"{ORDERS}/{path}")
        r.ask(f"write: {title}", "PATCH", f"{ORDERS}/{path}", {"order_title": "Rosa María"},
            "Idempotency-Key: one-for-all")
    r.ask("read: a public id of nobody", "GET", f"{ORDERS}/PE-0000000000")
    r.ask("read: with its tag of before", "GET", at(order), None, f"If-None-Match: {first.etag}")
    for title, tag in [("its tag", r.ask("read: again", "GET", at(order)).etag), ("any", "*"),
        ("several", '"x", "1.1.1"')]:
        r.ask(f"read: unless it has {title}", "GET", at(order), None, f"If-None-Match: {tag}")
    r.ask("read: by the other restaurant", "GET", at(order), who="the other restaurant")
    r.ask("write: by the other restaurant", "PATCH", at(order), {"comment": "x"}, who="the other restaurant")


def lines(r):
    order = r.ask("lines: place", "POST", ORDERS, {"service_type": "ONSITE"}).data
    order = r.ask("lines: of the menu, of nothing, with modifiers", "POST", at(order, "combos"), {"combos": [
        {"product_id": PRODUCT, "variant_id": VARIANT, "quantity": 2, "variant_price": 38,
         "modifiers": [{"name": "Picante", "price": 1.5, "quantity": 2}]},
        {"sku": "TIR-AMA", "quantity": 0.75, "variant_price": 39, "variant_original_price": 45, "comment": "sin sal"},
        item(3.35, 3, "Vela")]}).data
    for title, body in [
            ("no list", {}), ("an empty list", {"combos": []}), ("a list of numbers", {"combos": [1]}),
            ("nothing in it", {"combos": [{}]}),
                ("no quantity", {"combos": [{"product_name": "x", "variant_price": 1}]}),
            ("zero of it", {"combos": [item(quantity=0)]}), ("a negative price", {"combos": [item(-1)]}),
            ("a product of nobody", {"combos": [{"product_id": NOBODY, "quantity": 1, "variant_price": 1}]}),
            ("a sku of nobody", {"combos": [{"sku": "NONE", "quantity": 1, "variant_price": 1}]}),
            ("a variant of another product", {"combos": [{"product_id": PRODUCT, "sku": "TIR-AMA", "quantity": 1,
                "variant_price": 1}]}),
            ("a modifier without a name", {"combos": [item(modifiers=[{"price": 1}])]}),
            ("a modifier of nobody", {"combos": [item(modifiers=[{"modifier_id": NOBODY, "price": 1}])]}),
            ("half a modifier", {"combos": [item(modifiers=[{"name": "x", "price": 1, "quantity": 0.5}])]}),
            ("a sum beyond all measure", {"combos": [item(99_999_999, 9_999)]}),
            ("201 lines", {"combos": [item()] * 201})]:
        r.ask(f"lines: {title}", "POST", at(order, "combos"), body)
    r.ask("lines: take one away", "DELETE", at(order, "combos", order["combos"][0]["id"]))
    r.ask("lines: take it away again", "DELETE", at(order, "combos", order["combos"][0]["id"]))
    r.ask("lines: take away one of nobody", "DELETE", at(order, "combos", NOBODY))
    r.ask("lines: take away nonsense", "DELETE", at(order, "combos", "x"))


def payments(r):
    order = r.ask("payments: place", "POST", ORDERS, {"service_type": "ONSITE"}).data
    r.ask("payments: two ceviches", "POST", at(order, "combos"), {"combos": [item(25, 2)]})
    paid = r.ask("payments: a part in cash", "POST", at(order, "payments"), {
        "payment_method_code": "cash", "amount": 20, "received_amount": 50, "tip_amount": 2.5, "reference": "A1",
        "comment": "gracias"}).data
    r.ask("payments: the rest by id", "POST", at(order, "payments"), {"payment_method_id": CASH, "bill_amount": 30})
    r.ask("payments: more than the rest", "POST", at(order, "payments"), {"payment_method_code": "card", "amount": 5})
    for title, body in [
            ("no method", {"amount": 1}), ("a method of nobody", {"payment_method_code": "gold", "amount": 1}),
            ("no amount", {"payment_method_code": "cash"}), ("zero", {"payment_method_code": "cash", "amount": 0}),
            ("two amounts", {"payment_method_code": "cash", "amount": 1, "bill_amount": 2}),
            ("a method of other service types", {"payment_method_code": "transfer", "amount": 1}),
            ("less received than paid", {"payment_method_code": "cash", "amount": 10, "received_amount": 5}),
            ("a card's number", {"payment_method_code": "card", "amount": 1, "reference": CARD_NUMBER}),
            ("a fee", {"payment_method_code": "card", "amount": 1, "fee_amount": 1})]:
        r.ask(f"payments: {title}", "POST", at(order, "payments"), body)
    r.ask("payments: cancel while one is active", "POST", at(order, "cancel"), {"reason": "x"})
    r.ask("payments: take one away", "DELETE", at(order, "payments", paid["payments"][0]["id"]))
    r.ask("payments: take it away again", "DELETE", at(order, "payments", paid["payments"][0]["id"]))
    r.ask("payments: take away one of nobody", "DELETE", at(order, "payments", NOBODY))


def discounts(r):
    order = r.ask("discounts: place", "POST", ORDERS, {"service_type": "ONSITE"}).data
    r.ask("discounts: a ceviche", "POST", at(order, "combos"), {"combos": [item(33.35)]})
    order = r.ask("discounts: ten in a hundred", "POST", at(order, "discounts"), {"type": "PERCENTAGE", "value": 10,
        "reason": "lunes"}).data
    r.ask("discounts: more than is left", "POST", at(order, "discounts"), {"type": "AMOUNT", "value": 50})
    for title, body in [("no type", {"value": 1}), ("no value", {"type": "AMOUNT"}),
        ("a type that is none", {"type": "GIFT", "value": 1}),
                        ("200 in a hundred", {"type": "PERCENTAGE", "value": 200}),
                            ("zero", {"type": "AMOUNT", "value": 0})]:
        r.ask(f"discounts: {title}", "POST", at(order, "discounts"), body)
    r.ask("discounts: take one away", "DELETE", at(order, "discounts", order["discounts"][0]["id"]))
    r.ask("discounts: take it away again", "DELETE", at(order, "discounts", order["discounts"][0]["id"]))


def fields(r):
    order = r.ask("fields: place", "POST", ORDERS, {"service_type": "DELIVERY", "order_title": "Ana"}).data
    r.ask("fields: all of them", "PATCH", at(order), {
        "comment": "más limón", "order_title": "Ana María", "delivery_comment": "piso 9", "delivery_price": 3,
            "packaging_price": 0,
        "scheduled_delivery_date": in_days(1)})
    r.ask("fields: another comment is added", "PATCH", at(order), {"comment": "y servilletas"})
    r.ask("fields: nothing", "PATCH", at(order), {})
    r.ask("fields: cleared", "PATCH", at(order), {"order_title": None, "delivery_comment": None,
        "scheduled_delivery_date": None})
    for title, body in [("a comment is not cleared", {"comment": None}),
        ("read-only ones", {"version": 3, "id": NOBODY}),
                        ("the service type", {"service_type": "ONSITE"}),
                            ("a past date", {"scheduled_delivery_date": "2020-01-01T00:00:00Z"})]:
        r.ask(f"fields: {title}", "PATCH", at(order), body)


def delivery(r):
    order = r.ask("delivery: place", "POST", ORDERS, {"service_type": "DELIVERY"}).data
    r.ask("delivery: a rider of the caller", "PUT", at(order, "rider"), {"user_id": 7, "name": "Beto",
        "phone_number": "987654321", "country_calling_code": "51"})
    r.ask("delivery: the same rider", "PUT", at(order, "rider"), {"user_id": 7, "name": "Beto",
        "phone_number": "987654321", "country_calling_code": "51"})
    r.ask("delivery: no rider", "DELETE", at(order, "rider"))
    r.ask("delivery: no rider again", "DELETE", at(order, "rider"))
    staff = {"provider": "comanda", "user_id": RIDER}
    r.ask("delivery: a rider of the staff before it is prepared", "PUT", at(order, "rider"), staff)
    r.ask("delivery: it is prepared", "PATCH", at(order, "status"), {"status": "PREPARING"})
    r.ask("delivery: a rider of the staff", "PUT", at(order, "rider"), staff)
    for title, body in [("nobody", {}), ("an unknown provider", {"name": "x", "provider": "uber"}),
        ("a float for an id", {"user_id": 1.5}),
                        ("a cook", {**staff, "user_id": NOBODY}),
                            ("one who left", {**staff, "user_id": RIDER_WHO_LEFT})]:
        r.ask(f"delivery: {title} as rider", "PUT", at(order, "rider"), body)
    for status in ("DRIVER_ON_THE_WAY_TO_DESTINATION", "DRIVER_ARRIVED_AT_STORE"):
        r.ask(f"delivery: {status}", "PATCH", at(order, "delivery-status"), {"delivery_status": status})
    for title, body in [("a reason without need", {"delivery_status": "DELIVERED", "reason": "x"}),
        ("no reason", {"delivery_status": "NOT_DELIVERED"}),
                        ("not delivered", {"delivery_status": "NOT_DELIVERED", "reason": "nadie"}),
                            ("an illegal move", {"delivery_status": "DELIVERED"}),
                        ("no status", {"delivery_status": "LOST"})]:
        r.ask(f"delivery: {title}", "PATCH", at(order, "delivery-status"), body)
    onsite = r.ask("delivery: place for here", "POST", ORDERS, {"service_type": "ONSITE"}).data
    r.ask("delivery: of an order for here", "PATCH", at(onsite, "delivery-status"), {"delivery_status": "DELIVERED"})


def life(r):
    order = r.ask("life: place", "POST", ORDERS, {"service_type": "ONSITE"}).data
    for status in ("PREPARING", "PREPARING", "ready", "PENDING", "CANCELLED", "EATEN", "FINALIZED"):
        r.ask(f"life: {status} ({len(r.titles)})", "PATCH", at(order, "status"), {"status": status})
    for title, method, parts, body in [
            ("a line", "POST", ["combos"], {"combos": [item()]}),
                ("a payment", "POST", ["payments"], {"payment_method_code": "cash", "amount": 1}),
            ("a discount", "POST", ["discounts"], {"type": "AMOUNT", "value": 1}),
                ("a rider", "PUT", ["rider"], {"name": "x"}),
            ("a delivery", "PATCH", ["delivery-status"], {"delivery_status": "DELIVERED"}),
                ("a title", "PATCH", [], {"order_title": "x"}),
            ("a comment", "PATCH", [], {"comment": "x"}), ("its end", "POST", ["cancel"], {"reason": "x"})]:
        r.ask(f"life: {title} of a closed order", method, at(order, *parts), body)
    order = r.ask("life: place another", "POST", ORDERS, {"service_type": "ONSITE"}).data
    for title, body in [("without a reason", {}), ("for an empty reason", {"reason": ""}),
        ("for a reason", {"reason": "no vino"}), ("again", {"reason": "x"})]:
        r.ask(f"life: cancel {title}", "POST", at(order, "cancel"), body)
    r.ask("life: a line of a cancelled order", "POST", at(order, "combos"), {"combos": [item()]})
    r.ask("life: a move of a cancelled order", "PATCH", at(order, "status"), {"status": "READY"})


def conditions(r):
    order = r.ask("If-Match: place", "POST", ORDERS, {"service_type": "ONSITE"}).data
    tag = r.ask("If-Match: read", "GET", at(order)).etag
    for title, value in [("an old version", '"0"'), ("a weak tag", 'W/"1"'), ("no tag", "1"), ("half a tag", '"1'),
        ("its tag", tag),
                         ("its tag of before", tag), ("its version among others", '"9", "2"'), ("any", "*")]:
        r.ask(f"If-Match: {title}", "PATCH", at(order), {"order_title": title}, f"If-Match: {value}")
    r.ask("If-Match: of no order", "PATCH", f"{ORDERS}/{NOBODY}", {"comment": "x"}, "If-Match: *")
    r.ask("If-Match: a wrong field first", "PATCH", at(order), {"order_title": 1}, 'If-Match: "1"')


def retries(r):
    for title, body in [("place", {"service_type": "ONSITE"}), ("the same again", {"service_type": "ONSITE"}),
                        ("the same in other words", b' { "service_type" : "ONSITE" } '),
                            ("another body", {"service_type": "TABLE"})]:
        answer = r.ask(f"retry: {title}", "POST", ORDERS, body, "Idempotency-Key: retried")
        order = answer.data if title == "place" else order
    r.ask("retry: by another restaurant", "POST", ORDERS, {"service_type": "ONSITE"}, "Idempotency-Key: retried",
        who="the other restaurant")
    r.ask("retry: on another path", "PATCH", at(order, "status"), {"status": "READY"}, "Idempotency-Key: retried")
    for title in ("a payment", "the payment again"):
        r.ask(f"retry: {title}", "POST", at(order, "payments"), {"payment_method_code": "cash", "amount": 1},
            "Idempotency-Key: pay-1")
    r.ask("retry: a refusal", "POST", at(order, "cancel"), {"reason": "x"}, "Idempotency-Key: cancel-1")
    r.ask("retry: the refusal again", "POST", at(order, "cancel"), {"reason": "x"}, "Idempotency-Key: cancel-1")
    r.ask("retry: a wrong body", "POST", ORDERS, {"service_type": "X"}, "Idempotency-Key: wrong")
    r.ask("retry: mended under the same key", "POST", ORDERS, {"service_type": "ONSITE"}, "Idempotency-Key: wrong")
    r.ask("retry: a DELETE", "DELETE", at(order, "rider"), None, "Idempotency-Key: delete-1")
    r.ask("retry: the DELETE again", "DELETE", at(order, "rider"), None, "Idempotency-Key: delete-1")
    r.ask("retry: a key of blanks", "POST", ORDERS, {"service_type": "ONSITE"}, "Idempotency-Key: a b")
    r.ask("retry: an empty key", "POST", ORDERS, {"service_type": "ONSITE"}, "Idempotency-Key:")


def elsewhere(r):
    for who, price in (("the other restaurant", 12_500), ("the restaurant in Kuwait", 1.255)):
        order = r.ask(f"{who}: place", "POST", ORDERS, {"service_type": "ONSITE"}, who=who).data
        r.ask(f"{who}: a line", "POST", at(order, "combos"), {"combos": [item(price, 2)]}, who=who)
        r.ask(f"{who}: a line with too many decimals", "POST", at(order, "combos"), {"combos": [item(price / 10)]},
            who=who)
        r.ask(f"{who}: a tenth off", "POST", at(order, "discounts"), {"type": "PERCENTAGE", "value": 10}, who=who)
