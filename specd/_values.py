"""Values of settings: how the text of a variable is parsed. Each parser raises `ValueError`, whose
text completes the sentence that begins with the variable's name.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Literal, get_args, get_origin
from urllib.parse import parse_qsl, urlsplit

from specd._cors import ORIGIN

MAX_WHOLE = 10**18 - 1
MAX_NUMBER = 1e9 - 1
_PATH = re.compile(r"(/[A-Za-z0-9._~-]+)*")


def parse_bool(text: str) -> bool:
    match text.strip().lower():
        case "true" | "1" | "yes" | "on":
            return True
        case "false" | "0" | "no" | "off":
            return False
    raise ValueError("must be true or false")


def find_parser(
    kind: Any, *, minimum: float | None, maximum: float | None, is_seconds: bool
) -> Callable[[str], Any] | None:
    """Return the parser of a type within the limits, or None for an unknown type."""
    if get_origin(kind) is Literal:
        return one_of(*get_args(kind))
    if kind is bool:
        return parse_bool
    if kind is int:
        return whole(int(minimum or 0), MAX_WHOLE if maximum is None else int(maximum))
    if kind is float:
        return number(minimum or 0.0, MAX_NUMBER if maximum is None else maximum, is_seconds)
    if kind is str:
        return text_of(int(minimum)) if minimum else str
    return Path if kind is Path else None


def whole(least: int, most: int) -> Callable[[str], int]:
    """Return the parser of a plain decimal integer within [least, most]."""

    def parse(text: str) -> int:
        if re.fullmatch(r"[0-9]{1,18}", text) and least <= int(text) <= most:
            return int(text)
        raise ValueError(f"must be a whole number from {least} to {most}")

    return parse


def number(least: float, most: float, is_seconds: bool) -> Callable[[str], float]:
    """Return the parser of a number, fractions allowed, within [least, most]."""
    what = "number of seconds" if is_seconds else "number"

    def parse(text: str) -> float:
        if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text) and least <= float(text) <= most:
            return float(text)
        raise ValueError(f"must be a {what} from {least:g} to {most:g}")

    return parse


def one_of(*choices: str) -> Callable[[str], str]:
    """Return the parser of one of these lower-case texts. It ignores case."""

    def parse(text: str) -> str:
        if text.lower() in choices:
            return text.lower()
        raise ValueError(f"must be one of {', '.join(choices)}")

    return parse


def text_of(least: int) -> Callable[[str], str]:
    """Return the parser of a text of at least `least` characters. Its message does not quote the
    text, which may be a secret.
    """

    def parse(text: str) -> str:
        if len(text) >= least:
            return text
        raise ValueError(f"must have at least {least} characters")

    return parse


def parse_database_url(text: str) -> str:
    """Return the SQLAlchemy URL of a supported database. `postgresql://` means psycopg 3."""
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
    """Return the items of a comma-separated list of addresses, networks and `unix`, which stands
    for peers on a Unix socket.
    """
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
    """Return an http or https URL without trailing slashes. Raise `ValueError` for a URL with a
    user, a query or a fragment.
    """
    with suppress(ValueError):
        url = urlsplit(text)
        plain = not (url.query or url.fragment or re.search(r"[\s@]", text))
        if plain and url.scheme in {"http", "https"} and url.hostname and url.port != 0:
            return text.rstrip("/")
    raise ValueError("must be an http or https URL without query, for example https://pay.test")


def parse_own_url(text: str) -> str:
    """Return the public address of the server. Raise `ValueError` as `parse_public_url` does, and
    for a path that proxies and browsers might read differently.
    """
    url = parse_public_url(text)
    path = urlsplit(url).path
    if not _PATH.fullmatch(path) or {".", ".."} & set(path.split("/")):
        raise ValueError(
            "must have a path of letters, digits, `-`, `_`, `.` and `~`, for example"
            " https://pay.test/shop"
        )
    return url


def parse_origins(text: str) -> tuple[str, ...]:
    """Return the origins (RFC 6454) of a comma-separated list, in lower case. An origin may have an
    application's own scheme.
    """
    entries = tuple(entry.strip().lower() for entry in text.split(",") if entry.strip())
    if all(map(ORIGIN.fullmatch, entries)):
        return entries
    raise ValueError(
        "must be a comma-separated list of origins, for example https://app.test,app://shop"
    )


def parse_limits_url(text: str) -> str:
    """Return the URL of the Redis or Valkey in which several machines count requests."""
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
