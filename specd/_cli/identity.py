"""Checks the user and the settings of a command, so that the service can use its results."""

import os
import pwd
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from specd._settings import PREFIX, variable

SERVICE_SETTINGS = Path("/etc/specd.env")
WITHOUT_DATA = frozenset({"check", "config", "mock", "new", "routes", "types"})
"""Commands that neither read nor write the data of an installation."""
_HELP = frozenset({"-h", "--help", "--version"})


def require_identity(
    words: Sequence[str], env: Mapping[str, str], *, user: int, service: Path = SERVICE_SETTINGS
) -> None:
    """Raise ClickException if root uses the data directory of another user, who could not read the
    files that root creates, or if a command has no settings on a machine whose service has
    settings.
    """
    names = [word for word in words if not word.startswith("-")]
    if not names or names[0] in WITHOUT_DATA or _HELP & set(words):
        return
    if service.exists() and not any(name.startswith(PREFIX) for name in env):
        raise click.ClickException(
            f"The service of this machine has its settings in {service}, but this command has none,"
            " so it would use other databases. Run /usr/local/bin/specd instead"
            " (docs/deploy/README.md)."
        )
    data_dir = Path(env.get(variable("data_dir"), "").strip() or "var")
    if user == 0 and data_dir.is_dir() and (owner := data_dir.stat().st_uid) != 0:
        raise click.ClickException(
            f"{data_dir} belongs to {_name(owner)}, who cannot read files that root creates. Run"
            " the command as that user, with /usr/local/bin/specd (docs/deploy/README.md)."
        )


def _name(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"the user {user}"


def require_own_identity(words: Sequence[str]) -> None:
    """Call `require_identity` for this process."""
    require_identity(words, os.environ, user=os.geteuid())
