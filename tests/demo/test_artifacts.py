"""The shipped bytecode is the compiled form of our sources."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from demo.chain.artifacts import load_artifact

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "demo" / "chain" / "contracts"


def find_compiler() -> Path:
    """Return the node_modules directory with the pinned solc. Skips the test if there is none."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed: the contracts cannot be compiled again")
    named = os.environ.get("NODE_PATH", "").split(os.pathsep)
    built = sorted(ROOT.glob("build/solc-*/node_modules"))
    for directory in [*built, ROOT / "node_modules", *map(Path, filter(None, named))]:
        if (directory / "solc" / "package.json").exists():
            return directory
    pytest.skip("npm's solc is not installed: run scripts/build_contracts once")


def test_shipped_artifacts_match_the_compiled_sources(tmp_path: Path) -> None:
    compiled = subprocess.run(
        ["node", "contracts/compile.cjs", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "NODE_PATH": str(find_compiler())},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert compiled.returncode == 0, compiled.stderr
    shipped = {path.name: path.read_text() for path in SHIPPED.glob("*.json")}
    assert {path.name: path.read_text() for path in tmp_path.glob("*.json")} == shipped


def test_each_source_has_its_artifact() -> None:
    sources = {path.stem for path in (ROOT / "contracts").glob("*.sol")}
    assert sources == {path.stem for path in SHIPPED.glob("*.json")}


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.json")), ids=lambda path: path.stem)
def test_artifact_is_complete(path: Path) -> None:
    artifact = load_artifact(path.stem)
    assert bytes.fromhex(artifact.bytecode.removeprefix("0x"))
    assert artifact.abi
    assert json.loads(path.read_text())["compiler"] == "0.8.37"


def test_token_cannot_be_minted_or_stopped() -> None:
    """Nobody controls the play money after its deployment."""
    functions = {
        each["name"]
        for each in load_artifact("TestToken").abi
        if each["type"] == "function" and each["stateMutability"] != "view"
    }
    views = {each["name"] for each in load_artifact("TestToken").abi if each["type"] == "function"}
    assert functions == {"transfer", "transferFrom", "approve"}
    assert views - functions == {
        "name",
        "symbol",
        "decimals",
        "totalSupply",
        "balanceOf",
        "allowance",
    }
