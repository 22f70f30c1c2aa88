// Starts Swagger UI on the service's own document. Nothing is kept in the browser: a key entered
// under "Authorize" lives in this tab's memory and goes to this server only.
"use strict";

(() => {
  const FORMS = ["application/x-www-form-urlencoded", "multipart/form-data"];
  const KEY = "Idempotency-Key";
  const METHODS = ["get", "put", "post", "delete", "patch"];
  const place = document.getElementById("reference");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const paint = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
  paint();
  dark.addEventListener("change", paint);

  const asText = (value) => (typeof value === "string" ? value : JSON.stringify(value));

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

  const resolve = (spec, node) =>
    node?.$ref ? resolve(spec, node.$ref.slice(2).split("/").reduce((at, step) => at[step], spec)) : node;

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
    } else if (typeof request.body === "string" && request.headers["Content-Type"] === FORMS[0]) {
      const fields = [...new URLSearchParams(request.body)];
      request.body = new URLSearchParams(fields.filter(([, value]) => value !== "")).toString();
    }
    return request;
  };

  // Whoever sends the example's key with two requests is told that it was used for another one.
  const keysOf = (spec) =>
    new Set(
      Object.values(spec.paths)
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

  // Of some 120 operations and more, Swagger UI 5 draws the first two and stops; tag by tag it draws all.
  const isLong = (spec) =>
    Object.values(spec.paths).flatMap((path) => METHODS.filter((method) => path[method])).length > 100;

  const start = (spec) => {
    const keys = keysOf(spec);
    const ui = SwaggerUIBundle({
      spec: showForms(spec),
      domNode: place,
      deepLinking: true,
      docExpansion: isLong(spec) ? "none" : "list",
      defaultModelsExpandDepth: 0,
      displayRequestDuration: true,
      persistAuthorization: false,
      queryConfigEnabled: false,
      requestInterceptor: (request) => freshen(leaveOutEmpty(request), keys),
      tryItOutEnabled: true,
      validatorUrl: null,
      onComplete: () => {
        showContents(spec, ui);
        place.dataset.ready = "";
      },
    });
  };

  fetch(place.dataset.document)
    .then((answer) => (answer.ok ? answer.json() : Promise.reject(new Error(answer.status))))
    .then(start)
    .catch((error) => {
      place.textContent = `The document could not be read (${error.message}). Reload this page to try again.`;
    });
})();
