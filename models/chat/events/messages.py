"""Events of messages: sent, edited, moved, deleted, flagged, and scheduled for later."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NotRequired, TypedDict

from models.chat.events.log import ABSENT, Absent, ClientEvent, WireObject


class LocalEcho(TypedDict):
    """The queue and the local id by which the sender's client recognizes its message."""

    queue_id: str
    local_id: str


class MessageEvent(ClientEvent, type="message", internal=("markdown", "others", "local")):
    """A message was sent. Sent to all users who got a copy with these flags.

    `message` comes from `models.chat.sending.messages.message_as_sent`. It is rendered and has no
    flags; `markdown` is its source. If a message to a public channel has several events, one of
    them has `others`: the recipients of the other events. That event is also sent to queues that
    receive all public channels.
    """

    message: WireObject
    flags: Sequence[str]
    markdown: str
    others: Sequence[int] | Absent = ABSENT
    local: LocalEcho | Absent = ABSENT

    @property
    def channel_id(self) -> int | None:
        stream_id: int | None = self.message.get("stream_id")
        return stream_id


class UpdateMessageEvent(ClientEvent, type="update_message"):
    """A message was edited, or messages were moved, or both. Sent to all users who may read them
    now and whose copy of the message has these flags.

    `stream_id` and `stream_name` name the channel before the move; direct messages have neither.
    The fields from `orig_content` to `is_me_message` come with new content. `propagate_mode` and
    `orig_subject` come with a move, `subject` and `topic_links` with a new topic, and
    `new_stream_id` with a new channel. `edit_timestamp` is in Unix seconds.
    """

    user_id: int
    edit_timestamp: int
    message_id: int
    message_ids: Sequence[int]
    rendering_only: bool
    flags: Sequence[str]
    stream_id: int | Absent = ABSENT
    stream_name: str | Absent = ABSENT
    orig_content: str | Absent = ABSENT
    orig_rendered_content: str | Absent = ABSENT
    content: str | Absent = ABSENT
    rendered_content: str | Absent = ABSENT
    is_me_message: bool | Absent = ABSENT
    propagate_mode: str | Absent = ABSENT
    orig_subject: str | Absent = ABSENT
    subject: str | Absent = ABSENT
    topic_links: Sequence[Mapping[str, str]] | Absent = ABSENT
    new_stream_id: int | Absent = ABSENT

    @property
    def channel_id(self) -> int | None:
        stream_id = self.stream_id if self.new_stream_id is ABSENT else self.new_stream_id
        return None if stream_id is ABSENT else stream_id


class DeleteMessageEvent(ClientEvent, type="delete_message"):
    """Messages of one topic or conversation were deleted, or users lost access to them by a move.
    Sent to all users who could read them.

    `message_id` is stored only if a user deleted one message by its id. The delivery replaces it by
    `message_ids`, or for older clients by an event with `message_id` for each message. `stream_id`
    and `topic` come with channel messages.
    """

    message_id: int | Absent = ABSENT
    message_ids: Sequence[int]
    message_type: Literal["private", "stream"]
    stream_id: int | Absent = ABSENT
    topic: str | Absent = ABSENT

    @property
    def parts(self) -> int:
        return len(self.message_ids)

    @classmethod
    def of(
        cls, message_ids: Sequence[int], channel_id: int | None, topic: str
    ) -> "DeleteMessageEvent":
        """Return the event for messages of one topic, or of one conversation if `channel_id` is
        None.
        """
        if channel_id is None:
            return cls(message_ids=message_ids, message_type="private")
        return cls(
            message_ids=message_ids, message_type="stream", stream_id=channel_id, topic=topic
        )


class UpdateMessageFlagsAddEvent(ClientEvent, type="update_message_flags", op="add"):
    """A flag was added to messages. Sent to the user who owns the copies.

    `operation` is the older name of `op`.
    """

    operation: Literal["add"] = "add"
    flag: str
    messages: Sequence[int]
    all: bool = False


class MessageDetails(TypedDict):
    """The facts that a client needs to count an unread message that it has not loaded.

    `mentioned` is absent or true. `user_ids`, the other users of the conversation, come with direct
    messages, `stream_id` and `topic` with channel messages.
    """

    type: Literal["private", "stream"]
    mentioned: NotRequired[bool]
    user_ids: NotRequired[Sequence[int]]
    stream_id: NotRequired[int]
    topic: NotRequired[str]


class UpdateMessageFlagsRemoveEvent(ClientEvent, type="update_message_flags", op="remove"):
    """A flag was removed from messages. Sent to the user who owns the copies.

    `operation` is the older name of `op`. `message_details`, by message id as text, come only with
    the flag `read`.
    """

    operation: Literal["remove"] = "remove"
    flag: str
    messages: Sequence[int]
    all: bool = False
    message_details: Mapping[str, MessageDetails] | Absent = ABSENT


class ReactingUser(TypedDict):
    """The user who reacted, for older clients. `email` is the address that all users may see."""

    user_id: int
    email: str
    full_name: str


@dataclass(frozen=True, kw_only=True)
class _Reaction:
    """`place` is the message's channel, or None for a direct message."""

    user_id: int
    user: ReactingUser
    message_id: int
    emoji_name: str
    emoji_code: str
    reaction_type: str
    place: int | None

    @property
    def channel_id(self) -> int | None:
        return self.place


class ReactionAddEvent(_Reaction, ClientEvent, type="reaction", op="add", internal=("place",)):
    """A user reacted to a message. Sent to all users who may read the message."""


class ReactionRemoveEvent(
    _Reaction, ClientEvent, type="reaction", op="remove", internal=("place",)
):
    """A user removed a reaction to a message. Sent to all users who may read the message."""


class SubmessageEvent(ClientEvent, type="submessage", internal=("place",)):
    """A user changed a poll or a to-do list. Sent to all users who may read the message.

    `content` is JSON. `place` is the message's channel, or None for a direct message.
    """

    msg_type: str
    message_id: int
    submessage_id: int
    sender_id: int
    content: str
    place: int | None

    @property
    def channel_id(self) -> int | None:
        return self.place


class ScheduledMessagesAddEvent(ClientEvent, type="scheduled_messages", op="add"):
    """A message was scheduled. Sent to its sender.

    The records come from `models.chat.scheduling.records.record_of`, as in the next events.
    """

    scheduled_messages: Sequence[WireObject]


class ScheduledMessagesUpdateEvent(ClientEvent, type="scheduled_messages", op="update"):
    """A scheduled message was changed, or could not be sent. Sent to its sender."""

    scheduled_message: WireObject


class ScheduledMessagesRemoveEvent(ClientEvent, type="scheduled_messages", op="remove"):
    """A scheduled message was deleted or sent. Sent to its sender."""

    scheduled_message_id: int


class RemindersAddEvent(ClientEvent, type="reminders", op="add"):
    """A user set a reminder, or a reminder could not be delivered. Sent to that user."""

    reminders: Sequence[WireObject]


class RemindersRemoveEvent(ClientEvent, type="reminders", op="remove"):
    """A reminder was deleted or delivered. Sent to its user."""

    reminder_id: int


class DraftsAddEvent(ClientEvent, type="drafts", op="add"):
    """Drafts were stored. Sent to their author.

    The records come from `models.chat.drafts.record_of`, as in the next events.
    """

    drafts: Sequence[WireObject]


class DraftsUpdateEvent(ClientEvent, type="drafts", op="update"):
    """A draft was changed. Sent to its author."""

    draft: WireObject


class DraftsRemoveEvent(ClientEvent, type="drafts", op="remove"):
    """A draft was deleted. Sent to its author."""

    draft_id: int
