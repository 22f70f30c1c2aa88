"""The names of all emoji, which clients fetch once per release, and the pictures of custom emoji,
which browsers load without an API key.
"""

from __future__ import annotations

from flask import Flask, Response, abort, request

from models.chat.common.hosts import parse_host
from models.chat.identity.actors import find_realm_at
from models.chat.organization.emoji import STILL, has_picture
from models.chat.rendering.emoji import DATA, DATA_PATH
from models.chat.uploads.names import key_of
from pages.served import Served
from pages.uploads import POLICY

FOR_EVER = "public, max-age=31536000, immutable"


def install_for(app: Flask, service: Served) -> None:
    """Add the routes of the emoji names and pictures."""

    def serve_names() -> Response:
        return Response(DATA, mimetype="application/json", headers={"Cache-Control": FOR_EVER})

    def serve_picture(realm_id: int, handle: str, kind: str = "") -> Response:
        with service.database.reading() as connection:
            realm = find_realm_at(connection, parse_host(request.host))
            if realm is None or realm.id != realm_id:
                abort(404)
            realm.require_running()
            if not has_picture(connection, realm_id, handle):
                abort(404)
        try:
            picture = b"".join(service.adapters.files.read(key_of(realm_id, handle) + kind))
        except FileNotFoundError:
            abort(404)
        headers = {"Cache-Control": FOR_EVER, "Content-Security-Policy": POLICY}
        return Response(picture, mimetype="image/webp", headers=headers)

    def serve_still(realm_id: int, handle: str) -> Response:
        return serve_picture(realm_id, handle, STILL)

    images = "/user_avatars/<int:realm_id>/emoji/images"
    app.get(f"{images}/<handle>.webp")(serve_picture)
    app.get(f"{images}/still/<handle>.webp")(serve_still)
    app.get(DATA_PATH)(serve_names)
