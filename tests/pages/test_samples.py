"""Examples of requests on reference pages are complete and work."""

from __future__ import annotations

import copy
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE
from typing import Any

import httpx
import pytest

import specs
from handlers.payment.wire.context import PaymentAdapters
from handlers.payment.wiring import build_service
from settings import Settings
from specd._engine.openapi.structure import METHODS
from specd._engine.service import Service
from specd._engine.serving.app import build_app
from specd._pages.assets import STATIC
from specd.db import Clock, Database
from tests.pages.stage import EMAIL, running
from tests.support.payment.app import FakeGateway
from tests.support.payment.factories import Merchant, make_merchant
from wsgi import project

HOSTILE = """it's "here" $HOME `id` \\n \\ ${EMAIL} %41 & = ü \N{GRINNING FACE}
# second line"""
GENERATE = """
import { curlOf, javascriptOf, pythonOf, requestOf } from SAMPLES;
const { documents, asked, origin } = JSON.parse(await new Response(process.stdin).text());
const Async = (async () => {}).constructor;
const made = asked.map(([number, path, method]) => {
  const request = requestOf(documents[number], path, method, origin);
  const javascript = javascriptOf(request);
  new Async(javascript.replace(/^import .*$/gm, "")); // raises SyntaxError
  return [curlOf(request), pythonOf(request), javascript];
});
console.log(JSON.stringify(made));
"""


def generate(asked: list[tuple[Any, str, str]], origin: str) -> list[list[str]]:
    """Return the examples (curl, Python, JavaScript) of operations (document, path, method)."""
    if shutil.which("node") is None:
        pytest.skip("Node.js is not installed")
    samples = json.dumps((STATIC / "reference" / "samples.js").as_uri())
    documents = list({id(content): content for content, _, _ in asked}.values())
    numbers = {id(content): number for number, content in enumerate(documents)}
    given = {
        "documents": documents,
        "asked": [[numbers[id(content)], path, method] for content, path, method in asked],
        "origin": origin,
    }
    script = GENERATE.replace("SAMPLES", samples)
    done = subprocess.run(
        ["node", "--input-type=module", "-e", script],
        input=json.dumps(given, default=str),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    made: list[list[str]] = json.loads(done.stdout)
    return made


def operations() -> list[tuple[Any, str, str]]:
    """Return every operation of every document as (document, path, method)."""
    return [
        (content, path, method)
        for content in map(specs.load, project.documents)
        for path, item in content["paths"].items()
        for method in METHODS
        if method in item
    ]


def test_every_operation_has_valid_examples_in_each_language() -> None:
    made = generate(operations(), "https://api.example")  # this compiles the examples in JavaScript
    assert len(made) > 200
    for _, python, _ in made:
        compile(python, "example", "exec")
    shell = "\n".join(curl for curl, _, _ in made)
    subprocess.run(["sh", "-n"], input=shell, text=True, check=True)
    assert "undefined" not in shell


@pytest.fixture
def merchant(sqlite_url: str) -> Iterator[Merchant]:
    database = Database(sqlite_url)
    yield database.run(lambda session: make_merchant(session, now=Clock().now()))
    database.dispose()


@pytest.fixture
def base(service: Service, sqlite_url: str) -> Iterator[str]:
    settings = Settings(database_urls={"payment": sqlite_url}, rate_limits=False)
    payment = build_service(settings, clock=Clock(), adapters=PaymentAdapters(chain=FakeGateway()))
    with running(build_app([payment, service])) as address:
        yield address


def with_body(name: str, path: str, media_type: str, **body: object) -> tuple[Any, str, str]:
    """Return a POST operation whose document has this example of its body."""
    content = specs.load(name)
    operation = copy.deepcopy(content["paths"][path]["post"])
    media = operation["requestBody"]["content"][media_type]
    media.pop("examples", None)
    media["example"] = body
    return {**content, "paths": {path: {"post": operation}}}, path, "post"


def test_examples_in_each_language_have_the_described_effect(
    base: str, key: str, merchant: Merchant, tmp_path: Path
) -> None:
    """JSON with a bearer key and an idempotency key, a form with Basic credentials, a query, and a
    file. Their texts need careful quoting.
    """
    (tmp_path / "FILE").write_text("Words, words, words.")
    form = "application/x-www-form-urlencoded"
    client = httpx.Client(base_url=f"{base}/api/v1", auth=(EMAIL, key))
    channel = json.dumps([{"name": "Elsinore"}])  # named by the example of the query
    client.post("/users/me/subscriptions", data={"subscriptions": channel}).raise_for_status()
    user_id = client.get("/users/me").json()["user_id"]
    asked = []
    for order in ("curl", "python", "javascript"):
        invoice = {"external_order_id": f"{order} {HOSTILE}", "attempt_no": 1}
        pay = {"amount": "1.5", "payment_method_id": "tusd-local"}
        message = {"type": "direct", "to": f"[{user_id}]", "content": f"{order} {HOSTILE}"}
        asked += [
            with_body("payment", "/v1/invoices", "application/json", **invoice, **pay),
            with_body("chat", "/messages", form, **message),
            (specs.load("chat"), "/get_stream_id", "get"),
            (specs.load("chat"), "/user_uploads", "post"),
        ]
    made = generate(asked, base)
    for payment in made[::4]:
        payment[:] = [text.replace("API_KEY", "MERCHANT_KEY") for text in payment]
    *blocks, upload = (each[2] for each in made[8:])  # only the last example has an import
    programs = {
        "all.sh": "\n".join(each[0] for each in made[:4]),
        "all.py": "\n".join(each[1] for each in made[4:8]),
        "all.mjs": "\n".join([*(f"{{\n{block}}}" for block in blocks), upload]),
    }
    for name, text in programs.items():
        (tmp_path / name).write_text(text)
    env = {**os.environ, "EMAIL": EMAIL, "API_KEY": key, "MERCHANT_KEY": merchant.key}
    running = [
        subprocess.Popen([*program, name], cwd=tmp_path, env=env, stdout=PIPE, stderr=PIPE)
        for program, name in zip((["sh"], [sys.executable], ["node"]), programs, strict=True)
    ]
    for process in running:
        output, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
        assert b'"external_order_id"' in output, output
        assert output.count(b'"result":"success"') == 3, output

    direct = json.dumps([{"operator": "is", "operand": "dm"}])
    query = {"narrow": direct, "anchor": "newest", "num_before": 10, "num_after": 0}
    shown = client.get("/messages", params={**query, "apply_markdown": "false"}).json()["messages"]
    sent = {message["content"].partition(" ")[0]: message["content"] for message in shown}
    assert sent == {name: f"{name} {HOSTILE}" for name in ("curl", "python", "javascript")}
    own = httpx.get(
        f"{base}/v1/invoices", headers={"Authorization": f"Bearer {merchant.key}"}
    ).json()["data"]
    assert {invoice["external_order_id"] for invoice in own} == {
        f"{name} {HOSTILE}" for name in ("curl", "python", "javascript")
    }
    files = client.get("/attachments").json()["attachments"]
    assert [file["size"] for file in files] == [20, 20, 20]
