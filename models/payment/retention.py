"""What time ends: unpaid invoices that expire for good, and rows that nobody may ask for any more.

Each function does one small batch in the caller's unit of work and says whether it found any; rows
that somebody else holds are skipped, so that any number of workers share the work.
"""

from datetime import datetime

from sqlalchemy import Delete, and_, delete, exists, literal, select, tuple_
from sqlalchemy.orm import Session

from models.payment.lifecycle import PROCESSING, UNPAID
from models.payment.settlement import apply_settlement
from models.payment.tables import ChainHead, CheckoutSession, IdempotencyKey, Invoice


def try_expire_some(session: Session, *, now: datetime, limit: int) -> bool:
    """Settle up to `limit` unpaid invoices whose time is over for the clock and for the chain.

    The chain's time is that of the watcher's checkpoint, so a payment that was made in time and
    not read yet is never overtaken; an invoice that still catches up has no chain time of its own.
    """
    rows = session.execute(
        select(Invoice.id, ChainHead.head_number, ChainHead.checkpoint_timestamp)
        .join(ChainHead, ChainHead.chain_id == Invoice.chain_id)
        .where(
            # Literal, or neither database uses the partial index.
            Invoice.status == literal(UNPAID, literal_execute=True),
            Invoice.expires_at < ChainHead.checkpoint_timestamp,
            Invoice.expires_at < now,
            Invoice.catch_up_block.is_(None),
        )
        .limit(limit)
        .with_for_update(of=Invoice, skip_locked=True)
    ).all()
    for invoice_id, head_number, checkpoint_time in sorted(rows):
        apply_settlement(
            session,
            invoice_id,
            head_number=head_number,
            checkpoint_time=checkpoint_time,
            now=now,
        )
    return bool(rows)


def try_forget_keys(session: Session, *, used_before: datetime, limit: int) -> bool:
    """Delete idempotency keys older than that, but none whose invoice is still open."""
    is_open = exists().where(
        Invoice.id == IdempotencyKey.invoice_id, Invoice.status.in_([UNPAID, PROCESSING])
    )
    old = (
        select(IdempotencyKey.project_id, IdempotencyKey.key)
        .where(and_(IdempotencyKey.created_at < used_before, ~is_open))
        .order_by(IdempotencyKey.created_at)
        .limit(limit)
        .with_for_update(of=IdempotencyKey, skip_locked=True)
    )
    chosen = tuple_(IdempotencyKey.project_id, IdempotencyKey.key).in_(old)
    return _deleted(session, delete(IdempotencyKey).where(chosen))


def try_forget_sessions(session: Session, *, expired_before: datetime, limit: int) -> bool:
    """Delete checkout sessions that expired before then."""
    old = (
        select(CheckoutSession.id)
        .where(CheckoutSession.expires_at < expired_before)
        .order_by(CheckoutSession.expires_at)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    return _deleted(session, delete(CheckoutSession).where(CheckoutSession.id.in_(old)))


def _deleted(session: Session, statement: Delete) -> bool:
    result = session.execute(
        statement.returning(literal(1)).execution_options(synchronize_session=False)
    )
    return bool(result.all())
