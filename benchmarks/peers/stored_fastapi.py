"""FastAPI with SQLAlchemy, as in its documentation: a session by Depends, `def` handlers."""

from collections.abc import Iterator
from typing import Annotated

from fastapi import Depends, FastAPI, HTTPException, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field
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


class Version(BaseModel):
    version: str


class TaskOut(BaseModel):
    id: int
    text: str
    completed: bool


class Tasks(BaseModel):
    tasks: list[TaskOut]


class NewTask(BaseModel):
    model_config = ConfigDict(extra="forbid")

    text: str = Field(min_length=1, max_length=200)


def get_session(request: Request) -> Iterator[Session]:
    reading, writing = request.app.state.engines
    with Session(reading if request.method == "GET" else writing) as session:
        yield session


SessionDep = Annotated[Session, Depends(get_session)]


async def get_version() -> Version:
    return Version(version=VERSION)


def list_tasks(session: SessionDep, limit: Annotated[int, Query(ge=1, le=100)] = 20) -> Tasks:
    tasks = session.scalars(select(Task).order_by(Task.id).limit(limit))
    return Tasks(tasks=[TaskOut(**rendered(task)) for task in tasks])


def get_task(session: SessionDep, task_id: Annotated[int, Path(ge=1, le=2147483647)]) -> TaskOut:
    task = session.get(Task, task_id)
    if task is None:
        raise HTTPException(404, NO_SUCH_TASK["message"])
    return TaskOut(**rendered(task))


def create_task(session: SessionDep, new: NewTask) -> TaskOut:
    task = Task(text=new.text, completed=False)
    session.add(task)
    session.flush()
    made = TaskOut(**rendered(task))
    session.commit()
    return made


def app() -> FastAPI:
    made = FastAPI(openapi_url=None)
    made.state.engines = open_engines(url_of_server())
    made.get("/v1/version")(get_version)
    made.get("/v1/tasks")(list_tasks)
    made.get("/v1/tasks/{task_id}")(get_task)
    made.post("/v1/tasks", status_code=201)(create_task)
    return made
