"""Samples of `scripts/fuzz-documents`, and the contents of the configurations."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

import specs
from tests.contract.fuzz.documents import PATHS, run_with_documents
from tests.contract.specs.examples import operations
from tests.live.running_demo import Demo
from tests.tools.example_requests import ENDS_ACCESS

SLICE = ("--phases=examples,fuzzing", "--max-time=2", "--max-examples=2")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    demo = Demo(tmp_path_factory.mktemp("demo"), "--json")
    yield demo
    demo.kill()


@pytest.mark.parametrize("document", PATHS)
def test_finds_nothing_with_the_configuration(demo: Demo, document: str, tmp_path: Path) -> None:
    run = run_with_documents(demo, tmp_path, document, configured=True, seed=1, options=SLICE)
    assert run.status == 0, run.report[-6000:]
    assert " passed" in run.report
    assert run.answered


def test_each_configuration_is_served(demo: Demo) -> None:
    url = json.loads(demo.out.splitlines()[-1])["base_url"]
    for document, (_, path) in PATHS.items():
        answer = httpx.get(url + path)
        assert answer.status_code == 200
        assert answer.headers["Content-Type"] == "application/toml"
        assert answer.content == (specs.HERE / f"{document}.schemathesis.toml").read_bytes()


def test_configuration_only_excludes_operations_that_end_access() -> None:
    for document in PATHS:
        text = (specs.HERE / f"{document}.schemathesis.toml").read_text()
        left_out = {
            name
            for entry in tomllib.loads(text).get("operations", ())
            if not entry.get("enabled", True)
            for name in entry["include-operation-id"]
        }
        marked = {
            operation["operationId"]
            for _, _, operation, _ in operations(specs.load(document))
            if operation.get(ENDS_ACCESS)
        }
        assert left_out == marked
