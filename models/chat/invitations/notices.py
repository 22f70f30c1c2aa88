"""What the notification bot writes to whoever has invited somebody."""

from datetime import datetime

from sqlalchemy.orm import Session

from models.chat.identity.actors import Actor
from models.chat.rendering.quotes import Quotes
from models.chat.sending.notices import send_direct_notices
from models.chat.tables import User


def notify_inviter(session: Session, inviter: Actor, user: User, *, now: datetime) -> None:
    """The new user has accepted the inviter's invitation."""
    quotes = Quotes()
    who = quotes.user(user.id, user.full_name)
    content = f"{who} has accepted your invitation to join the organization."
    send_direct_notices(
        session, inviter.realm_id, [inviter.id], content=content, quotes=quotes, now=now
    )
