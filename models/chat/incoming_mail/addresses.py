"""Email addresses of channels: each says which channel, who asked for it and who the sender is.

An address is derived, not stored: an HMAC under the server's secret and the nonce of the API key of
who asked for it. It ends with that key, and with the right to send to the channel.
"""

import binascii
import hmac
import re
import struct
from base64 import b32decode, b32encode
from dataclasses import dataclass

from sqlalchemy import bindparam, select

from models.chat.access.channels import ChannelView, access_channel, can_send_to_channel
from models.chat.identity.actors import Actor, find_actor
from models.chat.identity.api_keys import KeyMaker
from models.chat.incoming_mail.errors import MailSenderNotAllowed, NoSuchMailbox
from models.chat.organization.realms import find_notification_bot_id
from models.chat.sending.errors import NotAuthorizedToSend
from models.chat.tables import User
from models.reader import Db

_FACTS = struct.Struct(">III")
_MAC_BYTES = 13  # 104 bits; with the facts 25 bytes, which are 40 signs of base 32
_SLUG_MAX = 20
_NONCE = select(User.api_key_nonce).where(User.id == bindparam("user_id"), User.is_active)


@dataclass(frozen=True, slots=True)
class Mailbox:
    """Where mail to an address goes: who asked for the address, the channel, and the sender."""

    asker: Actor
    channel: ChannelView
    sender: Actor


def make_address(
    db: Db, keys: KeyMaker, actor: Actor, channel_id: int, sender_id: int | None, *, domain: str
) -> str:
    """The address of a channel; None: mail comes from the notification bot.

    Raises `InvalidChannelId`, `NotAuthorizedToSend`, `MailSenderNotAllowed`.
    """
    channel = access_channel(db, actor, channel_id, content=False)
    if not can_send_to_channel(db, actor, channel):
        raise NotAuthorizedToSend(channel=channel.name)
    bot_id = find_notification_bot_id(db, actor.realm_id)
    sender = find_actor(db, bot_id if sender_id is None else sender_id)
    if sender is None or not _may_speak(actor, sender):
        raise MailSenderNotAllowed()
    facts = _FACTS.pack(channel.id, actor.id, sender.id)
    nonce = db.execute(_NONCE, {"user_id": actor.id}).scalar_one()
    token = b32encode(facts + keys.mail_token(nonce, facts)[:_MAC_BYTES]).decode().lower()
    slug = re.sub("[^a-z0-9]+", "-", channel.name.casefold())[:_SLUG_MAX].strip("-")
    return f"{slug or 'channel'}.{token}@{domain}"


def open_mailbox(db: Db, keys: KeyMaker, address: str) -> Mailbox:
    """Where mail to an address goes by now. Raises `NoSuchMailbox`, `NotAuthorizedToSend`."""
    try:
        token = address.partition("@")[0].rpartition(".")[2]
        raw = b32decode(token.upper())
        channel_id, asker_id, sender_id = _FACTS.unpack(raw[: _FACTS.size])
    except (binascii.Error, struct.error, ValueError):
        raise NoSuchMailbox() from None
    facts, mac = raw[: _FACTS.size], raw[_FACTS.size :]
    nonce = db.execute(_NONCE, {"user_id": asker_id}).scalar()
    if nonce is None or not any(
        hmac.compare_digest(made[:_MAC_BYTES], mac) for made in keys.mail_tokens(nonce, facts)
    ):
        raise NoSuchMailbox()
    asker, sender = find_actor(db, asker_id), find_actor(db, sender_id)
    if asker is None or sender is None or asker.realm.is_deactivated:
        raise NoSuchMailbox()
    if not _may_speak(asker, sender):
        raise NoSuchMailbox()
    channel = access_channel(db, asker, channel_id, content=False)
    if not can_send_to_channel(db, asker, channel):
        raise NotAuthorizedToSend(channel=channel.name)
    return Mailbox(asker, channel, sender)


def _may_speak(asker: Actor, sender: Actor) -> bool:
    """Whose messages the asker's mail can be: the organization's bot's, one's own, one's bots'."""
    if sender.realm_id != asker.realm_id or not sender.is_active:
        return False
    own_bot = sender.is_bot and sender.bot_owner_id == asker.id
    return sender.is_system_bot or sender.id == asker.id or own_bot
