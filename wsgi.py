"""The applications that gunicorn serves: `wsgi:app` has every service, `wsgi:chat` that one alone.

Built on first access, in the worker, from the environment's `SPECD_*` settings. The name of this
module is the custom; the applications speak ASGI.
"""

from __future__ import annotations

import os
from functools import partial
from importlib import import_module
from typing import Any

import logs
import tracing
from models.secret_shapes import SHAPES
from pages.app import build_pages
from server.openapi.mistakes import Mistakes
from server.service import Service
from server.serving.app import build_app
from services import SERVICES, Entry
from settings import Settings, SettingsError

APPLICATIONS = {"app": SERVICES, **{entry.name: (entry,) for entry in SERVICES}}


def _build(entries: tuple[Entry, ...]) -> Any:
    settings = Settings.from_env()
    services: dict[Entry, Service] = {
        entry: import_module(entry.wiring).compose(settings) for entry in entries
    }
    logs.configure(settings.log_level, secrets=SHAPES)
    pages = build_pages(
        documents={
            name: address
            for service in services.values()
            for name, address in service.addresses.items()
        },
        failures={
            service.name: service.list_failures()
            for service in services.values()
            if service.list_failures is not None
        },
        own=[
            partial(import_module(entry.pages).install_for, service=service)
            for entry, service in services.items()
            if entry.pages
        ],
        is_https=settings.public_url.startswith("https://"),
    )
    return build_app(services.values(), pages=pages, trusted_proxies=settings.trusted_proxies)


def _build_or_exit(entries: tuple[Entry, ...]) -> Any:
    """Return the application. A document with mistakes ends the process with their report, and so
    do traces that cannot be exported, and settings that need an extra that is not installed.
    """
    try:
        tracing.start(os.environ, "specd-server")
        return _build(entries)
    except (Mistakes, tracing.CannotTrace, SettingsError) as error:
        raise SystemExit(str(error)) from None


def __getattr__(name: str) -> Any:
    if name in APPLICATIONS:
        application = globals()[name] = _build_or_exit(APPLICATIONS[name])
        return application
    raise AttributeError(name)
