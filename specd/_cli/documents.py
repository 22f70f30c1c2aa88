"""Documents in files that a command is given."""

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
    """Return documents, each named like its file. No cache is written beside what is not ours.

    Raise `Mistakes`.
    """
    found = []
    for path in files:
        loaded = read(path, load)
        found.append(Document(path.stem, loaded.content, loaded.text, path))
    return found


@contextmanager
def mistakes_shown() -> Iterator[None]:
    """End the command with status 1 and what is wrong with a document, a line for each mistake."""
    try:
        yield
    except DocumentError as error:
        click.echo(str(error), err=True)
        raise SystemExit(1) from None
