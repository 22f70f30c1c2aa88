"""Invalid responses. If Prism does not object to one, it does not validate that response."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import httpx

from specd._engine.serving.override import overriding_method
from tests.contract.prism.exchanges import Exchange
from tests.contract.prism.routes import Routes


def method_of(exchange: Exchange) -> str:
    """Return the effective method, also for clients that can only POST."""
    if exchange.method != "POST":
        return exchange.method
    headers = {
        name.lower().encode("latin-1"): value.encode("latin-1")
        for name, value in exchange.request_headers
    }
    return overriding_method(exchange.request_body, headers) or "POST"


def controls(
    document: Mapping[str, Any], base: str, exchanges: Sequence[Exchange]
) -> list[Exchange]:
    """Return a list as response for the first object response of each operation and status."""
    routes = Routes(document)
    broken: dict[tuple[str, int], Exchange] = {}
    for exchange in exchanges:
        path = exchange.target.partition("?")[0].removeprefix(base)
        operation = routes.find(method_of(exchange), path)
        if operation is not None and exchange.response_body.startswith(b"{"):
            key = (operation["operationId"], exchange.status)
            broken.setdefault(key, replace(exchange, response_body=b"[]\n"))
    return list(broken.values())


def unnoticed(
    answers: Sequence[tuple[Exchange, httpx.Response]], objected: Sequence[bool]
) -> Iterator[str]:
    """Yield the controls that passed Prism without an objection. Others were answered by Prism or
    its HTTP server, instead of the service.
    """
    for (exchange, answer), is_noticed in zip(answers, objected, strict=True):
        if answer.content == exchange.response_body and not is_noticed:
            yield f"{method_of(exchange)} {exchange.target} {exchange.status}"
