// Answers as `openapi-fetch` and `@hey-api/openapi-ts` give them, and assertions about any answer.

import { deepStrictEqual, ok } from "node:assert/strict";

interface Answer<Data, Refusal> {
  data?: Data;
  error?: Refusal;
  response: Response;
}

/** The typed data of a success; throws when the call is refused. */
export async function read<Data>(call: Promise<Answer<Data, unknown>>): Promise<NonNullable<Data>> {
  const { data, error, response } = await call;
  ok(data, `refused with ${response?.status}: ${JSON.stringify(error)}`);
  return data;
}

/** The typed error record of a call that is refused with that status; throws when it is not. */
export async function refused<Refusal>(
  status: number,
  call: Promise<Answer<unknown, Refusal>>,
): Promise<NonNullable<Refusal>> {
  const { error, response } = await call;
  same(response?.status, status);
  ok(error, "an error without a record");
  return error;
}

/** Equal in every part; `expected` must be of the type that the SDK says `found` has. */
export function same<Value>(found: Value, expected: NoInfer<Value>): void {
  deepStrictEqual(found, expected);
}

/** The only one that is so. */
export function only<Item>(items: Item[], isIt: (item: Item) => boolean): Item {
  const [found, ...more] = items.filter(isIt);
  ok(found && more.length === 0, "not exactly one");
  return found;
}
