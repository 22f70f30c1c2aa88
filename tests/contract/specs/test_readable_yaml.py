"""The documents are YAML that all parsers read identically. Users pass them to many tools."""

import pytest
import yaml

import specs
from wsgi import project


@pytest.mark.parametrize("name", project.documents)
def test_strict_parser_reads_the_same(name: str) -> None:
    """libyaml, which the server uses, accepts plain scalars that others reject."""
    assert yaml.load(specs.text(name), Loader=yaml.SafeLoader) == yaml.load(
        specs.text(name), Loader=yaml.CSafeLoader
    )


@pytest.mark.parametrize("name", project.documents)
def test_documents_have_no_aliases(name: str) -> None:
    """Java's parser, which most generators use, allows at most fifty of them, and `$ref` has the
    same effect.
    """
    tokens = yaml.scan(specs.text(name), Loader=yaml.CSafeLoader)
    assert not any(isinstance(token, yaml.AnchorToken | yaml.AliasToken) for token in tokens)
