"""Events of the organization: its settings, lists and exports."""

from collections.abc import Sequence
from typing import Literal, TypedDict

from models.chat.events.log import ABSENT, Absent, ClientEvent, WireObject
from models.chat.tables.setting_table import Value


class RealmUpdateDictEvent(ClientEvent, type="realm", op="update_dict"):
    """Settings of the organization have other values, in older forms too. Sent to everybody.

    `data` has the new values by the settings' names (`models.chat.organization.settings`).
    """

    property: Literal["default"] = "default"
    data: WireObject


class RealmUserSettingsDefaultsUpdateEvent(
    ClientEvent, type="realm_user_settings_defaults", op="update"
):
    """A setting has another default for new users. Sent to everybody."""

    property: str
    value: Value


class InvitesChangedEvent(ClientEvent, type="invites_changed"):
    """An invitation was sent, accepted or revoked. Sent to its sender and to administrators, whose
    clients read the invitations again.
    """


class EmailDomain(TypedDict):
    """An email domain of the organization."""

    domain: str
    allow_subdomains: bool


class RealmDomainsAddEvent(ClientEvent, type="realm_domains", op="add"):
    """The organization has another email domain. Sent to everybody."""

    realm_domain: EmailDomain


class RealmDomainsChangeEvent(ClientEvent, type="realm_domains", op="change"):
    """An email domain of the organization was changed. Sent to everybody."""

    realm_domain: EmailDomain


class RealmDomainsRemoveEvent(ClientEvent, type="realm_domains", op="remove"):
    """An email domain is no longer the organization's. Sent to everybody."""

    domain: str


class RealmLinkifiersEvent(ClientEvent, type="realm_linkifiers", lazy=("realm_linkifiers",)):
    """The linkifiers have changed. Sent to everybody, with all in the order in which they apply.

    The linkifiers come from `models.chat.organization.linkifiers.list_linkifiers`.
    """


class RealmPlaygroundsEvent(ClientEvent, type="realm_playgrounds", lazy=("realm_playgrounds",)):
    """The code playgrounds have changed. Sent to everybody, with all of them.

    The playgrounds come from `models.chat.organization.playgrounds.find_playgrounds`.
    """


class RealmEmojiUpdateEvent(ClientEvent, type="realm_emoji", op="update", lazy=("realm_emoji",)):
    """The custom emoji have changed. Sent to everybody, with all of them.

    The emoji come from `models.chat.organization.emoji.find_custom_emoji`.
    """


class CustomProfileFieldsEvent(ClientEvent, type="custom_profile_fields", lazy=("fields",)):
    """The custom profile fields have changed. Sent to everybody, with all of them in order.

    The fields come from `models.chat.profiles.fields.find_profile_fields`.
    """


class RealmExportEvent(ClientEvent, type="realm_export"):
    """An export was requested, ended or was deleted. Sent to administrators, with all exports.

    The exports come from `models.chat.exports.requests.find_exports`, without links that need no
    key. The log stores the whole list because the number of exports in a week is limited.
    """

    exports: Sequence[WireObject]


class RealmExportConsentEvent(ClientEvent, type="realm_export_consent"):
    """A user allowed or forbade the export of their private data. Sent to administrators."""

    user_id: int
    consented: bool


class HeartbeatEvent(ClientEvent, type="heartbeat", internal=("queue_id",)):
    """Every client polls again, whatever it wants to be told. Sent to everybody when the
    organization is stopped; a poll without any event ends with one too.

    `queue_id`: only the client of this queue, which is deleted.
    """

    queue_id: str | Absent = ABSENT
