"""A smaller organization for the benchmarks, and servers that start warm."""

import os
import subprocess
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest

from benchmarks.chat import databases, realm
from benchmarks.load import processes
from tests.support import warm

FEW: dict[str, Any] = {"PEOPLE": 220, "SUBSCRIBERS": 22, "CHANNELS": 20}
"""The organization. It has as many messages as a large one: a message is flagged once."""


@pytest.fixture(scope="module")
def few_people() -> Iterator[None]:
    """Fewer people in the organization, also in one that another checkout creates."""
    furnish = f"from benchmarks.chat import realm\nvars(realm).update({FEW})\n{databases.FURNISH}"
    with patch.multiple(realm, **FEW), patch.object(databases, "FURNISH", furnish):
        yield


class WarmOnCore(warm.Popen):
    """A warm program that `taskset -c CORE` would have started."""

    def __init__(self, words: Sequence[str], **options: Any) -> None:
        pinned = words[:2] == ["taskset", "-c"]
        super().__init__(words[3:] if pinned else words, **options)
        if pinned:
            os.sched_setaffinity(self.pid, {int(words[2])})


@pytest.fixture(scope="module", autouse=True)
def _warm_servers() -> Iterator[None]:
    started_warm = SimpleNamespace(**{**vars(subprocess), "Popen": WarmOnCore})
    with patch.object(processes, "subprocess", started_warm):
        yield
