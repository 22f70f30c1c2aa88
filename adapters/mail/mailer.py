"""The protocol of mailers: each call sends one mail to one recipient."""

from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Mail:
    """A plain-text mail. `key`: the 32 hex digits of its Message-ID, unchanged on a retry."""

    key: str
    sender: str
    to: str
    subject: str
    text: str
    written_at: datetime


class MailNotSent(Exception):
    """The mail was not accepted, but a later retry may succeed. The message contains no secrets."""


class MailRefused(MailNotSent):
    """The mail was rejected permanently; a retry is useless."""


class Mailer(Protocol):
    lease_s: float
    """The maximum duration of a call of `send`, in seconds."""

    def send(self, mail: Mail) -> None:
        """Send the mail and wait until it is accepted. Raise `MailNotSent` and `MailRefused`.

        It blocks for up to `lease_s`: do not call it on an event loop or in a transaction.
        """


def compose(mail: Mail) -> EmailMessage:
    """Build the message. Raise `MailRefused` if an address or the subject cannot be a header."""
    message = EmailMessage()
    domain = mail.sender.rpartition("@")[2].rstrip(">") or "localhost"
    try:
        message["From"] = mail.sender
        message["To"] = mail.to
        message["Subject"] = mail.subject
        message["Message-ID"] = f"<{mail.key}@{domain}>"
        message["Date"] = format_datetime(mail.written_at)
        # RFC 3834: prevents automatic replies such as vacation notices.
        message["Auto-Submitted"] = "auto-generated"
    except ValueError as problem:
        raise MailRefused(f"a header does not hold it: {problem}") from None
    message.set_content(mail.text)
    return message
