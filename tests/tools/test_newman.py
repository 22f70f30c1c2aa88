"""Postman's importer creates a collection from each document, and newman runs it against a new
demo.

Collections are not changed, except that operations which end the caller's access are omitted:
newman runs folders in the order of paths, so these would not come last.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

import specs
from tests.contract.specs.examples import operations
from tests.tools.example_requests import ENDS_ACCESS

NODE = Path(__file__).parents[2] / "build/tools/postman/node_modules/.bin"
IMPORTER, NEWMAN = NODE / "openapi2postmanv2", NODE / "newman"
PATHS = {
    "payment": "/v1/openapi.yaml",
    "payment-events": "/v1/payment-events.yaml",
    "chat": "/api/v1/openapi.yaml",
}
SENT = {"payment": 5, "payment-events": 13, "chat": 175}
"""Document -> the number of requests in its collection."""
EXCEPTIONS = {
    "payment-events": {
        "List invoices of the project": "Postman invents a cursor, which only an answer tells",
    },
    "chat": {
        "Send JSON to an incoming webhook": "the key of a bot is the server's to give",
        "Send what a product posts to an incoming webhook": "the same",
        "Add a custom emoji": "a picture has to be chosen by hand",
        "Deactivate a custom emoji": "a picture is required",
        "Upload your avatar": "an image has to be chosen by hand",
        "Get a temporary address of a file": "the name of a file is the server's to give",
        "Authorize this server at the video-call vendor": "Postman invents a link",
        "Complete the authorization after the vendor's consent page": "the code is the vendor's",
        "Receive the vendor's notice that a user has deauthorized": "the vendor sends none",
    },
}
"""Document -> the requests that a new demo rejects, with the reason."""
STEP_S = 300


def without(items: list[dict[str, Any]], names: set[str]) -> list[dict[str, Any]]:
    """Return the items of a collection without the requests of these names."""
    return [
        {**item, "item": without(item["item"], names)} if "item" in item else item
        for item in items
        if item["name"] not in names
    ]


def test_imported_collection_runs(ready: Mapping[str, Any], tmp_path: Path) -> None:
    if shutil.which("node") is None or not NEWMAN.exists() or not IMPORTER.exists():
        pytest.skip("newman is not there: run scripts/tools")
    for document in PATHS:
        refused, number = newman(ready, document, tmp_path)
        assert number == SENT[document]
        assert refused.keys() == EXCEPTIONS.get(document, {}).keys(), refused


def newman(ready: Mapping[str, Any], document: str, directory: Path) -> tuple[dict[str, int], int]:
    """Return the requests that were not answered with 2xx, with their status, and the number of all
    requests.
    """
    base, owner = ready["base_url"], ready["chat_users"][0]
    source, collection, report = (
        directory / f"{document}.{kind}" for kind in ("yaml", "json", "report.json")
    )
    source.write_bytes(httpx.get(base + PATHS[document]).raise_for_status().content)
    how_to_import = ["-O", "parametersResolution=Example"]
    command: list[str | Path] = [IMPORTER, "-s", source, "-o", collection, *how_to_import]
    subprocess.run(command, check=True, capture_output=True, timeout=STEP_S)
    left_out = {
        operation["summary"]
        for _, _, operation, _ in operations(specs.load(document))
        if operation.get(ENDS_ACCESS)
    }
    imported = json.loads(collection.read_text())
    imported["item"] = without(imported["item"], left_out)
    collection.write_text(json.dumps(imported))
    variables = {
        "baseUrl": base + ("/api/v1" if document == "chat" else ""),
        "bearerToken": ready["key"],
        "basicAuthUsername": owner["email"],
        "basicAuthPassword": owner["api_key"],
    }
    given = [word for name, text in variables.items() for word in ("--env-var", f"{name}={text}")]
    how: list[str | Path] = ["-r", "json", "--reporter-json-export", report]
    subprocess.run([NEWMAN, "run", collection, *given, *how], capture_output=True, timeout=STEP_S)
    sent = json.loads(report.read_text())["run"]["executions"]
    statuses = [(each["item"]["name"], each.get("response", {}).get("code", 0)) for each in sent]
    return {name: code for name, code in statuses if not 200 <= code < 300}, len(sent)
