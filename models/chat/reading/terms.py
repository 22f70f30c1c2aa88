"""The terms of a narrow, parsed from the forms that clients send, including older names."""

from collections.abc import Sequence
from dataclasses import dataclass

from models.chat.messages.errors import BadNarrow
from models.chat.reading.errors import InvalidNarrow
from models.json import Json

ALIASES = {
    "stream": "channel",
    "streams": "channels",
    "subject": "topic",
    "pm-with": "dm",
    "pm_with": "dm",
    "group_pm_with": "group-pm-with",
    "from": "sender",
}
OPERATORS = frozenset(
    (
        *("channel", "channels", "topic", "sender", "dm", "dm-including", "group-pm-with"),
        *("is", "has", "in", "near", "id", "search", "with", "mentions"),
    )
)
NAMES_PEOPLE = frozenset(("sender", "mentions", "dm", "dm-including", "group-pm-with"))
_NEEDS_TEXT = frozenset(("channels", "topic", "is", "has", "in", "search"))
_CHANNEL_TERMS = frozenset(("channel", "channels", "topic"))
_DIRECT_TERMS = frozenset(("dm", "dm-including", "group-pm-with"))


Operand = int | str | list[int]
"""A name or a number, or several ids if the operator accepts them."""


@dataclass(frozen=True, slots=True)
class Term:
    """A condition: an operator and its operand."""

    operator: str
    operand: Operand
    negated: bool = False

    @property
    def is_direct(self) -> bool:
        """Return whether only direct messages can match the term."""
        return self.operator in _DIRECT_TERMS or (
            self.operator == "is" and self.operand in ("dm", "private")
        )

    @property
    def is_channel(self) -> bool:
        """Return whether only channel messages can match the term."""
        return self.operator in _CHANNEL_TERMS


def parse_terms(narrow: Sequence[Json]) -> list[Term]:
    """Return the terms of a narrow in wire form: objects, or pairs of strings. Raise
    `InvalidNarrow`, `BadNarrow`.
    """
    terms = [_parse_term(index, item) for index, item in enumerate(narrow)]
    wanted = [term for term in terms if not term.negated]
    if any(t.is_channel for t in wanted) and any(t.is_direct for t in wanted):
        raise BadNarrow(desc="No message can be both a channel message and direct message")
    # Remove duplicates.
    return list({(t.operator, repr(t.operand), t.negated): t for t in terms}.values())


def _parse_term(index: int, item: Json) -> Term:
    if isinstance(item, list):
        if len(item) != 2 or not all(isinstance(part, str) for part in item):
            raise InvalidNarrow(index=index, problem="element is not a string pair")
        operator, operand, negated = item[0], item[1], False
    elif isinstance(item, dict):
        for key in ("operator", "operand"):
            if item.get(key) is None:
                raise InvalidNarrow(index=index, problem=f"{key} is missing")
        operator, operand = item["operator"], item["operand"]
        negated = item.get("negated", False)
    else:
        raise InvalidNarrow(index=index, problem="dict or list required")
    if not isinstance(operator, str):
        raise InvalidNarrow(index=index, problem="operator is not a string")
    if not isinstance(negated, bool):
        raise InvalidNarrow(index=index, problem="negated is not a boolean")
    operator = ALIASES.get(operator, operator)
    _check_operand(index, operator, operand)
    if operator == "search" and not operand.strip():
        raise InvalidNarrow(index=index, problem="operand cannot be blank.")
    if operator not in OPERATORS:
        raise BadNarrow(desc=f"unknown operator {operator}")
    return Term(operator, operand, negated)


def _check_operand(index: int, operator: str, operand: Json) -> None:
    if operator in _NEEDS_TEXT and not isinstance(operand, str):
        raise InvalidNarrow(index=index, problem="operand is not a string")
    if isinstance(operand, bool) or not isinstance(operand, str | int | list):
        raise InvalidNarrow(index=index, problem="operand is not a string or integer")
    if isinstance(operand, list):
        if operator not in _DIRECT_TERMS:
            raise InvalidNarrow(index=index, problem="operand is not a string or integer")
        if not all(isinstance(part, int) and not isinstance(part, bool) for part in operand):
            raise InvalidNarrow(index=index, problem="operand is not an integer list")
