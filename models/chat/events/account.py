"""Events of a user's settings, topics, devices, and tokens of other services. Each is sent only to
that user.
"""

from typing import TypedDict

from models.chat.events.log import ABSENT, Absent, ClientEvent, WireObject
from models.chat.tables.setting_table import Value


class UserSettingsUpdateEvent(ClientEvent, type="user_settings", op="update"):
    """A setting of the user has a new value.

    `language_name` comes with the setting `default_language`.
    """

    property: str
    value: Value
    language_name: str | Absent = ABSENT


class UserTopicEvent(ClientEvent, type="user_topic"):
    """The user's visibility policy for a topic has changed: none (0), muted (1), unmuted (2),
    followed (3). `last_updated` is in Unix seconds.
    """

    stream_id: int
    topic_name: str
    last_updated: int
    visibility_policy: int


class AlertWordsEvent(ClientEvent, type="alert_words", lazy=("alert_words",)):
    """A user added or removed alert words. Sent to that user, with all alert words."""


class MutedUsersEvent(ClientEvent, type="muted_users", lazy=("muted_users",)):
    """A user muted or unmuted another. Sent to that user, with all muted users."""


class MutedTopicsEvent(ClientEvent, type="muted_topics", lazy=("muted_topics",)):
    """The older form of `user_topic`: all topics that the user has muted, each as [channel's name,
    topic, Unix seconds], oldest first.
    """


class DeviceAddEvent(ClientEvent, type="device", op="add"):
    """The user registered a device."""

    device_id: int


class DeviceRemoveEvent(ClientEvent, type="device", op="remove"):
    """A device of the user was removed, by the user or with the user's API key."""

    device_id: int


class DeviceUpdateEvent(ClientEvent, type="device", op="update"):
    """The registration of a device for push notifications has changed. Unchanged fields are absent;
    null means that there is no value. The timestamp is in Unix seconds.
    """

    device_id: int
    push_key_id: int | Absent = ABSENT
    push_token_id: str | Absent | None = ABSENT
    pending_push_token_id: str | Absent | None = ABSENT
    push_registration_error_code: str | Absent | None = ABSENT
    push_token_last_updated_timestamp: int | Absent = ABSENT


class HasVendorTokenEvent(ClientEvent, type="has_vendor_token"):
    """The user authorized this server at the vendor of video calls, or the token was deleted."""

    value: bool


class HasZoomTokenEvent(ClientEvent, type="has_zoom_token"):
    """`has_vendor_token` under Zulip's name."""

    value: bool


class SavedSnippetsAddEvent(ClientEvent, type="saved_snippets", op="add"):
    """A snippet was saved. Sent to its author.

    The record comes from `models.chat.saved_snippets`, as in the next events.
    """

    saved_snippet: WireObject


class SavedSnippetsUpdateEvent(ClientEvent, type="saved_snippets", op="update"):
    """A saved snippet was changed. Sent to its author."""

    saved_snippet: WireObject


class SavedSnippetsRemoveEvent(ClientEvent, type="saved_snippets", op="remove"):
    """A saved snippet was deleted. Sent to its author."""

    saved_snippet_id: int


class AttachmentAddEvent(ClientEvent, type="attachment", op="add"):
    """A file was uploaded. Sent to its owner. `upload_space_used` is the size of all files of the
    organization in bytes.

    The record comes from `models.chat.uploads.attachments`, as in the next events.
    """

    attachment: WireObject
    upload_space_used: int


class AttachmentUpdateEvent(ClientEvent, type="attachment", op="update"):
    """The messages that show a file have changed. Sent to its owner."""

    attachment: WireObject
    upload_space_used: int


class AttachmentRemoveEvent(ClientEvent, type="attachment", op="remove"):
    """A file was deleted, by its owner or because no message had shown it for a long time. Sent to
    its owner. `attachment` contains only the `id`.
    """

    attachment: WireObject
    upload_space_used: int


class NavigationViewAddEvent(ClientEvent, type="navigation_view", op="add"):
    """The user added a navigation view. Sent to the user.

    The record comes from `models.chat.navigation_views`.
    """

    navigation_view: WireObject


class NavigationViewChange(TypedDict, total=False):
    """The changed properties of a navigation view."""

    is_pinned: bool
    name: str


class NavigationViewUpdateEvent(ClientEvent, type="navigation_view", op="update"):
    """The user changed a navigation view. Sent to the user."""

    fragment: str
    data: NavigationViewChange


class NavigationViewRemoveEvent(ClientEvent, type="navigation_view", op="remove"):
    """The user removed a navigation view. Sent to the user."""

    fragment: str
