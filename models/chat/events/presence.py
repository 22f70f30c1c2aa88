"""Events of presence and of users who type, which expire soon (models/chat/queues/retention.py)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NotRequired, TypedDict

from models.chat.events.log import ABSENT, Absent, ClientEvent, EmailFact


class SlimPresence(TypedDict):
    """When a user was last active, and when a client of theirs last reported, in Unix seconds."""

    active_timestamp: int
    idle_timestamp: int


class ClientPresence(TypedDict):
    """The older form: the status as of the last report, and its time in Unix seconds."""

    client: Literal["website"]
    status: Literal["active", "idle"]
    timestamp: int
    pushable: bool


class PresenceEvent(ClientEvent, type="presence", internal=("emails",)):
    """A user is active again, or has changed whether others see that. Sent to everybody who may see
    the user.

    The delivery leaves `presences`, by user id as text, to a client that has the capability
    `simplified_presence_events`, and the other fields to the others.
    """

    user_id: int
    email: str
    server_timestamp: float
    presence: Mapping[str, ClientPresence]
    presences: Mapping[str, SlimPresence]
    emails: Sequence[EmailFact]


class TypingUser(TypedDict):
    """A user by id and dummy address. The delivery replaces it for readers of the real one."""

    user_id: int
    email: str


@dataclass(frozen=True, kw_only=True)
class _Typing:
    """`recipients` come with direct messages: all of the conversation, the sender included.
    `stream_id` and `topic` come with channel messages.
    """

    message_type: Literal["direct", "stream"]
    sender: TypingUser
    recipients: Sequence[TypingUser] | Absent = ABSENT
    stream_id: int | Absent = ABSENT
    topic: str | Absent = ABSENT
    emails: Sequence[EmailFact] = ()

    @property
    def channel_id(self) -> int | None:
        return None if self.stream_id is ABSENT else self.stream_id


class TypingStartEvent(_Typing, ClientEvent, type="typing", op="start", internal=("emails",)):
    """A user types a message. Sent to its recipients who want such events."""


class TypingStopEvent(_Typing, ClientEvent, type="typing", op="stop", internal=("emails",)):
    """A user no longer types a message. Sent to its recipients who want such events."""


class EditPlace(TypedDict):
    """Where the message is that is being edited.

    `user_ids`, all of the conversation, come with direct messages, `channel_id` and `topic` with
    channel messages.
    """

    type: Literal["channel", "direct"]
    channel_id: NotRequired[int]
    topic: NotRequired[str]
    user_ids: NotRequired[Sequence[int]]


@dataclass(frozen=True, kw_only=True)
class _TypingEdit:
    sender_id: int
    message_id: int
    recipient: EditPlace

    @property
    def channel_id(self) -> int | None:
        return self.recipient.get("channel_id")


class TypingEditMessageStartEvent(_TypingEdit, ClientEvent, type="typing_edit_message", op="start"):
    """A user edits a message. Sent to its readers who want such events."""


class TypingEditMessageStopEvent(_TypingEdit, ClientEvent, type="typing_edit_message", op="stop"):
    """A user no longer edits a message. Sent to its readers who want such events."""
