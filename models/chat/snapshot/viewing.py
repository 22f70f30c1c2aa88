"""The user and the client of a snapshot, with data that several parts use."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from models.chat.access.channels import ChannelView, readable_channel_ids
from models.chat.access.people import find_visible_user_ids
from models.chat.channels.channels import ChannelQuery, describe_channels, find_channels
from models.chat.identity.actors import Actor
from models.chat.settings.user_settings import find_settings
from models.chat.topics.names import display_topic
from models.chat.topics.visibility import PolicyRow, find_policies
from specd.db import Db


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """Facts about the server for snapshots.

    `realm_url` is the organization's address for the client, `icon_url` its icon, `emoji_data_url`
    the address of the names of all emoji, `upload_quota_mib` the maximum size of all files of the
    organization, and `started_at` the start of the process in Unix seconds.
    """

    realm_url: str
    icon_url: str
    emoji_data_url: str
    web_public_enabled: bool
    push_enabled: bool
    is_development: bool
    max_upload_mib: int
    upload_quota_mib: int
    started_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterOptions:
    """The client's options. If `fetch_types` is None, all types are requested. `capabilities` are
    the names of capabilities that the client declared as true.
    """

    fetch_types: frozenset[str] | None = None
    include_subscribers: bool = False
    client_gravatar: bool = True
    slim_presence: bool = False
    presence_history_days: int | None = None
    capabilities: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Viewing:
    """The inputs of one snapshot. `db` reads the database at one moment."""

    db: Db
    actor: Actor
    options: RegisterOptions
    server: ServerFacts
    now: datetime

    def can(self, capability: str) -> bool:
        """Return whether the client declared the capability."""
        return capability in self.options.capabilities

    def wants(self, fetch_type: str) -> bool:
        fetch_types = self.options.fetch_types
        return fetch_types is None or fetch_type in fetch_types

    def topic(self, name: str) -> str:
        """Return the form of a topic that the client can show."""
        empty_name = self.actor.realm.empty_topic_display_name
        return display_topic(name, empty_name=empty_name, allow_empty=self.can("empty_topic_name"))

    @cached_property
    def visible_ids(self) -> frozenset[int] | None:
        """Ids of the users that the actor may see, or None for all users."""
        return find_visible_user_ids(self.db, self.actor)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The actor's settings by name."""
        return find_settings(self.db, self.actor.id)

    @cached_property
    def policies(self) -> list[PolicyRow]:
        """The actor's policies for topics, oldest first."""
        return find_policies(self.db, self.actor.id)

    @cached_property
    def readable_ids(self) -> frozenset[int]:
        """Ids of the channels whose messages the actor may read."""
        ids = self.db.execute(readable_channel_ids(self.db, self.actor))
        return frozenset(ids.scalars())

    @cached_property
    def known_channels(self) -> dict[int, ChannelView]:
        """The channels that the actor may see, by id, including archived channels."""
        query = ChannelQuery(include_all=True, include_web_public=True, exclude_archived=False)
        return {channel.id: channel for channel in find_channels(self.db, self.actor, query)}

    @cached_property
    def channels(self) -> dict[int, dict[str, Any]]:
        """The channel objects that the client can show, by id. Archived channels are included only
        if the client has that capability.
        """
        shown = [
            channel
            for channel in self.known_channels.values()
            if self.can("archived_channels") or not channel.is_archived
        ]
        return describe_channels(
            self.db, self.actor.realm, shown, now=self.now, visible_ids=self.visible_ids
        )
