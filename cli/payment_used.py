"""Whether the next deposit addresses of an xpub were used before."""

import time

from adapters.chain.tokens import ChainUnreadable, TokenReader
from models.payment.addresses import derive_deposit_address

LOOKED_AT = 20
"""Addresses; wallets look at as many before they give up, their gap limit."""
LONGEST_S = 15.0


def find_used(reader: TokenReader, token: str, symbol: str, *, xpub: str, first: int) -> list[str]:
    """Warnings: of the next addresses that already hold the token, and of a look that failed."""
    ends_at = time.monotonic() + LONGEST_S
    holding: list[str] = []
    failure = None
    for index in range(first, first + LOOKED_AT):
        if time.monotonic() > ends_at:
            failure = f"the chain takes over {LONGEST_S:g} s"
            break
        address = derive_deposit_address(xpub, index)
        try:
            if reader.balance(token, address):
                holding.append(f"0/{index} ({address})")
        except ChainUnreadable as error:
            failure = str(error)
            break
    warnings = []
    if holding:
        others = f" and {len(holding) - 1} more" if len(holding) > 1 else ""
        warnings.append(
            f"Address {holding[0]}{others} of the project's xpub already hold {symbol}, so the xpub"
            " was used before; one xpub belongs to one installation, so give this one its own."
        )
    if failure:
        warnings.append(f"Not all of the next {LOOKED_AT} addresses were looked at: {failure}.")
    return warnings
