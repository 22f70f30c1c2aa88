"""Compare the renderer with Zulip's published test data, which is not part of this repository.

`python -m tests.tools.zulip_markdown PATH` reads `markdown_test_cases.json` of a checkout of Zulip,
and prints the number of cases that agree and each other case with the reason. It fails if a
difference has no reason.
"""

from __future__ import annotations

import argparse
import html
import json
import re
import sys
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from models.chat.rendering import Names, render

HOST = "zulip.testserver"

_PICTURES = "previews of files on other servers are not fetched"
_NEWER = "the emoji table is newer than the data"
_MORE_LINKS = "addresses are links after an equals sign and before a sign of markup, too"
DIFFERENCES = {
    **dict.fromkeys(
        (
            *("inline_image", "two_inline_images", "deduplicate_inline_previews"),
            *("bulleted_list_inlining", "only_inline_image", "only_named_inline_image"),
            "spoiler_with_inline_image",
        ),
        _PICTURES,
    ),
    **dict.fromkeys(
        (
            *("unrecognized_emoji_sequence_one", "unrecognized_emoji_sequence_two"),
            "fried_egg_emoji_nonexistent",
        ),
        _NEWER,
    ),
    "zulip_emoji": "the picture is a trademark of another product",
    "linkify_interference": "an address with a port that is not a number opens nothing",
    "safe_html_unclosed_tag": _MORE_LINKS,
    "safe_html_unclosed_tag_and_quotes": _MORE_LINKS,
    "eight is too many https://zulip.com/(we_like_((t(d(o(_(1(2)1)__)o)o))o_nest_)_nest)_nest": (
        "parentheses in an address may be nested to any depth"
    ),
}
"""Name or text of a case -> the reason for different HTML."""


@dataclass(frozen=True, slots=True)
class Case:
    """A text and the HTML that Zulip renders."""

    name: str
    text: str
    expected: str
    translates_emoticons: bool = False
    kind: str = "regular"


class _Normalizer(HTMLParser):
    """Collects the elements and words of a document.

    Highlighting and the elements of formulas are omitted, because they depend on the versions of
    libraries.
    """

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._code = self._math = 0
        self._in_annotation = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        classes = (dict(attrs).get("class") or "").split()
        if self._math or "katex-mathml" in classes or "katex-html" in classes:
            self._math += 1
            self._in_annotation = tag == "annotation"
            return
        if tag == "pre" or self._code:
            self._code += 1
            if tag == "span":
                return
        shown = " ".join(f"{name}={value!r}" for name, value in sorted(attrs))
        self.parts.append(f"<{tag} {shown}>")

    def handle_endtag(self, tag: str) -> None:
        if self._math:
            self._math -= 1
            self._in_annotation = False
            return
        if self._code:
            self._code -= 1
            if tag == "span":
                return
        self.parts.append(f"</{tag}>")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if not self._math:
            self.handle_starttag(tag, attrs)
            if self._code:
                self._code -= 1

    def handle_data(self, data: str) -> None:
        if not self._math or self._in_annotation:
            self.parts.append(data)


_VOID = re.compile(r"<(br|hr|img)\b([^>]*?)/?>")


def normalized(markup: str) -> str:
    """Return the elements and words of a document, without insignificant white space."""
    normalizer = _Normalizer()
    normalizer.feed(_VOID.sub(r"<\1\2/>", markup))
    normalizer.close()
    words = re.sub(r"\s+", " ", "".join(normalizer.parts))
    return re.sub(r" ?(<[^<>]*>) ?", r"\1", words).strip()


def read_cases(path: Path) -> list[Case]:
    """Return the cases of a file, including those about addresses."""
    data = json.loads(path.read_text())
    cases = [
        Case(
            case["name"],
            case["input"],
            case["expected_output"],
            bool(case.get("translate_emoticons")),
        )
        for case in data["regular_tests"]
    ]
    for text, expected, address in data["linkify_tests"]:
        cases.append(Case(text, text, _with_link(expected, address), kind="linkify"))
    return cases


def _with_link(expected: str, address: str) -> str:
    if not address or "%s" not in expected:
        return str(expected)
    shown = html.unescape(address)
    url = shown
    if not shown.startswith("http"):
        url = f"mailto:{shown}" if "@" in shown else f"http://{shown}"
    link = f'<a href="{html.escape(url)}">{html.escape(shown)}</a>'
    return str(expected).replace("%s", link)


def rendered(case: Case) -> str:
    names = Names(host=HOST, translates_emoticons=case.translates_emoticons)
    return render(case.text, names).html


def agrees(case: Case) -> bool:
    return normalized(rendered(case)) == normalized(case.expected)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--verbose", action="store_true", help="print both documents")
    asked = parser.parse_args()
    cases = read_cases(asked.path)
    differing = [case for case in cases if not agrees(case)]
    for case in differing:
        print(f"{case.name[:70]!r}: {DIFFERENCES.get(case.name, 'NOT EXPLAINED')}")
        if asked.verbose:
            print("   zulip:", normalized(case.expected))
            print("   specd:", normalized(rendered(case)))
    for kind in ("regular", "linkify"):
        of_kind = sum(case.kind == kind for case in cases)
        agreeing = of_kind - sum(case.kind == kind for case in differing)
        print(f"{agreeing} of {of_kind} {kind} cases agree")
    explained = DIFFERENCES.keys() - {case.name for case in differing}
    for name in sorted(explained):
        print(f"{name[:70]!r} agrees and is listed as different")
    print(f"{len(cases) - len(differing)} of {len(cases)} cases agree")
    return int(bool(explained) or any(case.name not in DIFFERENCES for case in differing))


if __name__ == "__main__":
    sys.exit(main())
