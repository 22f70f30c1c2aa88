"""Requests for a document from a seeded generator: valid, borderline, and mutated."""

import base64
import json
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, quote_plus

from tests.contract.differential.values import ODD_STRINGS, Values

JSON = "application/json"
URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
METHODS = ("get", "put", "post", "delete", "patch", "head", "options", "trace")


@dataclass
class Request:
    """A request in the form sent, and its origin."""

    method: str
    path: str
    query: list[tuple[str, str]] = field(default_factory=list)
    headers: list[tuple[str, str]] = field(default_factory=list)
    content_type: str | None = None
    body: bytes = b""
    template: str = ""
    base_path: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def raw_query(self) -> str:
        return "&".join(name if value is None else f"{name}={value}" for name, value in self.query)

    def header(self, name: str) -> str | None:
        found = [value for key, value in self.headers if key.lower() == name.lower()]
        return found[-1] if found else None


class Generator:
    """An endless sequence of requests for a document. The same seed gives the same requests."""

    def __init__(
        self,
        document: Mapping[str, Any],
        *,
        base_path: str,
        credentials: Mapping[str, list[tuple[str, str]]],
        seed: int,
    ) -> None:
        self.document = document
        self.base_path = base_path
        self.credentials = credentials
        self.chance = random.Random(seed)
        self.values = Values(document, self.chance)
        self.operations = [
            (path, method, item[method])
            for path, item in document["paths"].items()
            for method in METHODS
            if method in item
        ]

    def __iter__(self) -> Iterator[Request]:
        while True:
            yield self.request()

    def request(self) -> Request:
        request = self._plain()
        if self.chance.random() < 0.6:
            for _ in range(1 if self.chance.random() < 0.8 else 2):
                self.chance.choice(MUTATIONS)(self, request)
        return request

    def _parameters(self, template: str, operation: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        shared = self.document["paths"][template].get("parameters", ())
        return [self.values.resolve(p) for p in (*shared, *operation.get("parameters", ()))]

    def _plain(self) -> Request:
        """Return a request with valid values, sometimes with one almost valid value."""
        template, method, operation = self.chance.choice(self.operations)
        path = template if template.startswith(f"{self.base_path}/") else self.base_path + template
        request = Request(method.upper(), path, template=template, base_path=self.base_path)
        parameters = self._parameters(template, operation)
        spoil = self.chance.choice(parameters) if parameters and self._rarely(0.25) else None
        if spoil is not None:
            request.notes.append(f"spoilt {spoil['name']}")
        for parameter in parameters:
            if parameter.get("required") or parameter is spoil or self.chance.random() < 0.4:
                self._send(request, parameter, spoilt=parameter is spoil)
        if "requestBody" in operation:
            self._body(request, self.values.resolve(operation["requestBody"]))
        self._sign(request, operation)
        return request

    def _rarely(self, probability: float) -> bool:
        return self.chance.random() < probability

    def _send(self, request: Request, parameter: Mapping[str, Any], *, spoilt: bool) -> None:
        if "content" in parameter:
            schema = parameter["content"][JSON]["schema"]
        else:
            schema = parameter["schema"]
        value = self.values.wrong(schema) if spoilt else self.values.valid(schema)
        name, where = parameter["name"], parameter["in"]
        if "content" in parameter:
            texts = [json.dumps(value)]
        elif isinstance(value, list):
            explode = parameter.get("explode", where == "query")
            texts = [text_of(item) for item in value]
            texts = texts if explode else [",".join(texts)]
        else:
            texts = [text_of(value)]
        for text in texts:
            if where == "query":
                request.query.append((quote_plus(name), quote_plus(text, safe=",")))
            elif where == "header":
                printable = "".join(c for c in text if " " <= c <= "~")
                request.headers.append((name, printable.strip()))
        if where == "path":
            text = ",".join(texts) or "-"
            request.path = request.path.replace("{" + name + "}", quote(text, safe=","))

    def _body(self, request: Request, body: Mapping[str, Any]) -> None:
        media_type = self.chance.choice(sorted(body["content"]))
        media = body["content"][media_type]
        schema = self.values.resolve(media["schema"])
        wrong = self._rarely(0.3)
        value = self.values.spoilt(schema) if wrong else self.values.valid(schema)
        if wrong:
            request.notes.append("spoilt body")
        request.content_type = media_type
        if media_type == JSON:
            request.body = json.dumps(value, ensure_ascii=self._rarely(0.5)).encode()
        else:
            self._form(request, value, media.get("encoding", {}), media_type)

    def _form(
        self, request: Request, value: Mapping[str, Any], encoding: Mapping[str, Any], kind: str
    ) -> None:
        fields: list[tuple[str, str]] = []
        for name, item in value.items():
            as_json = encoding.get(name, {}).get("contentType") == JSON
            if isinstance(item, list) and not as_json:
                fields += [(name, text_of(part)) for part in item]
            elif as_json or isinstance(item, dict | list):
                fields.append((name, json.dumps(item)))
            else:
                fields.append((name, text_of(item)))
        if kind == URLENCODED:
            request.body = "&".join(f"{quote_plus(n)}={quote_plus(v)}" for n, v in fields).encode()
            return
        request.content_type = f"{MULTIPART}; boundary=frontier"
        request.body = (
            b"".join(
                b'--frontier\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n'
                % (n.encode(), v.encode())
                for n, v in fields
            )
            + b"--frontier--\r\n"
        )

    def _sign(self, request: Request, operation: Mapping[str, Any]) -> None:
        security = operation.get("security", self.document.get("security", []))
        if security:
            for scheme in self.chance.choice(security):
                request.headers.append(self.credentials[scheme][0])


def text_of(value: Any) -> str:
    """Return a value as written in a parameter or a plain form field."""
    return value if isinstance(value, str) else json.dumps(value)


def mutate_credentials(g: Generator, request: Request) -> None:
    names = {credential[0] for sent in g.credentials.values() for credential in sent}
    request.headers = [item for item in request.headers if item[0] not in names]
    every = [credential for sent in g.credentials.values() for credential in sent]
    odd = [
        ("Authorization", text)
        for text in (
            "",
            "Bearer",
            "Bearer ",
            "Bearer x",
            "Basic",
            "Basic x",
            "Digest a=b",
            "bearer  two words",
            "Basic " + base64.b64encode(b"nocolon").decode(),
        )
    ]
    if g.chance.random() < 0.8:
        request.headers.append(g.chance.choice([*every, *every, *odd]))
    request.notes.append("credentials")


def mutate_method(g: Generator, request: Request) -> None:
    request.method = g.chance.choice([m.upper() for m in METHODS])
    request.notes.append("method")


def mutate_path(g: Generator, request: Request) -> None:
    how = g.chance.randrange(6)
    if how == 0:
        request.path += g.chance.choice(["/", "/x", "//", "x"])
    elif how == 1:
        request.path = request.path.replace("/", "//", 1)
    else:
        start, _, last = request.path.rpartition("/")
        replacement = g.chance.choice(
            [
                quote(g.chance.choice(ODD_STRINGS), safe=""),
                last.upper(),
                "5",
                "-5",
                "007",
                "0",
                "bob",
                "99999999999",
                "1.0",
                "%31",
                "a%2Fb",
                "%00",
                "%FF",
                "%zz",
                "%ED%A0%80",
                last + "%0A",
            ]
        )
        request.path = f"{start}/{replacement}"
    request.notes.append("path")


def mutate_query(g: Generator, request: Request) -> None:
    how = g.chance.randrange(6)
    odd = quote_plus(g.chance.choice(ODD_STRINGS))
    if how == 0 and request.query:
        request.query.append(g.chance.choice(request.query))
    elif how == 1 and request.query:
        at = g.chance.randrange(len(request.query))
        request.query[at] = (request.query[at][0], odd)
    elif how == 2 and request.query:
        request.query.pop(g.chance.randrange(len(request.query)))
    elif how == 3:
        request.query.append((g.chance.choice(["surprise", "", "%C3%A9", "a%5Bb%5D"]), odd))
    elif how == 4:
        request.query.append(("surprise", g.chance.choice(["%00", "%FF", "%zz", "%", "%ED%A0%80"])))
    elif request.query:
        name, _ = g.chance.choice(request.query)
        request.query.append((name, odd))
    request.notes.append("query")


def mutate_header(g: Generator, request: Request) -> None:
    signed = {c[0] for sent in g.credentials.values() for c in sent}
    own = [at for at, item in enumerate(request.headers) if item[0] not in signed]
    if not own:
        return
    at = g.chance.choice(own)
    how = g.chance.randrange(4)
    name, value = request.headers[at]
    if how == 0:
        del request.headers[at]
    elif how == 1:
        request.headers[at] = (name, g.chance.choice(["", "x", "a b", "1.0", "x" * 101, "caf\xe9"]))
    elif how == 2:
        request.headers[at] = (name.swapcase(), value)
    else:
        request.headers.append((name, value))
    request.notes.append("header")


def mutate_content_type(g: Generator, request: Request) -> None:
    kind = request.content_type
    request.content_type = g.chance.choice(
        [
            None,
            "",
            "text/plain",
            JSON,
            f"{JSON}; charset=utf-8",
            f"{JSON}; charset=latin-1",
            f"{JSON}; charset=bogus",
            "APPLICATION/JSON",
            "application/vnd.x+json",
            URLENCODED,
            MULTIPART,
            f"{MULTIPART}; boundary=other",
            f"{kind};x=y",
            "*/*",
            "application",
        ]
    )
    request.notes.append("content type")


def mutate_bytes(g: Generator, request: Request) -> None:
    body = request.body
    at = g.chance.randrange(len(body) + 1)
    odd = g.chance.choice(
        [
            b"\0",
            b"\xff",
            b'"',
            b"}",
            b",",
            b"\\u0000",
            b"\\ud800",
            b"\xed\xa0\x80",
            b"&",
            b"=",
            b"%00",
            b"%FF",
            b"\r\n",
            b"1",
            b"NaN",
            b"[",
            b"\xef\xbb\xbf",
        ]
    )
    how = g.chance.randrange(8)
    if how == 0:
        body = body[:at]
    elif how == 1:
        body = body[:at] + body[at + 1 :]
    elif how < 4:
        body = body[:at] + odd + body[at:]
    elif how == 4:
        body = b""
    elif how == 5:
        body = b" " + body + b"\n"
    elif how == 6 and body[:1] == b"{" and b":" in body:
        first = body[1:].partition(b":")[0]
        body = b"{" + first + b": 1, " + body[1:]
    else:
        body = g.chance.choice(
            [
                b"null",
                b"[]",
                b"{}",
                b"1",
                b'"x"',
                b"NaN",
                b"{",
                b"\xef\xbb\xbf{}",
                b"[" * 70 + b"]" * 70,
                b'{"a":' * 64 + b"1" + b"}" * 64,
                b"9" * 401,
                b"1e400",
                b'{"name":"a","price":"1","big":' + b"9" * 300 + b"}",
                b'{"name":"a","price":"1","count":1e2}',
                b'{"name":"a","price":"1","count":-0}',
            ]
        )
    request.body = body
    request.notes.append("bytes")


def mutate_form(g: Generator, request: Request) -> None:
    if request.content_type != URLENCODED:
        return
    fields = request.body.split(b"&") if request.body else []
    how = g.chance.randrange(4)
    if how == 0 and fields:
        fields.append(g.chance.choice(fields))
    elif how == 1 and fields:
        at = g.chance.randrange(len(fields))
        fields[at] = (
            fields[at].partition(b"=")[0]
            + b"="
            + quote_plus(
                g.chance.choice([*ODD_STRINGS, "[", "[1,2]", '["1"]', "{}", "tru"])
            ).encode()
        )
    elif how == 2:
        fields.append(b"surprise=1")
    elif fields:
        fields.append(fields[0].partition(b"=")[0] + b"=1")
    request.body = b"&".join(fields)
    request.notes.append("form")


MUTATIONS: list[Callable[[Generator, Request], None]] = [
    mutate_credentials,
    mutate_method,
    mutate_path,
    mutate_query,
    mutate_query,
    mutate_header,
    mutate_content_type,
    mutate_bytes,
    mutate_bytes,
    mutate_form,
    mutate_form,
]
