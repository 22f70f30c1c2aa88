"""Builds the application that gunicorn serves from the services of a project."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import structlog

from specd import _logs as logs
from specd import _tracing as tracing
from specd._composition import compose
from specd._engine import service as engine
from specd._engine.document.security import start_security
from specd._engine.openapi.mistakes import Mistakes
from specd._engine.openapi.union import unite
from specd._engine.serving.app import build_app, wrap
from specd._pages.app import build_pages
from specd._pages.security import installing
from specd._project import Project, Service, current, find_object
from specd._settings import SettingsError, load_settings


def find_contents(service: engine.Service) -> dict[str, Mapping[str, Any]]:
    """Return name -> content of each document, in which every operation has its operationId."""
    return {each.name: unite(service.name, [each]) for each in service.documents}


def find_folder(module: str) -> Path:
    """Return the folder that contains the file of a module."""
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def build(project: Project, services: Sequence[Service]) -> Any:
    """Return the ASGI application of some services, configured by the environment."""
    settings = load_settings()
    composed = {each.name: compose(each, settings) for each in services}
    logs.configure(settings.log_level, secrets=project.secret_patterns())
    if settings.limits_url and all(each.rate_limit is None for each in composed.values()):
        structlog.get_logger("specd.app").warning(
            "setting without effect",
            variable=settings.variable("limits_url"),
            reason="no service has a RateLimiter"
            if settings.rate_limits
            else f"{settings.variable('rate_limits')} is false",
        )
    pages = build_pages(
        documents={
            name: address
            for service in composed.values()
            for name, address in service.addresses.items()
        },
        contents={
            name: content
            for service in composed.values()
            for name, content in find_contents(service).items()
        },
        failures={
            service.name: service.list_failures()
            for service in composed.values()
            if service.list_failures is not None
        },
        own=[
            installing(
                partial(import_module(each.pages).install_for, service=composed[each.name]),
                each.csp,
            )
            for each in services
            if each.pages
        ],
        folders=sorted({find_folder(each.pages) for each in services if each.pages}),
        is_https=settings.public_url.startswith("https://"),
        prefix=settings.path_prefix,
    )
    app = build_app(
        composed.values(),
        pages=pages,
        trusted_proxies=settings.trusted_proxies,
        prefix=settings.path_prefix,
    )
    for service in composed.values():
        start_security(
            service.document, service.settings, is_optional=bool(service.optional_security)
        )
    return wrap(app, [find_object(m) if isinstance(m, str) else m for m in project.middlewares])


def select(*names: str) -> Any:
    """Return the application of some services of the project, for the command line of gunicorn."""
    return current().application_of(*names)


def build_or_exit(project: Project, services: Sequence[Service]) -> Any:
    """Return the application. End the process with a report if a document has mistakes, if traces
    cannot be exported, or if settings need an extra that is not installed.
    """
    try:
        tracing.start(os.environ, "specd-server")
        return build(project, services)
    except (Mistakes, tracing.CannotTrace, SettingsError) as error:
        raise SystemExit(str(error)) from None
