"""The tests that `specd new` writes, with missing, correct and wrong handlers."""

import json
import re
from typing import Any

import pytest

from specd._cli.scaffold import describe
from specd._engine.openapi.union import Document
from tests.specd.engine.corpus import CORPUS
from tests.support.stranger import Stranger

DOCUMENTS = (
    *("path-simple-together-list", "path-label-exploded-list", "path-matrix-together-object"),
    *("path-matrix-exploded-object", "query-form-together-object", "query-form-exploded-list"),
    *("query-spaceDelimited-together-list", "query-deepObject-exploded-object"),
    *("header-simple-together-object", "cookie-form-together-list", "body-vendor-json"),
    *("body-urlencoded", "body-multipart", "body-multipart-file", "body-image"),
    *("body-of-two-kinds", "security-both-or-none", "schema-3.0.4-directions"),
    *("a-path-for-each-method", "ranges-of-statuses", "names-of-python", "query-method"),
)
WRITE = """
import contextlib, io, json, sys
from specd._cli.main import main
for name in sys.argv[1:]:
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            main(["new", name, "--document", f"../{name}.json", "--base-path", f"/{name}"])
        except SystemExit as end:
            assert not end.code, name
"""
RIGHT = """
from functools import cache
from pathlib import Path

from specd import Response
from specd._cli.documents import read_documents
from specd._cli.scaffold import describe
from specd._engine.mocking.answers import Answers
from specd._engine.mocking.values import Values


@cache
def handlers(service):
    operations = describe(read_documents([Path(service) / "openapi.yaml"]), f"{service}.handlers")
    document = operations[0].document
    answers = Answers(document, Values(document, drop="writeOnly"))
    return {
        str(each.handler): answers.handler(each.path, each.operation.method.lower())
        for each in operations
    }


def answer(ctx, module, function):
    return handlers(module.partition(".")[0])[f"{module}.{function}"](ctx)
"""
WRONG = """
from specd import Response


def answer(ctx, module, function):
    return Response(404, b"{}")
"""
CALLED = "import sys\n    from answers import answer\n    return answer(ctx, __name__, {!r})"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Stranger:
    """A project with a service for each document."""
    folder = tmp_path_factory.mktemp("written")
    project = Stranger(folder)
    names = [f"s{number}" for number in range(len(DOCUMENTS))]
    for name, document in zip(names, DOCUMENTS, strict=True):
        (folder / f"{name}.json").write_text(json.dumps(CORPUS[document]))
    (folder / "library/write.py").write_text(WRITE)
    done = project.run("write", *names)
    assert done.returncode == 0, done.stderr
    return project


def results(project: Stranger) -> dict[str, str]:
    """Return the outcome of each generated test of a handler, with its document."""
    report = ("-p", "specd.testing", "-p", "no:cacheprovider", "-rA", "-q", "--tb=line")
    printed = project.run("pytest", *report, PYTHONPATH=project.env["PYTHONPATH"]).stdout
    found = {}
    for outcome, place in re.findall(r"^(PASSED|FAILED|ERROR) (\S+)", printed, re.MULTILINE):
        number = re.search(r"tests/s(\d+)/", place)
        assert number, printed
        if "rejects_missing_credentials" not in place:
            found[f"{DOCUMENTS[int(number[1])]} {place}"] = outcome
    assert re.search(r"^\d+ .*in [\d.]+s", printed, re.MULTILINE), printed
    return found


def use(project: Stranger, answers: str) -> None:
    """Replace the body of each handler with a call, and write the module of answers."""
    (project.path.parent / "library/answers.py").write_text(answers)
    for module in project.path.glob("s*/handlers/**/*.py"):
        source = re.sub(
            r"^def (\w+)\((.*?)^    raise NotImplementedError$",
            lambda found: f"def {found[1]}({found[2]}    {CALLED.format(found[1])}",
            module.read_text(), flags=re.MULTILINE | re.DOTALL,
        )  # fmt: skip
        module.write_text(source)


def test_no_test_passes_before_its_handler_is_written(project: Stranger) -> None:
    assert results(project) == {}


def test_all_tests_pass_with_correct_handlers(project: Stranger) -> None:
    use(project, RIGHT)
    found = results(project)
    assert {place: outcome for place, outcome in found.items() if outcome != "PASSED"} == {}
    assert {place.partition(" ")[0] for place in found} == set(DOCUMENTS)


def test_no_test_passes_with_handlers_that_return_nothing(project: Stranger) -> None:
    use(project, WRONG)
    found = results(project)
    assert {place: outcome for place, outcome in found.items() if outcome != "FAILED"} == {}
    assert {place.partition(" ")[0] for place in found} == set(DOCUMENTS)


@pytest.mark.parametrize(
    ("statuses", "condition"),
    [
        (["201", "404"], "response.status_code == 201"),
        (["303"], "response.status_code == 303"),
        (["2XX", "404"], "response.is_success"),
        (["404", "default"], "response.is_success"),
        (["3XX"], "response.is_redirect"),
        (["410"], "response.status_code == 410"),
        (["401", "410"], "response.status_code == 410"),
        (["401"], "response.status_code == 401"),
        (["404", "410"], "response.status_code in (404, 410)"),
        (["404", "5XX"], "response.is_error"),
    ],
    ids=str,
)
def test_written_test_expects_a_documented_status(statuses: list[str], condition: str) -> None:
    responses: dict[str, Any] = {status: {"description": "a"} for status in statuses}
    content = {
        "openapi": "3.1.0",
        "info": {"title": "a", "version": "1"},
        "servers": [{"url": "/v1"}],
        "paths": {"/a": {"get": {"operationId": "read", "responses": responses}}},
        "security": [{"key": []}],
        "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "K"}}},
    }
    (operation,) = describe([Document("a", content)], "a.handlers")
    _, _, body = operation.test_source().partition("def test_read(as_user")
    assert f"    assert {condition}\n" in body.partition("def ")[0]
