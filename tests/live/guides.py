"""The blocks of commands in the guides: pasted by a reader, or run by other tests."""

from __future__ import annotations

import re
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).parents[2]
TUTORIAL = "docs/tutorial.md"
ELSEWHERE = {
    TUTORIAL: "tests/live/test_tutorial.py",
    "README.md": "tests/specd/test_readme.py",
    "docs/engine.md": "tests/specd/test_readme.py",
    "docs/from-connexion.md": "tests/specd/test_readme.py",
    "docs/reference.md": "tests/specd/test_reference.py",
    "docs/backup.md": "tests/live/test_backup.py",
    "docs/fuzzing.md": "tests/contract/fuzz/test_documents.py",
    "docs/moving.md": "tests/live/test_import.py",
    "docs/test-your-shop.md": "tests/live/test_scenarios.py",
    "docs/sdks.md": "tests/contract/sdk/test_page.py",
}
"""Pages whose blocks another test runs."""
BY_HAND = {
    "docs/deploy/first-hour.md": "sets up a machine; tests/cli/test_doctor.py runs its SQL",
    "docs/deploy/upgrades.md": "replaces what is installed on a machine",
}
"""Pages whose blocks no test runs, because they change the machine."""
GUIDES = (
    *("benchmarks/README.md", "docs/payment.md", "docs/chat.md"),
    *("docs/operations.md", "docs/deploy/README.md"),
)
_BESIDE = [ROOT / name for name in GUIDES if not name.startswith("docs/")]
_INDENTED = re.compile(r"(?:\A|\n\n)((?: {4}[^\n]*\n)(?:(?: {4}[^\n]*)?\n)*)")
_FENCED = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_DRAWING = re.compile(r"^```mermaid\n.*?^```\n", re.MULTILINE | re.DOTALL)
_FENCED_AS = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_SPECD = f"{sys.executable} -m specd._cli.main"

# A block's first words -> the reason for not pasting it.
LEFT_OUT = {
    "import zulip": "listens for ever; tests/clients/test_chat_page.py runs it",
    "import os": "needs that SDK; tests/contract/sdk/test_payment_page.py runs it",
    "KEY=$KEY .venv/bin/specd payment listen": "runs on; tests/cli/test_payment_events.py runs it",
    "python -m benchmarks": "measures for many minutes",
    "# /etc/postfix/main.cf": "is no command: lines for the configuration of a mail server",
    "scrape_configs:": "is no command: lines for the configuration of Prometheus",
    "scripts/deploy /opt/specd": "changes the machine: users, units, directories",
    "kubectl apply": "needs a cluster; tests/architecture/test_kubernetes.py checks the manifests",
    "jq -": "reads a log that the operator keeps",
    "gunicorn -c python:specd": "tests/live/test_serve.py starts it so",
}


def blocks() -> list[str]:
    """Return every block of every guide in the form in which it is pasted."""
    found: list[str] = []
    for name in GUIDES:
        text = _without_drawings(ROOT / name)
        indented = _INDENTED.findall(_FENCED.sub("", text))
        found += [re.sub(r"^ {4}", "", block, flags=re.MULTILINE).strip() for block in indented]
        found += [block.strip() for block in _FENCED.findall(text)]
    return found


def unread() -> list[str]:
    """Return texts with blocks that `blocks` does not find: outside of guides, or with other
    fences.
    """
    found = []
    for path in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *_BESIDE]):
        text = _without_drawings(path)
        name = str(path.relative_to(ROOT))
        bare = _FENCED.sub("", text)
        fenced_oddly = re.search(r"^\s*(```|~~~)", bare, re.MULTILINE)
        has_blocks = _INDENTED.search(bare) or bare != text
        if fenced_oddly or (has_blocks and name not in (*GUIDES, *ELSEWHERE, *BY_HAND)):
            found.append(name)
    return found


def _without_drawings(path: Path) -> str:
    return _DRAWING.sub("", path.read_text())


def is_left_out(block: str) -> bool:
    return any(block.startswith(words) for words in LEFT_OUT)


def commands(block: str) -> list[str]:
    """Return the lines of a block, with continued ones joined, and with the installed `specd`."""
    lines = [line for line in block.replace("\\\n", " ").splitlines() if line.strip()]
    return [re.sub(r"^specd\b", _SPECD, as_installed(line)) for line in lines]


def as_installed(text: str) -> str:
    """Return a block with the installed programs of `.venv/bin`."""
    programs = Path(sys.executable).parent
    return re.sub(
        r"\.venv/bin/([\w-]+)",
        lambda found: _SPECD if found[1] == "specd" else str(programs / found[1]),
        text,
    )


def tutorial() -> list[tuple[str, str]]:
    """Return the blocks of the tutorial with their language.

    `sh` is pasted, `json` is the output of the preceding `sh`, and a block without a language is
    left to the reader.
    """
    found = _FENCED_AS.findall((ROOT / TUTORIAL).read_text())
    return [(language, block.strip()) for language, block in found]


def asked(file: Path, query: str) -> list[tuple[object, ...]]:
    """Return the result of a block of SQL."""
    with closing(sqlite3.connect(file)) as database:
        return database.execute(query).fetchall()
