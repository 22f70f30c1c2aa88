"""The chat service as one ASGI application, and a client that validates responses by openapi-core.

The application is compiled once. Tests replace its database, clock and settings.
"""

from __future__ import annotations

import json as stdlib_json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlencode

import httpx
import pytest
from openapi_core.exceptions import OpenAPIError
from openapi_core.templating.paths.exceptions import PathError
from openapi_core.testing import MockRequest, MockResponse
from openapi_schema_validator import OAS30ReadValidator

from handlers.chat.wire.context import ChatAdapters
from handlers.chat.wire.limits import make_rate_limit
from handlers.chat.wiring import build_service
from settings import Settings
from specd._engine.serving.override import overriding_method
from specd.db import Clock, Database
from tests.support.app import ServiceApp, Swap
from tests.support.chat.people import KEYS, VAULT, Member
from tests.support.contract import OutsideTheDocument, judge_of
from tests.support.receivers import ScriptedReceivers
from tests.support.slow_work import WatchedDatabase

BASE = "/api/v1"
UNFORESEEN = (403, 404, 405, 408, 413, 414, 415, 431)
"""The allowed statuses for a path or method outside the document."""


class ChatApp(ServiceApp):
    """The compiled application, and the event loop of its requests."""

    def __init__(self, database: Database, clock: Clock, data_dir: Path, **settings: Any) -> None:
        self._database, self._clock = WatchedDatabase(database), Swap(clock)
        self.settings = Settings(
            data_dir=data_dir,
            database_urls={"chat": "sqlite:///unused.db"},
            **{
                "chat_mail_domain": "mail.example",
                "development": True,
                "rate_limits": False,
                "validate_responses": True,
                **settings,
            },
        )
        own = ChatAdapters.from_settings(self.settings)
        self.push, self.vendor = Swap(own.push), Swap(own.vendor)
        self.receivers = ScriptedReceivers("127.0.0.0/8")
        adapters = replace(
            own,
            keys=KEYS,
            vault=VAULT,
            push=self.push,
            vendor=self.vendor,
            webhooks=self.receivers,
        )
        clock = cast(Clock, self._clock)
        service = build_service(self.settings, clock=clock, adapters=adapters)
        self._polls = adapters.polls
        self._polls.tail.database = self._database  # type: ignore[assignment]
        super().__init__(service, self._database)

    def play(self, database: Database, clock: Clock) -> None:
        """Use this database and clock from now on."""
        self._database.target, self._clock.target = database, clock
        self._polls.forget_idle()

    @contextmanager
    def changed(self, data_dir: Path, settings: Mapping[str, Any]) -> Iterator[None]:
        """Change settings that requests read. Rate limits are reset, and stored in `data_dir`."""
        service, before = self.service, self.service.rate_limit
        old = {name: getattr(self.settings, name) for name in settings}
        limits = make_rate_limit(replace(self.settings, data_dir=data_dir, **settings))
        try:
            object.__setattr__(service, "rate_limit", limits)
            object.__setattr__(service.adapters, "limiter", limits)
            for name, value in settings.items():
                object.__setattr__(self.settings, name, value)
            yield
        finally:
            object.__setattr__(service, "rate_limit", before)
            object.__setattr__(service.adapters, "limiter", before)
            for name, value in old.items():
                object.__setattr__(self.settings, name, value)


def shared_app(
    apps: list[ChatApp], database: Database, clock: Clock, factory: pytest.TempPathFactory
) -> ChatApp:
    """Return the compiled application of this process, with the given database and clock."""
    if not apps:
        apps.append(ChatApp(database, clock, factory.mktemp("chat")))
    (app,) = apps
    app.play(database, clock)
    return app


class ChatClient:
    """Calls the service as one member or without credentials. Returns only documented responses.

    Parameters are sent like those of real clients: text unchanged, everything else as JSON text.
    None is omitted. GET sends them in the query, the other methods in a form body.
    """

    def __init__(self, app: ChatApp, host: str, member: Member | None = None) -> None:
        self._app = app
        self._judge = judge_of(app.document)
        self._host = host
        self.member = member

    def acting_as(self, member: Member | None) -> ChatClient:
        return ChatClient(self._app, member.host if member else self._host, member)

    def get(self, path: str, /, **parameters: Any) -> dict[str, Any]:
        """Return the body of the response, regardless of its status."""
        return self.call("GET", path, parameters)

    def post(self, path: str, /, **parameters: Any) -> dict[str, Any]:
        return self.call("POST", path, parameters)

    def put(self, path: str, /, **parameters: Any) -> dict[str, Any]:
        return self.call("PUT", path, parameters)

    def patch(self, path: str, /, **parameters: Any) -> dict[str, Any]:
        return self.call("PATCH", path, parameters)

    def delete(self, path: str, /, **parameters: Any) -> dict[str, Any]:
        return self.call("DELETE", path, parameters)

    def call(self, method: str, path: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        response = self.request(method, path, parameters)
        body: dict[str, Any] = response.json()
        return body

    def request(
        self,
        method: str,
        path: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        content: bytes = b"",
        headers: Mapping[str, str] | None = None,
        host: str | None = None,
    ) -> httpx.Response:
        """Return the complete response. `content` is sent unchanged instead of a form."""
        return self.at_once(
            self.build(method, path, parameters, content=content, headers=headers, host=host)
        )[0]

    def build(
        self,
        method: str,
        path: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        content: bytes = b"",
        headers: Mapping[str, str] | None = None,
        host: str | None = None,
    ) -> httpx.Request:
        """Return an unsent request."""
        host = host or self._host
        sent = {"Host": host}
        form = urlencode(
            [
                (name, text)
                for name, value in (parameters or {}).items()
                if value is not None and not isinstance(value, SentFile)
                for text in _texts(value)
            ]
        )
        url = f"http://{host}{BASE}{path}"
        files = {n: v for n, v in (parameters or {}).items() if isinstance(v, SentFile)}
        if files:
            content, sent["Content-Type"] = _multipart(files, parameters or {})
        elif form and method in ("GET", "HEAD"):
            url += f"?{form}"
        elif form:
            content = form.encode()
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        auth = httpx.BasicAuth(self.member.email, self.member.key) if self.member else None
        request = httpx.Request(method, url, headers=sent | dict(headers or {}), content=content)
        if auth is not None and "authorization" not in request.headers:
            request = next(auth.auth_flow(request))
        return request

    def at_once(self, *requests: httpx.Request) -> list[httpx.Response]:
        """Send requests simultaneously. Return their validated responses."""
        responses = self._app.send(*requests)
        for request, response in zip(requests, responses, strict=True):
            self._check(request, response)
        return responses

    def _check(self, request: httpx.Request, response: httpx.Response) -> None:
        assert response.headers.get("Request-Id"), "every answer names its request"
        if request.method == "HEAD":
            assert response.content == b""
            return
        if response.status_code != 204:
            assert response.content.endswith(b"\n"), "every body ends with a newline"
            assert response.headers["Cache-Control"].startswith("max-age=0, no-cache, no-store")
        raw = request.url.raw_path.partition(b"?")[0].decode()
        path = raw if "%2F" in raw else request.url.path  # a slash inside a parameter
        while "//" in path:
            path = path.replace("//", "/")
        start, view, fragment = path.partition("/navigation_views/")  # accepts slashes
        path = start + view + fragment.replace("/", "%2F")
        method = request.method
        if method == "POST":
            headers = {name.lower(): value for name, value in request.headers.raw}
            if response.status_code != 403:  # a foreign origin is rejected before the body is read
                method = overriding_method(request.content, headers) or method
        asked = MockRequest(
            host_url=f"http://{request.headers['Host']}",
            method=method.lower(),
            path=path,
            args={},
            headers={},
            data=b"",
            content_type="",
        )
        answered = MockResponse(
            data=response.content,
            status_code=response.status_code,
            headers=dict(response.headers),
            content_type=response.headers.get("Content-Type", ""),
        )
        try:
            self._judge.validate_response(asked, answered)
        except PathError:
            if request.method == "OPTIONS":
                assert response.status_code in (204, 404)
                return
            assert response.status_code in UNFORESEEN, response.text
            self.check_schema("ErrorResponse", response.json())
        except OpenAPIError as error:
            cause = error.__cause__ or error
            raise OutsideTheDocument(
                f"{request.method} {request.url.path} -> {response.status_code}: {cause!r}\n"
                f"{response.text}"
            ) from error

    def check_schema(self, name: str, value: Any) -> None:
        """Raise an error unless `value` matches one of the document's schemas, by its name."""
        components = {"components": self._app.document["components"]}
        OAS30ReadValidator({"$ref": f"#/components/schemas/{name}", **components}).validate(value)


def _texts(value: Any) -> list[str]:
    """Return the texts sent for a parameter: several of a `Repeated`, unchanged text, or JSON."""
    if isinstance(value, Repeated):
        return list(value)
    return [value if isinstance(value, str) else stdlib_json.dumps(value)]


@dataclass(frozen=True)
class SentFile:
    """A parameter that is a file."""

    name: str = "words.txt"
    content: bytes = b"Words, words, words."
    media_type: str = "text/plain"


def _multipart(files: Mapping[str, SentFile], parameters: Mapping[str, Any]) -> tuple[bytes, str]:
    """Return a body with files and other fields, and its media type."""
    parts = [(n, (file.name, file.content, file.media_type)) for n, file in files.items()]
    fields = {
        name: _texts(value)
        for name, value in parameters.items()
        if name not in files and value is not None
    }
    request = httpx.Request("POST", "http://nowhere", files=parts, data=fields)
    return request.read(), request.headers["Content-Type"]


class Repeated(tuple[str, ...]):
    """A parameter sent as repeated keys, the form of arrays in generated clients."""
