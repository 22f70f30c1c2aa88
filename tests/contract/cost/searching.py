"""A search for inputs with the highest processor time: `scripts/cost --search MINUTES`.

An input consists of a few texts. Each is built from segments: short pieces of a grammar that are
repeated, nested or growing, because such texts show quadratic or worse cost. The search keeps the
most expensive inputs of a target, and mutates and crosses them at random. Inputs run in a separate
process with a timer, so that none can block the search.
"""

from __future__ import annotations

import gc
import multiprocessing
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any

BOUND_S = 0.25
"""Maximum processor time of a request."""
ENDED_S = 6.0
"""Processor time at which an input is ended. It counts as the cost."""
SILENT_S = 120.0
"""Elapsed time after which a silent process is ended."""
KEPT = 16
"""The number of most expensive inputs of a target that are mutated and crossed."""
MAX_SEGMENTS = 12
REPEATED, NESTED, RISING = "repeated", "nested", "rising"
SHAPES = (REPEATED, REPEATED, REPEATED, NESTED, RISING)
NUMBER = "{n}"
"""Placeholder in a piece for the number of its repetition, which makes all different."""


@dataclass(frozen=True)
class Grammar:
    """The pieces of a text: fixed `pieces`, and any number from `make`."""

    limit: int
    pieces: Sequence[str] = ()
    make: Callable[[Random], str] | None = None
    around: tuple[str, str, str] = ("", "", "")
    """Text before, between and after the pieces."""
    is_choice: bool = False
    """Whether the text is a single piece."""

    def piece(self, random: Random) -> str:
        if self.make is not None and (not self.pieces or random.random() < 0.3):
            return self.make(random)
        return random.choice(self.pieces)


@dataclass(frozen=True)
class Segment:
    """Pieces repeated `times` times. `NESTED` repeats the first half, then the other half. `RISING`
    repeats the first piece once, twice and so on, each followed by the others.
    """

    pieces: tuple[str, ...]
    times: int = 1
    shape: str = REPEATED

    def parts(self, limit: int, joint: str) -> Iterator[str]:
        middle = (len(self.pieces) + 1) // 2
        first, rest = self.pieces[:middle], self.pieces[middle:]
        if self.shape == NESTED:
            first_size = sum(map(len, first)) or 1
            rest_size = sum(map(len, rest))
            times = min(self.times, limit // (first_size + rest_size) + 1)
            yield from numbered(joint.join(first), times)
            yield from numbered(joint.join(rest), times)
        elif self.shape == RISING:
            for n in range(1, min(self.times, limit) + 1):
                yield self.pieces[0] * n + "".join(self.pieces[1:]).replace(NUMBER, str(n))
        else:
            yield from numbered(joint.join(self.pieces), self.times)


def numbered(text: str, times: int) -> Iterator[str]:
    if NUMBER not in text:
        yield from (text for _ in range(times))
        return
    yield from (text.replace(NUMBER, str(n)) for n in range(times))


Track = tuple[Segment, ...]
Genome = tuple[Track, ...]


def written(track: Track, grammar: Grammar) -> str:
    """Return the text, truncated to the permitted length."""
    if grammar.is_choice:
        return track[0].pieces[0]
    opening, joint, closing = grammar.around
    left = grammar.limit - len(opening) - len(closing)
    parts: list[str] = []
    for segment in track:
        for part in segment.parts(max(left, 0), joint):
            left -= len(part) + len(joint)
            if left < 0 and joint:
                break
            parts.append(part)
            if left < 0:
                break
        if left < 0:
            break
    return (opening + joint.join(parts))[: grammar.limit - len(closing)] + closing


@dataclass(frozen=True)
class Target:
    """Work whose input is text from users. `open` yields an object that creates inputs from texts
    and measures their processor seconds.
    """

    name: str
    grammars: tuple[Grammar, ...]
    open: Callable[[], AbstractContextManager[Work]]
    bound_s: float = BOUND_S


class Work:
    """The work of a target. `prepare` is not measured."""

    def prepare(self, texts: Sequence[str]) -> Any:
        return texts

    def spend(self, prepared: Any) -> float:
        began = time.process_time()
        self.run(prepared)
        return time.process_time() - began

    def run(self, prepared: Any) -> None:
        raise NotImplementedError

    def kept(self, texts: Sequence[str], prepared: Any) -> bytes:
        """Return the input in a readable form."""
        return "\n\x1e\n".join(texts).encode("utf-8", "surrogatepass")


class Calls(Work):
    """A function of the texts."""

    def __init__(
        self, function: Callable[..., object], forget: Sequence[Callable[[], None]] = ()
    ) -> None:
        self._function, self._forget = function, forget

    def prepare(self, texts: Sequence[str]) -> Sequence[str]:
        for forget in self._forget:  # caches would hide the cost
            forget()
        return texts

    def run(self, prepared: Sequence[str]) -> None:
        self._function(*prepared)


def calls(
    function: Callable[..., object], *forget: Callable[[], None]
) -> Callable[[], AbstractContextManager[Work]]:
    return lambda: nullcontext(Calls(function, forget))


# --- trying, in a process of its own ----------------------------------------------------------


def _serve(find: Callable[[str], Target], name: str, pipe: Connection) -> None:
    with find(name).open() as work:
        gc.collect()
        gc.freeze()
        pipe.send(None)
        while (texts := pipe.recv()) is not None:
            prepared = work.prepare(texts)
            signal.setitimer(signal.ITIMER_PROF, ENDED_S)  # ends the process
            spent = work.spend(prepared)
            signal.setitimer(signal.ITIMER_PROF, 0)
            pipe.send((spent, work.kept(texts, prepared)))


class Trial:
    """Measures inputs of a target in another process, which is restarted if an input ends it."""

    def __init__(self, find: Callable[[str], Target], name: str) -> None:
        self._find, self._name = find, name
        self._process: Any = None
        self._pipe: Any = None

    def measure(self, texts: Sequence[str]) -> tuple[float, bytes]:
        """Return the seconds of the input, and the input in a readable form."""
        if self._process is None:
            self._start()
        self._pipe.send(texts)
        try:
            if not self._pipe.poll(SILENT_S):
                self._process.kill()
                raise TimeoutError(f"{self._name}: no answer in {SILENT_S:.0f} s")
            measured: tuple[float, bytes] = self._pipe.recv()
        except (EOFError, ConnectionResetError):
            self._process.join(SILENT_S)
            ended = self._process.exitcode
            self.close()
            if ended not in (-signal.SIGPROF, None):
                raise RuntimeError(f"{self._name}: the process that tries failed") from None
            return ENDED_S, "\n\x1e\n".join(texts).encode("utf-8", "surrogatepass")
        return measured

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(self._find, self._name, other), daemon=True
        )
        self._process.start()
        other.close()
        self._pipe.recv()

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None


# --- the search -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Found:
    genome: Genome
    seconds: float
    kept: bytes = field(repr=False)


@dataclass
class Search:
    """The search for the most expensive input of a target."""

    target: Target
    measure: Callable[[Sequence[str]], tuple[float, bytes]]
    random: Random
    found: list[Found] = field(default_factory=list)
    tried: int = 0

    @property
    def worst(self) -> Found:
        return self.found[0]

    def run(self, *, until: float, most: int | None = None) -> None:
        """Measure inputs until that value of `time.monotonic`, or until that many."""
        for genome in self._proposals():
            self._try(genome)
            if time.monotonic() >= until or (most is not None and self.tried >= most):
                return

    def confirm(self) -> float:
        """Measure the worst input three more times. Return the minimum."""
        texts = self._texts(self.worst.genome)
        return min(self.measure(texts)[0] for _ in range(3))

    def _texts(self, genome: Genome) -> list[str]:
        return [written(*pair) for pair in zip(genome, self.target.grammars, strict=True)]

    def _try(self, genome: Genome) -> None:
        texts = self._texts(genome)
        seconds, kept = self.measure(texts)
        self.tried += 1
        if self.found and seconds > self.worst.seconds:
            seconds = min(seconds, self.measure(texts)[0])  # the first may include other work
        if any(each.genome == genome for each in self.found):
            return
        self.found.append(Found(genome, seconds, kept))
        self.found.sort(key=lambda each: -each.seconds)
        del self.found[KEPT:]

    def _proposals(self) -> Iterator[Genome]:
        """Yield each piece alone first, in the first text with several pieces, then mutations of
        the best inputs.
        """
        yield from self._alone()
        while True:
            best = self.random.choice(self.found[: self.random.randint(1, KEPT)])
            genome = list(best.genome)
            if self.random.random() < 0.25:
                genome = list(self._crossed(genome, self.random.choice(self.found).genome))
            for _ in range(self.random.choice((1, 1, 1, 2, 3))):
                at = self.random.randrange(len(genome))
                genome[at] = self._changed(genome[at], self.target.grammars[at])
            yield tuple(genome)

    def _alone(self) -> Iterator[Genome]:
        for at, grammar in enumerate(self.target.grammars):
            pieces = list(grammar.pieces)
            self.random.shuffle(pieces)
            made = [grammar.make(self.random) for _ in range(6)] if grammar.make else []
            for piece in (*made, *pieces):
                genome = [self._drawn(each) for each in self.target.grammars]
                genome[at] = self._filled((Segment((piece,)),), grammar)
                yield tuple(genome)

    def _drawn(self, grammar: Grammar) -> Track:
        count = self.random.randint(1, 3)
        return self._filled(tuple(self._segment(grammar) for _ in range(count)), grammar)

    def _segment(self, grammar: Grammar) -> Segment:
        pieces = tuple(grammar.piece(self.random) for _ in range(self.random.randint(1, 4)))
        times = self.random.choice((1, 1, 2, 10, 100, 1000))
        return Segment(pieces, times, self.random.choice(SHAPES))

    def _crossed(self, one: Sequence[Track], other: Sequence[Track]) -> Genome:
        crossed = []
        for mine, theirs in zip(one, other, strict=True):
            cut, end = self.random.randint(0, len(mine)), self.random.randint(0, len(theirs))
            crossed.append((mine[:cut] + theirs[end:])[:MAX_SEGMENTS] or mine)
        return tuple(crossed)

    def _changed(self, track: Track, grammar: Grammar) -> Track:
        random, segments = self.random, list(track)
        at = random.randrange(len(segments))
        segment = segments[at]
        match random.randrange(8):
            case 0 if len(segments) < MAX_SEGMENTS:
                segments.insert(random.randint(0, len(segments)), self._segment(grammar))
            case 1 if len(segments) > 1:
                del segments[at]
            case 2:
                segments[at] = self._segment(grammar)
            case 3:
                factor = random.choice((0.1, 0.5, 0.8, 1.2, 2, 10))
                segments[at] = replace(segment, times=max(1, int(segment.times * factor)))
            case 4:
                segments[at] = replace(segment, shape=random.choice(SHAPES))
            case 5:
                other = random.randrange(len(segments))
                segments[at], segments[other] = segments[other], segments[at]
            case _:
                segments[at] = replace(segment, pieces=self._other_pieces(segment, grammar))
        changed = tuple(segments)
        return self._filled(changed, grammar) if random.random() < 0.6 else changed

    def _other_pieces(self, segment: Segment, grammar: Grammar) -> tuple[str, ...]:
        pieces = list(segment.pieces)
        at = self.random.randrange(len(pieces))
        match self.random.randrange(4):
            case 0 if len(pieces) < 12:
                pieces.insert(at, grammar.piece(self.random))
            case 1 if len(pieces) > 1:
                del pieces[at]
            case 2 if len(pieces) < 12:
                pieces.insert(self.random.randint(0, len(pieces)), pieces[at])
            case _:
                pieces[at] = grammar.piece(self.random)
        return tuple(pieces)

    def _filled(self, track: Track, grammar: Grammar) -> Track:
        """Repeat a segment until the text has the maximum length."""
        joint = len(grammar.around[1])
        sizes = [
            (len(joined) + joint) * segment.times
            if segment.shape != RISING
            else len(segment.pieces[0]) * segment.times**2 // 2 + len(joined) * segment.times
            for segment in track
            for joined in ("".join(segment.pieces),)
        ]
        room = grammar.limit - sum(sizes)
        at = self.random.randrange(len(track))
        segment = track[at]
        if room <= 0:
            return track
        if segment.shape == RISING:
            times = int((2 * (room + sizes[at]) / max(len(segment.pieces[0]), 1)) ** 0.5)
        else:
            times = segment.times + room // max(len("".join(segment.pieces)) + joint, 1) + 1
        return (*track[:at], replace(segment, times=max(times, 1)), *track[at + 1 :])


@contextmanager
def trying(find: Callable[[str], Target], name: str) -> Iterator[Trial]:
    trial = Trial(find, name)
    try:
        yield trial
    finally:
        trial.close()


def search_all(
    targets: Mapping[str, Target],
    find: Callable[[str], Target],
    *,
    minutes: float,
    seed: int,
    directory: Path,
) -> int:
    """Search each of the targets for its share of the time, and print the worst input of each.
    Return the number of targets over their limits.
    """
    directory.mkdir(parents=True, exist_ok=True)
    above = 0
    print(f"seed {seed}, {minutes:g} minutes for {len(targets)} targets", flush=True)
    for name, target in targets.items():
        with trying(find, name) as trial:
            search = Search(target, trial.measure, Random(f"{seed} {name}"))
            search.run(until=time.monotonic() + 60 * minutes / len(targets))
            seconds = min(search.worst.seconds, search.confirm())
        path = directory / name
        path.write_bytes(search.worst.kept)
        is_above = seconds > target.bound_s
        above += is_above
        print(
            f"{name:12} {seconds * 1000:7.0f} ms of {target.bound_s * 1000:.0f}"
            f"{' ABOVE' if is_above else ''}, {search.tried} inputs; {path}",
            flush=True,
        )
    return above
