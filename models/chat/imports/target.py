"""The organization into which the rows of an archive are imported."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from models.chat.common.vault import Vault
from models.chat.identity.api_keys import KeyMaker
from models.chat.imports.ids import Ids
from models.chat.imports.texts import Texts
from models.json import Json

Line = Mapping[str, Json]
"""A line of an archive. Only the names of its columns have been checked."""
Row = dict[str, Json]
"""The values of a row, by column."""


@dataclass(frozen=True, slots=True)
class Target:
    """The organization into which rows are imported."""

    ids: Ids
    texts: Texts
    keys: KeyMaker
    vault: Vault
    name: str | None = None
    field_types: dict[int, int] = field(default_factory=dict)
    """The types of custom profile fields, by their old ids."""
    avatars: set[str] = field(default_factory=set)
    """The old handles of users' avatars whose files are in the archive."""
    password_hashes: Mapping[int, str] = field(default_factory=dict)
    """Password hashes that the archive does not contain, by the old ids of users."""
    latest: datetime | None = None
    """The latest time that a past event may have, or None if the source is another specd
    installation.
    """
