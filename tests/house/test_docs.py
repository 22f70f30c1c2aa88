"""The documentation against the program: settings, commands, tree, scripts and links agree."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from cli.main import specd
from tests.house import decisions_page, settings_page
from tests.house.tracked import find_files

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text()
COMMANDS = (ROOT / "docs/commands.md").read_text()
README_LINES = 200
WIDTH = 100

DOCUMENTS = [
    str(path.relative_to(ROOT))
    for path in sorted(
        [*ROOT.glob("*.md"), *ROOT.glob("benchmarks/*.md"), *ROOT.glob("docs/**/*.md")]
    )
]


def anchors(page: Path) -> set[str]:
    """What a link may name after `#`: headings as repository hosts spell them, and `<a id>`."""
    text = page.read_text()
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    spelt = {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}
    return spelt | set(re.findall(r'<a id="([^"]+)">', text))


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


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) < README_LINES


def test_the_settings_table_is_what_settings_py_says() -> None:
    assert settings_page.rendered() == settings_page.PAGE.read_text(), "run scripts/settings-table"


def test_every_command_that_is_named_exists() -> None:
    code = re.findall(r"`[^`]*`|^    .*$", README + COMMANDS, re.MULTILINE)
    known = {tuple(command.split()[1:]) for command in commands()}
    named = {
        tuple(words.split())
        for piece in code
        for words in re.findall(r"(?<![\w/-])specd((?: [a-z][a-z-]*)+)", piece)
    }
    assert len(named) > 10
    for words in named:
        assert any(words[: len(command)] == command for command in known), f"specd {words}"


def test_every_command_is_listed() -> None:
    rows = {row[0].strip("`") for row in table_rows(COMMANDS)}
    missing = {c for c in commands() if c not in rows} - {"specd chain mine", "specd chain reorg"}
    assert not missing
    assert "`mine N` adds blocks, `reorg --depth N` simulates" in COMMANDS


def test_the_tree_names_every_top_level_directory() -> None:
    tops = {name.partition("/")[0] for name in find_files() if "/" in name}
    tree = README.partition("## The tree")[2].partition("\n## ")[0]
    assert not {top for top in tops if not top.startswith(".") and f"`{top}/`" not in tree}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document: str) -> None:
    path = ROOT / document
    for target, anchor in re.findall(r"\]\(([^)#:\s]*)(#[^)\s]+)?\)", path.read_text()):
        linked = path.parent / target if target else path
        assert linked.exists(), f"{document} links to {target}"
        if anchor:
            assert anchor[1:] in anchors(linked), f"{document} links to {target}{anchor}"


def test_scripts_the_readme_names_exist() -> None:
    for script in re.findall(r"scripts/([a-z_-]+)", README):
        assert (ROOT / "scripts" / script).exists(), script


@pytest.mark.parametrize("document", sorted({*DOCUMENTS} - {"CHANGELOG.md", "docs/tutorial.md"}))
def test_paths_that_are_named_exist(document: str) -> None:
    """`a/b.py` or `a/b` from the top of the tree; `NAME` and `<service>` stand for any name."""
    tops = "|".join(path.name for path in ROOT.iterdir() if path.is_dir() and path.name[0] != ".")
    text = (ROOT / document).read_text()
    for named in re.findall(rf"`((?:{tops})/[\w/.*<>-]+)", text):
        pattern = re.sub(r"<\w+>|\bNAME\b", "*", named.rstrip("./"))
        assert [*ROOT.glob(pattern), *ROOT.glob(f"{pattern}.py")], f"{document} names {named}"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_functions_that_are_named_exist(document: str) -> None:
    """`a/b.py::name`, but for `<placeholders>`."""
    text = (ROOT / document).read_text()
    for path, name in re.findall(r"`([\w/]+\.py)::(\w+)`", text):
        defined = re.search(rf"\b(def|class) {name}\b|^{name}\b", (ROOT / path).read_text(), re.M)
        assert defined, f"{document} names {path}::{name}"


def test_every_script_is_listed() -> None:
    rows = {row[0].strip("`") for row in table_rows((ROOT / "docs/contributing.md").read_text())}
    listed = {row for row in rows if row.startswith("scripts/")}
    assert listed == {f"scripts/{path.name}" for path in ROOT.glob("scripts/*") if path.is_file()}


def test_every_judge_is_listed() -> None:
    rows = {row[0].strip("`") for row in table_rows((ROOT / "docs/contributing.md").read_text())}
    folders = {path.parent.name for path in ROOT.glob("tests/judges/*/*.py")}
    assert len(folders) > 5
    assert folders <= rows


def test_the_index_of_decisions_is_what_the_records_say() -> None:
    assert decisions_page.rendered() == decisions_page.PAGE.read_text(), (
        "run scripts/decisions-index"
    )


def test_decisions_are_numbered() -> None:
    records = decisions_page.records()
    numbers = [record.number for record in records]
    assert len(set(numbers)) == len(numbers) > 0
    for record in records:
        assert record.path.name.startswith(f"{record.number:04d}-")
        assert "\n## Decision" in record.path.read_text(), record.path.name


@pytest.mark.parametrize("document", [name for name in DOCUMENTS if name != "CHANGELOG.md"])
def test_prose_has_one_width(document: str) -> None:
    """Tables, code, links that cannot be broken and generated pages are exempt."""
    text = (ROOT / document).read_text()
    if re.search(r"^Written by `scripts/", text, re.MULTILINE):
        return
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    for line in prose.splitlines():
        breakable = " " in line.strip().removeprefix("- ")
        if not line.lstrip().startswith("|") and not line.startswith("    ") and breakable:
            assert len(line) <= WIDTH, line
