"""The operator's means to have an invoice or a chain read again, and to forget a chain.

Reading again is safe: a transfer is identified by its log and block, and counts once.
"""

from datetime import datetime

from sqlalchemy import Update, case, func, update
from sqlalchemy.orm import Session

from models.dialects import greatest
from models.payment import checkpoints, receivers, watching
from models.payment.errors import ChainIsUnknown, InvoiceDoesNotExist
from models.payment.tables import UNREAD, Invoice
from models.ranges import without_index


def rescan_invoice(session: Session, invoice_id: str) -> None:
    """Have all blocks of an invoice read again. Raise `InvoiceDoesNotExist`."""
    if not _send_back(session, update(Invoice).where(Invoice.id == invoice_id.lower()), -1):
        raise InvoiceDoesNotExist()


def rescan_chain(
    session: Session, chain_id: int, *, from_block: int, since: datetime, token: str | None = None
) -> int:
    """Have the blocks from `from_block` on read again for all invoices that were monitored at
    `since`, the time of that block; return how many invoices these are. With `token`, only for
    invoices of that token.
    """
    monitored = update(Invoice).where(
        Invoice.chain_id == chain_id, Invoice.monitoring_ends_at >= since
    )
    if token is not None:
        monitored = monitored.where(without_index(Invoice.token_address) == token)
    return _send_back(session, monitored, from_block)


def forget_chain(session: Session, chain_id: int) -> int:
    """Forget which chain this is and how far it was read; return how many invoices lose payments.

    Open invoices lose the payments that they received, and each is read anew, from its time on, on
    the chain that the endpoints show then. Raise `ChainIsUnknown`.
    """
    checkpoint = checkpoints.find_checkpoint(session, chain_id)
    if checkpoint is None or not checkpoints.forget_chain(session, chain_id):
        raise ChainIsUnknown(chain_id=chain_id)
    since = checkpoint.block.timestamp
    dropped = watching.orphan(session, chain_id, above=-1, since=since)
    receivers.send_back_to_start(session, chain_id, since=since)
    return len(dropped)


def _send_back(session: Session, wanted: Update, from_block: int) -> int:
    """Have invoices read again from `from_block` on, but not from before their first block. They
    are read through all endpoints, and meanwhile together with the others, too.
    """
    begin = greatest(func.coalesce(Invoice.creation_block + 1, UNREAD), from_block)
    start = case((Invoice.reread_block < begin, Invoice.reread_block), else_=begin)
    rows = session.execute(
        wanted.values(reread_block=start)
        .returning(Invoice.id)
        .execution_options(synchronize_session=False)
    )
    return len(rows.all())
