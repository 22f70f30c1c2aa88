"""The worker that sends mail. It needs no leader: several share the work by leases.

No transaction is open during the exchange with a mail server.
"""

from datetime import timedelta

import structlog

from adapters.mail.mailer import Mail, Mailer, MailNotSent, MailRefused
from models.chat.common import outbox
from models.chat.common.outbox import LeasedMail
from models.chat.common.vault import Vault
from specd.db import Clock, Database


class OutboxWorker:
    """Sends the mail of one chat database, one per step."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        mailer: Mailer,
        vault: Vault,
        *,
        sender: str,
    ) -> None:
        self._database = database
        self._clock = clock
        self._mailer = mailer
        self._vault = vault
        self._sender = sender
        self._lease = timedelta(seconds=mailer.lease_s + 5)
        self._unnoted: list[int] = []
        """Mails that were sent but not recorded, because the database was unavailable."""
        self._log = structlog.get_logger("outbox")

    def try_send_one(self) -> bool:
        """Send the mail that has been due longest and record the outcome. Return whether one was
        due.
        """
        while self._unnoted:
            self._note_sent(self._unnoted[-1])
            self._unnoted.pop()
        now = self._clock.now()
        was_due, taken = outbox.QUEUE.try_run(
            self._database,
            lambda session: outbox.take_due(session, self._vault, lease=self._lease, now=now),
            now=now,
        ) or (False, None)
        if taken is not None:
            self._send(taken)
        return was_due

    def _send(self, taken: LeasedMail) -> None:
        mail = Mail(taken.key, self._sender, taken.to, taken.subject, taken.text, taken.created_at)
        try:
            self._mailer.send(mail)
        except MailNotSent as problem:
            self._note_failure(taken, problem)
            return
        self._unnoted.append(taken.id)
        self._note_sent(taken.id)
        self._unnoted.remove(taken.id)
        self._log.info("mail_sent", mail_id=taken.id, attempt=taken.attempts)

    def _note_sent(self, mail_id: int) -> None:
        now = self._clock.now()
        self._database.run(lambda session: outbox.mark_sent(session, mail_id, now=now))

    def _note_failure(self, taken: LeasedMail, problem: MailNotSent) -> None:
        now, reason = self._clock.now(), str(problem)
        if isinstance(problem, MailRefused):
            self._database.run(lambda session: outbox.mark_dead(session, taken, reason, now=now))
            is_dead = True
        else:
            is_dead = self._database.run(
                lambda session: outbox.note_failure(session, taken, reason, now=now)
            )
        event = "mail_dead" if is_dead else "mail_not_sent"
        self._log.warning(event, mail_id=taken.id, attempt=taken.attempts, reason=reason)
