"""A service that runs in the process of its tests, and the client that calls it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import httpx
import pytest
import structlog
from connexion.exceptions import ProblemException

from specd._composition import compose
from specd._db.errors import Refusal
from specd._engine.errors import NonConformingResponse
from specd._engine.service import Service
from specd._engine.serving.app import build_app, engine_of
from specd._project import current
from specd._settings import Settings, SettingsError, settings_class

HOST = "http://service.test"
_NOBODY = object()


class Client(httpx.Client):
    """Calls a service as an HTTP client does, with the paths of its document.

    Each response, including errors, is validated against the document, and the test fails with a
    description of the mismatch. A test is skipped if the handler raises `NotImplementedError`. Any
    other exception of a handler that is not a refusal is raised in the test.
    """

    def __init__(self, backend: Backend, actor: Any = _NOBODY) -> None:
        self._backend = backend
        self._actor = actor
        transport = _Transport(backend, actor)
        super().__init__(transport=transport, base_url=HOST + backend.service.base_path)

    def build_request(self, method: str, url: httpx.URL | str, **options: Any) -> httpx.Request:
        """Return a request, as httpx does. The path may also begin with the base path of the
        service.
        """
        if str(url).startswith(f"{self._backend.service.base_path}/"):
            url = f"{HOST}{url}"
        return super().build_request(method, url, **options)

    def with_settings(self, **settings: Any) -> Self:
        """Return a client of the service with other settings, given by the names of their fields,
        and with an empty database. It calls as the same user as this client.
        """
        return type(self)(self._backend.with_settings(settings), self._actor)

    def as_user(self, actor: Any) -> Self:
        """Return a client of the same service whose requests have this `ctx.actor`. Security
        functions are not called, so no credentials are needed.
        """
        return type(self)(self._backend, actor)


class Backend:
    """A service with its own database, compiled once for all tests with the same settings."""

    def __init__(
        self, name: str, folder: Path, settings: Mapping[str, Any], backends: Backends
    ) -> None:
        self.folder = folder
        self._settings = settings
        self._backends = backends
        made = _settings_of(folder, settings)
        self.service = replace_respond(compose(current()[name], made), self._notice)
        self._app = build_app([self.service])
        self._runner = asyncio.Runner()
        self._actor = _NOBODY
        self._error: Exception | None = None
        engine = engine_of(self._app)
        for api in () if engine is None else engine.apis:
            for operation in api.operations:
                if operation.authenticate is not None:
                    operation.authenticate = self._checked_by(operation.authenticate)

    def with_settings(self, settings: Mapping[str, Any]) -> Backend:
        """Return the service with other settings, and with an empty database."""
        return self._backends.get(self.service.name, {**self._settings, **settings})

    def _checked_by(self, check: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def authenticate(ctx: Any) -> Any:
            return check(ctx) if self._actor is _NOBODY else self._actor

        return authenticate

    def _notice(self, error: Exception) -> None:
        if isinstance(error, NonConformingResponse):
            error = AssertionError(error.detail)
        elif isinstance(error, Refusal | ProblemException):
            return
        self._error = self._error or error

    def send(self, request: httpx.Request, actor: Any) -> httpx.Response:
        """Return the response to a request of an actor, or raise the exception of its handler.
        Raise AssertionError for a response that the document does not allow.
        """
        self._actor, self._error = actor, None
        response = self._runner.run(self._exchange(request))
        match self._error:
            case None:
                return response
            case NotImplementedError():
                why = "the handler is not written yet"
                raise pytest.skip.Exception(why, _use_item_location=True)
            case error:
                raise error

    async def _exchange(self, request: httpx.Request) -> httpx.Response:
        transport = httpx.ASGITransport(app=self._app)
        response = await transport.handle_async_request(request)
        content = b"".join([part async for part in response.aiter_raw()])
        return httpx.Response(
            response.status_code, headers=response.headers, stream=httpx.ByteStream(content)
        )

    def close(self) -> None:
        """Close the event loop and the database connections."""
        self._runner.close()
        if self.service.database is not None:
            self.service.database.dispose()


def _settings_of(folder: Path, settings: Mapping[str, Any]) -> Settings:
    """Return the settings of a service in tests. Raise `SettingsError` if a required one is
    missing.
    """
    given: dict[str, Any] = {"validate_responses": True, "rate_limits": False, **settings}
    try:
        return settings_class()(data_dir=folder, **given)
    except SettingsError as error:
        error.add_note("In tests, return it from the fixture `service_settings` in a conftest.py.")
        raise


class _Transport(httpx.BaseTransport):
    def __init__(self, backend: Backend, actor: Any) -> None:
        self._backend = backend
        self._actor = actor

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self._backend.send(request, self._actor)


def replace_respond(service: Service, notice: Callable[[Exception], None]) -> Service:
    """Return a service that passes each error to `notice` before it writes the response."""
    respond = service.respond

    def noticed(error: Exception, request_id: str) -> Any:
        notice(error)
        return respond(error, request_id)

    return replace(service, respond=noticed)


class Backends:
    """The services of a test run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._backends: dict[str, Backend] = {}

    def get(self, service: str, settings: Mapping[str, Any]) -> Backend:
        """Return a service with an empty database, unless it needs none."""
        key = f"{service} {sorted(settings.items())!r}"
        if key not in self._backends:
            folder = self._folder / f"{service}{len(self._backends)}"
            folder.mkdir(exist_ok=True)  # exists if an earlier test failed to start it
            self._backends[key] = Backend(service, folder, settings, self)
        backend = self._backends[key]
        if current()[service].has_database:
            self._empty(service, backend)
        return backend

    def _empty(self, service: str, backend: Backend) -> None:
        source = self._folder / f"{service}.db"
        if not source.exists():
            # This imports Alembic, which tests of a service without a database do not need.
            import_module("specd._db.migrate").upgrade(f"sqlite:///{source}", service)
        with (
            closing(sqlite3.connect(source)) as migrated,
            closing(sqlite3.connect(backend.folder / source.name)) as own,
        ):
            migrated.backup(own)

    def close(self) -> None:
        """Close all services."""
        for backend in self._backends.values():
            backend.close()


def log_plain_tracebacks() -> None:
    """Keep the log of tests short, unless the project has its own: by default structlog shows the
    variables of each function in a traceback, hundreds of lines with the secrets among them.
    """
    if structlog.is_configured():
        return
    *processors, _ = structlog.get_config()["processors"]
    plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[*processors, plain])


def service_of(path: Path) -> str:
    """Return the service that a test is about: the service named like a folder of the test's path,
    or else the only service of the project. Raise LookupError if there is neither.
    """
    names = current().names
    for folder in path.relative_to(current().root).parents:
        if folder.name in names:
            return folder.name
    if len(names) == 1:
        return names[0]
    raise LookupError(
        f"{path} is about none of the services {', '.join(names)}: move it into a folder with the"
        " name of the service, or define the fixture `service`."
    )
