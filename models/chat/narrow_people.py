"""The users that the operands of a narrow name: by id, by ids, or by emails with commas between."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import or_, select

from models.chat.actors import Actor, Reader
from models.chat.errors.narrows import BadNarrow
from models.chat.id_lists import id_in
from models.chat.message_access import ID_MAX
from models.chat.tables import User
from models.chat.users import DUMMY_EMAIL, visible_email

MOST_PEOPLE = 1000
"""In one narrow: as many as a conversation can have."""


class NamedUsers:
    """Everybody whom the operands name, read in one statement however many they are."""

    def __init__(self, reader: Reader, actor: Actor, operands: Iterable[Any]) -> None:
        """Raises `BadNarrow` for more than `MOST_PEOPLE`."""
        self._host = actor.realm.host
        named = {who for operand in operands for who in map(self._key_of, _parts_of(operand))}
        if len(named) > MOST_PEOPLE:
            raise BadNarrow(desc=f"more than {MOST_PEOPLE} users")
        self._ids: dict[int | str, int] = {}
        if named:
            self._read(reader, actor, named)

    def find(self, operand: Any) -> list[int] | None:
        """Ids of users of the actor's realm; None unless each of them is somebody."""
        found = []
        for part in _parts_of(operand):
            user_id = self._ids.get(self._key_of(part))
            if user_id is None:
                return None
            found.append(user_id)
        return found or None

    def access(self, operand: Any) -> list[int]:
        """The same. Raises `BadNarrow` instead."""
        found = self.find(operand)
        if found is None:
            shown = operand if not isinstance(operand, list) else ",".join(map(str, operand))
            raise BadNarrow(desc=f"unknown user {shown}")
        return found

    def _key_of(self, who: int | str) -> int | str:
        """A user's id, or an email as it is compared."""
        if isinstance(who, int):
            return min(who, ID_MAX)
        email = who.casefold()
        dummy = DUMMY_EMAIL.fullmatch(email)
        if dummy is not None and dummy[2] == self._host:
            return min(int(dummy[1]), ID_MAX)
        return email

    def _read(self, reader: Reader, actor: Actor, named: set[int | str]) -> None:
        ids = [who for who in named if isinstance(who, int)]
        emails = [who for who in named if isinstance(who, str)]
        wanted = select(
            User.id,
            User.bot_type,
            User.delivery_email,
            User.email_key,
            User.email_address_visibility,
        ).where(
            User.realm_id == actor.realm_id,
            or_(id_in(reader, User.id, ids), User.email_key.in_(emails)),
        )
        for row in reader.execute(wanted):
            self._ids[row.id] = row.id
            if visible_email(actor, row) is not None:
                self._ids[row.email_key] = row.id


def _parts_of(operand: Any) -> list[int | str]:
    if isinstance(operand, int):
        return [operand]
    if isinstance(operand, str):
        return [part.strip() for part in operand.split(",", MOST_PEOPLE)]
    return list(operand)
