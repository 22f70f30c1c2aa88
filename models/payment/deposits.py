"""The deposit addresses of a project's invoices, and the sum of the payments to each."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from models.payment.addresses import derive_deposit_address
from models.payment.lifecycle import ORPHANED
from models.payment.tables import Invoice, Payment, PaymentMethod, Project, Wallet
from models.rows import columns_of, row_of


@dataclass(frozen=True, slots=True)
class Deposit:
    """One invoice's address. `counted` is the sum in atoms of all payments still on the chain."""

    address_index: int
    deposit_address: str
    invoice_id: str
    external_order_id: str
    status: str
    chain_id: int
    token_address: str
    token_symbol: str
    counted: int


_COLUMNS = (*columns_of(Deposit, Invoice), Invoice.id.label("invoice_id"))


def find_address_count(connection: Connection, *, project_id: str) -> int:
    """Return how many addresses of the project's xpub are used, by all projects that share it."""
    count = select(Wallet.next_address_index).join(Project, Project.xpub == Wallet.xpub)
    return connection.execute(count.where(Project.id == project_id)).scalar_one()


def find_deposits(
    connection: Connection, *, project_id: str, first: int, count: int
) -> Sequence[Deposit]:
    """Return the project's deposits among `count` addresses of its xpub from index `first`, ordered
    by index.

    The addresses are derived and looked up, because an index finds an address of a chain. Addresses
    of other projects with the same xpub are left out.
    """
    xpub = connection.execute(select(Project.xpub).where(Project.id == project_id)).scalar_one()
    chains = select(PaymentMethod.chain_id).where(PaymentMethod.project_id == project_id)
    rows = connection.execute(
        select(*_COLUMNS)
        .where(
            Invoice.chain_id.in_(connection.execute(chains.distinct()).scalars().all()),
            Invoice.deposit_address.in_(
                [derive_deposit_address(xpub, index) for index in range(first, first + count)]
            ),
            Invoice.project_id == project_id,
        )
        .order_by(Invoice.address_index)
    ).all()
    counted = _counted(connection, [row.invoice_id for row in rows])
    return [row_of(Deposit, row, counted=counted[row.invoice_id]) for row in rows]


def _counted(connection: Connection, invoice_ids: Sequence[str]) -> Counter[str]:
    """Return the sums of the invoices with payments. They exceed the integers of SQL."""
    payments = select(Payment.invoice_id, Payment.amount).where(
        Payment.invoice_id.in_(invoice_ids), Payment.status != ORPHANED
    )
    sums: Counter[str] = Counter()
    for invoice_id, amount in connection.execute(payments):
        sums[invoice_id] += amount
    return sums
