"""Errors that handlers raise and documents do not list. Only certain ones are reported."""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from specd import ErrorTable, Refusal, Response
from specd._cli.raised import find_raised
from specd._error_table import find_status
from specd.errors import Answer, InvalidRequest, Row
from tests.support.stranger import Stranger

RULES = """
from contextlib import contextmanager, suppress
from functools import wraps
from specd import Refusal, idempotent

class Wrong(Refusal): pass
class Other(Wrong): pass
DEBUG = False

def translated(function):
    @wraps(function)
    def call(*given):
        try:
            return function(*given)
        except Wrong:
            return None
    return call

@contextmanager
def tolerant():
    try:
        yield
    except Wrong:
        pass

def check(value, strict=False, *, mode="a"):
    if not value:
        raise Wrong
    if strict or mode == "b":
        raise Other

def check_late(value, strict):
    relaxed = not strict
    if relaxed:
        return
    raise Wrong

@translated
def check_softly(value):
    raise Wrong

def check_deeply(value):
    check(value.name)

def check_more_deeply(value):
    check_deeply(value)

def list_lazily(value):
    raise Wrong
    yield value
"""
FOUND = {
    "itself": "def f(ctx): raise Wrong",
    "with facts": "def f(ctx, *, a):\n  if a > 1:\n    raise Wrong(a=a) from None",
    "in a handler of errors": "def f(ctx):\n  try: ctx()\n  except KeyError: raise Wrong from None",
    "not caught": "def f(ctx):\n  try: raise Wrong\n  except (Other, KeyError): pass",
    "else": "def f(ctx):\n  try: ctx.a()\n  except Wrong: pass\n  else: raise Wrong",
    "called": "def f(ctx, *, a): check(a)",
    "called in an expression": "def f(ctx, *, a): return {'a': [1, check(a.b)]}",
    "in a loop": "def f(ctx, *, a):\n  for each in a:\n    check(each)",
    "called by one that is called": "def f(ctx, *, a): check_deeply(a)",
    "decorated by the library": "@idempotent\ndef f(ctx, *, a): raise Wrong",
    "with another attribute tested": "def f(ctx):\n  if ctx.a:\n    check(ctx.b)",
}
NOT_FOUND = {
    "caught": "def f(ctx):\n  try: raise Other\n  except Wrong: pass",
    "a caught call": "def f(ctx, *, a):\n  try: check(a)\n  except Wrong: pass",
    "all is caught": "def f(ctx):\n  try: raise Wrong\n  except: pass",
    "caught by an unknown class": "def f(ctx):\n  try: raise Wrong\n  except ctx.errors: pass",
    "another result": "def f(ctx):\n  try: raise Wrong\n  finally: return 1",
    "a group": "def f(ctx):\n  try: raise Wrong\n  except* Wrong: pass",
    "suppressed": "def f(ctx):\n  with suppress(Wrong): raise Wrong",
    "a tolerant block": "def f(ctx):\n  with tolerant(): raise Wrong",
    "after the end": "def f(ctx):\n  return 1\n  raise Wrong",
    "never": "def f(ctx):\n  if DEBUG: raise Wrong\n  if False: raise Wrong",
    "a nested function": "def f(ctx):\n  def g(): raise Wrong\n  return g",
    "a generator": "def f(ctx):\n  yield 1\n  raise Wrong",
    "a generator that is called": "def f(ctx, *, a): return list_lazily(a)",
    "a lazy expression": "def f(ctx, *, a): return (check(each) for each in a)",
    "another decorator": "@translated\ndef f(ctx): raise Wrong",
    "a decorator that is called": "def f(ctx, *, a): check_softly(a)",
    "a decorator without a name": "f = translated(lambda ctx: check(ctx))",
    "a name of its own": "def f(ctx, *, Wrong): raise Wrong",
    "another exception": "def f(ctx): raise ValueError",
    "an argument that is always the same": "def f(ctx, *, a): check_late(a, False)",
    "an argument that was tested": "def f(ctx, *, a):\n  if a:\n    check(a)",
    "an attribute that was tested": "def f(ctx):\n  if not ctx.a: return\n  check(ctx.a.b)",
    "what comes from a tested one": "def f(ctx, *, a):\n  if a:\n    b = a[0]\n    check(b)",
    "arguments that are not known": "def f(ctx, **a): check(**a)",
    "too deep": "def f(ctx, *, a): check_more_deeply(a)",
}


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Callable[..., Any]]:
    """Return a function that loads `f` from a module with the rules."""
    monkeypatch.syspath_prepend(tmp_path)

    def load(source: str) -> Callable[..., Any]:
        (tmp_path / "raising").mkdir()
        (tmp_path / "raising/rules.py").write_text(f"{RULES}\n{source}\n")
        monkeypatch.delitem(sys.modules, "raising", raising=False)
        monkeypatch.delitem(sys.modules, "raising.rules", raising=False)
        function: Callable[..., Any] = import_module("raising.rules").f
        return function

    return load


@pytest.mark.parametrize("name", FOUND)
def test_error_is_found(load: Callable[[str], Callable[..., Any]], name: str) -> None:
    found = list(find_raised(load(FOUND[name]), ["raising"]))
    assert {each.kind.__name__ for each in found} == {"Wrong"}
    for each in found:
        line = each.spot.file.read_text().splitlines()[each.spot.line - 1]
        assert line[each.spot.column - 1 :].startswith("raise Wrong")


@pytest.mark.parametrize("name", NOT_FOUND)
def test_uncertain_error_is_not_found(load: Callable[[str], Callable[..., Any]], name: str) -> None:
    assert not list(find_raised(load(NOT_FOUND[name]), ["raising"]))


def test_functions_of_other_packages_are_not_followed(
    load: Callable[[str], Callable[..., Any]],
) -> None:
    function = load(FOUND["called"])
    assert not list(find_raised(function, ["rais", "raising.other"]))


class Gone(Refusal):
    """It is not there."""

    status, code, sentence = 410, "gone", "{name} is gone."


class Hidden(Gone):
    """Nobody sees it."""


def _write(answer: Answer) -> Response:
    return Response(200 if answer.status == 418 else answer.status, b"", ())


def _read_extra(answer: Answer) -> Response:
    return Response(answer.status, str(answer.extra["name"]).encode())


def _translate(error: Exception) -> Exception:
    return Hidden(name="a") if isinstance(error, InvalidRequest) else error


@pytest.mark.parametrize(
    ("table", "kind", "status"),
    [
        (ErrorTable(), Gone, 410),
        (ErrorTable(), InvalidRequest, 400),
        (ErrorTable(), KeyError, None),
        (ErrorTable({Gone: Row(404)}), Hidden, 404),
        (ErrorTable({"invalid_request": Row(422)}), InvalidRequest, 422),
        (ErrorTable({Gone: None}), Hidden, None),
        (ErrorTable({Gone: Row(418)}, write=_write), Gone, 200),
        (ErrorTable(write=_write), Gone, 410),
        (ErrorTable(write=_read_extra), Gone, None),
        (ErrorTable(translate=_translate), InvalidRequest, None),
        (ErrorTable(translate=_translate), Gone, 410),
    ],
)
def test_status_of_a_class_is_found(
    table: ErrorTable, kind: type[Exception], status: int | None
) -> None:
    assert find_status(table, kind) == status


HANDLERS = """
from greeter.rules import TooLong, check
from specd import Context


def get_greeting(ctx: Context, *, person: str) -> dict[str, str]:
    check(person)
    if person == "Known":
        raise TooLong
    return {"text": person}
"""
OWN_RULES = """
from specd import Refusal


class TooLong(Refusal):
    status, code, sentence = 409, "too_long", "The name is too long."


class Nobody(Refusal):
    status, code, sentence = 404, "nobody", "There is nobody."


def check(person: str) -> None:
    if not person.strip():
        raise Nobody
    if len(person) > 50:
        raise TooLong
"""


def test_check_names_undocumented_errors(tmp_path: Path) -> None:
    shop = Stranger(tmp_path)
    shop.specd("new", "greeter")
    (shop.path / "greeter/handlers/greetings.py").write_text(HANDLERS)
    (shop.path / "greeter/rules.py").write_text(OWN_RULES)
    assert "no mistakes" in shop.specd("check")  # the document has `default`
    document = shop.path / "greeter/openapi.yaml"
    document.write_text(document.read_text().replace("default:", '"404":'))
    shop.specd("types")
    checked = shop.run("specd._cli.main", "check")
    assert checked.returncode == 1
    found, count = checked.stdout.splitlines()
    assert found == (
        "greeter/rules.py:17:9: paths./greetings/{person}.get: greeter: get_greeting"
        " (GET /greetings/{person}): greeter.rules.check, which it calls, raises TooLong, and the"
        " document does not list its status 409"
    )
    assert count.endswith("1 mistake.")
