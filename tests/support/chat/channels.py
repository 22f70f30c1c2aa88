"""Creates channels directly in the database, for tests of other features."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy.orm import Session

from models.chat.access.group_settings import CHANNEL_GROUPS, CREATOR, store_group_value
from models.chat.common.name_keys import key_of
from models.chat.identity.actors import find_realm
from models.chat.tables import Channel, Subscription, User
from tests.support.chat.app import ChatClient
from tests.support.chat.people import Cast, Member


def make_channel(
    session: Session,
    cast: Cast,
    name: str,
    *,
    subscribers: Iterable[Member] = (),
    **over: object,
) -> int:
    """Create a channel of Acme, public and with default groups unless `over` changes that. Return
    its id.

    A group in `over` is a group value.
    """
    creator = session.get(User, cast.cordelia.id)
    realm = find_realm(session, cast.realm_id)
    assert creator is not None
    assert realm is not None
    now = creator.date_joined
    own = {"direct_members": [creator.id], "direct_subgroups": []}
    groups = {
        setting.name: store_group_value(
            session,
            cast.realm_id,
            setting,
            over.pop(setting.name, own if setting.default == CREATOR else setting.default),  # type: ignore[arg-type]
            now=now,
        )
        for setting in CHANNEL_GROUPS.values()
    }
    channel = Channel(
        realm_id=cast.realm_id,
        name=name,
        name_key=key_of(name),
        creator_id=creator.id,
        date_created=now,
        **groups,
        **over,
    )
    session.add(channel)
    session.flush()
    subscribe(session, channel.id, *subscribers)
    return channel.id


def subscribe(session: Session, channel_id: int, *members: Member) -> None:
    """Subscribe members to a channel, also again."""
    for member in members:
        tie = session.get(Subscription, (channel_id, member.id))
        if tie is not None:
            tie.is_active = True
            continue
        user = session.get(User, member.id)
        assert user is not None
        session.add(
            Subscription(
                channel_id=channel_id,
                user_id=member.id,
                color="#76ce90",
                subscribed_at=user.date_joined,
            )
        )
    session.flush()


def unsubscribe(session: Session, channel_id: int, *members: Member) -> None:
    """Unsubscribe members from a channel. Their copies of messages are kept."""
    for member in members:
        tie = session.get(Subscription, (channel_id, member.id))
        assert tie is not None
        tie.is_active = False
    session.flush()


def open_channel(client: ChatClient, name: str, **form: Any) -> int:
    """Create or join a channel. Return its id."""
    answer = client.post("/users/me/subscriptions", subscriptions=[{"name": name}], **form)
    assert answer["result"] == "success", answer
    stream_id: int = client.get("/get_stream_id", stream=name)["stream_id"]
    return stream_id


def write(client: ChatClient, channel_id: int, topic: str) -> int:
    sent = client.post("/messages", type="channel", to=channel_id, topic=topic, content="Words.")
    assert sent["result"] == "success", sent
    message_id: int = sent["id"]
    return message_id
