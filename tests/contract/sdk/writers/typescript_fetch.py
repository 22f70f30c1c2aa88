"""Calls by the SDK of openapi-generator's generator `typescript-fetch`."""

from __future__ import annotations

import json

from tests.contract.sdk.table import Call
from tests.contract.sdk.writers.source import Writer, camel

HEAD = """\
import * as sdk from "../DOCUMENT/typescript-fetch";

function signIn({ username, password, token, headers }: Caller) {
  const basePath = facts.base_url;
  return new sdk.Configuration({ basePath, username, password, accessToken: token, headers });
}

async function answered<Data>(
  status: number,
  call: Promise<{ raw: Response; value(): Promise<Data> }>,
): Promise<Got<Data>> {
  const answer = await call;
  same(answer.raw.status, status);
  return { data: await answer.value(), headers: answer.raw.headers };
}

/** Errors are thrown without a type. */
async function thrown<Data>(
  status: number,
  call: Promise<unknown>,
  read: (json: unknown) => Data,
): Promise<Got<Data>> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof sdk.ResponseError)) throw error ?? new Error("not refused");
  same(error.response.status, status);
  const text = await error.response.text();
  return { data: read(text && JSON.parse(text)), headers: error.response.headers };
}

/** With these in the query as JSON, by their names there: the SDK would join them with commas. */
function asking<Request>(query: Partial<Request>, names: string[]): sdk.Middleware["pre"] {
  return async ({ url, init }) => {
    const address = new URL(url);
    Object.values(query).forEach((value, i) => {
      address.searchParams.set(names[i]!, JSON.stringify(value));
    });
    return { url: address.toString(), init };
  };
}
"""

MAPS = {"AnyObject": "RequestBody"}
"""What the SDK calls a body that is any object: it makes no type of such a schema."""


class TypescriptFetch(Writer):
    sdk = "typescript-fetch"
    head = HEAD

    def member(self, name: str) -> str:
        return "_new" if name == "new" else camel(name)

    def outcome(self, call: Call) -> str:
        if call.is_success:
            return f"await answered({call.status}, {self.call(call)})"
        read = f"sdk.{call.answer_schema}FromJSON" if call.answer_schema else "(json) => json"
        return f"await thrown({call.status}, {self.call(call)}, {read})"

    def call(self, call: Call) -> str:
        tag = "".join(word.capitalize() for word in call.tag.split("_"))
        api = f"new sdk.{tag}Api(by.{call.by})"
        if call.json_query:
            request = camel(call.operation)
            request = f"sdk.{request[0].upper()}{request[1:]}Request"
            names = json.dumps(list(call.json_query))
            query = self.value(call.json_query)
            api += f".withPreMiddleware(asking<{request}>({query}, {names}))"
        # The SDK insists on what is required, so it is given lists; `asking` replaces them.
        lists = {name: value for name, value in call.json_query.items() if isinstance(value, list)}
        sent = {**call.path_values, **call.query, **lists, **call.header}
        parts = [f"{self.member(name)}: {self.value(value)}" for name, value in sent.items()]
        if call.body is not None:
            name = MAPS.get(call.body_schema or "", call.body_schema or "")
            parts.append(f"{camel(name)}: {self.value(call.body)}")
        return f"{api}.{camel(call.operation)}Raw({{ {', '.join(parts)} }})"
