"""Operations of the tag mobile_push, with a local relay."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson
import pytest
from sqlalchemy import select, text

from adapters.push_relay.relay import HttpPushRelay
from demo.local_server import LocalServer
from demo.phone import Phone
from demo.push_relay import LocalRelay
from models.chat.tables import ClientDevice, Event
from specd.db import Database
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatApp, ChatClient
from tests.support.chat.people import Cast
from tests.support.frozen_clock import FrozenClock

REGISTER = "/mobile_push/register"
TEST = "/mobile_push/e2ee/test_notification"
NO_DEVICE = bad("No active registered push device", "NO_ACTIVE_PUSH_DEVICE")
NOT_FOR_BOTS = "This endpoint does not accept bot requests."
ADMIN = (403, "ADMIN_ACTION_REQUIRED")
UNREACHABLE = (502, "FAILED_TO_CONNECT_BOUNCER")
FAILED = (502, "INTERNAL_SERVER_ERROR_ON_BOUNCER")
FAULTS = [
    ("forbidden", ADMIN),
    ("down", FAILED),
    ("garbage", UNREACHABLE),
    ("redirect", UNREACHABLE),
    ("flood", UNREACHABLE),
    ("break", UNREACHABLE),
    ("hang", UNREACHABLE),
    ("refused", UNREACHABLE),
    ("credentials", ADMIN),
]


class Relay(LocalRelay):
    """A relay whose push service can drop a token."""

    def uninstall(self, token: str) -> None:
        with self._turn:
            self._tokens = {at: known for at, known in self._tokens.items() if known != token}


@dataclass
class Stage:
    """The relay, its server, and the application that uses it."""

    relay: Relay
    server: LocalServer
    app: ChatApp

    def connect(
        self, url: str | None = None, *, key: str = "relay key", timeout_s: float = 10
    ) -> None:
        url = self.server.url if url is None else url
        self.app.push.target = HttpPushRelay(url, organization="acme", key=key, timeout_s=timeout_s)

    def play(self, fault: str) -> None:
        """Make the relay fail in one way, or not at all."""
        self.server.fault = "none"
        self.connect()
        match fault:
            case "hang":
                self.connect(timeout_s=0.1)
                self.server.fault = fault
            case "refused":
                self.connect("http://127.0.0.1:9")
            case "credentials":
                self.connect(key="another key")
            case _:
                self.server.fault = fault


@pytest.fixture
def stage(chat_app: ChatApp) -> Iterator[Stage]:
    relay = Relay(organization="acme", key="relay key")
    server = LocalServer(relay)
    server.start()
    before = chat_app.push.target
    made = Stage(relay, server, chat_app)
    made.connect()
    yield made
    chat_app.push.target = before
    server.close()


def new_device(client: ChatClient) -> int:
    return int(client.post("/register_client_device")["device_id"])


def set_up(client: ChatClient, stage: Stage, phone: Phone) -> int:
    """Register a device for push notifications and return its id."""
    device_id = new_device(client)
    fields = phone.key_fields() | phone.token_fields(stage.relay.public_key)
    assert client.post(REGISTER, device_id=device_id, **fields) == DONE
    return device_id


def devices(client: ChatClient) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/users/me/devices")["devices"]
    return found


def device_events(database: Database) -> list[dict[str, Any]]:
    with database.reading() as reader:
        rows = reader.execute(
            select(Event.payload, Event.user_ids).where(Event.type == "device").order_by(Event.id)
        )
        return [orjson.loads(row.payload) | {"to": orjson.loads(row.user_ids)} for row in rows]


class TestRegisterClientDevice:
    def test_returns_an_id(self, chat: ChatClient, chat_database: Database, cast: Cast) -> None:
        answer = chat.post("/register_client_device")
        device_id = answer["device_id"]
        assert answer == {**DONE, "device_id": device_id}
        assert chat.post("/register_client_device")["device_id"] > device_id
        first = device_events(chat_database)[0]
        assert first == {"op": "add", "device_id": device_id, "to": [cast.hamlet.id]}

    def test_requires_a_user(self, as_reminder: ChatClient, as_nobody: ChatClient) -> None:
        assert as_reminder.post("/register_client_device")["msg"] == NOT_FOR_BOTS
        assert as_nobody.post("/register_client_device")["code"] == "UNAUTHORIZED"


class TestRemoveClientDevice:
    def test_removes_the_device(
        self, chat: ChatClient, stage: Stage, chat_database: Database, cast: Cast
    ) -> None:
        device_id = set_up(chat, stage, Phone())
        assert chat.post("/remove_client_device", device_id=device_id) == DONE
        assert devices(chat) == {}
        assert chat.post(TEST) == NO_DEVICE
        last = device_events(chat_database)[-1]
        assert last == {"op": "remove", "device_id": device_id, "to": [cast.hamlet.id]}

    def test_rejects_invalid_requests(
        self,
        chat: ChatClient,
        as_hank: ChatClient,
        as_reminder: ChatClient,
        as_nobody: ChatClient,
    ) -> None:
        device_id = new_device(chat)
        for client, sent, msg in (
            (as_hank, device_id, "Invalid `device_id`"),
            (chat, device_id + 1, "Invalid `device_id`"),
            (chat, 2**31, "device_id is too large"),
            (chat, None, "Missing 'device_id' argument"),
            (as_reminder, "x", NOT_FOR_BOTS),
        ):
            assert client.post("/remove_client_device", device_id=sent)["msg"] == msg
        assert as_nobody.post("/remove_client_device", device_id=1)["code"] == "UNAUTHORIZED"
        assert list(devices(chat)) == [str(device_id)]


class TestListOwnDevices:
    def test_lists_only_own_devices_without_keys(
        self, chat: ChatClient, as_othello: ChatClient, stage: Stage, clock: FrozenClock
    ) -> None:
        phone = Phone("apns")
        device_id = set_up(chat, stage, phone)
        bare = new_device(chat)
        nothing = {
            "push_key_id": None,
            "push_token_id": None,
            "pending_push_token_id": None,
            "push_token_last_updated_timestamp": None,
            "push_registration_error_code": None,
        }
        known = {
            "push_key_id": phone.push_key_id,
            "push_token_id": phone.token_id,
            "push_token_last_updated_timestamp": int(clock.now().timestamp()),
        }
        told = {**DONE, "devices": {str(device_id): nothing | known, str(bare): nothing}}
        assert chat.get("/users/me/devices") == told
        assert devices(as_othello) == {}

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.get("/users/me/devices")["code"] == "UNAUTHORIZED"


class TestRegisterPushDevice:
    def test_registers_the_token_at_the_relay(
        self, chat: ChatClient, stage: Stage, chat_database: Database, cast: Cast
    ) -> None:
        phone = Phone()
        device_id = set_up(chat, stage, phone)
        update = {"op": "update", "device_id": device_id, "to": [cast.hamlet.id]}
        began, ended = device_events(chat_database)[1:]
        at = began.pop("push_token_last_updated_timestamp")
        assert at == devices(chat)[str(device_id)]["push_token_last_updated_timestamp"]
        assert began == update | {
            "push_key_id": phone.push_key_id,
            "pending_push_token_id": phone.token_id,
            "push_registration_error_code": None,
        }
        assert ended == update | {"push_token_id": phone.token_id, "pending_push_token_id": None}

    def test_second_registration_changes_nothing(
        self, chat: ChatClient, stage: Stage, chat_database: Database
    ) -> None:
        phone = Phone()
        device_id = set_up(chat, stage, phone)
        before = device_events(chat_database)
        stage.play("down")
        fields = phone.key_fields() | phone.token_fields(stage.relay.public_key)
        assert chat.post(REGISTER, device_id=device_id, **fields) == DONE
        assert device_events(chat_database) == before

    def test_replaces_the_key_or_the_token(self, chat: ChatClient, stage: Stage) -> None:
        phone = Phone()
        device_id = set_up(chat, stage, phone)
        old_token = phone.token
        phone.renew_key()
        assert chat.post(REGISTER, device_id=device_id, **phone.key_fields()) == DONE
        assert chat.post(TEST) == DONE
        phone.token = "another token"
        token = phone.token_fields(stage.relay.public_key)
        assert chat.post(REGISTER, device_id=device_id, **token) == DONE
        assert chat.post(TEST) == DONE
        for at in (old_token, phone.token):
            (payload,) = stage.relay.delivered(at)
            assert phone.read(payload) is not None

    def test_stores_the_relays_error(
        self, chat: ChatClient, stage: Stage, chat_database: Database
    ) -> None:
        phone = Phone()
        device_id = new_device(chat)
        good = phone.key_fields() | phone.token_fields(stage.relay.public_key)
        others = LocalRelay(organization="", key="").public_key
        for wrong, code in (
            ({"bouncer_public_key": others}, "INVALID_BOUNCER_PUBLIC_KEY"),
            ({"encrypted_push_registration": "AAAA"}, "INVALID_ENCRYPTED_PUSH_REGISTRATION"),
            ({"token_id": Phone().token_id}, "BAD_REQUEST"),
            (phone.token_fields(stage.relay.public_key, at=1_700_000_000), "REQUEST_EXPIRED"),
        ):
            assert chat.post(REGISTER, device_id=device_id, **good | wrong) == DONE
            told = devices(chat)[str(device_id)]
            assert (told["push_registration_error_code"], told["push_token_id"]) == (code, None)
            assert device_events(chat_database)[-1]["push_registration_error_code"] == code
            assert chat.post(TEST) == NO_DEVICE
        assert chat.post(REGISTER, device_id=device_id, **good) == DONE
        assert devices(chat)[str(device_id)]["push_registration_error_code"] is None
        assert chat.post(TEST) == DONE

    def test_failed_registration_can_be_repeated(self, chat: ChatClient, stage: Stage) -> None:
        phone = Phone()
        fields = phone.key_fields() | phone.token_fields(stage.relay.public_key)
        form = {"device_id": new_device(chat), **fields}
        for fault, expected in FAULTS:
            stage.play(fault)
            response = chat.request("POST", REGISTER, form)
            assert (response.status_code, response.json()["code"]) == expected, fault
            assert devices(chat)[str(form["device_id"])]["pending_push_token_id"] is None
        stage.play("none")
        assert chat.post(REGISTER, **form) == DONE
        assert chat.post(TEST) == DONE

    def test_concurrent_registrations_are_serialized(
        self, chat: ChatClient, stage: Stage, chat_database: Database, clock: FrozenClock
    ) -> None:
        phone = Phone()
        device_id = set_up(chat, stage, phone)
        stuck = text("UPDATE client_device SET pending_push_token_id = 'AAAAAAAAAAA='")
        chat_database.run(lambda session: session.execute(stuck))
        phone.token = "another token"
        form = {"device_id": device_id, **phone.token_fields(stage.relay.public_key)}
        refusal = chat.post(REGISTER, **form)
        assert refusal["msg"] == "A registration for the device already in progress."
        clock.advance(seconds=61)
        assert chat.post(REGISTER, **form) == DONE

    @pytest.mark.reaches("PUSH_SERVICE_NOT_CONFIGURED")
    def test_rejects_invalid_requests(
        self,
        chat: ChatClient,
        as_othello: ChatClient,
        as_reminder: ChatClient,
        as_nobody: ChatClient,
        stage: Stage,
    ) -> None:
        phone = Phone()
        device_id = new_device(chat)
        key, token = phone.key_fields(), phone.token_fields(stage.relay.public_key)
        missing = (
            "Missing parameters: must provide either all push key fields, all token fields, "
            "or both."
        )
        number = "Invalid push_key_id: Value error, Not a valid unsigned 32-bit integer"
        cases: list[tuple[dict[str, Any], str]] = [
            ({}, missing),
            ({"push_key": key["push_key"]}, missing),
            (token | {"token_kind": None}, missing),
            (key, "No push registration exists to rotate key for."),
            (token, "No push registration exists to rotate token for."),
            (key | token | {"push_key": "@abcdefg"}, "Invalid `push_key`"),
            (key | token | {"push_key": "abcd"}, "Invalid `push_key`"),
            (key | token | {"push_key": "Mj" + key["push_key"][2:]}, "Invalid `push_key`"),
            (key | token | {"push_key": key["push_key"] + "é"}, "Invalid `push_key`"),
            (key | token | {"push_key_id": -1}, number),
            (key | token | {"push_key_id": 2**32}, number),
            (key | token | {"token_id": "@abcdefg"}, "`token_id` is not Base64 encoded"),
            (key | token | {"token_id": "AAAA"}, "`token_id` is not Base64 encoded"),
            (key | token | {"token_kind": "sms"}, "Invalid token_kind"),
            (key | token | {"bouncer_public_key": "x" * 1001},
             "bouncer_public_key is too long (limit: 1000 characters)"),
            (key | token | {"encrypted_push_registration": "x" * 10_001},
             "encrypted_push_registration is too long (limit: 10000 characters)"),
            ({"device_id": device_id + 1} | key | token, "Invalid `device_id`"),
            ({"device_id": None}, "Missing 'device_id' argument"),
        ]  # fmt: skip
        for fields, msg in cases:
            form = {"device_id": device_id, **fields}
            assert chat.post(REGISTER, **form)["msg"] == msg, fields
        form = {"device_id": device_id, **key, **token}
        assert as_othello.post(REGISTER, **form)["msg"] == "Invalid `device_id`"
        assert as_reminder.post(REGISTER)["msg"] == NOT_FOR_BOTS
        assert as_nobody.post(REGISTER, **form)["code"] == "UNAUTHORIZED"
        highest = form | {"push_key_id": 2**32 - 1}
        assert chat.post(REGISTER, **highest) == DONE
        stage.connect("")
        assert chat.post(REGISTER, **form)["code"] == "PUSH_SERVICE_NOT_CONFIGURED"

    def test_push_key_is_stored_sealed(
        self, chat: ChatClient, stage: Stage, chat_database: Database
    ) -> None:
        phone = Phone()
        set_up(chat, stage, phone)
        with chat_database.reading() as reader:
            (device,) = reader.execute(select(ClientDevice.__table__)).all()
        assert phone.key_fields()["push_key"] not in repr(device)
        assert phone.token not in repr(device)
        assert phone.key_fields()["push_key"] not in repr(device_events(chat_database))


class TestSendTestPushNotification:
    def test_reaches_every_device_encrypted(
        self, chat: ChatClient, stage: Stage, cast: Cast, clock: FrozenClock
    ) -> None:
        phones = [Phone("fcm"), Phone("apns")]
        for phone in phones:
            set_up(chat, stage, phone)
        assert chat.post(TEST) == DONE
        for phone, other in (phones, phones[::-1]):
            (payload,) = stage.relay.delivered(phone.token)
            assert b"Acme" not in orjson.dumps(payload)
            assert other.read(payload) is None
            assert phone.read(payload) == {
                "realm_name": "Acme",
                "realm_url": "http://acme.example",
                "time": int(clock.now().timestamp()),
                "type": "test",
                "user_id": cast.hamlet.id,
            }

    def test_reaches_one_device(
        self, chat: ChatClient, as_othello: ChatClient, as_hank: ChatClient, stage: Stage
    ) -> None:
        own_phone, other, foreign_phone = Phone(), Phone(), Phone()
        device_id = set_up(chat, stage, own_phone)
        set_up(chat, stage, other)
        foreign = set_up(as_othello, stage, foreign_phone)
        assert chat.post(TEST, device_id=device_id) == DONE
        told = [
            len(stage.relay.delivered(phone.token)) for phone in (own_phone, other, foreign_phone)
        ]
        assert told == [1, 0, 0]
        for client, sent in ((chat, foreign), (as_hank, device_id), (chat, 2**31 - 1)):
            assert client.post(TEST, device_id=sent) == NO_DEVICE
        assert chat.post(TEST, device_id=2**31)["msg"] == "device_id is too large"

    @pytest.mark.reaches("NO_ACTIVE_PUSH_DEVICE")
    def test_requires_an_active_device(self, chat: ChatClient, stage: Stage) -> None:
        response = chat.request("POST", TEST)
        assert (response.status_code, response.json()) == (400, NO_DEVICE)
        new_device(chat)
        assert chat.post(TEST) == NO_DEVICE

    def test_deactivates_devices_without_token(
        self, chat: ChatClient, stage: Stage, chat_database: Database, cast: Cast
    ) -> None:
        kept, gone = Phone(), Phone()
        kept_id, gone_id = set_up(chat, stage, kept), set_up(chat, stage, gone)
        stage.relay.uninstall(gone.token)
        assert chat.post(TEST) == DONE
        assert devices(chat)[str(gone_id)]["push_token_id"] is None
        last = {"op": "update", "device_id": gone_id, "push_token_id": None, "to": [cast.hamlet.id]}
        assert device_events(chat_database)[-1] == last
        stage.relay.uninstall(kept.token)
        assert chat.post(TEST, device_id=kept_id) == NO_DEVICE
        assert devices(chat)[str(kept_id)]["push_token_id"] is None

    @pytest.mark.reaches(
        "ADMIN_ACTION_REQUIRED", "FAILED_TO_CONNECT_BOUNCER", "INTERNAL_SERVER_ERROR_ON_BOUNCER"
    )
    def test_reports_errors_of_the_relay(self, chat: ChatClient, stage: Stage) -> None:
        texts = {
            ADMIN: "Push notification configuration issue on server, contact the server "
            "administrator or retry later.",
            UNREACHABLE: "Network error while connecting to Zulip push notification service.",
            FAILED: "Internal server error on Zulip push notification service, retry later.",
        }
        phone = Phone()
        set_up(chat, stage, phone)
        for fault, (status, code) in FAULTS:
            stage.play(fault)
            response = chat.request("POST", TEST)
            told = bad(texts[status, code], code)
            assert (response.status_code, response.json()) == (status, told), fault
        stage.play("none")
        assert chat.post(TEST) == DONE

    def test_requires_a_relay(self, chat: ChatClient, stage: Stage) -> None:
        set_up(chat, stage, Phone())
        assert chat.get("/server_settings")["push_notifications_enabled"] is True
        stage.connect("")
        assert chat.request("POST", TEST).status_code == 403
        assert chat.get("/server_settings")["push_notifications_enabled"] is False

    def test_requires_a_user(self, as_reminder: ChatClient, as_nobody: ChatClient) -> None:
        response = as_reminder.request("POST", TEST, {"device_id": "x"})
        assert (response.status_code, response.json()["msg"]) == (400, NOT_FOR_BOTS)
        assert as_nobody.post(TEST)["code"] == "UNAUTHORIZED"
