import { createInvoice } from "./hey-api";
import { createClient } from "./hey-api/client";

const client = createClient({ baseUrl: "http://127.0.0.1:8080", auth: process.env.KEY });

async function main() {
  const { data: invoice, error } = await createInvoice({
    client,
    headers: { "Idempotency-Key": "order-2001:1" },
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
