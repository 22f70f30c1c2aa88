"""`specd chat export`: creates an archive of an organization's data immediately."""

import threading
from datetime import timedelta
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from adapters.file_store.wiring import build_file_store
from models.chat.exports.scope import EXPORT_TYPES, FULL_WITHOUT_CONSENT, PUBLIC
from models.chat.organization import realms
from settings import Settings
from specd.commands import answer, json_option, open_database
from specd.db import Clock
from workers.exports import Exports
from workers.zulip_exports import write_zulip


@click.command("export")
@click.option("--realm", required=True, help="Id or host of the organization.")
@click.option(
    "--type",
    "export_type",
    type=click.Choice(EXPORT_TYPES),
    default=PUBLIC,
    show_default=True,
    help="Private data to include.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["specd", "zulip"]),
    default="specd",
    show_default=True,
    help="Format of the archive. Zulip's needs --type full_without_consent.",
)
@click.option(
    "--migration-status",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File of this name from the Zulip server that will read the export.",
)
@json_option
def export(
    realm: str, export_type: str, form: str, migration_status: Path | None, as_json: bool
) -> None:
    """Write an archive of an organization's data.

    The archive is a .zip file with JSON lines and a manifest. With --format zulip, a tarball for
    Zulip's `manage.py import` is written next to it. Export limits do not apply to the operator.
    Servers and workers can keep running.
    """
    if form == "zulip" and export_type != FULL_WITHOUT_CONSENT:
        raise click.UsageError(f"--format zulip needs --type {FULL_WITHOUT_CONSENT}.")
    if form != "zulip" and migration_status is not None:
        raise click.UsageError("--migration-status needs --format zulip.")
    settings = Settings.from_env()
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=as_json or not console.is_terminal,
        transient=True,
    )
    task = bar.add_task("Rows", total=None)
    with open_database("chat", settings) as database, bar:
        realm_id = database.run(lambda session: realms.access_realm_named(session, realm).id)
        maker = Exports(
            database,
            Clock(),
            settings.chat_export_dir,
            build_file_store(settings),
            public_url=settings.public_url,
            retention=timedelta(seconds=settings.chat_export_retention_s),
            stopping=threading.Event(),
            listener=lambda done, total: bar.update(task, completed=done, total=total),
        )
        try:
            run, written = maker.export_now(realm_id, export_type)
        except OSError as problem:
            raise click.ClickException(f"The export failed: {type(problem).__name__}.") from None
    if written is None:
        raise click.ClickException("The export was taken over by a worker.")
    path = settings.chat_export_dir / run.archive
    facts = {
        "export_id": run.id,
        "archive": str(path),
        "rows": written.rows,
        "bytes": written.bytes,
        "sha256": written.sha256,
    }
    text = (
        f"{written.rows} rows of organization {realm_id} are in\n{path}\n"
        f"({written.bytes} bytes, SHA-256 {written.sha256})"
    )
    if form == "zulip":
        tarball = path.with_suffix(".tar.gz")
        status = None if migration_status is None else migration_status.read_bytes()
        facts["messages"] = write_zulip(path, tarball, migration_status=status)
        facts["tarball"] = str(tarball)
        text += f"\nand {facts['messages']} messages in Zulip's form in\n{tarball}"
    answer(facts, as_json=as_json, text=text)
