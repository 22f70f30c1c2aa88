"""A part of `scripts/cluster`: the primary is killed under load, behind PgBouncer."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from demo.chain.anvil import find_anvil
from tests.live.chain_fixture import NO_ANVIL
from tests.live.cluster.checks import run
from tests.live.cluster.topology import missing_programs


def test_nothing_is_lost_with_the_primary() -> None:
    if not find_anvil(os.environ.get("SPECD_ANVIL", "")):
        pytest.skip(NO_ANVIL)
    missing = missing_programs()
    if missing:
        pytest.skip(f"the cluster wants {', '.join(missing)}")
    folder = Path(tempfile.mkdtemp(prefix="specd-cluster-"))
    folder.chmod(0o755)  # PostgreSQL's user needs access to it
    try:
        outcome = run("primary-killed", folder / "cluster", is_pooled=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    assert outcome.faults == [], outcome.figure
