// Every operation of the payment document, by openapi-generator's typescript-fetch SDK.

import { randomUUID } from "node:crypto";

import * as sdk from "../../../../build/sdk/payment/typescript-fetch";
import { same } from "../answers";
import { type PaymentFacts, readFacts } from "../facts";

const facts = readFacts<PaymentFacts>();
const [ada, ben, nobody] = [facts.key, facts.peer_key, "prk_test_nobody"].map(
  (accessToken) => new sdk.Configuration({ basePath: facts.base_url, accessToken }),
);

/** The typed error record of a call that is refused with that status. */
async function refused(status: number, call: Promise<unknown>): Promise<sdk.ErrorResponse> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof sdk.ResponseError)) throw error ?? new Error("not refused");
  same(error.response.status, status);
  return sdk.ErrorResponseFromJSON(await error.response.json());
}

async function listPaymentMethods(): Promise<void> {
  const { environment, methods } = await new sdk.PaymentMethodsApi(ada).listPaymentMethods();
  const [method] = methods;
  same(environment, "test");
  same(methods.length, 1);
  same([method?.id, method?.tokenSymbol], [facts.payment_method_id, facts.token_symbol]);
  same([method?.chainId, method?.decimals], [facts.chain_id, 6]);
  same(method?.available, true);
  const refusal = await refused(401, new sdk.PaymentMethodsApi(nobody).listPaymentMethods());
  same(refusal.code, "unauthorized");
  same(refusal.details, []);
}

async function createInvoice(): Promise<sdk.Invoice> {
  const api = new sdk.InvoicesApi(ada);
  const invoiceCreation: sdk.InvoiceCreation = {
    externalOrderId: `order-${randomUUID()}`,
    attemptNo: 1,
    amount: "12.5",
    paymentMethodId: facts.payment_method_id,
  };
  const idempotencyKey = randomUUID();
  const created = await api.createInvoiceRaw({ idempotencyKey, invoiceCreation });
  same(created.raw.status, 201);
  const invoice = await created.value();
  const replayed = await api.createInvoiceRaw({ idempotencyKey, invoiceCreation });
  same(replayed.raw.headers.get("Idempotent-Replayed"), "true");
  same(await replayed.value(), invoice);
  const again = { idempotencyKey: randomUUID(), invoiceCreation };
  const refusal = await refused(409, api.createInvoice(again));
  same(refusal.code, "order_attempt_exists");
  same(refusal.details[0]?.path, "/body/attempt_no");
  const nothing = { ...invoiceCreation, amount: "0" };
  const bad = { idempotencyKey: randomUUID(), invoiceCreation: nothing };
  same((await refused(422, api.createInvoice(bad))).code, "invalid_amount");
  const unknown = await refused(401, new sdk.InvoicesApi(nobody).createInvoice(again));
  same(unknown.code, "unauthorized");
  return invoice;
}

async function readAndCancel(invoice: sdk.Invoice): Promise<void> {
  const api = new sdk.InvoicesApi(ada);
  const sessions = new sdk.CheckoutSessionsApi(ada);
  const { id } = invoice;
  same([invoice.status, invoice.exception], ["unpaid", "none"]);
  same([invoice.amount, invoice.attemptNo, invoice.paidAt], ["12500000", 1, null]);
  same(invoice.payments, []);
  same(await api.getInvoice({ id }), invoice);
  const foreign = await refused(404, new sdk.InvoicesApi(ben).getInvoice({ id }));
  same(foreign.code, "invoice_not_found");
  const session = await sessions.createCheckoutSession({ id });
  same(session.invoiceId, id);
  same(session.checkoutUrl.endsWith(session.checkoutToken), true);
  const canceled = await api.cancelInvoice({ id, idempotencyKey: randomUUID() });
  same(canceled.status, "canceled");
  same(typeof canceled.canceledAt, "number");
  const late = await refused(409, sessions.createCheckoutSession({ id }));
  same(late.code, "invoice_not_payable");
  const others = new sdk.CheckoutSessionsApi(nobody);
  const unknown = await refused(401, others.createCheckoutSession({ id }));
  same(unknown.code, "unauthorized");
}

async function main(): Promise<void> {
  await listPaymentMethods();
  await readAndCancel(await createInvoice());
}

main();
