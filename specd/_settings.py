"""The settings that every project has, and the means to declare more.

A setting is one environment variable. Its field declares its name, default, parser and help text. A
project adds its own settings in a subclass of `Settings`. `SPECD_TEST_*` belongs to test suites and
is not read here.
"""

import difflib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import Field, dataclass, field, fields
from inspect import get_annotations
from ipaddress import ip_address
from pathlib import Path
from typing import (
    Any,
    ClassVar,
    Literal,
    Self,
    TypeVar,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)
from urllib.parse import urlsplit

from specd._project import ROOT_VARIABLE, current, find_object
from specd._release import install_extra
from specd._values import (
    find_parser,
    parse_bind,
    parse_database_url,
    parse_limits_url,
    parse_origins,
    parse_own_url,
    parse_proxies,
)

PREFIX = "SPECD_"
TEST_PREFIX = "SPECD_TEST_"
FILE = "_FILE"
DAY_S = 86_400
MAX_RETENTION_S = 10 * 365 * DAY_S

REMOVED: Mapping[str, str] = {}
"""Variables of earlier releases that have no effect now -> a sentence that says what to do instead.
During a rolling upgrade, servers of both releases read one environment, so these variables are
reported and ignored.
"""

T = TypeVar("T")


class SettingsError(Exception):
    """A variable is unknown or has a bad value. The message is one sentence, without secrets."""


class MissingExtra(SettingsError):
    """An extra of specd that is needed is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} requires the extra `{extra}`: {install_extra(extra)}.")


@dataclass(frozen=True, slots=True)
class Described:
    """One setting as it is displayed. Secrets in `value` are masked."""

    variable: str
    value: str
    default: str
    origin: str
    help: str


@dataclass(frozen=True, slots=True)
class Variable:
    """An environment variable. It sets `field`, or the entry `key` if the field is a mapping.

    `default` is the text that is displayed.
    """

    name: str
    field: str
    key: str
    parse: Callable[[str], Any]
    help: str
    default: str
    is_secret: bool

    def put(self, values: dict[str, Any], value: Any) -> None:
        """Add a parsed value to the keyword arguments of `Settings`."""
        if self.key:
            values.setdefault(self.field, {})[self.key] = value
        else:
            values[self.field] = value

    def value_in(self, settings: "Settings") -> Any:
        value = getattr(settings, self.field)
        return value.get(self.key, self.default) if self.key else value


def _written(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    return ",".join(value) if isinstance(value, tuple) else str(value)


REQUIRED: Any = object()
"""The value of a setting that has no default and is not set."""


@overload
def setting(
    help: str,
    *,
    default: T,
    parse: Callable[[str], T] | None = None,
    minimum: float | None = None,
    maximum: float | None = None,
    shown: str | None = None,
    secret: bool = False,
) -> T: ...
@overload
def setting(
    help: str,
    *,
    parse: Callable[[str], Any] | None = None,
    minimum: float | None = None,
    maximum: float | None = None,
    secret: bool = False,
) -> Any: ...
def setting(
    help: str,
    *,
    default: Any = REQUIRED,
    parse: Callable[[str], Any] | None = None,
    minimum: float | None = None,
    maximum: float | None = None,
    shown: str | None = None,
    secret: bool = False,
) -> Any:
    """Declare a field of a `Settings` class, which one environment variable sets.

    `help` explains the setting to operators in one sentence. A setting without a `default` must be
    set, or nothing starts.

    The type of the field decides how the text of the variable is read: `bool`, `int`, `float`,
    `str`, `Path`, or a `Literal` of texts. For another type, `parse` returns the value of a text or
    raises `ValueError`, whose message completes the sentence that begins with the variable's name,
    such as "must be a domain". `minimum` and `maximum` limit a number. `minimum` also limits the
    length of a text. The values of fields whose names end in `_s` are seconds.

    `shown` is the displayed default, if it depends on other settings. A `secret` is masked wherever
    settings are displayed, and can be given as a file: the variable NAME_FILE contains its path.
    """
    if shown is None:
        shown = "" if default is REQUIRED else _written(default)
    declared = Declaration(help, parse, minimum, maximum, shown, secret)
    return field(default=default, repr=not secret, metadata={"declared": declared})


@dataclass(frozen=True, slots=True)
class Declaration:
    """The arguments of `setting`."""

    help: str
    parse: Callable[[str], Any] | None
    minimum: float | None
    maximum: float | None
    shown: str
    secret: bool

    def variable(self, name: str, kind: Any, *, field: str, key: str = "") -> Variable:
        """Return the variable that sets a field of a type. Raise TypeError for a type that has no
        parser.
        """
        parse = self.parse or find_parser(
            kind, minimum=self.minimum, maximum=self.maximum, is_seconds=name.endswith("_s")
        )
        if parse is None:
            raise TypeError(f"the setting {name} of the type {kind} requires parse=")
        return Variable(name.upper(), field, key, parse, self.help, self.shown, self.secret)


def setting_for_each(
    settings: Mapping[str, T] | Callable[[], Mapping[str, T]], variable: str
) -> Mapping[str, T]:
    """Declare a field of a `Settings` class that is a mapping. Each key has its own variable.

    `settings` maps each key to its `setting(...)`, or is a function that returns this mapping when
    it is needed. `variable` is the pattern of the variables' names, in which `{}` is replaced by
    the key: with `max_{}` and the key `drafts`, the variable ends in `MAX_DRAFTS`.
    """
    find = settings if callable(settings) else lambda: settings
    return field(default_factory=dict, repr=False, metadata={"each": find, "variable": variable})


def find_periods() -> Mapping[str, int]:
    """Return the setting of each period in the retention rules of the project's services. Raise
    ValueError for a period with two defaults.
    """
    rules: dict[str, list[Any]] = {}
    for service in current().services:
        if service.retention:
            for rule in find_object(service.retention):
                if rule.period is not None:
                    rules.setdefault(rule.period, []).append(rule)
    found = {}
    for period, named in rules.items():
        days = {rule.days for rule in named}
        if len(days) > 1:
            raise ValueError(f"rules of retention give {period} several defaults: {sorted(days)}")
        tables = ", ".join(dict.fromkeys(rule.table for rule in named))
        help = next((rule.help for rule in named if rule.help), f"Retention of rows of {tables}.")
        found[period] = setting(
            help, default=round(days.pop() * DAY_S), minimum=1, maximum=MAX_RETENTION_S
        )
    return found


@dataclass(frozen=True)
@dataclass_transform(frozen_default=True)
class Settings:
    """The settings of one process, from its environment variables. They never change.

    A project declares its own settings in a subclass, each with `setting(...)`. Their variables
    begin with the prefix of the subclass:

        class ShopSettings(Settings, prefix="SHOP_"):
            currency: str = setting("Currency of all prices.", default="EUR")

    `ctx.settings` is this object in a handler. Values of fields whose names end in `_s` are
    seconds. A test passes values by name: `ShopSettings(currency="USD")`.
    """

    _prefixes: ClassVar[Mapping[str, str]] = {}
    """Field of a subclass -> the prefix of its variable."""

    data_dir: Path = setting(
        "Directory of the SQLite files and the run-time state.",
        default=Path("./var"),
        shown="./var",
    )
    database_urls: Mapping[str, str] = setting_for_each(
        lambda: {
            service: setting(
                f"Database of the {service} service.",
                default="",
                parse=parse_database_url,
                shown=f"sqlite:///{{SPECD_DATA_DIR}}/{service}.db",
                secret=True,
            )
            for service in current().databases
        },
        variable="{}_database_url",
    )
    database_direct_urls: Mapping[str, str] = setting_for_each(
        lambda: {
            service: setting(
                f"PostgreSQL of the {service} service without the pooler (`pooling=transaction` in"
                " the URL above), for notifications. Without it, the database is polled.",
                default="",
                parse=parse_database_url,
                secret=True,
            )
            for service in current().databases
        },
        variable="{}_database_direct_url",
    )
    database_pool_size: int = setting(
        "PostgreSQL connections per process: this many for reads and as many for writes.",
        default=8,
        minimum=1,
        maximum=200,
    )
    lock_timeout_s: float = setting(
        "Longest wait for a database lock before the request fails.",
        default=3.0,
        minimum=0.05,
        maximum=60,
    )
    bind: str = setting(
        "Address that the HTTP server listens on.", default="127.0.0.1:8080", parse=parse_bind
    )
    public_url: str = setting(
        "Public address of the server, in links and published documents. If it has a path, the"
        " proxy removes it from requests.",
        default="",
        parse=parse_own_url,
        shown="http://{SPECD_BIND}",
    )
    allowed_origins: tuple[str, ...] = setting(
        "Other origins whose pages can read responses and send changes (CORS).",
        default=(),
        parse=parse_origins,
    )
    trusted_proxies: tuple[str, ...] = setting(
        "Proxies whose `X-Forwarded-For` is trusted: addresses, networks, `unix`.",
        default=(),
        parse=parse_proxies,
    )
    workers: int = setting("Number of HTTP server processes.", default=2, minimum=1, maximum=128)
    drain_s: float = setting(
        "How long a server keeps serving after SIGTERM while `/readyz` answers 503, for balancers.",
        default=0.0,
        minimum=0,
        maximum=60,
    )
    body_read_timeout_s: float = setting(
        "Deadline for a client to send the whole request body.",
        default=15.0,
        minimum=0.1,
        maximum=600,
    )
    answer_read_timeout_s: float = setting(
        "Longest time a client can stop reading a response before the connection closes.",
        default=20.0,
        minimum=0.1,
        maximum=600,
    )
    rate_limits: bool = setting(
        "Enable rate limits (`specd demo` runs without limits).", default=True
    )
    limits_url: str = setting(
        "Redis or Valkey in which all machines count requests together:"
        " `redis://USER:PASSWORD@HOST:PORT/NUMBER`, or `rediss://` for TLS. If empty, each machine"
        " counts by itself.",
        default="",
        parse=parse_limits_url,
        secret=True,
    )
    log_level: Literal["debug", "info", "warning", "error"] = setting(
        "Minimum log level.", default="info"
    )
    metrics_dir: Path = setting(
        "Directory of the counters that server processes share.",
        default=Path(),
        shown="{SPECD_DATA_DIR}/metrics",
    )
    validate_responses: bool = setting(
        "Validate each response against the document; a mismatch becomes a 500.", default=False
    )
    allow_plain_http: bool = setting(
        "Allow `http://` addresses of external services on other machines.", default=False
    )
    development: bool = setting(
        "Enable development features; rejected on an address that other machines can reach.",
        default=False,
    )
    retention_s: Mapping[str, int] = field(
        default_factory=dict,
        repr=False,
        metadata={"each": find_periods, "variable": "{}_retention_s", "is_late": True},
    )
    """The periods of the services' retention rules that differ from their defaults."""

    def __init_subclass__(cls, *, prefix: str = PREFIX) -> None:
        super().__init_subclass__()
        own = dict.fromkeys(get_annotations(cls), prefix)
        cls._prefixes = {**cls._prefixes, **own}
        dataclass(frozen=True)(cls)

    def __post_init__(self) -> None:
        self._require_values()
        self._fill_mappings()
        data_dir = _below_root(self.data_dir)
        names = current().databases
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

    def _require_values(self) -> None:
        """Raise `SettingsError` for settings without a default that are not set."""
        lacks = [f for f in fields(self) if getattr(self, f.name) is REQUIRED]
        if lacks:
            names = " and ".join(self.variable(f.name) for f in lacks)
            have = "it has no default" if len(lacks) == 1 else "they have no defaults"
            meanings = " ".join(f.metadata["declared"].help for f in lacks)
            raise SettingsError(f"{names} must be set, because {have}: {meanings}")

    def _fill_mappings(self) -> None:
        """Add the defaults of entries that are not set."""
        for f in fields(self):
            if "each" in f.metadata and "is_late" not in f.metadata:
                defaults = {key: each.default for key, each in f.metadata["each"]().items()}
                self._derive(**{f.name: defaults | dict(getattr(self, f.name))})

    def _derive(self, **values: Any) -> None:
        """Set fields whose values follow from others. Only `__post_init__` may call this."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _folder(self, folder: Path, name: str) -> Path:
        """Return a folder, or the folder with this name in the data directory if it is not set."""
        return _below_root(self.data_dir / name if Path(folder) == Path() else folder)

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
        """The file that exists while `specd restore` fills the installation. Nothing else starts
        until the command has finished.
        """
        return self.data_dir / "restoring"

    @property
    def published_url(self) -> str | None:
        """The public address, if the operator has set one."""
        return None if self.public_url == _url_of(self.bind) else self.public_url

    @property
    def path_prefix(self) -> str:
        """The path of the public address, such as `/shop`, or an empty text."""
        return urlsplit(self.public_url).path.rstrip("/")

    @classmethod
    def variable(cls, name: str) -> str:
        """Return the name of the environment variable that sets a field."""
        return cls._prefixes.get(name, PREFIX) + name.upper()

    @classmethod
    def variables(cls, *, with_periods: bool = True) -> dict[str, Variable]:
        """Return name -> variable, in the order of the fields and of their entries. `with_periods`
        includes the retention periods, which imports the tables of all services.
        """
        types, found = get_type_hints(cls), {}
        for f in fields(cls):
            if "is_late" in f.metadata and not with_periods:
                continue
            prefix = cls._prefixes.get(f.name, PREFIX)
            for name, key, declared in _declared(f):
                kind = types[f.name] if declared is f else get_args(types[f.name])[1]
                its = declared.metadata["declared"].variable(name, kind, field=f.name, key=key)
                found[prefix + its.name] = its
        return found

    @classmethod
    def from_env(cls, env: Mapping[str, str] | None = None) -> Self:
        """Return the settings of the environment. An empty variable counts as unset.

        For a secret NAME, NAME_FILE may be the path of a file with the secret. Raise
        `SettingsError` for an unknown variable, a bad value, or a value that is unsafe in
        combination with others.
        """
        by_name = cls.variables(with_periods=False)
        environ = with_secret_files(os.environ if env is None else env, by_name)
        prefixes = (PREFIX, *cls._prefixes.values())
        for name in sorted(environ):
            if not name.startswith(prefixes) or name.startswith(TEST_PREFIX) or name in REMOVED:
                continue
            if name not in (*by_name, ROOT_VARIABLE):
                by_name = cls.variables()
            if name not in (*by_name, ROOT_VARIABLE):
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

    @classmethod
    def export(cls, env: Mapping[str, str]) -> dict[str, str]:
        """Return the settings in an environment that are not empty, sorted by name, with the
        contents of the files NAME_FILE. Raise `SettingsError` if a file cannot be read.
        """
        known = cls.variables()
        return {
            name: text
            for name, text in sorted(with_secret_files(env, known).items())
            if name in known and text.strip()
        }

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


def settings_for_check(data_dir: Path, env: Mapping[str, str] | None = None) -> Settings:
    """Return the project's settings with their defaults, to check its services without serving
    them. A setting without a default has its value in the environment, or else a placeholder.
    """
    found, environ = settings_class(), os.environ if env is None else env
    types, values = get_type_hints(found), dict[str, Any](data_dir=data_dir)
    for f in fields(found):
        if f.default is REQUIRED:
            declared: Declaration = f.metadata["declared"]
            values[f.name] = _placeholder(types[f.name], declared)
            if text := environ.get(found.variable(f.name), "").strip():
                parse = declared.variable(f.name, types[f.name], field=f.name).parse
                with suppress(ValueError):
                    values[f.name] = parse(text)
    return found(**values)


def _placeholder(kind: Any, declared: Declaration) -> Any:
    """Return a valid value of a type, or None if `setting` has no parser for the type."""
    least = declared.minimum or 0
    if kind is str:
        return "placeholder".ljust(int(least), "-")
    if kind in (bool, int, float):
        return kind(least)
    if kind is Path:
        return Path("placeholder")
    return get_args(kind)[0] if get_origin(kind) is Literal else None


def load_settings() -> Settings:
    """Return the project's settings from the environment. Raise `SettingsError`."""
    return settings_class().from_env()


def find_removed(env: Mapping[str, str]) -> dict[str, str]:
    """Return the removed variables that an environment sets -> what to do about each."""
    return {name: REMOVED[name] for name in sorted(env) if name in REMOVED}


def variables() -> dict[str, Variable]:
    """Return the variables of the project's settings: name -> variable."""
    return settings_class().variables()


def variable(name: str) -> str:
    """Return the name of the environment variable that sets a field of the project's settings."""
    return settings_class().variable(name)


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach a host. The host is a name or an address."""
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
    """Return the text without the secrets in its URLs: passwords, queries and paths of
    http URLs.
    """
    text = re.sub(r"(postgres[^:]*://[^:/@\s]*):\S*@", r"\1:***@", text)
    text = re.sub(r"(smtps?://[^:/@\s]*):\S*@", r"\1:***@", text)
    text = re.sub(r"(rediss?://[^:/@\s]*):\S*@", r"\1:***@", text)
    text = re.sub(r"(https?://)[^/\s,]*@", r"\1***@", text)
    text = re.sub(r"(https?://[^/?\s,]+)[/?][^\s,]+", r"\1/***", text)
    return re.sub(r"(postgres[^?\s]*)\?\S+", r"\1?***", text)


def _declared(f: Field[Any]) -> Iterator[tuple[str, str, Field[Any]]]:
    """Yield each variable of a field without its prefix, its key, and its declaration."""
    if "declared" in f.metadata:
        yield f.name, "", f
    else:
        for key, each in f.metadata["each"]().items():
            yield f.metadata["variable"].format(key), key, each


def _below_root(folder: Path) -> Path:
    """Return a folder whose relative path starts at the root of the project, not at a
    folder in it.
    """
    root = current().root
    return Path(folder) if root == Path.cwd() else root / folder


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
