"""The checks of a token contract, by what the contract returns."""

from dataclasses import dataclass

from models.payment.methods import is_symbol
from models.payment.money import DECIMALS

LONGEST_SHOWN = 40
"""The most characters of a contract's own text in a sentence."""


@dataclass(frozen=True, slots=True)
class TokenFacts:
    """The contract at a token's address; None: it gives no readable answer."""

    has_code: bool
    decimals: int | None = None
    symbol: str | None = None

    @property
    def shown_symbol(self) -> str:
        """The symbol, made safe for a terminal, because the contract's author chose it."""
        text = "".join(c if c.isprintable() else "?" for c in self.symbol or "")
        return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."

    @property
    def usable_symbol(self) -> str | None:
        """The symbol, if a payment method can have it."""
        return self.symbol if self.symbol is not None and is_symbol(self.symbol) else None


def find_problem(facts: TokenFacts, *, symbol: str | None) -> str | None:
    """Return why invoices in a token with this symbol (None: any) would fail; None: they work."""
    if not facts.has_code:
        return "there is no contract at that address"
    if facts.decimals is None:
        return "the contract does not give its decimals, so it is no token"
    if facts.decimals != DECIMALS:
        return f"the token has {facts.decimals} decimals, and amounts have {DECIMALS}"
    if symbol is not None and facts.usable_symbol not in (None, symbol):
        return f"the token's symbol is {facts.shown_symbol}, not {symbol}"
    return None
