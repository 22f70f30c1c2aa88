"""`specd payment rescan`: schedules a rescan of blocks by the chain watcher."""

from datetime import datetime

import click

from adapters.chain.reader import EndpointsUnavailable
from adapters.chain.rpc_reader import RpcChainReader
from models.payment import rescans
from settings import Settings
from specd.commands import answer, json_option, open_database


@click.command()
@click.argument("invoice", required=False)
@click.option("--chain", "chain_id", type=click.IntRange(1), help="Chain id, with --from-block.")
@click.option("--from-block", type=click.IntRange(0), help="First block to read again.")
@json_option
def rescan(
    invoice: str | None, chain_id: int | None, from_block: int | None, as_json: bool
) -> None:
    """Read blocks of an invoice or a chain again.

    Rereads all blocks of INVOICE, or a chain's blocks from a number on. The running chain watcher
    does this. Payments that were found before are not counted twice.
    """
    settings = Settings.from_env()
    if invoice is not None and chain_id is None and from_block is None:
        with open_database("payment", settings) as database:
            database.run(lambda session: rescans.rescan_invoice(session, invoice))
        answer(
            {"invoices": 1}, as_json=as_json, text=f"The blocks of {invoice} will be read again."
        )
        return
    if invoice is not None or chain_id is None or from_block is None:
        raise click.UsageError("Give an INVOICE, or --chain and --from-block.")
    since = _time_of(settings, chain_id, from_block)
    with open_database("payment", settings) as database:
        sent = database.run(
            lambda session: rescans.rescan_chain(
                session, chain_id, from_block=from_block, since=since
            )
        )
    answer(
        {"invoices": sent},
        as_json=as_json,
        text=f"Blocks from {from_block} on will be read again for {sent} invoices.",
    )


def _time_of(settings: Settings, chain_id: int, number: int) -> datetime:
    """Return the timestamp of a block from the chain. Raise ClickException if that fails."""
    reader = RpcChainReader(
        settings.chain_rpc_urls, chain_id, settings.chain_rpc_timeout_s, lambda: 0
    )
    try:
        reader.head()
        block = reader.block(number)
    except EndpointsUnavailable as error:
        raise click.ClickException(f"The chain cannot be read now: {error}") from None
    finally:
        reader.close()
    if block is None:
        raise click.ClickException(f"Chain {chain_id} has no block {number}.")
    return block.timestamp
