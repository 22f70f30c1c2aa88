"""`python -m specs DIRECTORY` writes each published document to the directory."""

import sys
from pathlib import Path

import specs

directory = Path(sys.argv[1])
directory.mkdir(parents=True, exist_ok=True)
for source in specs.HERE.glob("*.yaml"):
    (directory / source.name).write_bytes(specs.text(source.stem))
