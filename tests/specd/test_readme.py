"""The service of the README works as written, and so do the first commands and the examples on the
pages of the library.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from configparser import ConfigParser
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

import specd as library
from specd._cli.main import specd
from specd._project import ROOT_VARIABLE, current
from tests.specd.sample import Transport

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
_FENCED = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# (\S+\.\w+)\n")
ADDRESS = "http://127.0.0.1:8080"


def blocks(page: str, language: str) -> list[str]:
    """Return the fenced blocks of a page in a language."""
    return [block for found, block in _FENCED.findall(page) if found == language]


def exchanges(page: str) -> list[tuple[str, str]]:
    """Return each command in the blocks with a prompt, and the output shown on the page."""
    found = []
    for block in blocks(page, "console"):
        for exchange in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = exchange.partition("\n")
            found.append((command, output.strip()))
    return found


def is_shown(output: str, shown: str) -> bool:
    """Return whether an output matches the page, where `...` stands for any text."""
    return bool(re.fullmatch(re.escape(shown).replace(r"\.\.\.", ".*"), output, re.DOTALL))


@pytest.fixture
def hello(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The files of the README in an empty folder."""
    for block in [*blocks(README, "yaml"), *blocks(README, "python")]:
        named = _FILE.match(block)
        assert named, block
        (tmp_path / named[1]).parent.mkdir(exist_ok=True)
        (tmp_path / named[1]).write_text(block)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    monkeypatch.setenv("SPECD_DATA_DIR", str(tmp_path / "var"))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "wsgi", raising=False)
    yield tmp_path
    forget("hello")


def forget(package: str) -> None:
    """Remove a package from the imported modules."""
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[name]


def test_three_files_are_a_service(hello: Path) -> None:
    written = {str(path.relative_to(hello)) for path in hello.rglob("*.*") if path.is_file()}
    assert written == {"hello/openapi.yaml", "hello/handlers.py", "wsgi.py"}
    called = 0
    with httpx.Client(transport=Transport(current().application("app"))) as client:
        for command, shown in exchanges(README):
            if url := re.fullmatch(rf"curl ({ADDRESS}/\S+)", command):
                answer = client.get(url[1])
                assert is_shown(answer.text, shown), answer.text
                called += 1
    assert called == 2


def test_wrong_signature_is_reported(hello: Path) -> None:
    assert CliRunner().invoke(specd, ["check"]).exit_code == 0
    handlers = hello / "hello/handlers.py"
    handlers.write_text(handlers.read_text().replace("person", "name"))
    forget("hello")
    ((command, shown),) = [each for each in exchanges(README) if each[0].startswith("specd ")]
    checked = CliRunner().invoke(specd, command.split()[1:])
    assert checked.exit_code == 1
    assert is_shown(checked.output.splitlines()[0], shown), checked.output


def test_descriptions_are_one_sentence() -> None:
    (sentence,) = re.findall(r"\A# specd\n\n(.+?\.) ", README, re.DOTALL)
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg")
    others = [setup["metadata"]["description"], library.__doc__, str(specd.help).split("\n\n")[0]]
    assert {" ".join(str(text).split()) for text in others} == {" ".join(sentence.split())}


@pytest.mark.parametrize(
    ("page", "name", "document"),
    [
        ("docs/engine.md", "orders", None),
        ("docs/from-connexion.md", "shop", "connexion-shop/openapi.yaml"),
    ],
)
def test_commands_of_the_page_work_in_an_empty_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str, name: str, document: str | None
) -> None:
    """Runs the first block, without programs that are not ours."""
    if document:
        (tmp_path / document).parent.mkdir()
        (tmp_path / document).write_text(blocks(README, "yaml")[0])
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv(ROOT_VARIABLE, raising=False)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "wsgi", raising=False)
    install, *commands = blocks((ROOT / page).read_text(), "sh")[0].splitlines()
    assert install == "pip install 'specd-server[test]'"
    assert len(commands) == 2
    for command in commands:
        program, *words = command.split()
        done = CliRunner().invoke(specd, words)
        assert (program, done.exit_code) == ("specd", 0), done.output
    assert (folder / name / "openapi.yaml").is_file()
    forget(name)


def test_examples_of_the_engine_are_valid() -> None:
    names: dict[str, object] = {}
    examples = blocks((ROOT / "docs/engine.md").read_text(), "python")
    assert len(examples) > 1
    for example in examples:
        code = compile(example, "docs/engine.md", "exec")
        if example.startswith(("import ", "from ")):  # the others use models that the reader writes
            exec(code, names)


def test_figure_matches_the_benchmark() -> None:
    (row,) = re.findall(
        r"^\| connexion AsyncApp \| requests/s \| ([\d. |]+) \| 9 /",
        (ROOT / "docs/speed.md").read_text(), re.MULTILINE,
    )  # fmt: skip
    figures = [float(figure) for figure in row.split(" | ")]
    assert f"{int(min(figures))} to {int(max(figures))} times the requests" in README
