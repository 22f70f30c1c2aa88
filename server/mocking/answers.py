"""The answers of a mock: which of an operation's documented ones, and with what content.

A client chooses by `Accept` (RFC 9110, section 12.5.1) and by `Prefer` (RFC 7240): `code=404` an
answer by its status, `example=NAME` one of its examples, `dynamic=true` values made anew for each
request. `Preference-Applied` names the preferences that were followed; others are ignored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from random import Random
from typing import Any
from urllib.parse import urlencode
from xml.sax.saxutils import escape, quoteattr

import structlog
from connexion.exceptions import ProblemException
from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header

from server.context import Context
from server.errors import InvalidRequest, Unauthenticated
from server.mocking.values import Impossible, Values
from server.openapi.structure import resolved
from server.response import JSON, Response, encode

log = structlog.get_logger("specd.mock")

_PREFERENCE = re.compile(r'\s*([\w!#$%&\'*+.^`|~-]+)\s*(?:=\s*("(?:[^"\\]|\\.)*"|[^\s,;"]*))?')
_CONCRETE = {"*": JSON, "application": JSON, "text": "text/plain", "image": "image/png"}
"""Where a document names a range, the media type of an answer."""
_BODILESS = (204, 205, 304)
Resolve = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""From an object of the document to what it refers to."""
MOST_IN_HEADER = 2000
_ITEMS = 3
"""How many items a stream has."""


class NotAcceptable(ProblemException):
    """The operation has no answer of a media type that the client accepts."""

    def __init__(self, offered: list[str]) -> None:
        super().__init__(
            status=406, title="Not Acceptable", detail=f"The answer is {' or '.join(offered)}."
        )


def preferences_of(header: str | None) -> dict[str, str]:
    """Return the preferences of a `Prefer` header by their names in lower case, the first of each.

    Parameters of a preference are left out (RFC 7240, section 2).
    """
    found: dict[str, str] = {}
    for preference in re.findall(r'(?:[^,"]|"(?:[^"\\]|\\.)*")+', header or ""):
        match = _PREFERENCE.match(preference)
        if match:
            name, value = match[1].lower(), match[2] or ""
            if value[:1] == '"':
                value = re.sub(r"\\(.)", r"\1", value[1:-1])
            found.setdefault(name, value)
    return found


class Answers:
    """The mocked answers of one document."""

    def __init__(self, document: Mapping[str, Any], values: Values) -> None:
        self._document = document
        self._values = values
        self._random = Random()
        self._operations: dict[str, _Operation] = {}

    def handler(self, path: str, method: str) -> Callable[..., Response]:
        """Return the handler of an operation."""
        operation = self._document["paths"][path][method]
        declared = {str(k): self.resolved(v) for k, v in operation.get("responses", {}).items()}
        mocked = _Operation(self, f"{method.upper()} {path}", declared)
        self._operations[operation["operationId"]] = mocked

        def answer(ctx: Context, **_: Any) -> Response:
            return mocked.answer(preferences_of(ctx.header("prefer")), ctx.header("accept"))

        return answer

    def refusal(self, operation_id: str, error: Exception) -> Response | None:
        """Return the documented answer to a request that an operation refuses, if there is one.
        What was wrong is in a header, as Prism has it.
        """
        if not isinstance(error, ProblemException) or isinstance(error, NotAcceptable):
            return None
        response = self._operations[operation_id].refusal(error.status)
        if response is None:
            return None
        headers = list(response.headers)
        if isinstance(error, InvalidRequest):
            found = [{"path": each.path, "message": each.message} for each in error.violations]
            headers.append(("Sl-Violations", json.dumps(found)[:MOST_IN_HEADER]))
        if isinstance(error, Unauthenticated):
            headers += [("WWW-Authenticate", challenge) for challenge in error.challenges]
        return Response(response.status, response.body, tuple(headers), response.media_type)

    def resolved(self, node: Any) -> Mapping[str, Any]:
        return resolved(self._document, node)

    def named_examples(self, media: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of the named examples of a media type or a header."""
        found = {}
        for name, example in (media.get("examples") or {}).items():
            example = self.resolved(example)
            for key in ("dataValue", "value", "serializedValue"):
                if key in example:
                    found[name] = example[key]
                    break
        return found

    def documented(self, media: Mapping[str, Any], *, is_json: bool, place: str) -> Iterator[Any]:
        """Yield the examples of a media type or a header that fit its schema. Text is taken as it
        is, but for JSON, where it may be JSON that somebody has put in quotes.
        """
        examples = self.named_examples(media)
        if "example" in media:
            examples = {"": media["example"], **examples}
        schema = media.get("schema", True)
        for name, value in examples.items():
            if (isinstance(value, str) and not is_json) or self._values.fits(schema, value):
                yield value
                continue
            if isinstance(value, str):
                with suppress(ValueError):
                    quoted = json.loads(value)
                    if self._values.fits(schema, quoted):
                        yield quoted
                        continue
            log.warning("example does not fit its schema", place=place, example=name)

    def made(self, schema: Any, *, is_random: bool, place: str) -> Any:
        """Return a value for a schema; None where none is found."""
        try:
            if is_random:
                return self._values.random(schema, self._random)
            return self._values.example(schema)
        except Impossible:
            log.warning("no value fits the schema", place=place)
            return None


class _Operation:
    """The documented answers of one operation, by status, range or `default`."""

    def __init__(
        self, answers: Answers, place: str, declared: Mapping[str, Mapping[str, Any]]
    ) -> None:
        self._answers = answers
        self._place = place
        self._declared = declared
        self._made: dict[tuple[str, str], Response] = {}
        """The answers that are the same each time, by key and media type."""

    def answer(self, preferences: Mapping[str, str], accept: str | None) -> Response:
        applied = []
        key, status = self._usual()
        if (chosen := self._by_code(preferences.get("code", ""))) is not None:
            key, status = chosen
            applied.append(f"code={status}")
        name = preferences.get("example")
        if name is not None:
            keys = [key] if applied else [key, *self._declared]
            having = [each for each in keys if self._has_example(each, name)]
            if having:
                if having[0] != key:
                    key, status = having[0], _status_of(having[0])
                applied.append(f"example={_quoted(name)}")
            else:
                name = None
        is_random = name is None and preferences.get("dynamic", "").lower() == "true"
        if is_random:
            applied.append("dynamic=true")
        response = self._whole(key, status, accept, name=name, is_random=is_random)
        if applied:
            headers = (*response.headers, ("Preference-Applied", ", ".join(applied)))
            response = Response(response.status, response.body, headers, response.media_type)
        return response

    def refusal(self, status: int) -> Response | None:
        """Return the documented answer of a status; what breaks the document's rules may also be
        documented as 422.
        """
        chosen = self._by_code(str(status))
        if status == 400 and (chosen is None or chosen[0] != "400") and "422" in self._declared:
            chosen = "422", 422
        if chosen is None:
            return None
        return self._whole(*chosen, None, name=None, is_random=False)

    def _usual(self) -> tuple[str, int]:
        """Return the first good answer, else the default, else the first one."""
        good = sorted(key for key in self._declared if re.fullmatch("2[0-9X]{2}", key.upper()))
        key = next(iter([*good, *(["default"] if "default" in self._declared else [])]), None)
        key = key or next(iter(self._declared), "200")
        return key, _status_of(key)

    def _by_code(self, code: str) -> tuple[str, int] | None:
        if not re.fullmatch("[1-5][0-9]{2}", code):
            return None
        for key in (code, f"{code[0]}XX", f"{code[0]}xx", "default"):
            if key in self._declared:
                return key, int(code)
        return None

    def _content(self, key: str) -> Mapping[str, Any]:
        content: Mapping[str, Any] = self._declared.get(key, {}).get("content") or {}
        return content

    def _has_example(self, key: str, name: str) -> bool:
        return any(
            name in self._answers.named_examples(media) for media in self._content(key).values()
        )

    def _whole(
        self, key: str, status: int, accept: str | None, *, name: str | None, is_random: bool
    ) -> Response:
        content = self._content(key)
        if name is not None:
            having = {k: v for k, v in content.items() if name in self._answers.named_examples(v)}
            content = having or content
        media_type = _negotiated(list(content), accept) if content else ""
        is_same = name is None and not is_random
        made = self._made.get((key, media_type)) if is_same else None
        if made is None:
            made = self._make(key, status, media_type, name=name, is_random=is_random)
            if is_same:
                self._made[key, media_type] = made
        return Response(status, made.body, made.headers, made.media_type)

    def _make(
        self, key: str, status: int, media_type: str, *, name: str | None, is_random: bool
    ) -> Response:
        place = f"{self._place} {key}"
        headers = tuple(self._headers(key, is_random=is_random, place=place))
        if not media_type or status in _BODILESS:
            return Response(status, b"", headers)
        media = self._answers.resolved(self._content(key)[media_type])
        actual = _concrete(media_type)
        if name is not None:
            value = self._answers.named_examples(media)[name]
        else:
            place = f"{place} {media_type}"
            value = self._value(media, is_random=is_random, is_json=_is_json(actual), place=place)
        schema = media.get("schema", media.get("itemSchema", {}))
        body = _encoded(value, actual, schema, self._answers.resolved)
        return Response(status, body, headers, actual)

    def _value(
        self, media: Mapping[str, Any], *, is_random: bool, is_json: bool, place: str
    ) -> Any:
        if not is_random:
            for example in self._answers.documented(media, is_json=is_json, place=place):
                return example
        if "itemSchema" in media and "schema" not in media:
            made = self._answers.made
            return [
                made(media["itemSchema"], is_random=is_random, place=place) for _ in range(_ITEMS)
            ]
        return self._answers.made(media.get("schema", {}), is_random=is_random, place=place)

    def _headers(self, key: str, *, is_random: bool, place: str) -> Iterator[tuple[str, str]]:
        for name, node in (self._declared.get(key, {}).get("headers") or {}).items():
            header = self._answers.resolved(node)
            if name.lower() in ("content-type", "content-length"):
                continue
            media = next(iter(header["content"].values()), {}) if "content" in header else header
            where = f"{place} {name}"
            value = self._value(media, is_random=is_random, is_json=False, place=where)
            if value is not None:
                yield name, _in_header(value, explodes=bool(header.get("explode")))


def _status_of(key: str) -> int:
    """Return the status of a key of `responses`: of a range its first, of `default` 200."""
    return int(key.upper().replace("X", "0")) if key[:1].isdigit() else 200


def _quoted(text: str) -> str:
    if re.fullmatch(r"[\w!#$%&'*+.^`|~-]+", text, re.ASCII):
        return text
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


def _negotiated(offered: list[str], accept: str | None) -> str:
    """Return the media type of the answer: without a wish JSON, else the document's first one.

    Raise `NotAcceptable`.
    """
    by_preference = sorted(offered, key=lambda name: not _is_json(_concrete(name)))
    if not accept:
        return by_preference[0]
    wishes = parse_accept_header(accept, MIMEAccept)
    concrete = {_concrete(name): name for name in reversed(by_preference)}
    best = wishes.best_match([_concrete(name) for name in by_preference])
    if best is not None:
        return concrete[best]
    for wish, quality in wishes:
        for name in by_preference:  # the document has a range, of which a type is wanted
            if quality and "*" in name and wish.startswith(name.partition("*")[0]):
                return name
    raise NotAcceptable(offered)


def _concrete(media_type: str) -> str:
    kind, _, rest = media_type.partition("/")
    return _CONCRETE.get(kind, JSON) if rest.startswith("*") else media_type


def _essence(media_type: str) -> str:
    return media_type.partition(";")[0].strip().lower()


def _is_json(media_type: str) -> bool:
    return _essence(media_type) == JSON or _essence(media_type).endswith("+json")


def _encoded(value: Any, media_type: str, schema: Any, resolved: Resolve) -> bytes:
    """Return a value in a media type. An example that is text is taken as it is, but for JSON."""
    essence = _essence(media_type)
    if _is_json(media_type):
        return encode(value)
    if isinstance(value, str):
        return value.encode()
    if essence == "text/event-stream" and isinstance(value, list):
        return "".join(_event(item) for item in value).encode()
    if essence in ("application/jsonl", "application/x-ndjson", "application/json-lines"):
        return b"".join(encode(item) + b"\n" for item in value)
    if essence == "application/json-seq":  # RFC 7464
        return b"".join(b"\x1e" + encode(item) + b"\n" for item in value)
    if essence.endswith("/xml") or essence.endswith("+xml"):
        return _xml(value, schema, resolved).encode()
    if essence == "application/x-www-form-urlencoded" and isinstance(value, dict):
        return urlencode(value, doseq=True).encode()
    return b"" if value is None else encode(value)


def _event(item: Any) -> str:
    """Return a server-sent event (HTML Living Standard, section 9.2.6)."""
    if not isinstance(item, dict):
        item = {"data": item}
    lines = []
    for name, value in item.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines += [f"{name}: {line}" for line in text.splitlines()]
    return "\n".join(lines) + "\n\n"


def _xml(value: Any, schema: Any, resolved: Resolve, name: str = "root") -> str:
    """Return a value as XML by the names of its schema (OpenAPI 3.0.4, section 4.8.26)."""
    schema = resolved(schema) if isinstance(schema, Mapping) else {}
    about = schema.get("xml") or {}
    prefix = f"{about['prefix']}:" if "prefix" in about else ""
    tag = prefix + about.get("name", name)
    start = tag
    if "namespace" in about:
        colon = f":{prefix[:-1]}" if prefix else ""
        start += f" xmlns{colon}={quoteattr(about['namespace'])}"
    if isinstance(value, list):
        items = "".join(_xml(item, schema.get("items"), resolved, tag) for item in value)
        is_wrapped = about.get("wrapped") or name == "root"
        return f"<{start}>{items}</{tag}>" if is_wrapped else items
    if not isinstance(value, dict):
        return f"<{start}>{escape(_text(value))}</{tag}>"
    inner = ""
    for key, part in value.items():
        its = resolved(schema.get("properties", {}).get(key, {}))
        if (own := its.get("xml") or {}).get("attribute"):
            start += f" {own.get('name', key)}={quoteattr(_text(part))}"
        else:
            inner += _xml(part, its, resolved, key)
    return f"<{start}>{inner}</{tag}>"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)


def _in_header(value: Any, *, explodes: bool) -> str:
    """Return a header's value in the style `simple` (OpenAPI 3.0.4, section 4.8.12)."""
    if isinstance(value, list):
        text = ",".join(map(_text, value))
    elif isinstance(value, dict):
        mark = "=" if explodes else ","
        text = ",".join(f"{key}{mark}{_text(part)}" for key, part in value.items())
    else:
        text = _text(value)
    return re.sub(r"[^\x20-\x7e]+", " ", text).strip()
