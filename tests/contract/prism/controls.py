"""Answers that break the document: Prism must object to each, or it judges nothing there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import httpx

from specd._engine.serving.override import overriding_method
from tests.contract.prism.exchanges import Exchange
from tests.contract.prism.routes import Routes


def method_of(exchange: Exchange) -> str:
    """What is asked for, also by those who can only POST."""
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
    """For each operation and status, the first answer that is an object, as a list."""
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
    """The controls that went through Prism without an objection. Others were answered by Prism, or
    by its HTTP server, in the place of the service.
    """
    for (exchange, answer), is_noticed in zip(answers, objected, strict=True):
        if answer.content == exchange.response_body and not is_noticed:
            yield f"{method_of(exchange)} {exchange.target} {exchange.status}"
