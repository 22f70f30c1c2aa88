// Configuration of Dredd. Dredd sends the same request for every documented status
// (https://github.com/apiaryio/dredd/issues/1257), treats each documented header as required, and ignores
// `examples` of parameters, so the key of a new invoice would be empty. Therefore only successes are
// requested, for the invoice that the first request has created. It is canceled last.
"use strict";

const hooks = require("hooks");

const OPTIONAL = ["RateLimit", "RateLimit-Policy", "Idempotent-Replayed", "Retry-After"];
const PLACE = /\/v1\/invoices\/[^/]+/;
let invoice;

hooks.beforeAll((transactions) => {
  const isCanceled = ({ fullPath }) => fullPath.endsWith("/cancel");
  transactions.sort((one, other) => isCanceled(one) - isCanceled(other));
});

hooks.beforeEach((transaction) => {
  if (!/^20[01]$/.test(transaction.expected.statusCode)) transaction.skip = true;
  const { headers } = transaction.request;
  if (headers["Idempotency-Key"] === "") headers["Idempotency-Key"] = "order-1042:1:create";
  for (const name of OPTIONAL) delete transaction.expected.headers[name];
  if (invoice) transaction.fullPath = transaction.fullPath.replace(PLACE, `/v1/invoices/${invoice}`);
});

hooks.afterEach((transaction) => {
  if (transaction.real?.statusCode === 201) invoice ??= JSON.parse(transaction.real.body).id;
});
