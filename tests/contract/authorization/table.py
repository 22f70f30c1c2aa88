"""The policy as a page: docs/permissions.md. `scripts/permissions-table` writes it."""

from collections.abc import Iterator
from pathlib import Path

from tests.contract.authorization.policy import ALLOWED, Case, Policy, load

PERMISSIONS_PAGE = Path(__file__).parents[3] / "docs" / "permissions.md"

HEAD = """\
# Who may do what

For users and operators: every operation, and who may call it.

Written by `scripts/permissions-table` from
[`permissions.yaml`](../tests/contract/authorization/permissions.yaml), which the tests next to it
verify cell by cell. **yes** means that the operation succeeds. A letter names the refusal that the
legend below the table explains.

On this page: [Payment](#payment), [Chat](#chat).
"""


def rendered() -> str:
    """Return the text of the page."""
    return "\n".join([HEAD, *_part(load("payment")), *_part(load("chat"))]) + "\n"


def _part(policy: Policy) -> Iterator[str]:
    letters = {name: _letter(at) for at, name in enumerate(policy.refusals)}
    yield f"## {policy.service.capitalize()}\n"
    for actor, meaning in policy.actors.items():
        yield f"- **{actor}**: {meaning}"
    yield ""
    yield f"| operation | {' | '.join(policy.actors)} |"
    yield "|---" * (len(policy.actors) + 1) + "|"
    for case in policy.cases:
        yield f"| {_named(case)} | {' | '.join(_cell(case, a, letters) for a in policy.actors)} |"
    yield ""
    for name, (status, text) in policy.refusals.items():
        shown = text.replace("$", "").replace("'cellar'", "'...'").replace("(cellar)", "(...)")
        yield f"- `{letters[name]}` {name}: {status}, {shown}"
    yield ""


def _named(case: Case) -> str:
    return f"`{case.operation}` {case.about}".strip()


def _cell(case: Case, actor: str, letters: dict[str, str]) -> str:
    answer = case.cells[actor]
    return "**yes**" if answer == ALLOWED else f"`{letters[answer]}`"


def _letter(at: int) -> str:
    """Return a letter from a to z, then aa to az, ..."""
    last = chr(ord("a") + at % 26)
    return last if at < 26 else _letter(at // 26 - 1) + last
