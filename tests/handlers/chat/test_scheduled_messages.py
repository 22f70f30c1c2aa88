"""Operations of the tag scheduled_messages."""

from typing import Any

import orjson
import pytest
from sqlalchemy import delete, func, select, update

from models.chat.tables import Channel, Event, IdempotencyKey, ScheduledMessage
from specd.db import Database
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel
from tests.support.chat.people import Cast
from tests.support.frozen_clock import FrozenClock

NOW = 1_795_262_400
LATER = NOW + 60
PAST = "Scheduled delivery time must be in the future."
PATH = "/scheduled_messages"
TIME = "scheduled_delivery_timestamp"


@pytest.fixture
def denmark(chat_database: Database, cast: Cast) -> int:
    """A public channel of Hamlet and Othello."""
    people = (cast.hamlet, cast.othello)
    return chat_database.run(lambda s: make_channel(s, cast, "Denmark", subscribers=people))


def form(channel_id: int, **over: Any) -> dict[str, Any]:
    """Return the form of a message to the channel, due in a minute."""
    return {
        "type": "channel",
        "to": channel_id,
        "topic": "castle",
        "content": "To be",
        "scheduled_delivery_timestamp": LATER,
        **over,
    }


def direct(*users: int, **over: Any) -> dict[str, Any]:
    return form(0, **{"type": "direct", "to": list(users), "topic": None, **over})


def schedule(client: ChatClient, parameters: dict[str, Any]) -> int:
    """Schedule a message and return its id."""
    answer = client.post(PATH, **parameters)
    assert answer == {**DONE, "scheduled_message_id": answer.get("scheduled_message_id")}, answer
    return int(answer["scheduled_message_id"])


def record(message_id: int, channel_id: int, **over: Any) -> dict[str, Any]:
    """Return the object of a message that was scheduled with `form`."""
    return {
        "scheduled_message_id": message_id,
        "type": "stream",
        "to": channel_id,
        "topic": "castle",
        "content": "To be",
        "rendered_content": "<p>To be</p>",
        "scheduled_delivery_timestamp": LATER,
        "failed": False,
        **over,
    }


def record_to(message_id: int, users: list[int], **over: Any) -> dict[str, Any]:
    fields = record(message_id, 0, type="private", to=users, **over)
    fields.pop("topic")
    return fields


def listed(client: ChatClient) -> list[dict[str, Any]]:
    answer = client.get(PATH)
    assert answer == {**DONE, "scheduled_messages": answer["scheduled_messages"]}
    records: list[dict[str, Any]] = answer["scheduled_messages"]
    return records


def events_of(database: Database) -> list[tuple[str, dict[str, Any], list[int]]]:
    with database.reading() as reader:
        rows = reader.execute(select(Event.type, Event.payload, Event.user_ids).order_by(Event.id))
        return [(kind, orjson.loads(body), orjson.loads(users)) for kind, body, users in rows]


def end(database: Database, of_id: int, **columns: Any) -> None:
    """Set the final state, as the worker does."""
    wanted = update(ScheduledMessage).where(ScheduledMessage.id == of_id)
    database.run(lambda s: s.execute(wanted.values(**columns)))


def set_columns(database: Database, table: Any, row_id: int, **columns: Any) -> None:
    database.run(lambda s: s.execute(update(table).where(table.id == row_id).values(**columns)))


class TestListScheduledMessages:
    def test_lists_only_own_items_soonest_first(
        self, chat: ChatClient, as_othello: ChatClient, denmark: int, cast: Cast
    ) -> None:
        late = schedule(chat, form(denmark, scheduled_delivery_timestamp=LATER + 5))
        soon = schedule(chat, direct(cast.othello.id))
        schedule(as_othello, form(denmark))
        assert listed(chat) == [
            record_to(soon, [cast.othello.id]),
            record(late, denmark, scheduled_delivery_timestamp=LATER + 5),
        ]

    def test_failed_messages_have_a_reason_and_sent_ones_are_hidden(
        self, chat: ChatClient, denmark: int, chat_database: Database
    ) -> None:
        failed, sent = schedule(chat, form(denmark)), schedule(chat, form(denmark))
        end(chat_database, failed, state="failed", failure="Why")
        end(chat_database, sent, state="sent", message_id=1)
        assert listed(chat) == [record(failed, denmark, failed=True, failure_message="Why")]

    def test_empty_list(self, chat: ChatClient) -> None:
        assert chat.get(PATH, colour="red") == {
            **DONE,
            "scheduled_messages": [],
            "ignored_parameters_unsupported": ["colour"],
        }

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.request("GET", PATH).status_code == 401


class TestCreateScheduledMessage:
    @pytest.mark.parametrize("kind", ["channel", "stream"])
    def test_schedules_to_a_channel(
        self,
        chat: ChatClient,
        denmark: int,
        cast: Cast,
        chat_database: Database,
        kind: str,
    ) -> None:
        made = schedule(chat, form(denmark, type=kind))
        assert listed(chat) == [record(made, denmark)]
        added = {"op": "add", "scheduled_messages": [record(made, denmark)]}
        assert events_of(chat_database) == [("scheduled_messages", added, [cast.hamlet.id])]

    @pytest.mark.parametrize("kind", ["direct", "private"])
    def test_recipients_are_unique_and_have_no_topic(
        self, chat: ChatClient, cast: Cast, kind: str
    ) -> None:
        people = [cast.othello.id, cast.iago.id, cast.othello.id, cast.hamlet.id]
        made = schedule(chat, direct(*people, type=kind) | {"topic": "ignored"})
        assert listed(chat) == [record_to(made, sorted([cast.iago.id, cast.othello.id]))]

    def test_schedules_to_oneself(self, chat: ChatClient, cast: Cast) -> None:
        made = schedule(chat, direct(cast.hamlet.id))
        assert listed(chat) == [record_to(made, [cast.hamlet.id])]

    def test_equal_requests_schedule_two_messages(self, chat: ChatClient, denmark: int) -> None:
        first, second = schedule(chat, form(denmark)), schedule(chat, form(denmark))
        assert [r["scheduled_message_id"] for r in listed(chat)] == [first, second]

    def test_guests_and_bots_are_allowed(
        self, as_reminder: ChatClient, as_polonius: ChatClient, denmark: int, cast: Cast
    ) -> None:
        assert schedule(as_reminder, form(denmark))
        assert schedule(as_polonius, direct(cast.hamlet.id))

    def test_reports_unknown_parameters(self, chat: ChatClient, denmark: int) -> None:
        answer = chat.post(PATH, **form(denmark, colour="red", client="website"))
        assert answer["ignored_parameters_unsupported"] == ["colour"]

    @pytest.mark.parametrize("name", ["content", "scheduled_delivery_timestamp", "to", "type"])
    def test_requires_parameters(self, chat: ChatClient, denmark: int, name: str) -> None:
        assert chat.post(PATH, **form(denmark, **{name: None})) == bad(
            f"Missing '{name}' argument", "REQUEST_VARIABLE_MISSING", var_name=name
        )

    @pytest.mark.parametrize(
        ("over", "msg"),
        [
            ({"type": "huddle"}, "Invalid type"),
            ({"to": "Denmark"}, "to is not valid JSON"),
            ({"to": '"Denmark"'}, "to is not an integer"),
            ({"to": "true"}, "to is not an integer"),
            ({"to": "-1"}, "to is too small"),
            ({"to": "2147483648"}, "to is too large"),
            ({"to": '["x"]'}, "to[0] is not an integer"),
            ({"to": "[3]"}, "Invalid data type for channel ID"),
            ({"type": "direct", "to": "5"}, "Invalid data type for recipients"),
            ({"type": "direct", "to": "[]"}, "Message must have recipients"),
            ({"type": "direct", "to": "[123456]"}, "Invalid user ID 123456"),
            ({"topic": None}, "Missing topic"),
            ({"topic": "a\x07"}, "Invalid character in topic, at position 2!"),
            ({"content": " \n "}, "Message must not be empty"),
            ({TIME: "soon"}, f"{TIME} is not valid JSON"),
            ({TIME: "1.5"}, f"{TIME} is not an integer"),
            ({TIME: 253402300800}, f"{TIME} is too large"),
            ({TIME: -(2**70)}, f"{TIME} is too small"),
            ({"read_by_sender": "1"}, "read_by_sender is not a boolean"),
        ],
    )  # fmt: skip
    def test_rejects_invalid_requests(
        self, chat: ChatClient, denmark: int, over: dict[str, Any], msg: str
    ) -> None:
        assert chat.post(PATH, **form(denmark, **over)) == bad(msg)
        assert listed(chat) == []

    def test_requires_a_time_in_the_future(self, chat: ChatClient, denmark: int) -> None:
        for timestamp in (NOW, NOW - 1, 0, -62135596800):
            over = {"scheduled_delivery_timestamp": timestamp}
            assert chat.post(PATH, **form(denmark, **over)) == bad(PAST)
        assert schedule(chat, form(denmark, scheduled_delivery_timestamp=NOW + 1))
        assert schedule(chat, form(denmark, scheduled_delivery_timestamp=253402300799))

    def test_time_is_checked_before_the_recipient(self, chat: ChatClient) -> None:
        assert chat.post(PATH, **form(999, scheduled_delivery_timestamp=NOW)) == bad(PAST)

    def test_unknown_channel_is_rejected(
        self, chat: ChatClient, denmark: int, cast: Cast, chat_database: Database
    ) -> None:
        set_columns(chat_database, Channel, denmark, realm_id=cast.globex_id)
        for channel_id in (999, denmark):
            response = chat.request("POST", PATH, form(channel_id))
            assert response.status_code == 400
            assert response.json() == bad(
                f"Channel with ID '{channel_id}' does not exist",
                "STREAM_DOES_NOT_EXIST",
                stream_id=channel_id,
            )

    def test_private_channel_without_access_is_rejected(
        self, as_iago: ChatClient, chat: ChatClient, denmark: int, chat_database: Database
    ) -> None:
        set_columns(chat_database, Channel, denmark, invite_only=True)
        assert as_iago.post(PATH, **form(denmark)) == bad(
            "Not authorized to send to channel 'Denmark'"
        )
        assert schedule(chat, form(denmark))

    def test_archived_channel_is_rejected(
        self, chat: ChatClient, denmark: int, chat_database: Database
    ) -> None:
        set_columns(chat_database, Channel, denmark, is_archived=True)
        answer = chat.post(PATH, **form(denmark))
        assert answer == bad("Not authorized to send to channel 'Denmark'")

    def test_other_organizations_and_deactivated_users_are_rejected(
        self, chat: ChatClient, cast: Cast
    ) -> None:
        answer = chat.post(PATH, **direct(cast.hank.id))
        assert answer == bad(f"Invalid user ID {cast.hank.id}")
        answer = chat.post(PATH, **direct(cast.ophelia.id))
        assert answer == bad("'ophelia@acme.example' is no longer using Zulip.")

    @pytest.mark.parametrize("topic", ["", "(no topic)", "general chat", " General Chat "])
    def test_empty_topic_has_two_names(
        self, chat: ChatClient, denmark: int, chat_database: Database, topic: str
    ) -> None:
        made = schedule(chat, form(denmark, topic=topic))
        assert listed(chat) == [record(made, denmark, topic="")]
        set_columns(chat_database, Channel, denmark, topics_policy="disable_empty_topic")
        answer = chat.post(PATH, **form(denmark, topic=topic))
        assert answer == bad("Sending messages to general chat is not allowed in this channel.")

    def test_topic_length_is_limited_to_60_characters(self, chat: ChatClient, denmark: int) -> None:
        schedule(chat, form(denmark, topic="é" * 60))
        schedule(chat, form(denmark, topic="é" * 61))
        assert [r["topic"] for r in listed(chat)] == ["é" * 60, "é" * 57 + "..."]

    def test_content_length_is_limited_to_10000_characters(
        self, chat: ChatClient, denmark: int
    ) -> None:
        schedule(chat, form(denmark, content="é" * 10_000))
        schedule(chat, form(denmark, content="é" * 10_001))
        whole, cut = (r["content"] for r in listed(chat))
        assert whole == "é" * 10_000
        assert cut == "é" * 9_980 + "\n[message truncated]"

    @pytest.mark.parametrize(
        ("client", "to_self", "sent", "expected"),
        [
            ("website", False, None, True),
            ("ZulipPython", False, None, False),
            (None, False, None, False),
            ("ZulipMobile", True, None, False),
            ("ZulipMobile", False, False, False),
            (None, True, True, True),
        ],
    )
    def test_senders_copy_is_read_for_interactive_clients(
        self,
        chat: ChatClient,
        cast: Cast,
        chat_database: Database,
        client: str | None,
        to_self: bool,
        sent: bool | None,
        expected: bool,
    ) -> None:
        to = cast.hamlet.id if to_self else cast.othello.id
        schedule(chat, direct(to, client=client, read_by_sender=sent))
        with chat_database.reading() as reader:
            row = reader.execute(select(ScheduledMessage.read_by_sender, ScheduledMessage.client))
            assert row.one() == (expected, client or "")

    def test_rejects_missing_credentials(self, as_nobody: ChatClient, denmark: int) -> None:
        response = as_nobody.request("POST", PATH, form(denmark))
        assert response.status_code == 401
        assert response.json()["code"] == "UNAUTHORIZED"


class TestIdempotencyKeys:
    KEY = {"Idempotency-Key": "order-1042:1"}  # noqa: RUF012

    def test_repeated_request_has_an_identical_response(
        self, chat: ChatClient, denmark: int, clock: FrozenClock
    ) -> None:
        first = chat.request("POST", PATH, form(denmark, colour="x"), headers=self.KEY)
        assert "Idempotent-Replayed" not in first.headers
        clock.advance(seconds=3600)
        again = chat.request("POST", PATH, form(denmark, colour="x"), headers=self.KEY)
        assert (again.status_code, again.content) == (200, first.content)
        assert again.headers["Idempotent-Replayed"] == "true"
        assert len(listed(chat)) == 1

    def test_concurrent_requests_schedule_one_message(self, chat: ChatClient, denmark: int) -> None:
        requests = [chat.build("POST", PATH, form(denmark), headers=self.KEY) for _ in range(8)]
        assert len({response.content for response in chat.at_once(*requests)}) == 1
        assert len(listed(chat)) == 1

    @pytest.mark.reaches("IDEMPOTENCY_KEY_REUSED")
    def test_other_request_is_rejected(self, chat: ChatClient, denmark: int) -> None:
        chat.request("POST", PATH, form(denmark), headers=self.KEY)
        for over in ({"content": "Not to be"}, {"read_by_sender": True}, {"topic": "Castle"}):
            response = chat.request("POST", PATH, form(denmark, **over), headers=self.KEY)
            assert response.status_code == 422
            assert response.json() == bad(
                (
                    "This Idempotency-Key was used for a different request; use a fresh key for"
                    " each request."
                ),
                "IDEMPOTENCY_KEY_REUSED",
            )
        assert len(listed(chat)) == 1

    def test_key_of_another_user_is_independent(
        self, chat: ChatClient, as_othello: ChatClient, denmark: int
    ) -> None:
        for client in (chat, as_othello):
            response = client.request("POST", PATH, form(denmark), headers=self.KEY)
            assert "Idempotent-Replayed" not in response.headers
            assert len(listed(client)) == 1

    def test_rejection_of_a_past_time_is_replayed(
        self, chat: ChatClient, denmark: int, chat_database: Database
    ) -> None:
        past = form(denmark, scheduled_delivery_timestamp=NOW)
        first = chat.request("POST", PATH, past, headers=self.KEY)
        again = chat.request("POST", PATH, past, headers=self.KEY)
        assert (first.status_code, first.json()) == (400, bad(PAST))
        assert (again.status_code, again.content) == (400, first.content)
        assert again.headers["Idempotent-Replayed"] == "true"

    def test_temporary_rejection_leaves_the_key_unused(
        self, chat: ChatClient, denmark: int, chat_database: Database
    ) -> None:
        set_columns(chat_database, Channel, denmark, is_archived=True)
        refused = chat.request("POST", PATH, form(denmark), headers=self.KEY)
        assert refused.status_code == 400
        set_columns(chat_database, Channel, denmark, is_archived=False)
        assert chat.request("POST", PATH, form(denmark), headers=self.KEY).status_code == 200
        missing = chat.request("POST", PATH, form(denmark, to=None), headers=self.KEY)
        assert missing.json()["code"] == "REQUEST_VARIABLE_MISSING"

    @pytest.mark.parametrize(("length", "status"), [(7, 400), (8, 200), (100, 200), (101, 400)])
    def test_key_length_is_8_to_100_characters(
        self, chat: ChatClient, denmark: int, length: int, status: int
    ) -> None:
        headers = {"Idempotency-Key": "k" * length}
        response = chat.request("POST", PATH, form(denmark), headers=headers)
        assert response.status_code == status
        assert response.json().get("code") == (None if status == 200 else "BAD_REQUEST")

    @pytest.mark.impatient
    @pytest.mark.reaches("IDEMPOTENCY_IN_PROGRESS")
    def test_key_in_use_is_in_progress(
        self,
        chat: ChatClient,
        denmark: int,
        cast: Cast,
        chat_database: Database,
        clock: FrozenClock,
    ) -> None:
        if chat_database.dialect == "sqlite":
            pytest.skip("SQLite has one writer, so no other request is in progress")
        row = IdempotencyKey(
            user_id=cast.hamlet.id,
            key=self.KEY["Idempotency-Key"],
            operation="create_scheduled_message",
            fingerprint="0" * 64,
            status=0,
            body=b"",
            created_at=clock.now(),
        )

        def hold(session: Any) -> Any:
            session.add(row)
            session.flush()
            return chat.request("POST", PATH, form(denmark), headers=self.KEY)

        response = chat_database.run(hold)
        assert response.status_code == 409
        assert response.headers["Retry-After"] == "1"
        assert response.json() == bad(
            (
                "A request with this Idempotency-Key is still in progress;"
                " send it again in a moment."
            ),
            "IDEMPOTENCY_IN_PROGRESS",
        )


class TestUpdateScheduledMessage:
    @pytest.fixture
    def waiting(self, chat: ChatClient, denmark: int, chat_database: Database) -> int:
        """Hamlet's message to Denmark."""
        made = schedule(chat, form(denmark))
        chat_database.run(lambda s: s.execute(delete(Event)))
        return made

    @pytest.mark.parametrize(
        ("changes", "expected"),
        [
            ({"content": "*Not* to be"}, {
                "content": "*Not* to be", "rendered_content": "<p><em>Not</em> to be</p>",
            }),
            ({"topic": "grave"}, {"topic": "grave"}),
            ({"scheduled_delivery_timestamp": LATER + 1}, {
                "scheduled_delivery_timestamp": LATER + 1
            }),
        ],
    )  # fmt: skip
    def test_changes_given_values_only(
        self,
        chat: ChatClient,
        waiting: int,
        denmark: int,
        cast: Cast,
        chat_database: Database,
        changes: dict[str, Any],
        expected: dict[str, Any],
    ) -> None:
        assert chat.patch(f"{PATH}/{waiting}", **changes) == DONE
        changed = record(waiting, denmark, **expected)
        assert listed(chat) == [changed]
        updated = {"op": "update", "scheduled_message": changed}
        assert events_of(chat_database) == [("scheduled_messages", updated, [cast.hamlet.id])]

    @pytest.mark.parametrize("kind", ["direct", "private"])
    def test_change_to_users_removes_the_topic(
        self, chat: ChatClient, waiting: int, cast: Cast, chat_database: Database, kind: str
    ) -> None:
        chat.patch(f"{PATH}/{waiting}", type=kind, to=[cast.othello.id], topic="x")
        assert listed(chat) == [record_to(waiting, [cast.othello.id])]
        with chat_database.reading() as reader:
            row = reader.execute(select(ScheduledMessage.topic, ScheduledMessage.channel_id))
            assert row.one() == ("", None)

    @pytest.mark.parametrize("kind", ["channel", "stream"])
    def test_change_to_a_channel(
        self, chat: ChatClient, denmark: int, cast: Cast, kind: str
    ) -> None:
        made = schedule(chat, direct(cast.othello.id))
        assert chat.patch(f"{PATH}/{made}", type=kind, to=denmark, topic="castle") == DONE
        assert listed(chat) == [record(made, denmark)]

    def test_change_of_recipients_of_the_same_type(
        self, chat: ChatClient, waiting: int, cast: Cast, chat_database: Database
    ) -> None:
        other = chat_database.run(lambda s: make_channel(s, cast, "Norway"))
        assert chat.patch(f"{PATH}/{waiting}", to=other) == DONE
        assert listed(chat) == [record(waiting, other)]
        answer = chat.patch(f"{PATH}/{waiting}", to=[cast.othello.id])
        assert answer == bad("Invalid data type for channel ID")

    def test_topic_is_ignored_for_users(self, chat: ChatClient, cast: Cast) -> None:
        made = schedule(chat, direct(cast.othello.id))
        assert chat.patch(f"{PATH}/{made}", topic="x") == DONE
        assert listed(chat) == [record_to(made, [cast.othello.id])]

    def test_client_is_the_last_editor(
        self, chat: ChatClient, waiting: int, chat_database: Database
    ) -> None:
        chat.patch(f"{PATH}/{waiting}", content="x", client="website")
        with chat_database.reading() as reader:
            assert reader.execute(select(ScheduledMessage.client)).scalar() == "website"

    def test_query_parameters_are_accepted(self, chat: ChatClient, waiting: int) -> None:
        assert chat.patch(f"/{PATH}/{waiting}?content=query") == DONE
        assert listed(chat)[0]["content"] == "query"

    def test_empty_request_is_rejected(self, chat: ChatClient, waiting: int) -> None:
        assert chat.patch(f"{PATH}/{waiting}") == bad("Nothing to change")
        assert chat.patch(f"{PATH}/{waiting}", client="website") == bad("Nothing to change")

    @pytest.mark.parametrize(
        ("changes", "msg"),
        [
            ({"type": "direct"}, "Recipient required when updating type of scheduled message."),
            ({"type": "stream", "to": 1},
             "Topic required when updating scheduled message type to channel."),
            ({"type": "x"}, "Invalid type"),
            ({"content": " "}, "Message must not be empty"),
            ({"type": "direct", "to": [123456]}, "Invalid user ID 123456"),
            ({"type": "direct", "to": []}, "Message must have recipients"),
            ({"scheduled_delivery_timestamp": NOW}, PAST),
        ],
    )  # fmt: skip
    def test_rejects_invalid_requests(
        self, chat: ChatClient, waiting: int, denmark: int, changes: dict[str, Any], msg: str
    ) -> None:
        assert chat.patch(f"{PATH}/{waiting}", **changes) == bad(msg)
        assert listed(chat) == [record(waiting, denmark)]

    def test_unknown_channel_is_rejected(self, chat: ChatClient, waiting: int) -> None:
        assert chat.patch(f"{PATH}/{waiting}", to=999) == bad(
            "Channel with ID '999' does not exist", "STREAM_DOES_NOT_EXIST", stream_id=999
        )

    @pytest.mark.parametrize("change", [{"content": "x"}, {"topic": "x"}])
    def test_forbidden_message_cannot_be_edited_but_postponed(
        self,
        chat: ChatClient,
        waiting: int,
        denmark: int,
        chat_database: Database,
        change: dict[str, str],
    ) -> None:
        set_columns(chat_database, Channel, denmark, is_archived=True)
        answer = chat.patch(f"{PATH}/{waiting}", **change)
        assert answer == bad("Not authorized to send to channel 'Denmark'")
        later = {"scheduled_delivery_timestamp": LATER + 1}
        assert chat.patch(f"{PATH}/{waiting}", **later) == DONE

    def test_unknown_id_and_message_of_another_user_are_rejected(
        self, as_othello: ChatClient, as_hank: ChatClient, chat: ChatClient, waiting: int
    ) -> None:
        for client, message_id in ((as_othello, waiting), (as_hank, waiting), (chat, 999)):
            response = client.request("PATCH", f"{PATH}/{message_id}", {"content": "x"})
            assert response.status_code == 404
            assert response.json() == bad("Scheduled message does not exist")

    @pytest.mark.parametrize("message_id", ["abc", "-1", "2147483648"])
    def test_invalid_id_is_an_unknown_path(self, chat: ChatClient, message_id: str) -> None:
        response = chat.request("PATCH", f"{PATH}/{message_id}", {"content": "x"})
        assert response.status_code == 404

    def test_sent_message_is_rejected(
        self, chat: ChatClient, waiting: int, chat_database: Database
    ) -> None:
        end(chat_database, waiting, state="sent", message_id=1)
        for changes in ({"content": "x"}, {"scheduled_delivery_timestamp": LATER}):
            answer = chat.patch(f"{PATH}/{waiting}", **changes)
            assert answer == bad("Scheduled message was already sent")

    def test_failed_message_needs_a_new_time_and_is_pending_again(
        self, chat: ChatClient, waiting: int, denmark: int, chat_database: Database
    ) -> None:
        end(chat_database, waiting, state="failed", failure="Why", attempts=3)
        assert chat.patch(f"{PATH}/{waiting}", content="x") == bad(PAST)
        again = {"scheduled_delivery_timestamp": LATER + 9}
        assert chat.patch(f"{PATH}/{waiting}", **again) == DONE
        assert listed(chat) == [record(waiting, denmark, **again)]
        with chat_database.reading() as reader:
            row = reader.execute(select(ScheduledMessage)).one()
        assert (row.state, row.failure, row.attempts) == ("pending", None, 0)
        assert row.next_try_at == row.scheduled_at

    def test_rejects_missing_credentials(self, as_nobody: ChatClient, waiting: int) -> None:
        response = as_nobody.request("PATCH", f"{PATH}/{waiting}", {"content": "x"})
        assert response.status_code == 401


class TestDeleteScheduledMessage:
    def test_deletes_the_message_and_notifies_its_sender(
        self, chat: ChatClient, denmark: int, cast: Cast, chat_database: Database
    ) -> None:
        made = schedule(chat, form(denmark))
        assert chat.delete(f"{PATH}/{made}") == DONE
        assert listed(chat) == []
        removed = {"op": "remove", "scheduled_message_id": made}
        last = events_of(chat_database)[-1]
        assert last == ("scheduled_messages", removed, [cast.hamlet.id])

    def test_failed_message_can_be_deleted(
        self, chat: ChatClient, denmark: int, chat_database: Database
    ) -> None:
        made = schedule(chat, form(denmark))
        end(chat_database, made, state="failed", failure="Why")
        assert chat.delete(f"{PATH}/{made}") == DONE
        assert listed(chat) == []

    def test_sent_message_is_rejected(
        self, chat: ChatClient, denmark: int, chat_database: Database
    ) -> None:
        made = schedule(chat, form(denmark))
        end(chat_database, made, state="sent", message_id=1)
        assert chat.delete(f"{PATH}/{made}") == bad("Scheduled message was already sent")

    def test_unknown_id_and_message_of_another_user_are_rejected(
        self, chat: ChatClient, as_othello: ChatClient, denmark: int, chat_database: Database
    ) -> None:
        made = schedule(chat, form(denmark))
        for client, message_id in ((as_othello, made), (chat, made + 1)):
            response = client.request("DELETE", f"{PATH}/{message_id}")
            assert response.status_code == 404
            assert response.json() == bad("Scheduled message does not exist")
        with chat_database.reading() as reader:
            count = select(func.count()).select_from(ScheduledMessage)
            assert reader.execute(count).scalar() == 1

    def test_rejects_missing_credentials(self, as_nobody: ChatClient) -> None:
        assert as_nobody.request("DELETE", f"{PATH}/1").status_code == 401
