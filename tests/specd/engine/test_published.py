"""Published documents contain absolute URLs, because importers forget a document's URL."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
import yaml

from specd._engine.http.browsers import Origins
from specd._engine.openapi.union import Document
from specd._engine.serving.documents import accepts_gzip
from tests.specd.engine.services import (
    PUBLISHED,
    PUBLISHED_TEXT,
    SHOP_TEXT,
    document,
    operation,
    serve,
    shop,
)

HOST = [("Host", "api.example:8443")]


def servers(headers: list[tuple[str, str]], kind: str = "json", **changes: Any) -> Any:
    answer = shop(**changes).get(f"/openapi.{kind}", headers=headers)
    assert answer.status == 200
    return yaml.safe_load(answer.body)["servers"]


def written(text: bytes) -> dict[str, Any]:
    return {"documents": [Document("shop", yaml.safe_load(text), text)]}


@pytest.mark.parametrize("kind", ["yaml", "json"])
class TestAddresses:
    def test_requested_url_is_used(self, kind: str) -> None:
        assert servers(HOST, kind) == [{"url": "http://api.example:8443/shop"}]

    def test_scheme_is_that_of_the_public_url(self, kind: str) -> None:
        origins = Origins("https://pay.example")
        asked = servers(HOST, kind, origins=origins)
        assert asked == [{"url": "https://api.example:8443/shop"}]

    def test_public_url_is_used(self, kind: str) -> None:
        assert servers(HOST, kind, public_url="https://pay.example/of") == [
            {"url": "https://pay.example/of/shop"}
        ]

    def test_root_has_no_trailing_slash(self, kind: str) -> None:
        text = SHOP_TEXT.replace(b"- url: /shop", b"- {url: /, description: Here}")
        assert servers(HOST, kind, **written(text)) == [
            {"url": "http://api.example:8443", "description": "Here"}
        ]

    @pytest.mark.parametrize("host", ["", "a b", 'a"b', "a/b", "a@b", "[::1", "caf\xe9"])
    def test_invalid_host_is_ignored(self, kind: str, host: str) -> None:
        assert servers([("Host", host)], kind) == [{"url": "/shop"}]

    @pytest.mark.parametrize("host", ["localhost", "10.0.0.1:80", "[::1]:8080"])
    def test_valid_host_is_used(self, kind: str, host: str) -> None:
        assert servers([("Host", host)], kind) == [{"url": f"http://{host}/shop"}]

    def test_absolute_url_is_kept(self, kind: str) -> None:
        text = SHOP_TEXT.replace(b"- url: /shop", b"- url: https://x.example/shop")
        assert servers(HOST, kind, **written(text)) == [{"url": "https://x.example/shop"}]


@pytest.mark.parametrize(
    "block",
    [
        b"servers: [{url: /shop}]\n",
        b"servers:\n- url: /shop\n",
        b"servers:\n\n  # Here.\n\n  - url: /shop\n",
        b"servers:\n  -\n    url: >-\n      /shop\n",
        b"'servers': [{url: /shop}]\n",
    ],
)
def test_other_text_is_kept(block: bytes) -> None:
    text = SHOP_TEXT.replace(b"servers:\n  - url: /shop\n", block)
    assert text != SHOP_TEXT or block == b"servers:\n  - url: /shop\n"
    read = yaml.safe_load(shop(**written(text)).get("/openapi.yaml", headers=HOST).body)
    assert read == {**PUBLISHED, "servers": [{"url": "http://api.example:8443/shop"}]}


def test_each_url_has_a_different_etag() -> None:
    client = shop()
    one, other = (
        client.get("/openapi.yaml", headers=[("Host", host)]).header("ETag") for host in ("a", "b")
    )
    assert one != other
    asked = [("Host", "a"), ("If-None-Match", one or "")]
    assert client.get("/openapi.yaml", headers=asked).status == 304
    asked = [("Host", "b"), ("If-None-Match", one or "")]
    assert client.get("/openapi.yaml", headers=asked).status == 200


def test_document_without_servers_gets_none() -> None:
    text, expected = (
        each.replace(b"servers:\n  - url: /shop\n", b"") for each in (SHOP_TEXT, PUBLISHED_TEXT)
    )
    client = shop(**written(text))
    assert client.get("/openapi.yaml", headers=HOST).body == expected
    assert "servers" not in client.get("/openapi.json", headers=HOST).json


CHECK = "tests.specd.engine.shop.auth.key"
SCHEMES = {
    "key": {"type": "apiKey", "in": "header", "name": "X-Key", "x-apikeyInfoFunc": CHECK},
    "login": {"type": "http", "scheme": "basic", "x-basicInfoFunc": CHECK, "x-note": "kept"},
    "open": {
        "type": "oauth2",
        "flows": {},
        "x-tokenInfoFunc": CHECK,
        "x-scopeValidateFunc": CHECK,
        "description": "Kept.",
    },
}


class TestNamesOfSourceCode:
    """Published documents contain no names of functions and modules."""

    CONTENT = document(
        {
            "/a": {
                "get": operation("read", **{"x-openapi-router-controller": "made_things.things"}),
                "x-swagger-router-controller": "made_things.things",
                "parameters": [],
            }
        },
        securitySchemes=SCHEMES,
    )
    EXAMPLE = "An example:\n  x-apikeyInfoFunc: other.check\n"

    def published(self, text: bytes = b"") -> tuple[bytes, Any]:
        content = yaml.safe_load(text) if text else self.CONTENT
        client = serve(
            {},
            {"read": lambda ctx: {}},
            documents=[Document("made", content, text)],
            base_path="/t",
        )
        answer = client.get("/openapi.yaml").body
        assert yaml.safe_load(answer) == client.get("/openapi.json").json
        return answer, yaml.safe_load(answer)

    def check(self, published: Any, **schemes: Any) -> None:
        assert published["paths"]["/a"].keys() == {"get", "parameters"}
        assert published["paths"]["/a"]["get"].keys() == operation("read").keys()
        expected = {
            "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
            "login": {"type": "http", "scheme": "basic", "x-note": "kept"},
            "open": {"type": "oauth2", "flows": {}, "description": "Kept."},
        }
        assert published["components"]["securitySchemes"] == expected

    def test_are_removed(self) -> None:
        text, content = self.published()
        self.check(content)
        assert b"made_things" not in text

    @pytest.mark.parametrize("flow", [False, None, True])
    @pytest.mark.parametrize("end", [b"\n", b"\r\n"])
    def test_are_removed_from_the_text(self, flow: bool | None, end: bytes) -> None:
        """In block style, in flow style, and in both."""
        text = yaml.safe_dump(self.CONTENT, default_flow_style=flow, sort_keys=False, width=9999)
        text = text.replace("x-note: kept", '"x-note": kept')
        written = b"# Kept too.\n" + text.encode().replace(b"\n", end)
        published, content = self.published(written)
        self.check(content)
        assert b"made_things" not in published
        assert published.startswith(b"# Kept too.")

    @pytest.mark.parametrize(
        "line",
        [
            b"x-apikeyInfoFunc: 'tests.specd.engine.shop.auth.key'  # Here.",
            b'x-apikeyInfoFunc:   "tests.specd.engine.shop.auth.key"',
            b"x-apikeyInfoFunc:\n        tests.specd.engine.shop.auth.key",
            b"'x-apikeyInfoFunc': tests.specd.engine.shop.auth.key",
            b"? x-apikeyInfoFunc\n      : tests.specd.engine.shop.auth.key",
        ],
    )
    def test_are_removed_in_every_notation(self, line: bytes) -> None:
        text = yaml.safe_dump(self.CONTENT, sort_keys=False, width=9999).encode()
        changed = text.replace(b"x-apikeyInfoFunc: " + CHECK.encode(), line)
        assert changed != text
        published, content = self.published(changed)
        self.check(content)
        assert b"InfoFunc" not in published

    def test_in_other_places_are_kept(self) -> None:
        info = {"title": "Made", "version": "1", "description": self.EXAMPLE}
        content = {**self.CONTENT, "info": info}
        text = yaml.safe_dump(content, default_style=None, sort_keys=False, width=9999).encode()
        _, published = self.published(text)
        self.check(published)
        assert published["info"] == info

    def test_text_without_names_is_published_unchanged(self) -> None:
        text = b"# A.\n" + yaml.safe_dump(document({})).encode() + b"# x-apikeyInfoFunc: a\n"
        assert self.published(text)[0] == text


class TestCompression:
    @pytest.mark.parametrize("host", ["a", "b.example:81"])
    @pytest.mark.parametrize("kind", ["yaml", "json"])
    def test_gzip_unpacks_to_the_plain_document(self, kind: str, host: str) -> None:
        client = shop()
        asked = [("Host", host)]
        plain = client.get(f"/openapi.{kind}", headers=asked)
        packed = client.get(f"/openapi.{kind}", headers=[*asked, ("Accept-Encoding", "br, gzip")])
        assert (plain.header("Content-Encoding"), packed.header("Content-Encoding")) == (
            None,
            "gzip",
        )
        assert {plain.header("Vary"), packed.header("Vary")} == {"Accept-Encoding"}
        assert gzip.decompress(packed.body) == plain.body
        assert len(packed.body) < len(plain.body)
        etag = packed.header("ETag") or ""
        assert etag == f"W/{plain.header('ETag')}"
        again = client.get(f"/openapi.{kind}", headers=[*asked, ("If-None-Match", etag)])
        assert again.status == 304

    @pytest.mark.parametrize(
        ("header", "is_accepted"),
        [
            (b"", False),
            (b"identity, br", False),
            (b"gzip", True),
            (b"deflate, GZIP;q=0.5", True),
            (b"gzip;q=0", False),
            (b"gzip; q=0.000, identity", False),
            (b"xgzip", False),
        ],
    )
    def test_gzip_only_if_accepted(self, header: bytes, is_accepted: bool) -> None:
        assert accepts_gzip(header) is is_accepted
