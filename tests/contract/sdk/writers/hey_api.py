"""Calls by the SDK of `@hey-api/openapi-ts`."""

from __future__ import annotations

from tests.contract.sdk.table import Call
from tests.contract.sdk.writers.source import Writer, camel

HEAD = """\
import * as sdk from "../DOCUMENT/hey-api";
import { createClient, createConfig } from "../DOCUMENT/hey-api/client";

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
            "headers": call.header,
            "body": call.body,
        }
        sent = [f"{n}: {self.value(v)}" for n, v in parts.items() if v or (v == {} and n == "body")]
        query = self.query(call)
        sent += [f"query: {query}"] if query else []
        return f"sdk.{camel(call.operation)}({{ {', '.join([f'client: by.{call.by}', *sent])} }})"
