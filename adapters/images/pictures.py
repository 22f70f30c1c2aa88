"""Makes pictures small, in processes of bounded memory and time."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PROGRAM = Path(__file__).with_name("shrinking.py")
TIMEOUT_S = 20.0


class NotAPicture(Exception):
    """The file is no picture, or takes too much memory or time."""


@dataclass(frozen=True, slots=True)
class Picture:
    """The results: `small`, and of an animation `still`. The size is the source's, in pixels."""

    small: Path
    still: Path | None
    width: int
    height: int
    is_animated: bool


def make_small(
    source: Path, target: Path, width: int, height: int, *, only_still: bool = False
) -> Picture:
    """Write the picture to `target` as WebP, no larger than so many pixels; `only_still`: of an
    animation the first frame. Raise `NotAPicture`, and then leave nothing of it.
    """
    still = target.with_name(target.name + ".still")
    frames = "still" if only_still else "all"
    try:
        result = json.loads(_run(source, target, width, height, frames))
    except NotAPicture:
        target.unlink(missing_ok=True)
        still.unlink(missing_ok=True)
        raise
    is_animated: bool = result["is_animated"]
    return Picture(
        target,
        still if is_animated and not only_still else None,
        result["width"],
        result["height"],
        is_animated,
    )


def make_square(source: Path, target: Path, side: int) -> None:
    """Write the picture to `target` as PNG: what is in its middle, of so many pixels in width and
    height; of an animation the first frame. Raise `NotAPicture`, and then leave nothing of it.
    """
    try:
        _run(source, target, side, side, "square")
    except NotAPicture:
        target.unlink(missing_ok=True)
        raise


def _run(source: Path, target: Path, width: int, height: int, frames: str) -> bytes:
    arguments = [str(source), str(target), str(width), str(height), frames]
    try:
        done = subprocess.run(
            [sys.executable, "-I", str(PROGRAM), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=TIMEOUT_S,
            check=False,
            env={"OMP_NUM_THREADS": "1"},
        )
    except subprocess.TimeoutExpired:
        raise NotAPicture("too slow") from None
    if done.returncode != 0:
        raise NotAPicture(f"exit status {done.returncode}")
    return done.stdout
