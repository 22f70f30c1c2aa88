"""The folders that servers and workers write."""

from pathlib import Path
from urllib.parse import urlsplit

import click

from models.folders import find_problem
from settings import Settings, variable

RESTORING = "restoring"
"""File of the data directory while `specd restore` fills the installation."""
UNRESTORED = "The restore of this installation is not finished; run `specd restore` again"


def find_folders(settings: Settings) -> dict[str, Path]:
    """Return the folders that servers and workers write, by the setting that names each."""
    folders = {
        "data_dir": settings.data_dir,
        "metrics_dir": settings.metrics_dir,
        "chat_export_dir": settings.chat_export_dir,
        # Files of requests are kept here also on their way to a bucket.
        "chat_upload_dir": settings.chat_upload_dir,
    }
    mail = urlsplit(settings.mail_url)
    if mail.scheme == "file":
        folders["mail_url"] = Path(f"{mail.netloc}{mail.path}")
    return folders


def require_folders(settings: Settings, *, serves: bool) -> None:
    """Raise ClickException unless a file can be written into each folder, and no restore is
    unfinished. Only a process that `serves` writes the counters of servers.
    """
    require_restored(settings)
    for name, folder in find_folders(settings).items():
        if name == "metrics_dir" and not serves:
            continue
        if problem := find_problem(folder):
            raise click.ClickException(
                f"{problem}; check its owner, its mount and {variable(name)}"
                " (docs/deploy/README.md)."
            )


def require_restored(settings: Settings) -> None:
    """Raise ClickException for an installation whose restore is unfinished."""
    if (settings.data_dir / RESTORING).exists():
        raise click.ClickException(f"{UNRESTORED}.")
