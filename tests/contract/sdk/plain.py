"""The calls of the table with plain HTTP, without an SDK, to test the table itself.

A response that is not JSON has no record.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import httpx

from tests.contract.sdk.python.drive import Answer


class Plain:
    """A driver for `tests.contract.sdk.python.drive`. Records are parsed JSON."""

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url

    def send(self, call: dict[str, Any], caller: dict[str, Any]) -> Answer:
        values = {name: quote(str(v), safe="") for name, v in call["path_values"].items()}
        path = call["path"].format(**values)
        query = {**call["query"], **{n: json.dumps(v) for n, v in call["json_query"].items()}}
        answer = httpx.request(
            call["method"],
            self._base_url + path,
            params=query,
            headers={**_signed(caller), **caller.get("headers", {}), **call["header"]},
            json=call["body"],
            auth=(caller["username"], caller["password"]) if "username" in caller else None,
            timeout=30,
        )
        is_json = "json" in answer.headers.get("Content-Type", "")
        record = answer.json() if is_json and answer.content else None
        return Answer(answer.status_code, answer.headers, record)

    def schema(self, name: str) -> type:
        return dict

    def member(self, record: Any, name: str) -> Any:
        return record[name]

    def bare(self, value: Any) -> Any:
        return value

    def is_absent(self, record: Any, name: str) -> bool:
        return name not in record


def _signed(caller: dict[str, Any]) -> dict[str, str]:
    return {"Authorization": f"Bearer {caller['token']}"} if "token" in caller else {}
