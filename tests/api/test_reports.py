"""The three reports: they equal sums over the orders, for any filter."""

import collections
import contextlib
import datetime
import random
from decimal import Decimal

import pytest

from support.box import ROOT, Box

OTHER = ROOT / "tests/support/other_restaurant.json"
REPORTS = ["by-payment-methods", "by-tips", "products-sold"]


@pytest.fixture(scope="module")
def quiet_box():
    """A box of its own: a report covers everything of the day."""
    box = Box()
    box.bring_in("demo")
    box.bring_in(OTHER)
    box.start()
    yield box
    box.discard()


@pytest.fixture(scope="module")
def till(quiet_box, demo):
    with contextlib.closing(quiet_box.client(quiet_box.make_key(company=demo["id"])["key"])) as client:
        yield client


@pytest.fixture(scope="module")
def orders(till, demo):
    """Thirty orders of every kind, as GET shows them at the end."""
    chance = random.Random(11)
    products = [p for c in demo["categories"] for p in c["products"] if p.get("sku") or p.get("variants")]
    skus = [p.get("sku") or p["variants"][0].get("sku") for p in products]
    skus = [sku for sku in skus if sku][:6]
    for number in range(30):
        order = till.place(service_type=chance.choice(["ONSITE", "TAKEAWAY"]))
        items = [{"sku": chance.choice(skus), "quantity": chance.choice([1, 2, 0.75]), "variant_price": 12.5,
                  "modifiers": [{"name": "Picante", "price": 1.5, "quantity": 2}]},
                 {"product_name": chance.choice(["Vela", "Propina del coro"]), "quantity": 1, "variant_price": 3}]
        order = till.add(order, *items)
        paid = till.pay(order, 10, code=chance.choice(["cash", "card"]), tip_amount=chance.choice([0, 2.5]))
        if number % 5 == 0:
            till.delete(f"/v1/orders/{order['id']}/combos/{order['combos'][0]['id']}")
        if number % 7 == 0:
            till.delete(f"/v1/orders/{order['id']}/payments/{paid['payments'][0]['id']}")
            till.post(f"/v1/orders/{order['id']}/cancel", {"reason": "no vino"})
    return till.get("/v1/orders?per_page=100").data


def money(value):
    return Decimal(str(value))


def rows(till, report, query=""):
    answer = till.get(f"/v1/orders/{report}{query}")
    assert answer.status == 200, answer.body
    return answer.data


def counted(orders, **only):
    return [o for o in orders if all(o[k] == v for k, v in only.items())]


@pytest.mark.parametrize("query, only", [
    ("", {}),
    ("?filter[service_type]=TAKEAWAY", {"service_type": "TAKEAWAY"}),
    ("?filter[status]=PENDING", {"status": "PENDING"}),
    ("?filter[status]=cancelled", {"status": "CANCELLED"}),
    ("?filter[source]=api", {}),
])
def test_payment_methods_equal_the_sums_over_the_orders(till, orders, query, only):
    expected = collections.defaultdict(lambda: [0, Decimal(0), Decimal(0), 0, Decimal(0)])
    for order in counted(orders, **only):
        for payment in order["payments"]:
            row = expected[payment["payment_method"]["code"]]
            if payment["canceled_at"]:
                row[3] += 1
                row[4] += money(payment["amount"])
            elif order["status"] != "CANCELLED" or "status" in only:
                row[0] += 1
                row[1] += money(payment["amount"])
                row[2] += money(payment["tip_amount"])
    found = {r["code"]: [r["count"], money(r["sum_total"]), money(r["tips_total"]), r["canceled_count"],
                         money(r["canceled_total"])] for r in rows(till, "by-payment-methods", query)}
    assert found == dict(expected)


def test_the_methods_together_are_what_was_paid(till, orders):
    paid = sum(money(o["total_paid"]) for o in orders if o["status"] != "CANCELLED")
    assert sum(money(r["sum_total"]) for r in rows(till, "by-payment-methods")) == paid


def test_tips_equal_the_sums_over_the_orders(till, orders):
    tips = [money(p["tip_amount"]) for o in orders if o["status"] != "CANCELLED" for p in o["payments"]
            if not p["canceled_at"] and p["tip_amount"]]
    found = rows(till, "by-tips")
    assert sum(r["count"] for r in found) == len(tips)
    assert sum(money(r["sum_total"]) for r in found) == sum(tips)
    assert all(r["sum_total"] > 0 for r in found)


def lines(orders, linked):
    for order in orders:
        for combo in order["combos"]:
            if (combo["product_id"] is not None) == linked:
                yield order, combo


@pytest.mark.parametrize("include, linked", [("products", True), ("freehand", False)])
def test_products_sold_equal_the_sums_over_the_lines(till, orders, include, linked):
    sold = collections.defaultdict(lambda: [Decimal(0), Decimal(0), Decimal(0)])
    for order, combo in lines(orders, linked):
        row = sold[combo["variant_id"] or combo["product_name"]]
        if combo["canceled_at"]:
            row[2] += money(combo["quantity"])
        elif order["status"] != "CANCELLED":
            row[0] += money(combo["quantity"])
            row[1] += money(combo["combo_price"])
    found = rows(till, "products-sold", f"?filter[include]={include}&per_page=100")
    assert {r["variant_id"] or r["product_name"]:
            [money(r["product_quantity"]), money(r["total_sales"]), money(r["canceled_quantity"])]
            for r in found} == {k: v for k, v in sold.items() if v[0] or v[2]}
    quantities = [r["product_quantity"] for r in found]
    assert quantities == sorted(quantities, reverse=True)
    for row in found:
        assert row["modifiers"] == []
        if row["product_quantity"]:
            exact = money(row["total_sales"]) / money(row["product_quantity"])
            assert money(row["average_price"]) == exact.quantize(Decimal("0.01"), "ROUND_HALF_UP")


def test_modifiers_stand_below_their_product(till, orders):
    expected = sum(money(m["price"]) for o, c in lines(orders, True) for m in c["modifiers"]
                   if o["status"] != "CANCELLED" and not c["canceled_at"])
    found = rows(till, "products-sold", "?filter[include]=products_modifiers&per_page=100")
    modifiers = [m for r in found for m in r["modifiers"]]
    assert {m["modifier_name"] for m in modifiers} == {"Picante"}
    assert sum(money(m["total_sales"]) for m in modifiers) == expected


def test_a_day_without_orders_is_empty(till, orders):
    for report in REPORTS:
        answer = till.get(f"/v1/orders/{report}?filter[start_date]=2020-01-01&filter[end_date]=2020-01-31")
        assert answer.json == {"data": [], "pagination": {"current_page": 1, "per_page": 20, "total": 0,
                                                          "has_more": False}}


def test_the_daily_window_cuts_and_wraps(till, orders):
    now = datetime.datetime.now(datetime.timezone.utc)
    around = f"?timezone=UTC&filter[start_date]={(now - datetime.timedelta(days=1)):%Y-%m-%d}" \
             f"&filter[end_date]={(now + datetime.timedelta(days=1)):%Y-%m-%d}"
    hour = datetime.timedelta(hours=3)
    inside = f"{around}&filter[start_time]={(now - hour):%H:%M}&filter[end_time]={(now + hour):%H:%M}"
    outside = f"{around}&filter[start_time]={(now + hour):%H:%M}&filter[end_time]={(now - hour):%H:%M}"
    assert rows(till, "by-payment-methods", inside) == rows(till, "by-payment-methods", around)
    assert rows(till, "by-payment-methods", around) != []
    assert rows(till, "by-payment-methods", outside) == []


@pytest.mark.parametrize("report, default, fields", [
    ("by-payment-methods", "sum_total", ["sum_total", "count", "tips_total", "canceled_count", "canceled_total"]),
    ("by-tips", "sum_total", ["sum_total", "count"]),
    ("products-sold", "product_quantity", ["product_quantity", "total_sales", "canceled_quantity"]),
])
def test_a_report_is_sorted_as_every_list(till, orders, report, default, fields):
    unsorted = rows(till, report)
    assert len(unsorted) > 1
    assert rows(till, report, f"?sort=-{default}") == unsorted
    for field in fields:
        for sort in (field, "-" + field):
            figures = [row[field] for row in rows(till, report, f"?sort={sort}")]
            assert figures == sorted(figures, reverse=sort[0] == "-"), sort
    refused = till.get(f"/v1/orders/{report}?sort=name")
    assert refused.status == 400 and f"allowed are: {', '.join(fields)}" in refused.json["detail"]


@pytest.mark.parametrize("query, named", [
    ("?filter[start_date]=2026-02-30", "filter[start_date]"),
    ("?filter[start_date]=2026-02-02&filter[end_date]=2026-02-01", "filter[start_date]"),
    ("?filter[start_date]=2024-01-01&filter[end_date]=2025-12-31", "filter[start_date]"),
    ("?filter[start_time]=25:00", "filter[start_time]"),
    ("?filter[end_time]=1830", "filter[end_time]"),
    ("?filter[start_time]=18:00&filter[end_time]=18:00", "filter[end_time]"),
    ("?filter[start_date]=2026-02-02T10:00:00Z&filter[end_date]=2026-02-02T10:00:00Z", "filter[start_date]"),
    ("?filter[day]=monday", "filter[day]"),
    ("?filter[day]=business,calendar", "filter[day]"),
    ("?timezone=Lima", "timezone"),
    ("?filter[status]=OPEN", "filter[status]"),
    ("?filter[paid]=true", "filter[paid]"),
    ("?sort=name", "sort"),
])
@pytest.mark.parametrize("report", REPORTS)
def test_a_wrong_parameter_is_named(till, report, query, named):
    answer = till.get(f"/v1/orders/{report}{query}")
    assert (answer.status, answer.code) == (400, "invalid_parameter")
    assert named in answer.json["detail"]
    assert [error["field"] for error in answer.json["errors"]] == [named]


def test_by_belongs_to_payments_alone(till):
    assert till.get("/v1/orders/products-sold?filter[by]=payment").fields.keys() == {"filter[by]"}
    for report in REPORTS[:2]:
        for wrong in ("tip", "order,payment"):
            answer = till.get(f"/v1/orders/{report}?filter[by]={wrong}")
            assert (answer.status, list(answer.fields)) == (400, ["filter[by]"])


def test_include_belongs_to_products_sold_alone(till):
    assert till.get("/v1/orders/by-tips?filter[include]=products").code == "invalid_parameter"
    assert till.get("/v1/orders/products-sold?filter[include]=all").code == "invalid_parameter"


@pytest.mark.parametrize("report", REPORTS)
def test_another_company_sees_nothing(quiet_box, orders, other_company, report):
    with contextlib.closing(quiet_box.client(quiet_box.make_key(company=other_company["id"])["key"])) as other:
        assert other.get(f"/v1/orders/{report}").data == []
