"""Events that say something for a moment only.

A client that does not ask within it never gets them, and their rows go long before the others
(`models.chat.queues.retention`).
"""

from collections.abc import Mapping
from datetime import timedelta

from models.chat.presence.view import OFFLINE_AFTER

LASTS: Mapping[str, timedelta] = {
    "presence": OFFLINE_AFTER,
    "typing": timedelta(seconds=15),
    "typing_edit_message": timedelta(seconds=15),
}
"""Type -> for how long; `models.chat.tables.log.EPHEMERAL` is the condition of their index."""
