"""Calls a service of the project like a client, on an empty database of the test."""

from __future__ import annotations

import asyncio
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx
import pytest

from settings import Settings
from specd._db import migrate
from specd._engine.serving.app import build_app
from wsgi import project


class Calls:
    """A service in this process that validates each response of a handler by the document."""

    def __init__(self, name: str, folder: Path) -> None:
        (entry,) = (each for each in project.services if each.name == name)
        url = f"sqlite:///{folder / name}.db"
        migrate.upgrade(url, name)
        variables = {
            "SPECD_DATA_DIR": str(folder),
            f"SPECD_{name.upper()}_DATABASE_URL": url,
            "SPECD_VALIDATE_RESPONSES": "true",
        }
        self._service = import_module(entry.wiring).compose(Settings.from_env(variables))
        self._transport = httpx.ASGITransport(app=build_app([self._service]))
        self._runner = asyncio.Runner()

    def __call__(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Return the response to a request. `options` are those of httpx. Skip the test if the
        handler is not written yet (501), and fail it if the response does not match the document.
        """

        async def exchange() -> httpx.Response:
            async with httpx.AsyncClient(
                transport=self._transport, base_url="http://service.test"
            ) as client:
                return await client.request(method, path, **options)

        answer = self._runner.run(exchange())
        if answer.status_code == 501:
            pytest.skip("the handler is not written yet")
        assert answer.status_code < 500, answer.text
        return answer

    def close(self) -> None:
        self._runner.close()
        if self._service.database is not None:
            self._service.database.dispose()
