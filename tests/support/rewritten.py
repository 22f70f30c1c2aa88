"""Write the bytecode of tests with rewritten assertions. `scripts/test` does this before it starts
processes of pytest, each of which would otherwise do it for all modules (18 s of CPU time).
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path

import pytest
from _pytest.assertion import AssertionState
from _pytest.assertion.rewrite import (
    PYC_TAIL,
    _read_pyc,
    _rewrite_test,
    _write_pyc,
    assertstate_key,
    get_cache_dir,
    try_makedirs,
)
from _pytest.config import get_config

TESTS = Path(__file__).parents[1]


def test_modules() -> Iterator[Path]:
    yield from TESTS.rglob("test_*.py")
    yield from TESTS.rglob("conftest.py")


@cache
def config() -> pytest.Config:
    made = get_config()
    made.stash[assertstate_key] = AssertionState(made, "rewrite")
    return made


def write(source: Path) -> None:
    """Write the bytecode of a module, unless it exists."""
    folder = get_cache_dir(source)
    target = folder / f"{source.stem}{PYC_TAIL}"
    if _read_pyc(source, target) is None and try_makedirs(folder):
        source_hash, code = _rewrite_test(source, config())
        _write_pyc(config().stash[assertstate_key], code, source_hash, target)


if __name__ == "__main__":
    with ProcessPoolExecutor() as pool:
        list(pool.map(write, test_modules(), chunksize=10))
