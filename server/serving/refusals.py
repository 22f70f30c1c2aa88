"""What a request gets that is refused before any application has seen it, as the bytes that go out.

The connection ends with it.
"""

from __future__ import annotations

import os
from typing import Any

import orjson
from connexion.exceptions import ProblemException
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from server.response import NOT_KEPT, Response, standing_headers
from server.serving.app import refusal


def refused(app: Any, target: bytes, error: ProblemException, code: str, message: str) -> bytes:
    """A refusal in the words of the service the request is for, as far as that can be known by its
    target (which may be empty); else in those of `refusal_of_no_one`.
    """
    request_id = os.urandom(12).hex()
    response = refusal(app, _path_of(target), error, request_id)
    if response is None:
        return refusal_of_no_one(error.status, code, message)
    return _written(response, request_id)


def refusal_of_no_one(status: int, code: str, message: str) -> bytes:
    """A refusal of no service, with the fields of the first service's error record."""
    request_id = os.urandom(12).hex()
    body = orjson.dumps({"code": code, "message": message, "request_id": request_id, "details": []})
    standing = (NOT_KEPT, *standing_headers(is_https=False))
    return _written(Response(status, body, standing), request_id)


def _written(response: Response, request_id: str) -> bytes:
    headers = (
        ("content-type", "application/json"),
        ("connection", "close"),
        ("request-id", request_id),
        ("content-length", str(len(response.body))),
        *response.headers,
    )
    head = "".join(f"{name.lower()}: {value}\r\n" for name, value in headers)
    return STATUS_LINE[response.status] + head.encode("latin-1") + b"\r\n" + response.body


def _path_of(target: bytes) -> bytes:
    """The path that a request target asks for; it may be a whole address (RFC 9112, 3.2.2)."""
    if target.startswith(b"/"):
        return target
    return b"/" + target.partition(b"://")[2].partition(b"/")[2]
