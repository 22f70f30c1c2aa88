"""What the organization's notification bot says."""

from datetime import datetime

import structlog
from sqlalchemy.orm import Session

from models.chat.actors import find_actor
from models.chat.drafts import check_message
from models.chat.errors import ChatError
from models.chat.realms import find_notification_bot_id
from models.chat.recipients import Destination, ToUsers
from models.chat.sending import SentMessage, send_message

CLIENT = "Internal"


def send_notice(
    session: Session,
    realm_id: int,
    destination: Destination,
    *,
    content: str,
    now: datetime,
    topic: str | None = None,
) -> SentMessage:
    """A message of the notification bot, in the caller's transaction. Raises as `check_message`."""
    bot = find_actor(session, find_notification_bot_id(session, realm_id))
    assert bot is not None
    draft = check_message(session, bot, destination, topic=topic, content=content, client=CLIENT)
    return send_message(session, draft, now=now)


def try_to_tell(
    session: Session, realm_id: int, user_id: int, *, content: str, now: datetime, **about: int
) -> None:
    """A notice to one person about something that ends whether they can be told or not: who left
    in the meantime is not. `about` goes to the log line that says so.
    """
    log = structlog.get_logger("notices")
    try:
        with session.begin_nested():
            send_notice(session, realm_id, ToUsers([user_id]), content=content, now=now)
    except ChatError as refusal:
        log.info("notice_not_taken", reason=type(refusal).__name__, **about)
    except Exception:
        log.warning("notice_not_sent", exc_info=True, **about)
