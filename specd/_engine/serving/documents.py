"""Serves the documents themselves: `{base}/openapi.yaml` and `{base}/openapi.json`, and further
documents of the service by their names. If there is a file `NAME.schemathesis.toml` next to the
document, this configuration for schemathesis is served as `{base}/schemathesis.toml`, or as
`{base}/NAME.schemathesis.toml` for further documents.

They are public, with ETag and If-None-Match (RFC 9110), and pages of any origin can read them
(CORS), because they contain no secrets and the names of functions and modules are removed. For the
same reason, they may be sent with gzip: the size of the compressed response reveals nothing
(compare the BREACH attack).
"""

from __future__ import annotations

import hashlib
import re
import struct
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import yaml

from specd._cors import ANY, Cors
from specd._engine.errors import MethodNotAllowed
from specd._engine.http.cors import Sharing, is_preflight
from specd._engine.openapi.loading import dump
from specd._engine.openapi.union import Document, Node
from specd._engine.response import Headers, Response, encode
from specd._engine.service import Service

_Parts = tuple[bytes, bytes, bytes]
"""A text in three parts: before the servers, the servers, and after them."""

METHODS = ("GET", "HEAD", "OPTIONS")
_FOR_ALL = Sharing(Cors((ANY,), exposed_headers=("ETag",), max_age_s=86400))
_SHARED = tuple((name.decode(), value.decode()) for name, value in _FOR_ALL.standing)
_HOST = re.compile(r"[A-Za-z0-9._-]+(:[0-9]+)?|\[[0-9A-Fa-f:.]+\](:[0-9]+)?")
_GZIP_HEADER = bytes((0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255))
_ZERO = re.compile(rb"q=0(\.0*)?")
_KEY = "x-[A-Za-z0-9-]+Func|x-(?:openapi|swagger)-router-controller"
_NAMES = re.compile(_KEY)
"""Extensions that name functions and modules of the service."""
_NAMING = re.compile(
    rf"""^[ ]+(?P<key>{_KEY}):[ ]+(?P<quote>["']?)(?P<name>[\w.:]+)(?P=quote)[ ]*(?:\#.*)?\r?\n
    | ,[ ]*(?P<next_key>{_KEY}):[ ]*(?P<next_quote>["']?)(?P<next_name>[\w.:]+)(?P=next_quote)
      (?=[ ]*[,}}])""".encode(),
    re.VERBOSE,
)
"""Such an extension in its own line, or after another key in the same line."""
_SERVERS = re.compile(rb"^servers:.*\n(?:\n*[ \-].*\n)*", re.MULTILINE)


class PublishedDocument:
    """One format of a document, with its ETag. Its relative servers become absolute addresses,
    because importers resolve relative addresses against the page or file from which they read the
    document.
    """

    def __init__(
        self,
        parts: _Parts,
        servers: Sequence[Mapping[str, Any]],
        service: Service,
        media_type: str,
        write: Callable[[Any], bytes],
    ) -> None:
        """`write` returns the text of changed servers."""
        self._before, self._written, self._after = parts
        self._servers = list(servers)
        self._write = write
        self._public_url = service.public_url
        self._scheme = "https" if service.origins.is_https else "http"
        self._sharing = service.origins.sharing
        self._digest = hashlib.sha256(self._before + self._after)
        self._media_type = media_type

    def respond(self, method: str, headers: Mapping[bytes, bytes]) -> Response:
        """Return the document, or a 304. Raise `MethodNotAllowed`."""
        if method not in METHODS:
            raise MethodNotAllowed(METHODS)
        # The service's own headers also allow credentials.
        shared = () if self._sharing.includes(headers.get(b"origin")) else _SHARED
        if method == "OPTIONS":
            allow = (("Allow", ", ".join(METHODS)), *shared)
            if is_preflight(method, headers):
                allow += _FOR_ALL.preflight(headers, METHODS)
            return Response(204, b"", allow)
        servers = self._written_for(headers)
        digest = self._digest.copy()
        digest.update(servers)
        etag = f'"{digest.hexdigest()[:32]}"'
        common: Headers = (
            ("ETag", etag),
            *shared,
            ("Cache-Control", "public, max-age=0, must-revalidate"),
            ("Vary", "Accept-Encoding"),
        )
        sent = headers.get(b"if-none-match", b"").decode("latin-1")
        if sent == "*" or etag in sent:
            return Response(304, b"", common, self._media_type)
        body = b"".join((self._before, servers, self._after))
        if not accepts_gzip(headers.get(b"accept-encoding", b"")):
            return Response(200, body, common, self._media_type)
        # Both forms share one tag, so it is weak (RFC 9110, section 8.8.3).
        weak = (("ETag", f"W/{etag}"), ("Content-Encoding", "gzip"), *common[1:])
        return Response(200, self._compress(servers, body), weak, self._media_type)

    def _compress(self, servers: bytes, body: bytes) -> bytes:
        """Return the body as gzip (RFC 1952). The shared parts are compressed only once, so that
        requests with random Host headers cost no more than others.
        """
        before, after = self._deflated
        trailer = struct.pack("<LL", zlib.crc32(body), len(body) & 0xFFFFFFFF)
        return b"".join(
            (_GZIP_HEADER, before, _deflate(servers, zlib.Z_FULL_FLUSH), after, trailer)
        )

    @cached_property
    def _deflated(self) -> tuple[bytes, bytes]:
        before = _deflate(self._before, zlib.Z_FULL_FLUSH)
        return before, _deflate(self._after, zlib.Z_FINISH)

    def _written_for(self, headers: Mapping[bytes, bytes]) -> bytes:
        """Return the text of the servers for this request."""
        base = self._public_url
        if base is None:
            host = headers.get(b"host", b"").decode("latin-1")
            if not _HOST.fullmatch(host):
                return self._written
            base = f"{self._scheme}://{host}"
        servers = [_below(base, server) for server in self._servers]
        return self._written if servers == self._servers else self._write(servers)


def accepts_gzip(header: bytes) -> bool:
    """Return whether an Accept-Encoding header accepts gzip (RFC 9110, section 12.5.3)."""
    for entry in header.lower().split(b","):
        coding, _, parameter = entry.partition(b";")
        if coding.strip() == b"gzip":
            return _ZERO.fullmatch(parameter.replace(b" ", b"")) is None
    return False


def _deflate(data: bytes, flush: int) -> bytes:
    """Return data as DEFLATE blocks that do not depend on previous data (RFC 1951)."""
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush(flush)


def _below(base: str, server: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a server with its relative address made absolute."""
    url = server["url"]
    return {**server, "url": (base + url).rstrip("/")} if url.startswith("/") else server


def published(service: Service) -> dict[str, PublishedDocument]:
    """Return path -> document, for each document in both formats, and for their configurations for
    schemathesis.
    """
    found = {}
    for document in service.documents:
        address = service.addresses[document.name]
        servers = document.content.get("servers", ())
        content = _without_source_names(document.content)
        found[f"{address}.yaml"] = PublishedDocument(
            _yaml_of(document, content), servers, service, "application/yaml", _write_yaml
        )
        found[f"{address}.json"] = PublishedDocument(
            _json_of(content), servers, service, "application/json", _write_json
        )
        configuration = _configuration_of(document)
        if configuration is not None:
            is_first = document is service.documents[0]
            name = "schemathesis" if is_first else f"{document.name}.schemathesis"
            toml = PublishedDocument(
                (configuration, b"", b""), (), service, "application/toml", _write_yaml
            )
            found[f"{service.base_path}/{name}.toml"] = toml
    return found


def _yaml_of(document: Document, content: Node) -> _Parts:
    """Return the text of a document, split at its servers. The original text is kept if the servers
    are a separate block in it.
    """
    text = _text_of(document, content)
    servers = content.get("servers")
    if servers is None:
        return text, b"", b""
    block = _SERVERS.search(text)
    if block is None or not _reads_as(block[0], servers):
        text = dump(content)
        block = _SERVERS.search(text)
        assert block is not None
    return text[: block.start()], block[0], text[block.end() :]


def _text_of(document: Document, content: Node) -> bytes:
    """Return the text of a document without the names of source code, or a generated text if these
    cannot be found in it.
    """
    text = document.text
    named = Counter(_source_names(document.content))
    if not text or not named:
        return text or dump(content)
    found: Counter[tuple[str, str]] = Counter()

    def drop(match: re.Match[bytes]) -> bytes:
        parts = match.groupdict(b"")
        key, name = parts["key"] + parts["next_key"], parts["name"] + parts["next_name"]
        found[key.decode(), name.decode()] += 1
        return b""

    lines = [
        _NAMING.sub(drop, line) if b"Func" in line or b"-controller" in line else line
        for line in text.splitlines(keepends=True)
    ]
    return b"".join(lines) if found == named else dump(content)


def _source_names(content: Node) -> Iterator[tuple[str, str]]:
    """Yield the extensions that name source code, and the names."""
    for part in _parts_with_names(content):
        yield from (
            (str(key), str(name)) for key, name in part.items() if _NAMES.fullmatch(str(key))
        )


def _parts_with_names(content: Node) -> Iterator[Node]:
    """Yield the parts of a document that may name source code: security schemes, paths and their
    operations.
    """
    components = content.get("components") or {}
    yield from filter(_is_node, (components.get("securitySchemes") or {}).values())
    for paths in (content.get("paths"), components.get("pathItems")):
        for item in filter(_is_node, (paths or {}).values()):
            yield item
            yield from filter(_is_node, item.values())


def _is_node(part: Any) -> bool:
    return isinstance(part, Mapping)


def _without_source_names(content: Node) -> Node:
    """Return the document without the names of source code. Other parts are not copied."""
    if not any(_source_names(content)):
        return content
    components = dict(content.get("components") or {})
    changed = {**content, "components": components} if components else dict(content)
    if "securitySchemes" in components:
        components["securitySchemes"] = _without_names(components["securitySchemes"], 1)
    if "pathItems" in components:
        components["pathItems"] = _without_names(components["pathItems"], 2)
    if "paths" in content:
        changed["paths"] = _without_names(content["paths"], 2)
    return changed


def _without_names(part: Any, levels: int) -> Any:
    """Return a part of a document without names of source code, up to `levels` levels below it."""
    if not isinstance(part, Mapping):
        return part
    return {
        key: _without_names(value, levels - 1) if levels else value
        for key, value in part.items()
        if not _NAMES.fullmatch(str(key))
    }


def _json_of(content: Node) -> _Parts:
    content = dict(content)
    if "servers" not in content:
        return encode(content), b"", b""
    first, servers = {"openapi": content.pop("openapi")}, content.pop("servers")
    return encode(first)[:-1] + b",", _write_json(servers), b"," + encode(content)[1:]


def _write_yaml(servers: Any) -> bytes:
    return dump({"servers": servers})


def _write_json(servers: Any) -> bytes:
    return encode({"servers": servers})[1:-1]


def _reads_as(block: bytes, servers: Any) -> bool:
    try:
        read = yaml.safe_load(block)
    except yaml.YAMLError:
        return False
    return bool(read == {"servers": servers})


def _configuration_of(document: Document) -> bytes | None:
    """Return the document's configuration for schemathesis, or None."""
    if document.path is None:
        return None
    file = document.path.with_suffix(".schemathesis.toml")
    return file.read_bytes() if file.is_file() else None
