// A proxy that judges each request and answer by a document with express-openapi-validator:
// node validating_proxy.cjs DOCUMENT TARGET. It prints its port. An objection has the header
// `X-Objection`: 4xx to a request, 500 to an answer. `X-Break: 1` breaks the answer before.
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
