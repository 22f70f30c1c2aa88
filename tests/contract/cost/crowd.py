"""The maximum data that ordinary users can store, on which requests are expensive.

It is inserted directly, because ten thousand requests are slow. `Scale.whole` is a thousand users
and their messages. The suite uses a part of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from models.chat.common import quotas
from models.chat.messages.search import index_messages
from models.chat.tables import (
    AlertWord,
    BotStorage,
    Channel,
    ChannelFolder,
    ClientDevice,
    Linkifier,
    Message,
    MessageEdit,
    MutedUser,
    NavigationView,
    Playground,
    Presence,
    ProfileField,
    ProfileValue,
    Reaction,
    RealmDomain,
    SavedSnippet,
    ScheduledMessage,
    StoredDraft,
    Subgroup,
    Submessage,
    Subscription,
    Topic,
    User,
    UserGroup,
    UserGroupMember,
    UserMessage,
    UserStatus,
    UserTopic,
)
from settings import Settings
from tests.contract.cost.fillings import Pools
from tests.support.chat.people import Cast

LONG = 10_000
"""The maximum number of characters in a message."""


@dataclass(frozen=True)
class Scale:
    """The amounts of all objects. `edits` are those of one message."""

    people: int = 1000
    channels: int = 250
    topics: int = 500
    messages: int = 5000
    edits: int = 200
    groups: int = 200
    mine: int = 500
    lists: int = 100

    def part(self, share: float) -> Scale:
        return Scale(*(max(int(number * share), 2) for number in vars(self).values()))


class Crowd:
    """Fills a furnished organization. Then `pools` contains the names and ids for requests."""

    def __init__(self, session: Session, cast: Cast, things: Mapping[str, Any], now: datetime):
        self.session = session
        self.cast = cast
        self.things = things
        self.now = now
        self.actors = [member.id for member in cast.acme if member is not cast.ophelia]

    def gather(self, scale: Scale) -> Pools:
        """Store everything."""
        people = self._people(scale.people)
        channels = self._channels(scale.channels)
        groups = self._groups(scale.groups, people)
        square = self.things["square"]
        self._subscribe([square], people)
        self._subscribe(channels, self.actors)
        messages = self._messages(square, scale)
        self._edits(scale)
        self._mine(square, channels, scale)
        fields = self._profiles(people, scale.lists)
        self._lists(scale.lists)
        numbers = {
            "people": people,
            "channels": channels,
            "groups": groups,
            "messages": messages,
            "fields": fields,
        }
        texts = {
            "addresses": [f"person{n}@acme.example" for n in range(scale.people)],
            "channel names": [f"channel {n}" for n in range(scale.channels)],
        }
        return Pools(numbers, texts)

    def _copy(self, table: Any, source: Any, rows: Sequence[Mapping[str, Any]]) -> list[int]:
        """Insert rows like `source`, each with changes. Return their ids."""
        like = self.session.execute(select(table.__table__).where(table.id == source)).one()
        base = {name: value for name, value in like._mapping.items() if name != "id"}
        self.session.execute(insert(table.__table__), [{**base, **row} for row in rows])
        newest = select(table.id).order_by(table.id.desc()).limit(len(rows))
        return sorted(self.session.execute(newest).scalars())

    def _people(self, number: int) -> list[int]:
        made = self._copy(
            User,
            self.cast.othello.id,
            [
                {
                    "delivery_email": f"person{n}@acme.example",
                    "email_key": f"person{n}@acme.example",
                    "full_name": f"Person {n}",
                    "api_key_nonce": f"{n:032}",
                    "api_key_sha256": f"{n:064}",
                }
                for n in range(number)
            ],
        )
        source = select(UserGroupMember.group_id).where(
            UserGroupMember.user_id == self.cast.othello.id
        )
        roles = list(self.session.execute(source).scalars())
        self._insert(UserGroupMember, [{"group_id": g, "user_id": u} for g in roles for u in made])
        self._insert(
            UserStatus,
            [
                {"user_id": u, "status_text": "s" * 60, "updated_at": self.now}
                for u in made
            ],
        )  # fmt: skip
        self._insert(
            Presence,
            [
                {"user_id": u, "realm_id": self.cast.realm_id, "last_active_at": self.now,
                 "last_connected_at": self.now, "update_id": n}
                for n, u in enumerate(made, start=1)
            ],
        )  # fmt: skip
        return made

    def _channels(self, number: int) -> list[int]:
        return self._copy(
            Channel,
            self.things["square"],
            [
                {
                    "name": f"channel {n}",
                    "name_key": f"channel {n}",
                    "description": "d" * 1024,
                    "rendered_description": f"<p>{'d' * 1024}</p>",
                    "invite_only": n % 4 == 0,
                    "history_public_to_subscribers": n % 8 != 0,
                }
                for n in range(number)
            ],
        )

    def _groups(self, number: int, people: Sequence[int]) -> list[int]:
        """Create groups, half of them in a chain in which each contains the next. All users are in
        the first ones.
        """
        source = select(UserGroup.id).where(
            UserGroup.realm_id == self.cast.realm_id, UserGroup.name == "role:members"
        )
        made = self._copy(
            UserGroup,
            self.session.execute(source).scalar_one(),
            [
                {"kind": "named", "name": f"group {n}", "name_key": f"group {n}"}
                | {"description": "d" * 1024, "creator_id": self.cast.othello.id}
                for n in range(number)
            ],
        )
        chain = made[: number // 2]
        self._insert(
            Subgroup,
            [
                {"group_id": outer, "subgroup_id": inner}
                for outer, inner in zip(chain[1:], chain, strict=False)
            ],
        )
        self._insert(
            UserGroupMember,
            [{"group_id": g, "user_id": u} for g in made[:10] for u in people]
            + [{"group_id": g, "user_id": self.cast.othello.id} for g in made],
        )
        return made

    def _subscribe(self, channels: Sequence[int], people: Sequence[int]) -> None:
        known = set(
            self.session.execute(
                select(Subscription.channel_id, Subscription.user_id).where(
                    Subscription.channel_id.in_(channels)
                )
            )
        )
        self._insert(
            Subscription,
            [
                {"channel_id": c, "user_id": u, "color": "#76ce90", "subscribed_at": self.now}
                for c in channels
                for u in people
                if (c, u) not in known
            ],
        )

    def _messages(self, square: int, scale: Scale) -> list[int]:
        """Create long messages, half of them in one topic. All except the newest are unread."""
        words = ("word " * (LONG // 5))[:LONG]
        topics = [
            "big" if n % 2 else f"topic {n // 2 % scale.topics}" for n in range(scale.messages)
        ]
        made = self._copy(
            Message,
            self.things["hamlets_message"],
            [
                {
                    "topic": topic,
                    "topic_key": topic,
                    "content": words,
                    "rendered_content": f"<p>{words}</p>",
                    "sender_id": self.cast.othello.id,
                    "sent_at": self.now - timedelta(minutes=5),
                    "scheduled_message_id": None,
                }
                for topic in topics
            ],
        )
        index_messages(
            self.session,
            [(i, topic, "word and word") for i, topic in zip(made, topics, strict=True)],
        )
        newest = dict(zip(topics, made, strict=True))
        self._insert(
            Topic,
            [
                {"channel_id": square, "topic_key": topic, "name": topic, "max_id": i}
                for topic, i in newest.items()
            ],
        )
        self._insert(
            UserMessage,
            [{"user_id": u, "message_id": i, "flags": 0} for u in self.actors for i in made],
        )
        return made

    def _edits(self, scale: Scale) -> None:
        """Make the messages named in requests long, with the maximum number of edits."""
        old, new = ("a " * LONG)[:LONG], ("a b " * LONG)[:LONG]
        named = [self.things["hamlets_message"], self.things["secret_message"]]
        own = select(Message.id).where(
            Message.sender_id.in_(self.actors), Message.topic != "big", Message.content == "Words"
        )
        named = sorted({*named, *self.session.execute(own).scalars()})
        for message in named:
            self.session.execute(
                update(Message)
                .where(Message.id == message)
                .values(content=new, rendered_content=f"<p>{new}</p>", last_edit_at=self.now)
            )
        columns = MessageEdit.__table__.columns.keys()
        texts = [old if n % 2 else new for n in range(scale.edits)]
        facts: Any = {}
        if "content_html_diff" in columns:  # computed when the message is edited
            facts = {"content_html_diff": f"<p>{new}</p>"}
        self._insert(
            MessageEdit,
            [
                {
                    "message_id": message,
                    "editor_id": self.cast.othello.id,
                    "edited_at": self.now,
                    "prev_content": text,
                    "prev_rendered_content": f"<p>{text}</p>",
                    "prev_topic": f"topic {n}",
                    **facts,
                }
                for message in named
                for n, text in enumerate(texts)
            ],
        )
        person = self.cast.othello.id
        poll = {"message_id": self.things["poll"], "sender_id": person}
        vote = '{"key":"canned,%d","type":"vote","vote":1}'
        votes = [{**poll, "content": vote % n} for n in range(scale.messages)]
        self._insert(Submessage, votes)
        self._insert(
            Reaction,
            [
                {"message_id": message, "user_id": person, "reaction_type": "unicode_emoji"}
                | {"emoji_code": f"{n:x}", "emoji_name": f"emoji {n}"}
                for message in named
                for n in range(scale.lists)
            ],
        )

    def _mine(self, square: int, channels: Sequence[int], scale: Scale) -> None:
        """Create the data of one user: scheduled messages, devices, topics with a policy."""
        othello = self.cast.othello.id
        own = select(ScheduledMessage.id).where(ScheduledMessage.sender_id == othello)
        own = own.order_by(ScheduledMessage.id)
        words = ("word " * (LONG // 5))[:LONG]
        kept = words[: (quotas.MAX_BYTES - 1_000_000) // (2 * Scale.mine)]
        self._copy(
            ScheduledMessage,
            self.session.execute(own).scalars().first(),
            [
                {"content": kept, "rendered_content": f"<p>{kept}</p>", "topic": f"t{n}"}
                for n in range(scale.mine)
            ],
        )
        reminders = own.where(ScheduledMessage.target_message_id.is_not(None))
        reminder = self.session.execute(reminders).scalars().first()
        self._copy(ScheduledMessage, reminder, [{"content": words}] * scale.mine)
        draft = select(StoredDraft.id).where(StoredDraft.user_id == othello)
        drafts = [{"content": words, "topic": ""}] * scale.mine
        self._copy(StoredDraft, self.session.execute(draft).scalars().first(), drafts)
        snippet = select(SavedSnippet.id).where(SavedSnippet.user_id == othello)
        snippets = [{"content": words}] * scale.mine
        self._copy(SavedSnippet, self.session.execute(snippet).scalars().first(), snippets)
        self._insert(
            BotStorage,
            [
                {"user_id": othello, "key": f"key {n}", "size": 50, "value": words}
                for n in range(scale.mine)
            ],
        )
        self._insert(
            NavigationView,
            [
                {"realm_id": self.cast.realm_id, "user_id": user_id, "is_pinned": True}
                | {"fragment": f"narrow/topic/{n}", "name": f"view {n}"}
                for user_id in self.actors
                for n in range(scale.mine)
            ],
        )
        self._insert(
            AlertWord,
            [
                {"realm_id": self.cast.realm_id, "user_id": user_id, "word": f"word{n}"}
                | {"word_key": f"word{n}", "first_part": f"word{n}"}
                for user_id in self.actors
                for n in range(scale.mine)
            ],
        )
        self._insert(
            MutedUser,
            [
                {"user_id": othello, "muted_user_id": person, "muted_at": self.now}
                for person in self.actors
                if person != othello
            ],
        )
        device = select(ClientDevice.id).where(ClientDevice.user_id == othello)
        devices = [{}] * min(scale.mine, Settings().chat_quotas["devices_per_user"] - 1)
        self._copy(ClientDevice, self.session.execute(device).scalars().first(), devices)
        self._insert(
            UserTopic,
            [
                {"user_id": u, "channel_id": c, "topic_key": f"topic {n}", "topic": f"topic {n}"}
                | {"visibility_policy": 1 + n % 3, "last_updated": self.now}
                for u in self.actors
                for c in (square, *channels[:1])
                for n in range(scale.topics)
            ],
        )

    def _profiles(self, people: Sequence[int], number: int) -> list[int]:
        fields = self._copy(
            ProfileField,
            self.things["profile_field"],
            [{"name": f"Field {n}", "type": 1 + n % 2} for n in range(number)],
        )
        self._insert(
            ProfileValue,
            [
                {"user_id": u, "field_id": f, "value": "v" * 50, "rendered_value": None}
                for u in (*people, *self.actors)
                for f in fields[:20]
            ],
        )
        return fields

    def _lists(self, number: int) -> None:
        """Create the lists that administrators of the organization maintain."""
        realm = {"realm_id": self.cast.realm_id}
        self._copy(
            ChannelFolder,
            self.things["channel_folder"],
            [{"name": f"Folder {n}", "name_key": f"folder {n}"} for n in range(number)],
        )
        self._insert(
            Linkifier,
            [
                {**realm, "pattern": f"{chr(97 + n % 26)}{n}-(?P<id>[0-9]+)", "url_template":
                 "https://cases.example/{id}", "position": n}
                for n in range(number)
            ],
        )  # fmt: skip
        self._insert(
            Playground,
            [
                {**realm, "syntax_language": "C", "name": f"Play {n}",
                 "url_template": "https://play.example/{code}"}
                for n in range(number)
            ],
        )  # fmt: skip
        self._insert(RealmDomain, [{**realm, "domain": f"d{n}.example"} for n in range(number)])

    def _insert(self, table: Any, rows: Sequence[Mapping[str, Any]]) -> None:
        if rows:
            self.session.execute(insert(table.__table__), list(rows))
