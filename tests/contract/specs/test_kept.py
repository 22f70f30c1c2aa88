"""A parsed document is kept beside compiled modules, and is never older than its sources."""

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import specs
from services import DOCUMENTS
from specs import kept

Parse = Callable[[str], tuple[bytes, dict[str, Any]]]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of one document, whose sources a test may change."""
    monkeypatch.setattr(kept, "HERE", tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    (tmp_path / "play.yaml").write_text("title: Hamlet\n")
    (tmp_path / "parser.py").write_text("")
    (tmp_path / "play.yaml").chmod(0o644)
    return tmp_path


class Parser:
    """Reads `play.yaml` and counts how often."""

    def __init__(self, package: Path) -> None:
        self.calls = 0
        self._package = package

    def __call__(self, name: str) -> tuple[bytes, dict[str, Any]]:
        self.calls += 1
        text = (self._package / f"{name}.yaml").read_bytes()
        return text, yaml.safe_load(text)


def read(parse: Parse) -> kept.Parsed:
    kept.sources_digest.cache_clear()
    return kept.parsed("play", parse)


HAMLET = kept.Parsed(b"title: Hamlet\n", b'{"title":"Hamlet"}')


@pytest.fixture(autouse=True)
def _as_it_was() -> Any:
    yield
    kept.sources_digest.cache_clear()


def test_the_second_reading_parses_nothing(package: Path) -> None:
    parser = Parser(package)
    assert [read(parser), read(parser)] == [HAMLET, HAMLET]
    assert parser.calls == 1


@pytest.mark.parametrize("source", ["play.yaml", "parser.py", "neighbour.yaml"])
def test_a_changed_source_is_parsed_again(package: Path, source: str) -> None:
    parser = Parser(package)
    read(parser)
    times = (package / "play.yaml").stat()
    (package / source).write_text("title: Othell\n")
    os.utime(package / source, ns=(times.st_atime_ns, times.st_mtime_ns))
    found = read(parser)
    assert parser.calls == 2
    assert found.text == (package / "play.yaml").read_bytes()


@pytest.mark.parametrize("damage", [b"", b"\n\n", b"nonsense", b"\xff\n-1\nx\n"])
def test_a_damaged_file_is_made_anew(package: Path, damage: bytes) -> None:
    parser = Parser(package)
    read(parser)
    kept.place_of("play").write_bytes(damage)
    assert [read(parser), read(parser)] == [HAMLET, HAMLET]
    assert parser.calls == 2


def test_a_folder_that_cannot_be_written_is_left_alone(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (package / "__pycache__").write_text("no folder")
    parser = Parser(package)
    assert [read(parser), read(parser)] == [HAMLET, HAMLET]
    assert parser.calls == 2
    (package / "__pycache__").unlink()
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    read(parser)
    assert not (package / "__pycache__").exists()


def test_the_file_is_readable_to_whoever_may_read_its_source(package: Path) -> None:
    before = os.umask(0o022)
    try:
        (package / "play.yaml").chmod(0o640)
        read(Parser(package))
    finally:
        os.umask(before)
    assert stat.S_IMODE(kept.place_of("play").stat().st_mode) == 0o640
    assert [path.name for path in (package / "__pycache__").iterdir()] == [
        kept.place_of("play").name
    ]


def test_what_json_has_not_is_refused(package: Path) -> None:
    (package / "play.yaml").write_text("written: 1601-01-01\n")
    with pytest.raises(ValueError, match="the document play has values that JSON has not"):
        read(Parser(package))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_is_what_its_text_says(name: str) -> None:
    assert specs.load(name) == specs._parse(name)[1]
    assert specs.load(name) is not specs.load(name)
    assert specs.text(name) == specs._parse(name)[0]
