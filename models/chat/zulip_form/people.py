"""Users and bots of Zulip's export, with their settings, status and profile."""

import heapq
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import orjson

from models.chat.identity.django_hashes import is_django_hash
from models.chat.identity.roles import BotType, Role
from models.chat.people.emoji import own_kind
from models.chat.people.full_names import NOTIFICATION_BOT, as_allowed
from models.chat.profiles.values import FieldType
from models.chat.tables.setting_table import SETTINGS
from models.chat.zulip_form.fitting import Changes, UniqueNames
from models.chat.zulip_form.rows import Source, ZulipRow, rows_of
from models.chat.zulip_form.settings import taken_settings
from models.json import Json

USERS, STUBS, CROSS_REALM = (
    "zerver_userprofile", "zerver_userprofile_mirrordummy", "zerver_userprofile_crossrealm",
)  # fmt: skip
NOTIFICATION_EMAIL = "notification-bot@zulip.com"
"""The email address of the system bot whose id our notification bot gets."""
UPLOADED = "U"
"""The source of an avatar that its user uploaded."""
_ROLES = frozenset(Role)
_BOT_TYPES = frozenset(BotType)
_HIGHEST = 1 << 62


class Person(NamedTuple):
    """The facts about a user that other rows need."""

    name: str
    role: int
    is_active: bool


class People:
    """All users by id. Zulip's system bots become one bot."""

    def __init__(self, source: Source, changes: Changes, host: str) -> None:
        self._source, self._changes, self._host = source, changes, host
        self.by_id: dict[int, Person] = {}
        self.password_hashes: dict[int, str] = {}
        self.recipients: dict[int, int] = {}
        """Users by the recipients of their direct messages."""
        self.with_avatar: list[int] = []
        """The ids of users who uploaded an avatar."""
        for row in self._rows():
            user_id = self._id(row)
            if user_id in self.by_id:
                raise row.refuse("the id is another user's")
            role = row.integer("role", Role.MEMBER)
            self.by_id[user_id] = Person(row.text("full_name"), role, row.flag("is_active"))
            if row.text("avatar_source", "") == UPLOADED and not row.flag("is_deleted", False):
                self.with_avatar.append(user_id)
            if row.has("recipient"):
                self.recipients[row.integer("recipient")] = user_id
            self._take_password(user_id, row)
        self.bot_id = 0
        shared: dict[int, int] = {}
        for row in rows_of(source, CROSS_REALM):
            user_id = self._id(row)
            if user_id in self.by_id:
                raise row.refuse("the id is another user's")
            if row.text("email") == NOTIFICATION_EMAIL:
                self.bot_id = user_id
            shared[user_id] = row.integer("recipient_id")
        self.bot_id = self.bot_id or max((*self.by_id, *shared), default=0) + 1
        self._shared = frozenset(shared)
        for recipient in shared.values():
            self.recipients[recipient] = self.bot_id

    def find(self, row: ZulipRow, name: str) -> int:
        """Return the new id of the user in a field. Raise `BrokenRow`."""
        return self.check(row, name, row.integer(name))

    def find_or_none(self, row: ZulipRow, name: str) -> int | None:
        return self.find(row, name) if row.has(name) else None

    def check(self, row: ZulipRow, name: str, user_id: Json) -> int:
        """Return the new id of a user. Raise `BrokenRow` if the user is not in the export."""
        if type(user_id) is int:
            if user_id in self.by_id:
                return user_id
            if user_id in self._shared or user_id == self.bot_id:
                return self.bot_id
        raise row.refuse(f"{name} refers to user {user_id!r}, who is not in the export")

    def is_own(self, user_id: int) -> bool:
        """Return whether the user belongs to the organization."""
        return user_id in self.by_id

    def add_passwords(self, by_email: Mapping[str, str]) -> int:
        """Add hashes from outside the export, by email addresses in lower case. Return the number
        of addresses that belong to users of the export.
        """
        taken = 0
        for row in self._rows():
            found = by_email.get(row.text("delivery_email").lower())
            if found is not None and is_django_hash(found):
                self.password_hashes[row.integer("id")] = found
                taken += 1
        return taken

    def _full_name(self, row: ZulipRow) -> str:
        written = row.text("full_name")
        name = as_allowed(written, row.integer("id"))
        if name != written:
            self._changes.note(row.table, "a name had what no name may have")
        return name

    # --- rows of the archive ----------------------------------------------------------------------

    def users(
        self, realm_id: int, founded: str, avatars: Mapping[int, str]
    ) -> Iterator[Mapping[str, Json]]:
        """Yield the rows of `user`. `avatars` maps user ids to the handles of avatars."""
        bot: Mapping[str, Json] = {
            "id": self.bot_id,
            "realm_id": realm_id,
            "delivery_email": f"notification-bot@{self._host}",
            "full_name": NOTIFICATION_BOT,
            "role": int(Role.MEMBER),
            "bot_type": int(BotType.GENERIC),
            "bot_owner_id": None,
            "is_active": True,
            "is_imported_stub": False,
            "is_deleted": False,
            "is_system_bot": True,
            "date_joined": founded,
            "avatar_version": 1,
            "avatar_handle": None,
            "can_create_users": False,
            "can_change_user_emails": False,
            "awaits_first_sign_in": False,
        }
        own = (
            {**self._user(row, realm_id), "avatar_handle": avatars.get(row.integer("id"))}
            for row in self._rows()
        )
        yield from heapq.merge(own, [bot], key=_id_of)

    def settings(self) -> Iterator[Mapping[str, Json]]:
        """Yield the rows of `user_settings`, one for each of `users`."""
        own = (
            {"id": row.integer("id"), **taken_settings(row, SETTINGS, self._changes)}
            for row in self._rows()
        )
        defaults = {name: setting.default for name, setting in SETTINGS.items()}
        yield from heapq.merge(own, [{"id": self.bot_id, **defaults}], key=_id_of)

    def statuses(self) -> Iterator[Mapping[str, Json]]:
        for row in rows_of(self._source, "zerver_userstatus"):
            user_id = self.find(row, "user_profile")
            if self.is_own(user_id):
                yield {
                    "user_id": user_id,
                    "status_text": self._changes.line(row.table, row.text("status_text", ""), 60),
                    "emoji_name": row.text("emoji_name", ""),
                    "emoji_code": row.text("emoji_code", ""),
                    "reaction_type": own_kind(row.text("reaction_type", "")),
                    "updated_at": row.time("timestamp"),
                }

    def profile_fields(self, realm_id: int) -> Iterator[Mapping[str, Json]]:
        names = UniqueNames(self._changes, "zerver_customprofilefield", 40)
        for row in rows_of(self._source, "zerver_customprofilefield"):
            yield {
                "id": row.integer("id"),
                "realm_id": realm_id,
                "name": names.take(row.text("name")),
                "type": row.small("field_type"),
                "hint": self._changes.line(row.table, row.text("hint", ""), 80),
                "field_data": row.text("field_data", ""),
                "position": row.small("order", 0),
                "is_required": row.flag("required", False),
                "editable_by_user": row.flag("editable_by_user", True),
                "display_in_profile_summary": row.flag("display_in_profile_summary", False),
                "use_for_user_matching": row.flag("use_for_user_matching", False),
            }

    def profile_values(self) -> Iterator[Mapping[str, Json]]:
        of_people = {
            row.integer("id")
            for row in rows_of(self._source, "zerver_customprofilefield")
            if row.get("field_type") == FieldType.USERS
        }
        for row in rows_of(self._source, "zerver_customprofilefieldvalue"):
            field, value = row.integer("field"), row.text("value")
            if field in of_people:
                value = self._people_within(row, value)
            yield {
                "user_id": self.find(row, "user_profile"),
                "field_id": field,
                "value": value,
                "rendered_value": row.text_or_none("rendered_value"),
            }

    # --- one user ---------------------------------------------------------------------------------

    def _rows(self) -> Iterator[ZulipRow]:
        rows = (rows_of(self._source, table) for table in (USERS, STUBS))
        yield from heapq.merge(*rows, key=self._id)

    def _id(self, row: ZulipRow) -> int:
        user_id = row.integer("id")
        if not 0 < user_id < _HIGHEST:
            raise row.refuse("id is no id")
        return user_id

    def _take_password(self, user_id: int, row: ZulipRow) -> None:
        password = row.get("password")
        if password is None or password == "":
            return
        if type(password) is str and is_django_hash(password) and len(password) <= 200:
            self.password_hashes[user_id] = password
        elif not str(password).startswith("!"):  # Django's mark of an unusable password
            self._changes.note(row.table, "a password is hashed in a way that is not known")

    def _user(self, row: ZulipRow, realm_id: int) -> Mapping[str, Json]:
        is_bot = row.flag("is_bot", False)
        bot_type = row.integer("bot_type", BotType.GENERIC) if is_bot else None
        if bot_type is not None and bot_type not in _BOT_TYPES:
            raise row.refuse("bot_type is none that there is")
        role = row.integer("role", Role.MEMBER)
        if role not in _ROLES:
            raise row.refuse("role is none that there is")
        owner = self.find_or_none(row, "bot_owner") if is_bot else None
        is_stub = row.flag("is_mirror_dummy", False) or row.flag("is_imported_stub", False)
        return {
            "id": row.integer("id"),
            "realm_id": realm_id,
            "delivery_email": self._changes.line(row.table, row.text("delivery_email"), 254),
            "full_name": self._full_name(row),
            "role": role,
            "bot_type": bot_type,
            "bot_owner_id": owner if owner is None or self.is_own(owner) else None,
            "is_active": row.flag("is_active"),
            "is_imported_stub": is_stub,
            "is_deleted": row.flag("is_deleted", False),
            "is_system_bot": False,
            "date_joined": row.time("date_joined"),
            "avatar_version": row.small("avatar_version", 1),
            "can_create_users": row.flag("can_create_users", False),
            "can_change_user_emails": row.flag("can_change_user_emails", False),
            "awaits_first_sign_in": False,
        }

    def _people_within(self, row: ZulipRow, value: str) -> str:
        try:
            ids = orjson.loads(value)
        except orjson.JSONDecodeError:
            raise row.refuse("value is not JSON") from None
        if not isinstance(ids, list):
            raise row.refuse("value is no list of users")
        return orjson.dumps([self.check(row, "value", each) for each in ids]).decode()


def _id_of(row: Mapping[str, Json]) -> int:
    found: int = row["id"]
    return found
