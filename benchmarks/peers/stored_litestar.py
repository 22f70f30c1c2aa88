"""Litestar with the plugin of advanced-alchemy, as in its documentation: a session by dependency
injection, and msgspec structs. Handlers that use the database run in threads, because SQLAlchemy
blocks.
"""

from typing import Annotated

from advanced_alchemy.extensions.litestar import SQLAlchemyPlugin, SQLAlchemySyncConfig
from litestar import Litestar, get, post
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.params import JSONBody, Parameter
from msgspec import Meta, Struct
from sqlalchemy import select
from sqlalchemy.orm import Session

from benchmarks.stored.tables import (
    NO_SUCH_TASK,
    VERSION,
    Task,
    open_engines,
    rendered,
    url_of_server,
)


class Version(Struct):
    version: str


class TaskOut(Struct):
    id: int
    text: str
    completed: bool


class Tasks(Struct):
    tasks: list[TaskOut]


class NewTask(Struct, forbid_unknown_fields=True):
    text: Annotated[str, Meta(min_length=1, max_length=200)]


@get("/v1/version")
async def get_version() -> Version:
    return Version(version=VERSION)


@get("/v1/tasks", sync_to_thread=True)
def list_tasks(
    reading: NamedDependency[Session], limit: Annotated[int, Parameter(ge=1, le=100)] = 20
) -> Tasks:
    tasks = reading.scalars(select(Task).order_by(Task.id).limit(limit))
    return Tasks(tasks=[TaskOut(**rendered(task)) for task in tasks])


@get("/v1/tasks/{task_id:int}", sync_to_thread=True)
def get_task(
    reading: NamedDependency[Session], task_id: Annotated[int, Parameter(ge=1, le=2147483647)]
) -> TaskOut:
    task = reading.get(Task, task_id)
    if task is None:
        raise NotFoundException(NO_SUCH_TASK["message"])
    return TaskOut(**rendered(task))


@post("/v1/tasks", sync_to_thread=True)
def create_task(writing: NamedDependency[Session], data: JSONBody[NewTask]) -> TaskOut:
    task = Task(text=data.text, completed=False)
    writing.add(task)
    writing.flush()
    made = TaskOut(**rendered(task))
    writing.commit()  # the plugin's own commit ignores errors
    return made


def app() -> Litestar:
    configs = [
        SQLAlchemySyncConfig(
            engine_instance=engine,
            engine_dependency_key=f"{key}_engine",
            session_dependency_key=key,
        )
        for key, engine in zip(("reading", "writing"), open_engines(url_of_server()), strict=True)
    ]
    return Litestar(
        [get_version, list_tasks, get_task, create_task],
        plugins=[SQLAlchemyPlugin(config=configs)],
        openapi_config=None,
    )
