"""The documentation agrees with the program: settings, commands, tree, scripts and links."""

import re
from collections import Counter
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from models.chat.common.security_events import ChatEvent
from settings import Settings
from specd._cli.diagnosis import connections_of
from specd._cli.main import specd
from specd._security_events import REFUSALS
from tests.architecture import decisions_page, named, settings_page
from tests.architecture.tracked import find_files
from tests.contract.sdk.generate import GENERATORS
from wsgi import project

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text()
COMMANDS = (ROOT / "docs/commands.md").read_text()
OPERATIONS = (ROOT / "docs/operations.md").read_text()
README_LINES = 200
LONG_PAGE = 200
WIDTH = 100
LIBRARY_PAGES = (
    "docs/engine.md",
    "docs/from-connexion.md",
    "docs/reference.md",
    "docs/stability.md",
    "docs/tutorial.md",
)
"""The pages for users of the library."""
NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
BESIDE = ("scripts/*", "docs/deploy/*", ".spectral.yaml", "redocly.yaml")

DOCUMENTS = [
    str(path.relative_to(ROOT))
    for path in sorted(
        [*ROOT.glob("*.md"), *ROOT.glob("benchmarks/*.md"), *ROOT.glob("docs/**/*.md")]
    )
]


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page: headings as repository hosts spell them, and `<a id>`."""
    text = page.read_text()
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    spelt = {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}
    return spelt | set(re.findall(r'<a id="([^"]+)">', text))


def table_rows(text: str) -> list[list[str]]:
    """Return the cells of each table row in a Markdown text, without headings and rules."""
    rows = [line.strip("| \n").split(" | ") for line in text.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in row] for row in rows]


def find_wrong_counts(text: str, lengths: dict[str, int]) -> list[str]:
    """Return each number before the noun of a list, such as `five generators`, that differs from
    the length of the list.
    """
    numbers = "|".join([*NUMBERS, "both", r"(?<![\d,.])\d\d?"])
    pattern = rf"\b({numbers}) (?:(?:`\w+`|generated|OpenAPI) )?({'|'.join(lengths)})\b"
    right = {noun: {str(length), *NUMBERS[length:][:1]} for noun, length in lengths.items()}
    found = re.findall(pattern, re.sub(r"\s+", " ", text), re.IGNORECASE)
    return [f"{number} {noun}" for number, noun in found if number.lower() not in right[noun]]


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) < README_LINES


def test_settings_table_matches_settings_py() -> None:
    assert settings_page.rendered() == settings_page.PAGE.read_text(), "run scripts/settings-table"


def test_every_command_is_listed() -> None:
    rows = {row[0].strip("`") for row in table_rows(COMMANDS)}
    known = {f"specd {' '.join(words)}" for words in named.commands()}
    missing = known - rows - {"specd chain mine", "specd chain reorg"}
    assert not missing
    assert "`mine N` adds blocks, `reorg --depth N` simulates" in COMMANDS


@pytest.mark.parametrize("group", [(), *sorted({words[:1] for words in named.commands()})])
def test_short_help_of_commands_is_not_truncated(group: tuple[str, ...]) -> None:
    result = CliRunner().invoke(specd, [*group, "--help"], terminal_width=80)
    listed = result.output.partition("\nCommands:\n")[2]
    assert [line for line in listed.splitlines() if line.endswith("...")] == []


def test_connection_formula_matches_doctor() -> None:
    page = (ROOT / "docs/deploy/README.md").read_text()
    assert f"(2 x pool size + {connections_of(0)})" in page
    workers, pool_size = 4, Settings().database_pool_size
    assert f"this is {workers * 2 * connections_of(pool_size)} for a machine" in page


def test_every_security_event_is_listed() -> None:
    section = OPERATIONS.partition("\n## Security events\n")[2].partition("\n## ")[0]
    listed = re.findall(r"`(\w+)`", " ".join(row[0] for row in table_rows(section)))
    assert sorted(listed) == sorted([*REFUSALS, *ChatEvent])


def test_every_alert_event_is_listed() -> None:
    sources = [(ROOT / name).read_text() for name in find_files("workers/*.py", "models/*.py")]
    pattern = r'(?:alerts\.begin|log\.(?:error|warning)|alarm\.error)\(\s*"(\w+)"(, alert=True)?'
    names = {
        name
        for source in sources
        for start, name, alert in re.findall(rf"({pattern})", source)
        if alert or "alerts.begin" in start or "alarm" in start
    }
    assert len(names) > 5
    assert {name for name in names if f"`{name}`" not in OPERATIONS} == set()


def find_unknown_options(text: str) -> list[str]:
    """Return the options in a text that their commands do not have, with the commands."""
    unknown, context = [], click.Context(specd)
    code = re.findall(r"`specd ([^`]+)`|^ *specd (.+)$", text.replace("\\\n", " "), re.MULTILINE)
    for written in (inline or block for inline, block in code):
        words = re.split(r" (?:[|&;<>]|&&) ", written)[0].split()
        command: click.Command = specd
        known = {name for option in specd.params for name in option.opts}
        for word in words:
            found = isinstance(command, click.Group) and command.get_command(context, word)
            if found:
                command = found
                known |= {name for option in command.params for name in option.opts}
            elif word.startswith("--") and word.partition("=")[0] not in known | {"--help"}:
                unknown.append(f"{command.name} {word}")
    return unknown


@pytest.mark.parametrize("document", DOCUMENTS)
def test_named_options_exist(document: str) -> None:
    assert find_unknown_options((ROOT / document).read_text()) == []


def test_unknown_option_is_detected() -> None:
    text = "`specd chat export --realm R --tipe x`\n    specd serve --only chat \\\n      --relaod"
    assert find_unknown_options(text) == ["export --tipe", "serve --relaod"]


def test_tree_names_every_top_level_directory() -> None:
    tops = {name.partition("/")[0] for name in find_files() if "/" in name}
    tree = (ROOT / "docs/architecture.md").read_text().partition("## The tree")[2]
    assert not {top for top in tops if not top.startswith(".") and f"`{top}/`" not in tree}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_have_a_target(document: str) -> None:
    path = ROOT / document
    text = path.read_text()
    links = re.findall(r"\]\(([^)#:\s]*)(#[^)\s]+)?\)", text)
    pictures = [(target, "") for target in re.findall(r'\bsrc(?:set)?="([^"]+)"', text)]
    for target, anchor in links + pictures:
        linked = path.parent / target if target else path
        assert linked.exists(), f"{document} links to {target}"
        if anchor:
            assert anchor[1:] in anchors(linked), f"{document} links to {target}{anchor}"


def test_every_page_is_reachable_from_the_readme() -> None:
    reached, new = set(), {ROOT / "README.md"}
    while new:
        page = new.pop()
        reached.add(page)
        targets = re.findall(r"\]\(([^)#:\s]+\.md)", page.read_text())
        new |= {(page.parent / target).resolve() for target in targets} - reached
    pages = {page for page in ROOT.glob("docs/**/*.md") if page.name != "template.md"}
    assert len(pages) > 50
    assert pages - reached == set()


@pytest.mark.parametrize("document", [name for name in DOCUMENTS if name != "CHANGELOG.md"])
def test_counts_of_growing_lists_are_correct(document: str) -> None:
    """Decisions are historical records and are not checked."""
    if document.startswith("docs/decisions/"):
        return
    lengths = {
        "documents": len(project.documents),
        "generators": len(GENERATORS),
        "languages": len({row["language"].partition(",")[0] for row in GENERATORS.values()}),
    }
    assert find_wrong_counts((ROOT / document).read_text(), lengths) == []


def test_wrong_count_is_detected() -> None:
    lengths = {"documents": 4, "languages": 11}
    text = "each of the three documents, both\ndocuments, [11 languages](a), four `x` documents"
    assert find_wrong_counts(text, lengths) == ["three documents", "both documents"]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_names_in_pages_exist(document: str) -> None:
    text = (ROOT / document).read_text()
    missing = named.find_missing(text)
    if document in ("docs/tutorial.md", "docs/engine.md"):  # the reader writes `todo`
        missing = [name for name in missing if "todo" not in name.lower()]
    assert missing == []


def test_names_in_docstrings_exist() -> None:
    texts = {name: named.docstrings(ROOT / name) for name in find_files("*.py")}
    assert len(texts) > 1_000
    missing = {name: named.find_missing(text) for name, text in texts.items()}
    assert {name: names for name, names in missing.items() if names} == {}


def test_names_in_scripts_and_configuration_exist() -> None:
    missing = {name: named.find_missing((ROOT / name).read_text()) for name in find_files(*BESIDE)}
    assert len(missing) > 20
    assert {name: names for name, names in missing.items() if names} == {}


def test_names_of_every_kind_are_recognized() -> None:
    found = Counter(
        kind
        for document in DOCUMENTS
        for kind, _ in named.find_named((ROOT / document).read_text())
    )
    assert set(found) == set(named.KINDS)
    assert min(found.values()) >= 20, found


@pytest.mark.parametrize(
    "planted",
    [
        "see `scripts/no-such` first",
        "models/payment/gone.py has it",
        "`tests/architecture/test_gone.py` checks it",
        "`specd._db.reader.find_gone` has it",
        "the module specd.gone.engine",
        "set `SPECD_GONE_URL`",
        "run `specd payment vanish`",
        "    specd chat vanish --now",
        "(decision 5)",
        "[decision 999](x)",
        "docs/decisions/0024 has the reasons",
    ],
)
def test_missing_name_is_detected(planted: str) -> None:
    assert named.find_missing(f"First line.\n{planted}\nLast line.")


@pytest.mark.parametrize("document", [name for name in DOCUMENTS if name.startswith("docs/")])
def test_pages_begin_with_their_audience(document: str) -> None:
    """Records of decisions are for contributors, as their index states."""
    if re.match(r"docs/decisions/(\d|template)", document):
        return
    _, _, first, *_ = (ROOT / document).read_text().splitlines()
    audience = re.match(r"For (users of the library|users|operators|contributors)\b", first)
    assert audience, first
    if document in LIBRARY_PAGES:
        assert audience[1] == "users of the library"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_named_functions_exist(document: str) -> None:
    """Checks `a/b.py::name`, except `<placeholders>`."""
    text = (ROOT / document).read_text()
    for path, name in re.findall(r"`([\w/]+\.py)::(\w+)`", text):
        defined = re.search(rf"\b(def|class) {name}\b|^{name}\b", (ROOT / path).read_text(), re.M)
        assert defined, f"{document} names {path}::{name}"


@pytest.mark.parametrize("document", [name for name in DOCUMENTS if name.startswith("docs/")])
def test_long_page_has_a_picture_or_a_table_of_contents(document: str) -> None:
    """The table of contents links to all sections and precedes the first of them."""
    text = (ROOT / document).read_text()
    is_drawn = re.search(r"^(!\[|```mermaid$)", text, re.MULTILINE)
    if len(text.splitlines()) <= LONG_PAGE or is_drawn:
        return
    head, *sections = re.split(r"^## ", text, flags=re.MULTILINE)
    linked = set(re.findall(r"\[([^\]]+)\]\(#", head))
    assert linked >= {section.partition("\n")[0] for section in sections}


def test_every_script_is_listed() -> None:
    rows = {row[0].strip("`") for row in table_rows((ROOT / "docs/contributing.md").read_text())}
    listed = {row for row in rows if row.startswith("scripts/")}
    assert listed == {f"scripts/{path.name}" for path in ROOT.glob("scripts/*") if path.is_file()}


def test_every_contract_suite_is_listed() -> None:
    rows = {row[0].strip("`") for row in table_rows((ROOT / "docs/contributing.md").read_text())}
    folders = {path.parent.name for path in ROOT.glob("tests/contract/*/*.py")}
    assert len(folders) > 5
    assert folders <= rows


def test_index_of_decisions_matches_the_records() -> None:
    assert decisions_page.rendered() == decisions_page.PAGE.read_text(), (
        "run scripts/decisions-index"
    )


def test_decisions_are_numbered_consecutively() -> None:
    records = decisions_page.records()
    numbers = [record.number for record in records]
    assert len(set(numbers)) == len(numbers) > 0
    for record in records:
        assert record.path.name.startswith(f"{record.number:04d}-")
        assert "\n## Decision" in record.path.read_text(), record.path.name


@pytest.mark.parametrize("document", [name for name in DOCUMENTS if name != "CHANGELOG.md"])
def test_prose_is_wrapped_at_one_width(document: str) -> None:
    """Tables, code, lines with long links and generated pages are exempt."""
    text = (ROOT / document).read_text()
    if re.search(r"^Written by `scripts/", text, re.MULTILINE):
        return
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    for line in prose.splitlines():
        breakable = " " in line.strip().removeprefix("- ")
        if not line.lstrip().startswith("|") and not line.startswith("    ") and breakable:
            assert len(line) <= WIDTH, line
