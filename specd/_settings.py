"""The settings that every project has, and the means to declare more.

A setting is one environment variable. Its field declares its name, default, parser and help text.
A project adds settings of its own in a subclass of `Settings`. `SPECD_TEST_*` belongs to test
suites and is not read here.
"""

import difflib
import os
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from inspect import get_annotations
from ipaddress import ip_address
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform
from urllib.parse import urlsplit

from specd._engine.release import install_extra
from specd._project import current, find_object
from specd._values import (
    one_of,
    parse_bind,
    parse_bool,
    parse_database_url,
    parse_limits_url,
    parse_origins,
    parse_proxies,
    parse_public_url,
    seconds,
    whole,
)

PREFIX = "SPECD_"
TEST_PREFIX = "SPECD_TEST_"
FILE = "_FILE"

REMOVED: Mapping[str, str] = {}
"""Variables of earlier releases without an effect now -> what to do instead, as a sentence. During
a rolling upgrade servers of both releases read one environment, so they are reported and ignored.
"""

T = TypeVar("T")


class SettingsError(Exception):
    """A variable is unknown or has a bad value; the message is one sentence, without secrets."""


class MissingExtra(SettingsError):
    """Something needs an extra of specd that is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} requires the extra `{extra}`: {install_extra(extra)}.")


@dataclass(frozen=True, slots=True)
class Described:
    """One setting as people see it; secrets in `value` are masked."""

    variable: str
    value: str
    default: str
    origin: str
    help: str


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the environment. It sets `field`, or the entry `key` of the mapping there.

    `name` is given if it differs from the field's; `default` is the text that people see.
    """

    parse: Callable[[str], Any]
    help: str
    default: str
    is_secret: bool = False
    name: str = ""
    field: str = ""
    key: str = ""

    def put(self, values: dict[str, Any], value: Any) -> None:
        """Add a parsed value to the keywords that make `Settings`."""
        if self.key:
            values.setdefault(self.field, {})[self.key] = value
        else:
            values[self.field] = value

    def value_in(self, settings: "Settings") -> Any:
        value = getattr(settings, self.field)
        return value[self.key] if self.key else value


def _written(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    return ",".join(value) if isinstance(value, tuple) else str(value)


def setting(
    default: T,
    parse: Callable[[str], T],
    help: str,
    *,
    shown: str | None = None,
    secret: bool = False,
) -> T:
    """Return a dataclass field with a parser, a help text and the text of its default."""
    its = Variable(parse, help, _written(default) if shown is None else shown, secret)
    return field(default=default, repr=not secret, metadata={"variables": lambda: (its,)})


def setting_for_each(find_variables: Callable[[], Iterable[Variable]]) -> Mapping[str, Any]:
    """Return a dataclass field with a mapping whose entries have a variable each."""
    return field(default_factory=dict, repr=False, metadata={"variables": find_variables})


@dataclass(frozen=True)
@dataclass_transform(frozen_default=True)
class Settings:
    """All settings of one process, parsed and checked; `_s` are seconds.

    A subclass declares its fields with `setting(...)` and is a frozen dataclass without more. Its
    variables begin with the `prefix` that it names: `class Settings(Settings, prefix="SHOP_")`.
    """

    _prefixes: ClassVar[Mapping[str, str]] = {}
    """The prefix of each field of a subclass that names one."""

    data_dir: Path = setting(
        Path("./var"), Path, "Directory of the SQLite files and the run-time state.", shown="./var"
    )
    database_urls: Mapping[str, str] = setting_for_each(
        lambda: [
            Variable(
                parse_database_url,
                f"Database of the {service} service.",
                f"sqlite:///{{SPECD_DATA_DIR}}/{service}.db",
                is_secret=True,
                name=f"{service}_database_url",
                key=service,
            )
            for service in current().names
        ]
    )
    database_direct_urls: Mapping[str, str] = setting_for_each(
        lambda: [
            Variable(
                parse_database_url,
                f"PostgreSQL of the {service} service past a pooler (`pooling=transaction` in the"
                " URL above), for notifications. Without it, they are polled.",
                "",
                is_secret=True,
                name=f"{service}_database_direct_url",
                key=service,
            )
            for service in current().names
        ]
    )
    database_pool_size: int = setting(
        8,
        whole(1, 200),
        "PostgreSQL connections per process: this many for reads and as many for writes.",
    )
    lock_timeout_s: float = setting(
        3.0, seconds(0.05, 60), "Longest wait for a database lock before the request fails."
    )
    bind: str = setting("127.0.0.1:8080", parse_bind, "Address that the HTTP server listens on.")
    public_url: str = setting(
        "",
        parse_public_url,
        "Public address of the server, in links and published documents.",
        shown="http://{SPECD_BIND}",
    )
    allowed_origins: tuple[str, ...] = setting(
        (),
        parse_origins,
        "Origins, besides the server's own, whose pages can read answers and change things (CORS).",
        shown="",
    )
    trusted_proxies: tuple[str, ...] = setting(
        (),
        parse_proxies,
        "Proxies whose `X-Forwarded-For` is trusted: addresses, networks, `unix`.",
        shown="",
    )
    workers: int = setting(2, whole(1, 128), "Number of HTTP server processes.")
    drain_s: float = setting(
        0.0,
        seconds(0, 60),
        "How long a server goes on after SIGTERM, not ready, so that a balancer leaves it first.",
    )
    body_read_timeout_s: float = setting(
        15.0, seconds(0.1, 600), "Deadline for a client to send the whole request body."
    )
    answer_read_timeout_s: float = setting(
        20.0,
        seconds(0.1, 600),
        "Longest time a client can stop reading a response before the connection closes.",
    )
    rate_limits: bool = setting(
        True, parse_bool, "Enable rate limits (`specd demo` runs without limits)."
    )
    limits_url: str = setting(
        "",
        parse_limits_url,
        "Redis or Valkey in which all machines count requests together:"
        " `redis://USER:PASSWORD@HOST:PORT/NUMBER`, or `rediss://` for TLS. If empty, each machine"
        " counts by itself.",
        secret=True,
    )
    log_level: str = setting(
        "info", one_of("debug", "info", "warning", "error"), "Minimum log level."
    )
    metrics_dir: Path = setting(
        Path(),
        Path,
        "Directory of the counters that server processes share.",
        shown="{SPECD_DATA_DIR}/metrics",
    )
    validate_responses: bool = setting(
        False, parse_bool, "Validate each response against the document; a mismatch becomes a 500."
    )
    allow_plain_http: bool = setting(
        False,
        parse_bool,
        "Allow `http://` addresses of external services on other machines.",
    )
    development: bool = setting(
        False,
        parse_bool,
        "Enable development features; rejected on an address that other machines can reach.",
    )
    retention_s: Mapping[str, int] = setting_for_each(list)

    def __init_subclass__(cls, *, prefix: str = PREFIX) -> None:
        super().__init_subclass__()
        own = dict.fromkeys(get_annotations(cls), prefix)
        cls._prefixes = {**cls._prefixes, **own}
        dataclass(frozen=True)(cls)

    def __post_init__(self) -> None:
        data_dir = Path(self.data_dir)
        names = current().names
        self._derive(
            data_dir=data_dir,
            database_urls={
                name: self.database_urls.get(name) or f"sqlite:///{data_dir}/{name}.db"
                for name in names
            },
            database_direct_urls={name: self.database_direct_urls.get(name, "") for name in names},
            public_url=self.public_url or _url_of(self.bind),
            metrics_dir=self._folder(self.metrics_dir, "metrics"),
        )

    def _derive(self, **values: Any) -> None:
        """Set fields whose values follow from others; in `__post_init__` alone."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _folder(self, folder: Path, name: str) -> Path:
        """Return a folder, or the one of this name in the data directory if none is set."""
        return Path(self.data_dir) / name if Path(folder) == Path() else Path(folder)

    def check(self) -> None:
        """Raise `SettingsError` for settings that would expose development features or secrets."""
        host = self.bind.rpartition(":")[0]
        if self.development and not is_loopback(host):
            raise SettingsError(
                f"SPECD_DEVELOPMENT allows sign-in without a password and requires a SPECD_BIND"
                f" that only this machine can reach, such as 127.0.0.1:8080, not {self.bind}."
            )

    def require_https(self, name: str, *urls: str) -> None:
        """Raise `SettingsError` if a URL of the setting would expose secrets to the network."""
        for url in urls:
            parts = urlsplit(url)
            is_exposed = parts.scheme == "http" and not is_loopback(parts.hostname or "")
            if is_exposed and not self.allow_plain_http:
                raise SettingsError(
                    f"{self.variable(name)} must be an https URL, because http exposes secrets to"
                    " the network; SPECD_ALLOW_PLAIN_HTTP=true allows http."
                )

    def find_folders(self) -> dict[str, Path]:
        """Return the folders that servers and workers write, by the name of each setting."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.type in (Path, "Path")}

    @property
    def restore_marker(self) -> Path:
        """The file that exists while `specd restore` fills the installation. Until the command is
        finished, nothing else starts.
        """
        return self.data_dir / "restoring"

    @property
    def published_url(self) -> str | None:
        """The public address, if the operator has set one."""
        return None if self.public_url == _url_of(self.bind) else self.public_url

    @classmethod
    def variable(cls, name: str) -> str:
        """Return the variable of the environment that sets a field."""
        return cls._prefixes.get(name, PREFIX) + name.upper()

    @classmethod
    def variables(cls) -> dict[str, Variable]:
        """Return name -> variable, in the order of the fields and of their entries."""
        return {
            cls._prefixes.get(f.name, PREFIX) + (its.name or f.name).upper(): replace(
                its, field=f.name
            )
            for f in fields(cls)
            for its in f.metadata["variables"]()
        }

    @classmethod
    def from_env(cls, env: Mapping[str, str] | None = None) -> Self:
        """Return the settings of the environment; an empty variable counts as unset.

        For a secret NAME, NAME_FILE may be the path of a file with the secret. Raise
        `SettingsError` for an unknown variable, a bad value, and one that is unsafe with the
        others.
        """
        by_name = cls.variables()
        environ = with_secret_files(os.environ if env is None else env, by_name)
        prefixes = (PREFIX, *cls._prefixes.values())
        for name in sorted(environ):
            if not name.startswith(prefixes) or name.startswith(TEST_PREFIX) or name in REMOVED:
                continue
            if name not in by_name:
                raise SettingsError(f"{name} is not a setting: {_hint(name, by_name)}.")
        values: dict[str, Any] = {}
        for name, definition in by_name.items():
            if text := environ.get(name, "").strip():
                try:
                    definition.put(values, definition.parse(text))
                except ValueError as problem:
                    raise SettingsError(f"{name} {problem}.") from None
        settings = cls(**values)
        settings.check()
        return settings

    def describe(self, env: Mapping[str, str] | None = None) -> list[Described]:
        """Return every setting with its value, secrets masked, and its origin."""
        by_name = self.variables()
        environ = with_secret_files(os.environ if env is None else env, by_name)
        return [
            Described(
                variable=name,
                value=_shown(definition.value_in(self), secret=definition.is_secret),
                default=definition.default,
                origin="environment" if environ.get(name, "").strip() else "default",
                help=definition.help,
            )
            for name, definition in by_name.items()
        ]


def settings_class() -> type[Settings]:
    """Return the class of the project's settings."""
    reference = current().settings
    found: type[Settings] = find_object(reference) if reference else Settings
    return found


def load_settings() -> Settings:
    """Return the project's settings of the environment. Raise `SettingsError`."""
    return settings_class().from_env()


def find_removed(env: Mapping[str, str]) -> dict[str, str]:
    """Return the removed variables that an environment sets -> what to do about each."""
    return {name: REMOVED[name] for name in sorted(env) if name in REMOVED}


def variables() -> dict[str, Variable]:
    """Return the variables of the project's settings, name -> variable."""
    return settings_class().variables()


def variable(name: str) -> str:
    """Return the variable of the environment that sets a field of the project's settings."""
    return settings_class().variable(name)


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach a host: a name or an address."""
    with suppress(ValueError):
        return ip_address(host.strip("[]")).is_loopback
    return host == "localhost" or host.endswith(".localhost")


def with_secret_files(
    environ: Mapping[str, str], variables: Mapping[str, Variable]
) -> Mapping[str, str]:
    """Return the environment with the contents of the files NAME_FILE. Raise `SettingsError`."""
    values = dict(environ)
    for name in (name for name, definition in variables.items() if definition.is_secret):
        path = values.pop(f"{name}{FILE}", "").strip()
        if not path:
            continue
        if values.get(name, "").strip():
            raise SettingsError(f"{name} and {name}{FILE} are both set; keep one.")
        try:
            values[name] = Path(path).read_text().strip()
        except (OSError, UnicodeDecodeError) as problem:
            raise SettingsError(
                f"{name}{FILE} cannot be read ({type(problem).__name__})."
            ) from None
        if not values[name]:
            raise SettingsError(f"{name}{FILE} names an empty file.")
    return values


def mask(text: str) -> str:
    """Return the text without the secrets of its URLs: passwords, queries, paths of http URLs."""
    text = re.sub(r"(postgres[^:]*://[^:/@\s]*):\S*@", r"\1:***@", text)
    text = re.sub(r"(smtps?://[^:/@\s]*):\S*@", r"\1:***@", text)
    text = re.sub(r"(rediss?://[^:/@\s]*):\S*@", r"\1:***@", text)
    text = re.sub(r"(https?://)[^/\s,]*@", r"\1***@", text)
    text = re.sub(r"(https?://[^/?\s,]+)[/?][^\s,]+", r"\1/***", text)
    return re.sub(r"(postgres[^?\s]*)\?\S+", r"\1?***", text)


def _url_of(bind: str) -> str:
    host, _, port = bind.rpartition(":")
    return f"http://{'127.0.0.1' if host in {'0.0.0.0', '[::]'} else host}:{port}"


def _hint(name: str, names: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(names), n=1)
    return f"did you mean {near[0]}" if near else "`specd config check` lists all settings"


def _shown(value: object, *, secret: bool) -> str:
    text = _written(value)
    if not secret:
        return text
    return mask(text) if "://" in text or not text else "***"
