"""Private parts of connexion are used in one module, which detects changes in connexion."""

import ast
import importlib
from pathlib import Path

import pytest

from specd import _engine as server
from specd._engine.document import connexion_seams
from specd._library_internals import LIBRARY_INTERNALS

SOURCE = Path(server.__file__).parent
MODULE = Path(connexion_seams.__file__)


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def other_modules() -> list[Path]:
    """Return the modules of the engine that use connexion, except the one for its private parts."""
    found = [path for path in sorted(SOURCE.rglob("*.py")) if "connexion" in path.read_text()]
    return [path for path in found if path != MODULE]


def test_list_has_each_private_method_that_the_module_uses() -> None:
    tree = ast.parse(MODULE.read_text())
    used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    used |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    listed = {seam.rpartition(".")[2] for seam in LIBRARY_INTERNALS if seam.startswith("connexion")}
    assert listed == {name for name in used if is_private(name)}


@pytest.mark.parametrize("path", other_modules(), ids=lambda path: path.stem)
class TestElsewhere:
    def test_no_private_attribute_of_another_object_is_used(self, path: Path) -> None:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and is_private(node.attr):
                of = ast.unparse(node.value)
                own = ("self", "cls", "super()")
                assert of in own, f"{path.name}:{node.lineno} uses {node.attr}"

    def test_classes_override_and_inherit_no_unlisted_private_method(self, path: Path) -> None:
        name = ".".join((server.__name__, *path.relative_to(SOURCE).with_suffix("").parts))
        module = importlib.import_module(name.removesuffix(".__init__"))
        for kind in vars(module).values():
            if not (isinstance(kind, type) and kind.__module__ == module.__name__):
                continue
            foreign = {
                attribute
                for base in kind.__mro__
                if base.__module__.startswith("connexion.")
                for attribute in vars(base)
                if is_private(attribute)
            }
            shadowed = foreign & set(vars(kind))
            assert not {item for item in shadowed if not item.startswith("_abc_")}, kind
            calls = {
                node.attr
                for node in ast.walk(ast.parse(path.read_text()))
                if isinstance(node, ast.Attribute) and is_private(node.attr)
            }
            assert not calls & foreign, kind
