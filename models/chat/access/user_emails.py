"""Which address stands for a user: the real email for those who may see it, or a dummy one."""

import re
from typing import Protocol

from models.chat.identity.actors import Actor
from models.chat.identity.roles import EmailVisibility, Role

DUMMY_EMAIL = re.compile(r"user([0-9]{1,10})@(.+)", re.DOTALL)


class EmailOwner(Protocol):
    """A user as far as it takes to tell who may see their address; every user's row fits."""

    @property
    def id(self) -> int: ...
    @property
    def bot_type(self) -> int | None: ...
    @property
    def delivery_email(self) -> str: ...
    @property
    def email_address_visibility(self) -> int: ...


def may_see_email(viewer_role: int, visibility: int) -> bool:
    """May users of that role see real emails of that visibility? (One's own and bots': always.)"""
    match visibility:
        case EmailVisibility.EVERYONE:
            return True
        case EmailVisibility.MEMBERS:
            return viewer_role <= Role.MEMBER
        case EmailVisibility.MODERATORS:
            return viewer_role <= Role.MODERATOR
        case EmailVisibility.ADMINISTRATORS:
            return viewer_role <= Role.ADMINISTRATOR
    return False


def visible_email(viewer: Actor, user: EmailOwner) -> str | None:
    """The user's real email, or None when the viewer may not see it."""
    if (
        user.id == viewer.id
        or user.bot_type is not None
        or may_see_email(viewer.role, user.email_address_visibility)
    ):
        return user.delivery_email
    return None


def api_email(viewer: Actor, user: EmailOwner) -> str:
    """The address the viewer may use for the user in the API: the real one if they may see it."""
    return visible_email(viewer, user) or dummy_email(user.id, viewer.realm.host)


def dummy_email(user_id: int, host: str) -> str:
    """The address that works in the API of the realm at `host` whoever may see the real one."""
    return f"user{user_id}@{host}"
