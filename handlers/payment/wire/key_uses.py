"""Records when each bearer key was last used."""

from datetime import datetime

from models.payment import keys
from specd.db import Database
from specd.errors import DatabaseUnavailable


class KeyUses:
    """When keys were last used, kept in this process and written periodically.

    A write per request would make every read wait for the disk. A crash loses the unwritten uses,
    so the displayed time may be slightly too old.
    """

    def __init__(self) -> None:
        self._uses: dict[str, datetime] = {}

    def note(self, key_id: str, at: datetime) -> None:
        self._uses[key_id] = at

    def flush(self, database: Database, now: datetime) -> None:
        """Write all recorded uses, and delete the written ones. If the database is
        down, keep all.
        """
        uses = dict(self._uses)
        if not uses:
            return
        try:
            database.run(lambda session: keys.note_uses(session, uses))
        except DatabaseUnavailable:
            return  # the outage is logged already; the uses are kept
        for key_id, at in uses.items():
            if self._uses.get(key_id) == at:
                del self._uses[key_id]
