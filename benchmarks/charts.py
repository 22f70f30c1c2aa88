"""python -m benchmarks.charts: draw the charts of docs/speed.md from its tables.

Each image `charts/NAME.svg` shows the tables between it and the previous heading or image.
"""

import re
import sys
from collections.abc import Iterator

from benchmarks.load.charts import draw_chart
from benchmarks.load.checkout import ROOT

PAGE = ROOT / "docs/speed.md"
PICTURE = re.compile(r"^!\[[^\]]*\]\(charts/(\w+)\.svg\)$")


def find_charted(page: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each chart on the page, and the text that contains its tables."""
    before: list[str] = []
    for line in page.splitlines(keepends=True):
        picture = PICTURE.match(line)
        if picture:
            yield picture[1], "".join(before)
        before = [] if picture or line.startswith("#") else [*before, line]


def main() -> int:
    for name, text in find_charted(PAGE.read_text()):
        draw_chart(name, text, PAGE.parent / f"charts/{name}.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
