"""TeX as MathML, in the elements that clients of KaTeX's output read.

The source is the annotation of the formula, which clients without MathML show.
"""

from dataclasses import dataclass
from html import escape

from latex2mathml import converter

MAX_TEX = 2_000
"""Characters of the formulas of a message that are converted; others are shown as TeX."""


@dataclass(slots=True)
class MathBudget:
    """Characters of TeX that a message may still have converted."""

    left: int = MAX_TEX


def render_math(tex: str, *, display: bool, budget: MathBudget) -> str:
    """Return the HTML of a formula; one that does not parse is shown as its source."""
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
    """Return the start tag, the content and the end tag of the MathML, or None for wrong TeX."""
    try:
        markup = converter.convert(tex, display="block" if display else "inline")
    except Exception:  # the library raises KeyError, IndexError and others besides its own errors
        return None
    # The library shows commands that it does not know as identifiers.
    if "<mi>\\" in markup or "<mtext>\\" in markup:
        return None
    head, _, rest = markup.partition(">")
    row, _, _ = rest.rpartition("</math>")
    return f"{head}>", row, "</math>"
