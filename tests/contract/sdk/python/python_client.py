"""Drives the SDK of openapi-python-client."""

import base64
import importlib
import inspect
import json
import typing
from collections.abc import Mapping
from typing import Any

from drive import JSON, Answer, main
from pydantic import ConfigDict, TypeAdapter

ANY_CLASS = ConfigDict(arbitrary_types_allowed=True)


class Generated:
    """`specd_<document>_client`: a module for each operation under its tag, a class per schema."""

    def __init__(self, document: str, base_url: str) -> None:
        self._name = f"specd_{document}_client"
        self._sdk = importlib.import_module(self._name)
        self._models = importlib.import_module(f"{self._name}.models")
        self._types = importlib.import_module(f"{self._name}.types")
        self._base_url = base_url

    def send(self, call: JSON, caller: JSON) -> Answer:
        module = f"{self._name}.api.{call['tag']}.{call['operation']}"
        send = importlib.import_module(module).sync_detailed
        hints = inspect.get_annotations(send)
        values = {
            **{n: v for part in ("path_values", "query", "header") for n, v in call[part].items()},
            **{n: json.dumps(v) for n, v in call["json_query"].items()},
        }
        arguments = {_argument(hints, name): value for name, value in values.items()}
        typed = {name: _typed(hints[name], value) for name, value in arguments.items()}
        if call["body"] is not None:
            typed["body"] = self._body(call["body_schema"], call["body"])
        answer = send(client=self._client(caller), **typed)
        return Answer(int(answer.status_code), answer.headers, answer.parsed)

    def schema(self, name: str) -> type:
        found: type = getattr(self._models, name)
        return found

    def member(self, record: Any, name: str) -> Any:
        value = getattr(record, _field(record, name))
        scope = {**vars(self._models), **vars(self._types)}
        hint = typing.get_type_hints(type(record), localns=scope)[_field(record, name)]
        return TypeAdapter(hint, config=ANY_CLASS).validate_python(value, strict=True)

    def bare(self, value: Any) -> Any:
        return value

    def is_absent(self, record: Any, name: str) -> bool:
        return isinstance(getattr(record, _field(record, name)), self._types.Unset)

    def _client(self, caller: JSON) -> Any:
        more = {"base_url": self._base_url, "headers": caller.get("headers", {})}
        if "token" in caller:
            return self._sdk.AuthenticatedClient(token=caller["token"], **more)
        if "username" in caller:
            credentials = f"{caller['username']}:{caller['password']}".encode()
            token = base64.b64encode(credentials).decode()
            return self._sdk.AuthenticatedClient(token=token, prefix="Basic", **more)
        return self._sdk.Client(**more)

    def _body(self, schema: str, value: JSON) -> Any:
        """Return the value as an object, created like by hand. Raises AssertionError if the class
        cannot represent all of it.
        """
        kind = self.schema(schema)
        read = kind.from_dict(value)  # type: ignore[attr-defined]
        if schema == "AnyObject":  # which names no property
            assert read.to_dict() == value
            return read
        assert not getattr(read, "additional_properties", None)
        made = kind(**{_field(read, name): self.member(read, name) for name in value})
        assert made.to_dict().items() >= value.items()
        return made


def _typed(hint: Any, value: Any) -> Any:
    """Return the value as a parameter of that type, for example a member of an enumeration."""
    return TypeAdapter(hint, config=ANY_CLASS).validate_python(value)


def _field(record: Any, name: str) -> str:
    """Return the attribute for a member of the schema: `type_` for `type`."""
    return name if name in type(record).__annotations__ else f"{name}_"


def _argument(hints: Mapping[str, Any], name: str) -> str:
    """Return the argument for a parameter: `type_` for `type`."""
    snake = name.replace("-", "_").lower()
    return snake if snake in hints else f"{snake}_"


if __name__ == "__main__":
    main(Generated)
