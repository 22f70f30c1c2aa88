"""Find and check the recipients of a message: a channel or users."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from models.chat.access.channels import (
    ChannelView,
    bot_owner,
    can_send_to_channel,
    find_channel,
    find_visible_channel,
)
from models.chat.access.membership import belongs, find_member_ids
from models.chat.access.naming import find_named, is_self
from models.chat.access.people import UserRow, api_email
from models.chat.identity.actors import Actor
from models.chat.messages.conversations import find_conversation
from models.chat.sending.errors import (
    DirectMessageInitiationNotAllowed,
    DirectMessageNotAllowed,
    DirectMessagesDisabled,
    InvalidRecipientEmail,
    InvalidRecipientId,
    NoRecipients,
    NotAuthorizedToSend,
    RecipientDeactivated,
    StreamDoesNotExist,
    StreamNameDoesNotExist,
    TooManyRecipients,
)
from specd.db import Db

MAX_RECIPIENTS = 1000
"""Maximum number of users in a conversation, in addition to the sender."""


@dataclass(frozen=True, slots=True)
class ToChannel:
    """A channel, by id or by name."""

    channel: int | str


@dataclass(frozen=True, slots=True)
class ToUsers:
    """Users, each by id or by API email. The sender is always included."""

    users: Sequence[int | str]


Destination = ToChannel | ToUsers


def access_channel_to_send(db: Db, sender: Actor, channel: int | str) -> ChannelView:
    """Return the channel if the sender may send to it. A bot may use the channels of its owner.

    Raise `StreamDoesNotExist` or `StreamNameDoesNotExist` (also for a channel that is hidden from
    the sender), and `NotAuthorizedToSend`.
    """
    by: dict[str, Any] = {"channel_id" if isinstance(channel, int) else "name": channel}
    find = find_channel if sender.is_system_bot else find_visible_channel
    writer, view = sender, find(db, sender, **by)
    if view is None and (owner := bot_owner(db, sender)) is not None:
        writer, view = owner, find_visible_channel(db, owner, **by)
    if view is None and isinstance(channel, int):
        raise StreamDoesNotExist(stream_id=channel)
    if view is None:
        raise StreamNameDoesNotExist(stream=str(channel))
    if not can_send_to_channel(db, writer, view):
        raise NotAuthorizedToSend(channel=view.name)
    return view if writer is sender else replace(view, is_subscribed=False)


def access_recipients(db: Db, sender: Actor, users: Sequence[int | str]) -> list[int]:
    """Return the ids of all users in the conversation, including the sender, in ascending order.

    Raise `NoRecipients`, `TooManyRecipients`, `InvalidRecipientId`, `InvalidRecipientEmail`,
    `RecipientDeactivated`, or an error of `check_may_write`.
    """
    if not users:
        raise NoRecipients()
    others = [row for row in _find(db, sender, users) if row.id != sender.id]
    require_active(sender, others)
    check_may_write(db, sender, others)
    return sorted({sender.id, *(row.id for row in others)})


def require_active(sender: Actor, others: Sequence[UserRow]) -> None:
    """Raise `RecipientDeactivated` for the first user with a deactivated account."""
    for row in others:
        if not row.is_active:
            raise RecipientDeactivated(email=api_email(sender, row))


def _find(db: Db, sender: Actor, users: Sequence[int | str]) -> list[UserRow]:
    """Return the rows of the users, without duplicates. A hidden user raises the same error as an
    unknown user.
    """
    if len({user for user in users if not is_self(sender, [user])}) > MAX_RECIPIENTS:
        raise TooManyRecipients(most=MAX_RECIPIENTS)
    rows = find_named(db, sender, users, system_bots=True)
    for user in users:
        if user not in rows:
            raise (
                InvalidRecipientId(user_id=user)
                if isinstance(user, int)
                else InvalidRecipientEmail(email=user)
            )
    return list({row.id: row for row in rows.values()}.values())


def check_may_write(db: Db, sender: Actor, others: Sequence[UserRow]) -> None:
    """Raise an error unless these users may write to each other. Conversations with bots are always
    permitted.
    """
    if sender.is_bot or all(row.bot_type is not None for row in others):
        return
    realm = sender.realm
    group = realm.direct_message_permission_group
    if group != realm.everyone_group_id and not belongs(db, sender, group):
        if group == realm.nobody_group_id:
            raise DirectMessagesDisabled()
        if not {row.id for row in others} & find_member_ids(db, group):
            raise DirectMessageNotAllowed()
    if not belongs(db, sender, realm.direct_message_initiator_group):
        everybody = [sender.id, *(row.id for row in others)]
        if find_conversation(db, realm.id, everybody) is None:
            raise DirectMessageInitiationNotAllowed()
