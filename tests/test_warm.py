"""A warm start does not change a program: output, files, signals and parent are the same."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from adapters.images import pictures
from adapters.images.pictures import NotAPicture, make_small
from settings import Settings
from specd._composition import compose
from specd._engine.serving.app import build_app, engine_of
from tests.support import warm
from tests.support.pictures import picture
from tests.support.shared_builds import shared_builds
from tests.support.stranger import Stranger
from wsgi import project

SPECD = [sys.executable, "-m", "specd._cli.main"]


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    plain = {k: v for k, v in os.environ.items() if not k.startswith("SPECD_")}
    return {**plain, "PYTHONPATH": str(warm.ROOT), "SPECD_DATA_DIR": str(tmp_path / "var")}


@pytest.mark.parametrize("words", [("config", "check"), ("nothing",), ("chat", "--help")])
def test_warm_program_prints_the_same_as_a_cold_one(
    env: dict[str, str], words: tuple[str, ...]
) -> None:
    both: tuple[Callable[..., Any], ...] = (subprocess.run, warm.run)
    cold, started = (
        run([*SPECD, *words], env=env, cwd="/", capture_output=True, text=True) for run in both
    )
    assert (started.returncode, started.stderr) == (cold.returncode, cold.stderr)
    assert started.stdout == cold.stdout


WHERE = """
import os, sys
import click, specd
print(sys.path, sys.argv, os.getcwd(), sys.flags, __name__, "wsgi" in sys.modules)
print(click.__file__, specd.Project.__module__, os.environ["SHOP"], file=sys.stderr)
sys.exit(3)
"""


@pytest.mark.parametrize(
    "words", [("where", "a"), ("specd._cli.main", "new", "json"), ("pytest", "--version")]
)
def test_warm_program_of_a_project_prints_the_same_as_a_cold_one(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    shop = Stranger(tmp_path)
    (tmp_path / "library/where.py").write_text(WHERE)
    cold = subprocess.run(
        shop.argv(*words), cwd=shop.path, env={**shop.env, "SHOP": "1"}, capture_output=True,
        text=True,
    )  # fmt: skip
    started = shop.run(*words, SHOP="1")
    assert (started.returncode, started.stderr) == (cold.returncode, cold.stderr)
    assert started.stdout == cold.stdout


def test_program_of_an_installed_library_starts_cold(tmp_path: Path) -> None:
    shop = Stranger(tmp_path)
    asked: dict[str, Any] = {
        "shell": False, "preexec_fn": None, "pass_fds": (), "uid": None,
    }  # fmt: skip
    words = shop.argv("where")
    assert warm.can_start_library(words, shop.env, asked)
    assert not warm.can_start_library(SPECD, shop.env, asked)
    assert not warm.can_start_library(words, {**shop.env, "PYTHONWARNINGS": "error"}, asked)
    (tmp_path / "library/specd").unlink()
    (tmp_path / "library/specd").mkdir()
    assert not warm.can_start_library(words, shop.env, asked)


def test_warm_program_has_its_environment_and_files(env: dict[str, str], tmp_path: Path) -> None:
    with warm.Popen(
        [*SPECD, "outside", "--relay-port", "0", "--vendor-port", "0"],
        env=env, cwd=tmp_path, umask=0o027, start_new_session=True, stdout=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        process.stdout.readline()
        state = Path(f"/proc/{process.pid}/status").read_text()
        assert f"PPid:\t{os.getpid()}\n" in state
        assert os.getsid(process.pid) == process.pid
        assert Path(f"/proc/{process.pid}/cwd").resolve() == tmp_path.resolve()
        process.send_signal(signal.SIGKILL)
        assert process.wait(20) == -signal.SIGKILL


SUPERVISOR = """
import subprocess, sys, time
from demo.stopping import stop_with_parent
from settings import Settings
from specd._composition import compose
from specd._engine.serving.app import build_app, engine_of
from tests.support import warm

warm.supervise()
words = [sys.executable, "-P", "-m", "specd._cli.main", "outside"]
child = subprocess.Popen(
    [*words, "--relay-port", "0", "--vendor-port", "0"],
    preexec_fn=stop_with_parent, start_new_session=True, stdout=subprocess.PIPE,
)
child.stdout.readline()
print(child.pid, flush=True)
time.sleep(60)
"""


def test_program_of_a_supervisor_is_its_warm_child_and_ends_with_it(env: dict[str, str]) -> None:
    words = [sys.executable, "-c", SUPERVISOR]
    with subprocess.Popen(words, env=env, cwd="/", stdout=subprocess.PIPE) as supervisor:
        try:
            assert supervisor.stdout is not None
            child = Path(f"/proc/{int(supervisor.stdout.readline())}")
            assert f"PPid:\t{supervisor.pid}\n" in (child / "status").read_text()
            assert b"warm.supervise" in (child / "cmdline").read_bytes(), "it started cold"
        finally:
            supervisor.kill()
    deadline = time.monotonic() + 20
    with suppress(FileNotFoundError, ProcessLookupError):
        while "State:\tZ" not in (child / "status").read_text():
            assert time.monotonic() < deadline
            time.sleep(0.01)


def test_warm_program_reads_typed_words(env: dict[str, str]) -> None:
    assert warm.run([*SPECD, "migrate"], env=env, capture_output=True).returncode == 0
    made = warm.run(
        [*SPECD, "chat", "create-realm", "--name", "Acme", "--host", "acme.example",
         "--owner-email", "owner@acme.example", "--owner-name", "Owner",
         "--owner-password-file", "-"],
        env=env, input="four score and seven", capture_output=True, text=True, umask=0,
    )  # fmt: skip
    assert (made.returncode, made.stderr) == (0, "")
    assert Path(env["SPECD_DATA_DIR"]).stat().st_mode & 0o077 == 0


def test_shell_script_runs_warm_programs(env: dict[str, str], tmp_path: Path) -> None:
    with warm.shell() as specd:
        script = f"cd {tmp_path}; {specd} config check | grep -c SPECD_; {specd} nothing || echo $?"
        done = subprocess.run(["bash", "-c", script], env=env, capture_output=True, text=True)
    count, status = done.stdout.split()
    assert (int(count) > 50, status) == (True, "2")
    assert "No such command 'nothing'" in done.stderr


@pytest.mark.parametrize("kind", ["AVIF", "JPEG", "PNG", "TIFF"])
def test_warm_program_shrinks_images_like_a_cold_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    source = tmp_path / "source"
    source.write_bytes(picture(kind, 40, 30))
    results = []
    for start in (subprocess, vars(pictures)["subprocess"]):
        monkeypatch.setattr(pictures, "subprocess", start)
        made = make_small(source, tmp_path / "small", 20, 20)
        results.append((made, made.small.read_bytes()))
    assert results[0] == results[1]


def test_same_image_is_shrunk_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shrunk, started = warm.Shrunk(), []

    def run(words: Any, **options: Any) -> Any:
        started.append(words)
        return warm_run(words, **options)

    warm_run = warm.run
    monkeypatch.setattr(warm, "run", run)
    remembering = SimpleNamespace(**vars(subprocess) | {"run": shrunk.run})
    monkeypatch.setattr(pictures, "subprocess", remembering)
    source, made = tmp_path / "source", []
    for width in (40, 41, 40):
        source.write_bytes(picture("GIF", width, 30, frames=2))
        target = tmp_path / str(len(made))
        small = make_small(source, target, 20, 20)
        assert small.still is not None
        made.append((small.width, target.read_bytes(), small.still.read_bytes()))
    assert len(started) == 2
    assert made[0] == made[2] != made[1]


def test_warm_program_rejects_an_invalid_image(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(picture("PNG", 40, 30)[:40])
    with pytest.raises(NotAPicture, match="exit status 1"):
        make_small(source, tmp_path / "small", 20, 20)


@pytest.mark.parametrize(
    ("words", "more"),
    [
        ([sys.executable, "-c", "import os; print(os.getppid())"], {}),
        ([sys.executable, "-m", "platform"], {}),
        ([*SPECD, "config", "check"], {"PYTHONPATH": "/another/tree"}),
        ([*SPECD, "config", "check"], {"PYTHONWARNINGS": "error"}),
    ],
)
def test_other_programs_start_cold(
    env: dict[str, str], words: list[str], more: dict[str, str]
) -> None:
    asked: dict[str, Any] = {
        "shell": False, "preexec_fn": None, "pass_fds": (), "uid": None,
    }  # fmt: skip
    assert warm.can_start([*SPECD, "config", "check"], env, asked)
    assert not warm.can_start(words, {**env, **more}, asked)


def test_builds_share_what_depends_only_on_documents(tmp_path: Path) -> None:
    def build(validates: bool) -> dict[str, Any]:
        environ = {"SPECD_DATA_DIR": str(tmp_path), "SPECD_VALIDATE_RESPONSES": str(validates)}
        engine = engine_of(build_app([compose(project["payment"], Settings.from_env(environ))]))
        assert engine is not None
        return {each.operation_id: each for each in engine.apis[0].operations}

    with shared_builds():
        first, second, unvalidated = build(True), build(True), build(False)
    unshared = build(True)
    assert len(first) > 10
    for name, operation in first.items():
        assert second[name] is not operation
        assert second[name].responses is operation.responses, name
        assert unvalidated[name].responses is not operation.responses, name
        assert unshared[name].responses is not operation.responses, name
