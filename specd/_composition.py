"""The common part of every service's wiring, which comes from the settings."""

from collections.abc import Collection
from pathlib import Path
from typing import Any, cast

from specd._db.clock import Clock
from specd._db.database import Database
from specd._db.errors import DatabaseUnavailable
from specd._db.folders import find_problem
from specd._db.revisions import has_usable_schema
from specd._engine.document.checking import published
from specd._engine.http.browsers import Origins
from specd._engine.service import Service
from specd._project import current
from specd._settings import Settings


class NotWritable(Exception):
    """No file can be kept in a folder."""


def service_from_settings(
    settings: Settings,
    name: str,
    *,
    database: Database,
    clock: Clock,
    chosen: Collection[str] = (),
    needs_folders: Collection[Path] = (),
    **own: Any,
) -> Service:
    """Return a service of the project with those of its optional documents that are `chosen`;
    `own` are the fields that are this service's alone. It is ready while its schema fits and a file
    can be written into each of `needs_folders`.
    """

    project = current()

    def check_needs() -> None:
        if not has_usable_schema(cast(Database, service.database), name):
            raise DatabaseUnavailable()
        for folder in needs_folders:
            if problem := find_problem(folder):
                raise NotWritable(problem)

    service = Service(
        name=name,
        documents=[
            published(document, project.document_file(document))
            for document, its in project.documents.items()
            if its == name and (document in chosen or document not in project.optional)
        ],
        handlers=project[name].handlers,
        database=database,
        settings=settings,
        clock=clock,
        ready=check_needs,
        body_timeout_s=settings.body_read_timeout_s,
        answer_timeout_s=settings.answer_read_timeout_s,
        validate_responses=settings.validate_responses,
        origins=Origins(settings.public_url, settings.allowed_origins, project[name].cors),
        **{"public_url": settings.published_url, **own},
    )
    return service
