"""The folders that servers and workers write."""

import click

from specd._db.folders import find_problem
from specd._settings import Settings, variable

UNRESTORED = "The restore of this installation is not finished; run `specd restore` again"


def require_folders(settings: Settings, *, serves: bool) -> None:
    """Raise ClickException unless a file can be written into each folder, and no restore is
    unfinished. Only a process that `serves` writes the counters of servers.
    """
    require_restored(settings)
    for name, folder in settings.find_folders().items():
        if name == "metrics_dir" and not serves:
            continue
        if problem := find_problem(folder):
            raise click.ClickException(
                f"{problem}; check its owner, its mount and {variable(name)}"
                " (docs/deploy/README.md)."
            )


def require_restored(settings: Settings) -> None:
    """Raise ClickException for an installation whose restore is unfinished."""
    if settings.restore_marker.exists():
        raise click.ClickException(f"{UNRESTORED}.")
