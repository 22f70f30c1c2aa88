"""What a mail says: RFC 5322 and MIME, as far as a message can hold it."""

import re
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage

import nh3

from models.chat.incoming_mail.errors import AutomaticMail, UnreadableMail
from models.chat.rendering.sanitising import plain_text

NO_SUBJECT = "Email with no subject"
TEXT_MAX = 9_500
"""Characters: with what stands around it a text fits into a message."""
_REPLY = re.compile(r"^(?:\s*(?:re|fwd?|aw|wg|sv|vs)\s*(?:\[[0-9]+\])?:)+", re.IGNORECASE)
MOST_READ = 256 * 1024
"""Bytes of a mail that are read: texts come first, and attachments are left out anyway."""
MOST_HTML = 100_000
"""Characters of HTML that are read."""
MOST_HEADER = 2_000
"""Characters of one header that are read."""
# Parses as browsers do and leaves well-formed tags: what is searched for afterwards ends.
_READER = nh3.Cleaner(
    tags={"br", "p", "div", "tr", "li", "h1", "h2", "h3", "h4", "h5", "h6"},
    clean_content_tags={"script", "style", "title"},
    attributes={},
)
_LINES = re.compile(r"<br>|</(?:p|div|tr|li|h[1-6])>")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class Mail:
    """`sender`: the From line, one line. `topic`: the subject without `Re:`. `text`: plain."""

    sender: str
    topic: str
    text: str


def read_mail(raw: bytes) -> Mail:
    """Raises `UnreadableMail`, and `AutomaticMail` (RFC 3834) for what nobody wrote."""
    message = message_from_bytes(raw[:MOST_READ], policy=policy.default)
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
    named = (raw for key, raw in message.raw_items() if key.lower() == name.lower())
    raw = str(next(named, ""))[:MOST_HEADER]
    try:
        value = str(message.policy.header_fetch_parse(name, raw))
    except (ValueError, IndexError, AttributeError, RecursionError):  # the parser of headers' own
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
        text = plain_text(_LINES.sub("\n", _READER.clean(text[:MOST_HTML])))
    return text
