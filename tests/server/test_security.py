"""Who asks: schemes, alternatives and combinations."""

import base64
from typing import Any

import pytest

from server.context import Context
from server.errors import DocumentError
from tests.server.client import Client
from tests.server.services import ADA, operation, serve

AUTH = "tests.server.shop.auth"
SCHEMES: dict[str, Any] = {
    "bearer": {"type": "http", "scheme": "bearer", "x-bearerInfoFunc": f"{AUTH}.bearer"},
    "basic": {"type": "http", "scheme": "basic", "x-basicInfoFunc": f"{AUTH}.basic"},
    "key": {"type": "apiKey", "in": "header", "name": "X-Key", "x-apikeyInfoFunc": f"{AUTH}.key"},
}


def basic(text: str) -> tuple[str, str]:
    return "Authorization", "Basic " + base64.b64encode(text.encode()).decode()


ROOT = basic("root:good-password")
KEY = ("X-Key", "good-key")


def secured(
    security: list[dict[str, list[str]]] | None,
    *,
    schemes: dict[str, Any] | None = None,
) -> Client:
    """A service of one operation that answers who asked."""

    def who(ctx: Context, *, n: int = 0) -> dict[str, Any]:
        return {"actor": ctx.actor}

    parameters = [{"name": "n", "in": "query", "schema": {"type": "integer"}}]
    described = operation("who", parameters=parameters)
    if security is not None:
        described["security"] = security
    return serve(
        {"/who": {"get": described}},
        {"who": who},
        components={"securitySchemes": schemes or SCHEMES},
    )


CASES: list[tuple[list[dict[str, list[str]]], list[tuple[str, str]], str | None]] = [
    ([{"bearer": []}], [ADA], "ada"),
    ([{"bearer": []}], [("Authorization", "bearer   good-token ")], "ada"),
    ([{"bearer": []}], [("Authorization", "BEARER good-token")], "ada"),
    ([{"bearer": []}], [], None),
    ([{"bearer": []}], [("Authorization", "Bearer bad")], None),
    ([{"bearer": []}], [("Authorization", "Bearer")], None),
    ([{"bearer": []}], [("Authorization", "")], None),
    ([{"bearer": []}], [("Authorization", "good-token")], None),
    ([{"bearer": []}], [("Authorization", "Bearer\tgood-token")], None),
    ([{"bearer": []}], [("Authorization", "Bearergood-token")], None),
    ([{"bearer": []}], [("Authorization", "Bearer \xe9")], None),
    ([{"bearer": []}], [ROOT], None),
    ([{"bearer": []}], [KEY], None),
    ([{"basic": []}], [ROOT], "root"),
    ([{"basic": []}], [basic("a:b:c")], None),
    ([{"basic": []}], [basic(":good-password")], ""),
    ([{"basic": []}], [basic("root")], None),
    ([{"basic": []}], [("Authorization", "Basic !!!")], None),
    ([{"basic": []}], [("Authorization", "Basic /w==")], None),
    ([{"basic": []}], [("Authorization", "Basic \xe9")], None),
    ([{"basic": []}], [ADA], None),
    ([{"key": []}], [KEY], "keyholder"),
    ([{"key": []}], [("x-key", "good-key")], "keyholder"),
    ([{"key": []}], [("X-Key", "bad")], None),
    ([{"key": []}], [], None),
    ([{"bearer": []}, {"basic": []}], [ADA], "ada"),
    ([{"bearer": []}, {"basic": []}], [ROOT], "root"),
    ([{"bearer": []}, {"key": []}], [("Authorization", "Bearer bad"), KEY], "keyholder"),
    ([{"bearer": []}, {"basic": []}], [KEY], None),
    ([{"key": [], "bearer": []}], [ADA, KEY], "keyholder"),
    ([{"bearer": [], "key": []}], [ADA, KEY], "ada"),
    ([{"key": [], "bearer": []}], [ADA], None),
    ([{"key": [], "bearer": []}], [KEY], None),
    ([{"key": [], "bearer": []}], [KEY, ("Authorization", "Bearer bad")], None),
    ([{"bearer": []}, {}], [ADA], "ada"),
]


@pytest.mark.parametrize(("security", "headers", "actor"), CASES)
def test_who_is_let_in(
    security: list[dict[str, list[str]]], headers: list[tuple[str, str]], actor: str | None
) -> None:
    answer = secured(security).get("/who", headers=headers)
    if actor is None:
        assert answer.status == 401
    else:
        assert (answer.status, answer.json) == (200, {"actor": actor})


@pytest.mark.parametrize("security", [[], None, [{"bearer": []}, {}]])
def test_everybody_is_let_in(security: list[dict[str, list[str]]] | None) -> None:
    assert secured(security).get("/who").json == {"actor": None}


def test_the_challenge_names_each_scheme_once() -> None:
    answer = secured([{"bearer": []}, {"basic": []}, {"bearer": [], "key": []}]).get("/who")
    assert answer.header("WWW-Authenticate") == "Bearer, Basic, X-Key"


def test_no_credentials_come_before_a_bad_request() -> None:
    client = secured([{"bearer": []}])
    assert client.get("/who?n=x").status == 401
    assert client.get("/who?n=x", headers=[ADA]).status == 422


def test_a_second_authorization_is_refused() -> None:
    assert secured([{"bearer": []}]).get("/who", headers=[ADA, ADA]).status == 422


def test_roles_come_after_identity_and_before_parameters(shop: Client) -> None:
    assert shop.send("DELETE", "/items/0").status == 401
    assert shop.send("DELETE", "/items/5", headers=[ADA]).status == 403
    assert shop.send("DELETE", "/items/0", headers=[ADA]).status == 403
    assert shop.send("DELETE", "/items/0", headers=[ROOT]).status == 422
    assert shop.send("DELETE", "/items/5", headers=[ROOT]).json == {"id": 5, "actor": "root"}


async def waits(token: str) -> str:
    return token


BAD: dict[str, tuple[list[dict[str, list[str]]], dict[str, Any], str]] = {
    "unknown scheme": ([{"nowhere": []}], SCHEMES, "no security scheme nowhere"),
    "no function": ([{"a": []}], {"a": {"type": "http", "scheme": "bearer"}}, "names no function"),
    "missing function": (
        [{"a": []}],
        {"a": {"type": "http", "scheme": "bearer", "x-bearerInfoFunc": f"{AUTH}.nobody"}},
        "security scheme a",
    ),
    "missing module": (
        [{"a": []}],
        {"a": {"type": "http", "scheme": "bearer", "x-bearerInfoFunc": "no.such.module.f"}},
        "security scheme a",
    ),
    "coroutine": (
        [{"a": []}],
        {
            "a": {
                "type": "http",
                "scheme": "bearer",
                "x-bearerInfoFunc": "tests.server.test_security.waits",
            }
        },
        "must be a plain def",
    ),
    "key in the query": (
        [{"a": []}],
        {"a": {"type": "apiKey", "in": "query", "name": "k", "x-apikeyInfoFunc": f"{AUTH}.key"}},
        "must be in a header",
    ),
    "digest": ([{"a": []}], {"a": {"type": "http", "scheme": "digest"}}, "security scheme a"),
    "OpenID": (
        [{"a": []}],
        {"a": {"type": "openIdConnect", "openIdConnectUrl": "https://example.com"}},
        "security scheme a",
    ),
}


@pytest.mark.parametrize(("security", "schemes", "words"), BAD.values(), ids=BAD)
def test_start_up_refuses(
    security: list[dict[str, list[str]]], schemes: dict[str, Any], words: str
) -> None:
    with pytest.raises(DocumentError, match=words) as refused:
        secured(security, schemes=schemes)
    assert "who (GET /who)" in str(refused.value)
