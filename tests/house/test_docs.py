"""The README against the program: settings, commands, tree and links cannot drift apart."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from cli.main import specd
from settings import Settings

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text()


def table_rows(text: str) -> list[list[str]]:
    """The cells of every table row in a piece of Markdown, headings and rules left out."""
    rows = [line.strip("| \n").split(" | ") for line in text.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in row] for row in rows]


def commands(group: click.Group = specd, prefix: str = "specd") -> Iterator[str]:
    """Every command one can run, with its path."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command
        path = f"{prefix} {name}"
        if not isinstance(command, click.Group) or command.invoke_without_command:
            yield path
        if isinstance(command, click.Group):
            yield from commands(command, path)


def test_the_settings_table_is_what_settings_py_says() -> None:
    section = README.partition("<!-- settings -->")[2].partition("<!-- /settings -->")[0]
    documented = {
        row[0].strip("`"): [cell.strip("` |") for cell in row[1:]]
        for row in (
            [cell.strip() for cell in line.split("|")[1:4]] for line in section.splitlines()
        )
        if len(row) == 3 and row[0].startswith("`")
    }
    described = {
        line.variable: [line.default, line.help.strip("`")] for line in Settings().describe({})
    }
    assert documented == described, "run scripts/settings-table"


def test_every_command_the_readme_names_exists() -> None:
    code = re.findall(r"`[^`]*`|^    .*$", README, re.MULTILINE)
    known = {tuple(command.split()[1:]) for command in commands()}
    named = {
        tuple(words.split())
        for piece in code
        for words in re.findall(r"(?<![\w/-])specd((?: [a-z][a-z-]*)+)", piece)
    }
    assert len(named) > 10
    for words in named:
        assert any(words[: len(command)] == command for command in known), f"specd {words}"


def test_every_command_is_in_the_readme() -> None:
    rows = {row[0].strip("`") for row in table_rows(README)}
    missing = {c for c in commands() if c not in rows} - {"specd chain mine", "specd chain reorg"}
    assert not missing
    assert "`mine N` and `reorg --depth N`" in README


def test_the_tree_names_every_top_level_directory() -> None:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a git checkout: cannot tell our directories from others")
    tops = {name.partition("/")[0] for name in listed.stdout.splitlines() if "/" in name}
    tree = README.partition("## The tree")[2].partition("\n## ")[0]
    assert not {top for top in tops if not top.startswith(".") and f"`{top}/`" not in tree}


@pytest.mark.parametrize("document", ["README.md", *(p.name for p in ROOT.glob("docs/*.md"))])
def test_links_lead_somewhere(document: str) -> None:
    path = ROOT / document if (ROOT / document).exists() else ROOT / "docs" / document
    for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text()):
        assert (path.parent / target).exists(), f"{document} links to {target}"


def test_scripts_the_readme_names_exist() -> None:
    for script in re.findall(r"scripts/([a-z_-]+)", README):
        assert (ROOT / "scripts" / script).exists(), script


def test_decisions_have_a_number_each_and_are_titled_alike() -> None:
    files = sorted((ROOT / "docs/decisions").glob("*.md"))
    assert len({file.name[:4] for file in files}) == len(files) > 0
    for file in files:
        assert file.read_text().startswith(f"# {int(file.name[:4])}. ")
