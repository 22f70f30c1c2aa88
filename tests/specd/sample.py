"""A project with one sample service, written into a temporary folder."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from textwrap import dedent
from threading import Thread
from typing import Any

import httpx
import pytest

from specd._composition import compose
from specd._engine.serving.app import build_app
from specd._project import ROOT_VARIABLE, Project, current
from specd._settings import load_settings

_NUMBERS = count(1)
WSGI = """
from specd import Project

project = Project("{name}")
__getattr__ = project.application
"""


class Sample:
    """A project below `root`. The name of its service is unique, because Python caches imported
    modules.
    """

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.name = f"sample{next(_NUMBERS)}"
        self._monkeypatch = monkeypatch
        self.write("wsgi.py", WSGI)

    def write(self, path: str, text: str) -> None:
        """Write a file. `{name}` in its text is replaced by the name of the service."""
        file = self.root / path.replace("{name}", self.name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text).replace("{name}", self.name), encoding="utf-8")

    def project(self) -> Project:
        """Return the project, which is the current project until the test ends."""
        self._monkeypatch.setenv(ROOT_VARIABLE, str(self.root))
        self._monkeypatch.syspath_prepend(self.root)
        self._monkeypatch.delitem(sys.modules, "wsgi", raising=False)
        return current()

    @contextmanager
    def client(self, **settings: Any) -> Iterator[httpx.Client]:
        """Yield a client of the service, composed like in production."""
        project = self.project()
        variables = {"SPECD_DATA_DIR": str(self.root / "var"), **settings}
        for name, value in variables.items():
            self._monkeypatch.setenv(name, value)
        service = compose(project[self.name], load_settings())
        transport = Transport(build_app([service]))
        with httpx.Client(transport=transport, base_url="http://sample.test") as client:
            yield client
        if service.database is not None:
            service.database.dispose()


class Transport(httpx.BaseTransport):
    """Calls an application of this process from synchronous code, in any thread."""

    def __init__(self, app: Any) -> None:
        self._transport = httpx.ASGITransport(app=app)
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever)
        self._thread.start()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        async def exchange() -> httpx.Response:
            answer = await self._transport.handle_async_request(request)
            body = await answer.aread()
            return httpx.Response(answer.status_code, headers=answer.headers, content=body)

        return asyncio.run_coroutine_threadsafe(exchange(), self._loop).result()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
