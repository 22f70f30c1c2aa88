"""The models of datamodel-code-generator read every response to the calls of the table."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.contract.sdk.plain import Plain
from tests.contract.sdk.python.drive import Drive
from tests.contract.sdk.stage import DOCUMENTS, GENERATED, NOT_GENERATED, staged
from tests.contract.sdk.test_python import DRIVES, PYTHON


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_response_is_read(document: str, tmp_path: Path) -> None:
    models = GENERATED / document / "datamodel-code-generator"
    if not models.is_dir() or not PYTHON.exists():
        pytest.skip(NOT_GENERATED)
    answers = []
    with staged(document, tmp_path) as stage:
        facts = json.loads(stage.facts.read_text())
        drive = Drive(Plain(facts["base_url"]), facts)
        for call in json.loads(stage.calls.read_text()):
            answer = drive.make(call)
            if call["answer_schema"]:
                answers.append([call["answer_schema"], answer.record])
    recorded = tmp_path / "answers.json"
    recorded.write_text(json.dumps(answers))
    done = subprocess.run(
        [PYTHON, DRIVES / "read_models.py"],
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(models),
            "SPECD_SDK_ANSWERS": str(recorded),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == len(answers) > 0
