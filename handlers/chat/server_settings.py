"""Operations of the tag server_settings."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from handlers.chat.wire import envelope
from handlers.chat.wire.addresses import icon_url, realm_url
from handlers.chat.wire.auth import host_of
from handlers.chat.wire.context import Context
from models.chat.identity.actors import access_realm

if TYPE_CHECKING:
    from handlers.chat import types

# The release and the feature level of the reference that the API follows.
VERSION = "12.0"
FEATURE_LEVEL = 478
ABSENT_METHODS = (
    "ldap",
    "remoteuser",
    "github",
    "azuread",
    "gitlab",
    "google",
    "apple",
    "saml",
    "openid connect",
)


def get_server_settings(ctx: Context) -> envelope.Answer[types.ServerSettings]:
    """Get public information about the server."""
    realm = access_realm(ctx.connection, host_of(ctx))
    url = realm_url(ctx)
    return envelope.success(
        ctx,
        {
            **envelope.OK,
            "authentication_methods": {
                "password": True,
                "dev": ctx.settings.development,
                "email": True,
                **dict.fromkeys(ABSENT_METHODS, False),
            },
            "external_authentication_methods": [],
            "zulip_version": VERSION,
            "zulip_merge_base": VERSION,
            "zulip_feature_level": FEATURE_LEVEL,
            "push_notifications_enabled": ctx.adapters.push.is_configured,
            "is_incompatible": False,
            "email_auth_enabled": True,
            "require_email_format_usernames": True,
            "realm_url": url,
            "realm_uri": url,
            "realm_name": realm.name,
            "realm_icon": icon_url(realm.host),
            "realm_description": f"<p>{escape(realm.description)}</p>" if realm.description else "",
            "realm_web_public_access_enabled": realm.enable_spectator_access
            and ctx.settings.chat_web_public_streams_enabled,
        },
    )
