"""The arrows of the architecture: what each layer may import of ours, read from the source."""

import ast
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import pytest

from services import NAMES, SERVICES

ROOT = Path(__file__).parent.parent.parent

# Layer -> the modules of ours it may import, besides itself; a dotted name allows that module only.
ALLOWED = {
    "services": set(),
    "setting_values": set(),
    "settings": {"services", "setting_values"},
    "logs": set(),
    "security_events": set(),
    "specs": set(),
    "server": {"logs", "security_events"},
    "models": {"security_events", "settings"},
    "adapters": {"models", "settings"},
    "handlers": {
        "adapters",
        "models",
        "security_events",
        "settings",
        "specs",
        "server.context",
        "server.files",
        "server.idempotency",
        "server.phases",
        "server.pools",
        "server.response",
    },
    "workers": {"adapters", "logs", "models", "services", "settings"},
    "pages": {"models", "security_events", "settings"},
    "demo": {"adapters", "models"},
    "cli": {"adapters", "demo", "models", "services", "settings", "workers"},
    # What it serves it finds through the registry.
    "wsgi": {"logs", "models", "pages", "server", "services", "settings"},
}
# Each service's error table names what the engine raises; its wiring hands the engine a service.
MAY_KNOW_THE_ENGINE = {
    *(f"{entry.wiring.replace('.', '/')}.py" for entry in SERVICES),
    *(f"handlers/{name}/wire/{module}.py" for name in NAMES for module in ("errors", "failures")),
    "handlers/chat/wire/context.py",
    "handlers/chat/wire/limits.py",
    "handlers/chat/wire/violations.py",
}
# Heavy, or an optional extra: only a process that needs it pays for it. Prefix -> who may wait.
LAZY = {
    "web3": ("adapters", "demo"),
    "demo.chain.pyevm": ("adapters", "demo"),
    "adapters.file_store.s3": ("adapters", "demo"),
    "eth_abi": ("demo",),
    "eth_utils": ("demo",),
    "models.migrate": ("cli",),
    "psycopg": ("models",),
    "Crypto": ("models",),
    "zxcvbn": ("models",),
}


def sources(layer: str) -> list[Path]:
    module = ROOT / f"{layer}.py"
    return [module] if module.exists() else sorted((ROOT / layer).rglob("*.py"))


def imports(tree: ast.AST) -> Iterator[tuple[str, ast.stmt]]:
    """(absolute dotted module, statement) of each import in the tree, at any depth."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here"
            # `from server import context` means the module server.context.
            yield from ((f"{node.module}.{alias.name}", node) for alias in node.names)


@pytest.mark.parametrize("layer", ALLOWED)
def test_imports_follow_the_arrows(layer: str) -> None:
    assert sources(layer), f"{layer} has no source"
    for path in sources(layer):
        name = path.relative_to(ROOT).as_posix()
        allowed = ALLOWED[layer] | {layer} | ({"server"} if name in MAY_KNOW_THE_ENGINE else set())
        for module, node in imports(ast.parse(path.read_text())):
            if module.partition(".")[0] in ALLOWED:
                ok = any(module == a or module.startswith(f"{a}.") for a in allowed)
                assert ok, f"{name}:{node.lineno} imports {module}: {layer} may not"


@pytest.mark.parametrize("layer", ["handlers", "models"])
def test_services_do_not_know_each_other(layer: str) -> None:
    for service, other in permutations(NAMES, 2):
        for path in sorted((ROOT / layer / service).rglob("*.py")):
            for module, node in imports(ast.parse(path.read_text())):
                parts = module.split(".")
                assert other not in parts[1:2], f"{path}:{node.lineno} imports {module}"


def test_adapters_raise_exceptions_of_their_own() -> None:
    """How a client is told of a failure outside is for the caller of the adapter to say."""
    for path in sources("adapters"):
        for module, node in imports(ast.parse(path.read_text())):
            is_refusal = module.startswith("models.") and "errors" in module.split(".")
            assert not is_refusal, f"{path}:{node.lineno} imports {module}"


@pytest.mark.parametrize("layer", ALLOWED)
def test_imports_stand_at_the_top(layer: str) -> None:
    for path in sources(layer):
        tree = ast.parse(path.read_text())
        for module, node in imports(tree):
            lazy = any(module.startswith(name) and layer in who for name, who in LAZY.items())
            assert node in tree.body or lazy, f"{path}:{node.lineno} imports {module} inside"
