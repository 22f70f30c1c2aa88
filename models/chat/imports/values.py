"""Convert values of an archive to values of the database: check them against their columns, find
references and rewrite texts.

The values of many rows are converted together, column by column, because this costs a fraction of
checking each value alone.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

import orjson
from sqlalchemy import BigInteger, Boolean, Column, Integer, String

from models.chat.channels.channels import check_channel_name
from models.chat.channels.folders import check_folder_name
from models.chat.common.one_line import FORBIDDEN
from models.chat.errors import ChatError
from models.chat.identity.roles import Role
from models.chat.imports import references
from models.chat.imports.target import Target
from models.chat.imports.texts import Texts
from models.chat.messages.flags import IS_PRIVATE
from models.chat.organization.emoji import check_emoji_name
from models.chat.organization.settings import WELCOME_TEXT_MAX
from models.chat.people.defaults import CHANGEABLE
from models.chat.people.emails import check_email
from models.chat.people.emoji import EXTRA, REALM, UNICODE
from models.chat.people.full_names import check_full_name
from models.chat.rendering.sanitising import sanitise
from models.chat.rendering.texts import CONTENT_MAX
from models.chat.settings.user_settings import check_settings
from models.chat.tables.setting_table import SETTINGS
from models.chat.uploads import names
from models.json import Json
from specd.db import UtcMs

HTML = re.compile(r"(?:.+_)?rendered_(?:content|description|value)")
"""Columns that a browser shows without escaping."""
MARKDOWN = frozenset(
    ("content", "description", "note", "prev_content", "value", "welcome_message_custom_text")
)
ADDRESSES = frozenset(("source_url", "still_url"))
OPAQUE = frozenset(("bot_storage", "submessage"))
"""Tables with texts that only programs read."""
LENGTHS = {
    ("draft", "content"): CONTENT_MAX,
    ("message", "content"): CONTENT_MAX,
    ("message_edit", "prev_content"): CONTENT_MAX,
    ("saved_snippet", "content"): CONTENT_MAX,
    ("scheduled_message", "content"): CONTENT_MAX,
    ("realm", "welcome_message_custom_text"): WELCOME_TEXT_MAX,
}
"""The API's maximum lengths in characters for columns without a limit."""
BETWEEN = {
    ("user_message", "flags"): (0, 2 * IS_PRIVATE - 1),
    ("realm", "message_retention_days"): (-1, (1 << 31) - 1),
    ("channel", "message_retention_days"): (-1, (1 << 31) - 1),
}
"""The least and the greatest value of columns whose types allow more values."""
TO_COME = {
    ("invitation", "expires_at"),
    ("scheduled_message", "created_at"),  # Zulip's exports contain no other time before release 11
    ("scheduled_message", "scheduled_at"),
}
"""Columns with times that may be in the future."""
REACTION_TYPES = frozenset(("", EXTRA, REALM, UNICODE))
_KIND = re.compile(r"(?:setting:)?[a-z0-9]+(?:_[a-z0-9]+)*")
_HANDLE = re.compile(r"[0-9a-f]{32}")
_COLOR = re.compile(r"#[0-9a-f]{6}", re.IGNORECASE)
Convert = Callable[[Sequence[Json]], Sequence[Json]]


def converter(column: Column[Any], target: Target) -> Convert:
    """Return the converter for a column. It converts the values of any number of rows and raises
    ValueError if one of them is invalid.
    """
    check, change = _typed(column), _changed(column, target)

    def convert(values: Sequence[Json]) -> Sequence[Json]:
        check(values)
        return values if change is None else change(values)

    if not column.nullable:
        return convert

    def convert_some(values: Sequence[Json]) -> Sequence[Json]:
        if None not in values:
            return convert(values)
        there = [value for value in values if value is not None]
        if not there:
            return values
        converted = iter(convert(there))
        return [None if value is None else next(converted) for value in values]

    return convert_some


def _typed(column: Column[Any]) -> Callable[[Sequence[Json]], None]:
    type_ = column.type
    if isinstance(type_, UtcMs):
        return _require_times
    if isinstance(type_, Boolean):
        return _require_booleans
    place = column.table.name, column.name
    if isinstance(type_, Integer):
        return partial(
            _require_integers,
            bits=64 if isinstance(type_, BigInteger) else 32,
            between=BETWEEN.get(place),
        )
    if isinstance(type_, String):
        most = type_.length or LENGTHS.get(place)
        is_line = type_.length is not None and column.name not in MARKDOWN
        return partial(_require_texts, most=most, is_line=is_line)
    raise NotImplementedError(type_)


def _are(kind: type, values: Iterable[Json]) -> bool:
    """Return whether all values have this type."""
    return set(map(type, values)) == {kind}


def _require_texts(values: Sequence[Json], most: int | None, is_line: bool) -> None:
    if not _are(str, values):
        raise ValueError("is no text")
    together = "".join(values)
    if "\0" in together:
        raise ValueError("has a character that no text may have")
    if most is not None and max(map(len, values)) > most:
        raise ValueError(f"is longer than {most} characters")
    if is_line and FORBIDDEN.search(together) is not None:
        raise ValueError("has a character that no line may have")


def _require_booleans(values: Sequence[Json]) -> None:
    if not _are(bool, values):
        raise ValueError("is neither true nor false")


def _require_integers(values: Sequence[Json], bits: int, between: tuple[int, int] | None) -> None:
    end = 1 << bits - 1
    if not _are(int, values) or min(values) < -end or max(values) >= end:
        raise ValueError(f"is no integer of {bits} bits")
    if between is not None and (min(values) < between[0] or max(values) > between[1]):
        raise ValueError(f"is not from {between[0]} to {between[1]}")


def _require_times(values: Sequence[Json]) -> None:
    if not _are(str, values) or not all([value.endswith("Z") for value in values]):
        raise ValueError("is no time in UTC")


def _times(values: Sequence[str], latest: datetime | None) -> list[datetime]:
    try:
        times = [datetime.fromisoformat(value) for value in values]
    except ValueError:
        raise ValueError("is no time in UTC") from None
    if latest is not None and max(times) > latest:
        raise ValueError("is in the future")
    return times


def _changed(column: Column[Any], target: Target) -> Convert | None:
    """Return the converter for the column, or None if values are copied unchanged."""
    if isinstance(column.type, UtcMs):
        may_come = (column.table.name, column.name) in TO_COME
        return partial(_times, latest=None if may_come else target.latest)
    referred = references.table_of_column(column) if column.foreign_keys else None
    if column.name == "id":
        referred = column.table.name
    if referred is not None:
        return target.ids.finder(referred)
    change = _change(column, target)
    if change is None:
        return None
    return lambda values: [change(value) for value in values]


def _change(column: Column[Any], target: Target) -> Callable[[Any], Any] | None:
    """Return the converter for one value, or None if it is copied unchanged."""
    ids, texts, name, of = target.ids, target.texts, column.name, column.table.name
    special = _SPECIAL.get((of, name))
    if special is not None:
        return lambda value: special(value, target)
    referred = references.table_of_column(column)
    if referred is not None:
        if referred == "user_group" and not column.nullable:
            # 0 means that the group is not set yet. Other groups must exist, because they are in
            # use.
            find = ids.finder(referred)
            return lambda old: 0 if old == 0 else find([old])[0]
        if column.unique:
            return lambda old: ids.find(referred, old)
        # Values below 1 have special meanings. A reference to a missing row becomes `NOBODY`.
        return lambda old: ids.find_or_nobody(referred, old) if old > 0 else old
    if name in references.ONLY_ORDERED:
        return lambda old: ids.nearest("message", old)
    if name in references.JSON_LISTS:
        table = references.JSON_LISTS[name]
        return lambda text: references.new_list(ids, table, text)
    if of == "user" and name in SETTINGS:
        return lambda value: _checked_setting(name, value)
    if of in OPAQUE or not isinstance(column.type, String):
        return None
    if HTML.fullmatch(name):
        return lambda text: sanitise(texts.rewrite(text))
    if name in MARKDOWN:
        return _rewrite_within(texts, column.type.length or LENGTHS.get((of, name)))
    if name in ADDRESSES:
        return texts.rewrite
    return None


def _rewrite_within(texts: Texts, most: int | None) -> Callable[[str], str]:
    """Return a function that rewrites texts, except texts that would become too long."""
    if most is None:
        return texts.rewrite

    def rewrite(text: str) -> str:
        new = texts.rewrite(text)
        return new if len(new) <= most else text

    return rewrite


def _checked_setting(name: str, value: Json) -> Json:
    try:
        return check_settings({name: value})[name]
    except ChatError:
        raise ValueError("is none of the values that there are") from None


def _json_object(text: str, target: Target) -> str:
    """Check a JSON object. The text may be empty."""
    if text and not isinstance(orjson.loads(text), dict):
        raise ValueError("is no JSON object")
    return text


def _user_defaults(text: str, target: Target) -> str:
    defaults = orjson.loads(text)
    if not isinstance(defaults, dict) or not defaults.keys() <= CHANGEABLE:
        raise ValueError("is no object of settings")
    checked = {name: _checked_setting(name, value) for name, value in defaults.items()}
    if any(type(value) is not type(SETTINGS[name].default) for name, value in checked.items()):
        raise ValueError("is none of the values that there are")
    return orjson.dumps(checked).decode()


def _handle(old: str, target: Target) -> str:
    if _HANDLE.fullmatch(old) is None:
        raise ValueError("is no handle of a file")
    return target.ids.handle(old)


def _avatar(old: str, target: Target) -> str | None:
    """Return the new handle, or None if the archive lacks the file."""
    new = _handle(old, target)
    return new if old in target.avatars else None


def _same(check: Callable[[str], str]) -> Callable[[str, Target], str]:
    def unchanged(value: str, target: Target) -> str:
        if check(value) != value:
            raise ValueError("is not as the service stores it")
        return value

    return unchanged


def _color(value: str, target: Target) -> str:
    if _COLOR.fullmatch(value) is None:
        raise ValueError("is no color")
    return value


def _stored_as(check: Callable[[str], str]) -> Callable[[str, Target], str]:
    """Return a check that applies the rule of the API and requires the stored form of the text."""
    same = _same(check)

    def checked(value: str, target: Target) -> str:
        try:
            return same(value, target)
        except ChatError as error:
            raise ValueError(str(error)) from None

    return checked


def _reaction_type(value: str, target: Target) -> str:
    if value not in REACTION_TYPES:
        raise ValueError("is no kind of reaction")
    return value


def _not_blank(value: str, target: Target) -> str:
    if not value.strip():
        raise ValueError("is empty")
    return value


def _kind(value: str, target: Target) -> str:
    if _KIND.fullmatch(value) is None:
        raise ValueError("is no kind of change")
    return value


def _role(value: int, target: Target) -> int:
    if value not in set(Role):
        raise ValueError("is no role")
    return value


def _not_negative(value: int, target: Target) -> int:
    if value < 0:
        raise ValueError("is negative")
    return value


_SPECIAL: Mapping[tuple[str, str], Callable[[Any, Target], Any]] = {
    ("attachment", "handle"): _handle,
    ("attachment", "media_type"): _same(lambda value: names.check_media_type(value, "")),
    ("attachment", "name"): _same(names.check_name),
    ("attachment", "path_name"): _same(names.path_name_of),
    ("attachment", "size"): _not_negative,
    ("audit_log", "kind"): _kind,
    ("channel", "name"): _stored_as(check_channel_name),
    ("channel_folder", "name"): _stored_as(check_folder_name),
    ("invitation", "email"): _stored_as(check_email),
    ("invitation", "role"): _role,
    ("navigation_view", "fragment"): lambda value, target: target.texts.rewrite_fragment(value),
    ("profile_field", "field_data"): _json_object,
    ("reaction", "reaction_type"): _reaction_type,
    ("realm", "default_language"): lambda value, target: _checked_setting(
        "default_language", value
    ),
    ("realm", "user_defaults"): _user_defaults,
    ("realm_emoji", "handle"): _handle,
    ("realm_emoji", "name"): _stored_as(check_emoji_name),
    ("saved_snippet", "title"): _not_blank,
    ("submessage", "content"): lambda value, target: references.new_widget(target.ids, value),
    ("subscription", "color"): _color,
    ("user", "avatar_handle"): _avatar,
    ("user", "full_name"): _stored_as(partial(check_full_name, is_system_bot=True)),
    ("user_group", "name"): _not_blank,
    ("user_status", "reaction_type"): _reaction_type,
}
