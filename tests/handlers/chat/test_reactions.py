"""Operations of the tag reactions, and reactions in messages."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlalchemy import delete, func, insert, select, update

from models.chat.people.emoji import Emoji, require_usable
from models.chat.rendering.emoji import EMOJI
from models.chat.tables import (
    Channel,
    Event,
    MessageArchive,
    Reaction,
    ReactionArchive,
    RealmEmoji,
    Subscription,
    User,
    UserTopic,
)
from specd.db import Database
from tests.support.chat import flutter, zulip_term
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel, subscribe
from tests.support.chat.decoding import check
from tests.support.chat.people import Cast
from tests.support.chat.queues import open_queue_of
from tests.support.frozen_clock import FrozenClock

OCTOPUS = {"emoji_name": "octopus", "emoji_code": "1f419", "reaction_type": "unicode_emoji"}
EXTRA = {"emoji_name": "zulip", "emoji_code": "zulip", "reaction_type": "zulip_extra_emoji"}


INVALID = bad("Invalid message(s)")
EXISTS = bad("Reaction already exists.", "REACTION_ALREADY_EXISTS")
GONE = bad("Reaction doesn't exist.", "REACTION_DOES_NOT_EXIST")


ZULIP_TERM = Path(__file__).with_name("zulip_term_emoji.txt")
"""The emoji of zulip-term 0.7.0: code, name and aliases."""
NO_DATABASE: Any = None
NO_ACTOR: Any = None
TWICE = {"secret": "3299"}
"""Names that zulip-term uses twice, with the code that differs here."""


def test_every_emoji_of_zulip_term_is_known() -> None:
    """As an explicit reaction, and by its name alone."""
    taken = 0
    for line in ZULIP_TERM.read_text().splitlines():
        code, *names = line.split()
        for name in names:
            if TWICE.get(name) != code:
                require_usable(NO_DATABASE, NO_ACTOR, Emoji(name, code))
                assert EMOJI[name] == code
                taken += 1
    assert taken == 1578


class Letter:
    """A message of Hamlet's, and reactions of others to it."""

    def __init__(self, client: ChatClient, message_id: int) -> None:
        self.id = message_id
        self.path = f"/messages/{message_id}/reactions"
        self._reader = client

    def reactions(self, by: ChatClient | None = None) -> list[dict[str, Any]]:
        message = (by or self._reader).get(f"/messages/{self.id}")["message"]
        return list(message["reactions"])

    def emoji(self) -> list[tuple[str, str, str, int]]:
        return [
            (one["emoji_name"], one["emoji_code"], one["reaction_type"], one["user_id"])
            for one in self.reactions()
        ]


@pytest.fixture
def denmark(chat_database: Database, cast: Cast) -> int:
    return chat_database.run(
        lambda s: make_channel(s, cast, "Denmark", subscribers=[cast.hamlet, cast.othello])
    )


@pytest.fixture
def letter(chat: ChatClient, denmark: int) -> Letter:
    """A message in a public channel."""
    sent = chat.post("/messages", type="channel", to=denmark, topic="castle", content="Words")
    return Letter(chat, sent["id"])


@pytest.fixture
def note(chat: ChatClient, cast: Cast) -> Letter:
    """A direct message to Othello."""
    sent = chat.post("/messages", type="direct", to=[cast.othello.id], content="Words")
    return Letter(chat, sent["id"])


def custom(database: Database, realm_id: int, name: str, **over: Any) -> str:
    """The code of a new custom emoji."""
    row = {"name": name, "realm_id": realm_id, "source_url": "/x.png", **over}
    made = insert(RealmEmoji).returning(RealmEmoji.id)
    return str(database.run(lambda s: s.execute(made, row).scalar_one()))


def reaction_events(database: Database) -> list[tuple[dict[str, Any], set[int], int | None]]:
    """Return payload, recipients and channel of each reaction event."""
    with database.reading() as reader:
        rows = reader.execute(
            select(Event.payload, Event.user_ids, Event.channel_id)
            .where(Event.type == "reaction")
            .order_by(Event.id)
        ).all()
    return [
        (orjson.loads(row.payload), set(orjson.loads(row.user_ids)), row.channel_id) for row in rows
    ]


def count(database: Database, table: Any) -> int:
    with database.reading() as reader:
        return int(reader.execute(select(func.count()).select_from(table)).scalar_one())


class TestAddReaction:
    def test_reaction_is_in_the_message_and_all_readers_are_notified(
        self, letter: Letter, as_othello: ChatClient, cast: Cast, denmark: int,
        chat_database: Database,
    ) -> None:  # fmt: skip
        assert as_othello.post(letter.path, emoji_name="octopus") == DONE
        user = {"full_name": "Othello", "email": "othello@acme.example", "id": cast.othello.id}
        assert letter.reactions() == [{**OCTOPUS, "user_id": cast.othello.id, "user": user}]
        ((payload, to, channel_id),) = reaction_events(chat_database)
        assert payload == {
            "op": "add",
            "user_id": cast.othello.id,
            "user": {
                "user_id": cast.othello.id,
                "email": "othello@acme.example",
                "full_name": "Othello",
            },
            "message_id": letter.id,
            **OCTOPUS,
            "_place": denmark,
        }
        assert to == {cast.hamlet.id, cast.othello.id}
        assert channel_id == denmark

    def test_reaction_is_in_every_response_with_the_message(
        self, letter: Letter, note: Letter, chat: ChatClient, as_othello: ChatClient, cast: Cast
    ) -> None:
        for message in (letter, note):
            as_othello.post(message.path, emoji_name="octopus")
            chat.post(message.path, emoji_name="zulip")
        expected = [("octopus", cast.othello.id), ("zulip", cast.hamlet.id)]
        ranges: list[dict[str, Any]] = [
            {"anchor": "newest", "num_before": 9, "num_after": 0},
            {"message_ids": [letter.id, note.id]},
        ]
        for asked in ranges:
            for message in chat.get("/messages", **asked)["messages"]:
                shown = [(one["emoji_name"], one["user_id"]) for one in message["reactions"]]
                assert shown == expected
                for one in message["reactions"]:
                    check(one, flutter.REACTION)
                    check(one, zulip_term.REACTION)

    def test_has_reaction_finds_the_message(
        self, letter: Letter, note: Letter, chat: ChatClient
    ) -> None:
        narrow = [{"operator": "has", "operand": "reaction"}]
        asked = {"anchor": "newest", "num_before": 9, "num_after": 0, "narrow": narrow}
        assert chat.get("/messages", **asked)["messages"] == []
        chat.post(note.path, emoji_name="octopus")
        assert [one["id"] for one in chat.get("/messages", **asked)["messages"]] == [note.id]
        narrow[0]["negated"] = True  # type: ignore[assignment]
        assert [one["id"] for one in chat.get("/messages", **asked)["messages"]] == [letter.id]

    @pytest.mark.parametrize(
        ("sent", "shown"),
        [
            ({"emoji_name": "octopus"}, OCTOPUS),
            (OCTOPUS, OCTOPUS),
            ({"emoji_name": "octopus", "emoji_code": "1f419"}, OCTOPUS),
            ({"emoji_name": "octopus", "reaction_type": "unicode_emoji"}, OCTOPUS),
            ({"emoji_name": "zulip"}, EXTRA),
            (EXTRA, EXTRA),
            ({**EXTRA, "reaction_type": "service_extra_emoji"}, EXTRA),
            (
                {**OCTOPUS, "emoji_name": "denmark", "emoji_code": "1f1e9-1f1f0"},
                {**OCTOPUS, "emoji_name": "denmark", "emoji_code": "1f1e9-1f1f0"},
            ),
        ],
    )
    def test_accepts_an_emoji_by_name_and_in_full(
        self, letter: Letter, chat: ChatClient, cast: Cast, sent: dict[str, str],
        shown: dict[str, str],
    ) -> None:  # fmt: skip
        assert chat.post(letter.path, **sent) == DONE
        assert letter.emoji() == [(*shown.values(), cast.hamlet.id)]

    @pytest.mark.parametrize(
        ("sent", "msg"),
        [
            ({"emoji_name": "kraken"}, "Emoji 'kraken' does not exist"),
            ({"emoji_name": ""}, "Emoji '' does not exist"),
            ({**OCTOPUS, "emoji_code": "xyz"}, "Invalid emoji code."),
            ({**OCTOPUS, "emoji_code": "1f698"}, "Invalid emoji name."),
            (
                {**OCTOPUS, "emoji_name": "a flag", "emoji_code": "1f1e9-1f1f0"},
                "Invalid emoji name.",
            ),
            ({**OCTOPUS, "reaction_type": "realm_emoji"}, "Invalid custom emoji."),
            ({**EXTRA, "emoji_code": "octopus"}, "Invalid emoji code."),
            ({**EXTRA, "emoji_name": "octopus"}, "Invalid emoji name."),
            ({**OCTOPUS, "reaction_type": "gif"}, "Invalid reaction_type"),
        ],
    )
    def test_rejects_invalid_requests(
        self, letter: Letter, chat: ChatClient, sent: dict[str, str], msg: str,
        chat_database: Database,
    ) -> None:  # fmt: skip
        assert chat.post(letter.path, **sent) == bad(msg)
        assert letter.reactions() == []
        assert reaction_events(chat_database) == []

    def test_requires_a_name(self, letter: Letter, chat: ChatClient) -> None:
        assert chat.post(letter.path, emoji_code="1f419") == bad(
            "Missing 'emoji_name' argument", "REQUEST_VARIABLE_MISSING", var_name="emoji_name"
        )

    @pytest.mark.reaches("REACTION_ALREADY_EXISTS")
    def test_second_identical_reaction_is_rejected(
        self, letter: Letter, chat: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        chat.post(letter.path, emoji_name="+1")
        assert chat.post(letter.path, emoji_name="thumbs_up") == EXISTS
        assert letter.emoji() == [("+1", "1f44d", "unicode_emoji", cast.hamlet.id)]
        assert len(reaction_events(chat_database)) == 1

    def test_second_reaction_has_the_name_of_the_first(
        self, letter: Letter, chat: ChatClient, as_othello: ChatClient, cast: Cast,
        chat_database: Database,
    ) -> None:  # fmt: skip
        chat.post(letter.path, emoji_name="+1")
        assert as_othello.post(letter.path, emoji_name="thumbs_up") == DONE
        assert [(name, who) for name, _, _, who in letter.emoji()] == [
            ("+1", cast.hamlet.id),
            ("+1", cast.othello.id),
        ]
        assert reaction_events(chat_database)[1][0]["emoji_name"] == "+1"

    def test_skin_tone(self, letter: Letter, chat: ChatClient, cast: Cast) -> None:
        name, code = "+1_medium_skin_tone", "1f44d-1f3fd"
        assert chat.post(letter.path, emoji_name=name) == DONE
        assert letter.emoji() == [(name, code, "unicode_emoji", cast.hamlet.id)]

    def test_custom_emoji(
        self, letter: Letter, chat: ChatClient, as_othello: ChatClient, as_cordelia: ChatClient,
        cast: Cast, chat_database: Database,
    ) -> None:  # fmt: skip
        yorick = custom(chat_database, cast.realm_id, "yorick")
        foreign_emoji = custom(chat_database, cast.globex_id, "gorgonzola")
        assert chat.post(letter.path, emoji_name="yorick") == DONE
        shown = ("yorick", yorick, "realm_emoji")
        assert letter.emoji() == [(*shown, cast.hamlet.id)]
        for code, name, msg in (
            (foreign_emoji, "gorgonzola", "Invalid custom emoji."),
            ("999999999999", "gorgonzola", "Invalid custom emoji."),
        ):
            emoji = {"emoji_name": name, "emoji_code": code, "reaction_type": "realm_emoji"}
            assert as_othello.post(letter.path, **emoji) == bad(msg)
        assert as_othello.post(letter.path, emoji_name="gorgonzola") == bad(
            "Emoji 'gorgonzola' does not exist"
        )
        off = update(RealmEmoji).values(is_deactivated=True)
        chat_database.run(lambda s: s.execute(off))
        full = {"emoji_name": "yorick", "emoji_code": yorick, "reaction_type": "realm_emoji"}
        assert as_othello.post(letter.path, **full) == DONE, "the message already has it"
        elsewhere = chat.post(
            "/messages", type="channel", to="Denmark", topic="castle", content="More"
        )
        path = f"/messages/{elsewhere['id']}/reactions"
        assert chat.post(path, **full) == bad("This custom emoji has been deactivated.")
        assert chat.post(path, emoji_name="yorick") == bad("Emoji 'yorick' does not exist")
        assert chat.post(path, **{**full, "emoji_name": "skull"}) == bad(
            "Invalid custom emoji name."
        )

    def test_hidden_email_is_hidden_in_reactions(
        self, letter: Letter, chat: ChatClient, as_othello: ChatClient, cast: Cast,
        chat_database: Database,
    ) -> None:  # fmt: skip
        hide = update(User).where(User.id == cast.othello.id).values(email_address_visibility=4)
        chat_database.run(lambda s: s.execute(hide))
        as_othello.post(letter.path, emoji_name="octopus")
        dummy = f"user{cast.othello.id}@acme.example"
        assert letter.reactions()[0]["user"]["email"] == dummy
        assert letter.reactions(as_othello)[0]["user"]["email"] == "othello@acme.example"
        assert reaction_events(chat_database)[0][0]["user"]["email"] == dummy

    def test_bot_and_guest(
        self, letter: Letter, as_reminder: ChatClient, as_polonius: ChatClient, cast: Cast,
        denmark: int, chat_database: Database,
    ) -> None:  # fmt: skip
        assert as_polonius.post(letter.path, emoji_name="octopus") == INVALID
        chat_database.run(lambda s: subscribe(s, denmark, cast.polonius))
        assert as_polonius.post(letter.path, emoji_name="octopus") == DONE
        assert as_reminder.post(letter.path, emoji_name="octopus") == DONE
        assert [who for *_, who in letter.emoji()] == [cast.polonius.id, cast.reminder.id]

    def test_reader_without_message_copy(
        self, letter: Letter, chat: ChatClient, as_cordelia: ChatClient, cast: Cast,
        chat_database: Database,
    ) -> None:  # fmt: skip
        assert as_cordelia.post(letter.path, emoji_name="octopus") == DONE
        shown = as_cordelia.get(f"/messages/{letter.id}")["message"]
        assert shown["flags"] == ["read", "historical"]
        chat.post(letter.path, emoji_name="heart")
        all_readers = {cast.hamlet.id, cast.othello.id, cast.cordelia.id}
        assert [to for _, to, _ in reaction_events(chat_database)] == [all_readers, all_readers]
        as_cordelia.delete(letter.path, emoji_name="octopus")
        assert as_cordelia.post(letter.path, emoji_name="octopus") == DONE

    def test_unreadable_message_is_rejected(
        self, note: Letter, as_cordelia: ChatClient, as_reminder: ChatClient, chat: ChatClient,
        cast: Cast, chat_database: Database,
    ) -> None:  # fmt: skip
        cellar = chat_database.run(
            lambda s: make_channel(s, cast, "cellar", subscribers=[cast.hamlet], invite_only=True)
        )
        sent = chat.post("/messages", type="channel", to=cellar, topic="cask", content="Secret")
        for message_id in (note.id, sent["id"], 2_147_483_647):
            path = f"/messages/{message_id}/reactions"
            assert as_cordelia.post(path, emoji_name="octopus") == INVALID
            assert as_cordelia.delete(path, emoji_name="octopus") == INVALID
        assert count(chat_database, Reaction) == 0

    def test_direct_message_notifies_its_two_readers(
        self, note: Letter, as_othello: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        as_othello.post(note.path, emoji_name="octopus")
        ((payload, to, channel_id),) = reaction_events(chat_database)
        assert to == {cast.hamlet.id, cast.othello.id}
        assert payload["_place"] is channel_id is None

    def test_archived_channel(
        self, letter: Letter, chat: ChatClient, denmark: int, chat_database: Database
    ) -> None:
        chat.post(letter.path, emoji_name="octopus")
        archive = update(Channel).where(Channel.id == denmark).values(is_archived=True)
        chat_database.run(lambda s: s.execute(archive))
        assert chat.post(letter.path, emoji_name="heart") == INVALID
        assert chat.delete(letter.path, emoji_name="octopus") == INVALID
        assert len(letter.reactions()) == 1

    @pytest.mark.parametrize(
        ("settings", "is_muted", "policy"),
        [
            ({"automatically_follow_topics_policy": 1}, False, 3),
            ({"automatically_unmute_topics_in_muted_streams_policy": 1}, True, 2),
            ({"automatically_unmute_topics_in_muted_streams_policy": 1}, False, None),
            ({"automatically_follow_topics_policy": 2}, True, None),
        ],
    )
    def test_follows_the_topic_by_setting(
        self, letter: Letter, as_othello: ChatClient, cast: Cast, settings: dict[str, int],
        is_muted: bool, policy: int | None, chat_database: Database,
    ) -> None:  # fmt: skip
        own = User.id == cast.othello.id
        mute = update(Subscription).where(Subscription.user_id == cast.othello.id)

        def prepare(session: Any) -> None:
            session.execute(update(User).where(own).values(**settings))
            session.execute(mute.values(is_muted=is_muted))

        chat_database.run(prepare)
        as_othello.post(letter.path, emoji_name="octopus")
        with chat_database.reading() as reader:
            found = select(UserTopic.visibility_policy).where(UserTopic.user_id == cast.othello.id)
            assert reader.execute(found).scalar() == policy

    def test_non_subscriber_follows_nothing(
        self, letter: Letter, as_cordelia: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        always = update(User).values(automatically_follow_topics_policy=1)
        chat_database.run(lambda s: s.execute(always))
        as_cordelia.post(letter.path, emoji_name="octopus")
        with chat_database.reading() as reader:
            followed = select(UserTopic.topic).where(UserTopic.user_id == cast.cordelia.id)
            assert reader.execute(followed).all() == []

    def test_rejects_missing_credentials(self, letter: Letter, as_nobody: ChatClient) -> None:
        for method in ("POST", "DELETE"):
            response = as_nobody.request(method, letter.path, {"emoji_name": "octopus"})
            assert response.status_code == 401
            assert response.json()["code"] == "UNAUTHORIZED"


class TestRemoveReaction:
    @pytest.mark.parametrize(
        "sent",
        [
            {"emoji_name": "+1"},
            {"emoji_name": "thumbs_up"},
            {"emoji_code": "1f44d"},
            {"emoji_name": "+1", "emoji_code": "1f44d", "reaction_type": "unicode_emoji"},
            {"emoji_name": "anything", "emoji_code": "1f44d"},
        ],
    )
    def test_reaction_is_removed_and_all_readers_are_notified(
        self, letter: Letter, chat: ChatClient, as_othello: ChatClient, cast: Cast, denmark: int,
        sent: dict[str, str], chat_database: Database,
    ) -> None:  # fmt: skip
        chat.post(letter.path, emoji_name="+1")
        as_othello.post(letter.path, emoji_name="+1")
        chat_database.run(lambda s: s.execute(delete(Event)))
        assert as_othello.delete(letter.path, **sent) == DONE
        assert [who for *_, who in letter.emoji()] == [cast.hamlet.id]
        ((payload, to, channel_id),) = reaction_events(chat_database)
        assert payload == {
            "op": "remove",
            "user_id": cast.othello.id,
            "user": {
                "user_id": cast.othello.id,
                "email": "othello@acme.example",
                "full_name": "Othello",
            },
            "message_id": letter.id,
            "emoji_name": "+1",
            "emoji_code": "1f44d",
            "reaction_type": "unicode_emoji",
            "_place": denmark,
        }
        assert to == {cast.hamlet.id, cast.othello.id}
        assert channel_id == denmark

    @pytest.mark.reaches("REACTION_DOES_NOT_EXIST")
    @pytest.mark.parametrize(
        "sent",
        [
            {"emoji_name": "octopus"},
            {"emoji_code": "1f419"},
            {"emoji_code": "no such"},
            {"emoji_name": "heart", "reaction_type": "zulip_extra_emoji"},
        ],
    )
    def test_missing_reaction_is_rejected(
        self, letter: Letter, chat: ChatClient, as_othello: ChatClient, sent: dict[str, str]
    ) -> None:
        chat.post(letter.path, emoji_name="octopus")
        as_othello.post(letter.path, emoji_name="heart")
        assert as_othello.delete(letter.path, **sent) == GONE
        assert len(letter.reactions()) == 2

    def test_requires_an_emoji(self, letter: Letter, chat: ChatClient) -> None:
        nothing = bad(
            "At least one of the following arguments must be present: emoji_name, emoji_code"
        )
        assert chat.delete(letter.path) == nothing
        assert chat.delete(letter.path, reaction_type="unicode_emoji") == nothing
        assert chat.delete(letter.path, emoji_name="kraken") == bad("Emoji 'kraken' does not exist")

    def test_deactivated_emoji_can_be_removed(
        self, letter: Letter, chat: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        code = custom(chat_database, cast.realm_id, "yorick")
        sent: dict[str, str]
        for sent in (
            {"emoji_name": "yorick"},
            {"emoji_code": code, "reaction_type": "realm_emoji"},
        ):
            chat_database.run(lambda s: s.execute(update(RealmEmoji).values(is_deactivated=False)))
            assert chat.post(letter.path, emoji_name="yorick") == DONE
            chat_database.run(lambda s: s.execute(update(RealmEmoji).values(is_deactivated=True)))
            assert chat.delete(letter.path, **sent) == DONE
            assert letter.reactions() == []

    def test_type_distinguishes_two_reactions_with_one_code(
        self, letter: Letter, chat: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        own = custom(chat_database, cast.realm_id, "yorick", id=2764)
        unicode = {"emoji_name": "heart", "emoji_code": "2764", "reaction_type": "unicode_emoji"}
        custom_emoji = {"emoji_name": "yorick", "emoji_code": own, "reaction_type": "realm_emoji"}
        for emoji in (custom_emoji, unicode):
            assert chat.post(letter.path, **emoji) == DONE
        assert chat.delete(letter.path, emoji_code="2764") == DONE
        assert letter.emoji() == [(*custom_emoji.values(), cast.hamlet.id)]
        assert chat.delete(letter.path, emoji_code="2764", reaction_type="unicode_emoji") == GONE
        assert chat.delete(letter.path, emoji_code="2764", reaction_type="realm_emoji") == DONE


class TestMessagesThatChange:
    def test_move_keeps_reactions(
        self, letter: Letter, chat: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        chat.post(letter.path, emoji_name="octopus")
        before = letter.reactions()
        other = chat_database.run(
            lambda s: make_channel(s, cast, "Verona", subscribers=[cast.hamlet])
        )
        moved = chat.acting_as(cast.cordelia).patch(f"/messages/{letter.id}", stream_id=other)
        assert moved["result"] == "success"
        assert letter.reactions() == before

    def test_deletion_archives_reactions(
        self, letter: Letter, chat: ChatClient, as_othello: ChatClient, as_cordelia: ChatClient,
        cast: Cast, chat_database: Database, clock: FrozenClock,
    ) -> None:  # fmt: skip
        chat.post(letter.path, emoji_name="octopus")
        as_othello.post(letter.path, emoji_name="zulip")
        assert as_cordelia.delete(f"/messages/{letter.id}") == DONE
        assert count(chat_database, Reaction) == 0
        with chat_database.reading() as reader:
            kept = select(ReactionArchive).order_by(ReactionArchive.user_id)
            rows = {row.user_id: tuple(row) for row in reader.execute(kept)}
        assert rows == {
            cast.hamlet.id: (letter.id, cast.hamlet.id, "unicode_emoji", "1f419", "octopus"),
            cast.othello.id: (letter.id, cast.othello.id, "service_extra_emoji", "zulip", "zulip"),
        }
        gone = delete(MessageArchive).where(MessageArchive.id == letter.id)
        chat_database.run(lambda s: s.execute(gone))
        assert count(chat_database, ReactionArchive) == 0


class TestEvents:
    def read(
        self, client: ChatClient, queue_id: str, last_event_id: int = -1
    ) -> list[dict[str, Any]]:
        answer = client.get(
            "/events", queue_id=queue_id, last_event_id=last_event_id, dont_block=True
        )
        assert answer["result"] == "success"
        return [event for event in answer["events"] if event["type"] == "reaction"]

    def test_events_reach_the_clients(
        self, letter: Letter, chat: ChatClient, as_othello: ChatClient, cast: Cast,
        clock: FrozenClock, chat_database: Database,
    ) -> None:  # fmt: skip
        queue = chat_database.run(lambda s: open_queue_of(s, cast.hamlet, clock.now()))
        as_othello.post(letter.path, emoji_name="zulip")
        as_othello.delete(letter.path, emoji_name="zulip")
        added, removed = self.read(chat, queue)
        for event, op in ((added, "add"), (removed, "remove")):
            check(event, flutter.REACTION_EVENT)
            check(event, zulip_term.REACTION_EVENT)
            assert event == {
                "id": event["id"],
                "type": "reaction",
                "op": op,
                "user_id": cast.othello.id,
                "user": {
                    "user_id": cast.othello.id,
                    "email": "othello@acme.example",
                    "full_name": "Othello",
                },
                "message_id": letter.id,
                **EXTRA,
            }

    def test_no_events_for_a_lost_channel(
        self, chat: ChatClient, as_othello: ChatClient, cast: Cast, clock: FrozenClock,
        chat_database: Database,
    ) -> None:  # fmt: skip
        cellar = chat_database.run(
            lambda s: make_channel(
                s, cast, "cellar", subscribers=[cast.hamlet, cast.othello], invite_only=True
            )
        )
        sent = chat.post("/messages", type="channel", to=cellar, topic="cask", content="Secret")
        queue = chat_database.run(lambda s: open_queue_of(s, cast.othello, clock.now()))
        assert chat.post(f"/messages/{sent['id']}/reactions", emoji_name="octopus") == DONE
        assert len(self.read(as_othello, queue)) == 1
        leave = update(Subscription).where(Subscription.user_id == cast.othello.id)
        chat_database.run(lambda s: s.execute(leave.values(is_active=False)))
        assert self.read(as_othello, queue) == []


def test_two_concurrent_requests_create_one_reaction(
    letter: Letter, chat: ChatClient, chat_database: Database
) -> None:
    asked = [chat.build("POST", letter.path, {"emoji_name": "octopus"}) for _ in range(2)]
    answers = [answer.json() for answer in chat.at_once(*asked)]
    assert sorted(answers, key=str) == sorted([DONE, EXISTS], key=str)
    assert count(chat_database, Reaction) == 1
