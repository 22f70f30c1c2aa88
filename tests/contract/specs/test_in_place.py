"""What a document says once is published in each place."""

import re
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any

import orjson
import pytest
import yaml

import specs
from services import DOCUMENTS
from specs.in_place import in_place

SHORT = """
# About the blocks.
x-shared:
  errors: &errors
    "400": {$ref: "#/a"}
    "404": {$ref: "#/b"}

  hamlet: &hamlet
    {user_id: 4, full_name: Hamlet,
      role: 400}

paths:
  /a:
    form: &form
      examples: {one: {$ref: "#/components/examples/One"}}
      errors:
        "200": {}
        <<: *errors
        "404":
          description: Ours.
        "500": {}
    twin: *form
    errors: *errors
  /b:
    - *hamlet
    - {user: ours}
  /c:
    examples:
      many: {$ref: "#/components/examples/Many"}
      ours: {value: 3}
components:
  examples:
    # About one.
    One: {value: 1}
    Many:
      summary: Several
      value: [1,
        2]

  schemas: {}
"""
LONG = """
paths:
  /a:
    form:
      examples:
        one: {value: 1}
      errors:
        "200": {}
        "400": {$ref: "#/a"}
        "404":
          description: Ours.
        "500": {}
    twin:
      examples:
        one: {value: 1}
      errors:
        "200": {}
        "400": {$ref: "#/a"}
        "404":
          description: Ours.
        "500": {}
    errors:
      "400": {$ref: "#/a"}
      "404": {$ref: "#/b"}
  /b:
    - {user_id: 4, full_name: Hamlet,
        role: 400}
    - {user: ours}
  /c:
    examples:
      many:
        summary: Several
        value: [1,
          2]
      ours: {value: 3}
components:
  schemas: {}
"""


def written(name: str) -> str:
    return resources.files(specs).joinpath(f"{name}.yaml").read_text(encoding="utf-8")


def test_blocks_and_examples_stand_in_each_place() -> None:
    assert in_place(SHORT) == LONG


def test_a_document_without_shared_blocks_is_published_as_it_is() -> None:
    assert in_place(LONG) is LONG


@pytest.mark.parametrize("known", ["- *hamlet", "<<: *errors", "twin: *form", "examples/Many"])
def test_what_the_document_lacks_is_an_error(known: str) -> None:
    assert known in SHORT
    with pytest.raises(KeyError, match="yorick"):
        in_place(SHORT.replace(known, re.sub(r"\w+$", "yorick", known)))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_it_means_what_yaml_and_references_mean(name: str) -> None:
    """YAML's own reader knows anchors and merge keys; the place of a key in a mapping aside."""
    meant = yaml.load(in_place(written(name)), Loader=yaml.SafeLoader)
    document = yaml.load(written(name), Loader=yaml.SafeLoader)
    if "x-shared" in document:
        del document["x-shared"]
        document = with_examples(document, document["components"].pop("examples"))
    assert meant == document


def with_examples(node: Any, examples: Mapping[str, Any]) -> Any:
    if isinstance(node, dict):
        reference = str(node.get("$ref"))
        if reference.startswith("#/components/examples/"):
            return examples[reference.rpartition("/")[2]]
        return {key: with_examples(value, examples) for key, value in node.items()}
    if isinstance(node, list):
        return [with_examples(item, examples) for item in node]
    return node


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_key_stands_twice(name: str) -> None:
    """Some readers refuse that, also two `<<` in one mapping; PyYAML takes the last."""
    waiting = [yaml.compose(written(name), Loader=yaml.CSafeLoader)]
    twice = []
    while waiting:
        node = waiting.pop()
        if isinstance(node, yaml.MappingNode):
            keys = [key.value for key, _ in node.value]
            twice += [key for key in set(keys) if keys.count(key) > 1]
            waiting += [value for _, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value
    assert twice == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_example_stands_twice(name: str) -> None:
    """Several places that show the same refer to a component, and none is left over."""
    document = yaml.load(written(name), Loader=yaml.CSafeLoader)
    components = document["components"].pop("examples")
    whole = [*components.values(), *inline(document, set())]
    texts = [orjson.dumps(example) for example in whole]
    assert len(texts) > 20
    assert [text for text in set(texts) if texts.count(text) > 1] == []
    assert [key for key in components if written(name).count(f'/examples/{key}"') == 0] == []


def inline(node: Any, seen: set[int]) -> Iterator[Any]:
    """The examples that stand where they are shown, those of a single word or number aside; what
    an alias stands for counts once.
    """
    if id(node) in seen or not isinstance(node, dict | list):
        return
    seen.add(id(node))
    if isinstance(node, list):
        for item in node:
            yield from inline(item, seen)
        return
    for key, value in node.items():
        if key == "examples" and isinstance(value, dict):
            yield from (one for one in value.values() if isinstance(one.get("value"), dict | list))
        else:
            yield from inline(value, seen)
