// Requests to the API of this server. Nothing of them is kept but what the caller keeps.

/** A refusal of the server (`status`, `code`), or no answer at all (`status` 0). */
export class ApiError extends Error {
  constructor(message, { status = 0, code = "", retryAfter = 0 } = {}) {
    super(message);
    Object.assign(this, { status, code, retryAfter });
  }
}

/** The body of the answer. `textOf` finds the sentence in the body of a refusal. No cookie goes with
 *  it unless `credentials` says so. Raises ApiError, and what `signal` was aborted with. */
export const request = (address, options) => ask(address, options, (answer) => answer.json());

/** The body of the answer as a file, whole or not at all. Raises what `request` raises. */
export const download = (address, options) => ask(address, options, (answer) => answer.blob());

async function ask(address, { textOf, credentials = "omit", ...options }, read) {
  let answer;
  let content;
  try {
    answer = await fetch(address, {
      ...options,
      cache: "no-store",
      credentials,
      redirect: "error",
      referrerPolicy: "no-referrer",
    });
    content = await (answer.ok ? read(answer) : answer.json());
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new ApiError("The server cannot be reached.", { status: answer?.status });
  }
  if (answer.ok) return content;
  throw new ApiError(textOf(content), {
    status: answer.status,
    code: content.code,
    retryAfter: Number(answer.headers.get("Retry-After") ?? 0),
  });
}

/** A key of 128 bits by which the server knows a request that is sent again. */
export function idempotencyKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
