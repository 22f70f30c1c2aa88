"""The parts of a project's commands."""

from specd._cli.databases import open_database
from specd._cli.diagnosis import Finding
from specd._cli.output import answer, json_option

__all__ = [
    "Finding",
    "answer",
    "json_option",
    "open_database",
]
