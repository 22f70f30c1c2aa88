"""Block structure of Zulip's Markdown: quotes, lists and fenced blocks, as rules for markdown-it.

Each rule collects the lines of one block, removes their markers and parses the content as a
separate text, like Python-Markdown. Blocks that are nested deeper than `MAX_DEPTH` are shown as
text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from weakref import WeakKeyDictionary

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token
from markdown_it.utils import EnvType

from models.chat.rendering.math import render_math
from models.chat.rendering.syntax import HTML

MAX_DEPTH = 20
"""Maximum nesting of quotes, lists and fenced blocks."""

_INDENT = 2
"""Number of spaces that indent the content of a list item."""
_FENCE = re.compile(
    r"(?P<fence>`{3,}|~{3,})[ ]*"
    r"(?:\{?\.?(?P<language>[\w+\-./#]+)[ ]*(?P<header>[^~`]+)?\}?)?[ ]*"
)
_CONTAINERS = frozenset(("quote", "quoted", "spoiler"))
_ITEM = re.compile(r"(?P<indent> *)(?:(?P<bullet>[*+-])|(?P<number>[0-9]{1,9})\.) +(?P<text>\S.*)")
_HANGING = re.compile(r" *(?:[*+-]|[0-9]\.) +\S")
"""A list item that can follow a paragraph without a blank line."""
_QUOTED = re.compile(r" {0,3}> ?")
_NO_PARAGRAPH = re.compile(r" {0,3}(?:>|#{1,6}\s|(?:[*_-] *){3,}\Z)")
"""A line that starts a block other than a paragraph. Fences and items have separate rules."""

_quote_starts: WeakKeyDictionary[StateBlock, list[bool]] = WeakKeyDictionary()


def install(parser: MarkdownIt) -> None:
    """Replace CommonMark's rules for these blocks."""
    ruler = parser.block.ruler
    ruler.at("fence", _fence, {"alt": ["paragraph"]})
    ruler.at("blockquote", _quote, {"alt": ["paragraph"]})
    ruler.at("list", _list, {"alt": ["paragraph"]})


@contextmanager
def _deeper(env: EnvType) -> Iterator[None]:
    env["depth"] += 1
    yield
    env["depth"] -= 1


def _parse(state: StateBlock, lines: Sequence[str]) -> None:
    """Append the tokens of a block's content."""
    with _deeper(state.env):
        state.md.block.parse("\n".join(lines), state.md, state.env, state.tokens)


def _line(state: StateBlock, number: int) -> str:
    return state.src[state.bMarks[number] : state.eMarks[number]]


def _push_html(state: StateBlock, markup: str) -> None:
    state.push(HTML, "", 0).content = markup


def _open_fence(line: str) -> re.Match[str] | None:
    return _FENCE.fullmatch(line.rstrip())


# Fenced blocks


def _fence(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    if state.is_code_block(start):
        return False
    indent = state.sCount[start]
    opening = _open_fence(_line(state, start)[state.tShift[start] :])
    if opening is None:
        return False
    if silent:
        return True
    lines: list[str] = []
    after = _collect_fenced(state, opening, range(start + 1, end), indent, lines)
    language, header = opening["language"] or "", (opening["header"] or "").strip("} ")
    shallow = state.env["depth"] < MAX_DEPTH
    if language in ("quote", "quoted") and shallow:
        _push_quote(state, lines)
    elif language == "spoiler" and shallow:
        _push_html(state, '<div class="spoiler-block"><div class="spoiler-header">\n')
        _parse(state, [header])
        _push_html(state, '</div><div class="spoiler-content" aria-hidden="true">\n')
        _parse(state, lines)
        _push_html(state, "</div></div>\n")
    elif language == "math":
        markup = render_math("\n".join(lines), display=True, budget=state.env["math"])
        _push_html(state, f"<p>{markup}</p>\n")
    else:
        token = state.push("fence", "code", 0)
        token.info = language
        token.content = "".join(f"{line.rstrip()}\n" for line in lines)
    state.line = after
    return True


def _collect_fenced(
    state: StateBlock, opening: re.Match[str], numbers: range, indent: int, lines: list[str]
) -> int:
    """Collect the lines up to the closing fence, or to the end. Return the number of the
    next line.
    """
    open_fences = [opening]
    for number in numbers:
        line = _line(state, number)
        line = line[min(indent, len(line) - len(line.lstrip(" "))) :]
        if line.rstrip() == open_fences[-1]["fence"]:
            open_fences.pop()
            if not open_fences:
                return number + 1
        elif open_fences[-1]["language"] in _CONTAINERS:
            inner = _open_fence(line)
            if inner is not None:
                open_fences.append(inner)
        lines.append(line)
    return numbers.stop


# Quotes


def _push_quote(state: StateBlock, lines: Sequence[str]) -> None:
    state.push("blockquote_open", "blockquote", 1)
    _parse(state, lines)
    state.push("blockquote_close", "blockquote", -1)


def _starts_quote(state: StateBlock, number: int) -> bool:
    """Return whether a quote starts at this line: the line, or a later line of its block, contains
    text.
    """
    if state not in _quote_starts:
        starts: list[bool] = []
        has_text = False
        for each in reversed(range(state.lineMax)):
            line = _line(state, each)
            marker = _QUOTED.match(line)
            if marker is None:
                has_text = bool(line.strip())
                starts.append(False)
            else:
                has_text = has_text or bool(line[marker.end() :].strip())
                starts.append(has_text)
        _quote_starts[state] = starts[::-1]
    return _quote_starts[state][number]


def _quote(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    if state.is_code_block(start) or state.src[state.bMarks[start] + state.tShift[start]] != ">":
        return False
    if state.env["depth"] >= MAX_DEPTH or not _starts_quote(state, start):
        return False
    if silent:
        return True
    lines: list[str] = []
    number = start
    while number < end and not state.isEmpty(number):
        line = _line(state, number)
        marker = _QUOTED.match(line)
        if marker is None and _starts_block(line):
            break
        lines.append(line[marker.end() :] if marker else line)
        number += 1
    _push_quote(state, lines)
    state.line = number
    return True


def _starts_block(line: str) -> bool:
    """Return whether a line cannot continue the paragraph of a quote or an item above it."""
    return (
        _NO_PARAGRAPH.match(line) is not None
        or _HANGING.match(line) is not None
        or (line.lstrip()[:3] in ("```", "~~~") and _open_fence(line.lstrip()) is not None)
    )


# Lists


def _list(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    if state.is_code_block(start) or state.env["depth"] >= MAX_DEPTH:
        return False
    first = _ITEM.fullmatch(_line(state, start).expandtabs(4))
    if first is None:
        return False
    if silent:
        return _HANGING.match(first.group()) is not None
    items, is_loose, after = _collect_items(state, first, range(start + 1, end))
    kind, tag = ("bullet", "ul") if first["bullet"] else ("ordered", "ol")
    opening = state.push(f"{kind}_list_open", tag, 1)
    if first["number"] and int(first["number"]) != 1:
        opening.attrs = {"start": int(first["number"])}
    for lines in items:
        state.push("list_item_open", "li", 1)
        begin = len(state.tokens)
        _parse(state, lines)
        if not is_loose:
            _hide_paragraphs(state.tokens[begin:])
        state.push("list_item_close", "li", -1)
    state.push(f"{kind}_list_close", tag, -1)
    state.line = after
    return True


def _collect_items(
    state: StateBlock, first: re.Match[str], numbers: range
) -> tuple[list[list[str]], bool, int]:
    """Return the lines of each item, whether a blank line separates paragraphs or items, and the
    number of the next line.
    """
    items = [[first["text"]]]
    indent = len(first["indent"])
    is_loose = is_after_blank = False
    fence: str | None = None
    for number in numbers:
        if state.isEmpty(number):
            is_after_blank = True
            continue
        line = _line(state, number).expandtabs(4)
        own = len(line) - len(line.lstrip(" "))
        item = _ITEM.fullmatch(line)
        if own >= indent + _INDENT:
            text = line[indent + _INDENT :]
            if is_after_blank:
                items[-1].append("")
                is_loose = is_loose or (fence is None and own < indent + 2 * _INDENT)
            fence = _follow_fence(fence, text.strip())
            items[-1].append(text)
        elif item is not None and bool(item["bullet"]) == bool(first["bullet"]):
            is_loose = is_loose or is_after_blank
            indent, fence = own, None
            items.append([item["text"]])
        elif is_after_blank or fence is not None or _starts_block(line):
            return items, is_loose, number
        else:
            items[-1].append(line)
        is_after_blank = False
    return items, is_loose, numbers.stop


def _follow_fence(fence: str | None, line: str) -> str | None:
    """Return the fence that is open after this line."""
    if fence is not None:
        return None if line == fence else fence
    opening = _open_fence(line) if line[:3] in ("```", "~~~") else None
    return opening["fence"] if opening else None


def _hide_paragraphs(tokens: Sequence[Token]) -> None:
    """Show paragraphs that are direct children of an item without `<p>`."""
    depth = 0
    for token in tokens:
        if token.nesting < 0:
            depth -= 1
        if depth == 0 and token.type in ("paragraph_open", "paragraph_close"):
            token.hidden = True
        if token.nesting > 0:
            depth += 1


def as_text(text: str) -> str:
    """Return HTML that shows a text unchanged."""
    return f"<p>{escape(text)}</p>".replace("\n", "<br>\n")
