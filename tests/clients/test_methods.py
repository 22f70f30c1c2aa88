"""The official Python client (PyPI: zulip 0.9.1), unmodified: each method that calls an endpoint
succeeds, except those of operations that Zulip has removed.
"""

from __future__ import annotations

import pytest

from tests.clients.conftest import Office
from tests.clients.methods import CALLS, ENDLESS, REMOVED, find_methods
from tests.clients.stage import Stage


@pytest.fixture(scope="module")
def stage(office: Office) -> Stage:
    return Stage(office)


def test_every_method_is_listed() -> None:
    tabled = [*CALLS, *REMOVED, *ENDLESS]
    assert sorted(tabled) == sorted(find_methods())
    assert len(tabled) == 72


@pytest.mark.parametrize("name", sorted(find_methods() - {*REMOVED, *ENDLESS}))
def test_method_succeeds(stage: Stage, name: str) -> None:
    """The server ignores no parameter, except those that the client repeats."""
    call = CALLS[name](stage)
    answer = getattr(call.client, name)(*call.args, **call.named)
    assert (answer["result"], answer["msg"]) == ("success", ""), answer
    assert answer.get("ignored_parameters_unsupported", []) == list(call.repeated)


@pytest.mark.parametrize("name", sorted(REMOVED))
def test_removed_operations_are_rejected(stage: Stage, name: str) -> None:
    gone = REMOVED[name]
    call = gone.call(stage)
    assert getattr(call.client, name)(*call.args, **call.named) == gone.answer, gone.why
