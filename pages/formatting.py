"""The formatting samples for messages, for the help dialog of `/chat`.

The user documentation, docs/markdown.md, has the same samples.
"""

FORMATS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("italics, bold, both", ("*italics*", "**bold**", "***both***")),
    ("strikethrough", ("~~strikethrough~~",)),
    ("code in a line", ("`code`",)),
    ("a block of code", ("```python",)),
    ("a quote", ("> quote", "```quote")),
    ("a spoiler", ("```spoiler Title",)),
    ("a list", ("* item", "1. item")),
    ("a heading", ("# Heading",)),
    ("a table", ("| a | b |", "|:--|--:|")),
    ("a link", ("https://example.com", "[text](example.com)")),
    ("a formula", ("$$x^2$$", "```math")),
    ("a time in each reader's time zone", ("<time:August 6 2024, 5:00 PM BST>",)),
    ("an emoji", (":smile:",)),
    ("a mention", ("@**Name**", "@_**Name**", "@*group*")),
    ("a mention of everybody", ("@**all**", "@**topic**")),
    ("a link to a channel or topic", ("#**channel**", "#**channel>topic**")),
)
"""The result, and the text to type. Blocks end with a line of three backticks."""
