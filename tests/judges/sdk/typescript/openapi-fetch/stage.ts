// Who calls the chat service, by openapi-fetch with the types of openapi-typescript, and what its
// answers have in common.

import createClient from "openapi-fetch";

import type { components, paths } from "../../../../build/sdk/chat/openapi-typescript/schema";
import { read, refused, same } from "../answers";
import { type ChatFacts, readFacts } from "../facts";

export const facts = readFacts<ChatFacts>();
export const people = facts.people;

function signIn(email: string, key: string) {
  const headers = { Authorization: `Basic ${btoa(`${email}:${key}`)}` };
  return createClient<paths, "application/json">({ baseUrl: facts.base_url, headers });
}

export const cordelia = signIn(people.cordelia.email, people.cordelia.key);
export const hamlet = signIn(people.hamlet.email, people.hamlet.key);
export const othello = signIn(facts.email_change.new_email, people.othello.key);
export const stranger = signIn("nobody@acme.example", "x".repeat(32));
export const nobody = createClient<paths, "application/json">({ baseUrl: facts.base_url });

type Schemas = components["schemas"];
type Call<Data> = Promise<{ data?: Data; error?: Schemas["ErrorResponse"]; response: Response }>;

/** It succeeds, and nothing that was sent is ignored. */
export async function done(call: Call<Schemas["Success"]>): Promise<void> {
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
