// What an SDK answered, and assertions about it. A place that the SDK's types do not know, and a
// value that no such place can have, are errors of the compiler.

import { deepStrictEqual, ok } from "node:assert/strict";

interface Answer<Data, Refusal> {
  data?: Data;
  error?: Refusal;
  response: Response;
}

/** A typed record, and the headers that came with it. */
export interface Got<Data> {
  data: Data;
  headers: Headers;
}

/** A success, as `openapi-fetch` and `@hey-api/openapi-ts` give it; throws otherwise. */
export async function success<Data>(
  status: number,
  call: Promise<Answer<Data, unknown>>,
): Promise<Got<NonNullable<Data>>> {
  const { data, error, response } = await call;
  ok(data, `refused with ${response?.status}: ${JSON.stringify(error)}`);
  same(response.status, status);
  return { data, headers: response.headers };
}

/** The typed error record of a call that is refused with that status; throws when it is not. */
export async function refused<Refusal>(
  status: number,
  call: Promise<Answer<unknown, Refusal>>,
): Promise<Got<NonNullable<Refusal>>> {
  const { error, response } = await call;
  same(response?.status, status);
  ok(error, "an error without a record");
  return { data: error, headers: response.headers };
}

/** The call is answered with that status and without a record. */
export async function empty(status: number, call: Promise<Answer<unknown, unknown>>) {
  same((await call).response.status, status);
}

type Members<Value> = Value extends readonly unknown[]
  ? never
  : Value extends object
    ? keyof Value
    : never;
type Member<Value, Name> = Value extends object
  ? Name extends keyof Value
    ? Value[Name]
    : never
  : never;
type Item<Value> = Value extends readonly (infer One)[] ? One : never;

/** A member of a record, or of the one that is there where several are possible. */
export function at<Value, Name extends Members<Value>>(
  value: Value,
  name: Name,
): Member<Value, Name> {
  ok(typeof value === "object" && value !== null, `nothing has ${String(name)}`);
  return (value as Member<Value, Name>)[name as keyof Member<Value, Name>] as Member<Value, Name>;
}

function items<Value>(value: Value): Item<Value>[] {
  ok(Array.isArray(value), "not an array");
  return value as Item<Value>[];
}

/** An item of an array, counted from its end if the index is negative. */
export function nth<Value>(value: Value, index: number): Item<Value> {
  const found = items(value).at(index);
  ok(found !== undefined, `no item ${index}`);
  return found;
}

/** What is read of every item. */
export function each<Value, Part>(value: Value, read: (item: Item<Value>) => Part): Part[] {
  return items(value).map(read);
}

/** The only one that is so. */
export function only<Value>(value: Value, isIt: (item: Item<Value>) => boolean): Item<Value> {
  const [found, ...more] = items(value).filter(isIt);
  ok(found !== undefined && more.length === 0, "not exactly one");
  return found;
}

/** Equal in every part; `expected` must be of the type that the SDK says `found` has. */
export function same<Value>(found: Value, expected: NoInfer<Value>): void {
  deepStrictEqual(found, expected);
}

export function every<Value>(found: Value[], expected: NoInfer<Value>): void {
  ok(found.length > 0, "nothing");
  for (const one of found) same(one, expected);
}

export function contains(found: string | null | undefined, part: string): void {
  ok(found?.includes(part), `${found} does not contain ${part}`);
}

export function ends(found: string | null | undefined, part: string): void {
  ok(found?.endsWith(part), `${found} does not end with ${part}`);
}

export function length(found: ArrayLike<unknown> | undefined, expected: number): void {
  same(found?.length, expected);
}

export function isText(found: string | null | undefined): void {
  ok(typeof found === "string" && found !== "", `${found} is not a text`);
}

export function isInteger(found: number | null | undefined): void {
  ok(Number.isInteger(found), `${found} is not an integer`);
}

/** A header of an earlier answer. */
export function header({ headers }: Got<unknown>, name: string): string {
  const found = headers.get(name);
  ok(found, `no header ${name}`);
  return found;
}
