"""A document that says things once, made to say them in each place.

Many tools take neither YAML's aliases nor references to examples, so a document that has a block
`x-shared` is published without them:

- `KEY: *NAME` is the block that `KEY: &NAME` marks, and `<<: *NAME` adds the block's entries to a
  mapping (YAML's anchors and merge keys). Entries right behind `<<` take the place of merged ones.
- `KEY: {$ref: "#/components/examples/NAME"}` is that example.
- `x-shared` holds the blocks that have no place of their own, and is not published.

The layout is the one of every document here: a block begins on the line behind its mark and is
indented by two more spaces; an alias or a reference is the whole value of its key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from textwrap import dedent, indent

_SHARED = re.compile(r"^(?:#.*\n)*x-shared:\n(?:(?: .*)?\n)*", re.MULTILINE)
_MARK = re.compile(r": &[\w-]+$", re.MULTILINE)
_BLOCK = re.compile(r"^( *)\S.*: &([\w-]+)\n(?=((?:\1 .*\n)+))", re.MULTILINE)
_ALIAS = re.compile(r"^( *)(-|[^\s<].*:) \*([\w-]+)\n", re.MULTILINE)
_MERGE = re.compile(r"^( *)<<: \*([\w-]+)\n((?:\1[^<\n].*\n)*)", re.MULTILINE)
_ENTRY = re.compile(r"^([^\s:]+):.*\n(?: .*\n)*", re.MULTILINE)
_EXAMPLES = re.compile(r"^  examples:\n((?:    .*\n|\n)*)", re.MULTILINE)
_EXAMPLE = re.compile(r"^    (\w+):(.*\n(?:      .*\n)*)", re.MULTILINE)
_REFERENCE = r'(\w+): \{\$ref: "#/components/examples/(\w+)"\}'
_ONE_LINE = re.compile(rf"^( *)examples: \{{{_REFERENCE}\}}\n", re.MULTILINE)
_LINE = re.compile(rf"^( *){_REFERENCE}\n", re.MULTILINE)


def in_place(text: str) -> str:
    """Return the document as it is published.

    Raises `KeyError` for a block or an example that the document lacks.
    """
    if not _SHARED.search(text):
        return text
    blocks = {found[2]: _MARK.sub(":", dedent(found[3])) for found in _BLOCK.finditer(text)}
    text = _MARK.sub(":", _SHARED.sub("", text))
    while _MERGE.search(text) or _ALIAS.search(text):
        text = _MERGE.sub(lambda found: _merged(found, blocks), text)
        text = _ALIAS.sub(lambda found: _named(found, blocks), text)
    return _with_examples(text)


def _named(alias: re.Match[str], blocks: Mapping[str, str]) -> str:
    block = indent(blocks[alias[3]], f"{alias[1]}  ")
    if alias[2] == "-":
        return f"{alias[1]}- {block.lstrip()}"
    return f"{alias[1]}{alias[2]}\n{block}"


def _merged(merge: re.Match[str], blocks: Mapping[str, str]) -> str:
    entries = _entries(blocks[merge[2]]) | _entries(dedent(merge[3]))
    return indent("".join(entries.values()), merge[1])


def _entries(block: str) -> dict[str, str]:
    return {found[1]: found[0] for found in _ENTRY.finditer(block)}


def _with_examples(text: str) -> str:
    examples = {
        found[1]: found[2] for kind in _EXAMPLES.findall(text) for found in _EXAMPLE.finditer(kind)
    }
    text = _ONE_LINE.sub(r'\1examples:\n\1  \2: {$ref: "#/components/examples/\3"}\n', text)
    text = _EXAMPLES.sub("", text)
    return _LINE.sub(lambda found: _example(found, examples[found[3]]), text)


def _example(reference: re.Match[str], example: str) -> str:
    lines = re.sub("^ {4}", reference[1], example, flags=re.MULTILINE)
    return f"{reference[1]}{reference[2]}:{lines}"
