"""The requirements of zulip-term for a snapshot, without which it stops with a KeyError at its
start or first screen, and the parts of reactions that it reads.
"""

from __future__ import annotations

from typing import Any

from tests.support.chat.decoding import (
    BOOL,
    INT,
    TEXT,
    Either,
    ListOf,
    MapOf,
    Maybe,
    Obj,
    OneOf,
    Plain,
    check,
)

FETCHED = (
    "realm",
    "presence",
    "subscription",
    "message",
    "starred_messages",
    "update_message_flags",
    "muted_topics",
    "realm_user",
    "realm_user_groups",
    "user_settings",
    "realm_emoji",
)
HEARD = (
    "message",
    "update_message",
    "reaction",
    "subscription",
    "typing",
    "update_message_flags",
    "user_settings",
    "realm_emoji",
)
OLD = ("update_global_notifications", "update_display_settings")
OPTIONS: dict[str, Any] = {
    "client_gravatar": True,
    "apply_markdown": True,
    "include_subscribers": True,
}
REGISTRATION_OF_MAIN: dict[str, Any] = {
    **OPTIONS,
    "event_types": [*HEARD, "submessage", "realm_user"],
    "fetch_event_types": [*FETCHED, "custom_profile_fields", "zulip_version"],
}
REGISTRATION_OF_0_7_0: dict[str, Any] = {
    **OPTIONS,
    "event_types": [*HEARD, *OLD],
    "fetch_event_types": [*FETCHED, *OLD, "zulip_version"],
}

IDS = ListOf(INT)
UNREAD = {"unread_message_ids": IDS}
USER = Obj(
    {"user_id": INT, "email": TEXT, "full_name": TEXT, "is_bot": BOOL, "role": INT},
    {"is_active": BOOL, "bot_owner_id": Maybe(INT)},
)
SUBSCRIPTION = Obj(
    {
        "stream_id": INT,
        "name": TEXT,
        "description": TEXT,
        "invite_only": BOOL,
        "message_retention_days": Maybe(INT),
        "color": TEXT,
        "pin_to_top": BOOL,
        "desktop_notifications": Maybe(BOOL),
        "is_muted": BOOL,
        "in_home_view": BOOL,
        "subscribers": IDS,
    }
)
CLIENT_PRESENCE = Obj({"status": OneOf(("active", "idle", "offline")), "timestamp": INT})
PRESENCE = Obj({"aggregated": CLIENT_PRESENCE}, {"website": CLIENT_PRESENCE})
SNAPSHOT = Obj(
    {
        "queue_id": TEXT,
        "last_event_id": INT,
        "zulip_version": TEXT,
        "zulip_feature_level": INT,
        "max_message_id": INT,
        "user_id": INT,
        "email": TEXT,
        "full_name": TEXT,
        "realm_users": ListOf(USER),
        "cross_realm_bots": ListOf(USER),
        "subscriptions": ListOf(SUBSCRIPTION),
        "realm_user_groups": ListOf(Obj({"id": INT, "name": TEXT})),
        "presences": MapOf(PRESENCE),
        "muted_topics": ListOf(ListOf(Either((TEXT, INT)))),
        "unread_msgs": Obj(
            {
                "pms": ListOf(Obj({"sender_id": INT, **UNREAD})),
                "streams": ListOf(Obj({"stream_id": INT, "topic": TEXT, **UNREAD})),
                "huddles": ListOf(Obj({"user_ids_string": TEXT, **UNREAD})),
                "mentions": IDS,
            }
        ),
        "starred_messages": IDS,
        "realm_emoji": MapOf(Obj({"name": TEXT, "deactivated": BOOL})),
        "realm_name": TEXT,
        "realm_message_retention_days": INT,
        "realm_allow_message_editing": BOOL,
        "realm_message_content_edit_limit_seconds": Maybe(INT),
        "realm_allow_edit_history": BOOL,
        "max_stream_name_length": INT,
        "max_topic_length": INT,
        "max_message_length": INT,
        "user_settings": Obj(
            {
                "send_private_typing_notifications": BOOL,
                "twenty_four_hour_time": BOOL,
                "pm_content_in_desktop_notifications": BOOL,
            }
        ),
    }
)
EMOJI = {"emoji_name": TEXT, "emoji_code": TEXT, "reaction_type": TEXT}
REACTION = Obj({**EMOJI, "user_id": INT, "user": Obj({"id": INT})})
REACTION_EVENT = Obj(
    {**EMOJI, "op": OneOf(("add", "remove")), "message_id": INT, "user_id": INT}
).with_keys(user=Obj({"user_id": INT, "email": TEXT, "full_name": TEXT}))
FIELD = Obj({"id": INT, "name": TEXT, "type": INT, "field_data": Plain((str,))})


def check_main(snapshot: dict[str, Any]) -> None:
    """Raise an error unless the development version starts with the response of `POST
    /register`.
    """
    check(snapshot, SNAPSHOT.with_keys(custom_profile_fields=ListOf(FIELD)), "snapshot")


def check_0_7_0(snapshot: dict[str, Any]) -> None:
    """Raise an error unless the released version does. It reads two settings at the top level."""
    at_top = {"twenty_four_hour_time": BOOL, "pm_content_in_desktop_notifications": BOOL}
    check(snapshot, SNAPSHOT.with_keys(**at_top), "snapshot")


PINGED = Obj({"presences": MapOf(PRESENCE)})


def check_ping(answer: dict[str, Any]) -> None:
    """Raise an error unless both versions read the response of `POST /users/me/presence`."""
    check(answer, PINGED, "ping")


EVENTS = {
    "typing": Obj({"op": OneOf(("start", "stop")), "sender": Obj({"user_id": INT, "email": TEXT})}),
}


def check_event(event: dict[str, Any]) -> None:
    """Raise an error unless both versions handle the event without an exception."""
    check(event, EVENTS.get(event["type"], Obj()), event["type"])
