"""`specd payment create-method`, `list-methods`, `disable-method` and `enable-method`."""

import time
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import click

from adapters.chain.tokens import ChainUnreadable, TokenReader
from models.payment import methods, projects
from models.payment.addresses import derive_deposit_address, parse_token_address
from models.payment.errors import InvalidMethod
from models.payment.methods import MethodRow
from models.payment.projects import access_project
from models.payment.tables import PaymentMethod
from models.payment.tokens import TokenFacts, find_problem
from settings import Settings
from specd.commands import answer, json_option, open_database
from specd.db import Clock

UNCHECKED = "or skip the check of the token with --unchecked"
LOOKED_AT = 20
"""The number of addresses that are checked for earlier use: the gap limit of wallets."""
LONGEST_S = 15.0
"""The time limit of that check."""


@dataclass(frozen=True, slots=True)
class CheckedToken:
    """The symbol of a new method's token, and warnings about it."""

    symbol: str
    warnings: list[str]


@click.command("create-method")
@click.option("--project", "project_id", required=True, help="Project id.")
@click.option("--id", "method_id", required=True, help="Method id: 1-64 of A-Z a-z 0-9 . _ : -")
@click.option("--chain-id", type=int, required=True, help="EIP-155 id of the test chain.")
@click.option("--chain-name", help="Chain name shown to shoppers.  [default: chain <id>]")
@click.option("--token", required=True, help="Token contract address, 0x...")
@click.option("--symbol", help="Token symbol.  [default: the contract's symbol]")
@click.option("--confirmations", type=int, default=2, show_default=True)
@click.option("--unchecked", is_flag=True, help="Do not check the token on the chain.")
@json_option
def create_method(
    project_id: str,
    method_id: str,
    chain_id: int,
    chain_name: str | None,
    token: str,
    symbol: str | None,
    confirmations: int,
    unchecked: bool,
    as_json: bool,
) -> None:
    """Allow a project to accept a token on a test chain.

    The token must have 6 decimals. Main networks are rejected. The command checks the token's code,
    decimals and symbol on the chain.
    """
    if unchecked and symbol is None:
        raise click.UsageError("--unchecked needs --symbol, because nothing is asked")
    settings = Settings.from_env()
    methods.check_chain_id(chain_id)
    address = parse_token_address(token)
    with open_database("payment", settings) as database:
        xpub, first = database.run(
            lambda session: projects.find_next_address(session, project_id=project_id)
        )
        if unchecked:
            checked = CheckedToken(symbol or "", [])
        else:
            with TokenReader(
                settings.chain_rpc_urls, chain_id, timeout_s=settings.chain_rpc_timeout_s
            ) as reader:
                checked = _check(reader, chain_id, address, symbol, xpub=xpub, first=first)
        method = database.run(
            lambda session: methods.create_method(
                session,
                project_id=project_id,
                method_id=method_id,
                chain_id=chain_id,
                chain_name=chain_name,
                token_address=address,
                token_symbol=checked.symbol,
                confirmations_required=confirmations,
                now=Clock().now(),
            )
        )
    for warning in checked.warnings:
        click.echo(f"Warning: {warning}", err=True)
    answer(
        _rendered(method) | {"warnings": checked.warnings},
        as_json=as_json,
        text=f"Method {method.id} created: {method.token_symbol} at {method.token_address}"
        f" on {method.chain_name}.",
    )


def _check(
    reader: TokenReader, chain_id: int, token: str, symbol: str | None, *, xpub: str, first: int
) -> CheckedToken:
    """Check a token on its chain. Raise `InvalidMethod` if the token is unsuitable, and
    ClickException if the chain does not answer.
    """
    if not reader.is_configured:
        if symbol is None:
            raise click.UsageError(
                f"no RPC endpoint of chain {chain_id} is configured; give --symbol"
            )
        warning = (
            f"No RPC endpoint of chain {chain_id} is configured (SPECD_CHAIN_RPC_URLS). The token"
            " was not checked for 6 decimals; `specd doctor` checks it later."
        )
        return CheckedToken(symbol, [warning])
    try:
        facts = reader.facts(token)
    except ChainUnreadable as error:
        raise click.ClickException(
            f"chain {chain_id} cannot be read ({error}); try again, {UNCHECKED}"
        ) from None
    problem = find_problem(facts, symbol=symbol)
    if problem is not None:
        raise InvalidMethod(problem=f"Invoices in {token} would fail: {problem}.")
    symbol = symbol or facts.usable_symbol
    if symbol is None:
        raise click.UsageError(f"{_without_symbol(facts)}; give --symbol")
    warnings = []
    if facts.usable_symbol is None:
        warnings.append(f"{_without_symbol(facts)}; {symbol} is shown to shoppers.")
    used = _find_used(reader, token, symbol, xpub=xpub, first=first)
    return CheckedToken(symbol, warnings + used)


def _find_used(reader: TokenReader, token: str, symbol: str, *, xpub: str, first: int) -> list[str]:
    """Return warnings if some of the next addresses already have a balance of the token, and if not
    all could be checked.
    """
    ends_at = time.monotonic() + LONGEST_S
    used: list[str] = []
    failure = None
    for index in range(first, first + LOOKED_AT):
        if time.monotonic() > ends_at:
            failure = f"the chain took more than {LONGEST_S:g} s"
            break
        address = derive_deposit_address(xpub, index)
        try:
            if reader.balance(token, address):
                used.append(f"0/{index} ({address})")
        except ChainUnreadable as error:
            failure = str(error)
            break
    warnings = []
    if used:
        others = f" and {len(used) - 1} more" if len(used) > 1 else ""
        warnings.append(
            f"Address {used[0]}{others} of the project's xpub already have {symbol}, so the xpub"
            " was used before. Use a separate xpub for each installation."
        )
    if failure:
        warnings.append(f"Not all of the next {LOOKED_AT} addresses were checked: {failure}.")
    return warnings


def _without_symbol(facts: TokenFacts) -> str:
    if facts.symbol is None:
        return "The token does not return its symbol"
    return f"The token's symbol is {facts.shown_symbol}, which is not valid for a method"


@click.command("list-methods")
@click.option("--project", "project_id", required=True, help="Project id.")
@json_option
def list_methods(project_id: str, as_json: bool) -> None:
    """List a project's payment methods, with disabled ones."""
    with open_database("payment", Settings.from_env()) as database:
        database.run(lambda session: access_project(session, project_id))
        with database.reading() as reader:
            found = methods.list_methods(reader, project_id=project_id)
    answer(
        {
            "methods": [
                _rendered(method) | {"disabled_at": _written(method.disabled_at)}
                for method in found
            ]
        },
        as_json=as_json,
        columns=("method", "chain", "token", "address", "confirmations", "disabled"),
        rows=[
            (
                method.id,
                f"{method.chain_name} ({method.chain_id})",
                method.token_symbol,
                method.token_address,
                str(method.confirmations_required),
                _written(method.disabled_at) or "-",
            )
            for method in found
        ],
    )


@click.command("disable-method")
@click.option("--project", "project_id", required=True, help="Project id.")
@click.option("--id", "method_id", required=True, help="Method id.")
@json_option
def disable_method(project_id: str, method_id: str, as_json: bool) -> None:
    """Stop new invoices with a payment method.

    Open invoices are watched and paid as before.
    """
    method = _set_disabled(project_id, method_id, Clock().now())
    answer(
        {"id": method.id, "disabled_at": _written(method.disabled_at)},
        as_json=as_json,
        text=f"Method {method.id} is disabled for new invoices.",
    )


@click.command("enable-method")
@click.option("--project", "project_id", required=True, help="Project id.")
@click.option("--id", "method_id", required=True, help="Method id.")
@json_option
def enable_method(project_id: str, method_id: str, as_json: bool) -> None:
    """Allow new invoices with a disabled payment method."""
    method = _set_disabled(project_id, method_id, None)
    answer(
        {"id": method.id, "disabled_at": None},
        as_json=as_json,
        text=f"Method {method.id} is enabled for new invoices.",
    )


def _set_disabled(project_id: str, method_id: str, at: datetime | None) -> PaymentMethod:
    with open_database("payment", Settings.from_env()) as database:
        return database.run(
            lambda session: methods.set_disabled(
                session, project_id=project_id, method_id=method_id, disabled_at=at
            )
        )


def _rendered(method: PaymentMethod | MethodRow) -> dict[str, Any]:
    return {
        "id": method.id,
        "chain_id": method.chain_id,
        "chain_name": method.chain_name,
        "token_symbol": method.token_symbol,
        "token_address": method.token_address,
        "decimals": method.decimals,
        "confirmations_required": method.confirmations_required,
    }


def _written(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()
