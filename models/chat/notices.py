"""What the organization's notification bot says."""

from datetime import datetime

from sqlalchemy.orm import Session

from models.chat.actors import find_actor
from models.chat.drafts import check_message
from models.chat.realms import find_notification_bot_id
from models.chat.recipients import Destination
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
