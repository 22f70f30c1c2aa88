"""The memory of processes over time, and whether it has grown."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean

FLAT_PART = 0.05


@dataclass(slots=True)
class Memory:
    """The PSS of one process. A sample is the seconds since the load began, and KiB."""

    title: str
    samples: list[tuple[float, int]] = field(default_factory=list)

    def near(self, seconds: float) -> int:
        """Return the sample nearest to this moment."""
        return min(self.samples, key=lambda sample: abs(sample[0] - seconds))[1]

    def quarter(self, number: int) -> float:
        """Return the mean of a quarter of the time, from 1 to 4."""
        whole = self.samples[-1][0]
        begin, end = whole * (number - 1) / 4, whole * number / 4
        return fmean(kib for at, kib in self.samples if begin <= at <= end)

    @property
    def growth(self) -> float:
        """The growth from the second quarter to the last: 0.01 is one percent. In the first quarter
        a process fills its caches.
        """
        return self.quarter(4) / self.quarter(2) - 1

    @property
    def is_flat(self) -> bool:
        return abs(self.growth) <= FLAT_PART


def memory_table(processes: Sequence[Memory]) -> str:
    """Return a table of PSS in MiB at 5, 10, 20 ... minutes, or at the quarters of a short run."""
    whole = min(process.samples[-1][0] for process in processes)
    moments = [m * 60.0 for m in (5, *range(10, 600, 10)) if m * 60 <= whole + 5]
    moments = moments or [whole * part / 4 for part in range(5)]
    heads = [f"{moment / 60:.3g} min" for moment in moments]
    lines = [
        f"| PSS, MiB | {' | '.join(heads)} | growth, 2nd to 4th quarter |",
        "|---|" + "---:|" * (len(moments) + 1),
    ]
    for process in processes:
        cells = " | ".join(f"{process.near(moment) / 1024:.1f}" for moment in moments)
        verdict = "" if process.is_flat else " (not flat)"
        lines.append(f"| {process.title} | {cells} | {process.growth:+.1%}{verdict} |")
    return "\n".join(lines)
