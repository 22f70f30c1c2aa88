"""`specd payment addresses`: lists a project's deposit addresses and their balances."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict
from typing import Any

import click

from adapters.chain.tokens import ChainUnreadable, TokenReader
from models.payment import deposits
from models.payment.addresses import write_derivation_path
from models.payment.deposits import Deposit
from models.payment.money import format_units
from models.payment.projects import access_project
from settings import Settings
from specd.commands import open_database
from specd.db import Database

AT_ONCE = 100
"""The number of addresses per database query."""
ETHER_DECIMALS = 18


@click.command()
@click.option("--project", "project_id", required=True, help="Project id.")
@click.option("--with-balances", is_flag=True, help="Read each balance from the chain.")
@click.option(
    "--from",
    "first",
    type=click.IntRange(0, 2**31 - 1),
    default=0,
    show_default=True,
    help="Index of the first address.",
)
@click.option(
    "--limit",
    type=click.IntRange(1, 100_000),
    default=100,
    show_default=True,
    help="Maximum number of addresses.",
)
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(1, 86_400),
    default=60,
    show_default=True,
    help="Seconds after which the command stops reading addresses.",
)
@click.option("--json", "as_json", is_flag=True, help="Print each address as one line of JSON.")
def addresses(
    project_id: str,
    with_balances: bool,
    first: int,
    limit: int,
    timeout_s: float,
    as_json: bool,
) -> None:
    """List the deposit addresses of a project's invoices.

    Each address is shown with its path in the wallet. DIFFERS marks an address whose balance is not
    the counted amount: it was swept, or the token takes a fee or changes balances.
    """
    settings, ends_at = Settings.from_env(), time.monotonic() + timeout_s
    with open_database("payment", settings) as database, ExitStack() as opened:
        xpub = database.run(lambda session: access_project(session, project_id).xpub)
        balances = _Balances(settings, opened)
        for number, deposit in enumerate(_deposits(database, project_id, first)):
            if number == limit:
                break
            if time.monotonic() > ends_at:
                raise click.ClickException(
                    f"the list took more than {timeout_s:g} s; continue with"
                    f" --from {deposit.address_index}"
                )
            fields = _fields_of(xpub, deposit)
            if with_balances:
                fields |= balances.of(deposit)
            click.echo(json.dumps(fields) if as_json else _line(fields))


def _deposits(database: Database, project_id: str, first: int) -> Iterator[Deposit]:
    with database.reading() as reader:
        end = deposits.find_address_count(reader, project_id=project_id)
    for start in range(first, end, AT_ONCE):
        with database.reading() as reader:
            found = deposits.find_deposits(
                reader, project_id=project_id, first=start, count=min(AT_ONCE, end - start)
            )
        yield from found


class _Balances:
    """Reads balances with one reader per chain. Warns once about each chain without an endpoint."""

    def __init__(self, settings: Settings, opened: ExitStack) -> None:
        self._settings = settings
        self._opened = opened
        self._readers: dict[int, TokenReader | None] = {}

    def of(self, deposit: Deposit) -> dict[str, Any]:
        """Return the balances, None for a chain that is not configured. Raise ClickException if a
        configured chain does not answer.
        """
        reader = self._reader(deposit.chain_id)
        if reader is None:
            return {"balance": None, "native_balance": None, "differs": None}
        try:
            balance = reader.balance(deposit.token_address, deposit.deposit_address)
            native = reader.native_balance(deposit.deposit_address)
        except ChainUnreadable as error:
            raise click.ClickException(
                f"chain {deposit.chain_id} cannot be read ({error}); continue with"
                f" --from {deposit.address_index}"
            ) from None
        return {
            "balance": None if balance is None else str(balance),
            "native_balance": str(native),
            "differs": balance != deposit.counted,
        }

    def _reader(self, chain_id: int) -> TokenReader | None:
        if chain_id not in self._readers:
            reader = TokenReader(
                self._settings.chain_rpc_urls,
                chain_id,
                timeout_s=self._settings.chain_rpc_timeout_s,
            )
            if reader.is_configured:
                self._readers[chain_id] = self._opened.enter_context(reader)
            else:
                self._readers[chain_id] = None
                click.echo(
                    f"Warning: no RPC endpoint of chain {chain_id} is configured"
                    " (SPECD_CHAIN_RPC_URLS), so its balances are unknown.",
                    err=True,
                )
        return self._readers[chain_id]


def _fields_of(xpub: str, deposit: Deposit) -> dict[str, Any]:
    fields = asdict(deposit)
    return fields | {
        "derivation_path": write_derivation_path(xpub, deposit.address_index),
        "counted": str(deposit.counted),
    }


def _line(fields: dict[str, Any]) -> str:
    symbol = fields["token_symbol"]
    words = [
        fields["derivation_path"],
        fields["deposit_address"],
        f"chain {fields['chain_id']}",
        fields["status"],
        f"counted {format_units(int(fields['counted']))} {symbol}",
    ]
    if fields.get("native_balance") is not None:
        if fields["balance"] is None:
            words.append("balance unreadable")
        else:
            words.append(f"holds {format_units(int(fields['balance']))} {symbol}")
        words.append(f"gas {format_units(int(fields['native_balance']), ETHER_DECIMALS)}")
    if fields.get("differs"):
        words.append("DIFFERS")
    return "  ".join(words)
