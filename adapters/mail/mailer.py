"""What sends mail: one message at a time, to one recipient, acknowledged or not."""

from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Mail:
    """A plain-text mail. `key`: 32 hex digits that make its Message-ID, whoever sends it again."""

    key: str
    sender: str
    to: str
    subject: str
    text: str
    written_at: datetime


class MailNotSent(Exception):
    """The mail has not been taken; trying again later may help. The text never holds a secret."""


class MailRefused(MailNotSent):
    """The mail will never be taken, as it is."""


class Mailer(Protocol):
    """A way out for mail."""

    lease_s: float
    """No call of `send` takes longer."""

    def send(self, mail: Mail) -> None:
        """Returns when the other side has taken the mail on. Raises `MailNotSent`, `MailRefused`.

        Blocks, up to `lease_s`: not for the event loop, and not inside a transaction.
        """


def compose(mail: Mail) -> EmailMessage:
    """The message as it travels. Raises `MailRefused` where no header could hold an address."""
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
