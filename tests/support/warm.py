"""Starts programs of specd warm, as forks of a process that has imported and compiled everything.

`python -m specd._cli.main ...` and `python -m gunicorn ...` use one to two seconds of CPU time
before they do anything. `Popen` and `run` work like those of `subprocess`, but the program begins
as a fork of a process that waits for such requests, with the requested environment, folder and
files. It is a child of this process, like a program that was started cold. The program that shrinks
images comes from a second, small process (`shrink_warm`), because importing Pillow takes ninety
milliseconds, and a test of an import shrinks ten images. The same image is shrunk only once.
Programs that the program of a `Supervisor` starts are warm, too, and its children.

Programs of a project outside this repository (`tests.support.stranger`) come from a third process,
which has imported the library and not the services.

A test of the start itself (imports, signals, the command line in `/proc`) uses `subprocess`. A
module of another tree starts cold.
"""

from __future__ import annotations

import atexit
import ctypes
import inspect
import json
import os
import runpy
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).parents[2]
MODULES = frozenset({"specd._cli.main", "gunicorn"})
"""The modules that can start warm."""
SHRINKING = "adapters.images.shrinking"
PICTURES = [sys.executable, "-I", str(ROOT / "adapters/images/shrinking.py")]
"""The command line of `adapters.images.pictures` for the program that shrinks images."""
LIBRARY = [sys.executable, "-S", "-P", "-W", "ignore", "-m"]
"""The command line of a module in a project outside this repository."""
LIBRARY_IMPORTS = (
    *("specd._cli.check", "specd._cli.config", "specd._cli.migrate", "specd._cli.new"),
    *("specd._cli.routes", "specd._cli.types", "specd._db.migrate", "specd._workers.registry"),
    *("specd.db", "sqlalchemy.dialects.sqlite", "uvicorn.main", "pytest", "httpx"),
)
COMMANDS = ("check", "config", "doctor", "migrate", "serve", "worker")
"""The commands of specd that are imported in advance, in addition to those of the services."""

_until_the_end = ExitStack()
_SET_PARENT_DEATH_SIGNAL, _SET_CHILD_SUBREAPER = 1, 36
_HEAD = struct.Struct("!I")
_STATUS = struct.Struct("!i")


class Popen(subprocess.Popen[Any]):
    """A `subprocess.Popen` whose program starts warm if possible."""

    supervises = False
    """Whether the programs that the program starts also start warm."""

    def _execute_child(self, *arguments: Any) -> None:
        cold = super()._execute_child  # type: ignore[misc]
        asked = inspect.signature(cold).bind(*arguments).arguments
        words, env = list(asked["args"]), asked["env"]
        is_safe = words[1:2] == ["-P"]
        if is_safe:
            del words[1]
        nursery, skipped = _find_nursery(words, os.environ if env is None else env, asked)
        if nursery is None:
            cold(*arguments)
            return
        files = [
            number if given == -1 else given
            for number, given in enumerate((asked["p2cread"], asked["c2pwrite"], asked["errwrite"]))
        ]
        pid = nursery.start(
            {
                "module": SHRINKING if nursery is _picture_nursery else words[skipped - 1],
                "words": [os.fspath(word) for word in words[skipped:]],
                "env": dict(os.environ if env is None else env),
                "folder": os.fspath(asked["cwd"] or Path.cwd()),
                "is_safe": is_safe,
                "leads": asked["start_new_session"],
                "supervises": self.supervises,
                "stops_with": os.getpid() if asked["preexec_fn"] else 0,
                "umask": asked["umask"],
                "is_library": nursery is _library_nursery,
            },
            files,
        )
        if pid is None:
            cold(*arguments)
            return
        self.pid = pid
        self._child_created = True
        pipes = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
        self._close_pipe_fds(*(asked[name] for name in pipes))  # type: ignore[attr-defined]


class Supervisor(Popen):
    """A `Popen` of a program whose own programs also start warm."""

    supervises = True


def supervise() -> None:
    """Start programs of this process warm, including those of asyncio. Its other threads must not
    have started yet.
    """
    _nursery.fork_here()
    subprocess.Popen = Popen  # type: ignore[misc]


def run(
    words: Sequence[str],
    *,
    input: str | None = None,
    capture_output: bool = False,
    timeout: float | None = None,
    check: bool = False,
    **options: Any,
) -> subprocess.CompletedProcess[Any]:
    """Run a program like `subprocess.run`, warm if possible."""
    if input is not None:
        options["stdin"] = subprocess.PIPE
    if capture_output:
        options["stdout"] = options["stderr"] = subprocess.PIPE
    with Popen(words, **options) as process:
        try:
            out, err = process.communicate(input, timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(words, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done


@contextmanager
def shell() -> Iterator[str]:
    """Yield the words that a shell script runs as `specd`, until the end of the block. The program
    has the files, folder and environment of the script, but is a child of this process.
    """
    with tempfile.TemporaryDirectory(prefix="specd") as folder:
        place = str(Path(folder) / "s")
        with socket.create_server(place, family=socket.AF_UNIX) as listener:
            taking = threading.Thread(target=_take, args=(listener,), name="warm shell")
            taking.start()
            try:
                client = Path(__file__).with_name("warm_client.py")
                yield shlex.join([sys.executable, "-I", "-S", str(client), place])
            finally:
                listener.shutdown(socket.SHUT_RDWR)
                taking.join()


def _take(listener: socket.socket) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=_run_for, args=(connection,), name="warm program").start()


def _run_for(connection: socket.socket) -> None:
    """Run one program for a script, and send its status."""
    with connection:
        head, files, _, _ = socket.recv_fds(connection, _STATUS.size, 3)
        body = os.fsdecode(_exactly(connection, _STATUS.unpack(head)[0]))
        count, *texts = body.split("\0")
        words, (folder, *variables) = texts[: int(count)], texts[int(count) :]
        try:
            process = Popen(
                [sys.executable, "-m", "specd._cli.main", *words],
                cwd=folder,
                env=dict(variable.split("=", 1) for variable in variables),
                stdin=files[0],
                stdout=files[1],
                stderr=files[2],
            )
        finally:
            for file in files:
                os.close(file)
        connection.sendall(_STATUS.pack(process.wait()))


def can_start(words: Sequence[Any], env: Mapping[str, str], asked: Mapping[str, Any]) -> bool:
    """Return whether this command line can start as a fork: the same Python with the same settings,
    and a module of this tree.
    """
    return (
        can_fork(asked)
        and words[:2] == [sys.executable, "-m"]
        and words[2] in MODULES
        and env.get("PYTHONPATH") == str(ROOT)
        and _of_python(env) == _of_python(os.environ)
    )


def can_start_library(
    words: Sequence[Any], env: Mapping[str, str], asked: Mapping[str, Any]
) -> bool:
    """Return whether this command line can start as a fork in a project outside this repository.
    The first folder of Python's path must have a link to this tree's library.
    """
    library, _, packages = env.get("PYTHONPATH", "").partition(os.pathsep)
    return (
        can_fork(asked)
        and words[: len(LIBRARY)] == LIBRARY
        and (Path(library) / "specd").resolve() == ROOT / "specd"
        and packages == sysconfig.get_path("purelib")
        and _of_python(env) == _of_python(os.environ)
    )


def _find_nursery(
    words: Sequence[Any], env: Mapping[str, str], asked: Mapping[str, Any]
) -> tuple[_Nursery | None, int]:
    """Return the process that can fork for this command line, or None, and the number of words
    before those of the program.
    """
    if words[:3] == PICTURES and can_fork(asked):
        return _picture_nursery, len(PICTURES)
    if can_start(words, env, asked):
        return _nursery, 3
    if can_start_library(words, env, asked):
        return _library_nursery, len(LIBRARY) + 1
    return None, 0


def can_fork(asked: Mapping[str, Any]) -> bool:
    """Return whether a fork supports the requested options."""
    return (
        sys.platform == "linux"
        and not asked["shell"]
        and (asked["preexec_fn"] is None or _stops_with_parent(asked["preexec_fn"]))
        and not asked["pass_fds"]
        and asked["uid"] is None
    )


def _stops_with_parent(function: Any) -> bool:
    """Return whether a function is the one that `_stop_with` replaces."""
    return bool(f"{function.__module__}.{function.__name__}" == "demo.stopping.stop_with_parent")


def _of_python(env: Mapping[str, str]) -> dict[str, str]:
    """Return Python's settings. Python ignores empty ones."""
    return {k: v for k, v in env.items() if k.startswith("PYTHON") and k != "PYTHONPATH" and v}


class _Nursery:
    """The process that forks, from the first request to the end of this process."""

    def __init__(self, *modules: str, is_library: bool = False) -> None:
        """Create a process that imports these modules, or those of specd's programs if there are
        none. With `is_library`, it has the Python path of a project outside this repository.
        """
        self._modules = modules
        self._is_library = is_library
        self._folder: str | None = None
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._owner = 0

    def start(self, request: dict[str, Any], files: Sequence[int]) -> int | None:
        """Return the id of the new process, which is a child of this process, or None if the
        forking process could not begin or has ended.
        """
        body = json.dumps(request).encode()
        with self._lock:
            if self._owner != os.getpid():
                self._open()
            assert self._socket is not None
            with _orphans_come_here():
                try:
                    socket.send_fds(self._socket, [_HEAD.pack(len(body))], files)
                    self._socket.sendall(body)
                    return int(_HEAD.unpack(_exactly(self._socket, _HEAD.size))[0])
                except (OSError, EOFError):
                    return None

    def _open(self) -> None:
        # Imported here, because the forking process imports this module without pytest.
        from tests.support import leftovers

        self._socket, theirs = socket.socketpair()
        words, path, folder = ["-m", "tests.support.warm"], str(ROOT), str(ROOT)
        if self._is_library:
            self._folder = tempfile.mkdtemp()
            (Path(self._folder) / "specd").symlink_to(ROOT / "specd")
            words, folder = [*LIBRARY[1:-1], __file__], self._folder
            path = os.pathsep.join((self._folder, sysconfig.get_path("purelib")))
        self._process = subprocess.Popen(
            [sys.executable, *words, str(theirs.fileno()), *self._modules],
            cwd=folder,
            env={k: v for k, v in os.environ.items() if not k.startswith("SPECD_")}
            | {"PYTHONPATH": path},
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
        )
        theirs.close()
        self._owner = os.getpid()
        leftovers.keep(self._process.pid)

    def fork_here(self) -> None:
        """Fork this process, which has imported everything, as the forking process. It ends with
        this one.
        """
        self._socket, theirs = socket.socketpair()
        if os.fork() == 0:
            self._socket.close()
            with suppress(KeyboardInterrupt):
                _fork_forever(theirs)
            os._exit(0)
        theirs.close()
        self._process, self._owner = None, os.getpid()

    def close(self) -> None:
        """End the forking process. Its forks continue."""
        if self._owner == os.getpid() and self._socket and self._process:
            self._socket.close()
            self._process.wait()
            self._owner = 0
            if self._folder:
                shutil.rmtree(self._folder)


_nursery = _Nursery()
_picture_nursery = _Nursery(SHRINKING)
_library_nursery = _Nursery(*LIBRARY_IMPORTS, is_library=True)
atexit.register(_nursery.close)
atexit.register(_picture_nursery.close)
atexit.register(_library_nursery.close)


class Shrunk:
    """A cache of shrunk images, written again for the same image."""

    MOST, LARGEST = 100, 100_000

    def __init__(self) -> None:
        self._made: dict[tuple[bytes, ...], tuple[bytes, dict[str, bytes]]] = {}

    def run(self, words: Sequence[str], **options: Any) -> subprocess.CompletedProcess[Any]:
        """Run the program that shrinks images, or write its cached result."""
        source, target, *wanted = words[len(PICTURES) :]
        if Path(source).stat().st_size > self.LARGEST:
            return run(words, **options)
        key = (Path(source).read_bytes(), *map(str.encode, wanted))
        if key not in self._made:
            done = run(words, **options)
            made = {end: Path(target + end) for end in ("", ".still")}
            files = {end: path.read_bytes() for end, path in made.items() if path.exists()}
            is_small = sum(map(len, files.values())) <= self.LARGEST
            if done.returncode == 0 and is_small and len(self._made) < self.MOST:
                self._made[key] = (done.stdout, files)
            return done
        said, files = self._made[key]
        for end, content in files.items():
            Path(target + end).write_bytes(content)
        return subprocess.CompletedProcess(words, 0, said)


@contextmanager
def shrink_warm() -> Iterator[None]:
    """Start the program that shrinks images warm, until the end of the block."""
    from unittest import mock

    from adapters.images import pictures

    warm = SimpleNamespace(**vars(subprocess) | {"run": Shrunk().run})
    with mock.patch.object(pictures, "subprocess", warm):
        yield


@contextmanager
def _orphans_come_here() -> Iterator[None]:
    """Make this process instead of `init` the parent of orphans below it, until the end of the
    block. The program is a grandchild of the forking process, and its parent has ended.
    """
    prctl = ctypes.CDLL(None).prctl
    prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        prctl(_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def _exactly(connection: socket.socket, size: int) -> bytes:
    received = b""
    while len(received) < size:
        part = connection.recv(size - len(received))
        if not part:
            raise EOFError("the process that forks has ended")
        received += part
    return received


def _fork_forever(connection: socket.socket) -> None:
    """Fork for each request until the connection is closed."""
    while True:
        head, files, _, _ = socket.recv_fds(connection, _HEAD.size, 3)
        if not head:
            return
        request = json.loads(_exactly(connection, _HEAD.unpack(head)[0]))
        read_end, write_end = os.pipe()
        between = os.fork()
        if between == 0:
            pid = os.fork()
            if pid == 0:
                os.close(read_end)
                os.close(write_end)
                connection.close()
                _become(request, files)
            os.write(write_end, _HEAD.pack(pid))
            os._exit(0)
        os.close(write_end)
        os.waitpid(between, 0)
        connection.sendall(os.read(read_end, _HEAD.size))
        for file in (*files, read_end):
            os.close(file)


def _become(request: Mapping[str, Any], files: Sequence[int]) -> None:
    """Run the requested program in this process to its end."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    if request["leads"]:
        os.setsid()
    if request["umask"] >= 0:
        os.umask(request["umask"])
    if request["stops_with"]:
        _stop_with(request["stops_with"])
    if request["supervises"]:
        supervise()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()
    status = 1
    try:
        os.chdir(request["folder"])
        if request["is_library"]:
            sys.path[:2] = request["env"]["PYTHONPATH"].split(os.pathsep)
        else:
            sys.path[0] = str(ROOT) if request["is_safe"] else request["folder"]
        sys.argv[1:] = request["words"]
        sys.modules.pop(request["module"], None)
        runpy.run_module(request["module"], run_name="__main__", alter_sys=True)
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        if status and not isinstance(end.code, int):
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    finally:
        # Like the end of Python, without cleaning up what the kernel frees.
        with suppress(BaseException):
            threading._shutdown()  # type: ignore[attr-defined]
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status & 0xFF)


def _stop_with(parent: int) -> None:
    """Make Linux send SIGTERM to this process when its parent dies. It becomes a child of the
    parent when the process between them has ended.
    """
    deadline = time.monotonic() + 10
    while os.getppid() != parent and time.monotonic() < deadline:
        time.sleep(0.001)
    ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _prepare(modules: Sequence[str]) -> None:
    """Import the modules. Without modules, import and compile those of specd's programs, and leave
    no side effects.
    """
    import gc
    from importlib import import_module

    gc.disable()
    for name in modules:
        import_module(name)
    # The options of the commands depend on the project, so that each program imports them.
    for name in [name for name in sys.modules if f"{name}.".startswith("specd._cli.") and modules]:
        del sys.modules[name]
    if not modules:
        _prepare_programs()
    gc.collect()
    gc.freeze()
    gc.enable()


def _prepare_programs() -> None:
    from importlib import import_module
    from unittest import mock

    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"SPECD_DATA_DIR": folder, "PROMETHEUS_MULTIPROC_DIR": folder}
        import specd._cli.main
        from specd import _applications as applications
        from specd import _logs as logs
        from wsgi import project

        commands = specd._cli.main.find_commands()
        for name in (*COMMANDS, *(entry.commands for entry in project.services if entry.commands)):
            import_module(commands.get(name, name))
        for name in ("gunicorn.app.wsgiapp", "gunicorn.arbiter", "specd._engine.serving.worker"):
            import_module(name)
        from tests.support.shared_builds import shared_builds

        _until_the_end.enter_context(shared_builds())
        with mock.patch.object(logs, "configure"):
            for validates in ("false", "true"):
                os.environ["SPECD_VALIDATE_RESPONSES"] = validates
                applications.build(project, project.services)


if __name__ == "__main__":
    atexit.unregister(_nursery.close)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _prepare(sys.argv[2:])
    with socket.socket(fileno=int(sys.argv[1])) as asking:
        _fork_forever(asking)
