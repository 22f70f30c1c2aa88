"""The data of a profile field: choices, or an account at an outside service."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import orjson

from models.chat.profiles.errors import InvalidFieldData
from models.chat.profiles.values import FieldType


@dataclass(frozen=True, slots=True)
class ExternalAccount:
    """A known outside service, with the name and hint of its field. `text` is the name of the
    service, and `%(username)s` in `url_pattern` is replaced by the account.
    """

    name: str
    hint: str
    text: str
    url_pattern: str


CUSTOM = "custom"
USERNAME = "%(username)s"
EXTERNAL_ACCOUNTS: Mapping[str, ExternalAccount] = {
    "twitter": ExternalAccount(
        "Twitter username", "", "Twitter", f"https://twitter.com/{USERNAME}"
    ),
    "github": ExternalAccount("GitHub username", "", "GitHub", f"https://github.com/{USERNAME}"),
}


def check_field_data(type_: FieldType | None, data: Mapping[str, Any]) -> str:
    """Return the data as it is stored: JSON text for types with data, otherwise an empty text.

    Raise `InvalidFieldData`.
    """
    match type_:
        case FieldType.DROPDOWN:
            _check_choices(data)
        case FieldType.EXTERNAL_ACCOUNT:
            _check_account(data)
        case _:
            return ""
    return orjson.dumps(data).decode()


def find_account(type_: FieldType | None, data: Mapping[str, Any]) -> ExternalAccount | None:
    """Return the known service of an external account, or None. The data are checked."""
    return EXTERNAL_ACCOUNTS.get(data["subtype"]) if type_ == FieldType.EXTERNAL_ACCOUNT else None


def _refuse(problem: str) -> NoReturn:
    raise InvalidFieldData(problem=problem)


def _check_choices(data: Mapping[str, Any]) -> None:
    texts = []
    for key, choice in data.items():
        if not key.strip():
            _refuse("'value' cannot be blank.")
        if not isinstance(choice, dict):
            _refuse("field_data is not a dict")
        for part in ("text", "order"):
            if part not in choice:
                _refuse(f"{part} key is missing from field_data")
            if not isinstance(choice[part], str):
                _refuse(f'field_data["{part}"] is not a string')
            if not choice[part].strip():
                _refuse(f'field_data["{part}"] cannot be blank.')
        if len(choice) > 2:
            _refuse(f"Unexpected arguments: {', '.join(sorted(set(choice) - {'text', 'order'}))}")
        texts.append(choice["text"])
    if not texts:
        _refuse("Field must have at least one choice.")
    if len(set(texts)) < len(texts):
        _refuse("Field must not have duplicate choices.")


def _check_account(data: Mapping[str, Any]) -> None:
    subtype = data.get("subtype")
    if subtype is None:
        _refuse("subtype key is missing from field_data")
    if not isinstance(subtype, str):
        _refuse('field_data["subtype"] is not a string')
    if foreign := sorted(set(data) - {"subtype", "url_pattern"}):
        _refuse(f"Unexpected arguments: {', '.join(foreign)}")
    if subtype in EXTERNAL_ACCOUNTS:
        return
    if subtype != CUSTOM:
        _refuse("Invalid external account type")
    pattern = data.get("url_pattern")
    if pattern is None:
        _refuse("Custom external account must define URL pattern")
    if not isinstance(pattern, str):
        _refuse('field_data["url_pattern"] is not a string')
    if USERNAME not in pattern:
        _refuse(f"URL pattern must contain '{USERNAME}'.")
    if not pattern.startswith(("http://", "https://")):
        _refuse('field_data["url_pattern"] is not a URL')
