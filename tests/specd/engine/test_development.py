"""The additions of `--reload` to errors of the running version."""

import json
from typing import Any

import pytest

from specd import Context, Response, encode
from specd._engine.serving.app import engine_of
from specd._engine.serving.development import explaining
from tests.specd.engine.services import operation, serve

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
def test_error_names_the_current_mistake(body: Any, expected: Any) -> None:
    mistakes = [""]
    explain, response = explaining(lambda: mistakes[-1]), Response(404, encode(body))
    explain(KeyError(), response)
    assert json.loads(response.body) == body
    mistakes.append("a.py:1: no")
    explain(KeyError(), response)
    assert json.loads(response.body) == expected


def test_empty_response_stays_empty() -> None:
    response = Response(404, b"")
    explaining(lambda: "a.py:1: no")(KeyError(), response)
    assert response.body == b""


def test_undocumented_response_is_explained() -> None:
    def read(ctx: Context) -> Any:
        return {}, 418

    described = operation("read", responses={"200": {"description": "Fine."}})
    client = serve({"/a": {"get": described}}, {"read": read})
    engine = engine_of(client.app)
    assert engine is not None
    assert client.get("/a").json["details"] == []
    engine.apis[0].explain = explaining(lambda: "")
    (detail,) = client.get("/a").json["details"]
    assert detail["message"] == (
        "The document does not allow the answer: made: read (GET /a): status 418 is undocumented"
    )
