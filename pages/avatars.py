"""Pictures that users upload of themselves, which need no key: browsers show them by an address
that nobody can guess.
"""

from __future__ import annotations

from flask import Flask, Response, abort, request

from models.chat.accounts.avatars import has_avatar, keys_of
from models.chat.common.hosts import parse_host
from models.chat.identity.actors import find_realm_at
from pages.served import Served
from pages.uploads import POLICY

HEADERS = {
    # A new picture has a new address. One that was deleted is gone from caches after a day.
    "Cache-Control": "public, max-age=86400",
    "Content-Security-Policy": POLICY,
}
_MEDIUM = "-medium"


def install_for(app: Flask, service: Served) -> None:
    """Add the pictures in the service's store."""

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
