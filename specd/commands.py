"""What commands of a project are made of."""

from specd._cli.databases import (
    find_secret,
    is_missing,
    open_database,
    open_with_secret,
    renew_check,
)
from specd._cli.diagnosis import CLOCK_TOLERANCE_S, SLOW_S, Finding
from specd._cli.folders import RESTORING
from specd._cli.given_secrets import read_secret
from specd._cli.migrate import migrate_all
from specd._cli.output import answer, answer_table, json_option, printable
from specd._cli.secrets import secret_option

__all__ = [
    "CLOCK_TOLERANCE_S",
    "RESTORING",
    "SLOW_S",
    "Finding",
    "answer",
    "answer_table",
    "find_secret",
    "is_missing",
    "json_option",
    "migrate_all",
    "open_database",
    "open_with_secret",
    "printable",
    "read_secret",
    "renew_check",
    "secret_option",
]
