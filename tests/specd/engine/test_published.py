"""Published documents name absolute addresses: importers forget where a document came from."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
import yaml

from specd._engine.http.browsers import Origins
from specd._engine.openapi.union import Document
from specd._engine.serving.documents import accepts_gzip
from tests.specd.engine.services import SHOP, SHOP_TEXT, shop

HOST = [("Host", "api.example:8443")]


def servers(headers: list[tuple[str, str]], kind: str = "json", **changes: Any) -> Any:
    answer = shop(**changes).get(f"/openapi.{kind}", headers=headers)
    assert answer.status == 200
    return yaml.safe_load(answer.body)["servers"]


def written(text: bytes) -> dict[str, Any]:
    return {"documents": [Document("shop", yaml.safe_load(text), text)]}


@pytest.mark.parametrize("kind", ["yaml", "json"])
class TestAddresses:
    def test_the_one_asked(self, kind: str) -> None:
        assert servers(HOST, kind) == [{"url": "http://api.example:8443/shop"}]

    def test_the_scheme_is_the_public_addresss(self, kind: str) -> None:
        origins = Origins("https://pay.example")
        asked = servers(HOST, kind, origins=origins)
        assert asked == [{"url": "https://api.example:8443/shop"}]

    def test_the_public_one(self, kind: str) -> None:
        assert servers(HOST, kind, public_url="https://pay.example/of") == [
            {"url": "https://pay.example/of/shop"}
        ]

    def test_the_root_ends_without_a_slash(self, kind: str) -> None:
        text = SHOP_TEXT.replace(b"- url: /shop", b"- {url: /, description: Here}")
        assert servers(HOST, kind, **written(text)) == [
            {"url": "http://api.example:8443", "description": "Here"}
        ]

    @pytest.mark.parametrize("host", ["", "a b", 'a"b', "a/b", "a@b", "[::1", "caf\xe9"])
    def test_not_one_that_is_none(self, kind: str, host: str) -> None:
        assert servers([("Host", host)], kind) == [{"url": "/shop"}]

    @pytest.mark.parametrize("host", ["localhost", "10.0.0.1:80", "[::1]:8080"])
    def test_any_that_is_one(self, kind: str, host: str) -> None:
        assert servers([("Host", host)], kind) == [{"url": f"http://{host}/shop"}]

    def test_an_absolute_one_stays(self, kind: str) -> None:
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
def test_the_rest_of_the_text_is_kept(block: bytes) -> None:
    text = SHOP_TEXT.replace(b"servers:\n  - url: /shop\n", block)
    assert text != SHOP_TEXT or block == b"servers:\n  - url: /shop\n"
    read = yaml.safe_load(shop(**written(text)).get("/openapi.yaml", headers=HOST).body)
    assert read == {**SHOP, "servers": [{"url": "http://api.example:8443/shop"}]}


def test_each_address_has_an_etag_of_its_own() -> None:
    client = shop()
    one, other = (
        client.get("/openapi.yaml", headers=[("Host", host)]).header("ETag") for host in ("a", "b")
    )
    assert one != other
    asked = [("Host", "a"), ("If-None-Match", one or "")]
    assert client.get("/openapi.yaml", headers=asked).status == 304
    asked = [("Host", "b"), ("If-None-Match", one or "")]
    assert client.get("/openapi.yaml", headers=asked).status == 200


def test_a_document_without_servers_gets_none() -> None:
    text = SHOP_TEXT.replace(b"servers:\n  - url: /shop\n", b"")
    client = shop(**written(text))
    assert client.get("/openapi.yaml", headers=HOST).body == text
    assert "servers" not in client.get("/openapi.json", headers=HOST).json


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
