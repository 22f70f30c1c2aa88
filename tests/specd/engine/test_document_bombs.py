"""Documents with excessive cost are rejected or read within limits, with the position."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from specd._engine.document.checking import check_file
from specd._engine.errors import DocumentError
from specd._engine.openapi.loading import load
from tests.support.cpu import cost_of

MIB = 1024 * 1024
HEAD = 'openapi: 3.1.0\ninfo: {title: a, version: "1"}\npaths: {}\n'


def schemas(inner: str) -> str:
    return f"{HEAD}components: {{schemas: {{{inner}}}}}\n"


def laughs(line: Callable[[int, str], str], levels: int = 12) -> str:
    lines = [line(level, ", ".join([f"*a{level - 1}"] * 9)) for level in range(1, levels)]
    return "".join([HEAD, "x-a0: &a0 {k: 1}\n", *lines])


MANY_KEYS = ", ".join(f"k{number}: 1" for number in range(3000))
BOMBS: dict[str, tuple[str, str | None]] = {
    "aliases": (laughs(lambda n, all_: f"x-a{n}: &a{n} [{all_}]\n"), "#/x-a"),
    "merge keys": (laughs(lambda n, all_: f"x-a{n}: &a{n} {{<<: [{all_}], z{n}: 1}}\n"), None),
    "wide merge keys": (
        f"{HEAD}x-a: &a {{{MANY_KEYS}}}\nx-b: {{<<: [{', '.join(['*a'] * 3000)}]}}\n",
        ":4:6: merge keys repeat",
    ),
    "a long text, often": (
        f"{HEAD}x-t: &t {'a' * 50_000}\nx-b: [{'*t,' * 5000}]\n", "#/x-b: it has"
    ),
    "itself": (f"{HEAD}x-a: &a [*a]\n", "#/x-a/0: it holds itself"),
    "brackets": (f"{HEAD}x-a: {'[' * 100_000}", ":4:1: objects and lists are nested"),
    "closed brackets": (f"{HEAD}x-a: {'[' * 5000}{']' * 5000}", "#/x-a/0/0: it is nested"),
    "JSON": ('{"a":' * 100_000, ":1:1: objects and lists are nested"),
    "dashes": (f"{HEAD}x-a:\n  {'- ' * 30_000}a\n", ":5:1: objects and lists are nested"),
    "indented": (HEAD + "".join(" " * n + "a:\n" for n in range(500)), "#/a/a/a: it is nested"),
    "an unclosed class": (schemas(f"A: {{pattern: '{'[' * 40_000}'}}"), ":4:28: components"),
    "unclosed properties": (
        schemas("A: {pattern: '" + "\\p{" * 20_000 + "'}"), ":4:28: components"
    ),
    "groups": (schemas(f"A: {{pattern: '{'(' * 20_000}{')' * 20_000}'}}"), ":4:28: components"),
    "a long integer": (f"{HEAD}x-a: {'9' * 1_000_000}\n", ":4:6: a number has at most"),
    "a long hexadecimal": (f"{HEAD}x-a: 0x{'f' * 1_000_000}\n", ":4:6: a number has at most"),
    "infinity": (f"{HEAD}x-a: 1e999999\n", "#/x-a: it is not a finite number"),
    "half a character": ('{"info": {"title": "\\ud800"}}', "#/info: it has half a character"),
    "repeated keys": (f"{HEAD}x-a: {{{', '.join(['a: 1'] * 5_000)}}}\n", "comes twice"),
    "a chain": (
        schemas(
            ", ".join(
                f"A{n}: {{$ref: '#/components/schemas/A{n + 1}'}}" for n in range(2000)
            )
        ),
        "leads through",
    ),
    "nowhere": (
        schemas(
            ", ".join(f"A{n}: {{$ref: '#/components/schemas/B{n}'}}" for n in range(1000))
        ),
        "points nowhere",
    ),
    "unknown keys": (HEAD + "".join(f"q{n}: 1\n" for n in range(3000)), "is no key"),
    "an object of Python": (f"{HEAD}x-a: !!python/object/apply:os.system [ls]\n", ":4:6: "),
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_bomb_is_rejected_within_limits(tmp_path: Path, name: str) -> None:
    text, place = BOMBS[name]
    path = tmp_path / "bomb.yaml"
    path.write_text(text)

    def check() -> list[str]:
        sys.setrecursionlimit(100_000)  # as libraries of the chain do
        return [str(each)[:300] for each in check_file(path)][:5]

    cost = cost_of(check)
    assert cost.seconds < 1
    assert cost.growth < 64 * MIB
    if place is not None:
        assert place in "\n".join(cost.result)


class TestReferencesToFiles:
    @pytest.fixture
    def write(self, tmp_path: Path) -> Callable[[str], Path]:
        folder = tmp_path / "api"
        (folder / "below").mkdir(parents=True)
        for place in (tmp_path / "secret.yaml", folder / "below" / "b.yaml"):
            place.write_text("key: prk_test_secret\n")
        (folder / "link.yaml").symlink_to(tmp_path / "secret.yaml")
        os.mkfifo(folder / "pipe.yaml")

        def write(reference: str) -> Path:
            path = folder / "a.yaml"
            path.write_text(schemas(f"A: {{$ref: '{reference}'}}"))
            return path

        return write

    @pytest.mark.parametrize(
        "reference",
        ["../secret.yaml", "below/../../secret.yaml", "link.yaml", "/etc/hostname", "/dev/zero",
         "file:///etc/hostname", "%2e%2e/secret.yaml", "pipe.yaml", "below", "../nothing.yaml",
         "//elsewhere/etc/hostname"],
    )  # fmt: skip
    def test_file_outside_the_folder_is_rejected(
        self, write: Callable[[str], Path], reference: str
    ) -> None:
        path = write(reference)
        with pytest.raises(DocumentError) as refused:
            load(path)
        assert "prk_test" not in str(refused.value)
        assert check_file(path)[0].line == 4

    def test_file_below_the_folder_is_read(self, write: Callable[[str], Path]) -> None:
        assert b"prk_test_secret" in load(write("below/b.yaml")).text
