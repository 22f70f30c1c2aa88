"""Serves the documents themselves: `{base}/openapi.yaml` and `{base}/openapi.json`, and further
documents of the service by their names.

Public, with ETag and If-None-Match (RFC 9110), readable by pages of any origin (CORS, with its
preflight, by the Fetch standard): they hold no secrets.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from server.errors import MethodNotAllowed
from server.openapi.loading import dump
from server.response import Response, encode
from server.service import Service

METHODS = ("GET", "HEAD", "OPTIONS")
_ANY_ORIGIN = ("Access-Control-Allow-Origin", "*")
_PREFLIGHT = (
    ("Allow", ", ".join(METHODS)),
    _ANY_ORIGIN,
    ("Access-Control-Allow-Methods", "GET, HEAD"),
    ("Access-Control-Allow-Headers", "If-None-Match"),
    ("Access-Control-Max-Age", "86400"),
)


class PublishedDocument:
    """One format of a document, with its ETag."""

    def __init__(self, body: bytes, media_type: str) -> None:
        self.body = body
        self.media_type = media_type
        self.etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'

    def respond(self, method: str, headers: Mapping[bytes, bytes]) -> Response:
        """Return the document, or a 304. Raise `MethodNotAllowed`."""
        if method not in METHODS:
            raise MethodNotAllowed(METHODS)
        if method == "OPTIONS":
            return Response(204, b"", _PREFLIGHT)
        common = (
            ("ETag", self.etag),
            _ANY_ORIGIN,
            ("Access-Control-Expose-Headers", "ETag"),
            ("Cache-Control", "public, max-age=0, must-revalidate"),
        )
        sent = headers.get(b"if-none-match", b"").decode("latin-1")
        if sent == "*" or self.etag in sent:
            return Response(304, b"", common, self.media_type)
        return Response(200, self.body, common, self.media_type)


def published(service: Service) -> dict[str, PublishedDocument]:
    """Return the documents by path, each in both formats."""
    found = {}
    for document in service.documents:
        address = service.addresses[document.name]
        text = document.text or dump(document.content)
        found[f"{address}.yaml"] = PublishedDocument(text, "application/yaml")
        found[f"{address}.json"] = PublishedDocument(encode(document.content), "application/json")
    return found
