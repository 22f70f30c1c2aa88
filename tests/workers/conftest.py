"""Fixtures of worker tests: a scripted chain, its clock, and one merchant's ledger."""

import shutil
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from specd.db import Database
from tests.support.fake_chain import GENESIS, FakeChain
from tests.support.frozen_clock import FrozenClock
from tests.workers.ledger import Ledger


@pytest.fixture(scope="session")
def memory() -> Iterator[Path]:
    """A folder in memory if there is one. Otherwise these tests would wait for thousands of
    fsyncs.
    """
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as path:
        yield Path(path)


@pytest.fixture
def sqlite_url(sqlite_template: Path, memory: Path) -> str:
    return f"sqlite:///{shutil.copy(sqlite_template, memory / f'{uuid.uuid4()}.db')}"


@pytest.fixture
def clock() -> FrozenClock:
    """The clock starts at the scripted chain's first block."""
    return FrozenClock(GENESIS)


@pytest.fixture
def ledger(database: Database, clock: FrozenClock) -> Ledger:
    return Ledger(database, clock)


@pytest.fixture
def chain() -> FakeChain:
    return FakeChain()
