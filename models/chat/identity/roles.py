"""Roles, and the system groups that follow from them."""

from enum import IntEnum


class Role(IntEnum):
    """A user's role in the organization. A smaller number has more rights."""

    OWNER = 100
    ADMINISTRATOR = 200
    MODERATOR = 300
    MEMBER = 400
    GUEST = 600


class EmailVisibility(IntEnum):
    """The users who may see a user's real email."""

    EVERYONE = 1
    MEMBERS = 2
    ADMINISTRATORS = 3
    NOBODY = 4
    MODERATORS = 5


class BotType(IntEnum):
    """The kind of a bot."""

    GENERIC = 1
    INCOMING_WEBHOOK = 2
    OUTGOING_WEBHOOK = 3
    EMBEDDED = 4


INTERNET = "role:internet"
EVERYONE = "role:everyone"
MEMBERS = "role:members"
FULL_MEMBERS = "role:fullmembers"
MODERATORS = "role:moderators"
ADMINISTRATORS = "role:administrators"
OWNERS = "role:owners"
NOBODY = "role:nobody"

SYSTEM_GROUPS: dict[str, str] = {
    INTERNET: "Everyone on the Internet",
    EVERYONE: "Everyone in this organization, including guests",
    MEMBERS: "Members of this organization, not including guests",
    FULL_MEMBERS: "Members of this organization, not including new accounts and guests",
    MODERATORS: "Moderators of this organization",
    ADMINISTRATORS: "Administrators of this organization, including owners",
    OWNERS: "Owners of this organization",
    NOBODY: "Nobody",
}
"""Name -> description. Each group up to `role:owners` has the next group as a subgroup."""

DIRECT_GROUPS: dict[Role, tuple[str, ...]] = {
    Role.OWNER: (OWNERS,),
    Role.ADMINISTRATOR: (ADMINISTRATORS,),
    Role.MODERATOR: (MODERATORS,),
    Role.MEMBER: (MEMBERS, FULL_MEMBERS),
    Role.GUEST: (EVERYONE,),
}
"""The system groups of which a user with each role is a direct member."""
