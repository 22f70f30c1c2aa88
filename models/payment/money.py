"""Amounts: decimal text of the token outside, whole atoms inside, never a float or a Decimal."""

import re

from models.payment.errors import InvalidAmount, MalformedAmount

DECIMALS = 6
MAX_ATOMS = 2**256 - 1

_AMOUNT = re.compile(r"(0|[1-9][0-9]{0,71})(?:\.([0-9]{1,6}))?")


def parse_amount(text: str) -> int:
    """Return the atoms of a positive token amount such as "1.5" (6 decimals: 1500000).

    Raise `MalformedAmount` if the text does not match the pattern (full match: no trailing newline,
    ASCII digits only). Raise `InvalidAmount` for zero and for more than 2**256 - 1 atoms.
    """
    match = _AMOUNT.fullmatch(text)
    if match is None:
        raise MalformedAmount()
    whole, fraction = match.groups(default="")
    atoms = int(whole + fraction.ljust(DECIMALS, "0"))
    if not 0 < atoms <= MAX_ATOMS:
        raise InvalidAmount()
    return atoms


def format_units(atoms: int, decimals: int = DECIMALS) -> str:
    """Return atoms as token text without trailing zeros, such as "1.5"."""
    if decimals == 0:
        return str(atoms)
    digits = str(atoms).rjust(decimals + 1, "0")
    fraction = digits[-decimals:].rstrip("0")
    return f"{digits[:-decimals]}.{fraction}" if fraction else digits[:-decimals]
