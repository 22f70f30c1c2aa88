"""Documents in files that are arguments of a command."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from specd._engine.document.checking import read
from specd._engine.errors import DocumentError
from specd._engine.openapi.loading import load
from specd._engine.openapi.union import Document

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


def read_documents(files: Sequence[Path]) -> list[Document]:
    """Return documents, each named after its file. Do not write a cache next to files that do not
    belong to the project.

    Raise `Mistakes`.
    """
    found = []
    for path in files:
        loaded = read(path, load)
        found.append(Document(path.stem, loaded.content, loaded.text, path))
    return found


@contextmanager
def mistakes_shown() -> Iterator[None]:
    """If a document has mistakes, print a line for each and end the command with status 1."""
    try:
        yield
    except DocumentError as error:
        click.echo(str(error), err=True)
        raise SystemExit(1) from None
