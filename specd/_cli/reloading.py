"""`specd serve --reload`: serves the newest working version, in a separate process.

This process opens the socket, imports the libraries and watches the files. It forks a process that
imports the models. That process is replaced only if a file that the models import has changed,
because models take half of a start. It forks a process for each version. When a version serves, it
takes over, and the previous version responds to the requests that it has accepted, and ends. For a
moment both accept requests. A version that cannot be served ends with a report, and the previous
version continues with that report in the `details` of its errors. Each process ends when the
channel to the first process is closed.

It runs separately (`python -m specd._cli.reloading HOST:PORT SERVICE...`), because it must not
import the watched modules.
"""

import gc
import json
import math
import os
import pkgutil
import select
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from specd import _logs as logs
from specd._cli.watching import (
    Files,
    files_in,
    find_places,
    forget_compiled,
    import_libraries,
    status_of,
)
from specd._engine.openapi.loading import load_cached
from specd._engine.serving.app import engine_of
from specd._engine.serving.development import STOP_S, explaining, listen, run
from specd._project import current, find_root

UNDERSTOOD = frozenset(
    ("ClickException", "DocumentError", "DocumentErrors", "Mistakes", "SettingsError", "SystemExit")
)
"""Errors that need no traceback, because the message explains the mistake to the developer."""
ROOT = find_root()
POLL_S = 0.1
AGAIN_S = 1.0
START_S = 60.0
KILL_S = STOP_S + 1.0
"""How long a hanging version may take to end."""


def main(bind: str, *services: str) -> None:
    """Serve until SIGTERM or Ctrl-C."""
    gc.disable()  # imported objects are permanent, and collections would traverse them
    listener = listen(bind)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _stop)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended processes are not waited for
    reloader = _Reloader(listener, services)
    names = ", ".join(str(place.relative_to(ROOT)) for place in reloader.places)
    print(f"Listening at http://{bind}, and watching {names}.", file=sys.stderr)
    import_libraries(ROOT, reloader.places)
    logs.Readers.are_people = True
    gc.freeze()
    reloader.serve()


def _stop(number: int, frame: object) -> None:
    raise SystemExit(0)


class _Process:
    """Another process, represented by our end of the channel to it."""

    def __init__(self, channel: socket.socket) -> None:
        channel.settimeout(START_S)
        self.channel = channel
        self._lines = channel.makefile("r", encoding="utf-8")

    def report(self) -> dict[str, Any]:
        """Return the next report of the process. It is empty if the process has ended or takes too
        long.
        """
        with suppress(OSError, ValueError):
            report: dict[str, Any] = json.loads(self._lines.readline())
            return report
        return {}

    def note(self, mistake: str) -> None:
        """Add the mistake of a newer version to the errors of this version."""
        with suppress(OSError):
            _send(self.channel, {"mistake": mistake})

    def is_alive(self) -> bool:
        """Return whether the process still has its end of the channel open. Call it after the last
        report is read.
        """
        return not select.select([self.channel], [], [], 0)[0]

    def stop(self) -> None:
        """Make it end after its last responses."""
        with suppress(OSError):
            self.channel.shutdown(socket.SHUT_WR)


class _Reloader:
    """Watches the files, and replaces the serving process."""

    def __init__(self, listener: socket.socket, services: Sequence[str]) -> None:
        self._listener = listener
        self._services = services
        self._base: _Process | None = None
        self._serving: _Process | None = None
        self._ending: list[_Process] = []
        self._mistake = ""
        self._again_at = math.inf
        self._others: set[Path] = set()
        """Files of documents outside of the watched places."""
        self._below: set[Path] = set()
        """Files of the project that the process with the models has imported."""
        self.places = [ROOT / "wsgi.py"]
        """The watched files and folders."""
        self._find_places()

    def serve(self) -> None:
        seen: Files = {}
        try:
            while True:
                now = status_of((*files_in(self.places), *self._others))
                changed = {path for path, _ in now.items() ^ seen.items()}
                if self._serving is not None and not self._serving.is_alive():
                    print("The server has stopped; starting it again.", file=sys.stderr)
                    self._serving, self._again_at = None, 0.0
                if changed or time.monotonic() > self._again_at:
                    if seen:
                        forget_compiled(changed)
                    self._start(changed)
                    seen = status_of((*files_in(self.places), *self._others)) | now
                self._ending = [version for version in self._ending if version.is_alive()]
                time.sleep(POLL_S)
        finally:
            self._end_all()

    def _end_all(self) -> None:
        for process in (self._base, self._serving):
            if process is not None:
                process.stop()
                self._ending.append(process)
        while any(process.is_alive() for process in self._ending):
            time.sleep(0.02)

    def _start(self, changed: set[Path]) -> None:
        """Start the current version. It takes over when it serves."""
        began = time.monotonic()
        version, report = self._try_start(changed)
        self._again_at = math.inf
        if "serves" not in report:
            version.stop()
            if report.get("kind") == "ClickException":  # a database, which is not a file
                self._again_at = time.monotonic() + AGAIN_S
            self._keep(report)
            return
        self._mistake = ""
        took = time.monotonic() - began
        print(f"Serving the new version after {took:.2f} s.", file=sys.stderr, flush=True)
        if self._serving is not None:
            self._serving.stop()
            self._ending.append(self._serving)
        self._serving = version
        self._others = {Path(name) for name in version.report().get("files", ())}

    def _try_start(self, changed: set[Path]) -> tuple[_Process, dict[str, Any]]:
        """Return the process of the current version and its report, or those of the models if they
        cannot be imported.
        """
        if self._base is not None and self._below & changed:
            self._base.stop()
            self._base = None
        if self._base is None or not self._base.is_alive():
            self._find_places()
            base = self._forked(_serve_base, self._listener, self._services)
            report = base.report()
            if "imported" not in report:
                return base, report
            self._below = {Path(name) for name in report["imported"]}
            self._base = base
        ours, theirs = socket.socketpair()
        version = _Process(ours)
        with suppress(OSError):
            socket.send_fds(self._base.channel, [b"+"], [theirs.fileno()])
        theirs.close()
        return version, version.report()

    def _find_places(self) -> None:
        """Get the places to watch from another process, because this one must not import them."""
        process = self._forked(_report_places)
        self.places = [Path(name) for name in process.report().get("places", ())] or self.places

    def _forked(self, work: Callable[..., None], *values: Any) -> _Process:
        """Fork a process that calls `work` with its end of the channel and then ends. Return it."""
        ours, theirs = socket.socketpair()
        sys.stderr.flush()
        if os.fork() == 0:
            ours.close()
            work(theirs, *values)
        theirs.close()
        return _Process(ours)

    def _keep(self, report: dict[str, Any]) -> None:
        """Keep the previous version, and print the reason once."""
        mistake = report.get("mistake", "The server stopped before it was ready.")
        if mistake == self._mistake:
            return
        self._mistake = mistake
        kept = "the previous version keeps serving" if self._serving else "nothing is served yet"
        print(f"{report.get('traceback', '')}Not loaded: {mistake}\n({kept})", file=sys.stderr)
        sys.stderr.flush()
        if self._serving is not None:
            self._serving.note(mistake)


def _report_places(channel: socket.socket) -> None:
    """Report the places to watch, and end the process."""
    with _ending_with_report(channel):
        _send(channel, {"places": [str(place) for place in find_places(current())]})


def _serve_base(channel: socket.socket, listener: socket.socket, services: Sequence[str]) -> None:
    """Import the models, fork a process for each channel that is received, and end the process."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with _ending_with_report(channel):
        for name in services:
            if models := current()[name].models:
                _import_all(models)
        gc.freeze()
        _send(channel, {"imported": _imported_files()})
        while (received := socket.recv_fds(channel, 1, 1))[0]:
            version = socket.socket(fileno=received[1][0])
            if os.fork() == 0:
                channel.close()
                _serve_version(listener, version, services)
            version.close()


def _import_all(package: str) -> None:
    paths = getattr(import_module(package), "__path__", ())
    for module in pkgutil.walk_packages(paths, f"{package}."):
        import_module(module.name)


def _imported_files() -> list[str]:
    """Return the files of the project that this process has imported."""
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    return [file for file in files if file and Path(file).is_relative_to(ROOT)]


def _serve_version(
    listener: socket.socket, channel: socket.socket, services: Sequence[str]
) -> None:
    """Load the current files, serve them, and end the process."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    mistakes = [""]
    threading.Thread(target=_listen_to, args=(channel, mistakes), daemon=True).start()
    with _ending_with_report(channel):
        app = _load(services, mistakes)

        def announce() -> None:
            gc.freeze()
            gc.enable()
            _send(channel, {"serves": True})
            _send(channel, {"files": _files_of(app)})

        run(app, listener, announce=announce, one_request=True)


@contextmanager
def _ending_with_report(channel: socket.socket) -> Iterator[None]:
    """End the process at the end of the context. Report the exception that ended it."""
    status = 1
    try:
        yield
        status = 0
    except BaseException as error:
        kind = type(error).__name__
        about = "" if kind in UNDERSTOOD else _traceback(error)
        _send(channel, {"kind": kind, "mistake": _mistake(error), "traceback": about})
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _load(services: Sequence[str], mistakes: list[str]) -> Any:
    """Return the application. Its errors contain the last mistake."""
    require_migrated(services)
    app: Any = current().application_of(*services)
    engine = engine_of(app)
    for api in () if engine is None else engine.apis:
        api.explain = explaining(lambda: mistakes[-1])
    return app


def require_migrated(services: Sequence[str]) -> None:
    """Raise `ClickException` unless the databases of the services are migrated."""
    settings = import_module("specd._settings").load_settings()
    open_database = import_module("specd._cli.databases").open_database
    for service in settings.database_urls:
        if service in services:
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
    """Receive the mistakes of newer versions. End the process when the channel is closed."""
    with suppress(OSError, ValueError):
        for line in channel.makefile("r", encoding="utf-8"):
            mistakes.append(json.loads(line)["mistake"])
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(KILL_S)
    os._exit(1)


def _send(channel: socket.socket, message: dict[str, Any]) -> None:
    channel.sendall(json.dumps(message).encode() + b"\n")


def _mistake(error: BaseException) -> str:
    """Return the message of an expected error, or one line with the place in the project's
    source.
    """
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
    return str(import_module("specd._cli.output").without_secrets(text))


if __name__ == "__main__":
    main(*sys.argv[1:])
