"""`specd chat audit`: who changed what in an organization, by which key and from where."""

import click

from cli.databases import open_database
from cli.output import answer, json_option
from models.chat.ground import audit as audit_log
from models.chat.organization import realms
from settings import Settings


@click.command()
@click.option("--realm", required=True, help="Organization: its id or its host.")
@click.option("--kind", help="Only changes of this kind, such as user_role_changed.")
@click.option("--user", "user_id", type=int, help="Only what this user did, or was done to them.")
@click.option(
    "--limit", type=click.IntRange(1, 10_000), default=100, show_default=True, help="At most."
)
@json_option
def audit(realm: str, kind: str | None, user_id: int | None, limit: int, as_json: bool) -> None:
    """Show the newest changes of an organization, the newest last."""
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
