"""Users' pictures. Browsers load them without an API key, by URLs that cannot be guessed."""

from __future__ import annotations

from flask import Flask, Response, abort, request

from models.chat.accounts.avatars import has_avatar, keys_of
from models.chat.common.hosts import parse_host
from models.chat.identity.actors import find_realm_at
from pages.served import Served
from pages.uploads import POLICY

HEADERS = {
    # A new picture has a new URL. A deleted picture remains in caches for at most a day.
    "Cache-Control": "public, max-age=86400",
    "Content-Security-Policy": POLICY,
}
_MEDIUM = "-medium"


def install_for(app: Flask, service: Served) -> None:
    """Add the route of users' pictures."""

    def serve(realm_id: int, name: str) -> Response:
        handle = name.removesuffix(_MEDIUM)
        with service.database.reading() as connection:
            realm = find_realm_at(connection, parse_host(request.host))
            if realm is None or realm.id != realm_id:
                abort(404)
            realm.require_running()
            if not has_avatar(connection, realm_id, handle):
                abort(404)
        small, medium = keys_of(realm_id, handle)
        try:
            key = medium if name.endswith(_MEDIUM) else small
            picture = b"".join(service.adapters.files.read(key))
        except FileNotFoundError:
            abort(404)
        return Response(picture, mimetype="image/png", headers=HEADERS)

    app.get("/user_avatars/<int:realm_id>/<name>.png")(serve)
