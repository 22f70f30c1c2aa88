"""The parts of HTML pages."""

from specd._pages.front import add_entrance
from specd._pages.languages import Catalogue, Texts

__all__ = [
    "Catalogue",
    "Texts",
    "add_entrance",
]
