"""The rooms of the house and the floors they stand on: an import points down, never up or across.

Floors are data; the arrows are read from the source.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]

# Package -> its floors from the ground up. A room may import rooms of lower floors only.
FLOORS: dict[str, tuple[tuple[str, ...], ...]] = {
    "models.chat": (
        ("tables",),
        ("events", "ground"),
        ("identity",),
        ("access", "calls", "devices"),
        (
            "alert_words",
            "bot_storage",
            "muted_users",
            "navigation_views",
            "presence",
            "rendering",
            "saved_snippets",
            "topics",
        ),
        ("people",),
        ("messages", "organization"),
        ("uploads",),
        ("sending",),
        (
            "channels",
            "deletion",
            "drafts",
            "editing",
            "exports",
            "incoming_mail",
            "outgoing_webhooks",
            "profiles",
            "reactions",
            "reading",
            "scheduling",
            "submessages",
            "user_groups",
        ),
        ("accounts", "queues", "typing_status"),
        ("bots", "invitations", "settings"),
        ("snapshot",),
    ),
    "server": (("wire",), ("document",), ("serving",)),
}
SHIPPED = (
    *("adapters", "cli", "demo", "handlers", "models", "pages", "server", "specs", "workers"),
    *(
        "logs.py",
        "security_events.py",
        "services.py",
        "setting_values.py",
        "settings.py",
        "wsgi.py",
    ),
)


@dataclass
class Room:
    """One room as it is in the source: its size and what it imports of the same package."""

    name: str
    floor: int
    lines: int = 0
    modules: int = 0
    imports: Counter[str] = field(default_factory=Counter)


def sources(*places: str) -> list[Path]:
    """Every Python file below these files and folders of the tree."""
    found = []
    for place in places:
        path = ROOT / place
        found += [path] if path.is_file() else sorted(path.rglob("*.py"))
    return [path for path in found if "versions" not in path.parts]


def imported(tree: ast.AST) -> Iterator[str]:
    """Dotted names that a module imports; of `from a import b` it is `a.b`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def rooms_of(package: str) -> dict[str, Room]:
    """The rooms of a package by name, from the ground up; raises `KeyError` for one on no floor."""
    rooms = {
        name: Room(name, floor)
        for floor, names in enumerate(FLOORS[package], start=1)
        for name in sorted(names)
    }
    base = ROOT.joinpath(*package.split("."))
    for path in sources(str(base.relative_to(ROOT))):
        if path.parent == base:
            continue  # the face of the package, which any room may know
        room = rooms[path.relative_to(base).parts[0]]
        text = path.read_text()
        room.modules += 1
        room.lines += len(text.splitlines())
        prefix = f"{package}."
        for name in imported(ast.parse(text)):
            target = name.removeprefix(prefix).split(".")[0] if name.startswith(prefix) else ""
            if target in rooms and target != room.name:
                room.imports[target] += 1
    return rooms


def upward(rooms: dict[str, Room]) -> list[str]:
    """Arrows that point up or across; empty where the house stands."""
    return [
        f"{room.name} -> {target}"
        for room in rooms.values()
        for target in room.imports
        if rooms[target].floor >= room.floor
    ]
