"""Checks that all servers give the same correct responses, before the load and in the tests."""

from collections.abc import Callable
from typing import Any

from benchmarks.engine.operations import OPERATIONS, Request
from benchmarks.engine.peers import Peer

Ask = Callable[[Request], tuple[int, Any]]
"""Sends a request and returns the status and the decoded JSON body (None if it is not JSON)."""


def disagreements(peer: Peer, ask: Ask) -> list[str]:
    """Return a sentence for every response that is not the expected one of the peer."""
    wrong = []
    for operation in OPERATIONS:
        got = ask(operation.request)
        if got != (operation.status, operation.answer):
            wrong.append(f"{peer.name} {operation.name}: answered {got}")
        for case, request in operation.refused.items() if peer.validates else ():
            status, _ = ask(request)
            refused = 400 <= status < 500
            if refused == ((operation.name, case) in peer.deviations):
                wrong.append(f"{peer.name} {operation.name}, {case}: answered {status}")
    return wrong
