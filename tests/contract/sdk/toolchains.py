"""Compilation and bridges of the SDKs in Go, Java, PHP and Ruby."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.contract.sdk.bridge import bridged
from tests.contract.sdk.generate import GENERATORS
from tests.contract.sdk.python.drive import Answer, Drive
from tests.contract.sdk.stage import GENERATED, NOT_GENERATED, Stage

HERE = Path(__file__).parent
BRIDGES = HERE / "bridges"
COMPILED = GENERATED / "compiled"
JARS = [
    Path("/usr/share/java") / f"{name}.jar"
    for name in ("okhttp", "okio", "gson", "jsr305", "geronimo-annotation-1.3-spec")
]
GO_PACKAGE = "github.com/GIT_USER_ID/GIT_REPO_ID"
PHP_LIBRARIES = Path("/usr/share/php")
GEMS = Path("/usr/share/rubygems-integration/all/gems")
COMPILE_S = 600
Command = list[str | Path]


def compile_by(command: Command, cwd: Path | None = None, **environment: str) -> None:
    """Run a compiler. Raises AssertionError with its output if it fails."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=COMPILE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout[:20_000]


def go(sdk: Path, compiled: Path) -> Command:
    """Compile the SDK in a GOPATH, with a stub of its only library, without downloads."""
    sources = compiled / "src"
    ignored = shutil.ignore_patterns("test", "go.*")
    shutil.copytree(HERE / "stubs" / "go", sources)
    (sources / "drive").mkdir()
    shutil.copytree(sdk, sources / GO_PACKAGE, ignore=ignored)
    has_basic = "ContextBasicAuth = " in (sdk / "configuration.go").read_text()
    for name in ("main.go", "basic.go" if has_basic else "bearer.go"):
        shutil.copy(BRIDGES / "go" / name, sources / "drive")
    _build_go(compiled, "drive")
    return [compiled / "drive"]


def _build_go(compiled: Path, package: str) -> None:
    compile_by(
        ["go", "build", "-o", compiled / package, package],
        GO111MODULE="off",
        GOPATH=str(compiled),
    )


def java(sdk: Path, compiled: Path) -> Command:
    compiled.mkdir(parents=True)
    sources = [
        path
        for directory in (sdk / "src" / "main", HERE / "stubs" / "java", BRIDGES)
        for path in directory.rglob("*.java")
    ]
    jars = os.pathsep.join(map(str, JARS))
    compile_by(["javac", "-nowarn", "-parameters", "-d", compiled, "-cp", jars, *sources])
    return ["java", "-cp", f"{compiled}{os.pathsep}{jars}", "Bridge"]


def php(sdk: Path, compiled: Path) -> Command:
    return ["php", BRIDGES / "bridge.php", sdk]


def ruby(sdk: Path, compiled: Path) -> Command:
    return ["ruby", "-I", sdk / "lib", BRIDGES / "bridge.rb"]


TOOLCHAINS: dict[str, tuple[Callable[[Path, Path], Command], list[str | Path]]] = {
    "go": (go, ["go"]),
    "java": (java, ["javac", *JARS]),
    "php": (php, ["php", PHP_LIBRARIES / "GuzzleHttp"]),
    "ruby": (ruby, ["ruby", GEMS / "typhoeus-1.4.0"]),
}
"""SDK -> a function that returns the command to start its program, and required files."""


def program(document: str, sdk: str) -> Command:
    """Return the command that starts the program of an SDK. Skips the test without one."""
    directory = GENERATED / document / sdk
    if not directory.is_dir():
        pytest.skip(NOT_GENERATED)
    build, needed = TOOLCHAINS[sdk]
    missing = [one for one in needed if not _is_there(one)]
    if missing:
        pytest.skip(f"{missing[0]} is not there: apt-get install {GENERATORS[sdk]['needs']}")
    compiled = COMPILED / f"{document}.{sdk}"
    shutil.rmtree(compiled, ignore_errors=True)
    return build(directory, compiled)


def _is_there(needed: str | Path) -> bool:
    return needed.exists() if isinstance(needed, Path) else shutil.which(needed) is not None


def bridged_drive(stage: Stage, command: Command) -> Iterator[Answer]:
    """Make all calls of a stage. Raises AssertionError at the first failure."""
    facts = json.loads(stage.facts.read_text())
    environment = {"PATH": os.environ["PATH"]}
    with bridged(command, facts["base_url"], environment) as sdk:
        driven = Drive(sdk, facts)
        for call in json.loads(stage.calls.read_text()):
            yield driven.make(call)


def first_program(sdk: str, source: Path) -> Command:
    """Return the command that runs a program with the compiled SDK of payment."""
    directory, compiled = GENERATED / "payment" / sdk, COMPILED / f"payment.{sdk}"
    if sdk == "go":
        (compiled / "src" / "first").mkdir(exist_ok=True)
        shutil.copy(source, compiled / "src" / "first" / "main.go")
        _build_go(compiled, "first")
        return [compiled / "first"]
    if sdk == "java":
        class_path = os.pathsep.join(map(str, [compiled, *JARS]))
        compile_by(["javac", "-nowarn", "-d", compiled, "-cp", class_path, source])
        return ["java", "-cp", class_path, "First"]
    if sdk == "php":
        vendor = source.parent / "vendor"
        vendor.mkdir()
        shutil.copy(BRIDGES / "autoload.php", vendor)
        (vendor / "sdk").symlink_to(directory)
        return ["php", source]
    return ["ruby", "-I", directory / "lib", source]
