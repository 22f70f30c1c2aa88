"""Mutants are small changes, sampled by a seed, and run the nearest tests first."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.mutants.operators import find_mutants, is_python
from tests.support.mutants.sample import draw, find_again, read_sample, write_sample
from tests.support.mutants.selection import nearest_tests, read_calls
from tests.support.touched import ROOT


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("def f(a):\n    return a < 1\n", "def f(a):\n    return a <= 1\n"),
        ("def f(a):\n    return a not in b\n", "def f(a):\n    return a in b\n"),
        ("def f(a):\n    return (a) and (b)\n", "def f(a):\n    return (a) or (b)\n"),
        ("def f(a):\n    return not a\n", "def f(a):\n    return (a)\n"),
        ("def f(a):\n    return a + 1\n", "def f(a):\n    return a - 1\n"),
        ("N = 2 * 3\n", "N = 2 * 4\n"),
        ("def f(a=True):\n    g(a)\n", "def f(a=False):\n    g(a)\n"),
        ("def f(a):\n    g(a)\n", "def f(a):\n    pass\n"),
        ("def f(a):\n    return a\n", "def f(a):\n    return None\n"),
        ("def f(a):\n    if a:\n        raise E\n", "def f(a):\n    if a:\n        pass\n"),
        ("def f(a):\n    if a:\n        return\n", "def f(a):\n    if False:\n        return\n"),
        ("def f(a):\n    g(a, b)\n", "def f(a):\n    g(b, a)\n"),
        ("é = 'é' if a > b else c\n", "é = 'é' if a >= b else c\n"),
    ],
)
def test_source_is_changed_in_one_place(source: str, changed: str) -> None:
    found = find_mutants("a.py", source.encode())
    assert changed in [mutant.apply(source.encode()).decode() for mutant in found]


@pytest.mark.parametrize(
    "source",
    [
        '"""Text of 1."""\n',
        "def f(a: Literal[1]) -> Literal[2]: ...\n",
        "A: Literal[3]\n",
        "N = A | B\n",
        "def f():\n    raise NotImplementedError\n",
        "class A(Protocol):\n    def f(self, a=1): ...\n",
        "if TYPE_CHECKING:\n    f(1)\n",
        "def f(a):\n    assert a is not None\n",
    ],
)
def test_code_that_does_not_run_is_unchanged(source: str) -> None:
    assert not find_mutants("a.py", source.encode())


def test_sample_depends_on_its_seed_and_is_found_again(tmp_path: Path) -> None:
    sample = draw(ROOT, 12, 51)
    assert sample == draw(ROOT, 12, 51) != draw(ROOT, 12, 52)
    assert all(is_python(mutant.apply((ROOT / mutant.file).read_bytes())) for mutant in sample)
    write_sample(tmp_path / "sample", sample)
    assert find_again(ROOT, read_sample(tmp_path / "sample")) == sample


def test_test_of_a_caller_is_nearer_than_test_of_an_importer(tmp_path: Path) -> None:
    files = {
        "models/a.py": "def f(x):\n    return x > 1\n",
        "handlers/b.py": "from models import a\ndef g():\n    a.f(2)\n",
        "handlers/c.py": "from models import a\n",
        "tests/handlers/test_b.py": "",
        "tests/handlers/test_c.py": "",
    }
    for file, source in files.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(source)
    graph = {
        "models/a.py": set[str](),
        "handlers/b.py": {"models/a.py"},
        "handlers/c.py": {"models/a.py"},
        "tests/handlers/test_b.py": {"handlers/b.py"},
        "tests/handlers/test_c.py": {"handlers/c.py"},
    }
    mutant = find_mutants("models/a.py", files["models/a.py"].encode())[0]
    assert nearest_tests(mutant, tmp_path, graph, read_calls(tmp_path, graph)) == [
        "tests/handlers/test_b.py",
        "tests/handlers/test_c.py",
    ]


def test_fork_stops_at_the_first_failure_and_names_it(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "def test_a(): pass\ndef test_b(): assert False\ndef test_c(): pass\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", ROOT / "tests/support/mutants/warm.py", tmp_path],
        input='{"tests": ["test_it.py"], "seconds": 60}\n',
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert '"passed": ["test_it.py::test_a"], "failed": ["test_it.py::test_b"]' in done.stdout
