"""Every method of the official Python client (PyPI: zulip 0.9.1) that calls an endpoint, with the
caller and the arguments in the tests.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import zulip

from tests.clients.conftest import CHANNEL, TOPIC
from tests.clients.stage import Stage, a_picture


def find_methods() -> frozenset[str]:
    """Return the public methods that call an endpoint, directly or through another method."""
    code = {
        name: frozenset(function.__code__.co_names)
        for name, function in inspect.getmembers(zulip.Client, inspect.isfunction)
        if not name.startswith("_") and name != "call_endpoint"
    }
    found = {"call_endpoint"}
    while more := {name for name, names in code.items() if names & found} - found:
        found |= more
    return frozenset(found - {"call_endpoint"})


@dataclass(frozen=True)
class Call:
    """The caller and arguments of a method.

    `repeated` names path parameters that the client also sends as parameters, which the server
    reports as ignored.
    """

    client: zulip.Client
    args: tuple[Any, ...] = ()
    named: Mapping[str, Any] = field(default_factory=dict)
    repeated: tuple[str, ...] = ()


def call(client: zulip.Client, *args: Any, **named: Any) -> Call:
    return Call(client, args, named)


def repeating(repeated: str, client: zulip.Client, **request: Any) -> Call:
    """Return a call of a method with one dictionary, which includes the path parameters."""
    return Call(client, (request,), repeated=(repeated,))


CALLS: Mapping[str, Callable[[Stage], Call]] = {
    # Messages
    "add_reaction": lambda s: repeating(
        "message_id", s.member, message_id=s.message(), emoji_name="octopus"
    ),
    "check_messages_match_narrow": lambda s: call(
        s.member, msg_ids=[s.message()], narrow=[{"operator": "topic", "operand": TOPIC}]
    ),
    "delete_message": lambda s: call(s.owner, s.message()),
    "get_message_history": lambda s: call(s.member, s.message()),
    "get_messages": lambda s: call(
        s.member, {"anchor": "newest", "num_before": 1, "num_after": 0, "narrow": []}
    ),
    "get_raw_message": lambda s: call(s.member, s.message()),
    "mark_all_as_read": lambda s: call(s.member),
    "mark_stream_as_read": lambda s: call(s.member, s.channel_id()),
    "mark_topic_as_read": lambda s: call(s.member, s.channel_id(CHANNEL), s.topic()),
    "move_topic": lambda s: call(s.owner, CHANNEL, s.channel(), s.topic()),
    "remove_reaction": lambda s: repeating(
        "message_id", s.member, message_id=s.message_with_reaction(), emoji_name="octopus"
    ),
    "render_message": lambda s: call(s.member, {"content": "**foo**"}),
    "send_message": lambda s: call(
        s.member, {"type": "stream", "to": CHANNEL, "topic": TOPIC, "content": "Words"}
    ),
    "set_typing_status": lambda s: call(s.member, {"op": "start", "to": [s.cast.cordelia.id]}),
    "update_message": lambda s: repeating(
        "message_id", s.member, message_id=s.message(), content="Other words"
    ),
    "update_message_flags": lambda s: call(
        s.member, {"messages": [s.message()], "op": "add", "flag": "starred"}
    ),
    # Files
    "delete_custom_emoji": lambda s: call(s.owner, s.emoji()),
    "get_attachments": lambda s: call(s.member),
    "get_realm_emoji": lambda s: call(s.member),
    "upload_custom_emoji": lambda s: call(s.owner, s.name(), a_picture()),
    "upload_file": lambda s: call(s.member, a_picture()),
    # Channels and topics
    "add_default_stream": lambda s: call(s.owner, s.channel_id()),
    "add_subscriptions": lambda s: call(s.member, [{"name": s.name(), "description": "New"}]),
    "delete_stream": lambda s: call(s.owner, s.channel_id()),
    "get_stream_email_address": lambda s: call(s.member, s.channel_id()),
    "get_stream_id": lambda s: call(s.member, CHANNEL),
    "get_stream_topics": lambda s: call(s.member, s.channel_id()),
    "get_streams": lambda s: call(s.member, include_public=True, include_subscribed=True),
    "get_subscribers": lambda s: Call(s.member, named={"stream": CHANNEL}, repeated=("stream",)),
    "get_subscription_status": lambda s: call(s.member, s.cast.hamlet.id, s.channel_id()),
    "get_subscriptions": lambda s: call(s.member, {"include_subscribers": True}),
    "list_subscriptions": lambda s: call(s.member),
    "mute_topic": lambda s: call(s.member, {"stream": CHANNEL, "topic": TOPIC, "op": "add"}),
    "remove_subscriptions": lambda s: call(s.member, [s.channel()]),
    "update_stream": lambda s: repeating(
        "stream_id", s.owner, stream_id=s.channel_id(), new_name=s.name(), description="Other"
    ),
    "update_subscription_settings": lambda s: call(
        s.member, [{"stream_id": s.channel_id(), "property": "color", "value": "#f00f00"}]
    ),
    # People
    "add_alert_words": lambda s: call(s.member, ["castle"]),
    "create_user": lambda s: call(s.owner, s.new_user()),
    "create_user_group": lambda s: call(
        s.owner, {"name": s.name(), "description": "All", "members": [s.cast.hamlet.id]}
    ),
    "deactivate_user_by_id": lambda s: call(s.owner, s.user_id()),
    "get_alert_words": lambda s: call(s.member),
    "get_members": lambda s: call(s.member, {"client_gravatar": True}),
    "get_profile": lambda s: call(s.member),
    "get_realm_presence": lambda s: call(s.member),
    "get_user_by_id": lambda s: call(
        s.member, s.cast.cordelia.id, include_custom_profile_fields=True
    ),
    "get_user_groups": lambda s: call(s.member),
    "get_user_presence": lambda s: call(s.member, s.present()),
    "get_users": lambda s: call(s.member, {"include_custom_profile_fields": True}),
    "reactivate_user_by_id": lambda s: call(s.owner, s.deactivated()),
    "remove_alert_words": lambda s: call(s.member, ["castle"]),
    "update_notification_settings": lambda s: call(
        s.member,
        {"enable_stream_push_notifications": True, "enable_offline_push_notifications": False},
    ),
    "update_presence": lambda s: call(
        s.member, {"status": "active", "ping_only": False, "new_user_input": False}
    ),
    "update_user_by_id": lambda s: call(s.owner, s.user_id(), full_name=s.name(), role=300),
    "update_user_group": lambda s: repeating(
        "group_id", s.owner, group_id=s.group(), name=s.name(), description="Other"
    ),
    "update_user_group_members": lambda s: call(
        s.owner, s.group(), {"delete": [s.cast.hamlet.id], "add": [s.cast.iago.id]}
    ),
    # The organization
    "add_realm_filter": lambda s: call(
        s.owner, f"{s.name()}-(?P<id>[0-9]+)", "https://a.example/{id}"
    ),
    "create_realm_profile_field": lambda s: call(
        s.owner, name=s.name(), hint="A hint", field_type=1
    ),
    "get_realm_linkifiers": lambda s: call(s.member),
    "get_realm_profile_fields": lambda s: call(s.member),
    "get_server_settings": lambda s: call(s.member),
    "remove_realm_filter": lambda s: call(s.owner, s.linkifier()),
    "remove_realm_profile_field": lambda s: call(s.owner, s.profile_field()),
    "reorder_realm_profile_fields": lambda s: call(s.owner, order=s.reversed_fields()),
    "update_realm_profile_field": lambda s: call(s.owner, s.profile_field(), name=s.name()),
    # Bots and events
    "deregister": lambda s: call(s.member, s.queue()["queue_id"]),
    "get_events": lambda s: call(s.member, **s.queue()),
    "get_storage": lambda s: call(s.bot, {"keys": [s.stored()]}),
    "register": lambda s: call(s.member, ["message"], [["channel", CHANNEL]]),
    "update_storage": lambda s: call(s.bot, {"storage": {"entry 1": "value 1", "entry 2": "2"}}),
}


@dataclass(frozen=True)
class Gone:
    """A method of an operation that Zulip has removed, with the server's response."""

    call: Callable[[Stage], Call]
    answer: Mapping[str, Any]
    why: str


REMOVED: Mapping[str, Gone] = {
    "remove_user_group": Gone(
        lambda s: call(s.owner, s.group()),
        {"result": "error", "msg": "Method Not Allowed", "allowed_methods": ["PATCH"]},
        "Since feature level 294, user groups are deactivated and not deleted.",
    ),
}
ENDLESS: Mapping[str, str] = {
    "call_on_each_event": "tests/clients/test_python.py",
    "call_on_each_message": "tests/live/test_zulip_client.py",
}
"""Methods that never return, and the tests that call them."""
