"""Calls by the SDK of openapi-generator's generator `typescript-axios`."""

from __future__ import annotations

from tests.contract.sdk.table import Call
from tests.contract.sdk.writers.source import Writer, camel

HEAD = """\
import { type AxiosResponse, isAxiosError } from "axios";

import * as sdk from "../DOCUMENT/typescript-axios";

function signIn({ username, password, token, headers }: Caller) {
  const basePath = facts.base_url;
  return new sdk.Configuration({
    basePath,
    username,
    password,
    accessToken: token,
    baseOptions: { headers },
  });
}

function got<Data>(status: number, { status: found, data, headers }: AxiosResponse<Data>) {
  same(found, status);
  const texts = Object.entries(headers).map(([name, value]) => [name, String(value)]);
  return { data, headers: new Headers(texts as [string, string][]) };
}

async function answered<Data>(
  status: number,
  call: Promise<AxiosResponse<Data>>,
): Promise<Got<Data>> {
  return got(status, await call);
}

/** Errors are thrown, with a record of the type that is asked for. */
async function thrown<Data>(status: number, call: Promise<unknown>): Promise<Got<Data>> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isAxiosError<Data>(error) || !error.response) throw error ?? new Error("not refused");
  return got(status, error.response);
}
"""


class TypescriptAxios(Writer):
    sdk = "typescript-axios"
    head = HEAD

    def outcome(self, call: Call) -> str:
        if call.is_success:
            return f"await answered({call.status}, {self.call(call)})"
        kind = f"sdk.{call.answer_schema}" if call.answer_schema else "unknown"
        return f"await thrown<{kind}>({call.status}, {self.call(call)})"

    def call(self, call: Call) -> str:
        tag = "".join(word.capitalize() for word in call.tag.split("_"))
        sent = {**call.path_values, **call.query, **call.header}
        parts = [f"{camel(name)}: {self.value(value)}" for name, value in sent.items()]
        parts += [
            f"{camel(name)}: JSON.stringify({self.value(value)})"
            for name, value in call.json_query.items()
        ]
        if call.body is not None:
            name = "RequestBody" if call.body_schema == "AnyObject" else call.body_schema
            parts.append(f"{camel(name or '')}: {self.value(call.body)}")
        request = f"{{ {', '.join(parts)} }}" if parts else ""
        return f"new sdk.{tag}Api(by.{call.by}).{camel(call.operation)}({request})"
