"""The table in docs/settings.md, generated from the fields of `Settings`."""

from pathlib import Path

from settings import Settings

PAGE = Path(__file__).parents[2] / "docs/settings.md"
BEGIN, END = "<!-- settings -->\n", "<!-- /settings -->"


def rendered() -> str:
    """Return the page with a new table between the markers and unchanged text around it."""
    before, begin, rest = PAGE.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError("docs/settings.md has lost a marker of its table")
    return before + begin + "".join(f"{line}\n" for line in table()) + end + after


def table() -> list[str]:
    """Return the table, which has a row with name, default and meaning for each variable."""
    rows = ["| variable | default | meaning |", "|---|---|---|"]
    for line in Settings().describe({}):
        default = f"`{line.default}`" if line.default else ""
        rows.append(f"| `{line.variable}` | {default} | {line.help} |")
    return rows
