"""Who asks: the bearer key of a project, and the memory of when each key was last used."""

from datetime import datetime

from models.database import Database
from models.payment import keys
from models.payment.keys import Actor
from server.context import Context


class KeyUses:
    """When keys were last used, kept in this process and written down now and then.

    A write per request would make every read wait for the disk. What a killed process had not
    written yet is lost, which costs a few seconds of a date that only people look at.
    """

    def __init__(self) -> None:
        self._uses: dict[str, datetime] = {}

    def note(self, key_id: str, at: datetime) -> None:
        self._uses[key_id] = at

    def flush(self, database: Database, now: datetime) -> None:
        """Write all that is remembered, and forget it once it is written."""
        uses = dict(self._uses)
        if not uses:
            return
        database.run(lambda session: keys.note_uses(session, uses))
        for key_id, at in uses.items():
            if self._uses.get(key_id) == at:
                del self._uses[key_id]


def authenticate(token: str, *, request: Context) -> Actor | None:
    """The project a bearer key speaks for; None for any key that is not active."""
    actor = keys.find_actor(request.session, token)
    if actor is not None:
        request.adapters.key_uses.note(actor.key_id, request.now)
    return actor
