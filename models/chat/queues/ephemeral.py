"""Events that say something for a moment only.

A client that does not ask within it never gets them, and their rows go long before the others
(`models.chat.queues.retention`).
"""

from collections.abc import Mapping
from datetime import timedelta

LASTS: Mapping[str, timedelta] = {
    "presence": timedelta(seconds=140),
    "typing": timedelta(seconds=15),
    "typing_edit_message": timedelta(seconds=15),
}
"""Type -> for how long; `models.chat.tables.log.EPHEMERAL` is the condition of their index."""
