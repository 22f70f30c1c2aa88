"""What happens to people who have just joined: the organization's default channels are theirs, and
they are welcomed.
"""

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from models.chat.channels.creation import NewChannel
from models.chat.channels.subscribing import WantedChannel, subscribe
from models.chat.identity.actors import Actor, find_actor
from models.chat.rendering import Names
from models.chat.rendering.quotes import fenced
from models.chat.rendering.texts import PreparedText, prepare_text
from models.chat.sending.errors import MessageIsEmpty
from models.chat.sending.notices import send_direct_notices
from models.chat.tables import Channel, DefaultChannel, Realm, User
from models.reader import Db

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
        send_direct_notices(session, user.realm_id, [user.id], content=_quoted(text), now=now)


def prepare_welcome_text(db: Db, actor: Actor, text: str) -> PreparedText:
    """Return what new members would be told. Raises `MessageIsEmpty`."""
    text = text.strip()
    if not text:
        raise MessageIsEmpty()
    return prepare_text(db, actor, _quoted(text), Names())


def try_welcome_text(session: Session, actor: Actor, text: PreparedText, *, now: datetime) -> int:
    """Have the actor told what `prepare_welcome_text` made. Return the message's id."""
    [sent] = send_direct_notices(session, actor.realm_id, [actor.id], content=text, now=now)
    return sent


def _quoted(text: str) -> str:
    """The organization's words as a quote: what they link to and format is theirs."""
    return "The administrators of this organization say:\n\n" + fenced(text, "quote", least=4)


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
