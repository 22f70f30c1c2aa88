"""Runs commands of `specd` in this process."""

import json
from typing import Any

import pytest

from specd._cli.main import main

# m/44'/60'/0' of the published mnemonic "legal winner thank year wave sausage worth useful legal
# winner thank yellow" (computed with bip-utils).
XPUB = (
    "xpub6Bh6Cg7bvjFdW6VEAaZmsyhZh86WdJ9Kr5aqqY5LN7UFLpxTrxsiys213UCu8MAYjcq5JhF7jzZXvruGfWfPbxqsByN"
    "NhwWaNQRuhP3JcC3"
)


class Specd:
    """Runs `specd WORDS...` in this process and captures its output."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *words: str) -> tuple[int, str, str]:
        """Return (exit status, standard output, standard error)."""
        with pytest.raises(SystemExit) as ended:
            main(list(words))
        out, err = self._capsys.readouterr()
        return int(ended.value.code or 0), out, err

    def json(self, *words: str) -> dict[str, Any]:
        """Return the JSON object on the last line of a command that must succeed."""
        status, out, err = self(*words, "--json")
        assert (status, err) == (0, "")
        answer: dict[str, Any] = json.loads(out.splitlines()[-1])
        return answer

    def refusal(self, *words: str) -> str:
        """Return the sentence printed by a command that must fail and print nothing else."""
        status, out, err = self(*words)
        assert status != 0
        assert out == ""
        assert err.startswith("Error: ")
        assert err.endswith((".\n", "?\n", "!\n"))
        assert err.count("\n") == 1, err
        assert "Traceback" not in err
        return err.removeprefix("Error: ").strip()
