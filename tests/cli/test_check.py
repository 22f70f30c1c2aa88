"""`specd check` reports errors in documents, for people, editors and GitHub."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import specs
from specd._cli.check import check
from tests.cli.runner import Specd
from wsgi import project


@pytest.fixture
def wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of a document with two errors in the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "todo.yaml").write_text(
        "openapi: 3.0.3\n"
        "info: {title: To do, version: '1', licence: {name: 100% free}}\n"
        "paths:\n"
        "  /tasks:\n"
        "    get: {responses: {200: {description: ok, content: {text/plain: {schema:\n"
        "      {type: strin, pattern: '(,:%'}}}}}}\n"
    )
    return "todo.yaml"


def test_services_of_this_repository_have_no_errors(specd: Specd, tmp_path: Path) -> None:
    names = ", ".join(f"specs/{name}.yaml" for name in project.documents)
    assert specd("check") == (0, f"Checked {names} and their handlers: no mistakes.\n", "")
    assert not (tmp_path / "var").exists()


def test_schema_that_cannot_be_compiled_is_named(specd: Specd, tmp_path: Path) -> None:
    file = tmp_path / "odd.yaml"
    file.write_text(
        "openapi: 3.1.0\ninfo: {title: Odd, version: '1'}\npaths:\n  /a:\n    get:\n"
        "      parameters: [{name: a, in: query, schema: {$id: 'a b'}}]\n"
        "      responses: {200: {description: ok}}\n"
    )
    status, out, _ = specd("check", str(file))
    assert (status, out.count("\n")) == (1, 2)
    assert "odd.yaml:5:" in out  # its operation
    assert "paths./a.get" in out
    assert "schema cannot be compiled" in out


def test_file_without_errors_is_accepted(specd: Specd) -> None:
    file = specs.HERE / "payment.yaml"
    assert specd("check", str(file)) == (0, "Checked payment.yaml: no mistakes.\n", "")


def test_errors_in_the_format_of_editors(specd: Specd, wrong: str) -> None:
    status, out, err = specd("check", wrong)
    assert (status, err) == (1, "")
    licence, kind, pattern, checked = out.splitlines()
    assert licence == (
        'todo.yaml:2:36: info.licence: "licence" is no key of "info"; did you mean "license"?'
    )
    place = "paths./tasks.get.responses.200.content.text/plain.schema"
    assert kind == (f'todo.yaml:6:8: {place}.type: "strin" is no type; did you mean "string"?')
    assert pattern.startswith(f"todo.yaml:6:21: {place}.pattern: ")
    assert checked == "Checked todo.yaml: 3 mistakes."


def test_errors_as_json(specd: Specd, wrong: str) -> None:
    status, out, _ = specd("check", wrong, "--format", "json")
    assert status == 1
    found = json.loads(out)
    assert found["checked"] == wrong
    assert found["mistakes"][0] == {
        "file": wrong,
        "line": 2,
        "column": 36,
        "place": "info.licence",
        "message": '"licence" is no key of "info"; did you mean "license"?',
    }


def test_errors_as_github_annotations(specd: Specd, wrong: str) -> None:
    status, out, _ = specd("check", wrong, "--format", "github")
    assert status == 1
    first, _, pattern, _ = out.splitlines()
    assert first.startswith("::error file=todo.yaml,line=2,col=36::info.licence: ")
    assert '"(,:%25" is no regular expression' in pattern


def test_text_lists_fifty_errors_and_json_lists_all(
    specd: Specd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    schemas = "".join(f"    A{number}: {{type: t{number}}}\n" for number in range(60))
    (tmp_path / "many.yaml").write_text(
        "openapi: 3.1.0\ninfo: {title: Many, version: '1'}\ncomponents:\n  schemas:\n" + schemas
    )
    _, out, _ = specd("check", "many.yaml")
    *named, more, checked = out.splitlines()
    assert [line.split(":")[1] for line in named] == [str(line) for line in range(5, 55)]
    assert (more, checked) == ("... and 10 more", "Checked many.yaml: 60 mistakes.")
    _, out, _ = specd("check", "many.yaml", "--format", "json")
    assert [mistake["line"] for mistake in json.loads(out)["mistakes"]] == list(range(5, 65))


def test_several_files_give_one_report(specd: Specd, wrong: str, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text('{"openapi": "3.1.0"}')
    status, out, _ = specd("check", wrong, "other.json")
    assert status == 1
    files = [line.partition(":")[0] for line in out.splitlines()]
    assert files[:3] == ["todo.yaml"] * 3
    assert set(files[3:-1]) == {"other.json"}
    assert files[-1] == "Checked todo.yaml, other.json"


def test_missing_file_is_reported(specd: Specd) -> None:
    assert "does not exist" in specd.refusal("check", "absent.yaml")


def test_missing_handler_is_reported(specd: Specd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("handlers.payment.invoices.cancel_invoice")
    status, out, _ = specd("check")
    assert status == 1
    mistake, checked = out.splitlines()
    assert mistake.startswith(f"{_seen('payment')}:")
    assert "paths./v1/invoices/{id}/cancel.post: " in mistake
    assert "no function handlers.payment.invoices.cancel_invoice" in mistake
    assert checked.endswith("and their handlers: 1 mistake.")


def _seen(name: str) -> str:
    """Return the path of a document as printed in the working directory."""
    return str((specs.HERE / f"{name}.yaml").relative_to(Path.cwd()))


def test_text_of_a_document_is_never_a_command(tmp_path: Path) -> None:
    """Neither for a terminal nor for a CI system, which interprets lines that begin with two
    colons.
    """
    document = tmp_path / "a.yaml"
    document.write_text(
        'openapi: 3.1.0\ninfo: {title: a, version: "1"}\npaths: {}\n'
        '"\\e]0;PWNED\\a\\n::error::\\r\\n::warning\\u202e": 1\n'
    )
    for form in ("text", "github"):
        result = CliRunner().invoke(check, [str(document), "--format", form])
        assert result.exit_code == 1
        lines = result.output.splitlines()
        assert len(lines) == 2
        assert all(line.isprintable() for line in lines)
        assert lines[0].count("PWNED") >= 1
