import { Configuration, InvoicesApi } from "./typescript-fetch";

const configuration = new Configuration({
  basePath: "http://127.0.0.1:8080",
  accessToken: process.env.KEY,
});

async function main() {
  const invoice = await new InvoicesApi(configuration).createInvoice({
    idempotencyKey: "order-2001:1",
    invoiceCreation: {
      externalOrderId: "order-2001",
      attemptNo: 1,
      amount: "1.5",
      paymentMethodId: "tusd-local",
    },
  });
  console.log(invoice.status, invoice.amount, invoice.depositAddress);
}

main();
