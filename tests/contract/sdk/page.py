"""Write docs/sdks.md from `generators.yaml` and the first calls.

python -m tests.contract.sdk.page > docs/sdks.md
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from settings import Settings
from specd._composition import compose
from tests.contract.sdk.generate import GENERATORS
from tests.live.running_server import ROOT
from wsgi import project

FIRST_CALLS = Path(__file__).parent / "first_calls"
PAGE = ROOT / "docs" / "sdks.md"
SCRIPT = ROOT / "scripts" / "sdk"
WORKS = {
    "driven": "every operation, and newer responses",
    "compiled": "compiles",
    "read": "reads every response",
    "searched": "generated, and searched for known faults",
}
HEAD = """\
# SDKs

For users who generate a client.
Written by `scripts/sdk`, which generates an SDK from each document with each of these generators
and tests it. The list is `tests/contract/sdk/generators.yaml`.

Download a document from a running server, and run the command of your language on it. In the
commands, the document is the file `openapi.yaml`. `payment-test` is only served if
[test helpers](test-your-shop.md#the-test-helpers) are enabled.

{documents}

The version of openapi-generator is {version} (`pip install openapi-generator-cli`; it needs Java).

- *every operation*: the SDK sends every request of the test table
  ([decision 41](decisions/0041-one-table-drives-every-sdk.md)), including requests that the server
  rejects, and the values that it reads are compared with the responses.
- *newer responses*: the SDK can also read responses of a later release, with event types, error
  codes, values and properties that its document does not have. An SDK that *rejects new values*
  can read responses with new properties, but fails on a new value of an enumeration.
"""


def head() -> str:
    """Return the text before the table."""
    rows = ["| document | address on a server |", "|---|---|"]
    for service in project.services:
        composed = compose(service, Settings(), has_optional=True)
        rows += [f"| {name} | `{path}.yaml` |" for name, path in composed.addresses.items()]
    version = re.search(r"openapi-generator-cli==([\d.]+)", SCRIPT.read_text())
    assert version is not None
    return HEAD.format(documents="\n".join(rows), version=version[1])


def first_call(sdk: str) -> Path | None:
    """Return the file of the first call of an SDK, or None if it has none."""
    named = "First.java" if sdk == "java" else f"{sdk}.*"
    return next(FIRST_CALLS.glob(named), None)


def page() -> str:
    """Return the text of docs/sdks.md."""
    rows = ["| language | tested | option to set |", "|---|---|---|"]
    for row in GENERATORS.values():
        works = _works(row)
        language = row["language"]
        anchor = re.sub(r"[^\w -]", "", language.lower()).replace(" ", "-")
        rows.append(f"| [{language}](#{anchor}) | {works} | {row.get('note', '')} |")
    return "\n".join([head(), *rows, "", *map(_section, GENERATORS)])


def _works(row: dict[str, Any]) -> str:
    chat = row.get("chat", {})
    works: str = row.get("works", WORKS[row["tested"]])
    if "stops" in row:
        works = f"every operation; rejects new values: {row['stops']}"
    for key in ("leaves_out", "empty"):
        if key in chat:
            works += f"; in chat, {chat[key]}"
    return works


def _section(sdk: str) -> str:
    row = GENERATORS[sdk]
    parts = [f"## {row['language']}", "", *_how(sdk, row, "payment")]
    chat = row.get("chat", {})
    if chat.keys() & {"command", "config"}:
        parts += ["For chat:", "", *_how(sdk, chat, "chat")]
    if "needs" in row:
        parts += [f"Debian packages: `{row['needs']}`.", ""]
    if call := first_call(sdk):
        parts += [f"```{call.suffix[1:]}", call.read_text().rstrip("\n"), "```", ""]
    return "\n".join(parts)


def _how(sdk: str, row: dict[str, Any], document: str) -> list[str]:
    parts = []
    if "command" in row:
        command = row["command"].format(document="openapi.yaml", out=sdk, name=document)
        parts += [*_wrapped(command), ""]
    if "config" in row:
        config = row["config"].format(name=document).splitlines()
        parts += [f"with this `{sdk}.yaml`:", "", *_indented(config), ""]
    if "file" in row:
        path, text = row["file"]["path"], row["file"]["text"].splitlines()
        parts += [f"Then add the file `{sdk}/{path}`:", "", *_indented(text), ""]
    return parts


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}".rstrip() for line in lines]


def _wrapped(command: str) -> list[str]:
    """Return the command as indented lines, broken before an option that does not fit."""
    lines = [""]
    for word in command.split(" "):
        if word.startswith("--") and len(lines[-1]) > 60:
            lines[-1] += " \\"
            lines.append(f"  {word}")
        else:
            lines[-1] += f" {word}" if lines[-1] else word
    return _indented(lines)


if __name__ == "__main__":
    print(page(), end="")
