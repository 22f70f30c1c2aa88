"""Commands for the operator: read an invoice's or a chain's blocks again, or forget a chain.

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
    """Schedule a rescan of all blocks of an invoice. Raise `InvoiceDoesNotExist`."""
    if not _send_back(session, update(Invoice).where(Invoice.id == invoice_id.lower()), -1):
        raise InvoiceDoesNotExist()


def rescan_chain(
    session: Session, chain_id: int, *, from_block: int, since: datetime, token: str | None = None
) -> int:
    """Schedule a rescan from `from_block` for all invoices that were monitored at `since`, the time
    of that block. Return the number of these invoices. With `token`, rescan only invoices in that
    token.
    """
    monitored = update(Invoice).where(
        Invoice.chain_id == chain_id, Invoice.monitoring_ends_at >= since
    )
    if token is not None:
        monitored = monitored.where(without_index(Invoice.token_address) == token)
    return _send_back(session, monitored, from_block)


def forget_chain(session: Session, chain_id: int) -> int:
    """Forget the identity and the checkpoint of a chain. Return how many invoices lose payments.

    Every invoice that was monitored at the checkpoint, paid or not, loses its payments. It is then
    read from its creation time on, on the chain that the endpoints serve. Raise `ChainIsUnknown`.
    """
    checkpoint = checkpoints.find_checkpoint(session, chain_id)
    if checkpoint is None or not checkpoints.forget_chain(session, chain_id):
        raise ChainIsUnknown(chain_id=chain_id)
    since = checkpoint.block.timestamp
    dropped = watching.orphan(session, chain_id, above=-1, since=since)
    receivers.send_back_to_start(session, chain_id, since=since)
    return len(dropped)


def _send_back(session: Session, wanted: Update, from_block: int) -> int:
    """Schedule a rescan of invoices from `from_block`, but not from before their first block. The
    rescan uses all endpoints. Meanwhile the invoices are also read together with the others.
    """
    begin = greatest(func.coalesce(Invoice.creation_block + 1, UNREAD), from_block)
    start = case((Invoice.reread_block < begin, Invoice.reread_block), else_=begin)
    rows = session.execute(
        wanted.values(reread_block=start)
        .returning(Invoice.id)
        .execution_options(synchronize_session=False)
    )
    return len(rows.all())
