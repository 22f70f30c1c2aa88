"""Tables of benchmarks as charts: the same figures, one panel for each table.

A table is Markdown, as the benchmarks print it and docs/speed.md keeps it. The same table gives the
same bytes, because an SVG here has no date and no random names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COLORS = ("#2f6f9f", "#d98b2b", "#5f9e6e")
BAR = 0.22
"""Inches of a bar, which is what its label needs."""
GAP = 0.6
"""Bars that have room between two rows."""
ROOM = 1.12
"""The width of a panel by its longest bar, whose label stands behind it."""


@dataclass(frozen=True, slots=True)
class Chart:
    """The columns that a benchmark's chart shows, as a pattern of their titles, and whether a row
    is a line through them, because the columns are moments.
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
"""By the name of the benchmark."""


@dataclass(frozen=True, slots=True)
class Table:
    """The titles of a Markdown table's columns of numbers, and its rows by their names."""

    title: str
    columns: Sequence[str]
    rows: Mapping[str, Sequence[str]]

    def narrowed(self, pattern: str) -> Table:
        """Return the columns whose title the pattern matches, and the rows that have figures
        there.
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
    """Yield the tables of a Markdown text. Columns that are not aligned to the right are names. The
    title is a bold line before the table, else the first heading.
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
    """Return what the chart of a benchmark shows of its tables."""
    narrowed = [table.narrowed(CHARTS[name].columns) for table in read_tables(text)]
    return [table for table in narrowed if table.rows]


def draw_chart(name: str, text: str, file: Path) -> None:
    """Write the chart of a benchmark's tables, unless a short run has none of those it shows."""
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
    """Return a figure of a table as a number; an empty cell is 0."""
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
    """Return how many bars a panel is high: a group for each row, and a gap after each."""
    return len(table.rows) * (len(table.columns) + GAP)


def _draw_bars(panel: Any, table: Table) -> None:
    """Draw a bar for each figure, with the figure as it is written."""
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
    """Draw a line for each row, with its last figure as it is written."""
    moments = [number(title) for title in table.columns]
    for color, (name, cells) in zip(COLORS, table.rows.items(), strict=False):
        course = [number(text) for text in cells]
        panel.plot(moments, course, marker="o", label=name, color=color)
        end = (moments[-1], course[-1])
        panel.annotate(cells[-1], end, (8, 0), textcoords="offset points", va="center", size=8)
    panel.set_ylim(0)
    panel.set_xlabel("minutes")
