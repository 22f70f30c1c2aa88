"""Benchmark tables as charts: the same figures, one panel for each table.

A table is Markdown, as printed by the benchmarks and stored in docs/speed.md. The same table always
gives the same bytes, because the SVG contains no date and no random names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COLORS = ("#2f6f9f", "#d98b2b", "#5f9e6e")
BAR = 0.22
"""The height of a bar in inches, enough for its label."""
GAP = 0.6
"""The gap between two rows, in bars."""
ROOM = 1.12
"""The width of a panel relative to its longest bar, which leaves room for the label."""


@dataclass(frozen=True, slots=True)
class Chart:
    """The columns of a benchmark's chart, as a pattern of their titles. If `is_course`, columns are
    points in time and each row becomes a line.
    """

    columns: str
    is_course: bool = False


CHARTS: Mapping[str, Chart] = {
    "engine": Chart(r"\w+ requests/s"),
    "chat": Chart(r"requests/s(: ratio)?"),
    "payment": Chart(r"requests/s(: ratio)?"),
    "tails": Chart(r"p99 ms(: ratio)?"),
    "live": Chart(r"(p50|p99) ms since the answer"),
    "register": Chart(r"p50 ms(: before|: now)?"),
    "webhooks": Chart(r"events/s from a backlog"),
    "watcher": Chart(r"CPU ms(: before|: now)?"),
    "start": Chart(r"wall s"),
    "mock": Chart(r"CPU us: (specd|Prism)"),
    "soak": Chart(r"[\d.]+ min", is_course=True),
    "floor": Chart(r"((SQLite|PostgreSQL): )?ratio"),
}
"""The charts by the name of the benchmark."""


@dataclass(frozen=True, slots=True)
class Table:
    """The titles of a Markdown table's numeric columns, and its rows by name."""

    title: str
    columns: Sequence[str]
    rows: Mapping[str, Sequence[str]]

    def narrowed(self, pattern: str) -> Table:
        """Return the table with the columns whose title matches, and the rows with
        figures there.
        """
        places = [at for at, title in enumerate(self.columns) if re.fullmatch(pattern, title)]
        rows = {name: [cells[at] for at in places] for name, cells in self.rows.items()}
        return Table(
            self.title,
            [self.columns[at] for at in places],
            {name: cells for name, cells in rows.items() if any(cells)},
        )

    def column(self, at: int) -> list[str]:
        return [cells[at] for cells in self.rows.values()]


def read_tables(text: str) -> Iterator[Table]:
    """Yield the tables of a Markdown text. Columns that are not right-aligned are names. The title
    is a bold line before the table, or else the first heading.
    """
    for title, block in re.findall(r"(?:^\*\*(.+?)\*\*.*\n\n)?((?:^\|.*\n?)+)", text, re.MULTILINE):
        heads, rule, *rows = [_cells(line) for line in block.splitlines()]
        names = sum(not mark.endswith(":") for mark in rule)
        yield Table(
            title or heads[0],
            _whole(heads[names:]),
            {_name(row[:names]): row[names:] for row in rows},
        )


def find_shown(name: str, text: str) -> list[Table]:
    """Return the parts of a benchmark's tables that its chart shows."""
    narrowed = [table.narrowed(CHARTS[name].columns) for table in read_tables(text)]
    return [table for table in narrowed if table.rows]


def draw_chart(name: str, text: str, file: Path) -> None:
    """Write the chart of a benchmark's tables, unless a short run has none of them."""
    import matplotlib
    from matplotlib.figure import Figure

    tables = find_shown(name, text)
    if not tables:
        return
    is_course = CHARTS[name].is_course
    heights = [0.9 + BAR * (10 if is_course else _bars(table)) for table in tables]
    with matplotlib.rc_context({"svg.hashsalt": name, "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(9, sum(heights)), layout="constrained", facecolor="white")
        panels = figure.subplots(len(tables), squeeze=False, height_ratios=heights, sharex=True)
        for (panel,), table in zip(panels, tables, strict=True):
            (_draw_course if is_course else _draw_bars)(panel, table)
            panel.set_title(table.title, loc="left", size=10, weight="bold")
            panel.spines[["top", "right"]].set_visible(False)
            panel.legend(
                frameon=False,
                fontsize=8,
                loc="lower right",
                bbox_to_anchor=(1, 1),
                ncols=len(COLORS),
                borderpad=0,
            )
        file.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file, format="svg", metadata={"Date": None})


def number(text: str) -> float:
    """Return a figure of a table as a number, or 0 for an empty cell."""
    found = re.match(r"[\d,.]+", text)
    return float(found[0].replace(",", "")) if found else 0.0


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _whole(heads: Sequence[str]) -> list[str]:
    """Return `a: before, now, ratio` as `a: before, a: now, a: ratio`, and `p50 ms since x, p99 ms`
    as `p50 ms since x, p99 ms since x`.
    """
    whole: list[str] = []
    group = since = ""
    for head in heads:
        if ": " in head:
            group = head.partition(": ")[0] + ": "
        elif " since " in head:
            since = " since " + head.partition(" since ")[2]
        elif since and head.startswith("p"):
            head += since
        else:
            head = group + head
        whole.append(head)
    return whole


def _name(cells: Sequence[str]) -> str:
    return ", ".join(cell for cell in cells if cell)


def _bars(table: Table) -> float:
    """Return the height of a panel in bars: a group for each row, and a gap after each."""
    return len(table.rows) * (len(table.columns) + GAP)


def _draw_bars(panel: Any, table: Table) -> None:
    """Draw a bar for each figure, labeled with the text of the table."""
    group = len(table.columns) + GAP
    middle = (len(table.columns) - 1) / 2
    longest = panel.get_xlim()[1] / ROOM
    for at, title in enumerate(table.columns):
        places = [row * group + at for row in range(len(table.rows))]
        lengths = [number(text) for text in table.column(at)]
        bars = panel.barh(places, lengths, height=0.9, color=COLORS[at], label=title)
        panel.bar_label(bars, table.column(at), padding=3, size=8)
        longest = max(longest, *lengths)
    panel.set_yticks([row * group + middle for row in range(len(table.rows))], list(table.rows))
    panel.margins(y=0.01)
    panel.invert_yaxis()
    panel.set_xlim(0, longest * ROOM)
    if "ratio" in table.columns[0]:
        panel.axvline(1, color="#888888", linewidth=0.8)


def _draw_course(panel: Any, table: Table) -> None:
    """Draw a line for each row, labeled with the text of its last figure."""
    moments = [number(title) for title in table.columns]
    for color, (name, cells) in zip(COLORS, table.rows.items(), strict=False):
        course = [number(text) for text in cells]
        panel.plot(moments, course, marker="o", label=name, color=color)
        end = (moments[-1], course[-1])
        panel.annotate(cells[-1], end, (8, 0), textcoords="offset points", va="center", size=8)
    panel.set_ylim(0)
    panel.set_xlabel("minutes")
