"""Texts of pages in several languages. A new language is a new file in each folder of texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml
from flask import request
from markupsafe import Markup

DEFAULT = "en"

GROUP = "\u202f"
"""The separator of groups of three digits, in all languages. Some readers would read a point or a
comma as a decimal sign (ISO 80000-1, section 7.3.1).
"""
MIN_GROUPED = 5
"""The minimum number of digits of a whole number that is written in groups."""


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of a language, by a key such as `states.paid.title`."""

    language: str
    entries: Mapping[str, str]

    def write(self, key: str, **values: object) -> str:
        """Return a text with its placeholders replaced by the values, not escaped."""
        return self.entries[key].format(**values)

    def mark_up(self, key: str, **values: object) -> Markup:
        """Return a text as HTML, with its placeholders replaced. Values are escaped, except
        `Markup`.
        """
        return Markup(self.entries[key]).format(**values)

    def of_section(self, section: str) -> dict[str, str]:
        """Return the texts of a section, by their keys without the name of the section."""
        start = f"{section}."
        return {
            key.removeprefix(start): text
            for key, text in self.entries.items()
            if key.startswith(start)
        }

    def write_decimal(self, number: str) -> str:
        """Return a decimal number such as `12345.5` in the notation of the language, such as `12
        345,5`.
        """
        whole, _, fraction = number.partition(".")
        if len(whole) >= MIN_GROUPED:
            whole = f"{int(whole):_}".replace("_", GROUP)
        return f"{whole}{self.entries['general.decimal_point']}{fraction}" if fraction else whole


class Catalogue:
    """The texts of some pages in several languages, each in a file `LANGUAGE.yaml` of a folder.
    English is required.

    `languages` maps each language to its texts.
    """

    def __init__(self, folder: Path) -> None:
        self.languages: Mapping[str, Texts] = {
            path.stem: _read_texts(path) for path in sorted(folder.glob("*.yaml"))
        }

    def choose(self) -> Texts:
        """Return the texts for the current request, in the language of `?lang=`, else the best
        match of `Accept-Language` (RFC 9110, section 12.5.4), else English.
        """
        asked = request.args.get("lang", "")
        if asked in self.languages:
            return self.languages[asked]
        offered = [DEFAULT, *(language for language in self.languages if language != DEFAULT)]
        return self.languages[request.accept_languages.best_match(offered, DEFAULT) or DEFAULT]


def _read_texts(path: Path) -> Texts:
    content = yaml.safe_load(path.read_text("utf-8"))
    return Texts(path.stem, MappingProxyType(dict(_flatten(content))))


def _flatten(content: Mapping[str, Any], start: str = "") -> Iterator[tuple[str, str]]:
    for name, value in content.items():
        if isinstance(value, str):
            yield f"{start}{name}", value
        else:
            yield from _flatten(value, f"{start}{name}.")


MESSAGES = Catalogue(Path(__file__).with_name("texts"))
"""The texts of error pages."""
