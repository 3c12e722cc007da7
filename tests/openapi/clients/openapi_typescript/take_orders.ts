// Takes orders through the client that openapi-typescript makes; prints what it saw.
import createClient from "openapi-fetch";
import type { components, paths } from "./api";

type Order = components["schemas"]["Order"];

const client = createClient<paths>({
  baseUrl: process.env.COMANDA_URL,
  headers: { Authorization: `Bearer ${process.env.COMANDA_KEY}` },
});

function known(answer: { data?: { data: Order }; error?: components["schemas"]["Problem"] }): Order {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error));
  return answer.data.data;
}

async function place(key: string): Promise<Order> {
  return known(await client.POST("/v1/orders", {
    params: { header: { "Idempotency-Key": key } },
    body: { service_type: "TAKEAWAY", comment: "Sin cubiertos.", order_title: null },
  }));
}

async function main(): Promise<void> {
  const placed = await place("typescript-1");
  const path = { id: placed.id };
  const filled = known(await client.POST("/v1/orders/{id}/combos", {
    params: { path },
    body: {
      combos: [
        { product_name: "Causa limeña", quantity: 2, variant_price: 18.5 },
        { product_name: "Banquete", quantity: 1, variant_price: 1234567.89 },
      ],
    },
  }));
  const paid = known(await client.POST("/v1/orders/{id}/payments", {
    params: { path },
    body: { payment_method_code: "cash", amount: filled.pending_amount, received_amount: filled.pending_amount + 13 },
  }));
  const read = known(await client.GET("/v1/orders/{id}", { params: { path } }));
  const listed = await client.GET("/v1/orders", {
    params: { query: { "filter[status]": "PENDING", "filter[paid]": true, sort: "-created_at" } },
  });
  if (listed.data?.data[0].id !== paid.id) throw new Error("the order is not listed");
  const other = await place("typescript-2");
  const cancelled = known(await client.POST("/v1/orders/{id}/cancel", {
    params: { path: { id: other.id } },
    body: { reason: "A try." },
  }));
  const changed = await client.PATCH("/v1/menu/products/{id}", {
    params: { path: { id: process.env.COMANDA_PRODUCT ?? "" } },
    body: { description: "Con ají" },
  });
  if (changed.data === undefined) throw new Error(JSON.stringify(changed.error));
  console.log(JSON.stringify({
    total: read.total, paid: read.paid, change: paid.payments[0].change_amount, title: read.order_title,
    cancelled: cancelled.status,
  }));
}

void main();
