"""The responses of a mock: chooses one of an operation's documented responses, and its content.

A client chooses by `Accept` (RFC 9110, section 12.5.1) and by `Prefer` (RFC 7240): `code=404`
chooses a response by its status, `example=NAME` an example, and `dynamic=true` new values for each
request. `Preference-Applied` names the preferences that were applied. Others are ignored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from random import Random
from typing import Any
from urllib.parse import urlencode
from xml.sax.saxutils import escape, quoteattr

import structlog
from connexion.exceptions import ProblemException
from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header, quote_header_value

from specd._engine.context import Context
from specd._engine.document.media import (
    EVENT_STREAM,
    URLENCODED,
    essence,
    find_key,
    frame_event,
    frame_item,
    is_json,
    is_range,
    is_sequence,
    parameters,
)
from specd._engine.document.responses import key_of
from specd._engine.errors import InvalidRequest, Unauthenticated
from specd._engine.http.guard import check_answer_headers
from specd._engine.mocking.values import Impossible, Values
from specd._engine.openapi.structure import resolved
from specd._engine.openapi.wording import NOTHING
from specd._engine.response import JSON, Response, encode

log = structlog.get_logger("specd.mock")

_PREFERENCE = re.compile(r'\s*([\w!#$%&\'*+.^`|~-]+)\s*(?:=\s*("(?:[^"\\]|\\.)*"|[^\s,;"]*))?')
_STATUS = re.compile("[1-5][0-9]{2}")
_CONCRETE = {"text": "text/plain", "image": "image/png"}
"""The media types of responses for ranges in a document. It is JSON for other ranges."""
_BODILESS = (204, 205, 304)
Resolve = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Returns the target of a reference in the document."""
MAX_IN_HEADER = 2000
_OF_THE_SERVER = frozenset(
    ("connection", "content-encoding", "content-length", "content-type", "date",
     "keep-alive", "proxy-connection", "trailer", "transfer-encoding", "upgrade")
)  # fmt: skip
"""Headers that describe how a response is sent. Those in a document are ignored."""
_EVENT_FIELDS = {"event", "id", "retry", "data"}


class NotAcceptable(ProblemException):
    """The operation has no response in a media type that the client accepts."""

    def __init__(self, offered: list[str]) -> None:
        super().__init__(
            status=406, title="Not Acceptable", detail=f"The answer is {' or '.join(offered)}."
        )


def preferences_of(header: str | None) -> dict[str, str]:
    """Return the preferences of a `Prefer` header by their lower-case names. The first of each name
    counts.

    Parameters of preferences are ignored (RFC 7240, section 2).
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
    """The mocked responses of one document."""

    def __init__(self, document: Mapping[str, Any], values: Values) -> None:
        self._document = document
        self._values = values
        self._random = Random()
        self._operations: dict[str, _Operation] = {}

    def handler(self, path: str, method: str) -> Callable[..., Response]:
        """Return the handler of an operation."""
        operation = self._document["paths"][path][method]
        responses = operation.get("responses", {})
        declared = {str(k).replace("x", "X"): self.resolved(v) for k, v in responses.items()}
        mocked = _Operation(self, f"{method.upper()} {path}", declared or {"200": {}})
        self._operations[operation["operationId"]] = mocked

        def answer(ctx: Context, **_: Any) -> Response:
            return mocked.answer(preferences_of(ctx.header("prefer")), ctx.header("accept"))

        return answer

    def refusal(self, operation_id: str, error: Exception) -> Response | None:
        """Return the documented response to a request that an operation refuses, or None. A header
        contains the mistakes, as in Prism.
        """
        if not isinstance(error, ProblemException) or isinstance(error, NotAcceptable):
            return None
        response = self._operations[operation_id].refusal(error.status)
        if response is None:
            return None
        headers = list(response.headers)
        if isinstance(error, InvalidRequest):
            found = [{"path": each.path, "message": each.message} for each in error.violations]
            headers.append(("Sl-Violations", json.dumps(found)[:MAX_IN_HEADER]))
        if isinstance(error, Unauthenticated):
            headers += [("WWW-Authenticate", challenge) for challenge in error.challenges]
        return replace(response, headers=tuple(headers))

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
        """Yield the examples of a media type or a header that fit its schema. Text is not checked,
        except for JSON, where it may be JSON in quotes.
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
        """Return a value for a schema, or `NOTHING` if none is found."""
        try:
            if is_random:
                return self._values.random(schema, self._random)
            return self._values.example(schema)
        except Impossible:
            log.warning("no value fits the schema", place=place)
            return NOTHING


class _Operation:
    """The documented responses of one operation, by status, range or `default`."""

    def __init__(
        self, answers: Answers, place: str, declared: Mapping[str, Mapping[str, Any]]
    ) -> None:
        self._answers = answers
        self._place = place
        self._declared = declared
        self._made: dict[tuple[str, str, str | None], Response] = {}
        """The responses that do not vary, by key, media type and name of the example."""

    def answer(self, preferences: Mapping[str, str], accept: str | None) -> Response:
        applied = []
        key, status = self._usual()
        keys = [key, *self._declared]
        code = preferences.get("code", "")
        if _STATUS.fullmatch(code) and (chosen := key_of(int(code), self._declared)):
            key, status = chosen, int(code)
            keys = [key]
            applied.append(f"code={status}")
        name = preferences.get("example")
        having = [each for each in keys if self._having(each, name)] if name is not None else []
        if having:
            if having[0] != key:
                key, status = having[0], _status_of(having[0])
            applied.append(f"example={quote_header_value(name)}")
        else:
            name = None
        is_random = name is None and preferences.get("dynamic", "").lower() == "true"
        if is_random:
            applied.append("dynamic=true")
        if status < 200:
            detail = f"The answer is {status}, which a mock cannot go on after."
            raise ProblemException(status=501, title="Not Implemented", detail=detail)
        response = self._whole(key, status, accept, name, is_random=is_random)
        if applied:
            headers = (*response.headers, ("Preference-Applied", ", ".join(applied)))
            response = replace(response, headers=headers)
        return response

    def refusal(self, status: int) -> Response | None:
        """Return the documented response of a status. An invalid request may also be documented as
        422.
        """
        if status == 400 and "400" not in self._declared and "422" in self._declared:
            status = 422
        key = key_of(status, self._declared)
        return self._whole(key, status) if key else None

    def _usual(self) -> tuple[str, int]:
        """Return the key and status of the first successful response, else of the default, else of
        the first response.
        """
        good = sorted(key for key in self._declared if key.startswith("2"))
        default = ["default"] if "default" in self._declared else []
        final = [key for key in self._declared if not key.startswith("1")]
        key = next(iter((*good, *default, *final, *self._declared)))
        return key, _status_of(key)

    def _content(self, key: str) -> Mapping[str, Any]:
        content = self._declared[key].get("content") or {}
        return {media_type: self._answers.resolved(node) for media_type, node in content.items()}

    def _having(self, key: str, name: str) -> Mapping[str, Any]:
        """Return the part of a response's content that has an example with this name."""
        content = self._content(key)
        return {k: v for k, v in content.items() if name in self._answers.named_examples(v)}

    def _whole(
        self,
        key: str,
        status: int,
        accept: str | None = None,
        name: str | None = None,
        *,
        is_random: bool = False,
    ) -> Response:
        content = self._content(key) if name is None else self._having(key, name)
        has_body = content and status not in _BODILESS
        at = key, _negotiated(list(content), accept) if has_body else "", name
        if is_random:
            return replace(self._make(*at, is_random=True), status=status)
        if at not in self._made:
            self._made[at] = self._make(*at, is_random=False)
        return replace(self._made[at], status=status)

    def _make(self, key: str, media_type: str, name: str | None, *, is_random: bool) -> Response:
        place = f"{self._place} {key}"
        headers = tuple(self._headers(key, is_random=is_random, place=place))
        if not media_type:
            return Response(200, b"", headers)
        media = self._content(key)[media_type]
        actual = _concrete(media_type)
        if name is not None:
            value = self._answers.named_examples(media)[name]
        else:
            place = f"{place} {media_type}"
            value = self._value(media, is_random=is_random, is_json=is_json(actual), place=place)
            if value is NOTHING:
                detail = f"No value fits the schema of {place}."
                raise ProblemException(status=501, title="Not Implemented", detail=detail)
        body = _encoded(value, actual, _schema_of(media), self._answers.resolved)
        return Response(200, body, headers, actual)

    def _value(
        self, media: Mapping[str, Any], *, is_random: bool, is_json: bool, place: str
    ) -> Any:
        if not is_random:
            for example in self._answers.documented(media, is_json=is_json, place=place):
                return example
        return self._answers.made(_schema_of(media), is_random=is_random, place=place)

    def _headers(self, key: str, *, is_random: bool, place: str) -> Iterator[tuple[str, str]]:
        for name, node in (self._declared[key].get("headers") or {}).items():
            header = self._answers.resolved(node)
            if name.lower() in _OF_THE_SERVER:
                continue
            media = next(iter(header["content"].values()), {}) if "content" in header else header
            where = f"{place} {name}"
            value = self._value(media, is_random=is_random, is_json=False, place=where)
            if value is None or value is NOTHING:
                continue
            found = name, _in_header(value, explodes=bool(header.get("explode")))
            try:
                check_answer_headers([found])
            except ValueError as error:
                log.warning("header cannot go out", place=where, reason=str(error))
            else:
                yield found


def _status_of(key: str) -> int:
    """Return the status of a key of `responses`: the first status of a range, and 200 for
    `default`.
    """
    return 200 if key == "default" else int(key.replace("X", "0"))


def _schema_of(media: Mapping[str, Any]) -> Any:
    """Return the schema of a complete body. A sequence has three items (OpenAPI 3.2.0, 4.14)."""
    if "itemSchema" in media and "schema" not in media:
        return {"type": "array", "items": media["itemSchema"], "minItems": 3, "maxItems": 3}
    return media.get("schema", {})


def _negotiated(offered: list[str], accept: str | None) -> str:
    """Return the media type of the response that `accept` prefers. Without a preference, it is
    JSON, or else the document's first media type. Raise `NotAcceptable`.
    """
    ordered = sorted(offered, key=lambda name: not is_json(_concrete(name)))
    if not accept:
        return ordered[0]
    accepted = parse_accept_header(accept, MIMEAccept)
    ranked = [(_preference(_concrete(name), accepted), name) for name in ordered]
    best, name = max(ranked, key=lambda each: each[0])
    if best[0] > 0:
        return name
    for wanted, quality in accepted:  # matches of ranges in the document
        if quality and (key := find_key(wanted, ordered)):
            return key
    raise NotAcceptable(offered)


def _preference(offered: str, accepted: MIMEAccept) -> tuple[float, int, int]:
    """Return the preference for a media type: the quality of the most specific range that matches
    it, and the specificity of this range. A range without parameters includes media types with
    parameters.
    """
    name, own = essence(offered), parameters(offered)
    ranks = {"*/*": 0, f"{name.partition('/')[0]}/*": 1, name: 2}
    found = [
        (ranks[essence(wanted)], len(asked), float(quality))
        for wanted, quality in accepted
        if essence(wanted) in ranks and (asked := parameters(wanted)).items() <= own.items()
    ]
    rank, count, quality = max(found, default=(0, 0, 0.0))
    return quality, rank, count


def _concrete(media_type: str) -> str:
    return _CONCRETE.get(media_type.partition("/")[0], JSON) if is_range(media_type) else media_type


def _encoded(value: Any, media_type: str, schema: Any, resolved: Resolve) -> bytes:
    """Return a value encoded in a media type. A text is not changed, except for JSON."""
    name = essence(media_type)
    if is_json(name):
        return encode(value)
    if isinstance(value, str):
        return value.encode()
    if name == EVENT_STREAM and isinstance(value, list):
        return b"".join(map(_event, value))
    if is_sequence(name):
        return b"".join(map(frame_item(name), value))
    if name.endswith(("/xml", "+xml")):
        return _xml(value, schema, resolved).encode()
    if name == URLENCODED and isinstance(value, dict):
        return urlencode(value, doseq=True).encode()
    if value is None or (value == {} and schema in ({}, True)):  # its form is unknown
        return b""
    return encode(value)


def _event(item: Any) -> bytes:
    is_whole = isinstance(item, dict) and item.keys() <= _EVENT_FIELDS
    return frame_event(item if is_whole else {"data": item})


def _xml(value: Any, schema: Any, resolved: Resolve, name: str = "root") -> str:
    """Return a value as XML with the names in its schema (OpenAPI 3.0.4, section 4.8.26)."""
    schema = _flat(schema, resolved)
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
        its = _flat(schema.get("properties", {}).get(key, {}), resolved)
        if (own := its.get("xml") or {}).get("attribute"):
            start += f" {own.get('name', key)}={quoteattr(_text(part))}"
        else:
            inner += _xml(part, its, resolved, key)
    return f"<{start}>{inner}</{tag}>"


def _flat(schema: Any, resolved: Resolve) -> dict[str, Any]:
    """Return the keywords about XML in a schema, merged with those in its `allOf`."""
    if not isinstance(schema, Mapping):
        return {}
    own = resolved(schema)
    whole: dict[str, Any] = {"xml": {}, "properties": {}}
    for part in (*(_flat(each, resolved) for each in own.get("allOf", ())), own):
        whole["xml"] |= part.get("xml") or {}
        whole["properties"] |= part.get("properties") or {}
        if "items" in part:
            whole["items"] = part["items"]
    return whole


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
