"""Events of the organization: its settings, lists and exports."""

from collections.abc import Sequence
from typing import Literal, TypedDict

from models.chat.events.log import ABSENT, Absent, ClientEvent, WireObject
from models.chat.tables.setting_table import Value


class RealmUpdateDictEvent(ClientEvent, type="realm", op="update_dict"):
    """Settings of the organization have new values. Sent to all users.

    `data` contains the new values by the settings' names, including older names
    (`models.chat.organization.settings`).
    """

    property: Literal["default"] = "default"
    data: WireObject


class RealmUserSettingsDefaultsUpdateEvent(
    ClientEvent, type="realm_user_settings_defaults", op="update"
):
    """A setting has a new default for new users. Sent to all users."""

    property: str
    value: Value


class InvitesChangedEvent(ClientEvent, type="invites_changed"):
    """An invitation was sent, accepted or revoked. Sent to its sender and to administrators, so
    that their clients reload the invitations.
    """


class EmailDomain(TypedDict):
    """An email domain of the organization."""

    domain: str
    allow_subdomains: bool


class RealmDomainsAddEvent(ClientEvent, type="realm_domains", op="add"):
    """An email domain was added to the organization. Sent to all users."""

    realm_domain: EmailDomain


class RealmDomainsChangeEvent(ClientEvent, type="realm_domains", op="change"):
    """An email domain of the organization was changed. Sent to all users."""

    realm_domain: EmailDomain


class RealmDomainsRemoveEvent(ClientEvent, type="realm_domains", op="remove"):
    """An email domain was removed from the organization. Sent to all users."""

    domain: str


class RealmLinkifiersEvent(ClientEvent, type="realm_linkifiers", lazy=("realm_linkifiers",)):
    """The linkifiers have changed. Sent to all users, with all linkifiers in the order of their
    application.

    The linkifiers come from `models.chat.organization.linkifiers.list_linkifiers`.
    """


class RealmPlaygroundsEvent(ClientEvent, type="realm_playgrounds", lazy=("realm_playgrounds",)):
    """The code playgrounds have changed. Sent to all users, with all playgrounds.

    The playgrounds come from `models.chat.organization.playgrounds.find_playgrounds`.
    """


class RealmEmojiUpdateEvent(ClientEvent, type="realm_emoji", op="update", lazy=("realm_emoji",)):
    """The custom emoji have changed. Sent to all users, with all custom emoji.

    The emoji come from `models.chat.organization.emoji.find_custom_emoji`.
    """


class CustomProfileFieldsEvent(ClientEvent, type="custom_profile_fields", lazy=("fields",)):
    """The custom profile fields have changed. Sent to all users, with all fields in order.

    The fields come from `models.chat.profiles.fields.find_profile_fields`.
    """


class RealmExportEvent(ClientEvent, type="realm_export"):
    """An export was requested, ended or was deleted. Sent to administrators, with all exports.

    The exports come from `models.chat.exports.requests.find_exports`, with addresses that require a
    key. The log stores the complete list because the number of exports in a week is limited.
    """

    exports: Sequence[WireObject]


class RealmExportConsentEvent(ClientEvent, type="realm_export_consent"):
    """A user allowed or forbade the export of private data. Sent to administrators."""

    user_id: int
    consented: bool


class HeartbeatEvent(ClientEvent, type="heartbeat", internal=("queue_id",)):
    """All clients poll again, for every selection of event types. Sent to all users when the
    organization is stopped. A poll that ends without an event also returns one.

    `queue_id` limits the event to the client of this queue, which was deleted.
    """

    queue_id: str | Absent = ABSENT
