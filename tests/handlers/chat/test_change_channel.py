"""PATCH and DELETE /streams/{stream_id}, of the tag channels."""

from collections.abc import Sequence
from typing import Any

import orjson
import pytest
from sqlalchemy import func, select

from models.chat.tables import AuditLog, Channel, DefaultChannel, Event, Message, Realm
from specd.db import Database
from tests.handlers.chat.groups import ids_of
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel
from tests.support.chat.people import Cast

ABSENT = 2147483647


HIDDEN = bad("Invalid channel ID")
NOT_YOURS = bad(
    "You do not have permission to administer this channel.", "CANNOT_ADMINISTER_CHANNEL"
)
NO_CONTENT = bad("Channel content access is required.")
INSUFFICIENT = bad("Insufficient permission")


class Watch:
    """A channel of Hamlet, Othello and Polonius, with the events about it."""

    def __init__(self, database: Database, cast: Cast, **over: Any) -> None:
        self.database, self.cast = database, cast
        people = [cast.hamlet, cast.othello, cast.polonius]
        only_hamlet = {"direct_members": [cast.hamlet.id], "direct_subgroups": []}
        over = {"can_administer_channel_group": only_hamlet, **over}
        self.id = database.run(
            lambda s: make_channel(s, cast, "Denmark", subscribers=people, **over)
        )
        self.path = f"/streams/{self.id}"

    def events(self, *types: str) -> list[tuple[dict[str, Any], Any]]:
        """Return payloads and recipients since the last call, in order, without events that follow
        from the first notice in the channel.
        """
        kept = select(Event.id, Event.payload, Event.user_ids)
        with self.database.reading() as reader:
            rows = reader.execute(kept.where(Event.type.in_(types)).order_by(Event.id)).all()
        seen, self.seen = getattr(self, "seen", 0), max((row.id for row in rows), default=0)
        told = [
            (orjson.loads(row.payload), row.user_ids and set(orjson.loads(row.user_ids)))
            for row in rows
            if row.id > seen
        ]
        return [one for one in told if one[0].get("property") != "first_message_id"]

    def update(self, name: str, value: Any, **more: Any) -> dict[str, Any]:
        """Return the payload of such an event."""
        said = {"property": name, "value": value, "stream_id": self.id, "name": "Denmark"}
        return {"op": "update", **said, **more}

    def notices(self) -> list[str]:
        """Return the messages of the notification bot in the channel."""
        with self.database.reading() as reader:
            return list(
                reader.execute(
                    select(Message.content)
                    .where(Message.channel_id == self.id, Message.topic == "channel events")
                    .order_by(Message.id)
                ).scalars()
            )

    def row(self) -> Any:
        with self.database.reading() as reader:
            return reader.execute(select(Channel.__table__).where(Channel.id == self.id)).one()


@pytest.fixture
def denmark(chat_database: Database, cast: Cast) -> Watch:
    return Watch(chat_database, cast)


@pytest.fixture
def vault(chat_database: Database, cast: Cast) -> Watch:
    """Make the channel private, with shared history."""
    return Watch(chat_database, cast, invite_only=True)


def ids(*members: Any) -> set[int]:
    return {member.id for member in members}


def count(database: Database, table: Any) -> int:
    with database.reading() as reader:
        return int(reader.execute(select(func.count()).select_from(table)).scalar_one())


class TestUpdateChannel:
    def test_changes_name_and_description(
        self, chat: ChatClient, denmark: Watch, cast: Cast
    ) -> None:
        form = {"new_name": " Kronborg ", "description": "Who's\n*there*?"}
        assert chat.patch(denmark.path, **form) == DONE
        shown = chat.get(denmark.path)["stream"]
        assert (shown["name"], shown["description"]) == ("Kronborg", "Who's *there*?")
        html = "<p>Who's <em>there</em>?</p>"
        assert shown["rendered_description"] == html
        all_people = ids(*cast.acme) - ids(cast.ophelia)
        assert denmark.events("stream") == [
            (
                denmark.update("description", "Who's *there*?", rendered_description=html),
                all_people,
            ),
            (denmark.update("name", "Kronborg"), all_people),
        ]
        renamed, described = denmark.notices()
        assert renamed == (
            f"@_**Hamlet|{cast.hamlet.id}** renamed channel **Denmark** to **Kronborg**."
        )
        said = f"@_**Hamlet|{cast.hamlet.id}** changed the description for this channel.\n\n"
        assert described.startswith(f"{said}* **Old description:**\n```` quote\n*No description.*")
        assert "* **New description:**" in described
        assert described.count("Who's *there*?") == 1
        assert chat.get("/get_stream_id", stream="kronborg")["stream_id"] == denmark.id
        # The same name in another case is a change. An identical request changes nothing.
        assert chat.patch(denmark.path, new_name="KRONBORG") == DONE
        denmark.events("stream")
        assert chat.patch(denmark.path, description="Who's *there*?") == DONE
        assert chat.patch(denmark.path) == DONE
        assert denmark.events("stream") == []

    def test_rejects_invalid_names(
        self, chat: ChatClient, denmark: Watch, chat_database: Database, cast: Cast
    ) -> None:
        chat_database.run(lambda s: make_channel(s, cast, "Norway", invite_only=True))
        for name, msg in (
            ("Denmark", "Channel already has that name."),
            ("NORWAY", "Channel name is already in use."),
            (" ", "Channel name can't be empty."),
            ("a\x07b", "Invalid character in channel name, at position 2."),
        ):
            assert chat.patch(denmark.path, new_name=name) == bad(msg)
        assert chat.patch(denmark.path, new_name="x" * 61)["code"] == "BAD_REQUEST"

    def test_allowed_roles(
        self, chat: ChatClient, as_cordelia: ChatClient, as_othello: ChatClient, cast: Cast,
        denmark: Watch,
    ) -> None:  # fmt: skip
        for who in (as_othello, chat.acting_as(cast.polonius), chat.acting_as(cast.prospero)):
            assert who.patch(denmark.path, description="x") == NOT_YOURS
            assert who.delete(denmark.path) == NOT_YOURS
        for path in (f"/streams/{ABSENT}", denmark.path):
            hank = chat.acting_as(cast.hank)
            assert hank.patch(path, description="x") == HIDDEN
            assert hank.delete(path) == HIDDEN
        assert as_cordelia.patch(denmark.path, description="x") == DONE
        unauthenticated = chat.acting_as(None)
        assert (
            unauthenticated.request("PATCH", denmark.path, {"description": "x"}).status_code == 401
        )
        assert unauthenticated.request("DELETE", denmark.path).status_code == 401

    def test_hidden_channel_is_not_found(
        self, chat: ChatClient, as_cordelia: ChatClient, vault: Watch, cast: Cast
    ) -> None:
        prospero = chat.acting_as(cast.prospero)
        assert prospero.patch(vault.path, description="x") == HIDDEN
        assert prospero.delete(vault.path) == HIDDEN
        # Administrators may see the channel, but not read it.
        assert as_cordelia.patch(vault.path, description="x") == DONE
        (_, to), *_ = vault.events("stream")
        assert to == ids(cast.hamlet, cast.othello, cast.polonius, cast.cordelia, cast.iago)
        assert as_cordelia.patch(vault.path, is_private=False) == NO_CONTENT
        members = ids_of(chat)["role:members"]
        for name in ("can_subscribe_group", "can_add_subscribers_group"):
            assert as_cordelia.patch(vault.path, **{name: {"new": members}}) == NO_CONTENT
        assert as_cordelia.patch(vault.path, can_send_message_group={"new": members}) == DONE

    def test_changes_to_private_and_back(
        self, chat: ChatClient, denmark: Watch, cast: Cast
    ) -> None:
        assert chat.patch(denmark.path, is_private=True) == DONE
        row = denmark.row()
        assert (row.invite_only, row.history_public_to_subscribers) == (True, False)
        inside = ids(cast.hamlet, cast.othello, cast.polonius, cast.cordelia, cast.iago)
        (gone, lost), (update, to) = denmark.events("stream")
        assert gone == {
            "op": "delete",
            "streams": [{"stream_id": denmark.id}],
            "stream_ids": [denmark.id],
        }
        assert lost & inside == set()
        assert cast.prospero.id in lost
        privacy = {"history_public_to_subscribers": False, "is_web_public": False}
        assert (update, to) == (denmark.update("invite_only", True, **privacy), inside)
        assert chat.acting_as(cast.prospero).get(denmark.path) == HIDDEN
        assert chat.patch(denmark.path, history_public_to_subscribers=True) == DONE
        assert chat.patch(denmark.path, is_private=False) == DONE
        _, (create, gained), (update, to) = denmark.events("stream")
        assert (create["op"], gained) == ("create", lost)
        shown = chat.get(denmark.path)["stream"]
        assert create["streams"][0] == {**shown, "subscriber_count": 0}
        (peers, told) = denmark_peers(denmark)
        assert (peers["user_ids"], told) == (
            sorted(ids(cast.hamlet, cast.othello, cast.polonius)),
            gained,
        )
        assert update["history_public_to_subscribers"] is True
        who = f"@_**Hamlet|{cast.hamlet.id}** changed the access permissions for this channel"
        assert denmark.notices() == [
            f"{who} from **Public** to **Private, protected history**.",
            f"{who} from **Private, protected history** to **Private, shared history**.",
            f"{who} from **Private, shared history** to **Public**.",
        ]

    def test_changes_to_web_public(
        self, chat: ChatClient, as_cordelia: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        watch = Watch(chat_database, cast)
        off = bad("Web-public channels are not enabled.")
        assert as_cordelia.patch(watch.path, is_web_public=True) == off
        as_cordelia.patch("/realm", enable_spectator_access=True)
        assert chat.patch(watch.path, is_web_public=True) == INSUFFICIENT
        both = as_cordelia.patch(watch.path, is_web_public=True, is_private=True)
        assert both == bad("Invalid parameters")
        kept = as_cordelia.patch(watch.path, history_public_to_subscribers=False)
        assert kept == bad("Invalid parameters")
        assert as_cordelia.patch(watch.path, is_web_public=True) == DONE
        (update, to), *_ = watch.events("stream")
        assert update["is_web_public"] is True
        assert to is not None

    def test_allowed_roles_for_each_kind_of_channel(
        self, chat: ChatClient, as_cordelia: ChatClient, denmark: Watch
    ) -> None:
        owners = ids_of(chat)["role:owners"]
        as_cordelia.patch("/realm", can_create_private_channel_group={"new": owners})
        assert chat.patch(denmark.path, is_private=True) == INSUFFICIENT
        as_cordelia.patch("/realm", can_create_public_channel_group={"new": owners})
        assert chat.patch(denmark.path, is_private=False) == INSUFFICIENT
        as_cordelia.patch("/realm", moderation_request_channel_id=denmark.id)
        assert as_cordelia.patch(denmark.path, is_private=False) == bad(
            "Moderation request channel must be private."
        )

    def test_default_channel(
        self, chat: ChatClient, as_cordelia: ChatClient, denmark: Watch, cast: Cast
    ) -> None:
        assert chat.patch(denmark.path, is_default_stream=True) == bad(
            "You do not have permission to change default channels."
        )
        assert as_cordelia.patch(denmark.path, is_default_stream=True) == DONE
        assert denmark.events("default_streams") == [({"default_streams": [denmark.id]}, None)]
        private = bad("A default channel cannot be private.")
        assert chat.patch(denmark.path, is_private=True) == private
        form = {"is_private": True, "is_default_stream": False}
        # Events about it go to users who may read it.
        assert as_cordelia.patch(denmark.path, **form) == DONE
        assert count(denmark.database, DefaultChannel) == 0

    def test_changes_permissions(self, chat: ChatClient, denmark: Watch, cast: Cast) -> None:
        groups = ids_of(chat)
        only_hamlet = {"direct_members": [cast.hamlet.id], "direct_subgroups": []}
        form = {"new": groups["role:moderators"], "old": groups["role:everyone"]}
        assert chat.patch(denmark.path, can_send_message_group=form) == DONE
        told = {event["property"]: event["value"] for event, _ in denmark.events("stream")}
        moderators = groups["role:moderators"]
        assert told == {"can_send_message_group": moderators, "stream_post_policy": 4}
        assert denmark.notices() == [
            f"@_**Hamlet|{cast.hamlet.id}** changed the posting permissions for this channel."
        ]
        assert chat.patch(denmark.path, can_send_message_group=form) == bad(
            "'old' value does not match the expected value.", "EXPECTATION_MISMATCH"
        )
        assert chat.patch(denmark.path, can_subscribe_group={"new": only_hamlet}) == DONE
        (event, _), *_ = denmark.events("stream")
        assert event == denmark.update("can_subscribe_group", only_hamlet)
        before = denmark.row()
        assert chat.patch(denmark.path, can_subscribe_group={"new": only_hamlet}) == DONE
        assert denmark.row() == before, "equal members do not create a group"
        assert chat.patch(denmark.path, can_subscribe_group=groups["role:nobody"]) == DONE
        everyone = {"new": groups["role:everyone"]}
        assert chat.patch(denmark.path, can_administer_channel_group=everyone) == bad(
            "'can_administer_channel_group' setting cannot be set to 'role:everyone' group."
        )
        deletes = {"can_delete_any_message_group": {"new": groups["role:members"]}}
        assert chat.patch(denmark.path, **deletes) == INSUFFICIENT
        assert chat.acting_as(cast.cordelia).patch(denmark.path, **deletes) == DONE

    def test_permission_makes_the_channel_visible(
        self, chat: ChatClient, vault: Watch, cast: Cast
    ) -> None:
        group = {"direct_members": [cast.hamlet.id, cast.prospero.id], "direct_subgroups": []}
        assert chat.patch(vault.path, can_administer_channel_group={"new": group}) == DONE
        (create, gained), (update, to) = vault.events("stream")
        assert (create["op"], gained) == ("create", ids(cast.prospero))
        assert update["property"] == "can_administer_channel_group"
        assert cast.prospero.id not in to
        alone = {"direct_members": [cast.hamlet.id], "direct_subgroups": []}
        assert chat.patch(vault.path, can_administer_channel_group={"new": alone}) == DONE
        (gone, lost), _ = vault.events("stream")
        assert (gone["op"], lost) == ("delete", ids(cast.prospero))

    def test_changes_retention_topics_and_folder(
        self, chat: ChatClient, as_cordelia: ChatClient, denmark: Watch, cast: Cast
    ) -> None:
        assert chat.patch(denmark.path, message_retention_days=30) == bad(
            "Must be an organization owner", "UNAUTHORIZED_PRINCIPAL"
        )
        days = chat.acting_as(cast.cordelia)
        assert days.patch(denmark.path, message_retention_days=30) == DONE
        assert denmark.notices() == [
            f"@_**Cordelia|{cast.cordelia.id}** changed the message retention period for this"
            " channel:\n\n* **Old retention period**: Forever\n* **New retention period**: 30 days"
        ]
        assert days.patch(denmark.path, message_retention_days=0)["code"] == (
            "REQUEST_VARIABLE_INVALID"
        )
        folder = as_cordelia.post("/channel_folders/create", name="Plays", description="")
        folder_id = folder["channel_folder_id"]
        denmark.events("stream")
        assert chat.patch(denmark.path, folder_id=folder_id) == DONE
        assert chat.patch(denmark.path, folder_id="null", topics_policy="disable_empty_topic") == (
            DONE
        )
        assert [event for event, _ in denmark.events("stream")] == [
            denmark.update("folder_id", folder_id),
            denmark.update("folder_id", None),
            denmark.update("topics_policy", "disable_empty_topic"),
        ]
        unknown = chat.patch(denmark.path, folder_id=ABSENT)
        assert unknown == bad("Invalid channel folder ID")
        assert chat.patch(denmark.path, topics_policy="empty_topic_only") == bad(
            "To enable this configuration, all messages in this channel must be in the"
            " general chat topic."
        )
        members = ids_of(chat)["role:nobody"]
        as_cordelia.patch("/realm", can_set_topics_policy_group={"new": members})
        assert chat.patch(denmark.path, topics_policy="inherit") == INSUFFICIENT

    def test_changes_all_or_nothing(self, chat: ChatClient, denmark: Watch) -> None:
        before = denmark.row()
        form = {"new_name": "Kronborg", "is_private": True, "folder_id": ABSENT}
        assert chat.patch(denmark.path, **form) == bad("Invalid channel folder ID")
        assert denmark.row() == before
        assert denmark.events("stream") == []
        assert denmark.notices() == []


def denmark_peers(watch: Watch) -> tuple[dict[str, Any], Any]:
    """Return the last event about subscribers."""
    watch.seen = 0
    return [told for told in watch.events("subscription") if told[0]["op"] == "peer_add"][-1]


class TestArchiveChannel:
    def test_archives_the_channel(
        self, chat: ChatClient, as_cordelia: ChatClient, denmark: Watch, cast: Cast
    ) -> None:
        as_cordelia.patch(
            "/realm",
            moderation_request_channel_id=denmark.id,
            new_stream_announcements_stream_id=denmark.id,
        )
        as_cordelia.patch(denmark.path, is_default_stream=True)
        denmark.events("stream", "default_streams", "realm")
        assert chat.delete(denmark.path) == DONE
        told = denmark.events("stream", "default_streams", "realm")
        without = {
            "moderation_request_channel_id": -1,
            "new_stream_announcements_stream_id": -1,
        }
        assert [event for event, _ in told] == [
            {"default_streams": []},
            {"op": "update_dict", "property": "default", "data": without},
            denmark.update("is_archived", True),
        ]
        assert denmark.notices() == ["Channel Denmark has been archived."]
        assert chat.get(denmark.path)["stream"]["is_archived"] is True
        assert chat.get("/streams")["streams"] == []
        with denmark.database.reading() as reader:
            realm = reader.execute(select(Realm.__table__).where(Realm.id == cast.realm_id)).one()
            kinds: Sequence[str] = reader.execute(select(AuditLog.kind)).scalars().all()
        assert realm.moderation_request_channel_id is None
        assert "channel_archived" in kinds
        again = bad("Channel is already deactivated")
        assert chat.delete(denmark.path) == again
        assert chat.patch(denmark.path, description="x") == again

    def test_archived_channel_is_deleted_for_older_clients(
        self, chat: ChatClient, denmark: Watch
    ) -> None:
        old = chat.post("/register", event_types=["stream"])
        new = chat.post(
            "/register", event_types=["stream"], client_capabilities={"archived_channels": True}
        )
        chat.delete(denmark.path)
        heard = []
        for queue in (old, new):
            answer = chat.get(
                "/events", queue_id=queue["queue_id"], last_event_id=queue["last_event_id"],
                dont_block=True,
            )  # fmt: skip
            heard.append([
                event["op"]
                for event in answer["events"]
                if event.get("property") != "first_message_id"
            ])  # fmt: skip
        assert heard == [["delete"], ["update"]]


class Clients:
    """Old and new clients of Hamlet and Iago, with their events about channels."""

    def __init__(self, chat: ChatClient, cast: Cast) -> None:
        self.places = []
        for who in (cast.hamlet, cast.iago):
            for capable in (False, True):
                client = chat.acting_as(who)
                queue = client.post(
                    "/register",
                    event_types=["stream", "subscription"],
                    client_capabilities={"archived_channels": capable},
                )
                self.places.append((client, queue["queue_id"], queue["last_event_id"]))

    def channel_events(self) -> list[list[dict[str, Any]]]:
        return [
            [
                event
                for event in client.get(
                    "/events", queue_id=queue_id, last_event_id=seen, dont_block=True
                )["events"]
                if event.get("property") != "first_message_id"
            ]
            for client, queue_id, seen in self.places
        ]


class TestRestoreChannel:
    def test_restores_everything(
        self, chat: ChatClient, as_iago: ChatClient, denmark: Watch, cast: Cast
    ) -> None:
        before = chat.get(denmark.path)
        chat.delete(denmark.path)
        clients = Clients(chat, cast)
        assert chat.patch(denmark.path, is_archived=False, new_name="Elsinore") == DONE
        shown = chat.get(denmark.path)["stream"]
        written = {"first_message_id": shown["first_message_id"], "name": "Elsinore"}
        assert shown == before["stream"] | written
        renamed = f"@_**Hamlet|{cast.hamlet.id}** renamed channel **Denmark** to **Elsinore**."
        assert denmark.notices()[1:] == ["Channel Denmark has been unarchived.", renamed]
        hamlets, hamlets_new, iagos, iagos_new = clients.channel_events()
        create, add, name = hamlets
        [created] = create["streams"]
        [added] = add["subscriptions"]
        assert created == shown | {
            "name": "Denmark", "subscriber_count": 0,
            "first_message_id": created["first_message_id"],
        }  # fmt: skip
        people = sorted(ids(cast.hamlet, cast.othello, cast.polonius))
        assert (added["stream_id"], added["subscribers"]) == (denmark.id, people)
        assert added["subscriber_count"] == 3
        assert "color" in added
        assert (name["property"], name["value"]) == ("name", "Elsinore")
        assert [event["op"] for event in iagos] == ["create", "peer_add", "update"]
        assert (iagos[1]["stream_ids"], iagos[1]["user_ids"]) == ([denmark.id], people)
        for new in (hamlets_new, iagos_new):
            told = [(event["property"], event["value"]) for event in new]
            assert told == [("is_archived", False), ("name", "Elsinore")]

    @pytest.mark.reaches("CANNOT_ADMINISTER_CHANNEL")
    def test_rejects_invalid_requests(
        self, chat: ChatClient, as_othello: ChatClient, denmark: Watch
    ) -> None:
        assert chat.patch(denmark.path, is_archived=True) == bad("Invalid parameters")
        off = chat.patch(denmark.path, is_archived=False)
        assert off == bad("Channel is not currently deactivated")
        chat.delete(denmark.path)
        assert as_othello.patch(denmark.path, is_archived=False) == NOT_YOURS
        assert denmark.row().is_archived

    def test_private_channel_without_subscribers(
        self, as_cordelia: ChatClient, vault: Watch, cast: Cast
    ) -> None:
        all_people = sorted(ids(cast.hamlet, cast.othello, cast.polonius))
        as_cordelia.delete(
            "/users/me/subscriptions", subscriptions=["Denmark"], principals=all_people
        )
        as_cordelia.delete(vault.path)
        empty = as_cordelia.patch(vault.path, is_archived=False)
        assert empty == bad("Channel is private and has no subscribers")
        assert vault.row().is_archived
