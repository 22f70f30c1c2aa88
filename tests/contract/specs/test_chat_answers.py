"""The chat document's examples of responses and of parameters are real: the server gives every
documented response with the same keys and types, and accepts every documented parameter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from sqlalchemy import update
from sqlalchemy.orm import Session

from handlers.chat import calls
from handlers.chat.wire import steps
from models.chat.scheduling.delivery import TOO_LATE
from models.chat.scheduling.records import FAILED
from models.chat.tables import ScheduledMessage
from tests.contract.specs.chat_player import (
    DOCUMENT,
    FORM,
    JSON,
    OPERATIONS,
    PATHS,
    REFUSED,
    STANDS_FOR,
    Player,
    operation_of,
    resolve,
)
from tests.contract.specs.examples import of_parameter, operations
from tests.support.chat.mail import token_of

Sent = Mapping[str, Any]


@dataclass(frozen=True)
class Story:
    """A request, its caller, and its preconditions."""

    values: Sent = field(default_factory=dict)
    before: tuple[tuple[str, Sent], ...] = ()
    who: str = "owner"


NEWEST = {"anchor": "newest", "num_before": 10, "num_after": 0}
ELSINORE = ("subscribe", {"subscriptions": [{"name": "Elsinore", "description": "Who's there?"}]})
EDITOR = {"name": "Favorite editor", "field_type": 3, "display_in_profile_summary": True}
EDITED = ("update_message", {"message_id": "$own_message", "content": "Words, words."})
LETTER = (
    "send_message",
    {"type": "direct", "to": ["$hamlet"], "content": "A prison.", "read_by_sender": True},
)
LATER = {"type": "direct", "to": ["$hamlet"], "content": "Hi"}
TOPIC = {"type": "channel", "to": "square", "topic": "castle", "content": "Words"}
SPOKEN = ("send_message", {**TOPIC, "read_by_sender": True})
NO_POLICY = ("update_settings", {"automatically_follow_topics_policy": 4})
CREED = ("update_own_profile_data", {"data": [{"id": "$profile_field", "value": "Prince"}]})
THERE = ("update_own_presence", {"status": "active"})
MAIL = ("update_settings", {"email": "hamlet@elsinore.example"})
REMIND = {"message_id": "$hamlets_message", "scheduled_delivery_timestamp": "$tomorrow"}
# Responses that need preconditions, or a request that is not the first documented one.
STORIES: dict[tuple[str, str], Story] = {
    ("jwt_fetch_api_key", "with_profile"): Story(
        {"token": "$hamlets_token", "include_profile": True}
    ),
    ("get_own_user", "hamlet"): Story(before=(CREED,)),
    ("create_custom_emoji", "done"): Story({"emoji_name": "yorick", "file": "$picture"}),
    ("create_custom_emoji", "with_unknown_parameters"): Story(
        {"emoji_name": "yorick", "file": "$picture"}
    ),
    ("upload_file", "stored"): Story({"file": "$file"}),
    ("upload_own_avatar", "uploaded"): Story({"file": "$picture"}),
    ("delete_own_avatar", "deleted"): Story(before=(("upload_own_avatar", {"file": "$picture"}),)),
    ("get_temporary_url", "skull"): Story(
        {"realm_id_str": "$realm_id", "filename": "$own_filename"}
    ),
    ("list_attachments", "one"): Story(
        before=(("send_message", {"type": "direct", "to": ["$own_id"], "content": "$own_link"}),)
    ),
    ("list_users", "one"): Story({"user_ids": ["$hamlet"]}),
    ("deactivate_own_user", "done"): Story(who="member"),
    ("deactivate_own_user", "with_unknown_parameters"): Story(who="member"),
    ("register_queue", "phone"): Story(
        {"fetch_event_types": ["message", "update_message_flags", "starred_messages"]},
        (
            ("send_message", {"type": "direct", "to": ["$own_id"], "content": "Hi"}),
            ("update_message_flags", {"messages": ["$new_id"], "op": "add", "flag": "starred"}),
        ),
    ),
    ("get_user_status", "on_vacation"): Story(
        {"user_id": "$own_id"},
        ((("update_own_status"), {"status_text": "on vacation", "emoji_name": "car"}),),
    ),
    ("update_own_presence", "older"): Story({"status": "active"}),
    ("get_user_presence", "active"): Story({"user_id_or_email": "$own_id"}, (THERE,)),
    ("get_user_presence", "offline"): Story({"user_id_or_email": "$own_id"}, (THERE,)),
    ("list_scheduled_messages", "two"): Story(
        before=(
            ("create_scheduled_message", {**LATER, "scheduled_delivery_timestamp": "$tomorrow"}),
        )
    ),
    ("create_reminder", "set"): Story(REMIND),
    ("list_reminders", "one"): Story(before=(("create_reminder", REMIND),)),
    ("list_drafts", "two"): Story(
        before=(
            (
                "create_drafts",
                {
                    "drafts": [
                        {"type": "private", "to": ["$hamlet"], "topic": "", "content": "Hi"},
                        {"type": "stream", "to": ["$square"], "topic": "t", "content": "Words"},
                    ]
                },
            ),
        )
    ),
    ("list_bots", "one"): Story(who="member"),
    ("regenerate_bot_api_key", "renewed"): Story({"bot_id": "$othellos_bot"}, who="member"),
    ("reactivate_user", "bot"): Story(
        {"user_id": "$othellos_bot"},
        (("deactivate_bot", {"bot_id": "$othellos_bot"}),),
        who="member",
    ),
    ("list_alert_words", "two"): Story(before=(("add_alert_words", {"alert_words": ["castle"]}),)),
    ("remove_alert_words", "one"): Story(
        {"alert_words": ["castle"]}, (("add_alert_words", {"alert_words": ["castle", "to be"]}),)
    ),
    ("get_email_confirmation", "hamlet"): Story({"token": "$mailed"}, (MAIL,)),
    ("confirm_new_email", "hamlet"): Story({"token": "$mailed"}, (MAIL,)),
    ("list_profile_fields", "one"): Story(
        before=(
            (
                "create_profile_field",
                {**EDITOR, "field_data": {"vim": {"text": "Vim", "order": "1"}}},
            ),
        )
    ),
    ("list_profile_fields", "none"): Story(
        before=(("delete_profile_field", {"field_id": "$profile_field"}),)
    ),
    ("list_user_group_subgroups", "one"): Story(
        before=(("update_user_group_subgroups", {"add": ["$members_group"]}),)
    ),
    ("list_linkifiers", "none"): Story(before=(("delete_linkifier", {"filter_id": "$linkifier"}),)),
    ("list_messages", "castle"): Story(NEWEST, (SPOKEN,)),
    ("list_messages", "by_ids"): Story({"message_ids": ["$new_id"]}, (LETTER,)),
    ("get_message", "castle"): Story({"message_id": "$new_id"}, (SPOKEN,)),
    ("list_message_history", "edited"): Story({"message_id": "$own_message"}, (EDITED,)),
    ("list_read_receipts", "read"): Story(
        {"message_id": "$hamlets_message"},
        (
            (
                "update_message_flags",
                {"messages": ["$hamlets_message"], "op": "add", "flag": "read"},
            ),
        ),
    ),
    ("check_messages_match_narrow", "search"): Story(
        {"msg_ids": ["$new_id"], "narrow": [{"operator": "search", "operand": "words"}]},
        (("send_message", TOPIC),),
    ),
    ("send_message", "sent"): Story(TOPIC, (NO_POLICY,)),
    ("send_message", "follows"): Story(
        TOPIC, (("update_settings", {"automatically_follow_topics_policy": 2}),)
    ),
    ("update_message_flags_for_narrow", "unread"): Story(
        {**NEWEST, "narrow": [], "op": "remove", "flag": "read"},
        (("unsubscribe", {"subscriptions": ["square"]}),),
    ),
    ("get_channel", "elsinore"): Story(
        {"stream_id": "$new_stream_id"}, (ELSINORE, ("get_channel_id", {"stream": "Elsinore"}))
    ),
    ("get_channel_id", "elsinore"): Story({"stream": "Elsinore"}, (ELSINORE,)),
    ("list_subscriptions", "with_subscribers"): Story({"include_subscribers": True}),
    ("subscribe", "unauthorized"): Story(
        {
            "subscriptions": [{"name": "square"}, {"name": "cellar"}],
            "authorization_errors_fatal": False,
        },
        who="member",
    ),
    ("update_subscriptions", "swapped"): Story(
        {"add": [{"name": "Elsinore"}], "delete": ["Verona"]},
        (("subscribe", {"subscriptions": [{"name": "Verona"}]}),),
    ),
    ("unsubscribe", "left"): Story({"subscriptions": ["Elsinore"]}, (ELSINORE,)),
    ("list_topics", "two"): Story({"stream_id": "$square"}),
    ("mark_channel_as_read", "all"): Story({"stream_id": "$square"}),
    ("mark_topic_as_read", "all"): Story({"stream_id": "$square", "topic_name": "Hamlet"}),
    ("list_navigation_views", "two"): Story(
        before=(("add_navigation_view", {"fragment": "inbox", "is_pinned": False}),)
    ),
    ("delete_topic", "all"): Story({"stream_id": "$square", "topic_name": "Hamlet"}),
    ("create_domain", "acme"): Story(
        {"domain": "acme.example", "allow_subdomains": True},
        (("delete_domain", {"domain": "acme.example"}),),
    ),
    ("create_linkifier", "cases"): Story(
        {"pattern": "#(?P<id>[0-9]+)", "url_template": "https://cases.example/{id}"},
        (("delete_linkifier", {"filter_id": "$linkifier"}),),
    ),
    ("create_channel_folder", "plays"): Story({"name": "New plays", "description": ""}),
    ("list_exports", "two"): Story(before=(("create_export", {}),)),
    ("list_channel_folders", "none"): Story(
        before=(
            (
                "update_channel_folder",
                {"channel_folder_id": "$channel_folder", "is_archived": True},
            ),
        )
    ),
}
# They need a vendor, a relay or the cookie of a browser, or other clients that cause events:
# tests/handlers/chat plays them with one and compares complete responses. tests/contract/events
# checks every event.
WITH_COUNTERPARTS = {
    *REFUSED,
    "accept_invitation",
    "get_invitation",
    "begin_vendor_authorization",
    "complete_vendor_authorization",
    "get_channel_email",
    "get_events",
    "list_own_devices",
    "session_fetch_api_key",
}


def bodies(operation_id: str) -> Mapping[str, Any]:
    response = resolve(operation_of(operation_id)["responses"]["200"])
    shown = response["content"].get(JSON, {}).get("examples", {})
    return {name: resolve(example)["value"] for name, example in shown.items()}


def first_request(operation_id: str) -> Sent:
    """Return the first example of the body, or its replacement."""
    body = resolve(operation_of(operation_id).get("requestBody", {}))
    for name, example in body.get("content", {}).get(FORM, {}).get("examples", {}).items():
        return {**resolve(example)["value"], **STANDS_FOR.get((operation_id, name), {})}
    return PATHS.get(operation_id, {})


def answers() -> Iterator[Any]:
    for operation_id in OPERATIONS:
        if operation_id not in WITH_COUNTERPARTS:
            for name, value in bodies(operation_id).items():
                yield pytest.param(operation_id, name, value, id=f"{operation_id}-{name}")


def agrees(shown: Any, given: Any) -> bool:
    """Return whether a response has the keys and types of the example. Keys that are numbers match
    all numbers.
    """
    if isinstance(shown, dict) and isinstance(given, dict):
        if shown and all(key.isdigit() for key in shown):
            pairs = [(it, other) for it in shown.values() for other in list(given.values())[:1]]
            return bool(pairs) and all(agrees(one, other) for one, other in pairs)
        return shown.keys() == given.keys() and all(agrees(shown[k], given[k]) for k in shown)
    if isinstance(shown, list) and isinstance(given, list):
        return bool(shown) <= bool(given) and all(any(agrees(s, g) for g in given) for s in shown)
    return type(shown) is type(given)


def fail_direct_messages(session: Session) -> None:
    """Do the same as the worker if it runs too late."""
    failed = {"state": FAILED, "failure": TOO_LATE}
    session.execute(
        update(ScheduledMessage).where(ScheduledMessage.channel_id.is_(None)).values(failed)
    )


@pytest.mark.parametrize(("operation_id", "name", "shown"), list(answers()))
def test_every_documented_response_is_given(
    player: Player,
    operation_id: str,
    name: str,
    shown: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if isinstance(shown, dict) and shown.get("complete") is False:
        monkeypatch.setattr(steps, "LONGEST_S", 0.0)
    story = STORIES.get((operation_id, name), Story())
    player.act_as(story.who)
    for other, values in story.before:
        before = player.send(other, values)
        assert before.is_success, before.text
    if operation_id == "list_scheduled_messages":
        player.database.run(fail_direct_messages)
    if story.values.get("token") == "$mailed":
        story = Story({"token": token_of(player.database)})
    values = story.values or first_request(operation_id)
    if name == "with_unknown_parameters":
        values = {**values, **dict.fromkeys(shown["ignored_parameters_unsupported"], "red")}
    answer = player.send(operation_id, values)
    assert answer.status_code == 200, answer.text
    assert agrees(shown, answer.json()), answer.text


@pytest.mark.parametrize("operation_id", ["get_email_confirmation", "confirm_new_email"])
def test_documented_pages_are_given(player: Player, operation_id: str) -> None:
    player.send(*MAIL)
    player.accept = "text/html"
    answer = player.send(operation_id, {"token": token_of(player.database)})
    content = operation_of(operation_id)["responses"]["200"]["content"]["text/html"]
    assert answer.text == content["examples"]["page"]["value"]


def test_page_after_an_authorization_matches_the_example() -> None:
    responses = operation_of("complete_vendor_authorization")["responses"]
    shown = responses["200"]["content"]["text/html"]["examples"]["page"]["value"]
    assert shown == calls.CLOSE


def parameters() -> Iterator[Any]:
    """Yield (operationId, parameters) for each example of a query parameter, and for both values
    of booleans.
    """
    for _, _, operation, listed in operations(DOCUMENT):
        operation_id = operation["operationId"]
        queries = [parameter for parameter in listed if parameter["in"] == "query"]
        if queries and operation_id not in WITH_COUNTERPARTS:
            sent = [
                {parameter["name"]: value}
                for parameter in queries
                for value in shown_values(parameter)
            ]
            yield pytest.param(operation_id, sent, id=operation_id)


def shown_values(parameter: Sent) -> list[Any]:
    schema = resolve(parameter.get("content", {}).get(JSON, parameter)["schema"])
    if schema.get("type") == "boolean":
        return [True, False]
    values = [example.value for example in of_parameter(DOCUMENT, parameter, "")]
    assert values, f"{parameter['name']} has no example"
    return values


def required_with(operation_id: str, sent: Sent) -> Sent:
    """Return the parameters that this parameter requires."""
    if operation_id == "list_messages" and "message_ids" not in sent:
        return {**NEWEST, "anchor": "date"} if "anchor_date" in sent else NEWEST
    return PATHS.get(operation_id, {})


@pytest.mark.parametrize(("operation_id", "all_sent"), list(parameters()))
def test_every_documented_parameter_is_accepted(
    player: Player, operation_id: str, all_sent: list[Sent]
) -> None:
    assert OPERATIONS[operation_id][0] == "GET", "one database must be enough"
    player.send(*ELSINORE)
    for sent in all_sent:
        answer = player.send(operation_id, {**required_with(operation_id, sent), **sent})
        assert answer.status_code == 200, answer.text
        assert "ignored_parameters_unsupported" not in answer.json()


def test_every_story_belongs_to_a_response() -> None:
    assert set(STORIES) <= {(p.values[0], p.values[1]) for p in answers()}


def test_mismatch_is_detected() -> None:
    assert agrees({"a": [{"b": 1}], "c": None}, {"a": [{"b": 2}, {}], "c": None})
    assert not agrees({"a": None}, {"a": 1})
    assert not agrees({"a": 1}, {"a": "1"})
    assert not agrees({"a": 1}, {"a": 1, "b": 2})
    assert not agrees({"a": [{"b": 1}]}, {"a": []})
    assert not agrees({"1": {"b": 1}}, {"2": {"c": 1}})
