"""The documents are YAML that every reader reads alike: users give them to many tools."""

import pytest
import yaml

import specs
from wsgi import project


@pytest.mark.parametrize("name", project.documents)
def test_the_strict_reader_reads_the_same(name: str) -> None:
    """libyaml, which the server uses, takes plain scalars that others refuse."""
    assert yaml.load(specs.text(name), Loader=yaml.SafeLoader) == yaml.load(
        specs.text(name), Loader=yaml.CSafeLoader
    )


@pytest.mark.parametrize("name", project.documents)
def test_there_are_no_aliases(name: str) -> None:
    """Java's reader, which most generators use, stops at fifty of them; `$ref` says it as well."""
    tokens = yaml.scan(specs.text(name), Loader=yaml.CSafeLoader)
    assert not any(isinstance(token, yaml.AnchorToken | yaml.AliasToken) for token in tokens)
