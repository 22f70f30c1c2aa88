"""What `--reload` adds to the errors of the version that serves."""

import json
from typing import Any

import pytest

from specd import Response, encode
from specd._engine.serving.development import with_mistake

SAID = {"path": "", "message": "An older version answers: a.py:1: no"}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"code": "a"}, {"code": "a", "details": [SAID]}),
        ({"details": [{"path": "/b"}]}, {"details": [{"path": "/b"}, SAID]}),
        ({"details": "text"}, {"details": [SAID]}),
        (["no object"], ["no object"]),
        (None, None),
    ],
)
def test_an_error_names_the_mistake_while_there_is_one(body: Any, expected: Any) -> None:
    mistakes = [""]
    respond = with_mistake(lambda error, _: Response(404, encode(body)), lambda: mistakes[-1])
    assert json.loads(respond(KeyError(), "1").body) == body
    mistakes.append("a.py:1: no")
    assert json.loads(respond(KeyError(), "1").body) == expected


def test_an_empty_answer_stays_empty() -> None:
    respond = with_mistake(lambda error, _: Response(404, b""), lambda: "a.py:1: no")
    assert respond(KeyError(), "1").body == b""
