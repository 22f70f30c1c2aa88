"""What the payment service must leave out after a restore: addresses are never handed out twice."""

from sqlalchemy import update
from sqlalchemy.orm import Session

from models import row_numbers
from models.payment.tables import Event, Wallet
from models.payment.webhooks.tables import WebhookAttempt
from specd.db import table_of


def skip_handed_out(session: Session, *, addresses: int, events: int) -> int:
    """Leave out so many addresses of each wallet, and so many numbers of events. Return the number
    of wallets.
    """
    moved = update(Wallet).values(next_address_index=Wallet.next_address_index + addresses)
    for numbered in (Event, WebhookAttempt):
        row_numbers.reserve(session, table_of(numbered), events)
    return session.connection().execute(moved).rowcount
