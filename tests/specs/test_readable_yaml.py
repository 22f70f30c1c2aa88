"""The documents are YAML that every reader reads alike: users give them to many tools."""

import pytest
import yaml

import specs


@pytest.mark.parametrize("name", ["payment", "chat"])
def test_the_strict_reader_reads_the_same(name: str) -> None:
    """libyaml, which the server uses, takes plain scalars that others refuse."""
    assert yaml.load(specs.text(name), Loader=yaml.SafeLoader) == yaml.load(
        specs.text(name), Loader=yaml.CSafeLoader
    )
