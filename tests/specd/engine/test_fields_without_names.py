"""Fields of `additionalProperties` in addition to named fields: the whole form is one argument."""

from typing import Any

import pytest

from specd._engine.document.media import MULTIPART, URLENCODED
from tests.specd.engine.client import Client
from tests.specd.engine.services import operation, serve

NAMED = {"title": {"type": "string"}}
NUMBERS = {
    "type": "object",
    "required": ["title"],
    "properties": NAMED,
    "additionalProperties": {"type": "integer"},
}
FILES = {**NUMBERS, "additionalProperties": {"type": "string", "format": "binary"}}


def _body(schema: Any, media_type: str) -> dict[str, Any]:
    return {"required": True, "content": {media_type: {"schema": schema}}}


def _echo(ctx: Any, *, body: Any) -> Any:
    return {k: v.hex() if isinstance(v, bytes) else v for k, v in body.items()}


@pytest.fixture(scope="module")
def client() -> Client:
    numbers = operation("numbers", requestBody=_body(NUMBERS, URLENCODED))
    files = operation("files", requestBody=_body(FILES, MULTIPART))
    functions = {"numbers": _echo, "files": lambda ctx, *, body: _echo(ctx, body=body)}
    return serve({"/n": {"post": numbers}, "/f": {"post": files}}, functions)


def test_field_without_a_name_reaches_the_handler(client: Client) -> None:
    answer = client.post("/n", form=[("title", "x"), ("b", "5")])
    assert (answer.status, answer.json) == (200, {"title": "x", "b": 5})


@pytest.mark.parametrize("sent", [[("title", "x"), ("b", "y")], [("b", "5")]])
def test_field_without_a_name_is_checked(client: Client, sent: list[tuple[str, str]]) -> None:
    assert client.post("/n", form=sent).status == 422


def test_part_without_a_name_is_a_file(client: Client) -> None:
    parts = [(b'"title"', b"x"), (b'"doc1"; filename="a"', b"\xff\xfe"), (b'"doc2"', b"t")]
    body = b"".join(
        b"--b\r\nContent-Disposition: form-data; name=%b\r\n\r\n%b\r\n" % part for part in parts
    )
    answer = client.post("/f", body=body + b"--b--\r\n", content_type=f"{MULTIPART}; boundary=b")
    assert (answer.status, answer.json) == (200, {"title": "x", "doc1": "fffe", "doc2": "74"})
