"""The type of decoded JSON."""

from typing import Any

Json = Any
"""An unchecked decoded value: an object, an array, a text, a number, a boolean or None. Functions
that accept it must check it.
"""
