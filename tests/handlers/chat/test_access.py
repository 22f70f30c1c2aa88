"""Access to messages: each kind of channel with each kind of reader, in one table.

Each channel has an `early` and a `late` message by Hamlet in topics of those names. Between them
some users subscribed and some unsubscribed.
"""

from typing import Any

import pytest
from sqlalchemy import update

from models.chat.access.audiences import find_readers
from models.chat.access.group_settings import add_to_group
from models.chat.identity.actors import find_actor
from models.chat.identity.roles import Role
from models.chat.messages.access import access_message, find_readable
from models.chat.messages.errors import InvalidMessage
from models.chat.organization.realms import access_realm_by_id
from models.chat.people.users import create_user
from models.chat.tables import Channel, UserGroup
from specd.db import Database
from tests.support.chat.answers import bad
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel, subscribe, unsubscribe
from tests.support.chat.people import CAST_MADE_AT, KEYS, Cast, Member
from tests.support.chat.rows import change_user, events_of

INVALID = bad("Invalid message(s)")
KINDS: dict[str, dict[str, Any]] = {
    "web-public": {"is_web_public": True},
    "public": {},
    "shared": {"invite_only": True, "history_public_to_subscribers": True},
    "protected": {"invite_only": True, "history_public_to_subscribers": False},
    "archived": {},
    "archived-private": {"invite_only": True, "history_public_to_subscribers": True},
}
BOTH, LATE, NONE = ("early", "late"), ("late",), ()
# The readable messages of each user, in the order of KINDS.
ACCESS: dict[str, tuple[tuple[str, ...], ...]] = {
    "hamlet": (BOTH,) * 6,
    "polonius": (BOTH,) * 6,  # a guest, subscribed all along
    "yorick": (BOTH, NONE, NONE, NONE, NONE, NONE),  # a guest who never subscribed
    "osric": (BOTH, NONE, NONE, NONE, NONE, NONE),  # a guest who left after the early message
    "othello": (BOTH, BOTH, BOTH, LATE, BOTH, BOTH),  # subscribed after the early message
    "prospero": (BOTH, BOTH, NONE, NONE, BOTH, NONE),  # unsubscribed after the early message
    "iago": (BOTH, BOTH, NONE, NONE, BOTH, NONE),  # an administrator who never subscribed
    "horatio": (BOTH, BOTH, BOTH, NONE, BOTH, BOTH),  # may subscribe, by a nested group
    "reminder": (BOTH, BOTH, NONE, NONE, BOTH, NONE),  # the bot of a subscriber
    "hank": (NONE,) * 6,  # of another organization
}
KNOWS_OF_PRIVATE = ("hamlet", "polonius", "othello", "iago", "horatio")
GETS = {"hamlet": BOTH, "polonius": BOTH, "othello": LATE, "osric": ("early",),
        "prospero": ("early",)}  # fmt: skip
"""Users with a message copy from the time of sending."""

Stage = dict[str, dict[str, int]]


@pytest.fixture
def people(chat_database: Database, cast: Cast) -> dict[str, Member]:
    """The cast, two more guests, and Horatio as a member of a nested group."""
    found = {m.name.lower(): m for m in (*cast.acme, cast.hank)}

    def work(session: Any) -> None:
        realm = access_realm_by_id(session, cast.realm_id)
        for name, role in (("yorick", Role.GUEST), ("osric", Role.GUEST), ("horatio", Role.MEMBER)):
            user, key = create_user(
                session,
                KEYS,
                realm=realm,
                email=f"{name}@acme.example",
                full_name=name.title(),
                role=role,
                now=CAST_MADE_AT,
            )
            found[name] = Member(user.id, user.delivery_email, name, role, key, "acme.example")

    chat_database.run(work)
    return found


@pytest.fixture
def stage(
    chat: ChatClient, chat_database: Database, cast: Cast, people: dict[str, Member]
) -> Stage:
    """Ids of the channel and of its two messages, by kind of channel."""
    staged: Stage = {}

    def channels(session: Any) -> None:
        groups = []
        for name in ("inner", "outer"):
            group = UserGroup(
                realm_id=cast.realm_id,
                kind="named",
                name=name,
                name_key=name,
                date_created=CAST_MADE_AT,
            )
            session.add(group)
            session.flush()
            groups.append(group.id)
        add_to_group(session, groups[0], members=[people["horatio"].id, people["yorick"].id])
        add_to_group(session, groups[1], subgroups=[groups[0]])
        anonymous = {"direct_members": [cast.cordelia.id], "direct_subgroups": [groups[1]]}
        for kind, over in KINDS.items():
            first = [people[name] for name in ("hamlet", "polonius", "osric", "prospero")]
            channel = make_channel(
                session, cast, kind, subscribers=first, can_subscribe_group=anonymous, **over
            )
            staged[kind] = {"channel": channel}

    def come_and_go(session: Any) -> None:
        for ids in staged.values():
            subscribe(session, ids["channel"], people["othello"])
            unsubscribe(session, ids["channel"], people["osric"], people["prospero"])

    def archive(session: Any) -> None:
        archived = [staged[kind]["channel"] for kind in KINDS if kind.startswith("archived")]
        session.execute(update(Channel).where(Channel.id.in_(archived)).values(is_archived=True))

    def say(topic: str) -> None:
        for ids in staged.values():
            wish = {"to": ids["channel"], "topic": topic, "content": topic}
            ids[topic] = chat.post("/messages", type="channel", **wish)["id"]

    chat_database.run(channels)
    say("early")
    chat_database.run(come_and_go)
    say("late")
    chat_database.run(archive)
    return staged


@pytest.mark.parametrize("chat_filled", ["sqlite"], indirect=True)
def test_operations_agree_about_readable_messages(
    chat: ChatClient, stage: Stage, people: dict[str, Member]
) -> None:
    span = {"anchor": "newest", "num_before": 99, "num_after": 0}
    mark = {"op": "add", "flag": "starred"}
    for who, access in ACCESS.items():
        client = chat.acting_as(people[who])
        feed = {m["id"] for m in client.get("/messages", **span)["messages"]}
        received = [
            ids[topic]
            for ids, readable in zip(stage.values(), access, strict=True)
            for topic in readable
            if topic in GETS.get(who, NONE)
        ]
        assert feed == set(received), who
        for kind, readable in zip(KINDS, access, strict=True):
            ids = stage[kind]
            case = f"{who} in {kind}"
            asked = {
                "early": [
                    client.get(f"/messages/{ids['early']}{more}") for more in ("", "/history")
                ],
                "late": [client.post("/messages/flags", messages=[ids["late"]], **mark)],
            }
            for topic, answers in asked.items():
                if topic in readable:
                    assert {answer["result"] for answer in answers} == {"success"}, case
                else:
                    assert answers == [INVALID] * len(answers), case
            topics = client.get(f"/users/me/{ids['channel']}/topics")
            listed = client.get("/messages", **span, narrow=[["channel", kind]])
            flagged = client.post(
                "/messages/flags/narrow", **span, narrow=[["channel", kind]], **mark
            )
            if not readable and who not in KNOWS_OF_PRIVATE:
                assert topics["msg"] == "Invalid channel ID", case
                assert listed["msg"] == f"Invalid narrow operator: unknown channel {kind}", case
                assert flagged == listed, case
                continue
            # An administrator may see the private channel, but none of its messages.
            assert (topics["result"] == "error") is (who == "iago" and not readable), case
            assert [t["name"] for t in topics.get("topics", [])] == list(readable[::-1]), case
            assert [m["subject"] for m in listed["messages"]] == list(readable), case
            assert flagged["processed_count"] == len(readable), case


def test_access_rules_for_one_message_many_and_events_agree(
    chat_database: Database, stage: Stage, people: dict[str, Member]
) -> None:
    """On both databases, because each rule is a separate statement."""
    every = [ids[topic] for ids in stage.values() for topic in BOTH]
    with chat_database.reading() as reader:
        for who, access in ACCESS.items():
            actor = find_actor(reader, people[who].id)
            assert actor is not None
            readable = [
                ids[topic]
                for ids, topics in zip(stage.values(), access, strict=True)
                for topic in topics
            ]
            assert find_readable(reader, actor, every) == sorted(readable), who
            for message_id in every:
                try:
                    message = access_message(reader, actor, message_id)
                except InvalidMessage:
                    assert message_id not in readable, who
                    continue
                assert message_id in readable, who
                holds = message.flags is not None
                is_told = actor.id in find_readers(reader, message.channel, [message_id])
                subscribed = message.channel is not None and message.channel.is_subscribed
                assert is_told == (holds or subscribed), (who, message.channel)


SEES_EMAIL = {
    1: {"cordelia", "iago", "prospero", "hamlet", "polonius", "reminder"},
    2: {"cordelia", "iago", "prospero", "hamlet", "reminder"},
    3: {"cordelia", "iago"},
    4: set[str](),
    5: {"cordelia", "iago", "prospero"},
}


@pytest.mark.parametrize("chat_filled", ["sqlite"], indirect=True)
def test_hidden_email_is_not_shown_in_messages(
    chat: ChatClient, chat_database: Database, cast: Cast
) -> None:
    """The address is not shown for senders, in conversations, in events or by search.

    The dummy address is.
    """
    others = ("cordelia", "iago", "prospero", "hamlet", "polonius", "reminder")
    people = [cast.othello.id, *(getattr(cast, name).id for name in others)]
    dummy = f"user{cast.othello.id}@acme.example"
    span = {"anchor": "newest", "num_before": 1, "num_after": 0}
    as_iago = chat.acting_as(cast.iago)
    for visibility, sees in SEES_EMAIL.items():
        change_user(chat_database, cast.othello.id, email_address_visibility=visibility)
        wish = {"type": "direct", "to": people, "content": str(visibility)}
        by_othello = chat.acting_as(cast.othello).post("/messages", **wish)["id"]
        by_iago = as_iago.post("/messages", **wish)["id"]
        for event in events_of(chat_database, "message")[-2:]:
            shown = {p["id"]: p["email"] for p in event["message"]["display_recipient"]}
            assert shown[cast.othello.id] == (cast.othello.email if visibility == 1 else dummy)
            assert (cast.othello.email in str(event)) is (visibility == 1)
        for name in others:
            client, case = chat.acting_as(getattr(cast, name)), (name, visibility)
            email = cast.othello.email if name in sees else dummy
            message = client.get(f"/messages/{by_othello}")["message"]
            assert message["sender_email"] == email, case
            (message,) = client.get("/messages", **span)["messages"]
            assert message["id"] == by_iago
            assert email in [p["email"] for p in message["display_recipient"]], case
            for address in (cast.othello.email, dummy):
                found = client.get("/messages", **span, narrow=[["sender", address]])
                allowed = name in sees or address == dummy
                assert found["result"] == ("success" if allowed else "error"), case
            told = client.post("/messages", type="direct", to=cast.othello.email, content="x")
            assert told["result"] == ("success" if name in sees else "error"), case
            client.delete(f"/messages/{told.get('id', 0)}")
