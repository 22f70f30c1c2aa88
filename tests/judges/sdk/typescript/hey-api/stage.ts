// Who calls the chat service, by the SDK of @hey-api/openapi-ts, and what its answers have in common.

import type * as sdk from "../../../../build/sdk/chat/hey-api";
import { createClient, createConfig } from "../../../../build/sdk/chat/hey-api/client";
import { read, refused, same } from "../answers";
import { type ChatFacts, readFacts } from "../facts";

export const facts = readFacts<ChatFacts>();
export const people = facts.people;

/** The query as the document says: text as it is, all else as JSON. */
function querySerializer(query: Record<string, unknown>): string {
  const texts = Object.entries(query).map(([name, value]): [string, string] => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  return new URLSearchParams(texts).toString();
}

function signIn(email: string, key: string) {
  const auth = `${email}:${key}`;
  return createClient(createConfig({ baseUrl: facts.base_url, auth, querySerializer }));
}

export const cordelia = signIn(people.cordelia.email, people.cordelia.key);
export const hamlet = signIn(people.hamlet.email, people.hamlet.key);
export const othello = signIn(facts.email_change.new_email, people.othello.key);
export const stranger = signIn("nobody@acme.example", "x".repeat(32));
export const nobody = createClient(createConfig({ baseUrl: facts.base_url }));

type Call<Data> = Promise<{ data?: Data; error?: sdk.ErrorResponse; response: Response }>;

/** It succeeds, and nothing that was sent is ignored. */
export async function done(call: Call<sdk.Success>): Promise<void> {
  const { result, msg, ignored_parameters_unsupported: ignored } = await read(call);
  same([result, msg, ignored], ["success", "", undefined]);
}

/** It is refused with that status and code. */
export async function bad(call: Call<unknown>, code = "BAD_REQUEST", status = 400): Promise<void> {
  const refusal = await refused(status, call);
  same([refusal.result, refusal.code], ["error", code]);
  same(refusal.msg.length > 0, true);
}

/** It is refused because nobody knows who calls. */
export async function unknown(call: Call<unknown>): Promise<void> {
  await bad(call, "UNAUTHORIZED", 401);
}
