"""Prism mocks every operation of every document, requested with the examples."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

import specs
from tests.contract.sdk.table import Operation
from tests.contract.specs.examples import operations
from tests.live.running_server import free_port
from tests.support.pictures import PIXEL
from tests.tools.installed import DOCUMENTS, PRISM, STEP_S, skip_without, write_document

SCHEMES = {"payment": "Bearer", "payment-events": "Bearer", "chat": "Basic"}
UNMOCKED = {"chat": {"get_user_by_email", "update_user_by_email"}}
"""Operations that Prism confuses with another path. docs/tools.md links to the issue."""


@contextmanager
def mocking(document: Path) -> Iterator[str]:
    """Yield the address of Prism as a mock."""
    port, log = free_port(), document.with_suffix(".log")
    with log.open("wb") as output:
        command = [PRISM, "mock", document, "-h", "127.0.0.1", "-p", str(port)]
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        deadline = time.monotonic() + STEP_S
        while b"Prism is listening" not in log.read_bytes():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(15)


def ask(client: httpx.Client, address: str, name: str, operation: Operation) -> httpx.Response:
    """Return the answer to the request given by the examples."""
    sent = operation.sent({}, None)
    path = operation.path.format(
        **{k: quote(str(v), safe="") for k, v in sent["path_values"].items()}
    )
    query = {**sent["query"], **{name: json.dumps(v) for name, v in sent["json_query"].items()}}
    content = operation.node.get("requestBody", {}).get("content", {})
    is_upload = list(content) == ["multipart/form-data"]
    return client.request(
        operation.method,
        address + path,
        params=query,
        headers={**sent["header"], "Authorization": f"{SCHEMES[name]} YW55Ym9keTphbnl0aGluZw=="},
        json=sent["body"],
        files={"file": ("picture.png", PIXEL)} if is_upload else None,
    )


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_operation_is_mocked(name: str, tmp_path: Path) -> None:
    skip_without(PRISM)
    document = specs.load(name)
    refused = {}
    with mocking(write_document(name, tmp_path)) as address, httpx.Client(timeout=60) as client:
        for each in operations(document):
            operation = Operation(document, *each)
            answer = ask(client, address, name, operation)
            if answer.status_code != operation.success:
                refused[operation.node["operationId"]] = f"{answer.status_code} {answer.text[:300]}"
    assert refused.keys() == UNMOCKED.get(name, set()), refused
