"""The requests of tests to a service and its responses, a JSON object per line of a file.

A test run with `RECORD_EXCHANGES=DIRECTORY` in its environment writes `DIRECTORY/<service>.jsonl`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx

VARIABLE = "RECORD_EXCHANGES"
Headers = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its response, as bytes."""

    method: str
    target: str
    request_headers: Headers
    request_body: bytes
    status: int
    response_headers: Headers
    response_body: bytes


def write(directory: Path, service: str, request: httpx.Request, response: httpx.Response) -> None:
    line = json.dumps(
        [
            request.method,
            request.url.raw_path.decode("latin-1"),
            _headers(request.headers),
            base64.b64encode(request.content).decode(),
            response.status_code,
            _headers(response.headers),
            base64.b64encode(response.content).decode(),
        ]
    )
    with (directory / f"{service}.jsonl").open("a") as file:
        file.write(line + "\n")


def read(path: Path) -> Iterator[Exchange]:
    with path.open() as file:
        for line in file:
            method, target, asked, body, status, answered, answer = json.loads(line)
            yield Exchange(
                method,
                target,
                [(name, value) for name, value in asked],
                base64.b64decode(body),
                status,
                [(name, value) for name, value in answered],
                base64.b64decode(answer),
            )


def _headers(headers: httpx.Headers) -> Headers:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers.raw]
