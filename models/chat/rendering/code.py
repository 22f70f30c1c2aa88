"""Syntax highlighting of code blocks in listed languages. Other blocks are shown unchanged.

Some lexers of the library take quadratic time in the length of the text, so there are a list and a
limit (measured in tests/models/chat/test_rendering.py).
"""

from functools import lru_cache
from html import escape

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import find_lexer_class_by_name
from pygments.util import ClassNotFound

LANGUAGES = frozenset(
    (
        *("bash", "c", "clojure", "cpp", "csharp", "css", "diff", "docker", "elixir", "erlang"),
        *("go", "graphql", "groovy", "haskell", "html", "http", "ini", "java", "javascript"),
        *("json", "kotlin", "latex", "lua", "nginx", "ocaml", "perl", "php"),
        *("powershell", "python", "python2", "r", "ruby", "rust", "scala", "shell", "sql", "swift"),
        *("toml", "typescript", "xml", "yaml"),
    )
)
_ALIASES = {
    **{"c++": "cpp", "cs": "csharp", "c#": "csharp", "dockerfile": "docker", "hs": "haskell"},
    **{"js": "javascript", "kt": "kotlin", "md": "text", "pl": "perl"},
    **{
        "ps1": "powershell",
        "py": "python",
        "py2": "python2",
        "py3": "python",
        "python3": "python",
        "rb": "ruby",
        "rs": "rust",
    },
    **{"sh": "bash", "tex": "latex", "ts": "typescript", "yml": "yaml", "zsh": "bash"},
}
HIGHLIGHT_MAX = 3000
"""In characters. Longer blocks are shown unchanged."""

_FORMATTER: HtmlFormatter[str] = HtmlFormatter(nowrap=True)


@lru_cache(maxsize=64)
def _find_lexer(language: str) -> Lexer | None:
    name = _ALIASES.get(language, language)
    if name not in LANGUAGES:
        return None
    try:
        lexer = find_lexer_class_by_name(name)
    except ClassNotFound:
        return None
    return lexer(stripnl=False)


def render_code(code: str, language: str) -> str:
    """Return the HTML of a code block. `language` is as entered by the author, or empty."""
    lexer = _find_lexer(language.lower()) if language else None
    if lexer is None or len(code) > HIGHLIGHT_MAX:
        inner = escape(code, quote=False)
    else:
        inner = highlight(code, lexer, _FORMATTER)
    attribute = ""
    if language:
        shown = lexer.name if lexer is not None else language
        attribute = f' data-code-language="{escape(shown)}"'
    return f'<div class="codehilite"{attribute}><pre><span></span><code>{inner}</code></pre></div>'
