"""Account states: whether a user who has waited for an answer may still get it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import select

from models.chat.identity.actors import Actor
from models.chat.tables import User
from models.dialects import id_in
from models.reader import Db


@dataclass(frozen=True, slots=True)
class AccountState:
    """The columns of a user that must not change while the user waits."""

    role: int
    is_active: bool
    api_key_sha256: str = field(repr=False)

    def is_of(self, actor: Actor) -> bool:
        """Return whether the actor is active and has the role and the API key they began with."""
        return (
            self.is_active
            and self.role == actor.role
            and self.api_key_sha256 == actor.api_key_sha256
        )


def find_account_states(db: Db, user_ids: Sequence[int]) -> dict[int, AccountState]:
    """Return user id -> account state, in one statement."""
    if not user_ids:
        return {}
    columns = select(User.id, User.role, User.is_active, User.api_key_sha256)
    rows = db.execute(columns.where(id_in(User.id, user_ids)))
    return {row.id: AccountState(row.role, row.is_active, row.api_key_sha256) for row in rows}
