"""A mail becomes a message: in the words of who asked for the address, or quoted by a bot."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from models.chat.incoming_mail.addresses import Mailbox
from models.chat.incoming_mail.mails import Mail
from models.chat.rendering.quotes import Quotes, fenced, inert_line
from models.chat.rendering.texts import PreparedText, prepare_text
from models.chat.sending.drafts import check_message
from models.chat.sending.messages import send_message
from models.chat.sending.recipients import ToChannel
from models.reader import Db

CLIENT = "Email"


@dataclass(frozen=True, slots=True)
class Letter:
    """A mail, ready to be sent."""

    topic: str
    text: PreparedText


def prepare_letter(db: Db, mailbox: Mailbox, mail: Mail) -> Letter:
    """Rendered outside any transaction. A bot of the organization quotes what others wrote."""
    sender = mailbox.sender
    if sender.is_system_bot:
        content = f"Mail from {inert_line(mail.sender)}:\n\n{fenced(mail.text, 'quote', least=4)}"
        text = prepare_text(db, sender, content, Quotes().names)
    else:
        text = prepare_text(db, sender, mail.text)
    return Letter(mail.topic, text)


def deliver_letter(session: Session, mailbox: Mailbox, letter: Letter, *, now: datetime) -> int:
    """The new message's id; the mailbox was opened in the same unit. Raises what `check_message`
    raises.
    """
    draft = check_message(
        session,
        mailbox.sender,
        ToChannel(mailbox.channel.id),
        topic=letter.topic,
        text=letter.text,
        client=CLIENT,
    )
    return send_message(session, draft, now=now).id
