import createClient from "openapi-fetch";

import type { paths } from "./openapi-typescript/schema";

const client = createClient<paths>({
  baseUrl: "http://127.0.0.1:8080",
  headers: { Authorization: `Bearer ${process.env.KEY}` },
});

async function main() {
  const { data: invoice, error } = await client.POST("/v1/invoices", {
    params: { header: { "Idempotency-Key": "order-2001:1" } },
    body: {
      external_order_id: "order-2001",
      attempt_no: 1,
      amount: "1.5",
      payment_method_id: "tusd-local",
    },
  });
  if (!invoice) throw new Error(error?.message);
  console.log(invoice.status, invoice.amount, invoice.deposit_address);
}

main();
