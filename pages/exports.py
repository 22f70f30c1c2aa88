"""Downloads of the archives of organizations' data, which are sent in pieces to limit memory use.

The token in a URL is a secret and is never logged. It can be used once, and only by the
administrator for whom it was created. Browsers are never prompted for an API key, because they
would store it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from flask import Flask, abort, make_response, request, send_file
from flask.typing import ResponseReturnValue
from werkzeug.wsgi import ClosingIterator

from models.chat.common.hosts import parse_host
from models.chat.common.security_events import ChatEvent
from models.chat.exports.requests import Archive, access_archive
from models.chat.identity.links import Link, try_spend
from pages.places import Places
from pages.served import Served
from specd import emit

FindArchive = Callable[[int, str, str | None, tuple[str, str] | None], Archive | None]
"""Returns the archive for an export's id, the Host, a link's token, and an email with its API key,
or None if they give no access."""

SpendLink = Callable[[Link], bool]
"""Marks a link as used. Returns whether it was unused."""

AT_ONCE = 4
"""The maximum number of concurrent downloads per process, so that threads remain for other pages.
"""
OF_ONE_REALM = 2
"""The maximum number of concurrent downloads of one organization."""

LINK_DEAD = "This link does not work any more. Open the list of exports again for a new one."
NO_LINK = "Open the list of exports for a link that works here.\n"


def install_for(app: Flask, service: Served) -> None:
    """Add the routes for a chat service, which find archives and links in its database."""

    def find_archive(
        export_id: int, host: str, token: str | None, key: tuple[str, str] | None
    ) -> Archive | None:
        with service.database.reading() as connection:
            return access_archive(
                connection,
                service.adapters.vault,
                export_id,
                host=parse_host(host),
                token=token,
                key=key,
                now=service.clock.now(),
            )

    def spend_link(link: Link) -> bool:
        now = service.clock.now()
        return service.database.run(lambda session: try_spend(session, link, now=now))

    install(app, find_archive, spend_link, service.settings.chat_export_dir)


def install(app: Flask, find_archive: FindArchive, spend_link: SpendLink, folder: Path) -> None:
    """Add /exports/<id>/<token>, and /exports/<id> for administrators with an API key."""
    places = Places(at_once=AT_ONCE, of_one=(OF_ONE_REALM,))

    def send_archive(export_id: int, token: str | None = None) -> ResponseReturnValue:
        key = None
        if token is None:
            credentials = request.authorization
            if credentials is None or credentials.type != "basic":
                return make_response(NO_LINK, 403)
            key = (credentials.username or "", credentials.password or "")
        archive = find_archive(export_id, request.host, token, key)
        if archive is None:
            _emit("credential_refused", export_id)
            if token is None:
                return make_response("No such archive, or not for you.\n", 404)
            abort(404, LINK_DEAD)
        path = folder / archive.name
        if not path.is_file():
            abort(404, "The archive's file is not on this machine.")
        if not places.try_take(archive.realm_id):
            busy = "Too many downloads at once. Try again in a while.\n"
            return make_response(busy, 503, {"Retry-After": "10"})
        with ExitStack() as until_sent:
            until_sent.callback(places.give_back, archive.realm_id)
            is_first = archive.link is None or request.method == "HEAD" or spend_link(archive.link)
            if not is_first:
                abort(404, LINK_DEAD)
            _emit(ChatEvent.EXPORT_DOWNLOADED, export_id)
            response = send_file(
                path,
                mimetype="application/zip",
                as_attachment=True,
                download_name=f"export-{export_id}.zip",
                conditional=True,
                etag=archive.sha256,
                last_modified=archive.made_at,
            )
            # `call_on_close` is not called for a file that is passed directly to the server.
            done = until_sent.pop_all().close
            response.response = ClosingIterator(response.iter_encoded(), done)
        response.headers["Cache-Control"] = "no-store"
        return response

    app.get("/exports/<int:export_id>")(send_archive)
    app.get("/exports/<int:export_id>/<token>")(send_archive)


def _emit(name: str, export_id: int) -> None:
    emit(name, address=request.remote_addr, operation="send_archive", export_id=export_id)
