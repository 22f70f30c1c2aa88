"""The SDK example on docs/payment.md works unchanged, except the server's address."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.contract.sdk.payment_stage import payment_stage
from tests.contract.sdk.stage import GENERATED, NOT_GENERATED
from tests.contract.sdk.test_python import PYTHON
from tests.live.running_server import ROOT

SDK = GENERATED / "payment" / "python"


def test_example_creates_an_invoice(tmp_path: Path) -> None:
    if not SDK.is_dir() or not PYTHON.exists():
        pytest.skip(NOT_GENERATED)
    section = (ROOT / "docs/payment.md").read_text().partition("## An SDK")[2].partition("\n## ")[0]
    code = re.split(r"\n\n(?=\S)", section[section.index("    import os\n") :])[0]
    with payment_stage(tmp_path) as stage:
        facts = json.loads(stage.facts.read_text())
        code = code.replace("\n    ", "\n").strip()
        assert "http://127.0.0.1:8080" in code
        done = subprocess.run(
            [PYTHON, "-c", code.replace("http://127.0.0.1:8080", stage.server.url)],
            env={"PYTHONPATH": str(SDK), "KEY": facts["callers"]["ada"]["token"]},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("unpaid 1500000 0x")
