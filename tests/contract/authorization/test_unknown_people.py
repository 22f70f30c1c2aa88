"""No response names users whom its reader must not know, in everything that a restricted guest can
read.
"""

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
"""Operations with Yorick, or users of his objects, in the responses to a member."""


def requests_of(operation: str) -> Iterator[Mapping[str, Any]]:
    """Yield the requests of the policy. The first is also sent with the document's options
    enabled, and the snapshot is requested completely.
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
    for name in switches:  # some are only for administrators
        yield {**requests[0], name: True}


def test_responses_name_no_unknown_users(hidden_stage: HiddenStage) -> None:
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
