"""Detects slow work in write units, in every chat test.

Rendering, diffing, hashing and checking passwords must precede the unit (specd/_engine/phases.py).
Only the notification bot renders inside, for a sentence about the unit's changes.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from models.chat.editing import history as message_history
from models.chat.identity import passwords
from models.chat.rendering import texts
from tests.support.app import Swap

LONGEST_NOTICE = 4000


class _ThreadState(threading.local):
    is_in_unit = False


_here = _ThreadState()


class WatchedDatabase(Swap):
    """An application's database that records whether a unit is running."""

    def run_unit(self, work: Callable[[Any], Any]) -> Any:
        def watched(unit: Any) -> Any:
            _here.is_in_unit = True
            try:
                return work(unit)
            finally:
                _here.is_in_unit = False

        return self.target.run_unit(watched)


@contextmanager
def refused_in_units() -> Iterator[None]:
    """Reject slow work in an application's write unit while this is active."""
    with pytest.MonkeyPatch.context() as patch:

        def watch(module: Any, name: str, is_allowed: Callable[..., bool]) -> None:
            really = getattr(module, name)

            def watched(*arguments: Any, **named: Any) -> Any:
                assert not _here.is_in_unit or is_allowed(*arguments), f"{name} in a write unit"
                return really(*arguments, **named)

            patch.setattr(module, name, watched)

        watch(texts, "_render", _is_notice)
        watch(message_history, "content_html_diff", _is_never_allowed)
        for name in ("is_strong", "hash_password", "is_password"):
            watch(passwords, name, _is_never_allowed)
        yield


def _is_notice(author: Any, text: str, names: Any) -> bool:
    return bool(author.is_system_bot) and len(text) <= LONGEST_NOTICE


def _is_never_allowed(*arguments: Any) -> bool:
    return False
