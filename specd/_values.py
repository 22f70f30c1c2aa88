"""Values of settings: how the text of a variable is parsed. Each parser raises `ValueError`, whose
text completes the sentence that begins with the variable's name.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from ipaddress import ip_network
from urllib.parse import parse_qsl, urlsplit

from specd._engine.http.cors import ORIGIN


def parse_bool(text: str) -> bool:
    match text.strip().lower():
        case "true" | "1" | "yes" | "on":
            return True
        case "false" | "0" | "no" | "off":
            return False
    raise ValueError("must be true or false")


def whole(least: int, most: int) -> Callable[[str], int]:
    """Parser of a plain decimal integer within [least, most]."""

    def parse(text: str) -> int:
        if re.fullmatch(r"[0-9]{1,18}", text) and least <= int(text) <= most:
            return int(text)
        raise ValueError(f"must be a whole number from {least} to {most}")

    return parse


def seconds(least: float, most: float) -> Callable[[str], float]:
    """Parser of a number of seconds, fractions allowed, within [least, most]."""

    def parse(text: str) -> float:
        if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text) and least <= float(text) <= most:
            return float(text)
        raise ValueError(f"must be a number of seconds from {least:g} to {most:g}")

    return parse


def one_of(*choices: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text.lower() in choices:
            return text.lower()
        raise ValueError(f"must be one of {', '.join(choices)}")

    return parse


def secret_text(least: int) -> Callable[[str], str]:
    """Parser of a secret of at least that many characters; it is never repeated."""

    def parse(text: str) -> str:
        if len(text) >= least:
            return text
        raise ValueError(f"must have at least {least} characters")

    return parse


def parse_database_url(text: str) -> str:
    """An SQLAlchemy URL of a database we support; `postgresql://` means psycopg 3."""
    if text.startswith("sqlite:///") and len(text) > len("sqlite:///") and ":memory:" not in text:
        return text
    scheme, separator, rest = text.partition("://")
    pooling = dict(parse_qsl(rest.partition("?")[2])).get("pooling", "transaction")
    if pooling != "transaction":
        raise ValueError("may say pooling=transaction, and no other pooling")
    if separator and rest and scheme in {"postgres", "postgresql", "postgresql+psycopg"}:
        with suppress(ValueError):
            if urlsplit(text).port != 0:
                return f"postgresql+psycopg://{rest}"
    raise ValueError("must be sqlite:///PATH or postgresql+psycopg://USER:PASSWORD@HOST/DATABASE")


def parse_bind(text: str) -> str:
    host, _, port = text.rpartition(":")
    if host and "/" not in text and re.fullmatch(r"[0-9]{1,5}", port) and 0 < int(port) < 65536:
        return text
    raise ValueError("must be HOST:PORT, for example 127.0.0.1:8080")


def parse_proxies(text: str) -> tuple[str, ...]:
    """Comma-separated addresses and networks; `unix` for peers on a Unix socket."""
    found = []
    for name in filter(None, (part.strip().lower() for part in text.split(","))):
        try:
            found.append(name if name == "unix" else str(ip_network(name)))
        except ValueError:
            raise ValueError(
                "must be a comma-separated list of addresses, networks (10.0.0.0/8) and `unix`"
            ) from None
    return tuple(found)


def parse_public_url(text: str) -> str:
    with suppress(ValueError):
        url = urlsplit(text)
        plain = not (url.query or url.fragment or re.search(r"[\s@]", text))
        if plain and url.scheme in {"http", "https"} and url.hostname and url.port != 0:
            return text.rstrip("/")
    raise ValueError("must be an http or https URL without query, for example https://pay.test")


def parse_origins(text: str) -> tuple[str, ...]:
    """Comma-separated origins (RFC 6454), of the web or of an application's own scheme."""
    entries = tuple(entry.strip().lower() for entry in text.split(",") if entry.strip())
    if all(map(ORIGIN.fullmatch, entries)):
        return entries
    raise ValueError(
        "must be a comma-separated list of origins, for example https://app.test,app://chat"
    )


def parse_limits_url(text: str) -> str:
    """Where several machines count requests: Redis or Valkey, by TCP."""
    with suppress(ValueError):
        url = urlsplit(text)
        is_plain = not (url.query or url.fragment or re.search(r"\s", text))
        is_server = bool(url.hostname) and url.port != 0
        has_number = re.fullmatch(r"(/[0-9]{0,5})?", url.path)
        if url.scheme in {"redis", "rediss"} and is_server and is_plain and has_number:
            return text
    raise ValueError(
        "must be redis://USER:PASSWORD@HOST:PORT/NUMBER, or rediss:// for TLS, and special"
        " characters of the password percent-encoded"
    )
