"""Events of channels, their subscribers, and their folders."""

from collections.abc import Sequence
from typing import TypedDict

from models.chat.events.log import ABSENT, Absent, ClientEvent, WireObject
from models.json import Json


class StreamCreateEvent(ClientEvent, type="stream", op="create", internal=("for_unarchiving",)):
    """The user can see new channels: they were created, or the user got access.

    `streams` come from `models.chat.channels.channels.describe_channels`.
    """

    streams: Sequence[WireObject]
    for_unarchiving: bool = False


class ChannelName(TypedDict):
    """The id of a channel."""

    stream_id: int


class StreamDeleteEvent(ClientEvent, type="stream", op="delete"):
    """The user can no longer see channels, because they were deleted or access was removed.

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
    """A property of a channel has a new value. Sent to all users who may see the channel.

    `name` is the channel's name before the change. `description` comes with `rendered_description`,
    and `invite_only` with the other two privacy properties.
    """

    property: str
    value: Json
    stream_id: int
    name: str
    rendered_description: str | Absent = ABSENT
    history_public_to_subscribers: bool | Absent = ABSENT
    is_web_public: bool | Absent = ABSENT


class DefaultStreamsEvent(ClientEvent, type="default_streams"):
    """The channels to which new members are subscribed have changed. Sent to all users."""

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
    """Users subscribed to channels. Sent to all other users who may see the subscribers."""

    stream_ids: Sequence[int]
    user_ids: Sequence[int]
    for_unarchiving: bool | Absent = ABSENT


class SubscriptionPeerRemoveEvent(ClientEvent, type="subscription", op="peer_remove"):
    """Users unsubscribed from channels. Sent to all other users who may see the subscribers."""

    stream_ids: Sequence[int]
    user_ids: Sequence[int]


class ChannelFolderAddEvent(ClientEvent, type="channel_folder", op="add"):
    """A channel folder was created. Sent to all users.

    `channel_folder` comes from `models.chat.channels.folders`.
    """

    channel_folder: WireObject


class FolderChange(TypedDict, total=False):
    """The changed properties of a channel folder."""

    name: str
    description: str
    rendered_description: str
    is_archived: bool


class ChannelFolderUpdateEvent(ClientEvent, type="channel_folder", op="update"):
    """A channel folder was changed. Sent to all users."""

    channel_folder_id: int
    data: FolderChange


class ChannelFolderReorderEvent(ClientEvent, type="channel_folder", op="reorder"):
    """The channel folders have a new order. Sent to all users, with all ids in order."""

    order: Sequence[int]
