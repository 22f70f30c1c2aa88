// What Dredd has to be told: it asks for every documented status with the same request, which has one
// answer (https://github.com/apiaryio/dredd/issues/1257), and takes each documented header for one that
// must be there. It reads no `examples` of a parameter, so the key of a new invoice would be empty. So
// only successes are asked for, of the invoice that its first request has created, which is canceled last.
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
