"""Checks whether a machine has the secret under which a service's database was written.

The first machine seals a text under its secret and stores it in a table of the service. A machine
whose secrets cannot open the text is refused before it seals, opens or signs anything.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import Table, select
from sqlalchemy.orm import Session

from specd._db.base import upsert
from specd._db.database import Database
from specd._db.sealing import SealedTexts

PURPOSE = "secret_check"
_TEXT = "specd"


@dataclass(frozen=True, slots=True)
class SharedSecret:
    """The secret that all machines of a service share.

    `table` is a table of the service with one row and the columns `id` and `sealed`, a text.
    `open_texts(settings)` returns the `SealedTexts` with the secrets of this machine.
    """

    table: Table
    open_texts: Callable[[Any], SealedTexts]

    def is_shared(self, database: Database, settings: Any) -> bool:
        """Return whether the secrets of this machine open texts that other machines sealed. The
        first machine that calls this decides on the secret.
        """
        texts = self.open_texts(settings)
        with database.reading() as reader:
            sealed = reader.execute(select(self.table.c.sealed)).scalar()
        if sealed is None:
            sealed = database.run(partial(_find_or_make, table=self.table, texts=texts))
        return texts.opens(sealed, purpose=PURPOSE)

    def renew(self, session: Session, settings: Any) -> None:
        """Accept only machines with the current secret of this machine from now on."""
        sealed = self.open_texts(settings).seal(_TEXT, purpose=PURPOSE)
        made = upsert(self.table).values(id=1, sealed=sealed)
        session.connection().execute(
            made.on_conflict_do_update(index_elements=[self.table.c.id], set_={"sealed": sealed})
        )


def _find_or_make(session: Session, table: Table, texts: SealedTexts) -> str:
    sealed = texts.seal(_TEXT, purpose=PURPOSE)
    made = upsert(table).values(id=1, sealed=sealed).on_conflict_do_nothing()
    session.connection().execute(made)
    return str(session.connection().execute(select(table.c.sealed)).scalar_one())
