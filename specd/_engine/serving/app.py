"""Builds the ASGI application: connexion, which contains our engine, which contains the
HTML pages.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import structlog
from a2wsgi import WSGIMiddleware
from connexion import ConnexionMiddleware
from connexion.middleware.lifespan import LifespanMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from specd import _tracing as tracing
from specd._engine.document.checking import find_mistakes, locate
from specd._engine.document.compiler import skeleton
from specd._engine.document.connexion_seams import build, nothing_validated
from specd._engine.errors import DocumentError
from specd._engine.http.proxies import TrustedProxies
from specd._engine.openapi.mistakes import Mistake, Mistakes, place_of
from specd._engine.openapi.rules import Checked, unserved_servers
from specd._engine.service import Service
from specd._engine.serving.engine import Engine
from specd._engine.serving.health import Probes
from specd._engine.serving.stalls import StallMeter
from specd._engine.serving.usage import UsageMeter
from specd._library_internals import check_library_internals

log = structlog.get_logger("specd.app")

PAGE_THREADS = 32
"""Each page or file that is being sent needs a thread."""


def build_app(
    services: Iterable[Service],
    *,
    pages: Any = None,
    trusted_proxies: Iterable[str] = (),
    prefix: str = "",
    has_defaults: bool = True,
    is_checked: bool = True,
) -> ConnexionMiddleware:
    """Return one ASGI application that serves `services` and, for every other path, `pages` (WSGI).

    `trusted_proxies` are addresses and networks whose `X-Forwarded-For` is trusted, and `unix`.
    `prefix` is the path that a proxy removes from the paths of requests.
    `has_defaults` says that handlers get defaults, which must therefore fit their schemas. Without
    `is_checked`, the rules of OpenAPI are not checked, because the caller has checked them.

    Documents are checked and compiled immediately. Raise `Mistakes` with all mistakes in them and
    their handlers.
    """
    check_library_internals("connexion", "uvicorn")
    services = tuple(services)
    inner: ASGIApp = _no_page
    if pages is not None:
        inner = WSGIMiddleware(pages, workers=PAGE_THREADS)  # type: ignore[assignment]
    engine = partial(
        Engine, probes=Probes(), proxies=TrustedProxies(trusted_proxies), prefix=prefix
    )
    app: ConnexionMiddleware = ConnexionMiddleware(
        inner,
        import_name=__name__,
        middlewares=[engine, LifespanMiddleware],
        lifespan=lambda _: _lifespan(app, services),
    )
    found: list[Mistake] = []
    for service in services:
        wrong = [
            mistake
            for document in service.documents
            if is_checked
            for mistake in find_mistakes(document, has_defaults=has_defaults)
        ]
        if wrong:
            found += wrong
            continue
        for document in service.documents:
            for fault in unserved_servers(Checked(document.content)):
                log.warning("server not served", document=document.name, place=place_of(fault.at))
        try:
            with nothing_validated():
                app.add_api(skeleton(service), base_path=service.base_path, service=service)
        except DocumentError as error:
            found += locate(service.documents, [error])
    # connexion would build it at the first request, but a document with mistakes must prevent the
    # start.
    build(app)
    built = engine_of(app)
    assert built is not None
    found += built.mistakes
    if found:
        raise Mistakes(found)
    return app


class Wrapped:
    """The application `inner` of `build_app`, whose requests pass through `outer`."""

    def __init__(self, outer: ASGIApp, inner: ConnexionMiddleware) -> None:
        self._outer = outer
        self.inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._outer(scope, receive, send)


def wrap(app: ConnexionMiddleware, middlewares: Sequence[Callable[[Any], Any]]) -> Any:
    """Return an application wrapped in ASGI middlewares, the first of which is the outermost."""
    outer: Any = app
    for middleware in reversed(middlewares):
        outer = middleware(outer)
    return Wrapped(outer, app) if middlewares else app


def engine_of(app: Any) -> Engine | None:
    """Return the engine of an application of `build_app`, or None for any other application."""
    inner = app.inner if isinstance(app, Wrapped) else app
    for middleware in getattr(inner, "middleware_stack", None) or ():
        if isinstance(middleware, Engine):
            return middleware
    return None


def outermost_engine_of(app: Any) -> Engine | None:
    """Return the engine of an application, or None if middlewares get its requests first."""
    return None if isinstance(app, Wrapped) else engine_of(app)


def answer_deadline_s(app: Any) -> float:
    """Return the longest time in seconds that a service waits for a client to read a response."""
    engine = engine_of(app)
    deadlines = [api.service.answer_timeout_s for api in (() if engine is None else engine.apis)]
    return max(deadlines, default=Service.answer_timeout_s)


def stop_waiting(app: Any) -> None:
    """End all long polls, because the server is about to stop."""
    engine = engine_of(app)
    if engine is not None:
        engine.waiting.stop()


@asynccontextmanager
async def _lifespan(app: ConnexionMiddleware, services: tuple[Service, ...]) -> AsyncIterator[None]:
    chores = [
        asyncio.create_task(_repeat(service, name))
        for service in services
        for name in service.chores
    ]
    stalls = StallMeter()
    stalls.start()
    engine = engine_of(app)
    usage = UsageMeter(() if engine is None else engine.apis)
    usage.start()
    for service in services:
        if service.database is not None:
            service.database.watch()
    try:
        yield
    finally:
        stalls.stop()
        usage.stop()
        for task in chores:
            task.cancel()
        await asyncio.gather(*chores, return_exceptions=True)
        if engine is not None:
            await asyncio.to_thread(engine.close)
        await asyncio.to_thread(tracing.close)
        for service in services:
            for name in service.chores:
                await _run(service, name)
            if service.database is not None:
                service.database.dispose()


async def _repeat(service: Service, name: str) -> None:
    every_s, _ = service.chores[name]
    is_done = True
    while True:
        await asyncio.sleep(every_s)
        is_done = await _run(service, name, logs_failure=is_done)


async def _run(service: Service, name: str, *, logs_failure: bool = True) -> bool:
    """Run a chore and return whether it succeeded. A failure is logged if `logs_failure`."""
    _, run = service.chores[name]
    try:
        await asyncio.to_thread(run, service.database, service.clock.now())
    except Exception:
        if logs_failure:
            log.exception("chore failed", service=service.name, chore=name)
        return False
    return True


async def _no_page(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] != "http":
        return
    if (scope["method"], scope["path"]) == ("OPTIONS", "*"):  # RFC 9110, section 9.3.7
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})
        return
    await send(
        {
            "type": "http.response.start",
            "status": 404,
            "headers": [(b"content-type", b"text/plain"), (b"content-length", b"10")],
        }
    )
    await send({"type": "http.response.body", "body": b"Not Found\n"})
