"""The files under static/.

Each address carries a digest of the file's content, so that browsers may keep it for ever. Texts
are sent with gzip: they are public and the same for all readers, so their size reveals nothing. So
are pages that are the same for all readers.
"""

from __future__ import annotations

import gzip
import hashlib
from functools import cache, lru_cache
from pathlib import Path

from flask import Flask, Response, request, send_from_directory

STATIC = Path(__file__).with_name("static")
FOR_EVER = "public, max-age=31536000, immutable"
TEXTS = frozenset((".css", ".js", ".svg"))
MIN_COMPRESSED = 512
"""Bytes of a file below which gzip saves nothing that counts."""


def digests(directory: Path) -> dict[str, str]:
    """Return the path of each file below `directory` -> the first 12 hex digits of its SHA-256."""
    return {
        path.relative_to(directory).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()[:12]
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


@cache
def compress(name: str) -> bytes:
    """Return a file under static/ as gzip. Compressed at its first request and kept in memory."""
    return gzip.compress((STATIC / name).read_bytes(), mtime=0)


def install(app: Flask) -> None:
    """Serve static/ at /static/ and give the templates `asset(name)`, the address of one file."""
    versions = digests(STATIC)
    compressible = frozenset(
        name
        for name in versions
        if Path(name).suffix in TEXTS and (STATIC / name).stat().st_size >= MIN_COMPRESSED
    )

    def asset(name: str) -> str:
        return f"/static/{name}?v={versions[name]}"

    def serve(name: str) -> Response:
        response = send_from_directory(STATIC, name)
        is_current = request.args.get("v") == versions.get(name)
        response.headers["Cache-Control"] = FOR_EVER if is_current else "no-cache"
        if name in compressible:
            response.vary.add("Accept-Encoding")
            if response.status_code == 200 and accepts_gzip():
                response.response.close()  # type: ignore[union-attr]
                response.direct_passthrough = False
                response.set_data(compress(name))
                response.headers["Content-Encoding"] = "gzip"
                # One tag for both forms: a weak one (RFC 9110, section 8.8.3).
                response.set_etag(response.get_etag()[0] or "", weak=True)
                response.headers.pop("Accept-Ranges", None)
        return response

    app.get("/static/<path:name>", endpoint="static")(serve)
    app.add_template_global(asset, "asset")


def send_public(page: str) -> Response:
    """Return a page that is the same for all readers and contains no secret, with gzip if the
    client accepts it. The page is compressed once.
    """
    response = Response(page, mimetype="text/html")
    response.vary.add("Accept-Encoding")
    if accepts_gzip():
        response.set_data(_compress_page(page))
        response.headers["Content-Encoding"] = "gzip"
    return response


@lru_cache(maxsize=64)
def _compress_page(page: str) -> bytes:
    return gzip.compress(page.encode(), mtime=0)


def accepts_gzip() -> bool:
    """Return whether the client of the current request accepts gzip."""
    return request.accept_encodings.quality("gzip") > 0
