"""The final expiry of unpaid invoices."""

from datetime import datetime

from sqlalchemy import literal, select
from sqlalchemy.orm import Session

from models.payment.lifecycle import UNPAID
from models.payment.settlement import apply_settlement
from models.payment.tables import ChainHead, Invoice
from models.ranges import without_index


def try_expire_some(session: Session, *, now: datetime, limit: int) -> bool:
    """Settle up to `limit` unpaid invoices that have expired by the clock and by the chain's time.
    Return whether there were any.

    The chain's time is the time up to which the watcher has read, so an invoice never expires
    before a payment made in time was read. All blocks of the invoice must have been read a second
    time. An invoice that still catches up is skipped, because the chain's time does not apply to it
    yet.
    """
    rows = session.execute(
        select(Invoice.id, ChainHead.head_number, ChainHead.read_until)
        # There are few heads. An index finds the unpaid invoices of each.
        .join(ChainHead, without_index(ChainHead.chain_id) == Invoice.chain_id)
        .where(
            # A literal, because otherwise neither database uses the partial index.
            Invoice.status == literal(UNPAID, literal_execute=True),
            Invoice.expires_at < ChainHead.read_until,
            Invoice.expires_at < now,
            Invoice.catch_up_block.is_(None),
            Invoice.reread_block.is_(None),
            Invoice.rereads > 0,
        )
        .limit(limit)
        .with_for_update(of=Invoice, skip_locked=True)
    ).all()
    for invoice_id, head_number, read_until in sorted(rows):
        apply_settlement(
            session, invoice_id, head_number=head_number, checkpoint_time=read_until, now=now
        )
    return bool(rows)
