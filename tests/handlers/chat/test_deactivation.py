"""Deactivation and reactivation: DELETE /users/{user_id}, DELETE /users/me, POST
/users/{user_id}/reactivate.
"""

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import func, select

from models.chat.deletion import removals as message_removals
from models.chat.tables import Channel, Message, MessageArchive, Outbox, Topic, User, UserMessage
from specd.db import Database
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel
from tests.support.chat.people import KEYS, Cast, gravatar
from tests.support.chat.rows import audited, change_user, events_of, make_fields, user_row
from tests.support.frozen_clock import FrozenClock

MUST_OWN = bad("Must be an organization owner", "UNAUTHORIZED_PRINCIPAL")


def path_of(member: Any) -> str:
    return f"/users/{member.id}"


def message_contents(database: Database, table: Any = Message) -> set[str]:
    with database.reading() as reader:
        return set(reader.execute(select(table.content)).scalars())


class TestDeactivateUser:
    def test_deactivates_bots_then_the_user(
        self,
        as_iago: ChatClient,
        chat: ChatClient,
        as_reminder: ChatClient,
        as_othello: ChatClient,
        cast: Cast,
        chat_database: Database,
    ) -> None:
        def prepare(session: Any) -> list[int]:
            members = [cast.hamlet, cast.reminder, cast.othello]
            return [
                make_channel(session, cast, "denmark", subscribers=members),
                make_channel(session, cast, "verona", subscribers=members),
                make_channel(session, cast, "crypt", subscribers=[cast.hamlet], invite_only=True),
            ]

        denmark, verona, crypt = chat_database.run(prepare)
        assert as_iago.delete(path_of(cast.hamlet)) == DONE
        for member in (cast.hamlet, cast.reminder):
            assert not user_row(chat_database, member.id).is_active
        for gone in (chat, as_reminder):
            answer = gone.request("GET", "/users/me")
            assert (answer.status_code, answer.json()["msg"]) == (401, "Account is deactivated")
        told = events_of(chat_database)
        assert [event["person"] for event in told if event["type"] == "realm_user"] == [
            {"user_id": cast.reminder.id, "is_active": False},
            {"user_id": cast.hamlet.id, "is_active": False},
        ]
        peers = [event for event in told if event["type"] == "subscription"]
        both = sorted([cast.hamlet.id, cast.reminder.id])
        here = {cast.cordelia.id, cast.iago.id, cast.prospero.id, cast.othello.id}
        assert peers == [
            {
                "type": "subscription",
                "op": "peer_remove",
                "stream_ids": [denmark, verona],
                "user_ids": both,
                "to": sorted(here),
            },
            {
                "type": "subscription",
                "op": "peer_remove",
                "stream_ids": [crypt],
                "user_ids": [cast.hamlet.id],
                "to": [cast.cordelia.id, cast.iago.id],
            },
        ]
        groups = [event for event in told if event["type"] == "user_group"]
        assert {(e["op"], *e["user_ids"]) for e in groups} == {
            ("remove_members", cast.reminder.id), ("remove_members", cast.hamlet.id),
        }  # fmt: skip
        assert audited(chat_database, "user_deactivated") == [
            (cast.iago.id, cast.reminder.id, {}),
            (cast.iago.id, cast.hamlet.id, {}),
        ]
        seen = as_othello.get(path_of(cast.hamlet))["user"]
        assert (seen["is_active"], seen["full_name"], "is_deleted" in seen) == (
            False, "Hamlet", False,
        )  # fmt: skip
        subscribers = as_othello.get("/users/me/subscriptions", include_subscribers=True)
        assert {
            user_id for one in subscribers["subscriptions"] for user_id in one["subscribers"]
        } == {cast.othello.id}

    def test_order_of_checks(
        self, as_nobody: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        member, guest, admin, owner, bot_owner = (
            as_nobody.acting_as(one)
            for one in (cast.othello, cast.polonius, cast.iago, cast.cordelia, cast.hamlet)
        )
        for calls in (member, guest, admin, bot_owner):
            for user_id in (cast.hank.id, 999999, cast.notification_bot_id, cast.reminder.id):
                assert calls.delete(f"/users/{user_id}") == bad("No such user")
            assert calls.delete(path_of(cast.ophelia)) == bad("User is deactivated")
        for calls in (member, guest):
            assert calls.delete(path_of(cast.cordelia)) == bad("Insufficient permission")
        assert admin.delete(path_of(cast.cordelia)) == MUST_OWN
        assert owner.delete(path_of(cast.cordelia)) == bad(
            "Cannot deactivate the only organization owner"
        )
        assert as_nobody.request("DELETE", path_of(cast.othello)).status_code == 401
        assert events_of(chat_database) == []

    @pytest.mark.parametrize(
        ("sent", "msg"),
        [
            ({"actions": "x"}, "actions is not valid JSON"),
            ({"actions": [1]}, "actions is not a dict"),
            ({"actions": {"delete_profile": 1}}, 'actions["delete_profile"] is not a boolean'),
            ({"actions": {"x": True}}, 'Argument "x" at actions is unexpected'),
            (
                {"deactivation_notification_comment": "x" * 2001},
                "deactivation_notification_comment is too long (limit: 2000 characters)",
            ),
        ],
    )
    def test_rejects_invalid_values(
        self, as_iago: ChatClient, cast: Cast, sent: dict[str, Any], msg: str
    ) -> None:
        assert as_iago.delete(path_of(cast.hamlet), **sent) == bad(msg)

    @pytest.mark.parametrize(
        ("sent", "text"),
        [
            (" Farewell.\n", "comment:\n\nFarewell.\n"),
            ("x" * 2000, "x" * 2000),
            ("  ", "log in.\n"),
            (None, None),
        ],
    )
    def test_mails_a_comment(
        self,
        as_iago: ChatClient,
        cast: Cast,
        chat_database: Database,
        sent: str | None,
        text: str | None,
    ) -> None:
        answer = as_iago.delete(path_of(cast.hamlet), deactivation_notification_comment=sent)
        assert answer == DONE
        with chat_database.reading() as reader:
            mails = reader.execute(select(Outbox.recipient, Outbox.subject, Outbox.body)).all()
        if text is None:
            assert mails == []
            return
        ((to, subject, body),) = mails
        assert (to, subject) == (cast.hamlet.email, "Notification of account deactivation on Acme")
        assert body.startswith("Hi Hamlet,\n\nYour account on Acme has been deactivated")
        assert body.rstrip("\n").endswith(text.rstrip("\n"))
        assert ("comment" in body) == bool(sent and sent.strip())

    def test_one_of_two_owners_can_be_deactivated(
        self, as_cordelia: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        change_user(chat_database, cast.iago.id, role=100)
        assert as_cordelia.delete(path_of(cast.iago)) == DONE


class TestMutualDeactivation:
    """Each transaction locks the caller's row, so one of them is restarted."""

    def test_mutual_deactivation_leaves_one_owner(
        self, as_cordelia: ChatClient, as_iago: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        change_user(chat_database, cast.iago.id, role=100)
        as_cordelia.at_once(
            as_cordelia.build("DELETE", path_of(cast.iago)),
            as_iago.build("DELETE", path_of(cast.cordelia)),
        )
        with chat_database.reading() as reader:
            owners = select(func.count(User.id)).where(
                User.realm_id == cast.realm_id, User.role == 100, User.is_active
            )
            assert reader.execute(owners).scalar_one() == 1


class TestActions:
    @pytest.fixture
    def conversations(
        self, as_nobody: ChatClient, cast: Cast, chat_database: Database
    ) -> dict[str, int]:
        """Hamlet, his bot and Othello have written in public and private channels and directly."""

        def prepare(session: Any) -> dict[str, int]:
            members = [cast.hamlet, cast.reminder, cast.othello]
            return {
                "stage": make_channel(session, cast, "stage", subscribers=members),
                "crypt": make_channel(
                    session, cast, "crypt", subscribers=members, invite_only=True
                ),
            }

        channels = chat_database.run(prepare)
        for member in (cast.hamlet, cast.othello, cast.reminder, cast.hamlet):
            calls = as_nobody.acting_as(member)
            for name, channel_id in channels.items():
                sent = calls.post(
                    "/messages",
                    type="stream",
                    to=channel_id,
                    topic="Words" if member is cast.othello else "words",
                    content=f"{member.name} in {name}",
                )
                assert sent["result"] == "success"
            to = [cast.othello.id, cast.hamlet.id]
            calls.post("/messages", type="direct", to=to, content=f"{member.name} directly")
        as_nobody.acting_as(cast.reminder).post(
            "/messages",
            type="stream",
            to=channels["stage"],
            topic="alone",
            content="Reminder alone",
        )
        return channels

    @pytest.mark.parametrize(
        ("action", "gone"),
        [
            ("delete_public_channel_messages", {"Hamlet in stage", "Reminder in stage",
             "Reminder alone"}),
            ("delete_private_channel_messages", {"Hamlet in crypt", "Reminder in crypt"}),
            ("delete_direct_messages", {"Hamlet directly", "Reminder directly"}),
            ("delete_profile", set()),
        ],
    )  # fmt: skip
    def test_each_action_deletes_its_messages_of_bot_and_user(
        self,
        as_iago: ChatClient,
        cast: Cast,
        chat_database: Database,
        conversations: dict[str, int],
        action: str,
        gone: set[str],
    ) -> None:
        before = message_contents(chat_database)
        assert as_iago.delete(path_of(cast.hamlet), actions={action: True}) == DONE
        assert message_contents(chat_database) == before - gone
        assert message_contents(chat_database, MessageArchive) == gone
        with chat_database.reading() as reader:
            copies = select(UserMessage.message_id).distinct()
            assert set(reader.execute(copies).scalars()) == set(
                reader.execute(select(Message.id)).scalars()
            )
        kinds = {"private" if "direct" in action else "stream"} if gone else set()
        told = events_of(chat_database, "delete_message")
        assert {event["message_type"] for event in told} == kinds
        assert all(event["to"] for event in told)

    def test_all_actions_keep_topics_and_first_messages_consistent(
        self,
        as_iago: ChatClient,
        as_othello: ChatClient,
        cast: Cast,
        chat_database: Database,
        conversations: dict[str, int],
    ) -> None:
        fields = make_fields(chat_database, cast.realm_id)
        entries = [{"id": fields["Job"], "value": "Prince"}]
        as_iago.patch(path_of(cast.hamlet), profile_data=entries)
        actions = {
            "delete_profile": True,
            "delete_public_channel_messages": True,
            "delete_private_channel_messages": True,
            "delete_direct_messages": True,
        }
        assert as_iago.delete(path_of(cast.hamlet), actions=actions) == DONE
        assert message_contents(chat_database) == {
            "Othello in stage",
            "Othello in crypt",
            "Othello directly",
        }
        with chat_database.reading() as reader:
            left = {
                (row.channel_id, row.id)
                for row in reader.execute(
                    select(Message.channel_id, Message.id).where(Message.channel_id.is_not(None))
                )
            }
            topics = reader.execute(select(Topic.channel_id, Topic.name, Topic.max_id)).all()
            firsts = reader.execute(select(Channel.id, Channel.first_message_id)).all()
        assert {(channel, max_id) for channel, _, max_id in topics} == left
        assert {name for _, name, _ in topics} == {"Words"}
        assert {(channel_id, first) for channel_id, first in firsts} == left
        for member in (cast.hamlet, cast.reminder):
            seen = as_othello.get(path_of(member), include_custom_profile_fields=True)["user"]
            assert (seen["full_name"], seen["is_deleted"], seen["is_active"]) == (
                "Deleted user", True, False,
            )  # fmt: skip
            assert seen.get("profile_data", {}) == {}
            # The default avatar, also if a client computes the URL from the email address.
            assert seen["avatar_url"] is not None
        people = [event["person"] for event in events_of(chat_database, "realm_user")]
        renamed = [p["user_id"] for p in people if p.get("full_name") == "Deleted user"]
        assert renamed == [cast.reminder.id, cast.hamlet.id]
        assert audited(chat_database, "user_data_deleted") == [
            (cast.iago.id, cast.reminder.id, {"profile": True, "messages": 4}),
            (cast.iago.id, cast.hamlet.id, {"profile": True, "messages": 6}),
        ]

    def test_many_messages_are_deleted_in_batches(
        self,
        as_iago: ChatClient,
        cast: Cast,
        chat_database: Database,
        conversations: dict[str, int],
        clock: FrozenClock,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(message_removals, "AT_ONCE", 1)
        actions = {"delete_public_channel_messages": True, "delete_direct_messages": True}
        before = message_contents(chat_database)
        assert as_iago.delete(path_of(cast.hamlet), actions=actions) == DONE
        assert len(message_contents(chat_database)) == len(before) - 1
        while chat_database.run(lambda s: message_removals.remove_some(s, clock.now())):
            pass
        in_crypt = {"Hamlet in crypt", "Reminder in crypt"}
        assert {
            text for text in message_contents(chat_database) if "Othello" not in text
        } == in_crypt
        with chat_database.reading() as reader:
            topics = select(Topic.name, Topic.max_id).where(
                Topic.channel_id == conversations["stage"]
            )
            stage = select(Message.topic, Message.id).where(
                Message.channel_id == conversations["stage"]
            )
            assert reader.execute(topics).all() == reader.execute(stage).all()

    def test_false_deletes_nothing(
        self,
        as_iago: ChatClient,
        cast: Cast,
        chat_database: Database,
        conversations: dict[str, int],
    ) -> None:
        before = message_contents(chat_database)
        actions = {"delete_profile": False, "delete_public_channel_messages": False}
        assert as_iago.delete(path_of(cast.hamlet), actions=actions) == DONE
        assert message_contents(chat_database) == before
        assert user_row(chat_database, cast.hamlet.id).full_name == "Hamlet"

    def test_refusal_deletes_nothing(
        self,
        as_othello: ChatClient,
        cast: Cast,
        chat_database: Database,
        conversations: dict[str, int],
    ) -> None:
        before = message_contents(chat_database)
        answer = as_othello.delete(path_of(cast.hamlet), actions={"delete_direct_messages": True})
        assert answer == bad("Insufficient permission")
        assert message_contents(chat_database) == before

    def test_deleted_profile_is_reported(
        self, as_iago: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        job = make_fields(chat_database, cast.realm_id)["Job"]
        as_iago.patch(path_of(cast.hamlet), profile_data=[{"id": job, "value": "Prince"}])
        as_iago.delete(path_of(cast.hamlet), actions={"delete_profile": True})
        told = [event["person"] for event in events_of(chat_database, "realm_user")]
        value = {"custom_profile_field": {"id": job, "value": None}}
        assert {"user_id": cast.hamlet.id, **value} in told
        assert {"user_id": cast.hamlet.id, "is_deleted": True} in told
        as_iago.post(f"{path_of(cast.hamlet)}/reactivate")
        told = [event["person"] for event in events_of(chat_database, "realm_user")]
        assert told[-2] == {"user_id": cast.hamlet.id, "is_deleted": False}
        version = told[-1]["avatar_version"]
        known_as = gravatar(cast.hamlet.email).replace("version=1", f"version={version}")
        assert told[-1]["user_id"] == cast.hamlet.id
        assert told[-1]["avatar_url"] == known_as, "the Gravatar is restored"


class TestStatus:
    def test_status_is_hidden_while_deactivated(
        self, as_iago: ChatClient, chat: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        chat.post("/users/me/status", status_text="mad", emoji_name="car", away=True)
        car = {"emoji_name": "car", "emoji_code": "1f697", "reaction_type": "unicode_emoji"}
        before = len(events_of(chat_database, "user_status"))
        as_iago.delete(path_of(cast.hamlet))
        as_iago.post(f"{path_of(cast.hamlet)}/reactivate")
        gone, back = events_of(chat_database, "user_status")[before:]
        whose = {"type": "user_status", "user_id": cast.hamlet.id, "to": None}
        none = {**dict.fromkeys(car, ""), "reaction_type": "unicode_emoji"}
        assert gone == {**whose, "away": False, "status_text": "", **none}
        assert back == {**whose, "away": True, "status_text": "mad", **car}


class TestDeactivateOwnUser:
    def test_deactivates_own_account_and_bots(
        self, chat: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        assert chat.delete("/users/me") == DONE
        assert not user_row(chat_database, cast.hamlet.id).is_active
        assert not user_row(chat_database, cast.reminder.id).is_active
        assert chat.request("GET", "/users/me").status_code == 401

    @pytest.mark.reaches("CANNOT_DEACTIVATE_LAST_USER")
    def test_last_owner_and_last_user_are_kept(
        self, as_cordelia: ChatClient, as_hank: ChatClient
    ) -> None:
        assert as_cordelia.delete("/users/me") == {
            **bad("Cannot deactivate the only organization owner.", "CANNOT_DEACTIVATE_LAST_USER"),
            "is_last_owner": True,
            "entity": "organization owner",
        }
        assert as_hank.delete("/users/me") == {
            **bad("Cannot deactivate the only user.", "CANNOT_DEACTIVATE_LAST_USER"),
            "is_last_owner": False,
            "entity": "user",
        }

    def test_rejects_bots_and_missing_credentials(
        self, as_reminder: ChatClient, as_nobody: ChatClient
    ) -> None:
        assert as_reminder.delete("/users/me") == bad("This endpoint does not accept bot requests.")
        assert as_nobody.request("DELETE", "/users/me").status_code == 401


class TestReactivateUser:
    def test_restores_the_account(
        self, as_iago: ChatClient, chat: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        members = [cast.hamlet, cast.othello]
        denmark = chat_database.run(
            lambda session: make_channel(session, cast, "denmark", subscribers=members)
        )
        as_iago.delete(path_of(cast.hamlet), actions={"delete_profile": True})
        so_far = len(events_of(chat_database))
        assert as_iago.post(f"{path_of(cast.hamlet)}/reactivate") == DONE
        assert chat.get("/users/me")["msg"] == "Invalid API key"
        key = KEYS.key_of(user_row(chat_database, cast.hamlet.id))
        own = chat.acting_as(replace(cast.hamlet, key=key)).get("/users/me")
        assert (own["is_active"], own["full_name"], own["role"]) == (True, "Deleted user", 400)
        row = user_row(chat_database, cast.hamlet.id)
        assert (row.is_active, row.is_deleted) == (True, False)
        assert not user_row(chat_database, cast.reminder.id).is_active
        told = events_of(chat_database)[so_far:]
        assert [(event["type"], event["op"]) for event in told] == [
            ("realm_user", "update"),
            ("realm_user", "update"),
            ("realm_user", "update"),
            ("user_group", "add_members"),
            ("user_group", "add_members"),
            ("subscription", "peer_add"),
        ]
        assert told[0]["person"] == {"user_id": cast.hamlet.id, "is_active": True}
        assert (told[-1]["stream_ids"], told[-1]["user_ids"]) == ([denmark], [cast.hamlet.id])
        assert audited(chat_database, "user_reactivated") == [(cast.iago.id, cast.hamlet.id, {})]

    def test_active_user_is_unchanged(
        self, as_iago: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        assert as_iago.post(f"{path_of(cast.othello)}/reactivate") == DONE
        assert events_of(chat_database) == []

    def test_bot_without_owner_becomes_the_callers(
        self, as_iago: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        as_iago.delete(path_of(cast.hamlet))
        back = as_iago.post(f"{path_of(cast.reminder)}/reactivate")
        row = user_row(chat_database, cast.reminder.id)
        assert (row.is_active, row.bot_owner_id) == (True, cast.iago.id)
        assert back == {**DONE, "api_key": KEYS.key_of(row)}
        person = events_of(chat_database, "realm_user")[-1]["person"]
        assert person == {"user_id": cast.reminder.id, "bot_owner_id": cast.iago.id}

    def test_rejects_invalid_requests(
        self, as_nobody: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        change_user(chat_database, cast.ophelia.id, role=100)
        path = f"{path_of(cast.ophelia)}/reactivate"
        for member, answer in (
            (cast.prospero, bad("Insufficient permission")),
            (cast.polonius, bad("Insufficient permission")),
            (cast.iago, MUST_OWN),
        ):
            assert as_nobody.acting_as(member).post(path) == answer
        for user_id in (cast.hank.id, cast.notification_bot_id, 999999):
            answer = as_nobody.acting_as(cast.iago).post(f"/users/{user_id}/reactivate")
            assert answer == bad("No such user")
        assert as_nobody.request("POST", path).status_code == 401
        assert as_nobody.acting_as(cast.cordelia).post(path) == DONE
