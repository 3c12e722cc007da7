"""Questions in SQL to a head office: as a login who may read the views of the schema `office`, and as the database's owner."""

import contextlib
import decimal
import json

from support import postgresql

ROLE = "comanda_office"
# What contract section 23 promises, less what comes with the chain's own commands.
COLUMNS = {
    "company": "company_id name country_code timezone currency city last_event_at",
    "orders": "company_id order_id public_id order_number business_day created_at closed_at canceled_at status service_type source "
              "table_id subtotal total_discounts delivery_price packaging_price service_fee total_tips total total_paid paid "
              "currency version",
    "items": "company_id order_id position item_id business_day product_id product_name category_name variant_id variant_name sku "
             "quantity unit_price total original_total kitchen_id created_at canceled_at",
    "modifiers": "company_id order_id item_position position modifier_id name quantity total",
    "payments": "company_id order_id position payment_id business_day method_code method_name amount tip created_at canceled_at",
    "discounts": "company_id order_id position type value amount",
    "products": "company_id product_id variant_id category_name name variant_name sku price original_price cost stock visible "
                "updated_at",
    "daily_sales": "company_id business_day orders canceled total discounts delivery paid tips currency",
}
MONEY = ("subtotal total_discounts delivery_price packaging_price service_fee total_tips total total_paid quantity unit_price "
         "original_total amount tip value price original_price cost stock discounts delivery paid tips")
TYPES = {**dict.fromkeys(MONEY.split(), "numeric"), "business_day": "date",
         **dict.fromkeys("order_number version position item_position orders canceled".split(), "bigint"), "visible": "boolean",
         **dict.fromkeys("created_at closed_at canceled_at updated_at last_event_at".split(), "timestamp with time zone")}


def type_of(view, column):
    return "boolean" if (view, column) == ("orders", "paid") else TYPES.get(column, "text")


def as_admin(directory, sql, database="postgres"):
    """By a superuser; the rows, if there are any."""
    with contextlib.closing(postgresql.connect(directory, database, postgresql.USER)) as connection:
        with connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall() if cursor.description else []


def make_role(directory):
    """The role that the program may not make on the tests' server; other workers are at it too."""
    as_admin(directory, f"""DO $$ BEGIN CREATE ROLE {ROLE} NOLOGIN;
        EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$""")


def make_login(directory, name):
    """As `comanda-head office login` makes it, without a password: the tests' server trusts whoever comes."""
    make_role(directory)
    as_admin(directory, f"CREATE ROLE {name} LOGIN IN ROLE {ROLE}")


def rows_of(cursor, view, where=""):
    """Each row as {column: value}, numbers exact."""
    cursor.execute("SET TIME ZONE 'UTC'")
    cursor.execute(f"SELECT CAST(to_jsonb(v) AS text) FROM office.{view} AS v {where}")
    return [json.loads(text, parse_float=decimal.Decimal, parse_int=decimal.Decimal) for (text,) in cursor.fetchall()]
