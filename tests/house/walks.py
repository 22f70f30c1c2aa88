"""How far a reader walks for one request: the files whose functions run between handler and answer.

`python -m tests.house walks` runs one test for each walk and follows the calls. The reader reads
each function once, in the order of the calls, and returns to the caller after it. "Files" counts
distinct modules. "Returns" counts how often the reader comes back to a file that they have left.
Not counted is what every walk passes: the engine, the unit of work, tables, classes of errors,
settings and the log. Functions that a library calls back count; code that runs at import does not.

"Opened" counts the files without those of which the walk needs leaves only. A leaf is a function
that calls into no other file of the walk and has at most `LEAF_LINES` lines that run: a reader
takes its name and signature for what it does. A star in the list marks the files that are opened.
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
CHAT = "tests/handlers/chat"
WALKS: dict[str, str] = {
    "send_message": f"{CHAT}/test_messages.py::TestSendMessage::test_reaches_every_subscriber",
    "create_scheduled_message": (
        f"{CHAT}/test_scheduled_messages.py::TestCreateScheduledMessage::test_to_a_channel"
    ),
    "update_message_flags_for_narrow": (
        f"{CHAT}/test_message_flags.py::TestUpdateMessageFlagsForNarrow"
        "::test_adds_a_flag_and_tells_what_it_did"
    ),
    "update_user": (
        f"{CHAT}/test_update_user.py::TestRole::test_changes_and_the_system_groups_follow"
    ),
    "create_invoice": (
        "tests/handlers/payment/test_invoices.py::TestCreateInvoice"
        "::test_answers_201_with_the_whole_invoice"
    ),
    "_watch_one": (
        "tests/workers/test_chain_watcher.py::TestPayments"
        "::test_an_exact_payment_is_processing_then_paid"
    ),
    "create_export": f"{CHAT}/test_exports.py::TestCreateExport::test_has_it_made",
    "send_test_push_notification": (
        f"{CHAT}/test_mobile_push.py::TestSendTestPushNotification::test_reaches_one_device"
    ),
    "subscribe": (
        f"{CHAT}/test_subscriptions.py::TestSubscribe"
        "::test_the_bot_writes_to_others_and_into_new_channels"
    ),
    "update_message": f"{CHAT}/test_messages.py::TestUpdateMessage::test_moves_to_another_topic",
}
"""Function where the walk begins -> a test that makes it go its usual way."""

WALKED = ("adapters/", "handlers/", "models/", "workers/")
PASSED_BY_ALL = (
    "models/clock.py",
    "models/database.py",
    "models/driver.py",
    "models/prepared.py",
    "models/types.py",
)
START = ("handlers/", "workers/")
LEAF_LINES = 10


def file_of(code: CodeType) -> str:
    """The module a reader opens for this code, from the root of the tree; "" for none."""
    name = code.co_filename.removeprefix(f"{ROOT}/")
    is_walked = name.startswith(WALKED) and name not in PASSED_BY_ALL
    return name if is_walked and "tables" not in name and "errors" not in name else ""


def lines_of(code: CodeType) -> int:
    """How many lines of a function run: its signature and docstring do not."""
    return len({line for _, _, line in code.co_lines() if line} - {code.co_firstlineno})


class Walk:
    """One reader, from a handler to its answer."""

    def __init__(self, start: FrameType) -> None:
        self.files: list[str] = []
        self.returns = 0
        self._start = id(start)
        self._read: dict[CodeType, str] = {}
        self._callers_of_files: set[CodeType] = set()
        self._at = ""
        self._callers: list[tuple[int, str, CodeType]] = []

    def call(self, frame: FrameType, file: str) -> None:
        code = frame.f_code
        if self._callers:
            caller = self._callers[-1][2]
            if self._read[caller] != file:
                self._callers_of_files.add(caller)
        is_new = code not in self._read
        self._read[code] = file
        self._callers.append((id(frame), self._at if is_new else "", code))
        if is_new:
            self._go(file)

    def leave(self, frame: FrameType) -> bool:
        """Whether the walk is over."""
        while self._callers:
            callee, caller, _ = self._callers.pop()
            if callee == id(frame):
                self._go(caller)
                break
        return id(frame) == self._start and not self._callers

    @property
    def opened(self) -> set[str]:
        """The files of which the walk needs more than leaves."""
        return {
            file
            for code, file in self._read.items()
            if code in self._callers_of_files or lines_of(code) > LEAF_LINES
        }

    def _go(self, file: str) -> None:
        if file in ("", self._at):
            return
        if file in self.files:
            self.returns += 1
        else:
            self.files.append(file)
        self._at = file


class Walks:
    """A pytest plugin that follows the walks; the longest one of each test counts."""

    def __init__(self) -> None:
        self.longest: dict[str, Walk] = {}
        self._files: dict[CodeType, str] = {}
        self._walk: Walk | None = None
        self._name = ""

    @contextmanager
    def following(self) -> Iterator[None]:
        """Threads that start within are followed as well."""
        threading.setprofile(self._follow)
        sys.setprofile(self._follow)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def _follow(self, frame: FrameType, event: str, _: Any) -> None:
        if event not in ("call", "return"):
            return
        code = frame.f_code
        file = self._files.get(code)
        if file is None:
            file = self._files[code] = file_of(code)
        if not file:
            return
        if event == "return":
            if self._walk is not None and self._walk.leave(frame):
                self._end(self._walk)
            return
        if self._walk is None:
            if not (file.startswith(START) and code.co_name in WALKS):
                return
            self._walk, self._name = Walk(frame), code.co_name
        self._walk.call(frame, file)

    def _end(self, walk: Walk) -> None:
        self._walk = None
        best = self.longest.get(self._name)
        if best is None or len(walk.files) > len(best.files):
            self.longest[self._name] = walk


def main() -> int:
    walks = Walks()
    with walks.following():
        options = ["-q", "-p", "no:warnings", "-p", "no:cacheprovider", "-k", "not postgresql"]
        status = pytest.main([*options, *WALKS.values()])
    for name in WALKS:
        walk = walks.longest[name]
        opened = walk.opened
        counts = f"{len(walk.files):3} files {walk.returns:3} returns {len(opened):3} opened"
        print(f"{name:34} {counts}")
        print(*(f"  {'*' if file in opened else ' '} {file}" for file in walk.files), sep="\n")
    return int(status)
