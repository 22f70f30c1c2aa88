"""Read-only checks of payment methods: whether each token still fits its contract."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import groupby

from adapters.chain.tokens import ChainUnreadable, TokenReader
from cli.databases import is_missing
from cli.diagnosis import Finding
from models.database import Database
from models.errors import DatabaseUnavailable
from models.payment.methods import EnabledMethod, find_enabled
from models.payment.tokens import TokenFacts, find_problem
from models.revisions import is_usable
from settings import Settings

NAME = "payment methods"
LONGEST_S = 60.0


def diagnose_methods(settings: Settings) -> Iterator[Finding]:
    """Check every method that takes invoices against its chain; each token is read once."""
    fitting, unread = 0, 0
    ends_at = time.monotonic() + LONGEST_S
    for chain_id, group in groupby(_find(settings), key=lambda method: method.chain_id):
        methods = list(group)
        with TokenReader(
            settings.chain_rpc_urls, chain_id, timeout_s=settings.chain_rpc_timeout_s
        ) as reader:
            if not reader.is_configured:
                problem = f"{_count(methods)} of chain {chain_id}, of which no endpoint is known"
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
        yield Finding(NAME, "ok", f"{fitting} fit their tokens")


def _find(settings: Settings) -> Sequence[EnabledMethod]:
    """Return no method where the database cannot be read, which is a finding of its own."""
    url = settings.database_urls.get("payment", "")
    try:
        if not url or is_missing(url) or not is_usable(url, "payment"):
            return ()
        with (
            closing(Database.for_service("payment", settings)) as database,
            database.reading() as reader,
        ):
            return find_enabled(reader)
    except DatabaseUnavailable:
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
