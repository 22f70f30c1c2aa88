"""Saved snippets.

Their authors store, list, change and delete them.
"""

from datetime import datetime
from typing import Any, Protocol

from sqlalchemy import bindparam, delete, insert, select, update
from sqlalchemy.orm import Session

from models.base import table_of
from models.chat.common.one_line import require_one_line
from models.chat.errors import ChatError
from models.chat.events import log
from models.chat.events.account import (
    SavedSnippetsAddEvent,
    SavedSnippetsRemoveEvent,
    SavedSnippetsUpdateEvent,
)
from models.chat.events.log import ClientEvent
from models.chat.identity.actors import Actor
from models.chat.tables import SavedSnippet
from models.reader import Db


class SavedSnippetDoesNotExist(ChatError):
    """The snippet is unknown or belongs to another user. The answer is the same for both."""

    sentence = "Saved snippet does not exist."
    advice = "Use an id that `GET /saved_snippets` returns."


class EmptySnippetTitle(ChatError):
    """The title is empty or consists of spaces."""

    sentence = "Title cannot be empty."
    advice = "Send a `title` of 1 to 60 characters."


class EmptySnippetContent(ChatError):
    """The content is empty or consists of spaces."""

    sentence = "Content cannot be empty."
    advice = "Send some `content`."


class NoNewSnippetData(ChatError):
    """The request contains neither a title nor a content."""

    sentence = "No new data is supplied"
    advice = "Send `title`, `content` or both."


_TABLE = table_of(SavedSnippet)
_MINE = select(*_TABLE.c).where(_TABLE.c.user_id == bindparam("of_user_id")).order_by(_TABLE.c.id)
_INSERT = insert(_TABLE).returning(*_TABLE.c)


class SnippetRow(Protocol):
    """A snippet with the columns that its author sees."""

    @property
    def id(self) -> int: ...
    @property
    def title(self) -> str: ...
    @property
    def content(self) -> str: ...
    @property
    def created_at(self) -> datetime: ...


def find_saved_snippets(db: Db, author: Actor) -> list[dict[str, Any]]:
    """Records of the author's snippets, the oldest first."""
    return [_record_of(row) for row in db.execute(_MINE, {"of_user_id": author.id})]


def create_saved_snippet(
    session: Session, author: Actor, *, title: str, content: str, now: datetime
) -> int:
    """The new snippet's id. Raises `NotOneLine`, `EmptySnippetTitle`, `EmptySnippetContent`."""
    columns = _check(title, content)
    columns |= {"realm_id": author.realm_id, "user_id": author.id, "created_at": now}
    row = session.connection().execute(_INSERT, columns).one()
    _tell(session, author, SavedSnippetsAddEvent(saved_snippet=_record_of(row)), now)
    return int(row.id)


def change_saved_snippet(
    session: Session,
    author: Actor,
    snippet_id: int,
    *,
    title: str | None,
    content: str | None,
    now: datetime,
) -> None:
    """None stays as it is. Raises `NotOneLine`, `EmptySnippetTitle`, `EmptySnippetContent`,
    `NoNewSnippetData`, `SavedSnippetDoesNotExist`.
    """
    columns = _check(title, content)
    if not columns:
        raise NoNewSnippetData()
    own = update(_TABLE).where(_TABLE.c.id == snippet_id, _TABLE.c.user_id == author.id)
    row = session.connection().execute(own.values(**columns).returning(*_TABLE.c)).first()
    if row is None:
        raise SavedSnippetDoesNotExist()
    _tell(session, author, SavedSnippetsUpdateEvent(saved_snippet=_record_of(row)), now)


def delete_saved_snippet(
    session: Session, author: Actor, snippet_id: int, *, now: datetime
) -> None:
    """Raises `SavedSnippetDoesNotExist`."""
    own = delete(_TABLE).where(_TABLE.c.id == snippet_id, _TABLE.c.user_id == author.id)
    if session.connection().execute(own.returning(_TABLE.c.id)).first() is None:
        raise SavedSnippetDoesNotExist()
    _tell(session, author, SavedSnippetsRemoveEvent(saved_snippet_id=snippet_id), now)


def _check(title: str | None, content: str | None) -> dict[str, Any]:
    """The columns of what was given, without spaces at its ends."""
    columns: dict[str, Any] = {}
    if title is not None:
        columns["title"] = require_one_line("title", title.strip())
        if not columns["title"]:
            raise EmptySnippetTitle()
    if content is not None:
        columns["content"] = content.strip()
        if not columns["content"]:
            raise EmptySnippetContent()
    return columns


def _record_of(row: SnippetRow) -> dict[str, Any]:
    """The snippet object, as answers and events show it."""
    return {
        "id": row.id,
        "title": row.title,
        "content": row.content,
        "date_created": int(row.created_at.timestamp()),
    }


def _tell(session: Session, author: Actor, event: ClientEvent, now: datetime) -> None:
    log.append(session, author.realm_id, event, user_ids=[author.id], now=now)
