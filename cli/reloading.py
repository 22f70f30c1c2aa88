"""`specd serve --reload`: the newest version that can be served is served, by a process of its own.

This process opens the socket, imports the engine and what else never changes, and forks a process
for each version of the rest. A version takes over when it serves; then the one before it answers
what it has accepted, and ends. For an instant both accept. A version that cannot be served ends
with a report, and the one before it goes on, with that report in the `details` of its errors.

It runs alone (`python -m cli.reloading HOST:PORT APPLICATION`), because it must not have imported
what it watches.
"""

import gc
import json
import math
import os
import re
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

from server.openapi.loading import load_cached
from server.serving.app import engine_of
from server.serving.development import STOP_S, listen, run, with_mistake

ROOT = Path(__file__).parents[1]
WATCHED = (
    *("adapters", "handlers", "models", "pages", "specs"),
    *("services.py", "setting_values.py", "settings.py", "wsgi.py"),
)
SUFFIXES = frozenset((".py", ".yaml", ".yml", ".json", ".html"))
UNDERSTOOD = frozenset(
    ("ClickException", "DocumentError", "DocumentErrors", "Mistakes", "SettingsError", "SystemExit")
)
"""What needs no traceback, because its message is for whoever made the mistake."""
POLL_S = 0.1
AGAIN_S = 1.0
START_S = 60.0

Files = dict[Path, tuple[int, int]]
"""File -> when it was changed, in nanoseconds, and its size."""


def main(bind: str, application: str) -> None:
    """Serve until SIGTERM or Ctrl-C."""
    gc.disable()  # what is imported stays, and a collection would look through it
    listener = listen(bind)
    print(f"Listening at http://{bind}, and watching {', '.join(WATCHED)}.", file=sys.stderr)
    _import_libraries()
    gc.freeze()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _stop)
    _Reloader(listener, application).serve()


def _stop(number: int, frame: object) -> None:
    raise SystemExit(0)


class _Reloader:
    """Watches the files, and replaces the process that serves."""

    def __init__(self, listener: socket.socket, application: str) -> None:
        self._listener = listener
        self._application = application
        self._serving: _Version | None = None
        self._ending: list[_Version] = []
        self._mistake = ""
        self._again_at = math.inf
        self._others: set[Path] = set()
        """Files of documents that are outside of the folders that are watched."""

    def serve(self) -> None:
        seen: Files | None = None
        try:
            while True:
                now = _status_of((*_watched(), *self._others))
                if seen is None or now != seen or time.monotonic() > self._again_at:
                    _forget_compiled(seen or {}, now)
                    self._start()
                    seen = _status_of(self._others) | now
                elif self._serving is not None and not self._serving.is_alive():
                    print("The server has ended; starting it again.", file=sys.stderr)
                    self._serving, seen = None, None
                self._ending = [version for version in self._ending if version.is_alive()]
                time.sleep(POLL_S)
        finally:
            self._end_all()

    def _end_all(self) -> None:
        if self._serving is not None:
            self._serving.stop()
            self._ending.append(self._serving)
        deadline = time.monotonic() + STOP_S
        while any(version.is_alive() for version in self._ending):
            if time.monotonic() > deadline:
                for version in self._ending:
                    version.kill()
            time.sleep(0.02)

    def _start(self) -> None:
        """Start the present version. It takes over when it serves."""
        began = time.monotonic()
        version = _Version.forked(self._listener, self._application)
        report = version.report()
        self._again_at = math.inf
        if "serves" not in report:
            version.kill()
            if report.get("kind") == "ClickException":  # a database, which is no file
                self._again_at = time.monotonic() + AGAIN_S
            self._keep(report)
            return
        self._mistake = ""
        took = time.monotonic() - began
        print(f"Serving the present version after {took:.2f} s.", file=sys.stderr, flush=True)
        if self._serving is not None:
            self._serving.stop()
            self._ending.append(self._serving)
        self._serving = version
        self._others = {Path(name) for name in version.report().get("files", ())}

    def _keep(self, report: dict[str, Any]) -> None:
        """Go on with the version before, and say once why."""
        mistake = report.get("mistake", "The server has ended before it served.")
        if mistake == self._mistake:
            return
        self._mistake = mistake
        kept = "the version before it serves on" if self._serving else "nothing is served yet"
        print(f"{report.get('traceback', '')}Not loaded: {mistake}\n({kept})", file=sys.stderr)
        sys.stderr.flush()
        if self._serving is not None:
            self._serving.note(mistake)


@dataclass
class _Version:
    """A process that serves one version, and the channel to it."""

    pid: int
    channel: socket.socket
    _lines: Iterator[str] = field(init=False)

    def __post_init__(self) -> None:
        self.channel.settimeout(START_S)
        self._lines = iter(self.channel.makefile("r", encoding="utf-8"))

    @classmethod
    def forked(cls, listener: socket.socket, application: str) -> "_Version":
        ours, theirs = socket.socketpair()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            ours.close()
            _serve_version(listener, theirs, application)
        theirs.close()
        return cls(pid, ours)

    def report(self) -> dict[str, Any]:
        """Return what the process says next; nothing where it has ended or takes too long."""
        with suppress(OSError, ValueError, StopIteration):
            report: dict[str, Any] = json.loads(next(self._lines))
            return report
        return {}

    def note(self, mistake: str) -> None:
        """Have the errors of this version name a mistake of a newer one."""
        with suppress(OSError):
            _send(self.channel, {"mistake": mistake})

    def is_alive(self) -> bool:
        with suppress(ChildProcessError):
            return os.waitpid(self.pid, os.WNOHANG) == (0, 0)
        return False

    def stop(self) -> None:
        """Have it end after its last answers."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGTERM)

    def kill(self) -> None:
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)


def _serve_version(listener: socket.socket, channel: socket.socket, application: str) -> None:
    """Load what the files hold now, serve it, and end the process."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    status = 1
    try:
        current = _load_and_wrap(application)
        app, mistake = current
        threading.Thread(target=_listen_to, args=(channel, mistake), daemon=True).start()

        def announce() -> None:
            gc.freeze()
            gc.enable()
            _send(channel, {"serves": True})
            _send(channel, {"files": _files_of(app)})

        run(app, listener, announce=announce, one_request=True)
        status = 0
    except BaseException as error:
        kind = type(error).__name__
        about = "" if kind in UNDERSTOOD else _traceback(error)
        _send(channel, {"kind": kind, "mistake": _mistake(error), "traceback": about})
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _load_and_wrap(application: str) -> tuple[Any, list[str]]:
    """Return the application, and the list whose last entry is the mistake that it has to name."""
    require_migrated(application)
    app: Any = getattr(import_module("wsgi"), application)
    mistakes = [""]
    engine = engine_of(app)
    for api in () if engine is None else engine.apis:
        api.service = replace(
            api.service, respond=with_mistake(api.service.respond, lambda: mistakes[-1])
        )
    return app, mistakes


def require_migrated(application: str) -> None:
    """Raise `ClickException` unless the databases are those of the present models."""
    settings = import_module("settings").Settings.from_env()
    open_database = import_module("cli.databases").open_database
    for service in settings.database_urls:
        if application in ("app", service):
            with open_database(service, settings):
                pass


def _files_of(app: Any) -> list[str]:
    """Return the files of all documents."""
    engine = engine_of(app)
    paths = [
        document.path
        for api in (() if engine is None else engine.apis)
        for document in api.service.documents
        if document.path is not None
    ]
    return [str(file) for path in paths for file in load_cached(path).files]


def _listen_to(channel: socket.socket, mistakes: list[str]) -> None:
    """Take in what the newest version's mistake is; end with the process that started this one."""
    with suppress(OSError, ValueError):
        for line in channel.makefile("r", encoding="utf-8"):
            mistakes.append(json.loads(line)["mistake"])
    os.kill(os.getpid(), signal.SIGTERM)


def _send(channel: socket.socket, message: dict[str, Any]) -> None:
    channel.sendall(json.dumps(message).encode() + b"\n")


def _mistake(error: BaseException) -> str:
    """Return one line: of a document's mistake its text, of another the place in our source."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    if type(error).__name__ in UNDERSTOOD:
        return _without_secrets(str(error))
    if isinstance(error, SyntaxError) and error.filename:
        place, line = error.filename, error.lineno
    else:
        frames = [
            frame
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename.startswith(str(ROOT)) and frame.filename != __file__
            and ".venv" not in frame.filename
        ]  # fmt: skip
        if not frames:
            return _without_secrets(text)
        place, line = frames[-1].filename, frames[-1].lineno
    return _without_secrets(f"{place.removeprefix(f'{ROOT}/')}:{line}: {text}")


def _traceback(error: BaseException) -> str:
    return _without_secrets("".join(traceback.format_exception(error)))


def _without_secrets(text: str) -> str:
    clean: Callable[[str], str] = import_module("cli.output").without_secrets
    return clean(text)


def _status_of(paths: Iterable[Path]) -> Files:
    found = {}
    for path in paths:
        with suppress(OSError):  # it has just been removed
            status = path.stat()
            found[path] = status.st_mtime_ns, status.st_size
    return found


def _watched() -> Iterator[Path]:
    waiting = [str(ROOT / name) for name in WATCHED]
    while waiting:
        name = waiting.pop()
        if not os.path.isdir(name):
            yield Path(name)
            continue
        with suppress(OSError), os.scandir(name) as entries:
            for entry in entries:
                if entry.is_dir():
                    if entry.name != "__pycache__":
                        waiting.append(entry.path)
                elif os.path.splitext(entry.name)[1] in SUFFIXES:
                    yield Path(entry.path)


def _forget_compiled(before: Files, now: Files) -> None:
    """Remove the bytecode of what has changed: Python compares whole seconds and sizes only."""
    for path, status in now.items():
        if path.suffix == ".py" and before and before.get(path) != status:
            Path(cache_from_source(str(path))).unlink(missing_ok=True)


def _import_libraries() -> None:
    """Import the libraries that the watched modules import, because they take most of a start."""
    own = {path.name.removesuffix(".py") for path in ROOT.iterdir()}
    names = set()
    for path in _watched():
        if path.suffix == ".py":
            text = path.read_text(encoding="utf-8", errors="replace")
            names.update(re.findall(r"^(?:from|import) ([\w.]+)", text, re.MULTILINE))
    for name in sorted(names):
        if name.partition(".")[0] not in own:
            with suppress(Exception):  # whoever needs it says that it is missing
                import_module(name)


if __name__ == "__main__":
    main(*sys.argv[1:])
