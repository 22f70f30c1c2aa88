"""Saved snippets.

Users store, list, change and delete their snippets.
"""

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import bindparam, delete, insert, select, update
from sqlalchemy.orm import Session

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
from models.rows import columns_of, read_row, read_rows
from specd.db import Db, table_of


class SavedSnippetDoesNotExist(ChatError):
    """The snippet is unknown or belongs to another user. The response is the same for both."""

    sentence = "Saved snippet does not exist."
    advice = "Use an id that `GET /saved_snippets` returns."


class EmptySnippetTitle(ChatError):
    """The title is empty or contains only spaces."""

    sentence = "Title cannot be empty."
    advice = "Send a `title` of 1 to 60 characters."


class EmptySnippetContent(ChatError):
    """The content is empty or contains only spaces."""

    sentence = "Content cannot be empty."
    advice = "Send some `content`."


class NoNewSnippetData(ChatError):
    """The request contains neither title nor content."""

    sentence = "No new data is supplied"
    advice = "Send `title`, `content` or both."


_TABLE = table_of(SavedSnippet)


class _Snippet(NamedTuple):
    id: int
    title: str
    content: str
    created_at: datetime


_SHOWN = columns_of(_Snippet, _TABLE)
_MINE = select(*_SHOWN).where(_TABLE.c.user_id == bindparam("of_user_id")).order_by(_TABLE.c.id)
_INSERT = insert(_TABLE).returning(*_SHOWN)


def find_saved_snippets(db: Db, author: Actor) -> list[dict[str, Any]]:
    """Return the author's snippets, oldest first."""
    rows = read_rows(_Snippet, db.execute(_MINE, {"of_user_id": author.id}))
    return [*map(_describe, rows)]


def create_saved_snippet(
    session: Session, author: Actor, *, title: str, content: str, now: datetime
) -> int:
    """Create a snippet and return its id.

    Raise `NotOneLine`, `EmptySnippetTitle`, `EmptySnippetContent`.
    """
    columns = _check(title, content)
    columns |= {"realm_id": author.realm_id, "user_id": author.id, "created_at": now}
    [row] = read_rows(_Snippet, session.connection().execute(_INSERT, columns))
    _append_event(session, author, SavedSnippetsAddEvent(saved_snippet=_describe(row)), now)
    return row.id


def change_saved_snippet(
    session: Session,
    author: Actor,
    snippet_id: int,
    *,
    title: str | None,
    content: str | None,
    now: datetime,
) -> None:
    """Change a snippet; None means no change. Raise `NotOneLine`, `EmptySnippetTitle`,
    `EmptySnippetContent`, `NoNewSnippetData`, `SavedSnippetDoesNotExist`.
    """
    columns = _check(title, content)
    if not columns:
        raise NoNewSnippetData()
    own = update(_TABLE).where(_TABLE.c.id == snippet_id, _TABLE.c.user_id == author.id)
    result = session.connection().execute(own.values(**columns).returning(*_SHOWN))
    row = read_row(_Snippet, result)
    if row is None:
        raise SavedSnippetDoesNotExist()
    _append_event(session, author, SavedSnippetsUpdateEvent(saved_snippet=_describe(row)), now)


def delete_saved_snippet(
    session: Session, author: Actor, snippet_id: int, *, now: datetime
) -> None:
    """Delete a snippet. Raise `SavedSnippetDoesNotExist`."""
    own = delete(_TABLE).where(_TABLE.c.id == snippet_id, _TABLE.c.user_id == author.id)
    if session.connection().execute(own.returning(_TABLE.c.id)).first() is None:
        raise SavedSnippetDoesNotExist()
    _append_event(session, author, SavedSnippetsRemoveEvent(saved_snippet_id=snippet_id), now)


def _check(title: str | None, content: str | None) -> dict[str, Any]:
    """Return the columns for the values that are not None, without surrounding spaces."""
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


def _describe(row: _Snippet) -> dict[str, Any]:
    """Return the snippet object for responses and events."""
    return {
        "id": row.id,
        "title": row.title,
        "content": row.content,
        "date_created": int(row.created_at.timestamp()),
    }


def _append_event(session: Session, author: Actor, event: ClientEvent, now: datetime) -> None:
    log.append(session, author.realm_id, event, user_ids=[author.id], now=now)
