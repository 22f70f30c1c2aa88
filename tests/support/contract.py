"""A client that validates each response by the document with openapi-core.

openapi-core is a second implementation, so it finds errors in the engine's compiled validators. A
status that the document does not list for the operation fails any test.
"""

from __future__ import annotations

import json as stdlib_json
import re
from collections.abc import Mapping
from typing import Any, Protocol

import httpx
from jsonschema_path import SchemaPath
from openapi_core import Config, OpenAPI
from openapi_core.exceptions import OpenAPIError
from openapi_core.templating.paths.exceptions import PathError
from openapi_core.testing import MockRequest, MockResponse
from openapi_core.validation.request.validators import V30RequestValidator
from openapi_core.validation.response.validators import V30ResponseValidator
from openapi_core.validation.schemas import (
    oas30_read_schema_validators_factory,
    oas30_write_schema_validators_factory,
)
from openapi_core.validation.schemas.factories import SchemaValidatorsFactory
from openapi_core.validation.schemas.validators import SchemaValidator
from openapi_schema_validator import OAS30ReadValidator

from tests.support.documents import with_closed_answers
from tests.support.schema_validators import speed_up

HOST = "http://service.test"
_OMITTED = object()
_NUMBER = re.compile(r"[0-9]+")
_WORD = re.compile(r"[A-Za-z0-9]*[A-Za-z][A-Za-z0-9]*")
_judges: list[tuple[Mapping[str, Any], Judge]] = []
"""Each document with its judge."""


def _read_text(body: bytes, charset: str = "utf-8") -> str:
    return body.decode(charset)


class Sends(Protocol):
    def send(self, *requests: httpx.Request) -> list[httpx.Response]: ...


class OutsideTheDocument(AssertionError):
    """The service's response does not match its document."""


class Judge:
    """openapi-core over a document.

    It validates every body once, and rejects properties of responses that the document does not
    name. It validates the headers and looks up the schema of the body only for the first response
    of each form, because that takes many times as long as validating the body, and similar
    responses have the same result.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        config = Config(spec_validator_cls=None)  # tests/contract/specs validates the documents
        spec = OpenAPI.from_dict(dict(with_closed_answers(document)), config=config).spec
        self._requests = V30RequestValidator(
            spec, schema_validators_factory=_Validators(oas30_write_schema_validators_factory)
        )
        self._responses = _Responses(
            spec,
            schema_validators_factory=_Validators(oas30_read_schema_validators_factory),
            extra_media_type_deserializers={"text/csv": _read_text},
        )
        self._seen: dict[tuple[object, ...], SchemaValidator | None] = {}
        self._valid: set[int] = set()
        """Hashes of the forms and bodies of valid responses: two of three bodies are repeated."""

    def validate_request(self, request: MockRequest) -> None:
        """Raise `OpenAPIError` if the request is invalid."""
        self._requests.validate(request)

    def validate_response(self, request: MockRequest, response: MockResponse) -> None:
        """Raise `OpenAPIError` if the response is invalid."""
        place = _NUMBER.sub("9", request.path)
        headers = [(n, _looks(str(value))) for n, value in sorted(response.headers.items())]
        body = (bool(response.data), response.content_type)
        look = (request.method, place, response.status_code, *body, *headers)
        known = hash((look, response.data))
        if known in self._valid:
            return
        if look not in self._seen:
            self._responses.validate(request, response)
            self._seen[look] = self._responses.judge_of(request, response)
        elif schema := self._seen[look]:
            schema.validate(stdlib_json.loads(response.data))
        self._valid.add(known)


class _Validators(SchemaValidatorsFactory):
    """Caches the validators of an openapi-core factory, which would create them every time."""

    def __init__(self, factory: SchemaValidatorsFactory) -> None:
        self._factory = speed_up(factory)
        self._made: dict[tuple[object, ...], SchemaValidator] = {}

    def create(self, spec: SchemaPath, schema: SchemaPath, **options: Any) -> SchemaValidator:  # type: ignore[override]
        key = (schema, *sorted(options.items()))
        if key not in self._made:
            self._made[key] = self._factory.create(spec, schema, **options)
        return self._made[key]


class _Responses(V30ResponseValidator):
    """Looks up an operation once for all paths that differ only in their numbers, and validates a
    header once for all operations that share its definition.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._found: dict[tuple[str, str], Any] = {}
        self._headers: dict[tuple[int, str, str], tuple[object, Any]] = {}
        """Values by the id of a definition, the name and the form, with the definition, which keeps
        the id.
        """

    def _find_path(self, request: Any) -> Any:
        place = (request.method, _NUMBER.sub("9", request.path))
        if place not in self._found:
            self._found[place] = super()._find_path(request)
        return self._found[place]

    def _get_header(self, headers: Mapping[str, Any], name: str, header: SchemaPath) -> Any:
        if name not in headers:
            return super()._get_header(headers, name, header)
        with header.resolve() as resolved:
            definition = resolved.contents
        key = (id(definition), name, _looks(str(headers[name])))
        if key not in self._headers:
            self._headers[key] = definition, super()._get_header(headers, name, header)
        return self._headers[key][1]

    def judge_of(self, request: MockRequest, response: MockResponse) -> SchemaValidator | None:
        """Return the validator for the body of such responses, or None if it is not JSON."""
        _, operation, *_ = self._find_path(request)
        content = self._find_operation_response(response.status_code, operation).get("content")
        if not content or response.content_type != "application/json":
            return None
        schema = self._find_media_type(content, response.content_type).media_type / "schema"
        validator: SchemaValidator = self.schema_validators_factory.create(self.spec, schema)
        return validator


def _looks(value: str) -> str:
    """Return the form of a header's value, with words and numbers replaced by placeholders."""
    return _NUMBER.sub("9", _WORD.sub("a", value))


def judge_of(document: Mapping[str, Any]) -> Judge:
    """Return the judge of a document. Equal documents share one, because creating it takes half a
    second and it grows with use.
    """
    for judged, judge in _judges:
        if judged is document or judged == document:
            return judge
    _judges.append((document, judge := Judge(document)))
    return judge


def operations_of(document: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Return the method and path template of every operation of a document, by operationId."""
    return {
        operation["operationId"]: (method.upper(), path)
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if isinstance(operation, Mapping) and "operationId" in operation
    }


class ContractClient:
    """Sends requests to a service, and returns only responses that match its document."""

    def __init__(
        self, app: Sends, document: Mapping[str, Any], headers: Mapping[str, str] | None = None
    ) -> None:
        self._app = app
        self._document = document
        self._judge = judge_of(document)
        self._headers = dict(headers or {})

    def with_key(self, key: str) -> ContractClient:
        """Return a client that sends this bearer key."""
        headers = self._headers | {"Authorization": f"Bearer {key}"}
        return ContractClient(self._app, self._document, headers)

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.request("GET", path, **options)

    def post(self, path: str, **options: Any) -> httpx.Response:
        return self.request("POST", path, **options)

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        return self.at_once(self.build(method, path, **options))[0]

    def build(
        self,
        method: str,
        path: str,
        *,
        json: Any = _OMITTED,
        content: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Request:
        """Return an unsent request. `json` is encoded; `content` is sent unchanged."""
        sent = {"Host": "service.test", **self._headers}
        if json is not _OMITTED:
            content = stdlib_json.dumps(json).encode()
            sent["Content-Type"] = "application/json"
        return httpx.Request(
            method, HOST + path, headers=sent | dict(headers or {}), content=content
        )

    def at_once(self, *requests: httpx.Request) -> list[httpx.Response]:
        """Send requests simultaneously. Return their validated responses."""
        responses = self._app.send(*requests)
        for request, response in zip(requests, responses, strict=True):
            self._check(request, response)
        return responses

    def _check(self, request: httpx.Request, response: httpx.Response) -> None:
        assert response.headers.get("Request-Id"), "every answer names its request"
        asked = MockRequest(
            host_url=HOST,
            method=request.method.lower(),
            path=request.url.path,
            args=dict(request.url.params),
            headers=dict(request.headers),
            data=request.content,
            content_type=request.headers.get("Content-Type", ""),
        )
        answered = MockResponse(
            data=response.content,
            status_code=response.status_code,
            headers=dict(response.headers),
            content_type=response.headers.get("Content-Type", ""),
        )
        try:
            self._judge.validate_response(asked, answered)
            if response.is_success:
                self._judge.validate_request(asked)
        except PathError:
            self._check_outside_operations(request, response)
        except OpenAPIError as error:
            cause = error.__cause__ or error
            raise OutsideTheDocument(
                f"{request.method} {request.url.path} -> {response.status_code}: {cause!r}\n"
                f"{response.text}"
            ) from error

    def _check_outside_operations(self, request: httpx.Request, response: httpx.Response) -> None:
        """Check a response for a path or method outside the document: an error in the same
        envelope.
        """
        if request.method == "OPTIONS":
            assert response.status_code in (204, 404)
            return
        if response.status_code not in (404, 405, 413, 414, 422, 431):
            raise OutsideTheDocument(f"{request.method} {request.url.path}: {response.status_code}")
        assert (response.status_code == 405) == ("Allow" in response.headers)
        if request.method != "HEAD":
            self.check_schema("ErrorResponse", response.json())

    def check_schema(self, name: str, value: Any) -> None:
        """Raise an error unless `value` matches one of the document's schemas, by its name."""
        components = {"components": self._document["components"]}
        schema = {"$ref": f"#/components/schemas/{name}", **components}
        OAS30ReadValidator(schema).validate(value)
