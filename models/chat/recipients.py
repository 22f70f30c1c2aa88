"""Whom a message goes to: a channel, or some users directly; found and checked for its sender."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from models.chat.actors import Actor, Reader
from models.chat.conversations import find_conversation
from models.chat.errors.sending import (
    DirectMessageInitiationNotAllowed,
    DirectMessageNotAllowed,
    DirectMessagesDisabled,
    InvalidRecipientEmail,
    InvalidRecipientId,
    NoRecipients,
    NotAuthorizedToSend,
    RecipientDeactivated,
    RecipientsNotAccessible,
    StreamDoesNotExist,
    StreamNameDoesNotExist,
)
from models.chat.membership import belongs, find_member_ids
from models.chat.permissions import ChannelView, can_send_to_channel, find_channel
from models.chat.tables import User
from models.chat.users import DUMMY_EMAIL, find_users, sees_everybody, visible_email

MOST_RECIPIENTS = 1000


@dataclass(frozen=True, slots=True)
class ToChannel:
    """A channel, by its id or by its name."""

    channel: int | str


@dataclass(frozen=True, slots=True)
class ToUsers:
    """Users, each by id or by API email. The sender is always one of them, named or not."""

    users: Sequence[int | str]


Destination = ToChannel | ToUsers


def access_channel_to_send(reader: Reader, sender: Actor, channel: int | str) -> ChannelView:
    """The channel, if the sender may send there.

    Raises `StreamDoesNotExist`, `StreamNameDoesNotExist`, `NotAuthorizedToSend`.
    """
    if isinstance(channel, int):
        found = find_channel(reader, sender, channel_id=channel)
        if found is None:
            raise StreamDoesNotExist(stream_id=channel)
    else:
        found = find_channel(reader, sender, name=channel)
        if found is None:
            raise StreamNameDoesNotExist(stream=channel)
    if not can_send_to_channel(reader, sender, found):
        raise NotAuthorizedToSend(channel=found.name)
    return found


def access_recipients(reader: Reader, sender: Actor, users: Sequence[int | str]) -> list[int]:
    """Ids of everybody in the conversation, the sender included, ascending.

    Raises `NoRecipients`, `InvalidRecipientId`, `InvalidRecipientEmail`, `RecipientDeactivated`,
    `RecipientsNotAccessible` and what `check_may_write` raises.
    """
    if not users:
        raise NoRecipients()
    rows = _find(reader, sender, users)
    others = [row for row in rows if row.id != sender.id]
    for row in others:
        if not row.is_active:
            raise RecipientDeactivated(email=visible_email(sender, row) or _dummy(sender, row.id))
    if others and not sees_everybody(reader, sender):
        known = {row.id for row in find_users(reader, sender, [row.id for row in others])}
        if {row.id for row in others} - known:
            raise RecipientsNotAccessible()
    check_may_write(reader, sender, others)
    return sorted({sender.id, *(row.id for row in others)})


def _dummy(sender: Actor, user_id: int) -> str:
    return f"user{user_id}@{sender.realm.host}"


def _find(reader: Reader, sender: Actor, users: Sequence[int | str]) -> list[Any]:
    """Rows of the users named; each that is nobody of the realm is refused, the first one first."""
    ids: dict[int | str, int] = {}
    keys: dict[int | str, str] = {}
    for user in users[:MOST_RECIPIENTS]:
        if isinstance(user, int):
            ids[user] = user
            continue
        email = user.strip().casefold()
        dummy = DUMMY_EMAIL.fullmatch(email)
        if dummy is not None and dummy[2] == sender.realm.host:
            ids[user] = int(dummy[1])
        else:
            keys[user] = email
    wanted = select(
        User.id,
        User.bot_type,
        User.delivery_email,
        User.email_key,
        User.email_address_visibility,
        User.is_active,
    ).where(
        User.realm_id == sender.realm_id,
        User.id.in_(ids.values()) | User.email_key.in_(keys.values()),
    )
    rows = list(reader.execute(wanted))
    known_ids = {row.id for row in rows}
    # A real address works only for who may see it, as in every other operation.
    known_keys = {row.email_key for row in rows if visible_email(sender, row) is not None}
    for user in users[:MOST_RECIPIENTS]:
        if user in ids and ids[user] not in known_ids:
            raise (
                InvalidRecipientId(user_id=user)
                if isinstance(user, int)
                else InvalidRecipientEmail(email=user)
            )
        if user in keys and keys[user] not in known_keys:
            raise InvalidRecipientEmail(email=user)
    return rows


def check_may_write(reader: Reader, sender: Actor, others: Sequence[Any]) -> None:
    """Raises unless the organization lets these users write to each other. Bots always may."""
    if sender.is_bot or all(row.bot_type is not None for row in others):
        return
    realm = sender.realm
    group = realm.direct_message_permission_group
    if group != realm.everyone_group_id and not belongs(reader, sender, group):
        if group == realm.nobody_group_id:
            raise DirectMessagesDisabled()
        if not {row.id for row in others} & find_member_ids(reader, group):
            raise DirectMessageNotAllowed()
    if not belongs(reader, sender, realm.direct_message_initiator_group):
        everybody = [sender.id, *(row.id for row in others)]
        if find_conversation(reader, realm.id, everybody) is None:
            raise DirectMessageInitiationNotAllowed()
