"""`specd payment pay`: pays an invoice on the local test chain."""

from dataclasses import dataclass

import click
from sqlalchemy import select

from adapters.chain.json_rpc import endpoints_for
from cli.databases import open_database
from cli.output import answer, json_option
from demo.chain.testnet import CHAIN_ID, Testnet, TestnetError, TestnetUnreachable
from models.payment.errors import InvoiceDoesNotExist
from models.payment.money import format_units, parse_amount
from models.payment.tables import Invoice
from settings import Settings


@dataclass(frozen=True, slots=True)
class Bill:
    """What a customer needs to know of an invoice; `amount` in atoms."""

    amount: int
    chain_id: int
    token_address: str
    token_symbol: str
    deposit_address: str


@click.command()
@click.argument("invoice_id", metavar="INVOICE")
@click.option("--amount", help="Token units, such as 1.5.  [default: the amount still due]")
@json_option
def pay(invoice_id: str, amount: str | None, as_json: bool) -> None:
    """Send test tokens from the funded payer to the deposit address of INVOICE."""
    atoms = None if amount is None else parse_amount(amount)
    settings = Settings.from_env()
    bill = _read_bill(settings, invoice_id)
    if bill.chain_id != CHAIN_ID:
        raise click.ClickException(
            f"invoice {invoice_id} is on chain {bill.chain_id}; only the local test chain"
            f" {CHAIN_ID} has a payer here, so pay it with a wallet of your own"
        )
    testnet = _connect(settings)
    try:
        if not testnet.has_code(bill.token_address):
            raise click.ClickException(
                f"there is no token at {bill.token_address} on this chain; start it with"
                " `specd chain`, which deploys one"
            )
        if atoms is None:
            arrived = testnet.balance(bill.deposit_address, token=bill.token_address)
            atoms = bill.amount - arrived
            if atoms <= 0:
                raise click.ClickException(
                    f"invoice {invoice_id} has received its whole amount; to overpay, say how much"
                    " with --amount"
                )
        tx_hash = testnet.pay(bill.deposit_address, atoms, token=bill.token_address)
    except TestnetError as error:
        raise click.ClickException(str(error)) from None
    finally:
        testnet.close()
    answer(
        {
            "tx_hash": tx_hash,
            "invoice_id": invoice_id,
            "amount": str(atoms),
            "chain_id": bill.chain_id,
            "token_address": bill.token_address,
            "deposit_address": bill.deposit_address,
        },
        as_json=as_json,
        text=(
            f"Sent {format_units(atoms)} {bill.token_symbol} to {bill.deposit_address}.\n{tx_hash}"
        ),
    )


def _read_bill(settings: Settings, invoice_id: str) -> Bill:
    found = select(
        Invoice.amount,
        Invoice.chain_id,
        Invoice.token_address,
        Invoice.token_symbol,
        Invoice.deposit_address,
    ).where(Invoice.id == invoice_id)
    with open_database("payment", settings) as database, database.reading() as reader:
        row = reader.execute(found).one_or_none()
    if row is None:
        raise InvoiceDoesNotExist(invoice_id=invoice_id)
    return Bill(*row)


def _connect(settings: Settings) -> Testnet:
    """The first local chain that answers: configured endpoints, then the embedded chain's port."""
    urls = [endpoint.url for endpoint in endpoints_for(settings.chain_rpc_urls, CHAIN_ID)]
    refusals = []
    for url in [*urls, f"http://127.0.0.1:{settings.chain_port}"]:
        testnet = Testnet(url, timeout_s=settings.chain_rpc_timeout_s)
        try:
            testnet.require_local()
            return testnet
        except TestnetError as error:
            testnet.close()
            refusals.append(error)
    if all(isinstance(error, TestnetUnreachable) for error in refusals):
        raise click.ClickException("no local test chain answers; start one with `specd chain`")
    raise click.ClickException(
        str(next(error for error in refusals if not isinstance(error, TestnetUnreachable)))
    )
