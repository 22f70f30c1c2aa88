"""`specd payment pay`: pays an invoice on a local test chain."""

from dataclasses import dataclass

import click
from sqlalchemy import select

from adapters.chain.json_rpc import endpoints_for
from demo.chain.testnet import CHAIN_ID, Testnet, TestnetError, TestnetUnreachable
from models.payment.errors import InvoiceDoesNotExist
from models.payment.money import format_units, parse_amount
from models.payment.tables import Invoice
from models.rows import columns_of, read_row
from settings import Settings
from specd.commands import answer, json_option, open_database


@dataclass(frozen=True, slots=True)
class Bill:
    """The columns of an invoice that are needed to pay it. `amount` is in atoms."""

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
    """Pay an invoice with test tokens.

    The funded payer sends them to the deposit address of INVOICE.
    """
    atoms = None if amount is None else parse_amount(amount)
    settings = Settings.from_env()
    bill = _read_bill(settings, invoice_id)
    testnet = _connect(settings, bill.chain_id)
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
                    f"invoice {invoice_id} has already received the full amount; use --amount to"
                    " overpay"
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
    query = select(*columns_of(Bill, Invoice)).where(Invoice.id == invoice_id)
    with open_database("payment", settings) as database, database.reading() as reader:
        bill = read_row(Bill, reader.execute(query))
    if bill is None:
        raise InvoiceDoesNotExist(invoice_id=invoice_id)
    return bill


def _connect(settings: Settings, chain_id: int) -> Testnet:
    """Return the first usable test chain: of the configured endpoints, then of the embedded chain's
    port. For another chain id than the embedded chain's, only endpoints on this machine are used.
    """
    endpoints = endpoints_for(settings.chain_rpc_urls, chain_id)
    if chain_id == CHAIN_ID:
        urls = [endpoint.url for endpoint in endpoints]
        urls.append(f"http://127.0.0.1:{settings.chain_port}")
    else:
        urls = [endpoint.url for endpoint in endpoints if endpoint.is_loopback]
    refusals = []
    for url in urls:
        testnet = Testnet(url, timeout_s=settings.chain_rpc_timeout_s, chain_id=chain_id)
        try:
            testnet.require_local()
            testnet.require_payer()
            return testnet
        except TestnetError as error:
            testnet.close()
            refusals.append(error)
    for refusal in refusals:
        if not isinstance(refusal, TestnetUnreachable):
            raise click.ClickException(str(refusal))
    if chain_id == CHAIN_ID:
        raise click.ClickException("no local test chain responds; start one with `specd chain`")
    raise click.ClickException(
        f"no endpoint of chain {chain_id} on this machine responds (SPECD_CHAIN_RPC_URLS), so"
        " this command cannot pay; pay with a wallet"
    )
