// Places and pays an order through the client that openapi-typescript makes; prints the order.
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

const placed = known(await client.POST("/v1/orders", {
  params: { header: { "Idempotency-Key": "typescript-1" } },
  body: { service_type: "TAKEAWAY", comment: "Sin cubiertos." },
}));
const path = { id: placed.id };
const filled = known(await client.POST("/v1/orders/{id}/combos", {
  params: { path },
  body: { combos: [{ product_name: "Causa limeña", quantity: 2, variant_price: 18.5 }] },
}));
const paid = known(await client.POST("/v1/orders/{id}/payments", {
  params: { path },
  body: { payment_method_code: "cash", amount: filled.pending_amount, received_amount: 50 },
}));
const listed = await client.GET("/v1/orders", {
  params: { query: { "filter[status]": "PENDING", "filter[paid]": true, sort: "-created_at" } },
});
if (listed.data?.data[0].id !== paid.id) throw new Error("the order is not listed");
console.log(JSON.stringify({ total: paid.total, paid: paid.paid, change: paid.payments[0].change_amount }));
