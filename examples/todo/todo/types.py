# Written by `specd types`, not by hand. b8af2fee14a06d93
"""The types of todo: its schemas, and what its handlers get and return."""

# isort: skip_file
from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Literal, Never, Protocol, TypeAlias, TypeVar, TypedDict


class NewTask(TypedDict):
    text: str


class Task(TypedDict):
    id: int
    text: str
    completed: bool


class TaskList(TypedDict):
    tasks: list[Task]


class ErrorResponse(TypedDict):
    code: str
    message: str


if TYPE_CHECKING:
    from specd import Response
    from todo.handlers import tasks as _tasks

    _Body = TypeVar("_Body")
    _Status = TypeVar("_Status")
    _Reply: TypeAlias = tuple[_Body, _Status] | tuple[_Body, _Status, Mapping[str, str]]
    _Returned: TypeAlias = _Body | Response | Awaitable[_Body | Response]
    _ListTasksReply: TypeAlias = (
        TaskList
        | _Reply[TaskList, Literal[200]]
        | _Reply[ErrorResponse, Literal[400]]
        | _Reply[ErrorResponse, int]
    )

    class _ListTasks(Protocol):
        def __call__(
            self,
            ctx: Never,
            *,
            completed: bool = ...,
            after: int,
            limit: int,
        ) -> _Returned[_ListTasksReply]: ...

    _CreateTaskReply: TypeAlias = (
        ErrorResponse
        | _Reply[Task, Literal[201]]
        | _Reply[ErrorResponse, Literal[400]]
        | _Reply[ErrorResponse, int]
    )

    class _CreateTask(Protocol):
        def __call__(self, ctx: Never, *, body: NewTask) -> _Returned[_CreateTaskReply]: ...

    _CompleteTaskReply: TypeAlias = (
        Task
        | _Reply[Task, Literal[200]]
        | _Reply[ErrorResponse, Literal[400, 404]]
        | _Reply[ErrorResponse, int]
    )

    class _CompleteTask(Protocol):
        def __call__(self, ctx: Never, *, task_id: int) -> _Returned[_CompleteTaskReply]: ...

    def compare_handlers() -> None:
        _1: _ListTasks = _tasks.list_tasks
        _2: _CreateTask = _tasks.create_task
        _3: _CompleteTask = _tasks.complete_task
