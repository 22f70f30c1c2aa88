"""What settings are declared with."""

from specd._settings import (
    PREFIX,
    TEST_PREFIX,
    Variable,
    is_loopback,
    mask,
    setting_for_each,
    variable,
    variables,
    with_secret_files,
)
from specd._values import (
    one_of,
    parse_bool,
    parse_public_url,
    seconds,
    secret_text,
    whole,
)

__all__ = [
    "PREFIX",
    "TEST_PREFIX",
    "Variable",
    "is_loopback",
    "mask",
    "one_of",
    "parse_bool",
    "parse_public_url",
    "seconds",
    "secret_text",
    "setting_for_each",
    "variable",
    "variables",
    "whole",
    "with_secret_files",
]
