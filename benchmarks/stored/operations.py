"""The calls to a service with a database, each with its only correct response."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from benchmarks.engine.operations import JSON, Operation, Request
from benchmarks.stored.tables import ROWS, VERSION

LISTED, MAX_LISTED = 20, 100
MAX_ID = 2**31 - 1
MAX_TEXT = 200


def _get(path: str) -> Request:
    return Request("GET", f"/v1{path}")


def _post(body: str) -> Request:
    return Request("POST", "/v1/tasks", JSON, body)


def _task(number: int) -> dict[str, Any]:
    return {"id": number, "text": f"task {number}", "completed": number % 2 == 0}


def _tasks(count: int) -> dict[str, Any]:
    return {"tasks": [_task(number) for number in range(1, count + 1)]}


_LONGEST = "\N{EURO SIGN}\N{GRINNING FACE}" * (MAX_TEXT // 2)


OPERATIONS = (
    Operation(
        name="constant",
        title="GET, a constant",
        request=_get("/version"),
        status=200,
        answer={"version": VERSION},
        refused={},
    ),
    Operation(
        name="one row",
        title="GET, one row by its key",
        request=_get("/tasks/42"),
        status=200,
        answer=_task(42),
        refused={
            "no such row": _get(f"/tasks/{MAX_ID}"),
            "too small": _get("/tasks/0"),
            "too large": _get(f"/tasks/{MAX_ID + 1}"),
            "not an integer": _get("/tasks/x"),
        },
    ),
    Operation(
        name=f"{LISTED} rows",
        title=f"GET, {LISTED} rows",
        request=_get(f"/tasks?limit={LISTED}"),
        status=200,
        answer=_tasks(LISTED),
        refused={
            "too small": _get("/tasks?limit=0"),
            "too large": _get(f"/tasks?limit={MAX_LISTED + 1}"),
            "not an integer": _get("/tasks?limit=x"),
        },
    ),
    Operation(
        name="POST",
        title="POST, one row",
        request=_post('{"text": "new"}'),
        status=201,
        answer={"text": "new", "completed": False},
        refused={
            "empty": _post('{"text": ""}'),
            "too long": _post(f'{{"text": "{"x" * (MAX_TEXT + 1)}"}}'),
            "missing": _post("{}"),
            "unknown field": _post('{"text": "new", "completed": true}'),
            "not a string": _post('{"text": 5}'),
            "not an object": _post('["new"]'),
            "broken JSON": _post('{"text": '),
        },
    ),
)
"""The measured operations."""
UNMEASURED = (
    replace(OPERATIONS[1], name="last row", request=_get(f"/tasks/{ROWS}"), answer=_task(ROWS)),
    replace(OPERATIONS[2], name="default", request=_get("/tasks")),
    replace(
        OPERATIONS[2],
        name="most rows",
        request=_get(f"/tasks?limit={MAX_LISTED}"),
        answer=_tasks(MAX_LISTED),
    ),
    replace(
        OPERATIONS[3],
        name="longest text",
        request=_post(f'{{"text": "{_LONGEST}"}}'),
        answer={"text": _LONGEST, "completed": False},
    ),
)
"""Calls at the limits of the document, which are compared too."""


def disagreements(name: str, ask: Callable[[Request], tuple[int, Any]]) -> list[str]:
    """Return a sentence for every wrong response of a server. A new row may have any id, but must
    be readable under it.
    """
    wrong = []
    for operation in (*OPERATIONS, *UNMEASURED):
        status, answer = ask(operation.request)
        if status == 201 and isinstance(answer, dict):
            stored = ask(_get(f"/tasks/{answer.get('id')}"))
            if stored != (200, answer):
                wrong.append(f"{name} {operation.name}: answered {answer}, but stored {stored}")
            answer = {key: value for key, value in answer.items() if key != "id"}
        if (status, answer) != (operation.status, operation.answer):
            wrong.append(f"{name} {operation.name}: answered {status} {answer}")
    for operation in OPERATIONS:
        for case, request in operation.refused.items():
            status, _ = ask(request)
            if not 400 <= status < 500:
                wrong.append(f"{name} {operation.name}, {case}: answered {status}")
    return wrong
