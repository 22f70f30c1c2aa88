"""What is wrong with a parameter, in the words of the reference: the first one alphabetically."""

import json
import re
from collections.abc import Mapping
from typing import Any

from models.chat.accounts.errors import NotOneAvatar
from models.chat.channels.errors import InvalidColor, UnknownSubscriptionProperty
from models.chat.common.errors import (
    ConfusingParameters,
    InvalidChoice,
    InvalidParameter,
    MissingParameter,
)
from models.chat.errors import ChatError
from models.chat.reading.errors import InvalidNarrow
from models.chat.uploads.errors import NoFileGiven, SeveralFilesGiven
from specd.errors import Violation

TYPES = {
    "integer": "is not an integer",
    "boolean": "is not a boolean",
    "string": "is not a string",
    "array": "is not a list",
    "object": "is not a dict",
    "number": "is not a float",
}
PROBLEMS = {
    "encoding": "is not valid JSON",
    "maxLength": "is too long (limit: {limit} characters)",
    "minLength": "is too short",
    "minimum": "is too small",
    "exclusiveMinimum": "is too small",
    "maximum": "is too large",
    "exclusiveMaximum": "is too large",
    "maxItems": "is not length {limit}",
    "minItems": "is not length {limit}",
}
"""By rule."""


class InvalidEncoding(ChatError):
    """The body, the query or a header is not valid text or not a valid form. Facts: `problem`."""

    sentence = "Malformed request: {problem}"
    advice = "Send parameters as UTF-8 form fields. `msg` describes the problem."


class UnexpectedArgument(ChatError):
    """The object contains an unknown key. Facts: `key`, `name`."""

    sentence = 'Argument "{key}" at {name} is unexpected'
    advice = "Remove the key in `msg`."


class MissingField(ChatError):
    """The object lacks a required key. Facts: `name`."""

    sentence = "{name} field is missing"
    advice = "Send the key in `msg`."


class InvalidValue(ChatError):
    """The text is not one of the permitted values. Facts: `name`."""

    sentence = "Invalid {name}"
    advice = "Send one of the values that the document lists."


class NullBytes(ChatError):
    """The text contains NUL characters. Facts: `name`."""

    sentence = "{name} must not contain null bytes"
    advice = "Remove the NUL characters from the parameter in `msg`."


NAMED: dict[str, type[ChatError]] = {
    kind.__name__: kind
    for kind in (
        InvalidChoice,
        InvalidColor,
        NoFileGiven,
        NotOneAvatar,
        UnknownSubscriptionProperty,
    )
}
"""The errors that the document names in `x-errors`, beside the keyword that fails."""


def first_error(violations: tuple[Violation, ...]) -> ChatError:
    """Return the first error in the alphabetical order of parameters, as the reference does."""
    return error_of(min(violations, key=_order))


def _order(violation: Violation) -> tuple[str, bool]:
    # A parameter that cannot be decoded is also missing from the values: prefer the former.
    name = _steps(violation)[:1]
    missing = violation.rule == "required" and not name
    return (violation.facts.get("property", "") if missing else "".join(name), missing)


def _steps(violation: Violation) -> list[str]:
    """Return `["narrow", "0", "operator"]` for `/body/narrow/0/operator`."""
    return [step.replace("~1", "/").replace("~0", "~") for step in violation.path.split("/")[2:]]


def _name(steps: list[str]) -> str:
    """Return a place inside a parameter as the reference writes it: `narrow[0]["operator"]`."""
    if not steps:
        return "request"
    head, *rest = steps
    return head + "".join(f"[{s}]" if re.fullmatch(r"[0-9]+", s) else f'["{s}"]' for s in rest)


def error_of(violation: Violation) -> ChatError:
    """Return the error of the reference for a violation."""
    steps, facts, rule = _steps(violation), violation.facts, violation.rule
    where = violation.path.split("/")[1:2]
    if where == ["header"] or (not steps and rule not in ("required", "additionalProperties")):
        return InvalidEncoding(problem=violation.message)
    if "error" in facts:
        return NAMED[facts["error"]](name=_name(steps), value=facts.get("value"))
    if rule == "oneFile":
        return SeveralFilesGiven()
    if rule == "alias":
        first, second = facts["names"]
        return ConfusingParameters(var_name1=first, var_name2=second)
    if rule == "required" and not steps and not facts:
        return InvalidEncoding(problem="the body is required")
    if rule != "nul" and steps[:1] == ["narrow"] and steps[1:2] and steps[1].isdecimal():
        return _narrow_error_of(violation, steps)
    if rule == "required":
        if not steps or (where == ["query"] and not facts):
            return MissingParameter(var_name=steps[0] if steps else facts["property"])
        return MissingField(name=_name([*steps, facts["property"]]))
    name = _name(steps)
    match rule:
        case "nul":  # found before the parameters are decoded
            return NullBytes(name="Message" if name == "content" else name)
        case "additionalProperties":
            return UnexpectedArgument(key=facts["unexpected"][0], name=name)
        case "anyOf" | "oneOf":
            return _branch_error_of(violation, steps)
        case "enum":
            is_number = all(isinstance(option, int) for option in facts["options"])
            return InvalidChoice(name=name) if is_number else InvalidValue(name=name)
        case _:
            return InvalidParameter(name=name, problem=_problem(rule, facts))


def _problem(rule: str, facts: Mapping[str, Any]) -> str:
    if rule == "type":
        if "text" in facts and not _is_json(facts["text"]):
            return PROBLEMS["encoding"]
        wanted = next((kind for kind in facts["types"] if kind != "null"), "null")
        return TYPES.get(wanted, "is not valid")
    if rule == "minLength" and facts["limit"] == 1:
        return "cannot be blank"
    return PROBLEMS.get(rule, "has invalid format").format_map(facts)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _branch_error_of(violation: Violation, steps: list[str]) -> ChatError:
    """Return the error of the branch that fits the value best: the one that fails deepest in it, or
    the first one if none takes the value's type.
    """
    best: Violation | None = None
    deepest = -1
    for candidate in violation.facts.get("context", ()):
        at = candidate.path.split("/")[2:]
        depth = len(at) - len(steps) if at != steps or candidate.rule != "type" else -1
        if best is None or depth > deepest:
            best, deepest = candidate, depth
    return InvalidValue(name=_name(steps)) if best is None else error_of(best)


def _narrow_error_of(violation: Violation, steps: list[str]) -> ChatError:
    """Return the error of a term that is neither an object of operator and operand nor a pair."""
    rule, place = violation.rule, steps[2:]
    if rule in ("minItems", "maxItems") or place[:1] in (["0"], ["1"]):
        problem = "element is not a string pair"
    elif rule == "required":
        problem = f"{violation.facts['property']} is missing"
    elif place == ["operand"]:
        problem = "operand is not a string or integer"
    elif place:
        wanted = next(iter(violation.facts.get("types", ["valid"])))
        problem = f"{'.'.join(place)} {TYPES.get(wanted, 'is not valid')}"
    else:
        problem = "dict or list required"
    return InvalidNarrow(index=int(steps[1]), problem=problem)
