"""Responses, as bytes, to requests that are refused before they reach an application.

Such a response ends the connection.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import orjson
from connexion.exceptions import ProblemException
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from specd._engine.http.answering import raw_headers, start
from specd._engine.response import Response, standing_headers
from specd._engine.serving.app import engine_of


def refused(
    app: Any,
    target: bytes,
    asked: Mapping[bytes, bytes],
    error: ProblemException,
    code: str,
    message: str,
) -> bytes:
    """Return the response of the service that `target`, which may be empty, belongs to. If it
    belongs to none, return a response with default fields. `asked` are the headers that have
    arrived.
    """
    request_id = os.urandom(12).hex()
    path = _path_of(target)
    engine = engine_of(app)
    apis = () if engine is None else engine.apis
    api = next((api for api in apis if path.startswith(api.prefix)), None)
    if api is None:
        facts = {"code": code, "message": message, "request_id": request_id, "details": []}
        response = Response(error.status, orjson.dumps(facts))
        standing = raw_headers(standing_headers(is_https=False))
    else:
        response, standing = api.service.respond(error, request_id), api.standing
    headers = [(b"connection", b"close"), (b"request-id", request_id.encode("ascii"))]
    sent = start(response, headers, (), standing)["headers"]
    if api is not None and api.varies_by_origin and b"origin" in asked:
        api.service.origins.sharing.share(asked, sent)
    lines = [b"%b: %b\r\n" % pair for pair in sent]
    return b"".join((STATUS_LINE[response.status], *lines, b"\r\n", response.body))


def _path_of(target: bytes) -> bytes:
    """Return the path of a request target, which may be an absolute URL (RFC 9112, 3.2.2)."""
    if target.startswith(b"/"):
        return target
    return b"/" + target.partition(b"://")[2].partition(b"/")[2]
