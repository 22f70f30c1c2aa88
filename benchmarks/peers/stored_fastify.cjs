// Fastify with better-sqlite3, as in their documentation: schemas of requests and responses, and
// prepared statements on one connection. Statements run on the event loop. There is no ORM.
"use strict";
const Ajv = require("ajv");
const Database = require("better-sqlite3");
const fastify = require("fastify");

const task = {
  type: "object",
  properties: { id: { type: "integer" }, text: { type: "string" }, completed: { type: "boolean" } },
};
const version = { type: "object", properties: { version: { type: "string" } } };
const tasks = { type: "object", properties: { tasks: { type: "array", items: task } } };
const newTask = {
  type: "object",
  additionalProperties: false,
  required: ["text"],
  properties: { text: { type: "string", minLength: 1, maxLength: 200 } },
};
const limits = {
  type: "object",
  properties: { limit: { type: "integer", minimum: 1, maximum: 100, default: 20 } },
};
const ids = {
  type: "object",
  properties: { task_id: { type: "integer", minimum: 1, maximum: 2147483647 } },
};

const db = new Database(process.env.BENCHMARK_DATABASE_URL.replace("sqlite:///", ""));
for (const pragma of ["journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"]) {
  db.pragma(pragma);
}
const list = db.prepare("SELECT id, text, completed FROM task ORDER BY id LIMIT ?");
const find = db.prepare("SELECT id, text, completed FROM task WHERE id = ?");
const insert = db.prepare("INSERT INTO task (text, completed) VALUES (?, 0)");
const rendered = (row) => ({ id: row.id, text: row.text, completed: row.completed === 1 });

// Strings of paths and queries are converted to integers. Values of JSON bodies are not converted.
const app = fastify();
const strict = new Ajv();
const converting = new Ajv({ coerceTypes: true, useDefaults: true });
app.setValidatorCompiler(({ schema, httpPart }) =>
  (httpPart === "body" ? strict : converting).compile(schema),
);

app.get("/v1/version", { schema: { response: { 200: version } } }, async () => {
  return { version: "1.0.0" };
});
const listing = { querystring: limits, response: { 200: tasks } };
app.get("/v1/tasks", { schema: listing }, async (request) => {
  return { tasks: list.all(request.query.limit).map(rendered) };
});
const reading = { params: ids, response: { 200: task } };
app.get("/v1/tasks/:task_id", { schema: reading }, async (request, reply) => {
  const row = find.get(request.params.task_id);
  if (row === undefined) {
    return reply.code(404).send({ message: "No such task." });
  }
  return rendered(row);
});
const creating = { body: newTask, response: { 201: task } };
app.post("/v1/tasks", { schema: creating }, async (request, reply) => {
  const { text } = request.body;
  const { lastInsertRowid } = insert.run(text);
  reply.code(201);
  return { id: lastInsertRowid, text, completed: false };
});

app.listen({ host: "127.0.0.1", port: Number(process.argv[2]) });
