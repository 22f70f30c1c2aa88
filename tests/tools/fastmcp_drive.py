"""Calls the operations of a document as the tools of an MCP server that FastMCP creates from it.

It runs in the environment of FastMCP. tests/contract/sdk/python/drive.py describes its input, and
SPECD_SDK_SPEC names the file of the document. A failing call is reported, and the next one follows.
"""

import asyncio
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import httpx2
import yaml
from drive import JSON, Answer, Drive
from fastmcp import Client, FastMCP


class Mcp:
    """A driver for an MCP server, with a client for each caller. Records are parsed JSON."""

    def __init__(self, document: JSON, base_url: str) -> None:
        self._document, self._base_url = document, base_url
        self._servers: dict[str, FastMCP] = {}
        self._loop = asyncio.new_event_loop()

    def send(self, call: JSON, caller: JSON) -> Answer:
        fields = ("path_values", "query", "json_query", "header", "body")
        arguments = {name: value for field in fields for name, value in (call[field] or {}).items()}
        return self._loop.run_until_complete(self._ask(call, caller, arguments))

    async def _ask(self, call: JSON, caller: JSON, arguments: JSON) -> Answer:
        async with Client(self._server(caller)) as client:
            result = await client.call_tool(call["operation"], arguments, raise_on_error=False)
        if result.is_error:
            said = "".join(part.text for part in result.content)
            found = re.search(r"HTTP error (\d+)", said)
            assert found, f"{call['operation']}: {said}"
            return Answer(int(found[1]), {}, said)
        return Answer(call["status"], {}, result.structured_content)

    def _server(self, caller: JSON) -> FastMCP:
        key = json.dumps(caller)
        if key not in self._servers:
            token = caller.get("token")
            client = httpx2.AsyncClient(
                base_url=self._base_url,
                auth=(caller["username"], caller["password"]) if "username" in caller else None,
                headers={"Authorization": f"Bearer {token}"} if token else caller.get("headers"),
                timeout=60,
            )
            self._servers[key] = FastMCP.from_openapi(self._document, client=client)
        return self._servers[key]

    def schema(self, name: str) -> type:
        return dict

    def member(self, record: Any, name: str) -> Any:
        return record[name]

    def bare(self, value: Any) -> Any:
        return value

    def is_absent(self, record: Any, name: str) -> bool:
        return name not in record


def main() -> None:
    facts, calls = (
        json.loads(Path(os.environ[name]).read_text(encoding="utf-8"))
        for name in ("SPECD_SDK_STAGE", "SPECD_SDK_CALLS")
    )
    document = yaml.safe_load(Path(os.environ["SPECD_SDK_SPEC"]).read_text(encoding="utf-8"))
    drive = Drive(Mcp(document, facts["base_url"]), facts)
    for call in calls:
        if call["status"] < 300:
            try:
                drive.make(call)
            except Exception as error:
                print(f"{call['operation']}: {error}"[:2000], file=sys.stderr)


main()
