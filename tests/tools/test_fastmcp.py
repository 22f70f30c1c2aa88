"""An MCP host calls the operations of a document as tools that FastMCP creates."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.sdk.stage import operation_ids, staged
from tests.tools.installed import FASTMCP, ROOT, run, skip_without, write_document

DRIVE = Path(__file__).parent / "fastmcp_drive.py"
CALLED = {"payment": 1.0, "payment-events": 1.0, "chat": 170 / 177}
"""Document -> the minimum share of operations answered with 2xx."""
WITHIN_S = 900
"""A server is created for each caller, and FastMCP reads 177 tools for each call."""


@pytest.mark.parametrize("document", CALLED)
def test_operations_are_called_as_tools(document: str, tmp_path: Path) -> None:
    skip_without(FASTMCP)
    with staged(document, tmp_path) as stage:
        done = run(
            FASTMCP,
            DRIVE,
            env={
                **stage.environment,
                "SPECD_SDK_SPEC": str(write_document(document, tmp_path)),
                "PYTHONPATH": str(ROOT / "tests/contract/sdk/python"),
            },
            within_s=WITHIN_S,
        )
        gaps = stage.undriven()
    assert done.returncode == 0, done.stderr
    known = len(operation_ids(document))
    assert known - len(gaps) >= CALLED[document] * known, f"{gaps}\n{done.stderr}"
