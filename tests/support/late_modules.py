"""Lets xdist workers collect each module when its turn comes, and delete its tests afterwards.

By default, each of four processes imports every module and keeps all tests, although it runs a
quarter of them. With this plugin, the unit that xdist distributes is a file. A run that names
single tests (`file::test`) is collected as usual.
"""

from __future__ import annotations

import gc
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

SLOW = (
    "tests/benchmarks/", "tests/contract/continuity/", "tests/contract/cost/",
    "tests/contract/fuzz/", "tests/live/", "tests/pages/test_browser_", "tests/tools/",
    "tests/workers/",
)  # fmt: skip
"""Folders and modules that take up to minutes each."""


class LateFile(pytest.File):
    """A test module that has not been imported yet."""

    def collect(self) -> Iterator[pytest.Item]:
        yield LateModule.from_parent(self, name=self.name, nodeid=self.nodeid)


class LateModule(pytest.Item):
    """A placeholder for all tests of a module."""

    def collect_tests(self) -> list[pytest.Item]:
        """Return the tests of the module that the options select."""
        assert self.parent is not None
        module = pytest.Module.from_parent(self.parent.parent, path=self.path)
        gc.disable()  # there is no garbage meanwhile
        try:
            tests = list(self.session.genitems(module))
        finally:
            gc.enable()
        self.session._collection_cache = {}
        hook = self.config.hook
        hook.pytest_collection_modifyitems(session=self.session, config=self.config, items=tests)
        return tests

    def runtest(self) -> None:
        raise AssertionError("the tests of the module run in its place")


class Late:
    """The plugin of a process that runs tests."""

    def pytest_pycollect_makemodule(
        self, module_path: Path, parent: pytest.Collector
    ) -> pytest.Collector:
        return LateFile.from_parent(parent, path=module_path)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Generator[None]:
        """Exempt modules from options such as `-k`, which select tests."""
        modules = [item for item in items if isinstance(item, LateModule)]
        items[:] = [item for item in items if not isinstance(item, LateModule)]
        yield
        items += spread(modules)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> bool | None:
        if not isinstance(item, LateModule):
            return None
        session, hook = item.session, item.config.hook
        place = session.items.index(item)
        tests = item.collect_tests()
        if not tests:
            session._setupstate.teardown_exact(nextitem)  # the state was kept for this module
        try:
            for number, test in enumerate(tests, 1):
                session.items[place] = test  # xdist compares reports with it
                after = tests[number] if number < len(tests) else nextitem
                hook.pytest_runtest_protocol(item=test, nextitem=after)
                if session.shouldfail or session.shouldstop:
                    break
        finally:
            session.items[place] = item
        return True


class ReportedModules(set[Any]):
    """The modules of reported tests, because xdist compares their number with that of modules."""

    def add(self, node: object) -> None:
        super().add(str(node).partition("::")[0])


def spread(modules: list[LateModule]) -> list[LateModule]:
    """Return the modules with the slow ones spread among the first four fifths of the others. A
    process runs modules in order, so the last modules are quick.
    """
    slow = [module for module in modules if module.nodeid.startswith(SLOW)]
    quick = [module for module in modules if not module.nodeid.startswith(SLOW)]
    total, given, placed = len(quick), 0, []
    for number, module in enumerate(slow):
        until = number * total * 4 // (len(slow) * 5)
        placed += [*quick[given:until], module]
        given = max(given, until)
    return placed + quick[given:]


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        for argument in config.args:  # xdist workers do not report missing paths
            path = config.invocation_params.dir / argument.partition("::")[0]
            if not path.exists():
                raise pytest.UsageError(f"There is no {path}.")
    if any("::" in argument for argument in config.args):
        return
    if hasattr(config, "workerinput"):
        config.pluginmanager.register(Late(), "late-modules")


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    config = session.config
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    is_controller = config.getoption("numprocesses", None) and not hasattr(config, "workerinput")
    if terminal and is_controller and not any("::" in argument for argument in config.args):
        terminal._progress_nodeids_reported = ReportedModules()
