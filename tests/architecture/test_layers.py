"""What each layer may import of ours, read from the source."""

import ast
import pkgutil

import pytest

from specd import Refusal
from tests.architecture.imports import Modules, imports, shipped
from wsgi import project

# Layer -> the modules of ours it may import, besides itself; a dotted name allows that module only.
ALLOWED = {
    "project": set(),
    "base_values": set(),
    "base_settings": {"base_values", "project"},
    "setting_values": {"base_values"},
    "settings": {"base_settings", "base_values", "setting_values"},
    "logs": set(),
    "seams": set(),
    "security_events": set(),
    "tracing": {"security_events"},
    "specs": {"project", "specd._engine.document.checking", "specd._engine.openapi"},
    "server": {"logs", "seams", "security_events", "tracing"},
    "models": {"base_settings", "project", "seams", "security_events", "settings", "tracing"},
    "adapters": {"base_settings", "models", "settings"},
    "handlers": {
        "adapters",
        "base_settings",
        "models",
        "project",
        "security_events",
        "settings",
        "specs",
        "specd._engine.context",
        "specd._engine.document.checking",
        "specd._engine.files",
        "specd._engine.idempotency",
        "specd._engine.phases",
        "specd._engine.pools",
        "specd._engine.response",
    },
    "workers": {"adapters", "base_settings", "logs", "models", "project", "settings", "tracing"},
    "pages": {"models", "security_events", "settings"},
    "demo": {"adapters", "models"},
    "cli": {
        *("adapters", "applications", "base_settings", "base_values", "demo", "logs", "models"),
        *("project", "seams", "server", "settings", "specs", "tracing", "workers"),
    },
    "applications": {"base_settings", "logs", "pages", "project", "server", "tracing"},
    "wsgi": {"project"},
}
# Each service's error table names what the engine raises; its wiring hands the engine a service.
MAY_KNOW_THE_ENGINE = {
    *(entry.wiring for entry in project.services),
    *(
        f"handlers.{name}.wire.{module}"
        for name in project.names
        for module in ("errors", "failures", "gauges")
    ),
    "specd._composition",
    "handlers.gauges",
    "handlers.chat.wire.context",
    "handlers.chat.wire.bearers",
    "handlers.chat.wire.limits",
    "handlers.chat.wire.violations",
}
# Heavy, or an optional extra: only a process that needs it pays for it. Prefix -> who may wait.
LAZY = {
    "web3": ("adapters", "demo"),
    "demo.chain.pyevm": ("adapters", "demo"),
    "adapters.file_store.s3": ("adapters", "demo"),
    "specd._limits.redis_store": ("adapters",),
    "specd._tracing.otel": ("tracing",),
    "eth_abi": ("demo",),
    "eth_utils": ("demo",),
    "specd._db.migrate": ("cli",),
    "psycopg": ("models",),
    "Crypto": ("models",),
    "markdown_it": ("pages",),
    "zxcvbn": ("models",),
}


def layer_of(name: str) -> str:
    return name.partition(".")[0]


def find_upward(modules: Modules) -> list[str]:
    """Return the imports that a module's layer does not allow."""
    found = []
    for module, tree in modules.items():
        layer = layer_of(module)
        engine = {"server"} if module in MAY_KNOW_THE_ENGINE else set()
        allowed = tuple(f"{name}." for name in ALLOWED[layer] | {layer} | engine)
        found += [
            f"{module}:{node.lineno} imports {name}"
            for name, node in imports(tree)
            if layer_of(name) in ALLOWED and not f"{name}.".startswith(allowed)
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
    assert find_upward(shipped()) == []


def test_services_do_not_know_each_other() -> None:
    assert find_crossings(shipped()) == []


@pytest.mark.parametrize(
    ("module", "source", "is_refused"),
    [
        ("models.chat.bots", "from models import clock", False),
        ("models.chat.bots", "import handlers.chat.bots", True),
        ("models.chat.bots", "def f():\n    from handlers import chat", True),
        ("handlers.chat.bots", "from specd._engine.context import Context", False),
        ("handlers.chat.bots", "from server.contexts import Context", True),
        ("handlers.chat.bots", "from specd._engine.service import Service", True),
        (project.services[0].wiring, "from specd._engine.service import Service", False),
    ],
)
def test_an_upward_import_is_found(module: str, source: str, is_refused: bool) -> None:
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
def test_an_import_of_the_other_service_is_found(
    module: str, source: str, is_refused: bool
) -> None:
    assert bool(find_crossings({module: ast.parse(source)})) is is_refused


def is_refusal(name: str) -> bool:
    value = pkgutil.resolve_name(name)
    is_error = isinstance(value, type) and issubclass(value, Refusal)
    return is_error or "errors" in name.split(".")


def test_adapters_raise_exceptions_of_their_own() -> None:
    """How a client is told of a failure outside is for the caller of the adapter to say."""
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
def test_a_refusal_is_told_from_other_names(name: str, expected: bool) -> None:
    assert is_refusal(name) is expected


def test_imports_stand_at_the_top() -> None:
    for module, tree in shipped().items():
        for name, node in imports(tree):
            lazy = any(
                name.startswith(prefix) and layer_of(module) in who for prefix, who in LAZY.items()
            )
            assert node in tree.body or lazy, f"{module}:{node.lineno} imports {name} inside"
