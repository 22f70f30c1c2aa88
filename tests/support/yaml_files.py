"""YAML files of the repository, read by libyaml's loader, which is ten times as fast as
PyYAML's.
"""

from pathlib import Path
from typing import Any

import yaml

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(path: Path) -> Any:
    """Return the content of the file."""
    return yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER)
