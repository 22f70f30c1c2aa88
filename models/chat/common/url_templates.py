"""URL templates (RFC 6570): the server stores them, and clients fill them in."""

import re

# RFC 6570, section 2: literals without what must be escaped, and expressions of named variables.
_NAME = r"(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*"
_SPEC = rf"{_NAME}(?::[1-9][0-9]{{0,3}}|\*)?"
_EXPRESSION = rf"\{{[+#./;?&]?{_SPEC}(?:,{_SPEC})*\}}"
_LITERAL = r"[^\x00-\x20\"'<>\\^`{|}\x7f%]|%[0-9A-Fa-f]{2}"
# What an address begins with, before anything is filled in: no value can make it `javascript:`. A
# path of this host is one, `//other.example` is none.
_SAFE = re.compile(r"(?:https?|mailto|tel|xmpp):|/(?:[^/{]|\{[^+#/]|\Z)", re.IGNORECASE)
_TEMPLATE = re.compile(rf"(?:{_LITERAL}|{_EXPRESSION})*")


def is_url_template(text: str) -> bool:
    """Return whether a text is a template of RFC 6570 that can only become an address to which a
    browser may be sent, whatever its variables are. `uritemplate` itself takes any text.
    """
    return _TEMPLATE.fullmatch(text) is not None and _SAFE.match(text) is not None
