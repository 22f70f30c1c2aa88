"""Who is given a snapshot, what their client asks for, and what several parts of it need."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from models.chat.access.channels import ChannelView, readable_channel_ids
from models.chat.access.people import find_known_ids
from models.chat.channels.channels import ChannelQuery, describe_channels, find_channels
from models.chat.identity.actors import Actor
from models.chat.settings.user_settings import find_settings
from models.chat.topics.names import display_topic
from models.chat.topics.visibility import PolicyRow, find_policies
from models.reader import Db

EVERY_CHANNEL = {"include_all": True, "include_web_public": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """What the snapshot tells of the server, which no table knows. `realm_url` is the
    organization's address as the client reaches it, `icon_url` its picture, `emoji_data_url` where
    the names of all emoji are, `upload_quota_mib` the bound of all its files, `started_at` when the
    process started, in Unix seconds.
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
    """What the client asks for. `fetch_types`: None for all. `capabilities`: the names of those
    that the client declared as true.
    """

    fetch_types: frozenset[str] | None = None
    include_subscribers: bool = False
    client_gravatar: bool = True
    slim_presence: bool = False
    presence_history_days: int | None = None
    capabilities: frozenset[str] = frozenset()


class Viewing:
    """One snapshot in the making. `db` sees one moment of the database all the time."""

    def __init__(
        self, db: Db, actor: Actor, wishes: RegisterOptions, server: ServerFacts, *, now: datetime
    ) -> None:
        self.db = db
        self.actor = actor
        self.wishes = wishes
        self.server = server
        self.now = now

    def can(self, capability: str) -> bool:
        """Did the client declare the capability?"""
        return capability in self.wishes.capabilities

    def wants(self, fetch_type: str) -> bool:
        fetch_types = self.wishes.fetch_types
        return fetch_types is None or fetch_type in fetch_types

    def topic(self, name: str) -> str:
        """The topic as the client can show it."""
        empty_name = self.actor.realm.empty_topic_display_name
        return display_topic(name, empty_name=empty_name, allow_empty=self.can("empty_topic_name"))

    @cached_property
    def known_ids(self) -> frozenset[int] | None:
        """Ids of the users that the actor may know; None: everybody."""
        return find_known_ids(self.db, self.actor)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The actor's own settings, by name."""
        return find_settings(self.db, self.actor.id)

    @cached_property
    def policies(self) -> list[PolicyRow]:
        """The actor's policies for topics, oldest first."""
        return find_policies(self.db, self.actor.id)

    @cached_property
    def readable_ids(self) -> frozenset[int]:
        """Ids of the channels whose messages the actor may read."""
        found = self.db.execute(readable_channel_ids(self.db, self.actor))
        return frozenset(found.scalars())

    @cached_property
    def known_channels(self) -> dict[int, ChannelView]:
        """The channels that the actor may know, by id; archived ones as well."""
        query = ChannelQuery(**EVERY_CHANNEL, exclude_archived=False)
        return {channel.id: channel for channel in find_channels(self.db, self.actor, query)}

    @cached_property
    def channels(self) -> dict[int, dict[str, Any]]:
        """The channels that the client can show, by id, as it sees them; archived ones only for a
        client that knows them.
        """
        shown = [
            channel
            for channel in self.known_channels.values()
            if self.can("archived_channels") or not channel.is_archived
        ]
        return describe_channels(
            self.db, self.actor.realm, shown, now=self.now, known_ids=self.known_ids
        )
