"""Zulip's dialect of Markdown: what differs from CommonMark.

`python -m tests.tools.zulip_markdown` compares the renderer with Zulip's own test data.
"""

import json
from pathlib import Path

import pytest

from models.chat.rendering import Names, render
from models.chat.rendering.blocks import MAX_DEPTH
from models.chat.rendering.emoji import EMOJI
from models.chat.rendering.links import Linkifier, Linkifiers
from models.chat.rendering.math import MAX_TEX
from models.chat.rendering.plain_texts import EMOTICONS
from tests.support.cpu import cpu_at_most
from tests.tools import zulip_markdown

NAMES = Names(
    users={1: "Ann"},
    users_by_name={"ann": [1]},
    channels={"stage": (3, "stage")},
    emoji={"heart": (6, "/user_avatars/1/emoji/6.png")},
    linkifiers=Linkifiers([Linkifier(r"T_(?P<id>[0-9]+)_x", "https://tracker.example/{id}")]),
    host="chat.example",
)


def html(text: str, names: Names = NAMES) -> str:
    return render(text, names).html


def link(address: str, shown: str = "") -> str:
    return f'<a href="{address}">{shown or address}</a>'


class TestAddresses:
    @pytest.mark.parametrize(
        "address",
        [
            "http://some.example/is*a*place/for",
            "https://host.example/pkg/__init__.py",
            "https://host.example/_a/b_/c",
            "https://host.example/~~x~~/y",
            r"https://host.example/a\_b",
            "https://host.example/@**|1**/page",
            "https://host.example/#**stage**/x",
            "https://host.example/:heart:/x",
            "https://host.example/$$a$$/x",
            "https://host.example/T_12_x",
            "https://host.example/{a}|b^c",
            "https://host.example/a(b(c)d)e",
        ],
    )
    def test_marks_inside_an_address_are_part_of_it(self, address: str) -> None:
        rendered = render(f"see {address} now", NAMES)
        assert rendered.html == f"<p>see {link(address)} now</p>"
        assert not rendered.user_ids

    @pytest.mark.parametrize("mark", ["**", "*", "~~"])
    def test_address_between_marks_is_a_link_with_emphasis(self, mark: str) -> None:
        markup = html(f"{mark}https://host.example/b{mark}")
        assert link("https://host.example/b") in markup
        assert mark not in markup

    @pytest.mark.parametrize(
        ("text", "address"),
        [
            ("zulip.com", "http://zulip.com"),
            ("t.co/foo", "http://t.co/foo"),
            ("(docs.example.org)", None),
            ("Example.COM", "http://Example.COM"),
            ("me@host.example.org", "mailto:me@host.example.org"),
            ("a.b.co.uk/c?d=e", "http://a.b.co.uk/c?d=e"),
            ("readme.md", None),
            ("views.py", None),
            ("love...it", None),
            ("a.commandstuff()", None),
            ("javascript://host.com", None),
            ("a@host.com/foo", None),
        ],
    )
    def test_bare_domain_is_a_link_if_its_ending_exists(
        self, text: str, address: str | None
    ) -> None:
        markup = html(f"see {text} please")
        assert ("<a " in markup) is (address is not None or "example.org" in text)
        if address is not None:
            assert link(address, text) in markup

    @pytest.mark.parametrize(
        ("written", "address"),
        [
            ("docs.example.org", "http://docs.example.org"),
            ("docs.example.org/a", "http://docs.example.org/a"),
            ("https://a.example", "https://a.example"),
            ("/user_uploads/1/a.txt", "/user_uploads/1/a.txt"),
            ("#narrow/channel/3", "#narrow/channel/3"),
            ("https://chat.example/#narrow/channel/3", "#narrow/channel/3"),
            ("https://chat.example/user_uploads/1/a.txt", "/user_uploads/1/a.txt"),
            ("https://chat.example/help", "https://chat.example/help"),
            ("sms:+14155551234", "sms:+14155551234"),
        ],
    )
    def test_named_link_has_an_absolute_or_local_address(self, written: str, address: str) -> None:
        assert html(f"[docs]({written})") == f"<p>{link(address, 'docs')}</p>"

    @pytest.mark.parametrize("text", ["", "  "])
    def test_link_without_text_shows_its_address(self, text: str) -> None:
        assert link("https://a.example") in html(f"[{text}](https://a.example)")

    def test_linkifier_matches_across_signs(self) -> None:
        assert link("https://tracker.example/12", "T_12_x") in html("fixed T_12_x today")

    def test_sign_before_equals_may_start_an_address(self) -> None:
        assert link("https://a.example/b") in html("url=https://a.example/b")


class TestSigns:
    @pytest.mark.parametrize(
        "text",
        [
            "edit pkg/__init__.py",
            "_foo_ and __foo__",
            r"C:\_work and \\srv\share",
            r"¯\_(ツ)_/¯",
            r"\*\.txt",
            "const char *x = (char *)y",
            "[world]: not-a-reference",
            "1) is not a list",
            "* ",
            "==",
        ],
    )
    def test_text_without_marks_of_the_dialect_is_unchanged(self, text: str) -> None:
        assert html(text) == f"<p>{text.strip()}</p>"

    @pytest.mark.parametrize(
        ("text", "markup"),
        [
            ("***x***", "<strong><em>x</em></strong>"),
            ("*a **b** c*", "<em>a <strong>b</strong> c</em>"),
            ("**a *b* c**", "<strong>a <em>b</em> c</strong>"),
            ("~~ a b ~~", "<del> a b </del>"),
            ("~~a *b*~~", "<del>a <em>b</em></del>"),
            ("**a\nb**", "**a<br>\nb**"),
            ("*a\nb*", "*a<br>\nb*"),
            ("**`a**b`**", "<strong><code>a**b</code></strong>"),
            ("` a `", "<code> a </code>"),
            ("``a`b``", "<code>a`b</code>"),
            ("`a", "`a"),
            ("&#42;a&#42;", "*a*"),
            ("*&#42;*", "<em>*</em>"),
            ("**@**Ann****", None),
        ],
    )
    def test_marks_nest_and_end_with_their_line(self, text: str, markup: str | None) -> None:
        if markup is not None:
            assert html(text) == f"<p>{markup}</p>"
        else:
            assert "user-mention" in html(text)


class TestBlocks:
    @pytest.mark.parametrize(
        ("text", "markup"),
        [
            ("* a\n- b\n+ c", "<ul><li>a</li><li>b</li><li>c</li></ul>"),
            ("1. a\n  * b\n1. c", "<ol><li>a<ul><li>b</li></ul></li><li>c</li></ol>"),
            (
                "4. a\n  2. b\n    7. c\n  2. d",
                '<ol start="4"><li>a<ol start="2"><li>b<ol start="7"><li>c</li></ol></li>'
                "<li>d</li></ol></li></ol>",
            ),
            ("text\n* a\n* b", "<p>text</p><ul><li>a</li><li>b</li></ul>"),
            ("text\n2. a", '<p>text</p><ol start="2"><li>a</li></ol>'),
            ("text\n1999. a", "<p>text<br>1999. a</p>"),
            ("* a\nb", "<ul><li>a<br>b</li></ul>"),
            ("* a\n\n* b", "<ul><li><p>a</p></li><li><p>b</p></li></ul>"),
            ("* a\n1. b", "<ul><li>a</li></ul><ol><li>b</li></ol>"),
            (
                "* a\n  ```\n  x\n\n  y\n  ```\n* b",
                '<ul><li>a<div class="codehilite"><pre><span></span><code>x\n\ny\n</code></pre>'
                "</div></li><li>b</li></ul>",
            ),
            ("* a\n> b", "<ul><li>a</li></ul><blockquote><p>b</p></blockquote>"),
            (">", "<p>&gt;</p>"),
            (">>>", "<blockquote><blockquote><p>&gt;</p></blockquote></blockquote>"),
            (">\n>\ntext", "<blockquote><p>text</p></blockquote>"),
            ("> a\nb\n\nc", "<blockquote><p>a<br>b</p></blockquote><p>c</p>"),
            ("> a\n# b", "<blockquote><p>a</p></blockquote><h1>b</h1>"),
            (
                "```quote\nA\n```quote\nB\n```\nC\n```\nD",
                "<blockquote><p>A</p><blockquote><p>B</p></blockquote><p>C</p></blockquote>"
                "<p>D</p>",
            ),
            (
                "~~~quote\n```\n~~~\n```\n~~~",
                '<blockquote><div class="codehilite"><pre><span></span><code>~~~\n</code></pre>'
                "</div></blockquote>",
            ),
            ("```a b```\nc", "<p><code>a b</code><br>c</p>"),
            ("a\n---\nb", "<p>a</p><hr><p>b</p>"),
            ("#a\n# b", "<p>#a</p><h1>b</h1>"),
            (
                "|a|b|c|\n|:--|--:|:-:|\n|1|2|3|",
                '<table><thead><tr><th align="left">a</th><th align="right">b</th>'
                '<th align="center">c</th></tr></thead><tbody><tr><td align="left">1</td>'
                '<td align="right">2</td><td align="center">3</td></tr></tbody></table>',
            ),
        ],
    )
    def test_blocks_have_the_structure_of_the_dialect(self, text: str, markup: str) -> None:
        lines = html(text).replace(">\n", ">").replace("\n<", "<")
        assert lines == markup.replace(">\n", ">").replace("\n<", "<")

    @pytest.mark.parametrize("marker", ["> ", ">", "* ", "1. "])
    def test_deeper_text_is_shown_as_text(self, marker: str) -> None:
        if marker in ("> ", ">"):
            text = marker * 30 + "hello"
        else:
            text = "".join(f"{'  ' * level}{marker}x{level}\n" for level in range(30)) + "hello"
        markup = html(text)
        assert "hello" in markup
        assert markup.count("<blockquote>") + markup.count("<li>") <= MAX_DEPTH


class TestEmoji:
    def test_custom_emoji_replaces_one_of_unicode(self) -> None:
        assert "heart" in EMOJI
        for text in (":heart:", "<3"):
            names = Names(emoji=NAMES.emoji, translates_emoticons=True)
            assert 'src="/user_avatars/1/emoji/6.png"' in html(text, names)

    @pytest.mark.parametrize(
        ("text", "names"),
        [
            (":cat:hello:dog:", ["cat", "dog"]),
            ("smiley:smiley:", ["smiley"]),
            (":unknown_name:dog:", ["dog"]),
            ("hi 🙂", ["smile"]),
            ("a👽b", ["alien"]),
            ("🤷\u200d♀️", ["woman_shrugging"]),
            ("#️⃣", ["hash"]),
            ("💩💩", ["poop", "poop"]),
            (":cat:\n:dog:", ["cat", "dog"]),
            ("`:cat:` 漢字 é", []),
            ("👨🏿\u200d🦽", []),
        ],
    )
    def test_emoji_is_found_by_name_and_by_character(self, text: str, names: list[str]) -> None:
        markup = html(text)
        assert markup.count('role="img"') == len(names)
        for name in names:
            assert f">:{name}:</span>" in markup

    @pytest.mark.parametrize("emoticon", EMOTICONS)
    def test_emoticon_is_an_emoji_by_the_setting_of_the_author(self, emoticon: str) -> None:
        name = EMOTICONS[emoticon]
        asked = Names(translates_emoticons=True)
        for text in (emoticon, f"a {emoticon} b", f"a\n{emoticon}", f"yes {emoticon}."):
            assert f">:{name}:</span>" in html(text, asked)
            assert "emoji" not in html(text, Names())
        for text in (f"a{emoticon}", f"`{emoticon}`"):
            assert "emoji" not in html(text, asked)


class TestTimes:
    @pytest.mark.parametrize(
        ("text", "moment"),
        [
            ("1496701800", "2017-06-05T22:30:00Z"),
            ("2026-11-21 13:00 +01:00", "2026-11-21T12:00:00Z"),
            ("Jun 5th 2017, 10:30PM", "2017-06-05T22:30:00Z"),
            ("August 06 2024, 5:00 PM BST", "2024-08-06T16:00:00Z"),
            ("January 25, 2021, 1:00 PM EST", "2021-01-25T18:00:00Z"),
            ("31 Dec 2017 5:30 am IST", "2017-12-31T00:00:00Z"),
            ("Mon, 25 Jan 2021 13:00:00 +0000", "2021-01-25T13:00:00Z"),
        ],
    )
    def test_time_is_read_as_people_write_it(self, text: str, moment: str) -> None:
        assert html(f"<time:{text}>") == f'<p><time datetime="{moment}">{text}</time></p>'

    @pytest.mark.parametrize(
        "text", ["2020-01-01T00:00:00+32:00", "later", "9" * 80, "5 PM XYZ", "**a**"]
    )
    def test_wrong_time_is_named(self, text: str) -> None:
        shown = f'<span class="timestamp-error">Invalid time format: {text}</span>'
        assert html(f"<time:{text}>") == f"<p>{shown}</p>"


class TestFormulas:
    def test_formula_is_mathml_with_its_source(self) -> None:
        source = '<annotation encoding="application/x-tex">a^2</annotation>'
        inline, block = html("so $$a^2$$."), html("```math\na^2\n```")
        assert '<span class="katex"><span class="katex-mathml"><math' in inline
        assert '<span class="katex-display"><span class="katex">' in block
        for markup in (inline, block):
            assert "<msup><mi>a</mi><mn>2</mn></msup>" in markup
            assert source in markup

    @pytest.mark.parametrize("tex", [r"\error{**a**}", r"\frac{1}{", "x^2^3", "{" * 500])
    def test_wrong_formula_is_shown_as_its_source(self, tex: str) -> None:
        assert html(f"$${tex}$$") == f'<p><span class="tex-error">$${tex}$$</span></p>'
        assert html(f"```math\n{tex}\n```") == f'<p><span class="tex-error">{tex}</span></p>'

    @pytest.mark.parametrize(
        "text", ["$5 to $20", "$$$", "$$_$$", "$$x=3\ny$$", "`$$a$$`", "a$$b$$c"]
    )
    def test_other_dollars_are_text(self, text: str) -> None:
        assert "katex" not in html(text)

    def test_markup_in_a_formula_is_inert(self) -> None:
        for tex in ("<script>alert(1)</script>", r"\text{<img src=x onerror=alert(1)>}"):
            markup = html(f"$${tex}$$")
            assert "<script" not in markup
            assert "<img" not in markup

    def test_long_formulas_are_shown_as_source(self) -> None:
        each = "$$" + "x+" * 40 + "x$$ "
        with cpu_at_most(0.5):
            markup = html(each * 120)
        assert 0 < markup.count("katex-mathml") * 81 <= MAX_TEX


class TestHostileTexts:
    @pytest.mark.parametrize(
        "piece",
        [
            *("*", "**", "* ", "***a", "*a **b** ", "**a*b", "~~", "~~a ", "$$a", "$$a$$", "$"),
            *(">", "> ", ">\n", "x\n>\n", "* a\n", "  * a\n", "1. a\n", "> * ", "* > ", "* * "),
            *("```quote\n", "~~~quote\n```quote\n", "```spoiler a\n", "```math\n", "`", "``a`"),
            *("<time:1>", "<time:a", ":a", ":a:", ":)", "🙂", "👩\u200d", "1\ufe0f", "a.", "a@"),
            *("a.b@", "a.com ", "www.", "http://a/(", "|a|b\n|-|-\n", "- a\n\n  b\n", "[a](", "!["),
            *("$$\\frac{", "$$x^{$$ ", "$$\\left($$ ", "&amp;", "\\", "a\n", "&#42;"),
        ],
    )
    def test_long_repetition_is_rendered_in_linear_time(self, piece: str) -> None:
        text = (piece * 10_000)[:10_000]
        with cpu_at_most(1.0):
            render(text, Names(translates_emoticons=True))


class TestComparison:
    def test_case_agrees_if_only_white_space_and_highlighting_differ(self, tmp_path: Path) -> None:
        expected = (
            '<p>a <strong>b</strong></p>\n<div class="codehilite"><pre><code>x</code></pre></div>'
        )
        file = tmp_path / "cases.json"
        case = {"name": "own", "input": "a **b**\n```\nx\n```", "expected_output": expected}
        other = {"name": "other", "input": "a", "expected_output": "<p>b</p>"}
        links = [["see zulip.com", "<p>see %s</p>", "zulip.com"]]
        file.write_text(json.dumps({"regular_tests": [case, other], "linkify_tests": links}))
        agreeing = [zulip_markdown.agrees(each) for each in zulip_markdown.read_cases(file)]
        assert agreeing == [True, False, True]

    def test_fewer_than_25_differences_are_named(self) -> None:
        assert 0 < len(zulip_markdown.DIFFERENCES) < 25
        assert all(zulip_markdown.DIFFERENCES.values())
