"""TeX as MathML, inside the elements that clients expect from KaTeX.

The annotation of the formula contains the source, which clients without MathML show.
"""

from dataclasses import dataclass
from html import escape

from latex2mathml import converter

MAX_TEX = 2_000
"""Maximum number of characters in the formulas of a message that are converted. Further formulas
are shown as TeX.
"""


@dataclass(slots=True)
class MathBudget:
    """The number of characters of TeX that may still be converted in a message."""

    left: int = MAX_TEX


def render_math(tex: str, *, display: bool, budget: MathBudget) -> str:
    """Return the HTML of a formula. A formula that cannot be parsed is shown as its source."""
    formula = _convert(tex, display) if len(tex) <= budget.left else None
    budget.left -= len(tex)
    if formula is None:
        shown = tex if display else f"$${tex}$$"
        return f'<span class="tex-error">{escape(shown)}</span>'
    head, row, foot = formula
    annotation = f'<annotation encoding="application/x-tex">{escape(tex)}</annotation>'
    inner = f"{head}<semantics>{row}{annotation}</semantics>{foot}"
    markup = f'<span class="katex"><span class="katex-mathml">{inner}</span></span>'
    return f'<span class="katex-display">{markup}</span>' if display else markup


def _convert(tex: str, display: bool) -> tuple[str, str, str] | None:
    """Return the start tag, the content and the end tag of the MathML, or None for invalid TeX."""
    try:
        markup = converter.convert(tex, display="block" if display else "inline")
    except Exception:  # the library also raises KeyError, IndexError and others
        return None
    # The library shows unknown commands as identifiers.
    if "<mi>\\" in markup or "<mtext>\\" in markup:
        return None
    head, _, rest = markup.partition(">")
    row, _, _ = rest.rpartition("</math>")
    return f"{head}>", row, "</math>"
