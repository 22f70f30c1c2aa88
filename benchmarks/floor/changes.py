"""Writes, compared with their floor: the same transactions from the same initial state."""

import gc
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import mean

import orjson
import uvloop
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from benchmarks.chat.operations import OPERATIONS
from benchmarks.floor.places import Place, chat_settings, furnish, payment_settings
from benchmarks.floor.profiling import on_this_thread, profile
from benchmarks.floor.replay import Replay, Steps
from benchmarks.floor.requests import chat_requests, payment_requests
from benchmarks.floor.turns import Row, count_for, take_turns
from benchmarks.floor.wire import Connection
from benchmarks.payment.contestants import prepare_ours
from benchmarks.payment.stock import stock_invoices
from handlers.chat.wiring import compose as compose_chat
from handlers.payment.wiring import compose as compose_payment
from specd._engine.service import Service
from specd._engine.serving.app import build_app
from specd._engine.serving.protocol import Protocol
from specd.db import Database

WARM = 20
STOCK = 20_000
"""The number of invoices to cancel."""

Requests = Callable[[str], Iterator[bytes]]
"""Returns the requests of an operation, from the first one."""
Compose = Callable[[str], Service]
"""Returns the service on a database."""


def measure_changes(
    place: Place, directory: Path, names: Sequence[str], arguments: Namespace
) -> list[Row]:
    """Measure each write of the chat service."""
    stage = furnish(place.make("chat"), arguments.messages)

    def requests(name: str) -> Iterator[bytes]:
        return chat_requests(OPERATIONS[name], stage)

    def compose(url: str) -> Service:
        return compose_chat(chat_settings(url, directory))

    urls = {part: place.copy("chat", f"chat-{part}") for part in ("noted", "ours", "floor")}
    return uvloop.run(_measure(urls, compose, requests, names, arguments))


def measure_orders(
    place: Place, directory: Path, names: Sequence[str], arguments: Namespace
) -> list[Row]:
    """Measure the creation and the cancellation of invoices."""
    url = place.make("payment")
    bearer = prepare_ours(url)

    def compose(url: str) -> Service:
        return compose_payment(payment_settings(url, directory))

    first = uvloop.run(_first(compose(url), next(payment_requests("create", bearer, ()))))
    stock = stock_invoices(url, like=orjson.loads(first)["id"], count=STOCK)

    def requests(name: str) -> Iterator[bytes]:
        orders = payment_requests(name, bearer, stock)
        if name == "create":
            next(orders)  # skips the first, which was sent above
        return orders

    urls = {part: place.copy("payment", f"payment-{part}") for part in ("noted", "ours", "floor")}
    return uvloop.run(_measure(urls, compose, requests, names, arguments))


async def _first(service: Service, request: bytes) -> bytes:
    """Return the body of the response to one request."""
    body = _body(await Connection(build_app([service]), Protocol).ask(request))
    assert service.database is not None
    service.database.dispose()
    return body


async def _measure(
    urls: Mapping[str, str],
    compose: Compose,
    requests: Requests,
    names: Sequence[str],
    arguments: Namespace,
) -> list[Row]:
    """Measure a service on two copies of a database. On one of them its steps are recorded; the
    floor replays them on a third copy.
    """
    watched = compose(urls["noted"])
    assert isinstance(watched.database, Database)
    steps = Steps(watched.database)
    observed = Connection(build_app([watched]), Protocol)
    app = build_app([compose(urls["ours"])])
    if arguments.lines:
        on_this_thread(app)
    ours = Connection(app, Protocol)
    gc.collect()
    gc.freeze()  # as a server does before its first request
    rows = []
    for name in names:
        sent = requests(name)

        async def ask_ours(sent: Iterator[bytes] = sent) -> bytes:
            return await ours.ask(next(sent))

        _body(await ask_ours())
        count = await count_for(ask_ours, arguments.seconds)
        noted = []
        for request in islice(requests(name), WARM + arguments.rounds * count):
            steps.take()
            body = _body(await observed.ask(request))
            noted.append((steps.take(), body))
        replay = Replay(urls["floor"], iter(noted))
        floor = Connection(replay, HttpToolsProtocol)
        ask_floor = partial(floor.ask, request)
        for _, expected in noted[:WARM]:
            assert orjson.loads(_body(await ask_floor())) == orjson.loads(expected)
        spent = await take_turns([ask_ours, ask_floor], [count, count], arguments.rounds)
        replay.close()
        row = Row(name, len(noted[-1][0]), round(mean(len(body) for _, body in noted)), *spent)
        rows.append(row)
        print(f"{name:<14}{row.ours_us:>8,.0f} us  {row.ratio:.2f} x", file=sys.stderr)
        if arguments.lines:
            print(await profile(ask_ours, count, arguments.lines))
    return rows


def _body(answer: bytes) -> bytes:
    """Return the body of a successful response."""
    head, _, body = answer.partition(b"\r\n\r\n")
    if not head.startswith((b"HTTP/1.1 200 ", b"HTTP/1.1 201 ")):
        sys.exit(f"{head.decode()}\n{body[:300].decode()}")
    return body
