"""Known differences of the oracles from us, and the reasons why we are right (or free to choose).

Each entry names the oracle, the pairs of verdicts (ours, theirs) and a condition on the request
that is as narrow as possible. A disagreement without an entry fails the test.

In addition, two features of a document prevent stock connexion from serving it at all, so its copy
of the document omits them (`stock.servable`):

- a parameter with `content`, or whose schema has no `type`: KeyError for every request to the
  operation (connexion issue 1612, closed unfixed; the prototype notes in decision 1);
- a required property that is `readOnly`: stock requires it in requests (OpenAPI 3.0.3, "readOnly":
  "the required will take effect on the response only").

Its routes are tried in the document's order, so fixed paths are moved before templates.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.contract.differential import views
from tests.contract.differential.generate import JSON, MULTIPART, URLENCODED, Request

Document = Mapping[str, Any]
Applies = Callable[[Request, Document], bool]

MILDER = (("reject", "accept"),)
HARSHER = (("accept", "reject"),)
DIES = (("accept", "crash"), ("reject", "crash"))


@dataclass(frozen=True)
class Difference:
    """A difference of an oracle: `verdicts` are pairs of ours and its verdict."""

    oracle: str
    name: str
    verdicts: tuple[tuple[str, str], ...]
    applies: Applies
    reason: str


DIFFERENCES: list[Difference] = []


def differs(
    *oracles: str, verdicts: tuple[tuple[str, str], ...], reason: str
) -> Callable[[Applies], Applies]:
    """Register a condition as a known difference of these oracles. Its name is that of the
    function.
    """

    def register(applies: Applies) -> Applies:
        name = applies.__name__.replace("_", " ")
        DIFFERENCES.extend(Difference(o, name, verdicts, applies, reason) for o in oracles)
        return applies

    return register


@differs("stock", "core", verdicts=MILDER + DIES,
         reason="databases reject NUL and lone surrogates, and other encodings than UTF-8 are no "
         "text; the oracles let them through or die (design, section 6).")  # fmt: skip
def unclean_text(request: Request, document: Document) -> bool:
    texts = [views.decoded(request.path), *(t for pair in views.query(request) for t in pair)]
    if views.media_type(request) == URLENCODED:
        body = request.body.decode("latin-1")
        texts += [views.decoded(field, plus=True) for field in re.split("[&=]", body)]
    elif views.media_type(request) == MULTIPART:
        texts.append(views.decoded(request.body.decode("latin-1").replace("%", "")))
    else:
        texts += views.strings(views.json_body(request))
        texts.append(views.decoded(request.body.decode("latin-1").replace("%", "")))
    if any(views.is_unclean(text) for text in texts):
        return True
    return any("\\u0000" in value or "\\ud8" in value for _, value in views.form_fields(request))


@differs(
    "stock",
    "core",
    verdicts=MILDER,
    reason="a percent sign that encodes nothing is not valid in a URI (RFC 3986, section 2.1).",
)
def malformed_percent_in_the_path(request: Request, document: Document) -> bool:
    return re.search("%(?![0-9a-fA-F]{2})", request.path) is not None


@differs(
    "core",
    verdicts=MILDER,
    reason="RFC 8259, section 8.1: a byte order mark is not allowed, and parsers may reject it.",
)
def byte_order_mark(request: Request, document: Document) -> bool:
    return request.body.startswith(b"\xef\xbb\xbf")


@differs(
    "stock",
    "core",
    verdicts=MILDER,
    reason="RFC 8259, section 4: the meaning of duplicate keys is undefined, and parsers differ.",
)
def duplicate_keys(request: Request, document: Document) -> bool:
    if views.has_duplicate_keys(request):
        return True
    texts = [v for _, v in views.form_fields(request)] + [v or "" for _, v in views.query(request)]
    return any(
        views.has_duplicate_keys(Request("", "", body=text.encode("utf-8", "replace")))
        for text in texts
        if text.startswith(("{", "["))
    )


@differs(
    "stock",
    "core",
    verdicts=MILDER + DIES,
    reason="NaN, Infinity and 1e400 are not JSON numbers that any reader could hold "
    "(RFC 8259, section 6); Python's json takes them.",
)
def numbers_that_are_none(request: Request, document: Document) -> bool:
    return re.search(rb"NaN|Infinity|1e400|[0-9]{401}", request.body) is not None


@differs(
    "stock",
    "core",
    verdicts=MILDER + DIES,
    reason="the guard's limit of nesting (design, section 6); Python dies at about 1,000.",
)
def nested_deeper_than_64(request: Request, document: Document) -> bool:
    return request.body.count(b"[") + request.body.count(b"{") > 64


@differs(
    "stock",
    "core",
    verdicts=HARSHER,
    reason="%2F is data in a segment, not a separator (RFC 3986, section 2.2); both route on "
    "the decoded path.",
)
def encoded_slash_in_a_segment(request: Request, document: Document) -> bool:
    return "%2f" in request.path.lower()


@differs(
    "core",
    verdicts=HARSHER,
    reason="a semicolon is data in a segment (RFC 3986, section 3.3); openapi-core cuts the path "
    "there, as urllib.parse.urlparse does.",
)
def semicolon_in_a_segment(request: Request, document: Document) -> bool:
    return ";" in (views.decoded(request.path) or "")


@differs(
    "stock",
    verdicts=HARSHER,
    reason="header values are not cast: '5' is not of type integer (connexion PR 1931).",
)
def header_that_is_not_text(request: Request, document: Document) -> bool:
    declared = views.parameters(request, document, "header")
    return any(
        request.header(name) is not None
        and views.schema_of(parameter, document).get("type") != "string"
        for name, parameter in declared.items()
    )


@differs(
    "stock",
    verdicts=MILDER,
    reason="stock's copy of the document goes without parameters it cannot read.",
)
def parameter_stock_does_not_know(request: Request, document: Document) -> bool:
    declared = views.parameters(request, document, "query")
    return any(
        views.query_texts(request, name)
        and ("content" in parameter or "type" not in views.schema_of(parameter, document))
        for name, parameter in declared.items()
    )


@differs(
    "stock",
    verdicts=MILDER,
    reason="format: uuid is an annotation to jsonschema; an unparsable id reaches the table.",
)
def malformed_uuid(request: Request, document: Document) -> bool:
    names = views.property_names(document, type="string", format="uuid")
    texts = [text for name, text in views.members(views.json_body(request)) if name in names]
    for where in ("path", "query"):
        sent = views.path_texts(request, document) if where == "path" else views.query(request)
        for name, parameter in views.parameters(request, document, where).items():
            if views.schema_of(parameter, document).get("format") == "uuid":
                texts += [text for key, text in sent if key == name]
    return any(isinstance(text, str) and not views.UUID.fullmatch(text) for text in texts)


@differs(
    "stock",
    "core",
    verdicts=MILDER,
    reason="Python's $ also matches before a last line feed; ECMA 262's, which JSON Schema "
    "prescribes, does not.",
)
def line_feed_before_the_end(request: Request, document: Document) -> bool:
    texts = [views.decoded(request.path) or "", *(v or "" for _, v in views.query(request))]
    texts += views.strings(views.json_body(request))
    texts += [value for _, value in views.form_fields(request)]
    return any(text.endswith(("\n", '\\n"]')) for text in texts)


@differs(
    "stock", verdicts=DIES, reason="a content type without a slash cannot be unpacked (ValueError)."
)
def content_type_without_a_slash(request: Request, document: Document) -> bool:
    return request.content_type is not None and "/" not in request.content_type


@differs(
    "stock",
    "core",
    verdicts=MILDER + DIES,
    reason="JSON and forms are UTF-8 (RFC 8259, section 8.1); other charsets are ignored, and "
    "an unknown one is a LookupError.",
)
def other_charset(request: Request, document: Document) -> bool:
    return re.search("charset=(?!utf-8)", request.content_type or "") is not None


@differs(
    "stock",
    verdicts=MILDER + DIES,
    reason="a body without a content type is taken for the documented one.",
)
def missing_content_type(request: Request, document: Document) -> bool:
    return bool(request.body) and not request.content_type


@differs(
    "stock",
    "core",
    verdicts=HARSHER,
    reason="routes are patterns whose . or $ stops at a line feed; the template does not.",
)
def line_feed_in_a_segment(request: Request, document: Document) -> bool:
    return "%0A" in request.path


@differs(
    "stock",
    verdicts=MILDER + DIES,
    reason="media types are compared case-sensitively, and nothing validates others "
    "(RFC 9110, section 8.3.1: they are case-insensitive).",
)
def media_type_in_capitals(request: Request, document: Document) -> bool:
    return re.search("[A-Z]", (request.content_type or "").partition(";")[0]) is not None


@differs(
    "stock",
    "core",
    verdicts=MILDER + HARSHER,
    reason="we join repeated headers to a list (RFC 9110, section 5.3); they take one.",
)
def repeated_header(request: Request, document: Document) -> bool:
    names = [name.lower() for name, _ in request.headers]
    declared = {name.lower() for name in views.parameters(request, document, "header")}
    return bool(views.repeated(names) & {*declared, "authorization", "x-key"})


@differs(
    "core",
    verdicts=HARSHER + MILDER,
    reason="equivalent templates are distinguished only by their order, not by type.",
)
def sibling_templates(request: Request, document: Document) -> bool:
    found = views.templates(request, document)
    return len(found) > 1 and "{" in found[0]


@differs(
    "core",
    verdicts=HARSHER,
    reason="nullable with an enum without null: OpenAPI 3.0.3 seems to exclude null; "
    "connexion and most authors mean it in, and so do we.",
)
def nullable_enum(request: Request, document: Document) -> bool:
    names = views.property_names(document, nullable=True)
    return any(
        name in names and value is None for name, value in views.members(views.json_body(request))
    )


@differs("core", verdicts=MILDER, reason="only the presence of credentials is looked at.")
def wrong_credentials(request: Request, document: Document) -> bool:
    return request.header("Authorization") is not None or request.header("X-Key") is not None


@differs(
    "stock",
    verdicts=HARSHER,
    reason="a JSON body that need not be sent: stock refuses a request without it.",
)
def absent_optional_body(request: Request, document: Document) -> bool:
    return request.method == "POST" and not request.body


@differs(
    "core",
    verdicts=HARSHER,
    reason="HEAD is GET without a body (RFC 9110, section 9.3.2), documented or not.",
)
def head(request: Request, document: Document) -> bool:
    return request.method == "HEAD"


@differs(
    "stock",
    "core",
    verdicts=MILDER,
    reason="casts: int() and float() take white space, signs, underscores and all digits of "
    "Unicode; booleans are 0, 1, true and false in any case.",
)
def cast_of_odd_text(request: Request, document: Document) -> bool:
    return any(
        re.fullmatch(r"[01]|(?i:true|false)|\s*[-+]?[\d_]+(\.\d*)?(e\d+)?\s*", text) is not None
        for where in ("query", "path", "header")
        for text in parameter_texts(request, document, where)
    )


def parameter_texts(request: Request, document: Document, where: str) -> list[str]:
    """Return the texts of all parameters in a place, except plain strings."""
    texts = []
    for name, parameter in views.parameters(request, document, where).items():
        if views.schema_of(parameter, document).get("type") == "string":
            continue
        if where == "query":
            texts += views.query_texts(request, name)
        elif where == "header":
            texts.append(request.header(name) or "")
        else:
            texts.append((views.decoded(request.path) or "").rpartition("/")[2])
    return texts


@differs(
    "core",
    verdicts=MILDER + HARSHER,
    reason="of a repeated parameter the first counts, for us and for connexion the last.",
)
def repeated_parameter(request: Request, document: Document) -> bool:
    again = views.repeated([name or "" for name, _ in views.query(request)])
    return bool(again & views.parameters(request, document, "query").keys())


def is_payment(document: Document) -> bool:
    """Return whether this is the payment service, which has strict queries
    (`Service.strict_queries`).
    """
    return bool(document["info"]["title"].startswith("Payment"))


@differs("core", verdicts=MILDER, reason="what the document does not name is passed over.")
def unknown_parameter(request: Request, document: Document) -> bool:
    sent = {name for name, _ in views.query(request)}
    return is_payment(document) and bool(sent - views.parameters(request, document, "query").keys())


@differs("stock", verdicts=MILDER, reason="of a repeated parameter the last counts.")
def repeated_where_queries_are_strict(request: Request, document: Document) -> bool:
    return is_payment(document) and repeated_parameter(request, document)


@differs(
    "stock",
    "core",
    verdicts=HARSHER,
    reason="an array field may come as JSON text whether or not `encoding` says so: what clients "
    "send differs more than their meaning.",
)
def json_for_a_plain_array(request: Request, document: Document) -> bool:
    schema, encoding = views.form_schema(request, document)
    return any(
        views.resolve(schema.get("properties", {}).get(name, {}), document).get("type") == "array"
        and encoding.get(name, {}).get("contentType") != JSON
        and text.startswith("[")
        for name, text in views.form_fields(request)
    )


@differs(
    "core",
    verdicts=MILDER,
    reason="a target that begins with two slashes is read as a URL with an authority "
    "(//shop/items is the path /items on the host shop); as an HTTP target it is a path.",
)
def two_slashes_at_the_start(request: Request, document: Document) -> bool:
    return request.path.startswith("//")
