"""More functions for declaring and checking settings, in addition to `specd.Settings` and
`setting`.
"""

from specd._settings import is_loopback, setting_for_each
from specd._values import parse_public_url

__all__ = [
    "is_loopback",
    "parse_public_url",
    "setting_for_each",
]
