"""Events of channels, their subscribers, and their folders."""

from collections.abc import Sequence
from typing import TypedDict

from models.chat.events.log import ABSENT, Absent, ClientEvent, WireObject
from models.json import Json


class StreamCreateEvent(ClientEvent, type="stream", op="create", internal=("for_unarchiving",)):
    """Channels are new to the user: they were created, or the user may see them from now on.

    `streams` come from `models.chat.channels.channels.describe_channels`.
    """

    streams: Sequence[WireObject]
    for_unarchiving: bool = False


class ChannelName(TypedDict):
    """A channel named by its id alone."""

    stream_id: int


class StreamDeleteEvent(ClientEvent, type="stream", op="delete"):
    """Channels were deleted for the user, who may no longer see them.

    `streams` is the older form of `stream_ids`.
    """

    streams: Sequence[ChannelName]
    stream_ids: Sequence[int]

    @classmethod
    def of(cls, channel_ids: Sequence[int]) -> "StreamDeleteEvent":
        """Return the event for these channels."""
        named: list[ChannelName] = [{"stream_id": channel_id} for channel_id in channel_ids]
        return cls(streams=named, stream_ids=channel_ids)


class StreamUpdateEvent(ClientEvent, type="stream", op="update"):
    """A property of a channel has another value. Sent to everybody who may see the channel.

    `name` is the channel's name before a change of it. With `description` comes
    `rendered_description`; with `invite_only` the other two properties of its privacy.
    """

    property: str
    value: Json
    stream_id: int
    name: str
    rendered_description: str | Absent = ABSENT
    history_public_to_subscribers: bool | Absent = ABSENT
    is_web_public: bool | Absent = ABSENT


class DefaultStreamsEvent(ClientEvent, type="default_streams"):
    """New members are subscribed to these channels from now on. Sent to everybody."""

    default_streams: Sequence[int]


class SubscriptionAddEvent(
    ClientEvent, type="subscription", op="add", internal=("for_unarchiving",)
):
    """The user was subscribed to channels. Sent to that user.

    Each subscription is a channel (`models.chat.channels.channels.describe_channels`) with the
    user's settings (`models.chat.channels.subscriptions.describe_subscription`) and the ids of its
    `subscribers`.
    """

    subscriptions: Sequence[WireObject]
    for_unarchiving: bool | Absent = ABSENT


class LeftChannel(TypedDict):
    """A channel that a user has left."""

    name: str
    stream_id: int


class SubscriptionRemoveEvent(ClientEvent, type="subscription", op="remove"):
    """The user's subscriptions ended. Sent to that user."""

    subscriptions: Sequence[LeftChannel]


class SubscriptionUpdateEvent(ClientEvent, type="subscription", op="update"):
    """The user changed a setting of a subscription. Sent to that user."""

    property: str
    value: str | bool
    stream_id: int


class SubscriptionPeerAddEvent(
    ClientEvent, type="subscription", op="peer_add", internal=("for_unarchiving",)
):
    """Users subscribed to channels. Sent to everybody else who may see the subscribers."""

    stream_ids: Sequence[int]
    user_ids: Sequence[int]
    for_unarchiving: bool | Absent = ABSENT


class SubscriptionPeerRemoveEvent(ClientEvent, type="subscription", op="peer_remove"):
    """Users unsubscribed from channels. Sent to everybody else who may see the subscribers."""

    stream_ids: Sequence[int]
    user_ids: Sequence[int]


class ChannelFolderAddEvent(ClientEvent, type="channel_folder", op="add"):
    """A channel folder was created. Sent to everybody.

    `channel_folder` comes from `models.chat.channels.folders`.
    """

    channel_folder: WireObject


class FolderChange(TypedDict, total=False):
    """The properties of a channel folder that have other values."""

    name: str
    description: str
    rendered_description: str
    is_archived: bool


class ChannelFolderUpdateEvent(ClientEvent, type="channel_folder", op="update"):
    """A channel folder was changed. Sent to everybody."""

    channel_folder_id: int
    data: FolderChange


class ChannelFolderReorderEvent(ClientEvent, type="channel_folder", op="reorder"):
    """The channel folders have another order. Sent to everybody, with the ids of all in order."""

    order: Sequence[int]
