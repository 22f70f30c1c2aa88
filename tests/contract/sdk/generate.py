"""Generate SDKs with the generators in `generators.yaml`, without edits.

python -m tests.contract.sdk.generate DOCUMENT...
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.contract.sdk.stage import GENERATED
from tests.live.running_server import ROOT
from tests.support.yaml_files import read_yaml

GENERATORS: dict[str, dict[str, Any]] = read_yaml(Path(__file__).with_name("generators.yaml"))
TOOLS = ROOT / "build" / "tools"
_WARNING = re.compile(r"WARN|ERROR|[Ww]arning")


def row_of(sdk: str, document: str) -> dict[str, Any]:
    """Return the row of a generator, with the values for that document."""
    different: dict[str, Any] = GENERATORS[sdk].get(document, {})
    return GENERATORS[sdk] | different


def generate(document: str, sdk: str) -> str:
    """Generate an SDK at `build/sdk/<document>/<sdk>`. Return the generator's warnings.

    Raises RuntimeError with the output of the generator if it fails.
    """
    directory = GENERATED / document
    out = directory / sdk
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    names = {
        "document": str(ROOT / "build" / "documents" / f"{document}.yaml"),
        "out": str(out),
        "name": document.replace("-", "_"),
    }
    row = row_of(sdk, document)
    if "config" in row:
        (directory / f"{sdk}.yaml").write_text(row["config"].format(**names))
        out.rmdir()  # the generator creates it
    paths = (TOOLS / "sdk-venv" / "bin", TOOLS / "typescript" / "node_modules" / ".bin")
    done = subprocess.run(
        shlex.split(row["command"].format(**names)),
        cwd=directory,  # outside the directory of redocly.yaml, which openapi-typescript would read
        env={**os.environ, "PATH": os.pathsep.join([*map(str, paths), os.environ["PATH"]])},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    (directory / f"{sdk}.log").write_text(done.stdout)
    if done.returncode != 0:
        raise RuntimeError(f"{sdk} of {document}: {done.stdout}")
    if "file" in row:
        (out / row["file"]["path"]).write_text(row["file"]["text"])
    return "\n".join(line for line in done.stdout.splitlines() if _WARNING.search(line))


def main(documents: list[str]) -> None:
    for document in documents:
        for sdk in GENERATORS:
            if warnings := generate(document, sdk):
                print(warnings, file=sys.stderr)
        print(f"build/sdk/{document}: {', '.join(GENERATORS)}")


if __name__ == "__main__":
    main(sys.argv[1:])
