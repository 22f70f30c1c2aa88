"""Files of Zulip's export: uploads, custom emoji, avatars, and their addresses in texts."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple, Protocol
from urllib.parse import unquote

from models.chat.rendering.previews import Preview
from models.chat.uploads.names import HANDLE_LENGTH, check_media_type, check_name, path_name_of
from models.chat.zulip_form.fitting import Changes
from models.chat.zulip_form.people import People
from models.chat.zulip_form.rows import Source, ZulipRow, rows_of
from models.json import Json

ATTACHMENTS, EMOJI = "zerver_attachment", "zerver_realmemoji"
AVATARS = "avatars/records.json"
_BEST_AVATARS = (".original", "-medium.png")
"""Path endings of avatars, the best first. Avatars with other endings are small."""
_ADDRESS = re.compile(
    r"(?P<uploads>user_uploads/(?:thumbnail/)?)(?P<path>[0-9]+(?:/[^/\s\"'<>()\[\]?#]+){1,6})"
    r"|user_avatars/(?P<emoji>[0-9]+/emoji/images/(?:still/)?[^/\s\"'<>()\[\]?#]+)"
)
_FOREIGN = re.compile(
    r'\n?<div class="message_inline_image">\s*<a [^<>]*>\s*'
    r'<img [^<>]*src="(?:/external_content/|https?://)[^<>]*>\s*</a>\s*</div>'
)
"""The preview of an image on another host, which Zulip's server fetches for clients."""


class Measured(NamedTuple):
    """The width and height of an image in pixels, and whether it is animated."""

    width: int
    height: int
    is_animated: bool


class Files(Protocol):
    """The files of an export, by path."""

    def size(self, path: str) -> int | None:
        """Return the size in bytes, or None if the file does not exist."""

    def measure(self, path: str) -> Measured | None:
        """Return the facts of an image, or None if the file is not an image."""

    def has_emoji(self, path: str) -> tuple[bool, bool]:
        """Return whether the file is an image that can be an emoji, and whether it is animated."""

    def has_avatar(self, path: str) -> bool:
        """Return whether the file is an image that can be an avatar."""


@dataclass(frozen=True, slots=True)
class Upload:
    """An uploaded file in our archive."""

    handle: str
    name: str
    path_name: str
    media_type: str
    measured: Measured | None

    @property
    def archive_name(self) -> str:
        return f"uploads/{self.handle}-{self.path_name}"


@dataclass(frozen=True, slots=True)
class Picture:
    """The image of an emoji. `handle` is None if the export lacks a usable image."""

    handle: str | None
    is_animated: bool = False

    def address(self, realm_id: int, *, still: bool = False) -> str:
        """Return the address of the image, or an empty string if it is missing."""
        if self.handle is None:
            return ""
        return (
            f"/user_avatars/{realm_id}/emoji/images/{'still/' if still else ''}{self.handle}.webp"
        )


class Uploads:
    """All uploaded files by path, all emoji by id, and users' avatars."""

    def __init__(
        self, source: Source, changes: Changes, people: People, files: Files, realm_id: int
    ) -> None:
        self._source, self._changes, self._people = source, changes, people
        self._files, self._realm_id = files, realm_id
        self.by_path: dict[str, Upload] = {}
        self.pictures: dict[int, Picture] = {}
        self._of_emoji: dict[str, Picture] = {}
        for row in rows_of(source, ATTACHMENTS):
            path = row.text("path_id")
            if path in self.by_path:
                raise row.refuse("path_id is another file's")
            self.by_path[path] = self._upload(row, path)
        for row in rows_of(source, EMOJI):
            self._add_emoji(row)
        self.avatars: dict[int, str] = {}
        """The handles of avatars, by user id."""
        self._paths_of_avatars: dict[str, str] = {}
        self._add_avatars()

    def rewrite(self, text: str) -> str:
        """Return a text with the new addresses of files."""
        if "user_uploads/" not in text and "user_avatars/" not in text:
            return text
        return _ADDRESS.sub(self._new, text)

    def rewrite_html(self, html: str) -> str:
        """Return rendered text with the new addresses of files, without previews of images on other
        hosts: only Zulip's server can resolve their addresses.
        """
        return self.rewrite(_FOREIGN.sub("", html))

    def previews(self) -> dict[str, Preview]:
        """Return the preview of each image, by handle."""
        return {
            upload.handle: Preview(
                path_id=f"{self._realm_id}/{upload.handle}-{upload.path_name}",
                name=upload.name,
                media_type=upload.media_type,
                width=upload.measured.width,
                height=upload.measured.height,
                is_animated=upload.measured.is_animated,
            )
            for upload in self.by_path.values()
            if upload.measured is not None
        }

    # --- rows of the archive ----------------------------------------------------------------------

    def attachments(self) -> Iterator[Mapping[str, Json]]:
        for row in rows_of(self._source, ATTACHMENTS):
            path = row.text("path_id")
            upload = self.by_path[path]
            size = self._files.size(f"uploads/{path}")
            if size is None:
                self._changes.note(ATTACHMENTS, "a file is missing in the export")
            created, measured = row.time("create_time"), upload.measured
            yield {
                "id": row.integer("id"),
                "realm_id": self._realm_id,
                "owner_id": self._people.find(row, "owner"),
                "handle": upload.handle,
                "name": upload.name,
                "path_name": upload.path_name,
                "size": max(row.integer("size"), 0) if size is None else size,
                "media_type": upload.media_type,
                "width": None if measured is None else measured.width,
                "height": None if measured is None else measured.height,
                "is_animated": None if measured is None else measured.is_animated,
                "created_at": created,
                "detached_at": None if row.get("messages") else created,
            }

    def emoji(self) -> Iterator[Mapping[str, Json]]:
        for row in rows_of(self._source, EMOJI):
            picture = self.pictures[row.integer("id")]
            still = picture.address(self._realm_id, still=True)
            yield {
                "id": row.integer("id"),
                "realm_id": self._realm_id,
                "name": self._changes.line(EMOJI, row.text("name"), 60),
                "source_url": picture.address(self._realm_id),
                "still_url": still if picture.is_animated else None,
                "handle": picture.handle,
                "author_id": self._people.find_or_none(row, "author"),
                "is_deactivated": row.flag("deactivated", False),
            }

    def archive_files(self) -> Iterator[tuple[str, str]]:
        """Yield the name of each file in our archive with its path in the export."""
        for path, upload in self.by_path.items():
            yield upload.archive_name, f"uploads/{path}"

    def archive_emoji(self) -> Iterator[tuple[Picture, str]]:
        """Yield the image of each emoji with its path in the export."""
        for path, picture in self._of_emoji.items():
            if picture.handle is not None:
                yield picture, f"emoji/{path}"

    def archive_avatars(self) -> Iterator[tuple[str, str]]:
        """Yield the handle of each avatar with its path in the export."""
        yield from self._paths_of_avatars.items()

    # --- one file ---------------------------------------------------------------------------------

    def _upload(self, row: ZulipRow, path: str) -> Upload:
        name = check_name(row.text("file_name"))
        media_type = check_media_type(row.text("content_type", ""), name)
        is_picture = media_type.startswith("image/")
        return Upload(
            handle=_handle(f"uploads/{path}"),
            name=name,
            path_name=path_name_of(path.rpartition("/")[2]),
            media_type=media_type,
            measured=self._files.measure(f"uploads/{path}") if is_picture else None,
        )

    def _add_emoji(self, row: ZulipRow) -> None:
        picture = Picture(None)
        file_name = row.text("file_name", "")
        if file_name:
            path = f"{row.integer('realm', self._realm_id)}/emoji/images/{file_name}"
            known = self._of_emoji.get(path)
            exists, is_animated = self._files.has_emoji(f"emoji/{path}")
            if known is not None:
                raise row.refuse("file_name is another emoji's")
            if exists:
                picture = Picture(_handle(f"emoji/{path}"), is_animated)
            self._of_emoji[path] = picture
        if picture.handle is None:
            self._changes.note(EMOJI, "a picture is missing in the export")
        self.pictures[row.integer("id")] = picture

    def _add_avatars(self) -> None:
        paths: dict[int, list[str]] = {user_id: [] for user_id in self._people.with_avatar}
        for row in rows_of(self._source, AVATARS):
            user_id = row.integer("user_profile_id")
            if user_id in paths:
                paths[user_id].append(row.text("path"))
        for user_id, names in paths.items():
            names.sort(key=_rank_of_avatar)
            found = (name for name in names if self._files.has_avatar(f"avatars/{name}"))
            path = next(found, None)
            if path is None:
                self._changes.note(AVATARS, "a picture is missing in the export")
                continue
            handle = _handle(f"avatars/{user_id}/{path}")
            self.avatars[user_id] = handle
            self._paths_of_avatars[handle] = f"avatars/{path}"

    # --- addresses --------------------------------------------------------------------------------

    def _new(self, match: re.Match[str]) -> str:
        if match["emoji"] is not None:
            return self._new_emoji(match["emoji"]) or match[0]
        path, rest = match["path"], ""
        while "/" in path:
            upload = self.by_path.get(path) or self.by_path.get(unquote(path))
            if upload is not None:
                place = f"{self._realm_id}/{upload.handle}-{upload.path_name}"
                return f"{match['uploads']}{place}{rest}"
            path, _, last = path.rpartition("/")
            rest = f"/{last}{rest}"
        return match[0]

    def _new_emoji(self, path: str) -> str | None:
        is_still = "/still/" in path
        path = path.replace("/still/", "/")
        picture = self._of_emoji.get(path)
        if picture is None and is_still:  # a still image is always a PNG
            stem = path.rpartition(".")[0]
            found = (each for name, each in self._of_emoji.items() if name.startswith(f"{stem}."))
            picture = next(found, None)
        if picture is None or picture.handle is None:
            return None
        return picture.address(self._realm_id, still=is_still and picture.is_animated)[1:]


def _rank_of_avatar(path: str) -> int:
    """Return the rank of an avatar by its path. The best has the least."""
    endings = enumerate(_BEST_AVATARS)
    return next((rank for rank, end in endings if path.endswith(end)), len(_BEST_AVATARS))


def _handle(path: str) -> str:
    return sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:HANDLE_LENGTH]
