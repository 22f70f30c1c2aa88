"""Compares the verdicts of our engine, stock connexion and openapi-core about a request."""

import asyncio
import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from urllib.parse import unquote, unquote_plus

from openapi_core import Config, OpenAPI
from openapi_core.testing import MockRequest

from specd import Response
from specd._engine.document.execution import WithDatabase
from specd._engine.document.operation import Operation
from specd._engine.service import Service
from specd._engine.serving.app import build_app
from specd._engine.serving.engine import Engine
from tests.contract.differential.differences import EVERY
from tests.contract.differential.generate import Generator, Request
from tests.contract.differential.oracles import Difference
from tests.contract.differential.stock import build_stock
from tests.specd.engine.client import call
from tests.support.documents import with_json_content

ACCEPT, REJECT, CRASH = "accept", "reject", "crash"
# openapi-core rejects unknown formats. This one is for parameters with slashes.
FORMATS = Config(extra_format_validators={"path": lambda value: True})
STOPPED = Response(200, b"{}")


class Implementations:
    """The three implementations for one service. Handlers do not run, and reaching one means
    acceptance.
    """

    def __init__(self, service: Service, *, with_stock: bool = True) -> None:
        logging.disable(logging.CRITICAL)
        self._reached = False
        self.ours = build_app([service])
        for middleware in self.ours.middleware_stack or ():
            if isinstance(middleware, Engine):
                for api in middleware.apis:
                    for operation in api.meters:
                        self._stop(operation)
        self.stock = build_stock(service, reached=self._reach) if with_stock else None
        document = dict(with_json_content(service.document))
        self.core = OpenAPI.from_dict(document, config=FORMATS)  # type: ignore[arg-type]

    def _reach(self, *_: Any, **__: Any) -> Response:
        self._reached = True
        return STOPPED

    def _stop(self, operation: Operation) -> None:
        async def reach(*_: Any, **__: Any) -> Response:
            return self._reach()

        operation.function = reach if operation.is_async else self._reach
        if isinstance(operation, WithDatabase):
            operation._first, operation._handler = None, operation.function

    async def ask_app(self, app: Any, request: Request) -> str:
        self._reached = False
        sent = False

        async def receive() -> dict[str, Any]:
            nonlocal sent
            if sent:
                return {"type": "http.disconnect"}
            sent = True
            return {"type": "http.request", "body": request.body, "more_body": False}

        try:
            answer = await call(app, scope_of(request), receive)
        except Exception:
            return CRASH
        if self._reached:
            return ACCEPT
        return CRASH if answer.status >= 500 else REJECT

    def ask_core(self, request: Request) -> str:
        mock = MockRequest(
            "http://localhost",
            request.method.lower(),
            unquote(request.path),
            args=[  # type: ignore[arg-type]
                (unquote_plus(name), unquote_plus(value)) for name, value in request.query
            ],
            headers=dict(request.headers),
            data=request.body,
            content_type=request.content_type or "",
        )
        try:
            result = self.core.unmarshal_request(mock)
        except Exception:
            return CRASH
        return REJECT if result.errors else ACCEPT

    async def ask(self, request: Request) -> dict[str, str]:
        verdicts = {"ours": await self.ask_app(self.ours, request)}
        if self.stock is not None:
            verdicts["stock"] = await self.ask_app(self.stock, request)
        verdicts["core"] = self.ask_core(request)
        return verdicts


def scope_of(request: Request) -> dict[str, Any]:
    headers = [(b"host", b"localhost")]
    headers += [(n.lower().encode(), v.encode("latin-1")) for n, v in request.headers]
    if request.content_type is not None:
        headers.append((b"content-type", request.content_type.encode("latin-1")))
    if request.body:
        headers.append((b"content-length", str(len(request.body)).encode()))
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": unquote(request.path),
        "raw_path": request.path.encode("latin-1"),
        "query_string": request.raw_query.encode("latin-1"),
        "root_path": "",
        "headers": headers,
        "client": ("127.0.0.1", 50000),
        "server": ("localhost", 80),
    }


@dataclass
class Report:
    """The result of a run: verdicts, explained differences, and unexplained ones."""

    asked: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    explained: Counter[str] = field(default_factory=Counter)
    unexplained: list[tuple[Request, dict[str, str]]] = field(default_factory=list)

    def lines(self) -> Iterable[str]:
        yield f"{self.asked} requests"
        for name, number in sorted(self.verdicts.items()):
            yield f"  {number:7}  {name}"
        yield f"{sum(self.explained.values())} differences explained"
        for name, number in self.explained.most_common():
            yield f"  {number:7}  {name}"
        yield f"{len(self.unexplained)} unexplained"


def explain(
    request: Request, verdicts: Mapping[str, str], document: Mapping[str, Any]
) -> tuple[list[str], bool]:
    """Return the names of the matching differences, and whether all differences are explained."""
    names = []
    for oracle in verdicts.keys() - {"ours"}:
        if verdicts[oracle] == verdicts["ours"]:
            continue
        entry = find_difference(oracle, request, verdicts, document)
        if entry is None:
            return names, False
        names.append(f"{oracle}: {entry.name}")
    return names, verdicts["ours"] != CRASH


def find_difference(
    oracle: str, request: Request, verdicts: Mapping[str, str], document: Mapping[str, Any]
) -> Difference | None:
    for entry in EVERY:
        if (
            entry.oracle == oracle
            and (verdicts["ours"], verdicts[oracle]) in entry.verdicts
            and entry.applies(request, document)
        ):
            return entry
    return None


async def run(implementations: Implementations, generator: Generator, number: int) -> Report:
    report = Report()
    for request in islice(generator, number):
        verdicts = await implementations.ask(request)
        report.asked += 1
        report.verdicts[", ".join(f"{k} {v}" for k, v in verdicts.items())] += 1
        if len(set(verdicts.values())) == 1 and verdicts["ours"] != CRASH:
            continue
        names, is_explained = explain(request, verdicts, generator.document)
        report.explained.update(names)
        if not is_explained:
            report.unexplained.append((request, verdicts))
    return report


def compare(
    service: Service, credentials: Any, *, number: int, seed: int, with_stock: bool = True
) -> Report:
    document = with_json_content(service.document)
    generator = Generator(document, base_path=service.base_path, credentials=credentials, seed=seed)
    return asyncio.run(run(Implementations(service, with_stock=with_stock), generator, number))
