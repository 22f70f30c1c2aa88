"""The rules for a linkifier: RE2 accepts its pattern, and the pattern's groups fill its
templates.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NoReturn, cast

import re2
from uritemplate import URITemplate

from models.chat.common.url_templates import is_url_template
from models.chat.organization.errors import ValidationFailure
from models.chat.rendering.links import PATTERN_OPTIONS

BLANK = "This field cannot be blank."
NO_TEMPLATE = "Invalid URL template."
EMPTY_MATCH = "The pattern must not match the empty text."
NO_EXAMPLE = "An example input is required for reverse linkification."
WRONG_EXAMPLE = "The example input does not match the pattern."
WRONG_BRACES = "Invalid reverse template."
TOO_LARGE = "The pattern is too large."
MAX_STEPS = 4_000
"""Maximum number of steps in the program that RE2 compiles from a pattern. Usual patterns have
about a hundred.
"""

_REVERSE = re.compile(r"(?:[^{}]|\{\{|\}\}|\{[A-Za-z_][A-Za-z0-9_]*\})*")
_VARIABLE = re.compile(r"\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class LinkifierFacts:
    """The fields of a linkifier."""

    pattern: str
    url_template: str
    example_input: str | None = None
    reverse_template: str | None = None
    alternative_url_templates: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class CheckedLinkifier:
    """A linkifier that was checked before the transaction that stores it, because the check takes
    tens of milliseconds. `failure` is the error or None.
    """

    facts: LinkifierFacts
    failure: ValidationFailure | None = None

    def require_sound(self) -> LinkifierFacts:
        """Return the facts. Raise `ValidationFailure`."""
        if self.failure is not None:
            raise self.failure
        return self.facts


def check_linkifier(wanted: LinkifierFacts) -> CheckedLinkifier:
    """Check a linkifier. A failure is for a field, or for `__all__` if two fields do not match."""
    try:
        _check(wanted)
    except ValidationFailure as failure:
        return CheckedLinkifier(wanted, failure)
    return CheckedLinkifier(wanted)


def _check(wanted: LinkifierFacts) -> None:
    for field, text in (("pattern", wanted.pattern), ("url_template", wanted.url_template)):
        if not text.strip():
            _refuse(field, BLANK)
    groups = set(_compile(wanted.pattern).groupindex)
    for template in (wanted.url_template, *wanted.alternative_url_templates):
        if not is_url_template(template):
            main = template == wanted.url_template
            _refuse("url_template" if main else "alternative_url_templates", NO_TEMPLATE)
        _check_groups(groups, URITemplate(template).variable_names)
    if wanted.reverse_template is not None:
        if _REVERSE.fullmatch(wanted.reverse_template) is None:
            _refuse("reverse_template", WRONG_BRACES)
        _check_groups(groups, filter(None, _VARIABLE.findall(wanted.reverse_template)))
        if not wanted.example_input:
            _refuse("example_input", NO_EXAMPLE)
    if wanted.example_input and not _compile(wanted.pattern).fullmatch(wanted.example_input):
        _refuse("example_input", WRONG_EXAMPLE)


def _compile(pattern: str) -> re.Pattern[str]:
    """Return the compiled pattern. RE2's patterns have the methods of `re`'s patterns."""
    try:
        compiled = re2.compile(pattern, PATTERN_OPTIONS)
    except re2.error as error:
        reason = error.args[0] if error.args else ""
        text = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        _refuse("pattern", f"Bad regular expression: {text}")
    if compiled.programsize > MAX_STEPS:
        _refuse("pattern", TOO_LARGE)
    if compiled.fullmatch(""):
        _refuse("pattern", EMPTY_MATCH)
    return cast(re.Pattern[str], compiled)


def _check_groups(groups: set[str], names: Iterable[str]) -> None:
    """Require that the pattern's named groups are the template's variables."""
    variables = set(names)
    for name in sorted(variables - groups):
        _refuse("__all__", f"Group '{name}' in URL template is not present in linkifier pattern.")
    for name in sorted(groups - variables):
        _refuse("__all__", f"Group '{name}' in linkifier pattern is not present in URL template.")


def _refuse(field: str, problem: str) -> NoReturn:
    raise ValidationFailure(problem=problem, errors={field: [problem]})
