"""Invitations end with the API key, and with the account, of the user who sent them."""

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import delete
from sqlalchemy.orm import Session

from models.chat.events import log
from models.chat.events.organization import InvitesChangedEvent
from models.chat.tables import Invitation
from models.dialects import id_in


def purpose_of(digest: str) -> str:
    """What the token of a link is sealed for; of its digest."""
    return f"invitation link:{digest}"


def forget_invitations(
    session: Session, realm_id: int, user_ids: Iterable[int], *, now: datetime
) -> None:
    """Delete the invitations that the users have sent, and tell administrators."""
    gone = delete(Invitation).where(id_in(Invitation.inviter_id, user_ids))
    deleted = session.connection().execute(gone.returning(Invitation.id))
    if deleted.first() is not None:
        log.append(session, realm_id, InvitesChangedEvent(), to_administrators=True, now=now)
