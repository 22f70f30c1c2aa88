"""`specd chat dead-mail`: lists mail that failed permanently, with the reasons."""

import click

from cli.databases import open_database
from cli.output import answer, json_option
from models.chat.ground import outbox
from models.clock import SystemClock
from settings import Settings


@click.command("dead-mail")
@click.option("--retry", is_flag=True, help="Queue all failed mail again, with all its attempts.")
@json_option
def dead_mail(retry: bool, as_json: bool) -> None:
    """Show mail that failed permanently, without its text, which may contain secrets."""
    with open_database("chat", Settings.from_env()) as database:
        with database.reading() as reader:
            dead = outbox.find_dead(reader)
        now = SystemClock().now()
        if retry and dead:
            database.run(lambda session: outbox.revive_dead(session, now=now))
    lines = [
        f"{row.id}  {row.created_at:%Y-%m-%d %H:%M}  {row.recipient}  {row.subject!r}: "
        f"{row.failure} ({row.attempts} attempts)"
        for row in dead
    ]
    lines.append(
        f"{len(dead)} mails queued again." if retry else f"{len(dead)} mails failed permanently."
    )
    shown = [
        {
            "id": row.id,
            "realm_id": row.realm_id,
            "to": row.recipient,
            "subject": row.subject,
            "reason": row.failure,
            "attempts": row.attempts,
            "created_at": row.created_at.isoformat(),
        }
        for row in dead
    ]
    answer({"dead": shown, "retried": retry}, as_json=as_json, text="\n".join(lines))
