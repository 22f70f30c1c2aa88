"""zulip-js (npm, 2.1.0), unmodified: each function that calls an endpoint succeeds, except those of
operations that Zulip has removed.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.clients.conftest import CHANNEL, TOPIC, Office
from tests.clients.installed import NODE, need
from tests.clients.stage import Stage
from tests.support.chat.people import PASSWORD

PACKAGE = NODE / "node_modules/zulip-js"
pytestmark = need(PACKAGE)
_CALL = Path(__file__).with_name("call.cjs")
Arguments = Callable[[Stage], list[Any]]

CALLS: Mapping[str, Arguments] = {
    "accounts.retrieve": lambda s: [],
    "emojis.retrieve": lambda s: [],
    "events.retrieve": lambda s: [{**s.queue(), "dont_block": False}],
    "messages.deleteById": lambda s: [{"message_id": s.message()}],
    "messages.deleteReactionById": lambda s: [
        {"message_id": s.message_with_reaction(), "emoji_name": "octopus"}
    ],
    "messages.flags.add": lambda s: [{"messages": [s.message()], "flag": "starred"}],
    "messages.flags.remove": lambda s: [{"messages": [s.message()], "flag": "starred"}],
    "messages.getById": lambda s: [{"message_id": s.message()}],
    "messages.getHistoryById": lambda s: [{"message_id": s.message()}],
    "messages.render": lambda s: ["**foo**"],
    "messages.retrieve": lambda s: [
        {
            "anchor": "newest",
            "num_before": 1,
            "num_after": 0,
            "narrow": [{"operator": "channel", "operand": CHANNEL}],
        }
    ],
    "messages.send": lambda s: [
        {"type": "stream", "to": CHANNEL, "topic": TOPIC, "content": "Words"}
    ],
    "messages.update": lambda s: [{"message_id": s.message(), "content": "Other words"}],
    "queues.deregister": lambda s: [{"queue_id": s.queue()["queue_id"]}],
    "queues.register": lambda s: [{"event_types": ["message"]}],
    "reactions.add": lambda s: [{"message_id": s.message(), "emoji_name": "octopus"}],
    "reactions.remove": lambda s: [
        {"message_id": s.message_with_reaction(), "emoji_name": "octopus"}
    ],
    "server.settings": lambda s: [],
    "streams.deleteById": lambda s: [{"stream_id": s.channel_id()}],
    "streams.getStreamId": lambda s: [CHANNEL],
    "streams.retrieve": lambda s: [{"include_public": True}],
    "streams.subscriptions.retrieve": lambda s: [{"include_subscribers": True}],
    "streams.topics.retrieve": lambda s: [{"stream_id": s.channel_id()}],
    "typing.send": lambda s: [{"to": [s.cast.cordelia.id], "op": "start"}],
    "users.create": lambda s: [s.new_user()],
    "users.me.alertWords.retrieve": lambda s: [],
    "users.me.getProfile": lambda s: [],
    "users.me.subscriptions.add": lambda s: [{"subscriptions": [{"name": s.name()}]}],
    "users.me.subscriptions.remove": lambda s: [{"subscriptions": json.dumps([s.channel()])}],
    "users.retrieve": lambda s: [{"client_gravatar": True}],
}
ADMINISTERING = frozenset(("messages.deleteById", "streams.deleteById", "users.create"))
"""Functions that the owner calls. Hamlet calls the others."""
REMOVED: Mapping[str, str] = {
    "filters.retrieve": "GET /realm/filters: feature level 54 has removed it.",
    "users.me.pointer.retrieve": "GET /users/me/pointer: feature level 23 has removed it.",
    "users.me.pointer.update": "POST /users/me/pointer: feature level 23 has removed it.",
}
REPEATED = {
    "messages.deleteReactionById": ["message_id"],
    "messages.getById": ["message_id"],
    "messages.getHistoryById": ["message_id"],
    "messages.deleteById": ["message_id"],
    "messages.update": ["message_id"],
    "streams.deleteById": ["stream_id"],
}
"""Path parameters that the client also sends as parameters."""


def answers(office: Office, calls: Mapping[str, list[Any]]) -> tuple[list[str], dict[str, Any]]:
    """The functions of the client, and the results of the calls."""
    lines = []
    for path, args in calls.items():
        who = office.cast.cordelia if path in ADMINISTERING else office.cast.hamlet
        config = {"realm": office.url, "username": who.email, "apiKey": who.key}
        if path == "accounts.retrieve":  # of a client that signs in
            config = {"realm": office.url, "username": who.email, "password": PASSWORD}
        lines.append(json.dumps({"config": config, "path": path, "args": args}))
    done = subprocess.run(
        ["node", str(_CALL)],
        input="\n".join(lines),
        env={**os.environ, "NODE_PATH": str(PACKAGE.parent)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    functions, *answered = [json.loads(line) for line in done.stdout.splitlines()]
    return functions, dict(zip(calls, answered, strict=True))


def test_each_function_succeeds(office: Office) -> None:
    """The server ignores no parameter, except those that the client repeats."""
    stage = Stage(office)
    given = {path: arguments(stage) for path, arguments in CALLS.items()}
    functions, answered = answers(office, given)
    assert sorted(functions) == sorted([*CALLS, *REMOVED])
    for path, answer in answered.items():
        assert (answer["result"], answer["msg"]) == ("success", ""), (path, answer)
        ignored = answer.get("ignored_parameters_unsupported", [])
        assert ignored == REPEATED.get(path, []), path


def test_removed_operations_are_rejected(office: Office) -> None:
    _, answered = answers(office, {path: [17] if "update" in path else [] for path in REMOVED})
    assert {path: answer["msg"] for path, answer in answered.items()} == {
        "filters.retrieve": "Method Not Allowed",
        "users.me.pointer.retrieve": "Not found",
        "users.me.pointer.update": "Not found",
    }
