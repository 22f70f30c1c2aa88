"""What the notification bot writes to people whom somebody else puts into a group or takes out."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from models.chat.identity.actors import Actor
from models.chat.rendering.quotes import Quotes
from models.chat.sending.notices import send_direct_notices
from models.chat.tables import User, UserGroup
from models.dialects import id_in

MOST_TOLD = 100
"""Nobody is written to when more than so many users were added or removed at once."""


def notify_added(
    session: Session, actor: Actor, group: UserGroup, user_ids: Sequence[int], *, now: datetime
) -> None:
    _tell(session, actor, group, user_ids, "{who} added you to the group {group}.", now)


def notify_removed(
    session: Session, actor: Actor, group: UserGroup, user_ids: Sequence[int], *, now: datetime
) -> None:
    _tell(session, actor, group, user_ids, "{who} removed you from the group {group}.", now)


def _tell(
    session: Session,
    actor: Actor,
    group: UserGroup,
    user_ids: Sequence[int],
    text: str,
    now: datetime,
) -> None:
    if len(user_ids) > MOST_TOLD:
        return
    people = session.scalars(
        select(User.id)
        .where(id_in(User.id, user_ids), User.bot_type.is_(None), User.id != actor.id)
        .order_by(User.id)
    ).all()
    quotes = Quotes()
    who = quotes.user(actor.id, actor.full_name)
    named = quotes.group(group.id, str(group.name))
    content = text.format(who=who, group=named)
    send_direct_notices(session, actor.realm_id, people, content=content, quotes=quotes, now=now)
