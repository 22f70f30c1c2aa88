"""Writes texts of documents into generated source, as values and docstrings.

Every text of a document becomes the content of a string. None of its characters can end the string,
start a comment, change the direction of a line or be invisible.
"""

from __future__ import annotations

import json
import math
import re
import textwrap
from typing import Any

WIDTH = 100
_PLAIN = {
    **dict.fromkeys((0x2018, 0x2019), "'"),
    **dict.fromkeys((0x2013, 0x2014, 0x2212), "-"),
    0xD7: "x",
    0xA0: " ",
}
"""Character that the linter considers ambiguous -> its replacement."""


def literal(value: Any) -> str:
    """Return the Python source of a JSON value, or of a tuple of such values, on one line."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{literal(k)}: {literal(v)}' for k, v in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(literal, value))})"
    if value is None or isinstance(value, bool | int):
        return repr(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else repr(str(value))
    text = str(value)
    if '"' in text and text.isprintable() and not re.search(r"['\\]", text):
        return f"'{_escaped(text)}'"
    return _escaped(json.dumps(text, ensure_ascii=False))


def docstring(text: str, indent: str = "    ") -> str:
    """Return a text as a docstring, in lines of at most `WIDTH` characters. White space and
    invisible characters become one space.
    """
    plain = "".join(it if it.isprintable() else " " for it in text.translate(_PLAIN))
    plain = " ".join(plain.split()).replace('"', "'").rstrip(".") + "."
    lines = [it.replace("\\", "\\\\") for it in textwrap.wrap(plain, WIDTH - len(indent) - 6)]
    end = "" if len(lines) == 1 else f"\n{indent}"
    return f'"""{f"{chr(10)}{indent}".join(lines)}{end}"""'


def _escaped(text: str) -> str:
    return "".join(
        it if it.isprintable() and ord(it) not in _PLAIN else _escape(ord(it)) for it in text
    )


def _escape(code: int) -> str:
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
