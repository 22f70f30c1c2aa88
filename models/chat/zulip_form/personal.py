"""Rows of Zulip's export that belong to one user or bot."""

from collections.abc import Iterator, Mapping

from models.chat.common.name_keys import key_of
from models.chat.navigation_views import BUILT_IN
from models.chat.rendering.texts import CONTENT_MAX
from models.chat.tables.bots import KEY_MAX
from models.chat.zulip_form.fitting import Changes
from models.chat.zulip_form.people import People
from models.chat.zulip_form.rows import Source, rows_of
from models.json import Json
from models.webhooks.addresses import URL_MAX

ALERT_WORD_MAX = 100
_INTERFACES = (1, 2)


class Personal:
    """Yields rows of the archive that belong to one user."""

    def __init__(self, source: Source, changes: Changes, people: People, realm_id: int) -> None:
        self._source, self._changes, self._people = source, changes, people
        self._realm_id = realm_id

    def saved_snippets(self) -> Iterator[Mapping[str, Json]]:
        for row in rows_of(self._source, "zerver_savedsnippet"):
            yield {
                "id": row.integer("id"),
                "realm_id": self._realm_id,
                "user_id": self._people.find(row, "user_profile"),
                "title": self._changes.line(row.table, row.text("title"), 60),
                "content": self._changes.short(row.table, row.text("content"), CONTENT_MAX),
                "created_at": row.time("date_created"),
            }

    def alert_words(self) -> Iterator[Mapping[str, Json]]:
        taken: set[tuple[int, str]] = set()
        for row in rows_of(self._source, "zerver_alertword"):
            user_id = self._people.find(row, "user_profile")
            word = self._changes.line(row.table, row.text("word"), ALERT_WORD_MAX)
            key = (user_id, key_of(word))
            if not key[1] or key in taken:
                self._changes.note(row.table, "a word is empty or there in another spelling")
                continue
            taken.add(key)
            yield {
                "id": row.integer("id"), "realm_id": self._realm_id, "user_id": user_id,
                "word": word,
            }  # fmt: skip

    def muted_users(self) -> Iterator[Mapping[str, Json]]:
        for row in rows_of(self._source, "zerver_muteduser"):
            yield {
                "user_id": self._people.find(row, "user_profile"),
                "muted_user_id": self._people.find(row, "muted_user"),
                "muted_at": row.time("date_muted"),
            }

    def navigation_views(self) -> Iterator[Mapping[str, Json]]:
        for row in rows_of(self._source, "zerver_navigationview"):
            fragment = self._changes.line(row.table, row.text("fragment"), 500).strip()
            written = row.text_or_none("name")
            name = None if fragment in BUILT_IN else (written or "").strip() or fragment
            if not fragment:
                self._changes.note(row.table, "a view is of an address")
                continue
            if name != written:
                self._changes.note(row.table, "views have names unless every client has them")
            yield {
                "id": row.integer("id"),
                "realm_id": self._realm_id,
                "user_id": self._people.find(row, "user"),
                "fragment": fragment,
                "is_pinned": row.flag("is_pinned"),
                "name": None if name is None else self._changes.line(row.table, name, 100),
            }

    def outgoing_webhooks(self) -> Iterator[Mapping[str, Json]]:
        """Yield the rows of `outgoing_webhook`, at most one for each bot."""
        taken: set[int] = set()
        for row in rows_of(self._source, "zerver_service"):
            user_id = self._people.find(row, "user_profile")
            url, interface = row.text("base_url"), row.integer("interface", 1)
            if user_id in taken or len(url) > URL_MAX or interface not in _INTERFACES:
                self._changes.note(row.table, "a bot has one address, of a form that is known")
                continue
            taken.add(user_id)
            yield {"user_id": user_id, "payload_url": url, "interface": interface}

    def bot_storage(self) -> Iterator[Mapping[str, Json]]:
        for row in rows_of(self._source, "zerver_botstoragedata"):
            if len(row.text("key")) > KEY_MAX:
                self._changes.note(row.table, "a key is too long")
                continue
            yield {
                "user_id": self._people.find(row, "bot_profile"),
                "key": self._changes.line(row.table, row.text("key"), KEY_MAX),
                "value": row.text("value"),
            }
