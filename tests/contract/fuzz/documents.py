"""schemathesis with a new demo, started by a user who has only the documents:
`scripts/fuzz-documents`.

For each document and seed there is one run without a configuration and one with the configuration
served with the document. Prints the findings, and the share of operations answered with 2xx at
least once.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

import specs
from tests.contract.specs.examples import operations
from tests.live.running_demo import Demo

PATHS = {
    "payment": ("/v1/openapi.yaml", "/v1/schemathesis.toml"),
    "payment-events": ("/v1/payment-events.yaml", "/v1/payment-events.schemathesis.toml"),
    "payment-test": ("/v1/payment-test.yaml", "/v1/payment-test.schemathesis.toml"),
    "chat": ("/api/v1/openapi.yaml", "/api/v1/schemathesis.toml"),
}
"""Document -> its path and that of its configuration."""
LONGEST_S = 1800
_FOUND = re.compile(r"^_{3,} (.+?) _{3,}$", re.MULTILINE)


@dataclass(frozen=True)
class Run:
    """The output of a run of schemathesis, and the operations that were answered with 2xx."""

    report: str
    status: int
    reached: frozenset[str]
    answered: frozenset[str]

    @property
    def findings(self) -> list[str]:
        """Return the operations with a failure."""
        return _FOUND.findall(self.report)


def run_with_documents(
    demo: Demo,
    directory: Path,
    document: str,
    *,
    configured: bool,
    seed: int,
    options: tuple[str, ...] = (),
) -> Run:
    """Run `st run` in a directory that is empty, except for the configuration."""
    ready = json.loads(demo.out.splitlines()[-1])
    place, configuration = PATHS[document]
    user = ready["chat_users"][0]
    environment = {**os.environ, "API_KEY": ready["key"]}
    if document == "chat":
        name = f"user{user['user_id']}@127.0.0.1"
        environment |= {"API_USER": name, "API_KEY": user["api_key"]}
    words = [str(Path(sys.executable).with_name("st")), "run", ready["base_url"] + place]
    if configured:
        text = httpx.get(ready["base_url"] + configuration).raise_for_status().text
        (directory / "schemathesis.toml").write_text(text)
    elif document == "chat":
        words += ["--auth", f"{user['email']}:{user['api_key']}"]
    else:
        words += ["-H", f"Authorization: Bearer {ready['key']}"]
    log = demo.directory / "var/logs/server.log"
    start = log.stat().st_size
    ran = subprocess.run(
        [*words, f"--seed={seed}", "--no-color", *options],
        cwd=directory,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=2 * LONGEST_S,
        check=False,
    )
    with log.open("rb") as lines:
        lines.seek(start)
        seen = [json.loads(line) for line in lines if line.startswith(b'{"event":"request"')]
    own = {operation["operationId"] for _, _, operation, _ in operations(specs.load(document))}
    reached = frozenset(line["operation"] for line in seen if line.get("operation") in own)
    good = frozenset(
        line["operation"]
        for line in seen
        if line.get("operation") in own and 200 <= line["status"] < 300
    )
    return Run(ran.stdout, ran.returncode, reached, good)


def share(run: Run, document: Mapping[str, Any]) -> float:
    """Return the share of operations that were answered with 2xx."""
    return len(run.answered) / len(list(operations(document)))


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="scripts/fuzz-documents")
    parser.add_argument("documents", nargs="*", default=list(PATHS), choices=[*PATHS, []])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--reports", type=Path, help="keep the reports in this directory")
    parser.add_argument("--max-time", type=int, default=LONGEST_S, help="seconds for each run")
    parser.add_argument("--only", choices=("with", "without"))
    arguments = parser.parse_args(argv)
    failed = 0
    for document in arguments.documents:
        for configured in (False, True):
            if arguments.only == ("without" if configured else "with"):
                continue
            for seed in range(1, arguments.seeds + 1):
                with tempfile.TemporaryDirectory() as name:
                    directory = Path(name)
                    demo = Demo(directory, "--json")
                    try:
                        (directory / "run").mkdir()
                        run = run_with_documents(
                            demo,
                            directory / "run",
                            document,
                            configured=configured,
                            seed=seed,
                            options=(f"--max-time={arguments.max_time}",),
                        )
                    finally:
                        demo.kill()
                how = "with" if configured else "without"
                absent = sorted(
                    operation["operationId"]
                    for _, _, operation, _ in operations(specs.load(document))
                    if operation["operationId"] not in run.answered
                )
                print(
                    f"{document} {how} configuration, seed {seed}: {len(run.findings)} findings,"
                    f" {share(run, specs.load(document)):.0%} of operations answered 2xx"
                    f" (not: {', '.join(absent) or 'none'})",
                    flush=True,
                )
                if arguments.reports:
                    arguments.reports.mkdir(parents=True, exist_ok=True)
                    (arguments.reports / f"{document}-{how}-{seed}.txt").write_text(run.report)
                failed += configured and run.status != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
