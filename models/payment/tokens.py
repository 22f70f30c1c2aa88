"""Checks of a token contract, from the values that the contract returns."""

from dataclasses import dataclass

from models.payment.methods import is_symbol
from models.payment.money import DECIMALS

LONGEST_SHOWN = 40
"""The maximum number of characters of a contract's symbol in a message."""


@dataclass(frozen=True, slots=True)
class TokenFacts:
    """Facts about the contract at a token's address. None means that it did not return a value."""

    has_code: bool
    decimals: int | None = None
    symbol: str | None = None

    @property
    def shown_symbol(self) -> str:
        """The symbol, made safe for a terminal because the contract's author controls it."""
        text = "".join(c if c.isprintable() else "?" for c in self.symbol or "")
        return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."

    @property
    def usable_symbol(self) -> str | None:
        """The symbol if it is valid for a payment method, otherwise None."""
        return self.symbol if self.symbol is not None and is_symbol(self.symbol) else None


def find_problem(facts: TokenFacts, *, symbol: str | None) -> str | None:
    """Return why invoices in this token would fail, or None if they work. Any symbol is accepted if
    `symbol` is None.
    """
    if not facts.has_code:
        return "there is no contract at that address"
    if facts.decimals is None:
        return "the contract does not give its decimals, so it is no token"
    if facts.decimals != DECIMALS:
        return f"the token has {facts.decimals} decimals, and amounts have {DECIMALS}"
    if symbol is not None and facts.usable_symbol not in (None, symbol):
        return f"the token's symbol is {facts.shown_symbol}, not {symbol}"
    return None
