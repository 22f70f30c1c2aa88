"""Polls and to-do lists, parsed from a message."""

import re
from typing import Any

POLL, TODO = "poll", "todo"
_COMMAND = re.compile(rf"/({POLL}|{TODO})(?!\S)")
_BULLET = re.compile(r"[-*]?\s*")


def widget_type_of(content: str) -> str | None:
    """Return `POLL` or `TODO`, or None if the message is only text."""
    command = _COMMAND.match(content)
    return None if command is None else command[1]


def describe_widget(content: str) -> dict[str, Any] | None:
    """Return the widget as in its first submessage, or None if the message is not a widget.

    The question or the title follows the command. Each further non-blank line is an option, or a
    task with its description after the first colon. Bullets are removed.
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
