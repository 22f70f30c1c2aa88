"""The checks of `specd doctor` for the chat: the file store and the mail server."""

from collections.abc import Iterator

from adapters.file_store.wiring import build_file_store
from adapters.mail.mailer import MailNotSent
from adapters.mail.smtp import SmtpMailer
from adapters.mail.wiring import build_mailer
from settings import Settings
from specd.commands import Finding
from specd.errors import SettingsError


def diagnose(settings: Settings) -> Iterator[Finding]:
    yield from diagnose_store(settings)
    yield from diagnose_mail(settings)


def diagnose_mail(settings: Settings) -> Iterator[Finding]:
    """Connect to the mail server and log in, as the worker does."""
    mailer = build_mailer(settings.mail_url, timeout_s=settings.mail_timeout_s)
    if not isinstance(mailer, SmtpMailer):
        return
    try:
        mailer.check()
    except MailNotSent as error:
        yield Finding("mail", "broken", f"{error}; check {settings.variable('mail_url')}")
    else:
        yield Finding("mail", "ok", "the mail server accepts the connection and the login")


def diagnose_store(settings: Settings) -> Iterator[Finding]:
    """Check that the file store can be created, which for a bucket needs a library."""
    try:
        build_file_store(settings)
    except SettingsError as error:
        yield Finding("uploads", "broken", str(error))
    except Exception as error:  # the S3 client raises many types for wrong settings
        yield Finding("uploads", "broken", f"the bucket cannot be used ({type(error).__name__})")
