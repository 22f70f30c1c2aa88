"""Characters that no name may have."""

import unicodedata


def is_forbidden(sign: str) -> bool:
    """Control characters, surrogates, and the 66 code points that are no characters at all."""
    code = ord(sign)
    return (
        unicodedata.category(sign) in ("Cc", "Cs")
        or 0xFDD0 <= code <= 0xFDEF
        or code & 0xFFFE == 0xFFFE
    )
