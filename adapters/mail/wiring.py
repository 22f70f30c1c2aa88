"""Builds the mailer that the settings select."""

from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from adapters.exchanges import LOOPBACK
from adapters.mail.files import FileMailer
from adapters.mail.mailer import Mailer
from adapters.mail.smtp import SmtpMailer, SmtpServer


def build_mailer(url: str, *, timeout_s: float) -> Mailer:
    """Return the mailer for SPECD_MAIL_URL, which has been validated. TLS is required unless the
    server is this machine or the URL has `?starttls=offered` or `?starttls=never`.
    """
    parts = urlsplit(url)
    if parts.scheme == "file":
        return FileMailer(Path(unquote(f"{parts.netloc}{parts.path}")))
    host = parts.hostname or "localhost"
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    if parts.scheme == "smtps":
        server = SmtpServer(host, parts.port or 465, "implicit", user, password)
    else:
        usual = "offered" if host in LOOPBACK else "always"
        tls = parse_qs(parts.query).get("starttls", [usual])[0]
        server = SmtpServer(host, parts.port or (587 if user else 25), tls, user, password)
    return SmtpMailer(server, timeout_s=timeout_s)
