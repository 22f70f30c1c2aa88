"""Notices to people whom somebody else added to a group or removed from it."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from models.chat.identity.actors import Actor
from models.chat.rendering.quotes import Quotes
from models.chat.sending.notices import send_direct_notices
from models.chat.tables import User, UserGroup
from models.dialects import id_in

MOST_NOTIFIED = 100
"""Nobody is notified of a change of more users at once."""


def notify_members(
    session: Session,
    actor: Actor,
    group: UserGroup,
    user_ids: Sequence[int],
    change: str,
    *,
    now: datetime,
) -> None:
    """Send the people among the users a notice; `change`: "added you to" or "removed you from"."""
    if len(user_ids) > MOST_NOTIFIED:
        return
    people = session.scalars(
        select(User.id)
        .where(id_in(User.id, user_ids), User.bot_type.is_(None), User.id != actor.id)
        .order_by(User.id)
    ).all()
    quotes = Quotes()
    who = quotes.user(actor.id, actor.full_name)
    content = f"{who} {change} the group {quotes.group(group.id, str(group.name))}."
    send_direct_notices(session, actor.realm_id, people, content=content, quotes=quotes, now=now)
