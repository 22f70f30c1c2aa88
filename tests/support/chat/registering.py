"""Registers event queues."""

from typing import Any

from tests.support.chat.answers import DONE
from tests.support.chat.app import ChatClient

VERSIONS = {
    "zulip_version": "12.0",
    "zulip_feature_level": 478,
    "zulip_merge_base": "12.0",
    "event_queue_longpoll_timeout_seconds": 90,
}
ALWAYS = {*DONE, *VERSIONS, "queue_id", "last_event_id", "idle_queue_timeout_secs"}


def fetch(client: ChatClient, *fetch_types: str, **options: Any) -> dict[str, Any]:
    """Return the keys that these fetch types add to the response."""
    answer = client.post("/register", fetch_event_types=list(fetch_types), **options)
    assert answer["result"] == "success", answer
    assert answer.keys() >= ALWAYS
    return {key: value for key, value in answer.items() if key not in ALWAYS}


def capable_of(*names: str) -> dict[str, Any]:
    return {"client_capabilities": dict.fromkeys(names, True)}
