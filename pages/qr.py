"""QR codes as inline SVG."""

from __future__ import annotations

import segno
from markupsafe import Markup


def draw_qr(text: str, label: str) -> Markup:
    """Return an <svg> without size or style; the page's style sheet scales it. `label` is its
    text alternative.

    The module colours are fixed (dark on white, with the quiet zone of four modules) because many
    scanners cannot read an inverted code, also when the page is dark.
    """
    code = segno.make(text, error="m", micro=False)
    drawn = code.svg_inline(border=4, dark="#000", light="#fff", omitsize=True, svgclass="qr")
    named = Markup('<svg role="img" aria-label="{}"').format(label)
    return named + Markup(drawn.removeprefix("<svg"))
