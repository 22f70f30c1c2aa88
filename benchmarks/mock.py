"""python -m benchmarks.mock: `specd mock` compared with Prism, on the same documents.

For each operation and each preference of a client, both respond to the same request: status, media
type and the shape of the body are compared. Then both are loaded in turn.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import orjson

from benchmarks.load.charts import draw_chart
from benchmarks.load.checkout import ROOT
from benchmarks.load.figures import Figures, write_json
from benchmarks.load.processes import Server, free_port
from benchmarks.load.rounds import alternate
from benchmarks.load.wrk import Load, run_wrk
from specd._engine.document.media import essence, is_json
from specd._engine.document.schemas import Schemas
from specd._engine.mocking.values import Values
from specd._engine.openapi.loading import Loaded, load
from specd._engine.openapi.structure import METHODS, resolved

OURS, PRISM = "specd", "Prism"
PROGRAM = ROOT / "build/tools/prism/node_modules/.bin/prism"
"""Installed by `scripts/prism`."""
DOCUMENTS = {"payment": "specs/payment.yaml", "pets": "benchmarks/pets.yaml"}
SERVER_CORE, WRK_CORE = 0, 1
DYNAMIC = "dynamic=true"
PATIENCE_S = 60
"""Prism is slow when it generates values and blocks meanwhile, so these requests come last."""
HEADERS = {"Authorization": "Bearer anything", "X-Key": "anything"}


@dataclass(frozen=True, slots=True)
class Operation:
    """A valid request, and the documented responses."""

    name: str
    method: str
    path: str
    headers: Mapping[str, str]
    body: str
    responses: Mapping[str, Mapping[str, Any]]

    def ask(self, server: Server, prefer: str) -> httpx.Response:
        headers = {**self.headers, **({"Prefer": prefer} if prefer else {})}
        url, method, timeout = server.url + self.path, self.method, PATIENCE_S
        return httpx.request(method, url, headers=headers, content=self.body, timeout=timeout)

    def load(self, server: Server, seconds: float) -> Load:
        return run_wrk(
            server.url + self.path,
            script="fixed.lua",
            arguments=[self.method, self.body, *chain.from_iterable(self.headers.items())],
            seconds=seconds,
            connections=16,
            core=WRK_CORE,
        )

    def preferences(self) -> Iterator[str]:
        """Yield values of `Prefer`, starting with an empty one."""
        yield ""
        yield "code=404"
        yield from (f"code={code}" for code in self.responses if code not in ("404", "default"))
        usual = self.responses[min(self.responses)]
        for media in usual.get("content", {}).values():
            yield from (f"example={name}" for name in media.get("examples", {}))
        yield DYNAMIC


def operations_of(document: Mapping[str, Any]) -> Iterator[Operation]:
    values = Values(document, drop="readOnly")
    deref = partial(resolved, document)

    def value_of(node: Mapping[str, Any]) -> Any:
        for example in node.get("examples", {}).values():
            return deref(example)["value"]
        return node.get("example") or values.example(node["schema"])

    for path, item in document["paths"].items():
        for method in (name for name in METHODS if name in item):
            raw, place, headers, body = item[method], path, dict(HEADERS), ""
            for parameter in map(deref, (*item.get("parameters", ()), *raw.get("parameters", ()))):
                text = str(value_of(parameter))
                place = place.replace("{" + parameter["name"] + "}", quote(text, safe=""))
                if parameter["in"] == "header":
                    headers[parameter["name"]] = text
            for media_type, media in deref(raw.get("requestBody", {})).get("content", {}).items():
                headers["Content-Type"] = media_type
                body = orjson.dumps(value_of(media)).decode()
            responses = {code: deref(node) for code, node in raw["responses"].items()}
            yield Operation(raw["operationId"], method.upper(), place, headers, body, responses)


class Comparison:
    """The differences between the responses of two servers to the same requests."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self._schemas = Schemas(document, drop="writeOnly")
        self.agreed = 0
        self.disagreed: dict[str, str] = {}

    def add(self, servers: Sequence[Server], operation: Operation, prefer: str) -> None:
        try:
            ours, theirs = (operation.ask(server, prefer) for server in servers)
            reason = self._difference(operation, ours, theirs)
        except httpx.ReadTimeout:
            reason = f"Prism gives no answer in {PATIENCE_S} s"
        if reason:
            self.disagreed[f"{operation.name}, {prefer or 'no preference'}"] = reason
        else:
            self.agreed += 1

    def _difference(
        self, operation: Operation, ours: httpx.Response, theirs: httpx.Response
    ) -> str:
        if ours.status_code != theirs.status_code:
            return f"status {ours.status_code}, Prism {theirs.status_code}"
        types = [essence(it.headers.get("content-type", "")) for it in (ours, theirs)]
        if types[0] != types[1] and ours.content:
            return f"{types[0]}, Prism {types[1]}"
        if not is_json(types[0]) or not ours.content:
            return "" if ours.content == theirs.content else "another text"
        media = operation.responses[str(ours.status_code)]["content"][types[0]]
        validate = self._schemas.compile(media.get("schema", {}), operation.name)
        for name, answer in ((OURS, ours), (PRISM, theirs)):
            if violations := validate(answer.json(), ""):
                return f"{name} breaks the schema: {violations[0].path} {violations[0].message}"
        examples = [
            resolved(self._document, it).get("value") for it in media.get("examples", {}).values()
        ]
        one, other = ours.json(), theirs.json()
        if one in examples and other in examples:
            return "" if one == other else "another example"
        return another_shape(one, other)


def another_shape(one: Any, other: Any, at: str = "") -> str:
    """Return where two values differ in type, in properties and items that both have, or "".

    Null agrees with every type, because both match the schema.
    """
    if one is None or other is None:
        return ""
    if isinstance(one, dict) and isinstance(other, dict):
        pairs = [(one[key], other[key], f"{at}/{key}") for key in one if key in other]
    elif isinstance(one, list) and isinstance(other, list):
        pairs = [(*pair, f"{at}/0") for pair in zip(one[:1], other[:1], strict=False)]
    else:
        names = [type(it).__name__.replace("float", "int") for it in (one, other)]
        return "" if names[0] == names[1] else f"{at} is of {names[0]}, Prism's of {names[1]}"
    return next(filter(None, (another_shape(*pair) for pair in pairs)), "")


def start(name: str, document: Path) -> Server:
    port = free_port()
    command = [sys.executable, "-m", "specd._cli.main", "mock", str(document)]
    command += ["--bind", f"127.0.0.1:{port}"]
    if name == PRISM:
        command = [str(PROGRAM), "mock", str(document), "-h", "127.0.0.1", "-p", str(port)]
        command += ["--verboseLevel", "error"]
    log = document.with_name(f"{name}.log")
    return Server(name, command, port=port, log=log, core=SERVER_CORE)


def measure(
    name: str, loaded: Loaded, rounds: int, seconds: float
) -> tuple[dict[str, dict[str, Figures]], Comparison]:
    """Return the figures of both servers for each operation, and the comparison of responses."""
    operations = {it.name: it for it in operations_of(loaded.content)}
    comparison, names = Comparison(loaded.content), list(operations)

    def load_once(operation: str, server: Server, seconds: float) -> Load:
        return operations[operation].load(server, seconds)

    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        document = Path(directory) / f"{name}.yaml"
        document.write_bytes(loaded.text)
        servers = [stack.enter_context(start(it, document)) for it in (OURS, PRISM)]
        alternate(servers, names, rounds=1, seconds=1, load_once=load_once)  # warm-up
        measured = alternate(servers, names, rounds=rounds, seconds=seconds, load_once=load_once)
        asked = [(it, prefer) for it in operations.values() for prefer in it.preferences()]
        for operation, prefer in sorted(asked, key=lambda pair: pair[1] == DYNAMIC):
            comparison.add(servers, operation, prefer)
    return measured.tabulated(names, [OURS, PRISM]), comparison


def mocks_table(name: str, table: Mapping[str, Mapping[str, Figures]]) -> str:
    heads = " | ".join(f"{it}: {OURS} | {PRISM} | ratio" for it in ("requests/s", "CPU us"))
    lines = [f"| {name} | {heads} |", "|---|" + "---:|" * 6]
    for which, row in table.items():
        one, other = row[OURS], row[PRISM]
        rates = f"{one.per_second:,.0f} | {other.per_second:,.0f}"
        times = f"{one.cpu_us:,.0f} | {other.cpu_us:,.0f} | {one.cpu_us / other.cpu_us:.2f}"
        ratio = f"{one.per_second / other.per_second:.2f}"
        lines.append(f"| {which} | {rates} | {ratio} | {times} |")
    return "\n".join(lines)


def show(comparison: Comparison) -> None:
    asked = comparison.agreed + len(comparison.disagreed)
    print(f"\n{comparison.agreed} of {asked} answers agree.\n")
    for which, reason in comparison.disagreed.items():
        print(f"- {which}: {reason}")
    print()


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.mock", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=2, help="length of one load")
    parser.add_argument("--out", type=Path, default=Path("var/benchmark-mock.json"))
    arguments = parser.parse_args()
    results = {}
    shown = []
    for name, file in DOCUMENTS.items():
        table, comparison = measure(name, load(ROOT / file), arguments.rounds, arguments.seconds)
        shown.append(mocks_table(name, table))
        print(shown[-1])
        show(comparison)
        results[name] = {"figures": table, "disagreed": comparison.disagreed}
    draw_chart("mock", "\n\n".join(shown), arguments.out.with_suffix(".svg"))
    write_json(arguments.out, documents=results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
