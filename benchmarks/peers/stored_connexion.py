"""Stock connexion AsyncApp on tasks.yaml. Its handlers are `def`, because SQLAlchemy blocks."""

from pathlib import Path
from typing import Any

import yaml
from connexion import AsyncApp
from connexion.options import SwaggerUIOptions
from connexion.resolver import RelativeResolver
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from benchmarks.stored.tables import (
    NO_SUCH_TASK,
    VERSION,
    Task,
    open_engines,
    rendered,
    url_of_server,
)

DOCUMENT = Path(__file__).parents[1] / "stored" / "tasks.yaml"
_engines: list[Engine] = []


async def get_version() -> dict[str, Any]:
    return {"version": VERSION}


def list_tasks(limit: int) -> dict[str, Any]:
    with Session(_engines[0]) as session:
        tasks = session.scalars(select(Task).order_by(Task.id).limit(limit))
        return {"tasks": [rendered(task) for task in tasks]}


def get_task(task_id: int) -> dict[str, Any] | tuple[dict[str, Any], int]:
    with Session(_engines[0]) as session:
        task = session.get(Task, task_id)
        return rendered(task) if task else (NO_SUCH_TASK, 404)


def create_task(body: dict[str, Any]) -> tuple[dict[str, Any], int]:
    with Session(_engines[1]) as session:
        task = Task(text=body["text"], completed=False)
        session.add(task)
        session.flush()
        made = rendered(task)
        session.commit()
        return made, 201


def app() -> AsyncApp:
    _engines[:] = open_engines(url_of_server())
    stock = AsyncApp(__name__)
    stock.add_api(
        yaml.safe_load(DOCUMENT.read_text()),
        resolver=RelativeResolver(__name__),
        strict_validation=True,
        swagger_ui_options=SwaggerUIOptions(swagger_ui=False),
    )
    return stock
