"""Channels of Zulip's export, with folders, subscriptions and users' topic settings."""

import re
from array import array
from collections.abc import Callable, Iterator, Mapping

from models.chat.access.group_settings import CHANNEL_GROUPS
from models.chat.common.name_keys import key_of as topic_key_of
from models.chat.topics.names import normalise_topic
from models.chat.zulip_form.fitting import Changes, UniqueNames
from models.chat.zulip_form.groups import Groups
from models.chat.zulip_form.people import People
from models.chat.zulip_form.rows import Source, ZulipRow, rows_of
from models.json import Json

CHANNELS, SUBSCRIPTIONS = "zerver_stream", "zerver_subscription"
EMPTY_NAME = "general chat"
"""The name that clients show for the empty topic. A topic of this name becomes the empty topic."""
TOPICS_POLICY: Mapping[int, str] = {
    1: "inherit", 2: "allow_empty_topic", 3: "disable_empty_topic", 4: "empty_topic_only",
}  # fmt: skip
SUBSCRIBED = 301
"""The kind of a log entry for a user's first subscription to a channel."""
DEFAULT_COLOR = "#c2c2c2"
_COLOR = re.compile(r"#[0-9a-fA-F]{6}")
_HIGHEST = 1 << 62


class Channels:
    """All channels by id."""

    def __init__(self, source: Source, changes: Changes, people: People, groups: Groups) -> None:
        self._source, self._changes = source, changes
        self._people, self._groups = people, groups
        self.names: dict[int, str] = {}
        self.recipients: dict[int, int] = {}
        """Channels by the recipients of their messages."""
        for row in rows_of(source, CHANNELS):
            channel_id = row.integer("id")
            if not 0 < channel_id < _HIGHEST:
                raise row.refuse("id is no id")
            self.names[channel_id] = row.text("name")
            if row.has("recipient"):
                self.recipients[row.integer("recipient")] = channel_id
        self._folders = {row.integer("id") for row in rows_of(source, "zerver_channelfolder")}

    def check(self, row: ZulipRow, name: str, channel_id: Json) -> int:
        """Return the id of a channel. Raise `BrokenRow` if it does not exist."""
        if type(channel_id) is not int or channel_id not in self.names:
            raise row.refuse(f"{name} refers to channel {channel_id!r}, which is not there")
        return channel_id

    def find_or_none(self, row: ZulipRow, name: str) -> int | None:
        return self.check(row, name, row.integer(name)) if row.has(name) else None

    def topic(self, table: str, topic: str) -> str:
        """Return the topic as our database stores it."""
        return normalise_topic(self._changes.line(table, topic, 60), empty_name=EMPTY_NAME)

    # --- rows of the archive ----------------------------------------------------------------------

    def folders(self, realm_id: int) -> Iterator[Mapping[str, Json]]:
        names = UniqueNames(self._changes, "zerver_channelfolder", 60)
        for row in rows_of(self._source, "zerver_channelfolder"):
            description = row.text("description", "")
            yield {
                "id": row.integer("id"),
                "realm_id": realm_id,
                "name": names.take(row.text("name")),
                "description": self._changes.short(row.table, description, 1024),
                "rendered_description": row.text("rendered_description", ""),
                "creator_id": self._people.find_or_none(row, "creator"),
                "date_created": row.time("date_created"),
                "is_archived": row.flag("is_archived", False),
                "position": row.small("order", 0),
            }

    def channels(self, realm_id: int, first_messages: Mapping[int, int]) -> Iterator[Json]:
        """Yield the rows of `channel`. `first_messages` maps each channel to the id of its first
        message.
        """
        names = UniqueNames(self._changes, CHANNELS, 60)
        for row in rows_of(self._source, CHANNELS):
            folder = row.integer_or_none("folder")
            if folder is not None and folder not in self._folders:
                raise row.refuse("folder refers to no folder")
            is_private = row.flag("invite_only", False)
            policy = TOPICS_POLICY.get(row.integer("topics_policy", 1))
            if policy is None:
                raise row.refuse("topics_policy is none that there is")
            description = row.text("description", "")
            yield {
                "id": row.integer("id"),
                "realm_id": realm_id,
                "name": names.take(row.text("name")),
                "description": self._changes.short(CHANNELS, description, 1024),
                "rendered_description": row.text("rendered_description", ""),
                "invite_only": is_private,
                "is_web_public": row.flag("is_web_public", False),
                "history_public_to_subscribers": not is_private
                or row.flag("history_public_to_subscribers", True),
                "is_archived": row.flag("deactivated", False),
                "creator_id": self._people.find_or_none(row, "creator"),
                "date_created": row.time("date_created"),
                "folder_id": folder,
                "message_retention_days": row.small_or_none("message_retention_days"),
                "topics_policy": policy,
                "first_message_id": first_messages.get(row.integer("id")),
                **{
                    name: self._groups.permission(row, setting)
                    for name, setting in CHANNEL_GROUPS.items()
                },
            }

    def default_channels(self, realm_id: int) -> Iterator[Mapping[str, Json]]:
        for row in rows_of(self._source, "zerver_defaultstream"):
            channel_id = self.check(row, "stream", row.get("stream"))
            yield {"channel_id": channel_id, "realm_id": realm_id}

    def subscriptions(self) -> Iterator[Mapping[str, Json]]:
        """Yield the rows of `subscription`."""
        for channel_id, user_id, row in self._subscriptions():
            yield {"channel_id": channel_id, "user_id": user_id, "is_active": row.flag("active")}

    def subscription_settings(
        self, founded: str, before: Callable[[int], int]
    ) -> Iterator[Mapping[str, Json]]:
        """Yield the rows of `subscription_settings`, one for each of `subscriptions`. `before`
        converts a message id so that it can be compared with the new ids.
        """
        began = _Beginnings(self._source)
        for channel_id, user_id, row in self._subscriptions():
            at, last_id = began.find(user_id, channel_id) or (None, 0)
            color = row.text("color", DEFAULT_COLOR)
            if _COLOR.fullmatch(color) is None:
                self._changes.note(SUBSCRIPTIONS, "a color is none")
                color = DEFAULT_COLOR
            yield {
                "channel_id": channel_id,
                "user_id": user_id,
                "color": color,
                "is_muted": row.flag("is_muted", False),
                "pin_to_top": row.flag("pin_to_top", False),
                "desktop_notifications": row.flag_or_none("desktop_notifications"),
                "audible_notifications": row.flag_or_none("audible_notifications"),
                "push_notifications": row.flag_or_none("push_notifications"),
                "email_notifications": row.flag_or_none("email_notifications"),
                "wildcard_mentions_notify": row.flag_or_none("wildcard_mentions_notify"),
                "subscribed_at": founded if at is None else row.time_of("event_time", at / 1000),
                "joined_after_id": before(last_id),
            }

    def user_topics(self) -> Iterator[Mapping[str, Json]]:
        """Yield the rows of `user_topic`. If a topic has several spellings, only the newest row is
        kept.
        """
        newest: dict[tuple[int, int, str], int] = {}
        for row in rows_of(self._source, "zerver_usertopic"):
            newest[self._user_topic_key(row)] = row.number
        for row in rows_of(self._source, "zerver_usertopic"):
            user_id, channel_id, key = self._user_topic_key(row)
            policy = row.integer("visibility_policy")
            if newest[user_id, channel_id, key] != row.number:
                self._changes.note(row.table, "a topic is there in another spelling")
            elif policy not in (1, 2, 3):
                self._changes.note(row.table, "a policy that inherits the channel's is none here")
            else:
                yield {
                    "user_id": user_id,
                    "channel_id": channel_id,
                    "topic": self.topic(row.table, row.text("topic_name")),
                    "visibility_policy": policy,
                    "last_updated": row.time("last_updated"),
                }

    def _user_topic_key(self, row: ZulipRow) -> tuple[int, int, str]:
        return (
            self._people.find(row, "user_profile"),
            self.check(row, "stream", row.get("stream")),
            topic_key_of(self.topic(row.table, row.text("topic_name"))),
        )

    def _subscriptions(self) -> Iterator[tuple[int, int, ZulipRow]]:
        """Yield channel, user and row of each subscription to a channel."""
        for row in rows_of(self._source, SUBSCRIPTIONS):
            channel_id = self.recipients.get(row.integer("recipient"))
            if channel_id is not None:
                user_id = self._people.find(row, "user_profile")
                if self._people.is_own(user_id):
                    yield channel_id, user_id, row


class _Beginnings:
    """The time of each first subscription and the newest message at that time, from Zulip's log."""

    def __init__(self, source: Source) -> None:
        self._places: dict[int, int] = {}
        self._times, self._last_ids = array("q"), array("q")
        for row in rows_of(source, "zerver_realmauditlog"):
            if row.get("event_type") != SUBSCRIBED or not row.has("modified_stream"):
                continue
            row.time("event_time")
            key = self._key(row.integer("modified_user"), row.integer("modified_stream"))
            if key not in self._places:
                self._places[key] = len(self._times)
                self._times.append(round(row.get("event_time") * 1000))
                self._last_ids.append(max(row.integer("event_last_message_id", 0), 0))

    def find(self, user_id: int, channel_id: int) -> tuple[int, int] | None:
        """Return the time in milliseconds, and the id of the newest message."""
        place = self._places.get(self._key(user_id, channel_id))
        return None if place is None else (self._times[place], self._last_ids[place])

    def _key(self, user_id: int, channel_id: int) -> int:
        return user_id << 63 | channel_id
