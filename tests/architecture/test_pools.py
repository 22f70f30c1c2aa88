"""All uses of thread pools in the product are listed here."""

import ast
from collections.abc import Iterator

from tests.architecture.imports import ROOT, SHIPPED, sources

SHARED = {"to_thread", "run_in_threadpool", "run_sync", "FileResponse", "StaticFiles"}
"""Functions that run work in threads shared by the whole process."""
OWN = {"ThreadPoolExecutor", "ProcessPoolExecutor", "Pool", "WSGIMiddleware"}
KNOWN = {
    (
        "specd/_engine/serving/app.py",
        "to_thread",
    ): "chores, one at a time each, and the end of the engine",
    (
        "specd/_engine/threads.py",
        "run_in_executor(None)",
    ): "handlers of a service without a database",
    (
        "specd/_engine/threads.py",
        "ThreadPoolExecutor",
    ): "of one service: writes, and reads that take long",
    ("specd/_engine/pools.py", "ThreadPoolExecutor"): "every `Pool`",
    (
        "specd/_engine/serving/app.py",
        "WSGIMiddleware",
    ): "pages; `Places` bounds the downloads among them",
    (
        "specd/_engine/serving/health.py",
        "ThreadPoolExecutor",
    ): "probes, one thread for each service",
    ("specd/_engine/serving/health.py", "Pool"): "the text of /metrics",
    ("specd/_engine/document/arrivals.py", "Pool"): "pieces of files on their way in",
    ("specd/_engine/serving/streams.py", "Pool"): "answers that handlers stream, a piece at a time",
    ("specd/_auth/passwords.py", "Pool"): "hashes of passwords",
    ("handlers/chat/wire/pools.py", "Pool"): "pictures; files for the store",
    ("workers/webhook_posting.py", "to_thread"): "faults of test helpers, a look for each message",
    ("workers/imports.py", "ThreadPoolExecutor"): "files of an import on their way to the store",
    ("adapters/webhooks/guarded_network.py", "ThreadPoolExecutor"): "names that are resolved",
}
"""(module, function) -> the work that it runs."""
COMMANDS = ("cli/", "demo/", "specd/_cli/")
"""The folders of commands, which run in separate processes."""


def uses(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if name == "run_in_executor":
                where = node.args[0]
                if isinstance(where, ast.Constant) and where.value is None:
                    yield "run_in_executor(None)"
            elif name in OWN:
                yield name
        if isinstance(node, ast.Attribute) and node.attr in SHARED:
            yield node.attr
        elif isinstance(node, ast.Name) and node.id in SHARED:
            yield node.id


def test_all_uses_of_threads_are_listed() -> None:
    found = {
        (str(path.relative_to(ROOT)), use)
        for path in sources(*SHIPPED)
        if not path.relative_to(ROOT).as_posix().startswith(COMMANDS)
        for use in uses(ast.parse(path.read_text()))
    }
    assert found == set(KNOWN)
