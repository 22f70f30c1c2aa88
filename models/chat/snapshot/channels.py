"""Channels in a snapshot: the channels that the actor may see, and the actor's subscriptions."""

from collections.abc import Mapping
from typing import Any

from models.chat.channels.channels import find_default_channel_ids, find_subscriber_ids
from models.chat.channels.subscriptions import find_own_settings
from models.chat.snapshot.viewing import Viewing
from models.chat.topics.visibility import describe_muted, describe_policy

USERS_DEFAULTS = {
    "desktop_notifications": "enable_stream_desktop_notifications",
    "audible_notifications": "enable_stream_audible_notifications",
    "push_notifications": "enable_stream_push_notifications",
    "email_notifications": "enable_stream_email_notifications",
    "wildcard_mentions_notify": "wildcard_mentions_notify",
}
"""A subscription's setting -> the user's setting that applies if the former is null."""


def find_streams(view: Viewing) -> dict[str, Any]:
    """Return all channels that the actor may see."""
    return {"streams": list(view.channels.values())}


def find_own_subscriptions(view: Viewing) -> dict[str, Any]:
    """Return all channels that the actor may see, as current, former and missing subscriptions."""
    mine = find_own_settings(view.db, view.actor.id, is_active=True)
    former = find_own_settings(view.db, view.actor.id, is_active=False)
    if not view.can("notification_settings_null"):
        mine, former = _filled_in(view, mine), _filled_in(view, former)
    channels = view.channels
    if view.options.include_subscribers:
        channels = _with_subscribers(view, channels)
    return {
        "subscriptions": [{**channels[id_], **mine[id_]} for id_ in channels if id_ in mine],
        "unsubscribed": [{**channels[id_], **former[id_]} for id_ in channels if id_ in former],
        "never_subscribed": [
            channel for id_, channel in channels.items() if id_ not in mine and id_ not in former
        ],
    }


def _with_subscribers(
    view: Viewing, channels: dict[int, dict[str, Any]]
) -> dict[int, dict[str, Any]]:
    subscribers, known = find_subscriber_ids(view.db, channels), view.visible_ids
    if known is not None:
        subscribers = {id_: [i for i in ids if i in known] for id_, ids in subscribers.items()}
    return {id_: {**channels[id_], "subscribers": subscribers[id_]} for id_ in channels}


def _filled_in(
    view: Viewing, settings_of: Mapping[int, dict[str, Any]]
) -> dict[int, dict[str, Any]]:
    """Return settings for older clients: null is replaced by the user's setting."""
    defaults = {name: view.settings[default] for name, default in USERS_DEFAULTS.items()}
    return {
        channel_id: {
            name: defaults[name] if value is None else value for name, value in settings.items()
        }
        for channel_id, settings in settings_of.items()
    }


def find_default_streams(view: Viewing) -> dict[str, Any]:
    """Return the channels to which new members are subscribed. Guests get an empty list."""
    if view.actor.is_guest:
        return {"realm_default_streams": []}
    ids = find_default_channel_ids(view.db, view.actor.realm_id)
    return {"realm_default_streams": sorted(ids)}


def find_user_topics(view: Viewing) -> dict[str, Any]:
    """Return the actor's policies for topics, oldest first."""
    return {
        "user_topics": [
            describe_policy(row, view.topic(row.topic))
            for row in view.policies
            if row.channel_id in view.known_channels
        ]
    }


def find_muted_topics(view: Viewing) -> dict[str, Any]:
    """Return the muted topics in the older form: channel name, topic, Unix seconds."""
    names = {channel_id: channel.name for channel_id, channel in view.known_channels.items()}
    return {"muted_topics": describe_muted(view.policies, names, view.topic)}
