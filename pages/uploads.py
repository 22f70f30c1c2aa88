"""Downloads of uploaded files, complete or in ranges, sent in pieces. Browsers never execute them.

Access is checked for each request. Programs send an API key. Browsers use a temporary URL and are
never prompted for a key, because they would store it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Protocol
from urllib.parse import quote

from flask import Flask, Response, abort, make_response, request
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import Range
from werkzeug.wsgi import ClosingIterator

from models.chat.common.hosts import parse_host
from models.chat.rendering.previews import FORMAT
from models.chat.uploads.access import Download, find_linked, find_with_key
from models.chat.uploads.attachments import AttachmentRow
from models.chat.uploads.names import THUMBNAIL, UNKNOWN_TYPE, key_of
from pages.places import Places
from pages.served import Served
from specd import emit


class Files(Protocol):
    """The part of a file store that downloads use."""

    def read(self, key: str, start: int = 0, length: int | None = None) -> Iterator[bytes]:
        """Yield a part of a file. Raise `FileNotFoundError` and `OSError`."""
        ...


AT_ONCE = 20
"""The maximum number of concurrent downloads per process, so that threads remain for other pages.
"""
OF_ONE_REALM = 16
OF_ONE_USER = 6
"""The number of connections that a browser opens to one server."""

SHOWN = frozenset(
    (
        *("image/avif", "image/gif", "image/jpeg", "image/png", "image/webp"),
        *("audio/aac", "audio/flac", "audio/mp4", "audio/mpeg", "audio/ogg", "audio/wav"),
        *("audio/webm", "video/mp4", "video/ogg", "video/quicktime", "video/webm"),
    )
)
"""The media types that browsers may display. Other files are sent as attachments."""
POLICY = "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; sandbox"
NOT_FOUND = "This file does not exist, or is not for you.\n"
NO_KEY = "Send your API email and key, or open a temporary address.\n"


def install_for(app: Flask, service: Served) -> None:
    """Add /user_uploads/temporary/<sealed>/<filename>, and for requests with an API key
    /user_uploads/<realm>/<filename> and the thumbnails.
    """
    places = Places(at_once=AT_ONCE, of_one=(OF_ONE_REALM, OF_ONE_USER))

    def send_linked_file(sealed: str, filename: str) -> ResponseReturnValue:
        host, now = parse_host(request.host), service.clock.now()
        with service.database.reading() as connection:
            vault = service.adapters.vault
            found = find_linked(connection, vault, sealed, filename, host=host, now=now)
        return answer(found)

    def send_file_by_key(realm: str, filename: str, form: str | None = None) -> ResponseReturnValue:
        credentials = request.authorization
        if credentials is None or credentials.type != "basic":
            return make_response(NO_KEY, 403)
        with service.database.reading() as connection:
            found = find_with_key(
                connection,
                realm,
                filename,
                host=parse_host(request.host),
                email=credentials.username or "",
                api_key=credentials.password or "",
            )
        if form is None:
            return answer(found)
        has_thumbnail = found is not None and found.upload.width is not None and form == FORMAT
        return answer(found if has_thumbnail else None, is_thumbnail=True)

    def answer(found: Download | None, *, is_thumbnail: bool = False) -> ResponseReturnValue:
        if found is None:
            emit("credential_refused", address=request.remote_addr, operation="upload")
            return make_response(NOT_FOUND, 404)
        upload, owners = found.upload, (found.upload.realm_id, found.actor_id)
        if request.if_none_match.contains(upload.handle):
            return Response(status=304, headers=headers_of(upload))
        if not places.try_take(*owners):
            busy = "Too many downloads at once. Try again in a while.\n"
            return make_response(busy, 503, {"Retry-After": "2"})
        with ExitStack() as until_sent:
            until_sent.callback(places.give_back, *owners)
            send = _send_thumbnail if is_thumbnail else _send
            response = send(upload, service.adapters.files)
            done = until_sent.pop_all().close
            response.response = ClosingIterator(response.iter_encoded(), done)
        return response

    app.get("/user_uploads/temporary/<sealed>/<filename>")(send_linked_file)
    app.get("/user_uploads/<realm>/<filename>")(send_file_by_key)
    app.get("/user_uploads/thumbnail/<realm>/<filename>/<form>")(send_file_by_key)


def _send(upload: AttachmentRow, store: Files) -> Response:
    """Return the complete file or the requested range (RFC 9110, section 14)."""
    headers = headers_of(upload)
    start, stop = 0, upload.size
    asked = request.range if request.method == "GET" else None
    if "If-Range" in request.headers and request.if_range.etag != upload.handle:
        asked = None
    wanted = None if asked is None else asked.range_for_length(upload.size)
    if wanted is not None:
        start, stop = wanted
        headers["Content-Range"] = f"bytes {start}-{stop - 1}/{upload.size}"
    elif asked is not None and _is_beyond(asked, upload.size):
        return Response(status=416, headers=headers | {"Content-Range": f"bytes */{upload.size}"})
    headers["Content-Length"] = str(stop - start)
    pieces: Iterator[bytes] = iter(())
    if request.method != "HEAD":
        with _missing_or_unavailable():
            pieces = store.read(key_of(upload.realm_id, upload.handle), start, stop - start)
    return Response(pieces, 206 if "Content-Range" in headers else 200, headers)


def _is_beyond(asked: Range, size: int) -> bool:
    """Return whether a single range was requested that is outside of a file of `size` bytes."""
    if asked.units != "bytes" or len(asked.ranges) > 1:
        return False
    start, _ = asked.ranges[0]
    return start >= size if start >= 0 else size == 0


def _send_thumbnail(upload: AttachmentRow, store: Files) -> Response:
    with _missing_or_unavailable():
        picture = b"".join(store.read(key_of(upload.realm_id, upload.handle) + THUMBNAIL))
    headers = headers_of(upload) | {"Content-Type": "image/webp", "Accept-Ranges": "none"}
    del headers["Content-Disposition"]
    return Response(picture, headers=headers)


@contextmanager
def _missing_or_unavailable() -> Iterator[None]:
    """Abort with 404 if the file is missing, or with 503 if the store fails."""
    try:
        yield
    except FileNotFoundError:
        abort(404)
    except OSError:
        abort(503)


def headers_of(upload: AttachmentRow) -> dict[str, str]:
    """Return the headers of a file, including a policy that prevents the execution of scripts."""
    is_shown = upload.media_type in SHOWN
    disposition = "inline" if is_shown else "attachment"
    plain = "".join(s if (s.isascii() and s.isalnum()) or s in "._- " else "_" for s in upload.name)
    return {
        "Content-Type": upload.media_type if is_shown else UNKNOWN_TYPE,
        "Content-Disposition": f'{disposition}; filename="{plain}"; '
        f"filename*=UTF-8''{quote(upload.name, safe='')}",
        "Content-Security-Policy": POLICY,
        "Accept-Ranges": "bytes",
        "ETag": f'"{upload.handle}"',
        # Users who lose access must not get the file from a cache.
        "Cache-Control": "private, no-cache",
    }
