"""Calls by `openapi-fetch` with the types of `openapi-typescript`."""

from __future__ import annotations

import json

from tests.contract.sdk.table import Call
from tests.contract.sdk.writers.source import Writer

HEAD = """\
import createClient from "openapi-fetch";

import type { paths } from "../DOCUMENT/openapi-typescript/schema";

function signIn({ username, password, token, headers }: Caller) {
  const basic = username && `Basic ${btoa(`${username}:${password}`)}`;
  const authorization = token ? `Bearer ${token}` : basic;
  return createClient<paths, "application/json">({
    baseUrl: facts.base_url,
    headers: { ...(authorization && { Authorization: authorization }), ...headers },
  });
}
"""


class OpenapiFetch(Writer):
    sdk = "openapi-typescript"
    head = HEAD

    def call(self, call: Call) -> str:
        query = self.query(call)
        params = [f"path: {self.value(call.path_values)}"] if call.path_values else []
        params += [f"query: {query}"] if query else []
        params += [f"header: {self.value(call.header)}"] if call.header else []
        sent = [f"params: {{ {', '.join(params)} }}"] if params else []
        sent += [f"body: {self.value(call.body)}"] if call.body is not None else []
        sent += [] if call.has_record else ['parseAs: "text"']
        options = f", {{ {', '.join(sent)} }}" if sent else ""
        return f"by.{call.by}.{call.method}({json.dumps(call.path)}{options})"
