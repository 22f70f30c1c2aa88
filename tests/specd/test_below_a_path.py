"""A service whose public address has a path: a proxy removes it, or another application mounts the
service there. All links contain it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
import yaml
from starlette.applications import Starlette
from starlette.routing import Mount

from specd import _logs as logs
from specd._applications import build
from specd._settings import load_settings
from specd.errors import SettingsError
from tests.specd.sample import Sample, Transport

PLAIN = {"Accept-Encoding": "identity"}
PUBLIC = "https://shop.example/shop"
DOCUMENT = """
    openapi: 3.1.0
    info:
      title: Sample
      version: 1.0.0
      description: "[Own](/own/), [anywhere](//other.example/), [part](#part)"
    servers: [{url: /v1}]
    paths:
      /things/{text}:
        parameters: [{name: text, in: path, required: true, schema: {type: string}}]
        get: {operationId: read_thing, responses: {"200": {description: A thing.}}}
        post: {operationId: change_thing, responses: {"200": {description: A thing.}}}
"""
HANDLERS = """
    def read_thing(ctx, *, text):
        return {"text": text}

    def change_thing(ctx, *, text):
        return {"text": text}
    """
PAGES = """
    from flask import redirect, render_template, url_for

    from specd.pages import add_entrance

    def install_for(app, service):
        add_entrance(app, "Own", "/own/", "A page of the service.")
        app.get("/own/", endpoint="own")(lambda: render_template("own.html"))
        app.get("/there")(lambda: redirect(url_for("own")))
"""
OWN = """
    {% extends "base.html" %}
    {% block body %}<a href="{{ root }}/v1/openapi.json">{{ url_for("own") }}</a>{% endblock %}
"""
LINK = re.compile(r"""(?:href|src|data-(?:document|script|style))="([^"]*)\"""")


@contextmanager
def served(
    sample: Sample, monkeypatch: pytest.MonkeyPatch, public_url: str = PUBLIC
) -> Iterator[Any]:
    """Yield the application of the service with a public address."""
    monkeypatch.setattr(logs, "configure", lambda *_, **__: None)
    sample.write("{name}/openapi.yaml", DOCUMENT)
    sample.write("{name}/handlers.py", HANDLERS)
    sample.write("{name}/pages.py", PAGES)
    file = sample.root / sample.name / "templates/own.html"
    file.parent.mkdir()
    file.write_text(OWN)
    (sample.root / sample.name / "__init__.py").touch()
    monkeypatch.setenv("SPECD_DATA_DIR", str(sample.root / "var"))
    if public_url:
        monkeypatch.setenv("SPECD_PUBLIC_URL", public_url)
    project = sample.project()
    yield build(project, project.services)


@contextmanager
def client(app: Any) -> Iterator[httpx.Client]:
    """Yield a client that reaches the application itself, as the proxy does."""
    with httpx.Client(
        transport=Transport(app), base_url="http://127.0.0.1:8080", headers=PLAIN
    ) as calls:
        yield calls


class TestProxy:
    def test_links_of_all_pages_lead_through_the_proxy(
        self, sample: Sample, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with served(sample, monkeypatch) as app, client(app) as calls:
            waiting, found = ["/"], set()
            while waiting:
                path = waiting.pop()
                answer = calls.get(path)
                assert answer.status_code == 200, path
                found.add(path)
                if answer.headers["Content-Type"].startswith("text/html"):
                    for link in LINK.findall(answer.text):
                        if not link.startswith(("#", "//other.example/")):
                            assert link.startswith("/shop/"), (path, link)
                            below = link.removeprefix("/shop").partition("#")[0]
                            waiting += {below} - found - set(waiting)
        pages = {"/", "/docs", f"/docs/{sample.name}", f"/docs/{sample.name}/errors", "/own/"}
        assert found >= pages | {"/v1/openapi.json", "/v1/openapi.yaml"}
        assert len([path for path in found if path.startswith("/static/")]) > 5

    def test_redirect_and_urls_of_flask_contain_the_path(
        self, sample: Sample, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with served(sample, monkeypatch) as app, client(app) as calls:
            for path in ("/own", "/there"):
                assert calls.get(path).headers["Location"] == "/shop/own/"
            assert ">/shop/own/</a>" in calls.get("/own/").text

    def test_published_document_names_the_public_address(
        self, sample: Sample, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with served(sample, monkeypatch) as app, client(app) as calls:
            servers = [{"url": f"{PUBLIC}/v1"}]
            assert json.loads(calls.get("/v1/openapi.json").text)["servers"] == servers
            assert yaml.safe_load(calls.get("/v1/openapi.yaml").text)["servers"] == servers
            assert "<code>/shop/v1</code>" in calls.get(f"/docs/{sample.name}").text

    def test_errors_link_to_their_page(
        self, sample: Sample, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with served(sample, monkeypatch) as app, client(app) as calls:
            answer = calls.get("/v1/nothing")
            assert answer.status_code == 404
            page = f"/shop/docs/{sample.name}/errors#not_found"
            assert answer.headers["Link"] == f'<{page}>; rel="help"'

    def test_origin_has_no_path(self, sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
        with served(sample, monkeypatch) as app, client(app) as calls:
            for origin, status in (("https://shop.example", 200), ("https://other.example", 403)):
                headers = {"Origin": origin, "Cookie": "a=b"}
                assert calls.post("/v1/things/a", headers=headers).status_code == status

    def test_path_is_not_accepted_twice(
        self, sample: Sample, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with served(sample, monkeypatch) as app, client(app) as calls:
            for path in ("/shop/v1/things/a", "/shop/docs", "/shop/healthz"):
                assert calls.get(path).status_code == 404
            assert calls.get("/v1/things/shop").json() == {"text": "shop"}
            assert calls.get("/healthz").status_code == 200

    def test_without_a_path_links_begin_at_the_root(
        self, sample: Sample, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with served(sample, monkeypatch, "https://shop.example/") as app, client(app) as calls:
            assert calls.get("/own").headers["Location"] == "/own/"
            assert 'href="/docs"' in calls.get("/").text
            assert "<code>/v1</code>" in calls.get(f"/docs/{sample.name}").text
            assert calls.get("/v1/nothing").headers["Link"].startswith("</docs/")

    @pytest.mark.parametrize(
        "url",
        [
            f"https://shop.example{path}"
            for path in ("/a//b", "/a/../b", "/./a", "/a%2Fb", "/ü", "/a;b", "/a:b", "/a,b", "//a")
        ],
    )
    def test_path_that_could_be_read_differently_is_refused(
        self, monkeypatch: pytest.MonkeyPatch, url: str
    ) -> None:
        monkeypatch.setenv("SPECD_PUBLIC_URL", url)
        with pytest.raises(SettingsError, match="SPECD_PUBLIC_URL must have a path of letters"):
            load_settings()


class TestMounted:
    """An ASGI server or application that passes the path as `root_path`."""

    @pytest.mark.parametrize("root", ["/shop", "/a b/ü"])
    @pytest.mark.parametrize("public_url", ["", PUBLIC])
    def test_requests_are_served_below_the_root_path(
        self, sample: Sample, monkeypatch: pytest.MonkeyPatch, root: str, public_url: str
    ) -> None:
        with served(sample, monkeypatch, public_url) as inner:
            app = Starlette(routes=[Mount(root, inner)])
            with client(app) as calls:
                texts = {
                    "a": "a",
                    "%C3%BC": "ü",
                    "a%2Fb": "a/b",
                    "a%252Fb": "a%2Fb",
                    "shop": "shop",
                }
                for sent, text in texts.items():
                    assert calls.get(f"{root}/v1/things/{sent}").json() == {"text": text}
                assert calls.get(f"{root}/healthz").status_code == 200
                assert calls.get("/v1/things/a").status_code == 404
                location = calls.get(f"{root}/own").headers["Location"]
                if public_url:
                    assert location == "/shop/own/"
                else:
                    assert httpx.URL(location).path == f"{root}/own/"

    def test_root_path_that_is_not_in_the_path_is_ignored(
        self, sample: Sample, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A server whose proxy removes the path and sends it as `root_path`."""
        with served(sample, monkeypatch) as inner:

            async def app(scope: Any, receive: Any, send: Any) -> None:
                await inner({**scope, "root_path": "/shop"}, receive, send)

            with client(app) as calls:
                assert calls.get("/v1/things/a").json() == {"text": "a"}
                assert calls.get("/own").headers["Location"] == "/shop/own/"
                assert calls.get("/shopping").status_code == 404
