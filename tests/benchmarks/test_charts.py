"""Charts show the figures of the tables next to them."""

import re
from html import unescape
from pathlib import Path

import pytest

from benchmarks.charts import PAGE, find_charted
from benchmarks.load.charts import CHARTS, draw_chart, find_shown, read_tables

CHARTED = list(find_charted(PAGE.read_text()))
TABLE = """\
**SQLite** (goal: 3 x)

| operation | database | requests/s: before | now | ratio | CPU us: before | now | ratio |
|---|---|---:|---:|---:|---:|---:|---:|
| GET | small | 1,500 | 3,000 | 2.00 | 9 | 3 | 0.33 |
| POST | large |  |  |  | 8 | 2 | 0.25 |
"""


def test_every_benchmark_has_a_chart() -> None:
    assert sorted(name for name, _ in CHARTED) == sorted(CHARTS)


@pytest.mark.parametrize(("name", "text"), CHARTED, ids=[name for name, _ in CHARTED])
def test_chart_shows_the_figures_of_the_page(name: str, text: str) -> None:
    """If this fails, `python -m benchmarks.charts` draws the charts again."""
    svg = (PAGE.parent / f"charts/{name}.svg").read_text()
    texts = [unescape(it) for it in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]
    tables = find_shown(name, text)
    assert tables
    for table in tables:
        rows = [cells[-1:] if CHARTS[name].is_course else cells for cells in table.rows.values()]
        figures = [cell for cells in rows for cell in cells]
        assert figures
        assert {table.title, *table.rows, *figures} <= set(texts)


def test_titles_of_a_table_are_read_completely() -> None:
    [table] = read_tables(TABLE)
    assert table.title == "SQLite"
    assert table.columns[:4] == [
        "requests/s: before",
        "requests/s: now",
        "requests/s: ratio",
        "CPU us: before",
    ]
    assert table.narrowed("requests/s: ratio").rows == {"GET, small": ["2.00"]}


def test_same_tables_give_the_same_chart(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs matplotlib, of the extra bench")
    charts = [tmp_path / "one/chat.svg", tmp_path / "other/chat.svg"]
    for chart in charts:
        draw_chart("chat", TABLE, chart)
    assert charts[0].read_bytes() == charts[1].read_bytes()
    assert "2.00" in charts[0].read_text()


def test_run_without_the_charted_tables_writes_no_chart(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs matplotlib, of the extra bench")
    draw_chart("soak", TABLE, tmp_path / "soak.svg")
    assert list(tmp_path.iterdir()) == []
