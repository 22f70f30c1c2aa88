"""Navigation views.

Users add, list, change and remove their views.
"""

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import bindparam, delete, select, update
from sqlalchemy.orm import Session

from models.chat.common.one_line import require_one_line
from models.chat.errors import ChatError
from models.chat.events import log
from models.chat.events.account import (
    NavigationViewAddEvent,
    NavigationViewChange,
    NavigationViewRemoveEvent,
    NavigationViewUpdateEvent,
)
from models.chat.events.log import ClientEvent
from models.chat.identity.actors import Actor
from models.chat.tables import NavigationView
from models.rows import columns_of, read_row, read_rows
from specd.db import Db, table_of, upsert


class NavigationViewDoesNotExist(ChatError):
    """The caller has no view with this fragment."""

    sentence = "Navigation view does not exist."
    advice = "Use a fragment that `GET /navigation_views` returns."


class EmptyFragment(ChatError):
    """The fragment contains only spaces."""

    sentence = "Fragment cannot be empty."
    advice = "Send the part of the view's URL after `#`."


class NavigationViewExists(ChatError):
    """The caller already has a view with this fragment or this name."""

    sentence = "Navigation view already exists."
    advice = "Change the existing view, or choose another name."


class BuiltInViewHasNoName(ChatError):
    """The fragment belongs to a built-in view, for which clients define the name."""

    sentence = "Built-in views cannot have a custom name."
    advice = "Omit `name`."


class CustomViewNeedsName(ChatError):
    """The fragment does not belong to a built-in view, and the name is absent or empty."""

    sentence = "Custom views must have a valid name."
    advice = "Send a `name` of 1 to 100 characters."


BUILT_IN = frozenset(
    (
        "drafts",
        "feed",
        "inbox",
        "narrow/has/reaction/sender/me",
        "narrow/is/mentioned",
        "narrow/is/starred",
        "recent",
    )
)
"""Fragments of built-in views. Users only choose whether they are pinned."""
_TABLE = table_of(NavigationView)


class _View(NamedTuple):
    fragment: str
    is_pinned: bool
    name: str | None


_SHOWN = columns_of(_View, _TABLE)
_MINE = select(*_SHOWN).where(_TABLE.c.user_id == bindparam("of_user_id")).order_by(_TABLE.c.id)
_NAMED = select(_TABLE.c.fragment).where(
    _TABLE.c.user_id == bindparam("of_user_id"), _TABLE.c.name == bindparam("of_name")
)


def find_navigation_views(db: Db, actor: Actor) -> list[dict[str, Any]]:
    """Return the actor's views in the order in which they were added."""
    rows = read_rows(_View, db.execute(_MINE, {"of_user_id": actor.id}))
    return [*map(_describe, rows)]


def add_navigation_view(
    session: Session,
    actor: Actor,
    *,
    fragment: str,
    is_pinned: bool,
    name: str | None,
    now: datetime,
) -> None:
    """Add a view. Raise `NotOneLine`, `EmptyFragment`, `BuiltInViewHasNoName`,
    `CustomViewNeedsName`, `NavigationViewExists`.
    """
    fragment = require_one_line("fragment", fragment.strip())
    if not fragment:
        raise EmptyFragment()
    name = check_view_name(fragment, name)
    _require_free(session, actor, name, fragment)
    columns = {
        "realm_id": actor.realm_id,
        "user_id": actor.id,
        "fragment": fragment,
        "is_pinned": is_pinned,
        "name": name,
    }
    made = upsert(_TABLE).values(columns).on_conflict_do_nothing()
    row = read_row(_View, session.connection().execute(made.returning(*_SHOWN)))
    if row is None:
        raise NavigationViewExists()
    _append_event(session, actor, NavigationViewAddEvent(navigation_view=_describe(row)), now)


def change_navigation_view(
    session: Session,
    actor: Actor,
    fragment: str,
    *,
    is_pinned: bool | None,
    name: str | None,
    now: datetime,
) -> None:
    """Change a view; None means no change. The event contains only changed values.

    Raise `NotOneLine`, `BuiltInViewHasNoName`, `CustomViewNeedsName`, `NavigationViewDoesNotExist`,
    `NavigationViewExists`.
    """
    fragment = fragment.strip()
    if name is not None:
        name = check_view_name(fragment, name)
    mine = (_TABLE.c.user_id == actor.id) & (_TABLE.c.fragment == fragment)
    row = session.execute(select(*_TABLE.c).where(mine).with_for_update()).first()
    if row is None:
        raise NavigationViewDoesNotExist()
    _require_free(session, actor, name, fragment)
    data: NavigationViewChange = {}
    if is_pinned is not None and is_pinned != row.is_pinned:
        data["is_pinned"] = is_pinned
    if name is not None and name != row.name:
        data["name"] = name
    if data:
        session.connection().execute(update(_TABLE).where(mine).values(**data))
        _append_event(session, actor, NavigationViewUpdateEvent(fragment=fragment, data=data), now)


def remove_navigation_view(session: Session, actor: Actor, fragment: str, *, now: datetime) -> None:
    """Remove a view. Raise `NavigationViewDoesNotExist`."""
    fragment = fragment.strip()
    own = delete(_TABLE).where(_TABLE.c.user_id == actor.id, _TABLE.c.fragment == fragment)
    if session.connection().execute(own.returning(_TABLE.c.id)).first() is None:
        raise NavigationViewDoesNotExist()
    _append_event(session, actor, NavigationViewRemoveEvent(fragment=fragment), now)


def check_view_name(fragment: str, name: str | None) -> str | None:
    """Return the name as it is stored. Custom views require a name, and built-in views have
    none.
    """
    if fragment in BUILT_IN:
        if name is not None:
            raise BuiltInViewHasNoName()
        return None
    checked = require_one_line("name", (name or "").strip())
    if not checked:
        raise CustomViewNeedsName()
    return checked


def _require_free(session: Session, actor: Actor, name: str | None, fragment: str) -> None:
    """Raise `NavigationViewExists` if another view of the actor has the name."""
    if name is not None:
        fragments = session.execute(_NAMED, {"of_user_id": actor.id, "of_name": name}).scalars()
        if any(other != fragment for other in fragments):
            raise NavigationViewExists()


def _describe(row: _View) -> dict[str, Any]:
    """Return the view object for responses and events."""
    return {"fragment": row.fragment, "is_pinned": row.is_pinned, "name": row.name}


def _append_event(session: Session, actor: Actor, event: ClientEvent, now: datetime) -> None:
    log.append(session, actor.realm_id, event, user_ids=[actor.id], now=now)
