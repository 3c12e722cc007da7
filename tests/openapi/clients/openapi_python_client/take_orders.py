"""Takes orders through the client that openapi-python-client makes; prints what it saw."""

import json
import os
import ssl
from typing import TypeVar
from uuid import UUID

from comanda_client import AuthenticatedClient
from comanda_client.api.menu import change_product
from comanda_client.api.orders import add_combos, add_payment, cancel_order, get_order, list_orders, place_order
from comanda_client.models import (
    ComboInput,
    CombosInput,
    Order,
    OrderAnswer,
    OrderCancel,
    OrderInput,
    OrderPage,
    PaymentInput,
    Problem,
    ProductChange,
    ServiceType,
)

Answer = TypeVar("Answer")


def known(answer: Answer | Problem | None) -> Answer:
    assert answer is not None and not isinstance(answer, Problem), answer
    return answer


def order_of(answer: OrderAnswer | Problem | None) -> Order:
    return known(answer).data


def place(key: str) -> Order:
    body = OrderInput(service_type=ServiceType.TAKEAWAY, comment="Sin cubiertos.", order_title=None)
    return order_of(place_order.sync(client=client, body=body, idempotency_key=key))


client = AuthenticatedClient(
    base_url=os.environ["COMANDA_URL"],
    token=os.environ["COMANDA_KEY"],
    verify_ssl=ssl.create_default_context(cafile=os.environ["SSL_CERT_FILE"]),
)
placed = place("python-1")
filled = order_of(add_combos.sync(
    str(placed.id), client=client,
    body=CombosInput(combos=[ComboInput(product_name="Causa limeña", quantity=2, variant_price=18.5),
                             ComboInput(product_name="Banquete", quantity=1, variant_price=1234567.89)])))
paid = order_of(add_payment.sync(
    str(placed.id), client=client,
    body=PaymentInput(payment_method_code="cash", amount=filled.pending_amount,
                      received_amount=filled.pending_amount + 13)))
read = order_of(get_order.sync(str(placed.id), client=client))
page: OrderPage = known(list_orders.sync(
    client=client, filterstatus="PENDING", filterpaid=True, sort="-created_at"))
assert page.data[0].id == paid.id, "the order is not listed"
cancelled = order_of(cancel_order.sync(str(place("python-2").id), client=client, body=OrderCancel(reason="A try.")))
known(change_product.sync(UUID(os.environ["COMANDA_PRODUCT"]), client=client, body=ProductChange(description="Con ají")))
print(json.dumps({"total": read.total, "paid": read.paid, "change": paid.payments[0].change_amount,
                  "title": read.order_title, "cancelled": cancelled.status}))
