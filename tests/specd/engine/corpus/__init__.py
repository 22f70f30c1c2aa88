"""Documents with all features of OpenAPI, from the smallest to 1,500 operations."""

from collections.abc import Iterator
from itertools import product
from typing import Any

Node = dict[str, Any]

INTEGER: Node = {"type": "integer", "minimum": 0, "maximum": 1000}
TEXT: Node = {"type": "string", "minLength": 1, "maxLength": 20, "pattern": "^[a-z0-9]+$"}
LIST: Node = {"type": "array", "items": TEXT, "minItems": 1, "maxItems": 3}
OBJECT: Node = {
    "type": "object",
    "required": ["a"],
    "properties": {"a": TEXT, "b": INTEGER},
    "additionalProperties": False,
}
JSON = "application/json"


def ref(name: str, section: str = "schemas") -> Node:
    return {"$ref": f"#/components/{section}/{name}"}


def content(schema: Any, media_type: str = JSON, **facts: Any) -> Node:
    return {media_type: {"schema": schema, **facts}}


def answers(schema: Any = None, media_type: str = JSON, **more: Any) -> Node:
    """Return the responses of an operation: 200 with this schema, and the errors of mocks."""
    good: Node = {"description": "Done."}
    if schema is not None:
        good["content"] = content(schema, media_type)
    return {"200": good, "default": {"description": "Refused.", "content": content({})}, **more}


def document(paths: Node, version: str = "3.0.4", **facts: Any) -> Node:
    return {
        "openapi": version,
        "info": {"title": "Corpus", "version": "1"},
        "paths": paths,
        **facts,
    }


def operation(schema: Any = None, **facts: Any) -> Node:
    return {"responses": answers(schema), **facts}


def parameter(name: str, where: str, schema: Any, **facts: Any) -> Node:
    required = {"required": True} if where == "path" else {}
    return {"name": name, "in": where, "schema": schema, **required, **facts}


def body(schema: Any, media_type: str = JSON, **facts: Any) -> Node:
    return {"required": True, "content": content(schema, media_type, **facts)}


STYLES = {
    "path": ("simple", "label", "matrix"),
    "query": ("form", "spaceDelimited", "pipeDelimited", "deepObject"),
    "header": ("simple",),
    "cookie": ("form",),
}
"""OpenAPI 3.0.4, "Style Values"."""


def styled() -> Iterator[tuple[str, Node]]:
    """Yield documents with a parameter, for each style, exploded or not, and each type that it
    supports.
    """
    types = {"text": TEXT, "integer": INTEGER, "list": LIST, "object": OBJECT}
    for where, styles in STYLES.items():
        for style, explode, (kind, schema) in product(styles, (False, True), types.items()):
            if style in ("spaceDelimited", "pipeDelimited") and (kind != "list" or explode):
                continue
            if style == "deepObject" and (kind != "object" or not explode):
                continue
            if where == "cookie" and explode and kind in ("list", "object"):
                continue  # a cookie with several values has no format (RFC 6265)
            made = parameter("value", where, schema, style=style, explode=explode)
            path = "/things/{value}" if where == "path" else "/things"
            exploded = "exploded" if explode else "together"
            yield (
                f"{where}-{style}-{exploded}-{kind}",
                document({path: {"get": {**operation({}), "parameters": [made]}}}),
            )


def bodies() -> Iterator[tuple[str, Node]]:
    """Yield documents of an operation whose response has the media type of its body."""
    form = {"type": "object", "required": ["a"], "properties": {"a": TEXT, "n": INTEGER, "l": LIST}}
    file = {
        "type": "object",
        "properties": {"a": TEXT, "f": {"type": "string", "format": "binary"}},
    }
    raw = {"type": "string", "format": "binary"}
    kinds: dict[str, tuple[str, Any]] = {
        "json": (JSON, OBJECT),
        "vendor-json": ("application/vnd.corpus.v1+json", OBJECT),
        "json-with-charset": ("application/json; charset=utf-8", OBJECT),
        "urlencoded": ("application/x-www-form-urlencoded", form),
        "multipart": ("multipart/form-data", form),
        "multipart-file": ("multipart/form-data", file),
        "text": ("text/plain", TEXT),
        "csv": ("text/csv", {"type": "string"}),
        "bytes": ("application/octet-stream", raw),
        "image": ("image/png", raw),
        "any-image": ("image/*", raw),
        "any": ("*/*", raw),
        "xml": ("application/xml", {"type": "string"}),
    }
    for name, (media_type, schema) in kinds.items():
        made = operation({}, requestBody=body(schema, media_type))
        yield f"body-{name}", document({"/things": {"post": made}})
    two = {"required": True, "content": {**content(OBJECT), **content(TEXT, "text/plain")}}
    yield "body-of-two-kinds", document({"/things": {"put": operation({}, requestBody=two)}})
    optional = {"content": content(OBJECT)}
    yield "body-optional", document({"/things": {"patch": operation({}, requestBody=optional)}})


def schemas() -> Iterator[tuple[str, Node]]:
    """Yield documents of an operation that receives and returns a schema."""
    tree = {
        "type": "object",
        "properties": {"of": {"type": "array", "maxItems": 2, "items": ref("S")}},
    }
    pet = {
        "oneOf": [ref("Cat"), ref("Dog")],
        "discriminator": {"propertyName": "kind", "mapping": {"cat": "#/components/schemas/Cat"}},
    }
    cat = {
        "type": "object",
        "required": ["kind"],
        "properties": {"kind": {"type": "string", "enum": ["cat"]}, "lives": INTEGER},
    }
    dog = {
        **cat,
        "properties": {"kind": {"type": "string", "enum": ["dog"]}, "good": {"type": "boolean"}},
    }
    account = {
        "type": "object",
        "required": ["id", "password"],
        "properties": {
            "id": {**INTEGER, "readOnly": True},
            "password": {**TEXT, "writeOnly": True},
        },
        "additionalProperties": False,
    }
    older: dict[str, Any] = {
        "object": OBJECT,
        "nullable": {**TEXT, "nullable": True},
        "enumeration": {"type": "string", "enum": ["a", "b"]},
        "number": {"type": "number", "minimum": 0, "exclusiveMinimum": True, "maximum": 5},
        "all": {"allOf": [ref("Cat"), {"type": "object", "required": ["lives"]}]},
        "any": {"anyOf": [INTEGER, TEXT]},
        "discriminated": pet,
        "tree": tree,
        "directions": account,
        "map": {"type": "object", "additionalProperties": INTEGER, "maxProperties": 3},
        "date": {"type": "string", "format": "date"},
        "moment": {"type": "string", "format": "date-time"},
        "uuid": {"type": "string", "format": "uuid"},
        "unique": {"type": "array", "uniqueItems": True, "items": INTEGER, "maxItems": 3},
        "multiple": {"type": "integer", "multipleOf": 7, "minimum": 7, "maximum": 70},
        "default": {"type": "object", "properties": {"n": {**INTEGER, "default": 5}}},
        "anything": {},
    }
    newer: dict[str, Any] = {
        "types": {"type": ["string", "null"], "maxLength": 5},
        "constant": {"const": "one"},
        "tuple": {"type": "array", "prefixItems": [INTEGER, TEXT], "items": False, "minItems": 2},
        "exclusive": {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 10},
        "beside-a-reference": {**ref("Cat"), "required": ["lives"]},
        "unevaluated": {"allOf": [ref("Cat")], "unevaluatedProperties": False},
        "dependent": {
            "type": "object",
            "dependentRequired": {"a": ["b"]},
            "properties": {"a": TEXT, "b": TEXT},
        },
        "definitions": {"$ref": "#/components/schemas/WithDefs/$defs/small"},
        "anchor": {"$ref": "#cat"},
        "true": True,
    }
    shared = {"Cat": cat, "Dog": dog}
    for version, named in (("3.0.4", older), ("3.1.1", older), ("3.1.1", newer), ("3.2.0", newer)):
        for name, schema in named.items():
            if version != "3.0.4" and name in ("nullable", "number"):
                continue
            if version == "3.2.0" and name not in ("tuple", "anchor"):
                continue
            components: Node = {**shared, "S": schema}
            if name == "anchor":
                components = {"Cat": {**cat, "$anchor": "cat"}, "Dog": dog, "S": schema}
            if name == "definitions":
                components["WithDefs"] = {"$defs": {"small": {**INTEGER, "maximum": 5}}}
            made = operation(ref("S"), requestBody=body(ref("S")))
            yield (
                f"schema-{version}-{name}",
                document({"/things": {"post": made}}, version, components={"schemas": components}),
            )


SECURITY: dict[str, Node] = {
    "basic": {"type": "http", "scheme": "basic"},
    "bearer": {"type": "http", "scheme": "bearer"},
    "digest": {"type": "http", "scheme": "digest"},
    "key-in-header": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "key-in-query": {"type": "apiKey", "in": "query", "name": "key"},
    "key-in-cookie": {"type": "apiKey", "in": "cookie", "name": "key"},
    "oauth2": {
        "type": "oauth2",
        "flows": {
            "clientCredentials": {"tokenUrl": "https://example.com", "scopes": {"read": "Read."}}
        },
    },
    "openid": {"type": "openIdConnect", "openIdConnectUrl": "https://example.com"},
}


def secured() -> Iterator[tuple[str, Node]]:
    for name, scheme in SECURITY.items():
        scopes = ["read"] if name == "oauth2" else []
        yield (
            f"security-{name}",
            document(
                {"/things": {"get": operation({}, security=[{"s": scopes}])}},
                components={"securitySchemes": {"s": scheme}},
            ),
        )
    both = [{"k": [], "b": []}, {}]
    yield (
        "security-both-or-none",
        document(
            {"/things": {"get": operation({}, security=both)}},
            components={
                "securitySchemes": {"k": SECURITY["key-in-header"], "b": SECURITY["basic"]}
            },
        ),
    )


def shapes() -> Iterator[tuple[str, Node]]:
    """Yield unusual documents: names, paths, references, supported and unsupported features."""
    yield "smallest", document({})
    yield (
        "one-operation",
        document({"/": {"get": {"responses": {"200": {"description": "Done."}}}}}),
    )
    yield (
        "derived-names",
        document(
            {"/a-b/{c}": {"get": operation(OBJECT), "parameters": [parameter("c", "path", TEXT)]}}
        ),
    )
    yield (
        "two-tags",
        document(
            {"/a": {"get": operation(OBJECT, tags=["Pet Store", "old"], operationId="list-pets")}}
        ),
    )
    yield (
        "mixed-segments",
        document(
            {
                "/files/{name}.{kind}": {
                    "get": operation(OBJECT),
                    "parameters": [
                        parameter("name", "path", TEXT),
                        parameter("kind", "path", TEXT),
                    ],
                }
            }
        ),
    )
    yield (
        "a-path-for-each-method",
        document(
            {
                "/a": {
                    m: operation(None if m == "head" else OBJECT)
                    for m in ("get", "put", "post", "delete", "patch", "head", "options")
                }
            }
        ),
    )
    yield (
        "path-reference",
        document(
            {"/a": {"$ref": "#/components/pathItems/P"}, "/b": {"$ref": "#/paths/~1a"}},
            "3.1.1",
            components={"pathItems": {"P": {"get": operation(OBJECT)}}},
        ),
    )
    yield (
        "references-everywhere",
        document(
            {
                "/a/{id}": {
                    "parameters": [ref("Id", "parameters")],
                    "post": {
                        "requestBody": ref("B", "requestBodies"),
                        "responses": {
                            "200": ref("R", "responses"),
                            "default": {"description": "No."},
                        },
                    },
                }
            },
            components={
                "parameters": {"Id": parameter("id", "path", ref("N"))},
                "requestBodies": {"B": body(ref("O"))},
                "headers": {"H": {"schema": ref("N"), "required": True}},
                "responses": {
                    "R": {
                        "description": "Done.",
                        "headers": {"X-N": ref("H", "headers")},
                        "content": content(ref("O")),
                    }
                },
                "examples": {"E": {"value": {"a": "x"}}},
                "schemas": {"N": INTEGER, "O": OBJECT},
            },
        ),
    )
    yield (
        "ranges-of-statuses",
        document(
            {
                "/a": {
                    "get": {
                        "responses": {
                            "2XX": {"description": "Done.", "content": content(OBJECT)},
                            "4XX": {"description": "No.", "content": content({})},
                        }
                    }
                }
            }
        ),
    )
    yield (
        "links-and-callbacks",
        document(
            {
                "/a": {
                    "post": {
                        **operation(OBJECT, requestBody=body(OBJECT)),
                        "operationId": "begin",
                        "callbacks": {"done": {"{$request.body#/a}": {"post": operation()}}},
                    }
                }
            }
        ),
    )
    yield (
        "webhooks",
        document(
            {"/a": {"get": operation(OBJECT)}}, "3.1.1", webhooks={"paid": {"post": operation()}}
        ),
    )
    yield (
        "webhooks-alone",
        {
            "openapi": "3.1.1",
            "info": {"title": "Corpus", "version": "1"},
            "webhooks": {"paid": {"post": operation()}},
        },
    )
    yield (
        "query-method",
        document({"/a": {"query": operation(OBJECT, requestBody=body(OBJECT))}}, "3.2.0"),
    )
    yield (
        "servers-with-variables",
        document(
            {"/a": {"get": operation(OBJECT)}},
            servers=[
                {"url": "https://{where}.example.com/v1", "variables": {"where": {"default": "eu"}}}
            ],
        ),
    )
    yield (
        "extensions",
        {
            **document(
                {"/a": {"get": {**operation(OBJECT), "x-a": [1]}, "x-b": 1}, "x-c": {"x": 1}}
            ),
            "x-d": {},
        },
    )
    yield (
        "examples",
        document(
            {
                "/a": {
                    "get": {
                        "responses": {
                            "200": {
                                "description": "Done.",
                                "content": content(
                                    OBJECT,
                                    examples={
                                        "one": {"value": {"a": "x"}},
                                        "two": {"value": {"a": "y", "b": 3}},
                                    },
                                ),
                            }
                        }
                    }
                }
            }
        ),
    )
    yield (
        "answer-of-text",
        document({"/a": {"get": {"responses": answers({"type": "string"}, "text/plain")}}}),
    )
    yield (
        "answer-of-bytes",
        document(
            {
                "/a": {
                    "get": {
                        "responses": answers({"type": "string", "format": "binary"}, "image/png")
                    }
                }
            }
        ),
    )
    yield (
        "answer-of-none",
        document({"/a": {"delete": {"responses": {"204": {"description": "Gone."}}}}}),
    )
    yield (
        "names-of-python",
        document(
            {
                "/class/{id}": {
                    "get": operation(
                        {},
                        operationId="class",
                        parameters=[
                            parameter(n, "query", TEXT)
                            for n in ("import", "list", "a.b", "a[]", "X-y")
                        ],
                    ),
                    "parameters": [parameter("id", "path", TEXT)],
                }
            }
        ),
    )


def large(operations: int) -> Node:
    """Return a document of many operations, whose schemas refer to each other."""
    named = {
        f"S{n}": {
            "type": "object",
            "required": ["id"],
            "properties": {
                "id": INTEGER,
                **{f"p{k}": ref(f"S{(n * 7 + k * 13) % operations}") for k in range(3)},
            },
        }
        for n in range(operations)
    }
    paths = {
        f"/things{n}/{{id}}": {
            "get": operation(ref(f"S{n}"), parameters=[parameter("id", "path", INTEGER)])
        }
        for n in range(operations)
    }
    return document(paths, "3.1.1", components={"schemas": named})


CORPUS: dict[str, Node] = {
    name: made for part in (styled, bodies, schemas, secured, shapes) for name, made in part()
} | {"large-100": large(100)}
