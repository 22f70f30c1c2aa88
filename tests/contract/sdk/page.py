"""Write docs/sdks.md from `generators.yaml` and the first calls.

python -m tests.contract.sdk.page > docs/sdks.md
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tests.contract.sdk.generate import GENERATORS
from tests.live.running_server import ROOT

FIRST_CALLS = Path(__file__).parent / "first_calls"
PAGE = ROOT / "docs" / "sdks.md"
WORKS = {
    "driven": "driven, and reads on: every operation",
    "compiled": "compiled",
    "read": "reads every answer",
    "searched": "generated and searched",
}
HEAD = """\
# SDKs

For users who generate a client.
Written by `scripts/sdk`, which generates an SDK from each of the three documents with each of
these generators and tests it; its list is `tests/contract/sdk/generators.yaml`. `openapi.yaml` is
what a running server serves at `/v1/openapi.yaml`, `/v1/events/openapi.yaml` or
`/api/v1/openapi.yaml`. openapi-generator is 7.26.0 (`pip install openapi-generator-cli`, which
needs Java).

- *driven: every operation* means that the SDK makes every call of the tests' table
  ([decision 41](decisions/0041-one-table-drives-every-sdk.md)), refusals too, and that what it
  reads is compared.
- *reads on* means that it also reads answers of a later version of the service, with types of
  events, error codes, values and properties that its document does not have. One that *stops at a
  new value* reads on where only properties are new.
"""


def first_call(sdk: str) -> Path | None:
    """The file of the first call of an SDK, or None where there is none."""
    named = "First.java" if sdk == "java" else f"{sdk}.*"
    return next(FIRST_CALLS.glob(named), None)


def page() -> str:
    """The text of docs/sdks.md."""
    rows = ["| language | what is tested | the one option that it needs |", "|---|---|---|"]
    for row in GENERATORS.values():
        works = _works(row)
        language = row["language"]
        anchor = re.sub(r"[^\w -]", "", language.lower()).replace(" ", "-")
        rows.append(f"| [{language}](#{anchor}) | {works} | {row.get('note', '')} |")
    return "\n".join([HEAD, *rows, "", *map(_section, GENERATORS)])


def _works(row: dict[str, Any]) -> str:
    chat = row.get("chat", {})
    works: str = row.get("works", WORKS[row["tested"]])
    if "stops" in row:
        works = f"driven: every operation; stops at a new value of an enumeration: {row['stops']}"
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
        parts += [f"On Debian: `{row['needs']}`.", ""]
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
        parts += [f"with `{sdk}.yaml`:", "", *_indented(config), ""]
    if "file" in row:
        path, text = row["file"]["path"], row["file"]["text"].splitlines()
        parts += [f"and with the file `{sdk}/{path}` added:", "", *_indented(text), ""]
    return parts


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}".rstrip() for line in lines]


def _wrapped(command: str) -> list[str]:
    """The command as indented lines, continued before options that no longer fit."""
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
