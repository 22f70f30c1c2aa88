"""What a JSON document may hold."""

from typing import Any

Json = Any
"""A decoded value whose shape nobody has checked yet: an object, an array, a text, a number, a
boolean or None. Whoever takes one checks it.
"""
