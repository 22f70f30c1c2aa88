"""The imports that each layer may have, read from the source."""

import ast
import pkgutil

import pytest

from specd import Refusal
from tests.architecture.imports import LIBRARY, ROOT, Modules, imports, shipped
from wsgi import project

# Layer -> its allowed imports from this repository: layers, or names of the library. A layer may
# always import from itself.
ALLOWED: dict[str, set[str]] = {
    "specd._library_internals": set(),
    "specd._logs": set(),
    "specd._cors": set(),
    "specd._project": {"specd._cors", "specd._engine.openapi.union.Document"},
    "specd._release": set(),
    "specd._security_events": set(),
    "specd._values": {"specd._cors"},
    "specd._settings": {"specd._project", "specd._release", "specd._values"},
    "specd._tracing": {"specd._release", "specd._security_events"},
    "specd._db": {"specd._library_internals", "specd._project", "specd._settings"},
    "specd._auth": {"specd._engine", "specd._settings"},
    "specd._engine": {
        *("specd._cors", "specd._library_internals", "specd._logs", "specd._release"),
        *("specd._security_events", "specd._tracing"),
    },
    "specd._limits": {"specd._engine", "specd._settings"},
    "specd._pages": {"specd._db"},
    "specd._workers": {
        *("specd._db", "specd._logs", "specd._project", "specd._settings", "specd._tracing"),
    },
    "specd._error_table": {"specd._db", "specd._engine", "specd._security_events"},
    "specd._composition": {
        *("specd._db", "specd._engine", "specd._error_table", "specd._project", "specd._settings"),
    },
    "specd._applications": {
        "specd._composition",
        *("specd._engine", "specd._logs", "specd._pages", "specd._project", "specd._settings"),
        "specd._tracing",
    },
    "specd._cli": {
        *("specd._applications", "specd._composition", "specd._db", "specd._engine"),
        *("specd._library_internals", "specd._limits", "specd._logs", "specd._project"),
        *("specd._release", "specd._settings", "specd._tracing", "specd._values", "specd._workers"),
    },
    "specd._testing": {
        *("specd._composition", "specd._db", "specd._engine", "specd._project", "specd._settings"),
    },
    "specd": {
        *("specd._composition", "specd._cors", "specd._db", "specd._engine"),
        *("specd._error_table", "specd._limits", "specd._project"),
        *("specd._release", "specd._security_events", "specd._settings", "specd._tracing"),
    },
    "specd.auth": {"specd._auth"},
    "specd.commands": {"specd._cli"},
    "specd.db": {"specd._db"},
    "specd.errors": {"specd._db", "specd._engine", "specd._error_table", "specd._settings"},
    "specd.pages": {"specd._pages"},
    "specd.settings": {"specd._settings", "specd._values"},
    "specd.testing": {"specd._testing"},
    "specd.workers": {"specd._workers"},
    "setting_values": {"specd.errors", "specd.settings"},
    "settings": {"setting_values", "specd", "specd.errors", "specd.settings"},
    "specs": {"wsgi.project"},
    "models": {
        *("settings", "specd.Refusal", "specd.current_caller", "specd.db", "specd.emit"),
        *("specd.auth", "specd.current_traceparent", "specd.errors"),
    },
    "adapters": {"models", "settings", "specd.errors.SettingsError"},
    "handlers": {"adapters", "models", "settings", "specd", "specd.db", "specd.errors", "specs"},
    "workers": {
        "specd.Outgoing",
        "specd.Refusal",
        "adapters",
        "models",
        "settings",
        "specd.db",
        "specd.errors",
        "specd.workers",
    },
    "pages": {
        *("models", "settings", "specd.db", "specd.emit", "specd.pages"),
    },
    "demo": {"adapters", "models", "specd.db", "specd.errors"},
    "cli": {
        *("adapters", "demo", "models", "settings", "specd.__version__", "specd.commands"),
        *("specd.db", "specd.errors", "specd.settings", "specs", "workers", "wsgi.project"),
    },
    "wsgi": {"specd.Project", "specd.Service"},
}
# Slow imports or optional extras, which only some processes need. Prefix -> the modules that may
# import it.
LAZY = {
    "web3": ("adapters", "demo"),
    "demo.chain.pyevm": ("adapters", "demo"),
    "adapters.file_store.s3": ("adapters", "demo"),
    "specd._limits.redis_store": ("specd._limits",),
    "specd._tracing.otel": ("specd._tracing",),
    "specd": ("specd", "specd._project", "specd.errors", "specd.testing"),  # for a type checker
    "handlers.chat.types": ("handlers",),  # for a type checker
    "eth_abi": ("demo",),
    "eth_utils": ("demo",),
    "specd._db.migrate": ("specd._cli",),
    "psycopg": ("models", "specd._db"),
    "Crypto": ("models",),
    "argon2": ("specd._auth",),
    "cryptography": ("specd._auth", "specd._db"),
    "jwt": ("specd._auth",),
    "specd._engine.errors": ("specd._auth",),
    "markdown_it": ("specd._pages",),
    "zxcvbn": ("models",),
    "sqlalchemy": ("specd._engine",),  # for a type checker
}
OURS = {layer.partition(".")[0] for layer in ALLOWED}
PUBLIC = {path.stem for path in (ROOT / LIBRARY).glob("[a-z]*.py")}


def layer_of(name: str) -> str:
    """Return the first part of a dotted name. In the library, it is the private package or the
    public module.
    """
    top, _, below = name.partition(".")
    part = below.partition(".")[0]
    is_layer = top == LIBRARY and (part.startswith("_") or part in PUBLIC)
    return f"{top}.{part}" if is_layer else top


def find_upward(modules: Modules) -> list[str]:
    """Return the imports that a module's layer does not allow."""
    found = []
    for module, tree in modules.items():
        layer = layer_of(module)
        found += [
            f"{module}:{node.lineno} imports {name}"
            for name, node in imports(tree)
            if layer_of(name).partition(".")[0] in OURS
            and not {layer_of(name), name} & {layer, *ALLOWED[layer]}
        ]
    return found


def find_crossings(modules: Modules) -> list[str]:
    """Return the imports from one service into another."""

    def service_of(name: str) -> set[str]:
        return {part for part in name.split(".")[1:2] if part in project.names}

    return [
        f"{module}:{node.lineno} imports {name}"
        for module, tree in modules.items()
        for name, node in imports(tree)
        if service_of(module) and service_of(name) - service_of(module)
    ]


def test_no_layer_imports_upward() -> None:
    assert {layer_of(module) for module in shipped()} == set(ALLOWED)
    found = find_upward(shipped())
    assert found == []


def test_services_do_not_import_each_other() -> None:
    assert find_crossings(shipped()) == []


@pytest.mark.parametrize(
    ("module", "source", "is_refused"),
    [
        ("models.chat.bots", "from models import clock", False),
        ("models.chat.bots", "from specd.db import Query", False),
        ("models.chat.bots", "from specd import emit", False),
        ("models.chat.bots", "from specd import Context", True),
        ("models.chat.bots", "from specd._db.prepared import Query", True),
        ("specd._db.reader", "from specd.db import Query", True),
        ("specd._engine.context", "from specd._db import database", True),
        ("specd._db.reader", "from models.chat import bots", True),
        ("models.chat.bots", "import handlers.chat.bots", True),
        ("models.chat.bots", "def f():\n    from handlers import chat", True),
        ("handlers.chat.bots", "from specd import Context", False),
        ("handlers.chat.bots", "from specd._engine.context import Context", True),
        ("handlers.chat.bots", "from specd.workers import Worker", True),
    ],
)
def test_upward_import_is_detected(module: str, source: str, is_refused: bool) -> None:
    assert bool(find_upward({module: ast.parse(source)})) is is_refused


@pytest.mark.parametrize(
    ("module", "source", "is_refused"),
    [
        ("handlers.chat.bots", "from models.chat import bots", False),
        ("handlers.chat.bots", "from models.payment import money", True),
        ("models.payment.money", "from models import chat", True),
        ("specd._workers.registry", "from workers import chat, payment", False),
    ],
)
def test_import_of_the_other_service_is_detected(
    module: str, source: str, is_refused: bool
) -> None:
    assert bool(find_crossings({module: ast.parse(source)})) is is_refused


def is_refusal(name: str) -> bool:
    value = pkgutil.resolve_name(name)
    is_error = isinstance(value, type) and issubclass(value, Refusal)
    return is_error or "errors" in name.split(".")


def test_adapters_raise_their_own_exceptions() -> None:
    """The caller of an adapter decides which error clients receive."""
    for module, tree in shipped().items():
        for name, node in imports(tree):
            if layer_of(module) == "adapters" and layer_of(name) == "models":
                assert not is_refusal(name), f"{module}:{node.lineno} imports {name}"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("specd._db.errors", True),
        ("models.chat.calls.ZoomCallNotCreated", True),
        ("models.webhooks.addresses.AddressRefused", False),
    ],
)
def test_refusal_is_distinguished_from_other_names(name: str, expected: bool) -> None:
    assert is_refusal(name) is expected


def test_imports_are_at_the_top() -> None:
    for module, tree in shipped().items():
        for name, node in imports(tree):
            lazy = any(
                name.startswith(prefix) and layer_of(module) in who for prefix, who in LAZY.items()
            )
            assert node in tree.body or lazy, f"{module}:{node.lineno} imports {name} inside"
