"""`specd chat audit`: shows an organization's audit log."""

import click

from models.chat.common import audit as audit_log
from models.chat.organization import realms
from settings import Settings
from specd.commands import answer, json_option, open_database


@click.command()
@click.option("--realm", required=True, help="Id or host of the organization.")
@click.option("--kind", help="Show only changes of this kind, such as user_role_changed.")
@click.option("--user", "user_id", type=int, help="Show only changes by or to this user.")
@click.option(
    "--limit",
    type=click.IntRange(1, 10_000),
    default=100,
    show_default=True,
    help="Maximum number of entries.",
)
@json_option
def audit(realm: str, kind: str | None, user_id: int | None, limit: int, as_json: bool) -> None:
    """Show the latest changes of an organization.

    The newest change is last.
    """
    with open_database("chat", Settings.from_env()) as database:
        realm_id = database.run(lambda session: realms.access_realm_named(session, realm).id)
        with database.reading() as reader:
            entries = audit_log.find_entries(
                reader, realm_id, kind=kind, user_id=user_id, limit=limit
            )
    lines = [
        f"{entry['at']}  {entry['kind']}  "
        + " ".join(f"{name}={entry[name]}" for name in audit_log.SHOWN if entry[name] is not None)
        for entry in entries
    ]
    lines.append(f"{len(entries)} entries.")
    answer({"entries": entries}, as_json=as_json, text="\n".join(lines))
