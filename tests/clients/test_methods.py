"""The official Python client (PyPI: zulip 0.9.1), unmodified: each method that calls an endpoint
succeeds, but for those of operations that the reference has removed.
"""

from __future__ import annotations

import pytest

from tests.clients.conftest import Office
from tests.clients.methods import CALLS, ENDLESS, REMOVED, find_methods
from tests.clients.stage import Stage


@pytest.fixture(scope="module")
def stage(office: Office) -> Stage:
    return Stage(office)


def test_no_method_is_left_out() -> None:
    tabled = [*CALLS, *REMOVED, *ENDLESS]
    assert sorted(tabled) == sorted(find_methods())
    assert len(tabled) == 72


@pytest.mark.parametrize("name", sorted(find_methods() - {*REMOVED, *ENDLESS}))
def test_it_succeeds(stage: Stage, name: str) -> None:
    """The server ignores nothing that it is sent, but for what the client repeats."""
    call = CALLS[name](stage)
    answer = getattr(call.client, name)(*call.args, **call.named)
    assert (answer["result"], answer["msg"]) == ("success", ""), answer
    assert answer.get("ignored_parameters_unsupported", []) == list(call.repeated)


@pytest.mark.parametrize("name", sorted(REMOVED))
def test_what_the_reference_has_removed(stage: Stage, name: str) -> None:
    gone = REMOVED[name]
    call = gone.call(stage)
    assert getattr(call.client, name)(*call.args, **call.named) == gone.answer, gone.why
