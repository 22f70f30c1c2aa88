"""Emphasis, bold, strikethrough and emoji in a run of inline tokens.

Code, links, mentions and entities are parsed before, so that emphasis does not apply inside them
but can contain them. Only `*` marks emphasis and bold. Marks do not extend over a line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from markdown_it.token import Token

_OPAQUE = "\0"
"""Replaces a token, or a link with its text. Messages do not contain it."""
_MARKS = re.compile(
    r"\*\*\*(?!\s)(?P<both>[^*\n]+)(?<!\s)\*\*\*(?!\*)"
    r"|\*\*(?P<strong>[^\n]+?)\*\*"
    r"|\*(?![\s*])(?P<em>(?:[^*\n]|\*\*[^*\n]+\*\*)+?)(?<!\s)\*(?!\*)"
    r"|(?<!~)~~(?P<s>[^~\n]+)~~(?!~)"
)
_TAGS = {"both": ("strong", "em"), "strong": ("strong",), "em": ("em",), "s": ("s",)}
_ELEMENTS = {"strong": "strong", "em": "em", "s": "del"}

ReadText = Callable[[str], Iterator[Token]]
"""Converts a text without marks to tokens."""


def emphasize(tokens: Sequence[Token], read_text: ReadText) -> list[Token]:
    """Return the tokens with emphasis, and with the tokens that `read_text` finds in plain text."""
    texts, opaque = _split(tokens)
    finished: list[Token] = []
    _read("".join(texts), iter(opaque), read_text, finished)
    return finished


def text_token(content: str) -> Token:
    token = Token("text", "", 0)
    token.content = content
    return token


def _split(tokens: Sequence[Token]) -> tuple[list[str], list[list[Token]]]:
    """Return the text in which each opaque token is one character, and the tokens for each
    character.
    """
    texts: list[str] = []
    opaque: list[list[Token]] = []
    depth = 0
    for token in tokens:
        if depth:
            opaque[-1].append(token)
        elif token.type == "text":
            texts.append(token.content.replace(_OPAQUE, ""))
        elif token.type in ("softbreak", "hardbreak"):
            texts.append("\n")
        else:
            texts.append(_OPAQUE)
            opaque.append([token])
        depth += token.nesting
    return texts, opaque


def _read(
    text: str, opaque: Iterator[list[Token]], read_text: ReadText, finished: list[Token]
) -> None:
    position = 0
    for match in _MARKS.finditer(text):
        _read_plain(text[position : match.start()], opaque, read_text, finished)
        kind = match.lastgroup or ""
        for name in _TAGS[kind]:
            finished.append(Token(f"{name}_open", _ELEMENTS[name], 1))
        _read(match[kind], opaque, read_text, finished)
        for name in reversed(_TAGS[kind]):
            finished.append(Token(f"{name}_close", _ELEMENTS[name], -1))
        position = match.end()
    _read_plain(text[position:], opaque, read_text, finished)


def _read_plain(
    text: str, opaque: Iterator[list[Token]], read_text: ReadText, finished: list[Token]
) -> None:
    for number, piece in enumerate(text.split(_OPAQUE)):
        if number:
            finished.extend(next(opaque))
        for line_number, line in enumerate(piece.split("\n")):
            if line_number:
                finished.append(Token("softbreak", "br", 0))
            if line:
                finished.extend(read_text(line))
