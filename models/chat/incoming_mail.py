"""Mail to channels.

A mail (RFC 5322 and MIME) becomes a message with its text, up to the maximum length, and its
attachments as files. The address identifies the channel, the user who requested the address, and
the sender of the messages. It is derived, not stored: an HMAC under the server's secret and the
nonce of the user's API key. It is valid as long as that key and the user's permission to send to
the channel. The sender is the user, or a bot that quotes the mail.
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
from specd.db import Db


class MailNotReceived(ChatError):
    """The operator has not configured a domain for incoming mail."""

    sentence = "This server does not receive mail."
    advice = "Send messages with `POST /messages`, or ask the operator to set up incoming email."


class MailSenderNotAllowed(ChatError):
    """The sender is neither the caller, nor a bot of the caller, nor the notification bot."""

    sentence = "Invalid sender ID"
    advice = "Send your id or the id of a bot that you own, or omit `sender_id`."


class NoSuchMailbox(RefusedCommand):
    """The address does not belong to a channel, or its user is no longer active."""

    sentence = "No mail is received at this address."


class UnreadableMail(RefusedCommand):
    """The mail has neither text nor attachments."""

    sentence = "The mail contains no text."


class AutomaticMail(RefusedCommand):
    """The mail is an automatic reply."""

    sentence = "Automatic replies are not received."


NO_SUBJECT = "Email with no subject"
TEXT_MAX = 9_500
"""In characters. With the text around it, this fits into a message."""
_REPLY = re.compile(r"^(?:\s*(?:re|fwd?|aw|wg|sv|vs)\s*(?:\[[0-9]+\])?:)+", re.IGNORECASE)
MAX_READ = 256 * 1024
"""Maximum size of the part of a mail, in bytes, that is read for its text."""
MAX_FILES = 20
"""Maximum number of attachments of one mail that are kept."""
MAX_HTML = 100_000
"""In characters of HTML."""
MAX_HEADER = 2_000
"""In characters of one header."""
# Parses like browsers and returns well-formed tags, so that `_LINES` and `_LINK` find their ends.
_READER = nh3.Cleaner(
    tags={"a", "br", "p", "div", "tr", "li", "h1", "h2", "h3", "h4", "h5", "h6"},
    clean_content_tags={"script", "style", "title"},
    attributes={"a": {"href"}},
    url_schemes={"http", "https", "mailto"},
    link_rel=None,
)
_LINES = re.compile(r"<br>|</(?:p|div|tr|li|h[1-6])>")
_LINK = re.compile(r'<a href="([^"]*)">([^<]*)</a>')
_SOFT_BREAK = re.compile(r"^(?!>|-- \n)(.*) \n(?!>|-- \n)", re.MULTILINE)
_STUFFED = re.compile(r"^ ", re.MULTILINE)
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail. `sender` is the From header as one line, `topic` the subject without `Re:`, and
    `text` plain text.
    """

    sender: str
    topic: str
    text: str


@dataclass(frozen=True, slots=True)
class MailFile:
    """An attachment: its name and media type as sent, and its bytes."""

    name: str
    media_type: str
    content: bytes


def read_mail(raw: bytes, *, needs_text: bool = True) -> Mail:
    """Parse a mail. Raise `AutomaticMail` for automatic replies (RFC 3834), and `UnreadableMail`
    for unreadable mail, and for mail without text if `needs_text` is set.
    """
    try:
        message = message_from_bytes(raw[:MAX_READ], policy=policy.default)
        assert isinstance(message, EmailMessage)  # follows from the policy
        text = _text_of(message).replace("\0", "").strip()
    except RecursionError:  # a thousand nested parts
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
    """Return the attachments of a mail in order, including images in its text. Raise
    `UnreadableMail`.
    """
    try:
        message = message_from_bytes(raw, policy=policy.default)
        assert isinstance(message, EmailMessage)  # follows from the policy
        return list(_files_of(message))
    except RecursionError:
        raise UnreadableMail() from None


_OF_TRANSPORT = frozenset(
    ("application/pgp-encrypted", "application/pgp-signature", "application/pkcs7-signature",
     "application/x-pkcs7-signature")
)  # fmt: skip
"""Parts that only mail programs use."""


def _files_of(part: MIMEPart) -> Iterator[MailFile]:
    """Yield the parts that are not texts of the mail."""
    media_type, name = part.get_content_type(), part.get_filename()
    kind, _, form = media_type.partition("/")
    if kind == "multipart":
        for inner in part.iter_parts():
            yield from _files_of(inner)
    elif kind == "message" and isinstance(payload := part.get_payload(), list):
        content = b"".join(each.as_bytes() for each in payload if isinstance(each, Message))
        named = name or ("mail.eml" if form == "rfc822" else f"{form}.txt")
        yield MailFile(named, media_type, content)
    elif media_type not in _OF_TRANSPORT and not _is_text(part):
        payload = part.get_payload(decode=True)
        if isinstance(payload, bytes) and payload:
            yield MailFile(name or f"file{guess_extension(media_type) or ''}", media_type, payload)


def _is_text(part: MIMEPart) -> bool:
    """Return whether a part is shown as text of the mail, and not as a file."""
    is_named = part.get_filename() is not None or part.is_attachment()
    return part.get_content_type() in ("text/plain", "text/html") and not is_named


def _header(message: EmailMessage, name: str) -> str:
    named = (raw for key, raw in message.raw_items() if key.lower() == name.lower())
    raw = str(next(named, ""))[:MAX_HEADER]
    try:
        value = str(message.policy.header_fetch_parse(name, raw))
    except (ValueError, IndexError, AttributeError, RecursionError):  # errors of the header parser
        return ""
    return _CONTROLS.sub(" ", value).strip()


def _text_of(part: MIMEPart) -> str:
    """Return the texts of a part. If there are alternatives, the first that is not blank is used:
    plain text, otherwise HTML converted to Markdown.
    """
    kind = part.get_content_type()
    if kind in ("multipart/alternative", "multipart/related"):
        bodies = map(part.get_body, (("plain",), ("html",)))
        return next(filter(str.strip, map(_written, filter(None, bodies))), "")
    if part.get_content_maintype() == "multipart":
        return "\n".join(filter(str.strip, map(_text_of, part.iter_parts())))
    return _written(part) if _is_text(part) else ""


def _written(part: MIMEPart) -> str:
    text = _content_of(part).replace("\r\n", "\n")
    if part.get_content_type() == "text/html":
        return _from_html(text[:MAX_HTML])
    if str(part.get_param("format", "")).lower() == "flowed":
        return _unflowed(text, "" if str(part.get_param("delsp", "")).lower() == "yes" else " ")
    return text


def _unflowed(text: str, space: str) -> str:
    """Return a text with lines rejoined that the sender's program broke (RFC 3676). Lines of quotes
    are not joined.
    """
    return _STUFFED.sub("", _SOFT_BREAK.sub(rf"\1{space}", text))


def _content_of(part: MIMEPart) -> str:
    try:
        return str(part.get_content())
    except (LookupError, ValueError, KeyError):  # unknown charset or transfer encoding
        payload = part.get_payload(decode=True)
        return payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""


def _from_html(markup: str) -> str:
    """Return the words of HTML, with its links as Markdown."""
    return plain_text(_LINES.sub("\n", _LINK.sub(_named_link, _READER.clean(markup))))


def _named_link(match: re.Match[str]) -> str:
    address, text = unescape(match[1]), " ".join(unescape(match[2]).split())
    if not text or address.removeprefix("mailto:") == text:
        return escape(address.removeprefix("mailto:") if text else "")
    return escape(link(text, quote(address, safe=":/?#@!$&'+,;=%~-._")))


_FACTS = struct.Struct(">III")
_MAC_BYTES = 13  # 104 bits; with the facts 25 bytes, which are 40 characters in base 32
_SLUG_MAX = 20
_NONCE = select(User.api_key_nonce).where(User.id == bindparam("user_id"), User.is_active)


@dataclass(frozen=True, slots=True)
class Mailbox:
    """The destination of mail to an address: the user who requested it, the channel, and the
    sender.
    """

    owner: Actor
    channel: ChannelView
    sender: Actor


def make_address(
    db: Db, keys: KeyMaker, actor: Actor, channel_id: int, sender_id: int | None, *, domain: str
) -> str:
    """Return an address of a channel. If `sender_id` is None, the notification bot sends the
    messages.

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
    """Return the current destination of mail to an address. Raise `NoSuchMailbox`, `RealmMoving`,
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
    """Return whether messages may be sent as the sender: the notification bot, the owner, or a bot
    of the owner.
    """
    if sender.realm_id != owner.realm_id or not sender.is_active:
        return False
    own_bot = sender.is_bot and sender.bot_owner_id == owner.id
    return sender.is_system_bot or sender.id == owner.id or own_bot


CLIENT = "Email"


@dataclass(frozen=True, slots=True)
class Letter:
    """A mail that is ready to be sent."""

    topic: str
    text: PreparedText


def prepare_letter(
    db: Db, mailbox: Mailbox, mail: Mail, *, files: Sequence[NewUpload] = (), left_out: str = ""
) -> Letter:
    """Render a mail, outside a transaction, with links to its files and the text of `left_out`. If
    the notification bot is the sender, the mail is quoted.
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
    are in the store and get the sender as owner. Raise an error of `check_message`.
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
