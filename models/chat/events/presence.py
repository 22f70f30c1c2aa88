"""Events of presence and of typing users, which expire soon (models/chat/queues/retention.py)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NotRequired, TypedDict

from models.chat.events.log import ABSENT, Absent, ClientEvent, EmailFact


class SlimPresence(TypedDict):
    """The times when a user was last active and when a client of the user last reported, in Unix
    seconds.
    """

    active_timestamp: int
    idle_timestamp: int


class ClientPresence(TypedDict):
    """The older form: the status in the last report, and its time in Unix seconds."""

    client: Literal["website"]
    status: Literal["active", "idle"]
    timestamp: int
    pushable: bool


class PresenceEvent(ClientEvent, type="presence", internal=("emails",)):
    """A user is active again, or has changed the visibility of their presence. Sent to all users
    who may see the user.

    Clients with the capability `simplified_presence_events` get `presences`, by user id as text.
    Other clients get the other fields.
    """

    user_id: int
    email: str
    server_timestamp: float
    presence: Mapping[str, ClientPresence]
    presences: Mapping[str, SlimPresence]
    emails: Sequence[EmailFact]


class TypingUser(TypedDict):
    """A user by id and dummy address. The delivery replaces the address for users who may see the
    real one.
    """

    user_id: int
    email: str


@dataclass(frozen=True, kw_only=True)
class _Typing:
    """`recipients` come with direct messages: all users of the conversation, including the sender.
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
    """A user is typing a message. Sent to those recipients who receive such events."""


class TypingStopEvent(_Typing, ClientEvent, type="typing", op="stop", internal=("emails",)):
    """A user stopped typing a message. Sent to those recipients who receive such events."""


class EditPlace(TypedDict):
    """The place of a message that is being edited.

    `user_ids`, all users of the conversation, come with direct messages, `channel_id` and `topic`
    with channel messages.
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
    """A user is editing a message. Sent to those readers who receive such events."""


class TypingEditMessageStopEvent(_TypingEdit, ClientEvent, type="typing_edit_message", op="stop"):
    """A user stopped editing a message. Sent to those readers who receive such events."""
