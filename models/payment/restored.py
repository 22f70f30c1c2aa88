"""After a restore: skip addresses and ids that may have been used after the backup."""

from sqlalchemy import update
from sqlalchemy.orm import Session

from models import row_numbers
from models.payment.tables import Event, Wallet
from models.payment.webhooks.tables import WebhookAttempt
from specd.db import table_of


def skip_handed_out(session: Session, *, addresses: int, events: int) -> int:
    """Skip `addresses` addresses of each wallet and `events` ids of events and webhook attempts.
    Return the number of wallets.
    """
    moved = update(Wallet).values(next_address_index=Wallet.next_address_index + addresses)
    for numbered in (Event, WebhookAttempt):
        row_numbers.reserve(session, table_of(numbered), events)
    return session.connection().execute(moved).rowcount
