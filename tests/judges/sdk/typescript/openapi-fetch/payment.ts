// Every operation of the payment document, by openapi-fetch with the types of openapi-typescript.

import { randomUUID } from "node:crypto";

import createClient from "openapi-fetch";

import type { components, paths } from "../../../../build/sdk/payment/openapi-typescript/schema";
import { read, refused, same } from "../answers";
import { type PaymentFacts, readFacts } from "../facts";

type Schemas = components["schemas"];

const facts = readFacts<PaymentFacts>();
const [ada, ben, nobody] = [facts.key, facts.peer_key, "prk_test_nobody"].map((key) =>
  createClient<paths, "application/json">({
    baseUrl: facts.base_url,
    headers: { Authorization: `Bearer ${key}` },
  }),
);

async function listPaymentMethods(): Promise<void> {
  const { environment, methods } = await read(ada.GET("/v1/payment-methods"));
  const [method] = methods;
  same(environment, "test");
  same(methods.length, 1);
  same([method?.id, method?.token_symbol], [facts.payment_method_id, facts.token_symbol]);
  same([method?.chain_id, method?.decimals], [facts.chain_id, 6]);
  same(method?.available, true);
  const refusal = await refused(401, nobody.GET("/v1/payment-methods"));
  same(refusal.code, "unauthorized");
  same(refusal.details, []);
}

async function createInvoice(): Promise<Schemas["Invoice"]> {
  const body: Schemas["InvoiceCreation"] = {
    external_order_id: `order-${randomUUID()}`,
    attempt_no: 1,
    amount: "12.5",
    payment_method_id: facts.payment_method_id,
  };
  const headers = { "Idempotency-Key": randomUUID() };
  const created = ada.POST("/v1/invoices", { params: { header: headers }, body });
  const invoice = await read(created);
  same((await created).response.status, 201);
  const replayed = await ada.POST("/v1/invoices", { params: { header: headers }, body });
  same(replayed.response.headers.get("Idempotent-Replayed"), "true");
  same(replayed.data, invoice);
  const again = { "Idempotency-Key": randomUUID() };
  const refusal = await refused(409, ada.POST("/v1/invoices", { params: { header: again }, body }));
  same(refusal.code, "order_attempt_exists");
  same(refusal.details[0]?.path, "/body/attempt_no");
  const bad = { ...body, amount: "0" };
  const fresh = { "Idempotency-Key": randomUUID() };
  const invalid = await refused(
    422,
    ada.POST("/v1/invoices", { params: { header: fresh }, body: bad }),
  );
  same(invalid.code, "invalid_amount");
  const unknown = await refused(
    401,
    nobody.POST("/v1/invoices", { params: { header: headers }, body }),
  );
  same(unknown.code, "unauthorized");
  return invoice;
}

async function readAndCancel(invoice: Schemas["Invoice"]): Promise<void> {
  const path = { id: invoice.id };
  same([invoice.status, invoice.exception], ["unpaid", "none"]);
  same([invoice.amount, invoice.attempt_no, invoice.paid_at], ["12500000", 1, null]);
  same(invoice.payments, []);
  const found = await ada.GET("/v1/invoices/{id}", { params: { path } });
  same(found.data, invoice);
  const headers = { "If-None-Match": found.response.headers.get("ETag") ?? "" };
  const unchanged = await ada.GET("/v1/invoices/{id}", { params: { path, header: headers } });
  same(unchanged.response.status, 304);
  const foreign = await refused(404, ben.GET("/v1/invoices/{id}", { params: { path } }));
  same(foreign.code, "invoice_not_found");
  const session = await read(ada.POST("/v1/invoices/{id}/checkout-sessions", { params: { path } }));
  same(session.invoice_id, invoice.id);
  same(session.checkout_url.endsWith(session.checkout_token), true);
  const key = { "Idempotency-Key": randomUUID() };
  const canceled = await read(
    ada.POST("/v1/invoices/{id}/cancel", { params: { path, header: key } }),
  );
  same(canceled.status, "canceled");
  same(typeof canceled.canceled_at, "number");
  const late = await refused(
    409,
    ada.POST("/v1/invoices/{id}/checkout-sessions", { params: { path } }),
  );
  same(late.code, "invoice_not_payable");
  const unknown = await refused(
    401,
    nobody.POST("/v1/invoices/{id}/checkout-sessions", { params: { path } }),
  );
  same(unknown.code, "unauthorized");
}

async function main(): Promise<void> {
  await listPaymentMethods();
  await readAndCancel(await createInvoice());
}

main();
