"""The table of all fields (fields.yaml), for conversions in both directions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from models.json import Json

RELEASES = (9, 10, 11, 12)
"""The Zulip releases whose exports the table describes."""
_FILE = Path(__file__).with_name("fields.yaml")
_OURS = "ours"


@dataclass(frozen=True, slots=True)
class ZulipTable:
    """A table of Zulip's export, or one of its lists of files.

    `taken` maps fields to our columns (`alert_word.word`). `derived` and `dropped` map the other
    fields to the reasons why they are not imported.
    """

    name: str
    taken: Mapping[str, str]
    derived: Mapping[str, str]
    dropped: Mapping[str, str]
    first: Mapping[str, int]
    last: Mapping[str, int]

    @property
    def fields(self) -> frozenset[str]:
        """The names of all fields in all releases."""
        return frozenset((*self.taken, *self.derived, *self.dropped))

    def fields_of(self, release: int) -> frozenset[str]:
        """Return the names of the fields that a release exports."""
        begin = self.first.get("*", RELEASES[0])
        return frozenset(
            name
            for name in self.fields
            if max(begin, self.first.get(name, begin))
            <= release
            <= self.last.get(name, RELEASES[-1])
        )


@cache
def zulip_tables() -> Mapping[str, ZulipTable]:
    """Return all tables by name."""
    return {name: _table(name, body) for name, body in _read().items() if name != _OURS}


@cache
def without_field() -> tuple[Mapping[str, Json], Mapping[str, Json]]:
    """Return the columns of our archive that have no field in Zulip's export: those that follow
    from others, and those that are lost. Both are file -> column -> reason, and `*` stands for all
    columns of the file.
    """
    ours: Mapping[str, Mapping[str, Json]] = _read()[_OURS]
    return ours["derived"], ours["lost"]


def losses() -> Iterator[tuple[str, str, list[str]]]:
    """Yield table, reason and fields of the data that an import from Zulip drops."""
    for table in zulip_tables().values():
        reasons: dict[str, list[str]] = {}
        for field, why in table.dropped.items():
            reasons.setdefault(why, []).append(field)
        for why, fields in reasons.items():
            yield table.name, why, fields


@cache
def _read() -> Mapping[str, Json]:
    content: Mapping[str, Json] = yaml.safe_load(_FILE.read_text())
    return content


def _table(name: str, body: Json) -> ZulipTable:
    taken = dict(_mapping(body, "taken"))
    for file, fields in _mapping(body, "same").items():
        taken.update((field, f"{file}.{field}") for field in fields if field not in taken)
    for column, fields in _mapping(body, "within").items():
        taken.update(dict.fromkeys(fields, column))
    return ZulipTable(
        name=name,
        taken=taken,
        derived=_reasons(body, "derived"),
        dropped=_reasons(body, "dropped"),
        first=_mapping(body, "from"),
        last=_mapping(body, "until"),
    )


def _mapping(body: Json, key: str) -> Mapping[str, Json]:
    found: Mapping[str, Json] = body.get(key, {})
    return found


def _reasons(body: Json, key: str) -> dict[str, str]:
    return {field: each["why"] for each in body.get(key, []) for field in each["fields"]}
