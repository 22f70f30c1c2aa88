// A proxy that validates each request and answer with express-openapi-validator:
// node validating_proxy.cjs DOCUMENT TARGET. It prints its port. Errors have the header
// `X-Objection`, with status 4xx for a request and 500 for an answer. `X-Break: 1` breaks the answer
// before its validation.
"use strict";

const express = require("express");
const validator = require("express-openapi-validator");

const [apiSpec, target] = process.argv.slice(2);
const HOP = new Set(["connection", "content-length", "host", "transfer-encoding", "x-break"]);
const app = express();
app.use(express.json());
app.use(validator.middleware({ apiSpec, validateRequests: true, validateResponses: true }));
app.use(async (request, response) => {
  const headers = Object.entries(request.headers).filter(([name]) => !HOP.has(name));
  const body = request.is("json") ? JSON.stringify(request.body) : undefined;
  const { method, originalUrl } = request;
  const answer = await fetch(target + originalUrl, { method, headers, body });
  const record = await answer.json();
  response.status(answer.status).json(request.headers["x-break"] ? [] : record);
});
app.use((error, _request, response, _next) => {
  response.status(error.status ?? 500).set("X-Objection", "1").send(`${error.stack}`);
});
const server = app.listen(0, "127.0.0.1", () => process.stdout.write(`${server.address().port}\n`));
