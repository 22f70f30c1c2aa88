"""What a mail says: RFC 5322 and MIME, as far as a message can hold it."""

import re
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage

from models.chat.incoming_mail.errors import AutomaticMail, UnreadableMail
from models.chat.rendering.sanitising import plain_text

NO_SUBJECT = "Email with no subject"
TEXT_MAX = 9_500
"""Characters: with what stands around it a text fits into a message."""
_REPLY = re.compile(r"^(?:\s*(?:re|fwd?|aw|wg|sv|vs)\s*(?:\[[0-9]+\])?:)+", re.IGNORECASE)
_UNSEEN = re.compile(r"<(script|style|head|title)\b.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
_LINES = re.compile(r"<(?:br|/p|/div|/tr|/li|/h[1-6])\b[^>]*>", re.IGNORECASE)
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class Mail:
    """`sender`: the From line, one line. `topic`: the subject without `Re:`. `text`: plain."""

    sender: str
    topic: str
    text: str


def read_mail(raw: bytes) -> Mail:
    """Raises `UnreadableMail`, and `AutomaticMail` (RFC 3834) for what nobody wrote."""
    message = message_from_bytes(raw, policy=policy.default)
    assert isinstance(message, EmailMessage)  # what that policy makes
    if _header(message, "Auto-Submitted").partition(";")[0].strip().lower() == "auto-replied":
        raise AutomaticMail()
    text = _text_of(message).replace("\0", "").strip()
    if not text:
        raise UnreadableMail()
    subject = _REPLY.sub("", _header(message, "Subject")).strip()
    if len(text) > TEXT_MAX:
        text = f"{text[:TEXT_MAX]}\n[…]"
    return Mail(_header(message, "From")[:200], subject or NO_SUBJECT, text)


def _header(message: EmailMessage, name: str) -> str:
    try:
        value = str(message.get(name, ""))
    except (ValueError, IndexError, AttributeError):  # what the parser of headers stumbles over
        return ""
    return _CONTROLS.sub(" ", value).strip()


def _text_of(message: EmailMessage) -> str:
    """The first text for people; of HTML the words."""
    body = message.get_body(preferencelist=("plain", "html"))
    if not isinstance(body, EmailMessage):
        return ""
    try:
        text = str(body.get_content())
    except (LookupError, ValueError, KeyError):  # an unknown charset or transfer encoding
        payload = body.get_payload(decode=True)
        text = payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""
    text = text.replace("\r\n", "\n")
    if body.get_content_type() == "text/html":
        text = plain_text(_LINES.sub("\n", _UNSEEN.sub("", text)))
    return text
