"""The services of this release, an entry for each: whatever goes through all of them reads it here.

A leaf, so that every layer may read it and `specd --help` imports no service. By convention the
service NAME has its document in `specs/NAME.yaml`, a function `compose(settings)` in
`handlers/NAME/wiring.py`, its tables in `models/NAME`, its migrations in `models/migrations/NAME`,
and its database in `SPECD_NAME_DATABASE_URL`. The entry says what else it has.

A service may have further documents, `specs/DOCUMENT.yaml`, that are served beside the first one,
some of them only where a setting says so.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """One service. `further` names the documents it has beside the one called like itself, and
    `optional` those of them that its wiring leaves out unless a setting asks for them. `pages`,
    `workers` and `commands` name modules, where it has any: of pages for people
    (`install_for(app, service)`), of background jobs (`WORKERS`) and of commands of `specd` (a
    click group called like the service).
    """

    name: str
    further: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    pages: str = ""
    workers: str = ""
    commands: str = ""

    @property
    def documents(self) -> tuple[str, ...]:
        """The names of all its documents, the first one first."""
        return (self.name, *self.further)

    @property
    def wiring(self) -> str:
        """The module whose `compose(settings)` puts the service together."""
        return f"handlers.{self.name}.wiring"


SERVICES = (
    Entry(
        "payment",
        further=("payment-events", "payment-test"),
        optional=("payment-test",),
        pages="pages.payment",
        workers="workers.payment",
        commands="cli.payment",
    ),
    Entry("chat", pages="pages.chat", workers="workers.chat", commands="cli.chat"),
)
NAMES = tuple(entry.name for entry in SERVICES)
DOCUMENTS = {document: entry.name for entry in SERVICES for document in entry.documents}
"""The name of each document -> the service that it is of."""
OPTIONAL = frozenset(document for entry in SERVICES for document in entry.optional)
"""The documents that are served only where a setting says so."""
