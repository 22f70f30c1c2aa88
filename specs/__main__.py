"""`python -m specs DIRECTORY`: write each document there as it is published."""

import sys
from pathlib import Path

import specs

directory = Path(sys.argv[1])
directory.mkdir(parents=True, exist_ok=True)
for source in specs.HERE.glob("*.yaml"):
    (directory / source.name).write_bytes(specs.text(source.stem))
