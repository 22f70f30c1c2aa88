"""The files under static/ of the library and of a project's pages.

Each address contains a digest of the file's content, so browsers can cache it without a time limit.
Texts are sent with gzip: they are public and the same for all readers, so their size reveals
nothing. The same applies to pages that are the same for all readers.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from flask import Flask, Response, abort, request, send_file

STATIC = Path(__file__).with_name("static")
FOR_EVER = "public, max-age=31536000, immutable"
TEXTS = frozenset((".css", ".js", ".svg"))
MIN_COMPRESSED = 512
"""The size in bytes below which gzip saves too little."""


@dataclass(frozen=True, slots=True)
class Asset:
    """A file below a folder static/. `digest` is the first 12 hex digits of its SHA-256."""

    file: Path
    digest: str

    @property
    def is_compressible(self) -> bool:
        return self.file.suffix in TEXTS and self.file.stat().st_size >= MIN_COMPRESSED


def find_assets(folders: Iterable[Path]) -> dict[str, Asset]:
    """Return path in its folder -> file, for the files below the folders. Raise `ValueError` for a
    path that two folders have.
    """
    found: dict[str, Asset] = {}
    for folder in folders:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            name = path.relative_to(folder).as_posix()
            if name in found:
                raise ValueError(f"{path} and {found[name].file} have one address, /static/{name}")
            digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
            found[name] = Asset(path, digest)
    return found


@cache
def compress(file: Path) -> bytes:
    """Return a file as gzip. It is compressed at its first request and kept in memory."""
    return gzip.compress(file.read_bytes(), mtime=0)


def install(app: Flask, folders: Iterable[Path], prefix: str = "") -> None:
    """Serve the folders at /static/ and add `asset(name)` to the templates. It returns the address
    of a file, below the path of the public address.
    """
    assets = find_assets(folders)

    def asset(name: str) -> str:
        return f"{prefix}/static/{name}?v={assets[name].digest}"

    def serve(name: str) -> Response:
        if name not in assets:
            abort(404)
        its = assets[name]
        response = send_file(its.file)
        is_current = request.args.get("v") == its.digest
        response.headers["Cache-Control"] = FOR_EVER if is_current else "no-cache"
        if its.is_compressible:
            response.vary.add("Accept-Encoding")
            if response.status_code == 200 and accepts_gzip():
                response.response.close()  # type: ignore[union-attr]
                response.direct_passthrough = False
                response.set_data(compress(its.file))
                response.headers["Content-Encoding"] = "gzip"
                # Both forms share one tag, so it is weak (RFC 9110, section 8.8.3).
                response.set_etag(response.get_etag()[0] or "", weak=True)
                response.headers.pop("Accept-Ranges", None)
        return response

    app.get("/static/<path:name>", endpoint="static")(serve)
    app.add_template_global(asset, "asset")


def send_public(page: str) -> Response:
    """Return the response with a page that is the same for all readers and contains no secret. It
    has gzip if the client accepts it. The page is compressed once.
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
