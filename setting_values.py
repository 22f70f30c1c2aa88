"""Parsers of setting values for our services, in addition to `specd/_values.py`."""

import re
from contextlib import suppress
from ipaddress import ip_network
from urllib.parse import urlsplit

from specd.settings import parse_public_url


def parse_networks(text: str) -> tuple[str, ...]:
    """Parse comma-separated networks, such as 10.0.0.0/8."""
    try:
        return tuple(str(ip_network(part.strip())) for part in text.split(",") if part.strip())
    except ValueError:
        raise ValueError(
            "must be a comma-separated list of networks, for example 127.0.0.0/8,::1/128"
        ) from None


def parse_domain(text: str) -> str:
    """Parse a mail domain, which may be empty."""
    if text and not re.fullmatch(r"[a-z0-9-]+(?:\.[a-z0-9-]+)*", text):
        raise ValueError("must be a domain in lower case, without a port")
    return text


def parse_mail_url(text: str) -> str:
    """Parse the destination of outgoing mail: an SMTP server or a folder."""
    with suppress(ValueError):
        url = urlsplit(text)
        if url.scheme == "file" and (url.netloc or url.path) and not url.query:
            return text
        is_server = url.hostname and url.port != 0 and url.path in ("", "/")
        if url.scheme == "smtps" and is_server and not url.query:
            return text
        tls = re.fullmatch(r"(starttls=(always|offered|never))?", url.query)
        if url.scheme == "smtp" and is_server and tls:
            return text
    raise ValueError(
        "must be smtp://USER:PASSWORD@HOST:PORT, smtps://USER:PASSWORD@HOST:PORT or file://FOLDER"
    )


def parse_sender(text: str) -> str:
    """Parse an address, or a name with an address in angle brackets."""
    address = re.fullmatch(r"(?:[^<>\r\n]*<)?([^\s<>@]+@[^\s<>@]+)>?", text)
    if address and text.count("<") == text.count(">"):
        return text
    raise ValueError("must be ADDRESS or NAME <ADDRESS>")


def parse_service_url(text: str) -> str:
    """Parse the base URL of an external service. A trailing slash is removed."""
    try:
        return parse_public_url(text)
    except ValueError:
        raise ValueError("must be an http or https URL without query and password") from None


def parse_wallet_urls(text: str) -> tuple[str, ...]:
    """Parse comma-separated public endpoints, each `CHAINID=URL` without credentials."""
    form = r"[1-9][0-9]{0,17}=https?://[^\s/?#@]+([/?][^\s]*)?"
    return _parse_urls(text, form, "URLs without users, each written CHAINID=URL")


def parse_rpc_urls(text: str) -> tuple[str, ...]:
    """Parse comma-separated endpoints in order of preference, each `URL` or `CHAINID=URL`."""
    form = r"([1-9][0-9]{0,17}=)?https?://[^\s/?#]+[^\s]*"
    return _parse_urls(text, form, "URLs, each written URL or CHAINID=URL")


def _parse_urls(text: str, form: str, what: str) -> tuple[str, ...]:
    entries = tuple(entry.strip() for entry in text.split(",") if entry.strip())
    for position, entry in enumerate(entries, start=1):
        if not re.fullmatch(form, entry):
            raise ValueError(
                f"must be a comma-separated list of http {what}; entry {position} is not"
            )
    return entries
