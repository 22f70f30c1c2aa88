"""Reads, compared with their floor."""

import gc
import sys
from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import orjson
import uvloop
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from benchmarks.chat.operations import OPERATIONS
from benchmarks.chat.realm import Stage
from benchmarks.floor.floor import Floor, connect, record
from benchmarks.floor.places import Place, chat_settings, furnish
from benchmarks.floor.profiling import on_this_thread, profile
from benchmarks.floor.requests import chat_requests
from benchmarks.floor.turns import Row, count_for, take_turns
from benchmarks.floor.wire import Ask, Connection
from handlers.chat.wiring import compose
from settings import Settings
from specd._engine.serving.app import build_app
from specd._engine.serving.protocol import Protocol


def measure_reads(
    place: Place, directory: Path, names: Sequence[str], arguments: Namespace
) -> list[Row]:
    """Measure each read of the chat service."""
    url = place.make("reads")
    stage = furnish(url, arguments.messages)
    return uvloop.run(_measure(chat_settings(url, directory), stage, names, arguments))


async def _measure(
    settings: Settings, stage: Stage, names: Sequence[str], arguments: Namespace
) -> list[Row]:
    """Execute each operation once to record its statements, then measure the service and the floor
    in turn.
    """
    watched = compose(settings)
    assert watched.database is not None
    with watched.database.reading_unit() as unit:
        statements = record(unit.connection.engine)
    observed = Connection(build_app([watched]), Protocol)
    app = build_app([compose(settings)])
    if arguments.lines:
        on_this_thread(app)
    ours = Connection(app, Protocol)
    driver = connect(settings.database_urls["chat"])
    gc.collect()
    gc.freeze()  # as a server does before its first request
    rows = []
    for name in names:
        request = next(chat_requests(OPERATIONS[name], stage))
        await observed.ask(request)
        statements.clear()
        head, _, body = (await observed.ask(request)).partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200 "):
            sys.exit(f"{name}: {head.decode()}\n{body[:300].decode()}")
        floor = Connection(Floor(driver, tuple(statements), body), HttpToolsProtocol)
        again = (await floor.ask(request)).partition(b"\r\n\r\n")[2]
        assert orjson.loads(again) == orjson.loads(body)

        asks: list[Ask] = [partial(ours.ask, request), partial(floor.ask, request)]
        counts = [await count_for(ask, arguments.seconds) for ask in asks]
        row = Row(
            name, len(statements), len(body), *await take_turns(asks, counts, arguments.rounds)
        )
        rows.append(row)
        print(f"{name:<14}{row.ours_us:>8,.0f} us  {row.ratio:.2f} x", file=sys.stderr)
        if arguments.lines:
            print(await profile(asks[0], counts[0], arguments.lines))
    return rows
