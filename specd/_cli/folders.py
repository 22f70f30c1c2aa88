"""The folders that servers and workers write."""

import click

from specd._db.folders import find_problem
from specd._settings import Settings, variable

UNRESTORED = "The restore of this installation is not finished; run `specd restore` again"


def require_folders(settings: Settings, *, serves: bool) -> None:
    """Raise ClickException unless all folders are writable and no restore is unfinished. The folder
    of metrics is checked only if the process `serves`.
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
    """Raise ClickException if a restore is unfinished."""
    if settings.restore_marker.exists():
        raise click.ClickException(f"{UNRESTORED}.")
