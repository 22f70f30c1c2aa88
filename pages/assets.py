"""The files under static/.

Each address carries a digest of the file's content, so that browsers may keep it for ever.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from flask import Flask, Response, request, send_from_directory

STATIC = Path(__file__).with_name("static")
FOR_EVER = "public, max-age=31536000, immutable"


def digests(directory: Path) -> dict[str, str]:
    """Return the path of each file below `directory` -> the first 12 hex digits of its SHA-256."""
    return {
        path.relative_to(directory).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()[:12]
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def install(app: Flask) -> None:
    """Serve static/ at /static/ and give the templates `asset(name)`, the address of one file."""
    versions = digests(STATIC)

    def asset(name: str) -> str:
        return f"/static/{name}?v={versions[name]}"

    def serve(name: str) -> Response:
        response = send_from_directory(STATIC, name)
        is_current = request.args.get("v") == versions.get(name)
        response.headers["Cache-Control"] = FOR_EVER if is_current else "no-cache"
        return response

    app.get("/static/<path:name>", endpoint="static")(serve)
    app.add_template_global(asset, "asset")
