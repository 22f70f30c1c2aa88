"""A client's state compared with a new snapshot of the same user.

All documented properties must be equal, except those listed here with a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tests.contract.continuity.messages import unread_ids
from tests.contract.continuity.store import Store

Snapshot = dict[str, Any]
WITHOUT_EVENTS = {
    "queue_id": "names the queue",
    "last_event_id": "the position of the queue",
    "server_timestamp": "the moment of the answer",
    "ignored_parameters_unsupported": "about the request",
    "presences": "clients ask for what is newer with POST /users/me/presence",
    "presence_last_update_id": "the same",
}
"""Keys that no event updates."""


NOTIFICATIONS = {
    "audible_notifications",
    "desktop_notifications",
    "email_notifications",
    "push_notifications",
    "wildcard_mentions_notify",
}


def differences(store: Store, fresh: Snapshot, *, is_older: bool, wildcards: set[int]) -> list[str]:
    """Return the differences between a client that applied its events and one that registers now.

    `wildcards` are ids of messages that mention the user only with a wildcard.
    """
    found: list[str] = []
    asked = Asked(store, is_older, wildcards)
    heard = "muted_topics" if asked.is_older else "user_topics"
    unheard = {"muted_topics", "user_topics"} - {heard}  # a queue gets one of the two events
    for key in sorted({*store.state, *fresh} - WITHOUT_EVENTS.keys() - unheard):
        if key not in store.state or key not in fresh:
            found.append(f"{key}: only in one")
            continue
        form = FORMS.get(key, _as_it_is)
        had, has = form(asked, store.state[key], fresh), form(asked, fresh[key], fresh)
        found.extend(_unlike(key, had, has))
    return found


def _unlike(place: str, had: Any, has: Any) -> Iterator[str]:
    if isinstance(had, dict) and isinstance(has, dict):
        for key in sorted({*had, *has}, key=str):
            yield from _unlike(f"{place}/{key}", had.get(key, "absent"), has.get(key, "absent"))
    elif had != has:
        yield f"{place}: by events {had!r}, in the snapshot {has!r}"


class Asked:
    """The user, and the options of their client: those of flutter, or those of an older one."""

    def __init__(self, store: Store, is_older: bool, wildcards: set[int]) -> None:
        self.store = store
        self.is_older = is_older
        self.wildcards = wildcards


# --- forms ----------------------------------------------------------------------------------------


def _as_it_is(asked: Asked, value: Any, fresh: Snapshot) -> Any:
    return value


def _people(asked: Asked, value: Any, fresh: Snapshot) -> Any:
    """Return users by id, because clients keep no order. Older clients derive the avatar
    themselves, or use the given URL.
    """
    left_out = {"avatar_url"} if asked.is_older else set()
    return {
        each["user_id"]: {name: each[name] for name in each.keys() - left_out} for each in value
    }


def _bots(asked: Asked, value: Any, fresh: Snapshot) -> Any:
    return {each["user_id"]: each for each in value}


def _channels(asked: Asked, value: Any, fresh: Snapshot) -> Any:
    """Return channels without `subscribers`, which clients that did not request them get only in
    events of their own subscriptions.

    The notification settings of an older client are those of the user at the time of the snapshot,
    because no event updates them.
    """
    left_out = NOTIFICATIONS if asked.is_older else {"subscribers"}
    return {
        each["stream_id"]: {name: each[name] for name in each.keys() - left_out} for each in value
    }


def _left(asked: Asked, value: Any, fresh: Snapshot) -> Any:
    """Return left channels. A channel that disappeared returns as a new one, because no event
    contains its earlier state.
    """
    kept = [each for each in value if each["stream_id"] not in asked.store.lost]
    return _channels(asked, kept, fresh)


def _streams(asked: Asked, value: Any, fresh: Snapshot) -> Any:
    """Return channels, which never have `subscribers`."""
    return _channels(Asked(asked.store, False, set()), value, fresh)


def _groups(asked: Asked, value: Any, fresh: Snapshot) -> Any:
    return {each["id"]: {**each, "members": sorted(each["members"])} for each in value}


def _policies(asked: Asked, value: Any, fresh: Snapshot) -> Any:
    """Return policies of topics. They survive the loss of a channel. No event reports this, nor
    their return with the channel, so clients use GET /user_topics.
    """
    store = asked.store
    known = {each["stream_id"] for each in fresh["streams"]} - store.lost
    return {
        (each["stream_id"], store.topic_key(each["topic_name"])): each
        for each in value
        if each["stream_id"] in known
    }


def _scheduled(asked: Asked, value: Any, fresh: Snapshot) -> Any:
    """Return scheduled messages or reminders."""
    names = ("scheduled_delivery_timestamp", "scheduled_message_id", "reminder_id")
    return sorted(value, key=lambda each: [each.get(name) for name in names])


def _drafts(asked: Asked, value: Any, fresh: Snapshot) -> Any:
    return sorted(value, key=lambda each: each["id"])


def _newest(asked: Asked, value: Any, fresh: Snapshot) -> Any:
    """Return nothing, because no event reports the newest message after the newest is deleted."""
    return value if value not in asked.store.deleted else fresh["max_message_id"]


def _conversations(asked: Asked, value: Any, fresh: Snapshot) -> Any:
    """Return conversations, without those whose newest message was deleted, for the same reason."""
    unknown = {
        tuple(each["user_ids"])
        for each in asked.store.state["recent_private_conversations"]
        if each["max_message_id"] in asked.store.deleted
    }
    return [each for each in value if tuple(each["user_ids"]) not in unknown]


def _unread(asked: Asked, value: Any, fresh: Snapshot) -> Any:
    """Return unread messages, with topics by key, because the case of their names can be that of
    any message.

    The count is computed by the client. Whether a wildcard mention counts in a muted conversation
    depends on mutes, which clients apply themselves.
    """
    store = asked.store
    topics = {
        (each["stream_id"], store.topic_key(each["topic"])): each["unread_message_ids"]
        for each in value["streams"]
    }
    people = {each["other_user_id"]: each["unread_message_ids"] for each in value["pms"]}
    many = {each["user_ids_string"]: each["unread_message_ids"] for each in value["huddles"]}
    return {
        "streams": topics,
        "pms": people,
        "huddles": many,
        "mentions": sorted(set(value["mentions"]) - asked.wildcards),
        "old_unreads_missing": value["old_unreads_missing"],
    }


Form = Callable[[Asked, Any, Snapshot], Any]
FORMS: dict[str, Form] = {
    "drafts": _drafts,
    "max_message_id": _newest,
    "never_subscribed": _left,
    "realm_bots": _bots,
    "realm_non_active_users": _people,
    "realm_user_groups": _groups,
    "realm_users": _people,
    "recent_private_conversations": _conversations,
    "reminders": _scheduled,
    "scheduled_messages": _scheduled,
    "streams": _streams,
    "subscriptions": _channels,
    "unread_msgs": _unread,
    "unsubscribed": _left,
    "user_topics": _policies,
}


def count_heard(store: Store) -> int:
    """Return `unread_msgs.count` as clients compute it: all messages except muted ones."""
    state = store.state
    muted = {each["stream_id"] for each in state["subscriptions"] if each["is_muted"]}
    policies = {
        (each["stream_id"], store.topic_key(each["topic_name"])): each["visibility_policy"]
        for each in state["user_topics"]
    }
    silent: set[int] = set()
    for place in state["unread_msgs"]["streams"]:
        stream_id = place["stream_id"]
        policy = policies.get((stream_id, store.topic_key(place["topic"])))
        if policy == 1 or (policy is None and stream_id in muted):
            silent.update(place["unread_message_ids"])
    return len(unread_ids(store) - silent)
