// An operation of the reference, drawn by Swagger UI from a document that has this operation alone:
// so a long document costs no more than a short one. One instance draws one operation after another,
// because it has what a reader entered under "Authorize". That stays in this tab's memory and goes to
// this server only.

import { asText, FORM, KEY, MULTIPART, resolve, showSamples } from "./samples.js";

const FORMS = [FORM, MULTIPART];
const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

// A form's field as what it is, a text. Swagger UI would invent a value for every field and send
// them all; here only what the operation's example has is filled in, and what is empty stays out.
const fieldOf = (schema, example) => {
  const field = { type: "string", description: schema.description || "" };
  if (schema.type !== "string") field.description += " (JSON text)";
  if (schema.default !== undefined) field.description += ` Default: \`${asText(schema.default)}\`.`;
  if (schema.enum && schema.type === "string") field.description += ` One of \`${schema.enum.join("`, `")}\`.`;
  if (schema.deprecated) field.deprecated = true;
  field.example = example === undefined ? "" : asText(example);
  return field;
};

const showForms = (spec) => {
  const unwrap = (node) => {
    const schema = resolve(spec, node); // `allOf` of one: what a `$ref` means in one place
    return schema.allOf?.length === 1 ? { ...unwrap(schema.allOf[0]), ...schema } : schema;
  };
  for (const item of Object.values(spec.paths)) {
    for (const method of METHODS) {
      const content = resolve(spec, item[method]?.requestBody)?.content ?? {};
      for (const media of FORMS.map((name) => content[name]).filter(Boolean)) {
        const schema = resolve(spec, media.schema);
        const example = resolve(spec, Object.values(media.examples ?? {})[0])?.value ?? media.example ?? {};
        const fields = Object.entries(schema.properties ?? {}).map(([name, property]) => [
          name,
          fieldOf(unwrap(property), example[name]),
        ]);
        media.schema = { ...schema, properties: Object.fromEntries(fields) };
        delete media.examples;
        delete media.encoding;
      }
    }
  }
  return spec;
};

// What nobody filled in is not sent; who wants to send an empty text writes the body as JSON.
const leaveOutEmpty = (request) => {
  if (request.body instanceof FormData) {
    for (const [name, value] of [...request.body.entries()]) {
      if (value === "") request.body.delete(name);
    }
  } else if (typeof request.body === "string" && request.headers["Content-Type"] === FORM) {
    const fields = [...new URLSearchParams(request.body)];
    request.body = new URLSearchParams(fields.filter(([, value]) => value !== "")).toString();
  }
  return request;
};

// Whoever sends the example's key with two requests is told that it was used for another one.
const keysOf = (spec) =>
  new Set(
    Object.values(spec.paths)
      .map((item) => resolve(spec, item))
      .flatMap((item) => [item, ...METHODS.map((method) => item[method])])
      .flatMap((node) => node?.parameters ?? [])
      .map((node) => resolve(spec, node))
      .filter(({ name }) => name === KEY)
      .flatMap(({ example, examples = {} }) => [example, ...Object.values(examples).map((it) => resolve(spec, it).value)]),
  );

const freshen = (request, keys) => {
  if (keys.has(request.headers[KEY])) {
    const bytes = [...crypto.getRandomValues(new Uint8Array(16))]; // randomUUID needs HTTPS
    request.headers[KEY] = bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }
  return request;
};

// The document with one operation, and the components that it refers to, directly or by others.
const cut = (spec, path, method) => {
  const others = METHODS.filter((name) => name !== method);
  const item = Object.fromEntries(Object.entries(resolve(spec, spec.paths[path])).filter(([name]) => !others.includes(name)));
  const components = { securitySchemes: spec.components?.securitySchemes ?? {} };
  const collect = (node) => {
    for (const [, section, name] of JSON.stringify(node).matchAll(/"#\/components\/([^/"]+)\/([^/"]+)"/g)) {
      if (components[section]?.[name]) continue;
      (components[section] ??= {})[name] = spec.components[section][name];
      collect(components[section][name]);
    }
  };
  collect(item);
  const { openapi, info, servers, security } = spec;
  return structuredClone({ openapi, info, servers, security, paths: { [path]: item }, components });
};

const load = (tag, properties) =>
  new Promise((done, fail) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.onload = done;
    element.onerror = () => fail(new Error("no connection"));
    document.head.append(element);
  });

const readDocument = async (address) => {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(answer.status);
  return answer.json();
};

// Names, levels and focus that Swagger UI leaves out, for screen readers and keyboards.
const NAMES = [
  [".servers select", "Server"],
  [".body-param-content-type select", "Media type of the body"],
  ["select.content-type", "Media type"],
  ["textarea.body-param__text", "Body"],
  [".examples-select-element", "Example"],
];
const complete = (node) => {
  for (const field of node.querySelectorAll("select, input, textarea")) {
    if (field.labels?.length || field.hasAttribute("aria-label")) continue;
    const { paramName, propertyName } = field.closest("[data-param-name], [data-property-name]")?.dataset ?? {};
    const name = NAMES.find(([selector]) => field.matches(selector))?.[1] ?? paramName ?? propertyName;
    if (name) field.setAttribute("aria-label", name);
  }
  for (const block of node.querySelectorAll("pre:not([tabindex])")) block.tabIndex = 0;
  for (const title of node.querySelectorAll("h4:not([aria-level])")) title.setAttribute("aria-level", "3");
  for (const title of node.querySelectorAll("h5:not([aria-level])")) title.setAttribute("aria-level", "4");
  node.querySelector("main:not([role])")?.setAttribute("role", "none"); // the page has one
};

/** Load Swagger UI and the document; the result's `show` draws an operation in its panel. */
export async function loadExplorer() {
  const { document: address, script, style } = document.getElementById("reference").dataset;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const paint = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
  paint();
  dark.addEventListener("change", paint);

  const [spec] = await Promise.all([
    readDocument(address),
    load("link", { rel: "stylesheet", href: style }),
    load("script", { src: script }),
  ]);
  const keys = keysOf(spec);
  const node = document.createElement("div");
  new MutationObserver(() => complete(node)).observe(node, { childList: true, subtree: true });
  let ui;

  const show = (operation) => {
    const { path, method } = operation.dataset;
    const panel = operation.querySelector(".panel");
    panel.replaceChildren(showSamples(spec, path, method), node);
    const part = showForms(cut(spec, path, method));
    if (ui) return ui.specActions.updateJsonSpec(part);
    ui = SwaggerUIBundle({
      spec: part,
      domNode: node,
      docExpansion: "full",
      defaultModelsExpandDepth: -1,
      displayRequestDuration: true,
      persistAuthorization: false,
      queryConfigEnabled: false,
      requestInterceptor: (request) => freshen(leaveOutEmpty(request), keys),
      tryItOutEnabled: true,
      validatorUrl: null,
    });
  };
  return { show };
}
