// Requests to the API as one user. The key is nowhere but in the `Api`, and goes with it.

const BASE = "/api/v1";

/** A refusal of the server (`status`, `code`), or no answer at all (`status` 0). */
export class ApiError extends Error {
  constructor(message, { status = 0, code = "", retryAfter = 0 } = {}) {
    super(message);
    Object.assign(this, { status, code, retryAfter });
  }
}

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

  /** The body of the answer. Raises ApiError, and what `signal` was aborted with. */
  async #call(method, path, body, { signal, headers = {}, keepalive = false }) {
    const authorization = this.#authorization === null ? {} : { Authorization: this.#authorization };
    let answer;
    let content;
    try {
      answer = await fetch(BASE + path, {
        method,
        body,
        signal,
        keepalive,
        headers: { ...authorization, ...headers },
        cache: "no-store",
        credentials: "omit",
        redirect: "error",
        referrerPolicy: "no-referrer",
      });
      content = await answer.json();
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new ApiError("The server cannot be reached.", { status: answer?.status });
    }
    if (answer.ok) return content;
    throw new ApiError(content.msg, {
      status: answer.status,
      code: content.code,
      retryAfter: Number(answer.headers.get("Retry-After") ?? 0),
    });
  }
}

/** A key of 128 bits by which the server knows a request that is sent again. */
export function idempotencyKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
