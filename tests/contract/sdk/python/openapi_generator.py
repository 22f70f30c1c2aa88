"""Drives the SDK of openapi-generator's generator `python`."""

import importlib
import inspect
import json
import re
import typing
from collections.abc import Mapping
from typing import Any

from drive import JSON, Answer, main


class Generated:
    """`specd_<document>`: a class for each tag, a method for each operation, a class per schema."""

    def __init__(self, document: str, base_url: str) -> None:
        self._sdk = importlib.import_module(f"specd_{document}")
        self._errors = importlib.import_module(f"specd_{document}.exceptions")
        self._base_url = base_url

    def send(self, call: JSON, caller: JSON) -> Answer:
        headers, names = caller.get("headers", {}), ("username", "password")
        signed = {name: caller[name] for name in names if name in caller}
        if "token" in caller:
            signed["access_token"] = caller["token"]
        client = self._sdk.ApiClient(self._sdk.Configuration(host=self._base_url, **signed))
        tag = "".join(word.capitalize() for word in call["tag"].split("_"))
        api = getattr(self._sdk, f"{tag}Api")(client)
        method = getattr(api, f"{call['operation']}_with_http_info")
        values = {
            **{n: v for part in ("path_values", "query", "header") for n, v in call[part].items()},
            **{n: json.dumps(v) for n, v in call["json_query"].items()},
        }
        arguments = {_snake(name): value for name, value in values.items()}
        if call["body"] is not None:
            schema = call["body_schema"]  # any object has no class
            name = "request_body" if schema == "AnyObject" else _snake(schema)
            arguments[name] = call["body"]
        hints = typing.get_type_hints(inspect.unwrap(method), include_extras=False)
        typed = {name: self._typed(hints[name], value) for name, value in arguments.items()}
        try:
            answer = method(**typed, _headers=headers)
        except self._errors.ApiException as refused:
            return Answer(refused.status, _lower(refused.headers), refused.data)
        return Answer(answer.status_code, _lower(answer.headers), answer.data)

    def schema(self, name: str) -> type:
        found: type = getattr(self._sdk, name)
        return found

    def member(self, record: Any, name: str) -> Any:
        return getattr(record, _field(type(record), name))

    def bare(self, value: Any) -> Any:
        return getattr(value, "actual_instance", value)

    def is_absent(self, record: Any, name: str) -> bool:
        return self.member(record, name) is None

    def _typed(self, hint: Any, value: Any) -> Any:
        """Return the value as a parameter of that type. Objects are created like by hand. Raises
        AssertionError if the class cannot represent the complete value.
        """
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if origin is typing.Union:
            return self._typed(arguments[0], value)
        if origin is list:
            return [self._typed(arguments[0], item) for item in value]
        if not hasattr(hint, "from_dict"):
            return value
        made = hint.from_dict(value)
        if isinstance(value, dict) and not hasattr(made, "actual_instance"):
            fields = {_field(hint, name) for name in value}
            made = hint(**{name: getattr(made, name) for name in fields})
        _assert_within(_plain(value), _plain(made.to_dict()))
        return made


def _field(kind: type[Any], name: str) -> str:
    """Return the field of a class for a member of the schema: `var_property` for `property`."""
    (field,) = [n for n, info in kind.model_fields.items() if name == (info.alias or n)]
    return field


def _assert_within(value: Any, whole: Any) -> None:
    """Check that `whole` contains all of `value`, possibly with additional defaults."""
    if isinstance(value, dict):
        for name, item in value.items():
            _assert_within(item, whole[name])
    elif isinstance(value, list):
        assert len(value) == len(whole)
        for item, other in zip(value, whole, strict=True):
            _assert_within(item, other)
    else:
        assert value == whole, (value, whole)


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value, default=str))


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").lower()


if __name__ == "__main__":
    main(Generated)
