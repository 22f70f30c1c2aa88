"""Rendering of Markdown, and that the result cannot run a script."""

import random
import re
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import count

import pytest

from models.chat.rendering import (
    Names,
    content_html_diff,
    links,
    plain_text,
    render,
    sanitise,
    topic_links,
)
from models.chat.rendering.blocks import MAX_DEPTH
from models.chat.rendering.code import HIGHLIGHT_MAX, LANGUAGES
from models.chat.rendering.emoji import EMOJI
from models.chat.rendering.links import (
    MAX_LINKS,
    MAX_SEARCH_S,
    Linkifier,
    Linkifiers,
    find_links,
)
from models.chat.rendering.sanitising import CLEANER
from tests.models.chat.injections import vectors
from tests.support.cpu import cpu_at_most
from tests.support.marks import in_all

NAMES = Names(
    users={4: "Hamlet", 5: "Othello", 6: "<b>Bold</b>", 8: "Hamlet"},
    users_by_name={"hamlet": [4], "othello": [5], "twin": [7, 8], "<b>bold</b>": [6]},
    groups={"players": (9, "players", True), "crew": (10, "crew", False)},
    channels={"denmark": (1, "Denmark"), "<i>x</i>": (2, "<i>x</i>")},
    emoji={"acme": (3, "/user_avatars/1/emoji/3.png"), "evil": (4, "javascript:alert(1)")},
    linkifiers=Linkifiers(
        [
            Linkifier(r"#(?P<id>[0-9]{2,8})", "https://tracker.example/{id}"),
            Linkifier(r"ev(?P<x>.+)il", "javascript:alert({x})"),
        ]
    ),
)
TAGS = frozenset(
    (
        *("a", "abbr", "blockquote", "br", "code", "del", "div", "em", "h1", "h2", "h3", "h4"),
        *("h5", "h6", "hr", "img", "li", "ol", "p", "pre", "span", "strong", "table", "tbody"),
        *("td", "th", "thead", "time", "tr", "ul"),
    )
)
ATTRIBUTES = frozenset(
    (
        *("href", "class", "title", "src", "alt", "role", "aria-label", "aria-hidden"),
        *("datetime", "start", "align", "data-stream-id", "data-user-id", "data-user-group-id"),
        "data-code-language",
    )
)
SAFE_ADDRESS = re.compile(r"(?:https?:|mailto:|tel:|xmpp:|[/#?]|[^:]*(?:[/?#]|\Z))", re.I)


GONE, INSERTED = (f'<span class="highlight_text_{what}">' for what in ("deleted", "inserted"))
DELETED, ADDED = (re.compile(rf"{opening}[^<]*</span>") for opening in (GONE, INSERTED))


class Inspector(HTMLParser):
    """A parser that fails at the first element that could do more than show text."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS, tag
        for name, value in attrs:
            assert name in ATTRIBUTES, (tag, name)
            if name in ("href", "src"):
                assert SAFE_ADDRESS.match(value or ""), (name, value)
                assert not re.match(r"[\s\x00-\x20]*(java|vb)script:|data:", value or "", re.I)

    def handle_comment(self, data: str) -> None:
        raise AssertionError("a comment")

    def handle_decl(self, decl: str) -> None:
        raise AssertionError("a declaration")

    def handle_pi(self, data: str) -> None:
        raise AssertionError("a processing instruction")

    unknown_decl = handle_decl


def inspect(markup: str) -> None:
    """Raise unless the markup is inert and the sanitizer changes nothing."""
    parser = Inspector(convert_charrefs=True)
    parser.feed(markup)
    parser.close()
    assert CLEANER.clean(markup) == markup


@pytest.fixture(autouse=True)
def unspent_linkifiers() -> None:
    """Reset the time budget of linkifiers, which is per request: each test is one request."""
    NAMES.linkifiers._spent_s = 0.0


def html(text: str) -> str:
    return render(text, NAMES).html


class TestMarkdown:
    @pytest.mark.parametrize(
        ("text", "markup"),
        [
            ("hello", "<p>hello</p>"),
            ("hello & <b>", "<p>hello &amp; &lt;b&gt;</p>"),
            ("a\nb", "<p>a<br>\nb</p>"),
            (
                "**a** *b* ~~c~~ `d`",
                "<p><strong>a</strong> <em>b</em> <del>c</del> <code>d</code></p>",
            ),
            ("# x", "<h1>x</h1>"),
            ("* a\n* b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>"),
            ("3. a", '<ol start="3">\n<li>a</li>\n</ol>'),
            ("> a", "<blockquote>\n<p>a</p>\n</blockquote>"),
            ("```quote\na\n```", "<blockquote>\n<p>a</p>\n</blockquote>"),
            ("[a](https://b.example)", '<p><a href="https://b.example">a</a></p>'),
            ("![a](https://b.example/c.png)", '<p><a href="https://b.example/c.png">a</a></p>'),
            (
                "```spoiler **a**\nb\n```",
                '<div class="spoiler-block"><div class="spoiler-header">\n<p><strong>a</strong></p>'
                '\n</div><div class="spoiler-content" aria-hidden="true">\n<p>b</p>\n</div></div>',
            ),
            (
                "```\n<a>\n```",
                '<div class="codehilite"><pre><span></span><code>&lt;a&gt;\n</code></pre></div>',
            ),
            (
                "```py\nx\n```",
                '<div class="codehilite" data-code-language="Python"><pre><span></span><code>'
                '<span class="n">x</span>\n</code></pre></div>',
            ),
            (
                "```klingon\nx\n```",
                '<div class="codehilite" data-code-language="klingon"><pre><span></span><code>x\n'
                "</code></pre></div>",
            ),
            (
                "<time:2026-11-21T13:00:00+01:00>",
                '<p><time datetime="2026-11-21T12:00:00Z">2026-11-21T13:00:00+01:00</time></p>',
            ),
            (
                "<time:later>",
                '<p><span class="timestamp-error">Invalid time format: later</span></p>',
            ),
            (
                ":smile:",
                '<p><span aria-label="smile" class="emoji emoji-1f642" role="img" title="smile">'
                ":smile:</span></p>",
            ),
            (
                ":acme:",
                '<p><img alt=":acme:" class="emoji" src="/user_avatars/1/emoji/3.png" '
                'title="acme"></p>',
            ),
            (":nothing:", "<p>:nothing:</p>"),
        ],
    )
    def test_markdown_is_rendered(self, text: str, markup: str) -> None:
        assert html(text) == markup
        inspect(markup)

    def test_each_emoji_of_the_table_is_rendered(self) -> None:
        assert len(EMOJI) > 7_000
        for name, code in EMOJI.items():
            assert f"emoji-{code}" in html(f":{name}:"), name
            assert all(int(point, 16) for point in code.split("-")), name

    def test_deeply_nested_fences_are_code(self) -> None:
        text = "x"
        for depth in range(3, 40):
            text = f"{'`' * depth}spoiler\n{text}\n{'`' * depth}"
        markup = html(text)
        assert markup.count("spoiler-block") == MAX_DEPTH
        inspect(markup)


class TestMentions:
    @pytest.mark.parametrize(
        ("text", "markup", "users", "groups"),
        [
            ("@**Hamlet**", '<span class="user-mention" data-user-id="4">@Hamlet</span>', {4}, ()),
            ("@**hamlet**", '<span class="user-mention" data-user-id="4">@Hamlet</span>', {4}, ()),
            (
                "@**Hamlet|4**",
                '<span class="user-mention" data-user-id="4">@Hamlet</span>',
                {4},
                (),
            ),
            ("@**|4**", '<span class="user-mention" data-user-id="4">@Hamlet</span>', {4}, ()),
            (
                "@_**Hamlet**",
                '<span class="user-mention silent" data-user-id="4">Hamlet</span>',
                (),
                (),
            ),
            ("@**Othello|4**", "@<strong>Othello|4</strong>", (), ()),
            ("@**twin**", "@<strong>twin</strong>", (), ()),
            ("@**nobody**", "@<strong>nobody</strong>", (), ()),
            ("x@**Hamlet**", "x@<strong>Hamlet</strong>", (), ()),
            ("`@**Hamlet**`", "<code>@**Hamlet**</code>", (), ()),
            (
                "@*players*",
                '<span class="user-group-mention" data-user-group-id="9">@players</span>',
                (),
                {9},
            ),
            (
                "@_*players*",
                '<span class="user-group-mention silent" data-user-group-id="9">players</span>',
                (),
                (),
            ),
        ],
    )
    def test_people_are_mentioned(
        self, text: str, markup: str, users: set[int], groups: set[int]
    ) -> None:
        rendered = render(text, NAMES)
        assert rendered.html == f"<p>{markup}</p>"
        assert rendered.user_ids == set(users)
        assert rendered.group_ids == set(groups)

    @pytest.mark.parametrize("text", ["> @**Hamlet**", "```quote\n@**Hamlet**\n```"])
    def test_mention_in_a_quote_is_silent(self, text: str) -> None:
        rendered = render(text, NAMES)
        assert 'class="user-mention silent"' in rendered.html
        assert rendered.user_ids == set()

    @pytest.mark.parametrize("word", ["all", "everyone", "channel", "stream"])
    def test_channel_wildcards_are_mentions(self, word: str) -> None:
        rendered = render(f"@**{word}**", NAMES)
        assert rendered.mentions_channel
        assert not rendered.mentions_topic
        assert 'data-user-id="*"' in rendered.html

    def test_topic_wildcard_is_a_mention(self) -> None:
        rendered = render("@**topic**", NAMES)
        assert (rendered.mentions_channel, rendered.mentions_topic) == (False, True)

    def test_group_that_the_author_may_not_mention_is_reported(self) -> None:
        assert render("@*crew*", NAMES).refused_group == "crew"
        assert render("@_*crew*", NAMES).refused_group is None

    def test_name_with_special_characters_is_shown_as_text(self) -> None:
        assert "&lt;b&gt;Bold&lt;/b&gt;" in html("@**<b>Bold</b>**")


class TestLinks:
    @pytest.mark.parametrize(
        ("text", "address", "shown"),
        [
            ("https://a.example/b.", "https://a.example/b", "https://a.example/b"),
            ("(https://a.example/b)", "https://a.example/b", "https://a.example/b"),
            ("https://a.example/(b)", "https://a.example/(b)", "https://a.example/(b)"),
            ("www.a.example", "http://www.a.example", "www.a.example"),
            ("me@a.example", "mailto:me@a.example", "me@a.example"),
            ("see #123!", "https://tracker.example/123", "#123"),
            ("#**Denmark**", "/#narrow/channel/1-Denmark", "#Denmark"),
            (
                "#**denmark>a b.c**",
                "/#narrow/channel/1-Denmark/topic/a.20b.2Ec",
                "#Denmark &gt; a b.c",
            ),
            (
                "#**Denmark>a@17**",
                "/#narrow/channel/1-Denmark/topic/a/near/17",
                "#Denmark &gt; a @ 💬",
            ),
        ],
    )
    def test_links_are_found(self, text: str, address: str, shown: str) -> None:
        markup = html(text)
        assert f'href="{address}"' in markup
        assert f">{shown}</a>" in markup
        inspect(markup)

    def test_linkifier_does_not_match_inside_words_or_links(self) -> None:
        assert "tracker" not in html("a#123 #123b `#123`")
        assert html("[#123](https://a.example)").count("href") == 1

    def test_two_matches_may_share_the_character_between_them(self) -> None:
        assert html("#12 #13,#14").count("tracker.example") == 3

    def test_linkifier_cannot_create_a_script(self) -> None:
        assert "javascript" not in html("ev1il").lower().replace("ev1il", "")

    def test_catastrophic_pattern_is_cheap(self) -> None:
        names = Names(
            linkifiers=Linkifiers([Linkifier(r"(?P<a>(a+)+)\$", "https://a.example/{a}")])
        )
        render("a" * 28, names)  # compiles
        with cpu_at_most(0.010):
            render("a" * 28, names)

    def test_attributes_of_a_message_are_recorded(self) -> None:
        def has(text: str) -> tuple[bool, bool, bool]:
            rendered = render(text, NAMES)
            return rendered.has_link, rendered.has_image, rendered.has_attachment

        assert has("x") == (False, False, False)
        assert has("https://a.example") == (True, False, False)
        assert has("[x](https://a.example/b.png)") == (True, True, False)
        assert has("[x](/user_uploads/1/b.txt)") == (True, False, True)

    def test_links_in_topics_are_found(self) -> None:
        assert topic_links("fix #12", NAMES.linkifiers) == [
            {"text": "#12", "url": "https://tracker.example/12"}
        ]

    @pytest.mark.parametrize("template", ["javascript:alert({id})", "data:,{id}", "//x/{id}"])
    def test_links_in_topics_cannot_run_a_script(self, template: str) -> None:
        old = Linkifier("JS(?P<id>[0-9]+)", template)
        assert topic_links("JS1", Linkifiers([old])) == []
        assert render("JS1", Names(linkifiers=Linkifiers([old]))).html == "<p>JS1</p>"


class TestInjections:
    def test_vectors_are_many(self) -> None:
        assert len(set(vectors())) >= 200

    @pytest.mark.parametrize("text", vectors())
    def test_injection_is_inert(self, text: str) -> None:
        inspect(html(text))

    def test_injection_is_inert_in_a_diff(self) -> None:
        texts = vectors()
        for before, after in zip(texts, reversed(texts), strict=True):
            inspect(content_html_diff(html(before), html(after)))

    @pytest.mark.parametrize("text", vectors()[:60])
    def test_sanitizer_alone_makes_injections_inert(self, text: str) -> None:
        inspect(sanitise(text))


PIECES = [
    *("word", "Hamlet", "https://a.example/b?c=d", "www.x.example", "#123", "<b>", "</b>", "&amp;"),
    *(
        "**",
        "*",
        "_",
        "~~",
        "`",
        "```",
        "```py\n",
        "```spoiler x\n",
        "```quote\n",
        "> ",
        "\n",
        "\n\n",
    ),
    *("- ", "1. ", "# ", "| a | b |\n|---|---|\n", "@**Hamlet**", "@*players*", "#**Denmark>x**"),
    *(":smile:", ":acme:", "<time:2026-11-21>", "[x](", ")", "![", "]", "(", "<", ">", '"', "'"),
    *("<script>", "javascript:", "\\", "\t", "é", "漢字", "🎉", "\u202e", "    code", "|", "\x01"),
]


def document(seed: int) -> str:
    """Return random Markdown, the same for the same seed."""
    pick = random.Random(seed)
    return "".join(
        pick.choice(PIECES) + pick.choice(("", "", " ")) for _ in range(pick.randint(1, 60))
    )


class TestGeneratedDocuments:
    @pytest.mark.parametrize("seeds", [range(600), in_all(range(600, 4000))])
    def test_document_renders_and_diffs_safely(self, seeds: range) -> None:
        before = html("")
        for seed in seeds:
            after = html(document(seed))
            inspect(after)
            inspect(content_html_diff(before, after))
            before = after

    @pytest.mark.parametrize(
        "piece",
        ["[", "*a ", ">", "`a", "_a", "![", "[a](b", "~~a", "- ", "http://a ", "@**a", ":a", "&a",
         "|a", "a@", "\\", "<", "(", "#**a", "**a *b ", ")", "http://a/)", "](", "[]("],
    )  # fmt: skip
    def test_long_repetition_is_rendered_quickly(self, piece: str) -> None:
        for text in ((piece * 10_000)[:10_000], f"http://a/{piece * 10_000}"[:10_000]):
            with cpu_at_most(2.0):
                rendered = html(text)
            inspect(rendered)

    @pytest.mark.parametrize(
        "text",
        [
            f"|{'a|' * 600}\n|{'-|' * 600}\n" + "a\n" * 3000,
            "\n".join([f"|{'a|' * 60}\n|{'-|' * 60}\n" + "a\n" * 60] * 30),
            "\n".join([f"> |{'a|' * 60}\n> |{'-|' * 60}\n" + "> a\n" * 60] * 30),
            f"````quote\n```spoiler\n|{'a|' * 600}\n|{'-|' * 600}\n" + "a\n" * 3000,
        ],
        ids=["one wide", "many", "in quotes", "in a spoiler"],
    )
    def test_table_of_empty_cells_is_text(self, text: str) -> None:
        with cpu_at_most(0.5):
            markup = html(text[:10_000])
        assert len(markup) < 200_000
        assert "<td>" not in markup

    def test_cells_with_content_are_a_table(self) -> None:
        row = f"|{'a|' * 49}\n"
        text = row + f"|{'-|' * 49}\n" + row * 98
        assert html(text[:10_000]).count("<td>a</td>") > 4_500

    def test_oversized_output_is_text_without_mentions(self) -> None:
        rendered = render("@**Othello** " + ":smile:" * 3_000, NAMES)
        assert rendered.html.startswith("<p>@**Othello** :smile:")
        assert not rendered.user_ids

    @pytest.mark.parametrize("every", [4, in_all(1)])
    def test_every_highlighted_language_is_fast(self, every: int) -> None:
        """The daily run gives each language some of the characters, and every character to some
        language.
        """
        signs = ("'", '"', "(", "{", "/*", "a", "a ", "\n", "$", '"\\', "a=")
        bodies = [(sign * HIGHLIGHT_MAX)[: HIGHLIGHT_MAX - 1] for sign in signs]
        for number, language in enumerate(sorted(LANGUAGES)):
            with cpu_at_most(3.0):
                for body in bodies[number % every :: every]:
                    html(f"```{language}\n{body}\n```")

    def test_long_code_is_not_highlighted(self) -> None:
        assert 'class="n"' in html(f"```py\n{'a ' * 1000}\n```")
        assert 'class="n"' not in html(f"```py\n{'a ' * 1600}\n```")


class TestDiff:
    @pytest.mark.parametrize(
        ("before", "after", "marked"),
        [
            ("<p>a</p>", "<p>a</p>", "<p>a</p>"),
            (
                "<p>a b</p>",
                "<p>a c</p>",
                '<p>a <span class="highlight_text_deleted">b</span>'
                '<span class="highlight_text_inserted">c</span></p>',
            ),
            (
                "<p>a</p>",
                "<p>a <strong>b</strong></p>",
                '<p>a <strong><span class="highlight_text_inserted">b</span></strong></p>',
            ),
            (
                "<p>a <strong>b</strong></p>",
                "<p>a</p>",
                '<p>a<span class="highlight_text_deleted"> b </span></p>',
            ),
        ],
    )
    def test_changed_words_are_marked(self, before: str, after: str, marked: str) -> None:
        assert content_html_diff(before, after) == marked

    def test_long_messages_are_compared_quickly(self) -> None:
        before = html(" ".join(f"a{n}" for n in range(2500)))
        after = html(" ".join(f"b{n}" for n in range(2500)))
        with cpu_at_most(2.0):
            marked = content_html_diff(before, after)
        assert "a2499" in marked
        assert "b2499" in marked

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("a " * 745, "x " + "a b " * 372),
            ("a " * 5000, "x " + "a b " * 2500),
            ("a b " * 2500, "b a " * 2499 + "c"),
            ("".join(f"u{n} {'a ' * 28}" for n in range(160)),
             "".join(f"u{n} {'a b ' * 14}" for n in range(160))),
            (" ".join(f"w{n}" for n in range(1700)),
             " ".join(f"w{n}" for n in range(1700, 0, -1))),
        ],
    )  # fmt: skip
    def test_repeated_words_are_compared_quickly(self, before: str, after: str) -> None:
        with cpu_at_most(0.25):
            marked = content_html_diff(f"<p>{before}</p>", f"<p>{after}</p>")
        assert DELETED.sub("", marked).replace(INSERTED, "").replace("</span>", "") == (
            f"<p>{after}</p>"
        )

    def test_all_deleted_and_inserted_words_are_reported(self) -> None:
        generator = random.Random(7)
        for _ in range(200):
            before, after = (
                " ".join(generator.choices("abcdefgh", k=generator.randrange(40))) for _ in range(2)
            )
            marked = content_html_diff(before, after)
            new = DELETED.sub("", marked).replace(INSERTED, "").replace("</span>", "")
            assert new.split() == after.split()
            old = ADDED.sub(" ", marked).replace(GONE, "").replace("</span>", "")
            assert sorted(old.split()) == sorted(before.split())


def test_plain_text_contains_words_only() -> None:
    assert plain_text(html("**a** & `b`\n\n* c\n* d")).split() == ["a", "&", "b", "c", "d"]


class TestManyLinkifiers:
    HUNDRED = tuple(
        Linkifier(rf"{chr(97 + n % 26)}{n}-(?P<id>[0-9]+)", f"https://{n}.example/{{id}}")
        for n in range(100)
    )

    def test_links_are_in_the_order_of_the_text(self) -> None:
        found = find_links("see (b1-22), a0-7", Linkifiers(self.HUNDRED))
        assert [link.url for link in found] == ["https://1.example/22", "https://0.example/7"]

    def test_slow_patterns_have_a_time_limit_per_request(self) -> None:
        """Each search with a slow pattern takes longer than thousands of usual ones.

        RE2 cannot backtrack.
        """
        slow = Linkifiers(
            Linkifier(rf"(?:[a-q{n}]?){{150}}(?:[a-p]?){{150}}x", f"/{n}") for n in range(100)
        )
        text = "".join(chr(97 + n * n % 16) for n in range(5000)) + " a"
        spent_s = []
        for _ in range(3):
            began = time.thread_time()
            assert find_links(text, slow) == []
            spent_s.append(time.thread_time() - began)
        assert sum(spent_s) < 5 * MAX_SEARCH_S
        assert spent_s[2] < MAX_SEARCH_S / 5  # the time was spent
        after = Linkifiers([*slow, self.HUNDRED[0]])
        assert find_links("a0-7", after) != []  # another request has its own budget

    def test_no_pattern_is_tried_after_the_time_limit(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A table has thousands of runs of text."""
        looked = []

        class Watched(Linkifiers):
            def __iter__(self) -> Iterator[Linkifier]:
                for linkifier in super().__iter__():
                    looked.append(linkifier)
                    yield linkifier

        clock = count()  # each reading advances it by a second
        monkeypatch.setattr(links, "thread_time", lambda: float(next(clock)))
        watched = Watched(self.HUNDRED)
        find_links("b1-22", watched)
        before = len(looked)
        find_links("a0-7", watched)
        assert 0 < before == len(looked)

    def test_usual_patterns_all_work_at_first_use(self) -> None:
        """The maximum number of an organization, none of them compiled before."""
        fresh = Linkifiers(
            Linkifier(rf"{chr(97 + n % 26)}{n}=(?P<id>[0-9]+)", f"https://{n}.example/{{id}}")
            for n in range(250)
        )
        (found,) = find_links("see p249=7", fresh)
        assert found.url == "https://249.example/7"

    def test_time_spent_on_matches_counts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        hundred = Linkifiers(self.HUNDRED)
        now = 0.0
        monkeypatch.setattr(links, "thread_time", lambda: now)
        matched = 0
        for _, matches in hundred.matches_in("a0-1 b1-1 c2-1 a0-2"):
            matched += len(list(matches))
            now += MAX_SEARCH_S / 2
        assert matched == 3  # two of the first, one of the second
        assert find_links("d3-1", hundred) == []

    def test_twenty_patterns_match_in_one_text(self) -> None:
        text = " ".join(f"{chr(97 + n % 26)}{n}-1" for n in range(100))
        for linkifier in self.HUNDRED[:20]:
            find_links(text, Linkifiers([linkifier]))  # compile it, which counts once
        found = find_links(text, Linkifiers(self.HUNDRED))
        assert [link.url for link in found] == [f"https://{n}.example/1" for n in range(20)]

    def test_invalid_pattern_does_not_affect_others(self) -> None:
        known = Linkifiers([Linkifier("(", "https://a.example"), self.HUNDRED[0]])
        (found,) = find_links("a0-7", known)
        assert found.url == "https://0.example/7"

    def test_number_of_links_in_one_text_is_limited(self) -> None:
        text = " ".join(f"http://a.example/{n} a0-{n}" for n in range(1000))
        assert len(find_links(text, Linkifiers(self.HUNDRED))) == MAX_LINKS

    def test_first_of_two_overlapping_matches_is_used(self) -> None:
        both = Linkifiers(
            [Linkifier("b-(?P<n>[0-9])", "/b/{n}"), Linkifier("a b-(?P<n>[0-9])", "/ab/{n}")]
        )
        assert [link.url for link in find_links("a b-1, a b-2 a", both)] == ["/b/1", "/b/2"]
