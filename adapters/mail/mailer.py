"""The protocol of mailers: one message at a time, to one recipient, acknowledged or not."""

from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Mail:
    """A plain-text mail. `key`: 32 hex digits of its Message-ID, which stays on a retry."""

    key: str
    sender: str
    to: str
    subject: str
    text: str
    written_at: datetime


class MailNotSent(Exception):
    """The mail was not accepted; a later retry may help. The text never contains a secret."""


class MailRefused(MailNotSent):
    """The mail will never be accepted, as it is."""


class Mailer(Protocol):
    """Sends mail."""

    lease_s: float
    """No call of `send` takes longer."""

    def send(self, mail: Mail) -> None:
        """Return when the other side has accepted the mail. Raise `MailNotSent`, `MailRefused`.

        It blocks up to `lease_s`: call it neither on the event loop nor inside a transaction.
        """


def compose(mail: Mail) -> EmailMessage:
    """Return the message. Raise `MailRefused` where an address or the subject fits no header."""
    message = EmailMessage()
    domain = mail.sender.rpartition("@")[2].rstrip(">") or "localhost"
    try:
        message["From"] = mail.sender
        message["To"] = mail.to
        message["Subject"] = mail.subject
        message["Message-ID"] = f"<{mail.key}@{domain}>"
        message["Date"] = format_datetime(mail.written_at)
        # RFC 3834: no vacation answers to a machine.
        message["Auto-Submitted"] = "auto-generated"
    except ValueError as problem:
        raise MailRefused(f"a header does not hold it: {problem}") from None
    message.set_content(mail.text)
    return message
