import { Configuration, InvoicesApi } from "./typescript-axios";

const configuration = new Configuration({
  basePath: "http://127.0.0.1:8080",
  accessToken: process.env.KEY,
});

async function main() {
  const { data: invoice } = await new InvoicesApi(configuration).createInvoice({
    idempotencyKey: "order-2001:1",
    invoiceCreation: {
      external_order_id: "order-2001",
      attempt_no: 1,
      amount: "1.5",
      payment_method_id: "tusd-local",
    },
  });
  console.log(invoice.status, invoice.amount, invoice.deposit_address);
}

main();
