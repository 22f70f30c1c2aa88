"""The renderer of Zulip's Markdown: markdown-it-py with our rules.

`blocks` parses blocks, `syntax` inline syntax, and then `emphasis` and `plain_texts` emphasis and
emoji. Raw HTML is shown as text. Newlines are line breaks. Images become links, so that browsers do
not fetch files from other servers. The result is sanitized.
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

from models.chat.rendering import blocks, syntax
from models.chat.rendering.blocks import as_text
from models.chat.rendering.code import render_code
from models.chat.rendering.emphasis import emphasize
from models.chat.rendering.links import absolute
from models.chat.rendering.math import MathBudget
from models.chat.rendering.names import Names
from models.chat.rendering.plain_texts import read_text
from models.chat.rendering.previews import MAX_PREVIEWS, Preview, handles_in
from models.chat.rendering.sanitising import sanitise

MAX_CELLS = 5_000
"""Maximum number of cells in all tables of a message, including cells that complete short rows.
Explicit cells alone cannot exceed it, because each takes two characters.
"""
MAX_HTML = 200_000
"""Maximum length of a rendered message in characters."""

_SCHEMES = re.compile(r"(?:https?|mailto|sms|tel|xmpp):|[/#?]|[^:/?#]*(?:[/?#]|\Z)", re.IGNORECASE)
# One line of words without Markdown characters, like most messages.
_PROSE = re.compile(r"[^\W\d_](?:[^\W_]|[ ,?()]|\.(?!\w)|;(?!\)))*")
_IMAGE = re.compile(r"\.(?:bmp|gif|jpe?g|png|webp)(?:[?#]|\Z)", re.IGNORECASE)
_ATTACHMENT = re.compile(r"(?:\A|/)user_uploads/(?:[0-9]+/([0-9a-f]{32})-)?")


@dataclass(slots=True)
class Rendered:
    """HTML, and the users, groups and files that the text refers to.

    `user_ids` and `group_ids` contain only mentions that notify: silent mentions and mentions in
    quotes are not included.
    """

    html: str = ""
    user_ids: set[int] = field(default_factory=set)
    group_ids: set[int] = field(default_factory=set)
    mentions_channel: bool = False
    mentions_topic: bool = False
    refused_group: str | None = None
    """A group that the author mentioned without permission."""
    has_link: bool = False
    has_image: bool = False
    has_attachment: bool = False
    upload_handles: set[str] = field(default_factory=set)
    """The handles of files that the text links to."""


def render(text: str, names: Names, *, empty_topic_name: str = "general chat") -> Rendered:
    """Return the rendered message. A message that becomes too long is shown as text and refers to
    nothing. This function raises no errors.
    """
    rendered = Rendered()
    if not names.linkifiers and _PROSE.fullmatch(text):
        rendered.html = f"<p>{text.strip()}</p>"
        return rendered
    env = {
        "names": names,
        "rendered": rendered,
        "depth": 0,
        "empty_topic_name": empty_topic_name,
        "cells": _Cells(),
        "math": MathBudget(),
    }
    try:
        markup = _PARSER.render(text, env)
    except _TooMuch:
        return Rendered(as_text(text))
    if len(markup) > MAX_HTML:
        return Rendered(as_text(text))
    rendered.html = sanitise(markup).strip()
    return rendered


class _TooMuch(Exception):
    """The rendered text exceeds a limit."""


@dataclass(slots=True)
class _Cells:
    left: int = MAX_CELLS


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Apply the rule for Markdown tables after counting the cells."""
    if not table(state, start, end, True):
        return False
    if not silent:
        ruler = state.src[state.bMarks[start + 1] : state.eMarks[start + 1]]
        cells: _Cells = state.env["cells"]
        line = start + 1  # the ruler line is counted for the header
        while line < end and not state.isEmpty(line):
            cells.left -= ruler.strip().strip("|").count("|") + 1
            if cells.left < 0:
                raise _TooMuch()
            line += 1
    return silent or table(state, start, end, False)


def _is_safe_address(url: str) -> bool:
    return _SCHEMES.match(url) is not None


class _Renderer(RendererHTML):
    """Renders our tokens, and standard tokens that Zulip renders differently."""

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
        token = tokens[idx]
        address = _relative(absolute(str(token.attrs.get("href", ""))), env["names"].host)
        token.attrs["href"] = address
        _note_address(env["rendered"], address)
        markup = str(self.renderToken(tokens, idx, options, env))
        return markup + (escape(address) if _is_blank_link(tokens, idx) else "")

    def td_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        """Render the alignment of a column as `align`, because pages do not allow `style`."""
        token = tokens[idx]
        style = str(token.attrs.pop("style", ""))
        if style:
            token.attrs["align"] = style.removeprefix("text-align:")
        return str(self.renderToken(tokens, idx, options, env))

    th_open = td_open

    def code_block(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        return render_code(tokens[idx].content, "") + "\n"

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return render_code(tokens[idx].content, tokens[idx].info[:40]) + "\n"


def _is_blank_link(tokens: Sequence[Token], idx: int) -> bool:
    """Return whether the link that opens here has no text. White space in it is removed."""
    after = idx + 1
    while tokens[after].type == "text" and not tokens[after].content.strip():
        tokens[after].content = ""
        after += 1
    return tokens[after].type == "link_close"


def _relative(url: str, host: str) -> str:
    """Return a link without the host if it is to the organization's pages."""
    if host:
        scheme, separator, rest = url.partition("://")
        place = rest.removeprefix(f"{host}/")
        if separator and scheme in ("http", "https") and place != rest:
            if place.startswith("#"):
                return place
            if place.startswith("user_uploads/"):
                return f"/{place}"
    return url


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
    """Parse emphasis and emoji, and record mentions. Mentions in quotes are silent."""
    names: Names = state.env["names"]
    depth = 0
    for token in state.tokens:
        if token.type == "blockquote_open":
            depth += 1
        elif token.type == "blockquote_close":
            depth -= 1
        elif token.type == "inline" and token.children:
            children = emphasize(token.children, lambda text: read_text(text, names))
            _note_mentions(children, state.env, quoted=depth > 0)
            token.children = children
    _add_previews(state)


def _add_previews(state: StateCore) -> None:
    """Add images under the paragraphs that link to them. Each image is added once, and not in
    quotes.
    """
    previews = dict(state.env["names"].previews)
    if not previews:
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
            pictures.content = "".join(each.html for each in pending[: MAX_PREVIEWS - shown])
            shown += len(pending)
            pending = []
            tokens.append(pictures)
    state.tokens = tokens


def _note_mentions(tokens: Sequence[Token], env: EnvType, *, quoted: bool) -> None:
    for token in tokens:
        if token.type == syntax.HTML and "mention" in token.meta:
            if quoted:
                token.content = token.meta["silenced"]
            elif not token.meta["quiet"]:
                _note_mention(env["rendered"], token.meta)


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
    ).enable(["table"])
    parser.disable(["html_block", "html_inline", "reference", "lheading"])
    parser.disable(["escape", "emphasis", "autolink"])
    parser.block.ruler.at("table", _table, {"alt": ["paragraph"]})
    parser.validateLink = _is_safe_address  # type: ignore[method-assign]
    blocks.install(parser)
    syntax.install(parser)
    parser.core.ruler.before("text_join", "chat_finish", _finish)
    return parser


_PARSER = _make_parser()
