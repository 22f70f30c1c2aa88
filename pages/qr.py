"""QR codes as inline SVG."""

from __future__ import annotations

import segno
from markupsafe import Markup


def draw_qr(text: str, label: str) -> Markup:
    """Return an <svg> without size or style, which the page's style sheet scales. `label` is the
    text alternative.

    The colors are always dark on white, with a quiet zone of four modules, even if the page is
    dark, because many scanners cannot read inverted codes.
    """
    code = segno.make(text, error="m", micro=False)
    drawn = code.svg_inline(border=4, dark="#000", light="#fff", omitsize=True, svgclass="qr")
    named = Markup('<svg role="img" aria-label="{}"').format(label)
    return named + Markup(drawn.removeprefix("<svg"))
