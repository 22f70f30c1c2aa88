// Requests to the API as one project. The key is nowhere but in the `Api`, and goes with it.

import { download, request } from "../client/requests.js";

const BASE = new URL("../../v1", import.meta.url).pathname; // the server may be below a path

/** Every value of a list is a parameter of its own; what is undefined is left out. */
function encode(parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return new URLSearchParams(given.flatMap(([name, value]) => [value].flat().map((each) => [name, each])));
}

const textOf = ({ message, details = [] }) =>
  [message, ...details.map((detail) => `${detail.path} ${detail.message}.`)].join(" ");

export class Api {
  #authorization;

  constructor(key) {
    this.#authorization = `Bearer ${key}`;
  }

  get(path, parameters = {}, signal = undefined) {
    const query = encode(parameters).toString();
    return this.#call(query === "" ? path : `${path}?${query}`, { method: "GET", signal });
  }

  /** The answer as a file. */
  file(path, parameters, signal) {
    const options = { signal, headers: { Authorization: this.#authorization }, textOf };
    return download(`${BASE}${path}?${encode(parameters)}`, options);
  }

  post(path, { body, headers = {} } = {}) {
    const type = body === undefined ? {} : { "Content-Type": "application/json" };
    return this.#call(path, { method: "POST", body: JSON.stringify(body), headers: { ...type, ...headers } });
  }

  #call(path, { headers = {}, ...options }) {
    return request(BASE + path, { ...options, headers: { Authorization: this.#authorization, ...headers }, textOf });
  }
}
