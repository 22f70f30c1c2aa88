"""Events of the organization: its settings, lists and exports."""

from collections.abc import Sequence
from typing import Literal, TypedDict

from models.chat.events.log import ClientEvent, WireObject
from models.chat.tables.setting_table import Value


class RealmUpdateDictEvent(ClientEvent, type="realm", op="update_dict"):
    """Settings of the organization have other values. Tells everybody, older forms too.

    `data` has the new values by the settings' names (`models.chat.organization.settings`).
    """

    property: Literal["default"] = "default"
    data: WireObject


class RealmUserSettingsDefaultsUpdateEvent(
    ClientEvent, type="realm_user_settings_defaults", op="update"
):
    """A setting of new users begins with another value. Tells everybody."""

    property: str
    value: Value


class InvitesChangedEvent(ClientEvent, type="invites_changed"):
    """An invitation was sent, accepted or revoked. Tells administrators and who sent it; clients
    read the invitations again.
    """


class EmailDomain(TypedDict):
    """An email domain of the organization."""

    domain: str
    allow_subdomains: bool


class RealmDomainsAddEvent(ClientEvent, type="realm_domains", op="add"):
    """The organization has another email domain. Tells everybody."""

    realm_domain: EmailDomain


class RealmDomainsChangeEvent(ClientEvent, type="realm_domains", op="change"):
    """An email domain of the organization was changed. Tells everybody."""

    realm_domain: EmailDomain


class RealmDomainsRemoveEvent(ClientEvent, type="realm_domains", op="remove"):
    """An email domain is no longer the organization's. Tells everybody."""

    domain: str


class RealmLinkifiersEvent(ClientEvent, type="realm_linkifiers", lazy=("realm_linkifiers",)):
    """The linkifiers have changed. Tells everybody all of them, in the order in which they apply.

    The linkifiers come from `models.chat.organization.linkifiers.list_linkifiers`.
    """


class RealmPlaygroundsEvent(ClientEvent, type="realm_playgrounds", lazy=("realm_playgrounds",)):
    """The code playgrounds have changed. Tells everybody all of them.

    The playgrounds come from `models.chat.organization.playgrounds.find_playgrounds`.
    """


class RealmEmojiUpdateEvent(ClientEvent, type="realm_emoji", op="update", lazy=("realm_emoji",)):
    """The custom emoji have changed. Tells everybody all of them.

    The emoji come from `models.chat.organization.emoji.find_custom_emoji`.
    """


class CustomProfileFieldsEvent(ClientEvent, type="custom_profile_fields", lazy=("fields",)):
    """The custom profile fields have changed. Tells everybody all of them, in order.

    The fields come from `models.chat.profiles.fields.find_profile_fields`.
    """


class RealmExportEvent(ClientEvent, type="realm_export"):
    """An export of data was requested, ended or was deleted. Tells administrators all exports.

    The exports come from `models.chat.exports.requests.find_exports`, without links that work
    alone. So few can be made in a week that the log keeps the list.
    """

    exports: Sequence[WireObject]


class RealmExportConsentEvent(ClientEvent, type="realm_export_consent"):
    """A user allowed or forbade the export of their private data. Tells administrators."""

    user_id: int
    consented: bool
