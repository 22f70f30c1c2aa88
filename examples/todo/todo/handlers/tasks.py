"""Operations of the tag tasks."""

from typing import Literal

from sqlalchemy import select

from specd import Context, Refusal
from todo import types
from todo.models import Task


class TaskNotFound(Refusal):
    """No task has this id."""

    status, code, sentence = 404, "task_not_found", "There is no task {task_id}."


def list_tasks(
    ctx: Context, *, limit: int, after: int, completed: bool | None = None
) -> types.TaskList:
    """List tasks."""
    query = select(Task.id, Task.text, Task.completed).where(Task.id > after)
    if completed is not None:
        query = query.where(Task.completed == completed)
    rows = ctx.session.execute(query.order_by(Task.id).limit(limit))
    return {"tasks": [_task(*row) for row in rows]}


def create_task(ctx: Context, *, body: types.NewTask) -> tuple[types.Task, Literal[201]]:
    """Create a task."""
    task = Task(text=body["text"], completed=False)
    ctx.session.add(task)
    ctx.session.flush()
    return _task(task.id, task.text, task.completed), 201


def complete_task(ctx: Context, *, task_id: int) -> types.Task:
    """Complete a task."""
    task = ctx.session.get(Task, task_id, with_for_update=True)
    if task is None:
        raise TaskNotFound(task_id=task_id)
    task.completed = True
    return _task(task.id, task.text, task.completed)


def _task(number: int, text: str, completed: bool) -> types.Task:
    return {"id": number, "text": text, "completed": completed}
