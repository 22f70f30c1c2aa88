"""Does everything that is required have a wheel, for each Python and platform? `scripts/wheels`.

pip resolves all extras together, within constraints.txt, as if it ran there. It decides by this
machine what is required on some platforms alone, so that is looked up afterwards.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from configparser import ConfigParser
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
SUPPORTED = ("3.11", "3.12", "3.13", "3.14")
FORECAST = ("3.15",)
"""Not released, or not supported yet: what is missing there fails nothing."""
Report = list[dict[str, Any]]
_NONE_FITS = re.compile(r"No matching distribution found for (\S+)")


@dataclass(frozen=True)
class Platform:
    """`tags` are what pip accepts there, `markers` what a condition of a requirement sees there."""

    name: str
    tags: tuple[str, ...]
    markers: Mapping[str, str]


def _linux(name: str, machine: str) -> Platform:
    """With glibc 2.28. manylinux2014, 2010 and 1 are older names of 2.17, 2.12 and 2.5."""
    names = [f"_2_{minor}" for minor in range(28, 4, -1)] + ["2014", "2010", "1"]
    seen = {"sys_platform": "linux", "platform_system": "Linux", "platform_machine": machine}
    return Platform(name, tuple(f"manylinux{each}_{machine}" for each in names), seen)


PLATFORMS = (
    _linux("Linux x86-64", "x86_64"),
    _linux("Linux arm64", "aarch64"),
    Platform(
        "macOS arm64",
        ("macosx_14_0_arm64",),
        {"sys_platform": "darwin", "platform_system": "Darwin", "platform_machine": "arm64"},
    ),
)


def main() -> int:
    """Print the table; 1 where something is missing for a supported Python."""
    extras = _extras()
    print(f"Extras: {', '.join(extras)}. Linux with glibc 2.28, macOS 14, or newer.\n")
    print(f"| Python | {' | '.join(platform.name for platform in PLATFORMS)} |")
    print("|---|" + "---|" * len(PLATFORMS))
    is_missing = False
    for version in (*SUPPORTED, *FORECAST):
        cells = []
        for platform in PLATFORMS:
            missing = find_missing(version, platform, f"{ROOT}[{','.join(extras)}]")
            cells.append(f"no wheel: {', '.join(missing)}" if missing else "all wheels")
            is_missing |= bool(missing) and version in SUPPORTED
        forecast = "" if version in SUPPORTED else " (forecast)"
        print(f"| {version}{forecast} | {' | '.join(cells)} |", flush=True)
    return int(is_missing)


def find_missing(version: str, platform: Platform, wanted: str) -> list[str]:
    """What of `wanted` and all that it requires has no wheel for this Python there."""
    constraints = ROOT / "constraints.txt"
    report, said = _resolved(version, platform, [wanted, "--constraint", str(constraints)])
    if report is not None:
        there_alone = sorted(_required_there_alone(report, version, platform))
        return find_without_wheel(version, platform, there_alone)
    pins = [line for line in constraints.read_text().splitlines() if "==" in line]
    return find_without_wheel(version, platform, pins) or [said.strip().rpartition("\n")[2]]


def find_without_wheel(
    version: str, platform: Platform, wanted: Sequence[str], *options: str
) -> list[str]:
    """Those of the requirements that have no wheel, whatever else they require."""
    left, missing = list(wanted), []
    while left:
        _, said = _resolved(version, platform, ["--no-deps", *options, *left])
        found = _NONE_FITS.search(said)
        if found is None:
            break
        missing.append(found[1])
        left.remove(found[1])
    return missing


def _resolved(version: str, platform: Platform, wanted: Sequence[str]) -> tuple[Report | None, str]:
    """What pip would install there, None where it fails, and what it said."""
    tags = [part for tag in platform.tags for part in ("--platform", tag)]
    with tempfile.TemporaryDirectory() as directory:
        report = Path(directory) / "report.json"
        done = subprocess.run(
            [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet",
             "--disable-pip-version-check", "--only-binary=:all:", "--implementation", "cp",
             "--python-version", version, *tags, "--target", directory, "--report", str(report),
             *wanted],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            return None, done.stderr
        return json.loads(report.read_text())["install"], done.stderr


def _required_there_alone(report: Report, version: str, platform: Platform) -> set[str]:
    """What a condition requires there and pip has left out here."""
    known = {canonicalize_name(item["metadata"]["name"]): item["metadata"] for item in report}
    seen = {**platform.markers, "python_version": version, "python_full_version": f"{version}.0"}
    asked = [(canonicalize_name(item["metadata"]["name"]), tuple(item.get("requested_extras", [])))
             for item in report if item["requested"]]  # fmt: skip
    done, unknown = set(asked), set()
    while asked:
        name, extras = asked.pop()
        for text in known[name].get("requires_dist", []):
            requirement = Requirement(text)
            marker = requirement.marker
            if marker and not any(marker.evaluate({**seen, "extra": e}) for e in ("", *extras)):
                continue
            found = (canonicalize_name(requirement.name), tuple(sorted(requirement.extras)))
            if found[0] not in known:
                unknown.add(f"{requirement.name}{requirement.specifier}")
            elif found not in done:
                done.add(found)
                asked.append(found)
    return unknown


def _extras() -> list[str]:
    parser = ConfigParser()
    parser.read(ROOT / "setup.cfg")
    return list(parser["options.extras_require"])


if __name__ == "__main__":
    sys.exit(main())
