"""The office for the official Python client, with objects that calls need."""

from __future__ import annotations

import io
from functools import cached_property
from itertools import count
from typing import Any

import zulip

from tests.clients.conftest import CHANNEL, Office
from tests.support.chat.people import Member
from tests.support.pictures import picture


class Stage:
    """The office for a client. It creates the objects that a call needs."""

    def __init__(self, office: Office) -> None:
        self._office, self.cast = office, office.cast
        self._numbers = count(1)

    def client_of(self, who: Member) -> zulip.Client:
        configuration = str(self._office.configuration(who))
        return zulip.Client(config_file=configuration, retry_on_errors=False)

    @cached_property
    def owner(self) -> zulip.Client:
        return self.client_of(self.cast.cordelia)

    @cached_property
    def member(self) -> zulip.Client:
        return self.client_of(self.cast.hamlet)

    @cached_property
    def bot(self) -> zulip.Client:
        return self.client_of(self.cast.reminder)

    def name(self) -> str:
        """Return an unused name."""
        return f"name{next(self._numbers)}"

    def message(self) -> int:
        """Send a message as Hamlet and return its id."""
        return self._office.say(self.cast.hamlet, self.name())

    def channel(self) -> str:
        """Create a channel with Hamlet and Cordelia and return its name."""
        name, people = self.name(), [self.cast.hamlet.id, self.cast.cordelia.id]
        good(self.owner.add_subscriptions([{"name": name}], principals=people))
        return name

    def channel_id(self, name: str | None = None) -> int:
        """Return the id of a channel, which is new unless it is named."""
        return int(good(self.owner.get_stream_id(name or self.channel()))["stream_id"])

    def topic(self) -> str:
        """Create a topic in the office's channel with a message of Hamlet, and return its name."""
        topic = self.name()
        sent = {"type": "stream", "to": CHANNEL, "topic": topic, "content": "Words"}
        good(self.member.send_message(sent))
        return topic

    def user_id(self) -> int:
        return int(good(self.owner.create_user(self.new_user()))["user_id"])

    def new_user(self) -> dict[str, Any]:
        name = self.name()
        return {"email": f"{name}@acme.example", "full_name": name, "password": "a long one, yes"}

    def group(self) -> int:
        made = {"name": self.name(), "description": "", "members": [self.cast.hamlet.id]}
        return int(good(self.owner.create_user_group(made))["group_id"])

    def profile_field(self) -> int:
        made = self.owner.create_realm_profile_field(name=self.name(), hint="", field_type=1)
        return int(good(made)["id"])

    def linkifier(self) -> int:
        made = self.owner.add_realm_filter(
            f"{self.name()}-(?P<id>[0-9]+)", "https://a.example/{id}"
        )
        return int(good(made)["id"])

    def emoji(self) -> str:
        name = self.name()
        good(self.owner.upload_custom_emoji(name, a_picture()))
        return name

    def message_with_reaction(self) -> int:
        message_id = self.message()
        good(self.member.add_reaction({"message_id": message_id, "emoji_name": "octopus"}))
        return message_id

    def deactivated(self) -> int:
        """Return the id of a deactivated user."""
        user_id = self.user_id()
        good(self.owner.deactivate_user_by_id(user_id))
        return user_id

    def present(self) -> str:
        """Return the address of a user with presence."""
        good(self.member.update_presence({"status": "active", "ping_only": True}))
        return self.cast.hamlet.email

    def reversed_fields(self) -> list[int]:
        """Return all profile fields in reverse order; there are at least two."""
        self.profile_field()
        self.profile_field()
        fields = good(self.owner.get_realm_profile_fields())["custom_fields"]
        return [each["id"] for each in reversed(fields)]

    def stored(self) -> str:
        """Return a key in the bot's storage."""
        good(self.bot.update_storage({"storage": {"visits": "17"}}))
        return "visits"

    def queue(self) -> dict[str, Any]:
        """Return the position in an event queue."""
        made = good(self.member.register(event_types=["message"]))
        self.message()
        return {"queue_id": made["queue_id"], "last_event_id": made["last_event_id"]}


def good(answer: dict[str, Any]) -> dict[str, Any]:
    assert answer["result"] == "success", answer
    return answer


def a_picture() -> io.BytesIO:
    file = io.BytesIO(picture("PNG", 8, 8))
    file.name = "yorick.png"
    return file
