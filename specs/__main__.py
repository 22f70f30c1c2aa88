"""`python -m specs DIRECTORY`: write each document there as it is published."""

import sys
from importlib import resources
from pathlib import Path

import specs

directory = Path(sys.argv[1])
directory.mkdir(parents=True, exist_ok=True)
for source in resources.files(specs).iterdir():
    if source.name.endswith(".yaml"):
        (directory / source.name).write_bytes(specs.text(source.name.removesuffix(".yaml")))
