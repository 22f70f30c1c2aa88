"""Operations of the tag bots."""

import re
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest
from sqlalchemy import select, update

import specs
from models.chat.tables import AuditLog, BotStorage, Realm, User
from specd.db import Database
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatApp, ChatClient
from tests.support.chat.bots import PATH, make
from tests.support.chat.people import Cast, Member, gravatar
from tests.support.chat.queues import Place, Queues

DOCUMENT = specs.load("chat")
METHODS = {"get", "post", "put", "patch", "delete"}
UNSET = {
    "default_sending_stream": None,
    "default_events_register_stream": None,
    "default_all_public_streams": False,
}


NO_BOT, NOT_YOURS = bad("No such bot"), bad("Insufficient permission")


def as_bot(client: ChatClient, made: dict[str, Any], name: str = "yorick") -> ChatClient:
    """Return a client that acts as a created bot."""
    email = f"{name}-bot@acme.example"
    return client.acting_as(
        Member(made["user_id"], email, name, 400, made["api_key"], "acme.example")
    )


def managed(bot_id: int, owner: Member, **over: Any) -> dict[str, Any]:
    """Return the bot that `make` created, as its managers see it."""
    email = "yorick-bot@acme.example"
    return {
        "user_id": bot_id,
        "email": email,
        "full_name": "Yorick",
        "bot_type": 1,
        "is_active": True,
        "owner_id": owner.id,
        "avatar_url": gravatar(email),
        **UNSET,
        "services": [],
        **over,
    }


def bot_events(place: Place) -> list[dict[str, Any]]:
    """Return the events about bots in a queue, without ids and types."""
    return [
        {"op": event["op"], "bot": event["bot"]}
        for event in place.read()
        if event["type"] == "realm_bot"
    ]


def update_of(bot_id: int, **changes: Any) -> dict[str, Any]:
    return {"op": "update", "bot": {"user_id": bot_id, **changes}}


def registered(client: ChatClient) -> list[dict[str, Any]]:
    bots: list[dict[str, Any]] = client.post("/register", fetch_event_types=["realm_bot"])[
        "realm_bots"
    ]
    return bots


def audit_entries(database: Database, kind: str) -> list[tuple[int | None, int | None, str]]:
    columns = (AuditLog.actor_id, AuditLog.user_id, AuditLog.facts)
    wanted = select(*columns).where(AuditLog.kind == kind).order_by(AuditLog.id)
    with database.reading() as reader:
        return [tuple(row) for row in reader.execute(wanted)]


class TestCreateBot:
    def test_creates_a_bot_that_can_send(
        self, chat: ChatClient, as_iago: ChatClient, as_othello: ChatClient, cast: Cast,
        queues: Queues, chat_database: Database,
    ) -> None:  # fmt: skip
        places = [queues.open(client) for client in (chat, as_iago, as_othello)]
        made = chat.post(PATH, full_name=" Yorick ", short_name="yorick")
        bot_id, avatar = made["user_id"], gravatar("yorick-bot@acme.example")
        assert made == {
            **DONE, "user_id": bot_id, "api_key": made["api_key"], "avatar_url": avatar, **UNSET,
            "services": [],
        }  # fmt: skip
        bot = as_bot(chat, made)
        own = bot.get("/users/me")
        assert (own["full_name"], own["role"], own["is_bot"]) == ("Yorick", 400, True)
        answer = bot.post("/messages", type="direct", to=[cast.hamlet.id], content="Alas")
        assert answer["result"] == "success"
        add = {"op": "add", "bot": managed(bot_id, cast.hamlet)}
        assert [bot_events(place) for place in places] == [[add], [add], []]
        assert registered(chat)[-1] == registered(as_iago)[-1] == add["bot"]
        assert registered(as_othello) == registered(bot) == []
        user = chat.get(f"/users/{bot_id}")["user"]
        assert (user["bot_type"], user["bot_owner_id"]) == (1, cast.hamlet.id)
        facts = '{"role":400,"bot_type":1}'
        assert audit_entries(chat_database, "user_created")[-1] == (cast.hamlet.id, bot_id, facts)

    def test_rejects_invalid_requests(
        self, chat: ChatClient, as_nobody: ChatClient, as_polonius: ChatClient,
        as_reminder: ChatClient, as_hank: ChatClient,
    ) -> None:  # fmt: skip
        make(chat)
        for name, short, answer in (
            ("yorick", "y", bad("Name is already in use.")),
            ("othello", "y", bad("Name is already in use.")),
            ("Y", "y", bad("Name too short!")),
            ("Notification Bot", "y", bad("This name is reserved.")),
            ("Skull", "yorick", bad("Username already in use")),
            ("Skull", "YORICK", bad("Username already in use")),
            ("Skull", "a b", bad("Bad name or username")),
            ("Skull", "a@b", bad("Bad name or username")),
        ):
            assert chat.post(PATH, full_name=name, short_name=short) == answer
        assert chat.post(PATH, full_name="Skull")["code"] == "REQUEST_VARIABLE_MISSING"
        for unknown in (0, 4, 5):
            answer = chat.post(PATH, full_name="Skull", short_name="s", bot_type=unknown)
            assert answer == bad(
                "Invalid bot_type: Value error, Not in the list of possible values"
            )
        form = {"full_name": "Skull", "short_name": "s"}
        assert as_polonius.post(PATH, **form) == bad("Not allowed for guest users")
        answer = bad("This endpoint does not accept bot requests.")
        assert as_reminder.post(PATH, **form) == answer
        assert as_nobody.request("POST", PATH, form).status_code == 401
        assert make(as_hank)["user_id"], "names are unique per organization"

    def test_allowed_roles(self, chat: ChatClient, as_cordelia: ChatClient, cast: Cast) -> None:
        own = {"direct_members": [cast.hamlet.id], "direct_subgroups": []}
        nobody = as_cordelia.get("/user_groups")["user_groups"]
        nobody_id = next(each["id"] for each in nobody if each["name"] == "role:nobody")
        as_cordelia.patch("/realm", can_create_bots_group={"new": nobody_id})
        assert chat.post(PATH, full_name="Skull", short_name="s") == NOT_YOURS
        assert make(chat, "Skull", bot_type=2)["api_key"]
        as_cordelia.patch("/realm", can_create_write_only_bots_group={"new": nobody_id})
        assert chat.post(PATH, full_name="Bone", short_name="b", bot_type=2) == NOT_YOURS
        as_cordelia.patch("/realm", can_create_bots_group={"new": own})
        assert make(chat, "Bone", bot_type=2)["api_key"]
        found = chat.post("/register", fetch_event_types=["realm"])
        assert found["realm_can_create_bots_group"] == own
        assert found["realm_can_create_write_only_bots_group"] == nobody_id

    def test_rejects_similar_names_if_names_are_unique(
        self, chat: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        change = update(Realm).where(Realm.id == cast.realm_id).values(require_unique_names=True)
        chat_database.run(lambda s: s.execute(change))
        answer = chat.post(PATH, full_name="0thello", short_name="s")
        assert answer == bad("Unique names required in this organization.")

    def test_incoming_webhook_sends_messages(self, chat: ChatClient, cast: Cast) -> None:
        made = make(chat, bot_type=2)
        text = {"type": "direct", "to": [cast.hamlet.id], "content": "The build is green."}
        sent = as_bot(chat, made).post("/messages", **text)
        assert sent["result"] == "success"
        message = chat.get(f"/messages/{sent['id']}")["message"]
        assert (message["sender_id"], message["content"]) == (
            made["user_id"],
            "<p>The build is green.</p>",
        )

    def test_incoming_webhook_cannot_call_other_operations(self, chat: ChatClient) -> None:
        bot = as_bot(chat, make(chat, bot_type=2))
        refused = "This API is not available to incoming webhook bots."
        tried = 0
        for path, item in DOCUMENT["paths"].items():
            for method in METHODS & item.keys():
                operation = item[method]
                if operation.get("security") == [] or operation["operationId"] == "send_message":
                    continue
                answer = bot.request(method.upper(), re.sub(r"\{\w+\}", "1", path))
                assert (answer.status_code, answer.json()["msg"]) == (401, refused), path
                tried += 1
        assert tried > 100


class TestListBots:
    def test_lists_only_own_bots_with_keys(
        self, chat: ChatClient, as_cordelia: ChatClient, as_nobody: ChatClient,
        as_reminder: ChatClient, cast: Cast,
    ) -> None:  # fmt: skip
        made = make(chat)
        reminder = cast.reminder
        assert chat.get(PATH) == {
            **DONE,
            "bots": [
                {
                    "user_id": bot_id, "username": email, "full_name": name, "api_key": key,
                    "avatar_url": gravatar(email), **UNSET, "services": [],
                }
                for bot_id, email, name, key in (
                    (reminder.id, reminder.email, reminder.name, reminder.key),
                    (made["user_id"], "yorick-bot@acme.example", "Yorick", made["api_key"]),
                )
            ],
        }  # fmt: skip
        assert as_cordelia.get(PATH) == as_reminder.get(PATH) == {**DONE, "bots": []}
        assert chat.delete(f"{PATH}/{made['user_id']}") == DONE
        assert [each["user_id"] for each in chat.get(PATH)["bots"]] == [reminder.id]
        assert as_nobody.request("GET", PATH).status_code == 401

    def test_key_of_a_removed_secret_is_null(
        self, chat: ChatClient, chat_database: Database, cast: Cast
    ) -> None:
        change = update(User).where(User.id == cast.reminder.id).values(api_key_sha256="0" * 64)
        chat_database.run(lambda s: s.execute(change))
        assert [each["api_key"] for each in chat.get(PATH)["bots"]] == [None]


class TestUpdateBot:
    @pytest.fixture
    def path(self, cast: Cast) -> str:
        return f"{PATH}/{cast.reminder.id}"

    def test_changes_the_name(
        self, chat: ChatClient, as_iago: ChatClient, cast: Cast, queues: Queues, path: str
    ) -> None:
        place = queues.open(as_iago)
        answer = {
            **DONE,
            "full_name": "Yorick",
            "avatar_url": gravatar(cast.reminder.email),
            **UNSET,
            "bot_owner": cast.hamlet.email,
        }
        assert chat.patch(path, full_name=" Yorick ") == answer
        assert chat.patch(path) == chat.patch(path, full_name="Yorick") == answer
        assert bot_events(place) == [update_of(cast.reminder.id, full_name="Yorick")]
        assert chat.patch(path, full_name="hamlet") == bad("Name is already in use.")
        assert chat.patch(path, full_name="yorick")["full_name"] == "yorick"

    def test_changes_the_owner(
        self, chat: ChatClient, as_iago: ChatClient, as_othello: ChatClient, cast: Cast,
        queues: Queues, path: str, chat_database: Database,
    ) -> None:  # fmt: skip
        places = [queues.open(client) for client in (chat, as_iago, as_othello)]
        answer = chat.patch(path, bot_owner_id=cast.othello.id)
        assert answer["bot_owner"] == cast.othello.email
        bot_id, bot = cast.reminder.id, registered(as_othello)[0]
        assert [bot_events(place) for place in places] == [
            [{"op": "delete", "bot": {"user_id": bot_id}}],
            [update_of(bot_id, owner_id=cast.othello.id)],
            [{"op": "add", "bot": bot}],
        ]
        assert (bot["user_id"], bot["owner_id"]) == (bot_id, cast.othello.id)
        assert registered(chat) == []
        assert chat.patch(path, full_name="Yorick") == NOT_YOURS
        key = as_othello.get(PATH)["bots"][0]["api_key"]
        assert key != cast.reminder.key
        old = chat.acting_as(cast.reminder)
        assert old.get("/users/me")["msg"] == "Invalid API key"
        again = old.acting_as(replace(cast.reminder, key=key))
        assert again.get("/users/me")["result"] == "success"
        facts = f'{{"old":{cast.hamlet.id},"new":{cast.othello.id}}}'
        [line] = audit_entries(chat_database, "bot_owner_changed")
        assert line == (cast.hamlet.id, bot_id, facts)

    def test_rejects_invalid_owners(
        self, chat: ChatClient, cast: Cast, chat_app: ChatApp, path: str
    ) -> None:
        for user_id, problem in (
            (999_999, "no such user"),
            (cast.hank.id, "no such user"),
            (cast.notification_bot_id, "no such user"),
            (cast.ophelia.id, "user is deactivated"),
            (cast.reminder.id, "bots can't own other bots"),
            (cast.polonius.id, "guests can't own bots"),
        ):
            answer = chat.patch(path, full_name="Yorick", bot_owner_id=user_id)
            assert answer == bad(f"Failed to change owner, {problem}")
        with patch.dict(chat_app.settings.chat_quotas, bots_per_user=0):
            answer = chat.patch(path, full_name="Yorick", bot_owner_id=cast.othello.id)
        assert answer == bad("Too many bots (limit: 0).")
        assert chat.get(f"/users/{cast.reminder.id}")["user"]["full_name"] == "Reminder"

    def test_role_change_requires_the_right_role(
        self, chat: ChatClient, as_iago: ChatClient, path: str
    ) -> None:
        administrators = bad("Must be an organization administrator", "UNAUTHORIZED_PRINCIPAL")
        owners = bad("Must be an organization owner", "UNAUTHORIZED_PRINCIPAL")
        assert chat.patch(path, role=300) == administrators
        assert as_iago.patch(path, role=100) == owners
        assert as_iago.patch(path, role=300)["result"] == "success"

    def test_bot_with_more_rights_requires_them(
        self, as_iago: ChatClient, as_cordelia: ChatClient, cast: Cast, path: str,
        chat_database: Database,
    ) -> None:  # fmt: skip
        """Otherwise an administrator could gain rights by taking over a bot."""
        assert as_cordelia.patch(path, role=100)["result"] == "success"
        owners = bad("Must be an organization owner", "UNAUTHORIZED_PRINCIPAL")
        for method, end in (("PATCH", ""), ("DELETE", ""), ("POST", "/api_key/regenerate")):
            assert as_iago.call(method, path + end, {}) == owners
        creates = update(User).where(User.id == cast.reminder.id).values(can_create_users=True)
        chat_database.run(lambda s: s.execute(creates))
        assert as_cordelia.patch(path, bot_owner_id=cast.cordelia.id) == NOT_YOURS

    def test_rejects_callers_without_permission(
        self, chat: ChatClient, as_nobody: ChatClient, as_othello: ChatClient,
        as_polonius: ChatClient, as_reminder: ChatClient, as_hank: ChatClient, cast: Cast,
        path: str,
    ) -> None:  # fmt: skip
        strangers = (cast.hamlet, cast.hank)
        for method, end in (("PATCH", ""), ("DELETE", ""), ("POST", "/api_key/regenerate")):
            for client in (as_othello, as_polonius, as_reminder):
                assert client.call(method, path + end, {}) == NOT_YOURS
            assert as_hank.call(method, path + end, {}) == NO_BOT
            ids = [who.id for who in strangers] + [cast.notification_bot_id, 999_999]
            for bot_id in ids:
                assert chat.call(method, f"{PATH}/{bot_id}{end}", {}) == NO_BOT
            assert as_nobody.request(method, path + end, {}).status_code == 401


class TestRegenerateBotApiKey:
    def test_only_the_owner_receives_the_new_key(
        self, chat: ChatClient, as_iago: ChatClient, as_reminder: ChatClient, cast: Cast
    ) -> None:
        path = f"{PATH}/{cast.reminder.id}/api_key/regenerate"
        made = chat.post(path)
        assert made == {**DONE, "api_key": made["api_key"]}
        assert as_reminder.get("/users/me")["code"] == "UNAUTHORIZED"
        assert as_iago.post(path) == DONE
        [bot] = chat.get(PATH)["bots"]
        assert bot["api_key"] not in (made["api_key"], cast.reminder.key)
        again = {"user_id": cast.reminder.id, "api_key": bot["api_key"]}
        assert as_bot(chat, again, "reminder").get("/users/me")["code"] == "UNAUTHORIZED"
        renewed = Member(**{**_fields(cast.reminder), "key": bot["api_key"]})
        assert chat.acting_as(renewed).get("/users/me")["result"] == "success"


def _fields(member: Member) -> dict[str, Any]:
    return {name: getattr(member, name) for name in Member.__dataclass_fields__}


class TestDeactivateBot:
    def test_deactivates_once(
        self, chat: ChatClient, as_iago: ChatClient, as_reminder: ChatClient, cast: Cast,
        queues: Queues, chat_database: Database,
    ) -> None:  # fmt: skip
        place, path = queues.open(chat), f"{PATH}/{cast.reminder.id}"
        assert chat.delete(path) == DONE
        assert as_iago.delete(path) == DONE
        assert bot_events(place) == [update_of(cast.reminder.id, is_active=False)]
        assert as_reminder.get("/users/me")["msg"] == "Account is deactivated"
        assert [each["is_active"] for each in registered(chat)] == [False]
        assert len(audit_entries(chat_database, "user_deactivated")) == 1
        assert as_iago.post(f"/users/{cast.reminder.id}/reactivate") == DONE
        assert bot_events(place) == [update_of(cast.reminder.id, is_active=True)]
        assert len(chat.get(PATH)["bots"]) == 1

    def test_owner_receives_the_new_key_after_reactivation(
        self, chat: ChatClient, cast: Cast
    ) -> None:
        chat.delete(f"{PATH}/{cast.reminder.id}")
        back = chat.post(f"/users/{cast.reminder.id}/reactivate")
        assert back == {**DONE, "api_key": chat.get(PATH)["bots"][0]["api_key"]}
        renewed = replace(cast.reminder, key=back["api_key"])
        assert chat.acting_as(renewed).get("/users/me")["result"] == "success"
        assert back["api_key"] != cast.reminder.key

    def test_stored_values_are_deleted(
        self, chat: ChatClient, as_reminder: ChatClient, cast: Cast, chat_database: Database
    ) -> None:
        as_reminder.put("/bot_storage", storage={"k": "x"})
        assert chat.delete(f"{PATH}/{cast.reminder.id}") == DONE
        with chat_database.reading() as reader:
            assert reader.execute(select(BotStorage.key)).all() == []


class TestBotEvents:
    def test_new_and_former_administrators(
        self, chat: ChatClient, as_cordelia: ChatClient, as_othello: ChatClient, cast: Cast,
        queues: Queues,
    ) -> None:  # fmt: skip
        """A new administrator manages all bots, a former administrator only their own."""
        own_bot, other_bot = make(chat)["user_id"], cast.reminder.id
        assert (
            chat.patch(f"{PATH}/{other_bot}", bot_owner_id=cast.othello.id)["result"] == "success"
        )
        place = queues.open(chat)
        as_cordelia.patch(f"/users/{cast.hamlet.id}", role=200)
        [event] = bot_events(place)
        assert (event["op"], event["bot"]) == ("add", registered(as_othello)[0])
        assert [each["user_id"] for each in registered(chat)] == [other_bot, own_bot]
        as_cordelia.patch(f"/users/{cast.hamlet.id}", role=400)
        assert bot_events(place) == [{"op": "delete", "bot": {"user_id": other_bot}}]

    def test_bots_of_deactivated_users(
        self, as_cordelia: ChatClient, as_iago: ChatClient, cast: Cast, queues: Queues
    ) -> None:
        place, bot_id = queues.open(as_iago), cast.reminder.id
        form = {"actions": {"delete_profile": True}}
        assert as_cordelia.delete(f"/users/{cast.hamlet.id}", **form) == DONE
        dummy = gravatar(f"user{bot_id}@acme.example").replace("version=1", "version=2")
        assert bot_events(place) == [
            update_of(bot_id, is_active=False),
            update_of(bot_id, full_name="Deleted user"),
            update_of(bot_id, avatar_url=dummy),
        ]
        assert registered(as_iago)[0]["avatar_url"] == dummy
        back = as_cordelia.post(f"/users/{bot_id}/reactivate")
        assert back == {**DONE, "api_key": as_cordelia.get(PATH)["bots"][0]["api_key"]}
        known_again = gravatar(cast.reminder.email).replace("version=1", "version=2")
        assert bot_events(place) == [
            update_of(bot_id, is_active=True),
            update_of(bot_id, avatar_url=known_again),
            update_of(bot_id, owner_id=cast.cordelia.id),
        ]
        assert registered(as_iago)[0]["avatar_url"] == known_again


URL = "https://bots.example/oracle"


class TestOutgoingWebhooks:
    """Additions to the operations above.

    The calls are tested in tests/workers/test_bot_webhooks.py.
    """

    def test_creates_with_url_and_signing_secret(
        self, chat: ChatClient, as_iago: ChatClient, as_othello: ChatClient, cast: Cast,
        queues: Queues,
    ) -> None:  # fmt: skip
        places = [queues.open(client) for client in (chat, as_iago)]
        made = make(chat, bot_type=3, payload_url=URL, interface_type=2)
        bot_id, [service] = made["user_id"], made["services"]
        assert service == {
            "base_url": URL, "interface": 2, "token": service["token"],
            "signing_secret": service["signing_secret"],
        }  # fmt: skip
        assert len(service["token"]) == 32
        assert service["signing_secret"].startswith("whsec_")
        assert chat.get(PATH)["bots"][-1]["services"] == [service]
        shown = {"base_url": URL, "interface": 2}
        add = {"op": "add", "bot": managed(bot_id, cast.hamlet, bot_type=3)}
        told_of = [add, update_of(bot_id, services=[shown])]
        assert [bot_events(place) for place in places] == [told_of, told_of]
        assert registered(as_iago)[-1]["services"] == [shown]

        moved = as_iago.patch(f"{PATH}/{bot_id}", service_payload_url=f"{URL}/2")
        assert (moved["service_payload_url"], moved["service_interface"]) == (f"{URL}/2", 2)
        [event] = bot_events(places[0])
        assert event == update_of(bot_id, services=[{**shown, "base_url": f"{URL}/2"}])
        assert chat.patch(f"{PATH}/{bot_id}", full_name="Y2")["service_interface"] == 2
        chat.patch(f"{PATH}/{bot_id}", bot_owner_id=cast.othello.id)
        [moved_bot] = as_othello.get(PATH)["bots"]
        assert moved_bot["services"] == [{**service, "base_url": f"{URL}/2"}]
        assert registered(as_othello)[0]["services"] == [{**shown, "base_url": f"{URL}/2"}]

    def test_rejects_internal_addresses(
        self, chat: ChatClient, as_othello: ChatClient, as_polonius: ChatClient, cast: Cast
    ) -> None:
        form = {"full_name": "Oracle", "short_name": "oracle", "bot_type": 3}
        missing = chat.post(PATH, **form)
        assert (missing["code"], missing["var_name"]) == ("REQUEST_VARIABLE_MISSING", "payload_url")
        path = f"{PATH}/{make(chat, bot_type=3, payload_url=URL)['user_id']}"
        for url, problem in (
            ("x", "is not an https URL with a plain host name"),
            ("http://bots.example:8080/", "does not begin with https://"),
            ("https://10.0.0.1/", "resolves to an address that is not public"),
            ("https://bots.example:80/", "has a port that is neither 443 nor above 1023"),
            (
                f"https://bots.example/{'x' * 2000}",
                "is not an https URL with a plain host name",
            ),
        ):
            refused = bad(f"payload_url {problem}")
            assert chat.post(PATH, **form, payload_url=url) == refused
            assert chat.patch(path, service_payload_url=url) == refused
        none = bad("This bot has no address.")
        assert chat.patch(f"{PATH}/{cast.reminder.id}", service_payload_url=URL) == none
        assert chat.patch(f"{PATH}/{cast.reminder.id}", service_interface=1) == none
        assert as_othello.patch(path, service_payload_url="x") == NOT_YOURS
        assert chat.patch(f"{PATH}/999999", service_payload_url="x") == NO_BOT
        assert as_polonius.post(PATH, **form) == bad("Not allowed for guest users")
