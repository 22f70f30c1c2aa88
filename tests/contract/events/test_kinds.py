"""Every kind of event is documented with all fields. `tests/support/chat/fixtures.py` validates
every event of all tests of the chat service.
"""

from dataclasses import fields

import pytest

from models.chat.events.log import ABSENT, ClientEvent
from models.chat.queues.lazy import LISTS
from tests.contract.events.kinds import DOCUMENT, kinds
from tests.support.documents import resolved

SCHEMAS = DOCUMENT["components"]["schemas"]
COMMON = {"id", "type", "op"}
MADE_AT_DELIVERY = {"MessageEvent": {"local_message_id"}}
# With or without a capability, one of two forms is present.
EITHER = {
    "DeleteMessageEvent": {"message_ids"},
    "PresenceEvent": {"user_id", "email", "server_timestamp", "presence", "presences"},
}


@pytest.mark.parametrize("kind", kinds().values(), ids=lambda kind: kind.__name__)
def test_document_has_the_fields_of_a_kind(kind: type[ClientEvent]) -> None:
    schema = SCHEMAS[kind.__name__]
    shown = [field for field in fields(kind) if field.name not in kind.internal]  # type: ignore[arg-type]
    made = MADE_AT_DELIVERY.get(kind.__name__, set())
    lazy = set(kind.lazy)
    assert lazy | {field.name for field in shown} == schema["properties"].keys() - COMMON - made
    needed = lazy | {field.name for field in shown if field.default is not ABSENT}
    assert needed - EITHER.get(kind.__name__, set()) == set(schema["required"]) - COMMON
    assert resolved(DOCUMENT, schema["properties"]["type"])["enum"] == [kind.type]
    if kind.op is not None:
        assert resolved(DOCUMENT, schema["properties"]["op"])["enum"] == [kind.op]


def test_fields_completed_on_reading_are_read() -> None:
    lazy = {kind.type: kind.lazy for kind in kinds().values() if kind.lazy}
    assert lazy == {type_: (key,) for type_, (key, _) in LISTS.items()}


def test_documented_event_has_a_kind() -> None:
    """Each kind has one schema, identified by `type` and `op` alone."""
    names = {(kind.type, kind.op): kind.__name__ for kind in kinds().values()}
    shown = {}
    for reference in SCHEMAS["Event"]["oneOf"]:
        name = reference["$ref"].rpartition("/")[2]
        properties = SCHEMAS[name]["properties"]
        type_, op = (resolved(DOCUMENT, properties.get(key, {})) for key in ("type", "op"))
        assert len(type_["enum"]) == len(op.get("enum", [None])) == 1
        shown[type_["enum"][0], op.get("enum", [None])[0]] = name
    assert shown == names
