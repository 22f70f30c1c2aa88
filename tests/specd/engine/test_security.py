"""Authentication: schemes, alternatives and combinations."""

import base64
from collections.abc import Iterator
from typing import Any

import pytest

from specd import Context
from specd._engine.document.security import compile_security
from specd._engine.errors import DocumentError
from tests.specd.engine.client import Client
from tests.specd.engine.services import ADA, operation, serve

AUTH = "tests.specd.engine.shop.auth"
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
    """Return a service of one operation that returns the actor."""

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
    ([{"basic": []}], [basic(":good-password")], None),
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
    ([{}, {"bearer": []}], [ADA], "ada"),
    ([{}, {"bearer": []}], [("Authorization", "Bearer bad")], None),
    ([{"bearer": []}, {}], [("Authorization", "Bearer bad")], None),
    ([{}, {"key": []}, {"bearer": []}], [("X-Key", "bad"), ADA], "ada"),
    ([{}, {"key": []}, {"bearer": []}], [("X-Key", "bad")], None),
    ([{}, {"key": [], "bearer": []}], [KEY], None),
]


@pytest.mark.parametrize(("security", "headers", "actor"), CASES)
def test_credentials_are_checked(
    security: list[dict[str, list[str]]], headers: list[tuple[str, str]], actor: str | None
) -> None:
    answer = secured(security).get("/who", headers=headers)
    if actor is None:
        assert answer.status == 401
    else:
        assert (answer.status, answer.json) == (200, {"actor": actor})


HERE = "tests.specd.engine.test_security"
FLOWS = {"clientCredentials": {"tokenUrl": "https://example.com", "scopes": {"read": "", "w": ""}}}
MORE: dict[str, Any] = {
    **SCHEMES,
    "query": {
        "type": "apiKey",
        "in": "query",
        "name": "api key",
        "x-apikeyInfoFunc": f"{AUTH}.key",
    },
    "cookie": {
        "type": "apiKey",
        "in": "cookie",
        "name": "session",
        "x-apikeyInfoFunc": f"{AUTH}.key",
    },
    "digest": {"type": "http", "scheme": "Digest", "x-digestInfoFunc": f"{HERE}.credentials"},
    "looks": {"type": "oauth2", "flows": FLOWS, "x-tokenInfoFunc": f"{HERE}.looks_at_scopes"},
    "says": {"type": "oauth2", "flows": FLOWS, "x-tokenInfoFunc": f"{HERE}.says_scopes"},
    "asks": {
        "type": "oauth2",
        "flows": FLOWS,
        "x-tokenInfoFunc": f"{HERE}.says_scopes",
        "x-scopeValidateFunc": f"{HERE}.one_is_enough",
    },
    "silent": {"type": "oauth2", "flows": FLOWS, "x-tokenInfoFunc": f"{AUTH}.bearer"},
    "openid": {
        "type": "openIdConnect",
        "openIdConnectUrl": "https://example.com",
        "x-openIdConnectInfoFunc": f"{HERE}.says_scopes",
    },
    "roles": {
        "type": "http",
        "scheme": "bearer",
        "x-bearerInfoFunc": f"{HERE}.looks_at_scopes",
    },
}


def credentials(text: str) -> str:
    return text


def looks_at_scopes(token: str, *, required_scopes: list[str]) -> str | None:
    return f"{token}: {' '.join(required_scopes)}" if token == "good-token" else None


def says_scopes(token: str) -> dict[str, Any] | None:
    """Return the token itself as the scopes."""
    return None if token == "bad" else {"sub": "ada", "scope": token.replace("+", " ")}


def one_is_enough(required: list[str], granted: list[str]) -> bool:
    return bool(set(required) & set(granted))


def token(text: str) -> tuple[str, str]:
    return "Authorization", f"Bearer {text}"


@pytest.mark.parametrize(
    ("security", "target", "headers", "actor"),
    [
        ([{"query": []}], "/who?api+key=good-key", [], "keyholder"),
        ([{"query": []}], "/who?api%20key=x&api%20key=good%2Dkey", [], "keyholder"),
        ([{"query": []}], "/who?api+key=bad", [], 401),
        ([{"query": []}], "/who", [("api key", "good-key")], 401),
        ([{"cookie": []}], "/who", [("Cookie", "a=b; session=good-key")], "keyholder"),
        ([{"cookie": []}], "/who", [("Cookie", "session=bad")], 401),
        ([{"cookie": []}], "/who?session=good-key", [], 401),
        ([{"cookie": [], "bearer": []}], "/who", [ADA, ("Cookie", "session=good-key")],
         "keyholder"),
        ([{"digest": []}], "/who", [("Authorization", 'DIGEST a="b", c=d')], 'a="b", c=d'),
        ([{"digest": []}], "/who", [ADA], 401),
        ([{"looks": ["read", "w"]}], "/who", [ADA], "good-token: read w"),
        ([{"looks": ["read"]}], "/who", [token("bad")], 401),
        ([{"looks": ["read"]}], "/who", [], 401),
        ([{"says": ["read"]}], "/who", [token("read+w")], {"sub": "ada", "scope": "read w"}),
        ([{"says": ["read", "w"]}], "/who", [token("read")], 403),
        ([{"says": []}], "/who", [token("x")], {"sub": "ada", "scope": "x"}),
        ([{"says": ["read"]}], "/who", [token("bad")], 401),
        ([{"asks": ["read", "w"]}], "/who", [token("w")], {"sub": "ada", "scope": "w"}),
        ([{"asks": ["read", "w"]}], "/who", [token("x")], 403),
        ([{"silent": ["read"]}], "/who", [ADA], 403),
        ([{"silent": []}], "/who", [ADA], "ada"),
        ([{"openid": ["read"]}], "/who", [token("read")], {"sub": "ada", "scope": "read"}),
        ([{"openid": ["read"]}], "/who", [token("w")], 403),
        ([{"says": ["read"]}, {"key": []}], "/who", [token("w"), KEY], "keyholder"),
        ([{"says": ["read"]}, {"key": []}], "/who", [token("w")], 403),
        ([{"roles": ["admin"]}], "/who", [ADA], "good-token: admin"),
    ],
)  # fmt: skip
def test_schemes_of_every_kind(
    security: list[dict[str, list[str]]],
    target: str,
    headers: list[tuple[str, str]],
    actor: Any,
) -> None:
    answer = secured(security, schemes=MORE).get(target, headers=headers)
    if isinstance(actor, int):
        assert answer.status == actor
    else:
        assert (answer.status, answer.json) == (200, {"actor": actor})


def test_key_in_the_query_is_not_an_unknown_parameter() -> None:
    def who(ctx: Context) -> dict[str, Any]:
        return {"unknown": ctx.unknown_parameters}

    described = operation("who", security=[{"query": []}])
    for is_strict in (False, True):
        client = serve(
            {"/who": {"get": described}},
            {"who": who},
            components={"securitySchemes": MORE},
            strict_queries=is_strict,
        )
        assert client.get("/who?api+key=good-key").json == {"unknown": []}


def test_challenge_of_a_token_is_bearer() -> None:
    answer = secured([{"says": ["read"]}, {"openid": []}], schemes=MORE).get("/who")
    assert answer.header("WWW-Authenticate") == "Bearer"


def test_function_can_be_named_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEARERINFO_FUNC", f"{AUTH}.bearer")
    client = secured([{"a": []}], schemes={"a": {"type": "http", "scheme": "bearer"}})
    assert client.get("/who", headers=[ADA]).json == {"actor": "ada"}


def test_mutual_tls_is_rejected() -> None:
    with pytest.raises(DocumentError, match="x: security scheme a: mutualTLS is not served"):
        compile_security([{"a": []}], {"a": {"type": "mutualTLS"}}, "x")


@pytest.mark.parametrize("security", [[], None, [{"bearer": []}, {}], [{}, {"bearer": []}]])
def test_operation_without_security_is_public(security: list[dict[str, list[str]]] | None) -> None:
    assert secured(security).get("/who").json == {"actor": None}


@pytest.mark.parametrize("headers", [[], [ROOT], [("Authorization", "x")], [KEY]])
def test_credentials_of_other_schemes_are_ignored(headers: list[tuple[str, str]]) -> None:
    for security in ([{}, {"bearer": []}], [{"bearer": []}, {}]):
        assert secured(security).get("/who", headers=headers).json == {"actor": None}


def test_optional_token_without_the_scope_is_rejected() -> None:
    client = secured([{}, {"says": ["w"]}], schemes=MORE)
    assert client.get("/who").json == {"actor": None}
    assert client.get("/who", headers=[("Authorization", "Bearer read")]).status == 403


class TestOptionalSecurity:
    """Operations without `security`, in unchanged documents."""

    @staticmethod
    def serve(
        optional: tuple[str, ...] = ("who",), schemes: Any = SCHEMES, **described: Any
    ) -> Client:
        def who(ctx: Context) -> dict[str, Any]:
            return {"actor": ctx.actor}

        paths = {
            "/who": {"get": operation("who", **described)},
            "/all": {"get": operation("everybody")},
        }
        functions = {"who": who, "everybody": lambda ctx: who(ctx)}
        components = {"securitySchemes": schemes}
        return serve(paths, functions, components=components, optional_security=optional)

    @pytest.mark.parametrize("described", [{}, {"security": []}])
    def test_credentials_of_each_scheme_are_used(self, described: dict[str, Any]) -> None:
        client = self.serve(**described)
        for headers, actor in (([], None), ([ADA], "ada"), ([ROOT], "root"), ([KEY], "keyholder")):
            assert client.get("/who", headers=headers).json == {"actor": actor}

    def test_wrong_credentials_are_rejected(self) -> None:
        responses = {"200": {"description": "Fine.", "content": {"application/json": {}}}}
        answer = self.serve(responses=responses).get("/who", headers=[("X-Key", "bad")])
        assert answer.status == 401  # although the document does not contain this response

    def test_other_operations_ignore_credentials(self) -> None:
        assert self.serve().get("/all", headers=[ADA]).json == {"actor": None}

    def test_published_document_is_unchanged(self) -> None:
        described = self.serve().get("/openapi.json").json["paths"]["/who"]["get"]
        assert "security" not in described

    @pytest.mark.parametrize(
        ("optional", "changes", "words"),
        [
            (("who", "whom"), {}, '"whom", but no operation has this name; did you mean "who"?'),
            (("who",), {"security": [{"key": []}]}, '"who", but it has `security` of its own'),
            (("who",), {"security": [{}]}, '"who", but it has `security` of its own'),
            (("who",), {"schemes": {}}, '"who", but the document has no security schemes'),
        ],
    )
    def test_errors_stop_the_start(
        self, optional: tuple[str, ...], changes: dict[str, Any], words: str
    ) -> None:
        with pytest.raises(DocumentError, match=words):
            self.serve(optional, **changes)


def test_challenge_names_each_scheme_once() -> None:
    answer = secured([{"bearer": []}, {"basic": []}, {"bearer": [], "key": []}]).get("/who")
    assert answer.header("WWW-Authenticate") == (
        'Bearer, Basic realm="api", charset="UTF-8", ApiKey in="header", name="X-Key"'
    )


def test_missing_credentials_precede_an_invalid_request() -> None:
    client = secured([{"bearer": []}])
    assert client.get("/who?n=x").status == 401
    assert client.get("/who?n=x", headers=[ADA]).status == 422


def test_second_authorization_is_rejected() -> None:
    assert secured([{"bearer": []}]).get("/who", headers=[ADA, ADA]).status == 422


def test_roles_are_checked_after_identity_and_before_parameters(shop: Client) -> None:
    assert shop.send("DELETE", "/items/0").status == 401
    assert shop.send("DELETE", "/items/5", headers=[ADA]).status == 403
    assert shop.send("DELETE", "/items/0", headers=[ADA]).status == 403
    assert shop.send("DELETE", "/items/0", headers=[ROOT]).status == 422
    assert shop.send("DELETE", "/items/5", headers=[ROOT]).json == {"id": 5, "actor": "root"}


async def waits(token: str) -> str:
    return token


BAD: dict[str, tuple[list[dict[str, list[str]]], dict[str, Any], str]] = {
    "unknown scheme": ([{"nowhere": []}], SCHEMES, 'no security scheme "nowhere"'),
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
                "x-bearerInfoFunc": "tests.specd.engine.test_security.waits",
            }
        },
        "must be a plain def",
    ),
    "digest": (
        [{"a": []}],
        {"a": {"type": "http", "scheme": "Digest"}},
        "security scheme a: names no function by x-digestInfoFunc, nor does DIGESTINFO_FUNC",
    ),
    "OAuth": (
        [{"a": []}],
        {"a": {"type": "oauth2", "flows": {}}},
        "names no function by x-tokenInfoFunc, nor does TOKENINFO_FUNC",
    ),
    "OpenID": (
        [{"a": []}],
        {"a": {"type": "openIdConnect", "openIdConnectUrl": "https://example.com"}},
        "names no function by x-openIdConnectInfoFunc or x-tokenInfoFunc",
    ),
}


@pytest.mark.parametrize(("security", "schemes", "words"), BAD.values(), ids=BAD)
def test_start_fails_for_unsupported_security(
    security: list[dict[str, list[str]]], schemes: dict[str, Any], words: str
) -> None:
    with pytest.raises(DocumentError, match=words) as refused:
        secured(security, schemes=schemes)
    assert "paths./who.get" in str(refused.value)


NOBODY: list[Any] = [None, False, 0, 0.0, "", b"", [], ()]


@pytest.mark.parametrize("result", NOBODY, ids=repr)
def test_falsy_result_is_not_an_actor(monkeypatch: pytest.MonkeyPatch, result: Any) -> None:
    """Most developers start with `return key == SECRET`."""
    monkeypatch.setattr(f"{AUTH}.key", lambda key: result)
    assert secured([{"key": []}]).get("/who", headers=[KEY]).status == 401
    monkeypatch.setattr(f"{AUTH}.key", lambda key: key == "good-key")
    assert secured([{"key": []}]).get("/who", headers=[KEY]).json == {"actor": True}
    assert secured([{"key": []}]).get("/who", headers=[("X-Key", "bad")]).status == 401


def test_empty_object_is_an_actor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{AUTH}.key", lambda key: {})
    assert secured([{"key": []}]).get("/who", headers=[KEY]).json == {"actor": {}}


def _yielding(key: str) -> Iterator[str]:
    yield key


class _Waiting:
    async def __call__(self, key: str) -> str:
        return key


@pytest.mark.parametrize("function", [_yielding, _Waiting()], ids=["generator", "async object"])
def test_function_that_returns_no_result_is_rejected(
    monkeypatch: pytest.MonkeyPatch, function: Any
) -> None:
    """Its result is true for any credentials."""
    monkeypatch.setattr(f"{AUTH}.key", function)
    with pytest.raises(DocumentError, match="must be a plain def"):
        secured([{"key": []}])
