"""The targets of `scripts/cost --search`: code that processes free text, bytes or pictures of
users.
"""

from __future__ import annotations

import io
import re
import resource
import shutil
import struct
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any

import httpx
import orjson
from connexion.exceptions import ProblemException
from PIL import Image

from adapters.images.pictures import NotAPicture, make_small
from adapters.images.shrinking import CPU_S
from cli.chat_mail import LARGEST_MAIL, read_at_once
from models.chat.alert_words import standing_alone
from models.chat.common.url_templates import is_url_template
from models.chat.editing.history import MAX_BYTES, MAX_DIFFED, MAX_EDITS
from models.chat.errors import ChatError
from models.chat.identity.passwords import LENGTH_MAX, is_strong
from models.chat.incoming_mail import MAX_READ, AutomaticMail, UnreadableMail
from models.chat.messages.search import vector_of
from models.chat.messages.widgets import describe_widget
from models.chat.messages.words import parse_query, stem_of
from models.chat.organization.linkifier_rules import LinkifierFacts, check_linkifier
from models.chat.people.confusables import looks
from models.chat.people.full_names import check_full_name
from models.chat.profiles.values import FieldType, check_text
from models.chat.rendering import (
    Names,
    coarse_html_diff,
    content_html_diff,
    links,
    plain_text,
    render,
    topic_links,
)
from models.chat.rendering.code import HIGHLIGHT_MAX, LANGUAGES
from models.chat.rendering.links import MAX_LINKIFIERS, Linkifier, Linkifiers
from models.chat.rendering.previews import Preview
from models.chat.rendering.quotes import inert_line, snippet
from models.chat.rendering.texts import CONTENT_MAX, shorten
from specd import _logs as logs
from specd import parse_pairs
from specd._engine.http.guard import check_text as check_json_text
from specd._engine.http.guard import load_json
from specd._engine.http.multipart import parse_parts
from specd._engine.http.queries import MAX_QUERY_FIELDS
from tests.contract.cost.crowd import Scale
from tests.contract.cost.searching import BOUND_S, NUMBER, Grammar, Target, Work, calls
from tests.contract.cost.stage import MAX_BODY, Stage, chat_on, payment_on

TOPIC_MAX = 60
LONGEST_PATTERN = 1000
LONGEST_IN_TARGET = 5000
"""Maximum characters of a path or a query. Longer ones are rejected unread."""
PART = 0.05
"""Share of the stored data. Growth with the data is tested without a search."""

# --- what people write ------------------------------------------------------------------------

SIGNS = tuple("*_~`[]()<>!#@|:;.,-+=\\/\"'&$%^{}? \n\t")
WORDS = ("a", "b", "word", "w{n} ", "{n}", "Hamlet", "running ", "x1", "A", "_a", "0")
UNICODE = (
    *("é", "ß", "İ", "ﷺ", "a\u0301", "\u0323\u0301\u0328\u0345", "漢", "한", "ก", "\u1100\u1161"),
    *("\u200b", "\u202e", "\U0001f600", "\U0001f469\u200d", "\ufb03", "\u00a0", "\u2028", "\uff11"),
)
MARKDOWN = (
    *SIGNS,
    *WORDS,
    *UNICODE,
    *("**", "***", "~~", "``", "```", "~~~", "$$", "![", "](", "](a)", "]: ", '"', "<a", "-->"),
    *("[a](b)", "[a](b 'c')", "![a](http://a.example/b.png)", "[x](//)", "<http://a.example>"),
    *("http://a.example/{n} ", "www.a.example ", "a@b.example ", "http://", "www.", "://", "@a."),
    *("@**Hamlet**", "@**all**", "@_**Hamlet|4**", "@**|4**", "@**", "@*players*", "@*crew*"),
    *("#**Denmark**", "#**Denmark>t{n}**", "#**Denmark>t@5**", "#**", ":smile:", ":acme:", ":a"),
    *("<time:2026-11-21T12:00:00Z>", "<time:", "#12{n} ", "#123", "/poll ", "/todo a\n", "- a:b\n"),
    *("- ", "* ", "1. ", "{n}. a\n", "  - ", "    ", "\n\n", "\n    a", "> ", ">", ">>> a\n", "# "),
    *("|", "|a", "|-", "|:-:", "\n|-|-|\n", "|a|b\n|-|-\n|c|d\n", "a\n=\n", "---\n", "***\n"),
    *("```quote\n", "```spoiler a\n", "\n```\n", "````quote\n", "~~~spoiler\n", "```math\n"),
    *("&amp;", "&#x41;", "&#", "&", "\\*", "\\\n", "  \n", "\r\n", "<b>", "</b>", "<!--", "<?"),
    *("[a]: b\n", "[^1]", "/user_uploads/1/" + "a" * 32 + "-b.png", "[a](/user_uploads/1/", ">a\n"),
)
CODE = (
    *SIGNS,
    *WORDS,
    *("//", "/*", "*/", "<!--", "-->", '"""', "'''", "\\\n", "${", "#{", "<<A\n", "<<<A\n", "{-"),
    *("<?php ", "<?", "<script>", "</", "<a b='", "<style>", "=>", "->", "::", ";;", "$(", "`"),
    *("def a(", "class A ", "function ", "import a", "lambda ", "if ", "select ", "begin\n", "end"),
    *("0x1", "1e", "1.5", "@a ", "\\begin{a}", "\\a", "%a", "%{", "@@", "diff ", "+++", "GET / "),
    *(
        "HTTP/1.1 200\n",
        "a: b\n",
        "- a\n",
        "[a]\n",
        "a=b\n",
        "let a",
        "(*",
        "*)",
        "--",
        "--[[",
        "r#",
    ),
    *(
        "~r/",
        "=begin\n",
        "q{",
        "m/",
        "s{a}",
        "y/",
        "/a/",
        "<%",
        "%>",
        "{{",
        "}}",
        "\\(",
        "|_|",
        "a.b",
    ),
)


def junk(random: Random) -> str:
    """Return a few random characters and words."""
    return "".join(random.choice(MARKDOWN) for _ in range(random.randint(1, 8)))


def code_junk(random: Random) -> str:
    return "".join(random.choice(CODE) for _ in range(random.randint(1, 6)))


def character(random: Random) -> str:
    """Return any character that UTF-8 can encode."""
    code = random.choice((random.randrange(1, 0x3000), random.randrange(1, 0x110000)))
    return chr(code) if not 0xD800 <= code < 0xE000 else "\ufffd"


def any_text(random: Random) -> str:
    return random.choice((junk, code_junk, character))(random)


def markdown(limit: int) -> Grammar:
    return Grammar(limit, MARKDOWN, any_text)


LINKIFIERS = (
    Linkifier(r"#(?P<id>[0-9]{2,8})", "https://tracker.example/{id}"),
    Linkifier(r"(?P<id>[a-zA-Z]+-[0-9]+)", "https://tracker.example/{id}"),
)


def names_of(linkifiers: Sequence[Linkifier]) -> Names:
    """Return names that texts may refer to, with the complete time limit for linkifiers."""
    handle = "a" * 32
    return Names(
        users={4: "Hamlet", 5: "Othello"},
        users_by_name={"hamlet": [4], "othello": [5]},
        groups={"players": (9, "players", True), "crew": (10, "crew", False)},
        channels={"denmark": (1, "Denmark")},
        emoji={"acme": (3, "/user_avatars/1/emoji/3.png")},
        previews={handle: Preview(f"1/{handle}-b.png", "b.png", "image/png", 9, 9, False)},
        linkifiers=Linkifiers(linkifiers),
    )


# --- targets in process -----------------------------------------------------------------------


def send(text: str, linkifiers: Sequence[Linkifier] = LINKIFIERS) -> None:
    """Do everything that sending does with a text, except database access."""
    stored = shorten(text)
    if not stored.strip() or "\0" in stored:
        return
    names = names_of(linkifiers)
    rendered = render(stored, names)
    vector_of("topic", plain_text(rendered.html))
    standing_alone({"a", "word", "hamlet"}, stored.casefold())
    describe_widget(stored)
    topic_links(stored[:TOPIC_MAX], names.linkifiers)
    snippet(stored)


class CodeBlocks(Work):
    """A message full of code in one language, in blocks of the maximum highlighted length."""

    def prepare(self, texts: Sequence[str]) -> str:
        language, code = texts[0], texts[1]
        render(f"```{language}\nx\n```", Names())  # loads the language
        block = f"```{language}\n{code}\n```\n"
        return block * max(1, CONTENT_MAX // len(block))

    def run(self, prepared: str) -> None:
        render(prepared, Names())

    def kept(self, texts: Sequence[str], prepared: str) -> bytes:
        return prepared.encode()


@contextmanager
def code_blocks() -> Iterator[Work]:
    yield CodeBlocks()


def pattern(random: Random) -> str:
    """Return a pattern for RE2."""
    n = random.choice((1, 2, 10, 50, 100, 300, 900))
    inner = random.choice(
        ("[ab ]", "a", ".", r"\pL", r"[^a]", "(a|b)", r"\w", "[a-z]", r"[\pL\pN]")
    )
    most = random.choice(("", f"{{{n}}}", "*", "+", "?", f"{{0,{n}}}", f"{{{n},}}"))
    return inner + most


PATTERN_PIECES = (
    *(
        "a",
        "b",
        "c",
        "#",
        ".*",
        "[ab ]*a",
        "[ab ]{900}c",
        "(a|b)",
        "|",
        "(?i)",
        r"\pL",
        r"\b",
        "x?",
    ),
    *(
        "(a*)*",
        "((a|b)*c)",
        "(?:",
        ")",
        "[",
        "]",
        "^",
        "$",
        "{1,100}",
        r"\d+",
        "[^ ]",
        "(?s).",
        "é",
    ),
)


class OwnLinkifiers(Work):
    """The linkifiers of an organization that are valid, and a text."""

    def prepare(self, texts: Sequence[str]) -> tuple[list[Linkifier], str]:
        template = "https://tracker.example/{id}"
        written = [f"(?P<id>{line})" for line in texts[0].split("\n") if line and "(?P" not in line]
        allowed = [
            Linkifier(each, template)
            for each in written
            if check_linkifier(LinkifierFacts(each, template)).failure is None
        ]
        links._compile.cache_clear()
        return (allowed * MAX_LINKIFIERS)[:MAX_LINKIFIERS], texts[1]

    def run(self, prepared: tuple[list[Linkifier], str]) -> None:
        linkifiers, text = prepared
        send(text, linkifiers)


@contextmanager
def own_linkifiers() -> Iterator[Work]:
    yield OwnLinkifiers()


def store_linkifier(text: str, template: str) -> None:
    facts = LinkifierFacts(
        f"(?P<id>{text})" if "(?P" not in text else text, f"https://a.example/{{id}}{template}"
    )
    check_linkifier(facts)
    check_linkifier(LinkifierFacts(facts.pattern, template, "a" * 500, template))


class Diffs(Work):
    """A response with the maximum number of edits, which alternate between two texts."""

    def prepare(self, texts: Sequence[str]) -> list[str]:
        return [render(text, names_of(())).html for text in texts]

    def run(self, prepared: list[str]) -> None:
        before, after = prepared
        size = len(before) + len(after) + 1
        fine = max(min(MAX_DIFFED // size, MAX_EDITS), 0)
        for number in range(min(MAX_EDITS, max(MAX_BYTES // size * 2, 1))):
            compare = content_html_diff if number < fine else coarse_html_diff
            compare(*(prepared if number % 2 else prepared[::-1]))


@contextmanager
def diffs() -> Iterator[Work]:
    yield Diffs()


def describe(text: str) -> None:
    """Process names, profile fields, templates and other single-line texts."""
    with suppress(ChatError):
        check_full_name(text)
    looks(text)
    for type_ in FieldType:
        if type_ not in (FieldType.USERS, FieldType.DROPDOWN):
            with suppress(ChatError):
                check_text(type_, "name", "", text)
    with suppress(ChatError):
        check_text(FieldType.LINK, "name", "", f"http://{text}"[:2048])
    is_url_template(text)
    inert_line(text)


MAIL_HEADERS = (
    *("From: ", "Subject: ", "To: a@b.example\n", "Auto-Submitted: no\n", "MIME-Version: 1.0\n"),
    *("Content-Type: text/html\n", "Content-Type: text/plain; charset=utf-8\n", "Re: ", "Fwd[1]: "),
    *(
        "Content-Type: multipart/mixed; boundary=q\n",
        "Content-Type: multipart/alternative; boundary=q\n",
    ),
    *(
        "Content-Type: multipart/related; boundary=q\n",
        "Content-Type: message/rfc822\n",
        "Content-Type: ",
    ),
    *("Content-Transfer-Encoding: base64\n", "Content-Transfer-Encoding: quoted-printable\n"),
    *("Content-Transfer-Encoding: x-uuencode\n", "Content-Disposition: attachment; filename*0=a\n"),
    *("=?utf-8?q?a?=", "=?utf-8?b?YQ==?=", "=?utf-8?q?", "?=", '"a" <a@b.example>', ",", "<", "("),
    *(
        "a",
        "{n}",
        " ",
        "\n ",
        "\n",
        "\r\n",
        "\r",
        ";",
        "; a{n}=b",
        "; a*{n}*=b",
        "; charset=",
        "\\",
    ),
    *('"', ")", ">", "@", ":", ".", "[", "]", "=", "\xe9", "\x00", "a: b\n", "a{n}: b\n", "\n\n"),
)
MAIL_BODY = (
    *(
        "--q\n",
        "--q--\n",
        "--q\n\n",
        "--q\nContent-Type: text/plain\n\n",
        "--q\nContent-Type: text/html\n\n",
    ),
    *(
        "--q\nContent-Type: multipart/mixed; boundary=q{n}\n\n",
        "--q{n}\n",
        "--q{n}\n\n",
        "--",
        "\n--",
    ),
    *(
        "Content-Type: multipart/mixed; boundary=q{n}\n\n--q{n}\n",
        "Content-Type: message/rfc822\n\n",
    ),
    *("--q\nContent-Type: multipart/related; boundary=r\n\n", "--r\n", "Content-Type: text/html\n"),
    *("--q\nContent-Type: message/rfc822\n\n", "Content-Transfer-Encoding: base64\n\n", "YWJj\n"),
    *(
        "--q\nContent-Type: message/delivery-status\n\n",
        "a: b\n",
        "a: b\n\n",
        "=41",
        "=\n",
        "=",
        "begin 6 a\n",
    ),
    *(
        "<script ",
        "<script>",
        "</script>",
        "<br",
        "<br>",
        "<p>",
        "</p>",
        "<div>",
        "<",
        ">",
        "<a href='",
    ),
    *(
        "<table>",
        "<td>",
        "<b>",
        "<b{n}>",
        "<select>",
        "<svg>",
        "<math>",
        "<template>",
        "<!--",
        "-->",
    ),
    *(
        "<style>",
        "<title>",
        "<plaintext>",
        "<form>",
        "<a>",
        "<i><p>",
        "<font>",
        "&amp;",
        "&",
        "&#x",
        "x",
    ),
    *(
        "<li>",
        "<option>",
        "<frameset>",
        "<a{n}='b' ",
        "<b a{n}=c>",
        "</b>",
        "</table>",
        "<caption>",
    ),
    *("a\n", "\n", "\r", "\r\n", "a", "{n}", " ", "\t", "\xe9", "\x00", "\u00ad", "Re: ", "word "),
)


def mail_junk(random: Random) -> str:
    pool = MAIL_BODY + MAIL_HEADERS
    return "".join(random.choice(pool) for _ in range(random.randint(1, 6)))


class Mail(Work):
    """A mail as the command receives it."""

    def prepare(self, texts: Sequence[str]) -> bytes:
        raw = (texts[0].strip("\n") + "\n\n" + texts[1]).encode("latin-1", "replace")
        return raw[:LARGEST_MAIL]

    def run(self, prepared: bytes) -> None:
        with suppress(AutomaticMail, UnreadableMail):
            read_at_once(prepared)

    def kept(self, texts: Sequence[str], prepared: bytes) -> bytes:
        return prepared


@contextmanager
def mail() -> Iterator[Work]:
    yield Mail()


# --- JSON, forms and requests -----------------------------------------------------------------

JSON = (
    *("0", "1e400", "-0.0", "1" * 19, "1" * 400, "0." + "1" * 300, "1e-300", "null", "true", '""'),
    *(
        '"a"',
        '"{n}"',
        "[]",
        "{}",
        "[1]",
        '{"a":1}',
        '{"{n}":{n}}',
        '{"a":[{"b":"c"}]}',
        '"\\u0041"',
    ),
    *('"\\ud83d\\ude00"', '"\\\\"', '"é"', "[" * 60 + "]" * 60, '{"a":' * 60 + "1" + "}" * 60),
    *('{"operator":"search","operand":"w{n}"}', '["topic","a{n}"]', '"a\\nb"', '"a@b.example"'),
)
LOOSE_JSON = (*JSON, *'[]{}",:\\', "\\u", " ", "\n", "1", "a", "\\u0000", "\\ud800", "é", "\x00")


def json_value(random: Random, depth: int = 3) -> str:
    kind = random.randrange(5 if depth else 3)
    if kind == 3:
        items = (json_value(random, depth - 1) for _ in range(random.randint(0, 4)))
        return f"[{','.join(items)}]"
    if kind == 4:
        keys = random.sample(("a", "b", "operator", "operand", "negated", "name", "{n}"), 3)
        members = (f'"{key}":{json_value(random, depth - 1)}' for key in keys)
        return "{" + ",".join(members) + "}"
    return random.choice(JSON) if kind else orjson.dumps(any_text(random)).decode()


def read_json(text: str) -> None:
    with suppress(ProblemException):
        check_json_text(load_json(text.encode("utf-8", "surrogatepass")), "/body")


FORM = (
    *(
        "&",
        "=",
        "a=b&",
        "a{n}=b&",
        "%",
        "%41",
        "%C3%A9",
        "%00",
        "%zz",
        "+",
        "a",
        "é",
        ";",
        "[]=",
        "~",
    ),
    *("a%5B{n}%5D=1&", "%F0%9F%98%80", "%ED%A0%80", "&&", "==", "%25", "\\", "/"),
)
PARTS = (
    *(
        "\r\n--q",
        "--q\r\n",
        "--q--",
        "\r\n",
        "\r\n\r\n",
        'Content-Disposition: form-data; name="a"',
    ),
    *(
        'Content-Disposition: form-data; name="a"; filename="b"\r\n\r\n',
        '; a="',
        '"',
        "\\",
        '\\"',
        ";",
    ),
    *(
        "Content-Disposition: ",
        "form-data",
        "; name=",
        "; a=b",
        ' ; a="b"',
        "%22",
        "%0a",
        "a",
        "-",
        "--",
    ),
    *(
        '--q\r\nContent-Disposition: form-data; name="a{n}"\r\n\r\nb\r\n',
        "Content-Type: text/plain\r\n",
    ),
    *("Content-Transfer-Encoding: binary\r\n", "filename*=utf-8''", "*", " ", "\t", "\n", "é"),
)


def read_form(text: str) -> None:
    with suppress(ProblemException):
        parse_pairs(text.encode(), "body")


def read_parts(text: str) -> None:
    raw = b"--q\r\n" + text.encode() + b"\r\n--q--\r\n"
    with suppress(ProblemException):
        parse_parts(raw[:MAX_BODY], "multipart/form-data; boundary=q", limit=MAX_QUERY_FIELDS)


class Requests(Work):
    """A field of any permitted request, and its value. `only` limits the operations."""

    def __init__(self, stage: Stage, only: Sequence[str] = ()) -> None:
        self._stage = stage
        self._places = [
            (base, place)
            for base in stage.bases()
            if not only or base.operation in only
            for place in stage.document.places(base.operation)
            if place.type in ("string", "array", "object")
        ]

    def prepare(self, texts: Sequence[str]) -> httpx.Request:
        number, _, size = texts[0].partition(" ")
        base, place = self._places[int(number) % len(self._places)]
        request = self._stage.build(base, place, self._value(place, texts[1], int(size)))
        room = 1.0
        while len(request.content) >= MAX_BODY and room > 0.1:
            room /= 2  # complete, rather than truncated inside an encoded character
            text = texts[1][: int(len(texts[1]) * room)]
            request = self._stage.build(base, place, self._value(place, text, int(size)))
        return request

    def _value(self, place: Any, text: str, size: int) -> Any:
        """Return the text unchanged, or for a list as many items as it has pieces of that size."""
        most = place.schema.get("maxLength", len(text))
        if place.where != "body" and (place.where == "path" or self._stage.service == "payment"):
            most = min(most, LONGEST_IN_TARGET)
        wrapped = place.wrap(text[:most])
        if not isinstance(wrapped, list) or place.type != "string":
            return text[:most]
        pieces = [text[at : at + size][:most] for at in range(0, len(text), size)]
        return [place.wrap(piece)[0] for piece in pieces[:5000]]

    def run(self, prepared: httpx.Request) -> None:
        self._stage.send(prepared)

    def kept(self, texts: Sequence[str], prepared: httpx.Request) -> bytes:
        return f"{prepared.method} {prepared.url}\n\n".encode() + prepared.content


class Narrows(Work):
    """A list of filters, for messages and for events."""

    PATHS = ("list_messages", "update_message_flags_for_narrow", "register_queue")

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._bases = {base.operation: base for base in stage.bases()}

    def prepare(self, texts: Sequence[str]) -> httpx.Request:
        operation = texts[0]
        base = self._bases[operation]
        parameters = {**base.parameters, "narrow": texts[1]}
        if operation != "register_queue":
            parameters |= {"anchor": "newest", "num_before": 100, "num_after": 0}
        return self._stage.build(type(base)(base.case, base.actor, parameters))

    def run(self, prepared: httpx.Request) -> None:
        self._stage.send(prepared)

    def kept(self, texts: Sequence[str], prepared: httpx.Request) -> bytes:
        return f"{prepared.method} {prepared.url}\n\n".encode() + prepared.content


OPERATORS = (
    *("channel", "channels", "topic", "sender", "dm", "dm-including", "is", "has", "in", "near"),
    *("id", "search", "with", "mentions", "stream", "pm-with", "group-pm-with", "search"),
)
OPERANDS = (
    *("unread", "starred", "mentioned", "dm", "followed", "muted", "resolved", "home", "public"),
    *("link", "image", "attachment", "reaction", "square", "big", "a", "1"),
)


def term(random: Random) -> str:
    """Return a filter with random or known words."""
    operand: Any = random.choice(OPERANDS)
    match random.randrange(5):
        case 0:
            unit = any_text(random).replace(NUMBER, "")
            operand = (unit * random.choice((1, 10, 100, 4000)))[:4000]
        case 1:
            operand = random.randrange(2000)
        case 2:
            operand = [random.randrange(2000) for _ in range(random.choice((1, 3, 50, 1000)))]
        case 3:
            words = (f"{random.choice(WORDS)}{random.randrange(99)}" for _ in range(40))
            operand = " ".join(words).replace(NUMBER, "")
    value = {"operator": random.choice(OPERATORS), "operand": operand}
    if random.random() < 0.3:
        value["negated"] = True
    return orjson.dumps(value).decode()


@contextmanager
def on_chat(work: Callable[[Stage], Work]) -> Iterator[Work]:
    logs.configure("error", secrets=(), stream=io.BytesIO())
    directory = Path(tempfile.mkdtemp(prefix="specd-cost-"))
    try:
        with chat_on(f"sqlite:///{directory}/chat.db", directory, Scale().part(PART)) as stage:
            yield work(stage)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@contextmanager
def on_payment(work: Callable[[Stage], Work]) -> Iterator[Work]:
    logs.configure("error", secrets=(), stream=io.BytesIO())
    directory = Path(tempfile.mkdtemp(prefix="specd-cost-"))
    try:
        with payment_on(f"sqlite:///{directory}/payment.db", Scale().part(PART)) as stage:
            yield work(stage)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def a_place(random: Random) -> str:
    return f"{random.randrange(100_000)} {random.choice((1, 10, 100, 1000, 10_000))}"


# --- pictures ---------------------------------------------------------------------------------

FORMATS = ("JPEG", "PNG", "GIF", "WEBP")
BOX = (840, 560)


def described(random: Random) -> str:
    """Return a picture to start with: format, width, height, mode, content, frames, option."""
    side = random.choice((16, 500, 2000, 4000, 5600))
    other = random.choice((side, side, 16, 2000))
    frames = random.choice((1, 1, 1, 10, 60))
    if frames > 1:
        side, other = min(side, 1000), min(other, 1000)
    words = (
        *(random.choice(FORMATS), side, other, random.choice(("L", "RGB", "P", "RGBA", "1"))),
        *(random.choice(("flat", "noise", "lines")), frames, random.randrange(4)),
    )
    return " ".join(map(str, words))


def changed_block(random: Random) -> str:
    """Return a change of a file: a block to repeat, remove, move or damage, and how."""
    what = random.choice(("repeat", "repeat", "drop", "move", "damage"))
    return f"{what} {random.randrange(200)} {random.choice((1, 5, 50, 90, 500, 5000))}"


def picture_of(description: str, changes: Sequence[str]) -> bytes:
    """Return the bytes of a picture with its blocks changed."""
    kind, width, height, mode, content, frames, option = description.split(" ")
    size = int(width), int(height)
    first = drawn(size, mode, content, kind)
    out = io.BytesIO()
    settings: dict[str, Any] = {
        "JPEG": {"progressive": option in "13", "subsampling": int(option) % 3, "quality": 75},
        "PNG": {"compress_level": 1 + int(option), "bits": 8},
        "GIF": {"interlace": int(option) % 2},
        "WEBP": {"lossless": option in "13", "method": int(option) // 2, "quality": 60},
    }[kind]
    if int(frames) > 1 and kind != "JPEG":
        others = [drawn(size, mode, content, kind) for _ in range(int(frames) - 1)]
        settings |= {"save_all": True, "append_images": others, "duration": 50}
    first.save(out, kind, **settings)
    blocks = blocks_of(out.getvalue(), kind)
    for change in changes:
        what, at, times = change.split(" ")
        place = int(at) % len(blocks)
        if what == "repeat":
            most = max(1, LARGEST_PICTURE // (len(blocks[place]) + 1))
            blocks[place] *= min(int(times), most)
        elif what == "drop" and len(blocks) > 2:
            del blocks[place]
        elif what == "move":
            blocks.insert(int(times) % len(blocks), blocks.pop(place))
        elif blocks[place]:
            where = int(times) % len(blocks[place])
            block = blocks[place]
            blocks[place] = block[:where] + bytes([block[where] ^ 0x55]) + block[where + 1 :]
    raw = b"".join(blocks)[:LARGEST_PICTURE]
    if kind == "WEBP":
        raw = raw[:4] + struct.pack("<I", max(len(raw) - 8, 0)) + raw[8:]
    return raw


LARGEST_PICTURE = 4_000_000
"""Maximum bytes. Larger files are permitted and cost proportionally more."""


def drawn(size: tuple[int, int], mode: str, content: str, kind: str) -> Image.Image:
    """Return a grayscale picture with smooth, rough or striped content."""
    if content == "noise":
        tile = Image.effect_noise((min(size[0], 512), min(size[1], 512)), 90)
    elif content == "lines":
        tile = Image.linear_gradient("L").resize((min(size[0], 256), min(size[1], 256)))
    else:
        tile = Image.new("L", (16, 16), 90)
    image = Image.new("L", size)
    for x in range(0, size[0], tile.size[0]):
        image.paste(tile, (x, 0))
    strip = image.crop((0, 0, size[0], tile.size[1]))
    for y in range(0, size[1], tile.size[1]):
        image.paste(strip, (0, y))
    if kind == "JPEG" and mode in ("P", "RGBA", "1"):
        mode = "RGB"
    return image.convert(mode)


def blocks_of(raw: bytes, kind: str) -> list[bytes]:
    """Return the file split into the blocks of its format."""
    if kind == "JPEG":
        starts = [match.start() for match in re.finditer(rb"\xff[\xc0-\xcf\xd8-\xfe]", raw)]
    elif kind == "PNG":
        starts, at = [0], 8
        while at < len(raw):
            starts.append(at)
            at += 12 + int(struct.unpack(">I", raw[at : at + 4])[0])
    elif kind == "WEBP":
        starts, at = [0], 12
        while at + 8 <= len(raw):
            starts.append(at)
            length = int(struct.unpack("<I", raw[at + 4 : at + 8])[0])
            at += 8 + length + length % 2
    else:
        starts = [0, *(match.start() for match in re.finditer(rb"\x00[\x2c\x21]", raw))]
    starts = starts[:200]
    ends = [*starts[1:], len(raw)]
    return [raw[start:end] for start, end in zip(starts, ends, strict=True)] or [raw]


class Pictures(Work):
    """An uploaded picture. The process that scales it down is measured."""

    def __init__(self, directory: Path) -> None:
        self._source, self._target = directory / "source", directory / "target"

    def prepare(self, texts: Sequence[str]) -> bytes:
        changes = [line for line in texts[1].split("\n") if line.count(" ") == 2][:20]
        try:
            raw = picture_of(texts[0], changes)
        except (OSError, ValueError, KeyError):  # a format without that mode or without blocks
            raw = b""
        self._source.write_bytes(raw)
        return raw

    def spend(self, prepared: bytes) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with suppress(NotAPicture):
            make_small(self._source, self._target, *BOX)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def kept(self, texts: Sequence[str], prepared: bytes) -> bytes:
        return prepared


@contextmanager
def pictures() -> Iterator[Work]:
    directory = Path(tempfile.mkdtemp(prefix="specd-cost-"))
    try:
        yield Pictures(directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


# --- all of them ------------------------------------------------------------------------------

_MESSAGE = markdown(CONTENT_MAX)
_PATTERNS = Grammar(20 * LONGEST_PATTERN, PATTERN_PIECES, pattern, ("", "\n", ""))
_ARRAY = Grammar(MAX_BODY, JSON, json_value, ("[", ",", "]"))
_PLACE = Grammar(20, make=a_place, is_choice=True)
_NARROW = Grammar(400_000, (), term, ("[", ",", "]"))


def _target(
    name: str,
    opened: Callable[[], AbstractContextManager[Work]],
    *grammars: Grammar,
    bound_s: float = BOUND_S,
) -> Target:
    return Target(name, grammars, opened, bound_s)


_ALL = (
    _target("message", calls(send, stem_of.cache_clear), _MESSAGE),
    _target(
        "code",
        code_blocks,
        Grammar(40, sorted(LANGUAGES), is_choice=True),
        Grammar(HIGHLIGHT_MAX - 1, CODE, code_junk),
    ),
    _target("linkifiers", own_linkifiers, _PATTERNS, _MESSAGE),
    _target(
        "patterns",
        calls(store_linkifier),
        Grammar(LONGEST_PATTERN, PATTERN_PIECES, pattern),
        Grammar(LONGEST_PATTERN, (*"{}%.:/*+,#?&;aé", "{id}", "{a{n},", "%41", "{a.b"), None),
    ),
    _target("edits", diffs, _MESSAGE, _MESSAGE),
    _target("search", calls(parse_query, stem_of.cache_clear), markdown(CONTENT_MAX)),
    _target("names", calls(describe), markdown(CONTENT_MAX)),
    _target("passwords", calls(is_strong), markdown(LENGTH_MAX)),
    _target(
        "mail",
        mail,
        Grammar(MAX_READ, MAIL_HEADERS, mail_junk),
        Grammar(MAX_READ, MAIL_BODY, mail_junk),
    ),
    _target("json", calls(read_json), _ARRAY),
    _target("loose-json", calls(read_json), Grammar(MAX_BODY, LOOSE_JSON, json_value)),
    _target("forms", calls(read_form), Grammar(MAX_BODY, FORM, any_text)),
    _target("parts", calls(read_parts), Grammar(MAX_BODY, PARTS, any_text)),
    _target(
        "narrows",
        lambda: on_chat(Narrows),
        Grammar(40, Narrows.PATHS, is_choice=True),
        _NARROW,
    ),
    _target("chat", lambda: on_chat(Requests), _PLACE, markdown(200_000)),
    _target("chat-json", lambda: on_chat(Requests), _PLACE, _ARRAY),
    _target("payment", lambda: on_payment(Requests), _PLACE, markdown(60_000)),
    _target(
        "pictures",
        pictures,
        Grammar(80, make=described, is_choice=True),
        Grammar(400, (), changed_block, ("", "\n", "")),
        bound_s=CPU_S + BOUND_S,
    ),
)
TARGETS: Mapping[str, Target] = {target.name: target for target in _ALL}


def find_target(name: str) -> Target:
    return TARGETS[name]
