"""URL templates (RFC 6570), which the server stores and clients expand."""

import re

# RFC 6570, section 2: literals without characters that must be escaped, and expressions of named
# variables.
_NAME = r"(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*"
_SPEC = rf"{_NAME}(?::[1-9][0-9]{{0,3}}|\*)?"
_EXPRESSION = rf"\{{[+#./;?&]?{_SPEC}(?:,{_SPEC})*\}}"
_LITERAL = r"[^\x00-\x20\"'<>\\^`{|}\x7f%]|%[0-9A-Fa-f]{2}"
# The beginning of an address before expansion, so that no value can create a `javascript:` address.
# A path on this host is allowed; `//other.example` is not.
_SAFE = re.compile(r"(?:https?|mailto|tel|xmpp):|/(?:[^/{]|\{[^+#/]|\Z)", re.IGNORECASE)
_TEMPLATE = re.compile(rf"(?:{_LITERAL}|{_EXPRESSION})*")


def is_url_template(text: str) -> bool:
    """Return whether a text is an RFC 6570 template that expands only to addresses that a browser
    may open safely, for all values of its variables. `uritemplate` itself accepts any text.
    """
    return _TEMPLATE.fullmatch(text) is not None and _SAFE.match(text) is not None
