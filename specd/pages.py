"""What pages for people are made of."""

from specd._pages.assets import FOR_EVER
from specd._pages.front import add_entrance
from specd._pages.languages import Catalogue, Texts

__all__ = [
    "FOR_EVER",
    "Catalogue",
    "Texts",
    "add_entrance",
]
