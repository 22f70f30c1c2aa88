"""URL templates (RFC 6570): kept by us, filled in by clients."""

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
    """Is it a template as RFC 6570 has them? `uritemplate` itself takes any text."""
    return _TEMPLATE.fullmatch(text) is not None


def is_safe_template(template: str) -> bool:
    """Can it only become an address that a browser may be sent to, whatever fills it?"""
    return _SAFE.match(template) is not None
