"""Operations of the tag server_settings."""

from dataclasses import replace
from hashlib import md5

from tests.support.chat.app import ChatClient
from tests.support.chat.people import Cast

ABSENT = ("ldap", "remoteuser", "github", "azuread", "gitlab", "google", "apple", "saml")
ACME = {
    "result": "success",
    "msg": "",
    "authentication_methods": {
        "password": True,
        "dev": True,
        "email": True,
        **dict.fromkeys(ABSENT, False),
        "openid connect": False,
    },
    "external_authentication_methods": [],
    "zulip_version": "12.0",
    "zulip_merge_base": "12.0",
    "zulip_feature_level": 478,
    "push_notifications_enabled": False,
    "is_incompatible": False,
    "email_auth_enabled": True,
    "require_email_format_usernames": True,
    "realm_url": "http://acme.example",
    "realm_uri": "http://acme.example",
    "realm_name": "Acme",
    "realm_icon": "https://secure.gravatar.com/avatar/"
    + md5(b"acme.example", usedforsecurity=False).hexdigest()
    + "?d=identicon",
    "realm_description": "",
    "realm_web_public_access_enabled": False,
}


class TestGetServerSettings:
    def test_feature_level_is_public(self, as_nobody: ChatClient) -> None:
        assert as_nobody.get("/server_settings") == ACME

    def test_credentials_are_ignored(
        self, chat: ChatClient, as_nobody: ChatClient, cast: Cast
    ) -> None:
        assert chat.get("/server_settings") == ACME
        assert as_nobody.acting_as(replace(cast.hamlet, key="bad")).get("/server_settings") == ACME
        for header in ("Basic ???", "Bearer x", ""):
            headers = {"Authorization": header}
            answer = as_nobody.request("GET", "/server_settings", headers=headers)
            assert answer.json() == ACME

    def test_host_selects_the_organization(self, as_hank: ChatClient) -> None:
        assert as_hank.get("/server_settings")["realm_name"] == "Globex"

    def test_url_has_the_port_of_the_request(self, as_nobody: ChatClient) -> None:
        response = as_nobody.request("GET", "/server_settings", host="acme.example:9991")
        assert response.json()["realm_url"] == "http://acme.example:9991"

    def test_organization_settings_are_returned(
        self, as_cordelia: ChatClient, as_nobody: ChatClient
    ) -> None:
        as_cordelia.patch(
            "/realm", name="Acme 2", description="A <b>", enable_spectator_access=True
        )
        assert as_nobody.get("/server_settings") == {
            **ACME,
            "realm_name": "Acme 2",
            "realm_description": "<p>A &lt;b&gt;</p>",
            "realm_web_public_access_enabled": True,
        }

    def test_other_host_is_rejected(self, as_nobody: ChatClient) -> None:
        response = as_nobody.request("GET", "/server_settings", host="elsewhere.example")
        assert response.status_code == 404
        assert response.json()["code"] == "NONEXISTENT_SUBDOMAIN"
