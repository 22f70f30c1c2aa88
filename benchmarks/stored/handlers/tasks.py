"""The operations, with the ORM, like those of the peers."""

from typing import Any

from sqlalchemy import select

from benchmarks.stored.tables import NO_SUCH_TASK, VERSION, Task, rendered
from specd import Context


def get_version(ctx: Context) -> dict[str, Any]:
    """Return a constant."""
    return {"version": VERSION}


def list_tasks(ctx: Context, *, limit: int) -> dict[str, Any]:
    """List tasks."""
    tasks = ctx.session.scalars(select(Task).order_by(Task.id).limit(limit))
    return {"tasks": [rendered(task) for task in tasks]}


def get_task(ctx: Context, *, task_id: int) -> dict[str, Any] | tuple[dict[str, Any], int]:
    """Read a task."""
    task = ctx.session.get(Task, task_id)
    return rendered(task) if task else (NO_SUCH_TASK, 404)


def create_task(ctx: Context, *, body: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """Create a task."""
    task = Task(text=body["text"], completed=False)
    ctx.session.add(task)
    ctx.session.flush()
    return rendered(task), 201
