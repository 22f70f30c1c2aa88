// Examples of a request in several languages, made from the document: the required parameters and the
// body of the operation's own example. Secrets are read from the environment: API_KEY, and EMAIL for
// HTTP Basic.

export const FORM = "application/x-www-form-urlencoded";
export const MULTIPART = "multipart/form-data";
export const KEY = "Idempotency-Key";
const COPIED_MS = 1500;

export const resolve = (spec, node) =>
  node?.$ref
    ? resolve(spec, node.$ref.slice(2).split("/").reduce((at, step) => at[step.replace(/~1/g, "/").replace(/~0/g, "~")], spec))
    : node;

const firstOf = (spec, examples) => resolve(spec, Object.values(examples ?? {})[0])?.value;

// The example of a schema; if it has none, one of its type.
function exampleOf(spec, node, depth = 0) {
  const schema = resolve(spec, node) ?? {};
  if (schema.example !== undefined) return schema.example;
  if (schema.examples?.length) return schema.examples[0];
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];
  if (depth > 5) return null;
  const parts = schema.allOf ?? schema.oneOf?.slice(0, 1) ?? schema.anyOf?.slice(0, 1);
  if (parts) {
    const examples = parts.map((part) => exampleOf(spec, part, depth + 1));
    const areObjects = examples.every((it) => it !== null && typeof it === "object" && !Array.isArray(it));
    return areObjects ? Object.assign({}, ...examples) : examples[0];
  }
  const type = [schema.type].flat()[0];
  if (type === "integer" || type === "number") return schema.minimum ?? 1;
  if (type === "boolean") return true;
  if (type === "array") return [exampleOf(spec, schema.items, depth + 1)];
  if (type === "object" || schema.properties) {
    const names = schema.required ?? [];
    return Object.fromEntries(names.map((name) => [name, exampleOf(spec, schema.properties?.[name], depth + 1)]));
  }
  return "text";
}

export const asText = (value) => (typeof value === "string" ? value : JSON.stringify(value));

// The pairs of a parameter's name and text: one for each element of a list that is sent "exploded".
function pairsOf(parameter, value) {
  if (Array.isArray(value) && !parameter.content) {
    if (parameter.in === "query" && parameter.explode !== false) return value.map((it) => [parameter.name, asText(it)]);
    return [[parameter.name, value.map(asText).join(",")]];
  }
  return [[parameter.name, asText(value)]];
}

/** What an operation's example sends. `kind` of the body: json, form, multipart or raw. */
export function requestOf(spec, path, method, origin) {
  const item = resolve(spec, spec.paths[path]);
  const operation = item[method];
  const parameters = new Map(
    [...(item.parameters ?? []), ...(operation.parameters ?? [])]
      .map((it) => resolve(spec, it))
      .map((it) => [`${it.in} ${it.name}`, it]),
  );
  const request = { method: method.toUpperCase(), query: [], headers: [], auth: null, body: null };
  let place = path;
  for (const parameter of parameters.values()) {
    if (!parameter.required) continue;
    const { schema, content } = parameter;
    const value =
      parameter.example ?? firstOf(spec, parameter.examples) ?? exampleOf(spec, schema ?? Object.values(content)[0].schema);
    const pairs = pairsOf(parameter, value);
    if (parameter.in === "path") place = place.replaceAll(`{${parameter.name}}`, encodeURIComponent(pairs[0][1]));
    if (parameter.in === "query") request.query.push(...pairs);
    if (parameter.in === "header") request.headers.push(...pairs);
  }
  const server = (operation.servers ?? item.servers ?? spec.servers ?? [{ url: "/" }])[0].url;
  request.url = new URL(server, origin).href.replace(/\/$/, "") + place;

  const [scheme] = Object.keys((operation.security ?? spec.security ?? [])[0] ?? {});
  if (scheme) request.auth = resolve(spec, spec.components.securitySchemes[scheme]);

  const content = resolve(spec, operation.requestBody)?.content;
  if (content) {
    // A form needs no quoting of quotes in a shell, so it goes before JSON if both are accepted.
    const types = Object.keys(content);
    const type = [FORM, "application/json", MULTIPART].find((name) => types.includes(name)) ?? types[0];
    const examples = [content[type], ...Object.values(content)].map((it) => it.example ?? firstOf(spec, it.examples));
    const value = examples.find((it) => it !== undefined) ?? exampleOf(spec, content[type].schema);
    const kind = { [FORM]: "form", [MULTIPART]: "multipart" }[type] ?? (/[/+]json$/.test(type) ? "json" : "raw");
    request.body = { kind, type, value };
    if (kind === "form" || kind === "multipart") {
      const { properties = {} } = resolve(spec, content[type].schema) ?? {};
      const isFile = (name) => resolve(spec, properties[name])?.format === "binary";
      request.body.fields = Object.entries(value ?? {}).map(([name, it]) => ({ name, text: asText(it), isFile: isFile(name) }));
    }
  }
  return request;
}

const shell = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
const isBasic = (auth) => auth?.scheme?.toLowerCase() === "basic";
const withQuery = ({ url, query }) => (query.length ? `${url}?${new URLSearchParams(query)}` : url);

export function curlOf(request) {
  const { method, headers, auth, body } = request;
  const lines = [`curl -X ${method} ${shell(withQuery(request))}`];
  if (isBasic(auth)) lines.push(`-u "$EMAIL:$API_KEY"`);
  else if (auth?.type === "apiKey") lines.push(`-H "${auth.name}: $API_KEY"`);
  else if (auth) lines.push(`-H "Authorization: Bearer $API_KEY"`);
  for (const [name, text] of headers) {
    lines.push(name === KEY ? `-H "${KEY}: $(openssl rand -hex 16)"` : `-H ${shell(`${name}: ${text}`)}`);
  }
  if (body?.kind === "json" || body?.kind === "raw") {
    const text = body.kind === "json" ? JSON.stringify(body.value, null, 2) : asText(body.value);
    lines.push(`-H ${shell(`Content-Type: ${body.type}`)}`, `--data-raw ${shell(text)}`);
  }
  for (const { name, text, isFile } of body?.fields ?? []) {
    if (body.kind === "form") lines.push(`--data-urlencode ${shell(`${name}=${text}`)}`);
    else lines.push(isFile ? `-F ${shell(`${name}=@FILE`)}` : `--form-string ${shell(`${name}=${text}`)}`);
  }
  return lines.join(" \\\n  ");
}

// A value of JSON as Python writes it.
function python(value, indent = "    ") {
  const inner = `${indent}    `;
  if (value === null || value === undefined) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (Array.isArray(value)) {
    return value.length ? `[\n${value.map((it) => `${inner}${python(it, inner)},\n`).join("")}${indent}]` : "[]";
  }
  if (typeof value === "object") {
    const lines = Object.entries(value).map(([name, it]) => `${inner}${JSON.stringify(name)}: ${python(it, inner)},\n`);
    return lines.length ? `{\n${lines.join("")}${indent}}` : "{}";
  }
  return JSON.stringify(value);
}

export function pythonOf({ method, url, query, headers, auth, body }) {
  const imports = ["import os"];
  const lines = [`${JSON.stringify(method)},`, `${JSON.stringify(url)},`];
  const texts = headers.map(([name, text]) => {
    if (name === KEY) imports.push("import uuid");
    return `${JSON.stringify(name)}: ${name === KEY ? "str(uuid.uuid4())" : JSON.stringify(text)}`;
  });
  if (isBasic(auth)) lines.push('auth=(os.environ["EMAIL"], os.environ["API_KEY"]),');
  else if (auth?.type === "apiKey") texts.unshift(`${JSON.stringify(auth.name)}: os.environ["API_KEY"]`);
  else if (auth) texts.unshift(`"Authorization": f"Bearer {os.environ['API_KEY']}"`);
  else imports.shift();
  if (body?.kind === "raw") texts.push(`"Content-Type": ${JSON.stringify(body.type)}`);
  if (texts.length) lines.push(`headers={${texts.map((it) => `\n        ${it},`).join("")}\n    },`);
  if (query.length) lines.push(`params=[${query.map(([name, text]) => `(${JSON.stringify(name)}, ${JSON.stringify(text)})`).join(", ")}],`);
  if (body?.kind === "json") lines.push(`json=${python(body.value)},`);
  if (body?.kind === "raw") lines.push(`data=${JSON.stringify(asText(body.value))}.encode(),`);
  const fields = body?.fields ?? [];
  const plain = Object.fromEntries(fields.filter((it) => !it.isFile).map(({ name, text }) => [name, text]));
  if (Object.keys(plain).length) lines.push(`data=${python(plain)},`);
  for (const { name } of fields.filter((it) => it.isFile)) lines.push(`files={${JSON.stringify(name)}: open("FILE", "rb")},`);
  lines.push("timeout=60,");
  return `${imports.join("\n")}\n\nimport requests\n\nresponse = requests.request(\n    ${lines.join("\n    ")}\n)\nprint(response.status_code, response.text)\n`.trimStart();
}

export function javascriptOf(request) {
  const { method, headers, auth, body } = request;
  const before = [];
  const texts = [];
  if (isBasic(auth)) {
    before.push("const credentials = Buffer.from(`${process.env.EMAIL}:${process.env.API_KEY}`).toString(\"base64\");");
    texts.push("Authorization: `Basic ${credentials}`");
  } else if (auth?.type === "apiKey") texts.push(`${JSON.stringify(auth.name)}: process.env.API_KEY`);
  else if (auth) texts.push("Authorization: `Bearer ${process.env.API_KEY}`");
  for (const [name, text] of headers) {
    texts.push(`${JSON.stringify(name)}: ${name === KEY ? "crypto.randomUUID()" : JSON.stringify(text)}`);
  }
  if (body?.kind === "json" || body?.kind === "raw") texts.push(`"Content-Type": ${JSON.stringify(body.type)}`);
  const lines = [`method: ${JSON.stringify(method)},`];
  if (texts.length) lines.push(`headers: {${texts.map((it) => `\n    ${it},`).join("")}\n  },`);
  if (body?.kind === "json") lines.push(`body: JSON.stringify(${JSON.stringify(body.value, null, 2).replaceAll("\n", "\n  ")}),`);
  if (body?.kind === "raw") lines.push(`body: ${JSON.stringify(asText(body.value))},`);
  if (body?.kind === "form") {
    const fields = Object.fromEntries(body.fields.map(({ name, text }) => [name, text]));
    lines.push(`body: new URLSearchParams(${JSON.stringify(fields, null, 2).replaceAll("\n", "\n  ")}),`);
  }
  if (body?.kind === "multipart") {
    before.push("const form = new FormData();");
    for (const { name, text, isFile } of body.fields) {
      if (isFile) before.unshift('import { openAsBlob } from "node:fs";\n');
      const value = isFile ? 'await openAsBlob("FILE"), "FILE"' : JSON.stringify(text);
      before.push(`form.set(${JSON.stringify(name)}, ${value});`);
    }
    lines.push("body: form,");
  }
  const call = `const response = await fetch(${JSON.stringify(withQuery(request))}, {\n  ${lines.join("\n  ")}\n});`;
  return `${[...before, call, "console.log(response.status, await response.text());"].join("\n")}\n`;
}

const LANGUAGES = { curl: curlOf, Python: pythonOf, JavaScript: javascriptOf };
const NOTES = {
  curl: "For a shell.",
  Python: "Needs the package requests.",
  JavaScript: "A module for Node.js 20 or newer. Keep keys out of web pages.",
};
let chosen = "curl"; // for the next operation, too

const create = (name, properties, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};

async function copy(source, button) {
  try {
    await navigator.clipboard.writeText(source.textContent);
  } catch {
    // Without https or permission: select the text, then copy the selection.
    getSelection().selectAllChildren(source);
    if (!document.execCommand("copy")) return;
  }
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = "Copy"), COPIED_MS);
}

/** Return the element that shows an operation's examples. */
export function showSamples(spec, path, method) {
  const request = requestOf(spec, path, method, location.origin);
  const code = create("code", {});
  const note = create("span", { className: "muted" });
  const button = create("button", { type: "button", className: "copy-sample", textContent: "Copy" });
  button.setAttribute("aria-live", "polite");
  button.addEventListener("click", () => copy(code, button));
  const choices = Object.keys(LANGUAGES).map((language) => {
    const choice = create("button", { type: "button", className: "language", textContent: language });
    choice.addEventListener("click", () => choose(language));
    return choice;
  });
  const choose = (language) => {
    chosen = language;
    code.textContent = LANGUAGES[language](request);
    const secrets = !request.auth ? "" : isBasic(request.auth) ? " Set EMAIL and API_KEY in the environment." : " Set API_KEY in the environment.";
    note.textContent = NOTES[language] + secrets;
    for (const choice of choices) choice.setAttribute("aria-pressed", choice.textContent === language);
  };
  choose(chosen);
  const pre = create("pre", { tabIndex: 0 }, code);
  pre.setAttribute("aria-label", "Example of a request");
  pre.setAttribute("role", "region");
  return create("div", { className: "samples" }, create("p", { className: "languages" }, ...choices, button), pre, note);
}
