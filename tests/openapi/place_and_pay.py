"""Places and pays an order through the client that openapi-python-client makes; prints the order."""

import json
import os
import ssl
from typing import TypeVar

from comanda_client import AuthenticatedClient
from comanda_client.api.orders import add_combos, add_payment, list_orders, place_order
from comanda_client.models import (
    ComboInput,
    CombosInput,
    OrderInput,
    PaymentInput,
    Order,
    OrderAnswer,
    OrderPage,
    Problem,
    ServiceType,
)

Answer = TypeVar("Answer")


def known(answer: Answer | Problem | None) -> Answer:
    assert answer is not None and not isinstance(answer, Problem), answer
    return answer


def order_of(answer: OrderAnswer | Problem | None) -> Order:
    return known(answer).data


client = AuthenticatedClient(
    base_url=os.environ["COMANDA_URL"],
    token=os.environ["COMANDA_KEY"],
    verify_ssl=ssl.create_default_context(cafile=os.environ["COMANDA_CA"]),
)
placed = order_of(place_order.sync(
    client=client, body=OrderInput(service_type=ServiceType.TAKEAWAY, comment="Sin cubiertos."), idempotency_key="python-1"))
filled = order_of(add_combos.sync(
    str(placed.id), client=client,
    body=CombosInput(combos=[ComboInput(product_name="Causa limeña", quantity=2, variant_price=18.5)])))
paid = order_of(add_payment.sync(
    str(placed.id), client=client,
    body=PaymentInput(payment_method_code="cash", amount=filled.pending_amount, received_amount=50)))
page: OrderPage = known(list_orders.sync(
    client=client, filterstatus="PENDING", filterpaid=True, sort="-created_at"))
assert page.data[0].id == paid.id, "the order is not listed"
print(json.dumps({"total": paid.total, "paid": paid.paid, "change": paid.payments[0].change_amount}))
