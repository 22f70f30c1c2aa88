"""Mail that becomes messages of channels.

A mail is read (RFC 5322 and MIME): its text up to the length of a message, and its attachments,
which become files that the message shows. An address names the channel, the
user who requested the address, and the sender of the messages. It is derived, not stored: an HMAC
under the server's secret and the nonce of the user's API key. It is valid as long as that key and
the user's right to send to the channel. The sender is the user, or a bot that quotes the mail.
"""

import binascii
import hmac
import re
import struct
from base64 import b32decode, b32encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from email import message_from_bytes, policy
from email.message import EmailMessage, Message, MIMEPart
from html import escape, unescape
from mimetypes import guess_extension
from urllib.parse import quote

import nh3
from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from models.chat.access.channels import ChannelView, access_channel, can_send_to_channel
from models.chat.errors import ChatError, RefusedCommand
from models.chat.identity.actors import Actor, find_actor
from models.chat.identity.api_keys import KeyMaker
from models.chat.organization.realms import find_notification_bot_id
from models.chat.rendering.quotes import Quotes, fenced, inert_line, link
from models.chat.rendering.sanitising import plain_text
from models.chat.rendering.texts import PreparedText, prepare_text
from models.chat.sending.drafts import check_message
from models.chat.sending.errors import NotAuthorizedToSend
from models.chat.sending.messages import send_message
from models.chat.sending.recipients import ToChannel
from models.chat.tables import User
from models.chat.uploads.attachments import NewUpload, add_upload
from models.chat.uploads.names import path_id_of
from models.reader import Db


class MailNotReceived(ChatError):
    """The operator has set up no domain for incoming mail."""

    sentence = "This server does not receive mail."
    advice = "Send messages with `POST /messages`, or ask the operator to set up incoming mail."


class MailSenderNotAllowed(ChatError):
    """The sender is neither the caller, nor a bot of the caller, nor the notification bot."""

    sentence = "Invalid sender ID"
    advice = "Send your own id or a bot's that you own, or leave out `sender_id`."


class NoSuchMailbox(RefusedCommand):
    """The address belongs to no channel, or to nobody any more."""

    sentence = "No mail is received at this address."


class UnreadableMail(RefusedCommand):
    """The mail has neither text nor attachments."""

    sentence = "The mail contains no text."


class AutomaticMail(RefusedCommand):
    """The mail answers another one by itself."""

    sentence = "Automatic replies are not received."


NO_SUBJECT = "Email with no subject"
TEXT_MAX = 9_500
"""In characters; with the text around it this fits into a message."""
_REPLY = re.compile(r"^(?:\s*(?:re|fwd?|aw|wg|sv|vs)\s*(?:\[[0-9]+\])?:)+", re.IGNORECASE)
MOST_READ = 256 * 1024
"""In bytes of a mail, for its text, which comes first."""
MOST_FILES = 20
"""Attachments of one mail that are kept."""
MOST_HTML = 100_000
"""In characters of HTML."""
MOST_HEADER = 2_000
"""In characters of one header."""
# Parses as browsers do and leaves well-formed tags, so that `_LINES` and `_LINK` find their ends.
_READER = nh3.Cleaner(
    tags={"a", "br", "p", "div", "tr", "li", "h1", "h2", "h3", "h4", "h5", "h6"},
    clean_content_tags={"script", "style", "title"},
    attributes={"a": {"href"}},
    url_schemes={"http", "https", "mailto"},
    link_rel=None,
)
_LINES = re.compile(r"<br>|</(?:p|div|tr|li|h[1-6])>")
_LINK = re.compile(r'<a href="([^"]*)">([^<]*)</a>')
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class Mail:
    """`sender`: the From line, one line. `topic`: the subject without `Re:`. `text`: plain."""

    sender: str
    topic: str
    text: str


@dataclass(frozen=True, slots=True)
class MailFile:
    """An attachment: its name and its media type as the sender wrote them, and its bytes."""

    name: str
    media_type: str
    content: bytes


def read_mail(raw: bytes, *, needs_text: bool = True) -> Mail:
    """Parse a mail. Raise `UnreadableMail`, for a mail without text only if it needs one, and
    `AutomaticMail` (RFC 3834) for automatic replies.
    """
    try:
        message = message_from_bytes(raw[:MOST_READ], policy=policy.default)
        assert isinstance(message, EmailMessage)  # what that policy makes
        text = _text_of(message).replace("\0", "").strip()
    except RecursionError:  # a thousand parts, each inside another
        raise UnreadableMail() from None
    if _header(message, "Auto-Submitted").partition(";")[0].strip().lower() == "auto-replied":
        raise AutomaticMail()
    if not text and needs_text:
        raise UnreadableMail()
    subject = _REPLY.sub("", _header(message, "Subject")).strip()
    if len(text) > TEXT_MAX:
        text = f"{text[:TEXT_MAX]}\n[…]"
    return Mail(_header(message, "From")[:200], subject or NO_SUBJECT, text)


def read_files(raw: bytes) -> list[MailFile]:
    """Return the attachments of a mail in their order, pictures in its text included. Raise
    `UnreadableMail`.
    """
    try:
        message = message_from_bytes(raw, policy=policy.default)
        assert isinstance(message, EmailMessage)  # what that policy makes
        return list(_files_of(message, message.get_body(preferencelist=("plain", "html"))))
    except RecursionError:
        raise UnreadableMail() from None


_SIGNATURES = frozenset(
    ("application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature")
)


def _files_of(part: MIMEPart, body: MIMEPart | None) -> Iterator[MailFile]:
    """Yield the files in a part. `body` is the text of the mail, which is none."""
    media_type, kind, name = (
        part.get_content_type(),
        part.get_content_maintype(),
        part.get_filename(),
    )
    if part is body or media_type in _SIGNATURES:
        return
    if kind == "multipart":
        for inner in part.iter_parts():
            yield from _files_of(inner, body)
    elif kind == "message":
        forwarded = part.get_payload()
        if isinstance(forwarded, list):
            content = b"".join(each.as_bytes() for each in forwarded if isinstance(each, Message))
            yield MailFile(name or "mail.eml", "message/rfc822", content)
    elif name is not None or kind != "text":
        payload = part.get_payload(decode=True)
        if isinstance(payload, bytes) and payload:
            yield MailFile(name or f"file{guess_extension(media_type) or ''}", media_type, payload)


def _header(message: EmailMessage, name: str) -> str:
    named = (raw for key, raw in message.raw_items() if key.lower() == name.lower())
    raw = str(next(named, ""))[:MOST_HEADER]
    try:
        value = str(message.policy.header_fetch_parse(name, raw))
    except (ValueError, IndexError, AttributeError, RecursionError):  # the parser of headers' own
        return ""
    return _CONTROLS.sub(" ", value).strip()


def _text_of(message: EmailMessage) -> str:
    """Return the first text that is not blank: plain text, otherwise HTML as Markdown."""
    for kind in ("plain", "html"):
        body = message.get_body(preferencelist=(kind,))
        if isinstance(body, EmailMessage):
            text = _content_of(body).replace("\r\n", "\n")
            if kind == "html":
                text = _from_html(text[:MOST_HTML])
            if text.strip():
                return text
    return ""


def _content_of(body: EmailMessage) -> str:
    try:
        return str(body.get_content())
    except (LookupError, ValueError, KeyError):  # an unknown charset or transfer encoding
        payload = body.get_payload(decode=True)
        return payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""


def _from_html(markup: str) -> str:
    """Return the words of HTML, with its links in Markdown."""
    return plain_text(_LINES.sub("\n", _LINK.sub(_named_link, _READER.clean(markup))))


def _named_link(match: re.Match[str]) -> str:
    address, text = unescape(match[1]), " ".join(unescape(match[2]).split())
    if not text or address.removeprefix("mailto:") == text:
        return escape(address.removeprefix("mailto:") if text else "")
    return escape(link(text, quote(address, safe=":/?#@!$&'+,;=%~-._")))


_FACTS = struct.Struct(">III")
_MAC_BYTES = 13  # 104 bits; with the facts 25 bytes, which are 40 signs of base 32
_SLUG_MAX = 20
_NONCE = select(User.api_key_nonce).where(User.id == bindparam("user_id"), User.is_active)


@dataclass(frozen=True, slots=True)
class Mailbox:
    """Where mail to an address goes: the user who requested it, the channel, and the sender."""

    owner: Actor
    channel: ChannelView
    sender: Actor


def make_address(
    db: Db, keys: KeyMaker, actor: Actor, channel_id: int, sender_id: int | None, *, domain: str
) -> str:
    """Return an address of a channel. `sender_id` None: the notification bot sends the messages.

    Raise `InvalidChannelId`, `NotAuthorizedToSend`, `MailSenderNotAllowed`.
    """
    channel = access_channel(db, actor, channel_id, content=False)
    if not can_send_to_channel(db, actor, channel):
        raise NotAuthorizedToSend(channel=channel.name)
    bot_id = find_notification_bot_id(db, actor.realm_id)
    sender = find_actor(db, bot_id if sender_id is None else sender_id)
    if sender is None or not _may_send_as(actor, sender):
        raise MailSenderNotAllowed()
    facts = _FACTS.pack(channel.id, actor.id, sender.id)
    nonce = db.execute(_NONCE, {"user_id": actor.id}).scalar_one()
    token = b32encode(facts + keys.mail_tokens(nonce, facts)[0][:_MAC_BYTES]).decode().lower()
    slug = re.sub("[^a-z0-9]+", "-", channel.name.casefold())[:_SLUG_MAX].strip("-")
    return f"{slug or 'channel'}.{token}@{domain}"


def open_mailbox(db: Db, keys: KeyMaker, address: str) -> Mailbox:
    """Return where mail to an address goes now. Raise `NoSuchMailbox`, `RealmMoving`,
    `NotAuthorizedToSend`.
    """
    try:
        token = address.partition("@")[0].rpartition(".")[2]
        raw = b32decode(token.upper())
        channel_id, owner_id, sender_id = _FACTS.unpack(raw[: _FACTS.size])
    except (binascii.Error, struct.error, ValueError):
        raise NoSuchMailbox() from None
    facts, mac = raw[: _FACTS.size], raw[_FACTS.size :]
    nonce = db.execute(_NONCE, {"user_id": owner_id}).scalar()
    if nonce is None or not any(
        hmac.compare_digest(made[:_MAC_BYTES], mac) for made in keys.mail_tokens(nonce, facts)
    ):
        raise NoSuchMailbox()
    owner, sender = find_actor(db, owner_id), find_actor(db, sender_id)
    if owner is None or sender is None or owner.realm.is_deactivated:
        raise NoSuchMailbox()
    owner.realm.require_running()
    if not _may_send_as(owner, sender):
        raise NoSuchMailbox()
    channel = access_channel(db, owner, channel_id, content=False)
    if not can_send_to_channel(db, owner, channel):
        raise NotAuthorizedToSend(channel=channel.name)
    return Mailbox(owner, channel, sender)


def _may_send_as(owner: Actor, sender: Actor) -> bool:
    """Return whether mail may be sent as the sender: the notification bot, the owner, or a bot that
    the owner owns.
    """
    if sender.realm_id != owner.realm_id or not sender.is_active:
        return False
    own_bot = sender.is_bot and sender.bot_owner_id == owner.id
    return sender.is_system_bot or sender.id == owner.id or own_bot


CLIENT = "Email"


@dataclass(frozen=True, slots=True)
class Letter:
    """A mail, ready to be sent."""

    topic: str
    text: PreparedText


def prepare_letter(
    db: Db, mailbox: Mailbox, mail: Mail, *, files: Sequence[NewUpload] = (), left_out: str = ""
) -> Letter:
    """Render a mail, outside any transaction, with links to its files, and say what is left out.
    The notification bot quotes it.
    """
    sender = mailbox.sender
    links = [
        link(file.name, f"/user_uploads/{path_id_of(sender.realm_id, file.handle, file.path_name)}")
        for file in files
    ]
    after = "\n".join([*links, *([inert_line(left_out)] if left_out else [])])
    most = max(TEXT_MAX - len(after), 0)
    shown = mail.text if len(mail.text) <= most else f"{mail.text[:most]}\n[…]"
    if sender.is_system_bot:
        quoted = fenced(shown, "quote", least=4) if shown else ""
        content = f"Mail from {inert_line(mail.sender)}:\n\n{quoted}\n\n{after}"
        text = prepare_text(db, sender, content, Quotes().names)
    else:
        text = prepare_text(db, sender, f"{shown}\n\n{after}")
    return Letter(mail.topic, text)


def deliver_letter(
    session: Session,
    mailbox: Mailbox,
    letter: Letter,
    *,
    now: datetime,
    files: Sequence[NewUpload] = (),
) -> int:
    """Send a message to a mailbox that was opened in the same unit, and return its id. The files
    are in the store and become the sender's. Raise what `check_message` raises.
    """
    for file in files:
        add_upload(session, mailbox.sender, file, now=now)
    draft = check_message(
        session,
        mailbox.sender,
        ToChannel(mailbox.channel.id),
        topic=letter.topic,
        text=letter.text,
        client=CLIENT,
    )
    return send_message(session, draft, now=now).id
