"""The official Python client (PyPI: zulip 0.9.1), unmodified, against a real server.

Here calls depend on each other; tests/clients/test_methods.py calls each method. Operations without
a method are called by `call_endpoint`, whose leading slash makes the path `/api/v1//...`, as in the
client's own examples.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import zulip

from models.chat.identity.api_keys import KeyMaker
from models.chat.identity.passwords import hash_password
from models.chat.identity.roles import BotType, Role
from models.chat.organization.realms import access_realm_by_id, create_realm
from models.chat.people.users import create_user
from models.secret_files import load_secret
from specd._db import migrate
from specd.db import Clock, Database
from tests.live.running_server import RunningServer

HOST = "127.0.0.1"
PASSWORD = "correct horse battery staple"
PATIENCE_S = 60.0
OK = {"result": "success", "msg": ""}
Answer = dict[str, Any]


@dataclass(frozen=True)
class Account:
    """A user, and a client of a script of the user."""

    id: int
    email: str
    key: str
    zulip: zulip.Client


@dataclass(frozen=True)
class Office:
    """An organization on a running server: an owner, a member, the member's bot."""

    url: str
    owner: Account
    member: Account
    bot: Account


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    data_dir = tmp_path_factory.mktemp("office")
    url = f"sqlite:///{data_dir / 'chat.db'}"
    migrate.upgrade(url, "chat")
    database = Database(url)
    people = database.run(lambda session: found_office(session, data_dir))
    database.dispose()
    with RunningServer(data_dir, {"SPECD_DEVELOPMENT": "true"}, application="chat") as server:

        def account(name: str) -> Account:
            user_id, email, key = people[name]
            client = zulip.Client(email=email, api_key=key, site=server.url)
            client.retry_on_errors = False
            return Account(user_id, email, key, client)

        yield Office(server.url, account("owner"), account("member"), account("bot"))


def found_office(session: Any, data_dir: Path) -> dict[str, tuple[int, str, str]]:
    keys = KeyMaker(load_secret(data_dir / "chat-secret", ""))
    now = Clock().now()
    realm, owner, owners_key = create_realm(
        session, keys, name="Office", host=HOST, owner_email="owner@office.example",
        owner_name="Olga", now=now,
    )  # fmt: skip
    owner.can_create_users = owner.can_change_user_emails = True
    view = access_realm_by_id(session, realm.id)
    member, members_key = create_user(
        session, keys, realm=view, email="max@office.example", full_name="Max", role=Role.MEMBER,
        now=now, password_hash=hash_password(PASSWORD),
    )  # fmt: skip
    bot, bots_key = create_user(
        session, keys, realm=view, email="clock-bot@office.example", full_name="Clock",
        role=Role.MEMBER, now=now, bot_type=BotType.GENERIC, bot_owner_id=member.id,
    )  # fmt: skip
    return {
        "owner": (owner.id, owner.delivery_email, owners_key),
        "member": (member.id, member.delivery_email, members_key),
        "bot": (bot.id, bot.delivery_email, bots_key),
    }


def ignoring(name: str) -> Answer:
    """Check a success in which one parameter was ignored."""
    return {"result": "success", "msg": "", "ignored_parameters_unsupported": [name]}


def good(answer: Answer) -> Answer:
    """Check a success in which nothing was ignored."""
    assert answer["result"] == "success", answer
    assert answer["msg"] == ""
    assert "ignored_parameters_unsupported" not in answer, answer
    return answer


def subscribe(office: Office, name: str) -> int:
    """Create a channel of this name with the owner and the member."""
    good(
        office.owner.zulip.add_subscriptions(
            streams=[{"name": name, "description": "Made by the *client*"}],
            principals=[office.owner.id, office.member.id],
        )
    )
    channel_id: int = good(office.owner.zulip.get_stream_id(name))["stream_id"]
    return channel_id


def send(office: Office, channel: str, topic: str, content: str) -> int:
    sent = office.member.zulip.send_message(
        {"type": "stream", "to": channel, "topic": topic, "content": content}
    )
    message_id: int = good(sent)["id"]
    return message_id


class TestClient:
    def test_learns_the_feature_level_when_it_is_made(self, office: Office) -> None:
        client = office.member.zulip
        assert client.feature_level == 478
        assert client.zulip_version == "12.0"
        assert good(client.get_server_settings())["realm_name"] == "Office"

    def test_is_made_although_its_key_is_wrong_and_is_then_refused(self, office: Office) -> None:
        stranger = zulip.Client(email=office.member.email, api_key="x" * 32, site=office.url)
        assert stranger.get_profile() == {
            "result": "error",
            "msg": "Invalid API key",
            "code": "UNAUTHORIZED",
        }

    def test_signs_in_with_the_dummy_address(self, office: Office) -> None:
        dummy = f"user{office.member.id}@{HOST}"
        client = zulip.Client(email=dummy, api_key=office.member.key, site=office.url + "/api/")
        assert good(client.get_profile())["user_id"] == office.member.id

    def test_is_told_of_operations_that_are_not_served(self, office: Office) -> None:
        answer = office.member.zulip.call_endpoint(url="/nothing", method="GET")
        assert (answer["result"], answer["code"]) == ("error", "NOT_FOUND")


class TestSignIn:
    def test_fetches_keys(self, office: Office) -> None:
        client = office.member.zulip
        by_password = {"username": office.member.email, "password": PASSWORD}
        expected = OK | {
            "api_key": office.member.key,
            "email": office.member.email,
            "user_id": office.member.id,
        }
        assert client.call_endpoint("/fetch_api_key", "POST", by_password) == expected
        by_name = {"username": office.member.email}
        assert client.call_endpoint("/dev_fetch_api_key", "POST", by_name) == expected


class TestPeople:
    def test_reads_people(self, office: Office) -> None:
        client = office.member.zulip
        assert good(client.get_profile())["full_name"] == "Max"
        members = good(client.get_members({"include_custom_profile_fields": True}))["members"]
        assert {m["user_id"] for m in members} >= {office.owner.id, office.member.id, office.bot.id}
        assert good(client.get_users())["members"]
        assert good(client.get_user_by_id(office.owner.id))["user"]["is_owner"] is True
        by_email = client.call_endpoint(url=f"/users/{office.owner.email}", method="GET")
        assert good(by_email)["user"]["user_id"] == office.owner.id

    def test_makes_changes_deactivates_and_reactivates(self, office: Office) -> None:
        client = office.owner.zulip
        email = "tess@office.example"
        made = client.create_user(
            {"email": email, "full_name": "Tess", "password": "a long one, tess"}
        )
        user_id = good(made)["user_id"]
        good(client.update_user_by_id(user_id, full_name="Tessa", role=300))
        read = good(client.get_user_by_id(user_id))["user"]
        assert (read["full_name"], read["role"], read["email"]) == ("Tessa", 300, email)
        good(client.deactivate_user_by_id(user_id))
        assert good(client.get_user_by_id(user_id))["user"]["is_active"] is False
        good(client.reactivate_user_by_id(user_id))
        assert good(client.get_user_by_id(user_id))["user"]["is_active"] is True
        # As in the documentation of the operation.
        actions = {"delete_profile": True, "delete_public_channel_messages": False}
        with_actions = {"deactivation_notification_comment": "Bye.", "actions": actions}
        url = f"/users/{user_id}"
        good(client.call_endpoint(url=url, method="DELETE", request=with_actions))
        assert good(client.get_user_by_id(user_id))["user"]["is_deleted"] is True

    def test_sets_and_reads_a_status(self, office: Office) -> None:
        client = office.member.zulip
        away = {"status_text": "on vacation", "away": False, "emoji_name": "car",
                "emoji_code": "1f697", "reaction_type": "unicode_emoji"}  # fmt: skip
        good(client.call_endpoint(url="/users/me/status", method="POST", request=away))
        status = client.call_endpoint(url=f"/users/{office.member.id}/status", method="GET")
        del away["away"]
        assert good(status)["status"] == away

    def test_makes_and_lists_groups(self, office: Office) -> None:
        client = office.owner.zulip
        made = client.create_user_group(
            {"name": "crew", "description": "All hands", "members": [office.member.id]}
        )
        group_id = good(made)["group_id"]
        groups = {g["id"]: g for g in good(client.get_user_groups())["user_groups"]}
        assert groups[group_id]["members"] == [office.member.id]
        changed = client.update_user_group({"group_id": group_id, "name": "tragedians"})
        assert changed == ignoring("group_id")  # the client also sends the path parameter
        good(client.update_user_group_members(group_id, {"delete": [office.member.id]}))
        [group] = [g for g in client.get_user_groups()["user_groups"] if g["id"] == group_id]
        assert (group["name"], group["members"]) == ("tragedians", [])
        # Zulip has replaced this operation by the next.
        assert client.remove_user_group(group_id)["result"] == "error"
        good(client.call_endpoint(url=f"user_groups/{group_id}/deactivate"))

    def test_mutes_somebody_and_keeps_alert_words(self, office: Office) -> None:
        client = office.member.zulip
        muting = f"/users/me/muted_users/{office.bot.id}"
        assert client.call_endpoint(url=muting, method="POST") == OK
        assert client.call_endpoint(url=muting, method="POST")["msg"] == "User already muted"
        assert client.call_endpoint(url=muting, method="DELETE") == OK
        assert good(client.add_alert_words(["castle", "Ghost"]))["alert_words"] == [
            "castle", "Ghost",
        ]  # fmt: skip
        assert good(client.remove_alert_words(["ghost"]))["alert_words"] == ["castle"]
        assert good(client.get_alert_words())["alert_words"] == ["castle"]
        assert good(client.remove_alert_words(["castle"]))["alert_words"] == []

    def test_keeps_drafts_and_snippets(self, office: Office) -> None:
        client = office.member.zulip
        draft = {"type": "", "to": [], "topic": "", "content": "To whom"}
        stored = client.call_endpoint(url="/drafts", method="POST", request={"drafts": [draft]})
        [draft_id] = good(stored)["ids"]
        [listed] = good(client.call_endpoint(url="/drafts", method="GET"))["drafts"]
        assert listed == draft | {"id": draft_id, "timestamp": listed["timestamp"]}
        good(client.call_endpoint(url=f"/drafts/{draft_id}", method="DELETE"))
        snippet = {"title": "Greeting", "content": "Good day."}
        saved = client.call_endpoint(url="/saved_snippets", method="POST", request=snippet)
        snippet_id = good(saved)["saved_snippet_id"]
        good(client.call_endpoint(url=f"/saved_snippets/{snippet_id}", method="DELETE"))

    def test_makes_a_bot_which_stores_something(self, office: Office) -> None:
        client = office.member.zulip
        form = {"full_name": "Yorick", "short_name": "yorick"}
        made = good(client.call_endpoint(url="/bots", method="POST", request=form))
        bot = zulip.Client(
            email=f"yorick-bot@{HOST}",
            api_key=made["api_key"],
            site=office.url,
            retry_on_errors=False,
        )
        assert bot.update_storage({"storage": {"entry 1": "value 1", "entry 2": "2"}}) == OK
        assert good(bot.get_storage({"keys": ["entry 1"]}))["storage"] == {"entry 1": "value 1"}
        assert good(bot.get_storage())["storage"].keys() == {"entry 1", "entry 2"}
        listed = good(client.call_endpoint(url="/bots", method="GET"))["bots"]
        assert made["api_key"] in [each["api_key"] for each in listed]
        good(client.call_endpoint(url=f"/bots/{made['user_id']}", method="DELETE"))

    def test_lists_custom_emoji(self, office: Office) -> None:
        assert good(office.member.zulip.get_realm_emoji())["emoji"] == {}


class TestChannels:
    def test_subscribes_lists_and_leaves(self, office: Office) -> None:
        channel_id = subscribe(office, "harbour")
        client = office.member.zulip
        listed = {s["name"]: s for s in good(client.get_streams(include_public=True))["streams"]}
        assert listed["harbour"]["stream_id"] == channel_id
        mine = good(client.get_subscriptions({"include_subscribers": True}))["subscriptions"]
        [harbour] = [s for s in mine if s["stream_id"] == channel_id]
        assert sorted(harbour["subscribers"]) == sorted([office.owner.id, office.member.id])
        good(client.update_subscription_settings(
            [{"stream_id": channel_id, "property": "color", "value": "#f00f00"}]
        ))  # fmt: skip
        good(client.call_endpoint(
            f"/users/me/subscriptions/{channel_id}", "PATCH",
            {"property": "is_muted", "value": True},
        ))  # fmt: skip
        again = good(client.list_subscriptions())["subscriptions"]
        [harbour] = [s for s in again if s["stream_id"] == channel_id]
        assert (harbour["color"], harbour["is_muted"]) == ("#f00f00", True)
        left = good(client.remove_subscriptions(["harbour"]))
        assert left["removed"] == ["harbour"]

    def test_changes_and_archives_a_channel(self, office: Office) -> None:
        channel_id = subscribe(office, "cabin")
        client = office.owner.zulip
        renamed = client.update_stream({"stream_id": channel_id, "new_name": "captain's cabin"})
        assert renamed == ignoring("stream_id")  # the client also sends the path parameter
        shown = good(client.call_endpoint(f"streams/{channel_id}", "GET"))["stream"]
        assert shown["name"] == "captain's cabin"
        members = client.get_subscribers(stream="captain's cabin")["subscribers"]
        assert members == sorted([office.owner.id, office.member.id])
        status = client.get_subscription_status(office.member.id, channel_id)
        assert good(status)["is_subscribed"] is True
        good(client.add_default_stream(channel_id))
        good(client.delete_stream(channel_id))
        shown = good(client.call_endpoint(f"streams/{channel_id}", "GET"))["stream"]
        assert shown["is_archived"] is True

    def test_lists_topics_and_sets_their_visibility(self, office: Office) -> None:
        channel_id = subscribe(office, "bridge")
        message_id = send(office, "bridge", "course", "north by northwest")
        client = office.member.zulip
        topics = good(client.get_stream_topics(channel_id))["topics"]
        assert {"name": "course", "max_id": message_id} in topics
        followed = {"stream_id": channel_id, "topic": "course", "visibility_policy": 3}
        good(client.call_endpoint(url="/user_topics", method="POST", request=followed))


class TestMessages:
    def test_adds_and_removes_a_reaction(self, office: Office) -> None:
        subscribe(office, "deck")
        client = office.member.zulip
        message_id = send(office, "deck", "weather", "Land ho")
        octopus = {"message_id": message_id, "emoji_name": "octopus"}
        # The client repeats the path's id among the parameters.
        done = OK | {"ignored_parameters_unsupported": ["message_id"]}
        assert client.add_reaction(octopus) == done
        again = client.add_reaction(octopus)
        assert again["code"] == "REACTION_ALREADY_EXISTS"
        url = f"messages/{message_id}"
        [reaction] = good(client.call_endpoint(url, "GET"))["message"]["reactions"]
        assert (reaction["emoji_code"], reaction["user_id"]) == ("1f419", office.member.id)
        assert client.remove_reaction(octopus) == done
        assert good(client.call_endpoint(url, "GET"))["message"]["reactions"] == []

    def test_who_has_read_it_and_what_it_matches(self, office: Office) -> None:
        subscribe(office, "crow's nest")
        client = office.member.zulip
        message_id = send(office, "crow's nest", "horizon", "A sail")
        receipts = client.call_endpoint(f"messages/{message_id}/read_receipts", "GET")
        assert isinstance(good(receipts)["user_ids"], list)
        narrow = [{"operator": "topic", "operand": "horizon"}]
        found = client.check_messages_match_narrow(msg_ids=[message_id], narrow=narrow)
        assert list(good(found)["messages"]) == [str(message_id)]

    def test_a_message_from_sending_to_deletion(self, office: Office) -> None:
        subscribe(office, "galley")
        client = office.member.zulip
        message_id = send(office, "galley", "supper", "**soup**")
        narrow = [
            {"operator": "channel", "operand": "galley"},
            {"operator": "sender", "operand": office.member.email},
        ]
        request = {"anchor": "newest", "num_before": 5, "num_after": 0, "narrow": narrow}
        found = good(client.get_messages(request))
        assert [m["id"] for m in found["messages"]] == [message_id]
        assert found["messages"][0]["content"] == "<p><strong>soup</strong></p>"
        assert good(client.get_raw_message(message_id))["raw_content"] == "**soup**"

        starred = {"messages": [message_id], "op": "add", "flag": "starred"}
        assert good(client.update_message_flags(starred))["messages"] == [message_id]
        request = {"anchor": message_id, "num_before": 0, "num_after": 0, "include_anchor": True,
                   "narrow": narrow, "op": "remove", "flag": "starred"}  # fmt: skip
        flagged = client.call_endpoint(url="/messages/flags/narrow", method="POST", request=request)
        assert good(flagged)["updated_count"] == 1

        edited = client.update_message({"message_id": message_id, "content": "**stew**"})
        assert edited == OK | {
            "detached_uploads": [],
            "ignored_parameters_unsupported": ["message_id"],  # it repeats the path parameter
        }
        history = good(client.get_message_history(message_id))["message_history"]
        assert [item["content"] for item in history] == ["**soup**", "**stew**"]
        assert good(client.render_message({"content": "*hot*"}))["rendered"] == (
            "<p><em>hot</em></p>"
        )
        good(office.owner.zulip.delete_message(message_id))
        assert client.get_raw_message(message_id)["msg"] == "Invalid message(s)"

    def test_moves_a_topic(self, office: Office) -> None:
        subscribe(office, "stern")
        subscribe(office, "bow")
        message_id = send(office, "stern", "anchor", "Drop it")
        assert good(office.owner.zulip.move_topic("stern", "bow", "anchor", "anchors"))
        moved = good(office.owner.zulip.get_raw_message(message_id))["message"]
        assert (moved["display_recipient"], moved["subject"]) == ("bow", "anchors")

    def test_writes_directly_and_as_a_bot(self, office: Office) -> None:
        for to in ([office.member.id], [office.member.email], office.member.email):
            sent = {"type": "private", "to": to, "content": "ding"}
            good(office.bot.zulip.send_message(sent))
        request = {"anchor": "newest", "num_before": 3, "num_after": 0,
                   "narrow": [["dm", office.bot.email]], "apply_markdown": False}  # fmt: skip
        received = good(office.member.zulip.get_messages(request))["messages"]
        assert [m["content"] for m in received] == ["ding"] * 3

    def test_reports_a_message(self, office: Office) -> None:
        desk = subscribe(office, "moderation")
        message_id = send(office, "moderation", "rum", "More rum!")
        owner = office.owner.zulip
        setting = {"moderation_request_channel_id": desk}
        good(owner.call_endpoint(url="/realm", method="PATCH", request=setting))
        report = {"report_type": "other", "description": "It is before noon."}
        url = f"/messages/{message_id}/report"
        good(owner.call_endpoint(url=url, method="POST", request=report))

    def test_schedules_messages(self, office: Office) -> None:
        channel_id = subscribe(office, "watch")
        client = office.member.zulip
        noon = int(time.time()) + 3600
        later = {"type": "channel", "to": channel_id, "topic": "bells", "content": "Eight bells",
                 "scheduled_delivery_timestamp": noon}  # fmt: skip
        made = good(client.call_endpoint(url="/scheduled_messages", method="POST", request=later))
        path = f"/scheduled_messages/{made['scheduled_message_id']}"
        change = {"scheduled_delivery_timestamp": noon + 60}
        good(client.call_endpoint(url=path, method="PATCH", request=change))
        listed = good(client.call_endpoint(url="/scheduled_messages", method="GET"))
        [one] = listed["scheduled_messages"]
        assert one["scheduled_delivery_timestamp"] == noon + 60
        good(client.call_endpoint(url=path, method="DELETE"))
        assert client.call_endpoint(url=path, method="DELETE")["code"] == "BAD_REQUEST"

    def test_tells_that_somebody_types(self, office: Office) -> None:
        channel_id = subscribe(office, "gulls")
        hearing = office.owner.zulip.register(
            event_types=["typing"], client_capabilities={"stream_typing_notifications": True}
        )
        client = office.member.zulip
        good(client.set_typing_status({"op": "start", "to": [office.owner.id]}))
        there = {"type": "stream", "op": "stop", "stream_id": channel_id, "topic": "chips"}
        good(client.set_typing_status(there))
        place = {"queue_id": hearing["queue_id"], "last_event_id": hearing["last_event_id"]}
        events = good(office.owner.zulip.get_events(**place, dont_block=True))["events"]
        assert [(event["op"], event["message_type"]) for event in events] == [
            ("start", "direct"), ("stop", "stream"),
        ]  # fmt: skip
        good(office.owner.zulip.deregister(hearing["queue_id"]))

    def test_reports_and_reads_presence(self, office: Office) -> None:
        client, email = office.member.zulip, office.member.email
        report = {"status": "active", "ping_only": False, "new_user_input": False}
        told = good(client.update_presence(report))
        assert told["presences"][email]["aggregated"]["status"] == "active"
        newer = {**report, "last_update_id": told["presence_last_update_id"]}
        assert good(client.update_presence(newer))["presences"] == {}
        assert good(client.get_realm_presence())["presences"] == told["presences"]
        one = good(office.bot.zulip.get_user_presence(email))["presence"]
        assert one["aggregated"]["timestamp"] == told["presences"][email]["aggregated"]["timestamp"]


class Heard(Exception):
    """Ends the client's loop, which would otherwise run forever."""


class TestEvents:
    def test_calls_back_on_each_message_with_its_markdown(self, office: Office) -> None:
        subscribe(office, "parrots")
        heard: list[Answer] = []

        def hear(message: Answer) -> None:
            heard.append(message)
            if message["content"] == "**Enough**":
                raise Heard

        def listen() -> None:
            with suppress(Heard):
                office.owner.zulip.call_on_each_message(hear)

        listener = threading.Thread(target=listen, daemon=True)
        listener.start()
        deadline = time.monotonic() + PATIENCE_S
        while (
            not heard and time.monotonic() < deadline
        ):  # the client does not report when it listens
            send(office, "parrots", "squawk", "**Hello**?")
            time.sleep(0.1)
        send(office, "parrots", "squawk", "**Enough**")
        listener.join(PATIENCE_S)
        assert not listener.is_alive()
        assert {message["content"] for message in heard} == {"**Hello**?", "**Enough**"}
        assert {message["display_recipient"] for message in heard} == {"parrots"}
        ids = [message["id"] for message in heard]
        assert ids == sorted(set(ids))

    def test_registers_polls_and_deregisters(self, office: Office) -> None:
        subscribe(office, "owls")
        client = office.owner.zulip
        queue = client.register(event_types=["message"])
        assert queue["result"] == "success", queue
        sent = send(office, "owls", "night", "Hoo")
        place = {"queue_id": queue["queue_id"], "last_event_id": queue["last_event_id"]}
        (event,) = good(client.get_events(**place))["events"]
        assert event["message"]["id"] == sent
        good(client.deregister(queue["queue_id"]))
        gone = client.get_events(**place)
        assert gone["code"] == "BAD_EVENT_QUEUE_ID"
        assert gone["queue_id"] == queue["queue_id"]
