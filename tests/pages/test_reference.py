"""/docs and the static files without a browser."""

from __future__ import annotations

import gzip
import re
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from flask.testing import FlaskClient

import specs
from pages import chat
from specd._applications import find_contents
from specd._pages.assets import STATIC
from tests.specd.engine.services import shop_service
from tests.support.service_pages import build_pages


@pytest.fixture
def client() -> FlaskClient:
    documents = {"payment": "/v1/openapi", "chat": "/api/v1/openapi"}
    contents = {name: specs.load(name) for name in documents}
    return build_pages(documents=documents, contents=contents).test_client()


class TestReference:
    def test_list_names_each_service_and_its_document(self, client: FlaskClient) -> None:
        page = client.get("/docs").text
        for link in (
            "/docs/payment",
            "/v1/openapi.yaml",
            "/v1/openapi.json",
            "/docs/chat",
            "/api/v1/openapi.yaml",
            "/api/v1/openapi.json",
        ):
            assert f'href="{link}"' in page

    @pytest.mark.parametrize(("name", "base"), [("payment", "/v1"), ("chat", "/api/v1")])
    def test_page_loads_the_document_of_its_service(
        self, client: FlaskClient, name: str, base: str
    ) -> None:
        answer = client.get(f"/docs/{name}")
        assert answer.status_code == 200
        assert f'data-document="{base}/openapi.json"' in answer.text
        policy = answer.headers["Content-Security-Policy"]
        assert "unsafe" not in policy
        assert "http" not in policy

    def test_page_describes_the_document_and_is_small(self, client: FlaskClient) -> None:
        answer = client.get("/docs/chat", headers={"Accept-Encoding": "gzip"})
        assert len(answer.data) < 20_000, "size of the first load on a phone"
        page = gzip.decompress(answer.data).decode()
        document = specs.load("chat")
        assert '<h2 id="authentication">Authentication</h2>' in page
        for path, item in document["paths"].items():
            for method in {"get", "post", "put", "patch", "delete"} & item.keys():
                [tag, *_] = item[method]["tags"]
                name = item[method]["operationId"]
                assert f'id="/{tag}/{name}" data-method="{method}" data-path="{path}"' in page

    def test_html_in_a_document_is_shown_as_text(self) -> None:
        hostile = "<img src=x onerror=alert(1)> [x](javascript:alert(1)) `<b>`"
        operation = {"operationId": "x", "summary": hostile, "tags": ["<i>"]}
        content = {
            "info": {"title": hostile, "version": "<u>", "description": hostile},
            "tags": [{"name": "<i>", "description": hostile}],
            "paths": {"/<p>": {"get": operation}},
        }
        app = build_pages(documents={"made": "/made"}, contents={"made": content})
        page = app.test_client().get("/docs/made").text
        for markup in ("<img", "<u>", "<i>", "<p>x", "<b><", 'href="javascript'):
            assert markup not in page
        assert page.count("&lt;img") == 4

    def test_operations_of_all_methods_are_listed_without_an_operation_id(self) -> None:
        responses = {"200": {"description": "OK"}}
        methods = ("get", "put", "post", "delete", "options", "head", "patch")
        content = {
            "openapi": "3.1.0",
            "info": {"title": "Made", "version": "1"},
            "paths": {
                "/a": {"parameters": [], **{each: {"responses": responses} for each in methods}},
                "/b": {"$ref": "#/components/pathItems/B"},
            },
            "components": {"pathItems": {"B": {"get": {"responses": responses}}}},
        }
        contents = find_contents(shop_service(document=content))
        (name,) = contents
        app = build_pages(documents={name: "/made"}, contents=contents)
        page = app.test_client().get(f"/docs/{name}").text
        listed = re.findall(r'data-method="(\w+)" data-path="([^"]+)" data-name="(\w+)"', page)
        assert {each[:2] for each in listed} == {*((each, "/a") for each in methods), ("get", "/b")}
        assert len({name for _, _, name in listed}) == len(methods) + 1

    @pytest.mark.parametrize("path", ["/docs/other", "/docs/", "/docs/payment/x", "/nothing"])
    def test_unknown_name_gives_a_404_page(self, client: FlaskClient, path: str) -> None:
        answer = client.get(path)
        assert answer.status_code == 404
        assert "<h1>Page not found</h1>" in answer.text


class TestStaticFiles:
    def test_referenced_files_exist_and_can_be_cached(self, client: FlaskClient) -> None:
        page = client.get("/docs/payment").text
        links = re.findall(r'(?:src|href)="(/static/[^"]+)"', page)
        assert len(links) == 5
        for link in links:
            answer = client.get(link)
            assert answer.status_code == 200
            # Modules import each other by plain names.
            is_kept = answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
            assert is_kept is ("?v=" in link)
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            answer.close()

    @pytest.mark.parametrize("name", ["swagger-ui/swagger-ui-bundle.js", "pages.css"])
    def test_texts_are_compressed_if_accepted(self, client: FlaskClient, name: str) -> None:
        plain = client.get(f"/static/{name}")
        packed = client.get(f"/static/{name}", headers={"Accept-Encoding": "br, gzip"})
        assert "Content-Encoding" not in plain.headers
        assert packed.headers["Content-Encoding"] == "gzip"
        assert plain.headers["Vary"] == packed.headers["Vary"] == "Accept-Encoding"
        assert gzip.decompress(packed.data) == plain.data == (STATIC / name).read_bytes()
        assert int(packed.headers["Content-Length"]) == len(packed.data) < len(plain.data) / 2
        tag = packed.headers["ETag"]
        again = client.get(
            f"/static/{name}", headers={"If-None-Match": tag, "Accept-Encoding": "gzip"}
        )
        assert (again.status_code, again.data) == (304, b"")
        refused = client.get(f"/static/{name}", headers={"Accept-Encoding": "gzip;q=0"})
        assert refused.data == plain.data
        for answer in (plain, refused):
            answer.close()

    def test_other_version_is_not_cached(self, client: FlaskClient) -> None:
        answer = client.get("/static/pages.css?v=0")
        assert answer.headers["Cache-Control"] == "no-cache"
        assert client.get("/static/pages.css").headers["Cache-Control"] == "no-cache"

    def test_scripts_and_styles_have_their_media_types(self, client: FlaskClient) -> None:
        types = {
            name: client.get(f"/static/{name}").mimetype
            for name in ("checkout.js", "pages.css", "icon.svg")
        }
        assert types == {
            "checkout.js": "text/javascript",
            "pages.css": "text/css",
            "icon.svg": "image/svg+xml",
        }

    @pytest.mark.parametrize("path", ["../app.py", "..%2fapp.py", "%2e%2e/app.py", "/etc/passwd"])
    def test_other_files_are_not_served(self, client: FlaskClient, path: str) -> None:
        assert client.get(f"/static/{path}").status_code in (404, 308)


class TestRedirects:
    """Redirects go to paths, not to the host that a client sends."""

    EVIL = "evil.example"

    @pytest.fixture
    def every_page(self) -> FlaskClient:
        service: Any = SimpleNamespace(
            settings=SimpleNamespace(chat_page=True, chat_export_dir=Path("none"), dashboard=True),
            database=None,
            clock=None,
            adapters=None,
        )
        install = partial(chat.install_for, service=service)
        return build_pages(documents={"chat": "/api/v1/openapi"}, own=[install]).test_client()

    def test_redirects_name_no_host(self, every_page: FlaskClient) -> None:
        seen = 0
        fixed = {
            rule.rule.partition("<")[0] for rule in every_page.application.url_map.iter_rules()
        }
        for path in fixed:
            whole = path if path.endswith("/") else f"{path}/"
            for target in (path, f"/{path}", path.replace("/", "//"), f"{whole}/x", path[:-1]):
                with every_page.get(target or "/", headers={"Host": self.EVIL}) as answer:
                    if 300 <= answer.status_code < 400:
                        seen += 1
                        place = answer.headers["Location"]
                        assert place.startswith("/"), target
                        assert not place.startswith("//"), target
                    assert self.EVIL not in f"{answer.headers}{answer.text}", target
        assert seen > 10

    def test_doubled_slashes_are_merged(self, client: FlaskClient) -> None:
        answer = client.get("/static//x?v=1", headers={"Host": self.EVIL})
        assert (answer.status_code, answer.headers["Location"]) == (308, "/static/x?v=1")


ROOT = Path(__file__).parents[2]
LINK = re.compile(r"\]\((/[^){}]*)\)")


def test_links_in_texts_of_the_chat_have_a_target() -> None:
    """For all texts with a fixed address, such as notices, the page and the anchor exist."""
    content = specs.load("chat")
    documents = {"chat": "/api/v1/openapi"}
    app = build_pages(documents=documents, contents={"chat": content}, own=[chat.add_chat])
    client = app.test_client()
    links = {
        link
        for directory in ("models", "handlers", "workers")
        for file in (ROOT / directory).rglob("*.py")
        for link in LINK.findall(file.read_text())
    }
    assert links
    for link in links:
        path, _, fragment = link.partition("#")
        answer = client.get(path)
        assert answer.status_code == 200, link
        assert f'id="{fragment}"' in answer.text, link
