"""`specd chat check-archive`: checks an untrusted archive of an organization."""

from pathlib import Path

import click

from adapters.archive_reader import ArchiveReader, ArchiveRefused
from specd.commands import answer, json_option


@click.command("check-archive")
@click.argument("archive", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@json_option
def check_archive(archive: Path, as_json: bool) -> None:
    """Compare an archive with its manifest.

    Compares names, sizes, SHA-256 digests and lines of all files, and reports the first error with
    its file and line. Needs no database.
    """
    try:
        with ArchiveReader(archive) as reader:
            rows, size = reader.check()
    except ArchiveRefused as refusal:
        raise click.ClickException(f"The archive is damaged: {refusal}.") from None
    answer(
        {"rows": rows, "files": len(reader.files), "uploads": len(reader.uploads), "bytes": size},
        as_json=as_json,
        text=f"{rows} rows in {len(reader.files)} files and {len(reader.uploads)} uploads match "
        "the manifest.",
    )
