"""Mail by SMTP to a real server, and mail as files."""

import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from email import message_from_bytes
from pathlib import Path

import pytest

from adapters.mail.files import FileMailer
from adapters.mail.mailer import Mail, MailNotSent, MailRefused
from adapters.mail.smtp import SmtpMailer, SmtpServer
from adapters.mail.wiring import build_mailer
from tests.adapters.mail.post_office import (
    PASSWORD,
    USER,
    PostOffice,
    make_certificate,
    open_office,
)

MAIL = Mail(
    key="0123456789abcdef0123456789abcdef",
    sender="Acme <noreply@acme.example>",
    to="hamlet@acme.example",
    subject="Wörds, words",
    text="Ünicode, and a line that goes on " + "and on " * 200 + "\n.\nthe end\n",
    written_at=datetime(2026, 11, 21, 9, 30, tzinfo=UTC),
)


@pytest.fixture
def office() -> Iterator[PostOffice]:
    with open_office() as office:
        yield office


@pytest.fixture
def certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The certificate of a server that this process trusts."""
    path = make_certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    return path


class TestSmtp:
    def test_mail_arrives_unchanged(self, office: PostOffice) -> None:
        mailer = build_mailer(f"smtp://127.0.0.1:{office.port}", timeout_s=5)
        mailer.send(MAIL)
        mailer.send(MAIL)
        first, second = office.received
        assert first["Message-ID"] == "<0123456789abcdef0123456789abcdef@acme.example>"
        assert second["Message-ID"] == first["Message-ID"]
        assert (first["From"], first["To"]) == (MAIL.sender, MAIL.to)
        assert first["Date"] == "Sat, 21 Nov 2026 09:30:00 +0000"
        assert first["Auto-Submitted"] == "auto-generated"
        content = first.get_payload(decode=True)
        assert isinstance(content, bytes)
        assert content.decode().replace("\r\n", "\n") == MAIL.text

    @pytest.mark.parametrize(
        ("answer", "kind"), [("550 No such box", MailRefused), ("450 Box is full", MailNotSent)]
    )
    def test_permanent_and_temporary_refusals_are_distinguished(
        self, office: PostOffice, answer: str, kind: type[MailNotSent]
    ) -> None:
        mailer = SmtpMailer(SmtpServer("127.0.0.1", office.port), timeout_s=5)
        office.rcpt_answer = answer
        with pytest.raises(MailNotSent, match=answer) as refused:
            mailer.send(MAIL)
        assert type(refused.value) is kind
        office.rcpt_answer, office.data_answer = "", answer
        with pytest.raises(MailNotSent, match=answer) as refused:
            mailer.send(MAIL)
        assert type(refused.value) is kind
        assert office.received == []

    def test_silent_server_times_out(self, office: PostOffice) -> None:
        office.answers.clear()
        mailer = SmtpMailer(SmtpServer("127.0.0.1", office.port), timeout_s=0.2)
        with pytest.raises(MailNotSent):
            mailer.send(MAIL)

    def test_refused_connection(self) -> None:
        with pytest.raises(MailNotSent, match="refused"):
            SmtpMailer(SmtpServer("127.0.0.1", 1), timeout_s=1).send(MAIL)

    @pytest.mark.parametrize("scheme", ["smtp", "smtps"])
    def test_logs_in_over_tls(self, certificate: Path, scheme: str) -> None:
        with open_office(certificate=certificate, implicit=scheme == "smtps", login=True) as office:
            password = PASSWORD.replace(" ", "%20")
            url = f"{scheme}://{USER}:{password}@localhost:{office.port}"
            build_mailer(url, timeout_s=5).send(MAIL)
            assert [mail["Subject"] is not None for mail in office.received] == [True]
            with pytest.raises(MailNotSent, match="login") as refused:
                build_mailer(url.replace("horse", "cart"), timeout_s=5).send(MAIL)
            assert "cart" not in str(refused.value)
            assert office.logins[0]
            assert not any(office.logins[1:])

    def test_unknown_certificate_is_not_trusted(self, tmp_path: Path) -> None:
        with open_office(certificate=make_certificate(tmp_path)) as office:
            mailer = SmtpMailer(SmtpServer("localhost", office.port), timeout_s=5)
            with pytest.raises(MailNotSent, match=ssl.SSLCertVerificationError.__name__):
                mailer.send(MAIL)

    def test_requires_tls_when_configured(self, office: PostOffice) -> None:
        mailer = build_mailer(f"smtp://127.0.0.1:{office.port}?starttls=always", timeout_s=5)
        with pytest.raises(MailNotSent, match="no STARTTLS"):
            mailer.send(MAIL)

    def test_header_injection_is_rejected(self, office: PostOffice) -> None:
        mailer = SmtpMailer(SmtpServer("127.0.0.1", office.port), timeout_s=5)
        bad = Mail(
            "0" * 32, MAIL.sender, "a@acme.example\r\nBcc: b@c.example", "s", "t", MAIL.written_at
        )
        with pytest.raises(MailRefused):
            mailer.send(bad)
        assert office.received == []


class TestFiles:
    def test_repeated_mail_has_one_file(self, tmp_path: Path) -> None:
        mailer = build_mailer(f"file://{tmp_path}/a/outbox", timeout_s=5)
        mailer.send(MAIL)
        mailer.send(MAIL)
        (file,) = (tmp_path / "a" / "outbox").iterdir()
        assert file.name == f"{MAIL.key}.eml"
        assert file.stat().st_mode & 0o077 == 0
        message = message_from_bytes(file.read_bytes())
        content = message.get_payload(decode=True)
        assert isinstance(content, bytes)
        assert content.decode().replace("\r\n", "\n") == MAIL.text

    def test_folder_that_cannot_be_created(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(MailNotSent, match="cannot write"):
            FileMailer(tmp_path / "file" / "outbox").send(MAIL)
