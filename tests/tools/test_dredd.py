"""Every answer of the payment service matches the document, according to Dredd."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.contract.sdk.stage import staged
from tests.tools.installed import NODE, run, skip_without, write_document

HOOKS = Path(__file__).parent / "dredd_hooks.cjs"
SUCCESSES = 5
"""The documented 200s and 201s."""
DREDD = NODE / ".bin" / "dredd"


def test_answers_match_the_document(tmp_path: Path) -> None:
    skip_without(DREDD)
    document = write_document("payment", tmp_path)
    with staged("payment", tmp_path) as stage:
        facts = json.loads(stage.facts.read_text())
        key = facts["callers"]["ada"]["token"]
        done = run(
            DREDD, document, stage.server.url, "--header", f"Authorization: Bearer {key}",
            "--loglevel", "warning", "--hookfiles", HOOKS,
            cwd=tmp_path,
        )  # fmt: skip
    output = done.stdout + done.stderr
    counted = re.search(r"(\d+) passing, (\d+) failing, (\d+) errors", output)
    assert counted, output[-3000:]
    assert counted.groups() == (str(SUCCESSES), "0", "0"), output[-6000:]
