"""What happens to people who have just joined: the organization's default channels are theirs, and
they are welcomed.
"""

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from models.chat.channels.creation import NewChannel
from models.chat.channels.subscribing import WantedChannel, subscribe
from models.chat.identity.actors import find_actor
from models.chat.sending.notices import send_direct_notices
from models.chat.tables import Channel, DefaultChannel, User

WELCOME = (
    "Hello, and welcome! 👋\n\n"
    "Channels hold the conversations of this organization, and topics keep them apart: find one"
    " that interests you, or write to somebody directly. Answer here if you like; nobody reads it,"
    " so it is a good place to try things."
)


def welcome(session: Session, user: User, *, now: datetime) -> None:
    """A first direct message from the organization's notification bot."""
    send_direct_notices(session, user.realm_id, [user.id], content=WELCOME, now=now)


def join_default_channels(session: Session, user: User, *, now: datetime) -> None:
    """Subscribe a new member to the default channels. Guests and bots begin with none."""
    actor = find_actor(session, user.id)
    if actor is None or actor.is_guest or actor.is_bot:
        return
    names = session.scalars(
        select(Channel.name)
        .join(DefaultChannel, DefaultChannel.channel_id == Channel.id)
        .where(DefaultChannel.realm_id == user.realm_id, ~Channel.is_archived)
        .order_by(Channel.id)
    ).all()
    if names:
        subscribe(
            session,
            actor,
            [WantedChannel(name) for name in names],
            NewChannel(),
            principals=(),
            refuse_unauthorized=False,
            web_public_enabled=False,
            now=now,
        )
