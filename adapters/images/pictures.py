"""Scales pictures down in processes with memory and time limits."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PROGRAM = Path(__file__).with_name("shrinking.py")
TIMEOUT_S = 20.0


class NotAPicture(Exception):
    """The file is not a picture, or decoding it needs too much memory or time."""


@dataclass(frozen=True, slots=True)
class Picture:
    """The files `small` and, for an animation, `still`. `width` and `height` are those of the
    source in pixels.
    """

    small: Path
    still: Path | None
    width: int
    height: int
    is_animated: bool


def make_small(
    source: Path, target: Path, width: int, height: int, *, only_still: bool = False
) -> Picture:
    """Write the picture to `target` as WebP, scaled to fit into `width` by `height` pixels. With
    `only_still`, write only the first frame of an animation. On failure, delete the output and
    raise `NotAPicture`.
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
    """Write the middle of the picture to `target` as a square PNG of `side` pixels. Use the first
    frame of an animation. On failure, delete the output and raise `NotAPicture`.
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
