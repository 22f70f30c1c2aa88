"""The renderer: markdown-it-py with chat's own inline syntax, fences and links.

Raw HTML is text. Newlines are line breaks. Images are links, so that no browser fetches what others
wrote. The result is sanitised.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock, table
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from models.chat.rendering import syntax
from models.chat.rendering.code import render_code
from models.chat.rendering.links import find_links, is_safe
from models.chat.rendering.names import Names
from models.chat.rendering.previews import MOST_PREVIEWS, Preview, handles_in
from models.chat.rendering.sanitising import sanitise

DEEPEST = 5
"""Fences inside fences (a spoiler in a quote in a spoiler) that are still rendered."""
MOST_CELLS = 5_000
"""Of all tables of a message, with those that complete short rows. Written cells are never so many,
because each takes two characters.
"""
MOST_HTML = 200_000
"""Characters of a rendered message."""

_SCHEMES = re.compile(r"(?:https?|mailto|tel|xmpp):|[/#?]|[^:/?#]*(?:[/?#]|\Z)", re.IGNORECASE)
# One line of words without any sign of Markdown, as most messages are.
_PROSE = re.compile(r"[^\W\d_](?:[^\W_]|[ ,.?;()])*")
_IMAGE = re.compile(r"\.(?:bmp|gif|jpe?g|png|webp)(?:[?#]|\Z)", re.IGNORECASE)
_ATTACHMENT = re.compile(r"(?:\A|/)user_uploads/(?:[0-9]+/([0-9a-f]{32})-)?")


@dataclass(slots=True)
class Rendered:
    """HTML, and whom and what the text refers to.

    `user_ids` and `group_ids` are mentioned loudly; silent mentions and those in quotes notify
    nobody.
    """

    html: str = ""
    user_ids: set[int] = field(default_factory=set)
    group_ids: set[int] = field(default_factory=set)
    mentions_channel: bool = False
    mentions_topic: bool = False
    refused_group: str | None = None
    """A group its author may not mention loudly, but did."""
    has_link: bool = False
    has_image: bool = False
    has_attachment: bool = False
    upload_handles: set[str] = field(default_factory=set)
    """Of the files that the text links to, as addresses have them."""


def render(text: str, names: Names, *, empty_topic_name: str = "general chat") -> Rendered:
    """Return the rendered message; one that becomes too long is shown as text, and refers to
    nothing. Never raise an error.
    """
    rendered = Rendered()
    if not names.linkifiers and _PROSE.fullmatch(text) and "ww." not in text.lower():
        rendered.html = f"<p>{text.strip()}</p>"
        return rendered
    env = {
        "names": names,
        "rendered": rendered,
        "depth": 0,
        "quoted": False,
        "empty_topic_name": empty_topic_name,
        "cells": _Cells(),
    }
    try:
        markup = _PARSER.render(text, env)
    except _TooMuch:
        return Rendered(as_text(text))
    if len(markup) > MOST_HTML:
        return Rendered(as_text(text))
    rendered.html = sanitise(markup).strip()
    return rendered


def as_text(text: str) -> str:
    """Return the HTML that shows a text as it was written."""
    return f"<p>{escape(text)}</p>".replace("\n", "<br>\n")


class _TooMuch(Exception):
    """The rendered text exceeds a limit."""


@dataclass(slots=True)
class _Cells:
    left: int = MOST_CELLS


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Apply the rule of Markdown's tables after the cells are counted."""
    if not table(state, start, end, True):
        return False
    if not silent:
        ruler = state.src[state.bMarks[start + 1] : state.eMarks[start + 1]]
        cells: _Cells = state.env["cells"]
        line = start + 1  # the ruler stands for the header
        while line < end and not state.isEmpty(line):
            cells.left -= ruler.strip().strip("|").count("|") + 1
            if cells.left < 0:
                raise _TooMuch()
            line += 1
    return silent or table(state, start, end, False)


def _is_safe_address(url: str) -> bool:
    return _SCHEMES.match(url) is not None


class _Renderer(RendererHTML):
    """Renders chat's own tokens, and standard ones where chat differs."""

    def chat_html(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        return tokens[idx].content

    def s_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return "<del>"

    def s_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return "</del>"

    def softbreak(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        return "<br>\n"

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        token = tokens[idx]
        source = str(token.attrs.get("src", ""))
        _note_address(env["rendered"], source, is_image=True)
        shown = token.content or source
        return f'<a href="{escape(source)}">{escape(shown)}</a>'

    def link_open(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        _note_address(env["rendered"], str(tokens[idx].attrs.get("href", "")))
        return str(self.renderToken(tokens, idx, options, env))

    def code_block(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        return render_code(tokens[idx].content, "")

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        token = tokens[idx]
        language, _, rest = token.info.strip().partition(" ")
        if env["depth"] < DEEPEST:
            if language == "spoiler":
                return _spoiler(token.content, rest.strip(), env)
            if language == "quote":
                return f"<blockquote>\n{_inside(token.content, env, quoted=True)}</blockquote>\n"
        return render_code(token.content, language.strip("{}. ")[:40]) + "\n"


def _inside(text: str, env: EnvType, *, quoted: bool = False) -> str:
    inner = {**env, "depth": env["depth"] + 1, "quoted": env["quoted"] or quoted}
    return str(_PARSER.render(text, inner))


def _spoiler(text: str, header: str, env: EnvType) -> str:
    head = _inside(header, env) if header else ""
    return (
        f'<div class="spoiler-block"><div class="spoiler-header">\n{head}</div>'
        f'<div class="spoiler-content" aria-hidden="true">\n{_inside(text, env)}</div></div>\n'
    )


def _note_address(rendered: Rendered, url: str, *, is_image: bool = False) -> None:
    rendered.has_link = True
    if is_image or _IMAGE.search(url):
        rendered.has_image = True
    upload = _ATTACHMENT.search(url)
    if upload is not None:
        rendered.has_attachment = True
        if upload[1] is not None:
            rendered.upload_handles.add(upload[1])


def _finish(state: StateCore) -> None:
    """Find links in plain text, and note mentions; those in quotes are silent."""
    depth = 0
    for token in state.tokens:
        if token.type == "blockquote_open":
            depth += 1
        elif token.type == "blockquote_close":
            depth -= 1
        elif token.type == "inline" and token.children:
            quoted = depth > 0 or bool(state.env["quoted"])
            token.children = _finish_inline(token.children, state.env, quoted)
    _add_previews(state)


def _add_previews(state: StateCore) -> None:
    """Put pictures under the paragraphs that link to them, each once, and none into a quote."""
    previews = dict(state.env["names"].previews)
    if not previews or state.env["quoted"]:
        return
    tokens: list[Token] = []
    pending: list[Preview] = []
    depth = shown = 0
    for token in state.tokens:
        tokens.append(token)
        depth += (token.type == "blockquote_open") - (token.type == "blockquote_close")
        if token.type == "inline" and not depth:
            for child in token.children or ():
                handles = handles_in(str(child.attrs.get("href") or child.attrs.get("src") or ""))
                pending += [previews.pop(handle) for handle in handles if handle in previews]
        elif token.type == "paragraph_close" and pending:
            pictures = Token(syntax.HTML, "", 0)
            pictures.content = "".join(each.html for each in pending[: MOST_PREVIEWS - shown])
            shown += len(pending)
            pending = []
            tokens.append(pictures)
    state.tokens = tokens


def _finish_inline(tokens: Sequence[Token], env: EnvType, quoted: bool) -> list[Token]:
    finished: list[Token] = []
    in_link = 0
    names: Names = env["names"]
    for token in tokens:
        in_link += (token.type == "link_open") - (token.type == "link_close")
        if token.type == "text" and not in_link:
            finished.extend(_split(token, names))
            continue
        if token.type == syntax.HTML and "mention" in token.meta:
            if quoted:
                token.content = token.meta["silenced"]
            elif not token.meta["quiet"]:
                _note_mention(env["rendered"], token.meta)
        finished.append(token)
    return finished


def _split(token: Token, names: Names) -> list[Token]:
    if not names.finds_links:
        return [token]
    links = [link for link in find_links(token.content, names.linkifiers) if is_safe(link.url)]
    if not links:
        return [token]
    pieces: list[Token] = []
    position = 0
    for link in links:
        pieces.append(_text(token.content[position : link.start]))
        opening = Token("link_open", "a", 1)
        opening.attrs = {"href": link.url}
        pieces += (opening, _text(link.text), Token("link_close", "a", -1))
        position = link.end
    pieces.append(_text(token.content[position:]))
    return pieces


def _text(content: str) -> Token:
    token = Token("text", "", 0)
    token.content = content
    return token


def _note_mention(rendered: Rendered, meta: dict[str, Any]) -> None:
    match meta["mention"]:
        case "user":
            rendered.user_ids.add(meta["id"])
        case "group" if meta["allowed"]:
            rendered.group_ids.add(meta["id"])
        case "group":
            rendered.refused_group = rendered.refused_group or meta["name"]
        case "channel_wildcard":
            rendered.mentions_channel = True
        case "topic_wildcard":
            rendered.mentions_topic = True


def _make_parser() -> MarkdownIt:
    parser = MarkdownIt(
        "commonmark", {"html": False, "breaks": True}, renderer_cls=_Renderer
    ).enable(["table", "strikethrough"])
    parser.disable(["html_block", "html_inline", "reference"])
    parser.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    parser.validateLink = _is_safe_address  # type: ignore[method-assign]
    syntax.install(parser)
    parser.core.ruler.push("chat_finish", _finish)
    return parser


_PARSER = _make_parser()
