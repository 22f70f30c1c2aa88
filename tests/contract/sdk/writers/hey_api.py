"""Calls by the SDK of `@hey-api/openapi-ts`."""

from __future__ import annotations

from tests.contract.sdk.table import Call
from tests.contract.sdk.writers.source import Writer, camel

HEAD = """\
import * as sdk from "../DOCUMENT/hey-api";
import { createClient, createConfig } from "../DOCUMENT/hey-api/client";

/** A query with parameters that are JSON: text as it is, all else as JSON. */
function querySerializer(query: Record<string, unknown>): string {
  const texts = Object.entries(query).map(([name, value]): [string, string] => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  return new URLSearchParams(texts).toString();
}

function signIn({ username, password, token, headers }: Caller) {
  const auth = token ?? (username && `${username}:${password}`);
  const config = { baseUrl: facts.base_url, auth, headers };
  return createClient(createConfig(config));
}
"""


class HeyApi(Writer):
    sdk = "hey-api"
    head = HEAD

    def call(self, call: Call) -> str:
        parts = {
            "path": call.path_values,
            "query": {**call.query, **call.json_query},
            "headers": call.header,
            "body": call.body,
        }
        sent = [f"{n}: {self.value(v)}" for n, v in parts.items() if v or (v == {} and n == "body")]
        sent += ["querySerializer"] if call.json_query else []
        return f"sdk.{camel(call.operation)}({{ {', '.join([f'client: by.{call.by}', *sent])} }})"
