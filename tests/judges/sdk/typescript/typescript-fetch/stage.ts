// Who calls the chat service, by openapi-generator's typescript-fetch SDK, and what its answers have
// in common.

import * as sdk from "../../../../build/sdk/chat/typescript-fetch";
import { same } from "../answers";
import { type ChatFacts, readFacts } from "../facts";

export const facts = readFacts<ChatFacts>();
export const people = facts.people;
const basePath = facts.base_url;

function signIn(username: string, password: string): sdk.Configuration {
  return new sdk.Configuration({ basePath, username, password });
}

export const cordelia = signIn(people.cordelia.email, people.cordelia.key);
export const hamlet = signIn(people.hamlet.email, people.hamlet.key);
export const othello = signIn(facts.email_change.new_email, people.othello.key);
export const stranger = signIn("nobody@acme.example", "x".repeat(32));
export const nobody = new sdk.Configuration({ basePath });

/** It succeeds, and nothing that was sent is ignored. */
export async function done(call: Promise<sdk.Success>): Promise<void> {
  const { result, msg, ignoredParametersUnsupported: ignored } = await call;
  same([result, msg, ignored], ["success", "", undefined]);
}

/** It is refused with that status and code. */
export async function bad(
  call: Promise<unknown>,
  code = "BAD_REQUEST",
  status = 400,
): Promise<void> {
  const refused: unknown = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(refused instanceof sdk.ResponseError)) throw refused ?? new Error("not refused");
  same(refused.response.status, status);
  const record = sdk.ErrorResponseFromJSON(await refused.response.json());
  same([record.result, record.code], ["error", code]);
  same(record.msg.length > 0, true);
}

/** It is refused because nobody knows who calls. */
export async function unknown(call: Promise<unknown>): Promise<void> {
  await bad(call, "UNAUTHORIZED", 401);
}

interface JsonQuery {
  narrow?: sdk.NarrowTerm[];
  message_ids?: number[];
  user_ids?: number[];
}

/** With these in the query as JSON: the SDK would join them with commas. */
export function asking(query: JsonQuery): sdk.Middleware["pre"] {
  const texts = Object.entries(query).map(([name, value]) => [name, JSON.stringify(value)]);
  const text = new URLSearchParams(texts).toString();
  return async ({ url, init }) => ({ url: `${url}${url.includes("?") ? "&" : "?"}${text}`, init });
}

/** With one more header. */
export function adding(name: string, value: string): sdk.InitOverrideFunction {
  return async ({ init }) => ({ headers: { ...init.headers, [name]: value } });
}
