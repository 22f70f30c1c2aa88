"""Calls by the SDK of openapi-generator's generator `typescript-fetch`."""

from __future__ import annotations

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
"""

MAPS = {"AnyObject": "RequestBody"}
"""The SDK's name of a body that is any object, because it has no type for such a schema."""


class TypescriptFetch(Writer):
    sdk = "typescript-fetch"
    head = HEAD

    def member(self, name: str) -> str:
        return f"_{name}" if name in ("delete", "new") else camel(name)

    def outcome(self, call: Call) -> str:
        if call.is_success:
            return f"await answered({call.status}, {self.call(call)})"
        read = f"sdk.{call.answer_schema}FromJSON" if call.answer_schema else "(json) => json"
        return f"await thrown({call.status}, {self.call(call)}, {read})"

    def call(self, call: Call) -> str:
        tag = "".join(word.capitalize() for word in call.tag.split("_"))
        api = f"new sdk.{tag}Api(by.{call.by})"
        sent = {**call.path_values, **call.query, **call.header}
        texts = {name: self.value(value) for name, value in sent.items()} | self.json_texts(call)
        parts = [f"{self.member(name)}: {text}" for name, text in texts.items()]
        if call.body is not None:
            name = MAPS.get(call.body_schema or "", call.body_schema or "")
            parts.append(f"{camel(name)}: {self.value(call.body)}")
        return f"{api}.{camel(call.operation)}Raw({{ {', '.join(parts)} }})"
