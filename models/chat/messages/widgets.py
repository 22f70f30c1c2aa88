"""Polls and to-do lists: what the first lines of a message make of it."""

import re
from typing import Any

POLL, TODO = "poll", "todo"
_COMMAND = re.compile(rf"/({POLL}|{TODO})(?!\S)")
_BULLET = re.compile(r"[-*]?\s*")


def widget_type_of(content: str) -> str | None:
    """`POLL` or `TODO`; None where the message is text alone."""
    found = _COMMAND.match(content)
    return None if found is None else found[1]


def describe_widget(content: str) -> dict[str, Any] | None:
    """The widget as its first submessage describes it; None where there is none.

    The question or the title stands behind the command. Each further line that is not blank is an
    option, or a task whose description stands behind the first colon; bullets are left out.
    """
    kind = widget_type_of(content)
    if kind is None:
        return None
    first, *others = content[len(kind) + 1 :].splitlines() or [""]
    lines = [_BULLET.sub("", line.strip(), count=1) for line in others]
    lines = [line for line in lines if line]
    data: dict[str, Any]
    if kind == POLL:
        data = {"question": first.strip(), "options": lines}
    else:
        tasks = [line.partition(":") for line in lines]
        data = {
            "task_list_title": first.strip(),
            "tasks": [{"task": task.strip(), "desc": desc.strip()} for task, _, desc in tasks],
        }
    return {"widget_type": kind, "extra_data": data}
