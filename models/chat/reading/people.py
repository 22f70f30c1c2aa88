"""The users that the operands of a narrow name: by id, by ids, or by emails with commas between."""

from collections.abc import Iterable

from models.chat.access.naming import find_named
from models.chat.identity.actors import Actor
from models.chat.messages.errors import BadNarrow
from models.chat.reading.terms import Operand
from models.reader import Db

MOST_PEOPLE = 1000
"""In one narrow: as many as a conversation can have."""


class NamedUsers:
    """Everybody whom the operands name, read in one statement however many they are."""

    def __init__(self, db: Db, actor: Actor, operands: Iterable[Operand]) -> None:
        """Raises `BadNarrow` for more than `MOST_PEOPLE`."""
        named = {part for operand in operands for part in _parts_of(operand)}
        if len(named) > MOST_PEOPLE:
            raise BadNarrow(desc=f"more than {MOST_PEOPLE} users")
        rows = find_named(db, actor, named, system_bots=True) if named else {}
        self._ids: dict[int | str, int] = {name: row.id for name, row in rows.items()}

    def find(self, operand: Operand) -> list[int] | None:
        """Ids of users whom the actor may know; None unless each of them is somebody."""
        found = [self._ids.get(part) for part in _parts_of(operand)]
        known = [user_id for user_id in found if user_id is not None]
        return known if known and len(known) == len(found) else None

    def access(self, operand: Operand) -> list[int]:
        """The same. Raises `BadNarrow` instead."""
        found = self.find(operand)
        if found is None:
            shown = operand if not isinstance(operand, list) else ",".join(map(str, operand))
            raise BadNarrow(desc=f"unknown user {shown}")
        return found


def _parts_of(operand: Operand) -> list[int | str]:
    if isinstance(operand, int):
        return [operand]
    if isinstance(operand, str):
        return [part.strip() for part in operand.split(",", MOST_PEOPLE)]
    return list(operand)
