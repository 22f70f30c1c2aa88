"""What the organization's notification bot says."""

from datetime import datetime

import structlog
from sqlalchemy.orm import Session

from models.chat.errors import ChatError
from models.chat.identity.actors import find_actor
from models.chat.organization.realms import find_notification_bot_id
from models.chat.rendering.quotes import Quotes
from models.chat.rendering.texts import prepare_text
from models.chat.sending.drafts import check_message
from models.chat.sending.messages import send_message
from models.chat.sending.recipients import Destination
from models.database import savepoint

CLIENT = "Internal"


def try_send_notice(
    session: Session,
    realm_id: int,
    destination: Destination,
    *,
    content: str,
    now: datetime,
    topic: str | None = None,
    quotes: Quotes | None = None,
    **about: int,
) -> None:
    """A message of the notification bot about something that happens whether it can be told or not:
    who left in the meantime is not, nor is an archived channel. `about` goes to the log line that
    says so.

    Texts of users in `content` come from models/chat/rendering/quotes.py; `quotes` has made its
    mentions and links.
    """
    log = structlog.get_logger("notices")
    try:
        with savepoint(session):
            bot = find_actor(session, find_notification_bot_id(session, realm_id))
            assert bot is not None
            text = prepare_text(session, bot, content, (quotes or Quotes()).names)
            draft = check_message(session, bot, destination, topic=topic, text=text, client=CLIENT)
            send_message(session, draft, now=now)
    except ChatError as refusal:
        log.info("notice_not_taken", reason=type(refusal).__name__, **about)
    except Exception:
        log.warning("notice_not_sent", exc_info=True, **about)
