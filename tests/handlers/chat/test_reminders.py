"""Operations of the tag reminders, and their delivery."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from models.chat.tables import Message, ScheduledMessage, User
from specd.db import Database
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatClient
from tests.support.chat.channels import make_channel, unsubscribe
from tests.support.chat.people import Cast
from tests.support.chat.queues import Place, Queues
from tests.support.frozen_clock import FrozenClock
from workers.scheduled_delivery import ScheduledDelivery

PATH = "/reminders"
LATER = 1_795_262_460
ABSENT = bad("Reminder does not exist")


UNREADABLE = bad("Invalid message(s)")


class Office:
    """A private channel of Hamlet and Othello, with a message of Othello's and the notices of the
    notification bot.
    """

    def __init__(
        self, database: Database, clock: FrozenClock, cast: Cast, client: ChatClient
    ) -> None:
        self.database, self.clock, self.cast = database, clock, cast
        self.othello = client.acting_as(cast.othello)
        people = (cast.hamlet, cast.othello)
        self.vault = database.run(
            lambda s: make_channel(s, cast, "vault", subscribers=people, invite_only=True)
        )
        self.message = self.say(type="channel", to=self.vault, topic="keys", content="Open *it*")

    def say(self, **form: Any) -> int:
        return int(self.othello.post("/messages", **form)["id"])

    def pass_time(self, seconds: float = 60) -> int:
        """Advance the clock, run the worker and return its number of steps."""
        self.clock.advance(seconds=seconds)
        worker = ScheduledDelivery(self.database, self.clock, late_window=timedelta(seconds=600))
        return sum(1 for _ in iter(worker.try_deliver_one, False))

    def notices(self) -> list[str]:
        with self.database.reading() as reader:
            bot = Message.sender_id == self.cast.notification_bot_id
            return list(reader.scalars(select(Message.content).where(bot).order_by(Message.id)))

    def states(self) -> list[str]:
        with self.database.reading() as reader:
            return list(
                reader.scalars(select(ScheduledMessage.state).order_by(ScheduledMessage.id))
            )


@pytest.fixture
def office(chat_database: Database, clock: FrozenClock, cast: Cast, chat: ChatClient) -> Office:
    return Office(chat_database, clock, cast, chat)


@pytest.fixture
def place(chat: ChatClient, queues: Queues, office: Office) -> Place:
    """Hamlet's queue."""
    return queues.open(chat)


def remind(client: ChatClient, message_id: int, **more: Any) -> int:
    form = {"message_id": message_id, "scheduled_delivery_timestamp": LATER, **more}
    answer = client.post(PATH, **form)
    assert answer == {**DONE, "reminder_id": answer.get("reminder_id")}, answer
    return int(answer["reminder_id"])


def listed(client: ChatClient) -> list[dict[str, Any]]:
    answer = client.get(PATH)
    assert answer == {**DONE, "reminders": answer["reminders"]}
    return list(answer["reminders"])


def words(office: Office) -> str:
    """Return the bot's text about the message in the channel."""
    address = f"/#narrow/channel/{office.vault}-vault/topic/keys/near/{office.message}"
    return f"You asked to be reminded of [a message]({address}) in #**vault>keys**."


class TestCreateReminder:
    def test_only_the_user_is_notified(
        self, chat: ChatClient, office: Office, place: Place, queues: Queues, cast: Cast
    ) -> None:
        other_queue = queues.open(office.othello)
        made = remind(chat, office.message, note="\nAsk *him*.\n")
        [record] = listed(chat)
        html = record.pop("rendered_content")
        assert record == {
            "reminder_id": made,
            "type": "private",
            "to": [cast.hamlet.id],
            "content": f"{words(office)}\n\nYour note:\n~~~quote\n```\nAsk *him*.\n```\n~~~",
            "scheduled_delivery_timestamp": LATER,
            "failed": False,
            "reminder_target_message_id": office.message,
        }
        assert "Open" not in record["content"] + html, "it does not store the text of the message"
        assert f'data-stream-id="{office.vault}"' in html
        [event] = place.read()
        full = {**record, "rendered_content": html}
        assert event == {"id": event["id"], "type": "reminders", "op": "add", "reminders": [full]}
        assert other_queue.read() == listed(office.othello) == []
        assert chat.post("/register", fetch_event_types=["reminders"])["reminders"] == [full]
        assert chat.get("/scheduled_messages")["scheduled_messages"] == []

    def test_all_readers_of_the_message_are_allowed(
        self,
        chat: ChatClient,
        as_cordelia: ChatClient,
        as_polonius: ChatClient,
        as_reminder: ChatClient,
        office: Office,
        cast: Cast,
    ) -> None:
        form = {"scheduled_delivery_timestamp": LATER}
        for client in (as_cordelia, as_polonius, as_reminder):
            assert client.post(PATH, message_id=office.message, **form) == UNREADABLE
        assert chat.post(PATH, message_id=999_999, **form) == UNREADABLE
        whom = [cast.polonius.id, cast.reminder.id]
        letter = office.say(type="direct", to=whom, content="Hi")
        for client in (as_polonius, as_reminder):
            remind(client, letter)
            ids = ",".join(map(str, sorted([cast.othello.id, *whom])))
            address = f"/#narrow/dm/{ids}/near/{letter}"
            [record] = listed(client)
            assert record["content"] == (
                f"You asked to be reminded of [a direct message]({address})."
            )
        assert chat.post(PATH, message_id=letter, **form) == UNREADABLE

    def test_rejects_invalid_requests(
        self, chat: ChatClient, as_nobody: ChatClient, office: Office
    ) -> None:
        past = bad("Scheduled delivery time must be in the future.")
        for form, answer in (
            ({"scheduled_delivery_timestamp": LATER - 60}, past),
            ({"scheduled_delivery_timestamp": -1}, past),
            ({"note": "x" * 501}, bad("note is too long (limit: 500 characters)")),
            ({"message_id": "x"}, bad("message_id is not valid JSON")),
        ):
            sent = {"message_id": office.message, "scheduled_delivery_timestamp": LATER, **form}
            assert chat.post(PATH, **sent) == answer
        sent = {"message_id": office.message, "scheduled_delivery_timestamp": LATER}
        assert as_nobody.request("POST", PATH, sent).status_code == 401
        assert as_nobody.request("GET", PATH).status_code == 401
        assert listed(chat) == []


class TestListReminders:
    def test_lists_the_soonest_first(self, chat: ChatClient, office: Office) -> None:
        late = remind(chat, office.message, scheduled_delivery_timestamp=LATER + 9)
        soon, same = remind(chat, office.message), remind(chat, office.message, note="")
        assert [each["reminder_id"] for each in listed(chat)] == [soon, same, late]
        assert {each["content"] for each in listed(chat)} == {words(office)}


class TestDeleteReminder:
    def test_deletes_only_own_reminders(
        self, chat: ChatClient, as_nobody: ChatClient, office: Office, place: Place
    ) -> None:
        first, second = remind(chat, office.message), remind(chat, office.message)
        letter = {"type": "direct", "to": [office.cast.othello.id], "content": "Hi"}
        scheduled = chat.post("/scheduled_messages", **letter, scheduled_delivery_timestamp=LATER)
        other = scheduled["scheduled_message_id"]
        place.read()
        for client, wanted in (
            (office.othello, first), (chat, 999_999), (chat, other),
        ):  # fmt: skip
            response = client.request("DELETE", f"{PATH}/{wanted}", {})
            assert (response.status_code, response.json()) == (404, ABSENT)
        absent = bad("Scheduled message does not exist")
        for method, form in (("PATCH", {"content": "x"}), ("DELETE", {})):
            assert chat.request(method, f"/scheduled_messages/{first}", form).json() == absent
        assert place.read() == []
        assert chat.delete(f"{PATH}/{first}") == DONE
        [event] = place.read()
        assert event == {
            "id": event["id"], "type": "reminders", "op": "remove", "reminder_id": first,
        }  # fmt: skip
        assert [each["reminder_id"] for each in listed(chat)] == [second]
        assert as_nobody.request("DELETE", f"{PATH}/{second}").status_code == 401
        assert office.pass_time() == 2
        assert chat.delete(f"{PATH}/{second}") == ABSENT, "it was delivered"


class TestDelivery:
    def test_quotes_the_message_at_delivery(
        self, chat: ChatClient, office: Office, place: Place, cast: Cast
    ) -> None:
        made = remind(chat, office.message, note="Answer him.")
        office.othello.patch(f"/messages/{office.message}", content="Closed")
        place.read()
        assert office.pass_time(59) == 0
        assert office.pass_time(1) == 1
        [notice] = office.notices()
        assert notice == (
            f"{words(office)}\n\nYour note:\n```quote\nAnswer him.\n```\n\n"
            f"@_**Othello|{cast.othello.id}** wrote:\n```quote\nClosed\n```"
        )
        told = {event["type"]: event for event in place.read()}
        assert sorted(told) == ["message", "reminders"]
        message = told["message"]["message"]
        assert message["sender_id"] == cast.notification_bot_id
        assert message["type"] == "private"
        people = {each["id"] for each in message["display_recipient"]}
        assert people == {cast.notification_bot_id, cast.hamlet.id}
        assert told["message"]["flags"] == []
        assert told["reminders"] == {
            "id": told["reminders"]["id"], "type": "reminders", "op": "remove",
            "reminder_id": made,
        }  # fmt: skip
        assert listed(chat) == []
        assert office.pass_time() == 0

    @pytest.mark.parametrize("how", ["deleted", "hidden"])
    def test_unreadable_message_is_not_quoted(
        self, chat: ChatClient, office: Office, cast: Cast, how: str
    ) -> None:
        remind(chat, office.message, note="Answer him.")
        if how == "deleted":
            assert office.othello.delete(f"/messages/{office.message}") == DONE
        else:
            office.database.run(lambda s: unsubscribe(s, office.vault, cast.hamlet))
        assert office.pass_time() == 1
        assert office.notices() == [
            "You asked to be reminded of a message that you can no longer read.\n\n"
            "Your note:\n```quote\nAnswer him.\n```"
        ]

    def test_late_reminder_is_delivered(self, chat: ChatClient, office: Office) -> None:
        remind(chat, office.message)
        assert office.pass_time(86_400) == 1
        [notice] = office.notices()
        assert notice.startswith(words(office))

    def test_deactivated_user_is_not_reminded(
        self, chat: ChatClient, office: Office, cast: Cast
    ) -> None:
        remind(chat, office.message)
        gone = update(User).where(User.id == cast.hamlet.id).values(is_active=False)
        office.database.run(lambda s: s.execute(gone))
        assert office.pass_time() == 1
        assert (office.notices(), office.states()) == ([], ["failed"])

    def test_deleted_with_the_profile(
        self, chat: ChatClient, as_cordelia: ChatClient, office: Office, cast: Cast
    ) -> None:
        remind(chat, office.message)
        remind(office.othello, office.message)
        answer = as_cordelia.delete(f"/users/{cast.hamlet.id}", actions={"delete_profile": True})
        assert answer == DONE, answer
        assert office.states() == ["pending"]
