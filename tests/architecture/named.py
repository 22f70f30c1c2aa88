"""The names of this project in a text, and which of them do not exist.

Paths, modules, settings, commands and decisions are recognized by their form. `NAME`, `DOCUMENT`,
`<service>` and `*` match any name.
"""

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import click

from settings import Settings
from specd._cli.main import specd
from tests.architecture.imports import ROOT, SHIPPED
from tests.architecture.tracked import find_files

Exists = Callable[[str], bool]

_OTHERS = ("benchmarks", "contracts", "docs", "scripts", "tests")
_TOPS = "|".join([*(name for name in SHIPPED if "." not in name), *_OTHERS])


def commands(group: click.Group = specd, prefix: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the words of every runnable command, without `specd`."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command
        words = (*prefix, name)
        if not isinstance(command, click.Group) or command.invoke_without_command:
            yield words
        if isinstance(command, click.Group):
            yield from commands(command, words)


def docstrings(path: Path) -> str:
    """Return all docstrings of a module, including those of its constants."""
    tree = ast.parse(path.read_text())
    found = [
        node.value.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ]
    return "\n".join(found)


def find_named(text: str) -> Iterator[tuple[str, str]]:
    """Yield the kind and the text of each name in a text."""
    for kind, (pattern, _) in KINDS.items():
        for name in re.findall(pattern, text):
            yield kind, name.rstrip(".")


def find_missing(text: str) -> list[str]:
    """Return the names in a text that do not exist."""
    return [name for kind, name in find_named(text) if not KINDS[kind][1](name)]


@cache
def _is_path(name: str) -> bool:
    pattern = re.sub(r"<\w+>|\b(NAME|DOCUMENT)\b", "*", name.rstrip("/"))
    return any([*ROOT.glob(pattern)] or [*ROOT.glob(f"{pattern}.py")])


@cache
def _is_module(name: str) -> bool:
    """Return whether `name` is a module, or a name defined in the longest part of it that is a
    module.
    """
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        path = ROOT.joinpath(*parts[:end])
        module = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        if module.exists() or path.is_dir():
            wanted = parts[end : end + 1]
            return not wanted or (
                module.exists() and bool(re.search(rf"\b{wanted[0]}\b", module.read_text()))
            )
    return False


@cache
def _settings() -> frozenset[str]:
    known = {line.variable for line in Settings().describe({})}
    return frozenset(known | {f"{name}_FILE" for name in known})


@cache
def _variables() -> frozenset[str]:
    """Return the variables that only tests and scripts read."""
    files = [
        name for name in find_files() if name.startswith(("tests/", "scripts/", "benchmarks/"))
    ]
    texts = (Path(ROOT, name).read_text(errors="ignore") for name in files)
    return frozenset(found for text in texts for found in re.findall(r'["$]\{?(SPECD_\w+)', text))


def _is_setting(name: str) -> bool:
    pattern = re.compile(re.sub(r"\*|<\w+>|(?<=_)NAME(?=_)", r"\\w+", name))
    return any(map(pattern.fullmatch, _settings() | _variables()))


def _is_command(words: str) -> bool:
    named = tuple(words.split())
    return any(
        named[: len(command)] == command or command[: len(named)] == named for command in commands()
    )


@cache
def _is_decision(number: str) -> bool:
    return any(ROOT.glob(f"docs/decisions/{int(number):04d}-*.md"))


KINDS: dict[str, tuple[str, Exists]] = {
    "path": (
        rf"(?<![\w/.:-])(?!docs/decisions/\d+(?![\w-]))((?:{_TOPS})/[\w/.*<>-]*[\w/*>])",
        _is_path,
    ),
    "module": (
        rf"(?<![\w/.-])(?!specd\.(?:env|log|yaml)\b)((?:{_TOPS})(?:\.[a-zA-Z_]\w*)+)(?![\w/])",
        _is_module,
    ),
    "setting": (r"\b(SPECD_[A-Z0-9_*<>]*[A-Z0-9*>])", _is_setting),
    "command": (r"(?:`|(?m:^) {4})(?:\.venv/bin/)?specd((?: [a-z][a-z-]*)+)", _is_command),
    "decision": (r"(?i:\bdecisions?[ /]\[?|docs/decisions/)(\d+)", _is_decision),
}
