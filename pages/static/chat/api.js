// Requests to the API as one user. The key is nowhere but in the `Api`, and goes with it.

import { request } from "../client/requests.js";

const BASE = "/api/v1";

/** Text as it is, everything else as JSON; what is undefined is left out. */
function encode(parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return new URLSearchParams(
    given.map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]),
  );
}

function basic(email, key) {
  const bytes = new TextEncoder().encode(`${email}:${key}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}

export class Api {
  #authorization;

  constructor(email = null, key = null) {
    this.#authorization = key === null ? null : basic(email, key);
  }

  get(path, parameters = {}, options = {}) {
    return this.#call("GET", `${path}?${encode(parameters)}`, undefined, options);
  }

  post(path, parameters = {}, options = {}) {
    return this.#call("POST", path, encode(parameters), options);
  }

  patch(path, parameters = {}, options = {}) {
    return this.#call("PATCH", path, encode(parameters), options);
  }

  delete(path, parameters = {}, options = {}) {
    return this.#call("DELETE", path, encode(parameters), options);
  }

  /** Send a file as the part `file` of a form. */
  upload(path, file) {
    const form = new FormData();
    form.append("file", file);
    return this.#call("POST", path, form, {});
  }

  #call(method, path, body, { headers = {}, ...options }) {
    const authorization = this.#authorization === null ? {} : { Authorization: this.#authorization };
    const textOf = (content) => content.msg;
    return request(BASE + path, { ...options, method, body, headers: { ...authorization, ...headers }, textOf });
  }
}
