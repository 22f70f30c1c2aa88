"""What happens to people who have just joined: the organization's default channels are theirs, and
they are welcomed.
"""

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from models.chat.channels.creation import NewChannel
from models.chat.channels.subscribing import WantedChannel, subscribe
from models.chat.identity.actors import Actor, find_actor
from models.chat.rendering.quotes import fenced
from models.chat.sending.errors import MessageIsEmpty
from models.chat.sending.notices import send_direct_notices
from models.chat.tables import Channel, DefaultChannel, Realm, User

WELCOME = (
    "Hello, and welcome! 👋\n\n"
    "Channels hold the conversations of this organization, and topics keep them apart: find one"
    " that interests you, or write to somebody directly. Answer here if you like; nobody reads it,"
    " so it is a good place to try things."
)


def welcome(session: Session, user: User, *, now: datetime) -> None:
    """A first direct message from the organization's notification bot, and a second one where the
    organization has something to say.
    """
    send_direct_notices(session, user.realm_id, [user.id], content=WELCOME, now=now)
    said = select(Realm.welcome_message_custom_text).where(Realm.id == user.realm_id)
    text = session.execute(said).scalar_one()
    if text:
        _say(session, user.realm_id, user.id, text, now)


def try_welcome_text(session: Session, actor: Actor, text: str, *, now: datetime) -> int:
    """Have the actor told what new members would be; the message's id. Raises `MessageIsEmpty`."""
    text = text.strip()
    if not text:
        raise MessageIsEmpty()
    return _say(session, actor.realm_id, actor.id, text, now)


def _say(session: Session, realm_id: int, user_id: int, text: str, now: datetime) -> int:
    """The organization's words as a quote: what they link to and format is theirs."""
    content = "The administrators of this organization say:\n\n" + fenced(text, "quote", least=4)
    [message_id] = send_direct_notices(session, realm_id, [user_id], content=content, now=now)
    return message_id


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
