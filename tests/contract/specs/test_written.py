"""Each document defines everything once and is published completely."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import orjson
import pytest
import yaml
from openapi_spec_validator import validate

import specs
from specd import Response
from specd._engine.openapi.loading import load
from specd._engine.service import Service
from specd._engine.serving.documents import published as published_by
from tests.support.served import documents_of
from wsgi import project


def written(name: str) -> str:
    return (specs.HERE / f"{name}.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", project.documents)
def test_published_document_matches_its_files(name: str) -> None:
    document, loaded = specs.document(name), load(specs.HERE / f"{name}.yaml")
    assert (document.content, document.text) == (loaded.content, loaded.text)
    assert yaml.load(document.text, Loader=yaml.CSafeLoader) == document.content


@pytest.mark.parametrize("name", project.documents)
def test_servers_have_absolute_urls(name: str) -> None:
    """Importers resolve relative URLs with the URL of the page or the folder that they read."""
    document = specs.document(name)
    service = Service(
        name=name,
        documents=[document],
        handlers="",
        base_path="/v1",
        respond=lambda error, request_id: Response(500),
    )
    found = published_by(service)
    names = r", \"x-\w+Func\": \"[\w.]+\""
    public = json.loads(re.sub(names, "", json.dumps(document.content)))
    for published in (found["/v1/openapi.yaml"], found["/v1/openapi.json"]):
        body = published.respond("GET", {b"host": b"api.example"}).body
        content = yaml.load(body, Loader=yaml.CSafeLoader)
        (server,) = content["servers"]
        assert server["url"].startswith("http://api.example")
        assert not server["url"].endswith("/")
        assert {**content, "servers": document.content["servers"]} == public


@pytest.mark.parametrize("name", project.documents)
def test_examples_are_inline(name: str) -> None:
    """For a reference to an example, express-openapi-validator answers 500 to everything."""
    assert "#/components/examples/" in written(name)
    assert "examples" not in specs.load(name)["components"]


@pytest.mark.parametrize("name", project.documents)
def test_each_document_is_self_contained(name: str) -> None:
    document = specs.load(name)
    assert [to for to in references(document) if not to.startswith("#/components/")] == []
    if name not in documents_of("chat"):  # whose own test does it
        validate(document)


def test_shared_parts_are_defined_once() -> None:
    own, payment = specs.load("payment-events"), specs.load("payment")
    shared = {
        (kind, name)
        for kind, components in own["components"].items()
        for name in components
        if name in payment["components"].get(kind, {})
    }
    assert ("schemas", "Invoice") in shared
    for kind, name in shared - {("schemas", "ErrorCode")}:
        assert own["components"][kind][name] == payment["components"][kind][name]


@pytest.mark.parametrize("name", project.documents)
def test_no_example_is_duplicated(name: str) -> None:
    """Places with the same example refer to a component, and every component is used."""
    document = yaml.load(written(name), Loader=yaml.CSafeLoader)
    components = document["components"].pop("examples")
    whole = [*components.values(), *inline(document, set())]
    texts = [orjson.dumps(example) for example in whole]
    assert len(texts) > 20
    assert [text for text in set(texts) if texts.count(text) > 1] == []
    assert [key for key in components if written(name).count(f'/examples/{key}"') == 0] == []


def inline(node: Any, seen: set[int]) -> Iterator[Any]:
    """Yield the inline examples, without single words or numbers. The target of an alias counts
    once.
    """
    if id(node) in seen or not isinstance(node, dict | list):
        return
    seen.add(id(node))
    if isinstance(node, list):
        for item in node:
            yield from inline(item, seen)
        return
    for key, value in node.items():
        if key == "examples" and isinstance(value, dict):
            yield from (one for one in value.values() if isinstance(one.get("value"), dict | list))
        else:
            yield from inline(value, seen)


def references(node: Any) -> list[str]:
    if isinstance(node, Mapping):
        own = [node["$ref"]] if isinstance(node.get("$ref"), str) else []
        return own + [found for item in node.values() for found in references(item)]
    if isinstance(node, list):
        return [found for item in node for found in references(item)]
    return []
