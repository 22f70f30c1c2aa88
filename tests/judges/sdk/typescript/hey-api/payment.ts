// Every operation of the payment document, by the SDK of @hey-api/openapi-ts.

import { randomUUID } from "node:crypto";

import * as sdk from "../../../../build/sdk/payment/hey-api";
import { createClient, createConfig } from "../../../../build/sdk/payment/hey-api/client";
import { read, refused, same } from "../answers";
import { type PaymentFacts, readFacts } from "../facts";

const facts = readFacts<PaymentFacts>();
const [ada, ben, nobody] = [facts.key, facts.peer_key, "prk_test_nobody"].map((auth) =>
  createClient(createConfig({ baseUrl: facts.base_url, auth })),
);

async function listPaymentMethods(): Promise<void> {
  const { environment, methods } = await read(sdk.listPaymentMethods({ client: ada }));
  const [method] = methods;
  same(environment, "test");
  same(methods.length, 1);
  same([method?.id, method?.token_symbol], [facts.payment_method_id, facts.token_symbol]);
  same([method?.chain_id, method?.decimals], [facts.chain_id, 6]);
  same(method?.available, true);
  const refusal = await refused(401, sdk.listPaymentMethods({ client: nobody }));
  same(refusal.code, "unauthorized");
  same(refusal.details, []);
}

async function createInvoice(): Promise<sdk.Invoice> {
  const body: sdk.InvoiceCreation = {
    external_order_id: `order-${randomUUID()}`,
    attempt_no: 1,
    amount: "12.5",
    payment_method_id: facts.payment_method_id,
  };
  const headers = { "Idempotency-Key": randomUUID() };
  const created = sdk.createInvoice({ client: ada, headers, body });
  const invoice = await read(created);
  same((await created).response.status, 201);
  const replayed = await sdk.createInvoice({ client: ada, headers, body });
  same(replayed.response.headers.get("Idempotent-Replayed"), "true");
  same(replayed.data, invoice);
  const again = { "Idempotency-Key": randomUUID() };
  const refusal = await refused(409, sdk.createInvoice({ client: ada, headers: again, body }));
  same(refusal.code, "order_attempt_exists");
  same(refusal.details[0]?.path, "/body/attempt_no");
  const bad = { ...body, amount: "0" };
  const fresh = { "Idempotency-Key": randomUUID() };
  const invalid = await refused(422, sdk.createInvoice({ client: ada, headers: fresh, body: bad }));
  same(invalid.code, "invalid_amount");
  const unknown = await refused(401, sdk.createInvoice({ client: nobody, headers, body }));
  same(unknown.code, "unauthorized");
  return invoice;
}

async function readAndCancel(invoice: sdk.Invoice): Promise<void> {
  const path = { id: invoice.id };
  same([invoice.status, invoice.exception], ["unpaid", "none"]);
  same([invoice.amount, invoice.attempt_no, invoice.paid_at], ["12500000", 1, null]);
  same(invoice.payments, []);
  const found = await sdk.getInvoice({ client: ada, path });
  same(found.data, invoice);
  const headers = { "If-None-Match": found.response.headers.get("ETag") ?? "" };
  const unchanged = await sdk.getInvoice({ client: ada, path, headers });
  same(unchanged.response.status, 304);
  const foreign = await refused(404, sdk.getInvoice({ client: ben, path }));
  same(foreign.code, "invoice_not_found");
  const session = await read(sdk.createCheckoutSession({ client: ada, path }));
  same(session.invoice_id, invoice.id);
  same(session.checkout_url.endsWith(session.checkout_token), true);
  const key = { "Idempotency-Key": randomUUID() };
  const canceled = await read(sdk.cancelInvoice({ client: ada, path, headers: key }));
  same(canceled.status, "canceled");
  same(typeof canceled.canceled_at, "number");
  const late = await refused(409, sdk.createCheckoutSession({ client: ada, path }));
  same(late.code, "invoice_not_payable");
  const unknown = await refused(401, sdk.createCheckoutSession({ client: nobody, path }));
  same(unknown.code, "unauthorized");
}

async function main(): Promise<void> {
  await listPaymentMethods();
  await readAndCancel(await createInvoice());
}

main();
