// Takes orders through the client that hey-api makes; prints what it saw.
import { addCombos, addPayment, cancelOrder, changeProduct, getOrder, listOrders, placeOrder } from "./api/index";
import { client } from "./api/client.gen";
import type { Order, Problem } from "./api/index";

client.setConfig({ baseUrl: process.env.COMANDA_URL, auth: process.env.COMANDA_KEY });

function known(answer: { data?: { data: Order }; error?: Problem }): Order {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error));
  return answer.data.data;
}

async function place(key: string): Promise<Order> {
  return known(await placeOrder({
    headers: { "Idempotency-Key": key },
    body: { service_type: "TAKEAWAY", comment: "Sin cubiertos.", order_title: null },
  }));
}

async function main(): Promise<void> {
  const placed = await place("hey-api-1");
  const path = { id: placed.id };
  const filled = known(await addCombos({
    path,
    body: {
      combos: [
        { product_name: "Causa limeña", quantity: 2, variant_price: 18.5 },
        { product_name: "Banquete", quantity: 1, variant_price: 1234567.89 },
      ],
    },
  }));
  const paid = known(await addPayment({
    path,
    body: { payment_method_code: "cash", amount: filled.pending_amount, received_amount: filled.pending_amount + 13 },
  }));
  const read = known(await getOrder({ path }));
  const listed = await listOrders({ query: { "filter[paid]": true, sort: "-created_at" } });
  if (listed.data?.data[0].id !== paid.id) throw new Error("the order is not listed");
  const other = await place("hey-api-2");
  const cancelled = known(await cancelOrder({ path: { id: other.id }, body: { reason: "A try." } }));
  const changed = await changeProduct({
    path: { id: process.env.COMANDA_PRODUCT ?? "" },
    body: { description: "Con ají" },
  });
  if (changed.data === undefined) throw new Error(JSON.stringify(changed.error));
  console.log(JSON.stringify({
    total: read.total, paid: read.paid, change: paid.payments[0].change_amount, title: read.order_title,
    cancelled: cancelled.status,
  }));
}

void main();
