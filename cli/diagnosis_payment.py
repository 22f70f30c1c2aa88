"""The checks of `specd doctor` for payments: read-only checks of chain endpoints and of the tokens
of payment methods.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import groupby

import click

from adapters.chain.json_rpc import (
    Endpoint,
    EndpointFailed,
    RpcError,
    call,
    parse_endpoints,
    parse_quantity,
    sync_client,
)
from adapters.chain.tokens import ChainUnreadable, TokenReader
from models.payment.methods import MAIN_NETS, EnabledMethod, find_enabled
from models.payment.tokens import TokenFacts, find_problem
from settings import Settings
from specd.commands import Finding, open_database
from specd.errors import DatabaseUnavailable
from workers.chain_watcher import DEVELOPMENT_CHAINS

NAME = "payment methods"
LONGEST_S = 60.0
SLOW_S = 1.0
CLOCK_TOLERANCE_S = 15.0
BEHIND_S = 3600.0
BEHIND_OF_DEVELOPMENT_S = 24 * 3600.0
"""The maximum age of the newest block. Development chains may pause mining for a while."""


def diagnose(settings: Settings) -> Iterator[Finding]:
    yield from diagnose_chains(settings)
    yield from diagnose_methods(settings)


def diagnose_chains(settings: Settings) -> Iterator[Finding]:
    """Check each RPC endpoint: response, chain, latency and age of the latest block."""
    if not settings.chain_rpc_urls:
        yield Finding(
            "chain", "warning", "no endpoint: set SPECD_CHAIN_RPC_URLS to accept payments"
        )
    for served, endpoint in parse_endpoints(settings.chain_rpc_urls):
        yield _endpoint(endpoint, served, settings.chain_rpc_timeout_s)


def _endpoint(endpoint: Endpoint, served: int | None, timeout_s: float) -> Finding:
    name = str(endpoint)
    try:
        with sync_client(endpoint) as client:
            began = time.monotonic()
            reported = call(client, endpoint, "eth_chainId", [], timeout_s=timeout_s)
            took = time.monotonic() - began
            latest = ["latest", False]
            head = call(client, endpoint, "eth_getBlockByNumber", latest, timeout_s=timeout_s)
        chain_id = parse_quantity(reported)
        number, stamp = parse_quantity(head["number"]), parse_quantity(head["timestamp"])
    except EndpointFailed as error:
        return Finding(name, "broken", str(error))
    except RpcError as error:
        return Finding(name, "broken", f"responded with {error}")
    except (TypeError, KeyError):
        return Finding(name, "broken", "has no latest block")
    if chain_id in MAIN_NETS:
        return Finding(name, "broken", f"serves main network {chain_id}; only test chains are used")
    if served is not None and chain_id != served:
        return Finding(name, "broken", f"serves chain {chain_id}, but is listed for {served}")
    detail = f"chain {chain_id}, block {number}, answered in {took * 1000:.0f} ms"
    ahead = stamp - time.time()
    if ahead > CLOCK_TOLERANCE_S:
        return Finding(
            name, "warning", f"{detail}, block time {ahead:.0f} s ahead of this machine's clock"
        )
    if -ahead > (BEHIND_OF_DEVELOPMENT_S if chain_id in DEVELOPMENT_CHAINS else BEHIND_S):
        hours = -ahead / 3600
        fix = f"{detail}, block time {hours:.1f} h behind this clock; invoices expire by block time"
        return Finding(name, "warning", fix)
    if took > SLOW_S:
        return Finding(name, "warning", f"{detail}, which is slow")
    return Finding(name, "ok", detail)


def diagnose_methods(settings: Settings) -> Iterator[Finding]:
    """Check the token of every enabled method on its chain. Each token is read once."""
    fitting, unread = 0, 0
    ends_at = time.monotonic() + LONGEST_S
    for chain_id, group in groupby(_find(settings), key=lambda method: method.chain_id):
        methods = list(group)
        with TokenReader(
            settings.chain_rpc_urls, chain_id, timeout_s=settings.chain_rpc_timeout_s
        ) as reader:
            if not reader.is_configured:
                problem = f"{_count(methods)} of chain {chain_id}, which has no endpoint"
                yield Finding(NAME, "warning", problem)
                continue
            known: dict[str, TokenFacts] = {}
            for number, method in enumerate(methods):
                if time.monotonic() > ends_at:
                    unread += len(methods) - number
                    break
                try:
                    if method.token_address not in known:
                        known[method.token_address] = reader.facts(method.token_address)
                except ChainUnreadable as error:
                    problem = f"not checked: {_count(methods)} of chain {chain_id}: {error}"
                    yield Finding(NAME, "broken", problem)
                    break
                wrong = find_problem(known[method.token_address], symbol=method.token_symbol)
                fitting += wrong is None
                if wrong is not None:
                    yield _unfit(method, wrong)
    if unread:
        yield Finding(NAME, "warning", f"{unread} were not checked within {LONGEST_S:g} s")
    if fitting:
        yield Finding(NAME, "ok", f"{fitting} match their tokens")


def _find(settings: Settings) -> Sequence[EnabledMethod]:
    """Return the enabled methods, or none if the database cannot be read, which another check
    reports.
    """
    try:
        with open_database("payment", settings) as database, database.reading() as reader:
            return find_enabled(reader)
    except (click.ClickException, DatabaseUnavailable):
        return ()


def _unfit(method: EnabledMethod, problem: str) -> Finding:
    return Finding(
        f"payment method {method.id}",
        "broken",
        f"token {method.token_address} on chain {method.chain_id}: {problem}; run `specd payment"
        f" disable-method --project {method.project_id} --id {method.id}`",
    )


def _count(methods: Sequence[EnabledMethod]) -> str:
    return "1 method" if len(methods) == 1 else f"{len(methods)} methods"
