"""Operations of the tag users."""

from hashlib import md5
from typing import Any

from tests.chat_app import ChatClient
from tests.chat_cast import Cast, Member


def gravatar(email: str) -> str:
    digest = md5(email.encode(), usedforsecurity=False).hexdigest()
    return f"https://secure.gravatar.com/avatar/{digest}?d=identicon&version=1"


def own(member: Member, **over: Any) -> dict[str, Any]:
    """What get-own-user answers for somebody who has just joined."""
    return {
        "result": "success",
        "msg": "",
        "avatar_url": gravatar(member.email),
        "avatar_version": 1,
        "email": member.email,
        "full_name": member.name,
        "is_admin": member.role <= 200,
        "is_owner": member.role == 100,
        "is_guest": member.role == 600,
        "is_bot": False,
        "is_active": True,
        "role": member.role,
        "timezone": "",
        "date_joined": "2026-11-20T09:30:00+00:00",
        "max_message_id": -1,
        "user_id": member.id,
        "delivery_email": member.email,
        "is_imported_stub": False,
        "profile_data": {},
        **over,
    }


class TestGetOwnUser:
    def test_tells_each_role_who_they_are(self, as_nobody: ChatClient, cast: Cast) -> None:
        for member in (cast.cordelia, cast.iago, cast.prospero, cast.hamlet, cast.polonius):
            assert as_nobody.acting_as(member).get("/users/me") == own(member)

    def test_leaves_the_profile_out_for_a_bot(self, as_reminder: ChatClient, cast: Cast) -> None:
        expected = own(cast.reminder, is_bot=True)
        del expected["profile_data"]
        assert as_reminder.get("/users/me") == expected

    def test_names_parameters_it_does_not_know(self, chat: ChatClient, cast: Cast) -> None:
        expected = own(cast.hamlet, ignored_parameters_unsupported=["a", "z"])
        assert chat.get("/users/me", z=1, a="x", client="curl") == expected

    def test_wants_credentials(self, as_nobody: ChatClient) -> None:
        response = as_nobody.request("GET", "/users/me")
        assert response.status_code == 401
        assert response.headers["WWW-Authenticate"] == 'Basic realm="zulip"'
        assert response.json() == {
            "result": "error",
            "msg": "Not logged in: API authentication or user session required",
            "code": "UNAUTHORIZED",
        }
