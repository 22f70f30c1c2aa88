"""Mail by SMTP (RFC 5321): one connection per mail, with timeouts, TLS and optional login."""

import smtplib
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from adapters.mail.mailer import Mail, MailNotSent, MailRefused, compose

STEPS = 16
"""The maximum number of server replies during the delivery of one mail."""


@dataclass(frozen=True, slots=True)
class SmtpServer:
    """A mail server. `tls` is one of: `implicit`, TLS from the first byte; `always`, STARTTLS is
    required; `offered`, STARTTLS if the server offers it; `never`.
    """

    host: str
    port: int
    tls: str = "offered"
    user: str = ""
    password: str = ""


class SmtpMailer:
    """Sends each mail to one server. `timeout_s` limits the time to wait for each reply."""

    def __init__(self, server: SmtpServer, *, timeout_s: float) -> None:
        self._server = server
        self._timeout_s = timeout_s
        self.lease_s = STEPS * timeout_s

    def check(self) -> None:
        """Connect and log in. Raise `MailNotSent`."""
        with _mail_errors():
            connection = self._connect()
            try:
                connection.noop()
                connection.quit()
            finally:
                connection.close()

    def send(self, mail: Mail) -> None:
        """Send the mail and wait until the server has accepted it."""
        message = compose(mail)
        with _mail_errors():
            connection = self._connect()
            try:
                connection.send_message(message, from_addr=_address(mail.sender), to_addrs=mail.to)
                # The server has already accepted the mail, so later errors do not matter.
                with suppress(smtplib.SMTPException, OSError):
                    connection.quit()
            finally:
                connection.close()

    def _connect(self) -> smtplib.SMTP:
        server, timeout_s = self._server, self._timeout_s
        trusted = ssl.create_default_context()
        connection: smtplib.SMTP
        if server.tls == "implicit":
            connection = smtplib.SMTP_SSL(
                server.host, server.port, timeout=timeout_s, context=trusted
            )
        else:
            connection = smtplib.SMTP(server.host, server.port, timeout=timeout_s)
        try:
            connection.ehlo_or_helo_if_needed()
            offers = connection.has_extn("starttls")
            if server.tls == "always" and not offers:
                raise MailNotSent("the server offers no STARTTLS")
            if server.tls in ("always", "offered") and offers:
                connection.starttls(context=trusted)
            if server.user:
                connection.login(server.user, server.password)
        except BaseException:
            connection.close()
            raise
        return connection


@contextmanager
def _mail_errors() -> Iterator[None]:
    """Convert errors of the server and the network to `MailNotSent` or `MailRefused`."""
    try:
        yield
    except smtplib.SMTPRecipientsRefused as refusal:
        code, text = next(iter(refusal.recipients.values()))
        raise _refusal(code, text) from None
    except smtplib.SMTPNotSupportedError as problem:
        raise MailRefused(str(problem)) from None
    except smtplib.SMTPAuthenticationError as refusal:
        raise MailNotSent(f"the server does not take our login ({refusal.smtp_code})") from None
    except smtplib.SMTPDataError as refusal:
        raise _refusal(refusal.smtp_code, refusal.smtp_error) from None
    except smtplib.SMTPResponseException as refusal:
        raise MailNotSent(_reason(refusal.smtp_code, refusal.smtp_error)) from None
    except (smtplib.SMTPException, OSError, UnicodeError) as problem:
        raise MailNotSent(f"{type(problem).__name__}: {problem}") from None


def _address(sender: str) -> str:
    """Return the bare address of `Name <address>`."""
    return sender.rpartition("<")[2].rstrip(">")


def _refusal(code: int, text: bytes | str) -> MailNotSent:
    return (MailRefused if 500 <= code < 600 else MailNotSent)(_reason(code, text))


def _reason(code: int, text: bytes | str) -> str:
    text = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    return f"the server said {code} {text}"[:500]
