"""No answer names somebody whom its reader may not know: everything a restricted guest can read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import specs
from tests.contract.authorization.hidden_stage import HiddenStage
from tests.contract.authorization.policy import Case, load
from tests.support.contract import operations_of
from tests.support.documents import resolved

DOCUMENT = specs.load("chat")
SNAPSHOT = "register_queue"
READING = [
    *(name for name, (method, _) in operations_of(DOCUMENT).items() if method == "GET"),
    SNAPSHOT,
]
TELLING = {
    "get_events",
    "get_own_user",
    "get_realm_presence",
    "get_user",
    "get_user_by_email",
    "list_channel_folders",
    "list_channels",
    "list_subscriptions",
    "list_user_groups",
    "list_users",
    SNAPSHOT,
}
"""Operations in whose answers a member finds Yorick, or who holds what is his."""


def requests_of(operation: str) -> Iterator[Mapping[str, Any]]:
    """The requests of the policy, the first also with the document's switches on; of the snapshot
    everything.
    """
    if operation == SNAPSHOT:
        yield {"include_subscribers": True}
        return
    method, path = operations_of(DOCUMENT)[operation]
    sent = DOCUMENT["paths"][path][method.lower()].get("parameters", ())
    switches = {
        parameter["name"]: True
        for parameter in (resolved(DOCUMENT, named) for named in sent)
        if resolved(DOCUMENT, parameter.get("schema", {})).get("type") == "boolean"
    }
    requests = [case.request for case in load("chat").cases if case.operation == operation]
    yield from requests
    yield {**requests[0], **switches}
    for name in switches:  # some are for administrators only
        yield {**requests[0], name: True}


def test_no_answer_names_somebody_its_reader_may_not_know(hidden_stage: HiddenStage) -> None:
    hidden_stage.forget()
    told: dict[str, set[str]] = {"guest": set(), "member": set()}
    yorick = next(str(h.thing) for h in hidden_stage.hidden if h.kind == "user id")
    for operation in READING:
        for request in requests_of(operation):
            for actor, operations in told.items():
                case = Case(operation, "", request, {})
                answer = hidden_stage.restricted.try_out(case, actor)
                if yorick in answer.text or "yorick" in answer.text.casefold():
                    operations.add(operation)
    assert told["guest"] == set()
    assert told["member"] == TELLING
