"""Mail is sent once, later or never, with a reason, and never inside a transaction."""

import multiprocessing
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from adapters.mail.mailer import Mail, MailNotSent, MailRefused
from adapters.mail.smtp import SmtpMailer, SmtpServer
from models.chat.common import outbox
from models.chat.common.outbox import ATTEMPTS_MAX, OUTBOX, NewMail, enqueue_mails
from specd.db import Clock, Database
from specd.errors import DatabaseUnavailable
from tests.adapters.mail.post_office import open_office
from tests.support.chat.people import VAULT, Cast
from tests.support.frozen_clock import FrozenClock
from workers.outbox import OutboxWorker

SECRET = "https://acme.example/confirm/s3cret"


class Letterbox:
    """A scripted mailer that also checks whether the database is free meanwhile."""

    lease_s = 60.0

    def __init__(self, meanwhile: Callable[[], None]) -> None:
        self.sent: list[Mail] = []
        self.refusal: Exception | None = None
        self._meanwhile = meanwhile

    def send(self, mail: Mail) -> None:
        self._meanwhile()
        if self.refusal is not None:
            raise self.refusal
        self.sent.append(mail)


class Post:
    """The mail of Acme, its worker and its clock."""

    def __init__(self, database: Database, clock: FrozenClock, cast: Cast) -> None:
        self.database, self.clock, self.cast = database, clock, cast
        # Writes while the mail is being sent. On SQLite that needs the only write lock.
        self.letterbox = Letterbox(lambda: database.run(lambda session: None))
        self.worker = self.new_worker()

    def new_worker(self) -> OutboxWorker:
        return OutboxWorker(
            self.database, self.clock, self.letterbox, VAULT,
            sender="noreply@acme.example",
        )  # fmt: skip

    def enqueue(self, text: str = "Hello", *, sealed: bool = False) -> None:
        self.database.run(
            lambda session: enqueue_mails(
                session,
                [NewMail(to="hamlet@acme.example", subject="A\r\nsubject", text=text)],
                realm_id=self.cast.realm_id,
                now=self.clock.now(),
                vault=VAULT if sealed else None,
            )
        )

    @property
    def rows(self) -> list[Any]:
        with self.database.reading() as reader:
            return list(reader.execute(select(*OUTBOX.c).order_by(OUTBOX.c.id)))


@pytest.fixture
def post(chat_database: Database, clock: FrozenClock, cast: Cast) -> Post:
    return Post(chat_database, clock, cast)


def test_a_mail_leaves_once_and_its_text_goes(post: Post) -> None:
    post.enqueue(SECRET, sealed=True)
    (row,) = post.rows
    assert "s3cret" not in str(row)
    assert post.worker.try_send_one()
    (mail,) = post.letterbox.sent
    assert (mail.key, mail.to, mail.subject, mail.text) == (
        row.key, "hamlet@acme.example", "A subject", SECRET,
    )  # fmt: skip
    (row,) = post.rows
    assert (row.state, row.body, row.attempts, row.closed_at) == ("sent", "", 1, post.clock.now())
    assert not post.worker.try_send_one()


def test_what_is_rolled_back_leaves_no_mail(post: Post) -> None:
    def work(session: Any) -> None:
        mail = NewMail(to="a@b.example", subject="s", text="t")
        enqueue_mails(session, [mail], realm_id=post.cast.realm_id, now=post.clock.now())
        raise RuntimeError

    with pytest.raises(RuntimeError):
        post.database.run(work)
    assert post.rows == []


def test_pauses_grow_until_the_mail_is_dead_and_can_be_revived(post: Post) -> None:
    post.enqueue()
    post.letterbox.refusal = MailNotSent("450 later")
    pauses = []
    while post.rows[0].state == "pending":
        assert post.worker.try_send_one()
        row = post.rows[0]
        assert not post.worker.try_send_one()
        if row.state == "pending":
            pauses.append(int((row.next_try_at - post.clock.now()).total_seconds()))
            post.clock.advance(seconds=pauses[-1])
    assert pauses == [*(5 * 2**n for n in range(10)), 3600, 3600, 3600]
    with post.database.reading() as reader:
        (dead,) = outbox.find_dead(reader)
    assert (dead.failure, dead.attempts) == ("450 later", ATTEMPTS_MAX)
    post.letterbox.refusal = None
    assert post.database.run(lambda session: outbox.revive_dead(session, now=post.clock.now())) == 1
    assert post.worker.try_send_one()
    assert [mail.key for mail in post.letterbox.sent] == [post.rows[0].key]


def test_a_refusal_for_good_and_an_unreadable_text_are_dead_at_once(post: Post) -> None:
    post.enqueue()
    post.letterbox.refusal = MailRefused("550 nobody")
    assert post.worker.try_send_one()
    post.enqueue(SECRET, sealed=True)
    post.database.run(
        lambda session: session.execute(
            OUTBOX.update().where(OUTBOX.c.is_sealed).values(body="v1.AAAA")
        )
    )
    assert post.worker.try_send_one()
    assert [(row.state, row.failure) for row in post.rows] == [
        ("dead", "550 nobody"),
        ("dead", outbox.UNREADABLE),
    ]


def test_a_mail_is_one_workers_until_the_lease_ends(post: Post) -> None:
    post.enqueue()
    other, seen = post.new_worker(), []
    post.letterbox._meanwhile = lambda: seen.append(other.try_send_one())
    assert post.worker.try_send_one()
    assert seen == [False]
    assert len(post.letterbox.sent) == 1


def test_a_worker_that_dies_on_it_every_time_does_not_take_it_for_ever(post: Post) -> None:
    post.enqueue()
    post.letterbox.refusal = KeyboardInterrupt()
    for _ in range(ATTEMPTS_MAX):
        with pytest.raises(KeyboardInterrupt):
            post.worker.try_send_one()
        assert not post.worker.try_send_one()
        post.clock.advance(seconds=66)
    assert post.worker.try_send_one()
    assert (post.rows[0].state, post.rows[0].failure) == ("dead", outbox.GAVE_UP)


def test_an_acknowledged_mail_that_could_not_be_noted_is_noted_before_anything_else(
    post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    post.enqueue()
    with monkeypatch.context() as broken:

        def away(*args: Any, **kwargs: Any) -> None:
            raise DatabaseUnavailable()

        broken.setattr(outbox, "mark_sent", away)
        with pytest.raises(DatabaseUnavailable):
            post.worker.try_send_one()
    assert post.rows[0].state == "pending"
    post.clock.advance(seconds=3600)
    assert not post.worker.try_send_one()
    assert post.rows[0].state == "sent"
    assert len(post.letterbox.sent) == 1


def send_one(url: str, port: int) -> None:
    """Run a worker process until it has sent its first mail."""
    mailer = SmtpMailer(SmtpServer("127.0.0.1", port), timeout_s=5)
    worker = OutboxWorker(Database(url), Clock(), mailer, VAULT, sender="noreply@acme.example")
    worker.try_send_one()


def test_killed_while_the_server_thinks(chat_filled: tuple[str, Cast], tmp_path: Path) -> None:
    """The mail is sent again when the lease has ended, with the same Message-ID."""
    url, cast = chat_filled
    database = Database(url)
    clock = FrozenClock(Clock().now())
    post = Post(database, clock, cast)
    post.enqueue()
    with open_office() as office:
        office.answers.clear()
        process = multiprocessing.get_context("spawn").Process(
            target=send_one, args=(url, office.port)
        )
        process.start()
        assert office.at_data.wait(120)
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        office.answers.set()
        (row,) = post.rows
        assert (row.state, row.attempts) == ("pending", 1)
        mailer = SmtpMailer(SmtpServer("127.0.0.1", office.port), timeout_s=5)
        second = OutboxWorker(database, clock, mailer, VAULT, sender="noreply@acme.example")
        assert not second.try_send_one()
        clock.advance(seconds=120)
        assert second.try_send_one()
        assert [mail["Message-ID"] for mail in office.received] == [f"<{row.key}@acme.example>"]
        assert not second.try_send_one()
    assert post.rows[0].state == "sent"
    database.dispose()
