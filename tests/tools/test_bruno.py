"""Bruno imports every document, and the scripts that it creates from links run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.contract.sdk.stage import operation_ids
from tests.support.yaml_files import read_yaml
from tests.tools.installed import DOCUMENTS, NODE, run, skip_without, write_document

BRU = NODE / ".bin" / "bru"
SCRIPTS = Path(__file__).parent / "run_scripts.cjs"


def requests_of(collection: Path) -> dict[str, dict[str, Any]]:
    """Return the requests of an imported collection by name."""
    contents = (read_yaml(file) for file in collection.rglob("*.yml"))
    return {
        its["info"]["name"]: its for its in contents if its.get("info", {}).get("type") == "http"
    }


def scripts_of(requests: dict[str, dict[str, Any]]) -> list[tuple[str, str]]:
    return [
        (name, script["code"])
        for name, request in requests.items()
        for script in request.get("runtime", {}).get("scripts", [])
    ]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_bruno_imports_a_document(document: str, tmp_path: Path) -> None:
    skip_without(BRU)
    source = write_document(document, tmp_path)
    done = run(BRU, "import", "openapi", "--source", source, "--output", tmp_path, "-n", "imported")
    assert done.returncode == 0, done.stderr
    requests = requests_of(tmp_path / "imported")
    assert len(requests) == len(operation_ids(document))
    scripts = scripts_of(requests)
    assert scripts
    assert json.loads(run("node", SCRIPTS, given=json.dumps(scripts)).stdout) == []


def test_script_that_reads_a_missing_value_is_detected() -> None:
    skip_without(BRU)
    scripts = [("right", "bru.setVar('id', res.body.id)"), ("wrong", "bru.setVar('id', id)")]
    failed = json.loads(run("node", SCRIPTS, given=json.dumps(scripts)).stdout)
    assert {line.partition(":")[0] for line in failed} == {"wrong"}
